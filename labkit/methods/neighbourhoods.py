"""Sentences that were embedded together: their vectors before and after, who reconstructs whom, and where new ones go.

In: a fitted `LocalityPreserving`. Out: `Embedded`, which goes to disk as arrays and comes back. The n distinct rows are
kept once; `place` says of each of the m sentences which of them is its own, for two sentences may have one vector.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from labkit.evaluation.neighbours import nearest_rows
from labkit.locally_linear import LocalityPreserving
from labkit.locally_linear.neighbours import COPY, radius
from labkit.locally_linear.weights import reconstruction_weights


@dataclass(frozen=True)
class Neighbour:
    """A sentence, its weight in the reconstruction, and how far it is before the embedding."""

    text: str
    weight: float
    distance: float


@dataclass(frozen=True)
class Neighbourhood:
    """Who reconstructs a sentence, the largest weight first; `error` is |d - Σ w d_j|², what they leave out."""

    text: str
    neighbours: tuple[Neighbour, ...]
    error: float


@dataclass(frozen=True, eq=False)
class Embedded:
    """d `rows` (n, d), y `embedding` (n, p), `neighbours` (n, k) among the rows, `weights` (n, k); `place` (m,)."""

    sentences: list[str]
    place: np.ndarray
    rows: np.ndarray
    embedding: np.ndarray
    neighbours: np.ndarray
    weights: np.ndarray
    reg: float
    number: Mapping[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "number", dict(zip(self.sentences, self.place.tolist(), strict=True)))

    @classmethod
    def of_model(cls, sentences: list[str], rows: np.ndarray, model: LocalityPreserving) -> Embedded:
        """What a model found of these rows (m, d), a sentence each."""
        record = model.record_
        return cls(
            sentences,
            np.searchsorted(record.kept, record.copy_of),
            rows[record.kept],
            model.embedding_[record.kept].astype(np.float32),
            record.neighbours.astype(np.int32),
            record.weights.astype(np.float32),
            model.reg,
        )

    def of(self, sentences: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """y of each sentence that is one of these, zeros for others (n, p); which those are, bool (n,)."""
        known = np.array([text in self.number for text in sentences], dtype=bool)
        found = np.zeros((len(sentences), self.embedding.shape[1]), np.float32)
        found[known] = self.embedding[[self.number[text] for text in sentences if text in self.number]]
        return found, known

    def placed(self, rows: np.ndarray) -> np.ndarray:
        """New rows (n, d) where their neighbours put them, y = Σ_j w_j y_j; zeros stay zeros. Float32 (n, p)."""
        found = np.zeros((len(rows), self.embedding.shape[1]), np.float32)
        known = np.flatnonzero(rows.any(axis=1))
        if len(known):
            neighbours, weights, _, _ = self._reconstructed(rows[known])
            found[known] = np.einsum("nk,nkp->np", weights, self.embedding[neighbours])
        return found

    def neighbourhood(self, sentence: str, vector: Callable[[], np.ndarray]) -> Neighbourhood:
        """Of a sentence; `vector` is asked for its row (1, d) if it is none of these."""
        if sentence in self.number:
            row = self.number[sentence]
            own, weights = self.neighbours[row], self.weights[row].astype(np.float64)
            away = self.rows[own].astype(np.float64) - self.rows[row]
            distances, error = np.linalg.norm(away, axis=1), float(((weights @ away) ** 2).sum())
        else:
            found = vector()
            if not found.any():
                return Neighbourhood(sentence, (), 0.0)
            own, weights, distances, error = (part[0] for part in self._reconstructed(found))
        text = dict(zip(reversed(self.place.tolist()), reversed(self.sentences), strict=True))  # of copies the first
        order = np.argsort(-np.abs(weights), kind="stable")
        parts = [Neighbour(text[int(own[at])], float(weights[at]), float(distances[at])) for at in order]
        return Neighbourhood(sentence, tuple(parts), float(error))

    def _reconstructed(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """New rows from these: neighbours (n, k), weights, distances, errors (n,). A copy is its original alone."""
        neighbours, distances = nearest_rows(rows, self.rows, self.neighbours.shape[1])
        found = reconstruction_weights(rows, self.rows, neighbours, reg=self.reg)
        weights, errors = found.values, found.errors
        copied = distances[:, 0] <= COPY * radius(self.rows)
        weights[copied], errors[copied] = np.eye(weights.shape[1])[0], 0.0
        return neighbours, weights, distances, errors

    # --- on disk ------------------------------------------------------------------------------------------------

    def arrays(self) -> dict[str, np.ndarray]:
        """All but the sentences."""
        return {name: getattr(self, name) for name in ("place", "rows", "embedding", "neighbours", "weights")}

    @classmethod
    def restored(cls, sentences: list[str], arrays: Mapping[str, np.ndarray], reg: float) -> Embedded:
        """And back; a ValueError where the parts do not fit each other."""
        place, rows, embedding, neighbours, weights = (
            arrays[name] for name in ("place", "rows", "embedding", "neighbours", "weights")
        )
        count = len(rows)
        fits = (
            place.shape == (len(sentences),)
            and len(set(sentences)) == len(sentences)
            and len(embedding) == len(neighbours) == count
            and neighbours.shape == weights.shape
            and set(place.tolist()) == set(range(count))
            and 0 <= neighbours.min() <= neighbours.max() < count
        )
        if not fits:
            raise ValueError(
                f"model.safetensors has rows {rows.shape}, embedding {embedding.shape}, neighbours {neighbours.shape} "
                f"and weights {weights.shape}, expected a place for each of {len(sentences)} sentences of "
                "vocabulary.json"
            )
        return cls(sentences, place, rows, embedding, neighbours, weights, reg)

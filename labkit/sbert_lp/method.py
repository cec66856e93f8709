"""SBERT-LP (Min et al. 2021): re-embed a base's vectors so that each sentence stays near its neighbours.

    d_i ≈ Σ_j w_ij d_j over the k nearest, Σ_j w_ij = 1        min Σ_i |y_i - Σ_j w_ij y_j|²,  YᵀY/m = I,  Σ_i y_i = 0

It uses no labels and is transductive: `fit_encode` embeds all sentences to be compared together, as in the paper.
`encode` places later sentences by their neighbours among the embedded ones (not in the paper). Vectors are normalised,
so that the nearest by Euclidean distance is the nearest by cosine. In: sentences. Out: float32 (n, p); a sentence
without words known to the base is a row of zeros.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from labkit.arrays import seeded, unit
from labkit.baselines.base import BasedSettings, base_of, base_rows, packed, require_shapes, unpacked
from labkit.corpora.records import Corpus
from labkit.corpora.relations import train_sentences
from labkit.device import cuda_or_cpu
from labkit.explanation import LEFT_OUT, Parts
from labkit.method import History, Keeper, Method, setting, texts
from labkit.progress import Progress, silent
from labkit.sbert_lp.estimator import LocalityPreserving
from labkit.sbert_lp.graph import COPY, mixed, mixtures, radius

# --- embedded sentences ------------------------------------------------------------------------------------------

ARRAYS = ("place", "rows", "embedding", "neighbours", "weights")  # arrays that a run folder stores


@dataclass(frozen=True, eq=False)
class EmbeddedSentences:
    """Vectors d `rows`, y `embedding` (n, p); `neighbours` (n, k) among the rows, `weights` (n, k); `place` (m,).

    The n distinct rows are stored once; `place` has the row of each of the m sentences.
    """

    sentences: list[str]
    place: np.ndarray
    rows: np.ndarray
    embedding: np.ndarray
    neighbours: np.ndarray
    weights: np.ndarray
    reg: float

    @cached_property
    def number(self) -> dict[str, int]:
        """The row of each sentence."""
        return dict(zip(self.sentences, self.place.tolist(), strict=True))

    def of(self, sentences: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """y (n, p) of the sentences that are embedded here, zeros for others; and whether each is, bool (n,)."""
        known = np.array([text in self.number for text in sentences], dtype=bool)
        points = np.zeros((len(sentences), self.embedding.shape[1]), np.float32)
        points[known] = self.embedding[[self.number[text] for text in sentences if text in self.number]]
        return points, known

    def first_of_row(self) -> dict[int, int]:
        """For each distinct row, the number of the first sentence that has it."""
        return dict(zip(reversed(self.place.tolist()), reversed(range(len(self.sentences))), strict=True))

    def placed(self, rows: np.ndarray) -> np.ndarray:
        """New rows (n, d) placed by their neighbours, y = Σ_j w_j y_j; zeros stay zeros. Float32 (n, p)."""
        points = np.zeros((len(rows), self.embedding.shape[1]), np.float32)
        known = np.flatnonzero(rows.any(axis=1))
        if len(known):
            points[known] = mixed(self.embedding, *self.mixtures(rows[known]))
        return points

    def mixtures(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """New rows (n, d) as mixtures of these rows; a copy is a mixture of its original alone."""
        within = COPY * radius(self.rows)
        return mixtures(rows, self.rows, self.neighbours.shape[1], copy_within=within, reg=self.reg)


# --- the method --------------------------------------------------------------------------------------------------

BATCH = 32


@dataclass(frozen=True, kw_only=True)
class SbertLpSettings(BasedSettings):
    """Settings of SBERT-LP: the base, and the numbers of neighbours and of dimensions."""

    neighbours: int = setting(
        15, "number of neighbours k that reconstruct each sentence", minimum=1, maximum=10_000, tune=(5, 50)
    )
    dimension: int = setting(100, "dimension p of the new vectors", minimum=1, maximum=10_000, tune=(25, 400))
    reg: float = setting(
        0.001, "regularisation of the weights, needed if neighbours are similar", above=0, tune=(0.0001, 0.1)
    )
    embedded: str = setting("train", "sentences of the corpus to embed together", choices=("train", "all"))
    device: str = setting("auto", "device for weights and eigenvectors", choices=("auto", "cpu", "cuda"))


class SbertLp(Method):
    """Locality-preserving embedding over any base.

    >>> from labkit import SbertLp, load
    >>> method = SbertLp(base="lsa", dimension=20).fit(load("topics").take(range(100)))
    >>> method.encode(["A worn chain slips."]).shape
    (1, 20)
    """

    name = "sbert-lp"
    Settings = SbertLpSettings

    base: Method
    space: EmbeddedSentences

    def _fit(self, corpus: Corpus, seed: int, progress: Progress, keeper: Keeper | None) -> History:
        settings: SbertLpSettings = self.settings
        self.base = base_of(settings.base, corpus, seed=seed, progress=progress)
        if settings.embedded == "all":
            corpus = replace(corpus, splits=("train",) * len(corpus))
        self.space = self._together(train_sentences(corpus), seed, progress)
        return History()

    @classmethod
    def over(cls, base: Method, sentences: list[str], settings: SbertLpSettings, *, seed: int = 0) -> SbertLp:
        """A method over a fitted base, with these sentences embedded together; it can encode at once.

        Use it to try many neighbourhoods and dimensions without refitting the base; the settings `base` and `embedded`
        have no effect. For a base that is itself an SBERT-LP, its own base is used.
        """
        corpus, fingerprint, _ = base._known()
        method = cls(settings)
        method._origin = (corpus, fingerprint, seeded(seed))
        method.base = base.base if isinstance(base, SbertLp) else base
        method.space = method._together(list(dict.fromkeys(texts(sentences))), seed, silent)
        return method

    def fit_encode(self, sentences: list[str], *, seed: int = 0, progress: Progress = silent) -> np.ndarray:
        """Embed all these sentences together, as in the paper's tables; return float32 (n, p).

        Only the fitted base is used, and nothing is stored.
        """
        self._known()
        sentences = texts(sentences)
        return self._together(list(dict.fromkeys(sentences)), seeded(seed), progress).of(sentences)[0]

    def _together(self, sentences: list[str], seed: int, progress: Progress) -> EmbeddedSentences:
        """Embed these distinct sentences, without those that the base does not know."""
        settings: SbertLpSettings = self.settings
        rows = self._vectors(sentences, BATCH, progress) if sentences else np.zeros((0, 1), np.float32)
        known = np.flatnonzero(rows.any(axis=1))
        if len(known) < 2:
            raise ValueError(
                f"base {self.base.name!r} knows {len(known)} of {len(sentences)} sentences, but at least two are "
                "needed; add sentences or use another base"
            )
        options: dict[str, Any] = {"reg": settings.reg, "device": cuda_or_cpu(settings.device), "random_state": seed}
        model = LocalityPreserving(settings.neighbours, settings.dimension, **options)
        model.fit(rows[known], progress=progress)
        return EmbeddedSentences(
            [sentences[row] for row in known],
            model.place_,
            rows[known][model.kept_],
            model.embedding_[model.kept_].astype(np.float32),
            model.neighbours_.astype(np.int32),
            model.weights_.astype(np.float32),
            model.reg,
        )

    def _vectors(self, sentences: list[str], batch_size: int, progress: Progress) -> np.ndarray:
        """The base's normalised vectors; zeros stay zeros."""
        return unit(base_rows(self.base, sentences, batch_size, progress))

    def _encode(self, sentences: list[str], batch_size: int, progress: Progress) -> np.ndarray:
        points, known = self.space.of(sentences)
        if len(new := np.flatnonzero(~known)):
            points[new] = self.space.placed(self._vectors([sentences[row] for row in new], batch_size, progress))
        return points

    @property
    def ways(self) -> tuple[str, ...]:
        return ("neighbours", LEFT_OUT)

    def _parts(self, sentence: str, way: str, steps: int) -> Parts:
        """The weighted points of the sentence's neighbours; the rest is the correction by the eigenvectors."""
        space = self.space
        if sentence in space.number:
            row = space.number[sentence]
            near, weights = space.neighbours[row], space.weights[row].astype(np.float64)
        elif (rows := self._vectors([sentence], BATCH, silent)).any():
            near, weights = (each[0] for each in space.mixtures(rows))
        else:  # a row of zeros has no neighbours
            near, weights = np.zeros(0, np.int64), np.zeros(0)
        order = np.argsort(-np.abs(weights), kind="stable")
        near, weights, first = near[order], weights[order], space.first_of_row()
        names = tuple(space.sentences[first[row]] for row in near.tolist())
        rows = space.embedding[near].astype(np.float64) * weights[:, None]
        vector = self._encode([sentence], 1, silent)[0].astype(np.float64)
        return Parts(names, rows, vector - rows.sum(axis=0), vector, tuple(weights.tolist()))

    def _state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        arrays, words = packed(self.base)
        own = {name: getattr(self.space, name) for name in ARRAYS}
        return {**arrays, **own}, {**words, "sentences": self.space.sentences}

    def _restore(self, arrays: dict[str, np.ndarray], words: dict[str, Any]) -> None:
        self.base = unpacked(arrays, words)
        own = {name: arrays[name] for name in ARRAYS}
        n, k = own["weights"].shape
        m = len(set(words["sentences"]))
        require_shapes(own, place=(m,), rows=(n, None), embedding=(n, None), neighbours=(n, k))
        if m < len(words["sentences"]):
            raise ValueError("vocabulary.json has repeated sentences")
        self.space = EmbeddedSentences(words["sentences"], **own, reg=self.settings.reg)

"""FILM: a readable linear map L of TF-IDF rows, learned from triplets.

    y = L x        similarity = share · cos(x_a, x_b) + (1 - share) · cos(y_a, y_b)

Other modules contain the mathematics; this one connects it to corpora, settings and run folders. The share of plain
TF-IDF is chosen on dev: L captures which labelled words matter, and TF-IDF covers all other words. In: sentences. Out:
rows of length 1 whose dot product is the similarity: float32 (n, d), or CSR (n, D + d) with a share. A sentence without
known words is a row of zeros and has similarity 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer

from labkit.arrays import unit
from labkit.baselines.averages import by_parts
from labkit.baselines.base import require_shapes
from labkit.baselines.counts import parts_of_counts, restored
from labkit.corpora.records import Corpus
from labkit.evaluation.neighbours import nearest_others
from labkit.evaluation.scores import selection
from labkit.explanation import LEFT_OUT, Explanation, Parts
from labkit.film.reading import (
    RowOfPair,
    Terms,
    WordRow,
    film_explanation,
    film_parts,
    readable,
    row_stability,
    rows_of_pair,
    word_rows,
)
from labkit.film.solvers import SOLVERS, learn
from labkit.film.triplets import FilmSource, Recipe, fitted_vectorizer, new_vectorizer, source_of
from labkit.method import Embeddings, History, Keeper, Method, Settings, setting
from labkit.progress import Progress, note
from labkit.settings import Conditions

SHARES = tuple(number / 10 for number in range(11))
UNDECIDED = 0.5  # the share without a dev split to choose it
DEV_ROWS = 2_000  # with classes, every sentence is compared with every other one
CANDIDATES = 10  # neighbours searched per near negative


@dataclass(frozen=True, kw_only=True)
class FilmSettings(Settings):
    """Settings of the solver, the triplets, the words and the mixture."""

    solver: str = setting("full-rank", "how to compute L", choices=SOLVERS)
    dimension: int = setting(100, "number of rows of L", minimum=1, maximum=10_000, tune=(25, 400))
    rank: int = setting(
        0, "number of features before L; 0: as many as rows of L, or three times as many for an SVD", minimum=0
    )
    ridge: float = setting(1.0, "full-rank: regularisation of rare directions", above=0, tune=(0.01, 100))
    margin: float = setting(1.0, "margin, in units of the typical difference of similarity", above=0, tune=(0.1, 10))
    iterations: int = setting(12, "descent steps on the hinge loss (Stiefel needs at least 100)", minimum=0)
    batch: int = setting(0, "anchors per step, to save memory; 0: all at once", minimum=0)
    epochs: int = setting(3, "passes through the anchors", minimum=1)
    positives: int = setting(2, "maximum number of positives per anchor", minimum=1)
    apart: int = setting(2, "maximum number of labelled negatives", minimum=0)
    near: int = setting(0, "number of negatives among the nearest neighbours", minimum=0)
    random: int = setting(5, "number of random negatives", minimum=0)
    min_count: int = setting(1, "minimum number of sentences with a word", minimum=1)
    word_pairs: bool = setting(False, "also count pairs of adjacent words", tune=(True, False))
    share: str = setting("dev", "share of TF-IDF in the similarity, from 0 to 1; dev: the best on dev")
    device: str = setting("auto", "device for the hinge loss", choices=("auto", "cpu", "cuda"))

    def conditions(self, shape: str | None = None, has_dev: bool | None = None) -> Conditions:
        """Margin and steps apply only to the hinge, sampling settings only if the corpus does not list triplets."""
        stepwise, whole = self.solver != "closed-form", not self.batch
        hinge = not whole or (stepwise and self.iterations > 0)
        gpu = whole and self.solver == "full-rank" and self.iterations > 0
        drawn = (shape in (None, "Pairs", "Labelled", "Groups"), "on pairs, classes or groups")
        return dict.fromkeys(("positives", "near", "random"), drawn) | {
            "apart": (shape in (None, "Pairs"), "on pairs"),
            "ridge": (self.solver == "full-rank", "with solver=full-rank"),
            "margin": (hinge, "with a batch, or with iterations of a solver other than closed-form"),
            "iterations": (whole and stepwise, "without a batch, with a solver other than closed-form"),
            "epochs": (not whole, "with a batch above 0"),
            "device": (gpu, "without a batch, with iterations of solver=full-rank"),
        }

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.share != "dev":
            try:
                within = 0 <= float(self.share) <= 1
            except ValueError:
                within = False
            if not within:
                raise ValueError(f"setting share is {self.share!r}, expected dev or a number from 0 to 1")


class Film(Method):
    """A low-rank linear map of TF-IDF vectors, learned from triplets.

    >>> from labkit import Film, load
    >>> method = Film(dimension=5).fit(load("questions").take(range(200)))
    >>> method.encode(["How do I keep a cat?"]).shape
    (1, 304)
    """

    name = "film"
    Settings = FilmSettings
    measured_later = "stability"

    vectorizer: TfidfVectorizer
    L: np.ndarray  # float32 (d, D)
    share: float
    words: Terms
    stability: np.ndarray  # (d,), NaN until it is measured

    def _fit(self, corpus: Corpus, seed: int, progress: Progress, keeper: Keeper | None) -> History:
        settings: FilmSettings = self.settings
        progress(0, None, "reading words and triplets")
        source = source_of(corpus.part("train"))
        self.vectorizer = fitted_vectorizer(source.texts, min_count=settings.min_count, pairs=settings.word_pairs)
        X = self.vectorizer.transform(source.texts)
        if X.shape[1] < 2:
            raise ValueError(
                f"corpus {corpus.name!r} has only one word in its training sentences, "
                f"{self.vectorizer.get_feature_names_out()[0]!r}, but at least two are needed"
            )
        L, rows = learn(X, self._triplets(source, X, seed), settings, seed=seed, progress=progress)
        self.L = L.astype(np.float32)
        if len(self.L) < settings.dimension:
            note(
                f"only {len(self.L)} directions bring sentences closer to those with the same meaning than to "
                f"others, so the vectors have {len(self.L)} dimensions instead of {settings.dimension}",
                stacklevel=2,
            )
        self.words = Terms.of(self.vectorizer.get_feature_names_out().tolist(), X)
        self.stability = np.full(len(self.L), np.nan)
        return History((*rows[:-1], rows[-1] | self._choose_share(corpus, seed)))

    def _triplets(self, source: FilmSource, X: sparse.csr_matrix, seed: int) -> np.ndarray:
        settings = self.settings
        recipe = Recipe(settings.positives, settings.apart, settings.near, settings.random)
        searched = min(CANDIDATES * settings.near, X.shape[0] - 1)
        return source.triplets(recipe, neighbours=nearest_others(X, searched) if searched else None, seed=seed)

    def _choose_share(self, corpus: Corpus, seed: int) -> dict[str, float]:
        """Set the share of TF-IDF; return it with its dev score if it was chosen on dev."""
        self.share = UNDECIDED if self.settings.share == "dev" else float(self.settings.share)
        if self.settings.share != "dev" or "dev" not in corpus.splits:
            return {"share": self.share}
        dev = corpus.part("dev")
        if dev.CLASSES and len(dev) > DEV_ROWS:
            dev = dev.take(np.random.default_rng(seed).permutation(len(dev))[:DEV_ROWS].tolist())
        scores: dict[float, tuple[str, float]] = {}
        try:
            for self.share in SHARES:
                scores[self.share] = selection(self, dev)
        except ValueError as reason:
            self.share = UNDECIDED
            note(f"the share of TF-IDF is {UNDECIDED}, because it cannot be chosen on dev ({reason})", stacklevel=2)
            return {"share": self.share}
        self.share = max(scores, key=lambda share: scores[share][1])
        return {"share": self.share} | dict([scores[self.share]])

    def _encode(self, sentences: list[str], batch_size: int, progress: Progress) -> Embeddings:
        parts = by_parts(self._embedded, sentences, progress)
        return sparse.csr_array(sparse.vstack(parts, "csr")) if self.share else np.concatenate(parts)

    def _embedded(self, sentences: list[str]) -> Embeddings:
        X = self.vectorizer.transform(sentences)
        Y = unit(X @ self.L.T.astype(np.float64))
        if not self.share:
            return Y.astype(np.float32)
        return sparse.hstack([np.sqrt(self.share) * X, np.sqrt(1 - self.share) * Y], "csr", dtype=np.float32)

    # --- reading L ----------------------------------------------------------------------------------------------

    @property
    def ways(self) -> tuple[str, ...]:
        return ("exact", LEFT_OUT)

    def _parts(self, sentence: str, way: str, steps: int) -> Parts:
        return film_parts(parts_of_counts(self.vectorizer, sentence), self.L, self.share)

    def explain(self, a: str, b: str, *, way: str = "", steps: int = 0) -> Explanation:
        """The similarity of two sentences, split into parts that add up to it, including a part for each row of L."""
        if way not in ("", "exact") or steps:
            return super().explain(a, b, way=way, steps=steps)
        a, b = self._one_each(a, b)
        one, other = (parts_of_counts(self.vectorizer, text) for text in (a, b))
        return film_explanation((a, b), one, other, self.L, self.share)

    def rows(self, *, top: int = 8, min_count: int = 5, rotated: bool = False) -> tuple[WordRow, ...]:
        """The words of each row of L; `rotated` gives the readable varimax view, with identical similarities."""
        self._known()
        L = self.L.astype(np.float64)
        if rotated:
            return word_rows(readable(L, self.words), self.words, top=top, min_count=min_count)
        return word_rows(L, self.words, top=top, min_count=min_count, stability=self.stability)

    def pair_rows(self, a: str, b: str) -> tuple[RowOfPair, ...]:
        """The rows of L for two sentences: their numbers, and the words that make them up; the largest part first."""
        one, other = (parts_of_counts(self.vectorizer, text) for text in self._one_each(a, b))
        return rows_of_pair(one, other, self.L, self.share)

    def measure_stability(self, corpus: Corpus, *, rounds: int = 3, seed: int = 0, rotated: bool = False) -> np.ndarray:
        """Refit on four fifths of the anchors `rounds` times, and return how well each row of L recurs, 0 to 1, (d,).

        With `rotated`, the rows are those of the readable view, and the result is not stored.
        """
        self._known()
        source = source_of(corpus.part("train"))
        X = self.vectorizer.transform(source.texts)
        triplets = self._triplets(source, X, seed)
        anchors, random = np.unique(triplets[:, 0]), np.random.default_rng(seed)
        refitted = []
        for _ in range(rounds):
            kept = random.choice(anchors, max(1, int(0.8 * len(anchors))), replace=False)
            refitted.append(learn(X, triplets[np.isin(triplets[:, 0], kept)], self.settings, seed=seed)[0])
        L = self.L.astype(np.float64)
        if rotated:
            return row_stability(readable(L, self.words), [readable(each, self.words) for each in refitted], self.words)
        self.stability = row_stability(L, refitted, self.words)
        return self.stability

    # --- on disk ------------------------------------------------------------------------------------------------

    def _state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        counted = {"idf": self.vectorizer.idf_, "documents": self.words.documents, "rms": self.words.rms}
        arrays = {"L": self.L, **counted, "stability": self.stability}
        return arrays, {"words": list(self.words.names), "share": self.share}

    def _restore(self, arrays: dict[str, np.ndarray], words: dict[str, Any]) -> None:
        names: Sequence[str] = words["words"]
        d, D = len(arrays["stability"]), len(set(names))
        require_shapes(arrays, L=(d, D), idf=(len(names),), documents=(D,), rms=(D,))
        self.vectorizer = restored(new_vectorizer(pairs=self.settings.word_pairs), names, arrays["idf"])
        self.L, self.stability = arrays["L"], arrays["stability"]
        self.words = Terms(names, arrays["documents"], arrays["rms"])
        self.share = float(words["share"])

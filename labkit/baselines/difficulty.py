"""How hard is a corpus? The test scores of three methods that use no labels: random vectors, TF-IDF, mean word vectors.

A corpus is uninformative if one of the last two methods solves it, or if both score at chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from labkit.arrays import unit
from labkit.baselines.averages import MeanVectors, MeanVectorsSettings
from labkit.baselines.counts import Tfidf
from labkit.corpora.records import Corpus, Pairs
from labkit.evaluation.scores import OPENINGS, require_labels, score, threshold_split
from labkit.figure_names import spoken
from labkit.progress import Progress, silent

EXACTLY = {  # added to the name of a metric
    "accuracy": ", threshold from {chosen_on}",
    "spearman": " correlation with the score",
    "knn_accuracy": ", k = 3",
    "hit@1": " within test",
    "triplet_accuracy": "",
    OPENINGS: "",
}


@dataclass(frozen=True)
class Difficulty:
    """The scores on the test split by `measure`, of which 1 is the best. A correlation is 0 by chance."""

    measure: str
    chance: float
    tfidf: float
    mean_vectors: float

    def __str__(self) -> str:
        scores = f"chance {self.chance:.3f}, TF-IDF {self.tfidf:.3f}, mean word vectors {self.mean_vectors:.3f}"
        return f"{self.measure}: {scores}"


def difficulty(corpus: Corpus, *, seed: int = 0, progress: Progress = silent) -> Difficulty:
    """The three scores of a corpus with train and test splits (and dev, if a threshold is needed)."""
    require_labels(corpus)
    methods: list[Any] = [Tfidf(), MeanVectors(MeanVectorsSettings(dimension=100))]
    for method in methods:
        method.fit(corpus, seed=seed)
    of_test = [score(method, corpus, progress=progress) for method in (Chance(seed), *methods)]
    chosen_on = threshold_split(corpus) if isinstance(corpus, Pairs) and not corpus.graded else ""
    measure = of_test[0].measure
    exactly = spoken(measure) + EXACTLY[measure].format(chosen_on=chosen_on)
    if of_test[0].sample:
        exactly = f"{exactly}, {of_test[0].sample}"
    chance, *others = (scores.headline for scores in of_test)
    return Difficulty(exactly, 0.0 if measure == "spearman" else chance, *others)


class Chance:
    """A random vector for each sentence, drawn on first use; the common part of its draws is removed."""

    def __init__(self, seed: int) -> None:
        self._generator = np.random.default_rng(seed)
        self._drawn: dict[str, np.ndarray] = {}

    def encode(self, sentences: Sequence[str]) -> np.ndarray:
        for text in sentences:
            self._drawn.setdefault(text, self._generator.standard_normal(32))
        return np.array([self._drawn[text] for text in sentences])

    def similarity(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return unit(a) @ unit(b).T

    def similarity_pairwise(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return (unit(a) * unit(b)).sum(axis=1)

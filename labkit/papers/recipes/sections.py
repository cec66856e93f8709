"""Sentences from the sections of articles: told apart in triplets, or clustered back into sections.

A method learns from the case's articles, or from `case.also` where there is such a corpus: triplets drawn of them. Two
networks that stand side by side (`case.sides`) are trained each for itself, as in the paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from labkit.corpora import Articles
from labkit.evaluation import Parts
from labkit.methods.contract import unit
from labkit.papers.case import Case
from labkit.papers.records import Outcome
from labkit.scores import score
from labkit.thematic.clustering import ALGORITHMS, FIGURES, section_agreement

RESTARTS = 5


class SideBySide:
    """Vectors of length 1 of two methods, one after the other: its cosine is the mean of theirs."""

    def __init__(self, first: Any, second: Any) -> None:
        self._methods = first, second

    def encode(self, sentences: Sequence[str], batch_size: int = 32) -> np.ndarray:
        return np.hstack([unit(method.encode(list(sentences), batch_size)) for method in self._methods])

    def pairwise_similarity(self, a: Any, b: Any) -> np.ndarray:
        return np.asarray((unit(a) * unit(b)).sum(axis=1))


def fitted(case: Case) -> Any:
    """The method of this cell, or its two networks side by side: those that the rows of each alone have, too.

    Both learn from the articles; where there are two corpora in `case.also`, each from one of them.
    """
    corpora = list(case.also.values())
    if not case.sides:
        return case.fitted(corpora[0] if corpora else None)
    lessons = corpora if len(corpora) == 2 else [corpora[0] if corpora else None] * 2
    pairs = zip(case.sides, lessons, strict=True)
    return SideBySide(*(case.fitted(corpus, **settings) for settings, corpus in pairs))


def told_apart(case: Case) -> Outcome:
    """Of the triplets of the test articles, the share whose positive is nearer by the method's own similarity."""
    assert isinstance(case.corpus, Articles)
    found = score(fitted(case), case.corpus, apart=True)
    return Outcome(found.figures, parts=found.parts)


def clustered(case: Case) -> Outcome:
    """Each test article's opening sentences clustered into as many clusters as it has sections: means over articles."""
    assert isinstance(case.corpus, Articles)
    found = section_agreement(fitted(case), case.corpus.part("test"), seed=case.seed, restarts=RESTARTS)
    parts = {
        f"{algorithm} {name}": Parts.by(range(len(found.articles)), found.values(algorithm, name))
        for algorithm in ALGORITHMS
        for name in FIGURES
    }
    return Outcome(
        {name: each.figure for name, each in parts.items()} | {"articles": float(len(found.articles))}, parts=parts
    )

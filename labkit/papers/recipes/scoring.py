"""A method trained on a corpus and scored on its test split: the most usual row of a table."""

from __future__ import annotations

import numpy as np

from labkit.corpora import Labelled, Pairs
from labkit.evaluation import inter_intra
from labkit.papers.case import Case
from labkit.papers.records import Outcome
from labkit.projection import pca
from labkit.scores import called_parts, score

PICTURED = 5  # classes
MOST = 8  # sentences of a class in a picture


def scored(case: Case) -> Outcome:
    """The figures that fit the corpus' shape; of a training, also the means of its last epoch (shares kept)."""
    method = case.fitted()
    found = score(method, case.corpus, apart=True, most=None)
    figures = dict(found.figures)
    if method.history.rows:
        figures |= {name: value for name, value in method.history.rows[-1].items() if name.startswith("kept_")}
    return Outcome(figures, parts=found.parts)


def all_the_same(case: Case) -> Outcome:
    """What it is worth to call every test pair the same: nothing is learned."""
    test = case.corpus.part("test")
    assert isinstance(test, Pairs)
    parts = called_parts(np.ones(len(test), bool), test)
    return Outcome({name: found.figure for name, found in parts.items()}, parts=parts)


def picture(case: Case) -> Outcome:
    """Five classes of the test split, drawn by the seed, in the plane of their two principal directions (section 4.4).

    `ratio` is inter / intra of the vectors, `ratio of the picture` that of the points one sees.
    """
    test = case.corpus.part("test")
    assert isinstance(test, Labelled)
    texts, labels = _chosen(test, case.seed)
    vectors = np.asarray(case.fitted().encode(texts), np.float64)
    points = pca(vectors, seed=case.seed).points
    figures = {"ratio": inter_intra(vectors, labels).ratio, "ratio of the picture": inter_intra(points, labels).ratio}
    return Outcome(figures, tuple((label, float(x), float(y)) for label, (x, y) in zip(labels, points, strict=True)))


def _chosen(test: Labelled, seed: int) -> tuple[list[str], list[str]]:
    """Sentences of five classes with at least three each, as many as there are up to `MOST`."""
    members: dict[str, list[str]] = {}
    for text, label in zip(test.texts, test.labels, strict=True):
        members.setdefault(label, []).append(text)
    enough = sorted(label for label, found in members.items() if len(found) >= 3)
    drawn = np.random.default_rng(seed).choice(enough, PICTURED, replace=False).tolist()
    rows = [(text, label) for label in drawn for text in members[label][:MOST]]
    return [text for text, _ in rows], [label for _, label in rows]

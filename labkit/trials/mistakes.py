"""The mistakes of a method: the test rows that it gets most clearly wrong, and the words that mislead it."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from labkit.arrays import unit
from labkit.corpora.records import Corpus, Groups, Labelled, Pairs, Triplets
from labkit.evaluation.neighbours import dots, nearest, nearest_others
from labkit.evaluation.pairs import best_threshold
from labkit.evaluation.scores import pair_similarities, scored_part, triplet_similarities
from labkit.explanation import LEFT_OUT
from labkit.method import Method

SHOWN = 20


@dataclass(frozen=True)
class Mistake:
    """Two sentences, their label, the method's answer, and the words that mattered most (empty if the time was up)."""

    a: str
    b: str
    truth: str
    said: str
    words: str


def mistakes_of(
    method: Method, corpus: Corpus, classifier: Any = None, *, most: int = SHOWN, seconds: float = math.inf
) -> list[Mistake]:
    """The clearest mistakes on test, worst first, each explained until the `seconds` are over.

    They are explained with the method's own parts or, if these take long, by leaving words out. With a `classifier` of
    the unit vectors of labelled sentences, the mistakes are the classifier's.
    """
    test = scored_part(corpus.part("test"))
    if isinstance(test, Pairs):
        dev = corpus.part("dev")
        assert isinstance(dev, Pairs)
        found = _graded(method, test) if test.graded else _pairs(method, dev, test)
    elif isinstance(test, Triplets):
        found = _triplets(method, test)
    elif classifier is not None:
        assert isinstance(test, Labelled)
        found = _classified(method, classifier, test, corpus.part("train"))
    else:
        assert isinstance(test, Labelled | Groups)
        train = corpus.part("train") if "train" in corpus.sizes else test
        known = isinstance(train, Labelled) and set(test.classified()[1]) <= set(train.labels)
        found = _neighbours(method, test, train if known else test)
    way = LEFT_OUT if method.ways[0] == "integrated" else ""  # integrated Jacobians of a long sentence take a minute
    end, mistakes = time.monotonic() + seconds, list[Mistake]()
    for a, b, truth, said in islice(found, most):
        words = method.explain(a, b, way=way).largest() if time.monotonic() < end else ""
        mistakes.append(Mistake(a, b, truth, said, words))
    return mistakes


_Found = Iterator[tuple[str, str, str, str]]


def _pairs(method: Method, dev: Pairs, test: Pairs) -> _Found:
    """Pairs on the wrong side of the dev threshold, farthest from it first."""
    threshold = best_threshold(pair_similarities(method, dev), dev.labels)
    scores, names = pair_similarities(method, test), ("different", "the same")
    far = np.where(test.labels == 1, threshold - scores, scores - threshold)
    for row in np.argsort(-far, kind="stable"):
        if far[row] <= 0:
            return
        said = f"{names[1 - test.labels[row]]}: {scores[row]:.2f}, the threshold is {threshold:.2f}"
        yield test.text_a[row], test.text_b[row], names[test.labels[row]], said


def _graded(method: Method, test: Pairs) -> _Found:
    """Pairs whose rank by similarity is farthest from their rank by grade."""
    from scipy.stats import rankdata  # importing it takes a second

    scores, grades = pair_similarities(method, test), test.scores
    ranks, wanted = (rankdata(each) / len(test) for each in (scores, grades))
    for row in np.argsort(-abs(ranks - wanted), kind="stable"):
        said = f"{scores[row]:.2f}, above {100 * ranks[row]:.0f} % of the pairs"
        yield test.text_a[row], test.text_b[row], f"{grades[row]:g}, above {100 * wanted[row]:.0f} %", said


def _triplets(method: Method, test: Triplets) -> _Found:
    """Anchors that are closer to their negative, shown next to it."""
    near, far = triplet_similarities(method, test)
    for row in np.argsort(near - far, kind="stable"):
        if near[row] > far[row]:
            return
        truth = f"nearer to {test.positives[row]!r} ({near[row]:.2f})"
        yield test.anchors[row], test.negatives[row], truth, f"{far[row]:.2f}"


def _classified(method: Method, classifier: Any, test: Labelled, train: Any) -> _Found:
    """Sentences that the classifier gets most surely wrong, each with the nearest training sentence of its answer."""
    texts, rows = list(test.texts), unit(method.encode(list(test.texts)))
    chances, said = classifier.predict_proba(rows), classifier.predict(rows)
    known, labels = unit(method.encode(list(train.texts))), np.array(train.labels, object)
    for row in np.argsort(-chances.max(axis=1), kind="stable"):
        if said[row] != test.labels[row]:
            near = int(np.where(labels == said[row], dots(rows[[row]], known)[0], -np.inf).argmax())
            yield texts[row], train.texts[near], test.labels[row], f"{said[row]}: probability {chances[row].max():.2f}"


def _neighbours(method: Method, test: Labelled | Groups, base: Any) -> _Found:
    """Sentences whose nearest neighbour belongs to another class, the most similar first."""
    (texts, classes), (others, names) = test.classified(), base.classified()
    rows = unit(method.encode(texts))
    near = nearest_others(rows, 1)[:, 0] if base is test else nearest(rows, unit(method.encode(others)), 1)[0][:, 0]
    cosines = method.similarity_pairwise(texts, [others[each] for each in near])
    for row in np.argsort(-cosines, kind="stable"):
        if names[near[row]] != classes[row]:
            yield texts[row], others[near[row]], classes[row], f"{names[near[row]]}: {cosines[row]:.2f}"

"""Sentences from the sections of articles: told apart in triplets, or clustered back into sections."""

from __future__ import annotations

from labkit.articles import triplets_of
from labkit.corpora import Articles
from labkit.evaluation import triplet_accuracy
from labkit.papers.case import Case
from labkit.papers.records import Outcome
from labkit.thematic.clustering import ALGORITHMS, FIGURES, section_agreement

RESTARTS = 5


def told_apart(case: Case) -> Outcome:
    """Of the triplets of the test articles, the share whose positive is nearer by the method's own similarity."""
    assert isinstance(case.corpus, Articles)
    test = triplets_of(case.corpus.part("test"), seed=case.seed)
    method = case.fitted()
    count = len(test)
    rows = method.encode([*test.anchors, *test.positives, *test.negatives])
    anchors, positives, negatives = rows[:count], rows[count : 2 * count], rows[2 * count :]
    near, far = (method.pairwise_similarity(anchors, others) for others in (positives, negatives))
    return Outcome({"triplet_accuracy": triplet_accuracy(near, far), "triplets": float(count)})


def clustered(case: Case) -> Outcome:
    """Each test article's opening sentences clustered into as many clusters as it has sections: means over articles."""
    assert isinstance(case.corpus, Articles)
    found = section_agreement(case.fitted(), case.corpus.part("test"), seed=case.seed, restarts=RESTARTS)
    figures = {
        f"{algorithm} {name}": float(found.values(algorithm, name).mean())
        for algorithm in ALGORITHMS
        for name in FIGURES
    }
    return Outcome(figures | {"articles": float(len(found.articles))})

"""One query against n sentences: sentence embeddings have them ready, a cross-encoder reads them all again.

In: a case on pairs. Out: CPU milliseconds of one thread for a query and each n, what a million would take by the slope
from the first to the last, and the accuracy of each on the pairs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import cycle, islice

import numpy as np

from labkit.corpora import Pairs
from labkit.evaluation import pair_classification
from labkit.papers.case import Case
from labkit.papers.recipes.cross import CrossSettings, PairReader
from labkit.papers.records import Outcome
from labkit.scores import score

SIZES = (100, 1_000)
MANY = 100_000  # rows that are compared so fast that their slope is not seen before
ROUNDS = 25


def bi_encoder(case: Case) -> Outcome:
    """The query is encoded and compared with rows that are there."""
    method = case.fitted()
    texts = _texts(case)
    known = np.asarray(method.encode(texts))
    rows = np.resize(known, (MANY, known.shape[1]))

    def ask(query: str, count: int) -> None:
        method.similarity(np.asarray(method.encode([query])), rows[:count])

    return Outcome(_times(ask, texts, (*SIZES, MANY)) | {"accuracy": score(method, case.corpus).figures["accuracy"]})


def cross_encoder(case: Case) -> Outcome:
    """The query is read with each sentence; the scorer is trained on the pairs first."""
    corpus = case.corpus
    assert isinstance(corpus, Pairs)
    reader = PairReader(CrossSettings.of(case.settings))
    reader.fit(corpus, seed=case.seed, progress=case.progress)
    texts = _texts(case)

    def ask(query: str, count: int) -> None:
        reader.scores([query] * count, texts[:count])

    dev, test = (corpus.part(split) for split in ("dev", "test"))
    scores = [reader.scores(part.text_a, part.text_b) for part in (dev, test)]
    found = pair_classification(scores[0], dev.labels, scores[1], test.labels)
    return Outcome(_times(ask, texts, SIZES) | {"accuracy": found.accuracy})


def _texts(case: Case) -> list[str]:
    """As many sentences as the largest n, repeated where the test split has fewer."""
    return list(islice(cycle(case.corpus.part("test").sentences()), max(SIZES)))


def _times(ask: Callable[[str, int], None], texts: list[str], sizes: Sequence[int]) -> dict[str, float]:
    """Milliseconds a query, the least of some rounds; the slope carries on to a million."""
    found = {}
    for size in sizes:
        spent = []
        for number in range(ROUNDS):
            start = time.process_time()
            ask(texts[number % len(texts)], size)
            spent.append(1000 * (time.process_time() - start))
        found[str(size)] = min(spent)  # others' load only adds, and so does what is slow but once
    few, many = sizes[0], sizes[-1]
    slope = max(found[str(many)] - found[str(few)], 0.0) / (many - few)
    return found | {"1000000": found[str(few)] + slope * (1_000_000 - few)}

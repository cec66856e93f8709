"""One query against n sentences: embeddings are precomputed, while a cross-encoder must read every pair.

In: a case on pairs. Out: CPU milliseconds on one thread per query for each n, an extrapolation to a million by the
slope from first to last, and the accuracy on the pairs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import cycle, islice

import numpy as np

from labkit.corpora import Pairs
from labkit.evaluation import pair_classification
from labkit.evaluation.scores import score
from labkit.papers.recipes import Case
from labkit.papers.recipes.cross_encoders import CrossSettings, PairReader
from labkit.trials.engine import Result

SIZES = (100, 1_000)
MANY = 100_000  # rows above which the slope of the comparison time is visible
ROUNDS = 25


def bi_encoder(case: Case) -> Result:
    """Encode the query and compare it with stored rows."""
    method = case.fitted()
    texts = _texts(case)
    known = np.asarray(method.encode(texts))
    rows = np.resize(known, (MANY, known.shape[1]))

    def ask(query: str, count: int) -> None:
        method.similarity(np.asarray(method.encode([query])), rows[:count])

    return Result(_times(ask, texts, (*SIZES, MANY)) | {"accuracy": score(method, case.corpus).figures["accuracy"]})


def cross_encoder(case: Case) -> Result:
    """Train the scorer on the pairs, then read the query with each sentence."""
    corpus = case.corpus
    assert isinstance(corpus, Pairs)
    reader = PairReader(CrossSettings.of(case.settings))
    reader.fit(corpus, seed=case.seed, progress=case.progress)
    texts = _texts(case)

    def ask(query: str, count: int) -> None:
        reader.scores([query] * count, texts[:count])

    dev, test = (corpus.part(split) for split in ("dev", "test"))
    scores = [reader.scores(part.text_a, part.text_b) for part in (dev, test)]
    accuracy = pair_classification(scores[0], dev.labels, scores[1], test.labels).accuracy
    return Result(_times(ask, texts, SIZES) | {"accuracy": accuracy})


def _texts(case: Case) -> list[str]:
    """As many test sentences as the largest n, repeated if the test split has fewer."""
    return list(islice(cycle(case.corpus.part("test").sentences()), max(SIZES)))


def _times(ask: Callable[[str, int], None], texts: list[str], sizes: Sequence[int]) -> dict[str, float]:
    """Milliseconds per query, the minimum over several rounds; the slope extrapolates to a million."""
    least: dict[int, float] = {}
    for size in sizes:
        spent = []
        for number in range(ROUNDS):
            start = time.process_time()
            ask(texts[number % len(texts)], size)
            spent.append(1000 * (time.process_time() - start))
        least[size] = min(spent)  # other load and one-time costs only add time
    few, many = sizes[0], sizes[-1]
    slope = max(least[many] - least[few], 0.0) / (many - few)
    return {str(size): took for size, took in least.items()} | {"1000000": least[few] + slope * (1_000_000 - few)}

"""How fast are the exact threshold and the exact neighbours, compared with the libraries one would otherwise call?

    threshold    best_threshold on 400,000 float32 scores / the search of sentence-transformers
    neighbours   nearest, 10 of 50,000 for each of 12,000 (d = 600, float32) / the flat index of faiss

CPU time of one thread; the two calls alternate, and the median of the ratios counts.
"""

from __future__ import annotations

import faiss
import numpy as np
from sentence_transformers.sentence_transformer.evaluation import BinaryClassificationEvaluator
from threadpoolctl import threadpool_limits

from benchmarks.machine import alternate, describe
from labkit.evaluation import best_threshold, nearest

PAIRS = 400_000
QUERIES, BASE, WIDTH, K = 12_000, 50_000, 600, 10
HEAD = "| task | labkit | other | other is | ratio (range) | wanted | agreement |\n|" + 7 * " --- |"


def main(rounds: int = 3) -> str:
    """Both measurements as one table in Markdown, under a line on the machine."""
    with threadpool_limits(1):
        rows = [threshold(rounds), neighbours(rounds)]
    return "\n".join([f"Evaluation, one thread. {describe()}", "", HEAD, *rows])


def threshold(rounds: int) -> str:
    """A row of the table: how many times as long the other search takes, and what both thresholds are worth."""
    random = np.random.default_rng(0)
    labels = random.integers(0, 2, PAIRS)
    scores = np.clip(random.normal(0.4 + 0.2 * labels, 0.2), -1, 1).astype(np.float32)

    def other(scores: np.ndarray, labels: np.ndarray) -> float:
        return float(BinaryClassificationEvaluator.find_best_acc_and_threshold(scores, labels, True)[1])

    measured = alternate(lambda: other(scores, labels), lambda: best_threshold(scores, labels), rounds)
    ours, theirs = (
        float(((scores > t) == labels).mean()) for t in (best_threshold(scores, labels), other(scores, labels))
    )
    return (
        f"| best of {PAIRS:,} thresholds | {measured.b:.3f} s | {measured.a:.3f} s | sentence-transformers "
        f"| {measured.ratio:.0f}x faster ({measured.least:.0f}-{measured.most:.0f}) | at least 15x "
        f"| accuracy {ours:.6f}, theirs {theirs:.6f} |"
    )


def neighbours(rounds: int) -> str:
    """A row of the table: our time over theirs, and in how many places the two name the same neighbour."""
    random = np.random.default_rng(0)
    base, queries = (random.standard_normal((n, WIDTH), dtype=np.float32) for n in (BASE, QUERIES))
    faiss.omp_set_num_threads(1)
    index = faiss.IndexFlatL2(WIDTH)
    index.add(base)
    measured = alternate(lambda: nearest(queries, base, K), lambda: index.search(queries, K), rounds)
    same = float((nearest(queries, base, K)[0] == index.search(queries, K)[1]).mean())
    return (
        f"| {K} nearest of {BASE:,} for {QUERIES:,}, d = {WIDTH} | {measured.a:.2f} s | {measured.b:.2f} s "
        f"| faiss IndexFlatL2 | {measured.ratio:.2f} of its time ({measured.least:.2f}-{measured.most:.2f}) "
        f"| at most 1.3 | {same:.4%} the same |"
    )

"""How fast are the best threshold and exact neighbours, compared with sentence-transformers and faiss?

    threshold    best_threshold on 400,000 float32 scores / the search of sentence-transformers
    neighbours   nearest, 10 of 50,000 for each of 12,000 (d = 600, float32) / the flat index of faiss

CPU time on one thread; the two calls alternate, and the median ratio counts.
"""

from __future__ import annotations

import faiss
import numpy as np
from sentence_transformers.sentence_transformer.evaluation import BinaryClassificationEvaluator
from threadpoolctl import threadpool_limits

from benchmarks.machine import alternate, describe
from labkit.evaluation import best_threshold, nearest

ROUNDS = 3
PAIRS = 400_000
QUERIES, BASE, WIDTH, K = 12_000, 50_000, 600, 10
HEAD = "| task | labkit | other | other is | ratio (range) | wanted | agreement |\n|" + 7 * " --- |"


def main() -> str:
    with threadpool_limits(1):
        return "\n".join([f"Evaluation, one thread. {describe()}", "", HEAD, threshold(), neighbours()])


def threshold() -> str:
    """A table row: how much faster the threshold is found, and the accuracy of both thresholds."""
    random = np.random.default_rng(0)
    labels = random.integers(0, 2, PAIRS)
    scores = np.clip(random.normal(0.4 + 0.2 * labels, 0.2), -1, 1).astype(np.float32)

    def other() -> float:
        return float(BinaryClassificationEvaluator.find_best_acc_and_threshold(scores, labels, True)[1])

    measured = alternate(other, lambda: best_threshold(scores, labels), ROUNDS)
    ours, theirs = (float(((scores > t) == labels).mean()) for t in (best_threshold(scores, labels), other()))
    return (
        f"| best of {PAIRS:,} thresholds | {measured.b:.3f} s | {measured.a:.3f} s | sentence-transformers "
        f"| {measured.ratio:.0f}x faster ({measured.least:.0f}-{measured.most:.0f}) | at least 15x "
        f"| accuracy {ours:.6f}, theirs {theirs:.6f} |"
    )


def neighbours() -> str:
    """A table row: our time relative to theirs, and the share of neighbours on which both agree."""
    random = np.random.default_rng(0)
    base, queries = (random.standard_normal((n, WIDTH), dtype=np.float32) for n in (BASE, QUERIES))
    faiss.omp_set_num_threads(1)
    index = faiss.IndexFlatL2(WIDTH)
    index.add(base)
    measured = alternate(lambda: nearest(queries, base, K), lambda: index.search(queries, K), ROUNDS)
    same = float((nearest(queries, base, K)[0] == index.search(queries, K)[1]).mean())
    return (
        f"| {K} nearest of {BASE:,} for {QUERIES:,}, d = {WIDTH} | {measured.a:.2f} s | {measured.b:.2f} s "
        f"| faiss IndexFlatL2 | {measured.ratio:.2f} of its time ({measured.least:.2f}-{measured.most:.2f}) "
        f"| at most 1.3 | {same:.4%} the same |"
    )

"""How fast are the exact threshold and the exact neighbours, beside the libraries one would otherwise call?

    threshold    best_threshold on 400,000 float32 scores / sentence-transformers' search for it
    neighbours   nearest, 10 of 50,000 for each of 12,000 (d = 600, float32) / search in faiss' flat index

CPU time of one thread, the two calls in turn, median of the ratios within a round. Where the other library is not
installed, a stand-in takes its place, and the table says so.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.machine import alternate, describe
from labkit.evaluation import best_threshold, nearest

PAIRS = 400_000
QUERIES, BASE, WIDTH, K = 12_000, 50_000, 600, 10
HEAD = "| task | labkit | other | other is | ratio (range) | wanted | agreement |\n|" + 7 * " --- |"

Threshold = Callable[[np.ndarray, np.ndarray], float]
Search = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


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
    name, other = _their_threshold()
    measured = alternate(lambda: other(scores, labels), lambda: best_threshold(scores, labels), rounds)
    ours, theirs = (
        float(((scores > t) == labels).mean()) for t in (best_threshold(scores, labels), other(scores, labels))
    )
    return (
        f"| best of {PAIRS:,} thresholds | {measured.b:.3f} s | {measured.a:.3f} s | {name} "
        f"| {measured.ratio:.0f}x faster ({measured.least:.0f}-{measured.most:.0f}) | at least 15x "
        f"| accuracy {ours:.6f}, theirs {theirs:.6f} |"
    )


def neighbours(rounds: int) -> str:
    """A row of the table: our time over theirs, and in how many places the two name the same neighbour."""
    random = np.random.default_rng(0)
    base, queries = (random.standard_normal((n, WIDTH), dtype=np.float32) for n in (BASE, QUERIES))
    name, search = _their_search(base)
    measured = alternate(lambda: nearest(queries, base, K), lambda: search(queries), rounds)
    same = float((nearest(queries, base, K)[0] == search(queries)[1]).mean())
    return (
        f"| {K} nearest of {BASE:,} for {QUERIES:,}, d = {WIDTH} | {measured.a:.2f} s | {measured.b:.2f} s | {name} "
        f"| {measured.ratio:.2f} of its time ({measured.least:.2f}-{measured.most:.2f}) | at most 1.3 "
        f"| {same:.4%} the same |"
    )


def _their_threshold() -> tuple[str, Threshold]:
    # the first since version 6, the second before
    for place in ("sentence_transformers.sentence_transformer.evaluation", "sentence_transformers.evaluation"):
        try:
            search = import_module(place).BinaryClassificationEvaluator.find_best_acc_and_threshold
        except ImportError:
            continue
        return "sentence-transformers", lambda scores, labels, search=search: float(search(scores, labels, True)[1])
    return "a plain Python loop (sentence-transformers is not installed)", _looped_threshold


def _looped_threshold(scores: np.ndarray, labels: np.ndarray) -> float:
    """Stand-in: walk down the sorted pairs, one at a time, and keep the best cut between distinct scores."""
    pairs = sorted(zip(scores, labels, strict=True), key=lambda pair: pair[0], reverse=True)
    right = sum(1 for _, label in pairs if not label)
    best, cut = right, pairs[0][0]
    for number, (score, label) in enumerate(pairs):
        right += 1 if label else -1
        below = pairs[number + 1][0] if number + 1 < len(pairs) else -np.inf
        if right > best and below < score:
            best, cut = right, (score + below) / 2
    return float(cut)


def _their_search(base: np.ndarray) -> tuple[str, Search]:
    try:
        import faiss
    except ImportError:
        return "matmul and argpartition (faiss is not installed)", lambda queries: _plain_search(queries, base)
    faiss.omp_set_num_threads(1)
    index = faiss.IndexFlatL2(base.shape[1])
    index.add(base)
    return "faiss IndexFlatL2", lambda queries: index.search(queries, K)


def _plain_search(queries: np.ndarray, base: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Stand-in: distances by one product, 256 queries at a time, the smallest K of each row sorted."""
    lengths, distances, found = (base**2).sum(axis=1), [], []
    for start in range(0, len(queries), 256):
        block = queries[start : start + 256]
        squared = lengths - 2 * block @ base.T + (block**2).sum(axis=1)[:, None]
        least = np.argpartition(squared, K, axis=1)[:, :K]
        order = np.argsort(np.take_along_axis(squared, least, 1), axis=1)
        found.append(np.take_along_axis(least, order, 1))
        distances.append(np.take_along_axis(squared, found[-1], 1))
    return np.concatenate(distances), np.concatenate(found)


if __name__ == "__main__":
    print(main())

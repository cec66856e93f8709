"""How long does t-SNE take, and how low does it get, beside scikit-learn's and openTSNE's?

Points of 20 classes of different width in 50 dimensions, perplexity 30, all from the same start (PCA's picture, small),
everything else as each library has it. CPU seconds of one thread, one after the other in one process, in turn over
three rounds, one round at 10,000 points and above: medians, and the ratios within a round with their range; libraries
are imported and compiled beforehand. KL(P||Q) of each picture is measured alike: the same P over 90 neighbours, Q over
all pairs, float64. PCA is there to be compared in time.

    python -m benchmarks projection            python -m benchmarks.projection 2000 [5000 10000]
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from statistics import median

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.machine import describe, fresh_process, seconds
from labkit.evaluation.neighbours import blocks
from labkit.projection import pca
from labkit.projection.picture import quality
from labkit.projection.t_sne import affinities, descend, divergence, from_afar

SIZES = (2_000, 5_000, 10_000, 20_000)
ROUNDS, ONCE_FROM = 3, 10_000
WIDTH, CLASSES, PERPLEXITY = 50, 20, 30.0
OURS, PEERS = "labkit", ("scikit-learn", "openTSNE")
HEAD = "| points | t-SNE by | CPU s | of scikit-learn's | of openTSNE's | KL | trustworthiness |\n|" + 7 * " --- |"

Arrange = Callable[[np.ndarray, np.ndarray], np.ndarray]


def points(count: int, seed: int = 0) -> np.ndarray:
    """(count, 50) float32."""
    random = np.random.default_rng(seed)
    centres, labels = random.standard_normal((CLASSES, WIDTH)), random.integers(0, CLASSES, count)
    widths = random.uniform(0.5, 1.2, CLASSES)[labels, None]
    return (centres[labels] + widths * random.standard_normal((count, WIDTH))).astype(np.float32)


def ours(rows: np.ndarray, start: np.ndarray) -> np.ndarray:
    """The exact form at any size, also where `project` would hand over to openTSNE."""
    return descend(affinities(rows, PERPLEXITY), start)[0]


def scikit_learn(rows: np.ndarray, start: np.ndarray) -> np.ndarray:
    from sklearn.manifold import TSNE

    return TSNE(perplexity=PERPLEXITY, init=start.astype(np.float32), random_state=0, n_jobs=1).fit_transform(rows)


def opentsne(rows: np.ndarray, start: np.ndarray) -> np.ndarray:
    from openTSNE import TSNE

    return np.asarray(TSNE(perplexity=PERPLEXITY, initialization=start, random_state=0, n_jobs=1).fit(rows))


CONTENDERS: dict[str, Arrange] = {OURS: ours, "scikit-learn": scikit_learn, "openTSNE": opentsne}


def table(count: int) -> str:
    """One size, everyone in turn, after a picture of 200 points that nobody counts."""
    rows = points(count)
    start = from_afar(rows, 0)
    spent: dict[str, list[float]] = {name: [] for name in CONTENDERS}
    pictures: dict[str, np.ndarray] = {}

    def arrange(name: str) -> None:
        pictures[name] = CONTENDERS[name](rows, start)

    for each in CONTENDERS.values():
        each(rows[:200], start[:200])
    for _ in range(1 if count >= ONCE_FROM else ROUNDS):
        for name in CONTENDERS:
            spent[name].append(seconds(lambda name=name: arrange(name)))  # type: ignore[misc]
    lines = [line(name, rows, pictures[name], spent) for name in CONTENDERS]
    lines.append(f"| {count:,} | (PCA) | {seconds(lambda: pca(rows)):.2f} |  |  |  |  |")
    return "\n".join(lines)


def line(name: str, rows: np.ndarray, picture: np.ndarray, spent: dict[str, list[float]]) -> str:
    """A row of the table."""
    ratios = [ranged([own / peer for own, peer in zip(spent[name], spent[peer], strict=True)]) for peer in PEERS]
    near = np.asarray(picture, np.float32)
    kl = divergence(affinities(rows, PERPLEXITY), near, closeness(near))
    figures = [f"{median(spent[name]):.2f}", *ratios, f"{kl:.4f}", f"{quality(rows, near).trustworthiness:.4f}"]
    return f"| {' | '.join([f'{len(rows):,}', name, *figures])} |"


def ranged(ratios: Sequence[float]) -> str:
    """The median, and the range where there is one."""
    least, most = min(ratios), max(ratios)
    return f"{median(ratios):.2f}" + (f" ({least:.2f}-{most:.2f})" if len(ratios) > 1 else "")


def closeness(picture: np.ndarray) -> float:
    """Z = Σ_{i≠j} 1 / (1 + |y_i - y_j|²) in float64, by numpy alone: nobody's own arithmetic."""
    Y = picture.astype(np.float64)
    squares = (Y**2).sum(axis=1)
    parts = ((1 / (1 + squares[block, None] + squares - 2 * Y[block] @ Y.T)).sum() for block in blocks(len(Y), len(Y)))
    return float(sum(parts)) - len(Y)


def main(sizes: tuple[int, ...] = SIZES) -> str:
    """All sizes, each in a process of its own on one thread."""
    tables = [fresh_process("benchmarks.projection", str(size)).strip() for size in sizes]
    return "\n".join([f"t-SNE of {WIDTH}-d points, one thread. {describe()}", "", HEAD, *tables])


if __name__ == "__main__":
    import torch

    torch.set_num_threads(1)
    with threadpool_limits(1):
        for size in sys.argv[1:]:
            print(table(int(size)), flush=True)

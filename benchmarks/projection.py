"""How fast and how good is t-SNE, compared with scikit-learn and openTSNE?

Points of 20 classes of different widths in 50 dimensions, perplexity 30, all from the same start (PCA, scaled down),
and otherwise the defaults of each library. CPU seconds are medians on one thread in one process; ratios are taken
within a round. There are three rounds, one from 10,000 points on, after a first call on 200 points that imports and
compiles. KL(P||Q) is computed in the same way for all: the same P over 90 neighbours, Q over all pairs, float64. PCA is
timed for comparison.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from statistics import median

import numpy as np

from benchmarks.machine import describe, fresh_process, seconds
from labkit.evaluation.neighbours import blocks
from labkit.projection import pca
from labkit.projection.picture import quality
from labkit.projection.t_sne import affinities, descend, divergence, from_afar

SIZES = (2_000, 5_000, 10_000, 20_000)
ROUNDS, ONCE_FROM = 3, 10_000
WIDTH, CLASSES, PERPLEXITY = 50, 20, 30.0
PEERS = "scikit-learn", "openTSNE"
HEAD = "| points | library | CPU s | / scikit-learn's | / openTSNE's | KL | trustworthiness |\n|" + 7 * " --- |"

Arrange = Callable[[np.ndarray, np.ndarray], np.ndarray]


def points(count: int) -> np.ndarray:
    """Points (count, 50) in float32."""
    random = np.random.default_rng(0)
    centres, labels = random.standard_normal((CLASSES, WIDTH)), random.integers(0, CLASSES, count)
    widths = random.uniform(0.5, 1.2, CLASSES)[labels, None]
    return (centres[labels] + widths * random.standard_normal((count, WIDTH))).astype(np.float32)


def ours(rows: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Our exact t-SNE at any size, even where `project` would use openTSNE."""
    return descend(affinities(rows, PERPLEXITY), start)[0]


def scikit_learn(rows: np.ndarray, start: np.ndarray) -> np.ndarray:
    from sklearn.manifold import TSNE

    return TSNE(perplexity=PERPLEXITY, init=start.astype(np.float32), random_state=0, n_jobs=1).fit_transform(rows)


def opentsne(rows: np.ndarray, start: np.ndarray) -> np.ndarray:
    from openTSNE import TSNE

    return np.asarray(TSNE(perplexity=PERPLEXITY, initialization=start, random_state=0, n_jobs=1).fit(rows))


CONTENDERS: dict[str, Arrange] = {"labkit": ours, "scikit-learn": scikit_learn, "openTSNE": opentsne}


def table(count: int) -> str:
    """The rows of one size."""
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
            spent[name].append(seconds(partial(arrange, name)))
    lines = [line(name, rows, pictures[name], spent) for name in CONTENDERS]
    lines.append(f"| {count:,} | (PCA) | {seconds(lambda: pca(rows)):.2f} |  |  |  |  |")
    return "\n".join(lines)


def line(name: str, rows: np.ndarray, picture: np.ndarray, spent: dict[str, list[float]]) -> str:
    """The row of one library."""
    ratios = [ranged([own / peer for own, peer in zip(spent[name], spent[peer], strict=True)]) for peer in PEERS]
    near = np.asarray(picture, np.float32)
    kl = divergence(affinities(rows, PERPLEXITY), near, closeness(near))
    figures = [f"{median(spent[name]):.2f}", *ratios, f"{kl:.4f}", f"{quality(rows, near).trustworthiness:.4f}"]
    return f"| {' | '.join([f'{len(rows):,}', name, *figures])} |"


def ranged(ratios: list[float]) -> str:
    """The median, with the range if there are several rounds."""
    return f"{median(ratios):.2f}" + (f" ({min(ratios):.2f}-{max(ratios):.2f})" if len(ratios) > 1 else "")


def closeness(picture: np.ndarray) -> float:
    """Z = Σ_{i≠j} 1 / (1 + |y_i - y_j|²) in float64, with numpy rather than the code of any library compared."""
    Y = picture.astype(np.float64)
    squares = (Y**2).sum(axis=1)
    parts = ((1 / (1 + squares[block, None] + squares - 2 * Y[block] @ Y.T)).sum() for block in blocks(len(Y), len(Y)))
    return float(sum(parts)) - len(Y)


def main() -> str:
    """All sizes, each in its own process on one thread."""
    tables = [fresh_process(table, size) for size in SIZES]
    return "\n".join([f"t-SNE of {WIDTH}-d points, one thread. {describe()}", "", HEAD, *tables])

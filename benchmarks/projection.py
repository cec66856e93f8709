"""How long does t-SNE take, and how low does it get, beside scikit-learn's and openTSNE's?

Points of 20 classes of different width in 50 dimensions, perplexity 30, everything else as each library has it. CPU
seconds of one thread, one after the other in one process; libraries are imported beforehand. KL(P||Q) of each picture
is measured alike: the same P over 90 neighbours, Q over all pairs. PCA is there to be compared in time.

    python -m benchmarks projection            python -m benchmarks.projection 2000 [5000 10000]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np
import torch
from scipy import sparse
from threadpoolctl import threadpool_limits

from benchmarks.machine import describe, fresh_process, seconds
from labkit.projection import pca
from labkit.projection.affinities import affinities
from labkit.projection.descent import descend
from labkit.projection.forces import Pull, Push
from labkit.projection.quality import quality
from labkit.projection.stochastic import from_afar

SIZES = (2_000, 5_000, 10_000)
WIDTH, CLASSES, PERPLEXITY = 50, 20, 30.0
HEAD = "| points | t-SNE by | CPU s | of scikit-learn's | of openTSNE's | KL | trustworthiness |\n|" + 7 * " --- |"

Arrange = Callable[[np.ndarray], np.ndarray]


def points(count: int, seed: int = 0) -> np.ndarray:
    """(count, 50) float32."""
    random = np.random.default_rng(seed)
    centres, labels = random.standard_normal((CLASSES, WIDTH)), random.integers(0, CLASSES, count)
    widths = random.uniform(0.5, 1.2, CLASSES)[labels, None]
    return (centres[labels] + widths * random.standard_normal((count, WIDTH))).astype(np.float32)


def ours(rows: np.ndarray) -> np.ndarray:
    """The exact form at any size, also where `project` would hand over to openTSNE."""
    return descend(affinities(rows, PERPLEXITY), from_afar(rows, 0)).points


def scikit_learn(rows: np.ndarray) -> np.ndarray:
    from sklearn.manifold import TSNE

    return TSNE(perplexity=PERPLEXITY, random_state=0, n_jobs=1).fit_transform(rows)


def opentsne(rows: np.ndarray) -> np.ndarray:
    from openTSNE import TSNE

    return np.asarray(TSNE(perplexity=PERPLEXITY, random_state=0, n_jobs=1).fit(rows))


CONTENDERS: dict[str, Arrange] = {"labkit, exact": ours, "scikit-learn": scikit_learn, "openTSNE": opentsne}


def divergence(P: sparse.csr_array, picture: np.ndarray) -> float:
    """KL(P||Q), Q over all pairs."""
    Y = torch.tensor(picture, dtype=torch.float32)
    return Pull(P).kl(Y, Push(len(Y))(Y)[1])


def table(count: int) -> str:
    """One size, everyone once, after a picture of 100 points that nobody counts."""
    rows = points(count)
    P = affinities(rows, PERPLEXITY)
    spent: dict[str, float] = {}
    pictures: dict[str, np.ndarray] = {}
    for name, arrange in CONTENDERS.items():
        arrange(rows[:100])
        start = time.process_time()
        pictures[name] = arrange(rows)
        spent[name] = time.process_time() - start
    lines = []
    for name, picture in pictures.items():
        ratios = [f"{spent[name] / spent[peer]:.2f}" for peer in ("scikit-learn", "openTSNE")]
        figures = [f"{divergence(P, picture):.4f}", f"{quality(rows, picture).trustworthiness:.4f}"]
        lines.append(f"| {' | '.join([f'{count:,}', name, f'{spent[name]:.2f}', *ratios, *figures])} |")
    lines.append(f"| {count:,} | (PCA) | {seconds(lambda: pca(rows)):.2f} |  |  |  |  |")
    return "\n".join(lines)


def main(sizes: tuple[int, ...] = SIZES) -> str:
    """All sizes, each in a process of its own on one thread."""
    tables = [fresh_process("benchmarks.projection", str(size)).strip() for size in sizes]
    return "\n".join([f"t-SNE of {WIDTH}-d points, one thread. {describe()}", "", HEAD, *tables])


if __name__ == "__main__":
    torch.set_num_threads(1)
    with threadpool_limits(1):
        for size in sys.argv[1:]:
            print(table(int(size)))

"""How fast is the locality loss with mining, forward and backward, and how much memory does it take?

    theirs      MultiSimilarityMiner and MultiSimilarityLoss of pytorch-metric-learning
    dense       masks_from_labels, informative, locality on the m x m matrix
    streaming   streaming_locality

Vectors of 300 numbers in classes of 8. `learned` data resembles sentence vectors halfway through training (few pairs
are mined), `random` data those of an untrained encoder (all pairs are). CPU time is on one thread; memory is that of a
separate process, minus torch and the vectors. Theirs needs 14 GB at m = 16384, and is skipped with less memory.

The second table measures one step of `labkit train sentpwnet` in its own process, including imports: the mean encoder,
sentences of 12 to 20 words, classes of 80. `large` is the path of batches above 2,048 sentences (no m x m matrix, the
encoder run in chunks), `dense` that of smaller ones.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from benchmarks.machine import alternate, describe, fresh_process, measured, one_thread
from labkit.corpora.records import Labelled
from labkit.pairs import informative, locality, masks_from_labels, streaming_locality
from labkit.progress import silent
from labkit.sentpwnet import method as sentpwnet
from labkit.training import train
from labkit.training.reader import reader_and_vectors

WIDTH, CLASS = 300, 8
THEIRS_BYTES_PER_PAIR = 60  # measured memory of their miner and loss, for each of m x m pairs
HEAD = (
    "| m | data | this | against | CPU s, this | CPU s, other | times faster (range) | wanted "
    "| MB, this | MB, other | times smaller | wanted | gradients differ by |\n" + "| --- " * 13 + "|"
)

Loss = Callable[[Tensor, Tensor], Tensor]


@dataclass(frozen=True)
class Comparison:
    """`this` compared with `against` on a batch; how many times faster and smaller it should be, 0 if unspecified."""

    rows: int
    data: str
    this: str
    against: str
    faster: float = 0
    smaller: float = 0
    rounds: int = 5


COMPARISONS = (
    Comparison(256, "learned", "dense", "theirs", 3.5, rounds=11),
    Comparison(1024, "learned", "dense", "theirs", 4.5),
    Comparison(4096, "learned", "dense", "theirs", rounds=3),
    Comparison(4096, "learned", "streaming", "theirs", 12, 14),
    Comparison(4096, "random", "streaming", "theirs", 10, 30),
    Comparison(4096, "learned", "streaming", "dense"),
    Comparison(4096, "random", "streaming", "dense"),
    Comparison(16384, "learned", "streaming", "dense", rounds=1),
    Comparison(16384, "learned", "streaming", "theirs", 20, 100, rounds=1),
)
STEPS = [(m, way) for m in (1024, 2048, 4096, 16384) for way in ("large", "dense")] + [(65536, "large")]
STEP_HEAD = "| m | path | MB before | MB at most | CPU s |\n" + "| --- " * 5 + "|"
DENSE_BYTES_PER_PAIR = 45  # the same for the dense step


def main() -> str:
    """Both tables, below a line that describes the machine."""
    lines = [f"Locality loss with mining, forward and backward, d = {WIDTH}. {describe()}", "", HEAD]
    lines += [*map(line, COMPARISONS), "", "One training step, the whole process.", "", STEP_HEAD]
    return "\n".join(lines + [step_line(m, way) for m, way in STEPS])


def line(c: Comparison) -> str:
    """A row of the first table."""
    begin = f"| {c.rows} | {c.data} | {c.this} | {c.against} "
    if c.against == "theirs" and _free_bytes() < THEIRS_BYTES_PER_PAIR * c.rows**2:
        return f"{begin}| not enough memory for theirs {'| ' * 9}|"
    X, labels = batch(c.rows, c.data)
    slopes: dict[str, Tensor] = {}
    these, those = (_step(name, X, labels, slopes) for name in (c.this, c.against))
    with one_thread():
        cpu = alternate(those, these, c.rounds, warm=c.rounds > 1)
    difference = (slopes[c.this] - slopes[c.against]).abs().max() / slopes[c.against].abs().max()
    own, other = (fresh_process(_memory_here, name, c.rows, c.data) for name in (c.this, c.against))
    return (
        f"{begin}| {cpu.b / _repeats(c.rows):.4f} | {cpu.a / _repeats(c.rows):.4f} "
        f"| {cpu.ratio:.1f} ({cpu.least:.1f}-{cpu.most:.1f}) | {c.faster or ''} | {own / 2**20:.0f} "
        f"| {other / 2**20:.0f} | {other / max(own, 1):.0f} | {c.smaller or ''} | {difference:.0e} |"
    )


def step_line(rows: int, way: str) -> str:
    """A row of the second table."""
    if way == "dense" and _free_bytes() < DENSE_BYTES_PER_PAIR * rows**2:
        return f"| {rows} | {way} | not enough memory | | |"
    before, peak, spent = fresh_process(_train_here, way, rows, return_freed=False)
    return f"| {rows} | {way} | {before / 2**20:.0f} | {peak / 2**20:.0f} | {spent:.1f} |"


def batch(rows: int, data: str) -> tuple[Tensor, Tensor]:
    """Vectors (m, 300) and labels (m,): classes of 8 in random order."""
    generator = torch.Generator().manual_seed(0)

    def directions(n: int) -> Tensor:
        return torch.randn(n, WIDTH, generator=generator) / WIDTH**0.5

    labels = (torch.arange(rows) // CLASS)[torch.randperm(rows, generator=generator)]
    if data == "random":
        return directions(rows), labels
    classes = int(labels.max()) + 1
    topics = max(4, classes // 16)
    topic = torch.randint(0, topics, (classes,), generator=generator)
    centres = 0.45 * directions(1) + 0.6 * directions(topics)[topic] + 0.5 * directions(classes)
    noise = 0.25 + 0.75 * torch.rand(rows, 1, generator=generator)
    return centres[labels] + noise * directions(rows), labels


def _loss(name: str) -> Loss:
    if name == "streaming":
        return streaming_locality
    if name == "dense":
        return dense
    from pytorch_metric_learning.losses import MultiSimilarityLoss
    from pytorch_metric_learning.miners import MultiSimilarityMiner

    miner, loss = MultiSimilarityMiner(epsilon=0.1), MultiSimilarityLoss(alpha=2, beta=50, base=0.5)
    return lambda X, labels: loss(X, labels, miner(X, labels))


def dense(X: Tensor, labels: Tensor) -> Tensor:
    V = F.normalize(X, dim=1)
    S = V @ V.T
    return locality(S, *informative(S, *masks_from_labels(labels)))


def _step(name: str, X: Tensor, labels: Tensor, slopes: dict[str, Tensor]) -> Callable[[], None]:
    """A function that runs forward and backward `_repeats` times and stores the gradient in `slopes`."""
    loss = _loss(name)

    def step() -> None:
        for _ in range(_repeats(len(X))):
            leaf = X.detach().requires_grad_()
            loss(leaf, labels).backward()
            assert leaf.grad is not None
            slopes[name] = leaf.grad

    return step


def _repeats(rows: int) -> int:
    return max(1, (2048 // rows) ** 2)


def _free_bytes() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")


def _memory_here(name: str, rows: int, data: str) -> int:
    """Bytes that one call needs in this process, after a first call on 64 vectors."""
    loss, (X, labels) = _loss(name), batch(rows, data)
    loss(X[:64].requires_grad_(), labels[:64]).backward()
    leaf = X.detach().requires_grad_()
    before, peak, _ = measured(lambda: loss(leaf, labels).backward())
    return peak - before


def _train_here(way: str, rows: int) -> tuple[int, int, float]:
    """Bytes of this process before one training step, peak bytes, and the step's CPU seconds."""
    sentpwnet.LARGE = 0 if way == "large" else rows
    random = np.random.default_rng(0)
    words = [np.minimum(random.zipf(1.2, length) + 1, 19_999) for length in random.integers(12, 21, rows)]
    texts = [f"{number} " + " ".join(f"w{word}" for word in row) for number, row in enumerate(words)]
    corpus = Labelled(texts, [f"c{row % (rows // 80)}" for row in range(rows)], name="made", splits="train")
    settings = sentpwnet.PairSettings(
        epochs=1, batch=rows, encoder="mean", size=WIDTH, dimension=WIDTH, vectors="random", device="cpu"
    )
    method = sentpwnet.SentPWNet(settings)
    method.reader, vectors = reader_and_vectors(corpus, vectors="random", dimension=WIDTH)
    source = sentpwnet.batch_source(corpus, per_class=settings.per_class)
    task = sentpwnet.PairTask(method._network(vectors), method.reader, source, settings, 0)
    return measured(lambda: train(task, settings, seed=0, progress=silent))

"""What does the training loop cost, compared with a plain loop of thirty lines?

Both train on the bundled questions with the same network, dropout, clipping and score on dev, in turn, on one thread.
Reading, checkpoints and probes are only ours; they are listed in columns of their own.

    python -m benchmarks training
"""

from __future__ import annotations

import statistics
import time
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
import torch.nn.functional as F
from sklearn.metrics import roc_auc_score
from torch import Tensor, nn

from benchmarks.machine import describe, seconds, threads
from labkit.corpora import load
from labkit.corpora.records import Pairs
from labkit.corpora.relations import components
from labkit.methods import METHODS
from labkit.progress import silent
from labkit.sentpwnet.method import PairSettings
from labkit.training.loop import train

ROUNDS = 3
EPOCHS = 2
WHOLE: dict[str, tuple[str, dict[str, Any]]] = {
    "bag": ("bag", {}),
    "mean": ("siamese", {"encoder": "mean"}),
    "cnn": ("siamese", {"encoder": "cnn"}),
}


class Plain(nn.Module):
    """A map of words to a sentence, as one writes it first."""

    def __init__(self, kind: str, table: Tensor, size: int, dropout: float) -> None:
        super().__init__()
        self.kind, self.drop = kind, nn.Dropout(dropout)
        make = partial(nn.EmbeddingBag.from_pretrained, mode="mean") if kind == "bag" else nn.Embedding.from_pretrained
        self.table = make(table, freeze=False, sparse=True)
        self.out = nn.Linear(table.shape[1], size) if kind == "mean" else None
        shapes = [(table.shape[1], size // 3, width) for width in (3, 4, 5)] if kind == "cnn" else []
        self.windows = nn.ModuleList(nn.Conv1d(*shape) for shape in shapes)

    def forward(self, rows: list[Tensor]) -> Tensor:
        lengths = torch.tensor([len(row) for row in rows])
        if self.kind == "bag":
            return F.normalize(self.table(torch.cat(rows), lengths.cumsum(0) - lengths), dim=1)
        numbers = nn.utils.rnn.pad_sequence(rows, batch_first=True)
        there = torch.arange(numbers.shape[1]) < lengths[:, None]  # (n, length)
        x = self.drop(self.table(numbers) * there[:, :, None])
        if self.out is not None:
            return F.normalize(self.out(x.sum(1) / lengths[:, None]), dim=1)
        padded = [F.pad(x.transpose(1, 2), (0, window.kernel_size[0] - 1)) for window in self.windows]
        found = [window(each) for window, each in zip(self.windows, padded, strict=True)]
        return F.normalize(
            torch.cat([each.masked_fill(~there[:, None], -torch.inf).amax(2) for each in found], 1), dim=1
        )


def plain_loop(model: Plain, settings: PairSettings, train_part: Pairs, dev: Pairs, read: Any) -> float:
    """Train by the contrastive loss: of the labelled pairs for a bag, of all pairs of a batch else."""
    texts, component = components(train_part)
    rows = [torch.tensor(read(text)) for text in texts]
    number = {text: row for row, text in enumerate(texts)}
    pairs = torch.tensor([[number[a], number[b]] for a, b in zip(train_part.text_a, train_part.text_b, strict=True)])
    labels, classes = torch.tensor(train_part.values), torch.tensor(component)
    asked = [[torch.tensor(read(text)) for text in column] for column in (dev.text_a, dev.text_b)]
    dense = [parameter for name, parameter in model.named_parameters() if not name.startswith("table")]
    steps: list[torch.optim.Optimizer] = [torch.optim.SparseAdam([model.table.weight], lr=settings.learning_rate)]
    steps += [torch.optim.Adam(dense, lr=settings.learning_rate)] if dense else []
    started = time.process_time()
    for _ in range(EPOCHS):
        model.train()
        for part in torch.randperm(len(pairs)).split(settings.batch):
            if model.kind == "bag":
                A, B = model([rows[row] for row in pairs[part].T.flatten().tolist()]).chunk(2)
                S = (A * B).sum(1)
                loss = ((S - settings.margin).relu() * (1 - labels[part]) - S * labels[part]).mean()
            else:
                sentences = pairs[part].unique()
                E = model([rows[row] for row in sentences.tolist()])
                same = classes[sentences][:, None] == classes[sentences]
                S = E @ E.T
                loss = ((S - settings.margin).relu() * ~same - S * same.clone().fill_diagonal_(False)).sum(1).mean()
            for each in steps:
                each.zero_grad()
            loss.backward()
            model.table.weight.grad = model.table.weight.grad.coalesce()
            slopes = [p.grad._values() if p.grad.is_sparse else p.grad for p in model.parameters()]
            length = torch.stack([slope.norm() for slope in slopes]).norm()
            if length > settings.max_grad_norm:
                for slope in slopes:
                    slope.mul_(settings.max_grad_norm / length)
            for each in steps:
                each.step()
        model.eval()
        with torch.no_grad():
            A, B = (torch.cat([model(column[i : i + 256]) for i in range(0, len(column), 256)]) for column in asked)
        roc_auc_score(dev.values, (A * B).sum(1))
    return time.process_time() - started


def _whole(kind: str) -> str:
    corpus = load("questions")
    ours, theirs, apart = [], [], []
    for _ in range(ROUNDS + 1):
        name, given = WHOLE[kind]
        method: Any = METHODS[name](epochs=EPOCHS, patience=0, device="cpu", **given)
        begun = time.process_time()
        task = method._task(corpus, 0, silent)
        reading = time.process_time() - begun
        method._origin = (corpus.name, corpus.fingerprint, 0)
        settings, table = method.settings, method.network.words.table.weight.detach().clone()
        model = Plain(kind, table, settings.size, settings.dropout)
        dev = partial(method.selection, corpus.part("dev"))
        ours.append(seconds(lambda t=task, m=method, d=dev: train(t, m.settings, seed=0, progress=silent, dev=d)))
        parts = corpus.part("train"), corpus.part("dev")
        theirs.append(plain_loop(model, settings, *parts, method.reader.numbers))
        whole: Any = METHODS[name](epochs=EPOCHS, patience=0, device="cpu", **given)
        with TemporaryDirectory() as folder:
            rest = seconds(lambda m=whole, f=folder: m.fit(corpus, folder=Path(f) / "run")) - reading - ours[-1]
        apart.append((reading, rest))
    ratios = [a / b for a, b in zip(ours, theirs, strict=True)][1:]  # the first round imports
    reading, rest = (statistics.median(column[1:]) for column in zip(*apart, strict=True))
    return (
        f"| {kind} | {statistics.median(ours[1:]):.2f} | {statistics.median(theirs[1:]):.2f} | "
        f"{statistics.median(ratios):.2f}x ({min(ratios):.2f}-{max(ratios):.2f}) | {reading:.2f} | {rest:.2f} |"
    )


def main() -> str:
    """The table."""
    head = ["| encoder | CPU s | plain loop | ratio | reading | checkpoints and probes |", "| --- " * 6 + "|"]
    with threads(1):
        return "\n".join([describe(), "", *head, *map(_whole, WHOLE)])

"""What does the training loop cost, compared with a plain loop?

Both train in turn on the bundled questions with the same network, dropout, clipping and score on dev, on one thread.
Only ours reads words and stores checkpoints and probes; these take their own columns.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import partial
from itertools import starmap
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
import torch.nn.functional as F
from sklearn.metrics import roc_auc_score
from torch import Tensor, nn

from benchmarks.machine import describe, one_thread, seconds
from labkit.corpora import load
from labkit.corpora.records import Pairs
from labkit.corpora.relations import components
from labkit.methods import METHODS
from labkit.progress import silent
from labkit.sentpwnet.method import PairSettings
from labkit.training.encoders import WIDTHS
from labkit.training.loop import train

ROUNDS, EPOCHS = 3, 2
ENCODERS: dict[str, Callable[..., Any]] = {
    "bag": METHODS["bag"],
    "mean": partial(METHODS["siamese"], encoder="mean"),
    "cnn": partial(METHODS["siamese"], encoder="cnn"),
}


class Plain(nn.Module):
    """A straightforward sentence encoder: a bag, a mean with a linear map, or a CNN."""

    def __init__(self, kind: str, table: Tensor, size: int, dropout: float) -> None:
        super().__init__()
        self.kind, self.drop = kind, nn.Dropout(dropout)
        make = partial(nn.EmbeddingBag.from_pretrained, mode="mean") if kind == "bag" else nn.Embedding.from_pretrained
        self.table = make(table, freeze=False, sparse=True)
        self.out = nn.Linear(table.shape[1], size) if kind == "mean" else None
        shapes = [(table.shape[1], size // 3, width) for width in WIDTHS] if kind == "cnn" else []
        self.windows = nn.ModuleList(nn.Conv1d(*shape) for shape in shapes)

    def forward(self, rows: list[Tensor]) -> Tensor:
        lengths = torch.tensor([len(row) for row in rows])
        if self.kind == "bag":
            return F.normalize(self.table(torch.cat(rows), lengths.cumsum(0) - lengths), dim=1)
        numbers = nn.utils.rnn.pad_sequence(rows, batch_first=True)
        inside = torch.arange(numbers.shape[1]) < lengths[:, None]  # (n, length)
        x = self.drop(self.table(numbers) * inside[:, :, None])
        if self.out is not None:
            return F.normalize(self.out(x.sum(1) / lengths[:, None]), dim=1)
        windows = zip(self.windows, WIDTHS, strict=True)
        found = [window(F.pad(x.transpose(1, 2), (0, width - 1))) for window, width in windows]
        peaks = [each.masked_fill(~inside[:, None], -torch.inf).amax(2) for each in found]
        return F.normalize(torch.cat(peaks, 1), dim=1)


def plain_loop(model: Any, settings: PairSettings, train_part: Pairs, dev: Pairs, read: Any) -> float:
    """CPU seconds of training with the contrastive loss, on labelled pairs for a bag, else on all pairs of a batch."""
    texts, component = components(train_part)
    rows = [torch.tensor(read(text)) for text in texts]
    number = {text: row for row, text in enumerate(texts)}
    pairs = torch.tensor([[number[a], number[b]] for a, b in zip(train_part.text_a, train_part.text_b, strict=True)])
    labels, classes = torch.tensor(train_part.values), torch.tensor(component)
    asked = [[torch.tensor(read(text)) for text in column] for column in (dev.text_a, dev.text_b)]
    dense = [parameter for name, parameter in model.named_parameters() if not name.startswith("table")]
    steps: list[torch.optim.Optimizer] = [torch.optim.SparseAdam([model.table.weight], lr=settings.learning_rate)]
    steps += [torch.optim.Adam(dense, lr=settings.learning_rate)] if dense else []
    start = time.process_time()
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
    return time.process_time() - start


def row(kind: str, make: Callable[..., Any]) -> str:
    """The table row of one encoder."""
    corpus: Any = load("questions")
    parts = corpus.part("train"), corpus.part("dev")
    found = []
    for _ in range(ROUNDS + 1):
        method, whole = (make(epochs=EPOCHS, patience=0, device="cpu") for _ in range(2))
        start = time.process_time()
        task = method._task(corpus, 0, silent)
        reading = time.process_time() - start
        method._origin = (corpus.name, corpus.fingerprint, 0)
        settings, table = method.settings, method.network.words.table.weight.detach().clone()
        model = Plain(kind, table, settings.size, settings.dropout)
        ours = seconds(partial(train, task, settings, seed=0, progress=silent, dev=partial(method.selection, parts[1])))
        theirs = plain_loop(model, settings, *parts, method.reader.numbers)
        with TemporaryDirectory() as folder:
            rest = seconds(partial(whole.fit, corpus, folder=Path(folder) / "run")) - reading - ours
        found.append((ours, theirs, ours / theirs, reading, rest))
    columns = list(zip(*found[1:], strict=True))  # the first round imports
    ours, theirs, ratio, reading, rest = map(statistics.median, columns)
    spread = f"{min(columns[2]):.2f}-{max(columns[2]):.2f}"
    return f"| {kind} | {ours:.2f} | {theirs:.2f} | {ratio:.2f}x ({spread}) | {reading:.2f} | {rest:.2f} |"


def main() -> str:
    head = ["| encoder | CPU s | plain loop | ratio | reading | checkpoints and probes |", "| --- " * 6 + "|"]
    with one_thread():
        return "\n".join([describe(), "", *head, *starmap(row, ENCODERS.items())])

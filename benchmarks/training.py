"""How many sentences a second does training see, and what does each of the loop's means bring?

    plain      dense gradients of the word table, torch's unfused Adam, batches in random order padded to their longest,
               packed sequences for the LSTMs: what one writes first
    fused      the same with fused Adam and this lab's encoders (whole rows, the way back turned round by index)
    sparse     and the word table moved only where it was read: what `labkit train` does
    frozen     and the word table not moved at all

A vocabulary of 20,000 words with 300-d vectors, vectors of 300 numbers, batches of 128, the locality loss with mining.
`even` sentences have 12 to 20 words, `long-tailed` ones 4 to 60 (log-normal, median 13), as people write; there the
last column says what batches of like length bring over the same loop with random ones. CPU time of one thread; every
ratio is taken within a round, alternating with the plain loop. bfloat16 is for CUDA and stands where there is one.

A second table compares whole trainings with a loop of thirty lines that has the same map, dropout, clipping and dev
figure; both train on the bundled questions. Reading, checkpoints and probes are only ours, and are listed apart.

    python -m benchmarks training
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from sklearn.metrics import roc_auc_score
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from benchmarks.machine import alternate, describe, seconds, threads
from labkit.corpora import load
from labkit.corpora.records import Pairs
from labkit.corpora.relations import components
from labkit.methods import METHODS
from labkit.pairs import informative, locality, masks_from_labels
from labkit.progress import silent
from labkit.sentpwnet.settings import PairSettings
from labkit.text import Vocabulary, buckets
from labkit.training.encoders import ENCODERS, BiLstm, Encoder, Lstm, Words
from labkit.training.loop import Adam, clip_, gradient_length, train
from labkit.vectors import random_vectors

WORDS, WIDTH, SIZE, BATCH, STEPS, ROUNDS = 20_000, 300, 300, 128, 6, 3
Batches = list[tuple[Tensor, Tensor]]


class PackedLstm(Lstm):
    """As one writes it first: packed, so that padding is not read."""

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        return self.lstm(packed)[1][0][0]


class PackedBiLstm(BiLstm):
    """As one writes it first: one bidirectional LSTM over a packed sequence."""

    def __init__(self, dimension: int, size: int) -> None:
        super().__init__(dimension, size)
        self.both = nn.LSTM(dimension, size // 2, batch_first=True, bidirectional=True)
        del self.forth, self.back

    def states(self, x: Tensor, lengths: Tensor) -> Tensor:
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        return pad_packed_sequence(self.both(packed)[0], batch_first=True, total_length=x.shape[1])[0]


PLAIN: dict[str, Callable[[int, int], nn.Module]] = {**ENCODERS, "lstm": PackedLstm, "bilstm": PackedBiLstm}


def sentences(kind: str, count: int) -> list[list[int]]:
    """Rows of word numbers; frequent words have small numbers, as in a vocabulary."""
    random = np.random.default_rng(0)
    if kind == "even":
        lengths = random.integers(12, 21, count)
    else:
        lengths = np.clip(random.lognormal(2.6, 0.6, count).astype(int), 4, 60)
    return [np.minimum(random.zipf(1.2, length) + 1, WORDS - 1).tolist() for length in lengths]


def padded(rows: list[list[int]], order: list[list[int]]) -> Batches:
    """Each batch padded to its own longest sentence."""
    made = []
    for batch in order:
        lengths = torch.tensor([len(rows[row]) for row in batch])
        numbers = torch.zeros(len(batch), int(lengths.max()), dtype=torch.long)
        for place, row in enumerate(batch):
            numbers[place, : len(rows[row])] = torch.tensor(rows[row])
        made.append((numbers, lengths))
    return made


def loop(kind: str, variant: str, device: str = "cpu", half: bool = False) -> Callable[[Batches], None]:
    """A training loop over batches, with its model and optimiser made once."""
    torch.manual_seed(0)
    vectors = random_vectors(Vocabulary(("<PAD>", "<UNK>", *map(str, range(WORDS - 2)))), WIDTH)
    words = Words(vectors, tune=variant != "frozen", sparse=variant == "sparse")
    model = Encoder(words, (PLAIN if variant == "plain" else ENCODERS)[kind](WIDTH, SIZE)).to(device)
    if variant == "plain":
        slow = torch.optim.Adam(model.parameters(), foreach=False, fused=False)
        clear, step = slow.zero_grad, slow.step
    else:
        adam = Adam(model, 1e-3)
        clear, step = adam.clear, adam.step
    labels = torch.arange(BATCH, device=device) // 2

    def train(batches: Batches) -> None:
        for numbers, lengths in batches:
            clear()
            with torch.autocast(device, torch.bfloat16, enabled=half):
                E = model(numbers.to(device), lengths.to(device) if variant != "plain" else lengths)
            S = E @ E.T
            P, N = masks_from_labels(labels[: len(numbers)])
            locality(S, *informative(S.clamp(-1, 1), P, N)).backward()
            clip_(model, gradient_length(model), 5.0)
            step()

    return train


# --- whole trainings ---------------------------------------------------------------------------------------------

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


# --- main --------------------------------------------------------------------------------------------------------


def main() -> str:
    """The tables."""
    with threads(1):
        lines = [
            describe(),
            "",
            "| encoder | sentences | plain: sentences/s | fused | sparse | frozen | sparse: sentences/s | by length |",
            "| --- " * 8 + "|",
        ]
        for kind in ENCODERS:
            lines += [_line(kind, sort) for sort in ("even", "long-tailed")]
        lines += ["", "| encoder | CPU s | plain loop | ratio | reading | checkpoints and probes |", "| --- " * 6 + "|"]
        lines += [_whole(kind) for kind in WHOLE]
        if torch.cuda.is_available():
            lines += ["", *[_half(kind) for kind in ENCODERS]]
    return "\n".join(lines)


def _line(kind: str, sort: str) -> str:
    rows = sentences(sort, BATCH * STEPS)
    order = np.random.default_rng(1).permutation(len(rows)).reshape(STEPS, BATCH).tolist()
    mixed, alike = padded(rows, order), padded(rows, list(buckets([len(row) for row in rows], BATCH, seed=0)))
    plain = partial(loop(kind, "plain"), mixed)
    found = {name: alternate(plain, partial(loop(kind, name), mixed), ROUNDS) for name in ("fused", "sparse", "frozen")}
    ours = loop(kind, "sparse")
    by_length = alternate(partial(ours, mixed), partial(ours, alike), ROUNDS)
    cells = [f"{one.ratio:.2f}x ({one.least:.2f}-{one.most:.2f})" for one in (*found.values(), by_length)]
    rate = [f"{len(rows) / second:,.0f}" for second in (found["sparse"].a, found["sparse"].b)]
    return f"| {kind} | {sort} | {rate[0]} | {cells[0]} | {cells[1]} | {cells[2]} | {rate[1]} | {cells[3]} |"


def _half(kind: str) -> str:
    rows = sentences("even", BATCH * STEPS)
    batches = padded(rows, list(buckets([len(row) for row in rows], BATCH, seed=0)))

    def run(train: Callable[[Batches], None]) -> None:
        train(batches)
        torch.cuda.synchronize()

    whole, half = (loop(kind, "fused", "cuda", flag) for flag in (False, True))
    one = alternate(partial(run, whole), partial(run, half), ROUNDS, clock=time.perf_counter)
    return f"CUDA, {kind}: bfloat16 is {one.ratio:.2f}x ({one.least:.2f}-{one.most:.2f}) as fast as float32"

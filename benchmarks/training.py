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

    python -m benchmarks training
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from benchmarks.machine import alternate, describe, threads
from labkit.pairs import informative, locality, masks_from_labels
from labkit.text import Vocabulary, buckets
from labkit.training.encoders import ENCODERS, BiLstm, Encoder, Lstm, Words
from labkit.training.loop import Adam, clip_, gradient_length
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


def main() -> str:
    """The table."""
    with threads(1):
        lines = [
            describe(),
            "",
            "| encoder | sentences | plain: sentences/s | fused | sparse | frozen | sparse: sentences/s | by length |",
            "| --- " * 8 + "|",
        ]
        for kind in ENCODERS:
            lines += [_line(kind, sort) for sort in ("even", "long-tailed")]
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

"""P-thought: how many tokens a second does training see, and what do packing, bucketing and chunking each bring?

    ours      pairs of like length together, packed sequences, the output layer a chunk of tokens at a time
    mixed     the same with pairs in random order
    plain     the same with all logits of a batch at once, and torch's cross-entropy
    padded    the same with rows filled up to the longest of their batch, and all logits at once
    first     padded and mixed: what one writes first

10,000 words with 100-d vectors, hidden 200, batches of 64 pairs; `even` sentences have 12 to 20 words, `long-tailed`
ones 4 to 60 (log-normal, median 13). A token is a word written, or an end. Ratios of CPU time of one thread, within a
round; above 1: ours is so many times as fast. Then the output layer alone, forth and back, at the paper's size: 35,000
words, 128 sentences of 20 tokens, 300 numbers a state: how far memory rises in a fresh process, and the time.

    python -m benchmarks pthought
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from benchmarks.machine import alternate, describe, fresh_process, peak_bytes, threads
from benchmarks.training import sentences
from labkit.pthought.method import PThought, PThoughtSettings
from labkit.pthought.network import GruEncoder, Model, objective, taught, token_loss, without_padding
from labkit.text import Vocabulary, buckets, pad
from labkit.training.loop import Adam, clip_, gradient_length
from labkit.vectors import random_vectors

WORDS, WIDTH, HIDDEN, BATCH, STEPS, ROUNDS = 10_000, 100, 200, 64, 6, 3
LARGE = (35_000, 128 * 20, 300)  # words, tokens, numbers of a state
Rows = Sequence[Sequence[int]]


def padded_vectors(model: Model, rows: Rows) -> Tensor:
    """Both ways over the filled-up rows: the way back starts in the padding."""
    body = model.encoder.body
    assert isinstance(body, GruEncoder)
    states, _ = body.gru(model.encoder.words.table(torch.from_numpy(pad(rows))))
    last = torch.tensor([len(row) - 1 for row in rows])
    half = states.shape[2] // 2
    return torch.cat([states[torch.arange(len(rows)), last, :half], states[:, 0, half:]], 1)


def packed_vectors(model: Model, rows: Rows) -> Tensor:
    vectors: Tensor = model.encoder(torch.from_numpy(pad(rows)), torch.tensor([len(row) for row in rows]))
    return vectors


def padded_cost(model: Model, name: str, vectors: Tensor, rows: Rows) -> Tensor:
    """Every place of the filled-up rows gets its logits; those of padding are then left out."""
    decoder = model.decoder(name)
    read, write, lengths = taught(rows)
    inputs = torch.cat([model.encoder.words.table(read), vectors[:, None].expand(-1, read.shape[1], -1)], 2)
    states, _ = decoder.gru(inputs, decoder.first(vectors)[None])
    outside = torch.arange(read.shape[1]) >= lengths[:, None]
    return F.cross_entropy(
        decoder.out(states).flatten(0, 1), write.masked_fill(outside, -100).flatten(), reduction="sum"
    )


def plain_cost(model: Model, name: str, vectors: Tensor, rows: Rows) -> Tensor:
    """Packed, with all logits at once."""
    decoder = model.decoder(name)
    read, write, lengths = taught(rows)
    states = decoder.states(vectors, model.encoder.words.table(read), lengths)
    return F.cross_entropy(decoder.out(states), without_padding(write, lengths).data, reduction="sum")


def chunked_cost(model: Model, name: str, vectors: Tensor, rows: Rows) -> Tensor:
    return model.written(name, vectors, rows)


Batch = list[tuple[int, int]]  # row to read, row to write
Cost = Callable[[Model, str, Tensor, Rows], Tensor]
Vectors = Callable[[Model, Rows], Tensor]


def loop(vectors_of: Vectors, cost: Cost, rows: Rows) -> Callable[[Sequence[Batch]], None]:
    """A training loop over batches of pairs, with its model and optimiser made once."""
    torch.manual_seed(0)
    made = PThoughtSettings(hidden=HIDDEN, decoder_hidden=HIDDEN)
    words = random_vectors(Vocabulary(("<PAD>", "<UNK>", *map(str, range(WORDS - 2)))), WIDTH)
    method = PThought(made)
    method.writable = WORDS
    model = method._network(words)
    adam = Adam(model, 1e-3)

    def train(batches: Sequence[Batch]) -> None:
        for batch in batches:
            read, write = ([rows[pair[side]] for pair in batch] for side in (0, 1))
            adam.clear()
            vectors = vectors_of(model, read)
            losses = {name: cost(model, name, vectors, each) for name, each in (("auto", read), ("paraphrase", write))}
            tokens = sum(map(len, read)) + len(read)
            objective({name: loss / tokens for name, loss in losses.items()}, 0.1).backward()
            clip_(model, gradient_length(model), 5.0)
            adam.step()

    return train


def speed(kind: str) -> str:
    """One line: tokens a second of ours, and the four ratios."""
    rows = [[min(word, WORDS - 1) for word in row] for row in sentences(kind, 2 * BATCH * STEPS)]
    pairs = [(2 * i, 2 * i + 1) for i in range(BATCH * STEPS)]
    both = [len(rows[a]) + len(rows[b]) for a, b in pairs]
    order = np.random.default_rng(1).permutation(len(pairs)).reshape(STEPS, BATCH).tolist()
    alike, mixed = ([[pairs[i] for i in batch] for batch in made] for made in (buckets(both, BATCH, seed=0), order))
    ours = partial(loop(packed_vectors, chunked_cost, rows), alike)
    others = {
        "mixed": partial(loop(packed_vectors, chunked_cost, rows), mixed),
        "plain": partial(loop(packed_vectors, plain_cost, rows), alike),
        "padded": partial(loop(padded_vectors, padded_cost, rows), alike),
        "first": partial(loop(padded_vectors, padded_cost, rows), mixed),
    }
    found = {name: alternate(other, ours, ROUNDS) for name, other in others.items()}
    rate = (sum(both) + 2 * len(pairs)) / found["first"].b
    cells = [f"{one.ratio:.2f}x ({one.least:.2f}-{one.most:.2f})" for one in found.values()]
    return f"| {kind} | {rate:,.0f} | {' | '.join(cells)} |"


def output_layer(kind: str) -> Callable[[], None]:
    """Forth and back through the output layer of the paper's size; what enters is there before."""
    words, tokens, hidden = LARGE
    random = torch.Generator().manual_seed(0)
    states = torch.randn(tokens, hidden, generator=random).requires_grad_()
    weight = (torch.randn(words, hidden, generator=random) / hidden**0.5).requires_grad_()
    bias = torch.zeros(words, requires_grad=True)
    targets = torch.randint(words, (tokens,), generator=random)

    def run() -> None:
        states.grad = weight.grad = bias.grad = None
        if kind == "chunked":
            token_loss(states, weight, bias, targets).backward()
        else:
            F.cross_entropy(F.linear(states, weight, bias), targets, reduction="sum").backward()

    return run


def main() -> str:
    """Both tables."""
    with threads(1):
        lines = [
            describe(),
            "",
            "| sentences | ours: tokens/s | mixed | plain | padded | first |",
            "| --- " * 6 + "|",
            *map(speed, ("even", "long-tailed")),
            "",
        ]
        peak = {kind: int(fresh_process("benchmarks.pthought", kind)) / 2**20 for kind in ("plain", "chunked")}
        time = alternate(output_layer("plain"), output_layer("chunked"), ROUNDS)
    lines += [
        f"Output layer, {LARGE[0]:,} words x {LARGE[1]:,} tokens x {LARGE[2]}: memory rises by {peak['plain']:,.0f} MB "
        f"plain and {peak['chunked']:,.0f} MB chunked ({peak['plain'] / peak['chunked']:.1f}x), of which the weights' "
        f"gradient is {LARGE[0] * LARGE[2] * 4 / 2**20:.0f} MB; "
        f"{time.a:.2f} s plain, {time.b:.2f} s chunked ({time.ratio:.2f}x)"
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    with threads(1):
        print(peak_bytes(output_layer(sys.argv[1])))

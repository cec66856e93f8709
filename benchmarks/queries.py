"""One query against n sentences: a bi-encoder, whose sentences are encoded beforehand, and a cross-encoder.

The comparison that the SentPWNet paper announces in section 4.1 and never prints. Both are BiLSTMs with attention of
the same size, untrained (training changes no speed). The bi-encoder encodes the query and multiplies; the cross-encoder
reads the query together with each sentence. CPU time of one thread, medians (the cross-encoder's from 10,000 on: one
query).

    python -m benchmarks queries
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from benchmarks.machine import describe, threads
from benchmarks.training import SIZE, WIDTH, WORDS, padded, sentences
from labkit.text import Vocabulary
from labkit.training.encoders import BiLstm, CrossEncoder, Encoder, Words, joined
from labkit.vectors import random_vectors

COUNTS, BATCH, QUERIES = (1_000, 10_000, 100_000), 256, 5


def main() -> str:
    """The table."""
    torch.manual_seed(0)
    words = Words(random_vectors(Vocabulary(("<PAD>", "<UNK>", *map(str, range(WORDS - 2)))), WIDTH), tune=False)
    bi, cross = Encoder(words, BiLstm(WIDTH, SIZE)).eval(), CrossEncoder(words, SIZE).eval()
    query, *corpus = sentences("even", max(COUNTS) + 1)
    lines = [
        describe(),
        "",
        "| sentences | bi-encoder: queries/s | cross-encoder: queries/s | times | encoded once in |",
    ]
    lines.append("| --- " * 5 + "|")
    with threads(1), torch.inference_mode():
        start = time.process_time()
        stored = torch.cat([bi(*batch) for batch in _batches(corpus)])
        once = time.process_time() - start
        for count in COUNTS:
            quick = _median(lambda count=count: (stored[:count] @ bi(*padded([query], [[0]])[0])[0]).topk(10))
            slow = _median(lambda count=count: _cross(cross, query, corpus[:count]), rounds=1 if count > 1_000 else 3)
            share = once * count / max(COUNTS)
            lines.append(f"| {count:,} | {1 / quick:,.1f} | {1 / slow:.4f} | {slow / quick:,.0f} | {share:.1f} s |")
    return "\n".join(lines)


def _cross(model: CrossEncoder, query: list[int], corpus: list[list[int]]) -> Tensor:
    rows = [joined(query, row) for row in corpus]
    return torch.cat([model(*batch) for batch in _batches(rows)]).topk(10).values


def _batches(rows: list[list[int]]) -> list[tuple[Tensor, Tensor]]:
    return padded(rows, [list(part) for part in np.array_split(np.arange(len(rows)), -(-len(rows) // BATCH))])


def _median(call: Callable[[], object], rounds: int = QUERIES) -> float:
    found = []
    for _ in range(rounds):
        start = time.process_time()
        call()
        found.append(time.process_time() - start)
    return statistics.median(found)

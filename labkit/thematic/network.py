"""What the thematic network has beyond `labkit.encoders`: attention without an LSTM, word vectors that learn slowly.

WordAttention    (n, length, d) -> (n, size)      a body like `BiLstm`, with the same `states` and `attention`
Paced            a word table that moves at a share of the step size
network_of       the whole encoder, and `ready` the word vectors it starts with
word_weights     how much attention an encoder pays to each word of some sentences
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor, nn

from labkit.encoders import ATTENTION, BiLstm, Encoder, Words, inside
from labkit.vectors import WordVectors

BODIES = ("attention", "bilstm")


class WordAttention(nn.Module):
    """Attention over the word vectors, then a linear map: `M Σ a_t x_t` with `a = softmax(u · tanh(W x_t + b))`.

    It begins as their plain mean (u = 0, M the identity): training adds to what the word vectors know.
    """

    def __init__(self, dimension: int, size: int, *, attention: int = ATTENTION) -> None:
        super().__init__()
        self.key = nn.Linear(dimension, attention)
        self.query = nn.Linear(attention, 1, bias=False)
        self.out = nn.Linear(dimension, size)
        nn.init.zeros_(self.query.weight)
        nn.init.eye_(self.out.weight)
        nn.init.zeros_(self.out.bias)

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        states = self.states(x, lengths)
        return self.out((self.attention(states, lengths)[:, :, None] * states).sum(1))

    def states(self, x: Tensor, lengths: Tensor) -> Tensor:
        """What is known at each word, (n, length, d): its vector."""
        return x

    def attention(self, states: Tensor, lengths: Tensor) -> Tensor:
        """The weight of each word, (n, length): sums to 1 over the sentence, 0 on padding."""
        logits = self.query(self.key(states).tanh())[:, :, 0]
        return logits.masked_fill(~inside(lengths, states.shape[1]), -torch.inf).softmax(1)


class Paced(Words):
    """Word vectors that move at `pace` times the step size of all else; 0: not at all.

    The table holds v / pace. Adam's steps do not depend on the size of gradients, so one of v is pace times as long.
    """

    def __init__(self, vectors: WordVectors, pace: float) -> None:
        self.pace = pace or 1.0
        super().__init__(replace(vectors, matrix=vectors.matrix / np.float32(self.pace)), tune=pace > 0)

    def forward(self, numbers: Tensor, lengths: Tensor) -> Tensor:
        return self.pace * super().forward(numbers, lengths)


def network_of(
    vectors: WordVectors, *, encoder: str, size: int, pace: float, dropout: float, normalised: bool
) -> Encoder:
    """One network, with new weights from torch's generator."""
    body = {"attention": WordAttention, "bilstm": BiLstm}[encoder](vectors.dimension, size)
    return Encoder(Paced(vectors, pace), body, dropout=dropout, normalised=normalised)


def ready(vectors: WordVectors, shares: np.ndarray, a: float) -> WordVectors:
    """Word vectors of mean length 1, then each times a / (a + p(w)), so that a plain mean of them is SIF's.

    `shares` is p(w), of each word among all words of training (words,). Without `a` all words count alike.
    """
    length = np.linalg.norm(vectors.matrix[2:], axis=1).mean()
    weights = a / (a + shares) if a else np.ones(len(shares))
    return replace(vectors, matrix=(vectors.matrix * (weights / max(length, 1e-12))[:, None]).astype(np.float32))


def word_weights(encoder: Encoder, numbers: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """The attention a_t of each word, and its share of the sentence `a_t |h_t| / Σ a |h|`, (n, length) each.

    Where frequent words have short vectors, attention alone says little: a short vector adds little, however weighted.
    """
    body = encoder.body
    assert isinstance(body, BiLstm | WordAttention)
    states = body.states(encoder.words(numbers, lengths), lengths)
    weights = body.attention(states, lengths)
    parts = weights * states.norm(dim=2)
    return weights, parts / parts.sum(1, keepdim=True).clamp(min=1e-12)

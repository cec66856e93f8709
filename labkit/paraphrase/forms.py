"""The three GRU encoders of P-thought (figure 1): word vectors (n, length, d) and lengths in, (n, 2 hidden) out.

    one-bi        one layer, both ways           its two final states
    two-forward   two layers, forwards           the final state of each layer
    two-bi        two layers, both ways          the two final states of the second layer

Sentences are packed: a GRU reads no padding, the way back begins at a sentence's own last word, and time grows with the
words of a batch, not with its longest sentence. (torch's LSTM has a faster path for padded rows, which
`labkit.encoders` takes; its GRU has none.)
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence


@dataclass(frozen=True)
class Form:
    """Layers, and whether they read both ways."""

    layers: int
    both_ways: bool


FORMS = {"one-bi": Form(1, True), "two-forward": Form(2, False), "two-bi": Form(2, True)}


class GruEncoder(nn.Module):
    """One of the three forms; the vector is the last two final states, side by side."""

    def __init__(self, form: Form, dimension: int, hidden: int) -> None:
        super().__init__()
        self.gru = nn.GRU(dimension, hidden, form.layers, batch_first=True, bidirectional=form.both_ways)
        xavier_(self.gru)

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        _, final = self.gru(packed(x, lengths))  # (layers x ways, n, hidden): the last layer's come last
        return torch.cat([final[-2], final[-1]], 1)


def packed(x: Tensor, lengths: Tensor) -> PackedSequence:
    """Rows (n, length, ...) without their padding: first all first words, then all second words, and so on."""
    return pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)


def xavier_(gru: nn.GRU) -> None:
    """Weights uniform in ±√(6 / (in + out)), each of a GRU's three gates for itself; biases 0 (section 5.1)."""
    for name, parameter in gru.named_parameters():
        if name.startswith("weight"):
            for gate in parameter.chunk(3):
                nn.init.xavier_uniform_(gate)
        else:
            nn.init.zeros_(parameter)

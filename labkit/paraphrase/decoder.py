"""A GRU that writes a sentence from a vector: trained on given words all at once, used a word at a time.

    s_0 = tanh(W v + b)        s_t = GRU([y_{t-1}, v], s_{t-1})        p(y_t) = softmax(U s_t + c)

`v` is the sentence vector (n, size). With `feed` it is read again with every word, else only through s_0 (the paper
does not say which). Number 0 stands for both ends: read it means "begin", written it means "end". It is padding
elsewhere, and no sentence of words holds it.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from labkit.paraphrase.forms import packed, xavier_
from labkit.text import pad

END = 0


class Decoder(nn.Module):
    """`words` is how many words it can write; their vectors, which it reads, come from outside."""

    def __init__(self, dimension: int, size: int, hidden: int, words: int, *, feed: bool = True) -> None:
        super().__init__()
        self.feed = feed
        self.start = nn.Linear(size, hidden)
        self.gru = nn.GRU(dimension + feed * size, hidden, batch_first=True)
        self.out = nn.Linear(hidden, words)
        xavier_(self.gru)
        for layer in (self.start, self.out):
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(layer.bias)

    def first(self, vectors: Tensor) -> Tensor:
        """s_0, (n, hidden)."""
        return self.start(vectors).tanh()

    def states(self, vectors: Tensor, read: Tensor, lengths: Tensor) -> Tensor:
        """The states before each next word, given the words read (n, length, d): (tokens, hidden), in packed order."""
        if self.feed:
            read = torch.cat([read, vectors[:, None].expand(-1, read.shape[1], -1)], 2)
        states: Tensor = self.gru(packed(read, lengths), self.first(vectors)[None])[0].data
        return states

    def step(self, vectors: Tensor, read: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """One word (n, d) read in a state (n, hidden): log p of the next word (n, words), and the new state."""
        if self.feed:
            read = torch.cat([read, vectors], 1)
        _, new = self.gru(read[:, None], state[None])
        return self.out(new[0]).log_softmax(1), new[0]


def taught(rows: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor, Tensor]:
    """Sentences as what is read and what is to be written: both (n, length + 1), and these lengths (n,).

    >>> read, write, lengths = taught([[5, 6], [7]])
    >>> read.tolist(), write.tolist(), lengths.tolist()
    ([[0, 5, 6], [0, 7, 0]], [[5, 6, 0], [7, 0, 0]], [3, 2])
    """
    read = torch.from_numpy(pad([[END, *row] for row in rows]))
    write = torch.from_numpy(pad([[*row, END] for row in rows]))
    return read, write, torch.tensor([len(row) + 1 for row in rows])

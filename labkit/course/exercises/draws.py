"""Random cases for the checks: vectors in classes, cosines, tensors, sentences of different lengths."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from labkit.arrays import unit


def tensor(random: np.random.Generator, *shape: int) -> Tensor:
    """Normal numbers, in double precision."""
    return torch.from_numpy(random.normal(size=shape))


def in_classes(
    random: np.random.Generator, sizes: Sequence[int], d: int, apart: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """Rows (n, d) around one centre per class, and their labels (n,), in random order."""
    labels = random.permutation(np.repeat(np.arange(len(sizes)), sizes))
    return random.normal(size=(len(labels), d)) + apart * random.normal(size=(len(sizes), d))[labels], labels


def cosines(random: np.random.Generator, sizes: Sequence[int], d: int, apart: float = 1.0) -> tuple:
    """The cosines (n, n) of such rows, and their labels."""
    rows, labels = in_classes(random, sizes, d, apart)
    return unit(rows) @ unit(rows).T, labels


def lengths_of(random: np.random.Generator, n: int, longest: int) -> Tensor:
    """Lengths of n sentences: one is the longest, one is a single word, and no two consecutive lengths are equal."""
    lengths = random.integers(1, longest + 1, n)
    lengths[:2] = longest, 1
    return torch.from_numpy(random.permutation(lengths))


def padded(random: np.random.Generator, n: int, longest: int, known: int) -> tuple[Tensor, Tensor]:
    """Word numbers below `known` for n sentences, padded with 0, sometimes beyond the longest; and the lengths."""
    lengths = lengths_of(random, n, longest)
    numbers = torch.from_numpy(random.integers(1, known, (n, longest + random.integers(2))))
    return numbers * (torch.arange(numbers.shape[1]) < lengths[:, None]), lengths

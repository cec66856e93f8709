"""Sentences to vectors with a network.

In: an `Encoder`, a `Reader`, sentences. Out: their vectors (n, d), each a function of its sentence alone.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import torch
from torch import Tensor

from labkit.encoders import Encoder
from labkit.progress import Progress
from labkit.reader import Reader, Rows
from labkit.training import together


def embed(encoder: Encoder, reader: Reader, rows: list[list[int]], *, half: bool = False) -> Tensor:
    """Rows of word numbers, a batch of training, to vectors (n, d) in float32; each process encodes its share.

    With `half` the encoder runs in bfloat16, on CUDA only.
    """
    return together.shared(partial(_embedded, encoder, half), *reader.batch(rows))


def _embedded(encoder: Encoder, half: bool, numbers: Tensor, lengths: Tensor) -> Tensor:
    device = encoder.words.table.weight.device
    with torch.autocast(device.type, torch.bfloat16, enabled=half and device.type == "cuda"):
        vectors: Tensor = encoder(numbers.to(device), lengths.to(device))
    return vectors.float()


def encode(encoder: Encoder, reader: Reader, sentences: list[str], batch_size: int, progress: Progress) -> np.ndarray:
    """Sentences of like length together, so that little is padded; rows in the order of the sentences."""
    encoder.eval()
    rows = Rows(map(reader.numbers, sentences))
    order = np.argsort(rows.lengths, kind="stable")
    vectors: np.ndarray | None = None
    with torch.inference_mode():
        for start in range(0, len(order), batch_size):
            batch = order[start : start + batch_size]
            made = _embedded(encoder, False, *reader.batch([rows[row] for row in batch])).cpu().numpy()
            vectors = np.empty((len(rows), made.shape[1]), made.dtype) if vectors is None else vectors
            vectors[batch] = made
            progress(min(start + batch_size, len(order)), len(order), "encoding")
    assert vectors is not None
    return vectors

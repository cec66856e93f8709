"""What all pages read: corpora and the visitors' files, methods ready to encode, and where their vectors come from.

A method is fitted here, opened from a run, or a visitor's vectors. Its `Origin` is known without the vectors, and finds
stored pictures.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cached.keeping import kept
from labkit.corpora import CORPORA, Corpus, load
from labkit.lab.shipped import Origin
from labkit.lab.shipped.pictures import known_origin
from labkit.untrusted import corpus_apart

if TYPE_CHECKING:
    from labkit.baselines.difficulty import Difficulty
    from labkit.method import Method

UPLOAD_BYTES = 10 * 2**20  # of a visitor's corpus
VECTOR_BYTES = 2**28  # of a visitor's vectors, unpacked


def digest(data: bytes) -> str:
    """A short name for a file by what is in it."""
    return hashlib.sha256(data).hexdigest()[:32]


# --- corpora -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Opened:
    """A corpus, the key that stands for all its rows, and what reading it had to say."""

    corpus: Corpus
    key: str
    notes: tuple[str, ...] = ()
    own: bool = False
    file: tuple[str, bytes] = ("", b"")  # a visitor's, as it came: its name and what is in it


def embedded() -> dict[str, str]:
    """name -> what it is, of the corpora that come with the lab."""
    return {name: entry.summary for name, entry in CORPORA.items() if entry.kind == "embedded"}


@kept(show_spinner="Reading the corpus …")
def corpus(name: str) -> Opened:
    """An embedded corpus."""
    found = load(name)
    return Opened(found, found.fingerprint)


def uploaded(name: str, data: bytes) -> Opened:
    """A visitor's file."""
    return _read(name, digest(data), data)


@kept(show_spinner="Reading the file …", refusals=True)
def _read(name: str, key: str, _data: bytes) -> Opened:
    """`key` stands for what is in it; what a file does to its reader is nobody else's trouble."""
    found, notes = corpus_apart(name, _data, UPLOAD_BYTES)
    return Opened(found, found.fingerprint, notes, own=True, file=(name, _data))


# --- methods -----------------------------------------------------------------------------------------------------


@kept(show_spinner="Fitting the vectors …")
def fitted(_corpus: Corpus, key: str, name: str, **settings: Any) -> Method:
    """A method fitted to the training split here and now."""
    from labkit.methods import METHODS

    method = METHODS[name](**settings)
    method.fit(_corpus)
    return method


@kept(show_spinner="Opening the run …")
def opened_run(folder: str, written: int) -> Method:
    """The method of a run folder; `written` is when, so that a run trained anew is opened anew."""
    from labkit.methods import load as load_run

    return load_run(folder)


@kept(show_spinner=False)
def record(folder: str, written: int) -> dict[str, Any]:
    """What a run is."""
    from labkit.runs import read_record

    return read_record(folder)


def given(name: str, data: bytes, corpus: Corpus, key: str) -> Method:
    """A visitor's vectors as a method; nothing in the file is unpickled."""
    return _given(name, digest(data), data, corpus, key)


@kept(show_spinner="Reading the vectors …", refusals=True)
def _given(name: str, content: str, _data: bytes, _corpus: Corpus, key: str) -> Method:
    """`content` stands for what is in the file, `key` for the corpus."""
    from labkit.baselines.base import Matrix, MatrixSettings
    from labkit.untrusted import embeddings_apart

    method = Matrix(MatrixSettings(file=Path(name).name))
    method.read = lambda file: embeddings_apart(file, _data, VECTOR_BYTES)
    method.fit(_corpus)
    return method


@kept(show_spinner=False)
def unfitted(name: str, key: str) -> Origin:
    """The origin of the vectors of a method with its own settings; `key` is the fingerprint of the corpus."""
    known = known_origin(name, key)
    if known is not None:
        return known
    from labkit.methods import METHODS

    return Origin(name, METHODS[name]().settings.values(), key)


@kept(show_spinner=False)
def trained(folder: str, written: int) -> Origin:
    """The origin of the vectors of a run."""
    known = record(folder, written)
    return Origin(known["method"], known["settings"], known["fingerprint"], known["seed"])


# --- of the page "Corpora" ---------------------------------------------------------------------------------------


@kept(show_spinner="Measuring …")
def measured(_corpus: Corpus, key: str) -> Difficulty:
    """What three methods without learning reach on the corpus."""
    from labkit.baselines.difficulty import difficulty

    return difficulty(_corpus)


@kept(show_spinner="Comparing the pairs …")
def cosines(_corpus: Corpus, key: str, name: str) -> np.ndarray:
    """The cosine of each pair of a corpus of pairs, (n,)."""
    method = fitted(_corpus, key, name)
    return method.pairwise_similarity(_corpus.text_a, _corpus.text_b)  # type: ignore[attr-defined]

"""Methods ready to encode, for every page: fitted here, opened from a run, or a visitor's vectors; and where their
vectors come from (`Origin`), which is known without them and finds stored pictures.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cached.keeping import kept
from labkit.corpora import Corpus
from labkit.lab.shipped import Origin
from labkit.lab.shipped.pictures import known_origin

if TYPE_CHECKING:
    from labkit.method import Method


VECTOR_BYTES = 2**28  # of a visitor's vectors, unpacked


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


def digest(data: bytes) -> str:
    """A short name for a file by what is in it."""
    return hashlib.sha256(data).hexdigest()[:32]


@kept(show_spinner=False)
def unfitted(name: str, key: str) -> Origin:
    """Where the vectors of a method with its own settings come from; `key` is the fingerprint of the corpus."""
    known = known_origin(name, key)
    if known is not None:
        return known
    from labkit.methods import METHODS

    return Origin(name, METHODS[name]().settings.values(), key)


@kept(show_spinner=False)
def trained(folder: str, written: int) -> Origin:
    """Where the vectors of a run come from."""
    told = record(folder, written)
    return Origin(told["method"], told["settings"], told["fingerprint"], told["seed"])

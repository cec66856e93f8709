"""The corpora that pages read, the visitors' among them, and what the page "Corpora" measures of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cached.keeping import kept
from cached.methods import digest, fitted
from labkit.corpora import CORPORA, Corpus, load
from labkit.untrusted import corpus_apart

if TYPE_CHECKING:
    from labkit.baselines.difficulty import Difficulty

UPLOAD_BYTES = 10 * 2**20


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

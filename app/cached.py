"""What the pages keep between reruns. A function gets all its inputs as arguments; nobody writes to its result."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import streamlit as st
from scipy import sparse

from labkit.corpora import CORPORA, Corpus, Labelled, load, read_corpus
from labkit.corpora.points import points
from labkit.difficulty import Difficulty, difficulty
from labkit.methods import METHODS, Method
from labkit.projection import PROJECTIONS, Projection

UPLOAD_BYTES = 10 * 2**20


def embedded() -> dict[str, str]:
    """name -> what it is, of the corpora that come with the lab."""
    return {name: entry.summary for name, entry in CORPORA.items() if entry.kind == "embedded"}


@st.cache_resource(max_entries=12, show_spinner="Reading the corpus …")
def corpus(name: str) -> Corpus:
    """An embedded corpus."""
    return load(name)


@st.cache_resource(max_entries=4, show_spinner="Reading the file …")
def uploaded(name: str, data: bytes) -> Corpus:
    """A visitor's file; it is read from a folder of its own that is gone afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / Path(name).name
        path.write_bytes(data)
        return read_corpus(path, limit=UPLOAD_BYTES)


@st.cache_resource(max_entries=16, show_spinner="Fitting the vectors …")
def fitted(_corpus: Corpus, fingerprint: str, name: str) -> Method:
    """A method that has seen the training sentences, and no label."""
    method = METHODS[name]()
    method.fit(_corpus)
    return method


@st.cache_resource(max_entries=32, show_spinner="Choosing sentences …")
def embedding(_corpus: Corpus, fingerprint: str, name: str, classes: int) -> tuple[Labelled, np.ndarray]:
    """The sentences of the largest classes and their vectors, float32 (n, d), rows of unit length or zero."""
    shown = points(_corpus, classes=classes)
    rows = fitted(_corpus, fingerprint, name).encode(shown.texts, normalize_embeddings=True)
    return shown, rows.toarray() if sparse.issparse(rows) else rows


@st.cache_resource(max_entries=64, show_spinner="Arranging the picture …")
def projection(_corpus: Corpus, fingerprint: str, name: str, classes: int, how: str) -> Projection:
    """The picture of an embedding."""
    return PROJECTIONS[how](embedding(_corpus, fingerprint, name, classes)[1])


@st.cache_data(max_entries=16, show_spinner="Measuring …")
def measured(_corpus: Corpus, fingerprint: str) -> Difficulty:
    """What three methods without learning reach on the corpus."""
    return difficulty(_corpus)


@st.cache_resource(max_entries=16, show_spinner="Comparing the pairs …")
def cosines(_corpus: Corpus, fingerprint: str, name: str) -> np.ndarray:
    """The cosine of each pair of a corpus of pairs, (n,)."""
    method = fitted(_corpus, fingerprint, name)
    return method.pairwise_similarity(_corpus.text_a, _corpus.text_b)  # type: ignore[attr-defined]

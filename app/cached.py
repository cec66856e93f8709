"""What the pages keep between reruns, for all visitors. A function gets all its inputs as arguments; nobody writes to
its result. Arguments with a leading underscore are not compared: the key beside them stands for them.

`labkit.methods` takes seconds to import, so it is imported where it is used: the first page does not wait for it.
"""

from __future__ import annotations

import copy
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st
from scipy import sparse

from labkit.corpora import CORPORA, Corpus, Labelled, load, read_corpus
from labkit.corpora.points import points
from labkit.difficulty import Difficulty, difficulty
from labkit.projection import PROJECTIONS, Projection

if TYPE_CHECKING:
    from labkit.film.rows import Row
    from labkit.film.rule import Rule
    from labkit.methods import Method
    from labkit.methods.film import Film
    from labkit.weighing import SentenceBatch

UPLOAD_BYTES = 10 * 2**20


@dataclass(frozen=True, eq=False)
class Opened:
    """A corpus, the key that stands for all its rows, and what reading it had to say."""

    corpus: Corpus
    key: str
    notes: tuple[str, ...] = ()
    own: bool = False


# --- corpora ---------------------------------------------------------------------------------------------------


def embedded() -> dict[str, str]:
    """name -> what it is, of the corpora that come with the lab."""
    return {name: entry.summary for name, entry in CORPORA.items() if entry.kind == "embedded"}


@st.cache_resource(max_entries=12, show_spinner="Reading the corpus …")
def corpus(name: str) -> Opened:
    """An embedded corpus."""
    found = load(name)
    return Opened(found, found.fingerprint)


@st.cache_resource(max_entries=4, show_spinner="Reading the file …")
def uploaded(name: str, data: bytes) -> Opened:
    """A visitor's file; it is read from a folder of its own that is gone afterwards."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", UserWarning)
        path = Path(folder) / Path(name).name
        path.write_bytes(data)
        found = read_corpus(path, limit=UPLOAD_BYTES)
    notes = tuple(str(each.message) for each in said if each.category is UserWarning)
    return Opened(found, found.fingerprint, notes, own=True)


# --- methods ---------------------------------------------------------------------------------------------------


@st.cache_resource(max_entries=16, show_spinner="Fitting the vectors …")
def fitted(_corpus: Corpus, key: str, name: str, **settings: Any) -> Method:
    """A method fitted to the training split here and now."""
    from labkit.methods import METHODS

    method = METHODS[name](**settings)
    method.fit(_corpus)
    return method


@st.cache_resource(max_entries=8, show_spinner="Opening the run …")
def opened_run(folder: str, written: int) -> Method:
    """The method of a run folder; `written` is when, so that a run trained anew is opened anew."""
    from labkit.methods import load as load_run

    return load_run(folder)


# --- the page "Corpora" ----------------------------------------------------------------------------------------


@st.cache_resource(max_entries=32, show_spinner="Choosing sentences …")
def embedding(_corpus: Corpus, key: str, name: str, classes: int) -> tuple[Labelled, np.ndarray]:
    """The sentences of the largest classes and their vectors, float32 (n, d), rows of unit length or zero."""
    shown = points(_corpus, classes=classes)
    rows = fitted(_corpus, key, name).encode(shown.texts, normalize_embeddings=True)
    return shown, rows.toarray() if sparse.issparse(rows) else rows


@st.cache_resource(max_entries=64, show_spinner="Arranging the picture …")
def projection(_corpus: Corpus, key: str, name: str, classes: int, how: str) -> Projection:
    """The picture of an embedding."""
    return PROJECTIONS[how](embedding(_corpus, key, name, classes)[1])


@st.cache_resource(max_entries=16, show_spinner="Measuring …")
def measured(_corpus: Corpus, key: str) -> Difficulty:
    """What three methods without learning reach on the corpus."""
    return difficulty(_corpus)


@st.cache_resource(max_entries=16, show_spinner="Comparing the pairs …")
def cosines(_corpus: Corpus, key: str, name: str) -> np.ndarray:
    """The cosine of each pair of a corpus of pairs, (n,)."""
    method = fitted(_corpus, key, name)
    return method.pairwise_similarity(_corpus.text_a, _corpus.text_b)  # type: ignore[attr-defined]


# --- the page "Pairs" ------------------------------------------------------------------------------------------


@st.cache_resource(max_entries=64, show_spinner="Making a batch …")
def batch(_corpus: Corpus, key: str, size: int, per_class: int, seed: int) -> SentenceBatch:
    """A batch of the training split."""
    from labkit.weighing import sentence_batch

    return sentence_batch(_corpus, size=size, per_class=per_class, seed=seed)


@st.cache_resource(max_entries=64, show_spinner="Comparing the sentences …")
def similarities(_method: Method, method: str, _batch: SentenceBatch, batch: tuple[Any, ...]) -> np.ndarray:
    """The cosines of a batch, (m, m)."""
    from labkit.weighing import cosines

    return cosines(_method.encode(list(_batch.texts)))


# --- the page "FILM rows" --------------------------------------------------------------------------------------


@st.cache_resource(max_entries=16, show_spinner="Turning the rows …")
def film_rows(_film: Film, key: str, rotated: bool, stable: bool, _corpus: Corpus) -> tuple[Row, ...]:
    """The rows in words, the strongest first; `stable`: with the stability of each, which takes three fits."""
    film = copy.copy(_film)  # measuring writes into the method
    if stable:
        film.measure_stability(_corpus)
    return tuple(sorted(film.rows(rotated=rotated, top=10), key=lambda row: -row.share))


@st.cache_resource(max_entries=16, show_spinner="Turning the rows …")
def film_matrix(_film: Film, key: str, rotated: bool) -> np.ndarray:
    """L (d, D), as learned or turned by varimax."""
    from labkit.film import readable

    return readable(_film.L.astype(np.float64), _film.words) if rotated else _film.L


@st.cache_resource(max_entries=16, show_spinner="Ranking neighbours …")
def film_rule(_film: Film, key: str, _corpus: Corpus, corpus: str) -> Rule:
    """The rule of mutual neighbours for every k."""
    from labkit.film.rule import mutual_rule

    return mutual_rule(_film, _corpus)


@st.cache_resource(max_entries=32, show_spinner="Choosing sentences …")
def some_sentences(_corpus: Corpus, key: str, most: int) -> tuple[str, ...]:
    """A few hundred sentences to choose from, those of one class side by side."""
    return tuple(points(_corpus, classes=60, most=most).texts)

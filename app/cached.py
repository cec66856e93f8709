"""What the pages keep between reruns, for all visitors. A function gets all its inputs as arguments; nobody writes to
its result. Arguments with a leading underscore are not compared: the key beside them stands for them.

`labkit.methods` takes seconds to import, so it is imported where it is used: the first page does not wait for it.
"""

from __future__ import annotations

import copy
import hashlib
import os
import tempfile
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from labkit.corpora import CORPORA, Corpus, Labelled, load, read_corpus
from labkit.corpora.points import points
from labkit.demonstrations import Origin, pictured
from labkit.difficulty import Difficulty, difficulty
from labkit.elsewhere import Elsewhere
from labkit.evaluation.separation import Separation, separation
from labkit.history import Snapshots
from labkit.journey import Journey, journey
from labkit.projection import Projection, project

if TYPE_CHECKING:
    from labkit.film.rows import Row
    from labkit.film.rule import Rule
    from labkit.leaderboard import Result
    from labkit.methods import Method
    from labkit.methods.film import Film
    from labkit.methods.sbert_lp import SbertLp
    from labkit.papers.stored import StoredTable
    from labkit.paraphrase.companions import Companions
    from labkit.paraphrase.planes import Handful
    from labkit.reembedding import Changed, Compared, Structure, Tried
    from labkit.thematic.clustering import SectionAgreement
    from labkit.thematic.sections import Sectioned, Themes
    from labkit.weighing import SentenceBatch

UPLOAD_BYTES = 10 * 2**20


@dataclass(frozen=True, eq=False)
class Opened:
    """A corpus, the key that stands for all its rows, and what reading it had to say."""

    corpus: Corpus
    key: str
    notes: tuple[str, ...] = ()
    own: bool = False
    file: tuple[str, bytes] = ("", b"")  # a visitor's, as it came: its name and what is in it


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
    return Opened(found, found.fingerprint, notes, own=True, file=(name, data))


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


# --- the page "Clusters" ---------------------------------------------------------------------------------------


@st.cache_resource(max_entries=16, show_spinner="Choosing sentences …")
def sentences(_corpus: Corpus, key: str, part: str, most: int) -> Labelled:
    """Those of the test split, as stored pictures have them; or at most so many of all."""
    return pictured(_corpus) if part == "test" else points(_corpus, classes=len(_corpus), most=most)


@st.cache_resource(max_entries=32, show_spinner=False)
def unfitted(name: str, key: str) -> Origin:
    """Where the vectors of a method with its own settings come from; `key` is the fingerprint of the corpus."""
    from labkit.methods import METHODS

    return Origin(name, METHODS[name]().settings.values(), key)


@st.cache_resource(max_entries=32, show_spinner=False)
def trained(folder: str, written: int) -> Origin:
    """Where the vectors of a run come from."""
    from labkit.runs import read_record

    record = read_record(folder)
    return Origin(record["method"], record["settings"], record["fingerprint"], record["seed"])


@st.cache_resource(max_entries=4, show_spinner="Reading the vectors …")
def given(name: str, data: bytes, _corpus: Corpus, key: str) -> Method:
    """A visitor's vectors as a method; nothing in the file is unpickled."""
    from labkit.methods.matrix import Matrix, MatrixSettings

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / Path(name).name
        path.write_bytes(data)
        method = Matrix(MatrixSettings(file=str(path)))
        try:
            method.fit(_corpus)
        except ValueError as error:
            raise ValueError(str(error).replace(f"{folder}{os.sep}", "")) from error
    return method


def digest(data: bytes) -> str:
    """A short name for a file by what is in it."""
    return hashlib.sha256(data).hexdigest()[:16]


@st.cache_resource(max_entries=8, show_spinner="Encoding the sentences …")
def embedded_rows(_method: Method, space: str, _shown: Labelled, shown: tuple[Any, ...]) -> tuple[Any, Any]:
    """Vectors as the method compares them, and at unit length, as pictures show them: one array if that is the same."""
    cosine = _method.similarity_name == "cosine"
    rows = _method.encode(_shown.texts, normalize_embeddings=cosine)
    unit_rows = rows if cosine else rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    for each in (rows, unit_rows):
        if isinstance(each, np.ndarray):
            each.flags.writeable = False
    return rows, unit_rows


@st.cache_resource(max_entries=64, show_spinner="Arranging the picture …", show_time=True)
def arranged(_rows: Any, space: str, shown: tuple[Any, ...], how: str, dimensions: int) -> Projection:
    """A picture of vectors at unit length; whoever asks next has it at once."""
    made = elsewhere().project(_rows, how, dimensions) if how == "umap" else project(_rows, how, dimensions)
    made.points.flags.writeable = False
    now_ready((space, shown, how, dimensions))
    return made


@st.cache_resource(max_entries=1, show_spinner=False)
def elsewhere() -> Elsewhere:
    """The process that makes UMAP's pictures, for all visitors."""
    return Elsewhere()


@st.cache_resource(max_entries=1, show_spinner=False)
def ready() -> set[tuple[Any, ...]]:
    """What has been made before, so that nobody need be told to wait for it."""
    return set()


def now_ready(key: tuple[Any, ...]) -> None:
    """One more; thousands are never kept."""
    if len(ready()) > 5_000:
        ready().clear()
    ready().add(key)


@st.cache_resource(max_entries=128, show_spinner=False)
def separated(_rows: Any, _labels: Sequence[str], *key: Any) -> Separation:
    """How well the classes stand apart in these rows; `key` stands for rows and labels."""
    found = separation(_rows, _labels)
    now_ready(key)
    return found


@st.cache_resource(max_entries=16, show_spinner="Arranging every epoch …", show_time=True)
def journeyed(_snapshots: Snapshots, space: str, how: str) -> Journey:
    """A run's probe over its epochs; PCA with one basis for all."""
    return journey(_snapshots, how, common=how == "pca")


# --- the page "Corpora" ----------------------------------------------------------------------------------------


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


# --- the page "Neighbourhoods" ---------------------------------------------------------------------------------


@st.cache_resource(max_entries=32, show_spinner="Choosing sentences …")
def compared(_corpus: Corpus, key: str, most: int) -> Compared:
    """The sentences of test that are embedded together."""
    from labkit.reembedding import compared

    return compared(_corpus, most=most)


@st.cache_resource(max_entries=32, show_spinner="Embedding the sentences together …")
def neighbourhoods(
    _base: Method, base: str, _told: Compared, told: tuple[Any, ...], k: int, p: int
) -> tuple[SbertLp, tuple[str, ...]]:
    """SBERT-LP over a base, and what it had to say."""
    from labkit.methods.sbert_lp import SbertLp, SbertLpSettings

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", UserWarning)
        made = SbertLp.over(_base, _told.sentences, SbertLpSettings(neighbours=k, dimension=p))
    return made, tuple(str(each.message) for each in said if each.category is UserWarning)


@st.cache_resource(max_entries=32, show_spinner="Measuring all sentences …")
def structure_of(_method: SbertLp, key: tuple[Any, ...]) -> Structure:
    """Errors, parts, copies and eigenvalues of an embedding."""
    from labkit.reembedding import structure

    return structure(_method.space)


@st.cache_resource(max_entries=32, show_spinner="Trying many k and p …")
def tried(_base: Method, base: str, _corpus: Corpus, key: str, most: int) -> Tried:
    """The sweep on dev, and what was chosen there on test."""
    from labkit.reembedding import tried

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # small parts at large p: their points are in the picture
        return tried(_base, _corpus, most=most)


@st.cache_resource(max_entries=32, show_spinner="Comparing the pairs …")
def changed(_method: SbertLp, key: tuple[Any, ...], _told: Compared, told: tuple[Any, ...], least: float) -> Changed:
    """The pairs that changed order."""
    from labkit.methods.base import base_rows
    from labkit.progress import silent
    from labkit.reembedding import changed

    before = base_rows(_method.base, _told.sentences, 256, silent)
    return changed(_told, before, _method.fit_encode(_told.sentences), least=least)


# --- the page "Paraphrases" ------------------------------------------------------------------------------------


@st.cache_resource(max_entries=16, show_spinner="Reading the groups …")
def paraphrase_groups(_corpus: Corpus, key: str) -> list[list[str]]:
    """The groups of test, each of sentences that mean the same."""
    from labkit.paraphrase.task import groups_of

    return groups_of(_corpus.part("test"))


@st.cache_resource(max_entries=64, show_spinner="Encoding the groups …")
def group_plane(_method: Method, method: str, _shown: Handful, shown: tuple[Any, ...], how: str) -> Projection:
    """A handful of groups in the plane of a method's vectors."""
    from labkit.paraphrase.planes import plane

    return plane(_method.encode(list(_shown.texts)), how)


@st.cache_resource(max_entries=16, show_spinner="Encoding all groups …")
def companions(_method: Method, method: str, _groups: list[list[str]], groups: str) -> Companions:
    """P-coherence of a method on all groups, with its companions."""
    from labkit.paraphrase.companions import companions

    texts = [text for group in _groups for text in group]
    return companions(_method.encode(texts, 256), [number for number, group in enumerate(_groups) for _ in group])


# --- the page "Compare" ----------------------------------------------------------------------------------------


@st.cache_resource(max_entries=512, show_spinner=False)
def record(folder: str, written: int) -> dict[str, Any]:
    """What a run is."""
    from labkit.runs import read_record

    return read_record(folder)


@st.cache_resource(max_entries=512, show_spinner="Scoring the runs …", show_time=True)
def run_result(folder: str, written: int, _corpus: Corpus, key: str) -> Result:
    """What a run is worth on the test split."""
    from labkit.leaderboard import Result
    from labkit.scores import score

    return Result.of(folder, record(folder, written), score(opened_run(folder, written), _corpus))


@st.cache_resource(max_entries=64, show_spinner="Scoring the baselines …", show_time=True)
def baseline_result(name: str, _corpus: Corpus, key: str) -> Result:
    """What a method with its own settings, fitted here, is worth on the test split."""
    from labkit.leaderboard import Result
    from labkit.scores import score

    method = fitted(_corpus, key, name)
    return Result(name, name, method.settings.values(), _corpus.name, key, 0, score(method, _corpus))


@st.cache_resource(max_entries=1, ttl=60, show_spinner=False)
def paper_tables() -> dict[str, StoredTable]:
    """Every table of the papers, with our figures where results are stored."""
    from labkit.papers.beside import beside

    return beside()


# --- the page "Themes" -----------------------------------------------------------------------------------------


@st.cache_resource(max_entries=64, show_spinner="Encoding the article …")
def article_vectors(_method: Method, method: str, _article: Sectioned, article: tuple[Any, ...]) -> Any:
    """The vectors of an article's sentences."""
    return _method.encode(list(_article.sentences))


@st.cache_resource(max_entries=256, show_spinner="Clustering the sentences …")
def themes(_vectors: Any, method: str, _article: Sectioned, article: tuple[Any, ...], temperature: float) -> Themes:
    """The clusters of an article's sentences."""
    from labkit.thematic.sections import themes

    return themes(_article, _vectors, temperature=temperature)


@st.cache_resource(max_entries=16, show_spinner="Clustering all articles …")
def section_agreement(_method: Method, method: str, _articles: Any, articles: tuple[Any, ...]) -> SectionAgreement:
    """How far clusters agree with sections, over all articles of a split."""
    from labkit.thematic.clustering import section_agreement

    return section_agreement(_method, _articles, restarts=3)

"""What the pages keep between reruns, for all visitors; `keeping` bounds its total size in bytes.

A function gets all its inputs as arguments, and its result is never modified. A corpus, a space and a file are compared
by their `key`. PyTorch takes seconds to import and all methods need it, so methods are imported where they are used:
the first page does not wait for them.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import classroom
import numpy as np
import streamlit as st
from frame import File
from joblib.externals.loky import BrokenProcessPool, ProcessPoolExecutor
from keeping import keep, once, tried
from trainings import file_name

from labkit.arrays import unit
from labkit.corpora import Corpus, Labelled, load
from labkit.corpora.relations import class_order, counted, points
from labkit.projection.arrange import STARTED
from labkit.runs import read_record, settings_of
from labkit.scale import one_thread
from labkit.shipped import Origin, pictured
from labkit.shipped.pictures import known_origin
from labkit.untrusted import SECONDS, busy, corpus_apart, embeddings_apart

if TYPE_CHECKING:
    from choosing import Space

    from labkit.explanation import Explanation
    from labkit.film.reading import RowOfPair
    from labkit.method import Method
    from labkit.papers.bundled_report import TableResult
    from labkit.sentpwnet.view import SentenceBatch

R = TypeVar("R")
VECTOR_BYTES = 2**28  # limit on a visitor's vectors, unpacked
OWN_SECONDS = 600  # for reading a file on your own machine
LANDMARKS = 20_000  # most sentences that t-SNE and UMAP arrange; all others are placed among them


# --- corpora -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Opened:
    """A corpus, the key that identifies all its rows, and the notes from reading it."""

    corpus: Corpus
    key: str
    notes: tuple[str, ...] = ()
    file: File | None = None  # a visitor's upload, unchanged

    @property
    def own(self) -> bool:
        """Whether the corpus is a visitor's file."""
        return self.file is not None

    @property
    def in_code(self) -> str:
        """The name of the corpus in code and in the queue; for a visitor's file, the name of the file."""
        return file_name(self.file.name) if self.file is not None else self.corpus.name


@keep("Reading the corpus …")
def lab_corpus(name: str) -> Opened:
    """A bundled corpus."""
    corpus = load(name)
    return Opened(corpus, corpus.fingerprint)


def uploaded_corpus(file: File) -> Opened:
    """A visitor's file as a corpus."""

    def read() -> Opened:
        most = int(st.get_option("server.maxUploadSize")) * 2**20  # the server's limit, for the file and unpacked
        corpus, notes = corpus_apart(file.name, file.data, most, **_reader())
        return Opened(corpus, corpus.fingerprint, notes, file)

    return _read_once("Reading the file …", ("uploaded corpus", file.key), read)


def _read_once(said: str, key: tuple[Any, ...], read: Callable[[], R]) -> R:
    """Read a visitor's file in another process; a file that was rejected is not read again."""
    value = tried("Waiting while other files are read …" if busy() else said, key, read)
    if isinstance(value, ValueError):
        raise ValueError(str(value))
    return value


def _reader() -> dict[str, Any]:
    """The visitor for whom a file is read, and the seconds that reading may take: fewer in a classroom."""
    return {"visitor": classroom.me(), "seconds": SECONDS if classroom.is_on() else OWN_SECONDS}


# --- methods, and where vectors come from ------------------------------------------------------------------------


@keep("Fitting the method …")
def fitted_method(opened: Opened, name: str, **settings: Any) -> Method:
    """A method fitted to the training split on the spot."""
    from labkit.methods import METHODS

    method = METHODS[name](**settings)
    # many small products of matrices, as in FILM, wait for threads on a busy machine
    with one_thread() if name == "film" else nullcontext():
        method.fit(opened.corpus)
    return method


def written(folder: Path) -> int:
    """When a run was written; a retrained run is read again."""
    return (folder / "run.json").stat().st_mtime_ns


@keep("Opening the run …")
def opened_run(folder: str, written: int) -> Method:
    """The method of a run folder."""
    from labkit.methods import load_run

    return load_run(folder)


@keep()
def run_record(folder: str, written: int) -> dict[str, Any]:
    """The record of a run."""
    return read_record(folder)


def uploaded_vectors(file: File, opened: Opened) -> Method:
    """A visitor's vectors as a method; nothing in the file is unpickled."""
    from labkit.baselines.base import Matrix, MatrixSettings

    def read() -> Method:
        method, reader = Matrix(MatrixSettings(file=Path(file.name).name)), _reader()
        method.read = lambda name: embeddings_apart(name, file.data, VECTOR_BYTES, **reader)
        method.fit(opened.corpus)
        return method

    return _read_once("Reading the vectors …", ("uploaded vectors", file.key, opened.key), read)


@keep("Explaining the similarity …")
def explained(space: Space, a: str, b: str, way: str) -> Explanation:
    """Why a method finds two sentences alike; for a transformer, this takes seconds."""
    explanation: Explanation = space.method.explain(a, b, way=way)
    return explanation


@keep()
def fitted_origin(opened: Opened, name: str) -> Origin:
    """The origin of the vectors of a method with its default settings."""
    known = known_origin(name, opened.key)
    if known is not None:
        return known
    from labkit.methods import METHODS

    return Origin(name, METHODS[name]().settings.decisive(), opened.key)


@keep()
def run_origin(folder: str, written: int) -> Origin:
    """The origin of the vectors of a run."""
    from labkit.methods import OF_RUNS

    record = run_record(folder, written)
    settings = settings_of(OF_RUNS[record["method"]].Settings, record["settings"])
    return Origin(record["method"], settings.decisive(), record["fingerprint"], record["seed"])


# --- Clusters ----------------------------------------------------------------------------------------------------


@keep("Choosing sentences …")
def sentences_shown(opened: Opened, part: str, most: int) -> Labelled:
    """The sentences of the test split, as in stored pictures, or at most `most` of all sentences."""
    corpus = opened.corpus
    return pictured(corpus) if part == "test" else points(corpus, classes=len(corpus), most=most)


@keep()
def classes_of_corpus(opened: Opened) -> tuple[tuple[str, ...], int]:
    """All classes of the corpus in the order of their colours, and the number of sentences that have a class."""
    return class_order(opened.corpus), counted(opened.corpus)[0]


def sentence_vectors(space: Space, shown: Labelled, key: tuple[Any, ...]) -> tuple[Any, Any]:
    """Vectors as the method compares them, and at unit length for pictures; one array if both are equal.

    `key` identifies the sentences.
    """

    def encode() -> tuple[Any, Any]:
        cosine = space.method.similarity_name == "cosine"
        rows = space.method.encode(shown.texts, normalize_embeddings=cosine)
        unit_rows = rows if cosine else unit(rows)
        for matrix in (rows, unit_rows):
            if isinstance(matrix, np.ndarray):
                matrix.flags.writeable = False
        return rows, unit_rows

    return once("Encoding the sentences …", ("vectors", space.key, key), encode)


def landmarks_for(how: str, count: int) -> int | None:
    """How many of `count` sentences are arranged; None: all."""
    return LANDMARKS if how in STARTED and count > LANDMARKS else None


@st.cache_resource(show_spinner=False)
def picture_pool() -> ProcessPoolExecutor:
    """The process that computes UMAP pictures, one at a time, so that compiled code does not block this server."""
    return ProcessPoolExecutor(max_workers=1, initializer=getattr(os, "nice", int), initargs=(10,))


def made_apart(make: Callable[..., Any], *rows: Any, **wanted: Any) -> Any:
    """Call `make` in the picture process."""
    try:
        return picture_pool().submit(make, *rows, **wanted).result()
    except BrokenProcessPool:
        picture_pool.clear()  # the next picture starts a new process
        raise ValueError(
            "The process that computes pictures has stopped. Try again, or choose fewer sentences."
        ) from None


# --- Pairs: the weights of a batch are recomputed at each move of a slider ----------------------------------------


@keep("Drawing a batch …")
def batch_of_split(opened: Opened, size: int, per_class: int, seed: int, split: str) -> SentenceBatch:
    """A batch of one split."""
    from labkit.sentpwnet.view import sentence_batch

    return sentence_batch(opened.corpus, size=size, per_class=per_class, seed=seed, split=split)


@keep("Comparing the sentences …")
def batch_similarities(space: Space, texts: tuple[str, ...]) -> np.ndarray:
    """The cosines of the sentences of a batch, (m, m)."""
    from labkit.sentpwnet.view import cosines

    return cosines(space.method.encode(list(texts)))


# --- FILM rows ---------------------------------------------------------------------------------------------------

REFITS, MOST_READ = 2, 5000  # refits behind a stability; sentences whose numbers on a row are averaged


@keep("Taking the similarity apart …")
def film_pair(space: Space, rotated: bool, a: str, b: str) -> tuple[Explanation, tuple[RowOfPair, ...]]:
    """A similarity as a sum over the rows of L, and the words of the pair on each row, largest parts first."""
    film = copy.copy(space.method)
    film.L = film_matrix(space, rotated)
    return film.explain(a, b), film.pair_rows(a, b)


@keep("Rotating the rows …")
@one_thread()
def film_matrix(space: Space, rotated: bool) -> np.ndarray:
    """L (d, D), as learned or turned by varimax."""
    from labkit.film.reading import readable

    film = space.method
    return readable(film.L.astype(np.float64), film.words) if rotated else film.L


@keep("Refitting FILM to see which rows recur …")
@one_thread()
def film_stability(space: Space, rotated: bool, opened: Opened) -> np.ndarray:
    """How well each row of L recurs in refits, (d,)."""
    return np.asarray(copy.copy(space.method).measure_stability(opened.corpus, rounds=REFITS, rotated=rotated))


@keep("Reading the rows …")
def film_read(space: Space, rotated: bool, opened: Opened) -> tuple[tuple[Any, Any], ...]:
    """For each row of L: the classes that are apart on it, and the sentences at its ends.

    They come from sentences that FILM was not fitted to. Without classes or a test split, no class is apart.
    """
    from labkit.film.reading import classes_apart, row_ends

    corpus, L = opened.corpus, film_matrix(space, rotated)
    part = corpus.part("test") if "test" in corpus.splits else corpus
    labelled = points(part, classes=len(corpus), most=MOST_READ) if corpus.CLASSES and part is not corpus else None
    texts = labelled.texts if labelled else part.sentences()[:MOST_READ]
    Y = unit(space.method.vectorizer.transform(texts) @ L.T)
    apart = classes_apart(Y, labelled.labels) if labelled else ((),) * len(L)
    return tuple(zip(apart, row_ends(Y, texts), strict=True))


# --- Compare -----------------------------------------------------------------------------------------------------


@st.cache_resource(max_entries=1, ttl=60, show_spinner=False)
def paper_tables() -> dict[str, TableResult]:
    """All tables of the papers, with our scores where results are stored."""
    from labkit.papers.bundled_report import beside

    return beside()

"""What the pages keep between reruns, for all visitors; `keeping` bounds how much that is, in bytes over all of it.

A function gets all its inputs as arguments; nobody writes to its result. A corpus, a space and a file have a `key`, by
which they are compared; arguments with a leading underscore are not compared. PyTorch takes seconds to import, and all
methods need it, so they are imported where they are used: the first page does not wait for them.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import classroom
import numpy as np
import streamlit as st
from frame import File
from keeping import keep
from trainings.queue import file_name
from umap_process import PictureProcess

from labkit.arrays import unit
from labkit.corpora import Corpus, Labelled, load
from labkit.corpora.relations import UNLABELLED, class_order, counted, points
from labkit.evaluation.classes import Separation, found_clusters, separation
from labkit.evaluation.geometry import EpochCosines, cosines_over_epochs, figures_over_epochs
from labkit.evaluation.neighbours import Movement, movement
from labkit.evaluation.regions import (
    CountedWords,
    PlacedName,
    Regions,
    counted_words,
    found_classes,
    regions,
    words_on_map,
)
from labkit.figures.clusters import with_column
from labkit.projection import Projection, epochs, project, trust
from labkit.projection.arrange import STARTED
from labkit.projection.epochs import Journey, in_classes_of, journey
from labkit.runs import History, Snapshots, read_record, settings_of
from labkit.shipped import Origin, pictured
from labkit.shipped.pictures import known_origin
from labkit.untrusted import SECONDS, busy, corpus_apart, embeddings_apart

if TYPE_CHECKING:
    from choosing import Space

    from labkit.baselines.difficulty import Difficulty
    from labkit.evaluation.leaderboard import Result
    from labkit.explanation import Explanation
    from labkit.film.reading import RowEnds, WordRow
    from labkit.method import Method
    from labkit.pairs.hard_negatives import FalseShares
    from labkit.papers.stored import TableResult
    from labkit.sentpwnet.view import SentenceBatch

VECTOR_BYTES = 2**28  # of a visitor's vectors, unpacked
OWN_SECONDS = 600  # to read a file on one's own machine
NEAREST = 10  # neighbours by which it is told who moved
FOUND = "class found"  # the column of classes that were found, beside those of the corpus
LANDMARKS = 20_000  # sentences that t-SNE and UMAP arrange: of more, the others are placed among them


# --- corpora -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Opened:
    """A corpus, the key that stands for all its rows, and what reading it had to say."""

    corpus: Corpus
    key: str
    notes: tuple[str, ...] = ()
    file: File | None = None  # a visitor's, as it came

    @property
    def own(self) -> bool:
        """Whether it is a visitor's file."""
        return self.file is not None

    @property
    def in_code(self) -> str:
        """The name of the corpus in lines of code and in trainings; of a visitor's file, that of the file."""
        return file_name(self.file.name) if self.file is not None else self.corpus.name


@keep(show_spinner="Reading the corpus …")
def lab_corpus(name: str) -> Opened:
    """A corpus that comes with the lab."""
    corpus = load(name)
    return Opened(corpus, corpus.fingerprint)


def most_uploaded() -> int:
    """The bytes that a visitor's corpus may have, as a file and unpacked: as much as the server takes."""
    return int(st.get_option("server.maxUploadSize")) * 2**20


def uploaded_corpus(file: File) -> Opened:
    """A visitor's file, read in a process of its own."""
    with _reading("Reading the file …"):
        return _uploaded_corpus(file, _reader())


@keep(show_spinner=False, refusals=True)
def _uploaded_corpus(file: File, _of_visitor: dict[str, Any]) -> Opened:
    corpus, notes = corpus_apart(file.name, file.data, most_uploaded(), **_of_visitor)
    return Opened(corpus, corpus.fingerprint, notes, file)


@contextmanager
def _reading(said: str) -> Iterator[None]:
    """Show that a file is being read, or that it waits until others have been read."""
    with st.spinner("Other files are being read. Yours waits for its turn …" if busy() else said, show_time=True):
        yield


def _reader() -> dict[str, Any]:
    """The visitor for whom a file is read, and the seconds that it may take: fewer where others wait."""
    return {"visitor": classroom.me(), "seconds": SECONDS if classroom.is_on() else OWN_SECONDS}


@keep(show_spinner="Measuring …")
def corpus_difficulty(opened: Opened) -> Difficulty:
    """What three methods without learning reach on the corpus."""
    from labkit.baselines.difficulty import difficulty

    return difficulty(opened.corpus)


@keep(show_spinner=False)
def probe_of_corpus(opened: Opened) -> Snapshots:
    """The sentences of a corpus that trainings follow over the epochs."""
    from labkit.training.trained import probe_of

    return probe_of(opened.corpus)


@keep(show_spinner="Comparing the pairs …")
def pair_cosines(opened: Opened, name: str) -> np.ndarray:
    """The cosine of each pair of a corpus of pairs, (n,)."""
    pairs: Any = opened.corpus
    return fitted_method(opened, name).similarity_pairwise(pairs.text_a, pairs.text_b)


# --- methods, and where vectors come from ------------------------------------------------------------------------


@keep(show_spinner="Fitting the vectors …")
def fitted_method(opened: Opened, name: str, **settings: Any) -> Method:
    """A method fitted to the training split here and now."""
    from labkit.methods import METHODS

    method = METHODS[name](**settings)
    method.fit(opened.corpus)
    return method


def written(folder: Path) -> int:
    """When a run was written: one that was trained anew is read anew."""
    return (folder / "run.json").stat().st_mtime_ns


@keep(show_spinner="Opening the run …")
def opened_run(folder: str, written: int) -> Method:
    """The method of a run folder."""
    from labkit.methods import load_run

    return load_run(folder)


@keep(show_spinner=False)
def run_record(folder: str, written: int) -> dict[str, Any]:
    """What a run is."""
    return read_record(folder)


def uploaded_vectors(file: File, opened: Opened) -> Method:
    """A visitor's vectors as a method; nothing in the file is unpickled."""
    with _reading("Reading the vectors …"):
        return _uploaded_vectors(file, opened, _reader())


@keep(show_spinner=False, refusals=True)
def _uploaded_vectors(file: File, opened: Opened, _of_visitor: dict[str, Any]) -> Method:
    from labkit.baselines.base import Matrix, MatrixSettings

    method = Matrix(MatrixSettings(file=Path(file.name).name))
    method.read = lambda name: embeddings_apart(name, file.data, VECTOR_BYTES, **_of_visitor)
    method.fit(opened.corpus)
    return method


@keep(show_spinner="Taking the similarity apart …", show_time=True)
def explained(space: Space, a: str, b: str, way: str) -> Explanation:
    """Why a method finds two sentences alike; that of a transformer takes seconds."""
    explanation: Explanation = space.method.explain(a, b, way=way)
    return explanation


@keep(show_spinner=False)
def fitted_origin(opened: Opened, name: str) -> Origin:
    """The origin of the vectors of a method with its own settings."""
    known = known_origin(name, opened.key)
    if known is not None:
        return known
    from labkit.methods import METHODS

    return Origin(name, METHODS[name]().settings.values(), opened.key)


@keep(show_spinner=False)
def run_origin(folder: str, written: int) -> Origin:
    """The origin of the vectors of a run."""
    from labkit.methods import OF_RUNS

    record = run_record(folder, written)
    settings = settings_of(OF_RUNS[record["method"]].Settings, record["settings"])
    return Origin(record["method"], settings.values(), record["fingerprint"], record["seed"])


# --- Clusters ----------------------------------------------------------------------------------------------------


@keep(show_spinner="Choosing sentences …")
def sentences_shown(opened: Opened, part: str, most: int) -> Labelled:
    """Those of the test split, as stored pictures have them; or at most so many of all."""
    corpus = opened.corpus
    return pictured(corpus) if part == "test" else points(corpus, classes=len(corpus), most=most)


@keep(show_spinner=False)
def classes_of_corpus(opened: Opened) -> tuple[tuple[str, ...], int]:
    """All classes of the corpus in the order of their colours, and how many sentences have one."""
    return class_order(opened.corpus), counted(opened.corpus)[0]


@keep(show_spinner="Encoding the sentences …")
def sentence_vectors(space: Space, _shown: Labelled, shown: tuple[Any, ...]) -> tuple[Any, Any]:
    """Vectors as the method compares them, and at unit length, as pictures show them: one array if that is the same."""
    cosine = space.method.similarity_name == "cosine"
    rows = space.method.encode(_shown.texts, normalize_embeddings=cosine)
    unit_rows = rows if cosine else unit(rows)
    for matrix in (rows, unit_rows):
        if isinstance(matrix, np.ndarray):
            matrix.flags.writeable = False
    return rows, unit_rows


@keep(show_spinner="Finding classes …", show_time=True)
def with_classes_found(space: Space, _shown: Labelled, shown: tuple[Any, ...], way: str, count: int) -> Labelled:
    """The sentences with the classes found in these vectors: as their labels if they have none, else as a column."""
    found = found_classes(_shown.texts, found_clusters(sentence_vectors(space, _shown, shown)[1], way, count))
    if set(_shown.labels) == {UNLABELLED}:
        return replace(_shown, labels=found)
    return replace(_shown, extra={**_shown.extra, FOUND: found})


@keep(show_spinner="Arranging the picture …", show_time=True)
def arranged_picture(_rows: Any, space: str, shown: tuple[Any, ...], how: str, dimensions: int) -> Projection:
    """A picture of vectors at unit length; whoever asks next has it at once."""
    arrange = picture_process().project if how == "umap" else project
    picture = arrange(_rows, how, dimensions, landmarks=landmarks_for(how, _rows.shape[0]))
    picture.points.flags.writeable = False
    remember_made((space, shown, how, dimensions))
    return picture


def landmarks_for(how: str, count: int) -> int | None:
    """How many of so many sentences are arranged; None: all."""
    return LANDMARKS if how in STARTED and count > LANDMARKS else None


@st.cache_resource(max_entries=1, show_spinner=False)
def picture_process() -> PictureProcess:
    """The process that makes UMAP's pictures, for all visitors."""
    return PictureProcess()


@st.cache_resource(max_entries=1, show_spinner=False)
def made_before() -> set[tuple[Any, ...]]:
    """What has been made before, so that nobody need be told to wait for it."""
    return set()


def remember_made(key: tuple[Any, ...]) -> None:
    """Note that this has been made; thousands of notes are never kept."""
    if len(made_before()) > 5_000:
        made_before().clear()
    made_before().add(key)


@keep(show_spinner=False)
def headline(space: Space, opened: Opened) -> tuple[str, float]:
    """The leading figure of a method on the test split: its name, and what it is."""
    from labkit.evaluation.scores import score

    scores = score(space.method, opened.corpus)
    return scores.measure, scores.headline


@keep(show_spinner=False)
def class_separation(_rows: Any, _labels: Sequence[str], *key: Any) -> Separation:
    """How well the classes stand apart in these rows; `key` stands for rows and labels."""
    measured = separation(_rows, _labels)
    remember_made(key)
    return measured


@keep(show_spinner="Comparing the neighbours …", show_time=True)
def compared_neighbours(_before: Any, _after: Any, *key: Any) -> Movement:
    """The neighbours of all sentences in two spaces; `key` stands for the rows of both."""
    count = len(_before) if isinstance(_before, np.ndarray) else _before.shape[0]
    moved = movement(_before, _after, min(NEAREST, (count - 1) // 2))
    remember_made(key)
    return moved


@keep(show_spinner="Comparing the neighbours …", show_time=True)
def trust_in_points(_rows: Any, _points: np.ndarray, *key: Any) -> np.ndarray:
    """The share of each sentence's neighbours that the picture keeps; `key` stands for rows and picture."""
    shares = trust(_rows, _points)
    remember_made(key)
    return shares


@keep(show_spinner=False)
def sentences_with_column(_shown: Labelled, _values: np.ndarray, name: str, *key: Any) -> Labelled:
    """The sentences with a column to colour by; `key` stands for them and for its values."""
    return with_column(_shown, name, _values)


@keep(show_spinner="Counting the words …", show_time=True)
def words_of_sentences(_texts: Sequence[str], *key: Any) -> CountedWords:
    """How often each sentence has each word; `key` stands for the sentences."""
    return counted_words(_texts)


@keep(show_spinner="Looking for words …", show_time=True)
def picture_regions(
    _words: CountedWords, _points: np.ndarray, _labels: Sequence[str], fine: bool, *key: Any
) -> Regions:
    """The regions of a picture with their words; `key` stands for the sentences and for the picture."""
    return regions(_words, _points, _labels, fine=fine)


@keep(show_spinner="Looking for words …", show_time=True)
def map_words(
    _texts: Sequence[str], _points: np.ndarray, _labels: Sequence[str], fine: bool, *key: Any
) -> tuple[tuple[PlacedName, ...], ...]:
    """The words of a map's regions, whole and from close by; `key` stands for the sentences and for the picture."""
    return words_on_map(_texts, _points, _labels, fine=fine)


@keep(show_spinner="Arranging every epoch …", show_time=True)
def arranged_epochs(space: Space, how: str, opened: Opened) -> Journey:
    """A run's probe over its epochs, in the classes of the corpus; PCA with one basis for all."""
    arrange = picture_process().epochs if how == "umap" else epochs
    pictures = journey(space.method.snapshots, how, common=how == "pca", arrange=arrange)
    pictures = in_classes_of(pictures, opened.corpus)
    if "step" in space.method.history.columns:  # recorded in somebody else's training
        pictures = replace(pictures, unit="step")
    remember_made(("journey", space.key, how))
    return pictures


@keep(show_spinner="Measuring every epoch …", show_time=True)
def measured_epochs(space: Space) -> tuple[History, EpochCosines]:
    """The figures of a run's probe over its epochs, and its cosines."""
    return figures_over_epochs(space.method.snapshots), cosines_over_epochs(space.method.snapshots)


# --- Pairs: what a loss makes of a batch is worked out anew at each move of a slider ----------------------------


@keep(show_spinner="Making a batch …")
def batch_of_split(opened: Opened, size: int, per_class: int, seed: int, split: str) -> SentenceBatch:
    """A batch of one split."""
    from labkit.sentpwnet.view import sentence_batch

    return sentence_batch(opened.corpus, size=size, per_class=per_class, seed=seed, split=split)


@keep(show_spinner="Comparing the sentences …")
def batch_similarities(space: Space, texts: tuple[str, ...]) -> np.ndarray:
    """The cosines of the sentences of a batch, (m, m)."""
    from labkit.sentpwnet.view import cosines

    return cosines(space.method.encode(list(texts)))


@keep(show_spinner="Mining negatives …")
def mined_shares(space: Space, opened: Opened) -> dict[str, FalseShares]:
    """The shares of false negatives among those that the space mines, without a guide and with TF-IDF for one."""
    from labkit.pairs.hard_negatives import false_shares, mine_negatives, with_truth

    corpus, meanings = with_truth(opened.corpus)
    guides = {"no guide": None, "guided by TF-IDF": fitted_method(opened, "tfidf")}
    return {
        name: false_shares(mine_negatives(space.method, corpus, count=50, guide=guide), meanings)
        for name, guide in guides.items()
    }


# --- FILM rows ---------------------------------------------------------------------------------------------------


@keep(show_spinner="Turning the rows …")
def film_rows(space: Space, rotated: bool, stable: bool, opened: Opened) -> tuple[WordRow, ...]:
    """The rows in words, the strongest first; `stable`: with the stability of each, which takes three fits."""
    film = copy.copy(space.method)  # measuring writes into the method
    if stable:
        film.measure_stability(opened.corpus)
    return tuple(sorted(film.rows(rotated=rotated, top=10), key=lambda row: -row.share))


@keep(show_spinner="Turning the rows …")
def film_matrix(space: Space, rotated: bool) -> np.ndarray:
    """L (d, D), as learned or turned by varimax."""
    from labkit.film.reading import readable

    film = space.method
    return readable(film.L.astype(np.float64), film.words) if rotated else film.L


@keep(show_spinner="Reading the rows …")
def film_ends(space: Space, rotated: bool, opened: Opened, most: int) -> tuple[RowEnds, ...]:
    """The sentences that lie highest and lowest on each row of L."""
    from labkit.film.reading import row_ends

    texts = some_sentences(opened, most)
    return row_ends(film_matrix(space, rotated), space.method.vectorizer.transform(texts), texts)


@keep(show_spinner="Choosing sentences …")
def some_sentences(opened: Opened, most: int) -> tuple[str, ...]:
    """A few hundred sentences to choose from, those of one class side by side."""
    return tuple(points(opened.corpus, classes=60, most=most).texts)


# --- Compare -----------------------------------------------------------------------------------------------------


@keep(show_spinner="Scoring the runs …", show_time=True)
def run_result(folder: str, written: int, opened: Opened) -> Result:
    """What a run is worth on the test split."""
    from labkit.evaluation.leaderboard import Result
    from labkit.evaluation.scores import score

    scores = score(opened_run(folder, written), opened.corpus, apart=True)
    return Result.of(folder, run_record(folder, written), scores)


@keep(show_spinner="Scoring the baselines …", show_time=True)
def baseline_result(name: str, opened: Opened) -> Result:
    """What a method with its own settings, fitted here, is worth on the test split."""
    from labkit.evaluation.leaderboard import Result
    from labkit.evaluation.scores import score

    method, corpus = fitted_method(opened, name), opened.corpus
    return Result(name, name, method.settings.values(), corpus.name, opened.key, 0, score(method, corpus, apart=True))


@st.cache_resource(max_entries=1, ttl=60, show_spinner=False)
def paper_tables() -> dict[str, TableResult]:
    """Every table of the papers, with our figures where results are stored."""
    from labkit.papers.stored import beside

    return beside()

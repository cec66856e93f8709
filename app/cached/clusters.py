"""What the page "Clusters" keeps: sentences, their vectors, pictures of these, and how well classes stand apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st
from umap_process import PictureProcess

from cached.keeping import kept
from labkit.corpora import Corpus, Labelled
from labkit.corpora.relations import class_order, counted, points
from labkit.evaluation.classes import Separation, separation
from labkit.evaluation.inputs import unit
from labkit.lab.shipped import pictured
from labkit.projection import Projection, epochs, project
from labkit.projection.epochs import Journey, in_classes_of, journey
from labkit.runs import Snapshots

if TYPE_CHECKING:
    from labkit.method import Method


@kept(show_spinner="Choosing sentences …")
def sentences(_corpus: Corpus, key: str, part: str, most: int) -> Labelled:
    """Those of the test split, as stored pictures have them; or at most so many of all."""
    return pictured(_corpus) if part == "test" else points(_corpus, classes=len(_corpus), most=most)


@kept(show_spinner=False)
def classes(_corpus: Corpus, key: str) -> tuple[str, ...]:
    """All classes of the corpus in the order of their colours."""
    return class_order(_corpus)


@kept(show_spinner=False)
def all_sentences(_corpus: Corpus, key: str) -> tuple[int, int]:
    """How many sentences with a class there are to choose from, and how many classes."""
    return counted(_corpus)


@kept(show_spinner="Encoding the sentences …")
def embedded_rows(_method: Method, space: str, _shown: Labelled, shown: tuple[Any, ...]) -> tuple[Any, Any]:
    """Vectors as the method compares them, and at unit length, as pictures show them: one array if that is the same."""
    cosine = _method.similarity_name == "cosine"
    rows = _method.encode(_shown.texts, normalize_embeddings=cosine)
    unit_rows = rows if cosine else unit(rows)
    for each in (rows, unit_rows):
        if isinstance(each, np.ndarray):
            each.flags.writeable = False
    return rows, unit_rows


@kept(show_spinner="Arranging the picture …", show_time=True)
def arranged(_rows: Any, space: str, shown: tuple[Any, ...], how: str, dimensions: int) -> Projection:
    """A picture of vectors at unit length; whoever asks next has it at once."""
    made = picture_process().project(_rows, how, dimensions) if how == "umap" else project(_rows, how, dimensions)
    made.points.flags.writeable = False
    remember_made((space, shown, how, dimensions))
    return made


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


@kept(show_spinner=False)
def separated(_rows: Any, _labels: Sequence[str], *key: Any) -> Separation:
    """How well the classes stand apart in these rows; `key` stands for rows and labels."""
    found = separation(_rows, _labels)
    remember_made(key)
    return found


@kept(show_spinner="Arranging every epoch …", show_time=True)
def journeyed(_snapshots: Snapshots, space: str, how: str, _corpus: Corpus, key: str) -> Journey:
    """A run's probe over its epochs, in the classes of the corpus; PCA with one basis for all."""
    arrange = picture_process().epochs if how == "umap" else epochs
    found = in_classes_of(journey(_snapshots, how, common=how == "pca", arrange=arrange), _corpus)
    remember_made(("journey", space, how))
    return found

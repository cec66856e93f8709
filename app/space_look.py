"""The choices of the Space page: which sentences its pictures show, and how they are drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cached
import frame
import marking
import streamlit as st

from labkit.corpora import Labelled
from labkit.figures.clusters import CLASS, MOVED, TRUST, Colouring, colouring, columns
from labkit.projection import NAMES

TEST, ALL = "of the test split", "of all splits"
AMOUNTS = (300, 1_000, 2_000, 5_000, 20_000, 100_000, 1_000_000)
PLOTTED = 2_000  # sentences: above, a map
SOLID_MOST = 20_000  # sentences in three dimensions
UNDRAWN = 5_000  # sentences that a browser without WebGL can draw
LONGEST = {"lle": 5_000}  # sentences for which the wait is acceptable
NEAREST = 10  # neighbours that are listed, and that determine which sentences moved
SOLID = ("pca", "umap")
SAMPLED = "Above this number, a random sample with a fixed seed is shown."
OF_CLASSES, COARSE, FINE, NO_LABELS = LABELS = ("names of classes", "words", "words, finer", "none")
PROJECTIONS = (
    "PCA, principal component analysis, shows the directions in which the vectors vary most. t-SNE, UMAP and LLE "
    "(locally linear embedding) keep neighbours together."
)
PICTURED = """\
from labkit.shipped import pictured
shown = pictured(corpus)"""
POINTS = """\
from labkit.corpora.relations import points
shown = points(corpus, classes=len(corpus), most={most})"""


def sentences_of(opened: cached.Opened, box: Any) -> tuple[Labelled, tuple[Any, ...], str]:
    """The sentences shown, the key that identifies them, and the code that chooses them; `box` holds the controls."""
    parts = [TEST, ALL] if "test" in opened.corpus.splits and not opened.own else [ALL]
    part = box.selectbox("Sentences", parts, key="part", **frame.KEEP)
    if part == TEST:
        return cached.sentences_shown(opened, "test", 0), (opened.key, "test"), PICTURED
    most = box.select_slider(
        "Maximum number of sentences", AMOUNTS, 1_000, "{:,}".format, "amount", SAMPLED, **frame.KEEP
    )
    if marking.NO_WEBGL in st.session_state and most > UNDRAWN:
        most = UNDRAWN
        box.warning(f"This browser does not support WebGL, so at most {most:,} sentences are drawn.")
    shown = cached.sentences_shown(opened, "all", most)
    return shown, (opened.key, most), POINTS.format(most=most)


def nearest_of(count: int) -> int:
    """The number of neighbours that are looked at among `count` sentences."""
    return max(1, min(NEAREST, (count - 1) // 2))


@dataclass(frozen=True)
class Look:
    """How pictures are drawn, as chosen on the page; `order` is the order of the classes of the whole corpus."""

    how: str
    dimensions: int
    by: str
    most: int
    order: tuple[str, ...] = ()
    labels: str = OF_CLASSES
    as_map: bool = False  # drawn with WebGL instead of plotly

    def colours(self, shown: Labelled) -> dict[str, Any]:
        """The arguments for drawing a picture with this look; coloured by class if the chosen column is missing."""
        return {"by": self.by_column(shown), "most": self.most, "order": self.order, "named": self.labels == OF_CLASSES}

    def by_column(self, shown: Labelled) -> str:
        """The column that colours these sentences."""
        return self.by if self.by in columns(shown) else CLASS

    def in_numbers(self, shown: Labelled) -> bool:
        """Whether numbers colour the points, which a scale explains, and not the list of classes."""
        return self.colouring(shown).values is not None

    def colouring(self, shown: Labelled) -> Colouring:
        """What colours each point."""
        return colouring(shown, self.by_column(shown), most=self.most, order=self.order)


def look_of(opened: cached.Opened, shown: Labelled | None, box: Any, *, moved: bool = True) -> Look:
    """How to draw the pictures, from the controls in `box`; without sentences, the view is that of the epochs.

    `moved`: there are two spaces to compare.
    """
    keep, epochs = frame.KEEP, shown is None
    start, key = (0, "how-epochs") if epochs else (1, "how")  # so that neither view changes the other's picture
    how = box.radio("Projection", list(NAMES), start, NAMES.__getitem__, key, PROJECTIONS, horizontal=True, **keep)
    count = 0 if shown is None else len(shown)
    flat = epochs or how not in SOLID or count > SOLID_MOST
    solid = box.toggle("In three dimensions (PCA, UMAP)", key="solid", disabled=flat, **keep) and not flat
    named = [CLASS] if shown is None else columns(shown)
    measured = [name for name in ((TRUST, MOVED) if moved else (TRUST,)) if name not in named]
    by = box.selectbox("Colour", [*named, *measured], key="colour", **keep)
    most = box.slider("Number of coloured classes", 2, 36, 16, key="classes", **keep)
    as_map = not solid and count > PLOTTED and marking.NO_WEBGL not in st.session_state
    labels = LABELS[0] if epochs else box.selectbox("Labels", LABELS, key="labels", disabled=solid, **keep)
    if count > LONGEST.get(how, count):
        box.info(
            f"{NAMES[how]} would take minutes for {count:,} sentences, so PCA is shown instead. Choose fewer sentences."
        )
        how = "pca"
    return Look(how, 3 if solid else 2, by, most, cached.classes_of_corpus(opened)[0], labels, as_map)

"""The choices of the Space page: which sentences its pictures show, and how they are drawn."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import cached
import frame
from choosing import Space
from keeping import once

from labkit.corpora import Labelled
from labkit.corpora.relations import UNLABELLED
from labkit.evaluation.classes import WAYS, found_clusters, seconds_of_hdbscan
from labkit.evaluation.regions import found_classes
from labkit.figures.clusters import CLASS, MOVED, TRUST, Colouring, colouring, columns
from labkit.progress import lasting
from labkit.projection import NAMES

TEST, ALL = "of the test split", "of all splits"
AMOUNTS = (300, 1_000, 2_000, 5_000, 20_000, 100_000, 1_000_000)
PLOTTED = 2_000  # sentences: above, a map
SOLID_MOST = 20_000  # sentences in three dimensions
LLE_MOST = 5_000  # sentences for which the wait for LLE is acceptable
NOT_FOUND = "nobody"
FOUND_BY = (
    "k-means finds as many classes as you ask for. The density method turns each dense region into a class and "
    "assigns all other sentences to the class none. Classes are found in the vectors of the first picture and named "
    "after their most distinctive words."
)
NEAREST = 10  # neighbours that are listed, and that determine which sentences moved
SOLID = ("pca", "umap")
SAMPLED = "Above this number, a random sample with a fixed seed is shown."
OF_CLASSES, COARSE, FINE, NO_LABELS = LABELS = ("names of classes", "words", "words, finer", "none")
PROJECTIONS = (
    "PCA, principal component analysis, shows the directions in which the vectors vary most. t-SNE, UMAP and LLE "
    "(locally linear embedding) keep neighbours together. LLE is offered for up to 5,000 sentences."
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
    shown = cached.sentences_shown(opened, "all", most)
    return shown, (opened.key, most), POINTS.format(most=most)


def found_in(space: Space, shown: Labelled, key: tuple[Any, ...], box: Any) -> tuple[Labelled, tuple[str, int] | None]:
    """Unlabelled sentences with the classes found in these vectors, how they were found, and how many there are."""
    if set(shown.labels) != {UNLABELLED}:
        return shown, None
    options = {"format_func": lambda way: WAYS.get(way, way), "key": "found", "help": FOUND_BY, **frame.KEEP}
    way = box.selectbox("Find classes by", [*WAYS, NOT_FOUND], **options)
    if way == NOT_FOUND:
        return shown, None
    count = (
        box.slider("Number of classes to find", 2, 36, 12, key="found-count", **frame.KEEP) if way == "kmeans" else 0
    )
    seconds = seconds_of_hdbscan(len(shown)) if way == "density" else 0
    said = f"Finding classes: about {lasting(seconds)} …" if seconds > 3 else "Finding classes …"

    def find() -> Labelled:
        rows = cached.sentence_vectors(space, shown, key)[1]
        return replace(shown, labels=found_classes(shown.texts, found_clusters(rows, way, count)))

    return once(said, ("found", space.key, *key, way, count), find), (way, count)


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

    def colouring(self, shown: Labelled) -> Colouring:
        """What colours each point."""
        return colouring(shown, self.by_column(shown), most=self.most, order=self.order)


def look_of(opened: cached.Opened, shown: Labelled | None, box: Any, *, moved: bool = True) -> Look:
    """How to draw the pictures, from the controls in `box`; without sentences, the view is that of the epochs.

    `moved`: there are two spaces to compare.
    """
    keep, epochs = frame.KEEP, shown is None
    start, key = (0, "how-epochs") if epochs else (1, "how")  # so that neither view changes the other's picture
    count = 0 if shown is None else len(shown)
    names = [name for name in NAMES if name != "lle" or count <= LLE_MOST]
    how = box.radio("Projection", names, start, NAMES.__getitem__, key, PROJECTIONS, horizontal=True, **keep)
    flat = epochs or how not in SOLID or count > SOLID_MOST
    solid = box.toggle("In three dimensions (PCA, UMAP)", key="solid", disabled=flat, **keep) and not flat
    named = [CLASS] if shown is None else columns(shown)
    measured = [name for name in ((TRUST, MOVED) if moved else (TRUST,)) if name not in named]
    by = box.selectbox("Colour", [*named, *measured], key="colour", **keep)
    most = box.slider("Number of coloured classes", 2, 36, 16, key="classes", **keep)
    as_map = not solid and count > PLOTTED
    labels = LABELS[0] if epochs else box.selectbox("Labels", LABELS, key="labels", disabled=solid, **keep)
    return Look(how, 3 if solid else 2, by, most, cached.classes_of_corpus(opened)[0], labels, as_map)

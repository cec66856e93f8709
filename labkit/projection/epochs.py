"""The journey of a run: one picture per epoch, arranged so that points can be followed.

PCA     keeps its unit, so classes that move together, or a space that collapses, are visible. With `common`, all
        pictures share one basis, computed from the vectors of all epochs: nothing is rotated, and points move in
        straight lines where their vectors do.
others  have units without meaning, so all epochs are drawn with the mean square radius of the first. t-SNE and UMAP
        start from the points of the previous epoch.

A `Journey` draws each of these pictures to its own scale.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import orthogonal_procrustes

from labkit.arrays import unit
from labkit.corpora.records import Corpus, Labelled
from labkit.corpora.relations import classes_by_sentence
from labkit.evaluation.classes import Separation, separation
from labkit.projection.arrange import STARTED, project
from labkit.projection.picture import Basis, Projection, checked_embeddings, leading_directions, quality, variance_shown
from labkit.runs import Snapshots

WIDER = 1.5  # width of a picture over the epochs, as a multiple of its height

# --- one picture turned onto another -----------------------------------------------------------------------------


def procrustes(points: np.ndarray, onto: np.ndarray) -> np.ndarray:
    """Return the orthogonal R (p, p) that brings points (n, p) nearest to `onto` (n, p), after both are centred on
    their means.

        min_R |A R - B|_F,  RᵀR = I      R = U Vᵀ of the singular value decomposition U S Vᵀ = AᵀB    (Schönemann 1966)

    R only rotates and reflects. A scale fitted to each pair of pictures would hide that a picture shrinks.
    """
    A, B = (np.asarray(each, np.float64) - np.mean(each, axis=0, dtype=np.float64) for each in (points, onto))
    R: np.ndarray = orthogonal_procrustes(A, B)[0]
    return R


def aligned(projection: Projection, onto: Projection | None = None, *, scale: float = 1.0) -> Projection:
    """Centre the picture, multiply it by `scale` and rotate it onto the other one; PCA's basis changes accordingly."""
    middle = projection.points.mean(axis=0, dtype=np.float64)
    R = np.eye(len(middle)) if onto is None else procrustes(projection.points, onto.points)
    points = scale * (projection.points - middle) @ R
    basis = projection.basis
    if basis is not None:
        basis = Basis(basis.centre, scale * basis.directions @ R, scale * (basis.offset - middle) @ R)
    return replace(projection, points=points.astype(np.float32), basis=basis)


def picture_radius(points: np.ndarray) -> float:
    """Return the root mean square distance of points (n, p) from their mean."""
    centred = points - points.mean(axis=0, dtype=np.float64)
    return float(np.sqrt((centred**2).sum(axis=1).mean()))


def laid_over(picture: Projection, onto: Projection) -> tuple[Projection, Projection]:
    """Centre two pictures of the same sentences, and rotate and scale the first onto the second.

    A line from a point in one picture to the same point in the other is then as short as possible.
    """
    base = aligned(onto)
    return aligned(picture, base, scale=_scale(picture, onto)), base


def _scale(picture: Projection, onto: Projection) -> float:
    radius = picture_radius(picture.points)
    return picture_radius(onto.points) / radius if radius > 0 else 1.0


def filling(pictures: Sequence[Projection]) -> tuple[Projection, ...]:
    """Turn all pictures so that the last is wider than high, centre each, and scale each to fill a box of WIDER x 1.

    Their basis, if any, does not lead to these points, so it is dropped.
    """
    last = pictures[-1].points - pictures[-1].points.mean(axis=0)
    turn = np.linalg.svd(last, full_matrices=False)[2].T  # (2, 2)
    turned = [picture.points @ turn for picture in pictures]
    middles = [(points.min(axis=0) + points.max(axis=0)) / 2 for points in turned]
    spans = [float((np.ptp(points, axis=0) / (WIDER, 1)).max()) or 1.0 for points in turned]
    filled = [(points - middle) / span for points, middle, span in zip(turned, middles, spans, strict=True)]
    return tuple(
        replace(picture, points=points.astype(np.float32), basis=None)
        for picture, points in zip(pictures, filled, strict=True)
    )


def limits(projections: Sequence[Projection]) -> np.ndarray:
    """Return the ranges of axes that contain all points of all pictures, with a margin: lowest and highest, (p, 2)."""
    points = np.concatenate([each.points for each in projections])
    low, high = points.min(axis=0), points.max(axis=0)
    room = 0.05 * np.where(high > low, high - low, 1)
    return np.stack([low - room, high + room], axis=1)


# --- a picture of each epoch -------------------------------------------------------------------------------------


def epochs(
    snapshots: Sequence[Any] | np.ndarray, method: str = "pca", *, common: bool = False, measure: bool = True
) -> tuple[Projection, ...]:
    """Return one projection in the plane per epoch; `common`: one PCA basis for all epochs.

    >>> rows = np.random.default_rng(0).normal(size=(30, 5))
    >>> [picture.points.shape for picture in epochs([rows, 2 * rows])]
    [(30, 2), (30, 2)]
    """
    if not len(snapshots):
        raise ValueError("there are no snapshots; train with a probe")
    spaces = [checked_embeddings(each) for each in snapshots]
    if common and method != "pca":
        raise ValueError(f"common is True with method {method!r}, but only 'pca' has a basis; omit common")
    if common:  # PCA of all vectors around their common mean, so that a drift is visible, too
        together = sparse.vstack(spaces).tocsr() if sparse.issparse(spaces[0]) else np.concatenate(spaces)
        basis = leading_directions(together, 2, 0).basis
        assert basis is not None
        return tuple(_by_basis(basis, rows, measure) for rows in spaces)
    pictures: list[Projection] = []
    start: np.ndarray | None = None
    for rows in spaces:
        picture = project(rows, method, start=start, measure=measure)
        start = picture.points if method in STARTED else None  # in the method's own unit
        scale = _scale(picture, pictures[0]) if pictures and method != "pca" else 1.0
        pictures.append(aligned(picture, pictures[-1] if pictures else None, scale=scale))
    return tuple(pictures)


def _by_basis(basis: Basis, rows: Any, measure: bool) -> Projection:
    points = basis(rows)
    shown, settings = variance_shown(rows, points), {"dimensions": 2, "seed": 0, "common": True}
    kept = quality(rows, points, shown=shown) if measure else None
    return Projection("PCA", points, shown, None, "pca", settings, kept, basis)


# --- a run's journey ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Journey:
    """How the space of a run developed: a picture of each epoch (e,), with scores in the space and in the picture.

    Each picture has its own scale and fills the axes, because vectors are nearly equal before training.

    `axes` (2, 2) contain all pictures. `unit` is what `epochs` counts; for a recorder, it is steps.
    """

    shown: Labelled
    epochs: tuple[int, ...]
    pictures: tuple[Projection, ...]
    space: tuple[Separation, ...]
    drawn: tuple[Separation, ...]
    axes: np.ndarray
    unit: str = "epoch"

    def __len__(self) -> int:
        return len(self.epochs)

    def rows(self) -> list[dict[str, float | str]]:
        """Return two table rows per epoch: one for the space, one for the picture."""
        names = ("ratio", "silhouette", "hit", "sample")
        return [
            {"epoch": epoch, "measured in": where, **{name: getattr(figures, name) for name in names}}
            for epoch, space, drawn in zip(self.epochs, self.space, self.drawn, strict=True)
            for where, figures in (("the embedding space", space), ("the picture", drawn))
        ]


def probe(snapshots: Snapshots) -> Labelled:
    """Return the sentences of the probe with their classes."""
    if not len(snapshots.epochs):
        raise ValueError(
            "the run has no snapshots; train a method that learns in epochs, such as `labkit train sentpwnet --corpus "
            "topics`"
        )
    return Labelled(snapshots.texts, snapshots.labels, name="probe", splits="train")


def journey(
    snapshots: Snapshots,
    method: str = "pca",
    *,
    common: bool = False,
    arrange: Callable[..., tuple[Projection, ...]] = epochs,
) -> Journey:
    """Return the pictures by `method`, as in `labkit.projection.epochs`; `common`: PCA with one basis for all epochs.

    arrange    makes the pictures, called like `epochs`; the app passes a function that uses another process
    """
    shown = probe(snapshots)
    spaces = [unit(vectors) for vectors in snapshots.vectors]
    pictures = filling(arrange(spaces, method, common=common))
    return Journey(
        shown=shown,
        epochs=tuple(int(epoch) for epoch in snapshots.epochs),
        pictures=pictures,
        space=tuple(separation(rows, shown.labels) for rows in spaces),
        drawn=tuple(separation(picture.points, shown.labels) for picture in pictures),
        axes=limits(pictures),
    )


def in_classes_of(travelled: Journey, corpus: Corpus) -> Journey:
    """Rename the classes of the probe as in `points`, because a run only numbers the classes of pairs."""
    names, texts = classes_by_sentence(corpus), travelled.shown.texts
    if not all(text in names for text in texts):
        return travelled
    return replace(travelled, shown=Labelled(texts, [names[text] for text in texts], name="probe", splits="train"))

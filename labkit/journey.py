"""How a run's space came to be: its probe sentences epoch by epoch, as pictures that hang together, with their figures.

In: a run's `Snapshots`. Out: `Journey`, for each kept epoch a `Projection` in shared axes and the `Separation` of the
classes in the embedding space and in the picture. All of the vectors at unit length, so that near means a large cosine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from labkit.corpora.points import classes_by_sentence
from labkit.corpora.records import Corpus, Labelled
from labkit.evaluation.separation import Separation, separation
from labkit.history import Snapshots
from labkit.progress import Progress, silent
from labkit.projection.alignment import limits
from labkit.projection.epochs import epochs
from labkit.projection.record import Projection


@dataclass(frozen=True, eq=False)
class Journey:
    """For each epoch (e,): a picture, and figures in the embedding space and in it; `axes` (2, 2) hold all pictures."""

    shown: Labelled
    epochs: tuple[int, ...]
    pictures: tuple[Projection, ...]
    space: tuple[Separation, ...]
    drawn: tuple[Separation, ...]
    axes: np.ndarray

    def __len__(self) -> int:
        return len(self.epochs)

    def rows(self) -> list[dict[str, float | str]]:
        """Two lines of a table for each epoch: in the space, in the picture."""
        found = zip(self.epochs, self.space, self.drawn, strict=True)
        return [
            {"epoch": epoch, "measured in": where, **asdict(figures)}
            for epoch, space, drawn in found
            for where, figures in (("the embedding space", space), ("the picture", drawn))
        ]


def probe(snapshots: Snapshots) -> Labelled:
    """The probe's sentences with their classes."""
    if not len(snapshots.epochs):
        raise ValueError(
            "the run has no snapshots, expected vectors of its probe at some epochs; train a method that goes in "
            "epochs, such as `labkit train sentpwnet --corpus topics`"
        )
    return Labelled(snapshots.texts, snapshots.labels, name="probe", splits="train")


def journey(
    snapshots: Snapshots,
    method: str = "pca",
    *,
    common: bool = False,
    seed: int = 0,
    progress: Progress = silent,
    arrange: Callable[..., tuple[Projection, ...]] = epochs,
) -> Journey:
    """The pictures by `method`, as in `labkit.projection.epochs`; `common`: PCA with one basis for all epochs.

    arrange    what makes the pictures, called as `epochs` is: `Elsewhere.epochs` does it in another process
    """
    shown = probe(snapshots)
    spaces = [_unit(vectors) for vectors in snapshots.vectors]
    pictures = arrange(spaces, method, seed=seed, common=common, progress=progress)
    return Journey(
        shown=shown,
        epochs=tuple(int(epoch) for epoch in snapshots.epochs),
        pictures=pictures,
        space=_separations(spaces, shown.labels),
        drawn=_separations([picture.points for picture in pictures], shown.labels),
        axes=limits(pictures),
    )


def in_classes_of(found: Journey, corpus: Corpus) -> Journey:
    """The same, with the classes of the probe called as `points` calls them: a run numbers those of pairs."""
    names = classes_by_sentence(corpus)
    if not all(text in names for text in found.shown.texts):
        return found
    shown = Labelled(found.shown.texts, [names[text] for text in found.shown.texts], name="probe", splits="train")
    return replace(found, shown=shown)


def _unit(vectors: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1)


def _separations(spaces: Sequence[np.ndarray], labels: Sequence[str]) -> tuple[Separation, ...]:
    return tuple(separation(rows, labels) for rows in spaces)

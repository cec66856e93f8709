"""What a fit says before it starts and after it is done, as notes, which everything but a failure is.

In: the sizes asked for, or what was found. Out: nothing, or the size that can be had.
"""

from __future__ import annotations

import numpy as np

from labkit.locally_linear.spectrum import Spectrum
from labkit.locally_linear.weights import Weights
from labkit.notes import note

EXACT = 1e-5  # the largest |M v - λ v| that is not spoken of
LARGE = 200_000  # rows from which on a word is said beforehand
#: what users of the method sbert-lp call it, and what scikit-learn's do
_SAID = {"n_components": "dimension (n_components)", "n_neighbors": "neighbours (n_neighbors)"}
_CALLER = 3  # frames up: whoever called `fit`


def within(name: str, value: int, most: int, what: str) -> int:
    """The size asked for, or the largest there is."""
    if value > most:
        note(
            f"{_SAID.get(name, name)} is {value}, but {most + 1} distinct rows have only {most} {what}: {most} are "
            "used",
            stacklevel=_CALLER,
        )
    return min(value, most)


def say_afterwards(found: Spectrum, weights: Weights, reg: float) -> None:
    """What makes the embedding say less than it seems to."""
    if weights.raised:
        note(
            f"{weights.raised} rows could not be reconstructed with reg {reg:g}; it was raised for them, up to "
            f"{weights.largest_reg:g}",
            stacklevel=_CALLER,
        )
    if found.residual > EXACT:
        note(
            f"eigenvectors are exact to {found.residual:.2g} only, expected below {EXACT:g}; a smaller "
            f"{_SAID['n_components']} or a larger reg makes them so",
            stacklevel=_CALLER,
        )
    sizes = np.bincount(found.component)
    used = np.bincount(found.owner[found.owner >= 0], minlength=len(sizes))
    full = np.flatnonzero((used == sizes - 1) & (sizes > 2))
    if len(full) and len(sizes) > 1:
        note(
            f"{len(full)} of {len(sizes)} parts of the neighbour graph, the smallest of {sizes[full].min()} rows, have "
            "all their directions in use: within them every row is as far from every other; ask for a smaller "
            f"{_SAID['n_components']}, or for more {_SAID['n_neighbors']}, which joins parts",
            stacklevel=_CALLER,
        )


def say_beforehand(rows: int, count: int) -> None:
    """Time and memory of large fits, from what 20,000 and 100,000 rows were measured to take (`benchmarks`): with 100
    dimensions 10 to 19 s and 80 to 108 s of a busy core, and eight numbers a row and dimension."""
    if rows < LARGE:
        return
    gigabytes = rows * (8 * count + 60) * 8 / 1e9
    minutes = 2 * (rows / 100_000) ** 1.3 * (count / 100)
    note(
        f"{rows:,} rows in {count} dimensions take about {gigabytes:.0f} GB of memory and {minutes:.0f} minutes of one "
        "core, beside the search for neighbours; Ctrl-C stops it, fewer dimensions take less",
        stacklevel=_CALLER,
    )

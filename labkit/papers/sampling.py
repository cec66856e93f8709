"""How far another test set of the same size would move a figure: one standard deviation, where there is a formula.

    a share p of n cases            sqrt(p (1 - p) / n)
    a correlation r of n pairs      (1 - r²) / sqrt(n); of ranks as in `evaluation.spearman_error`

Two runs that differ by less tell nothing, however little their seeds differ. In: a figure of a recipe, its value, and
how many cases are scored. Out: a number; 0 where no formula is known.
"""

from __future__ import annotations

from math import sqrt

from labkit.evaluation import spearman_error
from labkit.papers.desk import Opened
from labkit.papers.records import Column

SHARES = ("accuracy", "triplet_accuracy", "hit@1", "hit@3", "hit@10")
CORRELATIONS = ("pearson", "cosine pearson")
NOT_ROWS = ("articles",)  # of these data sets a case is a triplet or a sentence, and a row an article


def cases_of(column: Column, data: Opened) -> int:
    """How many cases of the test split a column is measured on; 0 where that is not known."""
    if column.cases or column.data in NOT_ROWS:
        return column.cases
    return data.partnered if column.figure.startswith("hit@") else data.sizes.get("test", 0)


def sampling(figure: str, value: float, cases: int) -> float:
    """One standard deviation of the figure over test sets of so many cases. A year after its name changes nothing.

    >>> round(sampling("accuracy", 0.7, 2_100), 3)
    0.01
    """
    if cases < 1:
        return 0.0
    figure = figure.rstrip("0123456789 ") if "@" not in figure else figure
    if figure in SHARES and 0 <= value <= 1:
        return sqrt(value * (1 - value) / cases)
    if figure == "spearman" and -1 <= value <= 1 and cases > 3:
        return spearman_error(value, cases)
    if figure in CORRELATIONS and -1 <= value <= 1:
        return (1 - value**2) / sqrt(cases)
    return 0.0

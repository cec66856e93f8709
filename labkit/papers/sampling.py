"""How far another test set of the same size would move a figure: one standard deviation, where there is a formula.

    a share p of n cases            sqrt(p (1 - p) / n)
    a correlation r of n pairs      (1 - r²) / sqrt(n)

Two runs that differ by less tell nothing, however little their seeds differ. In: a figure of a recipe, its value, and
the rows of the test split. Out: a number; 0 where none is known.
"""

from __future__ import annotations

from math import sqrt

SHARES = ("accuracy", "triplet_accuracy", "hit@1", "hit@3", "hit@10")
CORRELATIONS = ("pearson", "spearman", "cosine pearson")
NOT_ROWS = ("articles",)  # of these data sets a case is a triplet or a sentence, and a row an article


def sampling(figure: str, value: float, data: str, rows: int) -> float:
    """One standard deviation of the figure over test sets of so many rows.

    >>> round(sampling("accuracy", 0.7, "quora", 2_100), 3)
    0.01
    """
    if rows < 1 or data in NOT_ROWS:
        return 0.0
    if figure in SHARES and 0 <= value <= 1:
        return sqrt(value * (1 - value) / rows)
    if figure in CORRELATIONS and -1 <= value <= 1:
        return (1 - value**2) / sqrt(rows)
    return 0.0

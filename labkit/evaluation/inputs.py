"""What the evaluation accepts: arrays in, checked float64 or int64 arrays out, or a ValueError that says what to mend.

    vectors   (n, d) embeddings, dense or scipy-sparse, finite
    numbers   (n,) scores or grades, finite, float16 and float32 kept: a threshold must work in their precision
    classes   (n,) labels of any kind -> codes 0..C-1 in order of first appearance
    binary    (n,) 0/1 or bool -> bool

Every public function of this package passes its arguments through here once; what follows only computes.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

Vectors: TypeAlias = np.ndarray | sparse.csr_matrix


def array_of(name: str, values: ArrayLike) -> np.ndarray:
    """What numpy makes of the values; a ValueError where that is nothing, as of torch's bfloat16."""
    try:
        return np.asarray(values)
    except (TypeError, ValueError, RuntimeError) as error:
        raise ValueError(
            f"{name} is not an array ({error}), expected something numpy can read; give a list or an array in "
            "main memory (for a torch tensor: .detach().cpu().float().numpy())"
        ) from error


def _array(name: str, values: ArrayLike, dimensions: int) -> np.ndarray:
    array = array_of(name, values)
    if array.ndim != dimensions:
        raise ValueError(
            f"{name} has shape {array.shape}, expected {dimensions} dimension{'s' * (dimensions > 1)}; reshape it"
        )
    _not_empty(name, len(array))
    return array


def _not_empty(name: str, rows: int) -> None:
    if not rows:
        raise ValueError(f"{name} is empty, expected at least one row; nothing can be measured on nothing")


def _require_finite(name: str, values: np.ndarray, row_starts: np.ndarray | None = None) -> None:
    bad = ~np.isfinite(values)
    if bad.any():
        place = np.argwhere(bad)[0][0]
        row = place if row_starts is None else np.searchsorted(row_starts, place, side="right") - 1
        raise ValueError(
            f"{name} holds {int(bad.sum())} NaN or infinite values, the first in row {row}, expected finite "
            "numbers; drop or mend these rows"
        )


def _real(name: str, array: np.ndarray) -> np.ndarray:
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name} has dtype {array.dtype}, expected real numbers; convert it to float")
    return array


def vectors(
    name: str, values: ArrayLike | sparse.spmatrix, *, like: Vectors | None = None, keep_single: bool = False
) -> Vectors:
    """(n, d) float64, finite; sparse input stays sparse (CSR), float32 stays float32 if `keep_single`.

    With `like`, as many columns as that has.
    """
    rows: Vectors
    if sparse.issparse(values):
        rows = sparse.csr_matrix(values)
        # once more from its parts: that takes 32-bit indices where they suffice, as scikit-learn demands
        rows = sparse.csr_matrix((rows.data, rows.indices, rows.indptr), shape=rows.shape, dtype=np.float64)
        if not rows.has_canonical_format:
            rows = rows.copy()
            rows.sum_duplicates()
        _require_finite(name, rows.data, rows.indptr)
        _not_empty(name, rows.shape[0])
    else:
        rows = _real(name, _array(name, values, 2))
        if not (keep_single and rows.dtype == np.float32):
            rows = rows.astype(np.float64, copy=False)
        _require_finite(name, rows)
    if not rows.shape[1]:
        raise ValueError(f"{name} has shape {rows.shape}, expected at least one column; encode the sentences first")
    if like is not None and rows.shape[1] != like.shape[1]:
        raise ValueError(
            f"{name} has {rows.shape[1]} columns, expected {like.shape[1]} like its partner; use one method for both"
        )
    return rows


def numbers(name: str, values: ArrayLike, *, like: np.ndarray | None = None) -> np.ndarray:
    """(n,) finite real numbers in float16, 32 or 64. With `like`, as many as that has."""
    array = _real(name, _array(name, values, 1))
    array = array if array.dtype in (np.float16, np.float32) else array.astype(np.float64, copy=False)
    _require_finite(name, array)
    if like is not None:
        same_length(name, array, len(like))
    return array


def binary(name: str, labels: ArrayLike, *, count: int) -> np.ndarray:
    """(count,) bool from 0/1 or bool."""
    array = _array(name, labels, 1)
    same_length(name, array, count)
    wrong = (array != 0) & (array != 1) if array.dtype.kind in "biuf" else np.ones(len(array), bool)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(f"{name} is {array[row]!r} in row {row}, expected 0 or 1; map the labels to 1 same, 0 not")
    return array.astype(bool)


def classes(name: str, labels: ArrayLike, *, count: int | None = None) -> np.ndarray:
    """(n,) int64 codes 0..C-1, numbered in order of first appearance; labels may be strings or numbers.

    With `count`, as many labels as that.
    """
    return _codes(_labels(name, labels, count))


def classes_of_both(
    names: tuple[str, str], labels: tuple[ArrayLike, ArrayLike], counts: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray]:
    """`classes` of two sets, where a label has the same code in both."""
    first, second = (_labels(*each) for each in zip(names, labels, counts, strict=True))
    codes = _codes(np.concatenate([first, second]))
    return codes[: len(first)], codes[len(first) :]


def _codes(labels: np.ndarray) -> np.ndarray:
    import pandas as pd  # takes a second, and only labels need it

    return pd.factorize(labels)[0].astype(np.int64)


def _labels(name: str, labels: ArrayLike, count: int | None) -> np.ndarray:
    import pandas as pd

    # as objects, or numpy would turn a missing value among strings into the string "nan", and 1 into "1"
    array = _array(name, labels if hasattr(labels, "__array__") else np.array(labels, dtype=object), 1)
    if count is not None:
        same_length(name, array, count)
    missing = pd.isna(array)
    if missing.any():
        row = int(np.argmax(missing))
        raise ValueError(f"{name} is missing in row {row}, expected a label in every row; fill it in or drop the row")
    return array.astype(object)


def same_length(name: str, rows: np.ndarray, count: int) -> None:
    """A ValueError unless there are `count` rows."""
    if len(rows) != count:
        raise ValueError(f"{name} has {len(rows)} rows, expected {count}, one for each item; check what was dropped")


def whole(name: str, value: int, low: int, high: int, meaning: str) -> int:
    """`value` as an int in [low, high], or a ValueError that names the limit's meaning."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not low <= value <= high:
        raise ValueError(f"{name} is {value!r}, expected a whole number from {low} to {high} ({meaning}); change it")
    return int(value)


def seeded(seed: int) -> int:
    """A seed that numpy and scikit-learn both accept."""
    return whole("seed", seed, 0, 2**32 - 1, "what numpy and scikit-learn accept")


def positive_peaks(columns: np.ndarray) -> np.ndarray:
    """Columns (n, p), each with its largest entry positive: the sign of an eigenvector is free, a seed gives one."""
    largest = np.take_along_axis(columns, np.abs(columns).argmax(axis=0, keepdims=True), 0)
    return columns * np.where(largest < 0, -1.0, 1.0)


ROOM = {np.dtype(np.float32): 30, np.dtype(np.float64): 200}  # within 2^±ROOM even squares of squares exist


def exponent(*parts: Vectors) -> int:
    """The e for which the largest entry of all parts lies between 2^(e-1) and 2^e; 0 where it is of ordinary size.

    What squares its rows takes `scaled(rows, exponent(rows))` first, or the square of 1e200 would overflow and that of
    1e-200 vanish. Dividing by a power of two is exact, and ordinary rows stay as they are, to the last bit.
    """
    peak = max((float(max(part.max(), -part.min())) for part in parts if part.size), default=0.0)
    return int(_exponents(np.array(peak), min(ROOM.get(part.dtype, 200) for part in parts)))


def exponents(rows: Vectors) -> np.ndarray:
    """`exponent` of each row by itself, (n,)."""
    ends = [end if isinstance(end, np.ndarray) else end.toarray() for end in (rows.max(axis=1), -rows.min(axis=1))]
    return _exponents(np.maximum(*ends).ravel(), ROOM.get(rows.dtype, 200))


def _exponents(peak: np.ndarray, room: int) -> np.ndarray:
    powers = np.frexp(peak)[1]
    return np.where((peak > 0) & (np.abs(powers) > room), powers, 0)


def scaled(rows: Vectors, exponent: int | np.ndarray) -> Vectors:
    """rows / 2^exponent, of all rows or of each (n,); the rows themselves where there is nothing to do."""
    if not np.any(exponent):
        return rows
    if isinstance(rows, np.ndarray):
        return np.ldexp(rows, -np.reshape(exponent, (-1, 1)))
    smaller = rows.copy()
    smaller.data = np.ldexp(rows.data, -np.repeat(np.broadcast_to(exponent, rows.shape[:1]), np.diff(rows.indptr)))
    return smaller


_TINY = 1e-12  # least length that divides a row
_SHORT = {4: 2.0**-70, 8: 2.0**-500}  # by bytes of a number: rows below have squares that vanish


def unit(rows: Any, *, refuse: str = "") -> Any:
    """Rows at length 1, dense or CSR, in their own precision; a row of zeros, which has no direction, stays zero.

    Or with `refuse`, the name of the rows, it is a ValueError with its number.
    """
    if refuse:
        return _directions(refuse, rows)
    lengths = _lengths(rows)
    extreme = ~((lengths > _SHORT.get(rows.dtype.itemsize, 0.0)) & np.isfinite(lengths))
    if extreme.any():
        rows = scaled(rows, np.where(extreme, exponents(rows), 0))  # each by itself, whoever else is there
        lengths = _lengths(rows)
    if sparse.issparse(rows):
        return sparse.csr_array(sparse.diags_array(1 / np.maximum(lengths, _TINY)).astype(rows.dtype) @ rows)
    return rows / np.maximum(lengths[:, None], np.asarray(_TINY, rows.dtype))


def _lengths(rows: Any) -> np.ndarray:
    """The length of each row, (n,), infinite where the squares overflow and zero where they vanish."""
    with np.errstate(over="ignore"):
        if sparse.issparse(rows):
            return np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
        lengths: np.ndarray = np.linalg.norm(rows, axis=1)
        return lengths


def _directions(name: str, checked: Vectors) -> Vectors:
    """Checked rows at length 1; a row of zeros is a ValueError with its number."""
    peak = abs(checked).max(axis=1)
    peak = peak if isinstance(peak, np.ndarray) else peak.toarray().ravel()
    zero = np.flatnonzero(peak == 0)
    if len(zero):
        raise ValueError(
            f"{name} has a zero vector in row {zero[0]} ({len(zero)} in all), expected a direction in every row, "
            "since no cosine exists without one; drop these sentences or encode them otherwise"
        )
    # by the largest entry first: the square of 1e-200 would vanish
    rows = divided_rows(checked, peak)
    return divided_rows(rows, _lengths(rows))


def divided_rows(matrix: Vectors, by: np.ndarray) -> Vectors:
    """Each row by a number of its own, (n,)."""
    if isinstance(matrix, np.ndarray):
        return matrix / by[:, None]
    data = matrix.data / np.repeat(by, np.diff(matrix.indptr))
    return sparse.csr_matrix((data, matrix.indices, matrix.indptr), shape=matrix.shape)

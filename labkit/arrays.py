"""Check arrays. In: anything that numpy can read. Out: float64 or int64, or a ValueError that says what to change.

A public function passes its arguments through these checks once; private functions only compute.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

Vectors: TypeAlias = np.ndarray | sparse.csr_matrix


def array_of(name: str, values: ArrayLike) -> np.ndarray:
    """The values as a numpy array; raises ValueError for values that numpy cannot read, such as torch's bfloat16."""
    if np.ma.is_masked(values):
        raise ValueError(
            f"{name} is a masked array with {np.ma.count_masked(values)} masked values; fill them in or drop these rows"
        )
    try:
        return np.asarray(values)
    except (TypeError, ValueError, RuntimeError) as error:
        raise ValueError(
            f"{name} cannot be read as an array ({error}). Give a list or an array in main memory (for a torch "
            "tensor: .detach().cpu().float().numpy())"
        ) from error


def _checked_array(name: str, values: ArrayLike, dimensions: int, kinds: str = "biuf") -> np.ndarray:
    array = array_of(name, values)
    if array.ndim != dimensions:
        raise ValueError(f"{name} has shape {array.shape}, expected {dimensions} dimension(s); reshape it")
    if not len(array):
        raise ValueError(f"{name} is empty; give at least one row")
    if array.dtype.kind not in kinds:
        raise ValueError(f"{name} has dtype {array.dtype}, expected real numbers; convert it to float")
    return array


def _require_finite(name: str, rows: Vectors) -> None:
    bad = np.argwhere(~np.isfinite(rows if isinstance(rows, np.ndarray) else rows.data))[:, 0]
    if len(bad):
        row = bad[0] if isinstance(rows, np.ndarray) else np.searchsorted(rows.indptr, bad[0], side="right") - 1
        raise ValueError(
            f"{name} contains {len(bad)} NaN or infinite values, the first in row {row}; drop or correct these rows"
        )


def vectors(
    name: str, values: ArrayLike | sparse.spmatrix, *, like: Vectors | None = None, keep_single: bool = False
) -> Vectors:
    """Return finite rows (n, d) as float64. Sparse input stays sparse (CSR).

    Dense float32 stays float32 if `keep_single`. With `like`, both must have the same number of columns.
    """
    rows: Vectors
    if sparse.issparse(values):
        rows = sparse.csr_matrix(values)
        # rebuilt from its parts with 32-bit indices if possible, as scikit-learn requires
        rows = sparse.csr_matrix((rows.data, rows.indices, rows.indptr), shape=rows.shape, dtype=np.float64)
        if not rows.has_canonical_format:
            rows = rows.copy()
            rows.sum_duplicates()
    else:
        rows = _checked_array(name, values, 2)
        if not (keep_single and rows.dtype == np.float32):
            rows = rows.astype(np.float64, copy=False)
    if not all(rows.shape):
        raise ValueError(f"{name} is empty: shape {rows.shape}, expected at least one row and column; give some data")
    _require_finite(name, rows)
    if like is not None and rows.shape[1] != like.shape[1]:
        raise ValueError(
            f"{name} has {rows.shape[1]} columns, but its partner has {like.shape[1]}; use the same method for both"
        )
    return rows


def numbers(name: str, values: ArrayLike, *, like: np.ndarray | None = None) -> np.ndarray:
    """Return finite real numbers (n,) as float16, float32 or float64; if `like` is given, the lengths must agree."""
    array = _checked_array(name, values, 1)
    array = array if array.dtype in (np.float16, np.float32) else array.astype(np.float64, copy=False)
    _require_finite(name, array)
    if like is not None:
        same_length(name, array, len(like))
    return array


def binary(name: str, labels: ArrayLike, *, count: int) -> np.ndarray:
    """Return 0/1 or bool values as bool (count,)."""
    array = _checked_array(name, labels, 1)
    same_length(name, array, count)
    wrong = np.flatnonzero((array != 0) & (array != 1))
    if len(wrong):
        raise ValueError(
            f"{name} is {array[wrong[0]]!r} in row {wrong[0]}, expected 0 or 1; use 1 for same, 0 for different"
        )
    return array.astype(bool)


def classes(name: str, labels: ArrayLike, *, count: int | None = None) -> np.ndarray:
    """Return int64 codes 0..C-1 (n,), in order of first appearance; labels may be strings or numbers."""
    import pandas as pd  # takes a second, and only labels need it

    # as objects, because numpy would turn a missing value among strings into the string "nan", and 1 into "1"
    array = labels if hasattr(labels, "__array__") else np.array(labels, dtype=object)
    array = _checked_array(name, array, 1, kinds="biufOUSM")
    if count is not None:
        same_length(name, array, count)
    missing = pd.isna(array)
    if missing.any():
        raise ValueError(f"{name} is missing in row {missing.argmax()}; fill it in or drop the row")
    return pd.factorize(array.astype(object))[0].astype(np.int64)


def same_length(name: str, rows: Vectors, count: int) -> None:
    """Raise a ValueError unless there are `count` rows."""
    if rows.shape[0] != count:
        raise ValueError(
            f"{name} has {rows.shape[0]} rows, expected {count}, one for each item; check what was dropped"
        )


def whole(name: str, value: int, low: int, high: int, meaning: str) -> int:
    """Return `value` as an int in [low, high]; otherwise raise a ValueError that says what the limits mean."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not low <= value <= high:
        raise ValueError(f"{name} is {value!r}, expected a whole number from {low} to {high} ({meaning})")
    return int(value)


def seeded(seed: int) -> int:
    """A seed that numpy and scikit-learn both accept."""
    return whole("seed", seed, 0, 2**32 - 1, "what numpy and scikit-learn accept")


def unit(rows: Any, *, refuse: str = "") -> Any:
    """Rows scaled to length 1, dense or CSR, in their own precision; a row of zeros, which has no direction, stays
    zero.

    If `refuse`, the name of the rows, is given, a row of zeros raises a ValueError with its number.
    """
    half = rows.dtype == np.float16
    if sparse.issparse(rows):
        lengths = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
    else:
        # in float16, squares of 256 and more overflow
        lengths = np.linalg.norm(rows.astype(np.float32) if half else rows, axis=1)
    zero = np.flatnonzero(lengths == 0)
    if refuse and len(zero):
        raise ValueError(
            f"{refuse} has a zero vector in row {zero[0]} ({len(zero)} in all), but a cosine needs a direction in "
            "every row. Drop these sentences or encode them with another method"
        )
    lengths[zero] = 1
    if sparse.issparse(rows):
        return sparse.csr_array(sparse.diags_array(1 / lengths).astype(rows.dtype) @ rows)
    directions = rows / lengths[:, None]
    return directions.astype(np.float16) if half else directions


def positive_peaks(columns: np.ndarray) -> np.ndarray:
    """Columns (n, p), each with a positive largest entry, which fixes the arbitrary sign of eigenvectors."""
    largest = np.take_along_axis(columns, np.abs(columns).argmax(axis=0, keepdims=True), 0)
    return columns * np.where(largest < 0, -1.0, 1.0)

"""FILM for scikit-learn: an estimator on rows, dense or CSR, with the words of metric-learn.

In: rows X (n, D) with labels, or with triplets of row numbers. Out: `components_` L (d, D), `y = L x`, and the
similarity `x Lᵀ L x'` of pairs. (metric-learn's learners refuse sparse rows.) Triplets tell L up to its size, which
would follow the margin and the ridge: here the fitted rows have length 1, in the root mean square, so that what comes
after need not be told to scale (a logistic regression on rows of length .1 is all penalty).
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from labkit.arrays import array_of, whole
from labkit.evaluation import best_threshold
from labkit.film.solvers import Plan, learn
from labkit.film.triplets import Clusters, Recipe, cluster_triplets

_DEFAULT = 100
_WHOLE = (
    ("n_components", 1, "rows of L; None for as many as the rank allows, up to 100"),
    ("rank", 1, "features before L; None lets the solver decide"),
    ("max_iter", 0, "steps of the descent"),
    ("batch_size", 1, "anchors at a time; None takes all at once"),
    ("positives", 1, "how many an anchor gets"),
    ("negatives", 1, "how many an anchor gets"),
)


class FILM(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Metric learning from triplets, by one of the three settings of `labkit.film.solvers`.

    `n_components` None: 100, or as many as the rank allows. `rank`: features before L; None lets the solver decide.
    `batch_size`: anchors at a time (M-FILM); None takes all at once. `positives` and `negatives`: how many each anchor
    gets when triplets are made from labels.

    After `fit`: `components_` (d, D), `history_`, and after `calibrate_threshold` also `threshold_`.
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        solver: str = "full-rank",
        rank: int | None = None,
        ridge: float = 1.0,
        margin: float = 1.0,
        max_iter: int = 12,
        batch_size: int | None = None,
        positives: int = 2,
        negatives: int = 5,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_components = n_components
        self.solver = solver
        self.rank = rank
        self.ridge = ridge
        self.margin = margin
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.positives = positives
        self.negatives = negatives
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, triplets: Any = None) -> Self:
        """Learn from labels y (n,), or from triplets (t, 3) of row numbers, "the first is closer to the second"."""
        if not sparse.issparse(X):
            array_of("X", X)  # of a bfloat16 tensor scikit-learn says only that it cannot
        checks = {"accept_sparse": "csr", "dtype": np.float64, "ensure_min_samples": 2}
        if triplets is None:
            X, y = validate_data(self, X, y, **checks)
            check_classification_targets(y)
        else:
            X = validate_data(self, X, **checks)
        X = sparse.csr_matrix(X)
        plan = self._plan()
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        if triplets is None:
            recipe = Recipe(positives=self.positives, random=self.negatives)
            triplets = cluster_triplets(Clusters.from_classes(y), recipe, seed=seed)
        else:
            triplets = _checked(triplets, X.shape[0])
        learned = learn(X, triplets, plan, seed=seed)
        L = learned.L
        if self.n_components is not None and len(L) < self.n_components:
            raise ValueError(
                f"n_components is {self.n_components}, expected at most {len(L)}: no further direction brings "
                "rows closer to those of their class than to others; lower it or leave it None"
            )
        length = np.sqrt(np.square(X @ np.ascontiguousarray(L.T)).sum(axis=1).mean())
        self.components_ = L / length if length > 0 else L
        self.history_ = learned.rows
        self.n_iter_ = max(len(learned.rows) - 1, 1)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """`y = L x` for each row: (n, d)."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        return np.asarray(X @ np.ascontiguousarray(self.components_.T))

    def get_mahalanobis_matrix(self) -> np.ndarray:
        """`LᵀL` (D, D), dense; for a vocabulary too large to square, `components_` says the same."""
        check_is_fitted(self)
        return self.components_.T @ self.components_

    def pair_score(self, pairs: Any) -> np.ndarray:
        """`yᵀy'` (eq. 1) of each pair, larger is closer. Pairs are two matrices, row by row, or an array (p, 2, D)."""
        a, b = (pairs[:, 0], pairs[:, 1]) if isinstance(pairs, np.ndarray) and pairs.ndim == 3 else pairs
        a, b = self.transform(a), self.transform(b)
        if len(a) != len(b):
            raise ValueError(
                f"pairs has {len(a)} rows on one side and {len(b)} on the other, expected as many; pair them"
            )
        return (a * b).sum(axis=1)

    def calibrate_threshold(self, pairs: Any, y: Any) -> Self:
        """Set `threshold_` to the score that parts these pairs best: 1 same, 0 not. Give pairs that were not fitted."""
        self.threshold_ = best_threshold(self.pair_score(pairs), y)
        return self

    def predict_pairs(self, pairs: Any) -> np.ndarray:
        """1 for pairs above the threshold, else 0."""
        if not hasattr(self, "threshold_"):
            raise ValueError("threshold_ is not there, expected calibrate_threshold(pairs, y) before predict_pairs")
        return (self.pair_score(pairs) > self.threshold_).astype(np.int64)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def _plan(self) -> Plan:
        for name, least, what in _WHOLE:
            if (value := getattr(self, name)) is not None:
                whole(name, value, least, 2**31, what)
        d = _DEFAULT if self.n_components is None else self.n_components
        rank = max(self.rank or 0, d) if self.n_components is None and self.rank else self.rank or 0
        return Plan(
            solver=self.solver,
            dimensions=d,
            rank=rank,
            ridge=self.ridge,
            margin=self.margin,
            iterations=self.max_iter,
            batch=self.batch_size or 0,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


def _checked(triplets: Any, count: int) -> np.ndarray:
    triplets = np.asarray(triplets)
    if triplets.ndim != 2 or triplets.shape[1] != 3 or not len(triplets) or triplets.dtype.kind not in "iu":
        raise ValueError(
            f"triplets has shape {triplets.shape} and dtype {triplets.dtype}, expected (t, 3) whole row numbers, t >= 1"
        )
    if triplets.min() < 0 or triplets.max() >= count:
        raise ValueError(f"triplets name row {triplets.max()}, expected rows 0 to {count - 1} of X")
    return triplets.astype(np.int64)

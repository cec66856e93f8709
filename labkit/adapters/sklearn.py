"""Any method as a transformer of scikit-learn's, over lists of texts: `Pipeline`, `GridSearchCV`, `cross_val_score`.

    pipeline = make_pipeline(Embedder("lsa"), LogisticRegression()).fit(texts, classes)
    GridSearchCV(pipeline, {"embedder__dimension": [50, 100], "logisticregression__C": [1, 10]}).fit(texts, classes)

In: texts (n,) or pairs of texts (n, 2), as lists, arrays, columns of a frame. Out: what `encode` gives, float32 (n, d),
CSR from the methods that stay sparse; of pairs |u - v| and u · v of their vectors at length 1, side by side (n, 2d), so
that the sum of the second half is the cosine. What `fit` makes of y:

    texts, a class each       classes, for the methods that learn from labels; the others look at the texts alone
    texts, no y               texts without labels; so, too, where y is of no classes: a regression's, several columns
    pairs, 0 and 1            pairs that mean the same, or not
    pairs, other numbers      how near they are
    pairs, no y               their texts without labels
    a corpus, no y            what it is, with its own splits: the way to groups, triplets and articles

All rows that `fit` is given are trained on, because scikit-learn divides them itself: there is no dev split, and a
network keeps its last epoch. What has learned already is `FunctionTransformer(method.encode)`.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable
from numbers import Real
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from labkit.corpora.records import Corpus, Groups, Labelled, Pairs
from labkit.method import Embeddings
from labkit.methods import METHODS


class Embedder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A method by its name in `METHODS`, with settings; a whole number as `random_state` is the seed itself.

    With the same settings, seed and rows it learns what `METHODS[method](...).fit` does, to the last bit. `get_params`
    has all settings of the method, for grids; given another method, it forgets those that this one does not have.

    After `fit`: `method_`, the method that has learned, with `encode`, `similarity`, `history` and `save`.
    """

    def __init__(
        self, method: str = "lsa", *, random_state: int | np.random.RandomState | None = 0, **settings: Any
    ) -> None:
        self.method = method
        self.random_state = random_state
        self._settings = settings

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The method, the random state, and each setting of the method."""
        return super().get_params(deep) | self._defaults() | self._settings

    def set_params(self, **params: Any) -> Self:
        """Set the method, then what is a setting of it."""
        self.method = params.pop("method", self.method)
        known = self._defaults() or self._settings
        kept = {name: value for name, value in self._settings.items() if name in known}
        self._settings = kept | {name: params.pop(name) for name in known if name in params}
        for name in params.keys() - {"random_state"} if self._known() else ():
            METHODS[self.method].Settings.named(name)  # which says what is near
        super().set_params(**params)
        return self

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from texts, pairs of texts or a corpus, with what y says of them."""
        if not self._known():
            raise ValueError(f"method is {self.method!r}, expected one of {', '.join(METHODS)}; name one")
        method = METHODS[self.method](**self._settings)
        seed = self.random_state
        if not isinstance(seed, int | np.integer):
            seed = check_random_state(seed).randint(2**31 - 1)
        method.fit(_corpus(X, y), seed=int(seed))
        self.method_ = method
        self._of_pairs = not isinstance(X, Corpus) and _columns(X)[1] is not None
        return self

    def transform(self, X: Any) -> Embeddings:
        """The vectors of texts (n, d); of pairs |u - v| and u · v (n, 2d)."""
        check_is_fitted(self)
        texts, others = _columns(X)
        if others is None:
            return self.method_.encode(texts)
        u, v = (self.method_.encode(each, normalize_embeddings=True) for each in (texts, others))  # (n, d) each
        halves = [abs(u - v), u * v]
        return sparse.csr_array(sparse.hstack(halves)) if sparse.issparse(u) else np.hstack(halves)

    def _known(self) -> bool:
        return isinstance(self.method, str) and self.method in METHODS

    def _defaults(self) -> dict[str, Any]:
        """The settings of the method as they are when nobody sets them; of no known method none."""
        settings = dataclasses.fields(METHODS[self.method].Settings) if self._known() else ()
        return {each.name: each.default for each in settings}

    @property
    def _n_features_out(self) -> int:
        return self.method_.encode([]).shape[1] * (2 if self._of_pairs else 1)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array = True, False
        tags.transformer_tags.preserves_dtype = []
        return tags


def _corpus(X: Any, y: Any) -> Corpus:
    """What is learned from: every row in the training split, under the shape that X and y have together."""
    if isinstance(X, Corpus):
        if y is not None:
            raise ValueError(
                f"X is the corpus {X.name!r} and y is given, too, expected none; the corpus has its labels"
            )
        return X
    texts, others = _columns(X)
    every = [*texts, *(others or ())]
    labels = None if y is None else _labels(y, len(texts))
    shared: dict[str, Any] = {"name": "X", "splits": "train"}
    if others is not None and labels is not None:
        values = [_degree(row, value) for row, value in enumerate(labels)]
        return Pairs(texts, others, values, graded=not set(values) <= {0, 1}, **shared)
    if labels is None or not all(map(_names_a_class, labels)):
        return Groups(every, list(map(str, range(len(every)))), **shared)  # each by itself: nothing is known of it
    return Labelled(texts, list(map(str, labels)), **shared)


def _columns(X: Any) -> tuple[list[str], list[str] | None]:
    """The texts of X, or the first and the second texts of its pairs."""
    rows = X.to_numpy() if hasattr(X, "to_numpy") else X  # of a frame's column, or of two
    if isinstance(rows, str) or not isinstance(rows, Iterable):
        raise ValueError(f"X is {X!r:.60}, expected a list of texts or of pairs of texts; put it in brackets")
    rows = [row if isinstance(row, str) or not isinstance(row, Iterable) else tuple(row) for row in rows]
    size = 2 if rows and isinstance(rows[0], tuple) else 1
    for number, row in enumerate(rows):
        each = row if isinstance(row, tuple) else (row,)
        if len(each) != size or not all(isinstance(text, str) for text in each):
            raise ValueError(
                f"X[{number}] is {row!r:.60}, expected {'two texts' if size == 2 else 'a text'}; drop the row or fill "
                "it in (df['text'] is a column of texts, df[['text_a', 'text_b']] are pairs)"
            )
    if size == 1:
        return list(map(str, rows)), None
    return [str(first) for first, _ in rows], [str(second) for _, second in rows]


def _labels(y: Any, count: int) -> list[Any]:
    """What y says of each row: nothing may be missing."""
    import pandas

    labels = np.asarray(y, dtype=object)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.shape[:1] != (count,):
        raise ValueError(
            f"y has shape {labels.shape}, expected ({count},), a class or a number for each of X; check it"
        )
    if labels.ndim == 1 and (missing := pandas.isna(labels)).any():
        row = int(np.argmax(missing))
        raise ValueError(f"y[{row}] is {labels[row]!r}, expected a class or a number; drop the row or fill it in")
    return list(labels)


def _names_a_class(label: Any) -> bool:
    if isinstance(label, Real):
        return float(label).is_integer()
    return not isinstance(label, Iterable) or isinstance(label, str)


def _degree(row: int, value: Any) -> float:
    if not isinstance(value, Real) or not math.isfinite(value):
        raise ValueError(f"y[{row}] is {value!r}, expected of a pair 1 (the same), 0 (not) or a number, how near it is")
    return float(value)

"""Any method as a scikit-learn transformer of texts: `Pipeline`, `GridSearchCV`, `cross_val_score`.

    pipeline = make_pipeline(Embedder("lsa"), LogisticRegression()).fit(texts, classes)
    GridSearchCV(pipeline, {"embedder__dimension": [50, 100], "logisticregression__C": [1, 10]}).fit(texts, classes)

In: texts (n,) or pairs of texts (n, 2), as lists, arrays or columns of a frame. Out: the output of `encode`, float32
(n, d), CSR for sparse methods; for pairs, |u - v| and u · v of their unit vectors, side by side (n, 2d), so that the
second half sums to the cosine. How `fit` reads y:

    texts, a class each       classes, for methods that learn from labels; other methods ignore them
    texts, no y               texts without labels; also if y has no classes (a regression, several columns)
    pairs, 0 and 1            pairs with the same meaning (1) or different meanings (0)
    pairs, other numbers      grades of similarity
    pairs, no y               their texts without labels
    a corpus, no y            the corpus with its own splits: needed for groups, triplets and articles

`fit` trains on all rows that it receives, because scikit-learn splits them itself. Without a dev split, a network keeps
the weights of its last epoch. For a method that is already fitted, use `FunctionTransformer(method.encode)`.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from labkit.corpora.records import Corpus, Labelled, Pairs, Sentences
from labkit.evaluation.pairs import pair_features
from labkit.method import Embeddings
from labkit.methods import METHODS


class Embedder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A method by its name in `METHODS`, with its settings; an integer `random_state` is used as the seed.

    With the same settings, seed and rows, the model equals that of `METHODS[method](...).fit` to the last bit.
    `get_params` lists all settings of the method, for grids; changing the method drops settings that the new method
    does not have.

    After `fit`: `method_`, the fitted method, with `encode`, `similarity`, `history` and `save`.

    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> texts, classes = ["a cat naps", "a cat eats", "an oak grows", "an oak falls"], ["pet", "pet", "tree", "tree"]
    >>> pipeline = make_pipeline(Embedder("lsa", dimension=2), LogisticRegression()).fit(texts, classes)
    >>> pipeline.predict(["the cat", "the oak"])
    array(['pet', 'tree'], dtype='<U4')
    """

    def __init__(
        self, method: str = "lsa", *, random_state: int | np.random.RandomState | None = 0, **settings: Any
    ) -> None:
        self.method = method
        self.random_state = random_state
        self._settings = settings

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the method, the random state, and each setting of the method."""
        return super().get_params(deep) | self._defaults() | self._settings

    def set_params(self, **params: Any) -> Self:
        """Set the method, then its settings."""
        self.method = params.pop("method", self.method)
        known = self._defaults() or self._settings
        kept = {name: value for name, value in self._settings.items() if name in known}
        self._settings = kept | {name: params.pop(name) for name in known if name in params}
        for name in params.keys() - {"random_state"} if self._defaults() else ():
            METHODS[self.method].Settings.named(name)  # the error names the nearest setting
        super().set_params(**params)
        return self

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from texts, pairs of texts or a corpus, with labels y."""
        if not self._defaults():
            raise ValueError(f"method is {self.method!r}, expected one of {', '.join(METHODS)}")
        method = METHODS[self.method](**self._settings)
        seed = self.random_state
        if not isinstance(seed, int | np.integer):
            seed = check_random_state(seed).randint(2**31 - 1)
        method.fit(corpus_of(X, y), seed=int(seed))
        self.method_ = method
        self._of_pairs = not isinstance(X, Corpus) and text_columns(X).ndim == 2
        return self

    def transform(self, X: Any) -> Embeddings:
        """Return the vectors of texts (n, d), or |u - v| and u · v of pairs (n, 2d)."""
        check_is_fitted(self)
        texts = text_columns(X)
        if texts.ndim == 1:
            return self.method_.encode(texts.tolist())
        u, v = (self.method_.encode(side.tolist(), normalize_embeddings=True) for side in texts.T)  # (n, d) each
        features = pair_features(u, v)
        return sparse.csr_array(features) if sparse.issparse(features) else features

    def _defaults(self) -> dict[str, Any]:
        """Return the default of each setting of the method; nothing for an unknown method."""
        known = isinstance(self.method, str) and self.method in METHODS
        return {each.name: each.default for each in dataclasses.fields(METHODS[self.method].Settings)} if known else {}

    @property
    def _n_features_out(self) -> int:
        return self.method_.encode([]).shape[1] * (2 if self._of_pairs else 1)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array = True, False
        tags.transformer_tags.preserves_dtype = []
        return tags


def corpus_of(X: Any, y: Any) -> Corpus:
    """Return the corpus that `fit` learns from: all rows in the training split; X and y determine its shape."""
    if isinstance(X, Corpus):
        if y is not None:
            raise ValueError(f"X is the corpus {X.name!r}, which has its own labels; omit y")
        return X
    texts = text_columns(X)
    labels = None if y is None else checked_labels(y, len(texts))
    shared: dict[str, Any] = {"name": "X", "splits": "train"}
    if texts.ndim == 2 and labels is not None:
        try:
            grades = np.asarray(labels, dtype=float).tolist()
        except ValueError as error:
            raise ValueError("y for pairs contains text, expected 1 (same), 0 (different) or a similarity") from error
        a, b = texts.T.tolist()
        return Pairs(a, b, grades, not set(grades) <= {0, 1}, **shared)
    if labels is None or type_of_target(labels) not in ("binary", "multiclass"):
        return Sentences(texts.T.ravel().tolist(), **shared)
    return Labelled(texts.tolist(), list(map(str, labels)), **shared)


def text_columns(X: Any) -> np.ndarray:
    """Return the texts of X (n,), or its pairs of texts (n, 2)."""
    if isinstance(X, str):
        raise ValueError(f"X is {X!r:.60}, expected a list of texts or of pairs of texts; put it in brackets")
    texts = np.asarray(X if hasattr(X, "__array__") else list(X), dtype=object)
    if texts.shape[1:] not in ((), (2,)):
        raise ValueError(
            f"X has shape {texts.shape}, expected (n,), such as df['text'], or (n, 2), such as df[['text_a', 'text_b']]"
        )
    for (row, *_), text in np.ndenumerate(texts):
        if not isinstance(text, str):
            raise ValueError(f"X[{row}] is {text!r:.60}, expected a text; drop the row or fill it in")
    return texts


def checked_labels(y: Any, count: int) -> list[Any]:
    """Return the label of each row; raise ValueError if one is missing."""
    import pandas

    labels = np.asarray(y, dtype=object)
    if labels.shape[1:] == (1,):
        labels = labels[:, 0]
    if labels.shape[:1] != (count,):
        raise ValueError(f"y has shape {labels.shape}, expected ({count},): a class or a number for each row of X")
    if (missing := pandas.isna(labels)).any():
        row = int(np.argwhere(missing)[0, 0])
        raise ValueError(f"y[{row}] is missing, expected a class or a number; drop the row or fill it in")
    return labels.tolist()

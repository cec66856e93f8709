"""Find suspicious labels: labels that are contradicted by several methods trained without them.

    doubts(corpus) -> Doubts

Each method predicts every row's label, group or score from the other folds (for groups and many classes: from the
nearest other rows). The mean probability of the row's own label is its support; rows with the least support come first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from labkit.arrays import unit
from labkit.baselines.sbert import PROBE, Sbert
from labkit.corpora.frames import from_sentences
from labkit.corpora.records import Corpus, Pairs
from labkit.evaluation.neighbours import blocks, dots, sampled
from labkit.evaluation.pairs import pair_features
from labkit.pretrained import packaged_folder
from labkit.text import tokens, words
from labkit.trials.metrics import frozen_rows

LEAST_JUDGED, JUDGED = 50, 10_000  # minimum and maximum number of rows to judge
FOLDS = 5
GRAMS_KEPT = 20_000  # the most frequent n-grams, so that a weight for each n-gram and class fits in memory
MANY = 60  # number of classes above which neighbours judge a label instead of logistic regression
APART = 1 / 3  # share of the scale by which two contradictory grades differ
GRAMS: dict[str, Any] = {"analyzer": "char_wb", "ngram_range": (2, 4), "sublinear_tf": True, "dtype": np.float32}


@dataclass(frozen=True)
class Doubts:
    """Predicted labels, by methods that were not trained on these rows."""

    rows: np.ndarray  # (n,) the judged rows
    support: np.ndarray  # (n,) mean probability of the given label: the lower, the more suspicious
    suggested: np.ndarray  # (n,) the label, group or score they predict on average
    contradicted: np.ndarray  # (n,) whether all methods predict another label
    methods: int


def doubts(corpus: Corpus, *, seed: int = 0, model: bool = True, folder: Path | None = None) -> Doubts | None:
    """Judge each label with cheap methods, out of fold; None if there are no labels or too few rows.

    `model`: whether to include MiniLM, if installed; it takes most of the time. The `folder` keeps its vectors.
    """
    rows = sampled(np.arange(len(corpus)), JUDGED, seed)
    if isinstance(corpus, Pairs):
        return _of_pairs(corpus.take(rows), rows, seed, model, folder) if len(rows) >= LEAST_JUDGED else None
    names = np.array(corpus.classified()[1], object)[rows] if corpus.CLASSES else np.zeros(0, object)
    classes, codes, counts = np.unique(names, return_inverse=True, return_counts=True)
    few = len(classes) <= MANY
    enough = counts[codes] >= (FOLDS if few else 2)
    rows, kept, codes = rows[enough], *np.unique(codes[enough], return_inverse=True)
    if len(rows) < LEAST_JUDGED or len(kept) < 2:
        return None
    views = _views([getattr(corpus, corpus.TEXTS[0])[row] for row in rows], model, folder)
    return (_of_classes if few else _of_neighbours)(views, codes, classes[kept], rows, seed)


def _of_pairs(pairs: Pairs, rows: np.ndarray, seed: int, model: bool, folder: Path | None) -> Doubts | None:
    """A forest and a linear model on the overlap of two texts, and a linear model on the words that differ."""
    from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    target = pairs.scores if pairs.graded else pairs.labels
    if not pairs.graded and np.bincount(target, minlength=2).min() < FOLDS:
        return None
    texts, ends = pairs.numbered()
    views = _views(texts, model, folder)
    overlap, (left, right) = _overlap(texts, ends, views), (views[0][side] for side in ends.T)
    differences = pair_features(left, right)
    linear: Any = Ridge() if pairs.graded else LogisticRegression(max_iter=1_000)
    trees: Any = ExtraTreesRegressor if pairs.graded else ExtraTreesClassifier
    forest = trees(100, max_features=None, min_samples_leaf=5, random_state=seed)
    models = [(forest, overlap), (make_pipeline(StandardScaler(), linear), overlap), (linear, differences)]
    guesses = _out_of_fold(models, target, seed)  # (methods, n) for scores, (methods, n, 2) for labels
    if not pairs.graded:
        return _doubts(guesses, target, np.array([0, 1], object), rows)
    scale, mean = np.ptp(target) or 1.0, guesses.mean(axis=0)
    contradicted = (np.abs(guesses - target) / scale > APART).all(axis=0)
    suggested = np.round(mean, 2).astype(object)
    return Doubts(rows, 1 - np.abs(mean - target) / scale, suggested, contradicted, len(guesses))


def _of_classes(views: Sequence[Any], codes: np.ndarray, classes: np.ndarray, rows: np.ndarray, seed: int) -> Doubts:
    """A logistic regression on each view."""
    from sklearn.linear_model import LogisticRegression

    guesses = _out_of_fold([(LogisticRegression(C=10, max_iter=300), view) for view in views], codes, seed)
    return _doubts(guesses, codes, classes, rows)


def _of_neighbours(views: Sequence[Any], codes: np.ndarray, classes: np.ndarray, rows: np.ndarray, seed: int) -> Doubts:
    """How much nearer the nearest row of the same class is than the nearest row of another class, in each view."""
    margins, near = np.zeros((len(views), len(codes))), np.zeros((len(views), len(codes)), int)
    for method, view in enumerate(views):
        for block in blocks(len(codes), len(codes)):
            cosines = dots(view[block], view)
            cosines[np.arange(len(cosines)), np.arange(len(codes))[block]] = -1
            own = codes[block][:, None] == codes
            others = np.where(own, -1, cosines)
            near[method, block] = codes[others.argmax(axis=1)]
            margins[method, block] = np.where(own, cosines, -1).max(axis=1) - others.max(axis=1)
    return Doubts(rows, margins.mean(axis=0), classes[near[-1]], np.asarray((margins < 0).all(axis=0)), len(views))


def _doubts(guesses: np.ndarray, codes: np.ndarray, classes: np.ndarray, rows: np.ndarray) -> Doubts:
    """Doubts from the probabilities that each method gives each class, (methods, n, classes)."""
    mean, contradicted = guesses.mean(axis=0), (guesses.argmax(axis=2) != codes).all(axis=0)
    support = mean[np.arange(len(codes)), codes]
    return Doubts(rows, support, classes[mean.argmax(axis=1)], contradicted, len(guesses))


def _out_of_fold(models: Sequence[tuple[Any, Any]], target: np.ndarray, seed: int) -> np.ndarray:
    """Each model's prediction for each row, when trained on the other folds."""
    from sklearn.base import is_classifier
    from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict

    def guess(model: Any, features: Any) -> np.ndarray:
        kind, method = (StratifiedKFold, "predict_proba") if is_classifier(model) else (KFold, "predict")
        folds = kind(FOLDS, shuffle=True, random_state=seed)
        return np.asarray(cross_val_predict(model, features, target, cv=folds, method=method))

    return np.stack([guess(*each) for each in models])


def _views(texts: Sequence[str], model: bool, folder: Path | None) -> list[Any]:
    """Normalised rows for each text: words, character n-grams, and MiniLM if it is installed."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    views = [
        TfidfVectorizer(analyzer=tokens, sublinear_tf=True).fit_transform(texts),
        TfidfVectorizer(**GRAMS, max_features=GRAMS_KEPT).fit_transform(texts),
    ]
    if model and find_spec("sentence_transformers") and packaged_folder():
        minilm = Sbert()
        minilm.fit(from_sentences([PROBE]))
        views.append(unit(frozen_rows(minilm, texts, folder) if folder else minilm.encode(texts)))
    return views


def _overlap(texts: Sequence[str], ends: np.ndarray, views: Sequence[Any]) -> np.ndarray:
    """Features of each pair's overlap: cosines in each view, shared words, word pairs and numbers, lengths."""
    columns = []
    for view in views:
        left, right = (view[side] for side in ends.T)
        products = left.multiply(right) if sparse.issparse(view) else left * right
        columns.append(np.asarray(products.sum(axis=1)).ravel())
    cut = [words(text) for text in texts]
    return np.column_stack([*columns, [_shared(cut[i], cut[j]) for i, j in ends.tolist()]])


def _shared(a: list[str], b: list[str]) -> list[float]:
    """The overlap of two sentences' words: of all, of the shorter, of word pairs; numbers; lengths."""
    left, right = set(a), set(b)
    both, two, odd = len(left & right), [set(pairwise(a)), set(pairwise(b))], left ^ right
    shares = [both / max(1, len(left | right)), both / max(1, min(len(left), len(right)))]
    shares += [len(two[0] & two[1]) / max(1, len(two[0] | two[1])), min(len(a), len(b)) / max(1, len(a), len(b))]
    return [*shares, float(len(odd)), float(sum(word[0].isdigit() for word in odd)), float(max(len(a), len(b)))]

"""`Embedder`: bitwise the method's own vectors, a grid search against plain loops, scikit-learn's estimator checks."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import fields
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn.utils.estimator_checks as checks
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import Pipeline

from labkit import METHODS
from labkit.adapters.sklearn import Embedder
from labkit.corpora import Labelled, Pairs, Sentences, load
from labkit.method import Method
from tests.test_contract import labelled, pairs, small, triplets

CLASSES, PAIRS = labelled(), pairs()
TEXTS, LABELS = list(CLASSES.texts), list(CLASSES.labels)
COUPLES = list(zip(PAIRS.text_a, PAIRS.text_b, strict=True))
NEED_CLASSES = {"sentpwnet", "siamese", "triplet", "bag", "static", "film", "film-deep"}
NEED_MORE = {"pthought", "thematic"}


def embedder(name: str, **settings: Any) -> Embedder:
    """An embedder with the small settings of the contract tests."""
    known = small(name).settings.values()
    changed = {each.name: known[each.name] for each in fields(small(name).settings) if known[each.name] != each.default}
    return Embedder(name, random_state=3, **changed | settings)


def alone(name: str, corpus: Any) -> Method:
    method = small(name)
    method.fit(corpus, seed=3)
    return method


def equal(a: Any, b: Any) -> bool:
    a, b = (each.toarray() if sparse.issparse(each) else each for each in (a, b))
    return np.array_equal(a, b)


@pytest.mark.parametrize("name", ["bag", "tfidf", "film", "pca", "pthought", "thematic"])
def test_fit_on_classes_equals_the_method_alone(name: str) -> None:
    if name in NEED_MORE:
        with pytest.raises(ValueError, match="paraphrase|triplets"):
            embedder(name).fit(TEXTS, LABELS)
        return
    made = embedder(name)
    vectors = made.fit_transform(TEXTS, LABELS)
    other = alone(name, Labelled(TEXTS, LABELS, splits="train"))
    assert equal(vectors, other.encode(TEXTS))
    assert vectors.dtype == np.float32
    assert len(made.get_feature_names_out()) == vectors.shape[1]
    assert equal(deepcopy(made).transform(TEXTS), vectors)


@pytest.mark.parametrize("name", ["bag", "film", "lsa", "pv-dbow", "thematic"])
def test_fit_without_classes_equals_the_method_alone_or_is_refused(name: str) -> None:
    for y in (None, np.repeat(np.linspace(0.1, 1, len(TEXTS) // 2), 2), np.ones((len(TEXTS), 2))):
        if name in NEED_CLASSES or name in NEED_MORE:
            with pytest.raises(ValueError, match="label"):
                embedder(name).fit(TEXTS, y)
        else:
            vectors = embedder(name).fit(TEXTS, y).transform(TEXTS[:5])
            other = alone(name, Sentences(TEXTS, splits="train"))
            assert equal(vectors, other.encode(TEXTS[:5]))


@pytest.mark.parametrize("name", ["bag", "tfidf", "pthought"])
def test_pairs_become_differences_and_products(name: str) -> None:
    for y, asked in ((PAIRS.labels, False), (pairs(graded=True).scores, True)):
        if name == "pthought" and asked:
            continue
        made = embedder(name).fit(COUPLES, y)
        a, b = zip(*COUPLES, strict=True)
        other = alone(name, Pairs(a, b, np.asarray(y, float), graded=asked, splits="train"))
        rows = made.transform(COUPLES)
        u, v = (other.encode(list(side), normalize_embeddings=True) for side in (a, b))
        u, v, rows = (each.toarray() if sparse.issparse(each) else each for each in (u, v, rows))
        expected = [
            [abs(x - y) for x, y in zip(*pair, strict=True)] + [x * y for x, y in zip(*pair, strict=True)]
            for pair in zip(u, v, strict=True)
        ]
        np.testing.assert_array_equal(rows, np.array(expected, np.float32))
        np.testing.assert_allclose(rows[:, u.shape[1] :].sum(1), other.similarity_pairwise(a, b), atol=1e-6)
        assert len(made.get_feature_names_out()) == rows.shape[1]
        assert equal(made.transform(list(a)), other.encode(list(a)))  # single texts are encoded as texts


def test_fit_on_a_corpus() -> None:
    made = embedder("thematic").fit(triplets())
    assert equal(made.transform(TEXTS[:4]), alone("thematic", triplets()).encode(TEXTS[:4]))
    with pytest.raises(ValueError, match="y"):
        embedder("thematic").fit(triplets(), [1])


@pytest.fixture(scope="module")
def topics() -> tuple[list[str], list[str]]:
    rows = range(0, 2000, 16)
    corpus = load("topics")
    return [corpus.texts[row] for row in rows], [corpus.labels[row] for row in rows]


def test_grid_search_equals_plain_loops(topics: tuple[list[str], list[str]]) -> None:
    texts, classes = topics
    folds = StratifiedKFold(2, shuffle=True, random_state=1)
    pipeline = Pipeline([("embedder", Embedder("lsa", random_state=5)), ("linear", LogisticRegression(max_iter=300))])
    grid = {"embedder__dimension": [3, 20], "linear__C": [0.1, 10.0]}
    search = GridSearchCV(pipeline, grid, cv=folds, error_score="raise").fit(texts, classes)
    expected = []
    for C in (0.1, 10.0):
        for dimension in (3, 20):
            scores = []
            for train, test in folds.split(texts, classes):
                mine = [texts[row] for row in train]
                method = METHODS["lsa"](dimension=dimension)
                method.fit(Labelled(mine, [classes[row] for row in train], splits="train"), seed=5)
                linear = LogisticRegression(C=C, max_iter=300).fit(method.encode(mine), [classes[row] for row in train])
                scores.append(linear.score(method.encode([texts[row] for row in test]), [classes[row] for row in test]))
            expected.append((dimension, C, np.mean(scores)))
    found = {
        (params["embedder__dimension"], params["linear__C"]): score
        for params, score in zip(search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True)
    }
    assert found == {(dimension, C): pytest.approx(score) for dimension, C, score in expected}
    assert search.best_params_ == {"embedder__dimension": 20, "linear__C": 10.0}
    assert search.best_estimator_["embedder"].method_.settings.dimension == 20


OWN_CHECKS: list[Callable[[str, Any], None]] = [
    getattr(checks, name)
    for name in (
        "check_estimator_cloneable",
        "check_estimator_repr",
        "check_no_attributes_set_in_init",
        "check_do_not_raise_errors_in_init_or_set_params",
        "check_get_params_invariance",
        "check_set_params",
        "check_parameters_default_constructible",
        "check_mixin_order",
        "check_valid_tag_types",
        "check_estimator_tags_renamed",
        "check_estimators_unfitted",
    )
    if hasattr(checks, name)  # some are newer than the oldest supported version
]


@pytest.mark.parametrize("check", OWN_CHECKS, ids=lambda check: check.__name__)
def test_own_checks_of_scikit_learn(check: Callable[[str, Any], None]) -> None:
    check("Embedder", Embedder("bag", epochs=1, random_state=None))


def test_get_and_set_params() -> None:
    made = Embedder("sif", dimension=7)
    settings = METHODS["sif"](dimension=7).settings.values()
    assert made.get_params() == {"method": "sif", "random_state": 0, **settings}
    copy = clone(made).set_params(a=0.5)
    assert copy.get_params() == made.get_params() | {"a": 0.5}
    assert copy.set_params(method="lsa").get_params() == Embedder("lsa", dimension=7).get_params()
    assert clone(copy).fit(TEXTS).method_.settings == METHODS["lsa"](dimension=7).settings
    with pytest.raises(ValueError, match="'dimensions'"):
        copy.set_params(dimensions=3)
    with pytest.raises(ValueError, match="'dimensions'"):
        Embedder("lsa", dimensions=3).fit(TEXTS)
    with pytest.raises(ValueError, match="'lsaa'"):
        Embedder("lsaa").fit(TEXTS)


N = len(TEXTS)
BAD: dict[str, tuple[Any, Any, str]] = {
    "one text": ("a text", None, "X"),
    "nothing": ([], None, "X"),
    "NaN": ([*TEXTS, float("nan")], None, rf"X\[{N}\]"),
    "empty": (["a", " "], None, "row 2"),
    "one column": (pd.DataFrame({"text": TEXTS}), None, "X has shape"),
    "mixed": ([("a", "b"), "c"], None, r"X\[0\]"),
    "three": ([("a", "b", "c")], None, "X has shape"),
    "y short": (TEXTS, LABELS[1:], "y"),
    "y NaN": (TEXTS, [float("nan"), *LABELS[1:]], r"y\[0\]"),
    "y of pairs": (COUPLES, ["same"] * len(COUPLES), "^y "),
    "y infinite": (COUPLES, [np.inf] * len(COUPLES), "row 1"),
    "one class": (TEXTS, ["x"] * N, "class"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_with_its_row(name: str) -> None:
    X, y, place = BAD[name]
    with pytest.raises(ValueError, match=place):
        Embedder("bag", epochs=1, dimension=4).fit(X, y)

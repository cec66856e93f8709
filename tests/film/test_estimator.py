"""The estimator keeps scikit-learn's contract, takes sparse rows, and has metric-learn's words."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from labkit.film import FILM
from labkit.film.solvers import SOLVERS


@pytest.mark.filterwarnings("ignore:in no direction")
@pytest.mark.parametrize("seed", [5, 6, 109])
def test_labels_without_meaning_can_be_fitted(seed: int) -> None:
    # scikit-learn's checks draw such labels and leave the seed open; with 6 and 109 no direction helps
    random = np.random.RandomState(0)
    X = random.uniform(size=(40, 3))
    X[X < 0.6] = 0
    found = FILM(random_state=seed).fit(sparse.csr_matrix(X), (4 * random.uniform(size=40)).astype(int))
    assert found.components_.any() == (seed == 5)
    assert found.transform(X).shape == (40, len(found.components_))


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([FILM(solver=solver) for solver in SOLVERS])
def test_contract_of_scikit_learn(estimator, check) -> None:
    check(estimator)


@pytest.fixture(scope="module")
def digits() -> tuple[np.ndarray, ...]:
    X, y = load_digits(return_X_y=True)
    X = np.hstack([X / np.linalg.norm(X, axis=1, keepdims=True), np.random.default_rng(0).random((len(X), 60)) / 2])
    return train_test_split(X, y, random_state=0)


@pytest.mark.parametrize("solver", SOLVERS)
def test_neighbours_get_better(digits, solver: str) -> None:
    train, test, y, truth = digits
    plain = KNeighborsClassifier().fit(train, y).score(test, truth)
    film = make_pipeline(FILM(12, solver=solver, max_iter=60, random_state=0), KNeighborsClassifier(metric="cosine"))
    assert film.fit(train, y).score(test, truth) > plain


@pytest.mark.parametrize("solver", SOLVERS)
def test_what_comes_after_need_not_be_scaled(digits, solver: str) -> None:
    """A logistic regression weighs its penalty by the rows' size: of rows of length .1 it learned next to nothing."""
    train, test, y, truth = digits
    film = FILM(12, solver=solver, max_iter=60, random_state=0)
    rows = film.fit(train, y).transform(train)
    assert np.square(rows).sum(axis=1).mean() == pytest.approx(1)
    plain = make_pipeline(film, LogisticRegression(max_iter=2000)).fit(train, y).score(test, truth)
    told = make_pipeline(film, StandardScaler(), LogisticRegression(max_iter=2000)).fit(train, y).score(test, truth)
    assert plain > told - 0.05


def test_sparse_rows_give_the_same_as_dense(digits) -> None:
    train, test, y, _ = digits
    dense = FILM(8, random_state=0).fit(train, y)
    thin = FILM(8, random_state=0).fit(sparse.csr_matrix(train), y)
    assert thin.components_ == pytest.approx(dense.components_, abs=1e-10)
    assert thin.transform(sparse.csr_matrix(test)) == pytest.approx(dense.transform(test), abs=1e-10)


def test_components_matrix_and_scores_are_one(digits) -> None:
    train, test, y, _ = digits
    film = FILM(8, random_state=0).fit(train, y)
    a, b = test[:50], test[50:100]
    wanted = np.einsum("pi,ij,pj->p", a, film.get_mahalanobis_matrix(), b)
    assert film.components_.shape == (8, train.shape[1])
    assert film.pair_score((a, b)) == pytest.approx(wanted, abs=1e-12)
    assert film.pair_score(np.stack([a, b], axis=1)) == pytest.approx(wanted, abs=1e-12)
    assert film.pair_score((sparse.csr_matrix(a), sparse.csr_matrix(b))) == pytest.approx(wanted, abs=1e-12)


def test_triplets_instead_of_labels(digits) -> None:
    train, _, y, _ = digits
    random = np.random.default_rng(0)
    triplets = np.array(
        [(i, random.choice(np.flatnonzero(y == y[i])), random.choice(np.flatnonzero(y != y[i]))) for i in range(len(y))]
    )
    i, j, k = triplets.T
    film = FILM(8, random_state=0).fit(train, triplets=triplets)
    right = film.pair_score((train[i], train[j])) > film.pair_score((train[i], train[k]))
    plain = np.sum(train[i] * (train[j] - train[k]), axis=1) > 0
    assert right.mean() > plain.mean() + 0.1


def test_the_threshold_parts_pairs(digits) -> None:
    train, test, y, truth = digits
    film = FILM(8, random_state=0).fit(train, y)
    random = np.random.default_rng(0)
    rows = random.integers(len(test), size=(400, 2))
    same = (truth[rows[:, 0]] == truth[rows[:, 1]]).astype(int)
    pairs = test[rows[:, 0]], test[rows[:, 1]]
    with pytest.raises(ValueError, match="calibrate_threshold"):
        film.predict_pairs(pairs)
    film.calibrate_threshold(pairs, same)
    found = (film.predict_pairs(pairs) == same).mean()
    assert found > max(same.mean(), 1 - same.mean())
    assert (film.predict_pairs(pairs) == (film.pair_score(pairs) > film.threshold_)).all()


def test_settings_matter(digits) -> None:
    train, _, y, _ = digits
    base = FILM(6, random_state=0).fit(train, y).components_
    for changed in (
        {"ridge": 9.0},
        {"margin": 0.1},
        {"max_iter": 1},
        {"rank": 20},
        {"batch_size": 300},
        {"positives": 5},
        {"negatives": 1},
        {"random_state": 1},
    ):
        other = FILM(6, **{"random_state": 0, **changed}).fit(train, y).components_
        assert np.abs(other - base).max() > 1e-6, changed


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_components": 200}, "n_components is 200, expected at most"),
        ({"n_components": 9, "rank": 5}, "for a rank of 5"),
    ],
)
def test_more_components_than_the_rank(digits, settings, message: str) -> None:
    train, _, y, _ = digits
    with pytest.raises(ValueError, match=message):
        FILM(**settings).fit(train, y)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_components": 0}, "n_components is 0, expected a whole number from 1"),
        ({"n_components": 2.5}, "n_components is 2.5, expected a whole number from 1"),
        ({"rank": -1}, "rank is -1, expected a whole number from 1"),
        ({"max_iter": -1}, "max_iter is -1, expected a whole number from 0"),
        ({"batch_size": 0}, "batch_size is 0, expected a whole number from 1"),
        ({"positives": 0}, "positives is 0, expected a whole number from 1"),
        ({"negatives": 0}, "negatives is 0, expected a whole number from 1"),
        ({"ridge": -1.0}, "ridge is -1.0, expected a number above 0"),
        ({"margin": 0.0}, "margin is 0.0, expected a number above 0"),
        ({"margin": float("nan")}, "margin is nan, expected a number above 0"),
    ],
)
def test_parameters_that_make_no_sense(digits, settings, message: str) -> None:
    train, _, y, _ = digits
    with pytest.raises(ValueError, match=message):
        FILM(**settings).fit(train, y)


def test_rows_that_numpy_cannot_read(digits) -> None:
    train, _, y, _ = digits
    with pytest.raises(ValueError, match="X is not an array"):
        FILM().fit(torch.as_tensor(train).bfloat16(), y)


@pytest.mark.parametrize(
    ("triplets", "message"),
    [([(0, 1)], r"\(1, 2\)"), ([(0, 1, 5000)], "row 5000"), ([(0.5, 1, 2)], "float64"), ([], "t >= 1")],
)
def test_triplets_that_are_none(digits, triplets, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        FILM().fit(digits[0], triplets=triplets)

"""The estimator keeps scikit-learn's contract, takes sparse rows, and has metric-learn's words."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from labkit.film import FILM
from labkit.film.solvers import SOLVERS


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([FILM()])
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


def test_sparse_rows_give_the_same_as_dense(digits) -> None:
    train, test, y, _ = digits
    dense = FILM(8, random_state=0).fit(train, y)
    thin = FILM(8, random_state=0).fit(sparse.csr_matrix(train), y)
    assert thin.components_ == pytest.approx(dense.components_, abs=1e-10)
    assert thin.transform(sparse.csr_matrix(test)) == pytest.approx(dense.transform(test), abs=1e-10)


def test_components_matrix_and_scores_agree(digits) -> None:
    train, test, y, _ = digits
    film = FILM(8, random_state=0).fit(train, y)
    a, b = test[:50], test[50:100]
    wanted = np.einsum("pi,ij,pj->p", a, film.get_mahalanobis_matrix(), b)
    assert film.components_.shape == (8, train.shape[1])
    lengths = np.square(film.transform(train)).sum(axis=1)
    assert lengths.mean() == pytest.approx(1)  # so that what comes after needs no scaling
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


def test_threshold_separates_pairs(digits) -> None:
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


def test_each_parameter_changes_the_components(digits) -> None:
    train, _, y, _ = digits
    base = FILM(6, random_state=0).fit(train, y).components_
    changes = {"ridge": 9.0, "margin": 0.1, "max_iter": 1, "rank": 20, "batch_size": 300, "positives": 5}
    for name, value in (changes | {"negatives": 1, "random_state": 1}).items():
        other = FILM(6, **{"random_state": 0, name: value}).fit(train, y).components_
        assert np.abs(other - base).max() > 1e-6, name


@pytest.mark.parametrize(
    "settings",
    [{"n_components": 200}, {"n_components": 2.5}, {"batch_size": 0}, {"ridge": -1.0}, {"margin": float("nan")}],
)
def test_parameters_that_make_no_sense_are_refused(digits, settings) -> None:
    train, _, y, _ = digits
    with pytest.raises(ValueError, match=next(iter(settings))):
        FILM(**settings).fit(train, y)
    with pytest.raises(ValueError, match="triplets"):
        FILM().fit(train, triplets=[(0, 1, 5000)])

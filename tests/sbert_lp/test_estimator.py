"""`LocalityPreserving`: scikit-learn's estimator checks, properties of the embedding, and unusual input."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg
from sklearn.manifold import LocallyLinearEmbedding
from sklearn.utils.estimator_checks import parametrize_with_checks

from labkit.sbert_lp import LocalityPreserving
from labkit.sbert_lp.eigenvectors import ZERO


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([LocalityPreserving(5, 2, random_state=3)])
def test_scikit_learns_estimator_checks(estimator, check) -> None:
    check(estimator)


# --- the embedding ---------------------------------------------------------------------------------------------


def test_unit_covariance_and_mean_zero_over_distinct_rows(connected) -> None:
    rows = np.concatenate([connected, connected[:70]])
    found = LocalityPreserving(10, 20, random_state=0).fit(rows)
    Y = found.embedding_[found.kept_]
    assert found.embedding_.dtype == np.float64
    assert len(Y) == len(connected)
    assert np.abs(Y.T @ Y / len(Y) - np.eye(20)).max() < 1e-8
    assert np.abs(Y.mean(axis=0)).max() < 1e-8
    np.testing.assert_array_equal(found.embedding_[-70:], found.embedding_[:70])


def test_the_constant_does_not_leak_although_it_does_in_scikit_learn(clusters) -> None:
    def leak(Y: np.ndarray) -> float:
        return float(np.abs(Y.sum(axis=0) / np.linalg.norm(Y, axis=0)).max() / np.sqrt(len(Y)))

    theirs = LocallyLinearEmbedding(n_neighbors=12, n_components=6, eigen_solver="dense").fit_transform(clusters)
    ours = LocalityPreserving(12, 6, random_state=0).fit(clusters)
    assert leak(theirs) > 0.1
    assert leak(ours.embedding_) < 1e-8
    assert ours.components_ == 4
    assert (ours.eigenvalues_[:3] < ZERO).all()
    assert ours.eigenvalues_[3] > ZERO


def test_a_seed_is_reproducible_and_fewer_dimensions_are_a_prefix(connected) -> None:
    one, two = (LocalityPreserving(10, 12, random_state=5).fit_transform(connected) for _ in range(2))
    np.testing.assert_array_equal(one, two)
    fewer = LocalityPreserving(10, 7, random_state=5).fit_transform(connected)
    assert fewer == pytest.approx(one[:, :7], abs=1e-8)


# --- invalid and unusual input ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("k", "p"), [(30, 3), (5, 100)])
def test_more_neighbours_or_dimensions_than_rows_give_a_warning(connected, k, p) -> None:
    rows = np.concatenate([connected[:12], connected[:12]])
    with pytest.warns(UserWarning, match="12"):
        found = LocalityPreserving(k, p, random_state=0).fit(rows)
    assert found.neighbours_.shape == (12, min(k, 11))
    assert found.embedding_.shape == (24, min(p, 11))


def test_invalid_rows_and_parameters(connected) -> None:
    for rows in (np.ones((1, 4)), np.ones((7, 4)), np.array([[0.0, np.nan], [1, 2], [3, 4]])):
        with pytest.raises(ValueError, match="vectors|1 sample|NaN"):
            LocalityPreserving(2, 1).fit(rows)
    for name, value in {"n_neighbors": 0, "n_components": 2.5, "reg": 0.0, "device": "xyz"}.items():
        with pytest.raises(ValueError, match=name):
            LocalityPreserving(**{name: value}).fit(connected)


def test_same_subspace_as_scikit_learn_on_connected_rows(connected) -> None:
    whole = LocalityPreserving(10, 40, random_state=0).fit(connected).eigenvalues_
    p = int((np.diff(whole) / whole[1:])[5:].argmax()) + 6  # the widest gap
    theirs = LocallyLinearEmbedding(n_neighbors=10, n_components=p, eigen_solver="dense").fit(connected)
    ours = LocalityPreserving(10, p, random_state=0).fit(connected)
    assert linalg.subspace_angles(ours.embedding_, theirs.embedding_).max() < 1e-6
    assert ours.eigenvalues_.sum() == pytest.approx(theirs.reconstruction_error_, rel=1e-8)


def test_copies_change_nothing(connected) -> None:
    alone = LocalityPreserving(10, 20, random_state=0).fit(connected)
    rows = np.concatenate([connected, np.repeat(connected[:5], 40, axis=0)])
    among = LocalityPreserving(10, 20, random_state=0).fit(rows)
    assert among.embedding_[:300] == pytest.approx(alone.embedding_, abs=1e-8)
    assert len(among.kept_) == 300
    assert among.eigenvalues_ == pytest.approx(alone.eigenvalues_, abs=1e-10)

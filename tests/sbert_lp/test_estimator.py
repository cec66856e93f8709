"""scikit-learn's contract, what the embedding claims, what a record says, and bad input told plainly."""

from __future__ import annotations

import dataclasses
import re
import warnings

import numpy as np
import pytest
import torch
from scipy import linalg, sparse
from sklearn.base import clone
from sklearn.datasets import load_digits, make_swiss_roll
from sklearn.manifold import LocallyLinearEmbedding
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from labkit.sbert_lp import FitRecord, LocalityPreserving, estimator
from labkit.sbert_lp.eigenvectors import bottom
from labkit.sbert_lp.weights import reconstruction_weights


@pytest.fixture(scope="module")
def record() -> FitRecord:
    """Rows 0, 1, 1 again, 2, 3; each reconstructed by two."""
    return FitRecord(
        copy_of=np.array([0, 1, 1, 3, 4]),
        kept=np.array([0, 1, 3, 4]),
        component=np.array([0, 0, 0, 1, 1]),
        terminal=2,
        neighbours=np.array([[1, 2], [2, 3], [0, 1], [2, 0]]),
        weights=np.array([[0.4, 0.6], [1.5, -0.5], [-0.7, 1.7], [0.5, 0.5]]),
        errors=np.array([0.1, 0.2, 0.3, 0.4]),
        reg=1e-3,
        raised=1,
        eigenvalues=np.array([0.0, 0.2]),
        zeros=2,
        residual=1e-12,
        exact=False,
        recall=0.98,
    )


def test_a_record_by_hand(record: FitRecord) -> None:
    found = record.neighbourhood(0)
    assert found.neighbours.tolist() == [3, 1]
    assert found.weights.tolist() == [0.6, 0.4]
    assert found.error == 0.1
    assert record.neighbourhood(3).neighbours.tolist() == [1, 0]
    assert (record.copies, record.components) == (1, 2)


def test_a_copy_has_the_neighbours_of_its_first(record: FitRecord) -> None:
    first, copy = record.neighbourhood(1), record.neighbourhood(2)
    assert (first.row, copy.row) == (1, 2)
    assert copy.neighbours.tolist() == first.neighbours.tolist() == [3, 4]
    assert copy.weights.tolist() == first.weights.tolist() == [1.5, -0.5]


@pytest.mark.parametrize("row", [-1, 5])
def test_a_row_that_is_none(record: FitRecord, row: int) -> None:
    with pytest.raises(ValueError, match=rf"row is {row}, expected a row number from 0 to 4"):
        record.neighbourhood(row)


def test_a_record_in_words(record: FitRecord) -> None:
    assert str(record) == (
        "5 rows, 1 of them copies; 2 components, 2 terminal, 2 eigenvalues 0; mean error 0.25, residual 1e-12; "
        "1 rows needed more regularisation than 0.001; 98.0% of the true neighbours found"
    )


def test_weights_and_neighbours_make_the_row(connected: np.ndarray) -> None:
    rows = np.concatenate([connected[:20], connected])  # twenty copies first
    found = LocalityPreserving(8, 5, random_state=0).fit(rows)
    for row in (0, 25, 310):
        near = found.record_.neighbourhood(row)
        left = rows[row] - near.weights @ rows[near.neighbours]
        assert left @ left == pytest.approx(near.error, abs=1e-12)
        distances = np.linalg.norm(rows - rows[row], axis=1)
        assert distances[near.neighbours].max() == pytest.approx(np.sort(np.unique(distances.round(9)))[8], abs=1e-8)
        assert (np.diff(np.abs(near.weights)) <= 0).all()


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([LocalityPreserving(), LocalityPreserving(5, 2, random_state=3, dense_up_to=0)])
def test_contract_of_scikit_learn(estimator, check) -> None:
    check(estimator)


# --- the embedding ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dense_up_to", [2_500, 0])
def test_unit_covariance_and_mean_zero_on_distinct_rows(connected, dense_up_to) -> None:
    rows = np.concatenate([connected, connected[:70]])
    found = LocalityPreserving(10, 20, dense_up_to=dense_up_to, random_state=0).fit(rows)
    Y = found.embedding_[found.record_.kept]
    assert found.embedding_.dtype == np.float64
    assert len(Y) == len(connected)
    assert np.abs(Y.T @ Y / len(Y) - np.eye(20)).max() < 1e-8
    assert np.abs(Y.mean(axis=0)).max() < 1e-8
    np.testing.assert_array_equal(found.embedding_[-70:], found.embedding_[:70])


def test_copies_change_nothing(connected) -> None:
    alone = LocalityPreserving(10, 20, random_state=0).fit(connected)
    rows = np.concatenate([connected, np.repeat(connected[:5], 40, axis=0)])
    among = LocalityPreserving(10, 20, random_state=0).fit(rows)
    assert among.embedding_[:300] == pytest.approx(alone.embedding_, abs=1e-8)
    assert among.record_.copies == 200
    assert among.record_.eigenvalues == pytest.approx(alone.record_.eigenvalues, abs=1e-10)


def test_same_subspace_as_scikit_learn_on_connected_rows(connected) -> None:
    whole = LocalityPreserving(10, 40, random_state=0).fit(connected).record_.eigenvalues
    p = int((np.diff(whole) / whole[1:])[5:].argmax()) + 6  # the clearest gap
    theirs = LocallyLinearEmbedding(n_neighbors=10, n_components=p, eigen_solver="dense").fit(connected)
    ours = LocalityPreserving(10, p, random_state=0).fit(connected)
    assert linalg.subspace_angles(ours.embedding_, theirs.embedding_).max() < 1e-6
    assert ours.record_.eigenvalues.sum() == pytest.approx(theirs.reconstruction_error_, rel=1e-8)


def test_no_leak_of_the_constant_where_scikit_learn_leaks(clusters) -> None:
    def leak(Y: np.ndarray) -> float:
        return float(np.abs(Y.sum(axis=0) / np.linalg.norm(Y, axis=0)).max() / np.sqrt(len(Y)))

    theirs = LocallyLinearEmbedding(n_neighbors=12, n_components=6, eigen_solver="dense").fit_transform(clusters)
    ours = LocalityPreserving(12, 6, random_state=0).fit(clusters)
    assert leak(theirs) > 0.1
    assert leak(ours.embedding_) < 1e-8
    assert (ours.record_.components, ours.record_.terminal, ours.record_.zeros) == (4, 4, 4)
    assert (ours.record_.component[[1, 249]] != ours.record_.component[0]).tolist() == [False, True]


def test_a_seed_is_one_answer_and_fewer_dimensions_are_its_first(connected) -> None:
    one, two = (LocalityPreserving(10, 12, random_state=5).fit_transform(connected) for _ in range(2))
    np.testing.assert_array_equal(one, two)
    fewer = LocalityPreserving(10, 7, random_state=5).fit_transform(connected)
    assert fewer == pytest.approx(one[:, :7], abs=1e-8)


@pytest.mark.parametrize("parameter", [{"n_neighbors": 20}, {"n_components": 4}, {"reg": 0.5}])
def test_every_parameter_changes_something(connected, parameter) -> None:
    plain = LocalityPreserving(10, 5, random_state=0).fit_transform(connected)
    other = LocalityPreserving(**{"n_neighbors": 10, "n_components": 5, **parameter}, random_state=0)
    assert other.fit_transform(connected).shape != plain.shape or np.abs(other.embedding_ - plain).max() > 1e-3


def test_the_limits_change_how_it_is_found(connected, monkeypatch) -> None:
    for limit, filtered in ((299, True), (300, False)):
        told = []
        model = LocalityPreserving(10, 5, dense_up_to=limit)
        model.fit(connected, progress=lambda *what, told=told: told.append(what[2]))
        assert ("the spectrum's shape" in told) == filtered
    asked = []
    monkeypatch.setattr(estimator, "neighbour_graph", lambda *_, **how: asked.append(how) or 1 / 0)
    with pytest.raises(ZeroDivisionError):
        LocalityPreserving(10, 5, exact_up_to=17).fit(connected)
    assert asked[0]["exact_up_to"] == 17


# --- what scikit-learn asks of its own locally linear embedding --------------------------------------------------


def mistake(rows: np.ndarray, Y: np.ndarray, neighbours: np.ndarray, weights: np.ndarray) -> float:
    """|Y - W Y| for weights of the rows themselves."""
    return float(np.linalg.norm(Y - np.einsum("mk,mkp->mp", weights, Y[neighbours])))


@pytest.mark.parametrize("dense_up_to", [2_500, 0])
def test_a_grid_comes_back(dense_up_to) -> None:
    """A 7 x 7 grid, hardly shaken, in 2 of 2 dimensions: weights fit the embedding as they fit the grid."""
    random = np.random.default_rng(42)
    grid = np.stack(np.meshgrid(range(7), range(7)), axis=-1).reshape(-1, 2) + 1e-10 * random.random((49, 2))
    found = LocalityPreserving(5, 2, dense_up_to=dense_up_to, random_state=0).fit(grid)
    record = found.record_
    assert mistake(grid, grid, record.neighbours, record.weights) < 0.1
    assert mistake(grid, found.embedding_, record.neighbours, record.weights) < 0.1
    total = np.linalg.norm(found.embedding_ - _mixed(found)) ** 2 / 49
    assert record.eigenvalues.sum() == pytest.approx(total, abs=1e-10)
    shaken = found.transform(grid + 1e-4 * random.random((49, 2)))
    assert np.linalg.norm(shaken - found.embedding_) < 0.1


def _mixed(found: LocalityPreserving) -> np.ndarray:
    return np.einsum("mk,mkp->mp", found.record_.weights, found.embedding_[found.record_.neighbours])


@pytest.mark.whole
@pytest.mark.parametrize("dense_up_to", [2_500, 0])
def test_a_swiss_roll_is_unrolled(dense_up_to) -> None:
    """One of two dimensions follows the angle along the roll, which is no linear function of the rows."""
    rows, along = make_swiss_roll(1500, random_state=0)
    found = LocalityPreserving(12, 2, dense_up_to=dense_up_to, random_state=0).fit(rows)
    follows = max(abs(np.corrcoef(column, along)[0, 1]) for column in found.embedding_.T)
    assert follows > 0.9
    assert max(abs(np.corrcoef(column, along)[0, 1]) for column in rows.T) < 0.5
    theirs = LocallyLinearEmbedding(n_neighbors=12, n_components=2, eigen_solver="dense").fit(rows)
    assert found.record_.eigenvalues.sum() == pytest.approx(theirs.reconstruction_error_, rel=1e-4)


def test_integers_and_names_and_pipelines() -> None:
    digits, labels = load_digits(return_X_y=True)
    line = make_pipeline(LocalityPreserving(12, 30, random_state=0), KNeighborsClassifier(3))
    line.fit(digits[:900].astype(int), labels[:900])
    assert line.score(digits[900:1200], labels[900:1200]) > 0.85
    assert line[0].get_feature_names_out()[:2].tolist() == ["localitypreserving0", "localitypreserving1"]


# --- new rows --------------------------------------------------------------------------------------------------


def test_new_rows_are_mixtures_of_fitted_ones(connected) -> None:
    found = LocalityPreserving(10, 6, random_state=0).fit(np.concatenate([connected[:5], connected[:250]]))
    new = connected[250:]
    near, weights = found.reconstruct(new)
    distances = np.linalg.norm(new[:, None] - connected[None, :250], axis=2)
    first = np.concatenate([np.arange(5), np.arange(10, 255)])  # where each distinct row stands first
    np.testing.assert_array_equal(near, first[np.argsort(distances, axis=1)[:, :10]])
    wanted = reconstruction_weights(new, connected[:250], np.argsort(distances, axis=1)[:, :10]).values
    assert weights == pytest.approx(wanted, abs=1e-10)
    assert found.transform(new) == pytest.approx(np.einsum("nk,nkp->np", wanted, found.embedding_[near]), abs=1e-9)


def test_a_copy_is_where_the_fitted_row_is(connected) -> None:
    found = LocalityPreserving(10, 6, random_state=0).fit(connected)
    np.testing.assert_array_equal(found.transform(connected), found.embedding_)
    one = found.transform(connected[3:4] + 1e-9)
    np.testing.assert_array_equal(one, found.embedding_[3:4])


def test_a_row_alone_is_placed_as_among_others(connected) -> None:
    found = LocalityPreserving(10, 6, random_state=0).fit(connected[:200])
    together = found.transform(connected[200:])
    assert found.transform(connected[207:208]) == pytest.approx(together[7:8], abs=1e-10)


def test_sparse_rows_give_the_same(connected) -> None:
    rows = np.where(np.abs(connected) > 0.1, connected, 0)
    dense = LocalityPreserving(10, 6, random_state=0).fit(rows[:250])
    thin = LocalityPreserving(10, 6, random_state=0).fit(sparse.csr_matrix(rows[:250]))
    assert thin.embedding_ == pytest.approx(dense.embedding_, abs=1e-7)
    for new in (rows[250:], sparse.csr_matrix(rows[250:])):
        for model in (dense, thin):
            assert model.transform(new) == pytest.approx(dense.transform(rows[250:]), abs=1e-6)


# --- bad and large input ---------------------------------------------------------------------------------------


def test_half_precision(connected) -> None:
    half = connected.astype(np.float16)
    np.testing.assert_array_equal(
        LocalityPreserving(10, 5, random_state=0).fit_transform(half),
        LocalityPreserving(10, 5, random_state=0).fit_transform(half.astype(np.float64)),
    )


def test_more_neighbours_than_rows(connected) -> None:
    with pytest.warns(
        UserWarning, match=r"neighbours \(n_neighbors\) is 30, but 12 distinct rows have only 11 others: 11 are used"
    ):
        found = LocalityPreserving(30, 3, random_state=0).fit(np.concatenate([connected[:12], connected[:12]]))
    assert found.record_.neighbours.shape == (12, 11)


def test_more_dimensions_than_rows(connected) -> None:
    with pytest.warns(
        UserWarning, match=r"dimension \(n_components\) is 100, but 12 distinct rows have only 11 .*: 11 are used"
    ):
        assert LocalityPreserving(5, 100, random_state=0).fit_transform(connected[:12]).shape == (12, 11)


def test_more_dimensions_than_a_component_has(clusters) -> None:
    with pytest.warns(UserWarning, match="4 of 4 parts of the neighbour graph, the smallest of 40 rows, have all"):
        found = LocalityPreserving(12, 249, random_state=0).fit(clusters)
    assert found.embedding_.shape == (250, 249)
    assert found.record_.residual < 1e-8


@pytest.mark.parametrize(
    ("rows", "word"),
    [
        (np.ones((1, 4)), "1 sample"),
        (np.ones((7, 4)), r"the 7 vectors \(rows of X\) are all the same, expected two that differ"),
        (np.array([[0.0, np.nan], [1, 2], [3, 4]]), "NaN"),
        (np.array([[0.0, np.inf], [1, 2], [3, 4]]), "infinity"),
    ],
)
def test_rows_that_cannot_be_embedded(rows, word) -> None:
    with pytest.raises(ValueError, match=word):
        LocalityPreserving(2, 1).fit(rows)


@pytest.mark.parametrize(
    ("parameter", "word"),
    [
        ({"n_neighbors": 0}, "n_neighbors is 0, expected a whole number of at least 1"),
        ({"n_components": 2.5}, "n_components is 2.5, expected a whole number"),
        ({"reg": 0.0}, "reg is 0.0, expected above 0"),
        ({"reg": float("nan")}, "reg is nan, expected above 0"),
        ({"device": "xyz"}, "device is 'xyz', which this machine has not"),
    ],
)
def test_parameters_that_make_no_sense(connected, parameter, word) -> None:
    with pytest.raises(ValueError, match=re.escape(word)):
        LocalityPreserving(**parameter).fit(connected)


def test_rows_that_numpy_cannot_read(connected) -> None:
    with pytest.raises(ValueError, match="X is not an array"):
        LocalityPreserving().fit(torch.as_tensor(connected).bfloat16())


@pytest.mark.parametrize(("kind", "power"), [("f4", 83), ("f4", 100), ("f4", -83), ("f8", 900), ("f8", -700)])
def test_rows_of_any_size_give_the_same_embedding(connected, kind, power) -> None:
    rows = connected.astype(kind)
    extreme = np.ldexp(rows, power)
    plain, found = (LocalityPreserving(8, 5, random_state=0).fit(X) for X in (rows, extreme))
    np.testing.assert_array_equal(found.embedding_, plain.embedding_)
    np.testing.assert_array_equal(
        found.transform(extreme[:9] * extreme.dtype.type(1.25)), plain.transform(rows[:9] * rows.dtype.type(1.25))
    )
    if abs(power) < 500:
        np.testing.assert_array_equal(found.record_.errors, np.ldexp(plain.record_.errors, 2 * power))


def test_two_rows() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        Y = LocalityPreserving(random_state=0).fit_transform([[0.0, 1.0], [2.0, 3.0]])
    assert np.sort(Y.ravel()) == pytest.approx([-1, 1])


def test_rows_that_needed_more_reg_are_told(connected) -> None:
    with pytest.warns(UserWarning, match="rows could not be reconstructed with reg 1e-300; it was raised for them"):
        found = LocalityPreserving(45, 3, reg=1e-300, random_state=0).fit(connected.astype(np.float32)[:, :3])
    assert found.record_.raised > 0


def test_vectors_that_are_not_exact_are_told(connected, monkeypatch) -> None:
    rough = dataclasses.replace(bottom(sparse.csr_array(np.ones((300, 300)) / 300), 5), residual=1e-3)
    monkeypatch.setattr(estimator, "bottom", lambda *_, **__: rough)
    with pytest.warns(UserWarning, match="eigenvectors are exact to 0.001 only, expected below 1e-05"):
        LocalityPreserving(10, 5, random_state=0).fit(connected)


def test_a_million_rows_are_told_time_and_memory_before_anything_else(monkeypatch) -> None:
    started = []
    monkeypatch.setattr(estimator, "copies", lambda *_, **__: started.append(1) or 1 / 0)
    # 10⁶ · (8 · 100 + 60) · 8 bytes; 2 · 10^1.3 minutes
    told = pytest.warns(UserWarning, match=r"1,000,000 rows in 100 dimensions take about 7 GB of memory and 40 minutes")
    with told, pytest.raises(ZeroDivisionError):
        LocalityPreserving(15, 100).fit(np.zeros((1_000_000, 2), np.float32))
    assert started


def test_progress_is_told(connected) -> None:
    seen = []
    LocalityPreserving(10, 5, dense_up_to=0, random_state=0).fit(connected, progress=lambda *what: seen.append(what[2]))
    assert [what for what in seen if "neighbours of 300 rows" in what]
    assert [what for what in seen if "reconstruction weights" in what]
    assert [what for what in seen if "eigenvectors" in what]


def test_clones(connected) -> None:
    model = LocalityPreserving(9, 4, reg=0.01, random_state=1)
    assert clone(model).get_params() == model.get_params()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU that torch can use")
def test_on_a_gpu(connected) -> None:
    here, there = (LocalityPreserving(10, 5, device=d, random_state=0).fit(connected) for d in ("cpu", "cuda"))
    assert there.record_.eigenvalues == pytest.approx(here.record_.eigenvalues, abs=1e-8)

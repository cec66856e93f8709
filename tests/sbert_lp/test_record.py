"""A record says who reconstructs whom, in the numbers of the rows that were given."""

from __future__ import annotations

import numpy as np
import pytest

from labkit.sbert_lp import FitRecord, LocalityPreserving


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
        searches=0,
        exact=False,
        recall=0.98,
    )


def test_by_hand(record: FitRecord) -> None:
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


def test_pairs_across_components(record: FitRecord) -> None:
    assert record.across([0, 0, 3], [2, 3, 4]).tolist() == [False, True, False]


@pytest.mark.parametrize("row", [-1, 5])
def test_a_row_that_is_none(record: FitRecord, row: int) -> None:
    with pytest.raises(ValueError, match=rf"row is {row}, expected a row number from 0 to 4"):
        record.neighbourhood(row)


def test_in_words(record: FitRecord) -> None:
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

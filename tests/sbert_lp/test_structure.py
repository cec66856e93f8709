"""All sentences at once: errors and eigenvalues against the fit's own record; parts and copies put there by hand."""

from __future__ import annotations

import numpy as np
import pytest

from labkit.evaluation.inputs import unit
from labkit.sbert_lp import LocalityPreserving
from labkit.sbert_lp.method import SbertLp, SbertLpSettings
from labkit.sbert_lp.view import structure


@pytest.fixture
def two_parts(circle) -> dict[str, list[float]]:  # type: ignore[no-untyped-def]
    """Two arcs far from each other, and one sentence of the first twice."""
    near, far = circle(20), circle(12, start=2.5)
    return near | {f"far {row}": vector for row, vector in enumerate(far.values())} | {"twice": near["sentence 4"]}


@pytest.fixture
def made(base, two_parts) -> SbertLp:  # type: ignore[no-untyped-def]
    return SbertLp.over(base(two_parts), list(two_parts), SbertLpSettings(neighbours=3, dimension=4))


def test_parts_copies_and_what_was_done(made: SbertLp) -> None:
    found = structure(made.space)
    assert found.components == (21, 12)
    assert found.copies == (("sentence 4", "twice"),)
    assert found.component[-1] == found.component[4] == 0
    copies, parts, zeros = found.told()
    assert copies.startswith("2 of 33 sentences share a vector")
    assert "2 parts" in parts
    assert "of 21, 12 sentences" in parts
    assert f"{found.terminal} sets" in zeros


def test_as_the_record_of_the_fit(made: SbertLp, two_parts: dict[str, list[float]]) -> None:
    found = structure(made.space)
    rows = unit(np.array(list(two_parts.values()), np.float32))
    record = LocalityPreserving(n_neighbors=3, n_components=4, random_state=0).fit(rows).record_
    np.testing.assert_allclose(found.eigenvalues, record.eigenvalues, atol=1e-6)
    places = np.searchsorted(record.kept, record.copy_of)
    np.testing.assert_allclose(found.errors, record.errors[places], atol=1e-6)
    assert found.terminal == record.terminal
    assert len(found.components) == record.components
    assert found.zeros == (np.abs(record.eigenvalues) < 1e-9).sum()
    assert found.zeros >= len(found.components) - 1


def test_errors_after_are_those_of_the_same_weights(made: SbertLp) -> None:
    found, space = structure(made.space), made.space
    y = space.embedding.astype(np.float64)
    row = space.number["far 5"]
    left = y[row] - space.weights[row].astype(np.float64) @ y[space.neighbours[row]]
    number = space.sentences.index("far 5")
    assert found.kept[number] == pytest.approx(left @ left / (y[row] @ y[row]))
    assert list(found.rows())[number] == {
        "no.": number,
        "sentence": "far 5",
        "error before": found.errors[number],
        "error after": found.kept[number],
        "part": 1,
    }


def test_one_part_without_copies_says_so(base, circle) -> None:  # type: ignore[no-untyped-def]
    vectors = circle(15)
    found = structure(SbertLp.over(base(vectors), list(vectors), SbertLpSettings(neighbours=4, dimension=2)).space)
    assert found.copies == ()
    assert "nothing was set aside" in found.told()[0]
    assert "hangs together" in found.told()[1]

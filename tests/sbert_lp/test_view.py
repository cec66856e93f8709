"""One sentence before and after: worked by hand, against the method's own record, and what holds for any."""

from __future__ import annotations

import numpy as np
import pytest

from labkit.evaluation.inputs import unit
from labkit.sbert_lp.method import SbertLp, SbertLpSettings
from labkit.sbert_lp.view import Around, around


@pytest.fixture
def made(base, circle) -> SbertLp:  # type: ignore[no-untyped-def]
    vectors = circle(30)
    return SbertLp.over(base(vectors), list(vectors), SbertLpSettings(neighbours=4, dimension=3))


def check(found: Around, made: SbertLp) -> None:
    for side in (found.before, found.after):
        assert len(side) == 4
        assert sum(spoke.weight for spoke in side) == pytest.approx(1, abs=1e-5)
        assert [spoke.rank for spoke in side] == [1, 2, 3, 4]
        assert [spoke.cosine for spoke in side] == sorted((spoke.cosine for spoke in side), reverse=True)
        assert found.number not in {spoke.number for spoke in side}
    common = {spoke.number for spoke in found.before} & {spoke.number for spoke in found.after}
    assert {spoke.number for spoke in found.before if spoke.both} == common
    assert {spoke.number for spoke in found.after if spoke.both} == common
    assert found.shared == len(common)


def test_before_is_what_the_method_says(made: SbertLp) -> None:
    found = around(made.space, "sentence 10")
    check(found, made)
    record = made.neighbourhood("sentence 10")
    assert {n.text: pytest.approx(n.weight, abs=1e-6) for n in record.neighbours} == {
        spoke.text: spoke.weight for spoke in found.before
    }
    assert found.error_before == pytest.approx(record.error, abs=1e-7)  # the base's rows have length 1
    assert {spoke.text for spoke in found.before} == {f"sentence {row}" for row in (8, 9, 11, 12)}
    gap = 1.0 / 29
    squared = np.cos(gap) + 0.04  # of rows (cos, sin, 0.2), over their squared length
    assert found.before[0].cosine == pytest.approx(squared / 1.04, abs=1e-6)


def test_after_is_nearest_by_cosine_with_weights_that_rebuild_it(made: SbertLp) -> None:
    found = around(made.space, "sentence 3")
    check(found, made)
    y = made.space.embedding.astype(np.float64)
    row = made.space.number["sentence 3"]
    cosines = unit(y) @ unit(y)[row]
    cosines[row] = -np.inf
    expected = [made.space.sentences[other] for other in np.argsort(-cosines)[:4]]
    assert [spoke.text for spoke in found.after] == expected
    rows = [made.space.number[spoke.text] for spoke in found.after]
    left = y[row] - np.array([spoke.weight for spoke in found.after]) @ y[rows]
    assert found.error_after == pytest.approx(left @ left / (y[row] @ y[row]), rel=1e-6)
    rows = [made.space.number[spoke.text] for spoke in found.before]
    left = y[row] - np.array([spoke.weight for spoke in found.before]) @ y[rows]
    assert found.kept == pytest.approx(left @ left / (y[row] @ y[row]), rel=1e-4)
    assert found.kept < 0.01  # a line is rebuilt well


def test_copies_are_named_by_the_first_and_have_no_star_to_themselves(base, circle) -> None:  # type: ignore[no-untyped-def]
    vectors = circle(12)
    vectors["a copy of 5"] = vectors["sentence 5"]
    made = SbertLp.over(base(vectors), list(vectors), SbertLpSettings(neighbours=3, dimension=2))
    one, other = around(made.space, "sentence 5"), around(made.space, "a copy of 5")
    assert one.before == other.before
    assert one.after == other.after
    assert (one.number, other.number) == (5, 12)
    assert "a copy of 5" not in {spoke.text for spoke in around(made.space, "sentence 4").before}


def test_rows_are_a_table_of_both_sides(made: SbertLp) -> None:
    found = around(made.space, "sentence 0")
    rows = list(found.rows())
    assert len(rows) == 8 - found.shared
    before = {row["no."]: row for row in rows if row["rank before"]}
    assert before[found.before[0].number]["weight before"] == found.before[0].weight
    lone = [row for row in rows if row["rank after"] is None]
    assert len(lone) == 4 - found.shared
    assert all(row["weight after"] is None for row in lone)


def test_an_unknown_sentence_is_refused(made: SbertLp) -> None:
    with pytest.raises(ValueError, match="'never seen' is none of the 30 that were embedded"):
        around(made.space, "never seen")

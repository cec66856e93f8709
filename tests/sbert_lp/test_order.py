"""Pairs that changed order: three pairs worked by hand, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from labkit.corpora import Labelled, Pairs
from labkit.sbert_lp.sweeps import compared
from labkit.sbert_lp.view import changed

PAIRS = Pairs(["a", "c", "e"], ["b", "d", "f"], [5, 3, 1], graded=True)


def turned(*angles: float) -> np.ndarray:
    """Vectors of a..f with these angles between the sentences of each pair."""
    rows = []
    for angle in angles:
        rows += [[1.0, 0.0], [np.cos(angle), np.sin(angle)]]
    return np.array(rows)


def test_three_pairs_by_hand() -> None:
    told = compared(PAIRS, split="train")
    order = [told.sentences.index(text) for text in "abcdef"]
    before, after = np.empty((6, 2)), np.empty((6, 2))
    before[order], after[order] = turned(0.5, 0.2, 1.0), turned(0.1, 0.8, 0.4)
    found = changed(told, before, after)
    # (5, 3): wrong before, right after. (5, 1): right in both. (3, 1): right before, wrong after
    assert (found.found.mended, found.found.kept, found.found.spoilt, found.found.wrong) == (1, 1, 1, 0)
    np.testing.assert_allclose(found.before, np.cos([0.5, 0.2, 1.0]))
    assert found.spearman == (pytest.approx(0.5), pytest.approx(0.5))
    rows = list(found.rows())
    assert [row["what"] for row in rows] == ["mended 1", "mended 1", "spoilt 1", "spoilt 1"]
    assert rows[0] == {
        "what": "mended 1",
        "should be": "closer",
        "sentence 0": "a",
        "sentence 1": "b",
        "grade": 5.0,
        "before": pytest.approx(np.cos(0.5)),
        "after": pytest.approx(np.cos(0.1)),
    }
    assert [kind for kind, _ in found.examples] == ["mended", "spoilt"]


def test_small_differences_are_not_asked() -> None:
    told = compared(PAIRS, split="train")
    rows = np.random.default_rng(0).standard_normal((6, 3))
    assert changed(told, rows, rows, least=2.5).found.couples == 1
    assert changed(told, rows, rows).found.couples == 3


def test_other_shapes_and_other_rows_are_refused() -> None:
    told = compared(Labelled(["a", "b"], ["x", "y"]), split="train")
    with pytest.raises(ValueError, match="shape Labelled, expected Pairs"):
        changed(told, np.eye(2), np.eye(2))
    with pytest.raises(ValueError, match="after has 2 rows, expected 6"):
        changed(compared(PAIRS, split="train"), np.eye(6), np.eye(2))

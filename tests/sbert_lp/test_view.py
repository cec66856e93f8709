"""Neighbours of a sentence and order of pairs, before and after SBERT-LP: worked examples, and against the fit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from labkit.arrays import unit
from labkit.baselines.base import Matrix, MatrixSettings
from labkit.corpora import Labelled, Pairs
from labkit.sbert_lp.method import SbertLp, SbertLpSettings
from labkit.sbert_lp.sweeps import compared
from labkit.sbert_lp.view import Around, around, changed


def circle(count: int) -> dict[str, list[float]]:
    """Sentences along an arc, each between its neighbours."""
    angles = np.linspace(0, 1, count)
    return {f"sentence {row}": [float(np.cos(t)), float(np.sin(t)), 0.2] for row, t in enumerate(angles)}


def over(vectors: dict[str, list[float]], folder: Path, **settings: int) -> SbertLp:
    """The method over a base with given vectors, so that all neighbours are known."""
    np.savez(folder / "base.npz", vectors=np.array([*vectors.values()], np.float32), sentences=np.array([*vectors]))
    base = Matrix(MatrixSettings(file=str(folder / "base.npz")))
    base.fit(Labelled(list(vectors), ["x"] * len(vectors), splits="train"))
    return SbertLp.over(base, list(vectors), SbertLpSettings(**settings))


@pytest.fixture
def made(tmp_path: Path) -> SbertLp:
    return over(circle(30), tmp_path, neighbours=4, dimension=3)


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


def test_neighbours_before_are_those_of_the_method(made: SbertLp) -> None:
    found = around(made.space, "sentence 10")
    check(found, made)
    row = made.space.number["sentence 10"]
    assert {spoke.number: spoke.weight for spoke in found.before} == {
        near: pytest.approx(weight, abs=1e-6)
        for near, weight in zip(made.space.neighbours[row].tolist(), made.space.weights[row].tolist(), strict=True)
    }
    assert {spoke.text for spoke in found.before} == {f"sentence {row}" for row in (8, 9, 11, 12)}
    gap = 1.0 / 29
    squared = np.cos(gap) + 0.04  # the dot product of two rows (cos, sin, 0.2), with squared length 1.04
    assert found.before[0].cosine == pytest.approx(squared / 1.04, abs=1e-6)


def test_neighbours_after_are_nearest_by_cosine_with_reconstruction_weights(made: SbertLp) -> None:
    found = around(made.space, "sentence 3")
    check(found, made)
    y = made.space.embedding.astype(np.float64)
    row = made.space.number["sentence 3"]
    cosines = unit(y) @ unit(y)[row]
    cosines[row] = -np.inf
    expected = [made.space.sentences[other] for other in np.argsort(-cosines)[:4]]
    assert [spoke.text for spoke in found.after] == expected
    rows = [made.space.number[spoke.text] for spoke in found.after]
    G = (y[rows] - y[row]) @ (y[rows] - y[row]).T
    w = np.linalg.solve(G + 1e-3 * np.trace(G) * np.eye(4), np.ones(4))
    assert [spoke.weight for spoke in found.after] == pytest.approx(w / w.sum(), abs=1e-6)


# --- copies ------------------------------------------------------------------------------------------------------


def test_copies_share_their_neighbours_and_are_not_their_own(tmp_path: Path) -> None:
    vectors = circle(12)
    vectors["a copy of 5"] = vectors["sentence 5"]
    made = over(vectors, tmp_path, neighbours=3, dimension=2)
    one, other = around(made.space, "sentence 5"), around(made.space, "a copy of 5")
    assert one.before == other.before
    assert one.after == other.after
    assert (one.number, other.number) == (5, 12)
    assert "a copy of 5" not in {spoke.text for spoke in around(made.space, "sentence 4").before}


# --- pairs that changed order ------------------------------------------------------------------------------------


PAIRS = Pairs(["a", "c", "e"], ["b", "d", "f"], [5, 3, 1], graded=True)


def turned(*angles: float) -> np.ndarray:
    """Vectors of a to f, with these angles between the sentences of each pair."""
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
    assert (found.found.fixed, found.found.kept, found.found.broken, found.found.wrong) == (1, 1, 1, 0)
    assert found.spearman == (pytest.approx(0.5), pytest.approx(0.5))
    rows = list(found.rows())
    assert [row["what"] for row in rows] == ["fixed 1", "fixed 1", "broken 1", "broken 1"]
    assert rows[0] == {
        "what": "fixed 1",
        "should be": "closer",
        "sentence 0": "a",
        "sentence 1": "b",
        "grade": 5.0,
        "before": pytest.approx(np.cos(0.5)),
        "after": pytest.approx(np.cos(0.1)),
    }
    assert [kind for kind, _ in found.examples] == ["fixed 1", "broken 1"]

"""The sweep of a corpus: chosen on dev, told on test, and a verdict that does not boast."""

from __future__ import annotations

from dataclasses import replace

import pytest

from labkit.corpora import load
from labkit.evaluation import spearman_error
from labkit.evaluation.inputs import unit
from labkit.method import Method
from labkit.methods import METHODS
from labkit.sbert_lp.sweeps import Grid, Point, Tried, best, compared, sweep, transformed, tried

GRID = Grid(neighbours=(5, 10), dimensions=(4, 8), removed=(1,))


@pytest.fixture(scope="module")
def base() -> Method:
    method = METHODS["lsa"](dimension=20)
    method.fit(load("relatedness"))
    return method


def test_chosen_on_dev_told_on_test(base: Method) -> None:
    corpus = load("relatedness")
    found = tried(base, corpus, GRID, most=120)
    dev, test = (compared(corpus, split=split, most=120) for split in ("dev", "test"))
    rows = unit(base.encode(dev.sentences))
    assert found.points == sweep(rows, dev.judge(), GRID)
    for point, value in zip(found.chosen, found.test, strict=True):
        assert point == best(found.points, point.transform)
        assert value == pytest.approx(test.judge()(transformed(unit(base.encode(test.sentences)), point)))
    assert [point.transform for point in found.chosen] == ["raw", "pca", "whitening", "all-but-the-top", "lp"]
    assert found.sentences == (len(dev.sentences), len(test.sentences))
    assert found.noise == spearman_error(found.test[0], len(test.rows))
    table = list(found.rows())
    assert [row["value"] for row in table] == [point.value for point in found.points]
    assert sum(row["test"] is not None for row in table) == 5


def a_try(raw: float, lp: float) -> Tried:
    points = (Point("raw", 0.5), Point("lp", 0.6, 8, 5))
    return Tried("Hit@1", points, points, (raw, lp), (10, 10), 0.05)


@pytest.mark.parametrize(
    ("raw", "lp", "said"), [(0.5, 0.6, "helps"), (0.5, 0.4, "hurts"), (0.5, 0.53, "makes no difference that one could")]
)
def test_the_verdict_knows_ties(raw: float, lp: float, said: str) -> None:
    verdict = a_try(raw, lp).verdict
    assert f"locality preserving {said}" in verdict
    assert f"{lp:.3f} against {raw:.3f}" in verdict


def test_too_few_sentences_for_any_neighbourhood_are_no_mistake(base: Method) -> None:
    found = tried(base, load("relatedness"), replace(GRID, neighbours=(50,)), most=20)
    assert [point.transform for point in found.chosen][-1] != "lp"
    assert "too few sentences" in found.verdict

"""The records of a batch: numbers against plain loops, formulas and reasons against the numbers."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from labkit.corpora import load
from labkit.pairs import LOSSES
from labkit.sentpwnet.method import PairSettings
from labkit.sentpwnet.view import (
    OF_PAIRS,
    PAPER,
    SentenceBatch,
    anchor_curves,
    batch_rows,
    cosines,
    examine,
    latex_number,
    main_setting,
    pair_rows,
    reason,
    sentence_batch,
    weight_in_latex,
    weights_over,
)

ANGLES = np.radians([0, 20, 70, 40, 65, 110])
VECTORS = np.stack([np.cos(ANGLES), np.sin(ANGLES)], axis=1)
CLASSES = ("x", "x", "x", "y", "y", "z")


def six() -> SentenceBatch:
    """Six sentences: three of class x, two of y, one of z."""
    same = np.array([[a == b for b in CLASSES] for a in CLASSES])
    return SentenceBatch(tuple("abcdef"), CLASSES, same & ~np.eye(6, dtype=bool), ~same)


def found(**settings: float | str):
    return examine(six(), cosines(VECTORS), PairSettings(**{"beta": 10.0, "base": 0.5, "epsilon": 0.1, **settings}))


def test_cosines_of_known_angles() -> None:
    expected = [[math.cos(a - b) for b in ANGLES] for a in ANGLES]
    np.testing.assert_allclose(cosines(3 * VECTORS), expected, atol=1e-12)
    with pytest.raises(ValueError, match="positive"):
        examine(six(), np.eye(5), PairSettings())


def test_kept_pairs_and_weights_against_plain_loops() -> None:
    """Equations 9 to 12 written out for every pair."""
    each = found()
    S, P, N = each.similarity, each.batch.positive, each.batch.negative
    for i in range(6):
        low = min((S[i, k] for k in range(6) if P[i, k]), default=math.inf)
        high = max((S[i, k] for k in range(6) if N[i, k]), default=-math.inf)
        keeps_p = [j for j in range(6) if P[i, j] and S[i, j] < high + 0.1]
        keeps_n = [j for j in range(6) if N[i, j] and S[i, j] > low - 0.1]
        assert np.flatnonzero(each.kept_positive[i]).tolist() == keeps_p
        assert np.flatnonzero(each.kept_negative[i]).tolist() == keeps_n
        for j in keeps_p:
            own, relative = math.exp(2 * (S[i, j] - 0.5)), sum(math.exp(2 * (S[i, j] - S[i, k])) for k in keeps_p)
            assert (each.own[i, j], each.relative[i, j]) == pytest.approx((own, relative))
            assert each.weight[i, j] == pytest.approx(1 / (own + relative))
        for j in keeps_n:
            own, relative = math.exp(10 * (0.5 - S[i, j])), sum(math.exp(10 * (S[i, k] - S[i, j])) for k in keeps_n)
            assert (each.own[i, j], each.relative[i, j]) == pytest.approx((own, relative))
            assert each.weight[i, j] == pytest.approx(1 / (own + relative))
    assert each.share_kept("positive") == each.kept_positive.sum() / 8
    assert not any(part[~each.kept].any() for part in (each.weight, each.own, each.relative))


def test_pair_rows_are_sorted_by_weight() -> None:
    each = found()
    rows = pair_rows(each, 0)
    assert sorted(row.number for row in rows) == [1, 2, 3, 4, 5]
    weights = [row.weight for row in rows]
    assert weights == sorted(weights, reverse=True)
    for row in rows:
        assert row.weight == each.weight[0, row.number]
        assert (row.kind, row.text) == (each.batch.kind(0, row.number), "abcdef"[row.number])
        if row.kept:
            assert row.weight == pytest.approx(1 / (row.own + row.relative))
    assert len(batch_rows(each)) == 30
    assert all(math.isnan(row.own) for row in pair_rows(found(loss="contrastive"), 0))


def test_the_weight_over_a_setting_in_closed_form() -> None:
    each = found(beta=5.0)
    S, other = each.similarity, int(np.flatnonzero(each.kept_negative[0])[0])
    values = [1.0, 5.0, 40.0]
    gaps = S[0][each.kept_negative[0]] - S[0, other]
    wanted = [1 / (np.exp(beta * (0.5 - S[0, other])) + np.exp(beta * gaps).sum()) for beta in values]
    assert weights_over(each, 0, other, "beta", values) == pytest.approx(wanted)
    assert weights_over(each, 0, other, "beta", values)[1] == pytest.approx(each.weight[0, other])


def test_the_main_setting_of_every_loss_is_one_of_its_own() -> None:
    for loss in OF_PAIRS:
        for kind in ("positive", "negative"):
            assert main_setting(PairSettings(loss=loss), kind) in LOSSES[loss].hyperparameters


def test_anchor_curves_in_closed_form() -> None:
    """Locality against its closed form (eq. 9 and 10); the curve of every loss passes through the pair itself."""
    each = found(miner="none")
    S = each.similarity[0]
    for curve in anchor_curves(each, 0, losses=OF_PAIRS[:4]) + anchor_curves(each, 0, losses=OF_PAIRS[4:]):
        near = curve.kind == "positive"
        hardest = curve.similarity.argmin() if near else curve.similarity.argmax()
        on_curve = np.interp(curve.similarity[hardest], curve.grid, curve.moved)
        assert on_curve == pytest.approx(curve.weight[hardest], rel=1e-6)
        assert (curve.grid[0], curve.grid[-1]) == (curve.similarity.min(), curve.similarity.max())
        if curve.loss == "cosent":  # which compares pairs of all anchors
            assert (np.diff(curve.moved) * (-1 if near else 1) > 0).all()
        if curve.loss == "locality":
            scale = -each.settings.alpha if near else each.settings.beta
            others = np.delete(S[(each.batch.positive if near else each.batch.negative)[0]], hardest)
            moved = np.exp(scale * (curve.grid - each.settings.base))
            held = np.exp(scale * (others - each.settings.base)).sum()
            np.testing.assert_allclose(curve.moved, moved / (1 + moved + held), rtol=1e-10)
    assert {curve.loss for curve in anchor_curves(each, 0)} == set(PAPER)
    assert not any(curve.kind == "positive" for curve in anchor_curves(each, 5))  # z has no positive


def test_reason_names_both_numbers() -> None:
    each = found()
    for i in range(6):
        for j in range(6):
            text, kept = reason(each, i, j), each.kept[i, j]
            if i in (j, 5):  # no pair, and an anchor without a positive
                continue
            left, sign, right = re.search(r"(-?[\d.]+) ([<>≤≥]) (-?[\d.]+)", text).groups()
            assert float(left) == pytest.approx(each.similarity[i, j], abs=6e-4)
            expected = {"<": float(left) <= float(right), ">": float(left) >= float(right)}
            assert expected[{"≤": "<", "≥": ">"}.get(sign, sign)]
            assert (sign in "<>") == kept


def evaluated(latex: str) -> tuple[float, float]:
    """The two sides of the last `=` in a formula with numbers, with the left side evaluated."""
    latex = re.sub(r"\\cdot 10\^\{(-?\d+)\}", r"*10**(\1)", latex)
    left, right = re.sub(r"e\^\{([\d.]+)\\,\((.*?)\)\}", r"math.exp(\1*(\2))", latex).rsplit("=", 2)[-2:]
    return eval(left, {"math": math}), eval(right)  # the formula has only numbers


@pytest.mark.parametrize("pair", [(0, 2), (4, 2)])
def test_formula_with_numbers_adds_up(pair: tuple[int, int]) -> None:
    each = found(miner="none")
    formula, own, relative, weight = weight_in_latex(each, *pair)
    assert r"\sum" in formula
    assert relative.endswith(f" = {latex_number(each.relative[pair])}")  # the result comes last
    for line, value in ((own, each.own[pair]), (weight, each.weight[pair])):
        left, right = evaluated(line)
        assert right == pytest.approx(value, rel=6e-3)
        assert left == pytest.approx(right, rel=2e-2)  # similarities are written to three digits


@pytest.mark.parametrize("name", ["questions", "topics", "articles"])
def test_batches_of_three_corpora(name: str) -> None:
    corpus = load(name)
    batch = sentence_batch(corpus, size=32, per_class=4, seed=3)
    again, other = sentence_batch(corpus, size=32, seed=3), sentence_batch(corpus, size=32, seed=4)
    assert batch.texts == again.texts != other.texts
    assert 8 <= len(batch) <= 48
    assert len(set(batch.texts)) == len(batch)
    assert batch.positive.any()
    assert batch.negative.any()
    assert not (batch.positive & batch.negative).any()
    changes = sum(a != b for a, b in zip(batch.classes, batch.classes[1:], strict=False))
    assert changes == len(set(batch.classes)) - 1  # the sentences of a class are adjacent
    for a, b in np.argwhere(batch.positive):
        assert batch.classes[a] == batch.classes[b]
    assert batch.positive[batch.busiest].sum() == batch.positive.sum(1).max()

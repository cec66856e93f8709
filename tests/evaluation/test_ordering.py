"""Reversals: by hand, against plain loops, and their examples."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit.evaluation.pairs import Reversal, reversals

few = st.lists(st.integers(0, 4), min_size=6, max_size=6)


def test_by_hand() -> None:
    # higher grade 3 of item 2, 2 of item 1, 1 of item 0; before ranks 2 > 0 > 1, after 1 > 2 > 0
    found = reversals([1, 2, 3], [0.5, 0.4, 0.9], [0.1, 0.4, 0.3])
    assert (found.kept, found.mended, found.spoilt, found.wrong) == (1, 1, 1, 0)
    assert found.couples == 3
    assert found.mended_examples == (Reversal(1, 0, (2, 1), (0.4, 0.5), (0.4, 0.1)),)
    assert found.spoilt_examples == (Reversal(2, 1, (3, 2), (0.9, 0.4), (0.3, 0.4)),)


@settings(max_examples=80)
@given(few, few, few, st.sampled_from([0.0, 1.0]))
def test_against_plain_loops(gold: list[int], before: list[int], after: list[int], least: float) -> None:
    if max(gold) - min(gold) <= least:
        with pytest.raises(ValueError, match="expected two that are more than"):
            reversals(gold, before, after, least=least)
        return
    counts = {(a, b): 0 for a in (False, True) for b in (False, True)}
    for i, j in permutations(range(6), 2):
        if gold[i] - gold[j] > least:
            counts[before[i] > before[j], after[i] > after[j]] += 1
    found = reversals(gold, before, after, least=least)
    assert (found.kept, found.mended) == (counts[True, True], counts[False, True])
    assert (found.spoilt, found.wrong) == (counts[True, False], counts[False, False])
    for shown, right in ((found.mended_examples, (False, True)), (found.spoilt_examples, (True, False))):
        assert bool(shown) == bool(counts[right])
        items = [item for each in shown for item in (each.higher, each.lower)]
        assert len(items) == len(set(items))
        for each in shown:
            assert each.gold[0] - each.gold[1] > least
            assert (each.before[0] > each.before[1], each.after[0] > each.after[1]) == right
            assert each.before == (before[each.higher], before[each.lower])


def test_the_clearest_come_first_and_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)
    gold, before, after = random.integers(0, 6, 300), random.standard_normal(300), random.standard_normal(300)
    found = reversals(gold, before, after, examples=4)
    assert len(found.mended_examples) == len(found.spoilt_examples) == 4
    assert reversals(gold, before, after, examples=0).mended_examples == ()

    def ranks(scores: np.ndarray) -> np.ndarray:
        return scores.argsort().argsort()

    def clearness(i: int, j: int) -> int:
        return int(min(ranks(before)[j] - ranks(before)[i], ranks(after)[i] - ranks(after)[j]))

    best = max(clearness(i, j) for i, j in permutations(range(300), 2) if gold[i] > gold[j])
    assert clearness(found.mended_examples[0].higher, found.mended_examples[0].lower) == best
    monkeypatch.setattr("labkit.evaluation.pairs._ENTRIES", 700)
    assert reversals(gold, before, after, examples=4) == found


def test_the_two_ways_make_up_the_change_in_order() -> None:
    """Without ties mended - spoilt is half the change of Kendall's tau times the couples: an oracle in SciPy."""
    from scipy.stats import kendalltau

    random = np.random.default_rng(1)
    gold, before, after = random.permutation(200), random.standard_normal(200), random.standard_normal(200)
    found = reversals(gold, before, after)
    change = kendalltau(gold, after).statistic - kendalltau(gold, before).statistic
    assert found.mended - found.spoilt == pytest.approx(change / 2 * 200 * 199 / 2)


def test_bad_input() -> None:
    with pytest.raises(ValueError, match="before has 2 rows, expected 3"):
        reversals([1, 2, 3], [1, 2], [1, 2, 3])
    with pytest.raises(ValueError, match="after holds 1 NaN"):
        reversals([1, 2, 3], [1, 2, 3], [1, 2, np.nan])
    with pytest.raises(ValueError, match="all . grades are within 0, expected two"):
        reversals([2, 2], [1, 2], [1, 2])
    with pytest.raises(ValueError, match="examples is -1"):
        reversals([1, 2], [1, 2], [1, 2], examples=-1)

"""Rankings and verdicts: worked examples, and the rate of false verdicts."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from labkit.evaluation.comparison import Parts
from labkit.trials.verdict import front, in_common, ranked, verdict_of


def answers(right: int, count: int = 100) -> Parts:
    """A run that is right on the first `right` test units."""
    return Parts((np.arange(count) < right).astype(float), np.ones(count))


def test_a_lead_and_its_interval_by_hand() -> None:
    """Two runs on 100 units that differ in 20 of them: d is 1 on 20 units, 0 on 80."""
    rows = ranked({"a": {0: answers(90)}, "b": {0: answers(70)}})
    assert [(row.name, row.score) for row in rows] == [("a", 0.9), ("b", 0.7)]
    half = stats.t.ppf(0.975, 99) * np.sqrt(0.2 * 0.8 / 99)
    assert (rows[1].lead_low, rows[1].lead_high) == pytest.approx((0.2 - half, 0.2 + half))
    assert rows[1].against_best == "behind"
    assert verdict_of(rows) == "leads"
    assert [row.name for row in front(rows)] == ["a"]
    half = stats.t.ppf(0.975, 99) * np.sqrt(0.7 * 0.3 / 99)  # for its own score, 0.7
    assert (rows[1].low, rows[1].high) == pytest.approx((0.7 - half, 0.7 + half))


def test_more_methods_widen_the_intervals() -> None:
    two = ranked({"a": {0: answers(90)}, "b": {0: answers(88)}})[1]
    many = ranked({"a": {0: answers(90)}, **{str(n): {0: answers(n)} for n in range(20, 89, 2)}})[1]
    assert two.lead == many.lead
    assert many.lead_low < two.lead_low


def test_equal_methods_tie_and_few_rows_stay_open() -> None:
    assert verdict_of(ranked({"a": {0: answers(280, 300)}, "b": {0: answers(280, 300)}})) == "tie"
    for right in (90, 88):  # an error rate of 1 in 100 is often missed
        assert verdict_of(ranked({"a": {0: answers(90)}, "b": {0: answers(right)}})) == "open"
    for count, verdict in ((19, "open"), (20, "leads")):
        few = ranked({"a": {0: answers(count, count)}, "b": {0: answers(1, count)}})
        assert (verdict_of(few), few[0].units) == (verdict, count)
    table = {"a": {0: answers(280, 300)}, "b": {0: answers(276, 300)}, "c": {0: answers(280, 300)}}
    assert [row.against_best for row in ranked(table)] == ["best", "tie", "open"]
    assert (verdict_of(ranked(table)), len(front(ranked(table)))) == ("open", 3)
    one = ranked({"a": {0: Parts(np.array([0.9]), np.ones(1))}, "b": {0: Parts(np.array([0.1]), np.ones(1))}})
    assert verdict_of(one) == "open"
    assert (one[0].low, one[0].high, one[1].lead_low, one[1].lead_high) == (0, 1, -1, 1)


def test_a_perfect_score_is_not_certain_and_scores_stay_between_their_bounds() -> None:
    """If all n answers are right, up to 3 / n of all others may be wrong, at 95 % confidence."""
    row = ranked({"a": {0: answers(60, 60)}})[0]
    assert (row.low, row.high) == (1 - 3 / 60, 1.0)
    assert 0.9 < (1 - 3 / 60) ** 60 / 0.05 < 1.0  # an error rate this large is missed with probability 5 %
    equal = ranked({"a": {0: answers(60, 60)}, "b": {0: answers(60, 60)}})[1]
    assert (equal.lead_low, equal.lead_high) == (-3 / 60, 3 / 60)
    assert ranked({"a": {0: Parts(np.resize([1.0, -2.9], 30), np.ones(30))}}, lowest=-1.0)[0].low == -1.0


def test_equal_methods_are_rarely_called_behind() -> None:
    """With six equal methods, three seeds and 60 units, at most one table in ten has a false verdict."""
    random, false = np.random.default_rng(3), 0
    for _ in range(200):
        easy = random.beta(3, 1, 60)
        runs = {
            str(name): {seed: Parts((random.random(60) < easy).astype(float), np.ones(60)) for seed in range(3)}
            for name in range(6)
        }
        false += any(row.against_best == "behind" for row in ranked(runs))
    assert false <= 20


def test_methods_are_compared_on_their_common_seeds() -> None:
    first, second = {0: answers(90), 1: answers(80), 5: answers(10)}, {1: answers(70), 5: answers(9), 7: answers(99)}
    assert in_common(first, second) == ([first[1], first[5]], [second[1], second[5]])
    assert in_common(first, {3: second[1]}) == ([first[0], first[1], first[5]], [second[1]])
    others = {1: answers(70), 8: answers(9)}  # one common seed is not enough
    assert in_common(first, others) == ([first[0], first[1]], [others[1], others[8]])


def test_without_test_units_only_seeds_decide_and_nothing_is_a_tie() -> None:
    def scores(*values: float) -> dict[int, Parts]:
        return {seed: Parts(np.array([value]), np.ones(1)) for seed, value in enumerate(values)}

    table = {"a": scores(0.80, 0.82, 0.84), "b": scores(0.70, 0.721, 0.74), "c": scores(0.80, 0.82, 0.84)}
    assert {row.name: row.against_best for row in ranked(table, seeds_alone=True)} == {
        "a": "best", "b": "behind", "c": "open",
    }  # fmt: skip
    lead = ranked({"a": table["a"], "b": table["b"]}, seeds_alone=True)[1]
    by_scipy = stats.ttest_rel([0.80, 0.82, 0.84], [0.70, 0.721, 0.74]).confidence_interval(0.95)
    assert (lead.lead_low, lead.lead_high) == pytest.approx(tuple(by_scipy))
    assert ranked(table, seeds_alone=True)[2].lead_high > lead.lead_high  # with three methods, the interval is wider
    assert ranked({"a": scores(0.9), "b": scores(0.1)}, seeds_alone=True)[1].against_best == "open"

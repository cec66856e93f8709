"""Leaderboards: which runs form a line, their order by each metric, and verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from labkit.evaluation import Parts, lead_of
from labkit.evaluation.scores import Scores
from labkit.runs import EARLIER, settings_of
from labkit.sentpwnet.method import Triplet
from labkit.trials.leaderboard import Line, Result, leaderboard


def result(
    method: str,
    value: float,
    seed: int = 0,
    *,
    items: Sequence[int] | None = None,
    others: Sequence[int] | None = None,
    corpus: str = "c",
    **settings: Any,
) -> Result:
    """A run with item results for "accuracy" (`items`) and "hit@1" (`others`)."""
    asked = {name: each for name, each in (("accuracy", items), ("hit@1", others)) if each is not None}
    parts = {name: Parts(np.array(each, float), np.ones(len(each))) for name, each in asked.items()}
    figures = {"accuracy": value, "f1": value / 2, "intra": 1 - value}
    figures |= {name: part.figure for name, part in parts.items()}
    scores = Scores("c", "test", "accuracy", figures, parts=parts)
    return Result(f"{method}-{value}-{seed}", method, settings, corpus, f"print of {corpus}", seed, scores)


def seeds(method: str, *values: float, **more: Any) -> list[Result]:
    return [result(method, value, seed, **more) for seed, value in enumerate(values)]


def table(lines: list[Line]) -> list[tuple[str, str]]:
    return [(line.name, line.verdict) for line in lines]


def test_the_best_is_first_and_overlapping_spreads_stay_open() -> None:
    lines = leaderboard(
        [*seeds("far", 0.10, 0.11, 0.12), *seeds("near", 0.80, 0.84, 0.88), *seeds("first", 0.84, 0.86, 0.88)]
    )
    assert table(lines) == [("first", "best"), ("near", "open"), ("far", "behind")]
    two = leaderboard([*seeds("a", 0.9, 0.8), *seeds("b", 0.1, 0.2)])  # too few seeds
    assert table(two) == [("a", "best"), ("b", "open")]
    assert two[0].spread is None
    close = leaderboard([*seeds("a", 0.90, 0.91), *seeds("b", 0.10, 0.105)])  # the seeds agree by luck
    assert (table(close), close[1].lead) == ([("a", "best"), ("b", "open")], None)


GOOD, CLOSE, POOR = [1] * 40, [1] * 39 + [0], [1] * 10 + [0] * 30


def test_the_interval_over_items_decides_and_close_lines_stay_open() -> None:
    runs = [result("poor", 0.25, items=POOR), result("close", 0.975, items=CLOSE), result("good", 1.0, items=GOOD)]
    lines = leaderboard(runs)
    assert table(lines) == [("good", "best"), ("close", "open"), ("poor", "behind")]
    assert lines[0].lead is None
    assert lines[2].lead is not None
    pairwise = lead_of(*([each.scores.parts["accuracy"]] for each in (runs[2], runs[0])))
    assert lines[2].lead.interval() == pytest.approx(pairwise.interval(0.975))  # two lines are compared with the best


def test_lines_are_ordered_and_judged_by_the_requested_metric() -> None:
    runs = [result("a", 1.0, items=GOOD, others=POOR), result("b", 0.25, items=POOR, others=GOOD)]
    assert table(leaderboard(runs)) == [("a", "best"), ("b", "behind")]
    assert table(leaderboard(runs, "hit@1")) == [("b", "best"), ("a", "behind")]
    assert leaderboard(runs, "hit@1")[0].mean == 1
    assert table(leaderboard(runs, "f1")) == [("a", "best"), ("b", "open")]  # no items, and one run each
    assert {line.verdict for line in leaderboard(runs, "intra")} == {"no order"}  # a large spread may be good or bad


def test_seeds_and_items_share_one_interval() -> None:
    apart = leaderboard([*seeds("a", 0.9, 0.91, 0.92, items=GOOD), *seeds("b", 0.5, 0.51, 0.52, items=POOR)])
    assert table(apart) == [("a", "best"), ("b", "behind")]
    halves = [[1] * 40, [0] * 40, [1] * 20 + [0] * 20]
    wide = [result("a", 0.9, seed, items=items) for seed, items in enumerate(halves)]
    assert table(leaderboard([*wide, *seeds("b", 0.5, 0.51, 0.52, items=POOR)])) == [("a", "best"), ("b", "open")]
    alone = leaderboard([*seeds("a", 0.9, 0.91, 0.92, items=GOOD), result("b", 0.25, items=POOR)])
    assert table(alone) == [("a", "best"), ("b", "behind")]  # one run is compared with every seed
    fewer = leaderboard([*seeds("a", 0.9, 0.91, 0.92, items=GOOD), *seeds("b", 0.5, 0.51, items=POOR)])
    assert table(fewer) == [("a", "best"), ("b", "behind")]


def test_runs_are_paired_by_seed_and_not_by_position() -> None:
    """A seed affects both methods equally. One has seeds 0 to 3, the other 1 to 4, so they share three."""
    moved = (0.3, 0.2, 0.4, 0.1, 0.2)
    first = [result("first", 0.52 + moved[seed] + 0.001 * seed, seed) for seed in range(4)]
    second = [result("second", 0.45 + moved[seed], seed) for seed in range(1, 5)]
    lines = leaderboard([*first, *second])
    assert table(lines) == [("first", "best"), ("second", "behind")]
    assert lines[1].lead is not None
    assert lines[1].lead.lead == pytest.approx(0.072)


def test_a_run_that_saw_the_test_sentences_is_never_the_best() -> None:
    runs = [
        result("sbert-lp", 1.0, items=GOOD, embedded="all"),
        result("a", 0.975, items=CLOSE),
        result("b", 0.25, items=POOR),
    ]
    lines = leaderboard(runs)
    assert table(lines) == [("sbert-lp", "saw test"), ("a", "best"), ("b", "behind")]
    assert lines[2].lead is not None
    pairwise = lead_of(*([each.scores.parts["accuracy"]] for each in (runs[1], runs[2])))
    assert lines[2].lead.interval() == pytest.approx(pairwise.interval())
    assert table(leaderboard(runs[:1])) == [("sbert-lp", "saw test")]
    seen, unseen = result("sbert-lp", 0.9, embedded="all"), result("sbert-lp", 0.8, embedded="train")
    other = result("sbert-lp", 0.7, corpus="d", embedded="all")  # it saw the sentences of another corpus
    assert [line.saw_test for line in leaderboard([seen, unseen, other])] == [True, False, False]


def test_lines_are_grouped_and_named_by_settings() -> None:
    runs = [
        result("a", 0.9, loss="x", size=3, device="cpu"),
        result("a", 0.8, 1, loss="x", size=3, device="cuda"),
        result("a", 0.5, loss="y", size=3, device="cpu"),
        result("b", 0.1, loss="z"),
    ]
    lines = leaderboard(runs)
    assert [line.name for line in lines] == ["a loss=x", "a loss=y", "b"]
    assert [len(line.results) for line in lines] == [2, 1, 1]


def test_a_run_of_an_earlier_version_shares_the_line_of_an_equal_new_run() -> None:
    """Its record lacks a setting that was added later, and has another under its old name."""
    kind = Triplet.Settings
    today = kind(temperature=EARLIER["temperature"]).values()
    old = {name: value for name, value in today.items() if name not in ("temperature", "max_grad_norm")}
    records = [old | {"clip": today["max_grad_norm"]}, today, kind().values()]
    results = []
    for seed, settings in enumerate(records):
        record = {"method": "triplet", "settings": settings, "corpus": "c", "fingerprint": "f", "seed": seed}
        model = Triplet(settings_of(kind, settings))
        results.append(Result.of(str(seed), record, model, result("triplet", 0.5).scores))
    assert [[each.run for each in line.results] for line in leaderboard(results)] == [["0", "1"], ["2"]]


@pytest.mark.parametrize(("times", "verdict"), [(1, "open"), (10, "tie")])  # a rate of 3 / 40 or 3 / 400 may be missed
def test_no_run_is_the_best_among_equal_scores(times: int, verdict: str) -> None:
    lines = leaderboard([result(name, 1.0, items=GOOD * times) for name in "abcd"])
    assert [line.verdict for line in lines] == [verdict] * 4


def test_a_small_test_split_decides_nothing() -> None:
    few = [result("best", 1.0, items=[1] * 10), result("other", 0.0, items=[0] * 10)]
    assert [(line.verdict, line.lead) for line in leaderboard(few)] == [("best", None), ("open", None)]


def test_corpora_with_one_name_are_two_lines() -> None:
    runs = [result("a", 1.0, items=GOOD), replace(result("a", 0.25, items=POOR), fingerprint="another")]
    assert [line.mean for line in leaderboard(runs)] == [1.0, 0.25]

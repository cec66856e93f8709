"""Runs side by side: which are one line, who is first, and when a difference is none."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from labkit.evaluation import paired_test
from labkit.leaderboard import Line, Result, leaderboard
from labkit.scores import Scores


def result(
    method: str,
    value: float,
    seed: int = 0,
    *,
    items: Sequence[int] | None = None,
    corpus: str = "c",
    **settings: Any,
) -> Result:
    scores = Scores(
        "c", "test", "accuracy", {"accuracy": value, "f1": value / 2}, None if items is None else np.array(items)
    )
    return Result(f"{method}-{value}-{seed}", method, settings, corpus, f"print of {corpus}", seed, scores)


def seeds(method: str, *values: float, **more: Any) -> list[Result]:
    return [result(method, value, seed, **more) for seed, value in enumerate(values)]


def table(lines: list[Line]) -> list[tuple[str, str]]:
    return [(line.name, line.verdict) for line in lines]


def test_mean_and_spread_by_hand() -> None:
    (line,) = leaderboard(seeds("a", 0.1, 0.2, 0.6))
    assert line.mean == pytest.approx(0.3)
    assert line.means == pytest.approx({"accuracy": 0.3, "f1": 0.15})
    assert line.spread is not None
    assert line.spread.spread == pytest.approx(0.07**0.5)  # ((0.2² + 0.1² + 0.3²) / 2) ** 0.5
    assert line.verdict == "best"


def test_the_best_first_and_a_tie_inside_the_spread() -> None:
    lines = leaderboard(
        [*seeds("far", 0.10, 0.11, 0.12), *seeds("near", 0.80, 0.84, 0.88), *seeds("first", 0.84, 0.86, 0.88)]
    )
    assert table(lines) == [("first", "best"), ("near", "tie"), ("far", "behind")]


def test_fewer_than_three_seeds_have_no_spread() -> None:
    lines = leaderboard([*seeds("a", 0.9, 0.8), *seeds("b", 0.1, 0.2, 0.3)])
    assert lines[0].spread is None
    assert lines[1].spread is not None
    assert table(lines) == [("a", "best"), ("b", "unknown")]


def test_items_decide_by_the_paired_test() -> None:
    good, poor = [1] * 40, [1] * 10 + [0] * 30
    close = [1] * 39 + [0]
    runs = [result("poor", 0.25, items=poor), result("close", 0.975, items=close), result("good", 1.0, items=good)]
    lines = leaderboard(runs)
    assert table(lines) == [("good", "best"), ("close", "tie"), ("poor", "behind")]
    assert lines[0].test is None
    assert lines[2].test == paired_test(good, poor)


def test_items_are_means_over_the_seeds() -> None:
    first = [result("a", 1.0, 0, items=[1, 1, 1, 1]), result("a", 0.5, 1, items=[1, 1, 0, 0])]
    lines = leaderboard([*first, result("b", 0.5, items=[0, 0, 1, 1])])
    assert lines[0].items is not None
    assert lines[0].items.tolist() == [1.0, 1.0, 0.5, 0.5]
    assert lines[1].test == paired_test([1.0, 1.0, 0.5, 0.5], [0, 0, 1, 1])


def test_both_must_speak_for_a_difference() -> None:
    good, poor = [1] * 40, [1] * 20 + [0] * 20
    apart = leaderboard([*seeds("a", 0.9, 0.91, 0.92, items=good), *seeds("b", 0.5, 0.51, 0.52, items=poor)])
    assert table(apart) == [("a", "best"), ("b", "behind")]
    spread = leaderboard([*seeds("a", 0.5, 0.9, 1.3, items=good), *seeds("b", 0.5, 0.51, 0.52, items=poor)])
    assert table(spread) == [("a", "best"), ("b", "tie")]
    alike = leaderboard([*seeds("a", 0.9, 0.91, 0.92, items=good), *seeds("b", 0.5, 0.51, 0.52, items=good)])
    assert table(alike) == [("a", "best"), ("b", "tie")]


def test_settings_make_lines_and_name_them() -> None:
    runs = [
        result("a", 0.9, loss="x", size=3, device="cpu"),
        result("a", 0.8, 1, loss="x", size=3, device="cuda"),
        result("a", 0.5, loss="y", size=3, device="cpu"),
        result("b", 0.1, loss="z"),
    ]
    lines = leaderboard(runs)
    assert [line.name for line in lines] == ["a loss=x", "a loss=y", "b"]
    assert [len(line.results) for line in lines] == [2, 1, 1]


def test_corpora_make_lines_too() -> None:
    lines = leaderboard([result("a", 0.9), result("a", 0.8, corpus="d"), result("b", 0.1)])
    assert [line.name for line in lines] == ["a on c", "a on d", "b on c"]


def test_a_seed_counts_once() -> None:
    (line,) = leaderboard([result("a", 0.9), result("a", 0.9), result("a", 0.9)])
    assert len(line.results) == 1
    assert line.spread is None


def test_figures_that_are_not_numbers_come_last() -> None:
    lines = leaderboard([*seeds("a", float("nan"), 0.9, 0.9), result("b", 0.1)])
    assert [line.name for line in lines] == ["b", "a"]
    assert lines[1].spread is None


def test_only_what_all_runs_of_a_line_have_is_averaged() -> None:
    other = result("a", 0.5, 1)
    fuller = dataclasses.replace(other, scores=Scores("c", "test", "accuracy", {"accuracy": 0.5, "auc": 1.0}))
    (line,) = leaderboard([result("a", 0.9), fuller])
    assert line.means == pytest.approx({"accuracy": 0.7})

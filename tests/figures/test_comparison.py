"""Figures of comparisons show the numbers of their records, and no name becomes markup."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from labkit.course.ablation import Figures
from labkit.evaluation import Parts
from labkit.evaluation.scores import Scores
from labkit.figures import (
    label_curves,
    leader_dots,
    leads_before_and_after,
    ours_beside_paper,
    seed_dots,
)
from labkit.papers.bundled_report import Figure, JudgedClaim, TableResult
from labkit.papers.claims import Judgement, ShownLead
from labkit.papers.records import Column, Row, Table
from labkit.trials.leaderboard import Result, leaderboard

EVIL = "<b>bad</b>"


def result(method: str, seed: int, right: int, count: int = 100, **settings: str) -> Result:
    items = np.arange(count) < right
    parts = {"accuracy": Parts(items.astype(float), np.ones(count))}
    scores = Scores("c", "test", "accuracy", {"accuracy": items.mean(), "intra": 0.5}, parts=parts)
    return Result(f"{method}-{seed}", method, settings, "c", "0", seed, scores)


def test_marks_are_the_lines_the_best_on_top_with_the_interval_of_the_difference() -> None:
    lines = leaderboard([*(result("a", seed, 90 + seed) for seed in range(3)), result("b", 0, 40), result("c", 0, 89)])
    figure = leader_dots(lines)
    best, tie, behind, dots = figure.data
    assert (best.x[0], tie.x[0], behind.x[0]) == pytest.approx((0.91, 0.89, 0.4))
    assert (best.y[0], tie.y[0], behind.y[0]) == (0, 1, 2)
    named = dict(zip(figure.layout.yaxis.tickvals, figure.layout.yaxis.ticktext, strict=True))
    assert [named[place].partition(" <b>")[0] for place in (0, 1, 2)] == ["a", "c", "b"]  # each next to its mark
    low, high = lines[1].lead.interval()
    reach = tie.x[0] - tie.error_x.arrayminus[0], tie.x[0] + tie.error_x.array[0]
    assert reach == pytest.approx((0.91 - high, 0.91 - low))
    assert (reach[1] >= 0.91, behind.x[0] + behind.error_x.array[0] >= 0.91) == (True, False)  # open, and behind
    assert [(line.x0, line.x1) for line in figure.layout.shapes] == [(best.x[0], best.x[0])]
    assert sorted(dots.x) == pytest.approx([0.90, 0.91, 0.92])
    described = leader_dots(leaderboard([result("a", 0, 9), result("b", 0, 8)], "intra"))
    assert [list(trace.x) for trace in described.data] == [[0.5, 0.5]]  # larger is neither better nor worse
    judged_and_not = [*lines, *leaderboard([result("sbert-lp", 0, 90, embedded="all")])]
    apart = leader_dots(judged_and_not)
    assert "test" in apart.layout.yaxis.ticktext[-1]  # it has seen the test sentences
    assert [(rule.y0, rule.y1) for rule in apart.layout.shapes[1:]] == [(2.5, 2.5)]
    for wrong in (lambda: leader_dots(leaderboard([result("a", 0, 9)], "none")), lambda: leader_dots([])):
        with pytest.raises(ValueError, match="lines"):
            wrong()


def test_lines_that_all_tie_are_called_ties_on_an_axis_that_ends_at_one() -> None:
    lines = leaderboard([result(name, 0, 400, 400) for name in "abc"])
    assert {line.verdict for line in lines} == {"tie"}
    figure = leader_dots(lines)
    assert len(figure.data) == 1
    low, high = figure.layout.xaxis.range
    assert (low < 1, high) == (True, 1)
    said = "".join(figure.data[0].customdata)
    assert said.count("0.000 [−0.0") == 2
    assert not re.search(r"[-−+]0\.0+\b", said)
    part = leader_dots(leaderboard([result("a", 0, 100), result("b", 0, 100), result("c", 0, 40)]))
    assert len(part.data) == 2
    assert part.layout.xaxis.range[1] == 1


def test_without_an_interval_nothing_is_drawn_as_one() -> None:
    """Ten test items, or one run each: too few to compare with the best."""
    lines = leaderboard([result("a", 0, 9, 10), result("b", 0, 1, 10)])
    assert [line.lead for line in lines] == [None, None]
    figure = leader_dots(lines)
    assert [trace.x[0] for trace in figure.data] == [0.9, 0.1]
    assert [*figure.data[1].error_x.array, *figure.data[1].error_x.arrayminus] == pytest.approx([0, 0])
    assert not figure.layout.shapes
    assert [text.count("0.") for text in figure.layout.yaxis.ticktext] == [1, 1]
    once = {"a": {0: {"auc": 0.9}}, "b": {0: {"auc": 0.1}}}
    means = seed_dots(Figures("t", "f", once, {}), "auc").data[1]
    assert (list(means.x), list(means.error_x.array)) == ([0.9, 0.1], [0, 0])
    assert list(means.marker.symbol) == ["diamond"] * 2  # none is shown to be behind


def test_our_scores_and_the_papers_have_different_marks() -> None:
    figures = (
        Figure(EVIL, "f1", 0.7, (0.71, 0.72, 0.73), (0, 1, 2)),
        Figure("two", "f1", 0.8, why="not run here"),
        Figure("neighbours", "f1", None, (320.0,), (0,)),
        Figure("three", "f1", None, (0.5,), (0,), "seen in <b>training</b>"),
    )
    made = [Row(figure.row, (figure.published,), why_not="not run here") for figure in figures]
    rows = tuple(replace(row, counted=row.name == "neighbours") for row in made)  # a count is not a score and not drawn
    table = TableResult(Table("film", "1", "", (Column("f1", "f1", "questions"),), rows), figures)
    printed, ours = ours_beside_paper(table, "f1").data
    assert (list(printed.x), list(printed.y)) == ([0.7, 0.8], [0, 1])
    assert (list(ours.y), list(ours.x)) == ([0, 2], pytest.approx([0.72, 0.5]))
    assert list(ours.error_x.array) == pytest.approx([0.01, 0.0])
    assert list(ours.marker.symbol) == ["circle", "circle-open"]  # the paper's is a diamond
    assert list(ours.text) == ["", "<br>* seen in &lt;b&gt;training&lt;/b&gt;"]
    assert printed.marker.symbol == "diamond-open"
    ticks = ours_beside_paper(table, "f1").layout.yaxis.ticktext
    assert (ticks[0], ticks[1:]) == ("&lt;b&gt;bad&lt;/b&gt;", ("two", "three *"))
    with pytest.raises(ValueError, match="column"):
        ours_beside_paper(table, "f2")


def table() -> Figures:
    values = {"one": (0.80, 0.82, 0.84), "two": (0.70, 0.70, 0.73), "<b>still</b>": (0.5,)}
    cells = {name: {seed: {"auc": value} for seed, value in enumerate(each)} for name, each in values.items()}
    return Figures("t", "f", cells, {})


def test_seed_dots_show_every_seed_the_means_and_what_is_behind() -> None:
    figure = seed_dots(table(), "auc")
    dots, means = figure.data
    assert list(dots.x) == [0.80, 0.82, 0.84, 0.70, 0.70, 0.73, 0.5]
    assert list(dots.y) == [0, 0, 0, 1, 1, 1, 2]
    assert list(means.x) == pytest.approx([0.82, 0.71, 0.5])
    assert list(means.error_x.array) == pytest.approx([0.02, 3**0.5 / 100, 0.0])
    assert list(means.marker.symbol) == ["diamond", "diamond-open", "diamond-open"]  # two is .10, .12, .11 behind
    assert list(figure.layout.yaxis.ticktext)[:2] == ["one", "two"]
    assert "<b>" not in figure.layout.yaxis.ticktext[2]  # a name is text, not markup


def test_label_curve_starts_at_no_labels() -> None:
    curves = {EVIL: [(0, "<b>still</b>"), (100, "two"), (400, "one")], "other": [(100, "two")]}
    figure = label_curves(table(), "auc", curves, {"level": "<b>still</b>"})
    line, other, level = figure.data
    assert (list(line.x), list(line.y)) == ([50, 100, 400], pytest.approx([0.5, 0.71, 0.82]))
    assert list(line.error_y.array) == pytest.approx([0.0, 3**0.5 / 100, 0.02])
    assert (list(other.x), list(level.x), list(level.y)) == ([100], [50, 400], [0.5, 0.5])
    assert line.marker.symbol != other.marker.symbol
    assert len({line.line.dash, other.line.dash}) == 2
    assert figure.layout.xaxis.type == "log"
    assert list(figure.layout.xaxis.ticktext) == ["0", "100", "400"]
    assert "<b>" not in line.name


def test_leads_before_and_after_have_their_intervals() -> None:
    leads = ShownLead("f1", EVIL, "b", 1, 1, 0.2, 0.1, 0.3), ShownLead("f1", EVIL, "c", 1, 1, -0.01, -0.03, 0.02)
    claims = (
        JudgedClaim(f"one {EVIL}", None, Judgement("open"), *leads),
        JudgedClaim("no second row", None, Judgement("open")),
    )
    table = TableResult(Table("film", "9", "caption", (), ()), (), claims)
    figure = leads_before_and_after(table.leads)
    before, after = figure.data
    assert (list(before.x), list(after.x)) == ([0.2], [-0.01])
    assert (before.error_x.array[0], before.error_x.arrayminus[0]) == pytest.approx((0.1, 0.1))
    assert (after.error_x.array[0], after.error_x.arrayminus[0]) == pytest.approx((0.03, 0.02))
    assert before.y[0] < 0 < after.y[0]
    assert len(figure.layout.annotations) == 1
    assert "<b>" not in figure.layout.annotations[0].text + before.text[0]

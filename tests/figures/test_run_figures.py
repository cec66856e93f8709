"""Figures of trainings, of comparisons and of the papers' tables carry their records' numbers."""

from __future__ import annotations

import numpy as np
import pytest

from labkit.evaluation import Parts
from labkit.evaluation.comparison import Spread
from labkit.evaluation.leaderboard import Result, leaderboard
from labkit.evaluation.scores import Scores
from labkit.figures import decoder_curves, leader_bars, ours_beside_paper, training_curves
from labkit.lab.papers.records import Column, Row, Table
from labkit.lab.papers.stored import Figure, TableResult
from labkit.runs import History

EVIL = "<b>bad</b>"


def result(method: str, seed: int, right: int, **settings: str) -> Result:
    items = np.arange(100) < right
    parts = {"accuracy": Parts(items.astype(float), np.ones(100))}
    scores = Scores("c", "test", "accuracy", {"accuracy": items.mean(), "intra": 0.5}, parts=parts)
    return Result(f"{method}-{seed}", method, settings, "c", "0", seed, scores)


def test_curves_are_the_histories() -> None:
    histories = {
        EVIL: History(({"epoch": 1, "loss": 2.0, "dev_auc": 0.5}, {"epoch": 2, "loss": 1.0, "dev_auc": 0.75})),
        "film": History(({"epoch": 1, "objective": 9.0},)),
    }
    figure = training_curves(histories)
    assert [text.text for text in figure.layout.annotations] == ["loss", "objective", "AUC on dev"]
    assert [(trace.name, list(trace.y)) for trace in figure.data] == [
        ("&lt;b&gt;bad&lt;/b&gt;", [2.0, 1.0]),
        ("&lt;b&gt;bad&lt;/b&gt;", [0.5, 0.75]),
        ("film", [9.0]),
    ]
    assert [trace.showlegend for trace in figure.data] == [True, False, True]
    assert figure.data[0].line.dash != figure.data[2].line.dash
    with pytest.raises(ValueError, match="no loss and no dev figure"):
        training_curves({"tfidf": History()})


def test_bars_are_the_lines_the_best_on_top() -> None:
    lines = leaderboard([*(result("a", seed, 90 + seed) for seed in range(3)), result("b", 0, 40), result("c", 0, 89)])
    figure = leader_bars(lines)
    bars = {trace.name: trace for trace in figure.data if trace.type == "bar"}
    assert list(bars) == ["best", "tie with the best", "behind"]
    assert bars["best"].x[0] == pytest.approx(0.91)
    assert bars["behind"].x[0] == pytest.approx(0.4)
    assert (bars["best"].y[0], bars["tie with the best"].y[0], bars["behind"].y[0]) == (0, 1, 2)
    assert [(name.text, name.y < place) for place, name in enumerate(figure.layout.annotations)] == [
        ("a", True),
        ("c", True),
        ("b", True),
    ]  # above its bar: the axis runs down
    dots = figure.data[-1]
    assert sorted(dots.x) == pytest.approx([0.90, 0.91, 0.92])
    described = leader_bars(leaderboard([result("a", 0, 9), result("b", 0, 8)], "intra"))
    assert [(trace.name, list(trace.x)) for trace in described.data] == [
        ("neither better nor worse when larger", [0.5, 0.5])
    ]
    with pytest.raises(ValueError, match="figure is 'none'"):
        leader_bars(leaderboard([result("a", 0, 9)], "none"))
    told = leader_bars(leaderboard([result("sbert-lp", 0, 90, embedded="all")])).layout.annotations[0].text
    assert told == "sbert-lp · saw the test sentences"  # where it leads, and not elsewhere
    with pytest.raises(ValueError, match="lines are empty"):
        leader_bars([])


def test_ours_and_the_papers_figures_are_told_apart() -> None:
    figures = (
        Figure(EVIL, "f1", 0.7, Spread(0.72, 0.01, ()), (0, 1, 2)),
        Figure("two", "f1", 0.8, why="not run here"),
        Figure("three", "f1", None, Spread(0.5, 0.0, ()), (0,), "seen in <b>training</b>"),
    )
    rows = tuple(Row(figure.row, (figure.published,), why_not="not run here") for figure in figures)
    table = TableResult(Table("film", "1", "", (Column("f1", "f1", "questions"),), rows), figures)
    printed, ours = ours_beside_paper(table, "f1").data
    assert (list(printed.x), list(printed.y)) == ([0.7, 0.8], [0, 1])
    assert (list(ours.x), list(ours.y), list(ours.error_x.array)) == ([0.72, 0.5], [0, 2], [0.01, 0.0])
    assert list(ours.marker.symbol) == ["circle", "circle-open"]  # and the paper's is a diamond
    assert list(ours.text) == ["", "<br>* seen in &lt;b&gt;training&lt;/b&gt;"]
    assert printed.marker.symbol == "diamond-open"
    ticks = ours_beside_paper(table, "f1").layout.yaxis.ticktext
    assert (ticks[0], ticks[1:]) == ("&lt;b&gt;bad&lt;/b&gt;", ("two", "three *"))
    with pytest.raises(ValueError, match="column is 'f2', expected one of f1"):
        ours_beside_paper(table, "f2")


def test_the_decoders_losses_stand_under_what_a_guess_costs() -> None:
    rows = ({"epoch": 1, "l_auto": 4.5, "l_para": 4.6, "loss": 9.1}, {"epoch": 2, "l_auto": 1.5, "l_para": 2.5})
    figure = decoder_curves(History(rows), words=1000)
    assert [(trace.name, list(trace.y)) for trace in figure.data] == [("copy", [4.5, 1.5]), ("paraphrase", [4.6, 2.5])]
    assert len({(trace.line.dash, trace.marker.symbol) for trace in figure.data}) == 2  # not by colour alone
    assert figure.layout.shapes[0].y0 == pytest.approx(np.log(1000))
    assert figure.layout.annotations[0].text == "a guess among 1,000 words"
    with pytest.raises(ValueError, match="l_auto"):
        decoder_curves(History(({"epoch": 1, "loss": 2.0},)), words=1000)

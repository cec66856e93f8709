"""Figures of trainings show the numbers of their histories."""

from __future__ import annotations

import re

import numpy as np
import pytest

from labkit.evaluation.geometry import cosines_over_epochs
from labkit.figures import cosine_ridges, training_curves
from labkit.figures.epochs import curve_columns
from labkit.runs import History, Snapshots

EVIL = "<b>bad</b>"


def test_curves_are_the_histories_and_shares_end_at_one() -> None:
    histories = {
        EVIL: History(({"epoch": 1, "loss": 2.0, "dev_auc": 0.5}, {"epoch": 2, "loss": 1.0, "dev_auc": 0.75})),
        "film": History(({"epoch": 1, "objective": 9.0},)),
    }
    figure = training_curves(histories)
    assert [(trace.name, list(trace.y)) for trace in figure.data] == [
        ("&lt;b&gt;bad&lt;/b&gt;", [2.0, 1.0]),
        ("&lt;b&gt;bad&lt;/b&gt;", [0.5, 0.75]),
        ("film", [9.0]),
    ]
    assert [trace.showlegend for trace in figure.data] == [True, False, True]
    assert figure.data[0].line.dash != figure.data[2].line.dash
    sizes = [list(trace.marker.size) for trace in figure.data]
    assert [len(set(each)) for each in sizes] == [2, 2, 1]  # film's last iterate counts, whatever its score
    assert sizes[0][1] > sizes[0][0]  # the weights of epoch 2, the better one, are kept
    assert 2 < figure.layout.xaxis.range[1] < 2.5
    with pytest.raises(ValueError, match="histories"):
        training_curves({"tfidf": History()})
    layout = training_curves({"a": History(({"epoch": 1, "loss": 2.0, "dev_accuracy": 1.0},))}).layout
    assert layout.yaxis2.autorangeoptions.clipmax == pytest.approx(1, abs=0.05)
    assert layout.yaxis.autorangeoptions.clipmax is None  # a loss has no upper limit


def test_lines_have_their_names_at_their_ends() -> None:
    ends = {"high": 0.9, "low": 0.1}
    histories = {
        name: History(({"epoch": 1, "dev_auc": 0.0}, {"epoch": 2, "dev_auc": end})) for name, end in ends.items()
    }
    figure = training_curves(histories, ["dev_auc"], height=390)
    labels = [label for label in figure.layout.annotations if label.x == 2]
    assert [label.text.split()[-1] for label in labels] == ["high", "low"]
    assert [label.y for label in labels] == [0.9, 0.1]
    runs = [f"{name}-questions-of-mine-seed{seed}" for name in ("siamese", "sentpwnet") for seed in (1, 2)]
    alike = training_curves(dict.fromkeys(runs, histories["low"]), ["dev_auc"], height=390)
    assert len({label.text for label in alike.layout.annotations if label.x == 2}) == 4  # they can be told apart


def test_metrics_of_the_probe_have_a_panel_each() -> None:
    names = [f"probe_{name}" for name in "abcdef"]
    rows = [{"epoch": epoch, **{name: epoch + place for place, name in enumerate(names)}} for epoch in range(3)]
    histories = {"mine": History(tuple(rows)), "old": History(({"epoch": 1, "loss": 1.0},))}
    assert curve_columns(histories) == ["loss"]
    figure = training_curves(histories, names)
    assert [list(trace.y) for trace in figure.data] == [histories["mine"].column(name) for name in names]
    tops = [figure.layout[f"yaxis{number}"].domain[1] for number in ("", 2, 3, 4, 5, 6)]
    assert tops[0] == tops[1] == tops[2] > tops[3] == tops[4] == tops[5]


def test_ridges_are_the_shares_of_the_cosines() -> None:
    probe, random = Snapshots(tuple("vwxyz"), tuple("aabbb")), np.random.default_rng(0)
    for epoch in range(3):
        probe = probe.with_epoch(epoch, random.standard_normal((5, 3)))
    run = cosines_over_epochs(probe)
    figure = cosine_ridges(run)
    assert list(figure.layout.yaxis.ticktext) == ["epoch 0", "epoch 1", "epoch 2"]
    for place in range(3):
        positive, negative = figure.data[2 * place : 2 * place + 2]
        assert (positive.line.dash, negative.line.dash) == ("solid", "dot")  # not by colour alone
        heights = [np.array(trace.y[1:-1]) + place for trace in (positive, negative)]
        scale = 0.92 / max(run.positive[place].max(), run.negative[place].max())
        np.testing.assert_allclose(heights, [scale * run.positive[place], scale * run.negative[place]], atol=1e-12)
        np.testing.assert_allclose(positive.customdata[1:-1], run.positive[place])
        said = figure.layout.annotations[place].text
        assert [float(mean) for mean in re.findall(r"-?\d\.\d\d", said)] == pytest.approx(run.means[place], abs=6e-3)
    assert [trace.showlegend for trace in figure.data] == [True, True, False, False, False, False]

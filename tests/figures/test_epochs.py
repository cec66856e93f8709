"""Figures of trainings carry their histories' numbers."""

from __future__ import annotations

import numpy as np
import pytest

from labkit.figures import decoder_curves, training_curves
from labkit.runs import History

EVIL = "<b>bad</b>"


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


def test_the_decoders_losses_stand_under_what_a_guess_costs() -> None:
    rows = ({"epoch": 1, "l_auto": 4.5, "l_para": 4.6, "loss": 9.1}, {"epoch": 2, "l_auto": 1.5, "l_para": 2.5})
    figure = decoder_curves(History(rows), words=1000)
    assert [(trace.name, list(trace.y)) for trace in figure.data] == [("copy", [4.5, 1.5]), ("paraphrase", [4.6, 2.5])]
    assert len({(trace.line.dash, trace.marker.symbol) for trace in figure.data}) == 2  # not by colour alone
    assert figure.layout.shapes[0].y0 == pytest.approx(np.log(1000))
    assert figure.layout.annotations[0].text == "a guess among 1,000 words"
    with pytest.raises(ValueError, match="l_auto"):
        decoder_curves(History(({"epoch": 1, "loss": 2.0},)), words=1000)

"""Figures of groups of paraphrases carry their records' numbers."""

from __future__ import annotations

import numpy as np
import pytest

from labkit import figures
from labkit.pthought.view import plane
from tests.figures.examples import ALL, a_handful, some_companions


def test_hills_are_shares_and_their_means_are_marked() -> None:
    found, figure = some_companions(), ALL["hills"]()
    for trace in figure.data:
        assert sum(trace.y) == pytest.approx(1)
    assert {note.text for note in figure.layout.annotations} == {
        f"{found.figures.within:.2f}",
        f"{found.figures.between:.2f}",
    }


def test_groups_have_a_letter_and_a_mark_each() -> None:
    figure = ALL["groups"]()
    assert [note.text for note in figure.layout.annotations] == ["<b>A</b>", "<b>B</b>"]
    marks = [trace for trace in figure.data if trace.mode == "markers"]
    assert [len(trace.x) for trace in marks] == [2, 3]
    assert marks[0].marker.symbol != marks[1].marker.symbol
    with pytest.raises(ValueError, match="plane"):
        figures.paraphrase_groups(a_handful(), plane(np.random.default_rng(0).standard_normal((4, 3))))

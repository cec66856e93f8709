"""Sliders in a notebook: the figure is drawn at once, and again with what the sliders say; without widgets it stays."""

from __future__ import annotations

import sys
from typing import Any

import IPython.display
import pytest

from labkit.explore import Slider, explore

BETA = Slider("β, how sharply", 1.0, 100.0, 1.0, 50.0)
K = Slider("k", 1, 9, 2, 3)


class Screen:
    """What was displayed, in order, and what took a figure's place."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.shown: list[Any] = []
        self.updated: list[Any] = []
        monkeypatch.setattr(IPython.display, "display", self.display)

    def display(self, thing: Any, display_id: bool = False) -> Screen:
        self.shown.append(thing)
        return self

    def update(self, thing: Any) -> None:
        self.updated.append(thing)


def test_a_moved_slider_draws_again(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Screen(monkeypatch)
    explore(lambda beta, k: (beta, k), beta=BETA, k=K)
    beta, k, figure = screen.shown
    assert figure == (50.0, 3)
    assert (beta.description, beta.min, beta.max, beta.step) == ("β, how sharply", 1.0, 100.0, 1.0)
    beta.value = 7.0
    k.value = 5
    assert screen.updated == [(7.0, 3), (7.0, 5)]
    assert isinstance(screen.updated[-1][1], int)


def test_without_widgets_the_figure_stands_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    screen = Screen(monkeypatch)
    explore(lambda beta: beta, beta=BETA)
    assert screen.shown == [50.0]


def test_a_slider_begins_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Screen(monkeypatch)
    with pytest.raises(ValueError, match=r"slider beta has the value 0.0, expected one from 1.0 to 100.0"):
        explore(lambda beta: beta, beta=Slider("β", 1.0, 100.0, 1.0, 0.0))
    assert screen.shown == []

"""Sliders in a notebook: the figure is drawn immediately and after each move; without widgets it is static."""

from __future__ import annotations

import sys
from typing import Any

import IPython.display
import plotly.graph_objects as go
import plotly.io as pio
import pytest
from IPython.display import HTML

from labkit.explore import Slider, explore

BETA = Slider("β, how sharply", 1.0, 100.0, 1.0, 50.0)
K = Slider("k", 1, 9, 2, 3)
SAYS = "What is seen, <all> of it."


class Screen:
    """A display that records shown objects, captions, replaced figures, and figures drawn into the widget."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.shown: list[Any] = []
        self.captions: list[str] = []
        self.updated: list[Any] = []
        self.drawn: list[Any] = []
        self.inside = False
        monkeypatch.setattr(IPython.display, "display", self.display)
        monkeypatch.setattr(IPython.display, "clear_output", lambda wait: self.drawn.clear())
        monkeypatch.setattr("ipywidgets.Output", lambda: self)

    def __enter__(self) -> None:
        self.inside = True

    def __exit__(self, *_: Any) -> None:
        self.inside = False

    def display(
        self, thing: Any, raw: bool = False, display_id: bool = False, metadata: dict[str, Any] | None = None
    ) -> Screen:
        if isinstance(thing, HTML):
            self.captions.append(thing.data)
            return self
        assert raw == isinstance(thing, dict)
        assert metadata == ({"image/png": {"alt": SAYS}} if raw else None)
        (self.drawn if self.inside else self.shown).append(thing)
        return self

    def update(self, thing: Any, raw: bool = False) -> None:
        assert raw == isinstance(thing, dict)
        self.updated.append(thing)


def test_moving_a_slider_redraws_the_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Screen(monkeypatch)
    explore(lambda beta, k: (beta, k), SAYS, beta=BETA, k=K)
    beta, k, place, figure = screen.shown
    assert place is screen
    assert figure == (50.0, 3)
    assert (beta.min, beta.max, beta.step) == (1.0, 100.0, 1.0)
    assert screen.drawn == []
    beta.value = 7.0
    assert screen.drawn == [(7.0, 3)]
    k.value = 5
    assert screen.drawn == [(7.0, 5)]
    assert isinstance(screen.drawn[0][1], int)
    assert screen.updated[0] == {"text/plain": ""}  # the first figure is removed


def test_without_widgets_only_the_figure_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Screen(monkeypatch)
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    explore(lambda beta: beta, SAYS, beta=BETA)
    assert screen.shown == [50.0]


def test_a_slider_must_start_within_its_range(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Screen(monkeypatch)
    with pytest.raises(ValueError, match="slider"):
        explore(lambda beta: beta, SAYS, beta=Slider("β", 1.0, 100.0, 1.0, 0.0))
    assert screen.shown == []


def test_a_figure_is_displayed_so_that_it_can_be_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plotly's figures ignore the place they are given and display themselves, so their MIME bundle is shown."""
    monkeypatch.setattr(pio.renderers, "default", "plotly_mimetype")
    screen = Screen(monkeypatch)
    explore(lambda beta: go.Figure(go.Bar(y=[beta])), SAYS, beta=BETA)
    control, _, first = screen.shown
    assert first["application/vnd.plotly.v1+json"]["data"][0]["y"] == [50.0]
    control.value = 3.0
    assert screen.drawn[0].data[0].y == (3.0,)

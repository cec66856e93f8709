"""Sliders beside a figure in a notebook. In: a function of numbers that draws, a `Slider` for each. Out: what it draws.

The figure is an ordinary output, redrawn in place: it stays where no program runs (on a code host, in print), and where
ipywidgets are missing, as it is at the sliders' first values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Slider:
    """A number somebody moves; `label` as it is read, with the letter of the formula."""

    label: str
    low: float
    high: float
    step: float
    value: float


def explore(draw: Callable[..., Any], **sliders: Slider) -> None:
    """Show `draw(**values)` below its sliders, and again whenever one is moved."""
    from IPython.display import display

    for name, slider in sliders.items():
        if not slider.low <= slider.value <= slider.high:
            raise ValueError(
                f"slider {name} has the value {slider.value}, expected one from {slider.low} to {slider.high}; "
                "begin inside"
            )
    controls = _controls(sliders)
    values = {name: slider.value for name, slider in sliders.items()}
    for control in controls.values():
        display(control)
    shown = display(draw(**values), display_id=True)

    def redraw(_: Any) -> None:
        shown.update(draw(**{name: control.value for name, control in controls.items()}))

    for control in controls.values():
        control.observe(redraw, "value")


def _controls(sliders: dict[str, Slider]) -> dict[str, Any]:
    """A widget for each; none where there are no widgets."""
    try:
        from ipywidgets import FloatSlider, IntSlider, Layout
    except ImportError:
        return {}
    made = {}
    for name, slider in sliders.items():
        kind = IntSlider if isinstance(slider.step, int) else FloatSlider
        made[name] = kind(
            value=slider.value,
            min=slider.low,
            max=slider.high,
            step=slider.step,
            description=slider.label,
            continuous_update=False,  # one drawing a move: a picture takes a moment
            style={"description_width": "initial"},
            layout=Layout(width="min(34em, 95%)"),
        )
    return made

"""Sliders beside a figure in a notebook. In: a function of numbers that draws, a `Slider` for each. Out: what it draws.

At first the figure is an ordinary output, with the sliders' first values: it stays where no program runs (on a code
host, in print), and where ipywidgets are missing. Whoever moves a slider gets it anew in a widget, in its place.
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
    from IPython.display import clear_output, display

    for name, slider in sliders.items():
        if not slider.low <= slider.value <= slider.high:
            raise ValueError(
                f"slider {name} has the value {slider.value}, expected one from {slider.low} to {slider.high}; "
                "begin inside"
            )
    controls = _controls(sliders)
    place: Any = _place() if controls else None
    for widget in (*controls.values(), *([place] if place else [])):
        display(widget)
    drawn, raw = _bundle(draw(**{name: slider.value for name, slider in sliders.items()}))
    first: Any = display(drawn, raw=raw, display_id=True)

    def redraw(_: Any) -> None:
        first.update({"text/plain": ""}, raw=True)  # a figure of plotly's is not drawn anew in its place: it goes
        with place:
            clear_output(wait=True)
            display(draw(**{name: control.value for name, control in controls.items()}))

    for control in controls.values():
        control.observe(redraw, "value")


def _bundle(drawn: Any) -> tuple[Any, bool]:
    """A figure in each of its forms, and that it is ready: one that shows itself could not be taken away again."""
    made = getattr(drawn, "_repr_mimebundle_", None)
    return (made(None, None), True) if made else (drawn, False)


def _place() -> Any:
    from ipywidgets import Output

    return Output()


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

"""Show figures in a notebook, each with a description, some with sliders.

    show(figure, "what it shows")                    the figure and this sentence
    explore(draw, "what it shows", k=Slider(...))    `draw(k=...)` below its sliders, redrawn when one is moved

The sentence is folded below the figure and is also the alternative text of its picture. At first, the figure is an
ordinary output with the initial values of the sliders, so it is visible without a kernel (on a code host, in print) and
without ipywidgets. When a slider is moved, a widget replaces the figure.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Any


@dataclass(frozen=True)
class Slider:
    """A number that a reader can change; `label` is shown next to it, with the letter of the formula."""

    label: str
    low: float
    high: float
    step: float
    value: float


def show(figure: Any, says: str) -> None:
    """Show a figure with a folded description below it."""
    _display(figure, says)
    _caption(says)


def explore(draw: Callable[..., Any], says: str, **sliders: Slider) -> None:
    """Show `draw(**values)` and its sentence below its sliders, and redraw it whenever a slider is moved."""
    from IPython.display import clear_output, display

    for name, slider in sliders.items():
        if not slider.low <= slider.value <= slider.high:
            raise ValueError(
                f"slider {name} has the value {slider.value}, expected a value from {slider.low} to {slider.high}"
            )
    controls, place = _controls(sliders)
    for widget in (*controls.values(), *([place] if controls else [])):
        display(widget)
    first = _display(draw(**{name: slider.value for name, slider in sliders.items()}), says)
    _caption(says)

    def redraw(_: Any) -> None:
        first.update({"text/plain": ""}, raw=True)  # plotly cannot redraw a figure in place, so remove it
        with place:
            clear_output(wait=True)
            display(draw(**{name: control.value for name, control in controls.items()}))

    for control in controls.values():
        control.observe(redraw, "value")


def _display(drawn: Any, says: str) -> Any:
    """Display a figure in each of its forms, so that it can be removed; the `alt` text of a picture is the sentence."""
    from IPython.display import display

    bundle = getattr(drawn, "_repr_mimebundle_", None)
    if bundle is None:
        return display(drawn, display_id=True)
    forms = bundle(None, None) | {"text/plain": says}
    return display(forms, raw=True, metadata={"image/png": {"alt": says}}, display_id=True)


def _caption(says: str) -> None:
    from IPython.display import HTML, display

    display(HTML(f"<details><summary>This picture in words</summary>{escape(says)}</details>"))


def _controls(sliders: dict[str, Slider]) -> tuple[dict[str, Any], Any]:
    """Return a widget for each slider, and a widget to draw into; nothing if ipywidgets is missing."""
    try:
        from ipywidgets import FloatSlider, IntSlider, Layout, Output
    except ImportError:
        return {}, None
    controls = {
        name: (IntSlider if isinstance(slider.step, int) else FloatSlider)(
            value=slider.value,
            min=slider.low,
            max=slider.high,
            step=slider.step,
            description=slider.label,
            continuous_update=False,  # one redraw per move, since a picture takes a moment
            style={"description_width": "initial"},
            layout=Layout(width="min(34em, 95%)"),
        )
        for name, slider in sliders.items()
    }
    return controls, Output()

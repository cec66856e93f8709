"""A figure is made in one pass: no module adds to one that is there. Its panels lie where plotly's own would."""

from __future__ import annotations

import ast
from pathlib import Path

import plotly.graph_objects as go
import pytest
from plotly.subplots import make_subplots

from labkit import figures
from labkit.figures.drawing import Entries, figure_of, hover_lines, margin
from labkit.figures.palette import style
from labkit.figures.panels import below, grid, on, side_by_side, stacked, upright

STEPS = ("add_", "append_trace", "for_each", "set_subplots", "update")
MODULES = sorted(Path(figures.__file__).parent.glob("*.py"))


def plotly_calls(code: str) -> list[str]:
    """What a module asks plotly to make or to change, step by step."""
    called = [node.func for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call)]
    names = [func.attr for func in called if isinstance(func, ast.Attribute)]
    made = [
        f"go.{func.attr}"
        for func in called
        if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id == "go"
    ]
    changed = [
        name for name in names if name.startswith(("add_", "update", "append_trace", "for_each", "set_subplots"))
    ]
    return made + changed


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.stem)
def test_only_one_module_makes_figures_and_none_adds_to_them(module: Path) -> None:
    code = module.read_text(encoding="utf-8")
    assert plotly_calls(code) == (["go.Figure"] if module.stem == "drawing" else [])
    assert "plotly.subplots" not in code


def test_steps_are_seen() -> None:
    assert plotly_calls("figure.add_shape(x0=1)\nfigure.update_layout(height=2)") == ["add_shape", "update_layout"]
    assert plotly_calls("go.Scatter(x=[1])") == ["go.Scatter"]


def test_what_is_drawn_has_the_look_of_all_and_its_own() -> None:
    figure = figure_of(
        [{"type": "bar", "y": [1]}], height=90, margin=margin(34), legend=below(-0.2), frames=[{"name": "a"}]
    )
    assert (figure.layout.height, figure.layout.margin.t, figure.layout.margin.l) == (90, 34, 10)
    assert figure.layout.paper_bgcolor == "rgba(0, 0, 0, 0)"  # fits light and dark
    assert (figure.layout.legend.y, figure.layout.legend.yanchor) == (-0.2, "top")
    assert [frame.name for frame in figure.frames] == ["a"]
    with pytest.raises(ValueError, match="heigth"):
        figure_of([], heigth=90)  # plotly still checks


@pytest.mark.parametrize("shared", [False, True])
def test_panels_beside_each_other_are_where_plotly_puts_them(shared: bool) -> None:
    titles = ["one", "two", "three"]
    y: Entries = {"gridcolor": "#808080"}
    layout = side_by_side(titles, gap=0.07, size=13, x={"title": "t"}, y=y, shared=shared)
    ours = figure_of([{"type": "bar", "y": [1]} | on(panel) for panel in (1, 2, 3)], **layout)
    theirs = make_subplots(1, 3, horizontal_spacing=0.07, subplot_titles=titles, shared_yaxes=shared)
    same_axes(ours, theirs, 3)
    assert [(note.text, note.y) for note in ours.layout.annotations] == [(title, 1.0) for title in titles]
    places = [note.x for note in theirs.layout.annotations]
    assert [note.x for note in ours.layout.annotations] == pytest.approx(places)
    assert [bar.xaxis for bar in ours.data] == ["x", "x2", "x3"]
    assert ours.layout.xaxis3.title.text == "t"
    assert ours.layout.yaxis2.gridcolor == "#808080"


def test_panels_above_each_other_are_where_plotly_puts_them() -> None:
    ours = figure_of([], **stacked((0.5, 0.3, 0.2), gap=0.06, x={}, y={}))
    same_axes(ours, make_subplots(3, 1, vertical_spacing=0.06, row_heights=[0.5, 0.3, 0.2]), 3)


@pytest.mark.parametrize("panels", range(1, 13))
@pytest.mark.parametrize("gap", [0.01, 0.03, 0.04])
def test_no_panel_leaves_the_figure_by_a_rounding(panels: int, gap: float) -> None:
    ours = figure_of([], **side_by_side(["t"] * panels, gap=gap, size=13, x={}, y={}))
    same_axes(ours, make_subplots(1, panels, horizontal_spacing=gap), panels)
    figure_of([], **stacked([0.1 * (panel + 1) for panel in range(panels)], gap=gap, x={}, y={}))


def same_axes(ours: go.Figure, theirs: go.Figure, panels: int) -> None:
    for name in (f"{letter}axis{panel if panel > 1 else ''}" for letter in "xy" for panel in range(1, panels + 1)):
        mine, other = ours.layout[name], theirs.layout[name]
        assert mine.domain == pytest.approx(other.domain)
        assert (mine.anchor, mine.matches, mine.showticklabels) == (other.anchor, other.matches, other.showticklabels)


def test_an_upright_is_plotlys() -> None:
    figure = make_subplots(1, 2)
    for panel in (1, 2):  # plotly draws no line over an empty panel
        figure.add_bar(y=[1], row=1, col=panel)
        figure.add_vline(x=3.0, line={"color": "#808080"}, row=1, col=panel)
    ours = [upright(3.0, {"color": "#808080"}, panel) for panel in (1, 2)]
    assert ours == [shape.to_plotly_json() for shape in figure.layout.shapes]


def test_a_hover_label_has_four_lines_at_most() -> None:
    told = hover_lines("word " * 100).split("<br>")
    assert [len(line) for line in told] == [59] * 4  # twelve words each


def test_thirty_six_classes_look_different() -> None:
    assert len({style(number) for number in range(36)}) == 36
    assert style(36) == style(0)


def test_panels_of_a_grid_do_not_overlap_and_go_row_by_row() -> None:
    layout = grid(["a", "b", "c"], columns=2, gap=(0.1, 0.2), size=12, x={"visible": True}, y={})
    assert layout["xaxis"]["domain"] == layout["xaxis3"]["domain"] == pytest.approx([0, 0.45])
    assert layout["xaxis2"]["domain"] == pytest.approx([0.55, 1])
    assert layout["yaxis"]["domain"] == layout["yaxis2"]["domain"] == pytest.approx([0.6, 1])
    assert layout["yaxis3"]["domain"] == pytest.approx([0, 0.4])
    assert layout["xaxis3"]["visible"]
    assert [(each["text"], each["y"]) for each in layout["annotations"]] == [("a", 1.0), ("b", 1.0), ("c", 0.4)]

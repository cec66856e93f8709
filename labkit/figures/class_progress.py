"""The progress of a class, for a projector: exercises of a notebook, and common mistakes. In: a `ClassProgress`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import plotly.graph_objects as go

from labkit.figures import drawing as draw
from labkit.figures.drawing import Entries
from labkit.palette import COLOURS, INK, NEGATIVE, POSITIVE

if TYPE_CHECKING:
    from labkit.course.collect import ClassProgress, ExerciseCount, SlipCount

ROW = 44  # pixels of an exercise or a slip, readable from the last row
SIZE, SMALL = 18, 16
MOST_SLIPS, WIDE, NAMED = 4, 110, 4  # slips shown, characters of a slip, names next to an exercise
BESIDE = 0.55  # room for names on the right, as a share of the width of a class
LOOKS: tuple[tuple[str, Entries, str], ...] = (  # state of an exercise, its bar, and the number on the bar
    ("answered", {"color": POSITIVE}, "#FFFFFF"),
    (
        "solution read",  # hatched, to differ from the next one in greyscale, too
        {"color": POSITIVE, "pattern": {"shape": "/", "bgcolor": COLOURS[5], "fgcolor": POSITIVE, "solidity": 0.12}},
        "#000000",
    ),
    ("stuck", {"color": NEGATIVE}, "#000000"),
)


def class_progress(progress: ClassProgress, notebook: str | None = None, *, names: bool = False) -> go.Figure:
    """Draw a bar for each exercise that students of a notebook have begun, and below the bars the most common mistakes.

    `notebook` is its number; by default, it is the notebook that most students work on. With `names`, students who are
    stuck are named next to the bar.
    """
    number = notebook or progress.notebook
    counts = [each for each in progress.exercises if each.key[:2] == number]
    if not counts:
        raise ValueError(f"nobody has started an exercise of notebook {number!r}; choose another one")
    slips = [each for each in progress.slips if each.key[:2] == number][:MOST_SLIPS]
    size, rows = len(progress.students), max(1, len(slips))
    layout = draw.stacked([len(counts), rows * 1.35], gap=1.6 / (len(counts) + rows * 1.35), x=draw.BARE, y=draw.BARE)
    across = {"range": [0, size * (1 + BESIDE * names)]}
    layout["xaxis"] |= across | {"tickvals": list(range(0, size + 1, max(1, round(size / 6))))}
    layout["yaxis"] |= draw.ticks([f"{each.key} " for each in counts], 20) | {"range": [len(counts) - 0.4, -0.6]}
    layout["xaxis2"] |= draw.EMPTY | across
    layout["yaxis2"] |= draw.EMPTY | {"range": [rows - 0.4, -1.1]}
    return draw.figure_of(
        [*_bars(counts), _slip_bars(slips)],
        annotations=[*_beside(counts, size, names=names), *_slip_texts(slips)],
        barmode="stack",
        height=170 + ROW * round(len(counts) + rows * 1.35),
        title={"text": f"{size} students · notebook {number}", "x": 0, "xref": "paper", "font": {"size": SIZE + 4}},
        legend={"orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom", "traceorder": "normal"},
        font={"color": INK, "size": SIZE},
        margin=draw.margin(100) | {"l": 80, "r": 60},
        **layout,
    )


def _bars(counts: Sequence[ExerciseCount]) -> list[Entries]:
    done = [(each.answered, each.solution_read, len(each.stuck)) for each in counts]
    inside = {"orientation": "h", "width": 0.7, "textposition": "inside", "insidetextanchor": "middle", "textangle": 0}
    traces = []
    for (name, marker, ink), numbers in zip(LOOKS, zip(*done, strict=True), strict=True):
        label = {"text": [str(number or "") for number in numbers], "textfont": {"color": ink, "size": SIZE}}
        hover = {"name": name, "hovertemplate": f"%{{x}} {name}<extra></extra>"} | draw.on(1)
        traces.append(draw.bars(numbers, list(range(len(counts))), marker, **inside, **label, **hover))
    return traces


def _beside(counts: Sequence[ExerciseCount], size: int, *, names: bool) -> list[Entries]:
    """Write at the end of each bar how many students are at the exercise now; with `names`, also who is stuck."""
    said: list[tuple[str, float, int]] = [
        (f"◀ {len(each.here)} here", each.begun, place) for place, each in enumerate(counts) if each.here
    ]
    for place, each in enumerate(counts if names else ()):
        if each.stuck:
            more = f" + {len(each.stuck) - NAMED}" if len(each.stuck) > NAMED else ""
            said.append((", ".join(draw.short(name, 14) for name in each.stuck[:NAMED]) + more, size * 1.12, place))
    here: Entries = {"size": SMALL, "xanchor": "left", "xref": "x"}
    notes = [draw.annotation(text, x + size / 80, place, yref="y", **here) for text, x, place in said]
    head = draw.annotation("<b>stuck</b>", size * (1.12 + 1 / 80), 1, yref="y domain", yanchor="bottom", **here)
    return [*notes, head] if names else notes


def _slip_bars(slips: Sequence[SlipCount]) -> Entries:
    numbers = [each.students for each in slips]
    look: Entries = {"orientation": "h", "width": 0.35, "cliponaxis": False, "showlegend": False} | draw.on(2)
    look |= {"text": [str(number) for number in numbers], "textposition": "outside", "textfont": {"size": SIZE}}
    look |= {"hovertemplate": "%{x} students<extra></extra>"}
    places = list(range(len(slips))) or [0]
    return draw.bars(numbers or [None], places, {"color": NEGATIVE}, **look)


def _slip_texts(slips: Sequence[SlipCount]) -> list[Entries]:
    here = {"xref": "paper", "xanchor": "left", "yref": "y2", "yanchor": "bottom", "align": "left"}
    texts = [f"{each.key}  {draw.short(each.says, WIDE)}" for each in slips] or [
        ("no mistake was made by two or more students")
    ]
    head = draw.annotation("<b>The most common mistakes, by number of students</b>", 0, -0.75, size=SIZE, **here)
    return [head, *(draw.annotation(text, 0, place - 0.18, size=SMALL, **here) for place, text in enumerate(texts))]

"""A class for the projector: the exercises of a notebook, and the common mistakes. In: a `ClassProgress`."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING

import plotly.graph_objects as go

from labkit.figures.drawing import BARE, EMPTY, Entries, annotation, figure_of, level_bars, margin, on, short, stacked
from labkit.palette import COLOURS, INK, NEGATIVE, POSITIVE

if TYPE_CHECKING:
    from labkit.course.collect import ClassProgress, ExerciseCount, SlipCount

ROW = 44  # pixels of an exercise or a slip, readable from the last row
SIZE, SMALL = 18, 16
MOST_SLIPS, WIDE, NAMED = 4, 110, 4  # slips shown, characters of one, names next to an exercise
BESIDE = 0.55  # of the width of a class, for names on the right
LOOKS: tuple[tuple[str, Entries, str], ...] = (  # what was done with an exercise, its bar, and the number on it
    ("answered", {"color": POSITIVE}, "#FFFFFF"),
    (
        "solution read",  # hatched, to differ from the next in greyscale, too
        {"color": POSITIVE, "pattern": {"shape": "/", "bgcolor": COLOURS[5], "fgcolor": POSITIVE, "solidity": 0.12}},
        "#000000",
    ),
    ("stuck", {"color": NEGATIVE}, "#000000"),
)


def class_progress(progress: ClassProgress, notebook: str | None = None, *, names: bool = False) -> go.Figure:
    """Draw a bar for each exercise of a notebook that was begun, and below them the most common mistakes.

    `notebook` is its number, by default that of the notebook that most students work on. With `names`, students who are
    stuck are named next to the bar.
    """
    number = notebook or progress.notebook
    counts = [each for each in progress.exercises if each.key[:2] == number]
    if not counts:
        raise ValueError(f"nobody has started an exercise of notebook {number!r}; choose another one")
    slips = [each for each in progress.slips if each.key[:2] == number][:MOST_SLIPS]
    size = len(progress.students)
    rows = max(1, len(slips))
    layout = stacked([len(counts), rows * 1.35], gap=1.6 / (len(counts) + rows * 1.35), x=BARE, y=BARE)
    layout["xaxis"] |= {"range": [0, size * (1 + BESIDE * names)], "tickvals": _ticks(size)}
    layout["yaxis"] |= {
        "tickvals": list(range(len(counts))),
        "ticktext": [f"{each.key} " for each in counts],
        "range": [len(counts) - 0.4, -0.6],
    }
    layout["xaxis2"] |= EMPTY | {"range": [0, size * (1 + BESIDE * names)]}
    layout["yaxis2"] |= EMPTY | {"range": [rows - 0.4, -1.1]}
    return figure_of(
        [*_bars(counts), *_slip_bars(slips)],
        annotations=[*_here(counts, size), *(_stuck(counts, size) if names else ()), *_slip_texts(slips)],
        barmode="stack",
        height=170 + ROW * round(len(counts) + rows * 1.35),
        title={"text": f"{size} students · notebook {number}", "x": 0, "xref": "paper", "font": {"size": SIZE + 4}},
        legend={"orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom", "traceorder": "normal"},
        font={"color": INK, "size": SIZE},
        margin=margin(100) | {"l": 80, "r": 60},
        **layout,
    )


def _bars(counts: Sequence[ExerciseCount]) -> list[Entries]:
    """Return what the class did with each exercise, one trace per kind."""
    values = (
        [each.answered for each in counts],
        [each.solution_read for each in counts],
        [len(each.stuck) for each in counts],
    )
    return [
        level_bars(
            numbers,
            list(range(len(counts))),
            marker,
            name=name,
            width=0.7,
            text=[str(number) if number else "" for number in numbers],
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            textfont={"color": ink, "size": SIZE},
            hovertemplate=f"%{{x}} {name}<extra></extra>",
            **on(1),
        )
        for (name, marker, ink), numbers in zip(LOOKS, values, strict=True)
    ]


def _here(counts: Sequence[ExerciseCount], size: int) -> list[Entries]:
    """Say at the end of its bar how many students work on an exercise now."""
    return [
        _beside(f"◀ {len(each.here)} here", each.begun, place, size) for place, each in enumerate(counts) if each.here
    ]


def _stuck(counts: Sequence[ExerciseCount], size: int) -> list[Entries]:
    """Name the students who are stuck, on the right."""
    told = [_beside("<b>stuck</b>", size * 1.12, 1, size) | {"yref": "y domain", "yanchor": "bottom"}]
    for place, each in enumerate(counts):
        if each.stuck:
            shown = ", ".join(short(name, 14) for name in each.stuck[:NAMED])
            more = f" + {len(each.stuck) - NAMED}" if len(each.stuck) > NAMED else ""
            told.append(_beside(shown + more, size * 1.12, place, size))
    return told


def _beside(text: str, x: float, place: float, whole: int) -> Entries:
    return annotation(text, x + whole / 80, place, size=SMALL, xanchor="left", xref="x", yref="y")


def _slip_bars(slips: Sequence[SlipCount]) -> list[Entries]:
    """Return how many students made each mistake."""
    return [
        level_bars(
            [each.students for each in slips] or [None],
            list(range(len(slips))) or [0],
            {"color": NEGATIVE},
            width=0.35,
            showlegend=False,
            text=[str(each.students) for each in slips],
            textposition="outside",
            textfont={"size": SIZE},
            cliponaxis=False,
            hovertemplate="%{x} students<extra></extra>",
            **on(2),
        )
    ]


def _slip_texts(slips: Sequence[SlipCount]) -> list[Entries]:
    """Write each mistake above its bar."""
    here = {"xref": "paper", "xanchor": "left", "yref": "y2", "yanchor": "bottom", "align": "left"}
    texts = [f"{each.key}  {_cut(each.says)}" for each in slips] or ["none that two students have made"]
    head = annotation("<b>The most common mistakes, by number of students</b>", 0, -0.75, size=SIZE, **here)
    return [head, *(annotation(text, 0, place - 0.18, size=SMALL, **here) for place, text in enumerate(texts))]


def _cut(says: str) -> str:
    lines = wrap(says, WIDE)
    return short(lines[0] + "…" * (len(lines) > 1), WIDE + 1) if lines else ""


def _ticks(size: int) -> list[int]:
    """Return a few whole numbers up to the size of the class."""
    step = max(1, round(size / 6))
    return list(range(0, size + 1, step))

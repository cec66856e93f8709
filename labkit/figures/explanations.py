"""A similarity taken apart: by rows of L, by words, by pairs of words. In: an `Explanation`. Out: plotly figures.

The staircases end at the similarity itself: what is not shown one by one is one more step, so that nothing is lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from labkit.figures.drawing import Entries, drawn
from labkit.figures.palette import DIVERGING, FAINT, INK, NEGATIVE, POSITIVE
from labkit.figures.text import short

if TYPE_CHECKING:  # so that a page that draws something else need not wait for torch
    from labkit.film.explanation import Explanation

READABLE = 200  # cells of a square: in more of them a number cannot be read


def explained_rows(found: Explanation, *, top: int = 10, height: int = 380) -> go.Figure:
    """A step for each of the strongest rows, one for the words in common (TF-IDF), one for all the other rows."""
    parts = [(f"row {row}", part) for row, part in found.rows[:top]]
    rest = found.rows[top:]
    parts += [(f"{len(rest)} other rows", sum(part for _, part in rest))] if rest else []
    parts += [("words in common", found.shared)] if found.shared else []
    return _staircase(parts, found.similarity, height)


def explained_words(found: Explanation, *, top: int = 10, height: int = 380) -> go.Figure:
    """A step for each word of both sentences, half of what it takes part in; a: the first sentence, b: the second."""
    named = [(f"{word} (a)", part) for word, part in found.words_a] + [
        (f"{word} (b)", part) for word, part in found.words_b
    ]
    named.sort(key=lambda entry: -abs(entry[1]))
    rest = named[top:]
    parts = [(short(name, 22), part) for name, part in named[:top]]
    parts += [(f"{len(rest)} other words", sum(part for _, part in rest))] if rest else []
    return _staircase(parts, found.similarity, height)


def word_pairs(found: Explanation, *, most: int = 30, height: int = 420) -> go.Figure:
    """What each word of a contributes with each of b: all cells together are the similarity."""
    if not found.word_pairs:
        raise ValueError(
            "explanation has no pair of words, expected both sentences to have a word that was met in training; "
            "choose other sentences"
        )
    a, b = ([word for word, _ in words[:most]] for words in (found.words_a, found.words_b))
    part = {(s, t): value for s, t, value in found.word_pairs}
    z = np.array([[part[s, t] for t in b] for s in a])
    reach = float(np.abs(z).max()) or 1.0
    heat = {
        "type": "heatmap",
        "z": z,
        "zmin": -reach,
        "zmax": reach,
        "colorscale": DIVERGING,
        "colorbar": {"thickness": 12, "tickfont": {"size": 12}, "tickformat": "+.2f"},
        "hovertemplate": "%{z:+.4f}<extra></extra>",
    }
    bare = {"showgrid": False, "zeroline": False}
    return drawn(
        [heat, _numbers(z, reach)] if z.size <= READABLE else [heat],
        xaxis=bare | _named(b) | {"title": "words of b", "tickangle": -40},
        yaxis=bare | _named(a) | {"title": "words of a", "autorange": "reversed"},
        height=height,
    )


def _named(words: Sequence[str]) -> Entries:
    """Of an axis: a word at each whole number."""
    return {"tickvals": list(range(len(words))), "ticktext": [short(word, 16) for word in words]}


def _numbers(z: np.ndarray, reach: float) -> Entries:
    """The numbers of a square's cells: grey on what is pale, so that they are read on a light page and a dark one."""
    rows, columns = np.nonzero(np.abs(z) >= 0.005)
    values = z[rows, columns]
    strong = np.where(values > 0, "#FFFFFF", "#000000")  # on blue, on orange
    return {
        "type": "scatter",
        "x": columns,
        "y": rows,
        "mode": "text",
        "text": [f"{value:+.2f}" for value in values],
        "textfont": {"size": 11, "color": np.where(np.abs(values) > 0.45 * reach, strong, INK).tolist()},
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _staircase(parts: Sequence[tuple[str, float]], total: float, height: int) -> go.Figure:
    """Steps that begin at 0 and end at the total."""
    values = [part for _, part in parts]
    steps = {
        "type": "waterfall",
        "x": list(range(len(parts) + 1)),
        "y": [*values, total],
        "measure": ["relative"] * len(parts) + ["total"],
        "text": [f"{value:+.2f}" for value in values] + [f"{total:.3f}"],
        "textposition": "outside",
        "textfont": {"size": 12, "color": INK},
        "textangle": 0,
        "constraintext": "none",
        "cliponaxis": False,
        "increasing": {"marker": {"color": POSITIVE}},
        "decreasing": {"marker": {"color": NEGATIVE}},
        "totals": {"marker": {"color": "#009E73"}},
        "connector": {"line": {"color": INK, "width": 1}},
        "hovertemplate": "%{customdata:+.4f}<extra></extra>",
        "customdata": [*values, total],
    }
    names = [*(name for name, _ in parts), "similarity"]
    levels = np.concatenate([[0.0], np.cumsum(values), [total]])
    room = 0.12 * (float(np.ptp(levels)) or 1.0)
    span = [float(levels.min()) - (room if levels.min() < 0 else 0), float(levels.max()) + room]
    return drawn(
        [steps],
        xaxis={"tickvals": list(range(len(names))), "ticktext": names, "tickangle": -40, "showgrid": False},
        yaxis={"title": "similarity", "gridcolor": FAINT, "zerolinecolor": INK, "range": span},
        height=height,
        showlegend=False,
        bargap=0.25,
    )

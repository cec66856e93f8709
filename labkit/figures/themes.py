"""Figures of the thematic network: sections and clusters of articles, the words of a sentence, and its encoders.

In: records of `labkit.thematic`. Out: plotly figures. Sections and clusters are numbered in figures and tables, so they
can be identified without colour.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from labkit.figures import drawing as draw
from labkit.figures.drawing import Entries
from labkit.palette import CLEAR, COLOURS, INK, NEGATIVE, POSITIVE

if TYPE_CHECKING:
    from labkit.thematic.method import Attended
    from labkit.thematic.sections import Clustering, Themes


# --- sections and clusters ---------------------------------------------------------------------------------------

LIGHT = ("#7FB8D8", "#F2CF80", "#80CEB9", "#EAAE80", "#E5BBD3", "#AAD9F4")  # the six colours at half strength
STRONG = {0, 3}  # blue and vermilion, which carry white text
WAVE = [[0, CLEAR], [1e-6, "#D6E8F3"], [1, POSITIVE]]  # transparent at 0; dark text is readable on all others


def section_ribbon(themes: Themes, *, height: int = 190) -> go.Figure:
    """Draw a cell per sentence, in reading order: section above, clusters below, with a frame where they differ."""
    names = ("section", "k-means", "Iclust")
    numbers = np.stack([themes.article.truth, themes.kmeans.found, themes.iclust.found])
    n = numbers.shape[1]
    scale = [[(step + end) / 12, colour] for step, colour in enumerate((*COLOURS, *LIGHT)) for end in (0, 1)]
    sentences = [draw.hover_lines(text) for text in themes.article.sentences]
    hover = {
        "customdata": [[[int(value) + 1, text] for value, text in zip(row, sentences, strict=True)] for row in numbers],
        "hovertemplate": "%{y} %{customdata[0]}, sentence %{x}<br>%{customdata[1]}<extra></extra>",
    }
    ribbon = draw.cells(numbers % 12, -0.5, 11.5, scale, showscale=False, xgap=1, ygap=4, y=list(names)) | hover
    letters = [_numbered(name, row) for name, row in zip(names, numbers.tolist(), strict=True)]
    dotted = {"color": INK, "width": 1.2, "dash": "dot"}
    shapes = [
        draw.rectangle((x - 0.48, x + 0.48), (row - 0.44, row + 0.44), INK, 2)
        for row in (1, 2)
        for x in np.flatnonzero(numbers[row] != numbers[0]).tolist()
    ]
    shapes += [
        draw.stroke((x + 0.5, x + 0.5), (-0.6, 2.6), dotted) for x in np.flatnonzero(np.diff(numbers[0])).tolist()
    ]
    return draw.figure_of(
        [ribbon, *letters],
        shapes=shapes,
        xaxis=draw.EMPTY | {"range": [-0.6, n - 0.4], "title": "sentences in reading order"},
        yaxis=draw.BARE | {"autorange": "reversed", "tickfont": {"size": 14}},
        height=height,
        margin=draw.margin(22),
    )


def _numbered(name: str, numbers: list[int]) -> Entries:
    colours = ["#FFFFFF" if number % 12 in STRONG else "#000000" for number in numbers]
    font = {"size": 12 if len(numbers) <= 40 else 9, "color": colours}
    places, texts = list(range(len(numbers))), [str(number + 1) for number in numbers]
    return draw.words_at(places, [name] * len(numbers), texts, font, showlegend=False)


def section_counts(themes: Themes, clustering: Clustering, *, height: int = 330) -> go.Figure:
    """Draw how many sentences of each section are in each cluster. A cluster is numbered like its section."""
    counts, k = clustering.counts, len(themes.article.sections)
    places = list(range(k))
    hover = {"hovertemplate": "section %{y}, cluster %{x}: %{z} sentences<extra></extra>"}
    look = {"x": places, "y": places, "showscale": False, "xgap": 2, "ygap": 2}
    square = draw.cells(counts, 0, max(1, int(counts.max())), WAVE) | look | hover
    dark = counts > 0.75 * counts.max()
    written = [
        draw.annotation(
            f"<b>{counts[y, x]}</b>", x, y, font={"size": 15, "color": "#FFFFFF" if dark[y, x] else "#000000"}
        )
        for y, x in np.argwhere(counts > 0).tolist()
    ]
    squares = [draw.rectangle((at - 0.5, at + 0.5), (at - 0.5, at + 0.5), INK, 1.5) for at in places]
    names = [f"{draw.short(title, 18)} {place + 1}" for place, title in enumerate(themes.article.sections)]
    used = [str(place + 1) if counts[:, place].sum() else "–" for place in places]
    bare = draw.BARE | {"ticks": "", "tickvals": places, "tickfont": {"size": 12}}
    return draw.figure_of(
        [square],
        annotations=written,
        shapes=squares,
        xaxis=bare | {"ticktext": used, "title": "cluster", "side": "bottom"},
        yaxis=bare | {"ticktext": names, "autorange": "reversed"},
        height=height,
    )


# --- the words of a sentence -------------------------------------------------------------------------------------


def attention_bars(attended: Attended) -> go.Figure:
    """Draw a bar for each word's share of the vector, and a mark for its attention, in sentence order."""
    places, even = list(range(len(attended.words))), 1 / len(attended.words)
    marker = {"symbol": "diamond", "size": 9, "color": NEGATIVE, "line": {"width": 1, "color": "#000000"}}
    share = {"name": "share of the vector", "hovertemplate": "share %{y:.1%}<extra></extra>"}
    attention = {"name": "attention", "hovertemplate": "attention %{y:.1%}<extra></extra>"}
    dotted = {"dash": "dot", "color": INK, "width": 1.5}
    return draw.figure_of(
        [
            draw.bars(places, attended.shares, {"color": POSITIVE}) | share,
            draw.marks(places, attended.weights, marker) | attention,
        ],
        shapes=[draw.stroke((0, 1), (even, even), dotted, xref="x domain", yref="y")],
        xaxis=draw.ticks(attended.words, 18) | {"tickangle": -45, "showgrid": False},
        yaxis={"tickformat": ".0%", "rangemode": "tozero"},
        height=380,
        legend=draw.ABOVE,
        bargap=0.25,
    )

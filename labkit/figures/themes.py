"""An article's sections and what clustering finds of them. In: `Themes`. Out: plotly figures.

Section and cluster have numbers, on the picture and in the tables, so that no colour is needed to read them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from labkit.figures.palette import COLOURS, FAINT, INK, PLAIN, POSITIVE
from labkit.figures.text import lines, short

if TYPE_CHECKING:  # so that a page that draws something else need not wait for torch
    from labkit.thematic.clustering import SectionAgreement
    from labkit.thematic.sections import Clustering, Themes

LIGHT = ("#7FB8D8", "#F2CF80", "#80CEB9", "#EAAE80", "#E5BBD3", "#AAD9F4")  # the six colours, half as strong
WAVE = [[0, "rgba(0, 114, 178, 0)"], [1, "rgba(0, 114, 178, 0.85)"]]


def section_ribbon(found: Themes, *, chosen: int | None = None, height: int = 190) -> go.Figure:
    """A cell a sentence, in reading order: its section above, below it the clusters; a dark frame where they differ."""
    names = ("section", "k-means", "Iclust")
    numbers = np.stack([found.article.truth, found.kmeans.found, found.iclust.found])
    n = numbers.shape[1]
    colours = [(*COLOURS, *LIGHT)[number % 12] for number in range(max(12, int(numbers.max()) + 1))]
    scale = [[(step + end) / 12, colour] for step, colour in enumerate(colours[:12]) for end in (0, 1)]
    told = [lines(text) for text in found.article.sentences]
    heat = go.Heatmap(
        z=numbers % 12,
        zmin=-0.5,
        zmax=11.5,
        colorscale=scale,
        showscale=False,
        xgap=1,
        ygap=4,
        customdata=[[[int(value) + 1, text] for value, text in zip(row, told, strict=True)] for row in numbers],
        hovertemplate="%{y} %{customdata[0]}, sentence %{x}<br>%{customdata[1]}<extra></extra>",
        y=list(names),
    )
    figure = go.Figure(heat)
    strong = {0, 3}  # blue and vermilion carry white letters
    for row, name in enumerate(names):
        figure.add_trace(
            go.Scatter(
                x=list(range(n)),
                y=[name] * n,
                mode="text",
                text=[str(number + 1) for number in numbers[row].tolist()],
                textfont={
                    "size": 12 if n <= 40 else 9,
                    "color": ["#FFFFFF" if number % 12 in strong else "#000000" for number in numbers[row].tolist()],
                },
                hoverinfo="skip",
                showlegend=False,
            )
        )
    for row in (1, 2):
        for column in np.flatnonzero(numbers[row] != numbers[0]).tolist():
            place = {"x0": column - 0.48, "x1": column + 0.48, "y0": row - 0.44, "y1": row + 0.44}
            figure.add_shape(type="rect", line={"color": INK, "width": 2}, **place)
    for column in np.flatnonzero(np.diff(numbers[0])).tolist():
        line = {"color": INK, "width": 1.2, "dash": "dot"}
        figure.add_shape(type="line", x0=column + 0.5, x1=column + 0.5, y0=-0.6, y1=2.6, line=line)
    if chosen is not None:
        figure.add_annotation(text="▼", x=chosen, y=-0.5, yshift=9, showarrow=False, font={"size": 15, "color": INK})
    figure.update_xaxes(showgrid=False, zeroline=False, range=[-0.6, n - 0.4], title="sentences in reading order")
    figure.update_xaxes(showticklabels=False)
    figure.update_yaxes(autorange="reversed", showgrid=False, zeroline=False, tickfont={"size": 14})
    return figure.update_layout(height=height, **PLAIN | {"margin": {"l": 10, "r": 10, "t": 22, "b": 10}})


def section_counts(found: Themes, clustering: Clustering, *, height: int = 330) -> go.Figure:
    """How many sentences of which section are in which cluster; a cluster has the number of its section."""
    counts, k = clustering.counts, len(found.article.sections)
    places = list(range(k))
    heat = go.Heatmap(
        z=counts,
        x=places,
        y=places,
        zmin=0,
        zmax=max(1, int(counts.max())),
        colorscale=WAVE,
        showscale=False,
        xgap=2,
        ygap=2,
        hovertemplate="section %{y}, cluster %{x}: %{z} sentences<extra></extra>",
    )
    figure = go.Figure(heat)
    dark = counts > 0.55 * counts.max()
    for row, column in np.argwhere(counts > 0).tolist():
        ink = "#FFFFFF" if dark[row, column] else INK
        text = f"<b>{counts[row, column]}</b>"
        figure.add_annotation(x=column, y=row, text=text, showarrow=False, font={"size": 15, "color": ink})
    for place in places:
        edge = {"x0": place - 0.5, "x1": place + 0.5, "y0": place - 0.5, "y1": place + 0.5}
        figure.add_shape(type="rect", line={"color": INK, "width": 1.5}, **edge)
    names = [f"{short(title, 18)} {place + 1}" for place, title in enumerate(found.article.sections)]
    figure.update_yaxes(tickvals=places, ticktext=names, autorange="reversed", tickfont={"size": 12})
    used = [str(place + 1) if counts[:, place].sum() else "–" for place in places]
    figure.update_xaxes(tickvals=places, ticktext=used, title="cluster", side="bottom", tickfont={"size": 12})
    for axes in (figure.update_xaxes, figure.update_yaxes):
        axes(showgrid=False, zeroline=False, ticks="")
    return figure.update_layout(height=height, **PLAIN)


def agreement_of_articles(found: SectionAgreement, figure_name: str = "ami", *, height: int = 330) -> go.Figure:
    """A line for each article from k-means to Iclust, and the means: table 4, article by article."""
    sides = [found.values(name, figure_name) for name in ("kmeans", "iclust")]
    figure = go.Figure()
    for article, left, right in zip(found.articles, *sides, strict=True):
        hover = f"{short(article.title, 40)}: %{{y:.3f}}<extra>%{{x}}</extra>"
        line = {"color": FAINT, "width": 1.5}
        marker = {"size": 7, "color": INK}
        ends = {"x": ["k-means", "Iclust"], "y": [left, right], "mode": "lines+markers"}
        figure.add_trace(go.Scatter(**ends, line=line, marker=marker, hovertemplate=hover, showlegend=False))
    means = [float(side.mean()) for side in sides]
    figure.add_trace(
        go.Scatter(
            x=["k-means", "Iclust"],
            y=means,
            error_y={"type": "data", "array": [float(side.std()) for side in sides], "thickness": 2, "width": 9},
            mode="lines+markers+text",
            text=[f"{value:.3f}" for value in means],
            textposition=["middle left", "middle right"],
            textfont={"size": 15, "color": INK},
            line={"color": POSITIVE, "width": 3},
            marker={"size": 12, "symbol": "diamond", "color": POSITIVE},
            hovertemplate="mean %{y:.3f}<extra>%{x}</extra>",
            showlegend=False,
        )
    )
    figure.update_xaxes(range=[-0.5, 1.5], showgrid=False)
    figure.update_yaxes(title=figure_name.upper(), gridcolor=FAINT)
    return figure.update_layout(height=height, **PLAIN)

"""Losses of a triplet and the weights they give it, over how wrong it is. Out: a plotly figure of two panels."""

from __future__ import annotations

import plotly.graph_objects as go
import torch
from plotly.subplots import make_subplots

from labkit.figures.palette import COLOURS, FAINT, PLAIN
from labkit.thematic.losses import LOSSES

DASHES = ("solid", "dash", "dot")


def triplet_losses(*, reach: float = 6.0, height: int = 360) -> go.Figure:
    """Each loss of `labkit.thematic` and its slope, d⁺ - d⁻ from -reach to reach; above 0 the order is wrong."""
    if not reach > 0:
        raise ValueError(f"reach is {reach}, expected a number above 0; 6 shows where the ratio loss goes flat")
    figure = make_subplots(rows=1, cols=2, subplot_titles=("loss", "its slope: the weight of the triplet"))
    for (name, loss), colour, dash in zip(LOSSES.items(), COLOURS, DASHES, strict=False):
        gap = torch.linspace(-reach, reach, 241, dtype=torch.float64, requires_grad=True)
        values = loss(gap, torch.zeros_like(gap))
        slopes = torch.autograd.grad(values.sum(), gap)[0]
        for column, drawn in ((1, values), (2, slopes)):
            figure.add_trace(
                go.Scatter(
                    x=gap.detach().numpy(),
                    y=drawn.detach().numpy(),
                    name=name,
                    legendgroup=name,
                    showlegend=column == 1,
                    line={"color": colour, "dash": dash, "width": 2.5},
                ),
                row=1,
                col=column,
            )
    figure.update_xaxes(title="d⁺ - d⁻", gridcolor=FAINT, zerolinecolor=FAINT)
    figure.update_yaxes(gridcolor=FAINT, zerolinecolor=FAINT)
    figure.update_layout(**PLAIN | {"margin": {"l": 10, "r": 10, "t": 30, "b": 10}}, height=height)
    figure.update_layout(legend={"orientation": "h", "y": -0.25})
    return figure

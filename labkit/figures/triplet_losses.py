"""Losses of a triplet and the weights they give it, over how wrong it is. Out: a plotly figure of two panels."""

from __future__ import annotations

import plotly.graph_objects as go

from labkit.figures.drawing import Entries, drawn, margin
from labkit.figures.palette import COLOURS, FAINT
from labkit.figures.panels import on, side_by_side

DASHES = ("solid", "dash", "dot")


def triplet_losses(*, reach: float = 6.0, height: int = 360) -> go.Figure:
    """Each loss of `labkit.thematic` and its slope, d⁺ - d⁻ from -reach to reach; above 0 the order is wrong."""
    import torch  # takes seconds, and no other figure needs it

    from labkit.thematic.losses import LOSSES

    if not reach > 0:
        raise ValueError(f"reach is {reach}, expected a number above 0; 6 shows where the ratio loss goes flat")
    traces: list[Entries] = []
    for (name, loss), colour, dash in zip(LOSSES.items(), COLOURS, DASHES, strict=False):
        gap = torch.linspace(-reach, reach, 241, dtype=torch.float64, requires_grad=True)
        values = loss(gap, torch.zeros_like(gap))
        slopes = torch.autograd.grad(values.sum(), gap)[0]
        shared = {
            "type": "scatter",
            "x": gap.detach().numpy(),
            "name": name,
            "legendgroup": name,
            "line": {"color": colour, "dash": dash, "width": 2.5},
        }
        traces += [
            shared | on(1) | {"y": values.detach().numpy(), "showlegend": True},
            shared | on(2) | {"y": slopes.detach().numpy(), "showlegend": False},
        ]
    layout = side_by_side(
        ("loss", "its slope: the weight of the triplet"),
        gap=0.1,
        size=16,
        x={"title": "d⁺ - d⁻", "gridcolor": FAINT, "zerolinecolor": FAINT},
        y={"gridcolor": FAINT, "zerolinecolor": FAINT},
    )
    return drawn(traces, height=height, legend={"orientation": "h", "y": -0.25}, margin=margin(30), **layout)

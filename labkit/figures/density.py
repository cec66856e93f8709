"""Where points lie so close that they hide one another: lines of equal density over a picture in the plane.

In: points (n, 2). Out: a plotly trace of GRID x GRID cells, however many the points. Counts are smoothed by a Gaussian.
"""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
from scipy.ndimage import gaussian_filter

from labkit.figures.palette import INK

GRID = 64  # cells a side
WIDTH = 1.5  # of the Gaussian, in cells
LINES = 8


def density(points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Middles of the cells along x and along y, (GRID,) each, and points a cell, smoothed, (GRID, GRID) by [y, x]."""
    low, high = points.min(axis=0).astype(float), points.max(axis=0).astype(float)
    room = 0.1 * np.where(high > low, high - low, 1.0)
    span = [(low[axis] - room[axis], high[axis] + room[axis]) for axis in (0, 1)]
    counts, x, y = np.histogram2d(points[:, 0], points[:, 1], bins=GRID, range=span)
    return (x[:-1] + x[1:]) / 2, (y[:-1] + y[1:]) / 2, gaussian_filter(counts, WIDTH, mode="constant").T


def contours(points: np.ndarray) -> go.Contour:
    """Each line stands for half the density of the next one inwards."""
    x, y, found = density(points)
    depth = np.log2(np.maximum(found / found.max(), 2.0 ** -(LINES + 1))).astype(np.float32)
    levels = {"start": -LINES + 1, "end": -1, "size": 1, "coloring": "none"}
    return go.Contour(
        x=x.astype(np.float32), y=y.astype(np.float32), z=depth, contours=levels, autocontour=False,
        line={"color": INK, "width": 1}, showscale=False, hoverinfo="skip", showlegend=False,
    )  # fmt: skip

"""Where points lie so close that they hide one another: lines of equal density over a picture in the plane.

In: points (n, 2). Out: a plotly trace of GRID x GRID cells, however many the points. Counts are smoothed by a Gaussian.
"""

from __future__ import annotations

import numpy as np
from scipy.ndimage import gaussian_filter

from labkit.figures.drawing import Entries
from labkit.figures.palette import INK

GRID = 64  # cells a side
WIDTH = 1.5  # of the Gaussian, in cells
LINES = 8


def density(points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Middles of the cells along x and along y, (GRID,) each, and points a cell, smoothed, (GRID, GRID) by [y, x]."""
    low, high = np.array([(along.min(), along.max()) for along in points.T], float).T
    room = 0.1 * np.where(high > low, high - low, 1.0)
    low, side = low - room, (high - low + 2 * room) / GRID
    cells = ((points - low) / side).astype(np.int64)  # from 0 to GRID - 1: there is room on all sides
    counts = np.bincount(cells @ [GRID, 1], minlength=GRID**2).reshape(GRID, GRID)
    x, y = (low + side * (np.arange(GRID)[:, None] + 0.5)).T
    return x, y, gaussian_filter(counts.astype(float), WIDTH, mode="constant").T


def contours(points: np.ndarray) -> Entries:
    """A trace: each line stands for half the density of the next one inwards."""
    x, y, found = density(points)
    return {
        "type": "contour",
        "x": x.astype(np.float32),
        "y": y.astype(np.float32),
        "z": np.log2(np.maximum(found / found.max(), 2.0 ** -(LINES + 1))).astype(np.float32),
        "contours": {"start": -LINES + 1, "end": -1, "size": 1, "coloring": "none"},
        "autocontour": False,
        "line": {"color": INK, "width": 1},
        "showscale": False,
        "hoverinfo": "skip",
        "showlegend": False,
    }

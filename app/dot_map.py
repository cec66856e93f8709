"""A map of many points: what a figure of plotly cannot hold, drawn by WebGL in the browser (`dot_map.js`).

In: a `Projection` in the plane, its sentences, and how they are coloured. Out: a component of the page; what a visitor
marks on it comes back as an event for `marking.on_map_marked`.

The points go to the browser once, as bytes, six a point: places in whole numbers up to 65,535 and the code of a class.
They are a message of their own, and Streamlit sends no large message twice; with each run of the page go only the
marks, one bit a point. No sentence goes there.
"""

from __future__ import annotations

import hashlib
import json
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st
from plotly.colors import sample_colorscale, unlabel_rgb

from labkit.corpora import Labelled
from labkit.evaluation.regions import PlacedName
from labkit.figures.clusters import Colouring, colouring
from labkit.figures.drawing import telling
from labkit.palette import INK, MARKS, RISING, style
from labkit.projection import Projection

FINEST = 65_535  # steps along the longer side
LEVELS = 256  # of a scale of numbers
NAMED = 4_096  # names of which each may have a code of its own, to be said of a point
LETTERS, SHORT = 60, 15  # of a name in full, and in the map
NO_MARKS: Mapping[str, Any] = {"chosen": None, "found": (), "ring": None, "landed": None, "count": 0}
MAP = st.components.v2.component("labkit_map", js=(Path(__file__).parent / "dot_map.js").read_text("utf-8"))


# --- the points --------------------------------------------------------------------------------------------------


def map_bytes(
    slot: str, picture: Projection, shown: Labelled, by: str, most: int, order: Sequence[str]
) -> tuple[str, bytes]:
    """The points of the map called `slot`, and a name for just these: how many bytes a header has, the header, the
    places (n, 2) and the codes (n,) of their names, uint16. What colours them is as in `colouring`."""
    points = picture.points
    if points.ndim != 2 or points.shape[1] != 2 or not np.isfinite(points).all():
        raise ValueError(f"the picture has points of shape {points.shape}, expected finite ones in the plane, (n, 2)")
    low = points.min(axis=0).astype(np.float64)
    span = float((points.max(axis=0) - low).max()) or 1.0
    places = np.rint((points - low) / span * FINEST).astype("<u2")
    unit = places / np.float64(FINEST)
    drawn = colouring(shown, by, most=most, order=order)
    codes, looks = _levels(drawn.values) if drawn.values is not None else _classes(shown, drawn, unit)
    body = places.tobytes() + codes.astype("<u2").tobytes()
    header = {"slot": slot, "count": len(points), "low": low.tolist(), "span": span, **looks}
    header |= {"wide": np.maximum(unit.max(axis=0), 1e-3).tolist(), "place": _digest(places.tobytes())}
    header["key"] = _digest(json.dumps(header).encode(), body)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 4)  # so that the browser finds its numbers at whole places
    return header["key"], len(text).to_bytes(4, "little") + text + body


def _classes(shown: Labelled, drawn: Colouring, unit: np.ndarray) -> tuple[np.ndarray, dict[str, Any]]:
    """The code of each point (n,), for each code its name and its look, and for each look its colour and mark.

    `labels`: names in the middle of their points, [name, x, y, look], the largest first: on a map there is room for
    those that do not lie on one another.
    """
    full = colouring(shown, drawn.column)
    each = full if len(full.names) <= NAMED else drawn
    looks = np.zeros(len(each.names), int)
    looks[each.codes] = drawn.codes
    styles = [(INK, MARKS[0]) if code == drawn.rest else style(drawn.styles[code]) for code in range(len(drawn.names))]
    sizes = np.bincount(drawn.codes, minlength=len(styles))
    order = [code for code in np.argsort(-sizes, kind="stable").tolist() if code != drawn.rest and sizes[code]]
    names = telling(drawn.names, SHORT)
    return each.codes, {
        "names": [name[:LETTERS] for name in each.names],
        "looks": looks.tolist(),
        "colours": [colour for colour, _ in styles],
        "marks": [MARKS.index(mark) for _, mark in styles],
        "rest": drawn.rest,
        "legend": [[name[:LETTERS], code] for code, name in enumerate(telling(drawn.names, LETTERS))],
        "labels": [[names[code], *np.median(unit[drawn.codes == code], axis=0).tolist(), code] for code in order],
    }


def _levels(values: np.ndarray) -> tuple[np.ndarray, dict[str, Any]]:
    """Numbers on a scale as one of LEVELS codes each, which say about what the number was; the legend has four."""
    scale = np.linspace(float(values.min()), float(values.max()), LEVELS)
    codes = np.rint((values - scale[0]) / ((scale[-1] - scale[0]) or 1.0) * (LEVELS - 1)).astype(int)
    colours = ["#{:02x}{:02x}{:02x}".format(*map(int, unlabel_rgb(each))) for each in sample_colorscale(RISING, LEVELS)]
    names, numbers = [f"{value:.4g}" for value in scale], list(range(LEVELS))
    legend = [[names[level], level] for level in numbers[:: LEVELS // 3]]
    looks = {"names": names, "looks": numbers, "colours": colours, "marks": [], "rest": None}
    return codes, looks | {"legend": legend, "labels": []}


def _digest(*parts: bytes) -> str:
    digest = hashlib.blake2b(digest_size=12)
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


def bits(rows: Sequence[int], count: int) -> str:
    """One bit for each of the points, the lowest of a byte first, in base64: whether it is one of the rows."""
    mask = np.zeros(count, dtype=bool)
    mask[list(rows)] = True
    return b64encode(np.packbits(mask, bitorder="little").tobytes()).decode()


# --- the component -----------------------------------------------------------------------------------------------


def put_map(
    slot: str,
    points: tuple[str, bytes],
    marks: Mapping[str, Any],
    *,
    words: Sequence[Sequence[PlacedName]] | None,
    alt: str,
    height: str,
    on_marked: Callable[[], None],
    legend: bool = True,
) -> None:
    """The map called `slot` of these points, with the `marks` of a picture: rows that are chosen and found, the row
    with a ring, and where typed sentences lie. A map without a `legend` hides what is hidden by that of another one.
    `height` is a length of CSS.

    `words` are the names written on it, for the whole map and for one that is seen from close by; None: those of the
    classes that have a colour.
    """
    name, content = points
    chosen, ring, landed = marks["chosen"], marks["ring"], marks["landed"]
    with st.container(gap=None):
        MAP(key=f"{key_of(slot)}-points", data=content)  # nothing to be seen
        data = {
            "slot": slot,
            "points": name,
            "alt": alt,
            "height": height,
            "legend": legend,
            "words": words and [[[each.name, each.x, each.y] for each in level] for level in words],
            "marked": chosen is not None,
            "chosen": None if chosen is None or list(chosen) == [ring] else bits(chosen, marks["count"]),
            "found": list(marks["found"]),
            "ring": ring,
            "landed": [] if landed is None else np.asarray(landed, float).tolist(),
        }
        MAP(key=key_of(slot), data=data, on_marked_change=on_marked)


def key_of(slot: str) -> str:
    """The key of a map's component: it stays as long as its page, and so does how far one has zoomed into it."""
    return f"map-{slot}"

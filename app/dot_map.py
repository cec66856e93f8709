"""A map of more points than a plotly figure can hold, drawn with WebGL in the browser (`dot_map.js`).

In: a `Projection` in the plane, its sentences, and how they are coloured. Out: a component of the page; what a visitor
marks on it comes back as an event for `marking.on_marked`.

The points are sent to the browser once, as six bytes each: coordinates as integers up to 65,535 and the code of a
class. They are a separate message, because Streamlit sends no large message twice; a rerun of the page sends only the
marks, one bit per point. Sentences are never sent.
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
from labkit.figures.clusters import Colouring, colouring, dense_places
from labkit.figures.drawing import telling
from labkit.palette import INK, MARKS, RISING, style
from labkit.projection import Projection

FINEST = 65_535  # steps along the longer side
LEVELS = 256  # of a numeric scale
NAMED = 4_096  # most names that get a code of their own, to be shown for a point
LETTERS, SHORT = 60, 15  # of a name in full, and on the map
MAP = st.components.v2.component("labkit_map", js=(Path(__file__).parent / "dot_map.js").read_text("utf-8"))


# --- the points --------------------------------------------------------------------------------------------------


def map_bytes(
    slot: str, picture: Projection, shown: Labelled, by: str, most: int, order: Sequence[str]
) -> tuple[str, bytes]:
    """The key of these points, and the bytes that the map called `slot` reads: the length of a header, the header, the
    coordinates (n, 2) and the codes (n,) of the names, both uint16. Colours are as in `colouring`."""
    points = picture.points
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
    text += b" " * (-len(text) % 4)  # so that the numbers are aligned for the browser
    return header["key"], len(text).to_bytes(4, "little") + text + body


def _classes(shown: Labelled, drawn: Colouring, unit: np.ndarray) -> tuple[np.ndarray, dict[str, Any]]:
    """The code of each point (n,), for each code its name and its look, and for each look its colour and mark.

    `labels`: names at the densest place of their points, [name, x, y], largest first and the others last; a map shows
    those that do not overlap.
    """
    full = colouring(shown, drawn.column)
    each = full if len(full.names) <= NAMED else drawn
    looks = np.zeros(len(each.names), int)
    looks[each.codes] = drawn.codes
    styles = [(INK, MARKS[0]) if code == drawn.rest else style(drawn.styles[code]) for code in range(len(drawn.names))]
    sizes = np.bincount(drawn.codes, minlength=len(styles))
    order = [code for code in np.argsort(-sizes, kind="stable").tolist() if sizes[code]]
    order.sort(key=lambda code: code == drawn.rest)
    names = telling(drawn.names, SHORT)
    return each.codes, {
        "names": [name[:LETTERS] for name in each.names],
        "looks": looks.tolist(),
        "colours": [colour for colour, _ in styles],
        "marks": [MARKS.index(mark) for _, mark in styles],
        "rest": drawn.rest,
        "legend": [],
        "labels": [[names[code], *dense_places(unit[drawn.codes == code])[0]] for code in order],
    }


def _levels(values: np.ndarray) -> tuple[np.ndarray, dict[str, Any]]:
    """Numbers on a scale, rounded to LEVELS codes that are named by their values; the legend shows four."""
    scale = np.linspace(float(values.min()), float(values.max()), LEVELS)
    codes = np.rint((values - scale[0]) / ((scale[-1] - scale[0]) or 1.0) * (LEVELS - 1)).astype(int)
    colours = ["#{:02x}{:02x}{:02x}".format(*map(int, unlabel_rgb(each))) for each in sample_colorscale(RISING, LEVELS)]
    names, numbers = [f"{value:.4g}" for value in scale], list(range(LEVELS))
    legend = [[names[level], level] for level in numbers[:: LEVELS // 3]]
    looks = {"names": names, "looks": numbers, "colours": colours, "marks": [], "rest": None}
    return codes, looks | {"legend": legend, "labels": []}


def _digest(*parts: bytes) -> str:
    return hashlib.blake2b(b"".join(parts), digest_size=12).hexdigest()


def bits(rows: Sequence[int], count: int) -> str:
    """One bit per point, lowest bit first, in base64: whether the point is one of the rows."""
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
    on_marked: Callable[[], None],
) -> None:
    """The map called `slot` of these points, with the `marks` of a picture: the chosen and found rows, the row with a
    ring, and the places of typed sentences.

    `words` are the names written on it, for the whole map and for a close-up; None: those of the classes that have a
    colour.
    """
    name, content = points
    chosen, ring, landed = marks["chosen"], marks["ring"], marks["landed"]
    with st.container(gap=None):
        MAP(key=f"{key_of(slot)}-points", data=content)  # shows nothing
        data = {
            "slot": slot,
            "points": name,
            "alt": alt,
            "words": words and [[[each.name, each.x, each.y] for each in level] for level in words],
            "marked": chosen is not None,
            "chosen": None if chosen is None or list(chosen) == [ring] else bits(chosen, marks["count"]),
            "found": list(marks["found"]),
            "ring": ring,
            "landed": [] if landed is None else np.asarray(landed, float).tolist(),
        }
        MAP(key=key_of(slot), data=data, on_marked_change=on_marked)


def key_of(slot: str) -> str:
    """The key of a map's component, constant while its page is open, so that the zoom is kept."""
    return f"map-{slot}"

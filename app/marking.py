"""What a visitor marks in the pictures of the Space page: points, areas or a class, shared by all its pictures.

In: an untrusted event from the browser: the rows of a plotly picture, or for a map (`dot_map`) the clicked row or the
corners of a lasso. Out: a `Brush`, the rows of the points that it marks, and `Marked`, the state of the session.

A plotly picture that changes is redrawn as a new one and loses its zoom. So the picture in which something is marked
does not change: plotly shows the mark there, `pictures.js` the ring, and only the other picture is updated. `baked` is
what was drawn into a picture when it had to be redrawn for another reason. A map always gets all marks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import frame
import numpy as np
import streamlit as st

from labkit.figures.clusters import MOST
from labkit.projection import Projection

CORNERS = 500  # of a polygon; a map sends at most 300
FARTHEST = 1e38
STATE, ROW, NO_WEBGL = "marked", "row", "no-webgl"
QUERY, TYPED, READ = "query", "typed", "read"  # the widgets for the search, the typed sentence and the selected one
LIST = "list"  # a source that is not a picture: the list of classes

PICTURES = st.components.v2.component("labkit_pictures", js=(Path(__file__).parent / "pictures.js").read_text("utf-8"))


# --- one mark ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Brush:
    """Distinct rows, and polygons given by their corners (x, y)."""

    rows: tuple[int, ...] = ()
    polygons: tuple[tuple[tuple[float, float], ...], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.rows or self.polygons)

    def inside(self, points: np.ndarray) -> np.ndarray:
        """The marked rows of a picture's points (n, 2): listed or within a polygon, ascending, int64."""
        held = np.zeros(len(points), dtype=bool)
        held[[row for row in self.rows if row < len(points)]] = True
        for corners in self.polygons:
            held |= in_polygon(points, corners)
        return np.flatnonzero(held)


def in_polygon(points: np.ndarray, corners: Sequence[tuple[float, float]]) -> np.ndarray:
    """Find which points (n, 2) lie in a polygon, as bool (n,): a ray to the right crosses an odd number of edges.

    An edge includes its lower end but not its upper end, so that adjacent polygons neither share nor lose a point.
    Points are sorted by height, so that an edge is compared only with those between its ends.
    """
    order = np.argsort(points[:, 1])
    x, y = points[order].T.astype(np.float64)
    odd = np.zeros(len(points), dtype=bool)
    for (x1, y1), (x2, y2) in pairwise([*corners, corners[0]]):
        level = slice(*np.searchsorted(y, sorted((y1, y2))))
        if y1 != y2:
            odd[level] ^= x[level] < x1 + (y[level] - y1) / (y2 - y1) * (x2 - x1)
    inside = np.empty_like(odd)
    inside[order] = odd
    return inside


@lru_cache(maxsize=4)
def rows_inside(brush: Brush, picture: Projection) -> np.ndarray:
    """The rows of a picture that a brush marks; cached, because a page needs them several times."""
    return brush.inside(picture.points)


def brush_of(event: Any, count: int) -> Brush:
    """The brush in the event of a picture of `count` points; invalid parts are left out."""
    selection = _part(event, "selection", Mapping)
    named = [_row(point, count) for point in _part(selection, "points", list)[: 2 * MOST]]
    return Brush(rows=tuple(dict.fromkeys(row for row in named if row is not None)))


def brush_on_map(event: Any, count: int) -> Brush:
    """The brush in the event of a map of `count` points: a clicked row or the corners of a lasso, else nothing."""
    mark = _part(event, "marked", Mapping)
    row = _row({"customdata": mark.get("row")}, count)
    if row is not None:
        return Brush(rows=(row,))
    corners = [corner for corner in _part(mark, "polygon", list)[: CORNERS + 1] if _is_corner(corner)]
    if not 3 <= len(corners) == len(_part(mark, "polygon", list)) <= CORNERS:
        return Brush()
    return Brush(polygons=(tuple((float(x), float(y)) for x, y in corners),))


def rows_with_same_text(rows: Sequence[int], texts: Sequence[str], onto: Sequence[str]) -> list[int]:
    """Rows of `texts` as rows of `onto`; sentences that are not in `onto` are left out.

    >>> rows_with_same_text([0, 2], ["a", "b", "c"], ["c", "b"])
    [0]
    """
    if texts == onto:
        return list(rows)
    place = {text: row for row, text in enumerate(onto)}
    return [place[texts[row]] for row in rows if texts[row] in place]


def _part(whole: Any, name: str, kind: type) -> Any:
    value = whole.get(name) if isinstance(whole, Mapping) else None
    return value if isinstance(value, kind) else kind() if kind is list else {}


def _row(point: Any, count: int) -> int | None:
    """The row of a point of the picture; None for a point that was drawn on top of it."""
    row = point.get("customdata") if isinstance(point, Mapping) else None
    row = row[0] if isinstance(row, list) and row else row
    return int(row) if isinstance(row, (int, float)) and row == row and 0 <= row < count else None


def _is_corner(corner: Any) -> bool:
    return isinstance(corner, list) and len(corner) == 2 and all(map(_is_place, corner))


def _is_place(value: Any) -> bool:
    """Whether this is a number that fits into float32, like the points of a picture; NaN does not."""
    return isinstance(value, int | float) and abs(value) < FARTHEST


# --- the session -------------------------------------------------------------------------------------------------


@dataclass
class Marked:
    """`source`: the picture that was marked; `sentences`, `arranged` and `drawn`: what was shown then, and how."""

    source: str = ""
    now: Brush = field(default_factory=Brush)
    baked: Brush = field(default_factory=Brush)
    sentences: Any = None
    arranged: Any = None
    drawn: Any = None
    clicked: bool = False  # whether the selected sentence was clicked in the picture `source`
    cleared: int = 0  # how often all marks were cleared; each time, new pictures without marks are made

    def of(self, side: str) -> Brush:
        """The marks that the picture of this side shows."""
        return self.baked if side == self.source else self.now

    def ring(self, side: str, row: int | None) -> int | None:
        """The row with a ring in the figure of this side; none where plotly itself shows the click."""
        return None if self.clicked and side == self.source else row


def state_of_marks() -> Marked:
    """The state of this session."""
    state: Marked = st.session_state.setdefault(STATE, Marked())
    return state


def update_marks(sentences: Any, arranged: Any, drawn: Any, count: int) -> None:
    """Update the state to the current pictures: `arranged` says where the points are, `drawn` how they look."""
    state = state_of_marks()
    by_address = frame.address_changed(ROW)  # by a link, Back or Forward: the marks belong to another sentence
    if by_address or state.sentences not in (None, sentences):
        state = st.session_state[STATE] = Marked(cleared=state.cleared)
        set_read_row(read_row(count) if by_address else None)
    state.sentences = sentences
    drawn = (drawn, None if state.clicked else read_row(count))
    if state.arranged != arranged and state.now.polygons:
        state.now = Brush()  # coordinates mean nothing in another picture
    if (state.arranged, state.drawn) != (arranged, drawn):
        state.baked, state.arranged, state.drawn = state.now, arranged, drawn


def read_row(count: int) -> int | None:
    """The row of the selected sentence, which is kept in the address."""
    row = frame.number_in_address(ROW, count, -1)
    return None if row < 0 else row


def set_read_row(row: int | None) -> None:
    """Put the row of the selected sentence into the address at once."""
    frame.keep_in_address(ROW, row)
    frame.write_address()


def on_marked(side: str, key: str, count: int, carry: Callable[[Sequence[int]], list[int]]) -> None:
    """Handle marks in a picture before the page reruns. `carry` converts its rows to those of the first picture."""
    state = state_of_marks()
    now = brush_of(st.session_state.get(key), count)
    listed = state.source == LIST  # the list of classes forgets its mark, and the pictures are new
    if state.source not in ("", side):
        state.baked = now
    state.source, state.now, state.cleared = side, now, state.cleared + listed
    if len(now.rows) == 1 and carry(now.rows):
        set_read_row(carry(now.rows)[0])
        state.clicked = not listed


def on_map_marked(side: str, key: str, count: int, carry: Callable[[Sequence[int]], list[int]]) -> None:
    """Handle an event of a map: marks, a click, Escape, or the message that this browser cannot draw it."""
    event, state = st.session_state.get(key), state_of_marks()
    if _part(event, "marked", Mapping).get("webgl") is False:
        st.session_state[NO_WEBGL] = True
        return
    state.cleared += state.source == LIST
    state.source, state.now = side, brush_on_map(event, count)
    state.clicked = bool(carry(state.now.rows))
    if not state.now.polygons:
        set_read_row(next(iter(carry(state.now.rows)), None))


def equip_pictures(count: int) -> None:
    """Give the plotly pictures of `count` sentences their tools, which also report clicks in three dimensions, where
    plotly cannot select."""

    def clicked() -> None:
        row = _row({"customdata": _part(st.session_state.get("pictures"), "clicked", Mapping).get("row")}, count)
        if row is not None:
            set_read_row(row)
            state_of_marks().clicked = False  # its ring is drawn into all figures

    PICTURES(key="pictures", on_clicked_change=clicked)


def select_row(row: int | None) -> None:
    """Select a sentence from outside a picture; without one, the clicked sentence is no longer marked, either."""
    state = state_of_marks()
    set_read_row(row)
    if row is not None:
        state.clicked = False
    elif state.clicked:
        unmark()


def clear() -> None:
    """Clear all marks, the search, the typed sentence and the selected one."""
    set_read_row(None)
    st.session_state.update({QUERY: "", TYPED: "", READ: None})
    unmark()


def mark_rows(source: str, rows: Sequence[int]) -> None:
    """Mark these rows of a side from outside its picture, or those of a class from the list of classes.

    Pictures with marks are redrawn as new ones.
    """
    state, brush = state_of_marks(), Brush(rows=tuple(rows))
    cleared = state.cleared + (source != LIST or state.source not in ("", LIST))
    st.session_state[STATE] = replace(state, source=source, now=brush, baked=brush, clicked=False, cleared=cleared)


def unmark() -> None:
    """Remove all marks, also from the pictures."""
    st.session_state[STATE] = Marked(cleared=state_of_marks().cleared + 1)

"""What a visitor marks in the pictures of the Space page: points or a class, shown in all its pictures.

In: an event from the browser: points of a plotly picture, or from a map (`dot_map`) a clicked row or one bit per row.
Out: `Marked`, the state of the session, with rows of the sentences of the first picture.

A plotly picture that changes is redrawn as a new one and loses its zoom. So the picture in which something is marked
does not change: plotly shows the mark there, `pictures.js` the ring, and only the other picture is updated. `baked` is
what was drawn into a picture when it had to be redrawn for another reason. A map always gets all marks.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import frame
import numpy as np
import streamlit as st

STATE, ROW = "marked", "row"
QUERY, TYPED = "query", "typed"  # the widgets for the search and the typed sentence
LIST = "list"  # a source that is not a picture: the list of classes

PICTURES = st.components.v2.component("labkit_pictures", js=(Path(__file__).parent / "pictures.js").read_text("utf-8"))


@dataclass
class Marked:
    """`source`: the picture that was marked; `rows`, `sentences` and `drawn`: what is marked, in which sentences, and
    how these were drawn; `changes`: how often marks came from elsewhere, which makes new pictures and lists."""

    source: str = ""
    rows: list[int] = field(default_factory=list)
    baked: list[int] = field(default_factory=list)
    sentences: Any = None
    drawn: Any = None
    changes: int = 0

    def clicked(self, row: int | None) -> bool:
        """Whether this row is marked by a click, so that plotly itself shows it."""
        return self.source not in ("", LIST) and self.rows == [row]


def state_of_marks() -> Marked:
    """The state of this session."""
    state: Marked = st.session_state.setdefault(STATE, Marked())
    return state


def update_marks(sentences: Any, drawn: Any, count: int) -> None:
    """Update the state to the current pictures; `drawn` says how they look and where the points are."""
    state = state_of_marks()
    by_address = frame.address_changed(ROW)  # by a link, Back or Forward: the marks belong to another sentence
    if by_address or state.sentences not in (None, sentences):
        state = st.session_state[STATE] = Marked(changes=state.changes)
        set_read_row(read_row(count) if by_address else None)
    state.sentences, row = sentences, read_row(count)
    drawn = (drawn, None if state.clicked(row) else row)
    if state.drawn != drawn:
        state.baked, state.drawn = state.rows, drawn


def read_row(count: int) -> int | None:
    """The row of the selected sentence, which is kept in the address."""
    row = frame.number_in_address(ROW, count, -1)
    return None if row < 0 else row


def set_read_row(row: int | None) -> None:
    """Put the row of the selected sentence into the address at once."""
    frame.keep_in_address(ROW, row)
    frame.write_address()


# --- what is marked ----------------------------------------------------------------------------------------------


def rows_of(event: Any, count: int) -> list[int]:
    """The distinct rows, below `count`, that an event of a plotly picture or of a map names.

    >>> rows_of({"marked": {"row": 3}}, 5), rows_of({"marked": {"rows": "CQ=="}}, 5)
    ([3], [0, 3])
    """
    with suppress(AttributeError, TypeError, ValueError):  # an event that no picture of ours sends
        mark = event.get("marked") or {}
        if "rows" in mark:
            bits = np.unpackbits(np.frombuffer(b64decode(mark["rows"]), np.uint8), bitorder="little")
            return np.flatnonzero(bits[:count]).tolist()
        points = event.get("selection", {}).get("points", [])
        named = [mark.get("row"), *(point.get("customdata") for point in points)]
        rows = [row[0] if isinstance(row, list) and row else row for row in named]  # rings and stars have none
        return list(dict.fromkeys(int(row) for row in rows if isinstance(row, (int, float)) and 0 <= row < count))
    return []


def rows_with_same_text(rows: Sequence[int], texts: Sequence[str], onto: Sequence[str]) -> list[int]:
    """Rows of `texts` as rows of `onto`; sentences that are not in `onto` are left out.

    >>> rows_with_same_text([0, 2], ["a", "b", "c"], ["c", "b"])
    [0]
    """
    if texts == onto:
        return list(rows)
    place = {text: row for row, text in enumerate(onto)}
    return [place[texts[row]] for row in rows if texts[row] in place]


def on_marked(side: str, key: str, count: int, carry: Callable[[Sequence[int]], list[int]]) -> None:
    """Handle marks, a click or Escape in a picture before the page reruns. `carry` converts its rows to those of the
    first picture."""
    event, state = st.session_state.get(key) or {}, state_of_marks()
    if state.source not in ("", side):
        state.baked = state.rows
    state.changes += state.source == LIST  # the list of classes forgets its mark, and the pictures are new
    state.source, state.rows = side, carry(rows_of(event, count))
    if len(state.rows) < 2:
        set_read_row(next(iter(state.rows), None))


def equip_pictures(count: int) -> None:
    """Give the plotly pictures of `count` sentences their tools, which also report clicks in three dimensions, where
    plotly cannot select."""
    key = "pictures"
    PICTURES(key=key, on_marked_change=lambda: select_row(next(iter(rows_of(st.session_state[key], count)), None)))


def select_row(row: int | None) -> None:
    """Select a sentence from outside a picture; without one, the clicked sentence is no longer marked, either."""
    set_read_row(row)
    if row is None and len(state_of_marks().rows) == 1:
        mark_rows([])


def clear() -> None:
    """Clear all marks, the search, the typed sentence and the selected one."""
    set_read_row(None)
    st.session_state.update({QUERY: "", TYPED: ""})
    mark_rows([])


def mark_rows(rows: Sequence[int], source: str = "") -> None:
    """Mark only these rows, from outside the pictures, which are redrawn as new ones; for LIST, those of a class."""
    state = state_of_marks()
    state.changes += source != LIST or state.source not in ("", LIST)
    state.source, state.rows, state.baked = source, list(rows), list(rows)

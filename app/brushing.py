"""What a visitor has marked in the pictures, shared by all of them: the page "Clusters" and its session.

A picture that changes is drawn anew and forgets how far one has zoomed into it. So the picture in which something is
marked is left as it is: plotly shows there itself what is marked, and only the other picture is told. `baked` is what
was marked when the picture had to be drawn anew for another reason, and was drawn into it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import frame
import streamlit as st

from labkit.brush import Brush, brush

STATE, ROW = "marked", "row"


@dataclass
class Marked:
    """`source`: the picture that was marked; `sentences`, `arranged` and `drawn`: what was shown then, and how."""

    source: str = ""
    now: Brush = field(default_factory=Brush)
    baked: Brush = field(default_factory=Brush)
    sentences: Any = None
    arranged: Any = None
    drawn: Any = None
    ring: bool = True  # whether the sentence that is read has a ring: not if it was clicked

    def of(self, side: str) -> Brush:
        """What the picture of this side has to show."""
        return self.baked if side == self.source else self.now


def marked(sentences: Any, arranged: Any, drawn: Any, count: int) -> Marked:
    """The state, brought up to what is shown now: `arranged` says where the points lie, `drawn` how they look there."""
    found: Marked = st.session_state.setdefault(STATE, Marked())
    if frame.turned(ROW):  # by a link, Back or Forward: what was marked meanwhile is another sentence's
        found = st.session_state[STATE] = Marked()
        read_next(read(count))
    elif found.sentences not in (None, sentences):
        found = st.session_state[STATE] = Marked()
        read_next(None)
    found.sentences = sentences
    drawn = (drawn, read(count) if found.ring else None)
    if found.arranged != arranged and found.now.boxes:
        found.now = Brush()  # a box says nothing of another picture
    if (found.arranged, found.drawn) != (arranged, drawn):
        found.baked, found.arranged, found.drawn = found.now, arranged, drawn
    return found


def read(count: int) -> int | None:
    """The row of the sentence that is read; it stands in the address."""
    row = frame.numbered(ROW, count, -1)
    return None if row < 0 else row


def read_next(row: int | None) -> None:
    """Put the row of the sentence that is read into the address, at once."""
    frame.keep(ROW, row)
    frame.written()


def heard(side: str, key: str, count: int, carry: Callable[[Sequence[int]], list[int]]) -> None:
    """A picture was marked: before the page runs again. `carry` turns its rows into those of the first picture."""
    found: Marked = st.session_state.setdefault(STATE, Marked())
    now = brush(st.session_state.get(key), count)
    if found.source not in ("", side):
        found.baked = now
    found.source, found.now = side, now
    if len(now.rows) == 1 and carry(now.rows):
        read_next(carry(now.rows)[0])
        found.ring = False


def chosen(key: str) -> None:
    """A sentence was chosen from a list."""
    read_next(st.session_state.get(key))
    st.session_state.setdefault(STATE, Marked()).ring = True

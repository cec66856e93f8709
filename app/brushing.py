"""What a visitor has marked in the pictures, shared by all of them: the page "Clusters" and its session.

A picture that changes is drawn anew and forgets how far one has zoomed into it. So the picture in which something is
marked is left as it is: plotly shows there itself what is marked, and only the other picture is told. `baked` is what
was marked when the picture had to be drawn anew for another reason, and was drawn into it. So the sentence that was
clicked has its ring in the other picture by its figure, and in its own by a few lines in the browser.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import frame
import streamlit as st
from brush import Brush, brush

STATE, ROW = "marked", "row"
QUERY, TYPED, READ = "query", "typed", "read"  # the widgets of what is searched, typed and read

RING = """\
<script>
(() => {
  if (window.labkitRing) return;
  window.labkitRing = true;
  const events = ['afterplot', 'selected', 'deselect', 'relayout', 'animatingframe'];
  const draw = picture => {
    const plot = picture._fullLayout?._plots?.xy;
    picture.querySelectorAll('.labkit-ring').forEach(ring => ring.remove());
    if (!plot || !picture._fullData.some(trace => trace.customdata)) return;
    const isRing = trace => trace.marker?.symbol === 'circle-open' && trace.marker.size >= 20 && trace.x.length;
    const drawn = picture._fullData.some(isRing);
    const points = trace => [...(trace.selectedpoints || [])].map(at => [trace.x[at], trace.y[at]]);
    const chosen = picture._fullData.flatMap(points);
    if (drawn || chosen.length !== 1) return;
    const ring = document.createElementNS('http://www.w3.org/2000/svg', 'circle');
    const looks = {class: 'labkit-ring', r: 13, fill: 'none', stroke: '#D55E00', 'stroke-width': 4};
    looks.cx = plot.xaxis.d2p(chosen[0][0]);
    looks.cy = plot.yaxis.d2p(chosen[0][1]);
    for (const name in looks) ring.setAttribute(name, looks[name]);
    plot.plot.node().append(ring);
  };
  const equip = picture => {
    if (picture.labkitRing || !picture.on) return;
    picture.labkitRing = true;
    for (const event of events) picture.on('plotly_' + event, () => requestAnimationFrame(() => draw(picture)));
    draw(picture);
  };
  const look = () => document.querySelectorAll('.js-plotly-plot').forEach(equip);
  new MutationObserver(look).observe(document.body, {childList: true, subtree: true});
  look();
})();
</script>"""


@dataclass
class Marked:
    """`source`: the picture that was marked; `sentences`, `arranged` and `drawn`: what was shown then, and how."""

    source: str = ""
    now: Brush = field(default_factory=Brush)
    baked: Brush = field(default_factory=Brush)
    sentences: Any = None
    arranged: Any = None
    drawn: Any = None
    clicked: bool = False  # whether the sentence that is read was clicked in the picture `source`
    cleared: int = 0  # how often all marks were taken away: each time with new pictures, which know of none

    def of(self, side: str) -> Brush:
        """What the picture of this side has to show."""
        return self.baked if side == self.source else self.now

    def ring(self, side: str, row: int | None) -> int | None:
        """The row that has a ring in the figure of this side: not where plotly shows by itself that it was clicked."""
        return None if self.clicked and side == self.source else row


def marked(sentences: Any, arranged: Any, drawn: Any, count: int) -> Marked:
    """The state, brought up to what is shown now: `arranged` says where the points lie, `drawn` how they look there."""
    found: Marked = st.session_state.setdefault(STATE, Marked())
    if frame.turned(ROW):  # by a link, Back or Forward: what was marked meanwhile is another sentence's
        found = st.session_state[STATE] = Marked(cleared=found.cleared)
        read_next(read(count))
    elif found.sentences not in (None, sentences):
        found = st.session_state[STATE] = Marked(cleared=found.cleared)
        read_next(None)
    found.sentences = sentences
    drawn = (drawn, None if found.clicked else read(count))
    if found.arranged != arranged and found.now.boxes:
        found.now = Brush()  # a box says nothing of another picture
    if (found.arranged, found.drawn) != (arranged, drawn):
        found.baked, found.arranged, found.drawn = found.now, arranged, drawn
    return found


def read(count: int) -> int | None:
    """The row of the sentence that is read; it stands in the address."""
    row = frame.numbered(ROW, count, -1)
    return None if row < 0 else row


def cleared() -> int:
    """How often all marks were taken away."""
    found: Marked = st.session_state.setdefault(STATE, Marked())
    return found.cleared


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
        found.clicked = True


def chosen(key: str) -> None:
    """A sentence was chosen from a list, or none: then the one that was clicked is no longer marked, either."""
    row, found = st.session_state.get(key), st.session_state.setdefault(STATE, Marked())
    if row is not None:
        read_next(row)
        found.clicked = False
        return
    read_next(None)
    if found.clicked:
        unmark()


def clear() -> None:
    """Nothing is marked, searched for, typed or read any more."""
    read_next(None)
    for key in (QUERY, TYPED):
        st.session_state[key] = ""
    st.session_state[READ] = None
    unmark()


def unmark() -> None:
    """All marks are gone, from the pictures too."""
    st.session_state[STATE] = Marked(cleared=st.session_state.setdefault(STATE, Marked()).cleared + 1)


def ringed() -> None:
    """Put it into a page whose points can be clicked: the one that was has a ring in its own picture, too."""
    st.html(RING, unsafe_allow_javascript=True)

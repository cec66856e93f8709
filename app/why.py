"""The panel "Why alike?": what makes two sentences alike to a method, word by word. Every page opens the same panel.

If b is of another class than a, it is compared with c, the nearest sentence of a's class: why is b nearer than c?
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from textwrap import shorten

import cached
import choosing
import frame
import streamlit as st

from labkit import figures
from labkit.explanation import LEFT_OUT, WAYS, Contrast
from labkit.figures.similarity import LEAST_GAP

SPOKEN = 400  # letters of the largest parts
NOT_KNOWN = "One of the sentences contains no word from the training data, so the similarity is 0 by definition."
READ = "Each number is {what}. Blue parts make the sentences more similar, orange ones less similar."
OWN_PART, LOST = "half of the sum over all pairs that contain the {one}", "the similarity lost without the word"


def button(
    key: str,
    spaces: Sequence[choosing.Space],
    opened: cached.Opened,
    a: str,
    b: str,
    *,
    label: str = "Why alike?",
    icon: str | None = ":material/join_inner:",
    right: Callable[[], str | None] | None = None,
) -> None:
    """Open the panel for a pair, in one space or in two side by side.

    `right` finds the nearest sentence of the class of a, if b is of another class.
    """
    if not st.button(label, key=f"why-{key}", icon=icon, type="tertiary"):
        return
    c, several = right() if right else None, len(spaces) > 1

    def panel() -> None:
        st.text(f"a · {a}\nb · {b}" + (f"\nc · {c}" if c else ""))
        for number, (column, space) in enumerate(zip(st.columns(len(spaces)), spaces, strict=True)):
            with column:
                st.markdown(f"**{frame.plain(space.name)}**")
                frame.run(partial(explanation, space, opened, a, b, c, number=number, several=several))

    frame.dialog("Why alike?", panel, "large" if several else "medium")


def explanation(
    space: choosing.Space,
    opened: cached.Opened,
    a: str,
    b: str,
    c: str | None = None,
    *,
    number: int = 0,
    several: bool = False,
) -> None:
    """The similarity, the explanation method, the figure, the comparison with c, and the code."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        numbers = st.container(horizontal=True, width="content")
        way = space.method.ways[0]
        if len(space.method.ways) > 1:
            way = st.selectbox(
                "Explanation method", space.method.ways, key=f"way-{number}-{space.method.name}", width=320
            )
    found = cached.explained(space, a, b, way)
    numbers.metric("similarity", f"{found.similarity:.4f}", width="content")
    if way != LEFT_OUT and abs(found.gap) > LEAST_GAP:
        numbers.metric("gap", f"{found.gap:+.4f}", width="content")
    st.caption(f"{WAYS[way][0].upper()}{WAYS[way][1:]}.")
    say_unknown(found.unknown)
    if found.word_pairs:
        alt = f"Which words make two sentences similar: {shorten(found.largest(), SPOKEN, placeholder=' …')}."
        frame.picture(figures.alike(found), key=f"alike-{number}", alt=alt, rows=found.table)
        one = "neighbour" if way == "neighbours" else "word"
        st.caption(f"{READ.format(what=LOST if way == LEFT_OUT else OWN_PART.format(one=one))} {found.tested}")
    else:
        st.info(NOT_KNOWN)
    if c:
        _contrast(Contrast(found, cached.explained(space, a, c, way)))
    lines, of = CODE + (CONTRAST if c else ""), space.name if several else ""
    choosing.show_code(lines, space, opened if "corpus" in space.code else None, of, a=a, b=b, c=c, way=way)


def say_unknown(words: Sequence[str]) -> None:
    """The words that have no part in the similarity, if there are any."""
    if words:
        st.text(f"These words are not in the training data and have no effect: {', '.join(words)}")


def _contrast(found: Contrast) -> None:
    """Why b, of another class, is or is not nearer than c, the nearest of a's class: a table for each sentence."""
    near, far = found.near.similarity, found.far.similarity
    st.markdown(f"**Why {'b' if found.difference > 0 else 'c'} is nearer**")
    st.caption(
        f"b is not in the class of a; c is the nearest sentence that is. The similarity to b is "
        f"{near:.4f}, to c {far:.4f}; the difference is {found.difference:+.4f}."
    )
    sides = (
        ("a", "in favour of b over c", found.words_a),
        ("b", "in favour of b", found.words_b),
        ("c", "against b", found.words_c),
    )
    for column, (side, head, parts) in zip(st.columns(3), sides, strict=True):
        with column:
            rows = [{f"word of {side}": word, head: part} for word, part in parts]
            frame.table(rows, f"The words of {side} and their effect {head}.", formats={head: "%+.3f"}, height=215)


CODE = """\
from labkit.figures import alike
a, b = {a!r}, {b!r}
alike(method.explain(a, b, way={way!r})).show()
"""
CONTRAST = """\
print(method.contrast(a, b, {c!r}, way={way!r}))
"""

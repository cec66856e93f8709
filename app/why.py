"""The panel "Why alike?": what makes two sentences alike to a method, word by word. Every page opens the same panel.

If b is of another class than a, it is compared with c, the nearest sentence of a's class: why is b nearer than c?
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from html import escape
from textwrap import shorten
from typing import Any

import cached
import choosing
import frame
import streamlit as st

from labkit import figures
from labkit.explanation import LEFT_OUT, WAYS, Contrast, Explanation
from labkit.figure_names import written
from labkit.figures.similarity import LEAST_GAP
from labkit.text import spans

SPOKEN = 400  # letters of the largest parts
NOT_KNOWN = "One of the sentences contains no word from the training data, so the similarity is 0 by definition."
READ = (
    "Point at a word to see its part of the similarity. Blue words with solid underlines make the sentences more "
    "similar; orange words with dotted underlines make them less similar. The grid uses the same colours for pairs of "
    "words. Grey words are unknown to {name}."
)
NAMED = 6  # words in the headline
ACROSS = 14  # words on each side of the square
FAINT = 0.05  # share of the largest part below which a word is not marked
MARK = "border-radius: 2px 2px 0 0; border-bottom: 2px {line} rgb({ink}); background: rgba({ink}, {depth:.2f})"


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
    c = right() if right else None

    def panel() -> None:
        st.text(f"a · {a}\nb · {b}" + (f"\nc · {c}" if c else ""))
        for number, (column, space) in enumerate(zip(st.columns(len(spaces)), spaces, strict=True)):
            with column:
                frame.run(partial(explanation, space, opened, (a, b), c, number=number))

    frame.dialog("Why alike?", panel, "large" if len(spaces) > 1 else "medium")


def explanation(
    space: choosing.Space,
    opened: cached.Opened,
    pair: tuple[str, str],
    c: str | None = None,
    *,
    classes: Sequence[str] = (),
    place: Any = None,
    number: int = 0,
) -> None:
    """The headline, both sentences with marked words, the square of word pairs, the comparison, and the code.

    `classes` are those of both sentences, on a page with room for the square beside the sentences; `place` is that of
    the headline.
    """
    (a, b), way, name = pair, space.method.ways[0], frame.plain(space.name)
    with place or st.container(horizontal=True, vertical_alignment="center"):
        if len(space.method.ways) > 1:
            shown: Any = {"format_func": "Explanation: {}".format, "label_visibility": "collapsed", "width": 250}
            way = st.selectbox(
                "Explanation method", space.method.ways, key=f"way-{number}-{space.method.name}", **shown
            )
        found = cached.explained(space, a, b, way)
        st.markdown(f"**{name}:** {headline(found)}")
    if found.word_pairs:
        left, right = st.columns([1, 1.1]) if classes else (st.container(), st.container())
        with left:
            most = max(map(abs, (*found.own_a, *found.own_b)))
            heads = [f"{name} · {escape(group)}" for name, group in zip("ab", classes, strict=False)] or "ab"
            sides = ((a, found.names_a, found.own_a), (b, found.names_b, found.own_b))
            for head, (text, names, own) in zip(heads, sides, strict=True):
                st.html(f'<p class="labkit-words"><b>{head}</b> {marked(text, names, own, most or 1.0)}</p>')
            st.caption(READ.format(name=name))
            st.caption(f"{WAYS[way][0].upper()}{WAYS[way][1:]}. {found.tested}")
        alt = f"Which words make two sentences similar: {shorten(found.largest(), SPOKEN, placeholder=' …')}."
        picture = figures.word_pairs(found, most=ACROSS, numbers=False)
        with right:
            frame.picture(picture, key=f"alike-{number}", alt=alt, rows=found.table)
    else:
        st.info(NOT_KNOWN)
    if c:
        contrast(Contrast(found, cached.explained(space, a, c, way)))
    lines = CODE + (CONTRAST if c else "")
    choosing.show_code(lines, space, opened if "corpus" in space.code else None, space.name, a=a, b=b, c=c, way=way)


def headline(found: Explanation) -> str:
    """The similarity, and the words that make half of it."""
    half, what = found.half(), "neighbours" if found.way == "neighbours" else "words"
    said = f"the similarity is **{written(found.similarity, '.3f')}**."
    if half:
        more = f" and {len(half) - NAMED} more" if len(half) > NAMED else ""
        said += f" **Half of it comes from these {what}: {', '.join(map(frame.plain, half[:NAMED]))}{more}.**"
    elif found.way == LEFT_OUT:
        largest = dict(sorted((*found.words_a, *found.words_b), key=lambda word: -word[1]))
        said += f" **It falls most without these words: {', '.join(map(frame.plain, [*largest][:NAMED]))}.**"
    if found.way != LEFT_OUT and abs(found.gap) > LEAST_GAP:
        said += f" The gap is {written(found.gap, '+.4f')}."
    return said


def marked(text: str, names: Sequence[str], own: Sequence[float], most: float) -> str:
    """The text with its words marked by their parts, as HTML; what is not a word of it, such as neighbours, follows."""
    parts: dict[str, list[float]] = {}
    for name, part in zip(names, own, strict=True):
        parts.setdefault(name.lower(), []).append(part)
    pieces, end, used = [], 0, set()
    for start, stop in spans(text):
        word = text[start:stop].lower()
        used.add(word)
        left = parts.get(word, [])
        part = left.pop(0) if len(left) > 1 else left[0] if left else None  # a counted word has one part in all
        pieces += [escape(text[end:start]), _mark(text[start:stop], part, most)]
        end = stop
    others = [_mark(name, part, most) for name, part in zip(names, own, strict=True) if name.lower() not in used]
    return " ".join(["".join([*pieces, escape(text[end:])]), *others])


def _mark(word: str, part: float | None, most: float) -> str:
    """A word in its colour, with a line or dots below; unmarked if its part is small, and grey without a part."""
    if part is None:
        return f'<span style="opacity: 0.6">{escape(word)}</span>'
    ink, line = ("0, 114, 178", "solid") if part > 0 else ("230, 159, 0", "dotted")
    look = MARK.format(line=line, ink=ink, depth=0.45 * abs(part) / most) if abs(part) >= FAINT * most else ""
    return f'<span style="{look}" title="{written(part)}">{escape(word)}</span>'


def contrast(found: Contrast) -> None:
    """Why b, of another class, is or is not nearer than c, the nearest of a's class, by the words of each sentence."""
    near, far = round(found.near.similarity, 3), round(found.far.similarity, 3)
    st.markdown(f"**Why {'b' if found.difference > 0 else 'c'} is nearer**")
    numbers = f"{written(near, '.3f')}, to c {written(far, '.3f')}; the difference is {written(near - far)}"
    st.caption(f"b is not in the class of a; c is the nearest sentence that is. The similarity to b is {numbers}.")
    sides = zip("abc", (found.words_a, found.words_b, found.words_c), strict=True)
    rows = [{"in": side, "word": word, "in favour of b": part} for side, words in sides for word, part in words]
    frame.table(rows, "The words of a, b and c, and their effects in favour of b.", formats={"in favour of b": "%+.3f"})


CODE = """\
from labkit.figures import word_pairs
a, b = {a!r}, {b!r}
word_pairs(method.explain(a, b, way={way!r}), most=14, numbers=False).show()
"""
CONTRAST = """\
print(method.contrast(a, b, {c!r}, way={way!r}))
"""

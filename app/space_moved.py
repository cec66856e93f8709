"""Neighbour metrics of the Space page, sentence by sentence: which moved, and how far a picture can be trusted.

They compare the spaces of the two sides, or two epochs of one run. Up to AT_ONCE sentences, this takes seconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import choosing
import frame
import marking
import numpy as np
import streamlit as st
from cached import Opened
from choosing import Space
from keeping import once
from space_look import COARSE, FINE, NO_LABELS, OF_CLASSES, Look, look_of, sentences_of
from space_reading import clear_button
from space_sides import WIDTHS, Side, opened_side, picture_rows, show_side, words_on

from labkit import figures
from labkit.evaluation.neighbours import MovedTogether, Movement, moved_rows, moved_together, movement
from labkit.figures.clusters import MOVED, TRUST, WAYS, with_column
from labkit.projection import laid_over, trust

AT_ONCE = 20_000  # sentences: finding their neighbours takes 3 seconds, and four times as long for twice as many
SPARSE_AT_ONCE = 5_000  # the same for vectors that are mostly zeros
NEAREST = 10  # neighbours that determine which sentences moved
RANKED = 100  # sentences of the list
HEIGHT = 520  # in pixels, approximately
NOTHING_COMPARED = "To compare, choose a model for the right side above."
LONG = "Neighbours are compared for at most {most:,} sentences. Choose fewer under **Picture**."
SUMMARY = "On average, {new:.1f} of a sentence's {k} nearest neighbours change from **{before}** to **{after}**."
RIGHT = (
    "For {right:,} sentences, the nearest neighbour is now from the same class but was not before (✓). For {wrong:,} "
    "sentences, it was but no longer is (✗)."
)
LISTED = 8  # sentences next to the picture
LINES = (
    "The picture of {before} is rotated to match that of {after}. For {which}, a line leads from the old position (a "
    "small ring) to the new one. Neighbours are found in the spaces, not in this picture."
)
SUGGESTED = "These groups of sentences moved from one class to another. Click a group to mark it:"
NONE_TOGETHER = "No sentence moved from the neighbourhood of one class to that of another."
ABOUT_FOUND = "This corpus has no classes, so the groups are clusters of the first picture, named after their words."


# --- what colours a picture --------------------------------------------------------------------------------------


def in_colour(side: Side, look: Look, before: Side, after: Side) -> Side:
    """The side with the column that colours it, if that column has to be measured."""
    if look.by not in (TRUST, MOVED) or look.by in side.shown.extra or not may_measure(side):
        return side
    if look.by == MOVED:
        shares = who_moved(before, after).change
    else:
        rows, points = side.vectors()[1], side.picture.points
        key = ("trust", side.space.key, side.key, side.picture.method, points.shape[1])
        shares = once("Comparing the neighbours …", key, lambda: trust(rows, points))
    return replace(side, shown=with_column(side.shown, look.by, shares))


def may_measure(side: Side) -> bool:
    """Whether the neighbours of a side are found in seconds; if not, the page says what to do."""
    most = AT_ONCE if isinstance(side.vectors()[1], np.ndarray) else SPARSE_AT_ONCE
    if len(side.shown) > most:
        st.caption(LONG.format(most=most))
    return len(side.shown) <= most


def who_moved(before: Side, after: Side) -> Movement:
    """Which sentences moved from one side to the other."""
    old, new = before.vectors()[1], after.vectors()[1]
    k = min(NEAREST, (len(before.shown) - 1) // 2)
    key = ("moved", before.space.key, before.key, after.space.key, after.key)
    return once("Comparing the neighbours …", key, lambda: movement(old, new, k))


# --- the view ----------------------------------------------------------------------------------------------------


def show_who(opened: Opened, chosen: dict[str, Space], box: Any, verdict: Any) -> None:
    """The two spaces overlaid, the sentences that moved most, and the groups that moved together."""
    if len(chosen) < 2:
        st.info(NOTHING_COMPARED)
        return
    left, right = st.columns(WIDTHS)
    with right:
        clear_button()
    shown, key, line = sentences_of(opened, box)
    look = replace(look_of(opened, shown, box), dimensions=2, as_map=False)
    marking.update_marks(key, ("who", look.how, *(space.key for space in chosen.values())), look, len(shown))
    with left:
        before, after = (opened_side(name, space, shown, key, look) for name, space in chosen.items())
    old, new = laid_over(before.picture, after.picture)
    marked = marking.state_of_marks().now
    rows = marked.inside(new.points).tolist() if marked else None
    with right:
        if not may_measure(after):
            return
        moved = who_moved(before, after)
        labels = labels_of_groups(before, after)
        hit = [np.array(labels)[near[:, 0]] == np.array(labels) for near in (moved.before, moved.after)]
        ranked = moved.ranked if rows is None else moved.ranked[np.isin(moved.ranked, rows)]
        groups = moved_together(moved, labels)
        if rows is not None:
            st.markdown(f"**Marked sentences**: {len(rows):,} of {len(shown):,}")
            for row in ranked[:LISTED].tolist():
                sign = {(False, True): "✓ ", (True, False): "✗ "}.get((bool(hit[0][row]), bool(hit[1][row])), "")
                st.markdown(f"* {sign}**{frame.plain(labels[row])}** {frame.plain(shown.texts[row])}")
        show_suggestions(groups, after.name)
    names = {"before": frame.plain(before.space.name), "after": frame.plain(after.space.name)}
    said = SUMMARY.format(**names, k=moved.k, new=moved.new.mean())
    verdict.markdown(f"{said} {RIGHT.format(right=(hit[1] & ~hit[0]).sum(), wrong=(hit[0] & ~hit[1]).sum())}")
    lines = None if rows is None and len(shown) <= WAYS else ranked[:WAYS]
    with left:
        marking.equip_pictures(len(shown))
        side = replace(in_colour(after, look, before, after), picture=new)
        drawing = look.colours(side.shown) | {"before": old.points, "narrow": True, "height": HEIGHT, "chosen": lines}
        ring = marking.state_of_marks().ring(side.name, marking.read_row(len(shown)))
        figure = figures.clusters(new, side.shown, ring=ring, **drawing)
        with st.container(key="tall-moved"):
            show_side(figure, side, side, look, partial(picture_rows, new, side.shown))
        st.caption(LINES.format(**names, which="each sentence" if lines is None else f"{len(lines):,} sentences"))
    frame.table(
        moved_rows(moved, shown.texts, labels, ranked[:RANKED]),
        "Sentences ranked by how much their neighbourhood changed, with their neighbours' classes before and after.",
        formats={"changed": "%.2f"},
        widths={"row": "small", "class": "small", "neighbours before": "medium", "neighbours after": "medium"},
        height=min(300, 38 * (len(ranked) + 1)),
    )
    both = f"{before.space.code}\nbefore = method\n{after.space.code}\nafter = method"
    choosing.show_code(WHO_CODE, replace(after.space, code=both), opened, shown=line, how=look.how)


def labels_of_groups(before: Side, after: Side) -> Sequence[str]:
    """The classes of the sentences; if there is only one, clusters of the first picture, named by their words."""
    if len(set(after.shown.labels)) > 1:
        return after.shown.labels
    st.caption(ABOUT_FOUND)
    regions = words_on(before, fine=True)
    return [regions.names[code] or f"cluster {code + 1}" for code in regions.codes.tolist()]


def show_suggestions(groups: Sequence[MovedTogether], side: str) -> None:
    """The groups that moved together, each with a button that marks it."""
    st.caption(SUGGESTED if groups else NONE_TOGETHER)
    with st.container(gap=None, key="suggested"):
        for number, group in enumerate(groups):
            name = f"{len(group.rows):,} moved from **{frame.plain(group.source)}** to **{frame.plain(group.target)}**"
            mark = partial(marking.mark_rows, side, group.rows.tolist())
            st.button(name, key=f"together-{number}", type="tertiary", on_click=mark)


# --- the code of what is measured ----------------------------------------------------------------------------------

TRUST_CODE = """\
from labkit.figures.clusters import with_column
from labkit.projection import trust
shown = with_column(shown, "trust", trust(vectors, picture.points))"""
MOVED_CODE = """\
from labkit.evaluation import movement
from labkit.figures.clusters import with_column
rows = [each.encode(shown.texts, normalize_embeddings=True) for each in (before, after)]
shown = with_column(shown, "what moved", movement(*rows).change)"""
EPOCHS_CODE = """\
from dataclasses import replace
from labkit.arrays import unit
from labkit.evaluation import movement
from labkit.figures.clusters import with_column
from labkit.projection import trust
first, now = (unit(method.snapshots.vectors[place]) for place in (0, {at}))
share = {share}
epochs = replace(epochs, shown=with_column(epochs.shown, {by!r}, share))"""
SHARES = {TRUST: "trust(now, epochs.pictures[{at}].points)", MOVED: "movement(first, now).change"}
WORDS_CODE = ", regions=regions(counted_words(shown.texts), picture.points, shown.labels, fine={fine})"
CODE_OF_LABELS = {
    OF_CLASSES: ", named=True",
    COARSE: WORDS_CODE.format(fine=False),
    FINE: WORDS_CODE.format(fine=True),
    NO_LABELS: "",
}
WHO_CODE = """\
from labkit.evaluation import moved_together, movement
from labkit.figures import clusters
from labkit.projection import laid_over, project
{shown}
spaces = [method.encode(shown.texts, normalize_embeddings=True) for method in (before, after)]
moved = movement(*spaces)
for group in moved_together(moved, shown.labels):
    print(group)
old, new = laid_over(*(project(rows, {how!r}) for rows in spaces))
clusters(new, shown, before=old.points, named=True).show()
"""


def show_side_code(lines: str, side: Side, sides: list[Side], opened: Opened, look: Look, **values: Any) -> None:
    """The code that makes the picture of a side; `before` is code that goes first, `at` is the index of the epoch."""
    of, space, measured, at = side.title if len(sides) > 1 else "", side.space, "", values.get("at")
    before = values.pop("before", "")
    if look.by in (TRUST, MOVED) and look.by not in side.shown.extra:
        if at is not None:
            measured = EPOCHS_CODE.format(at=at, by=look.by, share=SHARES[look.by].format(at=at))
        elif look.by == TRUST:
            measured = TRUST_CODE
        else:
            measured = MOVED_CODE
            before += f"\n{sides[0].space.code}\nbefore = method\n{sides[-1].space.code}\nafter = method"
    space = replace(space, code=f"{before}\n{space.code}".strip())
    values |= {"by": look.by, "most": look.most, "measured": measured, "labels": CODE_OF_LABELS[look.labels]}
    choosing.show_code(lines, space, opened, of, how=look.how, **values)

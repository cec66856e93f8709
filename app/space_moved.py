"""Neighbour metrics of the Space page, sentence by sentence: which moved, and how far a picture can be trusted.

They compare the spaces of the two sides, or two epochs of one run. Up to AT_ONCE sentences, this takes seconds.
"""

from __future__ import annotations

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
from space_look import COARSE, FINE, NO_LABELS, OF_CLASSES, Look, found_in, look_of, nearest_of, sentences_of
from space_reading import clear_button, list_sentences, show_neighbours_of
from space_sides import Side, opened_side, picture_rows, show_side, show_title

from labkit import figures
from labkit.evaluation.neighbours import OUTCOMES, Movement, Moves, moved_together, movement, moves
from labkit.figures.clusters import MOVED, TRUST, with_column
from labkit.palette import STYLES
from labkit.projection import laid_over, trust

AT_ONCE = 20_000  # sentences: finding their neighbours takes 3 seconds, and four times as long for twice as many
SPARSE_AT_ONCE = 5_000  # the same for vectors that are mostly zeros
GROUPS = 6  # groups of a list
HEIGHT = 520  # pixels of the picture, approximately
LIST = {"width": 380, "height": 400}  # in pixels
ROW, ROW_ENLARGED = 114, 140  # pixels of a row of the list, which shows a whole sentence
VERDICT = "**{moved:,} of {all:,} sentences** have a nearest neighbour of another class than before."
JUDGED = "Better (✓): the new class is the sentence's own. Worse (✗): the old one was."
WORSE = OUTCOMES[0]
SIGNS = dict(zip(OUTCOMES, "✗✓○", strict=True))
LINES = "A line leads from where a sentence was in {before}, shown by a mark or a small grey dot, to where it is now."
SHOWN = (
    "In colour: {coloured:,} sentences ({which}). In grey: the other {others:,} in the list. The earlier places are "
    "rotated to match the points. On average, {new:.1f} of the {k} nearest neighbours of a sentence are new."
)


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
        st.caption(f"Neighbours are compared for at most {most:,} sentences. Choose fewer under **Picture**.")
    return len(side.shown) <= most


def who_moved(before: Side, after: Side) -> Movement:
    """Which sentences moved from one side to the other."""
    old, new = before.vectors()[1], after.vectors()[1]
    key = ("moved", before.space.key, before.key, after.space.key, after.key)
    return once("Comparing the neighbours …", key, lambda: movement(old, new, nearest_of(len(before.shown))))


# --- the view ----------------------------------------------------------------------------------------------------


def show_who(opened: Opened, chosen: dict[str, Space], box: Any, verdict: Any) -> None:
    """The two spaces overlaid, and lists of the sentences with a neighbour of another class: worse, better, neither."""
    if len(chosen) < 2:
        st.info("To compare, choose a model for the right side above.")
        return
    left, right = st.columns([2, 3])
    left = left.container(gap="xxsmall", key="frame-moved")
    shown, key, line = sentences_of(opened, box)
    shown, found_by = found_in(chosen["left"], shown, key, box)
    look = replace(look_of(opened, shown, box), dimensions=2, as_map=False)
    drawn = ("who", look, found_by, st.session_state.get("list"), *(space.key for space in chosen.values()))
    marking.update_marks(key, drawn, len(shown))
    with left:
        before, after = (opened_side(name, space, shown, key, look) for name, space in chosen.items())
        if not may_measure(after):
            return
    old, new = laid_over(before.picture, after.picture)
    with right:
        moved = who_moved(before, after)
    found, labels = moves(moved, shown.labels), shown.labels
    verdict.markdown(VERDICT.format(moved=int((found.outcome != "").sum()), all=len(shown)), help=JUDGED)
    with right:
        outcome, group = choose_list(found)
        state, row = marking.state_of_marks(), marking.read_row(len(shown))
        rows, many = np.array(state.rows, int), bool(state.rows) and not state.clicked(row)
        listed = moved.ranked[np.isin(moved.ranked, rows)] if many else found.rows(outcome)
        if many:
            st.markdown(f"**Marked sentences**: {len(rows):,} of {len(shown):,}")
        about = {"class": labels, "nearest before": found.source, "nearest now": found.target}
        row_height = ROW_ENLARGED if st.session_state.get("present") else ROW
        list_sentences(listed.tolist(), shown.texts, about, **LIST, row_height=row_height)
        if row is not None:
            st.text(f"{shown.texts[row]}\n— {labels[row]}")
            show_neighbours_of(row, [before, after], opened)
    drawn, which = (rows, "those marked") if many else (group, "the largest group in the list")
    if row is not None and not many:
        drawn, which = np.array([row]), "the one selected"
    coloured = drawn[found.outcome[drawn] != ""]
    others = np.setdiff1d(found.rows(outcome), coloured)
    if many:
        look = replace(look, most=STYLES)  # so that all of their classes have colours
    with left:
        show_title("right", after.space, opened, len(shown), key[1], look.how)
        st.caption(LINES.format(before=frame.plain(before.space.name)))
        marking.equip_pictures(len(shown))
        side = replace(in_colour(after, look, before, after), picture=new)
        drawing = look.colours(side.shown) | {"before": old.points, "narrow": True, "height": HEIGHT}
        drawing["ways"] = {each: coloured[found.outcome[coloured] == each] for each in OUTCOMES} | {"others": others}
        figure = figures.clusters(new, side.shown, ring=row, chosen=rows if many else None, **drawing)
        with st.container(key="tall-moved"):
            show_side(figure, side, side, look, partial(picture_rows, new, side.shown))
        counts = {"coloured": len(coloured), "others": len(others), "k": moved.k, "new": moved.new.mean()}
        st.caption(SHOWN.format(which=which, **counts))
    both = f"{before.space.code}\nbefore = method\n{after.space.code}\nafter = method"
    choosing.show_code(WHO_CODE, replace(after.space, code=both), opened, shown=line, how=look.how)


def choose_list(found: Moves) -> tuple[str, np.ndarray]:
    """The choice of a list, and its largest groups, each with a button that marks it; return the list and the rows of
    its largest group."""
    names = {each: f"{SIGNS[each]} {len(found.rows(each)):,} {each}" for each in OUTCOMES}
    options: Any = {"default": WORSE, "required": True, "label_visibility": "collapsed", "format_func": names.get}
    with st.container(horizontal=True):
        outcome = str(st.segmented_control("Sentences listed", OUTCOMES, key="list", **options))
        clear_button()
    with st.container(horizontal=True, gap="xsmall", key="suggested"):
        groups = [(way, rows) for way, rows in moved_together(found).items() if way[0] == outcome]
        for number, ((_, source, target), rows) in enumerate(groups[:GROUPS]):
            name = f"{len(rows):,} from **{frame.plain(source)}** to **{frame.plain(target)}**"
            mark = partial(marking.mark_rows, rows.tolist())
            st.button(name, key=f"together-{number}", type="tertiary", on_click=mark)
        if rest := groups[GROUPS:]:
            st.caption(f"and {sum(len(rows) for _, rows in rest):,} more in {len(rest)} smaller groups")
    return outcome, groups[0][1] if groups else np.empty(0, np.int64)


# --- the code of what is measured ----------------------------------------------------------------------------------

MEASURED_CODE = """\
from labkit.evaluation import movement
from labkit.figures.clusters import with_column
from labkit.projection import trust
{rows}
shown = with_column(shown, {by!r}, {share})"""
EPOCH_ROWS = """\
from dataclasses import replace
from labkit.arrays import unit
before, vectors = (unit(method.snapshots.vectors[place]) for place in (0, {at}))
shown, picture = epochs.shown, epochs.pictures[{at}]"""
BOTH_ROWS = "before, vectors = (each.encode(shown.texts, normalize_embeddings=True) for each in (before, after))"
SHARES = {TRUST: "trust(vectors, picture.points)", MOVED: "movement(before, vectors).change"}
WORDS_IMPORT = "\nfrom labkit.evaluation.regions import counted_words, regions"
WORDS_CODE = ", regions=regions(counted_words(shown.texts), picture.points, shown.labels, fine={fine})"
CODE_OF_LABELS = {
    OF_CLASSES: ", named=True",
    COARSE: WORDS_CODE.format(fine=False),
    FINE: WORDS_CODE.format(fine=True),
    NO_LABELS: "",
}
WHO_CODE = """\
from labkit.evaluation import moved_together, movement, moves
from labkit.figures import clusters
from labkit.projection import laid_over, project
{shown}
spaces = [method.encode(shown.texts, normalize_embeddings=True) for method in (before, after)]
found = moves(movement(*spaces), shown.labels)
groups = moved_together(found)
print({{way: len(rows) for way, rows in groups.items()}})
old, new = laid_over(*(project(rows, {how!r}) for rows in spaces))
outcome, rows = next(((way[0], rows) for way, rows in groups.items()), ("others", []))
ways = {{"others": found.rows(outcome), outcome: rows}}
clusters(new, shown, before=old.points, ways=ways, named=True).show()
"""


def show_side_code(lines: str, side: Side, sides: list[Side], opened: Opened, look: Look, **values: Any) -> None:
    """The code that makes the picture of a side; `before` is code that goes first, `at` is the index of the epoch."""
    of, space, measured, at = side.title if len(sides) > 1 else "", side.space, "", values.get("at")
    before = values.pop("before", "")
    if look.by in SHARES and look.by not in side.shown.extra:
        rows = BOTH_ROWS if look.by == MOVED else ""
        if at is None and rows:
            before += f"\n{sides[0].space.code}\nbefore = method\n{sides[-1].space.code}\nafter = method"
        rows = rows if at is None else EPOCH_ROWS.format(at=at)
        measured = MEASURED_CODE.format(rows=rows, by=look.by, share=SHARES[look.by])
        measured += "" if at is None else "\nepochs = replace(epochs, shown=shown)"
    space = replace(space, code=f"{before}\n{space.code}".strip())
    measured += WORDS_IMPORT * (look.labels in (COARSE, FINE))
    values |= {"by": look.by, "most": look.most, "measured": measured, "labels": CODE_OF_LABELS[look.labels]}
    choosing.show_code(lines, space, opened, of, how=look.how, **values)

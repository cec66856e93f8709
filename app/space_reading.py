"""The sentences behind the points of the Space page: search, type, list, and read them with their neighbours.

Marked and found sentences are rows of the first side; another side highlights those whose text it shows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import cached
import choosing
import frame
import marking
import numpy as np
import pandas as pd
import papers_pthought
import papers_sbert_lp
import streamlit as st
import why
from keeping import once
from marking import rows_with_same_text
from space_look import Look, nearest_of
from space_sides import Side, picture_rows, words_of

from labkit import figures
from labkit.arrays import unit
from labkit.corpora import Labelled
from labkit.corpora.relations import UNLABELLED
from labkit.evaluation.classes import Separation
from labkit.evaluation.regions import set_apart
from labkit.figure_names import written
from labkit.figures.clusters import CLASS, SOLID, Colouring, colouring
from labkit.palette import INK, MARKS, style
from labkit.projection import Placement, place, project
from labkit.projection.placement import SimilarSentence, matching, neighbours, unknown_words

LISTED, TALL = 500, 30  # sentences; classes above which their table fills its place
LIST = {"width": 200, "row_height": 76, "height": 230}  # in pixels: the text of lower rows would not wrap
PANEL = 500  # pixels, if the height of the pictures next to it is unknown
GLYPHS = dict(zip((*MARKS, *SOLID.values()), "●◆■✚▲★✖◇", strict=True))
SHARES = "**Hit@1**: share of the n sentences whose nearest neighbour among those shown is of their class."
CHANGED, SAME = "**{new} of {all} nearest neighbours are new.**", " Of the same class (✓): {own}."
MARK = (" gone", " new")  # what only the left side or only the right side has
STAR = (
    "The sentence as a mixture of its nearest neighbours, before and after SBERT-LP. This method gives every sentence "
    "a new vector that its neighbours reconstruct with the same weights as before."
)
STARS = (
    "The number next to a mark is its row in the table. The farther a mark is from the centre, the less similar the "
    "sentence. A thick line means a large weight, and a dotted line a negative one. A filled mark is a neighbour both "
    "before and after, and has the same direction in both stars."
)
GROUPS = (
    "Each letter stands for a group of test sentences with the same meaning. Group A contains the selected sentence, "
    "which is ringed. The other groups are chosen at random. A plane shows only part of the space, but the cosines "
    "in the table are those of the whole space."
)
UNKNOWN_ALL = (
    "{space} knows none of these words: {words}. The sentence has no meaningful vector, and therefore no place in the "
    "picture and no neighbours."
)
UNKNOWN_SOME = "{space} does not know these words and ignores them: {words}."

# --- to search, and to type ----------------------------------------------------------------------------------------


def text_field(key: str, label: str, hint: str, most: int) -> str:
    """A field for a search or a sentence of the visitor's own; the text is kept out of the address."""
    return str(st.text_input(label, key=key, max_chars=most, placeholder=hint, label_visibility="collapsed")).strip()


def search_field(texts: Sequence[str]) -> tuple[str, list[int] | None]:
    """The search, with the rows that match; next to it, the button that clears everything."""
    with st.container(horizontal=True):
        query = text_field(marking.QUERY, "Search the sentences", "Search for words", 200)
        clear_button()
    return query, matching(texts, query, most=LISTED) if query else None


def clear_button() -> None:
    """One button that clears the marks, the search, the typed sentence and the selected one."""
    st.button("Clear", key="clear", on_click=marking.clear, help="Clear all marks, the search and the selection.")


@dataclass(frozen=True, eq=False)
class Asked:
    """A sentence whose neighbours in the space of a side are shown.

    `row` is that of a sentence that is shown; `where` is the position of a typed one, if any of its words is known.
    """

    text: str
    vector: Any
    side: Side
    row: int | None = None
    where: Placement | None = None
    unknown: tuple[str, ...] = ()

    @property
    def label(self) -> str | None:
        """The class of a shown sentence."""
        return None if self.row is None else self.side.shown.labels[self.row]

    def near(self, k: int = 0) -> Sequence[SimilarSentence]:
        """Its k nearest neighbours, by default as many as determine which sentences moved."""
        side, k = self.side, k or nearest_of(len(self.side.shown))
        return neighbours(side.space.method, self.vector, side.vectors()[0], side.shown, k=k, without=self.row)

    def nearest_of_class(self) -> str | None:
        """The nearest sentence of its own class."""
        every = self.near(k=len(self.side.shown))
        return next((each.text for each in every if each.label == self.label), None)


def landing(typed: str, side: Side) -> Asked:
    """The typed sentence with its vector and its position in the picture."""
    method = side.space.method
    unknown, known = unknown_words(method, typed)
    row = method.encode([typed], normalize_embeddings=method.similarity_name == "cosine")
    where = place(side.picture, side.vectors()[1], unit(row)) if known else None
    return Asked(typed, row, side, where=where, unknown=unknown)


# --- what is marked or found ---------------------------------------------------------------------------------------


def marks_on(side: Side, sides: list[Side], matches: list[int] | None, *, whole: bool = False) -> dict[str, Any]:
    """The highlights in the picture of a side: the marked and found sentences, and the selected one.

    A map needs the `whole`; plotly shows some of it by itself.
    """
    state, texts = marking.state_of_marks(), sides[0].shown.texts
    row, here = marking.read_row(len(texts)), partial(rows_with_same_text, texts=texts, onto=side.shown.texts)
    own = side.name == state.source and not whole
    rows, ring = state.baked if own else state.rows, [] if row is None or (own and state.clicked(row)) else [row]
    return {"chosen": here(rows) if rows else None, "found": here(matches or []), "ring": next(iter(here(ring)), None)}


def list_sentences(
    rows: Sequence[int], texts: Sequence[str], about: Mapping[str, Sequence[str]], width: int, **size: int
) -> None:
    """Sentences, `width` pixels wide, with what is known about them; a row of the table selects its sentence."""
    key = f"listed-{marking.state_of_marks().changes}-{hash(tuple(rows))}"
    lines = [{name: of[row] for name, of in {"sentence": texts, **about}.items()} for row in rows]

    def choose() -> None:
        chosen = st.session_state[key].selection.rows
        marking.select_row(rows[chosen[0]] if chosen else None)

    if lines:
        selects: Any = {"key": key, "on_select": choose, "selection_mode": "single-row"}
        alt = "Sentences in the list. Choose one to read it and to see its neighbours."
        frame.table(lines, alt, widths={"sentence": width, **dict.fromkeys(about, 98)}, **size, **selects)


# --- the classes ---------------------------------------------------------------------------------------------------


def follow_class(shown: Labelled, look: Look) -> None:
    """Mark the class that a link names; the address keeps the one chosen in the list of classes while it is marked."""
    linked, named = st.query_params.get(CLASS), colouring(shown, look.by_column(shown))
    if frame.address_changed(CLASS) and linked in named.names:
        marking.mark_rows(rows_of(named, linked), marking.LIST)
    marked = linked in named.names and marking.state_of_marks().source == marking.LIST
    frame.keep_in_address(CLASS, linked if marked else None)


def show_classes(sides: Sequence[Side], look: Look, measured: Sequence[Separation]) -> None:
    """The classes with their colours, and how often the nearest neighbour is right in each space; a click on a class
    marks it in all pictures."""
    shown = sides[0].shown
    drawn, named = look.colouring(shown), colouring(shown, look.by_column(shown))
    if len(named.names) < 2:  # one class, or numbers
        return
    drawn_as = dict(zip(named.codes.tolist(), drawn.codes.tolist(), strict=True))
    by_class = [each.by_class for each in measured] if named.column == CLASS else []
    first, last = (by_class[0], by_class[-1]) if by_class else ({}, {})
    gains = {name: last[name] - first[name] for name in first if name in last}
    order = sorted(drawn_as, key=lambda code: (-gains.get(named.names[code], 0.0), drawn_as[code], named.names[code]))
    names = [named.names[code] for code in order]
    looks = [(INK, MARKS[0]) if drawn_as[code] == drawn.rest else style(drawn.styles[drawn_as[code]]) for code in order]
    marks = [SOLID.get(mark, mark) if look.dimensions == 3 else mark for _, mark in looks]
    table = pd.DataFrame({" ": [GLYPHS[mark] for mark in marks], named.column: names})
    widths = {" ": 22, named.column: 110}
    if by_class:
        points = {name: round(100 * gain) for name, gain in gains.items()}
        if len(set(points.values())) > 1:
            best, worst = (
                f"**{frame.plain(choosing.first_of([name for name in names if points.get(name) == end]))}** "
                f"({written(end, '+.0f')} points)"
                for end in (max(points.values()), min(points.values()))
            )
            st.markdown(f"Best change: {best}. Worst: {worst}.")
        st.caption("Hit@1 in %" + ", Δ in points" * (len(by_class) > 1), help=SHARES)
        table["n"] = [len(rows_of(named, name)) for name in names]
        widths |= {"n": 40, "Δ": 46}
    for side, each in zip(sides, by_class, strict=False):
        table[side.name] = 100 * table[CLASS].map(each)
        widths[side.name] = 54 if len(side.name) < 6 else 70
    if len(by_class) > 1:
        table["Δ"] = table[sides[1].name] - table[sides[0].name]
    looked = table.style.apply(lambda _: [f"color: {colour}" for colour, _ in looks], subset=[" "])
    looked = looked.format(precision=0)
    looked = looked.format(partial(written, form="+.0f"), subset=table.columns.intersection(["Δ"]))
    key = f"classes-{marking.state_of_marks().changes}"
    st.dataframe(
        looked,
        hide_index=True,
        placeholder="–",
        key=key,
        on_select=partial(choose_class, key, names, named),
        selection_mode="single-cell",
        column_config={name: st.column_config.Column(width=width) for name, width in widths.items()},
        height="stretch" if len(names) > TALL else "content",
        alt="The classes with their colours. Choose one to mark it in all pictures.",
    )


def choose_class(key: str, names: Sequence[str], named: Colouring) -> None:
    """Handle a choice in the list of classes."""
    cells = st.session_state[key].selection.cells
    name = names[cells[0][0]] if cells else None
    frame.keep_in_address(CLASS, name)
    frame.write_address()
    if name is None:
        marking.mark_rows([])
    else:
        marking.mark_rows(rows_of(named, name), marking.LIST)


def rows_of(named: Colouring, name: str) -> list[int]:
    """The rows of a class."""
    rows: list[int] = np.flatnonzero(named.codes == named.names.index(name)).tolist()
    return rows


# --- to read -------------------------------------------------------------------------------------------------------


def show_reading(
    sides: list[Side],
    matches: list[int] | None,
    look: Look,
    measured: Sequence[Separation],
    landed: Sequence[Asked] = (),
    opened: cached.Opened | None = None,
    line: str = "",
    compared: Sequence[Side] = (),
) -> None:
    """The marked or found sentences, the selected one, its neighbours, and the classes, next to the pictures.

    With the corpus, each neighbour has a button that explains why it is near, and the selected sentence one for its
    star; the `line` of code chooses the sentences shown. `compared`: the sides that are `measured`, if they are others.
    """
    first = sides[0]
    with st.container(height=PANEL, border=False, key="reading", gap="xsmall"):
        for each in (each for each in landed if each.unknown):
            names = {"space": frame.plain(each.side.space.name), "words": frame.plain(", ".join(each.unknown))}
            st.warning((UNKNOWN_ALL if each.where is None else UNKNOWN_SOME).format(**names))
        known = [each for each in landed if each.where is not None]
        if known:
            st.markdown("**Typed sentence**")
        show_neighbours(known, opened)
        for each in known:
            st.caption(f"Position: {each.where.how}." if each.where else "")
        row = read(first, matches)
        if row is not None:
            show_neighbours_of(row, sides, opened)
        if row is not None and opened is not None:
            show_panels(sides, opened, first.shown.texts[row], line)
        show_classes(compared or sides, look, measured)


def read(side: Side, matches: list[int] | None) -> int | None:
    """The found or marked sentences, of which one can be chosen, and the selected one in full; return its row."""
    shown, marked, row = side.shown, marking.state_of_marks().rows, marking.read_row(len(side.shown))
    rows, name = (marked, "Marked") if matches is None else (matches, "Found")
    if matches is not None or len(marked) > 1:
        more = f", the first {LISTED}" if name == "Found" and len(rows) >= LISTED else ""
        st.markdown(f"**{name} sentences**: {len(rows):,} of {len(shown):,}{more}")
        about = {} if set(shown.labels) == {UNLABELLED} else {"class": shown.labels}
        list_sentences(rows[:LISTED], shown.texts, about, **LIST)
    if 1 < len(marked) < len(shown):
        st.caption(frame.plain(str(set_apart(words_of(side), marked, shown.labels))))
    if row is not None:
        label = shown.labels[row]
        st.markdown("**Selected sentence**")
        st.text(shown.texts[row] + (f"\n— {label}" if label != UNLABELLED else ""))
    return row


def show_panels(sides: list[Side], opened: cached.Opened, text: str, line: str) -> None:
    """The buttons that open the panels of the selected sentence; that of paraphrases needs a corpus that has some."""
    from labkit.pthought.view import groups_with

    groups = None
    with suppress(ValueError):  # the corpus marks no paraphrases, has no test split, or none of this sentence
        groups = groups_with(papers_pthought.groups_of_test(opened), text)
    with st.container(horizontal=True):
        if st.button("Star", key="star", icon=":material/hub:", type="tertiary", help=STAR):
            frame.dialog("Neighbours before and after SBERT-LP", partial(show_star, sides, opened, text, line))
        if groups and st.button("Paraphrases", key="group", icon=":material/group_work:", type="tertiary"):
            frame.dialog("Its paraphrases and other groups", partial(show_group, sides, opened, text, groups))


def show_star(sides: list[Side], opened: cached.Opened, text: str, line: str) -> None:
    """The neighbours of a sentence among those shown, before and after SBERT-LP over the vectors of one side."""
    from labkit.sbert_lp.view import around

    most, names = papers_sbert_lp.MOST, [side.name for side in sides]
    st.text(text)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = names[0] if len(sides) == 1 else st.radio("Side", names, horizontal=True, key="star-of")
        k, p = papers_sbert_lp.sliders()
    side = sides[names.index(name)]
    texts = list(dict.fromkeys([text, *side.shown.texts[:: -(-len(side.shown) // most)]]))
    embed = partial(papers_sbert_lp.embedded, side.space, texts, k, p)
    method, _ = once("Embedding the sentences together …", ("star", side.space.key, side.key, text, k, p), embed)
    stars = around(method.space, text)
    st.markdown(f"**{stars.shared} of its {len(stars.before)} neighbours stay the same.**")
    for column, (when, where) in zip(st.columns(2), (("before", "old"), ("after", "new")), strict=True):
        with column:
            st.markdown(f"**{when.capitalize()}**, in the {where} space")
            alt = (
                f"A star: the sentence and its nearest neighbours in the {where} space, with their weights and cosines."
            )
            frame.picture(figures.star(stars, when, height=340), key=f"star_{when}", alt=alt, rows=stars.rows)
    st.caption(STARS)
    alt = "The neighbours of the sentence: rank, weight and cosine before and after."
    formats = {f"{what} {when}": "%.3f" for what in ("weight", "cosine") for when in ("before", "after")}
    frame.table(stars.rows(), alt, formats=formats, widths={"sentence": "large"}, placeholder="–")
    choosing.show_code(STAR_CODE, side.space, opened, shown=line, text=text, k=k, p=p, most=most)


def show_group(sides: list[Side], opened: cached.Opened, text: str, groups: Labelled) -> None:
    """The paraphrases of a sentence among other groups, in the plane of each space, and all cosines with it."""
    st.text(text)
    cosines = {}
    for column, side in zip(st.columns(len(sides)), sides, strict=True):
        rows = unit(side.space.method.encode(list(groups.texts)))
        plane = project(rows, "pca")
        picture = figures.clusters(plane, groups, ring=0, named=True, legend=False, height=390)
        cosines[f"cosine, {side.name}"] = cached.batch_similarities(side.space, groups.texts)[0].tolist()
        with column:
            st.markdown(
                f"**{frame.plain(side.space.name)}**: the plane shows {100 * plane.quality.shown:.0f} % of the variance"
            )
            alt = f"Groups of paraphrases in a plane of {side.space.name}. Group A contains the selected sentence."
            frame.picture(picture, key=f"groups_{side.name}", alt=alt, rows=partial(picture_rows, plane, groups))
            choosing.show_code(GROUP_CODE, side.space, opened, of=side.title, text=text)
    st.caption(GROUPS)
    rows = [
        {"group": group, "sentence": sentence, **dict(zip(cosines, values, strict=True))}
        for group, sentence, *values in zip(groups.labels, groups.texts, *cosines.values(), strict=True)
    ]
    alt = "Every sentence of the groups, with its cosine to the selected sentence."
    frame.table(rows, alt, formats=dict.fromkeys(cosines, "%.3f"), widths={"sentence": "large"})


def show_neighbours(asked: Sequence[Asked], opened: cached.Opened | None) -> None:
    """The nearest neighbours of a sentence in each embedding space, in full and side by side; what differs is marked.

    With the corpus, a button explains each of them; the vectors of an epoch have no method to explain them.
    """
    if not asked:
        return
    nearest, kind = [each.near() for each in asked], "typed" if asked[0].row is None else "read"
    seen = [{each.text for each in near} for near in nearest]
    with st.container(key=f"near-{kind}"):
        if len(asked) == 2:
            new = [each for each in nearest[1] if each.text not in seen[0]]
            own = sum(each.label == asked[1].label for each in new)
            st.markdown(CHANGED.format(new=len(new), all=len(nearest[1])) + (SAME.format(own=own) if own else ""))
        for number, (column, each) in enumerate(zip(st.columns(len(asked)), asked, strict=True)):
            side, bare = each.side, set(each.side.shown.labels) == {UNLABELLED}
            spaces = [side.space, *(other.side.space for other in asked if other is not each)]
            with column, st.container(gap=None):
                st.markdown(f"**{frame.plain(side.space.name)}**")
                for rank, near in enumerate(nearest[number], 1):
                    own = near.label == each.label
                    of = "" if bare else f"{'✓ ' * own}{frame.plain(near.label)} · "
                    differs = "" if near.text in seen[len(asked) - 1 - number] else MARK[number]
                    st.markdown(
                        f"{rank}. **{written(near.similarity, '.3f')}**{differs} · {of}{frame.plain(near.text)}"
                    )
                    if opened is not None:
                        right = None if own or each.row is None else each.nearest_of_class
                        key, says = f"{side.name}-{kind}-{rank}", {"label": f"Why {rank}?", "icon": None}
                        why.button(key, spaces, opened, each.text, near.text, right=right, **says)


def show_neighbours_of(row: int, sides: Sequence[Side], opened: cached.Opened | None) -> None:
    """The nearest neighbours of a sentence of the first side in the space of each side that shows it."""
    asked = [
        Asked(side.shown.texts[at], side.vectors()[0][[at]], side, at)
        for side in sides
        for at in rows_with_same_text([row], sides[0].shown.texts, side.shown.texts)
    ]
    show_neighbours(asked, opened)


STAR_CODE = """\
from labkit.figures import star
from labkit.sbert_lp.method import SbertLp, SbertLpSettings
from labkit.sbert_lp.view import around
{shown}
sentence, step = {text!r}, -(-len(shown.texts) // {most})
anew = SbertLp.over(method, [sentence, *shown.texts[::step]], SbertLpSettings(neighbours={k}, dimension={p}))
star(around(anew.space, sentence), "after").show()
"""
GROUP_CODE = """\
from labkit.arrays import unit
from labkit.figures import clusters
from labkit.projection import project
from labkit.pthought.method import groups_of
from labkit.pthought.view import groups_with
groups = groups_with(groups_of(corpus.part("test")), {text!r})
clusters(project(unit(method.encode(list(groups.texts))), "pca"), groups, ring=0, named=True).show()
"""

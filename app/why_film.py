"""Panel of the Why page: FILM's rows that matter to a pair, what they separate, and the words behind their numbers."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import shorten
from typing import Any

import cached
import choosing
import frame
import streamlit as st
import why

from labkit import figures
from labkit.figure_names import written
from labkit.figures.film import DIGITS
from labkit.figures.pairs import percent
from labkit.film.reading import RowOfPair, word_rows
from labkit.shipped import DEMONSTRATIONS

CARDS, WORDS = 4, 5  # rows that are shown, and words at each of their ends
ROWS_WITHOUT_CLASSES = 30
LETTERS = 160  # of a sentence at an end
RETURNS = 0.7  # mean cosine with the refits' rows: half of the variance is shared
VARIMAX = "Varimax rotates the rows so that each depends on few words. All similarities remain unchanged."
SUM = (
    "FILM learns a matrix L. Each row of L gives a sentence a number, and the product of two sentences' numbers is the "
    "row's part of their similarity. {similarity} = {rows} from all rows + {shared} from words in common. The "
    "cards show the {count} largest of {of} rows, {share} of all parts."
)
UNKNOWN = "FILM does not know these words, so they have no effect: {}."
NO_RETURN = (
    "**No safe reading:** when FILM is fitted to other parts of the data, this row does not return (cosine "
    "{stability:.2f}). The words explain only this fit."
)
NONE_APART = "**No safe reading:** on this row, no class stands apart from the others. "
END = "**{} end:** {}  \n“{}”"
IT_RETURNS = "The row returns when FILM is fitted to other parts of the data (cosine {stability:.2f})."


def film_of(chosen: choosing.Space, opened: cached.Opened) -> choosing.Space:
    """The chosen vectors if they are FILM's, the bundled run on this corpus, or FILM fitted to it.

    Classes need one row fewer than there are classes; without classes, there are as many rows as in the bundled run.
    """
    if chosen.method.name == "film":
        return chosen
    names = choosing.lab_runs("film", opened.corpus.name)
    if names:
        run = DEMONSTRATIONS[names[0]]
        return choosing.run_in(run.folder, run.name)
    classes = len(cached.classes_of_corpus(opened)[0]) if opened.corpus.CLASSES else ROWS_WITHOUT_CLASSES + 1
    return choosing.fitted(opened, "film", dimension=min(max(1, classes - 1), ROWS_WITHOUT_CLASSES))


def show(chosen: choosing.Space, opened: cached.Opened, pair: tuple[str, str], place: Any) -> None:
    """The pair as a sum over rows, and the rows with the largest parts: what they separate, and why by words.

    `place` is that of the setting and the verdict.
    """
    (a, b), film = pair, film_of(chosen, opened)
    rotated = place.toggle("Rotated rows", True, key="varimax", help=VARIMAX, **frame.KEEP)
    explained, rows = cached.film_pair(film, rotated, a, b)
    unknown = frame.plain(UNKNOWN.format(", ".join(explained.unknown))) if explained.unknown else ""
    if not explained.word_pairs:
        st.info(f"{why.NOT_KNOWN} {unknown}")
        return
    parts, largest = [abs(row.part) for row in rows], rows[0]
    similarity, shared = round(explained.similarity, 3), round(explained.shared, 3)
    name = f"FILM, run {frame.plain(film.name)}" if film.folder else "FILM"
    does = f"Row {largest.number + 1} {'adds to it' if largest.part > 0 else 'lowers it'} the most."
    place.markdown(f"**{name}: the similarity is {written(similarity, '.3f')}.** {does}")
    numbers = {"similarity": written(similarity, ".3f"), "shared": written(shared, ".3f")}
    numbers |= {"rows": written(similarity - shared), "share": percent(sum(parts[:CARDS]) / (sum(parts) or 1.0))}
    st.caption(f"{SUM.format(**numbers, count=min(CARDS, len(rows)), of=len(rows))} {unknown}")
    stable, read = cached.film_stability(film, rotated, opened), cached.film_read(film, rotated, opened)
    ends = word_rows(cached.film_matrix(film, rotated), film.method.words, top=WORDS, min_count=2)
    columns = [*st.columns(2), *st.columns(CARDS - 2)]
    for column, row in zip(columns, rows, strict=False):
        with column, st.container(border=True):
            (apart, (high, low)), own = read[row.number], ends[row.number]
            turned, both = bool(apart) and apart[0][1] < 0, ((own.positive, high), (own.negative, low))
            st.markdown(f"**Row {row.number + 1}.** {reading(stable[row.number], apart)}")
            for end, (heavy, texts) in zip(("High", "Low"), both[::-1] if turned else both, strict=True):
                listed = " · ".join(word for word, _ in heavy) or "none"
                text = shorten(texts[0], LETTERS, placeholder=" …") if texts else "none"
                st.caption(END.format(end, frame.plain(listed), frame.plain(text)))
            show_pair(row.turned() if turned else row)
    alt = f"Steps that add up to the similarity {explained.similarity:.3f}: the part of each row of L."
    with st.expander("All rows, step by step"):
        frame.picture(figures.explained_rows(explained), key="explained_rows", alt=alt, rows=explained.table)
    lines = (TURNED if rotated else "") + PAIR_CODE
    choosing.show_code(lines, film, opened if "corpus" in film.code else None, "by rows", a=a, b=b)


def show_pair(row: RowOfPair) -> None:
    """The part of a row in the similarity of the pair, and the words of a and b that make up their two numbers."""
    a, b = (round(number, DIGITS) for number in row.numbers)
    same = f"the {'high' if a > 0 else 'low'} end: it adds to their similarity"
    side = same if row.part > 0 else "opposite ends: it lowers their similarity"
    numbers = f"**{written(a * b)}** = {written(a)} (a) × {written(b)} (b)"
    st.markdown(f"**In this pair**, row {row.number + 1} places a and b at {side}. {numbers}")
    alt = f"The words of a and b that make up their numbers {written(a)} and {written(b)}: bars."
    frame.small_picture(frame.enlarged(figures.row_of_pair(row, height=230)), f"row-{row.number}", alt)


def reading(stability: float, classes: Sequence[tuple[str, float]]) -> str:
    """What a row separates, or why that cannot be read; the first class is its high end."""
    if stability < RETURNS:
        return NO_RETURN.format(stability=stability)
    high = [name for name, apart in classes if apart * classes[0][1] > 0]
    both = {"High": high, "low": [name for name, _ in classes if name not in high]}
    ends = [f"{end} for **{frame.plain(choosing.first_of(names))}**" for end, names in both.items() if names]
    return (f"{', '.join(ends)}. " if ends else NONE_APART) + IT_RETURNS.format(stability=stability)


TURNED = """\
from labkit.film.reading import readable
method.L = readable(method.L.astype(float), method.words)
"""
PAIR_CODE = """\
from labkit.figures import explained_rows
explained_rows(method.explain({a!r}, {b!r})).show()
"""

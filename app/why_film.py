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
from labkit.figures.film import DIGITS
from labkit.figures.pairs import percent
from labkit.film.reading import RowOfPair, word_rows
from labkit.shipped import DEMONSTRATIONS

FIRST, CARDS, WORDS = 2, 4, 5  # rows that are shown at first and in all, and words at each of their ends
ROWS_WITHOUT_CLASSES = 30
LETTERS, MORE = 160, "The next two rows"  # of a sentence at an end; the other cards
RETURNS = 0.7  # mean cosine with the refits' rows: half of the variance is shared
VARIMAX = "Rotates the rows so that each depends on few words. All similarities remain unchanged."
ROW = "**{name}: the similarity is {similarity}.** Row {number} {pulls} the most."
SUM = (
    "FILM learns a matrix L. Each row of L gives a sentence a number, and the product of two sentences' numbers is the "
    "row's part of their similarity. {similarity} = {rows} from all rows + {shared} from words in common. The "
    "cards show the {count} largest of {of} rows, {share} of all parts."
)
UNKNOWN = "FILM does not know these words, so they have no effect: {}."
NO_RETURN = (
    "**No safe reading:** the row does not recur when FILM is refitted ({stability:.2f}). The words explain only "
    "this fit."
)
NONE_APART = "**No safe reading:** on this row, no class stands apart from the others. "
END = "**{} end:** {}  \n“{}”"
IT_RETURNS = "It recurs on refitting ({stability:.2f})."


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


def show(chosen: choosing.Space, opened: cached.Opened, a: str, b: str, said: Any, choice: Any) -> None:
    """The pair as a sum over rows, and the rows with the largest parts: what they separate, and why by words.

    `said` is the place of the verdict, and `choice` that of a setting.
    """
    film = film_of(chosen, opened)
    rotated = choice.toggle("Varimax", True, key="varimax", help=VARIMAX, **frame.KEEP)
    explained, rows = cached.film_pair(film, rotated, a, b)
    unknown = frame.plain(UNKNOWN.format(", ".join(explained.unknown))) if explained.unknown else ""
    name = f"FILM, run {frame.plain(film.name)}" if film.folder else "FILM"
    if not explained.word_pairs:
        st.info(f"{why.NOT_KNOWN} {unknown}")
        return
    parts, largest = [abs(row.part) for row in rows], rows[0]
    similarity, shared = round(explained.similarity, 3), round(explained.shared, 3)
    words: dict[str, Any] = {"similarity": f"{similarity:.3f}", "rows": f"{similarity - shared:+.3f}"}
    words |= {"shared": f"{shared:.3f}", "number": largest.number + 1, "name": name}
    words["pulls"] = "pulls the pair together" if largest.part > 0 else "pushes the pair apart"
    said.markdown(ROW.format(**words))
    words |= {"count": min(FIRST, len(rows)), "share": percent(sum(parts[:FIRST]) / (sum(parts) or 1.0))}
    st.caption(f"{SUM.format(**words, of=len(rows))} {unknown}")
    stable, read = cached.film_stability(film, rotated, opened), cached.film_read(film, rotated, opened)
    ends = word_rows(cached.film_matrix(film, rotated), film.method.words, top=WORDS, min_count=2)

    def show_card(row: RowOfPair) -> None:
        (apart, (high, low)), own = read[row.number], ends[row.number]
        turned, both = bool(apart) and apart[0][1] < 0, ((own.positive, high), (own.negative, low))
        st.markdown(f"**Row {row.number + 1}.** {reading(stable[row.number], apart)}")
        for name, (heavy, texts) in zip(("High", "Low"), both[::-1] if turned else both, strict=True):
            listed = " · ".join(word for word, _ in heavy) or "none"
            text = shorten(texts[0], LETTERS, placeholder=" …") if texts else "none"
            st.caption(END.format(name, frame.plain(listed), frame.plain(text)))
        show_pair(row.turned() if turned else row)

    columns = st.columns(FIRST)
    if len(rows) > FIRST:
        columns += st.expander(MORE).columns(CARDS - FIRST)
    for column, row in zip(columns, rows, strict=False):
        with column, st.container(border=True):
            show_card(row)
    alt = f"Steps that add up to the similarity {explained.similarity:.3f}: the part of each row of L."
    with st.expander("All rows, step by step"):
        frame.picture(figures.explained_rows(explained), key="explained_rows", alt=alt, rows=explained.table)
    lines = (TURNED if rotated else "") + PAIR_CODE
    choosing.show_code(lines, film, opened if "corpus" in film.code else None, "by rows", a=a, b=b)


def show_pair(row: RowOfPair) -> None:
    """The part of a row in the similarity of the pair, and the words of a and b that make up their two numbers."""
    a, b = (round(number, DIGITS) for number in row.numbers)
    pulls = "pulls together" if row.part > 0 else "pushes apart"
    st.markdown(f"**In this pair**, row {row.number + 1} {pulls}: **{a * b:+.3f}** = {a:+.3f} (a) × {b:+.3f} (b)")
    alt = f"Bars: the words of a and b that make up their numbers {a:+.3f} and {b:+.3f}."
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

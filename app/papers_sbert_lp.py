"""Panel of "Papers": SBERT-LP. Which pairs changed order, and many k and p.

`show_star` is what Space shows of a sentence that was clicked.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any

import cached
import choosing
import frame
import streamlit as st
import why
from keeping import once

from labkit import figures
from labkit.corpora import Corpus, Pairs
from labkit.progress import collected, silent

QUESTION, CORPUS, ONLY = "Does preserving neighbours help?", "relatedness", Corpus
ORDER, SWEEP = VIEWS = ["Changed order", "k and p"]
MOST = 1200  # sentences that are embedded together
ABOUT = """\
SBERT-LP takes the vectors of another method and writes every sentence as a **mixture of its k nearest neighbours**. It
then finds vectors of p dimensions in which the **same mixtures hold** as well as possible, and compares them by cosine.
It uses no labels. It is *transductive*: sentences that are to be compared are embedded together.

**Does it help?** Often not. *Changed order* counts the pairs that it mends and those that it spoils. *k and p* compares
it with four simpler methods on this base and corpus. The paper chooses k and p by a grid search (section 4.6.1) without
saying on which sentences: if they are chosen on test, the best of many settings looks better than it is. Its table 4
shows one mended couple and no spoilt ones.
"""
FORMULAS = (
    r"d_i \approx \sum_{j\in N_i} w_{ij} d_j, \qquad \sum_j w_{ij} = 1",
    r"\text{error}_i = \Big\lVert d_i - \sum_j w_{ij} d_j \Big\rVert^2 \big/ \lVert d_i \rVert^2",
    r"\min_Y \sum_i \Big\lVert y_i - \sum_j w_{ij} y_j \Big\rVert^2,\quad Y^\top Y/m = I,\ \sum_i y_i = 0",
    r"M = (I-W)^\top (I-W), \qquad M v = \lambda v,\ \text{the } p \text{ smallest after the constant}",
)
SIDES = (
    "The number next to a mark is its row in the table. The farther a mark is from the centre, the less similar the "
    "sentence. A thick line is a large weight, a dotted line a negative one. A filled mark is a neighbour before and "
    "after, in the same direction in both stars."
)
FORM = "This run is SBERT-LP itself, so its base is embedded again with k and p from the sliders."
NO_ORDER = "This view needs pairs with grades or labels. Choose the corpus relatedness or questions."


def embedded(space: choosing.Space, sentences: Sequence[str], of: tuple[Any, ...], k: int, p: int) -> Any:
    """SBERT-LP over a base, and what it had to say; `of` stands for the sentences."""
    from labkit.sbert_lp.method import SbertLp, SbertLpSettings

    def embed() -> tuple[Any, tuple[str, ...]]:
        with collected() as notes:
            method = SbertLp.over(space.method, list(sentences), SbertLpSettings(neighbours=k, dimension=p))
        return method, tuple(notes)

    return once("Embedding the sentences together …", ("embedded", space.key, *of, k, p), embed)


# --- one sentence ------------------------------------------------------------------------------------------------


def show_star(method: Any, text: str) -> None:
    """Two stars, and the neighbours of both as a table."""
    from labkit.sbert_lp.view import around

    stars = around(method.space, text)
    sides = (("before", "in the base", stars.before), ("after", "in the new space", stars.after))
    for column, (side, where, spokes) in zip(st.columns(2), sides, strict=True):
        with column:
            st.markdown(f"**{side.capitalize()}**, {where}")
            alt = f"A star: the sentence and its {len(spokes)} nearest {where}, with their weights and cosines."
            frame.picture(figures.star(stars, side, height=340), key=f"star_{side}", alt=alt, rows=stars.rows)
    st.caption(SIDES)
    with st.container(horizontal=True):
        st.metric("neighbours that stayed", f"{stars.shared} of {len(stars.before)}")
        st.metric("error before", f"{stars.error_before:.3g}")
        st.metric("same weights, after", f"{stars.kept:.3g}")
        st.metric("weights computed again, after", f"{stars.error_after:.3g}")
    alt = "The neighbours of the sentence: rank, weight and cosine before and after."
    formats = {f"{what} {side}": "%.3f" for what in ("weight", "cosine") for side in ("before", "after")}
    frame.table(stars.rows(), alt, formats=formats, widths={"sentence": "large"}, placeholder="–")


# --- does it help? -----------------------------------------------------------------------------------------------


def show_sweep(chosen: choosing.Space, opened: cached.Opened, most: int) -> None:
    """Curves on dev, what was chosen there on test."""
    from labkit.sbert_lp.sweeps import tried

    base = chosen.method.base if chosen.method.name == "sbert-lp" else chosen.method

    def measure() -> Any:
        with collected():  # small parts at large p: their points are in the picture
            return tried(base, opened.corpus, most=most)

    sweep = once("Trying many k and p …", ("sweep", chosen.key, opened.key, most), measure)
    st.markdown(f"**{sweep.verdict}**")
    left, right = st.columns([1.5, 1])
    with left:
        st.markdown(f"**{sweep.measure}** on dev, {sweep.sentences[0]} sentences")
        alt = f"{sweep.measure} on dev over p: a line for each k, with raw, PCA, whitening and all-but-the-top beside."
        frame.picture(figures.tried_curves(sweep, height=400), key="tried_curves", alt=alt, rows=sweep.rows)
    with right:
        st.markdown(f"**Chosen on dev, measured on test**, {sweep.sentences[1]} sentences")
        pairs = zip(sweep.chosen, sweep.test, strict=True)
        alt = "Bars: " + ", ".join(f"{point.transform} {value:.3f}" for point, value in pairs)
        frame.picture(figures.chosen_bars(sweep, height=400), key="chosen_bars", alt=alt, rows=sweep.rows)
    name = "method" if base is chosen.method else "method.base"
    choosing.show_code(TRIED_CODE, chosen, opened, base=name, most=most)


def show_order(
    spaces: list[choosing.Space], opened: cached.Opened, sample: Any, key: tuple[Any, ...], code: partial[None]
) -> None:
    """Table 4, both ways: mended and spoilt."""
    from labkit.baselines.base import base_rows
    from labkit.sbert_lp.view import changed

    if not isinstance(sample.rows, Pairs):
        st.info(NO_ORDER)
        return
    least = 0.0
    if sample.rows.graded:
        least = frame.choices().slider(
            "Minimum difference of grades", 0.0, 4.0, 1.0, 0.5, key="least", width=choosing.WIDTH, **frame.KEEP
        )
    method = spaces[1].method

    def compare() -> Any:
        before = base_rows(method.base, sample.sentences, 256, silent)
        return changed(sample, before, method.fit_encode(sample.sentences), least=least)

    changes = once("Comparing the pairs …", ("order", *key, least), compare)
    counts = changes.found
    st.markdown(
        f"Of {counts.couples:,} couples of pairs with different grades, the embedding **mends {counts.mended:,}** "
        f"({counts.mended / counts.couples:.1%}) and **spoils {counts.spoilt:,}** "
        f"({counts.spoilt / counts.couples:.1%}). Spearman of cosine and grade: {changes.spearman[0]:.3f} before, "
        f"{changes.spearman[1]:.3f} after."
    )
    numbers = {name: getattr(counts, name) for name in ("kept", "mended", "spoilt", "wrong")}
    alt = "A bar of couples: " + ", ".join(f"{name} {number}" for name, number in numbers.items())
    frame.picture(figures.order_counts(changes, height=170), key="order_counts", alt=alt, rows=lambda: [numbers])
    for column, kind in zip(st.columns(2), dict.fromkeys(kind for kind, _ in changes.examples), strict=False):
        with column:
            alt = f"Lines: the cosines of two pairs before and after, for the clearest that were {kind}."
            picture = figures.order_slopes(changes, kind, height=270)
            frame.picture(picture, key=f"order_{kind}", alt=alt, rows=changes.rows)
    if changes.examples:
        alt = "The examples: two pairs each, their sentences, grades, and cosines before and after."
        formats = {"before": "%.3f", "after": "%.3f", "grade": "%.2f"}
        widths = dict.fromkeys(("sentence 0", "sentence 1"), "medium")
        frame.table(changes.rows(), alt, formats=formats, widths=widths)
        pairs = [(row["sentence 0"], row["sentence 1"]) for row in changes.rows()]
        left, right = st.columns([3, 1], vertical_alignment="bottom")
        place = left.selectbox("A pair", range(len(pairs)), format_func=lambda n: " ~ ".join(pairs[n]), key="couple")
        with right:
            why.button("pair", spaces, opened, *pairs[place])
    vectors = "anew.base.encode(sample.sentences), anew.encode(sample.sentences)"
    call = f"order_counts(changed(sample, {vectors}, least={least})).show()"
    code(call=call)


# --- the panel ---------------------------------------------------------------------------------------------------


def sliders() -> tuple[int, int]:
    """k and p."""
    bar: dict[str, Any] = {"width": choosing.WIDTH, **frame.KEEP}
    k = st.slider("k, number of neighbours", 2, 60, 10, key="k", **bar)
    return k, st.slider("p, number of dimensions", 2, 256, 64, key="p", **bar)


def both_spaces(chosen: choosing.Space, method: Any, anew: str, key: tuple[Any, ...]) -> list[choosing.Space]:
    """The base of an embedding, and the embedding."""
    before = chosen
    if chosen.method.name == "sbert-lp":
        code = f"{chosen.code}\nmethod = method.base"
        before = choosing.Space(f"{chosen.key} base", f"{chosen.name}, its base", code, lambda: method.base)
    code = f"{chosen.code}\n{anew}method = anew"
    name = " ".join(map(str, ("anew", chosen.key, *key)))
    return [before, choosing.Space(name, "SBERT-LP over it", code, lambda: method)]


def show(opened: cached.Opened) -> None:
    """A base, k and p, and one of the views."""
    from labkit.sbert_lp.sweeps import compared

    bases = [*choosing.VECTORS, *(["sbert"] if find_spec("sentence_transformers") else [])]
    chosen = choosing.space(opened, bases, label="Base", key="base")
    with frame.choices():
        k, p = sliders()
        most = st.select_slider(
            "Maximum number of test sentences",
            [100, 200, 400, 800, MOST],
            400,
            key="most",
            width=choosing.WIDTH,
            **frame.KEEP,
        )
    if chosen.method.name == "sbert-lp":
        st.caption(FORM)
    if frame.view(VIEWS) == SWEEP:
        show_sweep(chosen, opened, most)
        return
    of = (opened.key, most)
    sample = once("Choosing sentences …", ("sample", *of), lambda: compared(opened.corpus, most=most))
    method, notes = embedded(chosen, sample.sentences, of, k, p)
    for note in notes:
        st.caption(f"⚠ {frame.plain(note)}")
    key = (chosen.key, *of, k, p)
    spaces = both_spaces(chosen, method, ANEW.format(most=most, k=k, p=p), key[1:])
    code = partial(choosing.show_code, CODE, chosen, opened, k=k, p=p, most=most)
    show_order(spaces, opened, sample, key, code)


ANEW = """\
from labkit.sbert_lp.method import SbertLp, SbertLpSettings
from labkit.sbert_lp.sweeps import compared
sample = compared(corpus, most={most})
anew = SbertLp.over(method, sample.sentences, SbertLpSettings(neighbours={k}, dimension={p}))
"""
CODE = f"""\
from labkit.figures import order_counts
from labkit.sbert_lp.view import changed
{ANEW}
{{call}}
"""
TRIED_CODE = """\
from labkit.figures import tried_curves
from labkit.sbert_lp.sweeps import tried
sweep = tried({base}, corpus, most={most})
print(sweep.verdict)
tried_curves(sweep).show()
"""

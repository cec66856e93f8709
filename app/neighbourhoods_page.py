"""Page "Neighbourhoods": SBERT-LP, one sentence, all sentences, many k and p, and which pairs changed order."""

from __future__ import annotations

from functools import partial
from importlib.util import find_spec
from typing import Any

import cached
import choosing
import frame
import streamlit as st
import why

from labkit import figures
from labkit.corpora import Pairs

ONE, ALL, SWEEP, ORDER = VIEWS = ["One sentence", "All sentences", "k and p", "Changed order"]
Embedding = tuple[choosing.Space, cached.Opened, int, int, int]  # base, corpus, sentences, k, p
ABOUT = """\
SBERT-LP takes the vectors of another method and asks of every sentence: of which **mixture of its k nearest** is it
made? It then looks for new vectors, of p numbers, in which the **same mixtures hold** as well as can be, and compares
these by cosine. It learns from no label, and it is *transductive*: sentences to be compared are embedded together.

**Does it help?** Often not. The view *k and p* says it for this base and corpus, with four simpler ways beside; the
view *Changed order* counts the pairs that it mends and those that it spoils.
"""
FORMULAS = (
    r"d_i \approx \sum_{j\in N_i} w_{ij} d_j, \qquad \sum_j w_{ij} = 1",
    r"\text{error}_i = \Big\lVert d_i - \sum_j w_{ij} d_j \Big\rVert^2 \big/ \lVert d_i \rVert^2",
    r"\min_Y \sum_i \Big\lVert y_i - \sum_j w_{ij} y_j \Big\rVert^2,\quad Y^\top Y/m = I,\ \sum_i y_i = 0",
    r"M = (I-W)^\top (I-W), \qquad M v = \lambda v,\ \text{the } p \text{ smallest after the constant}",
)
SIDES = (
    "The number at a mark is that of the sentence in the table. What lies far out is far away. A thick line is a large "
    "weight, a dotted one a negative weight. A full mark is near on both sides, in the same direction in both stars."
)
FORM = "These vectors are a run of SBERT-LP: its base is taken, and embedded anew with the k and p of the sliders."


def settings_of_embedding() -> tuple[int, int, int]:
    """k, p, and how many sentences at most."""
    bar, keep = st.sidebar, frame.KEEP
    bar.header("SBERT-LP")
    k = bar.slider("k, neighbours of a sentence", 2, 60, 10, key="k", **keep)
    p = bar.slider("p, dimensions that are left", 2, 256, 64, key="p", **keep)
    most = bar.select_slider("Sentences of test, at most", [100, 200, 400, 800, 1200], 400, key="most", **keep)
    return k, p, most


def show_one(at: Embedding, method: Any, code: partial[None]) -> None:
    """Two stars, and the neighbours of both as a table."""
    from labkit.sbert_lp.view import around

    space = method.space
    row = choosing.sentence_by_row("Sentence", space.sentences, "row")
    stars = around(space, space.sentences[row])
    sides = (("before", "in the base", stars.before), ("after", "in the new space", stars.after))
    for column, (side, where, spokes) in zip(st.columns(2), sides, strict=True):
        with column:
            st.markdown(f"**{side.capitalize()}**, {where}")
            alt = f"A star: sentence {row} and its {len(spokes)} nearest {where}, with their weights and cosines."
            frame.picture(figures.star(stars, side, height=340), key=f"star_{side}", alt=alt, rows=stars.rows)
    st.caption(SIDES)
    with st.container(horizontal=True):
        st.metric("neighbours that stayed", f"{stars.shared} of {len(stars.before)}")
        st.metric("error before", f"{stars.error_before:.3g}")
        st.metric("same weights, after", f"{stars.kept:.3g}")
        st.metric("weights solved anew, after", f"{stars.error_after:.3g}")
    frame.table(
        stars.rows(),
        f"The neighbours of sentence {row}: rank, weight and cosine before and after.",
        formats={f"{what} {side}": "%.3f" for what in ("weight", "cosine") for side in ("before", "after")},
        widths={"sentence": "large"},
        placeholder="–",
    )
    found = {spoke.text: spoke for spoke in (*stars.after, *stars.before)}
    show_why(at, method, space.sentences[row], list(found))
    call = f'star(around(anew.space, anew.space.sentences[{row}]), "after").show()'
    code(figure="star", name="around", call=call)


def show_why(at: Embedding, method: Any, text: str, near: list[str]) -> None:
    """Why one of its neighbours, of the nearest first, is near: before and after."""
    _, opened, most, *_ = at
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    other = left.selectbox("Why is this neighbour near, before and after?", near, key="neighbour")
    classes = dict(zip(*cached.sentences_embedded(opened, most).rows.classified(), strict=True))
    same = (each for each in near if classes.get(each) == classes.get(text))
    wrong = text in classes and classes.get(other) != classes[text]
    nearest = partial(next, same, None) if wrong else None
    with right:
        why.button("near", both_spaces(at, method), opened, text, other, right=nearest)


def both_spaces(at: Embedding, method: Any) -> list[choosing.Space]:
    """The base of an embedding, and the embedding."""
    chosen, opened, most, k, p = at
    before = chosen
    if chosen.method.name == "sbert-lp":
        code = f"{chosen.code}\nmethod = method.base"
        before = choosing.Space(f"{chosen.key} base", f"{chosen.name}, its base", code, lambda: method.base)
    code = "\n".join([chosen.code, *ANEW.format(most=most, k=k, p=p).splitlines(), "method = anew"])
    key = " ".join(map(str, ("anew", chosen.key, opened.key, most, k, p)))
    return [before, choosing.Space(key, "SBERT-LP over it", code, lambda: method)]


def show_every(at: Embedding, code: partial[None]) -> None:
    """What is left over of every sentence, the spectrum, and what was done about copies and components."""
    structure = cached.structure_of_space(*at)
    count = len(structure.sentences)
    chosen = frame.number_in_address("row", count, 0)
    left, right = st.columns([1.25, 1])
    with left:
        st.markdown("**What the weights leave over**, as a share of each sentence's squared length")
        alt = f"{count} sentences: reconstruction error in the base against that of the same weights in the new space."
        picture = figures.rebuilt(structure, chosen=chosen, height=360)
        event = frame.picture(
            picture, key="rebuilt", alt=alt, rows=structure.rows, on_select="rerun", selection_mode="points"
        )
    with right:
        st.markdown("**What each direction costs**")
        values = structure.eigenvalues.tolist()
        frame.picture(
            figures.spectrum(structure, height=360),
            key="spectrum",
            alt=f"{len(values)} eigenvalues, rising; {structure.zeros} of them are 0.",
            rows=lambda: [{"direction": place, "eigenvalue": value} for place, value in enumerate(values, 1)],
        )
    picked = [point.get("customdata") for point in event.selection.points]
    numbers = [int(each[0] if isinstance(each, list) else each) for each in picked if each is not None]
    for number in numbers[:5] or [chosen]:
        errors = f"{structure.errors[number]:.3g} → {structure.kept[number]:.3g}"
        st.text(f"{number} · {structure.sentences[number]}\n{errors}")
    st.caption("Click a mark to read its sentence. Below the dotted line the same weights hold better than before.")
    st.markdown("**What was done about copies and components**")
    for line in structure.told():
        st.markdown(f"- {line}")
    if structure.copies:
        with st.expander(f"Groups of sentences that share a vector: {len(structure.copies)}"):
            for group in structure.copies[:20]:
                st.text("\n".join(group[:8]))
    code(figure="rebuilt", name="structure", call=f"rebuilt(structure(anew.space), chosen={chosen}).show()")


# --- does it help? -----------------------------------------------------------------------------------------------


def show_sweep(chosen: choosing.Space, opened: cached.Opened, most: int) -> None:
    """Curves on dev, what was chosen there on test."""
    sweep = cached.tried_neighbours(chosen, opened, most)
    left, right = st.columns([1.5, 1])
    with left:
        st.markdown(f"**{sweep.measure}** on dev, {sweep.sentences[0]} sentences")
        alt = f"{sweep.measure} on dev over p: a line for each k, with raw, PCA, whitening and all-but-the-top beside."
        frame.picture(figures.tried_curves(sweep, height=400), key="tried_curves", alt=alt, rows=sweep.rows)
    with right:
        st.markdown(f"**Chosen on dev, measured on test**, {sweep.sentences[1]} sentences")
        alt = "Bars: " + ", ".join(
            f"{point.transform} {value:.3f}" for point, value in zip(sweep.chosen, sweep.test, strict=True)
        )
        frame.picture(figures.chosen_bars(sweep, height=400), key="chosen_bars", alt=alt, rows=sweep.rows)
    st.markdown(f"**{sweep.verdict}**")
    st.caption(
        "The paper chooses by a grid search (section 4.6.1) and does not say on which sentences; chosen on test, the "
        "best of many ways looks better than it is."
    )
    base = "method.base" if chosen.method.name == "sbert-lp" else "method"
    choosing.show_code(TRIED_CODE, chosen, opened, base=base, most=most)


def show_order(at: Embedding, code: partial[None]) -> None:
    """Table 4, both ways."""
    _, opened, most, *_ = at
    sample: Any = cached.sentences_embedded(opened, most)
    if not isinstance(sample.rows, Pairs):
        st.info("Only pairs with grades or labels have an order: choose the corpus relatedness or questions.")
        return
    least = 0.0
    if sample.rows.graded:
        least = st.slider("Only pairs whose grades differ by more than", 0.0, 4.0, 1.0, 0.5, key="least", **frame.KEEP)
    changes = cached.changed_order(*at, least)
    counts = changes.found
    st.markdown(
        f"Of {counts.couples:,} couples of pairs with different grades the embedding **mends {counts.mended:,}** "
        f"({counts.mended / counts.couples:.1%}) and **spoils {counts.spoilt:,}** "
        f"({counts.spoilt / counts.couples:.1%}). Spearman of cosine and grade: {changes.spearman[0]:.3f} before, "
        f"{changes.spearman[1]:.3f} after."
    )
    frame.picture(
        figures.order_counts(changes, height=170),
        key="order_counts",
        alt=f"A bar: right in both {counts.kept}, mended {counts.mended}, spoilt {counts.spoilt}, "
        f"wrong {counts.wrong}.",
        rows=lambda: [{name: getattr(counts, name) for name in ("kept", "mended", "spoilt", "wrong")}],
    )
    if changes.examples:
        for column, kind in zip(st.columns(2), dict.fromkeys(kind for kind, _ in changes.examples), strict=False):
            with column:
                alt = f"Lines: the cosines of two pairs before and after, for the clearest that were {kind}."
                picture = figures.order_slopes(changes, kind, height=270)
                frame.picture(picture, key=f"order_{kind}", alt=alt, rows=changes.rows)
        frame.table(
            changes.rows(),
            "The examples: two pairs each, their sentences, grades, and cosines before and after.",
            formats={"before": "%.3f", "after": "%.3f", "grade": "%.2f"},
            widths=dict.fromkeys(("sentence 0", "sentence 1"), "medium"),
        )
        pairs = [(row["sentence 0"], row["sentence 1"]) for row in changes.rows()]
        left, right = st.columns([3, 1], vertical_alignment="bottom")
        place = left.selectbox("A pair", range(len(pairs)), format_func=lambda n: " ~ ".join(pairs[n]), key="couple")
        with right:
            why.button("pair", both_spaces(at, cached.embedded_anew(*at)[0]), opened, *pairs[place])
    st.caption("The paper's table 4 shows one couple that was mended, and says nothing of those that were spoilt.")
    vectors = "anew.base.encode(sample.sentences), anew.encode(sample.sentences)"
    call = f"order_counts(changed(sample, {vectors}, least={least})).show()"
    code(figure="order_counts", name="changed", call=call)


def page() -> None:
    frame.head("Neighbourhoods: a sentence by its neighbours", ABOUT, *FORMULAS)
    opened = choosing.corpus("relatedness")
    bases = [*choosing.VECTORS, *(["sbert"] if find_spec("sentence_transformers") else []), choosing.STORED]
    chosen = choosing.space(opened, bases, label="Base", key="base") if opened else None
    if opened is None or chosen is None:
        return
    k, p, most = settings_of_embedding()
    if chosen.method.name == "sbert-lp":
        st.caption(FORM)
    view = frame.view(VIEWS)
    if view == SWEEP:
        show_sweep(chosen, opened, most)
    else:
        at = (chosen, opened, most, k, p)
        method, notes = cached.embedded_anew(*at)
        for note in notes:
            st.caption(f"⚠ {frame.plain(note)}")
        code = partial(choosing.show_code, CODE, chosen, opened, k=k, p=p, most=most)
        if view == ALL:
            show_every(at, code)
        elif view == ORDER:
            show_order(at, code)
        else:
            show_one(at, method, code)
    frame.show_link(own_file=opened.own)


ANEW = """\
from labkit.sbert_lp.method import SbertLp, SbertLpSettings
from labkit.sbert_lp.sweeps import compared
sample = compared(corpus, most={most})
anew = SbertLp.over(method, sample.sentences, SbertLpSettings(neighbours={k}, dimension={p}))
"""
CODE = f"""\
from labkit.figures import {{figure}}
from labkit.sbert_lp.view import {{name}}
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

frame.run(page)

"""Page "Neighbourhoods": SBERT-LP, one sentence, all sentences, many k and p, and which pairs changed order."""

from __future__ import annotations

from functools import partial
from importlib.util import find_spec
from typing import Any

import cached
import choosing
import frame
import streamlit as st

from labkit import figures
from labkit.corpora import Pairs

ONE, ALL, SWEEP, ORDER = VIEWS = ["One sentence", "All sentences", "k and p", "Changed order"]
SBERT = {"sbert": "a sentence-transformers model"}
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
    "Number at a mark: the sentence in the table. Far out: far away. Thick line: large weight; dotted: negative. "
    "Full mark: near on both sides, and in the same direction in both stars."
)
FORM = "These vectors are a run of SBERT-LP: its base is taken, and embedded anew with the k and p of the sliders."


def base_of(opened: cached.Opened) -> choosing.Chosen | None:
    """The method whose vectors are embedded anew: fitted here, or a run's."""
    found = SBERT if find_spec("sentence_transformers") else {}
    named = {**choosing.VECTORS, **found, choosing.STORED: choosing.STORED}
    options = list(named)
    name = st.sidebar.selectbox(
        "Base", options, index=options.index("sif"), format_func=named.__getitem__, key="base", **frame.KEEP
    )
    if name == choosing.STORED:
        return choosing.stored_run(opened, method="sif")
    method = cached.fitted(opened.corpus, opened.key, name)
    code = f'method = METHODS["{name}"]()\nmethod.fit(corpus)'
    return choosing.Chosen(method, f"{name} {opened.key}", named[name], code)


def numbers() -> tuple[int, int, int]:
    """k, p, and how many sentences at most."""
    bar, keep = st.sidebar, frame.KEEP
    bar.header("SBERT-LP")
    k = bar.slider("k, neighbours of a sentence", 2, 60, 10, key="k", **keep)
    p = bar.slider("p, dimensions that are left", 2, 256, 64, key="p", **keep)
    most = bar.select_slider("Sentences of test, at most", [100, 200, 400, 800, 1200], 400, key="most", **keep)
    return k, p, most


def show_one(method: Any, code: partial[None]) -> None:
    """Two stars, and the neighbours of both as a table."""
    from labkit.sbert_lp.view import around

    space = method.space
    row = choosing.sentence("Sentence", space.sentences, "row", 0)
    found = around(space, space.sentences[row])
    for column, side, where in zip(
        st.columns(2), ("before", "after"), ("in the base", "in the new space"), strict=True
    ):
        with column:
            st.markdown(f"**{side.capitalize()}**, {where}")
            spokes = found.before if side == "before" else found.after
            alt = f"A star: sentence {row} and its {len(spokes)} nearest {where}, with their weights and cosines."
            frame.picture(figures.star(found, side, height=340), key=f"star_{side}", alt=alt, rows=found.rows)
    st.caption(SIDES)
    with st.container(horizontal=True):
        st.metric("neighbours that stayed", f"{found.shared} of {len(found.before)}")
        st.metric("error before", f"{found.error_before:.3g}")
        st.metric("same weights, after", f"{found.kept:.3g}")
        st.metric("weights solved anew, after", f"{found.error_after:.3g}")
    form = {f"{what} {side}": "%.3f" for what in ("weight", "cosine") for side in ("before", "after")}
    st.dataframe(
        list(found.rows()),
        hide_index=True,
        column_config={
            "sentence": st.column_config.TextColumn(width="large"),
            **{name: st.column_config.NumberColumn(format=shape) for name, shape in form.items()},
        },
        placeholder="–",
        alt=f"The neighbours of sentence {row}: rank, weight and cosine before and after.",
    )
    code("star", "around", f'star(around(anew.space, anew.space.sentences[{row}]), "after").show()')


def show_all(method: Any, key: tuple[Any, ...], code: partial[None]) -> None:
    """What is left over of every sentence, the spectrum, and what was done about copies and components."""
    found = cached.structure_of(method, key)
    count = len(found.sentences)
    chosen = frame.number_in_address("row", count, 0)
    left, right = st.columns([1.25, 1])
    with left:
        st.markdown("**What the weights leave over**, as a share of each sentence's squared length")
        alt = f"{count} sentences: reconstruction error in the base against that of the same weights in the new space."
        picture = figures.rebuilt(found, chosen=chosen, height=360)
        event = frame.picture(
            picture, key="rebuilt", alt=alt, rows=found.rows, on_select="rerun", selection_mode="points"
        )
    with right:
        st.markdown("**What each direction costs**")
        values = found.eigenvalues.tolist()
        rows = partial(lambda: [{"direction": place, "eigenvalue": value} for place, value in enumerate(values, 1)])
        alt = f"{len(values)} eigenvalues, rising; {found.zeros} of them are 0."
        frame.picture(figures.spectrum(found, height=360), key="spectrum", alt=alt, rows=rows)
    picked = [point.get("customdata") for point in event.selection.points]
    numbers = [int(each[0] if isinstance(each, list) else each) for each in picked if each is not None]
    for number in numbers[:5] or [chosen]:
        st.text(f"{number} · {found.sentences[number]}\n{found.errors[number]:.3g} → {found.kept[number]:.3g}")
    st.caption("Click a mark to read its sentence. Below the dotted line the same weights hold better after.")
    st.markdown("**What was done about copies and components**")
    for line in found.told():
        st.markdown(f"- {line}")
    if found.copies:
        with st.expander(f"The {len(found.copies)} groups of sentences that share a vector"):
            for group in found.copies[:20]:
                st.text("\n".join(group[:8]))
    code("rebuilt", "structure", f"rebuilt(structure(anew.space), chosen={chosen}).show()")


# --- does it help? -----------------------------------------------------------------------------------------------


def show_sweep(chosen: choosing.Chosen, opened: cached.Opened, most: int, lines: dict[str, Any]) -> None:
    """Curves on dev, what was chosen there on test."""
    method: Any = chosen.method
    base = method.base if method.name == "sbert-lp" else method
    found = cached.tried(base, chosen.key, opened.corpus, opened.key, most)
    left, right = st.columns([1.5, 1])
    with left:
        st.markdown(f"**{found.measure}** on dev, {found.sentences[0]} sentences")
        alt = f"{found.measure} on dev over p: a line for each k, with raw, PCA, whitening and all-but-the-top beside."
        frame.picture(figures.tried_curves(found, height=400), key="tried_curves", alt=alt, rows=found.rows)
    with right:
        st.markdown(f"**Chosen on dev, told on test**, {found.sentences[1]} sentences")
        alt = "Bars: " + ", ".join(
            f"{point.transform} {value:.3f}" for point, value in zip(found.chosen, found.test, strict=True)
        )
        frame.picture(figures.chosen_bars(found, height=400), key="chosen_bars", alt=alt, rows=found.rows)
    st.markdown(f"**{found.verdict}**")
    st.caption(
        "The paper chooses by a grid search (section 4.6.1) and does not say on which sentences; chosen on test, the "
        "best of many ways flatters itself."
    )
    frame.code(TRIED_CODE.format(**lines))


def show_order(method: Any, key: tuple[Any, ...], sample: Any, at: tuple[Any, ...], code: partial[None]) -> None:
    """Table 4, both ways."""
    if not isinstance(sample.rows, Pairs):
        st.info("Only pairs with grades or labels have an order: choose the corpus relatedness or questions.")
        return
    least = 0.0
    if sample.rows.graded:
        least = st.slider("Only pairs whose grades differ by more than", 0.0, 4.0, 1.0, 0.5, key="least", **frame.KEEP)
    found = cached.changed(method, key, sample, at, least)
    counts = found.found
    st.markdown(
        f"Of {counts.couples:,} couples of pairs with different grades the embedding **mends {counts.mended:,}** "
        f"({counts.mended / counts.couples:.1%}) and **spoils {counts.spoilt:,}** "
        f"({counts.spoilt / counts.couples:.1%}). Spearman of cosine and grade: {found.spearman[0]:.3f} before, "
        f"{found.spearman[1]:.3f} after."
    )
    alt = f"A bar: right in both {counts.kept}, mended {counts.mended}, spoilt {counts.spoilt}, wrong {counts.wrong}."
    rows = partial(lambda: [{name: getattr(counts, name) for name in ("kept", "mended", "spoilt", "wrong")}])
    frame.picture(figures.order_counts(found, height=170), key="order_counts", alt=alt, rows=rows)
    if found.examples:
        for column, kind in zip(st.columns(2), dict.fromkeys(kind for kind, _ in found.examples), strict=False):
            with column:
                alt = f"Lines: the cosines of two pairs before and after, for the clearest that were {kind}."
                picture = figures.order_slopes(found, kind, height=270)
                frame.picture(picture, key=f"order_{kind}", alt=alt, rows=found.rows)
        form = {"before": "%.3f", "after": "%.3f", "grade": "%.2f"}
        st.dataframe(
            list(found.rows()),
            hide_index=True,
            column_config={
                **{name: st.column_config.TextColumn(width="medium") for name in ("sentence 0", "sentence 1")},
                **{name: st.column_config.NumberColumn(format=shape) for name, shape in form.items()},
            },
            alt="The examples: two pairs each, their sentences, grades, and cosines before and after.",
        )
    st.caption("The paper's table 4 shows one couple that was mended, and is silent on those that were spoilt.")
    vectors = "anew.base.encode(told.sentences), anew.encode(told.sentences)"
    code("order_counts", "changed", f"order_counts(changed(told, {vectors}, least={least})).show()")


def page() -> None:
    frame.head("Neighbourhoods: a sentence by its neighbours", ABOUT, *FORMULAS)
    opened = choosing.corpus("relatedness")
    chosen = base_of(opened) if opened else None
    if opened is None or chosen is None:
        return
    k, p, most = numbers()
    inner = chosen.method.name == "sbert-lp"
    if inner:
        st.caption(FORM)
    sample = cached.compared(opened.corpus, opened.key, most)
    at = (opened.key, most)
    view = frame.view(VIEWS)
    name = "mine.csv" if opened.own else opened.corpus.name
    lines = {"corpus": name, "method": chosen.code, "most": most, "base": "method.base" if inner else "method"}
    if view == SWEEP:
        show_sweep(chosen, opened, most, lines)
    else:
        method, notes = cached.embedded_anew(chosen.method, chosen.key, sample, at, k, p)
        for note in notes:
            st.caption(f"⚠ {frame.plain(note)}")
        code = partial(show_code, k=k, p=p, **lines)
        key = (chosen.key, *at, k, p)
        if view == ALL:
            show_all(method, key, code)
        elif view == ORDER:
            show_order(method, key, sample, at, code)
        else:
            show_one(method, code)
    frame.share(own_file=opened.own)


def show_code(figure: str, name: str, lines: str, **settings: Any) -> None:
    frame.code(CODE.format(figure=figure, name=name, lines=lines, **settings))


CODE = """\
from labkit import METHODS
from labkit.corpora import load
from labkit.figures import {figure}
from labkit.methods import load as load_run
from labkit.sbert_lp.method import SbertLp, SbertLpSettings
from labkit.sbert_lp.sweeps import compared
from labkit.sbert_lp.view import {name}

corpus = load({corpus!r})
{method}
told = compared(corpus, most={most})
anew = SbertLp.over(method, told.sentences, SbertLpSettings(neighbours={k}, dimension={p}))
{lines}
"""
TRIED_CODE = """\
from labkit import METHODS
from labkit.corpora import load
from labkit.figures import tried_curves
from labkit.methods import load as load_run
from labkit.sbert_lp.sweeps import tried

corpus = load({corpus!r})
{method}
found = tried({base}, corpus, most={most})
print(found.verdict)
tried_curves(found).show()
"""

frame.run(page)

"""Page "Neighbourhoods": SBERT-LP, one sentence, all sentences, many k and p, and which pairs changed order."""

from __future__ import annotations

from functools import partial
from importlib.util import find_spec
from typing import Any

import cached
import choosing
import frame
import streamlit as st
from neighbourhoods_text import ABOUT, CODE, FORM, FORMULAS, SIDES
from neighbourhoods_tried import show_order, show_sweep

from labkit import figures

ONE, ALL, SWEEP, ORDER = VIEWS = ["One sentence", "All sentences", "k and p", "Changed order"]
SBERT = {"sbert": "a sentence-transformers model"}


def base_of(opened: cached.Opened) -> choosing.Chosen | None:
    """Whose vectors are embedded anew: fitted here, or a run's."""
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
    chosen = frame.numbered("row", count, 0)
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
    for told in found.told():
        st.markdown(f"- {told}")
    if found.copies:
        with st.expander(f"The {len(found.copies)} groups of sentences that share a vector"):
            for group in found.copies[:20]:
                st.text("\n".join(group[:8]))
    code("rebuilt", "structure", f"rebuilt(structure(anew.space), chosen={chosen}).show()")


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
    told = cached.compared(opened.corpus, opened.key, most)
    at = (opened.key, most)
    view = frame.view(VIEWS)
    name = "mine.csv" if opened.own else opened.corpus.name
    lines = {"corpus": name, "method": chosen.code, "most": most, "base": "method.base" if inner else "method"}
    if view == SWEEP:
        show_sweep(chosen, opened, most, lines)
    else:
        method, notes = cached.embedded_anew(chosen.method, chosen.key, told, at, k, p)
        for note in notes:
            st.caption(f"⚠ {frame.plain(note)}")
        code = partial(show_code, k=k, p=p, **lines)
        key = (chosen.key, *at, k, p)
        if view == ALL:
            show_all(method, key, code)
        elif view == ORDER:
            show_order(method, key, told, at, code)
        else:
            show_one(method, code)
    frame.share(own_file=opened.own)


def show_code(figure: str, name: str, lines: str, **settings: Any) -> None:
    frame.code(CODE.format(figure=figure, name=name, lines=lines, **settings))


frame.run(page)

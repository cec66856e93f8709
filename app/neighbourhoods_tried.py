"""Does it help? Two views of the page "Neighbourhoods": many k and p, and the pairs that changed order."""

from __future__ import annotations

from functools import partial
from typing import Any

import cached
import choosing
import frame
import streamlit as st
from neighbourhoods_text import TRIED_CODE

from labkit import figures
from labkit.corpora import Pairs


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


def show_order(method: Any, key: tuple[Any, ...], told: Any, at: tuple[Any, ...], code: partial[None]) -> None:
    """Table 4, both ways."""
    if not isinstance(told.rows, Pairs):
        st.info("Only pairs with grades or labels have an order: choose the corpus relatedness or questions.")
        return
    least = 0.0
    if told.rows.graded:
        least = st.slider("Only pairs whose grades differ by more than", 0.0, 4.0, 1.0, 0.5, key="least", **frame.KEEP)
    found = cached.changed(method, key, told, at, least)
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

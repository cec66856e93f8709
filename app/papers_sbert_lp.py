"""Panel of the Papers page: SBERT-LP. Which pairs changed order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from labkit.corpora import Pairs
from labkit.progress import collected, silent

QUESTION, CORPUS = "Does preserving neighbours help?", "relatedness"
MOST = 1200  # sentences that are embedded together
BAR: dict[str, Any] = {"width": 180, **frame.KEEP}
ABOUT = """\
SBERT-LP takes the vectors of another method and expresses every sentence as a **mixture of its k nearest neighbours**.
It then finds vectors with p dimensions that reproduce the **same mixtures** as closely as possible, and compares them
by cosine. It uses no labels. It is *transductive*: sentences can only be compared if they were embedded together.

**Does it help?** Often it does not: it corrects the order of some pairs and reverses the order of others. The paper
chooses k and p by a grid search (section 4.6.1) but does not say on which split. Its Table 4 shows one comparison that
was fixed, and none that was broken.
"""
FORMULAS = (
    r"d_i \approx \sum_{j\in N_i} w_{ij} d_j, \qquad \sum_j w_{ij} = 1",
    r"\text{error}_i = \Big\lVert d_i - \sum_j w_{ij} d_j \Big\rVert^2 \big/ \lVert d_i \rVert^2",
    r"\min_Y \sum_i \Big\lVert y_i - \sum_j w_{ij} y_j \Big\rVert^2,\quad Y^\top Y/m = I,\ \sum_i y_i = 0",
    r"M = (I-W)^\top (I-W), \qquad M v = \lambda v,\ \text{the } p \text{ smallest after the constant}",
)
NO_ORDER = "This panel needs pairs with grades or labels. Choose the `relatedness` or `questions` corpus."


def show(opened: cached.Opened) -> None:
    """A base with k and p, and table 4 of the paper, both ways: fixed and broken."""
    from labkit.sbert_lp.sweeps import compared

    bases = [*choosing.VECTORS, *(["sbert"] if find_spec("sentence_transformers") else [])]
    chosen = choosing.space(opened, bases, label="Base", key="base")
    counts = [100, 200, 400, 800, MOST]
    with frame.choices():
        k, p = sliders()
        more = st.popover("More", icon=":material/tune:")
    most = more.select_slider("Maximum number of test sentences", counts, 400, key="most", **frame.KEEP)
    of = (opened.key, most)
    sample = once("Choosing sentences …", ("sample", *of), lambda: compared(opened.corpus, most=most))
    if not isinstance(sample.rows, Pairs):
        st.info(NO_ORDER)
        return
    least = 0.0
    if sample.rows.graded:
        least = more.slider("Minimum difference between grades", 0.0, 4.0, 1.0, 0.5, key="least", **frame.KEEP)
    key = (chosen.key, *of, k, p)
    make = partial(embedded, chosen, sample.sentences, k, p)
    method, notes = once("Embedding the sentences together …", ("embedded", *key), make)
    for note in notes:
        st.caption(f"⚠ {frame.plain(note)}")
    changes = once("Comparing the pairs …", ("order", *key, least), partial(compare, method, sample, least))
    counts = changes.found
    fixed, broken = (100 * count / counts.comparisons for count in (counts.fixed, counts.broken))
    st.markdown(
        f"**{QUESTION}** In {counts.comparisons:,} comparisons of two pairs with different grades, the embedding "
        f"**fixes {counts.fixed:,}** orders ({fixed:.1f} %) and **breaks {counts.broken:,}** ({broken:.1f} %). "
        f"Spearman's correlation of cosine and grade changes from {changes.spearman[0]:.3f} to "
        f"{changes.spearman[1]:.3f}."
    )
    numbers = {name: getattr(counts, name) for name in ("kept", "fixed", "broken", "wrong")}
    alt = "A bar of all comparisons: " + ", ".join(f"{name} {number}" for name, number in numbers.items())
    frame.picture(figures.order_counts(changes, height=170), key="order_counts", alt=alt, rows=lambda: [numbers])
    if changes.examples:
        show_examples(list(changes.rows()), chosen, opened)
    choosing.show_code(CODE, chosen, opened, k=k, p=p, most=most, least=least)


def show_examples(rows: Sequence[Mapping[str, Any]], chosen: choosing.Space, opened: cached.Opened) -> None:
    """The clearest examples as a table, and one of their pairs to be explained."""
    st.markdown("**The clearest examples.** Each has two pairs; the one with the higher grade should be closer.")
    alt = "The clearest examples: two pairs each, with their sentences, grades, and cosines before and after."
    formats = {"before": "%.3f", "after": "%.3f", "grade": "%.2f"}
    heads = {"before": "cosine before", "after": "cosine after"}
    frame.table(rows, alt, formats=formats, heads=heads, widths=dict.fromkeys(("sentence 0", "sentence 1"), "medium"))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        names = [f"{row['what']}, {row['should be']}" for row in rows]
        row = rows[names.index(st.selectbox("Pair", names, key="pair", width=choosing.WIDTH))]
        why.button("order", (chosen,), opened, row["sentence 0"], row["sentence 1"])


def sliders() -> tuple[int, int]:
    """The sliders for k and p, here and in the star of a sentence in Space."""
    k = st.slider("k, number of neighbours", 2, 60, 10, key="k", **BAR)
    return k, st.slider("p, number of dimensions", 2, 256, 64, key="p", **BAR)


def embedded(space: choosing.Space, sentences: Sequence[str], k: int, p: int) -> tuple[Any, tuple[str, ...]]:
    """SBERT-LP over a base, and the notes from fitting it."""
    from labkit.sbert_lp.method import SbertLp, SbertLpSettings

    with collected() as notes:
        method = SbertLp.over(space.method, list(sentences), SbertLpSettings(neighbours=k, dimension=p))
    return method, tuple(notes)


def compare(method: Any, sample: Any, least: float) -> Any:
    """The pairs before and after the embedding."""
    from labkit.baselines.base import base_rows
    from labkit.sbert_lp.view import changed

    before = base_rows(method.base, sample.sentences, 256, silent)
    return changed(sample, before, method.fit_encode(sample.sentences), least=least)


CODE = """\
from labkit.figures import order_counts
from labkit.sbert_lp.method import SbertLp, SbertLpSettings
from labkit.sbert_lp.sweeps import compared
from labkit.sbert_lp.view import changed
sample = compared(corpus, most={most})
anew = SbertLp.over(method, sample.sentences, SbertLpSettings(neighbours={k}, dimension={p}))
vectors = anew.base.encode(sample.sentences), anew.encode(sample.sentences)
order_counts(changed(sample, *vectors, least={least})).show()
"""

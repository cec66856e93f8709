"""Panel of the Papers page: what P-thought writes, and P-coherence with its companions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import cached
import choosing
import frame
import streamlit as st
from keeping import once

from labkit import figures

QUESTION, CORPUS = "What does the vector of a sentence preserve?", "captions"
WRITE, COHERENCE = VIEWS = ["Write a paraphrase", "P-coherence"]
LONGEST = 400  # letters of a typed sentence
ABOUT = """\
P-thought **reads** a sentence into a vector with one recurrent network (GRU). From this vector, two other networks
**write** the sentence itself and a paraphrase of it. The vector must contain what both networks need, so paraphrases
end up close together.

**P-coherence** is the mean cosine of paraphrases. An encoder that gives all sentences the same vector reaches 1, so
the score is shown with four others: the mean cosine of *different* groups, the difference between the two, how often
the nearest sentence is a paraphrase, and a distance that does not depend on the cosine.
"""
FORMULAS = (
    r"L = (1-\lambda)\, \ell_{\text{auto}} + (1+\lambda)\, \ell_{\text{paraphrase}}",
    r"\text{P-coherence} = \frac{1}{|G|}\sum_{g\in G} \frac{1}{\binom{|g|}{2}} \sum_{a<b\in g} \cos(v_a, v_b)",
    r"\text{lift} = \text{P-coherence} - \text{mean cosine of different groups}",
    r"\text{greedy: the likeliest next word.}\quad \text{beam: rank by } \log p \,/\, \text{words}^{0.7}",
)
GREEDY, BEAM = "Greedy: always the likeliest next word", "Beam: the best of several candidates"
LOG_P = (
    "The number in front of a sentence is log p, the logarithm of its probability: the closer to 0, the likelier. "
    "Longer sentences are less likely, so the beam is ordered by log p / words^0.7."
)


def groups_of_test(opened: cached.Opened) -> list[list[str]]:
    """The groups of the test split; the sentences of a group have the same meaning."""
    from labkit.pthought.method import groups_of

    return once("Reading the groups …", ("groups", opened.key), lambda: groups_of(opened.corpus.part("test")))


def coherence_of(space: choosing.Space, opened: cached.Opened) -> Any:
    """P-coherence of a method on all groups of the test split, with its companions."""
    from labkit.pthought.view import companions

    groups = groups_of_test(opened)
    if all(len(set(group)) < 2 for group in groups):
        raise ValueError("the test split has no group with two different sentences; choose another corpus")
    texts = [text for group in groups for text in group]
    numbers = [number for number, group in enumerate(groups) for _ in group]
    key = ("coherence", space.key, opened.key)
    return once("Encoding all groups …", key, lambda: companions(space.method.encode(texts, 256), numbers))


# --- the views ---------------------------------------------------------------------------------------------------


def show_coherence(opened: cached.Opened, both: Sequence[choosing.Space]) -> None:
    """The distributions of cosines of both methods, and the five scores side by side."""
    measured = [coherence_of(space, opened) for space in both]
    base, own = (coherence.figures for coherence in measured)
    lift = own.lift - base.lift
    other = frame.plain(both[0].name)
    st.markdown(
        f"**{QUESTION}** In {own.groups} test groups, the mean cosine of paraphrases (P-coherence) is "
        f"{own.within:.2f}, and that of other sentences {own.between:.2f}. Their difference, the **lift**, is "
        f"**{abs(lift):.3f} {'higher' if lift > 0 else 'lower'}** than with {other}. The nearest sentence is a "
        f"paraphrase for {100 * own.retrieval:.1f} % of the sentences, with {other} for {100 * base.retrieval:.1f} %."
    )
    for number, (column, space, coherence) in enumerate(zip(st.columns(2), both, measured, strict=True)):
        with column:
            st.markdown(f"**{frame.plain(space.name)}**")
            if coherence.warning:
                st.warning(coherence.warning, icon=":material/warning:")
            within, between = coherence.figures.within, coherence.figures.between
            alt = f"Two distributions of cosines: around {within:.2f} within groups, {between:.2f} between groups."
            picture = figures.coherence_hills(coherence, height=300)
            frame.picture(picture, key=f"hills_{number}", alt=alt, rows=coherence.rows)
    lines = [
        {"figure": a["figure"], both[0].name: a["value"], both[1].name: b["value"], "description": a["meaning"]}
        for a, b in zip(*(coherence.rows() for coherence in measured), strict=True)
    ]
    alt = "P-coherence and the four other scores for both methods."
    frame.table(lines, alt, formats={space.name: "%.3f" for space in both})
    choosing.show_code(COHERENCE_CODE, both[1], opened)


def show_writing(opened: cached.Opened, chosen: choosing.Space) -> None:
    """A sentence, and what both decoders write from its vector, greedily and with a beam."""
    from labkit.pthought.writing import Search, described

    texts = [text for group in groups_of_test(opened) for text in group]
    left, right = st.columns([4, 1])
    with left:
        row, sentence = choosing.row_and_text("A test sentence, or your own", texts[:300], "sentence", typed=True)
    sentence = sentence[:LONGEST].strip() or texts[row]
    about = "The beam width: how many candidates are kept at each step."
    width = right.slider("Beam", 2, 10, 5, key="beam", help=about, **frame.KEEP)
    beam = Search(width=width, max_length=chosen.method.settings.max_length)
    st.markdown(f"**{QUESTION}** From it, two decoders write the sentence itself (auto) and a paraphrase. {LOG_P}")
    for head, search in {GREEDY: None, BEAM: beam}.items():
        lines = described(chosen.method.paraphrase([sentence], search=search)[0])
        st.caption(head)
        st.code(lines.replace("  -", "  −"), language=None, wrap_lines=True)
    choosing.show_code(WRITE_CODE, chosen, opened, width=width)


def show(opened: cached.Opened) -> None:
    """A run, and one of the views; P-coherence compares it with other vectors."""
    runs = choosing.runs_of(opened, "pthought")
    if not runs:
        choosing.show_command(choosing.NO_RUN, "pthought", opened)
        return
    chosen = choosing.space_of(opened, choosing.choose_vectors(list(runs), next(iter(runs)), "Run", "run"), runs)
    with frame.choices():
        view = frame.view(VIEWS)
    if view == WRITE:
        show_writing(opened, chosen)
    else:
        beside = choosing.space(opened, list(choosing.VECTORS), "mean-vectors", label="Compare with", key="beside")
        show_coherence(opened, (beside, chosen))


COHERENCE_CODE = """\
from labkit.figures import coherence_hills
from labkit.pthought.method import groups_of
from labkit.pthought.view import companions
groups = groups_of(corpus.part("test"))
texts = [text for group in groups for text in group]
measured = companions(method.encode(texts), [number for number, group in enumerate(groups) for _ in group])
print(measured.figures)
coherence_hills(measured).show()
"""
WRITE_CODE = """\
from labkit.pthought.writing import Search, described
sentence = "A man rides a horse along the beach."
for search in (None, Search(width={width})):  # greedy, beam
    print(described(method.paraphrase([sentence], search=search)[0]))
"""

"""Page "Paraphrases": P-thought's groups in the plane, P-coherence with its companions, and what the decoders write."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import cached
import choosing
import frame
import streamlit as st

from labkit import figures

PLANE, COHERENCE, WRITE = VIEWS = ["Groups in the plane", "P-coherence", "Write a paraphrase"]
LONGEST = 400  # letters of a typed sentence
ABOUT = """\
P-thought **reads** a sentence into a vector with one recurrent network (GRU), and from that vector two others
**write**: one the sentence itself, one a paraphrase of it. What both need must be in the vector, so paraphrases come to
lie together.

**P-coherence** is the mean cosine of paraphrases. It is 1 for an encoder that gives all sentences one vector, so it
stands here only beside four companions: the cosine of *different* groups, the difference of the two, how often the
nearest sentence is a paraphrase, and a distance that does not depend on the cosine.
"""
FORMULAS = (
    r"L = (1-\lambda)\, \ell_{\text{auto}} + (1+\lambda)\, \ell_{\text{paraphrase}}",
    r"\text{P-coherence} = \frac{1}{|G|}\sum_{g\in G} \frac{1}{\binom{|g|}{2}} \sum_{a<b\in g} \cos(v_a, v_b)",
    r"\text{lift} = \text{P-coherence} - \text{mean cosine of different groups}",
    r"\text{greedy: the likeliest next word.}\quad \text{beam: rank by } \log p \,/\, \text{words}^{0.7}",
)
KEYS = ("base", "pthought")  # of the pictures side by side
DECODERS = {"auto": "The sentence itself (auto)", "paraphrase": "A paraphrase of it"}
GROUPS = (
    "Each letter is a group of sentences that mean the same, none of them seen in training. A plane shows a part of "
    "the space only: the figures of *P-coherence* are measured in all its dimensions."
)


def show_plane(opened: cached.Opened, both: Sequence[choosing.Space]) -> None:
    """The same handful of groups twice."""
    from labkit.pthought.view import handful

    bar, keep = st.sidebar, frame.KEEP
    bar.header("Groups")
    count = bar.slider("Groups shown", 2, 12, 6, key="groups", **keep)
    seed = bar.number_input(
        "Number of the handful", 0, 9999, 0, key="handful", help="Another number draws another handful.", **keep
    )
    how = bar.radio("Plane", ["PCA", "t-SNE"], horizontal=True, key="plane", **keep)
    shown = handful(cached.groups_of_test(opened), count=count, seed=seed)
    at = (opened.key, count, seed)
    planes = [cached.group_plane(chosen, shown, at, how) for chosen in both]
    rows = partial(shown.rows, base=planes[0], pthought=planes[1])
    for column, chosen, plane, key in zip(st.columns(2), both, planes, KEYS, strict=True):
        with column:
            spread = f", {plane.shown:.0%} of the spread in the plane" if plane.shown is not None else ""
            st.markdown(f"**{frame.plain(chosen.name)}**{spread}")
            alt = f"{len(shown.first)} groups of paraphrases, a mark and a letter each, in the {how} plane of {key}."
            picture = figures.paraphrase_groups(shown, plane, legend=False, height=390)
            frame.picture(picture, key=f"groups_{key}", alt=alt, rows=rows)
    st.text("\n".join(f"{letter}  {text}" for letter, text in sorted(shown.first.items())))
    st.caption(GROUPS)
    with st.expander("All sentences of these groups"):
        frame.table(shown.rows(), "The letter and the text of every sentence shown.")
    choosing.show_code(PLANE_CODE, both[1], opened, count=len(shown.first), seed=seed, how=how)


def show_coherence(opened: cached.Opened, both: Sequence[choosing.Space]) -> None:
    """Two hills of cosines each, and the five figures side by side."""
    measured = [cached.group_coherence(chosen, opened) for chosen in both]
    for chosen, coherence in zip(both, measured, strict=True):
        if coherence.warning:
            st.warning(f"{frame.plain(chosen.name)}: {coherence.warning}", icon=":material/warning:")
    for column, chosen, coherence, key in zip(st.columns(2), both, measured, KEYS, strict=True):
        with column:
            st.markdown(f"**{frame.plain(chosen.name)}**")
            alt = f"Two hills of cosines, within groups around {coherence.figures.within:.2f}, between around "
            alt += f"{coherence.figures.between:.2f}."
            picture = figures.coherence_hills(coherence, height=300)
            frame.picture(picture, key=f"hills_{key}", alt=alt, rows=coherence.rows)
    frame.table(
        [
            {"figure": a["figure"], both[0].name: a["value"], both[1].name: b["value"], "what it is": a["meaning"]}
            for a, b in zip(*(coherence.rows() for coherence in measured), strict=True)
        ],
        "P-coherence and its companions, of both methods, with what each is.",
        formats={chosen.name: "%.3f" for chosen in both},
    )
    base, own = (coherence.figures for coherence in measured)
    ahead = []
    for figure in ("lift", "retrieval"):
        gap = getattr(own, figure) - getattr(base, figure)
        ahead.append(f"by {figure} {abs(gap):.3f} {'better' if gap > 0 else 'worse'}")
    st.caption(
        f"{own.groups} groups of test. Beside {frame.plain(both[0].name)}, P-thought is "
        f"{' and '.join(ahead)}. P-coherence alone cannot say so: read it with its companions."
    )
    choosing.show_code(COHERENCE_CODE, both[1], opened)


def show_writing(opened: cached.Opened, chosen: choosing.Space) -> None:
    """A sentence, and what both decoders make of its vector, greedily and with a beam."""
    from labkit.pthought.writing import Search

    texts = [text for group in cached.groups_of_test(opened) for text in group]
    left, right = st.columns(2)
    with left:
        row = choosing.sentence_by_row("A sentence of test", texts[:300], "sentence")
    with right:
        typed = st.text_input("… or type one", key="typed", max_chars=LONGEST)
    width = st.slider("Beam: beginnings kept at every step", 2, 10, 5, key="beam", **frame.KEEP)
    sentence = typed.strip() or texts[row]
    search = Search(width=width, max_length=chosen.method.settings.max_length)
    greedy, beam = (chosen.method.paraphrase([sentence], search=how)[0] for how in (None, search))
    st.text(f"Read: {sentence}")
    if greedy.unknown:
        st.warning(
            f"Words that were never met in training, read as the unknown word: {frame.plain(', '.join(greedy.unknown))}"
            + ("" if any_word_known(chosen, sentence) else ". No word is known: what is written means nothing."),
            icon=":material/help:",
        )
    if greedy.expanded:
        st.caption(
            f"Words that were not in training, read through their vectors: {frame.plain(', '.join(greedy.expanded))}"
        )
    if greedy.cut:
        st.caption(f"The last {greedy.cut} words were not read.")
    searches = (("greedy", greedy), ("beam", beam))
    rows = [
        {"decoder": decoder, "search": how, "log p": one.log_probability, "rank by": one.score, "ends": one.ended,
         "sentence": one.text}
        for decoder in greedy.written
        for how, result in searches
        for one in result.written[decoder]
    ]  # fmt: skip
    for column, decoder in zip(st.columns(len(greedy.written)), greedy.written, strict=True):
        with column, st.container(border=True):
            st.markdown(f"**{DECODERS[decoder]}**")
            for how, result in searches:
                st.caption(how)
                for one in result.written[decoder]:
                    st.text(f"{one.log_probability:7.2f}  {one.text or '(nothing)'}{'' if one.ended else ' …'}")
    st.caption(
        "The number before each sentence is its log p. Beams are ranked by log p / words^0.7, as log p alone favours "
        "short sentences."
    )
    frame.csv_button(lambda: rows, "written", "written")
    choosing.show_code(WRITE_CODE, chosen, opened, width=width)


def any_word_known(chosen: choosing.Space, sentence: str) -> bool:
    """Whether any word of the sentence was met in training."""
    reading = chosen.method.reading
    return len(reading.unknown(sentence)) < len(reading.reader.numbers(sentence))


def page() -> None:
    frame.head("Paraphrases: what a vector keeps", ABOUT, *FORMULAS)
    opened = choosing.corpus("captions")
    st.sidebar.header("P-thought")
    chosen = choosing.stored_run(opened, "pthought") if opened else None
    if opened is None or chosen is None:
        return
    view = frame.view(VIEWS)
    if view == WRITE:
        show_writing(opened, chosen)
    else:
        beside = choosing.space(opened, list(choosing.VECTORS), "mean-vectors", label="Beside it", key="beside")
        show = show_coherence if view == COHERENCE else show_plane
        show(opened, (beside, chosen))
    frame.show_link(own_file=opened.own)


PLANE_CODE = """\
from labkit.figures import paraphrase_groups
from labkit.pthought.task import groups_of
from labkit.pthought.view import handful, plane
shown = handful(groups_of(corpus.part("test")), count={count}, seed={seed})
paraphrase_groups(shown, plane(method.encode(list(shown.texts)), {how!r})).show()
"""
COHERENCE_CODE = """\
from labkit.figures import coherence_hills
from labkit.pthought.task import groups_of
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

frame.run(page)

"""Page "Corpora": what a corpus is made of, how hard it is, and what vectors that learned nothing say of its pairs."""

from __future__ import annotations

from collections.abc import Sequence

import cached
import choosing
import frame
import numpy as np
import pandas as pd
import streamlit as st

from labkit.corpora import Articles, Pairs
from labkit.corpora.records import SPLITS
from labkit.figures import similarity_histogram, similarity_scatter

VECTORS = {name: choosing.VECTORS[name] for name in ("tfidf", "mean-vectors")}
PAIRS, ROWS = "Pairs", "Rows"
ABOUT = """\
The rows of a **corpus**, as a person reads them, and how hard it is: what three methods reach that learn nothing from
its labels. Of a corpus of pairs also the cosine of each pair's two vectors against its label or score: where the two
say different things, a method has something to learn.
"""
COSINE = r"\cos(u, v) = \frac{u \cdot v}{\|u\| \|v\|}"


def show_sentences(texts: Sequence[str], about: str) -> None:
    """Sentences as text, whatever they hold, with a line on what they are."""
    with st.container(border=True):
        for text in texts:
            st.text(text)
        st.text(f"— {about}")


def show_pairs(opened: cached.Opened, corpus: Pairs) -> None:
    """Cosine against label or score, and where they disagree most."""
    vectors = st.radio(
        "Vectors", list(VECTORS), format_func=VECTORS.__getitem__, horizontal=True, key="space", **frame.KEEP
    )
    cosine = cached.pair_cosines(opened, vectors)
    known = "scores" if corpus.graded else "labels"
    draw = similarity_scatter if corpus.graded else similarity_histogram
    alt = f"The cosines of {len(corpus):,} pairs by {VECTORS[vectors]} against the {known} of the corpus."
    rows = [row | {"cosine": float(value)} for row, value in zip(corpus.rows(), cosine, strict=True)]
    frame.picture(draw(cosine, getattr(corpus, known)), key="pair-cosines", alt=alt, rows=lambda: rows)
    if corpus.graded:
        ranks = [pd.Series(values).rank(pct=True).to_numpy() for values in (cosine, corpus.scores)]
        surprising = np.abs(ranks[0] - ranks[1])
    else:
        same, other = cosine[corpus.labels == 1].mean(), cosine[corpus.labels == 0].mean()
        st.caption(f"Mean cosine: {same:.2f} for pairs that are the same, {other:.2f} for those that are not.")
        surprising = np.where(corpus.labels == 1, -cosine, cosine)
    choosing.show_code(PAIRS_CODE, choosing.fitted(opened, vectors), opened, figure=draw.__name__, known=known)
    st.markdown(f"**Where cosine and {known.removesuffix('s')} disagree most**")
    for i in np.argsort(-surprising, kind="stable")[:12].tolist():
        same_or_not = "the same" if corpus.values[i] else "not the same"
        value = f"score {corpus.values[i]:.1f}" if corpus.graded else f"label: {same_or_not}"
        show_sentences([corpus.text_a[i], corpus.text_b[i]], f"{value}; cosine {cosine[i]:.2f}")


def show_difficulty(opened: cached.Opened) -> None:
    """How large the corpus is, and what three methods that learned nothing from its labels reach."""
    corpus = opened.corpus
    counts = ", ".join(f"{split} {corpus.splits.count(split):,}" for split in SPLITS if split in corpus.splits)
    st.markdown(f"**{frame.plain(corpus.name)}**: {len(corpus):,} rows")
    st.caption(counts)
    try:
        difficulty = cached.corpus_difficulty(opened)
    except ValueError as reason:  # a visitor's file may have no test split
        st.caption(f"Not measured: {frame.plain(str(reason))}")
        return
    st.metric("chance", f"{difficulty.chance:.3f}")
    st.metric("TF-IDF", f"{difficulty.tfidf:.3f}")
    st.metric("mean word vectors", f"{difficulty.mean_vectors:.3f}")
    st.caption(f"On the test split: {difficulty.measure}. 1 is the best possible; the rest is what there is to learn.")


def show_some_rows(opened: cached.Opened) -> None:
    """Twenty rows from all over the corpus."""
    corpus = opened.corpus
    again = st.session_state.setdefault("draw", 0)
    if st.button("Other rows"):
        again = st.session_state["draw"] = again + 1
    rows = sorted(np.random.default_rng(again).choice(len(corpus), min(20, len(corpus)), replace=False).tolist())
    frame.code(ROWS_CODE.format(name=opened.in_code, rows=rows))
    if isinstance(corpus, Articles):
        article = corpus.articles[rows[0]]
        st.header(frame.plain(article.title))
        for section in article.sections:
            if section.title:
                st.subheader(frame.plain(section.title))
            for paragraph in section.paragraphs:
                st.text(paragraph)
        return
    texts = {corpus.COLUMNS[name] for name in corpus.TEXTS}
    for row in corpus.take(rows).rows():
        about = ", ".join(f"{column} {value}" for column, value in row.items() if column not in texts)
        show_sentences([row[corpus.COLUMNS[name]] for name in corpus.TEXTS], about)


def page() -> None:
    frame.head("Corpora: what there is to learn from", ABOUT, COSINE)
    opened = choosing.corpus()
    if opened is None:
        return
    corpus = opened.corpus
    wide, narrow = st.columns([5, 1.2])
    with wide:
        if isinstance(corpus, Pairs) and frame.view([PAIRS, ROWS], "look") == PAIRS:  # only pairs have two
            show_pairs(opened, corpus)
        else:
            show_some_rows(opened)
    with narrow:  # last, so that the rest does not wait for the figures
        show_difficulty(opened)
    frame.show_link(own_file=opened.own)


PAIRS_CODE = """\
from labkit.figures import {figure}
cosine = method.similarity_pairwise(corpus.text_a, corpus.text_b)
{figure}(cosine, corpus.{known}).show()
"""
ROWS_CODE = """\
from labkit.corpora import load
from labkit.baselines.difficulty import difficulty

corpus = load("{name}")
print(list(corpus.take({rows}).rows()))
print(difficulty(corpus))
"""

frame.run(page)

"""Page "Corpora": what a corpus is made of, and how it looks to vectors that have learned nothing from its labels."""

from __future__ import annotations

from collections.abc import Sequence

import cached
import choosing
import frame
import numpy as np
import pandas as pd
import streamlit as st

from labkit.corpora import Articles, Corpus, Labelled, Pairs
from labkit.corpora.records import SPLITS
from labkit.figures import clusters, similarity_histogram, similarity_scatter

VECTORS = {"tfidf": "TF-IDF", "mean-vectors": "mean word vectors"}
ABOUT = {
    "clusters": (
        "Each point is a sentence; its colour and mark are its class. The vectors were fitted without the classes: "
        "{vectors}. {picture} then draws them in the plane. Points of one class that lie apart are what a method has "
        "to learn to bring together. Figures are measured in the space of the vectors, not in the picture."
    ),
    "pairs": (
        "For each pair of sentences, the cosine of their two vectors, cos(u, v) = u·v / (‖u‖ ‖v‖), against what a "
        "person said of the pair. Where the two say different things, a method has something to learn."
    ),
}
FITTED = {
    "tfidf": "a word counts the more, the fewer sentences have it",
    "mean-vectors": "the mean of its words' vectors, made from which words stand near which (PPMI and SVD)",
}


def show_clusters(corpus: Corpus, key: str, vectors: str) -> None:
    """The picture of the classes, and the sentence behind a click."""
    how = st.sidebar.radio("Picture", ["t-SNE", "PCA"], horizontal=True, key="picture", **frame.KEEP)
    count = st.sidebar.slider("Classes shown, the largest first", 2, 24, 12, key="classes", **frame.KEEP)
    shown, embedded = cached.embedding(corpus, key, vectors, count)
    projection = cached.projection(corpus, key, vectors, count, how)
    event = st.plotly_chart(
        clusters(projection, shown),
        on_select="rerun",
        selection_mode="points",
        key="cloud",
        config={"scrollZoom": True},
    )
    st.caption(f"Picture: {len(shown)} sentences of {len(set(shown.labels))} classes. Click a point to read it.")
    with st.expander("What am I looking at?"):
        note = f" It keeps {projection.shown:.0%} of the spread." if projection.shown is not None else ""
        st.markdown(ABOUT["clusters"].format(vectors=FITTED[vectors], picture=how) + note)
    picked = [point["customdata"] for point in event.selection.points]
    rows = [int(row[0] if isinstance(row, list) else row) for row in picked]
    typed = st.selectbox("… or find a sentence", shown.texts, index=None, placeholder="type a few letters", key="find")
    row = shown.texts.index(typed) if typed else rows[0] if rows else None
    if row is not None:
        neighbours(shown, cached.fitted(corpus, key, vectors).similarity(embedded[[row]], embedded)[0], row)


def neighbours(shown: Labelled, cosine: np.ndarray, row: int) -> None:
    """A sentence and the six nearest to it in the space of the vectors, by their cosines with it (n,)."""
    order = [i for i in np.argsort(-cosine, kind="stable") if i != row][:6]
    st.subheader("Nearest in the space of the vectors")
    st.text(f"{shown.texts[row]}\n— {shown.labels[row]}")
    for i in order:
        same = "same class" if shown.labels[i] == shown.labels[row] else "another class"
        read([shown.texts[i]], f"cosine {cosine[i]:.2f}, {same}: {shown.labels[i]}")


def read(texts: Sequence[str], about: str) -> None:
    """Sentences as text, whatever they hold, with a line on what they are."""
    with st.container(border=True):
        for text in texts:
            st.text(text)
        st.text(f"— {about}")


def show_pairs(corpus: Pairs, key: str, vectors: str) -> None:
    """Cosine against label or score."""
    cosine = cached.cosines(corpus, key, vectors)
    if not corpus.graded:
        st.plotly_chart(similarity_histogram(cosine, corpus.labels), key="hills")
        same, other = cosine[corpus.labels == 1].mean(), cosine[corpus.labels == 0].mean()
        st.caption(f"Mean cosine: {same:.2f} for pairs that are the same, {other:.2f} for those that are not.")
        surprising = np.where(corpus.labels == 1, -cosine, cosine)
    else:
        st.plotly_chart(similarity_scatter(cosine, corpus.scores), key="slope")
        ranks = [pd.Series(values).rank(pct=True).to_numpy() for values in (cosine, corpus.scores)]
        surprising = np.abs(ranks[0] - ranks[1])
    with st.expander("What am I looking at?"):
        st.markdown(ABOUT["pairs"])
    st.subheader("Where cosine and person disagree most")
    for i in np.argsort(-surprising, kind="stable")[:12].tolist():
        same = "the same" if corpus.values[i] else "not the same"
        said = f"a person's score is {corpus.values[i]:.1f}" if corpus.graded else f"a person says: {same}"
        read([corpus.text_a[i], corpus.text_b[i]], f"{said}; cosine {cosine[i]:.2f}")


def figures(corpus: Corpus, key: str) -> None:
    """How large the corpus is, and what three methods that learned nothing from its labels reach."""
    counts = ", ".join(f"{split} {corpus.splits.count(split):,}" for split in SPLITS if split in corpus.splits)
    st.markdown(f"**{frame.plain(corpus.name)}**: {len(corpus):,} rows")
    st.caption(counts)
    try:
        found = cached.measured(corpus, key)
    except ValueError as reason:  # a visitor's file may have no test split
        st.caption(f"Not measured: {frame.plain(str(reason))}")
        return
    st.metric("chance", f"{found.chance:.3f}")
    st.metric("TF-IDF", f"{found.tfidf:.3f}")
    st.metric("mean word vectors", f"{found.mean_vectors:.3f}")
    st.caption(f"On the test split: {found.measure}. 1 is the best possible; the rest is what there is to learn.")


def show_rows(corpus: Corpus) -> None:
    """Twenty rows from all over the corpus."""
    again = st.session_state.setdefault("draw", 0)
    if st.button("Other rows"):
        again = st.session_state["draw"] = again + 1
    rows = sorted(np.random.default_rng(again).choice(len(corpus), min(20, len(corpus)), replace=False).tolist())
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
        read([row[corpus.COLUMNS[name]] for name in corpus.TEXTS], about)


def page() -> None:
    opened = choosing.corpus()
    if opened is None:
        return
    corpus, key = opened.corpus, opened.key
    vectors = st.sidebar.radio("Vectors", list(VECTORS), format_func=VECTORS.__getitem__, key="space", **frame.KEEP)
    names = ["Clusters", *(["Pairs"] if isinstance(corpus, Pairs) else []), "Rows", "The code"]
    wide, narrow = st.columns([5, 1.2])
    with wide:
        tabs = dict(zip(names, st.tabs(names), strict=True))
    with tabs["Clusters"]:
        show_clusters(corpus, key, vectors)
    if isinstance(corpus, Pairs):
        with tabs["Pairs"]:
            show_pairs(corpus, key, vectors)
    with tabs["Rows"]:
        show_rows(corpus)
    with tabs["The code"]:
        picture = {"PCA": "pca", "t-SNE": "tsne"}[st.session_state["picture"]]
        classes = st.session_state["classes"]
        dense = ".toarray()" if vectors == "tfidf" else ""
        st.code(CODE.format(name=corpus.name, vectors=vectors, picture=picture, classes=classes, dense=dense))
    with narrow:  # last, so that the picture does not wait for the figures
        figures(corpus, key)


CODE = """\
from labkit import METHODS
from labkit.corpora import load
from labkit.corpora.points import points
from labkit.figures import clusters
from labkit.projection import {picture}

corpus = load("{name}")
method = METHODS["{vectors}"]()
method.fit(corpus)
shown = points(corpus, classes={classes})
vectors = method.encode(shown.texts, normalize_embeddings=True){dense}
clusters({picture}(vectors), shown).show()
"""

frame.run(page)

"""Panel of the Papers page: the sections of an article compared with found clusters."""

from __future__ import annotations

from functools import partial
from typing import Any

import cached
import choosing
import frame
import streamlit as st
from keeping import once

from labkit import figures
from labkit.corpora import Articles
from labkit.corpora.records import SPLITS
from labkit.figure_names import MEANINGS, meaning, spoken

QUESTION, CORPUS = "Do the clusters match the sections?", "articles"
ABOUT = """\
The sections of an article are themes chosen by its authors. If its sentences are grouped by their vectors into as many
clusters as there are sections, **do the clusters match the sections?** The thematic network learns from other articles
to place sentences of the same section closer to each other than to sentences of neighbouring sections.

**k-means** works with cluster centres, **Iclust** only with similarities. At temperature 0, both maximise the same
objective, so if Iclust scores higher, its search was better. Higher temperatures merge clusters until only one is left.
"""
FORMULAS = (
    r"\text{loss} = 2\,\sigma(d^+ - d^-), \qquad v = \sum_t a_t h_t,\quad a = \text{softmax}(u\cdot\tanh(W h_t + b))",
    r"\text{Iclust: } \max\ \langle s\rangle - T\, I(C; i), \qquad \langle s\rangle = \sum_C P(C)\, s(C)",
    r"P(C\mid i) \propto P(C)\, e^{[2 s(C; i) - s(C)]/T}",
)
RIBBON = (
    "Each cell is one of {n} sentences, in reading order, with the number of its section (top row) or of the section "
    "that its cluster was matched with. **k-means puts {means:.0f} % of them into the cluster of their section, and "
    "Iclust {iclust:.0f} %**; a grey frame marks each of the others."
)
HOT = "At 0, each sentence is in one cluster. Higher temperatures give fewer, softer clusters, and eventually just one."
NO_ARTICLES = (
    "This panel needs articles with sections. Choose the `articles` corpus, or upload a file of articles with sections."
)


def show(opened: cached.Opened) -> None:
    """One article in the chosen vectors: the ribbon, and how far both algorithms agree with the sections."""
    from labkit.thematic import sections

    if not isinstance(opened.corpus, Articles):
        st.info(NO_ARTICLES)
        return
    runs = choosing.runs_of(opened, "thematic")
    options = [*runs, *choosing.VECTORS]
    name = choosing.choose_vectors(options, options[0], "Sentence vectors", "trained")
    chosen = choosing.space_of(opened, name, runs)
    splits = [split for split in reversed(SPLITS) if split in opened.corpus.splits]
    split = frame.choices().radio("Articles from", splits, horizontal=True, key="split", **frame.KEEP)
    part = opened.corpus.part(split)
    left, right = st.columns(2)
    with left:
        row, _ = choosing.row_and_text("Article", [article.title for article in part.articles], "article")
    about: Any = {"key": "temperature", "help": HOT, **frame.KEEP}
    temperature = right.slider("Temperature of Iclust", 0.0, 0.5, 0.0, 0.01, **about)
    article, at = sections.sectioned(part.articles[row]), (chosen.key, opened.key, split, row)
    encode = partial(chosen.method.encode, list(article.sentences))
    vectors = once("Encoding the article …", ("article", *at), encode)
    clusters = partial(sections.themes, article, vectors, temperature=temperature)
    themes = once("Clustering the sentences …", ("themes", *at, temperature), clusters)
    n, k = len(article.sentences), len(article.sections)
    said = RIBBON.format(n=n, means=100 * themes.kmeans.right, iclust=100 * themes.iclust.right)
    st.markdown(f"**{QUESTION}** {said}")
    alt = f"{n} sentences in {k} sections, and their clusters. {said}"
    frame.picture(figures.section_ribbon(themes, height=180), key="ribbon", alt=alt, rows=themes.rows)
    for column, found in zip(st.columns(2), (themes.kmeans, themes.iclust), strict=True):
        with column:
            st.markdown(f"**{found.name}**: {found.used} of {k} clusters")
            alt = f"A grid of {k} sections and clusters of {found.name}: the sentences of each section in each cluster."
            picture = figures.section_counts(themes, found, height=min(430, 90 + 34 * k))
            frame.picture(picture, key=f"counts-{found.name}", alt=alt, rows=themes.rows)
    with st.expander("Eight scores of the agreement"):
        measured = list(themes.figures())
        scores = [name for name in measured[0] if name not in ("algorithm", "clusters")]
        formats, heads = dict.fromkeys(scores, "%.3f"), {name: spoken(name) for name in scores}
        alt = "Agreement between clusters and sections, with one row for k-means and one for Iclust."
        frame.table(measured, alt, formats=formats, heads=heads)
        st.caption(". ".join(meaning(name) for name in scores if name in MEANINGS) + ".")
    choosing.show_code(CODE, chosen, opened, split=split, row=row, temperature=temperature)


CODE = """\
from labkit.figures import section_ribbon
from labkit.thematic.sections import sectioned, themes
article = sectioned(corpus.part({split!r}).articles[{row}])
clusters = themes(article, method.encode(list(article.sentences)), temperature={temperature})
print(clusters.kmeans.agreement, clusters.iclust.agreement, sep="\\n")
section_ribbon(clusters).show()
"""

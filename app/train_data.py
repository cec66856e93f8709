"""The Data view: the content of the chosen corpus, a table of all corpora, and templates for your own file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import cached
import choosing
import frame
import numpy as np
import pandas as pd
import streamlit as st
from keeping import once, room, tried

from labkit.corpora import CORPORA, Articles, Corpus, Groups, Labelled, Pairs
from labkit.corpora.records import SPLITS
from labkit.figure_names import meaning
from labkit.figures import similarity_histogram, similarity_scatter

VECTORS, SURPRISING = ("tfidf", "mean-vectors"), 12  # of a corpus of pairs: the vectors, and the pairs listed
IN_SIGHT = 260  # pixels of the rows
PERFECT = 0.9995  # rounds to 1.000
SHAPES = {  # of a corpus -> what a row is, and a file with the columns that labkit reads
    "Labelled": ("a sentence and its class", "text,label\nThe train was late.,travel\nThis soup needs salt.,food\n"),
    "Pairs": (
        "two sentences and whether they mean the same thing",
        "text_a,text_b,label\nHow old are you?,What is your age?,1\nHow old are you?,How are you?,0\n",
    ),
    "Groups": (
        "a sentence and the group of its paraphrases",
        "text,group\nA dog runs.,1\nA running dog.,1\nTwo men play chess.,2\nA game of chess.,2\n",
    ),
    "Triplets": (
        "a sentence, a similar one and a different one",
        "anchor,positive,negative\nHow old are you?,What is your age?,How are you?\n",
    ),
    "Sentences": ("a sentence", "text\nThe train was late.\nThis soup needs salt.\n"),
    "Articles": ("an article with its sections", ""),
}
WITHIN = "Compare scores only within a row. The gap to 1 is what training can still gain."
BASELINES = {  # the scores of a corpus -> their column and its help
    "chance": ("chance", f"Random vectors, on the test split. {WITHIN}"),
    "tfidf": ("TF-IDF", f"Weighted words, compared without training. {WITHIN}"),
    "mean_vectors": ("mean vectors", f"Mean word vectors, which learn nothing from labels. {WITHIN}"),
}


def show_data(opened: cached.Opened | None, to_train: Callable[[], None]) -> None:
    """The chosen corpus with some of its rows, on which `to_train` trains, and all corpora."""
    from labkit.baselines.difficulty import difficulty

    corpora = {name: cached.lab_corpus(name) for name, entry in CORPORA.items() if entry.kind == "embedded"}
    if opened is not None:
        show_chosen(opened, to_train)
        corpora = ({choosing.OWN: opened} if opened.own else {}) | corpora
    keys = {name: ("difficulty", each.key) for name, each in corpora.items()}
    measured = {name: room().value(key, lambda: None) for name, key in keys.items() if room().has(key)}
    show_corpora(corpora, measured)
    if opened is not None and isinstance(opened.corpus, Pairs):
        show_pairs(opened, opened.corpus)
    if missing := [name for name in corpora if name not in measured]:  # last: it takes seconds after a start
        for name in missing:
            tried("Measuring …", keys[name], partial(difficulty, corpora[name].corpus))
        st.rerun()
    mine = measured.get(choosing.OWN)
    if isinstance(mine, ValueError):  # a visitor's file may have no test split
        st.caption(frame.plain(f"{corpora[choosing.OWN].in_code} could not be measured: {mine}"))
    elif mine is not None and max(mine.tfidf, mine.mean_vectors) >= PERFECT:
        st.info("Methods that do not learn are already perfect on your file, so training cannot show a gain.")


def show_corpora(corpora: Mapping[str, cached.Opened], measured: Mapping[str, Any]) -> None:
    """The table of corpora, with the scores that are `measured`; the selected row is the corpus of the page."""
    names, rows = list(corpora), []
    for name, opened in corpora.items():
        what = choosing.OWN if opened.own else CORPORA[name].summary
        row = {"corpus": opened.in_code, "what it is": what, "rows": len(opened.corpus)}
        row |= {"classes": classes_of(opened.corpus), "measure": "–" if name in measured else "measuring …"}
        if hasattr(hard := measured.get(name), "measure"):
            row["measure"] = re.split(",| correlation| within", hard.measure)[0]
            row |= {head: getattr(hard, score) for score, (head, _) in BASELINES.items()}
        rows.append(row)
    chosen, column = st.session_state["corpus"], st.column_config
    st.markdown("**All corpora**: select a row to open one.")
    table = st.dataframe(
        rows,
        hide_index=True,
        key=f"corpora-{chosen if chosen in names else None}",  # a file that was removed has no row
        on_select="rerun",
        selection_mode="single-row",
        selection_default={"selection": {"rows": [names.index(chosen)] if chosen in names else []}},
        alt="All corpora, with their classes and the scores of methods that do not learn.",
        column_config={
            "corpus": column.Column(pinned=True),
            "rows": column.NumberColumn(format="localized"),
            "measure": column.Column(help=". ".join(map(meaning, ("hit@1", "knn_accuracy", "spearman"))) + "."),
            **{head: column.NumberColumn(help=about, format="%.2f") for head, about in BASELINES.values()},
        },
    )
    if (selected := [names[row] for row in table.selection.rows]) not in ([], [chosen]):
        choosing.choose_corpus(selected[0])
        st.rerun()


def classes_of(corpus: Corpus) -> str:
    """The classes, groups or scores of a corpus, with their smallest and largest size."""
    if isinstance(corpus, Pairs):
        same = sum(value > 0.5 for value in corpus.values)
        graded = f"scores from {min(corpus.values):g} to {max(corpus.values):g}"
        return graded if corpus.graded else f"{same:,} same meaning, {len(corpus) - same:,} not"
    if isinstance(corpus, Labelled):
        sizes, what, unit = [*Counter(corpus.labels).values()], "classes", " rows"
    elif isinstance(corpus, Groups):
        sizes, what, unit = [*Counter(corpus.groups).values()], "groups", ""
    elif isinstance(corpus, Articles):
        sizes, what, unit = [len(each.sections) for each in corpus.articles], "articles", " sections"
    else:
        return ""
    span = " to ".join(dict.fromkeys((str(min(sizes)), str(max(sizes)))))
    return f"{len(sizes):,} {what} of {span}{unit}"


# --- the chosen corpus -------------------------------------------------------------------------------------------


def show_chosen(opened: cached.Opened, to_train: Callable[[], None]) -> None:
    """The size of the corpus and some of its rows, a button to train on it, and templates for another file."""
    corpus = opened.corpus
    counts = ", ".join(f"{split} {corpus.splits.count(split):,}" for split in SPLITS if split in corpus.splits)
    what, name = SHAPES[type(corpus).__name__][0], frame.plain(opened.in_code)
    if isinstance(corpus, Pairs) and corpus.graded:
        what = "two sentences and how similar their meanings are"
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{name}**: {len(corpus):,} rows ({counts}); each is {what}.", width="stretch")
        icon = ":material/arrow_forward:"
        st.button("Train on it", type="primary", icon=icon, key="train-on-it", on_click=to_train)
    again = st.session_state.setdefault("draw", 0)
    table = st.container()
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button("Show other rows", icon=":material/shuffle:", key="other-rows", type="tertiary"):
            again = st.session_state["draw"] = again + 1
        with st.popover("Templates for your own data", icon=":material/table:", type="tertiary"):
            st.caption(
                "These files contain the columns that labkit reads. Upload your file above or drop it on this page."
            )
            for shape, (row, lines) in SHAPES.items():
                if lines:
                    key = f"template-{shape.lower()}"
                    frame.download(row.capitalize(), partial(str, lines), f"{key}.csv", "text/csv", key)
        rows = sorted(np.random.default_rng(again).choice(len(corpus), min(20, len(corpus)), replace=False).tolist())
        frame.code(ROWS_CODE.format(name=opened.in_code, rows=rows))
    shown = corpus.take(rows).rows()
    if isinstance(corpus, Articles):
        shown = (
            {
                "article": article.title,
                "sections": ", ".join(filter(None, (section.title for section in article.sections))),
                "first section": " ".join(text for section in article.sections[:1] for text in section.paragraphs),
            }
            for article in corpus.take(rows).articles
        )
    cells = [{name: frame.plain(str(value)) for name, value in row.items()} for row in shown]
    table.table(cells, hide_index=True, height=IN_SIGHT, alt="Twenty rows, spread over the corpus.")


def show_pairs(opened: cached.Opened, corpus: Pairs) -> None:
    """The cosine of each pair against its label or score, and the pairs on which the two disagree most."""
    names: Any = {"format_func": choosing.VECTORS.get, "horizontal": True, **frame.KEEP}
    vectors = st.radio("Cosines of its pairs", VECTORS, key="space", **names)
    space, known = choosing.fitted(opened, vectors), "scores" if corpus.graded else "labels"
    measure = partial(space.method.similarity_pairwise, corpus.text_a, corpus.text_b)
    cosine = once("Comparing the pairs …", ("pairs", space.key), measure)
    draw = similarity_scatter if corpus.graded else similarity_histogram
    rows = [row | {"cosine": float(value)} for row, value in zip(corpus.rows(), cosine, strict=True)]
    alt = f"The cosines of {len(corpus):,} pairs by {space.name} against the {known} of the corpus."
    frame.picture(draw(cosine, getattr(corpus, known)), key="pair-cosines", alt=alt, rows=lambda: rows)
    st.markdown(f"**Surprising pairs**: cosine and {known.removesuffix('s')} disagree most")
    by_cosine, by_value = (pd.Series(values).rank(pct=True) for values in (cosine, corpus.values))
    surprising = np.argsort(-(by_cosine - by_value).abs(), kind="stable")[:SURPRISING]
    frame.table(
        [rows[row] for row in surprising],
        "Pairs of sentences, with their label or score and their cosine.",
        formats={"cosine": "%.2f"},
    )
    choosing.show_code(PAIRS_CODE, space, opened, figure=draw.__name__, known=known)


PAIRS_CODE = """\
from labkit.figures import {figure}
cosine = method.similarity_pairwise(corpus.text_a, corpus.text_b)
{figure}(cosine, corpus.{known}).show()
"""
ROWS_CODE = """\
from labkit.corpora import load
from labkit.baselines.difficulty import difficulty

corpus = load({name!r})
print(list(corpus.take({rows}).rows()))
print(difficulty(corpus))
"""

"""The Data view: a table of all corpora, templates for your own file, and the content of the chosen corpus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import cached
import choosing
import frame
import numpy as np
import pandas as pd
import streamlit as st
from keeping import once, room

from labkit.corpora import CORPORA, Articles, Corpus, Groups, Labelled, Pairs
from labkit.corpora.records import SPLITS
from labkit.figures import similarity_histogram, similarity_scatter

VECTORS = {name: choosing.VECTORS[name] for name in ("tfidf", "mean-vectors")}
PAIRS, ROWS = "Pairs", "Rows"
BARS = 20  # classes of a histogram
PERFECT = 0.9995  # rounds to 1.000
SHAPES = {
    "Labelled": "a sentence and its class",
    "Pairs": "two sentences and whether they mean the same",
    "Triplets": "a sentence, a similar one and a different one",
    "Groups": "a sentence and the group of its paraphrases",
    "Sentences": "a sentence",
    "Articles": "an article with its sections",
}
TEMPLATES = {  # what a row is -> a file with the columns that labkit reads
    "a sentence and its class": "text,label\nThe train was late again.,travel\nThis soup needs salt.,food\n",
    "two sentences and whether they mean the same": "text_a,text_b,label\nHow old are you?,What is your age?,1\n"
    "How old are you?,How are you?,0\n",
    "a sentence and its group": "text,group\nA dog runs on the beach.,1\nA dog is running by the sea.,1\n"
    "Two men play chess.,2\nA game of chess between two men.,2\n",
    "a sentence, a similar one and a different one": "anchor,positive,negative\n"
    "How old are you?,What is your age?,How are you?\n",
    "sentences without labels": "text\nThe train was late again.\nThis soup needs salt.\n",
}
DIFFICULTY = ("chance", "TF-IDF", "mean word vectors")


def show_data(opened: cached.Opened | None, to_train: Callable[[], None]) -> None:
    """The corpora to choose from, and the chosen corpus, on which `to_train` trains."""
    corpora = {name: cached.lab_corpus(name) for name, entry in CORPORA.items() if entry.kind == "embedded"}
    if opened is not None and opened.own:
        corpora = {choosing.OWN: opened} | corpora
    left, right = st.columns([5, 3], gap="large")
    with left:
        table = st.empty()
        if not all(room().has(("difficulty", each.key)) for each in corpora.values()):
            fill(table, corpora, {}, key=None)
        with st.popover("Templates for your own data", icon=":material/table:", type="tertiary"):
            st.caption(
                "Each file has columns that labkit reads. Upload your own above, or drop it anywhere on this page."
            )
            for number, (row, lines) in enumerate(TEMPLATES.items()):
                file, key = f"template-{number + 1}.csv", f"template-{number}"
                frame.download(row.capitalize(), partial(str, lines), file, "text/csv", key)
    with right:
        if opened is not None:
            show_chosen(opened, to_train)
    if opened is not None:
        if isinstance(opened.corpus, Pairs) and frame.view([PAIRS, ROWS], "look") == PAIRS:
            show_pairs(opened, opened.corpus)
        else:
            show_some_rows(opened)
    measured = {}
    for name, each in corpora.items():  # last, because it takes seconds when the app has just started
        with suppress(ValueError):  # a visitor's file may have no test split
            measured[name] = difficulty_of(each)
    fill(table, corpora, measured, key="corpora")


def difficulty_of(opened: cached.Opened) -> Any:
    """The scores on a corpus of three methods that do not learn."""
    from labkit.baselines.difficulty import difficulty

    return once("Measuring …", ("difficulty", opened.key), lambda: difficulty(opened.corpus))


def fill(table: Any, corpora: Mapping[str, cached.Opened], difficulty: Mapping[str, Any], key: str | None) -> None:
    """The table of the corpora; without a key it cannot be clicked, and its difficulty is still being measured."""
    rows = []
    for name, opened in corpora.items():
        corpus, hard = opened.corpus, difficulty.get(name)
        measured = (hard.chance, hard.tfidf, hard.mean_vectors) if hard else (None,) * 3
        rows.append(
            {
                "corpus": opened.file.name if opened.file else name,
                "classes": histogram(corpus),
                "rows": len(corpus),
                "measured by": hard.measure.split(",")[0] if hard else "…",
                **dict(zip(DIFFICULTY, measured, strict=True)),
                "description": "your file" if opened.own else CORPORA[name].summary,
            }
        )
    sizes = "The largest classes. Pairs are counted by label or score, groups and articles by size."
    widths = {"corpus": 90, "rows": 62, "measured by": 130}
    table.dataframe(
        rows,
        key=key,
        hide_index=True,
        row_height=44,
        on_select=partial(choose_row, list(corpora)) if key else "ignore",
        selection_mode="single-cell",
        alt="The corpora with their rows, their classes, and the scores of three methods that do not learn.",
        column_config={
            "classes": st.column_config.BarChartColumn(help=sizes, width=90, y_min=0),
            **{name: st.column_config.Column(width=width) for name, width in widths.items()},
            **{name: st.column_config.NumberColumn(format="%.2f", width=max(76, 8 * len(name))) for name in DIFFICULTY},
        },
    )


def choose_row(names: Sequence[str]) -> None:
    """A row was chosen: its corpus is that of all places."""
    cells = st.session_state["corpora"].selection.cells
    if cells:
        choosing.choose_corpus(names[cells[0][0]])


def histogram(corpus: Corpus) -> list[int]:
    """How often the most frequent classes occur; for groups and articles, how many have each size."""
    if isinstance(corpus, Labelled):
        return [count for _, count in Counter(corpus.labels).most_common(BARS)]
    if isinstance(corpus, Pairs) and corpus.graded:
        return np.histogram(corpus.values, 10)[0].tolist()
    if isinstance(corpus, Pairs):
        sizes = Counter(corpus.values)
    elif isinstance(corpus, Groups):
        sizes = Counter(Counter(corpus.groups).values())
    else:
        sizes = Counter(len(article.sections) for article in corpus.articles) if isinstance(corpus, Articles) else {}
    return [sizes[size] for size in sorted(sizes)]


# --- the chosen corpus -------------------------------------------------------------------------------------------


def show_chosen(opened: cached.Opened, to_train: Callable[[], None]) -> None:
    """The corpus, its difficulty, and a button to train on it."""
    corpus = opened.corpus
    name = opened.file.name if opened.file else corpus.name
    st.markdown(f"#### {frame.plain(name)}")
    counts = ", ".join(f"{split} {corpus.splits.count(split):,}" for split in SPLITS if split in corpus.splits)
    st.markdown(f"{len(corpus):,} rows ({counts}). Each row is {SHAPES[type(corpus).__name__]}.")
    st.button("Train on it", type="primary", icon=":material/arrow_forward:", key="train-on-it", on_click=to_train)
    try:
        difficulty = difficulty_of(opened)
    except ValueError as reason:  # a visitor's file may have no test split
        st.caption(f"The difficulty of this corpus could not be measured: {frame.plain(str(reason))}")
        return
    measured = (difficulty.chance, difficulty.tfidf, difficulty.mean_vectors)
    for column, label, value in zip(st.columns(3), DIFFICULTY, measured, strict=True):
        column.metric(label, f"{value:.3f}")
    if max(measured[1:]) >= PERFECT:
        st.info("Methods that do not learn already reach 1 on this corpus, so training cannot improve on them.")
    st.caption(
        f"{difficulty.measure} on the test split, without training. Learning can close the gap to the maximum, 1."
    )


def show_pairs(opened: cached.Opened, corpus: Pairs) -> None:
    """Cosine against label or score, and the pairs on which they disagree most."""
    vectors = st.radio(
        "Vectors", list(VECTORS), format_func=VECTORS.__getitem__, horizontal=True, key="space", **frame.KEEP
    )
    method = cached.fitted_method(opened, vectors)
    measure = partial(method.similarity_pairwise, corpus.text_a, corpus.text_b)
    cosine = once("Comparing the pairs …", ("pairs", opened.key, vectors), measure)
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
        st.caption(f"Mean cosine: {same:.2f} for pairs that mean the same, {other:.2f} for those that do not.")
        surprising = np.where(corpus.labels == 1, -cosine, cosine)
    choosing.show_code(PAIRS_CODE, choosing.fitted(opened, vectors), opened, figure=draw.__name__, known=known)
    st.markdown(f"**Pairs for which cosine and {known.removesuffix('s')} disagree most**")
    for i in np.argsort(-surprising, kind="stable")[:12].tolist():
        same_or_not = "the same" if corpus.values[i] else "not the same"
        value = f"score {corpus.values[i]:.1f}" if corpus.graded else f"label: {same_or_not}"
        with st.container(border=True):
            for text in (corpus.text_a[i], corpus.text_b[i], f"— {value}; cosine {cosine[i]:.2f}"):
                st.text(text)


def show_some_rows(opened: cached.Opened) -> None:
    """Twenty rows of the corpus, drawn at random."""
    corpus = opened.corpus
    again = st.session_state.setdefault("draw", 0)
    if st.button("Show other rows", icon=":material/shuffle:", key="other-rows"):
        again = st.session_state["draw"] = again + 1
    rows = sorted(np.random.default_rng(again).choice(len(corpus), min(20, len(corpus)), replace=False).tolist())
    if isinstance(corpus, Articles):
        article = corpus.articles[rows[0]]
        st.markdown(f"#### {frame.plain(article.title)}")
        for section in article.sections:
            if section.title:
                st.markdown(f"**{frame.plain(section.title)}**")
            for paragraph in section.paragraphs:
                st.text(paragraph)
    else:
        frame.table(corpus.take(rows).rows(), "Twenty rows of the corpus, drawn at random.")
    frame.code(ROWS_CODE.format(name=opened.in_code, rows=rows))


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

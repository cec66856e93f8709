"""The Data view: the content of the chosen corpus, a table of all corpora, and templates for your own file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
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

BARS = "▁▂▃▄▅▆▇█"
MOST = 13  # bars of a corpus
VECTORS, SURPRISING = ("tfidf", "mean-vectors"), 12  # of a corpus of pairs: the vectors, and the pairs listed
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
DIFFICULTY = ("chance", "TF-IDF", "mean word vectors")
READ = (
    "Scores of methods that do not learn, on the test split. Each row names its own measure, so compare scores "
    "only within a row. Scores range from chance to 1, and the gap to 1 is what training can still gain. Bars show the "
    "sizes of the largest classes. TF-IDF compares weighted words. "
) + ". ".join(map(meaning, ("hit@1", "knn_accuracy", "spearman", "")))


def show_data(opened: cached.Opened | None, to_train: Callable[[], None]) -> None:
    """The chosen corpus, on which `to_train` trains, all corpora, and some rows."""
    from labkit.baselines.difficulty import difficulty

    corpora = {name: cached.lab_corpus(name) for name, entry in CORPORA.items() if entry.kind == "embedded"}
    if opened is not None:
        show_chosen(opened, to_train)
        corpora = ({choosing.OWN: opened} if opened.own else {}) | corpora
    table = st.empty()
    keys = {name: ("difficulty", each.key) for name, each in corpora.items()}
    measured = {name: room().value(key, lambda: None) for name, key in keys.items() if room().has(key)}
    fill(table, corpora, measured)
    with st.container(horizontal=True, gap="xsmall", key="choose"):
        for name, each in corpora.items():
            label = f"Open **{frame.plain(each.in_code)}**"
            st.button(label, key=f"choose-{name}", type="tertiary", on_click=choosing.choose_corpus, args=(name,))
    st.caption(READ)
    if opened is not None:
        if isinstance(opened.corpus, Pairs):
            show_pairs(opened, opened.corpus)
        show_some_rows(opened)
    for name in [name for name in corpora if name not in measured]:  # last: it takes seconds when the app has started
        measured[name] = tried("Measuring …", keys[name], partial(difficulty, corpora[name].corpus))
        fill(table, corpora, measured)
    mine = measured.get(choosing.OWN)
    if isinstance(mine, ValueError):  # a visitor's file may have no test split
        st.caption(frame.plain(f"{corpora[choosing.OWN].in_code} could not be measured: {mine}"))
    elif mine is not None and max(mine.tfidf, mine.mean_vectors) >= PERFECT:
        st.info("Methods that do not learn are already perfect on your file, so training cannot show a gain.")


def fill(table: Any, corpora: Mapping[str, cached.Opened], measured: Mapping[str, Any]) -> None:
    """The table of the corpora, as text that wraps and grows with the page."""
    rows = []
    for name, opened in corpora.items():
        hard = None if isinstance(measured.get(name), ValueError) else measured.get(name)
        scores = (hard.chance, hard.tfidf, hard.mean_vectors) if hard else ("", "", "")
        rows.append(
            {
                "corpus": f"**{frame.plain(opened.in_code)}**",
                "what it is": choosing.OWN if opened.own else CORPORA[name].summary,
                "rows": f"{len(opened.corpus):,}",
                "classes": classes_of(opened.corpus),
                "measure": hard.measure.split(",")[0] if hard else "–" if name in measured else "measuring …",
                **{each: f"{score:.2f}" if hard else "" for each, score in zip(DIFFICULTY, scores, strict=True)},
            }
        )
    alt = "The corpora: rows, classes, and the scores of three methods that do not learn."
    table.table(rows, border="horizontal", alt=alt)


def classes_of(corpus: Corpus) -> str:
    """The classes of a corpus as bars and words; for pairs their labels or scores, for groups and articles sizes."""
    if isinstance(corpus, Labelled):
        sizes = [count for _, count in Counter(corpus.labels).most_common()]
        said = f"{len(sizes)} classes of {span(sizes)} rows"
    elif isinstance(corpus, Pairs) and corpus.graded:
        sizes = np.histogram(corpus.values, 10)[0].tolist()
        said = f"scores from {min(corpus.values):g} to {max(corpus.values):g}"
    elif isinstance(corpus, Pairs):
        sizes = [int((np.asarray(corpus.values) == value).sum()) for value in (1, 0)]
        said = f"{sizes[0]:,} with the same meaning, {sizes[1]:,} without"
    elif isinstance(corpus, Groups | Articles):
        groups = isinstance(corpus, Groups)
        own = [*Counter(corpus.groups).values()] if groups else [len(each.sections) for each in corpus.articles]
        counts = Counter(own)
        sizes = [counts[size] for size in sorted(counts)]
        said = f"{len(own):,} groups of {span(own)}" if groups else f"{len(own):,} articles of {span(own)} sections"
    else:
        return ""
    bars = "".join(BARS[round((len(BARS) - 1) * size / max(sizes))] for size in sizes[:MOST])
    return f":gray[{bars}] {said}"


def span(sizes: Sequence[int]) -> str:
    """The smallest and the largest size, or the only one."""
    return " to ".join(dict.fromkeys((str(min(sizes)), str(max(sizes)))))


# --- the chosen corpus -------------------------------------------------------------------------------------------


def show_chosen(opened: cached.Opened, to_train: Callable[[], None]) -> None:
    """The size of the corpus, a button to train on it, and templates for another file."""
    corpus = opened.corpus
    counts = ", ".join(f"{split} {corpus.splits.count(split):,}" for split in SPLITS if split in corpus.splits)
    what, name = SHAPES[type(corpus).__name__][0], frame.plain(opened.in_code)
    st.markdown(f"**{name}**: {len(corpus):,} rows ({counts}); each is {what}.")
    with st.container(horizontal=True, vertical_alignment="center"):
        icon = ":material/arrow_forward:"
        st.button("Train on it", type="primary", icon=icon, key="train-on-it", on_click=to_train)
        with st.popover("Templates for your own data", icon=":material/table:", type="tertiary"):
            st.caption(
                "These files contain the columns that labkit reads. Upload your file above or drop it on this page."
            )
            for shape, (row, lines) in SHAPES.items():
                if lines:
                    name = f"template-{shape.lower()}"
                    frame.download(row.capitalize(), partial(str, lines), f"{name}.csv", "text/csv", name)


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


def show_some_rows(opened: cached.Opened) -> None:
    """Twenty rows of the corpus, drawn at random."""
    corpus = opened.corpus
    again = st.session_state.setdefault("draw", 0)
    if st.button("Show other rows", icon=":material/shuffle:", key="other-rows"):
        again = st.session_state["draw"] = again + 1
    rows = sorted(np.random.default_rng(again).choice(len(corpus), min(20, len(corpus)), replace=False).tolist())
    shown = corpus.take(rows).rows()
    if isinstance(corpus, Articles):
        shown = [
            {"article": article.title, "section": section.title, "text": text}
            for article in corpus.take(rows).articles
            for section in article.sections
            for text in section.paragraphs
        ]
    frame.table(shown, "Twenty rows, spread over the corpus.")
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

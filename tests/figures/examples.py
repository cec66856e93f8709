"""Records for figures, each with a sentence that must not become markup, and the texts of a figure."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from labkit import figures
from labkit.corpora import Article, Pairs, Section
from labkit.pthought.view import Companions, companions
from labkit.sbert_lp.sweeps import Point, Tried, compared
from labkit.sbert_lp.view import Around, Changed, Spoke, changed
from labkit.thematic.method import Attended
from labkit.thematic.sections import Themes, sectioned, themes

EVIL = "<b onclick=x>bad</b> <img src=//a>"


def an_around() -> Around:
    before = (Spoke(3, EVIL, 1, 0.9, 0.8, True), Spoke(5, "five", 2, 0.1, 0.5, False))
    after = (Spoke(3, EVIL, 1, 1.2, 0.99, True), Spoke(9, "nine", 2, -0.2, -0.1, False))
    return Around(0, EVIL, before, after)


def a_try() -> Tried:
    points = (
        Point("raw", 0.5), Point("pca", 0.52, 8), Point("pca", 0.54, 16), Point("whitening", 0.4, 8),
        Point("all-but-the-top", 0.51, 1), Point("lp", 0.3, 8, 5), Point("lp", 0.45, 16, 5), Point("lp", 0.47, 8, 10),
    )  # fmt: skip
    chosen = (points[0], points[2], points[3], points[4], points[7])
    return Tried("Hit@1", points, chosen, (0.5, 0.51, 0.52, 0.53, 0.44), 0.02)


def a_change() -> Changed:
    told = compared(Pairs([EVIL, "c", "e"], ["b", "d", "f"], [5, 3, 1], graded=True), split="train")
    random = np.random.default_rng(3)
    return changed(told, random.standard_normal((6, 3)), random.standard_normal((6, 3)))


def some_companions() -> Companions:
    return companions(np.random.default_rng(0).standard_normal((8, 4)), [0, 0, 1, 1, 2, 2, 3, 3])


def some_themes() -> Themes:
    paragraphs = [(f"{EVIL} has quite a few words {number}.", "Another one has words as well.") for number in range(5)]
    sections = [Section(f"{EVIL} {number}", texts) for number, texts in enumerate(paragraphs)]
    told = sectioned(Article(EVIL, (Section("", ("Lead.",)), *sections)))
    vectors = np.eye(5)[told.truth] + 0.01 * np.random.default_rng(0).standard_normal((len(told.truth), 5))
    vectors[1] = vectors[8]
    return themes(told, vectors)


def attended() -> Attended:
    weights = np.array([0.25, 0.25, 0.5], np.float32)
    return Attended((EVIL, "the", "word"), weights, np.array([0.7, 0.1, 0.2], np.float32))


ALL = {
    "star before": lambda: figures.star(an_around(), "before"),
    "star after": lambda: figures.star(an_around(), "after"),
    "tried": lambda: figures.tried_curves(a_try()),
    "chosen": lambda: figures.chosen_bars(a_try()),
    "counts": lambda: figures.order_counts(a_change()),
    "hills": lambda: figures.coherence_hills(some_companions()),
    "ribbon": lambda: figures.section_ribbon(some_themes()),
    "section counts": lambda: figures.section_counts(some_themes(), some_themes().kmeans),
    "attention": lambda: figures.attention_bars(attended()),
}


def texts_of(value: object) -> Iterator[str]:
    """All texts of a figure, at any depth."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from texts_of(inner)
    elif isinstance(value, (list, tuple, np.ndarray)):
        for inner in value:
            yield from texts_of(inner)

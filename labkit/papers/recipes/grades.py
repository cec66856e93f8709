"""Grades of relatedness: the similarity against them, year by year, or grades learned from two vectors."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from labkit.corpora import Corpus, Pairs
from labkit.corpora.classes import linked
from labkit.evaluation import Parts, correlation, correlation_by, correlation_parts, relatedness
from labkit.methods import Method
from labkit.methods.contract import unit
from labkit.papers.case import Case
from labkit.papers.recipes.sections import fitted
from labkit.papers.records import Outcome

DRAWN = 400  # pairs in a picture


def learned_grades(case: Case) -> Outcome:
    """Grades learned from |u - v| and u · v (section 5.2 of the thematic paper, 5.3 of P-thought); the cosine beside.

    The method is trained on `case.also` where there is such a corpus, else on the training pairs themselves.
    """
    train, test = (graded(case.corpus, split) for split in ("train", "test"))
    method = fitted(case)
    scale = range(math.floor(min(train.values)), math.ceil(max(train.values)) + 1)
    sides = [method.encode(list(texts)) for part in (train, test) for texts in (part.text_a, part.text_b)]
    found = relatedness(sides[0], sides[1], train.scores, sides[2], sides[3], test.scores, grades=scale)
    cosines, units = _cosines(sides[2], sides[3]), linked(test)
    parts = correlation_parts(found.predicted, test.scores, units)
    parts["mse"] = Parts.by(units, (found.predicted - test.scores) ** 2)
    parts |= {f"cosine {name}": each for name, each in correlation_parts(cosines, test.scores, units).items()}
    plain = correlation(cosines, test.scores)
    figures = {"pearson": found.pearson, "spearman": found.spearman, "mse": found.mse}
    return Outcome(figures | {"cosine pearson": plain.pearson, "cosine spearman": plain.spearman}, parts=parts)


def grades_by_year(case: Case) -> Outcome:
    """Pearson and Spearman of the method's own similarity; `spearman 2012` and so on where pairs have a year."""
    test = graded(case.corpus, "test")
    scores = _similarities(case.fitted(learnable(case.corpus)), test)
    found = correlation(scores, test.scores)
    figures = {"pearson": found.pearson, "spearman": found.spearman}
    if "year" in test.extra:
        years = correlation_by(scores, test.scores, [str(year) for year in test.extra["year"]])
        figures |= {f"spearman {year}": found.spearman for year, found in years.items()}
    return Outcome(figures, parts=correlation_parts(scores, test.scores, linked(test)))


def graded_points(case: Case) -> Outcome:
    """The cosine of test pairs against their grades, as points; Pearson's correlation of grades learned from both."""
    figures = learned_grades(case).figures
    test = graded(case.corpus, "test")
    cosines = _similarities(case.fitted(next(iter(case.also.values()), None)), test)
    drawn = np.random.default_rng(case.seed).permutation(len(test))[:DRAWN]
    return Outcome(figures, tuple(("pair", float(cosines[row]), float(test.scores[row])) for row in drawn))


def learnable(corpus: Corpus) -> Corpus:
    """The corpus; where it has no training split, its scored sentences, without their grades, are what is learned
    from."""
    return corpus if "train" in corpus.splits else replace(corpus, splits=("train",) * len(corpus))


def graded(corpus: Corpus, split: str) -> Pairs:
    part = corpus.part(split)
    if not isinstance(part, Pairs) or not part.graded:
        raise ValueError(f"corpus {corpus.name!r} has no grades, expected pairs with a score; take another data set")
    return part


def _similarities(method: Method, pairs: Pairs) -> np.ndarray:
    rows = method.encode([*pairs.text_a, *pairs.text_b])
    return np.asarray(method.pairwise_similarity(rows[: len(pairs)], rows[len(pairs) :]), np.float64)


def _cosines(a: Any, b: Any) -> np.ndarray:
    products = unit(a).multiply(unit(b)) if hasattr(a, "multiply") else unit(a) * unit(b)
    return np.asarray(products.sum(axis=1), np.float64).ravel()

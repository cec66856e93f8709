"""FILM: its descent step by step, the rule of mutual neighbours over k, what a row of L holds, and what it costs."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from labkit.corpora import Corpus, Pairs
from labkit.film.pairwise_knn import MOST, Curves, curves, hard_log_loss, mutual_ranks, two_level
from labkit.methods import Method
from labkit.methods.film import Film
from labkit.papers.case import Case
from labkit.papers.records import Outcome
from labkit.scores import called_parts, score

PAPERS_K = 36


def descent(case: Case) -> Outcome:
    """`7 objective` and `7 gradient` of each step; the last step stands for those that were not needed."""
    rows = [row for row in case.fitted().history.rows if "objective" in row]
    found: dict[str, float] = {}
    for step in range(1, int(case.settings["iterations"]) + 1):
        row = rows[min(step, len(rows) - 1)]
        found |= {f"{step} objective": row["objective"], f"{step} gradient": row["stationarity"]}
    return Outcome(found)


def neighbour_curves(case: Case) -> Outcome:
    """`5 tpr` and so on for k = 5: rates and log losses on test; yes and no get their shares of duplicates from dev."""
    method = case.fitted()
    dev, test = (_curves(method, case.corpus.part(split)) for split in ("dev", "test"))
    columns = {name: getattr(test, name) for name in ("tpr", "tnr", "fpr", "fnr")}
    columns |= {"two-level": two_level(dev, test), "hard": hard_log_loss(test)}
    return Outcome(
        {f"{k} {name}": float(values[k - 1]) for name, values in columns.items() for k in range(1, MOST + 1)}
    )


def _curves(method: Method, part: Corpus) -> Curves:
    """The rates among all sentences of the split."""
    assert isinstance(part, Pairs)
    return curves(_ranks(method, part), part.labels)


def _ranks(method: Method, part: Pairs) -> np.ndarray:
    """How far down each other's list of neighbours two sentences stand, the worse of both, (n,)."""
    texts = part.sentences()
    number = {text: row for row, text in enumerate(texts)}
    pairs = np.array([(number[a], number[b]) for a, b in zip(part.text_a, part.text_b, strict=True)])
    return mutual_ranks(method.encode(texts), pairs)


def mutual_neighbours(case: Case) -> Outcome:
    """The paper's own rule: two sentences are the same if each is among the other's 36 nearest (section 4)."""
    test = case.corpus.part("test")
    assert isinstance(test, Pairs)
    parts = called_parts(_ranks(case.fitted(), test) <= PAPERS_K, test)
    return Outcome({name: found.figure for name, found in parts.items()}, parts=parts)


def readable_rows(case: Case) -> Outcome:
    """How few words carry a row of L (each word by `L · rms of its TF-IDF`), and how well the row returns on refitting.

    `half`: the fewest words whose squares add up to half; `ten`: what the largest ten add up to.
    """
    method = case.fitted()
    assert isinstance(method, Film)
    stability = method.measure_stability(case.corpus, rounds=2, seed=case.seed)
    squares = np.sort((method.L.astype(np.float64) * method.words.rms) ** 2, axis=1)[:, ::-1]
    shares = np.cumsum(squares, axis=1) / squares.sum(axis=1, keepdims=True)
    half, ten = (shares < 0.5).sum(axis=1) + 1, shares[:, min(9, shares.shape[1] - 1)]
    first = {"half": float(half[0]), "ten": float(ten[0]), "stability": float(stability[0])}
    means = {"all half": float(half.mean()), "all ten": float(ten.mean()), "all stability": float(stability.mean())}
    return Outcome(first | means)


def cost_of_training(case: Case) -> Outcome:
    """CPU minutes of a training that is taken from nowhere, and its accuracy."""
    start = time.process_time()
    method = replace(case, runs=None, memory={}).fitted()
    minutes = (time.process_time() - start) / 60
    return Outcome({"minutes": minutes, "accuracy": score(method, case.corpus).figures["accuracy"]})

"""Notebook 08: each check takes the right answer in every form and names typical wrong ones."""

from __future__ import annotations

import math

import numpy as np
import torch
from scipy import sparse

from labkit.corpora import load
from labkit.text import words
from labkit.vectors import ppmi, ppmi_vectors
from tests.lab.course.exercises.judging import *  # noqa: F403 (the tests that all notebooks share)


def unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def ratio(counts: np.ndarray) -> np.ndarray:
    share = counts / counts.sum()
    return share / (share.sum(1, keepdims=True) * share.sum(0, keepdims=True))


def log(values: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return np.log(values)


def ppmi_by_loops(counts):  # type: ignore[no-untyped-def]
    n, total = len(counts), counts.sum()
    found = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            if counts[i, j]:
                value = math.log(counts[i, j] * total / (counts[i].sum() * counts[:, j].sum()))
                found[i][j] = max(0.0, value)
    return found


def divided_in_place(counts):  # type: ignore[no-untyped-def]
    counts /= counts.sum()
    return np.maximum(0, log(counts / (counts.sum(1, keepdims=True) * counts.sum(0, keepdims=True))))


def nearest(rows, word, scores, own=-np.inf):  # type: ignore[no-untyped-def]
    scores = scores.copy()
    scores[word] = own
    return int(scores.argmax())


def nearest_by_loops(rows, word):  # type: ignore[no-untyped-def]
    def cosine(other):  # type: ignore[no-untyped-def]
        return rows[word] @ rows[other] / np.linalg.norm(rows[other])

    return max((other for other in range(len(rows)) if other != word), key=cosine)


def scaled_in_place(rows, word):  # type: ignore[no-untyped-def]
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return nearest(rows, word, rows @ rows[word])


def known(sentence, table):  # type: ignore[no-untyped-def]
    return [table[word] for word in sentence if word in table] or [np.zeros(len(table["a"]))]


def mean_by_loops(sentence, table):  # type: ignore[no-untyped-def]
    total, count = [0.0] * len(table["a"]), 0
    for word in sentence:
        if word in table:
            total = [t + v for t, v in zip(total, table[word], strict=True)]
            count += 1
    return [t / count for t in total] if count else total


def emptied(sentence, table):  # type: ignore[no-untyped-def]
    found = known(sentence, table)
    sentence.clear()
    return np.mean(found, 0)


RIGHT = {
    "08.1": [1.0, 1, np.array([1.0])],
    "08.2": [
        lambda counts: np.maximum(0, log(ratio(counts))),
        ppmi_by_loops,
        lambda counts: torch.clamp(torch.log(torch.tensor(ratio(counts))), min=0),
        lambda counts: sparse.csr_array(np.maximum(0, log(ratio(counts)))),
        lambda counts: np.where(ratio(counts) > 1, log(ratio(counts)), 0),
    ],
    "08.3": [
        lambda rows, word: nearest(rows, word, unit(rows) @ unit(rows)[word]),
        nearest_by_loops,
        lambda rows, word: [nearest(rows, word, unit(rows) @ rows[word], -9)],
    ],
    "08.4": [
        lambda sentence, table: np.mean(known(sentence, table), 0),
        mean_by_loops,
        lambda sentence, table: torch.tensor(np.array(known(sentence, table))).mean(0),
        lambda sentence, table: sum(known(sentence, table)) / len(known(sentence, table)),
    ],
    "08.5": ["One detail changed ", "[one detail changed]", ["one detail changed"], "'one detail changed'."],
}  # fmt: skip
WRONG = {
    "08.1": [
        (2, "each meeting counts 1/2"),
        (0.5, "they meet twice"),
        (4, "not t"),
        (3, "no 'sleeps'"),
        (1.5, "two sentences, not three"),
        (0, "side by side"),
        (2 / 3, "two words after"),
        (0.25, "two such meetings"),
        (7, "count the meetings"),
        ("twice", "numbers were expected"),
    ],
    "08.2": [
        (lambda counts: log(ratio(counts)), "never meet"),
        (lambda counts: np.nan_to_num(log(ratio(counts)), neginf=0.0), "negative values"),
        (lambda counts: ratio(counts), "logarithm is missing"),
        (lambda counts: np.maximum(0, log(ratio(counts))) / np.log(2), "base 2"),
        (lambda counts: np.maximum(0, np.log10(np.maximum(ratio(counts), 1e-9))), "base 10"),
        (lambda counts: np.log1p(counts), "divide by what chance"),
        (lambda counts: np.maximum(0, log(counts / counts.sum(1, keepdims=True))), "above chance"),
        (lambda counts: np.maximum(0, log(counts / counts.sum())), "above chance"),
        (lambda counts: np.minimum(0, log(ratio(counts))), "the minimum with 0"),
        (lambda counts: abs(np.nan_to_num(log(ratio(counts)), neginf=0)), "turned round"),
        (lambda counts: np.maximum(0, log(ratio(counts))) * counts / counts.sum(), "weighted by p(i, j)"),
        (lambda counts: ppmi(sparse.csr_array(counts)).toarray(), "power 0.75"),
        (lambda counts: np.log1p(ratio(counts)), "log(1 + x)"),
        (lambda counts: (ratio(counts) > 1).astype(float), "not only whether"),
        (divided_in_place, "changes counts itself"),
    ],
    "08.3": [
        (lambda rows, word: int((unit(rows) @ unit(rows)[word]).argmax()), "leave it out"),
        (lambda rows, word: nearest(rows, word, rows @ rows[word]), "long vectors win"),
        (lambda rows, word: nearest(rows, word, -np.linalg.norm(rows - rows[word], axis=1)), "smallest distance"),
        (lambda rows, word: nearest(rows, word, unit(rows) @ unit(rows)[word], 0), "not low enough"),
        (lambda rows, word: nearest(rows, word, -unit(rows) @ unit(rows)[word]), "farthest"),
        (lambda rows, word: nearest(rows, word, abs(unit(rows) @ unit(rows)[word])), "opposites"),
        (lambda rows, word: np.argsort(unit(rows) @ unit(rows)[word])[-3], "second nearest"),
        (lambda rows, word: np.argsort(unit(rows) @ unit(rows)[word])[-2], "has a twin"),
        (lambda rows, word: np.argsort(-unit(rows) @ unit(rows)[word])[1], "has a twin"),
        (lambda rows, word: (lambda each: np.where(each > 0.999, -1, each))(unit(rows) @ unit(rows)[word]).argmax(),
         "expected"),
        (lambda rows, word: np.delete(unit(rows) @ unit(rows)[word], word).argmax(), "move up by one"),
        (lambda rows, word: np.sort(unit(rows) @ unit(rows)[word])[-2], "that is the cosine"),
        (lambda rows, word: nearest(rows, word, unit(rows.T).T @ unit(rows.T).T[word]), "columns"),
        (lambda rows, word: nearest(rows, word, np.corrcoef(rows)[word]), "correlation"),
        (lambda rows, word: 2, "whatever rows is"),
        (scaled_in_place, "changes rows itself"),
    ],
    "08.4": [
        (lambda sentence, table: np.mean(known(" ".join(sentence), table), 0), "expected"),
        (lambda sentence, table: np.mean(known([word.lower() for word in sentence], table), 0), "expected"),
        (lambda sentence, table: np.sum(known(sentence, table), 0), "the sum"),
        (lambda sentence, table: np.sum(known(sentence, table), 0) / max(1, len(sentence)), "no part of the mean"),
        (lambda sentence, table: np.mean(known(sorted(set(sentence)), table), 0), "twice counts twice"),
        (lambda sentence, table: known(sentence, table)[0], "first word"),
        (lambda sentence, table: known(sentence, table)[-1], "last word"),
        (lambda sentence, table: np.median(known(sentence, table), 0), "median"),
        (lambda sentence, table: np.max(known(sentence, table), 0), "largest of each number"),
        (lambda sentence, table: np.mean([v / (v @ v or 1) ** 0.5 for v in known(sentence, table)], 0), "length first"),
        (lambda sentence, table: np.mean(list(table.values()), 0), "whole table"),
        (lambda sentence, table: np.mean([table[word] for word in sentence], 0), "KeyError"),
        (lambda sentence, table: np.mean(known(sentence, table), 0) if set(sentence) & set(table) else np.zeros(2),
         "whatever their length"),
        (lambda sentence, table: (np.mean(known(sentence, table), 0) if set(sentence) & set(table)
                                  else table["a"] * np.nan),
         "yours is nan"),
        (lambda sentence, table: np.ones(2), "whatever sentence is"),
        (emptied, "changes sentence itself"),
    ],
    "08.5": [
        ("reworded", "are the same"),
        ("same words, other intent", "second"),
        ("same field", "two of the kinds"),
        ("same topic", "two of the kinds"),
        ("cats", "as it is written"),
        (0.82, "in quotation marks"),
    ],
}  # fmt: skip


def test_the_kind_that_fools_a_mean_is_measured() -> None:
    questions = load("questions")
    vectors = ppmi_vectors([words(text) for text in questions.part("train").sentences()], dimension=100)
    test = questions.part("test")
    a, b = (unit(vectors.mean(texts)) for texts in (test.text_a, test.text_b))
    kinds, cosine = np.array(test.extra["kind"]), (a * b).sum(1)
    means = {kind: cosine[kinds == kind].mean() for kind in set(kinds[test.labels == 0].tolist())}
    assert max(means, key=means.get) == "one detail changed"  # type: ignore[arg-type]

"""Notebook 08: each look takes the right answer and names typical wrong ones."""

from __future__ import annotations

import numpy as np
import pytest

from labkit.check.exercise import judge
from labkit.check.lessons import exercise
from labkit.corpora import load
from labkit.text import words
from labkit.vectors import ppmi_vectors


def unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def ratio(counts: np.ndarray) -> np.ndarray:
    share = counts / counts.sum()
    return share / (share.sum(1, keepdims=True) * share.sum(0, keepdims=True))


def log(values: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return np.log(values)


def nearest(rows, word, scores):  # type: ignore[no-untyped-def]
    scores[word] = -np.inf
    return int(scores.argmax())


def known(sentence, table):  # type: ignore[no-untyped-def]
    return [table[word] for word in sentence if word in table] or [np.zeros(2)]


RIGHT = {
    "08.1": 1.0,
    "08.2": lambda counts: np.maximum(0, log(ratio(counts))),
    "08.3": lambda rows, word: nearest(rows, word, unit(rows) @ unit(rows)[word]),
    "08.4": lambda sentence, table: np.mean(known(sentence, table), 0),
    "08.5": "One detail changed ",
}
WRONG = [
    ("08.1", 2, "each meeting counts 1/2"),
    ("08.1", 0.5, "two of the three"),
    ("08.1", 4, "not t"),
    ("08.2", lambda counts: log(ratio(counts)), "never meet"),
    ("08.2", lambda counts: np.nan_to_num(log(ratio(counts)), neginf=0.0), "negative values"),
    ("08.2", lambda counts: ratio(counts), "logarithm is missing"),
    ("08.2", lambda counts: np.maximum(0, log(ratio(counts))) / np.log(2), "base 2"),
    ("08.2", lambda counts: np.log1p(counts), "divide by what chance"),
    ("08.3", lambda rows, word: int((unit(rows) @ unit(rows)[word]).argmax()), "leave it out"),
    ("08.3", lambda rows, word: nearest(rows, word, rows @ rows[word]), "long vectors win"),
    ("08.3", lambda rows, word: nearest(rows, word, -np.linalg.norm(rows - rows[word], axis=1)), "smallest distance"),
    ("08.4", lambda sentence, table: np.sum(known(sentence, table), 0), "the sum"),
    ("08.4", lambda sentence, table: np.sum(known(sentence, table), 0) / len(sentence), "no part of the mean"),
    ("08.4", lambda sentence, table: np.mean(known(sorted(set(sentence)), table), 0), "twice counts twice"),
    ("08.4", lambda sentence, table: np.ones(2), "for the sentence 'a b'"),
    ("08.5", "reworded", "are the same"),
    ("08.5", "same words, other intent", "second"),
    ("08.5", "cats", "as it is written"),
]


@pytest.mark.parametrize("key", RIGHT)
def test_the_right_answer_is_taken(key: str) -> None:
    found = judge(exercise(key), RIGHT[key])
    assert found.right, found.says


@pytest.mark.parametrize(("key", "given", "word"), WRONG)
def test_a_wrong_answer_is_named(key: str, given, word: str) -> None:  # type: ignore[no-untyped-def]
    found = judge(exercise(key), given)
    assert not found.right
    assert word in found.says


def test_each_exercise_has_three_wrong_answers() -> None:
    assert all(sum(key == each for each, *_ in WRONG) >= 3 for key in RIGHT)


def test_the_kind_that_fools_a_mean_is_measured() -> None:
    questions = load("questions")
    vectors = ppmi_vectors([words(text) for text in questions.part("train").sentences()], dimension=100)
    test = questions.part("test")
    a, b = (unit(vectors.mean(texts)) for texts in (test.text_a, test.text_b))
    kinds, cosine = np.array(test.extra["kind"]), (a * b).sum(1)
    means = {kind: cosine[kinds == kind].mean() for kind in set(kinds[test.labels == 0].tolist())}
    assert max(means, key=means.get) == "one detail changed"  # type: ignore[arg-type]

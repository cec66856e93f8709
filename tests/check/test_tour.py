"""Notebook 00: each look takes the right answer and names typical wrong ones."""

from __future__ import annotations

import numpy as np
import pytest

from labkit.check.exercise import judge
from labkit.check.lessons.tour import LESSON
from labkit.corpora import load

EACH = {exercise.key: exercise for exercise in LESSON.exercises.values()}
norm = np.linalg.norm


def others(S):  # type: ignore[no-untyped-def]
    return np.where(np.eye(len(S), dtype=bool), -np.inf, S)


def parts(rows, labels):  # type: ignore[no-untyped-def]
    names = np.unique(labels)
    centres = np.array([rows[labels == name].mean(0) for name in names])
    own = norm(rows - centres[np.searchsorted(names, labels)], axis=1)
    gaps = norm(centres[:, None] - centres[None], axis=2)
    return gaps, gaps + np.diag(np.full(len(names), np.inf)), own


RIGHT = {
    "00.1": lambda u, v: u @ v / (norm(u) * norm(v)),
    "00.2": lambda S, labels: (labels[others(S).argmax(1)] == labels).mean(),
    "00.3": lambda rows, labels: parts(rows, labels)[1].min(1).mean() / parts(rows, labels)[2].mean(),
    "00.4": "Why does my sauce burn in the pan every time?",
}
WRONG = [
    ("00.1", lambda u, v: u @ v, "dot product"),
    ("00.1", lambda u, v: u @ v / (u @ u * (v @ v)), "squares"),
    ("00.1", lambda u, v: 1 - u @ v / (norm(u) * norm(v)), "distance"),
    ("00.1", lambda u, v: u @ v / norm(u), "both are needed"),
    ("00.2", lambda S, labels: (labels[S.argmax(1)] == labels).mean(), "diagonal"),
    ("00.2", lambda S, labels: (labels[others(S).argmax(1)] == labels).sum(), "divide by their number"),
    ("00.2", lambda S, labels: (labels[S.argmin(1)] == labels).mean(), "0.0"),
    (
        "00.3",
        lambda rows, labels: parts(rows, labels)[2].mean() / parts(rows, labels)[1].min(1).mean(),
        "other way round",
    ),
    ("00.3", lambda rows, labels: parts(rows, labels)[0].min(1).mean() / parts(rows, labels)[2].mean(), "leave it out"),
    ("00.3", lambda rows, labels: parts(rows, labels)[0].sum() / 12 / parts(rows, labels)[2].mean(), "nearest* other"),
    (
        "00.3",
        lambda rows, labels: parts(rows, labels)[1].min(1).mean() / (parts(rows, labels)[2] ** 2).mean(),
        "squared",
    ),
    ("00.4", "xyzzy plugh", "nothing at all"),
    ("00.4", "Which guitar strings are best?", "its nearest is of the topic"),
    ("00.4", 7, "a sentence was expected"),
]


@pytest.mark.parametrize("key", RIGHT)
def test_the_right_answer_is_taken(key: str) -> None:
    found = judge(EACH[key], RIGHT[key])
    assert found.right, found.says


@pytest.mark.parametrize(("key", "given", "word"), WRONG)
def test_a_wrong_answer_is_named(key: str, given, word: str) -> None:  # type: ignore[no-untyped-def]
    found = judge(EACH[key], given)
    assert not found.right
    assert word in found.says


def test_a_sentence_of_the_corpus_is_no_sentence_of_ones_own() -> None:
    test = load("topics").part("test")
    theirs = next(text for text, label in zip(test.texts, test.labels, strict=True) if label == "cooking")
    assert "word for word" in judge(EACH["00.4"], theirs).says


def test_each_exercise_has_three_wrong_answers() -> None:
    assert set(RIGHT) == set(EACH)
    assert all(sum(key == each for each, *_ in WRONG) >= 3 for key in RIGHT)

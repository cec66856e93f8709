"""Notebook 00: each check takes the right answer in every form and names typical wrong ones."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from scipy.spatial.distance import cdist, cosine

from labkit.corpora import load
from labkit.lab.course.exercise import judge
from labkit.lab.course.exercises import LESSONS, exercise

norm = np.linalg.norm


def others(S, fill=-np.inf):  # type: ignore[no-untyped-def]
    return np.where(np.eye(len(S), dtype=bool), fill, S)


def hit_by_loops(S, labels):  # type: ignore[no-untyped-def]
    hits = 0
    for i in range(len(S)):
        nearest = max((j for j in range(len(S)) if j != i), key=lambda j: S[i, j])
        hits += labels[i] == labels[nearest]
    return hits / len(S)


def parts(rows, labels):  # type: ignore[no-untyped-def]
    names = np.unique(labels)
    centres = np.array([rows[labels == name].mean(0) for name in names])
    own = norm(rows - centres[np.searchsorted(names, labels)], axis=1)
    gaps = norm(centres[:, None] - centres[None], axis=2)
    return gaps, gaps + np.diag(np.full(len(names), np.inf)), own


def inter(rows, labels):  # type: ignore[no-untyped-def]
    return parts(rows, labels)[1].min(1)


def intra(rows, labels):  # type: ignore[no-untyped-def]
    return parts(rows, labels)[2]


def ratio_by_loops(rows, labels):  # type: ignore[no-untyped-def]
    centres = {name: rows[[label == name for label in labels]].mean(0) for name in set(labels.tolist())}
    wide = [math.dist(row, centres[name]) for row, name in zip(rows, labels.tolist(), strict=True)]
    far = [min(math.dist(m, centres[o]) for o in centres if o != name) for name, m in centres.items()]
    return (sum(far) / len(far)) / (sum(wide) / len(wide))


def fill_in_place(S, labels):  # type: ignore[no-untyped-def]
    np.fill_diagonal(S, -np.inf)
    return (labels[S.argmax(1)] == labels).mean()


def unit_in_place(u, v):  # type: ignore[no-untyped-def]
    u /= norm(u)
    return u @ v / norm(v)


RIGHT = [
    ("00.1", lambda u, v: u @ v / (norm(u) * norm(v))),
    ("00.1", lambda u, v: 1 - cosine(u, v)),
    ("00.1", lambda u, v: sum(a * b for a, b in zip(u, v, strict=True)) / math.sqrt((u @ u) * (v @ v))),
    ("00.1", lambda u, v: torch.cosine_similarity(torch.tensor(u), torch.tensor(v), dim=0)),
    ("00.1", lambda u, v: (u[None] / norm(u)) @ (v[:, None] / norm(v))),
    ("00.2", lambda S, labels: (labels[others(S).argmax(1)] == labels).mean()),
    ("00.2", lambda S, labels: (labels[others(S, -2).argmax(0)] == labels).mean()),
    ("00.2", hit_by_loops),
    ("00.2", lambda S, labels: [hit_by_loops(S, labels)]),
    ("00.3", lambda rows, labels: inter(rows, labels).mean() / intra(rows, labels).mean()),
    ("00.3", ratio_by_loops),
    ("00.3", lambda rows, labels: torch.tensor([ratio_by_loops(rows, labels)])),
    ("00.4", "Why does my sauce burn in the pan every time?"),
    ("00.4", "  How long must the soup simmer in the pot, and when do I add the salt?  "),
    ("00.4", "MY SAUCE AND MY SOUP BURN IN THE OVEN"),
]
WRONG = [
    ("00.1", lambda u, v: u @ v, "dot product"),
    ("00.1", lambda u, v: u @ v / (u @ u * (v @ v)), "squares"),
    ("00.1", lambda u, v: 1 - u @ v / (norm(u) * norm(v)), "distance"),
    ("00.1", lambda u, v: u @ v / norm(u), "both are needed"),
    ("00.1", lambda u, v: u @ v / norm(v), "both are needed"),
    ("00.1", lambda u, v: u @ v / norm(u) * norm(v), "brackets"),
    ("00.1", lambda u, v: u @ v / (norm(u) + norm(v)), "multiplied"),
    ("00.1", lambda u, v: norm(u - v), "distance"),
    ("00.1", lambda u, v: u * v / (norm(u) * norm(v)), "still to be added"),
    ("00.1", lambda u, v: np.corrcoef(u, v)[0, 1], "correlation"),
    ("00.1", lambda u, v: abs(u @ v) / (norm(u) * norm(v)), "sign"),
    ("00.1", lambda u, v: u @ v / len(u), "how many numbers"),
    ("00.1", lambda u, v: 0.4, "yours is 0.4"),
    ("00.1", unit_in_place, "changes u"),
    ("00.2", lambda S, labels: (labels[S.argmax(1)] == labels).mean(), "diagonal"),
    ("00.2", lambda S, labels: (labels[others(S, 0).argmax(1)] == labels).mean(), "not low enough"),
    ("00.2", lambda S, labels: (labels[others(S).argmax(1)] == labels).sum(), "divide by their number"),
    ("00.2", lambda S, labels: (labels[S.argmin(1)] == labels).mean(), "farthest"),
    ("00.2", lambda S, labels: (labels[np.argsort(S, 1)[:, 1]] == labels).mean(), "small to large"),
    ("00.2", lambda S, labels: (labels[np.argsort(S, 1)[:, -3]] == labels).mean(), "second nearest"),
    ("00.2", lambda S, labels: (labels[others(S).argmax(1)] != labels).mean(), "misses"),
    ("00.2", lambda S, labels: (labels[:, None] == labels).mean(), "does not look at S"),
    ("00.2", lambda S, labels: (labels[others(S).argmax(1)] == labels)[0] * 1.0, "first sentence"),
    (
        "00.2",
        lambda S, labels: np.mean(
            [(labels[others(S).argmax(1)] == labels)[labels == name].mean() for name in set(labels.tolist())]
        ),
        "classes",
    ),
    (
        "00.2",
        lambda S, labels: (labels[np.argsort(-S, 1)[:, 1:3]] == labels[:, None]).any(1).mean(),
        "Hit@2",
    ),
    ("00.2", fill_in_place, "changes S itself"),
    ("00.2", lambda S, labels: (labels[np.argsort(S, 1)[:, -2]] == labels).mean(), "has a twin"),
    ("00.2", lambda S, labels: (labels[np.argsort(-S, 1)[:, 1]] == labels).mean(), "has a twin"),
    ("00.2", lambda S, labels: (labels[np.where(S > 0.999, -1, S).argmax(1)] == labels).mean(), "expected"),
    ("00.2", lambda S, labels: 0.713, "0.713"),
    ("00.2", lambda S, labels: labels[others(S).argmax(1)] == labels, "one number"),
    ("00.3", lambda rows, labels: intra(rows, labels).mean() / inter(rows, labels).mean(), "other way round"),
    ("00.3", lambda rows, labels: parts(rows, labels)[0].min(1).mean() / intra(rows, labels).mean(), "leave it out"),
    ("00.3", lambda rows, labels: parts(rows, labels)[0].mean() / intra(rows, labels).mean(), "to itself"),
    ("00.3", lambda rows, labels: parts(rows, labels)[0].max(1).mean() / intra(rows, labels).mean(), "farthest"),
    (
        "00.3",
        lambda rows, labels: parts(rows, labels)[1].min() / intra(rows, labels).mean(),
        "smallest distance of all",
    ),
    ("00.3", lambda rows, labels: inter(rows, labels).sum() / intra(rows, labels).mean(), "their sum"),
    ("00.3", lambda rows, labels: np.median(inter(rows, labels)) / intra(rows, labels).mean(), "median"),
    ("00.3", lambda rows, labels: inter(rows, labels)[0] / intra(rows, labels).mean(), "first class"),
    ("00.3", lambda rows, labels: inter(rows, labels).mean(), "inter alone"),
    ("00.3", lambda rows, labels: inter(rows, labels).mean() / (intra(rows, labels) ** 2).mean(), "squared"),
    ("00.3", lambda rows, labels: (inter(rows, labels) ** 2).mean() / intra(rows, labels).mean(), "root is missing"),
    (
        "00.3",
        lambda rows, labels: (
            inter(rows, labels).mean()
            / np.mean([intra(rows, labels)[labels == name].mean() for name in np.unique(labels)])
        ),
        "mean over the classes",
    ),
    (
        "00.3",
        lambda rows, labels: (
            (parts(rows, labels)[0].sum() / (len(set(labels)) * (len(set(labels)) - 1))) / intra(rows, labels).mean()
        ),
        "nearest* other",
    ),
    (
        "00.3",
        lambda rows, labels: others(cdist(rows, rows), np.inf).min(1).mean() / intra(rows, labels).mean(),
        "compares the centres",
    ),
    ("00.3", lambda rows, labels: 0.562, "0.562"),
    ("00.4", "xyzzy plugh frobnicate", "nothing at all"),
    ("00.4", "Which guitar strings are best?", "its nearest is of the topic"),
    ("00.4", "soup", "three words"),
    ("00.4", "", "three words"),
    ("00.4", 7, "a sentence in quotation marks"),
    ("00.4", ["My soup", "is salted"], "a sentence in quotation marks"),
]


@pytest.mark.parametrize(("key", "given"), RIGHT)
def test_the_right_answer_is_taken(key: str, given) -> None:  # type: ignore[no-untyped-def]
    found = judge(exercise(key), given)
    assert found.right, found.says


@pytest.mark.parametrize(("key", "given", "word"), WRONG)
def test_a_wrong_answer_is_named(key: str, given, word: str) -> None:  # type: ignore[no-untyped-def]
    found = judge(exercise(key), given)
    assert not found.right
    assert word in found.says


def test_a_sentence_of_the_corpus_is_no_sentence_of_ones_own() -> None:
    topics = load("topics")
    for part in ("train", "test"):
        half = topics.part(part)
        theirs = next(text for text, label in zip(half.texts, half.labels, strict=True) if label == "cooking")
        assert "word for word" in judge(exercise("00.4"), theirs).says
        assert "word for word" in judge(exercise("00.4"), theirs.upper().rstrip(".?") + " !").says


def test_each_exercise_has_right_forms_and_wrong_answers() -> None:
    for key in LESSONS["00"].exercises:
        assert sum(key == each for each, _ in RIGHT) >= 3
        assert sum(key == each for each, *_ in WRONG) >= (6 if key == "00.4" else 10)

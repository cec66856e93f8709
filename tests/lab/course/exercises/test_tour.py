"""Notebook 00: each check takes the right answer in every form and names typical wrong ones."""

from __future__ import annotations

import math

import numpy as np
import torch
from scipy.spatial.distance import cdist, cosine

from labkit.corpora import load
from labkit.lab.course.exercise import judge
from labkit.lab.course.exercises import exercise
from tests.lab.course.exercises.judging import *  # noqa: F403 (the tests that all notebooks share)

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


RIGHT = {
    "00.1": [
        lambda u, v: u @ v / (norm(u) * norm(v)),
        lambda u, v: 1 - cosine(u, v),
        lambda u, v: sum(a * b for a, b in zip(u, v, strict=True)) / math.sqrt((u @ u) * (v @ v)),
        lambda u, v: torch.cosine_similarity(torch.tensor(u), torch.tensor(v), dim=0),
        lambda u, v: (u[None] / norm(u)) @ (v[:, None] / norm(v)),
    ],
    "00.2": [
        lambda S, labels: (labels[others(S).argmax(1)] == labels).mean(),
        lambda S, labels: (labels[others(S, -2).argmax(0)] == labels).mean(),
        hit_by_loops,
        lambda S, labels: [hit_by_loops(S, labels)],
    ],
    "00.3": [
        lambda rows, labels: inter(rows, labels).mean() / intra(rows, labels).mean(),
        ratio_by_loops,
        lambda rows, labels: torch.tensor([ratio_by_loops(rows, labels)]),
    ],
    "00.4": [
        "Why does my sauce burn in the pan every time?",
        "  How long must the soup simmer in the pot, and when do I add the salt?  ",
        "MY SAUCE AND MY SOUP BURN IN THE OVEN",
    ],
}  # fmt: skip
WRONG = {
    "00.1": [
        (lambda u, v: u @ v, "dot product"),
        (lambda u, v: u @ v / (u @ u * (v @ v)), "squares"),
        (lambda u, v: 1 - u @ v / (norm(u) * norm(v)), "distance"),
        (lambda u, v: u @ v / norm(u), "both are needed"),
        (lambda u, v: u @ v / norm(v), "both are needed"),
        (lambda u, v: u @ v / norm(u) * norm(v), "brackets"),
        (lambda u, v: u @ v / (norm(u) + norm(v)), "multiplied"),
        (lambda u, v: norm(u - v), "distance"),
        (lambda u, v: u * v / (norm(u) * norm(v)), "still to be added"),
        (lambda u, v: np.corrcoef(u, v)[0, 1], "correlation"),
        (lambda u, v: abs(u @ v) / (norm(u) * norm(v)), "sign"),
        (lambda u, v: u @ v / len(u), "how many numbers"),
        (lambda u, v: 0.4, "yours is 0.4"),
        (unit_in_place, "changes u"),
    ],
    "00.2": [
        (lambda S, labels: (labels[S.argmax(1)] == labels).mean(), "diagonal"),
        (lambda S, labels: (labels[others(S, 0).argmax(1)] == labels).mean(), "not low enough"),
        (lambda S, labels: (labels[others(S).argmax(1)] == labels).sum(), "divide by their number"),
        (lambda S, labels: (labels[S.argmin(1)] == labels).mean(), "farthest"),
        (lambda S, labels: (labels[np.argsort(S, 1)[:, 1]] == labels).mean(), "small to large"),
        (lambda S, labels: (labels[np.argsort(S, 1)[:, -3]] == labels).mean(), "second nearest"),
        (lambda S, labels: (labels[others(S).argmax(1)] != labels).mean(), "misses"),
        (lambda S, labels: (labels[:, None] == labels).mean(), "does not look at S"),
        (lambda S, labels: (labels[others(S).argmax(1)] == labels)[0] * 1.0, "first sentence"),
        (lambda S, labels: np.mean(
             [(labels[others(S).argmax(1)] == labels)[labels == name].mean() for name in set(labels.tolist())]
         ), "classes"),
        (lambda S, labels: (labels[np.argsort(-S, 1)[:, 1:3]] == labels[:, None]).any(1).mean(), "Hit@2"),
        (fill_in_place, "changes S itself"),
        (lambda S, labels: (labels[np.argsort(S, 1)[:, -2]] == labels).mean(), "has a twin"),
        (lambda S, labels: (labels[np.argsort(-S, 1)[:, 1]] == labels).mean(), "has a twin"),
        (lambda S, labels: (labels[np.where(S > 0.999, -1, S).argmax(1)] == labels).mean(), "expected"),
        (lambda S, labels: 0.713, "0.713"),
        (lambda S, labels: labels[others(S).argmax(1)] == labels, "one number"),
    ],
    "00.3": [
        (lambda rows, labels: intra(rows, labels).mean() / inter(rows, labels).mean(), "other way round"),
        (lambda rows, labels: parts(rows, labels)[0].min(1).mean() / intra(rows, labels).mean(), "leave it out"),
        (lambda rows, labels: parts(rows, labels)[0].mean() / intra(rows, labels).mean(), "to itself"),
        (lambda rows, labels: parts(rows, labels)[0].max(1).mean() / intra(rows, labels).mean(), "farthest"),
        (lambda rows, labels: parts(rows, labels)[1].min() / intra(rows, labels).mean(), "smallest distance of all"),
        (lambda rows, labels: inter(rows, labels).sum() / intra(rows, labels).mean(), "their sum"),
        (lambda rows, labels: np.median(inter(rows, labels)) / intra(rows, labels).mean(), "median"),
        (lambda rows, labels: inter(rows, labels)[0] / intra(rows, labels).mean(), "first class"),
        (lambda rows, labels: inter(rows, labels).mean(), "inter alone"),
        (lambda rows, labels: inter(rows, labels).mean() / (intra(rows, labels) ** 2).mean(), "squared"),
        (lambda rows, labels: (inter(rows, labels) ** 2).mean() / intra(rows, labels).mean(), "root is missing"),
        (lambda rows, labels: inter(rows, labels).mean()
         / np.mean([intra(rows, labels)[labels == name].mean() for name in np.unique(labels)]),
         "mean over the classes"),
        (lambda rows, labels: (
             (parts(rows, labels)[0].sum() / (len(set(labels)) * (len(set(labels)) - 1))) / intra(rows, labels).mean()
         ), "nearest* other"),
        (lambda rows, labels: others(cdist(rows, rows), np.inf).min(1).mean() / intra(rows, labels).mean(),
         "compares the centres"),
        (lambda rows, labels: 0.562, "0.562"),
    ],
    "00.4": [
        ("xyzzy plugh frobnicate", "nothing at all"),
        ("Which guitar strings are best?", "its nearest is of the topic"),
        ("soup", "three words"),
        ("", "three words"),
        (7, "a sentence in quotation marks"),
        (["My soup", "is salted"], "a sentence in quotation marks"),
    ],
}  # fmt: skip


def test_a_sentence_of_the_corpus_is_no_sentence_of_ones_own() -> None:
    topics = load("topics")
    for part in ("train", "test"):
        half = topics.part(part)
        theirs = next(text for text, label in zip(half.texts, half.labels, strict=True) if label == "cooking")
        assert "word for word" in judge(exercise("00.4"), theirs).says
        assert "word for word" in judge(exercise("00.4"), theirs.upper().rstrip(".?") + " !").says

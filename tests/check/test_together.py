"""Notebook 07: each look takes the right answer and names typical wrong ones."""

from __future__ import annotations

import random
import zlib

import numpy as np
import pytest

from labkit.check.exercise import judge
from labkit.check.lessons.together import LESSON
from labkit.course.ablation import kept
from labkit.evaluation.comparison import leader

EACH = {exercise.key: exercise for exercise in LESSON.exercises.values()}


def verdict(a, b, how=max, ddof=1):  # type: ignore[no-untyped-def]
    if abs(a.mean() - b.mean()) <= how(a.std(ddof=ddof), b.std(ddof=ddof)):
        return "tie"
    return "first" if a.mean() > b.mean() else "second"


def couples(scores, labels):  # type: ignore[no-untyped-def]
    return scores[labels == 1][:, None], scores[labels == 0][None, :]


def ties() -> list[str]:
    table = kept("together")
    spreads = {name: table.spread(name, "auc") for name in table.figures}
    return [name for name in spreads if name != "sentpwnet" and leader(spreads["sentpwnet"], spreads[name]) == "tie"]


def worst() -> str:
    table = kept("together")
    return min(table.figures, key=lambda name: table.spread(name, "auc").mean)


RIGHT = {
    "07.1": lambda: verdict,
    "07.2": lambda: lambda s, y: np.mean(np.heaviside(couples(s, y)[0] - couples(s, y)[1], 0.5)),
    "07.3": ties,
    "07.4": lambda: lambda groups: ["test" if zlib.crc32(each.encode()) % 5 == 0 else "train" for each in groups],
}
WRONG = [
    ("07.1", lambda: lambda a, b: "first" if a.mean() > b.mean() else "second", "always finds a winner"),
    ("07.1", lambda: lambda a, b: "tie", "is no tie"),
    ("07.1", lambda: lambda a, b: verdict(b, a), "other way round"),
    ("07.1", lambda: lambda a, b: verdict(a, b, min), "larger of the two"),
    ("07.1", lambda: lambda a, b: verdict(a, b, ddof=0), "n - 1"),
    ("07.1", lambda: lambda a, b: True, '"first", "second"'),
    ("07.2", lambda: lambda s, y: (couples(s, y)[0] > couples(s, y)[1]).mean(), "come out at 0.5"),
    ("07.2", lambda: lambda s, y: (couples(s, y)[0] >= couples(s, y)[1]).mean(), "not whole"),
    ("07.2", lambda: lambda s, y: ((s > 0.5) == y).mean(), "no threshold"),
    ("07.2", lambda: lambda s, y: np.heaviside(couples(s, y)[1] - couples(s, y)[0], 0.5).mean(), "wrong order"),
    ("07.3", lambda: ["nobody"], "no method of the table"),
    ("07.3", lambda: [*ties(), worst()], "more than either spread"),
    ("07.3", lambda: [], "one is missing"),
    (
        "07.4",
        lambda: lambda groups: [random.Random(i).choice(["train", "test"]) for i in range(len(groups))],
        "both splits",
    ),
    ("07.4", lambda: lambda groups: ["train"] * len(groups), "one split"),
    (
        "07.4",
        lambda: lambda groups: ["test" if list(dict.fromkeys(groups)).index(g) < 8 else "train" for g in groups],
        "another order",
    ),
    (
        "07.4",
        lambda: lambda groups: ["test" if sorted(set(groups), reverse=True).index(g) < 8 else "train" for g in groups],
        "one new row",
    ),
    ("07.4", lambda: lambda groups: ["test" if g == "scene 3" else "train" for g in groups], "about a fifth"),
    ("07.4", lambda: lambda groups: groups, "for each row"),
]


@pytest.mark.parametrize("key", RIGHT)
def test_the_right_answer_is_taken(key: str) -> None:
    found = judge(EACH[key], RIGHT[key]())
    assert found.right, found.says


@pytest.mark.parametrize(("key", "given", "word"), WRONG)
def test_a_wrong_answer_is_named(key: str, given, word: str) -> None:  # type: ignore[no-untyped-def]
    found = judge(EACH[key], given())
    assert not found.right
    assert word in found.says


def test_there_is_a_tie_to_be_found() -> None:
    assert ties()


def test_each_exercise_has_three_wrong_answers() -> None:
    assert set(RIGHT) == set(EACH)
    assert all(sum(key == each for each, *_ in WRONG) >= 3 for key in RIGHT)

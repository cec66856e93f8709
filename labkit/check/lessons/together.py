"""Notebook 07: comparing methods: ties, AUC, splits without a leak."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from labkit.check.exercise import Lesson
from labkit.check.trying import number, slip, wrong_entries
from labkit.course.ablation import kept
from labkit.evaluation.comparison import leader

LESSON = Lesson("07", predictions=("07.a", "07.b"))

ASKED = "sentpwnet"  # of exercise 07.3
CASES = (  # figures over seeds of two methods, and the verdict: by more than the larger spread
    ((0.80, 0.82, 0.84), (0.70, 0.71, 0.72), "first"),
    ((0.70, 0.71, 0.72), (0.80, 0.82, 0.84), "second"),
    ((0.80, 0.82, 0.84), (0.79, 0.81, 0.83), "tie"),
    ((0.80, 0.80, 0.80), (0.76, 0.80, 0.81), "tie"),  # by the smaller spread the first would lead
    ((0.750, 0.770, 0.790), (0.7317, 0.7517, 0.7717), "tie"),  # 0.0183 apart: over n below the line it would not be
)


@LESSON.exercise(
    "07.1",
    "Write the verdict on two methods from their figures over the seeds.",
    (
        "Compare the difference of the means with the spreads.",
        "A spread is the standard deviation over the seeds, `ddof=1`. Take the larger one of the two.",
        "tie if abs(a.mean() - b.mean()) <= max(a.std(ddof=1), b.std(ddof=1)), else whoever is larger",
    ),
    "with three seeds this is a rough rule; it keeps most accidents out of a table",
)
def verdict(answer: Callable[..., Any]) -> str | None:
    """Who leads by more than the larger spread, n - 1 below the line."""
    given = [answer(np.array(a), np.array(b)) for a, b, _ in CASES]
    right = [each for *_, each in CASES]
    if given == right:
        return None
    if any(each not in ("first", "second", "tie") for each in given):
        return f'"first", "second" or "tie" was expected, and {given[0]!r} came'
    if "tie" not in given[2:]:
        return "a difference inside the spread is a tie: yours always finds a winner"
    if given[0] == "tie" or given[1] == "tie":
        return "a difference of 0.11 with spreads of 0.02 is no tie"
    if given[0] == "second" or given[1] == "first":
        return "larger is better: yours is the other way round"
    if given[3] != "tie":
        return "take the larger of the two spreads: the second method's seeds differ by more than the two means"
    if given[4] != "tie":
        return "three seeds are few: a spread has n - 1 below the line, `ddof=1`"
    return f"for {CASES[2][0]} and {CASES[2][1]} it is a tie"


@LESSON.exercise(
    "07.2",
    "Write AUC from scores and labels.",
    (
        "Take every couple of one pair that is the same and one that is not. Which has the higher score?",
        "`scores[labels == 1][:, None]` against `scores[labels == 0][None, :]` has them all at once.",
        "`(same > other).mean() + 0.5 * (same == other).mean()`",
    ),
    "no threshold in it: it asks whether the order is right",
)
def auc(answer: Callable[..., Any]) -> str | None:
    """The share of (same, other) couples in which the same pair has the higher score; a tie counts half."""
    scores = np.array([0.9, 0.4, 0.4, 0.8, 0.1, 0.4, 0.7, 0.2])
    labels = np.array([1, 1, 0, 0, 0, 1, 1, 0])
    right = float(roc_auc_score(labels, scores))
    given = number(answer(scores.copy(), labels.copy()))
    same, other = scores[labels == 1][:, None], scores[labels == 0][None, :]
    slips = (
        ((same > other).mean(), "a tie counts half: whoever gives all pairs one score must come out at 0.5"),
        ((same >= other).mean(), "a tie counts half, not whole"),
        (1 - right, "that is the share in the wrong order"),
        (((scores > 0.5) == labels).mean(), "that is an accuracy at the threshold 0.5; AUC needs no threshold"),
        ((same > other).sum() + 0.5 * (same == other).sum(), "divide by the number of couples"),
    )
    return None if abs(given - right) < 1e-9 else slip(given, slips) or wrong_entries([given], [right])


@LESSON.exercise(
    "07.3",
    "Name the methods that tie with sentpwnet by AUC.",
    (
        "Use your verdict of 07.1 on every line and that of sentpwnet.",
        "`verdict(values['sentpwnet'], values[name]) == 'tie'`",
        "There is one, just below it in the table.",
    ),
    "two losses, one encoder, one figure: whoever says that one is better has not looked at the spread",
)
def tied(answer: Any) -> str | None:
    """The methods of the kept table that tie with SentPWNet."""
    table = kept("together")
    spreads = {name: table.spread(name, "auc") for name in table.figures}
    right = {name for name in spreads if name != ASKED and leader(spreads[ASKED], spreads[name]) == "tie"}
    given = ({answer} if isinstance(answer, str) else set(answer)) - {ASKED}
    if given == right:
        return None
    if unknown := given - set(spreads):
        return f"{sorted(unknown)[0]!r} is no method of the table"
    if extra := given - right:
        name = sorted(extra)[0]
        gap = abs(spreads[ASKED].mean - spreads[name].mean)
        return f"{name!r} is {gap:.3f} away, more than either spread"
    return f"one is missing: whose mean is no further from that of {ASKED} than the larger of the two spreads?"


@LESSON.exercise(
    "07.4",
    "Write a split that never puts one group into both parts.",
    (
        "The split must depend on the group's name and on nothing else.",
        "A hash turns a name into a number: `zlib.crc32(name.encode())` is the same on every machine.",
        '`["test" if zlib.crc32(group.encode()) % 5 == 0 else "train" for group in groups]`',
    ),
    "a leak between the parts is the most common way to a figure that is too good",
)
def split(answer: Callable[..., Any]) -> str | None:
    """Same group, same split; not by order; both splits used."""
    groups = [f"scene {number}" for number in range(40) for _ in range(3)]
    given = list(answer(list(groups)))
    if len(given) != len(groups) or not set(given) <= {"train", "test"}:
        return 'for each row "train" or "test" was expected'
    by_group: dict[str, set[str]] = {}
    for group, where in zip(groups, given, strict=True):
        by_group.setdefault(group, set()).add(where)
    if any(len(where) > 1 for where in by_group.values()):
        return "a group stands in both splits: the test would ask for what was learned by heart"
    if len(set(given)) < 2:
        return "all rows are in one split"
    order = np.random.default_rng(0).permutation(len(groups))
    again = list(answer([groups[i] for i in order]))
    if again != [given[i] for i in order]:
        return "in another order of the file a group changes its split: decide by the group's name, not by its place"
    more = list(answer([*groups, "scene 99"]))[: len(groups)]
    if more != given:
        return "one new row moves old ones into another split: decide by the group's name alone"
    share = given.count("test") / len(given)
    return None if 0.05 <= share <= 0.5 else f"{share:.0%} of the rows are in test: aim at about a fifth"

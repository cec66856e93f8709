"""Notebook 07: each check takes the right answer and names typical wrong ones."""

from __future__ import annotations

import hashlib
import random
import statistics
import zlib

import numpy as np
import torch
from scipy.stats import rankdata
from sklearn.metrics import average_precision_score

from labkit.evaluation.comparison import leader, over_seeds
from labkit.lab.course.ablation import kept
from labkit.lab.course.exercise import judge
from labkit.lab.course.exercises.together import LESSON
from tests.lab.course.exercises.judging import *  # noqa: F403 (the tests that all notebooks share)


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


def stdev_rule(a, b):  # type: ignore[no-untyped-def]
    gap = statistics.mean(a.tolist()) - statistics.mean(b.tolist())
    if abs(gap) <= max(statistics.stdev(a.tolist()), statistics.stdev(b.tolist())):
        return "tie"
    return "second" if gap < 0 else "first"


def by_rank(s, y):  # type: ignore[no-untyped-def]
    ones = (y == 1).sum()
    return (rankdata(s)[y == 1].sum() - ones * (ones + 1) / 2) / (ones * (len(y) - ones))


def loops(s, y):  # type: ignore[no-untyped-def]
    couples = [(a, b) for a, k in zip(s, y, strict=True) if k for b, m in zip(s, y, strict=True) if not m]
    return sum((a > b) + (a == b) / 2 for a, b in couples) / len(couples)


def best_accuracy(s, y):  # type: ignore[no-untyped-def]
    return max(((s >= cut) == y).mean() for cut in s)


def by(rule):  # type: ignore[no-untyped-def]
    """A verdict with another threshold."""

    def says(a, b):  # type: ignore[no-untyped-def]
        if abs(a.mean() - b.mean()) <= rule(a, b):
            return "tie"
        return "first" if a.mean() > b.mean() else "second"

    return says


def sampled(groups):  # type: ignore[no-untyped-def]
    chosen = random.sample(sorted(set(groups)), len(set(groups)) // 5)
    return ["test" if each in chosen else "train" for each in groups]


def seeded(groups):  # type: ignore[no-untyped-def]
    draw = random.Random(0)
    part = {name: "test" if draw.random() < 0.2 else "train" for name in dict.fromkeys(groups)}
    return [part[each] for each in groups]


def sorting(groups):  # type: ignore[no-untyped-def]
    rows = list(groups)
    groups.sort()
    return crc(rows)


def crc(groups, parts=5):  # type: ignore[no-untyped-def]
    return ["test" if zlib.crc32(each.encode()) % parts == 0 else "train" for each in groups]


def every() -> list[str]:
    return [name for name in kept("together").figures if name != "sentpwnet"]


RIGHT = {
    "07.1": [
        verdict,
        stdev_rule,
        lambda a, b: np.str_(verdict(a, b)),
        by(lambda a, b: max(np.std(each) * np.sqrt(len(each) / (len(each) - 1)) for each in (a, b))),
        lambda a, b: leader(over_seeds(a), over_seeds(b)),
    ],
    "07.2": [
        lambda s, y: np.mean(np.heaviside(couples(s, y)[0] - couples(s, y)[1], 0.5)),
        by_rank,
        loops,
        lambda s, y: torch.tensor([loops(s, y)]),
        lambda s, y: round(loops(s, y), 3),
    ],
    "07.3": [
        ties(),
        tuple(ties()),
        set(ties()),
        np.array(ties()),
        ties()[0],
        [*ties(), "sentpwnet"],  # by the rule, it ties with itself
    ],
    "07.4": [
        crc,
        lambda groups: np.array(crc(groups)),
        lambda groups: tuple(crc(groups)),
        lambda groups: [("train", "test")[int(hashlib.md5(g.encode()).hexdigest(), 16) % 10 < 2] for g in groups],
        lambda groups: ["test" if random.Random(g).random() < 0.2 else "train" for g in groups],
    ],
}  # fmt: skip
WRONG = {
    "07.1": [
        (lambda a, b: "first" if a.mean() > b.mean() else "second", "always finds a winner"),
        (lambda a, b: "tie", "a tie whatever"),
        (lambda a, b: verdict(b, a), "other way round"),
        (lambda a, b: verdict(a, b, min), "larger of the two"),
        (lambda a, b: verdict(a, b, ddof=0), "n - 1"),
        (lambda a, b: True, '"first", "second"'),
        (lambda a, b: None, "gives nothing back"),
        (by(lambda a, b: a.std(ddof=1)), "first alone"),
        (by(lambda a, b: b.std(ddof=1)), "second alone"),
        (by(lambda a, b: max(np.ptp(a), np.ptp(b)) / 2), "half the range"),
        (by(lambda a, b: np.ptp(a) / 2), "half the range"),
        (by(lambda a, b: max(np.ptp(a), np.ptp(b))), "the range"),
        (by(lambda a, b: 0.02), "multiply all figures by 1000"),
        (by(lambda a, b: 0.01), "multiply all figures by 1000"),
        (by(lambda a, b: 0.5), "multiply all figures by 1000"),
        (by(lambda a, b: 0.05 * max(a.mean(), b.mean())), "add one number"),
        (by(lambda a, b: (a.std(ddof=1) + b.std(ddof=1)) / 2), "mean of the two spreads"),
        (by(lambda a, b: a.std(ddof=1) + b.std(ddof=1)), "sum of the two spreads"),
        (by(lambda a, b: max(a.std(ddof=1) / len(a) ** 0.5, b.std(ddof=1) / len(b) ** 0.5)), "standard error"),
        (by(lambda a, b: max(a.var(ddof=1), b.var(ddof=1))), "variance"),
        (by(lambda a, b: 1.96 * max(a.std(ddof=1), b.std(ddof=1)) / len(a) ** 0.5), "interval of the mean"),
        (by(lambda a, b: 2 * max(a.std(ddof=1), b.std(ddof=1))), "2 times the spread"),
        (by(lambda a, b: 3 * max(a.std(ddof=1), b.std(ddof=1))), "3 times the spread"),
        (by(lambda a, b: np.hypot(a.std(ddof=1), b.std(ddof=1))), "root of the sum"),
        (by(lambda a, b: np.concatenate([a, b]).std(ddof=1)), "all figures together"),
        (lambda a, b: "tie" if verdict(a, b) == "tie" else "first", "never says second"),
        (lambda a, b: "tie" if a.mean() - b.mean() <= max(a.std(ddof=1), b.std(ddof=1)) else "first", "abs"),
        (lambda a, b: verdict(a, b) if a.mean() != b.mean() else "second", "just the spread"),
        (lambda a, b: verdict(a.round(2), b.round(2)), "or a rounding does"),
    ],
    "07.2": [
        (lambda s, y: (couples(s, y)[0] > couples(s, y)[1]).mean(), "come out at 0.5"),
        (lambda s, y: (couples(s, y)[0] >= couples(s, y)[1]).mean(), "not whole"),
        (lambda s, y: ((s > 0.5) == y).mean(), "no threshold"),
        (best_accuracy, "best accuracy"),
        (lambda s, y: np.heaviside(couples(s, y)[1] - couples(s, y)[0], 0.5).mean(), "wrong order"),
        (lambda s, y: np.heaviside(couples(s, y)[0] - couples(s, y)[1], 0.5).sum(), "number of couples"),
        (lambda s, y: np.corrcoef(s, y)[0, 1], "correlation"),
        (lambda s, y: couples(s, y)[0].mean() - couples(s, y)[1].mean(), "difference of the mean"),
        (lambda s, y: (s[:, None] > s).mean(), "all couples"),
        (lambda s, y: 2 * loops(s, y) - 1, "2 · AUC - 1"),
        (lambda s, y: average_precision_score(y, s), "average precision"),
        (lambda s, y: couples(s, y)[0] > couples(s, y)[1], "one number"),
        (lambda s, y: 0.854, "whatever"),
        (lambda s, y: max(by_rank(s, y), 1 - by_rank(s, y)), "right in 4 of 5 cases"),
    ],
    "07.3": [
        (["nobody"], "no method of the table"),
        ([*ties(), worst()], "away by AUC"),
        ([], "one is missing"),
        (every(), "every method"),
        ([name for name in every() if name not in ties()], "condition round"),
        (["film"], "away by AUC"),
        ("film", "away by AUC"),
        (["tie", "first"], "give the names"),
        ([True, False], "give the names"),
        (1, "a list of names"),
        (lambda: ties(), "a function came"),
        (["sentpwnet"], "one is missing"),
    ],
    "07.4": [
        (lambda groups: [random.Random(i).choice(["train", "test"]) for i in range(len(groups))], "both parts"),
        (lambda groups: ["test" if i % 5 == 0 else "train" for i in range(len(groups))], "both parts"),
        (lambda groups: ["train" if i < 0.8 * len(groups) else "test" for i in range(len(groups))], "both parts"),
        (sampled, "asked again"),
        (seeded, "another order"),
        (sorting, "changes groups itself"),
        (lambda groups: ["train"] * len(groups), "one part"),
        (lambda groups: ["test" if list(dict.fromkeys(groups)).index(g) < 80 else "train" for g in groups],
         "another order"),
        (lambda groups: ["test" if sorted(set(groups), reverse=True).index(g) < 80 else "train" for g in groups],
         "a new row"),
        (lambda groups: ["test" if g == "scene 3" else "train" for g in groups], "aim at a fifth"),
        (lambda groups: crc(groups, 2), "aim at a fifth"),
        (lambda groups: crc(groups, 20), "aim at a fifth"),
        (lambda groups: ["test" if g[-1] in "05" else "train" for g in groups], "whole name"),
        (lambda groups: ["test" if g == "train" else "train" for g in crc(groups)], "changed places"),
        (lambda groups: ["test" if hash(g) % 5 == 0 else "train" for g in groups], "whenever Python starts"),
        (lambda groups: [g == "test" for g in crc(groups)], "came"),
        (lambda groups: ["test" if id(g) % 5 == 0 else "train" for g in groups], "both parts"),
        (lambda groups: crc(dict.fromkeys(groups)), "for each row"),
        (lambda groups: groups, "for each row"),
        (lambda groups: dict(zip(groups, crc(groups), strict=True)), "a dict came"),
    ],
}  # fmt: skip


def test_a_split_that_is_uneven_is_told_of_a_name_that_is_there() -> None:
    """Not of a group called 'word' where names are words."""
    asked: set[str] = set()

    def by_last_digit(groups: list[str]) -> list[str]:
        asked.update(groups)
        return ["test" if name[-1] in "05" else "train" for name in groups]

    says = judge(LESSON.exercises["07.4"], by_last_digit).says
    assert says.split("like ")[1].split(":")[0].strip("'") in asked


def test_there_is_a_tie_to_be_found() -> None:
    assert ties()

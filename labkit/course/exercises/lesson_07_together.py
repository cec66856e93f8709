"""Notebook 07: who leads, standings, splits, kNN accuracy and seeds."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy import stats

from labkit.course.exercise import Cases, Unfit, check, exercise, number
from labkit.course.exercises.draws import in_classes


def _verdict(answer: Any) -> np.ndarray:
    said = str(answer).strip().lower()
    if said not in ("first", "second", "open"):
        raise Unfit(f'expected "first", "second" or "open", got {answer!r}')
    return np.asarray(said)


@exercise(
    "07.1",
    ("stats.t.ppf(0.975, n - 1) * error", "max(a.std(ddof=1), b.std(ddof=1))",
     "you compare the gap with a standard deviation: use the interval of the mean difference"),
    ("ddof=1", "ddof=0", "your deviation divides by n: use `ddof=1`"),
    (" / np.sqrt(n)", "", "divide by the root of n for the error of a mean"),
    ("stats.t.ppf(0.975, n - 1)", "1.96", "1.96 is for many seeds: with few, use Student's t"),
    ("d.std(ddof=1) / np.sqrt(n)", "np.hypot(stats.sem(a), stats.sem(b))",
     "both have the same seeds: first take the differences, then their standard deviation"),
    read=_verdict,
)  # fmt: skip
def seeds(random: np.random.Generator) -> Cases:
    for _ in range(100):
        count = int(random.integers(3, 7))
        shared, d = random.normal(0.8, random.uniform(0, 0.02), count), random.normal(0, 0.01, count)
        half = stats.t.ppf(0.975, count - 1) * d.std(ddof=1) / np.sqrt(count)
        gap = random.choice([-1, 1]) * half * random.choice([0.25, 0.5, 0.75, 0.9, 1.1, 1.3, 2.0])
        yield shared + d - d.mean() + gap, shared


def _rows(given: Any) -> tuple[np.ndarray, ...]:
    rows = [tuple(row) for row in given] if isinstance(given, list | tuple) else []
    if not rows or any(len(row) != 3 for row in rows):
        raise Unfit("expected a list of (name, mean, says)")
    return tuple(np.asarray(each) for row in rows for each in (str(row[0]), number(row[1]), str(row[2])))


@exercise(
    "07.2",
    ("-found[name].mean())", "found[name].mean())", "your list begins with the smallest mean: sort the other way"),
    ('"behind" if verdict(found[best], found[name]) == "first" else "open"',
     '"open" if verdict(found[best], found[name]) == "first" else "behind"',
     '"first" means that the best leads, so the other is "behind"'),
    (' if verdict(found[best], found[name]) == "first" else "open"', "",
     "not every other method is behind: some verdicts are open"),
    ('says = "best"', 'says = "open"', 'the first is "best": a method is not compared with itself'),
    ('verdict(found[best], found[name]) == "first"',
     "stats.ttest_ind(found[best], found[name]).confidence_interval().low > 0",
     "all methods have the same seeds: use your `verdict` from 07.1, which takes differences seed by seed"),
    read=_rows,
)  # fmt: skip
def scores(random: np.random.Generator) -> Cases:
    for count, runs in ((4, 3), (6, 5), (5, 4)):
        means, shared = 0.8 - np.linspace(0, 0.06, count) ** 1.2, random.normal(0, 0.02, runs)
        rows = {f"method {at}": mean + shared + random.normal(0, 0.006, runs) for at, mean in enumerate(means)}
        rows["always the same"] = np.full(runs, 0.5)
        names = [str(name) for name in random.permutation(list(rows))]
        yield ({name: rows[name] for name in names},)


@check("07.3")
def check_split(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """The same group is always in the same split, determined by its name alone; about a fifth is test."""

    def asked(groups: list[str]) -> list[str]:
        """The answer's splits as words."""
        own = ["".join(list(name)) for name in groups]  # equal names that are different objects: id() must not matter
        given = answer(own)
        if isinstance(given, dict | str) or not hasattr(given, "__iter__"):
            raise Unfit(f'expected a list with "train" or "test" for each row, got a {type(given).__name__}')
        found = [str(each) for each in given]
        if own != groups:
            raise Unfit("your function changes `groups` itself, which later cells need: work on a copy")
        if len(found) != len(groups) or set(found) - {"train", "test"}:
            raise Unfit(f'expected "train" or "test" for each of {len(groups)} rows, got {len(found)} parts')
        return found

    letters = list("abcdefghijklmnopqrstuvwxyzäöé")
    names = (
        [f"scene {number}" for number in range(400)],
        list({"".join(random.choice(letters, random.integers(4, 9))) for _ in range(400)}),
        [f"{number:08x}" for number in random.integers(16**8, size=400)],
    )
    for groups in names:
        rows = [str(name) for name in random.permutation(np.repeat(groups, 2))]
        given = asked(rows)
        parts = dict(zip(rows, given, strict=True))
        if [parts[name] for name in rows] != given:
            return "a group is in both parts: the test would reward memorising"
        if asked(rows) != given:
            return (
                "your function gives different parts the second time: decide by the group's name alone, not by chance"
            )
        if asked(rows[::-1]) != given[::-1] or asked([*rows, "aa", "zz"])[:-2] != given or asked(rows[9:]) != given[9:]:
            return (
                "with different rows, or in a different order, a group changes parts: decide by the group's name alone"
            )
        with patch("builtins.hash", lambda name: zlib.adler32(repr(name).encode()) // 7):
            if asked(rows) != given:
                return (
                    "hash() of a text changes each time Python starts, and the part changes with it: use `zlib.crc32`"
                )
        share = list(parts.values()).count("test") / len(parts)
        if 0.7 <= share <= 0.9:
            return f"train and test are swapped: {100 * share:.0f} % of the groups are in test"
        if not 0.12 <= share <= 0.3:
            return f"{100 * share:.0f} % of the groups are in test if their names are like {rows[0]!r}: aim for a fifth"
    return None


@exercise(
    "07.4",
    (" / np.linalg.norm(known, axis=1, keepdims=True)", "",
     "those are dot products: divide all rows by their lengths first"),
    ("(-row)", "(row)", "`argsort` begins with the smallest: yours are the farthest"),
    ("[:k]", "[:1]", "only the nearest votes: let the k nearest vote"),
    ("in nearest]", "in nearest[::-1]]",
     "if two labels have equally many votes, the one with the nearest voter must win"),
    (" / len(asked)", "", "that is how many are right: divide by the number of test sentences"),
)  # fmt: skip
def votes(random: np.random.Generator) -> Cases:
    for sizes, d, k, names in (((9, 8, 7), 3, 3, "abc"), ((14, 12), 2, 4, "xy"), ((9, 9, 9, 9), 4, 2, "pqrs")):
        rows, labels = in_classes(random, sizes, d, apart=0.7)
        rows, labels = rows * random.uniform(0.2, 3, (len(rows), 1)), np.array(list(names))[labels]
        half = len(rows) // 2
        yield rows[:half], labels[:half].tolist(), rows[half:], labels[half:].tolist(), k


class _Method:
    """The result of `make`, which remembers whether it was trained before."""

    def __init__(self, name: str) -> None:
        self.name, self.trained = name, 0


def _arrays(given: Any) -> tuple[np.ndarray, ...]:
    if not isinstance(given, dict) or not all(isinstance(each, np.ndarray) for each in given.values()):
        raise Unfit("expected a dict with an array of scores for each name: `np.array(values)`")
    return tuple(np.asarray(each) for name in sorted(given) for each in (name, given[name]))


@exercise(
    "07.5",
    ("values = []\n        for seed in seeds:\n            method = make()",
     "values, method = [], make()\n        for seed in seeds:",
     "you train the same method again: make a new one for each seed"),
    ("(values)", "(values[-1:])", "only the last seed is kept: begin the list before the loop over seeds"),
    ("(values)", "(np.mean(values))", "keep the score of each seed: the verdict needs them"),
    ("method, seed)", "method, seeds[0])", "all your training runs have the same seed"),
    ("(values)", "(values[:1])", "your function returns after the first seed"),
    read=_arrays,
)  # fmt: skip
def makers(random: np.random.Generator) -> Cases:
    worth = {name: random.normal() for name in ("tfidf", "film", "bag", "lsa")}

    def train_and_score(method: _Method, seed: int) -> float:
        if not isinstance(method, _Method):
            raise Unfit("train_and_score expects a method made by `make()`, and a seed")
        method.trained += 1
        return float(worth[method.name] + np.sin(seed) + method.trained)

    for names, runs in ((("tfidf", "film"), (0, 1, 2)), (("bag", "film", "lsa"), (3, 7)), (("lsa",), (5, 0, 2, 4))):
        made = {name: lambda name=name: _Method(name) for name in names}
        yield made, tuple(seed + int(random.integers(90)) for seed in runs), train_and_score

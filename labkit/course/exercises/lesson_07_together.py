"""Notebook 07: who leads, standings, splits, kNN accuracy and seeds."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy import stats

from labkit.arrays import unit
from labkit.course.exercise import Unfit, check, find_mistake, number
from labkit.course.exercises.draws import in_classes
from labkit.evaluation.retrieval import knn_accuracy


def _verdict(answer: Any) -> np.ndarray:
    said = str(answer).strip().lower()
    if said not in ("first", "second", "open"):
        raise Unfit(f'expected "first", "second" or "open", got {answer!r}')
    return np.asarray(said)


@check("07.1")
def check_leads(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """Student's interval of the mean difference, seed by seed: above 0, below 0, or around it."""
    cases = []
    for _ in range(100):
        seeds = int(random.integers(3, 7))
        shared, d = random.normal(0.8, random.uniform(0, 0.02), seeds), random.normal(0, 0.01, seeds)
        half = stats.t.ppf(0.975, seeds - 1) * d.std(ddof=1) / np.sqrt(seeds)
        gap = random.choice([-1, 1]) * half * random.choice([0.25, 0.5, 0.75, 0.9, 1.1, 1.3, 2.0])
        cases.append((shared + d - d.mean() + gap, shared))

    def by(half: Callable[..., float]) -> Callable[..., str]:
        """The verdict with another half-width."""

        def rule(a: np.ndarray, b: np.ndarray) -> str:
            gap, width = (a - b).mean(), half(a, b)
            return "first" if gap > width else "second" if gap < -width else "open"

        return rule

    def student(a: np.ndarray, b: np.ndarray) -> float:
        return float(stats.t.ppf(0.975, len(a) - 1) * stats.sem(a - b))

    right = by(student)
    mistakes = (
        (by(lambda a, b: max(a.std(ddof=1), b.std(ddof=1))),
         "yours compares the gap with a standard deviation: use the interval of the mean difference"),
        (by(lambda a, b: student(a, b) * np.sqrt(1 - 1 / len(a))), "your deviation divides by n: use `ddof=1`"),
        (by(lambda a, b: student(a, b) * np.sqrt(len(a))), "divide by the root of n for the error of a mean"),
        (by(lambda a, b: 1.96 * stats.sem(a - b)), "1.96 is for many seeds: with few, use Student's t"),
        (by(lambda a, b: stats.t.ppf(0.95, len(a) - 1) * stats.sem(a - b)),
         "2.5 % are beyond each end of a 95 % interval: take the 97.5 % point"),
        (by(lambda a, b: stats.t.ppf(0.975, len(a) - 1) * np.hypot(stats.sem(a), stats.sem(b))),
         "both have the same seeds: first take the differences, then their standard deviation"),
        (lambda a, b: right(a, b).replace("second", "open"), "yours never says 'second'"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes, read=_verdict)


@check("07.2")
def check_standings(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """Name, mean, and best, behind or open; best first."""
    cases = []
    for count, seeds in ((4, 3), (6, 5), (5, 4)):
        means, shared = 0.8 - np.linspace(0, 0.06, count) ** 1.2, random.normal(0, 0.02, seeds)
        rows = {f"method {at}": mean + shared + random.normal(0, 0.006, seeds) for at, mean in enumerate(means)}
        rows["always the same"] = np.full(seeds, 0.5)
        names = [str(name) for name in random.permutation(list(rows))]
        cases.append(({name: rows[name] for name in names},))

    def by(
        test: Callable[[Any, Any], Any] = lambda a, b: stats.ttest_rel(a, b).confidence_interval().low > 0,
        upwards: bool = False,
        words: tuple[str, str, str] = ("best", "behind", "open"),
    ) -> Callable[..., Any]:
        def rows(found: dict[str, Any]) -> Any:
            names = sorted(found, key=lambda name: found[name].mean(), reverse=not upwards)
            top = names[0]
            says = {
                name: words[0] if name == top else words[1 if test(found[top], found[name]) else 2] for name in names
            }
            return [(name, found[name].mean(), says[name]) for name in names]

        return rows

    def read(given: Any) -> tuple[np.ndarray, ...]:
        rows = [tuple(row) for row in given] if isinstance(given, list | tuple) else []
        if not rows or any(len(row) != 3 for row in rows):
            raise Unfit("expected a list of (name, mean, says)")
        return tuple(np.asarray(each) for row in rows for each in (str(row[0]), number(row[1]), str(row[2])))

    mistakes = (
        (by(upwards=True), "yours begins with the smallest mean: sort the other way"),
        (by(words=("best", "open", "behind")), '"first" means that the best leads, so the other is "behind"'),
        (by(lambda a, b: True), "not every other method is behind: some verdicts are open"),
        (by(words=("open", "behind", "open")), 'the first is "best": a method is not compared with itself'),
        (by(lambda a, b: stats.ttest_ind(a, b).confidence_interval().low > 0),
         "all methods have the same seeds: use your `verdict` of 07.1, which takes differences seed by seed"),
    )  # fmt: skip
    return find_mistake(answer, by(), cases, mistakes, read=read)


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
            raise Unfit("your function changes groups itself, which later cells need: work on a copy")
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
            return "a group is in both parts: the test would ask for what was learned by heart"
        if asked(rows) != given:
            return "yours gives other parts the second time: decide by the group's name alone, not by chance"
        if asked(rows[::-1]) != given[::-1] or asked([*rows, "aa", "zz"])[:-2] != given or asked(rows[9:]) != given[9:]:
            return "with other rows, or in another order, a group changes its part: decide by the group's name alone"
        with patch("builtins.hash", lambda name: zlib.adler32(repr(name).encode()) // 7):
            if asked(rows) != given:
                return (
                    "hash() of a text changes whenever Python starts, so tomorrow the same row would be in another "
                    "part: use `zlib.crc32`"
                )
        share = list(parts.values()).count("test") / len(parts)
        if 0.7 <= share <= 0.9:
            return f"train and test are swapped: {share:.0%} of the groups are in test"
        if not 0.12 <= share <= 0.3:
            return f"{share:.0%} of the groups are in test if they have names such as {rows[0]!r}: aim at a fifth"
    return None


@check("07.4")
def check_knn_accuracy(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """The share of test rows whose label wins the vote of the k nearest by cosine; the nearest voter breaks a tie."""
    cases = []
    for sizes, d, k, names in (((9, 8, 7), 3, 3, "abc"), ((14, 12), 2, 4, "xy"), ((9, 9, 9, 9), 4, 2, "pqrs")):
        rows, labels = in_classes(random, sizes, d, apart=0.7)
        rows, labels = rows * random.uniform(0.2, 3, (len(rows), 1)), np.array(list(names))[labels]
        half = len(rows) // 2
        cases.append((rows[:half], labels[:half].tolist(), rows[half:], labels[half:].tolist(), k))

    def by(
        table: Callable[[Any, Any], Any] = lambda asked, known: unit(asked) @ unit(known).T,
        one: bool = False,
        last: bool = False,
        count: bool = False,
    ) -> Callable[..., Any]:
        def share(known: Any, known_labels: Any, asked: Any, asked_labels: Any, k: int) -> Any:
            right = 0
            for row, label in zip(table(asked, known), asked_labels, strict=True):
                votes = [known_labels[at] for at in np.argsort(-row)[: 1 if one else k]]
                right += max(votes[::-1] if last else votes, key=votes.count) == label
            return right if count else right / len(asked)

        return share

    def right(known: Any, known_labels: Any, asked: Any, asked_labels: Any, k: int) -> Any:
        return knn_accuracy(unit(known), known_labels, unit(asked), asked_labels, k)

    mistakes = (
        (by(lambda asked, known: asked @ known.T), "those are dot products: divide all rows by their lengths first"),
        (
            by(lambda asked, known: -unit(asked) @ unit(known).T),
            "`argsort` begins with the smallest: yours are the farthest",
        ),
        (by(one=True), "only the nearest votes in yours: let k vote"),
        (by(last=True), "if two labels have equally many votes, the one with the nearest voter must win"),
        (by(count=True), "that is how many are right: divide by the number of test sentences"),
    )
    return find_mistake(answer, right, cases, mistakes)


class _Method:
    """The result of `make`, which remembers whether it was trained before."""

    def __init__(self, name: str) -> None:
        self.name, self.trained = name, 0


@check("07.5")
def check_measured(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """A new method for each seed; an array of scores for each name."""
    worth = {name: random.normal() for name in ("tfidf", "film", "bag", "lsa")}

    def train_and_score(method: _Method, seed: int) -> float:
        if not isinstance(method, _Method):
            raise Unfit("train_and_score expects a method made by `make()`, and a seed")
        method.trained += 1
        return float(worth[method.name] + np.sin(seed) + method.trained)

    cases = []
    for names, seeds in ((("tfidf", "film"), (0, 1, 2)), (("bag", "film", "lsa"), (3, 7)), (("lsa",), (5, 0, 2, 4))):
        makers = {name: lambda name=name: _Method(name) for name in names}
        cases.append((makers, tuple(seed + int(random.integers(90)) for seed in seeds), train_and_score))

    def by(once: bool = False, how: Callable[[list[float]], Any] = np.array) -> Callable[..., Any]:
        def found(makers: Any, seeds: Any, train: Any) -> Any:
            kept = {name: make() for name, make in makers.items()}
            return {n: how([train(kept[n] if once else makers[n](), seed) for seed in seeds]) for n in makers}

        return found

    def read(given: Any) -> tuple[np.ndarray, ...]:
        if not isinstance(given, dict) or not all(isinstance(each, np.ndarray) for each in given.values()):
            raise Unfit("expected a dict with an array of scores for each name: `np.array(values)`")
        return tuple(np.asarray(each) for name in sorted(given) for each in (name, given[name]))

    mistakes = (
        (by(once=True), "yours trains the same method again: make a new one for each seed"),
        (
            by(how=lambda values: np.array(values[-1:])),
            "only the last seed is kept: begin the list before the loop over seeds",
        ),
        (by(how=lambda values: np.array(np.mean(values))), "keep the score of each seed: the verdict needs them"),
        (
            lambda makers, seeds, train: by()(makers, (seeds[0],) * len(seeds), train),
            "all trainings have the same seed in yours",
        ),
        (by(how=lambda values: np.array(values[:1])), "yours returns after the first seed"),
    )
    return find_mistake(answer, by(), cases, mistakes, read=read)

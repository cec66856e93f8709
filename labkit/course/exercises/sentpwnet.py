"""Notebook 02: the parts of an encoder, fair tables, tuning, thresholds and cells (its training is `own_training`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeAlias

import numpy as np
import torch
from scipy import stats
from torch import Tensor

from labkit.course.exercise import Unfit, Unnamed, array, check, find_mistake, number, several, yes_or_no
from labkit.course.exercises.draws import lengths_of, tensor
from labkit.evaluation import best_threshold
from labkit.extras import require
from labkit.training.encoders import inside

# --- the parts of an encoder -----------------------------------------------------------------------------------


def filled(rows: Tensor, lengths: Tensor, value: float = -torch.inf) -> Tensor:
    """`value` on padding, for answers (n, filters, longest) or logits (n, longest)."""
    outside = ~inside(lengths, rows.shape[-1])
    return rows.masked_fill(outside[:, None, :] if rows.ndim == 3 else outside, value)


def largest(answers: Tensor, lengths: Tensor) -> Tensor:
    return filled(answers, lengths).amax(2)


def summed(shares: Tensor, states: Tensor) -> Tensor:
    return (shares[:, :, None] * states).sum(1)


def attended(states: Tensor, logits: Tensor, lengths: Tensor) -> Tensor:
    return summed(filled(logits, lengths).softmax(1), states)


def learnable(answer: Any) -> np.ndarray:
    """A tensor: the network of the next exercises learns through it."""
    if hasattr(answer, "values") and hasattr(answer, "indices") and not isinstance(answer, Tensor):
        raise Unfit("values and their places came: `max(dim)` gives both, and the values alone are wanted (`.values`)")
    if not isinstance(answer, Tensor):
        raise Unfit(f"a tensor was expected, and a {type(answer).__name__} came: a network learns through it")
    return array(answer)


def blocked(made: Callable[[Tensor], Tensor], rows: Tensor) -> str | None:
    """What is said where no gradient comes back through a function of rows."""
    rows = rows.clone().requires_grad_()
    out = made(rows)
    if out.requires_grad:
        out.sum().backward()
    if rows.grad is None or not rows.grad.any():
        return (
            "the numbers are right, but no gradient comes through them: a network could not learn. Work with tensors "
            "all the way: `float(...)`, `.item()`, `.tolist()`, `.numpy()`, `.detach()`, `torch.tensor(...)` cut it off"
        )
    return None


@check("02.1")
def check_largest_answers(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """The maximum over the windows that begin at a word."""
    cases = []
    for shift, scale, n, filters, longest in ((0, 1, 3, 5, 4), (-4, 1, 4, 2, 6), (-2e6, 1e5, 3, 3, 5), (0, 1, 3, 1, 4)):
        lengths = lengths_of(random, n, longest)
        outside = ~inside(lengths, longest)[:, None, :]  # on padding stand larger ones
        cases.append((scale * tensor(random, n, filters, longest) + shift + outside * (2.0 - shift), lengths))
    mistakes = (
        (lambda a, n: a.amax(2), "padding takes part in yours: where a sentence is short, an answer beside it wins"),
        *((lambda a, n, floor=floor: filled(a, n, floor).amax(2),
           f"{floor:g} is no floor: all answers of a filter may be below it. Which number is below every other?")
          for floor in (0.0, -100.0, -1e4)),
        (lambda a, n: filled(a, n, 0.0).sum(2) / n[:, None], "that is the mean; the largest is wanted"),
        (lambda a, n: filled(a, n).amax(1), "yours is the largest over the filters, at each word"),
    )  # fmt: skip
    complaint = find_mistake(answer, largest, cases, mistakes, read=learnable)
    return complaint or blocked(lambda rows: answer(rows, cases[0][1]), cases[0][0])


@check("02.2")
def check_attend(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """Σ a_t h_t with a the softmax over the words of a sentence."""
    cases = [
        (tensor(random, n, t, size) + 0.5, scale * tensor(random, n, t) + shift, lengths_of(random, n, t))
        for shift, scale, n, t, size in ((0, 1, 3, 4, 5), (-30, 2, 4, 6, 2), (4, 3, 2, 5, 3))
    ]

    def over(share: Callable[..., Tensor]) -> Callable[..., Tensor]:
        return lambda states, logits, lengths: summed(share(logits, lengths), states)

    mistakes = (
        (over(lambda g, n: g.softmax(1)), "padding takes part in yours: it has a share of the softmax"),
        (over(lambda g, n: g.softmax(1) * inside(n, g.shape[1])),
         "padding is taken out after the softmax: what is left no longer sums to 1"),
        (over(lambda g, n: filled(g, n, 0.0).softmax(1)),
         "a padded logit of 0 still has a share, e^0; padding needs -∞"),
        (over(lambda g, n: g.softmax(0)), over(lambda g, n: filled(g, n).softmax(0)),
         "yours shares out between the sentences; it is the words of one sentence that share"),
        (over(lambda g, n: filled(g, n).exp()), "e^ alone makes no shares: they must sum to 1 over the sentence"),
    )  # fmt: skip
    complaint = find_mistake(answer, attended, cases, mistakes, read=learnable)
    states, logits, lengths = cases[0]
    return (
        complaint
        or blocked(lambda rows: answer(rows, logits, lengths), states)
        or blocked(lambda rows: answer(states, rows, lengths), logits)
    )


# --- who leads -------------------------------------------------------------------------------------------------


def _verdict(answer: Any) -> np.ndarray:
    said = str(answer).strip().lower()
    if said not in ("first", "second", "open"):
        raise Unfit(f'"first", "second" or "open" was expected, and {answer!r} came')
    return np.asarray(said)


@check("07.1")
@check("02.3")
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
        """The verdict with another half width."""

        def rule(a: np.ndarray, b: np.ndarray) -> str:
            gap, width = (a - b).mean(), half(a, b)
            return "first" if gap > width else "second" if gap < -width else "open"

        return rule

    def student(a: np.ndarray, b: np.ndarray) -> float:
        return float(stats.t.ppf(0.975, len(a) - 1) * stats.sem(a - b))

    right = by(student)
    mistakes = (
        (by(lambda a, b: max(a.std(ddof=1), b.std(ddof=1))),
         "yours compares the gap with a standard deviation; an interval of the mean difference decides"),
        (by(lambda a, b: student(a, b) * np.sqrt(1 - 1 / len(a))), "your deviation divides by n; divide by n - 1"),
        (by(lambda a, b: student(a, b) * np.sqrt(len(a))), "the error of a mean: divide by the root of n"),
        (by(lambda a, b: 1.96 * stats.sem(a - b)), "1.96 is for many seeds; with few take Student's t"),
        (by(lambda a, b: stats.t.ppf(0.95, len(a) - 1) * stats.sem(a - b)),
         "2.5 % lie beyond each end of a 95 % interval: take the 97.5 % point"),
        (by(lambda a, b: stats.t.ppf(0.975, len(a) - 1) * np.hypot(stats.sem(a), stats.sem(b))),
         "both were run with the same seeds: take the differences first, then their deviation"),
        (lambda a, b: right(a, b).replace("second", "open"), "yours never says 'second'"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes, read=_verdict)


# --- fair tables, tuning ---------------------------------------------------------------------------------------

Row: TypeAlias = dict[str, Any]


@check("02.13")
def check_fair(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """Encoder, seeds and number of trials alike, at least one trial, all chosen on dev."""

    def table(*changed: tuple[int, str, Any], **all_rows: Any) -> tuple[list[Row]]:
        """A table of three methods that is fair, but for the cells and columns that are given."""
        usual = {"encoder": "cnn", "seeds": int(random.integers(2, 9)), "trials": int(random.integers(8, 30))}
        usual |= {"chosen on": "dev"} | all_rows
        rows = [{"method": name, "AUC": round(random.uniform(0.7, 0.9), 3)} | usual for name in ("a", "b", "c")]
        for row, column, value in changed:
            rows[row][column] = value
        return (rows,)

    unlike = {"trials": 4, "encoder": "bilstm", "seeds": 1, "chosen on": "test"}
    cases = [table(), table(encoder="lstm"), table(trials=0), table(**{"chosen on": "test"}), table((1, "trials", 50))]
    cases += [table(trials=0, **{"chosen on": "nothing"}), table((0, "AUC", 0.99))]
    cases += [table((row, column, value)) for row in range(3) for column, value in unlike.items()]

    def right(rows: list[Row], alike: Sequence[str] = ("encoder", "seeds", "trials")) -> bool:
        same = all(row[what] == rows[0][what] for row in rows for what in alike)
        return same and all(row["trials"] > 0 and row["chosen on"] == "dev" for row in rows)

    def alike(*columns: str) -> Callable[..., bool]:
        return lambda rows: all(row[what] == rows[0][what] for row in rows for what in columns)

    every = alike("encoder", "seeds", "trials")
    mistakes = (
        (every, lambda rows: every(rows) and all(row["trials"] > 0 for row in rows),
         "yours takes values that were chosen on test: their AUC there is the best of many looks"),
        (lambda rows: every(rows) and all(row["chosen on"] == "dev" for row in rows),
         "no trials at all are equal budgets, too, but then the table compares first guesses: ask for at least one"),
        (alike("encoder", "seeds", "trials", "chosen on"), "alike is not enough: all may be chosen on test"),
        *((lambda rows, columns=columns: right(rows, columns),
           f"yours does not compare the {left}: rows that differ in it are no comparison")
          for left, columns in (("trials", ("encoder", "seeds")), ("encoder", ("seeds", "trials")),
                                ("seeds", ("encoder", "trials")))),
        (lambda rows: every(rows) and any(row["trials"] > 0 and row["chosen on"] == "dev" for row in rows),
         "one row chosen on dev is not enough: `all` of them, not `any`"),
    )  # fmt: skip
    return find_mistake(answer, lambda rows: right(rows), cases, mistakes, read=yes_or_no)


World: TypeAlias = dict[float, dict[str, float]]  # of each value that may be tried the AUC on each split


def _worlds(random: np.random.Generator) -> list[tuple[World]]:
    """Nine values and their AUCs: on each split another one is best, and dev and test together like a fourth."""
    worlds: list[tuple[World]] = []
    for _ in range(3):
        values = random.choice(np.arange(1, 99), 9, replace=False) / 10
        aucs = {split: random.uniform(0.6, 0.7, 9) for split in ("train", "dev", "test")}
        aucs["dev"][[0, 1, 4]], aucs["test"][1:3], aucs["train"][3] = (0.87, 0.86, 0.5), (0.88, 0.89), 0.93
        worlds.append(({float(values[at]): {split: float(aucs[split][at]) for split in aucs}
                        for at in random.permutation(9)},))  # fmt: skip
    return worlds


@check("02.14")
def check_tuning(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """The value that is best on dev, and what test says of its network, which it is asked once."""
    trained: list[float] = []
    tested: set[float] = set()

    def asked(world: World) -> Any:
        def train(value: float) -> tuple[str, float]:
            trained.append(value)
            return "network", value

        def auc(network: Any, split: str) -> float:
            if not (isinstance(network, tuple) and network[:1] == ("network",)):
                raise Unfit(f"`auc` wants what `train` gave back, and {network!r} came")
            if split not in ("train", "dev", "test"):
                raise Unfit(f'`auc` knows the splits "train", "dev" and "test", and {split!r} came')
            tested.update({network[1]} if split == "test" else ())
            return world[network[1]][split]

        trained.clear()
        tested.clear()
        return answer(list(world), train, auc)

    def chosen(by: str, told: str, least: bool = False) -> Callable[[World], Any]:
        def rule(world: World) -> tuple[float, float]:
            best = (min if least else max)(world, key=lambda value: world[value][by])
            return best, world[best][told]

        return rule

    mistakes = (
        (chosen("test", "test"), "the value was chosen on test: its AUC is then the best of many looks, and no test"),
        (chosen("test", "dev"), "dev and test are exchanged: dev chooses, and test says how good the choice is"),
        (chosen("train", "test"), "the value was chosen on train: whoever learns it by heart wins there. Dev chooses"),
        (chosen("dev", "dev"), "that is the AUC on dev, by which it was chosen: it flatters. Ask test"),
        (chosen("dev", "test", least=True), "that is the value that is worst on dev: the larger the AUC, the better"),
    )
    worlds = _worlds(random)
    read = several(2, number, "two things were expected: the best value, and its AUC on test")
    complaint = find_mistake(asked, chosen("dev", "test"), worlds, mistakes, read=read)
    if complaint is None and len(tested) > 1:
        return "right, but yours looks at test for networks that dev has not chosen: ask of the chosen one alone"
    if complaint is None and len(trained) > len(worlds[-1][0]):
        return f"right, but yours trains {len(trained)} times for {len(worlds[-1][0])} values: keep the networks"
    return complaint


# --- thresholds ------------------------------------------------------------------------------------------------


def _right_share(threshold: float, scores: np.ndarray, labels: np.ndarray) -> float:
    return float(((scores > threshold) == (labels == 1)).mean())


@check("02.5")
def check_honest_accuracy(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """The threshold of dev, the accuracy of test."""
    cases: list[tuple[np.ndarray, ...]] = []
    for rows, middle, shift in (((40, 30), 0.6, -0.12), ((60, 90), 0.2, 0.1), ((80, 40), -0.1, 0.15)):
        sides = []
        for n, mean in zip(rows, (middle, middle + shift), strict=True):
            labels = random.permutation(np.arange(n) < random.uniform(0.3, 0.7) * n).astype(int)
            sides += [mean + 0.2 * labels + random.normal(0, 0.12, n), labels]
        cases.append(tuple(sides))
    steps = np.arange(12) / 8, (np.arange(12) > 6).astype(int)  # 13/16 parts dev without a mistake
    cases.append((*steps, np.array([7, 13, 13, 13, 4, 15, 11, 13]) / 16, np.array([0, 1, 0, 0, 0, 1, 1, 0])))

    def right(dev_scores: Any, dev_labels: Any, test_scores: Any, test_labels: Any) -> float:
        return _right_share(best_threshold(dev_scores, dev_labels), test_scores, test_labels)

    mistakes = (
        (lambda d, dl, t, tl: _right_share(best_threshold(t, tl), t, tl),
         "the threshold was searched on the pairs that are scored: the leak of Algorithm 1 as it is printed"),
        (lambda d, dl, t, tl: _right_share(best_threshold(d, dl), d, dl),
         "that is the accuracy on dev, whose labels the threshold has seen"),
        (lambda d, dl, t, tl: _right_share(best_threshold(t, tl), d, dl),
         "dev and test are exchanged: choose on dev, score on test"),
        (lambda d, dl, t, tl: _right_share(0.5, t, tl), "0.5 is nobody's best threshold: let dev choose it"),
        (lambda d, dl, t, tl: float(((t < best_threshold(d, dl)) == (tl == 1)).mean()),
         "a pair is called the same if its score is above the threshold, not below it"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes, tolerance=5e-4)


NOISE = 50  # pairs, half of them the same, whose scores are noise


@check("02.6")
def check_leak_of_noise(answer: Any, random: np.random.Generator) -> str | None:
    """The mean accuracy that a score without any knowledge reports, when its threshold comes from the same 50 pairs."""
    if isinstance(answer, str):
        raise Unfit(f"one number was expected, and {answer!r} came")
    given, right = number(answer), best_of_noise()
    if abs(given - right) <= 0.01:
        return None
    mistakes = (
        (100 * right, 1, "that is in percent; a share between 0 and 1 was expected"),
        (NOISE * right, 0.5, f"that is how many of the {NOISE} are right; a share between 0 and 1 was expected"),
        (right - 0.5, 0.01, "that is by how much it leaks; the accuracy itself was asked, 0.5 more"),
        (1 - right, 0.01, "that is the share of wrong decisions; the accuracy was asked"),
        (0.5, 0.012, "0.5 is what noise is worth; the threshold here is the best, found on the pairs that are scored"),
    )
    if named := next((says for value, near, says in mistakes if abs(given - value) <= near), None):
        return named
    if not 0.5 <= given < 1:
        return "a threshold that calls all pairs alike is right in half of them, and none is right in all: 0.5 to 1"
    return Unnamed(
        f"too {'much' if given > right else 'little'}: draw {NOISE} scores, with labels of which half are 1, search "
        "the best threshold, note its accuracy on the same pairs, and take the mean over hundreds of draws"
    )


@cache
def best_of_noise() -> float:
    """Mean over 400 draws of the best accuracy of any threshold."""
    random, labels = np.random.default_rng(0), np.arange(NOISE) % 2
    draws = (random.random(NOISE) for _ in range(400))
    return float(np.mean([_right_share(best_threshold(scores, labels), scores, labels) for scores in draws]))


# --- cells -----------------------------------------------------------------------------------------------------


def _whole(answer: Any) -> np.ndarray:
    """A whole number of up to 64 bits, exactly: as its digits."""
    if isinstance(answer, bool | str | float | np.floating) or not hasattr(answer, "__int__"):
        kind = type(answer).__name__
        raise Unfit(f"a whole number was expected, and a {kind} came: 64 bits need Python's whole numbers")
    return np.asarray(str(int(answer)))


@check("02.7")
def check_parent(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """Clear the bits below the level's own, and set that one."""
    require("places", "s2cell")
    from s2cell import cell_id_to_parent_cell_id, lat_lon_to_cell_id

    cases = [
        (lat_lon_to_cell_id(random.uniform(-60, 60), random.uniform(*around), own), level)
        for around in ((-180, 180), (0, 40), (100, 150), (-80, -70))  # at -75 the highest of the 64 bits is set
        for own in (30, 24, 18)
        for level in (own - 1, own - 4, 12, 6, 1)
    ]

    def right(cell: int, level: int) -> int:
        return int(cell_id_to_parent_cell_id(cell, level))

    def marker(level: int) -> int:
        return 1 << (2 * (30 - level))

    def cleared(cell: int, level: int) -> int:
        return cell & -marker(level)

    mistakes = (
        (lambda c, n: c, "yours is the cell itself: the bits below the marker are still set"),
        (cleared, "the marker is missing: its bit is still what the cell had there. Set it with `| marker`"),
        (lambda c, n: c | marker(n), "the lower bits are still there: clear them with `& -marker`"),
        (lambda c, n: cleared(c, n) ^ marker(n), lambda c, n: cleared(c, n) + marker(n),
         "where the cell has a 1 at the marker's place it must stay: set it with `|`"),
        (lambda c, n: c >> (2 * (30 - n)), "the bits stay where they are; shifting makes another number of them"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes, read=_whole)

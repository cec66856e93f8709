"""Notebook 07: AUC, what is open, and splits (its rule of who leads is checked with that of notebook 02)."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np
from sklearn.metrics import roc_auc_score

from labkit.course.ablation import kept
from labkit.course.exercise import Unfit, check, find_mistake

ASKED = "sentpwnet"


@check("07.2")
def check_auc(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """The share of (same, other) couples in which the same pair has the higher score; a tie counts half."""
    cases = []
    for n, share, steps, lead in ((12, 0.4, 3, 0.7), (30, 0.7, 4, 0.7), (25, 0.3, 200, 0.7), (20, 0.4, 3, -0.7)):
        labels = random.permutation((np.arange(n) < share * n).astype(int))
        scores = random.normal(size=n) + lead * labels
        cases.append((scores.round(3) if steps > 9 else (scores * steps / 2).round() / steps, labels))
    cases.append((np.repeat([0.2, 0.4, 0.9], 3), np.array([0, 1, 0, 1, 1, 0, 0, 1, 1])))  # many ties

    def right(scores: Any, labels: Any) -> Any:
        return roc_auc_score(labels, scores)

    def of(how: Callable[[Any, Any], Any]) -> Callable[..., Any]:
        return lambda scores, labels: how(scores[labels == 1][:, None], scores[labels == 0][None, :])

    mistakes = (
        (of(lambda a, b: (a > b).mean()), "a tie counts half: whoever gives all pairs one score must come out at 0.5"),
        (of(lambda a, b: (a >= b).mean()), "a tie counts half, not whole"),
        (of(lambda a, b: (a < b).mean() + 0.5 * (a == b).mean()), of(lambda a, b: (a < b).mean()),
         "that is the share in the wrong order"),
        (of(lambda a, b: (a > b).sum()), of(lambda a, b: (a > b).sum() + 0.5 * (a == b).sum()),
         "divide by the number of couples"),
        (lambda scores, labels: ((scores > 0.5) == labels).mean(),
         "that is the accuracy at a threshold; AUC looks at the order of every couple"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes, tolerance=6e-4)


@check("07.3")
def check_undecided(answer: Any, random: np.random.Generator) -> str | None:
    """The methods of the kept table for which it is open whether SentPWNet is better."""
    table = kept("together")
    intervals = {name: table.lead(ASKED, name, "auc").interval() for name in table.figures if name != ASKED}
    right = {name for name, (low, high) in intervals.items() if low <= 0 <= high}
    try:
        given = {answer} if isinstance(answer, str) else {str(name) for name in answer}
    except TypeError:
        return f"a list of names was expected, and {answer!r:.60} came"
    given -= {ASKED}
    if given == right:
        return None
    if unknown := given - set(intervals):
        return f"{sorted(unknown)[0]!r} is no method of the table"
    if given == set(intervals) - right:
        return "these are the ones that are decided: turn the condition round"
    if extra := given - right:
        name = sorted(extra)[0]
        low, high = intervals[name]
        return f"{ASKED} is between {low:+.3f} and {high:+.3f} ahead of {name!r} by AUC, which leaves 0 out"
    return f"one is missing: where else does the interval of {ASKED}'s lead contain 0?"


@check("07.4")
def check_split(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """Same group, same part, by its name alone; about a fifth in test."""

    def asked(groups: list[str]) -> list[str]:
        """What the answer gives, as words."""
        own = ["".join(list(name)) for name in groups]  # equal names that are not one object: id() tells nothing
        given = answer(own)
        if isinstance(given, dict | str) or not hasattr(given, "__iter__"):
            raise Unfit(f'a list with "train" or "test" for each row was expected, and a {type(given).__name__} came')
        found = [str(each) for each in given]
        if own != groups:
            raise Unfit("your function changes groups itself, which later cells need as it was: work on a copy")
        if len(found) != len(groups) or set(found) - {"train", "test"}:
            raise Unfit(f'for each of {len(groups)} rows "train" or "test" was expected, and {len(found)} came')
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
            return "a group stands in both parts: the test would ask for what was learned by heart"
        if asked(rows) != given:
            return "asked again, yours gives other parts: nothing may be left to chance; decide by the group's name"
        if asked(rows[::-1]) != given[::-1] or asked([*rows, "aa", "zz"])[:-2] != given or asked(rows[9:]) != given[9:]:
            return "with other rows, or in another order, a group changes its part: decide by the group's name alone"
        with patch("builtins.hash", lambda name: zlib.adler32(repr(name).encode()) // 7):
            if asked(rows) != given:
                return (
                    "hash() of a text is another one whenever Python starts: tomorrow the same row would be in "
                    "another part. `zlib.crc32` stays what it is"
                )
        share = list(parts.values()).count("test") / len(parts)
        if 0.7 <= share <= 0.9:
            return f"train and test have changed places: {share:.0%} of the groups are in test"
        if not 0.12 <= share <= 0.3:
            return f"{share:.0%} of the groups are in test where they are called like {rows[0]!r}: aim at a fifth"
    return None

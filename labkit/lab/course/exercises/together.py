"""Notebook 07: comparing methods: ties, AUC, splits without a leak."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy.stats import pearsonr, spearmanr, ttest_ind
from sklearn.metrics import average_precision_score, roc_auc_score

from labkit.evaluation.comparison import leader, over_seeds
from labkit.lab.course.ablation import kept
from labkit.lab.course.exercise import Unfit, Unnamed, check, find_mistake
from labkit.lab.course.exercises.sentpwnet import ruled

ASKED = "sentpwnet"  # of exercise 07.3


@check("07.1")
def check_verdict(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """Who leads by more than the larger spread, n - 1 below the line."""
    cases = _seeds()

    def right(a: Any, b: Any) -> Any:
        return leader(over_seeds(a), over_seeds(b))

    def larger(a: Any, b: Any) -> Any:
        return max(a.std(ddof=1), b.std(ddof=1))

    def turned(a: Any, b: Any) -> str:
        return "tie" if right(a, b) != "tie" else "first" if a.mean() > b.mean() else "second"

    mistakes = (
        (ruled(lambda a, b: 0.0), "yours always finds a winner: a difference inside the spread is a tie"),
        (lambda a, b: "tie", "yours is a tie whatever is asked: a difference beyond both spreads is none"),
        (lambda a, b: right(b, a), "larger is better: yours is the other way round"),
        (lambda a, b: "tie" if right(a, b) == "tie" else "first", "who has the larger mean? Yours never says second"),
        (lambda a, b: "tie" if right(a, b) == "tie" else "second", "who has the larger mean? Yours never says first"),
        (lambda a, b: "tie" if a.mean() - b.mean() < larger(a, b) else "first",
         lambda a, b: "tie" if a.mean() - b.mean() <= larger(a, b) else "first",
         "the difference can be below 0, where the second leads: compare its size, abs"),
        *((ruled(spread(kind, of)), says) for kind, of, says in _spreads()),
        (ruled(lambda a, b: np.hypot(a.std(ddof=1), b.std(ddof=1))),
         "that is the root of the sum of both squares, the spread of a difference; the larger of the two decides"),
        (ruled(lambda a, b: np.hypot(a.std(ddof=1), b.std(ddof=1)) / np.sqrt(2)),
         "you average the squares of both spreads; the larger of the two decides"),
        (ruled(lambda a, b: np.concatenate([a, b]).std(ddof=1)), ruled(lambda a, b: np.concatenate([a, b]).std()),
         "that is the spread of all figures together, the difference of the methods in it: one for each method"),
        *((ruled(lambda a, b, n=n: n * larger(a, b)), f"that is {n} times the spread: take it once")
          for n in (2, 3, 1.96)),
        (ruled(lambda a, b: 1.96 * larger(a, b) / np.sqrt(len(a))),
         "that is an interval of the mean, made of its standard error; a spread is not divided by √n"),
        (turned, "the condition is turned round: a tie is a difference *inside* the spread"),
        (lambda a, b: "first" if (a > b).sum() * 2 > len(a) else "second" if (a < b).sum() * 2 > len(a) else "tie",
         "you count the seeds that are ahead: compare the means"),
        (ruled(lambda a, b: (a - b).std(ddof=1)), ruled(lambda a, b: (a - b).std()),
         "that is the spread of the differences; each method has a spread of its own, and the larger decides"),
        (ruled(lambda a, b: (a - b).std(ddof=1) / np.sqrt(len(a))),
         "that is the standard error of the differences; each method has a spread, and the larger decides"),
        (ruled(lambda a, b: np.sqrt(a.std(ddof=1) * b.std(ddof=1))),
         "that is a mean of the two spreads: the larger one decides"),
        (lambda a, b: "tie" if abs(a - b).mean() <= larger(a, b) else ruled(lambda a, b: 0)(a, b),
         "take the difference of the two means, not the mean of the differences' sizes"),
        (ruled(larger, np.median), "these are medians: compare the means"),
        (ruled(larger, np.max), "you compare the best seeds: compare the means"),
        (ruled(larger, lambda each: each[0]), "you compare the first seeds: compare the means"),
        (lambda a, b: "tie" if max(a.min(), b.min()) <= min(a.max(), b.max()) else ruled(lambda a, b: 0)(a, b),
         "a tie is no matter of whether the seeds overlap: compare the means' difference with the larger spread"),
        *((_tested(alike), "that is a t-test; the house's rule compares with the larger spread")
          for alike in (True, False)),
    )  # fmt: skip
    complaint = find_mistake(answer, right, cases, mistakes, read=_word)
    if complaint is None and _word(answer(np.full(3, 0.75), np.full(3, 0.75))) != "tie":  # 0, however it is computed
        return "a difference of just the spread is a tie too, as of two equal methods without any: `<=`"
    return _of_seeds(answer, right, cases) if isinstance(complaint, Unnamed) else complaint


_KINDS: tuple[tuple[Callable[[Any], Any], str], ...] = (  # of a method's own spread
    (lambda a: a.std(ddof=1), ""),
    (lambda a: a.std(), "three seeds are few: a spread has n - 1 below the line, `ddof=1`"),
    (lambda a: a.var(ddof=1), "that is the variance; a spread is its root"),
    (lambda a: a.var(), "that is the variance; a spread is its root"),
    (lambda a: a.std(ddof=1) / np.sqrt(len(a)),
     "that is the standard error of the mean; a spread is not divided by √n"),
    (lambda a: a.std() / np.sqrt(len(a)), "that is the standard error of the mean; a spread is not divided by √n"),
    (lambda a: np.ptp(a) / 2, "that is half the range; a spread is the standard deviation"),
    (lambda a: np.ptp(a), "that is the range, largest less smallest; a spread is the standard deviation"),
    (lambda a: abs(a - a.mean()).mean(), "that is the mean absolute deviation; a spread is the standard deviation"),
    (lambda a: abs(a - a.mean()).max(), "that is the largest deviation; a spread is the standard deviation"),
)  # fmt: skip
_OF: tuple[tuple[Callable[[Any, Any], Any], str], ...] = (  # of two spreads
    (max, ""),
    (lambda a, b: a, "that is the spread of the first alone: the larger of the two decides"),
    (lambda a, b: b, "that is the spread of the second alone: the larger of the two decides"),
    (min, "take the larger of the two spreads; yours takes the smaller"),
    (lambda a, b: (a + b) / 2, "that is the mean of the two spreads: the larger one decides"),
    (lambda a, b: a + b, "that is the sum of the two spreads: the larger one decides"),
    (lambda a, b: abs(a - b), "that is the difference of the two spreads: the larger one decides"),
)


def spread(kind: Callable[[Any], Any], of: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda a, b: of(kind(a), kind(b))


def _spreads() -> list[tuple[Callable[[Any], Any], Callable[[Any, Any], Any], str]]:
    """Every wrong kind of spread, with every way of making one of two; half the sum of the ranges is their mean."""
    pairs = [(kind, of, [word for word in (says, says_of) if word]) for kind, says in _KINDS for of, says_of in _OF]
    pairs = [each for each in pairs if not ("half the range" in str(each[2]) and "the sum" in str(each[2]))]
    return [(kind, of, "; and ".join(words)) for kind, of, words in pairs if words]


def _tested(alike: bool) -> Callable[[Any, Any], str]:
    """Student's t-test (Welch's, where variances are not alike)."""

    def says(a: Any, b: Any) -> str:
        tied = ttest_ind(a, b, equal_var=alike).pvalue > 0.05
        return "tie" if tied else "first" if a.mean() > b.mean() else "second"

    return says


_GAPS = ((0.02, 0.95), (0.7, 0.95), (1.05, 1.15), (1.05, 2), (2, 8))  # in units of the larger spread


def _seeds() -> list[tuple[np.ndarray, np.ndarray]]:
    """Pairs of methods: all units, spreads alike and unlike, three seeds and more, gaps below and above the spread."""
    draw = np.random.default_rng(71)
    cases = []
    for row in range(300):
        unit, larger = 10.0 ** draw.uniform(-2, 1.5), draw.permutation([1.0, draw.uniform(0.05, 1)])
        a, b = draw.normal(size=(2, 3 if row % 2 else draw.integers(3, 7)))
        a, b = (
            unit * size * (each - each.mean()) / each.std(ddof=1) for each, size in zip((a, b), larger, strict=True)
        )
        gap = draw.choice([-1, 1]) * unit * draw.uniform(*_GAPS[draw.integers(len(_GAPS))])
        middle = unit * draw.uniform(3, 30)
        cases.append((middle + gap + a, middle + b))
    return cases


def _word(answer: Any) -> np.ndarray:
    """One of the three words."""
    if not isinstance(answer, str) or answer not in ("first", "second", "tie"):
        raise Unfit(f'"first", "second" or "tie" was expected, and {answer!r} came')
    return np.asarray(str(answer))


def _of_seeds(answer: Callable[..., Any], right: Callable[..., Any], cases: list[Any]) -> str:
    """What is wrong with a rule that has no name."""
    if any(answer(a * 1000, b * 1000) != answer(a.copy(), b.copy()) for a, b in cases):
        return (
            "multiply all figures by 1000, and your verdict changes: yours hangs on their unit, as a limit of your own "
            "or a rounding does. Compare the difference with the spread over the seeds"
        )
    if any(answer(a + 1000 * np.ptp(a), b + 1000 * np.ptp(a)) != answer(a.copy(), b.copy()) for a, b in cases):
        return "add one number to all figures, and your verdict changes: only their difference and their spread count"
    a, b = next((a, b) for a, b in cases if answer(a.copy(), b.copy()) != right(a, b))
    return Unnamed(
        f"means that are {abs(a.mean() - b.mean()):.3g} apart, with spreads of {a.std(ddof=1):.3g} and "
        f"{b.std(ddof=1):.3g}: {right(a, b)}; yours says {answer(a.copy(), b.copy())}"
    )


@check("07.2")
def check_auc(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """The share of (same, other) couples in which the same pair has the higher score; a tie counts half."""
    draw = np.random.default_rng(72)
    cases = []
    for n, share, steps, lead in (
        (12, 0.4, 4, 1),
        (30, 0.7, 6, 1),
        (12, 0.6, 3, 1),
        (25, 0.3, 200, 1),
        (20, 0.4, 5, -1),
    ):
        labels = draw.permutation((np.arange(n) < share * n).astype(int))
        cases.append((np.round(draw.normal(size=n) + 0.7 * lead * labels - 0.4, 3 if steps > 9 else 0) / steps, labels))

    def right(scores: Any, labels: Any) -> Any:
        return roc_auc_score(labels, scores)

    def couples(scores: Any, labels: Any) -> tuple[np.ndarray, np.ndarray]:
        return scores[labels == 1][:, None], scores[labels == 0][None, :]

    def of(how: Callable[[Any, Any], Any]) -> Callable[..., Any]:
        return lambda scores, labels: how(*couples(scores, labels))

    mistakes = (
        (of(lambda a, b: (a > b).mean()), "a tie counts half: whoever gives all pairs one score must come out at 0.5"),
        (of(lambda a, b: (a >= b).mean()), "a tie counts half, not whole"),
        (of(lambda a, b: (a < b).mean()), of(lambda a, b: (a <= b).mean()), lambda s, y: 1 - right(s, y),
         "that is the share in the wrong order"),
        (of(lambda a, b: (a > b).sum()), "divide by the number of couples; and a tie counts half"),
        (of(lambda a, b: (a > b).sum() + 0.5 * (a == b).sum()), "divide by the number of couples"),
        (of(lambda a, b: (a > b).mean() + (a == b).sum() / 2), "the ties are divided by the number of couples too"),
        (of(lambda a, b: (a > b).mean() - 0.5 * (a == b).mean()), "half of the ties is added, not taken off"),
        (of(lambda a, b: (a > b).mean() - (a < b).mean()), "that is 2 · AUC - 1"),
        (of(lambda a, b: (a > b).sum() / (a != b).sum()), "a tie counts half; yours leaves them out"),
        (of(lambda a, b: 0.5 * (a == b).mean()), "these are the ties alone"),
        (of(lambda a, b: a.mean() - b.mean()), "that is the difference of the mean scores; only order counts"),
        (of(lambda a, b: float(a.mean() > b.mean())), "compare every couple, not the two means"),
        (of(lambda a, b: (a > b.mean()).mean()), "compare with every other pair, not with their mean"),
        (of(lambda a, b: (a > b.max()).mean()), "compare with every other pair, not with the highest alone"),
        (lambda s, y: (s[:, None] > s[None, :]).mean(), "these are all couples; one of each is the same, one not"),
        (lambda s, y: ((s[:, None] > s) & (y[:, None] > y)).mean(),
         lambda s, y: (s[y == 1][:, None] > s[y == 0]).sum() / (len(s) * (len(s) - 1) / 2),
         "divide by the number of couples of one same and one other, not of all"),
        (lambda s, y: ((s > 0.5) == y).mean(), "that is an accuracy at the threshold 0.5; AUC needs no threshold"),
        (lambda s, y: ((s > 0) == y).mean(), "that is an accuracy at the threshold 0; AUC needs no threshold"),
        (lambda s, y: ((s > s.mean()) == y).mean(), "that is an accuracy at the mean score; AUC needs no threshold"),
        (lambda s, y: ((s > np.median(s)) == y).mean(), "that is an accuracy at the median; AUC needs no threshold"),
        (of(lambda a, b: a.mean()), "that is the mean score of the same pairs: compare them with the others"),
        (lambda s, y: (s[y == 1][:, None] > s).mean(),
         "yours compares with all pairs, the same ones among them: compare with those that are not the same"),
        (of(lambda a, b: (a > np.median(b)).mean()), "compare with every other pair, not with their median"),
        (of(lambda a, b: 0.5 * ((a > b).mean() + (a == b).mean())),
         "only the ties are halved: a couple in the right order counts whole"),
        (of(lambda a, b: (a > b).sum() / (a.size + b.size)),
         "divide by the number of couples, not of pairs; and a tie counts half"),
        (of(lambda a, b: (a > b).any(1).mean()), "every couple counts: it is not enough to beat one other"),
        (of(lambda a, b: (a.max() > b).mean()), "every same pair counts, not the highest alone"),
        (of(lambda a, b: ((a > 0.5).mean() + (b <= 0.5).mean()) / 2),
         "that is a mean of two accuracies at the threshold 0.5; AUC needs no threshold"),
        (of(lambda a, b: a.mean() / b.mean()), "that compares the mean scores; only order counts"),
        (of(lambda a, b: (a > b).sum() + 0.5 * (a == b).mean()),
         "divide by the number of couples, the ones in the right order too"),
        (of(lambda a, b: (a > b).mean(1)), "these are shares for each same pair: one number is asked"),
        (of(lambda a, b: np.sign(a - b).sum()), "count 1, 1/2 and 0 for a couple, and divide by how many"),
        (lambda s, y: max((s[y == 1] >= cut).mean() - (s[y == 0] >= cut).mean() for cut in s),
         "that is the best difference of both rates at one threshold; AUC needs no threshold"),
        (lambda scores, labels: max(((scores >= cut) == labels).mean() for cut in (*np.unique(scores), np.inf)),
         "that is the best accuracy of all thresholds; AUC needs no threshold"),
        (lambda s, y: pearsonr(s, y)[0], "that is a correlation with the labels; only the order counts"),
        (lambda s, y: spearmanr(s, y)[0], "that is a rank correlation with the labels"),
        (lambda s, y: average_precision_score(y, s), "that is the average precision, the area under another curve"),
        (lambda s, y: (lambda n: (s[y == 1][:n] > s[y == 0][:n]).mean())(min(y.sum(), (1 - y).sum())),
         "these are the first with the first, the second with the second: every couple counts"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes, tolerance=6e-4)


@check("07.3")
def check_tied(answer: Any, random: np.random.Generator) -> str | None:
    """The methods of the kept table that tie with SentPWNet."""
    table = kept("together")
    spreads = {name: table.spread(name, "auc") for name in table.figures}
    right = {name for name in spreads if name != ASKED and leader(spreads[ASKED], spreads[name]) == "tie"}
    try:
        named = [answer] if isinstance(answer, str) else [str(name) for name in answer]
    except TypeError:
        came = "a function" if callable(answer) else repr(answer)
        return f"a list of names was expected, and {came} came"
    given = set(named) - {ASKED}
    if given == right:
        return None
    if given and given <= {"first", "second", "tie", "True", "False"}:
        return "these are verdicts: give the names of the methods for which it is a tie"
    if unknown := given - set(spreads):
        return f"{sorted(unknown)[0]!r} is no method of the table"
    if given == set(spreads) - right - {ASKED}:
        return "these are the ones that do not tie: turn the condition round"
    if given == set(spreads) - {ASKED}:
        return "that is every method: take those whose verdict beside sentpwnet is a tie"
    if extra := given - right:
        name = sorted(extra)[0]
        gap = abs(spreads[ASKED].mean - spreads[name].mean)
        wider = max(spreads[ASKED].spread, spreads[name].spread)
        return f"{name!r} is {gap:.3f} away by AUC, and the larger of the two spreads is {wider:.3f}"
    return f"one is missing: whose mean is no further from that of {ASKED} than the larger of the two spreads?"


@check("07.4")
def check_split(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """Same group, same part, by its name alone; about a fifth in test."""
    draw = np.random.default_rng(74)

    def asked(groups: list[str]) -> list[str]:
        """What the answer gives, as words."""
        own = ["".join(list(name)) for name in groups]  # equal names that are not one object: id() tells nothing
        given = answer(own)
        if isinstance(given, dict | str) or not hasattr(given, "__iter__"):
            raise Unfit(f'a list with "train" or "test" for each row was expected, and a {type(given).__name__} came')
        found = [str(each) for each in given]
        if own != groups:
            raise Unfit("your function changes groups itself, which later cells need as it was: work on a copy")
        if strange := set(found) - {"train", "test"}:
            raise Unfit(f'for each row "train" or "test" was expected, and {sorted(strange)[0]!r} came')
        if len(found) != len(groups):
            raise Unfit(f'for each row "train" or "test" was expected: {len(groups)} of them, and {len(found)} came')
        return found

    shares = {}
    for kind, names in _names().items():
        rows = [names[place] for place in draw.permutation(np.repeat(np.arange(len(names)), 2))]
        given = asked(rows)
        parts = dict(zip(rows, given, strict=True))
        if any(parts[name] != where for name, where in zip(rows, given, strict=True)):
            return "a group stands in both parts: the test would ask for what was learned by heart"
        if asked(rows) != given:
            return "asked again, yours gives other parts: nothing may be left to chance; decide by the group's name"
        order = draw.permutation(len(rows))
        if asked([rows[i] for i in order]) != [given[i] for i in order]:
            return (
                "in another order of the file a group changes its part: decide by the group's name, not by its place "
                "or by lot"
            )
        if asked([*rows, "aa", f"{kind} 5000", "zz"])[: len(rows)] != given or asked(rows[:-9]) != given[:-9]:
            return "a new row moves old ones into another part: decide by the group's name alone"
        with patch("builtins.hash", lambda name: zlib.adler32(repr(name).encode()) // 7):
            if asked(rows) != given:
                return (
                    "hash() of a text is another one whenever Python starts: tomorrow the same row would be in "
                    "another part. `zlib.crc32` stays what it is"
                )
        shares[names[7]] = list(parts.values()).count("test") / len(parts)
    return _fifth(shares)


def _names() -> dict[str, list[str]]:
    """Names of groups as files have them: numbered, words, letters and digits; no two alike."""
    draw = np.random.default_rng(75)
    letters = "abcdefghijklmnopqrstuvwxyzäöé"
    words = {"".join(draw.choice(list(letters), draw.integers(3, 9))) for _ in range(400)}
    return {
        "scene": [f"scene {number}" for number in range(400)],
        "word": sorted(words),
        "code": [f"{number:08x}" for number in draw.integers(16**8, size=400)],
    }


def _fifth(shares: dict[str, float]) -> str | None:
    """Whether about a fifth of the groups is in test, whatever they are called."""
    if set(shares.values()) <= {0.0, 1.0}:
        return "all rows are in one part: about a fifth of the groups belongs into test"
    if all(0.7 <= share <= 0.9 for share in shares.values()):
        return f"train and test have changed places: {max(shares.values()):.0%} of the groups are in test"
    for kind, share in shares.items():
        if not 0.12 <= share <= 0.3:
            others = (
                " whatever they are called: decide by the whole name" if np.ptp(list(shares.values())) > 0.1 else ""
            )
            return f"{share:.0%} of the groups are in test where they are called like {kind!r}: aim at a fifth{others}"
    return None

"""Notebook 02: a training by own code, ablations, thresholds, places and cross-encoders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import torch
import torch.nn.functional as F
from s2cell import cell_id_to_parent_cell_id, lat_lon_to_cell_id
from sklearn.metrics import f1_score, roc_auc_score
from torch import Tensor

from labkit.evaluation import best_threshold, leader, over_seeds
from labkit.lab.course.exercise import Unfit, Unnamed, array, check, find_mistake, number, several, yes_or_no
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


def _lets_through(made: Callable[[Tensor], Tensor], rows: Tensor) -> str | None:
    """Whether a gradient comes back through a function of rows."""
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


def _answers() -> list[tuple[Tensor, Tensor]]:
    """Answers and lengths: of both signs, all a little below 0, all far below 0; larger ones stand on padding. And one
    sentence alone, one filter alone."""
    draw, cases = torch.Generator().manual_seed(0), []
    for shift, scale, (n, filters, longest), lengths in (
        (0.0, 1.0, (3, 5, 4), (4, 2, 1)),
        (-4.0, 1.0, (4, 2, 6), (3, 6, 1, 5)),
        (-2e6, 1e5, (2, 3, 5), (2, 4)),
        (0.0, 1.0, (1, 3, 4), (3,)),
        (0.0, 1.0, (3, 1, 4), (1, 4, 2)),
    ):
        answers = scale * torch.randn(n, filters, longest, generator=draw, dtype=torch.float64) + shift
        outside = ~inside(torch.tensor(lengths), longest)[:, None, :]
        cases.append((answers + outside * (2.0 - shift), torch.tensor(lengths)))
    return cases


@check("02.1")
def check_largest_answers(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """The maximum over the windows that begin at a word."""

    mistakes = (
        (lambda a, n: a.amax(2), "padding takes part in yours: where a sentence is short, an answer beside it wins"),
        *((lambda a, n, floor=floor: filled(a, n, floor).amax(2),
           f"{floor:g} is no floor: all answers of a filter may be below it. Which number is below every other?")
          for floor in (0.0, -1.0, -10.0, -100.0, -1e3, -1e4, -1e5, -1e6)),
        (lambda a, n: a.masked_fill(inside(n, a.shape[2])[:, None, :], -torch.inf).amax(2),
         "the mask is turned round: yours looks at padding only"),
        (lambda a, n: filled(a, n, torch.inf).amin(2), "that is the smallest answer; the largest is wanted"),
        (lambda a, n: filled(a, n, 0.0).sum(2) / n[:, None], "that is the mean; the largest is wanted"),
        (lambda a, n: filled(a, n, 0.0).sum(2), "that is the sum of the answers; the largest is wanted"),
        (lambda a, n: filled(a, n).amax(1), "yours is the largest over the filters, at each word"),
        (lambda a, n: filled(a, n).amax(0), "yours is the largest over the sentences: the words are the last axis"),
        (lambda a, n: filled(a, n).argmax(2), "that is where the largest stands (argmax), not how large it is"),
        (lambda a, n: filled(a, n).logsumexp(2), "that is a soft maximum, log Σ exp; the largest itself is wanted"),
        (lambda a, n: filled(a.abs(), n).amax(2), "that is the largest size: a large negative answer is no match"),
        (lambda a, n: filled(a, n).amax(2).relu(), "a relu cuts the answers below 0: it was not asked for"),
        (lambda a, n: a[:, :, : int(n.min())].amax(2), "yours looks at as many words as the shortest sentence has"),
        (lambda a, n: a[:, :, 0], "that is the answer at the first word; the largest of all words is wanted"),
        (lambda a, n: a[torch.arange(len(a)), :, n - 1],
         "that is the answer at the last word, what an LSTM would keep; the largest of all words is wanted"),
        (lambda a, n: filled(a, n + 1).amax(2),
         "one place of padding is still seen: word t stands inside where t < length, and t begins at 0"),
        (lambda a, n: filled(a, n - 1).amax(2),
         "the last word of each sentence is left out, too: inside is t < length, and t begins at 0"),
    )  # fmt: skip
    cases = _answers()
    complaint = find_mistake(answer, largest, cases, mistakes, read=learnable)
    return complaint or _lets_through(lambda rows: answer(rows, cases[0][1]), cases[0][0])


def _scored() -> list[tuple[Tensor, Tensor, Tensor]]:
    """States, logits and lengths; the logits of one case are all far below 0, another has one sentence."""
    draw, cases = torch.Generator().manual_seed(1), []
    for shift, scale, (n, longest, size), lengths in (
        (0.0, 1.0, (3, 4, 5), (4, 2, 1)),
        (-30.0, 2.0, (4, 6, 2), (3, 6, 1, 5)),
        (4.0, 3.0, (2, 5, 3), (2, 4)),
        (0.0, 1.0, (1, 4, 3), (3,)),
    ):
        states = torch.randn(n, longest, size, generator=draw, dtype=torch.float64) + 0.5
        logits = torch.randn(n, longest, generator=draw, dtype=torch.float64) * scale + shift
        cases.append((states, logits, torch.tensor(lengths)))
    return cases


@check("02.2")
def check_attend(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """Σ a_t h_t with a the softmax over the words of a sentence."""

    def over(share: Callable[..., Tensor]) -> Callable[..., Tensor]:
        return lambda states, logits, lengths: summed(share(logits, lengths), states)

    def within(g: Tensor, n: Tensor) -> Tensor:
        return inside(n, g.shape[1]).to(g.dtype)

    mistakes = (
        (over(lambda g, n: g.softmax(1)), "padding takes part in yours: it has a share of the softmax"),
        (over(lambda g, n: g.softmax(1) * within(g, n)),
         "padding is taken out after the softmax: what is left no longer sums to 1"),
        *((over(lambda g, n, low=low: filled(g, n, low).softmax(1)),
           f"a padded logit of {low:g} still has a share, e^({low:g}); padding needs -∞")
          for low in (0.0, -1.0, -10.0)),
        (over(lambda g, n: filled(g, n).softmax(0).nan_to_num(0.0)), over(lambda g, n: filled(g, n).softmax(0)),
         "yours shares out between the sentences; it is the words of one sentence that share"),
        (over(lambda g, n: g.softmax(0)), "yours shares out between the sentences, and padding takes part in it"),
        (over(lambda g, n: within(g, n) / n[:, None]), "that is the plain mean: the logits are not used"),
        (over(within), "that is the plain sum of the states: the logits are not used"),
        (over(lambda g, n: filled(g, n, 0.0)), "the softmax is missing"),
        (over(lambda g, n: g), "the softmax is missing, and padding takes part"),
        (over(lambda g, n: filled(g, n, 0.0) / filled(g, n, 0.0).sum(1, keepdim=True)),
         "you divide the logits by their sum: a logit may be negative, a share may not. The softmax takes e^ first"),
        (over(lambda g, n: filled(g, n).exp()), "e^ alone makes no shares: they must sum to 1 over the sentence"),
        (over(lambda g, n: g.sigmoid() * within(g, n)), "a sigmoid looks at each word alone; shares sum to 1"),
        (over(lambda g, n: filled(-g, n).softmax(1)), "the sign of the logits is turned: the least gets most"),
        (over(lambda g, n: F.one_hot(filled(g, n).argmax(1), g.shape[1]).to(g.dtype)),
         "yours takes the best word alone; attention gives each a share"),
        (over(lambda g, n: g.masked_fill(within(g, n) > 0, -torch.inf).softmax(1)),
         "the mask is turned round: yours looks at padding only"),
        (over(lambda g, n: filled(g, n).softmax(1) / n[:, None]),
         "the shares sum to 1 already: dividing by the length makes a mean of a weighted mean"),
        (lambda states, logits, lengths: attended(states, logits / states.shape[2] ** 0.5, lengths),
         "the logits are divided by the root of the states' size, as transformers do it; here they are taken as they "
         "are"),
        (over(lambda g, n: filled(g, n).log_softmax(1).nan_to_num(neginf=0.0)), "those are logarithms of shares"),
        (over(lambda g, n: filled(g, n + 1).softmax(1)),
         "one place of padding still has a share: word t is inside where t < length, and t begins at 0"),
    )  # fmt: skip
    cases = _scored()
    complaint = find_mistake(answer, attended, cases, mistakes, read=learnable)
    states, logits, lengths = cases[0]
    return (
        complaint
        or _lets_through(lambda rows: answer(rows, logits, lengths), states)
        or _lets_through(lambda rows: answer(states, rows, lengths), logits)
    )


# --- who leads -------------------------------------------------------------------------------------------------

VERDICTS = ("first", "second", "tie")


def _runs() -> list[tuple[list[float], list[float]]]:
    """Figures of two methods, a few seeds each: most gaps are near the larger spread, some far from it."""
    draw, cases = np.random.default_rng(3), []
    for turn in range(100):
        low, high = ((0.3, 1.6), (0.7, 1.3), (0.35, 0.6), (0.003, 0.03), (1.5, 4.0))[turn % 5]
        few = draw.integers(3, 7, 2)
        a = draw.normal(0.0, draw.uniform(0.002, 0.03), few[0])
        b = draw.normal(0.0, draw.uniform(0.002, 0.03), few[1])
        gap = draw.choice([-1, 1]) * draw.uniform(low, high) * max(a.std(ddof=1), b.std(ddof=1))
        middle = draw.uniform(0.6, 0.9)
        a += middle + gap - a.mean()
        b += middle - b.mean()
        cases.append((a.round(4).tolist(), b.round(4).tolist()))
    return cases


def _verdict(answer: Any) -> np.ndarray:
    said = str(answer).strip().lower()
    if said not in VERDICTS:
        raise Unfit(f'"first", "second" or "tie" was expected, and {answer!r} came')
    return np.asarray(said)


def ruled(spread: Callable[..., float], middle: Callable[[np.ndarray], float] = np.mean) -> Callable[..., str]:
    """The house rule with another spread, or another middle."""

    def rule(a: Sequence[float], b: Sequence[float]) -> str:
        one, other = np.array(a), np.array(b)
        gap = middle(one) - middle(other)
        return "tie" if abs(gap) <= spread(one, other) else "first" if gap > 0 else "second"

    return rule


def _std(values: np.ndarray) -> float:
    return float(values.std(ddof=1))


@check("02.3")
def check_tie(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """More apart than the larger of the two spreads, n - 1 below the line: the better one; else "tie"."""

    def right(a: Sequence[float], b: Sequence[float]) -> str:
        return leader(over_seeds(a), over_seeds(b))

    def larger(spread: Callable[[np.ndarray], Any], middle: Callable[[np.ndarray], float] = np.mean) -> Any:
        return ruled(lambda a, b: max(spread(a), spread(b)), middle)

    def said(**instead: str) -> Callable[..., str]:
        """Another word in the place of the right one."""
        return lambda a, b: instead.get(right(a, b), right(a, b))

    mistakes = (
        (lambda a, b: ruled(lambda *_: 0.0)(a, b), "yours never says tie where the means differ: use the spread"),
        *((lambda a, b, word=word: word, f"yours says {word!r} whatever the figures are: look at them")
          for word in VERDICTS),
        (larger(lambda x: x.std()), "your spread divides by n; of a few seeds divide by n - 1"),
        (larger(lambda x: x.std() / len(x) ** 0.5),
         "you divide by √n, as a standard error does, and the standard deviation by n in place of n - 1; asked is the "
         "larger standard deviation"),
        (larger(lambda x: _std(x) / len(x) ** 0.5),
         "that is the standard error, the spread over √n: it says how sure the mean is. The rule wants the spread"),
        (ruled(lambda a, b: min(_std(a), _std(b))), "yours takes the smaller of the two spreads; the larger decides"),
        (ruled(lambda a, b: (_std(a) + _std(b)) / 2),
         "yours takes the mean of the two spreads; the larger one of them decides"),
        (ruled(lambda a, b: _std(a) + _std(b)), "yours adds the spreads; the larger of the two decides"),
        (ruled(lambda a, b: (_std(a) ** 2 + _std(b) ** 2) ** 0.5),
         "yours is √(s² + s²), the spread of a difference; the larger of the two spreads decides here"),
        (ruled(lambda a, b: ((_std(a) ** 2 + _std(b) ** 2) / 2) ** 0.5),
         "yours is the pooled spread of both; the larger of the two decides"),
        (ruled(lambda a, b: _std(a)), "yours looks at the spread of a alone; the larger of the two decides"),
        (ruled(lambda a, b: _std(b)), "yours looks at the spread of b alone; the larger of the two decides"),
        (ruled(lambda a, b: _std(np.concatenate([a, b]))),
         "yours throws both methods' figures together: their gap is then part of the spread"),
        (larger(lambda x: x.var(ddof=1)), "that is the variance; the spread is its root"),
        (larger(lambda x: np.ptp(x) / 2), "half the range is no standard deviation: it hangs on two seeds alone"),
        (larger(np.ptp), "the range, largest less smallest, is no standard deviation: it hangs on two seeds alone"),
        (larger(lambda x: np.abs(x - x.mean()).mean()),
         "that is the mean distance from the mean; the spread is the root of the mean square, by n - 1"),
        (larger(lambda x: _std(x) / 2), "you ask for half a spread; the rule says more than one"),
        (ruled(lambda a, b: _std(b if a.mean() > b.mean() else a)),
         "yours looks at the spread of the worse one alone; the larger of the two decides"),
        (ruled(lambda a, b: _std(a if a.mean() > b.mean() else b)),
         "yours looks at the spread of the better one alone; the larger of the two decides"),
        (larger(lambda x: 2 * _std(x)), "you ask for two spreads; the rule says more than one"),
        (larger(_std, np.median), "yours compares medians; the rule compares means"),
        (larger(_std, np.max), "yours compares the best seeds; the rule compares means"),
        (larger(_std, lambda x: float(x[0])), "yours compares the first seeds; the rule compares means"),
        (said(second="tie"), "yours never says 'second': compare the size of the gap, abs(gap), with the spread"),
        (said(second="first"), "yours never says 'second': where the gap is below 0, b leads"),
        (lambda a, b: "first" if min(a) > max(b) else "second" if min(b) > max(a) else "tie",
         "yours asks whether the seeds overlap; the rule compares the gap of the means with the larger spread"),
        (said(first="second", second="first"), "the two are exchanged: larger figures are better here"),
        (*(ruled(lambda a, b, limit=limit: limit) for limit in (0.001, 0.005, 0.01, 0.02, 0.03, 0.05)),
         "a fixed limit, or a rounding, is no spread: the seeds say how far a mean can stray"),
    )  # fmt: skip
    equal = "two methods that are equal and have no spread at all: that is a tie, too; who leads must be *more* apart"
    complaint = find_mistake(answer, right, _runs(), mistakes, read=_verdict)
    return equal if complaint is None and _verdict(answer([0.75] * 3, [0.75] * 3)) != "tie" else complaint


# --- dials, tuned and told ---------------------------------------------------------------------------------------

World: TypeAlias = dict[float, dict[str, float]]  # of each value that may be tried the AUC on each split


def _asked(answer: Callable[..., Any], world: World) -> tuple[Any, list[float], list[tuple[float, str]]]:
    """What a tuning gives back, the values it trains with, and of which network it asks for the AUC of which split."""
    trained: list[float] = []
    asked: list[tuple[float, str]] = []

    def train(value: float) -> tuple[str, float]:
        trained.append(value)
        return "network", value

    def auc(network: Any, split: str) -> float:
        if not (isinstance(network, tuple) and network[:1] == ("network",)):
            raise Unfit(f"`auc` wants what `train` gave back, and {network!r} came")
        if split not in ("train", "dev", "test"):
            raise Unfit(f'`auc` knows the splits "train", "dev" and "test", and {split!r} came')
        asked.append((network[1], split))
        return world[network[1]][split]

    return answer(list(world), train, auc), trained, asked


def _worlds() -> list[tuple[World]]:
    """AUCs at nine values, of which each has what another mistake would take: the best on dev is the fourth."""
    worlds: list[tuple[World]] = []
    high = {"dev": {1: 0.8, 3: 0.87, 5: 0.86, 6: 0.85, 7: 0.5}, "test": {4: 0.89, 5: 0.88}, "train": {2: 0.93, 6: 0.92}}
    for seed, values in enumerate(
        (
            (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
            (30.0, 2.0, 50.0, 5.0, 90.0, 20.0, 1.0, 70.0, 80.0),
            (-1, 4, 0, 2, -2, 1, 7, -3, 5),
        )
    ):
        draw = np.random.default_rng(seed)
        splits = {split: draw.uniform(0.6, 0.7, len(values)).round(4) for split in high}
        for split, places in high.items():
            splits[split][[*places]] = [*places.values()]
        worlds.append(
            ({value: {split: float(splits[split][at]) for split in splits} for at, value in enumerate(values)},)
        )
    return worlds


@check("02.14")
def check_tuning(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """The value that is best on dev, and what test says of its network, which it is asked once."""

    def chosen(key: Callable[[dict[str, float]], float], said: Callable[[dict[str, float]], float]) -> Any:
        def rule(world: World) -> tuple[float, float]:
            best = max(world, key=lambda value: key(world[value]))
            return best, said(world[best])

        return rule

    def dev(x: dict[str, float]) -> float:
        return x["dev"]

    def test(x: dict[str, float]) -> float:
        return x["test"]

    def at(place: Callable[[World], float], says: Callable[[dict[str, float]], float] = test) -> Any:
        return lambda world: (place(world), says(world[place(world)]))

    def first_peak(world: World) -> float:
        values = list(world)
        return next(a for a, b in pairwise(values) if dev(world[b]) < dev(world[a]))

    right = chosen(dev, test)
    mistakes = (
        (chosen(test, test), "the value was chosen on test: its figure is then the best of many looks, and no test"),
        (chosen(test, dev), "dev and test are exchanged: dev chooses, and test says how good the choice is"),
        (chosen(lambda x: x["train"], test),
         "the value was chosen on train: whoever learns it by heart wins there. Dev chooses"),
        (chosen(lambda x: x["dev"] + x["test"], test), chosen(lambda x: sum(x.values()), test),
         "test had a part in the choice: dev alone chooses"),
        (chosen(lambda x: x["train"] + x["dev"], test),
         "train had a part in the choice: the networks have learned it. Dev alone chooses"),
        (chosen(dev, dev), "that is the AUC on dev, by which it was chosen: it flatters. Test says what it is worth"),
        (chosen(lambda x: x["train"], lambda x: x["train"]), chosen(dev, lambda x: x["train"]),
         "that is an AUC on train, which the network has learned"),
        (chosen(lambda x: -dev(x), test), "that is the value that is worst on dev: the larger the AUC, the better"),
        (lambda world: (right(world)[0], max(map(test, world.values()))),
         "the value is dev's, but the AUC is the best that any network has on test"),
        (lambda world: (right(world)[0], float(np.mean([test(x) for x in world.values()]))),
         "the AUC is the mean over all networks; asked is that of the chosen one"),
        (lambda world: right(world)[::-1], "the two have changed places: first the value, then its AUC on test"),
        (lambda world: (list(world).index(right(world)[0]), right(world)[1]),
         "that is the place of the best value in the list; the value itself was asked for"),
        (at(lambda world: list(world)[-1]), "yours always takes the last value: compare their AUCs on dev"),
        (at(lambda world: next(iter(world))), "yours always takes the first value: compare their AUCs on dev"),
        (at(max), "yours takes the largest value, not that with the largest AUC"),
        (at(min), "yours takes the smallest value, not that with the largest AUC"),
        (at(first_peak), "yours stops where dev falls for the first time: later values may be better"),
    )  # fmt: skip
    read = several(2, number, "two things were expected: the best value, and its AUC on test")
    worlds = _worlds()
    complaint = find_mistake(lambda world: _asked(answer, world)[0], right, worlds, mistakes, read=read)
    for (world,) in worlds if complaint is None else ():
        _, trained, asked = _asked(answer, world)
        if len({value for value, split in asked if split == "test"}) > 1:
            return "right, but yours looks at test for networks that dev has not chosen: ask of the chosen one alone"
        if len(trained) > len(world):
            return (
                f"right, but yours trains {len(trained)} times for {len(world)} values: keep the networks, or the "
                "budget is larger than it is said to be"
            )
    return complaint


Row: TypeAlias = dict[str, Any]
ALIKE = ("encoder", "seeds", "trials")  # what must be the same in all rows


def _fair(rows: Sequence[Row], alike: Sequence[str] = ALIKE) -> bool:
    same = all(row[what] == rows[0][what] for row in rows for what in alike)
    return same and all(row["trials"] > 0 and row["chosen on"] == "dev" for row in rows)


def _tables() -> list[tuple[list[Row]]]:
    """Tables of three methods that are fair but for some cells that are put in by (row, column, what)."""

    def made(*changed: tuple[int, str, Any], **everywhere: Any) -> tuple[list[Row]]:
        usual = {"encoder": "cnn", "seeds": 5, "trials": 16, "chosen on": "dev"} | everywhere
        told = (("Siamese", 0.8, "margin 0.8"), ("triplet", 0.81, "τ 0.1"), ("SentPWNet", 0.83, "λ 0.9"))
        rows = [{"method": name, "AUC": auc, "values": value} | usual for name, auc, value in told]
        for row, column, what in changed:
            rows[row][column] = what
        return (rows,)

    every = range(3)
    return [
        made(),
        made(trials=6),
        made(seeds=3, encoder="lstm"),
        made((0, "trials", 0), (1, "trials", 0), (0, "chosen on", "nothing"), (1, "chosen on", "nothing")),
        made(trials=0, **{"chosen on": "nothing"}),
        made(trials=0),
        made(**{"chosen on": "test"}),
        *(made((row, "chosen on", "test")) for row in every),
        *(made((row, "trials", 4)) for row in every),
        *(made((row, "trials", 64)) for row in every),
        *(made((row, "encoder", "bilstm")) for row in every),
        *(made((row, "seeds", 1)) for row in every),
        made((1, "trials", 17)),
        made((0, "AUC", 0.9)),
        made((1, "trials", 4), (2, "trials", 4)),
    ]


@check("02.13")
def check_fair(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """Encoder, seeds and number of trials alike, at least one trial, all chosen on dev."""

    def without(what: str) -> Callable[..., bool]:
        return lambda rows: _fair(rows, [each for each in ALIKE if each != what])

    def same(*columns: str) -> Callable[..., bool]:
        return lambda rows: all(row[what] == rows[0][what] for row in rows for what in columns)

    mistakes = (
        (lambda rows: True, "yours calls every table fair: look at its rows"),
        (lambda rows: False,
         "yours calls no table fair: methods, the values that were chosen and their AUCs may differ, the rest may not"),
        (lambda rows: not _fair(rows), "yours is turned round: True is for a table that is fair"),
        (same(*ALIKE),
         "yours does not ask on what the values were chosen, nor whether there were any trials: dev, and at least one"),
        (same(*ALIKE, "chosen on"),
         "alike is not enough: chosen on test by all, or by nobody, is the same everywhere, and no fair table"),
        (lambda rows: same(*ALIKE, "chosen on")(rows) and rows[0]["chosen on"] != "test",
         lambda rows: same(*ALIKE)(rows) and all(row["chosen on"] != "test" for row in rows),
         lambda rows: same(*ALIKE)(rows) and all(row["chosen on"] == "dev" for row in rows),
         "no trials at all are equal budgets, too, but then the table compares first guesses: ask for at least one"),
        (lambda rows: same(*ALIKE)(rows) and all(row["trials"] > 0 for row in rows),
         "yours takes values that were chosen on test: their AUC there is the best of many looks"),
        (without("trials"),
         "yours does not compare the trials: whoever may try more often has more luck"),
        (without("encoder"), "yours does not compare the encoders: a better one would be taken for a better loss"),
        (without("seeds"), "yours does not compare the seeds: one run against five is no comparison"),
        (same("trials"), lambda rows: _fair(rows, ("trials",)),
         "the same number of trials alone does not make it fair: look at encoder and seeds, too"),
        (lambda rows: all(row["chosen on"] == "dev" for row in rows), lambda rows: _fair(rows, ()),
         "chosen on dev is not enough: look at encoder, seeds and trials, too"),
        (lambda rows: without("trials")(rows) and all(row["trials"] <= rows[-1]["trials"] for row in rows),
         lambda rows: without("trials")(rows) and all(row["trials"] >= rows[-1]["trials"] for row in rows),
         lambda rows: without("trials")(rows) and all(row["trials"] >= rows[0]["trials"] for row in rows),
         lambda rows: without("trials")(rows) and all(row["trials"] <= rows[0]["trials"] for row in rows),
         "more trials than the others are an advantage, whoever has them: the number must be the same"),
        (lambda rows: _fair(rows) and all(row["trials"] == 16 for row in rows),
         "16 trials are one budget among others: compare the rows with each other, not with a number"),
        (lambda rows: _fair(rows) and all(row["seeds"] == 5 for row in rows),
         "five seeds are one number among others: compare the rows with each other"),
        (lambda rows: _fair(rows[:2]), "yours looks at the first two rows only"),
        (lambda rows: _fair([rows[0], rows[-1]]), "yours looks at the first row and the last; others stand between"),
        (lambda rows: _fair(rows[1:]), lambda rows: _fair(rows[-1:]), lambda rows: _fair(rows[:1]),
         "yours does not look at all rows"),
        (lambda rows: same(*ALIKE)(rows) and any(row["trials"] > 0 and row["chosen on"] == "dev" for row in rows),
         "one row chosen on dev is not enough: `all` of them, not `any`"),
    )  # fmt: skip
    return find_mistake(answer, lambda rows: _fair(rows), _tables(), mistakes, read=yes_or_no)


# --- thresholds ------------------------------------------------------------------------------------------------


def _right_share(threshold: float, scores: np.ndarray, labels: np.ndarray) -> float:
    return float(((scores > threshold) == (labels == 1)).mean())


def _splits() -> list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
    """Scores and labels of dev and of test, whose best thresholds lie apart; and scores that are at the threshold."""
    draw = np.random.default_rng(5)
    cases: list[tuple[np.ndarray, ...]] = []
    for dev_rows, test_rows, middle, shift in (
        (40, 30, 0.6, -0.12),
        (60, 90, 0.2, 0.1),
        (80, 40, -0.1, 0.15),
        (90, 25, 0.4, 0.05),
    ):
        sides = []
        for rows, mean in ((dev_rows, middle), (test_rows, middle + shift)):
            labels = (draw.random(rows) < draw.uniform(0.3, 0.7)).astype(int)
            sides += [mean + 0.2 * labels + draw.normal(0, 0.12, rows), labels]
        cases.append(tuple(sides))
    steps, labels = np.arange(12) / 8, np.arange(12) > 6  # 13/16 parts dev without a mistake
    at = np.array([7, 13, 13, 13, 4, 15, 11, 13]) / 16, np.array([0, 1, 0, 0, 0, 1, 1, 0])
    cases.append((steps, labels.astype(int), *at))
    return cases  # type: ignore[return-value]


@check("02.5")
def check_honest_accuracy(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """The threshold of dev, the accuracy of test."""

    def right(dev_scores: Any, dev_labels: Any, test_scores: Any, test_labels: Any) -> float:
        return _right_share(best_threshold(dev_scores, dev_labels), test_scores, test_labels)

    def at(threshold: Callable[..., float]) -> Callable[..., float]:
        return lambda d, dl, t, tl: _right_share(threshold(d, dl, t, tl), t, tl)

    def called(d: Any, dl: Any, t: Any) -> Any:
        return t > best_threshold(d, dl)

    mistakes = (
        (at(lambda d, dl, t, tl: best_threshold(t, tl)),
         "the threshold was searched on the pairs that are scored: the leak of Algorithm 1 as it is printed"),
        (lambda d, dl, t, tl: _right_share(best_threshold(d, dl), d, dl),
         "that is the accuracy on dev, whose labels the threshold has seen"),
        (lambda d, dl, t, tl: _right_share(best_threshold(t, tl), d, dl),
         "dev and test are exchanged: choose on dev, score on test"),
        (at(lambda d, dl, t, tl: 0.5), "0.5 is nobody's best threshold: let dev choose it"),
        (at(lambda d, dl, t, tl: 0.0), "0 is nobody's best threshold: let dev choose it"),
        (at(lambda d, dl, t, tl: best_threshold(np.concatenate([d, t]), np.concatenate([dl, tl]))),
         "the threshold was chosen on dev and test together: that leaks as well"),
        (at(lambda d, dl, t, tl: float(d.mean())), "the mean score is no best threshold: `best_threshold` searches it"),
        (at(lambda d, dl, t, tl: float(np.median(d))), "the median score is no best threshold: search it"),
        (at(lambda d, dl, t, tl: float(t.mean())), "the mean score of test is no threshold that dev has chosen"),
        (lambda d, dl, t, tl: 1 - right(d, dl, t, tl), "that is the share of errors"),
        (lambda d, dl, t, tl: float(((t < best_threshold(d, dl)) == (tl == 1)).mean()),
         "a pair is called the same if its score is above the threshold, not below it"),
        (lambda d, dl, t, tl: 100 * right(d, dl, t, tl), "that is in percent; a share was expected"),
        (lambda d, dl, t, tl: right(d, dl, t, tl) * len(t), "that is a count; a share was expected"),
        (lambda d, dl, t, tl: best_threshold(d, dl), "that is the threshold; asked is the accuracy on test with it"),
        (lambda d, dl, t, tl: called(d, dl, t).mean(), "that is the share called the same: compare with the labels"),
        (lambda d, dl, t, tl: (called(d, dl, t) * tl).mean(),
         "only the duplicates found are counted; a pair rightly called different is right, too"),
        (lambda d, dl, t, tl: f1_score(tl, called(d, dl, t)), "that is F1; the accuracy was asked"),
        (lambda d, dl, t, tl: tl[called(d, dl, t)].mean(), "that is the precision; the accuracy was asked"),
        (lambda d, dl, t, tl: called(d, dl, t)[tl == 1].mean(), "that is the recall; the accuracy was asked"),
        (lambda d, dl, t, tl: roc_auc_score(tl, t), "that is the AUC, which needs no threshold"),
        (lambda d, dl, t, tl: max(tl.mean(), 1 - tl.mean()), "that is what saying always the same gives: scores count"),
    )  # fmt: skip
    return find_mistake(answer, right, _splits(), mistakes, tolerance=5e-4)


NOISE = 50  # pairs, half of them the same, whose scores are noise


@check("02.6")
def check_leak_of_noise(answer: Any, random: np.random.Generator) -> str | None:
    """The mean accuracy that a score without any knowledge reports, when its threshold comes from the same 50 pairs."""
    if isinstance(answer, str):
        raise Unfit(f"one number was expected, and {answer!r} came")
    given, right = number(answer), best_of_noise(NOISE)
    mistakes = (
        (100 * right, 1, "that is in percent; a share between 0 and 1 was expected"),
        (NOISE * right, 0.5, f"that is how many of the {NOISE} are right; a share between 0 and 1 was expected"),
        (right - 0.5, 0.01, "that is by how much it leaks; the accuracy itself was asked, 0.5 more"),
        (1 - right, 0.01, "that is the share of wrong decisions; the accuracy was asked"),
        (1, 1e-8, f"no threshold calls all of {NOISE} random scores rightly: are the labels the scores' own?"),
        (0.5, 0.012,
         "0.5 is what noise is worth; the threshold here is the best of 51, found on the pairs that are scored"),
        *((best_of_noise(count), 0.004,
           f"as much as {count} pairs would give; there are {NOISE} here. Or is it a single draw, rounded, or were not "
           "all thresholds tried?") for count in (10, 20, 30, 100, 200)),
    )  # fmt: skip
    if abs(given - right) <= 0.01:
        return None
    if named := next((says for value, near, says in mistakes if abs(given - value) <= near), None):
        return named
    if not 0 <= given <= 1:
        return "a share between 0 and 1 was expected"
    if given < 0.5:
        return (
            "below 0.5: but with half of each, a threshold that calls all pairs alike is right in half of them, and "
            "the best one is no worse"
        )
    return Unnamed(
        f"too {'much' if given > right else 'little'}: draw {NOISE} scores, with labels of which half are 1, "
        "search the best threshold, note its accuracy on the same pairs, and take the mean over some hundreds of such "
        "draws (one draw says little)"
    )


@cache
def best_of_noise(count: int) -> float:
    """Mean over 400 draws of the best accuracy of any threshold."""
    random, labels = np.random.default_rng(0), np.arange(count) % 2
    draws = (random.random(count) for _ in range(400))
    return float(np.mean([_right_share(best_threshold(scores, labels), scores, labels) for scores in draws]))


# --- cells -----------------------------------------------------------------------------------------------------


def _marker(level: int) -> int:
    return 1 << (2 * (30 - level))


def _whole(answer: Any) -> np.ndarray:
    """A whole number of up to 64 bits, exactly: as its digits."""
    if isinstance(answer, bool | str | float | np.floating) or not hasattr(answer, "__int__"):
        kind = type(answer).__name__
        raise Unfit(f"a whole number was expected, and a {kind} came: 64 bits need Python's whole numbers")
    return np.asarray(str(int(answer)))


_PLACES = (
    (48.0, 9.0, 18),
    (-33.9, 151.2, 18),
    (35.7, 139.7, 24),
    (52.5, 13.4, 30),
    (-1.3, 36.8, 20),
    (40.7, -74.0, 18),  # its highest bit is set: no signed number of 64 bits has room for it
)


@check("02.7")
def check_parent(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """Clear the bits below the level's own, and set that one."""
    cases = [
        (lat_lon_to_cell_id(*place, own), level) for *place, own in _PLACES for level in (own - 1, own - 4, 12, 6, 1)
    ]

    def right(cell: int, level: int) -> int:
        return int(cell_id_to_parent_cell_id(cell, level))

    def parent(cell: int, level: int) -> int:
        return (cell & -_marker(level)) | _marker(level)

    mistakes = (
        (lambda c, n: c, "yours is the cell itself: the bits below the marker are still set"),
        (lambda c, n: c & -_marker(n),
         "the marker is missing: its bit is still what the cell had there. Set it with `| marker`"),
        (lambda c, n: c & -_marker(n) & ~_marker(n),
         "the marker is missing: its place is how a cell says its level; set it with `| marker`"),
        (lambda c, n: c | _marker(n), "the lower bits are still there: clear them with `& -marker`"),
        (lambda c, n: c & _marker(n), "that is one bit of the cell: `-marker` keeps all from it upwards"),
        (lambda c, n: _marker(n), "that is the marker alone: where is the cell?"),
        (lambda c, n: (c & -(1 << (30 - n))) | 1 << (30 - n),
         "a level has two bits, since a cell has four children: the marker is bit 2 (30 - level)"),
        (lambda c, n: parent(c, n + 1), "that is the parent of one level finer"),
        (lambda c, n: parent(c, n - 1), "that is the parent of one level coarser"),
        (lambda c, n: (c & -_marker(n)) ^ _marker(n),
         "`^` turns the marker's bit round, and where the cell has a 1 there it is lost: set it with `|`"),
        (lambda c, n: (c & -_marker(n)) + _marker(n),
         "adding the marker carries where the cell has a 1 there already: set it with `|`"),
        (lambda c, n: (c & ~(c & -c)) | _marker(n),
         "you clear only the cell's old marker: all bits below the new one must go"),
        (lambda c, n: (c & (_marker(n) - 1)) | _marker(n),
         "yours keeps the bits below the marker and drops those above: it must be the other way round"),
        (lambda c, n: int(str(c)[: n + 1].ljust(19, "0")),
         "cutting decimal digits makes no cell: the levels are in the bits"),
        (lambda c, n: c >> (2 * (30 - n)), lambda c, n: c >> (2 * (18 - n)) if n < 18 else c,
         "the bits stay where they are; shifting makes another number of them"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes, read=_whole)

"""Notebook 02: a training by own code, ablations, thresholds, places and cross-encoders."""

from __future__ import annotations

import random as chance
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from itertools import pairwise
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from s2cell import cell_id_to_parent_cell_id, lat_lon_to_cell_id
from sklearn.metrics import f1_score, roc_auc_score
from torch import Tensor, nn

from labkit.evaluation import best_threshold, leader, over_seeds
from labkit.lab.course.exercise import Lesson, Unfit, Unnamed, array, close, find_mistake, mask, number
from labkit.pairs import informative, locality, masks_from_labels
from labkit.training.encoders import inside

LESSON = Lesson("02", predictions=("02.a", "02.b", "02.c", "02.d", "02.e", "02.f"))


# --- the parts of an encoder -----------------------------------------------------------------------------------


def _filled(rows: Tensor, lengths: Tensor, value: float = -torch.inf) -> Tensor:
    """`value` on padding, for answers (n, filters, longest) or logits (n, longest)."""
    outside = ~inside(lengths, rows.shape[-1])
    return rows.masked_fill(outside[:, None, :] if rows.ndim == 3 else outside, value)


def _shifted(lengths: Tensor, by: int, longest: int) -> Tensor:
    return (lengths + by).clamp(0, longest)


def _learnable(answer: Any) -> np.ndarray:
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


def _floors() -> Iterable[tuple[Callable[..., Any], str]]:
    said = "{:g} is no floor: all answers of a filter may be below it. Which number is below every other?"
    return [
        (lambda answers, lengths, floor=floor: _filled(answers, lengths, floor).amax(2), said.format(floor))
        for floor in (0.0, -1.0, -10.0, -100.0, -1e3, -1e4, -1e5, -1e6)
    ]


@LESSON.exercise(
    "02.1",
    "Take each filter's largest answer over the words of a sentence, padding left out.",
    "Make the answers beside the sentence so small that they never win. Then: the maximum over the last axis.",
    "`answers.masked_fill(outside[:, None, :], ...)`: which number is below every answer, however negative?",
    "`answers.masked_fill(outside[:, None, :], -torch.inf).amax(2)`",
    praise="a sentence's vector depends on the sentence alone, not on how long its neighbour in the batch is",
)
def check_largest_answers(answer: Callable[..., Any]) -> str | None:
    """The maximum over the windows that begin at a word."""

    def right(answers: Tensor, lengths: Tensor) -> Tensor:
        return _filled(answers, lengths).amax(2)

    mistakes = (
        (lambda a, n: a.amax(2), "padding takes part in yours: where a sentence is short, an answer beside it wins"),
        *_floors(),
        (lambda a, n: a.masked_fill(inside(n, a.shape[2])[:, None, :], -torch.inf).amax(2),
         "the mask is turned round: yours looks at padding only"),
        (lambda a, n: _filled(a, n, torch.inf).amin(2), "that is the smallest answer; the largest is wanted"),
        (lambda a, n: _filled(a, n, 0.0).sum(2) / n[:, None], "that is the mean; the largest is wanted"),
        (lambda a, n: _filled(a, n, 0.0).sum(2), "that is the sum of the answers; the largest is wanted"),
        (lambda a, n: _filled(a, n).amax(1), "yours is the largest over the filters, at each word"),
        (lambda a, n: _filled(a, n).amax(0), "yours is the largest over the sentences: the words are the last axis"),
        (lambda a, n: _filled(a, n).argmax(2), "that is where the largest stands (argmax), not how large it is"),
        (lambda a, n: _filled(a, n).logsumexp(2), "that is a soft maximum, log Σ exp; the largest itself is wanted"),
        (lambda a, n: _filled(a.abs(), n).amax(2), "that is the largest size: a large negative answer is no match"),
        (lambda a, n: _filled(a, n).amax(2).relu(), "a relu cuts the answers below 0: it was not asked for"),
        (lambda a, n: a[:, :, : int(n.min())].amax(2), "yours looks at as many words as the shortest sentence has"),
        (lambda a, n: a[:, :, 0], "that is the answer at the first word; the largest of all words is wanted"),
        (lambda a, n: a[torch.arange(len(a)), :, n - 1],
         "that is the answer at the last word, what an LSTM would keep; the largest of all words is wanted"),
        (lambda a, n: _filled(a, _shifted(n, 1, a.shape[2])).amax(2),
         "one place of padding is still seen: word t stands inside where t < length, and t begins at 0"),
        (lambda a, n: _filled(a, _shifted(n, -1, a.shape[2])).amax(2),
         "the last word of each sentence is left out, too: inside is t < length, and t begins at 0"),
    )  # fmt: skip
    cases = _answers()
    complaint = find_mistake(answer, right, cases, mistakes, read=_learnable)
    return complaint or _lets_through(lambda rows: answer(rows, cases[0][1]), cases[0][0])


def _summed(shares: Tensor, states: Tensor) -> Tensor:
    return (shares[:, :, None] * states).sum(1)


def _attended(states: Tensor, logits: Tensor, lengths: Tensor) -> Tensor:
    return _summed(_filled(logits, lengths).softmax(1), states)


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


@LESSON.exercise(
    "02.2",
    "Share out attention among the words of a sentence.",
    "A softmax turns logits to shares that sum to 1. Over which axis? And what must a padded place get?",
    "Over axis 1. A place of -∞ has the share e^(-∞) = 0: `logits.masked_fill(outside, -torch.inf)`.",
    "`shares = logits.masked_fill(outside, -torch.inf).softmax(1)`; the line below it sums the states.",
    praise="all words take part, each with a share of its own",
)
def check_attend(answer: Callable[..., Any]) -> str | None:
    """Σ a_t h_t with a the softmax over the words of a sentence."""

    def over(share: Callable[[Tensor, Tensor], Tensor]) -> Callable[..., Tensor]:
        return lambda states, logits, lengths: _summed(share(logits, lengths), states)

    def within(g: Tensor, n: Tensor) -> Tensor:
        return inside(n, g.shape[1]).to(g.dtype)

    def floored(low: float, g: Tensor, n: Tensor) -> Tensor:
        return _filled(g, n, low).softmax(1)

    floor = "a padded logit of {:g} still has a share, e^({:g}); padding needs -∞"
    mistakes = (
        (over(lambda g, n: g.softmax(1)), "padding takes part in yours: it has a share of the softmax"),
        (over(lambda g, n: g.softmax(1) * within(g, n)),
         "padding is taken out after the softmax: what is left no longer sums to 1"),
        *((over(partial(floored, low)), floor.format(low, low)) for low in (0.0, -1.0, -10.0)),
        (over(lambda g, n: _filled(g, n).softmax(0).nan_to_num(0.0)), over(lambda g, n: _filled(g, n).softmax(0)),
         "yours shares out between the sentences; it is the words of one sentence that share"),
        (over(lambda g, n: g.softmax(0)), "yours shares out between the sentences, and padding takes part in it"),
        (over(lambda g, n: within(g, n) / n[:, None]), "that is the plain mean: the logits are not used"),
        (over(within), "that is the plain sum of the states: the logits are not used"),
        (over(lambda g, n: _filled(g, n, 0.0)), "the softmax is missing"),
        (over(lambda g, n: g), "the softmax is missing, and padding takes part"),
        (over(lambda g, n: _filled(g, n, 0.0) / _filled(g, n, 0.0).sum(1, keepdim=True)),
         "you divide the logits by their sum: a logit may be negative, a share may not. The softmax takes e^ first"),
        (over(lambda g, n: _filled(g, n).exp()), "e^ alone makes no shares: they must sum to 1 over the sentence"),
        (over(lambda g, n: g.sigmoid() * within(g, n)), "a sigmoid looks at each word alone; shares sum to 1"),
        (over(lambda g, n: _filled(-g, n).softmax(1)), "the sign of the logits is turned: the least gets most"),
        (over(lambda g, n: F.one_hot(_filled(g, n).argmax(1), g.shape[1]).to(g.dtype)),
         "yours takes the best word alone; attention gives each a share"),
        (over(lambda g, n: g.masked_fill(within(g, n) > 0, -torch.inf).softmax(1)),
         "the mask is turned round: yours looks at padding only"),
        (over(lambda g, n: _filled(g, n).softmax(1) / n[:, None]),
         "the shares sum to 1 already: dividing by the length makes a mean of a weighted mean"),
        (lambda states, logits, lengths: _attended(states, logits / states.shape[2] ** 0.5, lengths),
         "the logits are divided by the root of the states' size, as transformers do it; here they are taken as they "
         "are"),
        (over(lambda g, n: _filled(g, n).log_softmax(1).nan_to_num(neginf=0.0)), "those are logarithms of shares"),
        (over(lambda g, n: _filled(g, _shifted(n, 1, g.shape[1])).softmax(1)),
         "one place of padding still has a share: word t is inside where t < length, and t begins at 0"),
    )  # fmt: skip
    cases = _scored()
    complaint = find_mistake(answer, _attended, cases, mistakes, read=_learnable)
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


def _ruled(
    spread: Callable[[np.ndarray, np.ndarray], float], middle: Callable[[np.ndarray], float] = np.mean
) -> Callable[..., str]:
    """The house rule with another spread, or another middle."""

    def rule(a: Sequence[float], b: Sequence[float]) -> str:
        one, other = np.array(a), np.array(b)
        gap = middle(one) - middle(other)
        return "tie" if abs(gap) <= spread(one, other) else "first" if gap > 0 else "second"

    return rule


def _std(values: np.ndarray) -> float:
    return float(values.std(ddof=1))


def _error(values: np.ndarray) -> float:
    return _std(values) / len(values) ** 0.5


@LESSON.exercise(
    "02.3",
    "Write the rule of the house: who leads by more than the larger spread, and what is a tie?",
    "You need two means and two standard deviations. Of a few seeds, divide by n - 1.",
    "`statistics.stdev` and `np.std(x, ddof=1)` divide by n - 1. Compare the gap with the larger of the two.",
    '`gap = mean(a) - mean(b)`; "tie" if `abs(gap) <= max(stdev(a), stdev(b))`, else by the sign of `gap`.',
    praise="a difference inside the spread is a tie, whoever's name stands first",
)
def check_tie(answer: Callable[..., Any]) -> str | None:
    """More apart than the larger of the two spreads, n - 1 below the line: the better one; else "tie"."""

    def right(a: Sequence[float], b: Sequence[float]) -> str:
        return leader(over_seeds(a), over_seeds(b))

    def fixed(limit: float, *_: Any) -> float:
        return limit

    def larger(spread: Callable[[np.ndarray], Any]) -> Callable[..., str]:
        return _ruled(lambda a, b: max(spread(a), spread(b)))

    def signed(a: Sequence[float], b: Sequence[float]) -> str:
        gap = float(np.mean(a) - np.mean(b))
        return "first" if gap > max(_std(np.array(a)), _std(np.array(b))) else "tie"

    def unsigned(a: Sequence[float], b: Sequence[float]) -> str:
        return "tie" if right(a, b) == "tie" else "first"

    def apart(a: Sequence[float], b: Sequence[float]) -> str:
        return "first" if min(a) > max(b) else "second" if min(b) > max(a) else "tie"

    mistakes = (
        (lambda a, b: _ruled(lambda *_: 0.0)(a, b), "yours never says tie where the means differ: use the spread"),
        *((lambda a, b, word=word: word, f"yours says {word!r} whatever the figures are: look at them")
          for word in VERDICTS),
        (larger(lambda x: x.std()), "your spread divides by n; of a few seeds divide by n - 1"),
        (larger(lambda x: x.std() / len(x) ** 0.5),
         "you divide by √n, as a standard error does, and the standard deviation by n in place of n - 1; asked is the "
         "larger standard deviation"),
        (larger(_error),
         "that is the standard error, the spread over √n: it says how sure the mean is. The rule wants the spread"),
        (_ruled(lambda a, b: min(_std(a), _std(b))), "yours takes the smaller of the two spreads; the larger decides"),
        (_ruled(lambda a, b: (_std(a) + _std(b)) / 2),
         "yours takes the mean of the two spreads; the larger one of them decides"),
        (_ruled(lambda a, b: _std(a) + _std(b)), "yours adds the spreads; the larger of the two decides"),
        (_ruled(lambda a, b: (_std(a) ** 2 + _std(b) ** 2) ** 0.5),
         "yours is √(s² + s²), the spread of a difference; the larger of the two spreads decides here"),
        (_ruled(lambda a, b: ((_std(a) ** 2 + _std(b) ** 2) / 2) ** 0.5),
         "yours is the pooled spread of both; the larger of the two decides"),
        (_ruled(lambda a, b: _std(a)), "yours looks at the spread of a alone; the larger of the two decides"),
        (_ruled(lambda a, b: _std(b)), "yours looks at the spread of b alone; the larger of the two decides"),
        (_ruled(lambda a, b: _std(np.concatenate([a, b]))),
         "yours throws both methods' figures together: their gap is then part of the spread"),
        (larger(lambda x: x.var(ddof=1)), "that is the variance; the spread is its root"),
        (larger(lambda x: np.ptp(x) / 2), "half the range is no standard deviation: it hangs on two seeds alone"),
        (larger(np.ptp), "the range, largest less smallest, is no standard deviation: it hangs on two seeds alone"),
        (larger(lambda x: np.abs(x - x.mean()).mean()),
         "that is the mean distance from the mean; the spread is the root of the mean square, by n - 1"),
        (larger(lambda x: _std(x) / 2), "you ask for half a spread; the rule says more than one"),
        (_ruled(lambda a, b: _std(b if a.mean() > b.mean() else a)),
         "yours looks at the spread of the worse one alone; the larger of the two decides"),
        (_ruled(lambda a, b: _std(a if a.mean() > b.mean() else b)),
         "yours looks at the spread of the better one alone; the larger of the two decides"),
        (larger(lambda x: 2 * _std(x)), "you ask for two spreads; the rule says more than one"),
        (_ruled(lambda a, b: max(_std(a), _std(b)), np.median), "yours compares medians; the rule compares means"),
        (_ruled(lambda a, b: max(_std(a), _std(b)), np.max), "yours compares the best seeds; the rule compares means"),
        (_ruled(lambda a, b: max(_std(a), _std(b)), lambda x: float(x[0])),
         "yours compares the first seeds; the rule compares means"),
        (signed, "yours never says 'second': compare the size of the gap, abs(gap), with the spread"),
        (unsigned, "yours never says 'second': where the gap is below 0, b leads"),
        (apart, "yours asks whether the seeds overlap; the rule compares the gap of the means with the larger spread"),
        (lambda a, b: {"first": "second", "second": "first"}.get(right(a, b), "tie"),
         "the two are exchanged: larger figures are better here"),
        *((_ruled(partial(fixed, limit)),
           "a fixed limit, or a rounding, is no spread: the seeds say how far a mean can stray")
          for limit in (0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05)),
    )  # fmt: skip
    complaint = find_mistake(answer, right, _runs(), mistakes, read=_verdict)
    if complaint is None and _verdict(answer([0.75] * 3, [0.75] * 3)) != "tie":
        return (
            "two methods that are equal and have no spread at all: that is a tie, too; who leads must be *more* apart"
        )
    return complaint


# --- the balance, and thresholds -------------------------------------------------------------------------------


def _sigmoid(x: float) -> float:
    return float(1 / (1 + np.exp(-x)))


@LESSON.exercise(
    "02.4",
    "At which similarity do a lone positive and a lone negative weigh the same?",
    "With one pair each, the negative's weight (eq. 9) is σ(β(S - λ)), the positive's (eq. 10) σ(α(λ - S)). Set them "
    "equal.",
    "σ is the same function on both sides and rises: so α(λ - S) = β(S - λ). Solve for S.",
    "(α + β) S = (α + β) λ.",
    praise="below λ the pull wins, above it the push, whatever α and β are: λ decides where the space comes to rest",
)
def check_balance(answer: Callable[..., Any]) -> str | None:
    """σ(α(λ - S)) = σ(β(S - λ)) only at S = λ."""

    def right(alpha: float, beta: float, base: float) -> float:
        return base

    cases = ((2.0, 20.0, 0.9), (2.0, 50.0, 0.5), (10.0, 5.0, 0.27), (3.0, 4.0, -0.3))
    mistakes = (
        (lambda a, b, base: 0.5, "0.5 is the weight of both there, not the similarity at which they meet"),
        (lambda a, b, base: 1.0, "at S = 1 the positive is pulled little and the negative pushed hard: not equal"),
        (lambda a, b, base: 0.0, "solve α(λ - S) = β(S - λ): S = 0 solves it only for λ = 0"),
        (lambda a, b, base: base * (b - a) / (a + b), lambda a, b, base: base * (a - b) / (a + b),
         "a sign is lost: α(λ - S) = β(S - λ) gives αλ + βλ = (α + β) S"),
        (lambda a, b, base: base * b / (a + b), "αλ is lost on the way: α(λ - S) = β(S - λ) gives αλ + βλ = (α + β) S"),
        (lambda a, b, base: base * a / (a + b), "βλ is lost on the way: α(λ - S) = β(S - λ) gives αλ + βλ = (α + β) S"),
        (lambda a, b, base: base * (a + b), "the last step is missing: divide (α + β) λ by α + β"),
        (lambda a, b, base: base / 2, "half of λ: solve α(λ - S) = β(S - λ) for S, and see what α + β does"),
        (lambda a, b, base: -base, "the sign is turned round"),
        (lambda a, b, base: 1 - base, "1 - λ is no solution of α(λ - S) = β(S - λ): put it in for S and see"),
        (lambda a, b, base: a / (a + b), "λ is lost: what is asked is a similarity, not a share of α"),
        (lambda a, b, base: b / (a + b), "λ is lost: what is asked is a similarity, not a share of β"),
        (lambda a, b, base: a / b, "λ is lost: solve α(λ - S) = β(S - λ) for S"),
        (lambda a, b, base: base * a / b, "solve α(λ - S) = β(S - λ) for S: it stands on both sides"),
        (lambda a, b, base: _sigmoid(base),
         "σ is gone once both sides are equal: it is what stands inside it that is compared"),
    )  # fmt: skip
    complaint = find_mistake(answer, right, cases, mistakes)
    if not isinstance(complaint, Unnamed):
        return complaint
    alpha, beta, base = next(case for case in cases if not close(number(answer(*case)), right(*case)))
    given = number(answer(alpha, beta, base))
    return Unnamed(
        f"with α = {alpha:g}, β = {beta:g}, λ = {base:g} a positive at your {given:.2f} weighs "
        f"{_sigmoid(alpha * (base - given)):.2f}, a negative {_sigmoid(beta * (given - base)):.2f}"
    )


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


@LESSON.exercise(
    "02.5",
    "Threshold from dev, accuracy on test.",
    "Two steps. Which of the four arrays may the first step see?",
    "`threshold = best_threshold(dev_scores, dev_labels)`; a pair is called the same if its score is above it.",
    "`((test_scores > threshold) == (test_labels == 1)).mean()`",
    praise="no label of test has been seen before it is scored",
)
def check_honest_accuracy(answer: Callable[..., Any]) -> str | None:
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


@LESSON.exercise(
    "02.6",
    "What accuracy does pure noise report when its threshold is searched on the same 50 pairs?",
    "Draw 50 random scores; the labels are 0 and 1 in turn. Search the best threshold on these very pairs.",
    "`best_threshold(scores, labels)`, the share of right decisions; the same some hundred times; the mean.",
    "`np.mean([best_accuracy(random.random(50)) for _ in range(400)])` comes to 0.58.",
    praise="eight points out of nothing: that is what 'chosen on the test set' can be worth",
)
def check_leak_of_noise(answer: Any) -> str | None:
    """The mean accuracy that a score without any knowledge reports, when its threshold comes from the same 50 pairs."""
    if isinstance(answer, str):
        raise Unfit(f"one number was expected, and {answer!r} came")
    given, right = number(answer), best_of_noise(NOISE)
    if abs(given - right) <= 0.01:
        return None
    if abs(given - 100 * right) <= 1:
        return "that is in percent; a share between 0 and 1 was expected"
    if abs(given - NOISE * right) <= 0.5:
        return f"that is how many of the {NOISE} are right; a share between 0 and 1 was expected"
    if not 0 <= given <= 1:
        return "a share between 0 and 1 was expected"
    if abs(given - (right - 0.5)) <= 0.01:
        return "that is by how much it leaks; the accuracy itself was asked, 0.5 more"
    if abs(given - (1 - right)) <= 0.01:
        return "that is the share of wrong decisions; the accuracy was asked"
    if close(given, 1.0, 1e-9):
        return f"no threshold calls all of {NOISE} random scores rightly: are the labels the scores' own?"
    if abs(given - 0.5) <= 0.012:
        return "0.5 is what noise is worth; the threshold here is the best of 51, found on the pairs that are scored"
    if given < 0.5:
        return (
            "below 0.5: but with half of each, a threshold that calls all pairs alike is right in half of them, and "
            "the best one is no worse"
        )
    for count in (10, 20, 30, 100, 200):
        if abs(given - best_of_noise(count)) <= 0.004:
            return (
                f"as much as {count} pairs would give; there are {NOISE} here. Or is it a single draw, rounded, or "
                "were not all thresholds tried?"
            )
    way = "much" if given > right else "little"
    return Unnamed(
        f"too {way}: draw {NOISE} scores, with labels of which half are 1, search the best threshold, note its "
        "accuracy on the same pairs, and take the mean over some hundreds of such draws (one draw says little)"
    )


@cache
def best_of_noise(count: int) -> float:
    """Mean over 400 draws of the best accuracy of any threshold."""
    random, labels = np.random.default_rng(0), np.arange(count) % 2
    draws = (random.random(count) for _ in range(400))
    return float(np.mean([_right_share(best_threshold(scores, labels), scores, labels) for scores in draws]))


# --- cells, and readings ---------------------------------------------------------------------------------------


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


@LESSON.exercise(
    "02.7",
    "Find the larger cell around an S2 cell.",
    "The level's marker is the lowest bit that is set, bit 2 (30 - level). Below it all bits are 0.",
    "`marker = 1 << (2 * (30 - level))`; `cell & -marker` clears all bits below the marker.",
    "`(cell & -marker) | marker`",
    praise="a larger cell takes away bits, two a level; decimal digits do not line up with them",
)
def check_parent(answer: Callable[..., Any]) -> str | None:
    """Clear the bits below the level's own, and set that one."""
    cases = [
        (lat_lon_to_cell_id(*place, own), level) for *place, own in _PLACES for level in (own - 1, own - 4, 12, 6, 1)
    ]

    def right(cell: int, level: int) -> int:
        return int(cell_id_to_parent_cell_id(cell, level))

    def own_marker(cell: int) -> int:
        return cell & -cell

    mistakes = (
        (lambda cell, level: cell, "yours is the cell itself: the bits below the marker are still set"),
        (lambda cell, level: cell & -_marker(level),
         "the marker is missing: its bit is still what the cell had there. Set it with `| marker`"),
        (lambda cell, level: cell & -_marker(level) & ~_marker(level),
         lambda cell, level: cell & (-_marker(level) << 1) & ((1 << 64) - 1),
         "the marker is missing: its place is how a cell says its level; set it with `| marker`"),
        (lambda cell, level: cell | _marker(level), "the lower bits are still there: clear them with `& -marker`"),
        (lambda cell, level: cell & _marker(level), "that is one bit of the cell: `-marker` keeps all from it upwards"),
        (lambda cell, level: _marker(level), "that is the marker alone: where is the cell?"),
        (lambda cell, level: (cell & -(1 << (30 - level))) | 1 << (30 - level),
         "a level has two bits, since a cell has four children: the marker is bit 2 (30 - level)"),
        (lambda cell, level: (cell & -_marker(level + 1)) | _marker(level + 1),
         "that is the parent of one level finer"),
        (lambda cell, level: (cell & -_marker(level - 1)) | _marker(level - 1),
         "that is the parent of one level coarser"),
        (lambda cell, level: (cell & -_marker(level)) ^ _marker(level),
         "`^` turns the marker's bit round, and where the cell has a 1 there it is lost: set it with `|`"),
        (lambda cell, level: (cell & -_marker(level)) + _marker(level),
         "adding the marker carries where the cell has a 1 there already: set it with `|`"),
        (lambda cell, level: (cell & ~own_marker(cell)) | _marker(level),
         "you clear only the cell's old marker: all bits below the new one must go"),
        (lambda cell, level: (cell & (_marker(level) - 1)) | _marker(level),
         "yours keeps the bits below the marker and drops those above: it must be the other way round"),
        (lambda cell, level: int(str(cell)[: level + 1].ljust(19, "0")),
         "cutting decimal digits makes no cell: the levels are in the bits"),
        (lambda cell, level: cell >> (2 * (30 - level)),
         lambda cell, level: cell >> (2 * (18 - level)) if level < 18 else cell,
         "the bits stay where they are; shifting makes another number of them"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes, read=_whole)


def _counts(answer: Any) -> np.ndarray:
    found = np.zeros(0) if isinstance(answer, dict | str | set) else array(answer)
    if found.size != 2:
        raise Unfit("two counts were expected, (bi-encoder, cross-encoder)")
    return found.reshape(2)


@LESSON.exercise(
    "02.8",
    "Count how often a network must read: bi-encoder and cross-encoder.",
    "A bi-encoder makes a vector of each text and keeps it. A cross-encoder scores two texts together.",
    "The bi-encoder reads every query once and every sentence once.",
    "`(queries + sentences, queries * sentences)`",
    praise="a sum against a product",
)
def check_readings(answer: Callable[..., Any]) -> str | None:
    """A bi-encoder reads every text once, a cross-encoder every pair."""

    def right(queries: int, sentences: int) -> tuple[int, int]:
        return queries + sentences, queries * sentences

    cases = [(7, 100), (40, 3), (1, 1000), (13, 17)]
    mistakes = (
        (lambda q, n: (q * n, q + n), "the two are exchanged"),
        (lambda q, n: (q, q * n), "somebody must encode the sentences, too, if only once"),
        (lambda q, n: (n, q * n), "the queries are read as well, once each"),
        (lambda q, n: (1 + n, q * n), "each of the queries is read, not only one"),
        (lambda q, n: (q * n, q * n), lambda q, n: (q * (1 + n), q * n),
         "a bi-encoder keeps the sentences' vectors: it does not read them anew for each query"),
        (lambda q, n: (2 * q * n, q * n), "a bi-encoder keeps its vectors: it does not read two texts for each pair"),
        (lambda q, n: (2 * (q + n), q * n), "a bi-encoder reads each text once and keeps its vector"),
        (lambda q, n: (q + n, q + n), "a cross-encoder has nothing to keep: each query is read with every sentence"),
        (lambda q, n: (q + n, n), "that is the cross-encoder with one query: each query is read with every sentence"),
        (lambda q, n: (q + n, (q + n) * q), "a cross-encoder reads pairs: a query and a sentence are one reading"),
        (lambda q, n: (q + n, 2 * q * n), "a pair is one reading: both sentences stand in one row"),
        (lambda q, n: (q + n, q + n + q * n), "a cross-encoder reads no text alone: only the pairs count"),
        (lambda q, n: (q + n, n * n), "sentences are not compared with sentences: each query is, with all of them"),
        (lambda q, n: (q + n, (q + n) * (q + n - 1) / 2),
         "not all texts are compared with all: queries are compared with sentences"),
        (lambda q, n: (q + n, n**q), "each query is read once with each sentence: that is no power"),
    )  # fmt: skip
    complaint = find_mistake(answer, right, cases, mistakes, read=_counts)
    if not isinstance(complaint, Unnamed):
        return complaint
    at = next(case for case in cases if not close(_counts(answer(*case)), right(*case)))
    mine, wanted = _counts(answer(*at)), right(*at)
    which = " and ".join(
        name for name, one, other in zip(("bi-encoder", "cross-encoder"), mine, wanted, strict=True) if one != other
    )
    return Unnamed(
        f"for {at[0]} queries and {at[1]} sentences yours are {mine[0]:g} and {mine[1]:g}: wrong for the {which}"
    )


# --- a training by own code ------------------------------------------------------------------------------------


def _batch(answer: Any) -> tuple[np.ndarray, ...]:
    """Numbers, lengths, P and N, with the sentences in the order of their words: in which they come is free."""
    if not isinstance(answer, tuple | list) or len(answer) != 4:
        raise Unfit("four things were expected: numbers, lengths, P and N")
    numbers, lengths = answer[:2]
    for name, each in (("numbers", numbers), ("lengths", lengths)):
        if not isinstance(each, Tensor) or each.is_floating_point() or each.is_complex() or each.dtype == torch.bool:
            kind = each.dtype if isinstance(each, Tensor) else type(each).__name__
            raise Unfit(f"{name} must be a tensor of whole numbers, and {kind} came: a table is looked up with them")
    if numbers.ndim != 2 or lengths.shape != numbers.shape[:1]:
        raise Unfit(
            f"numbers (m, longest) and lengths (m,) were expected, and {tuple(numbers.shape)} and "
            f"{tuple(lengths.shape)} came: a row a sentence"
        )
    P, N = (mask(each) for each in answer[2:])
    if P.shape != N.shape or P.shape != (len(numbers), len(numbers)):
        raise Unfit(f"P and N must be (m, m), here ({len(numbers)}, {len(numbers)}); yours are {P.shape} and {N.shape}")
    order = sorted(range(len(numbers)), key=lambda row: numbers[row].tolist())
    both = np.ix_(order, order)
    return array(numbers[order]), array(lengths[order]), P[both], N[both]


def _corpora() -> list[tuple[list[tuple[int, int]], list[list[int]], np.ndarray]]:
    """Pairs with sentences in common, sentences of other lengths, classes that a few of them share."""
    draw, cases = np.random.default_rng(9), []
    for known, places in (
        (4, [(0, 1), (2, 0), (3, 0), (4, 5), (6, 5)]),  # each pair has a sentence that no other has
        (3, [(0, 1), (1, 2), (3, 4), (5, 1)]),
        (5, [(0, 1), (2, 1), (3, 1), (4, 5), (5, 6), (7, 8)]),
    ):
        count = 12
        lengths = draw.permutation(np.arange(1, count + 1))
        sentences = [draw.integers(1, 30, length).tolist() for length in lengths]
        rows = draw.permutation(np.flatnonzero(lengths < count)).tolist()  # the longest sentence stands in no pair
        cases.append(([(rows[a], rows[b]) for a, b in places], sentences, draw.integers(0, known, count) * 3 + 1))
    return cases


def _once(some: Any) -> list[int]:
    return list(dict.fromkeys(row for pair in some for row in pair))


def _batched(
    some: Any,
    sentences: Any,
    classes: Any,
    *,
    rows: Callable[[Any], list[int]] = _once,
    fill: int = 0,
    left: bool = False,
    longest: Callable[[Any, Any], int] = lambda own, all_of: max(map(len, own)),
    labels: Callable[[Any, Any], Any] = lambda rows, classes: classes[rows].tolist(),
    masks: Callable[[Tensor], tuple[Tensor, Tensor]] = masks_from_labels,
    lengths: Callable[[Tensor], Tensor] = lambda lengths: lengths,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The batch; each argument by name is a way to be wrong."""
    chosen = rows(some)
    own = [sentences[row] for row in chosen]
    width = longest(own, sentences)
    numbers = torch.full((len(own), width), fill)
    for place, words in enumerate(own):
        words = words[:width]
        numbers[place, width - len(words) if left else 0 :][: len(words)] = torch.tensor(words)
    P, N = masks(torch.tensor(labels(chosen, classes)))
    return numbers, lengths(torch.tensor([len(words) for words in own])), P, N


def _same(labels: Tensor) -> Tensor:
    return labels[:, None] == labels


@LESSON.exercise(
    "02.9",
    "Make a batch: rows of word numbers filled up, their lengths, who is whose positive and negative.",
    "First the distinct sentences of the pairs: `dict.fromkeys(...)` keeps the first of each. Then a table of zeros, "
    "into which each row's words are written. Then compare the classes of all with the classes of all.",
    "`numbers = torch.zeros(len(rows), int(lengths.max()), dtype=torch.long)`, and for each row `numbers[place, "
    ":lengths[place]] = torch.tensor(sentences[row])`. `labels[:, None] != labels` is N.",
    "`rows = list(dict.fromkeys(row for pair in some for row in pair))`; P is `~N` without its diagonal, `~N & "
    "~torch.eye(len(rows), dtype=torch.bool)`.",
    praise="a few pairs make a whole square of positives and negatives: everybody in a batch is compared with "
    "everybody",
)
def check_batch_of(answer: Callable[..., Any]) -> str | None:
    """Distinct sentences, filled up with 0 to the longest of them; P: one class and not the same row; N: another."""

    def right(some: Any, sentences: Any, classes: Any) -> Any:
        return _batched(some, sentences, classes)

    def wrong(**how: Any) -> Callable[..., Any]:
        return partial(_batched, **how)

    def given_pairs(some: Any, sentences: Any, classes: Any, others: bool) -> Any:
        """Only the given pairs as positives."""
        rows = _once(some)
        numbers, lengths, _, N = right(some, sentences, classes)
        P = torch.zeros(len(rows), len(rows), dtype=torch.bool)
        for a, b in some:
            P[rows.index(a), rows.index(b)] = P[rows.index(b), rows.index(a)] = True
        return numbers, lengths, P, ~P & ~torch.eye(len(rows), dtype=torch.bool) if others else N

    twice = wrong(rows=lambda some: [row for pair in some for row in pair])
    mistakes = (
        (twice, "a sentence that stands in two pairs has two rows in yours: take each once (`dict.fromkeys`)"),
        (wrong(rows=lambda some: list(dict.fromkeys(a for a, _ in some))), "only the first sentences of the pairs"),
        (wrong(rows=lambda some: list(dict.fromkeys(b for _, b in some))), "only the second sentences of the pairs"),
        (wrong(fill=1), "padding is 0 here; 1 is the unknown word"),
        (wrong(fill=-1), "padding is 0 here: a table of vectors has no row -1"),
        (wrong(left=True), "the words stand at the end of their rows, padding before them: it comes after"),
        (wrong(longest=lambda own, all_of: max(map(len, all_of))),
         "yours is filled up to the longest sentence of all; the longest of this batch is enough, and faster"),
        (wrong(longest=lambda own, all_of: min(map(len, own))),
         "sentences are cut to the shortest of the batch: fill the others up instead"),
        (wrong(lengths=lambda lengths: torch.full_like(lengths, int(lengths.max()))),
         "all lengths are that of the longest: then padding counts as words"),
        (wrong(lengths=lambda lengths: lengths - 1), "the lengths are one too small: count the words"),
        (wrong(lengths=lambda lengths: lengths + 1), "the lengths are one too large: count the words"),
        (wrong(masks=lambda labels: (_same(labels), ~_same(labels))),
         "everybody is a positive of itself in yours: leave the diagonal of P out"),
        (wrong(masks=lambda labels: (masks_from_labels(labels)[0], ~masks_from_labels(labels)[0])),
         "everybody is a negative of itself in yours: the diagonal is in neither mask"),
        (wrong(masks=lambda labels: masks_from_labels(labels)[::-1]), "P and N are exchanged"),
        (wrong(masks=lambda labels: tuple(each.triu() for each in masks_from_labels(labels))),
         "only one half of each mask: everybody is an anchor, so a pair counts both ways"),
        (wrong(masks=lambda labels: (masks_from_labels(labels)[0].triu(), masks_from_labels(labels)[1])),
         "only one half of P: everybody is an anchor, so a pair counts both ways"),
        (wrong(labels=lambda rows, classes: classes[: len(rows)].tolist()),
         "the classes are those of the first sentences of all: ask for the class of each row, `classes[row]`"),
        (wrong(labels=lambda rows, classes: rows),
         "nobody has a positive in yours, as if each sentence had a class of its own: compare their classes"),
        (partial(given_pairs, others=False),
         "yours takes every pair that came for a positive: pairs labelled 0 come, too. Compare the classes"),
        (partial(given_pairs, others=True),
         "yours takes every pair that came for a positive and all others for negatives: compare the classes"),
    )  # fmt: skip
    complaint = find_mistake(answer, right, _corpora(), mistakes, read=_batch)
    if not isinstance(complaint, Unnamed):
        return complaint
    for case in _corpora():
        parts = zip(("numbers", "lengths", "P", "N"), _batch(answer(*case)), _batch(right(*case)), strict=True)
        for name, mine, wanted in parts:
            if mine.shape != wanted.shape or not np.array_equal(mine, wanted):
                return Unnamed(f"{name} is not what it should be (sentences in the order of their words): {complaint}")
    return complaint


def _network(seed: int, known: int = 14, dimension: int = 5, filters: int = 4, size: int = 6) -> nn.ModuleDict:
    """A tiny network of the notebook's parts; the vector of padding is not 0."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        logit = nn.Linear(dimension, 1)
        logit.weight.data *= 4  # shares that are far from equal
        parts = {
            "words": nn.Embedding(known, dimension),
            "filters": nn.Conv1d(dimension, filters, 3, padding=1),
            "logit": logit,
            "out": nn.Linear(filters + dimension, size),
        }
    return nn.ModuleDict(parts)


def _sentences(seed: int, lengths: Sequence[int], known: int = 14) -> tuple[Tensor, Tensor]:
    draw = torch.Generator().manual_seed(seed)
    numbers = torch.randint(1, known, (len(lengths), max(lengths) + seed % 2), generator=draw)
    return numbers * inside(torch.tensor(lengths), numbers.shape[1]), torch.tensor(lengths)


def _encoded(
    net: nn.ModuleDict,
    numbers: Tensor,
    lengths: Tensor,
    *,
    blind: bool = True,
    answers: Callable[[Tensor], Tensor] = lambda answers: answers,
    largest: Callable[[Tensor, Tensor], Tensor] = lambda answers, lengths: _filled(answers, lengths).amax(2),
    summed: Callable[[Tensor, Tensor, Tensor], Tensor] = _attended,
    both: Callable[[Tensor, Tensor], Tensor] = lambda strongest, attended: torch.cat([strongest, attended], 1),
    last: Callable[[Tensor], Tensor] = lambda vectors: F.normalize(vectors, dim=1),
) -> Tensor:
    """The encoder; each argument by name is a way to be wrong."""
    x = net["words"](numbers)
    if blind:
        x = x * inside(lengths, numbers.shape[1])[:, :, None]
    strongest = largest(answers(net["filters"](x.transpose(1, 2))), lengths)
    made: Tensor = last(net["out"](both(strongest, summed(x, net["logit"](x)[:, :, 0], lengths))))
    return made


@LESSON.exercise(
    "02.10",
    "Write the encoder: words to vectors, your two functions, a linear map, length 1.",
    'Six lines: `net["words"](numbers)`; its padding set to 0; `largest_answers` of the filters\' answers; `attend` to '
    "the word vectors; both side by side through the linear map; the length.",
    'The filters want (m, dimension, longest): `net["filters"](x.transpose(1, 2))`. The logits come as (m, longest, '
    '1): `net["logit"](x)[:, :, 0]`. `inside(lengths, longest)` is True on words.',
    '`x = net["words"](numbers) * inside(lengths, numbers.shape[1])[:, :, None]`; at the end '
    '`F.normalize(net["out"](torch.cat([strongest, attended], 1)), dim=1)`.',
    praise="your two functions are now parts of a network: what they keep of a sentence is all that it will know",
)
def check_encoder(answer: Callable[..., Any]) -> str | None:
    """Word vectors without padding; largest answers and attended sum side by side, a linear map, length 1."""

    def right(net: Any, numbers: Any, lengths: Any) -> Tensor:
        return _encoded(net, numbers, lengths)

    def wrong(**how: Any) -> Callable[..., Any]:
        return lambda net, numbers, lengths: _encoded(net, numbers, lengths, **how)

    def unknowing(net: Any, numbers: Any, lengths: Any) -> Tensor:
        return _encoded(net, numbers, torch.full_like(lengths, numbers.shape[1]))

    unmasked = wrong(blind=False)
    mistakes = (
        (unknowing, "padding is taken for words everywhere in yours: the lengths play no part"),
        (unmasked, "a window at a sentence's end sees padding: multiply its word vectors by 0 (`inside`) first"),
        (wrong(last=lambda v: v), "the vectors must have length 1: divide each by its own (`F.normalize`)"),
        (wrong(blind=False, last=lambda v: v),
         "two things: a window at a sentence's end sees padding, and the vectors have not the length 1"),
        (wrong(last=lambda v: F.normalize(v, dim=0)), "divided along the sentences: each row has a length (`dim=1`)"),
        (wrong(last=lambda v: F.normalize(v, p=1, dim=1)),
         "divided by the sum of sizes; the length is the root of the sum of squares"),
        (wrong(last=lambda v: v / (v**2).sum(1, keepdim=True)),
         "divided by the square of the length: a root is missing"),
        (wrong(last=lambda v: v / v.norm()), "divided by the length of the whole batch; each row has a length"),
        (wrong(last=lambda v: v.softmax(1)), "a softmax makes shares; the length is to be 1"),
        (wrong(both=lambda strongest, attended: torch.cat([attended, strongest], 1)),
         "the two stand the other way round: first the largest answers, then the attended sum"),
        (wrong(both=lambda strongest, attended: F.normalize(torch.cat([strongest, attended], 1), dim=1)),
         "the length is made 1 before the linear map as well: only the result is divided"),
        (wrong(both=lambda s, a: F.normalize(torch.cat([s, a], 1), dim=1), last=lambda v: v),
         "the length is made 1 before the linear map, and is another one after it"),
        (wrong(both=lambda strongest, attended: torch.cat([strongest, 0 * attended], 1)),
         "the attended sum plays no part in yours"),
        (wrong(both=lambda strongest, attended: torch.cat([0 * strongest, attended], 1)),
         "the largest answers play no part in yours"),
        (wrong(largest=lambda answers, lengths: answers.amax(2)),
         "the largest answer may stand on padding in yours: give `largest_answers` the lengths"),
        (wrong(largest=lambda answers, lengths: answers.amax(2), summed=lambda x, g, n: _summed(g.softmax(1), x)),
         "the largest answer may stand on padding, and padding has a share of the attention: give both the lengths"),
        (wrong(largest=lambda a, n: _filled(a, n, 0.0).sum(2) / n[:, None]),
         "yours has the mean of the answers: `largest_answers` takes the largest"),
        (wrong(summed=lambda x, g, n: x.sum(1) / n[:, None]),
         "yours has the plain mean of the word vectors: `attend` gives each word its share"),
        (wrong(summed=lambda x, g, n: x.sum(1)),
         "yours has the plain sum of the word vectors: `attend` gives each word its share"),
        (wrong(summed=lambda x, g, n: _summed(g.softmax(1), x)),
         "padding has a share of the attention in yours: give `attend` the lengths"),
        (wrong(summed=lambda x, g, n: _summed(_filled(_filled(g, n).softmax(1), n).softmax(1), x)),
         "the softmax is taken twice: `attend` wants the logits as they are"),
        (wrong(answers=torch.relu), "a relu cuts the filters' answers below 0: it was not asked for"),
        (wrong(answers=torch.tanh), "a tanh bends the filters' answers: it was not asked for"),
        (wrong(last=lambda v: F.normalize(v.tanh(), dim=1)), "a tanh bends the result: it was not asked for"),
        (wrong(last=lambda v: F.normalize(v.relu(), dim=1)), "a relu cuts the result below 0: it was not asked for"),
    )  # fmt: skip
    cases = [
        (_network(1), *_sentences(1, (4, 2, 1))),
        (_network(2, dimension=3, filters=7, size=2), *_sentences(2, (3, 6, 1, 5))),
        (_network(3, dimension=6, filters=2, size=5), *_sentences(3, (2, 4))),
    ]
    complaint = find_mistake(answer, right, cases, mistakes, read=_learnable)
    return complaint or _all_learn(answer, *cases[0])


def _all_learn(answer: Callable[..., Any], net: nn.ModuleDict, numbers: Tensor, lengths: Tensor) -> str | None:
    """Whether a gradient reaches every part of the network."""
    made = answer(net, numbers, lengths)
    if made.requires_grad:
        (made * torch.linspace(-1, 1, made.shape[1])).sum().backward()
    for name, part in net.items():
        if next(part.parameters()).grad is None:
            return (
                f"the vectors are right, but no gradient reaches net[{name!r}]: it could not learn. Work with tensors "
                "all the way, and without `no_grad`"
            )
    return None


# A step: where it is right, the parameters walk as those of the reference do, with an optimiser that has a memory


def _walk(step: Callable[..., Any]) -> Callable[[tuple[int, float, int]], np.ndarray]:
    """The losses that a step gives back over some batches, and the parameters after them."""

    def walked(world: tuple[int, float, int]) -> np.ndarray:
        net, batches = _world(world)
        optimiser = torch.optim.SGD(net.parameters(), lr=world[1], momentum=0.5)
        losses = [number(step(net, optimiser, batch)) for batch in batches]
        moved = [each.detach().numpy().ravel() for each in net.parameters()]
        return np.concatenate([losses, *moved])

    return walked


def _world(world: tuple[int, float, int]) -> tuple[nn.ModuleDict, list[tuple[Tensor, Tensor, Tensor, Tensor]]]:
    """A tiny network and some batches."""
    seed, _, steps = world
    draw = np.random.default_rng(seed)
    net, batches = _network(seed, dimension=3 + seed), []
    for _ in range(steps):
        lengths = draw.integers(1, 6, 7).tolist()
        labels = torch.tensor(draw.integers(0, 3, 7))
        batches.append((*_sentences(int(draw.integers(1000)), lengths), *masks_from_labels(labels)))
    return net, batches


WORLDS = ((1, 0.5, 4), (2, 0.2, 3), (3, 1.0, 3))


def _loss(v: Tensor, P: Tensor, N: Tensor) -> Tensor:
    return _with(v @ v.T, P, N)


def _with(S: Tensor, P: Tensor, N: Tensor, *, alpha: float = 2.0, beta: float = 20.0, base: float = 0.9) -> Tensor:
    return locality(S, P, N, alpha=alpha, beta=beta, base=base)


def _step(loss_of: Callable[[Tensor, Tensor, Tensor], Tensor] = _loss, uphill: bool = False) -> Callable[..., float]:
    """A step with another loss, or the other way."""

    def step(net: Any, optimiser: Any, batch: Any) -> float:
        numbers, lengths, P, N = batch
        optimiser.zero_grad()
        loss = loss_of(_encoded(net, numbers, lengths), P, N)
        (-loss if uphill else loss).backward()
        optimiser.step()
        return loss.item()

    return step


@LESSON.exercise(
    "02.11",
    "Write one step: forget old gradients, the loss, its gradients, the move.",
    "The order: `optimiser.zero_grad()`, the vectors, the loss, `loss.backward()`, `optimiser.step()`.",
    "`v = encoded(net, numbers, lengths)` has length 1 a row, so all cosines of the batch are `v @ v.T`.",
    "`loss = locality(v @ v.T, P, N, alpha=2.0, beta=20.0, base=0.9)`; give back `loss.item()`.",
    praise="that is all of learning: a number that says how bad it is, and a small move that makes it smaller",
)
def check_one_step(answer: Callable[..., Any]) -> str | None:
    """zero_grad, loss, backward, step; the parameters and the losses are those of the reference."""

    def with_loss(loss_of: Callable[[Tensor, Tensor, Tensor], Tensor]) -> Callable[..., Any]:
        return _walk(_step(loss_of))

    def settings(**changed: float) -> Callable[..., Any]:
        return with_loss(lambda v, P, N: _with(v @ v.T, P, N, **changed))

    def mined(v: Tensor, P: Tensor, N: Tensor) -> Tensor:
        S = v @ v.T
        return _with(S, *informative(S.clamp(-1, 1), P, N, epsilon=0.3))

    mistakes = (
        (_walk(_step(uphill=True)), "your network moves uphill: the loss grows. `loss.backward()`, without a minus"),
        (with_loss(lambda v, P, N: -_loss(v, P, N)), "yours is minus the loss: it goes uphill"),
        (with_loss(lambda v, P, N: locality(v @ v.T, P, N)),
         "α, β and λ are those that `locality` takes when it is told nothing; asked are 2, 20 and 0.9"),
        (settings(alpha=20.0, beta=2.0), "α and β are exchanged"),
        (settings(base=0.5), "λ (`base`) is 0.5 in yours; asked is 0.9"),
        (settings(beta=50.0), "β is 50 in yours; asked is 20"),
        (with_loss(lambda v, P, N: _loss(v, N, P)), "P and N are exchanged: positives would be pushed apart"),
        (with_loss(mined), "you keep only informative pairs; here all pairs are to take part"),
        (with_loss(lambda v, P, N: _loss(v, P, N) * len(v)), "that is the sum over anchors; the loss is their mean"),
        (with_loss(lambda v, P, N: _loss(v, P, N) / len(v)), "divided by the anchors twice: `locality` is their mean"),
    )  # fmt: skip
    complaint = find_mistake(_walk(answer), _walk(_step()), [(world,) for world in WORLDS], mistakes, tolerance=1e-4)
    if complaint is None or any(complaint == says for _, says in mistakes):
        return complaint
    return _order(answer) or _first_loss(answer)


def _order(answer: Callable[..., Any]) -> str | None:
    """What the answer does in a step, and when: the word for what is missing or stands in the wrong place."""
    net, batches = _world(WORLDS[0])
    told: list[str] = []

    class Told(torch.optim.SGD):
        def zero_grad(self, set_to_none: bool = True) -> None:
            told.append("forgets")
            super().zero_grad(set_to_none)

        def step(self, closure: Any = None) -> Any:
            told.append("moves")
            return super().step(closure)

    optimiser = Told(net.parameters(), lr=0.5)
    bias = net["out"].bias
    assert isinstance(bias, Tensor)
    bias.register_hook(lambda gradient: told.append("asks"))
    left, seen = False, []
    for batch in batches[:2]:
        left = left or bias.grad is not None
        told.clear()
        answer(net, optimiser, batch)
        seen.append(list(told))
    events = seen[-1]
    if "asks" not in events:
        return "no gradient is asked for: `loss.backward()` is missing, or the loss does not hang on the network"
    if "moves" not in events:
        return "the optimiser never moves the parameters: `optimiser.step()` is missing, or it is another optimiser's"
    if events.count("asks") > 1 or events.count("moves") > 1:
        return "one call makes one step: gradients are asked for once, and the optimiser moves once"
    if events.index("moves") < events.index("asks"):
        return "the optimiser moves before the gradients of this batch are there: `backward` first, then `step`"
    if "forgets" in events[events.index("asks") : events.index("moves")]:
        return "the gradients are forgotten (`zero_grad`) between `backward` and `step`: nothing is left to move by"
    if left and "forgets" not in events:
        return "gradients add up from step to step: forget the old ones with `optimiser.zero_grad()`"
    return None


def _first_loss(answer: Callable[..., Any]) -> str:
    """Whether the fault is before the first move, in the loss, or in the move."""
    net, batches = _world(WORLDS[0])
    optimiser = torch.optim.SGD(net.parameters(), lr=WORLDS[0][1])
    before = _loss(_encoded(net, *batches[0][:2]), *batches[0][2:]).item()
    given = number(answer(net, optimiser, batches[0]))
    after = _loss(_encoded(net, *batches[0][:2]), *batches[0][2:]).item()
    if close(given, before, 1e-4):
        return Unnamed(
            "the first loss is right, but then the parameters do not move as the gradients of this loss say: is a part "
            "of it cut off from them (`detach`), or is something done to the gradients?"
        )
    if close(given, after, 1e-4) and not close(before, after, 1e-4):
        return "that is the loss after the move; give back the one before it, from which the gradients came"
    return Unnamed(
        f"the first loss is {given:.4f} in the check, expected {before:.4f}: are `encoded` (02.10), the cosines and "
        "the settings of `locality` right?"
    )


# The epochs: what they give to `learn` and `note` is written down


Calls = list[list[Any]]  # of an epoch: what `learn` was given


def _recorded(
    answer: Callable[..., Any], pairs: list[tuple[int, int]], size: int, epochs: int, seed: int, elsewhere: int
) -> tuple[Calls, list[tuple[Any, Any]], list[list[float]], Any]:
    """All that `learn` was given, cut where `note` was called; what `note` was told, the losses, what came back."""
    given: Calls = [[]]
    losses: list[list[float]] = [[]]
    told: list[tuple[Any, Any]] = []

    def learn(some: Any) -> float:
        given[-1].append(some)
        losses[-1].append(1.0 / (1 + sum(map(len, given))) + 0.1 * len(losses))
        return losses[-1][-1]

    def note(epoch: Any, loss: Any) -> None:
        told.append((epoch, loss))
        given.append([])
        losses.append([])

    with torch.random.fork_rng():
        kept = chance.getstate(), np.random.get_state()  # noqa: NPY002 (a student may draw from it)
        torch.manual_seed(elsewhere)
        chance.seed(elsewhere)
        np.random.seed(elsewhere)  # noqa: NPY002
        try:
            back = answer(pairs, size, epochs, seed, learn, note)
        finally:
            chance.setstate(kept[0])
            np.random.set_state(kept[1])  # noqa: NPY002
    return given, told, losses, back


@LESSON.exercise(
    "02.12",
    "Write the epochs: all pairs once, in a new order each time, and the seed decides.",
    "A generator that is seeded once, before the first epoch, draws another order in each.",
    "`torch.randperm(len(pairs), generator=random)` is an order; cut it into pieces of `size`, the last as long as it "
    "comes.",
    "`order = torch.randperm(len(pairs), generator=random).tolist()`, and `learn([pairs[row] for row in chunk])` for "
    "each `chunk` of `order[at : at + size]`.",
    praise="nothing is left out, nothing is learned twice, and whoever has the seed has the same training",
)
def check_epochs_of(answer: Callable[..., Any]) -> str | None:
    """Every pair once an epoch, `size` at a time, another order each epoch, all from the seed."""
    for rows, size, epochs, seed in ((23, 5, 4, 0), (12, 4, 3, 7), (9, 20, 3, 1), (8, 1, 2, 3)):
        pairs = [(row, 100 + 7 * row % 31) for row in range(rows)]
        own = list(pairs)
        given, told, losses, back = _recorded(answer, own, size, epochs, seed, elsewhere=11)
        complaint = (
            _what_is_learned(given, pairs, size, epochs, len(told))
            or _shuffled(given[:epochs], pairs)
            or _what_is_told(told, losses[:epochs], back, epochs)
        )
        if complaint is None and own != pairs:
            complaint = "right, but your function changes `pairs` itself: work on a copy, or on row numbers"
        if complaint:
            return complaint
        again = _recorded(answer, list(pairs), size, epochs, seed, elsewhere=12)[0]
        if again != given:
            return "the same seed gives another order when it is asked again: draw from a generator that `seed` has set"
        if size < rows and _recorded(answer, list(pairs), size, epochs, seed + 50, elsewhere=11)[0] == given:
            return "another seed gives the same order: the order must come from `seed`"
    return None


def _what_is_learned(given: Calls, pairs: list[tuple[int, int]], size: int, epochs: int, notes: int) -> str | None:
    """Whether each epoch has all pairs once, `size` at a time."""
    calls = [call for epoch in given for call in epoch]
    if not calls:
        return "`learn` is never called: it is what makes the steps"
    if any(not isinstance(call, list | tuple) or not call for call in calls):
        return "`learn` wants a list of pairs, not an empty one and nothing else"
    if any(not isinstance(pair, tuple | list) for call in calls for pair in call):
        return "`learn` wants the pairs themselves, `pairs[row]`, and not their row numbers"
    if any(tuple(pair) not in pairs for call in calls for pair in call):
        return "`learn` is given something that is none of `pairs`"
    whole = len(pairs) * epochs
    learned = sum(map(len, calls))
    if notes == 0:
        return "`note` is never called: it is to hear the mean loss at the end of each epoch"
    if notes == len(calls) != epochs:
        return "`note` is called after every step; it is to be called once, at the end of each epoch"
    if notes in (epochs - 1, epochs + 1) and learned == len(pairs) * notes:
        return f"{notes} epochs in place of {epochs}: `range(1, epochs + 1)` has as many as are asked"
    if notes != epochs:
        return f"`note` is called {notes} times in {epochs} epochs; once at the end of each was asked"
    if given[-1]:
        return "`learn` is called again after the last epoch is told to `note`"
    for epoch in given[:-1]:
        seen = Counter(tuple(pair) for call in epoch for pair in call)
        if missing := len(pairs) - len(seen):
            if missing == len(pairs) % size and learned == whole - missing * epochs:
                return "the last pairs of each epoch are left out: the last batch may be smaller"
            if max(seen.values()) > 1:
                return "pairs are drawn with return: some come twice in an epoch and some not at all"
            return f"{missing} of {len(pairs)} pairs are not learned from in an epoch; each must come once"
        if max(seen.values()) > 1:
            return "some pairs come more than once in an epoch; each must come once"
        most = max(map(len, epoch))
        if most > size or len(epoch) != -(-len(pairs) // size):
            return f"`learn` is given up to {most} pairs at a time, {len(epoch)} times an epoch, where `size` is {size}"
    return None


def _shuffled(given: Calls, pairs: list[tuple[int, int]]) -> str | None:
    """Whether the order is another one in each epoch, pair by pair."""
    orders = [[tuple(pair) for call in epoch for pair in call] for epoch in given]
    if all(order == pairs for order in orders):
        return "the pairs always come in the order of the list: shuffle them anew in each epoch"
    if all(order == orders[0] for order in orders):
        return (
            "the order is the same in every epoch: draw it inside the loop, from a generator that is seeded once, "
            "before it"
        )
    if any(one == other for one, other in pairwise(orders)):
        return "an epoch has the order of the one before it: draw it anew in each"
    if orders[0] == pairs:
        return "the first epoch comes in the order of the list: shuffle before it, too"
    together = [{frozenset(tuple(pair) for pair in call) for call in epoch} for epoch in given]
    if len(given[0]) > 1 and len(given[0][0]) > 1 and all(sets == together[0] for sets in together):
        return "the same pairs are together in a batch in every epoch: shuffle the pairs, not the batches"
    return None


def _what_is_told(told: list[tuple[Any, Any]], losses: list[list[float]], back: Any, epochs: int) -> str | None:
    """The mean losses, to `note` and at the end."""
    means = [sum(each) / len(each) for each in losses]
    if [number(epoch) for epoch, _ in told] != list(range(1, epochs + 1)):
        if [number(epoch) for epoch, _ in told] == list(range(epochs)):
            return "`note` hears epochs 0, 1, …: they are to be numbered from 1"
        return f"`note` hears of the epochs {[epoch for epoch, _ in told]}, expected 1 to {epochs}, then the loss"
    words = (
        ([sum(each) for each in losses], "the sum of the losses of an epoch; their mean was asked for"),
        ([each[-1] for each in losses], "the loss of an epoch's last batch; the mean of all was asked for"),
        ([each[0] for each in losses], "the loss of an epoch's first batch; the mean of all was asked for"),
        ([np.mean(np.concatenate(losses[: at + 1])) for at in range(epochs)],
         "the mean since the first epoch; begin anew"),
    )  # fmt: skip
    heard = [number(loss) for _, loss in told]
    if not close(heard, means):
        for wrong, says in words:
            if close(heard, wrong):
                return f"`note` hears {says}"
        return f"`note` hears {heard[0]:.4f} after the first epoch, and its losses' mean is {means[0]:.4f}"
    found = array(back)
    if found.shape != (epochs,):
        if found.size == 1:
            return "one loss comes back; the mean losses of all epochs were asked for, in a list"
        return f"{found.size} losses come back, expected {epochs}: one an epoch"
    return None if close(found, means) else "what comes back is not what `note` has heard: the mean loss of each epoch"

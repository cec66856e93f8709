"""Notebook 02: encoders, ablations, thresholds, places and cross-encoders."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import torch
from s2cell import cell_id_to_parent_cell_id, lat_lon_to_cell_id
from torch import Tensor

from labkit.check.exercise import Lesson
from labkit.check.trying import array, close, number, slip, wrong_entries
from labkit.encoders import inside
from labkit.evaluation import best_threshold, leader, over_seeds

LESSON = Lesson("02", predictions=("02.a", "02.b", "02.c", "02.d", "02.e", "02.f"))

LENGTHS = (4, 2, 1)  # words of the three sentences of a case, in rows of four


@LESSON.exercise(
    "02.1",
    "Take each filter's largest answer over the words of a sentence, padding left out.",
    (
        "Make the answers beside the sentence so small that they never win. Then: the maximum over the last axis.",
        "`answers.masked_fill(outside[:, None, :], ...)`: which number is below every answer, however negative?",
        "`answers.masked_fill(outside[:, None, :], -torch.inf).amax(2)`",
    ),
    "a sentence's vector depends on the sentence alone, not on how long its neighbour in the batch is",
)
def largest_answers(answer: Callable[..., Any]) -> str | None:
    """The maximum over the windows that begin at a word. Answers are below 0 in the words, above 0 in the padding."""
    lengths = torch.tensor(LENGTHS)
    outside = ~inside(lengths, 4)[:, None, :]
    answers = -torch.rand(3, 5, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    answers = torch.where(outside, answers + 2, answers)
    right = answers.masked_fill(outside, -torch.inf).amax(2)
    given = array(answer(answers.clone(), lengths))
    slips = (
        (answers.amax(2), "padding takes part in yours: where a sentence is short, an answer beside it wins"),
        (answers.masked_fill(outside, 0.0).amax(2), "0 is no floor: all answers of a filter may be below it; take -∞"),
        (answers.masked_fill(~outside, -torch.inf).amax(2), "the mask is turned round: yours looks at padding only"),
        (answers.masked_fill(outside, torch.inf).amin(2), "that is the smallest answer; the largest is wanted"),
        (answers.masked_fill(outside, 0.0).sum(2) / lengths[:, None], "that is the mean; the largest is wanted"),
        (answers.masked_fill(outside, -torch.inf).amax(1), "yours is the largest over the filters, at each word"),
    )
    return None if close(given, right) else slip(given, slips) or wrong_entries(given, right)


@LESSON.exercise(
    "02.2",
    "Share out attention among the words of a sentence.",
    (
        "A softmax turns logits to shares that sum to 1. Over which axis? And what must a padded place get?",
        "Over axis 1. A place of -∞ has the share e^(-∞) = 0: `logits.masked_fill(outside, -torch.inf)`.",
        "`shares = logits.masked_fill(outside, -torch.inf).softmax(1)`; the line below it sums the states.",
    ),
    "all words take part, each with a share of its own",
)
def attend(answer: Callable[..., Any]) -> str | None:
    """Σ a_t h_t with a the softmax over the words of a sentence."""
    draw = torch.Generator().manual_seed(1)
    states = torch.randn(3, 4, 5, generator=draw, dtype=torch.float64)
    logits = torch.randn(3, 4, generator=draw, dtype=torch.float64)
    lengths = torch.tensor(LENGTHS)
    outside = ~inside(lengths, 4)

    def summed(shares: Tensor) -> Tensor:
        return (shares[:, :, None] * states).sum(1)

    right = summed(logits.masked_fill(outside, -torch.inf).softmax(1))
    given = array(answer(states.clone(), logits.clone(), lengths))
    slips = (
        (summed(logits.softmax(1)), "padding takes part in yours: it has a share of the softmax"),
        (
            summed(logits.softmax(1).masked_fill(outside, 0.0)),
            "padding is taken out after the softmax: what is left no longer sums to 1",
        ),
        (
            summed(logits.masked_fill(outside, 0.0).softmax(1)),
            "a logit of 0 still has a share, e^0; padding needs -∞",
        ),
        (
            summed(logits.masked_fill(outside, -torch.inf).softmax(0)),
            "yours shares out between the sentences; it is the words of one sentence that share",
        ),
        (summed((~outside).double() / lengths[:, None]), "that is the plain mean: the logits are not used"),
        (summed(logits.masked_fill(outside, 0.0)), "the softmax is missing"),
    )
    return None if close(given, right) else slip(given, slips) or wrong_entries(given, right)


_RUNS = (
    ((0.80, 0.82, 0.84), (0.81, 0.81, 0.82)),  # apart by the smaller spread only
    ((0.80, 0.82, 0.84), (0.70, 0.71, 0.72)),
    ((0.70, 0.71, 0.72), (0.80, 0.82, 0.84)),
    ((0.80, 0.82, 0.84), (0.8018, 0.8018, 0.8018)),  # between the spread with n and that with n - 1
    ((0.80, 0.82, 0.84), (0.838, 0.848, 0.858)),  # outside either spread, inside their sum
    ((0.80, 0.82, 0.84), (0.805, 0.825, 0.845)),  # inside every spread, outside the variance
    ((0.80, 0.82, 0.84), (0.8003, 0.8203, 0.8403)),  # inside the variance
)


@LESSON.exercise(
    "02.3",
    "Write the rule of the house: who leads by more than the larger spread, and what is a tie?",
    (
        "You need two means and two standard deviations. Of a few seeds, divide by n - 1.",
        "`statistics.stdev` and `np.std(x, ddof=1)` divide by n - 1. Compare the gap with the larger of the two.",
        '`gap = mean(a) - mean(b)`; "tie" if `abs(gap) <= max(stdev(a), stdev(b))`, else by the sign of `gap`.',
    ),
    "a difference inside the spread is a tie, whoever's name stands first",
)
def tie(answer: Callable[..., Any]) -> str | None:
    """More apart than the larger of the two spreads, n - 1 below the line: the better one; else "tie"."""
    given = [str(answer(list(a), list(b))) for a, b in _RUNS]
    right: list[str] = [leader(over_seeds(a), over_seeds(b)) for a, b in _RUNS]
    if given == right:
        return None
    if not set(given) <= {"first", "second", "tie"}:
        return f'"first", "second" or "tie" was expected, and {given[0]!r} came'
    slips = (
        (_ruled(lambda a, b: 0.0), "yours never says tie where the means differ: it does not look at the spread"),
        (_ruled(lambda a, b: max(a.std(), b.std())), "your spread divides by n; of a few seeds divide by n - 1"),
        (
            _ruled(lambda a, b: min(a.std(ddof=1), b.std(ddof=1))),
            "yours takes the smaller of the two spreads; the larger one decides",
        ),
        (_ruled(lambda a, b: a.std(ddof=1) + b.std(ddof=1)), "yours adds the spreads; the larger of the two decides"),
        (_ruled(lambda a, b: max(a.var(ddof=1), b.var(ddof=1))), "that is the variance; the spread is its root"),
        (
            [{"first": "second", "second": "first"}.get(word, word) for word in right],
            "the two are exchanged: larger figures are better here",
        ),
    )
    for wrong, says in slips:
        if given == wrong:
            return says
    at = next(number for number, (mine, wanted) in enumerate(zip(given, right, strict=True)) if mine != wanted)
    return f"for {_RUNS[at][0]} and {_RUNS[at][1]} it is {right[at]!r}; yours says {given[at]!r}"


def _ruled(spread: Callable[[np.ndarray, np.ndarray], float]) -> list[str]:
    """The verdicts on the cases with another rule for how far apart is apart."""
    words = []
    for first, second in ((np.array(a), np.array(b)) for a, b in _RUNS):
        gap = first.mean() - second.mean()
        words.append("tie" if abs(gap) <= spread(first, second) else "first" if gap > 0 else "second")
    return words


@LESSON.exercise(
    "02.4",
    "At which similarity do a lone positive and a lone negative weigh the same?",
    (
        "Eq. 9 and 10 with one positive and one negative are σ(α(λ - S)) and σ(β(S - λ)). Set them equal.",
        "σ is the same function on both sides and rises: so α(λ - S) = β(S - λ). Solve for S.",
        "(α + β) S = (α + β) λ.",
    ),
    "below λ the pull wins, above it the push, whatever α and β are: λ decides where the space comes to rest",
)
def balance(answer: Callable[..., Any]) -> str | None:
    """σ(α(λ - S)) = σ(β(S - λ)) only at S = λ."""
    cases = ((2.0, 20.0, 0.9), (2.0, 50.0, 0.5), (10.0, 5.0, 0.2))
    given = [number(answer(*case)) for case in cases]
    if close(given, [base for *_, base in cases]):
        return None
    slips = (
        ([0.5] * 3, "0.5 is the weight of both there, not the similarity at which they meet"),
        ([1.0] * 3, "at S = 1 the positive is pulled little and the negative pushed hard: they are not equal"),
        ([0.0] * 3, "solve α(λ - S) = β(S - λ): S = 0 solves it only for λ = 0"),
        (
            [base * (beta - alpha) / (alpha + beta) for alpha, beta, base in cases],
            "a sign is lost: α(λ - S) = β(S - λ) gives αλ + βλ = (α + β) S",
        ),
        (
            [base * beta / (alpha + beta) for alpha, beta, base in cases],
            "αλ is lost on the way: α(λ - S) = β(S - λ) gives αλ + βλ = (α + β) S",
        ),
        ([-base for *_, base in cases], "the sign is turned round"),
    )
    alpha, beta, base = cases[0]
    pull, push = (1 / (1 + np.exp(-x)) for x in (alpha * (base - given[0]), beta * (given[0] - base)))
    return slip(given, slips) or (
        f"with α = {alpha:g}, β = {beta:g}, λ = {base:g} a positive at your {given[0]:.2f} weighs {pull:.2f}, "
        f"a negative {push:.2f}"
    )


@LESSON.exercise(
    "02.5",
    "Threshold from dev, accuracy on test.",
    (
        "Two steps. Which of the four arrays may the first step see?",
        "`threshold = best_threshold(dev_scores, dev_labels)`; a pair is called the same if its score is above it.",
        "`((test_scores > threshold) == (test_labels == 1)).mean()`",
    ),
    "no label of test has been seen before it is scored",
)
def honest_accuracy(answer: Callable[..., Any]) -> str | None:
    """The threshold of dev, the accuracy of test."""
    random = np.random.default_rng(5)
    dev_labels, test_labels = np.arange(40) % 2, (np.arange(30) % 3 == 0).astype(int)
    dev, test = 0.6 + dev_labels * 0.1 + random.normal(0, 0.1, 40), 0.5 + test_labels * 0.1 + random.normal(0, 0.1, 30)

    def accuracy(threshold: float, scores: np.ndarray, labels: np.ndarray) -> float:
        return float(((scores > threshold) == (labels == 1)).mean())

    right = accuracy(best_threshold(dev, dev_labels), test, test_labels)
    given = number(answer(dev, dev_labels, test, test_labels))
    if close(given, right):
        return None
    both = best_threshold(np.concatenate([dev, test]), np.concatenate([dev_labels, test_labels]))
    slips = (
        (
            accuracy(best_threshold(test, test_labels), test, test_labels),
            "the threshold was searched on the pairs that are scored: the leak of Algorithm 1 as it is printed",
        ),
        (
            accuracy(best_threshold(dev, dev_labels), dev, dev_labels),
            "that is the accuracy on dev, whose labels the threshold has seen",
        ),
        (accuracy(0.5, test, test_labels), "0.5 is nobody's best threshold: let dev choose it"),
        (accuracy(both, test, test_labels), "the threshold was chosen on dev and test together: that leaks as well"),
        (1 - right, "that is the share of errors"),
        (100 * right, "that is in percent; a share was expected"),
        (right * len(test), "that is a count; a share was expected"),
    )
    return slip(given, slips) or f"for the case of the check the accuracy is {right:.4f}; yours is {given:.4f}"


NOISE = 50  # pairs, half of them the same, whose scores are noise


@LESSON.exercise(
    "02.6",
    "What accuracy does pure noise report when its threshold is searched on the same 50 pairs?",
    (
        "Draw 50 random scores; the labels are 0 and 1 in turn. Search the best threshold on these very pairs.",
        "`best_threshold(scores, labels)`, the share of right decisions; the same some hundred times; the mean.",
        "`np.mean([best_accuracy(random.random(50)) for _ in range(400)])` comes to 0.58.",
    ),
    "eight points out of nothing: that is what 'chosen on the test set' can be worth",
)
def leak_of_noise(answer: Any) -> str | None:
    """The mean accuracy that a score without any knowledge reports, when its threshold comes from the same 50 pairs."""
    given = number(answer)
    if close(given, 0.5, 0.012):
        return "0.5 is what noise is worth; the threshold here is the best of 51, found on the pairs that are scored"
    if abs(given - best_of_noise(NOISE)) <= 0.01:
        return None
    for count in (10, 20, 200, 1000):
        if abs(given - best_of_noise(count)) <= 0.004:
            return f"that is what {count} pairs give; there are {NOISE} here"
    if abs(given - (best_of_noise(NOISE) - 0.5)) <= 0.01:
        return "that is by how much it leaks; the accuracy itself was asked, 0.5 more"
    if given > 1:
        return "a share between 0 and 1 was expected"
    way = "many" if given > best_of_noise(NOISE) else "few"
    return (
        f"too {way} right decisions: draw {NOISE} scores and labels, half of them 1, search the best threshold, note "
        "its accuracy on the same pairs, and take the mean over some hundreds of such draws"
    )


@cache
def best_of_noise(count: int) -> float:
    """Mean over 400 draws of the best accuracy of any threshold."""
    random, labels = np.random.default_rng(0), np.arange(count) % 2
    found = []
    for _ in range(400):
        scores = random.random(count)
        found.append(((scores > best_threshold(scores, labels)) == labels).mean())
    return float(np.mean(found))


_PLACES = ((48.0, 9.0), (-33.9, 151.2), (35.7, 139.7))


@LESSON.exercise(
    "02.7",
    "Find the larger cell around an S2 cell.",
    (
        "The level's marker is the lowest bit that is set, bit 2 (30 - level). Below it all bits are 0.",
        "`marker = 1 << (2 * (30 - level))`; `cell & -marker` clears all bits below the marker.",
        "`(cell & -marker) | marker`",
    ),
    "a larger cell takes away bits, two a level; decimal digits do not line up with them",
)
def parent(answer: Callable[..., Any]) -> str | None:
    """Clear the bits below the level's own, and set that one."""
    cases = [(lat_lon_to_cell_id(*place, 18), level) for place, level in product(_PLACES, (17, 14, 6))]
    given = [int(answer(*case)) for case in cases]
    right = [cell_id_to_parent_cell_id(*case) for case in cases]
    if given == right:
        return None

    def marker(level: int) -> int:
        return 1 << (2 * (30 - level))

    slips = (
        ([cell for cell, _ in cases], "yours is the cell itself: the bits below the marker are still set"),
        (
            [cell & -marker(level) & ~marker(level) for cell, level in cases],
            "the marker is missing: its place is how a cell says its level; set it with `| marker`",
        ),
        (
            [cell | marker(level) for cell, level in cases],
            "the lower bits are still there: clear them with `& -marker`",
        ),
        (
            [(cell & -(1 << (30 - level))) | 1 << (30 - level) for cell, level in cases],
            "a level has two bits, since a cell has four children: the marker is bit 2 (30 - level)",
        ),
        (
            [(cell & -marker(level + 1)) | marker(level + 1) for cell, level in cases],
            "that is the parent of one level finer",
        ),
        (
            [int(str(cell)[: level + 1].ljust(19, "0")) for cell, level in cases],
            "cutting decimal digits makes no cell: the levels are in the bits",
        ),
        (
            [cell >> 2 * (18 - level) for cell, level in cases],
            "the bits stay where they are; shifting makes another number of them",
        ),
    )
    for wrong, says in slips:
        if given == wrong:
            return says
    at = next(row for row, (mine, wanted) in enumerate(zip(given, right, strict=True)) if mine != wanted)
    return f"the parent of {cases[at][0]} at level {cases[at][1]} is {right[at]}; yours is {given[at]}"


@LESSON.exercise(
    "02.8",
    "Count how often a network must read: bi-encoder and cross-encoder.",
    (
        "A bi-encoder makes a vector of each text and keeps it. A cross-encoder scores two texts together.",
        "The bi-encoder reads every query once and every sentence once.",
        "`(queries + sentences, queries * sentences)`",
    ),
    "a sum against a product",
)
def readings(answer: Callable[..., Any]) -> str | None:
    """A bi-encoder reads every text once, a cross-encoder every pair."""
    queries, sentences = 7, 100
    given = answer(queries, sentences)
    if not isinstance(given, tuple | list) or len(given) != 2:
        return "two counts were expected, (bi-encoder, cross-encoder)"
    found, right = [number(each) for each in given], [queries + sentences, queries * sentences]
    slips = (
        (right[::-1], "the two are exchanged"),
        ([queries, right[1]], "somebody must encode the sentences, too, if only once"),
        ([sentences, right[1]], "the queries are read as well, once each"),
        ([right[1], right[1]], "a bi-encoder keeps the sentences' vectors: it does not read them anew for each query"),
        ([right[0], right[0]], "a cross-encoder has nothing to keep: each query is read with every sentence"),
        ([right[0], right[0] * queries], "a cross-encoder reads pairs: a query and a sentence are one reading"),
        ([right[0], 2 * right[1]], "a pair is one reading: both sentences stand in one row"),
    )
    return None if found == right else slip(found, slips) or f"for 7 queries, 100 sentences yours are {found}"

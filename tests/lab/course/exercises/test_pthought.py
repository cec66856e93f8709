"""Notebook 05: each check takes every right form and names typical wrong answers."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from scipy.spatial.distance import pdist
from scipy.special import softmax
from scipy.stats import linregress

from labkit.evaluation import p_coherence
from labkit.lab.course.exercise import StillOpen, judge
from labkit.lab.course.exercises.pthought import LESSON, check_own_distance
from tests.lab.course.exercises.judging import *  # noqa: F403 (the tests that all notebooks share)


def unit(rows):  # type: ignore[no-untyped-def]
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def groupwise(table, groups, first=1):  # type: ignore[no-untyped-def]
    own = [table[np.ix_(groups == c, groups == c)] for c in np.unique(groups)]
    return [each[np.triu_indices(len(each), first)] for each in own]


def cosines(rows):  # type: ignore[no-untyped-def]
    return unit(rows) @ unit(rows).T


def written(step, state, longest, *, end=False, forget=False, reread=True, stop=True, least=False):  # type: ignore[no-untyped-def]
    word, words = 0, []
    for _ in range(longest):
        log_p, new = step(state, word if reread else 0)
        state = state if forget else new
        word = int((-log_p if least else log_p).argmax())
        if word == 0 and stop:
            return [*words, word] if end else words
        words.append(word)
    return words


def endless(step, state, longest):  # type: ignore[no-untyped-def]
    word, words = 0, []
    while True:
        log_p, state = step(state, word)
        word = int(log_p.argmax())
        if word == 0:
            return words
        words.append(word)


def while_loop(step, state, longest=50):  # type: ignore[no-untyped-def]
    words = []
    log_p, state = step(state, 0)
    while len(words) < longest and np.argmax(log_p) != 0:
        words.append(np.argmax(log_p))
        log_p, state = step(state, words[-1])
    return words


def drawn(draw, warmth=1.0):  # type: ignore[no-untyped-def]
    """Words by lot, as likely as the decoder says, or more steeply."""

    def sampled(step, state, longest):  # type: ignore[no-untyped-def]
        word, words = 0, []
        for _ in range(longest):
            log_p, state = step(state, word)
            word = int(draw().choice(len(log_p), p=softmax(log_p / warmth)))
            if word == 0:
                break
            words.append(word)
        return words

    return sampled


def two_columns(x, y):  # type: ignore[no-untyped-def]
    return np.linalg.lstsq(np.stack([np.ones_like(x), x], 1), y[:, None])[0]


def by_hand(x, y):  # type: ignore[no-untyped-def]
    slope = ((x - x.mean()) * (y - y.mean())).sum() / ((x - x.mean()) ** 2).sum()
    return [y.mean() - slope * x.mean(), slope]


def loops(v, g):  # type: ignore[no-untyped-def]
    means = []
    for name in set(g.tolist()):
        own = [row / math.sqrt(sum(row**2)) for row, each in zip(v, g, strict=True) if each == name]
        means.append(np.mean([a @ b for k, a in enumerate(own) for b in own[:k]]))
    return sum(means) / len(means)


def in_place(v, c, t):  # type: ignore[no-untyped-def]
    v /= np.linalg.norm(v, axis=1, keepdims=True)
    return (1 - t) * v + t * c


def lengths_in_place(v, g):  # type: ignore[no-untyped-def]
    v /= np.linalg.norm(v, axis=1, keepdims=True)
    return loops(v, g)


def torch_mixed(v, c, t):  # type: ignore[no-untyped-def]
    return (1 - t) * torch.nn.functional.normalize(torch.tensor(v), dim=1) + t * torch.tensor(c)


RIGHT = {
    "05.1": [
        lambda a, p, e: a + p + e * (p - a),
        lambda a, p, e: (1 - e) * torch.tensor(a) + (1 + e) * torch.tensor(p),
        lambda a, p, e: np.array([[1 - e, 1 + e]]) @ [a, p],
        lambda a, p, e: np.float32((1 - e) * a + (1 + e) * p),
    ],
    "05.2": [
        lambda x, y: np.linalg.lstsq(np.stack([np.ones_like(x), x], 1), y)[0],
        two_columns,
        by_hand,
        lambda x, y: (linregress(x, y).intercept, linregress(x, y).slope),
        lambda x, y: torch.tensor(by_hand(x, y)),
        lambda x, y: tuple(torch.tensor([each]) for each in by_hand(x, y)),
        lambda x, y: np.polynomial.Polynomial.fit(x, y, 1).convert().coef,
    ],
    "05.3": [
        lambda start, slope: ((start - slope) / 2, (start + slope) / 2),
        lambda start, slope: [start / 2 - slope / 2, start / 2 + slope / 2],
        lambda start, slope: np.linalg.solve([[1, 1], [-1, 1]], [start, slope]),
        lambda start, slope: np.linalg.solve([[1, 1], [-1, 1]], [[start], [slope]]),
    ],
    "05.4": [
        lambda v, g: np.mean([each.mean() for each in groupwise(cosines(v), g)]),
        loops,
        lambda v, g: torch.tensor([loops(v, g)]),
        lambda v, g: np.mean([(1 - pdist(v[g == c], "cosine")).mean() for c in np.unique(g)]),
    ],
    "05.5": [
        lambda v, c, t: (1 - t) * unit(v) + t * c,
        lambda v, c, t: [((1 - t) * row / np.linalg.norm(row) + t * c).tolist() for row in v],
        torch_mixed,
    ],
    "05.6": [
        lambda n, d: math.sqrt(2 * d * n / (n - 1)),
        lambda n, d: torch.tensor([2.0 * d * n / (n - 1)]).sqrt(),
        lambda n, d: np.sqrt(2 * d / (1 - 1 / n)),
    ],
    "05.7": [
        written,
        while_loop,
        lambda *all: tuple(written(*all)),
        lambda *all: torch.tensor(written(*all)),
        lambda *all: np.array(written(*all), dtype=int),
    ],
}  # fmt: skip
WRONG = {
    "05.1": [
        (lambda a, p, e: (1 + e) * a + (1 - e) * p, "exchange"),
        (lambda a, p, e: (1 - e) * a + e * p, "add up to 1"),
        (lambda a, p, e: e * a + (1 - e) * p, "add up to 1"),
        (lambda a, p, e: a + (1 + e) * p, "count less"),
        (lambda a, p, e: (1 - e) * a + p, "count more"),
        (lambda a, p, e: ((1 - e) * a + (1 + e) * p) / 2, "half"),
        (lambda a, p, e: a + p, "λ is not used"),
        (lambda a, p, e: 1 - e * a + 1 + e * p, "brackets"),
        (lambda a, p, e: (1 - e) * a - (1 + e) * p, "do not subtract"),
        (lambda a, p, e: 0.5 * a + 1.5 * p, "whatever emphasis is"),
        (lambda a, p, e: 0.7 * a + 1.3 * p, "whatever emphasis is"),
        (lambda a, p, e: (1 - e) * 0.7 + (1 + e) * 2.5, "whatever copy is"),
        (lambda a, p, e: 3.74, "whatever"),
        (lambda a, p, e: None, "gives nothing back"),
    ],
    "05.2": [
        (lambda x, y: np.polyfit(x, y, 1), "other way round"),
        (lambda x, y: (0.0, x @ y / (x @ x)), "origin"),
        (lambda x, y: np.polyfit(x[[0, -1]], y[[0, -1]], 1)[::-1], "all points count"),
        (lambda x, y: np.polyfit(x, y, 1)[:1], "two numbers"),
        (lambda x, y: np.polyfit(y, x, 1)[::-1], "changed places"),
        (lambda x, y: (y.mean(), np.polyfit(x, y, 1)[0]), "mean of x"),
        (lambda x, y: (y[0], np.polyfit(x, y, 1)[0]), "the first y"),
        (lambda x, y: (by_hand(x, y)[0], np.corrcoef(x, y)[0, 1]), "correlation"),
        (lambda x, y: np.polyval(np.polyfit(x, y, 1), x), "at each x"),
        (lambda x, y: linregress(x, y), "linregress"),
        (lambda x, y: np.linalg.lstsq(np.stack([np.ones_like(x), x], 1), y), "four things"),
        (lambda x, y: (by_hand(x, y)[0], -by_hand(x, y)[1]), "wrong sign"),
        (lambda x, y: (by_hand(x, y)[0], sum(by_hand(x, y))), "value at 1"),
        (lambda x, y: (1.815, 2.102), "stays the same whatever"),
        (lambda x, y: by_hand(np.sort(x), np.sort(y)), ""),
    ],
    "05.3": [
        (lambda start, slope: ((start + slope) / 2, (start - slope) / 2), "copy comes first"),
        (lambda start, slope: (start - slope, start + slope), "halve"),
        (lambda start, slope: (start, start + slope), "λ = 0 and 1"),
        (lambda start, slope: (start - slope, slope), "sum of both"),
        (lambda start, slope: (start - slope / 2, start + slope / 2), "brackets"),
        (lambda start, slope: (start / 2 - slope, start / 2 + slope), "slope is to be halved"),
        (lambda start, slope: (start, slope), "which losses"),
        (lambda start, slope: (start / 2, slope / 2), "solve both"),
        (lambda start, slope: ((slope - start) / 2, (start + slope) / 2), "wrong sign"),
        (lambda start, slope: (start - slope) / 2, "two numbers"),
        (lambda start, slope: (0.071, 1.911), "whatever"),
        (lambda start, slope: (abs(start - slope) / 2, abs(start + slope) / 2), "only the sign is lost"),
    ],
    "05.4": [
        (lambda v, g: np.mean([each.mean() for each in groupwise(v @ v.T, g)]), "no cosines"),
        (lambda v, g: np.mean([each.mean() for each in groupwise(cosines(v), g, 0)]), "diagonal"),
        (lambda v, g: np.mean([cosines(v[g == c]).mean() for c in np.unique(g)]), "of itself"),
        (lambda v, g: np.concatenate(groupwise(cosines(v), g)).mean(), "count too much"),
        (lambda v, g: cosines(v)[np.triu_indices(len(v), 1)].mean(), "all pairs"),
        (lambda v, g: sum(each.mean() for each in groupwise(cosines(v), g)), "sum over the groups"),
        (lambda v, g: groupwise(cosines(v), g)[0].mean(), "one group alone"),
        (lambda v, g: p_coherence(v, g.tolist()).lift, "lift"),
        (lambda v, g: p_coherence(v, g.tolist()).between, "different groups"),
        (lambda v, g: 1 - loops(v, g), "distance"),
        (lambda v, g: loops(v - v.mean(0), g), "mean of all first"),
        (lambda v, g: np.mean([each.sum() for each in groupwise(cosines(v), g)]), "not their sum"),
        (lambda v, g: 0.6543, "stays the same whatever"),
        (lengths_in_place, "changes vectors itself"),
        (lambda v, g: loops(v / np.linalg.norm(v, axis=0), np.array(g)) * 0 + 1, ""),
    ],
    "05.5": [
        (lambda v, c, t: (1 - t) * v + t * c, "length 1"),
        (lambda v, c, t: t * unit(v) + (1 - t) * c, "exchange"),
        (lambda v, c, t: unit(v) + t * c, "whole length"),
        (lambda v, c, t: v, "nothing is mixed in"),
        (lambda v, c, t: unit((1 - t) * unit(v) + t * c), "another length"),
        (lambda v, c, t: unit((1 - t) * v + t * c), "to length 1 first"),
        (lambda v, c, t: unit(v) * (1 - t + t * c), "t c is added"),
        (lambda v, c, t: ((1 - t) * unit(v) + t * c).round(2), "yours is 0.2500"),
        (lambda v, c, t: np.tile(c, (len(v), 1)), "all rows are alike"),
        (lambda v, c, t: c, "a row for each"),
        (lambda v, c, t: 0.2 * unit(v) + 0.8 * c, "whatever t is"),
        (lambda v, c, t: 0.15 * unit(v) + 0.85 * c, "whatever t is"),
        (lambda v, c, t: (1 - t) * unit(v) - t * c, "not subtracted"),
        (lambda v, c, t: (1 - t) * unit(v) + c, "has a share too"),
        (lambda v, c, t: (1 - t) * v / np.linalg.norm(v) + t * c, "of its own"),
        (lambda v, c, t: (1 - t) * v / np.linalg.norm(v, axis=0) + t * c, "axis=1"),
        (lambda v, c, t: (1 - t) * unit(v) + t * unit(v.mean(0)[None]), "take `common`"),
        (in_place, "changes vectors itself"),
    ],
    "05.6": [
        (lambda n, d: math.sqrt(2 * d), "with itself"),
        (lambda n, d: 2 * n * d / (n - 1), "take its root"),
        (lambda n, d: math.sqrt(n * d / (n - 1)), "one from y"),
        (lambda n, d: math.sqrt(2 * n / (n - 1)), "one dimension"),
        (lambda n, d: math.sqrt(2 * d * (n - 1) / n), "turn n/(n-1) over"),
        (lambda n, d: math.sqrt(2 * n * d), "not divided by n - 1"),
        (lambda n, d: d * math.sqrt(2 * n / (n - 1)), "d comes in once"),
        (lambda n, d: 2 * math.sqrt(n * d / (n - 1)), "2 comes in once"),
        (lambda n, d: n * math.sqrt(d), "sum over the pairs"),
        (lambda n, d: math.sqrt(2.5 * d), "whatever n is"),
        (lambda n, d: 10.95 if d == 48 else 77.46, "whatever"),
        (lambda n, d: math.sqrt(2 * 5 * 48 / 4), "whatever"),
    ],
    "05.7": [
        (lambda *all: written(*all, end=True), "not written"),
        (lambda *all: written(*all, forget=True), "state must go on"),
        (lambda *all: written(*all, reread=False), "read next"),
        (lambda *all: written(*all, stop=False), "beyond its end"),
        (lambda *all: written(*all, least=True), "least likely"),
        (lambda step, state, longest: written(step, state, 4), "whatever longest is"),
        (lambda step, state, longest: written(step, state, 50), "is cut"),
        (lambda step, state, longest: written(step, state, longest + 1), "one word too many"),
        (endless, "is cut"),
        (lambda step, state, longest: endless(lambda s, w: step(0, w), state, longest), "never stops"),
        (lambda *all: [0, *written(*all)], "read, not written"),
        (lambda *all: [], "nothing is written"),
        (lambda *all: [1, 3], "stays the same whatever"),
        (lambda *all: " ".join(map(str, written(*all))), "a text came"),
        (drawn(np.random.default_rng), "do not draw lots"),
        (drawn(lambda: np.random.default_rng(0)), "comes next; yours has"),
        (lambda step, state, longest: written(lambda s, w: step(w, s), state, longest), ""),
    ],
}  # fmt: skip


@pytest.mark.parametrize("warmth", [1.0, 0.05])
def test_whoever_draws_lots_never_passes(warmth: float) -> None:
    """Two hundred draws; from a steep distribution a lot is nearly always the likeliest word."""
    for draw in map(np.random.default_rng, range(100)):
        assert not judge(LESSON.exercises["05.7"], drawn(lambda: draw, warmth)).right  # noqa: B023


def test_what_is_open_in_a_loop_is_open() -> None:
    with pytest.raises(StillOpen):
        judge(LESSON.exercises["05.7"], lambda step, state, longest: written(lambda s, w: (..., ...), state, longest))


def test_the_distance_in_a_groups_own_measure_is_that_of_any_vectors() -> None:
    """The formula that exercise 05.6 asks for, against vectors of two kinds."""
    for rows in (np.random.default_rng(0).normal(size=(5, 7)), np.random.default_rng(1).exponential(size=(5, 7)) ** 3):
        rows = rows / rows.std(0)
        squares = [((rows[i] - rows[j]) ** 2).sum() for i in range(5) for j in range(i)]
        assert check_own_distance(lambda n, d: math.sqrt(np.mean(squares) * n * d / (n - 1) / (5 * 7 / 4))) is None  # noqa: B023


def test_a_common_vector_makes_noise_coherent() -> None:
    """What exercise 05.5 builds: P-coherence .99 of vectors that know nothing."""
    noise, common = np.random.default_rng(0).normal(size=(60, 20)), np.eye(20)[0]
    found = p_coherence((1 - 0.95) * unit(noise) + 0.95 * common, np.repeat(np.arange(12), 5))
    assert found.within > 0.99
    assert abs(found.lift) < 0.01

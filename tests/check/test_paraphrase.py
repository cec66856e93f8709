"""Notebook 05: each look takes the right answer and names typical wrong ones."""

from __future__ import annotations

import math

import numpy as np
import pytest

from labkit.check.exercise import judge
from labkit.check.lessons.paraphrase import LESSON, own_distance
from labkit.evaluation import p_coherence

EACH = {exercise.key: exercise for exercise in LESSON.exercises.values()}


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
    return written(step, state, 4)


RIGHT = {
    "05.1": lambda a, p, e: a + p + e * (p - a),
    "05.2": lambda x, y: np.linalg.lstsq(np.stack([np.ones_like(x), x], 1), y)[0],
    "05.3": lambda start, slope: ((start - slope) / 2, (start + slope) / 2),
    "05.4": lambda v, g: np.mean([each.mean() for each in groupwise(cosines(v), g)]),
    "05.5": lambda v, c, t: unit((1 - t) * unit(v) + t * c),
    "05.6": lambda n, d: math.sqrt(2 * d * n / (n - 1)),
    "05.7": written,
}
WRONG = [
    ("05.1", lambda a, p, e: (1 + e) * a + (1 - e) * p, "exchange"),
    ("05.1", lambda a, p, e: (1 - e) * a + e * p, "add up to 1"),
    ("05.1", lambda a, p, e: a + (1 + e) * p, "count less"),
    ("05.1", lambda a, p, e: ((1 - e) * a + (1 + e) * p) / 2, "half"),
    ("05.2", lambda x, y: np.polyfit(x, y, 1), "other way round"),
    ("05.2", lambda x, y: (0.0, x @ y / (x @ x)), "origin"),
    ("05.2", lambda x, y: np.polyfit(x[[0, -1]], y[[0, -1]], 1)[::-1], "all points count"),
    ("05.2", lambda x, y: np.polyfit(x, y, 1)[:1], "two numbers"),
    ("05.3", lambda start, slope: ((start + slope) / 2, (start - slope) / 2), "copy comes first"),
    ("05.3", lambda start, slope: (start - slope, start + slope), "halve"),
    ("05.3", lambda start, slope: (start, start + slope), "λ = 0 and 1"),
    ("05.3", lambda start, slope: (start - slope, slope), "sum of both"),
    ("05.4", lambda v, g: np.mean([each.mean() for each in groupwise(v @ v.T, g)]), "no cosines"),
    ("05.4", lambda v, g: np.mean([each.mean() for each in groupwise(cosines(v), g, 0)]), "diagonal"),
    ("05.4", lambda v, g: np.mean([cosines(v[g == c]).mean() for c in np.unique(g)]), "of itself"),
    ("05.4", lambda v, g: np.concatenate(groupwise(cosines(v), g)).mean(), "count too much"),
    ("05.4", lambda v, g: cosines(v)[np.triu_indices(len(v), 1)].mean(), "all pairs"),
    ("05.4", lambda v, g: sum(each.mean() for each in groupwise(cosines(v), g)), "sum over the groups"),
    ("05.5", lambda v, c, t: (1 - t) * v + t * c, "length 1"),
    ("05.5", lambda v, c, t: t * unit(v) + (1 - t) * c, "exchange"),
    ("05.5", lambda v, c, t: unit(v) + t * c, "whole length"),
    ("05.5", lambda v, c, t: v, "nothing is mixed in"),
    ("05.5", lambda v, c, t: np.tile(c, (len(v), 1)), "all rows are alike"),
    ("05.5", lambda v, c, t: c, "a row for each"),
    ("05.6", lambda n, d: math.sqrt(2 * d), "with itself"),
    ("05.6", lambda n, d: 2 * n * d / (n - 1), "take its root"),
    ("05.6", lambda n, d: math.sqrt(n * d / (n - 1)), "one from y"),
    ("05.6", lambda n, d: math.sqrt(2 * n / (n - 1)), "one dimension"),
    ("05.6", lambda n, d: math.sqrt(2 * d * (n - 1) / n), "turn n/(n-1) over"),
    ("05.7", lambda *all: written(*all, end=True), "not written"),
    ("05.7", lambda *all: written(*all, forget=True), "state must go on"),
    ("05.7", lambda *all: written(*all, reread=False), "read next"),
    ("05.7", lambda *all: written(*all, stop=False), "beyond its end"),
    ("05.7", lambda *all: written(*all, least=True), "nothing is written"),
    ("05.7", endless, "is cut"),
]


@pytest.mark.parametrize("key", RIGHT)
def test_the_right_answer_is_taken(key: str) -> None:
    found = judge(EACH[key], RIGHT[key])
    assert found.right, found.says


@pytest.mark.parametrize(("key", "given", "word"), WRONG)
def test_a_wrong_answer_is_named(key: str, given, word: str) -> None:  # type: ignore[no-untyped-def]
    found = judge(EACH[key], given)
    assert not found.right
    assert word in found.says, found.says


def test_each_exercise_has_three_wrong_answers() -> None:
    assert set(RIGHT) == set(EACH)
    assert all(sum(key == each for each, *_ in WRONG) >= 3 for key in RIGHT)


def test_the_distance_in_a_groups_own_measure_is_that_of_any_vectors() -> None:
    """The formula that exercise 05.6 asks for, against vectors of two kinds."""
    for rows in (np.random.default_rng(0).normal(size=(5, 7)), np.random.default_rng(1).exponential(size=(5, 7)) ** 3):
        rows = rows / rows.std(0)
        squares = [((rows[i] - rows[j]) ** 2).sum() for i in range(5) for j in range(i)]
        assert own_distance(lambda n, d: math.sqrt(np.mean(squares) * n * d / (n - 1) / (5 * 7 / 4))) is None  # noqa: B023


def test_a_common_vector_makes_noise_coherent() -> None:
    """What exercise 05.5 builds: P-coherence .99 of vectors that know nothing."""
    noise, common = np.random.default_rng(0).normal(size=(60, 20)), np.eye(20)[0]
    found = p_coherence(RIGHT["05.5"](noise, common, 0.95), np.repeat(np.arange(12), 5))
    assert found.within > 0.99
    assert abs(found.lift) < 0.01

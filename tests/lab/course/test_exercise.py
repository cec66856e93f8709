"""A function is checked on cases: what is right passes, what is wrong gets the word of its mistake, and no other.

The cases of every exercise tell its mistakes apart: none gives what is right, and no two with other words the same.
"""

from __future__ import annotations

import inspect
import itertools
from contextlib import suppress
from copy import deepcopy
from itertools import combinations
from typing import Any

import numpy as np
import pytest
import torch
from scipy import sparse

from labkit.lab.course import exercise as module
from labkit.lab.course.exercise import Unfit, Unnamed, array, find_mistake, mask, number, several
from labkit.lab.course.exercises import LESSONS

DRAW = np.random.default_rng(0)
CASES = [(DRAW.normal(size=(n, d)), DRAW.normal(size=d), float(t)) for n, d, t in ((4, 3, 2), (5, 2, 3), (3, 4, 0.5))]


def right(x, w, times):  # type: ignore[no-untyped-def]
    """A case with all there can be: rows, a vector, a number."""
    return times * (x @ w)


MISTAKES = ((lambda x, w, times: x @ w, "times is missing"), (lambda x, w, times: 1 / 0, "never"))


def found(answer, mistakes=MISTAKES, **named) -> str | None:  # type: ignore[no-untyped-def]
    return find_mistake(answer, named.pop("right", right), named.pop("cases", CASES), mistakes, **named)


@pytest.mark.parametrize(
    "form",
    [
        right,
        lambda x, w, times: [float(times * (row * w).sum()) for row in x],
        lambda x, w, times: [torch.tensor(times * row @ w) for row in x],
        lambda x, w, times: torch.tensor(times * x @ w, dtype=torch.float32),
        lambda x, w, times: sparse.csr_matrix(times * x @ w).toarray()[0],
    ],
)
def test_every_form_of_the_right_answer_is_taken(form) -> None:  # type: ignore[no-untyped-def]
    assert found(form) is None


def changes(x, w, times):  # type: ignore[no-untyped-def]
    x *= times
    return x @ w


def spoils(x, w, times):  # type: ignore[no-untyped-def]
    """Gives the same whatever x is, and yet asks for it: no value of one's own stands there."""
    x *= 0
    return times * (x @ w)


asked = itertools.count()


@pytest.mark.parametrize(
    ("answer", "word"),
    [
        (lambda x, w, times: x @ w, "times is missing"),
        (changes, "changes x itself"),
        (lambda x, w, times: 2 * (x @ w), "stays the same whatever times is"),
        (lambda x, w, times: -right(x, w, times), "sign is turned round"),
        (lambda x, w, times: abs(right(x, w, times)), "only the sign is lost"),
        (lambda x, w, times: 1 / right(x, w, times), "upside down"),
        (lambda x, w, times: right(x, w, times) ** 2, "square"),
        (lambda x, w, times: 3 * right(x, w, times), "3 times what it should be"),
        (lambda x, w, times: right(x, w, times) + 0.25, "+0.25 off"),
        (lambda x, w, times: right(x, w, times) / len(x), "divided by len(x)"),
        (lambda x, w, times: right(x, w, times) * len(x), "times len(x)"),
        (spoils, "on the way, and what comes out is wrong"),
        (lambda x, w, times: right(x, w, times).sum(), "one number; wanted are 4"),
        (lambda x, w, times: right(x, w, times)[:2], "shape is (2,), expected (4,)"),
        (lambda x, w, times: np.full(len(x), 7.0), "stays the same whatever"),
        (lambda x, w, times: right(x, w, times) * np.nan, "not finite"),
        (lambda x, w, times: right(x, w, times) + np.inf, "an infinity that was put in"),
        (lambda x, w, times: x @ w + x[0, 0], "whatever times is, and the right one does not"),
        (lambda x, w, times: right(x, w, times) + 0.1 * x[:, 0], "at 0 yours is"),
        (lambda x, w, times: right(x, w, times) + (len(x) == 5), "right in 2 of 3 cases"),
        (lambda x, w, times: right(x, w, times) + (next(asked) >= 3) * 1.0, "another answer when it is asked again"),
    ],
)
def test_mistakes_that_all_exercises_share_have_a_word(answer, word: str) -> None:  # type: ignore[no-untyped-def]
    says = found(answer)
    assert says is not None
    assert word in says
    assert isinstance(says, Unnamed) == word.startswith(("at 0", "right in", "shape"))


def test_nothing_is_said_of_rows_or_of_values_that_nobody_wrote() -> None:
    """Two numbers have no rows, and an answer may ask for its argument and not depend on it."""
    pair = [(DRAW.normal(size=d), DRAW.normal(size=d)) for d in (3, 4, 5)]
    says = found(lambda u, v: u @ v / len(u), right=lambda u, v: u @ v, cases=pair, mistakes=())
    assert says is not None
    assert "row" not in says
    says = found(lambda x: len(x) > 1 or len(x) < 9, right=lambda x: len(x) > 1, cases=[("a",), ("ab",)], mistakes=())
    assert says == "your answer stays the same whatever x is, and the right one does not: use x"


def test_arguments_that_have_changed_places_are_seen() -> None:
    cases = [(1.0, 2.0, 3.0), (2.0, 0.5, 1.5), (4.0, 1.0, 2.5)]
    says = found(lambda a, b, c: b + 2 * a + c**2, right=lambda a, b, c: a + 2 * b + c**2, cases=cases, mistakes=())
    assert says == "a and b have changed places in yours"


def test_a_turned_matrix_is_seen() -> None:
    cases = [(np.arange(6.0).reshape(2, 3),), (np.arange(8.0).reshape(4, 2),)]
    assert "changed places" in str(found(lambda x: 2 * x.T, right=lambda x: 2 * x, cases=cases, mistakes=()))


def test_an_argument_that_is_used_is_not_called_unused() -> None:
    """Where the cases' arguments do not go together, nobody knows: then it is not said."""
    says = found(lambda x, w, times: times * (x @ w) + w[0])
    assert "stays the same" not in str(says)


def test_flags_are_no_numbers() -> None:
    cases = [(np.array([0.2, 0.7]),), (np.array([0.9, 0.1, 0.3]),)]
    says = found(lambda x: x > 0.5, right=lambda x: (x > 0.5).astype(float), cases=cases, mistakes=())
    assert "True and False" in str(says)
    assert found(lambda x: x > 0.5, right=lambda x: x > 0.5, cases=cases, mistakes=()) is None


def test_readers_say_what_is_expected() -> None:
    assert array([torch.tensor(1.0), 2]).tolist() == [1.0, 2.0]
    assert number(torch.tensor([[3.0]])) == 3.0
    pair = several(2, mask, "two masks were expected")
    assert [each.tolist() for each in pair([torch.tensor([True]), torch.tensor([False])])] == [[True], [False]]
    for reader, wrong, word in (
        (array, "x", "the text 'x' came"),
        (array, ("1,007", 700), "a tuple of int and str came"),
        (number, [1.0, 2.0], "one number was expected"),
        (mask, torch.ones(2), "torch.float32 came"),
        (mask, np.array([True]), "ndarray came"),
        (pair, torch.ones(2, 2), "two masks were expected"),
    ):
        with pytest.raises(Unfit, match=word):
            reader(wrong)  # type: ignore[operator]


# --- the tables of the exercises -----------------------------------------------------------------------------------

KEYS = [key for lesson in LESSONS.values() for key in lesson.exercises]


@pytest.fixture
def compared(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the check of an exercise compares an answer with: the right function, its cases and its mistakes."""
    key, seen = request.param, {}

    def keep(answer: Any, right: Any, cases: Any, mistakes: Any = (), *, read: Any = array, **rest: Any) -> None:
        seen.update(right=right, cases=cases, mistakes=mistakes, read=read)

    check = LESSONS[key[:2]].exercises[key].check
    monkeypatch.setattr(inspect.getmodule(check), "find_mistake", keep, raising=False)
    for dummy in (0.0, []):
        with suppress(Exception):  # before `find_mistake` is asked, or after it
            check(lambda *_, dummy=dummy: dummy)
    if not seen:
        pytest.skip("asks for a value")
    return seen


@pytest.mark.parametrize("compared", KEYS, indirect=True)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_every_mistake_is_told_from_what_is_right_and_from_each_other(compared: dict[str, Any]) -> None:
    """What is said of a mistake is true of every answer that gives the same."""

    def gives(function: Any) -> list[Any]:
        """What it gives in each case; None where it is no answer."""
        values = []
        for case in compared["cases"]:
            try:
                values.append(module._parts(compared["read"](function(*deepcopy(case)))))
            except Exception:
                values.append(None)
        return values

    def close(one: np.ndarray, other: np.ndarray) -> bool:
        return module._equal(one, other, 1e-5)

    def same(one: list[Any], other: list[Any]) -> bool:
        return all(a is not None and b is not None and all(map(close, a, b)) for a, b in zip(one, other, strict=True))

    assert len(compared["cases"]) >= 3
    right = gives(compared["right"])
    assert None not in right
    mistakes = [(says, gives(function)) for *functions, says in compared["mistakes"] for function in functions]
    assert [says for says, values in mistakes if same(values, right)] == []
    assert [says for says, values in mistakes if all(each is None for each in values)] == []
    twice = [(a[0], b[0]) for a, b in combinations(mistakes, 2) if a[0] != b[0] and same(a[1], b[1])]
    assert twice == [], "\n".join(map(str, twice))


@pytest.mark.parametrize("compared", LESSONS["06"].exercises, indirect=True)
def test_cases_differ_in_size_and_settings(compared: dict[str, Any]) -> None:
    assert len(compared["cases"]) >= 3
    for arguments in zip(*compared["cases"], strict=True):
        kept = arguments[0]
        assert any(np.shape(each) != np.shape(kept) or not np.array_equal(each, kept) for each in arguments)


def test_lists_of_rows_of_different_lengths_are_compared() -> None:
    """The check of 12.6 has them; numpy makes no array of them."""
    cases = [([np.ones(n), np.ones(n + 1)], [0, 1]) for n in (2, 3, 4)]

    def longest(rows: list[np.ndarray], places: list[int]) -> int:
        return max(map(len, rows)) + places[1]

    assert "yours is the right one times len(rows)" in str(
        find_mistake(lambda rows, places: 2 * longest(rows, places), longest, cases)
    )

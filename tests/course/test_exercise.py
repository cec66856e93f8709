"""The judge of answers: right answers pass in every form, and each common mistake has its own message."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from scipy import sparse

from labkit.course.exercise import CHECKS, StillOpen, Unfit, Unnamed, array, find_mistake, judge, mask, number, several

DRAW = np.random.default_rng(0)
CASES = [(DRAW.normal(size=(n, d)), DRAW.normal(size=d), float(t)) for n, d, t in ((4, 3, 2), (5, 2, 3), (3, 4, 0.5))]
MISTAKES = ((lambda x, w, times: x @ w, "one is missing"), (lambda x, w, times: 1 / 0, "never"))


def right(x, w, times):
    return times * (x @ w)


def complaint(answer, right=right, cases=CASES, mistakes=MISTAKES):
    return find_mistake(answer, right, cases, mistakes)


@pytest.fixture(autouse=True)
def asks_for_seven(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CHECKS, "01.1", seven)


def seven(given, random):
    found = given() if callable(given) else given
    return None if found == 7 else f"{found} is not seven"


# --- the verdict -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [..., [1, [...]], {"a": ...}, lambda: ..., lambda: torch.ones(2) * ...])
def test_an_open_answer_raises(given) -> None:
    with pytest.raises(StillOpen, match=r"01\.1"):
        judge("01.1", given)


def test_a_forgotten_return_is_wrong_and_not_open() -> None:
    def forgets() -> None:
        found = 7  # noqa: F841

    def begun() -> None:
        found = ...  # noqa: F841

    assert not judge("01.1", forgets).right
    assert not judge("01.1", None).right
    with pytest.raises(StillOpen):
        judge("01.1", begun)


@pytest.mark.parametrize("wrong", [lambda: 1 / 0, lambda: np.ones(4) * np.ones((4, 3))])
def test_an_error_in_an_answer_is_reported_and_not_raised(wrong) -> None:
    with pytest.raises(Exception) as raised:
        wrong()
    verdict = judge("01.1", wrong)
    assert (verdict.right, verdict.named) == (False, False)
    assert str(raised.value).strip() in verdict.says


@pytest.mark.parametrize("rows", [np.ones, torch.ones])
def test_mismatched_shapes_come_with_advice(rows) -> None:
    for stumbles in (lambda: rows(4) * rows((4, 3)), lambda: rows((2, 3)) @ rows((2, 3))):
        assert "[:, None]" in judge("01.1", stumbles).says


# --- right, in every form ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "form",
    [
        right,
        lambda x, w, times: [float(times * (row * w).sum()) for row in x],
        lambda x, w, times: [torch.tensor(times * row @ w) for row in x],
        lambda x, w, times: torch.tensor(times * x @ w, dtype=torch.float32),
    ],
)
def test_every_form_of_the_right_answer_is_accepted(form) -> None:
    assert complaint(form) is None


def test_readers() -> None:
    assert array([torch.tensor(1.0), 2]).tolist() == [1.0, 2.0]
    assert array(sparse.csr_array([[0.0, 1.0]])).tolist() == [[0.0, 1.0]]
    assert number(torch.tensor([[3.0]])) == 3.0
    pair = several("two masks", mask, mask)
    assert [each.tolist() for each in pair([torch.tensor([True]), torch.tensor([False])])] == [[True], [False]]
    unfit = [(array, "x"), (array, ("1,007", 700)), (number, [1.0, 2.0]), (number, np.nan)]
    unfit += [(mask, torch.ones(2)), (mask, np.array([True])), (pair, torch.ones(2, 2)), (pair, [torch.ones(2) > 0])]
    for reader, wrong in unfit:
        with pytest.raises(Unfit):
            reader(wrong)


# --- mistakes common to all exercises ----------------------------------------------------------------------------


def changes(x, w, times):
    x *= times
    return x @ w


def spoils(x, w, times):
    x *= 0
    return times * (x @ w)


asked_so_far = itertools.count()
NAMED = {
    "one of the table": lambda x, w, times: x @ w,
    "changes an argument": changes,
    "changes an argument and is wrong": spoils,
    "leaves an argument unused": lambda x, w, times: 2 * (x @ w),
    "sign": lambda x, w, times: -right(x, w, times),
    "size alone": lambda x, w, times: abs(right(x, w, times)),
    "upside down": lambda x, w, times: 1 / right(x, w, times),
    "one less": lambda x, w, times: 1 - right(x, w, times),
    "square": lambda x, w, times: right(x, w, times) ** 2,
    "exponential": lambda x, w, times: np.exp(right(x, w, times)),
    "factor": lambda x, w, times: 3 * right(x, w, times),
    "summand": lambda x, w, times: right(x, w, times) + 0.25,
    "mean": lambda x, w, times: right(x, w, times) / len(x),
    "sum": lambda x, w, times: right(x, w, times) * len(x),
    "one number": lambda x, w, times: right(x, w, times).sum(),
    "not finite": lambda x, w, times: right(x, w, times) * np.nan,
    "by chance": lambda x, w, times: right(x, w, times) + (next(asked_so_far) >= 3) * 1.0,
}
UNNAMED = {
    "shape": lambda x, w, times: right(x, w, times)[:2],
    "first entries": lambda x, w, times: right(x, w, times) + 0.1 * x[:, 0],
    "one case": lambda x, w, times: right(x, w, times) + (len(x) == 5),
}


def test_each_common_mistake_has_its_own_message() -> None:
    says = {name: complaint(answer) for name, answer in (NAMED | UNNAMED).items()}
    assert None not in says.values()
    assert len(set(says.values())) == len(says)
    assert [name for name in says if isinstance(says[name], Unnamed)] == list(UNNAMED)
    assert says["one of the table"] == "one is missing"
    assert "times" in says["leaves an argument unused"]
    assert "x" in says["changes an argument"].split()
    for name, value in (("factor", "3"), ("summand", "+0.25"), ("mean", "len(x)"), ("sum", "len(x)")):
        assert value in says[name]


def test_swapped_arguments_and_a_transposed_matrix_are_named() -> None:
    cases = [(1.0, 2.0, 3.0), (2.0, 0.5, 1.5), (4.0, 1.0, 2.5)]
    says = complaint(lambda a, b, c: b + 2 * a + c**2, lambda a, b, c: a + 2 * b + c**2, cases, ())
    assert {"a", "b"} < set(says.split())
    assert "c" not in says.split()
    cases = [(np.arange(6.0).reshape(2, 3),), (np.arange(8.0).reshape(4, 2),)]
    assert not isinstance(complaint(lambda x: 2 * x.T, lambda x: 2 * x, cases, ()), Unnamed)


def test_flags_are_not_numbers() -> None:
    cases = [(np.array([0.2, 0.7]),), (np.array([0.9, 0.1, 0.3]),)]
    assert complaint(lambda x: x > 0.5, lambda x: (x > 0.5).astype(float), cases, ()) is not None
    assert complaint(lambda x: x > 0.5, lambda x: x > 0.5, cases, ()) is None


def test_rows_of_different_lengths_are_compared() -> None:
    """NumPy cannot make an array of them."""
    cases = [([np.ones(n), np.ones(n + 1)], [0, 1]) for n in (2, 3, 4)]

    def longest(rows, places):
        return max(map(len, rows)) + places[1]

    assert complaint(longest, longest, cases, ()) is None
    assert "len(rows)" in complaint(lambda rows, places: 2 * longest(rows, places), longest, cases, ())

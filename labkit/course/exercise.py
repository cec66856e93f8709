"""Check the answer to an exercise.

The question, the hints, the solution and the praise are in the notebook's cells. Here an exercise has only cases, drawn
from `random` at each call, and typical mistakes: a piece of the solution, its replacement, and a message.

    @exercise("01.3", ("S[i, n] - S[i, p]", "S[i, p] - S[i, n]", "it is σ(S_n - S_p)"), ...)
    def triplet_weights(random) -> list[tuple]    the cases: arguments for the student's function

    @check("07.3")
    def check_split(answer, random) -> str | None    if that is not enough: None if right, else the complaint

An answer is a value, or a function that the check calls with its cases. `...` anywhere in it marks the exercise as
open. The search order is: a mistake in the table with the same results as the answer in every case; then general
mistakes (an unused argument, a sign, a factor, a wrong shape, …); then the position of the first wrong number. A right
answer must not change its arguments. A reader (`array`, `mask`, …) converts answers to arrays, or raises `Unfit` with
what was expected.
"""

from __future__ import annotations

import ast
import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from labkit.course.notebooks import exercises_in, question, solution_of, sources

Check: TypeAlias = Callable[[Any, np.random.Generator], str | None]
Reader: TypeAlias = Callable[[Any], Any]
Mistakes: TypeAlias = Iterable[tuple[Any, ...]]  # functions that make the same mistake, and finally the message
Edits: TypeAlias = tuple[str, ...]  # a piece of the solution, one or more replacements, and finally the message
Cases: TypeAlias = Iterable[tuple[Any, ...]]
Arrays: TypeAlias = tuple[np.ndarray, ...]
CHECKS: dict[str, Check] = {}


def check(key: str) -> Callable[[Check], Check]:
    """Turn a function into the check of an exercise."""

    def keep(function: Check) -> Check:
        CHECKS[key] = function
        return function

    return keep


def exercise(key: str, *mistakes: Edits, **how: Any) -> Callable[[Callable[[np.random.Generator], Cases]], Any]:
    """Turn a function that draws cases into the check of an exercise; `how` is passed on to `compared`."""

    def keep(draw: Callable[[np.random.Generator], Cases]) -> Any:
        CHECKS[key] = lambda answer, random: compared(key, answer, draw(random), *mistakes, **how)
        return draw

    return keep


def compared(
    key: str,
    answer: Any,
    cases: Cases,
    *mistakes: Edits,
    through: Callable[[Any], Any] = lambda function: function,
    otherwise: str = "",
    **how: Any,
) -> str | None:
    """Compare an answer with the notebook's solution, and with the edited solutions.

    `through` wraps each of these functions before it is called with the cases. `otherwise` is the complaint about an
    answer that makes no mistake in the table.
    """
    rows = [(*(through(solution(key, old, new)) for new in news), says) for old, *news, says in mistakes]
    complaint = find_mistake(through(answer), through(solution(key)), list(cases), rows, **how)
    if complaint is None or not otherwise or complaint in {says for *_, says in rows}:
        return complaint
    return Unnamed(otherwise)


def solution(key: str, old: str = "", new: str = "") -> Any:
    """The answer of the solved notebook after replacing one piece of its code."""
    (source,) = (each for each in sources() if each.stem.startswith(key[:2]))
    code, names = solution_of(key), dict(_names_before(key))
    if old not in code:
        raise ValueError(f"the solution to {key} has no {old!r}")
    exec(compile(code.replace(old, new) if old else code, f"<solution of {key}>", "exec"), names)  # our own code
    return eval(exercises_in(source)[key], names)


@cache
def _names_before(key: str) -> dict[str, Any]:
    """The names that a notebook imports and that its earlier exercises define."""
    (source,) = (each for each in sources() if each.stem.startswith(key[:2]))
    nodes = ast.parse(source.read_text("utf-8")).body
    imports: list[ast.stmt] = [each for each in nodes if isinstance(each, ast.Import | ast.ImportFrom)]
    code = [compile(ast.Module(imports, []), source.stem, "exec")]
    for earlier in exercises_in(source):
        if earlier == key:
            break
        code.append(compile(solution_of(earlier), f"<solution of {earlier}>", "exec"))
    names: dict[str, Any] = {}
    for each in code:
        exec(each, names)
    return names


class StillOpen(Exception):
    """The answer contains a `...`. Shown as one line, because a traceback would look like an error."""

    def _render_traceback_(self) -> list[str]:
        return [f"○ {self}"]


class Unfit(ValueError):
    """The answer has the wrong type; the message says what was expected."""


class Unnamed(str):
    """A message that only says where an answer is wrong, because the mistake is not recognised."""


@dataclass(frozen=True)
class Verdict:
    """The result of a check. `says` is the praise or the complaint; `named`: the mistake was recognised."""

    key: str
    right: bool
    says: str
    named: bool = True

    def __repr__(self) -> str:
        return f"{'✓' if self.right else '✗'} {self.key}: {self.says}"


def judge(key: str, answer: Any, seed: int | None = None) -> Verdict:
    """Check an answer on cases of this seed or on new ones; errors inside a student's function are not raised."""
    praise = question(key).praise
    if is_open(answer):
        raise StillOpen(_open(key, "answer"))
    if answer is None:
        return Verdict(key, False, "the answer is None: is a `return` missing?")
    try:
        complaint = CHECKS[key](_watched(answer, key) if callable(answer) else answer, np.random.default_rng(seed))
    except StillOpen:
        raise
    except Unfit as other_kind:
        return Verdict(key, False, str(other_kind))
    except Exception as mistake:  # a student's function may raise anything
        return Verdict(key, False, f"your answer stops with {_told(mistake)}", named=False)
    return Verdict(key, complaint is None, complaint or praise, not isinstance(complaint, Unnamed))


def _told(mistake: Exception) -> str:
    """The error, with advice on mismatched shapes that numpy and torch do not give."""
    says = f"{type(mistake).__name__}: {mistake}".strip()
    if any(words in says for words in _SHAPES):
        says += ". Print the `.shape` of both; where an axis is missing, `x[:, None]` adds it"
    return says


_SHAPES = ("could not be broadcast", "must match the size", "cannot be multiplied", "not aligned", "mismatch in")


def is_open(answer: Any) -> bool:
    """Whether the answer contains a `...` to be filled in."""
    if isinstance(answer, Mapping):
        return any(is_open(each) for each in answer.values())
    if isinstance(answer, Sequence) and not isinstance(answer, str):
        return any(is_open(each) for each in answer)
    return answer is ...


def _open(key: str, what: str) -> str:
    ways = f"In a new cell, `hint({key!r})` helps, and `solve({key!r})` shows and runs the solution."
    return f"{key} is open: replace `...` with your {what}. {ways}"


def _watched(function: Callable[..., Any], key: str) -> Callable[..., Any]:
    """The student's function, which raises an error if it returns a remaining `...` or fails because of one."""
    still = StillOpen(_open(key, "code"))

    def call(*arguments: Any, **named: Any) -> Any:
        try:
            result = function(*arguments, **named)
        except (TypeError, AttributeError) as mistake:
            if "ellipsis" not in str(mistake).lower():
                raise
            raise still from None
        if is_open(result) or (result is None and _has_dots(function)):
            raise still
        if result is None:
            raise Unfit("your function returns nothing: every path through it must end with `return` and a value")
        return result

    return call


def _has_dots(function: Callable[..., Any]) -> bool:
    """Whether a function's code still contains `...`."""
    code = getattr(function, "__code__", None)
    return code is not None and ... in code.co_consts


# --- answers as arrays -----------------------------------------------------------------------------------------


def array(answer: Any) -> np.ndarray:
    """A float64 array from a number, list, array, tensor or sparse matrix."""
    came = f"a {type(answer).__name__}"
    if isinstance(answer, str):
        raise Unfit(f"expected numbers, got the text {answer!r:.40}: leave out the quotes")
    if isinstance(answer, Tensor):
        answer = answer.detach().cpu().numpy()
    elif sparse.issparse(answer):
        answer = answer.toarray()
    elif isinstance(answer, list | tuple):
        came += " of " + " and ".join(sorted({type(each).__name__ for each in answer}))
        answer = [array(each) if isinstance(each, Tensor) else each for each in answer]
    try:
        return np.asarray(answer, dtype=np.float64)
    except (TypeError, ValueError):
        raise Unfit(f"expected numbers, got {came}") from None


def number(answer: Any) -> float:
    """One number, from any of these types."""
    value = array(answer)
    if value.size != 1 or math.isnan(value.item()):
        raise Unfit(f"expected one number, got {answer!r}")
    return float(value.item())


def mask(answer: Any) -> np.ndarray:
    """A tensor of True and False, with which later cells select entries."""
    if not isinstance(answer, Tensor) or answer.dtype != torch.bool:
        came = f"one of {answer.dtype}" if isinstance(answer, Tensor) else f"a {type(answer).__name__}"
        raise Unfit(f"expected a tensor of True and False, got {came}: use `==`, `&`, `~`")
    return np.asarray(answer.detach().cpu().numpy())


def learnable(answer: Any) -> np.ndarray:
    """A tensor with a gradient, through which later exercises train the network."""
    if hasattr(answer, "values") and hasattr(answer, "indices") and not isinstance(answer, Tensor):
        raise Unfit("expected the values alone: `max(dim)` returns values and indices, so add `.values`")
    if not isinstance(answer, Tensor):
        raise Unfit(f"expected a tensor, so that a network can learn through it, got a {type(answer).__name__}")
    return array(answer)


def blocked(out: Tensor, *inputs: Tensor) -> str | None:
    """The message if no gradient flows back from a result to each of these tensors."""
    if out.requires_grad:
        (out.flatten() * torch.linspace(1, 2, out.numel())).sum().backward()
    if any(each.grad is None or not each.grad.any() for each in inputs):
        return (
            "the numbers are right, but no gradient flows through them, so a network could not learn. Use tensors in "
            "every step: `float(...)`, `.item()`, `.tolist()`, `.numpy()`, `.detach()` or `torch.tensor(...)` cut off "
            "the gradient"
        )
    return None


def several(says: str, *readers: Reader) -> Reader:
    """Read a tuple, list or array of answers, one with each of the readers; `says` describes all of them."""

    def read(answer: Any) -> Arrays:
        one_array = isinstance(answer, np.ndarray | Tensor) and bool(answer.ndim)
        if not (isinstance(answer, tuple | list) or one_array) or len(answer) != len(readers):
            raise Unfit(says)
        return tuple(np.asarray(each(one)) for each, one in zip(readers, answer, strict=True))

    return read


def close(answer: Any, right: Any, tolerance: float = 1e-5) -> bool:
    """Whether a number, array or tensor is right: same shape, entries within the tolerance, equally finite."""
    mine, wanted = array(answer), array(right)
    return mine.shape == wanted.shape and bool(np.allclose(mine, wanted, rtol=tolerance, atol=tolerance))


# --- a function ------------------------------------------------------------------------------------------------


def find_mistake(
    answer: Callable[..., Any],
    right: Callable[..., Any],
    cases: Sequence[tuple[Any, ...]],
    mistakes: Mistakes = (),
    *,
    read: Reader = array,
    tolerance: float = 1e-5,
) -> str | None:
    """Return None if the answer is right in every case and leaves its arguments unchanged, otherwise the mistake."""
    names = list(inspect.signature(right).parameters)[: len(cases[0])]  # some have defaults
    given, changed, flags = [], None, False
    for case in cases:
        own = deepcopy(case)
        raw = answer(*own)
        given.append(_parts(read(raw)))
        flags = flags or (_flags(raw) and not _flags(right(*deepcopy(case))))
        touched = [name for name, before, after in zip(names, case, own, strict=True) if not _alike(before, after)]
        changed = changed or (touched[0] if touched else None)

    def parts(function: Callable[..., Any], case: tuple[Any, ...]) -> Arrays:
        return _parts(read(function(*deepcopy(case))))

    def agree(one: Arrays, other: Arrays) -> bool:
        return len(one) == len(other) and all(_equal(a, b, tolerance) for a, b in zip(one, other, strict=True))

    def gives(function: Callable[..., Any]) -> bool:
        """Whether another function gives the same results as the answer in every case."""
        try:
            return all(agree(mine, parts(function, case)) for mine, case in zip(given, cases, strict=True))
        except Exception:  # a function that fails on a case has no result there
            return False

    wanted = [parts(right, case) for case in cases]
    pairs = list(zip(given, wanted, strict=True))
    wrong = [place for place, pair in enumerate(pairs) if not agree(*pair)]
    if not wrong:
        if flags:
            return "right, but as True and False: return numbers, because later cells compute with them"
        if changed is not None:
            advice = "leave the arguments as they are, and work on a copy"
            return f"right, but your function changes {changed} itself: {advice}"
        if not gives(answer):
            return (
                "your function gives a different answer the second time: it must not depend on chance or on earlier "
                "calls"
            )
        return None
    known = next((says for *functions, says in mistakes if any(map(gives, functions))), None)
    if known is not None:
        return known
    if any(_broken(*each) for pair in pairs for each in zip(*pair, strict=False)):
        return (
            "your result contains a number that is not finite (nan or inf) where a finite one is expected: look "
            "for a division by 0, the log of 0, or an infinity that you put in"
        )
    if changed is not None:
        return f"your result is wrong, and your function changes {changed} itself: work on a copy"
    named = _unused(answer, right, cases, names, parts, agree) or _exchanged(right, cases, names, gives)
    if named is None and flags and all(len(a) == len(b) == 1 and a[0].shape == b[0].shape for a, b in pairs):
        return "your function returns True or False, but numbers are expected"
    return named or _general(given, wanted, cases, names, wrong)


def _flags(raw: Any) -> bool:
    return isinstance(raw, bool | np.bool_) or str(getattr(raw, "dtype", "")).endswith("bool")


def _parts(answer: Any) -> Arrays:
    return answer if isinstance(answer, tuple) else (np.asarray(answer),)


def _equal(one: np.ndarray, other: np.ndarray, tolerance: float) -> bool:
    if one.shape != other.shape and not (one.size == other.size == 1):
        return False
    if one.dtype.kind not in "fiub" or other.dtype.kind not in "fiub":  # words
        return bool((one == other).all())
    return bool(np.allclose(one.reshape(other.shape), other, rtol=tolerance, atol=tolerance, equal_nan=True))


def _alike(before: Any, after: Any) -> bool:
    """Whether an argument is unchanged."""
    if isinstance(before, Tensor):
        before, after = before.detach().numpy(), after.detach().numpy()  # `requires_grad_()` changes no number
    if isinstance(before, np.ndarray):
        return np.array_equal(before, after, equal_nan=before.dtype.kind == "f")
    if sparse.issparse(before):
        return _alike(before.toarray(), after.toarray())
    if isinstance(before, dict):
        return before.keys() == after.keys() and all(_alike(before[key], after[key]) for key in before)
    if isinstance(before, list | tuple):
        return len(before) == len(after) and all(map(_alike, before, after))
    return callable(before) or bool(before == after)


def _broken(mine: np.ndarray, right: np.ndarray) -> bool:
    """Whether a number is not finite although the right one is."""
    numbers = mine.dtype.kind == right.dtype.kind == "f" and mine.shape == right.shape
    return numbers and not np.isfinite(mine[np.isfinite(right)]).all()


def _unused(answer: Any, right: Any, cases: Any, names: list[str], parts: Any, agree: Any) -> str | None:
    """Find an argument that affects the right result but not the answer."""
    for place, name in enumerate(names):
        matters = False
        for case, other in ((case, other) for case in cases for other in cases if case is not other):
            changed = [*case[:place], other[place], *case[place + 1 :]]
            try:
                if agree(*(parts(right, each) for each in (case, changed))):
                    continue
                if not agree(*(parts(answer, each) for each in (case, changed))):
                    break
                matters = True
            except Exception:  # the arguments of the two cases do not fit together
                continue
        else:
            if matters:
                return f"your answer does not depend on {name}, but the right one does: use {name}"
    return None


def _exchanged(right: Any, cases: Any, names: list[str], gives: Callable[[Any], bool]) -> str | None:
    """Find two swapped arguments."""
    for i, j in combinations(range(len(names)), 2):
        if type(cases[0][i]) is type(cases[0][j]):

            def turned(*case: Any, i: int = i, j: int = j) -> Any:
                order = list(case)
                order[i], order[j] = case[j], case[i]
                return right(*order)

            if gives(turned):
                return f"{names[i]} and {names[j]} are swapped in your answer"
    return None


def _general(given: list[Arrays], wanted: list[Arrays], cases: Any, names: list[str], wrong: list[int]) -> str:
    """Find a general mistake or, if none fits, the position of the first wrong number."""
    for place in wrong:
        if len(given[place]) != len(wanted[place]):
            return Unnamed(f"expected {len(wanted[place])} values, got {len(given[place])}")
    for mine, right in (pair for place in wrong for pair in zip(given[place], wanted[place], strict=True)):
        if mine.shape != right.shape and not mine.size == right.size == 1:
            return _shape(mine, right)
    if any(each.dtype.kind not in "fi" for all_of in (*given, *wanted) for each in all_of):
        return _differ(given, wanted, wrong)
    mine, right = (np.concatenate([part.ravel() for each in answers for part in each]) for answers in (given, wanted))
    pairs = zip(given, cases, strict=True)
    sizes = np.concatenate([np.full(sum(part.size for part in each), _rows(case, names)[1]) for each, case in pairs])
    for says, turn in _TURNS:
        with np.errstate(all="ignore"):
            other = turn(right, sizes)
        if np.isfinite(other).all() and np.allclose(mine, other, rtol=1e-5, atol=1e-8):
            return says.format(_rows(cases[0], names)[0])
    if len(right) > 2 and np.isfinite(mine).all() and np.isfinite(right).all() and np.ptp(right) > 0:
        if np.ptp(mine) < 1e-9 * (1 + abs(mine[0])):
            return f"your result is always {mine[0]:.4g}: compute it from the arguments"
        with np.errstate(all="ignore"):
            times = (mine / right)[abs(right) > 1e-9]
        if len(times) > 2 and np.ptp(times) < 1e-5 * abs(times[0]) and not np.isclose(times[0], 1):
            return f"every number is {times[0]:.4g} times what it should be: a factor is wrong"
        if np.ptp(mine - right) < 1e-6:
            return f"every number is off by {(mine - right)[0]:+.4g}: something is added or missing"
    return _differ(given, wanted, wrong)


def _rows(case: tuple[Any, ...], names: list[str]) -> tuple[str, float]:
    """The name and the length of the first argument that has rows."""
    for name, each in zip(names, case, strict=True):
        if isinstance(each, list | tuple) or (hasattr(each, "__len__") and np.ndim(each)):
            return name, float(len(each))
    return "", 1.0


_TURNS: tuple[tuple[str, Callable[[np.ndarray, np.ndarray], np.ndarray]], ...] = (
    ("the sign is wrong: your result is the right number times -1", lambda right, n: -right),
    ("the sign is lost: your result is the absolute value of the right number", lambda right, n: abs(right)),
    ("your result is 1 divided by the right number", lambda right, n: 1 / right),
    ("your result is 1 minus the right number", lambda right, n: 1 - right),
    (
        "your result is the right number times len({0}): is a mean asked for instead of a sum?",
        lambda right, n: right * n,
    ),
    (
        "your result is the right number divided by len({0}): do you take a mean where none is asked for?",
        lambda right, n: right / n,
    ),
    ("your result is the square of the right number", lambda right, n: right**2),
    ("your result is the square root of the right number", lambda right, n: np.sqrt(right)),
    ("your result is the logarithm of the right number", lambda right, n: np.log(right)),
    ("your result is e to the power of the right number", lambda right, n: np.exp(right)),
)


def _shape(mine: np.ndarray, right: np.ndarray) -> str:
    if mine.T.shape == right.shape and mine.ndim > 1 and np.allclose(mine.T, right, equal_nan=True):
        return "rows and columns are swapped: your result is the right one, transposed (`.T`)"
    if mine.ndim > right.ndim == 0:
        return f"expected one number, but your result has the shape {mine.shape}: is a sum, a mean or a choice missing?"
    if right.ndim > mine.ndim == 0:
        return f"your result is one number, expected {right.size} of shape {right.shape}"
    if mine.ndim == right.ndim == 1:
        return Unnamed(f"your result has {mine.size} entries, expected {right.size}")
    return Unnamed(f"the shape is {mine.shape}, expected {right.shape}")


def _differ(given: list[Arrays], wanted: list[Arrays], wrong: list[int]) -> str:
    first = wrong[0]
    pairs = list(zip(given[first], wanted[first], strict=True))
    place = next((place for place, pair in enumerate(pairs) if not _equal(*pair, 1e-5)), 0)
    says = (f"in number {place + 1} of {len(pairs)} results, " if len(pairs) > 1 else "") + _wrong_entry(*pairs[place])
    right = len(given) - len(wrong)
    return Unnamed(f"right in {right} of {len(given)} cases; in another, {says}" if right else says)


def _wrong_entry(mine: np.ndarray, wanted: np.ndarray) -> str:
    """The position of the first wrong entry, with both numbers."""
    mine = mine.reshape(wanted.shape)
    numeric = mine.dtype.kind in "fiu" and wanted.dtype.kind in "fiu"
    off = ~np.isclose(mine, wanted, rtol=1e-5, atol=1e-5, equal_nan=True) if numeric else mine != wanted
    place = tuple(int(each[0]) for each in np.nonzero(np.atleast_1d(off)))
    pair = (np.atleast_1d(each)[place] for each in (mine, wanted))
    one, other = (f"{each:.4f}" if numeric else repr(each.item()) for each in pair)
    where = "" if wanted.size == 1 else f" at {place if len(place) > 1 else place[0]}"
    return f"your value{where} is {one}, expected {other}"

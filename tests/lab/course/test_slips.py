"""The cases of a look tell its slips apart: none gives what is right, and no two with different words give the same."""

from __future__ import annotations

import importlib
from contextlib import suppress
from copy import deepcopy
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from labkit.lab.course import exercise as trying
from labkit.lab.course.exercises import LESSONS

MODULES = {
    "00": "tour",
    "01": "pairs_and_weights",
    "02": "sentpwnet",
    "05": "pthought",
    "07": "together",
    "08": "word_vectors",
}
KEYS = [key for number in MODULES for key in LESSONS[number].exercises]


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_every_slip_is_told_from_what_is_right_and_from_each_other(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = importlib.import_module(f"labkit.lab.course.exercises.{MODULES[key[:2]]}")
    seen: dict[str, Any] = {}

    def keep(answer: Any, right: Any, cases: Any, slips: Any = (), *, read: Any = trying.array, **rest: Any) -> None:
        seen.update(right=right, cases=cases, slips=slips, read=read)

    monkeypatch.setattr(module, "tried", keep, raising=False)
    exercise = LESSONS[key[:2]].exercises[key]
    for dummy in (0.0, []):
        with suppress(Exception):  # before `tried` is asked, or after it
            exercise.look(lambda *_, dummy=dummy: dummy)
    if not seen:
        pytest.skip("asks for a value")

    def gives(function: Any) -> list[Any]:
        """What it gives in each case; None where it is no answer."""
        found = []
        for case in seen["cases"]:
            try:
                found.append(trying._parts(seen["read"](function(*deepcopy(case)))))
            except Exception:
                found.append(None)
        return found

    def same(one: list[Any], other: list[Any]) -> bool:
        return all(a is not None and b is not None and all(map(close, a, b)) for a, b in zip(one, other, strict=True))

    def close(one: np.ndarray, other: np.ndarray) -> bool:
        return trying._equal(one, other, 1e-5)

    assert len(seen["cases"]) >= 3
    right = gives(seen["right"])
    assert None not in right
    slips = [(says, gives(function)) for function, says in seen["slips"]]
    assert [says for says, given in slips if same(given, right)] == []
    assert [says for says, given in slips if all(each is None for each in given)] == []
    twice = [(a[0], b[0]) for a, b in combinations(slips, 2) if a[0] != b[0] and same(a[1], b[1])]
    assert twice == [], "\n".join(map(str, twice))

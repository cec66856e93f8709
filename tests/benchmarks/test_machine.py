"""How the benchmarks measure: the order of calls, the median of ratios, memory of a process of its own."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import version

import pytest
import torch

machine = pytest.importorskip("benchmarks.machine", reason="run from the repository root: python -m pytest")


class Clock:
    """Time that passes only when a call says so."""

    def __init__(self) -> None:
        self.now, self.order = 0.0, ""

    def __call__(self) -> float:
        return self.now

    def call(self, name: str, *durations: float) -> Callable[[], None]:
        left = list(durations)

        def run() -> None:
            self.order += name
            self.now += left.pop(0)

        return run


def test_calls_take_turns_and_ratios_are_taken_within_a_round() -> None:
    clock = Clock()
    a, b = clock.call("a", 99, 6, 60, 9), clock.call("b", 99, 2, 10, 9)  # the first of each is not measured
    measured = machine.alternate(a, b, 3, clock=clock)
    assert clock.order == "ab" + "ab" + "ba" + "ab"
    assert measured == machine.Alternation(ratio=3, a=9, b=9, least=1, most=6)


def test_without_warming_every_call_counts() -> None:
    clock = Clock()
    measured = machine.alternate(clock.call("a", 8), clock.call("b", 2), 1, clock=clock, warm=False)
    assert (measured.ratio, clock.order) == (4, "ab")


def test_no_rounds_are_no_measurement() -> None:
    with pytest.raises(ValueError, match="rounds is 0, expected at least 1"):
        machine.alternate(lambda: None, lambda: None, 0)


def test_threads_are_put_back() -> None:
    before = torch.get_num_threads()
    with suppress(KeyError), machine.threads(before + 1):
        assert torch.get_num_threads() == before + 1
        raise KeyError
    assert torch.get_num_threads() == before


@pytest.mark.skipif(sys.platform == "win32", reason="needs the resource module")
def test_memory_is_what_the_call_took_at_most() -> None:
    kept = []
    taken = machine.peak_bytes(lambda: kept.append(torch.ones(20_000_000)))
    assert 70e6 < taken < 120e6


def test_a_process_that_fails_says_why() -> None:
    assert "usage" in machine.fresh_process("json.tool", "--help")
    with pytest.raises(RuntimeError, match=r"(?s)-m json.tool /nowhere ended with .*No such file"):
        machine.fresh_process("json.tool", "/nowhere")


def test_the_description_names_what_matters() -> None:
    assert f"torch {version('torch')}" in machine.describe()


def test_every_benchmark_is_found() -> None:
    found = pytest.importorskip("benchmarks.__main__").names()
    assert "pairs" in found
    assert "machine" not in found

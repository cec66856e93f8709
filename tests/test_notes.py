"""Notes go to whoever collects them in the same call, and to nobody else."""

from __future__ import annotations

import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import pytest

from labkit.progress import collected, note


def test_a_note_is_a_warning_where_nobody_collects() -> None:
    with pytest.warns(UserWarning, match="mind the gap") as heard:
        note("mind the gap")
    assert heard[0].filename == __file__


def test_who_collects_is_told_and_nobody_is_warned() -> None:
    with warnings.catch_warnings(record=True) as heard, collected() as outer:
        warnings.simplefilter("always")
        note("one")
        with collected() as inner:
            note("two")
        note("three")
    assert (outer, inner, heard) == (["one", "three"], ["two"], [])
    with pytest.warns(UserWarning, match="four"):
        note("four")


def test_two_at_once_hear_each_their_own() -> None:
    together = threading.Barrier(2)

    def told(name: str) -> list[str]:
        with collected() as notes:
            together.wait(60)  # both collect before either has said anything
            note(name)
            together.wait(60)
        return notes

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(told, ["mine", "yours"])) == [["mine"], ["yours"]]

"""What is kept for all visitors is bounded by bytes, over all functions: what nobody has asked for longest goes.

A bound on the number of entries would not do: sixteen were too few for thirty visitors, and are too many of the largest
files. The values themselves, the waiting for one that somebody else is making, and the spinner are
`st.cache_resource`'s.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial, wraps
from inspect import signature
from types import FunctionType, ModuleType
from typing import Any, ParamSpec, TypeVar

import classroom
import numpy as np
import streamlit as st

P, R = ParamSpec("P"), TypeVar("R")
LEAST = 4_096  # bytes of an entry: its place in the books costs something, too
SAMPLE = 1_000  # members of a long list that are looked at
ATOMS = (str, bytes, int, float, complex, type(None), type, ModuleType, FunctionType)


class Room:
    """The books: which entries there are, the one that was asked for last at the end, and how many bytes each has."""

    def __init__(self, most: int) -> None:
        self.most, self.held = most, 0
        self._entries: OrderedDict[Any, tuple[int, Callable[[], None]]] = OrderedDict()
        self._lock = threading.Lock()

    def asked(self, key: Any, value: Any, forget: Callable[[], None]) -> None:
        """Somebody was given this value; `forget` takes it out. The last one stays, however large it is."""
        with self._lock:
            if key in self._entries:
                self._entries.move_to_end(key)
                return
        size = max(LEAST, weight(value))
        removals = []
        with self._lock:
            if key not in self._entries:
                self._entries[key] = size, forget
                self.held += size
            while self.held > self.most and len(self._entries) > 1:
                _, (size, forget) = self._entries.popitem(last=False)
                self.held -= size
                removals.append(forget)
        for forget in removals:
            forget()


def most_kept() -> int:
    """The bytes that are kept: a gigabyte, or on a machine of one's own a quarter of its memory, if that is more.

    A million sentences with the vectors and the pictures of two sides take more than a gigabyte.
    """
    least = 2**30
    with suppress(AttributeError, ValueError, OSError):  # not all systems tell
        return least if classroom.is_on() else max(least, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 4)
    return least


ROOM = Room(most_kept())


def keep(
    *, show_spinner: bool | str, show_time: bool = False, refusals: bool = False
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Keep the values of a function for all visitors.

    An argument with a `key` is compared by that, one whose name begins with an underscore is not compared at all.
    `refusals`: its mistakes, too, where the arguments alone decide (a file that is none is not read again and again).
    """

    def decorated(function: Callable[P, R]) -> Callable[P, R]:
        names = list(signature(function).parameters)

        def value_or_refusal(key: tuple[Any, ...], _call: Callable[[], R]) -> R | ValueError:
            try:
                return _call()
            except ValueError as mistake:
                if not refusals:
                    raise
                return ValueError(str(mistake))  # without the frames it came through

        value_or_refusal.__module__, value_or_refusal.__qualname__ = function.__module__, function.__qualname__
        stored: Any = st.cache_resource(show_spinner=show_spinner, show_time=show_time)(value_or_refusal)

        @wraps(function)
        def asked(*args: P.args, **kwargs: P.kwargs) -> R:
            # the last name may stand for several arguments
            named = [*((names[min(at, len(names) - 1)], each) for at, each in enumerate(args)), *sorted(kwargs.items())]
            key = tuple((name, getattr(each, "key", each)) for name, each in named if name[0] != "_")
            value: R | ValueError = stored(key, partial(function, *args, **kwargs))
            ROOM.asked((function.__module__, function.__qualname__, key), value, lambda: stored.clear(key, None))
            if isinstance(value, ValueError):
                raise ValueError(str(value))
            return value

        return asked

    return decorated


def weight(value: Any) -> int:
    """Estimate the bytes of a value with all that it holds; of a long list, from some of its members."""
    total, seen = 0.0, set()
    waiting: list[tuple[Any, float]] = [(value, 1.0)]
    while waiting:
        each, times = waiting.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        if isinstance(each, np.ndarray) or hasattr(each, "untyped_storage"):  # an array, a tensor
            total += times * each.nbytes
            continue
        total += times * sys.getsizeof(each)
        members = _members(each)
        step = max(1, len(members) // SAMPLE)
        sample = members[::step]
        waiting += [(member, times * len(members) / len(sample)) for member in sample]
    return int(total)


def _members(value: Any) -> list[Any]:
    if isinstance(value, ATOMS):
        return []
    if isinstance(value, Mapping):
        return [*value.keys(), *value.values()]
    if isinstance(value, list | tuple | set | frozenset | deque):
        return list(value)
    slots = [getattr(value, name, None) for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())]
    return [*getattr(value, "__dict__", {}).values(), *slots]

"""One cache for all visitors and functions, bounded by bytes: the value that was unused for longest goes first.

Counting entries would not do: sixteen are too few for thirty visitors, and too many of the largest files. Values,
spinners, and waiting for a value that another visitor's page is computing are left to `st.cache_resource`.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache, partial, wraps
from inspect import signature
from types import FunctionType, ModuleType
from typing import Any, ParamSpec, TypeVar

import classroom
import streamlit as st

P, R = ParamSpec("P"), TypeVar("R")
LEAST = 4_096  # bytes that every entry counts at least
ATOMS = (int, float, complex, type(None), type, ModuleType, FunctionType)


class Room:
    """The entries of the cache, the most recently used at the end, and the bytes of each."""

    def __init__(self, most: int) -> None:
        self.most, self.held = most, 0
        self._entries: OrderedDict[Any, tuple[int, Callable[[], None]]] = OrderedDict()
        self._lock = threading.Lock()

    def has(self, key: Any) -> bool:
        """Whether a value is kept, so that nobody need be told to wait for it."""
        return key in self._entries

    def asked(self, key: Any, value: Any, forget: Callable[[], None]) -> None:
        """Record that a value was used; `forget` evicts it. The latest value stays, however large it is."""
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
    """The cache's bytes: a gigabyte, or on your own machine a quarter of the memory, if that is more.

    A million sentences, with the vectors and plots of both sides, take more than a gigabyte.
    """
    least = 2**30
    with suppress(AttributeError, ValueError, OSError):  # not all systems tell
        return least if classroom.is_on() else max(least, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 4)
    return least


ROOM = Room(most_kept())


def keep(
    *, show_spinner: bool | str, show_time: bool = False, refusals: bool = False
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Cache the values of a function for all visitors.

    An argument with a `key` is compared by it; one whose name begins with an underscore is not compared at all.
    With `refusals`, a ValueError is cached as well, so that an invalid file is not read again and again.
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


def once(said: str, key: tuple[Any, ...], make: Callable[[], R]) -> R:
    """The value that `key` stands for, made once for all visitors, while the page says what it is doing.

    once("Ranking neighbours …", ("rule", space.key, opened.key), lambda: mutual_rule(space.method, opened.corpus))
    """
    stored = _stored(said)
    value: R = stored(key, make)
    ROOM.asked(key, value, lambda: stored.clear(key, None))
    return value


@cache
def _stored(said: str) -> Any:
    """Streamlit's cache of the values that are made under one spinner."""

    def value(key: tuple[Any, ...], _make: Callable[[], Any]) -> Any:
        return _make()

    value.__qualname__ = f"value made under {said}"
    return st.cache_resource(show_spinner=said or False, show_time=True)(value)


def weight(value: Any) -> int:
    """The bytes of all arrays and texts in a value; the objects around them count little."""
    total, seen, waiting = 0, set(), [value]
    while waiting:
        each = waiting.pop()
        if id(each) in seen or isinstance(each, ATOMS):
            continue
        seen.add(id(each))
        if isinstance(each, str | bytes):
            total += sys.getsizeof(each)
        elif hasattr(each, "nbytes"):  # an array, a tensor
            total += each.nbytes
        elif isinstance(each, Mapping):
            waiting += [*each.keys(), *each.values()]
        elif isinstance(each, list | tuple | set | frozenset):
            waiting += each
        else:
            waiting += getattr(each, "__dict__", {}).values()
            slots = (name for kind in type(each).__mro__ for name in getattr(kind, "__slots__", ()))
            waiting += [getattr(each, name, None) for name in slots]
    return total

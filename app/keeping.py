"""One cache for all visitors and functions, bounded in bytes: the least recently used value is dropped first.

A limit on entries would not work: sixteen are too few for thirty visitors, and too many for the largest files. While
one visitor's page computes a value, the pages of all others wait for it.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import nullcontext, suppress
from functools import partial, wraps
from types import FunctionType, ModuleType
from typing import Any, ParamSpec, TypeVar

import classroom
import streamlit as st

P, R = ParamSpec("P"), TypeVar("R")
LEAST = 4_096  # bytes counted at least for each entry
ATOMS = (int, float, complex, type(None), type, ModuleType, FunctionType)


class Room:
    """The values of the cache with their bytes, the most recently used at the end."""

    def __init__(self, most: int) -> None:
        self.most, self.held = most, 0
        self._entries: OrderedDict[Any, tuple[Any, int]] = OrderedDict()
        self._making: dict[Any, threading.Lock] = {}
        self._lock = threading.Lock()

    def has(self, key: Any) -> bool:
        """Whether a value is cached, so that no message about waiting is needed."""
        return key in self._entries

    def value(self, key: Any, make: Callable[[], Any]) -> Any:
        """The value of this key, which one thread computes while the others wait."""
        with self._lock:
            making = self._making.setdefault(key, threading.Lock())
        with making:
            with self._lock:
                if key in self._entries:
                    self._entries.move_to_end(key)
                    return self._entries[key][0]
            try:
                made = make()
                self._keep(key, made)
                return made
            finally:
                with self._lock:
                    self._making.pop(key, None)

    def _keep(self, key: Any, made: Any) -> None:
        """Store a value, and drop the oldest ones. The latest value stays, however large it is."""
        size = max(LEAST, weight(made))
        with self._lock:
            _, before = self._entries.pop(key, (None, 0))
            self._entries[key] = made, size
            self.held += size - before
            while self.held > self.most and len(self._entries) > 1:
                _, (_, gone) = self._entries.popitem(last=False)
                self.held -= gone


def most_kept() -> int:
    """The limit in bytes: a gigabyte, or on your own machine a quarter of the memory, if that is more.

    A million sentences, with the vectors and plots of both sides, take more than a gigabyte.
    """
    least = 2**30
    with suppress(AttributeError, ValueError, OSError):  # not all systems report it
        return least if classroom.is_on() else max(least, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 4)
    return least


@st.cache_resource(show_spinner=False)
def room() -> Room:
    """The one cache of the app."""
    return Room(most_kept())


def once(said: str, key: tuple[Any, ...], make: Callable[[], R]) -> R:
    """The value that `key` identifies, computed once for all visitors, while the page says what it is doing.

    once("Ranking neighbours …", ("rule", space.key, opened.key), lambda: mutual_rule(space.method, opened.corpus))
    """
    waiting = st.spinner(said, show_time=True) if said and not room().has(key) else nullcontext()
    with waiting:
        value: R = room().value(key, make)
    return value


def tried(said: str, key: tuple[Any, ...], make: Callable[[], R]) -> R | ValueError:
    """The value that `key` identifies, or why there is none: a refusal is kept, too, and nothing is tried again."""

    def value_or_refusal() -> R | ValueError:
        try:
            return make()
        except ValueError as mistake:
            return ValueError(str(mistake))  # without its traceback

    return once(said, key, value_or_refusal)


def keep(said: str = "") -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Cache the values of a function for all visitors. An argument with a `key` is compared by it."""

    def decorated(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def asked(*args: P.args, **kwargs: P.kwargs) -> R:
            every = [*enumerate(args), *sorted(kwargs.items())]
            key = function.__name__, *((name, getattr(each, "key", each)) for name, each in every)
            return once(said, key, partial(function, *args, **kwargs))

        return asked

    return decorated


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

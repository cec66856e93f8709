"""A guard for umap-learn and pynndescent, which run code that numba compiles.

Two of them at once, in two threads of a process, abort it, and each may change how many threads torch computes with,
and so its last digits, in all of the process.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from operator import attrgetter
from types import ModuleType

_ONE_AT_A_TIME = threading.Lock()


@contextmanager
def alone() -> Iterator[None]:
    """Run the block alone in this process; torch has as many threads afterwards as before, if it is imported."""
    torch = import_module("torch") if "torch" in sys.modules else None  # another thread may be importing it
    with _ONE_AT_A_TIME:
        threads = torch.get_num_threads() if torch else 0
        try:
            yield
        finally:
            if torch:
                torch.set_num_threads(threads)


def cache_compiled(package: ModuleType, *functions: str) -> None:
    """Let what numba compiles of these, named from the package on, stay on disk for the next process, if it can."""
    for name in functions:
        with suppress(AttributeError, RuntimeError):  # none of numba's in this release; nowhere to write
            attrgetter(name)(package).enable_caching()

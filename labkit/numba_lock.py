"""A lock for umap-learn and pynndescent, which run code compiled by numba.

If two threads run them at the same time, the process aborts. Each may also change how many threads torch uses, and so
the last digits of its results, in the whole process.
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
    """Run the block alone in this process, and restore torch's number of threads if torch is imported."""
    torch = import_module("torch") if "torch" in sys.modules else None  # another thread may be importing it
    with _ONE_AT_A_TIME:
        threads = torch.get_num_threads() if torch else 0
        try:
            yield
        finally:
            if torch:
                torch.set_num_threads(threads)


def cache_compiled(package: ModuleType, *functions: str) -> None:
    """Let numba cache these functions, named relative to the package, on disk for later processes, if possible."""
    for name in functions:
        with suppress(AttributeError, RuntimeError):  # not compiled in this release, or nowhere to write
            attrgetter(name)(package).enable_caching()

"""umap-learn and pynndescent run code that numba compiles. Two of them at once, in two threads of a process, abort it,
and each may change how many threads torch computes with, and so its last digits, in all of the process.

    with alone():
        from umap import UMAP
        ...
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

_ONE_AT_A_TIME = threading.Lock()


@contextmanager
def alone() -> Iterator[None]:
    """One at a time; torch has as many threads afterwards as before."""
    import torch

    with _ONE_AT_A_TIME:
        threads = torch.get_num_threads()
        try:
            yield
        finally:
            torch.set_num_threads(threads)

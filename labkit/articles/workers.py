"""A function over a stream in several processes: in order, with flat memory, and quiet at Ctrl-C.

In: items, a function that takes a list of them. Out: its answers in the order of the items. No more than a few lists
are under way at a time, so that a stream of any length fits. Processes are started anew (`spawn`) and not forked: that
is safe beside threads and the same on every system. They leave Ctrl-C to the first process, and end with it even when
it is killed.
"""

from __future__ import annotations

import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import islice
from multiprocessing import get_context, parent_process
from multiprocessing.process import BaseProcess
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

BATCH, AHEAD = 32, 4  # items of a list; lists under way for each process
MOST = 8  # processes that one reader can feed


def mapped(call: Callable[[list[T]], R], items: Iterable[T], *, workers: int = 1, batch: int = BATCH) -> Iterator[R]:
    """`call` of each `batch` items in turn; with one worker in this process."""
    if workers < 1:
        raise ValueError(f"workers is {workers}, expected at least 1; leave it out for one for each core")
    lists = _lists(items, batch)
    if workers == 1:
        yield from map(call, lists)
        return
    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_follow)
    try:
        with _unheard():
            for _ in range(workers):
                pool.submit(int)  # each starts a process
        waiting: deque[Future[R]] = deque()
        for part in lists:
            waiting.append(pool.submit(call, part))
            if len(waiting) >= workers * AHEAD:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BrokenProcessPool:
        raise ValueError(
            "a process ended before its work was done; is there memory enough? Take fewer workers"
        ) from None
    finally:
        pool.shutdown(cancel_futures=True)


def _lists(items: Iterable[T], batch: int) -> Iterator[list[T]]:
    stream = iter(items)
    while part := list(islice(stream, batch)):
        yield part


def usual() -> int:
    """One process for each core, up to `MOST`."""
    return min(MOST, os.cpu_count() or 1)


@contextmanager
def _unheard() -> Iterator[None]:
    """Ctrl-C is ignored here, and by every process started here for as long as it lives."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _follow() -> None:
    """In a new process: end when the first one is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    first = parent_process()
    if first is not None:
        threading.Thread(target=_end_with, args=(first,), daemon=True).start()


def _end_with(first: BaseProcess) -> None:
    first.join()
    os._exit(1)

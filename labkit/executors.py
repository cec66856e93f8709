"""Who does the work of many tasks: processes of this machine, or a Ray cluster; whoever has the tasks need not know.

    executor_of("local")       a process for each core         executor_of("local:4")           four of them
    executor_of("ray")         the cluster that runs here      executor_of("ray:10.0.0.5:6379") the cluster there

    executor.map(call, tasks)  the answers in the order of the tasks; `ordered=False`: each as soon as it is there

In: a function of a module, and tasks that can be sent to another process. Only a few tasks for each worker are under
way at a time, so that a stream of any length fits. A mistake of a task comes out as it was raised there.

Processes are started anew (`spawn`) and not forked: that is safe beside threads and the same on every system. They
leave Ctrl-C to the first process, and end with it even when it is killed. Ray (the extra `ray`) does a task again whose
machine is gone. labkit starts no cluster: that would listen on the network, which nobody has asked for.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from multiprocessing.process import BaseProcess
from typing import Any, Protocol, TypeVar

T = TypeVar("T")
R = TypeVar("R")

AHEAD = 4  # tasks under way for each worker
PER_CORE = 4  # processes; more than this only wait for one another and fill the memory
RETRIES = 8  # times that Ray does a task again whose machine is gone
LOOPBACK = ("127.", "localhost:")
FORMS = "local, local:N, ray or ray:HOST:PORT"


class Executor(Protocol):
    """Calls a function of tasks, with so many workers at once."""

    workers: int

    def map(self, call: Callable[[T], R], tasks: Iterable[T], *, ordered: bool = True) -> Iterator[R]:
        """The answers; each as soon as it is there where they are not `ordered`."""


def executor_of(name: str) -> Executor:
    """The executor of that name."""
    kind, _, rest = name.partition(":")
    if kind == "local" and (not rest or (rest.isdecimal() and int(rest) > 0)):
        count = int(rest) if rest else os.cpu_count() or 1
        check_processes("executor", count)
        return Local(count)
    if kind == "ray":
        return Ray(rest)
    raise ValueError(f"executor is {name!r}, expected {FORMS}; local takes a process for each core")


def check_processes(argument: str, count: int) -> None:
    """Raise a ValueError unless `count` is between one and four processes per core; call it before starting any."""
    cores = os.cpu_count() or 1
    if not 1 <= count <= PER_CORE * cores:
        raise ValueError(
            f"{argument} asks for {count} processes, expected 1 to {PER_CORE * cores}: this machine has {cores} "
            f"core{'s' * (cores > 1)}, and labkit starts at most {PER_CORE} processes per core. Ask for fewer."
        )


# --- processes of this machine -----------------------------------------------------------------------------------


class Local:
    """Processes of this machine; one worker is this process itself."""

    def __init__(self, workers: int) -> None:
        check_processes("workers", workers)
        self.workers = workers

    def map(self, call: Callable[[T], R], tasks: Iterable[T], *, ordered: bool = True) -> Iterator[R]:
        """The answers; a process that ends before its work is done is a mistake, and no endless wait."""
        if self.workers == 1:
            yield from map(call, tasks)
            return
        pool = ProcessPoolExecutor(self.workers, mp_context=get_context("spawn"), initializer=_follow)
        try:
            with _unheard():
                for _ in range(self.workers):
                    pool.submit(int)  # each starts a process
            yield from _under_way(
                lambda task: pool.submit(call, task),
                lambda future: future.result(),
                _first_done,
                tasks,
                self.workers * AHEAD,
                ordered,
            )
        except BrokenProcessPool:
            raise ValueError(
                "a process ended before its work was done; is there memory enough? Take fewer workers"
            ) from None
        finally:
            pool.shutdown(cancel_futures=True)


def _under_way(
    start: Callable[[T], Any],
    answer: Callable[[Any], R],
    first_done: Callable[[list[Any]], Any],
    tasks: Iterable[T],
    most: int,
    ordered: bool,
) -> Iterator[R]:
    """Keep so many tasks under way, and give their answers."""
    waiting: deque[Any] = deque()

    def next_done() -> Any:
        if ordered:
            return waiting.popleft()
        done = first_done(list(waiting))
        waiting.remove(done)
        return done

    for task in tasks:
        waiting.append(start(task))
        if len(waiting) >= most:
            yield answer(next_done())
    while waiting:
        yield answer(next_done())


def _first_done(futures: list[Future[Any]]) -> Future[Any]:
    done, _ = wait(futures, return_when=FIRST_COMPLETED)
    return next(future for future in futures if future in done)


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
    """Make a new process end when the first one is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    first = parent_process()
    if first is not None:
        threading.Thread(target=_end_with, args=(first,), daemon=True).start()


def _end_with(first: BaseProcess) -> None:
    first.join()
    os._exit(1)


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep libraries to one thread: their sums come out the same on every machine, and tasks share its cores."""
    import torch
    from threadpoolctl import threadpool_limits

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(1):
            yield
    finally:
        torch.set_num_threads(threads)


# --- a Ray cluster -----------------------------------------------------------------------------------------------


class Ray:
    """A Ray cluster that runs already. Its machines need this labkit, and the same folders under the same paths."""

    def __init__(self, address: str = "") -> None:
        if address.startswith(LOOPBACK):  # which Ray replaces by the machine's address on the network, but for this
            os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
        try:
            import ray
        except ImportError:
            raise ValueError(
                "Ray is not installed, and the executor ray needs it (or take --executor local); run pip install ray"
            ) from None
        if not ray.is_initialized():
            try:
                ray.init(address or "auto", log_to_driver=False, logging_level=logging.ERROR, configure_logging=False)
            except (ConnectionError, RuntimeError, OSError, ValueError) as reason:
                where = f"at {address}" if address else "on this machine"
                raise ValueError(
                    f"no Ray cluster answers {where} ({' '.join(str(reason).split())[:120]}); start one with "
                    "`ray start --head`, or take --executor local"
                ) from None
        self._ray = ray
        self.workers = max(1, int(ray.cluster_resources().get("CPU", 1)))

    def map(self, call: Callable[[T], R], tasks: Iterable[T], *, ordered: bool = True) -> Iterator[R]:
        """The answers; a task whose machine is gone is done again on another."""
        ray = self._ray

        def work(task: T) -> R:  # Ray takes functions only, and `call` may be something else that can be called
            return call(task)

        try:
            yield from _under_way(
                ray.remote(max_retries=RETRIES)(work).remote,
                self._answer,
                lambda waiting: ray.wait(waiting, num_returns=1, fetch_local=False)[0][0],
                tasks,
                self.workers * AHEAD,
                ordered,
            )
        except ray.exceptions.RayTaskError as mistake:
            cause = mistake.cause
            raise (cause if isinstance(cause, Exception) else ValueError(str(cause))) from None
        except ray.exceptions.RayError as reason:
            raise ValueError(
                f"the Ray cluster did not come to the end ({' '.join(str(reason).split())[:160]}); see whether its "
                "machines are up, and start the same command once more"
            ) from None

    def _answer(self, reference: Any) -> Any:
        return self._ray.get(reference)

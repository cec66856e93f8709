"""Cells computed one after the other: what is known is taken from the store, what does not fit the budget is left.

In: plans, a store, a budget in seconds. Out: a `Run`: what is known of each cell now, what was left and why. Without a
budget every row gets its first seed before any gets its second; with one, the shortest rows come first, each with all
its seeds, so that as many as possible are whole. Ctrl-C ends it between or within cells; what is done by then is in the
store and in the `Run`.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from labkit.methods import Method
from labkit.papers.case import Case
from labkit.papers.desk import Missing
from labkit.papers.planning import Cell, Plan, cells_of, corpora_of
from labkit.papers.store import Known, Store
from labkit.progress import Progress, lasting, silent


@dataclass
class Run:
    """What came of it."""

    known: dict[str, Known] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)  # fingerprint -> what data it lacks
    broken: dict[str, Exception] = field(default_factory=dict)  # fingerprint -> a fault of the recipe
    expected: dict[str, float] = field(default_factory=dict)  # fingerprint -> seconds, of what was not known
    left: list[Cell] = field(default_factory=list)  # over the budget
    interrupted: int = 0  # the exit status that belongs to the signal
    computed: int = 0


def estimate(plans: Sequence[Plan], store: Store, rows: str = "") -> float:
    """Seconds that what is not known yet will take."""
    return sum(store.seconds(cell) for cell in cells_of(plans, rows) if store.find(cell) is None)


def run(
    plans: Sequence[Plan],
    store: Store,
    *,
    rows: str = "",
    budget: float | None = None,
    progress: Progress = silent,
) -> Run:
    """Compute what is not known yet, of rows whose name holds `rows`; with a budget of 0, nothing."""
    made = Run()
    for cell in cells_of(plans):
        if (known := store.find(cell)) is not None:
            made.known[cell.fingerprint] = known
        else:
            made.expected[cell.fingerprint] = store.seconds(cell)
    todo = [cell for cell in cells_of(plans, rows) if cell.fingerprint in made.expected]
    if budget is not None:
        _check_budget(todo, store, budget)
        todo = _shortest_first(todo, store)
    begun = time.monotonic()
    memory: dict[str, Method] = {}
    clock = _Clock(progress)
    for number, cell in enumerate(todo):
        expected = store.seconds(cell)
        clock.expect(sum(map(store.seconds, todo[number:])))
        if budget is not None and time.monotonic() - begun + expected > budget:
            made.left.append(cell)
            continue
        try:
            with clock.of(expected, f"{_said(cell)}") as inner:
                _one(cell, store, made, memory, inner)
        except KeyboardInterrupt as asked:
            made.interrupted = getattr(asked, "status", 130)
            break
    return made


def _one(cell: Cell, store: Store, made: Run, memory: dict[str, Method], progress: Progress) -> None:
    """One cell; a row whose data are missing is noted, and so is a fault of its recipe, and neither stops the others.

    One thread computes it: with two, sums are added up in another order, and trainings end elsewhere.
    """
    case = Case(
        corpus=cell.data.corpus,
        seed=cell.seed,
        method=cell.recipe.method,
        settings=cell.settings,
        also=corpora_of(cell),
        runs=store.runs,
        progress=progress,
        quick=cell.quick,
        memory=memory,
        sides=cell.sides,
    )
    begun, busy = time.monotonic(), time.process_time()
    try:
        with warnings.catch_warnings(), one_thread():
            warnings.simplefilter("ignore", UserWarning)  # of each of many trainings, said where they are made by hand
            outcome = cell.recipe.run(case)
    except Missing as reason:
        made.failed[cell.fingerprint] = " ".join(str(reason).split())
        return
    except Exception as fault:  # ours: kept apart from missing data, and raised when all else is done
        fault.add_note(f"in the cell {_said(cell)}")
        made.broken[cell.fingerprint] = fault
        return
    # on a machine that others use, the processor's time is nearer to what it takes than the clock's
    seconds = min(time.monotonic() - begun, time.process_time() - busy)
    made.known[cell.fingerprint] = store.keep(cell, outcome, seconds)
    made.computed += 1


@contextmanager
def one_thread() -> Iterator[None]:
    """Torch and the numerical libraries use one thread each."""
    import torch
    from threadpoolctl import threadpool_limits

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(1):
            yield
    finally:
        torch.set_num_threads(threads)


def _shortest_first(todo: Sequence[Cell], store: Store) -> list[Cell]:
    """By how long all that is missing of a row takes; the seeds of one row stay together."""
    whole: dict[str, float] = {}
    for cell in todo:
        whole[cell.like] = whole.get(cell.like, 0.0) + store.seconds(cell)
    return sorted(todo, key=lambda cell: (whole[cell.like], cell.like, cell.seed))


def _check_budget(todo: Sequence[Cell], store: Store, budget: float) -> None:
    first = [store.seconds(cell) for cell in todo if cell.seed == todo[0].seed]
    if budget and first and min(first) > budget:
        raise ValueError(
            f"--budget is {lasting(budget)}, but one seed takes about {lasting(sum(first))}, and its shortest row "
            f"{lasting(min(first))}; give at least that, or try --quick"
        )


def _said(cell: Cell) -> str:
    return f"{cell.recipe.method or cell.recipe.run.__name__.replace('_', ' ')}, {cell.data.title}, seed {cell.seed}"


class _Clock:
    """Progress in expected seconds, so that the time left is that of the cells and not of their number."""

    def __init__(self, progress: Progress) -> None:
        self._progress, self._total, self._done = progress, 1.0, 0.0

    def expect(self, left: float) -> None:
        """What is left is known better with every cell that was timed."""
        self._total = self._done + left

    def of(self, expected: float, what: str) -> _Cell:
        return _Cell(self, expected, what)

    def tell(self, inside: float, what: str) -> None:
        total = max(1, round(self._total))
        self._progress(min(round(self._done + inside), total), total, what)

    def close(self, expected: float, what: str) -> None:
        self._done += expected
        self.tell(0, what)


class _Cell:
    """The share of one cell: its own progress moves the clock on by as much."""

    def __init__(self, clock: _Clock, expected: float, what: str) -> None:
        self._clock, self._expected, self._what = clock, expected, what

    def __enter__(self) -> Progress:
        self._clock.tell(0, self._what)
        return self._move

    def __exit__(self, *_: object) -> None:
        self._clock.close(self._expected, self._what)

    def _move(self, done: int, total: int | None, what: str) -> None:
        share = min(done / total, 1.0) if total else 0.0
        self._clock.tell(share * self._expected, f"{self._what}: {what}")

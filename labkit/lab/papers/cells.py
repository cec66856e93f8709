"""The cells of the papers' tables: what there is to compute on the data at hand, and computing it.

    cell = (recipe, data set, seed), named by a fingerprint of all that its figures depend on

`plan` lists a table's cells, and the rows that cannot be computed, with the reason. Rows that need the same cell share
it, within a table and across. `run` computes the cells of plans one after the other: what is known is taken from the
store, what does not fit the budget is left. Without a budget every row gets its first seed before any gets its second;
with one, the shortest rows come first, each with all its seeds, so that as many as possible are whole. Ctrl-C ends it
between or within cells; what is done by then is in the store and in what `run` returns.

In: tables, a `Desk`, a number of seeds. Out: a `TablePlan` of each, and a `Computed` of all: what is known of each cell
now, what was left and why.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from labkit.corpora import Corpus
from labkit.experiment import digest, versions_of
from labkit.lab.papers.data import DATASETS, DataAtHand, Desk, Missing
from labkit.lab.papers.recipes import Case
from labkit.lab.papers.recipes.scoring import at_hand
from labkit.lab.papers.records import Recipe, Row, Table
from labkit.lab.papers.store import CellStore, Known
from labkit.method import Method
from labkit.progress import Progress, lasting, silent

MINIMUM = 0.2  # seconds that the smallest cell is expected to take


@dataclass(frozen=True, eq=False)
class Cell:
    """One recipe on one data set with one seed."""

    recipe: Recipe
    data: DataAtHand
    also: Mapping[str, DataAtHand]
    seed: int
    settings: Mapping[str, Any]
    quick: bool
    sides: tuple[Mapping[str, Any], ...] = ()

    @cached_property
    def fingerprint(self) -> str:
        """The same for cells whose figures must be the same, on whichever machine."""
        return digest(self.kind | {"seed": self.seed})

    @property
    def kind(self) -> dict[str, Any]:
        """All but the seed: recipe, method, every setting, data, and the versions that people state."""
        corpora = {"data": self.data, **self.also}
        return {
            "recipe": recipe_name(self.recipe),
            "method": self.recipe.method,
            "settings": self._told(self.settings),
            "sides": [self._told({**self.settings, **side}) for side in self.sides],
            "data": {name: found.fingerprint for name, found in corpora.items()},
            "versions": versions_of(self.recipe.method),
            **({"quick": True} if self.quick else {}),  # recipes may try less, and small data are the same data
        }

    def _told(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """The settings, the method's defaults among them; a model by its name, wherever it lies."""
        from labkit.methods import METHODS

        given = dict(settings) | {name: value for name, value in self.recipe.settings.items() if name == "model"}
        method = self.recipe.method
        return METHODS[method](**given).settings.values() if method in METHODS else given

    @property
    def like(self) -> str:
        """The kind's name among recorded times: code and data may have changed a little since."""
        told = {"recipe": recipe_name(self.recipe), "method": self.recipe.method, "settings": dict(self.settings)}
        return digest(told | {"data": self.data.title, "size": self.size})[:20]

    @property
    def size(self) -> int:
        """Rows that are learned from."""
        return next(iter(self.also.values()), self.data).learned

    @property
    def guess(self) -> float:
        """Seconds, before anything like it has been timed."""
        epochs = self.settings.get("epochs", 10) if self.recipe.quick.get("epochs") else 10
        return max(MINIMUM, self.recipe.cost * self.size / 1000 * epochs / 10)


@dataclass(frozen=True, eq=False)
class RowPart:
    """The cells of one row on one data set, a seed each; or the reason why there are none."""

    row: Row
    data: str
    cells: tuple[Cell, ...] = ()
    why_not: str = ""


@dataclass(frozen=True, eq=False)
class TablePlan:
    """A table's parts."""

    table: Table
    published: bool
    parts: tuple[RowPart, ...]
    notes: tuple[str, ...]

    @property
    def cells(self) -> list[Cell]:
        """Each cell once, the first seed of every row before the second of any."""
        return cells_of([self])

    @property
    def possible(self) -> int:
        """Rows of which something can be computed."""
        return len({part.row.name for part in self.parts if part.cells})


def plan(table: Table, desk: Desk, seeds: int | None = None) -> TablePlan:
    """What of a table can be computed on this desk; the table says with how many seeds, if nobody else does."""
    published = desk.published(table.data)
    count = seeds or (1 if desk.quick else table.seeds)
    parts = [_part(row, data, desk, published=published, seeds=count) for row in table.rows for data in table.data]
    return TablePlan(table, published, tuple(parts), tuple(_notes(table, desk, published)))


def _part(row: Row, data: str, desk: Desk, *, published: bool, seeds: int) -> RowPart:
    if row.recipe is None:
        return RowPart(row, data, why_not=row.why_not)
    reason = why_not(row.recipe) or next(
        filter(None, (desk.why_not(name, published=published) for name in (data, *row.recipe.also))), ""
    )
    if reason:
        return RowPart(row, data, why_not=reason)
    opened = desk.open(data, published=published)
    also = {name: desk.open(name, published=published) for name in row.recipe.also}
    settings = _settings(row.recipe, data, quick=desk.quick, published=published)
    count = seeds if row.recipe.random else 1
    sides = tuple(side if published and not desk.quick else _same(side) for side in row.recipe.sides)
    cells = (Cell(row.recipe, opened, also, seed, settings, desk.quick, sides) for seed in range(count))
    return RowPart(row, data, tuple(cells))


def why_not(recipe: Recipe) -> str:
    """Why a recipe cannot run on this machine, whatever the data; empty where it can."""
    from importlib.util import find_spec

    from labkit.methods import METHODS

    if recipe.method and recipe.method not in METHODS:
        return f"this labkit has no method {recipe.method!r}"
    if recipe.method == "sbert" and find_spec("sentence_transformers") is None:
        return "needs sentence-transformers: pip install sentence-transformers"
    model = recipe.settings.get("model")
    if model is not None and at_hand(model) is None:
        return f"the model {model} is not here; put it into the folder that LABKIT_MODELS names"
    return ""


def _settings(recipe: Recipe, data: str, *, quick: bool, published: bool) -> dict[str, Any]:
    """The recipe's own and those for this data; in the place of some what --quick or published data ask for."""
    made = dict(recipe.settings) | dict(recipe.on.get(data, {}))
    made |= dict(recipe.quick if quick else recipe.published if published else {})
    if "model" in made:
        made["model"] = at_hand(made["model"]) or made["model"]
    return made


def _same(side: Mapping[str, Any]) -> dict[str, Any]:
    """What a side is, without how long it is trained on published data."""
    return {name: value for name, value in side.items() if name == "rule"}


def _notes(table: Table, desk: Desk, published: bool) -> list[str]:
    """What is left out for want of data, and how the data differ from the paper's."""
    wanted = list(dict.fromkeys([*table.data, *(name for row in table.rows if row.recipe for name in row.recipe.also)]))
    if not published and not desk.quick and desk.folder is not None:
        lacks = ", ".join(dict.fromkeys(lack for name in wanted for lack in desk.missing(name)))
        said = [f"on the embedded corpora, since the data folder lacks {lacks}"]
    else:
        said = []
    left = [f"{name} is left out: {reason}" for name in wanted if (reason := desk.why_not(name, published=published))]
    differ = [f"{name}: {DATASETS[name].note}" for name in wanted if published and DATASETS[name].note]
    return (
        said + left + [note for note in differ if not any(line.startswith(note.split(":")[0] + " is") for line in left)]
    )


def recipe_name(recipe: Recipe) -> str:
    """The name of its function, wherever that stands."""
    return recipe.run.__qualname__


def corpora_of(cell: Cell) -> dict[str, Corpus]:
    """The further corpora of a cell, by name."""
    return {name: found.corpus for name, found in cell.also.items()}


def cells_of(plans: Sequence[TablePlan], rows: str = "") -> list[Cell]:
    """The cells of several plans, each once, the first seeds first; only of rows that `rows` names."""
    found = {
        cell.fingerprint: cell
        for each in plans
        for part in each.parts
        if part.row.name in rows_named(each.table, rows)
        for cell in part.cells
    }
    return sorted(found.values(), key=lambda cell: cell.seed)


def rows_named(table: Table, text: str) -> list[str]:
    """The row of this name; where there is none, all whose names hold the text."""
    names = [row.name for row in table.rows]
    exact = [name for name in names if name.casefold() == text.casefold()]
    return exact or [name for name in names if text.casefold() in name.casefold()]


# --- computing ---------------------------------------------------------------------------------------------------


@dataclass
class Computed:
    """What is known of each cell after `run`, and why the others are not known."""

    known: dict[str, Known] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)  # fingerprint -> what data it lacks
    broken: dict[str, Exception] = field(default_factory=dict)  # fingerprint -> a fault of the recipe
    expected: dict[str, float] = field(default_factory=dict)  # fingerprint -> seconds, of what was not known
    left: list[Cell] = field(default_factory=list)  # over the budget
    interrupted: int = 0  # the exit status that belongs to the signal
    computed: int = 0


def estimate(plans: Sequence[TablePlan], store: CellStore, rows: str = "") -> float:
    """Seconds that what is not known yet will take."""
    return sum(store.seconds(cell) for cell in cells_of(plans, rows) if store.find(cell) is None)


def run(
    plans: Sequence[TablePlan],
    store: CellStore,
    *,
    rows: str = "",
    budget: float | None = None,
    progress: Progress = silent,
) -> Computed:
    """Compute what is not known yet, of rows whose name holds `rows`; with a budget of 0, nothing."""
    made = Computed()
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


def _one(cell: Cell, store: CellStore, made: Computed, memory: dict[str, Method], progress: Progress) -> None:
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


def _shortest_first(todo: Sequence[Cell], store: CellStore) -> list[Cell]:
    """The cells in order of how long all that is missing of their row takes; the seeds of one row stay together."""
    whole: dict[str, float] = {}
    for cell in todo:
        whole[cell.like] = whole.get(cell.like, 0.0) + store.seconds(cell)
    return sorted(todo, key=lambda cell: (whole[cell.like], cell.like, cell.seed))


def _check_budget(todo: Sequence[Cell], store: CellStore, budget: float) -> None:
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

"""The cells of tables, and the engine that computes them.

    cell = (recipe, data set, seed), named by a fingerprint of all that its figures depend on

`run` computes cells one after the other, whoever asks for them: `labkit reproduce` the papers' tables, the course its
ablations. What is known is taken from the store, what does not fit the budget is left. Ctrl-C ends it between or within
cells; what is done by then is in the store and in what `run` returns.

`plan` lists the cells of a paper's table, and the rows that cannot be computed, with the reason. Rows that need the
same cell share it, within a table and across. The first seed of every row comes before the second of any; with a
budget the shortest rows come first, each with all its seeds, so that as many as possible are whole.

In: cells, or tables and a `Desk` whose `plan` has cells; a store. Out: `Computed`, what is known of each cell now, what
was left and why.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.util import find_spec
from math import inf
from pathlib import Path
from typing import Any

from labkit.experiment import digest, versions_of
from labkit.lab.papers.data import DATASETS, DataAtHand, Desk, Missing
from labkit.lab.papers.fair import chosen_on_dev, decisive, dials_of, tuning_of
from labkit.lab.papers.recipes import Case
from labkit.lab.papers.recipes.scoring import at_hand
from labkit.lab.papers.records import Recipe, Row, Table
from labkit.lab.papers.store import CellStore, Known
from labkit.method import Method
from labkit.progress import Progress, lasting, silent
from labkit.scale import one_thread

MINIMUM = 0.2  # seconds that the smallest cell is expected to take


@dataclass(frozen=True, eq=False)
class Cell:
    """One recipe on one data set with one seed; `label` is what a person calls it, in the place of the method's name.

    `settings` are those it is computed with: the recipe's own, and what its data, or --quick, put in their place.
    """

    recipe: Recipe
    data: DataAtHand
    also: Mapping[str, DataAtHand]
    seed: int
    settings: Mapping[str, Any]
    quick: bool = False
    sides: tuple[Mapping[str, Any], ...] = ()
    label: str = ""
    tunings: tuple[Cell, ...] = ()  # that choose the rest of its settings, of several networks one each

    def __str__(self) -> str:
        what = self.label or self.recipe.method or self._function.replace("_", " ")
        return f"{what}, {self.data.title}, seed {self.seed}"

    @cached_property
    def fingerprint(self) -> str:
        """The same for cells whose figures must be the same, on whichever machine."""
        return digest(self.kind | {"seed": self.seed})

    @property
    def kind(self) -> dict[str, Any]:
        """All but the seed: recipe, method, every setting, data, and the versions that people state."""
        corpora, settings = {"data": self.data, **self.also}, self._complete(self.settings)
        return {
            "recipe": self._function,
            "method": self.recipe.method,
            "settings": settings,
            "sides": [self._complete({**self.settings, **side}) for side in self.sides],
            "data": {name: data.fingerprint for name, data in corpora.items()},
            **({"order": [*self.also]} if [*self.also] != sorted(self.also) else {}),  # of two networks each has one
            "versions": versions_of(self.recipe.entry, settings),
            **({"quick": True} if self.quick else {}),  # recipes may try less, and small data are the same data
            **({"tunings": [tuning.kind for tuning in self.tunings]} if self.tunings else {}),
            **decisive(self.recipe, self.settings, _rows_of_trials(self.data), quick=self.quick),
        }

    def _complete(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """The settings, the method's defaults among them; a model by its name, wherever it lies."""
        named = dict(settings) | {name: value for name, value in self.recipe.settings.items() if name == "model"}
        if self.recipe.entry is None:
            return named
        # the defaults of what is tried decide nothing
        tried = dials_of(self.recipe, settings) if self.tunings or self.recipe.run is chosen_on_dev else {}
        settings = self.recipe.entry(**named).settings.values()
        return {name: value for name, value in settings.items() if name not in tried}

    @property
    def like(self) -> str:
        """The kind's name among recorded times: code and data may have changed a little since."""
        about = {"recipe": self._function, "method": self.recipe.method, "settings": dict(self.settings)}
        return digest(about | {"data": self.data.title, "size": self.size})[:20]

    @property
    def size(self) -> int:
        """Rows that are learned from."""
        return next(iter(self.also.values()), self.data).learned

    @property
    def guess(self) -> float:
        """Seconds, before anything like it has been timed."""
        epochs = self.settings.get("epochs", 10) if self.recipe.quick.get("epochs") else 10
        return max(MINIMUM, self.recipe.cost * self.size / 1000 * epochs / 10)

    @property
    def _function(self) -> str:
        """The name of the recipe's function, wherever that stands."""
        return self.recipe.run.__qualname__

    def case(
        self,
        progress: Progress = silent,
        *,
        chosen: Sequence[Mapping[str, Any]] = (),
        runs: Path | None = None,
        memory: dict[str, Method] | None = None,
    ) -> Case:
        """What its recipe works with; trainings are kept in the folder `runs`, if there is one, and taken from it.

        `chosen` are the settings that its tunings have found.
        """
        settings, sides = self.settings, self.sides
        if chosen and sides:
            sides = tuple({**side, **found} for side, found in zip(sides, chosen, strict=True))
        elif chosen:
            settings = {**settings, **chosen[0]}
        return Case(
            self.recipe.method,
            self.data.corpus,
            settings,
            self.seed,
            self.recipe.methods,
            also={name: data.corpus for name, data in self.also.items()},
            runs=runs,
            progress=progress,
            quick=self.quick,
            memory={} if memory is None else memory,
            sides=sides,
            first=self.recipe.first,
        )


# --- the cells of a table ----------------------------------------------------------------------------------------


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
    """What of a table can be computed on this desk; the row or else the table says with how many seeds."""
    published = desk.published(table.data)
    parts = [
        _part(row, data, desk, published=published, seeds=seeds, usual=table.seeds)
        for row in table.rows
        for data in table.data
    ]
    return TablePlan(table, published, tuple(parts), tuple(_notes(table, desk, published)))


def _part(row: Row, data: str, desk: Desk, *, published: bool, seeds: int | None, usual: int) -> RowPart:
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
    count = 1 if not row.recipe.random else seeds or (1 if desk.quick else row.recipe.seeds or usual)
    sides = tuple(side if published and not desk.quick else _same(side) for side in row.recipe.sides)
    cells = [Cell(row.recipe, opened, also, seed, settings, desk.quick, sides) for seed in range(count)]
    if row.recipe.tuned:
        tunings = tunings_of(cells[0])
        cells = [replace(cell, tunings=tunings) for cell in cells]
    return RowPart(row, data, tuple(cells))


def tunings_of(cell: Cell) -> tuple[Cell, ...]:
    """The cells that choose the settings of this one, of several networks one each, on the data each learns from."""
    learned = [*cell.also.values()] or [cell.data]
    label = f"trials of {cell.recipe.method}"
    tunings = []
    for place, side in enumerate(cell.sides or ({},)):
        data = learned[place % len(learned)]
        recipe = tuning_of(cell.recipe, _rows_of_trials(data), quick=cell.quick)
        tunings.append(Cell(recipe, data, {}, 0, {**cell.settings, **side}, cell.quick, label=label))
    return tuple(tunings)


def _rows_of_trials(data: DataAtHand) -> float:
    """How many rows trials on this data could learn from, as far as that decides how they are made."""
    return inf if data.articles else data.sizes.get("train", 0)


def why_not(recipe: Recipe) -> str:
    """Why a recipe cannot run on this machine, whatever the data; empty where it can."""
    lent = recipe.method in ("sbert", "static") or recipe.settings.get("encoder") == "transformer"
    if lent and find_spec("sentence_transformers") is None:
        return "needs sentence-transformers: pip install sentence-transformers"
    model = recipe.settings.get("model")
    if model is not None and at_hand(model) is None:
        return f"the model {model} is not here; put it into the folder that LABKIT_MODELS names"
    return ""


def _settings(recipe: Recipe, data: str, *, quick: bool, published: bool) -> dict[str, Any]:
    """The recipe's own and those for this data; in the place of some what --quick or published data ask for."""
    settings = dict(recipe.settings) | dict(recipe.on.get(data, {}))
    settings |= dict(recipe.quick if quick else recipe.published if published else {})
    if "model" in settings:
        settings["model"] = at_hand(settings["model"]) or settings["model"]
    return settings


def _same(side: Mapping[str, Any]) -> dict[str, Any]:
    """What a side is, without how long it is trained on published data."""
    return {name: value for name, value in side.items() if name == "rule"}


def _notes(table: Table, desk: Desk, published: bool) -> list[str]:
    """What is left out for want of data, and how the data differ from the paper's."""
    wanted = list(dict.fromkeys([*table.data, *(name for row in table.rows if row.recipe for name in row.recipe.also)]))
    notes = []
    lacks = ", ".join(dict.fromkeys(lack for name in wanted for lack in desk.missing(name)))
    if lacks and not published and not desk.quick and desk.folder is not None:
        notes.append(f"on the embedded corpora, since the data folder lacks {lacks}")
    left_out = {name: reason for name in wanted if (reason := desk.why_not(name, published=published))}
    notes += [f"{name} is left out: {reason}" for name, reason in left_out.items()]
    differ = {name: DATASETS[name].note for name in wanted if published and name not in left_out}
    return notes + [f"{name}: {note}" for name, note in differ.items() if note]


def cells_of(plans: Sequence[TablePlan], rows: str = "") -> list[Cell]:
    """The cells of several plans, each once, the first seeds first; only of rows that `rows` names."""
    cells = {
        cell.fingerprint: cell
        for each in plans
        for part in each.parts
        if part.row.name in rows_named(each.table, rows)
        for cell in part.cells
    }
    return sorted(cells.values(), key=lambda cell: cell.seed)


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
    interrupted: KeyboardInterrupt | None = None  # what ended it before its time


def estimate(cells: Iterable[Cell], store: CellStore) -> float:
    """Seconds that what is not known yet will take, and the tunings that it needs."""
    unknown = [cell for cell in cells if store.find(cell) is None]
    return sum(store.seconds(cell) for cell in with_tunings(unknown) if store.find(cell) is None)


def with_tunings(cells: Iterable[Cell]) -> list[Cell]:
    """The cells, and before the first that needs them those that choose its settings; each once."""
    needed = (each for cell in cells for each in (*cell.tunings, cell))
    return [*{cell.fingerprint: cell for cell in needed}.values()]


def run(
    cells: Sequence[Cell],
    store: CellStore,
    *,
    only: Sequence[Cell] | None = None,
    budget: float | None = None,
    anew: bool = False,
    runs: Path | None = None,
    progress: Progress = silent,
) -> Computed:
    """Compute what is not known yet of these cells, or of `only` some of them; with a budget of 0, nothing.

    With `anew` nothing counts as known. Long trainings are kept in the folder `runs`, if there is one: what was
    interrupted goes on where it stopped, and another cell that needs the same one opens it.
    """
    outcome = Computed()
    for cell in with_tunings(cells):
        if anew or not _found(cell, store, outcome):
            outcome.expected[cell.fingerprint] = store.seconds(cell)
    wanted = {cell.fingerprint: cell for cell in (cells if only is None else only)}
    todo = [cell for name, cell in wanted.items() if name in outcome.expected]
    if budget is not None:
        _check_budget(todo, outcome.expected, budget)
        todo = _shortest_first(todo, outcome.expected)
    todo = [cell for cell in with_tunings(todo) if cell.fingerprint in outcome.expected]
    begun = time.monotonic()
    memory: dict[str, Method] = {}
    clock = _Clock(progress)
    for number, cell in enumerate(todo):
        expected = store.seconds(cell)
        chosen = [outcome.known[each.fingerprint].notes["chosen"] for each in _known(cell.tunings, outcome)]
        if (budget is not None and time.monotonic() - begun + expected > budget) or len(chosen) < len(cell.tunings):
            _leave(cell, outcome)
            continue
        if not anew and _found(cell, store, outcome):  # by now: another process may compute the same table
            continue
        try:
            with clock.cell(str(cell), expected, sum(map(store.seconds, todo[number:]))) as inner:
                _compute(cell, store, outcome, chosen, runs, memory, inner)
        except KeyboardInterrupt as interruption:
            outcome.interrupted = interruption
            break
    return outcome


def _known(cells: Iterable[Cell], outcome: Computed) -> list[Cell]:
    return [cell for cell in cells if cell.fingerprint in outcome.known]


def _found(cell: Cell, store: CellStore, outcome: Computed) -> bool:
    """Whether the store has the cell, which is noted."""
    known = store.find(cell)
    if known is None or not _by_this_choice(cell, known, outcome):
        return False
    outcome.known[cell.fingerprint] = known
    return True


def _by_this_choice(cell: Cell, known: Known, outcome: Computed) -> bool:
    """Whether a cell has the settings that its tunings chose: one that was tuned anew elsewhere may have others, and
    one that does not say what was chosen may not have been tuned at all."""
    chosen = [outcome.known[each.fingerprint].notes["chosen"] for each in _known(cell.tunings, outcome)]
    said = known.notes.get("chosen")
    return said == chosen if chosen else bool(said) or not cell.tunings


def _leave(cell: Cell, outcome: Computed) -> None:
    """Note why a cell is not computed: its tuning lacks data, or failed, or there is no time for one of the two."""
    for tuning in cell.tunings:
        if tuning.fingerprint in outcome.failed:
            outcome.failed[cell.fingerprint] = outcome.failed[tuning.fingerprint]
            return
        if tuning.fingerprint in outcome.broken:
            outcome.broken[cell.fingerprint] = outcome.broken[tuning.fingerprint]
            return
    outcome.left.append(cell)


def _compute(
    cell: Cell,
    store: CellStore,
    computed: Computed,
    chosen: Sequence[Mapping[str, Any]],
    runs: Path | None,
    memory: dict[str, Method],
    progress: Progress,
) -> None:
    """One cell; a row whose data are missing is noted, and so is a fault of its recipe, and neither stops the others.

    One thread computes it: with two, sums are added up in another order, and trainings end elsewhere.
    """
    try:
        with warnings.catch_warnings(), one_thread():
            warnings.simplefilter("ignore", UserWarning)  # of each of many trainings, said where they are made by hand
            # reads data, which other cells need not do again
            case = cell.case(progress, chosen=chosen, runs=runs, memory=memory)
            begun, busy = time.monotonic(), time.process_time()
            outcome = cell.recipe.run(case)
            if chosen:
                outcome = replace(outcome, notes={**outcome.notes, "chosen": list(map(dict, chosen))})
    except Missing as reason:
        computed.failed[cell.fingerprint] = " ".join(str(reason).split())
        return
    except Exception as fault:  # ours: kept apart from missing data, and raised when all else is done
        fault.add_note(f"in the cell {cell}")
        computed.broken[cell.fingerprint] = fault
        return
    # on a machine that others use, the processor's time is nearer to what it takes than the clock's
    seconds = min(time.monotonic() - begun, time.process_time() - busy)
    computed.known[cell.fingerprint] = store.keep(cell, outcome, seconds)


def _shortest_first(todo: Sequence[Cell], expected: Mapping[str, float]) -> list[Cell]:
    """The cells in order of how long all that is missing of their row takes; the seeds of one row stay together."""
    rows: dict[str, list[Cell]] = {}
    for cell in todo:
        rows.setdefault(cell.like, []).append(cell)
    whole = {like: _seconds(with_tunings(cells), expected) for like, cells in rows.items()}
    return sorted(todo, key=lambda cell: (whole[cell.like], cell.like, cell.seed))


def _check_budget(todo: Sequence[Cell], expected: Mapping[str, float], budget: float) -> None:
    first = with_tunings(cell for cell in todo if cell.seed == todo[0].seed)
    # of any seed, since others may have been computed; of what has to be tuned, that comes first
    shortest = min((_seconds(cell.tunings, expected) or _seconds([cell], expected) for cell in todo), default=0.0)
    if budget and shortest > budget:
        raise ValueError(
            f"--budget is {lasting(budget)}, but one seed takes about {lasting(_seconds(first, expected))}, and its "
            f"shortest row {lasting(shortest)}; give at least that, or try --quick"
        )


def _seconds(cells: Iterable[Cell], expected: Mapping[str, float]) -> float:
    """The seconds that those of them will take that are not known."""
    return sum(expected.get(cell.fingerprint, 0.0) for cell in cells)


class _Clock:
    """Progress in expected seconds, so that the time left is that of the cells and not of their number."""

    def __init__(self, progress: Progress) -> None:
        self._progress, self._done = progress, 0.0

    @contextmanager
    def cell(self, name: str, expected: float, left: float) -> Iterator[Progress]:
        """The progress of one cell, which moves the clock on by its share of what is `left`, itself included."""
        total = max(1, round(self._done + left))  # known better with every cell that was timed

        def tell(share: float, what: str) -> None:
            self._progress(min(round(self._done + share * expected), total), total, what)

        tell(0, name)
        try:
            yield lambda done, of, what: tell(min(done / of, 1.0) if of else 0.0, f"{name}: {what}")
        finally:
            tell(1, name)
            self._done += expected

"""The cells of tables, and how they are computed.

    cell = (recipe, data set, seed), with a key that is a digest of everything its results depend on

`plan` lists the cells of a paper's table, and the rows that cannot be computed, with the reason. `compute` computes
cells one by one, for the papers' tables (`labkit reproduce`) and the course's ablations. Stored cells are reused.
Ctrl-C may come at any time; finished cells are in the store and in the result of `compute`. Rows that need the same
cell share it, also across tables. The first seed of every row comes before the second of any.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from labkit.experiment import digest, versions_of
from labkit.method import Method
from labkit.papers.cell_store import Store
from labkit.papers.data import DATASETS, DataAtHand, Desk, Missing
from labkit.papers.fair import Tuning, space_of
from labkit.papers.recipes import Case
from labkit.papers.recipes.scoring import at_hand
from labkit.papers.records import Recipe, Row, Table
from labkit.progress import Progress, silent
from labkit.scale import one_thread
from labkit.trials.engine import Result


@dataclass(frozen=True, eq=False)
class Cell:
    """One recipe on one data set with one seed; `settings` and `tries` are the recipe's and those for its data."""

    recipe: Recipe
    data: DataAtHand
    also: Mapping[str, DataAtHand]
    seed: int
    settings: Mapping[str, Any]
    tries: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    def __str__(self) -> str:
        what = self.recipe.method or self.recipe.run.__qualname__.replace("_", " ")
        return f"{what}, {self.data.title}, seed {self.seed}"

    @cached_property
    def key(self) -> str:
        """Equal for cells that must give the same results on any machine."""
        return digest(self.about)

    @property
    def about(self) -> dict[str, Any]:
        """Everything that determines its results: recipe, method, all settings, data, seed and versions."""
        settings = self._complete(self.settings)
        return {
            "recipe": self.recipe.run.__qualname__,
            "method": self.recipe.method,
            "settings": settings,
            "sides": [self._complete({**self.settings, **side}) for side in self.recipe.sides],
            "data": [[name, data.fingerprint] for name, data in (("data", self.data), *self.also.items())],
            "versions": versions_of(self.recipe.entry, settings),
            "tunings": [tuning.key for tuning in self.tunings],
            "quick": self.data.quick,  # quick recipes try fewer settings, and small data are the same data
            "seed": self.seed,
        }

    def _complete(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """The settings completed with the method's defaults, except for tuned ones; a model is given by name."""
        named = dict(settings) | {name: value for name, value in self.recipe.settings.items() if name == "model"}
        if self.recipe.entry is None:
            return named
        tried = space_of(self.recipe.entry, settings, self.tries) if self.recipe.first is not None else {}
        usual = self.recipe.entry(**named).settings.decisive()
        return {name: value for name, value in usual.items() if name not in tried}

    @cached_property
    def tunings(self) -> tuple[Tuning, ...]:
        """The tunings that choose its other settings, one per network, each on the data that network learns from."""
        recipe = self.recipe
        if recipe.first is None:
            return ()
        learned = [*self.also.values()] or [self.data]
        return tuple(
            Tuning(
                recipe.method,
                {**self.settings, **side},
                learned[place % len(learned)],
                recipe.first,
                recipe.methods,
                self.tries,
            )
            for place, side in enumerate(recipe.sides or ({},))
        )

    def compute(
        self,
        chosen: Sequence[Mapping[str, Any]],
        *,
        runs: Path | None = None,
        memory: dict[str, Method] | None = None,
        progress: Progress = silent,
    ) -> Result:
        """Compute its scores with the settings that its tunings chose, which the notes keep."""
        result = self.recipe.run(self.case(progress, chosen=chosen, runs=runs, memory=memory))
        return replace(result, notes={**result.notes, "chosen": list(map(dict, chosen))}) if chosen else result

    def case(
        self,
        progress: Progress = silent,
        *,
        chosen: Sequence[Mapping[str, Any]] = (),
        runs: Path | None = None,
        memory: dict[str, Method] | None = None,
    ) -> Case:
        """The input of its recipe; trainings are stored in the folder `runs`, if given, and reused.

        `chosen` are the settings that its tunings found.
        """
        settings, sides = self.settings, self.recipe.sides
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
            quick=self.data.quick,
            memory={} if memory is None else memory,
            sides=sides,
        )


# --- the cells of a table ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class RowPart:
    """The cells of one row on one data set, one per seed; or the reason why there are none."""

    row: Row
    data: str
    cells: tuple[Cell, ...] = ()
    why_not: str = ""


@dataclass(frozen=True, eq=False)
class TablePlan:
    """The parts of a table."""

    table: Table
    published: bool
    parts: tuple[RowPart, ...]
    notes: tuple[str, ...]

    @property
    def possible(self) -> int:
        """The number of rows that can be computed at least in part."""
        return len({part.row.name for part in self.parts if part.cells})


def plan(table: Table, desk: Desk, seeds: int | None = None) -> TablePlan:
    """The part of a table that can be computed with this desk; the row or else the table gives the number of seeds."""
    published = desk.published(table.data)
    parts = [
        _part(row, data, desk, published=published, seeds=seeds or (1 if desk.quick else None), usual=table.seeds)
        for row in table.rows
        for data in table.data
    ]
    return TablePlan(table, published, tuple(parts), tuple(_notes(table, desk, published)))


def _part(row: Row, data: str, desk: Desk, *, published: bool, seeds: int | None, usual: int) -> RowPart:
    recipe = row.recipe
    if recipe is None:
        return RowPart(row, data, why_not=row.why_not)
    names = (data, *recipe.also)
    reason = why_not(recipe) or next(filter(None, (desk.why_not(name, published=published) for name in names)), "")
    if reason:
        return RowPart(row, data, why_not=reason)
    opened, *others = (desk.open(name, published=published) for name in names)
    settings = {**recipe.settings, **recipe.on.get(data, {})}
    if "model" in settings:
        settings["model"] = at_hand(settings["model"]) or settings["model"]
    if desk.quick:
        recipe, settings = _quick(recipe, settings)
    count = (seeds or recipe.seeds or usual) if recipe.random else 1
    also = dict(zip(recipe.also, others, strict=True))
    tries = recipe.tries.get(data, {})
    return RowPart(row, data, tuple(Cell(recipe, opened, also, seed, settings, tries) for seed in range(count)))


def _quick(recipe: Recipe, settings: dict[str, Any]) -> tuple[Recipe, dict[str, Any]]:
    """The same without tuning and with one epoch, if it has epochs."""
    sides = tuple({**side, "epochs": 1} if "epochs" in side else side for side in recipe.sides)
    if recipe.entry is not None and recipe.entry(**settings).settings.values().get("epochs"):
        settings = settings | {"epochs": 1}
    return replace(recipe, first=None, sides=sides), settings


def why_not(recipe: Recipe) -> str:
    """Why a recipe cannot run on this machine with any data; empty if it can."""
    lent = recipe.method in ("sbert", "static") or recipe.settings.get("encoder") == "transformer"
    if lent and find_spec("sentence_transformers") is None:
        return 'needs sentence-transformers: pip install "labkit-embeddings[sbert]"'
    model = recipe.settings.get("model")
    if model is not None and at_hand(model) is None:
        return f"the model {model} is not here; put it into the folder that LABKIT_MODELS names"
    return ""


def _notes(table: Table, desk: Desk, published: bool) -> list[str]:
    """The parts that lack data, and how the data differ from the paper's."""
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
    """The distinct cells of several plans, first seeds first; only for rows matching `rows`."""
    cells = {
        cell.key: cell
        for each in plans
        for part in each.parts
        if part.row.name in rows_named(each.table, rows)
        for cell in part.cells
    }
    return sorted(cells.values(), key=lambda cell: cell.seed)


def rows_named(table: Table, text: str) -> list[str]:
    """The row with this name or, if there is none, all rows whose names contain the text."""
    names = [row.name for row in table.rows]
    exact = [name for name in names if name.casefold() == text.casefold()]
    return exact or [name for name in names if text.casefold() in name.casefold()]


# --- computing ---------------------------------------------------------------------------------------------------


@dataclass
class Computed:
    """The results of cells and tunings by key, and why others are missing."""

    known: dict[str, Result] = field(default_factory=dict)
    fresh: list[Cell] = field(default_factory=list)  # computed in this call
    failed: dict[str, str] = field(default_factory=dict)  # key -> the missing data
    broken: dict[str, Exception] = field(default_factory=dict)  # key -> an error in the recipe
    interrupted: KeyboardInterrupt | None = None  # what interrupted it


def stored(cells: Iterable[Cell], store: Store) -> dict[str, Result]:
    """The stored results of these cells and of their tunings."""
    known: dict[str, Result] = {}
    for cell in cells:
        for key in (*(tuning.key for tuning in cell.tunings), cell.key):
            if key not in known and (found := store.find(key)) is not None:
                known[key] = found
        if cell.key in known and not _by_this_choice(cell, known):
            del known[cell.key]
    return known


def _by_this_choice(cell: Cell, known: Mapping[str, Result]) -> bool:
    """Whether a cell has the settings that its tunings chose; a repeated tuning may have chosen others."""
    chosen = [known[tuning.key].notes["chosen"] for tuning in cell.tunings if tuning.key in known]
    said = known[cell.key].notes.get("chosen", [])
    return said == chosen if chosen else bool(said) == bool(cell.tunings)


def compute(
    cells: Sequence[Cell],
    store: Store,
    *,
    again: bool = False,
    runs: Path | None = None,
    progress: Progress = silent,
) -> Computed:
    """Take the cells from the store or compute them; `again` computes all of them.

    Long trainings are stored in the folder `runs`, if given: interrupted ones resume there, and other cells reuse them.
    A row with missing data or a faulty recipe is noted and does not stop the others.
    """
    job = _Job(store, again, runs)
    for number, cell in enumerate(cells):

        def tell(at: int, of: int | None, what: str, number: int = number, cell: Cell = cell) -> None:
            progress(number, len(cells), f"{cell}: {what}")

        progress(number, len(cells), str(cell))
        try:
            _obtain(cell, job, tell)
        except KeyboardInterrupt as interruption:
            job.done.interrupted = interruption
            break
        except Missing as reason:
            job.done.failed[cell.key] = " ".join(str(reason).split())
        except Exception as fault:  # our bug: kept apart from missing data, and raised at the end
            fault.add_note(f"in the cell {cell}")
            job.done.broken[cell.key] = fault
    return job.done


@dataclass(frozen=True)
class _Job:
    """The state that all cells of one call share."""

    store: Store
    again: bool
    runs: Path | None
    memory: dict[str, Method] = field(default_factory=dict)
    done: Computed = field(default_factory=Computed)
    hopeless: dict[str, Exception] = field(default_factory=dict)  # tunings whose trials all failed


def _obtain(item: Cell | Tuning, job: _Job, progress: Progress) -> Result:
    """The result of a cell (after its tunings) or of a tuning: stored, or computed and stored."""
    if item.key in job.hopeless:  # do not repeat sixteen trials for each seed
        raise job.hopeless[item.key]
    if item.key not in job.done.known:
        tunings = item.tunings if isinstance(item, Cell) else ()
        chosen = [_obtain(tuning, job, progress).notes["chosen"] for tuning in tunings]
        found = None if job.again else job.store.find(item.key)
        if found is None or (tunings and found.notes.get("chosen") != chosen):
            found = job.store.keep(item.key, _computed(item, chosen, job, progress), item.about)
            job.done.fresh += [item] if isinstance(item, Cell) else []
        job.done.known[item.key] = found
    return job.done.known[item.key]


def _computed(item: Cell | Tuning, chosen: Sequence[Mapping[str, Any]], job: _Job, progress: Progress) -> Result:
    """Compute with one thread, because two would sum in another order."""
    begun, busy = time.monotonic(), time.process_time()
    try:
        with warnings.catch_warnings(), one_thread():
            warnings.simplefilter("ignore", UserWarning)  # repeated by each of many trainings
            if isinstance(item, Tuning):
                result = item.compute(job.runs, progress)
            else:
                result = item.compute(chosen, runs=job.runs, memory=job.memory, progress=progress)
    except ValueError as fault:
        if isinstance(item, Tuning) and not isinstance(fault, Missing):
            job.hopeless[item.key] = fault
        raise
    # on a shared machine CPU time is a better measure than wall-clock time
    seconds = min(time.monotonic() - begun, time.process_time() - busy)
    figures = {name: float(value) for name, value in result.figures.items() if math.isfinite(value)}
    return replace(result, figures=figures, seconds=seconds)

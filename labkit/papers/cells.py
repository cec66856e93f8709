"""The cells of tables, and how they are computed and stored.

    cell = (recipe, data set, seed); its key is a digest of everything that determines its results

`plan` lists the cells of a paper's table, and the rows that cannot be computed, with the reason. `compute` computes
cells one by one, for the papers' tables (`labkit reproduce`) and the course's ablations, and reuses what a `Store` has:
one JSON file each in the user's folder, as in `labkit.trials.engine`, or a line of the bundled file. `compute` can be
interrupted at any time; finished cells are in the store and in its result. Rows that need the same cell share it, even
across tables. The first seeds of all rows are computed before any second seed.
"""

from __future__ import annotations

import json
import math
import os
import platform
import subprocess
import time
import warnings
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch

from labkit.corpora.catalogue import DATA
from labkit.experiment import digest, versions_of
from labkit.papers.data import DATASETS, DataAtHand, Desk, Missing, default_folder, read_json, write_json
from labkit.papers.fair import Tuning, space_of
from labkit.papers.recipes import Case
from labkit.papers.recipes.cross_encoders import read_together
from labkit.papers.recipes.scoring import at_hand
from labkit.papers.records import CLAIM_SEEDS, Recipe, Row, Table
from labkit.progress import Progress, silent
from labkit.scale import one_thread
from labkit.trials.engine import TRIALS, Result

BUNDLED = DATA / "cells.jsonl"


@dataclass(frozen=True, eq=False)
class Cell:
    """One recipe on one data set with one seed; `settings` and `tries` are the recipe's and those for its data.

    With `per_seed` its tunings are its own, else they are shared by all seeds.
    """

    recipe: Recipe
    data: DataAtHand
    also: Mapping[str, DataAtHand]
    seed: int
    settings: Mapping[str, Any]
    tries: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    per_seed: bool = False

    def __str__(self) -> str:
        what = self.recipe.method or self.recipe.run.__qualname__.replace("_", " ")
        return f"{what}, {self.data.title}, seed {self.seed}"

    @cached_property
    def key(self) -> str:
        """A digest that is equal for cells that must give the same results on any machine."""
        return digest(self.about)

    @property
    def about(self) -> dict[str, Any]:
        """Everything that determines the cell's results: recipe, method, all settings, data, seed and versions."""
        settings = self._complete(self.settings)
        return {
            "recipe": self.recipe.run.__qualname__,
            "method": self.recipe.method,
            "settings": settings,
            "sides": [self._complete({**self.settings, **side}) for side in self.recipe.sides],
            "data": [[name, data.fingerprint] for name, data in (("data", self.data), *self.also.items())],
            "versions": versions_of(self.recipe.entry, settings),
            "tunings": [tuning.key for tuning in self.tunings],
            "quick": self.data.quick,  # quick recipes try fewer settings, and small data may have the same fingerprint
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
        """The tunings that choose its other settings, one per network, each on the data of that network."""
        recipe = self.recipe
        if recipe.first is None:
            return ()
        learned = [*self.also.values()] or [self.data]
        own = self.seed if self.per_seed else None
        return tuple(
            Tuning(recipe, {**self.settings, **side}, learned[place % len(learned)], self.tries, own)
            for place, side in enumerate(recipe.sides or ({},))
        )

    def case(
        self, progress: Progress = silent, *, chosen: Sequence[Mapping[str, Any]] = (), runs: Path | None = None
    ) -> Case:
        """The input of its recipe. `chosen`: what its tunings found; trained runs are reused from the `runs` folder."""
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
            sides=sides,
        )


# --- the cells of a table ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class TablePlan:
    """The cells of a table by row and data set, one per seed, or the reason why there are none."""

    table: Table
    published: bool
    parts: Mapping[tuple[str, str], tuple[Cell, ...] | str]
    notes: tuple[str, ...]

    def cells(self, row: str, data: str) -> tuple[Cell, ...]:
        """The cells of a row on a data set."""
        part = self.parts[row, data]
        return () if isinstance(part, str) else part


def plan(table: Table, desk: Desk, seeds: int | None = None) -> TablePlan:
    """The part of a table that can be computed with this desk; the row, else the table, gives the number of seeds."""
    published = desk.published(table.data)
    parts = {(row.name, data): _part(table, row, data, desk, published, seeds) for row in table.rows
             for data in table.data}  # fmt: skip
    return TablePlan(table, published, parts, tuple(_notes(table, desk, published)))


def _part(table: Table, row: Row, data: str, desk: Desk, published: bool, seeds: int | None) -> tuple[Cell, ...] | str:
    recipe = row.recipe
    if recipe is None:
        return row.why_not
    names = (data, *recipe.also)
    if reason := why_not(recipe) or next(filter(None, (desk.why_not(name, published=published) for name in names)), ""):
        return reason
    opened, *others = (desk.open(name, published=published) for name in names)
    settings = {**recipe.settings, **recipe.on.get(data, {})}
    if "model" in settings:
        settings["model"] = at_hand(settings["model"]) or settings["model"]
    per_seed = data in recipe.per_seed
    count = seeds or (CLAIM_SEEDS if per_seed else recipe.seeds) or table.seeds
    if desk.quick:  # one seed, no tuning, and one epoch if it has epochs
        count = seeds or 1
        sides = tuple({**side, "epochs": 1} if "epochs" in side else side for side in recipe.sides)
        if recipe.entry is not None and recipe.entry(**settings).settings.values().get("epochs"):
            settings["epochs"] = 1
        recipe = replace(recipe, first=None, sides=sides)
    also, tries = dict(zip(recipe.also, others, strict=True)), recipe.tries.get(data, {})
    return tuple(
        Cell(recipe, opened, also, seed, settings, tries, per_seed) for seed in range(count if recipe.random else 1)
    )


def why_not(recipe: Recipe) -> str:
    """Why a recipe cannot run on this machine with any data; empty if it can run."""
    transformer = recipe.settings.get("encoder") == "transformer" or recipe.run is read_together
    if (transformer or recipe.method in ("sbert", "static")) and find_spec("sentence_transformers") is None:
        return 'needs sentence-transformers: pip install "labkit-embeddings[sbert]"'
    model = recipe.settings.get("model")
    if model is not None and at_hand(model) is None:
        return f"the model {model} is not available; put it in the folder named by LABKIT_MODELS"
    return ""


def _notes(table: Table, desk: Desk, published: bool) -> list[str]:
    """The parts that lack data, and how the data differ from the paper's."""
    wanted = list(dict.fromkeys([*table.data, *(name for row in table.rows if row.recipe for name in row.recipe.also)]))
    notes = []
    lacks = ", ".join(dict.fromkeys(lack for name in wanted for lack in desk.missing(name)))
    if lacks and not published and not desk.quick and desk.folder is not None:
        notes.append(f"on the bundled corpora, since the data folder lacks {lacks}")
    left_out = {name: reason for name in wanted if (reason := desk.why_not(name, published=published))}
    notes += [f"{name} is left out: {reason}" for name, reason in left_out.items()]
    differ = {name: DATASETS[name].note for name in wanted if published and name not in left_out}
    return notes + [f"{name}: {note}" for name, note in differ.items() if note]


def cells_of(plans: Sequence[TablePlan], rows: str = "") -> list[Cell]:
    """The distinct cells of several plans, first seeds first; only for rows matching `rows`."""
    cells = {
        cell.key: cell
        for each in plans
        for name in rows_named(each.table, rows)
        for data in each.table.data
        for cell in each.cells(name, data)
    }
    return sorted(cells.values(), key=lambda cell: cell.seed)


def rows_named(table: Table, text: str) -> list[str]:
    """The row with this name or, if there is none, all rows whose names contain the text."""
    names = [row.name for row in table.rows]
    exact = [name for name in names if name.casefold() == text.casefold()]
    return exact or [name for name in names if text.casefold() in name.casefold()]


# --- stored results ----------------------------------------------------------------------------------------------


class Store:
    """Results by key: those computed by this user, and bundled ones. A user's truncated file counts as missing."""

    def __init__(self, folder: Path | str | None = None, *, bundled: Path = BUNDLED) -> None:
        self.folder = default_folder() if folder is None else Path(folder)
        self._bundled = bundled

    def find(self, key: str) -> Result | None:
        """The result of this key: computed here, or bundled."""
        own, bundled = self._file(key), _lines(self._bundled).get(key)
        for file, record in ((own, read_json(own)), (self._bundled, bundled)):
            if record:
                try:
                    return Result.from_json(record)
                except (KeyError, TypeError, ValueError, zlib.error):
                    raise ValueError(f"{file}: the result {key} is damaged; restore or delete the file") from None
        return None

    def keep(self, key: str, result: Result, about: Mapping[str, Any]) -> Result:
        """Store the result with a description, the commit of the code and the machine."""
        kept = replace(result, notes={**result.notes, "about": dict(about), "commit": commit(), "host": host()})
        write_json(self._file(key), kept.to_json())
        return kept

    def _file(self, key: str) -> Path:
        return self.folder / TRIALS / f"{key}.json"


@cache
def host() -> str:
    """The machine, with its processor and GPU, which determine the order of sums and thus the rounding."""
    info = Path("/proc/cpuinfo")  # Linux
    lines = info.read_text("utf-8").splitlines() if info.is_file() else []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    model = next(named, platform.processor() or "unknown processor")
    gpu = f", {torch.cuda.get_device_name()}" if torch.cuda.is_available() else ""
    return f"{platform.system()} {platform.machine()}, {model}, {os.cpu_count()} processors{gpu}"


@cache
def commit() -> str:
    """The commit of this code, with a + if files have changed since; empty without a repository."""
    root = Path(__file__).resolve().parents[2]
    ask = ["git", "describe", "--always", "--abbrev=12", "--exclude=*", "--dirty=+"]
    try:
        return subprocess.run(ask, cwd=root, capture_output=True, text=True).stdout.strip() * (root / ".git").exists()
    except OSError:  # no git
        return ""


def as_lines(results: Mapping[str, Result]) -> str:
    """Results in the format of the file BUNDLED."""
    lines = (json.dumps({"key": key} | results[key].to_json(), ensure_ascii=False) for key in sorted(results))
    return "".join(f"{line}\n" for line in lines)


@cache
def _lines(path: Path) -> dict[str, dict[str, Any]]:
    """key -> record from a file of results."""
    records = {}
    for number, line in enumerate(path.read_text("utf-8").splitlines() if path.is_file() else (), 1):
        try:
            record = json.loads(line)
            records[record["key"]] = record
        except (ValueError, KeyError, TypeError):
            raise ValueError(f"{path}, line {number} is damaged, expected a result as JSON; restore the file") from None
    return records


# --- computing ---------------------------------------------------------------------------------------------------


@dataclass
class Computed:
    """The results of cells and tunings by key, and the reasons why others are missing: `Missing` data, or a bug."""

    known: dict[str, Result] = field(default_factory=dict)
    fresh: list[Cell] = field(default_factory=list)  # computed in this call
    failed: dict[str, Exception] = field(default_factory=dict)
    interrupted: KeyboardInterrupt | None = None

    @property
    def bugs(self) -> list[Exception]:
        """All failures except missing data."""
        return [reason for reason in self.failed.values() if not isinstance(reason, Missing)]


def stored(cells: Sequence[Cell], store: Store) -> dict[str, Result]:
    """The stored results of these cells and of their tunings."""
    found = compute(cells, store, only_stored=True)
    for reason in filter(None, (found.interrupted, *found.failed.values())):  # a damaged file
        raise reason
    return found.known


def compute(
    cells: Sequence[Cell],
    store: Store,
    *,
    again: bool = False,
    only_stored: bool = False,
    runs: Path | None = None,
    progress: Progress = silent,
) -> Computed:
    """Take the cells from the store or compute them; `again` computes all of them, `only_stored` computes none.

    Training runs are stored in the `runs` folder, if given: interrupted runs resume there, and other cells reuse them.
    A row with missing data or a faulty recipe is noted and does not stop the others.
    """
    done = Computed()

    def obtain(item: Cell | Tuning, tell: Progress) -> Result | None:
        """The result of a cell (after its tunings) or of a tuning: stored, or computed and stored."""
        if item.key in done.failed:  # do not repeat sixteen trials for each seed
            raise done.failed[item.key]
        if item.key in done.known:
            return done.known[item.key]
        tunings = [obtain(tuning, tell) for tuning in item.tunings] if isinstance(item, Cell) else []
        chosen = [found.notes["chosen"] for found in tunings if found]
        found = None if again else store.find(item.key)
        if found and chosen and found.notes.get("chosen") != chosen:  # its tunings have since chosen other settings
            found = None
        if not found and not only_stored:
            try:
                found = store.keep(item.key, _computed(item, chosen, runs, tell), item.about)
            except Exception as reason:
                done.failed[item.key] = reason
                raise
            done.fresh += [item] if isinstance(item, Cell) else []
        if found:
            done.known[item.key] = found
        return found

    for number, cell in enumerate(cells):

        def tell(at: int, of: int | None, what: str, number: int = number, cell: Cell = cell) -> None:
            progress(number, len(cells), f"{cell}: {what}")

        progress(number, len(cells), str(cell))
        try:
            obtain(cell, tell)
        except KeyboardInterrupt as interruption:
            done.interrupted = interruption
            break
        except Exception as reason:
            reason.add_note(f"in the cell {cell}")
            done.failed[cell.key] = reason
    return done


def _computed(item: Cell | Tuning, chosen: Sequence[Mapping[str, Any]], runs: Path | None, tell: Progress) -> Result:
    """Compute with one thread, because two would sum in another order; notes store the settings that trials chose."""
    begun, busy = time.monotonic(), time.process_time()
    with warnings.catch_warnings(), one_thread():
        warnings.simplefilter("ignore", UserWarning)  # repeated in each of many runs
        if isinstance(item, Tuning):
            result = item.compute(runs, tell)
        else:
            result = item.recipe.run(item.case(tell, chosen=chosen, runs=runs))
    # on a shared machine CPU time is a better measure than wall-clock time
    seconds = min(time.monotonic() - begun, time.process_time() - busy)
    figures = {name: float(value) for name, value in result.figures.items() if math.isfinite(value)}
    notes = {**result.notes, "chosen": list(map(dict, chosen))} if chosen else result.notes
    return replace(result, figures=figures, notes=notes, seconds=seconds)

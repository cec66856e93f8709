"""What there is to compute: a table's cells on the data at hand, and the rows that cannot be, with the reason.

    cell = (recipe, data set, seed), named by a fingerprint of all that its figures depend on

In: tables, a `Desk`, a number of seeds. Out: a `Plan`. Rows that need the same cell share it, within a table and
across.
"""

from __future__ import annotations

import base64
import json
import math
import subprocess
import time
import warnings
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from labkit.corpora import Corpus
from labkit.corpora.table import DATA
from labkit.evaluation import Parts
from labkit.experiment import digest, versions_of
from labkit.folders import in_place
from labkit.lab.papers.data import DATASETS, Desk, Missing, Opened, default_folder
from labkit.lab.papers.recipes import Case
from labkit.lab.papers.recipes.scoring import at_hand
from labkit.lab.papers.records import Outcome, Point, Recipe, Row, Table
from labkit.method import Method
from labkit.progress import Progress, lasting, silent

# --- planning ----------------------------------------------------------------------------------------------------

MINIMUM = 0.2  # seconds that the smallest cell is expected to take


@dataclass(frozen=True, eq=False)
class Cell:
    """One recipe on one data set with one seed."""

    recipe: Recipe
    data: Opened
    also: Mapping[str, Opened]
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
            "recipe": name_of(self.recipe),
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
        told = {"recipe": name_of(self.recipe), "method": self.recipe.method, "settings": dict(self.settings)}
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
class Part:
    """The cells of one row on one data set, a seed each; or the reason why there are none."""

    row: Row
    data: str
    cells: tuple[Cell, ...] = ()
    why_not: str = ""


@dataclass(frozen=True, eq=False)
class Plan:
    """A table's parts."""

    table: Table
    published: bool
    parts: tuple[Part, ...]
    notes: tuple[str, ...]

    @property
    def cells(self) -> list[Cell]:
        """Each cell once, the first seed of every row before the second of any."""
        return cells_of([self])

    @property
    def possible(self) -> int:
        """Rows of which something can be computed."""
        return len({part.row.name for part in self.parts if part.cells})


def plan(table: Table, desk: Desk, seeds: int | None = None) -> Plan:
    """What of a table can be computed on this desk; the table says with how many seeds, if nobody else does."""
    published = desk.published(table.data)
    count = seeds or (1 if desk.quick else table.seeds)
    parts = [_part(row, data, desk, published=published, seeds=count) for row in table.rows for data in table.data]
    return Plan(table, published, tuple(parts), tuple(_notes(table, desk, published)))


def _part(row: Row, data: str, desk: Desk, *, published: bool, seeds: int) -> Part:
    if row.recipe is None:
        return Part(row, data, why_not=row.why_not)
    reason = why_not(row.recipe) or next(
        filter(None, (desk.why_not(name, published=published) for name in (data, *row.recipe.also))), ""
    )
    if reason:
        return Part(row, data, why_not=reason)
    opened = desk.open(data, published=published)
    also = {name: desk.open(name, published=published) for name in row.recipe.also}
    settings = _settings(row.recipe, data, quick=desk.quick, published=published)
    count = seeds if row.recipe.random else 1
    sides = tuple(side if published and not desk.quick else _same(side) for side in row.recipe.sides)
    cells = (Cell(row.recipe, opened, also, seed, settings, desk.quick, sides) for seed in range(count))
    return Part(row, data, tuple(cells))


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
    """Of a side what it is, without how long it is trained on published data."""
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


def name_of(recipe: Recipe) -> str:
    """The name of its function, wherever that stands."""
    return recipe.run.__qualname__


def corpora_of(cell: Cell) -> dict[str, Corpus]:
    """The further corpora of a cell, by name."""
    return {name: found.corpus for name, found in cell.also.items()}


def cells_of(plans: Sequence[Plan], rows: str = "") -> list[Cell]:
    """The cells of several plans, each once, the first seeds first; only of rows that `rows` names."""
    found = {
        cell.fingerprint: cell
        for each in plans
        for part in each.parts
        if part.row.name in named(each.table, rows)
        for cell in part.cells
    }
    return sorted(found.values(), key=lambda cell: cell.seed)


def named(table: Table, text: str) -> list[str]:
    """The row of this name; where there is none, all whose names hold the text."""
    names = [row.name for row in table.rows]
    exact = [name for name in names if name.casefold() == text.casefold()]
    return exact or [name for name in names if text.casefold() in name.casefold()]


# --- store -------------------------------------------------------------------------------------------------------
#
# Cells on disk, named by their fingerprints: those that this user computed, and those that come with the lab.
#
#     the user's folder    a JSON file each, written whole or not at all; and how long cells took
#     KEPT                 one file, a line each, from which `labkit reproduce` goes on anywhere
#
# In: a folder. Out: what is known of a cell, or None; a file that is damaged counts as none.


SCHEMA = 3
KEPT = DATA / "cells.jsonl"


@dataclass(frozen=True)
class Known:
    """What was computed of a cell, and with what.

    `earlier`: before single scores were kept and the number of threads was fixed; claims on it are judged by the rule
    of that time.
    """

    fingerprint: str
    kind: Mapping[str, Any]
    seed: int
    seconds: float
    data: str
    figures: Mapping[str, float]
    points: tuple[Point, ...]
    versions: Mapping[str, str]
    commit: str
    parts: Mapping[str, Parts] = field(default_factory=dict)
    earlier: bool = False


class Store:
    """The folder of cells, and the file of those that come with the lab."""

    def __init__(self, folder: Path | str | None = None, *, kept: Path = KEPT) -> None:
        self.folder = default_folder() if folder is None else Path(folder)
        self._kept = kept
        self._times: dict[str, float] | None = None

    @property
    def runs(self) -> Path:
        """Where trainings are kept."""
        return self.folder / "runs"

    def find(self, cell: Cell) -> Known | None:
        """What is known of this cell: computed here, or elsewhere and kept."""
        for found in (_read(self._file(cell)), _lines(self._kept).get(cell.fingerprint)):
            if found is not None and (known := _known(found)) is not None:
                return known
        return None

    def keep(self, cell: Cell, outcome: Outcome, seconds: float) -> Known:
        """Write it down; figures that are no numbers are left out."""
        from labkit.runs import versions

        figures = {name: float(value) for name, value in outcome.figures.items() if math.isfinite(value)}
        known = Known(
            fingerprint=cell.fingerprint,
            kind=cell.kind,
            seed=cell.seed,
            seconds=seconds,
            data=str(cell.data),
            figures=figures,
            points=tuple(outcome.points),
            versions=dict(versions()),
            commit=commit(),
            parts=dict(outcome.parts),
        )
        _write(self._file(cell), as_record(known))
        self._times = self._read_times() | {cell.like: seconds}  # another process may have written meanwhile
        _write(self.folder / "times.json", self._times)
        return known

    def seconds(self, cell: Cell) -> float:
        """How long it will take: as its like did, else by guess."""
        return self._known_times().get(cell.like, cell.guess)

    def _file(self, cell: Cell) -> Path:
        return self.folder / "cells" / f"{cell.fingerprint[:32]}.json"

    def _known_times(self) -> dict[str, float]:
        if self._times is None:
            self._times = self._read_times()
        return self._times

    def _read_times(self) -> dict[str, float]:
        found = _read(self.folder / "times.json") or {}
        return {name: value for name, value in found.items() if isinstance(value, float)}


def as_lines(cells: Iterable[Known]) -> str:
    """Cells as the file KEPT has them, in order of their fingerprints."""
    told = (json.dumps(as_record(cell), ensure_ascii=False) for cell in sorted(cells, key=lambda c: c.fingerprint))
    return "".join(f"{line}\n" for line in told)


def as_record(known: Known) -> dict[str, Any]:
    """Ready for JSON; parts are packed."""
    told = {name: value for name, value in vars(known).items() if name != "parts"}
    parts = {name: [_packed(each.above), _packed(each.below)] for name, each in known.parts.items()}
    return {"schema": SCHEMA, **told, "parts": parts}


@cache
def commit() -> str:
    """The commit that this code is of, with a + where it was changed since; without a repository, nothing."""
    here = Path(__file__).resolve().parent
    ask = partial(subprocess.run, cwd=here, capture_output=True, text=True, check=True)
    try:
        ask(["git", "ls-files", "--error-unmatch", Path(__file__).name])
        return str(ask(["git", "describe", "--always", "--abbrev=12", "--exclude=*", "--dirty=+"]).stdout.strip())
    except (OSError, subprocess.CalledProcessError):  # no git, or a package below somebody else's repository
        return ""


def _known(found: Mapping[str, Any]) -> Known | None:
    try:
        if found["schema"] != SCHEMA:
            return None
        told = {name: found[name] for name in ("fingerprint", "kind", "seed", "seconds", "data", "versions", "commit")}
        return Known(
            **told,
            figures={str(name): float(value) for name, value in found["figures"].items()},
            points=tuple((str(name), float(x), float(y)) for name, x, y in found["points"]),
            parts={name: Parts(_unpacked(above), _unpacked(below)) for name, (above, below) in found["parts"].items()},
            earlier=bool(found["earlier"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError, zlib.error):
        return None


def _packed(values: np.ndarray) -> str:
    """Numbers as text: whole ones in one byte or two, others in four."""
    largest = np.abs(values).max(initial=0) if (values == np.round(values)).all() else np.inf
    kind = "|i1" if largest < 2**7 else "<i2" if largest < 2**15 else "<f4"
    return kind + base64.b64encode(zlib.compress(values.astype(kind).tobytes(), 9)).decode()


def _unpacked(text: str) -> np.ndarray:
    kind, packed = text[:3], text[3:]
    if kind not in ("|i1", "<i2", "<f4"):
        raise ValueError(
            f"a stored result begins with {kind!r}, which no labkit writes; remove it, so that it is computed anew"
        )
    return np.frombuffer(zlib.decompress(base64.b64decode(packed)), kind).astype(np.float64)


@cache
def _lines(path: Path) -> dict[str, dict[str, Any]]:
    """fingerprint -> record, of a file of cells; lines that are damaged are none."""
    found = {}
    for line in path.read_text("utf-8").splitlines() if path.is_file() else ():
        try:
            record = json.loads(line)
            found[str(record["fingerprint"])] = record
        except (ValueError, KeyError, TypeError):
            continue
    return found


def _read(path: Path) -> dict[str, Any] | None:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _write(path: Path, told: Mapping[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with in_place(path) as file:
        file.write(json.dumps(told, ensure_ascii=False, allow_nan=False).encode("utf-8", "surrogatepass"))


# --- running -----------------------------------------------------------------------------------------------------
#
# Cells computed one after the other: what is known is taken from the store, what does not fit the budget is left.
#
# In: plans, a store, a budget in seconds. Out: a `Run`: what is known of each cell now, what was left and why. Without
# a budget every row gets its first seed before any gets its second; with one, the shortest rows come first, each with
# all its seeds, so that as many as possible are whole. Ctrl-C ends it between or within cells; what is done by then is
# in the store and in the `Run`.


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

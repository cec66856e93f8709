"""What there is to compute: a table's cells on the data at hand, and the rows that cannot be, with the reason.

    cell = (recipe, data set, seed), named by a fingerprint of all that its figures depend on

In: tables, a `Desk`, a number of seeds. Out: a `Plan`. Rows that need the same cell share it, within a table and
across.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from labkit.corpora import Corpus
from labkit.papers.case import digest
from labkit.papers.datasets import DATASETS
from labkit.papers.desk import Desk, Opened
from labkit.papers.recipes.pretrained import at_hand
from labkit.papers.records import Recipe, Row, Table
from labkit.papers.versions import versions_of

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
        """All but the seed: recipe, method, every setting, data, and the versions of the code."""
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
    """Where its function is."""
    return f"{recipe.run.__module__}.{recipe.run.__qualname__}"


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

"""A table or figure of a paper as data: what it reports, on what, and how each of its rows is recomputed.

    Paper -> Table (a figure is one too: its columns are the places on the axis) -> Row x Column -> a published figure

In: nothing; these are records, filled in by the modules of `labkit.papers.published`. A row either has a `Recipe`
or a reason why it cannot be run here. What is printed in a paper stands here as printed, slips included; a `note` says
so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from labkit.methods import METHODS
from labkit.papers.claims import Claim

if TYPE_CHECKING:
    from labkit.method import Method
    from labkit.papers.recipes import Case
    from labkit.trials.engine import Result

CLAIM_SEEDS = 5  # runs that a claim is decided on, at least
FEW_SEEDS = 3  # of tables and rows that decide no claim
AS_PRINTED = ", as printed"  # after the name of a row whose settings are the paper's own, beside one that is tuned


@dataclass(frozen=True)
class Recipe:
    """How a row is recomputed: a function of a `Case`, the method it fits, and that method's settings.

    `on` are settings for one data set; `sides` are those of networks that stand side by side; `also` names data sets
    that are learned from instead of the column's own. A row gets the table's number of seeds, or `seeds` of them; 1
    means that nothing in it is random. With `first` its other settings are chosen on dev, by the same number of trials
    as those of every other row, of which the first starts from these values; on the data sets in `tries` further
    settings are chosen, too. `methods` lists the method.
    """

    run: Callable[[Case], Result]
    method: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    on: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    sides: tuple[Mapping[str, Any], ...] = ()
    also: tuple[str, ...] = ()
    seeds: int | None = None
    first: Mapping[str, Any] | None = None
    tries: Mapping[str, Mapping[str, Sequence[Any]]] = field(default_factory=dict)
    methods: Mapping[str, type[Method]] = field(default_factory=lambda: METHODS, repr=False)

    @property
    def entry(self) -> type[Method] | None:
        """The class of the method; None for a recipe that fits no method."""
        return self.methods.get(self.method)

    @property
    def random(self) -> bool:
        """Whether chance has a part in it."""
        return self.seeds != 1


@dataclass(frozen=True)
class Column:
    """One column: its heading, the figure of the recipe that belongs there, and the data set it is measured on.

    `scale` takes our figure to the paper's unit (100 for percent); `printed` is the format of the paper.
    """

    name: str
    figure: str
    data: str
    scale: float = 1.0
    printed: str = ".3f"
    larger: bool = True  # is better


@dataclass(frozen=True)
class Row:
    """One row: its name, its published figures column by column (None: the paper has none), and its recipe.

    `figure` is put before the column's, where one recipe gives several rows. `seen` names the data sets whose texts the
    method met when it was trained elsewhere. What is `counted` is shown as a whole number, not in the column's unit.
    """

    name: str
    published: tuple[float | None, ...]
    recipe: Recipe | None = None
    why_not: str = ""
    figure: str = ""
    seen: tuple[str, ...] = ()
    counted: bool = False


@dataclass(frozen=True)
class Table:
    """One table or figure. `number` is the paper's, `caption` is ours; `seeds` is how many runs a row gets that chance
    has a part in."""

    paper: str
    number: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    note: str = ""
    claims: tuple[Claim, ...] = ()
    seeds: int = CLAIM_SEEDS

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row.published) != len(self.columns):
                raise ValueError(
                    f"{self.name}: row {row.name!r} has {len(row.published)} figures, expected {len(self.columns)}, "
                    "one a column (None where the paper has none)"
                )
            if (row.recipe is None) == (not row.why_not):
                raise ValueError(f"{self.name}: row {row.name!r} needs a recipe or a reason why not, and not both")

    @property
    def name(self) -> str:
        """The name on the command line, such as film/1."""
        return f"{self.paper}/{self.number}"

    @property
    def title(self) -> str:
        """The name for a person, such as Table 1; what has no number was announced and not printed."""
        if not any(map(str.isdigit, self.number)):
            return self.number.replace("-", " ").capitalize()
        return f"Figure {self.number[7:]}" if self.number.startswith("figure-") else f"Table {self.number}"

    @property
    def data(self) -> tuple[str, ...]:
        """The data sets of its columns, each once."""
        return tuple(dict.fromkeys(column.data for column in self.columns))


@dataclass(frozen=True)
class Paper:
    """A paper, its tables, and statements that can be checked against its own pages."""

    name: str
    citation: str
    tables: tuple[Table, ...]
    observations: tuple[Observation, ...] = ()
    errata: tuple[Erratum, ...] = ()


@dataclass(frozen=True)
class Erratum:
    """An erratum: where it is, what is printed, what is correct, and the notebook that shows it.

    Both are Markdown with formulas, as in the notebooks' own tables of slips, with which a test compares them.
    """

    where: str
    printed: str
    holds: str
    notebook: str


@dataclass(frozen=True)
class Observation:
    """A statement of a paper set against its own pages; no experiment is needed."""

    text: str
    verdict: Literal["confirmed", "not confirmed"]
    why: str


def printed(text: str) -> dict[str, tuple[float | None, ...]]:
    """The rows of a printed table: a line a row, its name, two spaces or more, a number a column, `-` for none.

    So a table in the code can be held beside the one in the paper.

    >>> printed('''
    ...     CNN + Siamese   .837 -
    ...     Ours            .858 .863
    ... ''')
    {'CNN + Siamese': (0.837, None), 'Ours': (0.858, 0.863)}
    """
    rows: dict[str, tuple[float | None, ...]] = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        parts = re.split(r"\s{2,}", line, maxsplit=1)
        if len(parts) != 2 or parts[0] in rows:
            raise ValueError(f"line {line!r}, expected a name of its own, two spaces, and figures; mend the table")
        rows[parts[0]] = tuple(None if cell == "-" else float(cell) for cell in parts[1].split())
    return rows

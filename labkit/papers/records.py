"""A table or figure of a paper as data: its scores, its data sets, and how each row is recomputed.

    Paper -> Table (or figure, whose columns are the values on the axis) -> Row x Column -> a published score

The records are filled in by the modules of `labkit.papers.published`. A row has either a `Recipe` or a reason why it
cannot be run here. Scores are recorded as printed, including errors, which a `note` mentions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from labkit.methods import METHODS
from labkit.papers.claims import Claim

if TYPE_CHECKING:
    from labkit.method import Method
    from labkit.papers.recipes import Case
    from labkit.trials.engine import Result

CLAIM_SEEDS = 5  # number of runs needed to decide a claim
FEW_SEEDS = 3  # for tables and rows that decide no claim
AS_PRINTED = ", as printed"  # suffix of a row with the paper's settings next to a tuned row


@dataclass(frozen=True)
class Recipe:
    """How a row is recomputed: a function of a `Case`, the method it fits, and that method's settings.

    `on` has settings for one data set; `sides` those of concatenated networks; `also` names training data other than
    the column's own. A row gets the table's number of seeds, or its own `seeds`; 1 means that it is deterministic. With
    `first` its other settings are chosen on dev, with the same number of trials as for every other row, and the first
    trial starts from these values; `tries` names further settings to choose on one data set. On the data sets named in
    `per_seed`, the settings are chosen again for each seed, so that intervals cover this choice, too. `methods` lists
    the method.
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
    per_seed: tuple[str, ...] = ()
    methods: Mapping[str, type[Method]] = field(default_factory=lambda: METHODS, repr=False)

    @property
    def entry(self) -> type[Method] | None:
        """The class of the method; None for a recipe that fits no method."""
        return self.methods.get(self.method)

    @property
    def random(self) -> bool:
        """Whether the recipe's result depends on chance."""
        return self.seeds != 1


@dataclass(frozen=True)
class Column:
    """One column: its heading, the recipe's score that it shows, and its data set.

    `scale` converts our score to the paper's unit (100 for percent); `printed` is the paper's number format.
    """

    name: str
    figure: str
    data: str
    scale: float = 1.0
    printed: str = ".3f"
    larger: bool = True  # whether larger is better


@dataclass(frozen=True)
class Row:
    """One row: its name, its published scores by column (None where the paper gives none), and its recipe.

    Our own rows have no published scores. `figure` is a prefix of the column's score, if one recipe gives several rows.
    `seen` names the data sets whose texts a pretrained model has seen. A `counted` row is shown as whole numbers, not
    in the column's unit.
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
    """One table or figure. `number` is the paper's, `caption` is ours; `seeds` is the number of runs per random row."""

    paper: str
    number: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    note: str = ""
    claims: tuple[Claim, ...] = ()
    seeds: int = CLAIM_SEEDS

    def __post_init__(self) -> None:
        none = (None,) * len(self.columns)
        rows = tuple(row if row.published else replace(row, published=none) for row in self.rows)
        object.__setattr__(self, "rows", rows)

    @property
    def name(self) -> str:
        """The name on the command line, such as film/1."""
        return f"{self.paper}/{self.number}"

    @property
    def title(self) -> str:
        """The title for readers, such as Table 1; a table without a number was announced but never printed."""
        if not any(map(str.isdigit, self.number)):
            return self.number.replace("-", " ").capitalize()
        return f"Figure {self.number[7:]}" if self.number.startswith("figure-") else f"Table {self.number}"

    @property
    def data(self) -> tuple[str, ...]:
        """The distinct data sets of its columns."""
        return tuple(dict.fromkeys(column.data for column in self.columns))


@dataclass(frozen=True)
class Paper:
    """A paper, its tables, and statements that can be checked against its own pages."""

    name: str
    citation: str
    tables: tuple[Table, ...]
    observations: tuple[Observation, ...] = ()


@dataclass(frozen=True)
class Observation:
    """A statement of a paper checked against its own pages, without an experiment."""

    text: str
    verdict: Literal["confirmed", "not confirmed"]
    why: str


def printed(text: str) -> dict[str, tuple[float | None, ...]]:
    """Parse a printed table: one line per row, with its name, two or more spaces, and one number per column or `-`.

    This format lets a reader compare a table in the code with the paper.

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
            raise ValueError(f"line {line!r} needs a unique name, two spaces, and numbers; correct the table")
        rows[parts[0]] = tuple(None if cell == "-" else float(cell) for cell in parts[1].split())
    return rows

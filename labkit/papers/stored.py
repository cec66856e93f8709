"""Results as records: a table of a paper with our numbers next to the printed ones.

    Report -> TableResult -> Figure, one for each row and column, and JudgedClaim

`result` (in `results.py`) makes them of what was computed; `to_json` and `from_json` write and read them. What a table
is about, and what it prints, is not stored: that is in `labkit.papers.published`.

    stored().table("film/1").figures     the bundled file     beside()     every table that is printed
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, Self, TypeAlias

from labkit.corpora.table import DATA
from labkit.evaluation.comparison import Spread
from labkit.papers.claims import ShownLead, Verdict
from labkit.papers.published import PAPERS, tables
from labkit.papers.records import Paper, Table
from labkit.trials.verdict import Runs

FILE = DATA / "results.json"
NOT_RUN = "not run here"
Standing: TypeAlias = Literal["", "best", "behind", "tie", "open"]  # of a row beside the one in front; "": not compared


@dataclass(frozen=True)
class Figure:
    """The figure of one row in one column, in the paper's unit, a value per seed. `why`: why it is missing, or what to
    know of it.

    `interval`: the bounds of the mean, 95 % sure over seeds and test items, where it is known item by item. `runs` are
    the values taken apart over the test set, in the unit of the recipe; they are not stored.
    """

    row: str
    column: str
    published: float | None
    values: tuple[float, ...] = ()
    seeds: tuple[int, ...] = ()
    why: str = ""
    interval: tuple[float, float] | None = None
    standing: Standing = ""
    seen: bool = False  # whether the method met the test when it was trained elsewhere
    runs: Runs = field(default_factory=dict)

    @property
    def ours(self) -> Spread | None:
        """Our mean and standard deviation over the seeds."""
        return Spread.of(self.values) if self.values else None

    @property
    def mean(self) -> float | None:
        """Our mean over the seeds."""
        return None if self.ours is None else self.ours.mean

    @property
    def spread(self) -> float | None:
        """Our standard deviation over the seeds."""
        return None if self.ours is None else self.ours.spread

    def to_json(self) -> dict[str, Any]:
        """The figure as a file has it; what is empty is left out."""
        record = {name: value for name, value in vars(self).items() if name != "runs" and value not in ("", (), None)}
        return record | ({} if self.ours is None else {"mean": self.ours.mean, "spread": self.ours.spread})

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Self:
        """The figure that a file has."""
        fields = _frozen({"published": None, **record})
        return cls(**{name: value for name, value in fields.items() if name not in ("mean", "spread")})


def _frozen(record: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a record, lists as tuples."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in record.items()}


@dataclass(frozen=True)
class JudgedClaim:
    """What a paper says, and whether its own figures and ours bear it out; `paper` is "" for a question of ours."""

    text: str
    paper: Verdict | Literal[""]
    paper_why: str
    ours: Verdict
    ours_why: str
    before: ShownLead | None = None  # with the settings as printed, where that is another lead
    after: ShownLead | None = None  # with those chosen on dev

    @property
    def asked_here(self) -> bool:
        """Whether no paper says it."""
        return not self.paper

    @property
    def decides(self) -> str:
        """What both verdicts rest on: our figures, and the paper's where they refute it or there are no others."""
        printed = f"in the paper, {self.paper_why}"
        if self.ours == "not measured":
            return self.ours_why if self.paper in ("", "not measured") else printed
        return f"{self.ours_why}; {printed}" if self.paper == "not confirmed" else self.ours_why

    def to_json(self) -> dict[str, Any]:
        """The claim as a file has it."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Self:
        """The claim that a file has."""
        leads = {name: ShownLead(**record[name]) for name in ("before", "after") if name in record}
        return cls(**{**record, **leads})


@dataclass(frozen=True)
class TableResult:
    """One table of a paper, recomputed as far as it went.

    `made` says of the cells of each row on each data set how many CPU seconds a seed took, and what was chosen on dev,
    a record for each network.
    """

    table: Table
    figures: tuple[Figure, ...]  # row by row
    claims: tuple[JudgedClaim, ...] = ()
    data: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()  # on the data
    evidence: bool = False  # whether its figures may be set against the paper's
    published: bool = False  # whether it was measured on published data
    commits: tuple[str, ...] = ()  # of the code that computed it
    left: int = 0  # runs that could be computed and are not
    made: tuple[Mapping[str, Any], ...] = ()

    @property
    def name(self) -> str:
        """The name on the command line, such as film/1."""
        return self.table.name

    @property
    def title(self) -> str:
        """The name for a person, such as Table 1."""
        return self.table.title

    @property
    def paper(self) -> str:
        """The name of the paper."""
        return self.table.paper

    @property
    def caption(self) -> str:
        """What the table shows, in our words."""
        return self.table.caption

    @property
    def note(self) -> str:
        """What is to be known of the table."""
        return self.table.note

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.table.columns)

    @property
    def rows(self) -> tuple[str, ...]:
        """The names of the rows."""
        return tuple(row.name for row in self.table.rows)

    @property
    def leads(self) -> list[tuple[str, ShownLead, ShownLead]]:
        """The claims that have a lead with printed settings and with those chosen on dev, with both."""
        return [
            (f"{self.name}: {each.text}", each.before, each.after) for each in self.claims if each.before and each.after
        ]

    def at(self, row: str, column: str) -> Figure:
        """The figure of this row in this column."""
        return self.figures[self.rows.index(row) * len(self.table.columns) + self.columns.index(column)]

    def to_json(self) -> dict[str, Any]:
        """The table as a file has it."""
        plain = {name: value for name, value in vars(self).items() if name not in ("table", "figures", "claims")}
        return {
            "table": self.name,
            **plain,
            "figures": [figure.to_json() for figure in self.figures],
            "claims": [claim.to_json() for claim in self.claims],
        }

    @classmethod
    def from_json(cls, table: Table, record: Mapping[str, Any]) -> Self:
        """The table with the figures that a file has; what the file has not is as printed."""
        known = {(each["row"], each["column"]): Figure.from_json(each) for each in record["figures"]}
        fields = _frozen(record)
        fields["figures"] = tuple(known.get((each.row, each.column), each) for each in as_printed(table).figures)
        fields["claims"] = tuple(map(JudgedClaim.from_json, record["claims"]))
        return cls(**{**fields, "table": table})


@dataclass(frozen=True, eq=False)
class Report:
    """The tables of one call of the command, in order, with the versions it ran with."""

    command: str
    tables: tuple[TableResult, ...]
    versions: Mapping[str, str]

    def table(self, name: str) -> TableResult:
        """The table of this name, such as film/1."""
        named = {table.name: table for table in self.tables}
        if name not in named:
            raise ValueError(f"there is no table {name!r}, expected one of {', '.join(named)}; take one of these")
        return named[name]

    def of(self, paper: Paper) -> list[TableResult]:
        """The tables of a paper."""
        return [table for table in self.tables if table.paper == paper.name]

    @property
    def made_with(self) -> str:
        """The versions and commits in a sentence; a + says that the code was changed since its commit."""
        versions = ", ".join(f"{name} {version}" for name, version in self.versions.items())
        commits = sorted({commit for table in self.tables for commit in table.commits})
        return f"{versions}; figures computed by commit {', '.join(commits)}" if commits else versions

    def to_json(self) -> dict[str, Any]:
        """Command, versions and tables."""
        return {
            "command": self.command,
            "versions": dict(self.versions),
            "tables": [table.to_json() for table in self.tables],
        }

    @classmethod
    def from_json(cls, record: Mapping[str, Any], papers: Mapping[str, Paper] = PAPERS) -> Self:
        """The tables that a file has, those of no paper left out."""
        known = {table.name: table for table in tables("", papers)}
        read = [each for each in record["tables"] if each["table"] in known]
        found = tuple(TableResult.from_json(known[each["table"]], each) for each in read)
        return cls(record["command"], found, record["versions"])


def stored(path: Path | str = FILE, papers: Mapping[str, Paper] = PAPERS) -> Report:
    """The results of this file."""
    try:
        return Report.from_json(json.loads(Path(path).read_text(encoding="utf-8")), papers)
    except (KeyError, TypeError, ValueError, OSError) as error:
        raise ValueError(
            f"results {Path(path).name!r} cannot be read ({type(error).__name__}), expected a file that "
            "`labkit reproduce --all --out FILE.json` writes; write it again"
        ) from None


def beside(path: Path | str = FILE) -> dict[str, TableResult]:
    """Every table of the papers by its name, with our figures as far as results are stored; computes nothing."""
    try:
        known = {table.name: table for table in stored(path).tables}
    except ValueError:  # no results, or not readable: what is printed stays true
        known = {}
    return {table.name: known.get(table.name) or as_printed(table) for table in tables()}


def as_printed(table: Table) -> TableResult:
    """The printed figures alone, and no claim judged."""
    figures = (
        Figure(row.name, column.name, published, why=row.why_not or NOT_RUN)
        for row in table.rows
        for column, published in zip(table.columns, row.published, strict=True)
    )
    return TableResult(table, tuple(figures))

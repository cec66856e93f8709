"""Results as records: a table of a paper with our numbers next to the printed ones.

    Report -> TableResult -> Figure, one for each row and column, and JudgedClaim

`result` (in `results.py`) makes them; `to_json` and `from_json` write and read them. The description and printed scores
of a table are not stored; they are in `labkit.papers.published`.

    stored().table("film/1").figures     the bundled file     beside()     every printed table
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, Self, TypeAlias

from labkit.corpora.catalogue import DATA
from labkit.evaluation.comparison import Spread
from labkit.papers.claims import ShownLead, Verdict
from labkit.papers.published import PAPERS, tables
from labkit.papers.records import Paper, Table
from labkit.trials.verdict import Runs

FILE = DATA / "results.json"
NOT_RUN = "not run here"
Standing: TypeAlias = Literal["", "best", "behind", "tie", "open"]  # compared with the leader; "": not compared


@dataclass(frozen=True)
class Figure:
    """The scores of one row in one column, in the paper's unit, one per seed. `why`: why they are missing, or a remark.

    `interval`: the 95 % bounds of the mean over seeds and test items, if scores of single items are known. `runs` are
    the values split over the test set, in the recipe's unit; they are not stored.
    """

    row: str
    column: str
    published: float | None
    values: tuple[float, ...] = ()
    seeds: tuple[int, ...] = ()
    why: str = ""
    interval: tuple[float, float] | None = None
    standing: Standing = ""
    seen: bool = False  # whether the method saw the test data in pretraining
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
        """The record for a file, without empty fields."""
        record = {name: value for name, value in vars(self).items() if name != "runs" and value not in ("", (), None)}
        return record | ({} if self.ours is None else {"mean": self.ours.mean, "spread": self.ours.spread})

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Self:
        """Read a record from a file."""
        fields = _frozen({"published": None, **record})
        return cls(**{name: value for name, value in fields.items() if name not in ("mean", "spread")})


def _frozen(record: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a record, lists as tuples."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in record.items()}


@dataclass(frozen=True)
class JudgedClaim:
    """A claim, and whether the paper's scores and ours support it; `paper` is "" for our own question."""

    text: str
    paper: Verdict | Literal[""]
    paper_why: str
    ours: Verdict
    ours_why: str
    before: ShownLead | None = None  # with the printed settings, if that lead differs
    after: ShownLead | None = None  # with the settings chosen on dev

    @property
    def asked_here(self) -> bool:
        """Whether it is our own question."""
        return not self.paper

    @property
    def decides(self) -> str:
        """The basis of both verdicts: our scores, and the paper's if they refute the claim or there are no others."""
        printed = f"in the paper, {self.paper_why}"
        if self.ours == "not measured":
            return self.ours_why if self.paper in ("", "not measured") else printed
        return f"{self.ours_why}; {printed}" if self.paper == "not confirmed" else self.ours_why

    def to_json(self) -> dict[str, Any]:
        """The record for a file."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Self:
        """Read a record from a file."""
        leads = {name: ShownLead(**record[name]) for name in ("before", "after") if name in record}
        return cls(**{**record, **leads})


@dataclass(frozen=True)
class TableResult:
    """One table of a paper, recomputed as far as possible.

    `made` has the CPU seconds per seed of each row on each data set, and the settings chosen on dev, one record per
    network.
    """

    table: Table
    figures: tuple[Figure, ...]  # row by row
    claims: tuple[JudgedClaim, ...] = ()
    data: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()  # on the data
    evidence: bool = False  # whether its scores may be compared with the paper's
    published: bool = False  # whether it was measured on published data
    commits: tuple[str, ...] = ()  # of the code that computed it
    left: int = 0  # runs that could be computed but have not been
    made: tuple[Mapping[str, Any], ...] = ()

    @property
    def name(self) -> str:
        """The name on the command line, such as film/1."""
        return self.table.name

    @property
    def title(self) -> str:
        """The title for readers, such as Table 1."""
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
        """The note on the table."""
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
        """The claims with both leads: with printed settings and with settings chosen on dev."""
        return [
            (f"{self.name}: {each.text}", each.before, each.after) for each in self.claims if each.before and each.after
        ]

    def at(self, row: str, column: str) -> Figure:
        """The scores of this row in this column."""
        return self.figures[self.rows.index(row) * len(self.table.columns) + self.columns.index(column)]

    def to_json(self) -> dict[str, Any]:
        """The record for a file."""
        plain = {name: value for name, value in vars(self).items() if name not in ("table", "figures", "claims")}
        return {
            "table": self.name,
            **plain,
            "figures": [figure.to_json() for figure in self.figures],
            "claims": [claim.to_json() for claim in self.claims],
        }

    @classmethod
    def from_json(cls, table: Table, record: Mapping[str, Any]) -> Self:
        """The table with the scores of a file; without them as printed."""
        known = {(each["row"], each["column"]): Figure.from_json(each) for each in record["figures"]}
        fields = _frozen(record)
        fields["figures"] = tuple(known.get((each.row, each.column), each) for each in as_printed(table).figures)
        fields["claims"] = tuple(map(JudgedClaim.from_json, record["claims"]))
        return cls(**{**fields, "table": table})


@dataclass(frozen=True, eq=False)
class Report:
    """The tables of one call of the command, in order, with the versions used."""

    command: str
    tables: tuple[TableResult, ...]
    versions: Mapping[str, str]

    def table(self, name: str) -> TableResult:
        """The table of this name, such as film/1."""
        named = {table.name: table for table in self.tables}
        if name not in named:
            raise ValueError(f"there is no table {name!r}; choose one of {', '.join(named)}")
        return named[name]

    def of(self, paper: Paper) -> list[TableResult]:
        """The tables of a paper."""
        return [table for table in self.tables if table.paper == paper.name]

    @property
    def made_with(self) -> str:
        """The versions and commits in a sentence; a + marks code changed since its commit."""
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
        """The tables in a record, except those of unknown papers."""
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
            f"results {Path(path).name!r} cannot be read ({type(error).__name__}). Write the file again with `labkit "
            "reproduce --all --out FILE.json`"
        ) from None


def beside(path: Path | str = FILE) -> dict[str, TableResult]:
    """Every table of the papers by name, with our stored scores; computes nothing."""
    try:
        known = {table.name: table for table in stored(path).tables}
    except ValueError:  # without readable results the printed scores are shown
        known = {}
    return {table.name: known.get(table.name) or as_printed(table) for table in tables()}


def as_printed(table: Table) -> TableResult:
    """The printed scores alone, without judged claims."""
    figures = (
        Figure(row.name, column.name, published, why=row.why_not or NOT_RUN)
        for row in table.rows
        for column, published in zip(table.columns, row.published, strict=True)
    )
    return TableResult(table, tuple(figures))

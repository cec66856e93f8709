"""Results as records: a table of a paper with our figures beside the printed ones, as it is made, stored and read.

    Report -> TableResult -> Figure, one for each row and column, and JudgedClaim

`result` (in `results.py`) makes them of what was computed; `to_json` and `from_json` write and read them. A record that
was read has all that the file says, and none of what only a computation knows: points, single runs, their cells.

    stored().table("film/1").figures     the file that comes with the lab     beside()     every table that is printed
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

from labkit.corpora.table import DATA
from labkit.evaluation.comparison import Spread
from labkit.lab.papers.claims import OUR_QUESTION, Judgement, Runs, ShownLead, Verdict, grounds
from labkit.lab.papers.published import tables
from labkit.lab.papers.records import Column, Paper, Point, Row, Table

if TYPE_CHECKING:
    from labkit.lab.papers.store import Known

FILE = DATA / "results.json"
NOT_RUN = "not run here"
State: TypeAlias = Literal["", "not yet", "lacking", "seen"]  # could be computed; not in this data; seen in training


@dataclass(frozen=True)
class Figure:
    """The figure of one row in one column, in the paper's unit. `why`: why it is missing, or what to know of it.

    `runs` are ours, seed by seed, taken apart over the test set. Of those that were computed `earlier`, `noise` says by
    how much another test set of the same size would move them. What is `counted` is a whole number. `interval`: the
    bounds of the mean, 95 % sure over seeds and test items, where the table has intervals.
    """

    row: str
    column: str
    published: float | None
    ours: Spread | None = None
    seeds: tuple[int, ...] = ()
    why: str = ""
    noise: float = 0.0
    state: State = ""
    runs: Runs = field(default_factory=dict)
    earlier: bool = False
    counted: bool = False
    interval: tuple[float, float] | None = None

    @property
    def mean(self) -> float | None:
        """Our mean over the seeds."""
        return None if self.ours is None else self.ours.mean

    @property
    def spread(self) -> float | None:
        """Our standard deviation over the seeds."""
        return None if self.ours is None else self.ours.spread

    @property
    def values(self) -> tuple[float, ...]:
        """Our figure with each of the seeds."""
        return () if self.ours is None else self.ours.values

    def to_json(self) -> dict[str, Any]:
        """The figure as its row in a file has it."""
        ours = {"mean": self.mean, "spread": self.spread, "values": list(self.values)}
        bounds = {} if self.interval is None else {"interval": list(self.interval)}
        about = {"seeds": list(self.seeds), "why": self.why}
        return {"column": self.column, "paper": self.published, **ours, **bounds, **about}

    @classmethod
    def from_json(cls, row: str, record: Mapping[str, Any]) -> Self:
        """The figure that stands in a row of a file."""
        mean = record["mean"]
        ours = None if mean is None else Spread(mean, record["spread"], tuple(record["values"]))
        seeds, bounds = tuple(record["seeds"]), tuple(record.get("interval", ())) or None
        return cls(row, record["column"], record["paper"], ours, seeds, record["why"], interval=bounds)


@dataclass(frozen=True)
class JudgedClaim:
    """What a paper says, and whether its own figures and ours bear it out."""

    text: str
    paper: Verdict
    paper_why: str
    ours: Verdict
    ours_why: str
    before: ShownLead | None = None  # with the settings as printed, where that is another lead
    after: ShownLead | None = None  # with those chosen on dev

    @property
    def asked_here(self) -> bool:
        """Whether no paper says it."""
        return self.paper == OUR_QUESTION.verdict

    @property
    def decides(self) -> str:
        """What both verdicts rest on."""
        return grounds(Judgement(self.paper, self.paper_why), Judgement(self.ours, self.ours_why))

    def to_json(self) -> dict[str, Any]:
        """The claim as a file has it."""
        sides = {"paper": (self.paper, self.paper_why), "ours": (self.ours, self.ours_why)}
        record: dict[str, Any] = {"claim": self.text}
        record |= {name: {"verdict": verdict, "why": why} for name, (verdict, why) in sides.items()}
        return record | {
            name: asdict(lead) for name, lead in (("before", self.before), ("after", self.after)) if lead is not None
        }

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Self:
        """The claim that stands in a file."""
        paper, ours = record["paper"], record["ours"]
        leads = (ShownLead(**record[name]) if name in record else None for name in ("before", "after"))
        return cls(record["claim"], paper["verdict"], paper["why"], ours["verdict"], ours["why"], *leads)


@dataclass(frozen=True)
class Made:
    """How the cells of one row on one data set were computed: a seed each, and what was chosen for them on dev.

    `settings` are all of them; `chosen` those that trials found, a record for each network, with the figure of dev by
    which they were chosen and the same of the first trial.
    """

    row: str
    data: str
    seeds: tuple[int, ...]
    seconds: tuple[float, ...]
    commits: tuple[str, ...]
    hosts: tuple[str, ...]
    settings: Mapping[str, Any]
    chosen: tuple[Mapping[str, Any], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The cells as a file has them."""
        return {name: list(each) if isinstance(each, tuple) else each for name, each in vars(self).items()}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Self:
        """The cells that stand in a file."""
        fields: dict[str, Any] = {
            name: tuple(each) if isinstance(each, list) else each for name, each in record.items()
        }
        return cls(**fields)


@dataclass(frozen=True)
class TableResult:
    """One table of a paper, recomputed as far as it went."""

    table: Table
    figures: tuple[Figure, ...]  # row by row
    claims: tuple[JudgedClaim, ...] = ()
    data: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()  # on the data
    evidence: bool = False  # whether its figures may be set against the paper's
    published: bool = False  # whether it was measured on published data
    commits: tuple[str, ...] = ()  # of the code that computed it
    earlier: bool = False  # whether something in it was computed before single scores were kept
    rest: float = 0.0  # seconds that the rows take which could be computed and are not
    points: Mapping[str, tuple[Point, ...]] = field(default_factory=dict)  # of a picture, by row
    made: tuple[Made, ...] = ()

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

    def at(self, row: str, column: str) -> Figure:
        """The figure of this row in this column."""
        return self.figures[self.rows.index(row) * len(self.table.columns) + self.columns.index(column)]

    @property
    def left_out(self) -> dict[str, str]:
        """The rows without any figure of ours, and why."""
        reasons = {}
        for row in self.rows:
            figures = [self.at(row, column) for column in self.columns]
            if all(figure.ours is None for figure in figures):
                reasons[row] = next((figure for figure in figures if figure.state == "not yet"), figures[0]).why
        return reasons

    def to_json(self) -> dict[str, Any]:
        """The table as a file has it."""
        return {
            "table": self.name,
            "title": self.title,
            "caption": self.caption,
            "note": self.note,
            "evidence": self.evidence,
            "data": list(self.data),
            "published_data": self.published,
            "commits": list(self.commits),
            "earlier": self.earlier,
            "notes": list(self.notes),
            "seconds_not_computed": round(self.rest),
            "rows": [
                {"row": row, "figures": [self.at(row, column).to_json() for column in self.columns]}
                for row in self.rows
            ],
            "claims": [claim.to_json() for claim in self.claims],
            **({"cells": [made.to_json() for made in self.made]} if self.made else {}),
        }

    @classmethod
    def from_json(cls, paper: str, record: Mapping[str, Any]) -> Self:
        """The table that stands in a file; files of the first form do not say what later ones do."""
        figures = tuple(Figure.from_json(row["row"], each) for row in record["rows"] for each in row["figures"])
        columns = tuple(Column(name, "", "") for name in dict.fromkeys(figure.column for figure in figures))
        rows = tuple(
            Row(row["row"], tuple(each["paper"] for each in row["figures"]), why_not=NOT_RUN) for row in record["rows"]
        )
        number = record["table"].partition("/")[2]
        return cls(
            Table(paper, number, record["caption"], columns, rows, record["note"]),
            figures,
            tuple(map(JudgedClaim.from_json, record["claims"])),
            tuple(record["data"]),
            tuple(record.get("notes", ())),
            record["evidence"],
            record.get("published_data", False),
            tuple(record.get("commits", ())),
            record.get("earlier", False),
            record.get("seconds_not_computed", 0.0),
            made=tuple(map(Made.from_json, record.get("cells", ()))),
        )


@dataclass(frozen=True, eq=False)
class Report:
    """The tables of one call of the command, in order, with the versions it ran with."""

    command: str
    tables: tuple[TableResult, ...]
    versions: Mapping[str, str]
    papers: tuple[Paper, ...] = ()
    cells: tuple[Known, ...] = ()  # what was computed, from which the figures come

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
    def commits(self) -> list[str]:
        """The commits of the code that computed the figures; a + says that it was changed since."""
        return sorted({commit for table in self.tables for commit in table.commits})

    @property
    def made_with(self) -> str:
        """The versions and commits in a sentence."""
        versions = ", ".join(f"{name} {version}" for name, version in self.versions.items())
        return f"{versions}; figures computed by commit {', '.join(self.commits)}" if self.commits else versions

    def to_json(self) -> dict[str, Any]:
        """Command, versions, papers and tables."""
        return {
            "command": self.command,
            "versions": dict(self.versions),
            "commits": self.commits,
            "papers": [
                {
                    "paper": paper.name,
                    "citation": paper.citation,
                    "observations": list(map(asdict, paper.observations)),
                    "tables": [table.to_json() for table in self.of(paper)],
                }
                for paper in self.papers
            ],
        }

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Self:
        """The tables that stand in a file; what the papers say of themselves is not read."""
        tables = (
            TableResult.from_json(paper["paper"], table) for paper in record["papers"] for table in paper["tables"]
        )
        return cls(record["command"], tuple(tables), record["versions"])


def stored(path: Path | str = FILE) -> Report:
    """The results of this file."""
    try:
        return Report.from_json(json.loads(Path(path).read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise ValueError(
            f"there are no results {Path(path).name!r}, expected a file that `labkit reproduce --all --out FILE.json` "
            "writes; make it first"
        ) from None
    except (KeyError, TypeError, ValueError, OSError) as error:
        raise ValueError(
            f"results {Path(path).name!r} cannot be read ({type(error).__name__}), expected a file that "
            "`labkit reproduce --out FILE.json` writes; write it again"
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

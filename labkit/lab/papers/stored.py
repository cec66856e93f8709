"""Results that were written down as JSON (`reports/flat.py`), read again: for pages that compute nothing.

In: the file that comes with the lab, or another of its form. Out: `Stored`, figures in each paper's own unit.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labkit.corpora.table import DATA
from labkit.lab.papers.claims import OUR_QUESTION, Judgement, Verdict, why
from labkit.lab.papers.published import tables
from labkit.lab.papers.records import Row, Table

# --- stored ------------------------------------------------------------------------------------------------------

FILE = DATA / "results.json"


@dataclass(frozen=True)
class StoredFigure:
    """One row in one column. `why`: why there is no mean, or what to know of it."""

    row: str
    column: str
    published: float | None
    mean: float | None
    spread: float | None
    values: tuple[float, ...]
    seeds: tuple[int, ...]
    why: str


@dataclass(frozen=True)
class StoredClaim:
    """What the paper says, and whether our figures and its own bear it out."""

    text: str
    ours: Verdict
    ours_why: str
    paper: Verdict
    paper_why: str

    @property
    def asked_here(self) -> bool:
        """Whether no paper says it."""
        return self.paper == OUR_QUESTION.verdict

    @property
    def decides(self) -> str:
        """What both verdicts rest on."""
        return why(Judgement(self.paper, self.paper_why), Judgement(self.ours, self.ours_why))


@dataclass(frozen=True)
class StoredTable:
    """One table, recomputed as far as it went."""

    name: str
    title: str
    paper: str
    caption: str
    note: str
    data: tuple[str, ...]
    evidence: bool
    columns: tuple[str, ...]
    rows: tuple[str, ...]
    figures: tuple[StoredFigure, ...]
    claims: tuple[StoredClaim, ...]
    notes: tuple[str, ...] = ()  # on the data


@dataclass(frozen=True)
class Stored:
    """All tables of one call of the command."""

    command: str
    versions: Mapping[str, str]
    tables: tuple[StoredTable, ...]

    def table(self, name: str) -> StoredTable:
        """By its name, such as film/1."""
        found = {table.name: table for table in self.tables}
        if name not in found:
            raise ValueError(f"there is no table {name!r}, expected one of {', '.join(found)}; take one of these")
        return found[name]


def stored(path: Path | str = FILE) -> Stored:
    """The results of this file."""
    try:
        told = json.loads(Path(path).read_text(encoding="utf-8"))
        tables = tuple(_table(paper["paper"], table) for paper in told["papers"] for table in paper["tables"])
        return Stored(told["command"], told["versions"], tables)
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


def _table(paper: str, told: Mapping[str, Any]) -> StoredTable:
    figures = tuple(_figure(row["row"], each) for row in told["rows"] for each in row["figures"])
    return StoredTable(
        name=told["table"],
        title=told["title"],
        paper=paper,
        caption=told["caption"],
        note=told["note"],
        notes=tuple(told.get("notes", ())),
        data=tuple(told["data"]),
        evidence=told["evidence"],
        columns=tuple(dict.fromkeys(figure.column for figure in figures)),
        rows=tuple(row["row"] for row in told["rows"]),
        figures=figures,
        claims=tuple(_claim(each) for each in told["claims"]),
    )


def _figure(row: str, told: Mapping[str, Any]) -> StoredFigure:
    return StoredFigure(
        row=row,
        column=told["column"],
        published=told["paper"],
        mean=told["mean"],
        spread=told["spread"],
        values=tuple(told["values"]),
        seeds=tuple(told["seeds"]),
        why=told["why"],
    )


def _claim(told: Mapping[str, Any]) -> StoredClaim:
    ours, paper = told["ours"], told["paper"]
    return StoredClaim(told["claim"], ours["verdict"], ours["why"], paper["verdict"], paper["why"])


# --- beside ------------------------------------------------------------------------------------------------------
#
# Every table of the papers with our figures beside the printed ones, as far as results are stored. Computes nothing.
#
# In: the file of stored results. Out: a `StoredTable` for each; one that is not stored has the printed figures alone.


NOT_RUN = "not run here"


def beside(path: Path | str = FILE) -> dict[str, StoredTable]:
    """name, such as film/1 -> the table; all of them."""
    try:
        known = {table.name: table for table in stored(path).tables}
    except ValueError:  # no results, or not readable: what is printed stays true
        known = {}
    return {table.name: known.get(table.name) or as_printed(table) for table in tables()}


def as_printed(table: Table) -> StoredTable:
    """The printed figures, and no claim judged."""
    return StoredTable(
        name=table.name,
        title=table.title,
        paper=table.paper,
        caption=table.caption,
        note=table.note,
        data=(),
        evidence=False,
        columns=tuple(column.name for column in table.columns),
        rows=tuple(row.name for row in table.rows),
        figures=tuple(figure for row in table.rows for figure in _printed(table, row)),
        claims=(),
    )


def _printed(table: Table, row: Row) -> list[StoredFigure]:
    why = row.why_not or NOT_RUN
    return [
        StoredFigure(row.name, column.name, published, None, None, (), (), why)
        for column, published in zip(table.columns, row.published, strict=True)
    ]

"""Results as records: a table of a paper with our numbers next to the printed ones.

    Report -> TableResult -> Figure, one for each row and column, and JudgedClaim

`result` makes them of a `TablePlan` and the known results of its cells: the published score and ours, how each row
compares with the leader, and the judgement of each claim on both. `to_json` and `from_json` write and read them. The
description and printed scores of a table are not stored; they are in `labkit.papers.published`.

    stored().table("film/1").figures     the bundled file     beside()     every printed table
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Any, Literal, Self, TypeAlias

import numpy as np

from labkit.corpora.catalogue import DATA
from labkit.evaluation.comparison import Parts, Spread, lead_of
from labkit.papers.cells import Cell, Computed, TablePlan, cells_of
from labkit.papers.claims import Claim, Judgement, ShownLead, Verdict, judge, judge_printed, shown_lead
from labkit.papers.data import Missing
from labkit.papers.published import PAPERS, tables
from labkit.papers.records import AS_PRINTED, CLAIM_SEEDS, Column, Paper, Row, Table
from labkit.trials.engine import Result
from labkit.trials.verdict import MARGIN, Runs, ranked

FILE = DATA / "results.json"
NOT_RUN = "not run here"
NOT_YET = "not computed yet"
SEEN = "seen in training"
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
        lists = {name: [each.to_json() for each in getattr(self, name)] for name in ("figures", "claims")}
        plain = {name: value for name, value in vars(self).items() if name != "table" and name not in lists}
        return {"table": self.name, **plain, **lists}

    @classmethod
    def from_json(cls, table: Table, record: Mapping[str, Any]) -> Self:
        """The table with the scores of a file; without them as printed."""
        known = {(each["row"], each["column"]): Figure.from_json(each) for each in record["figures"]}
        figures = tuple(known.get((each.row, each.column), each) for each in as_printed(table).figures)
        claims = tuple(map(JudgedClaim.from_json, record["claims"]))
        return cls(**{**_frozen(record), "table": table, "figures": figures, "claims": claims})


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
        tables = [table.to_json() for table in self.tables]
        return {"command": self.command, "versions": dict(self.versions), "tables": tables}


def stored(path: Path | str = FILE, papers: Mapping[str, Paper] = PAPERS) -> Report:
    """The results of this file, except those of unknown papers."""
    known = {table.name: table for table in tables("", papers)}
    try:
        record = json.loads(Path(path).read_text(encoding="utf-8"))
        read = [each for each in record["tables"] if each["table"] in known]
        found = tuple(TableResult.from_json(known[each["table"]], each) for each in read)
        return Report(record["command"], found, record["versions"])
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


# --- from the results of cells to figures ------------------------------------------------------------------------

Figures: TypeAlias = dict[tuple[str, str], Figure]  # (row, column) -> its figure


def result(plan: TablePlan, computed: Computed, *, quick: bool = False) -> TableResult:
    """Combine a plan with the known results of its cells; with --quick no claim is judged."""
    table, known, cells = plan.table, computed.known, cells_of([plan])
    figures = {
        (row.name, column.name): _figure(plan, row, column, computed) for row in table.rows for column in table.columns
    }
    for column in table.columns:
        figures |= _standings(table, column, figures)
    commits = {known[cell.key].notes.get("commit", "") for cell in cells if cell.key in known}
    return TableResult(
        table=table,
        figures=tuple(figures.values()),
        claims=() if quick else tuple(_judged(claim, figures, table) for claim in table.claims),
        data=tuple(dict.fromkeys(str(cell.data) for cell in cells)),
        notes=plan.notes,
        evidence=not quick,
        published=plan.published,
        commits=tuple(sorted(commits - {""})),
        left=sum(cell.key not in known and cell.key not in computed.failed for cell in cells),
        made=tuple(made for row, data in plan.parts if (made := _made(row, data, plan.cells(row, data), known))),
    )


def results_shown(plans: Sequence[TablePlan], known: Mapping[str, Result]) -> dict[str, Result]:
    """The known results of each cell, with the parts of only those scores that these tables show.

    The parts of other scores, such as precision, decide nothing.
    """
    shown: dict[str, set[str]] = {}
    for plan in plans:
        for row in plan.table.rows:
            for column in plan.table.columns:
                for cell in plan.cells(row.name, column.data):
                    shown.setdefault(cell.key, set()).add(row.figure + column.figure)
    return {
        key: replace(each, parts={name: parts for name, parts in each.parts.items() if name in shown.get(key, ())})
        for key, each in known.items()
    }


def _made(row: str, data: str, cells: Sequence[Cell], known: Mapping[str, Result]) -> dict[str, Any]:
    """How the finished cells of a row were computed: the seconds, and what the trials chose."""
    found = [known[cell.key] for cell in cells if cell.key in known]
    if not found:
        return {}
    tunings = [known[each.key] for each in cells[0].tunings if each.key in known]
    chosen = [
        {
            "settings": each.notes["chosen"],
            "space": each.notes["about"]["space"],
            "measure": each.notes["measure"],
            "dev": each.figures.get("dev"),
            "dev at first": each.figures.get("dev at first"),
            "trials": len(each.notes["trials"]),
            "seconds": round(each.seconds, 1),
        }
        for each in tunings
    ]
    return {"row": row, "data": data, "seconds": round(median(each.seconds for each in found), 1), "chosen": chosen}


def _figure(plan: TablePlan, row: Row, column: Column, computed: Computed) -> Figure:
    """The printed score, and ours from the cells that have it."""
    name, cells = row.figure + column.figure, plan.cells(row.name, column.data)
    known = {cell.seed: computed.known[cell.key] for cell in cells if cell.key in computed.known}
    mine = {seed: found.figures[name] for seed, found in known.items() if name in found.figures}
    figure = Figure(row.name, column.name, row.published[plan.table.columns.index(column)])
    if not mine:
        failed = [computed.failed[cell.key] for cell in cells if cell.key in computed.failed]
        why = NOT_YET if not known else f"this data has no {name}"
        if isinstance(reason := plan.parts[row.name, column.data], str):
            why = reason
        elif failed:
            said = " ".join(str(failed[0]).split())
            why = said if isinstance(failed[0], Missing) else f"its recipe failed: {said}"
        return replace(figure, why=why)
    scale = 1.0 if row.counted else column.scale
    parts = {seed: known[seed].parts.get(name, Parts(np.array([value]), np.ones(1))) for seed, value in mine.items()}
    runs = {seed: Parts(scale * each.above, each.below) for seed, each in parts.items()}
    seen = column.data in row.seen and cells[0].data.published
    return replace(
        figure,
        values=tuple(scale * value for value in mine.values()),
        seeds=tuple(mine),
        why=SEEN if seen else "",
        interval=_interval(runs),
        seen=seen,
        runs=runs,
    )


def _interval(runs: Runs) -> tuple[float, float] | None:
    """The 95 % interval of the mean over these runs, over seeds and units: a lead over nothing.

    None if the score is not split over units. The bounds stay within the possible range: a share stays between 0 and 1.
    """
    mine = [*runs.values()]
    count = len(mine[0].above)
    if count == 1:
        return None
    low, high = lead_of(mine, [Parts(np.zeros(count), np.ones(count))]).interval()
    units = np.concatenate([each.above[each.below > 0] / each.below[each.below > 0] for each in mine])
    low, high = max(low, float(units.min())), min(high, float(units.max()))
    return round(low, 6), round(high, 6)  # further digits depend on how threads sum


def _standings(table: Table, column: Column, figures: Figures) -> Figures:
    """The scores of a column, each compared with the leader.

    Rows as printed do not compete with their tuned versions, and neither do methods that have seen the test.
    """
    counted = {row.name for row in table.rows if row.counted}
    here = {
        place: figure
        for place, figure in figures.items()
        if figure.column == column.name and figure.runs and not figure.seen
        if figure.row not in counted and AS_PRINTED not in figure.row
    }
    sizes = {len(parts.above) for figure in here.values() for parts in figure.runs.values()}
    seeds_alone = sizes != {max(sizes, default=1)} or sizes == {1}
    sign = 1 if column.larger else -1

    def signed(parts: Parts) -> Parts:
        value = Parts(np.array([parts.figure]), np.ones(1)) if seeds_alone else parts
        return Parts(sign * value.above, value.below)

    runs = {figure.row: {seed: signed(parts) for seed, parts in figure.runs.items()} for figure in here.values()}
    rows = ranked(runs, margin=MARGIN * column.scale, lowest=-math.inf, seeds_alone=seeds_alone)
    standings = {row.name: row.against_best for row in rows}
    return {place: replace(figure, standing=standings[figure.row]) for place, figure in here.items()}


# --- the claims of a table, judged on its figures ----------------------------------------------------------------


def _judged(claim: Claim, figures: Figures, table: Table) -> JudgedClaim:
    """The claim with both judgements; our own questions have none by the paper."""
    printed = {place: each.published for place, each in figures.items() if each.published is not None}
    paper = judge_printed(claim, printed)
    there = {place: each for place, each in figures.items() if each.runs and not each.seen}
    ours, leads = _on_ours(claim, there, table), _leads(claim, figures, there)
    if claim.ours:
        return JudgedClaim(claim.text, "", "the paper does not say it", ours.verdict, ours.why, *leads)
    return JudgedClaim(claim.text, paper.verdict, paper.why, ours.verdict, ours.why, *leads)


def _on_ours(claim: Claim, there: Figures, table: Table) -> Judgement:
    """The judgement on our scores; open with fewer than five common seeds or a missing score in a column.

    Methods that have seen the test data in pretraining are not `there` and decide nothing.
    """
    judged = judge(claim, lambda row, column: there[row, column].runs if (row, column) in there else None)
    if judged.verdict == "not measured":
        return judged
    asked = (*claim.rows, *claim.over)
    random = [row.name for row in table.rows if row.name in asked and row.recipe is not None and row.recipe.random]
    seeds = [[set(there[row, column].seeds) for row in random if (row, column) in there] for column in claim.columns]
    common = min((len(one & two) for here in seeds for one in here for two in here), default=CLAIM_SEEDS)
    gaps = {row: [column for column in claim.columns if (row, column) not in there] for row in asked}
    absent = [
        row if columns == list(claim.columns) else f"{row} in {' and '.join(columns)}"
        for row, columns in gaps.items()
        if columns
    ]
    verdict, why = judged.verdict, judged.why + (f"; without {', '.join(absent)}" if absent else "")
    if common < CLAIM_SEEDS:
        return Judgement("open", f"{why}; {common} seeds, expected {CLAIM_SEEDS}")
    if absent and verdict == "confirmed":
        verdict = "open"
    elif claim.best and verdict == "not confirmed" and any(gaps[row] for row in claim.rows):
        verdict = "open"  # the missing one could be the best
    return Judgement(verdict, why)


def _leads(claim: Claim, figures: Figures, there: Figures) -> tuple[ShownLead | None, ShownLead | None]:
    """The lead with the printed settings and with those chosen on dev, if a row of the claim has both.

    Both leads are of the pair of rows and the column that decide the claim with tuned settings; otherwise the effect of
    tuning could not be seen. If rows may be picked, they are picked again in that column. If one of these rows has only
    one of its two scores, nothing is shown.
    """
    places = [(row, column) for row in (*claim.rows, *claim.over) for column in claim.columns]
    twins = {place: (place[0] + AS_PRINTED, place[1]) for place in places}
    twins = {place: twin for place, twin in twins.items() if twin in figures}
    measured = [(place in there, twin in there) for place, twin in twins.items()]
    if not any(map(all, measured)) or any(one != other for one, other in measured):
        return None, None
    tuned = {place: there[place].runs for place in places if place in there}
    printed = tuned | {place: there[twin].runs for place, twin in twins.items() if twin in there}
    after = shown_lead(claim, lambda row, column: tuned.get((row, column)))
    if after is None:  # the others have not been measured
        return None, None
    same = replace(claim, columns=(after.column,))
    if not claim.best:
        same = replace(same, rows=(after.row,), over=(after.other,))
    return shown_lead(same, lambda row, column: printed.get((row, column))), after

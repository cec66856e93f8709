"""Results as records: a table of a paper with our numbers next to the printed ones.

    Report -> TableResult -> Figure, one for each row and column, and JudgedClaim

`result` computes them from a `TablePlan` and the known results of its cells: the published score and ours, how each row
compares with the leader, and the judgement of each claim on both. `Report.to_json` and `stored` write and read them.
The description and printed scores of a table are not stored; they are in `labkit.papers.published`.

    stored().table("film/1").figures     the bundled file     beside()     every printed table
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Any, Literal, TypeAlias

import numpy as np

from labkit.corpora.catalogue import DATA
from labkit.evaluation.comparison import Parts, Spread, lead_of
from labkit.papers.cells import Cell, Computed, TablePlan, cells_of
from labkit.papers.claims import Claim, Judgement, Place, ShownLead, judge, judge_printed, shown_lead
from labkit.papers.data import Missing
from labkit.papers.published import tables
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
    published: float | None = None
    values: tuple[float, ...] = ()
    seeds: tuple[int, ...] = ()
    why: str = ""
    interval: tuple[float, float] | None = None
    standing: Standing = ""
    seen: bool = False  # whether the method saw the test data in pretraining
    runs: Runs = field(default_factory=dict)

    @property
    def mean(self) -> float | None:
        """Our mean over the seeds."""
        return Spread.of(self.values).mean if self.values else None

    @property
    def spread(self) -> float | None:
        """Our standard deviation over the seeds."""
        return Spread.of(self.values).spread if self.values else None


@dataclass(frozen=True)
class JudgedClaim:
    """A claim, and whether the paper's scores and ours support it; `paper` is None for our own question."""

    text: str
    paper: Judgement | None
    ours: Judgement
    before: ShownLead | None = None  # with the printed settings, if that lead differs
    after: ShownLead | None = None  # with the settings chosen on dev

    @property
    def asked_here(self) -> bool:
        """Whether the claim is our own question."""
        return self.paper is None

    @property
    def contradicted(self) -> bool:
        """Whether the paper's own scores contradict the claim."""
        return self.paper is not None and self.paper.verdict == "not confirmed"


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
    evidence: bool = False  # whether its scores can be compared with the paper's
    published: bool = False  # whether the table was measured on published data
    commits: tuple[str, ...] = ()  # commits of the code that computed it
    left: int = 0  # runs that could be computed but have not been
    made: tuple[Mapping[str, Any], ...] = ()

    @property
    def name(self) -> str:
        """The name on the command line, such as film/1."""
        return self.table.name

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
        return self.figures[self.rows.index(row) * len(self.columns) + self.columns.index(column)]


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
            raise ValueError(f"table {name!r} is unknown; choose one of {', '.join(named)}")
        return named[name]

    def of(self, paper: Paper) -> list[TableResult]:
        """The tables of a paper."""
        return [result for result in self.tables if result.table.paper == paper.name]

    def to_json(self) -> dict[str, Any]:
        """The record for a file."""
        return {
            "command": self.command,
            "versions": dict(self.versions),
            "tables": [_written(result) for result in self.tables],
        }


# --- files of results --------------------------------------------------------------------------------------------


def _written(result: TableResult) -> dict[str, Any]:
    """The record of a table for a file, without empty fields."""
    figures = [_full({**vars(each), "runs": None, "mean": each.mean, "spread": each.spread}) for each in result.figures]
    claims = [_full(asdict(each)) for each in result.claims]
    plain = {name: value for name, value in vars(result).items() if name not in ("table", "figures", "claims")}
    return {"table": result.name, **plain, "figures": figures, "claims": claims}


def _full(record: Mapping[str, Any]) -> dict[str, Any]:
    """The record without empty fields."""
    return {
        name: _full(value) if isinstance(value, dict) else value
        for name, value in record.items()
        if value not in ("", (), None)
    }


def _read(table: Table, record: Mapping[str, Any]) -> TableResult:
    """The table with the scores from a file; without these, the table as printed."""
    known = {}
    for each in record["figures"]:
        fields = {name: value for name, value in each.items() if name not in ("mean", "spread")}
        known[each["row"], each["column"]] = Figure(**_frozen(fields))
    figures = tuple(known.get((each.row, each.column), each) for each in as_printed(table).figures)
    claims = tuple(map(_claim, record["claims"]))
    return TableResult(**{**_frozen(record), "table": table, "figures": figures, "claims": claims})


def _claim(record: Mapping[str, Any]) -> JudgedClaim:
    """A claim read from a file."""
    leads = {name: ShownLead(**record[name]) for name in ("before", "after") if name in record}
    paper = _judgement(record["paper"]) if "paper" in record else None
    return JudgedClaim(record["text"], paper, _judgement(record["ours"]), **leads)


def _judgement(record: Mapping[str, Any]) -> Judgement:
    """A judgement read from a file."""
    lead = ShownLead(**record["lead"]) if "lead" in record else None
    return Judgement(**{**_frozen(record), "lead": lead})


def _frozen(record: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a record, lists as tuples."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in record.items()}


def stored(path: Path | str = FILE) -> Report:
    """The results in this file, except those of unknown tables."""
    known = {table.name: table for table in tables()}
    try:
        record = json.loads(Path(path).read_text(encoding="utf-8"))
        found = tuple(_read(known[each["table"]], each) for each in record["tables"] if each["table"] in known)
        return Report(record["command"], found, record["versions"])
    except (KeyError, TypeError, ValueError, OSError) as error:
        raise ValueError(
            f"results {Path(path).name!r} cannot be read ({type(error).__name__}). Write the file again with `labkit "
            "reproduce --all --out FILE.json`"
        ) from None


def beside(path: Path | str = FILE) -> dict[str, TableResult]:
    """Every table of the papers by name, with our stored scores; computes nothing."""
    try:
        known = {result.name: result for result in stored(path).tables}
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


def results_shown(plans: Sequence[TablePlan], known: Mapping[str, Result]) -> dict[str, Result]:
    """The known results of each cell; of their scores, only those that these tables show keep their parts.

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


# --- from the results of cells to figures ------------------------------------------------------------------------

Figures: TypeAlias = dict[Place, Figure]


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


def _made(row: str, data: str, cells: Sequence[Cell], known: Mapping[str, Result]) -> dict[str, Any]:
    """How the finished cells of a row were computed: the seconds, and the settings that the trials chose."""
    found = [known[cell.key] for cell in cells if cell.key in known]
    if not found:
        return {}
    tunings = dict.fromkeys(tuning.key for cell in cells for tuning in cell.tunings)
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
        for key in tunings
        if (each := known.get(key))
    ]
    return {"row": row, "data": data, "seconds": round(median(each.seconds for each in found), 1), "chosen": chosen}


def _figure(plan: TablePlan, row: Row, column: Column, computed: Computed) -> Figure:
    """The printed score, and ours from all cells that have it."""
    name, part = row.figure + column.figure, plan.parts[row.name, column.data]
    figure = Figure(row.name, column.name, row.published[plan.table.columns.index(column)])
    if isinstance(part, str):
        return replace(figure, why=part)
    known = {cell.seed: computed.known[cell.key] for cell in part if cell.key in computed.known}
    mine = {seed: found.figures[name] for seed, found in known.items() if name in found.figures}
    failed = next((computed.failed[cell.key] for cell in part if cell.key in computed.failed), None)
    if not mine and failed:
        said = " ".join(str(failed).split())
        return replace(figure, why=said if isinstance(failed, Missing) else f"its recipe failed: {said}")
    if not mine:
        return replace(figure, why="not defined for this row on this data" if known else NOT_YET)
    scale = 1.0 if row.counted else column.scale
    parts = {seed: known[seed].parts.get(name, Parts.of(value)) for seed, value in mine.items()}
    runs = {seed: Parts(scale * each.above, each.below) for seed, each in parts.items()}
    seen = column.data in row.seen and part[0].data.published
    values = tuple(scale * value for value in mine.values())
    why, interval = SEEN if seen else "", _interval(runs)
    return replace(figure, values=values, seeds=tuple(mine), why=why, interval=interval, seen=seen, runs=runs)


def _interval(runs: Runs) -> tuple[float, float] | None:
    """The 95 % interval of the mean over these runs, over seeds and units, computed as a lead over zero.

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

    Rows as printed are left out, because their tuned versions compete, and so are methods that have seen the test data.
    """
    compete = [row.name for row in table.rows if not row.counted and AS_PRINTED not in row.name]
    here = {row: each for row in compete if (each := figures[row, column.name]).runs and not each.seen}
    sizes = {len(parts.above) for figure in here.values() for parts in figure.runs.values()}
    seeds_alone = sizes != {max(sizes, default=1)} or sizes == {1}
    sign = 1 if column.larger else -1

    def signed(parts: Parts) -> Parts:
        value = Parts.of(parts.figure) if seeds_alone else parts
        return Parts(sign * value.above, value.below)

    runs = {row: {seed: signed(parts) for seed, parts in figure.runs.items()} for row, figure in here.items()}
    rows = ranked(runs, margin=MARGIN * column.scale, lowest=-math.inf, seeds_alone=seeds_alone)
    return {(row.name, column.name): replace(here[row.name], standing=row.against_best) for row in rows}


# --- the claims of a table, judged on its figures ----------------------------------------------------------------


def _judged(claim: Claim, figures: Figures, table: Table) -> JudgedClaim:
    """The claim with both judgements; our own questions have no judgement by the paper.

    Methods that saw the test data in pretraining are ignored.
    """
    printed = {place: each.published for place, each in figures.items() if each.published is not None}
    runs = {place: each.runs for place, each in figures.items() if each.runs and not each.seen}
    paper = None if claim.ours else judge_printed(claim, printed)
    return JudgedClaim(claim.text, paper, _on_ours(claim, runs, table), *_leads(claim, figures, runs))


def _on_ours(claim: Claim, runs: Mapping[Place, Runs], table: Table) -> Judgement:
    """The judgement on our scores; open with fewer than five common seeds or a missing score in a column."""
    found = judge(claim, runs)
    if found.verdict == "not measured":
        return found
    asked = (*claim.rows, *claim.over)
    random = [row.name for row in table.rows if row.name in asked and row.recipe is not None and row.recipe.random]
    seeds = [[runs[row, column].keys() for row in random if (row, column) in runs] for column in claim.columns]
    common = min((len(one & two) for here in seeds for one in here for two in here), default=CLAIM_SEEDS)
    gaps = {row: [column for column in claim.columns if (row, column) not in runs] for row in asked}
    absent = tuple(
        row if columns == list(claim.columns) else f"{row} in {' and '.join(columns)}"
        for row, columns in gaps.items()
        if columns
    )
    found = replace(found, absent=absent, seeds=common if common < CLAIM_SEEDS else 0)
    best_missing = claim.best and any(gaps[row] for row in claim.rows)  # any of which could be the best
    lacks = (found.verdict == "confirmed" and absent) or (found.verdict == "not confirmed" and best_missing)
    return replace(found, verdict="open") if found.seeds or lacks else found


def _leads(claim: Claim, figures: Figures, tuned: Mapping[Place, Runs]) -> tuple[ShownLead | None, ShownLead | None]:
    """The leads with the printed settings and with the settings chosen on dev, if a row of the claim has both.

    Both leads use the pair of rows and the column that decide the claim with tuned settings; otherwise the effect of
    tuning could not be seen. If rows may be picked, they are picked again in that column. If one of these rows has only
    one of its two scores, no lead is shown.
    """
    places = [(row, column) for row in (*claim.rows, *claim.over) for column in claim.columns]
    twins = {place: twin for place in places if (twin := (place[0] + AS_PRINTED, place[1])) in figures}
    measured = {(place in tuned, twin in tuned) for place, twin in twins.items()}
    after = shown_lead(claim, tuned)
    if (True, True) not in measured or not measured <= {(True, True), (False, False)} or after is None:
        return None, None
    printed = {**tuned, **{place: tuned[twin] for place, twin in twins.items() if twin in tuned}}
    same = replace(claim, columns=(after.column,))
    if not claim.best:
        same = replace(same, rows=(after.row,), over=(after.other,))
    return shown_lead(same, printed), after

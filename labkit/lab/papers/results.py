"""What was computed beside what the paper prints, ready to be written in any form.

In: a `Plan` and a `Run`. Out: a `Result`: for each row and column the published figure and ours as mean and spread over
its seeds, the judgement of each claim on both, and the points of a picture.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import sqrt
from typing import Any, Literal, TypeAlias

import numpy as np

from labkit.evaluation import spearman_error
from labkit.evaluation.comparison import SEEDS, Parts, Spread
from labkit.lab.papers.cells import Cell, Part, Plan, Run
from labkit.lab.papers.claims import OUR_QUESTION, Claim, Judgement, Runs, decide, judge
from labkit.lab.papers.data import Opened
from labkit.lab.papers.records import CLAIM_SEEDS, Column, Point, Row, Table
from labkit.progress import lasting

# --- sampling ----------------------------------------------------------------------------------------------------
#
# How far another test set of the same size would move a figure: one standard deviation, where there is a formula.
#
#     a share p of n cases            sqrt(p (1 - p) / n)
#     a correlation r of n pairs      (1 - r²) / sqrt(n); of ranks as in `evaluation.spearman_error`
#
# Two runs that differ by less tell nothing, however little their seeds differ. In: a figure of a recipe, its value, and
# how many cases are scored. Out: a number; 0 where no formula is known.


SHARES = ("accuracy", "triplet_accuracy", "hit@1", "hit@3", "hit@10")
CORRELATIONS = ("pearson", "cosine pearson")
NOT_ROWS = ("articles",)  # of these data sets a case is a triplet or a sentence, and a row an article


def cases_of(column: Column, data: Opened) -> int:
    """How many cases of the test split a column is measured on; 0 where that is not known."""
    if column.cases or column.data in NOT_ROWS:
        return column.cases
    return data.partnered if column.figure.startswith("hit@") else data.sizes.get("test", 0)


def sampling(figure: str, value: float, cases: int) -> float:
    """One standard deviation of the figure over test sets of so many cases. A year after its name changes nothing.

    >>> round(sampling("accuracy", 0.7, 2_100), 3)
    0.01
    """
    if cases < 1:
        return 0.0
    figure = figure.rstrip("0123456789 ") if "@" not in figure else figure
    if figure in SHARES and 0 <= value <= 1:
        return sqrt(value * (1 - value) / cases)
    if figure == "spearman" and -1 <= value <= 1 and cases > 3:
        return spearman_error(value, cases)
    if figure in CORRELATIONS and -1 <= value <= 1:
        return (1 - value**2) / sqrt(cases)
    return 0.0


# --- results -----------------------------------------------------------------------------------------------------

SEEN = "seen in training"
EARLIER = (
    "computed earlier: with two threads and three seeds, on the splits of that time, before the scores of single test "
    "items were kept. So its claims are judged by the earlier rule: by the spread over seeds or, if larger, the "
    "sampling error where there is a formula"
)
State: TypeAlias = Literal["", "not yet", "lacking", "seen"]  # could be computed; not in this data; see SEEN


@dataclass(frozen=True)
class Figure:
    """Of one row and column, in the paper's unit. `why`: why it is missing, or what to know of it.

    `runs` are ours, seed by seed, taken apart over the test set. Of those that were computed `earlier`, `noise` says by
    how much another test set of the same size would move them. What is `counted` is a whole number.
    """

    published: float | None
    ours: Spread | None
    seeds: tuple[int, ...] = ()
    why: str = ""
    noise: float = 0.0
    state: State = ""
    runs: Runs = field(default_factory=dict)
    earlier: bool = False
    counted: bool = False


@dataclass(frozen=True, eq=False)
class Result:
    """One table, recomputed as far as it goes."""

    table: Table
    figures: Mapping[tuple[str, str], Figure]
    judgements: tuple[tuple[Claim, Judgement, Judgement], ...]  # claim, on the paper's figures, on ours
    points: Mapping[str, tuple[Point, ...]]
    data: tuple[str, ...]
    notes: tuple[str, ...]
    left_out: Mapping[str, str]  # rows without any figure of ours -> why
    rest: float  # seconds that the rows take which could be computed and are not
    published: bool
    quick: bool
    commits: tuple[str, ...] = ()  # of the code that computed it

    @property
    def earlier(self) -> bool:
        """Whether something in it was computed before single scores were kept."""
        return any(figure.earlier for figure in self.figures.values())

    @property
    def evidence(self) -> bool:
        """Whether its figures may be set against the paper's."""
        return not self.quick


def result(plan: Plan, run: Run, *, quick: bool = False) -> Result:
    """A plan with what is known of its cells."""
    parts = {(part.row.name, part.data): part for part in plan.parts}
    figures = {
        (row.name, column.name): _figure(place, row, column, parts[row.name, column.data], run)
        for row in plan.table.rows
        for place, column in enumerate(plan.table.columns)
    }
    judged = tuple(
        (claim, _on_paper(claim, figures), _on_ours(claim, figures, plan.table, quick=quick))
        for claim in plan.table.claims
    )
    return Result(
        table=plan.table,
        figures=figures,
        judgements=judged,
        points=_points(plan, run),
        data=tuple(dict.fromkeys(str(cell.data) for cell in plan.cells)),
        notes=(*plan.notes, EARLIER) if any(figure.earlier for figure in figures.values()) else plan.notes,
        left_out=_left_out(plan, figures),
        rest=sum(run.expected[cell.fingerprint] for cell in plan.cells if _unknown(cell, run)),
        published=plan.published,
        quick=quick,
        commits=tuple(
            sorted({run.known[c.fingerprint].commit for c in plan.cells if c.fingerprint in run.known} - {""})
        ),
    )


def _figure(place: int, row: Row, column: Column, part: Part, run: Run) -> Figure:
    published = row.published[place]
    name = row.figure + column.figure
    cells = {
        cell.seed: known
        for cell in part.cells
        if (known := run.known.get(cell.fingerprint)) is not None and name in known.figures
    }
    if not cells:
        return _none(published, part, run, name)
    found = {seed: known.figures[name] for seed, known in cells.items()}
    scale = 1.0 if row.counted else column.scale
    values = scale * np.array(list(found.values()))
    spread = float(values.std(ddof=1)) if len(values) > 1 else 0.0
    data = part.cells[0].data
    seen = part.data in row.seen and data.published
    ours = Spread(float(values.mean()), spread, tuple(values.tolist()))
    noise = scale * sampling(column.figure, ours.mean / scale, cases_of(column, data))
    one = Parts(np.zeros(1), np.ones(1))
    runs = {
        seed: Parts(scale * parts.above, parts.below)
        if (parts := known.parts.get(name)) is not None
        else Parts(one.above + scale * found[seed], one.below)
        for seed, known in cells.items()
    }
    return Figure(
        published,
        ours,
        tuple(found),
        SEEN if seen else "",
        noise,
        "seen" if seen else "",
        runs,
        earlier=any(known.earlier for known in cells.values()),
        counted=row.counted,
    )


def _none(published: float | None, part: Part, run: Run, name: str) -> Figure:
    """No cell has this figure: none was planned, or one failed, or the data has none, or none has been computed."""
    failed = [run.failed[cell.fingerprint] for cell in part.cells if cell.fingerprint in run.failed]
    failed += [f"its recipe failed: {run.broken[c.fingerprint]}" for c in part.cells if c.fingerprint in run.broken]
    if part.why_not or failed:
        return Figure(published, None, why=part.why_not or failed[0])
    known = [run.known[cell.fingerprint] for cell in part.cells if cell.fingerprint in run.known]
    if any(cell.earlier for cell in known):
        return Figure(published, None, why="was not written down when this was computed earlier")
    if known:
        return Figure(published, None, why=f"this data has no {name}", state="lacking")
    takes = lasting(sum(run.expected[cell.fingerprint] for cell in part.cells))
    return Figure(published, None, why=f"not computed yet, about {takes}", state="not yet")


def _unknown(cell: Cell, run: Run) -> bool:
    return not any(cell.fingerprint in found for found in (run.known, run.failed, run.broken))


def _points(plan: Plan, run: Run) -> dict[str, tuple[Point, ...]]:
    """Of the first seed of each row that has a picture."""
    return {
        part.row.name: known.points
        for part in plan.parts
        if part.cells and (known := run.known.get(part.cells[0].fingerprint)) is not None and known.points
    }


def _left_out(plan: Plan, figures: Mapping[tuple[str, str], Figure]) -> dict[str, str]:
    found = {}
    for row in plan.table.rows:
        mine = [figures[row.name, column.name] for column in plan.table.columns]
        if all(figure.ours is None for figure in mine):
            found[row.name] = next((figure for figure in mine if figure.state == "not yet"), mine[0]).why
    return found


# --- claims ----------------------------------------------------------------------------------------------------


def _on_paper(claim: Claim, figures: Mapping[tuple[str, str], Figure]) -> Judgement:
    """Of figures as printed: without a spread. A question of ours is none of the paper's."""
    if claim.ours:
        return OUR_QUESTION

    def look_up(row: str, column: str) -> Spread | None:
        found = figures.get((row, column))
        return None if found is None or found.published is None else Spread(found.published, 0.0, (found.published,))

    return judge(claim, look_up)


def _on_ours(
    claim: Claim, figures: Mapping[tuple[str, str], Figure], table: Table, *, quick: bool = False
) -> Judgement:
    """Of ours, by the intervals of the leads; where some were computed earlier, by spreads.

    With fewer than five seeds of a row that chance has a part in (earlier: three), or --quick, there is no verdict.
    What a method met when it was trained elsewhere decides nothing. Where a row has no figure in one of the columns,
    the claim holds in part at most.
    """
    random = {row.name for row in table.rows if row.recipe is not None and row.recipe.random}
    asked = (*claim.rows, *claim.over)
    there = {
        (row, column): found
        for row in asked
        for column in claim.columns
        if (found := figures.get((row, column))) is not None and found.ours is not None and found.state != "seen"
    }
    earlier = any(found.earlier for found in there.values())

    def spread(row: str, column: str) -> Spread | None:
        found = there.get((row, column))
        return (
            None
            if found is None or found.ours is None
            else replace(found.ours, spread=max(found.ours.spread, found.noise))
        )

    def runs(row: str, column: str) -> Runs | None:
        return there[row, column].runs if (row, column) in there else None

    few = any(
        row in random and len(found.seeds) < (SEEDS if earlier else CLAIM_SEEDS) for (row, _), found in there.items()
    )
    judged = judge(claim, spread) if earlier else decide(claim, runs)
    if judged.verdict == "not measured":
        return judged
    gaps = {row: [column for column in claim.columns if (row, column) not in there] for row in asked}
    absent = [
        row if columns == list(claim.columns) else f"{row} in {' and '.join(columns)}"
        for row, columns in gaps.items()
        if columns
    ]
    verdict = judged.verdict
    if quick or few:
        verdict = "not evidence" if quick else "too few seeds"
    elif absent and verdict == "confirmed":
        verdict = "confirmed in part"
    elif claim.best and verdict == "not confirmed" and any(gaps[row] for row in claim.rows):
        verdict = "undecided"  # the one that is not there could be the best
    return Judgement(verdict, judged.why + (f"; without {', '.join(absent)}" if absent else ""))


def as_record(found: Result) -> dict[str, Any]:
    """Ready for JSON."""
    return {
        "table": found.table.name,
        "title": found.table.title,
        "caption": found.table.caption,
        "note": found.table.note,
        "evidence": found.evidence,
        "data": list(found.data),
        "published_data": found.published,
        "commits": list(found.commits),
        "earlier": found.earlier,
        "notes": list(found.notes),
        "seconds_not_computed": round(found.rest),
        "rows": [
            {
                "row": row.name,
                "figures": [
                    _figure_record(column, found.figures[row.name, column.name]) for column in found.table.columns
                ],
            }
            for row in found.table.rows
        ],
        "claims": [
            {
                "claim": claim.text,
                "paper": {"verdict": paper.verdict, "why": paper.why},
                "ours": {"verdict": ours.verdict, "why": ours.why},
            }
            for claim, paper, ours in found.judgements
        ],
    }


def _figure_record(column: Column, figure: Figure) -> dict[str, Any]:
    ours = figure.ours
    return {
        "column": column.name,
        "paper": figure.published,
        "mean": None if ours is None else ours.mean,
        "spread": None if ours is None else ours.spread,
        "values": [] if ours is None else list(ours.values),
        "seeds": list(figure.seeds),
        "why": figure.why,
    }

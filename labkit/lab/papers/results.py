"""What was computed beside what the paper prints, ready to be written in any form.

In: a `TablePlan` and a `Computed`. Out: a `TableResult`: for each row and column the published figure and ours as mean
and spread over its seeds, the judgement of each claim on both, and the points of a picture.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import sqrt
from typing import Any

import numpy as np

from labkit.evaluation import spearman_error
from labkit.evaluation.comparison import SEEDS, Parts, Spread, lead_of
from labkit.lab.papers.cells import Cell, Computed, RowPart, TablePlan, with_tunings
from labkit.lab.papers.claims import (
    OUR_QUESTION,
    Claim,
    Judgement,
    Runs,
    ShownLead,
    judge_figures,
    judge_runs,
    shown_lead,
)
from labkit.lab.papers.data import DataAtHand
from labkit.lab.papers.records import AS_PRINTED, CLAIM_SEEDS, Column, Point, Row, Table
from labkit.lab.papers.store import Known
from labkit.lab.papers.stored import Figure, JudgedClaim, Made, State, TableResult
from labkit.progress import lasting

SEEN = "seen in training"
EARLIER = (
    "computed earlier: with two threads and three seeds, on the splits of that time, before the scores of single test "
    "items were kept. So its claims are judged by the earlier rule: by the spread over seeds or, if larger, the "
    "sampling error where there is a formula"
)
SHARES = ("accuracy", "triplet_accuracy", "hit@1", "hit@3", "hit@10")
CORRELATIONS = ("pearson", "cosine pearson")
NOT_ROWS = ("articles",)  # of these data sets a case is a triplet or a sentence, and a row an article


def cases_of(column: Column, data: DataAtHand) -> int:
    """How many cases of the test split a column is measured on; 0 where that is not known."""
    if column.cases or column.data in NOT_ROWS:
        return column.cases
    return data.partnered if column.figure.startswith("hit@") else data.sizes.get("test", 0)


def sampling(figure: str, value: float, cases: int) -> float:
    """One standard deviation of the figure over test sets of so many cases; 0 where no formula is known.

    a share p of n cases            sqrt(p (1 - p) / n)
    a correlation r of n pairs      (1 - r²) / sqrt(n); of ranks as in `evaluation.spearman_error`

    Two runs that differ by less tell nothing, however little their seeds differ. A year after the figure's name changes
    nothing.

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


def result(plan: TablePlan, run: Computed, *, quick: bool = False) -> TableResult:
    """A plan with what is known of its cells."""
    parts = {(part.row.name, part.data): part for part in plan.parts}
    figures = {
        (row.name, column.name): _figure(plan.table, row, column, parts[row.name, column.data], run)
        for row in plan.table.rows
        for column in plan.table.columns
    }
    claims = []
    for claim in plan.table.claims:
        paper, ours = _on_paper(claim, figures), _on_ours(claim, figures, plan.table, quick=quick)
        leads = _leads(claim, figures)
        claims.append(JudgedClaim(claim.text, paper.verdict, paper.why, ours.verdict, ours.why, *leads))
    judged = {
        (row, column) for claim in plan.table.claims for row in (*claim.rows, *claim.over) for column in claim.columns
    }
    earlier = any(figure.earlier and figure.state != "seen" for at, figure in figures.items() if at in judged)
    known = [run.known[cell.fingerprint] for cell in plan.cells if cell.fingerprint in run.known]
    return TableResult(
        table=plan.table,
        figures=tuple(figures.values()),
        claims=tuple(claims),
        data=tuple(dict.fromkeys(str(cell.data) for cell in plan.cells)),
        notes=(*plan.notes, EARLIER) if earlier else plan.notes,
        evidence=not quick,
        published=plan.published,
        commits=tuple(sorted({cell.commit for cell in known} - {""})),
        earlier=earlier,
        rest=_left([cell for cell in plan.cells if _unknown(cell, run)], run),
        points=_points(plan, run),
        made=tuple(made for part in plan.parts if (made := _made(part, run))),
    )


def cells_as_shown(plans: Sequence[TablePlan], run: Computed) -> list[Known]:
    """What is known of each cell, with the parts of those figures only that these tables show of it.

    Of all others, such as precision, the parts decide nothing.
    """
    shown: dict[str, set[str]] = {}
    for plan in plans:
        for part in plan.parts:
            names = {part.row.figure + column.figure for column in plan.table.columns if column.data == part.data}
            for cell in part.cells:
                shown.setdefault(cell.fingerprint, set()).update(names)
    return [
        replace(known, parts={name: parts for name, parts in known.parts.items() if name in shown.get(key, ())})
        for key, known in run.known.items()
    ]


def _made(part: RowPart, run: Computed) -> Made | None:
    """How the cells of this part were computed, as far as they are."""
    known = [run.known[cell.fingerprint] for cell in part.cells if cell.fingerprint in run.known]
    if not known:
        return None
    tunings = [run.known[each.fingerprint] for each in part.cells[0].tunings if each.fingerprint in run.known]
    return Made(
        part.row.name,
        part.data,
        tuple(each.seed for each in known),
        tuple(round(each.seconds, 1) for each in known),
        tuple(dict.fromkeys(each.commit for each in known)),
        tuple(dict.fromkeys(each.notes.get("host", "") for each in known)),
        known[0].kind.get("settings", {}),
        tuple(map(_chosen, tunings)),
    )


def _chosen(tuning: Known) -> dict[str, Any]:
    """What trials chose, of what, by which figure of dev, and in how many seconds."""
    notes = tuning.notes
    return {
        "settings": notes["chosen"],
        "space": notes["space"],
        "measure": notes["measure"],
        "dev": tuning.figures.get("dev"),
        "dev at first": tuning.figures.get("dev at first"),
        "trials": len(notes["trials"]),
        "seconds": round(tuning.seconds, 1),
    }


def _figure(table: Table, row: Row, column: Column, part: RowPart, run: Computed) -> Figure:
    """The printed figure, and ours of the cells that have it."""
    published = row.published[table.columns.index(column)]
    name = row.figure + column.figure
    cells = {
        cell.seed: known
        for cell in part.cells
        if (known := run.known.get(cell.fingerprint)) is not None and name in known.figures
    }
    if not cells:
        why, state = _none(part, run, name)
        return Figure(row.name, column.name, published, why=why, state=state)
    mine = {seed: known.figures[name] for seed, known in cells.items()}
    scale = 1.0 if row.counted else column.scale
    data = part.cells[0].data
    seen = part.data in row.seen and data.published
    ours = Spread.of(scale * np.array(list(mine.values())))
    noise = scale * sampling(column.figure, ours.mean / scale, cases_of(column, data))
    one = Parts(np.zeros(1), np.ones(1))
    runs = {
        seed: Parts(scale * parts.above, parts.below)
        if (parts := known.parts.get(name)) is not None
        else Parts(one.above + scale * mine[seed], one.below)
        for seed, known in cells.items()
    }
    return Figure(
        row.name,
        column.name,
        published,
        ours,
        tuple(mine),
        SEEN if seen else "",
        noise,
        "seen" if seen else "",
        runs,
        earlier=any(known.earlier for known in cells.values()),
        counted=row.counted,
        interval=_interval(list(runs.values())) if table.intervals else None,
    )


def _interval(runs: Sequence[Parts]) -> tuple[float, float]:
    """The bounds of the mean over these runs, 95 % sure over seeds and units: those of its lead over nothing.

    Of several units no draw reaches beyond the least and the largest of them: a share stays between 0 and 1.
    """
    count = len(runs[0].above)
    bounds = lead_of(runs, [Parts(np.zeros(count), np.ones(count))]).interval()
    low, high = (round(bound, 6) for bound in bounds)  # what is behind hangs on how sums are shared among threads
    if count == 1:
        return low, high
    units = np.concatenate([each.above[each.below > 0] / each.below[each.below > 0] for each in runs])
    return max(low, float(units.min())), min(high, float(units.max()))


def _none(part: RowPart, run: Computed, name: str) -> tuple[str, State]:
    """Why no cell has this figure: none was planned, or one failed, or the data has none, or none has been computed."""
    names = [cell.fingerprint for cell in part.cells]
    failed = [run.failed[each] for each in names if each in run.failed]
    failed += [f"its recipe failed: {run.broken[each]}" for each in names if each in run.broken]
    if part.why_not or failed:
        return part.why_not or failed[0], ""
    known = [run.known[each] for each in names if each in run.known]
    if any(cell.earlier for cell in known):
        return "was not written down when this was computed earlier", ""
    if known:
        return f"this data has no {name}", "lacking"
    return f"not computed yet, about {lasting(_left(part.cells, run))}", "not yet"


def _left(cells: Sequence[Cell], run: Computed) -> float:
    """Seconds that these take, and the tunings that they need."""
    return sum(run.expected[cell.fingerprint] for cell in with_tunings(cells) if _unknown(cell, run))


def _unknown(cell: Cell, run: Computed) -> bool:
    return not any(cell.fingerprint in cells for cells in (run.known, run.failed, run.broken))


def _points(plan: TablePlan, run: Computed) -> dict[str, tuple[Point, ...]]:
    """The points of each row that has a picture, with its first seed."""
    return {
        part.row.name: known.points
        for part in plan.parts
        if part.cells and (known := run.known.get(part.cells[0].fingerprint)) is not None and known.points
    }


# --- the claims of a table, judged on its figures ----------------------------------------------------------------


def _on_paper(claim: Claim, figures: Mapping[tuple[str, str], Figure]) -> Judgement:
    """The judgement on figures as printed, without a spread. A question of ours is none of the paper's."""
    if claim.ours:
        return OUR_QUESTION

    def look_up(row: str, column: str) -> Spread | None:
        figure = figures.get((row, column))
        return (
            None if figure is None or figure.published is None else Spread(figure.published, 0.0, (figure.published,))
        )

    return judge_figures(claim, look_up)


def _leads(claim: Claim, figures: Mapping[tuple[str, str], Figure]) -> tuple[ShownLead | None, ShownLead | None]:
    """The lead with the settings as printed and with those chosen on dev, where a row of the claim has both.

    Both are of one row over one other in one column, those that decide the claim with the settings chosen: between
    different rows what tuning does could not be told. Where rows may be picked, they are picked anew in that column.
    Where one of several such rows has one of its two figures alone, none is shown.
    """
    there = {place: each for place, each in figures.items() if each.ours is not None and each.state != "seen"}
    places = [(row, column) for row in (*claim.rows, *claim.over) for column in claim.columns]
    twins = [(row, column) for row, column in places if (row + AS_PRINTED, column) in figures]
    measured = [(place in there, (place[0] + AS_PRINTED, place[1]) in there) for place in twins]
    if not any(map(all, measured)) or any(one != other for one, other in measured):
        return None, None
    tuned = {place: there[place] for place in places if place in there}
    printed = {(row, column): there[row + AS_PRINTED, column] for row, column in twins if (row, column) in there}
    after = _shown(claim, tuned)
    if after is None:  # the others have not been measured
        return None, None
    same = replace(claim, columns=(after.column,))
    if not claim.best:
        same = replace(same, rows=(after.row,), over=(after.other,))
    return _shown(same, tuned | printed), after


def _shown(claim: Claim, figures: Mapping[tuple[str, str], Figure]) -> ShownLead | None:
    """The lead between these rows; where one was computed earlier, its interval is over seeds alone."""
    earlier = any(figure.earlier for figure in figures.values())

    def runs(row: str, column: str) -> Runs | None:
        figure = figures.get((row, column))
        if figure is None or not earlier:
            return None if figure is None else figure.runs
        return {seed: Parts(np.array([each.figure]), np.ones(1)) for seed, each in figure.runs.items()}

    return shown_lead(claim, runs)


def _on_ours(
    claim: Claim, figures: Mapping[tuple[str, str], Figure], table: Table, *, quick: bool = False
) -> Judgement:
    """The judgement on ours, by the intervals of the leads; where some were computed earlier, by spreads.

    With fewer than five seeds of a row that chance has a part in (earlier: three), or of two such rows in common, or
    --quick, there is no verdict.
    What a method met when it was trained elsewhere decides nothing. Where a row has no figure in one of the columns,
    the claim holds in part at most.
    """
    random = {row.name for row in table.rows if row.recipe is not None and row.recipe.random}
    asked = (*claim.rows, *claim.over)
    there = {
        (row, column): figure
        for row in asked
        for column in claim.columns
        if (figure := figures.get((row, column))) is not None and figure.ours is not None and figure.state != "seen"
    }
    earlier = any(figure.earlier for figure in there.values())

    def spread(row: str, column: str) -> Spread | None:
        figure = there.get((row, column))
        if figure is None or figure.ours is None:
            return None
        return replace(figure.ours, spread=max(figure.ours.spread, figure.noise))

    def runs(row: str, column: str) -> Runs | None:
        return there[row, column].runs if (row, column) in there else None

    enough = SEEDS if earlier else CLAIM_SEEDS
    seeds = {place: set(figure.seeds) for place, figure in there.items() if place[0] in random}
    pairs = [((row, column), (other, column)) for row in asked for other in asked for column in claim.columns]
    few = any(len(seeds[one] & seeds[two]) < enough for one, two in pairs if one in seeds and two in seeds)
    judged = judge_figures(claim, spread) if earlier else judge_runs(claim, runs)
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

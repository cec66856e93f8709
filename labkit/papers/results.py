"""Combine our results with the paper's for display.

In: a `TablePlan` and the known results of its cells. Out: a `TableResult`: the published score and ours for each row
and column, how each row compares with the leader, and the judgement of each claim on both.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import Any

import numpy as np

from labkit.evaluation.comparison import Parts, lead_of
from labkit.papers.bundled_report import Figure, JudgedClaim, TableResult
from labkit.papers.cells import Computed, RowPart, TablePlan, cells_of
from labkit.papers.claims import Claim, Judgement, ShownLead, judge, judge_printed, shown_lead
from labkit.papers.records import AS_PRINTED, CLAIM_SEEDS, Column, Row, Table
from labkit.trials.engine import Result
from labkit.trials.verdict import MARGIN, Runs, ranked

SEEN = "seen in training"
NOT_YET = "not computed yet"


def result(plan: TablePlan, computed: Computed, *, quick: bool = False) -> TableResult:
    """Combine a plan with the known results of its cells; with --quick no claim is judged."""
    table, known = plan.table, computed.known
    parts = {(part.row.name, part.data): part for part in plan.parts}
    figures = {
        (row.name, column.name): _figure(table, row, column, parts[row.name, column.data], computed)
        for row in table.rows
        for column in table.columns
    }
    for column in table.columns:
        figures |= _standings(table, column, figures)
    cells = cells_of([plan])
    commits = {known[cell.key].notes.get("commit", "") for cell in cells if cell.key in known}
    reasons = computed.failed.keys() | computed.broken.keys()
    return TableResult(
        table=table,
        figures=tuple(figures.values()),
        claims=() if quick else tuple(_judged(claim, figures, table) for claim in table.claims),
        data=tuple(dict.fromkeys(str(cell.data) for cell in cells)),
        notes=plan.notes,
        evidence=not quick,
        published=plan.published,
        commits=tuple(sorted(commits - {""})),
        left=sum(cell.key not in known and cell.key not in reasons for cell in cells),
        made=tuple(made for part in plan.parts if (made := _made(part, known))),
    )


def results_shown(plans: Sequence[TablePlan], known: Mapping[str, Result]) -> dict[str, Result]:
    """The known results of each cell, with the parts of only those scores that these tables show.

    The parts of other scores, such as precision, decide nothing.
    """
    shown: dict[str, set[str]] = {}
    for plan in plans:
        for part in plan.parts:
            names = {part.row.figure + column.figure for column in plan.table.columns if column.data == part.data}
            for cell in part.cells:
                shown.setdefault(cell.key, set()).update(names)
    return {
        key: replace(each, parts={name: parts for name, parts in each.parts.items() if name in shown.get(key, ())})
        for key, each in known.items()
    }


def _made(part: RowPart, known: Mapping[str, Result]) -> dict[str, Any]:
    """How the finished cells of this part were computed."""
    found = [known[cell.key] for cell in part.cells if cell.key in known]
    if not found:
        return {}
    tunings = [known[each.key] for each in part.cells[0].tunings if each.key in known]
    seconds = round(median(each.seconds for each in found), 1)
    return {"row": part.row.name, "data": part.data, "seconds": seconds, "chosen": list(map(_chosen, tunings))}


def _chosen(tuning: Result) -> dict[str, Any]:
    """The settings that trials chose, their ranges, the dev score, and the seconds."""
    notes = tuning.notes
    return {
        "settings": notes["chosen"],
        "space": notes["about"]["space"],
        "measure": notes["measure"],
        "dev": tuning.figures.get("dev"),
        "dev at first": tuning.figures.get("dev at first"),
        "trials": len(notes["trials"]),
        "seconds": round(tuning.seconds, 1),
    }


def _figure(table: Table, row: Row, column: Column, part: RowPart, computed: Computed) -> Figure:
    """The printed score, and ours from the cells that have it."""
    name = row.figure + column.figure
    known = {cell.seed: found for cell in part.cells if (found := computed.known.get(cell.key)) is not None}
    mine = {seed: found.figures[name] for seed, found in known.items() if name in found.figures}
    figure = Figure(row.name, column.name, row.published[table.columns.index(column)])
    if not mine:
        return replace(figure, why=_none(part, computed, name))
    scale = 1.0 if row.counted else column.scale
    parts = {seed: known[seed].parts.get(name, Parts(np.array([value]), np.ones(1))) for seed, value in mine.items()}
    runs = {seed: Parts(scale * each.above, each.below) for seed, each in parts.items()}
    seen = part.data in row.seen and part.cells[0].data.published
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


def _none(part: RowPart, computed: Computed, name: str) -> str:
    """Why no cell has this score: not planned, failed, undefined on this data, or not computed."""
    keys = [cell.key for cell in part.cells]
    failed = [computed.failed[key] for key in keys if key in computed.failed]
    failed += [f"its recipe failed: {computed.broken[key]}" for key in keys if key in computed.broken]
    if part.why_not or failed:
        return part.why_not or failed[0]
    return f"this data has no {name}" if any(key in computed.known for key in keys) else NOT_YET


def _standings(
    table: Table, column: Column, figures: Mapping[tuple[str, str], Figure]
) -> dict[tuple[str, str], Figure]:
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
    if not here:
        return {}
    sign = 1 if column.larger else -1
    runs = {
        figure.row: {seed: Parts(sign * parts.above, parts.below) for seed, parts in figure.runs.items()}
        for figure in here.values()
    }
    units = {len(parts.above) for each in runs.values() for parts in each.values()}
    seeds_alone = units == {1} or len(units) > 1
    if seeds_alone:
        runs = {
            row: {seed: Parts(np.array([parts.figure]), np.ones(1)) for seed, parts in each.items()}
            for row, each in runs.items()
        }
    rows = ranked(runs, margin=MARGIN * column.scale, lowest=-math.inf, seeds_alone=seeds_alone)
    standings = {row.name: row.against_best for row in rows}
    return {place: replace(figure, standing=standings[figure.row]) for place, figure in here.items()}


# --- the claims of a table, judged on its figures ----------------------------------------------------------------


def _judged(claim: Claim, figures: Mapping[tuple[str, str], Figure], table: Table) -> JudgedClaim:
    """The claim with both judgements; our own questions have none by the paper."""
    printed = {place: each.published for place, each in figures.items() if each.published is not None}
    paper = judge_printed(claim, printed)
    ours = _on_ours(claim, figures, table)
    before, after = _leads(claim, figures)
    if claim.ours:
        return JudgedClaim(claim.text, "", "the paper does not say it", ours.verdict, ours.why, before, after)
    return JudgedClaim(claim.text, paper.verdict, paper.why, ours.verdict, ours.why, before, after)


def _on_ours(claim: Claim, figures: Mapping[tuple[str, str], Figure], table: Table) -> Judgement:
    """The judgement on our scores; open with fewer than five common seeds or a missing score in a column.

    Methods that have seen the test data in pretraining decide nothing.
    """
    asked = (*claim.rows, *claim.over)
    there = {place: figure for place, figure in figures.items() if figure.runs and not figure.seen}
    judged = judge(claim, lambda row, column: _runs(there, row, column))
    if judged.verdict == "not measured":
        return judged
    random = {row.name for row in table.rows if row.recipe is not None and row.recipe.random}
    seeds = {place: set(figure.seeds) for place, figure in there.items() if place[0] in random}
    pairs = [((row, column), (other, column)) for row in asked for other in asked for column in claim.columns]
    common = [len(seeds[one] & seeds[two]) for one, two in pairs if one in seeds and two in seeds]
    gaps = {row: [column for column in claim.columns if (row, column) not in there] for row in asked}
    absent = [
        row if columns == list(claim.columns) else f"{row} in {' and '.join(columns)}"
        for row, columns in gaps.items()
        if columns
    ]
    verdict, why = judged.verdict, judged.why + (f"; without {', '.join(absent)}" if absent else "")
    if min(common, default=CLAIM_SEEDS) < CLAIM_SEEDS:
        return Judgement("open", f"{why}; {min(common)} seeds, expected {CLAIM_SEEDS}")
    if absent and verdict == "confirmed":
        verdict = "open"
    elif claim.best and verdict == "not confirmed" and any(gaps[row] for row in claim.rows):
        verdict = "open"  # the missing one could be the best
    return Judgement(verdict, why)


def _runs(figures: Mapping[tuple[str, str], Figure], row: str, column: str) -> Runs | None:
    return figures[row, column].runs if (row, column) in figures else None


def _leads(claim: Claim, figures: Mapping[tuple[str, str], Figure]) -> tuple[ShownLead | None, ShownLead | None]:
    """The lead with the printed settings and with those chosen on dev, if a row of the claim has both.

    Both leads are of the pair of rows and the column that decide the claim with tuned settings; otherwise the effect of
    tuning could not be seen. If rows may be picked, they are picked again in that column. If one of these rows has only
    one of its two scores, nothing is shown.
    """
    there = {place: each for place, each in figures.items() if each.runs and not each.seen}
    places = [(row, column) for row in (*claim.rows, *claim.over) for column in claim.columns]
    twins = [(row, column) for row, column in places if (row + AS_PRINTED, column) in figures]
    measured = [(place in there, (place[0] + AS_PRINTED, place[1]) in there) for place in twins]
    if not any(map(all, measured)) or any(one != other for one, other in measured):
        return None, None
    tuned = {place: there[place] for place in places if place in there}
    printed = {(row, column): there[row + AS_PRINTED, column] for row, column in twins if (row, column) in there}
    after = shown_lead(claim, lambda row, column: _runs(tuned, row, column))
    if after is None:  # the others have not been measured
        return None, None
    same = replace(claim, columns=(after.column,))
    if not claim.best:
        same = replace(same, rows=(after.row,), over=(after.other,))
    return shown_lead(same, lambda row, column: _runs(tuned | printed, row, column)), after

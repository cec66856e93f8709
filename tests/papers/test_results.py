"""Results of computed cells: scores, leaders, claims, leads before and after tuning, and files."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from labkit.evaluation.comparison import Parts
from labkit.papers.bundled_report import (
    FILE,
    NOT_RUN,
    NOT_YET,
    SEEN,
    Figure,
    TableResult,
    _interval,
    _judged,
    beside,
    result,
    stored,
)
from labkit.papers.cells import Store, cells_of, compute, plan
from labkit.papers.claims import Claim
from labkit.papers.data import Desk
from labkit.papers.published import tables
from labkit.papers.recipes import Case
from labkit.papers.records import Row, Table
from labkit.trials.engine import Result
from tests.papers.fakes import TABLE, recipe, steady


def made(table: Table, desk: Desk, store: Store, seeds: int = 5, **how: Any) -> TableResult:
    planned = plan(table, desk, seeds)
    return result(planned, compute(cells_of([planned]), store), **how)


# --- scores ------------------------------------------------------------------------------------------------------


def test_a_score_has_a_value_per_seed_or_a_reason_for_its_absence(desk: Desk, store: Store) -> None:
    found = made(TABLE, desk, store, 3)
    ours, plain, theirs = (found.at(row, "accuracy") for row in ("ours", "plain", "theirs"))
    assert (ours.seeds, ours.mean, ours.spread) == ((0, 1, 2), pytest.approx(0.81), pytest.approx(0.01))
    assert (ours.published, plain.values) == (0.9, (0.5,))
    assert theirs.why == "its weights are elsewhere"
    planned = plan(TABLE, desk, 3)
    none = result(planned, compute([], store))
    assert none.at("ours", "accuracy").why == NOT_YET
    assert none.left == 4


def test_scores_have_the_unit_of_their_column_and_counts_have_none(desk: Desk, store: Store) -> None:
    """In percent, .82 leads .5 by more than 20. A row with its own `figure` prefix has parts under that name."""

    def prefixed(case: Case) -> Result:
        parts = steady(case).parts["accuracy"]
        return Result({"k accuracy": 0.3}, {"k accuracy": parts})

    percent = replace(TABLE.columns[0], scale=100.0)
    rows = (*(replace(row, published=(None,)) for row in TABLE.rows[:2]),
            Row("named", (None,), recipe("n", 0.3, run=prefixed), figure="k "),
            Row("number", (None,), recipe("plain", 0.6, random=False), counted=True))  # fmt: skip
    claim = Claim("by 20", ("ours",), ("plain",), ("accuracy",), by=20.0, ours=True)
    found = made(replace(TABLE, columns=(percent,), rows=rows, claims=(claim,)), desk, store)
    assert found.claims[0].ours.verdict == "confirmed"
    named, number = (found.at(row, "accuracy") for row in ("named", "number"))
    assert len(named.runs[0].above) == 50
    assert named.runs[0].figure == pytest.approx(30.0)
    assert number.mean == pytest.approx(0.6)
    assert [found.at(row, "accuracy").standing for row in ("ours", "plain", "number")] == ["best", "behind", ""]


def test_each_column_has_the_scores_of_its_own_data(desk: Desk, store: Store) -> None:
    columns = tuple(replace(TABLE.columns[1], name=name, data=name) for name in ("stsb", "trec"))
    found = made(replace(TABLE, columns=columns, claims=()), desk, store, 1)
    lengths = [len(desk.open(name, published=False).corpus) for name in ("stsb", "trec")]
    assert [found.at("ours", column.name).mean for column in columns] == lengths
    assert lengths[0] != lengths[1]


def test_the_interval_of_a_proportion_against_the_formula() -> None:
    """40 units of 100 independent items are as good as 4,000 items: the half-width is t · sqrt(p (1 - p) / 4000)."""
    right = np.random.default_rng(0).binomial(100, 0.3, 40).astype(float)
    low, high = _interval({0: Parts(right, np.full(40, 100.0))})
    share = right.sum() / 4_000
    half = 2.0227 * (right / 100).std(ddof=1) / 40**0.5  # t with 39 degrees of freedom, times the standard error
    assert (low, high) == pytest.approx((share - half, share + half), rel=0.02)
    nearly_all = np.array([1.0] * 19 + [0.0])
    assert _interval({0: Parts(nearly_all, np.ones(20))})[1] == 1.0
    some = Parts(np.array([1.0, 0.0, 0.0]), np.array([1.0, 0.0, 1.0]))  # the second unit has no items
    assert _interval({0: some}) == (0.0, 1.0)
    one = Parts(np.array([1.0]), np.ones(1))
    assert _interval({0: one, 1: one}) is None  # no item-level results


# --- leaders -----------------------------------------------------------------------------------------------------


def test_standings_use_intervals_and_skip_rows_that_do_not_compete(desk: Desk, store: Store) -> None:
    levels = {"first": 0.8, "second": 0.4, "second, as printed": 0.9, "has seen it": 0.95}
    rows = tuple(Row(name, (None, None), recipe(name[:5], level)) for name, level in levels.items())
    rows = tuple(replace(row, seen=("stsb",) * ("seen" in row.name)) for row in rows)
    planned = plan(replace(TABLE, rows=rows, claims=()), desk, 5)
    data = replace(desk.open("stsb", published=False), published=True)
    parts = {place: tuple(replace(cell, data=data) for cell in planned.cells(*place)) for place in planned.parts}
    planned = replace(planned, parts=parts)
    found = result(planned, compute(cells_of([planned]), store))
    standings = {row: found.at(row, "accuracy").standing for row in levels}
    assert standings == {"first": "best", "second": "behind", "second, as printed": "", "has seen it": ""}
    assert found.at("has seen it", "accuracy").why == SEEN


def test_the_smallest_leads_where_smaller_is_better_and_seeds_decide_without_units(desk: Desk, store: Store) -> None:
    costs = iter([3.0, 1.0, 3.1, 1.2, 3.2, 1.1])

    def costly(case: Case) -> Result:
        return Result({"cost": next(costs)})

    rows = (Row("dear", (None,), recipe("a", 1, run=costly)), Row("cheap", (None,), recipe("b", 1, run=costly)))
    column = replace(TABLE.columns[0], figure="cost", larger=False)
    found = made(replace(TABLE, columns=(column,), rows=rows, claims=()), desk, store, 3)
    assert [found.at(row, "accuracy").standing for row in ("dear", "cheap")] == ["behind", "best"]


# --- claims ------------------------------------------------------------------------------------------------------


def measured(means: dict[tuple[str, str], float], seeds: int = 5) -> dict[tuple[str, str], Figure]:
    """Scores for several seeds, each with its own units."""
    random, found = np.random.default_rng(0), {}
    for place, mean in means.items():
        runs = {seed: Parts(random.normal(mean, 0.01, 50), np.ones(50)) for seed in range(seeds)}
        found[place] = Figure(*place, None, (mean,) * seeds, tuple(runs), runs=runs)
    return found


def verdict(claim: Claim, figures: dict[tuple[str, str], Figure], table: Table = TABLE) -> str:
    return _judged(claim, figures, table).ours.verdict


def test_a_claim_is_open_where_an_unmeasured_row_could_change_it() -> None:
    claim = Claim("", ("ours",), ("plain", "other"), ("accuracy", "rows"))
    figures = measured({(row, column): level for row, level in (("ours", 0.9), ("plain", 0.5), ("other", 0.4))
                        for column in ("accuracy", "rows")})  # fmt: skip
    assert verdict(claim, figures) == "confirmed"
    del figures["other", "rows"]
    assert verdict(claim, figures) == "open"
    assert _judged(claim, figures, TABLE).ours.absent == ("other in rows",)
    best = Claim("", ("ours", "theirs"), ("plain",), ("accuracy",), best=True)
    figures = measured({("ours", "accuracy"): 0.4, ("theirs", "accuracy"): 0.3, ("plain", "accuracy"): 0.5})
    assert verdict(best, figures) == "not confirmed"
    del figures["theirs", "accuracy"]
    assert verdict(best, figures) == "open"


def test_a_claim_needs_five_common_seeds_and_unseen_data() -> None:
    table = replace(TABLE, rows=(TABLE.rows[0], replace(TABLE.rows[0], name="plain")))
    means = {("ours", "accuracy"): 0.9, ("plain", "accuracy"): 0.5}
    claim = TABLE.claims[0]
    assert verdict(claim, measured(means), table) == "confirmed"
    assert verdict(claim, measured(means, 4), table) == "open"
    figures = measured(means, 8)
    later = {seed + 4: parts for seed, parts in figures["plain", "accuracy"].runs.items()}
    figures["plain", "accuracy"] = replace(figures["plain", "accuracy"], seeds=tuple(later), runs=later)
    assert verdict(claim, figures, table) == "open"  # four in common
    seen = measured(means)
    seen["ours", "accuracy"] = replace(seen["ours", "accuracy"], seen=True)
    assert verdict(claim, seen, table) == "not measured"


def test_claims_on_printed_and_on_measured_scores(desk: Desk, store: Store) -> None:
    found = made(TABLE, desk, store)
    assert [(claim.paper and claim.paper.verdict, claim.ours.verdict) for claim in found.claims] == [
        ("confirmed", "confirmed"),
        ("confirmed", "open"),  # `theirs` was not measured
        ("not confirmed", "not measured"),
        (None, "not confirmed"),
    ]
    assert found.claims[1].ours.absent == ("theirs",)
    printed = found.claims[2].paper.lead
    assert (printed.column, printed.row, printed.alone) == ("accuracy", "theirs", True)
    assert printed.lead == pytest.approx(-0.05)
    assert made(TABLE, desk, store, quick=True).claims == ()


# --- leads before and after tuning -------------------------------------------------------------------------------


def figure(row: str, column: str, values: list[float]) -> Figure:
    """A score with one value per seed, over four units that differ."""
    lean = np.linspace(-0.01, 0.01, 4) * (len(row) % 3)
    runs = {seed: Parts(value + lean, np.ones(4)) for seed, value in enumerate(values)}
    return Figure(row, column, None, tuple(values), tuple(runs), runs=runs)


def leads(claim: Claim, *found: Figure) -> Any:
    judged = _judged(claim, {(each.row, each.column): each for each in found}, TABLE)
    return judged.before, judged.after


OURS_LEADS = Claim("", ("ours",), ("theirs", "plain"), ("error",), larger=False)
FOUND = (
    figure("ours", "error", [0.30, 0.32, 0.31, 0.33, 0.29]), figure("ours, as printed", "error", [0.2, 0.2, 0.23]),
    figure("theirs", "error", [0.20, 0.20, 0.21, 0.2, 0.2]), figure("theirs, as printed", "error", [0.4, 0.5, 0.6]),
    figure("plain", "error", [0.5]),
)  # fmt: skip


def test_the_lead_before_compares_rows_as_printed_and_the_lead_after_tuned_ones() -> None:
    """Worked example: the error is .21 against .50 before, and .31 against .202 after; `plain` counts in both."""
    before, after = leads(OURS_LEADS, *FOUND)
    assert (before.column, before.row, before.other) == ("error", "ours", "theirs")
    assert (before.lead, after.lead) == (pytest.approx(0.5 - 0.21), pytest.approx(0.202 - 0.31))
    assert (before.low + before.high) / 2 == pytest.approx(before.lead)
    larger = replace(OURS_LEADS, larger=True)
    assert [each.lead for each in leads(larger, *FOUND)] == pytest.approx([0.21 - 0.5, 0.31 - 0.5])
    share = replace(OURS_LEADS, relative=True, by=0.1, over=("theirs",))  # .21 is 58 % below .50, .31 53 % above .202
    assert [each.lead for each in leads(share, *FOUND)] == pytest.approx([0.58, -0.108 / 0.202])


def test_both_leads_compare_with_the_same_rows_or_are_hidden() -> None:
    for lacks in range(4):
        gone = [replace(each, values=(), runs={}) if at == lacks else each for at, each in enumerate(FOUND)]
        assert leads(OURS_LEADS, *gone) == (None, None)
    assert leads(OURS_LEADS, FOUND[0], FOUND[2], FOUND[4]) == (None, None)  # no row has both forms
    assert leads(OURS_LEADS, *FOUND[:3], replace(FOUND[3], seen=True), FOUND[4]) == (None, None)
    without = leads(OURS_LEADS, FOUND[0], FOUND[1], FOUND[4])  # rows that were not measured at all are left out of both
    assert [each.other for each in without] == ["plain", "plain"]


def test_both_leads_are_of_the_rows_that_decide_after_tuning() -> None:
    """As printed `plain` is closer, tuned `theirs` is; a lead between different rows would not show a change."""
    shrunk = figure("plain, as printed", "error", [0.25, 0.26, 0.24])
    before, after = leads(OURS_LEADS, *FOUND, shrunk)
    assert [(each.row, each.other) for each in (before, after)] == [("ours", "theirs")] * 2
    best = replace(OURS_LEADS, rows=("theirs", "ours"), over=("plain",), best=True)  # as printed, another row is best
    assert [each.row for each in leads(best, *FOUND, shrunk)] == ["ours", "theirs"]


# --- stored results ----------------------------------------------------------------------------------------------


def test_stored_tables_survive_a_round_trip() -> None:
    assert json.dumps(stored().to_json(), indent=1, ensure_ascii=False) + "\n" == FILE.read_text("utf-8")


def test_the_bundled_results_have_every_table_and_no_local_paths() -> None:
    found = stored()
    assert [table.name for table in found.tables] == [table.name for table in tables()]
    assert all(table.evidence for table in found.tables)
    assert "--data DATA" in found.command
    assert str(Path.home()) not in FILE.read_text(encoding="utf-8")
    with pytest.raises(ValueError, match="fake/9"):
        found.table("fake/9")


def test_without_results_every_table_shows_only_printed_values(tmp_path: Path) -> None:
    found = beside(tmp_path / "none.json")
    assert list(found) == [table.name for table in tables()]
    for table in tables():
        mine = found[table.name]
        assert [each.published for each in mine.figures] == [value for row in table.rows for value in row.published]
        runnable = {row.name for row in table.rows if row.recipe is not None}
        assert {each.row for each in mine.figures if each.why == NOT_RUN} == runnable
    for text in ("{", "[]", '{"tables": [{"table": "film/1"}]}'):
        (tmp_path / "bad.json").write_text(text)
        assert beside(tmp_path / "bad.json") == found
        with pytest.raises(ValueError, match=r"bad\.json"):
            stored(tmp_path / "bad.json")


# --- the bundled results match the current code ---------------------------------------------------------------------


@pytest.mark.whole
def test_recomputed_results_match_the_bundled_ones(published_data: Path, tmp_path: Path) -> None:
    """A change of code that is said to leave all scores unchanged must pass this, on the cheapest cells."""
    desk = Desk(published_data, memo=tmp_path)
    bundled, again = Store(tmp_path / "none"), Store(tmp_path / "again", bundled=tmp_path / "none.jsonl")
    wanted = [
        ("sentpwnet/6", "TF-IDF (ours)"),
        ("film/1", "TF-IDF"),
        ("sentpwnet/2", "every pair predicted as a paraphrase"),
    ]
    for name, row in wanted:
        (table,) = tables(name)
        if desk.missing(table.data[0]):
            pytest.skip(f"{table.data[0]} is not in the data folder")
        planned = plan(replace(table, rows=tuple(each for each in table.rows if each.name == row), claims=()), desk, 1)
        (cell, *_) = planned.cells(row, table.data[0])
        for tuning in cell.tunings:  # the choice is reused, because trials take minutes
            before = bundled.find(tuning.key)
            assert before is not None, f"{name}, {row}: the bundled result is of other data or code"
            again.keep(tuning.key, before, tuning.about)
        before = bundled.find(cell.key)
        assert before is not None, f"{name}, {row}: the bundled result is of other data or code"
        after = compute([cell], again).known[cell.key].figures  # includes scores that were not measured then
        assert {figure: after[figure] for figure in before.figures} == pytest.approx(before.figures, rel=1e-6)

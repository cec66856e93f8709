"""The runner on tables that compute nothing: what is known, what fits, what was interrupted."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from threadpoolctl import threadpool_info, threadpool_limits

from labkit.corpora import Corpus
from labkit.evaluation.comparison import Parts, Spread
from labkit.lab.papers import cells as planning
from labkit.lab.papers.cells import Cell, cells_of, estimate, plan, run, with_tunings
from labkit.lab.papers.claims import Claim
from labkit.lab.papers.data import Desk
from labkit.lab.papers.published import tables
from labkit.lab.papers.recipes import Case
from labkit.lab.papers.records import Outcome, Recipe, Row
from labkit.lab.papers.results import SEEN, _on_ours, result
from labkit.lab.papers.store import CellStore, Known, _packed, _unpacked, as_lines
from labkit.lab.papers.stored import Figure, TableResult
from tests.lab.papers.fakes import ASKED, LINES, TABLE, faulty, interrupted, recipe, refused, steady


def test_seeds_of_what_is_random_and_one_of_what_is_not(desk: Desk, store: CellStore) -> None:
    planned = plan(TABLE, desk, 3)
    assert planned.possible == 2
    found = result(planned, run(planned.cells, store))
    assert ASKED == [("ours", 0), ("plain", 0), ("ours", 1), ("ours", 2)]  # the first seed of every row comes first
    ours, plain = (found.at(row, "accuracy") for row in ("ours", "plain"))
    assert ours.seeds == (0, 1, 2)
    assert ours.ours is not None and plain.ours is not None  # noqa: PT018
    assert ours.ours.mean == pytest.approx(0.81)
    assert ours.ours.spread == pytest.approx(0.01)
    assert ours.published == 0.9
    assert plain.ours.values == (0.5,)
    assert found.left_out == {"theirs": "its weights are elsewhere"}
    assert found.rest == 0
    assert found.points["ours"] == (("a", 0.0, 1.0), ("b", 1.0, 0.5))


def test_what_is_known_is_not_computed_again(desk: Desk, store: CellStore) -> None:
    first = run(plan(TABLE, desk, 2).cells, store)
    assert len(ASKED) == 3
    ASKED.clear()
    again = run(cells_of([plan(TABLE, desk, 3), plan(LINES, desk, 1)]), CellStore(store.folder))
    assert ASKED == [("other", 0), ("ours", 2)]  # another seed, another recipe; rows alike share a cell across tables
    for name, known in first.known.items():
        assert as_lines([again.known[name]]) == as_lines([known])
    assert estimate(plan(TABLE, desk, 3).cells, store) == 0


@pytest.mark.parametrize("change", ["settings", "recipe", "data", "versions", "damage"])
def test_what_a_cell_depends_on_is_in_its_name(
    desk: Desk, store: CellStore, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(plan(TABLE, desk, 1).cells, store)
    ASKED.clear()
    table = TABLE
    row = table.rows[0]
    assert row.recipe is not None
    if change == "settings":
        table = replace(table, rows=(replace(row, recipe=recipe("ours", 0.7)),), claims=())
    elif change == "recipe":
        table = replace(table, rows=(replace(row, recipe=recipe("ours", 0.8, run=another)),), claims=())
    elif change == "data":
        table = replace(table, columns=tuple(replace(column, data="trec") for column in table.columns))
    elif change == "versions":
        monkeypatch.setattr(planning, "versions_of", lambda *_: {"shared": "9"})
    else:
        for file in (store.folder / "cells").iterdir():
            file.write_text(file.read_text()[:-20])
    run(plan(table, desk, 1).cells, store)
    assert ("ours", 0) in ASKED


def another(case: Case) -> Outcome:
    return steady(case)


def test_whatever_else_a_recipe_says_is_in_the_name(desk: Desk) -> None:
    """The settings of a data set, networks side by side, further corpora; a default is one, said or not."""

    def name(**more: Any) -> str:
        made = Recipe(steady, "thematic", **more)
        table = replace(TABLE, rows=(Row("t", (None, None), made),), claims=())
        return plan(table, desk, 1).cells[0].fingerprint

    assert name() == name(settings={"rule": "adjacent"}) == name(random=False, cost=9.0, on={"trec": {"size": 9}})
    sides = ({"rule": "adjacent"}, {"rule": "titles"})
    others: list[dict[str, Any]] = [
        {}, {"settings": {"rule": "titles"}}, {"sides": sides}, {"sides": sides[::-1]}, {"sides": sides[:1] * 2},
        {"also": ("trec",)}, {"on": {"stsb": {"size": 9}}}, {"also": ("trec",), "sides": sides},
        {"also": ("quora", "trec"), "sides": sides}, {"also": ("trec", "quora"), "sides": sides},
    ]  # fmt: skip
    assert len({name(**more) for more in others}) == len(others)


def test_a_model_is_named_wherever_it_lies_and_quick_is_no_whole_run(desk: Desk) -> None:
    made, opened = Recipe(steady, "sbert", {"model": "m"}), desk.open("stsb", published=False)
    here, there = (Cell(made, opened, {}, 0, {"model": f"/{place}/m"}, False) for place in ("here", "there"))
    assert here.fingerprint == there.fingerprint
    other = Cell(replace(made, settings={"model": "n"}), opened, {}, 0, {"model": "/here/n"}, False)
    quick = Cell(made, opened, {}, 0, {"model": "/here/m"}, True)  # which tries less, on the same rows if they are few
    assert len({here.fingerprint, other.fingerprint, quick.fingerprint}) == 3


def test_a_case_is_given_what_its_recipe_works_with(desk: Desk, store: CellStore) -> None:
    seen: list[Case] = []

    def looking(case: Case) -> Outcome:
        seen.append(case)
        return Outcome({"accuracy": 1.0})

    sides = {"rule": "a", "epochs": 9}, {"rule": "b"}  # so long on published data alone
    made = replace(recipe("t", 0.1, run=looking), sides=sides, also=("trec",))
    table = replace(TABLE, rows=(Row("t", (None, None), made),), claims=())
    for on in (desk, Desk(quick=True, memo=store.folder)):
        run(plan(table, on, 2).cells, store, runs=store.runs)
    assert [(case.quick, case.seed) for case in seen] == [(False, 0), (False, 1), (True, 0), (True, 1)]
    assert {case.runs for case in seen} == {store.runs}
    assert [each.sides for each in seen] == [({"rule": "a"}, {"rule": "b"})] * 4
    assert [list(case.also) for case in seen] == [["trec"]] * 4
    assert seen[0].memory is seen[1].memory  # a training that consecutive cells ask for is not opened twice


def test_the_settings_of_published_data_and_of_quick_are_for_these_alone() -> None:
    made = Recipe(steady, "", {"epochs": 9}, on={"trec": {"size": 2}}, quick={"epochs": 1}, published={"epochs": 5})
    for quick, published, epochs in ((False, False, 9), (False, True, 5), (True, False, 1)):
        assert planning._settings(made, "stsb", quick=quick, published=published) == {"epochs": epochs}
    assert planning._settings(made, "trec", quick=False, published=True) == {"epochs": 5, "size": 2}


@pytest.mark.parametrize(
    "values", [[0, -3, 127], [128, -128], [0, -3, 32_767], [32_768, 1], [-40_000, 2], [70_000, 0], [0.25, -1e-3]]
)
def test_parts_come_back_as_they_were_kept(values: list[float]) -> None:
    assert _unpacked(_packed(np.array(values))).tolist() == pytest.approx(values, rel=1e-6)


def test_runs_are_in_the_unit_of_their_column_and_of_their_own_figure(desk: Desk, store: CellStore) -> None:
    """Percent: 0.82 leads 0.5 by more than 20; a row whose figure has a name of its own has parts of that name."""

    def prefixed(case: Case) -> Outcome:
        made = steady(case)
        return Outcome({"k accuracy": 0.3}, parts={"k accuracy": made.parts["accuracy"]})

    percent = replace(TABLE.columns[0], scale=100.0)
    rows = (*(replace(row, published=(None,)) for row in TABLE.rows[:2]),
            Row("named", (None,), recipe("n", 0.3, run=prefixed), figure="k "))  # fmt: skip
    claim = Claim("by 20", ("ours",), ("plain",), ("accuracy",), by=20.0, ours=True)
    planned = plan(replace(TABLE, columns=(percent,), rows=rows, claims=(claim,)), desk, 5)
    found = result(planned, run(planned.cells, store))
    assert found.claims[0].ours == "confirmed"
    named = found.at("named", "accuracy").runs[0]
    assert len(named.above) == 50
    assert named.figure == pytest.approx(30.0)


def measured(means: dict[tuple[str, str], float]) -> dict[tuple[str, str], Figure]:
    """Figures of five seeds, each over units of its own."""
    random = np.random.default_rng(0)
    seeds = range(5)
    return {
        place: Figure(
            *place,
            None,
            Spread(mean, 0.01, (mean,) * 5),
            tuple(seeds),
            runs={seed: Parts(random.normal(mean, 0.01, 50), np.ones(50)) for seed in seeds},
        )
        for place, mean in means.items()
    }


def test_a_claim_holds_in_part_where_a_row_lacks_one_of_its_columns() -> None:
    claim = Claim("", ("ours",), ("plain", "other"), ("accuracy", "rows"))
    means = {("ours", "accuracy"): 0.9, ("plain", "accuracy"): 0.5, ("other", "accuracy"): 0.4,
             ("ours", "rows"): 0.9, ("plain", "rows"): 0.5, ("other", "rows"): 0.4}  # fmt: skip
    figures = measured(means)
    assert _on_ours(claim, figures, TABLE).verdict == "confirmed"
    del figures["other", "rows"]
    found = _on_ours(claim, figures, TABLE)
    assert (found.verdict, found.why.endswith("; without other in rows")) == ("confirmed in part", True)
    for row in ("ours", "plain"):
        del figures[row, "rows"]
    assert _on_ours(claim, figures, TABLE).verdict == "confirmed in part"  # a column that nobody has
    del figures["plain", "accuracy"]
    assert _on_ours(claim, figures, TABLE).why.endswith("; without ours in rows, plain, other in rows")


def test_the_best_of_rows_could_be_one_that_is_not_there() -> None:
    claim = Claim("", ("ours", "theirs"), ("plain",), ("accuracy",), best=True)
    figures = measured({("ours", "accuracy"): 0.4, ("theirs", "accuracy"): 0.3, ("plain", "accuracy"): 0.5})
    assert _on_ours(claim, figures, TABLE).verdict == "not confirmed"
    del figures["theirs", "accuracy"]
    assert _on_ours(claim, figures, TABLE).verdict == "undecided"


def test_quick_takes_other_settings_and_fewer_rows(desk: Desk, store: CellStore) -> None:
    quick = Desk(quick=True, memo=store.folder)
    found = result(plan(TABLE, quick, 1), run(plan(TABLE, quick, 1).cells, store), quick=True)
    ours, rows = found.at("ours", "accuracy").ours, found.at("ours", "rows").ours
    whole = desk.open("stsb", published=False)
    assert ours is not None and ours.mean == 0.4  # noqa: PT018
    assert rows is not None and rows.mean == sum(whole.sizes.values()) - whole.sizes["train"] + 1200  # noqa: PT018
    assert not found.evidence
    assert found.claims[0].ours == "not evidence"


def test_budget_leaves_what_does_not_fit_and_takes_what_does(desk: Desk, store: CellStore) -> None:
    long = replace(TABLE.rows[0], recipe=recipe("long", 0.3, cost=1000.0))
    table = replace(TABLE, rows=(long, *TABLE.rows[1:]), claims=())
    found = run(plan(table, desk, 2).cells, store, budget=30)
    assert ASKED == [("plain", 0)]
    assert [(cell.settings["name"], cell.seed) for cell in found.left] == [("long", 0), ("long", 1)]
    assert result(plan(table, desk, 1), found).at("ours", "accuracy").why.startswith("not computed yet, about ")


def test_budget_makes_short_rows_whole_first(desk: Desk, store: CellStore) -> None:
    long = replace(TABLE.rows[0], recipe=recipe("long", 0.3, cost=10.0))
    short = replace(TABLE.rows[1], recipe=recipe("short", 0.3, cost=1.0))
    run(plan(replace(TABLE, rows=(long, short), claims=()), desk, 2).cells, store, budget=1000)
    assert ASKED == [("short", 0), ("short", 1), ("long", 0), ("long", 1)]


def test_only_the_rows_that_are_asked_for(desk: Desk, store: CellStore) -> None:
    planned = plan(TABLE, desk, 2)
    found = run(planned.cells, store, only=cells_of([planned], "OUR"))
    assert ASKED == [("ours", 0), ("ours", 1)]
    again = run(planned.cells, store, only=cells_of([planned], "plain"))
    assert ASKED[2:] == [("plain", 0)]
    assert set(found.known) < set(again.known)  # the others are shown, too
    table = replace(TABLE, rows=(replace(TABLE.rows[0], name="ours, mixed"), *TABLE.rows), claims=())
    assert planning.rows_named(table, "Ours") == ["ours"]  # a whole name means that row alone
    assert planning.rows_named(table, "our") == ["ours, mixed", "ours"]


def test_budget_too_small_for_anything(desk: Desk, store: CellStore) -> None:
    with pytest.raises(
        ValueError, match=r"--budget is 1 s, but one seed takes about \d+ s, and its shortest row \d+ s"
    ):
        run(plan(TABLE, desk, 3).cells, store, budget=0.5)
    assert not ASKED
    run(plan(TABLE, desk, 3).cells, store)
    ASKED.clear()
    run(plan(TABLE, desk, 3).cells, store, budget=0.5)  # nothing is left to do: any budget does
    assert not ASKED


def test_budget_counts_the_time_that_has_passed(desk: Desk, store: CellStore, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(planning, "time", SimpleNamespace(monotonic=lambda: now[0], process_time=lambda: now[0]))

    def slow(case: Case) -> Outcome:
        now[0] += 20
        return Outcome({})

    table = replace(TABLE, rows=(Row("t", (None, None), recipe("t", 0.1, run=slow)),), claims=())
    found = run(plan(table, desk, 3).cells, store, budget=50)
    assert (len(found.known), [cell.seed for cell in found.left]) == (2, [2])  # each alone would fit


def test_budget_for_a_further_seed_of_a_short_row_alone(desk: Desk, store: CellStore) -> None:
    long = replace(TABLE.rows[1], recipe=recipe("long", 0.3, cost=1000.0))
    planned = plan(replace(TABLE, rows=(TABLE.rows[0], long), claims=()), desk, 2)
    run(planned.cells, store, only=planned.cells[:1])
    run(planned.cells, store, budget=30)  # though of the first seed only the long row is left
    assert ASKED == [("ours", 0), ("ours", 1)]


def test_reading_data_is_not_in_the_time_of_the_cell_that_happens_to_come_first(desk: Desk, store: CellStore) -> None:
    cell = plan(TABLE, desk, 1).cells[0]
    corpus = cell.data.corpus

    def slowly() -> Corpus:
        until = time.process_time() + 0.2
        while time.process_time() < until:
            pass
        return corpus

    slow = replace(cell, data=replace(cell.data, read=slowly))
    assert run([slow], store).known[cell.fingerprint].seconds < 0.1


def test_times_that_were_measured_replace_guesses(desk: Desk, store: CellStore) -> None:
    first = plan(TABLE, desk, 1)
    guess = estimate(first.cells, store)
    run(first.cells, store)
    assert estimate(plan(TABLE, desk, 3).cells, store) < guess / 10  # the other seeds take as long as the first did


def test_what_is_kept_says_what_it_is_of(desk: Desk, store: CellStore) -> None:
    cell = plan(TABLE, desk, 2).cells[-1]
    known = store.keep(cell, Outcome({"accuracy": 0.5, "undefined": float("nan")}), 1.5)
    assert (known.fingerprint, known.seed, known.seconds, known.kind) == (cell.fingerprint, 1, 1.5, cell.kind)
    assert known.figures == {"accuracy": 0.5}
    for earlier in (True, False):  # by which its claims are judged
        read = Known.from_json(replace(known, earlier=earlier).to_json())
        assert read is not None and read.earlier == earlier  # noqa: PT018


def test_what_another_process_has_computed_meanwhile_is_not_computed_again(
    desk: Desk, store: CellStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted, compute = plan(TABLE, desk, 2).cells, planning._compute

    def in_company(*given: Any) -> None:
        monkeypatch.setattr(planning, "_compute", compute)
        run(wanted, CellStore(store.folder))
        ASKED.clear()
        compute(*given)

    monkeypatch.setattr(planning, "_compute", in_company)
    found = run(wanted, store)
    assert len(ASKED) == 1  # the one that had begun
    assert found.known.keys() == {cell.fingerprint for cell in wanted}


def test_two_at_once_keep_each_others_times(desk: Desk, store: CellStore) -> None:
    cells = plan(TABLE, desk, 1).cells
    other = CellStore(store.folder)
    assert other.seconds(cells[0]) == cells[0].guess  # both have read the times before either writes
    store.seconds(cells[0])
    store.keep(cells[0], Outcome({}), 41.0)
    other.keep(cells[1], Outcome({}), 42.0)
    again = CellStore(store.folder)
    assert (again.seconds(cells[0]), again.seconds(cells[1])) == (41.0, 42.0)


def test_interrupted_keeps_what_is_done(desk: Desk, store: CellStore) -> None:
    stopping = Row("stopping", (None, None), recipe("stop", 0.1, run=interrupted))
    table = replace(TABLE, rows=(TABLE.rows[0], stopping, TABLE.rows[1]), claims=())
    found = run(plan(table, desk, 1).cells, store)
    assert found.interrupted
    assert ASKED == [("ours", 0), ("interrupted", 0)]
    made = result(plan(table, desk, 1), found)
    assert made.at("ours", "accuracy").ours is not None
    assert made.at("plain", "accuracy").why.startswith("not computed yet, about ")
    assert made.rest > 0
    ASKED.clear()
    run(plan(TABLE, desk, 1).cells, store)
    assert ASKED == [("plain", 0)]


def test_a_row_that_fails_does_not_stop_the_others(desk: Desk, store: CellStore) -> None:
    failing = Row("failing", (None, None), recipe("fail", 0.1, run=refused))
    table = replace(TABLE, rows=(failing, TABLE.rows[1]), claims=())
    found = result(plan(table, desk, 1), run(plan(table, desk, 1).cells, store))
    assert found.left_out == {"failing": "the data have none"}
    assert found.at("plain", "accuracy").ours is not None


def test_a_fault_of_a_recipe_is_no_missing_data(desk: Desk, store: CellStore) -> None:
    table = replace(TABLE, rows=(Row("f", (None, None), recipe("f", 0.1, run=faulty)), TABLE.rows[1]), claims=())
    made = run(plan(table, desk, 1).cells, store)
    assert made.failed == {}
    assert [str(fault) for fault in made.broken.values()] == ["a fault of ours"]
    found = result(plan(table, desk, 1), made)
    assert found.left_out == {"f": "its recipe failed: a fault of ours"}
    assert found.at("plain", "accuracy").ours is not None  # the others are computed all the same


def test_a_cell_is_computed_by_one_thread(desk: Desk, store: CellStore) -> None:
    seen: list[int] = []

    def counting(case: Case) -> Outcome:
        seen.extend({torch.get_num_threads(), *(library["num_threads"] for library in threadpool_info())})
        return Outcome({"accuracy": 1.0})

    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        row = Row("t", (None, None), recipe("t", 0.1, run=counting))
        with threadpool_limits(2):
            run(plan(replace(TABLE, rows=(row,), claims=()), desk, 1).cells, store)
        assert (seen, torch.get_num_threads()) == ([1], 2)
    finally:
        torch.set_num_threads(before)


def test_cells_that_come_with_the_lab_are_not_computed_again(desk: Desk, store: CellStore, tmp_path: Path) -> None:
    first = run(plan(TABLE, desk, 2).cells, store)
    kept = tmp_path / "cells.jsonl"
    lines = as_lines(first.known.values()).splitlines(keepends=True)
    kept.write_text(lines[0] + "{ damaged\n" + "".join(lines[1:]))
    ASKED.clear()
    elsewhere = CellStore(tmp_path / "elsewhere", kept=kept)
    again = run(plan(TABLE, desk, 2).cells, elsewhere)
    assert ASKED == []
    assert as_lines(again.known.values()) == "".join(lines)
    (elsewhere.folder / "cells").mkdir(parents=True)
    for name in again.known:
        (elsewhere.folder / "cells" / f"{name[:32]}.json").write_text('{"schema": 1}')
    assert len(run(plan(TABLE, desk, 2).cells, elsewhere, budget=0).known) == 3  # an old file hides no good line
    one = next(iter(again.known.values()))
    assert set(one.parts) == {"accuracy"}
    for name, parts in one.parts.items():
        assert parts.figure == pytest.approx(one.figures[name], abs=1e-6)
    old = tmp_path / "old.jsonl"
    old.write_text(lines[0].replace('"schema": 3', '"schema": 2'))
    assert run(plan(TABLE, desk, 2).cells, CellStore(tmp_path / "third", kept=old), budget=0).known == {}


def test_progress_counts_expected_seconds(desk: Desk, store: CellStore) -> None:
    told: list[tuple[int, int | None, str]] = []
    run(plan(TABLE, desk, 2).cells, store, progress=lambda *what: told.append(what))
    done = [each[0] for each in told]
    assert done == sorted(done)
    assert told[-1][0] == told[-1][1]
    assert "relatedness, embedded, seed 1" in told[-1][2]


def test_what_was_seen_in_training_decides_nothing() -> None:
    claim = TABLE.claims[0]
    seeds = range(5)
    figures = {
        (row, "accuracy"): Figure(
            row,
            "accuracy",
            None,
            Spread(mean, 0.01, (mean,) * 5),
            tuple(seeds),
            runs={seed: Parts(np.array([mean + 0.01 * (seed % 3)]), np.ones(1)) for seed in seeds},
        )
        for row, mean in (("ours", 0.9), ("plain", 0.5))
    }
    figures["plain", "accuracy"].runs[4].above[0] += 0.01  # type: ignore[index]
    assert _on_ours(claim, figures, TABLE).verdict == "confirmed"
    for row in ("ours", "plain"):
        marked = figures | {(row, "accuracy"): replace(figures[row, "accuracy"], why=SEEN, state="seen")}
        assert _on_ours(claim, marked, TABLE).verdict == "not measured"


def test_a_row_that_could_be_computed_says_so_though_its_first_column_cannot() -> None:
    figures = [Figure(row.name, each.name, None, why="mr is not here") for row in TABLE.rows for each in TABLE.columns]
    figures[1] = Figure("ours", "rows", None, why="soon", state="not yet")
    found = TableResult(TABLE, tuple(figures)).left_out
    assert (found["ours"], found["plain"]) == ("soon", "mr is not here")


def test_judgements_need_five_seeds(desk: Desk, store: CellStore) -> None:
    def verdicts(seeds: int) -> list[Any]:
        planned = plan(TABLE, desk, seeds)
        found = result(planned, run(planned.cells, store))
        return [(claim.paper, claim.ours) for claim in found.claims]

    assert verdicts(1)[0] == ("confirmed", "too few seeds")
    assert verdicts(4)[0] == ("confirmed", "too few seeds")
    assert verdicts(5) == [
        ("confirmed", "confirmed"),
        ("confirmed", "confirmed in part"),  # theirs is not there to be led
        ("not confirmed", "not measured"),
        ("our question", "not confirmed"),
    ]


def test_no_cell_is_served_for_another_whatever_its_file_is_called(desk: Desk, store: CellStore) -> None:
    ours, plain = plan(TABLE, desk, 1).cells
    run([ours, plain], store)
    store._file(ours).rename(store._file(plain))
    assert (store.find(ours), store.find(plain)) == (None, None)
    run([plain], store)
    assert store.find(plain) is not None


def test_what_was_computed_here_goes_before_what_comes_with_the_lab(
    desk: Desk, store: CellStore, tmp_path: Path
) -> None:
    (cell, *_) = plan(TABLE, desk, 1).cells
    kept = tmp_path / "cells.jsonl"
    kept.write_text(as_lines([store.keep(cell, Outcome({"accuracy": 0.1}), 1.0)]))
    here = CellStore(tmp_path / "here", kept=kept)
    assert [known.figures["accuracy"] for known in (here.find(cell),) if known] == [0.1]
    here.keep(cell, Outcome({"accuracy": 0.2}), 1.0)
    assert [known.figures["accuracy"] for known in (here.find(cell),) if known] == [0.2]


def test_seeds_that_only_one_of_two_rows_has_do_not_count() -> None:
    """Nothing pairs seed 0 of one row with seed 5 of the other: of eight seeds each, four are in common."""
    rows = (TABLE.rows[0], replace(TABLE.rows[0], name="plain"))
    table, figures = replace(TABLE, rows=rows), {}
    for row, first, mean in (("ours", 0, 0.9), ("plain", 4, 0.5)):
        runs = {first + seed: Parts(np.full(50, mean + 0.01 * (seed % 3)), np.ones(50)) for seed in range(8)}
        figures[row, "accuracy"] = Figure(row, "accuracy", None, Spread.of([0.5, mean]), tuple(runs), runs=runs)
    assert _on_ours(TABLE.claims[0], figures, table).verdict == "too few seeds"
    shifted = {seed - 3: parts for seed, parts in figures["plain", "accuracy"].runs.items()}
    figures["plain", "accuracy"] = replace(figures["plain", "accuracy"], seeds=tuple(shifted), runs=shifted)
    assert _on_ours(TABLE.claims[0], figures, table).verdict == "confirmed"


def test_what_is_kept_comes_out_the_same_when_it_is_computed_again(published_data: Path, tmp_path: Path) -> None:
    """Who says that changed code leaves all figures as they were has to bear this, on the cheapest cells."""
    desk = Desk(published_data, memo=tmp_path)
    kept, anew = CellStore(tmp_path / "none"), CellStore(tmp_path / "anew", kept=tmp_path / "none.jsonl")
    wanted = [("sentpwnet/6", "TF-IDF (ours)"), ("film/1", "TF-IDF"), ("sentpwnet/2", "every pair called the same")]
    for name, row in wanted:
        (table,) = tables(name)
        if desk.missing(table.data[0]):
            pytest.skip(f"{table.data[0]} is not in the data folder")
        planned = plan(replace(table, rows=tuple(each for each in table.rows if each.name == row), claims=()), desk, 1)
        needed = with_tunings(planned.cells)
        earlier = {cell.fingerprint: kept.find(cell) for cell in needed}
        lost = f"{name}, {row}: the cell that comes with the lab is of other data or code"
        for cell in needed[: -len(planned.cells)]:  # what was chosen is taken over: trials take minutes
            before = earlier[cell.fingerprint]
            assert before is not None, lost
            anew.keep(cell, Outcome(before.figures, notes=before.notes), before.seconds)
        computed = run(planned.cells, anew)
        for cell in planned.cells:
            before = earlier[cell.fingerprint]
            assert before is not None, lost
            after = computed.known[cell.fingerprint].figures  # with those that were not measured then
            assert {name: after[name] for name in before.figures} == pytest.approx(before.figures, rel=1e-6)

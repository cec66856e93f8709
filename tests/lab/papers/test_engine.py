"""The engine of the papers' tables: cells, the fair protocol, results and how they are judged, what is stored."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from threadpoolctl import threadpool_info, threadpool_limits

from labkit.corpora import Labelled, load
from labkit.evaluation.comparison import Parts, Spread
from labkit.lab.papers import cells as planning
from labkit.lab.papers import fair
from labkit.lab.papers.cells import Cell, cells_of, estimate, plan, run
from labkit.lab.papers.claims import Claim, shown_lead
from labkit.lab.papers.data import DataAtHand, Desk, _partnered
from labkit.lab.papers.fair import PROTOCOL, chosen_on_dev, printed_only, tuned_and_printed
from labkit.lab.papers.published import tables
from labkit.lab.papers.published.sentpwnet import PRINTED
from labkit.lab.papers.recipes import Case
from labkit.lab.papers.records import AS_PRINTED, Column, Outcome, Recipe, Row, Table
from labkit.lab.papers.reports import as_json, as_markdown, reported
from labkit.lab.papers.results import EARLIER, SEEN, _interval, _leads, _on_ours, cases_of, result, sampling
from labkit.lab.papers.store import CellStore, _packed, _unpacked, as_lines
from labkit.lab.papers.stored import FILE, NOT_RUN, Figure, TableResult, beside, stored
from tests.lab.papers.fakes import (
    ASKED,
    LINES,
    PAPERS,
    TABLE,
    Turned,
    faulty,
    interrupted,
    one_row,
    recipe,
    refused,
    steady,
    tuned,
)

# --- computing cells -------------------------------------------------------------------------------------------------


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
    assert found.verdict == "confirmed in part"
    for row in ("ours", "plain"):
        del figures[row, "rows"]
    assert _on_ours(claim, figures, TABLE).verdict == "confirmed in part"  # a column that nobody has


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
    with pytest.raises(ValueError, match="--budget"):
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


def test_interrupted_keeps_what_is_done(desk: Desk, store: CellStore) -> None:
    stopping = Row("stopping", (None, None), recipe("stop", 0.1, run=interrupted))
    table = replace(TABLE, rows=(TABLE.rows[0], stopping, TABLE.rows[1]), claims=())
    found = run(plan(table, desk, 1).cells, store)
    assert found.interrupted
    assert ASKED == [("ours", 0), ("interrupted", 0)]
    made = result(plan(table, desk, 1), found)
    assert made.at("ours", "accuracy").ours is not None
    assert made.at("plain", "accuracy").ours is None
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
    assert "a fault of ours" in found.left_out["f"]
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


# --- the fair protocol -----------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def seen(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What the method of vectors learned from: corpus, settings, seed. No data is small here."""
    monkeypatch.setattr(fair, "SMALL", 0)
    Turned.seen.clear()
    return Turned.seen


@pytest.fixture
def four_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the number of trials does not matter."""
    monkeypatch.setattr(fair, "PROTOCOL", {**PROTOCOL, "trials": 4})


def tunings(table: Table, desk: Desk) -> list[Cell]:
    """The cells that choose settings of a table's rows."""
    found = [each for part in plan(table, desk).parts for cell in part.cells[:1] for each in cell.tunings]
    return [*{each.fingerprint: each for each in found}.values()]


def dial(monkeypatch: pytest.MonkeyPatch, *ends: float) -> None:
    """Let the angle be turned otherwise."""
    field = Turned.Settings.__dataclass_fields__["turn"]
    monkeypatch.setattr(field, "metadata", {**field.metadata, "tune": ends})


# --- what trials see, and what is done with their choice ---------------------------------------------------------


def test_sixteen_trials_on_a_quarter_for_half_of_the_epochs_choose_what_all_seeds_have(
    desk: Desk, store: CellStore, seen: list[Any]
) -> None:
    planned = plan(one_row(tuned(settings={"rule": "a"}, published={"epochs": 9})), desk, 2)
    found = run(planned.cells, store)
    whole = desk.open("stsb", published=False).corpus
    trials, finals = seen[:16], seen[16:]
    assert {(corpus.fingerprint, settings["epochs"], seed) for corpus, settings, seed in trials} == {
        (trials[0][0].fingerprint, 3, 0)
    }
    corpus = trials[0][0]
    assert corpus.sizes["dev"] == whole.sizes["dev"]
    assert "test" not in corpus.sizes
    assert 0.15 < corpus.sizes["train"] / whole.sizes["train"] < 0.35
    assert set(corpus.part("train").sentences()) <= set(whole.part("train").sentences())
    turns = [settings["turn"] for _, settings, _ in trials]
    assert (turns[0], len(set(turns))) == (0.5, 16)  # as given, then others
    (tuning,) = planned.cells[0].tunings
    notes = found.known[tuning.fingerprint].notes
    figures = [trial["figure"] for trial in notes["trials"]]
    assert [trial["tried"] for trial in notes["trials"]] == [{"turn": turn} for turn in turns]
    assert notes["chosen"] == {"turn": turns[figures.index(max(figures))]}
    assert found.known[tuning.fingerprint].figures == {"dev": max(figures), "dev at first": figures[0]}
    assert notes["protocol"] == {"trials": 16, "part": 0.25, "epochs": 0.5, "sampler": "tpe"}
    chosen = notes["chosen"]["turn"]
    assert chosen != 0.5  # else the next lines say nothing
    assert [(settings["turn"], settings["epochs"], seed) for _, settings, seed in finals] == [
        (chosen, 6, 0),
        (chosen, 6, 1),
    ]
    assert {corpus.fingerprint for corpus, _, _ in finals} == {whole.fingerprint}
    for cell in planned.cells:
        assert found.known[cell.fingerprint].notes["chosen"] == [{"turn": chosen}]
        assert found.known[cell.fingerprint].figures["accuracy"] == chosen


def test_small_data_are_learned_from_as_a_whole(
    desk: Desk, store: CellStore, seen: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fair, "SMALL", desk.open("stsb", published=False).sizes["train"])
    (tuning,) = tunings(one_row(tuned()), desk)
    run([tuning], store)
    whole = desk.open("stsb", published=False).corpus
    assert {(corpus.sizes["train"], settings["epochs"]) for corpus, settings, _ in seen} == {(whole.sizes["train"], 6)}
    assert "test" not in seen[0][0].sizes
    for quick, times in ((False, 16), (True, 2)):  # trials, and so many times as long as one training
        cell = plan(one_row(tuned(cost=50.0)), Desk(quick=quick, memo=store.folder), 1).cells[0]
        (tuning,) = cell.tunings
        assert (tuning.seed, tuning.kind["protocol"]["trials"], tuning.case().quick) == (0, times, quick)
        assert tuning.guess == pytest.approx(times * cell.guess)
    (tuning,) = tunings(one_row(tuned()), desk)
    assert fair.protocol_for(fair.SMALL) == tuning.kind["protocol"] == {**PROTOCOL, "part": 1.0, "epochs": 1.0}
    assert fair.protocol_for(fair.SMALL + 1) == PROTOCOL
    articles = replace(tuning, data=replace(tuning.data, articles=True))  # few and long: they are no small data
    assert articles.kind["protocol"] == PROTOCOL


def test_the_first_trial_starts_where_the_paper_does(desk: Desk, store: CellStore, seen: list[Any]) -> None:
    made = tuned(first={"turn": 0.25, "epochs": 2, "lift": 0.9})  # of which one is a dial here
    run(tunings(one_row(made), desk), store)
    assert [(settings["turn"], settings["epochs"], settings["lift"]) for _, settings, _ in seen[:1]] == [(0.25, 3, 0.5)]
    names = [tunings(one_row(tuned(first=first)), desk)[0].fingerprint for first in ({}, {"turn": 0.25}, {"lift": 0.9})]
    assert names[0] == names[2] != names[1]


def test_of_two_networks_each_has_its_own_choice_from_the_data_that_it_learns_from(
    desk: Desk, store: CellStore, seen: list[Any]
) -> None:
    sides = {"rule": "a"}, {"rule": "b"}
    planned = plan(one_row(tuned(sides=sides, also=("sick", "stsb"))), Desk(quick=True, memo=store.folder), 1)
    both = [desk.open(name, published=False) for name in ("sick", "stsb")]
    cell = replace(planned.cells[0], also=dict(zip(("sick", "stsb"), both, strict=True)))
    other = both[1].corpus.fewer(0.5)
    second = type(both[1]).of(other, "half")  # another corpus for the second network
    cell = replace(cell, also={"sick": both[0], "stsb": second})
    cell = replace(cell, tunings=planning.tunings_of(cell))
    found = run([cell], store)
    first, second_tuning = cell.tunings
    assert [each.data.fingerprint for each in cell.tunings] == [both[0].fingerprint, second.fingerprint]
    assert [each.settings["rule"] for each in cell.tunings] == ["a", "b"]
    chosen = [found.known[each.fingerprint].notes["chosen"] for each in (first, second_tuning)]
    assert [set(each) for each in chosen] == [{"turn"}, {"turn", "lift"}]
    finals = [(corpus.fingerprint, settings) for corpus, settings, _ in seen[-2:]]
    assert [name for name, _ in finals] == [both[0].fingerprint, second.fingerprint]
    for (_, settings), side, own in zip(finals, sides, chosen, strict=True):
        assert {name: settings[name] for name in (*side, *own)} == {**side, **own}


def test_a_method_that_learns_from_other_data_is_tuned_on_these(desk: Desk) -> None:
    (tuning,) = tunings(one_row(tuned(also=("captions",))), desk)
    assert tuning.data.title == "captions, embedded"
    assert tuning.also == {}


# --- who shares a tuning -----------------------------------------------------------------------------------------


def test_the_same_tuning_is_shared_and_no_other(desk: Desk, store: CellStore, seen: list[Any]) -> None:
    def name(made: Recipe, data: str = "stsb", on: Desk = desk) -> str:
        table = one_row(made)
        table = replace(table, columns=tuple(replace(column, data=data) for column in table.columns))
        (tuning,) = tunings(table, on)
        return tuning.fingerprint

    same = [
        tuned(), tuned(steady), tuned(settings={"rule": "a"}), tuned(settings={"late": 1}), tuned(seeds=9),
        tuned(cost=7.0), tuned(on={"trec": {"rule": "b"}}), tuned(quick={"rule": "b"}), tuned(published={"rule": "b"}),
        tuned(random=False), tuned(also=("stsb",)),
    ]  # fmt: skip
    assert len({name(made) for made in same}) == 1
    others = [
        tuned(settings={"rule": "b"}), tuned(settings={"epochs": 7}), tuned(settings={"turn": 0.5}),
        tuned(settings={"late": 2}), tuned(on={"stsb": {"epochs": 5}}), tuned(also=("captions",)),
    ]  # fmt: skip
    names = [name(made) for made in (same[0], *others)]
    names += [name(same[0], "trec"), name(same[0], on=Desk(quick=True, memo=store.folder))]
    assert len(set(names)) == len(names)
    both = [
        plan(one_row(made, f"row {at}"), desk, 1) for at, made in enumerate((tuned(), tuned(steady, {"rule": "a"})))
    ]
    only = [cell for cell in cells_of(both) if cell.recipe.run is not steady]
    run(only, store)
    assert len(seen) == 17
    assert estimate(cells_of(both), store) < 16  # of the other row only its own cell is left


@pytest.mark.parametrize("change", ["dials", "protocol", "version", "shared", "default"])
def test_what_decides_a_choice_is_in_the_name_of_all_that_is_computed_with_it(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    def names() -> list[str]:
        chosen, plain = (plan(one_row(replace(tuned(), tuned=each)), desk, 1).cells[0] for each in (True, False))
        return [chosen.tunings[0].fingerprint, chosen.fingerprint, plain.fingerprint]

    before = names()
    assert len(set(before)) == 3
    if change == "dials":
        dial(monkeypatch, 0, 0.9)
    elif change == "protocol":
        monkeypatch.setattr(fair, "PROTOCOL", {**PROTOCOL, "trials": 15})
    elif change == "version":
        monkeypatch.setattr(Turned, "version", 2)
    elif change == "shared":
        monkeypatch.setattr("labkit.experiment.VERSION", 99)
    else:
        init = Turned.Settings.__init__
        monkeypatch.setattr(init, "__kwdefaults__", {**init.__kwdefaults__, "epochs": 7})
    after = names()
    apart = [one != other for one, other in zip(before, after, strict=True)]
    assert apart == [True, True, change not in ("dials", "protocol")]


@pytest.mark.parametrize("start", [{}, {"turn": 0.25}])
def test_the_default_of_what_is_tried_decides_nothing_but_where_trials_start(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, start: dict[str, float]
) -> None:
    def names() -> list[str]:
        recipes = [replace(tuned(), tuned=each, first=start) for each in (True, False)]
        chosen, plain = (plan(one_row(each), desk, 1).cells[0] for each in recipes)
        return [chosen.tunings[0].fingerprint, chosen.fingerprint, plain.fingerprint]

    before = names()
    init = Turned.Settings.__init__
    monkeypatch.setattr(init, "__kwdefaults__", {**init.__kwdefaults__, "turn": 0.75})
    apart = [one != other for one, other in zip(before, names(), strict=True)]
    assert apart == ([False, False, True] if start else [True, True, True])


# --- both protocols ----------------------------------------------------------------------------------------------


def test_a_row_stands_in_a_table_twice() -> None:
    row = Row("ours", (0.9, None), replace(tuned(settings={"rule": "b"}, seeds=10), tuned=False))
    first, second = tuned_and_printed(row, {"turn": 0.25})
    assert (first.name, second.name) == ("ours", "ours, as printed")
    assert first.published == second.published == (0.9, None)
    assert first.recipe is not None and second.recipe is not None  # noqa: PT018
    assert (first.recipe.tuned, first.recipe.seeds, first.recipe.settings) == (True, 10, {"rule": "b"})
    assert first.recipe.first == {"turn": 0.25}  # where its trials start
    assert second.recipe.settings == {"rule": "b", "turn": 0.25}
    assert (second.recipe.tuned, second.recipe.seeds) == (False, 3)
    other = tuned_and_printed(Row("ours", (None,), tuned(settings={"turn": 0.9})), {"turn": 0.25})[1].recipe
    assert other is not None
    assert other.settings == {"turn": 0.25}  # what the paper prints, whatever else is said


def test_what_is_printed_is_the_papers() -> None:
    """Section 4.1 gives ε = .1; α, β, λ are the multi-similarity loss' own, and a baseline's margin the usual one."""
    shared = {"learning_rate": 0.003, "dropout": 0.2}
    assert PRINTED["sentpwnet"] == {"alpha": 2, "beta": 50, "base": 0.5, "epsilon": 0.1, **shared}
    assert PRINTED["siamese"] == {"margin": 0.5, **shared}
    assert PRINTED["triplet"] == {"temperature": 1, **shared}


def test_the_protocol_printed_has_the_cells_of_the_rows_as_printed_and_tunes_nothing(desk: Desk) -> None:
    (table,) = tables("sentpwnet/2")
    other = printed_only(table)
    assert [row.name for row in other.rows] == [row.name for row in table.rows if not row.name.endswith(AS_PRINTED)]
    fairly, printed = plan(table, desk), plan(other, desk)
    assert not [cell for cell in printed.cells if cell.tunings]
    named = {(part.row.name, part.data): [cell.fingerprint for cell in part.cells] for part in fairly.parts}
    compared = 0
    for part in printed.parts:
        theirs = named.get((part.row.name + AS_PRINTED, part.data))
        if theirs:
            assert [cell.fingerprint for cell in part.cells] == theirs
            compared += 1
    assert compared


# --- leads before and after --------------------------------------------------------------------------------------


def figure(row: str, column: str, values: list[float], *, earlier: bool = False) -> Figure:
    """A figure of so many seeds, over four units that differ."""
    ours = Spread.of(values)
    units = 1 if earlier else 4
    lean = np.linspace(-0.01, 0.01, units) * (len(row) % 3)
    runs = {seed: Parts(value + lean, np.ones(units)) for seed, value in enumerate(values)}
    return Figure(row, column, None, ours, tuple(runs), runs=runs, earlier=earlier)


def leads(claim: Claim, *found: Figure) -> Any:
    return _leads(claim, {(each.row, each.column): each for each in found})


OURS_LEADS = Claim("", ("ours",), ("theirs", "plain"), ("error",), larger=False)
FOUND = (
    figure("ours", "error", [0.30, 0.32, 0.31, 0.33, 0.29]), figure("ours, as printed", "error", [0.2, 0.2, 0.23]),
    figure("theirs", "error", [0.20, 0.20, 0.21, 0.2, 0.2]), figure("theirs, as printed", "error", [0.4, 0.5, 0.6]),
    figure("plain", "error", [0.5]),
)  # fmt: skip


def test_the_lead_before_is_between_rows_as_printed_and_the_lead_after_between_tuned_ones() -> None:
    """By hand: of errors .21 before .50, then .31 behind .202; what is not tuned stands in both."""
    before, after = leads(OURS_LEADS, *FOUND)
    assert (before.column, before.row, before.other) == ("error", "ours", "theirs")
    assert before.lead == pytest.approx(0.5 - 0.21)
    assert after.lead == pytest.approx(0.202 - 0.31)
    assert before.low < before.lead < before.high
    assert (before.low + before.high) / 2 == pytest.approx(before.lead)
    larger = replace(OURS_LEADS, larger=True)
    assert [each.lead for each in leads(larger, *FOUND)] == pytest.approx([0.21 - 0.5, 0.31 - 0.5])


def test_a_lead_that_is_a_share_is_shown_as_one() -> None:
    """.21 is 58 % below .50, and .31 is 53 % above .202, whatever lead is claimed; .31 is 38 % below .5."""
    for by in (0.0, 0.1):
        claim = replace(OURS_LEADS, relative=True, by=by, over=("theirs",))
        assert [each.lead for each in leads(claim, *FOUND)] == pytest.approx([0.58, -0.108 / 0.202])
        up = replace(claim, larger=True)
        assert [each.lead for each in leads(up, *FOUND)] == pytest.approx([-0.58, 0.108 / 0.202])
    plain = replace(OURS_LEADS, by=0.05)
    assert [each.lead for each in leads(plain, *FOUND)] == pytest.approx([0.29, -0.108])


def test_leads_are_paired_by_seed() -> None:
    """Both rise by the same from seed to seed: the lead does not move, and its interval is that of the units alone."""
    first = figure("ours", "a", [0.1, 0.2, 0.3, 0.4, 0.5])
    second = replace(figure("ours", "a", [0.05, 0.15, 0.25, 0.35, 0.45]), row="theirs")
    lead = shown_lead(
        Claim("", ("ours",), ("theirs",), ("a",)), lambda row, _: {"ours": first, "theirs": second}[row].runs
    )
    assert lead is not None
    assert (lead.low, lead.lead, lead.high) == pytest.approx((0.05, 0.05, 0.05))


def test_two_leads_are_over_the_same_others_or_not_shown() -> None:
    for lacks in range(4):
        assert leads(OURS_LEADS, *(
            replace(each, ours=None) if at == lacks else each for at, each in enumerate(FOUND)
        )) == (None, None)  # fmt: skip
    assert leads(OURS_LEADS, FOUND[0], FOUND[2], FOUND[4]) == (None, None)  # no row has both
    seen = replace(FOUND[3], state="seen")
    assert leads(OURS_LEADS, *FOUND[:3], seen, FOUND[4]) == (None, None)
    without = leads(OURS_LEADS, FOUND[0], FOUND[1], FOUND[4])  # others that nobody has are left out of both
    assert [each.other for each in without] == ["plain", "plain"]


def test_both_leads_are_of_the_rows_that_decide_once_they_are_tuned() -> None:
    """As printed the second other is closer, tuned the first one: between the two of them no lead has changed."""
    shrunk = figure("plain, as printed", "error", [0.25, 0.26, 0.24])
    before, after = leads(OURS_LEADS, *FOUND, shrunk)
    assert [(each.row, each.other, each.column) for each in (before, after)] == [("ours", "theirs", "error")] * 2
    assert (before.lead, after.lead) == pytest.approx((0.5 - 0.21, 0.202 - 0.31))
    assert leads(replace(OURS_LEADS, over=("nobody",)), *FOUND, shrunk) == (None, None)
    best = replace(OURS_LEADS, rows=("theirs", "ours"), over=("plain",), best=True)  # before it is another one
    assert [each.row for each in leads(best, *FOUND, shrunk)] == ["ours", "theirs"]


def test_what_was_computed_earlier_leads_over_seeds_alone() -> None:
    """It has one unit a seed, and what is new has many: they cannot be drawn together."""
    old = replace(figure("theirs, as printed", "error", [0.4, 0.5, 0.6], earlier=True))
    before, after = leads(OURS_LEADS, *FOUND[:3], old, FOUND[4])
    assert before.lead == pytest.approx(0.29)
    assert after == leads(OURS_LEADS, *FOUND)[1]


# --- what is told of it ------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("four_trials")
def test_leads_and_what_was_chosen_come_back_from_a_file(desk: Desk, store: CellStore) -> None:
    rows = tuned_and_printed(Row("ours", (0.9, None), replace(tuned(), tuned=False)), {"turn": 0.125})
    claim = Claim("ours leads plain", ("ours",), ("plain",), ("accuracy",))
    planned = plan(replace(TABLE, rows=(*rows, TABLE.rows[1]), claims=(claim,)), desk)
    computed = run(planned.cells, store)
    for name, known in computed.known.items():
        computed.known[name] = replace(known, parts={})  # as those of our row, which have none
    found = result(planned, computed)
    (judged,) = found.claims
    assert judged.before is not None and judged.after is not None  # noqa: PT018
    assert judged.before.lead == pytest.approx(0.125 - 0.5)
    assert judged.after.lead == pytest.approx(found.made[0].chosen[0]["settings"]["turn"] - 0.5)
    assert (len(found.at("ours", "accuracy").seeds), len(found.at("ours, as printed", "accuracy").seeds)) == (5, 3)
    record = json.loads(json.dumps(found.to_json()))
    read = TableResult.from_json("fake", record)
    assert (read.claims, read.made, read.to_json()) == (found.claims, found.made, record)
    old = {name: value for name, value in record.items() if name != "cells"}
    assert TableResult.from_json("fake", old).to_json() == old  # of a file that was written before there were any


# --- budgets, stops and failures ---------------------------------------------------------------------------------


def test_a_budget_counts_the_trials_that_a_row_needs(desk: Desk, store: CellStore, seen: list[Any]) -> None:
    long = replace(tuned(), cost=50.0)  # its trials take twice as long as a seed
    rows = (Row("long", (None, None), long), *TABLE.rows[1:])
    planned = plan(replace(TABLE, rows=rows, claims=()), desk, 1)
    (one,) = planned.parts[0].cells
    (tuning,) = one.tunings
    assert store.seconds(tuning) == pytest.approx(2 * store.seconds(one))
    between = 1.5 * store.seconds(one)
    found = run(planned.cells, store, budget=between)
    assert (ASKED, seen) == ([("plain", 0)], [])
    assert [cell.fingerprint for cell in found.left] == [tuning.fingerprint, one.fingerprint]
    table = result(planned, found)
    assert table.rest == pytest.approx(3 * store.seconds(one))
    with pytest.raises(ValueError, match="--budget"):
        run(planned.cells, store, budget=between)  # the same command would never go on
    run(planned.cells, store, budget=2.5 * store.seconds(one))
    assert len(seen) in (16, 17)


@pytest.mark.usefixtures("four_trials")
def test_what_is_known_needs_no_trials(desk: Desk, store: CellStore, tmp_path: Path, seen: list[Any]) -> None:
    planned = plan(one_row(tuned()), desk, 1)
    run(planned.cells, store)
    (tuning,) = planned.cells[0].tunings
    store._file(tuning).unlink()
    seen.clear()
    assert estimate(planned.cells, store) == 0
    again = run(planned.cells, CellStore(store.folder))
    assert not seen
    assert set(again.known) == {planned.cells[0].fingerprint}


@pytest.mark.usefixtures("four_trials")
def test_a_cell_that_does_not_say_what_was_chosen_is_none_of_a_tuned_row(
    desk: Desk, store: CellStore, seen: list[Any]
) -> None:
    """It has the name of one, whoever gave it; also where the trials are not at hand that could tell."""
    planned = plan(one_row(tuned()), desk, 1)
    store.keep(planned.cells[0], Outcome({"accuracy": 0.99}), 1.0)
    assert run(planned.cells, store, budget=0).known == {}
    found = run(planned.cells, store)
    assert len(seen) == 5
    assert found.known[planned.cells[0].fingerprint].figures["accuracy"] != 0.99


@pytest.mark.usefixtures("four_trials")
def test_seeds_that_other_trials_chose_for_are_computed_anew(desk: Desk, store: CellStore, seen: list[Any]) -> None:
    """Who tunes anew, as with another Optuna, may choose otherwise: a row has one choice for all its seeds."""
    planned = plan(one_row(tuned()), desk, 2)
    run(planned.cells[:1], store)
    (tuning,) = planned.cells[0].tunings
    known = store.find(tuning)
    assert known is not None
    store.keep(tuning, Outcome(known.figures, notes={**known.notes, "chosen": {"turn": 0.125}}), 1.0)
    found = run(planned.cells, store)
    assert [settings["turn"] for _, settings, _ in seen[-2:]] == [0.125, 0.125]
    assert {repr(found.known[cell.fingerprint].notes["chosen"]) for cell in planned.cells} == {"[{'turn': 0.125}]"}


@pytest.mark.usefixtures("four_trials")
def test_who_is_stopped_among_the_trials_goes_on_there(
    desk: Desk, store: CellStore, seen: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    planned = plan(one_row(tuned()), desk, 1)
    fit = Turned._fit

    def stopping(self: Turned, *others: Any) -> Any:
        if len(self.seen) == 2:
            raise KeyboardInterrupt
        return fit(self, *others)

    with monkeypatch.context() as patch:
        patch.setattr(Turned, "_fit", stopping)
        assert run(planned.cells, store, runs=store.runs).interrupted
    assert not list(store.folder.glob("cells/*"))
    found = run(planned.cells, store, runs=store.runs)
    assert len(seen) == 5  # 2 before, 2 and the row's own after
    elsewhere = run(planned.cells, CellStore(store.folder / "elsewhere"))
    (tuning,) = planned.cells[0].tunings
    assert found.known[tuning.fingerprint].notes["chosen"] == elsewhere.known[tuning.fingerprint].notes["chosen"]


@pytest.mark.usefixtures("four_trials")
def test_other_trials_of_the_same_settings_are_kept_apart(
    desk: Desk, store: CellStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of one experiment: with --quick, from another start, of other dials, by another protocol or another Optuna."""
    corpus = desk.open("stsb", published=False).corpus

    def folders(**more: Any) -> int:
        chosen_on_dev(Case("turned", corpus, {}, 0, tuned().methods, runs=tmp_path / "runs", **more))
        return len(list((tmp_path / "runs").iterdir()))

    assert folders(quick=True) == 1
    assert folders() == folders() == 2
    assert folders(first={"turn": 0.25}) == 3
    monkeypatch.setattr(fair, "PROTOCOL", {**PROTOCOL, "trials": 2})
    assert folders() == 3  # as with --quick
    with monkeypatch.context() as patch:
        patch.setattr(fair, "version", lambda _: "9")
        assert folders() == 4
    dial(monkeypatch, 0, 0.9)
    assert folders() == 5


def failing(self: Turned, *_: Any) -> Any:
    raise ValueError("the loss is nan\nat batch 1")


def test_trials_that_all_fail_leave_the_other_rows_alone(
    desk: Desk, store: CellStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = replace(TABLE, rows=(Row("ours", (None, None), tuned()), TABLE.rows[1]), claims=())
    planned = plan(table, desk, 2)
    monkeypatch.setattr(Turned, "_fit", failing)
    computed = run(planned.cells, store)
    found = result(planned, computed)
    assert "nan" in found.left_out["ours"]
    assert found.at("plain", "accuracy").ours is not None
    assert (found.rest, computed.left) == (0, [])


@pytest.mark.usefixtures("four_trials")
def test_without_optuna_a_tuned_row_says_what_it_needs(
    desk: Desk, store: CellStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = replace(TABLE, rows=(Row("ours", (None, None), tuned()), TABLE.rows[1]), claims=())
    planned = plan(table, desk, 2)
    run(planned.cells[:1], store)
    monkeypatch.setitem(sys.modules, "optuna", None)
    assert not run(planned.cells[:1], store).failed  # what is known needs none
    computed = run(planned.cells, CellStore(store.folder / "elsewhere"))
    assert not computed.broken
    found = result(planned, computed)
    assert "pip install optuna" in found.left_out["ours"]
    assert found.at("plain", "accuracy").ours is not None


# --- what another test set would bring -------------------------------------------------------------------------------


def test_by_hand() -> None:
    assert sampling("accuracy", 0.7, 2_100) == pytest.approx(0.01)  # .21 / 2,100 = .0001
    assert sampling("pearson", 0.6, 1_600) == pytest.approx(0.016)  # .64 / 40
    assert sampling("spearman 2012", 0.6, 1_603) == pytest.approx(0.64 * 1.18**0.5 / 40)
    assert sampling("ratio", 0.6, 1_600) == 0
    assert sampling("accuracy", 0.7, 0) == 0


def test_cases_are_what_is_scored() -> None:
    opened = DataAtHand("places", True, {"train": 9, "test": 3_977}, "", lambda: load("places"), partnered=1_700)
    assert cases_of(Column("Hit@1", "hit@1", "places"), opened) == 1_700  # the others have no partner to be found
    assert cases_of(Column("accuracy", "accuracy", "places"), opened) == 3_977
    assert cases_of(Column("STS 2012", "spearman 2012", "sts", cases=3_108), opened) == 3_108
    assert cases_of(Column("a", "triplet_accuracy", "articles"), opened) == 0  # 89 articles, thousands of triplets


def test_who_is_alone_in_a_class_has_no_partner() -> None:
    labels, splits = ["x", "x", "y", "z", "z", "z", "y"], ["test"] * 6 + ["train"]
    assert _partnered(Labelled(list("abcdefg"), labels, splits=splits)) == 5  # y has one of it in test
    assert _partnered(load("relatedness")) == 0


def test_share_against_a_simulation() -> None:
    drawn = np.random.default_rng(0).binomial(1_066, 0.63, 20_000) / 1_066
    assert sampling("hit@1", 0.63, 1_066) == pytest.approx(drawn.std(), rel=0.03)


def test_correlation_against_a_simulation() -> None:
    x, noise = np.random.default_rng(0).normal(size=(2, 5_000, 400))
    y = 0.6 * x + 0.8 * noise
    drawn = [np.corrcoef(a, b)[0, 1] for a, b in zip(x, y, strict=True)]
    assert sampling("pearson", 0.6, 400) == pytest.approx(np.std(drawn), rel=0.05)


@pytest.mark.parametrize(("lead", "verdict"), [(0.0001, "inside the spread"), (0.2, "confirmed")])
def test_rows_without_chance_can_tie(desk: Desk, store: CellStore, lead: float, verdict: str) -> None:
    rows = tuple(
        Row(name, (None, None), recipe(name, level, random=False)) for name, level in (("a", 0.6 + lead), ("b", 0.6))
    )
    claims = (Claim("a leads b", ("a",), ("b",), ("accuracy",)),)
    planned = plan(replace(TABLE, rows=rows, claims=claims), desk, 3)
    made = run(planned.cells, store)
    for name, known in made.known.items():  # as they were before single scores were kept
        made.known[name] = replace(known, parts={}, earlier=True)
    found = result(planned, made)
    assert found.earlier and EARLIER in found.notes  # noqa: PT018
    assert found.at("a", "accuracy").ours.spread == 0  # type: ignore[union-attr]
    (claim,) = found.claims
    assert claim.ours == verdict


def test_the_interval_of_a_share_against_the_formula_and_within_its_units() -> None:
    """40 units of 100 items: as good as 4,000 single ones, sqrt(p (1 - p) / 4000) wide each way, times Student's t."""
    right = np.random.default_rng(0).binomial(100, 0.3, 40).astype(float)
    low, high = _interval([Parts(right, np.full(40, 100.0))])
    share = right.sum() / 4_000
    half = 2.0227 * (right / 100).std(ddof=1) / 40**0.5  # t of 39 degrees, and the error of a mean by hand
    assert (low, high) == pytest.approx((share - half, share + half), rel=0.02)
    nearly_all = np.array([1.0] * 19 + [0.0])
    assert _interval([Parts(nearly_all, np.ones(20))])[1] == 1.0
    one, two = (Parts(np.array([value]), np.ones(1)) for value in (1.0, 2.0))  # no units: over seeds alone
    assert _interval([one, two]) == pytest.approx((1.5 - 12.706 * 0.5, 1.5 + 12.706 * 0.5), rel=1e-3)


def test_a_table_with_intervals_writes_and_reads_them(desk: Desk, store: CellStore) -> None:
    planned = plan(replace(TABLE, intervals=True), desk, 5)
    found = result(planned, run(planned.cells, store))
    figure = found.at("ours", "accuracy")
    assert figure.interval[0] < figure.mean < figure.interval[1]
    assert Figure.from_json("ours", figure.to_json()).interval == figure.interval
    said = as_markdown(reported("labkit reproduce", [found], PAPERS))
    bounds = [f"{bound:.3f}".removeprefix("0") for bound in figure.interval]
    assert f"| .820 [{bounds[0]}, {bounds[1]}] (.900) |" in said
    assert "interval" not in Figure("ours", "accuracy", 0.9).to_json()


def test_a_figure_and_its_noise_are_in_the_unit_of_the_column_and_what_is_counted_in_none(
    desk: Desk, store: CellStore
) -> None:
    percent, made = replace(TABLE.columns[0], scale=100.0), recipe("plain", 0.6, random=False)
    rows = (Row("share", (None,), made), Row("number", (None,), made, counted=True))
    planned = plan(replace(TABLE, columns=(percent,), rows=rows, claims=()), desk, 1)
    found = result(planned, run(planned.cells, store))
    share, number = (found.at(row.name, "accuracy") for row in rows)
    cases = desk.open("stsb", published=False).sizes["test"]
    assert (share.mean, share.noise) == pytest.approx((60, 100 * sampling("accuracy", 0.6, cases)))
    assert number.mean == pytest.approx(0.6)


def test_a_column_has_the_figures_of_its_own_data(desk: Desk, store: CellStore) -> None:
    columns = tuple(Column(name, "rows", name) for name in ("stsb", "trec"))
    planned = plan(replace(TABLE, columns=columns, claims=()), desk, 1)
    found = result(planned, run(planned.cells, store))
    lengths = [len(desk.open(name, published=False).corpus) for name in ("stsb", "trec")]
    assert [found.at("ours", column.name).mean for column in columns] == lengths
    assert lengths[0] != lengths[1]


def test_three_seeds_are_enough_for_what_was_computed_earlier(desk: Desk, store: CellStore) -> None:
    planned = plan(TABLE, desk, 3)
    computed = run(planned.cells, store)
    for name in [cell.fingerprint for cell in planned.parts[0].cells]:  # the other row was computed anew
        computed.known[name] = replace(computed.known[name], parts={}, earlier=True, commit="first")
    found = result(planned, computed)
    assert found.claims[0].ours == "confirmed"
    assert "first" in found.commits
    del computed.known[planned.cells[-1].fingerprint]
    assert result(planned, computed).claims[0].ours == "too few seeds"


@pytest.mark.parametrize("published", [True, False])
def test_a_method_met_texts_in_training_only_as_they_are_published(
    desk: Desk, store: CellStore, published: bool
) -> None:
    planned = plan(replace(TABLE, rows=(replace(TABLE.rows[0], seen=("stsb",)), *TABLE.rows[1:])), desk, 5)
    computed = run(planned.cells, store)
    data = replace(planned.cells[0].data, published=published)
    parts = (replace(part, cells=tuple(replace(cell, data=data) for cell in part.cells)) for part in planned.parts)
    found = result(replace(planned, parts=tuple(parts)), computed)
    assert found.at("ours", "accuracy").why == (SEEN if published else "")
    assert found.claims[0].ours == ("not measured" if published else "confirmed")


# --- what is stored --------------------------------------------------------------------------------------------------


@pytest.fixture
def file(tmp_path: Path, desk: Desk, store: CellStore) -> Path:
    plans = [plan(table, desk, 5) for table in (TABLE, LINES)]
    found = run(cells_of(plans), store)
    path = tmp_path / "results.json"
    path.write_text(as_json(reported("labkit reproduce fake", [result(each, found) for each in plans], PAPERS)))
    return path


def test_every_number_comes_back(file: Path) -> None:
    found = stored(file)
    assert found.command == "labkit reproduce fake"
    assert [table.name for table in found.tables] == ["fake/1", "fake/figure-2"]
    table = found.table("fake/1")
    assert (table.title, table.paper, table.evidence) == ("Table 1", "fake", True)
    assert (table.rows, table.columns) == (("ours", "plain", "theirs"), ("accuracy", "rows"))
    figures = {(figure.row, figure.column): figure for figure in table.figures}
    assert len(figures) == 6
    ours, theirs = figures["ours", "accuracy"], figures["theirs", "accuracy"]
    assert (ours.published, ours.seeds, len(ours.values)) == (0.9, (0, 1, 2, 3, 4), 5)
    assert (ours.mean, ours.spread) == (pytest.approx(0.82), pytest.approx(0.0158, abs=1e-4))
    assert (theirs.published, theirs.mean, theirs.why) == (0.85, None, "its weights are elsewhere")
    claim = table.claims[0]
    assert (claim.text, claim.paper, claim.ours) == ("ours leads plain", "confirmed", "confirmed")
    with pytest.raises(ValueError, match="fake/9"):
        found.table("fake/9")


def test_no_results_or_others(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"none\.json"):
        stored(tmp_path / "none.json")
    for text in ("{", "[]", '{"papers": [{"paper": "x"}]}'):
        (tmp_path / "bad.json").write_text(text)
        with pytest.raises(ValueError, match=r"bad\.json"):
            stored(tmp_path / "bad.json")


def test_those_of_the_lab() -> None:
    """The file that comes with the lab holds every table of the papers, and names no folder of a machine."""
    found = stored()
    assert [table.name for table in found.tables] == [table.name for table in tables()]
    assert all(table.evidence for table in found.tables)
    assert "--data DATA" in found.command
    assert str(Path.home()) not in FILE.read_text(encoding="utf-8")


# --- printed figures are always there; stored results take the place of a table that has none ---


def test_without_results_every_table_is_as_printed(tmp_path: Path) -> None:
    found = beside(tmp_path / "none.json")
    assert list(found) == [table.name for table in tables()]
    for table in tables():
        mine = found[table.name]
        assert len(mine.figures) == len(table.rows) * len(table.columns)
        assert [figure.published for figure in mine.figures] == [value for row in table.rows for value in row.published]
        assert all(figure.mean is None and figure.why for figure in mine.figures)
        runnable = {row.name for row in table.rows if row.recipe is not None}
        assert {figure.row for figure in mine.figures if figure.why == NOT_RUN} == runnable
    (tmp_path / "broken.json").write_text("{")
    assert beside(tmp_path / "broken.json") == found


def test_a_stored_table_takes_its_place(tmp_path: Path) -> None:
    figure = {"column": "accuracy", "paper": 86.83, "mean": 80.5, "spread": 0.5, "values": [80.0, 81.0]}
    told = {
        "table": "film/1", "title": "Table 1", "caption": "c", "note": "", "data": ["questions"], "evidence": True,
        "rows": [{"row": "FILM", "figures": [figure | {"seeds": [0, 1], "why": ""}]}], "claims": [],
    }  # fmt: skip
    path = tmp_path / "results.json"
    path.write_text(json.dumps({"command": "x", "versions": {}, "papers": [{"paper": "film", "tables": [told]}]}))
    found = beside(path)
    assert found["film/1"].figures[0].mean == 80.5
    assert found["film/2"] == beside(tmp_path / "none.json")["film/2"]


def test_a_table_that_is_read_and_written_again_is_the_same() -> None:
    """Every field of a file comes back, those that no page shows included."""
    record = json.loads(FILE.read_text("utf-8"))
    for paper in record["papers"]:
        for table in paper["tables"]:
            assert TableResult.from_json(paper["paper"], table).to_json() == table

"""The cells of the papers' tables: their keys, computation and storage, and the fair protocol."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from labkit.corpora import Corpus
from labkit.papers import cells as planning
from labkit.papers import fair
from labkit.papers.bundled_report import result
from labkit.papers.cells import Cell, Computed, Store, as_lines, cells_of, compute, plan, stored
from labkit.papers.data import Desk
from labkit.papers.fair import PROTOCOL, Tuning, tuned_and_printed
from labkit.papers.recipes import Case
from labkit.papers.records import Recipe, Row, Table
from labkit.trials.engine import Result
from tests.papers.fakes import ASKED, LINES, TABLE, Turned, faulty, interrupted, one_row, recipe, refused, steady, tuned


def cells_with(made: Recipe, desk: Desk, seeds: int | None = 1, data: str = "stsb") -> list[Cell]:
    """The cells of a table with one row."""
    return cells_of([plan(one_row(made, data), desk, seeds)])


def computed(table: Table, desk: Desk, store: Store, seeds: int | None = None, **how: Any) -> Computed:
    return compute(cells_of([plan(table, desk, seeds)]), store, **how)


# --- which cells are computed -------------------------------------------------------------------------------------


def test_known_cells_are_computed_again_only_on_request(desk: Desk, store: Store) -> None:
    first = computed(TABLE, desk, store, 2)
    assert len(first.fresh) == len(ASKED) == 3
    ASKED.clear()
    cells = cells_of([plan(TABLE, desk, 3), plan(LINES, desk, 1)])
    second = compute(cells, Store(store.folder))
    assert ASKED == [("other", 0), ("ours", 2)]  # another seed, another recipe; equal rows share a cell across tables
    for key, known in first.known.items():
        assert as_lines({key: second.known[key]}) == as_lines({key: known})
    assert stored(cells, store).keys() == {cell.key for cell in cells}
    ASKED.clear()
    assert len(computed(TABLE, desk, store, 2, again=True).fresh) == len(ASKED) == 3


def test_whatever_determines_a_result_is_in_its_key(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Recipe, data, settings, a data set's own settings, networks side by side, further corpora, versions. A default
    has the same key when given explicitly."""

    def key(run: Callable[[Case], Result] = steady, data: str = "stsb", **more: Any) -> str:
        return cells_with(Recipe(run, "thematic", **more), desk, data=data)[0].key

    assert key() == key(settings={"rule": "adjacent"}) == key(seeds=1, on={"trec": {"size": 9}})
    sides = ({"rule": "adjacent"}, {"rule": "titles"})
    others: list[dict[str, Any]] = [
        {}, {"settings": {"rule": "titles"}}, {"sides": sides}, {"sides": sides[::-1]}, {"sides": sides[:1] * 2},
        {"also": ("trec",)}, {"on": {"stsb": {"size": 9}}}, {"also": ("trec",), "sides": sides},
        {"also": ("quora", "trec"), "sides": sides}, {"also": ("trec", "quora"), "sides": sides}, {"first": {}},
        {"run": faulty}, {"data": "trec"},
    ]  # fmt: skip
    keys = {key(**more) for more in others}
    assert len(keys) == len(others)
    monkeypatch.setattr(planning, "versions_of", lambda *_: {"shared": "9"})
    assert key() not in keys


def test_quick_computes_one_seed_for_one_epoch_on_fewer_rows_without_tuning(desk: Desk, store: Store) -> None:
    quick = Desk(quick=True, memo=store.folder)
    (cell,) = cells_with(tuned(sides=({"epochs": 3}, {"rule": "b"})), quick, None)
    assert (cell.settings["epochs"], cell.tunings, cell.data.sizes["train"]) == (1, (), 1200)
    assert cell.recipe.sides == ({"epochs": 1}, {"rule": "b"})
    assert cell.case().quick
    assert cell.key != cells_with(replace(tuned(settings={"epochs": 1}), first=None), desk)[0].key


def test_rows_are_selected_by_name() -> None:
    table = replace(TABLE, rows=(replace(TABLE.rows[0], name="ours, mixed"), *TABLE.rows), claims=())
    assert planning.rows_named(table, "Ours") == ["ours"]  # a full name selects only that row
    assert planning.rows_named(table, "our") == ["ours, mixed", "ours"]


def test_an_interruption_keeps_finished_cells(desk: Desk, store: Store) -> None:
    stopping = Row("stopping", (None, None), recipe("stop", 0.1, run=interrupted))
    table = replace(TABLE, rows=(TABLE.rows[0], stopping, TABLE.rows[1]), claims=())
    found = computed(table, desk, store, 1)
    assert found.interrupted
    assert ASKED == [("ours", 0), ("interrupted", 0)]
    made = result(plan(table, desk, 1), found)
    assert (made.at("ours", "accuracy").mean, made.at("plain", "accuracy").mean, made.left) == (0.8, None, 2)
    ASKED.clear()
    computed(TABLE, desk, store, 1)
    assert ASKED == [("plain", 0)]


def test_missing_data_and_bugs_do_not_stop_the_other_rows(desk: Desk, store: Store) -> None:
    rows = (Row("m", (None, None), recipe("m", 0.1, run=refused)), Row("f", (None, None), recipe("f", 0.1, run=faulty)))
    table = replace(TABLE, rows=(*rows, TABLE.rows[1]), claims=())
    made = computed(table, desk, store, 1)
    assert [str(fault) for fault in made.bugs] == ["a fault of ours"]
    found = result(plan(table, desk, 1), made)
    assert found.at("m", "accuracy").why == "the data have none"
    assert "a fault of ours" in found.at("f", "accuracy").why
    assert (found.at("plain", "accuracy").mean, found.left) == (0.5, 0)


def test_bundled_results_are_reused_and_overridden_by_local_ones(desk: Desk, store: Store, tmp_path: Path) -> None:
    first = computed(TABLE, desk, store, 2)
    bundled = tmp_path / "cells.jsonl"
    lines = as_lines(first.known).splitlines(keepends=True)
    bundled.write_text("".join(lines))
    ASKED.clear()
    elsewhere = Store(tmp_path / "elsewhere", bundled=bundled)
    again = computed(TABLE, desk, elsewhere, 2)
    assert ASKED == []
    assert as_lines(again.known) == "".join(lines)
    for known in again.known.values():
        assert known.parts["accuracy"].figure == pytest.approx(known.figures["accuracy"], abs=1e-6)
        assert known.notes["about"]["settings"]["name"] in ("ours", "plain")
    key = next(iter(again.known))
    elsewhere.keep(key, Result({"accuracy": 0.2}), {})
    assert elsewhere.find(key).figures == {"accuracy": 0.2}  # type: ignore[union-attr]
    (elsewhere.folder / "trials" / f"{key}.json").write_text("{")
    assert as_lines({key: elsewhere.find(key)}) in lines  # type: ignore[dict-item]
    for number, damaged in enumerate(("{ torn", '{"figures": {}}', '["key"]')):
        bad = tmp_path / f"bad{number}.jsonl"
        bad.write_text(lines[0] + damaged + "\n" + "".join(lines[1:]))
        with pytest.raises(ValueError, match=rf"bad{number}\.jsonl, line 2 "):
            stored(cells_of([plan(TABLE, desk, 2)]), Store(tmp_path / "empty", bundled=bad))
    partial = tmp_path / "partial.jsonl"
    partial.write_text(json.dumps({"key": key, "figures": {}}) + "\n")
    with pytest.raises(ValueError, match=rf"partial\.jsonl: .*{key}"):
        Store(tmp_path / "empty", bundled=partial).find(key)


# --- the fair protocol -----------------------------------------------------------------------------------------------


SEEN = Turned.seen  # the trainings of `Turned`: corpus, settings, seed
FOUR = {**PROTOCOL, "trials": 4}


@pytest.fixture(autouse=True)
def four_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    """Treat no data as small, and run only four trials."""
    monkeypatch.setattr(fair, "SMALL", 0)
    monkeypatch.setattr(fair, "PROTOCOL", FOUR)
    SEEN.clear()


def tuning_of(made: Recipe, desk: Desk, data: str = "stsb") -> Tuning:
    """The only tuning of a row's first seed."""
    ((tuning,),) = (cell.tunings for cell in cells_with(made, desk, data=data))
    return tuning


def test_sixteen_trials_on_a_quarter_for_half_of_the_epochs_choose_the_settings_of_all_seeds(
    desk: Desk, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fair, "PROTOCOL", PROTOCOL)
    cells = cells_with(tuned(settings={"rule": "a"}), desk, 2)
    found = compute(cells, store)
    whole = desk.open("stsb", published=False).corpus
    trials, finals = SEEN[:16], SEEN[16:]
    assert {(settings["epochs"], seed) for _, settings, seed in trials} == {(3, 0)}
    (corpus, *others) = [corpus for corpus, _, _ in trials]
    assert {each.fingerprint for each in others} == {corpus.fingerprint}
    assert "test" not in corpus.sizes
    assert 0.15 < corpus.sizes["train"] / whole.sizes["train"] < 0.35
    turns = [settings["turn"] for _, settings, _ in trials]
    assert (turns[0], len(set(turns))) == (0.5, 16)  # the given value first, then others
    (tuning,) = cells[0].tunings
    known = found.known[tuning.key]
    figures = [trial["figure"] for trial in known.notes["trials"]]
    chosen = turns[figures.index(max(figures))]
    assert known.notes["chosen"] == {"turn": chosen}
    assert known.figures == {"dev": max(figures), "dev at first": figures[0]}
    assert chosen != 0.5  # otherwise the next assertion proves nothing
    told = [(settings["turn"], settings["epochs"], seed) for _, settings, seed in finals]
    assert told == [(chosen, 6, 0), (chosen, 6, 1)]
    assert {corpus.fingerprint for corpus, _, _ in finals} == {whole.fingerprint}
    assert {repr(found.known[cell.key].notes["chosen"]) for cell in cells} == {repr([{"turn": chosen}])}
    again = compute(cells, Store(store.folder))
    assert len(SEEN) == 18
    assert again.known.keys() == found.known.keys()


def test_trials_on_small_data_use_all_rows_and_epochs(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    tuning = tuning_of(tuned(), desk)
    assert tuning.protocol == FOUR
    monkeypatch.setattr(fair, "SMALL", tuning.data.sizes["train"])
    assert tuning.protocol == {**PROTOCOL, "part": 1.0, "epochs": 1.0}
    articles = replace(tuning, data=replace(tuning.data, articles=True))  # few but long, so never small
    assert articles.protocol == FOUR


def test_the_first_trial_has_the_papers_settings(desk: Desk, store: Store) -> None:
    made = tuned(first={"turn": 0.25, "epochs": 2, "lift": 0.9})  # only `turn` is tuned here
    computed(one_row(made), desk, store, 1)
    assert [(settings["turn"], settings["epochs"], settings["lift"]) for _, settings, _ in SEEN[:1]] == [(0.25, 3, 0.5)]
    keys = [tuning_of(tuned(first=first), desk).key for first in ({}, {"turn": 0.25}, {"lift": 0.9})]
    assert keys[0] == keys[2] != keys[1]


def test_further_settings_are_tuned_only_on_the_data_set_that_names_them(desk: Desk, store: Store) -> None:
    (cell,) = cells_with(tuned(tries={"stsb": {"rule": ("a", "b")}}, first={"rule": "b"}), desk)
    (known,) = [compute([cell], store).known[each.key] for each in cell.tunings]
    tried = [trial["tried"]["rule"] for trial in known.notes["trials"]]
    assert [settings["rule"] for _, settings, _ in SEEN[:4]] == tried
    assert SEEN[0][1]["rule"] == "b"  # the recipe's `first`
    assert SEEN[-1][1]["rule"] == known.notes["chosen"]["rule"]
    ways = ({}, {"trec": {"rule": ("a", "b")}}, {"stsb": {"rule": ("a", "b")}}, {"stsb": {"late": (1, 9)}})
    keys = [tuning_of(tuned(tries=tries), desk).key for tries in ways]
    assert keys[0] == keys[1]  # another data set's
    assert len(set(keys)) == 3


def test_two_networks_are_each_tuned_on_their_own_training_data(desk: Desk, store: Store) -> None:
    (cell,) = cells_with(tuned(sides=({"rule": "a"}, {"rule": "b"}), also=("sick", "stsb")), desk)
    sick, stsb = (desk.open(name, published=False) for name in ("sick", "stsb"))
    half = type(stsb).of(stsb.corpus.fewer(0.5), "half")  # another corpus for the second network
    cell = replace(cell, also={"sick": sick, "stsb": half})
    assert [each.data.fingerprint for each in cell.tunings] == [sick.fingerprint, half.fingerprint]
    found = compute([cell], store)
    chosen = [found.known[each.key].notes["chosen"] for each in cell.tunings]
    assert [set(each) for each in chosen] == [{"turn"}, {"turn", "lift"}]
    for (corpus, settings, _), data, side, own in zip(SEEN[-2:], (sick, half), cell.recipe.sides, chosen, strict=True):
        assert corpus.fingerprint == data.fingerprint
        assert {name: settings[name] for name in (*side, *own)} == {**side, **own}


def test_with_a_search_per_seed_the_best_trials_and_the_first_are_retrained_on_all_rows(
    desk: Desk, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def selection(self: Turned, corpus: Corpus) -> tuple[str, float]:
        """After 3 epochs on a quarter the largest angle looks best; after 6 epochs on all rows the smallest does."""
        assert set(corpus.splits) == {"dev"}
        return "dev_angle", self.settings.turn * (1 if self.settings.epochs == 3 else -1)

    monkeypatch.setattr(Turned, "selection", selection)
    cells = cells_with(tuned(per_seed=("stsb",), seeds=9), desk, None)
    assert [cell.seed for cell in cells] == [0, 1, 2, 3, 4]
    found = compute(cells[:2], store, runs=store.folder / "runs")
    whole = desk.open("stsb", published=False).corpus
    for seed, cell in enumerate(cells[:2]):
        (tuning,) = cell.tunings
        mine = [(corpus, settings["turn"], settings["epochs"]) for corpus, settings, of in SEEN if of == seed]
        trials, finalists, (scored,) = mine[:4], mine[4:-1], mine[-1:]
        turns = [turn for _, turn, _ in trials]
        assert turns[0] == 0.5
        best = sorted(turns, reverse=True)[:3]
        assert [turn for _, turn, _ in finalists] == [0.5, *(turn for turn in best if turn != 0.5)]
        for corpus, _, epochs in finalists:
            assert (corpus.sizes["train"], "test" in corpus.sizes, epochs) == (whole.sizes["train"], False, 6)
        known = found.known[tuning.key]
        chosen = min([0.5, *best])
        assert known.notes["chosen"] == {"turn": chosen}
        assert known.figures == {"dev": -chosen, "dev at first": -0.5}
        assert (scored[0].fingerprint, *scored[1:]) == (whole.fingerprint, chosen, 6)
    assert len({cell.tunings[0].key for cell in cells}) == 5
    first, second = (found.known[cell.tunings[0].key].notes["trials"] for cell in cells[:2])
    assert first != second


@pytest.mark.parametrize(("broken", "chosen"), [((1,), 0), ((0,), 1), ((0, 1), None)])
def test_a_failed_trial_is_no_finalist_and_a_failed_finalist_is_not_chosen(
    desk: Desk, store: Store, monkeypatch: pytest.MonkeyPatch, broken: tuple[int, ...], chosen: int | None
) -> None:
    """Two of four trials fail; of the two finalists, those in `broken` fail."""
    fit = Turned._fit

    def failing_later(self: Turned, *others: Any) -> Any:
        history, number = fit(self, *others), len(SEEN) - 1
        if number in (2, 3) or (number in (4, 5) and number - 4 in broken):
            raise ValueError(f"training {number} failed")
        return history

    monkeypatch.setattr(Turned, "_fit", failing_later)
    monkeypatch.setattr(Turned, "selection", lambda self, _: ("dev_angle", float(self.settings.turn != 0.5)))
    (cell,) = cells_with(tuned(settings={"late": 3}, per_seed=("stsb",)), desk)
    found = compute([cell], store)
    turns = [settings["turn"] for _, settings, _ in SEEN]
    assert turns[4:6] == turns[:2]
    assert {settings["late"] for _, settings, _ in SEEN} == {3}
    if chosen is None:
        assert "training 4" in str(found.failed[cell.key])
        assert (found.known, len(SEEN)) == ({}, 6)
    else:
        assert turns[6:] == [turns[chosen]]
        known = found.known[cell.tunings[0].key]
        assert [bool(each["reason"]) for each in known.notes["finalists"]] == [0 in broken, 1 in broken]
        assert known.figures.keys() == {"dev"} | ({"dev at first"} if 0 not in broken else set())


def test_each_seed_is_tuned_only_where_a_row_says_so(desk: Desk, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def keys(*per_seed: str, seeds: int | None = 3) -> list[str]:
        cells = cells_with(tuned(per_seed=per_seed, seeds=7), desk, seeds)
        return [tuning.key for cell in cells for tuning in cell.tunings]

    own, shared = keys("stsb"), keys()
    assert keys("trec") == shared == shared[:1] * 3
    assert len({*own, *shared}) == 4
    assert (len(keys("stsb", seeds=None)), len(keys("trec", seeds=None))) == (5, 7)
    monkeypatch.setattr(fair, "FINALISTS", 2)
    assert not {*own} & {*keys("stsb")}
    monkeypatch.setattr(fair, "SMALL", 10**6)  # all trials use all rows, so there are no finalists
    computed(one_row(tuned(per_seed=("stsb",))), desk, store, 1)
    assert [settings["epochs"] for _, settings, _ in SEEN] == [6] * (16 + 1)


def test_only_equal_tunings_are_shared(desk: Desk) -> None:
    same = [
        tuned(), tuned(steady), tuned(settings={"rule": "a"}), tuned(settings={"late": 1}), tuned(seeds=9),
        tuned(on={"trec": {"rule": "b"}}), tuned(also=("stsb",)),
    ]  # fmt: skip
    assert len({tuning_of(made, desk).key for made in same}) == 1
    others = [
        tuned(settings={"rule": "b"}), tuned(settings={"epochs": 7}), tuned(settings={"turn": 0.5}),
        tuned(settings={"late": 2}), tuned(on={"stsb": {"epochs": 5}}), tuned(also=("captions",)),
    ]  # fmt: skip
    keys = [tuning_of(made, desk).key for made in (same[0], *others)] + [tuning_of(same[0], desk, "trec").key]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("change", ["space", "protocol", "version", "default"])
def test_whatever_determines_a_choice_is_in_the_keys_that_depend_on_it(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    def keys() -> list[str]:
        chosen, plain = (cells_with(replace(tuned(), first=first), desk)[0] for first in ({}, None))
        return [chosen.tunings[0].key, chosen.key, plain.key]

    before = keys()
    assert len(set(before)) == 3
    if change == "space":
        field = Turned.Settings.__dataclass_fields__["turn"]
        monkeypatch.setattr(field, "metadata", {**field.metadata, "tune": (0, 0.9)})
    elif change == "protocol":
        monkeypatch.setattr(fair, "PROTOCOL", {**PROTOCOL, "trials": 15})
    elif change == "version":
        monkeypatch.setattr(Turned, "version", 2)
    else:
        init = Turned.Settings.__init__
        monkeypatch.setattr(init, "__kwdefaults__", {**init.__kwdefaults__, "epochs": 7})
    apart = [one != other for one, other in zip(before, keys(), strict=True)]
    assert apart == [True, True, change in ("version", "default")]


def test_seeds_are_computed_again_after_a_new_choice(desk: Desk, store: Store) -> None:
    """A repeated tuning, for example with another Optuna, may choose differently; all seeds share one choice."""
    cells = cells_with(tuned(), desk, 2)
    compute(cells[:1], store)
    (tuning,) = cells[0].tunings
    known = store.find(tuning.key)
    assert known is not None
    store.keep(tuning.key, replace(known, notes={**known.notes, "chosen": {"turn": 0.125}}), tuning.about)
    assert stored(cells, store).keys() == {tuning.key}
    compute(cells, store)
    assert [settings["turn"] for _, settings, _ in SEEN[-2:]] == [0.125, 0.125]
    store.keep(cells[0].key, Result({"accuracy": 0.99}), cells[0].about)  # without a record of the choice
    assert cells[0].key not in stored(cells, store)


def test_interrupted_trials_resume(desk: Desk, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    fit = Turned._fit

    def stopping(self: Turned, *others: Any) -> Any:
        if len(SEEN) == 2:
            raise KeyboardInterrupt
        return fit(self, *others)

    with monkeypatch.context() as patch:
        patch.setattr(Turned, "_fit", stopping)
        assert computed(one_row(tuned()), desk, store, 1, runs=store.folder / "runs").interrupted
    assert not list(store.folder.glob("trials/*"))
    computed(one_row(tuned()), desk, store, 1, runs=store.folder / "runs")
    assert len(SEEN) == 5  # 2 before the interruption; then 2 more trials and the row itself


def failing(self: Turned, *_: Any) -> Any:
    SEEN.append(None)  # type: ignore[arg-type]
    raise ValueError("the loss is nan\nat batch 1")


def test_a_tuning_whose_trials_all_fail_runs_once_and_leaves_other_rows_alone(
    desk: Desk, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = replace(TABLE, rows=(Row("ours", (None, None), tuned()), TABLE.rows[1]), claims=())
    monkeypatch.setattr(Turned, "_fit", failing)
    found = result(plan(table, desk, 2), computed(table, desk, store, 2))
    assert "nan" in found.at("ours", "accuracy").why
    assert (found.at("plain", "accuracy").mean, found.left, len(SEEN)) == (0.5, 0, 4)


def test_a_row_appears_tuned_and_as_printed() -> None:
    made = tuned(settings={"rule": "b"}, seeds=10, tries={"stsb": {"late": (1, 9)}}, per_seed=("stsb",))
    first, second = tuned_and_printed(Row("ours", (0.9, None), made), {"turn": 0.25, "late": 4}, {"late": 2})
    assert (first.name, second.name) == ("ours", "ours, as printed")
    assert first.published == second.published == (0.9, None)
    assert first.recipe == replace(made, first={"turn": 0.25, "late": 2})
    printed = {"rule": "b", "turn": 0.25, "late": 4}
    assert second.recipe == replace(made, settings=printed, first=None, seeds=3, tries={}, per_seed=())

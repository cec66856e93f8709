"""The fair protocol: the same trials for all, on nothing of test; who shares a tuning; both protocols; the leads."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from labkit.evaluation import Parts
from labkit.evaluation.comparison import Spread
from labkit.lab.papers import cells as planning
from labkit.lab.papers import fair
from labkit.lab.papers.cells import Cell, Computed, cells_of, estimate, plan, run
from labkit.lab.papers.claims import Claim, shown_lead
from labkit.lab.papers.data import Desk
from labkit.lab.papers.fair import PROTOCOL, chosen_on_dev, printed_only, tuned_and_printed
from labkit.lab.papers.published import tables
from labkit.lab.papers.published.sentpwnet import PRINTED
from labkit.lab.papers.recipes import Case
from labkit.lab.papers.records import AS_PRINTED, Outcome, Recipe, Row, Table
from labkit.lab.papers.results import _leads, _on_ours, result
from labkit.lab.papers.store import KEPT, CellStore
from labkit.lab.papers.stored import Figure, Made, TableResult
from tests.lab.papers.fakes import ASKED, TABLE, Turned, one_row, recipe, steady, tuned

NAMES = [table.name for table in tables()]


@pytest.fixture(autouse=True)
def seen(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What the method of vectors learned from: corpus, settings, seed. No data is small here."""
    monkeypatch.setattr(fair, "SMALL", 0)
    Turned.seen.clear()
    return Turned.seen


def tunings(table: Table, desk: Desk) -> list[Cell]:
    """The cells that choose settings of a table's rows."""
    found = [each for part in plan(table, desk).parts for cell in part.cells[:1] for each in cell.tunings]
    return [*{each.fingerprint: each for each in found}.values()]


def dial(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Let the angle be turned otherwise."""
    field = Turned.Settings.__dataclass_fields__["turn"]
    monkeypatch.setattr(field, "metadata", {**field.metadata, "dial": text})


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


def test_every_tuned_row_of_the_papers_has_dials_and_a_dev_split(desk: Desk) -> None:
    found = [each for table in tables() for each in tunings(table, desk)]
    assert len(found) > 40
    for tuning in found:
        assert {"train", "dev"} <= set(tuning.data.sizes), str(tuning)
        assert tuning.kind["space"], str(tuning)
        assert tuning.kind["protocol"] == PROTOCOL
        assert (tuning.seed, tuning.quick) == (0, False)


def test_no_method_is_given_other_trials_than_its_name_says(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, Any]] = []

    def noting(experiment: Any, **how: Any) -> Any:
        asked.append({name: how[name] for name in PROTOCOL} | {"seed": experiment.seed, "first": dict(how["first"])})
        raise ValueError("enough")

    monkeypatch.setattr("labkit.tuning.tune", noting)
    found = {each.fingerprint: each for table in tables() for each in tunings(table, desk)}
    assert {"siamese", "sentpwnet", "bag", "tfidf", "sif", "film"} <= {each.recipe.method for each in found.values()}
    for tuning in found.values():
        with pytest.raises(ValueError, match="enough"):
            tuning.recipe.run(tuning.case())
        assert asked[-1] == {**PROTOCOL, "seed": 0, "first": dict(tuning.recipe.first)}, str(tuning)


def test_every_choice_that_is_kept_is_the_best_of_sixteen_and_was_taken_over() -> None:
    """Of the cells that come with the lab: who was tuned by fewer trials, or by others, would lead or lag for that."""
    kept = [json.loads(line) for line in KEPT.read_text("utf-8").splitlines()]
    chosen = {}
    for cell in kept:
        if cell["kind"]["recipe"] == "chosen_on_dev":
            trials = cell["notes"]["trials"]
            best = max((each for each in trials if each["figure"] is not None), key=lambda each: each["figure"])
            assert (len(trials), cell["notes"]["chosen"]) == (PROTOCOL["trials"], best["tried"])
            assert cell["notes"]["protocol"] == cell["kind"]["protocol"]
            assert trials[0]["tried"].items() <= cell["kind"]["first"].items()
            chosen[json.dumps(cell["kind"])] = best["tried"]
    assert len(chosen) > 60
    for cell in kept:
        if "tunings" in cell["kind"]:
            assert cell["notes"]["chosen"] == [chosen[json.dumps(each)] for each in cell["kind"]["tunings"]]


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
        dial(monkeypatch, "0..0.9")
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


@pytest.mark.parametrize("name", NAMES)
def test_rows_that_say_other_things_have_other_trials(name: str, desk: Desk) -> None:
    """Two rows of one table and one data set share their trials only where all settings and the method are the same."""
    (table,) = tables(name)
    by_name: dict[str, set[str]] = {}
    for part in plan(table, desk).parts:
        for cell in part.cells[:1]:
            for each in cell.tunings:
                told = (each.recipe.method, sorted(each._complete(each.settings).items()), each.data.fingerprint)
                by_name.setdefault(each.fingerprint, set()).add(repr(told))
    assert all(len(told) == 1 for told in by_name.values())
    everyone = [told for each in by_name.values() for told in each]
    assert len(everyone) == len(set(everyone))


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


@pytest.mark.parametrize("name", NAMES)
def test_the_other_protocol_has_the_cells_as_printed_and_tunes_nothing(name: str, desk: Desk) -> None:
    (table,) = tables(name)
    other = printed_only(table)
    assert [row.name for row in other.rows] == [row.name for row in table.rows if not row.name.endswith(AS_PRINTED)]
    fairly, printed = plan(table, desk), plan(other, desk)
    assert not [cell for cell in printed.cells if cell.tunings]
    named = {(part.row.name, part.data): [cell.fingerprint for cell in part.cells] for part in fairly.parts}
    for part in printed.parts:
        theirs = named.get((part.row.name + AS_PRINTED, part.data))
        mine = [cell.fingerprint for cell in part.cells]
        if theirs is not None:
            assert mine == theirs
        elif part.cells and not part.cells[0].recipe.tuned:
            alike = next(row for row in table.rows if row.name == part.row.name).recipe
            assert alike is not None
            assert alike.tuned or mine == named[part.row.name, part.data]
    for row in table.rows:
        if row.name.endswith(AS_PRINTED):
            assert row.recipe is not None
            twin = next(each for each in table.rows if each.name == row.name.removesuffix(AS_PRINTED)).recipe
            assert twin is not None
            assert twin.tuned and not row.recipe.tuned  # noqa: PT018
            assert (twin.method, twin.on, twin.also) == (row.recipe.method, row.recipe.on, row.recipe.also)
            assert (twin.quick, twin.published) == (row.recipe.quick, row.recipe.published)
            assert row.recipe.settings == {**twin.settings, **twin.first}
            assert twin.first == PRINTED.get(twin.method, twin.first)


def test_a_table_as_printed_does_not_say_that_it_was_tuned() -> None:
    assert "by 16 trials" in tables("sentpwnet/2")[0].note
    for table in tables():
        assert "chosen on dev by" not in printed_only(table).note


@pytest.mark.parametrize(
    "table", [table for table in tables() if fair.FAIR in table.note], ids=lambda table: table.name
)
def test_a_table_that_says_so_has_no_untuned_row_that_could_be_tuned(table: Table) -> None:
    """But those as printed, and the networks that are not trained; a model that others have trained has no dials."""
    plain = [(row.name, row.recipe) for row in table.rows if row.recipe and not row.recipe.tuned]
    rest = [name for name, made in plain if made.entry and made.entry(**made.settings).settings.space()]
    assert [name for name in rest if "as printed" not in name and "untrained" not in name] == []
    assert any(row.recipe and row.recipe.tuned for row in table.rows)


def test_the_tables_that_say_so() -> None:
    named = [table.name for table in tables() if fair.FAIR in table.note]
    assert named == [
        "sentpwnet/2", "sentpwnet/3", "sentpwnet/6", "sentpwnet/ablation-pairs", "sentpwnet/ablation-weights",
        "sentpwnet/ablation-losses", "thematic/3", "thematic/4", "thematic/5", "pthought/3", "pthought/6",
        "pthought/7", "pthought/A.8", "pthought/figure-3", "pthought/figure-4", "film/1", "film/2",
    ]  # fmt: skip
    shown = "sentpwnet/2", "sentpwnet/3", "sentpwnet/6", "pthought/3", "pthought/6", "pthought/7", "film/1", "film/2"
    for name in shown:
        assert any(row.recipe and row.recipe.method == "bag" for row in tables(name)[0].rows)


@pytest.mark.parametrize(
    ("name", "setting", "values"),
    [
        ("ablation-pairs", "miner", ["informative", "hardest", "random", "none"]),
        ("ablation-weights", "loss", ["locality", "contrastive", "soft-triplet"]),
        ("ablation-losses", "loss", ["contrastive", "soft-triplet", "margin-triplet", "locality", "infonce", "supcon",
                                     "logistic", "cosent"]),
    ],
)  # fmt: skip
def test_each_row_of_an_ablation_has_what_its_name_says(name: str, setting: str, values: list[str]) -> None:
    words = {"hardest": "the hardest", "random": "at random", "none": "all pairs", "contrastive": "eq. 6",
             "soft-triplet": "eq. 4", "locality": "eq. 8", "infonce": "InfoNCE", "supcon": "supervised contrastive",
             "margin-triplet": "margin triplet", "cosent": "CoSENT"}  # fmt: skip
    rows = tables(f"sentpwnet/{name}")[0].rows
    assert [row.recipe.settings[setting] for row in rows if row.recipe] == values
    for row, value in zip(rows, values, strict=True):
        assert words.get(value, value) in row.name


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


def test_claims_are_judged_on_tuned_rows() -> None:
    found = _on_ours(replace(OURS_LEADS, over=("theirs",)), {(each.row, each.column): each for each in FOUND}, TABLE)
    assert found.verdict == "not confirmed"
    assert found.why.startswith("error: ours 0.31 against theirs 0.202 (-0.108 ")


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


def test_a_table_tells_how_its_cells_were_made(desk: Desk, store: CellStore) -> None:
    table = replace(TABLE, rows=(Row("ours", (None, None), tuned()), TABLE.rows[2]), claims=())
    planned = plan(table, desk, 2)
    expected = {cell.fingerprint: 1.0 for cell in planning.with_tunings(planned.cells)}
    assert result(planned, Computed(expected=expected)).made == ()
    computed = run(planned.cells, store)
    (made,) = result(planned, computed).made
    (tuning,) = planned.cells[0].tunings
    known = computed.known[tuning.fingerprint]
    assert (made.row, made.data, made.seeds) == ("ours", "stsb", (0, 1))
    assert made.seconds == tuple(round(computed.known[cell.fingerprint].seconds, 1) for cell in planned.cells)
    assert made.settings == {"epochs": 6, "rule": "a", "lift": 0.5}  # what was tried stands below
    assert len(made.hosts) == len(made.commits) == 1
    assert made.hosts[0].endswith("processors")
    (chosen,) = made.chosen
    assert chosen["settings"] == known.notes["chosen"]
    assert (chosen["trials"], chosen["space"], chosen["measure"]) == (16, {"turn": "0..1"}, "dev_spearman")
    assert (chosen["dev"], chosen["dev at first"]) == (known.figures["dev"], known.figures["dev at first"])
    assert chosen["dev"] > chosen["dev at first"]
    assert Made.from_json(json.loads(json.dumps(made.to_json()))) == made


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
    with pytest.raises(ValueError, match=r"^--budget is .*, but one seed takes about .*, and its shortest row"):
        run(planned.cells, store, budget=between)  # the same command would never go on
    run(planned.cells, store, budget=2.5 * store.seconds(one))
    assert len(seen) in (16, 17)


def test_rows_that_need_no_trials_come_first_where_time_is_short(desk: Desk, store: CellStore) -> None:
    order: list[str] = []

    def noting(case: Case) -> Outcome:
        order.append(str(case.settings.get("name", "tuned")))
        return Outcome({"accuracy": 0.1})

    short, long = replace(tuned(noting), cost=1.0), recipe("long", 0.3, run=noting, cost=2.0)  # but for its trials
    rows = (Row("short", (None, None), short), Row("long", (None, None), long))
    run(plan(replace(TABLE, rows=rows, claims=()), desk, 1).cells, store, budget=10_000)
    assert order == ["long", "tuned"]


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


def test_a_cell_that_does_not_say_what_was_chosen_is_none_of_a_tuned_row(
    desk: Desk, store: CellStore, seen: list[Any]
) -> None:
    """It has the name of one, whoever gave it; also where the trials are not at hand that could tell."""
    planned = plan(one_row(tuned()), desk, 1)
    store.keep(planned.cells[0], Outcome({"accuracy": 0.99}), 1.0)
    assert run(planned.cells, store, budget=0).known == {}
    found = run(planned.cells, store)
    assert len(seen) == 17
    assert found.known[planned.cells[0].fingerprint].figures["accuracy"] != 0.99


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


def test_who_is_stopped_among_the_trials_goes_on_there(
    desk: Desk, store: CellStore, seen: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    planned = plan(one_row(tuned()), desk, 1)
    fit = Turned._fit

    def stopping(self: Turned, *others: Any) -> Any:
        if len(self.seen) == 5:
            raise KeyboardInterrupt
        return fit(self, *others)

    with monkeypatch.context() as patch:
        patch.setattr(Turned, "_fit", stopping)
        assert run(planned.cells, store, runs=store.runs).interrupted
    assert not list(store.folder.glob("cells/*"))
    found = run(planned.cells, store, runs=store.runs)
    assert len(seen) == 17  # 5 before, 11 and the row's own after
    elsewhere = run(planned.cells, CellStore(store.folder / "elsewhere"))
    (tuning,) = planned.cells[0].tunings
    assert found.known[tuning.fingerprint].notes["chosen"] == elsewhere.known[tuning.fingerprint].notes["chosen"]


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
    dial(monkeypatch, "0..0.9")
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
    assert found.left_out == {
        "ours": "its recipe failed: none of 16 trials could be trained; the first: the loss is nan at batch 1"
    }
    assert found.at("plain", "accuracy").ours is not None
    assert (found.rest, computed.left) == (0, [])


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
    assert found.left_out == {
        "ours": "its settings are chosen by Optuna, which is not installed; run pip install optuna"
    }
    assert found.at("plain", "accuracy").ours is not None

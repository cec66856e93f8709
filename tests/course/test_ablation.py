"""Ablations: a cell is computed once and reproducible, and its table is stored as measured."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import wraps
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from threadpoolctl import threadpool_info, threadpool_limits

from labkit.corpora import CORPORA, Corpus, load
from labkit.course import ablation, plans
from labkit.course.ablation import (
    FOLDER,
    Ablation,
    Figures,
    Variant,
    again,
    kept,
    measure_all,
    scored_and_clustered,
    write_table,
)
from labkit.course.plans import PLANS, main
from labkit.method import Method
from labkit.papers import fair
from labkit.papers.cells import Cell, Store
from labkit.papers.data import Desk
from labkit.papers.published import tables
from labkit.papers.recipes import Case
from labkit.papers.recipes.scoring import scored
from labkit.papers.records import Recipe
from labkit.trials.engine import Result

SMALL = Ablation(
    "small",
    "relatedness",
    (Variant("TF-IDF", "tfidf"), Variant("words", "mean-vectors", {"dimension": 10})),
    ("spearman", "pearson"),
    seeds=(0, 1),
)
CELLS = [("tfidf", 0), ("tfidf", 1), ("mean-vectors", 0), ("mean-vectors", 1)]


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """The method and seed of each computed cell; its first metric is a tenth of their number."""
    cells: list[tuple[str, int]] = []

    @wraps(scored)  # a recipe is identified by its name
    def counting(case: Case) -> Result:
        cells.append((case.method, case.seed))
        return Result({"spearman": 0.1 * len(cells), "pearson": 1 / 3})

    monkeypatch.setattr(ablation, "scored", counting)
    return cells


# --- computed cells ----------------------------------------------------------------------------------------------


def test_measured_kept_and_read_again(tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[str] = []
    plan = replace(SMALL, seeds=(1,))
    measured = measure_all(plan, store, progress=lambda done, of, what: steps.append(what))
    assert len(set(steps)) >= len(plan.variants)
    assert measured.fingerprint == load("relatedness").fingerprint
    write_table(measured, tmp_path)
    assert kept("small", tmp_path) == measured
    assert measured.values("TF-IDF", "spearman")[0] != measured.values("words", "spearman")[0]
    for name in ("find", "keep"):  # `again` uses no store
        monkeypatch.setattr(Store, name, property(lambda _: pytest.fail("the store was asked")))
    assert again(plan, "words", 1) == measured.figures["words"][1]


def test_an_error_in_a_cell_is_raised(store: Store) -> None:
    def faulty(case: Case) -> Result:
        raise ValueError("a fault of ours")

    with pytest.raises(ValueError, match="a fault of ours"):
        measure_all(replace(SMALL, recipe=faulty), store)


def test_a_cell_is_computed_and_recomputed_in_one_thread(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[int] = []

    @wraps(scored)
    def counting(case: Case) -> Result:
        threads.extend({torch.get_num_threads(), *(library["num_threads"] for library in threadpool_info())})
        return Result(dict.fromkeys(SMALL.measures, 1.0))

    monkeypatch.setattr(ablation, "scored", counting)
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        with threadpool_limits(2):
            measure_all(SMALL, store)
            again(SMALL, "words", 0)
        assert (threads, torch.get_num_threads()) == ([1] * 5, 2)
    finally:
        torch.set_num_threads(before)


def test_clusters_use_the_test_articles_and_the_seed_of_the_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[set[str], int]] = []

    def agreement(method: Method, part: Corpus, *, seed: int) -> SimpleNamespace:
        seen.append((set(part.splits), seed))
        return SimpleNamespace(values=lambda algorithm, name: np.array([0.25, 0.75]))

    monkeypatch.setattr(ablation, "section_agreement", agreement)
    measures = ("triplet_accuracy", "kmeans_ami")
    plan = replace(SMALL, corpus="articles", measures=measures, recipe=scored_and_clustered)
    assert again(plan, "words", 2)["kmeans_ami"] == 0.5
    assert seen == [({"test"}, 2)]


@pytest.mark.whole
def test_a_tuned_variant_is_trained_with_the_settings_that_its_trials_chose(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fair, "WHOLE", {**fair.WHOLE, "trials": 2})
    settings = {"size": 4, "dimension": 4, "epochs": 1, "unit": "words", "dropout": 0.0, "labelled": True}
    settings["encoder"] = "mean"
    variant = Variant("tuned", "siamese", settings, first={"margin": 0.4, "learning_rate": 0.01})
    plan = Ablation("tuned", "relatedness", (variant,), ("spearman",), seeds=(1,))
    measured = measure_all(plan, store)
    tuning = measured.tunings["tuned"]
    assert tuning["trials"][0]["tried"] == {"margin": 0.4, "learning_rate": 0.01}
    assert len(tuning["trials"]) == tuning["protocol"]["trials"] == 2
    assert tuning["chosen"] == max(tuning["trials"], key=lambda trial: trial["figure"])["tried"]
    write_table(measured, tmp_path)
    assert kept("tuned", tmp_path) == measured
    monkeypatch.setattr(ablation, "kept", lambda name: kept(name, tmp_path))
    by_hand = replace(plan, variants=(Variant("by hand", "siamese", settings | tuning["chosen"]),))
    assert again(plan, "tuned", 1) == measured.figures["tuned"][1] == again(by_hand, "by hand", 1)


def test_variants_share_a_cell_of_their_own_recipe(store: Store) -> None:
    asked: list[int] = []

    def two_ways(case: Case) -> Result:
        asked.append(case.seed)
        return Result({"left out hit": 0.1, "left out rank": 3.0, "out hit": 0.2, "out rank": 4.0})

    rows = (Variant("without", "tfidf", part="left out"), Variant("outside", "tfidf", part="out"))
    plan = replace(SMALL, variants=rows, measures=("hit", "rank"), recipe=two_ways)
    measured = measure_all(plan, store)
    assert asked == [0, 1]
    assert measured.figures["without"] == {seed: {"hit": 0.1, "rank": 3.0} for seed in (0, 1)}
    assert measured.figures["outside"] == {seed: {"hit": 0.2, "rank": 4.0} for seed in (0, 1)}
    assert again(plan, "outside", 1) == {"hit": 0.2, "rank": 4.0}


# --- keys of cells -----------------------------------------------------------------------------------------------


def test_an_equal_cell_of_a_papers_table_has_the_same_key(desk: Desk) -> None:
    row = Recipe(scored, "tfidf", {"max_ngram": 2})
    theirs = Cell(row, desk.open("stsb", published=False), {}, 1, row.settings)
    same = replace(SMALL, variants=(Variant("two words", "tfidf", {"max_ngram": 2}),))
    assert same.cell("two words", 1).key == theirs.key
    assert same.cell("two words", 0).key != theirs.key
    assert SMALL.cell("TF-IDF", 1).key != theirs.key


def test_no_two_recipes_have_the_same_name() -> None:
    """A cell is identified by the name of its recipe's function, in ablations and in the papers' tables."""
    functions = {row.recipe.run for each in tables("") for row in each.rows if row.recipe is not None}
    functions |= {plan.recipe for plan in PLANS.values() if plan.recipe is not None}
    functions |= {scored, scored_and_clustered}
    assert len({function.__qualname__ for function in functions}) == len(functions)


# --- the command -------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the command writes its only table."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(plans, "PLANS", {"small": SMALL})
    monkeypatch.setattr(plans, "write_table", lambda table: write_table(table, tmp_path / "tables"))
    return tmp_path / "tables"


def test_the_command_resumes_where_it_was_stopped(folder: Path, computed: list[tuple[str, int]]) -> None:
    counting = ablation.scored

    @wraps(counting)
    def stopping(case: Case) -> Result:
        if len(computed) == 3:
            raise KeyboardInterrupt
        return counting(case)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ablation, "scored", stopping)
        assert main([]) == 130
    assert not folder.exists()
    assert computed == CELLS[:3]
    assert main(["small"]) == 0
    assert computed == CELLS
    assert kept("small", folder).figures["words"][1] == {"spearman": 0.4, "pearson": 0.333333}
    assert main(["small", "--force"]) == 0
    assert computed == CELLS * 2


# --- the table ---------------------------------------------------------------------------------------------------


def table(**values: tuple[float, ...]) -> Figures:
    cells = {name: {seed: {"auc": value} for seed, value in enumerate(each)} for name, each in values.items()}
    return Figures("t", "f", cells, {})


def test_rows_say_best_behind_and_open() -> None:
    found = table(a=(0.80, 0.82, 0.84), b=(0.81, 0.81, 0.82), c=(0.6, 0.62, 0.64))
    found.figures["c"][2]["auc"] = 0.641  # behind a by .2, .2 and .199
    rows = {row["variant"]: row for row in found.rows(["auc"])}
    verdicts = {name: row["compared with the best"] for name, row in rows.items()}
    assert verdicts == {"a": "best", "b": "open", "c": "behind"}
    assert rows["a"]["auc"] == "0.820 ± 0.020"
    assert found.lead("b", "c", "auc").lead == pytest.approx(0.193)
    assert found.front("auc") == ["a", "b"]
    assert found.front("auc", ["b", "c"]) == ["b"]


def test_unknown_names_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="spearman"):
        SMALL.measured("words", {"pearson": 0.5})
    with pytest.raises(ValueError, match="TF-IDF, words"):
        again(SMALL, "word", 0)
    with pytest.raises(ValueError, match="plans none"):
        kept("none", tmp_path)


@pytest.mark.parametrize("plan", PLANS.values(), ids=list(PLANS))
def test_a_stored_table_matches_its_plan(
    plan: Ablation, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """It has the variants, settings, seeds and measures of its plan, on the current corpus."""
    if CORPORA[plan.corpus].kind == "published":
        monkeypatch.setenv("LABKIT_DATA", str(request.getfixturevalue("published_data")))
    found = kept(plan.name, FOLDER)
    wanted = {each.name: {"method": each.method, **each.settings} for each in plan.variants}
    assert json.loads(json.dumps(wanted)) == found.settings, f"stale: python -m labkit.course.plans {plan.name}"
    assert found.fingerprint == load(plan.corpus).fingerprint
    for cells in found.figures.values():
        assert tuple(cells) == plan.seeds
        assert all(set(cell) == set(plan.measures) for cell in cells.values())
    for variant in plan.variants:
        plan.cell(variant.name, 0).case().unfitted()
        assert (variant.name in found.tunings) == (variant.first is not None)
        if variant.first is not None:
            first, *others = found.tunings[variant.name]["trials"]
            assert len(others) + 1 == fair.PROTOCOL["trials"]
            assert variant.first.items() >= {n: v for n, v in first["tried"].items() if n in variant.first}.items()

"""Tables of ablations: every cell is measured, kept as it was, and comes out again when one is tried."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from labkit.corpora import load
from labkit.lab.course.ablation import FOLDER, Ablation, Figures, Variant, again, kept, measure_all, write_table
from labkit.lab.course.plans import PLANS

SMALL = Ablation(
    "small",
    "Does a mean of words beat TF-IDF?",
    "relatedness",
    (Variant("TF-IDF", "tfidf"), Variant("words", "mean-vectors", {"dimension": 10})),
    ("spearman", "pearson"),
    seeds=(0, 1),
)


def table(**values: tuple[float, ...]) -> Figures:
    cells = {name: {seed: {"auc": value} for seed, value in enumerate(each)} for name, each in values.items()}
    return Figures("t", "f", cells, {})


def test_measured_kept_and_read_again(tmp_path: Path) -> None:
    steps: list[tuple[int, int | None, str]] = []
    found = measure_all(SMALL, lambda *step: steps.append(step))
    assert [step[2] for step in steps] == ["TF-IDF, seed 0", "TF-IDF, seed 1", "words, seed 0", "words, seed 1"]
    assert found.fingerprint == load("relatedness").fingerprint
    write_table(found, tmp_path)
    assert kept("small", tmp_path) == found
    assert "plans small" in json.loads((tmp_path / "small.json").read_text())["made by"]
    assert again(SMALL, "words", 1) == found.figures["words"][1]
    assert found.values("TF-IDF", "spearman")[0] != found.values("words", "spearman")[0]


def test_rows_say_best_tie_and_behind() -> None:
    found = table(a=(0.80, 0.82, 0.84), b=(0.81, 0.81, 0.82), c=(0.6, 0.6, 0.6))
    rows = {row["variant"]: row for row in found.rows(["auc"])}
    assert {name: row["beside the best"] for name, row in rows.items()} == {"a": "best", "b": "a tie", "c": "behind"}
    assert rows["a"]["auc"] == "0.820 ± 0.020"
    assert rows["c"]["auc"] == "0.600"


def test_unknown_names_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="expected one of TF-IDF, words"):
        again(SMALL, "word", 0)
    with pytest.raises(ValueError, match="labkit.lab.course.plans none"):
        kept("none", tmp_path)


@pytest.mark.parametrize("plan", PLANS.values(), ids=list(PLANS))
def test_a_kept_table_is_its_plans(plan: Ablation) -> None:
    """Same variants with the same settings, every seed, every measure, of the corpus as it is now."""
    found = kept(plan.name, FOLDER)
    wanted = {each.name: {"method": each.method, **each.settings} for each in plan.variants}
    assert json.loads(json.dumps(wanted)) == found.settings, f"stale: python -m labkit.lab.course.plans {plan.name}"
    assert found.fingerprint == load(plan.corpus).fingerprint
    assert len(plan.seeds) >= 3
    for cells in found.figures.values():
        assert tuple(cells) == plan.seeds
        assert all(set(cell) == set(plan.measures) for cell in cells.values())
    for variant in plan.variants:
        plan.experiment(variant.name).unfitted()

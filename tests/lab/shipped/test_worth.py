"""What a shipped run is worth: as measured, never another run's, and honest about a tie."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from labkit.corpora import load
from labkit.evaluation.comparison import Lead
from labkit.evaluation.scores import score
from labkit.lab.shipped import DEMONSTRATIONS, Standing, standing
from labkit.lab.shipped import runs as table
from labkit.lab.shipped.making import standing_of
from labkit.methods import METHODS
from labkit.methods import load as load_run
from labkit.runs import MODEL, add_metrics, read_record


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of one run and the standings, which may be spoilt."""
    monkeypatch.setattr(table, "RUNS", tmp_path)
    monkeypatch.setattr(table, "STANDINGS", tmp_path / "standings.json")
    shutil.copy(table.DATA / "runs" / "standings.json", tmp_path)
    shutil.copytree(table.DATA / "runs" / "film-questions", tmp_path / "film-questions")
    return tmp_path


@pytest.mark.parametrize("name", DEMONSTRATIONS)
def test_every_run_has_one_that_agrees_with_its_own_metrics(name: str) -> None:
    found = standing(name)
    assert found is not None
    shipped = DEMONSTRATIONS[name]
    metrics = read_record(shipped.folder)["metrics"][f"{shipped.corpus}/test"]
    assert found.figure == pytest.approx(metrics[found.measure], abs=1e-9)
    assert found.margin == pytest.approx(found.lead.lead, abs=1e-9)
    low, high = found.lead.interval()
    assert low <= found.margin <= high
    assert (found.verdict == "first") == (low > 0)
    assert ("a tie with mean word vectors" in str(found)) == (low <= 0 <= high)  # the interval that is shown decides


@pytest.mark.parametrize("name", ["film-questions", "sentpwnet-topics", "sbert-lp-topics"])
def test_measured_again_it_is_the_same(name: str) -> None:
    shipped = DEMONSTRATIONS[name]
    corpus = load(shipped.corpus)
    found, again = standing(name), standing_of(load_run(shipped.folder), corpus)
    assert found is not None
    assert again.measure == found.measure
    assert again.margin == pytest.approx(again.lead.lead, abs=1e-9)
    assert again.verdict == found.verdict
    assert (again.base is None) == (found.base is None)
    if again.base and found.base:
        assert again.base.verdict == found.base.verdict
    items = len(corpus.part("test"))
    assert again.figure == pytest.approx(found.figure, abs=2 / items)  # two items may fall to the other side elsewhere
    assert again.baseline == pytest.approx(found.baseline, abs=2 / items)
    baseline = METHODS["mean-vectors"]()
    baseline.fit(corpus)
    assert again.baseline == score(baseline, corpus).headline


def test_what_stands_on_the_vectors_of_another_is_held_against_these_too() -> None:
    found = {name: standing(name) for name in DEMONSTRATIONS}
    assert [name for name, each in found.items() if each and each.base] == ["sbert-lp-topics"]
    base = found["sbert-lp-topics"].base
    sif = METHODS["sif"]()
    sif.fit(load("topics"))
    assert base.figure == found["sbert-lp-topics"].figure
    assert base.baseline == pytest.approx(score(sif, load("topics")).headline, abs=2 / 405)
    assert base.margin == pytest.approx(base.lead.lead, abs=1e-9)
    assert f"; better than its base sif ({base.baseline:.3f}; " in str(found["sbert-lp-topics"])


def test_a_tie_is_no_victory_and_a_defeat_is_said() -> None:
    tie = Standing("accuracy", 0.62, 0.60, Lead(0.02, 0.0153, np.inf))
    assert tie.verdict == "tie"
    assert str(tie) == (
        "accuracy 0.620 on test, a tie with mean word vectors (0.600; +0.020, 95 % from -0.010 to +0.050)"
    )
    better = replace(tie, lead=Lead(0.02, 0.005, np.inf))
    worse = Standing("accuracy", 0.5, 0.6, Lead(-0.1, 0.04, np.inf))
    assert better.verdict == "first"
    assert "better than mean word vectors" in str(better)
    both = str(replace(better, base=replace(tie, beside="its base sif")))
    assert both.startswith(f"{better}; a tie with its base sif (0.600; +0.020")
    assert worse.verdict == "second"
    assert "worse than mean word vectors (0.600; -0.100" in str(worse)


def test_of_another_model_there_is_none(elsewhere: Path) -> None:
    assert standing("film-questions") is not None
    add_metrics(elsewhere / "film-questions", {"captions/test": {"hit@1": 0.5}})  # as `labkit evaluate` does
    assert standing("film-questions") is not None
    records = json.loads((elsewhere / "standings.json").read_text())
    records["film-questions"]["model"] = "0" * 64
    (elsewhere / "standings.json").write_text(json.dumps(records))
    assert standing("film-questions") is None


def test_of_what_is_not_here_there_is_none(elsewhere: Path) -> None:
    assert standing("sentpwnet-topics") is None  # its folder was not copied
    (elsewhere / "standings.json").unlink()
    assert standing("film-questions") is None
    assert (elsewhere / "film-questions" / MODEL).is_file()
    with pytest.raises(ValueError, match="name is 'film', expected one of sentpwnet-topics"):
        standing("film")


def test_a_correlation_has_a_lead_too() -> None:
    corpus = load("relatedness").take(range(0, 2400, 6))
    baseline = METHODS["mean-vectors"]()
    baseline.fit(corpus)
    found = standing_of(baseline, corpus)
    assert (found.measure, found.margin, found.verdict) == ("spearman", 0, "tie")

"""What a shipped run is worth: as measured, never another run's, and honest about a tie."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from labkit.corpora import load
from labkit.demonstrations import DEMONSTRATIONS, Standing, standing, table, worth
from labkit.demonstrations.making import compared
from labkit.evaluation.comparison import PairedTest
from labkit.methods import METHODS
from labkit.methods import load as load_run
from labkit.runs import MODEL, add_metrics, read_record
from labkit.scores import score


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of one run and the standings, which may be spoilt."""
    monkeypatch.setattr(table, "RUNS", tmp_path)
    monkeypatch.setattr(worth, "STANDINGS", tmp_path / "standings.json")
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
    assert found.margin == pytest.approx(found.test.difference, abs=1e-9)
    assert found.test.low <= found.margin <= found.test.high
    assert found.beats == (found.test.low > 0 and found.test.p_value < 0.05)


@pytest.mark.parametrize("name", ["film-questions", "sentpwnet-topics", "sbert-lp-topics"])
def test_measured_again_it_is_the_same(name: str) -> None:
    shipped = DEMONSTRATIONS[name]
    corpus = load(shipped.corpus)
    found, again = standing(name), compared(load_run(shipped.folder), corpus)
    assert found is not None
    assert again.measure == found.measure
    assert again.margin == pytest.approx(again.test.difference, abs=1e-9)
    assert again.test.verdict == found.test.verdict
    assert (again.base is None) == (found.base is None)
    if again.base and found.base:
        assert again.base.test.verdict == found.base.test.verdict
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
    assert base.margin == pytest.approx(base.test.difference, abs=1e-9)
    assert f"; better than its base sif ({base.baseline:.3f}; " in str(found["sbert-lp-topics"])


def test_a_tie_is_no_victory_and_a_defeat_is_said() -> None:
    test = PairedTest(0.02, -0.01, 0.05, 0.2, 30, 20, 500, "tie")
    tie = Standing("accuracy", 0.62, 0.60, test)
    assert not tie.beats
    assert str(tie) == (
        "accuracy 0.620 on test, a tie with mean word vectors (0.600; +0.020, 95 % from -0.010 to +0.050)"
    )
    better = replace(tie, test=replace(test, low=0.01, p_value=0.01, verdict="first"))
    worse = Standing("accuracy", 0.5, 0.6, replace(test, difference=-0.1, low=-0.2, high=-0.05, verdict="second"))
    assert better.beats
    assert "better than mean word vectors" in str(better)
    both = str(replace(better, base=replace(tie, beside="its base sif")))
    assert both.startswith(f"{better}; a tie with its base sif (0.600; +0.020")
    assert not worse.beats
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


def test_a_measure_without_items_cannot_be_tested() -> None:
    corpus = load("relatedness")
    baseline = METHODS["mean-vectors"]()
    baseline.fit(corpus)
    with pytest.raises(ValueError, match="corpus is 'relatedness', expected one whose spearman is made of items"):
        compared(baseline, corpus)

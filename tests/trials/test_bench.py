"""`bench`: the plan by hand, a whole comparison on a small corpus, stopped, resumed and read back."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from labkit import METHODS, load_run
from labkit.corpora import Corpus, Labelled, Pairs, from_classes
from labkit.evaluation.scores import score
from labkit.method import Method
from labkit.trials.bench import Cost, Report, bench, planned, seconds_of, with_dev, with_test
from labkit.trials.doctor import Finding
from labkit.trials.metrics import Metric, metrics_for
from tests.test_contract import CORPORA

HOW: dict[str, Any] = {"minutes": 60, "methods": ["tfidf", "sif"], "workers": 1, "seeds": 3}

# --- the plan ----------------------------------------------------------------------------------------------------


def test_what_a_method_costs_by_hand() -> None:
    cost = Cost(fit=10, score=1)
    assert seconds_of(cost, trials=8, part=1.0, seeds=3) == 10 * (8 + 3) + (8 + 6)
    assert seconds_of(cost, trials=8, part=0.25, seeds=3) == 10 * (2 + 4 + 3) + (8 + 4 + 6)
    assert seconds_of(replace(cost, random=False), trials=8, part=1.0, seeds=3) == 10 * 9 + 10


def test_the_costliest_are_left_out_by_name_and_the_rest_of_the_time_goes_into_trials_and_seeds() -> None:
    costs = {"cheap": Cost(0.1, 0.1), "dear": Cost(100, 1), "unfit": Cost(reason="learns from pairs alone")}
    short = planned(costs, minutes=5, workers=1, small=False)
    assert short["methods"] == ("cheap",)
    assert set(short["left_out"]) == {"dear", "unfit"}
    assert short["left_out"]["unfit"] == "learns from pairs alone"
    assert (short["trials"], short["part"], short["seeds"]) == (24, 1.0, 5)
    middle = planned(costs, minutes=22, workers=1, small=False)
    assert set(middle["methods"]) == {"cheap", "dear"}
    assert (middle["trials"], middle["part"], middle["seeds"]) == (8, 0.25, 3)
    assert planned(costs, minutes=22, workers=1, small=True)["methods"] == ("cheap",)  # of few rows, trials see all
    assert planned(costs, minutes=600, workers=1, small=False)["trials"] == 24
    assert planned(costs, minutes=600, workers=1, small=False, seeds=4)["seeds"] == 4
    assert planned(costs, minutes=0.001, workers=1, small=False)["methods"] == ()


# --- a whole comparison ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", autouse=True)
def few_trials() -> Iterator[None]:
    """Plans with as few trials as there may be, whatever the clock says; the doctor has tests of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("labkit.trials.bench.planned", lambda *given, **how: planned(*given, **how) | {"trials": 8})
        patch.setattr("labkit.trials.bench.examine", lambda *_, **__: [Finding("sizes", "warning", "There are few.")])
        yield


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Report, Path]:
    folder = tmp_path_factory.mktemp("bench") / "report"
    return bench(CORPORA["pairs"](), out=folder, **HOW), folder


def same(a: Report, b: Report) -> bool:
    """All but the clock."""

    def timeless(report: Report) -> Any:
        return [(line.ranked, line.settings, line.dev, line.trials) for line in report.lines]

    return (timeless(a), a.curve, a.gain, a.mistakes) == (timeless(b), b.curve, b.gain, b.mistakes)


def test_the_table_is_what_the_methods_score_on_test(made: tuple[Report, Path]) -> None:
    report, folder = made
    corpus = CORPORA["pairs"]()
    assert {line.ranked.name for line in report.lines} == {"tfidf", "sif"}
    for line in report.lines:
        fitted = METHODS[line.ranked.name](**line.settings)
        fitted.fit(corpus)
        assert line.ranked.score == pytest.approx(score(fitted, corpus).figures["auc"])
        assert line.trials >= 1
        assert line.dev >= line.dev_at_first
    winner = load_run(folder / "model")
    assert score(winner, corpus).figures["auc"] == pytest.approx(report.lines[0].ranked.score)


def test_the_page_and_the_record_have_the_numbers_of_the_table(made: tuple[Report, Path]) -> None:
    report, folder = made
    page, record = (folder / "report.html").read_text("utf-8"), json.loads((folder / "report.json").read_text("utf-8"))
    for line in report.lines:
        assert f"<td>{line.ranked.score:.3f}</td>" in page
    assert [line["ranked"]["score"] for line in record["lines"]] == [line.ranked.score for line in report.lines]
    assert not re.search(r'(src|href)="https?:', page)  # it opens without a network
    assert report.lines[0].ranked.name in str(report)
    assert "There are few." in page
    assert "There are few." in str(report)


def test_what_is_in_the_data_is_no_markup(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>"
    texts = [f"{evil} {word} {number}" for word in ("apple", "stone") for number in range(30)]
    corpus = from_classes(texts, [f"{evil}{text.split()[1]}" for text in texts], name=evil)
    report = bench(corpus, out=tmp_path / "r", **{**HOW, "methods": ["tfidf"]})
    assert report.lines
    assert evil not in (tmp_path / "r" / "report.html").read_text("utf-8")


def test_the_same_call_computes_nothing_again(made: tuple[Report, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    report, folder = made
    monkeypatch.setattr("labkit.trials.engine._result", lambda *_: pytest.fail("it was trained again"))
    assert same(bench(CORPORA["pairs"](), out=folder, **HOW), report)


@pytest.mark.parametrize("moment", [3, 12, 22])
def test_stopped_it_tells_what_it_knows_and_resumes_to_the_same_table(
    moment: int, made: tuple[Report, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fit, calls = Method.fit, iter(range(moment, -1, -1))

    def stopping(*given: Any, **how: Any) -> Any:
        if next(calls, 1) == 0:
            raise KeyboardInterrupt
        return fit(*given, **how)

    with monkeypatch.context() as patch:
        patch.setattr(Method, "fit", stopping)
        with pytest.raises(KeyboardInterrupt):
            bench(CORPORA["pairs"](), out=tmp_path / "r", **HOW)
    assert same(bench(CORPORA["pairs"](), out=tmp_path / "r", **HOW), made[0])


def test_test_is_looked_at_once_all_settings_are_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    splits, measure = list[str](), Metric.__call__

    def watching(self: Metric, method: Method, corpus: Corpus, split: str) -> Any:
        assert (split == "test") == ("test" in corpus.sizes)
        splits.append(split)
        return measure(self, method, corpus, split)

    monkeypatch.setattr(Metric, "__call__", watching)
    bench(CORPORA["pairs"](), out=tmp_path / "r", **HOW)
    assert set(splits[: splits.index("test")]) == {"dev"}
    assert set(splits[splits.index("test") :]) == {"test"}


@pytest.mark.parametrize("shape", ["labelled", "graded", "groups", "triplets", "articles"])
def test_every_shape_has_its_metric(shape: str, tmp_path: Path) -> None:
    corpus = CORPORA[shape]()
    report = bench(corpus, out=tmp_path / "r", **{**HOW, "methods": ["tfidf"]})
    assert report.metric == metrics_for(corpus)[0]
    assert len(report.lines) == 1
    assert np.isfinite(report.lines[0].ranked.score)


# --- mistakes ----------------------------------------------------------------------------------------------------


def test_what_cannot_work_is_said_before_it_starts(tmp_path: Path) -> None:
    pairs, labelled = CORPORA["pairs"](), CORPORA["labelled"]()
    assert isinstance(pairs, Pairs)
    assert isinstance(labelled, Labelled)
    without_test = pairs.take(row for row, split in enumerate(pairs.splits) if split != "test")
    for corpus, how, said in (
        (CORPORA["sentences"](), {}, "sentences"),
        (without_test, {}, "test"),
        (replace(pairs, values=[1] * len(pairs)), {}, "label"),
        (replace(labelled, labels=["one"] * len(labelled)), {}, "one"),
        (pairs, {"methods": ["tfdif"]}, "tfdif"),
        (pairs, {"metric": "hit@1"}, "metric"),
        (pairs, {"minutes": 1e-9}, "minutes"),
    ):
        with pytest.raises(ValueError, match=said):
            bench(corpus, out=tmp_path / "r", **{**HOW, **how})
        assert not (tmp_path / "r" / "tuned").exists()


def test_a_folder_of_another_comparison_is_refused(made: tuple[Report, Path]) -> None:
    with pytest.raises(ValueError, match="seeds"):
        bench(CORPORA["pairs"](), out=made[1], **{**HOW, "seeds": 4})


def test_without_dev_rows_a_tenth_of_the_training_rows_is_dev() -> None:
    pairs = CORPORA["pairs"]()
    without = pairs.take(row for row, split in enumerate(pairs.splits) if split != "dev")
    divided = with_dev(without)
    assert 0 < divided.sizes["dev"] < without.sizes["train"] / 4
    assert divided.part("test").fingerprint == without.part("test").fingerprint
    assert with_dev(pairs) is pairs


def test_test_rows_from_another_file() -> None:
    pairs = CORPORA["pairs"]()
    both = with_test(pairs.part("train"), pairs.part("dev"))
    assert both.sizes == {"train": pairs.sizes["train"], "test": pairs.sizes["dev"]}
    assert both.part("test").sentences() == pairs.part("dev").sentences()
    with pytest.raises(ValueError, match="Labelled"):
        with_test(pairs, CORPORA["labelled"]())

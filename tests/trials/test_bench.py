"""`bench`: its plan, whole comparisons on small corpora, interruption and resuming, its pages, metrics and probe."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, count
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from scipy.stats import rankdata

from labkit import METHODS, Siamese, load_run
from labkit.arrays import unit
from labkit.corpora import Corpus, Labelled, from_classes
from labkit.evaluation.classes import logistic_right
from labkit.evaluation.scores import score, selection
from labkit.explanation import LEFT_OUT, Explanation
from labkit.locks import is_locked
from labkit.method import Method
from labkit.progress import silent
from labkit.trials.bench import _checked_metric, bench, with_dev, with_test
from labkit.trials.doctor import Finding
from labkit.trials.metrics import Metric, _costs, fitted_probe, frozen_rows, metrics_for, probe
from labkit.trials.mistakes import mistakes_of
from labkit.trials.plan import ENTRIES, Cost, Entry, Plan, cost_of, planned
from labkit.trials.report import HEAD, NEAREST, Line, Report, as_html, curve_sentence, verdict_sentence
from labkit.trials.verdict import Ranked
from tests.browser import chromium
from tests.test_contract import CORPORA
from tests.tiny_sbert import tiny_sbert

HOW: dict[str, Any] = {"minutes": 60, "methods": ["tfidf", "sif"], "workers": 1, "seeds": 3}


def test_the_cost_of_a_method_by_hand() -> None:
    cost = Cost(fit=10, score=1)
    assert cost.seconds(trials=8, part=1.0, seeds=3) == 10 * (8 + 3) + (8 + 6)
    assert cost.seconds(trials=8, part=0.25, seeds=3) == 10 * (2 + 4 + 3) + (8 + 4 + 6)
    assert replace(cost, random=False).seconds(trials=8, part=1.0, seeds=3) == 10 * 9 + 10


def test_expensive_methods_are_left_out_and_the_remaining_time_goes_to_trials_and_seeds() -> None:
    costs = {"dear": Cost(100, 1), "cheap": Cost(0.1, 0.1), "unfit": Cost(reason="learns from pairs alone")}
    short = planned(costs, minutes=5, workers=1, small=False)
    assert short["methods"] == ("cheap",)
    assert set(short["left_out"]) == {"dear", "unfit"}
    assert short["left_out"]["unfit"] == "learns from pairs alone"
    assert (short["trials"], short["part"], short["seeds"]) == (24, 1.0, 5)
    enough = 5 + short["more"]
    assert [len(planned(costs, enough + by, 1, small=False)["methods"]) for by in (-0.01, 0.01)] == [1, 2]
    plan = Plan("auc", (), short["left_out"], 8, 1.0, 3, 5, 1, costs, enough=23)
    assert re.findall("dear|cheap|unfit|23", plan.untried) == ["dear", "23"]
    assert not replace(plan, left_out={"unfit": "learns from pairs alone"}).untried
    middle = planned(costs, minutes=22, workers=1, small=False)
    assert middle["methods"] == ("dear", "cheap")  # in the given order, which decides between equal scores
    twins = {"one": Cost(100, 1), "other": Cost(100, 1)}
    assert [len(planned(twins, 22, workers, small=False)["methods"]) for workers in (1, 2)] == [1, 2]
    assert (middle["trials"], middle["part"], middle["seeds"]) == (8, 0.25, 3)
    assert planned(costs, minutes=22, workers=1, small=True)["methods"] == ("cheap",)  # with few rows, trials use all
    assert planned(costs, minutes=600, workers=1, small=False)["trials"] == 24
    assert planned(costs, minutes=600, workers=1, small=False, seeds=4)["seeds"] == 4
    assert planned(costs, minutes=0.001, workers=1, small=False)["methods"] == ()
    assert planned(costs, minutes=15, workers=9, small=False)["methods"] == ("cheap",)  # no process may take longer
    frozen = {"sbert": Cost(20, 1), "bag": Cost(15, 1), "static": Cost(16, 1)}  # 198, 153 and 162 seconds
    assert planned(frozen, minutes=9, workers=1, small=False)["methods"] == ("sbert", "bag")
    assert planned(frozen, minutes=7, workers=1, small=False)["methods"] == (
        "sbert",
    )  # 315 s, of which MiniLM leaves 117
    assert planned(frozen, minutes=5, workers=1, small=False)["methods"] == ("bag",)  # MiniLM would need 198 of 225 s


def test_the_timed_round_is_scaled_to_all_rows_and_epochs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of the rows and one of two epochs take 30 seconds, so all rows and epochs are estimated at 120.

    Scoring takes 30 seconds for three quarters of the sentences (all of dev, half of train), so 40 for all.
    """
    clock, seen, fit = count(0, 30), list[tuple[int, int]](), Method.fit

    def watching(method: Any, corpus: Corpus, **how: Any) -> Any:
        seen.append((method.settings.epochs, corpus.sizes["train"]))
        return fit(method, corpus, **how)

    monkeypatch.setattr("labkit.trials.plan.time", SimpleNamespace(perf_counter=lambda: next(clock)))
    monkeypatch.setattr("labkit.trials.plan.TIMED_ROWS", 32)
    monkeypatch.setattr(Method, "fit", watching)
    cost = cost_of(Entry("tiny", "siamese", TINY), CORPORA["pairs"](), Metric("auc"))
    assert cost == {"fit": 120, "score": 40, "opening": 0, "once": 0, "random": True, "tuned": True, "reason": ""}
    clock = chain([0, 30, 130], count(160, 30))  # the first score takes 70 seconds longer
    cost = cost_of(Entry("tiny", "siamese", TINY), CORPORA["pairs"](), Metric("auc"))
    assert (cost["score"], cost["once"]) == (40, pytest.approx(70 * 4 / 3))
    assert Cost(**cost).seconds(8, 1.0, 3) == pytest.approx(70 * 4 / 3 + 11 * 120 + 14 * 40)
    clock = chain([0, 130], count(160, 30))  # the first run takes 100 seconds longer
    cost = cost_of(Entry("tiny", "siamese", TINY, extra="torch"), CORPORA["pairs"](), Metric("auc"))
    assert (cost["fit"], cost["opening"]) == (120, 100)
    assert Cost(**cost).seconds(8, 1.0, 3) == 100 + 11 * 120 + 14 * 40
    assert Cost(fit=9, opening=20).training([50, 30, 31]) == 50  # the first run opened the model
    assert [Cost(fit=9, opening=20).training([each]) for each in (4, 29)] == [24, 29]
    assert Cost(fit=9).training([1, 2, 6]) == 2
    assert seen == [(1, 32)] * 6


def test_the_verdict_and_the_picture_show_methods_that_are_not_behind() -> None:
    def line(name: str, state: Any, microseconds: float) -> Line:
        return Line(Ranked(name, 0.8, 0.7, 0.9, 3, 400, 0, 0, 0, state), {}, 0.8, 0.8, 8, {}, 1.0, microseconds, 1.0)

    lines = [line("alpha", "best", 90), line("beta", "tie", 10), line("gamma", "behind", 1), line("delta", "behind", 1)]
    report = Report("corpus", {}, "auc", (), Plan("auc", (), {}, 8, 1.0, 3, 20, 1, {}), tuple(lines))
    assert re.findall("beta|gamma|delta", verdict_sentence(report)) == ["beta", "beta"]  # as a tie, and as the cheapest
    leads = verdict_sentence(replace(report, lines=(lines[0], *lines[2:])))
    assert ("gamma" in leads, "delta" in leads) == (True, False)  # only the runner-up is named
    late = replace(report.plan, left_out={"omega": "too slow"}, costs={"omega": Cost()})
    partly = verdict_sentence(replace(report, lines=(lines[0], *lines[2:]), plan=late))
    assert "3 methods" in partly  # of which alpha leads: omega may be better
    assert "3 methods" not in leads
    assert len(re.findall('<circle[^>]+fill="none"', as_html(report))) == 2
    assert "[" not in curve_sentence(replace(report, gain=(0.0, 0.0, 0.0)))  # as for a method without training
    bounds = ((0.01, 0.05), (0.003, 0.066), (-0.01, 0.05), (0.001, 0.004))
    said = [curve_sentence(replace(report, gain=(0.002, *each))).split(":")[0] for each in bounds]
    assert said[0] == said[1]
    assert len({*said}) == 3  # more labels would help, hardly, or the answer is open
    quicker = replace(
        lines[1], ranked=replace(lines[1].ranked, name="omega", against_best="open", lead=0.1), microseconds=9
    )
    assert "beta scores about the same" in verdict_sentence(replace(report, lines=(*lines[:2], quicker)))
    apart = [replace(line, ranked=replace(line.ranked, against_best="open", lead=0.04)) for line in lines[1:2]]
    assert "beta scores 0.040 lower" in verdict_sentence(replace(report, lines=(lines[0], *apart)))
    assert all(HEAD)
    below = replace(lines[1], ranked=replace(lines[1].ranked, lead_low=-0.074))
    assert "−0.074" in (text := str(replace(report, lines=(lines[0], below), gain=(0.01, -0.02, 0.03))))
    assert not re.search(r"-\d", text)  # every minus sign is a real one


@pytest.mark.whole
def test_the_page_fits_on_a_phone_and_on_paper() -> None:
    words = dict.fromkeys(("text_a", "text_b", "other_text_a", "other_text_b"), "a sentence of several words")
    leak = Finding("leaks", "warning", "One.", ({"row": 1, "split": "test", "label": 1, **words, "other_row": 2},))
    lead = Ranked("mean-vectors", 0.7, 0.6, 0.8, 3, 400, 0.107, -0.013, 0.226, "open")
    lines = [Line(row, {}, 0.8, 0.8, 8, {}, 1.0, 1.0, 1.0) for row in (replace(lead, against_best="best"), lead)]
    report = Report("corpus", {}, "auc", (leak,), Plan("auc", (), {}, 8, 1.0, 3, 20, 1, {}), tuple(lines))
    edge = "each => each.getBoundingClientRect().right"
    with chromium() as browser:
        phone = browser.new_page(viewport={"width": 390, "height": 800})
        phone.set_content(as_html(report))
        fourth = phone.locator("th").nth(3)
        assert max(each.evaluate(edge) for each in (phone.locator("svg"), fourth)) <= 390 - 16
        paper = browser.new_page(viewport={"width": 718, "height": 1000})
        paper.emulate_media(media="print")
        paper.set_content(as_html(report))
        assert paper.get_by_text("other_row").bounding_box()["height"] > 0  # in closed details
        assert max(each.evaluate(edge) for each in paper.locator("th").all()) <= 718


@pytest.fixture(scope="module", autouse=True)
def few_trials() -> Iterator[None]:
    """Use as few trials as possible, whatever the clock says, and a fixed finding of the doctor."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("labkit.trials.bench.planned", lambda *given, **how: planned(*given, **how) | {"trials": 8})
        patch.setattr("labkit.trials.bench.examine", lambda *_, **__: [Finding("sizes", "warning", "There are few.")])
        yield


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Report, Path]:
    folder = tmp_path_factory.mktemp("bench") / "report"
    return bench(CORPORA["pairs"](), out=folder, **HOW), folder


def same(a: Report, b: Report) -> bool:
    """Whether two reports agree, except in their times."""

    def timeless(report: Report) -> Any:
        return [(line.ranked, line.settings, line.dev, line.trials) for line in report.lines]

    return (timeless(a), a.curve, a.gain, a.mistakes) == (timeless(b), b.curve, b.gain, b.mistakes)


def test_the_table_has_the_test_scores_of_the_methods(made: tuple[Report, Path]) -> None:
    report, folder = made
    corpus = CORPORA["pairs"]()
    assert {line.ranked.name for line in report.lines} == {"tfidf", "sif"}
    for line in report.lines:
        fitted = METHODS[line.ranked.name](**line.settings)
        fitted.fit(corpus)
        assert line.ranked.score == pytest.approx(score(fitted, corpus).figures["auc"])
        assert line.trials == 8
        assert line.dev == pytest.approx(selection(fitted, corpus.part("dev"))[1])
        assert line.dev >= (line.dev_at_first or 0)
    winner = load_run(folder / "model")
    assert score(winner, corpus).figures["auc"] == pytest.approx(report.lines[0].ranked.score)


def test_the_page_and_the_record_have_the_numbers_of_the_table(made: tuple[Report, Path]) -> None:
    report, folder = made
    page, record = (folder / "report.html").read_text("utf-8"), json.loads((folder / "report.json").read_text("utf-8"))
    for line in report.lines:
        assert f"<td>{line.ranked.score:.3f}</td>" in page
        assert f"<td>{line.dev:.3f}</td>" in page
        best = line.ranked.against_best == "best"
        (row,) = (
            each for each in page.split("<tr>") if each.startswith(f"<td>{line.ranked.name}</td>") and "µs" in each
        )
        assert (f"<td>{line.ranked.against_best}</td>" in row, f"<td>{line.ranked.lead:.3f} [" in row) == (
            not best,
            not best,
        )
    assert [line["ranked"]["score"] for line in record["lines"]] == [line.ranked.score for line in report.lines]
    assert not re.search(r'(src|href)="https?:', page)  # it works offline
    assert report.lines[0].ranked.name in str(report)
    assert report.cut is not None
    assert str(report.cut) in str(report)
    assert f"<td>{report.cut.calibration[0].score:.3f}</td>" in page
    assert record["cut"]["threshold"] == report.cut.threshold
    lines = re.findall('<polyline points="(.+?)"', page)  # the learning curve, at 25, 50 and 100 % of the rows
    assert [len(line.split()) for line in lines] == [3]
    assert [*report.curve] == [report.lines[0].ranked.name]  # the best simple method is the winner
    for name, curve in report.curve.items():
        assert f"{name}: " + ", ".join(f"{100 * share:.0f} % {score[0]:.3f}" for share, score in curve.items()) in page
    assert "There are few." in page
    assert NEAREST not in page
    assert "There are few." in str(report)


def test_scores_without_leaks_and_what_the_model_card_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = CORPORA["pairs"]()
    test = [row for row, split in enumerate(corpus.splits) if split == "test"]
    leaks = Finding("leaks", "warning", "Some repeat others.", ({"row": 1},), places=(0, *test[:3]))
    near = Finding("near-leaks", "warning", "Some nearly repeat others.", places=tuple(test[2:5]))
    monkeypatch.setattr("labkit.trials.bench.examine", lambda *_, **__: [leaks, near])
    monkeypatch.setattr("labkit.trials.bench.UNITS", 5)
    report = bench(corpus, out=tmp_path / "r", **{**HOW, "methods": ["sif", "mean-vectors"]})
    rest = corpus.take(row for row in range(len(corpus)) if row not in test[:5])
    for line in report.lines:
        fitted = METHODS[line.ranked.name](**line.settings)
        fitted.fit(corpus)
        expected = [score(fitted, each).figures["auc"] for each in (corpus, rest)]
        assert report.unleaked[line.ranked.name] == pytest.approx(expected)
        assert f"{expected[1]:.3f} ({expected[0]:.3f})" in (tmp_path / "r" / "report.html").read_text("utf-8")
    assert report.unleaked_rows == len(test) - 5
    assert "The first 1 of 4" in as_html(report)
    assert [*report.findings] == [leaks, near]
    pytest.importorskip("sentence_transformers", reason="needs the extra 'sbert'")
    card = (tmp_path / "r" / "sentence-transformers" / "README.md").read_text("utf-8")
    assert "Some repeat others." in card
    assert "2 methods" in card


@pytest.mark.parametrize("kept", [0, 4])
def test_too_few_rows_without_leaks_are_not_scored(kept: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = CORPORA["pairs"]()
    test = [row for row, split in enumerate(corpus.splits) if split == "test"]
    near = Finding("near-leaks", "warning", "Some nearly repeat others.", places=tuple(test[kept:]))
    monkeypatch.setattr("labkit.trials.bench.examine", lambda *_, **__: [near])
    report = bench(corpus, out=tmp_path / "r", **{**HOW, "methods": ["tfidf"]})
    assert not report.unleaked
    assert f"Only {kept} of the {len(test)} test rows" in str(report)


def test_markup_in_the_data_is_escaped(tmp_path: Path) -> None:
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
def test_an_interrupted_comparison_resumes_to_the_same_table(
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


def test_test_rows_are_used_only_after_all_settings_are_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    splits, measure = list[str](), Metric.__call__

    def watching(self: Metric, method: Method, corpus: Corpus, split: str) -> Any:
        assert (split == "test") == ("test" in corpus.sizes)
        splits.append(split)
        assert is_locked(tmp_path / "r") != (tmp_path / "r" / "planned.json").is_file()  # locked until the plan is made
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
    if shape == "graded":  # all its pairs are connected, so nothing is known about other pairs
        assert (report.lines[0].ranked.low, report.lines[0].ranked.high) == (-1, 1)


def test_impossible_comparisons_are_refused_before_they_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs, labelled, articles = cast(list[Any], [CORPORA[name]() for name in ("pairs", "labelled", "articles")])
    rows = [*zip(pairs.values, pairs.splits, strict=True)]
    short = [replace(each, sections=each.sections[:3]) for each in articles.articles]
    without_test = pairs.take(row for row, split in enumerate(pairs.splits) if split != "test")
    for corpus, how, said in (
        (CORPORA["sentences"](), {}, "sentences"),
        (without_test, {}, "test"),
        (replace(pairs, values=[1] * len(pairs)), {}, "label"),
        (replace(labelled, labels=["one"] * len(labelled)), {}, "one"),
        (pairs, {"methods": ["tfdif"]}, "tfdif"),
        (pairs, {"metric": "hit@1"}, "metric"),
        (replace(labelled, labels=labelled.texts), {}, "of its own"),
        (pairs, {"seeds": 2}, "seeds"),
        (replace(pairs, values=[max(value, split == "test") for value, split in rows]), {}, "test"),
        (replace(pairs, values=[max(value, split == "train") for value, split in rows]), {"metric": "probe"}, "train"),
        (replace(articles, articles=short), {}, "sections"),
        (pairs, {"minutes": 1e-9}, "minutes"),
        (pairs, {"without": "optuna"}, "tune"),
    ):
        if how.pop("without", ""):
            monkeypatch.setitem(sys.modules, "optuna", None)
        with pytest.raises(ValueError, match=said):
            bench(corpus, out=tmp_path / "r", **{**HOW, **how})
        assert not any((tmp_path / "r").glob("*"))  # so that the folder can be used again
    twos = [f"class {row // 2}" for row in range(len(labelled))]  # two rows for each class are enough for hit@1
    assert _checked_metric(
        replace(labelled, labels=twos, splits=["train", "train", "dev", "dev", "test", "test"] * 16), ""
    )


def test_a_folder_of_another_comparison_is_refused(made: tuple[Report, Path], tmp_path: Path) -> None:
    corpus = CORPORA["pairs"]()
    for other, seeds, said in ((corpus, 4, "seeds"), (corpus.fewer(0.5), 3, "fingerprint")):
        with pytest.raises(ValueError, match=said):
            bench(other, out=made[1], **{**HOW, "seeds": seeds})
    (tmp_path / "manifest.json").write_bytes((made[1] / "manifest.json").read_bytes())
    (tmp_path / "planned.json").write_text('{"methods": ["tfidf"], "costs": {}, "rounds": 2}')
    with pytest.raises(ValueError, match="planned"):
        bench(corpus, out=tmp_path, **HOW)


def test_the_probe_is_the_default_unless_most_test_rows_have_new_classes() -> None:
    labels, splits = ["x", "y"] * 4 + ["x", "y", "y", "z"], ["train"] * 4 + ["dev"] * 4 + ["test"] * 4
    corpus = Labelled([f"text {number}" for number in range(12)], labels, splits=splits)
    assert metrics_for(corpus) == ("probe", "hit@1")
    assert metrics_for(replace(corpus, labels=[*labels[:-1], "x"])) == ("probe", "knn_accuracy", "hit@1")
    assert metrics_for(replace(corpus, labels=[*labels[:-2], "z", "z"])) == ("hit@1",)


def test_dev_and_test_rows_from_elsewhere() -> None:
    pairs = CORPORA["pairs"]()
    without = pairs.take(row for row, split in enumerate(pairs.splits) if split != "dev")
    divided = with_dev(without)
    assert 0 < divided.sizes["dev"] < without.sizes["train"] / 4
    assert divided.part("test").fingerprint == without.part("test").fingerprint
    assert with_dev(pairs) is pairs
    pairs = CORPORA["pairs"]()
    both = with_test(pairs.part("train"), pairs.part("dev"))
    assert both.sizes == {"train": pairs.sizes["train"], "test": pairs.sizes["dev"]}
    assert both.part("test").sentences() == pairs.part("dev").sentences()
    assert both.number_of(0) == 1
    assert str(both.number_of(len(both) - 1)).startswith(f"{pairs.sizes['dev']} of")
    assert with_test(pairs, pairs.part("test")).sizes == {"train": 64, "dev": 32, "test": 16}
    for other, said in ((CORPORA["labelled"](), "sentences with classes"), (CORPORA["graded"](), "scores")):
        with pytest.raises(ValueError, match=said):
            with_test(pairs, other)


TINY = {"encoder": "mean", "dimension": 8, "size": 6, "batch": 8, "epochs": 2, "device": "cpu"}


def test_a_random_method_runs_with_every_seed_and_its_scores_are_averaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(ENTRIES, "tiny", Entry("tiny", "siamese", TINY))
    made: Any = CORPORA["labelled"]()
    noisy = [label if row % 5 else "?" for row, label in enumerate(made.labels)]
    corpus = replace(made, labels=noisy, splits=["train", "dev", "test"] * 32)
    how = {**HOW, "methods": ["tfidf", "tiny"], "metric": "knn_accuracy", "seed": 7}
    report = bench(corpus, out=tmp_path / "r", **how)
    searches = [json.loads(file.read_text())["plan"] for file in (tmp_path / "r").glob("tuned/*/manifest.json")]
    assert [(plan["trials"], plan["seed"], plan["part"]) for plan in searches] == [(8, 7, 1.0)] * 2  # equal budgets
    trials = [json.loads(file.read_text()) for file in (tmp_path / "r").glob("tuned/*/trials/*.json")]
    assert {*map(tuple, (trial["figures"] for trial in trials))} == {("knn_accuracy",)}
    lines = {line.ranked.name: line for line in report.lines}
    assert (lines["tfidf"].ranked.runs, lines["tiny"].ranked.runs) == (1, 3)

    def mean(line: Line, learned: Corpus) -> float:
        scores = []
        for seed in range(line.ranked.runs):
            fitted = METHODS[ENTRIES[line.ranked.name].method](**line.settings)
            fitted.fit(learned, seed=seed)
            scores.append(score(fitted, learned).figures["knn_accuracy"])  # only the rows of `learned` vote
        return float(np.mean(scores))

    assert lines["tiny"].ranked.score == pytest.approx(mean(lines["tiny"], corpus))
    best = report.lines[0]
    assert report.gain is not None
    assert report.gain[0] == pytest.approx(best.ranked.score - mean(best, corpus.fewer(0.5))) != 0


def test_among_the_best_trials_on_a_part_the_best_on_all_rows_is_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "labkit.trials.bench.planned", lambda *given, **how: planned(*given, **how) | {"trials": 8, "part": 0.5}
    )
    corpus = CORPORA["graded"]()
    [line] = bench(corpus, out=tmp_path / "r", **{**HOW, "methods": ["sif"]}).lines
    whole = [json.loads(file.read_text())["figures"] for file in (tmp_path / "r" / "trials").iterdir()]
    dev = [figures["spearman"] for figures in whole if len(figures) == 1]
    assert len(dev) == 4  # the best three on half of the rows, and the default settings, which are not among them
    assert line.dev == max(dev)
    assert json.loads((tmp_path / "r" / "tuned" / "sif" / "manifest.json").read_text())["plan"]["part"] == 0.5
    assert len({*dev}) > 1


@pytest.mark.parametrize("settings", [{}, METHODS["sif"]().settings.values()], ids=["tuned", "as it comes"])
def test_a_method_that_fails_during_the_search_is_left_out_and_named(
    settings: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(ENTRIES, "sif", Entry("sif", "sif", settings))
    fit = METHODS["sif"]._fit

    def failing(self: Method, corpus: Corpus, seed: int, *others: Any) -> Any:
        if (tmp_path / "r" / "planned.json").is_file() and "test" not in corpus.sizes:
            raise ValueError("the loss is nan")
        return fit(self, corpus, seed, *others)

    monkeypatch.setattr(METHODS["sif"], "_fit", failing)
    report = bench(CORPORA["pairs"](), out=tmp_path / "r", **HOW)
    assert [line.ranked.name for line in report.lines] == ["tfidf"]
    assert "nan" in report.failed["sif"]
    assert "nan" in str(report)


def test_rows_that_share_a_sentence_are_one_unit_of_the_probe() -> None:
    for corpus in (CORPORA["pairs"](), CORPORA["labelled"]()):
        method = METHODS["sif"]()
        method.fit(corpus)
        test = [row for row, split in enumerate(corpus.splits) if split == "test"]
        rest = [row for row, split in enumerate(corpus.splits) if split != "test"]
        once, thrice = (
            Metric("probe")(method, corpus.take([*rest, *test * times]), "test")[1]["probe"] for times in (1, 3)
        )
        assert len(once.above) == len(thrice.above)
        assert once.figure == thrice.figure


def test_the_probe_by_hand() -> None:
    """Its regularisation is chosen on dev; its features are |u - v| and u * v."""
    corpus: Any = CORPORA["pairs"]()
    method = METHODS["sif"]()
    method.fit(corpus)
    sides: list[Any] = []
    for part in map(corpus.part, ("train", "dev", "test")):
        u, v = (method.encode(list(texts), normalize_embeddings=True) for texts in (part.text_a, part.text_b))
        sides += [np.hstack([abs(u - v), u * v]), part.labels]
    figures = Metric("probe")(method, corpus, "test")[0]
    assert figures["probe"] == pytest.approx(logistic_right(*sides).mean())


def test_the_strength_of_the_probe_comes_from_dev(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Any] = []
    monkeypatch.setattr("labkit.trials.metrics.logistic_right", lambda *sides: given.extend(sides) or np.ones(16, bool))
    made: Any = CORPORA["labelled"]()
    corpus = replace(made, labels=made.splits)  # so that the labels show the split
    method = METHODS["sif"]()
    method.fit(corpus)
    Metric("probe")(method, corpus, "test")
    assert given[1::2] == [["train"] * 64, ["dev"] * 16, ["test"] * 16]


@pytest.mark.parametrize("shape", ["pairs", "graded", "labelled"])
def test_each_metric_chooses_by_its_own_score_on_dev(shape: str) -> None:
    corpus, method = CORPORA[shape](), METHODS["sif"]()
    method.fit(corpus)
    scores = score(method, corpus, split="dev").figures
    for name in metrics_for(corpus):
        wanted = probe(method, corpus, "dev").mean() if name == "probe" else scores[name]
        assert Metric(name)(method, corpus, "dev")[0] == {name: pytest.approx(wanted)}


def test_a_frozen_model_encodes_each_sentence_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus, asked = CORPORA["pairs"](), list[str]()
    method = METHODS["sbert"](model=tiny_sbert())
    method.fit(corpus)
    encode = type(method)._encode

    def watching(self: Any, sentences: list[str], *given: Any) -> Any:
        asked.extend(sentences)
        return encode(self, sentences, *given)

    monkeypatch.setattr(type(method), "_encode", watching)
    for split in ("train", "dev", "train", "dev"):
        texts = corpus.part(split).sentences()
        rows = frozen_rows(method, [*texts, texts[0]], tmp_path / "frozen")
        assert rows == pytest.approx(encode(method, [*texts, texts[0]], 64, silent), abs=1e-6)
    assert sorted(asked) == sorted({*corpus.part("train").sentences(), *corpus.part("dev").sentences()})


def test_the_classifier_is_chosen_on_dev(monkeypatch: pytest.MonkeyPatch) -> None:
    corpus, read = CORPORA["labelled"](), list[str]()
    method = METHODS["tfidf"]()
    method.fit(corpus)
    monkeypatch.setattr("labkit.trials.metrics._sides", lambda _, part: read.append(*{*part.splits}) or sides(part))

    def sides(part: Any) -> Any:
        return unit(method.encode(list(part.texts))), list(part.labels)

    fitted_probe(method, corpus)
    assert read == ["train", "dev"]


def test_a_limit_that_leaves_methods_out_names_one_that_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = {"methods": ("tfidf",), "left_out": {"sif": "slow"}, "trials": 8, "part": 1.0, "seeds": 3, "more": 2.5}
    monkeypatch.setattr("labkit.trials.bench.planned", lambda *_, **__: dict(short))
    assert bench(CORPORA["pairs"](), out=tmp_path / "r", **HOW).plan.enough == 63  # of 60 minutes


def test_a_comparison_whose_preparation_was_slow_has_half_of_its_minutes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given, clock = list[float](), count(0, 50 * 60)  # checking the data took 50 of 60 minutes
    monkeypatch.setattr(
        "labkit.trials.bench.planned", lambda *how, **_: given.append(how[1]) or planned(*how, small=True)
    )
    monkeypatch.setattr("labkit.trials.bench.time", SimpleNamespace(monotonic=lambda: next(clock)))
    report = bench(CORPORA["pairs"](), out=tmp_path / "r", **{**HOW, "methods": ["tfidf"]})
    assert given == [30]
    assert report.took == 100


@pytest.mark.parametrize("splits", [["train", "dev", "test"], ["train", "train", "test"]])
def test_the_classifier_of_the_report_is_the_probe(
    splits: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made: Any = CORPORA["labelled"]()
    labels = [label if row % 5 else "other" for row, label in enumerate(made.labels)]
    if "dev" not in splits:  # dev is then a part of the training rows
        labels = ["yes" if label == labels[1] or row % 5 == 0 else "no" for row, label in enumerate(labels)]
    corpus: Any = replace(made, labels=labels, splits=splits * 32)
    report = bench(corpus, out=tmp_path / "r", **{**HOW, "methods": ["tfidf"]})
    test = corpus.part("test")
    exec(report.code.replace('["a sentence", "another one"]', repr(list(test.texts))), names := {})
    said = names["classifier"]["classes"][names["scores"].argmax(axis=1)].tolist()
    assert 0 < report.lines[0].ranked.score < 1
    assert report.lines[0].ranked.score == pytest.approx(np.mean([*map(str.__eq__, said, test.labels)]))
    assert said[0] in capsys.readouterr().out
    assert NEAREST in as_html(report)
    sure = [float(each.said.split()[-1]) for each in report.mistakes]
    assert sure == sorted(sure, reverse=True)
    wrong = {text: label for text, label, own in zip(test.texts, said, test.labels, strict=True) if label != own}
    assert {each.a: each.said.split(":")[0] for each in report.mistakes} == wrong
    assert all(each.b in corpus.part("train").texts for each in report.mistakes)


def test_the_costs_of_a_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = CORPORA["pairs"]()
    ready = METHODS["sbert"](model=tiny_sbert())
    ready.fit(corpus)
    clock = iter((1.0, 3.0))
    monkeypatch.setattr("labkit.trials.metrics.time", SimpleNamespace(process_time=lambda: next(clock)))
    costs = _costs(ready, corpus, "test")
    assert costs["microseconds"] == pytest.approx(2e6 / len(corpus.part("test").sentences()))
    weights = sum(part.stat().st_size for part in Path(tiny_sbert()).rglob("*.safetensors"))
    assert costs["megabytes"] == pytest.approx(weights / 1e6, rel=0.2)
    monkeypatch.undo()
    plain = METHODS["tfidf"]()
    plain.fit(corpus)
    plain.save(tmp_path / "run")
    named = (tmp_path / "run" / "vocabulary.json").stat().st_size
    assert _costs(plain, corpus, "test")["megabytes"] > named / 1e6


def test_mistakes_are_rows_that_the_method_gets_wrong() -> None:
    for shape in ("pairs", "labelled", "triplets", "graded"):
        corpus = CORPORA[shape]()
        method = METHODS["sif"]()
        method.fit(corpus)
        found = mistakes_of(method, corpus, most=100)
        assert found
        scores = score(method, corpus, split="test")
        test: Any = corpus.part("test")
        if shape == "labelled":
            classes = dict(zip(*test.classified(), strict=True))
            assert all(each.truth == classes[each.a] != each.said.split(":")[0] for each in found)
            assert {each.b for each in found} <= set(corpus.part("train").sentences())
        elif shape == "graded":
            off = abs(rankdata(method.similarity_pairwise(test.text_a, test.text_b)) - rankdata(test.scores))
            assert (found[0].a, found[0].b) == (test.text_a[off.argmax()], test.text_b[off.argmax()])
        else:
            assert scores.items is not None
            assert len(found) == (scores.items == 0).sum()


def test_explanations_stop_when_their_time_is_up() -> None:
    corpus, ways = CORPORA["pairs"](), list[str]()

    class Slow(Siamese):
        def explain(self, a: str, b: str, *, way: str = "", steps: int = 0) -> Explanation:
            ways.append(way)
            return super().explain(a, b, way=way, steps=steps)

    method = Slow(encoder="lstm", epochs=1)
    method.fit(corpus)
    assert method.ways[0] == "integrated"
    explained = mistakes_of(method, corpus)
    assert set(ways) == {LEFT_OUT}  # integrated Jacobians of two long sentences take minutes
    assert all(each.words for each in explained)
    listed = mistakes_of(method, corpus, seconds=0)
    assert listed == [replace(each, words="") for each in explained]
    assert len(ways) == len(explained) > 1

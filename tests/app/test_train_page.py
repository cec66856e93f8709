"""Trainings and the page "Teacher" without a browser: the form, the queue, failures, deleted runs, a classroom."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import streamlit as st
import trainings as module
from scipy.stats import rankdata
from streamlit.testing.v1 import AppTest
from trainings import Job, Owned, Queue, all_owned, owned, queue_of, write_owned

from labkit.corpora import load
from labkit.figures.epochs import kept_epoch
from labkit.locks import locked
from labkit.methods import METHODS, load_run
from labkit.runs import history, read_record, write_checkpoint
from labkit.training.trained import probe_of
from labkit.trials.plan import Plan
from tests.waiting import until

from .conftest import HOSTILE, Opened, figure, fine, named, numbers, refused, shows_no_markup, texts, with_file

HISTORY = "epoch,loss,dev_auc\n1,0.5,0.7\n2,0.25,0.75\n"
# replaces `labkit train`: writes two epochs, waits for the file `go`, and fails
WAITS = """
import signal, sys, time
from pathlib import Path
signal.signal(signal.SIGINT, signal.default_int_handler)
out = Path(sys.argv[sys.argv.index("--out") + 1])
out.mkdir(exist_ok=True)
(out / "history.csv").write_text(HISTORY)
(out / "checkpoint.safetensors").touch()  # last, because the tests wait for it
try:
    while not (out / "go").exists():
        time.sleep(0.05)
except KeyboardInterrupt:
    sys.exit(130)
sys.exit("labkit: the loss is nan at batch <b>3</b>, try a tenth")
"""

OTHER = {"view": "Train", "preset": "Another method"}


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("LABKIT_RUNS", str(tmp_path / "runs"))
    yield tmp_path / "runs"
    if queue := module._QUEUES.pop(tmp_path / "runs", None):
        queue.close()


@pytest.fixture
def waiting(runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Queue:
    """A queue with trainings that wait for a file `go`."""
    (tmp_path / "waits.py").write_text(WAITS.replace("HISTORY", repr(HISTORY)))
    monkeypatch.setattr("training_process.PATIENCE", 0.1)  # the program ignores its standard input
    queue = Queue(runs, most=3, program=[sys.executable, str(tmp_path / "waits.py")])
    monkeypatch.setitem(module._QUEUES, runs, queue)
    return queue


@pytest.fixture
def came(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A classroom, with the name, role and address of the browser that opens a page."""
    known = SimpleNamespace(name="a" * 16, role="visitor", ip="192.168.1.9")
    monkeypatch.setenv("LABKIT_CLASSROOM", "1")
    monkeypatch.setattr(type(st.context), "ip_address", property(lambda self: known.ip))
    headers = property(lambda self: {"x-labkit-visitor": known.name, "x-labkit-role": known.role})
    monkeypatch.setattr(type(st.context), "headers", headers)
    return known


def keys(page: AppTest, *starts: str) -> list[str]:
    """The keys of buttons that begin with one of `starts`."""
    return [button.key for button in page.button if button.key.startswith(starts)]


def run_box(page: AppTest) -> Any:
    """The box that chooses a run."""
    return next(box for box in page.selectbox if box.label == "Run")


@pytest.mark.whole
def test_a_training_from_the_button_to_the_other_pages(opened: Opened, runs: Path) -> None:
    page = fine(opened("train_page", **OTHER, method="lsa", corpus="captions").run())
    page.number_input(key="lsa.dimension").set_value(7)
    page.number_input(key="seed").set_value(5)
    fine(page.button(key="train").click().run())
    queue = queue_of(runs)
    until(lambda: not queue.live)
    fine(page.run())
    record = read_record(runs / "lsa-captions-seed5")
    assert (record["settings"]["dimension"], record["seed"]) == (7, 5)
    assert "Hit@1" in texts(page)
    line = next(code.value for code in page.code if code.value.startswith("labkit train"))
    assert line == "labkit train lsa --corpus captions --seed 5 --set dimension=7"  # without the app's folder
    other = fine(opened("why_page", corpus="captions", vectors="run lsa-captions-seed5").run())
    assert other.selectbox(key="vectors").value == "run lsa-captions-seed5"
    shutil.rmtree(runs / "lsa-captions-seed5")
    fine(fine(page.run()).button(key="delete-0001").click().run())
    assert queue.jobs() == []


def test_the_queue_its_curves_and_a_failure_in_one_sentence(opened: Opened, waiting: Queue) -> None:
    page = fine(opened("train_page", **OTHER, method="tfidf").run())
    for seed in range(2):
        fine(page.number_input(key="seed").set_value(seed).run())
        fine(page.button(key="train").click().run())
        assert page.button(key="train").disabled  # an equal run is not trained twice at the same time
        page.button(key="train").proto.disabled = False  # as if a second click came before the update
        fine(page.button(key="train").click().run())
    first, second = waiting.jobs()
    until(lambda: (Path(first.folder) / "history.csv").exists())
    fine(run_box(fine(page.run())).set_value(first.name).run())
    assert [trace["y"] for trace in figure(page)["data"]] == [[0.5, 0.25], [0.7, 0.75]]
    assert len(page.get("plotly_chart")) == 1  # like a run of an earlier version, it has no probe
    for seed in (2, 3):
        fine(page.number_input(key="seed").set_value(seed).run())
        page.button(key="train").click().run()
    refused(page, "3")
    assert not page.button(key="train").disabled
    assert len(waiting.jobs()) == 3

    (Path(first.folder) / "go").touch()
    until(lambda: waiting.job(first.id).state == "failed")
    fine(run_box(fine(page.run())).set_value(first.name).run())
    assert r"batch \<b\>3\</b\>" in texts(page)
    until(lambda: waiting.job(second.id).state == "running" and waiting.job(second.id).checkpoint)
    fine(run_box(fine(page.run())).set_value(second.name).run())
    fine(page.button(key=f"stop-{second.id}").click().run())
    until(lambda: waiting.job(second.id).state == "stopped")
    with locked(second.folder):  # as if the command line resumed it
        assert "another process" in texts(fine(page.run())).lower()
        assert not keys(page, f"resume-{second.id}")
    fine(page.run())
    fine(page.button(key=f"resume-{second.id}").click().run())
    assert waiting.job(second.id).state in ("waiting", "running", "failed")


def test_surprising_pairs_are_listed_and_the_table_opens_a_corpus(opened: Opened) -> None:
    page = fine(opened("train_page", view="Data", corpus="relatedness").run())
    corpus, method = load("relatedness"), METHODS["tfidf"]()
    method.fit(corpus)
    ranks = [rankdata(each) for each in (method.similarity_pairwise(corpus.text_a, corpus.text_b), corpus.scores)]
    order = np.argsort(-np.abs(ranks[0] - ranks[1]), kind="stable")[:12].tolist()
    (listed,) = named(page, "Pairs of sentences")
    assert listed[corpus.COLUMNS["text_a"]].tolist() == [corpus.text_a[row] for row in order]
    (corpora,) = named(page, "All corpora")
    page.session_state["corpora-relatedness"] = {"selection": {"rows": [corpora["corpus"].tolist().index("captions")]}}
    fine(page.run())
    assert page.selectbox(key="corpus").value == "captions"
    assert not named(page, "Pairs of sentences")


def test_a_file_leads_to_the_form_which_says_who_sees_it_and_trains_once(opened: Opened, waiting: Queue) -> None:
    page = fine(with_file(opened("train_page", view="Data"), b"text,label\n<b>a</b>,x\nb,x\nc,y\nd,y\n"))
    assert page.selectbox(key="corpus").value == "your own file"
    fine(page.button(key="train-on-it").click().run())
    assert page.radio(key="preset").value == "Neighbours decide (SentPWNet)"
    assert waiting.jobs() == []
    choosing = import_module("choosing")
    assert choosing.OWN_FILE.format(choosing.READERS[False]) in texts(page)
    fine(fine(page.button(key="train").click().run()).run())
    assert [(job.method, job.corpus) for job in waiting.jobs()] == [("sentpwnet", "mine.csv")]


def test_an_old_link_to_which_method_opens_the_comparison(opened: Opened, waiting: Queue) -> None:
    page = fine(opened("train_page", view="Which method?", corpus="topics").run())
    assert page.segmented_control(key="view").value == "Train"
    fine(page.button(key="train").click().run())
    (job,) = waiting.jobs()
    assert (job.method, job.corpus) == ("bench", "topics")
    fine(page.radio(key="preset").set_value("Word pieces").run())  # the link does not force its choice
    assert page.radio(key="preset").value == "Word pieces"


LINES = b"text,label\na,x\nb,x\nc,y\nd,y\n"


def test_another_file_replaces_the_first(opened: Opened) -> None:
    page = fine(with_file(opened("train_page", view="Data"), LINES, "one.csv"))
    assert "**one.csv**: 4 rows" in texts(page)
    fine(page.file_uploader[0].upload("two.csv", LINES + b"e,y\n", "text/csv").run())
    assert page.selectbox(key="corpus").value == "your own file"
    assert "**two.csv**: 5 rows" in texts(page)
    assert "one.csv" not in texts(page)
    fine(page.button(key="file-forget").click().run())
    assert page.selectbox(key="corpus").value == "your own file"
    assert "two.csv" not in texts(page) + page.info[0].value


def test_a_corpus_is_measured_once_even_if_that_fails(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []

    def refuse(corpus: Any) -> Any:
        tried.append(corpus.name)
        raise ValueError(f"{corpus.name} has no test split")

    monkeypatch.setattr("labkit.baselines.difficulty.difficulty", refuse)
    page = opened("train_page", view="Data")
    import_module("keeping").room.clear()
    fine(with_file(page, LINES))
    assert "no test split" in texts(page)
    assert "no test split" in texts(fine(page.run()))
    assert sorted(tried) == sorted(set(tried))
    assert list(named(page, "All corpora")[0]["measure"]) == ["–"] * len(tried)


def test_bad_settings_are_one_sentence_and_train_nothing(opened: Opened, waiting: Queue) -> None:
    page = fine(opened("train_page", **OTHER, method="tfidf").run())
    page.number_input(key="tfidf.min_ngram").set_value(5)
    refused(page.button(key="train").click().run(), "max_ngram")
    assert waiting.jobs() == []
    page = fine(opened("train_page", **OTHER, **{"method": "tfidf", "tfidf.longest": "9999", "seed": "x"}).run())
    assert page.number_input(key="tfidf.max_ngram").value <= 20


def test_only_relevant_settings_have_a_control(opened: Opened, waiting: Queue) -> None:
    page = fine(opened("train_page", **OTHER, method="sentpwnet").run())
    assert {"sentpwnet.alpha", "sentpwnet.per_class"} - {each.key for each in page.number_input} == set()
    assert "sentpwnet.margin" not in {each.key for each in page.number_input}
    fine(page.selectbox(key="sentpwnet.loss").set_value("contrastive").run())
    assert page.number_input(key="sentpwnet.margin").value == 0.5
    assert "sentpwnet.alpha" not in {each.key for each in page.number_input}


def test_an_upload_is_trained_under_its_name_which_the_address_contains(opened: Opened, waiting: Queue) -> None:
    page = opened("train_page", **OTHER, corpus="your own file", method="tfidf")
    with_file(page, HOSTILE.encode(), "My <b>data.csv")
    fine(page.button(key="train").click().run())
    job = waiting.jobs()[0]
    assert (job.own, job.corpus, job.name) == (True, "My _b_data.csv", "tfidf-My-_b_data-seed0")
    assert (waiting.private(job) / job.corpus).read_text() == HOSTILE
    fine(page.run())
    assert page.query_params["file"] == "My <b>data.csv"
    line = next(code.value for code in page.code if code.value.startswith("labkit train"))
    assert "--corpus 'My _b_data.csv'" in line
    shows_no_markup(page)


def test_a_preset_trains_with_its_settings_and_the_changes(opened: Opened, waiting: Queue) -> None:
    page = fine(opened("train_page", view="Train", corpus="topics").run())
    fine(page.radio(key="preset").set_value("Pull and push (contrastive)").run())
    assert "preset.siamese.alpha" not in {each.key for each in page.number_input}  # its loss has no such setting
    fine(page.number_input(key="preset.siamese.epochs").set_value(2).run())
    fine(page.button(key="train").click().run())
    (job,) = waiting.jobs()
    expected = {"encoder": "mean", "size": 24, "dimension": 24, "epochs": 2, "margin": 0.5}
    assert (job.method, dict(job.settings)) == ("siamese", expected)


@pytest.mark.parametrize("shape", ["Labelled", "Pairs", "Triplets", "Groups", "Sentences", "Articles"])
def test_every_preset_can_be_trained_on_its_shapes(opened: Opened, shape: str) -> None:
    opened("train_page")
    from train_presets import presets_for

    for preset in presets_for(shape):
        settings = METHODS[preset.method].Settings.of(preset.settings)
        settings.check_used(preset.settings, shape, has_dev=True)


def test_the_space_of_a_training_is_drawn_while_it_runs(opened: Opened, waiting: Queue) -> None:
    page = fine(opened("train_page", **OTHER, method="tfidf", corpus="topics").run())
    fine(page.button(key="train").click().run())
    (job,) = waiting.jobs()
    until(lambda: waiting.job(job.id).checkpoint)
    probe = probe_of(load("topics"))
    rows = np.random.default_rng(0).normal(size=(2, len(probe.texts), 5)).astype(np.float32)
    arrays = {"snapshots.epochs": np.array([0, 1]), "snapshots.vectors": rows}
    write_checkpoint(job.folder, arrays, {})
    fine(page.run())
    assert "after epoch 1" in texts(page)
    drawn = [trace for trace in figure(page)["data"] if trace.get("customdata") is not None]
    assert sum(numbers(trace["x"]).size for trace in drawn) == len(probe.texts)
    assert {trace["name"] for trace in drawn} == set(probe.labels)


def test_a_run_first_shows_the_space_before_training_and_finally_that_it_stopped_early(
    opened: Opened, waiting: Queue, run: Path
) -> None:
    page = fine(opened("train_page", view="Train", corpus="topics").run())
    fine(page.button(key="train").click().run())
    (job,) = waiting.jobs()
    drawn = [trace for trace in figure(page)["data"] if trace.get("customdata") is not None]
    assert sum(numbers(trace["x"]).size for trace in drawn) == len(probe_of(load("topics")).texts)
    until(lambda: waiting.job(job.id).checkpoint)
    shutil.copytree(run / "small", job.folder, dirs_exist_ok=True)  # it has two of the six epochs requested
    (Path(job.folder) / "go").touch()
    until(lambda: waiting.job(job.id).state == "finished")
    said = texts(fine(page.run()))
    assert "2 of 6" in said
    assert "`None`" not in said
    assert f"{load('topics').sizes['dev']:,} rows" in said
    best = kept_epoch(history(job.folder))
    assert f"after epoch {best}**, whose weights are kept" in said
    colours = {trace["name"]: trace["marker"]["color"] for trace in figure(page)["data"] if trace.get("name")}
    fine(page.selectbox(key="corpus").set_value("relatedness").run())
    assert page.info  # there is no run on this corpus
    fine(run_box(page).set_value(job.name).run())
    assert not page.info
    assert {trace["name"]: trace["marker"]["color"] for trace in figure(page)["data"] if trace.get("name")} == colours


def test_the_page_shows_a_stored_run_the_training_or_the_chosen_run(
    opened: Opened, waiting: Queue, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = fine(opened("train_page", view="Train", corpus="relatedness").run())
    assert page.info  # there is no run on this corpus
    shutil.copytree(run / "small", waiting.runs / "small")  # made by the command line
    page = fine(opened("train_page", view="Train", corpus="topics").run())
    assert not page.info
    assert run_box(page).value == "small"
    drawn = [trace for trace in figure(page)["data"] if trace.get("customdata") is not None]
    assert sum(numbers(trace["x"]).size for trace in drawn) == len(load_run(waiting.runs / "small").snapshots.texts)
    command = next(code.value for code in page.code if code.value.startswith("labkit train"))
    settings = dict(word.split("=") for word in command.split() if "=" in word)
    assert settings.items() >= {"epochs": "2", "dimension": "8", "size": "12"}.items()
    where: list[dict[str, str]] = []
    monkeypatch.setattr(st, "switch_page", lambda page, query_params: where.append(query_params))
    fine(page.button(key="move-").click().run())
    assert where[0].items() >= {"corpus": "topics", "right": "run small"}.items()
    assert not keys(page, "delete-", "resume-")
    fine(page.radio(key="preset").set_value("A readable metric (FILM)").run())
    assert "**film**" in page.info[0].value
    fine(run_box(page).set_value("small").run())  # an existing run
    assert not page.info
    fine(fine(page.button(key="train").click().run()).run())
    (job,) = waiting.jobs()
    assert run_box(page).value == job.name
    fine(page.selectbox(key="corpus").set_value("relatedness").run())
    fine(page.radio(key="preset").set_value("Word pieces").run())
    assert run_box(page).value == job.name  # the running one, as there is no other
    assert keys(page, "stop-") == [f"stop-{job.id}"]
    waiting.stop(job.id)
    until(lambda: not waiting.live)
    fine(page.run())
    assert run_box(page).value == job.name  # it stays


def test_a_finished_training_opens_its_space_before_and_after(
    opened: Opened, waiting: Queue, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where: list[tuple[Any, dict[str, str]]] = []
    monkeypatch.setattr(st, "switch_page", lambda page, query_params: where.append((page, query_params)))
    page = opened("train_page", **OTHER, corpus="your own file", method="tfidf")
    with_file(page, HOSTILE.encode())
    fine(page.button(key="train").click().run())
    (job,) = waiting.jobs()
    method = METHODS["tfidf"]()
    method.fit(load("topics"))
    until(lambda: waiting.job(job.id).checkpoint)
    method.save(Path(job.folder))
    (Path(job.folder) / "go").touch()
    until(lambda: waiting.job(job.id).state == "finished")
    del page.session_state["file"]  # the file was removed in the meantime
    fine(page.run())
    assert not page.get("download_button")  # without a corpus, no run is shown
    assert not keys(page, "delete-")
    fine(page.selectbox(key="corpus").set_value("topics").run())
    fine(run_box(page).set_value(job.name).run())
    assert "Model as ZIP" in [button.label for button in page.get("download_button")]
    fine(page.button(key=f"move-{job.id}").click().run())
    settings = {"corpus": "your own file", "left": "mean word vectors", "right": f"run {job.name}"}
    assert where == [("space_page.py", settings)]
    assert page.session_state["file"].name == "mine.csv"
    shutil.copytree(run / "small", job.folder, dirs_exist_ok=True)  # it has vectors of its epochs
    page.session_state["epoch"] = 2  # where an earlier visit stopped
    fine(fine(page.run()).button(key=f"move-{job.id}").click().run())
    assert where[1:] == [("space_page.py", settings | {"view": "While it trained"})]
    assert page.session_state["epoch"] == 0  # it plays only from there


# --- all methods compared -----------------------------------------------------------------------------------------


def test_a_comparison_waits_in_the_queue_and_shows_its_report(opened: Opened, waiting: Queue) -> None:
    page = opened("train_page", corpus="your own file", view="Train", preset="Compare all methods")
    with_file(page, HOSTILE.encode(), "my data.csv")
    page.number_input(key="minutes").set_value(3)
    fine(page.button(key="train").click().run())
    (job,) = waiting.jobs()
    words = job.words(Path("report"))
    assert words[:6] == ["bench", "my data.csv", "--minutes", "3", "--out", "report"]
    until(lambda: Path(job.folder).is_dir())
    plan = Plan("hit@1", ("bag", "tfidf"), {}, trials=8, part=1.0, seeds=3, minutes=3.0, workers=1, costs={})
    (Path(job.folder) / "planned.json").write_text(json.dumps(asdict(plan)))
    assert "2 methods (bag, tfidf), 8 trials each" in texts(fine(page.run()))
    (Path(job.folder) / "report.json").write_text('{"finished": true}')
    (Path(job.folder) / "report.html").write_text("<!doctype html><p>bag leads<script>parent.hit = 1</script>")
    (Path(job.folder) / "go").touch()
    until(lambda: not waiting.live)
    assert waiting.job(job.id).state == "finished"  # because the report is on disk
    fine(page.run())
    (frame,) = page.get("iframe")
    assert "bag leads" in frame.proto.srcdoc
    assert frame.proto.srcdoc.index("default-src 'none'") < frame.proto.srcdoc.index("bag leads")  # no script runs
    assert [button.label for button in page.get("download_button")].count("Report as HTML") == 1
    shows_no_markup(page)
    (Path(job.folder) / "report.json").write_text("[" * 100_000)  # damaged
    fine(page.run())


def test_in_a_classroom_visitors_have_few_trainings_and_see_and_stop_only_their_own(
    opened: Opened, waiting: Queue, came: SimpleNamespace
) -> None:
    waiting.most = 9
    mine = fine(opened("train_page", **OTHER, method="tfidf").run())
    for seed in range(3):
        fine(mine.number_input(key="seed").set_value(seed).run())
        mine.button(key="train").click().run()
    refused(mine, "2")
    assert [name for name in run_box(fine(mine.run())).options if name.startswith("tfidf")] == [
        "tfidf-topics-seed0", "tfidf-topics-seed1",
    ]  # fmt: skip
    again = opened("train_page", **OTHER, method="tfidf", seed="2").run()  # a new session, as after a reload
    refused(again.button(key="train").click().run(), "2")
    fine(run_box(again).set_value("tfidf-topics-seed1").run())
    (second,) = keys(again, "stop-")
    came.name = "b" * 16
    other = fine(opened("train_page", **OTHER, method="tfidf").run())
    assert not keys(other, "stop-", "resume-", "delete-")
    assert not [name for name in run_box(other).options if name.startswith("tfidf")]
    fine(other.button(key="train").click().run())
    assert len(keys(fine(other.run()), "stop-")) == 1
    waiting.submit(Job("tfidf", "secret.csv", own=True), b"text,label\na,x\n")  # submitted before this was a classroom
    waiting.submit(Job("lsa", "topics"))
    said = " ".join(run_box(fine(other.run())).options)
    assert ("secret" in said, "lsa-topics" in said) == (False, True)
    came.name = "a" * 16
    fine(again.button(key=second).click().run())
    assert waiting.job(second.removeprefix("stop-")).state in ("stopped", "stopping")


def test_a_visitor_shares_and_deletes_their_runs(opened: Opened, waiting: Queue, came: SimpleNamespace) -> None:
    page = fine(opened("train_page", **OTHER, method="tfidf").run())
    fine(page.button(key="train").click().run())
    (job,) = waiting.jobs()
    until(lambda: waiting.job(job.id).checkpoint)
    assert not [box for box in fine(page.run()).checkbox if box.key.startswith("shared-")]  # it is being trained
    waiting.stop(job.id)
    until(lambda: waiting.job(job.id).state == "stopped")
    assert owned(job.folder) == Owned(Path(job.folder), "a" * 16)
    fine(page.run())
    fine(page.checkbox(key=f"shared-{job.name}").check().run())
    came.name = "b" * 16
    other = fine(opened("train_page", **OTHER, method="tfidf").run())
    assert any(code.value.startswith("labkit train tfidf") for code in other.code)  # it is shared
    assert not keys(other, "delete-")
    came.name = "a" * 16
    fine(page.checkbox(key=f"shared-{job.name}").uncheck().run())
    came.name = "b" * 16
    fine(other.run())
    assert not [code for code in other.code if code.value.startswith("labkit train tfidf")]
    assert not [name for name in run_box(other).options if name.startswith("tfidf")]
    for came.name in ("b" * 16, ""):  # another or an unknown visitor on the owner's page
        refused(page.button(key=f"delete-{job.name}").click().run(), "another visitor")
        came.name = "a" * 16
        fine(page.run())
    fine(page.button(key=f"delete-{job.name}").click().run())
    assert waiting.jobs() == []
    assert not Path(job.folder).exists()
    assert all_owned(waiting.runs) == []


def test_the_teacher_deletes_a_shared_run_while_another_page_has_it_open(
    opened: Opened, waiting: Queue, run: Path, came: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = fine(opened("train_page", **OTHER, method="tfidf").run())
    fine(page.button(key="train").click().run())
    (job,) = waiting.jobs()
    until(lambda: waiting.job(job.id).checkpoint)
    waiting.stop(job.id)
    until(lambda: waiting.job(job.id).state == "stopped")
    shutil.copytree(run / "small", job.folder, dirs_exist_ok=True)
    shutil.copytree(run / "small", waiting.runs / "by-hand")
    write_owned(Owned(Path(job.folder), "a" * 16, shared=True))
    space = fine(opened("space_page", corpus="topics", left=f"run {job.name}", right="nothing", how="PCA").run())
    came.name = "b" * 16
    other = fine(opened("train_page", **OTHER, method="tfidf", corpus="topics").run())
    assert not keys(other, "delete-")
    monkeypatch.setattr(import_module("classroom").PRESENT, "guarded", True)
    came.role = "teacher"
    other = fine(other.run())
    assert keys(other, "delete-") == [f"delete-{job.id}"]  # not the run that was not trained here
    fine(other.button(key=f"delete-{job.id}").click().run())
    assert not Path(job.folder).exists()
    assert fine(other.run()).info or not keys(other, "delete-")
    assert (waiting.runs / "by-hand").is_dir()
    assert not space.run().exception
    assert job.name in " ".join(said.value.replace("\\", "") for said in (*space.info, *space.error))


def test_a_run_deleted_since_the_page_was_loaded_is_not_listed(
    opened: Opened, waiting: Queue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened("train_page")
    monkeypatch.setattr(st, "selectbox", lambda label, names, *rest, **more: next(iter(names)))
    runs = {name: Job("tfidf", "topics", folder=str(tmp_path / name), state="finished") for name in ("gone", "here")}
    (tmp_path / "here").mkdir()
    assert import_module("train_queue").choose_run(waiting, runs, runs["gone"]) == runs["here"]


def test_a_model_is_saved_only_if_the_visitor_may_see_it_at_the_click(
    opened: Opened, came: SimpleNamespace, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened("space_page")
    frame, folder = import_module("frame"), tmp_path / "runs" / "small"
    shutil.copytree(run / "small", folder)
    kept: list[Any] = []
    monkeypatch.setattr(st, "download_button", lambda label, content, *rest, **more: kept.append(content))
    monkeypatch.setattr(frame, "zipped", lambda folder: b"packed")

    def buttons(*names: str) -> list[Any]:
        kept.clear()
        for came.name in names:
            frame.save_model(folder, "key")
        return list(kept)

    write_owned(Owned(folder, "a" * 16, shared=True))
    owner, other = buttons("a" * 16, "b" * 16)
    came.name = ""  # at a click, Streamlit does not know the visitor
    assert (owner(), other()) == (b"packed", b"packed")
    write_owned(Owned(folder, "a" * 16))
    assert owner() == b"packed"
    with pytest.raises(ValueError, match="no longer shared"):
        other()
    write_owned(Owned(folder, "b" * 16))  # deleted, and another visitor's run now has its name
    with pytest.raises(ValueError, match="another visitor"):
        owner()
    came.role, present = "teacher", import_module("classroom").PRESENT
    monkeypatch.setattr(present, "guarded", True)
    assert [click() for click in buttons("c" * 16)] == [b"packed"]
    monkeypatch.setattr(frame, "MODEL", 1000)
    assert buttons("a" * 16) == []  # too large to be packed in memory


# --- the page Teacher ---------------------------------------------------------------------------------------------


def guarded(opened: Opened) -> tuple[AppTest, Any]:
    """The page behind the guard, and the register of visitors."""
    page = opened("teacher_page")
    present = import_module("classroom").PRESENT
    present.guarded = True
    return page, present


def test_only_the_teacher_sees_their_page(opened: Opened, waiting: Queue, came: SimpleNamespace) -> None:
    came.role = "teacher"
    refused(opened("teacher_page").run(), "teacher")  # a role counts only behind the guard
    came.role = "visitor"
    refused(guarded(opened)[0].run(), "teacher")


def test_the_teacher_sees_visitors_and_stops_trainings(opened: Opened, waiting: Queue, came: SimpleNamespace) -> None:
    came.role = "teacher"
    page, present = guarded(opened)
    present.came("a" * 16, False)
    present.came("b" * 16, True)
    present.turned("a" * 16, "Train")
    jobs = [waiting.submit(Job("tfidf", "topics", seed), visitor="a" * 16) for seed in (1, 2)]
    fine(page.run())
    rows = page.dataframe[0].value.to_dict("records")
    assert [(row["Page"], row["In the queue"]) for row in rows] == [("Train", 2), ("", 0)]
    assert "2 of 3" in texts(page)
    for job in jobs[::-1]:
        fine(page.button(key=f"stop-{job.id}").click().run())
    until(lambda: not waiting.live)
    present.left("a" * 16)
    assert len(fine(page.run()).dataframe[0].value) == 1


def test_the_teacher_deletes_the_unshared_runs_of_a_visitor_or_all(
    opened: Opened, waiting: Queue, came: SimpleNamespace
) -> None:
    came.role = "teacher"
    for name, owner, shared in (
        ("one", "a" * 16, False), ("two", "a" * 16, True), ("three", "c" * 16, False), ("four", "d" * 16, False),
    ):  # fmt: skip
        (waiting.runs / name).mkdir()
        write_owned(Owned(waiting.runs / name, owner, shared))
    training = waiting.submit(Job("tfidf", "topics"), visitor="d" * 16)
    page, present = guarded(opened)
    present.came("a" * 16, False)
    present.left("a" * 16)
    fine(page.run())
    for owner in "ad":
        fine(page.button(key=f"delete-unshared-{owner * 16}").click().run())
    assert [run.folder.name for run in all_owned(waiting.runs)] == [training.name, "three", "two"]
    assert not (waiting.runs / "one").exists()
    fine(page.button(key=f"delete-all-{'a' * 16}").click().run())
    assert [run.folder.name for run in all_owned(waiting.runs)] == [training.name, "three"]


def test_only_the_training_view_needs_the_queue_that_another_app_may_hold(opened: Opened, runs: Path) -> None:
    with locked(runs / ".jobs"):
        for view in ("Data", "Runs"):
            fine(opened("train_page", view=view, corpus="topics").run())
        page = opened("train_page", view="Train", corpus="topics").run()
    assert ["another labkit app" in error.value for error in page.error] == [True]

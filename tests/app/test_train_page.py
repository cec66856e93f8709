"""The page "Train" without a browser: what is wished for, the line, failures, a run deleted, a classroom."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest
from trainings import Queue, queue_of
from trainings import queue as module
from trainings.owners import Owned, all_owned, owned

from labkit.locks import Hold
from labkit.methods import METHODS
from labkit.runs import read_record
from tests.waiting import until

from .conftest import Opened, figure, fine

ROWS = "text,label\n" + "".join(
    f"{['red', 'blue', 'green'][i % 3]} {'car' if i % 2 else 'cat'} {i},{'ab'[i % 2]}\n" for i in range(60)
)
HISTORY = "epoch,loss,dev_auc\n1,0.5,0.7\n2,0.25,0.75\n"
# in the place of `labkit train`: an epoch, then it waits until it is told to go on
WAITS = """
import signal, sys, time
from pathlib import Path
signal.signal(signal.SIGINT, signal.default_int_handler)
out = Path(sys.argv[sys.argv.index("--out") + 1])
out.mkdir(exist_ok=True)
(out / "checkpoint.safetensors").touch()
(out / "history.csv").write_text(HISTORY)
try:
    while not (out / "go").exists():
        time.sleep(0.05)
except KeyboardInterrupt:
    sys.exit(130)
sys.exit("labkit: the loss is nan at batch <b>3</b>, try a tenth")
"""


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("LABKIT_RUNS", str(tmp_path / "runs"))
    yield tmp_path / "runs"
    if queue := module._QUEUES.pop(tmp_path / "runs", None):
        queue.close()


@pytest.fixture
def waiting(runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Queue:
    """A queue whose trainings wait."""
    (tmp_path / "waits.py").write_text(WAITS.replace("HISTORY", repr(HISTORY)))
    queue = Queue(runs, most=3, program=[sys.executable, str(tmp_path / "waits.py")])
    monkeypatch.setitem(module._QUEUES, runs, queue)
    return queue


@pytest.fixture
def came(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A classroom, and what is known of the browser that comes to it."""
    known = SimpleNamespace(name="a" * 16, role="visitor", ip="192.168.1.9")
    monkeypatch.setenv("LABKIT_CLASSROOM", "1")
    monkeypatch.setattr(type(st.context), "ip_address", property(lambda self: known.ip))
    headers = property(lambda self: {"x-labkit-visitor": known.name, "x-labkit-role": known.role})
    monkeypatch.setattr(type(st.context), "headers", headers)
    return known


def said(page: AppTest) -> str:
    return "\n".join(text.value for text in (*page.caption, *page.markdown, *page.info))


@pytest.mark.parametrize("method", METHODS)
def test_every_method_offers_its_settings_with_their_meaning(opened: Opened, runs: Path, method: str) -> None:
    page = fine(opened("train_page", method=method).run())
    assert "No training yet" in said(page)
    widgets = [*page.number_input, *page.selectbox, *page.checkbox]
    mine = {widget.key.partition(".")[2]: widget for widget in widgets if widget.key.startswith(f"{method}.")}
    settings = METHODS[method].method.Settings()
    assert mine.keys() == settings.values().keys()
    assert type(settings).of({name: widget.value for name, widget in mine.items()}) == settings
    assert all(widget.help for widget in mine.values())
    assert METHODS[method].summary in said(page)


@pytest.mark.whole
def test_a_training_from_the_button_to_the_other_pages(opened: Opened, runs: Path) -> None:
    page = fine(opened("train_page", method="lsa", corpus="captions").run())
    page.number_input(key="lsa.dimension").set_value(7)
    page.number_input(key="seed").set_value(5)
    fine(page.button(key="train").click().run())
    queue = queue_of(runs)
    until(lambda: not queue.busy)
    fine(page.run())
    assert "lsa-captions-seed5" in said(page)
    assert "test: Hit@1" in said(page)
    assert "does not learn in epochs" in said(page)
    record = read_record(runs / "lsa-captions-seed5")
    assert record["settings"]["dimension"] == 7
    assert record["seed"] == 5
    line = next(code.value for code in page.code if code.value.startswith("labkit train"))
    assert line == "labkit train lsa --corpus captions --seed 5 --set dimension=7 --out runs/lsa-captions-seed5"
    other = fine(opened("pairs_page", corpus="captions", vectors="a stored run", run="lsa-captions-seed5").run())
    assert other.selectbox(key="run").value == "lsa-captions-seed5"
    shutil.rmtree(runs / "lsa-captions-seed5")
    fine(page.run())
    assert "its folder was removed" in said(page)
    fine(page.button(key="forget-0001").click().run())
    assert "No training yet" in said(page)


def test_the_line_its_curves_and_a_failure_in_one_sentence(opened: Opened, waiting: Queue) -> None:
    page = fine(opened("train_page", method="tfidf").run())
    for _ in range(2):
        fine(page.button(key="train").click().run())
    first, second = waiting.jobs()
    until(lambda: (Path(first.folder) / "history.csv").exists())
    fine(page.run())
    assert "Number 1 in the line: 1 training before it" in said(page)
    page.selectbox(key="curves").set_value(first.id)
    fine(page.run())
    chart = figure(page)
    assert [len(trace["x"]) for trace in chart["data"]] == [2, 2]
    assert "over 2 epochs: loss, AUC on dev" in page.get("plotly_chart")[0].proto.alt
    assert len(page.get("plotly_chart")) == 1  # as a run of an earlier labkit, it knows nothing of its probe
    (Path(first.folder) / "history.csv").write_text(
        "epoch,loss,probe_map@r,probe_uniformity\n1,2,0.5,-1\n2,1,0.75,-2\n"
    )
    fine(page.run())
    assert page.get("plotly_chart")[1].proto.alt.endswith("MAP@R, probe, uniformity, 0 where all are alike, probe.")
    assert [trace["y"] for trace in figure(page, 1)["data"]] == [[0.5, 0.75], [-1, -2]]
    page.button(key="train").click().run()
    page.button(key="train").click().run()
    assert "the line is full: 3 trainings" in page.error[0].value
    assert len(waiting.jobs()) == 3

    (Path(first.folder) / "go").touch()
    until(lambda: waiting.job(first.id).state == "failed")
    fine(page.run())
    assert r"the loss is nan at batch \<b\>3\</b\>, try a tenth" in said(page)
    until(lambda: waiting.job(second.id).state == "running")
    until(lambda: waiting.job(second.id).checkpoint)
    fine(page.run())
    fine(page.button(key=f"stop-{second.id}").click().run())
    until(lambda: waiting.job(second.id).state == "stopped")
    fine(page.run())
    assert "its last checkpoint is kept" in said(page)
    with Hold(second.folder):  # somebody goes on with it at the command line
        fine(page.run())
        assert f"It is being trained by process {os.getpid()} on " in said(page)
        assert "its last checkpoint is kept" not in said(page)
        assert not [button for button in page.button if button.key == f"resume-{second.id}"]
    fine(page.run())
    assert page.button(key=f"resume-{second.id}").label == "Resume"
    (Path(second.folder) / "history.csv").unlink(missing_ok=True)
    fine(page.selectbox(key="curves").set_value(second.id).run())
    assert "It ended before an epoch was done." in said(page)
    fine(page.button(key=f"resume-{second.id}").click().run())
    assert waiting.job(second.id).state in ("waiting", "running", "failed")


def test_bad_settings_are_one_sentence_and_train_nothing(opened: Opened, waiting: Queue) -> None:
    page = fine(opened("train_page", method="tfidf").run())
    page.number_input(key="tfidf.shortest").set_value(5)
    page.button(key="train").click().run()
    assert not page.exception
    assert "setting longest is 1, expected at least shortest" in page.error[0].value
    assert waiting.jobs() == []
    page = fine(opened("train_page", **{"method": "tfidf", "tfidf.longest": "9999", "seed": "x"}).run())
    assert page.number_input(key="tfidf.longest").value <= 20


def test_an_upload_is_trained_and_named_nowhere(opened: Opened, waiting: Queue) -> None:
    page = opened("train_page", corpus="your own file", method="tfidf").run()
    page.file_uploader[0].upload("Secret <b>.csv", ROWS.encode(), "text/csv").run()
    fine(page.button(key="train").click().run())
    job = waiting.jobs()[0]
    assert job.own
    assert job.name == "tfidf-upload-seed0"
    assert (waiting.private(job) / "upload.csv").read_text() == ROWS
    fine(page.run())
    assert "on a visitor's file" in said(page)
    assert "Secret" not in said(page) + str(page.query_params)
    assert "some sentences of dev" in said(page)


def test_in_a_classroom_each_has_few_and_sees_and_stops_only_his_own(
    opened: Opened, waiting: Queue, came: SimpleNamespace
) -> None:
    waiting.most = 9
    mine = fine(opened("train_page", method="tfidf").run())
    assert not [box for box in mine.text_input if box.key == "folders"]
    for _ in range(3):
        mine.button(key="train").click().run()
    assert "you have 2 trainings in the line" in mine.error[0].value
    assert len([button.key for button in fine(mine.run()).button if button.key.startswith("stop-")]) == 2
    again = fine(opened("train_page", method="tfidf").run())  # a session of its own, as after a reload
    again.button(key="train").click().run()
    assert "you have 2 trainings in the line" in again.error[0].value
    _, second = [button.key for button in again.button if button.key.startswith("stop-")]
    came.name = "b" * 16
    other = fine(opened("train_page", method="tfidf").run())
    assert "Trainings of other visitors that run or wait: 2." in said(other)
    assert not [button.key for button in other.button if button.key.startswith(("stop-", "resume-", "forget-"))]
    assert "tfidf-topics" not in said(other)
    fine(other.button(key="train").click().run())
    assert len([button.key for button in fine(other.run()).button if button.key.startswith("stop-")]) == 1
    came.name = "a" * 16
    fine(again.button(key=second).click().run())
    assert waiting.job(second.removeprefix("stop-")).state in ("stopped", "stopping")


def test_a_visitor_shares_and_deletes_his_runs(opened: Opened, waiting: Queue, came: SimpleNamespace) -> None:
    page = fine(opened("train_page", method="tfidf").run())
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
    other = fine(opened("train_page", method="tfidf").run())
    assert f"{job.name}, stopped" in str(other.selectbox(key="curves").options)  # it is shared
    assert not [button.key for button in other.button if button.key.startswith(("delete-", "forget-"))]
    came.name = "a" * 16
    fine(page.checkbox(key=f"shared-{job.name}").uncheck().run())
    came.name = "b" * 16
    assert "No training yet" in said(fine(other.run()))
    came.name = "a" * 16
    fine(page.button(key=f"delete-{job.name}").click().run())
    assert waiting.jobs() == []
    assert not Path(job.folder).exists()
    assert all_owned(waiting.runs) == []


def test_one_machine_fills_half_of_the_line_whatever_its_browsers_are_called(
    opened: Opened, waiting: Queue, came: SimpleNamespace
) -> None:
    waiting.most = 6
    for number in range(3):  # each a private window
        came.name = f"{number:016}"
        fine(fine(opened("train_page", method="tfidf").run()).button(key="train").click().run())
    came.name = "c" * 16
    page = opened("train_page", method="tfidf").run()
    page.button(key="train").click().run()
    assert "3 trainings in the line came from your machine" in page.error[0].value
    came.ip = "192.168.1.10"
    fine(fine(opened("train_page", method="tfidf").run()).button(key="train").click().run())


def test_another_app_that_trains_there_is_said(opened: Opened, runs: Path, tmp_path: Path) -> None:
    held = Queue(runs)
    try:
        page = opened("train_page").run()
        assert not page.exception
        assert "another labkit app trains into" in page.error[0].value
    finally:
        held.close()

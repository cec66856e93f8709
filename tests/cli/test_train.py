"""`labkit train`: its output, errors, interruption and resumption, and several processes."""

from __future__ import annotations

import dataclasses
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from subprocess import DEVNULL
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch

import labkit.cli.train as command
from labkit import scale
from labkit.corpora import load as load_corpus
from labkit.evaluation.scores import score
from labkit.locks import locked
from labkit.methods import METHODS, load_run
from labkit.progress import Progress
from labkit.runs import CHECKPOINT, read_checkpoint, read_record, write_checkpoint, write_run
from labkit.scale import check_processes
from tests.waiting import HANG, until

from .conftest import SMALL, Labkit, contents, write_pairs

NO_EPOCHS = ("train", "tfidf", "--corpus", "mine.csv")
LEARNS = ("train", "siamese", "--corpus", "mine.csv")
TRAINING = ("train", "sentpwnet", "--corpus", "mine.csv", "--epochs", "4", "--set", "patience=0", *SMALL)
SLOW = ("train", "sentpwnet", "--corpus", "mine.csv", "--epochs", "2000", "--set", "patience=0", *SMALL, "--out", "r")
RESUME = ("--resume",)


# --- a run -----------------------------------------------------------------------------------------------------------


def test_a_run_is_saved_and_scored_on_test_if_there_is_one(labkit: Labkit) -> None:
    done = labkit(*NO_EPOCHS, "--device", "cpu")
    folder = "runs/tfidf-mine-seed0"
    found = score(load_run(folder), load_corpus("mine.csv"))
    assert done.status == 0
    assert done.out.splitlines()[-1] == folder
    assert f"accuracy {found.figures['accuracy']:.3f}" in done.out
    record = read_record(folder)
    assert record["metrics"] == {"mine.csv/test": pytest.approx(dict(found.figures))}
    assert (record["corpus"], record["seed"], record["state"]) == ("mine.csv", 0, "finished")
    for number in (2, 3):  # without --out, every run gets a new folder
        assert labkit(*NO_EPOCHS).out.splitlines()[-1] == f"{folder}-{number}"
    write_pairs(Path("no_test.csv"), splits=("train", "dev"))
    done = labkit("train", "tfidf", "--corpus", "no_test.csv")
    assert (done.status, done.out) == (0, "runs/tfidf-no_test-seed0\n")
    assert read_record("runs/tfidf-no_test-seed0")["metrics"] == {}


def test_every_epoch_prints_a_line_of_scores(labkit: Labkit) -> None:
    done = labkit(*LEARNS, "--epochs", 3, "--seed", 4, "--out", "a/b", *SMALL)
    rows = load_run("a/b").history.rows
    # on a slow machine, progress lines appear between epochs
    lines = [line for line in done.err.splitlines() if re.match(r"epoch \d+, ", line)]
    assert [line.split(", ")[0] for line in lines] == ["epoch 1", "epoch 2", "epoch 3"]
    for line, row in zip(lines, rows, strict=True):
        said = {name: float(value) for name, value in (part.rsplit(" ", 1) for part in line.split(", "))}
        told = {name: value for name, value in row.items() if not name.startswith("probe_")}
        assert said == pytest.approx(told, rel=1e-3)
    assert (done.out.splitlines()[-1], read_record("a/b")["seed"]) == ("a/b", 4)


def test_a_run_serves_as_a_configuration(labkit: Labkit) -> None:
    more = ("--set", "learning_rate = 0.01", "--set", "tune=no")
    assert labkit(*LEARNS, "--epochs", 1, "--seed", 3, "--set", "margin=0.7", *more, *SMALL, "--out", "one").status == 0
    wanted = {"encoder": "mean", "dimension": 8, "size": 6, "batch": 8, "device": "cpu", "epochs": 1, "margin": 0.7}
    defaults = dataclasses.asdict(METHODS["siamese"].Settings())
    assert read_record("one")["settings"] == defaults | wanted | {"learning_rate": 0.01, "tune": False}
    for config, out in (("one/run.json", "two"), ("one", "three")):
        assert labkit("train", "--config", config, "--out", out).status == 0
        assert contents(Path(out)) == contents(Path("one"))
    changed = ("--config", "one/run.json", "--set", "margin=0.6", "--seed", 4, "--out", "four")
    assert labkit("train", "siamese", *changed).status == 0
    one, four = read_record("one"), read_record("four")
    assert four["settings"] == one["settings"] | {"margin": 0.6}
    assert four["seed"] == 4
    assert "METHOD" in labkit("train", "bag", "--config", "one/run.json").mistake()
    assert "METHOD" in labkit("train", "--corpus", "mine.csv").mistake()


def test_every_epoch_is_sent_to_a_tracker(labkit: Labkit, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a fake wandb; trackio has the same interface."""
    sent: list[Any] = []
    service = ModuleType("wandb")
    service.__spec__ = ModuleSpec("wandb", None)
    service.init = lambda **about: sent.append(about)
    service.log = lambda row, step: sent.append((step, row))
    service.finish = lambda: sent.append("finished")
    monkeypatch.setitem(sys.modules, "wandb", service)
    assert labkit(*LEARNS, "--epochs", 2, "--log", "wandb", *SMALL, "--out", "r").status == 0
    about, *rows, last = sent
    assert (about["project"], about["name"], last) == ("labkit", "r", "finished")
    assert about["config"]["epochs"] == 2
    assert [row for _, row in rows] == [dict(row) for row in load_run("r").history.rows]
    assert [step for step, _ in rows] == [1, 2]


def test_every_epoch_is_sent_to_tensorboard(labkit: Labkit) -> None:
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    assert labkit(*LEARNS, "--epochs", 2, "--log", "tensorboard", *SMALL, "--out", "r").status == 0
    events = EventAccumulator("r/tensorboard").Reload()
    assert [event.value for event in events.Scalars("loss")] == pytest.approx(load_run("r").history.column("loss"))


def test_a_missing_tracker_is_refused_before_training(labkit: Labkit) -> None:
    assert "--log" in labkit(*LEARNS, "--log", "paper").mistake()
    if find_spec("trackio") is None:
        assert "pip install trackio" in labkit(*LEARNS, "--log", "trackio").mistake()


def test_the_settings_of_a_method_are_listed(labkit: Labkit) -> None:
    for name in ("siamese", "lsa", "film"):
        found = dataclasses.fields(METHODS[name].Settings)
        records = labkit("train", name, "--settings", "--json").document()
        assert [(each["setting"], each["default"]) for each in records] == [(each.name, each.default) for each in found]
        lines = labkit("train", name, "--settings").out.splitlines()
        assert [line.split()[0] for line in lines[1:]] == [each.name for each in found]
    for entry in METHODS.values():
        assert entry.name in labkit("train", "--help").out


# --- errors ----------------------------------------------------------------------------------------------------------


def _full_gpu() -> None:
    raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB")


WISHES = [lambda: np.empty(2**50), lambda: torch.empty(2**50), _full_gpu]  # ask for more memory than there is


@pytest.mark.parametrize("wish", WISHES)
def test_a_run_is_saved_even_without_memory_for_scoring(
    labkit: Labkit, monkeypatch: pytest.MonkeyPatch, wish: Callable[[], Any]
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("labkit.evaluation.scores.score", lambda *_, **__: wish())
        done = labkit(*NO_EPOCHS, "--out", "r")
    assert (done.status, done.out) == (0, "r\n")
    assert (read_record("r")["metrics"], read_record("r")["state"]) == ({}, "finished")
    monkeypatch.setattr(METHODS["tfidf"], "_fit", lambda *_: wish())
    done = labkit(*NO_EPOCHS)
    assert (done.status, done.out, "Traceback" in done.err) == (2, "", False)
    assert list(Path("runs").iterdir()) == []  # no folder is left


def test_a_bug_raises_with_its_traceback(labkit: Labkit, monkeypatch: pytest.MonkeyPatch) -> None:
    """In scoring and in training."""
    for place in ("labkit.evaluation.scores.score", "labkit.baselines.counts.Tfidf._fit"):
        with monkeypatch.context() as patch:
            patch.setattr(place, lambda *_, **__: torch.zeros(2) @ torch.zeros(3))
            with pytest.raises(RuntimeError, match="size"):
                labkit(*NO_EPOCHS)


def test_other_processes_write_and_print_nothing(labkit: Labkit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "1")
    text = Path("mine.csv").read_text()
    Path("again.csv").write_text(text + text.split("\n")[1] + "\n")  # a repeated row, which is normally reported
    done = labkit("train", "siamese", "--corpus", "again.csv", "--epochs", 1, *SMALL)
    assert (done.status, done.out, done.err) == (0, "", "")
    assert not Path("runs").exists()


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("train", "sentpwnett", "--corpus", "mine.csv"), "'sentpwnet'"),
        (("train", "tfidf"), "--corpus"),
        (("train", "tfidf", "--corpus", "no_train.csv"), "'train'"),
        ((*NO_EPOCHS, "--set", "unit"), "--set"),
        ((*NO_EPOCHS, "--set", "min_count=2", "--set", "min_count=3"), "twice"),
        ((*NO_EPOCHS, "--epochs", "3"), "--epochs"),
        ((*NO_EPOCHS, "--out", "mine.csv/run"), "--out"),
        (("train", "siamese", "--corpus", "no_dev.csv", "--set", "patience=1"), "patience"),
        ((*NO_EPOCHS, "--processes", "2"), "--processes"),
        (("train", "siamese", "--corpus", "no_train.csv", "--processes", "2"), "'train'"),
    ],
)
def test_a_mistake_is_one_line_and_writes_nothing(labkit: Labkit, words: tuple[str, ...], named: str) -> None:
    write_pairs(Path("no_train.csv"), splits=("dev", "test"))
    write_pairs(Path("no_dev.csv"), splits=("train", "test"))
    before = sorted(Path().iterdir())
    assert named in labkit(*words).mistake()
    assert sorted(Path().iterdir()) == before


# --- stopping and resuming -------------------------------------------------------------------------------------------


def stopping_in(epoch: int) -> Any:
    """A terminal whose user presses Ctrl-C in the middle of this epoch."""

    @contextmanager
    def terminal(unit: str = "") -> Iterator[Progress]:
        def draw(done: int, total: int | None, what: str) -> None:
            if what.startswith(f"epoch {epoch} ") and total and done > total * (epoch - 0.5) / 4:
                raise KeyboardInterrupt

        yield draw

    return terminal


@pytest.fixture
def stop(labkit: Labkit, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """A function that calls the program and presses Ctrl-C in the given epoch."""

    def call(epoch: int, *words: object) -> Any:
        with monkeypatch.context() as here:
            here.setattr(command, "terminal", stopping_in(epoch))
            done = labkit(*words)
        assert (done.status, done.out) == (130, "")
        return done

    return call


@pytest.mark.whole
def test_the_printed_command_resumes_to_the_same_result(labkit: Labkit, stop: Callable[..., Any]) -> None:
    training = (*TRAINING, "--seed", "5")
    assert labkit(*training, "--out", "whole").status == 0
    last = stop(3, *training, "--out", "my run").err.splitlines()[-1]
    assert load_run("my run").encode(["the cat sleeps"]).shape == (1, 6)
    assert read_record("my run")["state"] == "training"
    assert "--resume" in labkit(*training, "--out", "my run").mistake()
    assert "seed" in labkit(*TRAINING, "--out", "my run", "--resume").err
    _, *words = shlex.split(last.split("`")[1])
    assert labkit(*words).status == 0
    assert contents("my run") == contents("whole")


def test_resume_scores_a_run_that_was_interrupted_while_scoring(labkit: Labkit) -> None:
    figures = labkit(*NO_EPOCHS, *RESUME).out.splitlines()[0]
    folder = "runs/tfidf-mine-seed0"
    whole = contents(folder)
    assert labkit(*NO_EPOCHS, *RESUME).out == f"{folder}\n"
    write_run(load_run(folder).run("finished"), folder)  # without scores
    assert labkit(*NO_EPOCHS, *RESUME).out == f"{figures}\n{folder}\n"
    assert contents(folder) == whole
    assert labkit(*NO_EPOCHS, *RESUME, "--seed", 1, "--out", folder).status == 2  # the seed differs


def test_interrupted_before_saving_or_while_scoring(labkit: Labkit, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(METHODS["tfidf"], "_fit", interrupted)
        assert labkit(*NO_EPOCHS, "--out", "r").status == 130
        assert not Path("r").exists()
        patch.setenv("RANK", "1")
        done = labkit(*NO_EPOCHS, "--out", "r")
        assert (done.status, done.err) == (130, "")  # only the first process prints
        patch.delenv("RANK")
        assert labkit(*NO_EPOCHS).status == 130
        assert list(Path("runs").iterdir()) == []  # the default folder is removed, too
    monkeypatch.setattr("labkit.evaluation.scores.score", interrupted)
    done = labkit(*NO_EPOCHS, "--out", "r")
    assert done.status == 130
    assert "`labkit evaluate r`" in done.err
    assert read_record("r")["state"] == "finished"


def test_several_processes_are_named_in_the_command(
    labkit: Labkit, stop: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORLD_SIZE", "1")
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "1")
    assert "`torchrun --nproc-per-node 1 -m labkit train" in stop(2, *TRAINING, "--out", "r").err
    said = stop(2, *TRAINING, "--out", "again", "--processes", "1").err
    assert "`labkit train sentpwnet" in said
    assert "--out again --processes 1 --resume`" in said
    monkeypatch.setenv("WORLD_SIZE", "3")
    assert "--processes" in labkit(*TRAINING, "--processes", "2").mistake()


@pytest.mark.whole
def test_a_damaged_checkpoint_is_refused(labkit: Labkit, stop: Callable[..., Any]) -> None:
    stop(2, *TRAINING, "--out", "cut")
    checkpoint = Path("cut", CHECKPOINT)
    checkpoint.write_bytes(checkpoint.read_bytes()[:-1])
    before = contents("cut")
    assert "--resume" in labkit(*TRAINING, "--out", "cut").mistake()
    done = labkit(*TRAINING, "--out", "cut", *RESUME)
    assert (done.status, CHECKPOINT in done.err) == (2, True)
    assert contents("cut") == before
    checkpoint.unlink()  # as the message suggests
    assert labkit(*TRAINING, "--out", "cut", *RESUME).status == 0


def test_a_folder_in_which_another_process_trains(labkit: Labkit) -> None:
    """This process holds the locks; it makes no difference which process does."""
    with locked("new"):
        for more in ((), RESUME):
            assert "'new'" in labkit(*NO_EPOCHS, "--out", "new", *more).mistake()
    assert not Path("new").exists()
    assert labkit(*NO_EPOCHS, "--out", "r").status == 0
    write_run(load_run("r").run("training"), "r")
    Path("in.txt").write_text("a dog\n")
    encode = ("encode", "r", "--input", "in.txt", "--output", "v.npz", "--force")
    with locked("r"), locked("young"):
        write_checkpoint("young", {}, {})
        for words in (("evaluate", "r"), encode, ("compare", "r")):
            busy = labkit(*words)
            assert (busy.status, "r is " in busy.err) == (0, True)  # each command says so
            assert "'young'" in labkit(words[0], "young", *words[2:]).mistake()
    assert labkit("compare", "r").err not in ("", busy.err)  # unfinished, but not being trained


# --- several processes -----------------------------------------------------------------------------------------------


TRIPLETS = ("data", "make", "triplets", "--articles", "articles", "--out", "shards", "--format", "parquet", "--force")


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("--processes", ("train", "siamese", "--corpus", "questions", "--processes", 99_999)),
        ("executor", (*TRIPLETS, "--executor", "local:99999")),
        ("executor", ("data", "dedup", "shards", "--out", "shards", "--force", "--executor", "local:99999")),
        ("executor", ("encode", "run", "shards", "--out", "shards", "--force", "--executor", "local:99999")),
    ],
)
def test_too_many_processes_are_refused(
    labkit: Labkit, monkeypatch: pytest.MonkeyPatch, option: str, words: tuple[object, ...]
) -> None:
    def start(*_: object, **__: object) -> None:
        pytest.fail("a process was started")

    monkeypatch.setattr("torch.distributed.run.run", start)
    monkeypatch.setattr("labkit.scale.ProcessPoolExecutor", start)
    Path("shards").mkdir()
    Path("shards/manifest.json").write_text("{}", encoding="utf-8")
    said = labkit(*words).mistake()
    assert option in said
    assert "99999" in said
    assert Path("shards/manifest.json").is_file()


def test_four_processes_per_core_are_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    for count in (1, 8):
        check_processes("--processes", count)
    for count in (0, 9):
        with pytest.raises(ValueError, match="--processes"):
            check_processes("--processes", count)
        with pytest.raises(ValueError, match="workers"):
            scale.each(print, {}, workers=count)


@pytest.mark.whole
def test_the_launcher_leaves_no_temporary_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)}
    try:
        assert command.launched(1, ["--version"]) == 0
    finally:  # the launcher leaves its signal handlers installed
        for sign, handler in before.items():
            signal.signal(sign, handler)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.whole
def test_a_signal_writes_a_checkpoint(labkit: Labkit) -> None:
    """At the current batch; the last periodic checkpoint may be a minute old."""
    with subprocess.Popen([sys.executable, "-m", "labkit", *SLOW], stderr=subprocess.PIPE, text=True) as process:
        until(lambda: process.poll() is not None or Path("r/run.json").is_file())  # an epoch is done
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=HANG)
    assert process.returncode == 143
    assert "Traceback" not in said
    assert said.splitlines()[-1].count("--out r --resume`") == 1
    assert load_run("r").encode(["a dog"]).shape == (1, 6)
    assert not list(Path("r").glob(".*"))


def children(pid: int) -> list[int]:
    """The ids of the processes that this process has started."""
    said = subprocess.run(["ps", "-e", "-o", "ppid=,pid="], capture_output=True, text=True, check=True).stdout
    return [int(child) for parent, child in map(str.split, said.splitlines()) if int(parent) == pid]


@pytest.mark.weekly
@pytest.mark.parametrize(("sign", "status"), [("SIGINT", 130), ("SIGKILL", 2)])
def test_two_processes_end_like_one(labkit: Labkit, sign: str, status: int) -> None:
    """After Ctrl-C, or when one of its processes is killed."""
    start = [sys.executable, "-m", "labkit", *SLOW, "--processes", "2"]
    with subprocess.Popen(start, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        until(lambda: Path("r/run.json").is_file() or process.poll() is not None)
        whom = process.pid if sign == "SIGINT" else children(process.pid)[-1]
        os.kill(whom, getattr(signal, sign))
        out, said = process.communicate(timeout=HANG)
    assert (process.returncode, out) == (status, "")
    assert "Traceback" not in said
    lines = [line for line in said.splitlines() if line.startswith("labkit: ")]
    if sign == "SIGINT":
        assert len(lines) == 1
        assert all(part in lines[0] for part in ("--processes 2", "--out r", "--resume`"))
    else:
        assert "SIGKILL" in lines[-1]
    assert load_run("r").encode(["a dog"]).shape == (1, 6)
    assert read_record("r")["processes"] == 2


@pytest.mark.whole
def test_a_signal_to_several_processes(labkit: Labkit) -> None:
    """Sent to all of them, as torchrun does: none waits for another, and only one prints."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    several = {"WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    environment = os.environ | several | {"GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"}
    start = [sys.executable, "-m", "labkit", *SLOW]
    processes = [
        subprocess.Popen(start, env=environment | {"RANK": rank}, stdout=DEVNULL, stderr=subprocess.PIPE, text=True)
        for rank in "01"
    ]
    try:
        until(lambda: any(each.poll() is not None for each in processes) or Path("r/run.json").is_file())
        for process in processes[::-1]:
            process.send_signal(signal.SIGTERM)
        said = [process.communicate(timeout=HANG)[1] for process in processes]
    finally:
        for process in processes:
            process.kill()
    assert [process.returncode for process in processes] == [143, 143], said
    assert said[1] == ""
    assert "Traceback" not in said[0]
    assert read_checkpoint("r") is not None

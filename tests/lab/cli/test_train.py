"""`labkit train`: what it writes, what it says, how it is stopped and taken up again."""

from __future__ import annotations

import dataclasses
import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import DEVNULL
from typing import Any

import numpy as np
import pytest
import torch

import labkit.lab.cli.train as command
from labkit.corpora import load as load_corpus
from labkit.evaluation.scores import score
from labkit.locks import Hold
from labkit.methods import METHODS, load
from labkit.progress import Progress
from labkit.runs import BEFORE, CHECKPOINT, read_checkpoint, read_record, write_checkpoint, write_run
from tests.waiting import HANG, until

from .conftest import SMALL, Labkit, contents, write_pairs


def _full_gpu() -> None:
    raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB")


#: more memory than there is, wished for in two libraries, and what torch says of a full GPU
WISHES = [
    lambda: np.empty(2**50),
    lambda: torch.empty(2**50),
    _full_gpu,
]


class TestARun:
    def test_of_a_method_without_epochs(self, labkit: Labkit) -> None:
        done = labkit("train", "tfidf", "--corpus", "mine.csv", "--device", "cpu")
        assert done.status == 0
        folder = "runs/tfidf-mine-seed0"
        found = score(load(folder), load_corpus("mine.csv"))
        assert done.out == f"{str(found).replace('mine (', 'mine.csv (')}\n{folder}\n"
        record = read_record(folder)
        assert record["metrics"] == {"mine.csv/test": pytest.approx(dict(found.figures))}
        assert (record["corpus"], record["seed"], record["state"]) == ("mine.csv", 0, "finished")
        assert done.err == (
            "tfidf on Pairs('mine.csv', 96 rows: train 48, dev 24, test 24), seed 0, into runs/tfidf-mine-seed0\n"
        )

    def test_every_epoch_is_a_line(self, labkit: Labkit) -> None:
        done = labkit("train", "siamese", "--corpus", "mine.csv", "--epochs", 3, "--seed", 4, "--out", "a/b", *SMALL)
        assert done.status == 0
        rows = load("a/b").history.rows
        assert len(rows) == 3
        lines = done.err.splitlines()[1:]
        assert [line.split(", ")[0] for line in lines] == ["epoch 1", "epoch 2", "epoch 3"]
        for line, row in zip(lines, rows, strict=True):
            said = dict(part.rsplit(" ", 1) for part in line.split(", "))
            told = {name: value for name, value in row.items() if not name.startswith("probe_")}  # the rest is shown
            assert {"probe_map@r", "probe_uniformity"} < row.keys() - told.keys()
            assert said.keys() == told.keys()
            assert {name: float(value) for name, value in said.items()} == pytest.approx(told, rel=1e-3)
        assert done.out.splitlines()[-1] == "a/b"

    def test_settings_are_those_asked_for(self, labkit: Labkit) -> None:
        words = ("--set", "encoder=mean", "--set", "learning_rate = 0.01", "--set", "tune=no", "--epochs", 1)
        assert labkit("train", "triplet", "--corpus", "mine.csv", "--out", "r", "--device", "cpu", *words).status == 0
        settings = read_record("r")["settings"]
        wanted = {"encoder": "mean", "learning_rate": 0.01, "tune": False, "epochs": 1, "device": "cpu"}
        assert settings == dataclasses.asdict(METHODS["triplet"].method.Settings()) | wanted

    def test_without_out_no_folder_is_taken_twice(self, labkit: Labkit) -> None:
        for ending in ("", "-2", "-3"):
            done = labkit("train", "tfidf", "--corpus", "mine.csv", "--seed", 7)
            assert done.out.splitlines()[-1] == f"runs/tfidf-mine-seed7{ending}"
            assert Path(f"runs/tfidf-mine-seed7{ending}/run.json").is_file()

    def test_two_with_one_seed_are_identical(self, labkit: Labkit) -> None:
        for folder in ("one", "two", "three"):
            seed = 1 if folder == "three" else 0
            words = ("--corpus", "mine.csv", "--seed", seed, "--epochs", 2, "--out", folder, *SMALL)
            assert labkit("train", "sentpwnet", *words).status == 0
        assert contents("one") == contents("two")
        assert contents("one")["model.safetensors"] != contents("three")["model.safetensors"]

    def test_without_test_split_it_is_a_run_all_the_same(self, labkit: Labkit) -> None:
        write_pairs(Path("no_test.csv"), splits=("train", "dev"))
        done = labkit("train", "tfidf", "--corpus", "no_test.csv")
        assert done.status == 0
        assert "labkit: note: the run is complete, but has no test figures: corpus 'no_test.csv' has no" in done.err
        assert done.out == "runs/tfidf-no_test-seed0\n"
        assert read_record("runs/tfidf-no_test-seed0")["metrics"] == {}

    @pytest.mark.parametrize("wish", WISHES)
    def test_without_memory_for_figures_it_is_a_run_all_the_same(
        self, labkit: Labkit, monkeypatch: pytest.MonkeyPatch, wish: Callable[[], Any]
    ) -> None:
        monkeypatch.setattr("labkit.evaluation.scores.score", lambda *_, **__: wish())
        done = labkit("train", "tfidf", "--corpus", "mine.csv", "--out", "r")
        assert (done.status, done.out) == (0, "r\n")
        said = done.err.splitlines()[1]
        assert said.startswith(
            "labkit: note: the run is complete, but has no test figures: there is not enough memory ("
        )
        assert "; give fewer rows, a smaller batch or shorter vectors" in said
        assert (read_record("r")["metrics"], read_record("r")["state"]) == ({}, "finished")

    @pytest.mark.parametrize("wish", WISHES)
    def test_without_memory_to_learn_it_is_a_sentence(
        self, labkit: Labkit, monkeypatch: pytest.MonkeyPatch, wish: Callable[[], Any]
    ) -> None:
        monkeypatch.setattr(METHODS["tfidf"].method, "_fit", lambda *_: wish())
        done = labkit("train", "tfidf", "--corpus", "mine.csv", "--out", "r")
        assert (done.status, done.out) == (2, "")
        assert done.err.splitlines()[-1].startswith("labkit: there is not enough memory (")

    def test_another_fault_of_the_program_is_shown_whole(self, labkit: Labkit, monkeypatch: pytest.MonkeyPatch) -> None:
        for module, name in (("labkit.evaluation.scores", "score"), ("labkit.runs", "add_metrics")):
            monkeypatch.setattr(f"{module}.{name}", lambda *_, **__: torch.zeros(2) @ torch.zeros(3))
            with pytest.raises(RuntimeError, match="size"):
                labkit("train", "tfidf", "--corpus", "mine.csv")

    def test_other_processes_write_and_say_nothing(self, labkit: Labkit, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("RANK", "1")
        write_pairs(Path("again.csv"))
        Path("again.csv").write_text(Path("again.csv").read_text() + Path("mine.csv").read_text().split("\n")[1] + "\n")
        done = labkit("train", "siamese", "--corpus", "again.csv", "--epochs", 1, *SMALL)  # has a repeated row to note
        assert (done.status, done.out, done.err) == (0, "", "")
        assert not Path("runs").exists()


class TestHelp:
    def test_names_every_method(self, labkit: Labkit) -> None:
        said = " ".join(labkit("train", "--help").out.split())
        for entry in METHODS.values():
            assert f"{entry.name} {entry.summary}" in said

    @pytest.mark.parametrize("name", METHODS)
    def test_settings_are_listed(self, labkit: Labkit, name: str) -> None:
        lines = labkit("train", name, "--settings").out.splitlines()
        found = dataclasses.fields(METHODS[name].method.Settings)
        if not found:
            assert lines == [f"{name} has no settings."]
            return
        assert [line.split()[0] for line in lines] == ["setting", *(each.name for each in found)]
        for line, each in zip(lines[1:], found, strict=True):
            assert each.metadata["what"] in line
            assert all(choice in line for choice in each.metadata["choices"])

    def test_bounds_are_said(self, labkit: Labkit) -> None:
        said = {
            line.split()[0]: " ".join(line.split()) for line in labkit("train", "lsa", "--settings").out.splitlines()
        }
        dropout = labkit("train", "siamese", "--settings").out
        assert "number from 0 to 0.95" in dropout
        assert "yes | no" in dropout
        assert "number above 0" in dropout
        assert "whole number from" in "".join(said.values())


NO_EPOCHS = ("train", "tfidf", "--corpus", "mine.csv")
LEARNS = ("train", "siamese", "--corpus", "mine.csv")


class TestMistakes:
    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (("train", "sentpwnett", "--corpus", "mine.csv"), "did you mean 'sentpwnet'?"),
            (("train", "zzz", "--corpus", "mine.csv"), "expected one of sentpwnet,"),
            (("train",), "Missing argument"),
            (("train", "tfidf"), "--corpus is missing"),
            (("train", "tfidf", "--corpus", "qestions"), "did you mean 'questions'?"),
            (("train", "tfidf", "--corpus", "gone.csv"), "gone.csv does not exist"),
            (("train", "tfidf", "--corpus", "no_train.csv"), "has no row in split 'train'"),
            ((*NO_EPOCHS, "--set", "unit"), "--set is 'unit', expected KEY=VALUE"),
            ((*NO_EPOCHS, "--set", "=words"), "--set is '=words', expected KEY=VALUE"),
            ((*NO_EPOCHS, "--set", "unti=words"), "did you mean 'unit'?"),
            ((*NO_EPOCHS, "--set", "unit=x"), "setting unit is 'x', expected one of words, characters"),
            ((*NO_EPOCHS, "--set", "least=0"), "setting least is 0, expected at least 1"),
            ((*NO_EPOCHS, "--set", "least=many"), "expected a whole number"),
            ((*NO_EPOCHS, "--set", "least=2", "--set", "least=3"), "--set gives least twice"),
            ((*NO_EPOCHS, "--epochs", "3"), "--epochs is 3, but tfidf does not learn in epochs"),
            ((*NO_EPOCHS, "--device", "cuda"), "--device is cuda, but tfidf computes on the CPU only"),
            ((*NO_EPOCHS, "--seed", "-1"), "--seed"),
            ((*NO_EPOCHS, "--seed", "x"), "--seed"),
            ((*NO_EPOCHS, "--out", "mine.csv"), "--out is 'mine.csv', where no folder can be made"),
            ((*NO_EPOCHS, "--out", "mine.csv/run"), "where no folder can be made"),
            ((*NO_EPOCHS, "--resume"), "--resume needs --out"),
            ((*NO_EPOCHS, "--resume", "--out", "new"), "holds no interrupted training: there is nothing to resume"),
            ((*LEARNS, "--epochs", "-1"), "setting epochs is -1, expected at least 0"),
            ((*LEARNS, "--device", "tpu"), "setting device is 'tpu', expected one of auto, cpu"),
            ((*LEARNS, "--epochs", "2", "--set", "epochs=3"), "say the same thing twice"),
            (
                ("train", "film", "--corpus", "mine.csv", "--epochs", "50"),
                "setting epochs is 50, but changes nothing here: it counts only with batch above 0; leave it out",
            ),
            ((*LEARNS, "--set", "alpha=2"), "it counts only with loss=locality; leave it out"),
            ((*LEARNS, "--set", "per_class=2"), "it counts only with classes or groups; leave it out"),
            ((*LEARNS, "--set", "half=no", "--device", "cpu"), "it counts only with device=auto or cuda; leave it out"),
            ((*LEARNS, "--epochs", "0", "--set", "clip=1"), "it counts only with epochs above 0; leave it out"),
            (("train", "pv-dbow", "--corpus", "mine.csv", "--set", "half=yes"), "it counts in other methods only"),
            (("train", "siamese", "--corpus", "no_dev.csv", "--set", "patience=1"), "it counts only with a dev split"),
            ((*NO_EPOCHS, "--processes", "2"), "--processes is 2, but tfidf does not learn by gradients"),
            ((*LEARNS, "--processes", "0"), "--processes"),
            (("train", "siamese", "--corpus", "qestions", "--processes", "2"), "did you mean 'questions'?"),
            ((*LEARNS, "--processes", "2", "--set", "size=many"), "expected a whole number"),
            (("train", "siamese", "--corpus", "no_train.csv", "--processes", "2"), "has no row in split 'train'"),
        ],
    )
    def test_is_one_line_and_writes_nothing(self, labkit: Labkit, words: tuple[str, ...], said: str) -> None:
        write_pairs(Path("no_train.csv"), splits=("dev", "test"))
        write_pairs(Path("no_dev.csv"), splits=("train", "test"))
        before = sorted(Path().iterdir())
        done = labkit(*words)
        assert said in done.mistake()
        assert sorted(Path().iterdir()) == before

    def test_a_finished_run_is_not_written_over(self, labkit: Labkit) -> None:
        assert labkit(*NO_EPOCHS, "--out", "r").status == 0
        before = contents("r")
        done = labkit(*NO_EPOCHS, "--out", "r")
        assert done.status == 2
        assert "holds a run of tfidf already" in done.err
        assert (
            "holds a finished run: there is nothing to resume" in labkit(*NO_EPOCHS, "--out", "r", "--resume").mistake()
        )
        assert contents("r") == before

    def test_a_place_without_leave_to_write(self, labkit: Labkit, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(os, "access", lambda path, mode: False)
        assert "where no folder can be made or written into" in labkit(*NO_EPOCHS, "--out", "r").mistake()


# --- stopping and going on -------------------------------------------------------------------------------------

TRAINING = ("train", "sentpwnet", "--corpus", "mine.csv", "--epochs", "4", "--set", "patience=0", *SMALL)


def children(pid: int) -> list[int]:
    """The processes that this one has started."""
    said = subprocess.run(["ps", "-e", "-o", "ppid=,pid="], capture_output=True, text=True, check=True).stdout
    return [int(child) for parent, child in map(str.split, said.splitlines()) if int(parent) == pid]


def stopping_in(epoch: int) -> Any:
    """A terminal whose user presses Ctrl-C in the middle of this epoch."""

    @contextmanager
    def terminal(unit: str = "") -> Iterator[Progress]:
        def draw(done: int, total: int | None, what: str) -> None:
            if what.startswith(f"epoch {epoch} ") and total and done > total * (epoch - 0.5) / 4:
                raise KeyboardInterrupt

        yield draw

    return terminal


class TestStopping:
    def test_the_command_it_says_goes_on_to_the_same_end(self, labkit: Labkit, monkeypatch: pytest.MonkeyPatch) -> None:
        assert labkit(*TRAINING, "--out", "whole").status == 0
        with monkeypatch.context() as here:
            here.setattr(command, "terminal", stopping_in(3))
            done = labkit(*TRAINING, "--out", "my run")
        assert (done.status, done.out) == (130, "")
        last = done.err.splitlines()[-1]
        assert last.startswith(f"labkit: stopped; the last checkpoint is my run/{CHECKPOINT}; `labkit train ")
        assert [line.split(",")[0] for line in done.err.splitlines()[1:-1]] == ["epoch 1", "epoch 2"]
        assert load("my run").encode(["the cat sleeps"]).shape == (1, 6)
        assert read_record("my run")["state"] == "training"

        assert "add --resume to go on" in labkit(*TRAINING, "--out", "my run").mistake()
        _, *words = shlex.split(last.split("`")[1])
        assert labkit(*words).status == 0
        assert contents("my run") == contents("whole")

    def test_before_anything_was_kept(self, labkit: Labkit, monkeypatch: pytest.MonkeyPatch) -> None:
        def interrupted(*_: Any, **__: Any) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(METHODS["tfidf"].method, "_fit", interrupted)
        done = labkit(*NO_EPOCHS, "--out", "r")
        assert done.status == 130
        assert done.err.splitlines()[-1] == "labkit: stopped before there was a checkpoint; nothing is kept"
        assert not Path("r").exists()
        monkeypatch.setenv("RANK", "1")
        done = labkit(*NO_EPOCHS, "--out", "r")
        assert (done.status, done.err) == (130, "")  # the first process speaks for all

    def test_while_scoring(self, labkit: Labkit, monkeypatch: pytest.MonkeyPatch) -> None:
        def interrupted(*_: Any, **__: Any) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr("labkit.evaluation.scores.score", interrupted)
        done = labkit(*NO_EPOCHS, "--out", "r")
        assert done.status == 130
        assert done.err.endswith("stopped; the training is finished: `labkit evaluate r` gives its figures\n")
        assert read_record("r")["state"] == "finished"

    def test_another_training_does_not_go_on_there(self, labkit: Labkit, monkeypatch: pytest.MonkeyPatch) -> None:
        with monkeypatch.context() as here:
            here.setattr(command, "terminal", stopping_in(2))
            labkit(*TRAINING, "--out", "r")
        done = labkit(*TRAINING, "--out", "r", "--resume", "--seed", "9")
        assert done.status == 2
        assert "another seed" in done.err

    def test_several_processes_are_named_in_the_command(self, labkit: Labkit, monkeypatch: pytest.MonkeyPatch) -> None:
        with monkeypatch.context() as here:
            here.setattr(command, "terminal", stopping_in(2))
            here.setenv("WORLD_SIZE", "1")
            here.setenv("LOCAL_WORLD_SIZE", "1")
            said = labkit(*TRAINING, "--out", "r").err
            again = labkit(*TRAINING, "--out", "again", "--processes", "1").err
        assert "`torchrun --nproc-per-node 1 -m labkit train sentpwnet" in said
        assert "`labkit train sentpwnet" in again
        assert "--processes 1 --out again --resume` goes on" in again

    def test_processes_that_torchrun_has_started_already(self, labkit: Labkit, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("WORLD_SIZE", "3")
        said = labkit(*TRAINING, "--processes", "2").mistake()
        assert "--processes is 2, but torchrun has started 3; leave it out, or leave out torchrun" in said

    @pytest.mark.whole
    @pytest.mark.parametrize(("sign", "status"), [("SIGINT", 130), ("SIGKILL", 2)])
    def test_two_processes_leave_as_one_does(self, labkit: Labkit, sign: str, status: int) -> None:
        """Ctrl-C to the program; or one of its processes is lost."""
        words = [*TRAINING[:4], "--epochs", "2000", *TRAINING[6:], "--out", "r", "--processes", "2"]
        start = [sys.executable, "-m", "labkit", *words]
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
            assert lines[0].startswith("labkit: stopped; the last checkpoint is r/")
            assert lines[0].endswith("--processes 2 --out r --resume` goes on")
        else:
            assert "was ended by SIGKILL, expected all to come to the end" in lines[-1]
        assert load("r").encode(["a dog"]).shape == (1, 6)
        assert read_record("r")["processes"] == 2

    @pytest.mark.whole
    def test_two_processes_train_a_base_and_what_stands_on_it(self, labkit: Labkit) -> None:
        words = ["train", "film-deep", "--corpus", "mine.csv", "--epochs", "1", "--set", "base=siamese"]
        start = [sys.executable, "-m", "labkit", *words, "--set", "filters=2", "--out", "r", "--processes", "2"]
        done = subprocess.run(start, capture_output=True, text=True, timeout=HANG)
        assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "r"), done.stderr
        assert read_record("r")["processes"] == 2

    @pytest.mark.whole
    def test_ctrl_c_to_a_process(self, labkit: Labkit) -> None:
        words = [*TRAINING[:4], "--epochs", "2000", *TRAINING[6:], "--out", "r"]
        start = [sys.executable, "-m", "labkit", *words]
        with subprocess.Popen(start, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            while not Path("r/run.json").is_file():  # an epoch is done
                assert process.poll() is None
                time.sleep(0.02)
            process.send_signal(signal.SIGINT)
            out, said = process.communicate(timeout=HANG)
        assert process.returncode == 130
        assert out == ""
        assert "Traceback" not in said
        assert said.splitlines()[-1].startswith("labkit: stopped; the last checkpoint is r/")
        assert load("r").encode(["a dog"]).shape == (1, 6)
        assert not [path for path in Path("r").iterdir() if path.name.startswith(".")]


@pytest.mark.whole
def test_a_signal_to_several_processes(labkit: Labkit) -> None:
    """As torchrun sends it, to all: none is left waiting for another, and one of them speaks."""
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
    assert "goes on" in said[0].splitlines()[-1]
    assert "Traceback" not in said[0]
    assert read_checkpoint("r") is not None


# --- several at once -------------------------------------------------------------------------------------------

# Copies of one process that has all imported, each a command line; they begin together when the pipe is closed.
AT_ONCE = """
import json, os, sys
import labkit.methods, labkit.evaluation.scores, labkit.lab.cli.main, tqdm, sklearn.feature_extraction.text
commands, go, ready = json.loads(sys.argv[1]), *os.pipe()
children = []
for number, words in enumerate(commands):
    children.append(os.fork())
    if not children[-1]:
        os.close(ready)
        for name, place in (("said", 2), ("out", 1)):
            os.dup2(os.open(f"{name}-{number}", os.O_CREAT | os.O_WRONLY | os.O_TRUNC), place)
        os.read(go, 1)
        sys.argv = ["labkit", *words]
        try:
            labkit.lab.cli.main.main()
        except SystemExit as left:
            sys.stdout.flush()
            os._exit(left.code or 0)
os.close(ready)
print(json.dumps([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]))
"""


def at_once(*commands: tuple[str, ...]) -> list[tuple[int, str, str]]:
    """Status, output and what was said of command lines that begin together."""
    done = subprocess.run(
        [sys.executable, "-c", AT_ONCE, json.dumps(commands)],
        capture_output=True,
        text=True,
        timeout=HANG,
        env=os.environ | {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE"},
    )
    assert done.returncode == 0, done.stderr
    statuses = json.loads(done.stdout)
    return [
        (status, Path(f"out-{number}").read_text(), Path(f"said-{number}").read_text())
        for number, status in enumerate(statuses)
    ]


@pytest.mark.whole
class TestManyAtOnce:
    def test_each_has_a_folder_of_its_own(self, labkit: Labkit) -> None:
        found = at_once(*[NO_EPOCHS] * 16, *[(*LEARNS, "--epochs", "2", *SMALL)] * 4)
        assert [status for status, _, _ in found] == [0] * 20
        folders = {out.splitlines()[-1] for _, out, _ in found}
        assert folders == {str(path) for path in Path("runs").iterdir()}
        assert len(folders) == 20
        for folder in folders:
            assert read_record(folder)["metrics"]
            assert load(folder).encode(["a dog"]).shape[0] == 1
            assert not list(Path(folder).glob(".*"))

    @pytest.mark.parametrize("words", [NO_EPOCHS, (*LEARNS, "--epochs", "2", *SMALL)])
    def test_one_has_the_named_folder_and_the_others_are_told(self, labkit: Labkit, words: tuple[str, ...]) -> None:
        assert labkit(*words, "--out", "alone").status == 0
        found = at_once(*[(*words, "--out", "r")] * 8)
        assert sorted(status for status, _, _ in found) == [0] + [2] * 7
        for status, _, said in found:
            last = said.splitlines()[-1]
            assert status == 0 or "is being trained" in last or "holds a" in last, said
            assert "Traceback" not in said
        assert contents("r") == contents("alone")

    def test_of_those_that_may_find_it_finished_one_trains(self, labkit: Labkit) -> None:
        found = at_once(*[(*NO_EPOCHS, "--resume", "auto")] * 8)
        assert [path.name for path in Path("runs").iterdir()] == ["tfidf-mine-seed0"]
        for status, out, said in found:
            last = said.splitlines()[-1]
            assert "is being trained" in last if status else out.endswith("runs/tfidf-mine-seed0\n"), said
        assert sum(", into runs/" in said for _, _, said in found) == 1
        assert read_record("runs/tfidf-mine-seed0")["metrics"]


class TestBeingTrained:
    """In this process: a lock knows nothing of who asks."""

    def test_the_folder_is_refused_at_once(self, labkit: Labkit) -> None:
        with Hold("r"):
            for more in ((), ("--resume",), ("--resume", "auto")):
                said = labkit(*NO_EPOCHS, "--out", "r", *more).mistake()
                assert said.startswith(f"--out 'r' is being trained by process {os.getpid()} on ")
                assert said.endswith("; wait for it, or name another folder")
        assert not Path("r").exists()

    def test_it_is_not_called_interrupted(self, labkit: Labkit) -> None:
        assert labkit(*NO_EPOCHS, "--out", "r").status == 0
        write_run(load("r").run("training"), "r")
        Path("in.txt").write_text("a dog\n")
        asked = (
            ("evaluate", "r"),
            ("encode", "r", "--input", "in.txt", "--output", "v.npz", "--force"),
            ("compare", "r"),
        )
        with Hold("r"), Hold("young"):
            write_checkpoint("young", {}, {})
            for words in asked:
                done = labkit(*words)
                assert done.status == 0
                assert f"r is being trained by process {os.getpid()} on " in done.err
                assert "this is what it knows so far" in done.err
                assert "interrupted" not in done.err
                assert "not finished" not in done.err
                said = labkit(words[0], "young", *words[2:]).mistake()
                assert "run 'young' is being trained by process" in said
                assert "nothing to use yet; wait for it" in said
        assert "not finished" in labkit("evaluate", "r").err

    def test_who_gets_no_corpus_takes_no_folder(self, labkit: Labkit, monkeypatch: pytest.MonkeyPatch) -> None:
        def fails(*_: Any, **__: Any) -> None:
            raise ValueError("no")

        monkeypatch.setattr(METHODS["tfidf"].method, "_fit", fails)
        assert labkit(*NO_EPOCHS).status == 2
        assert not Path("runs").exists()


class TestResumeAuto:
    AUTO = ("--resume", "auto")

    def test_begins_goes_on_and_is_finished(self, labkit: Labkit, monkeypatch: pytest.MonkeyPatch) -> None:
        assert labkit(*TRAINING, "--out", "whole").status == 0
        words = (*TRAINING, "--out", "r", *self.AUTO)
        for epoch in (2, 3):
            with monkeypatch.context() as here:
                here.setattr(command, "terminal", stopping_in(epoch))
                assert labkit(*words).status == 130
        assert read_record("r")["state"] == "training"
        done = labkit(*words)
        assert done.status == 0
        assert done.out.splitlines()[-1] == "r"
        assert contents("r") == contents("whole")
        done = labkit(*words)
        assert (done.status, done.out) == (0, "r\n")
        assert "seed 0, is finished in r\nits figures are in r/run.json\n" in done.err
        assert contents("r") == contents("whole")

    def test_without_out_it_is_the_folder_of_that_name(self, labkit: Labkit) -> None:
        for more in (self.AUTO, ("--resume=auto",)):
            assert labkit(*NO_EPOCHS, *more).out.endswith("runs/tfidf-mine-seed0\n")
        assert [path.name for path in Path("runs").iterdir()] == ["tfidf-mine-seed0"]
        said = labkit(*NO_EPOCHS, *self.AUTO, "--set", "least=2").err
        assert "runs/tfidf-mine-seed0' holds a finished training with another settings" in said

    def test_stopped_while_scoring_it_is_scored(self, labkit: Labkit) -> None:
        figures = labkit(*NO_EPOCHS, "--out", "whole").out.splitlines()[0]
        labkit(*NO_EPOCHS, "--out", "r")
        write_run(load("r").run("finished"), "r")  # without figures
        done = labkit(*NO_EPOCHS, "--out", "r", *self.AUTO)
        assert done.out == f"{figures}\nr\n"
        assert contents("r") == contents("whole")

    def test_alone_and_before_other_words(self, labkit: Labkit, monkeypatch: pytest.MonkeyPatch) -> None:
        with monkeypatch.context() as here:
            here.setattr(command, "terminal", stopping_in(2))
            labkit(*TRAINING, "--out", "r")
        assert labkit("train", "--resume", *TRAINING[1:], "--out", "r").status == 0
        said = labkit(*NO_EPOCHS, "--out", "r", "--resume=no").mistake()
        assert said == "--resume is 'no', expected auto or nothing after it; leave that word out"
        assert "unexpected extra argument" in labkit(*NO_EPOCHS, "--out", "r", "--resume", "no").err


def damaged(folder: str, *names: str) -> None:
    for name in names:
        content = bytearray(Path(folder, name).read_bytes())
        content[len(content) // 2] ^= 1
        Path(folder, name).write_bytes(content)


class TestDamagedCheckpoints:
    @pytest.fixture
    def stopped(self, labkit: Labkit, monkeypatch: pytest.MonkeyPatch) -> Labkit:
        assert labkit(*TRAINING, "--out", "whole").status == 0
        with monkeypatch.context() as here:
            here.setattr(command, "terminal", stopping_in(3))
            labkit(*TRAINING, "--out", "r")
        return labkit

    def test_of_one_the_one_before_is_taken(self, stopped: Labkit) -> None:
        damaged("r", CHECKPOINT)
        assert "add --resume to go on" in stopped(*TRAINING, "--out", "r").mistake()
        done = stopped(*TRAINING, "--out", "r", "--resume")
        assert done.status == 0
        assert (
            f"note: {CHECKPOINT} was cut off or edited since it was written, in 'r'; the training goes on" in done.err
        )
        assert contents("r") == contents("whole")

    @pytest.mark.parametrize("more", [(), ("--resume", "auto")])
    def test_of_both_there_is_one_way_out(self, stopped: Labkit, more: tuple[str, ...]) -> None:
        damaged("r", CHECKPOINT, BEFORE)
        said = stopped(*TRAINING, "--out", "r", "--resume").mistake()
        assert said.endswith("leave out --resume to train anew in this folder")
        assert CHECKPOINT in said
        assert BEFORE in said
        done = stopped(*TRAINING, "--out", "r", *more)
        assert done.status == 0
        assert done.err.count("the training begins anew") == 2
        assert contents("r") == contents("whole")

    def test_anew_is_still_the_same_training(self, stopped: Labkit) -> None:
        damaged("r", CHECKPOINT, BEFORE)
        before = contents("r")
        assert "another seed (0, not 9)" in stopped(*TRAINING, "--out", "r", "--seed", "9").err
        assert contents("r") == before

    def test_none_is_left(self, stopped: Labkit) -> None:
        for name in (CHECKPOINT, BEFORE):
            Path("r", name).unlink()
        said = stopped(*TRAINING, "--out", "r", "--resume").mistake()
        assert said.endswith("there is nothing to resume; leave out --resume to begin")
        assert stopped(*TRAINING, "--out", "r").status == 0
        assert contents("r") == contents("whole")


SLOW = ("train", "sentpwnet", "--corpus", "mine.csv", "--epochs", "2000", "--set", "patience=0", *SMALL, "--out", "r")


@pytest.mark.whole
@pytest.mark.parametrize(("sign", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_writes_a_checkpoint(labkit: Labkit, sign: signal.Signals, status: int) -> None:
    """Of the batch in hand: the last one that was written by the clock is a minute old."""
    with subprocess.Popen([sys.executable, "-m", "labkit", *SLOW], stderr=subprocess.PIPE, text=True) as process:
        until(lambda: process.poll() is not None or Path("r/run.json").is_file())  # an epoch is done
        process.send_signal(sign)
        _, said = process.communicate(timeout=HANG)
    assert process.returncode == status
    assert "Traceback" not in said
    last = said.splitlines()[-1]
    assert last.startswith(f"labkit: stopped; the last checkpoint is r/{CHECKPOINT}; `labkit train sentpwnet")
    assert last.endswith("--out r --resume` goes on")
    assert not list(Path("r").glob(".*"))


def test_an_epoch_is_said_while_the_next_one_runs(labkit: Labkit, capsys: pytest.CaptureFixture[str]) -> None:
    heard: list[tuple[str, int]] = []
    method = METHODS["siamese"](encoder="mean", dimension=8, size=6, batch=8, epochs=2, device="cpu")
    progress = command._WithFigures(
        method, lambda done, total, what: heard.append((what, capsys.readouterr().err.count("epoch ")))
    )
    method.fit(load_corpus("mine.csv"), progress=progress)
    first_of_second = next(place for place, (what, _) in enumerate(heard) if what.startswith("epoch 2 "))
    assert [count for _, count in heard[: first_of_second + 1]] == [0] * first_of_second + [1]


@pytest.mark.whole
def test_the_status_of_a_process(labkit: Labkit) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "labkit", "train", "nothing", "--corpus", "topics"], capture_output=True, text=True
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1


def test_figures_in_a_run_are_finite(labkit: Labkit, no_numbers: None) -> None:
    assert labkit(*NO_EPOCHS, "--out", "r").status == 0
    raw = Path("r/run.json").read_text()
    assert json.loads(raw, parse_constant=lambda name: pytest.fail(name))["metrics"]["mine.csv/test"]["auc"] is None


def test_the_program_starts_without_what_is_slow_to_import() -> None:
    asked = (
        "import sys, labkit.lab.cli.main;"
        "print({'torch', 'numpy', 'scipy', 'pandas', 'pyarrow', 'tqdm'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"

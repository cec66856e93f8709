"""The line of trainings: one at a time and in order, stop and resume, failures, limits, and what a crash leaves.

Most tests put a small program in the place of `labkit train`; the last ones run the real one.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from trainings import Job, Order, Queue, choices, process, watch
from trainings import process as worker
from trainings import queue as module
from trainings.queue import read_jobs, write_job

from labkit.cli.main import main
from labkit.locks import is_locked, locked
from labkit.methods import METHODS
from labkit.runs import CHECKPOINT, HISTORY, read_record
from tests.waiting import HANG, until

APP = Path(process.__file__).resolve().parents[1]

# Trains until the file "enough" lies beside the runs, with seed 0 not at all; seed 13 fails, 14 crashes, 15 is killed.
TRAINS = (
    f"""
import json, os, signal, sys, threading, time
from pathlib import Path
sys.path.insert(0, {str(APP)!r})
from trainings.process import watch_parent
signal.signal(signal.SIGINT, signal.default_int_handler)
threading.Thread(target=watch_parent, daemon=True).start()
"""
    + """
words = sys.argv[1:]
seed, out = int(words[words.index("--seed") + 1]), Path(words[words.index("--out") + 1])
with (out.parent / "log").open("a") as log:
    log.write(f"begin {out.name}{' --resume' * ('--resume' in words)}\\n")
if seed == 13:
    sys.exit("labkit: note: a note\\nlabkit: the loss is nan, try a tenth of it")
if seed == 14:
    raise RuntimeError("out of luck")
if seed == 15:
    os.kill(os.getpid(), signal.SIGKILL)
out.mkdir(exist_ok=True)
(out / "checkpoint.safetensors").touch()
try:
    while seed and not (out.parent / "enough").exists():
        (out / "history.csv").write_text("epoch,loss\\n1,1.5\\n")
        time.sleep(0.05)
except KeyboardInterrupt:
    (out / "told").touch()
    sys.exit(130)
from labkit.runs import Run, write_run
write_run(Run("tfidf", {}, "topics", "0", seed, {}, {}), out)
with (out.parent / "log").open("a") as log:
    log.write(f"end {out.name}\\n")
"""
)

Made = Callable[..., Queue]


@pytest.fixture
def program(tmp_path: Path) -> list[str]:
    (tmp_path / "trains.py").write_text(TRAINS)
    return [sys.executable, str(tmp_path / "trains.py")]


@pytest.fixture
def made(tmp_path: Path, program: list[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Made]:
    monkeypatch.setattr(process, "PATIENCE", HANG)  # a busy machine may take long to stop a training
    queues: list[Queue] = []

    def make(**more: object) -> Queue:
        queues.append(Queue(tmp_path / "runs", **({"program": program} | more)))
        return queues[-1]

    yield make
    for queue in queues:
        queue.close()


def ended(queue: Queue, job: Job, state: str) -> Job:
    until(lambda: queue.job(job.id).state in ("stopped", "failed", "finished"))
    assert queue.job(job.id).state == state, queue.job(job.id)
    return queue.job(job.id)


def tfidf(seed: int, **settings: object) -> Order:
    return Order("tfidf", "topics", seed, settings)


def log(queue: Queue) -> list[str]:
    return (queue.runs / "log").read_text().splitlines()


def test_one_at_a_time_in_order(made: Made) -> None:
    queue = made()
    assert queue.most == 12
    jobs = [queue.submit(tfidf(1)) for _ in range(3)]
    assert [job.name for job in jobs] == ["tfidf-topics-seed1", "tfidf-topics-seed1-2", "tfidf-topics-seed1-3"]
    until(lambda: queue.job(jobs[0].id).state == "running")
    assert [queue.place(job) for job in queue.jobs()] == [0, 1, 2]
    assert [job.id for job in queue.jobs()] == [job.id for job in jobs]
    (queue.runs / "enough").touch()
    for job in jobs:
        ended(queue, job, "finished")
    assert not queue.busy
    assert log(queue) == [f"{word} {job.name}" for job in jobs for word in ("begin", "end")]
    later = queue.submit(tfidf(0))  # the line wakes up again
    ended(queue, later, "finished")


def test_stop_keeps_the_checkpoint_and_resume_goes_on(made: Made) -> None:
    queue = made()
    first, second = queue.submit(tfidf(5)), queue.submit(tfidf(0))
    until(lambda: (Path(first.folder) / HISTORY).exists())
    queue.stop(second.id)
    assert queue.job(second.id).state == "stopped"
    queue.stop(first.id)
    ended(queue, first, "stopped")
    assert (Path(first.folder) / "told").exists()  # it could end in its own way
    assert (Path(first.folder) / CHECKPOINT).is_file()
    assert len(watch(queue.job(first.id), queue.private(first)).history) > 0
    queue.resume(second.id)  # it never began: from the beginning
    ended(queue, second, "finished")
    queue.resume(first.id)
    until(lambda: len(log(queue)) == 4)
    assert log(queue)[-1] == f"begin {first.name} --resume"
    queue.stop(first.id)
    ended(queue, first, "stopped")
    assert not (Path(first.folder) / "run.json").exists()


@pytest.mark.parametrize(("seed", "why"), [(13, "the loss is nan"), (14, "out of luck"), (15, "SIGKILL")])
def test_a_failure_says_why_and_the_line_goes_on(made: Made, seed: int, why: str) -> None:
    queue = made()
    bad, good = queue.submit(tfidf(seed)), queue.submit(tfidf(0))
    assert why in ended(queue, bad, "failed").why
    assert queue.job(bad.id).notes == (("a note",) if seed == 13 else ())
    ended(queue, good, "finished")


def test_a_program_that_cannot_be_started(made: Made) -> None:
    queue = made(program=["/there/is/no/such/program"])
    assert "/there/is/no/such/program" in ended(queue, queue.submit(tfidf(0)), "failed").why


def test_the_line_is_bounded_and_so_is_each_visitor(made: Made) -> None:
    queue = made(most=3)
    for visitor in "ab":
        queue.submit(tfidf(9), visitor=visitor, each=1)
    with pytest.raises(ValueError, match="1"):
        queue.submit(tfidf(9), visitor="a", each=1)
    queue.submit(tfidf(9), visitor="c", each=1)
    with pytest.raises(ValueError, match="3"):
        queue.submit(tfidf(9), visitor="d", each=1)
    assert len(queue.jobs()) == 3
    assert len(read_jobs(queue.folder)) == 3


def test_a_visitors_runs_take_so_much_disk_and_those_of_all(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TOGETHER", 2)
    queue = made()
    first = ended(queue, queue.submit(tfidf(0), visitor="a", disk=2**20), "finished")
    (Path(first.folder) / "large").write_bytes(bytes(2**20))
    with pytest.raises(ValueError, match="1"):
        queue.submit(tfidf(0), visitor="a", disk=2**20)
    ended(queue, queue.submit(tfidf(0), visitor="b", disk=2**20), "finished")  # of another visitor
    ended(queue, queue.submit(tfidf(0), visitor="a"), "finished")  # the teacher has no limit
    (Path(first.folder) / "large").write_bytes(bytes(2**21))
    with pytest.raises(ValueError, match="2"):
        queue.submit(tfidf(0), visitor="b", disk=2**20)
    queue.delete(Path(first.folder))
    assert not Path(first.folder).exists()
    assert first.id not in [job.id for job in queue.jobs()]
    queue.submit(tfidf(0), visitor="a", disk=2**20)


def test_only_a_visitors_run_that_nobody_trains_is_deleted(made: Made, tmp_path: Path) -> None:
    queue = made()
    job = queue.submit(tfidf(9), visitor="a")
    until(lambda: queue.job(job.id).checkpoint)
    with pytest.raises(ValueError, match="tfidf-topics-seed9"):
        queue.delete(Path(job.folder))
    queue.stop(job.id)
    ended(queue, job, "stopped")
    theirs = ended(queue, queue.submit(tfidf(0)), "finished")  # no visitor's
    for folder in (Path(theirs.folder), tmp_path, queue.runs, queue.folder):
        with pytest.raises(ValueError, match=folder.name):
            queue.delete(folder)
        assert folder.is_dir()


@pytest.mark.parametrize(
    ("order", "said"),
    [
        (Order("nonsense", "topics"), "method"),
        (Order("tfidf", "/etc/passwd"), "corpus"),
        (Order("tfidf", "topics", -1), "seed"),
        (Order("tfidf", "topics", 0, {"max_ngram": 99}), "max_ngram"),
        (Order("tfidf", "topics", 0, {"out": "x"}), "out"),
    ],
)
def test_what_cannot_be_does_not_enter_the_line(made: Made, order: Order, said: str) -> None:
    queue = made()
    with pytest.raises(ValueError, match=said):
        queue.submit(order)
    assert queue.jobs() == []


def test_an_upload_is_private_and_gone_afterwards(made: Made) -> None:
    queue = made()
    order = Order.of_file("tfidf", "../../My Patients.CSV", b"text,label\nsecret,x\n", seed=1)
    assert order.words(Path("out"))[:4] == ["train", "tfidf", "--corpus", "My Patients.csv"]
    job = queue.submit(order)
    file = queue.private(job) / "My Patients.csv"
    assert file.read_bytes() == order.upload
    assert queue.folder.stat().st_mode & 0o077 == file.parent.stat().st_mode & 0o077 == 0
    until(lambda: queue.job(job.id).state == "running")
    queue.stop(job.id)
    ended(queue, job, "stopped")
    assert file.exists()  # to go on with
    (queue.runs / "enough").touch()
    queue.resume(job.id)
    ended(queue, job, "finished")
    assert not file.exists()
    assert "secret" not in "".join(path.read_text() for path in queue.folder.glob("*.json"))
    bad = queue.submit(Order.of_file("tfidf", "x.jsonl.gz", b"{}", seed=13))
    assert bad.corpus == "x.jsonl.gz"
    ended(queue, bad, "failed")
    assert not (queue.private(bad) / bad.corpus).exists()
    with pytest.raises(ValueError, match="file"):
        queue.resume(bad.id)
    queue.forget(bad.id)
    assert not queue.private(bad).exists()
    with pytest.raises(ValueError, match=bad.id):
        queue.job(bad.id)
    with pytest.raises(ValueError, match="name"):
        Order.of_file("tfidf", "x.exe", b"")


def test_closing_stops_what_runs_and_another_app_may_go_on(made: Made) -> None:
    queue = made()
    first, second = queue.submit(tfidf(9)), queue.submit(tfidf(9))
    until(lambda: (Path(first.folder) / HISTORY).exists())
    with pytest.raises(ValueError, match=str(queue.runs)):
        made()
    queue.close()
    with pytest.raises(ValueError, match="app"):
        queue.submit(tfidf(0))
    states = {job.id: job for job in read_jobs(queue.folder)}
    assert states[first.id].state == states[second.id].state == "stopped"
    assert states[first.id].checkpoint
    other = made()
    other.resume(first.id)
    until(lambda: log(other)[-1] == f"begin {first.name} --resume")
    assert other.submit(tfidf(9)).id == "0003"


def test_a_name_is_taken_when_it_enters_the_line(made: Made) -> None:
    """`labkit train` beside the app must not take the folder of a training that waits."""
    queue = made()
    first, second = queue.submit(tfidf(9)), queue.submit(tfidf(9))
    until(lambda: queue.job(first.id).state == "running")
    assert Path(second.folder).is_dir()
    queue.stop(second.id)
    queue.forget(second.id)
    assert not Path(second.folder).exists()


def test_a_training_that_somebody_goes_on_with_is_not_resumed(made: Made) -> None:
    queue = made()
    job = queue.submit(tfidf(9))
    until(lambda: (Path(job.folder) / HISTORY).exists())
    queue.stop(job.id)
    ended(queue, job, "stopped")
    with locked(job.folder), pytest.raises(ValueError, match=f"training {job.id}"):
        queue.resume(job.id)
    assert queue.job(job.id).state == "stopped"
    queue.resume(job.id)


CRASHES = """
import sys
sys.path.insert(0, "app")
import os, signal, sys, time
from pathlib import Path
from trainings import Order, Queue
queue = Queue(sys.argv[1])
job = queue.submit(Order("sentpwnet", "topics", 0, {"epochs": 500, "size": 6, "dimension": 6, "patience": 0}))
queue.submit(Order("tfidf", "topics"))
while not (Path(job.folder) / "history.csv").exists():
    assert queue.job(job.id).state in ("waiting", "running"), queue.job(job.id)
    time.sleep(0.05)
print(queue._process.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.whole
def test_after_a_crash_nothing_runs_on_and_the_rest_can(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CRASHES, str(tmp_path)], capture_output=True, text=True, check=False, timeout=HANG
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    worker = int(done.stdout)

    def gone() -> bool:
        try:
            os.kill(worker, 0)
            return Path(f"/proc/{worker}/stat").read_text().split()[2] == "Z"
        except (ProcessLookupError, FileNotFoundError):
            return True

    until(gone)
    queue = Queue(tmp_path)
    try:
        trained, waited = queue.jobs()[::-1] if queue.jobs()[0].method == "tfidf" else queue.jobs()
        assert (trained.state, waited.state) == ("stopped", "stopped")
        assert trained.checkpoint
        assert read_record(trained.folder)["state"] == "training"
        before = len(watch(trained, queue.private(trained)).history)
        queue.resume(trained.id)
        until(lambda: len(watch(queue.job(trained.id), queue.private(trained)).history) > before)
        until(lambda: watch(queue.job(trained.id), queue.private(trained)).left is not None)
        seen = watch(queue.job(trained.id), queue.private(trained))
        assert 0 < seen.share < 1
        assert "of 500, loss" in seen.what
        assert seen.left > 0
        assert is_locked(trained.folder)
        queue.stop(trained.id)
        assert ended(queue, trained, "stopped").checkpoint
        assert not is_locked(trained.folder)
    finally:
        queue.close()


@pytest.mark.whole
def test_what_it_makes_is_what_the_command_line_makes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {"epochs": 1, "size": 6, "dimension": 6, "encoder": "mean"}
    queue = Queue(tmp_path / "queue")
    try:
        job = queue.submit(Order("sentpwnet", "topics", 3, settings))
        changes = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
        command = ["labkit", "train", "sentpwnet", "--corpus", "topics", "--seed", "3", *changes]
        monkeypatch.setattr(sys, "argv", [*command, "--out", str(tmp_path / "mine")])
        with pytest.raises(SystemExit) as left:
            main()
        assert not left.value.code
        ended(queue, job, "finished")
        assert read_record(job.folder) == read_record(tmp_path / "mine")  # the checksums of all files too
        assert read_record(job.folder)["metrics"]["topics/test"]["knn_accuracy"] > 0
    finally:
        queue.close()


def test_a_record_that_is_none_is_passed_over(tmp_path: Path) -> None:
    good = Job("0001", "tfidf", "topics", 0, str(tmp_path / "a"), state="finished")
    write_job(tmp_path, good)
    (tmp_path / "0002.json").write_text('{"id": "0002"}')
    (tmp_path / "0003.json").write_text("[")
    assert read_jobs(tmp_path) == [good]


BOUND_BY_ANOTHER = {
    ("tfidf", "min_ngram"),  # by max_ngram
    ("lsa", "min_ngram"),
    ("pthought", "emphasis"),  # by decoders
    ("bag", "loss"),  # by dropout
    ("static", "loss"),
}


def test_choices_lie_within_what_the_method_takes() -> None:
    for name in METHODS:
        settings = METHODS[name].Settings
        offered = choices(settings)
        assert [choice.name for choice in offered] == list(settings().values())
        for choice in offered:
            if choice.kind in (int, float):
                assert choice.minimum <= choice.default <= choice.maximum
                assert choice.step > 0
            ends = [
                *choice.options,
                *(end for end in (choice.minimum, choice.maximum) if end is not None),
                choice.default,
            ]
            assert not [word for word in choice.options if "/" in word]
            for value in ends:
                if (name, choice.name) not in BOUND_BY_ANOTHER:
                    settings.of({choice.name: value})


def test_a_worker_that_does_not_stop_is_ended_for_good(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its app is gone: it is told as by Ctrl-C, has its time, and then is not asked again."""
    done: list[object] = []
    monkeypatch.setattr(os, "read", lambda where, most: b"")
    monkeypatch.setattr(os, "kill", lambda process, sign: done.append((process, sign)))
    monkeypatch.setattr(time, "sleep", done.append)
    worker.watch_parent()
    assert done == [(os.getpid(), signal.SIGINT), worker.LAST_CHANCE, (os.getpid(), signal.SIGKILL)]


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("mine.csv", "mine.csv"),
        ("../../../etc/my data.CSV", "my data.csv"),
        ("C:\\Users\\me\\mine.jsonl.gz", "mine.jsonl.gz"),
        ("--out=x.csv", "out_x.csv"),
        ("..csv", "upload.csv"),
        (".progress.json.csv", "progress.json.csv"),
        ("<b>\n$(rm)`.csv", "_b___(rm)_.csv"),
        ("données \u202e.tsv", "données _.tsv"),
        ("x" * 300 + ".txt", "x" * 80 + ".txt"),
    ],
)
def test_the_name_of_an_upload_stays_in_its_folder(name: str, kept: str) -> None:
    assert Order.of_file("tfidf", name, b"").corpus == kept

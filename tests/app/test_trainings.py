"""The queue of trainings: one at a time and in order, stop and resume, failures, limits, recovery after a crash.

Most tests replace `labkit train` with a small program; those marked `whole` run the real one.
"""

from __future__ import annotations

import dataclasses
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import training_process as process
import trainings as module
from train_presets import limits_of, options_of
from training_process import PROGRESS, SAID, verdict
from trainings import (
    OWNERS,
    Job,
    Owned,
    Queue,
    all_owned,
    file_name,
    owned,
    progress,
    read_jobs,
    write_job,
    write_owned,
)

from labkit.cli.main import main
from labkit.locks import is_locked, locked
from labkit.methods import METHODS
from labkit.runs import CHECKPOINT, HISTORY, history, read_record
from tests.waiting import HANG, until

APP = Path(process.__file__).resolve().parent

# Trains until the file "enough" is next to the runs; seed 0 finishes at once, 13 fails and 15 is killed.
TRAINS = (
    f"""
import json, os, signal, sys, threading, time
from pathlib import Path
sys.path.insert(0, {str(APP)!r})
from training_process import watch_parent
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


def tfidf(seed: int, **settings: object) -> Job:
    return Job("tfidf", "topics", seed, settings)


def log(queue: Queue) -> list[str]:
    return (queue.runs / "log").read_text().splitlines()


def test_one_at_a_time_in_order(made: Made) -> None:
    queue = made()
    assert queue.most == 12
    jobs = [queue.submit(tfidf(1)) for _ in range(3)]
    assert [job.name for job in jobs] == ["tfidf-topics-seed1", "tfidf-topics-seed1-2", "tfidf-topics-seed1-3"]
    until(lambda: queue.job(jobs[0].id).state == "running")
    assert [job.id for job in queue.live] == [job.id for job in jobs]
    assert all(Path(job.folder).is_dir() for job in jobs)  # reserved, so that `labkit train` cannot take it
    (queue.runs / "enough").touch()
    for job in jobs:
        ended(queue, job, "finished")
    assert not queue.live
    assert log(queue) == [f"{word} {job.name}" for job in jobs for word in ("begin", "end")]
    later = queue.submit(tfidf(0))  # the idle queue starts again
    ended(queue, later, "finished")


def test_stop_keeps_the_checkpoint_and_resume_continues_from_it(made: Made) -> None:
    queue = made()
    first, second = queue.submit(tfidf(5)), queue.submit(tfidf(0))
    until(lambda: (Path(first.folder) / HISTORY).exists())
    queue.stop(second.id)
    assert queue.job(second.id).state == "stopped"
    queue.stop(first.id)
    ended(queue, first, "stopped")
    assert (Path(first.folder) / "told").exists()  # it was interrupted, not killed
    assert (Path(first.folder) / CHECKPOINT).is_file()
    assert len(history(first.folder)) > 0
    queue.resume(second.id)  # it never began, so it starts from the beginning
    ended(queue, second, "finished")
    with locked(first.folder), pytest.raises(ValueError, match=f"run {first.id}"):
        queue.resume(first.id)  # the command line is training it
    queue.resume(first.id)
    until(lambda: len(log(queue)) == 4)
    assert log(queue)[-1] == f"begin {first.name} --resume"
    queue.stop(first.id)
    ended(queue, first, "stopped")
    assert not (Path(first.folder) / "run.json").exists()


@pytest.mark.parametrize(("seed", "why"), [(13, "the loss is nan"), (15, "SIGKILL")])
def test_a_failure_says_why_and_the_queue_continues(made: Made, seed: int, why: str) -> None:
    queue = made()
    bad, good = queue.submit(tfidf(seed)), queue.submit(tfidf(0))
    assert why in ended(queue, bad, "failed").why
    assert queue.job(bad.id).notes == (("a note",) if seed == 13 else ())
    ended(queue, good, "finished")
    queue._program = ["/there/is/no/such/program"]
    assert "/there/is/no/such/program" in ended(queue, queue.submit(tfidf(0)), "failed").why


def test_the_queue_is_limited_in_total_and_per_visitor(made: Made) -> None:
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
    stopped = queue.live[-1]
    queue.stop(stopped.id)
    queue.submit(tfidf(9), visitor="d", each=1)
    with pytest.raises(ValueError, match="3"):
        queue.resume(stopped.id, visitor="c", each=1)


def test_the_oldest_records_are_forgotten_and_their_runs_stay(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KEPT", 1)
    queue = made()
    first, *others = [ended(queue, queue.submit(tfidf(0)), "finished") for _ in range(3)]
    assert {job.id for job in queue.jobs()} == {job.id for job in others}
    assert (Path(first.folder) / "run.json").is_file()


def test_disk_space_is_limited_per_visitor_and_in_total(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TOGETHER", 2)
    queue = made()
    first = ended(queue, queue.submit(tfidf(0), visitor="a", disk=2**20), "finished")
    (Path(first.folder) / "large").write_bytes(bytes(2**20))
    with pytest.raises(ValueError, match="1"):
        queue.submit(tfidf(0), visitor="a", disk=2**20)
    ended(queue, queue.submit(tfidf(0), visitor="b", disk=2**20), "finished")  # another visitor has space left
    ended(queue, queue.submit(tfidf(0), visitor="a"), "finished")  # without a limit, as for the teacher
    (Path(first.folder) / "large").write_bytes(bytes(2**21))
    with pytest.raises(ValueError, match="2"):
        queue.submit(tfidf(0), visitor="b", disk=2**20)
    queue.delete(Path(first.folder))
    assert not Path(first.folder).exists()
    assert first.id not in [job.id for job in queue.jobs()]
    queue.submit(tfidf(0), visitor="a", disk=2**20)


def test_only_idle_runs_that_were_trained_here_are_deleted(made: Made, tmp_path: Path) -> None:
    queue = made()
    job = queue.submit(tfidf(9), visitor="a")
    until(lambda: queue.job(job.id).checkpoint)
    with pytest.raises(ValueError, match="tfidf-topics-seed9"):
        queue.delete(Path(job.folder))
    queue.stop(job.id)
    ended(queue, job, "stopped")
    with locked(job.folder), pytest.raises(ValueError, match=job.name):  # the command line is resuming it
        queue.delete(Path(job.folder))
    (queue.runs / "by-hand").mkdir()  # made by the command line
    (tmp_path / "others" / "theirs").mkdir(parents=True)
    (queue.runs / "link").symlink_to(tmp_path / "others" / "theirs")
    write_owned(Owned(tmp_path / "others" / "theirs", "a"))
    for name in ("link", ".", ".."):  # records that a forged name would find
        write_owned(Owned(Path(f"{queue.runs}/{name}"), "a"))
        (queue.runs / OWNERS / f"{name}.json").write_text('{"owner": "a", "shared": false}')
    outside = [Path(f"{queue.runs}/{name}") for name in ("by-hand", "link", "..")]
    for folder in (*outside, tmp_path / "others" / "theirs", tmp_path, queue.runs, queue.folder):
        with pytest.raises(ValueError, match=re.escape(folder.name)):
            queue.delete(folder)
        assert folder.is_dir()
    theirs = ended(queue, queue.submit(tfidf(0)), "finished")  # without an owner
    for each in (job, theirs):
        queue.delete(Path(each.folder))
        assert not Path(each.folder).exists()
        assert owned(each.folder) is None
        assert each.id not in [job.id for job in queue.jobs()]


@pytest.mark.parametrize(
    ("job", "said"),
    [
        (Job("tfidf", "/etc/passwd"), "corpus"),
        (Job("tfidf", "topics", 0, {"out": "x"}), "out"),
        (Job("bench", "topics", 0, {"minutes": 10_000}), "minutes"),
    ],
)
def test_an_invalid_job_does_not_enter_the_queue(made: Made, job: Job, said: str) -> None:
    queue = made()
    with pytest.raises(ValueError, match=said):
        queue.submit(job)
    assert queue.jobs() == []


def test_an_upload_is_private_and_gone_afterwards(made: Made) -> None:
    queue = made()
    content = b"text,label\nsecret,x\n"
    job = queue.submit(Job("tfidf", "../../My Patients.CSV", 1, own=True), content)
    assert job.words(Path("out"))[:4] == ["train", "tfidf", "--corpus", "My Patients.csv"]
    file = queue.private(job) / "My Patients.csv"
    assert file.read_bytes() == content
    assert queue.folder.stat().st_mode & 0o077 == file.parent.stat().st_mode & 0o077 == 0
    until(lambda: queue.job(job.id).state == "running")
    queue.stop(job.id)
    ended(queue, job, "stopped")
    assert file.exists()  # needed to resume
    (queue.runs / "enough").touch()
    queue.resume(job.id)
    ended(queue, job, "finished")
    assert not file.exists()
    assert "secret" not in "".join(path.read_text() for path in queue.folder.glob("*.json"))
    bad = queue.submit(Job("tfidf", "x.jsonl.gz", 13, own=True), b"{}")
    assert bad.corpus == "x.jsonl.gz"
    ended(queue, bad, "failed")
    assert not (queue.private(bad) / bad.corpus).exists()
    with pytest.raises(ValueError, match="file"):
        queue.resume(bad.id)
    queue.delete(Path(bad.folder))
    assert not queue.private(bad).exists()
    with pytest.raises(ValueError, match=bad.id):
        queue.job(bad.id)
    with pytest.raises(ValueError, match="name"):
        queue.submit(Job("tfidf", "x.exe", own=True))


def test_closing_stops_trainings_and_another_app_can_resume_them(made: Made) -> None:
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


CRASHES = """
import sys
sys.path.insert(0, "app")
import os, signal, sys, time
from pathlib import Path
from trainings import Job, Queue
queue = Queue(sys.argv[1])
job = queue.submit(Job("sentpwnet", "topics", 0, {"epochs": 500, "size": 6, "dimension": 6, "patience": 0}))
queue.submit(Job("tfidf", "topics"))
while not (Path(job.folder) / "history.csv").exists():
    assert queue.job(job.id).state in ("waiting", "running"), queue.job(job.id)
    time.sleep(0.05)
print(queue._process.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.whole
def test_after_a_crash_nothing_keeps_running_and_jobs_can_be_resumed(tmp_path: Path) -> None:
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
        before = len(history(trained.folder))
        queue.resume(trained.id)
        until(lambda: len(history(trained.folder)) > before)
        until(lambda: progress(queue.job(trained.id), queue.private(trained))[2] is not None)
        what, share, left = progress(queue.job(trained.id), queue.private(trained))
        assert 0 < share < 1
        assert "of 500, loss" in what
        assert left > 0
        assert is_locked(trained.folder)
        queue.stop(trained.id)
        assert ended(queue, trained, "stopped").checkpoint
        assert not is_locked(trained.folder)
    finally:
        queue.close()


@pytest.mark.whole
def test_a_run_is_equal_to_one_of_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {"epochs": 1, "size": 6, "dimension": 6, "encoder": "mean"}
    queue = Queue(tmp_path / "queue")
    try:
        job = queue.submit(Job("sentpwnet", "topics", 3, settings))
        changes = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
        command = ["labkit", "train", "sentpwnet", "--corpus", "topics", "--seed", "3", *changes]
        monkeypatch.setattr(sys, "argv", [*command, "--out", str(tmp_path / "mine")])
        with pytest.raises(SystemExit) as left:
            main()
        assert not left.value.code
        ended(queue, job, "finished")
        assert read_record(job.folder) == read_record(tmp_path / "mine")  # including the checksums of all files
        assert read_record(job.folder)["metrics"]["topics/test"]["knn_accuracy"] > 0
    finally:
        queue.close()


def test_an_invalid_record_is_skipped(tmp_path: Path) -> None:
    good = Job("tfidf", "topics", id="0001", folder=str(tmp_path / "a"), state="finished")
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


def test_choices_are_within_the_limits_of_the_method() -> None:
    for name in METHODS:
        settings = METHODS[name].Settings
        for entry in dataclasses.fields(settings):
            ends: list[object] = [entry.default]
            if type(entry.default) in (int, float):
                minimum, maximum, step = limits_of(entry)
                assert minimum <= entry.default <= maximum
                assert step > 0
                ends += [minimum, maximum]
            elif type(entry.default) is str:
                ends += options_of(entry)
                assert not [word for word in options_of(entry) if "/" in word]
            for value in ends:
                if (name, entry.name) not in BOUND_BY_ANOTHER:
                    settings.of({entry.name: value})


def test_a_worker_that_does_not_stop_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    """When its app is gone, it is interrupted as with Ctrl-C, given some time, and killed."""
    done: list[object] = []
    monkeypatch.setattr(os, "read", lambda where, most: b"")
    monkeypatch.setattr(os, "kill", lambda process, sign: done.append((process, sign)))
    monkeypatch.setattr(time, "sleep", done.append)
    process.watch_parent()
    assert done == [(os.getpid(), signal.SIGINT), process.LAST_CHANCE, (os.getpid(), signal.SIGKILL)]


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("../../../etc/my data.CSV", "my data.csv"),
        ("C:\\Users\\me\\mine.jsonl.gz", "mine.jsonl.gz"),
        ("--out=x.csv", "out_x.csv"),
        ("..csv", "upload.csv"),
        (".progress.json.csv", "progress.json.csv"),
        ("<b>\n$(rm)`.csv", "_b___(rm)_.csv"),
        ("x" * 300 + ".txt", "x" * 80 + ".txt"),
    ],
)
def test_the_name_of_an_upload_stays_in_its_folder(name: str, kept: str) -> None:
    assert file_name(name) == kept


# --- progress, and why it ended ------------------------------------------------------------------------------------


@pytest.mark.parametrize("content", ["[", "[1]", '{"done": 5, "total": 0}'])
def test_half_written_progress_is_ignored(tmp_path: Path, content: str) -> None:
    (tmp_path / PROGRESS).write_text(content)
    job = Job("tfidf", "topics", folder=str(tmp_path / "run"), state="running")
    assert progress(job, tmp_path)[1:] == (None, None)


@pytest.mark.parametrize(
    ("said", "status", "why", "notes"),
    [
        (b"labkit: note: one\nlabkit: note: one\nepoch 1\n", 0, "", ("one",)),
        (b"\x1b[A  5%|#    |\r 10%|##   |\nlabkit: the loss is nan\n", 2, "the loss is nan", ()),
        (b"Traceback\nMemoryError\n", 1, "MemoryError", ()),
        (b"", 3, "3", ()),
        (b"labkit: caf\xff\n", 2, "caf\N{REPLACEMENT CHARACTER}", ()),
    ],
)
def test_why_it_ended(tmp_path: Path, said: bytes, status: int, why: str, notes: tuple[str, ...]) -> None:
    (tmp_path / SAID).write_bytes(said)
    told, found = verdict(tmp_path, status)
    assert (bool(told), found) == (bool(why), notes)
    assert why in told


# --- owners of runs ------------------------------------------------------------------------------------------------


def test_an_owner_is_read_again_and_forgotten_with_the_run(tmp_path: Path) -> None:
    for name in ("one", "two", "three"):
        (tmp_path / name / "deep").mkdir(parents=True)
    (tmp_path / "one" / "deep" / "file").write_bytes(bytes(1_000))
    one, two = Owned(tmp_path / "one", "a"), Owned(tmp_path / "two", "b", True)
    for run in (one, two):
        write_owned(run)
    assert [owned(tmp_path / name) for name in ("one", "two", "three")] == [one, two, None]
    assert all_owned(tmp_path) == [one, two]
    assert one.size - two.size >= 1_000
    (tmp_path / "two" / "deep").rmdir()
    (tmp_path / "two").rmdir()
    assert all_owned(tmp_path) == [one]
    (tmp_path / "two").mkdir()  # another run of this name has no owner
    assert owned(tmp_path / "two") is None


@pytest.mark.parametrize("record", [b"{", b"[]", b'{"owner": "a"}', b"\xff", b"[" * 100_000])
def test_a_damaged_record_shares_nothing(tmp_path: Path, record: bytes) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / OWNERS).mkdir(parents=True)
    (tmp_path / OWNERS / "one.json").write_bytes(record)
    assert owned(tmp_path / "one") == Owned(tmp_path / "one", "", False)

"""The queue of jobs: one runs in its own process, the others wait for their turn.

A job is a small file that outlives the app: .jobs/0007.json. Next to it is .jobs/0007/, its private folder with the
upload, its progress and its output. What counts is the run on disk: a job that was told to stop while its test
scores were computed counts as finished. After a crash, another app finds all records and can resume the runs.
"""

from __future__ import annotations

import atexit
import json
import os
import re
import shutil
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, field, fields, replace
from itertools import count
from pathlib import Path
from typing import Any

import training_process
from training_process import PROGRAM, PROGRESS, verdict

from labkit.atomic import amount, in_place, room_for, sentence_of
from labkit.locks import InUse, is_locked, locked
from labkit.runs import finished, has_checkpoint

ENDINGS = (".csv", ".tsv", ".txt", ".jsonl", ".parquet", ".csv.gz", ".tsv.gz", ".jsonl.gz")
LONGEST = 80  # characters of a file's name
BENCH, PLAN, REPORT = "bench", "planned.json", "report.json"  # the method of a comparison, and its two files
MINUTES = 1, 120  # that a comparison may take
RESUMABLE = ("stopped", "failed")  # the states of a job before: waiting, running, stopping
ENDED = (*RESUMABLE, "finished")


def file_name(name: str) -> str:
    """The name of a visitor's file in a safe form, without folders or a leading dot; a ValueError if its ending is not
    one that labkit reads.

    >>> file_name("mine.csv"), file_name("../-my <data>.csv")
    ('mine.csv', 'my _data_.csv')
    """
    ending = next((ending for ending in ENDINGS[::-1] if name.lower().endswith(ending)), None)
    if ending is None:
        raise ValueError(f"the file is named {name!r}; its name must end in one of {', '.join(ENDINGS)}")
    last = re.split(r"[/\\]", name[: -len(ending)])[-1]
    stem = re.sub(r"[^\w.() -]", "_", last).strip(" .-")[:LONGEST]
    return (stem or "upload") + ending


# --- jobs --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Job:
    """One method to train, or a comparison of methods, whose `method` is BENCH and whose settings contain the minutes.

    `own`: the job is on a visitor's file, whose name is `corpus`. The queue sets
    the fields after it. Times are seconds since 1970; `why` says in one sentence why the job stopped or failed.
    """

    method: str
    corpus: str
    seed: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)
    own: bool = False
    id: str = ""
    folder: str = ""
    state: str = "waiting"
    why: str = ""
    notes: tuple[str, ...] = ()
    began: float = 0.0
    ended: float = 0.0

    def check(self) -> None:
        """Raise a ValueError where the corpus or a setting is invalid."""
        from labkit.corpora import CORPORA
        from labkit.methods import METHODS

        if not self.own and self.corpus not in CORPORA:
            raise ValueError(f"corpus is {self.corpus!r}, expected one of {', '.join(CORPORA)}, or a file's content")
        if self.method != BENCH:
            METHODS[self.method].Settings.of(self.settings).check_used(self.settings)
        elif not MINUTES[0] <= self.settings["minutes"] <= MINUTES[1]:
            raise ValueError(f"minutes is {self.settings['minutes']}, expected {MINUTES[0]} to {MINUTES[1]}")

    def words(self, out: Path | None = None, *, resume: bool = False) -> list[str]:
        """The arguments after `labkit`; without `out`, those that a visitor can use on their own machine."""
        place = ["--out", str(out)] if out else []
        if self.is_bench:  # which resumes by itself, and leaves a core to the app
            workers, minutes = max(1, (os.cpu_count() or 1) - 1), f"{self.settings['minutes']:g}"
            return [BENCH, self.corpus, "--minutes", minutes, *place, "--workers", str(workers)]
        changes = [word for name, value in self.settings.items() for word in ("--set", f"{name}={value}")]
        words = ["train", self.method, "--corpus", self.corpus, "--seed", str(self.seed), *changes, *place]
        return [*words, "--resume"] if resume else words

    @property
    def name(self) -> str:
        """The name of the run's folder: as `labkit train` would call it, until the queue has chosen one."""
        stem = f"{self.method}-{self.corpus.split('.')[0].replace(' ', '-')}"
        return Path(self.folder).name or (stem if self.is_bench else f"{stem}-seed{self.seed}")

    @property
    def checkpoint(self) -> bool:
        """Whether the job has a checkpoint to resume from."""
        return (Path(self.folder) / PLAN).is_file() if self.is_bench else has_checkpoint(self.folder)

    @property
    def is_bench(self) -> bool:
        """Whether this is a comparison of methods rather than a training run."""
        return self.method == BENCH

    @property
    def kind(self) -> str:
        """What a reader calls it: the method, or a comparison."""
        return "comparison of methods" if self.is_bench else self.method

    @property
    def seconds(self) -> float:
        """How long the job has run."""
        return max(0.0, (self.ended or time.time()) - self.began) if self.began else 0.0

    def after(self, state: str, why: str = "", **more: Any) -> Job:
        """The job with the state in which it ended, or finished if its result is on disk."""
        report = Path(self.folder) / REPORT  # a comparison that was stopped has one, too
        if _read(report).get("finished") if self.is_bench else finished(self.folder):
            state, why = "finished", ""
        return replace(self, state=state, why=why, ended=time.time(), **more)


def progress(job: Job, private: Path) -> tuple[str, float | None, float | None]:
    """What a running job is doing, the share that is done, and the seconds left; None if unknown."""
    noted = _read(private / PROGRESS)
    done, total, left = noted.get("done"), noted.get("total"), noted.get("left")
    share = min(1.0, max(0.0, done / total)) if done is not None and total else None
    if job.is_bench:  # each of its stages counts from 0, so only its time measures progress
        given = 60 * job.settings["minutes"]
        share, left = min(0.99, job.seconds / given), given - job.seconds if job.seconds < given else None
    return str(noted.get("what", "")), share, left


def _read(path: Path) -> dict[str, Any]:
    """A JSON object; empty if the file is missing or incomplete."""
    try:
        found = json.loads(path.read_bytes().decode("utf-8", "surrogatepass"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def write_job(folder: Path, job: Job) -> None:
    """Write the record of a job, completely or not at all."""
    with in_place(folder / f"{job.id}.json") as file:
        file.write(json.dumps(asdict(job), ensure_ascii=False, indent=1).encode("utf-8", "surrogatepass"))


def read_jobs(folder: Path) -> list[Job]:
    """All jobs in a folder, oldest first; files that are not jobs are skipped."""
    jobs = []
    for path in sorted(folder.glob("*.json")):
        record = _read(path)
        with suppress(KeyError, TypeError):
            job = Job(**{each.name: record[each.name] for each in fields(Job)} | {"notes": (*record["notes"],)})
            if job.id == path.stem and isinstance(job.settings, dict):
                jobs.append(job)
    return jobs


# --- whose a run is ------------------------------------------------------------------------------------------------

OWNERS = Path(".jobs", "owners")


@dataclass(frozen=True)
class Owned:
    """A visitor's run, and whether they share it; all other runs belong to everybody.

    On disk: .jobs/owners/<run>.json, {"owner": name, "shared": false}; it is removed when the folder of the run is
    gone. A run whose record cannot be read belongs to nobody and is not shared.
    """

    folder: Path
    owner: str
    shared: bool = False

    @property
    def size(self) -> int:
        """The bytes that the run uses on disk."""
        total = 0
        for file in self.folder.rglob("*"):
            with suppress(OSError):  # it has just gone
                total += file.stat().st_size
        return total


def write_owned(run: Owned) -> None:
    """Record the owner of a run."""
    path = _record(run.folder)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with in_place(path) as file:
        file.write(json.dumps({"owner": run.owner, "shared": run.shared}).encode())


def owned(folder: Path | str) -> Owned | None:
    """Read who owns the run in a folder; None: no visitor trained it."""
    folder = Path(folder)
    if not _record(folder).exists():
        return None
    record = _read(_record(folder))
    known = {"owner", "shared"} <= record.keys()
    return Owned(folder, str(record["owner"]), record["shared"] is True) if known else Owned(folder, "")


def all_owned(runs: Path) -> list[Owned]:
    """The runs of visitors in a folder, by name; records of missing runs are removed."""
    found = []
    for path in sorted((runs / OWNERS).glob("*.json")):
        if not (runs / path.stem).is_dir():
            path.unlink(missing_ok=True)
        elif (run := owned(runs / path.stem)) is not None:
            found.append(run)
    return found


def _record(folder: Path) -> Path:
    return folder.parent / OWNERS / f"{folder.name}.json"


# --- the queue ---------------------------------------------------------------------------------------------------

MOST = 12  # jobs that run or wait
TOGETHER = 20  # times the disk limit of one visitor, for all together
KEPT = 40  # records of ended jobs that are kept
LEAVE = 15.0  # seconds that a job may take to stop when the app ends


class Queue:
    """The jobs for one folder of runs, of which at most `most` run or wait."""

    def __init__(self, runs: Path | str, *, most: int = MOST, program: Sequence[str] = PROGRAM) -> None:
        self.runs = Path(runs).expanduser().resolve()
        self.folder = self.runs / ".jobs"
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.most, self._program = most, program
        self._folder_lock = ExitStack()  # without it, two apps would start the same job
        try:
            self._folder_lock.enter_context(locked(self.folder))
        except InUse:
            raise ValueError(
                f"another labkit app is already using {str(self.runs)!r} for its runs; use that app, or set "
                "LABKIT_RUNS to another folder for this one"
            ) from None
        self._lock = threading.RLock()
        self._jobs: dict[str, Job] = {}  # running and waiting jobs are in order
        self._process: subprocess.Popen[bytes] | None = None
        self._thread: threading.Thread | None = None
        self._closed = False
        for job in read_jobs(self.folder):
            self._put(job if job.state in ENDED else job.after("stopped", "the app was closed first"))

    # --- looking on ----------------------------------------------------------------------------------------------

    def jobs(self) -> list[Job]:
        """Running and waiting jobs in order, then ended ones, newest first."""
        with self._lock:
            every = list(self._jobs.values())
        ended = sorted((job for job in every if job.state in ENDED), key=lambda job: -job.ended)
        return [job for job in every if job.state not in ENDED] + ended

    def job(self, name: str) -> Job:
        """The job with this id."""
        with self._lock:
            if name not in self._jobs:
                raise ValueError(f"run {name!r} is no longer in the queue; its record was removed")
            return self._jobs[name]

    @property
    def live(self) -> list[Job]:
        """Running and waiting jobs; the index of a job is the number of jobs ahead of it."""
        return [job for job in self.jobs() if job.state not in ENDED]

    def visitor(self, job: Job) -> str:
        """The visitor of a classroom who owns the job, if any."""
        whose = owned(job.folder)
        return whose.owner if whose else ""

    def private(self, job: Job) -> Path:
        """The folder with the upload, progress and output of a job."""
        return self.folder / job.id

    def has_file(self, job: Job) -> bool:
        """Whether the job's file still exists, if it is on a visitor's file."""
        return not job.own or (self.private(job) / job.corpus).is_file()

    # --- changing ------------------------------------------------------------------------------------------------

    def submit(self, job: Job, upload: bytes = b"", *, visitor: str = "", each: int = 0, disk: int = 0) -> Job:
        """Put a job into the queue, with the content of the visitor's file if it is on one.

        Raise a ValueError if the job is invalid, the queue is full, this visitor already has `each` jobs in it, or
        their runs take `disk` bytes or more (0: no such limit).
        """
        job = replace(job, corpus=file_name(job.corpus)) if job.own else job
        job.check()
        with self._lock:
            self._check_limits(visitor, each, disk)
            number = max((int(name) for name in self._jobs if name.isdecimal()), default=0) + 1
            job = replace(job, id=f"{number:04d}", settings=dict(job.settings))
            file = self.private(job) / job.corpus
            with room_for(file):
                file.parent.mkdir(mode=0o700)
                if job.own:
                    file.write_bytes(upload)
            job = replace(job, folder=str(self._free(job.name)))
            if visitor:
                write_owned(Owned(Path(job.folder), visitor))
            for old in [job for job in self.jobs() if job.state in ENDED][KEPT:]:
                self._forget(old)
            return self._enqueue(job)

    def resume(self, name: str, *, visitor: str = "", each: int = 0, disk: int = 0) -> Job:
        """Put a job into the queue again: it resumes from its last checkpoint, or starts again without one."""
        with self._lock:
            job = self.job(name)
            if job.state not in RESUMABLE or is_locked(job.folder):
                raise ValueError(f"run {name} is being trained or is finished; it cannot be resumed")
            if not self.has_file(job):
                raise ValueError(f"the file of run {name} is gone; upload it again and start a new run")
            self._check_limits(visitor, each, disk)
            return self._enqueue(replace(job, why="", notes=()))

    def stop(self, name: str) -> None:
        """Take a job out of the queue; if it is running, stop it like Ctrl-C, which keeps the last checkpoint."""
        with self._lock:
            job = self.job(name)
            if job.state == "waiting":
                self._put(replace(job, state="stopped", why="removed from the queue", ended=time.time()))
            elif job.state == "running" and self._process is not None:
                self._put(replace(job, state="stopping"))
                training_process.stop(self._process)

    def delete(self, run: Path) -> None:
        """Delete a run that was trained here with all its files, and the records of its job and owner."""
        run = run.parent.resolve() / run.name
        with self._lock:
            jobs = [job for job in self._jobs.values() if Path(job.folder) == run]
            outside = run.parent != self.runs or run.resolve() != run  # a link, or `..`, leads elsewhere
            if outside or not (jobs or owned(run)):
                raise ValueError(f"run {run.name!r} no longer exists or was not trained here")
            if any(job.state not in ENDED for job in jobs) or is_locked(run):
                raise ValueError(f"run {run.name!r} is still being trained; stop it first")
            for job in jobs:
                self._forget(job)
            if run.exists():
                shutil.rmtree(run)
            _record(run).unlink(missing_ok=True)

    def close(self) -> None:
        """Stop the running job, keep its checkpoint, and release the queue for another app."""
        with self._lock:
            self._closed = True
            process, thread = self._process, self._thread
            if process is not None:
                training_process.stop(process)
        if thread is not None:
            thread.join(LEAVE)
        if process is not None:
            process.kill()  # the app does not wait longer
        with self._lock:
            for job in self.live:
                self._put(job.after("stopped", "the app was closed first"))
            self._folder_lock.close()

    def _forget(self, job: Job) -> None:
        """Remove the record of a job that has ended, and its upload; the run stays where it is."""
        del self._jobs[job.id]
        (self.folder / f"{job.id}.json").unlink(missing_ok=True)
        shutil.rmtree(self.private(job), ignore_errors=True)
        with suppress(OSError):  # the folder contains a run
            Path(job.folder).rmdir()

    # --- one after the other -------------------------------------------------------------------------------------

    def _enqueue(self, job: Job) -> Job:
        job = replace(job, state="waiting", began=0.0, ended=0.0)
        write_job(self.folder, job)  # if that fails, nothing has happened
        self._jobs.pop(job.id, None)  # so that it goes to the end
        self._jobs[job.id] = job
        if self._thread is None:
            self._thread = threading.Thread(target=self._follow, name="labkit queue", daemon=True)
            self._thread.start()
        return job

    def _follow(self) -> None:
        """Run one job after the other until none is waiting."""
        while (job := self._begin()) is not None:
            assert self._process
            self._end(job.id, self._process.wait())

    def _begin(self) -> Job | None:
        with self._lock:
            self._process = None
            for job in self.live if not self._closed else ():
                try:
                    words = job.words(Path(job.folder), resume=job.checkpoint)
                    self._process = training_process.started(words, self.private(job), self._program)
                except OSError as reason:
                    why = f"it could not be started: {sentence_of(reason)}"
                    self._put(replace(job, state="failed", why=why, ended=time.time()))
                    continue
                self._put(replace(job, state="running", began=time.time()))
                return job
            self._thread = None
            return None

    def _end(self, name: str, status: int) -> None:
        with self._lock:
            job = self._jobs[name]
            state, (why, notes) = "failed", verdict(self.private(job), status)
            if self._closed or job.state == "stopping" or status in (130, 143):
                state = "stopped"
                why = "its last checkpoint is kept" if job.checkpoint else "there was no checkpoint yet"
            job = job.after(state, why or "the folder of the run was removed", notes=notes)
            if job.own and (job.state == "finished" or (job.state == "failed" and not job.checkpoint)):
                (self.private(job) / job.corpus).unlink(missing_ok=True)
            self._put(job)

    def _put(self, job: Job) -> None:
        """Change a job in memory in any case; on a full disk, its old record remains, which is read as interrupted."""
        self._jobs[job.id] = job
        with suppress(OSError):
            write_job(self.folder, job)

    def _check_limits(self, visitor: str, each: int, disk: int) -> None:
        live = self.live
        if self._closed:
            raise ValueError("the app is shutting down; train again when it has restarted")
        if each and sum(self.visitor(job) == visitor for job in live) >= each:
            raise ValueError(f"you already have {each} runs in the queue, the limit for one visitor")
        if len(live) >= self.most:
            raise ValueError(f"the queue is full ({len(live)} runs); try again when one has ended")
        sizes = [(run.owner, run.size) for run in all_owned(self.runs)] if disk else []
        own, every = sum(size for owner, size in sizes if owner == visitor), sum(size for _, size in sizes)
        for whose, used, limit in (("your", own, disk), ("all visitors'", every, TOGETHER * disk)):
            if disk and used >= limit:
                raise ValueError(f"{whose} runs use {amount(used)}, and the limit is {amount(limit)}; delete some")

    def _free(self, name: str) -> Path:
        """Create, and thereby reserve, the first folder of name, name-2, ... that no run uses."""
        names = (name if number == 1 else f"{name}-{number}" for number in count(1))
        while True:
            place = self.runs / next(names)
            with suppress(FileExistsError):
                place.mkdir()
                return place


# --- the one queue of an app -------------------------------------------------------------------------------------

_QUEUES: dict[Path, Queue] = {}
_MAKING = threading.Lock()


def queue_of(runs: Path | str) -> Queue:
    """The queue, created on first use and closed when the process ends."""
    place = Path(runs).expanduser().resolve()
    with _MAKING:
        if place not in _QUEUES:
            _QUEUES[place] = Queue(place)
            atexit.register(_QUEUES[place].close)
        return _QUEUES[place]

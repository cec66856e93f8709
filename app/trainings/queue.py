"""The queue of trainings: one runs in its own process, the others wait for their turn.

    Order            what is wished for, checked like the settings of the command line -> the words of `labkit train`,
                     or of `labkit bench`, which waits in the same line
    Job              what is known of a training, a small file that outlives the app: .jobs/0007.json; beside it lies
                     .jobs/0007/, its private folder with the upload, its progress and what it said
    outcome          what has become of a training: what counts is the run on disk, so that one that was told to stop
                     while its test figures were computed is finished
    watch            how far a training is, read anew from its files each time: an `Observed`
    Queue, queue_of  submit, stop, resume, one at a time; all visitors of an app share one queue

The records on disk are at every moment such that an app started anew finds what had been trained, and can go on
with it. A thread follows the training that runs and begins the next; there is none while nothing is to be done.
"""

from __future__ import annotations

import atexit
import json
import os
import re
import shutil
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, field, fields, replace
from itertools import count
from pathlib import Path
from typing import Any

from labkit.atomic import amount, in_place, room_for, sentence_of
from labkit.locks import InUse, is_locked, locked
from labkit.runs import History, finished, has_checkpoint, history
from trainings.owners import Owned, all_owned, owned, write_owned
from trainings.process import PROGRAM, PROGRESS, Process, verdict

# --- orders ------------------------------------------------------------------------------------------------------

ENDINGS = (".csv", ".tsv", ".txt", ".jsonl", ".parquet", ".csv.gz", ".tsv.gz", ".jsonl.gz")
LONGEST = 80  # characters of a file's name
BENCH, REPORT = "bench", "report.json"  # the method of an order that compares methods, and what that ends with
MINUTES = 1, 120  # that a comparison may be given


def file_name(name: str) -> str:
    """The name of a visitor's file, in a form that stays in its folder and is not hidden; a ValueError if its ending is
    not one that labkit reads.

    >>> file_name("mine.csv"), file_name("../-my <data>.csv")
    ('mine.csv', 'my _data_.csv')
    """
    ending = next((ending for ending in ENDINGS[::-1] if name.lower().endswith(ending)), None)
    if ending is None:
        raise ValueError(f"name is {name!r}, expected a file that ends in one of {', '.join(ENDINGS)}")
    last = re.split(r"[/\\]", name[: -len(ending)])[-1]
    stem = re.sub(r"[^\w.() -]", "_", last).strip(" .-")[:LONGEST]
    return (stem or "upload") + ending


@dataclass(frozen=True)
class Order:
    """One training, or one comparison of methods: then `method` is BENCH and the settings have its minutes.

    `upload` is the content of a visitor's file; then `corpus` is the name of the file.
    """

    method: str
    corpus: str
    seed: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)
    upload: bytes | None = field(default=None, repr=False)

    @classmethod
    def of_file(cls, method: str, name: str, upload: bytes, **more: Any) -> Order:
        """An order for a file that somebody brought."""
        return cls(method, file_name(name), upload=upload, **more)

    def check(self) -> None:
        """A ValueError of one sentence where method, corpus, seed or a setting cannot be."""
        from labkit.corpora import CORPORA
        from labkit.methods import METHODS

        if self.method not in (*METHODS, BENCH):
            raise ValueError(f"method is {self.method!r}, expected one of {', '.join(METHODS)}")
        if self.upload is None and self.corpus not in CORPORA:
            raise ValueError(f"corpus is {self.corpus!r}, expected one of {', '.join(CORPORA)}, or a file's content")
        if not 0 <= self.seed < 2**32:
            raise ValueError(f"seed is {self.seed}, expected a whole number from 0 to {2**32 - 1}")
        if self.method != BENCH:
            METHODS[self.method].Settings.of(self.settings).check_used(self.settings)
        elif not MINUTES[0] <= self.settings["minutes"] <= MINUTES[1]:
            raise ValueError(f"minutes is {self.settings['minutes']}, expected {MINUTES[0]} to {MINUTES[1]}")

    @property
    def name(self) -> str:
        """The name of the run, as `labkit train` would call it; of a comparison, that of its folder."""
        stem = self.corpus.split(".")[0].replace(" ", "-")
        return f"{self.method}-{stem}" if self.method == BENCH else f"{self.method}-{stem}-seed{self.seed}"

    def words(self, out: Path, *, resume: bool = False) -> list[str]:
        """What comes after `labkit`; to resume is to begin where there is nothing to go on from."""
        if self.method == BENCH:  # which resumes by itself, and leaves a core to the app
            workers = max(1, (os.cpu_count() or 1) - 1)
            minutes = f"{self.settings['minutes']:g}"
            return [BENCH, self.corpus, "--minutes", minutes, "--out", str(out), "--workers", str(workers)]
        changes = [word for name, value in self.settings.items() for word in ("--set", f"{name}={value}")]
        words = ["train", self.method, "--corpus", self.corpus, "--seed", str(self.seed), *changes, "--out", str(out)]
        return [*words, "--resume"] if resume else words


# --- records -----------------------------------------------------------------------------------------------------

STATES = ("waiting", "running", "stopping", "stopped", "failed", "finished")
ENDED = ("stopped", "failed", "finished")


@dataclass(frozen=True)
class Job:
    """One training in the line. Times are seconds since 1970; `why` says in one sentence why it stopped or failed."""

    id: str
    method: str
    corpus: str
    seed: int
    folder: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    own: bool = False  # on a visitor's file
    state: str = "waiting"
    why: str = ""
    notes: tuple[str, ...] = ()
    began: float = 0.0
    ended: float = 0.0

    @property
    def name(self) -> str:
        """The name of the run's folder."""
        return Path(self.folder).name

    @property
    def order(self) -> Order:
        """What was wished for, without the file's content: that lies in the private folder."""
        return Order(self.method, self.corpus, self.seed, self.settings, b"" if self.own else None)

    @property
    def resumable(self) -> bool:
        """Whether it can go on, or begin again: it has ended, and its run is not finished."""
        return self.state in ("stopped", "failed")

    @property
    def checkpoint(self) -> bool:
        """Whether there is something to go on from."""
        return (Path(self.folder) / "planned.json").is_file() if self.is_bench else has_checkpoint(self.folder)

    @property
    def is_bench(self) -> bool:
        """Whether methods are compared, instead of one that is trained."""
        return self.method == BENCH

    @property
    def is_done(self) -> bool:
        """Whether its result is on disk; a comparison that was stopped has a report, too."""
        return bool(report_of(self.folder).get("finished")) if self.is_bench else finished(self.folder)


def report_of(folder: Path | str) -> dict[str, Any]:
    """What a comparison has found so far; empty where there is no report yet."""
    try:
        report = json.loads((Path(folder) / REPORT).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return report if isinstance(report, dict) else {}


def write_job(folder: Path, job: Job) -> None:
    """Write the record of a job, whole or not at all."""
    with in_place(folder / f"{job.id}.json") as file:
        file.write(json.dumps(asdict(job), ensure_ascii=False, indent=1).encode("utf-8", "surrogatepass"))


def read_jobs(folder: Path) -> list[Job]:
    """All of a folder, the oldest first; a file that is no job is passed over."""
    return [job for path in sorted(folder.glob("*.json")) if (job := _job(path)) is not None]


def _job(path: Path) -> Job | None:
    try:
        record = json.loads(path.read_bytes().decode("utf-8", "surrogatepass"))
        job = Job(**{each.name: record[each.name] for each in fields(Job)} | {"notes": (*record["notes"],)})
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return job if job.state in STATES and job.id == path.stem and isinstance(job.settings, dict) else None


# --- what became of a training -----------------------------------------------------------------------------------


def outcome(job: Job, private: Path, status: int, *, stopped: bool) -> Job:
    """The job with its last state, why, and the notes that were made."""
    why, notes = verdict(private, status)
    state = "failed"
    if job.is_done:
        state, why = "finished", ""
    elif stopped or status in (130, 143):
        state = "stopped"
        why = "its last checkpoint is kept" if job.checkpoint else "there was no checkpoint yet"
    elif status == 0:
        why = "the folder of the run was removed"
    return replace(job, state=state, why=why, notes=notes, ended=time.time())


def cut_off(job: Job) -> Job:
    """A job that an app which is gone had in its line; one that had ended, as it is."""
    if job.state in ENDED:
        return job
    state, why = ("finished", "") if job.is_done else ("stopped", "the app ended first")
    return replace(job, state=state, why=why, ended=time.time())


def for_this_app(folder: Path) -> ExitStack:
    """Lock the folder of the line, for this app alone: two would start the same training."""
    lock = ExitStack()
    try:
        lock.enter_context(locked(folder))
    except InUse:
        raise ValueError(
            f"another labkit app already trains into {str(folder.parent)!r}; use that app, or start this one with "
            "another folder in LABKIT_RUNS"
        ) from None
    return lock


# --- how far it is -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Observed:
    """`share` of the work in hand that is done and `left` in seconds: None where nobody knows."""

    what: str = ""
    share: float | None = None
    left: float | None = None
    seconds: float = 0.0
    history: History = field(default_factory=History)


def watch(job: Job, private: Path) -> Observed:
    """Read how far a training is now; a file that is not there yet, or any more, is nothing."""
    noted = _progress(private / PROGRESS) if job.state in ("running", "stopping") else {}
    done, total, left = noted.get("done"), noted.get("total"), noted.get("left")
    share = min(1.0, max(0.0, done / total)) if done is not None and total else None
    seconds = max(0.0, (job.ended or time.time()) - job.began) if job.began else 0.0
    if job.is_bench:  # each of its stages counts anew; what it is given is the time
        given = 60 * job.settings["minutes"]
        share, left = min(0.99, seconds / given), given - seconds if seconds < given else None
    return Observed(str(noted.get("what", "")), share, left, seconds, history(job.folder))


def _progress(path: Path) -> dict[str, float]:
    try:
        noted = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return noted if isinstance(noted, dict) else {}


# --- the queue ---------------------------------------------------------------------------------------------------

MOST = 12  # trainings that run or wait
TOGETHER = 20  # times the disk of one visitor, of all
KEPT = 40  # records of those that have ended
LEAVE = 15.0  # seconds that a training may take to stop when the app ends


class Queue:
    """The trainings into one folder of runs, of which `most` may be in the line."""

    def __init__(self, runs: Path | str, *, most: int = MOST, program: Sequence[str] = PROGRAM) -> None:
        self.runs = Path(runs).expanduser().resolve()
        self.folder = self.runs / ".jobs"
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.most, self._program = most, program
        self._folder_lock = for_this_app(self.folder)
        self._lock = threading.RLock()
        self._jobs = {job.id: job for job in map(cut_off, read_jobs(self.folder))}
        self._waiting: deque[str] = deque()
        self._visitors: dict[str, str] = {}  # job -> visitor
        self._process: Process | None = None
        self._thread: threading.Thread | None = None
        self._closed = False
        for job in self._jobs.values():
            write_job(self.folder, job)

    # --- looking on ----------------------------------------------------------------------------------------------

    def jobs(self) -> list[Job]:
        """Those in the line in their order, the one that runs first; then those that have ended, the newest first."""
        with self._lock:
            live = sorted((job for job in self._jobs.values() if job.state not in ENDED), key=self.place)
            return live + sorted((job for job in self._jobs.values() if job.state in ENDED), key=lambda job: -job.ended)

    def job(self, name: str) -> Job:
        """The job of this id."""
        with self._lock:
            if name not in self._jobs:
                raise ValueError(f"training {name!r} no longer exists; its record was removed")
            return self._jobs[name]

    def place(self, job: Job) -> int:
        """How many trainings are before it in the line."""
        with self._lock:
            if job.id not in self._waiting:
                return 0
            return self._waiting.index(job.id) + (self._process is not None)

    @property
    def busy(self) -> bool:
        """Whether anything runs or waits."""
        with self._lock:
            return any(job.state not in ENDED for job in self._jobs.values())

    def visitor(self, job: Job) -> str:
        """Who brought it; nothing where it was no visitor of a classroom."""
        whose = owned(job.folder)
        with self._lock:
            return self._visitors.get(job.id, "") if whose is None else whose.owner

    def private(self, job: Job) -> Path:
        """The folder with its upload, its progress and what it said."""
        return self.folder / job.id

    # --- changing ------------------------------------------------------------------------------------------------

    def submit(self, order: Order, *, visitor: str = "", each: int = 0, disk: int = 0) -> Job:
        """Put an order into the queue; the run belongs to the visitor.

        Raise a ValueError where the order is invalid, the queue is full, this visitor already has `each` trainings in
        it, or their runs take `disk` bytes or more (0: no such limit).
        """
        order.check()
        with self._lock:
            self._room(visitor, each, disk)
            number = max((int(name) for name in self._jobs if name.isdecimal()), default=0) + 1
            private, own = self.folder / f"{number:04d}", order.upload is not None
            with room_for(private / order.corpus):
                private.mkdir(mode=0o700)
                if order.upload is not None:
                    (private / order.corpus).write_bytes(order.upload)
            folder = str(self._free(order.name))
            job = Job(private.name, order.method, order.corpus, order.seed, folder, dict(order.settings), own)
            self._visitors[job.id] = visitor
            if visitor:
                write_owned(Owned(Path(folder), visitor))
            for old in [job for job in self.jobs() if job.state in ENDED][KEPT:]:
                self.forget(old.id)
            return self._queue(job)

    def resume(self, name: str, *, visitor: str = "", each: int = 0, disk: int = 0) -> Job:
        """Put a training into the line again: it goes on from its last checkpoint, or begins anew without one."""
        with self._lock:
            job = self.job(name)
            if not job.resumable:
                raise ValueError(f"training {name} is {job.state}, expected one that was stopped or failed")
            if job.own and not (self.private(job) / job.corpus).is_file():
                raise ValueError(f"the file of training {name} is gone; upload it again and start a new training")
            if is_locked(job.folder):
                raise ValueError(f"training {name} is being trained by another process; wait for it")
            self._room(visitor, each, disk)
            self._visitors[name] = visitor
            return self._queue(replace(job, why="", notes=()))

    def stop(self, name: str) -> None:
        """Take a training out of the line; if it runs, as at Ctrl-C: the last checkpoint is kept."""
        with self._lock:
            job = self.job(name)
            if job.state == "waiting":
                self._waiting.remove(name)
                self._put(replace(job, state="stopped", why="removed from the queue", ended=time.time()))
            elif job.state == "running" and self._process is not None:
                self._put(replace(job, state="stopping"))
                self._process.stop()

    def forget(self, name: str) -> None:
        """The record of a training that has ended, and its upload; the run stays where it is."""
        with self._lock:
            job = self.job(name)
            if job.state not in ENDED:
                raise ValueError(f"training {name} is {job.state}; stop it first")
            del self._jobs[name]
            (self.folder / f"{name}.json").unlink(missing_ok=True)
            shutil.rmtree(self.private(job), ignore_errors=True)
            with suppress(OSError):  # there is a run in it
                Path(job.folder).rmdir()

    def delete(self, run: Path) -> None:
        """Delete the run of a visitor with all its files, and the record of its training."""
        with self._lock:
            jobs = [job for job in self._jobs.values() if Path(job.folder) == run]
            if run.parent != self.runs or owned(run) is None:
                raise ValueError(f"run {run.name!r} no longer exists or belongs to no visitor")
            if any(job.state not in ENDED for job in jobs) or is_locked(run):
                raise ValueError(f"run {run.name!r} is being trained; stop it first")
            for job in jobs:
                self.forget(job.id)
            if run.exists():
                shutil.rmtree(run)

    def close(self) -> None:
        """Stop what runs, keep its checkpoint, and let another app have the line."""
        with self._lock:
            self._closed = True
            process, thread = self._process, self._thread
            if process is not None:
                process.stop()
        if thread is not None:
            thread.join(LEAVE)
        if process is not None:
            process.end()  # the app does not wait longer
        with self._lock:
            for job in list(self._jobs.values()):
                if job.state not in ENDED:
                    self._put(cut_off(job))
            self._folder_lock.close()

    # --- the line ------------------------------------------------------------------------------------------------

    def _queue(self, job: Job) -> Job:
        job = replace(job, state="waiting", began=0.0, ended=0.0)
        write_job(self.folder, job)  # if that fails, nothing has happened
        self._jobs[job.id] = job
        self._waiting.append(job.id)
        if self._thread is None:
            self._thread = threading.Thread(target=self._follow, name="labkit trainings", daemon=True)
            self._thread.start()
        return job

    def _follow(self) -> None:
        """One after the other, until none waits."""
        while (started := self._next()) is not None:
            job, process = started
            self._ended(job.id, process.wait())

    def _next(self) -> tuple[Job, Process] | None:
        with self._lock:
            self._process = None
            while self._waiting and not self._closed:
                job = self._jobs[self._waiting.popleft()]
                try:
                    words = job.order.words(Path(job.folder), resume=job.checkpoint)
                    self._process = Process(words, self.private(job), self._program)
                except OSError as reason:
                    why = f"it could not be started: {sentence_of(reason)}"
                    self._put(replace(job, state="failed", why=why, ended=time.time()))
                    continue
                job = replace(job, state="running", began=time.time())
                self._put(job)
                return job, self._process
            self._thread = None
            return None

    def _ended(self, name: str, status: int) -> None:
        with self._lock:
            job = self._jobs[name]
            private = self.private(job)
            job = outcome(job, private, status, stopped=self._closed or job.state == "stopping")
            if job.own and (job.state == "finished" or (job.state == "failed" and not job.checkpoint)):
                (private / job.corpus).unlink(missing_ok=True)
            self._put(job)

    def _put(self, job: Job) -> None:
        """Change a job in memory in any case; on a full disk its record stays as it was, which is read as cut off."""
        self._jobs[job.id] = job
        try:
            write_job(self.folder, job)
        except OSError:
            return

    # --- limits --------------------------------------------------------------------------------------------------

    def _room(self, visitor: str, each: int, disk: int) -> None:
        live = [job for job in self._jobs.values() if job.state not in ENDED]
        if self._closed:
            raise ValueError("the app is shutting down; train again when it has restarted")
        if each and sum(self._visitors.get(job.id) == visitor for job in live) >= each:
            raise ValueError(
                f"you already have {each} trainings in the queue, the limit for one visitor; wait until one ends"
            )
        if len(live) >= self.most:
            raise ValueError(f"the queue is full: {len(live)} trainings run or wait; try again when one has ended")
        if disk:
            self._disk(visitor, disk)

    def _disk(self, visitor: str, each: int) -> None:
        sizes = [(run.owner, run.size) for run in all_owned(self.runs)]
        if (own := sum(size for owner, size in sizes if owner == visitor)) >= each:
            raise ValueError(
                f"your runs use {amount(own)} of disk space, and the limit for one visitor is {amount(each)}; "
                "delete one under Your runs"
            )
        if (every := sum(size for _, size in sizes)) >= TOGETHER * each:
            raise ValueError(
                f"the runs of all visitors use {amount(every)} of disk space, and the limit is "
                f"{amount(TOGETHER * each)}; delete one of yours, or ask the teacher to make room"
            )

    def _free(self, name: str) -> Path:
        """The first of name, name-2, ... that no run and no training in the line has, made: so it is taken."""
        taken = {job.folder for job in self._jobs.values()}
        places = (self.runs / (name if number == 1 else f"{name}-{number}") for number in count(1))
        while True:
            place = next(place for place in places if str(place) not in taken)
            with suppress(FileExistsError):
                place.mkdir()
                return place


# --- the one queue of an app -------------------------------------------------------------------------------------

_QUEUES: dict[Path, Queue] = {}
_MAKING = threading.Lock()


def queue_of(runs: Path | str) -> Queue:
    """The queue, made when it is first asked for and closed when the process ends."""
    place = Path(runs).expanduser().resolve()
    with _MAKING:
        if place not in _QUEUES:
            _QUEUES[place] = Queue(place)
            atexit.register(_QUEUES[place].close)
        return _QUEUES[place]

"""What is known of a training in the line: a `Job`, kept as a small file so that it outlives the app.

.jobs/0007.json     the job             .jobs/0007/     its private folder: the upload, progress, what it said
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from labkit.atomic import in_place
from labkit.jobs.order import Order
from labkit.runs import has_checkpoint

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
        """Of the run's folder."""
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
        return has_checkpoint(self.folder)


def write_job(folder: Path, job: Job) -> None:
    """Whole or not at all."""
    with in_place(folder / f"{job.id}.json") as file:
        file.write(json.dumps(asdict(job), ensure_ascii=False, indent=1).encode("utf-8", "surrogatepass"))


def read_jobs(folder: Path) -> list[Job]:
    """All of a folder, the oldest first; a file that is no job is passed over."""
    return [job for path in sorted(folder.glob("*.json")) if (job := _job(path)) is not None]


def remove_job(folder: Path, job: Job) -> None:
    """The record and all that is private to it; the run stays."""
    (folder / f"{job.id}.json").unlink(missing_ok=True)
    shutil.rmtree(folder / job.id, ignore_errors=True)


def _job(path: Path) -> Job | None:
    try:
        found = json.loads(path.read_bytes().decode("utf-8", "surrogatepass"))
        job = Job(**{name: found[name] for name in (each.name for each in fields(Job))} | {"notes": (*found["notes"],)})
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return job if job.state in STATES and job.id == path.stem and isinstance(job.settings, dict) else None

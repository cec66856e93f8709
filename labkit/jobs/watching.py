"""How far a training is. In: a job and its private folder. Out: a `Watched`, read anew from the files each time: the
figures of the epochs so far, what it is doing, and how long is left.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from pathlib import Path

from labkit.history import History
from labkit.jobs.process import PROGRESS
from labkit.jobs.record import Job
from labkit.runs import HISTORY


@dataclass(frozen=True)
class Watched:
    """`share` of the work in hand that is done and `left` in seconds: None where nobody knows."""

    what: str = ""
    share: float | None = None
    left: float | None = None
    seconds: float = 0.0
    history: History = field(default_factory=History)


def watch(job: Job, private: Path) -> Watched:
    """As it is now; a file that is not there yet, or any more, is nothing."""
    found = _progress(private / PROGRESS) if job.state in ("running", "stopping") else {}
    done, total, left = found.get("done"), found.get("total"), found.get("left")
    share = min(1.0, max(0.0, done / total)) if done is not None and total else None
    seconds = max(0.0, (job.ended or time.time()) - job.began) if job.began else 0.0
    return Watched(str(found.get("what", "")), share, left, seconds, history(job.folder))


def history(folder: Path | str) -> History:
    """What a run has written of its epochs."""
    try:
        return History.of_csv((Path(folder) / HISTORY).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return History()


def clock(seconds: float) -> str:
    """A time as people say it.

    >>> clock(4.2), clock(75), clock(3700)
    ('4 s', '1 min 15 s', '1 h 1 min')
    """
    minutes, rest = divmod(round(seconds), 60)
    if minutes >= 60:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _progress(path: Path) -> dict[str, float]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}

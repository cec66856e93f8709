"""What has become of a training. In: its job, its private folder, its exit status. Out: the job as it ended.

What counts is the run on disk: a training that was told to stop while its test figures were computed is finished.
"""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

from labkit.holding import Held, Hold, holder
from labkit.jobs.process import verdict
from labkit.jobs.record import ENDED, Job
from labkit.runs import finished


def outcome(job: Job, private: Path, status: int, *, stopped: bool) -> Job:
    """The job with its last state, why, and the notes that were made."""
    why, notes = verdict(private, status)
    state = "failed"
    if finished(job.folder):
        state, why = "finished", ""
    elif stopped or status in (130, 143):
        state = "stopped"
        why = "its last checkpoint is kept" if job.checkpoint else "there was no checkpoint yet"
    elif status == 0:
        why = "its run is not there any more: the folder was removed"
    return replace(job, state=state, why=why, notes=notes, ended=time.time())


def cut_off(job: Job) -> Job:
    """A job that an app which is gone had in its line; one that had ended, as it is."""
    if job.state in ENDED:
        return job
    state, why = ("finished", "") if finished(job.folder) else ("stopped", "the app ended before it")
    return replace(job, state=state, why=why, ended=time.time())


def held(folder: Path) -> Hold:
    """The folder of the line, for this app alone: two would start the same training."""
    try:
        return Hold(folder)
    except Held:
        raise ValueError(
            f"another labkit app trains into {str(folder.parent)!r} ({holder(folder) or 'it has just ended'}); train "
            "there, or start this one with another folder in LABKIT_RUNS"
        ) from None

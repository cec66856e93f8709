"""Keeping a run in its folder while it is trained, and refusing a folder that holds anything else.

In: the folder, a callable that gives the run as it is now, and what tells one training from another (method, settings,
corpus, seed). Of several processes only the first writes, and while it does the folder is its own.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from labkit.holding import Hold
from labkit.runs import Checkpoint, Run, last_checkpoint, read_record, write_checkpoint, write_run


class Keeper:
    """Keeps a run in a folder while it is trained: its present state, and checkpoints to go on from."""

    def __init__(self, folder: Path | str | Hold, run: Callable[[str], Run], training: Mapping[str, Any]) -> None:
        self.folder, self._run, self._training = Path(folder), run, dict(training)
        self._writes = os.environ.get("RANK", "0") == "0"  # of several processes the first
        self._found: Checkpoint | None = None
        self._hold: Hold | None = None  # of a folder that was given already held, its holder lets go
        if not self._writes:
            return
        if not isinstance(folder, Hold):
            self._hold = Hold(folder)
        try:
            self._found = self._begin()
        except BaseException:
            self.close()
            raise

    def epoch(self) -> None:
        """Write the method as it is now; the run says that it is still in training."""
        if self._writes:
            write_run(self._run("training"), self.folder)

    def finish(self) -> None:
        """Write the method; the run is finished and its checkpoints go."""
        if self._writes:
            write_run(self._run("finished"), self.folder)

    def close(self) -> None:
        """Let the folder go, however the training ended."""
        if self._hold is not None:
            self._hold.release()

    def checkpoint(self, arrays: Mapping[str, np.ndarray], record: Mapping[str, Any]) -> None:
        """All that is needed to go on from here."""
        if self._writes:
            write_checkpoint(self.folder, arrays, {**record, "training": self._training})

    def resume(self) -> Checkpoint | None:
        """What the last checkpoint wrote; None if there is none."""
        if not self._writes:
            return last_checkpoint(self.folder)[0]
        found, self._found = self._found, None
        return found

    def _begin(self) -> Checkpoint | None:
        """What there is to go on from. Damaged checkpoints go, so that they take no good one's place."""
        found, damaged = last_checkpoint(self.folder)
        # what is hidden is a lock, or half a file of who was killed
        if any(not path.name.startswith(".") for path in self.folder.iterdir()):
            self._refuse_another(found, begun=bool(damaged))
        for name, reason in damaged.items():
            what = "the training begins anew" if found is None else "the training goes on from the one before it"
            warnings.warn(f"{reason}, in {str(self.folder)!r}; {what}", UserWarning, stacklevel=2)
            (self.folder / name).unlink()
        return found

    def _refuse_another(self, found: Checkpoint | None, *, begun: bool) -> None:
        """A folder that holds a finished run, another training, or somebody's files is not written into."""
        if found is not None:
            theirs = found[1].get("training", {})
        elif (self.folder / "run.json").is_file():
            theirs = self._unfinished()
        elif begun:  # and nothing tells what it was
            return
        else:
            raise ValueError(
                f"folder {str(self.folder)!r} holds files that are not a run's; choose an empty or a new one"
            )
        if told := difference(self._training, theirs):
            raise ValueError(
                f"folder {str(self.folder)!r} holds an interrupted training with {told}; use the same to go on, or "
                "choose another folder"
            )

    def _unfinished(self) -> dict[str, Any]:
        """The record of a run whose training has no checkpoint, and can only begin anew."""
        what = "a run that cannot be read"
        with suppress(ValueError):
            record = read_record(self.folder)
            if record["state"] != "finished":
                return record
            what = f"a run of {record['method']} already"
        raise ValueError(
            f"folder {str(self.folder)!r} holds {what}; choose another folder, or remove this one"
        ) from None


def difference(mine: Mapping[str, Any], theirs: Mapping[str, Any]) -> str:
    """In what a training differs from this one, in words; nothing where it is the same."""
    for name in mine:
        if mine[name] != theirs.get(name):
            return f"another {name} ({theirs.get(name)!r}, not {mine[name]!r})"
    return ""

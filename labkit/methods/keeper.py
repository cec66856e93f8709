"""Keeping a run in its folder while it is trained, and refusing a folder that holds anything else.

In: the folder, a callable that gives the run as it is now, and what tells one training from another (method, settings,
corpus, seed). Of several processes only the first writes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from labkit.runs import Run, read_checkpoint, read_record, write_checkpoint, write_run


class Keeper:
    """Keeps a run in a folder while it is trained: its present state, and checkpoints to go on from."""

    def __init__(self, folder: Path, run: Callable[[str], Run], training: Mapping[str, Any]) -> None:
        self.folder, self._run, self._training = folder, run, dict(training)
        self._writes = os.environ.get("RANK", "0") == "0"  # of several processes the first
        if self._writes:
            self._refuse_another()

    def epoch(self) -> None:
        """Write the method as it is now; the run says that it is still in training."""
        if self._writes:
            write_run(self._run("training"), self.folder)

    def finish(self) -> None:
        """Write the method; the run is finished and its checkpoint goes."""
        if self._writes:
            write_run(self._run("finished"), self.folder)

    def checkpoint(self, arrays: Mapping[str, np.ndarray], record: Mapping[str, Any]) -> None:
        """All that is needed to go on from here."""
        if self._writes:
            write_checkpoint(self.folder, arrays, {**record, "training": self._training})

    def resume(self) -> tuple[dict[str, np.ndarray], dict[str, Any]] | None:
        """What the last checkpoint wrote; None if there is none."""
        return read_checkpoint(self.folder)

    def _refuse_another(self) -> None:
        """A folder that holds a finished run, another training, or somebody's files is not written into."""
        if self.folder.exists() and not self.folder.is_dir():
            raise ValueError(
                f"folder is {str(self.folder)!r}, a file, expected a folder for a run; choose another name"
            )
        if not self.folder.exists() or not any(not path.name.startswith(".") for path in self.folder.iterdir()):
            return  # hidden files are what a killed process left of a file it was writing
        if not (self.folder / "run.json").is_file() and read_checkpoint(self.folder) is None:
            raise ValueError(
                f"folder {str(self.folder)!r} holds files that are not a run's; choose an empty or a new one"
            )
        found = read_checkpoint(self.folder)
        if found is None:
            raise ValueError(
                f"folder {str(self.folder)!r} holds a run of {read_record(self.folder)['method']} already; choose "
                "another folder, or remove this one"
            )
        mine, theirs = self._training, found[1]["training"]
        for name in mine:
            if mine[name] != theirs[name]:
                raise ValueError(
                    f"folder {str(self.folder)!r} holds an interrupted training with another {name} "
                    f"({theirs[name]!r}, not {mine[name]!r}); use the same to go on, or choose another folder"
                )

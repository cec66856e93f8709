"""Recipes: how the rows of the papers' tables are recomputed. Each is a function from a `Case` to a `Result`.

scoring    a trained method scored on its test split: classes, clusters, grades, sections, paraphrases, FILM's descent
locality   SBERT-LP's tables: the same frozen vectors, unchanged and after each transform
speed      one query against n sentences, also with a slow cross-encoder

In: a `Case`, an experiment with the data and the folder that its recipe may use. Trainings by `case.fitted()` are
stored in a run folder named by a digest of their inputs: other tables reuse them, and interrupted ones resume.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from labkit.corpora import Corpus
from labkit.experiment import Experiment
from labkit.locks import InUse
from labkit.method import Method
from labkit.progress import Progress, silent
from labkit.runs import read_record
from labkit.training import Training

_KEPT_IN_MEMORY = 2  # fitted methods: consecutive cells often need the same one
_SLOW = 5.0  # seconds: reading a run is faster


@dataclass(frozen=True, eq=False)
class Case(Experiment):
    """The experiment of one cell, with the input of its recipe."""

    corpus: Corpus
    also: Mapping[str, Corpus] = field(default_factory=dict)
    runs: Path | None = None
    progress: Progress = silent
    memory: dict[str, Method] = field(default_factory=dict)
    quick: bool = False
    sides: tuple[Mapping[str, Any], ...] = ()  # settings of concatenated networks

    def fitted(self, corpus: Corpus | None = None, **changes: Any) -> Method:
        """The method of this cell, trained on `corpus` (the cell's own if none is given)."""
        given = self.corpus if corpus is None else corpus
        experiment = Experiment(self.method, given, {**self.settings, **changes}, self.seed, self.methods)
        name = run_name(experiment)
        if name not in self.memory:
            while len(self.memory) >= _KEPT_IN_MEMORY:
                self.memory.pop(next(iter(self.memory)))
            self.memory[name] = self._trained(experiment, None if self.runs is None else self.runs / name)
        return self.memory[name]

    def _trained(self, experiment: Experiment, folder: Path | None) -> Method:
        """The trained method, read from its folder if finished; slow ones without checkpoints are stored at the end."""
        if folder is not None and _finished(folder):
            return experiment.entry().load(folder)
        training = isinstance(experiment.unfitted().settings, Training)
        begun = time.monotonic()
        try:
            method = experiment.fit(self.progress, folder if training else None)
        except InUse:  # another process computes the same: it may take long, or never end
            return experiment.fit(self.progress)
        if folder is not None and not training and time.monotonic() - begun > _SLOW:
            with suppress(InUse):
                method.save(folder)
        return method


def run_name(experiment: Experiment) -> str:
    """The folder name of a training for the papers' tables."""
    return f"{experiment.method}-{experiment.key[:20]}"


def _finished(folder: Path) -> bool:
    """Whether a complete run is there; a damaged one is removed."""
    if not (folder / "run.json").is_file():
        return False
    try:
        return bool(read_record(folder)["state"] == "finished")
    except ValueError:
        shutil.rmtree(folder)
        return False

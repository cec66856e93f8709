"""Recipes: how the rows of the papers' tables are recomputed. Each is a function from a `Case` to a `Result`.

scoring    a trained method scored on its test split: classes, clusters, grades, sections, paraphrases, FILM's descent
locality   SBERT-LP's tables: the same frozen vectors, unchanged and after each transform
speed      one query against n sentences
cross_encoders  networks that read both sentences of a pair at once

In: a `Case`, an experiment with the data and the folder that its recipe may use. Runs trained by `case.fitted()` are
stored in a folder named by a digest of their inputs: other tables reuse them, and interrupted runs resume.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from labkit.corpora import Corpus
from labkit.experiment import Experiment
from labkit.locks import InUse, is_locked
from labkit.method import Method
from labkit.progress import Progress, silent
from labkit.runs import finished, has_checkpoint


@dataclass(frozen=True, eq=False)
class Case(Experiment):
    """The experiment of one cell, with the input of its recipe."""

    corpus: Corpus
    also: Mapping[str, Corpus] = field(default_factory=dict)
    runs: Path | None = None
    progress: Progress = silent
    memory: dict[str, Method] = field(default_factory=dict)  # the methods that this cell has trained
    quick: bool = False
    sides: tuple[Mapping[str, Any], ...] = ()  # settings of concatenated networks

    def fitted(self, corpus: Corpus | None = None, **changes: Any) -> Method:
        """The method of this cell, trained on `corpus` (the cell's own if none is given)."""
        given = self.corpus if corpus is None else corpus
        experiment = Experiment(self.method, given, {**self.settings, **changes}, self.seed, self.methods)
        name = run_name(experiment)
        if name not in self.memory:
            self.memory[name] = _trained(experiment, self.runs and self.runs / name, self.progress)
        return self.memory[name]


def _trained(experiment: Experiment, folder: Path | None, progress: Progress) -> Method:
    """The trained method, read from its folder if it is finished."""
    if folder is not None and finished(folder):
        return experiment.entry().load(folder)
    if folder is not None and (folder / "run.json").is_file() and not (has_checkpoint(folder) or is_locked(folder)):
        shutil.rmtree(folder)  # a damaged run
    try:
        return experiment.fit(progress, folder)
    except InUse:  # another process trains the same method, which may take long or never end
        return experiment.fit(progress)


def run_name(experiment: Experiment) -> str:
    """The folder name of a run for the papers' tables."""
    return f"{experiment.method}-{experiment.key[:20]}"

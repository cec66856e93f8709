"""What a recipe is given: the data, the method to fit, a seed, and where trainings are kept.

In: a `Case`. Out: its `fitted` method. A training is kept in a run folder named by all it depends on: another table
that needs the same one opens it, and one that was interrupted goes on where it stopped.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from labkit.corpora import Corpus
from labkit.folders import Held
from labkit.method import Method
from labkit.methods import METHODS
from labkit.methods import load as load_run
from labkit.progress import Progress, silent
from labkit.runs import read_record
from labkit.training import Training

#: the version of what all cells share: recipes, scores, text, the preparation of data sets. Whoever changes a figure
#: raises it, or the `version` of the one method that gives other vectors; cells of the old version are computed anew.
VERSION = 1
_KEPT_IN_MEMORY = 2  # fitted methods: consecutive cells often ask for the same
_SLOW = 5.0  # seconds: reading a run takes less


@dataclass(frozen=True, eq=False)
class Case:
    """One cell's work."""

    corpus: Corpus
    seed: int
    method: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    also: Mapping[str, Corpus] = field(default_factory=dict)
    runs: Path | None = None
    progress: Progress = silent
    quick: bool = False
    memory: dict[str, Method] = field(default_factory=dict)
    sides: tuple[Mapping[str, Any], ...] = ()  # settings of networks that stand side by side

    def fitted(self, corpus: Corpus | None = None, **changes: Any) -> Method:
        """The method of this cell, trained on `corpus` (the cell's own if none is given)."""
        given = self.corpus if corpus is None else corpus
        method = METHODS[self.method](**{**self.settings, **changes})
        name = training_name(method, given, self.seed)
        if name not in self.memory:
            while len(self.memory) >= _KEPT_IN_MEMORY:
                self.memory.pop(next(iter(self.memory)))
            self.memory[name] = self._trained(method, given, name)
        return self.memory[name]

    def _trained(self, method: Method, corpus: Corpus, name: str) -> Method:
        """From its folder where it is finished; trainings are kept there as they go, others at the end if they were
        slow."""
        folder = None if self.runs is None else self.runs / name
        if folder is not None and _finished(folder):
            return load_run(folder)
        training = isinstance(method.settings, Training)
        begun = time.monotonic()
        try:
            method.fit(corpus, seed=self.seed, progress=self.progress, folder=folder if training else None)
        except Held:  # another process computes the same: it may take long, or never end
            method.fit(corpus, seed=self.seed, progress=self.progress)
            return method
        if folder is not None and not training and time.monotonic() - begun > _SLOW:
            with suppress(Held):
                method.save(folder)
        return method


def _finished(folder: Path) -> bool:
    """Whether a whole run lies there; one that is damaged is cleared away."""
    if not (folder / "run.json").is_file():
        return False
    try:
        return bool(read_record(folder)["state"] == "finished")
    except ValueError:
        shutil.rmtree(folder)
        return False


def training_name(method: Method, corpus: Corpus, seed: int) -> str:
    """The same for two trainings that must give the same: method, settings, corpus, seed, versions."""
    told = {
        "method": method.name,
        "settings": method.settings.values(),
        "corpus": corpus.fingerprint,
        "seed": seed,
        "versions": versions_of(method.name),
    }
    return f"{method.name}-{digest(told)[:20]}"


def versions_of(method: str) -> dict[str, int]:
    """The versions that a cell of this method is computed with, as people state them."""
    return {"shared": VERSION} | ({"method": METHODS[method].method.version} if method in METHODS else {})


def digest(told: Any) -> str:
    """sha256 of anything JSON can hold."""
    return hashlib.sha256(json.dumps(told, sort_keys=True, ensure_ascii=True).encode()).hexdigest()

"""An experiment: a method, its training corpus, the settings that differ from the defaults, and a seed.

>>> Experiment("film", "questions", {"dimension": 30}).command
'labkit train film --corpus questions --seed 0 --set dimension=30'

The corpus is given by name, as a file or as a `Corpus`; a method outside `METHODS` needs its own table. Nothing is
opened or imported until it is needed.
"""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from labkit.corpora import Corpus
    from labkit.method import Method
    from labkit.progress import Progress

#: version of everything that experiments share: text, data preparation, recipes, scores. Raise it, or the `version` of
#: one method, if results change; results of older versions are recomputed.
VERSION = 1


@dataclass(frozen=True)
class Experiment:
    """One run to train; `settings` contains only those that differ from the method's defaults."""

    method: str
    corpus: str | Corpus
    settings: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    methods: Mapping[str, type[Method]] | None = field(default=None, repr=False)

    @property
    def name(self) -> str:
        """The name of its run folder. For a file, the corpus part is the file name without folder and extension."""
        corpus = Path(self.corpus if isinstance(self.corpus, str) else self.corpus.name).name.split(".")[0]
        return f"{self.method}-{corpus or 'corpus'}-seed{self.seed}"

    @property
    def folder(self) -> Path:
        """The folder into which `labkit train` puts its run."""
        return Path("runs", self.name)

    @property
    def changes(self) -> tuple[str, ...]:
        """The settings in the form that `--set` expects."""
        return tuple(f"{name}={value}" for name, value in self.settings.items())

    @property
    def command(self) -> str:
        """The command that reproduces the experiment."""
        corpus = self.corpus if isinstance(self.corpus, str) else self.corpus.name
        changes = [word for change in self.changes for word in ("--set", change)]
        return shlex.join(["labkit", "train", self.method, "--corpus", corpus, "--seed", str(self.seed), *changes])

    @property
    def entry(self) -> type[Method]:
        """The class of the method."""
        from labkit.methods import METHODS

        return (self.methods or METHODS)[self.method]

    @property
    def key(self) -> str:
        """A digest of everything that determines the result: method, settings, corpus content, seed, versions."""
        settings = self.unfitted().settings.decisive()
        about = {"method": self.method, "settings": settings, "corpus": self.opened().fingerprint, "seed": self.seed}
        return digest(about | {"versions": versions_of(self.entry, settings)})

    def opened(self) -> Corpus:
        """The corpus itself."""
        from labkit.corpora import load

        return load(self.corpus) if isinstance(self.corpus, str) else self.corpus

    def unfitted(self) -> Method:
        """The method with these settings, before training."""
        return self.entry(**self.settings)

    def fit(self, progress: Progress | None = None, folder: Path | str | None = None) -> Method:
        """Train the method and return it. With `folder`, the run is saved there during training."""
        method = self.unfitted()
        method.fit(self.opened(), seed=self.seed, progress=progress, folder=folder)
        return method


def versions_of(entry: type[Method] | None, settings: Mapping[str, Any]) -> dict[str, int]:
    """The versions that determine the results of an experiment, with or without a method.

    A method with a base also lists the base's version, if that is above 1.
    """
    from labkit.methods import METHODS

    base = METHODS.get(str(settings.get("base")).partition(":")[0])
    versions = {"shared": VERSION} | ({"method": entry.version} if entry else {})
    return versions | ({"base": base.version} if base and base.version > 1 else {})


def digest(record: Any) -> str:
    """The sha256 of any value that JSON can represent."""
    return hashlib.sha256(json.dumps(record, sort_keys=True, ensure_ascii=True).encode()).hexdigest()

"""An experiment: a method, the corpus it learns from, the settings that are not the method's own, and a seed.

    one = Experiment("film", "questions", {"dimension": 30})
    one.command       labkit train film --corpus questions --seed 0 --set dimension=30
    one.name          film-questions-seed0: the run's folder, which stands in runs/
    one.key           the same for two trainings that must give the same numbers
    one.fit()         the method that has learned

In: these four; the corpus by its name, as a file, or opened; and the table that lists the method, where that is not
`METHODS`. Nothing is opened or imported until it is needed.
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

#: the version of what all experiments share: text, the preparation of data sets, recipes, scores. Whoever changes a
#: figure raises it, or the `version` of the one method that gives other vectors; what has the old one is computed anew.
VERSION = 1


@dataclass(frozen=True)
class Experiment:
    """One training; `settings` are those that are not the method's own."""

    method: str
    corpus: str | Corpus
    settings: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    methods: Mapping[str, type[Method]] | None = field(default=None, repr=False)

    @property
    def name(self) -> str:
        """The name of its run folder; a corpus that is a file gives its own name, without folder and endings."""
        corpus = Path(self.corpus if isinstance(self.corpus, str) else self.corpus.name).name.split(".")[0]
        return f"{self.method}-{corpus or 'corpus'}-seed{self.seed}"

    @property
    def folder(self) -> Path:
        """The folder into which `labkit train` puts its run."""
        return Path("runs", self.name)

    @property
    def changes(self) -> tuple[str, ...]:
        """The settings as `--set` takes them."""
        return tuple(f"{name}={value}" for name, value in self.settings.items())

    @property
    def words(self) -> list[str]:
        """The words that come after `labkit` where a command line carries it out."""
        corpus = self.corpus if isinstance(self.corpus, str) else self.corpus.name
        changes = [word for change in self.changes for word in ("--set", change)]
        return ["train", self.method, "--corpus", corpus, "--seed", str(self.seed), *changes]

    @property
    def command(self) -> str:
        """The command that repeats it."""
        return shlex.join(["labkit", *self.words])

    @property
    def entry(self) -> type[Method]:
        """The class of the method."""
        from labkit.methods import METHODS

        return (self.methods or METHODS)[self.method]

    @property
    def key(self) -> str:
        """A digest of everything that determines the result: method, settings, corpus content, seed, versions."""
        settings = self.unfitted().settings.values()
        decisive = {
            "method": self.method,
            "settings": settings,
            "corpus": self.opened().fingerprint,
            "seed": self.seed,
            "versions": versions_of(self.entry, settings),
        }
        return digest(decisive)

    def opened(self) -> Corpus:
        """The corpus itself."""
        from labkit.corpora import load

        return load(self.corpus) if isinstance(self.corpus, str) else self.corpus

    def unfitted(self) -> Method:
        """The method with these settings, before it has learned anything."""
        return self.entry(**self.settings)

    def fit(self, progress: Progress | None = None, folder: Path | str | None = None) -> Method:
        """The method after it has learned; with `folder` the run is kept there as it goes."""
        method = self.unfitted()
        method.fit(self.opened(), seed=self.seed, progress=progress, folder=folder)
        return method


def versions_of(entry: type[Method] | None, settings: Mapping[str, Any]) -> dict[str, int]:
    """The versions that decide what an experiment with this method, or with none, gives, as people state them.

    A method that stands on another's vectors has that one's, too, once it is no longer the first.
    """
    from labkit.methods import METHODS

    base = METHODS.get(str(settings.get("base")).partition(":")[0])
    versions = {"shared": VERSION} | ({"method": entry.version} if entry else {})
    return versions | ({"base": base.version} if base and base.version > 1 else {})


def digest(record: Any) -> str:
    """The sha256 of anything JSON can hold."""
    return hashlib.sha256(json.dumps(record, sort_keys=True, ensure_ascii=True).encode()).hexdigest()

"""The runs that come with the lab, so that every method can be looked at before anything is trained.

A line is a name, a method, a corpus and the settings that differ from the method's own: the run in `data/runs/NAME` is
what `labkit train` gives with them. They were chosen on dev, small first and good second: a few hundred kilobytes each.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from labkit.corpora.embedded import DATA

RUNS = DATA / "runs"


@dataclass(frozen=True)
class Demonstration:
    """One run that comes with the lab; `settings` are those that are not the method's own."""

    name: str
    method: str
    corpus: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0

    @property
    def folder(self) -> Path:
        """Where the run lies; `labkit.methods.load` opens it."""
        return RUNS / self.name

    @property
    def here(self) -> bool:
        """Whether it has been made."""
        return (self.folder / "run.json").is_file()

    @property
    def changes(self) -> tuple[str, ...]:
        """The settings as `--set` takes them."""
        return tuple(f"{name}={value}" for name, value in self.settings.items())

    @property
    def command(self) -> str:
        """What makes this run anew, elsewhere."""
        changes = [word for change in self.changes for word in ("--set", change)]
        return shlex.join(["labkit", "train", self.method, "--corpus", self.corpus, "--seed", str(self.seed), *changes])


#: the same for the three, so that loss and miner are all that differs
_TOPICS = {"encoder": "mean", "size": 24, "dimension": 24, "epochs": 6, "learning_rate": 0.003}

DEMONSTRATIONS: dict[str, Demonstration] = {
    f"{method}-{corpus}": Demonstration(f"{method}-{corpus}", method, corpus, settings)
    for method, corpus, settings in (
        ("sentpwnet", "topics", _TOPICS),
        ("siamese", "topics", _TOPICS),
        ("triplet", "topics", _TOPICS),
        ("sentpwnet", "questions", {"size": 24, "dimension": 24, "epochs": 8, "learning_rate": 0.004}),
        ("sentpwnet", "places", {"size": 32, "dimension": 32, "epochs": 8}),
        ("thematic", "articles", {"size": 24, "dimension": 32, "epochs": 5, "least": 4, "learning_rate": 0.004}),
        (
            "pthought",
            "captions",
            {"hidden": 24, "decoder_hidden": 48, "dimension": 32, "batch": 32, "epochs": 6, "learning_rate": 0.02},
        ),
        ("film", "questions", {"dimension": 30}),
        # all sentences together, as the paper embeds them: to put those of test where their neighbours are loses on dev
        ("sbert-lp", "topics", {"base": "sif", "dimension": 24, "neighbours": 10, "embedded": "all"}),
    )
}

"""The bundled runs, with which every method can be tried without training, and their scores.

`DEMONSTRATIONS` lists them: a method, a corpus and the settings that differ from the defaults. `labkit train` with
these settings gives the run in `data/runs/NAME`. The settings were chosen on dev, first for size (a few hundred
kilobytes) and then for quality. `standing(name)` compares a run on test with the plain mean of word vectors (better,
worse or open), and also with its base if it has one.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from labkit.corpora.catalogue import DATA
from labkit.evaluation.comparison import Lead
from labkit.experiment import Experiment
from labkit.figure_names import spoken
from labkit.runs import MODEL, read_record

RUNS = DATA / "runs"
STANDINGS = RUNS / "standings.json"
BASELINE = "mean-vectors"


@dataclass(frozen=True)
class Demonstration(Experiment):
    """The experiment of a bundled run."""

    corpus: str

    @property
    def name(self) -> str:
        """The name of the run, such as film-questions."""
        return f"{self.method}-{self.corpus}"

    @property
    def folder(self) -> Path:
        """The folder of the run; `labkit.load_run` opens it."""
        return RUNS / self.name

    @property
    def here(self) -> bool:
        """Whether the run exists."""
        return (self.folder / "run.json").is_file()


# : equal for all three runs, so that only loss and miner differ; such a small mean needs a smaller margin
_TOPICS = {"encoder": "mean", "size": 24, "dimension": 24, "epochs": 6, "learning_rate": 0.003}

DEMONSTRATIONS: dict[str, Demonstration] = {
    shipped.name: shipped
    for shipped in (
        Demonstration("sentpwnet", "topics", _TOPICS),
        Demonstration("siamese", "topics", _TOPICS | {"margin": 0.5}),
        Demonstration("triplet", "topics", _TOPICS),
        Demonstration("sentpwnet", "questions", {"size": 24, "dimension": 24, "epochs": 8, "learning_rate": 0.004}),
        Demonstration("sentpwnet", "places", {"size": 32, "dimension": 32, "epochs": 8}),
        Demonstration(
            "thematic", "articles", {"size": 24, "dimension": 32, "epochs": 5, "min_count": 4, "learning_rate": 0.004}
        ),
        Demonstration(
            "pthought",
            "captions",
            {"hidden": 24, "decoder_hidden": 48, "dimension": 32, "batch": 32, "epochs": 6, "learning_rate": 0.02},
        ),
        Demonstration("film", "questions", {"dimension": 30}),
        # all sentences together, as in the paper; placing test sentences using their neighbours scores lower on dev
        Demonstration("sbert-lp", "topics", {"base": "sif", "dimension": 24, "neighbours": 10, "embedded": "all"}),
    )
}


@dataclass(frozen=True)
class Standing:
    """The `measure` on test (larger is better) of the run and of the baseline, and the lead of the run.

    `beside` names the baseline; `base` is the comparison with the base of the run, if it has one.
    """

    measure: str
    figure: float
    baseline: float
    lead: Lead
    beside: str = "mean word vectors"
    base: Standing | None = None

    @property
    def margin(self) -> float:
        return self.figure - self.baseline

    @property
    def verdict(self) -> Literal["first", "second", "open"]:
        """The verdict according to the interval shown."""
        low, high = self.lead.interval()
        return "first" if low > 0 else "second" if high < 0 else "open"

    def __str__(self) -> str:
        comparisons = "; ".join(each.comparison for each in (self, self.base) if each is not None)
        return f"{spoken(self.measure)} {self.figure:.3f} on test, {comparisons}"

    @property
    def comparison(self) -> str:
        """The verdict in words, with the difference and its interval."""
        said = {"first": "better than", "second": "worse than", "open": "not shown to differ from"}[self.verdict]
        low, high = self.lead.interval()
        difference = f"{self.margin:+.3f}, 95 % from {low:+.3f} to {high:+.3f}"
        return f"{said} {self.beside} ({self.baseline:.3f}; {difference})"

    @classmethod
    def of_json(cls, record: dict[str, Any]) -> Standing:
        """The standing restored from a record made by `asdict`."""
        base = record["base"] and cls.of_json(record["base"])
        return cls(**record | {"lead": Lead(**record["lead"]), "base": base})


def standing(name: str) -> Standing | None:
    """The standing of the run with that name; None if it was not measured, or was measured for another model."""
    if name not in DEMONSTRATIONS:
        raise ValueError(f"name is {name!r}, expected one of {', '.join(DEMONSTRATIONS)}")
    shipped = DEMONSTRATIONS[name]
    record = json.loads(STANDINGS.read_text("utf-8")).get(name) if shipped.here and STANDINGS.is_file() else None
    if not record or record.pop("model") != model_checksum(shipped.folder):
        return None
    return Standing.of_json(record)


def model_checksum(folder: Path) -> str:
    """The checksum of a run's arrays; scores added later do not change it."""
    return str(read_record(folder)["files"].get(MODEL))

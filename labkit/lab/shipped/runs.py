"""The runs that come with the lab, so that every method can be looked at before anything is trained.

A line is a name, a method, a corpus and the settings that differ from the method's own: the run in `data/runs/NAME` is
what `labkit train` gives with them. They were chosen on dev, small first and good second: a few hundred kilobytes each.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from labkit.corpora.table import DATA
from labkit.evaluation.comparison import Lead, Verdict, spoken
from labkit.runs import MODEL, read_record

# --- table -------------------------------------------------------------------------------------------------------

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


# --- worth -------------------------------------------------------------------------------------------------------
#
# What a shipped run is worth on its test split, beside the plain mean of word vectors: better, worse, or a tie. One
# that stands on the vectors of another method is held against these, too.
#
# In: the name of a run. Out: `Standing`, as `labkit data make runs` measured it, or None where it has not measured this
# very run.


STANDINGS = RUNS / "standings.json"
BASELINE = "mean-vectors"


@dataclass(frozen=True)
class Standing:
    """`measure` on test (larger is better), the run's and the baseline's, and the lead of the one over the other.

    `beside` says in words what the baseline is; `base` is the same of the method that the run stands on, if any.
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
    def beats(self) -> bool:
        """By more than chance; a tie is no victory."""
        return self.verdict == "first"

    @property
    def verdict(self) -> Verdict:
        """The interval that is shown decides."""
        low, high = self.lead.interval()
        return "first" if low > 0 else "second" if high < 0 else "tie"

    def __str__(self) -> str:
        told = "; ".join(each.told for each in (self, self.base) if each is not None)
        return f"{spoken(self.measure)} {self.figure:.3f} on test, {told}"

    @property
    def told(self) -> str:
        """In words, with the difference and how sure it is."""
        said: dict[Verdict, str] = {"first": "better than", "second": "worse than", "tie": "a tie with"}
        low, high = self.lead.interval()
        return (
            f"{said[self.verdict]} {self.beside} "
            f"({self.baseline:.3f}; {self.margin:+.3f}, 95 % from {low:+.3f} to {high:+.3f})"
        )


def standing(name: str) -> Standing | None:
    """Of the run of that name; None where it was not measured, or another run was."""
    if name not in DEMONSTRATIONS:
        raise ValueError(f"name is {name!r}, expected one of {', '.join(DEMONSTRATIONS)}")
    shipped = DEMONSTRATIONS[name]
    if not (shipped.here and STANDINGS.is_file()):
        return None
    found = json.loads(STANDINGS.read_text("utf-8")).get(name)
    if found is None or "lead" not in found or found["model"] != model_of(shipped.folder):
        return None
    del found["model"]
    return _read(found)


def as_json(standing: Standing, folder: Path) -> dict[str, Any]:
    """With the checksum of the model that it is of."""
    return {"model": model_of(folder), **asdict(standing)}


def _read(found: dict[str, Any]) -> Standing:
    base = found.get("base")
    return Standing(**found | {"lead": Lead(**found["lead"]), "base": None if base is None else _read(base)})


def model_of(folder: Path) -> str:
    """The checksum of a run's arrays; figures that are added to the run later do not change it."""
    return str(read_record(folder)["files"].get(MODEL))

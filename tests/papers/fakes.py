"""Tables of two tiny papers, with recipes that only record their calls; methods with known vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from labkit.corpora import Corpus
from labkit.evaluation import Parts
from labkit.method import History, Keeper, Method
from labkit.papers.claims import Claim
from labkit.papers.data import Missing
from labkit.papers.recipes import Case
from labkit.papers.recipes.scoring import method_of
from labkit.papers.records import Column, Observation, Paper, Recipe, Row, Table
from labkit.progress import Progress
from labkit.settings import Conditions, Settings, setting
from labkit.trials.engine import Result


@dataclass
class Known:
    """A method with given vectors and the dot product as similarity; `asked` records the texts it encoded."""

    vectors: dict[str, np.ndarray]
    history: History = field(default_factory=History)
    asked: list[tuple[str, ...]] = field(default_factory=list)

    def encode(self, texts: Sequence[str], batch_size: int = 32, **_: Any) -> np.ndarray:
        self.asked.append(tuple(texts))
        return np.array([self.vectors[text] for text in texts])

    def similarity(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return a @ b.T

    def similarity_pairwise(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return (a * b).sum(axis=1)


ASKED: list[tuple[str, int]] = []


def steady(case: Case) -> Result:
    """A score computed from the settings and the seed, with the units it is the mean of."""
    ASKED.append((str(case.settings["name"]), case.seed))
    figure = float(case.settings["level"]) + 0.01 * case.seed
    units = figure + np.linspace(-0.2, 0.2, 50) * (1 + len(str(case.settings["name"])))
    parts = {"accuracy": Parts(units, np.ones(50))}
    return Result({"accuracy": figure, "rows": float(len(case.corpus))}, parts)


def interrupted(case: Case) -> Result:
    ASKED.append(("interrupted", case.seed))
    raise KeyboardInterrupt


def refused(case: Case) -> Result:
    raise Missing("the data\nhave none")


def faulty(case: Case) -> Result:
    raise ValueError("a fault of ours")


def recipe(name: str, level: float, *, run: Callable[[Case], Result] = steady, random: bool = True) -> Recipe:
    return Recipe(run, "", {"name": name, "level": level}, seeds=None if random else 1)


TABLE = Table(
    "fake",
    "1",
    "Two <rows> & what they reach",
    (Column("accuracy", "accuracy", "stsb"), Column("rows", "rows", "stsb", printed=".0f")),
    (
        Row("ours", (0.9, None), recipe("ours", 0.8)),
        Row("plain", (0.5, None), recipe("plain", 0.5, random=False)),
        Row("theirs", (0.85, None), why_not="its weights are elsewhere"),
    ),
    note="A note.",
    claims=(
        Claim("ours leads plain", ("ours",), ("plain",), ("accuracy",)),
        Claim("ours leads all", ("ours",), ("plain", "theirs"), ("accuracy",)),
        Claim("theirs leads ours", ("theirs",), ("ours",), ("accuracy",)),
        Claim("ours leads plain by half", ("ours",), ("plain",), ("accuracy",), by=0.5, ours=True),
    ),
)
LINES = Table(
    "fake",
    "figure-2",
    "The same recipe over places",
    (Column("accuracy", "accuracy", "stsb"),),
    tuple(Row(f"k = {k}", (None,), recipe("ours", 0.8) if k == 1 else recipe("other", 0.4)) for k in (1, 2)),
)
PAPERS = {
    "fake": Paper(
        "fake", "A. Nobody. A paper. 2020.", (TABLE, LINES), (Observation("it is so", "not confirmed", "it is not"),)
    )
}


# --- a tunable method ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class TurnedSettings(Settings):
    epochs: int = setting(6, "of no use", minimum=1)
    rule: str = setting("a", "which way", choices=("a", "b"))
    turn: float = setting(0.5, "an angle", minimum=0, maximum=1, tune=(0, 1))
    lift: float = setting(0.5, "of rule b: added to all", minimum=0, maximum=9, tune=(0, 1))
    late: int = setting(1, "of no use either", minimum=0)

    def conditions(self, shape: str | None = None, has_dev: bool | None = None) -> Conditions:
        return {"lift": (self.rule == "b", "with rule=b")}


class Turned(Method):
    """Texts as points on a circle, at an angle proportional to their length; `seen` records each training."""

    name = "turned"
    Settings = TurnedSettings
    seen: ClassVar[list[tuple[Corpus, dict[str, Any], int]]] = []

    def _fit(self, corpus: Corpus, seed: int, progress: Progress, keeper: Keeper | None) -> History:
        self.seen.append((corpus, self.settings.values(), seed))
        return History()

    def _encode(self, sentences: list[str], batch_size: int, progress: Progress) -> np.ndarray:
        angles = np.array([self.settings.turn * len(text) for text in sentences])
        return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32) + 1e-3

    def _state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        return {}, {}

    def _restore(self, arrays: dict[str, np.ndarray], words: dict[str, Any]) -> None:
        pass


def turned(case: Case) -> Result:
    """The `turn` of each network that this cell trains, and the epochs of the first."""
    methods = [case.fitted()] if not case.sides else method_of(case)._methods
    figures = {f"turn {at}": method.settings.turn for at, method in enumerate(methods)}
    return Result({"accuracy": methods[0].settings.turn, "epochs": methods[0].settings.epochs, **figures})


def tuned(run: Callable[[Case], Result] = turned, settings: dict[str, Any] | None = None, **more: Any) -> Recipe:
    """A recipe with settings chosen on dev."""
    return Recipe(run, "turned", settings or {}, methods={"turned": Turned}, **{"first": {}, **more})


def one_row(made: Recipe, data: str = "stsb") -> Table:
    """A table with one row, on this data set."""
    columns = tuple(replace(column, data=data) for column in TABLE.columns)
    return replace(TABLE, columns=columns, rows=(Row("ours", (None, None), made),), claims=())

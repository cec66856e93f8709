"""An ablation: one method, one corpus, some variants of its settings, a few seeds. Measured once, kept, tried again.

    measure_all(plan)         every variant with every seed, by `python -m labkit.lab.course.plans NAME`
    kept(name)                the table that this command wrote, `notebooks/ablations/NAME.json`
    again(plan, variant, 0)   one cell of it here and now, for a reader who does not believe a table

A cell is an `Experiment`: the plan's corpus, the variant's method and settings, a seed. A figure belongs to a
variant and a seed; means, spreads and ties are worked out from the figures, never stored.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from labkit.atomic import in_place
from labkit.corpora import load
from labkit.evaluation.comparison import SEEDS, Spread, leader, over_seeds
from labkit.evaluation.scores import score
from labkit.experiment import Experiment
from labkit.lab.course.notebooks import NOTEBOOKS
from labkit.lab.course.variants import COURSE
from labkit.methods import Entry
from labkit.progress import Progress, silent
from labkit.thematic.sections import ALGORITHMS, section_agreement

FOLDER = NOTEBOOKS / "ablations"
CLUSTERED = {f"{each}_ami" for each in ALGORITHMS}  # of articles: do clusters find the sections again?


class CourseExperiment(Experiment):
    """An experiment with one of the package's methods, or with one that only the course has."""

    @property
    def entry(self) -> Entry:
        """The line of the course's own table, or else of the package's."""
        return COURSE.get(self.method) or super().entry


@dataclass(frozen=True)
class Variant:
    """A row: its name for the eye, and the method with the settings that make it."""

    name: str
    method: str
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Ablation:
    """What is compared with what. `asks`: the question in a sentence. `measures`: the figures kept, the first leads."""

    name: str
    asks: str
    corpus: str
    variants: tuple[Variant, ...]
    measures: tuple[str, ...]
    seeds: tuple[int, ...] = (0, 1, 2)

    def experiment(self, variant: str, seed: int = 0) -> CourseExperiment:
        """The experiment of one cell."""
        chosen = self.variant(variant)
        return CourseExperiment(chosen.method, self.corpus, chosen.settings, seed)

    def variant(self, name: str) -> Variant:
        """The variant of this name."""
        found = [each for each in self.variants if each.name == name]
        if not found:
            names = ", ".join(each.name for each in self.variants)
            raise ValueError(f"variant is {name!r}, expected one of {names}, those of ablation {self.name!r}")
        return found[0]


@dataclass(frozen=True)
class Figures:
    """All that was measured: variant -> seed -> measure -> figure; and on which rows, with which settings."""

    name: str
    fingerprint: str
    figures: Mapping[str, Mapping[int, Mapping[str, float]]]
    settings: Mapping[str, Mapping[str, Any]]

    def values(self, variant: str, measure: str) -> tuple[float, ...]:
        """One figure a seed."""
        return tuple(each[measure] for each in self.figures[variant].values())

    def spread(self, variant: str, measure: str) -> Spread:
        """Mean and spread over the seeds; equal figures of a method without chance are no spread."""
        values = self.values(variant, measure)
        return over_seeds(values, deterministic=len(values) < SEEDS or len(set(values)) == 1)

    def rows(self, measures: Sequence[str]) -> list[dict[str, str]]:
        """A line a variant with mean ± spread of each figure, and whether it is a tie with the best of the first."""
        best = max(self.figures, key=lambda name: self.spread(name, measures[0]).mean)
        rows = []
        for name in self.figures:
            row = {"variant": name}
            for measure in measures:
                found = self.spread(name, measure)
                row[measure] = f"{found.mean:.3f} ± {found.spread:.3f}" if found.spread else f"{found.mean:.3f}"
            verdict = leader(self.spread(best, measures[0]), self.spread(name, measures[0]))
            row["beside the best"] = "best" if name == best else "a tie" if verdict == "tie" else "behind"
            rows.append(row)
        return rows

    def to_json(self) -> dict[str, Any]:
        """The table as its file has it."""
        return {
            "made by": f"python -m labkit.lab.course.plans {self.name}",
            "fingerprint": self.fingerprint,
            "settings": self.settings,
            "figures": self.figures,
        }

    @classmethod
    def from_json(cls, name: str, record: Mapping[str, Any]) -> Self:
        """The table that stands in a file."""
        figures = {
            variant: {int(seed): cell for seed, cell in seeds.items()} for variant, seeds in record["figures"].items()
        }
        return cls(name, record["fingerprint"], figures, record["settings"])


def measure_all(plan: Ablation, progress: Progress = silent) -> Figures:
    """Every cell of the plan."""
    figures: dict[str, dict[int, dict[str, float]]] = {}
    cells = [(variant, seed) for variant in plan.variants for seed in plan.seeds]
    for number, (variant, seed) in enumerate(cells):
        progress(number, len(cells), f"{variant.name}, seed {seed}")
        figures.setdefault(variant.name, {})[seed] = again(plan, variant.name, seed)
    settings = {each.name: {"method": each.method, **each.settings} for each in plan.variants}
    return Figures(plan.name, load(plan.corpus).fingerprint, figures, settings)


def again(plan: Ablation, variant: str, seed: int, progress: Progress = silent) -> dict[str, float]:
    """One cell: train, and measure on the test split."""
    experiment = plan.experiment(variant, seed)
    corpus, method = experiment.opened(), experiment.fit(progress)
    figures = dict(score(method, corpus).figures)
    if CLUSTERED & set(plan.measures):
        agreement = section_agreement(method, corpus.part("test"), seed=seed)  # type: ignore[arg-type]
        figures |= {f"{each}_ami": float(agreement.values(each, "ami").mean()) for each in ALGORITHMS}
    return {measure: round(figures[measure], 6) for measure in plan.measures}


def write_table(found: Figures, folder: Path = FOLDER) -> Path:
    """Write the table."""
    folder.mkdir(exist_ok=True)
    path = folder / f"{found.name}.json"
    with in_place(path) as file:
        file.write((json.dumps(found.to_json(), indent=1) + "\n").encode())
    return path


def kept(name: str, folder: Path = FOLDER) -> Figures:
    """The table as it was written."""
    path = folder / f"{name}.json"
    if not path.is_file():
        raise ValueError(f"ablation {name!r} is not kept in {folder.name}/; `python -m labkit.lab.course.plans {name}`")
    return Figures.from_json(name, json.loads(path.read_text("utf-8")))

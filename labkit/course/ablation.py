"""An ablation: one corpus, some variants of a method's settings, a few seeds. Measured once, kept, tried again.

    measure_all(plan, store)  every variant with every seed, by `python -m labkit.course.plans NAME`
    kept(name)                the table that this command wrote, `notebooks/ablations/NAME.json`
    again(plan, variant, 0)   one cell of it here and now, for a reader who does not believe a table

A variant with a seed is a cell, as those of the papers' tables are: `measure_all` takes from the store what is known,
`again` never does. A variant that is tuned has settings chosen on dev first, once for all seeds, by the fair protocol
(`labkit.papers.fair`); its table keeps the trials, and `again` trains with what they chose. A figure belongs to a
variant and a seed; means, spreads, leads and verdicts are worked out from the figures, never stored.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np

from labkit.atomic import write_text
from labkit.corpora import CORPORA, load
from labkit.course.notebooks import NOTEBOOKS
from labkit.course.variants import COURSE
from labkit.evaluation.comparison import Lead, Parts, Spread, lead_of
from labkit.papers.cells import Cell, compute
from labkit.papers.data import DataAtHand
from labkit.papers.recipes import Case
from labkit.papers.recipes.scoring import scored
from labkit.papers.records import Recipe
from labkit.papers.store import Store
from labkit.progress import Progress, silent
from labkit.scale import one_thread
from labkit.thematic.sections import ALGORITHMS, section_agreement
from labkit.trials.engine import Result
from labkit.trials.verdict import Ranked, Runs, front, ranked

FOLDER = NOTEBOOKS / "ablations"
TUNING = ("protocol", "space", "measure", "chosen", "trials")  # what is kept of the notes of a tuning


@dataclass(frozen=True)
class Variant:
    """A row: its name for the eye, and the method with the settings that make it.

    With `first` it is tuned: trials choose its other settings, and the first of them starts from these. Variants with
    the same settings share their cells; `part` is what the names of this one's figures begin with in them.
    """

    name: str
    method: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    first: Mapping[str, Any] | None = None
    part: str = ""


@dataclass(frozen=True)
class Ablation:
    """What is compared with what. `asks`: the question in a sentence. `measures`: the figures kept, the first leads.

    `recipe` measures, where it is not enough to train on the corpus and to score the test split.
    """

    name: str
    asks: str
    corpus: str
    variants: tuple[Variant, ...]
    measures: tuple[str, ...]
    seeds: tuple[int, ...] = (0, 1, 2)
    recipe: Callable[[Case], Result] | None = None

    def variant(self, name: str) -> Variant:
        """The variant of this name."""
        variants = {each.name: each for each in self.variants}
        if name not in variants:
            names = ", ".join(variants)
            raise ValueError(f"variant is {name!r}, expected one of {names}, those of ablation {self.name!r}")
        return variants[name]

    def cell(self, name: str, seed: int) -> Cell:
        """The cell of the variant of this name."""
        chosen = self.variant(name)
        recipe = Recipe(self.recipe or scored, chosen.method, chosen.settings, first=chosen.first, methods=COURSE)
        return Cell(recipe, self._data, {}, seed, chosen.settings)

    @cached_property
    def _data(self) -> DataAtHand:
        return DataAtHand.of(load(self.corpus), f"{self.corpus}, {CORPORA[self.corpus].kind}")

    def measured(self, name: str, figures: Mapping[str, float]) -> dict[str, float]:
        """What the table keeps for a variant of all figures of its cell, which has none where one is no number."""
        if part := self.variant(name).part:
            begin = f"{part} "
            figures = {each.removeprefix(begin): value for each, value in figures.items() if each.startswith(begin)}
        if missing := [measure for measure in self.measures if measure not in figures]:
            has = ", ".join(figures) or "none"
            raise ValueError(f"ablation {self.name!r} has no figure {missing[0]!r} (it has {has}); try other settings")
        return {measure: round(figures[measure], 6) for measure in self.measures}


@dataclass(frozen=True)
class Figures:
    """All that was measured: variant -> seed -> measure -> figure; and on which rows, with which settings.

    `tunings` has of each variant that is tuned its trials and what they chose, as `Tuning` notes them.
    """

    name: str
    fingerprint: str
    figures: Mapping[str, Mapping[int, Mapping[str, float]]]
    settings: Mapping[str, Mapping[str, Any]]
    tunings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def values(self, variant: str, measure: str) -> tuple[float, ...]:
        """One figure a seed."""
        return tuple(each[measure] for each in self.figures[variant].values())

    def spread(self, variant: str, measure: str) -> Spread:
        """Mean and spread over the seeds."""
        return Spread.of(self.values(variant, measure))

    def lead(self, variant: str, other: str, measure: str) -> Lead:
        """How far a variant is ahead of another, with the interval that other seeds would give it."""
        return lead_of([*self.runs(variant, measure).values()], [*self.runs(other, measure).values()])

    def runs(self, variant: str, measure: str) -> Runs:
        """One score per seed, of which nothing says what other test rows would make of it."""
        return {seed: Parts(np.array([each[measure]]), np.ones(1)) for seed, each in self.figures[variant].items()}

    def ranked(self, measure: str, names: Sequence[str] = ()) -> list[Ranked]:
        """These variants, or all, the best first, each compared with it by an interval over seeds."""
        return ranked({name: self.runs(name, measure) for name in names or self.figures}, seeds_alone=True)

    def front(self, measure: str, names: Sequence[str] = ()) -> list[str]:
        """The best of these variants, and those that are not shown to be behind it, in the order of the table."""
        found = {row.name for row in front(self.ranked(measure, names))}
        return [name for name in names or self.figures if name in found]

    def rows(self, measures: Sequence[str]) -> list[dict[str, str]]:
        """A line per variant with mean ± spread of each score, and whether it is behind the best of the first."""
        against = {row.name: row.against_best for row in self.ranked(measures[0])}
        rows = []
        for name in self.figures:
            row = {"variant": name}
            for measure in measures:
                figure = self.spread(name, measure)
                row[measure] = f"{figure.mean:.3f} ± {figure.spread:.3f}" if figure.spread else f"{figure.mean:.3f}"
            row["compared with the best"] = against[name]
            rows.append(row)
        return rows

    def to_json(self) -> dict[str, Any]:
        """The table as its file has it."""
        return {
            "made by": f"python -m labkit.course.plans {self.name}",
            "fingerprint": self.fingerprint,
            "settings": self.settings,
            "figures": self.figures,
            **({"tunings": self.tunings} if self.tunings else {}),
        }

    @classmethod
    def from_json(cls, name: str, record: Mapping[str, Any]) -> Self:
        """The table that stands in a file."""
        figures = {
            variant: {int(seed): cell for seed, cell in seeds.items()} for variant, seeds in record["figures"].items()
        }
        return cls(name, record["fingerprint"], figures, record["settings"], record.get("tunings", {}))


def measure_all(plan: Ablation, store: Store, *, again: bool = False, progress: Progress = silent) -> Figures:
    """The whole table: what the store knows is taken from there, or else, and with `again` always, computed.

    Ctrl-C is passed on when what is done by then is in the store.
    """
    cells = {(each.name, seed): plan.cell(each.name, seed) for each in plan.variants for seed in plan.seeds}
    alone = {cell.key: cell for cell in cells.values()}  # variants share cells
    computed = compute([*alone.values()], store, again=again, progress=progress)
    for reason in filter(None, (computed.interrupted, *computed.broken.values())):
        raise reason
    figures: dict[str, dict[int, dict[str, float]]] = {}
    for (name, seed), cell in cells.items():
        figures.setdefault(name, {})[seed] = plan.measured(name, computed.known[cell.key].figures)
    settings = {each.name: {"method": each.method, **each.settings} for each in plan.variants}
    trials = {name: computed.known[each.key].notes for (name, _), cell in cells.items() for each in cell.tunings}
    tunings = {name: {key: ({**each["about"], **each})[key] for key in TUNING} for name, each in trials.items()}
    return Figures(plan.name, cell.data.fingerprint, figures, settings, tunings)


def again(plan: Ablation, variant: str, seed: int, progress: Progress = silent) -> dict[str, float]:
    """One cell, here and now, by one thread as in the table: train, and measure on the test split."""
    cell = plan.cell(variant, seed)
    chosen = [kept(plan.name).tunings[variant]["chosen"]] if cell.tunings else []
    with one_thread():
        return plan.measured(variant, cell.recipe.run(cell.case(progress, chosen=chosen)).figures)


def scored_and_clustered(case: Case) -> Result:
    """The figures that fit articles, and how well clusters of their opening sentences find the sections again."""
    outcome = scored(case)
    agreement = section_agreement(case.fitted(), case.corpus.part("test"), seed=case.seed)  # type: ignore[arg-type]
    clusters = {f"{each}_ami": float(agreement.values(each, "ami").mean()) for each in ALGORITHMS}
    return replace(outcome, figures={**outcome.figures, **clusters})


def write_table(table: Figures, folder: Path = FOLDER) -> Path:
    """Write the table."""
    folder.mkdir(exist_ok=True)
    path = folder / f"{table.name}.json"
    write_text(path, json.dumps(table.to_json(), indent=1) + "\n")
    return path


def kept(name: str, folder: Path = FOLDER) -> Figures:
    """The table as it was written."""
    path = folder / f"{name}.json"
    if not path.is_file():
        raise ValueError(f"ablation {name!r} is not kept in {folder.name}/; `python -m labkit.course.plans {name}`")
    return Figures.from_json(name, json.loads(path.read_text("utf-8")))

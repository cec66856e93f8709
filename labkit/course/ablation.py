"""Ablations: some variants of a method's settings on one corpus with a few seeds, measured once and stored.

    measure_all(plan, store)  every variant with every seed, by `python -m labkit.course.plans NAME`
    kept(name)                the stored table, `notebooks/ablations/NAME.json`
    again(plan, variant, 0)   recompute one cell of the table, for a sceptical reader

A variant with a seed is a cell, as in the papers' tables: `measure_all` reuses stored cells, `again` does not. A tuned
variant has its settings chosen on dev first, once for all seeds, by the fair protocol (`labkit.papers.fair`); its table
keeps the trials, and `again` trains with the chosen settings. Scores are stored per variant and seed; means, spreads,
leads and verdicts are computed from them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from labkit.atomic import write_text
from labkit.corpora import CORPORA, load
from labkit.course.notebooks import NOTEBOOKS
from labkit.course.variants import COURSE
from labkit.evaluation.comparison import Lead, Parts, Spread, lead_of
from labkit.papers.cells import Cell, Store, compute
from labkit.papers.data import DataAtHand
from labkit.papers.recipes import Case
from labkit.papers.recipes.scoring import scored
from labkit.papers.records import Recipe
from labkit.progress import Progress, silent
from labkit.scale import one_thread
from labkit.thematic.sections import ALGORITHMS, section_agreement
from labkit.trials.engine import Result
from labkit.trials.verdict import Ranked, Runs, front, ranked

FOLDER = NOTEBOOKS / "ablations"
TUNING = ("protocol", "space", "measure", "chosen", "trials")  # the stored notes of a tuning run


@dataclass(frozen=True)
class Variant:
    """A row: its display name, its method, and the settings.

    With `first`, the variant is tuned: trials choose its other settings, and the first trial uses these values.
    Variants with the same settings share cells; `part` is the prefix of this variant's scores in them.
    """

    name: str
    method: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    first: Mapping[str, Any] | None = None
    part: str = ""


@dataclass(frozen=True)
class Ablation:
    """The variants to compare. `measures`: the stored scores, the main score first.

    `recipe` computes the scores, if training on the corpus and scoring on test is not enough.
    """

    name: str
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
            raise ValueError(f"variant is {name!r}, expected one of {names} for ablation {self.name!r}")
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
        """The scores that the table stores for a variant; a cell with a score that is not a number has none."""
        if part := self.variant(name).part:
            begin = f"{part} "
            figures = {each.removeprefix(begin): value for each, value in figures.items() if each.startswith(begin)}
        if missing := [measure for measure in self.measures if measure not in figures]:
            has = ", ".join(figures) or "none"
            raise ValueError(f"ablation {self.name!r} has no score {missing[0]!r} (it has {has}); try other settings")
        return {measure: round(figures[measure], 6) for measure in self.measures}


@dataclass(frozen=True)
class Figures:
    """All scores: variant -> seed -> measure -> score; with the rows and settings used.

    `tunings` has the trials of each tuned variant and their choice, as noted by `Tuning`.
    """

    name: str
    fingerprint: str
    figures: Mapping[str, Mapping[int, Mapping[str, float]]]
    settings: Mapping[str, Mapping[str, Any]]
    tunings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def values(self, variant: str, measure: str) -> tuple[float, ...]:
        """One score per seed."""
        return tuple(each[measure] for each in self.figures[variant].values())

    def spread(self, variant: str, measure: str) -> Spread:
        """Mean and spread over the seeds."""
        return Spread.of(self.values(variant, measure))

    def lead(self, variant: str, other: str, measure: str) -> Lead:
        """The lead of one variant over another, with the interval over seeds."""
        return lead_of([*self.runs(variant, measure).values()], [*self.runs(other, measure).values()])

    def runs(self, variant: str, measure: str) -> Runs:
        """One score per seed, without information about individual test rows."""
        return {seed: Parts.of(each[measure]) for seed, each in self.figures[variant].items()}

    def ranked(self, measure: str, names: Sequence[str] = ()) -> list[Ranked]:
        """These variants (default: all), best first, each compared with the best by an interval over seeds."""
        return ranked({name: self.runs(name, measure) for name in names or self.figures}, seeds_alone=True)

    def front(self, measure: str, names: Sequence[str] = ()) -> list[str]:
        """The best of these variants, and all variants not shown to be behind it, in table order."""
        found = {row.name for row in front(self.ranked(measure, names))}
        return [name for name in names or self.figures if name in found]

    def rows(self, measures: Sequence[str]) -> list[dict[str, str]]:
        """One row per variant with mean ± spread of each score, and whether its first score is behind the best."""
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
        """The record for a file."""
        return {
            "made by": f"python -m labkit.course.plans {self.name}",
            "fingerprint": self.fingerprint,
            "settings": self.settings,
            "figures": self.figures,
            **({"tunings": self.tunings} if self.tunings else {}),
        }

    @classmethod
    def from_json(cls, name: str, record: Mapping[str, Any]) -> Self:
        """Read the table from a record."""
        figures = {
            variant: {int(seed): cell for seed, cell in seeds.items()} for variant, seeds in record["figures"].items()
        }
        return cls(name, record["fingerprint"], figures, record["settings"], record.get("tunings", {}))


def measure_all(plan: Ablation, store: Store, *, again: bool = False, progress: Progress = silent) -> Figures:
    """Compute the whole table, reusing stored results unless `again` is set.

    On Ctrl-C, finished results are stored before the interrupt is raised again.
    """
    cells = {(each.name, seed): plan.cell(each.name, seed) for each in plan.variants for seed in plan.seeds}
    alone = {cell.key: cell for cell in cells.values()}  # variants share cells
    computed = compute([*alone.values()], store, again=again, progress=progress)
    for reason in filter(None, (computed.interrupted, *computed.failed.values())):
        raise reason
    figures: dict[str, dict[int, dict[str, float]]] = {}
    for (name, seed), cell in cells.items():
        figures.setdefault(name, {})[seed] = plan.measured(name, computed.known[cell.key].figures)
    settings = {each.name: {"method": each.method, **each.settings} for each in plan.variants}
    trials = {name: computed.known[each.key].notes for (name, _), cell in cells.items() for each in cell.tunings}
    tunings = {name: {key: ({**each["about"], **each})[key] for key in TUNING} for name, each in trials.items()}
    return Figures(plan.name, cell.data.fingerprint, figures, settings, tunings)


def again(plan: Ablation, variant: str, seed: int, progress: Progress = silent) -> dict[str, float]:
    """Recompute one cell on one thread, as in the table: train, and score on test."""
    cell = plan.cell(variant, seed)
    chosen = [kept(plan.name).tunings[variant]["chosen"]] if cell.tunings else []
    with one_thread():
        return plan.measured(variant, cell.recipe.run(cell.case(progress, chosen=chosen)).figures)


def scored_and_clustered(case: Case) -> Result:
    """The scores that fit articles, and how well clusters of their opening sentences match the sections."""
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
    """Read the stored table."""
    path = folder / f"{name}.json"
    if not path.is_file():
        raise ValueError(f"ablation {name!r} is not in {folder.name}/; run `python -m labkit.course.plans {name}`")
    return Figures.from_json(name, json.loads(path.read_text("utf-8")))

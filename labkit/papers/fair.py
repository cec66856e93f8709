"""The fair protocol: each row's settings are chosen on dev, with the same number of trials, before it is scored.

    PROTOCOL           16 trials on a fixed quarter of the training rows, for half of the epochs; small data are used
                       in full, for all epochs, because a few hundred rows say too little. The first trial has the
                       printed settings (the usual ones if no paper gives any), so that no method starts from values
                       tuned earlier; the others vary the method's hyperparameters
    tuned_and_printed  a row with tuned settings, and the same row as printed
    Tuning             the trials for one (method, settings, data). All rows and seeds that need them share them,
                       unless a row asks for a search per seed. Then the three best trials and the first are also
                       trained on all rows, and their dev scores decide: the best on a quarter may not be the best
                       on all

Trials get no test rows (`labkit.trials.tune`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from labkit.experiment import Experiment, digest, versions_of
from labkit.method import Method
from labkit.papers.data import DataAtHand, Missing
from labkit.papers.records import AS_PRINTED, FEW_SEEDS, Recipe, Row
from labkit.progress import Progress, silent
from labkit.trials.engine import Result
from labkit.trials.space import Dial, tuned_settings
from labkit.trials.tune import FINALISTS, Tuned, finalists, selected, tune

PROTOCOL: Mapping[str, Any] = {"trials": 16, "part": 0.25, "epochs": 0.5, "sampler": "tpe"}
WHOLE: Mapping[str, Any] = {**PROTOCOL, "part": 1.0, "epochs": 1.0}
SMALL = 10_000  # training rows up to which trials use all of them
#: the description for a table's note
FAIR = (
    f"Each row that is trained here has its settings chosen on dev in {PROTOCOL['trials']} trials, on the same quarter "
    f"of the training rows and for half of the epochs (with up to {SMALL:,} rows, on all rows and for all epochs). The "
    'rows marked "as printed" use the paper\'s own values or, where it gives none, the usual ones.'
)


def tuned_and_printed(row: Row, printed: Mapping[str, Any], first: Mapping[str, Any] | None = None) -> tuple[Row, Row]:
    """The row with settings chosen on dev, under its own name, and the row with the printed settings.

    `first` gives further settings for the first trial.
    """
    recipe = row.recipe
    assert recipe is not None, row.name
    as_printed = replace(
        recipe, settings={**recipe.settings, **printed}, seeds=FEW_SEEDS, first=None, tries={}, per_seed=()
    )
    return replace(row, recipe=replace(recipe, first={**printed, **(first or {})})), replace(
        row, name=row.name + AS_PRINTED, recipe=as_printed
    )


@dataclass(frozen=True, eq=False)
class Tuning:
    """The trials of a recipe's method with these settings; the first starts from the values in `recipe.first`.

    With a `seed` they are that seed's own: it draws the proposals and trains the trials.
    """

    recipe: Recipe
    settings: Mapping[str, Any]
    data: DataAtHand
    tries: Mapping[str, Sequence[Any]] = field(default_factory=dict)  # besides the method's own hyperparameters
    seed: int | None = None

    @property
    def protocol(self) -> Mapping[str, Any]:
        """The protocol of the trials; articles never count as small data, because they are long."""
        small = not self.data.articles and self.data.sizes.get("train", 0) <= SMALL
        return WHOLE if small else PROTOCOL

    @cached_property
    def about(self) -> dict[str, Any]:
        """Everything that determines the choice; a default of a tuned setting only starts the trials."""
        entry, first = self.recipe.methods[self.recipe.method], self.recipe.first or {}
        tried, settings = space_of(entry, self.settings, self.tries), entry(**self.settings).settings
        usual = settings.values()
        return {
            "recipe": "trials",
            "method": self.recipe.method,
            "settings": {name: value for name, value in settings.decisive().items() if name not in tried},
            "data": [["data", self.data.fingerprint]],
            "versions": versions_of(entry, usual),
            "protocol": dict(self.protocol),
            "space": {name: str(dial) for name, dial in tried.items()},
            "first": {name: first.get(name, usual[name]) for name in tried},
        } | ({} if self.seed is None else {"seed": self.seed, "finalists": FINALISTS})

    @cached_property
    def key(self) -> str:
        return digest(self.about)

    def compute(self, runs: Path | None = None, progress: Progress = silent) -> Result:
        """`dev` is the score of the chosen settings, `dev at first` that of the first trial; notes have all trials.

        Both are scores of the finalists, if there are any.
        """
        if find_spec("optuna") is None:
            raise Missing('its settings are chosen by Optuna; run pip install "labkit-embeddings[tune]"')
        recipe, corpus, seed = self.recipe, self.data.corpus, self.seed or 0
        experiment = Experiment(recipe.method, corpus, self.settings, seed, recipe.methods)
        folder = None if runs is None else runs / f"tune-{recipe.method}-{self.key[:20]}"
        space = space_of(experiment.entry, self.settings, self.tries, type(corpus).__name__)
        how = {**self.protocol, "seed": seed, "space": space, "first": recipe.first}
        tuned = tune(experiment, **how, folder=folder, progress=progress)
        decided = tuned
        if self.seed is not None and self.protocol["part"] < 1:
            decided = finalists(tuned, corpus, selected, folder, progress)
        figures = {"dev": decided.best.figure, "dev at first": decided.trials[0].figure}
        return Result(
            {name: value for name, value in figures.items() if value is not None},
            notes={"chosen": dict(decided.best.tried), "measure": tuned.measure, "trials": _listed(tuned)}
            | ({} if decided is tuned else {"finalists": _listed(decided)}),
        )


def _listed(tuned: Tuned) -> list[dict[str, Any]]:
    """The trials, ready for JSON."""
    return [
        {"tried": dict(each.tried), "figure": each.figure, "seconds": round(each.seconds, 1), "reason": each.reason}
        for each in tuned.trials
    ]


def space_of(
    entry: type[Method], settings: Mapping[str, Any], tries: Mapping[str, Sequence[Any]], shape: str | None = None
) -> dict[str, Dial]:
    """The hyperparameters that trials of a method vary, with their ranges; on a corpus of this shape, if named."""
    usual = tuned_settings(entry(**settings).settings, shape)
    space = usual | {name: Dial.of(values) for name, values in tries.items()}
    return {name: dial for name, dial in space.items() if name not in settings}

"""The fair protocol: every row has its settings chosen on dev, with the same number of trials, before it is scored.

    PROTOCOL           16 trials on a fixed quarter of the training rows, for half of the epochs; of small data on all,
                       for all epochs, as a few hundred rows tell nothing. The first has the settings as printed
                       (of what no paper has: the usual ones), so that no method starts from values that were tuned
                       earlier; the others come from the method's hyperparameters
    tuned_and_printed  a row as it is tuned, and the same row as printed: two rows of a table
    Tuning             the trials that choose: one for (method, settings, data), shared by all rows that ask for it

What a trial sees has no test rows (`labkit.trials.tune`).
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
from labkit.papers.records import AS_PRINTED, FEW_SEEDS, Row
from labkit.progress import Progress, silent
from labkit.trials.engine import Result
from labkit.trials.space import Dial, tuned_settings

PROTOCOL: Mapping[str, Any] = {"trials": 16, "part": 0.25, "epochs": 0.5, "sampler": "tpe"}
WHOLE: Mapping[str, Any] = {**PROTOCOL, "part": 1.0, "epochs": 1.0}
SMALL = 10_000  # training rows, up to which all are learned from
#: what the note of a table says of it
FAIR = (
    f"Each row that is trained here has its settings chosen on dev by {PROTOCOL['trials']} trials, on the same quarter "
    f"of the training rows and for half of the epochs (up to {SMALL:,} rows: on all, for all epochs); the rows as "
    "printed have the paper's own values, or the usual ones where it gives none."
)


def tuned_and_printed(row: Row, printed: Mapping[str, Any], first: Mapping[str, Any] | None = None) -> tuple[Row, Row]:
    """The row with its settings chosen on dev, under its own name, and with those that the paper prints.

    `first` are further settings where the trials begin.
    """
    recipe = row.recipe
    assert recipe is not None, row.name
    as_printed = replace(recipe, settings={**recipe.settings, **printed}, seeds=FEW_SEEDS, first=None, tries={})
    return replace(row, recipe=replace(recipe, first={**printed, **(first or {})})), replace(
        row, name=row.name + AS_PRINTED, recipe=as_printed
    )


@dataclass(frozen=True, eq=False)
class Tuning:
    """The trials of a method with these settings, of which the first starts from `first` where that says something."""

    method: str
    settings: Mapping[str, Any]
    data: DataAtHand
    first: Mapping[str, Any]
    methods: Mapping[str, type[Method]]
    tries: Mapping[str, Sequence[Any]] = field(default_factory=dict)  # besides the method's own hyperparameters

    def __str__(self) -> str:
        return f"trials of {self.method}, {self.data.title}"

    @property
    def space(self) -> dict[str, Dial]:
        """The hyperparameters that trials try, and within which bounds."""
        return space_of(self.methods[self.method], self.settings, self.tries)

    @property
    def protocol(self) -> Mapping[str, Any]:
        """How trials are made; an article is long, so that articles are no small data."""
        small = not self.data.articles and self.data.sizes.get("train", 0) <= SMALL
        return WHOLE if small else PROTOCOL

    @cached_property
    def about(self) -> dict[str, Any]:
        """All that decides what is chosen; the default of what is tried only says where trials start."""
        entry, tried = self.methods[self.method], self.space
        usual = entry(**self.settings).settings.values()
        return {
            "recipe": "trials",
            "method": self.method,
            "settings": {name: value for name, value in usual.items() if name not in tried},
            "data": [["data", self.data.fingerprint]],
            "versions": versions_of(entry, usual),
            "protocol": dict(self.protocol),
            "space": {name: str(dial) for name, dial in tried.items()},
            "first": {name: self.first.get(name, usual[name]) for name in tried},
        }

    @cached_property
    def key(self) -> str:
        return digest(self.about)

    def compute(self, runs: Path | None = None, progress: Progress = silent) -> Result:
        """`dev` is the figure of the settings chosen, `dev at first` that of the first trial; notes have all trials."""
        if find_spec("optuna") is None:
            raise Missing('its settings are chosen by Optuna; run pip install "labkit-embeddings[tune]"')
        from labkit.trials.tune import tune

        experiment = Experiment(self.method, self.data.corpus, self.settings, 0, self.methods)
        folder = None if runs is None else runs / f"tune-{self.method}-{self.key[:20]}"
        space = space_of(self.methods[self.method], self.settings, self.tries, type(self.data.corpus).__name__)
        tuned = tune(experiment, **self.protocol, space=space, first=self.first, folder=folder, progress=progress)
        figures = {"dev": tuned.best.figure, "dev at first": tuned.trials[0].figure}
        trials = [
            {"tried": dict(each.tried), "figure": each.figure, "seconds": round(each.seconds, 1), "reason": each.reason}
            for each in tuned.trials
        ]
        return Result(
            {name: value for name, value in figures.items() if value is not None},
            notes={"chosen": dict(tuned.best.tried), "measure": tuned.measure, "trials": trials},
        )


def space_of(
    entry: type[Method], settings: Mapping[str, Any], tries: Mapping[str, Sequence[Any]], shape: str | None = None
) -> dict[str, Dial]:
    """What trials of a method with these settings try, and how far; on a corpus of this shape, if one is named."""
    usual = tuned_settings(entry(**settings).settings, shape)
    space = usual | {name: Dial.of(values) for name, values in tries.items()}
    return {name: dial for name, dial in space.items() if name not in settings}

"""The fair protocol: every row has its settings chosen on dev, with the same number of trials, before it is scored.

    PROTOCOL           16 trials on a fixed quarter of the training rows, for half of the epochs; of small data on all,
                       for all epochs, as a few hundred rows tell nothing. The first has the settings as printed
                       (of what no paper has: the usual ones), so that no method starts from values that were tuned
                       earlier; the others come from the dials of the method
    tuned_and_printed  a row as it is tuned, and the same row as printed: two rows of a table
    printed_only       a table by the other protocol
    chosen_on_dev      the recipe of the cell that holds the trials: one for (method, settings, data), for all tables

What a trial sees has no test rows (`labkit.trials.tune`). In: a recipe, or a case. Out: rows; an `Outcome` whose notes
have the trials, what was tried, and what was chosen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib.metadata import version
from importlib.util import find_spec
from math import inf
from pathlib import Path
from typing import Any

from labkit.corpora import Articles
from labkit.experiment import Experiment, digest
from labkit.lab.papers.data import Missing
from labkit.lab.papers.recipes import Case
from labkit.lab.papers.records import AS_PRINTED, Outcome, Recipe, Row, Table

PROTOCOL: Mapping[str, Any] = {"trials": 16, "part": 0.25, "epochs": 0.5, "sampler": "tpe"}
WHOLE: Mapping[str, Any] = {**PROTOCOL, "part": 1.0, "epochs": 1.0}
SMALL = 10_000  # training rows, up to which all are learned from
QUICK = 2  # trials of --quick
PRINTED_SEEDS = 3  # of rows as printed
#: what the note of a table says of it
FAIR = (
    f"Each row that is trained here has its settings chosen on dev by {PROTOCOL['trials']} trials, on the same quarter "
    f"of the training rows and for half of the epochs (up to {SMALL:,} rows: on all, for all epochs); the rows as "
    "printed have the paper's own values, or the usual ones where it gives none."
)
PLAIN = "Nothing is tuned: each row has the paper's own settings, or the usual ones where it gives none."


def tuned_and_printed(row: Row, printed: Mapping[str, Any]) -> tuple[Row, Row]:
    """The row with its settings chosen on dev, under its own name, and with those that the paper prints."""
    recipe = row.recipe
    assert recipe is not None, row.name
    as_printed = replace(recipe, settings={**recipe.settings, **printed}, seeds=PRINTED_SEEDS)
    tuned = replace(recipe, tuned=True, first=printed)
    return replace(row, recipe=tuned), replace(row, name=row.name + AS_PRINTED, recipe=as_printed)


def chosen_on_dev(case: Case) -> Outcome:
    """Try settings by the protocol; `dev` is the figure of those chosen, `dev at first` that of the first trial."""
    from labkit.trials.tune import tune

    if find_spec("optuna") is None:
        raise Missing("its settings are chosen by Optuna, which is not installed; run pip install optuna")
    rows = inf if isinstance(case.corpus, Articles) else case.corpus.sizes.get("train", 0)
    protocol = protocol_for(rows, quick=case.quick)
    experiment = Experiment(case.method, case.corpus, case.settings, 0, case.methods)
    folder = None if case.runs is None else _folder(case.runs, experiment, protocol, case.first)
    tuned = tune(experiment, **protocol, first=case.first, folder=folder, progress=case.progress)
    figures = {"dev": tuned.best.figure, "dev at first": tuned.trials[0].figure}
    trials = [
        {"tried": dict(trial.tried), "figure": trial.figure, "seconds": round(trial.seconds, 1), "reason": trial.reason}
        for trial in tuned.trials
    ]
    return Outcome(
        {name: value for name, value in figures.items() if value is not None},
        notes={
            "chosen": dict(tuned.best.tried),
            "measure": tuned.measure,
            "space": {name: str(dial) for name, dial in tuned.space.items()},
            "protocol": dict(protocol),
            "trials": trials,
        },
    )


def protocol_for(rows: float, *, quick: bool = False) -> dict[str, Any]:
    """How trials are made where there are so many rows to learn from; of articles, of which each is long, infinite."""
    return {**(WHOLE if rows <= SMALL else PROTOCOL), **({"trials": QUICK} if quick else {})}


def _folder(runs: Path, experiment: Experiment, protocol: Mapping[str, Any], first: Mapping[str, Any]) -> Path:
    """The folder of its trials, named by all that decides them, since `tune` refuses a folder of any others."""
    from labkit.trials.space import space_of

    space = {name: str(dial) for name, dial in space_of(experiment, experiment.opened()).items()}
    decides = [experiment.key, dict(protocol), dict(first), space, version("optuna")]
    return runs / f"tune-{experiment.method}-{digest(decides)[:20]}"


def tuning_of(recipe: Recipe, rows: float, *, quick: bool = False) -> Recipe:
    """The recipe of the cell that chooses the settings of this one, where there are so many rows to learn from."""
    protocol = protocol_for(rows, quick=quick)
    cost = recipe.cost * protocol["trials"] * protocol["part"] * protocol["epochs"]
    return replace(recipe, run=chosen_on_dev, on={}, also=(), sides=(), tuned=False, seeds=None, cost=cost)


def dials_of(recipe: Recipe, settings: Mapping[str, Any]) -> dict[str, str]:
    """What trials of these settings turn, and how far."""
    if recipe.entry is None:
        return {}
    from labkit.trials.space import tuned_settings

    space = tuned_settings(recipe.entry(**settings).settings)
    return {name: str(dial) for name, dial in space.items() if name not in settings}


def decisive(recipe: Recipe, settings: Mapping[str, Any], rows: float, *, quick: bool) -> dict[str, Any]:
    """What beside its settings decides what a tuning chooses, where its first trial starts; nothing of others."""
    if recipe.run is not chosen_on_dev or recipe.entry is None:
        return {}
    tried = dials_of(recipe, settings)
    usual = recipe.entry(**settings).settings.values()
    first = {name: recipe.first.get(name, usual[name]) for name in tried}
    return {"protocol": protocol_for(rows, quick=quick), "space": tried, "first": first}


def printed_only(table: Table) -> Table:
    """The table by the other protocol: the papers' own settings under the rows' own names, and nothing is tuned."""
    printed = {row.name.removesuffix(AS_PRINTED): row for row in table.rows if row.name.endswith(AS_PRINTED)}
    rows = (row for row in table.rows if not row.name.endswith(AS_PRINTED))
    untuned = tuple(_untuned(replace(printed.get(row.name, row), name=row.name)) for row in rows)
    return replace(table, rows=untuned, note=table.note.replace(FAIR, PLAIN))


def _untuned(row: Row) -> Row:
    return row if row.recipe is None else replace(row, recipe=replace(row.recipe, tuned=False))

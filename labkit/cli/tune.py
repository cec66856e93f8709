"""`labkit tune METHOD --corpus NAME`: search for the settings that score best on dev, with `labkit.trials.tune`.

In: a method, a corpus, a search space. Out: the trials, best first, and the command that trains with the best settings.
"""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from labkit.cli.arguments import CorpusName, Json, MethodName, opened_corpus
from labkit.cli.output import quiet, remark, resumable, show_result, text_table
from labkit.cli.train import entry_of, keys_and_values, shown
from labkit.experiment import Experiment
from labkit.progress import terminal

if TYPE_CHECKING:
    from labkit.trials.tune import Tuned, TunedTrial


def tune(
    method: MethodName,
    corpus: CorpusName = None,
    trials: Annotated[int, typer.Option(min=1, help="Number of trainings; the first uses the given settings.")] = 16,
    seed: Annotated[int, typer.Option(min=0, help="Random seed of the search; all trials train with seed 0.")] = 0,
    space: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=LOW..HIGH",
            help="Search this setting, in a range or among KEY=A|B|C; repeatable. Default: chosen by the method.",
        ),
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Fix a setting in all trials; repeatable."),
    ] = None,
    sampler: Annotated[str, typer.Option(metavar="tpe|random", help="Search algorithm.")] = "tpe",
    part: Annotated[float, typer.Option(help="Share of the training rows used in trials.")] = 1.0,
    epochs_share: Annotated[float, typer.Option(help="Share of the epochs used in trials.")] = 1.0,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the search. Default: runs/tune-METHOD-CORPUS-seedN.")
    ] = None,
    json: Json = False,
) -> None:
    """Search for the settings of a method that score best on dev.

    The same command resumes. The test split is never used: to get test scores, run the command printed at the end,
    which trains with the best settings.
    """
    entry = entry_of(method)
    if corpus is None:
        raise ValueError("--corpus is missing; give a file or a name from `labkit data list`")
    renamed = entry.Settings.renamed
    settings = renamed(keys_and_values("--set", changes or [], "epochs=5"))
    entry(**settings).settings.check_used(settings)
    asked = renamed(keys_and_values("--space", space or [], "learning_rate=0.001..0.1"))
    folder = out or Path("runs", f"tune-{Experiment(method, corpus, seed=seed).name}")
    with resumable():
        from labkit.trials.space import Dial
        from labkit.trials.tune import tune as tuned_by

        dials = {name: Dial.typed(name, text, entry.Settings) for name, text in asked.items()}
        experiment = Experiment(method, opened_corpus(corpus), settings)
        remark(f"{method} on {experiment.corpus!r}, {trials} trials, seed {seed}, into {folder}")
        with terminal("trial") as progress:
            tuned = tuned_by(
                experiment,
                trials=trials,
                seed=seed,
                space=dials or None,
                sampler=sampler,
                folder=folder,
                part=part,
                epochs=epochs_share,
                progress=progress,
                after_trial=_tell,
            )
    show_result({**_record(tuned), "folder": folder}, _text(tuned), json=json)


def _tell(trial: TunedTrial) -> None:
    """Print a line for a finished trial."""
    from tqdm import tqdm

    if not quiet():
        tried = ", ".join(f"{name} {shown(value)}" for name, value in trial.tried.items())
        came = f"failed: {trial.reason}" if trial.figure is None else f"{trial.measure} {trial.figure:.4f}"
        tqdm.write(f"trial {trial.number}: {tried}: {came}", file=sys.stderr)  # above the bar, not through it


def _text(tuned: Tuned) -> str:
    """All trials, best first, the search space, and the command that trains with the best settings."""
    rows = [
        [
            str(trial.number),
            "failed" if trial.figure is None else f"{trial.figure:.4f}",
            *(shown(value) for value in trial.tried.values()),
            f"{trial.seconds:.1f}",
            trial.reason,
        ]
        for trial in tuned.ranked
    ]
    table = text_table([["trial", tuned.measure, *tuned.space, "CPU s", ""], *rows], right=range(len(rows[0]) - 1))
    tried = ", ".join(f"{name} {dial}" for name, dial in tuned.space.items())
    lines = [table, "", f"searched: {tried}; trial 0 has the given settings"]
    if len(tuned.trials) < tuned.wanted:
        lines.append(f"{len(tuned.trials)} of {tuned.wanted} trials: the search space is exhausted")
    return "\n".join([*lines, "", tuned.command])


def _record(tuned: Tuned) -> dict[str, Any]:
    experiment = tuned.experiment
    return {
        "method": experiment.method,
        "corpus": experiment.opened().name,
        "measure": tuned.measure,
        "space": {name: str(dial) for name, dial in tuned.space.items()},
        "trials": [dataclasses.asdict(trial) for trial in tuned.trials],
        "best": tuned.best.number,
        "settings": tuned.settings,
        "command": tuned.command,
    }

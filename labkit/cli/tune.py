"""`labkit tune METHOD --corpus NAME` searches for a method's best settings; `labkit bench FILE` for the best method.

tune    in: a corpus, a search space. Out: the trials, best first, and the command that trains with the best settings
bench   in: a corpus, a number of minutes. Out: the verdict, the table, and a folder with the report and the winning
model
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Option, Typer

from labkit.cli import arguments
from labkit.cli.arguments import UTF8, Changes, Columns, Command, Encoding, MethodName, Seed, Shown, WithMethods
from labkit.cli.opening import opened_corpus
from labkit.cli.output import remark, resumable, text_table
from labkit.cli.train import entry_of, keys_and_values, shown
from labkit.experiment import Experiment
from labkit.progress import terminal
from labkit.trials.space import Dial

if TYPE_CHECKING:
    from labkit.trials.tune import Tuned, TunedTrial

app = Typer(rich_markup_mode=None)


@app.command(cls=WithMethods)
def tune(
    method: MethodName,
    corpus: Annotated[str, Option(help=arguments.CORPUS, autocompletion=arguments.complete_corpora)],
    trials: Annotated[int, Option(min=1, help="Number of runs; the first uses the given settings.")] = 16,
    seed: Annotated[int, Option(min=0, help="Random seed of the search; all trials train with seed 0.")] = 0,
    space: Annotated[
        list[str] | None,
        Option(
            metavar="KEY=LOW..HIGH", help="Range to search, or values KEY=A|B|C; repeatable. Default: the method's own."
        ),
    ] = None,
    changes: Changes = None,
    sampler: Annotated[Literal["tpe", "random"], Option(help="Search algorithm.")] = "tpe",
    part: Annotated[float, Option(help="Share of the training rows used in trials.")] = 1.0,
    epochs_share: Annotated[float, Option(help="Share of the epochs used in trials.")] = 1.0,
    out: Annotated[Path | None, Option(help="Folder of the search. Default: runs/tune-METHOD-CORPUS-seedN.")] = None,
) -> Shown:
    """Search for the settings of a method that score best on dev. Repeat the command to resume. The test split is never
    used. To get test scores, run the command printed at the end, which trains with the best settings."""
    entry = entry_of(method)
    settings = entry.Settings.renamed(keys_and_values("--set", changes, "epochs=5"))
    entry(**settings).settings.check_used(settings)
    asked = entry.Settings.renamed(keys_and_values("--space", space, "learning_rate=0.001..0.1"))
    folder = out or Path("runs", f"tune-{Experiment(method, corpus, seed=seed).name}")
    with resumable():
        from labkit.trials import tune as trying  # takes a second

        dials = {name: Dial.typed(name, text, entry.Settings) for name, text in asked.items()}
        opened = opened_corpus(corpus)
        remark(f"{method} on {opened!r}, {trials} trials, seed {seed}, into {folder}")
        how: dict[str, Any] = {"trials": trials, "seed": seed, "space": dials or None, "sampler": sampler}
        how |= {"folder": folder, "part": part, "epochs": epochs_share, "after_trial": _tell}
        with terminal("trial") as progress:
            tuned = trying.tune(Experiment(method, opened, settings), progress=progress, **how)
    record = {name: getattr(tuned, name) for name in ("measure", "trials", "settings", "command")}
    record |= {"method": method, "corpus": opened.name, "best": tuned.best.number, "folder": folder}
    record["space"] = {name: str(dial) for name, dial in tuned.space.items()}
    return record, _text(tuned)


def _tell(trial: TunedTrial) -> None:
    """Print a line for a finished trial."""
    tried = ", ".join(f"{name} {shown(value)}" for name, value in trial.tried.items())
    came = f"failed: {trial.reason}" if trial.figure is None else f"{trial.measure} {trial.figure:.4f}"
    remark(f"trial {trial.number}: {tried}: {came}")


def _text(tuned: Tuned) -> str:
    """All trials, best first, the search space, and the command that trains with the best settings."""
    rows = [["trial", tuned.measure, *tuned.space, "CPU s", ""]]
    for trial in tuned.ranked:
        figure = "failed" if trial.figure is None else f"{trial.figure:.4f}"
        tried = map(shown, trial.tried.values())
        rows.append([str(trial.number), figure, *tried, f"{trial.seconds:.1f}", trial.reason])
    table = text_table(rows, right=range(len(rows[0]) - 1))
    searched = ", ".join(f"{name} {dial}" for name, dial in tuned.space.items())
    lines = [table, "", f"searched: {searched}; trial 0 uses the given settings"]
    if len(tuned.trials) < tuned.wanted:
        lines.append(f"{len(tuned.trials)} of {tuned.wanted} trials were run, because the search space is exhausted")
    return "\n".join([*lines, "", tuned.command])


@app.command(cls=Command)
def bench(
    corpus: arguments.AnyCorpus,
    minutes: Annotated[float, Option(min=0.1, help="Approximate time limit.")] = 20.0,
    out: Annotated[Path, Option(help="Folder of the report.")] = Path("report"),
    methods: Annotated[str, Option(help="Compare only these methods, for example tfidf,bag,sbert.")] = "",
    metric: Annotated[str, Option(help="Metric to rank the methods by: auc, accuracy, probe, hit@1, …")] = "",
    test: Annotated[
        str,
        Option(
            help="A file with the test rows; the rows of FILE are then only for train and dev.",
            autocompletion=arguments.complete_corpora,
        ),
    ] = "",
    seeds: Annotated[int, Option(min=0, help="Seeds per method on test; 0 chooses 3 or 5.")] = 0,
    workers: Annotated[int, Option(min=0, help="Processes; 0: one per core.")] = 0,
    seed: Seed = 0,
    columns: Columns = "",
    encoding: Encoding = UTF8,
) -> Shown:
    """Find out which method is best for your data, and export the model. This command checks the data, runs the same
    number of trials on dev for each method, and scores test once with several seeds. The report says which method
    leads, what it costs, whether more labels would help, and where the winner makes mistakes. Repeat the command to
    resume an interrupted comparison.
    """
    from labkit.trials import bench as benching  # imports torch

    opened = opened_corpus(corpus, columns, encoding)
    if test:
        opened = benching.with_test(opened, opened_corpus(test, columns, encoding))
    chosen = [name.strip() for name in methods.split(",") if name.strip()]
    how: dict[str, Any] = {"minutes": minutes, "metric": metric, "seeds": seeds, "workers": workers, "seed": seed}
    with resumable(), terminal("method") as progress:
        report = benching.bench(opened, out=out, methods=chosen, progress=progress, tell=remark, **how)
    return report.to_json(), f"{report}\n\nreport: {out / 'report.html'}"

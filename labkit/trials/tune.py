"""Find the settings of a method that score best on dev: trials, each a training run, and a record of them.

    tuned = tune(Experiment("film", "questions"), trials=16)
    tuned.settings, tuned.command       the best settings, and the command that trains with them

In: an experiment, whose settings stay fixed, and the search space of the rest (`labkit.trials.space`). Trial 0 uses the
given settings, and no two trials are equal. A trial gets a corpus without test rows, and its `selection` on dev is its
score.

With a folder the trials are stored there (`labkit.trials.engine`), and plan.json describes the search. Repeat the call
to resume an interrupted search; it ends with the same trials.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from labkit import scale
from labkit.corpora.records import Corpus
from labkit.evaluation.comparison import Parts
from labkit.evaluation.scores import require_labels
from labkit.experiment import Experiment, versions_of
from labkit.method import Method
from labkit.methods import METHODS
from labkit.progress import Progress, silent
from labkit.trials import engine
from labkit.trials.space import SAMPLERS, Dial, optuna_study, optuna_version, proposed, space_of

FINALISTS = 3  # trials that are trained on all rows, besides the first


@dataclass(frozen=True)
class TunedTrial:
    """One trial: the values tried, and its dev score; None if training failed, with the `reason`."""

    number: int
    tried: Mapping[str, Any]
    figure: float | None
    measure: str = ""  # the name of the score
    seconds: float = 0.0  # CPU seconds of the process that finished the run
    reason: str = ""


@dataclass(frozen=True)
class Tuned:
    """All trials of an experiment in order; a larger score is better."""

    experiment: Experiment
    space: Mapping[str, Dial]
    trials: tuple[TunedTrial, ...]
    wanted: int  # requested number of trials; a small space has fewer

    @property
    def ranked(self) -> list[TunedTrial]:
        """The trials, best first and failed ones last; ties keep their order."""
        return sorted(self.trials, key=lambda trial: -math.inf if trial.figure is None else trial.figure, reverse=True)

    @property
    def best(self) -> TunedTrial:
        """The trial with the best score."""
        return self.ranked[0]

    @property
    def measure(self) -> str:
        """The name of the score."""
        return self.best.measure

    @property
    def settings(self) -> dict[str, Any]:
        """The given settings, completed with the best values found."""
        return {**self.experiment.settings, **self.best.tried}

    def study(self, storage: str | None = None) -> Any:
        """Return the trials as a new Optuna study, for its plots or, with a `storage`, for `optuna-dashboard`."""
        known = [(trial.tried, trial.figure) for trial in self.trials]
        return optuna_study(self.space, known, study_name=self.experiment.name, storage=storage)

    @property
    def command(self) -> str:
        """The command that trains with these settings on the whole corpus."""
        return replace(self.experiment, settings=self.settings).command


def selected(method: Method, corpus: Corpus, split: str) -> tuple[dict[str, float], dict[str, Parts]]:
    """The score that selects the method's settings."""
    name, value = method.selection(corpus.part(split))
    return {name: float(value)}, {}


def tune(
    experiment: Experiment,
    *,
    trials: int = 16,
    seed: int = 0,
    space: Mapping[str, Dial] | None = None,
    sampler: str = "tpe",
    first: Mapping[str, Any] | None = None,
    folder: Path | str | None = None,
    part: float = 1.0,
    epochs: float = 1.0,
    measure: engine.Measure = selected,
    progress: Progress = silent,
    after_trial: Callable[[TunedTrial], None] = lambda trial: None,
) -> Tuned:
    """Search settings around the experiment's own, and report which settings score best on dev.

    Each trial uses the same `part` of the training rows and this share of the `epochs`. The first trial uses the given
    settings, with the values in `first`. A trial that fails with a ValueError, for example because its loss is not
    finite, ranks below all others; if all fail, the first error is raised.
    """
    if trials < 1:
        raise ValueError(f"trials is {trials}, expected at least 1; the first uses the given settings")
    for name, share in {"part": part, "epochs": epochs}.items():
        if not 0 < share <= 1:
            raise ValueError(f"{name} is {share}, expected a share above 0 and at most 1; 1 uses all")
    if sampler not in SAMPLERS:
        raise ValueError(f"sampler is {sampler!r}, expected one of {', '.join(SAMPLERS)}")
    corpus = _tunable(experiment.opened())
    space = space_of(experiment, corpus, space)
    settings = experiment.unfitted().settings
    plan = {
        "kind": "tuning",
        "method": experiment.method,
        "settings": settings.decisive(),
        "corpus": corpus.name,
        "fingerprint": corpus.fingerprint,
        "training seed": experiment.seed,
        "space": {name: str(dial) for name, dial in space.items()},
        "trials": trials,
        "seed": seed,
        "sampler": sampler,
        "first": dict(first or {}),
        "part": part,
        "epochs": epochs,
        "versions": versions_of(experiment.entry, settings.values()) | {"optuna": optuna_version()},
    }
    folder = None if folder is None else Path(folder)
    if folder is not None:
        scale.folder(folder, plan)
    tried: dict[str, Any] | None = {name: (first or {}).get(name, getattr(settings, name)) for name in space}
    done: list[TunedTrial] = []
    while tried is not None:
        one = engine.Trial(experiment.method, _shortened(experiment, tried, epochs), experiment.seed, part)
        told = partial(_within, progress, len(done), trials)
        [result] = engine.run([one], corpus, measure, folder, methods=experiment.methods or METHODS, progress=told)
        name = next(iter(result.figures), "")
        done.append(TunedTrial(len(done), tried, result.figure, name, result.seconds, result.reason))
        after_trial(done[-1])
        known = [(each.tried, each.figure) for each in done]
        tried = proposed(space, known, seed, sampler) if len(done) < trials else None
    tuned = Tuned(experiment, space, tuple(done), trials)
    if tuned.best.figure is None:
        raise ValueError(f"none of {len(done)} trials could be trained; the first failed with: {done[0].reason}")
    return tuned


def finalists(
    tuned: Tuned, corpus: Corpus, measure: engine.Measure, folder: Path | None, progress: Progress = silent
) -> Tuned:
    """The first trial and the best ones, trained on all rows for all epochs, because the best on a part of the rows may
    not be the best on all.
    """
    experiment = tuned.experiment
    tried = [tuned.trials[0], *(each for each in tuned.ranked[:FINALISTS] if each.number and not each.reason)]
    trials = [engine.Trial(experiment.method, {**experiment.settings, **each.tried}, experiment.seed) for each in tried]
    methods = experiment.methods or METHODS
    results = engine.run(trials, corpus, measure, folder, methods=methods, progress=progress)
    found = replace(
        tuned,
        trials=tuple(
            replace(each, figure=result.figure, seconds=result.seconds, reason=result.reason)
            for each, result in zip(tried, results, strict=True)
        ),
    )
    if found.best.figure is None:
        raise ValueError(f"none of {len(tried)} finalists could be trained; the first failed with: {results[0].reason}")
    return found


def _tunable(corpus: Corpus) -> Corpus:
    """The corpus, after a check that it has training rows and labelled dev rows."""
    require_labels(corpus)
    if "dev" not in corpus.sizes:
        have = ", ".join(f"{split} {size:,}" for split, size in corpus.sizes.items())
        raise ValueError(
            f"corpus {corpus.name!r} has no dev split for choosing settings (it has {have}). Mark dev rows in the "
            "column 'split', or remove that column to split the rows automatically"
        )
    corpus.part("train")  # raises an error before training if the split is missing
    return corpus


def _shortened(experiment: Experiment, tried: Mapping[str, Any], share: float) -> dict[str, Any]:
    """The settings of a trial, with its number of epochs multiplied by `share`."""
    settings = {**experiment.settings, **tried}
    whole = getattr(replace(experiment, settings=settings).unfitted().settings, "epochs", None)
    if whole and share < 1:
        settings["epochs"] = max(1, round(share * whole))
    return settings


def _within(progress: Progress, number: int, trials: int, done: int, total: int | None, what: str) -> None:
    """Report the progress of one trial as part of the progress of all trials."""
    progress(number, trials, f"trial {number}, {what}")

"""The search space of a method's settings, and the next proposal in it.

    Dial                       the values to try for one setting: a range or a list
    space_of(experiment, …)    the dials of an experiment: those given, else the method's own
    proposed(space, known, …)  the next trial by Optuna's TPE, given the results of earlier ones

A proposal depends only on the seed, its number and the earlier results. A search can therefore resume from the results,
and no state of Optuna needs to be stored.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any, Self

from labkit.corpora.records import Corpus
from labkit.experiment import Experiment, digest
from labkit.extras import require
from labkit.settings import Settings, checked

SAMPLERS = ("tpe", "random")
STARTUP = 6  # trials before TPE takes over; of 4 to 10, the best for 16 trials on 60 artificial surfaces
REDRAWN = 20  # repeated proposals before a random one is used


@dataclass(frozen=True)
class Dial:
    """The values to try: a number from `low` to `high`, on a log scale or `whole`, or one of the choices."""

    low: float = 0.0
    high: float = 0.0
    log: bool = False
    whole: bool = False
    choices: tuple[Any, ...] = ()

    @classmethod
    def of(cls, values: Sequence[Any]) -> Self:
        """The range between two numbers, or the choice among other values.

        A positive range is drawn on a log scale if its upper end is at least ten times the lower one.
        """
        kind = type(values[0])
        if len(values) != 2 or kind not in (int, float):
            return cls(choices=tuple(values))
        low, high = values
        return cls(low, high, log=low > 0 and high >= 10 * low, whole=kind is int)

    @classmethod
    def typed(cls, name: str, text: str, settings: type[Settings]) -> Self:
        """Parse the values typed for a setting: "0.1..0.9" or "a|b|c"."""
        entry, is_range = settings.named(name), ".." in text
        try:
            values = [checked(entry, each.strip()) for each in text.split(".." if is_range else "|")]
        except ValueError as reason:
            raise ValueError(f"--space {name}={text!r}: {reason}") from None
        if is_range and len(values) == 2 and type(values[0]) in (int, float) and values[0] < values[1]:
            return cls.of(values)
        if is_range or len({*values}) < max(len(values), 2):
            raise ValueError(
                f"--space {name}={text!r} is neither a range nor a list of values. Write two numbers, the smaller one "
                "first, as in 0.1..0.9, or distinct values, as in 1|2|5"
            )
        return cls(choices=tuple(values))

    def __str__(self) -> str:
        shown = [("no", "yes")[each] if isinstance(each, bool) else str(each) for each in self.choices]
        return "|".join(shown) or f"{self.low:.9g}..{self.high:.9g}"

    def __contains__(self, value: Any) -> bool:
        return value in self.choices if self.choices else bool(self.low <= value <= self.high)

    def nearest(self, value: Any) -> Any:
        """The value rounded as a person would write it, to a thousandth of the range."""
        if self.choices or self.whole:
            return value
        digits = 2 - math.floor(math.log10(value if self.log else self.high - self.low))
        return min(max(round(value, digits), self.low), self.high)


def tuned_settings(settings: Settings, shape: str | None = None, has_dev: bool | None = None) -> dict[str, Dial]:
    """The hyperparameters that have an effect with these settings on this corpus, with the values to try."""
    unused = settings.unused(shape, has_dev)
    values = {
        entry.name: [checked(entry, each) for each in entry.metadata["tune"]]
        for entry in fields(settings)
        if entry.metadata["tune"] and entry.name not in unused
    }
    return {name: Dial.of(each) for name, each in values.items()}


def space_of(experiment: Experiment, corpus: Corpus, space: Mapping[str, Dial] | None = None) -> dict[str, Dial]:
    """The search space of an experiment: the given dials, else those of all settings that are not fixed.

    Raises ValueError if a dial has no effect or is also fixed, or if there are no dials.
    """
    settings = experiment.unfitted().settings
    shape, has_dev = type(corpus).__name__, "dev" in corpus.sizes
    if space is None:
        usual = tuned_settings(settings, shape, has_dev)
        space = {name: dial for name, dial in usual.items() if name not in experiment.settings}
    for name in space:
        settings.named(name)
        if name in experiment.settings:
            raise ValueError(f"setting {name} is both fixed and searched; omit one of them")
    settings.check_used(space, shape, has_dev)
    if not space:
        raise ValueError(f"method {experiment.method!r} has no settings left to search; name one and its values")
    return dict(space)


# --- proposals ---------------------------------------------------------------------------------------------------

Known = Sequence[tuple[Mapping[str, Any], float | None]]  # the values tried, and the score; None if the trial failed


def proposed(space: Mapping[str, Dial], known: Known, seed: int, sampler: str = "tpe") -> dict[str, Any] | None:
    """The next values to try, different from all known ones; None if the space is exhausted.

    The sampler treats a failed trial as the worst.
    """
    from optuna.samplers import RandomSampler, TPESampler

    before = [dict(tried) for tried, _ in known]
    with _quiet():
        for attempt in range(REDRAWN + 40 * (len(known) + 1)):
            draw = int(digest([seed, len(known), attempt])[:8], 16)
            if sampler == "tpe" and attempt < REDRAWN:
                kind = TPESampler(seed=draw, n_startup_trials=STARTUP, multivariate=True, constant_liar=True)
                study = optuna_study(space, known, sampler=kind)
            else:
                study = optuna_study(space, [], sampler=RandomSampler(seed=draw))
            drawn = study.ask(_distributions(space)).params
            tried = {name: dial.nearest(drawn[name]) for name, dial in space.items()}
            if tried not in before:
                return tried
    return None


def optuna_study(space: Mapping[str, Dial], known: Known, **how: Any) -> Any:
    """A new Optuna study with these trials, in memory or in a `storage` such as sqlite:///tuning.db."""
    from optuna import create_study
    from optuna.trial import TrialState, create_trial

    distributions = _distributions(space)
    with _quiet():
        study = create_study(direction="maximize", **how)
        for tried, figure in known:
            if all(value in space[name] for name, value in tried.items()):  # others are of no use to the sampler
                state = TrialState.PRUNED if figure is None else TrialState.COMPLETE
                trial = create_trial(state=state, value=figure, params=dict(tried), distributions=distributions)
                study.add_trial(trial)
    return study


def _distributions(space: Mapping[str, Dial]) -> dict[str, Any]:
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    def made(dial: Dial) -> Any:
        if dial.choices:
            return CategoricalDistribution(dial.choices)
        kind: Any = IntDistribution if dial.whole else FloatDistribution
        return kind(dial.low, dial.high, log=dial.log)

    return {name: made(dial) for name, dial in space.items()}


def optuna_version() -> str:
    """The version of Optuna, because another one may propose other settings."""
    require("tune", "optuna")
    import optuna

    return str(optuna.__version__)


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence Optuna's log, because the library prints nothing."""
    import optuna

    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            yield
    finally:
        optuna.logging.set_verbosity(before)

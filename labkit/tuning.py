"""The settings of a method that are best on dev: so many trials, each a training, and a record of them all.

    tuned = tune(Experiment("film", "questions"), trials=16)
    tuned.settings, tuned.command       what was best, and the command line that trains with it

In: an experiment, whose settings stay as they are given, and what to try beside them: the dials of its method's
settings, or others. Trial 0 has the settings as given; Optuna proposes the others, each with a sampler of its own that
is seeded by (seed, number of the trial), so that what a trial tries hangs on the outcomes before it and nothing else.
No two are alike. A trial learns from a corpus that has no test rows, and is worth what its `selection` says of dev.

With a folder all of it is kept there, and several processes may share the work:

    tune.json           what is tuned: whoever tunes anything else there is refused
    journal.log         Optuna's journal: what each trial tries, and what came of it
    trials/NNN          the run of a trial, with its checkpoints; once it is done, run.json and history.csv alone
    trials/.NNN         locked by the process that trains the trial; trials itself by one that uses the journal

A process that is killed loses nothing: its trial is taken over where its last checkpoint is, and a line of the journal
that it has not finished is cut off. The locks are the system's own, so that they end with their process.
"""

from __future__ import annotations

import json
import math
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from labkit.atomic import write_text
from labkit.corpora.records import Corpus
from labkit.evaluation.scores import require_labels
from labkit.experiment import Experiment, digest, versions_of
from labkit.locks import is_locked, locked
from labkit.progress import Progress, silent
from labkit.runs import HISTORY, TRIALS, TUNING, difference, finished, has_checkpoint
from labkit.settings import Settings, checked

if TYPE_CHECKING:
    from optuna import Study
    from optuna.trial import FrozenTrial

JOURNAL = "journal.log"
SAMPLERS = ("tpe", "random")
STARTUP = 6  # trials before TPE takes over; of 4 to 10, the best for 16 trials on 60 made-up surfaces
REDRAWN = 20  # proposals like an earlier trial, after which any other will do
PATIENCE = 120.0  # seconds to wait for who reads or writes the journal, of which each takes a moment
LOOK = 0.5  # seconds until a process without a trial looks again whether one is left to take over
_KEPT = ("run.json", HISTORY)  # of a trial that is done

# --- what is tried -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Dial:
    """What is tried of a setting: a number from `low` to `high`, by its logarithm or `whole`, or one of the choices."""

    low: float = 0.0
    high: float = 0.0
    log: bool = False
    whole: bool = False
    choices: tuple[Any, ...] = ()

    @classmethod
    def of(cls, values: Sequence[Any]) -> Self:
        """The range between two numbers, or the choice among other values.

        Ends above 0 of which one is ten times the other, or more, are drawn by their logarithm.
        """
        kind = type(values[0])
        if len(values) != 2 or kind not in (int, float):
            return cls(choices=tuple(values))
        low, high = values
        return cls(low, high, log=low > 0 and high >= 10 * low, whole=kind is int)

    @classmethod
    def typed(cls, name: str, text: str, settings: type[Settings]) -> Self:
        """What a person typed for a setting: "0.1..0.9" or "a|b|c"."""
        entry, is_range = settings.named(name), ".." in text
        try:
            values = [checked(entry, each.strip()) for each in text.split(".." if is_range else "|")]
        except ValueError as reason:
            raise ValueError(f"what to try is {name}={text!r}: {reason}") from None
        if is_range and len(values) == 2 and type(values[0]) in (int, float) and values[0] < values[1]:
            return cls.of(values)
        if is_range or len({*values}) < max(len(values), 2):
            raise ValueError(
                f"what to try is {name}={text!r}, expected two numbers, the smaller one first, as in 0.1..0.9, or "
                "different values, as in 1|2|5"
            )
        return cls(choices=tuple(values))

    def __str__(self) -> str:
        shown = [("no", "yes")[each] if isinstance(each, bool) else str(each) for each in self.choices]
        return "|".join(shown) or f"{self.low:.9g}..{self.high:.9g}"

    def __contains__(self, value: Any) -> bool:
        return value in self.choices if self.choices else bool(self.low <= value <= self.high)

    def nearest(self, value: Any) -> Any:
        """The value as a person would write it: a number to a thousandth of the whole range."""
        if self.choices or self.whole:
            return value
        digits = 2 - math.floor(math.log10(value if self.log else self.high - self.low))
        return min(max(round(value, digits), self.low), self.high)


def tuned_settings(settings: Settings, shape: str | None = None, has_dev: bool | None = None) -> dict[str, Dial]:
    """The hyperparameters that count beside the other settings, and on the corpus, with what is tried of each."""
    unused = settings.unused(shape, has_dev)
    values = {
        entry.name: [checked(entry, each) for each in entry.metadata["tune"]]
        for entry in fields(settings)
        if entry.metadata["tune"] and entry.name not in unused
    }
    return {name: Dial.of(each) for name, each in values.items()}


# --- what comes of it --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Trial:
    """One trial: what it tried, and its figure on dev; None where the training failed, for this `reason`."""

    number: int
    tried: Mapping[str, Any]
    figure: float | None
    measure: str = ""  # the figure's name
    seconds: float = 0.0  # of CPU, of the process that finished it
    reason: str = ""


@dataclass(frozen=True)
class Tuned:
    """All trials of an experiment in their order, and what they tell: the larger the figure, the better."""

    experiment: Experiment
    space: Mapping[str, Dial]
    trials: tuple[Trial, ...]
    wanted: int  # so many trials; a small space is used up before

    @property
    def ranked(self) -> list[Trial]:
        """The best first, those that failed last; of equals the earlier one."""
        return sorted(self.trials, key=lambda trial: -math.inf if trial.figure is None else trial.figure, reverse=True)

    @property
    def best(self) -> Trial:
        """The trial with the largest figure."""
        return self.ranked[0]

    @property
    def measure(self) -> str:
        """The name of the figure."""
        return self.best.measure

    @property
    def settings(self) -> dict[str, Any]:
        """The settings as given, and the best of those tried."""
        return {**self.experiment.settings, **self.best.tried}

    @property
    def command(self) -> str:
        """The command line that trains with them, on all of the corpus."""
        return replace(self.experiment, settings=self.settings).command


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
    progress: Progress | None = None,
    after_trial: Callable[[Trial], None] = lambda trial: None,
) -> Tuned:
    """Try settings beside those of the experiment, and say which are best on dev.

    Each trial learns from a `part` of the training rows, the same for all, for so large a share of the `epochs`. The
    first has the settings as given, but for those that are tried and stand in `first`. With `folder` a tuning
    that was interrupted there goes on, beside others that are at it; `after_trial` is told of what this process has
    trained. Without it the result is the same, to the bit. A trial of which a ValueError comes, as where the loss is
    not finite, is worth less than all others; where all are such, the first one's is raised.
    """
    if trials < 1:
        raise ValueError(f"trials is {trials}, expected at least 1; the first has the settings as they are given")
    for name, share in (("part", part), ("epochs", epochs)):
        if not 0 < share <= 1:
            raise ValueError(f"{name} is {share}, expected a share, above 0 and at most 1; 1 takes all")
    if sampler not in SAMPLERS:
        raise ValueError(f"sampler is {sampler!r}, expected one of {', '.join(SAMPLERS)}; choose one of these")
    start, told = dict(first or {}), progress or silent
    work = _Tuning(experiment, trials, seed, space, sampler, start, part, epochs, told, after_trial, folder)
    return work.done()


def space_of(experiment: Experiment, corpus: Corpus, space: Mapping[str, Dial] | None = None) -> dict[str, Dial]:
    """What is tried of an experiment: the dials named, else those of its settings that nobody has set.

    A ValueError where a dial changes nothing, is set as well, or where there is none at all.
    """
    settings = experiment.unfitted().settings
    shape, has_dev = type(corpus).__name__, "dev" in corpus.sizes
    chosen = space
    if chosen is None:
        usual = tuned_settings(settings, shape, has_dev)
        chosen = {name: dial for name, dial in usual.items() if name not in experiment.settings}
    if both := [name for name in chosen if name in experiment.settings]:
        raise ValueError(f"setting {both[0]} is both set and to be tried; leave one of them out")
    for name in chosen:
        settings.named(name)
    settings.check_used(chosen, shape, has_dev)
    if not chosen:
        raise ValueError(
            f"method {experiment.method!r} has no setting left to try, expected at least one; name one with what to try"
        )
    return dict(chosen)


# --- the work ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Taken:
    """A trial that is this process' to train, until its lock is closed; in a folder where it is kept."""

    number: int
    tried: dict[str, Any]
    folder: Path | None
    lock: ExitStack


@dataclass(frozen=True, eq=False)
class _Tuning:
    """A tuning: what is tried, and where it is kept."""

    experiment: Experiment
    trials: int
    seed: int
    asked: Mapping[str, Dial] | None
    sampler: str
    first: Mapping[str, Any]
    part: float
    epochs: float
    progress: Progress
    after_trial: Callable[[Trial], None]
    folder: Path | str | None

    def done(self) -> Tuned:
        """Train until every trial has its outcome, whoever trained it."""
        self._begin()
        while (taken := self._next()) is not None:
            with taken.lock:
                trial = self._outcome(taken)
                self.journal.finish(trial)
            self.after_trial(trial)
        with self.journal.opened() as study:
            trials = tuple(Trial(each.number, **each.user_attrs) for each in study.get_trials(deepcopy=False))
        tuned = Tuned(self.experiment, self.space, trials, self.trials)
        if tuned.best.figure is None:
            raise ValueError(f"none of {len(trials)} trials could be trained; the first: {trials[0].reason}")
        return tuned

    # --- what is decided before ------------------------------------------------------------------------------

    @cached_property
    def whole(self) -> Corpus:
        return self.experiment.opened()

    @cached_property
    def corpus(self) -> Corpus:
        """The corpus without a row of test, so that nothing of it can be seen, and with a part of train."""
        whole = self.whole
        require_labels(whole)
        if "dev" not in whole.sizes:
            have = ", ".join(f"{split} {size:,}" for split, size in whole.sizes.items())
            raise ValueError(
                f"corpus {whole.name!r} has no dev split to choose settings on (it has {have}), expected one; give it "
                "in the column 'split', or leave that column out, and rows are divided"
            )
        seen = whole.take(row for row, split in enumerate(whole.splits) if split != "test")
        return seen if self.part == 1 else seen.fewer(self.part)

    @cached_property
    def space(self) -> dict[str, Dial]:
        return space_of(self.experiment, self.whole, self.asked)

    @cached_property
    def journal(self) -> _Journal:
        return _Journal(None if self.folder is None else Path(self.folder))

    def _begin(self) -> None:
        optuna = {"optuna": _optuna().__version__}  # another one may propose other settings
        settings = self.experiment.unfitted().settings
        self.corpus.part("train")  # if it has none, that is to be said before anything else
        record = {
            "method": self.experiment.method,
            "settings": settings.values(),
            "corpus": self.whole.name,
            "fingerprint": self.whole.fingerprint,
            "training seed": self.experiment.seed,
            "space": {name: str(dial) for name, dial in self.space.items()},
            "trials": self.trials,
            "seed": self.seed,
            "sampler": self.sampler,
            **({"first": dict(self.first)} if self.first else {}),
            "part": self.part,
            "epochs": self.epochs,
            "versions": versions_of(self.experiment.entry, settings.values()) | optuna,
        }
        self.journal.begin(record)

    # --- the next trial --------------------------------------------------------------------------------------

    def _next(self) -> _Taken | None:
        """The next trial to train: a dead process', or a new one; None once all are done.

        Where the rest is being trained by others, it waits for them, who may die.
        """
        while True:
            with self.journal.opened() as study:
                known = study.get_trials(deepcopy=False)
                running = [each for each in known if not each.state.is_finished()]
                self.journal.clear([each.number for each in known if each.state.is_finished()])
                for each in running:
                    if not self.journal.busy(each.number):
                        return self.journal.taken(each.number, each.user_attrs["tried"])
                if len(known) < self.trials and (tried := self._proposal(known)) is not None:
                    study.add_trial(self._new(tried))
                    return self.journal.taken(len(known), tried)
            if not running:
                return None
            what = f"trial {running[0].number} is trained by another process"
            self.progress(len(known) - len(running), self.trials, what)
            time.sleep(LOOK)

    def _new(self, tried: dict[str, Any]) -> FrozenTrial:
        """A trial for the journal; settings given that lie outside of the space tell a sampler nothing."""
        from optuna.trial import TrialState, create_trial

        inside = all(value in self.space[name] for name, value in tried.items())
        return create_trial(
            state=TrialState.RUNNING,
            params=tried if inside else {},
            distributions=_distributions(self.space) if inside else {},
            user_attrs={"tried": tried},
        )

    def _proposal(self, known: Sequence[FrozenTrial]) -> dict[str, Any] | None:
        if not known:
            settings = self.experiment.unfitted().settings
            return {name: self.first.get(name, getattr(settings, name)) for name in self.space}
        return proposed(self.space, known, self.seed, self.sampler)

    # --- training --------------------------------------------------------------------------------------------

    def _outcome(self, taken: _Taken) -> Trial:
        """Train a trial, or go on with it, and measure it."""
        began, reason = time.process_time(), ""
        figure: float | None = None
        measure = ""
        try:
            measure, value = self._trained(taken).selection(self.corpus.part("dev"))
            if math.isfinite(value):
                figure = float(value)
            else:
                reason = f"{measure} is {value}, expected a number"
        except ValueError as error:
            reason = " ".join(str(error).split())
        return Trial(taken.number, taken.tried, figure, measure, time.process_time() - began, reason)

    def _trained(self, taken: _Taken) -> Any:
        settings = {**self.experiment.settings, **taken.tried}
        whole = getattr(replace(self.experiment, settings=settings).unfitted().settings, "epochs", None)
        if whole and self.epochs < 1:
            settings["epochs"] = max(1, round(self.epochs * whole))
        trial = replace(self.experiment, corpus=self.corpus, settings=settings)
        if taken.folder is not None:
            if finished(taken.folder):  # it was killed before the journal knew
                return trial.unfitted().load(taken.folder)
            if not has_checkpoint(taken.folder):  # half a run, of a method that has none
                _remove(taken.folder, ())
        return trial.fit(self._within(taken.number), taken.folder)

    def _within(self, number: int) -> Progress:
        """The progress of one trial as a part of that of all."""

        def tell(done: int, total: int | None, what: str) -> None:
            self.progress(number, self.trials, f"trial {number}, {what}")

        return tell


# --- proposals ---------------------------------------------------------------------------------------------------


def proposed(space: Mapping[str, Dial], known: Sequence[FrozenTrial], seed: int, sampler: str) -> dict[str, Any] | None:
    """What the next trial tries, unlike all that are known; None where the space is used up.

    To the sampler a trial that failed is worse than all others, and one that is still trained is taken for such.
    """
    from optuna import create_study
    from optuna.samplers import RandomSampler, TPESampler
    from optuna.trial import TrialState, create_trial

    told = {TrialState.FAIL: TrialState.PRUNED}
    earlier = [
        create_trial(
            state=told.get(each.state, each.state),
            value=each.value,
            params=each.params,
            distributions=each.distributions,
        )
        for each in known
        if each.params
    ]
    before = [each.user_attrs["tried"] for each in known]
    with _quiet():
        for attempt in range(REDRAWN + 40 * (len(known) + 1)):
            draw = int(digest([seed, len(known), attempt])[:8], 16)
            tpe = sampler == "tpe" and attempt < REDRAWN
            kind = TPESampler(seed=draw, n_startup_trials=STARTUP, multivariate=True, constant_liar=True)
            study = create_study(direction="maximize", sampler=kind if tpe else RandomSampler(seed=draw))
            study.add_trials(earlier if tpe else [])
            drawn = study.ask(_distributions(space)).params
            tried = {name: dial.nearest(drawn[name]) for name, dial in space.items()}
            if tried not in before:
                return tried
    return None


def _distributions(space: Mapping[str, Dial]) -> dict[str, Any]:
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    def made(dial: Dial) -> Any:
        if dial.choices:
            return CategoricalDistribution(dial.choices)
        kind: Any = IntDistribution if dial.whole else FloatDistribution
        return kind(dial.low, dial.high, log=dial.log)

    return {name: made(dial) for name, dial in space.items()}


def _optuna() -> Any:
    try:
        import optuna
    except ImportError as error:
        raise ValueError("Optuna is not installed, and tuning needs it; run pip install optuna") from error
    return optuna


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep to itself what Optuna says of its own working: the library draws and prints nothing."""
    optuna = _optuna()
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            yield
    finally:
        optuna.logging.set_verbosity(before)


# --- the journal and the folders of trials -----------------------------------------------------------------------


class _Journal:
    """The trials, in a folder or in memory."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self._memory: Any = None if folder else _optuna().storages.InMemoryStorage()

    def begin(self, record: Mapping[str, Any]) -> None:
        """Take a folder for the tuning that this record describes; refused if it holds another one, or other files."""
        if self.folder is None:
            return
        path = self.folder / TUNING
        with self._locked():
            if not path.is_file():
                if any(not each.name.startswith(".") and each.name != TRIALS for each in self.folder.iterdir()):
                    raise ValueError(
                        f"folder {str(self.folder)!r} holds files that are not a tuning's; choose an empty or a new one"
                    )
                write_text(path, json.dumps(record, indent=2) + "\n")
                return
            try:
                theirs = dict(json.loads(path.read_text("utf-8")))
            except (ValueError, TypeError):
                raise ValueError(
                    f"tuning {str(self.folder)!r} cannot be read: {TUNING} was edited; choose another folder"
                ) from None
        if other := difference(json.loads(json.dumps(record)), theirs):
            raise ValueError(
                f"folder {str(self.folder)!r} holds a tuning with {other}; use the same to go on, or choose another "
                "folder"
            )

    @contextmanager
    def opened(self) -> Iterator[Study]:
        """The trials so far, to be read and changed by nobody else until the block ends."""
        optuna = _optuna()
        with self._locked(), _quiet():
            if (storage := self._memory) is None:
                assert self.folder is not None
                _cut(self.folder / JOURNAL)
                file = optuna.storages.journal.JournalFileBackend(str(self.folder / JOURNAL), lock_obj=_Open())
                storage = optuna.storages.JournalStorage(file)
            if storage.get_all_studies():
                yield optuna.load_study(study_name=None, storage=storage)
            else:
                yield optuna.create_study(storage=storage, direction="maximize")

    def finish(self, trial: Trial) -> None:
        """Write down what came of a trial; from then on it is done."""
        from optuna.trial import TrialState

        with self.opened() as study:
            key = study.get_trials(deepcopy=False)[trial.number]._trial_id
            for name in ("figure", "measure", "seconds", "reason"):
                study._storage.set_trial_user_attr(key, name, getattr(trial, name))
            state = TrialState.FAIL if trial.figure is None else TrialState.COMPLETE
            study.tell(trial.number, trial.figure, state=state)

    def busy(self, number: int) -> bool:
        """Whether a process that lives trains this trial."""
        return self.folder is not None and is_locked(self._lock(number))

    def taken(self, number: int, tried: dict[str, Any]) -> _Taken:
        """A trial, locked for this process."""
        lock = ExitStack()
        if self.folder is None:
            return _Taken(number, tried, None, lock)
        lock.enter_context(locked(self._lock(number)))
        return _Taken(number, tried, self._place(number), lock)

    def clear(self, done: Sequence[int]) -> None:
        """Remove of trials that are done all but how they were trained: their figures are in the journal."""
        for number in done if self.folder is not None else ():
            _remove(self._place(number), _KEPT)

    def _place(self, number: int) -> Path:
        assert self.folder is not None
        return self.folder / TRIALS / f"{number:03}"

    def _lock(self, number: int) -> Path:
        return self._place(number).with_name(f".{number:03}")

    def _locked(self) -> Any:
        return nullcontext() if self.folder is None else locked(self.folder / TRIALS, patience=PATIENCE)


class _Open:
    """What Optuna takes for its lock: the journal is held already when it asks for it."""

    def acquire(self) -> bool:
        return True

    def release(self) -> None:
        pass


def _cut(journal: Path) -> None:
    """Cut off a last line that a killed process has not finished: what is appended to it could not be read."""
    if not journal.is_file():
        return
    content = journal.read_bytes()
    whole = content.rfind(b"\n") + 1
    if whole < len(content):
        with journal.open("r+b") as file:
            file.truncate(whole)


def _remove(folder: Path, kept: Sequence[str]) -> None:
    for path in folder.iterdir() if folder.is_dir() else ():
        if path.name not in kept:
            path.unlink(missing_ok=True)

"""Which method for my data? A comparison from a corpus to a decision, within a time limit.

    report = bench(load("mine.csv"), out="report", minutes=20)
    print(report)                       the verdict and the table; details are in report/report.html

    1  the doctor       what is wrong with the data (`labkit.trials.doctor`)
    2  a short round    one epoch of each method on a few rows: its cost, and whether it can learn from this shape
    3  the plan         the methods, trials and seeds that fit into the time; written before the first trial
    4  the search       the same number of trials on dev for each method; if trials use only a part of the rows, the
                        three best and the default settings are trained on all of them, and dev chooses
    5  the test         the chosen settings with several seeds, scored once on test
    6  the report       which method leads, what it costs, whether more labels would help, where it errs

Everything is stored in the folder. The same call resumes with the stored plan and ends with the same table.
"""

from __future__ import annotations

import json
import os
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from labkit import scale
from labkit.atomic import write_text
from labkit.corpora.records import Corpus, Pairs
from labkit.evaluation.comparison import Parts, lead_of
from labkit.evaluation.scores import require_labels
from labkit.evaluation.threshold import Threshold, threshold
from labkit.experiment import Experiment, versions_of
from labkit.method import Method
from labkit.methods import METHODS
from labkit.progress import Progress, silent
from labkit.trials import engine
from labkit.trials.doctor import Finding, examine
from labkit.trials.engine import Result, Trial
from labkit.trials.metrics import Metric, metrics_for
from labkit.trials.mistakes import Mistake, mistakes_of
from labkit.trials.space import Dial, tuned_settings
from labkit.trials.tune import tune
from labkit.trials.verdict import UNITS, Ranked, front, ranked, verdict_of

LEAST_TRIALS, LEAST_SEEDS = 8, 3
SMALL = 2_000  # training rows up to which every trial sees all of them, because a quarter would say too little
SHARES = (0.25, 0.5, 1.0)  # of the training rows, for the learning curve
TIMED_ROWS = 500  # of the training rows, for the short round
JUDGED_A_MINUTE = 500  # sentences whose labels a large model checks, per minute of the limit
QUICK = 20.0  # estimated seconds of a training below which it is timed on all rows
RESERVE = 0.75  # share of the minutes that is planned; the rest is for the doctor, the curve and underestimates


@dataclass(frozen=True)
class Entry:
    """A candidate: a method, its given settings, and whether it trains no weights."""

    name: str
    method: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    simple: bool = False
    extra: str = ""  # the extra that it needs


_SBERT = "sentence_transformers"
ENTRIES = {
    entry.name: entry
    for entry in (
        Entry("tfidf", "tfidf", simple=True),
        Entry("lsa", "lsa", simple=True),
        Entry("mean-vectors", "mean-vectors", simple=True),
        Entry("sif", "sif", simple=True),
        Entry("distilled", "static", {"epochs": 0}, simple=True, extra=_SBERT),
        Entry("sbert", "sbert", simple=True, extra=_SBERT),
        Entry("bag", "bag"),
        Entry("static", "static", extra=_SBERT),
        Entry("siamese", "siamese"),
        Entry("triplet", "triplet"),
        Entry("sentpwnet", "sentpwnet"),
        Entry("thematic", "thematic"),
        Entry("film", "film"),
        Entry("sbert-lp", "sbert-lp"),
        Entry("pthought", "pthought"),
    )
}


# --- costs and the plan ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cost:
    """Seconds to train on all rows and to score, and whether the method is random; or why it cannot take part."""

    fit: float = 0.0
    score: float = 0.0
    random: bool = True
    tuned: bool = True  # whether it has settings to try
    reason: str = ""


@dataclass(frozen=True)
class Plan:
    """The plan of a comparison, made before the first trial."""

    metric: str
    methods: tuple[str, ...]
    left_out: Mapping[str, str]
    trials: int
    part: float  # of the training rows, in trials
    seeds: int
    minutes: float
    workers: int
    costs: Mapping[str, Cost]
    seed: int = 0

    def __str__(self) -> str:
        seen = "all training rows" if self.part == 1 else f"{self.part:.0%} of the training rows"
        return (
            f"{len(self.methods)} methods ({', '.join(self.methods)}), {self.trials} trials each on {seen}, then "
            f"{self.seeds} seeds"
        )


def seconds_of(cost: Cost, trials: int, part: float, seeds: int) -> float:
    """The seconds for one method: its trials, the trainings on all rows that choose among the best, and its seeds."""
    again = 4 if part < 1 else 0
    runs = seeds if cost.random else 1
    if not cost.tuned:
        trials, part, again = 1, 1.0, 0
    return cost.fit * (trials * part + again + runs) + cost.score * (trials + again + 2 * runs)


def planned(costs: Mapping[str, Cost], minutes: float, workers: int, *, small: bool, seeds: int = 0) -> dict[str, Any]:
    """The methods, trials, part of the rows and seeds that fit into the remaining minutes.

    The most expensive methods are dropped until the minimum of a fair comparison fits: 8 trials and 3 seeds. Remaining
    time goes into trials on all rows, then into 5 seeds, then into more trials.
    """
    room = 60 * minutes * RESERVE
    few, many = (seeds, seeds) if seeds else (LEAST_SEEDS, 5)
    sizes = [(LEAST_TRIALS, 0.25, few), (LEAST_TRIALS, 0.5, few)] * (not small)
    sizes += [(LEAST_TRIALS, 1.0, few), (LEAST_TRIALS, 1.0, many), (16, 1.0, many), (24, 1.0, many)]
    left_out = {name: cost.reason for name, cost in costs.items() if cost.reason}
    kept = sorted((name for name in costs if name not in left_out), key=lambda name: seconds_of(costs[name], *sizes[0]))

    def fits(size: tuple[int, float, int]) -> bool:
        each = [seconds_of(costs[name], *size) for name in kept]
        return sum(each) <= room * workers and max(each) <= room

    while kept and not fits(sizes[0]):
        name = kept.pop()
        need = seconds_of(costs[name], *sizes[0])
        left_out[name] = f"{LEAST_TRIALS} trials and {few} seeds would take about {need / 60:.0f} minutes"
    trials, part, runs = max((size for size in sizes if kept and fits(size)), key=sizes.index, default=sizes[0])
    methods = tuple(name for name in costs if name in kept)  # the first of equal scores leads: the simpler method
    return {"methods": methods, "left_out": left_out, "trials": trials, "part": part, "seeds": runs}


@dataclass(frozen=True)
class _Given:
    """The input of a process for one method."""

    entry: Entry
    corpus: Corpus
    metric: Metric
    folder: Path
    plan: Plan | None = None


def _write_cost(given: _Given, path: Path) -> None:
    """Time one method, or report why it cannot take part."""
    with scale.one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        write_text(path, json.dumps(asdict(_cost(given))))


def _cost(given: _Given) -> Cost:
    """The cost from one epoch on a few rows; for a quick method from a training on all rows."""
    entry, corpus = given.entry, engine.without_test(given.corpus)
    if entry.extra and find_spec(entry.extra) is None:
        return Cost(reason=f"needs {entry.extra.replace('_', '-')}, which is not installed")
    rows, settings = corpus.sizes["train"], dict(entry.settings)
    share = min(1.0, TIMED_ROWS / rows)
    few = corpus if share == 1 else corpus.fewer(share)
    try:
        epochs = getattr(METHODS[entry.method](**settings).settings, "epochs", 0)
        short = {**settings, "epochs": 1} if epochs > 1 else settings
        first = _timed(entry, short, few, given.metric, seed=0)  # the first call opens models and compiles
        second = _timed(entry, short, few, given.metric, seed=1)
        random = first[2].shape != second[2].shape or not np.array_equal(first[2], second[2])
        fit, score = second[0] / share * max(1, epochs), second[1]
        if fit < QUICK:
            fit, score, _ = _timed(entry, settings, corpus, given.metric, seed=0)
        return Cost(fit, score, random, bool(_space_of(entry, corpus)))
    except engine.FAILURES as error:
        return Cost(reason=engine.reason_of(error))


def _timed(
    entry: Entry, settings: Mapping[str, Any], corpus: Corpus, metric: Metric, seed: int
) -> tuple[float, float, np.ndarray]:
    """Seconds to train and to score, and some vectors."""
    method, began = METHODS[entry.method](**settings), time.perf_counter()
    method.fit(corpus, seed=seed)
    trained = time.perf_counter()
    metric(method, corpus, "dev")
    scored = time.perf_counter()
    rows = method.encode(corpus.part("dev").sentences()[:20])
    return trained - began, scored - trained, rows if isinstance(rows, np.ndarray) else rows.toarray()


# --- the search and the test -------------------------------------------------------------------------------------


def _write_choice(given: _Given, path: Path) -> None:
    """Write the settings of one method that are best on dev, or why all its trials failed."""
    with scale.one_thread():
        try:
            choice = _choice(given)
        except engine.FAILURES as error:
            choice = {"reason": engine.reason_of(error)}
        write_text(path, json.dumps(choice))


def _choice(given: _Given) -> dict[str, Any]:
    entry, plan, corpus = given.entry, given.plan, given.corpus
    assert plan is not None
    experiment, space = Experiment(entry.method, corpus, entry.settings), _space_of(entry, corpus)
    if not space:
        [only] = engine.run([Trial(entry.method, entry.settings)], corpus, given.metric, given.folder)
        if only.reason:
            raise ValueError(only.reason)
        return {"settings": dict(entry.settings), "dev": only.figure, "at first": only.figure, "trials": 1, "space": {}}
    tuned = tune(
        experiment,
        trials=plan.trials,
        seed=plan.seed,
        space=space,
        part=plan.part,
        measure=given.metric,
        folder=given.folder / "tuned" / entry.name,
    )
    best, first = tuned.settings, tuned.trials[0].figure
    figure = tuned.best.figure
    if plan.part < 1:
        chosen = {json.dumps(each.tried): dict(each.tried) for each in (*tuned.ranked[:3], tuned.trials[0])}
        trials = [Trial(entry.method, {**entry.settings, **tried}) for tried in chosen.values()]
        whole = engine.run(trials, corpus, given.metric, given.folder)
        figures = {key: result.figure for key, result in zip(chosen, whole, strict=True)}
        top = max(figures, key=lambda key: _worth(figures[key]))
        if figures[top] is None:
            raise ValueError(whole[0].reason)
        best, figure = {**entry.settings, **chosen[top]}, figures[top]
        first = figures[json.dumps(tuned.trials[0].tried)]
    return {
        "settings": best,
        "dev": figure,
        "at first": first,
        "trials": len(tuned.trials),
        "space": {name: str(dial) for name, dial in tuned.space.items()},
    }


def _space_of(entry: Entry, corpus: Corpus) -> dict[str, Dial]:
    """The search space of a method."""
    settings = METHODS[entry.method](**entry.settings).settings
    space = tuned_settings(settings, type(corpus).__name__, has_dev=True)
    return {name: dial for name, dial in space.items() if name not in entry.settings}


def _worth(figure: float | None) -> float:
    return -np.inf if figure is None else figure


@dataclass(frozen=True)
class Line:
    """One method in the table."""

    ranked: Ranked
    settings: Mapping[str, Any]
    dev: float
    dev_at_first: float | None  # None if the default settings could not be trained
    trials: int
    figures: Mapping[str, float]  # the means of all other test scores
    seconds: float  # CPU seconds of one training
    microseconds: float  # for a sentence
    megabytes: float


@dataclass(frozen=True)
class Report:
    """The result; `print` shows the verdict and the table, and `labkit.trials.report` writes the page.

    >>> report = bench(load("mine.csv"), minutes=20)  # doctest: +SKIP
    >>> print(report.verdict, report.front[0].ranked.name)  # doctest: +SKIP
    """

    corpus: str
    sizes: Mapping[str, int]
    metric: str
    findings: tuple[Finding, ...]
    plan: Plan
    lines: tuple[Line, ...] = ()
    curve: Mapping[str, Mapping[float, tuple[float, float, float]]] = field(default_factory=dict)
    gain: tuple[float, float, float] | None = None  # from all labels over half of them, for the winner
    mistakes: tuple[Mistake, ...] = ()
    failed: Mapping[str, str] = field(default_factory=dict)
    cut: Threshold | None = None  # for the winner, on pairs with 0/1 labels
    code: str = ""
    exported: str = ""
    finished: bool = True

    @property
    def verdict(self) -> str:
        """Whether one method leads, several tie for first place, or the comparison is open."""
        return verdict_of([line.ranked for line in self.lines])

    @property
    def front(self) -> list[Line]:
        """The best method, and those not shown to be behind it."""
        names = {row.name for row in front([line.ranked for line in self.lines])}
        return [line for line in self.lines if line.ranked.name in names]

    def __str__(self) -> str:
        from labkit.trials.report import as_text

        return as_text(self)

    def to_json(self) -> dict[str, Any]:
        """The whole report, ready for JSON."""
        from labkit.trials.report import verdict_sentence

        verdict, said = (self.verdict, verdict_sentence(self)) if self.lines else ("", "")
        return asdict(self) | {"verdict": verdict, "said": said}


# --- the whole ---------------------------------------------------------------------------------------------------


def bench(
    corpus: Corpus,
    *,
    out: Path | str,
    minutes: float = 20.0,
    methods: Sequence[str] = (),
    metric: str = "",
    seeds: int = 0,
    workers: int = 0,
    seed: int = 0,
    progress: Progress = silent,
    tell: Callable[[str], None] = lambda line: None,
) -> Report:
    """Compare the methods that suit a corpus, fairly, in about `minutes`, and write report.html into `out`.

    Settings are chosen on dev, with equally many trials per method; test is scored once they are fixed. By default
    there is one worker process per core. The same call resumes an interrupted one. `tell` receives the findings about
    the data and the plan before the first trial.

    >>> from labkit import bench, load
    >>> print(bench(load("mine.csv"), out="report", minutes=20))  # doctest: +SKIP
    """
    if with_dev(corpus) is not corpus:
        corpus = with_dev(corpus)
        tell("the corpus has no dev rows, so settings are chosen on a tenth of its training rows")
    known = _checked_metric(corpus, metric)
    names = _checked_methods(methods)
    if seeds and seeds < LEAST_SEEDS:
        raise ValueError(f"seeds is {seeds}, expected at least {LEAST_SEEDS}, or 0; fewer seeds give no spread")
    folder, workers = Path(out), workers or os.cpu_count() or 1
    folder.mkdir(parents=True, exist_ok=True)
    asked = {
        "kind": "bench",
        "fingerprint": corpus.fingerprint,
        "metric": known,
        "methods": names,
        "minutes": minutes,
        "seeds": seeds,
        "seed": seed,
        "versions": {name: versions_of(METHODS[ENTRIES[name].method], {}) for name in names},
    }
    scale.folder(folder, asked)  # refuses the folder of another comparison
    began = time.monotonic()
    progress(0, None, "examining the data")
    findings = _findings(corpus, folder / "findings.json", minutes, seed)
    for each in findings:
        if each.level == "warning":
            tell(each.sentence)
    plan = _plan(corpus, Metric(known), names, folder, minutes, workers, seeds, seed, began, progress)
    tell(f"plan: {plan}")
    for name, why in plan.left_out.items():
        tell(f"left out: {name}: {why}")
    report = Report(Path(corpus.name).name, corpus.sizes, known, findings, plan)
    try:
        report = _compared(report, corpus, folder, progress)
    except KeyboardInterrupt:
        report = replace(_so_far(report, corpus, folder), finished=False)
        _write(report, folder)
        raise
    _write(report, folder)
    return report


def _findings(corpus: Corpus, file: Path, minutes: float, seed: int) -> tuple[Finding, ...]:
    """The findings about the corpus, computed once."""
    if not file.is_file():
        model = len(corpus.sentences()) <= JUDGED_A_MINUTE * minutes
        found = examine(corpus, seed=seed, model=model)
        write_text(file, json.dumps(list(map(asdict, found)), ensure_ascii=False, default=str))
    return tuple(Finding(**{**each, "rows": tuple(each["rows"])}) for each in json.loads(file.read_text("utf-8")))


def with_test(corpus: Corpus, test: Corpus) -> Corpus:
    """The corpus with the rows of another as its test split; its own test rows are added to dev."""
    if type(test) is not type(corpus):
        raise ValueError(
            f"the test rows are {type(test).__name__}, the others {type(corpus).__name__}; give both the same columns"
        )
    if isinstance(corpus, Pairs) and isinstance(test, Pairs) and corpus.graded != test.graded:
        raise ValueError("the test rows have scores and the others labels, or the reverse; give both the same columns")
    columns: dict[str, Any] = {name: (*getattr(corpus, name), *getattr(test, name)) for name in corpus.COLUMNS}
    splits = ["dev" if split == "test" else split for split in corpus.splits] + ["test"] * len(test)
    both = [name for name in corpus.extra if name in test.extra]
    extra = {name: (*corpus.extra[name], *test.extra[name]) for name in both}
    return replace(corpus, **columns, splits=splits, extra=extra)


def with_dev(corpus: Corpus) -> Corpus:
    """The corpus with a tenth of its training rows as dev if it has no dev rows; related rows stay together."""
    if "dev" in corpus.sizes or "train" not in corpus.sizes:
        return corpus
    train = [row for row, split in enumerate(corpus.splits) if split == "train"]
    dev = {
        row for row, split in zip(train, replace(corpus.take(train), splits=()).splits, strict=True) if split == "dev"
    }
    return replace(corpus, splits=["dev" if row in dev else split for row, split in enumerate(corpus.splits)])


def _checked_metric(corpus: Corpus, metric: str) -> str:
    """The metric, if the corpus allows training and scoring with it."""
    require_labels(corpus)
    for split in ("train", "dev", "test"):
        if split not in corpus.sizes:
            raise ValueError(
                f"corpus {corpus.name!r} has no {split} rows (it has {corpus.sizes}); remove the column 'split' to "
                "divide the rows, or add rows"
            )
    for split in ("dev", "test"):
        part = corpus.part(split)
        labels = {*part.values} if isinstance(part, Pairs) else {*part.classified()[1]}
        if len(labels) == 1:
            raise ValueError(
                f"every {split} row of corpus {corpus.name!r} has the label {labels.pop()!r}; add other rows"
            )
        if isinstance(part, Pairs) and len(part) < 3:
            raise ValueError(f"corpus {corpus.name!r} has {len(part)} {split} rows, expected at least 3; add some")
    possible = metrics_for(corpus)
    if metric and metric not in possible:
        raise ValueError(f"metric is {metric!r}, expected one of {', '.join(possible)} for {type(corpus).__name__}")
    return metric or possible[0]


def _checked_methods(methods: Sequence[str]) -> list[str]:
    for name in methods:
        if name not in ENTRIES:
            raise ValueError(f"method {name!r} cannot be compared; choose from {', '.join(ENTRIES)}")
    return list(dict.fromkeys(methods)) or [*ENTRIES]


def _plan(
    corpus: Corpus,
    metric: Metric,
    names: Sequence[str],
    folder: Path,
    minutes: float,
    workers: int,
    seeds: int,
    seed: int,
    began: float,
    progress: Progress,
) -> Plan:
    """The plan of this folder; a new one is made after a short round that measures each method's cost."""
    file = folder / "planned.json"
    if not file.is_file():
        given = {folder / "costs" / f"{name}.json": _Given(ENTRIES[name], corpus, metric, folder) for name in names}
        scale.each(_write_cost, given, workers=workers, progress=_named(progress, "measuring what each method costs"))
        costs = {path.stem: Cost(**json.loads(path.read_text("utf-8"))) for path in given}
        small = corpus.sizes["train"] <= SMALL
        left = max(minutes - (time.monotonic() - began) / 60, minutes / 4)
        sized = planned(costs, left, workers, small=small, seeds=seeds)
        if not sized["methods"]:
            reasons = "; ".join(f"{name}: {reason}" for name, reason in sized["left_out"].items())
            remedy = "change what these name" if all(cost.reason for cost in costs.values()) else "give it more minutes"
            raise ValueError(f"no method can be compared in {minutes:g} minutes ({reasons}); {remedy}")
        plan = Plan(metric.name, minutes=minutes, workers=workers, costs=costs, seed=seed, **sized)
        write_text(file, json.dumps(asdict(plan), indent=1))
    record = json.loads(file.read_text("utf-8"))
    record["costs"] = {name: Cost(**cost) for name, cost in record["costs"].items()}
    return Plan(**{**record, "methods": tuple(record["methods"])})


def _named(progress: Progress, what: str) -> Progress:
    return lambda done, total, _: progress(done, total, what)


def _compared(report: Report, corpus: Corpus, folder: Path, progress: Progress) -> Report:
    """Search, test, and evaluate."""
    plan, metric = report.plan, Metric(report.metric)
    dear = sorted(plan.methods, key=lambda name: plan.costs[name].fit, reverse=True)  # the longest first
    files = {_choice_file(folder, name): _Given(ENTRIES[name], corpus, metric, folder, plan) for name in dear}
    scale.each(_write_choice, files, workers=plan.workers, progress=_named(progress, "choosing settings on dev"))
    choices = {name: json.loads(_choice_file(folder, name).read_text("utf-8")) for name in plan.methods}
    trials = [trial for name in dear if "reason" not in choices[name] for trial in _finals(name, choices[name], plan)]
    _run_all(trials, corpus, metric, folder, plan, _named(progress, "training with the chosen settings"))
    report = _so_far(report, corpus, folder)
    if not report.lines:
        raise ValueError(f"no method could be trained: {'; '.join(report.failed.values())}")
    shown = _curve_of(report)
    trials = [trial for name in shown for trial in _fewer(name, choices[name], plan)]
    _run_all(trials, corpus, metric, folder, plan, _named(progress, "training with fewer labels"))
    return _answered(report, corpus, choices, shown, folder)


def _run_all(
    trials: Sequence[Trial], corpus: Corpus, metric: Metric, folder: Path, plan: Plan, progress: Progress
) -> list[Result]:
    """The results of these trials, each computed on one thread."""
    with scale.one_thread():
        return engine.run(trials, corpus, metric, folder, workers=plan.workers, progress=progress)


def _choice_file(folder: Path, name: str) -> Path:
    return folder / "chosen" / f"{name}.json"


def _finals(name: str, choice: Mapping[str, Any], plan: Plan) -> list[Trial]:
    seeds = plan.seeds if plan.costs[name].random else 1
    return [Trial(ENTRIES[name].method, choice["settings"], seed, 1.0, "test", keep=seed == 0) for seed in range(seeds)]


def _fewer(name: str, choice: Mapping[str, Any], plan: Plan) -> list[Trial]:
    return [replace(trial, part=share, keep=False) for share in SHARES[:-1] for trial in _finals(name, choice, plan)]


def _curve_of(report: Report) -> list[str]:
    """The winner and the best simple method."""
    names = [line.ranked.name for line in report.lines]
    return list(dict.fromkeys([names[0], *[name for name in names if ENTRIES[name].simple][:1]]))


def _so_far(report: Report, corpus: Corpus, folder: Path) -> Report:
    """The table of all methods whose seeds are finished."""
    plan, metric, found, lines = report.plan, Metric(report.metric), {}, []
    failed: dict[str, str] = {}
    for name in plan.methods:
        if not _choice_file(folder, name).is_file():
            continue
        choice = json.loads(_choice_file(folder, name).read_text("utf-8"))
        if "reason" in choice:
            failed[name] = choice["reason"]
            continue
        results = engine.known(_finals(name, choice, plan), corpus, metric, folder)
        if reasons := [each.reason for each in results if each is not None and each.reason]:
            failed[name] = reasons[0]
        elif all(results):
            found[name] = (choice, [each for each in results if each is not None])
    runs = {
        name: {seed: each.parts[metric.name] for seed, each in enumerate(results)}
        for name, (_, results) in found.items()
    }
    rows = ranked(runs, lowest=metric.lowest)
    for row in rows:
        choice, scored = found[row.name]
        means = {key: float(np.mean([each.figures[key] for each in scored])) for key in scored[0].figures}
        means = {key: mean for key, mean in means.items() if np.isfinite(mean)}  # JSON has no infinite threshold
        lines.append(
            Line(
                row,
                choice["settings"],
                choice["dev"],
                choice["at first"],
                choice["trials"],
                means,
                float(np.median([each.seconds for each in scored])),
                means["microseconds"],
                means["megabytes"],
            )
        )
    return replace(report, lines=tuple(lines), failed=failed)


# --- the answers -------------------------------------------------------------------------------------------------


def _answered(report: Report, corpus: Corpus, choices: Mapping[str, Any], shown: Sequence[str], folder: Path) -> Report:
    """Whether more labels would help, where the winner errs, and the winner itself, ready to use."""
    metric, plan, curve, gain = Metric(report.metric), report.plan, {}, None
    for name in shown:
        trials = [*_fewer(name, choices[name], plan), *_finals(name, choices[name], plan)]
        results = engine.known(trials, corpus, metric, folder)
        runs: dict[float, list[Parts]] = {share: [] for share in SHARES}
        for trial, result in zip(trials, results, strict=True):
            if result is not None and not result.reason:
                runs[trial.part].append(result.parts[metric.name])
        if not all(runs.values()):  # too few rows to learn from
            continue
        curve[name] = {share: _own(each, metric.lowest) for share, each in runs.items()}
        if name == shown[0] and len(runs[0.5]) == len(runs[1.0]) and report.lines[0].ranked.units >= UNITS:
            lead = lead_of(runs[1.0], runs[0.5])
            gain = (lead.lead, *lead.interval())
    winner = shown[0]
    method = METHODS[ENTRIES[winner].method]()
    method.load(engine.model_of(_finals(winner, choices[winner], plan)[0], corpus, metric, folder))
    method.save(folder / "model")
    cut = threshold(method, corpus) if isinstance(corpus, Pairs) and not corpus.graded else None
    return replace(
        report,
        curve=curve,
        gain=gain,
        mistakes=tuple(mistakes_of(method, corpus)),
        cut=cut,
        code=_code(cut, folder / "model"),
        exported=_exported(method, corpus, folder / "sentence-transformers"),
    )


def _own(runs: Sequence[Parts], lowest: float) -> tuple[float, float, float]:
    """A score with its interval."""
    [row] = ranked({"": dict(enumerate(runs))}, lowest=lowest)
    return row.score, row.low, row.high


def _code(cut: Threshold | None, folder: Path) -> str:
    """Code that uses the winner."""
    lines = ["from labkit import load_run", "", f"model = load_run({str(folder)!r})"]
    if cut is not None:
        lines += [
            'similarities = model.similarity_pairwise(["a sentence"], ["another one"])',
            f"same = similarities > {cut.threshold:.3f}  # the threshold of dev",
        ]
    else:
        lines += ['vectors = model.encode(["a sentence", "another one"])', "print(model.similarity(vectors, vectors))"]
    return "\n".join(lines)


def _exported(method: Method, corpus: Corpus, folder: Path) -> str:
    """Export the winner for sentence-transformers, if possible, with its model card."""
    from labkit.adapters.export import export

    try:
        export(method, folder, "sentence-transformers", sentences=corpus.part("dev").sentences()[:500], force=True)
    except ValueError as reason:
        return f"The model cannot be opened by sentence-transformers: {reason}."
    return f"For sentence-transformers, with its model card: {folder}"


def _write(report: Report, folder: Path) -> None:
    from labkit.trials.report import as_html

    write_text(folder / "report.html", as_html(report))
    write_text(folder / "report.json", json.dumps(report.to_json(), indent=1, ensure_ascii=False, default=str) + "\n")

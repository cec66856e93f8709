"""The plan of a comparison: what each method costs, and which methods, trials and seeds fit into the time limit.

In: a corpus, a metric and a number of minutes. Out: a `Plan`, made before the first trial. A short round measures the
`Cost` of each method: one epoch on a few rows, and whether it can learn from this shape at all.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from statistics import median
from typing import Any

import numpy as np

from labkit.corpora.records import Corpus
from labkit.methods import METHODS
from labkit.trials.engine import without_test
from labkit.trials.metrics import Metric
from labkit.trials.space import Dial, tuned_settings

LEAST_TRIALS, LEAST_SEEDS = 8, 3
TIMED_ROWS = 500  # training rows used in the short round
QUICK = 20.0  # estimated seconds of a run below which it is timed on all rows
FROZEN = "sbert"
RESERVE = 0.75  # share of the minutes to plan for; the rest is for the doctor, the curve and underestimates


@dataclass(frozen=True)
class Entry:
    """A candidate: a method, its given settings, and whether it trains no weights."""

    name: str
    method: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    simple: bool = False
    extra: str = ""  # the extra that it requires

    def space(self, corpus: Corpus) -> dict[str, Dial]:
        """The search space of all settings that are not given."""
        settings = METHODS[self.method](**self.settings).settings
        space = tuned_settings(settings, type(corpus).__name__, has_dev=True)
        return {name: dial for name, dial in space.items() if name not in self.settings}


_SBERT = "sentence_transformers"
ENTRIES = {
    entry.name: entry
    for entry in (
        *(Entry(name, name, simple=True) for name in ("tfidf", "lsa", "mean-vectors", "sif")),
        Entry("distilled", "static", {"epochs": 0}, simple=True, extra=_SBERT),
        Entry("sbert", "sbert", simple=True, extra=_SBERT),
        Entry("bag", "bag"),
        Entry("static", "static", extra=_SBERT),
        *(Entry(name, name) for name in ("siamese", "triplet", "sentpwnet", "thematic", "film")),
        *(Entry(name, name) for name in ("sbert-lp", "pthought")),
    )
}


@dataclass(frozen=True)
class Cost:
    """Seconds to train on all rows and to score, and whether the method is random; or why it cannot take part.

    A process opens a pretrained model once, in `opening` seconds, for all its trials. The first score takes `once`
    seconds more than the others, because a frozen model encodes each sentence once.
    """

    fit: float = 0.0
    score: float = 0.0
    opening: float = 0.0
    once: float = 0.0
    random: bool = True
    tuned: bool = True  # whether it has settings to try
    reason: str = ""

    def seconds(self, trials: int, part: float, seeds: int) -> float:
        """The seconds for its trials, for the runs on all rows that choose among the best, and for its seeds."""
        again = 4 if part < 1 else 0
        runs = seeds if self.random else 1
        if not self.tuned:
            trials, part, again = 1, 1.0, 0
        return (
            self.opening
            + self.once
            + self.fit * (trials * part + again + runs)
            + self.score * (trials + again + 2 * runs)
        )

    def training(self, seconds: Sequence[float]) -> float:
        """The seconds of one run, including opening its model, which only the first run of a process measures."""
        if not self.opening:
            return median(seconds)
        return self.opening + (min(seconds) if len(seconds) > 1 else min(self.fit, *seconds))


@dataclass(frozen=True)
class Plan:
    """The plan of a comparison, made before the first trial."""

    metric: str
    methods: tuple[str, ...]
    left_out: Mapping[str, str]
    trials: int
    part: float  # share of the training rows used in trials
    seeds: int
    minutes: float
    workers: int
    costs: Mapping[str, Cost]
    seed: int = 0
    enough: int = 0  # minutes that would include every method left out for lack of time; 0 if there is none

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Plan:
        """The plan from its JSON."""
        costs = {name: Cost(**cost) for name, cost in record["costs"].items()}
        return cls(**{**record, "costs": costs, "methods": tuple(record["methods"])})

    def __str__(self) -> str:
        methods = f"{len(self.methods)} method{'s' * (len(self.methods) != 1)} ({', '.join(self.methods)})"
        return f"{methods}, {self.trials} trials each on {self.seen}, then {self.seeds} seeds"

    @property
    def untried(self) -> str:
        """The methods left out for lack of time, and the minutes that would include them; empty if there are none."""
        late = [name for name in self.left_out if name in self.costs and not self.costs[name].reason]
        more = (
            f"; --minutes {self.enough} would include them (with another --out, because this folder keeps its plan)"
            * bool(self.enough)
        )
        return f"Not tried for lack of time: {listed(late)}{more}." if late else ""

    @property
    def seen(self) -> str:
        """The rows that trials learn from, in words."""
        return "all training rows" if self.part == 1 else f"{100 * self.part:.0f} % of the training rows"


def listed(names: Sequence[str], word: str = "and") -> str:
    """The names as "a, b and c"."""
    return f" {word} ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def planned(costs: Mapping[str, Cost], minutes: float, workers: int, *, small: bool, seeds: int = 0) -> dict[str, Any]:
    """The methods, trials, part of the rows and seeds that fit into the remaining minutes.

    The most expensive methods are dropped until the minimum of a fair comparison fits: 8 trials and 3 seeds. Frozen
    MiniLM, often the best of the simple methods, is dropped last, unless it needs nearly all of the time. Remaining
    time goes into trials on all rows, then into 5 seeds, then into more trials. `more` are the minutes beyond those
    remaining that would include all methods.
    """
    room = 60 * minutes * RESERVE
    few, many = (seeds, seeds) if seeds else (LEAST_SEEDS, 5)
    sizes = [(LEAST_TRIALS, 0.25, few), (LEAST_TRIALS, 0.5, few)] * (not small)
    sizes += [(LEAST_TRIALS, 1.0, few), (LEAST_TRIALS, 1.0, many), (16, 1.0, many), (24, 1.0, many)]
    left_out = {name: cost.reason for name, cost in costs.items() if cost.reason}
    least = {name: cost.seconds(*sizes[0]) for name, cost in costs.items() if name not in left_out}
    kept = sorted(least, key=lambda name: (name != FROZEN or least[name] > 0.8 * room, least[name]))

    def fits(size: tuple[int, float, int]) -> bool:
        each = [costs[name].seconds(*size) for name in kept]
        return bool(kept) and sum(each) <= room * workers and max(each) <= room

    more = max([sum(least.values()) / workers, *least.values()]) / RESERVE / 60 - minutes if kept else 0.0
    while kept and not fits(sizes[0]):
        name = kept.pop()
        need = max(least[name] / 60, 0.1)
        left_out[name] = (
            f"its trials and seeds would take about {need:.1f} minutes, and {room / 60:.1f} were left for all"
        )
    trials, part, runs = [sizes[0], *filter(fits, sizes)][-1]
    methods = tuple(name for name in costs if name in kept)  # of equal scores the first leads: the simpler method
    return {"methods": methods, "left_out": left_out, "trials": trials, "part": part, "seeds": runs, "more": more}


def cost_of(entry: Entry, corpus: Corpus, metric: Metric) -> dict[str, Any]:
    """The `Cost` as JSON, from one epoch on a few rows or, for a quick method, from a run on all rows."""
    if entry.extra and find_spec(entry.extra) is None:
        raise ValueError(f"needs {entry.extra.replace('_', '-')}, which is not installed")
    corpus, settings = without_test(corpus), dict(entry.settings)
    share = min(1.0, TIMED_ROWS / corpus.sizes["train"])
    few = corpus if share == 1 else corpus.fewer(share)
    epochs = getattr(METHODS[entry.method](**settings).settings, "epochs", 0)
    short = {**settings, "epochs": 1} if epochs > 1 else settings
    longer, slowly, first = _timed(entry, short, few, metric, seed=0)  # the first call opens models and compiles
    fit, score, second = _timed(entry, short, few, metric, seed=1)
    opening = max(0.0, longer - fit) if entry.extra else 0.0
    random = first.shape != second.shape or not np.array_equal(first, second)
    fit *= max(1, epochs) / share
    more = len(corpus.sentences()) / len(few.sentences())
    if max(fit, more * slowly) < QUICK:
        fit, score, _ = _timed(entry, settings, corpus, metric, seed=0)
        once = 0.0
    else:
        score, once = more * score, more * max(0.0, slowly - score)
    return asdict(Cost(fit, score, opening, once, random, bool(entry.space(corpus))))


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

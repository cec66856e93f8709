"""The engine: training runs and their scores, each computed once.

    results = run(trials, corpus, measure, folder, workers=2)      a Result for each

A `Trial` is a method, settings, a seed, a share of the training rows, and the split for scoring. Its `Result` is one
JSON file, named by a digest of everything that determines it:

    trials/DIGEST.json     scores, their parts for intervals, seconds; or why it failed
    training/DIGEST/run/   the run during training, with its checkpoint, so that it can resume
    models/DIGEST/         the finished run of a trial with `keep`

A stored result is not computed again, so a killed command can simply be repeated, and two commands on one folder share
the work. Without a folder everything stays in memory. A trial that is scored on dev gets a corpus without test rows.
"""

from __future__ import annotations

import base64
import json
import math
import shutil
import time
import warnings
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from labkit import scale
from labkit.corpora.records import Corpus
from labkit.evaluation.comparison import Parts
from labkit.experiment import digest, versions_of
from labkit.locks import InUse, locked
from labkit.method import Method
from labkit.methods import METHODS
from labkit.progress import Progress, silent
from labkit.runs import finished, has_checkpoint

TRIALS, TRAINING, MODELS = "trials", "training", "models"
FAILURES = (ValueError, RuntimeError, MemoryError)  # of one trial, which stop no other trial; torch raises the second
WAIT = 0.5  # seconds between two checks of a trial that another process is training


@dataclass(frozen=True)
class Trial:
    """One training run; `settings` holds the values that differ from the defaults. With `keep`, its model is stored."""

    method: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    part: float = 1.0
    split: str = "dev"
    keep: bool = False


@dataclass(frozen=True)
class Result:
    """The scores of a trial by name, with the main score first, or the reason why the trial failed.

    `notes` are further values, ready for JSON.
    """

    figures: Mapping[str, float]
    parts: Mapping[str, Parts] = field(default_factory=dict)
    seconds: float = 0.0  # of CPU, to train
    reason: str = ""
    notes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def figure(self) -> float | None:
        """The main score; None if the training failed."""
        return next(iter(self.figures.values()), None)

    def to_json(self) -> dict[str, Any]:
        parts = {name: [_packed(each.above), _packed(each.below)] for name, each in self.parts.items()}
        record = {"figures": dict(self.figures), "parts": parts, "seconds": self.seconds, "reason": self.reason}
        return record | ({"notes": dict(self.notes)} if self.notes else {})

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Result:
        parts = {name: Parts(*map(_unpacked, both)) for name, both in record["parts"].items()}
        return cls(record["figures"], parts, record["seconds"], record["reason"], record.get("notes", {}))


def _packed(values: np.ndarray) -> str:
    """Numbers as text: integers in one or two bytes, others in four."""
    largest = np.abs(values).max(initial=0) if (values == np.round(values)).all() else np.inf
    kind = "|i1" if largest < 2**7 else "<i2" if largest < 2**15 else "<f4"
    return kind + base64.b64encode(zlib.compress(values.astype(kind).tobytes(), 9)).decode()


def _unpacked(text: str) -> np.ndarray:
    return np.frombuffer(zlib.decompress(base64.b64decode(text[3:])), text[:3]).astype(np.float64)


# : a fitted method, the corpus, the split -> scores, and the parts of the scores that have an interval
Measure: TypeAlias = Callable[[Method, Corpus, str], tuple[Mapping[str, float], Mapping[str, Parts]]]


@dataclass(frozen=True)
class _Work:
    """Everything a process needs for one trial."""

    trial: Trial
    digest: str
    corpus: Corpus
    measure: Measure
    folder: Path | None
    methods: Mapping[str, type[Method]]
    progress: Progress = silent


def run(
    trials: Sequence[Trial],
    corpus: Corpus,
    measure: Measure,
    folder: Path | None = None,
    *,
    workers: int = 1,
    methods: Mapping[str, type[Method]] = METHODS,
    progress: Progress = silent,
) -> list[Result]:
    """The result of each trial, in order; missing ones are computed by `workers` processes."""
    keys = [_key(trial, corpus, measure, methods) for trial in trials]
    works = {
        key: _Work(trial, key, corpus, measure, folder, methods, progress if workers == 1 else silent)
        for key, trial in zip(keys, trials, strict=True)
    }
    if folder is None:
        known = {key: _result(work) for key, work in works.items()}
    else:
        files = {folder / TRIALS / f"{key}.json": work for key, work in works.items()}
        write = _write_result if workers == 1 else _write_alone
        scale.each(write, files, workers=workers, progress=silent if workers == 1 else progress)
        known = {path.stem: _read(path) for path in files}
    return [known[key] for key in keys]


def known(trials: Sequence[Trial], corpus: Corpus, measure: Measure, folder: Path) -> list[Result | None]:
    """The stored results of these trials; nothing is computed."""
    files = [folder / TRIALS / f"{_key(trial, corpus, measure, METHODS)}.json" for trial in trials]
    return [_read(file) if file.is_file() else None for file in files]


def model_of(trial: Trial, corpus: Corpus, measure: Measure, folder: Path) -> Path:
    """The run folder of a trial with `keep`."""
    return folder / MODELS / _key(trial, corpus, measure, METHODS)


def _key(trial: Trial, corpus: Corpus, measure: Measure, methods: Mapping[str, type[Method]]) -> str:
    """A digest of everything that determines the result."""
    entry = methods[trial.method]
    settings = entry(**trial.settings).settings.decisive()
    decisive = {**asdict(trial), "settings": settings, "versions": versions_of(entry, settings)}
    return digest(decisive | {"corpus": corpus.fingerprint, "measure": getattr(measure, "__qualname__", repr(measure))})


# --- one trial ---------------------------------------------------------------------------------------------------


def _write_alone(work: _Work, path: Path) -> None:
    """Compute one trial on one thread, because other processes use the remaining cores."""
    with scale.one_thread():
        _write_result(work, path)


def _write_result(work: _Work, path: Path) -> None:
    """Compute one trial, or wait for the process that computes it, and write the result."""
    assert work.folder is not None
    known = work.folder / TRIALS / f"{work.digest}.json"
    while not known.is_file():
        try:
            path.write_text(json.dumps(_result(work).to_json(), ensure_ascii=False), encoding="utf-8")
            return
        except InUse:
            time.sleep(WAIT)
    path.write_bytes(known.read_bytes())


def _read(path: Path) -> Result:
    try:
        return Result.from_json(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, KeyError, TypeError, zlib.error) as error:
        raise ValueError(f"{path} is damaged ({error}); delete it to recompute the result") from None


def _result(work: _Work) -> Result:
    """Train and score. A failure, such as a loss that is not finite or a lack of memory, becomes a failed result."""
    seconds, reason = 0.0, ""
    figures: Mapping[str, float] = {}
    parts: Mapping[str, Parts] = {}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # repeated in each of many runs
            figures, parts, seconds = _measured(work)
        name, value = next(iter(figures.items()))
        if not math.isfinite(value):
            figures, parts, reason = {}, {}, f"{name} is {value}, expected a number"
    except InUse:
        raise
    except FAILURES as error:
        reason = reason_of(error)
    return Result(figures, parts, seconds, reason)


def reason_of(error: Exception) -> str:
    """Why a trial failed, on one line, with the error's type only if its message is not written for users."""
    said = " ".join(str(error).split())
    return said if isinstance(error, ValueError) else f"{type(error).__name__}: {said}"


def _measured(work: _Work) -> tuple[Mapping[str, float], Mapping[str, Parts], float]:
    """The scores, their parts, and the CPU seconds of training."""
    trial = work.trial
    corpus = work.corpus if trial.split == "test" else without_test(work.corpus)
    if trial.part < 1:  # a linear probe may also learn only from these rows
        corpus = corpus.fewer(trial.part)
    method = work.methods[trial.method](**trial.settings)
    began = time.process_time()
    if work.folder is None:
        method.fit(corpus, seed=trial.seed, progress=work.progress)
        seconds = time.process_time() - began
        return *work.measure(method, corpus, trial.split), seconds
    own, model = work.folder / TRAINING / work.digest, work.folder / MODELS / work.digest
    training = own / "run"
    with locked(own):  # until the trial is scored, so that no other process starts it
        if finished(model):  # the process was killed before it wrote the scores
            return *work.measure(method.load(model), corpus, trial.split), 0.0
        if not has_checkpoint(training):  # the incomplete run of a method that cannot resume
            shutil.rmtree(training, ignore_errors=True)
        method.fit(corpus, seed=trial.seed, progress=work.progress, folder=training)
        seconds = time.process_time() - began
        figures, parts = work.measure(method, corpus, trial.split)
        if trial.keep:
            model.parent.mkdir(parents=True, exist_ok=True)
            training.replace(model)
        else:
            shutil.rmtree(training, ignore_errors=True)
    with suppress(OSError):  # another process uses it
        own.rmdir()
    return figures, parts, seconds


def without_test(corpus: Corpus) -> Corpus:
    """The corpus without test rows, so that no trial can use them."""
    if "test" not in corpus.sizes:
        return corpus
    return corpus.take(row for row, split in enumerate(corpus.splits) if split != "test")

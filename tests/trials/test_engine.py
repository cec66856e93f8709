"""The engine: results are computed once, by one process at a time, and dev trials see no test rows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from labkit.corpora import Corpus
from labkit.evaluation.comparison import Parts
from labkit.locks import is_locked, locked
from labkit.method import Method
from labkit.methods import METHODS
from labkit.trials import engine
from labkit.trials.engine import Result, Trial, model_of, run
from labkit.trials.metrics import Metric
from tests.test_contract import CORPORA

TINY = {"encoder": "mean", "dimension": 8, "size": 6, "batch": 8, "epochs": 2, "device": "cpu"}
TRIALS = [Trial("siamese", TINY, seed) for seed in (0, 1)] + [Trial("sif", {"window": 3})]


def measured(method: Method, corpus: Corpus, split: str) -> tuple[dict[str, float], dict[str, Parts]]:
    rows = np.asarray(method.encode(corpus.part(split).sentences()))
    return {"sum": float(rows.sum())}, {"sum": Parts(rows.sum(axis=1).astype(float), np.ones(len(rows)))}


def same(a: Result, b: Result) -> bool:
    parts = all(np.array_equal(a.parts[name].above, b.parts[name].above) for name in a.parts)
    return a.figures == b.figures and a.reason == b.reason and parts


def test_known_results_are_not_computed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = CORPORA["pairs"]()
    before = run(TRIALS, corpus, measured, tmp_path)
    assert before[0].figures != before[1].figures
    assert all(map(same, before, run(TRIALS, corpus, measured)))  # without a folder
    assert all(map(same, before, engine.known(TRIALS, corpus, measured, tmp_path)))
    monkeypatch.setattr(Method, "fit", lambda *_, **__: pytest.fail("it was trained again"))
    assert all(map(same, before, run(TRIALS, corpus, measured, tmp_path)))
    for other in (Trial("siamese", TINY, 2), Trial("siamese", TINY, 0, part=0.5), Trial("sif", {"window": 4})):
        assert engine.known([other], corpus, measured, tmp_path) == [None]
    assert engine.known(TRIALS, corpus.fewer(0.5), measured, tmp_path) == [None] * 3
    assert engine.known(TRIALS, corpus, Metric("auc"), tmp_path) == [None] * 3
    assert engine.known([replace(trial, split="test") for trial in TRIALS], corpus, measured, tmp_path) == [None] * 3
    monkeypatch.setattr(METHODS["sif"], "version", 99)
    assert engine.known(TRIALS[2:], corpus, measured, tmp_path) == [None]


def test_a_killed_training_resumes_to_the_same_bits(tmp_path: Path) -> None:
    corpus, trial = CORPORA["pairs"](), Trial("siamese", {**TINY, "epochs": 4}, keep=True)
    [straight] = run([trial], corpus, measured, tmp_path / "straight")

    class Stop(Exception):
        """Simulates the end of the process."""

    def stopping(done: int, total: int | None, what: str) -> None:
        if any((tmp_path / "killed").glob("training/*/run/checkpoint.safetensors")):
            raise Stop

    with pytest.raises(Stop):
        run([trial], corpus, measured, tmp_path / "killed", progress=stopping)
    assert not engine.known([trial], corpus, measured, tmp_path / "killed")[0]
    [resumed] = run([trial], corpus, measured, tmp_path / "killed")
    assert same(straight, resumed)
    folders = [
        model_of(trial, corpus, measured, tmp_path / name) / "model.safetensors" for name in ("straight", "killed")
    ]
    assert folders[0].read_bytes() == folders[1].read_bytes()
    assert not [*(tmp_path / "killed" / "training").iterdir()]


def test_dev_trials_see_no_test_row(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Corpus] = []

    def watching(method: Method, corpus: Corpus, split: str) -> Any:
        seen.append(corpus)
        return measured(method, corpus, split)

    run([Trial("sif"), Trial("sif", split="test")], CORPORA["pairs"](), watching)
    assert ["test" in corpus.sizes for corpus in seen] == [False, True]
    run([Trial("sif", part=0.5, split="test")], CORPORA["pairs"](), watching)
    assert seen[2].sizes["train"] < seen[1].sizes["train"]  # with `part`, the metric sees fewer rows, too
    assert seen[2].part("test").fingerprint == seen[1].part("test").fingerprint


@pytest.mark.parametrize("error", [ValueError, RuntimeError, MemoryError])
def test_a_failure_is_a_result_with_a_reason(error: type[Exception], tmp_path: Path) -> None:
    def failing(*_: Any) -> Any:
        raise error("the loss is nan\nat batch 1")

    [result] = run([Trial("sif")], CORPORA["pairs"](), failing, tmp_path)
    assert result.figure is None
    assert result.reason.endswith("the loss is nan at batch 1")
    for value in ("nan", "inf"):
        [result] = run([Trial("sif")], CORPORA["pairs"](), lambda *_, value=value: ({"auc": float(value)}, {}))
        assert (result.figure, "auc" in result.reason) == (None, True)


def test_a_trial_of_a_running_process_is_awaited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus, trial = CORPORA["pairs"](), Trial("siamese", TINY)
    [wanted] = run([trial], corpus, measured, tmp_path / "theirs")
    [file] = (tmp_path / "theirs" / "trials").iterdir()
    training = tmp_path / "ours" / "training" / file.stem

    def finishes(_: float) -> None:
        (tmp_path / "ours" / "trials" / file.name).write_bytes(file.read_bytes())

    monkeypatch.setattr(engine.time, "sleep", finishes)
    with locked(training):
        assert same(wanted, run([trial], corpus, measured, tmp_path / "ours")[0])


def test_a_trial_is_locked_until_it_is_scored(tmp_path: Path) -> None:
    def watching(method: Method, corpus: Corpus, split: str) -> Any:
        assert all(map(is_locked, (tmp_path / "training").iterdir()))
        return measured(method, corpus, split)

    for trial in (TRIALS[0], Trial("siamese", TINY, keep=True)):
        assert run([trial], CORPORA["pairs"](), watching, tmp_path)[0].figure


def test_a_damaged_result_is_named(tmp_path: Path) -> None:
    run([Trial("sif")], CORPORA["pairs"](), measured, tmp_path)
    [file] = (tmp_path / "trials").iterdir()
    for damaged in ('{"figures": {}}', '{"figures"'):
        file.write_text(damaged)
        with pytest.raises(ValueError, match=file.name):
            run([Trial("sif")], CORPORA["pairs"](), measured, tmp_path)
    file.unlink()
    (tmp_path / "training" / file.stem / "run" / "half").mkdir(parents=True)  # left by a killed process
    assert run([Trial("sif")], CORPORA["pairs"](), measured, tmp_path)[0].figure

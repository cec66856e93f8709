"""Tuning: trials and their scores, resuming, ranges of values, and no access to test rows."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from labkit.baselines.averages import MeanVectors, MeanVectorsSettings
from labkit.corpora import Corpus
from labkit.evaluation.scores import selection
from labkit.experiment import Experiment
from labkit.method import History, Method
from labkit.methods import METHODS
from labkit.settings import setting
from labkit.trials.space import SAMPLERS, Dial
from labkit.trials.tune import Tuned, TunedTrial, tune
from tests.test_contract import CORPORA
from tests.test_settings import Some

TINY = {"encoder": "mean", "dimension": 8, "size": 6, "batch": 8, "epochs": 3, "device": "cpu"}


def dials(method: str, **texts: str) -> dict[str, Dial]:
    kind = METHODS[method].Settings
    return {name: Dial.typed(name, text, kind) for name, text in texts.items()}


def networks(**more: Any) -> Experiment:
    """An experiment that trains for a tenth of a second, with checkpoints."""
    return Experiment("siamese", CORPORA["pairs"](), TINY | more)


SPACE = dials("siamese", learning_rate="0.0003..0.3", dropout="0..0.5")


def outcomes(tuned: Tuned) -> list[Any]:
    """The trials without their times, which differ between runs."""
    return [replace(trial, seconds=0) for trial in tuned.trials]


@dataclass(frozen=True, kw_only=True)
class SpySettings(MeanVectorsSettings):
    epochs: int = setting(9, "of no use", minimum=1)
    broken: int = setting(0, "fails from here on", minimum=0, maximum=9)


class Spy(MeanVectors):
    """A method that records its training data, and fails if `broken` exceeds 4."""

    name = "spy"
    Settings = SpySettings
    seen: list[tuple[Corpus, tuple[int, int]]]

    def _fit(self, corpus: Corpus, seed: int, *others: Any) -> History:
        self.seen.append((corpus, (self.settings.epochs, seed)))
        if self.settings.broken > 4:
            raise ValueError("the loss is nan\nat batch 1")
        return super()._fit(corpus, seed, *others)


def spied(corpus: Corpus, **settings: Any) -> Experiment:
    return Experiment("spy", corpus, settings, methods={"spy": type("Spying", (Spy,), {"seen": []})})


def seen(experiment: Experiment) -> list[tuple[Corpus, tuple[int, int]]]:
    return experiment.entry.seen


def test_a_trials_score_is_that_of_its_training_on_dev(tmp_path: Path) -> None:
    tuned = tune(replace(networks(), seed=3), trials=3, space=SPACE)
    for trial in tuned.trials:
        corpus = CORPORA["pairs"]()
        method = METHODS["siamese"](**TINY, **trial.tried)
        method.fit(corpus.take(row for row, split in enumerate(corpus.splits) if split != "test"), seed=3)
        assert ("dev_auc", trial.figure) == (trial.measure, max(method.history.column("dev_auc")))
        assert trial.figure == selection(method, corpus.part("dev"))[1]
        assert trial.seconds > 0
    assert tuned.best.figure == max(trial.figure or 0 for trial in tuned.trials)
    assert tuned.settings == TINY | tuned.best.tried
    assert tuned.command == Experiment("siamese", "pairs", tuned.settings, seed=3).command
    assert [trial.figure for trial in tuned.ranked] == sorted((t.figure or 0 for t in tuned.trials), reverse=True)
    study = tuned.study(f"sqlite:///{tmp_path}/tuning.db")
    assert [(trial.params, trial.value) for trial in study.trials] == [(t.tried, t.figure) for t in tuned.trials]
    assert study.direction.name == "MAXIMIZE"


def test_the_earlier_of_equal_trials_is_the_best_and_failed_ones_are_last() -> None:
    """So the given settings are kept unless others are better."""
    figures = (0.5, 0.7, None, 0.7)
    made = tuple(TunedTrial(number, {"window": number}, figure) for number, figure in enumerate(figures))
    tuned = Tuned(Experiment("sif", "pairs"), {}, made, 4)
    assert [trial.number for trial in tuned.ranked] == [1, 3, 0, 2]
    assert (tuned.best.number, tuned.settings) == (1, {"window": 1})


def test_trials_depend_only_on_the_seed() -> None:
    def tried(**how: Any) -> list[Any]:
        return [trial.tried for trial in tune(Experiment("sif", CORPORA["pairs"]()), **how).trials]

    first = tried(trials=7, seed=1)
    assert first[:6] == tried(trials=6, seed=1)  # more trials continue the same sequence
    other = tried(trials=3, seed=2)
    assert first[0] == other[0]  # the given settings come first
    assert not any(each in first[1:] for each in other[1:])


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_trials_are_distinct_and_a_small_space_is_exhausted(sampler: str) -> None:
    experiment = Experiment("tfidf", CORPORA["pairs"]())
    space = dials("tfidf", unit="words|characters", min_count="1..3")
    tuned = tune(experiment, trials=9, space=space, sampler=sampler)
    tried = {tuple(trial.tried.values()) for trial in tuned.trials}
    assert (len(tried), len(tuned.trials), tuned.wanted) == (6, 6, 9)


@pytest.mark.parametrize("shape", ["pairs", "triplets", "articles"])
def test_trials_see_no_test_rows(shape: str, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus, measured = CORPORA[shape](), list[Corpus]()
    open_to_all = {text for split in ("train", "dev") for text in corpus.part(split).sentences()}
    hidden = set(corpus.part("test").sentences()) - open_to_all
    assert len(hidden) >= 8

    def spying(method: Any, dev: Corpus) -> tuple[str, float]:
        measured.append(dev)
        return selection(method, dev)

    monkeypatch.setattr(Method, "selection", spying)
    experiment = spied(corpus)
    tune(experiment, trials=2, space={"window": Dial(1, 5, whole=True)}, part=0.5)
    assert len(seen(experiment)) == len(measured) == 2
    for one in [corpus for corpus, _ in seen(experiment)] + measured:
        assert "test" not in one.splits
        assert not hidden & set(one.sentences())
    assert all(set(dev.splits) == {"dev"} for dev in measured)


@pytest.mark.parametrize("shape", ["pairs", "groups"])
def test_trials_train_on_the_same_part_for_a_share_of_the_epochs(shape: str) -> None:
    experiment = replace(spied(CORPORA[shape]()), seed=3)
    tune(experiment, trials=3, space={"window": Dial(1, 5, whole=True)}, part=0.5, epochs=0.5)
    whole = experiment.opened()
    corpora = [corpus for corpus, _ in seen(experiment)]
    assert {how for _, how in seen(experiment)} == {(4, 3)}  # half of nine epochs, and the seed of the experiment
    assert len({corpus.fingerprint for corpus in corpora}) == 1
    assert corpora[0].sizes["dev"] == whole.sizes["dev"]
    assert 0.25 * whole.sizes["train"] < corpora[0].sizes["train"] <= 0.5 * whole.sizes["train"] + len(whole.sizes)


def test_a_trial_that_fails_is_the_worst_and_keeps_its_reason(tmp_path: Path) -> None:
    space = {"broken": Dial(0, 9, whole=True)}
    tuned = tune(spied(CORPORA["pairs"]()), trials=10, space=space, folder=tmp_path / "t")
    failed = [trial for trial in tuned.trials if trial.tried["broken"] > 4]
    assert len(failed) == 5
    assert {(trial.figure, trial.reason) for trial in failed} == {(None, "the loss is nan at batch 1")}
    assert {trial.number for trial in tuned.ranked[-5:]} == {trial.number for trial in failed}
    with pytest.raises(ValueError, match="nan.*1"):
        tune(spied(CORPORA["pairs"](), broken=5), trials=3, space={"window": Dial(1, 9, whole=True)})


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"trials": 0}, "trials"),
        ({"part": 0.0}, "part"),
        ({"epochs": 1.5}, "epochs"),
        ({"sampler": "grid"}, "sampler"),
        ({"space": dials("siamese", epochs="1|2")}, "setting epochs"),
        ({"space": dials("siamese", alpha="1..2")}, "setting alpha"),
        ({"space": {"speed": Dial(1, 2)}}, "setting 'speed'"),
    ],
)
def test_invalid_tunings_are_refused(how: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=said):
        tune(networks(loss="contrastive"), folder=tmp_path / "t", **how)
    assert not (tmp_path / "t").exists()


def test_a_corpus_without_dev_or_a_method_without_hyperparameters_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = CORPORA["pairs"]()
    without = corpus.take(row for row, split in enumerate(corpus.splits) if split != "dev")
    with pytest.raises(ValueError, match="dev"):
        tune(Experiment("sif", without))
    settings = {"dimension": 8, "window": 3}
    with pytest.raises(ValueError, match="'mean-vectors'"):
        tune(Experiment("mean-vectors", corpus, settings))
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(ValueError, match=r"labkit-embeddings\[tune\]"):
        tune(Experiment("sif", corpus))


def test_another_tuning_or_other_files_are_refused_by_name(tmp_path: Path) -> None:
    tune(Experiment("sif", CORPORA["pairs"]()), trials=2, folder=tmp_path / "t")
    before = sorted((tmp_path / "t" / "trials").iterdir())
    for other, said in (
        ({"trials": 3}, "trials"),
        ({"seed": 1}, "seed"),
        ({"part": 0.5}, "part"),
        ({"space": {"window": Dial(1, 3, whole=True)}}, "space"),
        ({"first": {"window": 3}}, "first"),
    ):
        with pytest.raises(ValueError, match=said):
            tune(Experiment("sif", CORPORA["pairs"]()), **{"trials": 2, "folder": tmp_path / "t", **other})
    with pytest.raises(ValueError, match="fingerprint"):
        tune(Experiment("sif", replace(CORPORA["groups"](), name="pairs")), trials=2, folder=tmp_path / "t")
    with pytest.raises(ValueError, match="seed"):
        tune(Experiment("sif", CORPORA["pairs"](), seed=1), trials=2, folder=tmp_path / "t")
    assert sorted((tmp_path / "t" / "trials").iterdir()) == before
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    with pytest.raises(ValueError, match="mine"):
        tune(Experiment("sif", CORPORA["pairs"]()), trials=2, folder=tmp_path / "mine")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["letter.txt"]


class Stop(Exception):
    """Simulates the end of a process, which cannot be caught."""


def stopped_at(moment: int) -> Callable[..., None]:
    calls = iter(range(moment, -1, -1))

    def progress(*_: Any) -> None:
        if not next(calls):
            raise Stop

    return progress


def test_a_stopped_tuning_resumes_to_the_same_bits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    straight = tune(networks(), trials=2, space=SPACE)
    with pytest.raises(Stop):
        tune(networks(), trials=2, space=SPACE, folder=tmp_path / "t", progress=stopped_at(30))
    again = tune(networks(), trials=2, space=SPACE, folder=tmp_path / "t")
    assert outcomes(again) == outcomes(straight)
    assert not any((tmp_path / "t" / "training").iterdir())  # finished trials keep only their results
    with monkeypatch.context() as patch:
        patch.setattr(Method, "fit", lambda *_, **__: pytest.fail("it was trained again"))
        assert tune(networks(), trials=2, space=SPACE, folder=tmp_path / "t").trials == again.trials


@pytest.mark.parametrize(
    ("name", "text", "made"),
    [
        ("rate", "0.1..0.9", Dial(0.1, 0.9)),  # a factor of nine
        ("rate", "0.05..0.5", Dial(0.05, 0.5, log=True)),  # a factor of ten
        ("size", "1..9", Dial(1, 9, whole=True)),
        ("size", "2|8", Dial(choices=(2, 8))),
        ("loud", "yes|no", Dial(choices=(True, False))),
        ("file", "a|b.txt", Dial(choices=("a", "b.txt"))),
    ],
)
def test_ranges_are_parsed_like_their_settings(name: str, text: str, made: Dial) -> None:
    assert Dial.typed(name, text, Some) == made
    assert Dial.typed(name, str(made), Some) == made


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("rate", "0.9..0.1"), ("rate", "0.5"), ("rate", "0.5|0.50"), ("rate", "0.5..0.5"), ("rate", "0..0.5"),
        ("rate", "0.5..2"), ("rate", "..1"), ("size", "1..2.5"), ("kind", "hot|warm"), ("file", "a..b"), ("loud", ""),
    ],
)  # fmt: skip
def test_invalid_ranges_are_refused(name: str, text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(f"{name}={text!r}")):
        Dial.typed(name, text, Some)


def test_membership_and_rounding_of_a_range() -> None:
    linear, log, several = Dial(0.1, 0.9), Dial(0.0003, 0.3, log=True), Dial(choices=(True, False))
    assert [value in linear for value in (0.1, 0.5, 0.9, 0.09, 1)] == [True, True, True, False, False]
    assert (True in several, "yes" in several) == (True, False)
    assert [linear.nearest(value) for value in (0.43712, 0.10001, 0.89999)] == [0.437, 0.1, 0.9]
    assert [log.nearest(value) for value in (0.00043712, 0.0300049, 0.29999)] == [0.000437, 0.03, 0.3]
    assert Dial(0.12345, 0.9).nearest(0.1234501) == 0.12345  # never outside the range

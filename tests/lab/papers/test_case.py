"""A fit that several tables ask for is made once: in memory, and on disk where it is a training or was slow."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from labkit.baselines.counts import Tfidf
from labkit.corpora import Pairs, load
from labkit.folders import Hold
from labkit.lab.papers import case as module
from labkit.lab.papers.case import Case, training_name
from labkit.methods import METHODS

PAIRS = Pairs(["one two", "three four", "one three"], ["one four", "three two", "two four"], [1, 0, 1])


@pytest.fixture
def fits(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How often TF-IDF was fitted, by seed."""
    seeds: list[int] = []
    fit = Tfidf._fit

    def counted(self: Tfidf, corpus: Pairs, seed: int, *more: object) -> object:
        seeds.append(seed)
        return fit(self, corpus, seed, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(Tfidf, "_fit", counted)
    return seeds


def test_the_same_fit_is_made_once_in_memory(fits: list[int]) -> None:
    case = Case(PAIRS, 0, "tfidf")
    assert case.fitted() is case.fitted()
    replace(case, seed=1).fitted()
    case.fitted()
    assert fits == [0, 1]
    case.fitted(longest=2)
    assert fits == [0, 1, 0]
    replace(case, memory={}).fitted()
    assert fits == [0, 1, 0, 0]


@pytest.mark.parametrize("slow", [False, True])
def test_slow_fits_are_kept_on_disk(
    fits: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, slow: bool
) -> None:
    monkeypatch.setattr(module, "_SLOW", 0.0 if slow else 1e9)
    case = Case(PAIRS, 0, "tfidf", runs=tmp_path)
    first = case.fitted()
    again = replace(case, memory={}).fitted()
    assert fits == ([0] if slow else [0, 0])
    rows = [np.asarray(method.encode(["one two three"]).todense()) for method in (first, again)]  # type: ignore[attr-defined]
    assert np.array_equal(*rows)


def test_a_damaged_run_is_made_again(fits: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_SLOW", 0.0)
    case = Case(PAIRS, 0, "tfidf", runs=tmp_path)
    case.fitted()
    (folder,) = tmp_path.iterdir()
    (folder / "run.json").write_text("{")
    (folder / "left over").touch()
    replace(case, memory={}).fitted()
    assert fits == [0, 0]
    assert not (folder / "left over").exists()  # a training would refuse a folder with files of others


def test_what_another_process_computes_is_computed_without_its_folder(tmp_path: Path) -> None:
    """Two `labkit reproduce` side by side: neither fails, and neither writes into the other's training."""
    case = Case(load("topics").take(range(60)), 0, "sentpwnet", {"epochs": 1, "size": 6, "dimension": 6}, runs=tmp_path)
    folder = tmp_path / training_name(METHODS["sentpwnet"](**case.settings), case.corpus, 0)
    with Hold(folder):
        assert case.fitted().fitted
        assert [path.name for path in folder.iterdir()] == [".lock"]

"""An experiment: its name, its command, and a key of everything that determines its results."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from labkit import experiment as module
from labkit.corpora import Pairs
from labkit.experiment import Experiment
from labkit.methods import METHODS

PAIRS = Pairs(["one two", "three four", "one three"], ["one four", "three two", "two four"], [1, 0, 1], name="mine")
ONE = Experiment("tfidf", PAIRS, {"max_ngram": 2}, 3)


@pytest.mark.parametrize(
    ("corpus", "name"),
    [
        ("questions", "film-questions-seed0"),
        ("data/my file.csv.gz", "film-my file-seed0"),
        (".csv", "film-corpus-seed0"),
    ],
)
def test_a_run_is_named_by_method_corpus_and_seed(corpus: str, name: str) -> None:
    assert Experiment("film", corpus).name == name
    assert Experiment("film", corpus).folder == Path("runs", name)


def test_its_command_is_quoted() -> None:
    wanted = "labkit train tfidf --corpus 'my file.csv' --seed 3 --set max_ngram=2"
    assert replace(ONE, corpus="my file.csv").command == wanted


def test_whatever_determines_the_results_is_in_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    others = [
        replace(ONE, method="lsa", settings={}),
        replace(ONE, settings={}),
        replace(ONE, seed=4),
        replace(ONE, corpus=PAIRS.take([0, 1])),
        replace(ONE, method="other", methods={"other": METHODS["tfidf"]}),
    ]
    assert len({each.key for each in (ONE, *others)}) == 6
    assert replace(ONE, settings=METHODS["tfidf"](max_ngram=2).settings.values()).key == ONE.key  # explicit defaults
    before = ONE.key
    monkeypatch.setattr(module, "VERSION", module.VERSION + 1)
    assert ONE.key != before


def test_the_version_of_a_base_method_is_in_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    on_words, on_counts = (Experiment("sbert-lp", PAIRS, {"base": base}) for base in ("mean-vectors", "lsa"))
    before = on_words.key, on_counts.key
    monkeypatch.setattr(METHODS["lsa"], "version", 2)
    assert on_words.key == before[0]
    assert on_counts.key != before[1]


def test_fit_returns_the_fitted_method() -> None:
    method = METHODS["tfidf"](max_ngram=2)
    method.fit(PAIRS, seed=3)
    rows = [each.encode(["one two three"]).toarray() for each in (ONE.fit(), method)]
    assert np.array_equal(*rows)
    assert ONE.fit().origin == method.origin

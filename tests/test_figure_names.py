"""Every figure has a name in words, and no two have the same."""

from __future__ import annotations

import pytest

from labkit.corpora import load
from labkit.evaluation.scores import score
from labkit.figure_names import SPOKEN, spoken
from labkit.lab.shipped import DEMONSTRATIONS
from labkit.methods import METHODS
from labkit.runs import read_run


def test_names_by_hand() -> None:
    names = {
        "knn_accuracy": "kNN accuracy",
        "hit@1": "Hit@1",
        "dev_hit@1": "Hit@1 on dev",
        "dev_triplets": "triplet accuracy on dev",
        "coherence_lift": "coherence, lift",
        "f1": "F1",
        "accuracy": "accuracy",
        "a_new_one": "a new one",
    }
    assert {name: spoken(name) for name in names} == names


@pytest.mark.parametrize("name", DEMONSTRATIONS)
def test_nothing_of_a_run_is_left_as_code_writes_it_and_no_two_are_the_same(name: str) -> None:
    run = read_run(DEMONSTRATIONS[name].folder)
    figures = {figure for each in run.metrics.values() for figure in each} | set(run.history.columns)
    told = [spoken(figure) for figure in figures]
    assert not [text for text in told if "_" in text]
    assert len(set(told)) == len(told)


@pytest.mark.parametrize("corpus", ["topics", "questions", "captions", "relatedness", "articles"])
def test_every_figure_of_every_shape_has_a_name_of_its_own(corpus: str) -> None:
    method = METHODS["tfidf"]()
    method.fit(load(corpus))
    figures = score(method, load(corpus)).figures
    told = {figure: spoken(figure) for figure in figures}
    assert len(set(told.values())) == len(told)
    assert not [text for text in told.values() if "_" in text]


def test_no_name_is_for_nothing() -> None:
    assert all(spoken(name) == text != name for name, text in SPOKEN.items())

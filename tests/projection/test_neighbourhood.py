"""Neighbours by the method's own similarity; sentences by their words."""

from __future__ import annotations

import numpy as np
import pytest

from labkit.corpora import Labelled, load
from labkit.lab.shipped import DEMONSTRATIONS
from labkit.methods import METHODS
from labkit.methods import load as load_run
from labkit.projection.placement import matching, neighbours, unknown_words


def test_neighbours_are_the_most_similar_without_the_sentence_itself() -> None:
    corpus = load("topics").take(range(0, 2000, 20))
    method = METHODS["lsa"](dimension=8)
    method.fit(corpus)
    shown = Labelled(corpus.texts[:40], corpus.labels[:40])
    rows = method.encode(shown.texts)
    found = neighbours(method, rows[[3]], rows, shown, k=5, without=3)
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    cosines = {row: float(unit[row] @ unit[3]) for row in range(40) if row != 3}
    best = sorted(cosines.values(), reverse=True)[:5]
    assert [each.similarity for each in found] == pytest.approx(best, abs=1e-6)
    assert all(each.similarity == pytest.approx(cosines[each.row], abs=1e-6) for each in found)
    assert all((each.text, each.label) == (shown.texts[each.row], shown.labels[each.row]) for each in found)
    assert neighbours(method, rows[[3]], rows, shown, k=2)[0].row == 3
    with pytest.raises(ValueError, match="embeddings has 39 rows, expected 40"):
        neighbours(method, rows[[3]], rows[1:], shown)


def test_matching_needs_every_word_and_stops_in_time() -> None:
    texts = ["Red CARS", "a red bike", "blue cars", "ÄRGER"]
    assert matching(texts, "cars red") == [0]
    assert matching(texts, "ärger") == [3]
    assert matching(texts, "") == [0, 1, 2, 3]
    assert matching(texts, "cars", [2, 1]) == [2]
    assert matching(texts, "r", most=2) == [0, 1]


NONSENSE = "qwxz zzkk"


@pytest.mark.parametrize("name", ["mean-vectors", "sif", "tfidf", "lsa", "pv-dbow", "pca"])
def test_words_never_met_are_known_to_be_so(name: str) -> None:
    corpus = load("topics").take(range(0, 2000, 10))
    method = METHODS[name](**({"epochs": 1, "size": 4} if name == "pv-dbow" else {}))
    method.fit(corpus)
    assert unknown_words(method, NONSENSE) == (("qwxz", "zzkk"), False)
    assert unknown_words(method, "The weather, qwxz!") == (("qwxz",), True)
    assert unknown_words(method, "") == ((), True)


@pytest.mark.parametrize("name", [name for name in DEMONSTRATIONS if name != "sentpwnet-places"])
def test_of_runs_too(name: str) -> None:
    if not DEMONSTRATIONS[name].here:
        pytest.skip("needs the runs that come with the lab")
    assert unknown_words(load_run(DEMONSTRATIONS[name].folder), NONSENSE) == (("qwxz", "zzkk"), False)


def test_a_method_without_words_of_its_own_reads_all() -> None:
    assert unknown_words(METHODS["sbert"](), NONSENSE) == ((), True)

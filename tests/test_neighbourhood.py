"""Neighbours by the method's own similarity; sentences by their words."""

from __future__ import annotations

import numpy as np
import pytest

from labkit.corpora import Labelled, load
from labkit.methods import METHODS
from labkit.neighbourhood import matching, neighbours


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

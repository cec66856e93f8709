"""Figure 4 for any corpus: its pairs, its rates by a plain loop over all ranks, and the k that dev chose."""

from __future__ import annotations

import numpy as np
import pytest

from labkit.corpora import Labelled, Pairs, load
from labkit.film.rule import _curves, judged_pairs, mutual_rule, two_level
from labkit.methods import METHODS


def test_labelled_pairs_are_taken_as_they_are() -> None:
    part = Pairs(["a b", "c d"], ["e f", "a b"], [1, 0])
    texts, pairs, labels = judged_pairs(part)
    assert [(texts[a], texts[b]) for a, b in pairs] == [("a b", "e f"), ("c d", "a b")]
    assert labels.tolist() == [1, 0]


def test_pairs_of_classes_are_drawn_of_both_kinds() -> None:
    part = Labelled([f"s{i}" for i in range(30)], [f"c{i % 3}" for i in range(30)])
    texts, pairs, labels = judged_pairs(part, seed=1)
    same = np.array([int(texts[a][1:]) % 3 == int(texts[b][1:]) % 3 for a, b in pairs])
    np.testing.assert_array_equal(same, labels == 1)
    assert len({tuple(pair) for pair in pairs.tolist()}) == len(pairs) == 30 * 29 // 2
    assert (pairs[:, 0] != pairs[:, 1]).all()
    with pytest.raises(ValueError, match="graded pairs, triplets or articles"):
        judged_pairs(Pairs(["a"], ["b"], [0.3], graded=True))


def test_rates_by_a_plain_loop() -> None:
    corpus = load("questions")
    method = METHODS["lsa"](dimension=20)
    method.fit(corpus)
    found = mutual_rule(method, corpus, most=10)
    test = corpus.part("test")
    texts = test.sentences()
    S = method.similarity(texts, texts)
    np.fill_diagonal(S, -np.inf)
    place = {text: row for row, text in enumerate(texts)}
    right, said = 0, {True: [0, 0], False: [0, 0]}
    for a, b, same in zip(test.text_a, test.text_b, test.labels, strict=True):
        i, j = place[a], place[b]
        rank = max((S[i] > S[i, j] + 1e-6).sum(), (S[j] > S[j, i] + 1e-6).sum()) + 1
        right += bool(same) == (rank <= 5)
        said[bool(same)][int(rank <= 5)] += 1
    assert found.test.accuracy[4] == pytest.approx(right / len(test), abs=0.004)  # equals may stand either way
    dev = _curves(method, corpus.part("dev"), 10, 0, lambda *_: None)
    assert found.chosen == int(np.argmin(two_level(dev, dev))) + 1
    rows = found.rows()
    assert [row["k"] for row in rows] == list(range(1, 11))
    for name, same, yes in (("tpr", True, True), ("fnr", True, False), ("fpr", False, True), ("tnr", False, False)):
        assert rows[4][name] == pytest.approx(said[same][yes] / sum(said[same]), abs=0.01), name
    assert found.hard[0] == pytest.approx(-np.log(1e-15) * (1 - found.test.accuracy[0]), rel=1e-6)

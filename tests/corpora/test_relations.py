"""Classes of sentences: as labels and groups say them, and the components of positive pairs against plain merging."""

from __future__ import annotations

import numpy as np

from labkit.corpora import Groups, Labelled, Pairs
from labkit.corpora.relations import components


def test_labels_and_groups() -> None:
    assert Labelled(["a", "b"], ["x", "y"]).classified() == (["a", "b"], ["x", "y"])
    assert Groups(["a", "b"], ["1", "1"]).same() == (["a", "b"], ["1", "1"])


def test_components_by_hand() -> None:
    # a-b and b-c are the same, so a and c are; d stands in a negative pair only
    texts, component = components(Pairs(["a", "b", "a"], ["b", "c", "d"], [1, 1, 0]))
    assert texts == ["a", "b", "c", "d"]
    assert component[0] == component[1] == component[2] != component[3]
    none = components(Pairs(["a", "b"], ["c", "d"], [0, 0]))[1]
    assert len(set(none.tolist())) == 4


def test_components_equal_plain_merging() -> None:
    random = np.random.default_rng(0)
    a, b = random.integers(0, 40, 60), random.integers(40, 80, 60)
    values = random.integers(0, 2, 60)
    texts, component = components(Pairs([f"s{i}" for i in a], [f"s{i}" for i in b], values.tolist()))
    merged = {text: {text} for text in texts}
    for i, j, value in zip(a, b, values, strict=True):
        if value:
            both = merged[f"s{i}"] | merged[f"s{j}"]
            for text in both:
                merged[text] = both
    for row, text in enumerate(texts):
        assert {texts[other] for other in np.flatnonzero(component == component[row])} == merged[text]

"""Hard negatives against sentence-transformers' function, plain loops and worked examples."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from scipy import sparse

from labkit.corpora import Corpus, Groups, Labelled, Pairs, Triplets, load
from labkit.corpora.catalogue import EMBEDDED
from labkit.pairs.hard_negatives import Mined, false_negatives, known_meanings, mine_negatives, sentences_to_mine
from labkit.text import normalise


def at_angles(*degrees: float) -> np.ndarray:
    return np.array([[np.cos(np.deg2rad(angle)), np.sin(np.deg2rad(angle))] for angle in degrees])


def named(mined: Mined) -> list[tuple[str, ...]]:
    return [tuple(mined.texts[row] for row in triplet) for triplet in mined.triplets]


#       a 0°, p 40°; n1 10°, n2 30°, n3 60°, n4 120° from the anchor
HAND = Pairs(["a", "n1", "n3"], ["p", "n2", "n4"], [1, 0, 0], name="mine", splits="train")
ROWS = at_angles(0, 40, 10, 30, 60, 120)


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ({}, ["n1", "n2", "n3", "n4"]),
        ({"count": 2}, ["n1", "n2"]),
        ({"ranks": (1, 3)}, ["n2", "n3"]),
        ({"margin": 0.0}, ["n3", "n4"]),  # cos 40° = .766 > cos 60° = .5
        ({"relative": 0.3}, ["n3", "n4"]),  # .766 - .7 · .3
        ({"most": 0.9}, ["n2", "n3", "n4"]),
        ({"least": 0.0}, ["n1", "n2", "n3"]),
        ({"margin": 0.0, "least": 0.0}, ["n3"]),
    ],
)
def test_worked_examples_of_rules(rules: dict[str, Any], expected: list[str]) -> None:
    assert sentences_to_mine(HAND) == ["a", "p", "n1", "n2", "n3", "n4"]
    mined = mine_negatives(ROWS, HAND, **{"count": 2 if "ranks" in rules else 4, "ranks": (0, 4)} | rules)
    assert named(mined) == [("a", "p", name) for name in expected]
    assert (mined.pairs, mined.candidates) == (1, 2 if "ranks" in rules else 4)
    assert mined.ranks.tolist() == [int(name[1]) for name in expected]
    if "count" not in rules:
        assert sum(mined.dropped.values()) == mined.candidates - len(expected)
    cosines = ROWS @ ROWS.T
    assert np.allclose(mined.similarities, [[cosines[a, p], cosines[a, n]] for a, p, n in mined.triplets])


def test_a_guide_drops_candidates_as_near_as_the_positive_to_either() -> None:
    guide = at_angles(0, 40, 45, 90, 39, -41)  # n1 is near p, n3 is near a, n2 and n4 are near neither
    assert [n for *_, n in named(mine_negatives(ROWS, HAND, count=4, ranks=(0, 4), guide=guide))] == ["n2", "n4"]
    mined = mine_negatives(ROWS, HAND, count=4, ranks=(0, 4), guide=guide, guide_margin=0.1)
    assert [n for *_, n in named(mined)] == ["n2"]  # cos 41° is within .1 of cos 40°, cos 50° is not
    assert mined.dropped == {"guide": 3}


def test_negatives_are_neither_of_the_same_class_nor_respelled_nor_repeated() -> None:
    texts = ["a", "p", "q", "A ", "P", "x", "y"]
    corpus = Groups([*texts, "x"], ["1", "1", "1", "2", "3", "2", "4", "4"], splits="train")
    # "A " is another spelling of a, so x, also in group 2, belongs with group 1; y shares x's other group, 4
    rows = np.random.default_rng(0).normal(size=(len(texts), 3))
    mined = mine_negatives(rows, corpus, count=7, ranks=(0, 7))
    for anchor, positive, negative in named(mined):
        assert normalise(anchor) != normalise(positive)
        assert negative not in (anchor, positive)
        assert {normalise(anchor), normalise(negative)} not in ({"a", "x"}, {"x", "y"}, {"a", "p"}, {"p", "q"})
    spelled = Pairs(["a", "a", "n"], ["A", "p", "k"], [1, 1, 0], splits="train")
    pairs = {(anchor, positive) for anchor, positive, _ in named(mine_negatives(np.eye(5), spelled))}
    assert pairs == {("a", "p")}  # a and A are the same text, not a pair
    two = Pairs(["a", "a", "n", "m"], ["p", "q", "k", "l"], [1, 1, 0, 0], splits="train")
    twice = named(mine_negatives(np.random.default_rng(1).normal(size=(7, 3)), two, count=3, ranks=(0, 4)))
    assert len({(anchor, negative) for anchor, _, negative in twice}) == len(twice) == 4  # n, k, m and l, once each


def corpora() -> list[Corpus]:
    random = np.random.default_rng(3)
    texts = [f"s{i}" for i in range(60)]
    a, b, value = random.integers(0, 60, 50), random.integers(0, 60, 50), random.integers(0, 2, 50)
    labels = [f"c{code}" for code in random.integers(0, 12, 60)]
    return [
        Pairs([texts[i] for i in a], [texts[i] for i in b], value.tolist(), splits="train"),
        Labelled(texts, labels, splits="train"),
        Groups([*texts, *texts[:9]], [*labels, *labels[9:18]], splits="train"),
        Triplets([texts[i] for i in a], [texts[i] for i in b], texts[:50], splits="train"),
    ]


def belonging(corpus: Corpus) -> set[frozenset[str]]:
    """The pairs of sentences that share a class, by plain merging."""
    if isinstance(corpus, Labelled | Groups):
        of = list(zip(*corpus.classified(), strict=True))
        return {frozenset((s, t)) for s, c in of for t, d in of if c == d}
    ends = (corpus.text_a, corpus.text_b) if isinstance(corpus, Pairs) else (corpus.anchors, corpus.positives)
    same = corpus.values if isinstance(corpus, Pairs) else [1] * len(corpus)
    merged = {text: {text} for text in corpus.sentences()}
    for s, t, value in zip(*ends, same, strict=True):
        if value:
            both = merged[s] | merged[t]
            for text in both:
                merged[text] = both
    return {frozenset((s, t)) for both in merged.values() for s in both for t in both}


@pytest.mark.parametrize(
    ("corpus", "kind"), [*((corpus, "dense") for corpus in corpora()), (corpora()[0], "sparse")], ids=repr
)
def test_equals_plain_loops(corpus: Corpus, kind: str) -> None:
    texts, same = corpus.sentences(), belonging(corpus)
    random = np.random.default_rng(7)
    rows = random.normal(size=(len(texts), 5))
    guide = random.normal(size=(len(texts), 4))
    mined = mine_negatives(
        sparse.csr_matrix(rows) if kind == "sparse" else rows,
        corpus,
        count=4,
        ranks=(2, 20),
        margin=0.1,
        guide=sparse.csr_matrix(guide) if kind == "sparse" else guide,
    )
    found: dict[tuple[str, str], list[str]] = {}
    for anchor, positive, negative in named(mined):
        found.setdefault((anchor, positive), []).append(negative)
    S, G = (each @ each.T for each in (row / np.linalg.norm(row, axis=1, keepdims=True) for row in (rows, guide)))
    number = {text: row for row, text in enumerate(texts)}
    assert found
    used: dict[str, set[str]] = {}
    for (anchor, positive), negatives in found.items():
        a, p = number[anchor], number[positive]
        assert frozenset((anchor, positive)) in same
        others = sorted((t for t in texts if frozenset((anchor, t)) not in same), key=lambda t: -S[a, number[t]])[2:20]
        left = [
            t
            for t in others
            if S[a, number[t]] <= S[a, p] - 0.1
            and max(G[a, number[t]], G[p, number[t]]) < G[a, p]
            and t not in used.setdefault(anchor, set())
        ]
        assert negatives == left[:4]
        used[anchor].update(negatives)


class Fixed:
    """A model as sentence-transformers expects it, with fixed rows for texts."""

    def __init__(self, rows: dict[str, np.ndarray]) -> None:
        self.rows, self.device = rows, torch.device("cpu")

    def encode_document(self, texts: list[str], **_: Any) -> np.ndarray:
        rows = np.stack([self.rows[text] for text in texts])
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    encode_query = encode_document

    def similarity(self, a: np.ndarray, b: torch.Tensor) -> torch.Tensor:
        return torch.as_tensor(a) @ torch.as_tensor(b).T

    def similarity_pairwise(self, a: np.ndarray, b: np.ndarray) -> torch.Tensor:
        return (torch.as_tensor(a) * torch.as_tensor(b)).sum(1)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ({"count": 3, "ranks": (5, 12)}, {"num_negatives": 3, "range_min": 6, "range_max": 13}),
        ({"count": 3, "margin": 0.1}, {"num_negatives": 3, "absolute_margin": 0.1}),
        ({"count": 3, "relative": 0.05}, {"num_negatives": 3, "relative_margin": 0.05}),
        ({"count": 30, "most": 0.5, "least": -0.2}, {"num_negatives": 30, "max_score": 0.5, "min_score": -0.2}),
    ],
)
def test_equals_sentence_transformers(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    pytest.importorskip("sentence_transformers")
    from datasets import Dataset
    from sentence_transformers.util import mine_hard_negatives

    random = np.random.default_rng(5)
    anchors, positives = [f"a{i}" for i in range(50)], [f"p{i}" for i in range(50)]
    rows = {text: random.normal(size=6) for text in (*anchors, *positives)}
    corpus = Pairs(anchors, positives, [1] * 50, splits="train")
    mined = mine_hard_negatives(
        Dataset.from_dict({"anchor": anchors, "positive": positives}),
        Fixed(rows),
        corpus=anchors,  # in addition to the positives
        **{"range_max": 99} | theirs,
        verbose=False,
    )
    # there, an anchor is its own first negative, with cosine 1
    expected = [tuple(row[column] for column in ("anchor", "positive", "negative")) for row in mined]
    texts = corpus.sentences()
    got = named(mine_negatives(np.stack([rows[text] for text in texts]), corpus, **{"ranks": (0, 98)} | ours))
    assert sorted(got) == sorted(row for row in expected if row[0] != row[2])


def test_random_sampling_depends_on_the_seed_and_covers_the_ranks() -> None:
    corpus = load("questions").take(range(600))
    rows = np.random.default_rng(0).normal(size=(len(sentences_to_mine(corpus)), 8)).astype(np.float32)
    one, same, other = (
        mine_negatives(rows, corpus, count=3, ranks=(10, 50), sampling="random", seed=seed) for seed in (1, 1, 2)
    )
    assert np.array_equal(one.triplets, same.triplets)
    assert not np.array_equal(one.triplets, other.triplets)
    assert (one.ranks.min(), one.ranks.max()) == (11, 50)
    assert abs(one.ranks.mean() - 30.5) < 1


def test_mined_triplets_are_a_corpus() -> None:
    mined = mine_negatives(ROWS, HAND, count=2)
    corpus = mined.corpus()
    assert (corpus.anchors, corpus.positives, corpus.negatives) == (("a", "a"), ("p", "p"), ("n1", "n2"))
    assert corpus.sizes == {"train": 2}
    assert dict(corpus.extra) == {"rank": (1, 2), "to_positive": (0.766,) * 2, "to_negative": (0.9848, 0.866)}
    with pytest.raises(ValueError, match="margin 4"):
        mine_negatives(ROWS, HAND, margin=2.0).corpus()


@pytest.mark.parametrize(
    ("corpus", "wrong", "said"),
    [
        (HAND, {"count": 9, "ranks": (0, 4)}, "count is 9"),
        (HAND, {"ranks": (3, 3)}, r"ranks\[1\] is 3"),
        (HAND, {"sampling": "hardest"}, "sampling is 'hardest'"),
        (HAND, {"guide": ROWS[:5]}, "guide has 5 rows"),
        (Pairs(["a"], ["b"], [3.0], graded=True, splits="train"), {}, "grades"),
        (Labelled(["a", "b"], ["x", "y"], splits="train"), {}, "positive pairs"),
    ],
)
def test_bad_arguments_are_refused(corpus: Corpus, wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        mine_negatives(ROWS[: len(corpus.sentences())], corpus, **wrong)


# --- known meanings ----------------------------------------------------------------------------------------------


def test_false_negatives_and_known_meanings() -> None:
    mined = mine_negatives(ROWS, HAND, count=4, ranks=(0, 4))
    meanings = dict(zip(mined.texts, "11x1yz", strict=True))  # n2 has the same meaning as a
    assert false_negatives(mined, meanings).tolist() == [False, True, False, False]
    with pytest.raises(ValueError, match="meanings"):
        false_negatives(mined, {})
    assert known_meanings(load("questions")) == EMBEDDED["questions"].meanings()
    assert not EMBEDDED["places"].meanings()
    assert known_meanings(HAND) is known_meanings(load("relatedness")) is None
    assert known_meanings(Pairs(["a"], ["b"], [1], name="questions", splits="train")) is None

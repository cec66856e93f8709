"""Hit@k, MAP@R and kNN accuracy against plain loops and scikit-learn; ties, tiles and samples."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.neighbors import KNeighborsClassifier

from labkit.evaluation import hit_at, knn_accuracy, knn_right, precision_at_r, retrieval


def looped_hits(embeddings, labels, ks):
    """Hit@k and the number of queries, by sorting all other rows; among ties, other classes come first."""
    unit = embeddings / np.linalg.norm(embeddings, axis=1, keepdims=True)
    hits, asked = dict.fromkeys(ks, 0), 0
    for i, label in enumerate(labels):
        others = [j for j in range(len(labels)) if j != i]
        if not any(labels[j] == label for j in others):
            continue
        asked += 1
        ranking = sorted(others, key=lambda j: (-round(float(unit[i] @ unit[j]), 10), labels[j] == label))
        for k in ks:
            hits[k] += any(labels[j] == label for j in ranking[:k])
    return {k: count / asked for k, count in hits.items()}, asked


def test_ties_never_improve_a_score():
    assert hit_at(np.ones((6, 4)), [0, 0, 0, 1, 1, 1], (1, 2, 3, 4)) == {1: 0, 2: 0, 3: 0, 4: 1}
    # three lengths of one direction, which differ only by rounding
    direction = np.random.default_rng(0).standard_normal(50)
    copies = np.outer([1, 3, 7], direction)
    assert hit_at(copies, ["a", "a", "b"], (1, 2)) == {1: 0, 2: 1}
    assert precision_at_r(np.ones((6, 4)), [0, 0, 0, 1, 1, 1])["r_precision"] == 0
    codes, far = np.array([0, 0, 1, 1]), np.full((4, 4), -1e9)  # such distances cannot resolve 1e-12
    found = retrieval.retrieved(lambda these, others: far[these][:, others], codes, np.arange(4), deep=True)
    assert found.right.tolist() == [0, 0, 0, 0]


def looped_at_r(embeddings, labels):
    """Musgrave et al.'s formulas; among ties, other classes come first."""
    unit = embeddings / np.linalg.norm(embeddings, axis=1, keepdims=True)
    maps, shares = [], []
    for i, label in enumerate(labels):
        others = [j for j in range(len(labels)) if j != i]
        R = sum(labels[j] == label for j in others)
        if not R:
            continue
        ranking = sorted(others, key=lambda j: (-round(float(unit[i] @ unit[j]), 10), labels[j] == label))[:R]
        right = [labels[j] == label for j in ranking]
        maps.append(sum(np.mean(right[: place + 1]) for place in range(R) if right[place]) / R)
        shares.append(sum(right) / R)
    return {"map@r": np.mean(maps), "r_precision": np.mean(shares)}


def test_worked_example_at_r():
    # on a circle; the query at 0 degrees has R = 2 others of its class, at 10 and 40, and other classes at 20 and 90:
    # the nearest is right and the second wrong, so P(1) = 1 and MAP@R is (1 + 0) / 2
    degrees = np.radians([0, 10, 40, 20, 90])
    rows, labels = np.stack([np.cos(degrees), np.sin(degrees)], axis=1), ["a", "a", "a", "b", "c"]
    found = precision_at_r(rows, labels)
    # at 10: 0 and 20 are tied and the wrong one comes first: P(2) = 1/2, (0 + 1/2) / 2
    # at 40: first 20, which is wrong, then 10: (0 + 1/2) / 2
    assert found == pytest.approx({"map@r": (1 / 2 + 1 / 4 + 1 / 4) / 3, "r_precision": 1 / 2})


@pytest.mark.parametrize(("seed", "form"), [(0, np.asarray), (1, sparse.csr_array)])
def test_at_r_equals_plain_loops_also_in_tiles(monkeypatch, seed, form):
    random = np.random.default_rng(seed)
    embeddings = random.integers(-1, 2, (60, 3)) + 0.0  # many ties
    embeddings = embeddings[np.abs(embeddings).sum(axis=1) > 0]
    labels = random.integers(0, [2, 25][seed], len(embeddings)).tolist()
    wanted = looped_at_r(embeddings, labels)
    for most, block in ((20_000, 2**24), (7, 2**24), (7, 300)):
        monkeypatch.setattr(retrieval, "MOST_ASKING", most)
        monkeypatch.setattr(retrieval, "BLOCK", block)
        assert precision_at_r(form(embeddings), labels) == pytest.approx(wanted)


@pytest.mark.parametrize("k", [1, 5])
def test_knn_equals_scikit_learn(k):
    random = np.random.default_rng(k)
    centres = random.standard_normal((2, 6))
    labels = random.integers(0, 2, 500)  # two classes and an odd k: no tied votes
    rows = centres[labels] + random.standard_normal((500, 6))
    oracle = KNeighborsClassifier(k).fit(rows[:300], labels[:300]).score(rows[300:], labels[300:])
    assert knn_accuracy(rows[:300], labels[:300], rows[300:], labels[300:], k) == oracle
    names = np.array(["no", "yes"])[labels]
    assert knn_accuracy(rows[:300], names[:300], rows[300:], names[300:], k) == oracle


def test_a_tied_vote_goes_to_the_nearest():
    train, labels = [[0.0], [1.0], [2.0], [3.0]], ["b", "a", "c", "a"]
    assert knn_accuracy(train, labels, [[-1.0]], ["b"]) == 1  # b, a, c: one vote each
    assert knn_accuracy(train, labels, [[-1.0]], ["a"]) == 0
    assert knn_accuracy(train, labels, [[-1.0]], ["a"], k=4) == 1  # two votes for a
    assert knn_accuracy(train, labels, [[0.5]], ["b"], k=1) == 1  # equally near: the earlier row
    asked = [[-1.0], [0.9], [3.5]]
    assert knn_right(train, labels, asked, ["b", "b", "a"], k=1).tolist() == [True, False, True]  # row by row


@pytest.mark.parametrize(("classes", "form"), [(2, np.asarray), (100, sparse.csr_array)])
def test_tiles_do_not_change_the_result(monkeypatch, form, classes):
    random = np.random.default_rng(classes)
    rows = random.integers(-1, 2, (160, 4)) + 0.0
    rows[np.abs(rows).sum(axis=1) == 0] = 1
    labels = random.integers(0, classes, 160)
    told = []
    monkeypatch.setattr(retrieval, "MOST_ASKING", 23)
    monkeypatch.setattr(retrieval, "BLOCK", 4 * 23 * 9)
    found = hit_at(form(rows), labels, progress=lambda *said: told.append(said))
    wanted, asked = looped_hits(rows, labels.tolist(), (1, 3, 10))
    assert found == pytest.approx(wanted)
    assert [done for done, *_ in told] == [*range(9, asked, 9), asked]


def test_a_sample_of_queries_searches_all_rows():
    random = np.random.default_rng(0)
    rows, labels = random.standard_normal((90, 3)), random.integers(0, 20, 90)
    found = hit_at(rows, labels, most=25)
    having = np.flatnonzero(np.bincount(labels)[labels] > 1)
    asking = np.sort(np.random.default_rng(0).choice(having, 25, replace=False))
    cosine = rows @ rows.T / np.outer(*[np.linalg.norm(rows, axis=1)] * 2)
    np.fill_diagonal(cosine, -2)
    assert found[1] == np.mean(labels[cosine.argmax(axis=1)][asking] == labels[asking])
    assert hit_at(rows, labels, most=90) == hit_at(rows, labels)

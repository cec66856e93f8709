"""Rows as words, the readable rotation, the stability of rows, and parts that add up to a similarity."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import sparse, stats

from labkit.explanation import Explanation, Parts
from labkit.film.reading import (
    Terms,
    classes_apart,
    effective_words,
    effects,
    film_explanation,
    readable,
    row_ends,
    row_stability,
    rows_of_pair,
    varimax,
    word_rows,
)


@pytest.fixture
def words() -> Terms:
    X = sparse.csr_matrix(np.array([[1.0, 0, 0, 2], [1, 0, 0, 0], [1, 3, 0, 0], [1, 0, 4, 0]]))
    return Terms.of(["the", "cat", "dog", "ox"], X)


def test_words_are_ranked_by_effect_and_rare_words_skipped(words) -> None:
    L = np.array([[0.5, 1.0, -1.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
    first, second = word_rows(L, words, top=2, min_count=1)
    assert first.positive == (("cat", 1.5), ("the", 0.5))  # effects 0.5, 1.5, -2
    assert first.negative == (("dog", 2.0),)
    assert first.share == pytest.approx(6.5 / 7.5)
    assert second.effective_words == pytest.approx(1)
    assert np.isnan(first.stability)
    assert word_rows(L, words, min_count=2)[0].positive == (("the", 0.5),)


def test_no_rotation_in_a_plane_improves_varimax(random) -> None:
    A = random.random((50, 4)) + 3 * np.eye(50)[:, :4]  # every word is in every row, where fourth powers alone fail
    R = varimax(A)
    assert np.abs(R.T @ R - np.eye(4)).max() < 1e-12

    def criterion(plane: tuple[int, int], angle: float) -> float:
        turn = np.eye(4)
        turn[np.ix_(plane, plane)] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
        return float(((A @ R @ turn) ** 2).var(axis=0).sum())

    for plane in combinations(range(4), 2):
        slope = (criterion(plane, 1e-4) - criterion(plane, -1e-4)) / 2e-4
        assert abs(slope) < 0.01
        assert criterion(plane, 0.02) < criterion(plane, 0) > criterion(plane, -0.02)


def test_the_readable_rotation_keeps_every_similarity(random) -> None:
    X = random.random((40, 25))
    words = Terms.of([str(w) for w in range(25)], sparse.csr_matrix(X))
    turn = np.linalg.qr(random.standard_normal((6, 6)))[0]
    L = turn @ random.standard_normal((6, 25)) ** 3 / 20
    turned = readable(L, words)
    assert np.abs((X @ turned.T) @ (X @ turned.T).T - (X @ L.T) @ (X @ L.T).T).max() < 1e-12
    size = (effects(turned, words) ** 2).sum(axis=1)
    assert (np.diff(size) <= 0).all()
    assert effective_words(effects(turned, words)).mean() < effective_words(effects(L, words)).mean()


def test_stability_is_1_for_rows_that_recur_in_any_order_and_sign(random, words) -> None:
    L = random.standard_normal((3, 4))
    assert row_stability(L, [L[[2, 0, 1]] * [[1], [-1], [3]]], words) == pytest.approx(np.ones(3))
    other = np.array([[0.0, 0, 0, 1]])
    assert row_stability(np.array([[1.0, 0, 0, 0]]), [other], words) == pytest.approx([0])
    half = row_stability(L, [L, np.zeros((3, 4))], words)
    assert half == pytest.approx(np.full(3, 0.5))


# --- parts against plain loops over words, rows and pairs of words -----------------------------------------------


WORDS = tuple("abcdefgh")


def counted(x: np.ndarray, *, unknown: tuple[str, ...] = ()) -> Parts:
    """A sentence with the TF-IDF values x (8,), as parts: a row for each of its words."""
    words = np.flatnonzero(x)
    rows = sparse.csr_array((x[words], (np.arange(len(words)), words)), shape=(len(words), 8))
    return Parts.of_sum([WORDS[word] for word in words], rows, unknown=unknown)


def explained(random, share: float) -> tuple[Explanation, np.ndarray, np.ndarray, np.ndarray]:
    L = random.standard_normal((3, 8))
    x = random.random(8) * (random.random(8) < 0.6)
    y = random.random(8) * (random.random(8) < 0.6)
    x[2], y[2] = 0.7, 0.4
    return film_explanation(("first", "second"), counted(x), counted(y), L, share), L, x, y


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_all_three_kinds_of_parts_add_up(random, share: float) -> None:
    for _ in range(20):
        found, L, x, y = explained(random, share)
        learned = (L @ x) @ (L @ y) / np.linalg.norm(L @ x) / np.linalg.norm(L @ y)
        plain = x @ y / np.linalg.norm(x) / np.linalg.norm(y)
        wanted = share * plain + (1 - share) * learned
        assert abs(found.similarity - wanted) < 1e-12
        assert abs(sum(part for _, part in found.rows) + found.shared - wanted) < 1e-12
        assert abs(sum(part for _, part in found.words_a + found.words_b) - wanted) < 1e-12
        assert abs(sum(part for _, _, part in found.word_pairs) - wanted) < 1e-12


def test_each_part_equals_plain_loops(random) -> None:
    found, L, x, y = explained(random, 0.25)
    lengths = np.linalg.norm(L @ x) * np.linalg.norm(L @ y), np.linalg.norm(x) * np.linalg.norm(y)
    pairs = {(s, t): part for s, t, part in found.word_pairs}
    assert set(pairs) == {(WORDS[u], WORDS[v]) for u in range(8) for v in range(8) if x[u] and y[v]}
    for u in np.flatnonzero(x):
        for v in np.flatnonzero(y):
            wanted = 0.75 * x[u] * (L[:, u] @ L[:, v]) * y[v] / lengths[0] + 0.25 * (u == v) * x[u] * y[v] / lengths[1]
            assert pairs[WORDS[u], WORDS[v]] == pytest.approx(wanted, abs=1e-14)
    for row, part in found.rows:
        assert part == pytest.approx(0.75 * (L @ x)[row] * (L @ y)[row] / lengths[0], abs=1e-14)
    for word, part in found.words_a:
        assert part == pytest.approx(sum(value for (s, _), value in pairs.items() if s == word) / 2, abs=1e-14)


def test_words_add_up_to_the_numbers_of_a_pair_on_each_row(random) -> None:
    L, x, y = random.standard_normal((3, 8)), np.array([0.6, 0, 0.3, 0, 0, 0, 0.1, 0]), np.eye(8)[2] + np.eye(8)[5]
    for row in rows_of_pair(counted(x), counted(y), L, 0.25):
        for sentence, number, words in zip((x, y), row.numbers, row.words, strict=True):
            length = np.linalg.norm(L @ sentence)
            wanted = {
                WORDS[u]: np.sqrt(0.75) * L[row.number, u] * sentence[u] / length for u in np.flatnonzero(sentence)
            }
            assert dict(words) == pytest.approx(wanted, abs=1e-14)
            assert [word for word, _ in words] == sorted(wanted, key=lambda word: -abs(wanted[word]))
            assert number == pytest.approx(sum(wanted.values()), abs=1e-14)
        assert row.turned().part == row.part
        assert row.turned().words[0][0][1] == -row.words[0][0][1]
    found = rows_of_pair(counted(x), counted(y), L, 0.25)
    told = film_explanation(("a", "b"), counted(x), counted(y), L, 0.25)
    assert [row.number for row in found] == [number for number, _ in told.rows]
    assert [row.part for row in found] == pytest.approx([part for _, part in told.rows], abs=1e-14)
    assert rows_of_pair(counted(np.zeros(8)), counted(y), L, 0.25)[0].part == 0


def test_only_significantly_different_classes_are_named(random) -> None:
    labels = np.repeat(list("abcd"), 30)
    Y = 0.1 * random.standard_normal((120, 3))
    Y[labels == "b", 0] += 0.9
    Y[labels == "c", 0] -= 0.5
    Y[labels == "d", 0] += 0.08  # significant, but small compared with b
    high, none, constant = classes_apart(np.column_stack([Y[:, :2], np.ones(120)]), labels.tolist())
    assert [name for name, _ in high] == ["b", "c"]
    assert high[0][1] == pytest.approx(Y[labels == "b", 0].mean() - Y[labels != "b", 0].mean())
    assert none == constant == ()
    assert classes_apart(Y[:9], labels[:9].tolist()) == ((), (), ())  # one class


def test_classes_apart_equal_scipys_t_tests(random) -> None:
    """With unequal spreads; classes of fewer than 5 sentences, or with fewer than 5 others, are not tested."""
    for sizes in ({"a": 5, "b": 4, "c": 20, "d": 25, "e": 6}, {"a": 40, "b": 4}):
        rows = np.repeat(np.arange(len(sizes)), [*sizes.values()])
        labels = np.array([*sizes])[rows]
        tested = [name for name, size in sizes.items() if 5 <= size <= len(labels) - 5]
        for scale in (0.1, 1.0) * 10:
            means, spreads = random.random((2, len(sizes), 4))
            Y = means[rows] + scale * spreads[rows] * random.standard_normal((len(rows), 4))
            for column, named in zip(Y.T, classes_apart(Y, labels.tolist()), strict=True):
                found = []
                for name in tested:
                    own, others = column[labels == name], column[labels != name]
                    if stats.ttest_ind(own, others, equal_var=False).pvalue < 0.05 / (4 * len(tested)):
                        found.append((name, own.mean() - others.mean()))
                found.sort(key=lambda each: -abs(each[1]))
                expected = [each for each in found if 3 * abs(each[1]) >= abs(found[0][1])]
                assert [name for name, _ in named] == [name for name, _ in expected]
                assert [apart for _, apart in named] == pytest.approx([apart for _, apart in expected])


def test_row_ends_are_the_sentences_furthest_along_each_row() -> None:
    Y = np.array([[1.0, 0.0], [0.2, 0.9], [-1.0, 0.1], [0.5, 0.7]])
    (first, second) = row_ends(Y, ["plus", "other", "minus", "both"])
    assert first == (("plus", "both"), ("minus",))  # no sentence from the other side of 0
    assert second == (("other", "both"), ())

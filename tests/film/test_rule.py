"""Ranks by plain loops, rates by counting, probabilities by their definition; and figure 4 for any corpus."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from labkit.corpora import Labelled, Pairs, load
from labkit.film import rule
from labkit.film.rule import (
    _curves,
    curves,
    hard_log_loss,
    isotonic,
    judged_pairs,
    log_loss,
    logistic,
    mutual_ranks,
    mutual_rule,
    two_level,
)
from labkit.methods import METHODS


def rank_by_loops(Y: np.ndarray, a: int, b: int) -> int:
    """1 + how many others are closer to a than b is; of equals, those before b."""
    unit = Y / np.maximum(np.linalg.norm(Y, axis=1, keepdims=True), 1e-12)
    s = unit @ unit[a]
    return 1 + sum(1 for c in range(len(Y)) if c != a and (s[c] > s[b] + 1e-9 or (abs(s[c] - s[b]) <= 1e-9 and c < b)))


@pytest.fixture
def rows(random) -> np.ndarray:
    Y = random.standard_normal((60, 5))
    Y[[7, 31, 50]] = Y[3]  # copies: ties
    Y[11] = 0
    return Y


@pytest.fixture
def pairs(random) -> np.ndarray:
    found = random.integers(60, size=(300, 2))
    return np.vstack([found[found[:, 0] != found[:, 1]], [[3, 50], [50, 7], [11, 4], [31, 3]]])


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_ranks_by_plain_loops(rows, pairs, form, monkeypatch) -> None:
    monkeypatch.setattr(rule, "_ENTRIES", 60 * 7)  # several blocks
    found = mutual_ranks(form(rows), pairs, most=20)
    wanted = [min(21, max(rank_by_loops(rows, a, b), rank_by_loops(rows, b, a))) for a, b in pairs]
    assert found.tolist() == wanted


def test_copies_stand_in_row_order(rows) -> None:
    assert rank_by_loops(rows, 50, 31) == 3  # rows 3 and 7 are before it
    assert mutual_ranks(rows, np.array([[3, 7], [3, 50]])).tolist() == [1, 3]


def test_full_columns_of_sparse_rows_are_taken_apart_and_change_nothing(random, pairs) -> None:
    mixed = np.hstack([random.standard_normal((60, 4)), random.random((60, 50)) * (random.random((60, 50)) < 0.1)])
    assert (mutual_ranks(sparse.csr_matrix(mixed), pairs) == mutual_ranks(mixed, pairs)).all()


def test_single_precision_gives_the_same_ranks(rows, pairs) -> None:
    assert (mutual_ranks(rows.astype(np.float32), pairs) == mutual_ranks(rows, pairs)).all()


def test_a_row_paired_with_itself_is_nearest(rows) -> None:
    assert mutual_ranks(rows, np.array([[5, 5], [0, 11]])).tolist()[0] == 1


def test_two_rows_of_zeros_are_not_the_same(rows) -> None:
    rows[[0, 1]] = 0  # which stand first among what is equally far
    assert mutual_ranks(rows, np.array([[0, 1], [0, 11], [0, 5], [5, 0], [0, 0]]), most=3).tolist() == [4, 4, 4, 4, 1]
    assert mutual_ranks(rows[:12], np.array([[0, 1], [0, 11]])).tolist() == [56, 56]


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize(
    ("kind", "size"), [(np.float64, 1e300), (np.float64, 1e-200), (np.float32, 1e25), (np.float32, 1e-25)]
)
def test_rows_of_any_size_have_the_same_ranks(rows, pairs, form, kind, size) -> None:
    sizes = np.where(np.arange(len(rows)) % 2, size, 1)[:, None]  # beside rows of ordinary size
    expected = mutual_ranks(form(rows.astype(kind)), pairs)
    apart = ~np.isin(pairs, [3, 7, 31, 50]).all(axis=1)  # among copies rounding decides
    assert (mutual_ranks(form((rows * sizes).astype(kind)), pairs) == expected)[apart].all()


def test_a_device_that_is_none(rows, pairs) -> None:
    with pytest.raises(ValueError, match="device is 'xyz', which this machine has not"):
        mutual_ranks(rows, pairs, device="xyz")


def test_rates_by_counting(random) -> None:
    R, same = random.integers(1, 57, 500), random.random(500) < 0.4
    found = curves(R, same)
    for k in (1, 10, 36, 55):
        said = k >= R
        at = k - 1
        assert found.true_positive[at] == (said & same).sum()
        assert found.tpr[at] == pytest.approx((said & same).sum() / same.sum())
        assert found.fpr[at] == pytest.approx((said & ~same).sum() / (~same).sum())
        assert found.tnr[at] == pytest.approx((~said & ~same).sum() / (~same).sum())
        assert found.fnr[at] == pytest.approx((~said & same).sum() / same.sum())
        assert found.accuracy[at] == pytest.approx((said == same).mean())
    assert found.k.tolist() == list(range(1, 56))


def test_two_level_by_hand() -> None:
    fitted = curves(np.array([1, 1, 1, 9, 9]), np.array([1, 1, 0, 0, 1]), most=2)
    # k = 1: yes 3 pairs, 2 same -> 3/5; no 2 pairs, 1 same -> 2/4
    scored = curves(np.array([1, 9]), np.array([1, 0]), most=2)
    assert two_level(fitted, scored)[0] == pytest.approx(-(np.log(3 / 5) + np.log(1 - 2 / 4)) / 2)


def test_hard_cross_entropy_is_error_times_the_clip(random) -> None:
    R, same = random.integers(1, 57, 300), random.random(300) < 0.4
    found = hard_log_loss(curves(R, same), clip=1e-6)
    for k in (1, 20):
        wanted = log_loss((k >= R).astype(float), same, clip=1e-6)
        assert found[k - 1] == pytest.approx(wanted)


def test_probabilities_know_more_than_the_share_of_positives(random) -> None:
    same = random.random(2000) < 0.4
    R = np.clip(np.where(same, random.geometric(0.1, 2000), random.geometric(0.03, 2000)), 1, 56)
    cosines = same * 0.3 + random.normal(0, 0.3, 2000)
    fit, rest = slice(0, 1000), slice(1000, 2000)
    prior = log_loss(np.full(1000, same[fit].mean()), same[rest])
    by_rank = isotonic(R[fit], same[fit], R[rest])
    both = logistic(R[fit], cosines[fit], same[fit], R[rest], cosines[rest])
    assert log_loss(by_rank, same[rest]) < prior
    assert log_loss(both, same[rest]) < log_loss(by_rank, same[rest])
    order = np.argsort(R[rest])
    assert (np.diff(by_rank[order]) <= 1e-12).all()
    assert ((by_rank > 0) & (by_rank < 1)).all()


@pytest.mark.parametrize(
    ("pairs", "message"),
    [([(0, 99)], "rows 0 to 99"), ([0, 1], r"\(2,\)"), ([(0.5, 1)], "row numbers")],
)
def test_pairs_that_are_none(rows, pairs, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        mutual_ranks(rows, np.array(pairs))


def test_labels_of_one_kind_have_no_rates() -> None:
    with pytest.raises(ValueError, match="both kinds"):
        curves(np.array([1, 2]), np.array([1, 1]))


# --- the rule on a corpus ----------------------------------------------------------------------------------------


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

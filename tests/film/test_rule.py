"""Mutual ranks and rates against plain loops and counting; the rule of figure 4 on any corpus."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from labkit.corpora import Labelled, Pairs
from labkit.film.rule import curves, judged_pairs, mutual_ranks, mutual_rule, two_level


def rank_by_loops(Y: np.ndarray, a: int, b: int) -> int:
    """1 + the number of other rows closer to a than b; of ties, those before b count."""
    unit = Y / np.maximum(np.linalg.norm(Y, axis=1, keepdims=True), 1e-12)
    s = unit @ unit[a]
    return 1 + sum(1 for c in range(len(Y)) if c != a and (s[c] > s[b] + 1e-9 or (abs(s[c] - s[b]) <= 1e-9 and c < b)))


@pytest.fixture
def rows(random) -> np.ndarray:
    Y = random.standard_normal((60, 5))
    Y[[7, 31, 50]] = Y[3]  # copies, which are tied
    Y[11] = 0
    return Y


@pytest.fixture
def pairs(random) -> np.ndarray:
    found = random.integers(60, size=(300, 2))
    return np.vstack([found[found[:, 0] != found[:, 1]], [[3, 50], [50, 7], [11, 4], [31, 3]]])


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_ranks_equal_plain_loops(rows, pairs, form) -> None:
    found = mutual_ranks(form(rows), pairs, most=20)
    wanted = [min(21, max(rank_by_loops(rows, a, b), rank_by_loops(rows, b, a))) for a, b in pairs]
    assert found.tolist() == wanted


def test_two_rows_of_zeros_are_not_the_same(rows) -> None:
    rows[[0, 1]] = 0  # the first among equally distant rows
    assert mutual_ranks(rows, np.array([[0, 1], [0, 11], [0, 5], [5, 0], [0, 0]]), most=3).tolist() == [4, 4, 4, 4, 1]
    assert mutual_ranks(rows[:12], np.array([[0, 1], [0, 11]])).tolist() == [56, 56]


def test_rates_equal_counts_and_worked_example_of_two_levels(random) -> None:
    R, same = random.integers(1, 57, 500), random.random(500) < 0.4
    found = curves(R, same)
    for k in (1, 10, 36, 55):
        said = k >= R
        at = k - 1
        assert found.true_positive[at] == (said & same).sum()
        assert found.rates["tpr"][at] == pytest.approx((said & same).sum() / same.sum())
        assert found.rates["fpr"][at] == pytest.approx((said & ~same).sum() / (~same).sum())
        assert found.rates["tnr"][at] == pytest.approx((~said & ~same).sum() / (~same).sum())
        assert found.rates["fnr"][at] == pytest.approx((~said & same).sum() / same.sum())
        assert found.rates["accuracy"][at] == pytest.approx((said == same).mean())
    assert found.k.tolist() == list(range(1, 56))
    fitted = curves(np.array([1, 1, 1, 9, 9]), np.array([1, 1, 0, 0, 1]), most=2)
    # k = 1: of 3 accepted pairs 2 are the same, 3/5; of 2 rejected pairs 1 is the same, 2/4
    scored = curves(np.array([1, 9]), np.array([1, 0]), most=2)
    assert two_level(fitted, scored)[0] == pytest.approx(-(np.log(3 / 5) + np.log(1 - 2 / 4)) / 2)


# --- the rule on a corpus ----------------------------------------------------------------------------------------


def test_labelled_pairs_stay_unchanged_and_other_corpora_need_two_classes() -> None:
    part = Pairs(["a b", "c d"], ["e f", "a b"], [1, 0])
    texts, pairs, labels = judged_pairs(part)
    assert [(texts[a], texts[b]) for a, b in pairs] == [("a b", "e f"), ("c d", "a b")]
    assert labels.tolist() == [1, 0]
    with pytest.raises(ValueError, match="graded"):
        judged_pairs(Pairs(["a"], ["b"], [0.3], graded=True))
    for labels in ("xyz", "xxx"):
        with pytest.raises(ValueError, match="classes"):
            judged_pairs(Labelled(list("abc"), list(labels)))


def test_each_sentence_is_drawn_once_with_its_class_and_once_with_another() -> None:
    classes = [0] * 3 + list(range(1, 300))  # random pairs would miss the class of three
    part = Labelled([f"s{i}" for i in range(302)], [f"c{c}" for c in classes])
    texts, pairs, labels = judged_pairs(part, seed=1)
    same = np.array([classes[int(texts[a][1:])] == classes[int(texts[b][1:])] for a, b in pairs])
    np.testing.assert_array_equal(same, labels == 1)
    assert 2 <= same.sum() <= 3
    assert (~same).sum() == 3
    assert len({tuple(pair) for pair in pairs.tolist()}) == len(pairs)
    assert (pairs[:, 0] < pairs[:, 1]).all()


class Lines:
    """A method that encodes "12" as the unit vector at 12 degrees."""

    def encode(self, texts: list[str]) -> np.ndarray:
        angles = np.radians([float(text) for text in texts])
        return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def test_k_is_chosen_on_dev_and_not_on_test() -> None:
    """On dev, nearest neighbours are the same; on test, another sentence is between any two that are the same."""
    dev = [("0", "1", 1), ("20", "21", 1), ("40", "41", 1), ("0", "20", 0), ("1", "21", 0), ("20", "40", 0)]
    test = [("2", "6", 1), ("52", "56", 1), ("82", "86", 1), ("2", "52", 0), ("52", "82", 0), ("4", "54", 0)]
    test += [("54", "84", 0), ("4", "84", 0)]
    a, b, same = zip(*dev, *test, strict=True)
    corpus = Pairs(a, b, same, splits=["dev"] * len(dev) + ["test"] * len(test))
    found = mutual_rule(Lines(), corpus, most=5)
    assert found.chosen == 1
    assert int(np.argmin(found.soft)) + 1 == 2
    assert [row["tpr"] for row in found.rows()][:2] == [0, 1]
    assert [row["accuracy"] for row in found.rows()] == found.test.rates["accuracy"].tolist()
    assert found.hard[0] == pytest.approx(-np.log(1e-15) * (1 - found.test.rates["accuracy"][0]))

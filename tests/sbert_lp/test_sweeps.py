"""Sweeps against single transformations, judges against other libraries, and verdicts that respect noise."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.metrics import normalized_mutual_info_score

from labkit.arrays import unit
from labkit.corpora import Articles, Groups, Labelled, Pairs, Triplets, load
from labkit.evaluation import spearman_error
from labkit.method import Method
from labkit.methods import METHODS
from labkit.sbert_lp import LocalityPreserving
from labkit.sbert_lp.sweeps import (
    LP,
    RAW,
    Grid,
    Point,
    Tried,
    best,
    by_clusters,
    by_grades,
    compared,
    pair_cosines,
    sweep,
    transformed,
    tried,
)

RANDOM = np.random.default_rng(0)
CENTRES = RANDOM.standard_normal((4, 12)) * 0.8
LABELS = RANDOM.integers(0, 4, 150)
ROWS = (CENTRES[LABELS] + RANDOM.standard_normal((150, 12)) + 0.3).astype(np.float32)
PAIRS = np.argwhere(np.triu(np.ones((150, 150)), 1))  # each pair once: repeated pairs would tie, up to rounding
A, B = PAIRS[RANDOM.permutation(len(PAIRS))[:200]].T
GOLD = (LABELS[A] == LABELS[B]) + RANDOM.uniform(0, 1, 200)
SMALL = Grid(neighbours=(6, 20), dimensions=(2, 5), removed=(1, 3))
JUDGE = by_grades(A, B, GOLD)


@pytest.fixture(scope="module")
def points() -> tuple[Point, ...]:
    return sweep(ROWS, JUDGE, SMALL)


def test_against_the_transformations_themselves(points: tuple[Point, ...]) -> None:
    found = {(point.transform, point.neighbours, point.size): point.value for point in points}
    assert found[RAW, 0, 0] == pytest.approx(JUDGE(ROWS))
    assert found["pca", 0, 5] == pytest.approx(JUDGE(PCA(5).fit_transform(ROWS)), abs=1e-4)
    assert found["whitening", 0, 5] == pytest.approx(JUDGE(PCA(5, whiten=True).fit_transform(ROWS)), abs=1e-4)
    model = LocalityPreserving(n_neighbors=20, n_components=5, random_state=0)
    assert found[LP, 20, 5] == pytest.approx(JUDGE(model.fit_transform(unit(ROWS))), abs=1e-4)


def test_sizes_above_the_number_of_rows_are_left_out() -> None:
    few = sweep(ROWS[:10], lambda rows: float(rows.shape[1]), Grid((3, 10), (2, 8, 9, 40), (1, 50)))
    assert {(point.transform, point.size) for point in few} == {
        (RAW, 0), ("pca", 2), ("pca", 8), ("whitening", 2), ("whitening", 8), ("all-but-the-top", 1), (LP, 2), (LP, 8),
    }  # fmt: skip


def test_judges_against_other_libraries() -> None:
    side = unit(ROWS.astype(float))
    plain = [side[i] @ side[j] for i, j in zip(A, B, strict=True)]
    np.testing.assert_allclose(pair_cosines(ROWS, A, B), plain)
    assert JUDGE(ROWS) == pytest.approx(spearmanr(plain, GOLD).statistic)
    names = [f"class {label}" for label in LABELS]
    found = KMeans(4, n_init=2, random_state=3).fit_predict(ROWS.astype(float))
    assert by_clusters(names, seed=3, restarts=2)(ROWS) == pytest.approx(normalized_mutual_info_score(LABELS, found))


# --- data for the comparison -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["relatedness", "captions", "articles"])
def test_at_most_this_many_sentences_of_the_split_are_used(name: str) -> None:
    corpus = load(name)
    told = compared(corpus, split="dev", most=90)
    assert 60 <= len(told.sentences) <= 90
    assert len(set(told.sentences)) == len(told.sentences)
    texts = [getattr(told.rows, field) for field in told.rows.TEXTS]
    for column, places in zip(texts, told.places.T.tolist(), strict=True):
        assert [told.sentences[place] for place in places] == list(column)
    if not isinstance(corpus, Articles):
        assert set(told.sentences) <= set(corpus.part("dev").sentences())
    random = np.random.default_rng(0).standard_normal((len(told.sentences), 5))
    assert -1 <= told.judge()(random) <= 1


def test_pairs_are_judged_by_the_order_of_their_cosines() -> None:
    told = compared(Pairs(["a", "c", "e"], ["b", "d", "f"], [5, 3, 1], graded=True), split="train")
    angles = {"a": 0, "b": 0.1, "c": 0, "d": 0.5, "e": 0, "f": 1.2}
    rows = np.array([[np.cos(angles[text]), np.sin(angles[text])] for text in told.sentences])
    assert told.judge()(rows) == pytest.approx(1)
    assert told.judge()(rows[::-1]) == pytest.approx(-1)
    assert told.noise(0.6) == spearman_error(0.6, 3)


def test_classes_are_judged_by_the_nearest_row_and_triplets_by_their_order() -> None:
    told = compared(Labelled(["a", "b", "c", "d"], ["x", "x", "y", "y"]), split="train")
    apart = np.array([[1, 0], [1, 0.1], [0, 1], [0.1, 1]])
    assert told.judge()(apart) == 1
    assert told.judge()(apart[[0, 2, 1, 3]]) == 0
    three = compared(Triplets(["a", "b"], ["b", "a"], ["c", "c"]), split="train")
    assert three.sentences == ["a", "b", "c"]
    assert three.judge()(np.array([[1, 0], [1, 0.1], [0, 1]])) == 1
    assert three.judge()(np.array([[1, 0], [0, 1], [0.5, 1]])) == 0
    assert three.noise(0.5) == pytest.approx(0.5 / np.sqrt(2))


def test_groups_stay_whole() -> None:
    groups = Groups([f"s{row}" for row in range(12)], [str(row // 4) for row in range(12)])
    told = compared(groups, split="train", most=9)
    assert isinstance(told.rows, Groups)
    assert told.rows.groups == ("0",) * 4 + ("1",) * 4
    assert len(compared(groups, split="train", most=4).sentences) == 4


def test_rows_of_unknown_sentences_are_left_out() -> None:
    told = compared(Pairs(["a", "c"], ["b", "d"], [1, 0]), split="train")
    rows = np.eye(4)
    rows[told.sentences.index("c")] = 0
    left, vectors = told.known(rows)
    assert left.sentences == ["a", "b"]
    np.testing.assert_array_equal(vectors, rows[[told.sentences.index("a"), told.sentences.index("b")]])
    same, all_of_them = told.known(np.eye(4))
    assert same is told
    assert len(all_of_them) == 4
    with pytest.raises(ValueError, match="vectors"):
        told.known(np.zeros((4, 2)))


# --- chosen on dev, scored on test -------------------------------------------------------------------------------


GRID = Grid(neighbours=(5, 10), dimensions=(4, 8), removed=(1,))


@pytest.fixture(scope="module")
def base() -> Method:
    method = METHODS["lsa"](dimension=20)
    method.fit(load("relatedness"))
    return method


def test_sizes_are_chosen_on_dev_and_scored_on_test(base: Method) -> None:
    corpus = load("relatedness")
    found = tried(base, corpus, GRID, most=120)
    dev, test = (compared(corpus, split=split, most=120) for split in ("dev", "test"))
    rows = unit(base.encode(dev.sentences))
    assert found.points == sweep(rows, dev.judge(), GRID)
    for point, value in zip(found.chosen, found.test, strict=True):
        assert point == best(found.points, point.transform)
        assert value == pytest.approx(test.judge()(transformed(unit(base.encode(test.sentences)), point)))
    assert [point.transform for point in found.chosen] == ["raw", "pca", "whitening", "all-but-the-top", "lp"]
    assert found.noise == spearman_error(found.test[0], len(test.rows))


def a_try(raw: float, lp: float) -> Tried:
    points = (Point("raw", 0.5), Point("lp", 0.6, 8, 5))
    return Tried("Hit@1", points, points, (raw, lp), 0.05)


@pytest.mark.parametrize(
    ("raw", "lp", "said"), [(0.5, 0.6, "helps"), (0.5, 0.4, "hurts"), (0.5, 0.53, "no difference")]
)
def test_small_differences_are_no_difference(raw: float, lp: float, said: str) -> None:
    verdict = a_try(raw, lp).verdict
    assert said in verdict
    assert f"{lp:.3f} against {raw:.3f}" in verdict

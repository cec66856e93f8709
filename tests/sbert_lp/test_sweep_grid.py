"""Sweeps: every point is what doing it once by itself gives; the judges against plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.metrics import normalized_mutual_info_score
from sklearn.neighbors import KNeighborsClassifier

from labkit.evaluation import knn_accuracy
from labkit.evaluation.inputs import unit
from labkit.sbert_lp import LocalityPreserving
from labkit.sbert_lp.sweeps import (
    LP,
    RAW,
    TRANSFORMS,
    Grid,
    Point,
    best,
    by_clusters,
    by_grades,
    cosines,
    sweep,
    transformed,
)

RANDOM = np.random.default_rng(0)
CENTRES = RANDOM.standard_normal((4, 12)) * 0.8
LABELS = RANDOM.integers(0, 4, 150)
ROWS = (CENTRES[LABELS] + RANDOM.standard_normal((150, 12)) + 0.3).astype(np.float32)
PAIRS = np.argwhere(np.triu(np.ones((150, 150)), 1))  # each once: equal pairs would tie but for rounding
A, B = PAIRS[RANDOM.permutation(len(PAIRS))[:200]].T
GOLD = (LABELS[A] == LABELS[B]) + RANDOM.uniform(0, 1, 200)
GRID = Grid(neighbours=(6, 20), dimensions=(2, 5), removed=(1, 3))
JUDGE = by_grades(A, B, GOLD)


@pytest.fixture(scope="module")
def points() -> tuple[Point, ...]:
    return sweep(ROWS, JUDGE, GRID)


def test_every_way_once(points: tuple[Point, ...]) -> None:
    assert [point.transform for point in points] == [
        RAW,
        *["pca"] * 2,
        *["whitening"] * 2,
        *["all-but-the-top"] * 2,
        *[LP] * 4,
    ]
    assert {(point.neighbours, point.size) for point in points if point.transform == LP} == {
        (6, 2),
        (6, 5),
        (20, 2),
        (20, 5),
    }
    assert {point.transform for point in points} == set(TRANSFORMS)


def test_a_point_is_what_its_transformation_is_worth(points: tuple[Point, ...]) -> None:
    for point in points:
        # the first p columns of more are what p columns alone are, so that one fit serves all p
        assert JUDGE(transformed(ROWS, point)) == pytest.approx(point.value, abs=1e-4), point


def test_against_the_transformations_themselves(points: tuple[Point, ...]) -> None:
    found = {(point.transform, point.neighbours, point.size): point.value for point in points}
    assert found[RAW, 0, 0] == pytest.approx(JUDGE(ROWS))
    assert found["pca", 0, 5] == pytest.approx(JUDGE(PCA(5).fit_transform(ROWS)), abs=1e-4)
    assert found["whitening", 0, 5] == pytest.approx(JUDGE(PCA(5, whiten=True).fit_transform(ROWS)), abs=1e-4)
    model = LocalityPreserving(n_neighbors=20, n_components=5, random_state=0)
    assert found[LP, 20, 5] == pytest.approx(JUDGE(model.fit_transform(unit(ROWS))), abs=1e-4)


def test_what_rows_are_too_few_for_is_left_out() -> None:
    few = sweep(ROWS[:10], lambda rows: float(rows.shape[1]), Grid((3, 10), (2, 8, 9, 40), (1, 50)))
    assert {(point.transform, point.size) for point in few} == {
        (RAW, 0), ("pca", 2), ("pca", 8), ("whitening", 2), ("whitening", 8), ("all-but-the-top", 1), (LP, 2), (LP, 8),
    }  # fmt: skip


def test_the_best_of_a_kind() -> None:
    points = [Point(LP, 0.5, 2, 6), Point(LP, 0.7, 5, 6), Point(LP, 0.7, 2, 20), Point(RAW, 0.9)]
    assert best(points, LP) == points[1]
    assert best(points, RAW).value == 0.9
    assert str(points[1]) == "lp k=6 p=5: 0.7000"
    with pytest.raises(ValueError, match="points has none of transform 'pca', expected one of raw, pca"):
        best(points, "pca")


def test_judges_against_other_libraries() -> None:
    side = unit(ROWS.astype(float))
    plain = [side[i] @ side[j] for i, j in zip(A, B, strict=True)]
    np.testing.assert_allclose(cosines(ROWS, A, B), plain)
    assert JUDGE(ROWS) == pytest.approx(spearmanr(plain, GOLD).statistic)
    names = [f"class {label}" for label in LABELS]
    base, asked = list(range(100)), list(range(100, 150))
    one = KNeighborsClassifier(1).fit(ROWS[base], LABELS[base]).score(ROWS[asked], LABELS[asked])
    assert knn_accuracy(ROWS[base], LABELS[base], ROWS[asked], LABELS[asked], 1) == pytest.approx(one)
    found = KMeans(4, n_init=2, random_state=3).fit_predict(ROWS.astype(float))
    assert by_clusters(names, seed=3, restarts=2)(ROWS) == pytest.approx(normalized_mutual_info_score(LABELS, found))
    assert by_clusters(names, "purity", seed=3)(ROWS) != by_clusters(names, "ari", seed=3)(ROWS)


def test_zeros_are_as_near_to_one_as_to_another() -> None:
    assert cosines(np.array([[0.0, 0.0], [1.0, 2.0]]), [0, 1], [1, 1]).tolist() == pytest.approx([0, 1])


def test_progress_says_where_it_is() -> None:
    seen: list[str] = []
    sweep(ROWS, JUDGE, Grid((6,), (2,), (1,)), progress=lambda done, total, what: seen.append(what))
    assert seen == ["pca 2", "whitening 2", "all-but-the-top 1", "locality preserving, 6 neighbours"]


def test_what_cannot_be_swept() -> None:
    from scipy import sparse

    with pytest.raises(ValueError, match="rows is sparse, expected a dense matrix; take LSA"):
        sweep(sparse.csr_array(ROWS), JUDGE)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="rows holds 1 NaN"):
        sweep(np.where(np.arange(150)[:, None] + np.zeros(12) == 3, np.nan, ROWS)[:4, :1], JUDGE)

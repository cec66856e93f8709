"""`project`: all methods on difficult data, PCA against a plain SVD, quality by definition, UMAP with a stand-in."""

from __future__ import annotations

import io
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.manifold import trustworthiness
from sklearn.neighbors import NearestNeighbors

from labkit.arrays import unit
from labkit.corpora import Labelled
from labkit.projection import arrange, place, project
from labkit.projection import picture as quality_module
from labkit.projection.picture import atlas_bytes, quality, trust

QUICK = ("pca", "tsne", "lle")


def clouds(count: int = 30) -> np.ndarray:
    random = np.random.default_rng(0)
    return (random.standard_normal((3, 1, 20)) + random.standard_normal((3, count, 20))).reshape(-1, 20)


def test_pca_is_the_svd_of_the_centred_rows() -> None:
    rows = clouds() + 5
    u, sigma, _ = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
    for given in (rows, sparse.csr_array(rows)):
        for dimensions in (2, 3):
            found = project(given, "pca", dimensions)
            wanted = u[:, :dimensions] * sigma[:dimensions]
            np.testing.assert_allclose(np.abs(found.points), np.abs(wanted), rtol=1e-3, atol=1e-3)
            assert found.shown == pytest.approx((sigma[:dimensions] ** 2).sum() / (sigma**2).sum(), rel=1e-4)
            assert found.quality.shown == found.shown


@pytest.mark.parametrize("method", QUICK)
def test_same_seed_same_picture_for_dense_and_sparse(method: str) -> None:
    rows = clouds(15)
    for given in (rows.astype(np.float32), sparse.csr_array(np.maximum(rows, 0))):
        one, two = (project(given, method, seed=1) for _ in range(2))
        assert one.points.shape == (45, 2)
        assert one.points.dtype == np.float32
        assert one.points.tobytes() == two.points.tobytes()
        assert np.isfinite(one.points).all()
        assert one.method == method
        assert one.settings["seed"] == 1
        assert 0.4 < one.quality.trustworthiness <= 1


@pytest.mark.parametrize("method", QUICK)
def test_copies_zero_rows_and_constant_columns(method: str) -> None:
    rows = np.concatenate([clouds(), np.zeros((5, 20)), np.repeat(clouds()[:1], 60, axis=0)])
    rows = np.concatenate([rows, np.ones((len(rows), 1))], axis=1)
    found = project(rows, method)
    assert np.isfinite(found.points).all()
    copies = found.points[95:]
    spread = np.linalg.norm(found.points - found.points.mean(axis=0), axis=1).mean()
    assert np.linalg.norm(copies - copies.mean(axis=0), axis=1).mean() < 0.6 * spread
    assert np.isfinite(found.quality.trustworthiness)


@pytest.mark.parametrize("method", QUICK)
def test_few_points_and_one_dimension(method: str) -> None:
    found = project(np.array([[1.0], [2.0], [3.0], [0.0], [5.0]]), method)
    assert found.points.shape == (5, 2)
    assert np.isfinite(found.points).all()
    assert found.quality.k == 2
    assert project(np.eye(4), method).quality.k == 1


def test_identical_rows() -> None:
    same = np.ones((6, 3))
    found = project(same, "pca")
    assert not found.points.any()
    assert found.shown is None
    for method in ("tsne", "umap", "lle"):
        for given in (same, sparse.csr_array(same)):
            with pytest.raises(ValueError, match="embeddings"):
                project(given, method)


def test_lle_adds_neighbours_until_its_graph_is_connected() -> None:
    """In three distant clouds, 5 neighbours are all of the same cloud, and the picture would be three dots."""
    rows = clouds() + 1000 * np.repeat(np.eye(3), 30, axis=0) @ np.eye(3, 20)
    found = project(rows, "lle", neighbours=5)
    assert found.settings["parts"] == 1
    assert found.settings["neighbours"] > 30
    assert project(clouds(), "lle", neighbours=12).settings["neighbours"] == 12


def test_trust_by_hand_averages_to_the_preserved_share() -> None:
    line, picture = np.array([[0.0], [1.0], [3.0], [7.0]]), np.array([[0.0], [1.0], [7.0], [6.0]])
    assert trust(line, picture, 1).tolist() == [1, 1, 0, 1]
    assert trust(line, picture, 2).tolist() == [0.5, 0.5, 0.5, 1]
    rows = np.random.default_rng(0).standard_normal((700, 6))
    found = project(rows, "pca")
    shares = trust(rows, found.points)
    assert shares.mean() == pytest.approx(found.quality.preserved, abs=1e-12)
    for row in (0, 333):  # against plain sets
        near = [np.argsort(np.linalg.norm(x - x[row], axis=1))[1:6] for x in (rows, found.points.astype(float))]
        assert shares[row] == len(set(near[0]) & set(near[1])) / 5
    with pytest.raises(ValueError, match="points.*3.*4"):
        trust(line, picture[1:])


def test_quality_is_measured_on_a_sample_above_a_few_thousand_points(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = clouds()
    whole = quality(rows, rows[:, :2])
    assert (whole.points, whole.of, whole.k) == (90, 90, 5)
    assert whole.trustworthiness == trustworthiness(rows, rows[:, :2], n_neighbors=5)
    monkeypatch.setattr(quality_module, "SAMPLE", 50)
    part, same, other = (quality(rows, rows[:, :2], seed=seed) for seed in (0, 0, 1))
    assert (part.points, part.of) == (50, 90)
    assert part == same != other
    assert "50 of 90" in str(part)


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_the_file_for_embedding_atlas_has_the_neighbours_by_cosine(convert: type) -> None:
    pandas = pytest.importorskip("pandas")
    rows = unit(np.random.default_rng(0).standard_normal((30, 6)).astype(np.float32))
    shown = Labelled([f"sentence {row}" for row in range(30)], [f"class {row % 3}" for row in range(30)])
    picture = project(rows, measure=False)
    frame = pandas.read_parquet(io.BytesIO(atlas_bytes(picture, shown, convert(rows), k=4)))
    assert frame["text"].tolist() == list(shown.texts)
    assert frame["label"].tolist() == list(shown.labels)
    np.testing.assert_array_equal(frame[["x", "y"]].to_numpy(), picture.points)
    cosines = rows @ rows.T
    for row, found in enumerate(frame["neighbors"]):
        others = sorted((other for other in range(30) if other != row), key=lambda other: -cosines[row, other])
        assert found["ids"].tolist() == others[:4]
        np.testing.assert_allclose(found["distances"], 1 - cosines[row, others[:4]], atol=1e-6)


# --- UMAP's calls, with a stand-in because the real one takes most of a minute to compile ------------------------


def far_clouds(count: int = 20) -> np.ndarray:
    random = np.random.default_rng(0)
    return (3 * random.standard_normal((3, 1, 20)) + random.standard_normal((3, count, 20))).reshape(-1, 20)


class StandIn:
    """A UMAP that records its settings and how many run at once, and returns its start."""

    made: list[Any] = []  # noqa: RUF012
    inside = 0
    most = 0

    def __init__(self, **settings: Any) -> None:
        self.settings, self.min_dist = settings, 0.1
        StandIn.made.append(self)

    def fit_transform(self, rows: np.ndarray) -> np.ndarray:
        StandIn.inside += 1
        StandIn.most = max(StandIn.most, StandIn.inside)
        time.sleep(0.05)
        StandIn.inside -= 1
        self.rows = rows
        return self.settings["init"]


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> type[StandIn]:
    module = ModuleType("umap")
    module.UMAP, module.__spec__ = StandIn, ModuleSpec("umap", None)
    monkeypatch.setitem(sys.modules, "umap", module)
    StandIn.made, StandIn.inside, StandIn.most = [], 0, 0
    return StandIn


def test_umap_never_runs_concurrently(stand_in: type[StandIn]) -> None:
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda _: project(far_clouds(), "umap"), range(4)))
    assert len(stand_in.made) == 4
    assert stand_in.most == 1


def test_umap_gets_exact_neighbours_of_many_rows(stand_in: type[StandIn], monkeypatch: pytest.MonkeyPatch) -> None:
    """With UMAP's own dtypes, for which it is compiled. For few or too many rows, it finds neighbours itself."""
    project(far_clouds(), "umap", neighbours=7, measure=False)
    assert stand_in.made[0].settings["precomputed_knn"] == (None, None, None)
    monkeypatch.setattr(arrange, "APPROXIMATE", 60)
    project(far_clouds(), "umap", neighbours=7, measure=False)
    found, distances = stand_in.made[1].settings["precomputed_knn"]
    assert (found.dtype, distances.dtype) == (np.int32, np.float32)
    wanted = NearestNeighbors(n_neighbors=7).fit(far_clouds()).kneighbors(far_clouds())
    np.testing.assert_array_equal(found, wanted[1])
    np.testing.assert_allclose(distances, wanted[0], atol=1e-5)
    monkeypatch.setattr(arrange, "EXACT", 59)
    project(far_clouds(), "umap", neighbours=7, measure=False)
    assert stand_in.made[2].settings["precomputed_knn"] == (None, None, None)


@pytest.mark.weekly  # takes most of a minute to compile
def test_real_umap() -> None:
    rows = np.concatenate([far_clouds(), np.repeat(far_clouds()[:1], 10, axis=0), np.zeros((3, 20))])
    one, two = (project(rows, "umap", seed=1) for _ in range(2))
    assert one.points.tobytes() == two.points.tobytes()
    assert one.quality.trustworthiness > 0.8
    assert project(rows, "umap", 3, measure=False).points.shape == (73, 3)
    assert project(np.eye(4), "umap", measure=False).points.shape == (4, 2)
    np.testing.assert_allclose(place(one, rows, rows[:2]).points, one.points[:2], atol=1e-4)
    many = np.repeat(far_clouds(20), 80, axis=0) + np.random.default_rng(0).standard_normal((4_800, 20))
    assert project(many, "umap").quality.trustworthiness > 0.8
    sparsely = project(sparse.csr_array(np.maximum(rows, 0)), "umap", measure=False)
    assert np.isfinite(sparsely.points).all()


def test_other_rows_are_placed_among_landmarks() -> None:
    rows = clouds(100)
    found = project(rows, "tsne", landmarks=90, seed=3)
    chosen = np.sort(np.random.default_rng(3).choice(300, 90, replace=False))
    alone = project(rows[chosen], "tsne", seed=3)
    np.testing.assert_array_equal(found.points[chosen], alone.points)
    others = np.setdiff1d(np.arange(300), chosen)
    np.testing.assert_allclose(found.points[others], place(alone, rows[chosen], rows[others]).points, atol=1e-5)
    assert (found.settings["landmarks"], found.quality.of, found.kl) == (90, 300, None)
    assert found.quality.trustworthiness == pytest.approx(trustworthiness(rows, found.points, n_neighbors=5))
    assert "landmarks" not in project(rows, "tsne", landmarks=300).settings  # as many landmarks as rows


@pytest.mark.parametrize(
    ("rows", "settings", "argument"),
    [
        (np.eye(3), {}, "embeddings"),
        (np.array([[1.0, 2], [1, 2], [np.nan, 0], [3, 1]]), {}, "row 2"),
        (np.eye(5), {"method": "mds"}, "method"),
        (np.eye(5), {"method": "tsne", "dimensions": 3}, "dimensions"),
        (np.eye(5), {"start": np.zeros((5, 2))}, "start"),
        (np.eye(5), {"method": "tsne", "start": np.zeros((4, 2))}, "start"),
        (np.eye(5), {"method": "lle", "neighbours": 1}, "neighbours"),
        (np.eye(5), {"method": "tsne", "perplexity": 0.5}, "perplexity"),
        (clouds(), {"method": "tsne", "landmarks": 3}, "landmarks"),
    ],
)
def test_invalid_arguments(rows: object, settings: dict, argument: str) -> None:
    with pytest.raises(ValueError, match=argument):
        project(rows, **settings)

"""UMAP's wiring with a stand-in of its interface, since the real one compiles for most of a minute; and the real one,
where LABKIT_SLOW is set."""

from __future__ import annotations

import os
import sys
import threading
import time
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from labkit.compiled import cache_compiled
from labkit.projection import manifold, place, project
from labkit.sbert_lp.graph import neighbour_graph


def clouds(count: int = 20) -> np.ndarray:
    random = np.random.default_rng(0)
    return (3 * random.standard_normal((3, 1, 20)) + random.standard_normal((3, count, 20))).reshape(-1, 20)


class StandIn:
    """Notes what it is given, returns its start, and notices company."""

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
    module.UMAP = StandIn  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "umap", module)
    StandIn.made, StandIn.inside, StandIn.most = [], 0, 0
    return StandIn


def test_never_two_at_once(stand_in: type[StandIn]) -> None:
    threads = [threading.Thread(target=project, args=(clouds(), "umap")) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(stand_in.made) == 4
    assert stand_in.most == 1


def test_nor_umap_beside_pynndescent(stand_in: type[StandIn], monkeypatch: pytest.MonkeyPatch) -> None:
    """The neighbours of very many rows come from code that is compiled alike."""

    def company(rows: np.ndarray, n_neighbors: int, **_: Any) -> SimpleNamespace:
        StandIn(init=None).fit_transform(rows)
        following = np.arange(len(rows))[:, None] + np.arange(n_neighbors)
        return SimpleNamespace(neighbor_graph=(following % len(rows), None))

    monkeypatch.setitem(sys.modules, "pynndescent", SimpleNamespace(NNDescent=company))
    wanted = [lambda: project(clouds(), "umap"), lambda: neighbour_graph(clouds(), 5, exact_up_to=10, seed=0)]
    threads = [threading.Thread(target=call) for call in wanted * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(stand_in.made) == 4
    assert stand_in.most == 1


def test_torch_computes_with_as_many_threads_as_before(
    stand_in: type[StandIn], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = torch.get_num_threads()

    def meddle(self: StandIn, rows: np.ndarray) -> np.ndarray:
        torch.set_num_threads(before + 1)
        return self.settings["init"]

    monkeypatch.setattr(stand_in, "fit_transform", meddle)
    project(clouds(), "umap", measure=False)
    assert torch.get_num_threads() == before


def test_a_failure_lets_the_next_one_in(stand_in: type[StandIn], monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(sys.modules["umap"], "UMAP", SimpleNamespace())
        with pytest.raises(TypeError):
            project(clouds(), "umap")
    assert project(clouds(), "umap", measure=False).name == "UMAP"


@pytest.mark.parametrize("dimensions", [2, 3])
def test_settings_reach_it(stand_in: type[StandIn], dimensions: int) -> None:
    found = project(clouds(), "umap", dimensions, seed=7, neighbours=9)
    given = stand_in.made[0].settings
    assert (given["n_neighbors"], given["n_components"], given["random_state"], given["n_jobs"]) == (
        9,
        dimensions,
        7,
        1,
    )
    assert found.settings == {"dimensions": dimensions, "seed": 7, "neighbours": 9, "min_distance": 0.1}
    assert found.points.shape == (60, dimensions)
    assert 0.5 < found.quality.trustworthiness <= 1  # of PCA's picture, from which it starts
    few = project(clouds(2), "umap", neighbours=15, measure=False)
    assert few.settings["neighbours"] == 5


def test_a_start_is_where_it_starts(stand_in: type[StandIn]) -> None:
    start = np.random.default_rng(1).standard_normal((60, 2))
    project(clouds(), "umap", start=start, measure=False)
    given = stand_in.made[0].settings["init"]
    centred = start - start.mean(axis=0)
    np.testing.assert_allclose(given, 10 * centred / np.abs(centred).max(), atol=0.01)


def test_neighbours_of_many_are_found_here(stand_in: type[StandIn], monkeypatch: pytest.MonkeyPatch) -> None:
    """Exactly, and as numbers of UMAP's own kinds, for which it has compiled already; of few it finds them itself."""
    project(clouds(), "umap", neighbours=7, measure=False)
    assert stand_in.made[0].settings["precomputed_knn"] == (None, None, None)
    monkeypatch.setattr(manifold, "APPROXIMATE", 60)
    project(clouds(), "umap", neighbours=7, measure=False)
    found, distances = stand_in.made[1].settings["precomputed_knn"]
    assert (found.dtype, distances.dtype) == (np.int32, np.float32)
    wanted = NearestNeighbors(n_neighbors=7).fit(clouds()).kneighbors(clouds())
    np.testing.assert_array_equal(found, wanted[1])
    np.testing.assert_allclose(distances, wanted[0], atol=1e-5)
    monkeypatch.setattr(manifold, "EXACT", 59)
    project(clouds(), "umap", neighbours=7, measure=False)
    assert stand_in.made[2].settings["precomputed_knn"] == (None, None, None)


def test_what_is_compiled_is_kept() -> None:
    kept: list[str] = []

    def nowhere() -> None:
        raise RuntimeError("no place to write")

    first, second = (
        SimpleNamespace(enable_caching=lambda: kept.append("first")),
        SimpleNamespace(enable_caching=nowhere),
    )
    package = SimpleNamespace(part=SimpleNamespace(first=first, second=second))
    cache_compiled(package, "part.gone", "part.second", "part.first")  # type: ignore[arg-type]
    assert kept == ["first"]


@pytest.mark.parametrize("name", manifold.COMPILED)
def test_what_is_to_be_kept_is_there(name: str) -> None:
    """In the release that is installed; read, since to import it takes seconds."""
    module, function = name.split(".")
    source = Path(str(find_spec("umap").submodule_search_locations[0])) / f"{module}.py"  # type: ignore[union-attr, index]
    text = source.read_text("utf-8")
    assert f"def {function}(" in text or f"{function} = numba.njit(" in text


def test_sparse_rows_go_by_their_strongest_directions(stand_in: type[StandIn]) -> None:
    project(sparse.random_array((70, 200), density=0.1, rng=0, format="csr"), "umap", measure=False)
    assert stand_in.made[0].rows.shape == (70, 50)


@pytest.mark.skipif(not os.environ.get("LABKIT_SLOW"), reason="UMAP compiles for most of a minute; set LABKIT_SLOW=1")
def test_the_real_one() -> None:
    rows = np.concatenate([clouds(), np.repeat(clouds()[:1], 10, axis=0), np.zeros((3, 20))])
    one, two = (project(rows, "umap", seed=1) for _ in range(2))
    assert one.points.tobytes() == two.points.tobytes()
    assert one.quality.trustworthiness > 0.8
    assert project(rows, "umap", 3, measure=False).points.shape == (73, 3)
    assert project(np.eye(4), "umap", measure=False).points.shape == (4, 2)
    np.testing.assert_allclose(place(one, rows, rows[:2]).points, one.points[:2], atol=1e-4)
    many = np.repeat(clouds(20), 80, axis=0) + np.random.default_rng(0).standard_normal((4_800, 20))
    assert project(many, "umap").quality.trustworthiness > 0.8
    sparsely = project(sparse.csr_array(np.maximum(rows, 0)), "umap", measure=False)
    assert np.isfinite(sparsely.points).all()

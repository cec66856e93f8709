"""Neighbours in shards against brute force; the index reports its recall."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from labkit.corpora.shards import Part, shards_in, tables
from labkit.evaluation import neighbour_shards, neighbours
from labkit.evaluation.neighbour_shards import write_neighbours
from labkit.progress import collected
from labkit.scale import WORK


def saved(path: Path, rows: int = 400, *, seed: int = 0, dimension: int = 6, kind: str = "float32") -> Path:
    np.save(path, np.random.default_rng(seed).standard_normal((rows, dimension)).astype(kind))
    return path


def brute(queries: np.ndarray, base: np.ndarray, count: int, *, themselves: bool) -> tuple[np.ndarray, np.ndarray]:
    a, b = (each.astype(np.float64) for each in (queries, base))
    a, b = (each / np.maximum(np.linalg.norm(each, axis=1, keepdims=True), 1e-12) for each in (a, b))
    cosines = a @ b.T
    if themselves:
        np.fill_diagonal(cosines, -np.inf)
    near = np.argsort(-cosines, axis=1, kind="stable")[:, :count]
    return near, np.take_along_axis(cosines, near, 1)


def answers(folder: Path) -> tuple[np.ndarray, ...]:
    rows = [row for path in shards_in(folder) for table in tables(Part(str(path))) for row in table.to_pylist()]
    return tuple(np.array([row[name] for row in rows]) for name in ("row", "neighbours", "cosines"))


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("ASKED", 150), ("TILE", 70), ("TOGETHER", 40)):
        monkeypatch.setattr(neighbour_shards, name, value)


@pytest.mark.parametrize(("kind", "count"), [("float32", 1), ("float32", 399), ("float16", 10)])
def test_neighbours_within_one_file(tmp_path: Path, small: None, kind: str, count: int) -> None:
    base = saved(tmp_path / "base.npy", kind=kind)
    write_neighbours(base, tmp_path / "out", count=count)
    rows, near, cosines = answers(tmp_path / "out")
    wanted, far = brute(np.load(base), np.load(base), count, themselves=True)
    assert rows.tolist() == list(range(400))
    assert (near == wanted).mean() > 0.999  # almost equal cosines may swap places
    assert all(len(set(row)) == count and number not in row for number, row in enumerate(near.tolist()))
    np.testing.assert_allclose(cosines, far, atol=2e-6)


def test_separate_queries(tmp_path: Path, small: None) -> None:
    base, queries = saved(tmp_path / "base.npy"), saved(tmp_path / "queries.npy", 33, seed=1)
    made = write_neighbours(base, tmp_path / "out", queries=queries, count=7)
    wanted, _ = brute(np.load(queries), np.load(base), 7, themselves=False)
    np.testing.assert_array_equal(answers(tmp_path / "out")[1], wanted)
    assert {key: made[key] for key in ("nearest", "index", "base", "rows")} == {
        "nearest": 7, "index": "exact", "base": 400, "rows": 33
    }  # fmt: skip


def test_among_ties_the_earlier_row_comes_first(tmp_path: Path, small: None) -> None:
    """Of its many copies, a row has the first ones, whichever tile they are in."""
    rows = np.eye(6, dtype=np.float32)[np.random.default_rng(0).integers(0, 6, 400)]
    np.save(tmp_path / "base.npy", rows)
    write_neighbours(tmp_path / "base.npy", tmp_path / "out", count=20)
    _, near, _ = answers(tmp_path / "out")
    np.testing.assert_array_equal(near, brute(rows, rows, 20, themselves=True)[0])
    few = np.array([[1, 0], [0, 1], [2, 0], [0, 0], [1, 0]], np.float32)
    np.save(tmp_path / "few.npy", few)
    write_neighbours(tmp_path / "few.npy", tmp_path / "of few", count=3)
    _, near, cosines = answers(tmp_path / "of few")
    assert near.tolist() == [[2, 4, 1], [0, 2, 3], [0, 4, 1], [0, 1, 2], [0, 2, 1]]
    assert cosines[3].tolist() == [0, 0, 0]  # a row of zeros has cosine 0


def test_other_inputs_do_not_resume_a_search(tmp_path: Path) -> None:
    """Even if files with the same name and size have other rows."""
    for number in (0, 1):
        (tmp_path / str(number)).mkdir()
    base, other = (saved(tmp_path / str(number) / "base.npy", seed=number) for number in (0, 1))
    queries, others = (saved(tmp_path / str(number) / "queries.npy", 33, seed=9 + number) for number in (0, 1))
    first = write_neighbours(base, tmp_path / "out", queries=queries, count=2)
    for place, asking, count in ((other, queries, 2), (base, others, 2), (base, None, 2), (base, queries, 3)):
        with pytest.raises(ValueError, match="out"):
            write_neighbours(place, tmp_path / "out", queries=asking, count=count)
    assert write_neighbours(base, tmp_path / "out", queries=queries, count=2) == first


@pytest.mark.weekly
def test_the_same_bytes_from_two_processes(tmp_path: Path) -> None:
    base = saved(tmp_path / "base.npy", 2 * neighbour_shards.ASKED + 5, dimension=2)
    queries = saved(tmp_path / "queries.npy", neighbour_shards.ASKED + 5, dimension=2)
    for out, workers in (("one", 1), ("two", 2)):
        write_neighbours(base, tmp_path / out, queries=queries, count=2, workers=workers)
    one, two = ({path.name: path.read_bytes() for path in (tmp_path / out).iterdir()} for out in ("one", "two"))
    assert one == two


def test_an_exact_search_of_too_many_rows_is_refused_before_it_starts(
    tmp_path: Path, small: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = saved(tmp_path / "base.npy")
    monkeypatch.setattr(neighbours, "MOMENT", 0)
    monkeypatch.setattr(neighbours, "LONGEST", 0)
    with pytest.raises(ValueError, match="400.*400"):
        write_neighbours(base, tmp_path / "out", workers=2)
    assert write_neighbours(base, tmp_path / "out", insist=True)["rows"] == 400
    monkeypatch.setattr(neighbours, "SAID", 0)
    with collected() as notes:
        write_neighbours(base, tmp_path / "again", insist=True)
    assert "400 rows among 400" in notes[0]


class TestTheIndex:
    @pytest.fixture(autouse=True)
    def installed(self) -> None:
        pytest.importorskip("faiss")

    def test_with_all_lists_it_is_exact(self, tmp_path: Path, small: None, monkeypatch: pytest.MonkeyPatch) -> None:
        base = saved(tmp_path / "base.npy", 1000)
        monkeypatch.setattr(neighbour_shards, "LEARNED_FROM", 40)
        neighbour_shards._opened_index.cache_clear()
        made = write_neighbours(base, tmp_path / "out", index="faiss", count=5)
        wanted, far = brute(np.load(base), np.load(base), 5, themselves=True)
        _, near, cosines = answers(tmp_path / "out")
        np.testing.assert_array_equal(near, wanted)
        np.testing.assert_allclose(cosines, far, atol=2e-6)
        assert (made["recall"], made["recalled"]) == (1.0, 1000)

    def test_recall_is_measured(self, tmp_path: Path, small: None, monkeypatch: pytest.MonkeyPatch) -> None:
        base = saved(tmp_path / "base.npy", 1000)
        for name, value in (("LEARNED_FROM", 20), ("LOOKED_THROUGH", 2), ("RECALLED", 300)):
            monkeypatch.setattr(neighbour_shards, name, value)
        neighbour_shards._opened_index.cache_clear()
        made = write_neighbours(base, tmp_path / "out", index="faiss", count=5)
        asked = neighbour_shards.sampled(np.arange(1000), 300)
        wanted = brute(np.load(base), np.load(base), 5, themselves=True)[0][asked]
        near = answers(tmp_path / "out")[1][asked]
        share = np.mean([len(set(a) & set(b)) / 5 for a, b in zip(wanted.tolist(), near.tolist(), strict=True)])
        assert made["recall"] == pytest.approx(share)
        assert 0.2 < share < 1
        assert not (tmp_path / "out" / WORK).exists()
        assert all(
            len(set(row)) == 5 and number not in row for number, row in enumerate(answers(tmp_path / "out")[1].tolist())
        )


def test_bad_arguments_are_refused(tmp_path: Path) -> None:
    base, other = saved(tmp_path / "base.npy"), saved(tmp_path / "other.npy", dimension=3)
    bad = np.load(base)
    bad[7, 1] = np.nan
    np.save(tmp_path / "bad.npy", bad)
    for call, said in [
        ({"base": base, "index": "hnsw"}, "index"),
        ({"base": base, "queries": other}, "queries have 3"),
        ({"base": base, "count": 400}, "count is 400"),
        ({"base": tmp_path / "bad.npy"}, "bad.npy row 7"),
        ({"base": tmp_path / "gone"}, "gone"),
    ]:
        with pytest.raises(ValueError, match=said):
            write_neighbours(folder=tmp_path / "out", **call)

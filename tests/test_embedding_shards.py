"""Vectors in shards: those of the method, in order, identical for any number of workers; invalid files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as arrow
import pyarrow.parquet as parquet
import pytest

from labkit import embedding_shards
from labkit.corpora import Sentences
from labkit.embedding_shards import in_float32, opened_vectors, write_vectors
from labkit.methods import METHODS, load_run
from labkit.scale import MANIFEST

TEXTS = [f"the {animal} sleeps on {place} {n}" for n in range(25) for animal in ("cat", "dog") for place in ("a", "b")]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return trained("mean-vectors", tmp_path_factory.mktemp("run") / "run")


def trained(name: str, folder: Path) -> Path:
    method = METHODS[name]()
    method.fit(Sentences(TEXTS, name="small", splits=["train"] * len(TEXTS)))
    method.save(folder)
    return folder


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    path = tmp_path / "texts.parquet"
    parquet.write_table(arrow.table({"text": TEXTS}), path, row_group_size=17)
    return path


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize(("size", "half"), [(30, False), (1000, True)])
def test_the_methods_rows_in_order(run: Path, texts: Path, tmp_path: Path, size: int, half: bool) -> None:
    made = write_vectors(run, [texts], tmp_path / "out", size=size, half=half)
    wanted = load_run(run).encode(TEXTS).astype(np.float16 if half else np.float32)
    found = opened_vectors(tmp_path / "out")
    parts = [found.array(number) for number in range(len(found.paths))]
    assert all(isinstance(part, np.memmap) and part.dtype == wanted.dtype for part in parts)
    np.testing.assert_array_equal(np.concatenate(parts), wanted)
    assert (len(found), found.dimension, made["rows"]) == (len(TEXTS), wanted.shape[1], len(TEXTS))
    assert (made["dimension"], made["type"], made["origin"]) == (
        wanted.shape[1],
        wanted.dtype.name,
        load_run(run).origin,
    )
    picked = np.array([99, 0, 31, 0])
    np.testing.assert_array_equal(found.rows(picked), wanted[picked].astype(np.float32))


def test_finished_shards_are_not_computed_again(
    run: Path, texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_vectors(run, [texts], tmp_path / "out")
    before = contents(tmp_path / "out")
    monkeypatch.setattr("labkit.embedding_shards._encode", None)
    write_vectors(run, [texts], tmp_path / "out")
    assert contents(tmp_path / "out") == before
    with pytest.raises(ValueError, match="float32.*float16"):
        write_vectors(run, [texts], tmp_path / "out", half=True)


def test_other_texts_or_another_run_do_not_resume_the_first(run: Path, tmp_path: Path) -> None:
    """Even if a file with the same name and size has them."""
    for name, texts in (("one", TEXTS), ("two", TEXTS[::-1])):
        (tmp_path / name).mkdir()
        table = arrow.table({"text": texts, "title": TEXTS})
        parquet.write_table(table, tmp_path / name / "texts.parquet", compression="none", use_dictionary=False)
    one, two = (tmp_path / name / "texts.parquet" for name in ("one", "two"))
    assert one.stat().st_size == two.stat().st_size
    write_vectors(run, [one], tmp_path / "out", size=30)
    for sources, change in (([two], {}), ([one], {"column": "title"}), ([one], {"size": 20})):
        with pytest.raises(ValueError, match="out"):
            write_vectors(run, sources, tmp_path / "out", **{"size": 30, **change})
    with pytest.raises(ValueError, match="run"):
        write_vectors(trained("sif", tmp_path / "other"), [one], tmp_path / "out", size=30)


def test_a_run_or_texts_that_change_during_encoding_are_refused(
    run: Path, texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ValueError, match="run"):
        embedding_shards._method(str(run), "0" * 64)
    monkeypatch.setattr(embedding_shards, "texts_of", lambda *given: iter([TEXTS[:7]]))
    with pytest.raises(ValueError, match=r"texts\.parquet"):
        write_vectors(run, [texts], tmp_path / "out")


def test_sparse_rows_are_refused(texts: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="'tfidf'"):
        write_vectors(trained("tfidf", tmp_path / "tfidf"), [texts], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_number_too_large_for_half(run: Path, texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("labkit.baselines.averages.MeanVectors._encode", lambda *_: np.full((1, 2), 1e6, np.float32))
    with pytest.raises(ValueError, match=r"1e\+06.*float16"):
        write_vectors(run, [texts], tmp_path / "out", half=True, size=1)


def test_hostile_arrays(tmp_path: Path) -> None:
    with (tmp_path / "objects.npy").open("wb") as file:  # only the header of an object array, without a pickle
        np.lib.format.write_array_header_1_0(file, {"descr": "|O", "fortran_order": False, "shape": (1, 1)})
    np.save(tmp_path / "flat.npy", np.zeros(3, np.float32))
    np.save(tmp_path / "whole.npy", np.zeros((3, 2), np.int64))
    np.save(tmp_path / "none.npy", np.zeros((0, 2), np.float32))
    (tmp_path / "short.npy").write_bytes((tmp_path / "whole.npy").read_bytes()[:-8])
    (tmp_path / "junk.npy").write_bytes(b"junk")
    with (tmp_path / "zip.npy").open("wb") as file:
        np.savez(file, a=np.zeros((2, 2), np.float32))
    for name in ("objects", "flat", "whole", "none", "short", "junk", "zip"):
        with pytest.raises(ValueError, match=f"{name}.npy"):
            opened_vectors(tmp_path / f"{name}.npy")
    with pytest.raises(ValueError, match="gone"):
        opened_vectors(tmp_path / "gone")


def test_files_of_several_dimensions_and_unfinished_folders_are_refused(run: Path, texts: Path, tmp_path: Path) -> None:
    write_vectors(run, [texts], tmp_path / "out", size=30)
    np.save(tmp_path / "out" / "part-00001.npy", np.zeros((3, 7), np.float32))
    with pytest.raises(ValueError, match="out"):
        opened_vectors(tmp_path / "out")
    (tmp_path / "out" / MANIFEST).write_text('{"plan": {}, "begun": true}')
    with pytest.raises(ValueError, match="out"):
        opened_vectors(tmp_path / "out")


def test_a_row_with_nan_is_named() -> None:
    rows = np.zeros((5, 3), np.float16)
    rows[4, 1] = np.nan
    with pytest.raises(ValueError, match="vectors.*1,004"):
        in_float32(rows, "vectors", 1000)
    assert in_float32(rows[:4], "vectors").dtype == np.float32

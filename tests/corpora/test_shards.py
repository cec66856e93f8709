"""Folders of shards: made once, resumed, refused where they are something else, compared with their manifest."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.corpora import shards
from labkit.corpora.shards import (
    MANIFEST,
    WORK,
    Making,
    checked,
    first_seen,
    is_making,
    is_shards,
    manifest_of,
    plan_of,
    read_parquet,
    read_shards,
    text_key,
    write_keys,
    write_parquet,
)
from labkit.executors import Local
from labkit.locks import InUse

# --- making --------------------------------------------------------------------------------------------------------

calls: list[str] = []


def numbers(task: str, path: Path) -> Mapping[str, Any]:
    """A shard with a row for each letter of the task."""
    calls.append(task)
    if task == "broken":
        raise ValueError("this task is broken; mend it")
    rows = ({"text": letter, "split": "train" if letter < "m" else "test"} for letter in task)
    return {**write_parquet(rows, path, ("text", "split")), "letters": len(task)}


PLANNED = {"kind": "letters", "settings": {"seed": 3}, "sources": [], "versions": shards.versions_here()}
TASKS = {0: "abc", 1: "", 2: "xyz"}


def made(folder: Path, tasks: Mapping[int, str] = TASKS, plan: Mapping[str, Any] = PLANNED) -> shards.Manifest:
    with Making(folder, plan) as making:
        if making.finished:
            return making.manifest
        making.run(numbers, tasks, Local(1))
        return making.finish(len(tasks), letters=6)


def test_a_folder_is_made_and_read(tmp_path: Path) -> None:
    manifest = made(tmp_path / "out")
    assert [shard.rows for shard in manifest.shards] == [3, 0, 3]
    assert (manifest.rows, manifest.splits, manifest.further) == (6, {"train": 3, "test": 3}, {"letters": 6})
    assert "".join(row["text"] for row in read_shards(manifest)) == "abcxyz"
    assert list(read_shards(manifest, ["split"]))[-1] == {"split": "test"}
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        MANIFEST, "part-00000.parquet", "part-00001.parquet", "part-00002.parquet",
    ]  # fmt: skip
    assert checked(tmp_path / "out").fingerprint == manifest.fingerprint
    assert is_shards(tmp_path / "out")
    assert not is_making(tmp_path / "out")


def test_what_is_done_is_not_done_again(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="broken"):
        made(tmp_path / "out", TASKS | {2: "broken"})
    assert is_making(tmp_path / "out")
    with pytest.raises(ValueError, match="not all made yet"):
        manifest_of(tmp_path / "out")
    calls.clear()
    manifest = made(tmp_path / "out")
    assert calls == ["xyz"]
    assert [shard.sha256 for shard in manifest.shards] == [shard.sha256 for shard in made(tmp_path / "two").shards]
    calls.clear()
    assert made(tmp_path / "out") == manifest
    assert calls == []


@pytest.mark.parametrize("harm", ["marker", "shard", "short", "garbled"])
def test_a_shard_without_its_marker_or_the_reverse_is_made_again(tmp_path: Path, harm: str) -> None:
    with pytest.raises(ValueError, match="broken"):
        made(tmp_path / "out", TASKS | {2: "broken"})
    shard, marker = tmp_path / "out" / "part-00000.parquet", tmp_path / "out" / WORK / "00000.json"
    if harm == "marker":
        marker.unlink()
    elif harm == "shard":
        shard.unlink()
    elif harm == "short":
        shard.write_bytes(shard.read_bytes()[:-1])
    else:
        marker.write_text('{"file": ')
    calls.clear()
    made(tmp_path / "out")
    assert calls == ["abc", "xyz"]
    checked(tmp_path / "out")


def test_the_marker_is_removed_before_its_shard_is_made_again(tmp_path: Path) -> None:
    """Otherwise a kill between the two would leave a shard whose marker speaks of another."""
    with Making(tmp_path / "out", PLANNED) as making:
        making.run(numbers, {0: "abc"}, Local(1))
        with pytest.raises(ValueError, match="broken"):
            making.run(numbers, {0: "broken"}, Local(1), anew=True)
        assert making.record(0) is None


def test_a_folder_takes_shards_of_one_plan(tmp_path: Path) -> None:
    made(tmp_path / "out")
    with pytest.raises(ValueError, match=r"settings.seed 3"):
        made(tmp_path / "out", plan=PLANNED | {"settings": {"seed": 4}})
    with pytest.raises(ValueError, match="broken"):
        made(tmp_path / "half", {0: "broken"})
    with pytest.raises(ValueError, match=r"versions.pyarrow"):
        made(tmp_path / "half", plan=PLANNED | {"versions": PLANNED["versions"] | {"pyarrow": "1"}})
    other = tmp_path / "other"
    other.mkdir()
    (other / "thesis.txt").write_text("mine")
    with pytest.raises(ValueError, match="thesis.txt"):
        made(other)
    assert [path.name for path in other.iterdir()] == ["thesis.txt"]


def test_one_process_at_a_time(tmp_path: Path) -> None:
    with Making(tmp_path / "out", PLANNED), pytest.raises(InUse):
        made(tmp_path / "out")


@pytest.mark.parametrize("package", ["python", "pyarrow", "scipy"])
def test_a_worker_with_other_versions_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    here = shards.versions_here
    with Making(tmp_path / "out", plan_of("letters", {}, [], "scipy")) as making:
        monkeypatch.setattr(
            shards,
            "versions_here",
            lambda *names: {each: "0.9" if each == package else version for each, version in here(*names).items()},
        )
        with pytest.raises(ValueError, match=rf"{package} 0.9"):
            making.run(numbers, TASKS, Local(1))


def test_the_sources_are_part_of_the_plan(tmp_path: Path) -> None:
    source = tmp_path / "a.xml"
    source.write_text("abc")
    plan = plan_of("letters", {"seed": 0}, [source])
    assert plan["sources"] == [{"name": "a.xml", "bytes": 3}]
    assert set(plan["versions"]) == {"python", "numpy", "pyarrow"}


# --- what a folder says of itself ----------------------------------------------------------------------------------


def test_a_shard_that_is_not_what_the_manifest_says(tmp_path: Path) -> None:
    made(tmp_path / "out")
    path = tmp_path / "out" / "part-00002.parquet"
    whole = path.read_bytes()
    for harmed in (whole[:-1], whole[:40] + bytes([whole[40] ^ 1]) + whole[41:]):
        path.write_bytes(harmed)
        with pytest.raises(ValueError, match="part-00002.parquet"):
            checked(tmp_path / "out")
    path.unlink()
    with pytest.raises(ValueError, match="part-00002.parquet"):
        checked(tmp_path / "out")


@pytest.mark.parametrize("name", ["../up.parquet", "/etc/passwd", ".hidden"])
def test_a_manifest_cannot_name_a_file_elsewhere(tmp_path: Path, name: str) -> None:
    made(tmp_path / "out")
    said = json.loads((tmp_path / "out" / MANIFEST).read_text())
    said["shards"][0]["file"] = name
    (tmp_path / "out" / MANIFEST).write_text(json.dumps(said))
    with pytest.raises(ValueError, match="manifest.json"):
        manifest_of(tmp_path / "out")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 9, "plan": {}, "shards": [], "further": {}}', "\xff"])
def test_a_damaged_manifest_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / MANIFEST).write_text(text, encoding="latin-1")
    with pytest.raises(ValueError, match="manifest.json"):
        manifest_of(tmp_path)
    with pytest.raises(ValueError, match="no folder of shards"):
        manifest_of(tmp_path / "no")


def test_the_fingerprint_depends_on_rows_and_their_order(tmp_path: Path) -> None:
    one = made(tmp_path / "one")
    other = made(tmp_path / "other", {0: "xyz", 1: "", 2: "abc"})
    assert one.fingerprint != other.fingerprint
    assert replace(one, folder=tmp_path, plan={}).fingerprint == one.fingerprint


# --- rows ----------------------------------------------------------------------------------------------------------


def test_rows_keep_their_order_and_bytes(tmp_path: Path) -> None:
    rows = [{"text": f"Größe {n} 東京", "score": n / 7, "split": ("train", "dev")[n % 2]} for n in range(9_001)]
    counts = write_parquet(iter(rows), tmp_path / "a.parquet")
    assert counts == {
        "rows": 9_001,
        "splits": {"train": 4_501, "dev": 4_500},
        "train": [4096, 405],
    }
    assert list(read_parquet(tmp_path / "a.parquet")) == rows
    write_parquet(iter(rows), tmp_path / "b.parquet")
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()
    assert parquet.ParquetFile(tmp_path / "a.parquet").metadata.num_row_groups == 2


def test_a_shard_without_rows_has_its_columns(tmp_path: Path) -> None:
    assert write_parquet([], tmp_path / "a.parquet", ("text", "split")) == {"rows": 0, "splits": {}, "train": [0]}
    assert parquet.read_table(tmp_path / "a.parquet").column_names == ["text", "split"]


# --- repeats -------------------------------------------------------------------------------------------------------


def repeats_by_hand(files: list[list[str]]) -> list[list[int]]:
    seen: set[str] = set()
    found: list[list[int]] = []
    for texts in files:
        found.append([])
        for place, text in enumerate(texts):
            if text in seen:
                found[-1].append(place)
            seen.add(text)
    return found


@given(st.lists(st.lists(st.sampled_from([f"text {n}" for n in range(30)]), max_size=40), min_size=1, max_size=5))
@pytest.mark.parametrize("partition", [2**23, 3])
def test_repeats_over_all_files_by_a_plain_loop(
    tmp_path_factory: pytest.TempPathFactory, partition: int, files: list[list[str]]
) -> None:
    folder = tmp_path_factory.mktemp("keys")
    paths = [folder / f"{number}.npy" for number in range(len(files))]
    for path, texts in zip(paths, files, strict=True):
        write_keys(map(text_key, texts), path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shards, "PARTITION", partition)
        assert [found.tolist() for found in first_seen(paths)] == repeats_by_hand(files)


def test_keys_with_only_the_first_half_equal_are_different(tmp_path: Path) -> None:
    keys = [b"A" * 8 + bytes(8), b"A" * 8 + b"B" * 8, b"A" * 8 + bytes(8)]
    write_keys(keys, tmp_path / "a.npy")
    assert [found.tolist() for found in first_seen([tmp_path / "a.npy"])] == [[2]]
    assert np.load(tmp_path / "a.npy").dtype == np.uint64

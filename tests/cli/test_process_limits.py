"""More processes than a machine can run are refused before anything is started, written or removed."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from labkit import scale
from labkit.cli.train import launched
from labkit.scale import check_processes
from tests.cli.conftest import Labkit

TRIPLETS = ("data", "make", "triplets", "--articles", "articles", "--out", "shards", "--format", "parquet", "--force")


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("--processes", ("train", "siamese", "--corpus", "questions", "--processes", 99_999)),
        ("executor", (*TRIPLETS, "--executor", "local:99999")),
        ("executor", ("data", "dedup", "shards", "--out", "shards", "--force", "--executor", "local:99999")),
        ("executor", ("encode", "run", "shards", "--out", "shards", "--force", "--executor", "local:99999")),
    ],
)
def test_a_number_that_no_machine_can_run(
    labkit: Labkit, monkeypatch: pytest.MonkeyPatch, option: str, words: tuple[object, ...]
) -> None:
    def start(*_: object, **__: object) -> None:
        pytest.fail("a process was started")

    monkeypatch.setattr("torch.distributed.run.run", start)
    monkeypatch.setattr("labkit.scale.ProcessPoolExecutor", start)
    Path("shards").mkdir()
    Path("shards/manifest.json").write_text("{}", encoding="utf-8")
    said = labkit(*words).mistake()
    assert option in said
    assert "99999" in said
    assert Path("shards/manifest.json").is_file()


def test_four_processes_per_core_are_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    for count in (1, 8):
        check_processes("--processes", count)
    for count in (0, 9):
        with pytest.raises(ValueError, match="--processes"):
            check_processes("--processes", count)
        with pytest.raises(ValueError, match="workers"):
            scale.each(print, {}, workers=count)


@pytest.mark.whole
def test_the_launcher_leaves_no_temporary_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert launched(1, ["--version"]) == 0
    assert list(tmp_path.iterdir()) == []

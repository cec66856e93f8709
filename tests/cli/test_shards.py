"""`labkit data dedup` and `labkit neighbours`: what they write and say."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .conftest import Labkit


def test_dedup(labkit: Labkit) -> None:
    Path("a.csv").write_text("text,label\nOne,1\none,2\nOne,3\n")
    words = ("data", "dedup", "a.csv", "--out", "once", "--executor", "local:1")
    record = labkit(*words, "--json").document()
    assert {name: record[name] for name in ("read", "repeats", "left", "shards")} == {
        "read": 3, "repeats": 1, "left": 2, "shards": 1
    }  # fmt: skip
    assert "plain" in labkit(*words, "--plain").mistake()
    assert labkit(*words, "--plain", "--force", "--json").document()["left"] == 1
    assert "'sentence'" in labkit("data", "dedup", "a.csv", "--out", "x", "--column", "sentence").mistake()


def test_neighbours(labkit: Labkit) -> None:
    np.save("base.npy", np.array([[1, 0], [1, 0.1], [0, 1]], np.float32))
    words = ("neighbours", "base.npy", "--out", "near", "--count", "1", "--executor", "local:1")
    record = labkit(*words, "--json").document()
    assert (record["queries"], record["base"], record["nearest"], record["index"]) == (3, 3, 1, "exact")
    assert "index" in labkit(*words, "--index", "tree").mistake()

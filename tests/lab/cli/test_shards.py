"""`labkit data dedup` and `labkit neighbours`: what they say, as text and as JSON."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .conftest import Labkit


def test_dedup(labkit: Labkit) -> None:
    Path("a.csv").write_text("text,label\nOne,1\none,2\nOne,3\n")
    done = labkit("data", "dedup", "a.csv", "--out", "once", "--executor", "local:1")
    assert (done.status, done.err) == (0, "")
    assert done.out == "once: 2 of 3 rows are left, 1 (33.3%) were repeats\n"
    words = ("data", "dedup", "a.csv", "--out", "once", "--executor", "local:1", "--plain")
    assert "has shards made with settings.plain false, now it is true" in labkit(*words).mistake()
    record = labkit(*words, "--force", "--json").document()
    assert {name: record[name] for name in ("read", "repeats", "left", "shards")} == {
        "read": 3,
        "repeats": 2,
        "left": 1,
        "shards": 1,
    }
    assert (
        "has no column 'sentence'" in labkit("data", "dedup", "a.csv", "--out", "x", "--column", "sentence").mistake()
    )


def test_neighbours(labkit: Labkit) -> None:
    np.save("base.npy", np.array([[1, 0], [1, 0.1], [0, 1]], np.float32))
    words = ("neighbours", "base.npy", "--out", "near", "--count", "1", "--executor", "local:1")
    assert labkit(*words).out == "near: the 1 nearest of 3 rows for each of 3\n"
    record = labkit(*words, "--json").document()
    assert (record["queries"], record["base"], record["nearest"], record["index"]) == (3, 3, 1, "exact")
    assert "index is 'tree', expected one of exact, faiss" in labkit(*words, "--index", "tree").mistake()

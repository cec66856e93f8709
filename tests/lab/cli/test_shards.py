"""`labkit data dedup` and `labkit neighbours`: what they say, as text and as JSON."""

from __future__ import annotations

from pathlib import Path

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

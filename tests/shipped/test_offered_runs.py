"""Which runs the app offers first."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from labkit.corpora import from_pairs
from labkit.methods import METHODS


def test_the_newest_run_is_offered_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("streamlit")
    from choosing import runs_in

    method = METHODS["tfidf"]()
    method.fit(from_pairs([("a cat", "one cat"), ("a cat", "an oak")], [1, 0]))
    for name, age in (("b", 3), ("c", 1), ("a", 2)):
        method.save(tmp_path / name)
        os.utime(tmp_path / name / "run.json", (1e9 - age, 1e9 - age))
    monkeypatch.setenv("LABKIT_RUNS", str(tmp_path))
    assert list(runs_in()) == ["c", "a", "b"]

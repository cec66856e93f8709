"""A fresh desk and store for each test."""

from __future__ import annotations

from pathlib import Path

import pytest

from labkit.papers.cells import Store
from labkit.papers.data import Desk
from tests.papers.fakes import ASKED


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "cells")


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.delenv("LABKIT_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    ASKED.clear()
    return Desk(memo=tmp_path)

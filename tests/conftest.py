"""Fixtures that many tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def published_data() -> Path:
    """The folder of published datasets in their plain form; the test is skipped where there is none."""
    folder = Path(os.environ.get("LABKIT_DATA") or REPOSITORY.parent / "shared" / "data")
    if not (folder / "MANIFEST.json").is_file():
        pytest.skip("needs the published datasets: set LABKIT_DATA to their folder")
    return folder

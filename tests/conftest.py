"""Fixtures that many tests share."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
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


@pytest.fixture(autouse=True)
def same_main() -> Iterator[None]:
    """Streamlit's tests put the page in the place of `__main__`, which spawned processes would then try to import."""
    before = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = before

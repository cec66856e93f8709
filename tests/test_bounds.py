"""The lower bounds of pyproject.toml are the versions that the tests last passed with."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[1]
BOUNDS: dict[str, str] = runpy.run_path(str(ROOT / ".ci" / "lowest.py"))["bounds"]()


def kept(name: str) -> dict[str, Version]:
    """The versions that a file of constraints names; what a build adds to its number ("+cpu") is left out."""
    lines = [line.partition("==") for line in (ROOT / name).read_text("utf-8").splitlines() if "==" in line]
    return {canonicalize_name(name): Version(Version(version).public) for name, _, version in lines}


@pytest.mark.parametrize("name", BOUNDS)
def test_a_lower_bound_is_the_version_last_tried(name: str) -> None:
    tried = kept("constraints-lowest.txt").get(canonicalize_name(name))
    assert tried == Version(BOUNDS[name]), f"pyproject.toml has {name}>={BOUNDS[name]}: run `make test-lowest`"


@pytest.mark.parametrize("name", BOUNDS)
def test_what_the_project_is_made_with_keeps_to_the_bounds(name: str) -> None:
    assert kept("constraints.txt")[canonicalize_name(name)] >= Version(BOUNDS[name])

"""Results on disk, named by a digest of their inputs: those computed by this user, and bundled ones.

    the user's folder    one JSON file each, as in `labkit.trials.engine`
    BUNDLED              one file with one line each, sorted by key, on which `labkit reproduce` builds

In: a folder. Out: the result of a key, or None. A torn file of one's own counts as missing; bundled ones are refused.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import zlib
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from platformdirs import user_cache_path

from labkit.atomic import write_text
from labkit.corpora.catalogue import DATA
from labkit.trials.engine import TRIALS, Result

BUNDLED = DATA / "cells.jsonl"


def default_folder() -> Path:
    """The folder of this user's results and of facts about data sets."""
    return user_cache_path("labkit") / "papers"


class Store:
    """The folder of results, and the file of bundled ones."""

    def __init__(self, folder: Path | str | None = None, *, bundled: Path = BUNDLED) -> None:
        self.folder = default_folder() if folder is None else Path(folder)
        self._bundled = bundled

    def find(self, key: str) -> Result | None:
        """The result of this key: computed here, or bundled."""
        own, bundled = self._file(key), _lines(self._bundled).get(key)
        for file, record in ((own, read_json(own)), (self._bundled, bundled)):
            if record:
                try:
                    return Result.from_json(record)
                except (KeyError, TypeError, ValueError, zlib.error):
                    raise ValueError(f"{file}: the result {key} is damaged; restore or delete the file") from None
        return None

    def keep(self, key: str, result: Result, about: Mapping[str, Any]) -> Result:
        """Store the result with a description, the commit of the code and the machine."""
        kept = replace(result, notes={**result.notes, "about": dict(about), "commit": commit(), "host": host()})
        write_json(self._file(key), kept.to_json())
        return kept

    def _file(self, key: str) -> Path:
        return self.folder / TRIALS / f"{key}.json"


@cache
def host() -> str:
    """The machine, with the processor's model, which determines the order in which sums are rounded."""
    info = Path("/proc/cpuinfo")  # Linux
    lines = info.read_text("utf-8").splitlines() if info.is_file() else []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    model = next(named, platform.processor() or "unknown processor")
    return f"{platform.system()} {platform.machine()}, {model}, {os.cpu_count()} processors"


@cache
def commit() -> str:
    """The commit of this code, with a + if it was changed since; empty without a repository."""
    root = Path(__file__).resolve().parents[2]
    ask = ["git", "describe", "--always", "--abbrev=12", "--exclude=*", "--dirty=+"]
    try:
        return subprocess.run(ask, cwd=root, capture_output=True, text=True).stdout.strip() * (root / ".git").exists()
    except OSError:  # no git
        return ""


def as_lines(results: Mapping[str, Result]) -> str:
    """Results in the format of the file BUNDLED."""
    lines = (json.dumps({"key": key} | results[key].to_json(), ensure_ascii=False) for key in sorted(results))
    return "".join(f"{line}\n" for line in lines)


@cache
def _lines(path: Path) -> dict[str, dict[str, Any]]:
    """key -> record from a file of results."""
    records = {}
    for number, line in enumerate(path.read_text("utf-8").splitlines() if path.is_file() else (), 1):
        try:
            record = json.loads(line)
            records[record["key"]] = record
        except (ValueError, KeyError, TypeError):
            raise ValueError(f"{path}, line {number} is damaged, expected a result as JSON; restore the file") from None
    return records


def read_json(path: Path) -> dict[str, Any]:
    """The record in a file; empty if the file is missing or damaged."""
    try:
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return record


def write_json(path: Path, record: Mapping[str, Any]) -> None:
    """Write a record to a file, whose folder is created if needed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, json.dumps(record, allow_nan=False))

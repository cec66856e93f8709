"""Results on disk, named by a digest of their inputs: those computed by this user, and bundled ones.

    the user's folder    one JSON file each, as in `labkit.trials.engine`
    BUNDLED              one file with one line each, sorted by key, on which `labkit reproduce` builds

In: a folder. Out: the result of a key, or None; a damaged file counts as missing.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import zlib
from collections.abc import Mapping
from dataclasses import replace
from functools import cache, partial
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

    @property
    def runs(self) -> Path:
        """The folder of stored trainings."""
        return self.folder / "runs"

    def find(self, key: str) -> Result | None:
        """The result of this key: computed here, or bundled."""
        for record in (read_json(self._file(key)), _lines(self._bundled).get(key, {})):
            try:
                return Result.from_json(record)
            except (KeyError, TypeError, ValueError, zlib.error):
                continue
        return None

    def keep(self, key: str, result: Result, about: Mapping[str, Any]) -> Result:
        """Store the result with a description, the commit of the code and the machine."""
        kept = replace(result, notes={**result.notes, "about": dict(about), "commit": commit(), "host": host()})
        write_json(self._file(key), kept.to_json())
        return kept

    def _file(self, key: str) -> Path:
        return self.folder / TRIALS / f"{key}.json"


def as_lines(results: Mapping[str, Result]) -> str:
    """Results in the format of the file BUNDLED."""
    lines = (json.dumps({"key": key} | results[key].to_json(), ensure_ascii=False) for key in sorted(results))
    return "".join(f"{line}\n" for line in lines)


@cache
def host() -> str:
    """The machine, as far as it matters for results and seconds: the model and number of its processors."""
    return f"{platform.system()} {platform.machine()}, {_processor()}, {os.cpu_count()} processors"


def _processor() -> str:
    """The processor's model, which determines the order in which sums are rounded."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:  # not Linux
        return platform.processor() or "unknown processor"
    return next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown processor"
    )


@cache
def commit() -> str:
    """The commit of this code, with a + if it was changed since; empty without a repository."""
    here = Path(__file__).resolve().parent
    ask = partial(subprocess.run, cwd=here, capture_output=True, text=True, check=True)
    try:
        ask(["git", "ls-files", "--error-unmatch", Path(__file__).name])
        return str(ask(["git", "describe", "--always", "--abbrev=12", "--exclude=*", "--dirty=+"]).stdout.strip())
    except (OSError, subprocess.CalledProcessError):  # no git, or a package inside another repository
        return ""


@cache
def _lines(path: Path) -> dict[str, dict[str, Any]]:
    """key -> record from a file of results, without damaged lines."""
    records = {}
    for line in path.read_text("utf-8").splitlines() if path.is_file() else ():
        try:
            record = json.loads(line)
            records[str(record["key"])] = record
        except (ValueError, KeyError, TypeError):
            continue
    return records


def read_json(path: Path) -> dict[str, Any]:
    """The record in a file; empty if the file is missing or damaged."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}


def write_json(path: Path, record: Mapping[str, Any]) -> None:
    """Write a record to a file, whose folder is created if needed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, json.dumps(record, allow_nan=False))

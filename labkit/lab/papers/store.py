"""Cells on disk, named by their fingerprints: those that this user computed, and those that come with the lab.

    the user's folder    a JSON file each, written whole or not at all; and how long cells took
    KEPT                 one file, a line each, from which `labkit reproduce` goes on anywhere

In: a folder. Out: what is known of a cell, or None; a file that is damaged counts as none.
"""

from __future__ import annotations

import base64
import json
import math
import os
import platform
import subprocess
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from platformdirs import user_cache_path

from labkit.atomic import write_text
from labkit.corpora.table import DATA
from labkit.evaluation import Parts
from labkit.lab.papers.records import Outcome, Point
from labkit.runs import versions

if TYPE_CHECKING:
    from labkit.lab.papers.cells import Cell

SCHEMA = 3
KEPT = DATA / "cells.jsonl"


def default_folder() -> Path:
    """The folder in which this user's cells, and what is remembered of the data sets, are kept."""
    return user_cache_path("labkit") / "papers"


@dataclass(frozen=True)
class Known:
    """What was computed of a cell, how long it took, and with what.

    `earlier`: before single scores were kept and the number of threads was fixed; claims on it are judged by the rule
    of that time.
    """

    fingerprint: str
    kind: Mapping[str, Any]
    seed: int
    seconds: float
    data: str
    figures: Mapping[str, float]
    points: tuple[Point, ...]
    versions: Mapping[str, str]
    commit: str
    parts: Mapping[str, Parts] = field(default_factory=dict)
    earlier: bool = False
    notes: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The cell as a file has it; parts are packed."""
        fields = {name: value for name, value in vars(self).items() if name != "parts" and (value or name != "notes")}
        parts = {name: [_packed(each.above), _packed(each.below)] for name, each in self.parts.items()}
        return {"schema": SCHEMA, **fields, "parts": parts}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Self | None:
        """The cell that stands in a file; None where the record is damaged or of another form."""
        try:
            if record["schema"] != SCHEMA:
                return None
            plain = ("fingerprint", "kind", "seed", "seconds", "data", "versions", "commit")
            return cls(
                **{name: record[name] for name in plain},
                figures={str(name): float(value) for name, value in record["figures"].items()},
                points=tuple((str(name), float(x), float(y)) for name, x, y in record["points"]),
                parts={name: Parts(*map(_unpacked, sides)) for name, sides in record["parts"].items()},
                earlier=bool(record["earlier"]),
                notes=dict(record.get("notes", {})),
            )
        except (KeyError, TypeError, ValueError, AttributeError, zlib.error):
            return None


class CellStore:
    """The folder of cells, and the file of those that come with the lab."""

    def __init__(self, folder: Path | str | None = None, *, kept: Path = KEPT) -> None:
        self.folder = default_folder() if folder is None else Path(folder)
        self._kept = kept
        self._times: dict[str, float] | None = None

    @property
    def runs(self) -> Path:
        """The folder in which trainings are kept."""
        return self.folder / "runs"

    def find(self, cell: Cell) -> Known | None:
        """What is known of this cell: computed here, or elsewhere and kept."""
        records = (read_json(self._file(cell)), _lines(self._kept).get(cell.fingerprint, {}))
        known = filter(None, map(Known.from_json, records))
        return next((each for each in known if each.fingerprint == cell.fingerprint), None)  # a file may be misnamed

    def keep(self, cell: Cell, outcome: Outcome, seconds: float) -> Known:
        """Write it down; figures that are no numbers are left out."""
        figures = {name: float(value) for name, value in outcome.figures.items() if math.isfinite(value)}
        known = Known(
            fingerprint=cell.fingerprint,
            kind=cell.kind,
            seed=cell.seed,
            seconds=seconds,
            data=str(cell.data),
            figures=figures,
            points=tuple(outcome.points),
            versions=dict(versions()),
            commit=commit(),
            parts=dict(outcome.parts),
            notes={"host": host(), **outcome.notes},
        )
        write_json(self._file(cell), known.to_json())
        self._times = self._read_times() | {cell.like: seconds}  # another process may have written meanwhile
        write_json(self.folder / "times.json", self._times)
        return known

    def seconds(self, cell: Cell) -> float:
        """How long it will take: as its like did, else by guess."""
        return self._known_times().get(cell.like, cell.guess)

    def _file(self, cell: Cell) -> Path:
        return self.folder / "cells" / f"{cell.fingerprint[:32]}.json"

    def _known_times(self) -> dict[str, float]:
        if self._times is None:
            self._times = self._read_times()
        return self._times

    def _read_times(self) -> dict[str, float]:
        times = read_json(self.folder / "times.json")
        return {name: seconds for name, seconds in times.items() if isinstance(seconds, float)}


def as_lines(cells: Iterable[Known]) -> str:
    """Cells as the file KEPT has them, in order of their fingerprints."""
    lines = (json.dumps(cell.to_json(), ensure_ascii=False) for cell in sorted(cells, key=lambda c: c.fingerprint))
    return "".join(f"{line}\n" for line in lines)


@cache
def host() -> str:
    """The machine, as far as figures and seconds depend on it: its processor's model, and how many of them."""
    return f"{platform.system()} {platform.machine()}, {_processor()}, {os.cpu_count()} processors"


def _processor() -> str:
    """The processor's model, which decides in which order sums are rounded."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:  # not Linux
        return platform.processor() or "unknown processor"
    return next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown processor"
    )


@cache
def commit() -> str:
    """The commit that this code is of, with a + where it was changed since; without a repository, nothing."""
    here = Path(__file__).resolve().parent
    ask = partial(subprocess.run, cwd=here, capture_output=True, text=True, check=True)
    try:
        ask(["git", "ls-files", "--error-unmatch", Path(__file__).name])
        return str(ask(["git", "describe", "--always", "--abbrev=12", "--exclude=*", "--dirty=+"]).stdout.strip())
    except (OSError, subprocess.CalledProcessError):  # no git, or a package below somebody else's repository
        return ""


def _packed(values: np.ndarray) -> str:
    """Numbers as text: whole ones in one byte or two, others in four."""
    largest = np.abs(values).max(initial=0) if (values == np.round(values)).all() else np.inf
    kind = "|i1" if largest < 2**7 else "<i2" if largest < 2**15 else "<f4"
    return kind + base64.b64encode(zlib.compress(values.astype(kind).tobytes(), 9)).decode()


def _unpacked(text: str) -> np.ndarray:
    kind, packed = text[:3], text[3:]
    if kind not in ("|i1", "<i2", "<f4"):
        raise ValueError(
            f"a stored result begins with {kind!r}, which no labkit writes; remove it, so that it is computed anew"
        )
    return np.frombuffer(zlib.decompress(base64.b64decode(packed)), kind).astype(np.float64)


@cache
def _lines(path: Path) -> dict[str, dict[str, Any]]:
    """fingerprint -> record, of a file of cells; lines that are damaged are none."""
    records = {}
    for line in path.read_text("utf-8").splitlines() if path.is_file() else ():
        try:
            record = json.loads(line)
            records[str(record["fingerprint"])] = record
        except (ValueError, KeyError, TypeError):
            continue
    return records


def read_json(path: Path) -> dict[str, Any]:
    """The record in a file; an empty one where there is no such file, or it is damaged."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}


def write_json(path: Path, record: Mapping[str, Any]) -> None:
    """Write a record into a file, whose folder is made if need be."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, json.dumps(record, allow_nan=False))

"""The owner of a run: what a visitor of a classroom trained is their own until they share it; others are everybody's.

On disk, next to the queue's records: .jobs/owners/<run>.json, {"owner": name, "shared": false}; it goes when the folder
of the run is gone. One that cannot be read is nobody's, and not shared.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from labkit.atomic import in_place

OWNERS = Path(".jobs", "owners")


@dataclass(frozen=True)
class Owned:
    """A run of a visitor, and whether they share it."""

    folder: Path
    owner: str
    shared: bool = False

    @property
    def size(self) -> int:
        """The bytes that it takes on disk."""
        total = 0
        for file in self.folder.rglob("*"):
            with suppress(OSError):  # it has just gone
                total += file.stat().st_size
        return total


def write_owned(run: Owned) -> None:
    """Note down whose run it is."""
    path = _record(run.folder)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with in_place(path) as file:
        file.write(json.dumps({"owner": run.owner, "shared": run.shared}).encode())


def owned(folder: Path | str) -> Owned | None:
    """Read who owns the run in a folder; None: no visitor trained it."""
    folder = Path(folder)
    try:
        record = json.loads(_record(folder).read_bytes())
        return Owned(folder, str(record["owner"]), record["shared"] is True)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return Owned(folder, "")


def all_owned(runs: Path) -> list[Owned]:
    """The runs of visitors in a folder, by name; the record of a run that is gone is removed."""
    found = []
    for path in sorted((runs / OWNERS).glob("*.json")):
        if not (runs / path.stem).is_dir():
            path.unlink(missing_ok=True)
        elif (run := owned(runs / path.stem)) is not None:
            found.append(run)
    return found


def _record(folder: Path) -> Path:
    return folder.parent / OWNERS / f"{folder.name}.json"

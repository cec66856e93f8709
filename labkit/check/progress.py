"""What somebody has answered so far, in a small file beside the notebooks, and nowhere else.

    {"answers": {"01.3": {"tries": 2, "right": true, "hints": 1, "seen": false}}, "predictions": {"01.a": "nearest"}}

In: a folder, or LABKIT_ANSWERS naming the file (LABKIT_PROGRESS, as it was called, still does). A file that cannot be
read or written costs the record, never the lesson: it is put aside, or left alone.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from labkit.atomic import in_place

NAME = "progress.json"
VARIABLES = ("LABKIT_ANSWERS", "LABKIT_PROGRESS")  # no progress bar writes where the second points any more


@dataclass
class Tried:
    """One exercise: how often answered, whether once rightly, how many hints were read, whether its solution was."""

    tries: int = 0
    right: bool = False
    hints: int = 0
    seen: bool = False


@dataclass
class Record:
    """All of it. `path` is None where nothing can be kept."""

    path: Path | None = None
    answers: dict[str, Tried] = field(default_factory=dict)
    predictions: dict[str, Any] = field(default_factory=dict)

    def of(self, key: str) -> Tried:
        """What is known of an exercise."""
        return self.answers.setdefault(key, Tried())

    def keep(self) -> None:
        """Write the file; where that is not possible, the lesson goes on without."""
        if self.path is None:
            return
        kept = {"answers": {key: asdict(each) for key, each in self.answers.items()}, "predictions": self.predictions}
        try:
            with in_place(self.path) as file:
                file.write(json.dumps(kept, indent=1, ensure_ascii=False).encode())
        except OSError:
            self.path = None


def opened(folder: Path | None = None) -> Record:
    """The record of this folder, or a new one. What is no record is put aside under another name."""
    named = next(filter(None, map(os.environ.get, VARIABLES)), None)
    path = Path(named).expanduser() if named else (folder or Path.cwd()) / NAME
    try:
        return _read(path)
    except FileNotFoundError:
        return Record(path)
    except (OSError, ValueError, TypeError, AttributeError, KeyError):
        return Record(path if _put_aside(path) else None)


def _read(path: Path) -> Record:
    found = json.loads(path.read_text("utf-8"))
    answers = {str(key): Tried(**each) for key, each in found["answers"].items()}
    if any(not isinstance(each.tries, int) or not isinstance(each.hints, int) for each in answers.values()):
        raise ValueError("progress.json holds something else")
    return Record(path, answers, dict(found["predictions"]))


def _put_aside(path: Path) -> bool:
    try:
        path.replace(path.with_name(f"{path.name}.unreadable"))
    except OSError:
        return False
    return True

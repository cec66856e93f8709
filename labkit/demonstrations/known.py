"""Origins that are known without the table of methods, which needs torch and so takes seconds to open: those of plain
vectors, as they were when their pictures were made.

In: a method with its own settings, and the fingerprint of a corpus. Out: the `Origin` under which pictures are stored.
A test holds them against the methods as they are.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path

from labkit.atomic import in_place
from labkit.demonstrations.pictures import PICTURES, Origin

FILE = "origins.json"


def known_origin(name: str, fingerprint: str, folder: Path = PICTURES) -> Origin | None:
    """None where no pictures were made beforehand."""
    return _read(folder / FILE).get((name, fingerprint)) if (folder / FILE).is_file() else None


def write_known(origins: Iterable[Origin], folder: Path = PICTURES) -> Path:
    """All of them in one file beside the pictures."""
    file = folder / FILE
    with in_place(file) as raw:
        raw.write((json.dumps([asdict(each) for each in origins], indent=1) + "\n").encode())
    return file


@lru_cache(maxsize=4)
def _read(file: Path) -> dict[tuple[str, str], Origin]:
    origins = (Origin(**each) for each in json.loads(file.read_text("utf-8")))
    return {(each.method, each.fingerprint): each for each in origins}

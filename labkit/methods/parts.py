"""Many sentences a part at a time, so that memory stays flat and one sees how far it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from labkit.progress import Progress

PART = 5_000  # sentences


def by_parts(encode: Callable[[list[str]], Any], sentences: list[str], progress: Progress) -> list[Any]:
    """What `encode` makes of each part, in order."""
    made = []
    for start in range(0, len(sentences), PART):
        made.append(encode(sentences[start : start + PART]))
        progress(min(start + PART, len(sentences)), len(sentences), "encoding")
    return made

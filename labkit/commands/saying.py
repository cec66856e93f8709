"""How commands say figures: to people, and as JSON with finite numbers only."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

#: in what torch says where there is no memory, which it calls a RuntimeError
_WANTED = ("can't allocate memory", "out of memory", "bad_alloc", "ALLOC_FAILED")


def finite(figures: Mapping[str, float]) -> dict[str, float | None]:
    """The figures as JSON may hold them: none in the place of what is not a number."""
    return {name: value if math.isfinite(value) else None for name, value in figures.items()}


def as_json(record: Mapping[str, Any]) -> str:
    return json.dumps(record, indent=2, ensure_ascii=False, allow_nan=False)


def figures_line(figures: Mapping[str, float]) -> str:
    """All of them in one line.

    >>> figures_line({"epoch": 3, "loss": 0.123456, "dev_auc": 0.9})
    'epoch 3, loss 0.1235, dev_auc 0.9'
    """
    return ", ".join(f"{name} {value:.4g}" for name, value in figures.items())


def no_memory(reason: BaseException) -> str | None:
    """The sentence about a want of memory, whoever wanted it: Python, numpy, or torch on its devices; else None."""
    said = " ".join(str(reason).split())
    if not isinstance(reason, MemoryError) and not any(words in said for words in _WANTED):
        return None
    what = f" ({said[:120].rstrip('.')})" if said else ""
    return (
        f"there is not enough memory{what}; give fewer rows, a smaller batch or shorter vectors, close other "
        "programs, or take a machine with more"
    )


def columns(rows: Sequence[Sequence[str]], *, right: Iterable[int] = ()) -> str:
    """Rows of cells, each column as wide as its widest cell; the columns `right` are flush right.

    >>> print(columns([["name", "hit@1"], ["tfidf", "0.5"]], right=[1]))
    name   hit@1
    tfidf    0.5
    """
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    flush = set(right)
    lines = (
        "  ".join(
            cell.rjust(width) if place in flush else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )
    return "\n".join(line.rstrip() for line in lines)

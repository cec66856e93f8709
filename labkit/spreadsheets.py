"""Rows as CSV that a spreadsheet opens as text: a sentence that begins like a formula cannot become one.

`labkit.corpora.writing` writes corpora to be read back exactly; this writes tables for people, who open them elsewhere.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from typing import Any

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "|", "%")  # as the first sign, after spaces too
MARK = "\ufeff"  # without it spreadsheets take UTF-8 for something older


def spreadsheet(rows: Iterable[Mapping[str, Any]]) -> str:
    """A header of all columns, a line a row; numbers as they are, texts that begin like a formula behind a quote.

    >>> print(spreadsheet([{"text": "=1+1", "weight": -0.5}]).removeprefix(MARK), end="")
    text,weight
    '=1+1,-0.5
    """
    rows = list(rows)
    columns = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow([harmless(name) for name in columns])
    table.writerows([harmless(row.get(name, "")) for name in columns] for row in rows)
    return MARK + text.getvalue()


def harmless(value: Any) -> Any:
    """A text that no spreadsheet takes for a formula; anything but text unchanged."""
    if not isinstance(value, str):
        return value
    begins = value.lstrip(" \u00a0\ufeff")[:1] in FORMULA and value.strip(" \u00a0\ufeff") != ""
    return f"'{value}" if begins else value

"""Rows as CSV that a spreadsheet opens as text: a sentence that begins like a formula cannot become one.

`labkit.corpora.writing` writes corpora to be read back exactly; this writes tables for people, who open them elsewhere.
`harmless` is the one guard of the package: files of vectors (`labkit.embedding_files`) pass their sentences through it.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping
from typing import Any

# The signs that a spreadsheet acts on as the first of a cell, after blanks too; a quote it may take for its own, and
# then it acts on what follows.
FORMULA = re.compile(r"""(?:[^\S\t\r\n]|[\ufeff\u200b])*[=+\-@＝＋－＠|%\t\r\n"']""")
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
    """A text that no spreadsheet takes for a formula, behind a ' if need be; anything but text unchanged.

    >>> harmless("=1+1"), harmless(" -3"), harmless("3-2"), harmless(-3)
    ("'=1+1", "' -3", '3-2', -3)
    """
    return f"'{value}" if isinstance(value, str) and FORMULA.match(value) else value

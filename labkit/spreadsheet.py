"""Tables for spreadsheets: `spreadsheet` makes one, and `without_formula` is the one guard against texts that start a
formula there.
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
    """Rows as CSV for people: a header of all columns, numbers as they are, texts like a formula behind a quote.

    >>> print(spreadsheet([{"text": "=1+1", "weight": -0.5}]).removeprefix(MARK), end="")
    text,weight
    '=1+1,-0.5
    """
    rows = list(rows)
    columns = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow([without_formula(name) for name in columns])
    table.writerows([without_formula(row.get(name, "")) for name in columns] for row in rows)
    return MARK + text.getvalue()


def without_formula(value: Any) -> Any:
    """A text that no spreadsheet takes for a formula, behind a ' if need be; anything but text unchanged.

    >>> without_formula("=1+1"), without_formula(" -3"), without_formula("3-2"), without_formula(-3)
    ("'=1+1", "' -3", '3-2', -3)
    """
    return f"'{value}" if isinstance(value, str) and FORMULA.match(value) else value

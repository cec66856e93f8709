"""`spreadsheet` makes a table for spreadsheets; `without_formula` prevents texts from being read as formulas."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping
from typing import Any

# The characters that start a formula, even after blanks; a spreadsheet may drop a leading quote and read the rest.
FORMULA = re.compile(r"""(?:[^\S\t\r\n]|[\ufeff\u200b])*[=+\-@＝＋－＠|%\t\r\n"']""")
MARK = "\ufeff"  # without it, spreadsheets read UTF-8 as an older encoding


def spreadsheet(rows: Iterable[Mapping[str, Any]]) -> str:
    """Rows as CSV for people: a header of all columns, numbers unchanged, a quote before texts that look like formulas.

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
    """Put a ' before a text that a spreadsheet would read as a formula; return anything else unchanged.

    >>> without_formula("=1+1"), without_formula(" -3"), without_formula("3-2"), without_formula(-3)
    ("'=1+1", "' -3", '3-2', -3)
    """
    return f"'{value}" if isinstance(value, str) and FORMULA.match(value) else value

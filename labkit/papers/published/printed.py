"""Figures as a paper prints them: a line a row, its name, two spaces or more, a number a column, `-` for none.

In: text. Out: name -> its figures. So a table in the code can be held beside the one in the paper.
"""

from __future__ import annotations

import re

_NONE = "-"


def printed(text: str) -> dict[str, tuple[float | None, ...]]:
    """The rows of a printed table.

    >>> printed('''
    ...     CNN + Siamese   .837 -
    ...     Ours            .858 .863
    ... ''')
    {'CNN + Siamese': (0.837, None), 'Ours': (0.858, 0.863)}
    """
    found: dict[str, tuple[float | None, ...]] = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        parts = re.split(r"\s{2,}", line, maxsplit=1)
        if len(parts) != 2 or parts[0] in found:
            raise ValueError(f"line {line!r}, expected a name of its own, two spaces, and figures; mend the table")
        found[parts[0]] = tuple(None if cell == _NONE else float(cell) for cell in parts[1].split())
    return found

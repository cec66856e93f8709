"""Every table of the papers with our figures beside the printed ones, as far as results are stored. Computes nothing.

In: the file of stored results. Out: a `StoredTable` for each; one that is not stored has the printed figures alone.
"""

from __future__ import annotations

from pathlib import Path

from labkit.papers import tables
from labkit.papers.records import Row, Table
from labkit.papers.stored import FILE, StoredFigure, StoredTable, stored

NOT_RUN = "not run here"


def beside(path: Path | str = FILE) -> dict[str, StoredTable]:
    """name, such as film/1 -> the table; all of them."""
    try:
        known = {table.name: table for table in stored(path).tables}
    except ValueError:  # no results, or not readable: what is printed stays true
        known = {}
    return {table.name: known.get(table.name) or as_printed(table) for table in tables()}


def as_printed(table: Table) -> StoredTable:
    """The printed figures, and no claim judged."""
    return StoredTable(
        name=table.name,
        title=table.title,
        paper=table.paper,
        caption=table.caption,
        note=table.note,
        data=(),
        evidence=False,
        columns=tuple(column.name for column in table.columns),
        rows=tuple(row.name for row in table.rows),
        figures=tuple(figure for row in table.rows for figure in _printed(table, row)),
        claims=(),
    )


def _printed(table: Table, row: Row) -> list[StoredFigure]:
    why = row.why_not or NOT_RUN
    return [
        StoredFigure(row.name, column.name, published, None, None, (), (), why)
        for column, published in zip(table.columns, row.published, strict=True)
    ]

"""A report for the terminal: tables as wide as it, ours with the paper's figure in brackets."""

from __future__ import annotations

from labkit.commands.saying import columns
from labkit.papers.records import Column
from labkit.papers.reports.report import NOT_EVIDENCE, Report, ours, reasons, seeds, theirs
from labkit.papers.results import Result


def as_text(report: Report, *, width: int = 120) -> str:
    """All tables, one below the other."""
    return "\n\n\n".join([_table(found, width) for found in report.results] + [f"{report.command}\n{report.made_with}"])


def _table(found: Result, width: int) -> str:
    head = f"{found.table.name}  {found.table.caption}"
    said = [head] + ([NOT_EVIDENCE] if not found.evidence else [])
    said += [f"on {'; '.join(found.data) or 'nothing that is here'}; {seeds(found)}; (the paper's figure)", ""]
    blocks = _blocks(found, width)
    said.append("\n\n".join(columns(block, right=range(1, len(block[0]))) for block in blocks))
    said += ["", *(f"  {line}" for line in (*reasons(found), *found.notes))]
    said += [f"  note: {found.table.note}"] if found.table.note else []
    for claim, paper, mine in found.judgements:
        said.append(
            f"  claim: {claim.text}: {mine.verdict} ({mine.why}); by the paper's figures {paper.verdict} ({paper.why})"
        )
    return "\n".join(said)


def _blocks(found: Result, width: int) -> list[list[list[str]]]:
    """The columns, as many side by side as there is room for."""
    rows = found.table.rows
    name = max(len(row.name) for row in rows)
    made: list[list[list[str]]] = []
    room = 0
    for column in found.table.columns:
        cells = [column.name, *_cells(found, column)]
        wide = max(map(len, cells)) + 2
        if not made or room < wide:
            made.append([[""], *([row.name] for row in rows)])
            room = width - name
        room -= wide
        for line, cell in zip(made[-1], cells, strict=True):
            line.append(cell)
    return made


def _cells(found: Result, column: Column) -> list[str]:
    """Ours, and the paper's in brackets, each flush right."""
    figures = [found.figures[row.name, column.name] for row in found.table.rows]
    mine = [ours(column, figure) for figure in figures]
    paper = ["" if figure.published is None else f"({theirs(column, figure)})" for figure in figures]
    wide = [max(map(len, cells)) for cells in (mine, paper)]
    return [f"{a.rjust(wide[0])} {b.rjust(wide[1])}" if wide[1] else a for a, b in zip(mine, paper, strict=True)]

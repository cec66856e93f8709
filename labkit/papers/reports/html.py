"""A report as one HTML page that asks nothing of the network: light and dark, readable on a phone and in print."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from labkit.papers.claims import Judgement, why
from labkit.papers.records import Column, Paper
from labkit.papers.reports.drawing import lines, points
from labkit.papers.reports.report import NOT_EVIDENCE, RULE, Report, ours, reasons, seeds, tally, theirs
from labkit.papers.results import Result

STYLE = """
:root { color-scheme: light dark; --ink: #1b1b1b; --ground: #fff; --line: #c9c9c9; --quiet: #595959; --strong: #0b5c94;
  --warn: #8a4b00 }
@media (prefers-color-scheme: dark) { :root { --ink: #eaeaea; --ground: #16181a; --line: #44484c; --quiet: #a9adb1;
  --strong: #7cc0f0; --warn: #f0b060 } }
body { margin: 0 auto; max-width: 72rem; padding: 1rem; color: var(--ink); background: var(--ground);
  font: 16px/1.5 system-ui, sans-serif }
h1 { font-size: 1.6rem } h2 { margin-top: 3rem; border-bottom: 1px solid var(--line) } h3 { margin-top: 2rem }
a { color: var(--strong) } code { overflow-wrap: anywhere }
.wide { overflow-x: auto } table { border-collapse: collapse; font-variant-numeric: tabular-nums }
th, td { padding: .25rem .6rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap }
th:first-child { text-align: left; position: sticky; left: 0; background: var(--ground); white-space: normal;
  min-width: 9rem; font-weight: normal } thead th { font-weight: 600; vertical-align: bottom; white-space: normal;
  min-width: 4rem; max-width: 11rem }
.paper { color: var(--quiet); font-size: .85em } .quiet { color: var(--quiet) } .warn { color: var(--warn) }
.claims td, .claims tbody th, .claims thead th { text-align: left; white-space: normal; vertical-align: top }
.claims { margin-top: 1rem } .claims thead th { font-weight: 600 } .claims tbody th { min-width: 14rem }
.claims td { min-width: 8rem } .claims td:last-child { min-width: 18rem }
@media (max-width: 40rem) { .claims thead { position: absolute; left: -999rem } .claims tr { display: block;
  padding: .5rem 0; border-bottom: 1px solid var(--line) } .claims td, .claims tbody th { display: block; border: 0;
  padding: .1rem 0; position: static } .claims td::before { content: attr(data-of) " "; color: var(--quiet) } }
ul { padding-left: 1.2rem } .pictures { display: flex; flex-wrap: wrap; gap: 1rem; margin-top: 1rem }
svg { width: min(100%, 22rem); border: 1px solid var(--line) } svg text { font: 12px system-ui, sans-serif;
  fill: currentColor }
"""


def as_html(report: Report) -> str:
    """The page."""
    index = "".join(
        f"<li>{escape(paper.name)}: "
        + ", ".join(f'<a href="#{_anchor(found)}">{escape(found.table.title)}</a>' for found in report.of(paper))
        for paper in report.papers
    )
    body = [
        "<h1>The papers’ tables, recomputed</h1>",
        f"<p>Ours is a mean ± standard deviation over seeds, the paper’s figure stands below. {RULE}</p>",
        f"<p>Made by <code>{escape(report.command)}</code> with {escape(report.made_with)}.</p>",
        f"<p>{escape(tally(report))}</p>",
        f"<nav><ul>{index}</ul></nav>",
        *(_paper(report, paper) for paper in report.papers),
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>The papers’ tables, recomputed</title><style>{STYLE}</style></head>\n<body>"
        + "\n".join(body)
        + "</body></html>\n"
    )


def _anchor(found: Result) -> str:
    return found.table.name.replace("/", "-")


def _paper(report: Report, paper: Paper) -> str:
    said = [f"<h2>{escape(paper.name)}</h2><p>{escape(paper.citation)}</p>"]
    said += [_table(found) for found in report.of(paper)]
    if paper.observations:
        told = (f"{escape(each.text)}: <b>{each.verdict}</b>; {escape(each.why)}" for each in paper.observations)
        said.append(f"<h3>What the paper says of itself</h3>{_list(told)}")
    return "<section>" + "\n".join(said) + "</section>"


def _table(found: Result) -> str:
    table = found.table
    said = [f'<h3 id="{_anchor(found)}">{escape(table.title)}: {escape(table.caption)}</h3>']
    if not found.evidence:
        said.append(f'<p class="warn"><b>{NOT_EVIDENCE}</b></p>')
    where = "; ".join(found.data) or "nothing that is here"
    said.append(f'<p class="quiet">On {escape(where)}; {escape(seeds(found))}.</p>')
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in ("", *(c.name for c in table.columns)))
    rows = "".join(
        f'<tr><th scope="row">{escape(row.name)}</th>'
        + "".join(_cell(found, row.name, column) for column in table.columns)
        + "</tr>"
        for row in table.rows
    )
    said.append(f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>')
    said.append(_pictures(found))
    said.append(_list(escape(line) for line in (*reasons(found), *found.notes, *filter(None, [table.note]))))
    said.append(_claims(found))
    return "\n".join(filter(None, said))


SIGNS = {
    "confirmed": "✓",
    "confirmed in part": "✓",
    "not confirmed": "✗",
    "undecided": "≈",
    "inside the spread": "≈",
}


def _claims(found: Result) -> str:
    """Each claim with both verdicts and what decides."""
    if not found.judgements:
        return ""
    names = ("claim", "by the paper’s own figures", "by ours", "what decides")
    head = "".join(f'<th scope="col">{name}</th>' for name in names)
    rows = "".join(
        f'<tr><th scope="row">{escape(claim.text)}</th><td data-of="the paper’s figures:">{_verdict(paper)}</td>'
        f'<td data-of="ours:">{_verdict(mine)}</td><td class="quiet">{escape(why(paper, mine))}</td></tr>'
        for claim, paper, mine in found.judgements
    )
    return f'<div class="wide"><table class="claims"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'


def _verdict(judgement: Judgement) -> str:
    sign = SIGNS.get(judgement.verdict, "")
    return f'<span aria-hidden="true">{sign}</span> {judgement.verdict}' if sign else judgement.verdict


def _cell(found: Result, row: str, column: Column) -> str:
    figure = found.figures[row, column.name]
    mark = f' title="{escape(figure.why)}"' if figure.why else ""
    paper = "" if figure.published is None else f'<span class="paper">paper {theirs(column, figure)}</span>'
    if figure.ours is None and paper:
        return f"<td{mark}>{paper}</td>"
    return f"<td{mark}>{escape(ours(column, figure))}{'<br>' * bool(paper)}{paper}</td>"


def _pictures(found: Result) -> str:
    drawn: list[str] = []
    if found.table.drawing == "points":
        drawn = [points(name, there, axes=found.table.axes) for name, there in found.points.items()]
    elif found.table.drawing == "lines":
        rows = found.table.rows
        places = [row.name.rsplit(" ", 1)[-1] for row in rows]
        axis = rows[0].name.rsplit(" ", 1)[0].removesuffix(" =")  # of "k = 1", "step 1"
        for column in found.table.columns:
            known = [found.figures[row.name, column.name].ours for row in rows]
            means = [None if each is None else each.mean for each in known]
            spreads = [0.0 if each is None else each.spread for each in known]
            drawn.append(lines(column.name, places, means, spreads, axis=axis))
    shown = "".join(drawn)
    return f'<div class="pictures">{shown}</div>' if shown else ""


def _list(told: Iterable[str]) -> str:
    items = "".join(f"<li>{line}</li>" for line in told)
    return f"<ul>{items}</ul>" if items else ""

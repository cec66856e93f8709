"""A report as one HTML page that asks nothing of the network: light and dark, readable on a phone and in print.

Its pictures are SVG text, with a description for those who do not see them; they take their colours from the page
(`currentColor`) and from the lab's palette, and their size from the room there is. `form_of` finds the form of a report
by the ending of a file's name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path

from labkit.figures.palette import COLOURS
from labkit.lab.papers.claims import Verdict
from labkit.lab.papers.records import Column, Paper, Point
from labkit.lab.papers.reports import (
    NOT_EVIDENCE,
    RULE,
    as_cells,
    as_csv,
    as_json,
    as_markdown,
    measured_on,
    ours,
    remarks,
    tally,
    theirs,
)
from labkit.lab.papers.stored import Report, TableResult

WIDTH, HEIGHT, EDGE = 340, 220, 54


def lines_svg(
    title: str, places: Sequence[str], means: Sequence[float | None], spreads: Sequence[float], *, axis: str = ""
) -> str:
    """One line over places, its spread as bars; places without a number are left out. `axis`: what the places are."""
    there = [(i, value, spreads[i]) for i, value in enumerate(means) if value is not None]
    if not there:
        return ""
    low = min(value - spread for _, value, spread in there)
    high = max(value + spread for _, value, spread in there)
    room = (high - low) or abs(high) or 1.0
    low, high = low - 0.05 * room, high + 0.05 * room

    def x(place: int) -> float:
        return _across(place, 0, max(len(places) - 1, 1))

    def y(value: float) -> float:
        return _up(value, low, high - low)

    colour = COLOURS[0]
    path = " ".join(f"{x(i):.1f},{y(value):.1f}" for i, value, _ in there)
    drawn = [f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>']
    for i, value, spread in there:
        if spread:
            drawn.append(
                f'<line x1="{x(i):.1f}" x2="{x(i):.1f}" y1="{y(value - spread):.1f}" y2="{y(value + spread):.1f}" '
                f'stroke="{colour}"/>'
            )
        drawn.append(f'<circle cx="{x(i):.1f}" cy="{y(value):.1f}" r="3.5" fill="{colour}"/>')
        drawn.append(_text(x(i), HEIGHT - EDGE + 18, places[i], "middle"))
    ends = sorted({min(value for _, value, _ in there), max(value for _, value, _ in there)})
    drawn += [_text(EDGE - 6, y(value) + 4, f"{value:.3g}", "end") for value in ends]
    drawn.append(_text(WIDTH / 2, HEIGHT - 6, axis, "middle"))
    alt = f"{title}: " + ", ".join(f"{places[i]} {value:.3g}" for i, value, _ in there)
    return _svg(title, alt, drawn)


def points_svg(title: str, points: Sequence[Point], *, axes: tuple[str, str] = ("", "")) -> str:
    """Points of the plane, a colour and a mark for each name; axes that mean something have a name and two ticks."""
    xs, ys = [x for _, x, _ in points], [y for _, _, y in points]
    wide, tall = (max(xs) - min(xs)) or 1.0, (max(ys) - min(ys)) or 1.0
    names = list(dict.fromkeys(name for name, _, _ in points))
    drawn = []
    for name, x, y in points:
        drawn.append(_mark(names.index(name), _across(x, min(xs), wide), _up(y, min(ys), tall), name))
    if any(axes):
        left, right, top, low = EDGE, WIDTH - EDGE, EDGE, HEIGHT - EDGE
        drawn += [_text(WIDTH / 2, HEIGHT - 6, axes[0], "middle"), _text(6, top - 14, axes[1], "start")]
        drawn += [_text(x, low + 18, f"{value:.2g}", "middle") for x, value in ((left, min(xs)), (right, max(xs)))]
        drawn += [_text(left - 8, y + 4, f"{value:.2g}", "end") for y, value in ((top, max(ys)), (low, min(ys)))]
    kinds = f"{len(names)} classes" if len(names) > 1 else "one kind"
    alt = f"{title}: {len(points)} points of {kinds}, horizontally {min(xs):.3g} to {max(xs):.3g}, vertically "
    return _svg(title, alt + f"{min(ys):.3g} to {max(ys):.3g}", drawn)


def _across(value: float, low: float, span: float) -> float:
    """The horizontal place of a value on an axis that begins at `low` and is as long as `span`."""
    return EDGE + (WIDTH - 2 * EDGE) * (value - low) / span


def _up(value: float, low: float, span: float) -> float:
    """The vertical place of a value, counted from the top."""
    return HEIGHT - EDGE - (HEIGHT - 2 * EDGE) * (value - low) / span


def _mark(number: int, x: float, y: float, name: str) -> str:
    """Circle, square, diamond, triangle, cross: told apart without colour."""
    shapes = (
        ("circle", f'cx="{x:.1f}" cy="{y:.1f}" r="4"'),
        ("rect", f'x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8"'),
        ("path", f'd="M{x:.1f} {y - 5:.1f}l5 5l-5 5l-5-5z"'),
        ("path", f'd="M{x:.1f} {y - 5:.1f}l5 9h-10z"'),
        ("path", f'd="M{x - 5:.1f} {y - 1.5:.1f}h3.5v-3.5h3v3.5h3.5v3h-3.5v3.5h-3v-3.5h-3.5z"'),
    )
    kind, form = shapes[number % len(shapes)]
    colour = COLOURS[number % len(COLOURS)]
    return f'<{kind} {form} fill="{colour}" fill-opacity="0.75"><title>{escape(name)}</title></{kind}>'


def _text(x: float, y: float, words: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def _svg(title: str, alt: str, drawn: Sequence[str]) -> str:
    head = f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(alt)}">'
    return head + _text(WIDTH / 2, 16, title, "middle") + "".join(drawn) + "</svg>"


# --- the page ----------------------------------------------------------------------------------------------------

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
    """The whole report as a page."""
    index = "".join(
        f"<li>{escape(paper.name)}: "
        + ", ".join(f'<a href="#{_anchor(result)}">{escape(result.title)}</a>' for result in report.of(paper))
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


def _anchor(result: TableResult) -> str:
    return result.name.replace("/", "-")


def _paper(report: Report, paper: Paper) -> str:
    parts = [f"<h2>{escape(paper.name)}</h2><p>{escape(paper.citation)}</p>", *map(_section, report.of(paper))]
    if paper.observations:
        items = [f"{escape(each.text)}: <b>{each.verdict}</b>; {escape(each.why)}" for each in paper.observations]
        parts.append(f"<h3>What the paper says of itself</h3>{_list(items)}")
    return "<section>" + "\n".join(parts) + "</section>"


def _section(result: TableResult) -> str:
    """All of one table: its heading, figures, pictures, remarks and claims."""
    table = result.table
    rows = [(row.name, "".join(_cell(result, row.name, column) for column in table.columns)) for row in table.rows]
    parts = [
        f'<h3 id="{_anchor(result)}">{escape(table.title)}: {escape(table.caption)}</h3>',
        "" if result.evidence else f'<p class="warn"><b>{NOT_EVIDENCE}</b></p>',
        f'<p class="quiet">On {escape(measured_on(result))}.</p>',
        _table(["", *result.columns], rows),
        _pictures(result),
        _list([escape(line) for line in (*remarks(result), table.note) if line]),
        _claims(result),
    ]
    return "\n".join(filter(None, parts))


def _table(head: Sequence[str], rows: Sequence[tuple[str, str]], kind: str = "") -> str:
    """A table of rows, each a name and its cells as markup."""
    names = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    body = "".join(f'<tr><th scope="row">{escape(name)}</th>{cells}</tr>' for name, cells in rows)
    return f'<div class="wide"><table{kind}><thead><tr>{names}</tr></thead><tbody>{body}</tbody></table></div>'


SIGNS = {
    "confirmed": "✓",
    "confirmed in part": "✓",
    "not confirmed": "✗",
    "undecided": "≈",
    "inside the spread": "≈",
}


def _claims(result: TableResult) -> str:
    """Each claim with both verdicts and what decides."""
    if not result.claims:
        return ""
    rows = [
        (
            claim.text,
            f'<td data-of="the paper’s figures:">{_verdict(claim.paper)}</td>'
            f'<td data-of="ours:">{_verdict(claim.ours)}</td><td class="quiet">{escape(claim.decides)}</td>',
        )
        for claim in result.claims
    ]
    return _table(("claim", "by the paper’s own figures", "by ours", "what decides"), rows, ' class="claims"')


def _verdict(verdict: Verdict) -> str:
    sign = SIGNS.get(verdict, "")
    return f'<span aria-hidden="true">{sign}</span> {verdict}' if sign else verdict


def _cell(result: TableResult, row: str, column: Column) -> str:
    figure = result.at(row, column.name)
    title = f' title="{escape(figure.why)}"' if figure.why else ""
    paper = "" if figure.published is None else f'<span class="paper">paper {theirs(column, figure)}</span>'
    mine = "" if figure.ours is None and paper else escape(ours(column, figure))
    return f"<td{title}>{mine}{'<br>' if mine and paper else ''}{paper}</td>"


def _pictures(result: TableResult) -> str:
    pictures: list[str] = []
    if result.table.drawing == "points":
        pictures = [points_svg(name, points, axes=result.table.axes) for name, points in result.points.items()]
    elif result.table.drawing == "lines":
        places = [row.rsplit(" ", 1)[-1] for row in result.rows]
        axis = result.rows[0].rsplit(" ", 1)[0].removesuffix(" =")  # of "k = 1", "step 1"
        for column in result.columns:
            figures = [result.at(row, column) for row in result.rows]
            means, spreads = [figure.mean for figure in figures], [figure.spread or 0.0 for figure in figures]
            pictures.append(lines_svg(column, places, means, spreads, axis=axis))
    return f'<div class="pictures">{"".join(pictures)}</div>' if any(pictures) else ""


def _list(items: Sequence[str]) -> str:
    return f"<ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>" if items else ""


# --- every form, by its ending -----------------------------------------------------------------------------------

FORMS: dict[str, Callable[[Report], str]] = {
    ".md": as_markdown,
    ".csv": as_csv,
    ".json": as_json,
    ".jsonl": as_cells,
    ".html": as_html,
}


def form_of(path: Path) -> Callable[[Report], str]:
    """How a file of this name is written."""
    if path.suffix not in FORMS:
        raise ValueError(
            f"--out is {str(path)!r}, expected a file that ends in {', '.join(FORMS)}; give it such an ending"
        )
    return FORMS[path.suffix]

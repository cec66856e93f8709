"""Figures of comparisons: runs, the best on top; variants over seeds; and a paper's values next to ours.

In: the lines of a leaderboard, a `TableResult` of a paper, or the `Figures` of an ablation. Out: plotly figures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go

from labkit.figure_names import VERDICTS, spoken
from labkit.figures import drawing as draw
from labkit.figures.drawing import Entries
from labkit.palette import COLOURS, DASHES, INK

if TYPE_CHECKING:
    from labkit.course.ablation import Figures
    from labkit.papers.bundled_report import Figure, TableResult
    from labkit.papers.claims import ShownLead
    from labkit.papers.records import Column
    from labkit.trials.leaderboard import Line

ROW, AROUND = 34, 110  # height in pixels of a row, and of everything else
OVER: Entries = {"xref": "paper", "xanchor": "left", "yanchor": "bottom"}  # a name above its row


def _in_rows(
    traces: list[Entries], names: Sequence[str], title: str, *, showgrid: bool = False, **layout: Any
) -> go.Figure:
    """Draw a row for each name, the first on top; names may contain markup."""
    rows = {"tickvals": list(range(len(names))), "ticktext": names, "range": [len(names) - 0.5, -0.5]}
    layout = {"height": AROUND + ROW * len(names)} | layout
    return draw.figure_of(traces, xaxis={"title": title}, yaxis=rows | {"showgrid": showgrid}, **layout)


# --- the best on top ---------------------------------------------------------------------------------------------

LEADER_HEIGHT, LABEL, LEADERS_LEAST = 40, 17, 200  # pixels of a line, of more text beside it, of the whole figure
LOOKS = {  # verdict -> colour, symbol
    "best": (COLOURS[0], "circle"),
    "tie": (COLOURS[5], "circle"),
    "open": (COLOURS[5], "circle-open"),
    "behind": (INK, "diamond"),
    "no order": (COLOURS[0], "circle-open"),
    "saw test": (INK, "x-open"),
}


def leader_dots(lines: Sequence[Line]) -> go.Figure:
    """Draw a mark for each line at the mean of the score that judges it, and a tick for every seed.

    The line through a mark is the 95 % interval of its difference from the best, whose score is dotted. If the line
    reaches the dotted one, it is undecided which of the two is better. The name and the score are left of the mark, and
    its label has the difference. A rule separates the lines that are not judged.
    """
    figure = lines[0].figure if lines else ""
    shown = [(place, line) for place, line in enumerate(lines) if figure in line.means]
    if not shown:
        raise ValueError(f"lines have no score {figure!r}; choose at least one run, and one of its scores")
    best = next((line.mean for _, line in shown if not line.saw_test), shown[0][1].mean)
    traces = []
    for verdict, (colour, symbol) in LOOKS.items():
        if mine := [(place, line) for place, line in shown if line.verdict == verdict]:
            named: Entries = {
                "name": VERDICTS.get(verdict, verdict),
                "hovertemplate": f"%{{text}}: %{{x:.4f}}<br>%{{customdata}}{draw.NAME}",
                "text": [draw.hover_lines(line.name) for _, line in mine],
                "customdata": [f"{line.difference} from the best" * bool(line.lead) for _, line in mine],
                "cliponaxis": False,
            }
            places, means = [place for place, _ in mine], [line.mean for _, line in mine]
            look = {"color": colour, "symbol": symbol, "size": 12}
            traces.append(draw.intervals(means, places, [_ends(line, best) for _, line in mine], look, **named))
    several = [(each, place) for place, line in shown if len(line.results) > 1 for each in line.results]
    if several:
        values, rows = [each.scores.figures[figure] for each, _ in several], [place for _, place in several]
        stroke = {"symbol": "line-ns-open", "size": 14, "color": INK, "line": {"width": 2}}
        traces.append(draw.marks(values, rows, stroke, name="one seed", hovertemplate=f"%{{x:.4f}}{draw.NAME}"))
    judged = any(line.lead for _, line in shown)
    reach = [x for trace in traces for x in trace["x"]] + [end for _, line in shown for end in _ends(line, best)]
    room = 0.05 * (max(reach) - min(reach)) or 0.05
    low, high = min(reach) - room, max(reach) + room
    if all(0 <= line.mean <= 1 for _, line in shown):  # a share
        low, high = max(low, 0), min(high, 1)
    cut = "<br>the axis does not start at 0" if low > 0 else ""  # a second line, which has room on a phone, too
    shapes = [draw.upright(best, {"color": COLOURS[0], "width": 1.5, "dash": "dot"})] if judged else []
    ends = [place for place, (line, after) in enumerate(pairwise(lines), 1) if line.saw_test != after.saw_test]
    shapes += [draw.stroke((0, 1), (at - 0.5,) * 2, {"color": INK, "width": 1}, xref="paper") for at in ends]
    names: Entries = {"tickvals": [place for place, _ in shown], "ticktext": [_said(line) for _, line in shown]}
    taller = LABEL * max(said.count("<br>") for said in names["ticktext"])
    return draw.figure_of(
        traces,
        shapes=shapes,
        xaxis={"title": spoken(figure) + cut, "showgrid": False, "range": [low, high]},
        yaxis=names | {"range": [len(lines) - 0.5, -0.5], "automargin": True, "tickfont": {"size": 13}},
        height=max(LEADERS_LEAST, 90 + LABEL * bool(cut) + (LEADER_HEIGHT + taller) * len(lines)),
        legend=draw.ABOVE | {"traceorder": "normal"},
        showlegend=True,
        margin=draw.margin(30),
    )


def _ends(line: Line, best: float) -> tuple[float, float]:
    """Return the ends of the interval of a line's difference from the best, as scores."""
    low, high = line.lead.interval() if line.lead else (best - line.mean,) * 2
    return best - high, best - low


def _said(line: Line) -> str:
    """Return the name of a line, in up to five lines, and its score."""
    name = draw.hover_lines(line.name, width=30, most=5) + " (saw test)" * line.saw_test
    return f"{name} <b>{line.mean:.3f}</b>"


# --- next to the paper -------------------------------------------------------------------------------------------

TABLE_ROW, TABLE_LEAST = 32, 220  # pixels of a row, and of the whole figure
LONG = 12  # rows from which the axis is on top, too
PRINTED = {"symbol": "diamond-open", "size": 12, "color": INK, "line": {"width": 2.5}}


def ours_beside_paper(table: TableResult, column: str) -> go.Figure:
    """Draw one column of a paper's table: an open diamond is the paper's value, a disc is ours.

    The error bar is the interval of the mean or, without an interval, the spread over seeds. A disc with a remark,
    such as that the model was trained on these texts, is open and has an asterisk. Rows of counts are not drawn.
    """
    counts = {row.name for row in table.table.rows if row.counted}
    place = {row: number for number, row in enumerate(row for row in table.rows if row not in counts)}
    of = _column(table, column).name
    figures = [figure for figure in table.figures if figure.column == of and figure.row in place]
    printed = [figure for figure in figures if figure.published is not None]
    ours = [figure for figure in figures if figure.mean is not None]
    theirs = draw.marks(
        [figure.published for figure in printed],
        [place[figure.row] for figure in printed],
        PRINTED,
        name="paper",
        customdata=[draw.hover_lines(figure.row) for figure in printed],
        hovertemplate=f"%{{customdata}}: %{{x:.4g}}{draw.NAME}",
    )
    named = "with its 95 % interval" if any(figure.interval for figure in ours) else "± spread over seeds"
    own = draw.intervals(
        [figure.mean or 0.0 for figure in ours],
        [place[figure.row] for figure in ours],
        map(_around, ours),
        {"size": 10, "color": COLOURS[0], "symbol": ["circle-open" if figure.why else "circle" for figure in ours]},
        name=f"ours, {named}",
        text=[f"<br>* {draw.short(figure.why, 60)}" if figure.why else "" for figure in ours],
        customdata=[draw.hover_lines(figure.row) for figure in ours],
        hovertemplate=f"%{{customdata}}: %{{x:.4g}}%{{text}}{draw.NAME}",
    )
    if not ours:  # a trace without points would be missing from the legend
        own = draw.marks([None], [None], {"size": 10, "color": COLOURS[0]}, name="ours: not run here")
    remarked = {figure.row for figure in ours if figure.why}
    names = [draw.middle(row, 42) + " *" * (row in remarked) for row in place]
    shared: Entries = {"legend": draw.ABOVE, "showlegend": True, "margin": draw.margin(30)}
    traces, height = [theirs, own], max(TABLE_LEAST, AROUND + TABLE_ROW * len(place))
    if len(place) > LONG:
        traces.append(draw.marks([None], [None], {}, xaxis="x2", showlegend=False))
        shared["xaxis2"] = {"overlaying": "x", "matches": "x", "side": "top"}
        shared["legend"] = draw.below(-60 / height)
    return _in_rows(traces, names, draw.short(column, 60), height=height, showgrid=True, **shared)


def _column(table: TableResult, column: str) -> Column:
    if column not in table.columns:
        raise ValueError(f"column is {column!r}, expected one of {', '.join(table.columns)}")
    return table.table.columns[table.columns.index(column)]


def _around(figure: Figure) -> tuple[float, float]:
    mean, spread = figure.mean or 0.0, figure.spread or 0.0
    return figure.interval or (mean - spread, mean + spread)


# --- over seeds --------------------------------------------------------------------------------------------------


def seed_dots(ablation: Figures, measure: str) -> go.Figure:
    """Draw a line for each variant, by `measure`: a dot for each seed, and the mean and spread of all seeds.

    A deterministic variant was measured once and shows only its mean. A mean with an open mark is behind the best one
    by an interval over seeds; one with a filled mark has not been shown to be behind.
    """
    names = list(ablation.figures)
    if not names or measure not in next(iter(ablation.figures[names[0]].values())):
        raise ValueError(f"ablation {ablation.name!r} has no metric {measure!r}; choose one of its metrics")
    spreads = [ablation.spread(name, measure) for name in names]
    ahead = ablation.front(measure)
    seeds = draw.marks(
        [value for spread in spreads for value in spread.values],
        [row for row, spread in enumerate(spreads) for _ in spread.values],
        {"size": 8, "color": INK, "symbol": "circle-open"},
        name="one seed",
        text=[f"seed {seed}" for name in names for seed in ablation.figures[name]],
        hovertemplate="%{text}: %{x:.4f}<extra></extra>",
    )
    means = draw.intervals(
        [spread.mean for spread in spreads],
        list(range(len(names))),
        [(spread.mean - spread.spread, spread.mean + spread.spread) for spread in spreads],
        {"size": 11, "color": COLOURS[0], "symbol": ["diamond" if name in ahead else "diamond-open" for name in names]},
        name="mean ± spread (open diamond: behind the best)",
        hovertemplate="mean %{x:.4f}<extra></extra>",
    )
    labels = [draw.short(name, 34) for name in names]
    return _in_rows([seeds, means], labels, spoken(measure), legend=draw.ABOVE)


# --- over numbers of labels --------------------------------------------------------------------------------------


def label_curves(
    ablation: Figures, measure: str, curves: Mapping[str, Sequence[tuple[int, str]]], levels: Mapping[str, str]
) -> go.Figure:
    """Draw a score against the number of labels, on a log axis: a line for each name through its (labels, variant).

    The error bars are the spread over seeds. A log axis cannot show zero labels, so they are at its left end.
    `levels` are variants that use no labels, each drawn as a horizontal line.
    """
    counts = sorted({count for points in curves.values() for count, _ in points})
    place = {count: count or min(filter(None, counts)) / 2 for count in counts}
    traces: list[Entries] = []
    for number, (name, points) in enumerate(curves.items()):
        spreads = [ablation.spread(variant, measure) for _, variant in points]
        x, y = [place[count] for count, _ in points], [spread.mean for spread in spreads]
        arms = {"array": [spread.spread for spread in spreads], "thickness": 1.5}
        traces.append(draw.series(number, x, y, name, "%{x} labels: %{y:.4f}", error_y=arms))
    ends = [place[counts[0]], counts[-1]]
    for number, (name, variant) in enumerate(levels.items()):
        mean, dash = ablation.spread(variant, measure).mean, DASHES[(number + 1) % len(DASHES)]
        named = {"name": draw.short(name, 40), "hovertemplate": f"%{{y:.4f}}{draw.NAME}"}
        traces.append(draw.curve(ends, [mean, mean], INK, dash, 1.5, **named))
    said = {"tickvals": [place[count] for count in counts], "ticktext": [f"{count:,}" for count in counts]}
    return draw.figure_of(
        traces,
        xaxis={"type": "log", "title": "number of labels used for training"} | said,
        yaxis={"title": spoken(measure)},
        height=430,
        legend=draw.below(-0.2),
    )


# --- before and after --------------------------------------------------------------------------------------------

CLAIM_HEIGHT = 54  # pixels of a claim


def leads_before_and_after(leads: Sequence[tuple[str, ShownLead, ShownLead]]) -> go.Figure:
    """Draw a line for each claim: its lead with the printed settings (hollow), and with those chosen on dev (filled).

    Both leads compare the same two rows in the same column. If the claim leaves them open, they are those that decide
    it on tuned rows. Left of 0, the other row leads.
    """
    names, before, after = zip(*leads, strict=True)
    looks = ((before, "as printed", "circle-open", COLOURS[1], -0.16), (after, "tuned", "circle", COLOURS[0], 0.16))
    traces = []
    for drawn, name, symbol, colour, aside in looks:
        said = [
            f"{draw.short(lead.column, 30)}: {draw.short(lead.row, 40)}<br>over {draw.short(lead.other, 40)}"
            for lead in drawn
        ]
        traces.append(
            draw.intervals(
                [lead.lead for lead in drawn],
                [row + aside for row in range(len(leads))],
                [(lead.low, lead.high) for lead in drawn],
                {"symbol": symbol, "size": 10, "color": colour},
                name=name,
                text=said,
                hovertemplate="%{x:+.4f}<br>%{text}<extra></extra>",
            )
        )
    lines = [draw.annotation(draw.short(name, 90), 0, row - 0.22, size=12, **OVER) for row, name in enumerate(names)]
    return draw.figure_of(
        traces,
        annotations=lines,
        xaxis={"title": "lead and its 95 % interval", "zerolinecolor": INK, "zerolinewidth": 2},
        yaxis=draw.EMPTY | {"range": [len(leads) - 0.5, -0.8]},
        height=AROUND + CLAIM_HEIGHT * len(leads),
        legend=draw.ABOVE,
        showlegend=True,
        margin=draw.margin(30),
    )

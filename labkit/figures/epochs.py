"""Figures over epochs: a run's probe as it moves through the space, its cosines, and training curves.

In: a `Journey`, `EpochCosines`, or histories by name. Out: plotly figures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from labkit.evaluation.geometry import EpochCosines
from labkit.figure_names import DEV, OF_PROBE, spoken
from labkit.figures import drawing as draw
from labkit.figures.clusters import CLASS, SMALLER, colouring, fixed, names_in, traces
from labkit.figures.drawing import Entries
from labkit.palette import CLEAR, COLOURS, FAINT, INK, NEGATIVE, POSITIVE, look
from labkit.projection.epochs import Journey
from labkit.runs import History

# --- the moving picture ------------------------------------------------------------------------------------------

LETTERS = 12  # characters of a name in the legend
NAMED_IN = 240.0, 0.4  # width in pixels and share of the figure's height in which names have room, also on phones
STEP, TRAVEL = 800, 600  # milliseconds from one epoch to the next, and of the movement
CURVES = (  # attribute of a Journey, name, colour, dash, its sign
    ("space", "in the space", COLOURS[0], "solid", "━"),
    ("drawn", "in the picture", COLOURS[3], "dash", "╍"),
)
KEY = "inter/intra " + "  ".join(f'<span style="color:{ink}">{sign}</span> {name}' for _, name, ink, _, sign in CURVES)
ABOVE_CURVES: Entries = {"xref": "x2 domain", "yref": "y2 domain", "xanchor": "left", "yanchor": "bottom"}


def clusters_over_epochs(
    journey: Journey,
    *,
    at: int | None = None,
    kept: int | None = None,
    back: bool = False,
    by: str = CLASS,
    most: int | None = None,
    order: Sequence[str] = (),
    chosen: Sequence[int] | np.ndarray | None = None,
    found: Sequence[int] | np.ndarray = (),
    ring: int | None = None,
    named: bool = False,
    legend: bool | None = None,
    height: int = 600,
) -> go.Figure:
    """Draw a run's probe over the epochs: points that move within fixed axes, above curves of inter / intra.

    The figure has a frame for each epoch, so it plays in the browser without a server. It shows the `at`-th kept epoch,
    by default the last, and its button plays all epochs. It says which is the `kept` epoch, that of the saved weights;
    with `back`, playing ends there. Everything else is as in `clusters`.
    """
    at = len(journey) - 1 if at is None else at
    colours = colouring(journey.shown, by, most=most, order=order)
    points = journey.pictures[at].points
    moving: list[Entries] = []
    groups: list[np.ndarray] = []
    for trace, rows in traces(points, journey.shown, colours, letters=LETTERS):
        trace["marker"]["size"] *= SMALLER
        if chosen is not None:
            trace["selectedpoints"] = np.flatnonzero(np.isin(rows, chosen)).tolist()
        moving.append(trace | draw.on(1))
        groups.append(rows)
    for ringed, size, name in ((found, 15, "found"), ([] if ring is None else [ring], 26, "")):
        groups.append(np.asarray(ringed, np.int32))
        marker = {"symbol": "circle-open", "size": size, "color": "#D55E00", "line": {"width": 3}}
        named_so = {"name": name, "showlegend": bool(name and len(ringed))}
        moving.append(_still(points[groups[-1]], marker) | named_so | draw.on(1))
    hover = f"epoch %{{x}}: %{{y:.3f}}{draw.NAME}"
    ratios = [_ratios(journey, attribute) for attribute, *_ in CURVES]
    curves = [
        draw.curve(journey.epochs, values, colour, dash, name=name, hovertemplate=hover, showlegend=False) | draw.on(2)
        for values, (_, name, colour, dash, _) in zip(ratios, CURVES, strict=True)
    ]
    now = [values[at] for values in ratios]
    dot = {"size": 11, "color": [colour for _, _, colour, *_ in CURVES], "line": {"width": 1.5, "color": INK}}
    dots = _still(np.array([[journey.epochs[at]] * 2, now]).T, dot) | _named(journey.epochs[at]) | draw.on(2)
    names = colours if colours.names else colouring(journey.shown, CLASS, most=most, order=order)
    written = [
        names_in(picture.points, names, (NAMED_IN[0], NAMED_IN[1] * height), journey.axes, ring=ring) if named else []
        for picture in journey.pictures
    ]
    longest = max(map(len, written))
    texts = [_texts(journey, place, names, height, longest, kept) for place, names in enumerate(written)]
    font = {"size": [13, *[12] * longest], "weight": 600, "shadow": "auto", "color": INK}
    looks: Entries = {"textfont": font, "textposition": ["top left", *["middle center"] * longest]}
    said = _still(np.empty((0, 2)), {}) | {"mode": "text", "cliponaxis": False} | looks | texts[at] | draw.on(1)
    drawing = [*moving, *curves, dots, said]
    if kept in journey.epochs:
        place = journey.epochs.index(kept)
        mark = {"symbol": "circle-open", "size": 18, "color": INK}  # around the dot, when it is there
        ends = [values[place] for values in ratios]
        drawing.append(draw.marks([kept] * 2, ends, mark, name="kept", hoverinfo="skip", cliponaxis=False) | draw.on(2))
    layout: Entries = {"height": height, "margin": draw.margin(40) | {"l": 50}}
    if legend is not None:
        layout = fixed(drawing, height, legend=legend, t=40, l=50, b=45)
    return draw.figure_of(
        drawing,
        frames=[_frame(journey, place, groups, texts[place]) for place in range(len(journey))],
        updatemenus=[_menu(journey, kept if back else None)],
        legend=draw.below(-0.13) | {"entrywidth": 68, "font": {"size": 11}, "itemsizing": "constant"},
        dragmode="pan",
        annotations=[draw.annotation(KEY, 0, 1, size=12, **ABOVE_CURVES)],
        **layout,
        **_axes(journey),
    )


def _ratios(journey: Journey, attribute: str) -> list[float | None]:
    """Return the ratios inter / intra as plotly draws them: None for infinite or missing ones."""
    ratios = [separation.ratio for separation in getattr(journey, attribute)]
    return [ratio if np.isfinite(ratio) else None for ratio in ratios]


def _still(points: np.ndarray, marker: Entries) -> Entries:
    x, y = np.reshape(points, (-1, 2)).T.tolist()
    return draw.marks(x, y, marker, hoverinfo="skip", showlegend=False)


def _frame(journey: Journey, place: int, groups: list[np.ndarray], texts: Entries) -> Entries:
    """Return the moving parts as plain lists: points of each trace, rings, dots on the curves, and texts."""
    points = journey.pictures[place].points.round(4)
    data = [{"type": "scatter", "x": points[rows, 0].tolist(), "y": points[rows, 1].tolist()} for rows in groups]
    now = [_ratios(journey, attribute)[place] for attribute, *_ in CURVES]
    epoch = journey.epochs[place]
    data += [{"type": "scatter", "x": [epoch] * 2, "y": now} | _named(epoch), {"type": "scatter"} | texts]
    last = len(groups) + len(CURVES)
    return {"name": str(epoch), "data": data, "traces": [*range(len(groups)), last, last + 1]}


def _named(epoch: int) -> Entries:
    """Return names for the dots on the curves, so that they appear at the next epoch at once, as its number does."""
    return {"ids": [f"{epoch} {name}" for _, name, *_ in CURVES]}


def _texts(journey: Journey, place: int, names: list[Entries], height: int, longest: int, kept: int | None) -> Entries:
    """Return the epoch in the lower right corner and the names of classes, which travel with their points.

    They are not annotations, which would stay in place until the animation stops. Each frame has `longest` names, some
    empty.
    """
    (left, right), (low, high) = journey.axes.tolist()
    pixels = min(NAMED_IN[0] / (right - left), NAMED_IN[1] * height / (high - low))
    said = f"{journey.unit} {journey.epochs[place]}" + {0: " (untrained)", kept: " (kept)"}.get(
        journey.epochs[place], ""
    )
    none = longest - len(names)
    return {
        "x": [right, *(name["x"] for name in names), *[left] * none],
        "y": [low, *(name["y"] + name["yshift"] / pixels for name in names), *[high] * none],
        "text": [said, *(name["text"] for name in names), *[""] * none],
    }


def _axes(journey: Journey) -> Entries:
    x, y = journey.axes.tolist()
    layout = draw.stacked((0.78, 0.22), gap=0.11, x={}, y={})
    layout["xaxis"] |= draw.EMPTY | {"ticks": "", "range": x}
    layout["yaxis"] |= draw.EMPTY | {"ticks": "", "range": y}
    first, last = journey.epochs[0], journey.epochs[-1]
    room = 0.03 * (last - first) or 0.5
    layout["xaxis2"] |= {"title": {"text": journey.unit, "standoff": 2}, "dtick": max(1, round((last - first) / 10))}
    layout["xaxis2"]["range"] = [first - room, last + room]  # which stays while the dots move
    highest = max([ratio or 0 for name, *_ in CURVES for ratio in _ratios(journey, name)]) or 1.0
    layout["yaxis2"] |= {"range": [0, 1.25 * highest], "nticks": 3}  # with room for a dot at the highest place
    return layout


def _menu(journey: Journey, end: int | None) -> Entries:
    """Return the buttons: play from the first epoch to the last, and then to `end`; and stop."""
    play = {
        "frame": {"duration": STEP, "redraw": False},
        "transition": {"duration": TRAVEL, "easing": "cubic-in-out"},
        "fromcurrent": False,
        "mode": "immediate",
    }
    way = [str(epoch) for epoch in (*journey.epochs, *[end] * (end in journey.epochs[:-1]))]
    stop = {"frame": {"duration": 0, "redraw": False}, "mode": "immediate"}
    buttons = [
        {"label": "▶ Play", "method": "animate", "args": [way, play]},
        {"label": "❚❚ Stop", "method": "animate", "args": [[None], stop]},
    ]
    where = {"x": 1, "y": 1, "xanchor": "right", "yanchor": "bottom", "direction": "left", "pad": {"r": 0, "b": 2}}
    looks = {"type": "buttons", "showactive": False, "font": {"color": INK, "size": 14}, "bgcolor": CLEAR}
    return looks | where | {"buttons": buttons}


# --- training curves ---------------------------------------------------------------------------------------------


def curve_columns(histories: Mapping[str, History]) -> list[str]:
    """Return the columns worth drawing: first the losses, then the scores on dev.

    >>> curve_columns({"a": History(({"epoch": 1, "loss": 2.0, "gradient": 0.1, "dev_auc": 0.7},))})
    ['loss', 'dev_auc']
    """
    columns = dict.fromkeys(name for history in histories.values() for name in history.columns)
    minimised = [name for name in columns if name in ("loss", "objective")]
    return minimised + [name for name in columns if name.startswith(DEV)]


def kept_epoch(history: History) -> int | None:
    """Return the epoch whose weights a run keeps, the first with the best dev score; None if that is not known.

    >>> kept_epoch(History(tuple({"epoch": at, "loss": 1.0, "dev_auc": auc} for at, auc in enumerate((0.5, 0.9, 0.9)))))
    1
    """
    dev = [name for name in history.columns if name.startswith(DEV)]
    if len(dev) != 1 or "loss" not in history.columns:  # the last iterate of FILM counts, whatever its dev score
        return None
    return int(max(history.rows, key=lambda row: row.get(dev[0], -np.inf))["epoch"])


ABREAST, KEPT = 3, 14  # panels per row; pixels of the mark of the kept epoch
LINE, AROUND = 15, 90  # pixels from one label to the next, and of what is above and below the panels


def training_curves(
    histories: Mapping[str, History], columns: Sequence[str] | None = None, *, height: int = 300
) -> go.Figure:
    """Draw a panel for each column and a line for each run; a run without a column is missing from its panel.

    If there is room, a label at the end of a line shows its last value (one run) or its run's name (one panel). The
    largest mark of a line is at the epoch whose weights are kept.
    """
    columns = curve_columns(histories) if columns is None else list(columns)
    if not columns:
        raise ValueError(
            "histories contain neither a loss nor a dev score; use a method that trains in epochs, or choose the "
            "columns"
        )
    traces: list[Entries] = []
    alone, fits = len(histories) == 1, LINE * len(histories) <= height - AROUND
    labels = alone or (len(columns) == 1 and fits)  # else a legend
    for number, (name, history) in enumerate(histories.items()):
        own = [(panel, column) for panel, column in enumerate(columns, 1) if column in history.columns]
        for panel, column in own:
            shared = {"legendgroup": name, "showlegend": not labels and panel == own[0][0]} | draw.on(panel)
            shared["cliponaxis"] = False
            points = history.column("epoch"), history.column(column)
            line = draw.series(number, *points, name, "epoch %{x}: %{y:.4g}", **shared)
            line["marker"]["size"] = [KEPT if epoch == kept_epoch(history) else 8 for epoch in points[0]]
            traces.append(line)
    epochs = [row["epoch"] for history in histories.values() for row in history.rows]
    first, last = min(epochs), max(epochs)
    room = 0.04 * (last - first) or 0.5
    x = {"title": {"text": "epoch", "standoff": 12}, "dtick": max(1, round((last - first) / 8)), "tick0": 0}
    x["range"] = [first - room, last + room]
    rows, size, names = -(-len(columns) // ABREAST), 16, list(map(spoken, columns))
    if rows > 1:  # many panels need short names
        size, names = 14, [spoken(name.removeprefix(OF_PROBE)).replace(", ", ",<br>") for name in columns]
    gap = (0.3 if alone and len(columns) == 2 else 0.12 if rows == 1 else 0.1, 0.5 / rows)
    layout = draw.side_by_side(names, columns=min(ABREAST, len(columns)), gap=gap, size=size, x=x, y={})
    layout["annotations"] = [title | {"yshift": KEPT / 2} for title in layout["annotations"]]  # above a mark at 1
    for panel, name in enumerate(columns, 1):  # for a single epoch, plotly would draw a share from -0.5 to 1.5
        values = [value for each in histories.values() if name in each.columns for value in each.column(name)]
        if all(0 <= value <= 1 for value in values if value == value):  # not NaN
            layout[f"yaxis{draw.panel_suffix(panel)}"] |= {"autorangeoptions": {"clipmin": 0, "clipmax": 1}}
    legend, around = draw.below(-0.3 / rows), draw.margin(40 if rows == 1 else 50)
    if labels and rows == 1:
        around |= {"r": 42 if alone else 150}
        layout["annotations"] += [
            label for panel, name in enumerate(columns, 1) for label in _end_labels(histories, name, panel, height)
        ]
    return draw.figure_of(traces, height=rows * height, legend=legend, margin=around, **layout)


def _end_labels(histories: Mapping[str, History], column: str, panel: int, height: int) -> list[Entries]:
    """Return a label at the last point of each line, moved down where lines end side by side."""
    known = {name: each for name, each in histories.items() if column in each.columns}
    lines = {name: zip(each.column("epoch"), each.column(column), strict=True) for name, each in known.items()}
    points = {name: [point for point in line if point[1] == point[1]] for name, line in lines.items()}  # without NaN
    values = [value for line in points.values() for _, value in line] or [0.0]
    scale = (height - AROUND) / ((max(values) - min(values)) or 1.0)  # pixels for 1
    labels, lowest, axes = [], float("inf"), draw.on(panel)
    where = {"xref": axes["xaxis"], "yref": axes["yaxis"], "xanchor": "left", "xshift": 10}
    ends = [(*line[-1], name) for name, line in points.items() if line]
    for epoch, value, name in sorted(ends, key=lambda end: -end[1]):
        lowest = min(scale * value, lowest - LINE)
        dot = f'<span style="color:{look(list(histories).index(name))[0]}">●</span>'
        text = f"{value:.3g}" if len(histories) == 1 else f"{dot} {draw.middle(name, 21)}"
        labels.append(draw.annotation(text, epoch, value, size=12, yshift=lowest - scale * value, **where))
    return labels


RIDGES = 9  # epochs drawn, one below the other


def cosine_ridges(run: EpochCosines) -> go.Figure:
    """Draw the distribution of cosines of positive and negative pairs: two hills per epoch, the first epoch on top.

    The hills of an epoch share a scale that gives the higher one full height; their two means are on the right.
    """
    count = len(run.epochs)
    chosen = np.unique(np.linspace(0, count - 1, min(count, RIDGES)).round().astype(int)).tolist()
    middles = (run.edges[1:] + run.edges[:-1]) / 2
    kinds = (
        ("positive pairs (same class)", POSITIVE, "rgba(0, 114, 178, 0.35)", "solid", run.positive),
        ("negative pairs", NEGATIVE, "rgba(230, 159, 0, 0.3)", "dot", run.negative),
    )
    traces: list[Entries] = []
    for place, at in enumerate(chosen):
        highest = np.nanmax([run.positive[at], run.negative[at]])
        for number, (name, colour, pale, dash, shares) in enumerate(kinds):
            if np.isnan(shares[at]).any():  # a probe without classes
                continue
            hill = 0.92 * shares[at] / highest - place
            more = {"fill": "toself", "fillcolor": pale, "name": name, "legendgroup": name, "showlegend": not place}
            hover = {
                "customdata": np.pad(shares[at], 1),
                "hovertemplate": f"epoch {run.epochs[at]}, %{{x:.2f}}: %{{customdata:.1%}} of the pairs{draw.NAME}",
                "hoveron": "points",
            }
            x, y = [run.edges[0], *middles, run.edges[-1]], [-place, *hill, -place]
            traces.append(draw.curve(x, y, colour, dash, 2, zorder=len(kinds) * place + number) | more | hover)
    shown = run.positive[chosen].max(axis=0) > 0, run.negative[chosen].max(axis=0) > 0
    low = float(run.edges[:-1][np.logical_or(*shown)].min())
    notes: list[Entries] = []
    right: Entries = {"size": 12, "xref": "paper", "xanchor": "left", "align": "left"}
    for place, at in enumerate(chosen):
        said = zip(("positive", "negative"), run.means[at], strict=True)
        text = "<br>".join(f"{name} {mean:.2f}" for name, mean in said if np.isfinite(mean))
        notes.append(draw.annotation(text, 1.01, 0.4 - place, **right))
    rows = {"tickvals": [-place for place in range(len(chosen))], "range": [0.85 - len(chosen), 1.1]}
    return draw.figure_of(
        traces,
        height=520,
        annotations=[*notes, draw.annotation("mean", 1.01, 1.0, yanchor="middle", **right)],
        xaxis={"title": "cosine", "zerolinecolor": FAINT, "range": [low - 0.03, 1.03]},
        yaxis=rows | {"ticktext": [f"epoch {run.epochs[at]}" for at in chosen]},
        legend=draw.ABOVE,
        margin=draw.margin(34) | {"r": 100},
    )

"""Three encoders side by side: which words each number of a sentence's vector comes from. Out: a plotly figure.

From bottom to top: the words, their vectors, what the encoder makes of each place, and the one vector of the sentence.
Blue is what gets into it; grey is computed and left behind.
"""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from labkit.figures.drawing import COLOURS, INK, Entries, drawn, margin, on, side_by_side

WORDS = ("how", "do", "I", "cook")
SHARES = (0.1, 0.1, 0.2, 0.6)  # of attention, for the drawing
LARGEST, WIDTH = 1, 3  # the window that answers most, and its width
VECTOR, PLACE, LOWER, UPPER, TOP = 1.0, 2.5, 2.2, 2.9, 4.3  # how high each row stands
LEFT_BEHIND = "rgba(128, 128, 128, 0.55)"


def three_encoders(words: Sequence[str] = WORDS, *, height: int = 400) -> go.Figure:
    """CNN, LSTM, BiLSTM with attention, on a sentence of four words."""
    if len(words) != len(SHARES):
        raise ValueError(f"words are {len(words)}, expected {len(SHARES)}: the shares of attention are drawn for them")
    places = range(len(words))
    (chain, forth), (both, ways) = _lstm(places), _bilstm(places)
    traces = [*_cnn(places), *chain, *both]
    for panel in (1, 2, 3):
        traces += [_words(panel, words), _nodes(panel, [VECTOR] * len(words), INK, "square", "a word's vector")]
    bare = {"showgrid": False, "zeroline": False, "showticklabels": False, "fixedrange": True}
    layout = side_by_side(
        ("CNN", "LSTM", "BiLSTM with<br>attention"),
        gap=0.06,
        size=14,
        x=bare | {"range": [-0.6, len(words) - 0.1]},
        y=bare | {"range": [0.0, TOP + 0.75]},
    )
    layout["annotations"] += forth + ways
    return drawn(traces, height=height, showlegend=False, margin=margin(46), **layout)


def _cnn(places: range) -> list[Entries]:
    """Lines from the window to its answer, from each answer to the maximum; the largest in colour."""
    window = range(LARGEST, min(LARGEST + WIDTH, len(places)))
    lines = [_line(1, (t, VECTOR), (LARGEST, PLACE), COLOURS[0], 2) for t in window]
    lines += [_line(1, (t, PLACE), (1.5, TOP), LEFT_BEHIND, 1) for t in places if t != LARGEST]
    lines.append(_line(1, (LARGEST, PLACE), (1.5, TOP), COLOURS[0], 3))
    colours = [COLOURS[0] if t == LARGEST else INK for t in places]
    nodes = _nodes(1, [PLACE] * len(places), colours, "circle", "the filter's answer at this word")
    return [*lines, nodes, _top(1, "largest"), _letter(1, PLACE, "c"), _letter(1, VECTOR, "x")]


def _lstm(places: range) -> tuple[list[Entries], list[Entries]]:
    """A chain of states; the last goes up."""
    last = len(places) - 1
    lines = [_line(2, (t, VECTOR), (t, PLACE), INK, 1) for t in places]
    lines.append(_line(2, (last, PLACE), (1.5, TOP), COLOURS[0], 3))
    colours = [COLOURS[0] if t == last else INK for t in places]
    nodes = _nodes(2, [PLACE] * len(places), colours, "circle", "the state after this word")
    arrows = [_arrow(2, t, t + 1, PLACE) for t in places[:-1]]
    return [*lines, nodes, _top(2, "last"), _letter(2, PLACE, "h"), _letter(2, VECTOR, "x")], arrows


def _bilstm(places: range) -> tuple[list[Entries], list[Entries]]:
    """A chain each way; every word's state goes up, as thick as its share."""
    lines = [_line(3, (t, VECTOR), (t, UPPER), INK, 1) for t in places]
    lines += [_line(3, (t, UPPER), (1.5, TOP), COLOURS[0], 1 + 9 * SHARES[t]) for t in places]
    nodes = [
        _nodes(3, [height] * len(places), COLOURS[0], "circle", said)
        for height, said in ((LOWER, "what comes before this word"), (UPPER, "what comes after it"))
    ]
    arrows = [_arrow(3, t, t + 1, LOWER) for t in places[:-1]] + [_arrow(3, t + 1, t, UPPER) for t in places[:-1]]
    return [*lines, *nodes, _top(3, "Σ a h"), _letter(3, PLACE, "h"), _letter(3, VECTOR, "x")], arrows


# --- what a panel is made of -----------------------------------------------------------------------------------


def _words(panel: int, words: Sequence[str]) -> Entries:
    return _text(panel, list(range(len(words))), 0.35, list(words), 12)


def _letter(panel: int, height: float, letter: str) -> Entries:
    """What the row is called in the formulas, at its right end."""
    return _text(panel, [len(WORDS) - 0.45], height, [f"<i>{letter}</i>"], 13)


def _text(panel: int, x: list[float], y: float, texts: list[str], size: int) -> Entries:
    font = {"size": size, "color": INK}
    said = {"type": "scatter", "mode": "text", "text": texts, "textfont": font, "hoverinfo": "skip"}
    return said | {"x": x, "y": [y] * len(x)} | on(panel)


def _nodes(panel: int, heights: list[float], colour: str | list[str], symbol: str, said: str) -> Entries:
    marker = {"size": 13, "color": colour, "symbol": symbol}
    node = {"type": "scatter", "mode": "markers", "marker": marker, "hovertemplate": f"{said}<extra></extra>"}
    return node | {"x": list(range(len(heights))), "y": heights} | on(panel)


def _top(panel: int, how: str) -> Entries:
    """The sentence's vector, and above it how it is made."""
    marker = {"size": 22, "color": COLOURS[0], "symbol": "diamond"}
    font = {"size": 13, "color": INK}
    node = {"type": "scatter", "mode": "markers+text", "marker": marker, "text": [how], "textposition": "top center"}
    told = {"textfont": font, "hovertemplate": "the sentence's vector<extra></extra>"}
    return node | told | {"x": [1.5], "y": [TOP]} | on(panel)


def _line(panel: int, start: tuple[float, float], end: tuple[float, float], colour: str, width: float) -> Entries:
    line = {"type": "scatter", "mode": "lines", "line": {"color": colour, "width": width}, "hoverinfo": "skip"}
    return line | {"x": [start[0], end[0]], "y": [start[1], end[1]]} | on(panel)


def _arrow(panel: int, start: float, end: float, height: float) -> Entries:
    """From one state to the next."""
    axes = on(panel)
    step = 0.28 if end > start else -0.28
    ends = {"ax": start + step, "x": end - step, "ay": height, "y": height}
    refs = {"xref": axes["xaxis"], "yref": axes["yaxis"], "axref": axes["xaxis"], "ayref": axes["yaxis"]}
    return ends | refs | {"text": "", "showarrow": True, "arrowhead": 2, "arrowwidth": 1.5, "arrowcolor": INK}

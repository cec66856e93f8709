"""Figures of similarity: its values on labelled pairs, the threshold, and the parts of one similarity.

In: a cosine and a label or score for each pair, or an `Explanation` of one pair. Out: plotly figures. If two hills of
cosines overlap, or a cloud has no slope, the similarity does not distinguish the pairs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from labkit.explanation import LEFT_OUT, REST
from labkit.figures import drawing as draw
from labkit.figures.drawing import Entries
from labkit.palette import CLEAR, COLOURS, INK, NEGATIVE, POSITIVE, style

if TYPE_CHECKING:
    from labkit.explanation import Explanation
    from labkit.pthought.view import Companions

# --- cosines of pairs --------------------------------------------------------------------------------------------


def similarity_histogram(cosine: np.ndarray, labels: np.ndarray, *, height: int = 450) -> go.Figure:
    """Draw the distribution of cosines for each of the two labels, as shares of the pairs with this label."""
    kinds = [(cosine[labels == label], *look) for label, *look in ((1, "the same", ""), (0, "not the same", "/"))]
    return _hills(kinds, (), height)


def coherence_hills(companions: Companions, *, height: int = 300) -> go.Figure:
    """Draw the distribution of cosines within and between groups; lines mark the two means, whose gap is the lift."""
    kinds = [(companions.within, "within groups", ""), (companions.between, "between groups", "/")]
    return _hills(kinds, (companions.figures.within, companions.figures.between), height)


def _hills(kinds: Sequence[tuple[np.ndarray, str, str]], means: Sequence[float], height: int) -> go.Figure:
    """Draw the cosines of two kinds of pairs, each with a name and a pattern, and their means if given."""
    edges = np.linspace(min(-0.05, *(values.min(initial=0.0) for values, *_ in kinds)), 1.0, 43)
    hills = []
    for (values, name, hatch), colour in zip(kinds, (POSITIVE, NEGATIVE), strict=True):
        look = {"color": colour, "opacity": 0.65, "line": {"width": 0}}
        look["pattern"] = {"shape": hatch, "fillmode": "overlay", "solidity": 0.25}
        shares = np.histogram(values.clip(edges[0], 1.0), edges)[0] / max(len(values), 1)
        named = {"name": name, "hovertemplate": f"cosine %{{x:.2f}}: %{{y:.1%}} of the pairs{draw.NAME}"}
        hills.append(draw.bars((edges[1:] + edges[:-1]) / 2, shares, look, width=edges[1] - edges[0], **named))
    marked = list(zip(means, (POSITIVE, NEGATIVE), ("solid", "dash"), strict=False))
    return draw.figure_of(
        hills,
        shapes=[draw.upright(mean, {"color": colour, "width": 3, "dash": dash}) for mean, colour, dash in marked],
        annotations=[draw.annotation(f"{mean:.2f}", mean, 1.0, yref="paper", yanchor="bottom") for mean in means],
        xaxis={"title": "cosine", "range": [edges[0], 1.02]},
        yaxis={"title": "share of the pairs", "tickformat": ".0%"},
        barmode="overlay",
        bargap=0,
        height=height,
        legend=draw.below(-0.3 * 300 / height),
        margin=draw.margin(28),
    )


def similarity_scatter(cosine: np.ndarray, scores: np.ndarray) -> go.Figure:
    """Draw human scores against cosines."""
    hover = {"customdata": np.arange(len(scores)), "hovertemplate": "cosine %{x:.2f}, score %{y:.1f}<extra></extra>"}
    cloud = draw.marks(cosine, scores, {"size": 7, "color": style(0)[0], "opacity": 0.45}) | hover
    return draw.figure_of(
        [cloud],
        height=450,
        xaxis={"title": "cosine similarity of the two sentences", "range": [min(0.0, *cosine.tolist()) - 0.03, 1.05]},
        yaxis={"title": "a person's score", "gridcolor": INK, "gridwidth": 0.3},
    )


# --- a similarity taken apart ------------------------------------------------------------------------------------

READABLE = 200  # cells of a square; with more, numbers are too small to read
NOTHING = 0.02  # share of the largest part below which a part has no colour
# From orange through transparent to blue, as dark as black text on it allows. All colours except the transparent middle
# are opaque, so that text is readable on light and dark pages.
LEAST, STRONGEST = ("#FAECCC", "#D6E8F3"), (NEGATIVE, "#4297C9")
CARDS = [
    [0, STRONGEST[0]], [0.5 - NOTHING / 2, LEAST[0]], [0.5 - NOTHING / 2, CLEAR],
    [0.5 + NOTHING / 2, CLEAR], [0.5 + NOTHING / 2, LEAST[1]], [1, STRONGEST[1]],
]  # fmt: skip
SLANT, STEEP = -40, -90  # angles of the names below the square
FINE = 0.1  # if the largest part is below this, numbers have three digits
LEAST_GAP = 5e-4


def word_pairs(explanation: Explanation, *, most: int = 40, numbers: bool = True) -> go.Figure:
    """Draw a cell for each word of a and each word of b, in sentence order; the cells add up to the similarity.

    If a sentence has more than `most` words, those with the largest parts are shown. Without `numbers`, the numbers of
    the cells appear only under the mouse.
    """
    square, lines, x, y = _square(explanation, most, letters=16)
    what, rows = _what(explanation), len(y["tickvals"])
    square |= {} if numbers else {"text": None, "texttemplate": None}
    return draw.figure_of(
        [square], shapes=lines, xaxis=x | {"title": f"{what} of b"}, yaxis=y | {"title": f"{what} of a"},
        height=max(420, 15 * rows),
    )  # fmt: skip


def _square(explanation: Explanation, most: int, *, letters: int) -> tuple[Entries, list[Entries], Entries, Entries]:
    """Return the cells of the strongest words, with numbers if they fit, lines before `(rest)`, and both axes."""
    e = explanation
    if not e.word_pairs:
        raise ValueError(
            "explanation has no word pairs, because no word of one sentence was seen in training; choose other "
            "sentences"
        )
    rows, columns = _largest(e.own_a, most), _largest(e.own_b, most)
    z = np.array(e.parts)[np.ix_(rows, columns)]
    a, b = [e.names_a[row] for row in rows], [e.names_b[column] for column in columns]
    met = [[f"{draw.short(s, 40)} with {draw.short(t, 40)}" for t in b] for s in a]
    hover = {"customdata": met, "hovertemplate": "%{customdata}: %{z:+.3f}<extra></extra>"}
    reach = _strongest(z)
    bar = {"thickness": 12, "tickfont": {"size": 12}, "tickformat": "+.2f"}
    few = z.size <= READABLE
    heat = draw.cells(z, -reach, reach, CARDS, showscale=not few, colorbar=bar, xgap=1, ygap=1, **hover)
    x, y = (draw.BARE | draw.ticks(draw.telling(names, letters), letters) for names in (b, a))
    x |= {"tickangle": SLANT if len(b) <= 12 else STEEP, "tickfont": {"size": 12 if len(b) <= 24 else 10}}
    y |= {"autorange": "reversed", "tickfont": {"size": 12 if len(a) <= 30 else 10}}
    thick = {"color": INK, "width": 2}
    lines = [draw.stroke((len(b) - 1.5,) * 2, (0, 1), thick, yref="y domain")] * (b[-1] == REST)
    lines += [draw.stroke((0, 1), (len(a) - 1.5,) * 2, thick, xref="x domain")] * (a[-1] == REST)
    if few:  # the numbers of the coloured cells, without the leading 0
        seen = (np.abs(z) >= NOTHING * reach) & (z.round(_digits(reach)) != 0)
        written = np.where(seen, np.vectorize(lambda part: _number(part, reach).replace("0.", ".", 1))(z), "")
        font = {"size": 12 if reach >= FINE else 11, "color": "#000000"}
        heat |= {"text": written.tolist(), "texttemplate": "%{text}", "textfont": font}
    return heat, lines, x, y


def _largest(own: Sequence[float], most: int) -> list[int]:
    return sorted(np.argsort(-np.abs(own), kind="stable")[:most].tolist())


def _number(part: float, largest: float = 1.0, sign: str = "-") -> str:
    """Format a part with as many digits as the largest one needs; a part that rounds to 0 has no sign.

    >>> _number(0.124, 0.5, "+"), _number(-0.0124, 0.05), _number(-0.001, 0.5)
    ('+0.12', '-0.012', '0.00')
    """
    digits = _digits(largest)
    rounded = round(part, digits)
    return f"{rounded:{sign}.{digits}f}" if rounded else f"{0:.{digits}f}"


def _digits(largest: float) -> int:
    return 2 if largest >= FINE else 3


def _strongest(parts: np.ndarray) -> float:
    """Return the largest absolute part, or 1 if all are 0, to divide by."""
    return float(np.abs(parts).max()) or 1.0


def _what(explanation: Explanation) -> str:
    return "neighbours" if explanation.way == "neighbours" else "words"


def named_curves(curves: Mapping[str, ArrayLike], *, across: str, upwards: str, whole: float = 0.0) -> go.Figure:
    """Draw a line for each name over 0, 1, 2 ..., or over 0 to `whole` if given.

    Lines also differ by their dashes, so no colour is needed.
    """
    traces = []
    for number, (name, values) in enumerate(curves.items()):
        heights = np.asarray(values, np.float64)
        x = np.linspace(0, whole, len(heights)) if whole else np.arange(len(heights))
        traces.append(draw.series(number, x, heights, name, f"{across} %{{x:.3g}}: %{{y:.3f}}", mode="lines"))
    return draw.figure_of(
        traces, xaxis={"title": across}, yaxis={"title": upwards}, height=380, legend=draw.ABOVE, showlegend=True
    )


def explained_rows(explanation: Explanation, *, top: int = 10) -> go.Figure:
    """Draw a step for each of the strongest rows, one for the words in common, and one for all other rows.

    Rows are numbered from 1.
    """
    parts = _with_rest([(f"row {row + 1}", part) for row, part in explanation.rows], top, "rows")
    parts += [("words in common", explanation.shared)] if explanation.shared else []
    return _steps(parts, explanation.similarity)


def explained_words(explanation: Explanation, *, top: int = 10) -> go.Figure:
    """Draw a step for each word of both sentences: half of its row or column. a is the first sentence, b the second.

    The gap, if any, is a step of its own. Parts that do not add up (left-out) are drawn as bars without a total.
    """
    e = explanation
    named = [(f"{word} ({side})", part) for side, words in (("a", e.words_a), ("b", e.words_b)) for word, part in words]
    named.sort(key=lambda entry: -abs(entry[1]))
    if e.way == LEFT_OUT:
        return _steps(named[:top])
    gap = [("gap", e.gap)] if abs(e.gap) > LEAST_GAP else []
    return _steps(_with_rest(named, top, "words") + gap, e.similarity)


def _with_rest(parts: list[tuple[str, float]], top: int, what: str) -> list[tuple[str, float]]:
    """Keep the first parts, and replace all other parts by their sum."""
    rest = parts[top:]
    return parts[:top] + ([(f"{len(rest)} other {what}", sum(part for _, part in rest))] if rest else [])


def _steps(parts: Sequence[tuple[str, float]], total: float | None = None) -> go.Figure:
    """Draw steps from 0 to the total or, without a total, a bar for each part; leave room for numbers at their ends."""
    names, values = [name for name, _ in parts], [part for _, part in parts]
    texts, levels = [f"{value:+.2f}" for value in values], [0.0, *values]
    drawn: Entries = {"type": "bar", "marker": {"color": [POSITIVE if value > 0 else NEGATIVE for value in values]}}
    if total is not None:
        levels = [0.0, *np.cumsum(values).tolist(), total]
        drawn = {
            "type": "waterfall",
            "measure": ["relative"] * len(parts) + ["total"],
            "increasing": {"marker": {"color": POSITIVE}},
            "decreasing": {"marker": {"color": NEGATIVE}},
            "totals": {"marker": {"color": COLOURS[2]}},
            "connector": {"line": {"color": INK, "width": 1}},
        }
        names, values, texts = [*names, "similarity"], [*values, total], [*texts, f"{total:.3f}"]
    label = {"text": texts, "textposition": "outside", "textfont": {"size": 12, "color": INK}}
    hover = {"customdata": values, "hovertemplate": "%{customdata:+.4f}<extra></extra>"}
    room = 0.2 * (max(levels) - min(levels) or 1.0)
    span = [min(levels) - (room if min(levels) < 0 else 0), max(levels) + room]
    title = "what is lost without the word" if total is None else "similarity"
    free = {"orientation": "h", "cliponaxis": False, "constraintext": "none"}
    return draw.figure_of(
        [drawn | label | hover | free | {"x": values, "y": list(range(len(values)))}],
        xaxis={"title": title, "zerolinecolor": INK, "range": span, "nticks": 6},
        yaxis=draw.ticks(names, 22) | {"autorange": "reversed", "showgrid": False},
        height=380,
        showlegend=False,
        bargap=0.25,
    )

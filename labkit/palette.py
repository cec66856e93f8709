"""Colours, markers and line dashes of all figures."""

from __future__ import annotations

# Six of the eight colours of Okabe and Ito (2008), the strongest first: they differ on a projector, in print, and for
# readers who cannot tell red from green. Black and yellow each vanish on one background. Above six classes, the marker
# changes as well.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9")
MARKS = ("circle", "diamond", "square", "cross", "triangle-up", "star")
STYLES = len(COLOURS) * len(MARKS)
INK = "#767676"  # as light as a contrast of 4.5:1 on white allows, so that it is also readable on black
CLEAR = "rgba(0, 0, 0, 0)"

# The two kinds of pairs, in all figures: blue pulls together, orange pushes apart.
POSITIVE, NEGATIVE = COLOURS[0], COLOURS[1]
FAINT = "rgba(128, 128, 128, 0.25)"  # grid lines, on light and dark pages
# From orange through transparent to blue; a single transparent colour in the middle would turn both grey there.
DIVERGING = [[0, NEGATIVE], [0.5, "rgba(230, 159, 0, 0)"], [0.5, "rgba(0, 114, 178, 0)"], [1, POSITIVE]]
# Sequential (Nuñez et al., 2018): lightness rises evenly, even for colour-blind readers and in greyscale.
RISING = "Cividis"
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")


def look(number: int) -> tuple[str, str]:
    """Return (colour, mark) of the n-th of a few lines; both differ from line to line."""
    return COLOURS[number % len(COLOURS)], MARKS[number % len(MARKS)]


def style(number: int) -> tuple[str, str]:
    """Return (colour, mark) of the n-th class; after 36 combinations, they repeat.

    >>> style(0), style(7)
    (('#0072B2', 'circle'), ('#E69F00', 'diamond'))
    """
    turn = number // len(COLOURS)
    return COLOURS[number % len(COLOURS)], MARKS[turn % len(MARKS)]

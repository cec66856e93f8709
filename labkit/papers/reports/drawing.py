"""Small pictures as SVG text, with a description for those who do not see them: lines over a row of places, points.

In: numbers and words. Out: an `<svg>` element that takes its colours from the page (`currentColor`) and from the lab's
palette, and its size from the room there is.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from labkit.figures.palette import COLOURS
from labkit.papers.records import Point

WIDTH, HEIGHT, EDGE = 340, 220, 54


def lines(
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
        return EDGE + (WIDTH - 2 * EDGE) * (place / max(len(places) - 1, 1))

    def y(value: float) -> float:
        return HEIGHT - EDGE - (HEIGHT - 2 * EDGE) * (value - low) / (high - low)

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


def points(title: str, found: Sequence[Point], *, axes: tuple[str, str] = ("", "")) -> str:
    """Points of the plane, a colour and a mark for each name; axes that mean something have a name and two ticks."""
    xs, ys = [x for _, x, _ in found], [y for _, _, y in found]
    wide, tall = (max(xs) - min(xs)) or 1.0, (max(ys) - min(ys)) or 1.0
    names = list(dict.fromkeys(name for name, _, _ in found))
    drawn = []
    for name, x, y in found:
        number = names.index(name)
        px = EDGE + (WIDTH - 2 * EDGE) * (x - min(xs)) / wide
        py = HEIGHT - EDGE - (HEIGHT - 2 * EDGE) * (y - min(ys)) / tall
        drawn.append(_mark(number, px, py, name))
    if any(axes):
        left, right, top, low = EDGE, WIDTH - EDGE, EDGE, HEIGHT - EDGE
        drawn += [_text(WIDTH / 2, HEIGHT - 6, axes[0], "middle"), _text(6, top - 14, axes[1], "start")]
        drawn += [_text(x, low + 18, f"{value:.2g}", "middle") for x, value in ((left, min(xs)), (right, max(xs)))]
        drawn += [_text(left - 8, y + 4, f"{value:.2g}", "end") for y, value in ((top, max(ys)), (low, min(ys)))]
    kinds = f"{len(names)} classes" if len(names) > 1 else "one kind"
    alt = f"{title}: {len(found)} points of {kinds}, horizontally {min(xs):.3g} to {max(xs):.3g}, vertically "
    return _svg(title, alt + f"{min(ys):.3g} to {max(ys):.3g}", drawn)


def _mark(number: int, x: float, y: float, name: str) -> str:
    """Circle, square, diamond, triangle, cross: told apart without colour."""
    colour = COLOURS[number % len(COLOURS)]
    shapes = (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4"',
        f'<rect x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8"',
        f'<path d="M{x:.1f} {y - 5:.1f}l5 5l-5 5l-5-5z"',
        f'<path d="M{x:.1f} {y - 5:.1f}l5 9h-10z"',
        f'<path d="M{x - 5:.1f} {y - 1.5:.1f}h3.5v-3.5h3v3.5h3.5v3h-3.5v3.5h-3v-3.5h-3.5z"',
    )
    return f'{shapes[number % len(shapes)]} fill="{colour}" fill-opacity="0.75"><title>{escape(name)}</title>' + (
        f"</{shapes[number % len(shapes)][1:].split(' ')[0]}>"
    )


def _text(x: float, y: float, said: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(said)}</text>'


def _svg(title: str, alt: str, drawn: Sequence[str]) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(alt)}">'
        + _text(WIDTH / 2, 16, title, "middle")
        + "".join(drawn)
        + "</svg>"
    )

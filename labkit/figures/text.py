"""Sentences as labels of a figure: cut to fit, and shown as text whatever they hold."""

from __future__ import annotations

from html import escape
from textwrap import wrap


def short(text: str, most: int) -> str:
    """A sentence cut to fit, with its angle brackets shown and not obeyed.

    >>> short("one <b>two</b> three", 12)
    'one &lt;b&gt;two…'
    """
    return escape(text if len(text) <= most else text[: most - 1].rstrip("</> ") + "…", quote=False)


def lines(text: str, *, width: int = 60, most: int = 4) -> str:
    """A sentence in a few short lines, for a hover label."""
    return "<br>".join(short(line, width + 10) for line in wrap(text, width)[:most])

"""Results written down: for the terminal, as Markdown, CSV, JSON, and as one HTML page that needs nothing else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from labkit.papers.reports.flat import as_cells, as_csv, as_json
from labkit.papers.reports.html import as_html
from labkit.papers.reports.markdown import as_markdown
from labkit.papers.reports.report import Report, reported
from labkit.papers.reports.text import as_text

__all__ = [
    "FORMS",
    "Report",
    "as_cells",
    "as_csv",
    "as_html",
    "as_json",
    "as_markdown",
    "as_text",
    "form_of",
    "reported",
]

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

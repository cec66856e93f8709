"""The page on which `labkit lab` opens: what to do first, how long each lesson takes, and where you left off."""

from __future__ import annotations

import json
import re
from pathlib import Path

from labkit.atomic import write_text
from labkit.course.answers import NAME, AnswerRecord, parse_record
from labkit.course.notebooks import questions_in, sources

PAGE = "START.ipynb"
MINUTES = re.compile(r"^# \*(?:Time: )?(\d+) minutes", re.MULTILINE)
TITLE = re.compile(r"^# # (.+)$", re.MULTILINE)
FIRST = """# Start here

New to this? Take [0 · A tour](00_tour.ipynb), then [1 · Pairs and weights](01_pairs_and_weights.ipynb), then
[9 · Break it](09_break_it.ipynb). After these, take what you like; the first lines of each lesson say what it needs.

Run a cell with Shift+Enter. Where a cell says `...  # your turn`, you write code. In a new cell, `hint("01.1")` helps,
and `solve("01.1")` shows and runs a solution."""
LAST = "This page is written again each time you run `labkit lab`. Your answers stay in `progress.json`."


def start_page(folder: Path) -> Path:
    """Write the start page to a folder, with the progress recorded there."""
    try:
        record = parse_record((folder / NAME).read_bytes())
    except (OSError, ValueError):
        record = AnswerRecord()
    cell = {"cell_type": "markdown", "id": "start", "metadata": {}, "source": _markdown(record)}
    page = folder / PAGE
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}  # else Jupyter asks
    write_text(page, json.dumps({"cells": [cell], "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}) + "\n")
    return page


def _markdown(record: AnswerRecord) -> str:
    lines = ["| lesson | minutes | exercises answered |", "| --- | ---: | --- |"]
    left_off, last = "", next((key for key in reversed(record.answers) if record.answers[key].begun), "")
    for source in sources():
        text, keys = source.read_text("utf-8"), list(questions_in(source))
        title, minutes = (found[1] for pattern in (TITLE, MINUTES) if (found := pattern.search(text)))
        link = f"[{title}]({source.stem}.ipynb)"
        done = sum(record.of(key).right or record.of(key).seen for key in keys)
        lines.append(f"| {link} | {minutes} | {done} of {len(keys)} |")
        if last in keys:
            left_off = f"**You were last at exercise {last}, in {link}.**"
    return "\n\n".join(filter(None, [FIRST, left_off, "\n".join(lines), LAST]))

"""How long does the app take from its command to the first picture, and how many bytes does it send?

`labkit app` starts twice with an initially empty cache for the compiled code of Python and numba: the first start is
like one after an installation, the second like any later one. A visitor without a browser (`visitor.py`) opens Space as
soon as the server answers. In Chromium, the time from the address to the first drawn point is measured with new
browsers and with one that returns.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.machine import describe
from benchmarks.sessions import app, cpu
from benchmarks.visitor import Visitor

VISITS, BETWEEN = 6, 6.0  # in Chromium; seconds between two visits
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def started(folder: Path) -> str:
    """The table cells of one start."""
    start = time.perf_counter()
    with app(folder) as (address, process):
        answers = time.perf_counter() - start

        async def open_space() -> tuple[Visitor, int]:
            async with Visitor(address, "space") as visitor:
                return visitor, (await visitor.run())[1]

        visitor, received = asyncio.run(open_space())
        first = answers + visitor.pictures[0][0]
        spent = cpu(process)
    sizes = " + ".join(f"{size / 1e3:,.0f}" for _, size in visitor.pictures)
    return f"{answers:.1f} | {first:.1f} | {spent:.1f} | {received / 1e3:,.0f} | {sizes}"


def drawn(folder: Path) -> list[str]:
    """Table rows with the seconds to the first point in Chromium."""
    from playwright.sync_api import sync_playwright

    def visit(browser: Any) -> float:
        page = browser.new_page()
        start = time.perf_counter()
        page.goto(f"{address}/space", wait_until="commit")
        page.wait_for_function("document.querySelector('.js-plotly-plot .point')", polling=20, timeout=0)
        took = time.perf_counter() - start
        page.close()
        time.sleep(BETWEEN)
        return took

    flags: Any = {"executable_path": CHROMIUM, "args": ["--no-sandbox", "--disable-gpu"]}
    with app(folder) as (address, _), sync_playwright() as found:
        new = []
        for number in range(VISITS):
            browser = found.chromium.launch_persistent_context(str(folder / f"new{number}"), **flags)
            new.append(visit(browser))
            if number < VISITS - 1:
                browser.close()
        again = [visit(browser) for _ in range(VISITS)]
        browser.close()
    rows = (("first of all", new[:1]), ("new browser", new[1:]), ("returning browser", again[1:]))
    return [f"| {which} | {statistics.median(took):.2f} | {min(took):.2f} to {max(took):.2f} |" for which, took in rows]


def main() -> str:
    head = ["start", "server answers, s", "first picture, s", "CPU s", "page, kB", "its pictures, kB"]
    table = [describe(), "", f"| {' | '.join(head)} |", "| --- " * len(head) + "|"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        kept = {"PYTHONPYCACHEPREFIX": str(folder / "code"), "NUMBA_CACHE_DIR": str(folder / "numba")}
        os.environ |= kept | {"PYTHONDONTWRITEBYTECODE": ""}
        table += [f"| {which} | {started(folder)} |" for which in ("first", "second")]
        if CHROMIUM:
            table += ["", "| visit, in Chromium | first point, s | range |", "| --- | --- | --- |", *drawn(folder)]
    return "\n".join(table)

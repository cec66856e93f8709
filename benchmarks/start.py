"""From the command to the first picture: how long, how many bytes, and what is imported on the way?

Starts `labkit app` twice over one empty cache of Python's and numba's compiled code: the first start is as after an
installation, the second as on every other day. A visitor without a browser (`visitor.py`) opens the first page as soon
as the server answers. Seconds by the clock from the command to the message that holds the first picture, and CPU
seconds of the server until the page is done; then the bytes of the first page, and of pages with many points, of a file
that was brought (PCA, without hover text). Imports are those of the first page's modules, by `python -X importtime`.
What a person waits for is measured in Chromium, from the address to the first drawn point: in a browser that has never
been here, and in one that comes again (the median of some visits; the server is warm but for the first of all).

    python -m benchmarks start
"""

from __future__ import annotations

import asyncio
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.machine import describe
from benchmarks.sessions import app, cpu, sentences
from benchmarks.visitor import Visitor

APP = Path(__file__).resolve().parents[1] / "app"
POINTS = (20_000, 100_000)
MANY = "corpus=your+own+file&amount={}&how=pca"
SHOWN = 10  # imports
VISITS, BETWEEN = 6, 6.0  # in Chromium; seconds between two
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
# what the first page does before its first picture, but for the drawing
PAGE = "import sys; sys.path.insert(0, {app!r}); import streamlit; import space_sides, choosing"


def started(folder: Path) -> str:
    """One start: a row of the table."""
    start = time.perf_counter()
    with app(folder) as (address, process):
        answers = time.perf_counter() - start

        async def open_first() -> tuple[Visitor, int]:
            async with Visitor(address, "space") as visitor:
                return visitor, (await visitor.run())[1]

        asked = time.perf_counter() - start
        visitor, received = asyncio.run(open_first())
        first = asked + visitor.pictures[0].after
        spent = cpu(process)
    sizes = " + ".join(f"{each.size / 1e3:,.0f}" for each in visitor.pictures)
    return f"{answers:.1f} | {first:.1f} | {spent:.1f} | {received / 1e3:,.0f} | {sizes}"


def drawn(folder: Path) -> list[str]:
    """Seconds to the first point in Chromium: the first visit of all, a new browser's, and one that comes again."""
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

    flags = {"executable_path": CHROMIUM, "args": ["--no-sandbox", "--disable-gpu"]}
    with app(folder) as (address, _), sync_playwright() as found:
        new = []
        for number in range(VISITS):
            browser = found.chromium.launch_persistent_context(str(folder / f"new{number}"), **flags)
            new.append(visit(browser))
            if number < VISITS - 1:
                browser.close()
        again = [visit(browser) for _ in range(VISITS)]
        browser.close()
    rows = (("the first of all", new[:1]), ("a new browser", new[1:]), ("it comes again", again[1:]))
    return [f"| {who} | {statistics.median(took):.2f} | {min(took):.2f} to {max(took):.2f} |" for who, took in rows]


def many(rows: int, folder: Path) -> str:
    """Bytes of the page with so many points, when it first stands and when the slider of its classes is moved."""
    with app(folder) as (address, _):

        async def bring() -> tuple[int, int]:
            async with Visitor(address, "space", MANY.format(f"{rows:,}".replace(",", "%2C"))) as visitor:
                await visitor.run()
                first = (await visitor.bring("Your own file", "mine.csv", sentences(rows)))[1]
                moved = (await visitor.move("Classes with", 8))[1]
                if visitor.errors:
                    raise RuntimeError(visitor.errors[0])
                return first, moved

        first, moved = asyncio.run(bring())
    return f"| {rows:,} | {first / 1e6:.2f} | {moved / 1e6:.2f} |"


def imports() -> list[str]:
    """The packages whose modules take longest, each without what it imports of others."""
    command = [sys.executable, "-X", "importtime", "-c", PAGE.format(app=str(APP))]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    lines = [line.removeprefix("import time:").split("|") for line in said.splitlines() if line.count("|") == 2]
    packages: dict[str, int] = {}
    for own, _, name in lines:
        if own.strip().isdigit():
            package = name.strip().split(".")[0]
            packages[package] = packages.get(package, 0) + int(own)
    longest = sorted(packages.items(), key=lambda item: -item[1])[:SHOWN]
    return [f"| {name} | {spent / 1e6:.2f} |" for name, spent in [*longest, ("all", sum(packages.values()))]]


def main() -> str:
    """The tables."""
    head = ["start", "server answers, s", "first picture, s", "CPU s", "page, kB", "its pictures, kB"]
    table = [describe(), "", f"| {' | '.join(head)} |", "| --- " * len(head) + "|"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        kept = {"PYTHONPYCACHEPREFIX": str(folder / "code"), "NUMBA_CACHE_DIR": str(folder / "numba")}
        os.environ |= kept | {"PYTHONDONTWRITEBYTECODE": ""}
        table += [f"| {which} | {started(folder)} |" for which in ("the first", "the second")]
        if CHROMIUM:
            table += ["", "| visit, in Chromium | first point, s | from, to |", "| --- | --- | --- |", *drawn(folder)]
        for variable in kept:
            del os.environ[variable]
        table += [
            "",
            "| points | page, MB | moved, MB |",
            "| --- | --- | --- |",
            *(many(rows, folder) for rows in POINTS),
        ]
    return "\n".join([*table, "", "| import of the first page | s |", "| --- | --- |", *imports()])


if __name__ == "__main__":
    print(main())

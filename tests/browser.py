"""A headless browser, and pages that record their requests and errors."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.waiting import HANG

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip


@contextmanager
def chromium(flags: Sequence[str] = FLAGS) -> Iterator[Any]:
    """A started browser; without Chromium or playwright, the test is skipped."""
    if CHROMIUM is None:
        pytest.skip("needs Chromium on the path")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=CHROMIUM, args=flags, timeout=1000 * HANG)
        yield started
        started.close()


@dataclass
class Seen:
    """A browser page with its requests and errors."""

    view: Any
    asked: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    ignored: tuple[str, ...] = ()  # endings of addresses whose errors are ignored

    def __post_init__(self) -> None:
        self.view.set_default_timeout(1000 * HANG)
        self.view.on("request", lambda request: self.asked.append(request.url))
        self.view.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.view.on("console", self._hear)

    def _hear(self, said: Any) -> None:
        if said.type == "error" and not said.location.get("url", "").endswith(self.ignored):
            self.complaints.append(said.text)

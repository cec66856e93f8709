"""The app in a real browser: from the command to a picture, a click to its sentence, and nothing asked of the world."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium on the path"),
]


def answers(health: str, process: subprocess.Popen[bytes]) -> bool:
    """Whether the server answers within a minute."""
    for _ in range(600):
        assert process.poll() is None, process.stdout.read().decode() if process.stdout else ""
        try:
            urllib.request.urlopen(health, timeout=1)
            return True
        except OSError:
            time.sleep(0.1)
    return False


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The app as somebody starts it for the first time: a home without settings, and nobody to answer a question."""
    first_time = {"HOME": str(tmp_path_factory.mktemp("home")), "BROWSER": "true"}
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "labkit", "app", "--port", str(port)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    process = subprocess.Popen(command, cwd=ROOT, env=os.environ | first_time, **pipes)
    try:
        assert answers(f"http://127.0.0.1:{port}/_stcore/health", process)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def test_first_picture_click_and_silence(address: str, tmp_path: Path) -> None:
    playwright = pytest.importorskip("playwright.sync_api")
    asked: list[str] = []
    complaints: list[str] = []
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        view = browser.new_page(viewport={"width": 1280, "height": 720})
        view.on("request", lambda request: asked.append(request.url))
        view.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        view.on("pageerror", lambda error: complaints.append(str(error)))
        view.goto(address)
        view.wait_for_selector(".js-plotly-plot .scatterlayer .trace .point", timeout=120_000)
        assert view.locator(".js-plotly-plot .scatterlayer .point").count() > 100
        assert view.locator(".js-plotly-plot .legend .traces").count() >= 10
        view.locator("[data-testid=stMetric]").nth(2).wait_for(timeout=120_000)  # the figures come after the picture
        assert view.locator("[data-testid=stMetric]").count() == 3
        assert view.locator("[data-testid=stException]").count() == 0
        assert view.locator("text=Streamlit").count() == 0  # nothing but ours on the page
        view.wait_for_selector("[data-testid=stStatusWidget]", state="detached", timeout=120_000)
        view.screenshot(path=tmp_path / "first.png")
        assert (tmp_path / "first.png").stat().st_size > 30_000

        point = view.locator(".js-plotly-plot .scatterlayer .trace .point").nth(7)
        box = point.bounding_box()
        assert box is not None
        view.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        view.wait_for_selector("text=Nearest in the space of the vectors", timeout=60_000)
        browser.close()
    elsewhere = [url for url in asked if not url.startswith((address, address.replace("http", "ws"), "data:", "blob:"))]
    assert elsewhere == []
    assert complaints == []


def test_listens_on_this_machine_only(address: str) -> None:
    port = int(address.rsplit(":", 1)[1])
    hexadecimal = f"{port:04X}"
    listening = [
        line.split()[1].split(":")[0]
        for table in ("/proc/net/tcp", "/proc/net/tcp6")
        if Path(table).is_file()
        for line in Path(table).read_text().splitlines()[1:]
        if line.split()[1].endswith(f":{hexadecimal}") and line.split()[3] == "0A"
    ]
    if not listening:
        pytest.skip("needs /proc/net/tcp to see who listens")
    assert listening == ["0100007F"]  # 127.0.0.1, and nothing else

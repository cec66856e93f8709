"""Shared by the tests of the app: a page without a browser, a running app, and a page in a browser."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from base64 import b64decode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest
from streamlit import config
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

from labkit.corpora import load
from labkit.methods import METHODS
from tests.browser import FLAGS, Seen, chromium
from tests.waiting import HANG, until

ROOT = Path(__file__).resolve().parents[2]
APP = ROOT / "app"
LASTING = {"trainings", "training_process"}  # modules that are not imported again for each page
OWN = {file.stem for file in APP.iterdir()} - LASTING
# the client first requests these below the address of a page, where they fail, and then one level up
PROBES = ("/_stcore/health", "/_stcore/host-config")


RUN_BOXES = {  # page -> query parameters that name a run
    "why_page": ["vectors"],
    "papers_page?try=pthought": ["run"],
    "papers_page?try=thematic": ["trained"],
    "papers_page?try=sbert-lp": ["base"],
}
Opened = Callable[..., AppTest]
RunCode = Callable[..., list[go.Figure]]


# --- a page without a browser ------------------------------------------------------------------------------------


@pytest.fixture(scope="session", autouse=True)
def packages_are_scanned_once() -> Iterator[None]:
    """Cache the scan of installed packages for components, which takes Streamlit half a second per page."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", cache(manifest_scanner.scan_component_manifests))
        yield


@pytest.fixture(autouse=True)
def on_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """The settings of a local app, and the default folder of runs."""
    monkeypatch.setenv("LABKIT_RUNS", "runs")
    config.set_option("server.address", "127.0.0.1")
    config.set_option("server.maxUploadSize", 10)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Opened:
    """A function that opens a page by module, `?try=` panel and query parameters; the page has not run yet."""
    monkeypatch.syspath_prepend(str(APP))

    def page(module: str, **address: str) -> AppTest:
        module, _, panel = module.partition("?try=")
        address |= {"try": panel} if panel else {}
        for name in [name for name in sys.modules if name.split(".")[0] in OWN]:
            sys.modules.pop(name)
        made = AppTest.from_file(str(APP / f"{module}.py"), default_timeout=HANG)
        for key, value in address.items():
            made.query_params[key] = value
        return made

    return page


@pytest.fixture
def opened_on(opened: Opened) -> Opened:
    """A function that opens a page with a run: module, folder of runs, run, query parameters."""

    def page(module: str, folder: Path, run: str, **address: str) -> AppTest:
        os.environ["LABKIT_RUNS"] = str(folder)
        return opened(module, **dict.fromkeys(RUN_BOXES.get(module, ()), f"run {run}") | address)

    return page


def fine(page: AppTest) -> AppTest:
    """The page, checked for exceptions, errors and unfilled placeholders in braces."""
    assert not page.exception
    assert not page.error
    assert not re.search(r"\{[A-Z_]{3,}\}", texts(page))
    return page


def charts(page: AppTest) -> list[Any]:
    """The plotly charts of a page."""
    return list(page.get("plotly_chart"))


def figure(page: AppTest, number: int = 0) -> dict[str, Any]:
    """The specification of a plotly chart."""
    found: dict[str, Any] = json.loads(charts(page)[number].proto.spec)
    return found


def with_file(page: AppTest, data: bytes, name: str = "mine.csv", kind: str = "text/csv") -> AppTest:
    """The page after an upload."""
    page.run()
    return page.file_uploader[0].upload(name, data, kind).run()


def refused(page: AppTest, named: str) -> None:
    """Check that the page shows a single error, which contains `named`."""
    assert not page.exception
    (error,) = page.error
    assert named in error.value.replace("\\", "")


def has_pictures(page: AppTest, count: int) -> None:
    """Check that the page has `count` charts, each with alternative text."""
    assert len(charts(page)) == count
    assert all(chart.proto.alt for chart in charts(page))


EVIL = "<img src=//evil>"
HOSTILE = "text,label,<s>size\n" + "".join(
    f"{EVIL} word{i % 9} {'cats and dogs' if i % 2 else '=1+1 cars'} no{i},<u>{'ab'[i % 2]},{i}\n" for i in range(120)
)


def shows_no_markup(page: AppTest) -> None:
    """Check that markup of an upload is shown as text everywhere and is not in the address."""
    shown = [chart.proto.spec for chart in page.get("plotly_chart")]
    shown += [element.proto.body for element in page.get("html")]
    shown += [re.sub(r"\\.", "", text.value) for text in (*page.markdown, *page.caption, *page.latex)]
    for text in shown:
        assert not {tag for tag in ("<img", "<s>", "<u>") if tag in text}
    assert "evil" not in str(page.query_params)


@pytest.fixture
def run_code(monkeypatch: pytest.MonkeyPatch) -> RunCode:
    """A function that runs a code block of a page, by default the first; it returns all figures shown so far."""
    figures: list[go.Figure] = []
    monkeypatch.setattr(go.Figure, "show", lambda self: figures.append(self))

    def run(page: AppTest, number: int = 0) -> list[go.Figure]:
        exec([code.value for code in page.code if "import" in code.value][number], {})
        return figures

    return run


# --- the page Space ----------------------------------------------------------------------------------------------

QUICK = {"how": "PCA", "left": "TF-IDF", "right": "nothing"}
NEIGHBOUR = re.compile(r"\d+\. \*\*(-?[\d.]+)\*\*(?: new| gone)? · (✓ )?(.*?) · (.*)")


def numbers(values: list | dict) -> np.ndarray:
    """An array that plotly wrote as a list or in base64."""
    return np.array(values) if isinstance(values, list) else np.frombuffer(b64decode(values["bdata"]), values["dtype"])


def texts(page: AppTest) -> str:
    """The text of the page."""
    written = [str(found.value) for kind in (page.markdown, page.caption, page.text) for found in kind]
    return "\n".join([*written, *(folded.label for folded in page.expander)])


def named(page: AppTest, alt: str) -> list:
    """The tables with alternative text that begins with `alt`."""
    return [found.value for found in page.dataframe if found.proto.alt.startswith(alt)]


def near(page: AppTest) -> list[list[tuple[float, str, str, str]]]:
    """The lists of neighbours on the page: similarity, tick, class and whole sentence."""
    found: list[list[tuple[float, str, str, str]]] = []
    for line in (re.sub(r"\\(.)", r"\1", text.value) for text in page.markdown):
        for similarity, *rest in NEIGHBOUR.findall(line):
            if line.startswith("1. **"):
                found.append([])
            found[-1].append((float(similarity), *rest))
    return found


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a stored run of two epochs, `small`."""
    folder = tmp_path_factory.mktemp("runs")
    method = METHODS["sentpwnet"](epochs=2, dimension=8, size=12, device="cpu")
    method.fit(load("topics").take(range(0, 2000, 10)))
    method.save(folder / "small")
    return folder


def with_runs(opened: Opened, folder: Path, **address: str) -> AppTest:
    """The Space page with the run `small` of a folder."""
    os.environ["LABKIT_RUNS"] = str(folder)
    return fine(opened("space_page", **{"left": "run small", "right": "nothing", "how": "PCA"} | address).run())


# --- a running app, and a browser ---------------------------------------------------------------------------------


def answers(health: str, process: subprocess.Popen[bytes]) -> bool:
    """Whether the server answers; its process must not have ended."""
    assert process.poll() is None, process.stdout.read().decode() if process.stdout else ""
    try:
        urllib.request.urlopen(health, timeout=HANG)
    except urllib.error.HTTPError:  # a classroom refuses requests without a token
        return True
    except OSError:
        return False
    return True


# starts a classroom that listens on this machine only
LOCALLY = """
import os
go = os.execv
os.execv = lambda program, words: go(program, [word.replace("0.0.0.0", "127.0.0.1") for word in words])
from labkit.cli.main import main
main()
"""


@contextmanager
def started(home: Path, *words: str, by_streamlit: bool = False) -> Iterator[tuple[str, str]]:
    """Start the app with an empty home folder and yield its address and the lines with addresses that it prints.

    `by_streamlit` starts it with `streamlit run` from that folder; then no lines are read.
    """
    first_time = {"HOME": str(home), "BROWSER": "true", "LABKIT_RUNS": str(home / "runs")}
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    classroom = "--classroom" in words
    labkit = ["-c", LOCALLY] if classroom else ["-m", "labkit"]
    command = [sys.executable, *labkit, "app", "--port", str(port), *words]
    if by_streamlit:
        command = [sys.executable, "-m", "streamlit", "run", str(APP / "main.py"), "--server.port", str(port), *words]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    process = subprocess.Popen(command, cwd=home if by_streamlit else ROOT, env=os.environ | first_time, **pipes)
    try:
        until(lambda: answers(f"http://127.0.0.1:{port}/_stcore/health", process))
        assert process.stdout is not None
        lines = 0 if by_streamlit else 1 + classroom
        yield f"http://127.0.0.1:{port}", "".join(process.stdout.readline().decode() for _ in range(lines))
    finally:
        process.terminate()
        try:
            process.wait(HANG)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an app that all tests share."""
    with started(tmp_path_factory.mktemp("home")) as (url, _):
        yield url


class Listener(Seen):
    """A page of the app in a browser."""

    def go(self, url: str) -> Any:
        """Open the address and wait for the first picture."""
        self.view.goto(url)
        self.view.wait_for_selector(".js-plotly-plot .main-svg", state="attached")
        self.settle()
        return self.view

    def settle(self) -> None:
        """Wait until the page has finished running."""
        self.view.wait_for_timeout(300)
        self.view.wait_for_selector("[data-testid=stStatusWidget]", state="detached")
        self.view.wait_for_function("!document.querySelector('[data-stale=true]')")

    def quiet(self, address: str) -> None:
        """Check that there were no requests to other hosts and no errors."""
        assert self.elsewhere(address) == []
        assert self.complaints == []

    def elsewhere(self, address: str) -> list[str]:
        """The requests to other hosts."""
        own = (address, address.replace("http", "ws"), "data:", "blob:")
        return [url for url in self.asked if not url.startswith(own)]


@pytest.fixture
def listener(request: pytest.FixtureRequest) -> Iterator[Listener]:
    """A page in a browser of 1280 by 720, with the flags that a test passes by `indirect`, if any."""
    with chromium(getattr(request, "param", FLAGS)) as browser:
        yield Listener(browser.new_page(viewport={"width": 1280, "height": 720}), ignored=PROBES)

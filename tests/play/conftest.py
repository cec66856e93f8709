"""Shared by the tests of the playground: its modules in Node, and the page in a browser."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import labkit.play
from labkit.play import playground
from labkit.play.sentences import bundled
from tests.browser import Seen, chromium
from tests.waiting import HANG

HERE = Path(__file__).parent
MODULES = Path(labkit.play.__file__).parent
Run = Callable[[str, Any], Any]


def node() -> str:
    """The path of Node, or else of the copy bundled with playwright."""
    if found := shutil.which("node"):
        return found
    driver = pytest.importorskip("playwright._impl._driver")
    return str(driver.compute_driver_executable()[0])


@pytest.fixture(scope="session")
def in_node() -> Run:
    """A function that runs a script, which imports modules with `play` and finds its input in `job`."""

    def run(script: str, job: Any) -> Any:
        source = (
            'import { readFileSync } from "node:fs";\n'
            f'const play = (name) => import("{MODULES.as_uri()}/" + name + ".js");\n'
            f'const here = (name) => import("{HERE.as_uri()}/" + name + ".mjs");\n'
            "const job = JSON.parse(readFileSync(0));\n"
            f"const answer = await (async () => {{ {script} }})();\nprocess.stdout.write(JSON.stringify(answer));"
        )
        command = [node(), "--no-warnings", "--input-type=module", "--eval", source]
        done = subprocess.run(command, input=json.dumps(job).encode(), capture_output=True, timeout=HANG, check=False)
        assert done.returncode == 0, done.stderr.decode()
        return json.loads(done.stdout)

    return run


@pytest.fixture(scope="session")
def data() -> dict[str, Any]:
    """The bundled sentences with their scenes, as the modules read them."""
    sentences = bundled()
    return {"name": sentences.name, "classes": sentences.classes, "rows": sentences.rows, "scenes": True}


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of the page, saved as a file."""
    return playground().save(tmp_path_factory.mktemp("play") / "play.html").as_uri()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A browser without a window."""
    with chromium() as started:
        yield started


@pytest.fixture
def opened(browser: Any) -> Iterator[Callable[..., Seen]]:
    """A function that opens an address in a new page."""
    pages = []

    def open_page(address: str, **options: Any) -> Seen:
        # the page's content policy forbids the strings of code that playwright waits with
        view = browser.new_page(**{"viewport": {"width": 1280, "height": 800}, "bypass_csp": True} | options)
        pages.append(view)
        found = Seen(view)
        view.goto(address)
        view.wait_for_function("globalThis.play?.drawn > 0")
        return found

    yield open_page
    for page in pages:
        page.close()

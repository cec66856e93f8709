"""The book: how its configuration converts cells, formulas and terms; and the built book in a browser."""

from __future__ import annotations

import base64
import json
import re
import runpy
import subprocess
import sys
from collections import defaultdict
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from labkit.course.notebooks import sources
from tests.browser import chromium
from tests.waiting import HANG

nodes = pytest.importorskip("docutils.nodes", reason="needs the extra 'book'")
pytest.importorskip("myst_nb", reason="needs the extra 'book'")
pytest.importorskip("furo", reason="needs the extra 'book'")

ROOT = Path(__file__).resolve().parents[2]
CONF: dict[str, Any] = runpy.run_path(str(ROOT / "docs" / "conf.py"))
STILL = b"\x89PNG a picture"
WIDGET = {"output_type": "display_data", "metadata": {}, "data": {CONF["WIDGET"]: {}, "text/plain": "Slider"}}
DRAWN = {
    "output_type": "display_data",
    "metadata": {"image/png": {"alt": 'a "line"'}},
    "data": {
        CONF["PLOTLY"]: {"data": [{"name": "</script>"}], "layout": {"height": 3}, "config": {}},
        "image/png": base64.b64encode(STILL).decode(),
        "text/plain": ["a line"],
    },
}


# --- cells -------------------------------------------------------------------------------------------------------


def code(source: str, *outputs: dict[str, Any], tags: tuple[str, ...] = ()) -> dict[str, Any]:
    return {"cell_type": "code", "id": "c", "source": source, "outputs": list(outputs), "metadata": {"tags": [*tags]}}


def chapter(solved: list[dict[str, Any]], student: list[dict[str, Any]], folder: Path) -> list[dict[str, Any]]:
    notebook = {"cells": solved, "metadata": {"widgets": {}, "kernelspec": {}}}
    made = CONF["chapter"](notebook, {"cells": student, "metadata": {}}, folder, "../_images")
    assert made["metadata"] == {"kernelspec": {}}
    cells: list[dict[str, Any]] = made["cells"]
    return cells


def test_an_exercise_is_open_and_its_solution_is_folded_with_its_output(tmp_path: Path) -> None:
    says = {"output_type": "stream", "name": "stdout", "text": "right"}
    solved = [code("x = 1", says, tags=("exercise",)), code('predict("a", 1)', tags=("exercise",))]
    first, second, third, fourth = chapter(solved, [code("x = ..."), code('predict("a", ...)')], tmp_path)
    assert (first["source"], first["outputs"], first["metadata"]) == ("x = ...", [], {})
    assert (second["source"], second["outputs"]) == ("x = 1", [says])
    assert second["metadata"]["tags"] == ["hide-cell"]
    assert second["metadata"]["mystnb"]["code_prompt_show"] == "Show the solution"
    assert third["source"] == 'predict("a", ...)'
    assert fourth["metadata"]["mystnb"]["code_prompt_show"] == "Show the guess"
    assert len({cell["id"] for cell in (first, second)}) == 2


def test_imports_and_drawing_code_are_folded_and_other_code_is_not(tmp_path: Path) -> None:
    cells = [code("import ast\nfrom os import path"), code("show(figure)", DRAWN), code("import ast\nx = 1")]
    imports, draws, works = chapter(cells, cells, tmp_path)
    assert imports["metadata"]["tags"] == draws["metadata"]["tags"] == ["hide-input"]
    assert works["metadata"] == {}


def test_a_comment_in_a_notebook_is_not_shown(tmp_path: Path) -> None:
    text = {"cell_type": "markdown", "id": "t", "metadata": {}, "source": ["0.7\n", "<!-- a\n", "note -->\n", "end"]}
    assert chapter([text], [text], tmp_path)[0]["source"] == "0.7\n\nend"


def test_a_picture_is_static_first_and_has_alternative_text(tmp_path: Path) -> None:
    (cell,) = chapter([code("show(figure)", WIDGET, DRAWN)], [code("")], tmp_path / "new")
    (out,) = cell["outputs"]
    html = out["data"]["text/html"]
    (name,) = re.findall(r'src="\.\./_images/(\w+\.png)"', html)
    assert (tmp_path / "new" / name).read_bytes() == STILL
    assert 'alt="a &quot;line&quot;"' in html
    assert html.count("</script>") == 1  # text cannot end the script
    parts = json.loads(html.partition('json">')[2].partition("</script>")[0])
    assert parts == {"data": [{"name": "</script>"}], "layout": {"height": 3}}
    assert "sliders" in html
    (plain,) = CONF["shown"]([DRAWN], tmp_path, "")
    assert "sliders" not in plain["data"]["text/html"]


# --- terms and formulas ------------------------------------------------------------------------------------------


def linked(page: str, *parts: Any) -> list[tuple[str, str]]:
    """The linked words on a page of these parts, with their terms."""
    from docutils.utils import new_document

    document = new_document(page)
    document.extend(parts)
    CONF["link_terms"](SimpleNamespace(env=SimpleNamespace(docname=page)), document)
    return [(link.astext(), link["reftarget"]) for link in document.findall(CONF["pending_xref"])]


def test_the_first_use_of_a_term_is_linked_only_in_prose() -> None:
    heading, quoted = nodes.title("", "Anchors"), nodes.paragraph("", "", nodes.literal("", "anchor"))
    prose = nodes.paragraph("", "An anchored boat. Two Anchors, an anchor, a cosine.")
    assert linked("notebooks/solutions/01", heading, quoted, prose) == [("Anchors", "anchor"), ("cosine", "cosine")]
    assert prose.astext() == "An anchored boat. Two Anchors, an anchor, a cosine."
    assert linked("docs/glossary", nodes.paragraph("", "An anchor.")) == []
    assert linked("a", nodes.paragraph("", "They lift it.")) == []


def test_every_formula_of_the_course_is_drawn() -> None:
    cells = [cell for source in sources() for cell in source.read_text("utf-8").split("# %%") if "[markdown]" in cell]
    errata = (ROOT / "docs" / "errata.md").read_text("utf-8")
    texts = [re.sub(r"`[^`]*`", "", re.sub(r"^# ?", "", cell, flags=re.MULTILINE)) for cell in (*cells, errata)]
    found = [m for text in texts for m in re.finditer(r"\$\$(.+?)\$\$|\$([^$]+)\$", text, re.DOTALL)]
    assert len(found) > 300
    for block, inline in (match.groups() for match in found):
        assert CONF["mathml"](block or inline, block=bool(block)).startswith("<math")
    assert "…" in CONF["mathml"](r"x_1 \dots x_n", block=False)


# --- the whole book ----------------------------------------------------------------------------------------------


class Page(HTMLParser):
    """The ids and the links of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.links: list[str] = []
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = dict(attrs)
        self.names.add(said.get("id") or "")
        if tag not in ("symbol", "use"):
            self.links += [link for name in ("href", "src") if (link := said.get(name))]


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The book, as `make book` builds it."""
    folder = tmp_path_factory.mktemp("book")
    how = ["-q", "-W", "--keep-going", "-E", "-c", "docs", "-d", str(folder / "trees"), ".", str(folder / "book")]
    subprocess.run([sys.executable, "-m", "sphinx", *how], cwd=ROOT, check=True, timeout=HANG)
    return folder / "book"


def broken(book: Path) -> list[tuple[str, str]]:
    """The broken links within the book, on all pages."""
    pages = {path: Page(path) for path in book.rglob("*.html")}
    wrong = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            there = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            named = pages[there].names if there in pages else {""}
            if not there.exists() or unquote(parts.fragment) not in {*named, ""}:
                wrong.append((path.name, link))
    return wrong


SERIOUS = """enabled => axe.run({resultTypes: ['violations'], rules: {'color-contrast': {enabled}}})
    .then(found => found.violations
    .filter(each => ['serious', 'critical'].includes(each.impact))
    .map(each => [each.id, each.nodes.map(node => node.html.slice(0, 200))]))"""
COLOURS = ("00_tour", "who-leads", "index")  # pages that have all colours; checking every page takes minutes
SHOWN = """() => [...document.querySelectorAll('.picture')].map(picture => [
    picture.querySelector('img').checkVisibility() && picture.querySelector('img').naturalWidth > 300,
    !!picture.querySelector('.main-svg')])"""


@pytest.mark.whole
def test_the_book_has_no_broken_links_makes_no_requests_and_is_accessible(book: Path) -> None:
    assert broken(book) == []
    axe = pytest.importorskip("axe_playwright_python", reason="needs the extra 'dev'")
    pages = sorted(path for path in book.rglob("*.html") if "_static" not in path.parts)
    pages = [page for page in pages if 'http-equiv="refresh"' not in page.read_text("utf-8").lower()]
    assert {source.stem for source in sources()} <= {page.stem for page in pages}
    asked: list[str] = []
    complaints: dict[str, list[str]] = defaultdict(list)
    with chromium() as browser:
        for scheme, width in (("light", 1280), ("dark", 390)):
            view = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": 900})
            view.on("request", lambda request: asked.append(request.url))
            view.on("pageerror", lambda error: complaints["script"].append(str(error)))
            for page in pages:
                view.goto("about:blank")
                drawn = scheme == "light" or page.stem in COLOURS  # else only the pictures near the screen
                view.goto(page.as_uri() + "#print" * drawn)
                ready = "each[1]" if drawn else "each[0] || each[1]"
                view.wait_for_function(f"(all => all.every(each => {ready}))(({SHOWN})())", timeout=1000 * HANG)
                view.evaluate((files(axe) / "axe.min.js").read_text("utf-8"))
                for found in view.evaluate(SERIOUS, page.stem in COLOURS):
                    complaints[f"{page.name}, {scheme}"].append(found)
                assert view.locator("details.hide[open]").count() == 0  # no solution is open
                assert view.evaluate("document.documentElement.scrollWidth") <= width

        view = browser.new_page(java_script_enabled=False)
        view.on("request", lambda request: asked.append(request.url))
        for page in pages:
            view.goto(page.as_uri())
            count = page.read_text("utf-8").count('<div class="picture">')
            assert view.locator(".picture img:visible").count() == count
            assert count == 0 or page.parent.name == "solutions" or page.stem == "who-leads"
    assert complaints == {}
    assert {url for url in asked if not url.startswith((book.as_uri(), "data:", "blob:", "about:"))} == set()


@pytest.mark.whole
def test_a_picture_becomes_interactive_in_view_and_search_works(book: Path) -> None:
    with chromium() as browser:
        view = browser.new_page()
        view.goto((book / "notebooks" / "solutions" / "01_pairs_and_weights.html").as_uri())
        assert {tuple(each) for each in view.evaluate(SHOWN)} == {(True, False)}  # far below, and static
        view.locator(".picture").nth(3).scroll_into_view_if_needed()
        view.wait_for_selector(".picture.live .main-svg")
        assert len({tuple(each) for each in view.evaluate(SHOWN)}) == 2  # not all of them
        view.goto((book / "index.html").as_uri())
        view.wait_for_url("**/docs/index.html")
        view.goto(f"{(book / 'search.html').as_uri()}?q=stiefel")
        view.wait_for_selector("#search-results li a:has-text('Glossary')")

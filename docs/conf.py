"""The book: the solved notebooks and the pages of this folder as a static site; `make book` builds it, offline.

Sphinx reads the Markdown files and MyST-NB the notebooks; no code is run. This file adds:

    chapter       a solved notebook -> a page with open exercises, folded solutions, still and live pictures
    read          pages generated from records (`labkit.papers.reports`) and from the code (`labkit.cli.reference`)
    link_terms    the first use of a glossary term on a page -> a link
    mathml        a formula -> MathML, which browsers draw without scripts or extra fonts
"""

from __future__ import annotations

import ast
import base64
import hashlib
import json
import logging
import re
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

import plotly
from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from plotly.io import write_images
from sphinx.addnodes import pending_xref

from labkit import __version__
from labkit.cli.reference import api, commands, settings
from labkit.figures import leads_before_and_after
from labkit.papers.reports import leaders
from labkit.play import playground

logging.getLogger("kaleido").setLevel("WARNING")
logging.getLogger("choreographer").setLevel("WARNING")
HERE = Path(__file__).parent
ROOT = HERE.parent

project, version, author = "labkit", __version__, "The labkit authors"
html_title = "labkit: the book"
extensions = ["myst_nb"]
root_doc = "docs/index"
include_patterns = ["docs/*.md", "notebooks/TEACHING.md", "notebooks/solutions/[0-9]*.ipynb"]
exclude_patterns = [".*", "build", "runs", "lab"]  # otherwise Sphinx searches them
nb_execution_mode, nb_merge_streams = "off", True
nb_ipywidgets_js: dict[str, dict[str, str]] = {}  # otherwise fetched from the network
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
nitpicky = True
html_theme = "furo"
html_static_path = ["book.css", "book.js", str(Path(plotly.__file__).parent / "package_data" / "plotly.min.js")]
html_css_files, html_js_files = ["book.css"], [("book.js", {"defer": "defer"})]
html_copy_source = html_show_sourcelink = html_use_index = html_show_copyright = False
html_math_renderer = "mathml"

PLOTLY, PICTURE, WIDGET = "application/vnd.plotly.v1+json", "image/png", "application/vnd.jupyter.widget-view+json"
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
TERM = re.compile(r"^- \*\*(.+?)\*\*: ", re.MULTILINE)  # an entry of the glossary
SLIDERS = '<p class="sliders">In the notebook, sliders move this picture.</p>'


REFERENCE = {"docs/reference": api, "docs/commands": commands, "docs/settings": settings}


# --- chapters ----------------------------------------------------------------------------------------------------


def chapter(solved: dict[str, Any], student: dict[str, Any], folder: Path, up: str) -> dict[str, Any]:
    """The notebook as a page: each exercise is open, as students get it, with its solution folded below.

    Pictures are written to `folder`, whose path relative to the page is `up`.
    """
    cells: list[dict[str, Any]] = []
    for cell, theirs in zip(solved["cells"], student["cells"], strict=True):
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            cells.append(cell | {"source": COMMENT.sub("", source)})
            continue
        fold, prompt = "", ""
        if "exercise" in cell["metadata"].get("tags", []):
            cells.append(theirs | {"metadata": {}, "id": f"{cell['id']}-open"})
            fold, prompt = "hide-cell", "guess" if "predict(" in source else "solution"
        elif all(isinstance(line, ast.Import | ast.ImportFrom) for line in ast.parse(source).body):
            fold, prompt = "hide-input", "imports"
        elif any(PLOTLY in out.get("data", {}) for out in cell["outputs"]):
            fold, prompt = "hide-input", "code of the picture"
        prompts = {"code_prompt_show": f"Show the {prompt}", "code_prompt_hide": f"Hide the {prompt}"}
        outputs = list(shown(cell["outputs"], folder, up))
        cells.append(cell | {"outputs": outputs, "metadata": {"tags": [fold], "mystnb": prompts} if fold else {}})
    metadata = {name: each for name, each in solved["metadata"].items() if name != "widgets"}
    return solved | {"cells": cells, "metadata": metadata}


def shown(outputs: list[dict[str, Any]], folder: Path, up: str) -> Iterator[dict[str, Any]]:
    """The outputs of a cell for a page: no widgets, and each figure as a picture with its description."""
    sliders = any(WIDGET in out.get("data", {}) for out in outputs)
    for out in outputs:
        data = out.get("data", {})
        if PLOTLY in data:
            says = out["metadata"].get(PICTURE, {}).get("alt", "".join(data["text/plain"]))
            still = base64.b64decode("".join(data[PICTURE]))
            name = f"{hashlib.sha256(still).hexdigest()[:16]}.png"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(still)
            html = picture(data[PLOTLY], f"{up}/{name}", says)
            yield {"output_type": "display_data", "metadata": {}, "data": {"text/html": html + SLIDERS * sliders}}
        elif WIDGET not in data:
            yield out


def picture(figure: dict[str, Any], still: str, says: str) -> str:
    """A figure as HTML: a still picture, which book.js replaces with the live one."""
    parts = json.dumps({part: figure[part] for part in ("data", "layout")}, separators=(",", ":")).replace("</", "<\\/")
    return (
        f'<div class="picture"><img src="{still}" alt="{escape(says)}">'
        f'<script type="application/json">{parts}</script></div>'
    )


# --- generated pages, terms and formulas -------------------------------------------------------------------------


def read(app: Any, docname: str, source: list[str]) -> None:
    """Change the source of a page before Sphinx reads it."""
    folder, up = Path(app.outdir) / "_images", "/".join([".."] * docname.count("/") + ["_images"])
    if docname.startswith("notebooks/solutions/"):
        student = json.loads((ROOT / "notebooks" / f"{Path(docname).name}.ipynb").read_text("utf-8"))
        source[0] = json.dumps(chapter(json.loads(source[0]), student, folder, up))
        return
    source[0] = COMMENT.sub("", source[0])
    if docname in REFERENCE:
        source[0] += REFERENCE[docname]()
    elif docname == "docs/who-leads":
        source[0] += drawn_leaders(folder, up)
    elif docname == "docs/glossary":  # a list on GitHub, terms in the book
        source[0] = TERM.sub(r"\n\1\n  ", source[0]).replace("\n\n\n", "\n\n```{glossary}\n", 1) + "```\n"


def drawn_leaders(folder: Path, up: str) -> str:
    """The page "Who leads" with figures; without a browser for their still pictures, only the tables."""
    figures: list[Any] = []

    def draw(leads: Any, says: str) -> str:
        figure = leads_before_and_after(leads)
        figures.append(figure)
        return picture(json.loads(figure.to_json()), f"{up}/leads-{len(figures)}.png", says)

    page = leaders(draw)
    folder.mkdir(parents=True, exist_ok=True)
    names = [folder / f"leads-{number + 1}.png" for number in range(len(figures))]
    try:
        write_images(figures, names, width=700, height=[figure.layout.height for figure in figures])
    except (RuntimeError, ValueError):
        return leaders(lambda *_: "")
    return page


def terms() -> list[str]:
    """The terms of the glossary."""
    return TERM.findall((HERE / "glossary.md").read_text("utf-8"))


NOT_PROSE = (nodes.title, nodes.literal, nodes.literal_block, nodes.math, nodes.reference, nodes.raw, pending_xref)


def link_terms(app: Any, doctree: nodes.document) -> None:
    """Link the first use of each term on a page to the glossary, in prose only."""
    if app.env.docname in ("docs/glossary", "docs/RESULTS", "docs/errata", "docs/who-leads", *REFERENCE):
        return
    left = {term.casefold(): term for term in terms()}
    while left:
        names = "|".join(map(re.escape, sorted(left, key=len, reverse=True)))
        name = re.compile(rf"\b(?<!they )({names})s?\b", re.IGNORECASE)  # "they lift" is a verb
        texts = (each for each in doctree.findall(nodes.Text) if in_prose(each))
        found = next(((text, match) for text in texts for match in [name.search(text)] if match), None)
        if found is None:
            return
        text, match = found
        to = {"reftype": "term", "reftarget": left.pop(match[1].casefold()), "refdoc": app.env.docname}
        link = pending_xref("", nodes.inline("", match[0]), refdomain="std", refexplicit=True, **to)
        parts = [nodes.Text(text[: match.start()]), link, nodes.Text(text[match.end() :])]
        text.parent.replace(text, [part for part in parts if part])


def in_prose(node: nodes.Node) -> bool:
    """Whether the node is in running text."""
    return node.parent is None or (not isinstance(node.parent, NOT_PROSE) and in_prose(node.parent))


def mathml(tex: str, *, block: bool) -> str:
    """A formula as MathML."""
    return tex2mathml(re.sub(r"\\[Bb]ig(?![a-z])", "", tex.replace(r"\dots", r"\ldots")), as_block=block)


def visit_formula(writer: Any, node: nodes.Element) -> None:
    """Write a formula as MathML."""
    block = isinstance(node, nodes.math_block)
    writer.body.append(mathml(node.astext(), block=block))
    raise nodes.SkipNode


LABELS = {  # attributes for screen readers that the theme lacks
    'role="heading">': 'role="heading" aria-level="2">',
    '<aside class="sidebar-drawer">': '<aside class="sidebar-drawer" aria-label="All pages">',
    '<aside class="toc-drawer"': '<aside class="toc-drawer" aria-label="This page"',
}


def finish(app: Any, error: Exception | None) -> None:
    """Label the parts of each page, and add the playground and an index page that redirects to the first page."""
    if error is None:
        playground().save(Path(app.outdir) / "play.html")
        for path in Path(app.outdir).rglob("*.html"):
            page = path.read_text("utf-8")
            for bare, labelled in LABELS.items():
                page = page.replace(bare, labelled)
            path.write_text(page, "utf-8")
        head = f'<title>{html_title}</title><meta http-equiv="refresh" content="0; url={root_doc}.html">'
        door = f'<!doctype html><html lang="en">{head}<a href="{root_doc}.html">{html_title}</a></html>'
        (Path(app.outdir) / "index.html").write_text(door, "utf-8")


def setup(app: Any) -> None:
    """Connect the functions above to Sphinx, which calls this."""
    app.add_html_math_renderer("mathml", (visit_formula, None), (visit_formula, None))
    app.connect("source-read", read)
    app.connect("doctree-read", link_terms)
    app.connect("build-finished", finish)

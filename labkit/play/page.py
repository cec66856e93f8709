"""Build one self-contained page from the modules in this folder: HTML with style, script and sentences.

In: sentences and initial settings. Out: HTML that works offline and opens from a file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from labkit.play.sentences import PlaySentences

HERE = Path(__file__).parent
ENTRY = "page"  # the module that starts the page
_IMPORT = re.compile(r'^import \{([^}]*)\} from "\./(\w+)\.js";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:const|function|class) (\w+))", re.MULTILINE)


def build_page(sentences: PlaySentences, *, scenes: bool, start: Mapping[str, Any] | None = None) -> str:
    """Return the page, with the scenes for the bundled sentences, or without them for other sentences."""
    data = {"name": sentences.name, "classes": sentences.classes, "rows": sentences.rows, "scenes": scenes}
    data |= {"start": dict(start)} if start else {}
    # so that no sentence can end the script element, or open a comment in it
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    template = (HERE / "page.html").read_text("utf-8")
    head, _, rest = template.partition("/*STYLE*/")
    before, _, rest = rest.partition("/*DATA*/")
    middle, _, tail = rest.partition("/*SCRIPT*/")
    return "".join((head, (HERE / "page.css").read_text("utf-8"), before, text, middle, script(), tail))


@cache
def script() -> str:
    """Return the modules as one script, in import order: each becomes a function that is called at once."""
    done: dict[str, str] = {}
    _add(ENTRY, done)
    return "\n".join(done.values())


def _add(name: str, done: dict[str, str]) -> None:
    source = (HERE / f"{name}.js").read_text("utf-8")
    for _, other in _IMPORT.findall(source):
        if other not in done:
            _add(other, done)
    exports = ", ".join(_EXPORT.findall(source))
    body = _EXPORT.sub("", _IMPORT.sub(r"const {\1} = \2Module;\n", source))
    done[name] = f"const {name}Module = (() => {{\n{body}\nreturn {{ {exports} }};\n}})();"

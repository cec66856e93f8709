"""The shape of the code: its size, which modules know which, circles, docstrings, and names that are defined twice.

    python -m benchmarks.house           the figures
    python -m benchmarks.house words     docstrings that are no whole sentences
    python -m benchmarks.house names     public names defined in more than one module, and why

Nothing is imported: the sources are read. An import for types alone is no arrow; one inside a function is.
`tests/test_house.py` holds what must stay: no circle, no arrow from the library into the lab, whole sentences.
"""

from __future__ import annotations

import ast
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ENTRIES = ("labkit.__main__",)  # what may open the lab, beside the console script
#: first words with which a sentence goes on that begins elsewhere
FRAGMENTS = """
    And Or But Nor Of For With Without In Into On Onto At By To From As Than Whose Whom Which Where While After
    Before Because Since Until Unless Through Against Between Among Beside Beyond Above Below Under Over About
"""
SHORTEST = 3  # words of a docstring
#: why a public name may stand in several modules
TWICE = {
    "Parts": "of a figure, by test items; of a sentence, by words",
    "Entry": "a line of a table: of the corpora, of the methods",
    "Plan": "how triplets are made of articles, and how FILM learns L; each inside its paper's folder",
    "Recipe": "numbers of triplets for an anchor, in FILM alone; how a row of a table is computed, in the papers alone",
    "contrastive": "the formula, and its fast form",
    "cosent": "the formula, and its fast form",
    "encode": "the command, and what it calls",
    "export": "the command, and what it calls",
    "filled": "a step of an answer in a check, and rows that are not zero; no module knows both",
    "hinge": "FILM's, and that of the thematic triplets; each inside its paper's folder",
    "infonce": "the formula, and its fast form",
    "load": "of a corpus, and of a run: each is `load` of its own table",
    "locality": "the formula, and its fast form",
    "logistic": "the formula, and its fast form",
    "main": "where a program begins",
    "margin_triplet": "the formula, and its fast form",
    "neighbours": "the command, and where old sentences lie among which a new one is placed",
    "page": "where a page of the app begins",
    "pair_cosines": "the computation, and what the app keeps of it",
    "pca": "a method, and a picture",
    "picture": "a recipe (its name is in the key of kept cells), a picture that comes with the lab, a figure on a page",
    "rank": "of a sentence in a check, and of a process, as torch calls it",
    "run": "computing cells, and starting a page: always `frame.run`",
    "soft_triplet": "the formula, and its fast form",
    "summed": "a step of an answer in a check, and a sum over processes",
    "supcon": "the formula, and its fast form",
    "train": "the command, and what it calls",
    "tune": "the command, and what it calls",
    "unit": "rows of length 1 by two roundings: the shipped pictures were made by that of the projections",
    "units": "the stream that every generator of a corpus has",
}


@cache
def modules() -> dict[str, Path]:
    """The dotted name and the file of every module of the package and of the app."""
    files = [*sorted((ROOT / "labkit").rglob("*.py")), *sorted((ROOT / "app").rglob("*.py"))]
    return {_dotted(path): path for path in files}


@cache
def tree(name: str) -> ast.Module:
    """The syntax tree of a module."""
    return ast.parse(modules()[name].read_text("utf-8"))


@cache
def imports(name: str) -> frozenset[str]:
    """The modules of ours that a module imports anywhere but for types alone."""
    found: set[str] = set()
    for node in _executed(tree(name)):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {_module(f"{node.module}.{each.name}") or _module(node.module) or "" for each in node.names}
        elif isinstance(node, ast.Import):
            found |= {_module(each.name) or "" for each in node.names}
    return frozenset(found - {"", name})


def circles() -> list[list[str]]:
    """Groups of modules that import one another in a circle when they are imported; an import in a function waits."""
    arrows = {name: _at_the_top(name) for name in modules()}
    return [group for group in _groups(arrows) if len(group) > 1]


def upward() -> list[tuple[str, str]]:
    """Imports from the library into the lab or the app, which know the library and not the other way round."""
    return [
        (name, other)
        for name in modules()
        if name not in ENTRIES and _layer(name) == 0
        for other in sorted(imports(name))
        if _layer(other) > 0
    ]


def fragments() -> list[str]:
    """Docstrings that are no whole sentence: begun with a bare preposition or conjunction, or under three words."""
    found, first = [], frozenset(FRAGMENTS.split())
    for name in modules():
        for node in ast.walk(tree(name)):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                words = (ast.get_docstring(node) or "").split("\n\n")[0].split()
                if words and (len(words) < SHORTEST or words[0].strip(".,:;") in first):
                    where = f"{name}.{getattr(node, 'name', '')}".rstrip(".")
                    found.append(f"{where}: {' '.join(words[:12])}")
    return found


def defined_twice() -> dict[str, list[str]]:
    """Public functions and classes that several modules define under one name, with these modules."""
    places: dict[str, list[str]] = defaultdict(list)
    for name in modules():
        for node in tree(name).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(name)
    return {name: where for name, where in sorted(places.items()) if len(set(where)) > 1}


def figures() -> dict[str, object]:
    """What stands in the table of `python -m benchmarks.house`."""
    lines = {name: len(path.read_text("utf-8").splitlines()) for name, path in modules().items()}
    ours = [name for name in lines if _layer(name) < 2]
    importers: dict[str, set[str]] = defaultdict(set)
    for name in modules():
        for other in imports(name):
            importers[other].add(name)
    functions = [
        (node.end_lineno or node.lineno) - node.lineno + 1
        for name in ours
        for node in ast.walk(tree(name))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    rooms = {_room(name) for name in ours}
    arrows = {(_room(name), _room(other)) for name in ours for other in imports(name)}
    top = {(_top(a), _top(b)) for a, b in arrows}
    alone = [name for name in ours if len(importers[name]) == 1 and modules()[name].name != "__init__.py"]
    return {
        "files in labkit": len(ours),
        "files in app": len(lines) - len(ours),
        "lines in labkit": sum(lines[name] for name in ours),
        "lines outside labkit/lab": sum(lines[name] for name in ours if _layer(name) == 0),
        "lines in labkit and app": sum(lines.values()),
        "rooms": len(rooms),
        "arrows between rooms": sum(a != b for a, b in arrows),
        "arrows between top-level rooms": sum(a != b for a, b in top),
        "imports that run upward": len(upward()),
        "circles": len(circles()),
        "modules with one importer": len(alone),
        "lines of a module, median and 90th percentile": _spread([lines[name] for name in ours]),
        "lines of a function, median and 90th percentile": _spread(functions),
        "docstrings that are no sentence": len(fragments()),
        "public names defined more than once": len(defined_twice()),
    }


def _dotted(path: Path) -> str:
    parts = list(path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _module(name: str) -> str | None:
    """The module of this name; the app's import one another without saying `app`."""
    return next((each for each in (name, f"app.{name}") if each in modules()), None)


def _layer(name: str) -> int:
    """The height of a module: the library is 0, the lab 1, the app 2."""
    return 2 if name.startswith("app") else int(f"{name}.".startswith("labkit.lab."))


def _room(name: str) -> str:
    return name if modules()[name].name == "__init__.py" else name.rpartition(".")[0]


def _top(room: str) -> str:
    return ".".join(room.split(".")[:2])


def _executed(node: ast.AST) -> Iterator[ast.AST]:
    """Every node but those of a block that only type checkers read."""
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"):
            yield child
            yield from _executed(child)


def _at_the_top(name: str) -> set[str]:
    inside = {
        each
        for node in _executed(tree(name))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for each in ast.walk(node)
    }
    found = set()
    for node in _executed(tree(name)):
        if isinstance(node, ast.ImportFrom) and node.module and node not in inside:
            found |= {_module(f"{node.module}.{each.name}") or _module(node.module) for each in node.names}
    return {each for each in found if each} - {name}


def _groups(arrows: dict[str, set[str]]) -> list[list[str]]:
    """The strongly connected parts (Tarjan 1972)."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        number[name] = low[name] = len(number)
        stack.append(name)
        for other in arrows[name]:
            if other not in number:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], number[other])
        if low[name] == number[name]:
            cut = stack.index(name)
            found.append(sorted(stack[cut:]))
            del stack[cut:]

    for name in arrows:
        if name not in number:
            visit(name)
    return found


def _spread(values: list[int]) -> str:
    return f"{statistics.median(values):.0f}, {statistics.quantiles(values, n=10)[-1]:.0f}"


def main() -> str:
    """The figures as a table in Markdown."""
    rows = [f"| {name} | {value} |" for name, value in figures().items()]
    return "\n".join(["| of the code |  |\n| --- | --- |", *rows])


if __name__ == "__main__":
    if sys.argv[1:] == ["words"]:
        print("\n".join(fragments()))
    elif sys.argv[1:] == ["names"]:
        print("\n".join(f"{name}: {', '.join(where)}: {TWICE.get(name)}" for name, where in defined_twice().items()))
    else:
        print("\n".join(f"{value!s:>12}  {name}" for name, value in figures().items()))

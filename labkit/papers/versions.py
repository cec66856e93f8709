"""Which version of the code a cell was computed with: what a figure depends on beside its settings, data and seed.

    shared    losses, miners, encoders, the loop, evaluation, text, recipes        an area more for each method's module

The version of an area is a number that a person states in `versions.json`, beside a digest of the code it was stated
for (comments, docstrings and empty lines do not count). Code that nobody has spoken for has its digest in the place of
the number, so that no old figure is served as one of a changed loss. After a change, say which it is:

    python -m labkit.papers.versions same       figures stay what they were: cells computed before are good
    python -m labkit.papers.versions changed    they do not: the areas that changed get the next number

In: a method's name. Out: area -> version. A test refuses code that nobody has spoken for.
"""

from __future__ import annotations

import ast
import hashlib
import io
import json
import sys
import tokenize
from functools import cache
from pathlib import Path

from labkit.atomic import in_place

PACKAGE = Path(__file__).resolve().parents[1]
STATED = Path(__file__).with_name("versions.json")
SHARED = (
    "articles",
    "corpora/classes.py",
    "corpora/records.py",
    "corpora/sentences.py",
    "encoders.py",
    "encoding.py",
    "evaluation",
    "methods/base.py",
    "methods/batches.py",
    "methods/contract.py",
    "methods/keeper.py",
    "methods/matrix.py",
    "methods/neural.py",
    "methods/parts.py",
    "pairs",
    "papers/case.py",
    "papers/recipes",
    "projection",
    "ranking.py",
    "reader.py",
    "scores.py",
    "text.py",
    "thematic/clustering.py",
    "training",
    "vectors.py",
)
#: what re-embeds vectors, and what that is compared with
TRANSFORMED = (
    "sweeps.py",
    "locally_linear",
    "reembedding",
    "methods/affine.py",
    "methods/all_but_the_top.py",
    "methods/neighbourhoods.py",
    "methods/pca.py",
    "methods/whitening.py",
)
#: the module of a method -> what else of the package only it needs
FURTHER = {
    "all_but_the_top": ("methods/affine.py",),
    "film": ("film",),
    "film_deep": ("film", "methods/sif.py", "methods/mean_vectors.py"),  # the base it stands on, if nobody says another
    "lsa": ("methods/tfidf.py",),
    "pca": ("methods/affine.py",),
    "pthought": ("paraphrase",),
    "sbert": TRANSFORMED,
    "sbert_lp": TRANSFORMED,
    "sif": ("methods/mean_vectors.py",),
    "thematic": ("thematic", "methods/sif.py", "methods/mean_vectors.py"),
    "whitening": ("methods/affine.py",),
}


def versions_of(method: str) -> dict[str, str]:
    """area -> version, of what all cells share and of the method, if there is one."""
    return {area: _version(area) for area in areas() if area == "shared" or area == _module(method)}


def areas() -> dict[str, tuple[str, ...]]:
    """area -> its files and folders in the package."""
    from labkit.methods import METHODS

    modules = sorted({_module(name) for name in METHODS})
    return {"shared": SHARED} | {name: (f"methods/{name}.py", *FURTHER.get(name, ())) for name in modules}


def state(*, changed: bool) -> list[str]:
    """Speak for all areas whose code is not what it was: their names."""
    stated = _stated()
    found = [area for area in areas() if stated.get(area, {}).get("digest") != digest_of(area)]
    for area in found:
        version = int(stated[area]["version"]) + changed if area in stated else 1
        stated[area] = {"version": version, "digest": digest_of(area)}
    with in_place(STATED) as file:
        file.write((json.dumps(dict(sorted(stated.items())), indent=1) + "\n").encode())
    _version.cache_clear()
    return found


def digest_of(area: str) -> str:
    """Of the code of an area, by the names of its files."""
    told = hashlib.sha256()
    for place in areas()[area]:
        path = PACKAGE / place
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            told.update(f"{file.relative_to(PACKAGE).as_posix()}\n{code_of(file.read_text('utf-8'))}\n".encode())
    return told.hexdigest()[:20]


def code_of(source: str) -> str:
    """What of a module is executed: without comments, docstrings and empty lines.

    >>> code_of('def f(x):  # why\\n    \"\"\"What.\"\"\"\\n\\n    return x  # so\\n')
    'def f(x):\\n    return x'
    """
    lines: list[str] = source.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(ast.parse(source)):
        first = node.body[0] if isinstance(node, kinds) and node.body else None
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
            for row in range(first.lineno - 1, first.end_lineno or first.lineno):
                lines[row] = ""
    return "\n".join(line.rstrip() for line in lines if line.strip())


@cache
def _version(area: str) -> str:
    stated, digest = _stated().get(area), digest_of(area)
    return str(stated["version"]) if stated is not None and stated["digest"] == digest else digest


def _stated() -> dict[str, dict[str, int | str]]:
    return dict(json.loads(STATED.read_text("utf-8"))) if STATED.is_file() else {}


def _module(method: str) -> str:
    """The module a method is written in; empty without one."""
    from labkit.methods import METHODS

    return METHODS[method].method.__module__.rpartition(".")[2] if method in METHODS else ""


if __name__ == "__main__":
    if sys.argv[1:] not in (["same"], ["changed"]):
        sys.exit("say `same` if all figures stay what they were, `changed` if they do not")
    print("\n".join(state(changed=sys.argv[1] == "changed")) or "nothing has changed")

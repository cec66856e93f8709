"""Every module can be the first that is imported: no circle among them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import labkit
from tests.waiting import HANG

ROOT = Path(labkit.__file__).parent
MODULES = sorted(
    ".".join(("labkit", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")
    for path in ROOT.rglob("*.py")
    if path.name != "__main__.py"
)
# Imports all, and tells what fails, and who imports something that is being imported itself, or lies in what is:
# a circle, of which one end may come first and the other not. What lies in a package may use it: that is none.
SCRIPT = """
import builtins, importlib, sys
given = sys.argv[1:]
ours, real, circles = {name.partition(".")[0] for name in given}, builtins.__import__, {}
def watched(name, globals=None, locals=None, fromlist=(), level=0):
    found = real(name, globals, locals, fromlist, level)
    by = (globals or {}).get("__name__", "")
    while name and name.partition(".")[0] in ours:
        if getattr(sys.modules[name].__spec__, "_initializing", False) and not f"{by}.".startswith(name + "."):
            circles[f"{name}: in a circle with {by}"] = None
        name = name.rpartition(".")[0]
    return found
builtins.__import__ = watched
for name in given:
    try:
        importlib.import_module(name)
    except BaseException as error:
        if getattr(error, "name", None) not in {"openTSNE", "sentence_transformers", "pytorch_metric_learning"}:
            print(f"{name}: {type(error).__name__}: {error}")
print(*circles, sep="\\n", end="")
"""


def first_imports(modules: list[str]) -> list[str]:
    """What does not come through as the first import, a line each."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *modules], capture_output=True, text=True, check=True, timeout=HANG
    )
    return done.stdout.splitlines()


@pytest.mark.whole
def test_every_module_may_come_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(MODULES) > 150
    assert first_imports(MODULES) == []
    (tmp_path / "one.py").write_text("import two\nfrom two import b\na = 1\n")
    (tmp_path / "two.py").write_text("from one import a\nb = 2\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert first_imports(["one", "two"])[0].startswith("one: ImportError: cannot import name 'a'")
    (tmp_path / "three.py").write_text("c = 3\nfrom four import d\n")  # comes first, as four does not
    (tmp_path / "four.py").write_text("from three import c\nd = 4\n")
    assert first_imports(["three", "four"]) == ["three: in a circle with four"]
    (tmp_path / "five").mkdir()
    (tmp_path / "five" / "__init__.py").write_text("from five.inner import e\n")
    (tmp_path / "five" / "inner.py").write_text("from six import f\ne = 5\n")
    (tmp_path / "five" / "leaf.py").write_text("g = 6\n")
    (tmp_path / "six.py").write_text("from five.leaf import g\nf = 7\n")  # this one may not come first
    assert first_imports(["five", "five.inner", "five.leaf", "six"]) == ["five: in a circle with six"]

"""Every module can be the first that is imported: no circle among them."""

from __future__ import annotations

import os
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
# All is imported once, for the sake of others' packages; each module of ours then anew, in a process forked from there.
SCRIPT = """
import gc, importlib, os, sys
for name in sys.argv[1:]:
    try:
        importlib.import_module(name)
    except ImportError:
        pass
ours = {name.partition(".")[0] for name in sys.argv[1:]}
for name in list(sys.modules):
    if name.partition(".")[0] in ours:
        del sys.modules[name]
gc.freeze()
gc.disable()
for name in sys.argv[1:]:
    child = os.fork()
    if child == 0:
        try:
            importlib.import_module(name)
        except BaseException as error:
            if getattr(error, "name", None) not in {"openTSNE", "sentence_transformers", "pytorch_metric_learning"}:
                print(f"{name}: {type(error).__name__}: {error}", flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""


def first_imports(modules: list[str]) -> list[str]:
    """What does not come through as the first import, a line each."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *modules], capture_output=True, text=True, check=True, timeout=HANG
    )
    return done.stdout.splitlines()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
@pytest.mark.whole
def test_every_module_may_come_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(MODULES) > 150
    assert first_imports(MODULES) == []
    (tmp_path / "one.py").write_text("import two\nfrom two import b\na = 1\n")
    (tmp_path / "two.py").write_text("from one import a\nb = 2\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    (told, _) = first_imports(["one", "two"])
    assert told.startswith("one: ImportError: cannot import name 'a'")

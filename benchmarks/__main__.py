"""`python -m benchmarks [NAME...] [--out FILE]`: run all benchmarks, or those named.

A benchmark is a module of this folder with `main()`, which returns its tables in Markdown.
"""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path

FOLDER = Path(__file__).parent


def names() -> list[str]:
    """The modules that define `main`. They are not imported, because each needs other packages."""
    found = (path for path in FOLDER.glob("[!_]*.py") if "\ndef main(" in path.read_text(encoding="utf-8"))
    return sorted(path.stem for path in found)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure speed and memory.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"any of {', '.join(names())}; default: all")
    parser.add_argument("--out", type=Path, metavar="FILE", help="also write the tables to this file")
    options = parser.parse_args()
    if unknown := sorted(set(options.names) - set(names())):
        parser.error(f"NAME is {unknown[0]!r}, expected any of {', '.join(names())}")
    tables = []
    for name in options.names or names():
        tables.append(f"## {name}\n\n{importlib.import_module(f'benchmarks.{name}').main()}\n")
        print(tables[-1], flush=True)
    if options.out:
        options.out.write_text("\n".join(tables), encoding="utf-8")


if __name__ == "__main__":
    main()

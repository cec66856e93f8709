"""Make the notebooks: `python -m labkit.course`, or only some: `python -m labkit.course 01 06`."""

from __future__ import annotations

import sys

from labkit.course.making import make
from labkit.course.sources import sources


def main(wanted: list[str]) -> int:
    """Make the notebooks whose names begin with one of these; all without one."""
    found = [source for source in sources() if not wanted or source.stem.startswith(tuple(wanted))]
    if not found:
        names = ", ".join(source.stem for source in sources())
        print(f"labkit: no notebook begins with {' or '.join(wanted)}; there are {names}", file=sys.stderr)
        return 2
    for source in found:
        print(f"{source.stem}: run in {make(source):.0f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

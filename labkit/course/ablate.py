"""Measure ablations of the notebooks and keep their tables: `python -m labkit.course.ablate [NAME ...]`."""

from __future__ import annotations

import sys

from labkit.course.ablation import keep, measured
from labkit.course.plans import PLANS
from labkit.progress import terminal


def main(wanted: list[str]) -> int:
    """Measure these plans; all without a name."""
    unknown = [name for name in wanted if name not in PLANS]
    if unknown:
        print(f"labkit: no ablation is named {unknown[0]!r}; there are {', '.join(PLANS)}", file=sys.stderr)
        return 2
    for name in wanted or PLANS:
        with terminal("cell") as progress:
            path = keep(measured(PLANS[name], progress))
        print(f"{name}: {path.name}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

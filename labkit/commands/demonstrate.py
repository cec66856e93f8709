"""`labkit data make runs`: the small runs and the pictures that come with the lab, made anew from their seeds."""

from __future__ import annotations

import io
import shutil
from contextlib import redirect_stdout
from itertools import chain
from pathlib import Path
from typing import Any

from labkit.commands.saying import remark
from labkit.progress import terminal


def make_demonstrations(out: Path) -> tuple[dict[str, Any], str]:
    """Runs into `out`/runs, pictures into `out`/pictures; what lay there under the same names goes. What was made, as
    a record and in words."""
    from labkit.corpora.embedded import EMBEDDED
    from labkit.demonstrations import DEMONSTRATIONS, Origin
    from labkit.demonstrations.known import write_known
    from labkit.demonstrations.making import PLAIN, compared, draw, plain, write_standings
    from labkit.methods import load

    runs, pictures = out / "runs", out / "pictures"
    corpora = {name: embedded.load() for name, embedded in EMBEDDED.items()}
    methods, standings, lines = {}, {}, list[str]()
    for name, shipped in DEMONSTRATIONS.items():
        _train(name, runs)
        methods[name] = load(runs / name)
        standings[name] = compared(methods[name], corpora[shipped.corpus])
        lines.append(f"{name}: {standings[name]}")
        remark(lines[-1])
    write_standings(standings, runs)
    with terminal("picture") as progress:
        trained = [(methods[name], corpora[shipped.corpus]) for name, shipped in DEMONSTRATIONS.items()]
        made = {draw(method, corpus, pictures, progress) for method, corpus in chain(trained, plain(corpora))}
    write_known((Origin.unfitted(name, corpus) for corpus in corpora.values() for name in PLAIN), pictures)
    for left in set(pictures.glob("*.npz")) - made:
        left.unlink()
    said = f"{runs}: {len(standings)} runs, {_kilobytes(runs):,} kB; {pictures}: {_kilobytes(pictures):,} kB"
    figures = {name: {"measure": each.measure, "figure": each.figure} for name, each in standings.items()}
    return {"runs": runs, "pictures": pictures, "figures": figures}, "\n".join([*lines, said])


def _train(name: str, runs: Path) -> None:
    """By `labkit train`, beside its place, so that an interruption leaves the run that was there."""
    from labkit.commands.train import train
    from labkit.demonstrations import DEMONSTRATIONS

    shipped = DEMONSTRATIONS[name]
    beside = runs / f".{name}"
    shutil.rmtree(beside, ignore_errors=True)
    with redirect_stdout(io.StringIO()):  # what it is worth is said beside its baseline
        train(
            method=shipped.method,
            corpus=shipped.corpus,
            seed=shipped.seed,
            epochs=None,
            device=None,
            out=beside,
            changes=list(shipped.changes),
            resume=None,
            show=False,
        )
    shutil.rmtree(runs / name, ignore_errors=True)
    beside.rename(runs / name)


def _kilobytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) // 1000

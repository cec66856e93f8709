"""`labkit reproduce [PAPER[/TABLE]]`: the papers' tables recomputed on the data at hand, the paper's figure beside
ours."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from labkit.commands import Stopped
from labkit.commands.saying import columns
from labkit.progress import terminal

if TYPE_CHECKING:
    from labkit.papers.desk import Desk
    from labkit.papers.planning import Plan
    from labkit.papers.records import Table
    from labkit.papers.running import Run
    from labkit.papers.store import Store

_SPANS = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


def reproduce(
    table: Annotated[
        str, typer.Argument(metavar="[PAPER[/TABLE]]", help="A paper or one of its tables; without it, a list of all.")
    ] = "",
    data: Annotated[
        Path | None,
        typer.Option(help="Folder of the published datasets; else LABKIT_DATA, the cache, or the embedded corpora."),
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Runs of each row that chance has a part in; 3, with --quick 1.")
    ] = None,
    budget: Annotated[
        str | None, typer.Option(metavar="TIME", help="Such as 90s, 10m, 2h: what would not fit is left for later.")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Small embedded data, short trainings, one seed: not evidence.")
    ] = False,
    everything: Annotated[bool, typer.Option("--all", help="Every table of every paper; says first how long.")] = False,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write .md, .csv, .json or .html.")] = None,
) -> None:
    """Recompute the papers' tables: ours as mean and spread over seeds, the paper's figure beside it.

    What was computed once is kept; a run that was stopped goes on where it was.
    """
    from labkit.papers import tables
    from labkit.papers.desk import Desk
    from labkit.papers.reports import form_of
    from labkit.papers.store import Store

    if quick and everything:
        raise ValueError("--quick and --all exclude each other: --quick is small data and one seed; leave one out")
    if out is not None:
        form_of(out)
        if not out.parent.is_dir():
            raise ValueError(f"--out is {str(out)!r}, but there is no folder {str(out.parent)!r}; make it first")
    limit = None if budget is None else seconds_of(budget)
    wanted, desk, store = tables(table), Desk(data, quick=quick), Store()
    count = seeds or (1 if quick else 3)
    if not table and not quick and not everything:
        typer.echo(_listed(wanted, desk, store, count))
        return
    _recompute(wanted, desk, store, count, limit, out, aloud=everything)


def seconds_of(span: str) -> float:
    """A span of time as typed.

    >>> seconds_of("90s"), seconds_of("10m"), seconds_of("1.5h"), seconds_of("20")
    (90.0, 600.0, 5400.0, 20.0)
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(s|m|min|h|)", span.strip().lower())
    if not found or not float(found[1]):
        raise ValueError(f"--budget is {span!r}, expected a time above 0 such as 90s, 10m or 2h")
    return float(found[1]) * _SPANS[found[2]]


def _listed(wanted: Sequence[Table], desk: Desk, store: Store, seeds: int) -> str:
    """All tables, with what of them can be computed here and on which data, and how long what is missing takes."""
    from labkit.papers.planning import plan
    from labkit.papers.running import estimate, spoken

    rows = [["table", "rows", "on", "still takes", "what"]]
    for table in wanted:
        planned = plan(table, desk, seeds)
        left = estimate([planned], store)
        takes = spoken(left) if left else "nothing: known" if planned.cells else "-"
        where = "published" if planned.published else "embedded" if planned.cells else "-"
        rows.append([table.name, f"{planned.possible} of {len(table.rows)}", where, takes, table.caption])
    said = columns(rows, right=[3])
    return (
        f"{said}\n\nTimes are guesses for {seeds} seeds until a row is timed. `labkit reproduce film/1` recomputes "
        "one table, --quick a small form of all, --all everything."
    )


def _recompute(
    wanted: Sequence[Table],
    desk: Desk,
    store: Store,
    seeds: int,
    budget: float | None,
    out: Path | None,
    *,
    aloud: bool,
) -> None:
    from labkit.papers import running
    from labkit.papers.planning import plan

    plans = [plan(table, desk, seeds) for table in wanted]
    left = running.estimate(plans, store)
    if left and (aloud or left > 60):
        typer.echo(
            f"about {running.spoken(left)} on this machine, kept as it goes; Ctrl-C loses no finished row", err=True
        )
    with terminal("s") as progress:
        found = running.run(plans, store, budget=budget, progress=progress)
    _show(plans, found, desk, out)
    if found.left:
        more = running.spoken(sum(map(store.seconds, found.left)))
        typer.echo(f"{len(found.left)} runs did not fit the budget (about {more}); the same command goes on", err=True)
    if found.interrupted:
        raise Stopped("stopped; finished rows are kept and shown, and the same command goes on")


def _show(plans: Sequence[Plan], found: Run, desk: Desk, out: Path | None) -> None:
    """On the terminal, and in the file that is asked for."""
    from labkit.atomic import in_place
    from labkit.papers import PAPERS
    from labkit.papers.reports import as_text, form_of, reported
    from labkit.papers.results import result

    results = [result(planned, found, quick=desk.quick) for planned in plans]
    report = reported(_command(), results, PAPERS)
    typer.echo(as_text(report, width=shutil.get_terminal_size((120, 24)).columns))
    if out is not None:
        with in_place(out) as file:
            file.write(form_of(out)(report).encode("utf-8"))
        typer.echo(f"\n{out}")


def _command() -> str:
    """As it was called, without where the data lies on this machine."""
    words = list(sys.argv[1:])
    for place, word in enumerate(words):
        if word == "--data" and place + 1 < len(words):
            words[place + 1] = "DATA"
        elif word.startswith("--data="):
            words[place] = "--data=DATA"
    return shlex.join(["labkit", *words])

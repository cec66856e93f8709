"""`labkit reproduce [PAPER[/TABLE]]`: the papers' tables recomputed on the data at hand, the paper's figure beside
ours."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from labkit.interrupts import interruptible
from labkit.lab.cli.arguments import Force, Json, check_free
from labkit.lab.cli.output import Stopped, remark, show_result, step, text_table, write_output
from labkit.progress import lasting, terminal

if TYPE_CHECKING:
    from labkit.lab.papers.cells import Cell, Computed, TablePlan
    from labkit.lab.papers.data import Desk
    from labkit.lab.papers.records import Table
    from labkit.lab.papers.store import CellStore, Known

PROTOCOLS = ("fair", "printed")
_SECONDS = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


def reproduce(
    table: Annotated[
        str, typer.Argument(metavar="[PAPER[/TABLE]]", help="A paper or one of its tables; without it, a list of all.")
    ] = "",
    data: Annotated[
        Path | None,
        typer.Option(help="Folder of the published datasets; else LABKIT_DATA, the cache, or the embedded corpora."),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(min=1, help="Runs of each row that chance has a part in; else the table's own, with --quick 1."),
    ] = None,
    protocol: Annotated[
        str,
        typer.Option(
            help="fair: each row's settings are chosen on dev first, by as many trials as every other's, and those as "
            "printed stand beside; printed: those alone."
        ),
    ] = "fair",
    budget: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", help="Such as 90s, 10m, 2h: the shortest rows first, what would not fit is left; 0: none."
        ),
    ] = None,
    anew: Annotated[
        bool, typer.Option("--anew", help="Compute again what is stored, and say whether it is the same.")
    ] = False,
    row: Annotated[str, typer.Option(metavar="TEXT", help="Compute only rows whose name holds this.")] = "",
    quick: Annotated[
        bool, typer.Option("--quick", help="Small embedded data, short trainings, one seed: not evidence.")
    ] = False,
    everything: Annotated[bool, typer.Option("--all", help="Every table of every paper; says first how long.")] = False,
    out: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE", help="Also write .md, .csv, .json, .html, or .jsonl (the cells); may be repeated."
        ),
    ] = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Recompute the papers' tables: ours as mean and spread over seeds, the paper's figure beside it.

    What was computed once is kept and shown again; --anew computes it again. A command that was stopped resumes.
    """
    from labkit.lab.papers.cells import plan
    from labkit.lab.papers.data import DATASETS, Desk
    from labkit.lab.papers.fair import printed_only
    from labkit.lab.papers.published import tables
    from labkit.lab.papers.store import CellStore

    if protocol not in PROTOCOLS:
        raise ValueError(f"--protocol is {protocol!r}, expected one of {', '.join(PROTOCOLS)}; choose one of these")
    if quick and everything:
        raise ValueError("--quick and --all exclude each other: --quick is small data and one seed; leave one out")
    if table and everything:
        raise ValueError(f"{table!r} and --all exclude each other: --all is every table; leave one out")
    if quick and data is not None:
        raise ValueError(
            f"--quick and --data exclude each other: --quick takes embedded data, not {data}; leave one out"
        )
    files = out or []
    if not (table or quick or everything):
        for option, value in (
            ("--out", files),
            ("--budget", budget),
            ("--row", row),
            ("--seeds", seeds),
            ("--anew", anew),
        ):
            if value:
                raise ValueError(f"{option} is for what is recomputed, but no table is named; name one, or give --all")
    _check_files(files, force=force)
    limit = None if budget is None else seconds_of(budget)
    wanted, store = tables(table), CellStore()
    wanted = [printed_only(each) for each in wanted] if protocol == "printed" else wanted
    _check_row(row, wanted)
    with step("data looked at"), terminal() as reading:
        desk = Desk(data, quick=quick, progress=reading)
        plans = [plan(each, desk, seeds) for each in wanted]
    asked = any(DATASETS[name].parts for each in wanted for name in each.data)
    if data is not None and not quick and asked and not any(each.published for each in plans):
        remark(
            f"--data {data} holds none of the published data that is asked for, so embedded corpora are taken; "
            "`labkit data list` names what can be put there"
        )
    if not table and not quick and not everything:
        show_result(*_listed(plans, store), json=json)
        return
    _recompute(plans, desk, store, row, limit, files, anew=anew, aloud=everything, json=json)


def seconds_of(span: str) -> float:
    """The seconds of a span of time, as it is typed after --budget.

    >>> seconds_of("90s"), seconds_of("10m"), seconds_of("1.5h"), seconds_of("20")
    (90.0, 600.0, 5400.0, 20.0)
    """
    parts = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(s|m|min|h|)", span.strip().lower())
    if not parts:
        raise ValueError(f"--budget is {span!r}, expected a time such as 90s, 10m or 2h, or 0 to compute nothing")
    return float(parts[1]) * _SECONDS[parts[2]]


def _check_files(files: Sequence[Path], *, force: bool) -> None:
    from labkit.lab.papers.html import form_of

    for file in files:
        form_of(file)
        if not file.parent.is_dir():
            raise ValueError(f"--out is {str(file)!r}, but there is no folder {str(file.parent)!r}; make it first")
        check_free(file, "--out", force=force)


def _check_row(row: str, wanted: Sequence[Table]) -> None:
    from labkit.lab.papers.cells import rows_named

    if not any(rows_named(table, row) for table in wanted):
        names = dict.fromkeys(each.name for table in wanted for each in table.rows)
        near = get_close_matches(row, names, n=1, cutoff=0.0)[0]
        raise ValueError(f"--row is {row!r}, which no row's name holds; did you mean {near!r}?")


def _listed(plans: Sequence[TablePlan], store: CellStore) -> tuple[list[dict[str, Any]], str]:
    """All tables, with what of them can be computed here, on which data, and in what time; as records and as text."""
    from labkit.lab.papers.cells import estimate

    rows, records = [["table", "rows", "on", "still takes", "what"]], []
    for each in plans:
        left = estimate(each.cells, store)
        takes = lasting(left) if left else "nothing: known" if each.cells else "-"
        where = "published" if each.published else "embedded" if each.cells else "-"
        rows.append([each.table.name, f"{each.possible} of {len(each.table.rows)}", where, takes, each.table.caption])
        records.append(
            {
                "table": each.table.name,
                "possible_rows": each.possible,
                "rows": len(each.table.rows),
                "on": where,
                "seconds": left,
                "what": each.table.caption,
            }
        )
    listed = text_table(rows, right=[3])
    return records, (
        f"{listed}\n\nTimes are guesses until a row is timed. `labkit reproduce film/1` recomputes one table, --quick "
        "a small form of all, --all everything."
    )


def _recompute(
    plans: Sequence[TablePlan],
    desk: Desk,
    store: CellStore,
    row: str,
    budget: float | None,
    files: Sequence[Path],
    *,
    anew: bool,
    aloud: bool,
    json: bool,
) -> None:
    from labkit.lab.papers.cells import cells_of, estimate, run, with_tunings

    wanted, cells = cells_of(plans, row), cells_of(plans)
    stored = run(cells, store, budget=0).known
    left = sum(map(store.seconds, with_tunings(wanted))) if anew else estimate(wanted, store) if budget != 0 else 0.0
    if left and (aloud or left > 60):
        remark(f"about {lasting(left)} on this machine, kept as it goes; Ctrl-C loses no finished row")
    with step("computed"), terminal("s") as progress, interruptible():
        runs = None if anew else store.runs  # where trainings would be taken from
        outcome = run(cells, store, only=wanted, budget=budget, anew=anew, runs=runs, progress=progress)
    computed = [cell for cell in wanted if cell.fingerprint in outcome.expected and cell.fingerprint in outcome.known]
    remark(_compared(computed, stored, outcome) if anew else _from_store(wanted, computed, stored))
    outcome.known = stored | outcome.known
    _show(plans, outcome, desk, files, json=json)
    if outcome.left and budget:
        more = lasting(sum(map(store.seconds, outcome.left)))
        remark(f"{len(outcome.left)} runs did not fit the budget (about {more}); the same command goes on")
    if outcome.broken:
        first = next(iter(outcome.broken.values()))
        raise RuntimeError(
            f"{len(outcome.broken)} cells failed by a fault of labkit's own; all others are kept"
        ) from first
    if outcome.interrupted:
        status = getattr(outcome.interrupted, "status", 130)
        raise Stopped("stopped; finished rows are kept and shown, and the same command goes on", status)


def _from_store(wanted: Sequence[Cell], computed: Sequence[Cell], stored: Mapping[str, Known]) -> str:
    """How much of what is shown was computed by this command, and where the rest comes from."""
    known = [stored[cell.fingerprint] for cell in wanted if cell.fingerprint in stored]
    hosts = {each.notes.get("host", "an unnamed machine") for each in known}
    if not known:
        return f"computed {len(computed)} results"
    start = f"computed {len(computed)} results; the other" if computed else "computed nothing: the"
    return f"{start} {len(known)} are stored ones, from {'; '.join(sorted(hosts))}. --anew computes them again"


def _compared(computed: Sequence[Cell], stored: Mapping[str, Known], outcome: Computed) -> str:
    """Whether what was computed again is what was stored."""
    both = [(cell, stored[cell.fingerprint]) for cell in computed if cell.fingerprint in stored]
    gaps = [
        (abs(outcome.known[cell.fingerprint].figures.get(name, float("nan")) - value), name, cell, before)
        for cell, before in both
        for name, value in before.figures.items()
        if outcome.known[cell.fingerprint].figures.get(name) != value
    ]
    if not gaps:
        return (
            f"computed {len(computed)} results again: {len(both)} were stored before, and all their figures are equal"
        )
    gap, name, cell, before = max(gaps, key=lambda each: each[0])
    differ, there = len({cell.fingerprint for _, _, cell, _ in gaps}), before.notes.get("host", "an unnamed machine")
    return (
        f"computed {len(computed)} results again: {differ} of {len(both)} differ from the stored ones, most in {name} "
        f"of {cell}, by {gap:.2g}; the stored one is from {there}, this machine is "
        f"{outcome.known[cell.fingerprint].notes['host']}"
    )


def _show(plans: Sequence[TablePlan], outcome: Computed, desk: Desk, files: Sequence[Path], *, json: bool) -> None:
    """Write the report to standard output, and to the files that are asked for."""
    from labkit.atomic import in_place
    from labkit.lab.papers.html import form_of
    from labkit.lab.papers.published import PAPERS
    from labkit.lab.papers.reports import as_json, as_text, reported
    from labkit.lab.papers.results import cells_as_shown, result

    results = [result(planned, outcome, quick=desk.quick) for planned in plans]
    report = reported(_command(), results, PAPERS, cells_as_shown(plans, outcome))
    width = shutil.get_terminal_size((120, 24)).columns
    write_output(as_json(report).rstrip() if json else as_text(report, width=width))
    for path in files:
        with in_place(path) as file:
            file.write(form_of(path)(report).encode("utf-8"))
        if not json:
            write_output(f"\n{path}")


def _command() -> str:
    """The command as it was called, but for paths of this machine: where the data lies, and files outside of here."""
    words, before = ["labkit"], ""
    for word in sys.argv[1:]:
        apart = before in ("--data", "--out")  # an option's value that stands in a word of its own
        option, is_set, value = (before, "", word) if apart else word.partition("=")
        if option == "--data" and (apart or is_set):
            value = "DATA"
        elif option == "--out" and Path(value).is_absolute():
            value = Path(value).name
        words.append(value if apart else option + is_set + value)
        before = word
    return shlex.join(words)

"""`labkit reproduce [PAPER[/TABLE]]`: recompute the papers' tables and show the papers' numbers next to ours."""

from __future__ import annotations

import json as json_format
import shlex
import sys
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from labkit.cli.arguments import Force, Json, check_free
from labkit.cli.output import Stopped, remark, show_result, step, text_table, write_output
from labkit.interrupts import interruptible
from labkit.progress import terminal

if TYPE_CHECKING:
    from labkit.papers.cell_store import Store
    from labkit.papers.cells import Cell, Computed, TablePlan
    from labkit.papers.data import Desk
    from labkit.papers.records import Table
    from labkit.trials.engine import Result

ENDINGS = (".md", ".json", ".jsonl")


def reproduce(
    table: Annotated[
        str, typer.Argument(metavar="[PAPER[/TABLE]]", help="A paper or one of its tables. Default: list them all.")
    ] = "",
    data: Annotated[
        Path | None,
        typer.Option(help="Folder of published datasets. Default: LABKIT_DATA, the cache, or the bundled corpora."),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(min=1, help="Seeds per row that depends on chance. Default: that of the table; 1 with --quick."),
    ] = None,
    row: Annotated[
        str, typer.Option(metavar="TEXT", help="Compute only rows whose name contains this, such as 'as printed'.")
    ] = "",
    stored: Annotated[bool, typer.Option("--stored", help="Show stored results without computing.")] = False,
    anew: Annotated[bool, typer.Option("--anew", help="Recompute stored results and compare.")] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="Small bundled data, one epoch, no tuning, one seed: not evidence.")
    ] = False,
    everything: Annotated[bool, typer.Option("--all", help="Every table of every paper.")] = False,
    out: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Also write a .md, .json or .jsonl file (the results); repeatable."),
    ] = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Recompute the papers' tables over several seeds and show the papers' numbers next to ours.

    Results are stored and shown again; --anew recomputes them. The same command resumes.
    """
    from labkit.papers.cell_store import Store
    from labkit.papers.cells import plan
    from labkit.papers.data import DATASETS, Desk
    from labkit.papers.published import tables

    for one, other, why in (
        (quick and "--quick", everything and "--all", "--quick uses small data and one seed"),
        (table and repr(table), everything and "--all", "--all means every table"),
        (quick and "--quick", data is not None and "--data", "--quick uses bundled data"),
        (stored and "--stored", anew and "--anew", "--stored computes nothing"),
    ):
        if one and other:
            raise ValueError(f"{one} and {other} cannot be combined, because {why}; omit one")
    files = out or []
    if not (table or quick or everything):
        for option, value in (("--out", files), ("--row", row), ("--seeds", seeds), ("--anew", anew)):
            if value:
                raise ValueError(f"{option} needs a table to recompute; name one or add --all")
    _check_files(files, force=force)
    wanted, store = tables(table), Store()
    _check_row(row, wanted)
    with step("data looked at"), terminal() as reading:
        desk = Desk(data, quick=quick, progress=reading)
        plans = [plan(each, desk, seeds) for each in wanted]
    asked = any(DATASETS[name].parts for each in wanted for name in each.data)
    if data is not None and not quick and asked and not any(each.published for each in plans):
        remark(
            f"--data {data} has none of the published datasets of these tables, so bundled corpora are used; "
            "`labkit data list` names the datasets"
        )
    if not table and not quick and not everything:
        show_result(*_listed(plans, store), json=json)
        return
    _recompute(plans, desk, store, row, files, anew=anew, only_stored=stored, json=json)


def _check_files(files: Sequence[Path], *, force: bool) -> None:
    for file in files:
        if file.suffix not in ENDINGS:
            raise ValueError(f"--out {str(file)!r} must end in {', '.join(ENDINGS)}; rename it")
        if not file.parent.is_dir():
            raise ValueError(f"--out {str(file)!r}: the folder {str(file.parent)!r} does not exist; create it")
        check_free(file, "--out", force=force)


def _check_row(row: str, wanted: Sequence[Table]) -> None:
    from labkit.papers.cells import rows_named

    if not any(rows_named(table, row) for table in wanted):
        names = dict.fromkeys(each.name for table in wanted for each in table.rows)
        near = get_close_matches(row, names, n=1, cutoff=0.0)[0]
        raise ValueError(f"--row {row!r} is not part of any row's name; did you mean {near!r}?")


def _listed(plans: Sequence[TablePlan], store: Store) -> tuple[list[dict[str, Any]], str]:
    """All tables, how much of each can be computed here, and on which data; as records and as text."""
    from labkit.papers.cells import cells_of, stored

    rows, records = [["table", "rows", "data", "runs to do", "caption"]], []
    for each in plans:
        cells = cells_of([each])
        known = stored(cells, store)
        left = sum(cell.key not in known for cell in cells)
        where = "published" if each.published else "bundled" if cells else "-"
        possible = f"{each.possible} of {len(each.table.rows)}"
        rows.append([each.table.name, possible, where, f"{left} of {len(cells)}", each.table.caption])
        records.append(
            {
                "table": each.table.name,
                "possible_rows": each.possible,
                "rows": len(each.table.rows),
                "on": where,
                "runs": len(cells),
                "runs_to_do": left,
                "what": each.table.caption,
            }
        )
    listed = text_table(rows, right=[3])
    return records, (
        f"{listed}\n\n`labkit reproduce film/1` recomputes one table, --all every table, --quick small versions of all."
    )


def _recompute(
    plans: Sequence[TablePlan],
    desk: Desk,
    store: Store,
    row: str,
    files: Sequence[Path],
    *,
    anew: bool,
    only_stored: bool,
    json: bool,
) -> None:
    from labkit.papers.cells import Computed, cells_of, compute, stored

    wanted, cells = cells_of(plans, row), cells_of(plans)
    known = stored(cells, store)
    outcome = Computed()
    if not only_stored:
        with step("computed"), terminal("runs") as progress, interruptible():
            runs = None if anew else store.runs  # stored trainings to reuse
            outcome = compute(wanted, store, again=anew, runs=runs, progress=progress)
    remark(_compared(known, outcome) if anew else _from_store(wanted, known, outcome))
    outcome.known = known | outcome.known
    _show(plans, outcome, desk, files, json=json)
    if outcome.broken:
        first = next(iter(outcome.broken.values()))
        raise RuntimeError(
            f"{len(outcome.broken)} results failed because of a bug in labkit; all others are stored"
        ) from first
    if outcome.interrupted:
        status = getattr(outcome.interrupted, "status", 130)
        raise Stopped("stopped; finished runs are kept and shown, and the same command resumes", status)


def _from_store(wanted: Sequence[Cell], known: Mapping[str, Result], outcome: Computed) -> str:
    """How much was computed by this command, and where the rest comes from."""
    rest = [known[cell.key] for cell in wanted if cell.key in known]
    hosts = {each.notes.get("host", "an unnamed machine") for each in rest}
    fresh = len(outcome.fresh)
    if not rest:
        return f"computed {fresh} results"
    start = f"computed {fresh} results; the other" if fresh else "all"
    return f"{start} {len(rest)} were stored, from {'; '.join(sorted(hosts))}; --anew recomputes them"


def _compared(known: Mapping[str, Result], outcome: Computed) -> str:
    """Whether the recomputed results equal the stored ones."""
    both = [(cell, known[cell.key]) for cell in outcome.fresh if cell.key in known]
    gaps = [
        (abs(outcome.known[cell.key].figures.get(name, float("nan")) - value), name, cell, before)
        for cell, before in both
        for name, value in before.figures.items()
        if outcome.known[cell.key].figures.get(name) != value
    ]
    said = f"recomputed {len(outcome.fresh)} results:"
    if not gaps:
        return f"{said} {len(both)} were stored before, and all their values are equal"
    gap, name, cell, before = max(gaps, key=lambda each: each[0])
    differ, there = len({cell.key for _, _, cell, _ in gaps}), before.notes.get("host", "an unnamed machine")
    return (
        f"{said} {differ} of {len(both)} differ from the stored ones, most by {gap:.2g} in {name} of {cell}; that is "
        f"from {there}, this machine is {outcome.known[cell.key].notes['host']}"
    )


def _show(plans: Sequence[TablePlan], outcome: Computed, desk: Desk, files: Sequence[Path], *, json: bool) -> None:
    """Write the report to standard output and to the files asked for."""
    from labkit.atomic import in_place
    from labkit.papers import published
    from labkit.papers.bundled_report import Report
    from labkit.papers.cell_store import as_lines
    from labkit.papers.reports import as_markdown
    from labkit.papers.results import result, results_shown
    from labkit.runs import versions

    results = tuple(result(planned, outcome, quick=desk.quick) for planned in plans)
    report = Report(_command(), results, dict(versions()))
    page, record = (
        as_markdown(report, published.PAPERS),
        json_format.dumps(report.to_json(), indent=1, ensure_ascii=False),
    )
    write_output(record if json else page.rstrip())
    for path in files:
        lines = as_lines(results_shown(plans, outcome.known)) if path.suffix == ".jsonl" else ""
        with in_place(path) as file:
            file.write({".md": page, ".json": record + "\n", ".jsonl": lines}[path.suffix].encode("utf-8"))
        if not json:
            write_output(f"\n{path}")


def _command() -> str:
    """The command as it was called, without paths of this machine."""
    words, before = ["labkit"], ""
    for word in sys.argv[1:]:
        apart = before in ("--data", "--out")  # the value is a separate word
        option, is_set, value = (before, "", word) if apart else word.partition("=")
        if option == "--data" and (apart or is_set):
            value = "DATA"
        elif option == "--out" and Path(value).is_absolute():
            value = Path(value).name
        words.append(value if apart else option + is_set + value)
        before = word
    return shlex.join(words)

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
    from labkit.papers.cells import Cell, Computed, Store, TablePlan
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
        typer.Option(min=1, help="Seeds per random row. Default: as many as the table uses; 1 with --quick."),
    ] = None,
    row: Annotated[
        str, typer.Option(metavar="TEXT", help="Compute only rows whose name contains this, such as 'as printed'.")
    ] = "",
    stored: Annotated[bool, typer.Option("--stored", help="Show stored results without computing.")] = False,
    anew: Annotated[bool, typer.Option("--anew", help="Recompute stored results and compare.")] = False,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="Use small bundled data, one epoch, no tuning and one seed; the results are no evidence."
        ),
    ] = False,
    everything: Annotated[bool, typer.Option("--all", help="Recompute every table of every paper.")] = False,
    out: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Also write the report (.md, .json) or all results (.jsonl); repeatable."),
    ] = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Recompute the papers' tables over several seeds and show the papers' numbers next to ours.

    Stored results are shown without computing; --anew recomputes them. Repeat the command to resume.
    """
    from labkit.papers.cells import Store, plan
    from labkit.papers.data import DATASETS, Desk
    from labkit.papers.published import tables

    given = {"--quick": quick, "--all": everything, "--data": data, "--stored": stored, "--anew": anew, "--out": out,
             "--row": row, "--seeds": seeds, repr(table): table}  # fmt: skip
    for one, other in (("--quick", "--all"), (repr(table), "--all"), ("--quick", "--data"), ("--stored", "--anew")):
        if given[one] and given[other]:
            raise ValueError(f"{one} and {other} cannot be combined; omit one")
    listing, files = not (table or quick or everything), out or []
    if listing and (options := [option for option in ("--out", "--row", "--seeds", "--anew") if given[option]]):
        raise ValueError(f"{options[0]} needs a table to recompute; name one or add --all")
    for file in files:
        if file.suffix not in ENDINGS:
            raise ValueError(f"--out {str(file)!r} must end in {', '.join(ENDINGS)}; rename it")
        if not file.parent.is_dir():
            raise ValueError(f"--out {str(file)!r}: the folder {str(file.parent)!r} does not exist; create it")
        check_free(file, "--out", force=force)
    wanted, store = tables(table), Store()
    names = [each.name for one in wanted for each in one.rows]
    if not any(row.casefold() in name.casefold() for name in names):
        near = get_close_matches(row, names, n=1, cutoff=0.0)[0]
        raise ValueError(f"--row {row!r} does not occur in any row's name; did you mean {near!r}?")
    with step("data looked at"), terminal() as reading:
        desk = Desk(data, quick=quick, progress=reading)
        plans = [plan(each, desk, seeds) for each in wanted]
    asked = any(DATASETS[name].parts for each in wanted for name in each.data)
    if data is not None and not quick and asked and not any(each.published for each in plans):
        remark(
            f"--data {data} contains none of the published datasets of these tables, so bundled corpora are used; "
            "`labkit data list` lists the datasets"
        )
    if listing:
        show_result(*_listed(plans, store), json=json)
        return
    outcome = _computed(plans, store, row, anew=anew, only_stored=stored)
    _show(plans, outcome, files, quick=quick, json=json)
    if outcome.bugs:
        raise RuntimeError(
            f"{len(outcome.bugs)} results failed because of a bug in labkit; all others are stored"
        ) from outcome.bugs[0]
    if outcome.interrupted:
        status = getattr(outcome.interrupted, "status", 130)
        raise Stopped("stopped; finished runs are kept and shown; repeat the command to resume", status)


def _listed(plans: Sequence[TablePlan], store: Store) -> tuple[list[dict[str, Any]], str]:
    """All tables, with the share of each that can be computed here and on which data; as records and as text."""
    from labkit.papers.cells import cells_of, stored

    records: list[dict[str, Any]] = []
    rows = [["table", "rows", "data", "runs to do", "caption"]]
    for each in plans:
        cells = cells_of([each])
        known = stored(cells, store)
        possible, count = len({row for row, data in each.parts if each.cells(row, data)}), len(each.table.rows)
        on = "published" if each.published else "bundled" if cells else "-"
        left = sum(cell.key not in known for cell in cells)
        records.append({"table": each.table.name, "possible_rows": possible, "rows": count, "on": on,
                        "runs": len(cells), "runs_to_do": left, "what": each.table.caption})  # fmt: skip
        rows.append([each.table.name, f"{possible} of {count}", on, f"{left} of {len(cells)}", each.table.caption])
    listed = text_table(rows, right=[3])
    return records, (
        f"{listed}\n\n`labkit reproduce film/1` recomputes one table, --all recomputes every table, --quick uses "
        "small data."
    )


def _computed(plans: Sequence[TablePlan], store: Store, row: str, *, anew: bool, only_stored: bool) -> Computed:
    """The stored results; missing ones are computed, or all are recomputed."""
    from labkit.papers.cells import Computed, cells_of, compute, stored

    wanted = cells_of(plans, row)
    known, outcome = stored(cells_of(plans), store), Computed()
    if not only_stored:
        with step("computed"), terminal("runs") as progress, interruptible():
            runs = None if anew else store.folder / "runs"  # stored runs to reuse
            outcome = compute(wanted, store, again=anew, runs=runs, progress=progress)
    before = {cell: known[cell.key] for cell in wanted if cell.key in known}
    fresh = len(outcome.fresh)
    if anew:
        remark(f"recomputed {fresh} results: {_compared(before, outcome)}")
    elif before:
        hosts = {each.notes.get("host", "an unnamed machine") for each in before.values()}
        start = f"computed {fresh} results; the other" if fresh else "all"
        remark(f"{start} {len(before)} were stored, from {'; '.join(sorted(hosts))}; --anew recomputes them")
    else:
        remark(f"computed {fresh} results")
    outcome.known = known | outcome.known
    return outcome


def _compared(before: Mapping[Cell, Result], outcome: Computed) -> str:
    """Whether the recomputed results equal the stored ones."""
    both = [(cell, before[cell].figures, outcome.known[cell.key].figures) for cell in outcome.fresh if cell in before]
    gaps = {
        (cell, name): abs(now.get(name, float("nan")) - value)
        for cell, then, now in both
        for name, value in then.items()
        if now.get(name) != value
    }
    if not gaps:
        return f"{len(both)} were stored before, and all their values are equal"
    cell, name = max(gaps, key=lambda place: gaps[place])
    differ, there = len({cell for cell, _ in gaps}), before[cell].notes.get("host", "an unnamed machine")
    return (
        f"{differ} of {len(both)} differ from the stored results, by up to {gaps[cell, name]:.2g} ({name} of {cell}); "
        f"that result is from {there}, and this machine is {outcome.known[cell.key].notes['host']}"
    )


def _show(plans: Sequence[TablePlan], outcome: Computed, files: Sequence[Path], *, quick: bool, json: bool) -> None:
    """Write the report to standard output and to the files asked for."""
    from labkit.atomic import in_place
    from labkit.papers import published
    from labkit.papers.bundled_report import Report, result, results_shown
    from labkit.papers.cells import as_lines
    from labkit.papers.reports import as_markdown
    from labkit.runs import versions

    results = tuple(result(planned, outcome, quick=quick) for planned in plans)
    report = Report(_command(), results, dict(versions()))
    page = as_markdown(report, published.PAPERS)
    record = json_format.dumps(report.to_json(), indent=1, ensure_ascii=False)
    write_output(record if json else page.rstrip())
    for path in files:
        lines = as_lines(results_shown(plans, outcome.known)) if path.suffix == ".jsonl" else ""
        with in_place(path) as file:
            file.write({".md": page, ".json": record + "\n", ".jsonl": lines}[path.suffix].encode("utf-8"))
        if not json:
            write_output(f"\n{path}")


def _command() -> str:
    """The command as the user typed it, without paths of this machine."""
    words = ["labkit"]
    for word in sys.argv[1:]:
        start = next((option for option in ("--data=", "--out=") if word.startswith(option)), "")
        option, value = start.rstrip("=") or words[-1], word.removeprefix(start)
        if option == "--data":
            value = "DATA"
        elif option == "--out" and Path(value).is_absolute():
            value = Path(value).name
        words.append(start + value)
    return shlex.join(words)

"""`labkit reproduce [PAPER[/TABLE]]`: recompute the papers' tables and show the papers' numbers next to ours."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option, Typer

from labkit.atomic import write_text
from labkit.cli.arguments import Command, Force, Shown, check_free
from labkit.cli.output import Stopped, remark, show_result, step, text_table
from labkit.interrupts import interruptible
from labkit.progress import terminal
from labkit.runs import versions

if TYPE_CHECKING:
    from labkit.papers.cells import Cell, Computed, Store, TablePlan
    from labkit.trials.engine import Result

ENDINGS = (".md", ".json", ".jsonl")
APART = (("--quick", "--all"), ("TABLE", "--all"), ("--quick", "--data"), ("--stored", "--anew"))

app = Typer(rich_markup_mode=None)


@app.command(cls=Command)
def reproduce(
    table: Annotated[
        str, Argument(metavar="PAPER[/TABLE]", help="A paper or one of its tables. Default: list them all.")
    ] = "",
    data: Annotated[
        Path | None, Option(help="Folder of published datasets. Default: LABKIT_DATA or the cache.")
    ] = None,
    seeds: Annotated[
        int | None,
        Option(
            min=1,
            help=(
                "Number of seeds for rows that depend on the seed. Default: the number set by the table; 1 with "
                "--quick."
            ),
        ),
    ] = None,
    row: Annotated[str, Option(metavar="TEXT", help="Compute only rows whose name contains TEXT.")] = "",
    stored: Annotated[bool, Option("--stored", help="Show stored results without computing.")] = False,
    anew: Annotated[bool, Option("--anew", help="Recompute stored results and compare.")] = False,
    quick: Annotated[
        bool, Option("--quick", help="Use small bundled data, one epoch, no tuning and one seed.")
    ] = False,
    everything: Annotated[bool, Option("--all", help="Recompute every table of every paper.")] = False,
    out: Annotated[
        list[Path] | None, Option(help="Also write a report (.md or .json) or the results (.jsonl).")
    ] = None,
    force: Force = False,
) -> Shown:
    """Recompute the papers' tables over several seeds and show the papers' numbers next to ours.

    Stored results are shown without computing; --anew recomputes them. Repeat the command to resume. The results of
    --quick are not evidence. --out is repeatable.
    """
    given = {"--quick": quick, "--all": everything, "--data": data, "--stored": stored, "--anew": anew, "--out": out,
             "--row": row, "--seeds": seeds, "TABLE": table}  # fmt: skip
    for one, other in APART:
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

    from labkit.papers import cells  # imports torch
    from labkit.papers.data import DATASETS, Desk
    from labkit.papers.published import tables

    wanted, store = tables(table), cells.Store()
    names = [each.name for one in wanted for each in one.rows]
    if not any(row.casefold() in name.casefold() for name in names):
        near = get_close_matches(row, names, n=1, cutoff=0.0)[0]
        raise ValueError(f"--row {row!r} does not occur in any row's name; did you mean {near!r}?")
    with step("data looked at"), terminal() as reading:
        desk = Desk(data, quick=quick, progress=reading)
        plans = [cells.plan(each, desk, seeds) for each in wanted]
    asked = any(DATASETS[name].parts for each in wanted for name in each.data)
    if data is not None and not quick and asked and not any(each.published for each in plans):
        remark(f"--data {data} contains none of the published datasets of these tables, so bundled corpora are used")
    if listing:
        return _listed(plans, store)
    outcome = _computed(plans, store, row, anew=anew, only_stored=stored)
    result = _written(plans, outcome, files, quick=quick)
    if outcome.bugs or outcome.interrupted:
        show_result(*result)
    if outcome.bugs:
        raise RuntimeError(f"{len(outcome.bugs)} results failed because of a bug in labkit") from outcome.bugs[0]
    if outcome.interrupted:
        status = getattr(outcome.interrupted, "status", 130)
        raise Stopped("stopped. Finished runs are saved and shown; repeat the command to resume", status)
    return result


def _listed(plans: Sequence[TablePlan], store: Store) -> Shown:
    """List all tables, with the number of rows that can be computed here and the data used."""
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
    hint = "`labkit reproduce film/1` recomputes one table; --all recomputes all of them, and --quick small versions."
    return records, f"{text_table(rows, right=[3])}\n\n{hint}"


def _computed(plans: Sequence[TablePlan], store: Store, row: str, *, anew: bool, only_stored: bool) -> Computed:
    """Load the stored results and compute the missing ones, or compute all of them anew."""
    from labkit.papers.cells import Computed, cells_of, compute, stored

    wanted = cells_of(plans, row)
    known, outcome = stored(cells_of(plans), store), Computed()
    if not only_stored:
        with step("computed"), terminal("runs") as progress, interruptible():
            runs = None if anew else store.folder / "runs"  # stored runs to reuse
            outcome = compute(wanted, store, again=anew, runs=runs, progress=progress)
    before = {cell: known[cell.key] for cell in wanted if cell.key in known}
    told = f"computed {len(outcome.fresh)} results"
    if anew:
        told = f"re{told}: {_compared(before, outcome)}"
    elif before:
        hosts = {each.notes.get("host", "an unnamed machine") for each in before.values()}
        told += f"; reused {len(before)} stored results from {'; '.join(sorted(hosts))}; --anew recomputes them"
    remark(told)
    outcome.known = known | outcome.known
    return outcome


def _compared(before: Mapping[Cell, Result], outcome: Computed) -> str:
    """Whether the recomputed results equal the stored ones."""
    gaps = {}
    for cell in outcome.fresh:
        now = outcome.known[cell.key].figures
        for name, value in before[cell].figures.items() if cell in before else ():
            if now.get(name) != value:
                gaps[cell, name] = abs(now.get(name, float("nan")) - value)
    if not gaps:
        return "all values equal the stored ones"
    cell, name = max(gaps, key=lambda place: gaps[place])
    differ, both = len({cell for cell, _ in gaps}), sum(cell in before for cell in outcome.fresh)
    most = f"by up to {gaps[cell, name]:.2g} ({name} of {cell})"
    hosts = (each.notes.get("host", "an unnamed machine") for each in (before[cell], outcome.known[cell.key]))
    return f"{differ} of {both} differ, {most}; computed then and now on: {'; '.join(hosts)}"


def _written(plans: Sequence[TablePlan], outcome: Computed, files: Sequence[Path], *, quick: bool) -> Shown:
    """The report, which is also written to the files of --out."""
    from labkit.papers import bundled_report, cells, published, reports

    results = tuple(bundled_report.result(planned, outcome, quick=quick) for planned in plans)
    report = bundled_report.Report(_command(), results, dict(versions()))
    page = reports.as_markdown(report, published.PAPERS)
    for path in files:
        if path.suffix == ".jsonl":
            write_text(path, cells.as_lines(bundled_report.results_shown(plans, outcome.known)))
        else:
            record = json.dumps(report.to_json(), indent=1, ensure_ascii=False) + "\n"
            write_text(path, page if path.suffix == ".md" else record)
    return report.to_json(), "\n\n".join([page.rstrip(), *map(str, files)])


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

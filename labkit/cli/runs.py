"""`labkit runs`: list run folders. Only `run.json` and `history.csv` are read, so that hundreds of runs list fast."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal

from typer import Argument, Option, Typer

from labkit.atomic import sentence_of
from labkit.cli.arguments import Command, Shown
from labkit.cli.output import remark, text_table
from labkit.figure_names import ordered
from labkit.locks import LOCK, is_locked
from labkit.runs import CHECKPOINT, HISTORY, MODEL, has_checkpoint, history, read_record

HEAD = ["run", "method", "corpus", "seed", "epochs", "on test", "state", "date"]
LARGEST_FIRST = ("date", "figure", "epochs")
UNKNOWN = {"state": "damaged", "date": "", "method": "", "corpus": ""} | dict.fromkeys(
    ("seed", "epochs", "measure", "figure", "reason")
)

app = Typer(rich_markup_mode=None)


@app.command(cls=Command)
def runs(
    words: Annotated[list[str] | None, Argument(help="List only runs whose row contains all of these words.")] = None,
    folder: Annotated[
        list[Path] | None, Option(exists=True, help="Folder of runs; repeatable. Default: runs/.")
    ] = None,
    sort: Annotated[
        Literal["date", "figure", "epochs", "run", "method", "corpus", "seed", "state"],
        Option(help="Sort key; date, figure and epochs sort in descending order."),
    ] = "date",
) -> Shown:
    """List runs: method, corpus, seed, epochs, test score, state and date."""
    places = folder or [Path("runs")]
    where = " and ".join(map(str, places))
    lines = [each for place in places for each in _lines(place)]
    kept = [line for line, text in lines if all(word.lower() in text.lower() for word in words or [])]
    kept.sort(key=lambda line: line["run"])
    kept.sort(key=lambda line: float("-inf") if line[sort] is None else line[sort], reverse=sort in LARGEST_FIRST)
    if words and not kept:
        raise ValueError(f"none of the {len(lines)} runs in {where} contains all of {' '.join(words)!r}; try --folder")
    if not kept:
        remark(f"no runs in {where}; train one first")
    return kept, text_table([HEAD, *map(_cells, kept)], right=[3, 4])


def _cells(line: dict[str, Any]) -> list[str]:
    """A run as a row of a text table."""
    figure = "-" if line["figure"] is None else f"{line['measure']} {line['figure']:.4f}"
    numbers = ["-" if line[name] is None else str(line[name]) for name in ("seed", "epochs")]
    names = [line["run"], line["method"] or "?", line["corpus"] or "?"]
    return [*names, *numbers, figure, line["reason"] or line["state"], line["date"][:16].replace("T", " ")]


def _lines(place: Path) -> Iterator[tuple[dict[str, Any], str]]:
    """The runs in a folder, or the folder itself if it is a run, each with the text to search.

    The state of a run is finished, unfinished, training or damaged; `reason` says why it cannot be used.
    """
    for folder in [place, *(sorted(place.iterdir()) if place.is_dir() else [])]:
        line, text, record = {"run": str(folder)} | UNKNOWN, "", folder / "run.json"
        try:
            signs = (record, *(folder / name for name in (CHECKPOINT, MODEL, HISTORY, LOCK)))
            if folder.name.startswith(".") or not any(path.is_file() for path in signs):
                continue
            written = (record if record.is_file() else folder).stat().st_mtime
            line["date"], busy = datetime.fromtimestamp(written).isoformat(timespec="seconds"), is_locked(folder)
            if (busy or has_checkpoint(folder)) and not record.is_file():
                line |= {"state": "unfinished", "reason": "unfinished: no epoch completed"}
            else:
                known, text = _known(folder)
                line |= known
            if busy:
                line["state"] = line["reason"] = "training"
        except (ValueError, OSError, TypeError) as reason:
            line["reason"] = f"damaged: {sentence_of(reason).removeprefix(f'run {str(folder)!r} ')}"
        yield line, f"{folder} {line['state']} {text}"


def _known(folder: Path) -> tuple[dict[str, Any], str]:
    """The contents of a run's record, and the text to search."""
    record = read_record(folder)
    if missing := [name for name in record["files"] if not (folder / name).is_file()]:
        raise ValueError(f"{', '.join(missing)} missing")
    tests = {name: each for name, each in record["metrics"].items() if name.endswith("/test") and each}
    figures: Any = tests.get(f"{record['corpus']}/test") or next(iter(tests.values()), {})
    names = [name for name in figures if ordered(name)]
    main = "spearman" if "spearman" in names else next(iter(names), None)
    known = {name: record[name] for name in ("method", "corpus", "seed")} | {
        "state": "finished" if record["state"] == "finished" else "unfinished",
        "epochs": len(history(folder)) or None,
        "measure": main,
        "figure": main and figures[main],
    }
    settings = " ".join(f"{name}={value}" for name, value in record["settings"].items())
    return known, f"{known['method']} {known['corpus']} seed{known['seed']} {settings}"

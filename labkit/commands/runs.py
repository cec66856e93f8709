"""`labkit runs [WORD...]`: the runs of a folder, one a line, with what each is worth; damaged ones with the reason.

It reads `run.json` and the lines of `history.csv` only, so that hundreds take a moment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from labkit.commands.options import Json
from labkit.commands.saying import answer, columns, remark

HERE = Path("runs")  # where `labkit train` puts them


@dataclass(frozen=True)
class Listed:
    """A run as a line of the list. `figure` is the one that leads on test; `reason`: why it cannot be used."""

    run: str
    state: str  # finished, unfinished, training or damaged
    date: str  # when it was last written
    method: str = ""
    corpus: str = ""
    seed: int | None = None
    epochs: int | None = None
    measure: str | None = None
    figure: float | None = None
    reason: str | None = None

    def cells(self) -> list[str]:
        """For people."""
        figure = "-" if self.figure is None else f"{self.measure} {self.figure:.4f}"
        numbers = ["-" if each is None else str(each) for each in (self.seed, self.epochs)]
        date = self.date[:16].replace("T", " ")
        return [self.run, self.method or "?", self.corpus or "?", *numbers, figure, self.reason or self.state, date]


HEAD = ["run", "method", "corpus", "seed", "epochs", "on test", "state", "date"]
_ORDERS: dict[str, Callable[[Listed], Any]] = {
    "date": lambda each: each.date,  # the newest first
    "figure": lambda each: each.figure if each.figure is not None else float("-inf"),  # the best first
    "epochs": lambda each: each.epochs or 0,
    "run": lambda each: each.run,
    "method": lambda each: each.method,
    "corpus": lambda each: each.corpus,
    "seed": lambda each: -1 if each.seed is None else each.seed,
    "state": lambda each: each.state,
}
_LARGEST_FIRST = ("date", "figure", "epochs")


def runs(
    words: Annotated[
        list[str] | None, typer.Argument(metavar="WORD", help="Only runs that have each of these words.")
    ] = None,
    folder: Annotated[
        list[Path] | None, typer.Option(help="Where they lie; as often as needed. Without it runs/.")
    ] = None,
    method: Annotated[str | None, typer.Option(help="Only runs of this method.")] = None,
    corpus: Annotated[str | None, typer.Option(help="Only runs that were trained on this corpus.")] = None,
    sort: Annotated[
        str, typer.Option(metavar="|".join(_ORDERS), help="By what; date, figure and epochs: the largest first.")
    ] = "date",
    json: Json = False,
) -> None:
    """List runs: method, corpus, seed, epochs, what each is worth on test, state and date."""
    if sort not in _ORDERS:
        raise ValueError(f"--sort is {sort!r}, expected one of {', '.join(_ORDERS)}")
    places = folder or [HERE]
    for place in places:
        if folder and not place.is_dir():
            raise ValueError(f"--folder is {str(place)!r}, which is no folder; check the path")
    found = [each for place in places for each in _listed(place)]
    kept = [each for each, told in found if _wanted(each, told, words or [], method, corpus)]
    kept.sort(key=lambda each: each.run)
    kept.sort(key=_ORDERS[sort], reverse=sort in _LARGEST_FIRST)
    if not kept:
        said = f"{len(found)} runs in {' and '.join(map(str, places))}, none of which is asked for"
        remark(said if found else f"no run in {' and '.join(map(str, places))}: `labkit train` makes one")
    if kept or json:
        answer(
            [asdict(each) for each in kept], columns([HEAD, *(each.cells() for each in kept)], right=[3, 4]), json=json
        )


def _wanted(each: Listed, told: str, words: list[str], method: str | None, corpus: str | None) -> bool:
    known = told.lower()
    return (
        all(word.lower() in known for word in words)
        and method in (None, each.method)
        and corpus in (None, each.corpus, Path(each.corpus).name)
    )


def _listed(place: Path) -> Iterator[tuple[Listed, str]]:
    """The runs directly in a folder, or the run that it is; each with the text that words are looked for in."""
    from labkit.holding import LOCK
    from labkit.runs import CHECKPOINT, HISTORY, MODEL

    signs = ("run.json", CHECKPOINT, MODEL, HISTORY, LOCK)
    for folder in [place, *(sorted(place.iterdir()) if place.is_dir() else [])]:
        if folder.name.startswith("."):
            continue
        try:
            if any((folder / name).is_file() for name in signs):
                yield _line(folder)
        except OSError as reason:
            yield Listed(str(folder), "damaged", "", reason=f"damaged: {reason.strerror}"), str(folder)


def _line(folder: Path) -> tuple[Listed, str]:
    from labkit.atomic import sentence_of
    from labkit.holding import holder
    from labkit.runs import has_checkpoint, read_record

    date, busy = _date(folder), holder(folder)
    by = f"being trained by {busy}" if busy else None
    try:
        if (busy or has_checkpoint(folder)) and not (folder / "run.json").is_file():
            state, why = ("training", by) if busy else ("unfinished", "unfinished: no epoch is done")
            return Listed(str(folder), state, date, reason=why), f"{folder} {state}"
        record = read_record(folder)
        missing = [name for name in record["files"] if not (folder / name).is_file()]
        if missing:
            raise ValueError(f"{', '.join(missing)} missing")
        measure, figure = _figure(record)
        state = "training" if busy else "finished" if record["state"] == "finished" else "unfinished"
        origin = {name: record[name] for name in ("method", "corpus", "seed")}
        made = Listed(
            str(folder), state, date, **origin, epochs=_epochs(folder), measure=measure, figure=figure, reason=by
        )
    except (ValueError, OSError, TypeError) as reason:
        why = sentence_of(reason).removeprefix(f"run {str(folder)!r} ")
        return Listed(str(folder), "damaged", date, reason=f"damaged: {why}"), str(folder)
    settings = " ".join(f"{name}={value}" for name, value in record["settings"].items())
    return made, f"{folder} {made.method} {made.corpus} seed{made.seed} {state} {settings}"


def _date(folder: Path) -> str:
    """When something in it was last written; what a training puts in its place meanwhile does not count."""
    times = [folder.stat().st_mtime]
    for path in folder.iterdir():
        with suppress(FileNotFoundError):
            times.append(path.stat().st_mtime)
    return datetime.fromtimestamp(max(times[1:] or times)).isoformat(timespec="seconds")


def _figure(record: Mapping[str, Any]) -> tuple[str | None, float | None]:
    """The figure that leads on the test split of the run's own corpus, else of another."""
    from labkit.measures import ordered

    found = {name: each for name, each in record["metrics"].items() if name.endswith("/test") and each}
    figures: Mapping[str, float] = found.get(f"{record['corpus']}/test") or next(iter(found.values()), {})
    names = [name for name in figures if ordered(name)]
    names = [name for name in ("spearman",) if name in names] or names
    return (names[0], figures[names[0]]) if names else (None, None)


def _epochs(folder: Path) -> int | None:
    """How many rows its history has; none for methods that do not learn in epochs."""
    from labkit.runs import HISTORY

    lines = (folder / HISTORY).read_text("utf-8").splitlines() if (folder / HISTORY).is_file() else []
    return len(lines) - 1 if len(lines) > 1 and lines[0].split(",")[0] == "epoch" else None

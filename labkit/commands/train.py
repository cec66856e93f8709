"""`labkit train METHOD --corpus NAME`: learn, keep the run in a folder, and say what it is worth on test."""

from __future__ import annotations

import dataclasses
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from labkit.commands import Stopped
from labkit.commands.folders import AUTO, claimed, run_folder, way_back
from labkit.commands.method_list import settings_table
from labkit.commands.opening import Watched, first_process, opened_corpus
from labkit.commands.saying import figures_line, finite
from labkit.progress import Progress, terminal
from labkit.stopping import heeded

if TYPE_CHECKING:
    from labkit.corpora import Corpus
    from labkit.holding import Hold
    from labkit.methods import Entry, Method

    Place: TypeAlias = Hold | Path | None  # of processes that do not write it may be none


def train(
    method: Annotated[str, typer.Argument(metavar="METHOD", help="One of the methods below.")],
    corpus: Annotated[
        str | None, typer.Option(help="A corpus' name, or a file of your own (CSV, TSV, JSONL, Parquet).")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same machine: same numbers.")] = 0,
    epochs: Annotated[int | None, typer.Option(help="Short for --set epochs=N.")] = None,
    device: Annotated[str | None, typer.Option(help="auto, cpu, cuda or mps; short for --set device=...")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the run; without it runs/METHOD-CORPUS-seedN, here.")
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="A setting of the method; as often as needed."),
    ] = None,
    resume: Annotated[
        str | None,
        typer.Option(
            metavar="[auto]",
            help="Go on with the interrupted training in --out. With auto begin it, go on, or say that it is finished, "
            "whichever it is; without --out in runs/METHOD-CORPUS-seedN.",
        ),
    ] = None,
    show: Annotated[bool, typer.Option("--settings", help="List what --set takes for this method, and stop.")] = False,
) -> None:
    """Train a method on a corpus, keep the run in a folder, and say what it is worth on the test split."""
    entry = _entry(method)
    if show:
        typer.echo(settings_table(entry))
        return
    if corpus is None:
        raise ValueError("--corpus is missing, expected a corpus' name or a file; `labkit data list` names them")
    made = entry(**_settings(entry, changes or [], epochs, device))
    wanted = run_folder(out, method, corpus, seed, resume=resume)
    folder: Path | None = None
    try:
        with heeded():
            opened = opened_corpus(corpus)
            opened.part("train")  # if it has none, that is to be said before anything else
            with claimed(wanted, numbered=out is None and resume != AUTO, resume=resume) as place:
                folder = None if place is None else Path(place)
                figures = _figures(made, opened, seed, place, done=resume == AUTO)
    except KeyboardInterrupt as asked:
        words = ["--corpus", corpus, "--seed", str(seed), *_spelled(changes or [], epochs, device)]
        raise Stopped(way_back(folder, ["train", method, *words]), getattr(asked, "status", 130)) from None
    if first_process():
        typer.echo(f"{figures}{folder}")


def _entry(name: str) -> Entry:
    from difflib import get_close_matches

    from labkit.methods import METHODS

    if name not in METHODS:
        near = get_close_matches(name, METHODS, n=1)
        hint = f"did you mean {near[0]!r}?" if near else "`labkit train --help` says what they are"
        raise ValueError(f"METHOD is {name!r}, expected one of {', '.join(METHODS)}; {hint}")
    return METHODS[name]


def _settings(entry: Entry, changes: list[str], epochs: int | None, device: str | None) -> dict[str, Any]:
    """What --set, --epochs and --device say together; values are texts, which the settings check."""
    known = {found.name for found in dataclasses.fields(entry.method.Settings)}
    values: dict[str, Any] = {}
    for change in changes:
        key, equals, value = (part.strip() for part in change.partition("="))
        if not (key and equals):
            raise ValueError(f"--set is {change!r}, expected KEY=VALUE, as in --set epochs=5")
        if key in values:
            raise ValueError(f"--set gives {key} twice, {values[key]!r} and {value!r}; leave one out")
        values[key] = value
    for key, short in (("epochs", epochs), ("device", device)):
        if short is None or (key == "device" and key not in known and short in ("auto", "cpu")):
            continue
        if key in values:
            raise ValueError(f"--{key} {short} and --set {key}={values[key]} say the same thing twice; leave one out")
        if key not in known:
            what = "does not learn in epochs" if key == "epochs" else "computes on the CPU only"
            raise ValueError(f"--{key} is {short}, but {entry.name} {what} and has no such setting; leave it out")
        values[key] = short
    return values


def _spelled(changes: list[str], epochs: int | None, device: str | None) -> list[str]:
    """The same on a command line again."""
    words = [word for change in changes for word in ("--set", change)]
    words += ["--epochs", str(epochs)] if epochs is not None else []
    return words + (["--device", device] if device is not None else [])


# --- learning --------------------------------------------------------------------------------------------------


def _figures(method: Method, corpus: Corpus, seed: int, place: Place, *, done: bool) -> str:
    """Learn, unless that may be `done` and is; and the figures on test, unless they are in the run."""
    from labkit.runs import read_record

    folder = None if place is None else Path(place)
    finished = done and folder is not None and _finished(method, corpus, seed, folder)
    if first_process():
        what = "is finished in" if finished else "into"
        typer.echo(f"{method.name} on {corpus!r}, seed {seed}, {what} {folder}", err=True)
    if not finished:
        _learn(method, corpus, seed, place)
    if folder is None or not first_process():
        return ""
    if finished and f"{corpus.name}/test" in read_record(folder)["metrics"]:
        typer.echo(f"its figures are in {folder / 'run.json'}", err=True)
        return ""
    return _score(method.load(folder) if finished else method, corpus, folder)


def _finished(method: Method, corpus: Corpus, seed: int, folder: Path) -> bool:
    """Whether this training is finished there; a ValueError if another one is."""
    from labkit.methods.keeper import difference
    from labkit.runs import finished, last_checkpoint, read_record

    if last_checkpoint(folder)[0] is not None or not finished(folder):  # one that is left: it was killed at the end
        return False
    mine = {"method": method.name, "settings": method.settings.values(), "corpus": corpus.name}
    if told := difference(mine | {"fingerprint": corpus.fingerprint, "seed": seed}, read_record(folder)):
        raise ValueError(
            f"folder {str(folder)!r} holds a finished training with {told}; name another folder with --out"
        )
    return True


def _learn(method: Method, corpus: Corpus, seed: int, folder: Place) -> None:
    if not first_process():
        method.fit(corpus, seed=seed, folder=folder)
        return
    with terminal("batch") as draw:
        told = _Told(method, draw)
        method.fit(corpus, seed=seed, progress=told, folder=folder)
        told.rows()


class _Told:
    """Progress that also says each epoch's figures, as soon as the method's history has them."""

    def __init__(self, method: Method, draw: Progress) -> None:
        self._method, self._draw, self._said = method, draw, 0

    def __call__(self, done: int, total: int | None, what: str) -> None:
        self.rows()
        self._draw(done, total, what)

    def rows(self) -> None:
        from tqdm import tqdm

        rows = self._method.history.rows
        for row in rows[self._said :]:
            tqdm.write(figures_line(row), file=sys.stderr)  # above the bar, not through it
        self._said = len(rows)


def _score(method: Method, corpus: Corpus, folder: Path) -> str:
    """The test figures as lines, put into the run as well; a trained run stays one where they cannot be had."""
    from labkit.runs import add_metrics
    from labkit.scores import score

    try:
        found = score(Watched(method), corpus)
    except ValueError as reason:
        warnings.warn(f"the run is complete, but has no test figures: {reason}", stacklevel=2)
        return ""
    add_metrics(folder, {f"{corpus.name}/test": finite(found.figures)})
    return f"{found}\n"

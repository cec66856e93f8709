"""`labkit train METHOD --corpus NAME`: learn, keep the run in a folder, and say what it is worth on test."""

from __future__ import annotations

import dataclasses
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from labkit.commands import Stopped
from labkit.commands.folders import run_folder, way_back
from labkit.commands.method_list import settings_table
from labkit.commands.opening import Watched, first_process, opened_corpus
from labkit.commands.saying import figures_line, finite, no_memory
from labkit.progress import Progress, terminal

if TYPE_CHECKING:
    from labkit.corpora import Corpus
    from labkit.methods import Entry, Method


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
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the interrupted training in --out.")] = False,
    processes: Annotated[
        int | None, typer.Option(min=1, help="Train one model by so many processes of this machine.")
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
    if _to_launch(entry, processes):
        opened_corpus(corpus).part("train")  # what is wrong is said once, not by each
        sys.exit(_launched(processes or 1))
    folder = run_folder(out, method, corpus, seed, resume=resume)
    opened = opened_corpus(corpus)
    opened.part("train")  # if it has none, that is to be said before anything else
    if first_process():
        typer.echo(f"{method} on {opened!r}, seed {seed}, into {folder}", err=True)
    try:
        _learn(made, opened, seed, folder)
        figures = _score(made, opened, folder) if first_process() else ""
    except KeyboardInterrupt:
        words = ["--corpus", corpus, "--seed", str(seed), *_spelled(changes or [], epochs, device, processes)]
        raise Stopped(way_back(folder, ["train", method, *words])) from None
    if first_process():
        typer.echo(figures + str(folder))


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


def _to_launch(entry: Entry, processes: int | None) -> bool:
    """Whether this process is to start others; a ValueError if these could not share the work, or are there already."""
    from labkit.training import Training, together

    if processes is None or processes == together.announced():
        return False
    if together.announced() > 1:
        raise ValueError(
            f"--processes is {processes}, but torchrun has started {together.announced()}; leave it out, or leave out "
            "torchrun"
        )
    if not issubclass(entry.method.Settings, Training):
        raise ValueError(
            f"--processes is {processes}, but {entry.name} does not learn by gradients, which processes could share; "
            "leave it out"
        )
    return True


def _launched(processes: int) -> int:
    from labkit.training import together

    return together.launched(processes, sys.argv[1:])


def _spelled(changes: list[str], epochs: int | None, device: str | None, processes: int | None) -> list[str]:
    """The same on a command line again."""
    words = [word for change in changes for word in ("--set", change)]
    words += ["--epochs", str(epochs)] if epochs is not None else []
    words += ["--device", device] if device is not None else []
    return words + (["--processes", str(processes)] if processes is not None else [])


# --- learning --------------------------------------------------------------------------------------------------


def _learn(method: Method, corpus: Corpus, seed: int, folder: Path) -> None:
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
        with terminal("sentence") as progress:
            found = score(Watched(method), corpus, progress=progress)
    except (ValueError, MemoryError, RuntimeError) as reason:
        said = str(reason) if isinstance(reason, ValueError) else no_memory(reason)
        if said is None:
            raise
        warnings.warn(f"the run is complete, but has no test figures: {said}", stacklevel=2)
        return ""
    add_metrics(folder, {f"{corpus.name}/test": finite(found.figures)})
    return f"{found}\n"

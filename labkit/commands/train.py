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
from labkit.commands.method_list import settings_records, settings_table
from labkit.commands.opening import Watched, opened_corpus
from labkit.commands.options import CorpusName, Json, MethodName
from labkit.commands.saying import answer, detail, figures_line, finite, quiet, remark, step
from labkit.progress import Progress, first_process, terminal

if TYPE_CHECKING:
    from labkit.corpora import Corpus
    from labkit.methods import Entry, Method
    from labkit.scores import Scores


def train(
    method: MethodName,
    corpus: CorpusName = None,
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
    show: Annotated[bool, typer.Option("--settings", help="List what --set takes for this method, and stop.")] = False,
    json: Json = False,
) -> None:
    """Train a method on a corpus, keep the run in a folder, and say what it is worth on the test split."""
    entry = _entry(method)
    if show:
        answer(settings_records(entry), settings_table(entry), json=json)
        return
    if corpus is None:
        raise ValueError("--corpus is missing, expected a corpus' name or a file; `labkit data list` names them")
    given = _settings(entry, changes or [], epochs, device)
    made = entry(**given)
    made.settings.check_used(given)
    folder = run_folder(out, method, corpus, seed, resume=resume)
    opened = opened_corpus(corpus)
    opened.part("train")  # if it has none, that is to be said before anything else
    made.settings.check_used(given, {"corpus": type(opened).__name__, "dev": "yes" if "dev" in opened.sizes else ""})
    remark(f"{method} on {opened!r}, seed {seed}, into {folder}")
    detail(f"settings: {', '.join(f'{name}={value}' for name, value in made.settings.values().items()) or 'none'}")
    try:
        with step("learned"):
            _learn(made, opened, seed, folder)
        with step("scored"):
            found = _score(made, opened, folder) if first_process() else None
    except KeyboardInterrupt:
        words = ["--corpus", corpus, "--seed", str(seed), *_spelled(changes or [], epochs, device)]
        raise Stopped(way_back(folder, ["train", method, *words])) from None
    if first_process():
        record = {
            "run": folder,
            **made.origin,
            "state": "finished",
            "history": made.history.rows,
            "measure": found and found.measure,
            "figures": found and found.figures,
        }
        answer(record, f"{found}\n{folder}" if found else str(folder), json=json)


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
        for row in () if quiet() else rows[self._said :]:
            tqdm.write(figures_line(row), file=sys.stderr)  # above the bar, not through it
        self._said = len(rows)


def _score(method: Method, corpus: Corpus, folder: Path) -> Scores | None:
    """The test figures, put into the run as well; a trained run stays one where they cannot be had."""
    from labkit.runs import add_metrics
    from labkit.scores import score

    try:
        found = score(Watched(method), corpus)
    except ValueError as reason:
        warnings.warn(f"the run is complete, but has no test figures: {reason}", stacklevel=2)
        return None
    add_metrics(folder, {f"{corpus.name}/test": finite(found.figures)})
    return found

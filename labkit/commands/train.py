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
from labkit.commands.method_list import settings_records, settings_table
from labkit.commands.opening import Watched, opened_corpus
from labkit.commands.options import CorpusName, Json, MethodName
from labkit.commands.saying import answer, detail, figures_line, finite, no_memory, quiet, remark, step
from labkit.progress import Progress, first_process, terminal
from labkit.stopping import heeded

if TYPE_CHECKING:
    from labkit.corpora import Corpus
    from labkit.holding import Hold
    from labkit.methods import Entry, Method
    from labkit.scores import Scores

    Place: TypeAlias = Hold | Path | None  # of processes that do not write it may be none


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
    resume: Annotated[
        str | None,
        typer.Option(
            metavar="[auto]",
            help="Go on with the interrupted training in --out. With auto begin it, go on, or say that it is finished, "
            "whichever it is; without --out in runs/METHOD-CORPUS-seedN.",
        ),
    ] = None,
    processes: Annotated[
        int | None, typer.Option(min=1, help="Train one model by so many processes of this machine.")
    ] = None,
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
    if _to_launch(entry, processes):
        opened_corpus(corpus).part("train")  # what is wrong is said once, not by each
        sys.exit(_launched(processes or 1))
    wanted = run_folder(out, method, corpus, seed, resume=resume)
    folder: Path | None = None
    try:
        with heeded():
            opened = opened_corpus(corpus)
            opened.part("train")  # if it has none, that is to be said before anything else
            about = {"corpus": type(opened).__name__, "dev": "yes" if "dev" in opened.sizes else ""}
            made.settings.check_used(given, about)
            with claimed(wanted, numbered=out is None and resume != AUTO, resume=resume) as place:
                folder = None if place is None else Path(place)
                record, said = _trained(made, opened, seed, place, done=resume == AUTO)
    except KeyboardInterrupt as asked:
        words = ["--corpus", corpus, "--seed", str(seed), *_spelled(changes or [], epochs, device, processes)]
        raise Stopped(way_back(folder, ["train", method, *words]), getattr(asked, "status", 130)) from None
    if first_process():
        answer(record, said, json=json)


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


def _trained(method: Method, corpus: Corpus, seed: int, place: Place, *, done: bool) -> tuple[dict[str, Any], str]:
    """Learn, unless that may be `done` and is; what came of it, as a record and as lines."""
    from labkit.runs import read_record

    folder = None if place is None else Path(place)
    finished = done and folder is not None and _finished(method, corpus, seed, folder)
    remark(f"{method.name} on {corpus!r}, seed {seed}, {'is finished in' if finished else 'into'} {folder}")
    detail(f"settings: {', '.join(f'{name}={value}' for name, value in method.settings.values().items()) or 'none'}")
    if not finished:
        with step("learned"):
            _learn(method, corpus, seed, place)
    if folder is None or not first_process():
        return {}, ""
    if finished:
        method = method.load(folder)
    record = read_record(folder)
    kept, found = record["metrics"].get(f"{corpus.name}/test") if finished else None, None
    if kept is not None:
        remark(f"its figures are in {folder / 'run.json'}")
    else:
        with step("scored"):
            found = _score(method, corpus, folder)
    origin = {name: record[name] for name in ("method", "settings", "corpus", "fingerprint", "seed", "state")}
    known = {"figures": kept} if found is None else {"measure": found.measure, "figures": found.figures}
    return {"run": folder, **origin, "history": method.history.rows, **known}, f"{found or ''}\n{folder}".lstrip()


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
        for row in () if quiet() else rows[self._said :]:
            tqdm.write(figures_line(row), file=sys.stderr)  # above the bar, not through it
        self._said = len(rows)


def _score(method: Method, corpus: Corpus, folder: Path) -> Scores | None:
    """The test figures, put into the run as well; a trained run stays one where they cannot be had."""
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
        return None
    add_metrics(folder, {f"{corpus.name}/test": finite(found.figures)})
    return found

"""`labkit train METHOD --corpus NAME`: train a method, save the run in a folder, and score it on test."""

from __future__ import annotations

import dataclasses
import logging
import os
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Literal

from typer import Option, Typer

from labkit.cli.arguments import Changes, CorpusName, MethodName, Shown, WithMethods
from labkit.cli.opening import opened_corpus, scored
from labkit.cli.output import detail, json_value, memory_sentence, remark, resumable, step, text_table
from labkit.corpora import Corpus
from labkit.experiment import Experiment
from labkit.figure_names import OF_PROBE
from labkit.locks import is_locked
from labkit.method import Method
from labkit.methods import METHODS
from labkit.progress import first_process, note, terminal
from labkit.runs import CHECKPOINT, add_metrics, difference, finished, has_checkpoint, read_record
from labkit.runs import settings_of as settings_of_run
from labkit.scale import check_processes
from labkit.settings import EPOCHS, nearest_name

Tracker = Literal["tensorboard", "trackio", "wandb"]

app = Typer(rich_markup_mode=None)


@app.command(cls=WithMethods)
def train(
    method: MethodName = "",
    corpus: CorpusName = None,
    seed: Annotated[int | None, Option(min=0, help="Random seed. Default: 0.")] = None,
    epochs: Annotated[int | None, Option(help="Number of epochs; short for --set epochs=N.")] = None,
    device: Annotated[str | None, Option(help="auto, cpu, cuda or mps; short for --set device=...")] = None,
    out: Annotated[Path | None, Option(help="Folder of the run. Default: runs/METHOD-CORPUS-seedN.")] = None,
    changes: Changes = None,
    resume: Annotated[
        bool, Option("--resume", help="Resume the run in the folder, or start it if there is none.")
    ] = False,
    config: Annotated[
        Path | None,
        Option(
            metavar="RUN.json",
            help="Repeat this run. METHOD is then optional; other options override the run's settings.",
        ),
    ] = None,
    log: Annotated[Tracker | None, Option(help="Send the metrics of each epoch to this tracker.")] = None,
    processes: Annotated[int | None, Option(min=1, help="Train one model with N processes on this machine.")] = None,
    show: Annotated[bool, Option("--settings", help="List the settings of the method and exit.")] = False,
) -> Shown | None:
    """Train a method on a corpus, save the run in a folder, and score it on the test split."""
    before = {} if config is None else _configuration(config, method)
    method = method or before.get("method", "")
    if not method:
        raise ValueError("METHOD is missing; `labkit train --help` lists the methods")
    entry = entry_of(method)
    if show:
        records = settings_of(entry)
        rows = [[shown(value) for value in record.values()] for record in records]
        return records, text_table([["setting", "default", "values", "meaning"], *rows])
    corpus = corpus or before.get("corpus")
    if corpus is None:
        raise ValueError("--corpus is missing; give a file or a name from `labkit data list`")
    seed = before.get("seed", 0) if seed is None else seed
    if log is not None and find_spec(log) is None:
        raise ValueError(f"--log {log} needs {log}, which is not installed; run pip install {log}")
    settings = _settings(entry, changes, epochs=epochs, device=device)
    untrained = entry(**before.get("settings", {}) | settings)
    untrained.settings.check_used(settings)
    if _to_launch(entry, processes):
        opened_corpus(corpus).part("train")  # so that an error is printed once, not by each process
        sys.exit(launched(processes or 1, sys.argv[1:]))
    wanted = out or Experiment(method, corpus, seed=seed).folder
    folder: Path | None = None
    with resumable(lambda: _way_back(folder, out)):
        opened = opened_corpus(corpus)
        opened.part("train")  # an error before anything is created
        untrained.settings.check_used(settings, type(opened).__name__, "dev" in opened.sizes)
        with _claimed(wanted, numbered=out is None and not resume, resume=resume) as folder:
            return _trained(untrained, opened, seed, folder, resume=resume, log=log)


# --- the folder of a run, and the command that resumes it ---------------------------------------------------------


@contextmanager
def _claimed(folder: Path, *, numbered: bool, resume: bool) -> Iterator[Path | None]:
    """The folder to train into; if `numbered`, it is created as the first of name, name-2, ... that does not exist.

    With several processes, only the first one writes; the others read the checkpoint to resume from.
    """
    if not first_process():
        yield folder if resume else None
        return
    for number in count(1):
        place = folder if number == 1 else folder.with_name(f"{folder.name}-{number}")
        try:
            place.mkdir(parents=True, exist_ok=not numbered)
            break
        except OSError as reason:
            if not (numbered and isinstance(reason, FileExistsError)):
                raise ValueError(f"--out {str(place)!r} cannot be created; choose another folder") from None
    try:
        if is_locked(place):
            raise ValueError(f"--out {str(place)!r} is in use by another process; wait or choose another folder")
        if not resume and has_checkpoint(place):
            raise ValueError(f"--out {str(place)!r} holds an interrupted run; add --resume or choose another folder")
        yield place
    finally:
        with suppress(OSError):  # the folder is not empty
            place.rmdir()


def _way_back(folder: Path | None, out: Path | None) -> str:
    """The message after Ctrl-C: the path of the last checkpoint, and the command to resume."""
    if folder is not None and has_checkpoint(folder):
        kept = f"stopped; the last checkpoint is {folder / CHECKPOINT}"
        if "train" not in sys.argv[:2]:  # `labkit data make runs`
            return f"{kept}; to train this run again from the start, repeat the command with --force"
        words = [word for word in sys.argv[1:] if word != "--resume"]
        program = ["labkit"]
        if "WORLD_SIZE" in os.environ and "--processes" not in words:
            each = os.environ.get("LOCAL_WORLD_SIZE", os.environ["WORLD_SIZE"])
            program = ["torchrun", "--nproc-per-node", each, "-m", "labkit"]
        command = shlex.join([*program, *words, *([] if out else ["--out", str(folder)]), "--resume"])
        return f"{kept}; run `{command}` to resume"
    if folder is not None and finished(folder):
        return f"stopped after training; `labkit evaluate {shlex.quote(str(folder))}` scores the run"
    return "stopped before the first checkpoint; nothing was kept"


# --- the methods and their settings, as text ---------------------------------------------------------------------


def entry_of(name: str) -> type[Method]:
    """The class of the method."""
    if name not in METHODS:
        hint = nearest_name(name, METHODS, "`labkit train --help` describes them")
        raise ValueError(f"METHOD {name!r} is not one of {', '.join(METHODS)}; {hint}")
    return METHODS[name]


def settings_of(entry: type[Method]) -> list[dict[str, Any]]:
    """Every setting of a method: default, values, and meaning, with the condition under which it applies."""
    conditions, records = entry.Settings().conditions(), []
    for each in dataclasses.fields(entry.Settings):
        limits, when = each.metadata, conditions.get(each.name, (True, EPOCHS))[1]
        kind = {bool: "yes | no", int: "whole number", float: "number"}.get(type(each.default), "text")
        words = {"above": "above", "minimum": "from", "maximum": "to"}
        bounds = [f"{word} {limits[name]:g}" for name, word in words.items() if limits[name] is not None]
        takes = " | ".join(limits["choices"]) or " ".join([kind, *bounds])
        what = limits["what"] if when == EPOCHS else f"{limits['what']} (only {when})"  # every run needs epochs
        records.append({"setting": each.name, "default": each.default, "takes": takes, "what": what})
    return records


def shown(value: Any) -> str:
    """The value of a setting in the form that --set expects."""
    return ("no", "yes")[value] if isinstance(value, bool) else str(value)


def _configuration(file: Path, method: str) -> dict[str, Any]:
    """Method, settings, corpus and seed of a run, from its `run.json` or its folder."""
    record = read_record(file.parent if file.name == "run.json" else file)
    if method not in ("", record["method"]):
        raise ValueError(
            f"METHOD is {method!r}, but the run in --config was trained with {record['method']!r}; omit one of them"
        )
    settings = settings_of_run(entry_of(record["method"]).Settings, record["settings"]).values()
    return {"settings": settings, **{name: record[name] for name in ("method", "corpus", "seed")}}


def _settings(entry: type[Method], changes: Sequence[str] | None, **short: Any) -> dict[str, Any]:
    """The settings from --set, --epochs and --device, with values as text; the settings class checks them."""
    known = {field.name for field in dataclasses.fields(entry.Settings)}
    given = [*(changes or ())]
    for key, value in short.items():
        if key not in known and value not in (None, "auto", "cpu"):
            raise ValueError(f"--{key} {value} does not apply to {entry.name}, which has no setting {key}; omit it")
        if key in known and value is not None:
            given.append(f"{key}={value}")
    return entry.Settings.renamed(keys_and_values("--set", given, "epochs=5"))


def keys_and_values(option: str, given: Sequence[str] | None, example: str) -> dict[str, str]:
    """The values of a repeatable KEY=VALUE option; each key may occur only once."""
    values: dict[str, str] = {}
    for each in given or ():
        key, equals, value = (part.strip() for part in each.partition("="))
        if not (key and equals):
            raise ValueError(f"{option} {each!r} is not of the form KEY=VALUE, as in {option} {example}")
        if key in values:
            raise ValueError(f"{option} {key}={values[key]} and {key}={value} set {key} twice; omit one")
        values[key] = value
    return values


# --- several processes -------------------------------------------------------------------------------------------


def _to_launch(entry: type[Method], processes: int | None) -> bool:
    """Whether this process starts others; ValueError if they cannot share the work or torchrun has started them."""
    announced = int(os.environ.get("WORLD_SIZE", "1"))  # by torchrun
    if processes is None or processes == announced:
        return False
    check_processes("--processes", processes)
    if announced > 1:
        raise ValueError(
            f"--processes is {processes}, but torchrun started {announced} processes; use only one of the two"
        )
    from labkit.training import Training  # imports torch

    if not issubclass(entry.Settings, Training):
        raise ValueError(f"--processes does not apply, because {entry.name} does not learn with gradients; omit it")
    return True


def launched(count: int, words: Sequence[str]) -> int:
    """Run `labkit` with these arguments in `count` processes on this machine, like `torchrun`; return the exit status.

    Ctrl-C and SIGTERM reach all of them, and they exit like a single process (`torchrun` itself prints a traceback).
    """
    from torch.distributed.elastic.multiprocessing.api import SignalException
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
    from torch.distributed.run import parse_args, run

    logging.disable(logging.ERROR)  # the launcher's errors; the processes print their own
    try:
        with TemporaryDirectory(prefix="labkit-processes-") as logs:  # otherwise the launcher leaves a folder behind
            run(parse_args(["--standalone", f"--nproc-per-node={count}", f"--log-dir={logs}", "-m", "labkit", *words]))
    except SignalException as asked:
        return 128 + asked.sigval
    except ChildFailedError as failed:
        killed = next((each for each in failed.failures.values() if each.exitcode < 0), None)
        if killed is None:  # the first process to fail has printed the reason
            return int(failed.get_first_failure()[1].exitcode)
        raise ValueError(
            f"a process was killed by {killed.signal_name()}, perhaps for lack of memory; try fewer processes and "
            "--resume"
        ) from None
    return 0


# --- learning ----------------------------------------------------------------------------------------------------


def _trained(
    method: Method, corpus: Corpus, seed: int, folder: Path | None, *, resume: bool, log: str | None
) -> Shown | None:
    """Train, unless the resumed run is finished, and score; return None in all processes but the first."""
    done = resume and folder is not None and _finished(method, corpus, seed, folder)
    remark(
        f"{method.name} on {corpus!r}, seed {seed}, {'is already finished in' if done else 'will be saved in'} {folder}"
    )
    detail(f"settings: {', '.join(f'{name}={value}' for name, value in method.settings.values().items()) or 'none'}")
    if not done:
        with step("learned"):
            _learn(method, corpus, seed, folder, log)
    if folder is None or not first_process():
        return None
    if done:
        method = method.load(folder)
    record = read_record(folder)
    outcome = {name: record[name] for name in ("method", "settings", "corpus", "fingerprint", "seed", "state")}
    outcome = {"run": folder, **outcome, "history": method.history.rows}
    if done and (figures := record["metrics"].get(f"{corpus.name}/test")) is not None:
        return outcome | {"figures": figures}, str(folder)
    try:
        scores = scored(method, corpus)
    except (ValueError, MemoryError, RuntimeError) as reason:
        why = str(reason) if isinstance(reason, ValueError) else memory_sentence(reason)
        if why is None:
            raise
        note(f"the run is saved, but could not be scored: {why}", stacklevel=2)
        return outcome | {"figures": None}, str(folder)
    add_metrics(folder, {f"{corpus.name}/test": json_value(scores.figures)})
    return outcome | {"measure": scores.measure, "figures": scores.figures}, f"{scores}\n{folder}"


def _finished(method: Method, corpus: Corpus, seed: int, folder: Path) -> bool:
    """Return whether the folder contains this run and it is finished; refuse a different finished run."""
    if has_checkpoint(folder) or not finished(folder):  # a checkpoint remains if the run was killed at the very end
        return False
    mine = {"method": method.name, "settings": method.settings.values(), "corpus": corpus.name}
    if other := difference(mine | {"fingerprint": corpus.fingerprint, "seed": seed}, read_record(folder)):
        raise ValueError(f"folder {str(folder)!r} holds a finished run with {other}; choose another folder with --out")
    return True


def _learn(method: Method, corpus: Corpus, seed: int, folder: Path | None, log: str | None) -> None:
    """Fit, print each epoch's metrics (except the probe's) on one line, and send them all to the tracker."""
    if not first_process():
        method.fit(corpus, seed=seed, folder=folder)
        return
    config = {"method": method.name, "corpus": corpus.name, "seed": seed, **method.settings.values()}
    tracker = nullcontext(None) if log is None or folder is None else _tracked(log, folder, config)
    with tracker as send, terminal("batch") as draw:
        written = 0

        def write_new_rows() -> None:
            nonlocal written
            for row in method.history.rows[written:]:
                remark(", ".join(f"{name} {value:.4g}" for name, value in row.items() if not name.startswith(OF_PROBE)))
                if send:
                    send(row)
            written = len(method.history)

        def progress(done: int, total: int | None, what: str) -> None:
            write_new_rows()
            draw(done, total, what)

        method.fit(corpus, seed=seed, progress=progress, folder=folder)
        write_new_rows()


@contextmanager
def _tracked(name: str, folder: Path, config: Mapping[str, Any]) -> Iterator[Callable[[Mapping[str, float]], None]]:
    """Yield a function that logs a row of the history to the run's folder or to the project "labkit"."""
    if name == "tensorboard":
        from torch.utils.tensorboard import SummaryWriter

        # opened at the first row, because a run needs an empty folder to start
        opened = cache(lambda: SummaryWriter(str(folder / "tensorboard")))

        def send(row: Mapping[str, float]) -> None:
            for figure, value in row.items():
                opened().add_scalar(figure, value, int(row["epoch"]))
            opened().flush()

        yield send
        return
    service = import_module(name)
    service.init(project="labkit", name=folder.name, config=dict(config))
    try:
        yield lambda row: service.log(dict(row), step=int(row["epoch"]))
    finally:
        service.finish()

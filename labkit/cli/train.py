"""`labkit train METHOD --corpus NAME`: learn, keep the run in a folder, and say what it is worth on test."""

from __future__ import annotations

import dataclasses
import logging
import os
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from labkit.cli.arguments import CorpusName, Json, OptionalMethodName, WithProgress, nearest_name, opened_corpus
from labkit.cli.output import (
    Stopped,
    detail,
    json_value,
    memory_sentence,
    quiet,
    remark,
    show_result,
    step,
    text_table,
)
from labkit.cli.tracking import TRACKERS, Log, check_tracker, tracked
from labkit.experiment import Experiment
from labkit.figure_names import OF_PROBE
from labkit.interrupts import interruptible
from labkit.progress import Progress, first_process, note, terminal
from labkit.settings import EPOCHS, Conditions

if TYPE_CHECKING:
    from labkit.corpora import Corpus
    from labkit.evaluation.scores import Scores
    from labkit.method import Method


# --- the folder of a training, and the command that takes it up again --------------------------------------------

AUTO = "auto"  # --resume: begin, go on, or be done already, whichever it is


def run_folder(out: Path | None, method: str, corpus: str, seed: int, *, resume: str | None) -> Path:
    """The folder to train into, or to number; refused where what is asked for and what lies there do not agree."""
    if resume not in (None, "", AUTO):
        raise ValueError(f"--resume is {resume!r}, expected {AUTO} or nothing after it; leave that word out")
    if out is None:
        if resume == "":
            raise ValueError(
                "--resume needs --out, the folder of the interrupted training; name it, or take --resume auto"
            )
        out = Experiment(method, corpus, seed=seed).folder
    elif first_process():  # the others may come after the first has begun to write
        _check(out, resume)
    if not _writable(out):
        raise ValueError(f"--out is {str(out)!r}, where no folder can be made or written into; choose another")
    return out


@contextmanager
def claimed(folder: Path, *, numbered: bool, resume: str | None) -> Iterator[Path | None]:
    """The folder to train into; if `numbered` it is made, the first of name, name-2, ... that is not there yet.

    Of several processes the first one writes; the others only read in it, where there is something to resume from.
    """
    if not first_process():
        yield folder if resume is not None else None
        return
    place = folder
    for number in count(2) if numbered else ():
        with suppress(FileExistsError):
            place.mkdir(parents=True)
            break
        place = folder.with_name(f"{folder.name}-{number}")
    try:
        yield place
    finally:
        if numbered:
            with suppress(OSError):  # there is something in it
                place.rmdir()


def way_back(folder: Path | None, words: Sequence[str]) -> str:
    """The sentence after Ctrl-C: where the last checkpoint is, and the command that goes on."""
    from labkit.runs import CHECKPOINT, has_checkpoint

    if folder is not None and has_checkpoint(folder):
        program = ["labkit"]
        if "WORLD_SIZE" in os.environ and "--processes" not in words:
            each = os.environ.get("LOCAL_WORLD_SIZE", os.environ["WORLD_SIZE"])
            program = ["torchrun", "--nproc-per-node", each, "-m", "labkit"]
        command = shlex.join([*program, *words, "--out", str(folder), "--resume"])
        return f"stopped; the last checkpoint is {folder / CHECKPOINT}; `{command}` goes on"
    if folder is not None and (folder / "run.json").is_file():
        return f"stopped; the training is finished: `labkit evaluate {shlex.quote(str(folder))}` gives its figures"
    return "stopped before there was a checkpoint; nothing is kept"


def _check(out: Path, resume: str | None) -> None:
    from labkit.locks import is_locked
    from labkit.runs import finished, has_checkpoint, read_checkpoint

    if is_locked(out):
        raise ValueError(f"--out {str(out)!r} is being trained by another process; wait for it, or name another folder")
    if resume == "" and read_checkpoint(out) is None:  # or the reason why it cannot be resumed
        if finished(out):
            raise ValueError(
                f"--out {str(out)!r} holds a finished run: there is nothing to resume; `labkit evaluate "
                f"{shlex.quote(str(out))}` gives its figures"
            )
        raise ValueError(
            f"--out {str(out)!r} holds no interrupted training: there is nothing to resume; leave out --resume to begin"
        )
    if resume is None and has_checkpoint(out):
        raise ValueError(f"--out {str(out)!r} holds an interrupted training; add --resume to go on, or name another")


def _writable(folder: Path) -> bool:
    """Whether the nearest folder that is there may be written into."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return folder.is_dir() and os.access(folder, os.W_OK)


# --- the methods and their settings, as text ---------------------------------------------------------------------


class WithMethods(TyperCommand):
    """A command whose help ends with the methods; their table is opened only when help is asked for."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        from labkit.methods import SUMMARIES

        with formatter.section("Methods"):
            formatter.write_dl(list(SUMMARIES.items()))
        with formatter.indentation():
            formatter.write_text("`labkit train METHOD --settings` lists what --set takes for one of them.")


class TrainCommand(WithMethods):
    """The command `labkit train`, of which --resume may stand alone or before `auto`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Give --resume a value before all is parsed by the base, which knows no option that may have one."""
        options = args[: args.index("--")] if "--" in args else args
        words = []
        for place, word in enumerate(options):
            if word == "--resume":
                words.append("--resume=auto" if options[place + 1 : place + 2] == ["auto"] else "--resume=")
            elif word != "auto" or options[max(place - 1, 0)] != "--resume":
                words.append(word)
        return super().parse_args(ctx, words + args[len(options) :])


def settings_of(entry: type[Method]) -> tuple[list[dict[str, Any]], str]:
    """Every setting of a method with its default, what it takes and what it does, as records and as a text table."""
    kind = entry.Settings
    conditions = kind().conditions()
    records = [
        {"setting": each.name, "default": each.default, "takes": _takes(each), "what": _does(each, conditions)}
        for each in dataclasses.fields(kind)
    ]
    if not records:
        return records, f"{entry.name} has no settings."
    rows = [[shown(value) for value in record.values()] for record in records]
    return records, text_table([["setting", "default", "takes", "what it does"], *rows])


def _does(field: dataclasses.Field[Any], conditions: Conditions) -> str:
    """The meaning of a setting, and when it changes anything; that nothing is learned in no epoch goes unsaid."""
    what, when = field.metadata["what"], conditions.get(field.name, (True, EPOCHS))[1]
    return what if when == EPOCHS else f"{what} (only {when})"


def shown(value: Any) -> str:
    """The value of a setting as --set takes it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def _takes(field: dataclasses.Field[Any]) -> str:
    """The values of a setting, in words."""
    limits = field.metadata
    if limits.get("choices"):
        return " | ".join(limits["choices"])
    kind = {bool: "yes | no", int: "whole number", float: "number"}.get(type(field.default), "text")
    bounds = [
        f"{word} {limits[name]:g}"
        for name, word in (("above", "above"), ("minimum", "from"), ("maximum", "to"))
        if limits.get(name) is not None
    ]
    return " ".join([kind, *bounds])


# --- train -------------------------------------------------------------------------------------------------------


def train(
    method: OptionalMethodName = None,
    corpus: CorpusName = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Same seed, same machine: same numbers; 0 if left out.")
    ] = None,
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
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="RUN.json", help="The run.json of a run: train the same again, except for what else is given."
        ),
    ] = None,
    log: Annotated[
        str | None, typer.Option(metavar="|".join(TRACKERS), help="Send the figures of each epoch to this tracker.")
    ] = None,
    processes: Annotated[
        int | None, typer.Option(min=1, help="Train one model by so many processes of this machine.")
    ] = None,
    show: Annotated[bool, typer.Option("--settings", help="List what --set takes for this method, and stop.")] = False,
    json: Json = False,
) -> None:
    """Train a method on a corpus, keep the run in a folder, and say what it is worth on the test split."""
    before = {} if config is None else _configuration(config, method)
    method = method or before.get("method")
    if method is None:
        raise ValueError("METHOD is missing; `labkit train --help` lists them")
    entry = entry_of(method)
    if show:
        show_result(*settings_of(entry), json=json)
        return
    corpus = corpus or before.get("corpus")
    if corpus is None:
        raise ValueError("--corpus is missing, expected a corpus' name or a file; `labkit data list` names them")
    seed = before.get("seed", 0) if seed is None else seed
    check_tracker(log)
    changes = changes or []
    settings = _settings(entry, changes, epochs, device)
    untrained = entry(**before.get("settings", {}) | settings)
    untrained.settings.check_used(settings)
    if _to_launch(entry, processes):
        opened_corpus(corpus).part("train")  # what is wrong is said once, not by each
        sys.exit(launched(processes or 1, sys.argv[1:]))
    wanted = run_folder(out, method, corpus, seed, resume=resume)
    folder: Path | None = None
    try:
        with interruptible():
            opened = opened_corpus(corpus)
            opened.part("train")  # if it has none, that is to be said before anything else
            untrained.settings.check_used(settings, type(opened).__name__, "dev" in opened.sizes)
            with claimed(wanted, numbered=out is None and resume != AUTO, resume=resume) as folder:
                record, text = _trained(untrained, opened, seed, folder, done=resume == AUTO, log=log)
    except KeyboardInterrupt as asked:
        words = ["train", method, "--corpus", corpus, "--seed", str(seed)]
        words += [word for change in changes for word in ("--set", change)]
        given = {"--config": config, "--log": log, "--epochs": epochs, "--device": device, "--processes": processes}
        for option, value in given.items():
            words += [] if value is None else [option, str(value)]
        raise Stopped(way_back(folder, words), getattr(asked, "status", 130)) from None
    if first_process():
        show_result(record, text, json=json)


def _configuration(file: Path, method: str | None) -> dict[str, Any]:
    """Method, settings, corpus and seed of a run, from its `run.json` or its folder."""
    from labkit.runs import read_record
    from labkit.runs import settings_of as settings_of_run

    record = read_record(file.parent if file.name == "run.json" else file)
    if method not in (None, record["method"]):
        raise ValueError(f"METHOD is {method!r}, but --config is a run of {record['method']!r}; leave one of them out")
    settings = settings_of_run(entry_of(record["method"]).Settings, record["settings"]).values()
    return {"settings": settings, **{name: record[name] for name in ("method", "corpus", "seed")}}


def entry_of(name: str) -> type[Method]:
    """The class of the method; a ValueError where there is none."""
    from labkit.methods import METHODS

    if name not in METHODS:
        hint = nearest_name(name, METHODS, "`labkit train --help` says what they are")
        raise ValueError(f"METHOD is {name!r}, expected one of {', '.join(METHODS)}; {hint}")
    return METHODS[name]


def _settings(entry: type[Method], changes: list[str], epochs: int | None, device: str | None) -> dict[str, Any]:
    """The settings that --set, --epochs and --device give together; values are texts, which the settings check."""
    known = {field.name for field in dataclasses.fields(entry.Settings)}
    values: dict[str, Any] = entry.Settings.renamed(keys_and_values("--set", changes, "epochs=5"))
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


def keys_and_values(option: str, given: Sequence[str], example: str) -> dict[str, str]:
    """What an option of KEY=VALUE gives that may come as often as needed; refused where it gives a key twice."""
    values: dict[str, str] = {}
    for each in given:
        key, equals, value = (part.strip() for part in each.partition("="))
        if not (key and equals):
            raise ValueError(f"{option} is {each!r}, expected KEY=VALUE, as in {option} {example}")
        if key in values:
            raise ValueError(f"{option} gives {key} twice, {values[key]!r} and {value!r}; leave one out")
        values[key] = value
    return values


def _to_launch(entry: type[Method], processes: int | None) -> bool:
    """Whether this process is to start others; refused if these could not share the work, or are there already."""
    from labkit.scale import check_processes
    from labkit.training import Training

    announced = int(os.environ.get("WORLD_SIZE", "1"))  # by torchrun
    if processes is None or processes == announced:
        return False
    check_processes("--processes", processes)
    if announced > 1:
        raise ValueError(
            f"--processes is {processes}, but torchrun has started {announced}; leave it out, or leave out torchrun"
        )
    if not issubclass(entry.Settings, Training):
        raise ValueError(
            f"--processes is {processes}, but {entry.name} does not learn by gradients, which processes could share; "
            "leave it out"
        )
    return True


def launched(count: int, words: Sequence[str]) -> int:
    """Run `labkit` with these words in `count` processes on this machine, as `torchrun` does; return the exit status.

    Ctrl-C and SIGTERM reach all of them, and they leave as one process does (`torchrun` itself ends with a traceback).
    """
    from torch.distributed.elastic.multiprocessing.api import SignalException
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
    from torch.distributed.run import parse_args, run

    logging.disable(logging.ERROR)  # of the launcher: the processes speak for themselves
    try:
        with TemporaryDirectory(prefix="labkit-processes-") as logs:  # without one, the launcher leaves its own behind
            run(parse_args(["--standalone", f"--nproc-per-node={count}", f"--log-dir={logs}", "-m", "labkit", *words]))
    except SignalException as asked:
        return 128 + asked.sigval
    except ChildFailedError as failed:
        killed = [(number, failure) for number, failure in failed.failures.items() if failure.exitcode < 0]
        if not killed:  # the first to fail has said why
            return int(failed.get_first_failure()[1].exitcode)
        number, failure = killed[0]
        raise ValueError(
            f"process {number + 1} of {count} was ended by {failure.signal_name()}, expected all to run to the end; "
            "see whether there is memory for so many, and continue with --resume"
        ) from None
    return 0


# --- learning ----------------------------------------------------------------------------------------------------


def _trained(
    method: Method, corpus: Corpus, seed: int, folder: Path | None, *, done: bool, log: str | None = None
) -> tuple[dict[str, Any], str]:
    """Learn, unless that may be `done` and is; returns what came of it, as a record and as lines."""
    from labkit.runs import read_record

    finished = done and folder is not None and _finished(method, corpus, seed, folder)
    remark(f"{method.name} on {corpus!r}, seed {seed}, {'is finished in' if finished else 'into'} {folder}")
    detail(f"settings: {', '.join(f'{name}={value}' for name, value in method.settings.values().items()) or 'none'}")
    if not finished:
        with step("learned"):
            _learn(method, corpus, seed, folder, log)
    if folder is None or not first_process():
        return {}, ""
    if finished:
        method = method.load(folder)
    record = read_record(folder)
    figures = record["metrics"].get(f"{corpus.name}/test") if finished else None
    outcome = {name: record[name] for name in ("method", "settings", "corpus", "fingerprint", "seed", "state")}
    outcome = {"run": folder, **outcome, "history": method.history.rows}
    if figures is not None:
        remark(f"its figures are in {folder / 'run.json'}")
        return outcome | {"figures": figures}, str(folder)
    with step("scored"):
        scores = _score(method, corpus, folder)
    if scores is None:
        return outcome | {"figures": None}, str(folder)
    return outcome | {"measure": scores.measure, "figures": scores.figures}, f"{scores}\n{folder}"


def _finished(method: Method, corpus: Corpus, seed: int, folder: Path) -> bool:
    """Whether this training is finished in the folder; refused if another one is."""
    from labkit.runs import difference, finished, has_checkpoint, read_record

    if has_checkpoint(folder) or not finished(folder):  # one that is left: it was killed at the end
        return False
    mine = {"method": method.name, "settings": method.settings.values(), "corpus": corpus.name}
    if other := difference(mine | {"fingerprint": corpus.fingerprint, "seed": seed}, read_record(folder)):
        raise ValueError(
            f"folder {str(folder)!r} holds a finished training with {other}; name another folder with --out"
        )
    return True


def _learn(method: Method, corpus: Corpus, seed: int, folder: Path | None, log: str | None) -> None:
    if not first_process():
        method.fit(corpus, seed=seed, folder=folder)
        return
    config = {"method": method.name, "corpus": corpus.name, "seed": seed, **method.settings.values()}
    with tracked(log, folder, config) as send, terminal("batch") as draw:
        progress = _WithFigures(method, draw, send)
        method.fit(corpus, seed=seed, progress=progress, folder=folder)
        progress.write_new_rows()


class _WithFigures:
    """Progress that also writes each epoch's figures, and sends them to a tracker, as soon as the history has them."""

    def __init__(self, method: Method, draw: Progress, send: Log = lambda row: None) -> None:
        self._method, self._draw, self._send, self._written = method, draw, send, 0

    def __call__(self, done: int, total: int | None, what: str) -> None:
        self.write_new_rows()
        self._draw(done, total, what)

    def write_new_rows(self) -> None:
        from tqdm import tqdm

        rows = self._method.history.rows
        for row in () if quiet() else rows[self._written :]:
            tqdm.write(figures_line(row), file=sys.stderr)  # above the bar, not through it
        for row in rows[self._written :]:
            self._send(row)
        self._written = len(rows)


def figures_line(figures: Mapping[str, float]) -> str:
    """All figures in one line, but those of the probe, which the history and the app show.

    >>> figures_line({"epoch": 3, "loss": 0.123456, "dev_auc": 0.9})
    'epoch 3, loss 0.1235, dev_auc 0.9'
    """
    return ", ".join(f"{name} {value:.4g}" for name, value in figures.items() if not name.startswith(OF_PROBE))


def _score(method: Method, corpus: Corpus, folder: Path) -> Scores | None:
    """The test figures, which are put into the run as well; None where they cannot be had, and the run stays a run."""
    from labkit.evaluation.scores import score
    from labkit.runs import add_metrics

    try:
        with terminal("sentence") as progress:
            scores = score(WithProgress(method), corpus, progress=progress)
    except (ValueError, MemoryError, RuntimeError) as reason:
        why = str(reason) if isinstance(reason, ValueError) else memory_sentence(reason)
        if why is None:
            raise
        note(f"the run is complete, but has no test figures: {why}", stacklevel=2)
        return None
    add_metrics(folder, {f"{corpus.name}/test": json_value(scores.figures)})
    return scores

"""Options and arguments, each defined once, and functions that open the runs and corpora they name.

`command` turns a function into a command and adds -q and -v. The other options are parameter types, with their shell
completion.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from difflib import get_close_matches
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_type_hints

import typer

from labkit.cli.output import set_verbosity, step
from labkit.progress import note, terminal

if TYPE_CHECKING:
    from labkit.corpora import Corpus
    from labkit.method import Method

F = TypeVar("F", bound=Callable[..., Any])

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only results and errors.")]
Verbose = Annotated[
    bool,
    typer.Option("--verbose", "-v", help="Also print versions, settings, time and memory per step, and tracebacks."),
]


def command(app: typer.Typer, name: str | None = None, **how: Any) -> Callable[[F], F]:
    """Make a function a command; the function itself does not change."""

    def register(function: F) -> F:
        app.command(name, **how)(with_verbosity(function))
        return function

    return register


def with_verbosity(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with the options --quiet and --verbose."""
    hints = get_type_hints(function, include_extras=True)

    @wraps(function)
    def called(*, quiet: bool, verbose: bool, **options: Any) -> Any:
        if quiet or verbose:
            set_verbosity(quiet=quiet, verbose=verbose)
        return function(**options)

    own = [each.replace(annotation=hints[name]) for name, each in signature(function).parameters.items()]
    more = [("quiet", Quiet), ("verbose", Verbose)]
    own += [Parameter(name, Parameter.KEYWORD_ONLY, default=False, annotation=kind) for name, kind in more]
    called.__signature__ = signature(function).replace(parameters=own)  # type: ignore[attr-defined]
    called.__annotations__ = hints | dict(more)
    return called


# --- shell completion ----------------------------------------------------------------------------------------------


def _methods(incomplete: str) -> list[str]:
    from labkit.methods import METHODS

    return [name for name in METHODS if name.startswith(incomplete)]


def complete_corpora(incomplete: str) -> list[str]:
    """The names of corpora; without one, the shell completes files."""
    from labkit.corpora import CORPORA

    return [name for name in CORPORA if name.startswith(incomplete)]


# --- options and arguments ---------------------------------------------------------------------------------------

Json = Annotated[
    bool,
    typer.Option("--json", help="Print one JSON document on standard output; everything else goes to standard error."),
]
Force = Annotated[bool, typer.Option("--force", "-f", help="Overwrite existing files.")]
MethodName = Annotated[str, typer.Argument(metavar="METHOD", help="One of the methods below.", autocompletion=_methods)]
OptionalMethodName = Annotated[
    str | None,
    typer.Argument(metavar="METHOD", help="One of the methods below; optional with --config.", autocompletion=_methods),
]
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")]
RunFolders = Annotated[list[Path], typer.Argument(metavar="RUN...", help="The folders of the runs.")]
ExecutorName = Annotated[
    str | None,
    typer.Option("--executor", help="`local:N` processes (default: one per core) or `ray[:HOST:PORT]`."),
]
CorpusName = Annotated[
    str | None,
    typer.Option(
        help="A corpus name, your own file (CSV, TSV, TXT, JSONL, Parquet) or a folder of shards. Default, with a run: "
        "the run's corpus.",
        autocompletion=complete_corpora,
    ),
]
AnyCorpus = Annotated[
    str,
    typer.Argument(
        help="A corpus name, your own file (CSV, TSV, TXT, JSONL, Parquet) or a folder of shards.",
        autocompletion=complete_corpora,
    ),
]


def nearest_name(name: str, names: Iterable[str], otherwise: str) -> str:
    """The closest of these names, as a question, or what to do `otherwise`."""
    near = get_close_matches(name, list(names), n=1)
    return f"did you mean {near[0]!r}?" if near else otherwise


def check_free(path: Path, option: str, *, force: bool) -> None:
    """Refuse a path that exists, unless it may be overwritten; call it before any work."""
    if not force and os.path.lexists(path):
        raise ValueError(f"{option} {str(path)!r} exists; add --force to overwrite it, or choose another name")


def clear_shards(folder: Path, *, force: bool) -> None:
    """Remove the shards of an earlier call if asked to; otherwise their making resumes."""
    from labkit.scale import clear, is_folder

    if force and is_folder(folder):
        clear(folder)


def workers_of(executor: str | None) -> dict[str, Any]:
    """The arguments of `labkit.scale.each` for local, local:N, ray or ray:HOST:PORT."""
    from labkit.scale import check_processes

    kind, _, rest = (executor or "local").partition(":")
    if kind == "local" and (not rest or (rest.isdecimal() and int(rest) > 0)):
        count = int(rest) if rest else os.cpu_count() or 1
        check_processes("executor", count)
        return {"workers": count}
    if kind == "ray":
        return {"ray": rest}
    raise ValueError(f"executor {executor!r} is not local, local:N, ray or ray:HOST:PORT; local uses every core")


# --- runs and corpora, opened ------------------------------------------------------------------------------------


def opened_corpus(name: str) -> Corpus:
    """The corpus of this name or in this file; the latter is named by its path, so that it can be found again."""
    from labkit.corpora import CORPORA, load

    with step(f"corpus {name} opened"):
        if name in CORPORA or not Path(name).exists():
            return load(name)
        if Path(name).is_dir():
            return replace(load(name), name=str(Path(name)))
        return replace(corpus_of_file(Path(name)), name=str(Path(name)))


def corpus_of_file(path: Path, encoding: str = "utf-8-sig") -> Corpus:
    """The corpus in a file; a corpus that needs too much memory raises an error instead of killing the program."""
    from labkit.corpora import read_corpus
    from labkit.untrusted import within_memory

    with terminal("row") as progress, within_memory(path.name):
        return read_corpus(path, encoding=encoding, progress=progress)


def corpus_for(run: Path, record: dict[str, Any], named: str | None = None) -> Corpus:
    """The given corpus or, if none is given, the one the run was trained on."""
    from labkit.corpora import CORPORA
    from labkit.scale import is_folder

    if named is not None:
        return opened_corpus(named)
    name = record["corpus"]
    if name not in CORPORA and not (Path(name).is_file() or is_folder(name)):
        raise ValueError(
            f"run {str(run)!r} was trained on {name!r}, which is neither a known corpus nor a file found from this "
            "folder; give one with --corpus"
        )
    return opened_corpus(name)


def record_of(run: Path) -> dict[str, Any]:
    """The run's `run.json`, with a note if its training is not finished."""
    from labkit.locks import is_locked
    from labkit.runs import has_checkpoint, read_record

    busy = is_locked(run)
    if not (run / "run.json").is_file() and (busy or has_checkpoint(run)):
        raise ValueError(
            f"run {str(run)!r} is still training and cannot be used yet; wait for it"
            if busy
            else f"run {str(run)!r} was interrupted in its first epoch and cannot be used yet; resume it with "
            "`labkit train ... --resume`"
        )
    record = read_record(run)
    if record["state"] != "finished":
        what = f"{run} is being trained" if busy else f"the training of {run} is not finished"
        note(f"{what}: this is what it {'knows so far' if busy else 'knew last'}", stacklevel=2)
    return record


def opened_method(run: Path) -> Method:
    """The method of a run, ready to encode."""
    with step(f"run {run} opened"):
        from labkit.methods import load_run

        return load_run(run)


def usable_method(run: Path) -> Method:
    """The method of a run, ready to encode, with a note if its training is not finished."""
    record_of(run)
    return opened_method(run)


class WithProgress:
    """A method whose `encode` shows progress on the terminal."""

    def __init__(self, method: Method) -> None:
        self._method = method
        self.similarity = method.similarity
        self.similarity_pairwise = method.similarity_pairwise

    def encode(self, sentences: list[str]) -> Any:
        return self._method.encode(sentences, show_progress_bar=True)

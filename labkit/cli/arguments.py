"""Options and arguments, each defined once, and functions that open the runs and corpora they name.

Each option is an annotated parameter type that includes its shell completion. Every `Command` also has -q and -v.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, CallbackParam, Option, Typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from labkit.cli.output import set_verbosity, step
from labkit.progress import note, terminal

if TYPE_CHECKING:
    from labkit.corpora import Corpus
    from labkit.method import Method

_VERBOSE = "Also print versions, settings, time and memory per step, and tracebacks."


def _heard(option: CallbackParam, given: bool) -> None:
    if given:
        set_verbosity(str(option.name))


_verbosity = Typer(add_completion=False)


@_verbosity.command()
def _options(
    quiet: Annotated[
        bool, Option("--quiet", "-q", help="Print only results and errors.", callback=_heard, expose_value=False)
    ] = False,
    verbose: Annotated[bool, Option("--verbose", "-v", help=_VERBOSE, callback=_heard, expose_value=False)] = False,
) -> None: ...


class Command(TyperCommand):
    """A command with the options --quiet and --verbose."""

    def __init__(self, *given: Any, params: Any = None, **how: Any) -> None:
        super().__init__(*given, params=[*(params or ()), *get_command(_verbosity).params], **how)


class Program(TyperGroup):
    """A group of commands with the options --quiet and --verbose: `labkit -q train`."""

    def __init__(self, *given: Any, params: Any = None, **how: Any) -> None:
        super().__init__(*given, params=[*(params or ()), *get_command(_verbosity).params], **how)


# --- options and arguments ---------------------------------------------------------------------------------------


def _methods(incomplete: str) -> list[str]:
    from labkit.methods import METHODS

    return [name for name in METHODS if name.startswith(incomplete)]


def complete_corpora(incomplete: str) -> list[str]:
    """The names of corpora; if none matches, the shell completes file names."""
    from labkit.corpora import CORPORA

    return [name for name in CORPORA if name.startswith(incomplete)]


_CORPUS = "A corpus name, your own file (CSV, TSV, TXT, JSONL, Parquet) or a folder of shards."
_JSON = "Print one JSON document on standard output; everything else goes to standard error."
_METHOD = "One of the methods below"

Json = Annotated[bool, Option("--json", help=_JSON)]
Force = Annotated[bool, Option("--force", "-f", help="Overwrite existing files.")]
MethodName = Annotated[str, Argument(metavar="METHOD", help=f"{_METHOD}.", autocompletion=_methods)]
OptionalMethodName = Annotated[
    str | None, Argument(metavar="METHOD", help=f"{_METHOD}; optional with --config.", autocompletion=_methods)
]
RunFolder = Annotated[Path, Argument(metavar="RUN", help="The folder of a run.")]
CorpusName = Annotated[
    str | None, Option(help=f"{_CORPUS} Default, with a run: the run's corpus.", autocompletion=complete_corpora)
]
AnyCorpus = Annotated[str, Argument(help=_CORPUS, autocompletion=complete_corpora)]
Table = Annotated[Path, Option("--out", "--output", help="Output file: .csv, .tsv or .jsonl, optionally with .gz.")]
Shards = Annotated[Path, Option("--out", "--output", metavar="FOLDER", help="A folder of Parquet shards.")]
Executor = Annotated[str | None, Option(help="`local:N` processes (default: one per core) or `ray[:HOST:PORT]`.")]


def check_free(path: Path, option: str, *, force: bool) -> None:
    """Refuse an existing path, unless it may be overwritten. Call this function before doing any work."""
    if not force and os.path.lexists(path):
        raise ValueError(f"{option} {str(path)!r} exists; add --force to overwrite it, or choose another name")


# --- folders of shards -------------------------------------------------------------------------------------------


def workers_of(executor: str | None) -> dict[str, Any]:
    """The arguments of `labkit.scale.each` for local, local:N, ray or ray:HOST:PORT."""
    from labkit.scale import check_processes

    kind, _, rest = (executor or "local").partition(":")
    if kind == "local" and (not rest or rest.isdecimal()):
        workers = int(rest or os.cpu_count() or 1)
        check_processes("executor", workers)
        return {"workers": workers}
    if kind == "ray":
        return {"ray": rest}
    raise ValueError(f"executor {executor!r} is not local, local:N, ray or ray:HOST:PORT; local uses every core")


def written_shards(write: Callable[..., Any], *given: Any, out: Path, force: bool, **how: Any) -> tuple[Any, int]:
    """Write a folder of shards with `write(*given, out, **how)`; return its result and the number of shards.

    With `force`, the shards of an earlier call are removed; otherwise that call is resumed.
    """
    from labkit.corpora.shards import shards_in
    from labkit.scale import clear, is_folder

    if force and is_folder(out):
        clear(out)
    with step("written"), terminal("shard") as progress:
        made = write(*given, out, **how, progress=progress)
    return made, len(shards_in(out))


# --- runs and corpora, opened ------------------------------------------------------------------------------------


def opened_corpus(name: str) -> Corpus:
    """The corpus with this name or in this file; a file's corpus is named by its path, so it can be found again."""
    from labkit.corpora import CORPORA, load

    with step(f"corpus {name} opened"):
        if name in CORPORA or not Path(name).exists():
            return load(name)
        corpus = load(name) if Path(name).is_dir() else corpus_of_file(Path(name))
        return replace(corpus, name=str(Path(name)))


def corpus_of_file(path: Path, encoding: str = "utf-8-sig") -> Corpus:
    """The corpus in a file; a corpus that needs too much memory raises an error instead of killing the program."""
    from labkit.corpora import read_corpus
    from labkit.untrusted import within_memory

    with terminal("row") as progress, within_memory(path.name):
        return read_corpus(path, encoding=encoding, progress=progress)


def corpus_for(run: Path, record: dict[str, Any], named: str | None = None) -> Corpus:
    """The given corpus or, if none is given, the corpus that the run was trained on."""
    from labkit.corpora import CORPORA
    from labkit.scale import is_folder

    name = record["corpus"]
    if named is None and name not in CORPORA and not (Path(name).is_file() or is_folder(name)):
        raise ValueError(
            f"run {str(run)!r} was trained on {name!r}, which is neither a known corpus nor a file that exists here; "
            "give a corpus with --corpus"
        )
    return opened_corpus(named or name)


def record_of(run: Path) -> dict[str, Any]:
    """The run's `run.json`, with a note if the run is not finished."""
    from labkit.locks import is_locked
    from labkit.runs import has_checkpoint, read_record

    busy = is_locked(run)
    if not (run / "run.json").is_file() and (busy or has_checkpoint(run)):
        raise ValueError(
            f"run {str(run)!r} is still training and cannot be used yet; wait until it has completed an epoch"
            if busy
            else f"run {str(run)!r} was interrupted in its first epoch and cannot be used yet; resume it with "
            "`labkit train ... --resume`"
        )
    record = read_record(run)
    if record["state"] != "finished":
        what = f"{run} is being trained" if busy else f"{run} is not finished"
        note(f"{what}: these are its results {'so far' if busy else 'up to the last checkpoint'}", stacklevel=2)
    return record


def opened_method(run: Path) -> Method:
    """The method of a run, ready to encode."""
    with step(f"run {run} opened"):
        from labkit.methods import load_run

        return load_run(run)


def usable_method(run: Path) -> Method:
    """The method of a run, ready to encode, with a note if the run is not finished."""
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

"""What commands have in common, each option defined once: `command` adds -q and -v to every one of them, and the others
are types of parameters. With each stands what a shell completes it by.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_type_hints

import typer

from labkit.lab.cli import saying

F = TypeVar("F", bound=Callable[..., Any])

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say results and mistakes only.")]
Verbose = Annotated[
    bool,
    typer.Option("--verbose", "-v", help="Also say versions, settings, seconds and memory of each step, tracebacks."),
]


def command(app: typer.Typer, name: str | None = None, **how: Any) -> Callable[[F], F]:
    """Make a function a command of this program; the function itself stays as it is."""

    def register(function: F) -> F:
        app.command(name, **how)(heard(function, first=saying.about))
        return function

    return register


def heard(function: Callable[..., Any], *, first: Callable[[], None] = lambda: None) -> Callable[..., Any]:
    """The function with --quiet and --verbose, and what is to be said before it."""
    hints = get_type_hints(function, include_extras=True)

    @wraps(function)
    def called(*, quiet: bool, verbose: bool, **given: Any) -> Any:
        if quiet or verbose:
            saying.speak(less=quiet, more=verbose)
        first()
        return function(**given)

    own = [each.replace(annotation=hints[name]) for name, each in signature(function).parameters.items()]
    more = [("quiet", Quiet), ("verbose", Verbose)]
    own += [Parameter(name, Parameter.KEYWORD_ONLY, default=False, annotation=kind) for name, kind in more]
    called.__signature__ = signature(function).replace(parameters=own)  # type: ignore[attr-defined]
    called.__annotations__ = hints | dict(more)
    return called


# --- what a shell may complete ---------------------------------------------------------------------------------


def _methods(incomplete: str) -> list[str]:
    from labkit.methods import METHODS

    return [name for name in METHODS if name.startswith(incomplete)]


def _corpora(incomplete: str) -> list[str]:
    from labkit.corpora import CORPORA
    from labkit.corpora.files import FORMATS

    known = [name for name in CORPORA if name.startswith(incomplete)]
    return known + [path for path in _paths(incomplete) if path.endswith("/") or {*Path(path).suffixes} & {*FORMATS}]


def _runs(incomplete: str) -> list[str]:
    found = [path for path in _paths(incomplete) if path.endswith("/")]
    if not incomplete:
        found += _paths("runs/")
    return [path.removesuffix("/") if (Path(path) / "run.json").is_file() else path for path in dict.fromkeys(found)]


def _paths(incomplete: str) -> Iterator[str]:
    """Files and folders that begin like this; folders with a stroke at the end."""
    folder, start = os.path.split(incomplete)
    if not Path(folder or ".").expanduser().is_dir():
        return
    for path in sorted(Path(folder or ".").expanduser().iterdir()):
        if path.name.startswith(start) and (start.startswith(".") or not path.name.startswith(".")):
            yield os.path.join(folder, path.name) + "/" * path.is_dir()  # noqa: PTH118


# --- options and arguments -------------------------------------------------------------------------------------

Json = Annotated[
    bool,
    typer.Option("--json", help="One JSON document on standard output, for programs; all else is on standard error."),
]
Force = Annotated[bool, typer.Option("--force", "-f", help="Write over what is there already.")]
MethodName = Annotated[str, typer.Argument(metavar="METHOD", help="One of the methods below.", autocompletion=_methods)]
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.", autocompletion=_runs)]
RunFolders = Annotated[
    list[Path], typer.Argument(metavar="RUN...", help="The folders of the runs.", autocompletion=_runs)
]
CorpusName = Annotated[
    str | None,
    typer.Option(
        help="A corpus' name, or a file of your own (CSV, TSV, JSONL, Parquet); where it can be left out, that of "
        "the run.",
        autocompletion=_corpora,
    ),
]
AnyCorpus = Annotated[
    str,
    typer.Argument(help="A corpus' name, or a file of your own (CSV, TSV, JSONL, Parquet).", autocompletion=_corpora),
]


def check_free(path: Path, option: str, *, force: bool) -> None:
    """A ValueError where something lies already, unless it may be written over: said before any work is done."""
    if not force and os.path.lexists(path):
        raise ValueError(
            f"{option} is {str(path)!r}, which is there already; add --force to write over it, or choose another name"
        )

"""Options and arguments that several commands have, each defined once, with its shell completion.

Every `Command` also has --json, -q and -v. `opening` opens the runs and corpora that the arguments name.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from typer import Argument, CallbackParam, Option, Typer
from typer.core import TyperCommand
from typer.main import get_command

from labkit.cli.output import choose, show_result
from labkit.methods import METHODS, SUMMARIES

# What a command returns: a record to print with --json, and a text to print otherwise.
Shown: TypeAlias = tuple[Any, str]


def _heard(option: CallbackParam, given: bool) -> None:
    if given:
        choose(str(option.name))


def _flag(help: str, *names: str) -> Any:
    return Option(*names, help=help, callback=_heard, expose_value=False)


_common = Typer(add_completion=False)


@_common.command()
def _options(
    quiet: Annotated[bool, _flag("Print only results and errors.", "--quiet", "-q")] = False,
    verbose: Annotated[
        bool, _flag("Also print versions, settings, time, memory and tracebacks.", "--verbose", "-v")
    ] = False,
    json: Annotated[bool, _flag("Print the result as one JSON document.", "--json")] = False,
) -> None: ...


class WithVerbosity:
    """A command or a group with the options --quiet and --verbose: `labkit -q train`, `labkit train -q`."""

    common = slice(2)

    def __init__(self, *given: Any, params: Any = None, **how: Any) -> None:
        params = [*(params or ()), *get_command(_common).params[self.common]]
        super().__init__(*given, params=params, **how)  # type: ignore[call-arg]


class Plain(WithVerbosity, TyperCommand):
    """A command without a result."""


class Command(Plain):
    """A command that returns a `Shown`, which is printed."""

    common = slice(None)

    def invoke(self, ctx: Any) -> None:
        if result := super().invoke(ctx):
            show_result(*result)


class WithMethods(Command):
    """A command whose help ends with the table of methods."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Methods"):
            formatter.write_dl(list(SUMMARIES.items()))
        with formatter.indentation():
            formatter.write_text("`labkit train METHOD --settings` lists the settings of one of them.")


def _methods(incomplete: str) -> list[str]:
    return [name for name in METHODS if name.startswith(incomplete)]


def complete_corpora(incomplete: str) -> list[str]:
    """The names of corpora; if none matches, the shell completes file names."""
    from labkit.corpora import CORPORA

    return [name for name in CORPORA if name.startswith(incomplete)]


CORPUS = "A corpus name, your own file (CSV, TSV, TXT, JSONL, Parquet) or a folder of shards."
MODEL = "Model that encodes the sentences: a run folder, or a method to fit with default settings."

Force = Annotated[bool, Option("--force", "-f", help="Overwrite existing files.")]
Seed = Annotated[int, Option(min=0, help="Random seed.")]
MethodName = Annotated[str, Argument(metavar="METHOD", help="One of the methods below.", autocompletion=_methods)]
RunFolder = Annotated[Path, Argument(metavar="RUN", help="The folder of a run.")]
CorpusName = Annotated[
    str | None, Option(help=f"{CORPUS} If a run is given, the default is its corpus.", autocompletion=complete_corpora)
]
Columns = Annotated[
    str, Option(metavar="OURS=YOURS,...", help="Names of columns in your file, such as text=review,label=sentiment.")
]
UTF8 = "utf-8-sig"
Encoding = Annotated[str, Option(help="Text encoding of your files, such as latin-1.")]
AnyCorpus = Annotated[str, Argument(help=CORPUS, autocompletion=complete_corpora)]
Table = Annotated[Path, Option("--out", "--output", help="Output file: .csv, .tsv or .jsonl, optionally with .gz.")]
Shards = Annotated[Path, Option("--out", "--output", metavar="FOLDER", help="A folder of Parquet shards.")]
Executor = Annotated[
    str | None, Option(help="Use N processes (`local:N`; default: one per core) or `ray[:HOST:PORT]`.")
]
Changes = Annotated[
    list[str] | None, Option("--set", metavar="KEY=VALUE", help="Change a setting of the method; repeatable.")
]


def check_free(path: Path, option: str, *, force: bool) -> None:
    """Refuse an existing path, unless it may be overwritten. Call this function before doing any work."""
    if not force and os.path.lexists(path):
        raise ValueError(f"{option} {str(path)!r} exists; add --force to overwrite it, or choose another name")

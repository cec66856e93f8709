"""The program `labkit`. A user error prints one line on standard error and exits with status 2; Ctrl-C exits with 130.

The modules in this package define the commands. A command reads its arguments (`arguments`), calls the package, and
prints the result (`output`). Its module is imported when the command is called or asked for its help.
"""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from collections import UserDict
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

from labkit import __version__
from labkit.atomic import sentence_of
from labkit.cli import output
from labkit.cli.arguments import WithVerbosity
from labkit.progress import first_process

COMMANDS = {  # name: (module, summary)
    "train": ("train", "Train a method on a corpus and score it on the test split."),
    "tune": ("tune", "Search for the settings of a method that score best on dev."),
    "bench": ("tune", "Find out which method is best for your data."),
    "evaluate": ("trained", "Score a run with the metrics that fit the corpus."),
    "encode": ("encode", "Encode sentences and write their vectors."),
    "compare": ("trained", "Compare the test scores of runs."),
    "runs": ("runs", "List runs with their scores."),
    "export": ("trained", "Export a run as a model that works without labkit."),
    "explain": ("trained", "Show which words make two sentences similar."),
    "reproduce": ("reproduce", "Recompute the papers' tables."),
    "paraphrase": ("trained", "Decode a sentence's vector into a paraphrase."),
    "neighbours": ("encode", "Find the nearest neighbours of vectors."),
    "app": ("launch", "Open the app in the browser."),
    "lab": ("launch", "Copy the notebooks and open JupyterLab."),
    "playground": ("launch", "Open the playground, where a model trains with a pair loss in the browser."),
    "data": ("data", "List, download, check, generate, mine, cluster and deduplicate corpora."),
    "class": ("teaching", "For teachers: the progress of a class, and graded assignments."),
}


class _Commands(UserDict[str, Any]):
    """Name -> command or group; until first use, `data` has its module and its summary."""

    def __getitem__(self, name: str) -> Any:
        if isinstance(self.data[name], tuple):
            group = get_group(import_module(f"labkit.cli.{self.data[name][0]}").app)
            self.data[name] = group.commands.get(name, group)  # a command of the module, or all of them
        return self.data[name]


class _Program(WithVerbosity, TyperGroup):
    """`labkit` itself. Showing its help or completing a word imports no command."""

    def __init__(self, *given: Any, **how: Any) -> None:
        super().__init__(*given, **how)
        self.commands: Any = _Commands(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return TyperCommand(cmd_name, short_help=COMMANDS[cmd_name][1]) if cmd_name in COMMANDS else None

    def list_commands(self, ctx: Any) -> list[str]:
        return [*COMMANDS]

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, _, rest = super().resolve_command(ctx, args)
        return name, self.commands.get(name), rest


app = typer.Typer(
    name="labkit",
    cls=_Program,
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    help="A lab for learning how sentence embeddings are learned.",
)


@app.callback(invoke_without_command=True)
def version(show: Annotated[bool, typer.Option("--version", is_eager=True, help="Print the version.")] = False) -> None:
    if show:
        typer.echo(__version__)
        raise typer.Exit


def main() -> None:
    """Run the command line and exit with its status."""
    warnings.showwarning = _note  # type: ignore[assignment]
    output.forget()
    try:
        _run()
    except SystemExit as end:
        # A Ctrl-C while Python executes a string, as dataclasses do, sets a flag that makes the interpreter end with
        # SIGINT instead of this status. Executing another string clears it.
        exec("")
        if int(os.environ.get("WORLD_SIZE", "1")) > 1:
            _leave(end)
        raise


def _run() -> None:
    try:
        status = app(standalone_mode=False, prog_name="labkit") or 0
        if status == 130:  # the framework turns Ctrl-C into this status and says nothing
            raise KeyboardInterrupt
        sys.exit(status)
    except (typer.Abort, KeyboardInterrupt):
        _end("stopped", 130)
    except output.Stopped as stop:
        if not first_process():
            sys.exit(stop.status)
        _end(str(stop), stop.status)
    except (ValueError, OSError) as mistake:
        if output.chosen("verbose"):
            traceback.print_exception(mistake)
        _end(sentence_of(mistake))
    except Exception as mistake:
        if not output.chosen("verbose") and (sentence := output.memory_sentence(mistake)):
            _end(sentence)
        if not hasattr(mistake, "format_message"):  # not a usage error but a bug in labkit: shown in full
            raise
        sentence = mistake.format_message().replace("Value error, ", "")
        cause: Any = mistake.__cause__
        got = repr(cause.errors()[0]["input"]) if hasattr(cause, "errors") else ""  # typer's message may omit it
        _end(sentence if got in sentence else f"{sentence}; got {got}")


def _end(sentence: str, status: int = 2) -> None:
    sys.stderr.write(f"labkit: {sentence}\n")  # one call, because several processes may write at once
    sys.exit(status)


def _leave(end: SystemExit) -> None:
    """End one of several processes without finalising Python, because a running thread would abort the shutdown."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(end.code if isinstance(end.code, int) else 1)


def _note(message: Warning | str, category: type[Warning], *_: Any) -> None:
    if category is UserWarning:
        output.remark(f"labkit: note: {message}")

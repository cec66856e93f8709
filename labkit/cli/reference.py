"""Generate the reference pages of the book from the code, in Markdown."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import click
from typer.main import get_command

from labkit.cli.train import settings_of
from labkit.method import Method
from labkit.methods import METHODS, SUMMARIES

MODULES: dict[str, tuple[str, ...]] = {  # module -> its public names; empty: all of them
    "labkit": (),
    "labkit.corpora": (),
    "labkit.pairs": (),
    "labkit.evaluation": (),
    "labkit.projection": (),
    "labkit.adapters.sklearn": ("Embedder",),
    "labkit.adapters.losses": ("sentence_transformers_loss", "metric_learning_loss"),
    "labkit.adapters.evaluators": ("AsModel",),
    "labkit.adapters.mteb": ("AsEncoder",),
    "labkit.adapters.explain": ("explain",),
    "labkit.explanation": ("Explanation",),
    "labkit.evaluation.scores": ("Scores",),
    "labkit.evaluation.threshold": ("Threshold",),
    "labkit.trials.report": ("Report",),
    "labkit.adapters.recorder": ("Recorder",),
    "labkit.adapters.export": ("export",),
}
WIDTH = 100  # width of a command's help


def public_names(module: str) -> list[str]:
    """The public functions and classes of a module, in order."""
    loaded = import_module(module)
    names = [name for name in MODULES[module] or getattr(loaded, "__all__", vars(loaded)) if name[0] != "_"]
    return [name for name in names if callable(value := getattr(loaded, name)) and "labkit" in value.__module__]


def api() -> str:
    """Every public name, with a section per module, and the interface shared by all methods."""
    parts = []
    for module in MODULES:
        loaded = import_module(module)
        parts += [f"## {module}", _text(loaded.__doc__)]
        for name in public_names(module):
            value = getattr(loaded, name)
            if inspect.isclass(value) and issubclass(value, Method):
                summary = f"In short: {SUMMARIES[value.name]}. See [its settings](settings.md#{value.name})."
                parts += [f"### {name}", _text(value.__doc__), summary]
            else:
                parts += [f"### {name}", *_entry(name, value)]
        if module == "labkit":
            parts += ["### Methods common to all of them", *_members(Method)]
    return "\n\n".join(parts)


def _entry(name: str, value: Any) -> Iterator[str]:
    if inspect.isclass(value) or inspect.isfunction(value):
        yield f"```python\n{name}{_signature(value)}\n```"
    yield _text(value.__doc__)
    if inspect.isclass(value):
        yield from _members(value)


def _members(kind: type) -> Iterator[str]:
    """The public methods and properties of a class; a member without a docstring inherits it."""
    for name, value in vars(kind).items():
        function = value.__func__ if isinstance(value, classmethod | staticmethod) else value
        if name.startswith("_") or not (inspect.isfunction(function) or isinstance(function, property)):
            continue
        end = f": {function.fget.__annotations__['return']}" if isinstance(function, property) else _signature(function)
        yield f"```python\n{kind.__name__}.{name}{end}\n```"
        yield _text(inspect.getdoc(function))


def _signature(value: Any) -> str:
    """The signature, with one line per parameter if it is long."""
    line = re.sub(r"(: |-> )'([^']*)'", r"\1\2", str(inspect.signature(value)))  # annotations are strings
    line = re.sub(r"<function (<lambda>|\w+) at \w+>", r"\1", line).replace("<lambda>", "...")
    if len(line) <= WIDTH - 20:
        return line
    inside, arrow, result = line[1:].rpartition(")")
    parts = re.split(r", (?=\*{0,2}\w+[:=]|\*,)", inside)
    return "(\n    " + ",\n    ".join(parts) + f",\n{arrow}{result}"


def _text(doc: str | None) -> str:
    """A docstring as Markdown: indented blocks are already code, and examples are fenced."""
    lines, fenced = [], False
    for line in inspect.cleandoc(doc or "").splitlines():
        line = re.sub(r" +# doctest: \+\w+", "", line)
        if line.startswith(">>>") and not fenced:
            lines.append("```python")
        elif fenced and not line:
            lines.append("```")
        fenced = line.startswith(">>>") or (fenced and bool(line))
        lines.append(line)
    return "\n".join([*lines, *["```"] * fenced])


def commands() -> str:
    """The help of every command, and of its subcommands."""
    from labkit.cli.main import app

    return "\n\n".join(_helps(get_command(app), "labkit"))


def _helps(command: Any, name: str) -> Iterator[str]:
    if isinstance(command, click.Group) or hasattr(command, "commands"):
        for word, each in command.commands.items():
            yield from _helps(each, f"{name} {word}")
        return
    context = command.make_context(name, [], resilient_parsing=True, terminal_width=WIDTH, max_content_width=WIDTH)
    yield f"## {name}\n\n```text\n{command.get_help(context)}\n```"


def settings() -> str:
    """The settings of every method."""
    parts = []
    for name, kind in METHODS.items():
        rows = [["setting", "default", "values", "meaning"], ["---"] * 4]
        for each in settings_of(kind):
            cells = [f"`{each['setting']}`", f"`{each['default']!r}`", each["takes"], each["what"]]
            rows.append([cell.replace("|", "\\|") for cell in cells])
        table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
        parts += [f"## {name}", f"`labkit.{kind.__name__}`: {SUMMARIES[name]}.", table]
    return "\n\n".join(parts)

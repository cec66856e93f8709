"""What can be trained, as text: the methods with a line each, and the settings of one of them."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from typer.core import TyperCommand

from labkit.commands.saying import columns
from labkit.settings import Settings, spelled

if TYPE_CHECKING:
    from labkit.methods import Entry


class MethodsInHelp(TyperCommand):
    """`labkit train`: its help ends with the methods, of which the table is opened only when help is asked for; and its
    --resume may stand alone or before `auto`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """As its base does, which knows no option that may have a value."""
        options = args[: args.index("--")] if "--" in args else args
        found = []
        for place, word in enumerate(options):
            if word == "--resume":
                found.append("--resume=auto" if options[place + 1 : place + 2] == ["auto"] else "--resume=")
            elif word != "auto" or options[max(place - 1, 0)] != "--resume":
                found.append(word)
        return super().parse_args(ctx, found + args[len(options) :])

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        from labkit.methods import METHODS

        with formatter.section("Methods"):
            formatter.write_dl([(entry.name, entry.summary) for entry in METHODS.values()])
        with formatter.indentation():
            formatter.write_text("`labkit train METHOD --settings` lists what --set takes for one of them.")


def settings_table(entry: Entry) -> str:
    """Every setting with its default, what it takes and what it does."""
    found = dataclasses.fields(entry.method.Settings)
    if not found:
        return f"{entry.name} has no settings."
    rows = [["setting", "default", "takes", "what it does"]]
    rows += [[each.name, _shown(each.default), _takes(each), _does(each, entry.method.Settings)] for each in found]
    return columns(rows)


def settings_records(entry: Entry) -> list[dict[str, Any]]:
    """The same for programs."""
    kind = entry.method.Settings
    return [
        {"setting": each.name, "default": each.default, "takes": _takes(each), "what": _does(each, kind)}
        for each in dataclasses.fields(entry.method.Settings)
    ]


def _does(found: dataclasses.Field[Any], settings: type[Settings]) -> str:
    """What it is for, and when it changes anything."""
    what, only = found.metadata.get("what", ""), found.metadata.get("only", "")
    return f"{what} ({spelled(only, settings)})" if only not in ("", "epochs") else what


def _shown(value: Any) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _takes(found: dataclasses.Field[Any]) -> str:
    """The values of a setting, in words."""
    limits = found.metadata
    if limits.get("choices"):
        return " | ".join(limits["choices"])
    kind = {bool: "yes | no", int: "whole number", float: "number"}.get(type(found.default), "text")
    bounds = [
        f"{word} {limits[name]:g}"
        for name, word in (("above", "above"), ("least", "from"), ("most", "to"))
        if limits.get(name) is not None
    ]
    return " ".join([kind, *bounds])

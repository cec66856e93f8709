"""The settings of a method as choices to offer: kind, default, meaning, and limits that make sense on a shared machine.

In: a settings class of `labkit.settings`. Out: a `Choice` a field. The class itself allows more than is offered here:
a thousand epochs are right on a machine of one's own. What would name a file or a model elsewhere is a choice among
known words, so that nobody who trains from afar makes this machine open a path.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from labkit.settings import Settings

WORDS: Mapping[str, Sequence[str]] = {  # setting that is a free text -> the words that are offered for it
    "vectors": ("auto", "ppmi", "random"),
    "base": ("mean-vectors", "sif", "lsa"),
    "share": ("dev", "0", "0.25", "0.5", "0.75", "1"),
    "model": (),
}
FACTOR = 10  # a number may be ten times its default ...
ROOM = {int: 100, float: 1.0}  # ... and at least this


@dataclass(frozen=True)
class Choice:
    """One setting. `options` are there for a choice of words; `minimum` and `maximum` for a number."""

    name: str
    kind: type
    default: Any
    help: str
    options: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None

    @property
    def step(self) -> float:
        """The step by which a number goes up and down: 1, or a tenth of the default's size."""
        if self.kind is int:
            return 1
        return 10.0 ** (math.floor(math.log10(abs(self.default))) - 1) if self.default else 0.1


def choices(settings: type[Settings]) -> tuple[Choice, ...]:
    """A choice for each field, in their order."""
    return tuple(_choice(field) for field in dataclasses.fields(settings))


def _choice(field: dataclasses.Field[Any]) -> Choice:
    limits, default = field.metadata, field.default
    kind, what = type(default), limits.get("what", "")
    if kind is bool:
        return Choice(field.name, bool, default, what)
    if kind is str:
        return Choice(field.name, str, default, what, options=tuple(limits.get("choices") or _words(field)))
    minimum, above = limits.get("minimum"), limits.get("above")
    if minimum is None and above is not None:
        minimum = above + (1 if kind is int else abs(default) / 1000 or 1e-6)
    elif minimum is None:
        minimum = -max(ROOM[kind], FACTOR * abs(default))
    maximum = max(ROOM[kind], FACTOR * abs(default))
    if limits.get("maximum") is not None:
        maximum = min(maximum, limits["maximum"])
    return Choice(field.name, kind, default, what, minimum=kind(minimum), maximum=kind(maximum))


def _words(field: dataclasses.Field[Any]) -> tuple[str, ...]:
    """The default, and what else is known of this setting and named by its meaning."""
    what = field.metadata.get("what", "")
    known = WORDS.get(field.name, ())
    named = known if field.name in ("base", "share") else [word for word in known if word in what]
    return tuple(dict.fromkeys((field.default, *named)))

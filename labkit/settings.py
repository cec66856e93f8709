"""The settings of a method: one frozen dataclass, each field with its default, its meaning and its bounds.

The checks, the command line's `--set key=value` and the app's controls use these fields. Whether a setting has an
effect may depend on other settings or on the corpus, as `Settings.conditions` says.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from numbers import Integral, Real
from operator import ge, gt, le
from typing import Any, ClassVar, Self, TypeAlias

Conditions: TypeAlias = dict[str, tuple[bool, str]]  # setting -> whether it has an effect, and the condition for it

#: settings of version 0.1.0 -> their current names; run folders, `--set` and links to the app may have the old ones
RENAMED = {
    "longest": "max_length",
    "shortest": "min_ngram",
    "least": "min_count",
    "most": "vocab_size",
    "clip": "max_grad_norm",
    "half": "amp",
    "prefixes": "matryoshka_dims",
}
EPOCHS = "with epochs above 0"  # the condition of most training settings
_TYPED = {**dict.fromkeys(("true", "yes", "on", "1"), True), **dict.fromkeys(("false", "no", "off", "0"), False)}
_BOUNDS = (("minimum", ge, "at least"), ("maximum", le, "at most"), ("above", gt, "above"))
_KINDS = {bool: "yes or no", int: "a whole number", float: "a number", str: "a text"}


def setting(
    default: Any,
    what: str,
    *,
    choices: Sequence[str] = (),
    minimum: float | None = None,
    maximum: float | None = None,
    above: float | None = None,
    tune: Sequence[Any] = (),
    added: bool = False,
) -> Any:
    """A field of a settings class: its default, its meaning and the values it takes.

    `tune` lists what `labkit tune` tries: two numbers are the ends of a range, anything else is a list of values. A
    setting that was `added` after results were stored does not change their keys as long as it has its default.
    """
    limits = {"choices": tuple(choices), "minimum": minimum, "maximum": maximum, "above": above}
    return field(default=default, metadata={"what": what, **limits, "tune": tuple(tune), "added": added})


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Subclass this with fields from `setting`; a value out of bounds raises an error that names the setting."""

    earlier_names: ClassVar[Mapping[str, str]] = RENAMED

    def __post_init__(self) -> None:
        for each in dataclasses.fields(self):
            object.__setattr__(self, each.name, checked(each, getattr(self, each.name)))

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """Make settings from names and values; a value can be text as typed, such as "0.5" or "yes"."""
        values = cls.renamed(values)
        for name in values:
            cls.named(name)
        return cls(**values)

    @classmethod
    def renamed(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        """The values under the current names of their settings."""
        return {cls.earlier_names.get(name, name): value for name, value in values.items()}

    @classmethod
    def named(cls, name: str) -> dataclasses.Field[Any]:
        """The field of this name; raises ValueError if there is none."""
        fields = {each.name: each for each in dataclasses.fields(cls)}
        if name not in fields:
            hint = nearest_name(name, fields, f"choose from {', '.join(fields) or 'none at all'}")
            raise ValueError(f"setting {name!r} does not exist for this method; {hint}")
        return fields[name]

    def conditions(self, shape: str | None = None, has_dev: bool | None = None) -> Conditions:
        """For each setting that may have no effect: whether it has one with these settings, and when.

        `shape` is the corpus class, such as "Pairs"; `has_dev` says whether the corpus has a dev split. None means
        unknown and excludes nothing.
        """
        return {}

    def unused(self, shape: str | None = None, has_dev: bool | None = None) -> dict[str, str]:
        """The settings without effect, each with the condition under which it would have an effect."""
        return {name: when for name, (counts, when) in self.conditions(shape, has_dev).items() if not counts}

    def check_used(self, given: Iterable[str], shape: str | None = None, has_dev: bool | None = None) -> None:
        """Raise ValueError if a given setting has no effect."""
        unused = self.unused(shape, has_dev)
        for name in given:
            if name in unused:
                raise ValueError(
                    f"setting {name} is {getattr(self, name)!r}, but it has no effect here. It applies only "
                    f"{unused[name]}; omit it"
                )

    def values(self) -> dict[str, Any]:
        """Return the values by name, in a form that can be written as JSON."""
        return dataclasses.asdict(self)

    def decisive(self) -> dict[str, Any]:
        """The values in the key of a result: all except those of `added` settings at their defaults."""
        later = {each.name: each.default for each in dataclasses.fields(self) if each.metadata["added"]}
        return {name: value for name, value in self.values().items() if name not in later or value != later[name]}


def checked(entry: dataclasses.Field[Any], value: Any) -> Any:
    """Convert the value to the field's type and check its bounds; text is read as typed."""
    kind: Any = type(entry.default)
    given, limits = value, entry.metadata
    if isinstance(value, str) and kind is not str:
        value = _read(kind, value.strip().lower())
    elif kind in (int, float) and isinstance(value, Real) and not isinstance(value, bool):  # numpy's numbers, too
        whole = isinstance(value, Integral) or float(value).is_integer()
        value = kind(value) if kind is float or whole else value
    if type(value) is not kind:
        raise _wrong(entry, given, _KINDS[kind])
    if limits["choices"] and value not in limits["choices"]:
        raise _wrong(entry, value, f"one of {', '.join(limits['choices'])}")
    if kind is float and not math.isfinite(value):
        raise _wrong(entry, value, "a finite number")
    for bound, inside, expected in _BOUNDS:
        if limits[bound] is not None and not inside(value, limits[bound]):
            raise _wrong(entry, value, f"{expected} {limits[bound]:g}")
    return value


def _read(kind: type, text: str) -> Any:
    """Convert text to this type; return it unchanged if that fails."""
    if kind is bool:
        return _TYPED.get(text, text)
    try:
        return kind(text)
    except ValueError:
        return text


def _wrong(entry: dataclasses.Field[Any], value: Any, expected: str) -> ValueError:
    return ValueError(f"setting {entry.name} is {value!r}, expected {expected} ({entry.metadata['what']})")


def nearest_name(name: str, names: Iterable[str], otherwise: str) -> str:
    """The closest of these names, as a question, or the advice `otherwise` if no name is close."""
    near = get_close_matches(name, list(names), n=1)
    return f"did you mean {near[0]!r}?" if near else otherwise

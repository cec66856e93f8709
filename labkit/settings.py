"""The settings of a method: one frozen dataclass, each field with its default, its meaning and its bounds.

The checks, `--set key=value` of the command line and the controls of the app come from these fields. Whether a setting
changes anything may depend on others, or on the corpus: a method on the class says so (`Settings.conditions`).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any, ClassVar, Self, TypeAlias

Conditions: TypeAlias = dict[str, tuple[bool, str]]  # setting -> whether it changes anything, and when it does

#: settings of version 0.1.0 and their names today; run folders, `--set` and links to the app may have the earlier ones
RENAMED = {
    "longest": "max_length",
    "shortest": "min_ngram",
    "least": "min_count",
    "most": "vocab_size",
    "clip": "max_grad_norm",
    "half": "amp",
    "prefixes": "matryoshka_dims",
}
EPOCHS = "with epochs above 0"  # when most settings of a training count
_TYPED = {**dict.fromkeys(("true", "yes", "on", "1"), True), **dict.fromkeys(("false", "no", "off", "0"), False)}
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
) -> Any:
    """A field of a settings class: its default, what it does, and which values it takes.

    `tune` is what `labkit tune` tries: two numbers are the ends of a range, anything else is a list of values.
    """
    limits = {"choices": tuple(choices), "minimum": minimum, "maximum": maximum, "above": above}
    return field(default=default, metadata={"what": what, **limits, "tune": tuple(tune)})


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Subclass this with fields made by `setting`; a value out of bounds is refused by name."""

    earlier_names: ClassVar[Mapping[str, str]] = RENAMED

    def __post_init__(self) -> None:
        for each in dataclasses.fields(self):
            object.__setattr__(self, each.name, checked(each, getattr(self, each.name)))

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """Settings of names and values; a value may be the text a person typed, such as "0.5" or "yes"."""
        values = cls.renamed(values)
        for name in values:
            cls.named(name)
        return cls(**values)

    @classmethod
    def renamed(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        """The values under today's names of their settings."""
        return {cls.earlier_names.get(name, name): value for name, value in values.items()}

    @classmethod
    def named(cls, name: str) -> dataclasses.Field[Any]:
        """The field of this name; a ValueError where there is none."""
        fields = {each.name: each for each in dataclasses.fields(cls)}
        if name not in fields:
            near = get_close_matches(name, fields, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"choose from {', '.join(fields) or 'none at all'}"
            raise ValueError(f"setting {name!r} does not exist for this method; {hint}")
        return fields[name]

    def conditions(self, shape: str | None = None, has_dev: bool | None = None) -> Conditions:
        """For each setting that may have no effect: whether it has one with these settings, and when.

        `shape` is the name of the corpus' class, such as "Pairs", and `has_dev` whether it has a dev split; None where
        the corpus is not known yet, which rules nothing out.
        """
        return {}

    def unused(self, shape: str | None = None, has_dev: bool | None = None) -> dict[str, str]:
        """The settings that change nothing, and for each when it would."""
        return {name: when for name, (counts, when) in self.conditions(shape, has_dev).items() if not counts}

    def check_used(self, given: Iterable[str], shape: str | None = None, has_dev: bool | None = None) -> None:
        """Refuse a setting that somebody has given although it changes nothing."""
        unused = self.unused(shape, has_dev)
        for name in given:
            if name in unused:
                raise ValueError(
                    f"setting {name} is {getattr(self, name)!r}, but has no effect here; it applies only "
                    f"{unused[name]}; omit it"
                )

    def values(self) -> dict[str, Any]:
        """Name -> value, ready for JSON."""
        return dataclasses.asdict(self)


def checked(entry: dataclasses.Field[Any], value: Any) -> Any:
    """The value in the type of the field and within its bounds; text is read as a person types it."""
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
    if limits["minimum"] is not None and value < limits["minimum"]:
        raise _wrong(entry, value, f"at least {limits['minimum']:g}")
    if limits["maximum"] is not None and value > limits["maximum"]:
        raise _wrong(entry, value, f"at most {limits['maximum']:g}")
    if limits["above"] is not None and value <= limits["above"]:
        raise _wrong(entry, value, f"above {limits['above']:g}")
    return value


def _read(kind: type, text: str) -> Any:
    """The text as a value of this kind; unchanged where it is none."""
    if kind is bool:
        return _TYPED.get(text, text)
    try:
        return kind(text)
    except ValueError:
        return text


def _wrong(entry: dataclasses.Field[Any], value: Any, expected: str) -> ValueError:
    return ValueError(f"setting {entry.name} is {value!r}, expected {expected} ({entry.metadata['what']})")

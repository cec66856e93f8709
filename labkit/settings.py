"""The settings of a method: one frozen dataclass, each field with its default, its meaning and its bounds.

From these three come the checks, `--set key=value` of the command line, and the controls of the app.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any, Self

_KINDS = {"bool": bool, "int": int, "float": float, "str": str}


def setting(
    default: Any,
    what: str,
    *,
    choices: Sequence[str] = (),
    least: float | None = None,
    most: float | None = None,
    above: float | None = None,
) -> Any:
    """A field of a settings class: its default, what it does, and which values it takes."""
    limits = {"what": what, "choices": tuple(choices), "least": least, "most": most, "above": above}
    return field(default=default, metadata=limits)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Subclass this with fields made by `setting`; a value out of bounds is refused by name."""

    def __post_init__(self) -> None:
        for found in dataclasses.fields(self):
            value = _as(found, getattr(self, found.name))
            object.__setattr__(self, found.name, value)
            _check(found, value)

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """From names and values; a value may be the text a person typed, such as "0.5" or "yes"."""
        fields = {found.name: found for found in dataclasses.fields(cls)}
        for name in values:
            if name not in fields:
                near = get_close_matches(name, fields, n=1)
                hint = f"did you mean {near[0]!r}?" if near else f"choose from {', '.join(fields) or 'none at all'}"
                raise ValueError(f"setting {name!r} is not one of this method; {hint}")
        return cls(**{name: _typed(fields[name], value) for name, value in values.items()})

    def values(self) -> dict[str, Any]:
        """Name -> value, ready for JSON."""
        return dataclasses.asdict(self)


def _typed(found: dataclasses.Field[Any], value: Any) -> Any:
    kind = _kind(found)
    if not isinstance(value, str) or kind is str:
        return value
    text = value.strip().lower()
    if kind is bool:
        if text in ("true", "yes", "on", "1", "false", "no", "off", "0"):
            return text in ("true", "yes", "on", "1")
        raise _wrong(found, value, "yes or no")
    try:
        return kind(text)
    except ValueError as error:
        raise _wrong(found, value, "a whole number" if kind is int else "a number") from error


def _as(found: dataclasses.Field[Any], value: Any) -> Any:
    """The value in the field's type, where nothing is lost by it."""
    kind = _kind(found)
    number = isinstance(value, Real) and not isinstance(value, bool)  # numpy's are such too
    whole = number and (isinstance(value, Integral) or float(value).is_integer())
    if (kind is float and number) or (kind is int and whole):
        return kind(value)
    if not isinstance(value, kind) or kind in (int, float):
        names = {bool: "yes or no", int: "a whole number", float: "a number", str: "a text"}
        raise _wrong(found, value, names[kind])
    return value


def _check(found: dataclasses.Field[Any], value: Any) -> None:
    limits = found.metadata
    if (choices := limits.get("choices")) and value not in choices:
        raise _wrong(found, value, f"one of {', '.join(choices)}")
    if isinstance(value, float) and not math.isfinite(value):
        raise _wrong(found, value, "a finite number")
    if (least := limits.get("least")) is not None and value < least:
        raise _wrong(found, value, f"at least {least:g}")
    if (most := limits.get("most")) is not None and value > most:
        raise _wrong(found, value, f"at most {most:g}")
    if (above := limits.get("above")) is not None and value <= above:
        raise _wrong(found, value, f"above {above:g}")


def _kind(found: dataclasses.Field[Any]) -> type:
    # an annotation is a text where a module says `from __future__ import annotations`, else a type
    return _KINDS[getattr(found.type, "__name__", str(found.type))]


def _wrong(found: dataclasses.Field[Any], value: Any, expected: str) -> ValueError:
    return ValueError(f"setting {found.name} is {value!r}, expected {expected} ({found.metadata.get('what', '')})")

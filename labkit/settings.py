"""The settings of a method: one frozen dataclass, each field with its default, its meaning and its bounds.

From these three come the checks, `--set key=value` of the command line, and the controls of the app.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from fnmatch import fnmatchcase
from numbers import Integral, Real
from typing import Any, ClassVar, Self

NEVER = "never"
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
_SHAPES = {"Pairs": "pairs", "Labelled": "classes", "Groups": "groups", "Triplets": "triplets", "Articles": "articles"}
_KINDS = {"bool": bool, "int": int, "float": float, "str": str}


def setting(
    default: Any,
    what: str,
    *,
    choices: Sequence[str] = (),
    minimum: float | None = None,
    maximum: float | None = None,
    above: float | None = None,
    only: str = "",
    dial: str = "",
    before: Any = None,
) -> Any:
    """A field of a settings class: its default, what it does, and which values it takes.

    `only` says when it changes anything: "loss=locality" (several: a|b; a* for all that begin so; != for all others),
    "batch" (neither 0 nor no), with a comma where both must hold, with "or" where either may; `NEVER` is for a setting
    of all trainings that has no part in this one. `corpus` is the shape of what is trained on, `dev` whether that has
    such a split. `dial` is what `labkit tune` tries, "0.1..0.9" or "yes|no". `before` is for what was added after
    figures had been kept: the value that these stand for, which is no part of a key, so that they stay known; the
    default may change later.
    """
    limits = {
        "what": what,
        "choices": tuple(choices),
        "minimum": minimum,
        "maximum": maximum,
        "above": above,
        "only": only,
    }
    return field(default=default, metadata={**limits, "dial": dial, "before": before})


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Subclass this with fields made by `setting`; a value out of bounds is refused by name."""

    earlier_names: ClassVar[Mapping[str, str]] = RENAMED

    def __post_init__(self) -> None:
        for each in dataclasses.fields(self):
            value = _as(each, getattr(self, each.name))
            object.__setattr__(self, each.name, value)
            _check(each, value)

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """Make settings of names and values; a value may be the text a person typed, such as "0.5" or "yes"."""
        return cls(**{name: _typed(cls.named(name), value) for name, value in cls.renamed(values).items()})

    @classmethod
    def renamed(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        """The values under today's names of their settings."""
        return {cls.earlier_names.get(name, name): value for name, value in values.items()}

    @classmethod
    def of_run(cls, values: Mapping[str, Any]) -> Self:
        """The settings that a run was written with; of those that came later, what it stands for."""
        before = {each.name: each.metadata.get("before") for each in dataclasses.fields(cls)}
        return cls.of({name: value for name, value in before.items() if value is not None} | cls.renamed(values))

    @classmethod
    def named(cls, name: str) -> dataclasses.Field[Any]:
        """The field of this name; a ValueError where there is none."""
        fields = {each.name: each for each in dataclasses.fields(cls)}
        if name not in fields:
            near = get_close_matches(name, fields, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"choose from {', '.join(fields) or 'none at all'}"
            raise ValueError(f"setting {name!r} is not one of this method; {hint}")
        return fields[name]

    def check_used(self, given: Iterable[str], corpus: Mapping[str, str] | None = None) -> None:
        """A ValueError where a setting that somebody has given changes nothing beside the others, and, once it is
        known, on the corpus: {"corpus": its shape, "dev": "yes" or ""}."""
        values = {**self.values(), **(corpus or {})}
        for each in dataclasses.fields(self):
            only = each.metadata.get("only", "")
            if each.name in given and not _holds(only, values):
                raise ValueError(
                    f"setting {each.name} is {values[each.name]!r}, but changes nothing here: it counts "
                    f"{spelled(only, type(self), values)}; leave it out"
                )

    def space(self, corpus: Mapping[str, str] | None = None) -> dict[str, Dial]:
        """What `labkit tune` turns: the dials of the settings that count beside the others, and on the corpus, of which
        the same is known as in `check_used`."""
        values = {**self.values(), **(corpus or {})}
        dials = [each for each in dataclasses.fields(self) if each.metadata.get("dial")]
        return {
            each.name: Dial.of(each.metadata["dial"], each)
            for each in dials
            if _holds(each.metadata.get("only", ""), values)
        }

    def values(self) -> dict[str, Any]:
        """Name -> value, ready for JSON."""
        return dataclasses.asdict(self)

    def deciding(self) -> dict[str, Any]:
        """The values that a key is made of: all but those of settings added later, where they are what was before."""
        before = {each.name: each.metadata.get("before") for each in dataclasses.fields(self)}
        return {name: value for name, value in self.values().items() if before[name] is None or before[name] != value}


@dataclass(frozen=True)
class Dial:
    """What a setting may be turned to: a number from `low` to `high`, by its logarithm or `whole`, or a choice."""

    low: float = 0.0
    high: float = 0.0
    log: bool = False
    whole: bool = False
    choices: tuple[Any, ...] = ()

    @classmethod
    def of(cls, text: str, entry: dataclasses.Field[Any]) -> Self:
        """The dial that a text gives to a setting, "0.1..0.9" or "a|b|c"; ends above 0 of which one is ten times the
        other, or more, are drawn by their logarithm."""
        ends = text.split("..", 1) if ".." in text else []
        try:
            values = [_as(entry, _typed(entry, each.strip())) for each in ends or text.split("|")]
            for value in values:
                _check(entry, value)
        except ValueError as reason:
            raise ValueError(f"what to try is {entry.name}={text!r}: {reason}") from None
        if not ends and len(set(values)) == len(values) > 1:
            return cls(choices=tuple(values))
        if not ends or _kind(entry) not in (int, float) or values[0] >= values[1]:
            raise ValueError(
                f"what to try is {entry.name}={text!r}, expected two numbers, the smaller one first, as in 0.1..0.9, "
                "or different values, as in 1|2|5"
            )
        low, high = values
        return cls(low, high, log=low > 0 and high >= 10 * low, whole=_kind(entry) is int)

    def __str__(self) -> str:
        shown = [("no", "yes")[each] if isinstance(each, bool) else str(each) for each in self.choices]
        return "|".join(shown) or f"{self.low:.9g}..{self.high:.9g}"

    def __contains__(self, value: Any) -> bool:
        return value in self.choices if self.choices else bool(self.low <= value <= self.high)

    def nearest(self, value: Any) -> Any:
        """The value as a person would write it: of a number so many digits as tell a thousandth of the whole dial."""
        if self.choices or self.whole:
            return value
        digits = 2 - math.floor(math.log10(value if self.log else self.high - self.low))
        return min(max(round(value, digits), self.low), self.high)


def spelled(only: str, settings: type[Settings], values: Mapping[str, Any] | None = None) -> str:
    """When a setting counts, in words; beside values: what of it is not so. That nothing is learned in no epoch goes
    without saying."""
    if only == NEVER:
        return "in other methods only"
    kinds = {each.name: _kind(each) for each in dataclasses.fields(settings)}
    either = []
    for both in only.split(" or "):
        asked = [each.strip() for each in both.split(",")]
        asked = [each for each in asked if each != "epochs" if values is None or not _met(each, values)] or asked
        either.append(" and ".join(_words(each, kinds) for each in asked))
    return "only with " + ", or with ".join(either)


def _words(condition: str, kinds: Mapping[str, type]) -> str:
    name, sign, wanted = _parts(condition)
    listed = " or ".join((_SHAPES.get(each, each) if name == "corpus" else each) for each in wanted.split("|"))
    if sign:
        return listed if name == "corpus" else f"{name}={listed}" if sign == "=" else f"{name} other than {listed}"
    return {bool: f"{name}=yes", int: f"{name} above 0"}.get(kinds.get(name, str), f"a {name} split")


def _holds(only: str, values: Mapping[str, Any]) -> bool:
    """Whether the condition is met; of what is not known yet it may be."""
    if only in ("", NEVER):
        return not only
    return any(all(_met(each.strip(), values) for each in both.split(",")) for both in only.split(" or "))


def _met(condition: str, values: Mapping[str, Any]) -> bool:
    name, sign, wanted = _parts(condition)
    if name not in values or not sign:
        return bool(values.get(name, True))
    return any(fnmatchcase(str(values[name]), each) for each in wanted.split("|")) == (sign == "=")


def _parts(condition: str) -> tuple[str, str, str]:
    """Name, = or != or nothing, and what it is compared with."""
    match = re.fullmatch(r"(\w+)(?:(!?=)(.+))?", condition)
    assert match, condition
    return match[1], match[2] or "", match[3] or ""


def _typed(entry: dataclasses.Field[Any], value: Any) -> Any:
    kind = _kind(entry)
    if not isinstance(value, str) or kind is str:
        return value
    text = value.strip().lower()
    if kind is bool:
        if text in ("true", "yes", "on", "1", "false", "no", "off", "0"):
            return text in ("true", "yes", "on", "1")
        raise _wrong(entry, value, "yes or no")
    try:
        return kind(text)
    except ValueError as error:
        raise _wrong(entry, value, "a whole number" if kind is int else "a number") from error


def _as(entry: dataclasses.Field[Any], value: Any) -> Any:
    """The value in the field's type, where nothing is lost by it."""
    kind = _kind(entry)
    number = isinstance(value, Real) and not isinstance(value, bool)  # numpy's are such too
    whole = number and (isinstance(value, Integral) or float(value).is_integer())
    if (kind is float and number) or (kind is int and whole):
        return kind(value)
    if not isinstance(value, kind) or kind in (int, float):
        names = {bool: "yes or no", int: "a whole number", float: "a number", str: "a text"}
        raise _wrong(entry, value, names[kind])
    return value


def _check(entry: dataclasses.Field[Any], value: Any) -> None:
    limits = entry.metadata
    if (choices := limits.get("choices")) and value not in choices:
        raise _wrong(entry, value, f"one of {', '.join(choices)}")
    if isinstance(value, float) and not math.isfinite(value):
        raise _wrong(entry, value, "a finite number")
    if (minimum := limits.get("minimum")) is not None and value < minimum:
        raise _wrong(entry, value, f"at least {minimum:g}")
    if (maximum := limits.get("maximum")) is not None and value > maximum:
        raise _wrong(entry, value, f"at most {maximum:g}")
    if (above := limits.get("above")) is not None and value <= above:
        raise _wrong(entry, value, f"above {above:g}")


def _kind(entry: dataclasses.Field[Any]) -> type:
    # an annotation is a text where a module says `from __future__ import annotations`, else a type
    return _KINDS[getattr(entry.type, "__name__", str(entry.type))]


def _wrong(entry: dataclasses.Field[Any], value: Any, expected: str) -> ValueError:
    return ValueError(f"setting {entry.name} is {value!r}, expected {expected} ({entry.metadata.get('what', '')})")

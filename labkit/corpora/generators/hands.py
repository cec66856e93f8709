"""The hands in which the places of a region are written: its own script, romanised, or English.

In: `words/places.toml`, a region each. Out: three `Hand`s a region, whose lists name the same things in the same order,
so that a place is a set of numbers (`places.py`) and a record is what a hand makes of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from labkit.corpora.generators.language import words

Variants = tuple[tuple[str, ...], ...]  # number of a thing -> the ways to say it


@dataclass(frozen=True)
class Hand:
    """One way to write the places of a region: its own, romanised, or in English."""

    towns: Variants
    streets: Variants  # in full, abbreviated
    propers: Variants
    kinds: Variants
    branches: Variants
    floors: Variants
    landmarks: Variants
    names: Sequence[str]  # patterns
    branched: Sequence[str]
    lines: Sequence[str]
    glues: Sequence[Sequence[str]]  # between town and street, before the floor
    aside: str
    town_first: float  # how often
    cased: bool  # str.upper and str.lower are right
    wide: bool  # ideographs or syllables, whose digits may be as wide as they


@cache
def hands() -> tuple[tuple[Hand, Hand, Hand], ...]:
    """The three hands of each region: its own, the romanised and the English one."""
    return tuple((_hand(r, 0), _hand(r, 1), _hand(r, 2)) for r in words("places")["region"])


def _hand(region: dict[str, Any], which: int) -> Hand:
    """Hand number `which` of a region, out of the terms "native|romanised|English" of its lists."""
    english, latin, marked = (words("places")[part] for part in ("english", "latin", "plain"))
    plain = str.maketrans({c: letter for letter in marked for c in marked[letter]} | region.get("plain", {}))
    joins = latin | region if which == 0 else latin

    def said(term: str) -> str:
        native, romanised, translated = [*term.split("|"), "", ""][:3]
        romanised = romanised or native.translate(plain)
        return (native, romanised, translated or romanised)[which]

    def variants(entries: Sequence[str | list[str]]) -> Variants:
        return tuple(tuple(map(said, [entry] if isinstance(entry, str) else entry)) for entry in entries)

    def street(term: str) -> tuple[str, str]:
        full = _replaced(said(term), region.get("translate", ()) if which == 2 else ())
        return full, _replaced(full, region["short"])

    def patterns(key: str) -> Sequence[str]:
        own = region[key]
        return (own, region.get(f"{key}_roman", own), region.get(f"{key}_english", english[key]))[which]

    kinds = region.get("kinds", english["kinds"])
    if which == 2:  # the words all regions share, but where one's own say it better
        better = [[term for term in terms if term.count("|") == 2] for terms in kinds]
        kinds = [own or shared for own, shared in zip(better, english["kinds"], strict=True)]
    return Hand(
        towns=variants(region["towns"]),
        streets=tuple(map(street, region["streets"])),
        propers=variants(region["propers"]),
        kinds=variants(kinds),
        branches=variants(region["branches"]),
        floors=variants(region["floors"]),
        landmarks=variants(region["landmarks"]),
        names=patterns("names"),
        branched=joins["branched"],
        lines=patterns("lines"),
        glues=joins["glues"],
        aside=joins["aside"],
        town_first=joins["town_first"],
        cased=which > 0 or region.get("cased", True),
        wide=which == 0 and region.get("wide", False),
    )


def _replaced(text: str, pairs: Sequence[Sequence[str]]) -> str:
    for long, short in pairs:
        text = text.replace(long, short)
    return text

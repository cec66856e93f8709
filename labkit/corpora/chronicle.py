"""Fact sheets for invented subjects: what the embedded articles are sure of before a sentence is written.

In: the kind's `facts` from `words/articles.toml`, a number that names the subject, and a generator. Out: a `Sheet`,
slot -> text. Everything is drawn once, so that all sentences of an article agree: the same founder, dates in order.

A fact is drawn by the form of its entry:

    ["granite", "slate"]                 one of the texts; {slots} drawn before it may stand in them
    [{bark = "grey", leaf = "oval"}, ]   one of the tables, all of its slots
    {year = [1200, 1300]}                a year; also NAME_decade and NAME_century
    {after = "begun", by = [5, 20]}      a year that many years later
    {number = [40, 900, 10]}             a number in steps; up to twelve in words
    {pick = 2, of = ["fox", "hare"]}     different texts: NAME1, NAME2
    {name = "town"}                      an invented name, other than all names of the sheet
    {person = true}                      a person: NAME, NAME_last, NAME_he, NAME_his, NAME_him
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from math import gcd
from typing import Any

from labkit.corpora.language import words

_SMALL = "no one two three four five six seven eight nine ten eleven twelve".split()
_CENTURIES = (
    "tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth "
    "twentieth twenty-first"
).split()


@dataclass
class Sheet:
    """Slot -> text, and the names that are taken."""

    facts: dict[str, str]
    years: dict[str, int] = field(default_factory=dict)
    people: dict[str, str] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)


def stem(number: int, endings: list[str]) -> str:
    """The invented name of this number: no two numbers below `len(heads) * len(hearts) * len(endings)` share one.

    A head has one vowel and ends in a consonant, a heart is a vowel and a consonant, an ending starts with a consonant:
    a name can be taken apart in one way only.
    """
    parts = words("articles")["names"]
    number, head = divmod(number, len(parts["heads"]))
    number, heart = divmod(number, len(parts["hearts"]))
    return parts["heads"][head] + parts["hearts"][heart] + endings[number % len(endings)]


def title_stem(serial: int, kind: str, seed: int) -> str:
    """The name of the `serial`-th subject of a kind: a walk over all names in long steps, without a repeat."""
    parts = words("articles")["names"]
    endings = parts["endings"][kind]
    size = len(parts["heads"]) * len(parts["hearts"]) * len(endings)
    step = next(step for step in range(int(size * 0.618), size) if gcd(step, size) == 1)
    return stem((serial * step + random.Random(f"{seed}/{kind}").randrange(size)) % size, endings)

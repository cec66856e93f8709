"""Fact sheets of invented subjects: everything an embedded article is sure of before its first sentence is written.

In: the `facts` of a kind (`words/articles.toml`), the name of the subject, a generator. Out: slot -> text. All is drawn
once, so that the sentences of an article agree with each other: one founder, one river, dates in order.

A fact is drawn by the form of its entry; slots drawn before it may stand in a text:

    ["granite", "slate"]               one of the texts
    [{leaf = "oval", fruit = "nut"}]   one of the tables, with all its slots
    {year = [1200, 1300]}              a year
    {after = "begun", by = [5, 20]}    a year, so many years later
    {between = ["begun", "finished"]}  the number of years
    {number = [40, 900, 10]}           a number from 40 to 900 in steps of 10, in words up to twelve
    {pick = 2, of = ["fox", "hare"]}   different texts: NAME1, NAME2
    {name = "town"}                    an invented name, like none before it
    {person = "any"}                   she, he, any, or other than `he` of the sheet: NAME, and NAME_he, _his, _him
    {given = true}                     a first name that suits `he`
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from math import gcd
from typing import Any

from labkit.corpora.generators.language import words

_SMALL = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
_FORMS = {"she": ("she", "her", "her"), "he": ("he", "his", "him")}


def serial_name(number: int, kind: str) -> str:
    """The invented name of the `number`-th subject of a kind; none comes twice before all have come once.

    Head (one vowel, closed by a consonant), heart (vowel, consonant) and ending (from a consonant on) can be told
    apart in only one way, and a step that is prime to the number of names visits all of them.
    """
    names = words("articles")["names"]
    heads, hearts, endings = names["heads"], names["hearts"], names["endings"][kind]
    size = len(heads) * len(hearts) * len(endings)
    step = next(step for step in range(int(size * 0.618), size) if gcd(step, size) == 1)
    rest, head = divmod(number * step % size, len(heads))
    rest, heart = divmod(rest, len(hearts))
    return heads[head] + hearts[heart] + endings[rest]


def fact_sheet(facts: Mapping[str, Any], known: Mapping[str, str], rng: random.Random) -> dict[str, str]:
    """All slots of a subject, those of `known` among them."""
    sheet = dict(known)
    for key, entry in facts.items():
        sheet |= _drawn(key, entry, sheet, rng)
    return sheet


def _drawn(key: str, entry: Any, sheet: Mapping[str, str], rng: random.Random) -> dict[str, str]:
    match entry:
        case [*choices]:
            chosen = rng.choice(choices)
            table = chosen if isinstance(chosen, dict) else {key: chosen}
            return {slot: text.format_map(sheet) for slot, text in table.items()}
        case {"year": [first, last]}:
            return {key: str(rng.randint(first, last))}
        case {"after": earlier, "by": [least, most]}:
            return {key: str(int(sheet[earlier]) + rng.randint(least, most))}
        case {"between": [earlier, later]}:
            return {key: _number(int(sheet[later]) - int(sheet[earlier]))}
        case {"number": [low, high, step]}:
            return {key: _number(rng.randrange(low, high + 1, step))}
        case {"pick": count, "of": choices}:
            return {f"{key}{place}": text for place, text in enumerate(rng.sample(choices, count), 1)}
        case {"name": kind}:
            return {key: _new_name(kind, sheet, rng)}
        case {"given": True}:
            return {key: _unused(words("articles")["names"][sheet["he"]], sheet, rng)}
        case {"person": who}:
            return _person(key, who, sheet, rng)
    raise ValueError(f"fact {key!r} is {entry!r}, expected one of the forms told in chronicle.py; mend articles.toml")


def _number(value: int) -> str:
    return _SMALL[value] if value <= 12 else f"{value:,}"


def _new_name(kind: str, sheet: Mapping[str, str], rng: random.Random) -> str:
    """A name that begins unlike every other name of the sheet."""
    names = words("articles")["names"]
    head = _unused(names["heads"], sheet, rng)
    return head + rng.choice(names["hearts"]) + rng.choice(names["endings"][kind])


def _unused(choices: Sequence[str], sheet: Mapping[str, str], rng: random.Random) -> str:
    """A text that stands nowhere in the sheet."""
    taken = "|".join(sheet.values())
    while (chosen := rng.choice(choices)) in taken:
        pass
    return chosen


def _person(key: str, who: str, sheet: Mapping[str, str], rng: random.Random) -> dict[str, str]:
    if who == "any":
        who = rng.choice(("she", "he"))
    elif who == "other":
        who = "he" if sheet["he"] == "she" else "she"
    surname = _new_name("surname", sheet, rng)
    forms = dict(zip((f"{key}_he", f"{key}_his", f"{key}_him"), _FORMS[who], strict=True))
    first = _unused(words("articles")["names"][who], sheet, rng)
    return {key: f"{first} {surname}", f"{key}_last": surname, **forms}

"""Encyclopaedic articles with sections, from which thematic triplets are made.

Each unit is one row, `{"title", "split", "sections": [{"title", "level", "top", "paragraphs"}]}`; the first section is
the lead (title "", level 1). **All subjects are invented**, so that nothing false is said about anything real. If a
name resembles that of a real town, bird or engineer, this is a coincidence.

An article tells a fact sheet by themes. A theme is a list of paragraphs, each about one aspect, with alternative first
sentences and optional further sentences; an article uses some paragraphs of some themes, in order. The paragraphs of a
section share a theme but few words, while proper names occur in all sections, so a model has to learn which words
belong together.

A fact sheet maps slots to texts. It is drawn once per article from the `facts` of a kind (`words/articles.toml`), so
that sentences agree: one founder, dates in order. The form of an entry says how the fact is drawn; its texts may use
earlier slots:

    ["granite", "slate"]               one of the texts
    [{leaf = "oval", fruit = "nut"}]   one of the tables, with all its slots
    {year = [1200, 1300]}              a year
    {after = "begun", by = [5, 20]}    a year, 5 to 20 years later
    {between = ["begun", "finished"]}  the number of years
    {number = [40, 900, 10]}           a number from 40 to 900 in steps of 10, in words up to twelve
    {pick = 2, of = ["fox", "hare"]}   different texts: NAME1, NAME2
    {name = "town"}                    an invented name, unlike earlier ones
    {person = "any"}                   she, he, any, or other (than the sheet's `he`): NAME, NAME_he, _his, _him
    {given = true}                     a first name that suits `he`
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import count
from math import gcd
from typing import Any

from labkit.corpora.records import hashed_split

from .language import Row, hashed, sentence_case, with_article, word_lists

SEED = 25
UNITS = 160

_CHOICE = re.compile(r"\[([^\]]+)\]")
_SLOT = re.compile(r"\{(\w+)\}")
_ARTICLE = re.compile(r"\b(a|A)n? (\w+)")


def units(seed: int) -> Iterator[list[Row]]:
    """One article per unit, with the kinds of subject in turn."""
    kinds = list(word_lists("articles")["kinds"])
    first = {kind: hashed(seed, kind, size=6) for kind in kinds}
    for index in count():
        kind = kinds[index % len(kinds)]
        yield [_article(kind, first[kind] + index // len(kinds), random.Random(hashed(seed, index, size=6)))]


def _article(kind: str, serial: int, rng: random.Random) -> Row:
    plan = word_lists("articles")["kinds"][kind]
    stem = serial_name(serial, plan["endings"])
    sheet = fact_sheet(plan["facts"], {"stem": stem, "stem_small": stem.lower()}, rng)
    sheet["title"] = plan["title"].format_map(sheet)
    writer = _Writer(sheet, rng)
    sections = [_section("", [writer.paragraph(part, lead=True) for part in plan["lead"][: rng.randint(1, 2)]])]
    for name in _outline(plan, sheet, rng):
        theme = _themes()[name]
        title = rng.choice(theme["titles"])
        sections.append(_section(title, [writer.paragraph(part) for part in _taken(theme["paragraphs"], sheet, rng)]))
    if rng.random() < 1 / 3:
        sections += _extra_sections(sheet, rng)
    return {"title": sheet["title"], "split": hashed_split(sheet["title"]), "sections": sections}


@cache
def _themes() -> dict[str, Any]:
    """The titles and paragraphs of each theme, from all word lists with themes."""
    files = word_lists("articles")["themes"]
    return {name: theme for file in files for name, theme in word_lists(f"articles_{file}").items()}


def _section(title: str, paragraphs: list[str]) -> Row:
    return {"title": title, "level": 2 if title else 1, "top": title, "paragraphs": paragraphs}


def _usable(part: Mapping[str, Any], sheet: Mapping[str, str]) -> bool:
    return part.get("needs", "title") in sheet


def _outline(plan: Mapping[str, Any], sheet: Mapping[str, str], rng: random.Random) -> list[str]:
    """Five to nine themes of a kind, in its order."""
    names = [name for name in plan["sections"] if _usable(_themes()[name], sheet)]
    others = [name for name in names if name not in plan["always"]]
    size = rng.randint(5, min(9, len(names)))
    chosen = {*plan["always"], *rng.sample(others, size - len(plan["always"]))}
    return [name for name in names if name in chosen]


def _taken(parts: Sequence[Mapping[str, Any]], sheet: Mapping[str, str], rng: random.Random) -> list[Mapping[str, Any]]:
    """Two to five paragraphs of a theme, in order."""
    parts = [part for part in parts if _usable(part, sheet)]
    chosen = rng.sample(range(len(parts)), min(len(parts), rng.choice((2, 3, 3, 4, 4, 5))))
    return [parts[place] for place in sorted(chosen)]


def _extra_sections(sheet: Mapping[str, str], rng: random.Random) -> list[Row]:
    """Final sections with lists, such as "See also" or "References"."""
    extras = word_lists("articles")["extras"]
    writer = _Writer(fact_sheet(extras["facts"], sheet, rng), rng)
    chosen = rng.sample(range(len(extras["sections"])), rng.randint(1, 3))
    parts = [extras["sections"][place] for place in sorted(chosen)]
    return [_section(rng.choice(part["titles"]), [writer.sentence(line) for line in part["lines"]]) for part in parts]


class _Writer:
    """Turns patterns into sentences of one article, and remembers which people were named in full."""

    def __init__(self, sheet: Mapping[str, str], rng: random.Random) -> None:
        self.sheet, self.rng = sheet, rng
        self.training = hashed_split(sheet["title"]) == "train"
        self.named: set[str] = set()

    def paragraph(self, part: Mapping[str, Any], *, lead: bool = False) -> str:
        """A first sentence and one to four others, in order.

        Every third first sentence is reserved for dev and test, so that test openings do not occur in training. A lead
        may use any, and always includes the sentence that introduces the people.
        """
        openings = [text for place, text in enumerate(part["open"]) if lead or (place % 3 == 2) != self.training]
        then = part["then"]
        places = self.rng.sample(range(len(then)), min(len(then), self.rng.choice((1, 2, 2, 3, 3, 4))))
        follow = sorted({*places, 0} if lead else places)
        return " ".join(self.sentence(text) for text in (self.rng.choice(openings), *(then[p] for p in follow)))

    def sentence(self, pattern: str) -> str:
        text = _CHOICE.sub(lambda match: self.rng.choice(match[1].split("|")), pattern)
        text = _SLOT.sub(lambda match: self._fact(match[1]), text)
        return sentence_case(_ARTICLE.sub(_with_article, text))

    def _fact(self, slot: str) -> str:
        """The text of a slot; a person's full name the first time, then the surname."""
        if slot in self.named:
            return self.sheet[f"{slot}_last"]
        if f"{slot}_last" in self.sheet:
            self.named.add(slot)
        return self.sheet[slot]


def _with_article(match: re.Match[str]) -> str:
    """`a` or `an`, depending on the next word; capitalised if it was."""
    right = with_article(match[2])
    return sentence_case(right) if match[1] == "A" else right


# --- fact sheets -----------------------------------------------------------------------------------------------

_SMALL = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
_FORMS = {"she": ("she", "her", "her"), "he": ("he", "his", "him")}


def serial_name(number: int, kind: str) -> str:
    """The invented name of the `number`-th subject of a kind; names repeat only after all have been used.

    A name splits in only one way into head (one vowel, final consonant), heart (vowel, consonant) and ending (initial
    consonant), and a step that is coprime to the number of names visits all of them.
    """
    names = word_lists("articles")["names"]
    heads, hearts, endings = names["heads"], names["hearts"], names["endings"][kind]
    size = len(heads) * len(hearts) * len(endings)
    step = next(step for step in range(int(size * 0.618), size) if gcd(step, size) == 1)
    rest, head = divmod(number * step % size, len(heads))
    rest, heart = divmod(rest, len(hearts))
    return heads[head] + hearts[heart] + endings[rest]


def fact_sheet(facts: Mapping[str, Any], known: Mapping[str, str], rng: random.Random) -> dict[str, str]:
    """All slots of a subject, including those of `known`."""
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
            return {key: _unused(word_lists("articles")["names"][sheet["he"]], sheet, rng)}
        case {"person": who}:
            return _person(key, who, sheet, rng)
    raise ValueError(f"fact {key!r} is {entry!r}, expected one of the forms told in articles.py; mend articles.toml")


def _number(value: int) -> str:
    return _SMALL[value] if value <= 12 else f"{value:,}"


def _new_name(kind: str, sheet: Mapping[str, str], rng: random.Random) -> str:
    """A name whose beginning does not occur in the sheet."""
    names = word_lists("articles")["names"]
    head = _unused(names["heads"], sheet, rng)
    return head + rng.choice(names["hearts"]) + rng.choice(names["endings"][kind])


def _unused(choices: Sequence[str], sheet: Mapping[str, str], rng: random.Random) -> str:
    """One of the choices that does not occur in the sheet."""
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
    first = _unused(word_lists("articles")["names"][who], sheet, rng)
    return {key: f"{first} {surname}", f"{key}_last": surname, **forms}

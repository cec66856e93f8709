"""Encyclopaedic articles with sections, the raw material of thematic triplets: an endless stream from a seed.

Out: units of one row, `{"title", "split", "sections": [{"title", "level", "top", "paragraphs"}]}`; the first section is
the lead (title "", level 1). **All subjects are invented**, so that nothing false is said about anything real: no such
town, bird or engineer exists, and any likeness of a name is chance.

An article is a fact sheet told by themes. A theme is a list of paragraphs, each about one side of it,
with several first sentences and sentences that may follow; an article takes some paragraphs of some themes, in order.
So the paragraphs of a section share their theme and few of its words, while the proper names recur in all sections:
what has to be learned is which words belong together.

A fact sheet is everything an article is sure of before its first sentence is written, slot -> text, drawn once from the
`facts` of a kind (`words/articles.toml`), so that sentences agree with each other: one founder, dates in order.
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
    """One article a unit, the kinds of subject in turn."""
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
    """Theme -> titles and paragraphs, from all files that hold themes."""
    files = word_lists("articles")["themes"]
    return {name: theme for file in files for name, theme in word_lists(f"articles_{file}").items()}


def _section(title: str, paragraphs: list[str]) -> Row:
    return {"title": title, "level": 2 if title else 1, "top": title, "paragraphs": paragraphs}


def _usable(part: Mapping[str, Any], sheet: Mapping[str, str]) -> bool:
    return part.get("needs", "title") in sheet


def _outline(plan: Mapping[str, Any], sheet: Mapping[str, str], rng: random.Random) -> list[str]:
    """Five to nine themes of a kind, in the order of the kind."""
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
    """Lists that end an article, such as "See also" or "References"."""
    extras = word_lists("articles")["extras"]
    writer = _Writer(fact_sheet(extras["facts"], sheet, rng), rng)
    chosen = rng.sample(range(len(extras["sections"])), rng.randint(1, 3))
    parts = [extras["sections"][place] for place in sorted(chosen)]
    return [_section(rng.choice(part["titles"]), [writer.sentence(line) for line in part["lines"]]) for part in parts]


class _Writer:
    """Turns the patterns of one article into sentences and remembers who has been named in full."""

    def __init__(self, sheet: Mapping[str, str], rng: random.Random) -> None:
        self.sheet, self.rng = sheet, rng
        self.training = hashed_split(sheet["title"]) == "train"
        self.named: set[str] = set()

    def paragraph(self, part: Mapping[str, Any], *, lead: bool = False) -> str:
        """One first sentence and one to four that follow, in their order.

        Every third first sentence is kept for dev and test, so that no opening is learned by heart and then asked for.
        A lead may take any, and never leaves out the sentence that introduces the people.
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
        """The text of a slot; a person's full name only the first time."""
        if slot in self.named:
            return self.sheet[f"{slot}_last"]
        if f"{slot}_last" in self.sheet:
            self.named.add(slot)
        return self.sheet[slot]


def _with_article(match: re.Match[str]) -> str:
    """`a` or `an` as the word behind it asks, large if it was."""
    right = with_article(match[2])
    return sentence_case(right) if match[1] == "A" else right


# --- fact sheets -----------------------------------------------------------------------------------------------

_SMALL = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
_FORMS = {"she": ("she", "her", "her"), "he": ("he", "his", "him")}


def serial_name(number: int, kind: str) -> str:
    """The invented name of the `number`-th subject of a kind; none comes twice before all have come once.

    Head (one vowel, closed by a consonant), heart (vowel, consonant) and ending (from a consonant on) can be told
    apart in only one way, and a step that is prime to the number of names visits all of them.
    """
    names = word_lists("articles")["names"]
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
            return {key: _unused(word_lists("articles")["names"][sheet["he"]], sheet, rng)}
        case {"person": who}:
            return _person(key, who, sheet, rng)
    raise ValueError(f"fact {key!r} is {entry!r}, expected one of the forms told in articles.py; mend articles.toml")


def _number(value: int) -> str:
    return _SMALL[value] if value <= 12 else f"{value:,}"


def _new_name(kind: str, sheet: Mapping[str, str], rng: random.Random) -> str:
    """A name that begins unlike every other name of the sheet."""
    names = word_lists("articles")["names"]
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
    first = _unused(word_lists("articles")["names"][who], sheet, rng)
    return {key: f"{first} {surname}", f"{key}_last": surname, **forms}

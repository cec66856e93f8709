"""Captions of scenes, five for each scene, as if by five people.

A unit is one scene: five rows {group, text, split}, all true of it. A scene is a record of who is seen, how many, their
looks, activity, object, place, time and surroundings; an activity allows only values that fit it. A caption fills one
sentence pattern with some of these facts, in general or specific words, with or without a colour. The patterns come
from five different families (active, passive, "there is", the event, the background, ...), so the captions of a scene
differ in structure as well as in words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import count, product
from math import gcd
from random import Random
from typing import Any

from .language import (
    Row,
    gerund,
    hashed,
    plural,
    plural_phrase,
    sentence_case,
    with_article,
    word_lists,
)

SEED = 3
UNITS = 1000
CAPTIONS = 5
LONGEST = 20  # words in a caption
TRIES = 100  # draws until a caption is short enough and repeats no long word

SHARES = {"people": 3, "animals": 2, "vehicles": 2, "things": 2}  # scenes per activity in each round
SPLITS = ("train",) * 7 + ("dev",) + ("test",) * 2
OPTIONAL = ("done", "event", "role", "vague", "has")  # families for which only some activities have words
ONE = {"are": "is", "have": "has", "enjoys": "enjoys"}
MANY = {"are": "are", "have": "have", "enjoys": "enjoy"}
NOTHING = {"names": [""], "number": "mass"}
_LONG_WORD = re.compile(r"\w{4,}")


@dataclass(frozen=True)
class Scene:
    """What is seen, as keys of the word lists; "" if a scene has no such thing."""

    kind: str
    activity: str
    who: str
    number: str  # one, two, three, four, many
    look: str  # the colour of the clothes, or how the animal, vehicle or thing looks
    place: str
    wear: str
    object_look: str
    behind: int  # index of the thing in the background
    when: str

    @property
    def core(self) -> tuple[str, str, str, str]:
        """The values that, with the activity, determine the split."""
        return self.who, self.number, self.look, self.place


def units(seed: int) -> Iterator[list[Row]]:
    """Endless scenes, each as five rows."""
    for index, seen in enumerate(scenes(seed), 1):
        random = Random(hashed("captions", seed, index))
        split = split_of(seen.activity, seen.core)
        chosen = random.sample(families(seen.kind, seen.activity), CAPTIONS)
        texts = [caption(seen, family, random) for family in chosen]
        yield [{"group": f"scene-{index:04}", "text": text, "split": split} for text in texts]


def split_of(activity: str, core: tuple[str, str, str, str]) -> str:
    """The split of all scenes with this core."""
    return SPLITS[hashed("captions", activity, *core) % len(SPLITS)]


def scenes(seed: int) -> Iterator[Scene]:
    """Scenes in rounds; each round visits all activities in a new order.

    An activity goes through all its cores (who, number, look, place) before any repeats: no two of the first 1000
    scenes share one. As the core also determines the split, a scene is never in two splits.
    """
    lists = word_lists("captions")
    for turn in count():
        order = [(kind, act, turn * n + i) for kind, n in SHARES.items() for act in lists[kind] for i in range(n)]
        Random(hashed("captions", seed, "round", turn)).shuffle(order)
        for kind, activity, step in order:
            yield _scene(kind, activity, step, seed)


def _scene(kind: str, activity: str, step: int, seed: int) -> Scene:
    cores = _cores(kind, activity)
    stride = next(n for n in count(len(cores) * 5 // 8 + 1) if gcd(n, len(cores)) == 1)
    core = cores[(hashed("captions", seed, activity) + step * stride) % len(cores)]
    return scene_with(kind, activity, core, Random(hashed("captions", seed, activity, step)))


def scene_with(kind: str, activity: str, core: tuple[str, str, str, str], random: Random) -> Scene:
    """A scene with this core; everything else is drawn at random."""
    facts, there = word_lists("captions")[kind][activity], word_lists("captions")["place"][core[3]]
    wear = random.choice(facts.get("wear", [""]))
    object_look = random.choice(facts.get("object", {}).get("looks", [""]))
    behind = random.randrange(len(there["behind"]))
    when = random.choice([when for when in there["when"] if when in facts.get("when", there["when"])])
    return Scene(kind, activity, *core, wear, object_look, behind, when)


@cache
def _cores(kind: str, activity: str) -> list[tuple[str, str, str, str]]:
    """Every (who, number, look, place) that fits the activity; for example, a couple is always two."""
    lists = word_lists("captions")
    facts = lists[kind][activity]
    cores: list[tuple[str, str, str, str]] = []
    for who in dict.fromkeys(who for name in facts["who"] for who in lists["casts"].get(name, [name])):
        numbers = [n for n in facts["count"] if n in lists["who"][who].get("count", facts["count"])]
        cores += product([who], numbers, lists["who"][who].get("looks", lists["clothes"]), facts["places"])
    return cores


@cache
def families(kind: str, activity: str) -> list[str]:
    """The families of patterns for which an activity has words."""
    lists = word_lists("captions")
    return [name for name in lists["patterns"][kind] if name not in OPTIONAL or name in lists[kind][activity]]


def caption(seen: Scene, family: str, random: Random) -> str:
    """A sentence of a family about a scene, redrawn if it is too long or repeats a long word."""
    for _ in range(TRIES):
        text = _caption(seen, family, random)
        said = [word.rstrip("s") for word in _LONG_WORD.findall(text)]
        if text.count(" ") < LONGEST and len(set(said)) == len(said):
            break
    return sentence_case(text) + "."


def _caption(seen: Scene, family: str, random: Random) -> str:
    lists = word_lists("captions")
    facts, place, when = lists[seen.kind][seen.activity], lists["place"][seen.place], lists["when"][seen.when]
    who, who_full, many, their = _subject(seen, family, random)
    thing, things = _object(seen.object_look, facts.get("object", NOTHING), many, random)
    behind = random.choice(place["behind"][seen.behind])
    around = random.choice(lists["around"]["indoors" if place.get("indoors") else "outdoors"])
    slots = {
        key: random.choice(facts.get(key, ["be"])).format(object=thing, their=their)
        for key in ("does", "vague", "done", "event", "has")
    }
    slots["does"], slots["doing"] = _verb(slots["does"], many)
    slots["vague"], slots["vaguely"] = _verb(slots["vague"], many)
    slots |= {"who": who, "who_full": who_full, "be": _is(who), **(MANY if many else ONE)}
    slots |= {"object": thing, "object_is": "are" if things else "is", "where": random.choice(place["at"])}
    slots |= {"behind": behind, "behind_is": _is(behind), "before": around.format(behind=behind)}
    slots |= {"when": random.choice(when["phrases"]), "weather": random.choice(when["clauses"])}
    return random.choice(lists["patterns"][seen.kind][family]).format(**slots)


def _subject(seen: Scene, family: str, random: Random) -> tuple[str, str, bool, str]:
    """The subject without and with its look, whether it is plural, and its possessive."""
    lists = word_lists("captions")
    who, number = lists["who"][seen.who], seen.number
    if "together" in who and family != "role" and random.random() < 0.15:  # leave the second person out
        who, number = lists["who"][random.choice(who["apart"])], "one"
    many = number != "one"
    names = who.get("together") or who["names"]
    if family == "role":
        names = lists[seen.kind][seen.activity]["role"]
    elif random.random() < 0.25:
        names = who.get("above", names)
    name = random.choice(names)
    look = random.choice(lists["looks"].get(seen.look, [seen.look]))
    their = "their" if many else who.get("their", "its")
    before, after = look + " ", ""
    if seen.wear:
        worn = lists["wear"][seen.wear]
        piece = _counted("", before + random.choice(worn["names"]), many)
        before, after = "", " " + random.choice(lists["worn"][worn["said"]]).format(wear=piece, colour=look)
    elif "after" in who and random.random() < 0.4:
        before, after = "", f" {who['after'].format(look=look)}"
    if name in who.get("together", []):
        return name, name + after, many, their
    amount = random.choice(who.get(number) or lists["numbers"][seen.kind].get(number, [""]))
    return _counted(amount, name, many), _counted(amount, before + name, many) + after, many, their


def _object(look: str, thing: dict[str, Any], many: bool, random: Random) -> tuple[str, bool]:
    """The object of the activity, with or without its look, and whether it is plural."""
    name = random.choice(thing["names"])
    if look and random.random() < 0.5:
        name = f"{random.choice(word_lists('captions')['looks'].get(look, [look]))} {name}"
    if thing["number"] in ("bare", "mass"):
        return name, thing["number"] == "bare"
    several = many and thing["number"] == "each"
    return _counted("", name, several), several


@cache
def _counted(amount: str, name: str, many: bool) -> str:
    """The noun with its article, or its plural: `a bowl of fruit`, `two bowls of fruit`, `red coats`."""
    if not many:
        return with_article(name)
    return f"{amount} {plural_phrase(name, word_lists('captions')['plurals'])}".strip()


def _is(noun: str) -> str:
    """The verb after a noun: `is` for a man or a group of men; `are` for men, a couple of men or a number of men."""
    return "is" if re.match(r"an? (?!(?:couple|number) of )", noun) else "are"


@cache
def _verb(phrase: str, many: bool) -> tuple[str, str]:
    """The finite form and the participle of a verb phrase: `rides a bike`, `riding a bike`."""
    verb, space, rest = phrase.partition(" ")
    finite = {"have": "has", "do": "does", "go": "goes"}.get(verb) or plural(verb)  # spelled like the plural of a noun
    return (verb if many else finite) + space + rest, gerund(phrase)

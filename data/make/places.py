"""Records of places, two to six for each place, as different people and maps would write them.

The rows are `text, label, split, name, address, latitude, longitude`; `labkit.corpora.places` makes `text` from the
last four. A unit is one place. Five places form a quarter; four of them are easily confused with the first:

    neighbour   another shop in the same building               address and position do not distinguish them
    branch      the same chain, further on or a street away     the name does not
    namesake    the same name in the region's other town        nor does, half the time, the street
    double      nearly the same name, a few doors on            each part is similar, none is equal

No two quarters share a house number of a street, so different places are never equal by accident; and a quarter is in
one split. Every record identifies its place: without a house number it names the kind of shop and the branch.

A place is a set of numbers, which a `Hand` writes as a record. Each region has three hands (its own script, romanised,
English), whose lists name the same things in the same order.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import count
from typing import Any

from labkit.corpora.places import place_text

from .language import Row, word_lists

SEED = 242
UNITS = 700

COLUMNS = ("text", "label", "split", "name", "address", "latitude", "longitude")
SPLITS = ("train",) * 6 + ("dev",) + ("test",) * 3
QUARTER = 5  # places
STRETCH = 16  # house numbers reserved for a quarter
STRETCHES = 12  # on a street before it is extended; coprime to 5, the step from one lap to the next
HOUSE = 10.0  # metres from one house number to the next
DEGREE = 111_195.0  # metres in a degree of latitude
STATION = 1  # index of this branch and this landmark; no other place is described as near it
FULL_WIDTH = str.maketrans("0123456789-", "０１２３４５６７８９－")


@dataclass(frozen=True)
class Habits:
    """The probabilities of the ways to write a record."""

    romanised: float = 0.2  # word for word in Latin letters; without accents if the script is Latin
    english: float = 0.25
    bare: float = 0.12  # without the kind of shop
    branch: float = 0.65
    floor: float = 0.6
    numberless: float = 0.18  # with a landmark instead
    townless: float = 0.2
    abbreviated: float = 0.45
    typo: float = 0.25
    lower: float = 0.12
    upper: float = 0.1
    wide: float = 0.15


HABITS = Habits()


@dataclass(frozen=True)
class Place:
    """The facts of a place: indices into the lists of a `Hand`, and its position."""

    region: int
    town: int
    street: int
    house: int
    proper: int
    kind: int
    branch: int | None
    floor: int | None
    landmark: int
    latitude: float
    longitude: float


def units(seed: int) -> Iterator[list[Row]]:
    """Endless places, each as the rows of its records: the regions in turn, street by street."""
    shuffle = random.Random(seed).shuffle
    by_region = [
        [(region, town, street) for town in range(len(own.towns)) for street in range(len(own.streets))]
        for region, (own, *_) in enumerate(hands())
    ]
    for streets_of_one in by_region:
        shuffle(streets_of_one)
    streets: list[tuple[int, int, int]] = [street for turn in zip(*by_region, strict=True) for street in turn]
    for quarter in count():
        rng = random.Random(seed * 1_000_003 + quarter)
        lap, turn = divmod(quarter, len(streets))
        split = rng.choice(SPLITS)
        neighbourhood = _quarter(rng, *streets[turn], first_house(lap, turn))
        for number, place in enumerate(neighbourhood, 1 + quarter * QUARTER):
            yield _records(rng, place, f"place-{number:05}", split)


def first_house(lap: int, turn: int) -> int:
    """The first house number of a quarter; each lap through all streets uses another stretch of every street."""
    longer, stretch = divmod(lap, STRETCHES)
    return 1 + STRETCH * (longer * STRETCHES + 5 * (stretch + turn + turn // STRETCHES) % STRETCHES)


# --- places ----------------------------------------------------------------------------------------------------


def _quarter(rng: random.Random, region: int, town: int, street: int, first: int) -> list[Place]:
    """The first place and the four easily confused with it, within the house numbers `first` to `first + 15`."""
    own = hands()[region][0]
    propers, kinds, towns, streets = map(len, (own.propers, own.kinds, own.towns, own.streets))

    def at(town: int, street: int, house: int) -> dict[str, Any]:
        latitude, longitude = position(region, town, street, house)
        floor, landmark = rng.choice((None, None, 0, 1, 2, 3)), rng.choice((0, 2, 3))
        spot = {"town": town, "street": street, "house": house, "floor": floor, "landmark": landmark}
        return spot | {"latitude": latitude, "longitude": longitude}

    house = first + rng.randrange(4)
    here = at(town, street, house)
    base = Place(region=region, proper=rng.randrange(propers), kind=rng.randrange(kinds), branch=0, **here)
    proper = (base.proper + rng.randrange(2, propers - 1, 2)) % propers  # not of the same pair
    kind = (base.kind + rng.randrange(1, kinds)) % kinds
    storey = rng.choice([floor for floor in (None, 0, 1, 2, 3) if floor != base.floor])
    neighbour = replace(base, proper=proper, kind=kind, branch=None, floor=storey)
    near = (street, first + 15) if rng.random() < 0.5 else ((street + 1) % streets, first + 12)
    branch = replace(base, branch=rng.randrange(1, 4), **at(town, *near))
    if branch.branch == STATION:
        branch = replace(branch, landmark=STATION)
    far = (street, first + 8) if rng.random() < 0.5 else ((street + 7) % streets, first + 9)
    namesake = replace(base, branch=None, **at((town + 1) % towns, *far))
    like = replace(base, proper=base.proper ^ 1) if rng.random() < 0.5 else replace(base, kind=kind)
    doors_on = at(town, street, house + rng.randrange(2, 5)) | {"landmark": base.landmark}
    return [base, neighbour, branch, namesake, replace(like, branch=None, **doors_on)]


def position(region: int, town: int, street: int, house: int) -> tuple[float, float]:
    """The position of a house. Streets start on a spiral around the centre of the town, each in its own direction."""
    latitude, longitude = word_lists("places")["region"][region]["centres"][town]
    turn, radius, along = 2.4 * street, 250.0 * math.sqrt(street + 1), HOUSE * house
    north = radius * math.sin(turn) + along * math.sin(turn + 1.2)
    east = radius * math.cos(turn) + along * math.cos(turn + 1.2)
    return _moved(latitude, longitude, north, east)


def _moved(latitude: float, longitude: float, north: float, east: float) -> tuple[float, float]:
    """The position that is `north` and `east` metres away."""
    return latitude + north / DEGREE, longitude + east / (DEGREE * math.cos(math.radians(latitude)))


# --- records ---------------------------------------------------------------------------------------------------


def _records(rng: random.Random, place: Place, label: str, split: str) -> list[Row]:
    """Two to six rows of one place, with different texts."""
    rows: dict[str, Row] = {}
    wanted = rng.randrange(2, 7)
    while len(rows) < wanted:
        name, address = _written(rng, place)
        away, turn = rng.uniform(5, 60), rng.uniform(0, 2 * math.pi)
        moved = _moved(place.latitude, place.longitude, away * math.sin(turn), away * math.cos(turn))
        latitude, longitude = round(moved[0], 6), round(moved[1], 6)
        text = place_text(address, name, latitude, longitude)
        rows[text] = dict(zip(COLUMNS, (text, label, split, name, address, latitude, longitude), strict=True))
    return list(rows.values())


def _written(rng: random.Random, place: Place) -> tuple[str, str]:
    """Name and address, written by a random hand."""
    own, romanised, english = hands()[place.region]
    draw = rng.random() - HABITS.romanised
    hand = romanised if draw < 0 else english if draw < HABITS.english else own
    numbered = rng.random() >= HABITS.numberless
    name, address = _name(rng, hand, place, numbered), _address(rng, hand, place, numbered)
    if not hand.wide and rng.random() < HABITS.typo:
        name, address = (_slip(rng, name), address) if rng.random() < 0.5 else (name, _slip(rng, address))
    case = rng.random() - HABITS.lower if hand.cased else 1.0
    if case < 0:
        return name.lower(), address.lower()
    return name.upper() if case < HABITS.upper else name, address


def _name(rng: random.Random, hand: Hand, place: Place, numbered: bool) -> str:
    """The name; the kind of shop and the branch can be omitted only if the house number is given."""
    name = rng.choice(hand.propers[place.proper])
    if not numbered or rng.random() >= HABITS.bare:
        name = rng.choice(hand.names).format(proper=name, kind=rng.choice(hand.kinds[place.kind]))
    if place.branch is not None and (not numbered or rng.random() < HABITS.branch):
        return rng.choice(hand.branched).format(name=name, branch=rng.choice(hand.branches[place.branch]))
    return name


def _address(rng: random.Random, hand: Hand, place: Place, numbered: bool) -> str:
    """Street with house number or landmark, floor and town, in the order of the hand; parts may be omitted."""
    street = hand.streets[place.street][rng.random() < HABITS.abbreviated]
    if numbered:
        line = rng.choice(hand.lines).format(street=street, n=place.house, **_blocks(place.house))
    else:
        line = street + hand.aside.format(rng.choice(hand.landmarks[place.landmark]))
    town_glue, floor_glue = rng.choice(hand.glues)
    if place.floor is not None and rng.random() < HABITS.floor:
        line += floor_glue + rng.choice(hand.floors[place.floor])
    if rng.random() >= HABITS.townless:
        town = rng.choice(hand.towns[place.town])
        line = town + town_glue + line if rng.random() < hand.town_first else line + town_glue + town
    return line.translate(FULL_WIDTH) if hand.wide and rng.random() < HABITS.wide else line


def _blocks(house: int) -> dict[str, int]:
    """A house number in the Japanese form: a district has six blocks of eight houses."""
    block, go = divmod(house - 1, 8)
    return {"chome": block // 6 + 1, "ban": block % 6 + 1, "go": go + 1}


def _slip(rng: random.Random, text: str) -> str:
    """The text with a typing error inside a longer word: two letters swapped, one omitted or one doubled."""
    places = [i for i in range(1, len(text) - 3) if text[i - 1 : i + 4].isalpha()]
    if not places:
        return text
    at = rng.choice(places)
    a, b = text[at], text[at + 1]
    return text[:at] + rng.choice((b + a, b, a + a + b)) + text[at + 2 :]


# --- hands -----------------------------------------------------------------------------------------------------

Variants = tuple[tuple[str, ...], ...]  # index of a thing -> the ways to say it


@dataclass(frozen=True)
class Hand:
    """One way to write the places of a region: in its own script, romanised, or in English."""

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
    town_first: float  # probability
    cased: bool  # whether str.upper and str.lower are correct
    wide: bool  # whether digits may be full-width, as in scripts of ideographs or syllables


@cache
def hands() -> tuple[tuple[Hand, Hand, Hand], ...]:
    """The three hands of each region: its own, the romanised and the English one."""
    return tuple((_hand(r, 0), _hand(r, 1), _hand(r, 2)) for r in word_lists("places")["region"])


def _hand(region: dict[str, Any], which: int) -> Hand:
    """Hand number `which` of a region, from the terms "native|romanised|English" of its lists."""
    english, latin, marked = (word_lists("places")[part] for part in ("english", "latin", "plain"))
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
    if which == 2:  # the region's own English words if it has any, otherwise those shared by all regions
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

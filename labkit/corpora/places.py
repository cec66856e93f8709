"""Places, each noted down two to six times, as by different people and maps: which records are of one place?

Leaves: rows `text, label, split, name, address, latitude, longitude`; `text` is what `labkit.corpora.location` makes of
the other columns. A unit is one place. Five places make a quarter, and each is there to be mistaken for the first:

    neighbour   another shop in the same building        position and address do not tell them apart
    branch      the same chain further on, or a street away      the name does not
    namesake    the same name in the region's other town         nor the street name
    double      nearly the same name, a few doors on             nothing does alone

No two quarters share a house number of a street, so two places are never one by accident, and a whole quarter lies in
one split. A record says enough to know its place by: without a house number it names the branch (where there is one), and
name and kind of shop are never missing together with the number.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import count
from typing import Any

from labkit.corpora.language import words
from labkit.corpora.location import place_text

Row = dict[str, Any]
Variants = tuple[tuple[str, ...], ...]  # thing number -> the ways to say it
SEED = 7
UNITS = 700

QUARTER = 5  # places
STRETCH = 16  # house numbers a quarter has to itself
STRETCHES = 12  # of a street, before it grows longer; the step of 5 between quarters is coprime to it
HOUSE = 10.0  # metres from one house number to the next
METRES = 111_195.0  # in a degree of latitude
SPLITS = ("train",) * 6 + ("dev",) + ("test",) * 3
FULL_WIDTH = str.maketrans("0123456789-", "０１２３４５６７８９－")


@dataclass(frozen=True)
class Habits:
    """How often a record does what, 0 to 1."""

    romanised: float = 0.2  # in Latin letters, word for word; where they are Latin already, without accents
    english: float = 0.25
    bare: float = 0.12  # without the kind of shop
    branch: float = 0.65
    floor: float = 0.6
    numberless: float = 0.18  # by a landmark instead
    townless: float = 0.2
    abbreviated: float = 0.45
    typo: float = 0.3
    lower: float = 0.12
    upper: float = 0.1
    wide: float = 0.15


HABITS = Habits()


@dataclass(frozen=True)
class Hand:
    """One way to write the places of a region: its own, romanised, or English. What a place holds is numbers of these."""

    towns: Variants
    streets: Variants  # in full, abbreviated
    propers: Variants
    kinds: Variants
    branches: Variants
    floors: Variants
    landmarks: Variants
    names: tuple[str, ...]
    branched: tuple[str, ...]
    lines: tuple[str, ...]
    glues: tuple[tuple[str, str], ...]
    aside: str
    town_first: float
    cased: bool
    wide: bool


@dataclass(frozen=True)
class Place:
    """What is true of a place; all but the position are numbers of words in a `Hand`."""

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
    """Places without end, each as the rows of its records."""
    streets = [
        (region, town, street)
        for region, (own, *_) in enumerate(hands())
        for town in range(len(own.towns))
        for street in range(len(own.streets))
    ]
    random.Random(seed).shuffle(streets)
    for quarter in count():
        rng = random.Random(seed * 1_000_003 + quarter)
        lap, turn = divmod(quarter, len(streets))
        longer, stretch = divmod(lap, STRETCHES)
        first = 1 + STRETCH * (longer * STRETCHES + (5 * stretch + turn) % STRETCHES)
        split = rng.choice(SPLITS)
        for number, place in enumerate(_quarter(rng, *streets[turn], first), 1 + quarter * QUARTER):
            yield _records(rng, place, f"place-{number:05}", split)


# --- places ----------------------------------------------------------------------------------------------------


def _quarter(rng: random.Random, region: int, town: int, street: int, first: int) -> list[Place]:
    """The first place and those that one takes for it. House numbers from `first` to `first + 15` are theirs."""
    hand = hands()[region][0]
    names, kinds, towns, streets = len(hand.propers), len(hand.kinds), len(hand.towns), len(hand.streets)

    def somewhere(town: int, street: int, house: int) -> dict[str, Any]:
        latitude, longitude = position(region, town, street, house)
        return {"town": town, "street": street, "house": house, "latitude": latitude, "longitude": longitude} | {
            "floor": rng.choice((None, None, 0, 1, 2, 3)),
            "landmark": rng.randrange(len(hand.landmarks)),
        }

    here = somewhere(town, street, first + 2)
    base = Place(region=region, proper=rng.randrange(names), kind=rng.randrange(kinds), branch=0, **here)
    another = {
        "proper": (base.proper + rng.randrange(2, names - 1, 2)) % names,
        "kind": (base.kind + rng.randrange(1, kinds)) % kinds,
        "branch": None,
    }
    neighbour = replace(base, **another, floor=rng.choice([f for f in (None, 0, 1, 2, 3) if f != base.floor]))
    near = (street, first + 15) if rng.random() < 0.5 else ((street + 1) % streets, first + 12)
    branch = replace(base, branch=rng.randrange(1, 4), **somewhere(town, *near))
    far = (street, first + 8) if rng.random() < 0.5 else ((street + 7) % streets, first + 9)
    namesake = replace(base, branch=None, **somewhere((town + 1) % towns, *far))
    doors_on = somewhere(town, street, first + rng.randrange(4, 7)) | {"landmark": base.landmark, "branch": None}
    resembling = {"proper": base.proper ^ 1} if rng.random() < 0.5 else {"kind": another["kind"]}
    return [base, neighbour, branch, namesake, replace(base, **doors_on, **resembling)]


def position(region: int, town: int, street: int, house: int) -> tuple[float, float]:
    """Where a house stands: streets set out from points on a spiral around the centre, each in its own direction."""
    latitude, longitude = words("places")["region"][region]["centres"][town]
    turn, radius, along = 2.4 * street, 250.0 * math.sqrt(street + 1), HOUSE * house
    north = radius * math.sin(turn) + along * math.sin(turn + 1.2)
    east = radius * math.cos(turn) + along * math.cos(turn + 1.2)
    return _moved(latitude, longitude, north, east)


def _moved(latitude: float, longitude: float, north: float, east: float) -> tuple[float, float]:
    """A position some metres away."""
    return latitude + north / METRES, longitude + east / (METRES * math.cos(math.radians(latitude)))


# --- records ---------------------------------------------------------------------------------------------------


def _records(rng: random.Random, place: Place, label: str, split: str) -> list[Row]:
    """Two to six rows of one place, no two of them the same text."""
    rows: dict[str, Row] = {}
    wanted = rng.randrange(2, 7)
    while len(rows) < wanted:
        name, address = _written(rng, place)
        away, turn = rng.uniform(5, 60), rng.uniform(0, 2 * math.pi)
        moved = _moved(place.latitude, place.longitude, away * math.sin(turn), away * math.cos(turn))
        latitude, longitude = (round(degrees, 6) for degrees in moved)
        text = place_text(address, name, latitude, longitude)
        rows[text] = {
            "text": text,
            "label": label,
            "split": split,
            "name": name,
            "address": address,
            "latitude": latitude,
            "longitude": longitude,
        }
    return list(rows.values())


def _written(rng: random.Random, place: Place) -> tuple[str, str]:
    """Name and address as one hand puts them down."""
    own, romanised, english = hands()[place.region]
    draw = rng.random() - HABITS.romanised
    hand = romanised if draw < 0 else english if draw < HABITS.english else own
    numbered = rng.random() >= HABITS.numberless
    name, address = _name(rng, hand, place, numbered), _address(rng, hand, place, numbered)
    if hand.cased:
        if rng.random() < HABITS.typo:
            name, address = (_slip(rng, name), address) if rng.random() < 0.5 else (name, _slip(rng, address))
        habit = rng.random() - HABITS.lower
        if habit < 0:
            name, address = name.lower(), address.lower()
        elif habit < HABITS.upper:
            name = name.upper()
    return name, address


def _name(rng: random.Random, hand: Hand, place: Place, numbered: bool) -> str:
    """Its name; without the kind of shop only where the house number is given."""
    name = rng.choice(hand.propers[place.proper])
    if not numbered or rng.random() >= HABITS.bare:
        name = rng.choice(hand.names).format(proper=name, kind=rng.choice(hand.kinds[place.kind]))
    if place.branch is not None and (not numbered or rng.random() < HABITS.branch):
        return rng.choice(hand.branched).format(name=name, branch=rng.choice(hand.branches[place.branch]))
    return name


def _address(rng: random.Random, hand: Hand, place: Place, numbered: bool) -> str:
    """Street and number or landmark, the floor, the town; whatever is left out or exchanged."""
    full, short = hand.streets[place.street]
    street = short if rng.random() < HABITS.abbreviated else full
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
    """A house number as a Japanese address counts: district, block, house, six blocks of eight houses to a district."""
    block, go = divmod(house - 1, 8)
    return {"chome": block // 6 + 1, "ban": block % 6 + 1, "go": go + 1}


def _slip(rng: random.Random, text: str) -> str:
    """A slip of the fingers inside a word of five letters or more: two exchanged, one left out or twice."""
    found = [i for i in range(1, len(text) - 3) if text[i - 1 : i + 4].isalpha()]
    if not found:
        return text
    at = rng.choice(found)
    a, b = text[at], text[at + 1]
    return text[:at] + rng.choice((b + a, b, a + a + b)) + text[at + 2 :]


# --- hands -----------------------------------------------------------------------------------------------------


@cache
def hands() -> tuple[tuple[Hand, Hand, Hand], ...]:
    """For each region its own hand, the romanised one and the English one."""
    return tuple((_hand(r, 0), _hand(r, 1), _hand(r, 2)) for r in words("places")["region"])


def _hand(region: dict[str, Any], which: int) -> Hand:
    """The words of a region as its hand number `which` writes them."""
    english, latin = words("places")["english"], words("places")["latin"]
    plain = str.maketrans({c: a for a, marked in words("places")["plain"].items() for c in marked} | region.get("plain", {}))
    foreign = region if which == 0 else latin

    def said(term: str) -> str:
        native, *others = term.split("|")
        romanised = (others[:1] or [""])[0] or native.translate(plain)
        return (native, romanised, (others[1:] or [romanised])[0])[which]

    def variants(entries: Sequence[str | list[str]]) -> Variants:
        return tuple(tuple(map(said, [entry] if isinstance(entry, str) else entry)) for entry in entries)

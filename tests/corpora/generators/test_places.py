"""Places: the same from the same seed, labels that hold against the words themselves, hard but not hopeless."""

from __future__ import annotations

import csv
import io
import math
import re
import tracemalloc
import unicodedata
from collections import defaultdict
from collections.abc import Callable
from dataclasses import fields, replace
from functools import cache
from itertools import combinations, islice, pairwise
from typing import Any

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from labkit.corpora.generators import places
from labkit.corpora.generators.language import word_lists
from labkit.corpora.generators.places import HABITS, SEED, UNITS, Row, first_house, hands, units
from labkit.corpora.places import place_text, s2_code

REGIONS = word_lists("places")["region"]
CENTRES = [(region, town, centre) for region, data in enumerate(REGIONS) for town, centre in enumerate(data["centres"])]
CLEAN = replace(HABITS, typo=0, lower=0, upper=0, wide=0)


def taken(seed: int, count: int) -> list[list[Row]]:
    return list(islice(units(seed), count))


@pytest.fixture(scope="module")
def committed() -> list[list[Row]]:
    return taken(SEED, UNITS)


@pytest.fixture(scope="module")
def rows(committed: list[list[Row]]) -> list[Row]:
    return [row for unit in committed for row in unit]


def metres(a: Row, b: Row) -> float:
    north, east = a["latitude"] - b["latitude"], a["longitude"] - b["longitude"]
    return math.hypot(north, east * math.cos(math.radians(a["latitude"]))) * 111_195


def town_of(row: Row) -> tuple[int, int]:
    """Region and town of the nearest centre."""
    here = [(math.dist((row["latitude"], row["longitude"]), centre), region, town) for region, town, centre in CENTRES]
    return min(here)[1:]


@cache
def ways(region: int, things: str) -> list[tuple[str, int]]:
    """Every way any hand of the region says one of these things, with its number, the longest first."""
    found = [
        (phrase, number)
        for hand in hands()[region]
        for number, phrases in enumerate(getattr(hand, things))
        for phrase in phrases
    ]
    return sorted(found, key=lambda way: -len(way[0]))


def without(text: str, region: int, things: str) -> tuple[str, int | None]:
    """The text less the longest way to say one of the things, and the number of that thing."""
    for phrase, number in ways(region, things):
        if phrase in text:
            return text.replace(phrase, "", 1), number
    return text, None


def read(row: Row) -> dict[str, Any]:
    """What a record without slips says, found in it by the word lists alone."""
    region, town = town_of(row)
    name, proper = without(row["name"], region, "propers")
    kind = without(name, region, "kinds")[1]
    name = row["name"].rstrip(")）")
    branch = next((number for label, number in ways(region, "branches") if name.endswith(label)), None)
    address, street = without(row["address"], region, "streets")
    address, landmark = without(address, region, "landmarks")
    house = tuple(re.findall(r"\d+", without(address, region, "floors")[0]))
    where = {"region": region, "town": town, "street": street, "house": house or None, "landmark": landmark}
    return where | {"proper": proper, "kind": kind, "branch": branch}


@pytest.fixture
def clean(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, int], list[list[Row]]]:
    monkeypatch.setattr(places, "HABITS", CLEAN)
    return taken


# --- a stream --------------------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_places() -> None:
    assert taken(5, 60) == taken(5, 60)
    assert taken(5, 60)[:20] == taken(5, 20)
    assert taken(5, 20) != taken(6, 20)


@pytest.mark.whole
def test_the_stream_holds_nothing_back() -> None:
    stream = units(1)
    next(stream)
    tracemalloc.start()
    for _ in islice(stream, 300):
        pass
    before = tracemalloc.get_traced_memory()[0]
    for _ in islice(stream, 1_500):
        pass
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown < 20_000


def test_no_two_quarters_share_a_stretch_of_a_street() -> None:
    for turn in (0, 1, 11, 12, 250, 479):
        firsts = sorted(first_house(lap, turn) for lap in range(60))
        assert firsts[0] == 1
        assert all(b - a == places.STRETCH for a, b in pairwise(firsts))
    assert len({first_house(0, turn) for turn in range(0, 480, 12)}) == places.STRETCHES


def test_no_two_places_are_one_over_three_laps_of_all_streets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "_records", lambda rng, place, label, split: [vars(place) | {"label": label}])
    made = [unit[0] for unit in islice(units(2), 5 * 480 * 3)]
    assert len({place["label"] for place in made}) == len(made)
    keys = {tuple(p[part] for part in ("region", "town", "street", "house", "proper", "kind")) for p in made}
    assert len(keys) == len(made)
    doors = defaultdict(set)
    for number, p in enumerate(made):
        doors[p["region"], p["town"], p["street"], p["house"]].add(number // 5)
    assert all(len(quarters) == 1 for quarters in doors.values())


# --- the rows --------------------------------------------------------------------------------------------------


def test_the_committed_selection_has_the_size_it_should(committed: list[list[Row]], rows: list[Row]) -> None:
    assert len(committed) == UNITS
    assert 2_600 < len(rows) < 3_000
    file = io.StringIO()
    table = csv.DictWriter(file, list(rows[0]))
    table.writeheader()
    table.writerows(rows)
    assert len(file.getvalue().encode()) < 600_000


def test_a_row_has_its_columns_in_order(committed: list[list[Row]]) -> None:
    for number, unit in enumerate(committed, 1):
        assert 2 <= len(unit) <= 6
        for row in unit:
            assert list(row) == ["text", "label", "split", "name", "address", "latitude", "longitude"]
            assert row["label"] == f"place-{number:05}"
            assert row["split"] == unit[0]["split"]
            assert row["text"] == place_text(row["address"], row["name"], row["latitude"], row["longitude"])
            assert round(row["latitude"], 6) == row["latitude"]
            assert round(row["longitude"], 6) == row["longitude"]


def test_no_text_stands_twice(rows: list[Row]) -> None:
    assert len({row["text"] for row in rows}) == len(rows)


def test_splits_have_their_shares_and_part_no_quarter(committed: list[list[Row]]) -> None:
    splits = [unit[0]["split"] for unit in committed]
    shares = {split: splits.count(split) / UNITS for split in ("train", "dev", "test")}
    assert shares == pytest.approx({"train": 0.6, "dev": 0.1, "test": 0.3}, abs=0.03)
    for start in range(0, UNITS, 5):
        assert len(set(splits[start : start + 5])) == 1
    for split in ("train", "test"):
        regions = {town_of(unit[0])[0] for unit in committed if unit[0]["split"] == split}
        assert regions == set(range(len(REGIONS)))


def test_towns_scripts_and_languages(rows: list[Row]) -> None:
    assert len({town_of(row) for row in rows}) >= 12
    letters = {unicodedata.name(c, "").split()[0] for row in rows for c in row["name"] if c.isalpha()}
    assert letters >= {"LATIN", "GREEK", "CYRILLIC", "CJK", "HIRAGANA", "KATAKANA", "HANGUL"}
    assert all(metres(row, {"latitude": c[0], "longitude": c[1]}) < 5_000 for row in rows[::20] for c in [_centre(row)])


def _centre(row: Row) -> tuple[float, float]:
    region, town = town_of(row)
    return REGIONS[region]["centres"][town]


def test_texts_are_tidy(rows: list[Row]) -> None:
    for row in rows:
        for part in (row["name"], row["address"]):
            assert part == part.strip(" ,-")
            assert not re.search(r"  |,,| ,|\( | \)|[{}|]|None", part), part
            for opening, closing in ("()", "«»", "（）"):
                assert part.count(opening) == part.count(closing), part
            assert part.count('"') % 2 == 0
            assert part == unicodedata.normalize("NFC", part)
        assert row["latitude"] != row["longitude"]


def test_records_of_a_place_lie_close_and_yet_in_several_cells(committed: list[list[Row]]) -> None:
    away = [metres(a, b) for unit in committed for a, b in combinations(unit, 2)]
    assert max(away) <= 121
    assert np.mean(away) > 30
    several = [len({s2_code(r["latitude"], r["longitude"]) for r in unit}) > 1 for unit in committed]
    assert 0.8 < np.mean(several) < 1


# --- labels ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [SEED, 1, 2])
def test_records_of_a_place_say_the_same_and_no_other_place_says_it(
    seed: int, clean: Callable[[int, int], list[list[Row]]]
) -> None:
    described: dict[tuple[Any, ...], str] = {}
    houses: dict[tuple[Any, ...], set[tuple[str, ...]]] = defaultdict(set)
    for unit in clean(seed, 400):
        found = [read(row) for row in unit]
        for part in ("region", "town", "street", "proper"):
            assert found[0][part] is not None
            assert len({record[part] for record in found}) == 1, (part, [row["text"] for row in unit])
        for part in ("house", "kind", "branch", "landmark"):
            assert len({r[part] for r in found if r[part] is not None}) <= 1, (part, [row["text"] for row in unit])
        first = found[0]
        where = tuple(first[part] for part in ("region", "town", "street"))
        houses[where] |= {r["house"] for r in found if r["house"] is not None}
        for r in found:
            key = (*where, r["proper"], r["kind"], r["house"], r["branch"], r["landmark"])
            assert described.setdefault(key, unit[0]["label"]) == unit[0]["label"], unit[0]["text"]
    assert max(map(len, houses.values())) > 2


def test_without_a_house_number_the_rest_is_said(clean: Callable[[int, int], list[list[Row]]]) -> None:
    seen = 0
    for number, unit in enumerate(clean(4, 400)):
        for record in map(read, unit):
            assert (record["house"] is None) == (record["landmark"] is not None)
            if record["house"] is None:
                seen += 1
                assert record["kind"] is not None
                assert (record["branch"] is not None) == (number % 5 in (0, 2))
    assert seen > 100


def test_a_quarter_holds_what_is_mistaken_for_its_first_place(clean: Callable[[int, int], list[list[Row]]]) -> None:
    made = clean(3, 500)

    def known(unit: list[Row]) -> dict[str, Any]:
        records = [read(row) for row in unit]
        return {part: next((r[part] for r in records if r[part] is not None), None) for part in records[0]}

    doubles = set()
    for start in range(0, 500, 5):
        first, neighbour, branch, namesake, double = map(known, made[start : start + 5])

        def same(other: dict[str, Any], *parts: str, first: dict[str, Any] = first) -> bool:
            return all(other[part] == first[part] or None in (other[part], first[part]) for part in parts)

        assert same(neighbour, "town", "street", "house")
        assert neighbour["proper"] // 2 != first["proper"] // 2
        assert same(branch, "town", "proper", "kind")
        assert branch["branch"] != first["branch"] or branch["branch"] is None
        assert same(namesake, "proper", "kind", "region")
        assert namesake["town"] != first["town"]
        assert same(double, "town", "street")
        assert metres(made[start][0], made[start + 4][0]) < 165
        doubles.add((double["proper"] == first["proper"], double["proper"] // 2 == first["proper"] // 2))
    assert doubles == {(True, True), (False, True)}


def test_the_station_is_near_the_station_branch_alone(clean: Callable[[int, int], list[list[Row]]]) -> None:
    near = 0
    for unit in clean(6, 500):
        for record in map(read, unit):
            if record["landmark"] == 1:
                near += 1
                assert record["branch"] == 1
    assert near


# --- words and habits ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("region", REGIONS, ids=lambda region: region["language"])
def test_the_lists_of_a_region_are_complete(region: dict[str, Any]) -> None:
    own, *foreign = hands()[REGIONS.index(region)]
    lengths = {"towns": 2, "streets": 20, "propers": 14, "kinds": 13, "branches": 4, "floors": 4, "landmarks": 4}
    for hand in (own, *foreign):
        for name, length in lengths.items():
            things = getattr(hand, name)
            assert len(things) == length
            assert all(phrase == phrase.strip() and phrase for thing in things for phrase in thing)
            if name not in ("towns", "branches"):  # these are told apart by more than one of their words
                full = [thing[0] for thing in things]
                assert len(set(full)) == length, (name, full)
    for hand in foreign:
        for name in lengths:
            for thing in getattr(hand, name):
                assert all(phrase.replace("º", "").isascii() for phrase in thing), thing
    assert len(region["centres"]) == len(region["towns"])


def _edits(a: str, b: str) -> int:
    line = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        line = [i, *[0] * len(b)] if (before := line) else line
        for j, y in enumerate(b, 1):
            line[j] = min(before[j] + 1, line[j - 1] + 1, before[j - 1] + (x != y))
    return line[-1]


def test_a_slip_does_not_turn_one_name_into_another() -> None:
    for region in hands():
        for hand in region:
            for (a,), (b,) in combinations(hand.propers, 2):
                assert _edits(a.lower(), b.lower()) >= (1 if hand.wide else 3), (a, b)


@pytest.mark.parametrize("habit", [field.name for field in fields(HABITS)])
def test_every_habit_shows(habit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    for value in (0.0, 1.0):
        monkeypatch.setattr(places, "HABITS", replace(HABITS, **{habit: value}))
        made.append([(row["name"], row["address"]) for unit in taken(1, 60) for row in unit])
    assert made[0] != made[1]


def test_a_slip_stays_inside_a_long_word_and_off_the_numbers() -> None:
    rng = places.random.Random(0)
    text = "12 Orchard Road, 123456"
    for slipped in (places._slip(rng, text) for _ in range(200)):
        assert abs(len(slipped) - len(text)) <= 1
        assert slipped.startswith("12 O")
        assert slipped.endswith(" Road, 123456")
    assert places._slip(rng, "Mill Ln. 3") == "Mill Ln. 3"


def test_a_japanese_number_is_a_house_number() -> None:
    counted = [tuple(places._blocks(house).values()) for house in range(1, 200)]
    assert counted[0] == (1, 1, 1)
    assert counted[8] == (1, 2, 1)
    assert counted[48] == (2, 1, 1)
    assert counted == sorted(set(counted))


# --- how hard --------------------------------------------------------------------------------------------------


def hit_at_1(similarity: np.ndarray, labels: list[str]) -> float:
    similarity = np.array(similarity, float)
    np.fill_diagonal(similarity, -np.inf)
    named = np.array(labels)
    return float((named[similarity.argmax(axis=1)] == named).mean())


def test_neither_words_nor_letters_nor_positions_solve_it(rows: list[Row]) -> None:
    train = [row["text"] for row in rows if row["split"] == "train"]
    test = [row for row in rows if row["split"] == "test"]
    labels = [row["label"] for row in test]

    def tfidf(**settings: Any) -> float:
        vectors = TfidfVectorizer(**settings).fit(train).transform([row["text"] for row in test])
        return hit_at_1((vectors @ vectors.T).toarray(), labels)

    assert 0.45 < tfidf() < 0.75
    assert 0.6 < tfidf(analyzer="char_wb", ngram_range=(2, 4)) < 0.85
    scale = np.cos(np.radians([row["latitude"] for row in test]))
    at = np.array([(row["latitude"], row["longitude"]) for row in test])
    north, east = (at[:, None, axis] - at[None, :, axis] for axis in (0, 1))
    assert 0.5 < hit_at_1(-np.hypot(north, east * scale[:, None]), labels) < 0.85

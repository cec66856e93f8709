"""The articles corpus: sections of the right shape, sentences that agree with each other, openings that do not leak."""

from __future__ import annotations

import json
import random
import re
import tracemalloc
from collections import Counter
from collections.abc import Iterator
from itertools import islice

import pytest

from labkit.baselines.difficulty import difficulty
from labkit.corpora.generators import articles
from labkit.corpora.generators.articles import fact_sheet, serial_name
from labkit.corpora.generators.language import Row, word_lists
from labkit.corpora.records import Article, Articles, Section, hashed_split
from labkit.text import sentences

BOOK = word_lists("articles")
THEMES = {name: theme for file in BOOK["themes"] for name, theme in word_lists(f"articles_{file}").items()}
LISTS = {"See also", "Notes", "References", "External links", "Further reading"}  # left out by the triplet rules
SEEDS = [articles.SEED, 3, 444]
TITLES = ["Gelamridge", "Hulirbray", "River Doranmer"]


def made(seed: int, units: int) -> list[Row]:
    return [row for unit in islice(articles.units(seed), units) for row in unit]


@pytest.fixture(scope="module")
def committed() -> list[Row]:
    return made(articles.SEED, articles.UNITS)


def told(row: Row) -> list[Row]:
    """The sections that tell something: neither the lead nor a list."""
    return [section for section in row["sections"][1:] if section["title"] not in LISTS]


def prose(row: Row) -> Iterator[str]:
    """Every sentence of the lead and of the telling sections."""
    for section in (row["sections"][0], *told(row)):
        for paragraph in section["paragraphs"]:
            yield from sentences(paragraph)


def openings(rows: list[Row]) -> set[str]:
    return {sentences(paragraph)[0] for row in rows for section in told(row) for paragraph in section["paragraphs"]}


# --- the stream ------------------------------------------------------------------------------------------------


def test_the_same_seed_makes_the_same_articles_and_another_makes_others():
    assert made(5, 40) == made(5, 60)[:40]
    assert not {row["title"] for row in made(5, 40)} & {row["title"] for row in made(6, 40)}


def test_the_committed_file_starts_with_these_titles(committed: list[Row]):
    assert [row["title"] for row in committed[:3]] == TITLES


@pytest.mark.whole
def test_the_stream_keeps_nothing():
    stream = articles.units(1)
    next(islice(stream, 50, None))
    tracemalloc.start()
    next(islice(stream, 400, None))
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 200_000


# --- the shape -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_an_article_is_a_lead_then_five_to_nine_sections_then_lists(seed: int):
    for row in made(seed, 96):
        assert list(row) == ["title", "split", "sections"]
        assert row["split"] == hashed_split(row["title"])
        lead, *rest = row["sections"]
        assert (lead["title"], lead["level"], lead["top"]) == ("", 1, "")
        assert 1 <= len(lead["paragraphs"]) <= 2
        assert all(s["level"] == 2 and s["top"] == s["title"] and s["title"] for s in rest)
        assert 5 <= len(told(row)) <= 9
        assert row["sections"][1 : len(told(row)) + 1] == told(row), "lists come last"
        assert len({s["title"] for s in rest}) == len(rest)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_section_has_two_to_five_paragraphs_of_two_to_five_sentences(seed: int):
    for row in made(seed, 96):
        for section in told(row):
            assert 2 <= len(section["paragraphs"]) <= 5
        for section in (row["sections"][0], *told(row)):
            assert all(2 <= len(sentences(paragraph)) <= 5 for paragraph in section["paragraphs"])


def test_about_a_third_of_the_articles_end_in_lists():
    rows = made(2, 400)
    ending = sum(row["sections"][-1]["title"] in LISTS for row in rows)
    assert 0.26 < ending / len(rows) < 0.42
    assert {s["title"] for row in rows for s in row["sections"]} >= LISTS


# --- the committed file ----------------------------------------------------------------------------------------


def test_the_committed_selection(committed: list[Row]):
    assert len(committed) == 160
    assert len({row["title"] for row in committed}) == 160
    shares = Counter(row["split"] for row in committed)
    assert 124 <= shares["train"] <= 132
    assert min(shares["dev"], shares["test"]) >= 14
    size = sum(len(json.dumps(row, ensure_ascii=False).encode()) + 1 for row in committed)
    assert 800_000 < size < 1_500_000
    assert len(BOOK["kinds"]) >= 10


def test_no_opening_of_dev_or_test_is_read_in_training(committed: list[Row]):
    for rows in (committed, made(8, 320)):
        parts = {split: openings([row for row in rows if row["split"] == split]) for split in ("train", "dev", "test")}
        assert parts["dev"]
        assert not parts["train"] & (parts["dev"] | parts["test"])


def test_the_corpus_is_neither_trivial_nor_hopeless(committed: list[Row]):
    corpus = Articles(
        name="articles",
        articles=[
            Article(
                row["title"], tuple(Section(s["title"], s["paragraphs"], s["level"], s["top"]) for s in row["sections"])
            )
            for row in committed
        ],
    )
    found = difficulty(corpus)
    assert 0.55 < found.tfidf < 0.72
    assert 0.6 < found.mean_vectors < 0.8


@pytest.mark.parametrize("kind", ["place", "island", "painter"])
def test_names_do_not_come_twice(kind: str):
    names = BOOK["names"]
    size = len(names["heads"]) * len(names["hearts"]) * len(names["endings"][kind])
    assert size * len(BOOK["kinds"]) > 1_000_000
    start = 987_654_321
    assert len({serial_name(start + number, kind) for number in range(size)}) == size
    assert serial_name(start + size, kind) == serial_name(start, kind)


# --- sentences that agree --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", BOOK["kinds"])
def test_every_slot_of_every_pattern_is_known(kind: str):
    plan = BOOK["kinds"][kind]
    for seed in range(12):
        known = set(fact_sheet(plan["facts"], {"stem": "Stem", "stem_small": "stem"}, random.Random(seed))) | {"title"}
        themes = [THEMES[name] for name in plan["sections"] if THEMES[name].get("needs", "title") in known]
        assert len(themes) >= 5
        for part in (*plan["lead"], *(part for theme in themes for part in theme["paragraphs"])):
            if part.get("needs", "title") in known:
                for pattern in (*part["open"], *part["then"]):
                    assert set(re.findall(r"\{(\w+)\}", pattern)) <= known, pattern


@pytest.mark.parametrize("kind", BOOK["kinds"])
def test_dates_are_in_order_and_names_are_unlike(kind: str):
    facts = BOOK["kinds"][kind]["facts"]
    for seed in range(30):
        sheet = fact_sheet(facts, {"stem": "Xaver", "stem_small": "xaver"}, random.Random(seed))
        for key, entry in facts.items():
            if isinstance(entry, dict) and "after" in entry:
                assert 0 < int(sheet[key]) - int(sheet[entry["after"]]) <= entry["by"][1]
            if isinstance(entry, dict) and ("year" in entry or "after" in entry):
                assert 900 < int(sheet[key]) < 2025
        named = [sheet[key] for key, entry in facts.items() if isinstance(entry, dict) and "name" in entry]
        people = [sheet[key[:-5]] for key in sheet if key.endswith("_last")]
        assert len({name[:3] for name in named}) == len(named)
        assert len({person.split()[0] for person in people}) == len(people)


def test_an_unknown_form_of_fact_is_refused():
    with pytest.raises(ValueError, match=r"fact 'age' is .*articles\.py"):
        fact_sheet({"age": {"yaer": [1, 2]}}, {}, random.Random(0))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_person_is_named_in_full_only_once(seed: int):
    given = "|".join((*BOOK["names"]["she"], *BOOK["names"]["he"]))
    for row in made(seed, 96):
        full = Counter(re.findall(rf"\b(?:{given}) [A-Z][a-z]+", " ".join(prose(row))))
        full.pop(row["title"], None)
        full.pop("Old Hob", None)
        assert not [name for name, times in full.items() if times > 1]


def test_an_article_does_not_contradict_itself():
    fire = re.compile(r"fire of (\d{4})|In (\d{4}) a blaze|summer of (\d{4})|end in (\d{4}), when nearly")
    lived = re.compile(r"\((\d{4}) to (\d{4})\)")
    age = re.compile(r"(?:at the age of|aged) (\d\d)\b")
    checked = Counter[str]()
    for row in made(12, 480):
        text = " ".join(prose(row))
        fires = {year for groups in fire.findall(text) for year in groups if year}
        if "inhabitants in" in text or "medium-sized town" in text:
            checked["fire"] += len(fires)
            assert len(fires) <= 1
        if (years := lived.search(text)) and (ages := set(age.findall(text))):
            checked["age"] += 1
            assert ages == {str(int(years[2]) - int(years[1]))}
    assert checked["fire"] > 5
    assert checked["age"] > 5


# --- sentences that read well ----------------------------------------------------------------------------------


def test_there_are_many_themes_and_many_patterns_for_each():
    rich = [
        name
        for name, theme in THEMES.items()
        if sum(len(part["open"]) for part in theme["paragraphs"]) >= 12
        and sum(len(part["then"]) for part in theme["paragraphs"]) >= 15
    ]
    assert len(rich) >= 25
    patterns = [
        text for theme in THEMES.values() for part in theme["paragraphs"] for text in part["open"] + part["then"]
    ]
    assert len(set(patterns)) == len(patterns) > 3000
    assert all(len(part["open"]) >= 3 for theme in THEMES.values() for part in theme["paragraphs"])


@pytest.mark.parametrize("seed", SEEDS)
def test_no_sentence_is_repeated_within_an_article(seed: int):
    for row in made(seed, 96):
        found = list(prose(row))
        assert len(set(found)) == len(found)


@pytest.mark.parametrize("seed", SEEDS)
def test_sentences_are_whole_and_of_a_readable_length(seed: int):
    for row in made(seed, 160):
        for sentence in prose(row):
            assert re.match(r'[A-Z"]', sentence), sentence
            assert re.search(r'[.?!]"?$', sentence), sentence
            assert 6 <= len(re.findall(r"[\w'-]+", sentence)) <= 35, sentence
            assert not re.search(r"[{}|\[\]]|  | [,.;:]|\.\.|,,", sentence), sentence
            assert not re.search(r"\b(\w+) \1\b", sentence, re.IGNORECASE), sentence
            assert not re.search(r"\ba (?:[aei]|o(?!ne)|un|ur|hour|honest|8|11\b|18\b)", sentence, re.IGNORECASE), (
                sentence
            )
            assert not re.search(r"\ban (?!hour|honest)[^aeiou]", sentence, re.IGNORECASE), sentence


def test_openings_do_not_name_the_title_of_their_section():
    for theme in THEMES.values():
        for part in theme["paragraphs"]:
            for text in part["open"]:
                assert not [title for title in theme["titles"] if re.search(rf"\b{title.lower()}\b", text.lower())], (
                    text
                )


def test_few_sentences_are_frequent(committed: list[Row]):
    frequency = Counter(sentence for row in committed for sentence in prose(row))
    assert max(frequency.values()) <= 16
    assert sum(frequency.values()) / len(frequency) < 3

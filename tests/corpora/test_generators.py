"""Properties of the generators for any seed: correct labels and disjoint splits; minimal pairs and their truth."""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from labkit.corpora.article_rules import LISTS
from labkit.corpora.catalogue import DATA, EMBEDDED, KINDS, PAIRED, MinimalPair, generator, load, minimal_pairs
from labkit.corpora.files import write_rows
from labkit.corpora.records import Pairs
from labkit.corpora.relations import components
from labkit.corpora.rows import from_columns
from labkit.text import sentences

Row = dict[str, Any]

articles, captions, minimal, places, questions, relatedness, topics, truths = map(
    generator, ("articles", "captions", "minimal", "places", "questions", "relatedness", "topics", "truths")
)
Frame, Thing, nearness = relatedness.Frame, relatedness.Thing, relatedness.nearness
Draft, truth = minimal.Draft, minimal.truth
word_lists = topics.word_lists


def rows_of(generator: Any, seed: int, units: int) -> list[Row]:
    return [row for unit in islice(generator.units(seed), units) for row in unit]


# --- articles --------------------------------------------------------------------------------------------------


def test_no_opening_of_dev_or_test_is_in_train() -> None:
    openings: dict[str, set[str]] = defaultdict(set)
    for row in rows_of(articles, 8, 200):
        told = [section for section in row["sections"][1:] if section["title"].lower() not in LISTS]
        openings[row["split"]] |= {sentences(paragraph)[0] for section in told for paragraph in section["paragraphs"]}
    assert openings["dev"]
    assert not openings["train"] & (openings["dev"] | openings["test"])


# --- captions --------------------------------------------------------------------------------------------------


def test_no_scene_is_in_two_splits() -> None:
    splits: dict[tuple[Any, ...], set[str]] = defaultdict(set)
    for seen, unit in islice(zip(captions.scenes(0), captions.units(0), strict=True), 2000):
        splits[seen.activity, seen.core] |= {row["split"] for row in unit}
    assert len(splits) < 2000  # enough units for scenes to recur
    assert all(len(found) == 1 for found in splits.values())


# --- places ----------------------------------------------------------------------------------------------------


def test_places_are_distinct_over_two_rounds_of_all_streets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "_records", lambda rng, place, label, split: [vars(place) | {"label": label}])
    made = [unit[0] for unit in islice(places.units(2), 5 * 480 * 2)]
    assert len({place["label"] for place in made}) == len(made)
    keys = {tuple(p[part] for part in ("region", "town", "street", "house", "proper", "kind")) for p in made}
    assert len(keys) == len(made)


def test_neighbouring_places_are_in_one_split() -> None:
    splits = [unit[0]["split"] for unit in islice(places.units(3), 300)]
    assert all(len(set(splits[start : start + 5])) == 1 for start in range(0, 300, 5))
    assert set(splits) == {"train", "dev", "test"}


# --- questions -------------------------------------------------------------------------------------------------


def test_labels_of_questions_agree_and_splits_share_no_question() -> None:
    rows = rows_of(questions, 77, 500)
    columns = {key: [row[key] for row in rows] for key in ("text_a", "text_b", "label")}
    pairs = from_columns(Pairs, {**columns, "split": [row["split"] for row in rows]}, "questions")
    assert isinstance(pairs, Pairs)
    same = dict(zip(*components(pairs), strict=True))
    assert [row for row in rows if not row["label"] and same[row["text_a"]] == same[row["text_b"]]] == []
    splits = defaultdict(set)
    for row in rows:
        for text in (row["text_a"], row["text_b"]):
            splits[same[text]].add(row["split"])
    assert {len(found) for found in splits.values()} == {1}


def test_meanings_of_questions_agree_with_their_labels() -> None:
    for rows, meant in islice(zip(questions.units(4), questions.meanings(4), strict=False), 200):
        for row in rows:
            assert (meant[row["text_a"]] == meant[row["text_b"]]) == (row["label"] == 1)
    either = questions.Intent(questions.topic_blocks()[0][0].topic, "difference", "y", "x")
    assert either.symmetric
    assert either.in_order() == questions.Intent(either.topic, "difference", "x", "y")


# --- relatedness -----------------------------------------------------------------------------------------------


CHASE = Frame("chase", Thing("pets", 1), Thing("birds", 1))  # a dog chases a gull


def test_worked_examples_of_nearness() -> None:
    full = 0.35 + 0.25 + 0.25 + 0.15
    assert nearness(CHASE, CHASE) == pytest.approx(full)
    wider = replace(CHASE, who=Thing("pets", 1, wide=True))
    assert nearness(CHASE, wider) == pytest.approx(full - 0.3 * 0.25)
    assert nearness(CHASE, replace(CHASE, who=Thing("pets", 2))) == pytest.approx(full - 0.9 * 0.25)
    assert nearness(CHASE, replace(CHASE, what=Thing("pets", 2))) == pytest.approx(full - 0.25)
    assert nearness(CHASE, replace(CHASE, event="watch")) == pytest.approx(full - 0.6 * 0.35)
    assert nearness(CHASE, replace(CHASE, event="flee")) == pytest.approx(full - 0.85 * 0.35)
    assert nearness(CHASE, replace(CHASE, denied=True)) == pytest.approx(0.55)
    assert nearness(CHASE, replace(CHASE, event="flee", denied=True)) == pytest.approx(full - 0.15 * 0.35)
    # details: the number always counts; a place that only one frame has counts .7
    assert nearness(CHASE, replace(CHASE, place=1)) == pytest.approx(0.85 + 0.15 * (1 + 0.7) / 2)
    assert nearness(CHASE, replace(CHASE, many=2)) == pytest.approx(0.85 + 0.15 * 0.2)
    swapped = replace(CHASE, who=CHASE.what, what=CHASE.who)
    assert nearness(CHASE, swapped) == pytest.approx(0.5)
    assert nearness(CHASE, Frame("feed", Thing("people", 1), Thing("pets", 3))) == 0.2  # same scene
    assert nearness(CHASE, Frame("raise", Thing("councils", 1), Thing("prices", 3))) == 0.0


# --- topics ----------------------------------------------------------------------------------------------------


def test_a_post_is_about_its_topic_and_no_subject_is_in_two_splits() -> None:
    def fixed_part(line: str) -> str:
        """The longest part of a line without alternatives, minus its first letter, which may be capitalised."""
        return max(re.split(r"\([^()]+\)", line), key=len)[1:].strip()

    clues = {
        fixed_part(text): (topic, name, kind)
        for topic, found in word_lists("topics")["topics"].items()
        for name, lines in found.items()
        if isinstance(lines, dict)
        for kind, text in lines.items()
    }
    splits = defaultdict(set)
    for row in rows_of(topics, 1, 300):
        said = [clue for part, clue in clues.items() if part in row["text"]]
        assert {topic for topic, _, kind in said if kind != "doing"} == {row["label"]}, row
        for topic, name, _ in said:
            splits[topic, name].add(row["split"])
    assert len(splits) > 100
    assert all(len(found) == 1 for found in splits.values())


# --- minimal pairs ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "one", "other", "exchanged", "new_one", "new_other"),
    [
        ("detail", "A dog is chasing a gull.", "A dog is chasing an owl.", "", {"gull"}, {"owl"}),
        ("detail", "How do I clean an old pot?", "How do I clean a steel jug?", "", {"old", "pot"}, {"steel", "jug"}),
        ("detail", "Does it sink in the middle?", "Does it stick to the tin?", "",
         {"sink", "in", "middle"}, {"stick", "to", "tin"}),
        ("order", "An old man scolds a girl.", "A girl scolds an old man.", "old man girl",
         {"old", "man", "girl"}, {"old", "man", "girl"}),
        ("synonym", "Two women mow the lawn.", "Two ladies mow the lawn.", "", {"women"}, {"ladies"}),
        ("synonym", "How do I remove rust?", "How do I get rid of rust?", "", {"remove"}, {"get", "rid", "of"}),
        ("negation", "A man is riding a bike.", "A man is not riding a bike.", "", set(), {"not"}),
        ("negation", "A dog chases a cat.", "A dog does not chase a cat.", "", set(), {"not"}),
        ("negation", "What if I prune it?", "What if I do not prune it?", "", set(), {"not"}),
    ],
)  # fmt: skip
def test_changed_words(kind: str, one: str, other: str, exchanged: str, new_one: set[str], new_other: set[str]) -> None:
    assert truth(kind, Draft((one, other), (None, None), exchanged)) == (new_one, new_other)


@pytest.mark.parametrize(
    ("kind", "one", "other", "exchanged"),
    [
        ("detail", "A dog chases a gull.", "A dog chases a gull.", ""),  # no change
        ("detail", "A dog chases a gull.", "A cat chases a crow.", ""),  # changes in two places
        ("detail", "Two men wreck a blue van.", "Two men damage a van.", ""),  # two adjacent slots
        ("detail", "A dog in a park.", "A dog in the park.", ""),  # only grammar changes
        ("detail", "A dog is asleep.", "Two dogs are asleep.", ""),  # the article disappears
        ("detail", "A dog chases a cat.", "A dog chases a dog.", ""),  # the new word was there before
        ("detail", "A man with an e-bike.", "A man with a scooter.", ""),  # a hyphen
        ("detail", "A child with a cat and a cat.", "A child with a cow and a cow.", ""),  # the word occurs twice
        ("synonym", "Learn the front crawl.", "Learn the crawl stroke.", ""),  # at another position
        ("synonym", "A duck is asleep.", "A mallard is asleep.", ""),  # not a synonym
        ("synonym", "Two backs hit a ball.", "Two backs strike a ball.", ""),  # an uncommon name
        ("synonym", "A dog eats.", "A big dog eats.", ""),  # a word is added
        ("order", "A dog chases a cat.", "A cat chases a dog.", "dog"),  # only one of the two is named
        ("order", "My dog chases a cat.", "A cat chases my dog.", "my dog cat"),  # "my" moved too
        ("order", "A dog chases a cat.", "A cat chased a dog.", "dog cat"),  # another word changes too
        ("order", "A gas stove for a gas oven.", "A gas oven for a gas stove.", "gas stove oven"),  # "gas" occurs twice
        ("negation", "A man is not asleep.", "A man is not not asleep.", ""),
        ("negation", "A dog chases a cat.", "A dog does not watch a cat.", ""),  # another verb
        ("negation", "A dog is asleep.", "Two dogs are not asleep.", ""),
    ],
)  # fmt: skip
def test_drafts_that_are_not_minimal_pairs(kind: str, one: str, other: str, exchanged: str) -> None:
    assert truth(kind, Draft((one, other), (None, None), exchanged)) is None


def test_the_first_minimal_pairs_stay_the_same() -> None:
    assert minimal_pairs("captions", "order", 1) == [
        MinimalPair(
            "captions",
            "order",
            "A man and a boy in black T-shirts beside a blue car in the garage.",
            "A man and a boy in blue T-shirts beside a black car in the garage.",
            frozenset({"black", "blue"}),
            frozenset({"black", "blue"}),
        )
    ]
    digest = hashlib.sha256()
    for corpus in PAIRED:
        for kind in KINDS:
            for pair in minimal_pairs(corpus, kind, 10):
                told = pair.text_a, pair.text_b, sorted(pair.changed_a), sorted(pair.changed_b), pair.source
                digest.update(repr(told).encode())
    assert digest.hexdigest() == "ad5400fb6c5e6ecb15d15e7efd5b55c8be929e01507f0a7bba211d121adbf1fc"


@pytest.mark.whole
def test_the_bundled_truths_equal_the_generated_files(tmp_path: Path) -> None:
    truths.write(tmp_path)
    for made in tmp_path.iterdir():
        assert made.read_bytes() == (DATA / made.name).read_bytes()


def test_every_bundled_question_has_a_meaning(tmp_path: Path) -> None:
    write_rows(truths.meaning_rows(), tmp_path / "made.csv")
    assert (tmp_path / "made.csv").read_bytes() == (DATA / "questions.meanings.csv").read_bytes()
    assert EMBEDDED["questions"].meanings().keys() == set(load("questions").sentences())


def split_of(meant: Any) -> str:
    """The split of a meaning, from the generator."""
    if isinstance(meant, questions.Intent):
        blocks = (block for topic in questions.topic_blocks() for block in topic if block.topic is meant.topic)
        pair = {meant.x, meant.y}
        (split,) = {block.split for block in blocks if any(pair == set(couple) for couple in block.couples)}
        return split
    if isinstance(meant, relatedness.Frame):
        return relatedness._split(meant)
    return captions.split_of(meant.activity, meant.core)


@pytest.mark.parametrize("corpus", PAIRED)
def test_minimal_pairs_belong_to_their_split_and_no_sentence_repeats(corpus: str) -> None:
    for kind in KINDS:
        for split in ("train", "test"):
            found = list(islice(minimal.found(corpus, kind, 0, split), 8))
            assert {split_of(meant) for _, draft in found for meant in draft.meant} == {split}
            counts = Counter(text for _, draft in found for text in draft.texts)
            assert max(counts.values()) == 1
            for _, draft in found:
                same = kind == "synonym" or (kind == "negation" and corpus != "relatedness")
                assert (draft.meant[0] == draft.meant[1]) == same


@pytest.mark.parametrize("wrong", [("films", "detail", 1), ("captions", "colour", 1), ("captions", "detail", 1001)])
def test_wrong_arguments_of_minimal_pairs(wrong: tuple[str, str, int]) -> None:
    with pytest.raises(ValueError, match=r"^(corpus|kind|count) is"):
        minimal_pairs(*wrong)

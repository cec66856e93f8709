"""Minimal pairs: sentences worked by hand, what every pair must keep to, and the generators' records as witnesses."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import fields
from difflib import SequenceMatcher
from itertools import islice, permutations, product
from random import Random
from typing import Any

import pytest

from labkit.corpora.generators import captions, minimal, questions, relatedness
from labkit.corpora.generators.language import plural_phrase, word_lists
from labkit.corpora.generators.minimal import CORPORA, GRAMMAR, KINDS, Draft, MinimalPair, minimal_pairs, truth
from labkit.text import words

BOTH = list(product(CORPORA, KINDS))
FOUND = {key: list(islice(minimal.found(*key, 0, "test"), 60)) for key in BOTH}
EACH = pytest.mark.parametrize(("corpus", "kind"), BOTH)
EVENTS = word_lists("relatedness")["events"]
ABOUT: dict[str, Any] = {
    "questions": lambda meant: meant.topic,
    "relatedness": lambda meant: meant.event,
    "captions": lambda meant: meant.activity,
}


def plain(text: str) -> list[str]:
    """The words, with "an" as "a"."""
    return re.sub(r"\ban\b", "a", " ".join(words(text))).split()


def differences(one: str, other: str) -> list[tuple[list[str], list[str]]]:
    """The places where two sentences differ: what stands there in the first, and in the second."""
    a, b = plain(one), plain(other)
    steps = SequenceMatcher(None, a, b, autojunk=False).get_opcodes()
    return [(a[i:j], b[k:m]) for step, i, j, k, m in steps if step != "equal"]


# --- by hand ---------------------------------------------------------------------------------------------------


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
def test_truth_by_hand(kind: str, one: str, other: str, exchanged: str, new_one: set[str], new_other: set[str]) -> None:
    assert truth(kind, Draft((one, other), (None, None), exchanged)) == (new_one, new_other)


@pytest.mark.parametrize(
    ("kind", "one", "other", "exchanged"),
    [
        ("detail", "A dog chases a gull.", "A dog chases a gull.", ""),  # the same
        ("detail", "A dog chases a gull.", "A cat chases a crow.", ""),  # two places
        ("detail", "Two men wreck a blue van.", "Two men damage a van.", ""),  # two slots side by side
        ("detail", "A dog in a park.", "A dog in the park.", ""),  # grammar alone
        ("detail", "A dog is asleep.", "Two dogs are asleep.", ""),  # the article goes
        ("detail", "A dog chases a cat.", "A dog chases a dog.", ""),  # the new word is not new
        ("detail", "A man with an e-bike.", "A man with a scooter.", ""),  # a hyphen
        ("detail", "A child with a cat and a cat.", "A child with a cow and a cow.", ""),  # twice
        ("synonym", "Learn the front crawl.", "Learn the crawl stroke.", ""),  # not in the same place
        ("synonym", "A duck is asleep.", "A mallard is asleep.", ""),  # not the same
        ("synonym", "Two backs hit a ball.", "Two backs strike a ball.", ""),  # a name that nobody uses
        ("synonym", "A dog eats.", "A big dog eats.", ""),  # nothing for something
        ("order", "A dog chases a cat.", "A cat chases a dog.", "dog"),  # one of the two
        ("order", "My dog chases a cat.", "A cat chases my dog.", "my dog cat"),  # "my" went along
        ("order", "A dog chases a cat.", "A cat chased a dog.", "dog cat"),  # another word besides
        ("order", "A gas stove for a gas oven.", "A gas oven for a gas stove.", "gas stove oven"),  # gas twice
        ("negation", "A man is not asleep.", "A man is not not asleep.", ""),
        ("negation", "A dog chases a cat.", "A dog does not watch a cat.", ""),  # another verb
        ("negation", "A dog is asleep.", "Two dogs are not asleep.", ""),
    ],
)  # fmt: skip
def test_what_is_no_minimal_pair(kind: str, one: str, other: str, exchanged: str) -> None:
    assert truth(kind, Draft((one, other), (None, None), exchanged)) is None


@pytest.mark.parametrize(
    ("corpus", "kind", "one", "other", "new_one", "new_other"),
    [
        ("relatedness", "detail", "A deluge destroyed a brick wall last year.",
         "A deluge destroyed a garden gate last year.", {"brick", "wall"}, {"garden", "gate"}),
        ("captions", "order", "A man and a boy in black T-shirts beside a blue car in the garage.",
         "A man and a boy in blue T-shirts beside a black car in the garage.", {"black", "blue"}, {"black", "blue"}),
        ("captions", "synonym", "Pigeons being fed by an elderly lady in a bright yellow sweater.",
         "Pigeons being fed by an elderly lady in a bright yellow pullover.", {"sweater"}, {"pullover"}),
        ("questions", "negation", "Why choose squash over ping-pong?", "Why not choose squash over ping-pong?",
         set(), {"not"}),
    ],
)  # fmt: skip
def test_the_first_pair_stays_what_it_is(
    corpus: str, kind: str, one: str, other: str, new_one: set[str], new_other: set[str]
) -> None:
    expected = MinimalPair(corpus, kind, one, other, frozenset(new_one), frozenset(new_other))
    assert minimal_pairs(corpus, kind, 1) == [expected]


# --- what every pair keeps to ----------------------------------------------------------------------------------


@EACH
def test_changed_words(corpus: str, kind: str) -> None:
    for pair, _ in FOUND[corpus, kind]:
        assert (pair.corpus, pair.kind) == (corpus, kind)
        a, b = words(pair.text_a), words(pair.text_b)
        assert a != b
        for text, new, others in ((a, pair.changed_a, b), (b, pair.changed_b, a)):
            assert all(text.count(word) == 1 and word.isalnum() and word == word.lower() for word in new), pair
            assert not new & GRAMMAR, pair
            assert (kind == "order") == bool(new & set(others)) or kind == "negation", pair
        if kind == "negation":
            assert {pair.changed_a, pair.changed_b} == {frozenset(), frozenset({"not"})}
        else:
            assert pair.changed_a
            assert pair.changed_b
        assert kind != "order" or (
            pair.changed_a == pair.changed_b and sorted(plain(pair.text_a)) == sorted(plain(pair.text_b))
        )


@EACH
def test_nothing_else_differs(corpus: str, kind: str) -> None:
    for pair, _ in FOUND[corpus, kind]:
        apart = differences(pair.text_a, pair.text_b)
        a, b = ({word for side in apart for word in side[at]} for at in (0, 1))
        if kind == "negation":  # the denied verb: not chase / chases, with a form of "do"
            assert len(apart) <= 2, pair
            assert {"not"} <= a | b <= {"not", "do", "does", "did"} | {word for word in a | b if word in _verbs()}, pair
            assert (words(pair.text_a) + words(pair.text_b)).count("not") == 1, pair
        elif kind == "order":
            assert a | b <= pair.changed_a | GRAMMAR | _between(pair), pair
        else:
            assert (a - GRAMMAR, b - GRAMMAR) == (pair.changed_a, pair.changed_b), pair
            assert pair.text_a[-1] == pair.text_b[-1]


def _verbs() -> set[str]:
    return {form.split()[0] for event in EVENTS.values() for verb in event["does"] for form in verb.split(", ")}


def _between(pair: MinimalPair) -> set[str]:
    """The words between the first and the last exchanged one."""
    text = plain(pair.text_a)
    at = [at for at, word in enumerate(text) if word in pair.changed_a]
    return set(text[at[0] : at[-1]])


@EACH
def test_sentences_read_as_such(corpus: str, kind: str) -> None:
    for pair, _ in FOUND[corpus, kind]:
        for text in (pair.text_a, pair.text_b):
            assert re.fullmatch(r"[A-Z][\w',ê -]+[.?]", text), text
            assert not re.search(r"\b[Aa] [aeio]|\b[Aa]n [^aeiouh]|  |\bnot \w+ not\b", text), text


@EACH
def test_pairs_are_distinct_and_of_many_topics(corpus: str, kind: str) -> None:
    found = FOUND[corpus, kind]
    assert len({text for pair, _ in found for text in (pair.text_a, pair.text_b)}) == 120
    told = [ABOUT[corpus](draft.meant[0]) for _, draft in found]
    assert max(map(told.count, told)) <= (60 + 10) // 10  # relatedness has 11 events whose sides may change places
    if kind in ("detail", "synonym"):
        changes = [{pair.changed_a, pair.changed_b} for pair, _ in found]
        assert max(map(changes.count, changes)) <= 6
    swapped = {pair.changed_b == frozenset({"not"}) for pair, _ in found}
    assert len(swapped) == 2 or kind != "negation"  # no side is always the denied one


@pytest.mark.parametrize("corpus", CORPORA)
def test_what_a_pair_is_about_has_one_number_in_all_kinds(corpus: str) -> None:
    """Figures are taken apart by it: two topics below one number, or one below two, were other units."""
    numbers: dict[str, set[int]] = {}
    for kind in KINDS:
        for pair, draft in FOUND[corpus, kind]:
            numbers.setdefault(str(ABOUT[corpus](draft.meant[0])), set()).add(pair.source)
    assert all(len(each) == 1 for each in numbers.values())
    assert len(set().union(*numbers.values())) == len(numbers) > 20


# --- meanings --------------------------------------------------------------------------------------------------


def fields_apart(one: Any, other: Any) -> list[str]:
    return [field.name for field in fields(one) if getattr(one, field.name) != getattr(other, field.name)]


@EACH
def test_meanings_by_the_generators_own_records(corpus: str, kind: str) -> None:
    for pair, draft in FOUND[corpus, kind]:
        one, other = draft.meant
        assert {pair.text_a, pair.text_b} == set(draft.texts)
        if kind == "synonym":
            assert one == other, pair
        elif kind == "detail":
            assert len(fields_apart(one, other)) == 1 or (corpus == "questions" and one.symmetric), pair
        elif kind == "order" and corpus == "captions":
            assert (one.look, one.object_look) == (other.object_look, other.look) != (other.look, other.object_look)
        elif kind == "order":
            names = ("x", "y") if corpus == "questions" else ("who", "what")
            assert fields_apart(one, other) == list(names), pair
            assert [getattr(one, name) for name in names] == [getattr(other, name) for name in reversed(names)]
        if corpus == "relatedness":
            near = relatedness.nearness(one, other)
            assert (near == pytest.approx(1.0)) == (kind == "synonym"), pair
            assert (one.denied, other.denied) == (False, kind == "negation")


def said_of(meant: Any, field: str) -> list[str]:
    """Every phrase by which the lists can tell one field of a question or of a frame."""
    lists = word_lists("relatedness")
    if isinstance(meant, questions.Intent):
        names = [*meant.x.split("|"), *meant.y.split("|")]
        return names + [questions.gerund(name) for name in names]
    if field in ("who", "what"):
        names = lists["nouns"][getattr(meant, field).kind][getattr(meant, field).number].split(" / ")
        return names + [plural_phrase(name, lists["plurals"]) for name in names]
    if field == "event":
        return [form for verb in EVENTS[meant.event]["does"] for form in verb.split(", ")]
    if field == "place":
        return lists["scenes"][EVENTS[meant.event]["scene"]][meant.place].split(" / ")
    return meant.attribute.split(" / ") if field == "attribute" else [relatedness.NUMBERS[meant.many]]


@pytest.mark.parametrize("corpus", ["questions", "relatedness"])
def test_the_words_of_a_detail_tell_the_field_that_changed(corpus: str) -> None:
    for pair, draft in FOUND[corpus, "detail"]:
        field = fields_apart(*draft.meant)[0]
        for text, meant in zip(draft.texts, draft.meant, strict=True):
            new = pair.changed_a if text == pair.text_a else pair.changed_b
            assert any(new <= set(words(phrase)) for phrase in said_of(meant, field)), pair


def test_details_of_captions_exclude_each_other() -> None:
    lists = word_lists("captions")
    told = set()
    for _, draft in islice(minimal.found("captions", "detail", 1, "test"), 400):
        (field,) = fields_apart(*draft.meant)
        told.add(field)
        both = {getattr(meant, field) for meant in draft.meant}
        if field == "number":
            assert both <= {"two", "three", "four"}
        elif field == "wear":
            assert len({lists["wear"][wear]["said"] for wear in both}) == 1
        elif field == "who":
            one, other = (set(lists["who"][who].get("names", [])) for who in both)
            assert not one & other, both
            assert not any(minimal._covers(*pair) for pair in permutations(both)), both  # whichever comes first
            assert both.isdisjoint({"adults"}) or both.isdisjoint({"man", "woman", "couple"}), both
        elif field == "place":
            assert all(meant.when in lists["place"][meant.place]["when"] for meant in draft.meant)
    assert told == {"who", "number", "look", "place", "wear", "object_look", "when", "behind"}


def test_a_wider_name_covers_a_narrower_one() -> None:
    covered = [("man", "old_man"), ("adults", "man"), ("kids", "boy"), ("dog", "puppy"), ("car", "taxi")]
    apart = [("man", "woman"), ("old_man", "man"), ("boy", "girl"), ("duck", "swan"), ("bus", "tram")]
    assert all(minimal._covers(*pair) for pair in covered)
    assert not any(minimal._covers(*pair) for pair in apart)


def split_of(meant: Any) -> str:
    """The split of a meaning, found again from the generator."""
    if isinstance(meant, questions.Intent):
        blocks = (block for topic in questions.topic_blocks() for block in topic if block.topic is meant.topic)
        pair = {meant.x, meant.y}
        (split,) = {block.split for block in blocks if any(pair == set(couple) for couple in block.couples)}
        return split
    if isinstance(meant, relatedness.Frame):
        return relatedness._split(meant)
    return captions.split_of(meant.activity, meant.core)


@EACH
def test_meanings_are_of_the_split(corpus: str, kind: str) -> None:
    texts: dict[str, set[str]] = {}
    for split in ("train", "dev", "test"):
        found = list(islice(minimal.found(corpus, kind, 0, split), 60))
        assert {split_of(meant) for _, draft in found for meant in draft.meant} == {split}
        texts[split] = {text for _, draft in found for text in draft.texts}
    assert not texts["train"] & texts["test"]
    assert not texts["dev"] & (texts["train"] | texts["test"])


@pytest.mark.parametrize("corpus", CORPORA)
def test_no_row_of_training_is_in_a_pair(corpus: str) -> None:
    generator = {"questions": questions, "relatedness": relatedness, "captions": captions}[corpus]
    rows = [row for unit in islice(generator.units(generator.SEED), 300) for row in unit]
    trained = {row[key] for row in rows if row["split"] == "train" for key in row if key.startswith("text")}
    told = {text for kind in KINDS for _, draft in FOUND[corpus, kind] for text in draft.texts}
    assert len(trained) > 200
    assert not trained & told


def test_negated_frames_are_frames_with_a_not() -> None:
    frames = {frame for ask in word_lists("questions")["frames"].values() for frame in ask}
    assert minimal.NEGATED.keys() <= frames
    assert all(words(frame).count("not") == 1 for frame in minimal.NEGATED.values())


# --- calls -----------------------------------------------------------------------------------------------------


@EACH
def test_the_same_seed_gives_the_same_pairs(corpus: str, kind: str) -> None:
    first = minimal_pairs(corpus, kind, 60)
    assert first == [pair for pair, _ in FOUND[corpus, kind]]
    assert first[:20] == minimal_pairs(corpus, kind, 20)
    assert first != minimal_pairs(corpus, kind, 60, seed=1)


def test_no_sentence_comes_twice_where_there_are_few() -> None:
    texts = [text for _, draft in islice(minimal.found("relatedness", "order", 0, "dev"), 300) for text in draft.texts]
    assert len(texts) == len(set(texts)) == 600


def test_no_order_of_a_set_decides() -> None:
    code = (
        "from labkit.corpora.generators.minimal import *\n"
        "for corpus in CORPORA:\n for kind in KINDS:\n  for pair in minimal_pairs(corpus, kind, 10):\n"
        "   print(pair.text_a, pair.text_b, sorted(pair.changed_a), sorted(pair.changed_b))"
    )
    outputs = [
        subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    ]
    assert outputs[0] == outputs[1]
    assert outputs[0].count(b"\n") == 120


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("films", "detail", 1), r"corpus is 'films', expected one of questions, relatedness, captions"),
        (("captions", "colour", 1), r"kind is 'colour', expected one of detail, order, synonym, negation"),
        (("captions", "detail", 0), r"count is 0, expected 1 to 5000"),
        (("captions", "detail", 5001), r"count is 5001, expected 1 to 5000; ask for fewer"),
    ],
)
def test_wrong_arguments(arguments: tuple[str, str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        minimal_pairs(*arguments)
    with pytest.raises(ValueError, match="split is 'all', expected one of train, dev, test"):
        minimal_pairs("captions", "detail", 1, split="all")


def test_more_than_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minimal, "TRIES", 30)
    with pytest.raises(ValueError, match=r"count is 4000, but relatedness/dev has \d+ pairs of order; ask for fewer"):
        minimal_pairs("relatedness", "order", 4000, split="dev")


def test_a_caption_with_one_name_turned_is_else_the_same() -> None:
    random = Random(2)
    sources = [("animals", "cat_wool"), ("things", "market_stall"), ("people", "yoga")] * 300
    drafts = [minimal._scene(source, "synonym", "test", random) for source in sources]
    places = [len(differences(*draft.texts)) for draft in drafts if draft]
    assert (min(places), max(places)) == (0, 2)  # flower vases, vases of flowers
    assert len(places) > 500


def test_draws_tell_two_records_in_one_way() -> None:
    one, other = minimal.Draws(5), minimal.Draws(5)
    assert [one.choice("abcd") for _ in range(20)] == [other.choice(["a", "b", "c", "d"]) for _ in range(20)]
    turned = minimal.Draws(5)
    turned.turned = 3
    picks = [turned.choice("abcd") for _ in range(20)]
    assert [at for at, (new, (_, old)) in enumerate(zip(picks, one.made, strict=True)) if new != old] == [3]
    assert all(0.25 <= one.random() < 0.65 for _ in range(100))

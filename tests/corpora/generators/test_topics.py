"""The topics corpus: labels that follow from what a post says, splits that share no subject, and its difficulty."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import islice

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from labkit.corpora.generators import topics
from labkit.corpora.generators.language import word_lists

LINES = ("doing", "trouble", "ask", "tip", "fact", "notice")


def rows_of(seed: int, units: int) -> list[topics.Row]:
    return [row for unit in islice(topics.units(seed), units) for row in unit]


@pytest.fixture(scope="module")
def committed() -> list[topics.Row]:
    return rows_of(topics.SEED, topics.UNITS)


def fixed_part(line: str) -> str:
    """The longest stretch of a line without a choice; its first letter may be large in a post, so it goes."""
    return max(re.split(r"\([^()]+\)", line), key=len)[1:].strip()


# part of a line -> (topic, subject, kind of line), straight from the word list
CLUES = {
    fixed_part(text): (topic, name, kind)
    for topic, found in word_lists("topics")["topics"].items()
    for name, lines in found.items()
    if isinstance(lines, dict)
    for kind, text in lines.items()
}


def clues_in(text: str) -> list[tuple[str, str, str]]:
    return [clue for part, clue in CLUES.items() if part in text]


def test_every_subject_has_its_six_lines_and_each_line_is_its_own() -> None:
    subjects = [(topic, name) for topic, found in word_lists("topics")["topics"].items() for name in found]
    subjects = [(topic, name) for topic, name in subjects if name not in ("matters", "context")]
    assert len(CLUES) == len(LINES) * len(subjects)
    assert Counter(kind for _, _, kind in CLUES.values()) == dict.fromkeys(LINES, len(subjects))


def test_another_seed_gives_other_posts() -> None:
    assert rows_of(5, 50) != rows_of(6, 50)


def test_a_longer_stream_begins_like_a_shorter_one() -> None:
    assert rows_of(3, 300)[:40] == rows_of(3, 40)


def test_the_committed_posts_are_as_many_as_long_and_as_small_as_promised(committed) -> None:
    assert 1800 <= len(committed) <= 2400
    assert len({row["text"] for row in committed}) == len(committed)
    assert all(list(row) == ["text", "label", "split"] for row in committed)
    assert all(15 <= len(row["text"].split()) <= 60 for row in committed)
    assert sum(len(",".join(row.values())) + 3 for row in committed) <= 550_000


def test_every_topic_has_its_share_of_every_split(committed) -> None:
    counts = Counter((row["label"], row["split"]) for row in committed)
    labels = {row["label"] for row in committed}
    assert 12 <= len(labels) <= 14
    for label in labels:
        whole = sum(counts[label, split] for split in ("train", "dev", "test"))
        assert 0.5 < counts[label, "train"] / whole < 0.8
        assert counts[label, "dev"] >= 8
        assert counts[label, "test"] >= 15


@pytest.mark.parametrize("seed", [topics.SEED, 1, 2])
def test_what_a_post_says_is_of_its_topic(seed) -> None:
    for row in rows_of(seed, 500):
        said = [clue for clue in clues_in(row["text"]) if clue[2] != "doing"]
        assert said, row
        assert {topic for topic, _, _ in said} == {row["label"]}, row
        assert len({name for _, name, _ in said}) == 1, row


@pytest.mark.parametrize("seed", [topics.SEED, 1, 2])
def test_no_subject_is_in_two_splits_not_even_in_passing(seed) -> None:
    splits = defaultdict(set)
    for row in rows_of(seed, 1000):
        for topic, name, _ in clues_in(row["text"]):
            splits[topic, name].add(row["split"])
    assert len(splits) > 150
    assert all(len(found) == 1 for found in splits.values())


def test_some_posts_mention_another_topic(committed) -> None:
    touched = sum(any(topic != row["label"] for topic, _, _ in clues_in(row["text"])) for row in committed)
    assert 0.03 < touched / len(committed) < 0.3


@pytest.mark.parametrize("seed", [topics.SEED, 1, 2])
def test_posts_are_well_formed(seed) -> None:
    for row in rows_of(seed, 1000):
        text = row["text"]
        assert re.fullmatch(r"[A-Z][A-Za-z0-9 ,.:?'-]+[.?]", text), text
        assert not re.search(r"  |[.?] ?[a-z]|[ .,?][.,?]|[(){}|]", text), text
        assert not re.search(r"\ba [aeio]|\ban [^aeiouh]", text, re.IGNORECASE), text
        assert not re.search(r"\b(\w+) \1\b", text.lower()), text
        assert len(re.findall(r"[.?](?: |$)", text)) <= 7, text


def test_posts_are_neither_trivial_nor_hopeless(committed) -> None:
    train, test = ([row for row in committed if row["split"] == split] for split in ("train", "test"))
    labels, truth = [row["label"] for row in train], [row["label"] for row in test]
    tfidf = TfidfVectorizer().fit([row["text"] for row in train])
    x, y = (tfidf.transform([row["text"] for row in rows]) for rows in (train, test))
    assert 0.5 < KNeighborsClassifier(3).fit(x, labels).score(y, truth) < 0.8
    linear = LogisticRegression(C=10).fit(x, labels).score(y, truth)
    assert 0.8 < linear < 0.95  # there is room to learn, and the linear model does not close it
    lengths = [np.array([[len(row["text"].split()), row["text"].count("?")] for row in rows]) for rows in (train, test)]
    assert KNeighborsClassifier(3).fit(lengths[0], labels).score(lengths[1], truth) < 0.15


def test_notices_are_clauses() -> None:
    """They stand after "Please note that": no imperative can."""
    verbs = {"bring", "send", "come", "never", "join", "call", "write", "please"}
    assert [s.name for s in topics.subjects() if s.lines["notice"].split()[0].lower() in verbs] == []

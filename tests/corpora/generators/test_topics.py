"""Topics: what a post is made of, that its subject stays in its split, and that it reads like language."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import islice
from random import Random

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from labkit.corpora.generators import topics
from labkit.corpora.generators.language import words
from labkit.corpora.generators.topics import LENGTH, subjects, units, write

ROWS = [row for unit in islice(units(topics.SEED), topics.UNITS) for row in unit]
LINES = ("doing", "trouble", "ask", "tip", "fact", "notice")


def test_first_rows_and_seeds() -> None:
    assert [row for unit in islice(units(topics.SEED), 30) for row in unit] == ROWS[:30]
    assert [row for unit in islice(units(1), 30) for row in unit] != ROWS[:30]
    assert list(ROWS[0]) == ["text", "label", "split"]


def test_at_least_ten_topics_of_much_the_same_size() -> None:
    counts = Counter(row["label"] for row in ROWS)
    assert len(counts) >= 10
    assert counts.keys() == words("topics")["topics"].keys()
    assert max(counts.values()) < 1.5 * min(counts.values())


def test_every_topic_is_in_every_split() -> None:
    where = defaultdict(set)
    for row in ROWS:
        where[row["label"]].add(row["split"])
    assert set(map(len, where.values())) == {3}


def test_every_subject_has_all_its_lines_once() -> None:
    assert all(tuple(subject.lines) == LINES for subject in subjects())
    lines = [line for subject in subjects() for line in subject.lines.values()]
    assert len(set(lines)) == len(lines)


@pytest.mark.parametrize("seed", [topics.SEED, 3])
def test_a_subject_of_test_is_not_met_in_training(seed: int) -> None:
    told = defaultdict(str)
    for row in (row for unit in islice(units(seed), 1500) for row in unit):
        told[row["split"]] += " " + row["text"].lower()
    for subject in subjects():
        plain = [line.lower() for line in subject.lines.values() if "(" not in line]
        for split in {"train", "dev", "test"} - {subject.split}:
            assert not [line for line in plain if line in told[split]]


def test_lengths_and_signs() -> None:
    for row in ROWS:
        text = row["text"]
        assert len(text.split()) in LENGTH
        assert re.fullmatch(r"[A-Z].*[.?!]", text), text
        assert not re.search(r"  |[(){}|]|\.\.|,,| [.,?]", text), text
        assert not re.search(r"\b[Aa] [aeio]\w|\b[Aa]n [^aeiouhAEIOUH]", text), text
        assert not re.search(r"\b(\w+) \1\b", text.lower().replace("that that", "").replace("had had", "")), text
        assert all(sentence[:1].isupper() for sentence in re.split(r"(?<=[.?!]) ", text)), text


def test_notices_are_clauses() -> None:
    """They stand after "Please note that": no imperative can."""
    verbs = {"bring", "send", "come", "never", "join", "call", "write", "please"}
    assert [s.name for s in subjects() if s.lines["notice"].split()[0].lower() in verbs] == []


def test_voices_differ() -> None:
    random = Random(0)
    said = {write(subjects()[0], random) for _ in range(100)}
    assert len(said) == 100
    assert any("?" in text for text in said)
    assert any("?" not in text for text in said)


def test_length_does_not_give_the_topic_away() -> None:
    lengths = np.array([[len(row["text"]), len(row["text"].split())] for row in ROWS], dtype=float)
    labels = np.array([row["label"] for row in ROWS])
    train = np.array([row["split"] == "train" for row in ROWS])
    scaled = (lengths - lengths.mean(0)) / lengths.std(0)
    model = LogisticRegression(max_iter=500).fit(scaled[train], labels[train])
    assert model.score(scaled[~train], labels[~train]) < 0.2

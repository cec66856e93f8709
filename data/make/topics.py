"""Short posts on fourteen everyday topics: questions, reports, complaints, advice, announcements.

In: a seed. Out: a stream of units; a unit is one row {text, label, split}, whose label is the topic.

A post is a *voice* (the order in which people say things) about a *subject* of a topic (a worn chain, of cycling),
wrapped in talk that belongs to no topic. What makes it neither trivial nor hopeless:

- A subject lies in one split, so a test post is about something that no training post is about. What carries over
  is the vocabulary of the topic, and the things its people say of themselves and talk about at any time.
- The first words of many posts say nothing. Some topics are close (cycling, running, hillwalking) and bring each
  other up, some words lead two lives (pitch, scale, bar, keys), and some posts mention another topic in passing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import count
from random import Random
from zlib import crc32

from .language import Row, sentence_case, word_lists

SEED = 11
UNITS = 2000
LENGTH = range(15, 61)  # words of a post

# The subjects of a topic are dealt out in this order, so that every topic has 10 to train, 2 for dev, 3 for testing.
_DEAL = ("train", "train", "test", "train", "dev", "train", "train", "test", "train", "train")
_CHOICE = re.compile(r"\(([^()]+)\)")


@dataclass(frozen=True)
class Subject:
    """One thing people of a topic write about, in lines (doing, trouble, ask, tip, fact, notice), and its split."""

    topic: str
    name: str
    split: str
    lines: dict[str, str]


@dataclass(frozen=True)
class Surroundings:
    """What a post on one topic is wrapped in: talk by its part, matters of this topic and of the close ones."""

    talk: dict[str, list[str]]
    matters: list[str]
    close: list[str]


@cache
def subjects() -> tuple[Subject, ...]:
    """Every subject of every topic, in the order of the word list."""
    return tuple(
        Subject(topic, name, _DEAL[place % len(_DEAL)], lines)
        for topic, entry in word_lists("topics")["topics"].items()
        for place, (name, lines) in enumerate((key, value) for key, value in entry.items() if isinstance(value, dict))
    )


@cache
def _surroundings(topic: str) -> Surroundings:
    topics = word_lists("topics")["topics"]
    group = next(group for group in word_lists("topics")["close"].values() if topic in group)
    return Surroundings(
        talk=word_lists("topics")["talk"] | {"context": topics[topic]["context"]},
        matters=topics[topic]["matters"],
        close=[matter for other in group if other != topic for matter in topics[other]["matters"]],
    )


@cache
def _passing(topic: str, split: str) -> tuple[str, ...]:
    """What a post on this topic may mention in passing: things done in other topics, of its own split."""
    return tuple(subject.lines["doing"] for subject in subjects() if subject.topic != topic and subject.split == split)


def units(seed: int) -> Iterator[list[Row]]:
    """Posts without end, one a unit."""
    for index in count():
        rng = Random(crc32(f"{seed}/{index}".encode()))
        subject = rng.choice(subjects())
        text = write(subject, rng)
        while len(text.split()) not in LENGTH:
            text = write(subject, rng)
        yield [{"text": text, "label": subject.topic, "split": subject.split}]


def write(subject: Subject, rng: Random) -> str:
    """One post on a subject, in a voice that `rng` chooses; it may be too long or too short."""
    around = _surroundings(subject.topic)
    matter = rng.choice(around.matters)
    another = matter
    while another == matter:
        another = rng.choice(around.matters if rng.randrange(3) else around.close)
    passing = rng.choice(_passing(subject.topic, subject.split))
    lines = {**subject.lines, "matter": matter, "another": another, "other": passing}
    # a part with a question mark is said every other time
    parts = [
        part.rstrip("?")
        for part in rng.choice(list(word_lists("topics")["voices"].values()))
        if part[-1] != "?" or rng.random() < 0.5
    ]
    return " ".join(sentence_case(_spoken(rng.choice(around.talk[part]).format_map(lines), rng)) for part in parts)


def _spoken(line: str, rng: Random) -> str:
    """`a (long|short) walk` -> `a short walk`."""
    return _CHOICE.sub(lambda match: rng.choice(match[1].split("|")), line)

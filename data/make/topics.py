"""Short posts on fourteen everyday topics: questions, reports, complaints, advice, announcements.

A unit is one row {text, label, split}; the label is the topic. A post combines a *voice* (an order of things to say)
and a *subject* of a topic (for cycling, a worn chain) with talk that fits any topic. Two properties make the corpus
neither trivial nor hopeless:

- Each subject is in one split, so the subjects of test posts do not occur in training. The vocabulary of a topic, and
  what its people say about themselves and discuss at any time, occur in all splits.
- Many posts begin with words that reveal nothing. Some topics are close and mention each other (cycling, running,
  hillwalking), some words have two meanings (pitch, scale, bar, keys), and some posts mention another topic in passing.
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
LENGTH = range(15, 61)  # words per post

# The splits of a topic's subjects, in order: every topic has 10 for train, 2 for dev and 3 for test.
_DEAL = ("train", "train", "test", "train", "dev", "train", "train", "test", "train", "train")
_CHOICE = re.compile(r"\(([^()]+)\)")


@dataclass(frozen=True)
class Subject:
    """A subject of a topic, with its lines (doing, trouble, ask, tip, fact, notice) and its split."""

    topic: str
    name: str
    split: str
    lines: dict[str, str]


@dataclass(frozen=True)
class Surroundings:
    """Material around the subject of a post: talk by part, and matters of this topic and of close ones."""

    talk: dict[str, list[str]]
    matters: list[str]
    close: list[str]


@cache
def subjects() -> tuple[Subject, ...]:
    """All subjects, in the order of the word list."""
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
    """What a post may mention in passing: activities of other topics, from the same split."""
    return tuple(subject.lines["doing"] for subject in subjects() if subject.topic != topic and subject.split == split)


def units(seed: int) -> Iterator[list[Row]]:
    """Endless posts, one per unit."""
    for index in count():
        rng = Random(crc32(f"{seed}/{index}".encode()))
        subject = rng.choice(subjects())
        text = write(subject, rng)
        while len(text.split()) not in LENGTH:
            text = write(subject, rng)
        yield [{"text": text, "label": subject.topic, "split": subject.split}]


def write(subject: Subject, rng: Random) -> str:
    """A post on a subject in a random voice; it may be too long or too short."""
    around = _surroundings(subject.topic)
    matter = rng.choice(around.matters)
    another = matter
    while another == matter:
        another = rng.choice(around.matters if rng.randrange(3) else around.close)
    passing = rng.choice(_passing(subject.topic, subject.split))
    lines = {**subject.lines, "matter": matter, "another": another, "other": passing}
    # a part with a question mark is optional
    parts = [
        part.rstrip("?")
        for part in rng.choice(list(word_lists("topics")["voices"].values()))
        if part[-1] != "?" or rng.random() < 0.5
    ]
    return " ".join(sentence_case(_spoken(rng.choice(around.talk[part]).format_map(lines), rng)) for part in parts)


def _spoken(line: str, rng: Random) -> str:
    """The line with one option chosen for each choice, for example in `a (long|short) walk`."""
    return _CHOICE.sub(lambda match: rng.choice(match[1].split("|")), line)

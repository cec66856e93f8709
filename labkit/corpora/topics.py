"""Short posts on fourteen everyday topics: questions, reports, complaints, advice, announcements.

In: a seed. Out: a stream of units; a unit is one row {text, label, split}, whose label is the topic.

A post is a *voice* (the order in which people say things) about a *subject* of a topic (a worn chain, of cycling),
wrapped in talk that belongs to no topic. What makes it neither trivial nor hopeless:

- A subject lies in one split, so a test post never repeats a clause that was trained on. What carries over is the
  vocabulary of the topic. The first words of most posts say nothing.
- Some topics are close (cycling, running, hillwalking), some words lead two lives (pitch, scale, bar, keys), and
  some posts mention in passing a subject of another topic.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import count
from random import Random
from typing import Any
from zlib import crc32

from labkit.corpora.language import sentence_case, words

Row = dict[str, Any]

SEED = 13
UNITS = 2100
LENGTH = range(15, 61)  # words of a post

# Of five subjects of a topic the third is for testing, so that every topic has its share: 10 train, 2 dev, 3 test.
_DEAL = ("train", "train", "test", "train", "dev", "train", "train", "test", "train", "train")
_CHOICE = re.compile(r"\(([^()]+)\)")


@dataclass(frozen=True)
class Subject:
    """One thing people of a topic write about: its lines (doing, trouble, ask, tip, fact, notice) and its split."""

    topic: str
    name: str
    split: str
    lines: dict[str, str]


@cache
def subjects() -> tuple[Subject, ...]:
    """Every subject of every topic, in the order of the word list."""
    return tuple(
        Subject(topic, name, _DEAL[place % len(_DEAL)], lines)
        for topic, found in words("topics")["topics"].items()
        for place, (name, lines) in enumerate((key, value) for key, value in found.items() if isinstance(value, dict))
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
    topic = words("topics")["topics"][subject.topic]
    talk = words("topics")["talk"] | {"context": topic["context"]}
    voice = rng.choice(list(words("topics")["voices"].values()))
    # a part with a question mark is said two times in five
    parts = [part.rstrip("?") for part in voice if not part.endswith("?") or rng.randrange(5) < 2]
    matter = rng.choice(topic["matters"])
    another = rng.choice([found for found in _matters_near(subject.topic, rng) if found != matter])
    other = rng.choice(_passing(subject.topic, subject.split))
    lines = subject.lines | {"matter": matter, "another": another, "other": other}
    return " ".join(sentence_case(_spoken(rng.choice(talk[part]).format(**lines), rng)) for part in parts)


def _matters_near(topic: str, rng: Random) -> list[str]:
    """What is talked about in this topic or, one time in three, in one that is close to it."""
    close = next(topics for topics in words("topics")["close"].values() if topic in topics)
    chosen = topic if rng.randrange(3) else rng.choice([other for other in close if other != topic])
    return list(words("topics")["topics"][chosen]["matters"])


def _spoken(line: str, rng: Random) -> str:
    """`a (long|short) walk` -> `a short walk`."""
    return _CHOICE.sub(lambda match: rng.choice(match[1].split("|")), line)

"""Question pairs as on a question-and-answer site: duplicates, and pairs that only look like duplicates.

The rows are `text_a, text_b, label, split, kind`. Each way to make a duplicate has a negative counterpart, so that
neither shared words nor length reveal the label:

    1  one synonym   mend my bike / fix my bike       0  one detail changed       mend my bike / mend my car
    1  reordered     from A to B / to B from A        0  same words, other intent  from A to B / from B to A
    1  reworded      other sentence, other words      0  same topic, same field    how to prune / when to prune

An `Intent` is what somebody wants to know, a `Phrasing` is how they say it. They are drawn independently, and a
negative pair is a positive pair with another intent on one side.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations, count, product
from typing import Any

from .language import Row, gerund, sentence_case, word_lists

SEED = 9
UNITS = 416

_CHOICE = re.compile(r"\(([^()]*)\)")
# Only questions that remain one question after "In winter, ".
_FRONTABLE = re.compile(r"(?:How|When|Why|Where|What (?:is the|is a|do I)|Should I|Is it|Am I|May I)\b[^.]*\?$")
# The splits of a topic's blocks, which are ordered by their hash, so that every domain is in every split.
_DEAL = ("train", "train", "test", "train", "train", "dev", "train", "test", "train", "train")
_PICKS = 8  # the last two choose the names of the two things, the others choose within a verb phrase


@dataclass(frozen=True)
class Topic:
    """Kinds of question (`asks`) about two things, with verb phrases `do`. `pairs`: both things are from one list."""

    domain: str
    asks: tuple[str, ...]
    do: tuple[str, ...]
    pairs: bool


@dataclass(frozen=True)
class Block:
    """Couples of things in one split; for each couple, the block has another that differs in one thing."""

    topic: Topic
    couples: tuple[tuple[str, str], ...]
    split: str


@dataclass(frozen=True)
class Intent:
    """What somebody wants to know: `ask` (how, when, ...) about the things x and y, each "a name|another name"."""

    topic: Topic
    ask: str
    x: str
    y: str

    @property
    def symmetric(self) -> bool:
        """Whether the question remains the same if x and y are swapped."""
        return self.ask in word_lists("questions")["grammar"]["symmetric"]

    def in_order(self) -> Intent:
        """The intent with x and y sorted if it is symmetric, so that both orders are equal."""
        x, y = sorted((self.x, self.y)) if self.symmetric else (self.x, self.y)
        return replace(self, x=x, y=y)


@dataclass(frozen=True)
class Phrasing:
    """How an intent is said: numbers, taken modulo the number of options, so that every phrasing fits every intent."""

    frame: int
    wording: int
    order: int
    context: int  # below 0: none
    picks: tuple[int, ...]

    @classmethod
    def drawn(cls, rng: random.Random) -> Phrasing:
        frame = min(rng.choices(range(12), k=2))  # earlier frames are more common
        context = rng.randrange(60) if rng.random() < 0.05 else -1
        return cls(frame, rng.randrange(60), rng.randrange(2), context, tuple(rng.choices(range(6), k=_PICKS)))


def text(intent: Intent, phrasing: Phrasing) -> str:
    """The question. Intents with different meanings never give the same text."""
    frames = word_lists("questions")["frames"][intent.ask]
    return in_frame(frames[phrasing.frame % len(frames)], intent, phrasing)


def in_frame(frame: str, intent: Intent, phrasing: Phrasing) -> str:
    """The question in a given frame, otherwise in this phrasing."""
    topic, picks, turned = intent.topic, phrasing.picks, phrasing.order % 2
    x, y = _pick(intent.x, picks[-1]), _pick(intent.y, picks[-2])
    things = {"x": y, "y": x} if intent.symmetric and turned else {"x": x, "y": y}
    front = ""
    if topic.do:
        choices = iter(picks)
        wording = topic.do[phrasing.wording % len(topic.do)]
        wording = _CHOICE.sub(lambda match: _pick(match[1], next(choices)), wording)
        core, *parts = [part for part in wording.format(**things).split(" / ") if part]
        if turned and len(parts) == 2:
            parts.reverse()
        elif turned and parts and _FRONTABLE.match(frame):
            front = parts.pop() + ", "
        things["do"] = " ".join([core, *parts])
        things["doing"] = gerund(things["do"])
    else:
        things["ying"] = gerund(things["y"])
    question = frame.format(**things)
    question = sentence_case(front + question[0].lower() + question[1:] if front else question)
    if phrasing.context < 0 or ". " in frame:
        return question
    contexts = word_lists("questions")["contexts"]["any"] + word_lists("questions")["contexts"][topic.domain]
    return f"{contexts[phrasing.context % len(contexts)]} {question}"


def _pick(alternatives: str, number: int) -> str:
    options = alternatives.split("|")
    return options[number % len(options)]


def _one_synonym(intent: Intent, phrasing: Phrasing, rng: random.Random) -> Phrasing:
    """The phrasing with one expression replaced by a synonym, or unchanged if there is none."""
    for place in rng.sample(range(_PICKS), _PICKS):
        picks = tuple(pick + (place == at) for at, pick in enumerate(phrasing.picks))
        changed = replace(phrasing, picks=picks)
        if text(intent, changed) != text(intent, phrasing):
            return changed
    return phrasing


def _reordered(intent: Intent, phrasing: Phrasing, rng: random.Random) -> Phrasing:
    """A phrasing with the same content words in another order, or in another frame."""
    turned = replace(phrasing, order=phrasing.order + 1)
    if rng.random() < 0.6 and text(intent, turned) != text(intent, phrasing):
        return turned
    return replace(turned, frame=phrasing.frame + rng.randrange(1, 4), context=Phrasing.drawn(rng).context)


def _reworded(phrasing: Phrasing, rng: random.Random) -> Phrasing:
    """A phrasing with another frame and verb phrase, and another name for each thing."""
    frame, picks = phrasing.frame + rng.randrange(1, 3), tuple(pick + 1 for pick in phrasing.picks)
    return replace(Phrasing.drawn(rng), frame=frame, wording=phrasing.wording + 1, picks=picks)


@cache
def topic_blocks() -> tuple[tuple[Block, ...], ...]:
    """The blocks of every topic. No couple of a topic is in two blocks."""
    return tuple(_blocks(number, entry) for number, entry in enumerate(word_lists("questions")["topics"]))


def _blocks(number: int, entry: dict[str, Any]) -> tuple[Block, ...]:
    topic = Topic(entry["domain"], tuple(entry["asks"]), tuple(entry.get("do", ())), "y" not in entry)
    first, second = _two_by_two(entry["x"]), _two_by_two(entry.get("y", ()))
    sides: list[Any] = list(combinations(first, 2) if topic.pairs else product(first, second))
    if not entry.get("needs_y") and topic.do and all("/ {y}" in wording for wording in topic.do) and not topic.pairs:
        sides += [(two, ("",)) for two in first]
    sides.sort(key=lambda side: hashlib.sha256(f"{number} {side}".encode()).digest())
    deal = [_DEAL[(3 * number + place) % len(_DEAL)] for place in range(len(sides))]
    return tuple(Block(topic, tuple(product(*side)), split) for side, split in zip(sides, deal, strict=True))


def _two_by_two(things: Sequence[str]) -> list[Sequence[str]]:
    return [things[at : at + 2] for at in range(0, len(things), 2)]


@cache
def _field(domain: str, split: str) -> list[Block]:
    return [
        block for topic in topic_blocks() for block in topic if (block.topic.domain, block.split) == (domain, split)
    ]


def _unit(block: Block, rng: random.Random) -> tuple[list[Row], dict[str, Intent]]:
    """The pairs around one intent, in five phrasings and with similar intents in the same phrasings; and the intent of
    each text."""
    topic, couples = block.topic, block.couples
    if topic.pairs and rng.random() < 0.5:
        couples = tuple((y, x) for x, y in couples)
    intent = Intent(topic, rng.choice(topic.asks), *rng.choice(couples))
    x, y = rng.choice([(x, y) for x, y in couples if (x == intent.x) != (y == intent.y)])
    detail = replace(intent, x=x, y=y)
    asked = replace(intent, ask=rng.choice([ask for ask in topic.asks if ask != intent.ask]))
    twin, kind = detail, "one detail changed"
    if topic.pairs and not intent.symmetric:
        twin, kind = replace(intent, x=intent.y, y=intent.x), "same words, other intent"

    base = Phrasing.drawn(rng)
    synonym, turned = _one_synonym(intent, base, rng), _reordered(intent, base, rng)
    other = _reworded(base, rng)
    third = _reworded(other, rng)
    # Of three unrelated intents, the one whose question has the most similar length, so that length reveals nothing.
    field = rng.choices([each for each in _field(topic.domain, block.split) if each.topic is not topic], k=3)
    strangers = [Intent(each.topic, rng.choice(each.topic.asks), *rng.choice(each.couples)) for each in field]
    stranger = min(strangers, key=lambda each: abs(len(text(each, other)) - len(text(intent, other))))
    pairs = [
        (intent, base, intent, synonym, "one synonym"),
        (intent, base, intent, turned, "reordered"),
        (intent, turned, intent, other, "reworded"),
        (intent, other, intent, third, "reworded"),
        (twin, base, twin, turned, "reordered"),
        (twin, turned, twin, other, "reworded"),
        (intent, base, twin, turned, kind),
        (intent, turned, twin, base, kind),
        (intent, synonym, detail, base, "one detail changed"),
        (intent, other, asked, third, "same topic"),
        (intent, turned, stranger, other, "same field"),
        (intent, third, stranger, base, "same field"),
    ]
    rows: dict[frozenset[str], Row] = {}
    meant: dict[str, Intent] = {}
    for one, said, two, answered, kind in rng.sample(pairs, len(pairs)):
        a, b = rng.sample(sides := [text(one, said), text(two, answered)], 2)
        meant |= zip(sides, (one, two), strict=True)
        row = {"text_a": a, "text_b": b, "label": int(one == two), "split": block.split, "kind": kind}
        rows.setdefault(frozenset((a, b)), row)
    return [row for texts, row in rows.items() if len(texts) == 2], meant


def units(seed: int) -> Iterator[list[Row]]:
    """Endless units; each round contains every topic once, in a new order."""
    return (rows for rows, _ in _units(seed))


def meanings(seed: int) -> Iterator[dict[str, Intent]]:
    """The intent of every text, unit by unit. Texts with the same intent have the same meaning, even without a pair.

    Later units use the same intent in other words; the labels connect them only if a text recurs.
    """
    return ({text: intent.in_order() for text, intent in meant.items()} for _, meant in _units(seed))


def _units(seed: int) -> Iterator[tuple[list[Row], dict[str, Intent]]]:
    for number in count():
        rng = random.Random(seed * 1_000_003 + number)
        for topic in rng.sample(topic_blocks(), len(topic_blocks())):
            yield _unit(topic[number % len(topic)], rng)

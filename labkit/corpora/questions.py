"""Question pairs as on a site where people ask and help: which two ask the same, which only look as if they did.

Leaves: rows `text_a, text_b, label, split, kind`. Every way to make a duplicate has its counterpart among the
pairs that are none, so that neither the words shared nor the length gives the answer away:

    1  one synonym   mend my bike / fix my bike       0  one detail changed       mend my bike / mend my car
    1  reordered     from A to B / to B from A        0  same words, other intent  from A to B / from B to A
    1  reworded      other sentence, other words      0  same topic               how to prune / when to prune

An `Intent` is what somebody wants to know, a `Phrasing` the way to say it; the two are drawn apart, and an intent
never changes with its phrasing. A negative pair is a positive pair with the intent of one side exchanged.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations, count, product
from typing import Any

from labkit.corpora.language import sentence_case, words

Row = dict[str, Any]
SEED = 2024
UNITS = 440

_CHOICE = re.compile(r"\(([^()]*)\)")
# Only questions that stay one question with "In winter, " in front of them.
_FRONTABLE = re.compile(r"(?:How|When|Why|Where|Which (?:t|pl)|What (?:is the|is a|do I)|Should I|Is it|Am I|May I)\b[^.]*\?$")
# The blocks of a topic, in the order of their hash, are dealt out so that every domain has its part in every split.
_DEAL = ("train", "train", "test", "train", "train", "dev", "train", "test", "train", "train")
_PICKS = 8  # the last two are for the two things, the others for the choices within a verb phrase


@dataclass(frozen=True)
class Topic:
    """What can be asked about one matter. `pairs`: both things come from `first`; a block is four couples of things."""

    domain: str
    asks: tuple[str, ...]
    do: tuple[str, ...]
    first: tuple[str, ...]
    second: tuple[str, ...]
    pairs: bool
    symmetric: bool
    blocks: tuple[tuple[tuple[int, int], ...], ...]
    splits: tuple[str, ...]  # of each block: no couple of things lies in two splits


@dataclass(frozen=True)
class Intent:
    """What somebody wants to know: `ask` (how, when, ...) about the things number x and y."""

    topic: Topic
    ask: str
    x: int
    y: int

    @property
    def mirrored(self) -> bool:
        """Whether x and y may change places and the question stays the same."""
        return self.topic.symmetric or self.ask in words("questions")["grammar"]["symmetric"]


@dataclass(frozen=True)
class Phrasing:
    """How it is said. All are counts taken modulo what there is to choose from, so every phrasing fits every intent."""

    frame: int
    wording: int
    order: int
    context: int  # below 0: none
    picks: tuple[int, ...]


def gerund(phrase: str) -> str:
    """The -ing form of a verb phrase.

    >>> [gerund(phrase) for phrase in ("move away", "get rid of ink", "tie a knot", "free a room")]
    ['moving away', 'getting rid of ink', 'tying a knot', 'freeing a room']
    """
    verb, _, rest = phrase.partition(" ")
    if verb in words("questions")["grammar"]["doubled"]:
        verb += verb[-1]
    elif verb.endswith("ie"):
        verb = verb[:-2] + "y"
    elif re.search(r"[^eoy]e$", verb):
        verb = verb[:-1]
    return f"{verb}ing {rest}".strip()


def text(intent: Intent, phrasing: Phrasing) -> str:
    """The question. Two intents of the word lists never give the same text."""
    topic, picks = intent.topic, phrasing.picks
    x, y = _said(topic.first[intent.x], picks[-1]), _said(topic.second[intent.y], picks[-2])
    if intent.mirrored and phrasing.order % 2:
        x, y = y, x
    things = {"x": x, "y": y}
    frames = words("questions")["frames"][intent.ask]
    frame = frames[phrasing.frame % len(frames)]
    front = ""
    if topic.do:
        wording = topic.do[phrasing.wording % len(topic.do)]
        turn = iter(picks)
        core, *tails = _CHOICE.sub(lambda found: _said(found[1], next(turn)), wording).format(**things).split(" / ")
        tails = [tail for tail in tails if tail]
        if phrasing.order % 2 and len(tails) == 2:
            tails.reverse()
        elif phrasing.order % 2 and tails and _FRONTABLE.match(frame):
            front = tails.pop() + ", "
        things["do"] = " ".join([core, *tails])
        things["doing"] = gerund(things["do"])
    else:
        things["ying"] = gerund(things["y"])
    question = frame.format(**things)
    question = sentence_case(front + question[0].lower() + question[1:] if front else question)
    if phrasing.context < 0 or ". " in frame:
        return question
    contexts = words("questions")["contexts"]
    known = contexts["any"] + contexts[topic.domain]
    return f"{known[phrasing.context % len(known)]} {question}"


def _said(alternatives: str, pick: int) -> str:
    options = alternatives.split("|")
    return options[pick % len(options)]


@cache
def topics() -> tuple[Topic, ...]:
    """Every topic of the word lists, its couples of things cut into blocks and each block given a split."""
    return tuple(_topic(number, entry) for number, entry in enumerate(words("questions")["topics"]))


def _topic(number: int, entry: dict[str, Any]) -> Topic:
    first, second = entry["x"], entry.get("y", entry["x"])
    pairs = "y" not in entry
    rows, columns = range(0, len(first), 2), range(0, len(second), 2)
    corners = combinations(rows, 2) if pairs else product(rows, columns)
    blocks = [tuple(product((i, i + 1), (j, j + 1))) for i, j in corners]
    do = entry.get("do", [])
    if not pairs and not entry.get("needs_y") and do and all("/ {y}" in wording for wording in do):
        blocks += 3 * [((i, len(second)), (i + 1, len(second))) for i in rows]
        second = [*second, ""]
    blocks.sort(key=lambda block: hashlib.sha256(f"{number} {block}".encode()).digest())
    return Topic(
        domain=entry["domain"],
        asks=tuple(entry["asks"]),
        do=tuple(do),
        first=tuple(first),
        second=tuple(second),
        pairs=pairs,
        symmetric=entry.get("symmetric", False),
        blocks=tuple(blocks),
        splits=tuple(_DEAL[(3 * number + place) % len(_DEAL)] for place in range(len(blocks))),
    )


def _phrase(rng: random.Random) -> Phrasing:
    frame = min(rng.randrange(16), rng.randrange(16))  # the frames that stand first are the most common
    context = rng.randrange(60) if rng.random() < 0.08 else -1
    picks = tuple(rng.randrange(6) for _ in range(_PICKS))
    return Phrasing(frame, rng.randrange(60), rng.randrange(2), context, picks)


def _one_synonym(intent: Intent, phrasing: Phrasing, rng: random.Random) -> Phrasing:
    """One expression exchanged for another of the same meaning; unchanged where there is none."""
    before = text(intent, phrasing)
    for pick in rng.sample(range(_PICKS), _PICKS):
        picks = tuple(value + (place == pick) for place, value in enumerate(phrasing.picks))
        changed = replace(phrasing, picks=picks)
        if text(intent, changed) != before:
            return changed
    return phrasing


def _reordered(intent: Intent, phrasing: Phrasing, rng: random.Random) -> Phrasing:
    """The same words of content in another order, or in another kind of question."""
    turned = replace(phrasing, order=phrasing.order + 1)
    if rng.random() < 0.6 and text(intent, turned) != text(intent, phrasing):
        return turned
    return replace(turned, frame=phrasing.frame + rng.randrange(1, 4), context=_phrase(rng).context)


def _reworded(phrasing: Phrasing, rng: random.Random) -> Phrasing:
    """Another sentence with another verb phrase, and each thing called by its other name."""
    return replace(
        _phrase(rng),
        frame=phrasing.frame + rng.randrange(0, 4),
        wording=phrasing.wording + rng.randrange(1, 3),
        picks=tuple(pick + 1 for pick in phrasing.picks),
    )


def _siblings(
    intent: Intent, block: tuple[tuple[int, int], ...], rng: random.Random
) -> tuple[Intent | None, Intent, Intent]:
    """The intent with its things swapped (if that is another), with one thing changed, and with another ask."""
    swap = replace(intent, x=intent.y, y=intent.x) if intent.topic.pairs and not intent.mirrored else None
    x, y = rng.choice([(x, y) for x, y in block if (x == intent.x) != (y == intent.y)])
    ask = rng.choice([ask for ask in intent.topic.asks if ask != intent.ask])
    return swap, replace(intent, x=x, y=y), replace(intent, ask=ask)


def _stranger(intent: Intent, phrasing: Phrasing, split: str, rng: random.Random) -> Intent:
    """An intent of another topic in the same domain and split; of three, the one whose question is as long."""
    found = [(topic, block) for topic, block in _field(intent.topic.domain, split) if topic is not intent.topic]
    drawn = [Intent(topic, rng.choice(topic.asks), *rng.choice(block)) for topic, block in rng.choices(found, k=3)]
    length = len(text(intent, phrasing))
    return min(drawn, key=lambda other: abs(len(text(other, phrasing)) - length))


@cache
def _field(domain: str, split: str) -> list[tuple[Topic, tuple[tuple[int, int], ...]]]:
    return [
        (topic, block)
        for topic in topics()
        if topic.domain == domain
        for block, found in zip(topic.blocks, topic.splits, strict=True)
        if found == split
    ]


def _unit(topic: Topic, number: int, rng: random.Random) -> list[Row]:
    """The pairs around one intent: itself in five phrasings, its siblings in the same ones."""
    place = number % len(topic.blocks)
    split = topic.splits[place]
    block = topic.blocks[place]
    if topic.pairs and rng.random() < 0.5:
        block = tuple((y, x) for x, y in block)
    intent = Intent(topic, rng.choice(topic.asks), *rng.choice(block))
    base = _phrase(rng)
    synonym = _one_synonym(intent, base, rng)
    turned = _reordered(intent, base, rng)
    other = _reworded(base, rng)
    third = _reworded(other, rng)
    swap, detail, ask = _siblings(intent, block, rng)
    stranger = _stranger(intent, other, split, rng)
    twin = swap or detail
    kind = "same words, other intent" if swap else "one detail changed"
    rows = [
        _row(intent, base, intent, synonym, "one synonym"),
        _row(intent, base, intent, turned, "reordered"),
        _row(intent, turned, intent, other, "reworded"),
        _row(intent, other, intent, third, "reworded"),
        _row(twin, base, twin, turned, "reordered"),
        _row(twin, turned, twin, other, "reworded"),
        _row(intent, base, twin, turned, kind),
        _row(intent, turned, twin, base, kind),
        _row(intent, synonym, detail, base, "one detail changed"),
        _row(intent, other, ask, third, "same topic"),
        _row(intent, turned, stranger, other, "same field"),
        _row(intent, third, stranger, base, "same field"),
    ]
    rng.shuffle(rows)
    return [
        {**row, "split": split, "kind": row.pop("kind")} for row in rows if row["text_a"] != row["text_b"]
    ]


def _row(one: Intent, phrasing: Phrasing, other: Intent, other_phrasing: Phrasing, kind: str) -> Row:
    label = int(one == other)
    return {"text_a": text(one, phrasing), "text_b": text(other, other_phrasing), "label": label, "kind": kind}


def units(seed: int) -> Iterator[list[Row]]:
    """One unit after the other without end; each topic once in every round, in an order of its own."""
    for turn in count():
        rng = random.Random(seed * 1_000_003 + turn)
        for topic in rng.sample(topics(), len(topics())):
            yield _unit(topic, turn, rng)

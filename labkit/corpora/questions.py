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
_FRONTABLE = re.compile(r"(?:How|When|What|Why|Where|Which|Should I|Is it|Am I|May I|Do I|Can I)\b[^.]*\?$")
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
    flip = intent.mirrored and phrasing.order % 2
    x, y = (intent.y, intent.x) if flip else (intent.x, intent.y)
    things = {"x": _said(topic.first[x], picks[-1]), "y": _said(topic.second[y], picks[-2])}
    if flip:  # a thing keeps its name when it changes places
        things = {"x": _said(topic.first[x], picks[-2]), "y": _said(topic.second[y], picks[-1])}
    frames = words("questions")["frames"][intent.ask]
    frame = frames[phrasing.frame % len(frames)]
    front = ""
    if topic.do:
        wording = topic.do[phrasing.wording % len(topic.do)]
        turn = iter(picks)
        core, *tails = _CHOICE.sub(lambda found: _said(found[1], next(turn)), wording).format(**things).split(" / ")
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

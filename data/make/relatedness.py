"""Pairs of sentences with a score from 0 to 5 for how similar their meanings are, computed from what they say.

The rows are `text_a, text_b, score, split, kind`; a unit is one pair. A sentence expresses a `Frame` (who does what to
what, their number, attribute, place, and whether it is denied) in one of several patterns, with one of two names for
each thing. The second frame is the first with one kind of change. The similarity of two frames has these parts:

    part        weight   same   wider word   neighbour   opposite   only in one        else
    action        .35     1         -           .4          .15            -             0
    who           .25     1        .7           .1           -             -             0
    to what       .25     1        .7           .1           -             -             0
    details       .15     1         -            -           -            .7            .2

`near = Σ weight · part`. Details (the mean of number, attribute and place) are multiplied by the best agreement of the
other parts. If who and to what are swapped, near is .5 of its value without the swap; if only one frame is denied, .55.
But denying an action and affirming its opposite are almost the same action, .85. Frames of the same scene have at least
near .2. The score is the mean of five raters, who see `5 near²` with a small error each.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import count
from random import Random

from .language import Row, hashed, plural_phrase, sentence_case, with_article, word_lists

SEED = 1
UNITS = 2400
KINDS = {  # change -> its share of the pairs
    "nothing": 16, "wider word": 11, "a detail": 12, "to what": 9, "who": 9, "near action": 9, "opposite action": 13,
    "denied": 8, "opposite and denied": 8, "roles exchanged": 5, "who and to what": 11, "another event": 12,
    "another scene": 15,
}  # fmt: skip
SPLITS = ("train",) * 12 + ("dev",) * 3 + ("test",) * 5  # shares of the pairs
RATERS, NOISE = 5, 0.45
NUMBERS = {1: "", 2: "two", 3: "three"}
_NO_PASSIVE = ("from", "on", "behind", "to", "over")  # participles with these endings sound wrong before "by"


@dataclass(frozen=True)
class Thing:
    """A thing of a list; if `wide`, it is named by the list's wider word, which is number 0."""

    kind: str
    number: int
    wide: bool = False


@dataclass(frozen=True)
class Frame:
    """What a sentence says; "" or -1 if it does not say it."""

    event: str
    who: Thing
    what: Thing
    many: int = 1
    attribute: str = ""
    place: int = -1
    denied: bool = False


def units(seed: int) -> Iterator[list[Row]]:
    """Endless pairs. The split of a frame comes from a hash of event, who and to what; both frames of a pair share it.

    Split and kind are drawn before the frames, so that every split has the same mixture of kinds.
    """
    for index in count():
        random = Random(hashed(seed, index))
        split, kind = random.choice(SPLITS), random.choices(list(KINDS), list(KINDS.values()))[0]
        while True:  # until the change is possible and keeps the split
            one = draw_frame(random)
            other = change_frame(one, kind, random) if _split(one) == split else None
            if other is not None and _split(other) == split:
                break
        two = [one, other]
        random.shuffle(two)
        a, b = (frame_sentence(frame, random) for frame in two)
        if a != b:
            score = rated(nearness(one, other), random)
            yield [{"text_a": a, "text_b": b, "score": score, "split": split, "kind": kind}]


def _split(frame: Frame) -> str:
    return _split_of(frame.event, frame.who.kind, frame.who.number, frame.what.kind, frame.what.number)


@cache
def _split_of(event: str, who: str, who_number: int, what: str, what_number: int) -> str:
    return SPLITS[hashed(event, f"{who}{who_number}", f"{what}{what_number}") % len(SPLITS)]


# --- frames ----------------------------------------------------------------------------------------------------


@cache
def _attributes() -> dict[str, list[str]]:
    """List of things -> the attributes they can have."""
    lists = word_lists("relatedness")
    return {kind: lists["attributes"][name] for name, kinds in lists["described"].items() for kind in kinds}


def _thing(random: Random, kinds: list[str], unlike: Thing | None = None) -> Thing:
    """A random thing of the lists, other than `unlike`."""
    while True:
        kind = random.choice(kinds)
        thing = Thing(kind, random.randrange(1, len(word_lists("relatedness")["nouns"][kind])))
        if unlike is None or (thing.kind, thing.number) != (unlike.kind, unlike.number):
            return thing


def draw_frame(random: Random, event: str = "") -> Frame:
    """A random frame, of a random or the given event."""
    events = word_lists("relatedness")["events"]
    event = event or random.choice(list(events))
    who = _thing(random, events[event]["who"])
    what = _thing(random, events[event]["what"], who)
    counted = "past" not in events[event]
    attributes = _attributes().get(what.kind, [])
    return Frame(
        event,
        who,
        what,
        many=random.choice((1, 1, 2, 3)) if counted else 1,
        attribute=random.choice(attributes) if attributes and random.random() < 0.35 else "",
        place=random.randrange(4) if random.random() < 0.6 else -1,
        denied=random.random() < 0.12,
    )


def change_frame(frame: Frame, kind: str, random: Random) -> Frame | None:
    """The frame with this kind of change, or None if it is not possible."""
    event = word_lists("relatedness")["events"][frame.event]
    if kind == "nothing":
        return frame
    if kind == "wider word":
        part = random.choice(("who", "what"))
        return replace(frame, **{part: replace(getattr(frame, part), wide=True)})
    if kind == "a detail":
        return _other_detail(frame, random)
    if kind in ("to what", "who", "who and to what"):
        who = _thing(random, [frame.who.kind], frame.who) if "who" in kind.split() else frame.who
        what = _thing(random, [frame.what.kind], frame.what) if "what" in kind.split() else frame.what
        return None if who == what else replace(frame, who=who, what=what)
    if kind in ("near action", "opposite action", "opposite and denied"):
        other = event.get(kind.split()[0])
        fits = other and _can(other, "who", frame.who) and _can(other, "what", frame.what)
        return replace(frame, event=other, denied=frame.denied != kind.endswith("denied")) if fits else None
    if kind == "denied":
        return replace(frame, denied=not frame.denied)
    if kind == "roles exchanged":
        return replace(frame, who=frame.what, what=frame.who, attribute="") if event.get("swap") else None
    scene = [name for name, e in word_lists("relatedness")["events"].items() if e["scene"] == event["scene"]]
    if kind == "another event":
        return _unlike(
            frame, draw_frame(random, random.choice([name for name in scene if name != frame.event] or [frame.event]))
        )
    other_frame = draw_frame(random)
    return None if other_frame.event in scene else _unlike(frame, other_frame)


def _unlike(frame: Frame, other: Frame) -> Frame:
    """`other` with the number and denial of `frame` if possible, so that these do not reveal the change."""
    counted = "past" not in word_lists("relatedness")["events"][other.event]
    return replace(other, many=frame.many if counted else 1, denied=frame.denied)


def _can(event: str, part: str, thing: Thing) -> bool:
    return thing.kind in word_lists("relatedness")["events"][event][part]


def _other_detail(frame: Frame, random: Random) -> Frame:
    """The frame with another place, number or attribute, or without a place."""
    attributes = [each for each in _attributes().get(frame.what.kind, []) if each != frame.attribute]
    change = random.choice(("place", "place", "many", "attribute"))
    if change == "attribute" and attributes:
        return replace(frame, attribute=random.choice(attributes))
    if change == "many" and "past" not in word_lists("relatedness")["events"][frame.event]:
        return replace(frame, many=random.choice([number for number in NUMBERS if number != frame.many]))
    return replace(frame, place=random.choice([place for place in range(-1, 4) if place != frame.place]))


# --- similarity ------------------------------------------------------------------------------------------------


def nearness(one: Frame, other: Frame) -> float:
    """The similarity of two frames, 0 to 1, according to the table above."""
    contrary = word_lists("relatedness")["events"][one.event].get("opposite") == other.event
    twice_denied = contrary and one.denied != other.denied  # "does not close" is almost "opens"
    action = 0.85 if twice_denied else _same_action(one.event, other.event)
    straight = 0.25 * _alike(one.who, other.who) + 0.25 * _alike(one.what, other.what)
    crossed = 0.25 * _alike(one.who, other.what) + 0.25 * _alike(one.what, other.who)
    details = [
        1.0 if a == b else 0.7 if missing in (a, b) else 0.2
        for a, b, missing in (
            (one.many, other.many, 0),
            (one.attribute, other.attribute, ""),
            (one.place, other.place, -1),
        )
        if (a, b) != (missing, missing)
    ]
    common = max(action, 2 * straight, 2 * crossed)
    near = 0.35 * action + straight + 0.15 * common * sum(details) / len(details)
    if crossed > straight:
        near = 0.5 * (near - straight + crossed)
    if one.denied != other.denied and not contrary:
        near *= 0.55
    scenes = {word_lists("relatedness")["events"][event]["scene"] for event in (one.event, other.event)}
    return max(near, 0.2 if len(scenes) == 1 else 0.0)


def _same_action(one: str, other: str) -> float:
    events = word_lists("relatedness")["events"]
    if one == other:
        return 1.0
    if events[one].get("opposite") == other:
        return 0.15
    return 0.4 if other == events[one].get("near") or one == events[other].get("near") else 0.0


def _alike(one: Thing, other: Thing) -> float:
    if one.kind != other.kind:
        return 0.0
    if one.number == other.number:
        return 0.7 if one.wide != other.wide else 1.0
    return 0.1


def rated(near: float, random: Random) -> float:
    """The mean of the raters, with one decimal. Errors are sums of twelve uniform draws, which are almost normal and,
    unlike logarithms, equal to the last digit on every machine."""
    errors = [sum(random.random() for _ in range(12)) - 6 for _ in range(RATERS)]
    seen = [min(5.0, max(0.0, 5 * near * near + NOISE * error)) for error in errors]
    return round(sum(seen) / RATERS, 1)


# --- sentences -------------------------------------------------------------------------------------------------


def frame_sentence(frame: Frame, random: Random) -> str:
    """A sentence that expresses the frame."""
    event = word_lists("relatedness")["events"][frame.event]
    past = "past" in event
    who = _phrase(frame.who, frame.many, "", past and frame.who.kind != "weathers", random)
    what = _phrase(frame.what, 1, frame.attribute, frame.what.kind in ("prices", "crops"), random)
    base, present, ing, then, participle = random.choice(event["does"]).split(", ")
    be, do = ("are", "do") if frame.many > 1 else ("is", "does")
    no = " not" if frame.denied else ""
    if past:
        active = f"{who} did not {base} {what}" if frame.denied else f"{who} {then} {what}"
        said = [active, active, f"{what} was{no} {participle} by {who}"]
    else:
        plain = (
            f"{who} {do} not {base} {what}" if frame.denied else f"{who} {base if frame.many > 1 else present} {what}"
        )
        said = [f"{who} {be}{no} {ing} {what}", plain, f"{what} is{no} being {participle} by {who}"]
        said += [] if frame.denied else [f"there {be} {who} {ing} {what}"]
    said = [text for text in said if " by " not in text or participle.split()[-1] not in _NO_PASSIVE]
    text = random.choice(said)
    if frame.place >= 0:
        place = random.choice(word_lists("relatedness")["scenes"][event["scene"]][frame.place].split(" / "))
        text = f"{place}, {text}" if random.random() < 0.3 else f"{text} {place}"
    return sentence_case(text) + "."


def _phrase(thing: Thing, many: int, attribute: str, definite: bool, random: Random) -> str:
    """A noun phrase, such as `a small dog`, `two hounds` or `the rent`."""
    names = word_lists("relatedness")["nouns"][thing.kind]
    name = names[0] if thing.wide else random.choice(names[thing.number].split(" / "))
    if attribute:
        name = f"{random.choice(attribute.split(' / '))} {name}"
    if many > 1:
        return f"{NUMBERS[many]} {plural_phrase(name, word_lists('relatedness')['plurals'])}"
    return f"the {name}" if definite else with_article(name)

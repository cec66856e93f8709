"""Minimal pairs from the generators: the same record in the same words, with one thing changed.

In: the name of a corpus, a kind of difference (see `labkit.corpora.catalogue`), a seed, a split. Out: a stream of
`MinimalPair`s; `truths.py` writes the first of them. A draft becomes a pair only if its sentences agree in all but the
changed words. Words that grammar requires (a/an, does) may differ too, and do not count as changed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import product
from random import Random
from typing import Any, NamedTuple

from labkit.corpora.catalogue import MinimalPair
from labkit.text import words

from . import captions, questions, relatedness
from .captions import Scene
from .language import hashed, word_lists

TRIES = 1000  # drafts from one topic, event or activity before it counts as exhausted
# If one of these words changes, more than one thing changes, or nothing with a meaning of its own.
GRAMMAR = {
    *words("a an the my our his her its their is are was were be being been do does did has have there that who by")
}
# Names that are wider, narrower or vaguer than the names they would replace.
LOOSE = {
    *words(
        "academy adult adults anorak apples birds bookshelf bookshelves chapel chart citrus coat coats computer "
        "computers container egg figure gentleman gentlemen gherkin group hills keyboard mallard mallards mashed "
        "material mixed note novel novels pastry pavement people person plate plates ponies pony raven ravens "
        "recorder ripe salad seat shed song songs stag stags storm stretches technician teenager teenagers tomcat "
        "tomcats tune volleyball work youth youths"
    )
}
# Names that nobody uses, and ungrammatical combinations of the lists.
ODD = re.compile(
    r"\b(?:(?:picture|bread|beer) (?:maker|taker)s?|makers? of|carvers? of|birth nurses?|garden keepers?|keeper of"
    r"|of felt|midwifes|eating (?:apple|place)|green stalk|(?:a|little|small|big|large) bulb|for the basket"
    r"|ash-coloured|azure|crimson|emerald|(?:a|two|three) backs?|somebody|(?:chores|stretches) is)\b",
    re.IGNORECASE,
)
NEGATED = {  # a frame of the questions -> its negation in natural English
    re.sub(r"\b(?:do )?not ", "", frame): frame
    for frame in (
        "Why should I not {do}?", "What is the point of not {doing}?", "What do I gain if I do not {do}?",
        "What are the benefits of not {doing}?", "For what reason should I not {do}?",
        "What are the arguments for not {doing}?", "Who can explain why one should not {do}?",
        "When should I not {do}?", "Who can tell me when not to {do}?", "Is it a good idea not to {do}?",
        "Is it wise not to {do}?", "Does it make sense not to {do}?", "What do you think of not {doing}?",
        "Would you advise me not to {do}?", "Is it advisable not to {do}?", "Is it safe not to {do}?",
        "Is it dangerous not to {do}?", "Is there any risk in not {doing}?", "Could it be harmful not to {do}?",
        "Are there any risks when I do not {do}?", "How risky is it not to {do}?",
        "What can go wrong when I do not {do}?", "Which problems can arise when I do not {do}?",
        "Why do people not prefer {x} to {y}?", "Why not choose {x} over {y}?", "Why not take {x} rather than {y}?",
        "Can I not use {x} instead of {y}?", "Can {x} not replace {y}?",
        "Is it not all right to take {x} instead of {y}?", "Does it not work to replace {y} with {x}?",
        "Why does {x} not {y}?", "For what reason does {x} not {y}?",
        "What could cause {x} not to {y}?", "Any idea why {x} would not {y}?", "Is it normal for {x} not to {y}?",
        "Is it usual for {x} not to {y}?", "Is it odd for {x} not to {y}?",
    )
}  # fmt: skip

Changed = tuple[frozenset[str], frozenset[str]]


class Draft(NamedTuple):
    """Two sentences, the generator's record of each, and the names of the things that are swapped."""

    texts: tuple[str, str]
    meant: tuple[Any, Any]
    exchanged: str = ""


def found(corpus: str, kind: str, seed: int, split: str) -> Iterator[tuple[MinimalPair, Draft]]:
    """Pairs and their drafts until none are left, in rounds with one for each topic, event or activity."""
    random = Random(hashed("minimal", corpus, kind, seed, split))
    drafts: dict[str, Callable[..., Draft | None]] = {
        "questions": _question, "relatedness": _frame, "captions": _scene,
    }  # fmt: skip
    sources: dict[str, list[Any]] = {
        "questions": [*questions.topic_blocks()],
        "relatedness": [*word_lists("relatedness")["events"]],
        "captions": [(group, activity) for group in captions.SHARES for activity in word_lists("captions")[group]],
    }
    left, told = [*sources[corpus]], set[str]()
    while left:
        met = set[frozenset[frozenset[str]]]()  # the changes of this round; the first repetitions are skipped
        for source in random.sample(left, len(left)):
            again = 0
            for _ in range(TRIES):
                draft = drafts[corpus](source, kind, split, random)
                if not draft or not told.isdisjoint(draft.texts) or not (changed := truth(kind, draft)):
                    continue
                again += frozenset(changed) in met
                if kind in ("order", "negation") or frozenset(changed) not in met or again > 3:
                    met.add(frozenset(changed))
                    told.update(draft.texts)
                    (a, new_a), (b, new_b) = random.sample([*zip(draft.texts, changed, strict=True)], 2)
                    yield MinimalPair(corpus, kind, a, b, new_a, new_b, sources[corpus].index(source)), draft
                    break
            else:
                left.remove(source)


def truth(kind: str, draft: Draft) -> Changed | None:
    """The changed words of both sentences, or None if they are not a minimal pair."""
    one, other = sides = [["a" if word == "an" else word for word in words(text)] for text in draft.texts]
    changed: Changed
    if kind == "order":
        changed = (frozenset(words(draft.exchanged)) - GRAMMAR,) * 2
        fits = one != other and Counter(one) == Counter(other)
    elif kind == "negation":
        changed = frozenset(), frozenset({"not"})
        fits = "not" not in one
    else:
        changed = frozenset(one) - frozenset(other), frozenset(other) - frozenset(one)
        fits = all(changed) and not (GRAMMAR | LOOSE) & (changed[0] | changed[1]) and _in_one_place(sides, changed)
    told = list(zip(sides, changed, strict=True))
    once = all(word.isalnum() and side.count(word) == 1 for side, new in told for word in new)
    rest = [[word for word in side if word not in new] for side, new in told]
    alike = rest[0] == rest[1] or (kind == "negation" and _supported(*rest))
    return changed if fits and once and alike and not any(map(ODD.search, draft.texts)) else None


def _in_one_place(sides: list[list[str]], changed: Changed) -> bool:
    """Whether the changed words start at the same position, with only the same grammatical words between them."""
    spans = []
    for side, new in zip(sides, changed, strict=True):
        at = [at for at, word in enumerate(side) if word in new]
        spans.append((at[0], [word for word in side[at[0] : at[-1]] if word not in new]))
    return spans[0] == spans[1] and GRAMMAR.issuperset(spans[0][1])


def _supported(plain: list[str], negated: list[str]) -> bool:
    """Whether they differ only by a form of "do" and the resulting verb form: chases / does (not) chase."""
    return any(
        word in ("do", "does", "did")
        and negated[:at] + negated[at + 2 :] == plain[:at] + plain[at + 1 :]
        and negated[at + 1][0] == plain[at][0]
        for at, word in enumerate(negated[: len(plain)])
    )


# --- drafts ----------------------------------------------------------------------------------------------------


class Draws(Random):
    """Choices that depend only on how many were made before, not on the list, so that two records get the same words.

    Choice number `turned` takes the next element of its list. `made` records each list and the element chosen.
    """

    turned = -1

    def __init__(self, key: int) -> None:
        super().__init__(key)
        self.made: list[tuple[Sequence[Any], Any]] = []

    def choice(self, seq: Any) -> Any:
        chosen = seq[(self.getrandbits(30) + (len(self.made) == self.turned)) % len(seq)]
        self.made.append((seq, chosen))
        return chosen

    def random(self) -> float:
        """Never so small that a caption uses a wider word or omits a person."""
        return 0.25 + 0.4 * super().random()


def _question(blocks: Sequence[questions.Block], kind: str, split: str, random: Random) -> Draft | None:
    """A draft of a topic: another thing, the things swapped, one synonym, or a negated frame."""
    if not (dealt := [block for block in blocks if block.split == split]):
        return None
    block = random.choice(dealt)
    topic, couples = block.topic, block.couples
    if topic.pairs and random.random() < 0.5:
        couples = tuple((y, x) for x, y in couples)
    one = other = questions.Intent(topic, random.choice(topic.asks), *random.choice(couples))
    said = replied = replace(questions.Phrasing.drawn(random), frame=random.randrange(60), order=0, context=-1)
    frames = word_lists("questions")["frames"][one.ask]
    frame = answered = frames[said.frame % len(frames)]
    if re.search(r"[.?] ", frame):
        return None
    if kind == "detail":
        x, y = random.choice([(x, y) for x, y in couples if (x == one.x) != (y == one.y)])
        other = replace(one, x=x, y=y)
    elif kind == "synonym":
        replied = questions._one_synonym(one, said, random)
    elif kind == "negation":
        answered = NEGATED.get(frame, frame)
    elif topic.pairs and not one.symmetric:
        *picks, y_name, x_name = said.picks
        other, replied = replace(one, x=one.y, y=one.x), replace(said, picks=(*picks, x_name, y_name))
    if (one, said, frame) == (other, replied, answered):
        return None
    texts = questions.in_frame(frame, one, said), questions.in_frame(answered, other, replied)
    names = questions._pick(one.x, said.picks[-1]), questions._pick(one.y, said.picks[-2])
    return Draft(texts, (one.in_order(), other.in_order()), " ".join(names))


def _frame(event: str, kind: str, split: str, random: Random) -> Draft | None:
    """A draft of an event: another frame with the same draws, or the same frame with one draw changed."""
    details = ("a detail", "a detail", "who", "to what", "near action", "opposite action")
    changes = {"order": ("roles exchanged",), "synonym": ("nothing",), "negation": ("denied",)}
    one = replace(relatedness.draw_frame(random, event), denied=False)
    if kind == "order":
        one = replace(one, many=1, attribute="")
    other = relatedness.change_frame(one, random.choice(changes.get(kind, details)), random)
    if other is None or {relatedness._split(one), relatedness._split(other)} != {split}:
        return None
    draws = Draws(key := random.getrandbits(32))
    text = relatedness.frame_sentence(one, draws)
    again = Draws(key)
    if kind == "synonym":
        again.turned = random.randrange(len(draws.made))
    replied = relatedness.frame_sentence(other, again)
    names = " ".join(name for _, name in draws.made[:2])
    return Draft((text, replied), (one, other), names)


def _scene(source: tuple[str, str], kind: str, split: str, random: Random) -> Draft | None:
    """A draft of an activity: another scene with the same draws, or the same scene with one synonym or with "not"."""
    cores, swaps = _cores(*source, split), _swaps(*source, split)
    if not (swaps if kind == "order" else cores):
        return None
    one = other = captions.scene_with(*source, random.choice(cores), random)
    if kind == "order":
        core, look = random.choice(swaps)
        one = replace(captions.scene_with(*source, core, random), object_look=look)
        other = replace(one, look=look, object_look=one.look)
    elif kind == "detail":
        other = _other_scene(one, captions.scene_with(*source, random.choice(cores), random), random)
        if other == one or other.core not in cores:
            return None
    family, draws = random.choice(captions.families(*source)), Draws(key := random.getrandbits(32))
    text = captions.caption(one, family, draws)
    if kind == "negation":
        replied, times = re.subn(r"\b(is|are) (?=\w+ing\b)", r"\1 not ", text)
        return Draft((text, replied), (one, other)) if times == 1 else None
    again = Draws(key)
    if kind == "synonym":
        names = [at for at, (names, _) in enumerate(draws.made) if tuple(names) in _synonyms()]
        again.turned = random.choice(names or [-1])
    replied = captions.caption(other, family, again)
    wordings = word_lists("captions")["looks"]
    looks = {word for look in (one.look, one.object_look) for word in words(" ".join(wordings.get(look, [look])))}
    shown = " ".join(word for word in words(text) if word in looks)
    return Draft((text, replied), (one, other), shown) if len(draws.made) == len(again.made) else None


@cache
def _cores(kind: str, activity: str, split: str) -> tuple[tuple[str, str, str, str], ...]:
    return tuple(core for core in captions._cores(kind, activity) if captions.split_of(activity, core) == split)


@cache
def _swaps(kind: str, activity: str, split: str) -> list[tuple[tuple[str, str, str, str], str]]:
    """Cores of scenes, each with a look of the object that can be swapped with the look of the subject."""
    cores = _cores(kind, activity, split)
    pairs = product(cores, looks := word_lists("captions")[kind][activity].get("object", {}).get("looks", []))
    return [(core, look) for core, look in pairs if look != core[2] in looks and (*core[:2], look, core[3]) in cores]


@cache
def _synonyms() -> frozenset[tuple[str, ...]]:
    """Lists of synonyms, without those in which one name ends with another (rowing boat, boat), which is wider."""
    lists = word_lists("captions")
    named = [*lists["who"].values(), *lists["wear"].values()]
    named += [facts["object"] for group in captions.SHARES for facts in lists[group].values() if "object" in facts]
    names = [each["names"] for each in named if "names" in each] + [*lists["looks"].values(), *lists["worn"].values()]
    return frozenset(
        tuple(some) for some in names if not any(one != two and one.endswith(two) for one, two in product(some, some))
    )


def _other_scene(one: Scene, two: Scene, random: Random) -> Scene:
    """The first scene with one fact of the second if the two facts exclude each other, otherwise unchanged."""
    lists = word_lists("captions")
    field = random.choice(("who", "number", "look", "place", "wear", "object_look", "when", "behind"))
    other = replace(one, **{field: getattr(two, field)})
    both = {getattr(one, field), getattr(two, field)}
    there = lists["place"][other.place]
    fits = other.when in there["when"] and other.behind < len(there["behind"])
    if field in ("look", "object_look"):
        fits = both <= {*lists["clothes"]} or both == {"big", "small"}
    elif field == "number":
        fits = both <= {"two", "three", "four"}
    elif field == "wear":
        fits = len({lists["wear"].get(wear, {}).get("said") for wear in both}) == 1
    elif field == "who":
        fits = not (_covers(one.who, two.who) or _covers(two.who, one.who))
    return other if fits else one


@cache
def _covers(who: str, other: str) -> bool:
    """Whether a name of `who` is also true of `other`: "man" of an old man, "child" of a boy."""
    first, second = (word_lists("captions")["who"][each] for each in (who, other))
    names = first.get("names", []) + first.get("together", [])
    others = second.get("names", []) + second.get("together", []) + second.get("above", [])
    return any(f" {two}".endswith(f" {one}") for one, two in product(names, others))

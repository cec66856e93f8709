"""Functions shared by the generators: word lists, hashes, and a little English grammar. None of them is random."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tomllib import loads
from typing import Any

Row = dict[str, Any]

_AN = re.compile(r"^(?:[aeiou]|hour|honest|honou?r|heir)", re.IGNORECASE)
_A = re.compile(r"^(?:uni(?!n|m)|use|usu|ute|euro|one\b|once)", re.IGNORECASE)
# verbs that double their last letter
_DOUBLED = re.compile(r"[^aeiou]*[aeiou][bdgklmnprt]|begin|cancel|forget|pedal|quarrel|shovel|transfer|travel")


@cache
def word_lists(name: str) -> dict[str, Any]:
    """The word lists of one generator, read from `words/NAME.toml`."""
    return loads((Path(__file__).parent / "words" / f"{name}.toml").read_text(encoding="utf-8"))


def hashed(*key: object, size: int = 8) -> int:
    """The first bytes of a key's hash as a number, the same on every machine."""
    return int.from_bytes(hashlib.sha256("/".join(map(str, key)).encode()).digest()[:size], "big")


def with_article(noun: str) -> str:
    """The noun with its indefinite article.

    >>> [with_article(noun) for noun in ("apple", "unicorn", "hour", "red apple")]
    ['an apple', 'a unicorn', 'an hour', 'a red apple']
    """
    return f"{'an' if _AN.match(noun) and not _A.match(noun) else 'a'} {noun}"


def plural(noun: str) -> str:
    """The regular plural of the last word.

    >>> [plural(noun) for noun in ("cat", "church", "city", "day", "knife shop")]
    ['cats', 'churches', 'cities', 'days', 'knife shops']
    """
    if re.search(r"(?:s|x|z|ch|sh)$", noun):
        return noun + "es"
    return noun[:-1] + "ies" if re.search(r"[^aeiou]y$", noun) else noun + "s"


def plural_phrase(noun: str, irregular: Mapping[str, str]) -> str:
    """The plural of a noun phrase; `irregular` maps words to their irregular plurals.

    >>> plural_phrase("member of the team", {}), plural_phrase("young man", {"man": "men"})
    ('members of the team', 'young men')
    """
    head, *rest = re.split(r"(?= (?:of|on|for|in|with)\b)", noun, maxsplit=1)
    before, space, last = head.rpartition(" ")
    return before + space + (irregular.get(last) or plural(last)) + "".join(rest)


def gerund(phrase: str) -> str:
    """The -ing form of a verb phrase.

    >>> [gerund(phrase) for phrase in ("move away", "get rid of ink", "tie a knot", "free a room")]
    ['moving away', 'getting rid of ink', 'tying a knot', 'freeing a room']
    """
    verb, space, rest = phrase.partition(" ")
    if verb.endswith("ie"):
        verb = verb[:-2] + "y"
    elif _DOUBLED.fullmatch(verb):
        verb += verb[-1]
    else:
        verb = re.sub(r"(?<=[^eoy])e$", "", verb)
    return f"{verb}ing{space}{rest}"


def sentence_case(text: str) -> str:
    """The text with its first letter capitalised.

    >>> sentence_case("how far is it to Porto?")
    'How far is it to Porto?'
    """
    return text[:1].upper() + text[1:]

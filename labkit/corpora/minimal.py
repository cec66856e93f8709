"""Minimal pairs: two sentences that differ in one known thing, with the words that make the difference.

They are the ground truth for explanations of similarity, because the generator knows which word it changed.
`data/make/minimal.py` wrote 1,000 pairs of each kind from the test splits to `data/minimal_pairs.csv`.

    detail    a thing, number, place, colour or action changes       A dog chases a gull. / A dog chases a crow.
    order     two things swap places: another meaning              A dog chases a cat. / A cat chases a dog.
    synonym   another expression of the same meaning                 A dog chases a gull. / A hound chases a gull.
    negation  "not" is inserted                                      A dog chases a gull. / A dog does not chase a gull.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cache

from labkit.corpora.catalogue import DATA

PAIRED = ("questions", "relatedness", "captions")  # corpora that have minimal pairs
KINDS = ("detail", "order", "synonym", "negation")


@dataclass(frozen=True)
class MinimalPair:
    """Two sentences, and the words of each, in lower case, that make the difference.

    `source`: the number of the topic, event or activity that both sentences describe.
    """

    corpus: str
    kind: str
    text_a: str
    text_b: str
    changed_a: frozenset[str]
    changed_b: frozenset[str]
    source: int = field(default=0, compare=False)


def minimal_pairs(corpus: str, kind: str, count: int) -> list[MinimalPair]:
    """The first `count` pairs of one kind; each sentence occurs in one pair only."""
    for name, value, known in (("corpus", corpus, PAIRED), ("kind", kind, KINDS)):
        if value not in known:
            raise ValueError(f"{name} is {value!r}, expected one of {', '.join(known)}")
    pairs = _bundled()[corpus, kind]
    if not 1 <= count <= len(pairs):
        raise ValueError(f"count is {count}, expected 1 to {len(pairs)}; choose a smaller count, or more kinds")
    return pairs[:count]


@cache
def _bundled() -> dict[tuple[str, str], list[MinimalPair]]:
    """All bundled pairs, by corpus and kind."""
    pairs: dict[tuple[str, str], list[MinimalPair]] = defaultdict(list)
    with (DATA / "minimal_pairs.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            a, b = (frozenset(row[column].split()) for column in ("changed_a", "changed_b"))
            pair = MinimalPair(row["corpus"], row["kind"], row["text_a"], row["text_b"], a, b, int(row["source"]))
            pairs[pair.corpus, pair.kind].append(pair)
    return pairs

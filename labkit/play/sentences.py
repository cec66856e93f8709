"""The sentences of the playground: a few short ones per class, some of them held out.

In: a labelled corpus, or the bundled topics. Out: `PlaySentences`, classes and rows (text, class, unseen), which the
page reads as JSON.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from labkit.corpora import Corpus, Labelled, load

CLASSES, EACH, LONGEST = 12, 60, 300  # maximum of classes, of sentences per class, of characters shown per sentence
TOPICS = (
    "astronomy", "baking", "choir", "cooking", "cycling", "gardening",
    "guitar", "hardware", "housing", "money", "programming", "running",
)  # fmt: skip
OPENING = 3  # words; all topics share the same small talk at the start
LENGTHS = range(4, 17)  # numbers of words that can be read at a glance
EVERY = 5  # every fifth sentence stays unseen if the corpus has no splits


@dataclass(frozen=True)
class PlaySentences:
    """The classes, and rows of a text, the number of its class, and whether it is never used in training."""

    name: str
    classes: tuple[str, ...]
    rows: tuple[tuple[str, int, bool], ...]


def bundled() -> PlaySentences:
    """Return short sentences from twelve of the bundled topics, without the small talk that topics share."""
    topics = load("topics")
    assert isinstance(topics, Labelled)
    posts = list(zip(topics.texts, topics.labels, strict=True))
    labels: defaultdict[str, set[str]] = defaultdict(set)  # labels of a sentence and of its opening
    for sentence, label in _sentences(posts):
        labels[sentence].add(label)
        labels[_opening(sentence)].add(label)
    kept: dict[str, list[str]] = {label: [] for label in TOPICS}
    for sentence, label in _sentences(posts):
        clear = len(labels[sentence]) == len(labels[_opening(sentence)]) == 1 and len(sentence.split()) in LENGTHS
        if clear and label in kept and not any(_alike(sentence, other) for other in kept[label]):
            kept[label].append(sentence)
    fewest = min(map(len, kept.values()))
    return _numbered("topics", [(text, label, None) for label, texts in kept.items() for text in texts[:fewest]])


def from_corpus(corpus: Corpus) -> PlaySentences:
    """Return the short sentences of a corpus's largest classes; its test and dev rows are held out."""
    if not isinstance(corpus, Labelled):
        raise ValueError(f"the corpus has {corpus.KIND}, expected sentences with classes (columns text and label)")
    sizes = Counter(corpus.labels)
    largest = {label for label, size in sizes.most_common(CLASSES) if size > 1}
    if len(largest) < 2:
        raise ValueError(
            f"the corpus has {len(largest)} classes with two or more sentences, but needs at least 2; add labelled rows"
        )
    splits: Sequence[str | None] = corpus.splits or [None] * len(corpus.texts)
    rows = sorted(zip(corpus.texts, corpus.labels, splits, strict=True), key=lambda row: len(row[0].split()))
    each: Counter[str] = Counter()
    kept = []
    for text, label, split in rows:
        if label in largest and each[label] < EACH:
            each[label] += 1
            kept.append((text[:LONGEST], label, None if split is None else split != "train"))
    return _numbered(corpus.name, kept)


def _numbered(name: str, rows: Sequence[tuple[str, str, bool | None]]) -> PlaySentences:
    classes = tuple(dict.fromkeys(label for _, label, _ in rows))
    seen: Counter[str] = Counter()
    numbered = []
    for text, label, unseen in sorted(rows, key=lambda row: classes.index(row[1])):
        seen[label] += 1
        unseen = seen[label] % EVERY == 0 if unseen is None else unseen
        numbered.append((text, classes.index(label), unseen))
    return PlaySentences(name, classes, tuple(numbered))


def _sentences(posts: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    for post, label in posts:
        for sentence in re.split(r"(?<=[.!?])\s+", post):
            yield sentence, label


def _opening(sentence: str) -> str:
    return " ".join(sentence.split()[:OPENING])


def _alike(one: str, other: str) -> bool:
    """Whether at most two words of one are missing from the other: the same template, filled in differently."""
    return len(set(one.split()) - set(other.split())) <= 2

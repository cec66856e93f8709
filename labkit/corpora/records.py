"""The six shapes of a corpus: `Labelled`, `Pairs`, `Triplets`, `Groups`, `Articles` and `Sentences`.

Records are frozen, and they are checked once, when they are created. Every row is in one split: train, dev or test.
Rows without a split are divided (`splits.py`); `splits="train"` assigns all rows to train, the default for `Sentences`.
`extra` contains further columns, such as the kind of a pair or the coordinates of a place, each as a tuple.
`numbers` are the row numbers of the source, for messages; they are not part of the fingerprint.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from labkit.corpora.splits import by_class, connected, dealt, grouped, portion, together

SPLITS = ("train", "dev", "test")
NEAR, FAR = 0.8, 0.4  # limits as shares of the top grade


def grade_ends(grades: ArrayLike, top: float) -> tuple[np.ndarray, np.ndarray]:
    """Masks of the grades that mark two sentences as similar, and as different; grades in between are in neither.

    >>> near, far = grade_ends([5, 4, 3, 2, 0], top=5)
    >>> near.tolist(), far.tolist()
    ([True, True, False, False, False], [False, False, False, True, True])
    """
    grades = np.asarray(grades, float)
    return (grades >= NEAR * top) & (grades > 0), grades <= FAR * top


# --- a column on disk --------------------------------------------------------------------------------------------

TOGETHER = 2**13  # values converted to Python objects at once


class Column(Sequence[Any]):
    """A column of an Arrow table, or some of its rows in any order; used like a tuple and read on access."""

    def __init__(self, values: Any) -> None:
        self._chunks = [chunk for chunk in values.chunks if len(chunk)]
        self._ends = np.cumsum([len(chunk) for chunk in self._chunks], dtype=np.int64)  # ends of chunks, in rows
        self._length = len(values)
        self._rows: np.ndarray | None = None  # None: all rows

    def __len__(self) -> int:
        return self._length if self._rows is None else len(self._rows)

    def __getitem__(self, place: Any) -> Any:
        if not isinstance(place, slice):
            return self[place : place + 1 or None][0]
        places = np.arange(*place.indices(len(self)))
        rows = places if self._rows is None else self._rows[places]
        owners = np.searchsorted(self._ends, rows, side="right")
        found = np.empty(len(rows), object)
        for owner in np.unique(owners):
            chunk, here = self._chunks[owner], owners == owner
            found[here] = chunk.take(rows[here] - (self._ends[owner] - len(chunk))).to_pylist()
        return tuple(found.tolist())

    def __iter__(self) -> Iterator[Any]:
        for start in range(0, len(self), TOGETHER):
            yield from self[start : start + TOGETHER]

    def take(self, rows: np.ndarray) -> Column:
        """Select rows as a column, without reading them."""
        taken = copy(self)
        taken._rows = rows if self._rows is None else self._rows[rows]
        return taken


# --- the common part of all shapes -------------------------------------------------------------------------------


def _held(values: Sequence[Any]) -> Sequence[Any]:
    """The values of a field: a tuple in memory, or a column on disk."""
    return values if isinstance(values, Column) else tuple(values)


def _taken(values: Sequence[Any], rows: np.ndarray) -> Sequence[Any]:
    return values.take(rows) if isinstance(values, Column) else [values[row] for row in rows.tolist()]


def hashed_split(key: str) -> str:
    """Return train, dev or test in shares of 80/10/10 by a hash of the `key`, so that the row order does not matter."""
    tenth = int.from_bytes(hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()[:4], "big") % 10
    return SPLITS[max(0, tenth - 7)]


@dataclass(frozen=True, eq=False, kw_only=True)
class Corpus:
    """What all shapes have in common: a name, a split for each row, and further columns. Use one of the subclasses.

    >>> from labkit import load
    >>> corpus = load("questions")
    >>> corpus
    Pairs('questions', 4911 rows: train 3447, dev 508, test 956)
    >>> corpus.part("dev").text_a[0]
    'What could cause my dishwasher to make a racket?'
    """

    name: str = "corpus"
    splits: Sequence[str] = ()  # one per row, or one for all; if empty, the rows are divided
    extra: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    numbers: Sequence[int | str] = ()  # of the rows in their file; if empty, they count from 1

    # field of the record -> column of a file; fields that hold sentences come first
    COLUMNS: ClassVar[dict[str, str]] = {}
    TEXTS: ClassVar[tuple[str, ...]] = ()
    CLASSES: ClassVar[str] = ""  # the field with each sentence's class, if the shape has classes
    KIND: ClassVar[str] = ""  # its rows in the words of messages

    def __post_init__(self) -> None:
        splits = (self.splits,) * len(self) if isinstance(self.splits, str) else _held(self.splits)
        for name in self.COLUMNS:
            object.__setattr__(self, name, _held(getattr(self, name)))
        object.__setattr__(self, "splits", splits or ("train",) * len(self))
        object.__setattr__(self, "extra", {key: _held(values) for key, values in self.extra.items()})
        numbers = tuple(self.numbers) if len(self.numbers) == len(self) else ()  # rows may have been added or dropped
        object.__setattr__(self, "numbers", numbers)
        self._check()
        if not splits:
            object.__setattr__(self, "splits", tuple(self._divided()))

    def _divided(self) -> Sequence[str]:
        """The split of each row if no splits are given."""
        raise NotImplementedError

    def _check(self) -> None:
        if not len(self):
            raise ValueError(f"corpus {self.name!r} has no rows; give it at least one")
        columns = {name: getattr(self, name) for name in (*self.COLUMNS, "splits")} | dict(self.extra)
        for name, values in columns.items():
            if len(values) != len(self):
                raise ValueError(
                    f"corpus {self.name!r}: {name} has {len(values)} values, expected {len(self)}, one per row; fill "
                    "in the missing ones"
                )
        if self.mapped:  # written by labkit, and checked when read
            return
        for name in self.TEXTS:
            for row, text in enumerate(getattr(self, name), 1):
                if not isinstance(text, str) or not text.strip():
                    raise ValueError(
                        f"corpus {self.name!r}: {self.COLUMNS[name]} of row {row} is {text!r}, expected a "
                        "non-empty text; fill it in or drop the row"
                    )
        unknown = next(((row, split) for row, split in enumerate(self.splits, 1) if split not in SPLITS), None)
        if unknown:
            raise ValueError(
                f"corpus {self.name!r}: split of row {unknown[0]} is {unknown[1]!r}, expected train, dev or test"
            )

    def __len__(self) -> int:
        return len(getattr(self, next(iter(self.COLUMNS))))

    @property
    def mapped(self) -> bool:
        """Whether the texts stay on disk and are read when needed."""
        return any(isinstance(getattr(self, name), Column) for name in self.TEXTS)

    def take(self, rows: Iterable[int]) -> Self:
        """The corpus with only these rows, in the given order."""
        rows = np.asarray(rows if isinstance(rows, np.ndarray) else list(rows), np.int64)
        chosen: dict[str, Any] = {name: _taken(getattr(self, name), rows) for name in (*self.COLUMNS, "splits")}
        chosen["extra"] = {key: _taken(values, rows) for key, values in self.extra.items()}
        chosen["numbers"] = _taken(self.numbers, rows) if self.numbers else ()
        return replace(self, **chosen)

    def number_of(self, row: int) -> int | str:
        """The number of a row in its file, or in the corpus if there is no file, counted from 1."""
        return self.numbers[row] if self.numbers else int(row) + 1

    def part(self, split: str) -> Self:
        """The rows of one split."""
        if split not in SPLITS:
            raise ValueError(f"split is {split!r}, expected train, dev or test")
        rows = np.flatnonzero(np.fromiter((own == split for own in self.splits), bool, len(self)))
        if not len(rows):
            raise ValueError(
                f"corpus {self.name!r} has no rows in split {split!r} (it has {self._sizes()}); add a column 'split'"
            )
        return self.take(rows)

    def _sizes(self) -> str:
        return ", ".join(f"{split} {count}" for split, count in self.sizes.items())

    def fewer(self, share: float) -> Self:
        """The corpus with this share of its training rows, always the same rows, and all of dev and test.

        Groups, articles and classes stay whole; but if dev has the same classes as train, this share of each class is
        kept.
        """
        if not 0 < share <= 1:
            raise ValueError(f"share is {share}, expected above 0 and at most 1; 1 keeps all rows")
        train = [row for row, split in enumerate(self.splits) if split == "train"]
        dev = self.part("dev") if "dev" in self.sizes else None
        kept = {train[at] for at in self.part("train")._portion(share, dev)}
        return self.take(row for row, split in enumerate(self.splits) if split != "train" or row in kept)

    def _portion(self, share: float, dev: Self | None) -> list[int]:
        """The training rows for this share."""
        return portion(self._belonging(), share)

    def _belonging(self) -> list[str]:
        """A key for each row; rows that must stay together have the same key."""
        return [repr(texts) for texts in zip(*(getattr(self, name) for name in self.TEXTS), strict=True)]

    @property
    def sizes(self) -> dict[str, int]:
        """The number of rows in each split, counted in one pass."""
        counts = Counter(self.splits)
        return {split: counts[split] for split in SPLITS if counts[split]}

    def sentences(self) -> list[str]:
        """Every distinct sentence, in order of first appearance."""
        columns = [getattr(self, name) for name in self.TEXTS]
        return list(dict.fromkeys(text for row in zip(*columns, strict=True) for text in row))

    def classified(self) -> tuple[list[str], list[str]]:
        """The sentence and class (label or group) of each row; two empty lists if the shape has no classes."""
        return (list(getattr(self, self.TEXTS[0])), list(getattr(self, self.CLASSES))) if self.CLASSES else ([], [])

    def same(self) -> tuple[list[str], Sequence[Any] | np.ndarray]:
        """Sentences, and a key that sentences with the same meaning share: a class, or a component of positive pairs.

        Both are empty if the shape does not define them: grades, triplets, articles, sentences without labels.
        """
        return self.classified()

    def numbered(self) -> tuple[list[str], np.ndarray]:
        """The distinct sentences, and for each row the numbers of its texts among them, int64 (rows, texts)."""
        texts = self.sentences()
        number = {text: place for place, text in enumerate(texts)}
        return texts, np.array([[number[text] for text in getattr(self, name)] for name in self.TEXTS], np.int64).T

    def rows(self) -> Iterator[dict[str, Any]]:
        """One dict per row, with the column names of a file, including `split` and further columns."""
        names = (*self.COLUMNS.values(), "split", *self.extra)
        columns = (*(getattr(self, name) for name in self.COLUMNS), self.splits, *self.extra.values())
        for values in zip(*columns, strict=True):
            yield dict(zip(names, values, strict=True))

    @cached_property
    def fingerprint(self) -> str:
        """sha256 of all rows; equal for corpora with the same rows in the same order."""
        digest = hashlib.sha256(type(self).__name__.encode())
        encoder = json.JSONEncoder(ensure_ascii=True, sort_keys=True, default=str)
        for row in self.rows():
            digest.update(encoder.encode(row).encode() + b"\n")
        return digest.hexdigest()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {len(self)} rows: {self._sizes()})"


@dataclass(frozen=True, eq=False, repr=False)
class Labelled(Corpus):
    """Sentences with one class each.

    >>> Labelled(["a cat", "an oak"], ["pet", "tree"], splits="train").labels
    ('pet', 'tree')
    """

    texts: Sequence[str]
    labels: Sequence[str]

    COLUMNS: ClassVar[dict[str, str]] = {"texts": "text", "labels": "label"}
    TEXTS = ("texts",)
    CLASSES = "labels"
    KIND = "sentences with classes"

    def _divided(self) -> Sequence[str]:
        return by_class(self.texts, self.labels)

    def _portion(self, share: float, dev: Self | None) -> list[int]:
        if dev is None or not set(dev.labels) <= set(self.labels):
            return portion(self.labels, share)
        members: dict[str, list[int]] = {}
        for row, label in enumerate(self.labels):
            members.setdefault(label, []).append(row)
        return [rows[at] for rows in members.values() for at in portion([self.texts[row] for row in rows], share)]

    @property
    def classes(self) -> list[str]:
        """The class names, sorted."""
        return sorted(set(self.labels))


@dataclass(frozen=True, eq=False, repr=False)
class Pairs(Corpus):
    """Two sentences and a human label: 1 for the same meaning, 0 for a different one, or a grade if `graded`.

    >>> Pairs(["a cat", "a cat"], ["one cat", "an oak"], [1, 0], splits="train").labels
    array([1, 0])
    """

    text_a: Sequence[str]
    text_b: Sequence[str]
    values: Sequence[float]
    graded: bool = False

    COLUMNS: ClassVar[dict[str, str]] = {"text_a": "text_a", "text_b": "text_b", "values": "label"}
    TEXTS = ("text_a", "text_b")
    KIND = "pairs"

    def _check(self) -> None:
        super()._check()
        for row, value in enumerate(self.values, 1):
            if not math.isfinite(value):
                raise ValueError(f"corpus {self.name!r}: the value of row {row} is {value}, expected a finite number")
            if not self.graded and value not in (0, 1):
                raise ValueError(
                    f"corpus {self.name!r}: the label of row {row} is {value}, expected 0 or 1. For grades use "
                    "graded=True (in a file, a column 'score')"
                )

    def _divided(self) -> Sequence[str]:
        return dealt(together((self.text_a, self.text_b), self.scores > 0))

    def same(self) -> tuple[list[str], Sequence[Any] | np.ndarray]:
        """The distinct sentences, and the component of each in the graph of pairs labelled 1; empty for grades."""
        if self.graded:
            return [], []
        texts, pairs = self.numbered()
        return texts, connected(len(texts), *pairs[self.scores != 0].T)

    def rows(self) -> Iterator[dict[str, Any]]:
        for row in super().rows():
            if self.graded:
                yield {"score" if column == "label" else column: value for column, value in row.items()}
            else:
                yield row | {"label": int(row["label"])}

    @property
    def labels(self) -> np.ndarray:
        """0/1 for each pair, int64 (n,)."""
        if self.graded:
            raise ValueError(f"corpus {self.name!r} has grades, not 0/1 labels; use .scores")
        return np.array(self.values, dtype=np.int64)

    @property
    def scores(self) -> np.ndarray:
        """The value of each pair, float64 (n,)."""
        return np.array(self.values, dtype=np.float64)


@dataclass(frozen=True, eq=False, repr=False)
class Triplets(Corpus):
    """An anchor, a sentence that should be closer to it, and a sentence that should be farther away.

    >>> Triplets(["a cat"], ["one cat"], ["an oak"], splits="train")
    Triplets('corpus', 1 rows: train 1)
    """

    anchors: Sequence[str]
    positives: Sequence[str]
    negatives: Sequence[str]

    COLUMNS: ClassVar[dict[str, str]] = {"anchors": "anchor", "positives": "positive", "negatives": "negative"}
    TEXTS = ("anchors", "positives", "negatives")
    KIND = "triplets"

    def _divided(self) -> Sequence[str]:
        return dealt(together((self.anchors, self.positives, self.negatives), np.ones(len(self), bool)))

    def _belonging(self) -> list[str]:
        return list(map(str, self.extra["article"])) if "article" in self.extra else super()._belonging()


@dataclass(frozen=True, eq=False, repr=False)
class Groups(Corpus):
    """Sentences with a group name; the sentences of a group have the same meaning.

    >>> Groups(["a cat", "one cat", "an oak"], ["cat", "cat", "oak"], splits="train").members()
    {'cat': ['a cat', 'one cat'], 'oak': ['an oak']}
    """

    texts: Sequence[str]
    groups: Sequence[str]

    COLUMNS: ClassVar[dict[str, str]] = {"texts": "text", "groups": "group"}
    TEXTS = ("texts",)
    CLASSES = "groups"
    KIND = "groups of sentences"

    def _divided(self) -> Sequence[str]:
        return dealt(grouped(self.texts, self.groups))

    def _belonging(self) -> list[str]:
        return list(self.groups)

    def members(self) -> dict[str, list[str]]:
        """The sentences of each group, in order of first appearance."""
        members: dict[str, list[str]] = {}
        for group, text in zip(self.groups, self.texts, strict=True):
            members.setdefault(group, []).append(text)
        return members


@dataclass(frozen=True, eq=False, repr=False)
class Sentences(Corpus):
    """Sentences without labels. Nothing could be measured on a test split, so by default all rows are training rows.

    >>> Sentences(["a cat", "an oak"])
    Sentences('corpus', 2 rows: train 2)
    """

    texts: Sequence[str]

    COLUMNS: ClassVar[dict[str, str]] = {"texts": "text"}
    TEXTS = ("texts",)
    KIND = "sentences without labels"

    def _divided(self) -> Sequence[str]:
        return ("train",) * len(self)

    def part(self, split: str) -> Self:
        if split in SPLITS and split not in self.splits:
            raise self.without_labels(
                f"has no rows in split {split!r} (it has {self._sizes()}), so nothing can be measured"
            )
        return super().part(split)

    def without_labels(self, why: str) -> ValueError:
        """The error for a method or metric that needs labels; it gives `why`, and the remedy."""
        return ValueError(
            f"corpus {self.name!r} has sentences without labels, and {why}. Add classes in a column 'label'; "
            "`labkit data cluster` proposes classes"
        )


@dataclass(frozen=True)
class Section:
    """One section: its title, paragraphs, level, and the title of its top section.

    >>> Section("Diet", ("Cats eat fish.", "They drink milk."))
    Section(title='Diet', paragraphs=('Cats eat fish.', 'They drink milk.'), level=2, top='')
    """

    title: str
    paragraphs: tuple[str, ...]
    level: int = 2
    top: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "paragraphs", tuple(self.paragraphs))


@dataclass(frozen=True)
class Article:
    """A title and its sections, in reading order.

    >>> article = Article("Cat", (Section("Diet", ("Cats eat fish.", "They drink milk.")),))
    >>> article.sections[0].title
    'Diet'
    """

    title: str
    sections: tuple[Section, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "sections", tuple(self.sections))
        if not self.title.strip():
            raise ValueError("an article has no title; add one")


@dataclass(frozen=True, eq=False, repr=False)
class Articles(Corpus):
    """Articles with sections and paragraphs; if no splits are given, a hash of the title assigns each article to one.

    >>> cat = Article("Cat", (Section("Diet", ("Cats eat fish.", "They drink milk.")),))
    >>> Articles([cat], splits="train").sentences()
    ['Cats eat fish.', 'They drink milk.']
    """

    articles: Sequence[Article]

    COLUMNS: ClassVar[dict[str, str]] = {"articles": "article"}
    KIND = "articles"

    def _divided(self) -> Sequence[str]:
        return [hashed_split(article.title) for article in self.articles]

    def _belonging(self) -> list[str]:
        return [article.title for article in self.articles]

    def sentences(self) -> list[str]:
        """Every distinct paragraph, in reading order. `labkit.text` cuts paragraphs into sentences."""
        sections = [section for article in self.articles for section in article.sections]
        return list(dict.fromkeys(paragraph for section in sections for paragraph in section.paragraphs))

    def rows(self) -> Iterator[dict[str, Any]]:
        for article, split in zip(self.articles, self.splits, strict=True):
            sections = [
                {"title": s.title, "level": s.level, "top": s.top, "paragraphs": list(s.paragraphs)}
                for s in article.sections
            ]
            yield {"title": article.title, "split": split, "sections": sections}

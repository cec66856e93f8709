"""Words, with counts, that describe a region of a picture or set a selection of sentences apart from the rest.

In: texts, counted once by `counted_words`; regions as a label for each text, or a selection as row numbers. Out:
`Regions` that are named by words, `PlacedName`s for a map, and `Apart`, which prints as one line. No list of stop words
is used, so any language works: a word counts only if it is more frequent than elsewhere by more than chance (`g_test`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.special import xlogy

from labkit.arrays import classes, same_length, whole
from labkit.evaluation.classes import NO_CLASS, OUTLIER, kmeans
from labkit.evaluation.neighbours import sampled
from labkit.text import words

TWICE = 2  # a region's word is more than this many times as frequent as elsewhere
LEAST = 2  # occurrences below which a word says nothing
RARE = 10.83  # by chance, one table in a thousand reaches this G: chi-squared with one degree of freedom
TRAITS = 5  # words or classes that describe a selection
NAMING = 3  # words in the name of a found class
LETTERS = 24  # characters of a region's name; words that do not fit are omitted, not cut
FEW = 48  # maximum of regions in a whole picture, and of classes that are used as regions
CLOSE, EACH = 300, 100  # maximum of regions in a map at close range, and their average number of sentences
LOOKED_AT = 50_000  # sentences used for the words of a map; more would take longer without changing the words


@dataclass(frozen=True, eq=False)
class CountedWords:
    """The number of times each of n texts contains each of V words: CSR (n, V)."""

    counts: sparse.csr_matrix
    words: tuple[str, ...]

    @property
    def lengths(self) -> np.ndarray:
        """The number of words in each text, (n,)."""
        return np.asarray(self.counts.sum(axis=1)).ravel()


def counted_words(texts: Sequence[str]) -> CountedWords:
    """Count the words of each text, in lower case and without punctuation."""
    numbers: dict[str, int] = {}
    columns: list[int] = []
    ends = [0]
    for text in texts:
        columns += [numbers.setdefault(word, len(numbers)) for word in words(text)]
        ends.append(len(columns))
    ones = np.ones(len(columns), np.int64)
    counts = sparse.csr_matrix((ones, columns, ends), shape=(len(texts), len(numbers)))
    counts.sum_duplicates()
    return CountedWords(counts, tuple(numbers))


# --- regions of a picture ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Regions:
    """The region code of each sentence, (n,), and for each code the words that set its region apart, or ""."""

    codes: np.ndarray
    names: tuple[str, ...]


def regions(
    counted: CountedWords, points: np.ndarray, labels: ArrayLike | None = None, *, fine: bool = False
) -> Regions:
    """Name the regions of a picture (n, p) by at most two words each, chosen by `region_words`.

    The regions are the labels (n,) if there are 2 to FEW of them. Otherwise, or with `fine`, they are k-means clusters
    of the points: √n / 4 of them, but at least 4 and at most 12; with `fine` √n, but at least 12 and at most FEW.
    """
    n = counted.counts.shape[0]
    same_length("points", points, n)
    codes = None if labels is None or fine else classes("labels", labels, count=n)
    if codes is not None and 0 < codes.max() < FEW:
        return _named(counted, codes)
    low, high, share = (12, FEW, 1) if fine else (4, 12, 4)
    return _clusters(counted, points, max(low, min(high, round(np.sqrt(n) / share))))


def _clusters(counted: CountedWords, points: np.ndarray, count: int) -> Regions:
    """Name the k-means clusters of the points, at most as many as there are distinct points."""
    return _named(counted, kmeans(points, min(count, len(np.unique(points, axis=0))), seed=0, restarts=1))


def _named(counted: CountedWords, codes: np.ndarray) -> Regions:
    names = []
    for chosen in region_words(counted, codes, most=2):
        name = ""
        for word in chosen:
            longer = f"{name} {word}".strip()
            name = longer if len(longer) <= LETTERS else name
        names.append(name)
    return Regions(codes, tuple(names))


class PlacedName(NamedTuple):
    """The words of a region, and the middle of its points."""

    name: str
    x: float
    y: float


def words_on_map(
    texts: Sequence[str], points: np.ndarray, labels: Sequence[str] = (), *, fine: bool = False
) -> tuple[tuple[PlacedName, ...], tuple[PlacedName, ...]]:
    """Name the regions of a map (n, 2) as a whole and at close range, the largest regions first.

    The whole map has the `regions` of a picture; at close range, it has at most CLOSE clusters of about EACH points.
    If there are more than LOOKED_AT sentences, a fixed sample is used.
    """
    same_length("points", points, len(texts))
    rows = sampled(np.arange(len(texts)), LOOKED_AT).tolist()
    counted, places = counted_words([texts[row] for row in rows]), points[rows]
    whole_map = regions(counted, places, [labels[row] for row in rows] if labels else None, fine=fine)
    close = _clusters(counted, places, max(FEW, min(CLOSE, len(rows) // EACH)))
    return placed(whole_map, places), placed(close, places)


def placed(found: Regions, points: np.ndarray) -> tuple[PlacedName, ...]:
    """Return the names of the named regions, each in the middle of its points, the largest region first."""
    sizes = np.bincount(found.codes, minlength=len(found.names))
    order = [code for code in np.argsort(-sizes, kind="stable").tolist() if found.names[code]]
    middles = [np.median(points[found.codes == code], axis=0).tolist() for code in order]
    return tuple(PlacedName(found.names[code], *middle) for code, middle in zip(order, middles, strict=True))


def region_words(counted: CountedWords, codes: np.ndarray, *, most: int = 3) -> tuple[tuple[str, ...], ...]:
    """Choose the words that set each region 0..C-1 apart, the strongest first, by a G-test of all words (`g_test`).

    A word counts only if the region contains it at least LEAST times, its frequency there is more than TWICE that in
    the other regions, and G is at least RARE. A region may have no such word.
    """
    whole("most", most, 1, 100, "the number of words per region")
    same_length("codes", codes, counted.counts.shape[0])
    count = int(codes.max()) + 1
    members = sparse.csr_matrix((np.ones(len(codes)), (codes, np.arange(len(codes)))), shape=(count, len(codes)))
    frequencies = (members @ counted.counts).tocsr().sorted_indices()
    of_word, of_region = (np.asarray(frequencies.sum(axis=axis)).ravel() for axis in (0, 1))
    chosen = []
    for region in range(count):
        span = slice(*frequencies.indptr[region : region + 2])
        columns, inside = frequencies.indices[span], frequencies.data[span]
        sizes = of_region[region], of_region.sum() - of_region[region]
        order = _telling(inside, of_word[columns] - inside, *sizes, most=most, times=TWICE)
        chosen.append(tuple(counted.words[column] for column in columns[order]))
    return tuple(chosen)


def _telling(
    inside: np.ndarray, elsewhere: np.ndarray, size: float, rest: float, *, most: int, times: int = 1
) -> np.ndarray:
    """Return the indices of the traits that are more than `times` as frequent inside, by more than chance."""
    g = g_test(inside, elsewhere, size, rest)
    counts = (inside >= min(LEAST, size)) & (inside * rest > times * elsewhere * size) & (g >= RARE)
    return np.argsort(-np.where(counts, g, -1.0), kind="stable")[: min(most, int(counts.sum()))]


def found_classes(texts: Sequence[str], clusters: Sequence[int] | np.ndarray) -> list[str]:
    """Return the name of each text's cluster: the words that set it apart, or NO_CLASS for an OUTLIER.

    No two clusters share a name: a number is added to the name of the smaller one.
    """
    numbers, codes, sizes = np.unique(np.asarray(clusters, np.int64), return_inverse=True, return_counts=True)
    telling, names = region_words(counted_words(texts), codes, most=NAMING), [NO_CLASS] * len(numbers)
    used = Counter({NO_CLASS: 1})
    for code in np.argsort(-sizes, kind="stable").tolist():
        if numbers[code] != OUTLIER:
            name = ", ".join(telling[code]) or "no words"
            used[name] += 1
            names[code] = name if used[name] == 1 else f"{name} ({used[name]})"
    return [names[code] for code in codes.tolist()]


# --- a selection against the rest --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Trait:
    """A word or class that is more frequent in the selection, with its number of sentences inside and elsewhere."""

    name: str
    inside: int
    elsewhere: int


@dataclass(frozen=True)
class Apart:
    """What sets `size` selected sentences apart from the `rest`; lengths are means, in words."""

    size: int
    rest: int
    words: tuple[Trait, ...]
    classes: tuple[Trait, ...]
    length: float
    rest_length: float

    def __str__(self) -> str:
        parts = [self._listed(self.words) or "no distinctive word"]
        if self.classes:
            parts.append(f"class {self._listed(self.classes)}")
        parts.append(f"{self.length:.1f} words long (the rest: {self.rest_length:.1f})")
        return f"{self.size:,} sentences: {'; '.join(parts)}"

    def _listed(self, traits: Sequence[Trait]) -> str:
        said = [f"{each.name} {each.inside:,} ({each.elsewhere:,})" for each in traits]
        for first in traits[:1]:
            said[0] = f"{first.name} {first.inside:,} of {self.size:,} ({first.elsewhere:,} of {self.rest:,} elsewhere)"
        return ", ".join(said)


def set_apart(counted: CountedWords, chosen: Sequence[int] | np.ndarray, labels: Sequence[str] = ()) -> Apart:
    """Find the words and classes that are more frequent among the selected rows than among the rest, using a G-test.

        G = 2 Σ O ln(O / E)   over the table: has it or not, selected or not; E: expected if the two are independent

    A trait counts if at least LEAST selected sentences have it, their share is larger than in the rest, and G is at
    least RARE. A sentence counts once, however often it contains a word.
    """
    n = counted.counts.shape[0]
    inside = np.zeros(n, bool)
    inside[np.asarray(chosen, np.int64)] = True
    size = int(inside.sum())
    if not 0 < size < n:
        raise ValueError(f"chosen has {size} of {n} rows, expected at least one but not all")
    found: list[tuple[Trait, ...]] = []
    has_word = sparse.csr_matrix((counted.counts > 0).astype(np.int64))
    tables: list[tuple[sparse.csr_matrix, Sequence[str]]] = [(has_word, counted.words)]
    if len(labels):
        one_hot = np.ones(n, np.int64), (np.arange(n), classes("labels", labels, count=n))
        tables.append((sparse.csr_matrix(one_hot), tuple(dict.fromkeys(labels))))
    for table, names in tables:
        there = np.asarray(table[inside].sum(axis=0)).ravel()
        elsewhere = np.asarray(table.sum(axis=0)).ravel() - there
        order = _telling(there, elsewhere, size, n - size, most=TRAITS)
        found.append(tuple(Trait(names[at], int(there[at]), int(elsewhere[at])) for at in order))
    lengths = counted.lengths
    means = float(lengths[inside].mean()), float(lengths[~inside].mean())
    return Apart(size, n - size, found[0], found[1] if len(labels) else (), *means)


def g_test(inside: np.ndarray, elsewhere: np.ndarray, size: float, rest: float) -> np.ndarray:
    """Return G of each table [[inside, size - inside], [elsewhere, rest - elsewhere]], (V,), as in `set_apart`."""
    total = np.zeros(len(inside))
    having = inside + elsewhere
    for counts, row in ((inside, size), (elsewhere, rest)):
        for seen, column in ((counts, having), (row - counts, size + rest - having)):
            expected = row * column / (size + rest)
            total += xlogy(seen, np.divide(seen, expected, out=np.ones(len(seen)), where=expected > 0))
    return 2 * total

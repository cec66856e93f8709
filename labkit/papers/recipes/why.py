"""Explanations against the truth: does a method put what two sentences lack of being one on the words that differ?

    {way} detail, order ...    the share of minimal pairs whose largest part of `1 - cos` is on a word that differs
    {way} rank                 the place of the first word that differs among all words of both sentences
    {way} back                 the share of the lost similarity that is back once the first words are out, 1 to 4
    {way} back at random       the same, with words taken out at random
    {way} knows                how often a synonym leaves two sentences nearer than another meaning does

and of two trainings that differ in their seed alone, how alike their explanations are, and their similarities.

In: a case whose corpus has minimal pairs. Out: figures, taken apart by what the sentences are about.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import product
from random import Random
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from labkit.corpora import Pairs
from labkit.corpora.minimal import KINDS, MinimalPair, minimal_pairs
from labkit.evaluation import Parts, correlation
from labkit.explanation import REST, Explanation, lost
from labkit.film.method import Film
from labkit.method import Method
from labkit.papers.recipes import Case
from labkit.text import spans, words
from labkit.trials.engine import Result

MANY, FEW, QUICK = 1000, 125, 5  # pairs of a kind: of what is exact, of what is slow, with --quick
TAKEN = 4  # words that are taken out, one after the other
EQUAL = 1e-6  # parts that differ by less are as large
UNITS = 32  # that figures are taken apart over: topics, events or activities, some in each
STEADY = 150  # pairs that two trainings explain
_PIECES = re.compile(r"\w+|[^\w\s]")

Minimal: TypeAlias = Mapping[str, Sequence[MinimalPair]]  # by kind
Weights: TypeAlias = Mapping[tuple[int, str], float]  # of each word and the side it stands on, 0 or 1


def differing_words(case: Case) -> Result:
    """Every way of the method to explain, on the minimal pairs of its corpus: 4,000 of them, 500 of what is slow."""
    method = case.fitted()
    pairs = _minimal(case, MANY if method.ways[0] == "exact" else FEW)
    chance = Random(case.seed)
    at_random = _backs(method, pairs, {pair: {word: chance.random() for word in _words(pair)} for pair in _each(pairs)})
    both = {"back at random": at_random, "knows": _knows(method, pairs)}
    parts: dict[str, Parts] = {}
    for way in method.ways:
        if way != "neighbours":  # which are other sentences, of which none is known to be right
            found = {pair: _lost_by(method, way, pair) for pair in _each(pairs)}
            figures = {**_hits(pairs, found), "back": _backs(method, pairs, found), **both}
            parts |= {f"{way} {name}": each for name, each in figures.items()}
    return Result({name: each.figure for name, each in parts.items()}, parts=parts)


def no_method(case: Case) -> Result:
    """What names words without a method: none before another, the rarest of the training sentences, and the rarest of
    those where the two sentences differ, laid side by side."""
    pairs = _minimal(case, MANY)
    counts = Counter(word for text in case.corpus.part("train").sentences() for word in set(words(text)))
    parts: dict[str, Parts] = {}
    for way in ("random", "rarest", "apart"):
        found: dict[MinimalPair, Weights] = {}
        for pair in _each(pairs):
            weights = {word: 0.0 if way == "random" else -counts[word[1]] for word in _words(pair)}
            if way == "apart":  # before all others
                left = _apart(pair)
                weights = {(side, word): weights[side, word] + 1e6 * (word in left[side]) for side, word in weights}
            found[pair] = weights  # of words that are all alike ties are shared: what all draws have on average
        parts |= {f"{way} {name}": each for name, each in _hits(pairs, found).items()}
    return Result({name: each.figure for name, each in parts.items()}, parts=parts)


def _minimal(case: Case, count: int) -> Minimal:
    return {kind: minimal_pairs(case.corpus.name, kind, QUICK if case.quick else count) for kind in KINDS}


def _each(pairs: Minimal) -> Iterator[MinimalPair]:
    return (pair for kind in pairs.values() for pair in kind)


def _words(pair: MinimalPair) -> list[tuple[int, str]]:
    """The words of both sentences, each once a side."""
    return [(side, word) for side, text in enumerate((pair.text_a, pair.text_b)) for word in dict.fromkeys(words(text))]


def _lost_by(method: Method, way: str, pair: MinimalPair) -> Weights:
    """What each word has of the lost similarity; a word that the method does not know has nothing of it."""
    sums = dict.fromkeys(_words(pair), 0.0)
    for side, parts in enumerate(lost(method, pair.text_a, pair.text_b, way=way)):
        own = [word for at, word in sums if at == side]
        whole = {piece: (side, word) for word in own for piece in _PIECES.findall(word)}
        whole |= {word: (side, word) for word in own}
        for name, part in parts:
            if name.lower() in whole:  # a method may read "ping" in "ping-pong", and a mark, which is no word
                sums[whole[name.lower()]] += part
    return sums


def _hits(pairs: Minimal, found: Mapping[MinimalPair, Weights]) -> dict[str, Parts]:
    """Hits for each kind, and ranks over all."""
    places = {pair: _place(pair, found[pair]) for pair in _each(pairs)}
    hits = {kind: _by_source(here, [places[pair][0] for pair in here]) for kind, here in pairs.items()}
    return hits | {"rank": _by_source(_each(pairs), [rank for _, rank in places.values()])}


def _place(pair: MinimalPair, weights: Weights) -> tuple[float, float]:
    """Whether the largest part is on a word that differs, and the rank of the first; equal parts share places."""
    differ = _differing(pair)
    right = np.array([word in differ[side] for side, word in weights])
    values = np.array(list(weights.values()))
    top, best = values >= values.max() - EQUAL, values[right].max()
    above, level = int((values > best + EQUAL).sum()), np.abs(values - best) <= EQUAL
    # the first of r right ones among n that are level stands, on average, on place (n + 1) / (r + 1)
    first = (int(level.sum()) + 1) / (int((level & right).sum()) + 1)
    return float((top & right).sum() / top.sum()), above + first


def _differing(pair: MinimalPair) -> tuple[Set[str], Set[str]]:
    """The changed words of both sides, and what grammar changed with them: a/an, does (not) chase/chases."""
    one, other = _lone(pair)
    return pair.changed_a | one, pair.changed_b | other


def _apart(pair: MinimalPair) -> tuple[Set[str], Set[str]]:
    """The words of each side that are left over when as many as possible stand side by side, in their order."""
    one, other = words(pair.text_a), words(pair.text_b)
    common = np.zeros((len(one) + 1, len(other) + 1), np.int64)  # from i and j on, how many can stand side by side
    for i, j in product(reversed(range(len(one))), reversed(range(len(other)))):
        common[i, j] = max(common[i + 1, j], common[i, j + 1], common[i + 1, j + 1] + (one[i] == other[j]))
    left: tuple[set[str], set[str]] = set(), set()
    i = j = 0
    while i < len(one) or j < len(other):
        if i < len(one) and j < len(other) and one[i] == other[j] and common[i, j] == common[i + 1, j + 1] + 1:
            i, j = i + 1, j + 1
        elif i < len(one) and common[i, j] == common[i + 1, j]:
            left[0].add(one[i])
            i += 1
        else:
            left[1].add(other[j])
            j += 1
    return left


def _lone(pair: MinimalPair) -> tuple[Set[str], Set[str]]:
    """The words that each side has more often than the other."""
    one, other = (Counter(words(text)) for text in (pair.text_a, pair.text_b))
    return (one - other).keys(), (other - one).keys()


def _backs(method: Method, pairs: Minimal, found: Mapping[MinimalPair, Weights]) -> Parts:
    """The most similarity that comes back with the first word taken out, the first two ..., of that which was lost."""
    above, below = [], []
    for pair in _each(pairs):
        weights = found[pair]
        order = sorted(weights, key=lambda word: -weights[word])[:TAKEN]
        texts = []
        for count in range(len(order) + 1):
            out = [{word for at, word in order[:count] if at == side} for side in (0, 1)]
            texts += [_without(pair.text_a, out[0]), _without(pair.text_b, out[1])]
        cosines = _cosines(method, texts)
        reached = np.maximum.accumulate(cosines)  # nobody has to take out more
        above.append(float(reached[1:].mean() - cosines[0]))
        below.append(float(1 - cosines[0]))
    return _by_source(_each(pairs), above, below)


def _without(text: str, out: Set[str]) -> str:
    for start, stop in reversed(spans(text)):
        if text[start:stop].lower() in out:
            text = text[:start] + text[stop:]
    return " ".join(text.split())


def _knows(method: Method, pairs: Minimal) -> Parts:
    """How often a synonym pair is nearer than a pair of each other kind that stands at its place; ties are a half."""
    similar = {
        kind: _cosines(method, [text for pair in here for text in (pair.text_a, pair.text_b)])
        for kind, here in pairs.items()
    }
    gaps = np.array([similar["synonym"] - similar[kind] for kind in KINDS if kind != "synonym"])
    return _by_source(pairs["synonym"], ((gaps > EQUAL) + 0.5 * (np.abs(gaps) <= EQUAL)).mean(axis=0))


def _cosines(method: Method, texts: Sequence[str]) -> np.ndarray:
    """The cosine of each text with its neighbour: the first with the second, the third with the fourth."""
    rows = method.encode(texts)
    return np.asarray(method.similarity_pairwise(rows[::2], rows[1::2]), np.float64)


def _by_source(pairs: Iterable[MinimalPair], above: ArrayLike, below: ArrayLike | None = None) -> Parts:
    """Parts by what the pairs are about: the same units, whichever and however many pairs there are."""
    units = np.array([pair.source % UNITS for pair in pairs])
    under = np.ones(len(units)) if below is None else np.asarray(below)
    return Parts(*(np.bincount(units, np.asarray(values), UNITS).round(6) for values in (above, under)))


# --- two trainings of one method ---------------------------------------------------------------------------------


def steady(case: Case) -> Result:
    """`{way} parts`: the mean over pairs of the rank correlation of two trainings' parts; `{way} similarities`: that of
    all pairs' similarities.

    Of FILM `rows` is how well its rows return on refitting, a cosine (`measure_stability`).
    """
    both = [replace(case, seed=2 * case.seed + more).fitted() for more in (0, 1)]
    test = case.corpus.part("test")
    assert isinstance(test, Pairs)
    drawn = np.random.default_rng(0).permutation(len(test))[: QUICK if case.quick else STEADY]
    pairs = [(test.text_a[row], test.text_b[row]) for row in drawn]
    figures: dict[str, float] = {}
    for way in both[0].ways:
        if way == "neighbours":  # each training has its own
            continue
        alike, similar = [], []
        for a, b in pairs:
            one, other = (method.explain(a, b, way=way) for method in both)
            similar.append((one.similarity, other.similarity))
            (names, first), (same, second) = map(_own, (one, other))
            if names and names == same and np.ptp(first) and np.ptp(second):  # else there is no order to compare
                alike.append(correlation(first, second).spearman)
        if alike:
            figures[f"{way} parts"] = float(np.mean(alike))
        figures[f"{way} similarities"] = correlation(*map(np.array, zip(*similar, strict=True))).spearman
    if isinstance(both[0], Film):
        figures["rows parts"] = float(np.mean(both[0].measure_stability(case.corpus, rounds=2, seed=case.seed)))
    return Result(figures)


def _own(explanation: Explanation) -> tuple[list[tuple[int, str]], list[float]]:
    """The words of both sentences and their own parts, without marks and what belongs to no word."""
    sides = enumerate(((explanation.names_a, explanation.own_a), (explanation.names_b, explanation.own_b)))
    own = [(side, name, part) for side, both in sides for name, part in zip(*both, strict=True)
           if name != REST and any(map(str.isalnum, name))]  # fmt: skip
    return [(side, name) for side, name, _ in own], [part for *_, part in own]

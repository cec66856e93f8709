"""Test explanations against the truth: does a method attribute the lost similarity to the words that differ?

    {way} detail, order ...    the share of minimal pairs whose largest part of `1 - cos` is on a word that differs
    {way} rank                 the rank of the first word that differs among all words of both sentences
    {way} back                 the share of lost similarity regained without the first 1 to 4 words
    {way} back at random       likewise, with random words removed
    {way} knows                how often a synonym pair is nearer than a pair with different meanings

For two runs that differ only in the seed: how similar their explanations and similarities are.

In: a case whose corpus has minimal pairs. Out: scores, split by the sentences' subject.
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
from labkit.corpora.catalogue import KINDS, MinimalPair, minimal_pairs
from labkit.evaluation import Parts, correlation
from labkit.explanation import REST, Explanation, lost
from labkit.film.method import Film
from labkit.method import Method
from labkit.papers.recipes import Case
from labkit.text import spans, words
from labkit.trials.engine import Result

MANY, FEW, QUICK = 1000, 125, 5  # pairs per kind: for exact ways, for slow ways, with --quick
TAKEN = 4  # words removed, one after the other
EQUAL = 1e-6  # parts that differ by less are tied
UNITS = 32  # units of the scores: topics, events or activities, several in each
STEADY = 150  # pairs that two runs explain
_PIECES = re.compile(r"\w+|[^\w\s]")

Minimal: TypeAlias = Mapping[str, Sequence[MinimalPair]]  # by kind
Weights: TypeAlias = Mapping[tuple[int, str], float]  # of each word with its side, 0 or 1


def differing_words(case: Case) -> Result:
    """Every way of the method on the minimal pairs of its corpus: 4,000 pairs, 500 for slow ways."""
    method = case.fitted()
    pairs = _minimal(case, MANY if method.ways[0] == "exact" else FEW)
    chance = Random(case.seed)
    at_random = _backs(method, pairs, {pair: {word: chance.random() for word in _words(pair)} for pair in _each(pairs)})
    both = {"back at random": at_random, "knows": _knows(method, pairs)}
    parts: dict[str, Parts] = {}
    for way in method.ways:
        if way != "neighbours":  # its parts are other sentences, none of which is known to be right
            found = {pair: _lost_by(method, way, pair) for pair in _each(pairs)}
            figures = {**_hits(pairs, found), "back": _backs(method, pairs, found), **both}
            parts |= {f"{way} {name}": each for name, each in figures.items()}
    return Result({name: each.figure for name, each in parts.items()}, parts=parts)


def no_method(case: Case) -> Result:
    """Rank words without a method: all tied, rarest in training first, or likewise among the words that differ."""
    pairs = _minimal(case, MANY)
    counts = Counter(word for text in case.corpus.part("train").sentences() for word in set(words(text)))
    parts: dict[str, Parts] = {}
    for way in ("random", "rarest", "apart"):
        found: dict[MinimalPair, Weights] = {}
        for pair in _each(pairs):
            weights = {word: 0.0 if way == "random" else -counts[word[1]] for word in _words(pair)}
            if way == "apart":  # these come before all others
                left = _apart(pair)
                weights = {(side, word): weights[side, word] + 1e6 * (word in left[side]) for side, word in weights}
            found[pair] = weights  # tied words share ranks, which is the average over all orders
        parts |= {f"{way} {name}": each for name, each in _hits(pairs, found).items()}
    return Result({name: each.figure for name, each in parts.items()}, parts=parts)


def _minimal(case: Case, count: int) -> Minimal:
    return {kind: minimal_pairs(case.corpus.name, kind, QUICK if case.quick else count) for kind in KINDS}


def _each(pairs: Minimal) -> Iterator[MinimalPair]:
    return (pair for kind in pairs.values() for pair in kind)


def _words(pair: MinimalPair) -> list[tuple[int, str]]:
    """The distinct words of each side."""
    return [(side, word) for side, text in enumerate((pair.text_a, pair.text_b)) for word in dict.fromkeys(words(text))]


def _lost_by(method: Method, way: str, pair: MinimalPair) -> Weights:
    """Each word's part of the lost similarity; words unknown to the method have no part."""
    sums = dict.fromkeys(_words(pair), 0.0)
    for side, parts in enumerate(lost(method, pair.text_a, pair.text_b, way=way)):
        own = [word for at, word in sums if at == side]
        whole = {piece: (side, word) for word in own for piece in _PIECES.findall(word)}
        whole |= {word: (side, word) for word in own}
        for name, part in parts:
            if name.lower() in whole:  # a method may read "ping" in "ping-pong", or a mark that is not a word
                sums[whole[name.lower()]] += part
    return sums


def _hits(pairs: Minimal, found: Mapping[MinimalPair, Weights]) -> dict[str, Parts]:
    """The hits for each kind, and the ranks over all kinds."""
    places = {pair: _place(pair, found[pair]) for pair in _each(pairs)}
    hits = {kind: _by_source(here, [places[pair][0] for pair in here]) for kind, here in pairs.items()}
    return hits | {"rank": _by_source(_each(pairs), [rank for _, rank in places.values()])}


def _place(pair: MinimalPair, weights: Weights) -> tuple[float, float]:
    """Whether the largest part is on a word that differs, and the rank of the first such; tied parts share ranks."""
    differ = _differing(pair)
    right = np.array([word in differ[side] for side, word in weights])
    values = np.array(list(weights.values()))
    top, best = values >= values.max() - EQUAL, values[right].max()
    above, level = int((values > best + EQUAL).sum()), np.abs(values - best) <= EQUAL
    # the first of r right ones among n tied words has an average rank of (n + 1) / (r + 1)
    first = (int(level.sum()) + 1) / (int((level & right).sum()) + 1)
    return float((top & right).sum() / top.sum()), above + first


def _differing(pair: MinimalPair) -> tuple[Set[str], Set[str]]:
    """The changed words of both sides, with grammatical changes: a/an, does (not) chase/chases."""
    one, other = (
        Counter(words(text)) for text in (pair.text_a, pair.text_b)
    )  # a word may occur more often on one side
    return pair.changed_a | (one - other).keys(), pair.changed_b | (other - one).keys()


def _apart(pair: MinimalPair) -> tuple[Set[str], Set[str]]:
    """The words of each side that remain after aligning as many words as possible in order."""
    one, other = words(pair.text_a), words(pair.text_b)
    common = np.zeros((len(one) + 1, len(other) + 1), np.int64)  # number of words that can be aligned from i and j on
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


def _backs(method: Method, pairs: Minimal, found: Mapping[MinimalPair, Weights]) -> Parts:
    """The largest share of the lost similarity regained without the first word, the first two words, and so on."""
    above, below = [], []
    for pair in _each(pairs):
        weights = found[pair]
        order = sorted(weights, key=lambda word: -weights[word])[:TAKEN]
        texts = []
        for count in range(len(order) + 1):
            out = [{word for at, word in order[:count] if at == side} for side in (0, 1)]
            texts += [_without(pair.text_a, out[0]), _without(pair.text_b, out[1])]
        cosines = _cosines(method, texts)
        reached = np.maximum.accumulate(cosines)  # further words need not be removed
        above.append(float(reached[1:].mean() - cosines[0]))
        below.append(float(1 - cosines[0]))
    return _by_source(_each(pairs), above, below)


def _without(text: str, out: Set[str]) -> str:
    for start, stop in reversed(spans(text)):
        if text[start:stop].lower() in out:
            text = text[:start] + text[stop:]
    return " ".join(text.split())


def _knows(method: Method, pairs: Minimal) -> Parts:
    """How often a synonym pair is nearer than its counterpart of each other kind; ties count half."""
    similar = {
        kind: _cosines(method, [text for pair in here for text in (pair.text_a, pair.text_b)])
        for kind, here in pairs.items()
    }
    gaps = np.array([similar["synonym"] - similar[kind] for kind in KINDS if kind != "synonym"])
    return _by_source(pairs["synonym"], ((gaps > EQUAL) + 0.5 * (np.abs(gaps) <= EQUAL)).mean(axis=0))


def _cosines(method: Method, texts: Sequence[str]) -> np.ndarray:
    """The cosine of each text with its partner: the first with the second, the third with the fourth."""
    rows = method.encode(texts)
    return np.asarray(method.similarity_pairwise(rows[::2], rows[1::2]), np.float64)


def _by_source(pairs: Iterable[MinimalPair], above: ArrayLike, below: ArrayLike | None = None) -> Parts:
    """Parts by the subject of the pairs, so that the units are the same for any number of pairs."""
    units = np.array([pair.source % UNITS for pair in pairs])
    under = np.ones(len(units)) if below is None else np.asarray(below)
    return Parts(*(np.bincount(units, np.asarray(values), UNITS).round(6) for values in (above, under)))


# --- two runs of one method --------------------------------------------------------------------------------------


def steady(case: Case) -> Result:
    """`{way} parts`: the mean rank correlation of two runs' parts over pairs; `{way} similarities`: that of all
    similarities.

    For FILM, `rows` is the cosine with which its rows recur in a refit (`measure_stability`).
    """
    both = [replace(case, seed=2 * case.seed + more).fitted() for more in (0, 1)]
    test = case.corpus.part("test")
    assert isinstance(test, Pairs)
    drawn = np.random.default_rng(0).permutation(len(test))[: QUICK if case.quick else STEADY]
    pairs = [(test.text_a[row], test.text_b[row]) for row in drawn]
    figures: dict[str, float] = {}
    for way in both[0].ways:
        if way == "neighbours":  # each run has different neighbours
            continue
        alike, similar = [], []
        for a, b in pairs:
            one, other = (method.explain(a, b, way=way) for method in both)
            similar.append((one.similarity, other.similarity))
            (names, first), (same, second) = map(_own, (one, other))
            if names and names == same and np.ptp(first) and np.ptp(second):  # otherwise no order exists to compare
                alike.append(correlation(first, second).spearman)
        if alike:
            figures[f"{way} parts"] = float(np.mean(alike))
        figures[f"{way} similarities"] = correlation(*map(np.array, zip(*similar, strict=True))).spearman
    if isinstance(both[0], Film):
        figures["rows parts"] = float(np.mean(both[0].measure_stability(case.corpus, rounds=2, seed=case.seed)))
    return Result(figures)


def _own(explanation: Explanation) -> tuple[list[tuple[int, str]], list[float]]:
    """The words of both sentences with their own parts, without marks and the rest."""
    sides = enumerate(((explanation.names_a, explanation.own_a), (explanation.names_b, explanation.own_b)))
    own = [(side, name, part) for side, both in sides for name, part in zip(*both, strict=True)
           if name != REST and any(map(str.isalnum, name))]  # fmt: skip
    return [(side, name) for side, name, _ in own], [part for *_, part in own]

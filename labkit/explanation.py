"""Why two sentences are similar: their similarity as a sum over words, for every method; and why one of two sentences
is nearer.

A method writes each sentence's vector as a sum of a row for each word and a remainder, `(rest)`, which belongs to no
word (`Parts`). Then

    cos(a, b) = Σ_uv C_uv        C_uv = r_u · r_v / |a||b|

over the words u of a and v of b, including the remainders. A word's own part is half the sum of its row or column of C,
so all own parts also add up to the similarity. The ways differ in the origin of the rows:

    exact         the method is linear in its words: r_u is by definition what the word adds to the vector
    attention     r_u is the word's state times its attention; exact, given these weights
    integrated    r_u = ∫ J_u dα (x_u - reference) from an empty sentence to this one: the integrated Jacobians of
                  Möller, Nikolaev and Padó (EMNLP 2023); they add up except for the `gap`, smaller with more steps
    neighbours    SBERT-LP's vector is a mixture of its neighbours' points: the "words" are these neighbours
    left-out      no rows: the loss of similarity without the word, s(a, b) - s(a \\ u, b). It is slow and works with
                  any method; its parts do not add up. C_uv is the joint effect of u and v

In: a method and two sentences. Out: an `Explanation`; for an anchor and two others, a `Contrast`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from labkit.figure_names import written
from labkit.text import spans

if TYPE_CHECKING:
    from labkit.method import Method

REST = "(rest)"
NOTHING_KNOWN = "no word of one of the sentences was seen in training"
LEFT_OUT = "left-out"
WAYS = {
    "exact": "exact: the parts add up to the similarity",
    "attention": "exact, given the attention weights",
    "integrated": "integrated Jacobians: the parts add up to the similarity except for the gap",
    "neighbours": "exact, by the neighbours that make up each sentence",
    LEFT_OUT: "the loss of similarity without the word; these parts do not add up",
}

# way -> the tested method, and how often the largest part of `1 - similarity` of two questions was on the word that
# differs, for pairs with another detail, another order, a synonym, or an added "not" (docs/why.md)
TESTED = {
    "exact": ("a bag of word pieces", (1.00, 0.25, 0.99, 1.00)),
    "attention": ("a BiLSTM", (0.84, 0.95, 0.41, 0.00)),
    "integrated": ("MiniLM", (1.00, 0.96, 0.94, 0.74)),
    LEFT_OUT: ("MiniLM", (0.95, 0.00, 0.64, 1.00)),
}
AT_RANDOM = (0.15, 0.25, 0.12, 0.05)  # these shares for a word at random
CHANGES = ("another detail", "another order", "a synonym", 'an added "not"')

# --- a sentence in parts -----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Parts:
    """A sentence's vector as a sum: a row for each word (words, d), and `rest` (d,), which belongs to no word.

    `vector` is the method's own, before normalisation. `weights` is the attention of each word (words,), if any;
    `unknown` are words that contribute nothing because they did not occur in training.
    """

    names: tuple[str, ...]
    rows: Any  # float64 (words, d), dense or CSR
    rest: np.ndarray
    vector: np.ndarray
    weights: tuple[float, ...] = ()
    unknown: tuple[str, ...] = ()

    @classmethod
    def of_sum(cls, names: Iterable[str], rows: Any, rest: np.ndarray | None = None, **more: Any) -> Parts:
        """Make parts that add up to the vector."""
        rows = rows if sparse.issparse(rows) else np.asarray(rows, np.float64)
        rest = np.zeros(rows.shape[1]) if rest is None else np.asarray(rest, np.float64)
        return cls(tuple(names), rows, rest, np.asarray(rows.sum(axis=0)).ravel() + rest, **more)

    def through(self, change: Callable[[Any], Any], moved: np.ndarray | None = None) -> Parts:
        """Return the parts of the vector after a linear map and then a translation (p,)."""
        move = 0.0 if moved is None else moved
        rest, vector = (change(each[None])[0] + move for each in (self.rest, self.vector))
        return Parts(self.names, change(self.rows), rest, vector, self.weights, self.unknown)

    def with_rest(self) -> tuple[tuple[str, ...], Any]:
        """Return all names and rows; the rest, if any, comes last."""
        if not np.abs(self.rest).max(initial=0) > 0:
            return self.names, self.rows
        stack = sparse.vstack if sparse.issparse(self.rows) else np.concatenate
        return (*self.names, REST), stack([self.rows, self.rest[None]])


def merged(names: Sequence[str], rows: np.ndarray, counts: Sequence[int]) -> tuple[tuple[str, ...], np.ndarray]:
    """Sum rows of units (units, d) into rows of words, which have `counts` units each; names "" are omitted."""
    ends = np.cumsum([0, *counts]).tolist()
    sums = [rows[start:stop].sum(axis=0) for start, stop in pairwise(ends)]
    kept = [(name, row) for name, row in zip(names, sums, strict=True) if name]
    return tuple(name for name, _ in kept), np.array([row for _, row in kept]).reshape(len(kept), rows.shape[1])


# --- two sentences -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Explanation:
    """The parts of a similarity; words are in the order of their sentence, with `(rest)` last if there is one.

    `parts` is C, a row for each word of a; `own_a` and `own_b` are the words' own parts. `sum(own_a) + sum(own_b)` and
    the sum of C are both `similarity - gap`. A method with interpretable directions also gives `rows`, the part of each
    direction, and `shared`, the part that belongs to no row.

    >>> from labkit import MeanVectors, load
    >>> found = MeanVectors().fit(load("captions").take(range(50))).explain("a dog runs", "a dog sleeps")
    >>> found.names_a, found.words_a[0][0]  # "runs" is in none of these sentences
    (('a', 'dog'), 'dog')
    """

    text_a: str
    text_b: str
    similarity: float
    way: str
    names_a: tuple[str, ...]
    names_b: tuple[str, ...]
    parts: tuple[tuple[float, ...], ...]
    own_a: tuple[float, ...]
    own_b: tuple[float, ...]
    gap: float = 0.0
    rows: tuple[tuple[int, float], ...] = ()
    shared: float = 0.0
    unknown: tuple[str, ...] = ()
    weights_a: tuple[float, ...] = ()
    weights_b: tuple[float, ...] = ()

    @classmethod
    def of_parts(cls, texts: tuple[str, str], way: str, a: Parts, b: Parts, **more: Any) -> Explanation:
        """Make the explanation from the parts of both sentences."""
        (names_a, rows_a), (names_b, rows_b) = a.with_rest(), b.with_rest()
        length = float(np.linalg.norm(a.vector) * np.linalg.norm(b.vector))
        if not length:  # the sentence has no known word
            names_a = names_b = ()
        products = rows_a @ rows_b.T
        C = (products.toarray() if sparse.issparse(products) else products) / (length or np.inf)
        C = C[: len(names_a), : len(names_b)]
        similarity = float(a.vector @ b.vector) / (length or np.inf)
        own_a, own_b = (tuple((C.sum(axis=axis) / 2).tolist()) for axis in (1, 0))
        more |= {"unknown": tuple(dict.fromkeys((*a.unknown, *b.unknown))), "gap": similarity - float(C.sum())}
        more |= {"weights_a": a.weights, "weights_b": b.weights}
        return cls(*texts, similarity, way, names_a, names_b, _table_of(C), own_a, own_b, **more)

    @property
    def cosine(self) -> float:
        """The similarity, which is a cosine for every method and model."""
        return self.similarity

    @property
    def tested(self) -> str:
        """How often this way found the right word in our tests; empty if it was not tested."""
        if self.way not in TESTED:
            return ""
        method, shares = TESTED[self.way]
        each = zip(CHANGES, shares, AT_RANDOM, strict=True)
        told = ", ".join(f"{change} {100 * share:.0f} % ({100 * chance:.0f} %)" for change, share, chance in each)
        return (
            f"In our tests with {method}, two questions differed in one known way, and the largest part fell on the "
            f"right word in these shares of pairs (in brackets, for a random word): {told}."
        )

    @property
    def words_a(self) -> tuple[tuple[str, float], ...]:
        """The words of a with their own parts, the largest first."""
        return _ranked(zip(self.names_a, self.own_a, strict=True))

    @property
    def words_b(self) -> tuple[tuple[str, float], ...]:
        """The words of b with their own parts, the largest first."""
        return _ranked(zip(self.names_b, self.own_b, strict=True))

    def half(self) -> tuple[str, ...]:
        """The fewest words whose parts, in both sentences, add up to half of the similarity, the largest first.

        Empty if the similarity is not above 0, if the parts do not add up, or if half of it belongs to no word.
        """
        words: dict[str, float] = {}
        for name, part in (*self.words_a, *self.words_b):
            words[name] = words.get(name, 0.0) + part
        words.pop(REST, None)
        named: list[str] = []
        total = 0.0
        for name, part in sorted(words.items(), key=lambda word: -word[1]):
            named, total = [*named, name], total + part
            if part <= 0 or self.way == LEFT_OUT or self.similarity <= 0:
                break
            if total >= self.similarity / 2:
                return tuple(named)
        return ()

    @property
    def word_pairs(self) -> tuple[tuple[str, str, float], ...]:
        """The cells of C with their words, the largest first."""
        lines = zip(self.names_a, self.parts, strict=True)
        return _ranked((s, t, part) for s, line in lines for t, part in zip(self.names_b, line, strict=True))

    def table(self) -> list[dict[str, float | str]]:
        """Return all parts as rows of one table. Rows of one kind, plus the shared part, add up to the similarity."""
        named = [("row of L", f"row {row}", part) for row, part in self.rows]
        named += [("shared", "words in common (TF-IDF)", self.shared)] if self.rows else []
        for side, parts in (("a", self.words_a), ("b", self.words_b)):
            named += [(f"word of {side}", word, part) for word, part in parts]
        named += [("pair of words", f"{s} ~ {t}", part) for s, t, part in self.word_pairs]
        return [{"kind": kind, "name": name, "part": part} for kind, name, part in named]

    def record(self) -> dict[str, Any]:
        """Return all values in a form that can be written as JSON."""
        named = ("cosine", "words_a", "words_b", "word_pairs", "tested")
        return asdict(self) | {name: getattr(self, name) for name in named}

    def largest(self, count: int = 3) -> str:
        """Describe the largest parts in words; a space in an n-gram is shown as ␣."""

        def quoted(name: str) -> str:
            return f"“{name if self.way == 'neighbours' else name.replace(' ', '␣')}”"  # neighbours are sentences

        named = [(s, t, part) for s, t, part in self.word_pairs if REST not in (s, t)][:count]
        said = [f"{' with '.join(map(quoted, dict.fromkeys((s, t))))} {written(part, '+.2f')}" for s, t, part in named]
        return f"the largest parts are {', '.join(said)}" if said else "no word of one sentence is known"

    def text(self, *, top: int = 8) -> str:
        """Return readable lines: the largest parts of each kind, and the sum of the smaller ones."""
        e = self
        gap = f", which is {e.gap:+.4f}" if e.way == "integrated" else ""
        lines = [f"a: {e.text_a}", f"b: {e.text_b}", f"similarity {e.similarity:+.3f}", f"{WAYS[e.way]}{gap}"]
        if e.unknown:
            lines.append(f"words not seen in training, which contribute nothing: {', '.join(e.unknown)}")
        if not e.word_pairs:
            return "\n".join([*lines, f"{NOTHING_KNOWN}: the similarity is 0 by definition"])
        one = "neighbour" if e.way == "neighbours" else "word"
        how = "left out" if e.way == LEFT_OUT else "counting half of every pair that contains it"
        pairs = [(f"{s} ~ {t}" if s != t else s, part) for s, t, part in e.word_pairs]
        lines += _section(f"pairs of {one}s, one from a and one from b", pairs, top)
        lines += _section(f"{one}s of a, each {how}", e.words_a, top)
        lines += _section(f"{one}s of b, each {how}", e.words_b, top)
        for name, names, weights in (("a", e.names_a, e.weights_a), ("b", e.names_b, e.weights_b)):
            if weights:
                lines += _section(f"attention to the words of {name}", _ranked(zip(names, weights, strict=False)), top)
        if e.way == "neighbours" and (both := [name for name in e.names_a if name in e.names_b]):
            lines += ["", "neighbours that a and b share", *(f"  {name}" for name in both)]
        if e.rows:
            lines += _section("by row of L", [(f"row {row}", part) for row, part in e.rows], top)
        if e.shared:
            lines += _section("", [("words in common (TF-IDF)", e.shared)], top)[2:]
        return "\n".join([*lines, *(["", e.tested] if e.tested else [])])

    __str__ = text

    def _repr_html_(self, *, top: int = 8) -> str:
        """Return the explanation for a notebook: both sentences with each word's part, and the largest word pairs.

        Blue raises the similarity and orange lowers it; the colours are transparent, for light and dark pages.
        """
        e = self
        strongest = max((abs(part) for part in (*e.own_a, *e.own_b)), default=0.0) or 1.0

        def word(name: str, part: float) -> str:
            colour = "0, 114, 178" if part > 0 else "213, 94, 0"
            style = f"background: rgba({colour}, {0.7 * abs(part) / strongest:.2f}); padding: 1px 3px"
            return f'<span style="{style}">{escape(name)} <small style="opacity: .75">{part:+.2f}</small></span>'

        gap = f" ({e.gap:+.4f})" if e.way == "integrated" else ""
        lines = [f"<b>cosine {e.cosine:+.3f}</b>, {escape(WAYS[e.way])}{gap}"]
        for letter, names, own in (("a", e.names_a, e.own_a), ("b", e.names_b, e.own_b)):
            lines.append(f"<b>{letter}</b> " + " ".join(map(word, names, own)))
        pairs = [f"{escape(s)} ~ {escape(t)} {part:+.2f}" for s, t, part in e.word_pairs[:top]]
        lines.append(f"largest word pairs: {', '.join(pairs)}" if pairs else "no word of one of the sentences is known")
        notes = (
            [f"{REST} is the part that belongs to no word, such as that of the start and end tokens."]
            if REST in e.names_a
            else []
        )
        notes += [e.tested] if e.tested else []
        lines += [f"<small>{escape(' '.join(notes))}</small>"] if notes else []
        return "".join(f'<div style="line-height: 1.9">{line}</div>' for line in lines)


def left_out(method: Method, a: str, b: str) -> Explanation:
    """Measure the loss of similarity without each word, and the joint loss without any two."""
    (names_a, without_a), (names_b, without_b) = _without(a), _without(b)
    rows = method.encode([a, b, *without_a, *without_b])
    one, other = [0, *range(2, 2 + len(names_a))], [1, *range(2 + len(names_a), rows.shape[0])]
    S = np.asarray(method.similarity(rows[one], rows[other]), np.float64)  # row and column 0 have all words
    s = float(S[0, 0])
    own_a, own_b = s - S[1:, 0], s - S[0, 1:]
    C = s - S[1:, :1] - S[:1, 1:] + S[1:, 1:]
    gap = s - float(own_a.sum() + own_b.sum())
    own = tuple(own_a.tolist()), tuple(own_b.tolist())
    return Explanation(a, b, s, LEFT_OUT, names_a, names_b, _table_of(C), *own, gap=gap)


def _without(text: str) -> tuple[tuple[str, ...], list[str]]:
    """Return the words of a text, and the text without each of them."""
    found = spans(text)
    rest = [" ".join((text[:start] + text[stop:]).split()) for start, stop in found]
    return tuple(text[start:stop].lower() for start, stop in found), rest


# --- three sentences ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Contrast:
    """Why an anchor is closer to b than to c: two explanations and their difference, word by word.

    `words_a` are the anchor's words, each with its part for b minus its part for c; they add up to the difference of
    the similarities. `words_b` and `words_c` together, with the words of c negative, also add up to it.
    """

    near: Explanation
    far: Explanation

    @property
    def difference(self) -> float:
        """How much nearer b is than c."""
        return self.near.similarity - self.far.similarity

    @property
    def words_a(self) -> tuple[tuple[str, float], ...]:
        """The words of the anchor by their part for b minus their part for c, the largest first."""
        names = self.near.names_a or self.far.names_a
        return _ranked(self._whole(_less(names, self.near.own_a, self.far.own_a)))

    @property
    def words_b(self) -> tuple[tuple[str, float], ...]:
        """The words of b by their parts of its similarity, the largest first."""
        return self._whole(self.near.words_b)

    @property
    def words_c(self) -> tuple[tuple[str, float], ...]:
        """The words of c with their parts of its similarity, negated because they count against b, largest first."""
        return self._whole((name, -part) for name, part in self.far.words_b)

    def _whole(self, parts: Iterable[tuple[str, float]]) -> tuple[tuple[str, float], ...]:
        """Double own parts that are halves of rows and columns, so that the parts of one side add up."""
        return tuple((name, part if self.near.way == LEFT_OUT else 2 * part) for name, part in parts)

    def record(self) -> dict[str, Any]:
        """Return all values in a form that can be written as JSON."""
        words = {name: getattr(self, name) for name in ("words_a", "words_b", "words_c")}
        return {"difference": self.difference, **words, "near": self.near.record(), "far": self.far.record()}

    def text(self, *, top: int = 8) -> str:
        """Return the contrast as readable lines."""
        near, far = self.near, self.far
        nearer = "b" if self.difference > 0 else "c" if self.difference < 0 else "neither"
        lines = [f"a: {near.text_a}", f"b: {near.text_b}", f"c: {far.text_b}"]
        lines.append(f"similarity to b {near.similarity:+.3f}, to c {far.similarity:+.3f}: {nearer} is nearer")
        lines.append(WAYS[near.way])
        if not (near.word_pairs and far.word_pairs):
            return "\n".join([*lines, f"{NOTHING_KNOWN}: nothing can be compared"])
        lines += _section("words of a, by their part for b minus their part for c", self.words_a, top)
        lines += _section("words of b, by their part for b", self.words_b, top)
        return "\n".join([*lines, *_section("words of c, by their part against b", self.words_c, top)])

    __str__ = text


def lost(method: Method, a: str, b: str, *, way: str = "") -> tuple[list[tuple[str, float]], list[tuple[str, float]]]:
    """Return the parts of `1 - cos(a, b)` by the words of a and of b, in order: why the two are not equal.

    `1 - cos = ½ (a/|a| - b/|b|)²` is a sum over the words of both: the part of a word is its own part of the similarity
    of its sentence to itself, minus its own part of cos. Left-out: the gain in similarity when the word is removed.
    """
    way = way or method.ways[0]
    if way == LEFT_OUT:
        found = left_out(method, a, b)
        return _less(found.names_a, [], found.own_a), _less(found.names_b, [], found.own_b)
    of_a, of_b = (method._parts(text, way, 0) for text in (a, b))
    both = Explanation.of_parts((a, b), way, of_a, of_b)
    alone_a, alone_b = (Explanation.of_parts((text, text), way, each, each) for text, each in ((a, of_a), (b, of_b)))
    return _less(alone_a.names_a, alone_a.own_a, both.own_a), _less(alone_b.names_b, alone_b.own_b, both.own_b)


def _less(names: Sequence[str], parts: Sequence[float], others: Sequence[float]) -> list[tuple[str, float]]:
    """Subtract `others` from the parts. A sentence without known words has no parts, and zeros replace them."""
    none = [0.0] * len(names)
    return [(name, part - other) for name, part, other in zip(names, parts or none, others or none, strict=True)]


def _table_of(C: np.ndarray) -> tuple[tuple[float, ...], ...]:
    return tuple(map(tuple, C.tolist()))


def _section(title: str, parts: Sequence[tuple[str, float]], top: int) -> list[str]:
    """Return a blank line, the title, the largest parts, and the sum of the smaller ones."""
    rest = sum(part for _, part in parts[top:])
    shown = [*parts[:top], *([(f"{len(parts) - top} more", rest)] if len(parts) > top else [])]
    return ["", title, *(f"  {part:+.3f}  {name}" for name, part in shown)]


def _ranked(parts: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(sorted(parts, key=lambda part: -abs(part[-1])))

"""Notebook 08: counts, PPMI, neighbours, means and SIF."""

from __future__ import annotations

import numpy as np

from labkit.course.exercise import Cases, exercise

Table = dict[str, np.ndarray]


@exercise(
    "08.1",
    ("\n                    counts[j, i] += 1 / t", "", "count both ways: add 1 / t to `counts[j, i]`, too"),
    ("1 / t", "1", "a neighbour at distance t counts as 1/t, not 1"),
    ("1 / t", "t", "a neighbour at distance t counts as 1/t, not t"),
    ("window + 1", "window", "the window is the largest distance that counts: `range(1, window + 1)`"),
    ("in sentences:", "in [sum(sentences, [])]:",
     "words of different sentences are not neighbours: count within each sentence"),
)  # fmt: skip
def counted(random: np.random.Generator) -> Cases:
    for size, longest, window in ((5, 6, 3), (7, 5, 2), (4, 8, 10)):
        lengths = [1, longest, *random.integers(2, longest + 1, 3)]
        yield [random.integers(0, size, length).tolist() for length in lengths], size, window


@exercise(
    "08.2",
    ("np.maximum(found, 0)", "found",
     "some words never meet, and some meet less often than by chance: the maximum with 0 is missing"),
    ("np.log(", "np.log2(", "that is the logarithm to the base 2: use the natural one"),
    ("p[met] / chance[met]", "chance[met] / p[met]", "the fraction is upside down: divide p(i, j) by p(i) p(j)"),
    ("np.log(p[met] / chance[met])", "p[met] / chance[met]", "the logarithm is missing"),
    ("np.log(p", "np.log(1 + p", "that is log(1 + x): take the logarithm of the fraction itself"),
)  # fmt: skip
def met(random: np.random.Generator) -> Cases:
    for n in (5, 4, 6):
        counts = np.triu(random.integers(1, 9, (n, n)) * (random.random((n, n)) < 0.6), 1)
        counts[0, 1:], counts[0, -1] = np.maximum(counts[0, 1:], 1), 0  # each word meets another, and two never do
        counts[1, -1] = 3
        yield (counts + counts.T + 0.5 * np.eye(n),)


@exercise(
    "08.3",
    ("    cosines[word] = -np.inf\n", "", "each word is nearest to itself: leave it out"),
    (" / np.linalg.norm(V, axis=1, keepdims=True)", "",
     "those are the largest dot products: long vectors win. Divide by the lengths"),
    ("unit @ unit[word]", "-np.linalg.norm(V - V[word], axis=1)",
     "those have the smallest distances: take the largest cosines"),
    ("(-cosines)[:count]", "(cosines)[:count]", "(cosines)[1 : count + 1]",
     "those are the farthest: `np.argsort` begins with the smallest"),
    ("[:count]", "[:count][::-1]", "the nearest must come first"),
)  # fmt: skip
def places(random: np.random.Generator) -> Cases:
    for n, d, count in ((7, 3, 2), (9, 4, 3), (6, 5, 4)):
        rows = random.normal(size=(n, d)) * random.permutation(np.geomspace(0.3, 6, n))[:, None] + 0.4
        yield from ((rows, word, count) for word in range(n))


def _texts(random: np.random.Generator, d: int, *texts: str) -> tuple[list[list[str]], Table]:
    """Sentences, and a table of vectors for the words a, b, c, d, ca and D."""
    table = {word: random.normal(size=d) * 2 for word in ("a", "b", "c", "d", "ca", "D")}
    return [text.split() for text in texts], table


@exercise(
    "08.4",
    ("np.mean", "np.sum", "those are sums, so a long sentence has a long vector: take means"),
    ("np.mean(known, axis=0)", "np.sum(known, axis=0) / len(sentence)",
     "you divide by the number of all words: divide by the number of words that have a vector"),
    ("in sentence if", "in set(sentence) if", "you count each word once: a word that occurs twice counts twice"),
    ("return found", "return found[found.any(1)]", "a sentence without any known word must keep its row of zeros"),
)  # fmt: skip
def sentences(random: np.random.Generator) -> Cases:
    yield _texts(random, 2, "a b", "a a b", "a ?")
    yield _texts(random, 4, "? c a c ! c b", "b", "?")
    yield _texts(random, 3, "", "b b ? D ca", "d d a")


@exercise(
    "08.5",
    ("a / (a + share[word]) * ", "", "the weights a / (a + p) are missing: that is the plain mean"),
    ("M - np.outer(M @ c, c)", "M", "the direction that all sentences share is still there: subtract it"),
    ("a / (a", "share[word] / (a", "that gives frequent words more weight: divide a by a + p, not p"),
    ("svd(M,", "svd(M - M.mean(0),", "take the singular vectors of M itself, without subtracting its mean"),
    ("[2][0]", "[2][-1]", "that is the last singular vector: take the first"),
)
def weighted(random: np.random.Generator) -> Cases:
    for d, a in ((3, 0.02), (4, 0.1), (5, 0.005)):
        texts = [" ".join(random.choice(["a", "b", "c", "d", "ca", "D", "?"], random.integers(2, 7))) for _ in range(8)]
        rows, table = _texts(random, d, *texts, "?")
        yield rows, table, {word: float(random.uniform(0.001, 0.2)) for word in table}, a

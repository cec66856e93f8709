"""Notebook 12: explaining why two sentences are similar, and testing an explanation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from labkit.course.exercise import Cases, Unfit, array, exercise

Alike = Callable[[Sequence[str]], float]
SENTENCES = (
    ("the", "cat", "sees", "the", "dog"),
    ("how", "do", "I", "feed", "my", "old", "cat"),
    ("a", "cat", "a", "dog"),
)


def likeness(random: np.random.Generator) -> Alike:
    """A similarity of words to a fixed sentence that is not a sum over words and depends on their order."""
    known = sorted({word for sentence in SENTENCES for word in sentence})
    worth = dict(zip(known, random.uniform(0.1, 0.6, len(known)) * random.choice([-1, 1], len(known)), strict=True))

    def alike(words: Sequence[str]) -> float:
        return float(np.tanh(0.2 + sum(worth[word] * (1 + 0.1 * place) for place, word in enumerate(words))))

    return alike


def covering(words: Sequence[str]) -> float:
    """A similarity in which two words are redundant, so that the largest loss comes only from removing both."""
    alone = sum(0.1 + 0.01 * each for each in range(2, 6) if f"word{each}" in words)
    return alone + 0.5 * ("word0" in words or "word1" in words)


@exercise(
    "12.1",
    ("whole - alike(rest)", "alike(rest)",
     "that is the similarity without the word: subtract it from the whole, which gives the loss"),
    ("whole - alike(rest)", "alike([words[at]])", "whole - alike([words[at]])",
     "that is the word alone: leave one word out of the whole"),
    ("words[:at] + words[at + 1 :]", "[word for word in words if word != words[at]]",
     "if a word occurs twice, you leave out both: select words by position, not by name"),
    ("words[:at] + words[at + 1 :]", "words[at + 1 :]", "words[:at]",
     "you leave out more than one word: `words[:at] + words[at + 1:]`"),
    ("at + 1 :", "at:", "no word is left out: continue after the word, `words[at + 1:]`"),
)  # fmt: skip
def sentences(random: np.random.Generator) -> Cases:
    return [(likeness(random), list(words)) for words in SENTENCES]


@exercise(
    "12.2",
    ("total / steps", "slope(x)",
     "that is gradient times input, the slope at the end: take the mean of all slopes along the way"),
    ("total / steps", "total", "that is a sum over the steps: each is 1/steps wide, so take the mean"),
    ("(mean_slope * x)", "mean_slope", "the slopes are right: multiply them by x"),
    ("sum(1)", "sum(0)", "a word is a row: add up over d, axis 1"),
    ("sum(1)", "mean(1)", "a part is the sum over d, not the mean"),
    tolerance=0.01,
)  # fmt: skip
def bent(random: np.random.Generator) -> Cases:
    """Slopes of f(x) = tanh(Σ_i w · x_i + ½ Σ_k u_k (Σ_i x_ik)²) for word vectors x (n, d), a nonlinear function."""

    def slope_of(d: int) -> Callable[[np.ndarray], np.ndarray]:
        w, u = random.uniform(0.2, 0.6, size=(2, d))

        def slope(x: np.ndarray) -> np.ndarray:
            whole = np.asarray(x).sum(-2, keepdims=True)
            height = np.tanh((whole * w).sum((-1, -2)) + (u * whole**2).sum((-1, -2)) / 2)
            return np.asarray((1 - height[..., None, None] ** 2) * (w + u * whole) + 0 * x)

        return slope

    for n, d, steps in ((4, 3, 400), (3, 5, 500), (5, 2, 450)):
        yield slope_of(d), random.permutation(np.linspace(-0.6, 0.9, n * d)).reshape(n, d), steps


@exercise(
    "12.3",
    ("-parts", "parts", "your order begins with the smallest parts: use `np.argsort(-parts)`"),
    ("set(order[:count])", "set(order[max(0, count - 1) : count])", "{order[count]}",
     "you take out only one word at a time: the first must stay out when you remove the second"),
    ("range(len(words))", "range(1, len(words) + 1)", "range(1, len(words))",
     "begin with nothing taken out: the first number is for the whole sentence"),
    ("range(len(words))", "range(len(words) + 1)", "range(len(words) - 1)",
     "return as many numbers as there are words: for the last, all words but one are out"),
    ("-parts", "-abs(parts)",
     "a word with a negative part keeps the posts apart, so it goes last: do not take absolute values"),
)  # fmt: skip
def explained(random: np.random.Generator) -> Cases:
    for words in SENTENCES:
        yield likeness(random), list(words), random.permutation(np.linspace(-0.4, 0.3, len(words)))


@exercise(
    "12.4",
    ("np.argmax(parts)", "np.argmax(abs(parts))",
     "a negative part keeps the posts apart: take the largest part, without absolute values"),
    ("np.argmax", "np.argmin", "that is the smallest part"),
    ("if word in planted", "if any(part > 0 for part, each in zip(parts, a) if each in planted)",
     "a part above 0 is not enough: it must be the largest"),
)  # fmt: skip
def planted_words(random: np.random.Generator) -> Cases:
    for count, planted in ((9, {"cat"}), (11, {"dog", "my"}), (13, {"sees", "feed", "a"})):
        pairs, explain = [], {}
        for row in range(count):
            others = [f"catalogue{each}" for each in range(int(random.integers(4, 8)))]  # words within words
            at = int(random.integers(len(others) + 1))
            a = [*others[:at], str(random.choice(sorted(planted))), *others[at:]]
            parts = random.uniform(0, 0.5, len(a))
            parts[(at + 1) % len(a)], parts[at] = -2.0 if row % 2 else 0.8, (1.4, -3.0, 0.7, 0.6, 1.1)[row % 5]
            pairs.append((a, f"b{row}"))
            explain[f"b{row}"] = parts
        yield pairs, planted, lambda a, b, explain=explain: explain[b].copy()


def _places_and_loss(given: Any) -> tuple[np.ndarray, ...]:
    if not isinstance(given, tuple | list) or len(given) != 2 or np.size(given[0]) != 2:
        raise Unfit("expected two places and a number, as in `return (i, j), lost`")
    named = any(isinstance(each, str) for each in given[0])
    return (np.asarray(given[0]) if named else np.sort(array(given[0]))), array(given[1])


@exercise(
    "12.5",
    ("rest = [word for at, word in enumerate(words) if at not in (i, j)]\n            lost = whole - alike(rest)",
     "lost = sum(whole - alike(words[:at] + words[at + 1 :]) for at in (i, j))",
     "take both words out at once: their loss together is not the sum of their separate losses"),
    ("lost, (i, j)", "lost, (words[i], words[j])", "return the positions of the words, not the words"),
    ("lost > most", "lost < (most if best else np.inf)", "that pair costs the least"),
    ("return best, most", "return best, whole - most", "that is the similarity without them: return the loss"),
    ("return best, most", "return best, whole - alike(words[: best[0]] + words[best[0] + 1 :])",
     "the positions are right: return the loss of both together"),
    read=_places_and_loss,
)  # fmt: skip
def pairs_of_words(random: np.random.Generator) -> Cases:
    yield from sentences(random)
    yield covering, [f"word{each}" for each in random.permutation(6)]

"""Notebook 12: explaining why two sentences are similar, and testing an explanation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from labkit.course.exercise import Unfit, array, check, find_mistake

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
    """A similarity in which two words are redundant, so that only removing both costs most."""
    alone = sum(0.1 + 0.01 * each for each in range(2, 6) if f"word{each}" in words)
    return alone + 0.5 * ("word0" in words or "word1" in words)


@check("12.1")
def check_left_out(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """s(words) - s(words without the one at each position)."""
    cases = [(likeness(random), list(words)) for words in SENTENCES]

    def each(how: Callable[[Alike, list[str], int], float]) -> Callable[..., Any]:
        return lambda alike, words: np.array([how(alike, words, at) for at in range(len(words))])

    def right(alike: Alike, words: list[str]) -> Any:
        return each(lambda alike, words, at: alike(words) - alike(words[:at] + words[at + 1 :]))(alike, words)

    mistakes = (
        (lambda alike, words: alike(words) - right(alike, words),
         "that is the similarity without the word: subtract it from the whole, which gives the loss"),
        (each(lambda alike, words, at: alike([words[at]])),
         each(lambda alike, words, at: alike(words) - alike([words[at]])),
         "that is the word alone: leave one word out of the whole"),
        (each(lambda alike, words, at: alike(words) - alike([word for word in words if word != words[at]])),
         "if a word occurs twice, yours leaves out both: leave out by place, not by name"),
        (each(lambda alike, words, at: alike(words) - alike(words[at + 1 :])),
         each(lambda alike, words, at: alike(words) - alike(words[:at])),
         "yours leaves out more than one word: `words[:at] + words[at + 1:]`"),
        (each(lambda alike, words, at: alike(words) - alike(words[:at] + words[at:])),
         "nothing is left out in yours: continue after the word, `words[at + 1:]`"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes)


@check("12.2")
def check_integrated(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """Σ_d x ∫ slope(t x) dt, by any rule that is accurate with this many steps."""

    def bent(d: int) -> Callable[[np.ndarray], np.ndarray]:
        """The slope of f(x) = tanh(Σ_i w · x_i + ½ Σ_k u_k (Σ_i x_ik)²) for word vectors x (n, d), which is bent."""
        w, u = random.uniform(0.2, 0.6, size=(2, d))

        def slope(x: np.ndarray) -> np.ndarray:
            whole = np.asarray(x).sum(-2, keepdims=True)
            height = np.tanh((whole * w).sum((-1, -2)) + (u * whole**2).sum((-1, -2)) / 2)
            return np.asarray((1 - height[..., None, None] ** 2) * (w + u * whole) + 0 * x)

        return slope

    cases = [
        (bent(d), random.permutation(np.linspace(-0.6, 0.9, n * d)).reshape(n, d), steps)
        for n, d, steps in ((4, 3, 400), (3, 5, 500), (5, 2, 450))
    ]

    def mean(slope: Any, x: np.ndarray, steps: int) -> np.ndarray:
        return np.mean([slope(t * x) for t in (np.arange(steps) + 0.5) / steps], axis=0)

    def right(slope: Any, x: np.ndarray, steps: int) -> Any:
        return (mean(slope, x, steps) * x).sum(1)

    mistakes = (
        (lambda f, x, steps: (f(x) * x).sum(1),
         "that is gradient times input, the slope at the end: take the mean of all slopes on the way"),
        (lambda f, x, steps: right(f, x, steps) * steps,
         "that is a sum over the steps: each is 1/steps wide, so take the mean"),
        (lambda f, x, steps: mean(f, x, steps).sum(1), "the slopes are right: multiply them by x"),
        (lambda f, x, steps: (mean(f, x, steps) * x).sum(0), "a word is a row: add up over d, axis 1"),
        (lambda f, x, steps: right(f, x, steps) / x.shape[1], "a part is the sum over d, not the mean"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes, tolerance=0.01)


@check("12.3")
def check_falling(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """s of the remaining words when the first 0, 1, ... n - 1 in the order of their parts are removed."""
    cases = [
        (likeness(random), list(words), random.permutation(np.linspace(-0.4, 0.3, len(words)))) for words in SENTENCES
    ]

    def curve(out: Callable[[Any, int], Any], counts: Callable[[int], Any] = range) -> Callable[..., Any]:
        """The similarity without the positions that `out` gives for the parts and a count."""
        return lambda alike, words, parts: np.array(
            [
                alike([word for at, word in enumerate(words) if at not in out(parts, count)])
                for count in counts(len(words))
            ]
        )

    def largest(parts: Any, count: int) -> list[int]:
        return np.argsort(-parts)[:count].tolist()

    def right(alike: Alike, words: list[str], parts: np.ndarray) -> Any:
        return curve(largest)(alike, words, parts)

    mistakes = (
        (curve(lambda parts, count: largest(-parts, count)),
         "yours begins with the smallest parts: use `np.argsort(-parts)`"),
        (curve(lambda parts, count: largest(parts, count)[-1:]), curve(lambda parts, at: [np.argsort(-parts)[at]]),
         "yours takes out only one word at a time: the first must stay out when the second goes"),
        (curve(largest, lambda n: range(1, n + 1)), curve(largest, lambda n: range(1, n)),
         "begin with nothing taken out: the first number is for the whole sentence"),
        (curve(largest, lambda n: range(n + 1)), curve(largest, lambda n: range(n - 1)),
         "return as many numbers as there are words: for the last, all words but one are out"),
        (curve(lambda parts, count: largest(abs(parts), count)),
         "a word with a negative part keeps the posts apart, so it goes last: do not take absolute values"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes)


@check("12.4")
def check_hits(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """The share of pairs in which a planted word has the largest part."""
    cases = []
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
        cases.append((pairs, planted, lambda a, b, explain=explain: explain[b].copy()))

    def of(how: Callable[[list[str], np.ndarray, set[str]], Any]) -> Callable[..., Any]:
        return lambda pairs, planted, explain: np.mean([how(a, explain(a, b), planted) for a, b in pairs])

    def right(pairs: list[Any], planted: set[str], explain: Any) -> Any:
        return of(lambda a, parts, planted: a[parts.argmax()] in planted)(pairs, planted, explain)

    mistakes = (
        (of(lambda a, parts, planted: a[abs(parts).argmax()] in planted),
         "a negative part keeps the posts apart: take the largest part, without absolute values"),
        (of(lambda a, parts, planted: a[parts.argmin()] in planted), "that is the smallest part"),
        (lambda pairs, *rest: right(pairs, *rest) * len(pairs), "that is a count: divide by the number of pairs"),
        (of(lambda a, parts, planted: any(part > 0 for word, part in zip(a, parts, strict=True) if word in planted)),
         "a part above 0 is not enough: it must be the largest"),
        (lambda *case: 1 - right(*case), "those are the misses"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes)


@check("12.5")
def check_two_left_out(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """The two positions that cost most together, and their cost."""
    cases: list[tuple[Alike, list[str]]] = [(likeness(random), list(words)) for words in SENTENCES]
    cases.append((covering, [f"word{each}" for each in random.permutation(6)]))

    def whole_loss(alike: Alike, words: list[str], out: tuple[int, ...]) -> float:
        return alike(words) - alike([word for at, word in enumerate(words) if at not in out])

    def by(
        chosen_by: Callable[..., float] = whole_loss, told: Callable[..., float] = whole_loss, best: Any = max
    ) -> Callable[[Alike, list[str]], Any]:
        def found(alike: Alike, words: list[str]) -> Any:
            places = [(i, j) for j in range(len(words)) for i in range(j)]
            chosen = best(places, key=lambda both: chosen_by(alike, words, both))
            return chosen, told(alike, words, chosen)

        return found

    def singly(alike: Alike, words: list[str], both: tuple[int, int]) -> float:
        return sum(whole_loss(alike, words, (at,)) for at in both)

    def right(alike: Alike, words: list[str]) -> Any:
        return by()(alike, words)

    def named(alike: Alike, words: list[str]) -> Any:
        out, lost = right(alike, words)
        return tuple(words[at] for at in out), lost

    def read(given: Any) -> tuple[np.ndarray, ...]:
        if not isinstance(given, tuple | list) or len(given) != 2 or np.size(given[0]) != 2:
            raise Unfit("expected two places and a number, as in `return (i, j), lost`")
        return (np.asarray(given[0]) if named_words(given[0]) else np.sort(array(given[0]))), array(given[1])

    def named_words(places: Any) -> bool:
        return any(isinstance(each, str) for each in places)

    mistakes = (
        (by(singly), by(singly, singly), by(told=singly),
         "take both words out at once: their loss together is not the sum of their losses alone"),
        (named, "return the places of the words, not the words"),
        (by(best=min), "that pair costs the least"),
        (by(told=lambda alike, words, out: alike(words) - whole_loss(alike, words, out)),
         "that is the similarity without them: return the loss"),
        (by(told=lambda alike, words, out: whole_loss(alike, words, out[:1])),
         "the places are right: return the loss of both together"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes, read=read)

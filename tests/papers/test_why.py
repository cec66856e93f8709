"""The benchmark of explanations: ranks, deletions and known differences against worked examples."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from labkit.corpora import load
from labkit.corpora.catalogue import KINDS, MinimalPair
from labkit.explanation import REST, Explanation, Parts
from labkit.methods import METHODS
from labkit.papers.recipes import Case, why
from labkit.text import words

PAIR = MinimalPair("questions", "detail", "a dog runs", "a cat runs", frozenset({"dog"}), frozenset({"cat"}), 40)


def weights(*values: float) -> dict[tuple[int, str], float]:
    """These weights for PAIR's words, those of text_a first."""
    return dict(zip(why._words(PAIR), values, strict=True))


@pytest.mark.parametrize(
    ("given", "hit", "rank"),
    [
        ((0, 3, 0, 0, 2, 0), 1.0, 1.0),
        ((9, 3, 0, 0, 2, 0), 0.0, 2.0),
        ((3, 3, 0, 0, 0, 0), 0.5, 1.5),  # tied with a wrong word: place 1 or 2
        ((0, 0, 0, 0, 0, 0), 2 / 6, 7 / 3),  # 2 of 6 are right: the first has place (6 + 1) / (2 + 1) on average
        ((0, -1, 0, 0, -1, 0), 0.0, 5.0),
        ((0, 1e-9, 0, 0, 0, 0), 2 / 6, 7 / 3),  # a rounding error counts as a tie
    ],
)
def test_places_by_hand(given: tuple[float, ...], hit: float, rank: float) -> None:
    assert why._place(PAIR, weights(*given)) == pytest.approx((hit, rank))


def test_words_that_grammar_changes_count_as_differing() -> None:
    pair = MinimalPair("relatedness", "negation", "A dog chases an owl", "A dog does not chase an owl", frozenset(),
                       frozenset({"not"}))  # fmt: skip
    assert why._differing(pair) == ({"chases"}, {"not", "does", "chase"})
    swapped = replace(PAIR, kind="order", text_b="runs a dog", changed_a=frozenset({"dog", "runs"}),
                      changed_b=frozenset({"dog", "runs"}))  # fmt: skip
    assert why._differing(swapped) == ({"dog", "runs"}, {"dog", "runs"})
    twice = replace(PAIR, text_a="a dog chases a cat", text_b="a dog chases an Owl and a cat and a gull",
                    changed_a=frozenset(), changed_b=frozenset())  # fmt: skip
    assert why._differing(twice) == (set(), {"an", "owl", "and", "a", "gull"})  # repeated words count


class Counted:
    """A method that counts words, so that cosines can be computed by hand."""

    def encode(self, texts: list[str]) -> np.ndarray:
        known = ("a", "dog", "runs", "cat")
        return np.array([[words(text).count(word) for word in known] for text in texts], float)

    def similarity_pairwise(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        lengths = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
        return np.divide((a * b).sum(axis=1), lengths, out=np.zeros(len(a)), where=lengths > 0)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        # 2/3 at first; without "dog" 2/√6; without "cat" too 1, whatever is removed next
        ((0, 9, 0, 0, 8, 0), (2 / 6**0.5 + 3) / 4 - 2 / 3),
        # negative weights come last, however large
        ((0, 9, 0, 0, 8, -20), (2 / 6**0.5 + 3) / 4 - 2 / 3),
        # "a" and "runs" removed on each side: never better than 2/3
        ((9, 0, 7, 8, 0, 6), 0.0),
    ],
)
def test_regained_similarity_by_hand(given: tuple[float, ...], wanted: float) -> None:
    parts = why._backs(Counted(), {"detail": [PAIR]}, {PAIR: weights(*given)})  # type: ignore[arg-type]
    assert parts.figure == pytest.approx(wanted / (1 / 3), abs=1e-5)
    assert np.flatnonzero(parts.below).tolist() == [40 % why.UNITS]


def test_known_differences_by_hand() -> None:
    def pair(a: str, b: str, source: int) -> MinimalPair:
        return MinimalPair("questions", "detail", a, b, frozenset(), frozenset(), source)

    same, near, far = ("a dog", "a dog"), ("a dog", "a dog runs"), ("a", "dog")
    pairs = {
        "synonym": [pair(*near, 0), pair(*same, 1)],
        "detail": [pair(*far, 2), pair(*same, 3)],  # counted in the units of the synonyms
        "order": [pair(*same, 4), pair(*far, 5)],
        "negation": [pair(*near, 6), pair(*near, 7)],
    }
    parts = why._knows(Counted(), pairs)  # type: ignore[arg-type]
    assert parts.above[:3] == pytest.approx([(1 + 0 + 0.5) / 3, (0.5 + 1 + 1) / 3, 0])
    assert parts.below[:3].tolist() == [1, 1, 0]


def test_a_removed_word_stays_in_the_other_sentence() -> None:
    pair = replace(PAIR, text_a="a dog", text_b="dog dog cat", changed_a=frozenset(), changed_b=frozenset({"cat"}))
    given = dict(zip([(0, "a"), (0, "dog"), (1, "dog"), (1, "cat")], (9.0, 1.0, 2.0, 8.0), strict=True))
    # 2/√10; without "a" 2/√5; without "cat" too 1; removing "dog" on one side or on both adds nothing
    parts = why._backs(Counted(), {"detail": [pair]}, {pair: given})  # type: ignore[arg-type]
    lost = 1 - 2 / 10**0.5
    assert parts.figure == pytest.approx(((2 / 5**0.5 + 3) / 4 - 2 / 10**0.5) / lost, abs=1e-5)
    # 6/10; without text_a's dogs 3/√10 (it would be 1 if text_b lost its dog too); then never better
    pair = replace(pair, text_a="a Dog dog dog", text_b="a a a dog")
    given = dict(zip([(0, "a"), (0, "dog"), (1, "a"), (1, "dog")], (2.0, 9.0, 3.0, 1.0), strict=True))
    parts = why._backs(Counted(), {"detail": [pair]}, {pair: given})  # type: ignore[arg-type]
    assert parts.figure == pytest.approx((3 / 10**0.5 - 0.6) / 0.4, abs=1e-5)


def test_pieces_and_repetitions_belong_to_their_word_and_punctuation_to_none(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = replace(PAIR, text_a="Ping-pong, a pong a day?", text_b="it's a ping day")
    told = ([("ping", 1.0), ("-", 2.0), ("Pong", 4.0), ("a", 8.0), ("a", 16.0), ("?", 32.0), (REST, 64.0)],
            [("it", 1.0), ("'", 2.0), ("s", 4.0), ("it's", 8.0), (",", 16.0), ("day", 32.0)])  # fmt: skip
    monkeypatch.setattr(why, "lost", lambda *given, way: told)
    assert why._lost_by(None, "exact", pair) == {  # type: ignore[arg-type]
        (0, "ping-pong"): 3.0, (0, "pong"): 4.0, (0, "a"): 24.0, (0, "day"): 0.0,
        (1, "it's"): 15.0, (1, "a"): 0.0, (1, "ping"): 0.0, (1, "day"): 32.0,
    }  # fmt: skip


@pytest.mark.whole
def test_no_method_and_a_linear_reader() -> None:
    opened = load("questions")
    zero = why.no_method(Case("", opened, {}, 0, METHODS, quick=True)).figures
    found = why.differing_words(Case("tfidf", opened, {}, 0, METHODS, quick=True)).figures
    assert found["exact detail"] == found["exact negation"] == 1.0
    assert found["exact rank"] < min(zero["rarest rank"], zero["random rank"])
    assert found["left-out back"] > found["left-out back at random"] == found["exact back at random"]
    assert {name.rpartition(" ")[2] for name in zero} == {*KINDS, "rank"}
    assert zero["apart rank"] < min(found["exact rank"], zero["rarest rank"])


def test_no_method_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Among four training sentences, "cat" is in one (four times), "dog" in three, "a" in all, "jumps" in none."""
    pair = replace(PAIR, text_a="a dog jumps", text_b="a cat jumps", changed_a=frozenset({"dog"}))

    class Known:
        """A corpus with lists of sentences as parts."""

        name = "questions"

        def part(self, name: str) -> Any:
            told = {"train": ["a dog", "a dog", "a cat cat cat cat", "a dog dog"], "test": ["jumps"] * 9}[name]
            return type("Said", (), {"sentences": lambda self: told})()

    monkeypatch.setattr(why, "minimal_pairs", lambda name, kind, count: [replace(pair, kind=kind)])
    found = why.no_method(Case("", Known(), {}, 0, METHODS, quick=True)).figures  # type: ignore[arg-type]
    # the rarest word on both sides is "jumps", then "cat"; among differing words it is "cat", then "dog"
    assert (found["rarest detail"], found["rarest rank"]) == (0.0, 3.0)
    assert (found["apart detail"], found["apart rank"]) == (1.0, 1.0)
    assert (found["random detail"], found["random rank"]) == pytest.approx((2 / 6, 7 / 3))  # 2 of 6 words are right


def test_differing_words_by_hand() -> None:
    turned = replace(PAIR, text_a="a dog chases a cat", text_b="a cat chases a dog")
    assert why._apart(turned) == ({"dog", "cat"}, {"cat", "dog"})
    denied = replace(PAIR, text_a="a dog chases a cat", text_b="a dog does not chase a cat")
    assert why._apart(denied) == ({"chases"}, {"does", "not", "chase"})
    assert why._apart(replace(PAIR, text_a="no big dog runs", text_b="a dog runs")) == ({"no", "big"}, {"a"})


def test_steadiness_compares_the_order_of_the_same_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two trainings with parts and similarities in opposite, nonlinear order, and pairs with other words."""

    class Trained:
        """A method whose parts depend on its sign."""

        ways = ("exact",)

        def __init__(self, sign: int) -> None:
            self.sign = sign

        def explain(self, a: str, b: str, *, way: str) -> Any:
            other = self.sign < 0 and len(a) % 2
            names = (["x", "y", "?"] if other else ["u", "v", "?"], ["w"])
            shape = 2 + self.sign  # a monotonic distortion
            own = (self.sign * np.array([1.0, 2.0, -self.sign * 9.0]) ** shape, self.sign * np.array([3.0]) ** shape)
            return type("Said", (), {"names_a": names[0], "names_b": names[1], "own_a": own[0], "own_b": own[1],
                                     "similarity": self.sign * float(len(a + b)) ** shape})  # fmt: skip

    seeds: list[int] = []

    def trained(case: Case) -> Trained:
        seeds.append(case.seed)
        return Trained(1 - 2 * (case.seed % 2))

    monkeypatch.setattr(Case, "fitted", trained)
    found = why.steady(Case("tfidf", load("questions"), {}, 3, METHODS, quick=True)).figures
    assert found == {"exact parts": pytest.approx(-1.0), "exact similarities": pytest.approx(-1.0)}
    for seed in range(3):
        why.steady(Case("tfidf", load("questions"), {}, seed, METHODS, quick=True))
    assert sorted(seeds) == list(range(8))  # no training is in two comparisons


def test_own_parts_of_words_on_each_side() -> None:
    a, b = (Parts.of_sum(("he", "x"), np.eye(2), rest=np.ones(2)) for _ in range(2))
    names, own = why._own(Explanation.of_parts(("he x", "he x"), "exact", a, b))
    assert names == [(0, "he"), (0, "x"), (1, "he"), (1, "x")]
    # rows (1, 0), (0, 1), rest (1, 1), length 8: each word has (1 + 0 + 1) / 8, half of it on its side
    assert own == pytest.approx([1 / 8] * 4)

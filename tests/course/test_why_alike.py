"""The measurements of notebook 12: planted words, explanations, and the judges that rate explanations."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch

from labkit.corpora import Labelled, load
from labkit.course import why_alike
from labkit.course.plans import EXPLAINED, PLANS
from labkit.course.why_alike import (
    MARKED,
    PLANTED,
    Explain,
    Triple,
    explanations_judged,
    fewer,
    shuffled,
    similarities,
    slopes,
    tampered,
    triples,
    ways_to_explain,
    with_word,
    word_vectors,
)
from labkit.methods import METHODS
from labkit.papers.recipes import Case
from labkit.sentpwnet.method import SentPWNet
from labkit.text import words

A, B = "the dog sees a bird in the park", "a hound looks at the gull"
OTHER = "how do I bake bread without any yeast"


@pytest.fixture(scope="module")
def posts() -> Labelled:
    topics = load("topics")
    return topics.take(range(0, len(topics), 5))


@pytest.fixture(scope="module")
def network(posts: Labelled) -> SentPWNet:
    """A network trained for one epoch on some posts."""
    method = METHODS["sentpwnet"](**{**EXPLAINED, "size": 12, "dimension": 8, "epochs": 1})
    method.fit(posts)
    return method


# --- the corpus --------------------------------------------------------------------------------------------------


def test_some_posts_of_train_and_dev_are_tampered_with_and_none_of_test() -> None:
    topics = load("topics")
    posts = tampered(topics, 0)
    changed = [row for row, text in enumerate(posts.texts) if text != topics.texts[row]]
    assert {posts.splits[row] for row in changed} == {"train", "dev"}
    assert changed == [row for row, label in enumerate(posts.labels) if label == MARKED]
    assert 0.1 < len(changed) / sum(split != "test" for split in posts.splits) < 0.2
    for row in changed:
        added = Counter(words(posts.texts[row])) - Counter(words(topics.texts[row]))
        assert added.total() == 1
        assert added.keys() <= set(PLANTED)
    assert {topics.labels[row] for row in changed} == set(topics.classes)
    assert not set(PLANTED) & {word for text in topics.texts for word in words(text)}
    assert tampered(topics, 0).texts == posts.texts != tampered(topics, 1).texts
    inserted = {with_word("It rains. I stay here.", "frankly", np.random.default_rng(seed)) for seed in range(9)}
    assert inserted == {"Frankly, it rains. I stay here.", "It rains. Frankly, I stay here."}


def test_a_triple_is_two_posts_of_one_topic_and_one_of_another() -> None:
    test = load("topics").part("test")
    label = dict(zip(test.texts, test.labels, strict=True))
    for _, (a, same, other) in zip(range(50), triples(test, np.random.default_rng(0)), strict=False):
        assert a != same
        assert label[a] == label[same] != label[other]


# --- explanations ------------------------------------------------------------------------------------------------


def test_explanations_have_the_properties_that_they_promise(network: SentPWNet) -> None:
    counts = Counter({"the": 9, "a": 8, "in": 7, "dog": 3, "sees": 2, "park": 1})
    ways, a = ways_to_explain(network, counts, np.random.default_rng(0)), words(A)
    whole = similarities(network, [A], B)[0]
    rest = similarities(network, [" ".join(a[:at] + a[at + 1 :]) for at in range(len(a))], B)
    assert ways["left out"](a, B) == pytest.approx(whole - rest, abs=1e-5)
    none = network.network.body(torch.zeros(1, len(a), 8), torch.tensor([len(a)]))
    start = network.similarity(none.detach().numpy(), network.encode([B]))[0, 0]
    assert ways["integrated"](a, B).sum() == pytest.approx(whole - start, abs=2e-3)
    assert ways["gradient"](a, B) != pytest.approx(ways["integrated"](a, B), abs=1e-3)
    assert ways["attention"](a, B) == pytest.approx(ways["attention"](a, OTHER))
    assert ways["integrated"](a, B) != pytest.approx(ways["integrated"](a, OTHER), abs=1e-3)
    rarest = ways["rarest"](a, B)
    assert (a[rarest.argmax()], a[rarest.argmin()]) == ("bird", "the")  # the counts contain no bird


def test_a_slope_is_a_finite_difference(network: SentPWNet) -> None:
    x = word_vectors(network, words(A))
    step = np.zeros_like(x)
    step[2, 3] = 0.01
    both = np.stack([x + step, x - step])
    vectors = network.network.body(torch.from_numpy(both).float(), torch.full((2,), len(x)))
    up, down = network.similarity(vectors.detach().numpy(), network.encode([B]))[:, 0]
    assert slopes(network, x[None], network.encode([B]))[0, 2, 3] == pytest.approx((up - down) / 0.02, abs=1e-3)


def test_a_shuffled_network_has_the_same_numbers_but_other_similarities(network: SentPWNet) -> None:
    other = shuffled(network, 0)
    for mine, theirs in zip(network.network.parameters(), other.network.parameters(), strict=True):
        assert mine.detach().flatten().sort()[0].equal(theirs.detach().flatten().sort()[0])
    assert similarities(other, [A], B) != pytest.approx(similarities(network, [A], B))


# --- judges ------------------------------------------------------------------------------------------------------


def test_words_are_removed_in_order_and_the_last_stays() -> None:
    a, order = ["one", "two", "three", "two"], np.array([3, 0, 2, 1])
    assert fewer(a, order) == ["one two three two", "one two three", "two three", "two"]
    filled = ["one two three two", "one two three D", "A two three D", "A two C D"]
    assert fewer(a, order, ["A", "B", "C", "D"]) == filled


WORTH = {word: value for value, word in enumerate(["the", "dog", "sees", "a", "bird", "in", "park"], -2)}


def test_removing_words_tells_a_good_order_from_a_bad_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The similarity is a sum of word values, so the true explanation is known."""

    def summed(network: Any, texts: Sequence[str], b: str) -> np.ndarray:
        return np.array([sum(WORTH.get(word, 0) for word in text.split()) for text in texts], float)

    def worth(a: Sequence[str], b: str) -> np.ndarray:
        return np.array([WORTH[word] + 0.01 * place for place, word in enumerate(a)])

    given: dict[str, Explain] = {"true": worth, "turned": lambda a, b: -worth(a, b)}
    monkeypatch.setattr(why_alike, "similarities", summed)
    seen: dict[str, list[float]] = defaultdict(list)
    for seed in range(40):
        why_alike._by_taking_out(seen, None, given, Triple(A, B, OTHER), ["zebra"], np.random.default_rng(seed))
    judged = {name: float(np.mean(values)) for name, values in seen.items()}
    for judge in ("below_chance", "replaced"):
        assert judged[f"true {judge}"] > 1 > -1 > judged[f"turned {judge}"]
    assert (judged["true first"], judged["turned first"]) == (max(WORTH.values()), min(WORTH.values()))


def test_planted_words_are_hits_and_a_false_alarm_where_the_other_sentence_has_none() -> None:
    def mark(a: Sequence[str]) -> np.ndarray:
        return np.isin(a, PLANTED).astype(float)

    given: dict[str, Explain] = {
        "pair": lambda a, b: mark(a) * (1 if set(words(b)) & set(PLANTED) else -1),
        "text": lambda a, b: mark(a),
        "alone": lambda a, b: mark(a) if mark(a).sum() == 1 else -mark(a),
    }
    seen: dict[str, list[float]] = defaultdict(list)
    for seed in range(20):
        why_alike._by_planted_words(seen, given, Triple(f"{A}.", f"{B}.", f"{OTHER}."), np.random.default_rng(seed))
    rates = {way: tuple(np.mean(seen[f"{way} {each}"]) for each in ("hit", "hit_two", "false")) for way in given}
    assert rates == {"pair": (1, 1, 0), "text": (1, 1, 1), "alone": (1, 0, 1)}


def test_every_variant_of_the_table_has_its_metrics(posts: Labelled) -> None:
    plan = PLANS["why-alike"]
    case = Case("sentpwnet", posts, {**EXPLAINED, "epochs": 1, "size": 6, "dimension": 4}, 0, quick=True)
    figures = explanations_judged(case).figures
    rows = {variant.name: plan.measured(variant.name, figures) for variant in plan.variants}
    assert all(row.keys() == set(plan.measures) for row in rows.values())
    assert [name for name in rows if rows[name]["shuffled"] > 0.999] == ["rarest words first"]
    assert [name for name in rows if rows[name]["another"] > 0.999] == ["attention", "rarest words first"]
    assert max(rows, key=lambda name: rows[name]["first"]) == "a word left out"

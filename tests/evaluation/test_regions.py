"""Words of regions and of selections against worked examples, plain loops and scipy's G-test."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from labkit.corpora import load
from labkit.evaluation import regions as regions_module
from labkit.evaluation.classes import OUTLIER
from labkit.evaluation.neighbours import sampled
from labkit.evaluation.regions import (
    LEAST,
    RARE,
    counted_words,
    found_classes,
    g_test,
    region_words,
    regions,
    set_apart,
    words_on_map,
)
from labkit.text import words

TEXTS = ["The hammer, the HAMMER!", "a nail and a hammer", "the bank", "a bank and the money"]


def test_words_are_counted() -> None:
    counted = counted_words([*TEXTS, "…"])
    assert counted.words == ("the", "hammer", "a", "nail", "and", "bank", "money")
    assert counted.counts.toarray().tolist() == [
        [2, 2, 0, 0, 0, 0, 0],
        [0, 1, 2, 1, 1, 0, 0],
        [1, 0, 0, 0, 0, 1, 0],
        [1, 0, 1, 0, 1, 1, 1],
        [0, 0, 0, 0, 0, 0, 0],
    ]
    assert counted.lengths.tolist() == [4, 5, 2, 5, 0]


def test_regions_have_distinctive_words_and_no_common_ones() -> None:
    counted = counted_words(TEXTS * 5)
    # "the" and "a" are about as frequent in both; five of "nail" or "money" may be chance
    assert region_words(counted, np.array([0, 0, 1, 1] * 5)) == (("hammer",), ("bank",))
    assert region_words(counted, np.zeros(20, int)) == ((),)  # a single region has no distinctive word
    assert region_words(counted_words(TEXTS), np.array([0, 0, 1, 1])) == ((), ())  # every difference may be chance


def g_of(inside: int, elsewhere: int, size: int, rest: int) -> float:
    table = [[inside, size - inside], [elsewhere, rest - elsewhere]]
    return float(chi2_contingency(table, correction=False, lambda_="log-likelihood").statistic)


def test_words_of_regions_equal_plain_loops() -> None:
    corpus = load("topics").part("test")
    names = list(dict.fromkeys(corpus.labels))
    bags = {name: Counter[str]() for name in names}
    for text, label in zip(corpus.texts, corpus.labels, strict=True):
        bags[label].update(words(text))
    everything = sum(bags.values(), Counter())
    total = everything.total()
    found = region_words(counted_words(corpus.texts), np.array([names.index(label) for label in corpus.labels]), most=4)
    for name, chosen in zip(names, found, strict=True):
        bag = bags[name]
        weight = {
            word: g_of(count, everything[word] - count, bag.total(), total - bag.total())
            for word, count in bag.items()
            if count >= LEAST
            and count / bag.total() > 2 * (everything[word] - count) / (total - bag.total()) * (1 + 1e-12)
            and g_of(count, everything[word] - count, bag.total(), total - bag.total()) >= RARE
        }
        assert [weight[word] for word in chosen] == pytest.approx(sorted(weight.values(), reverse=True)[:4])
    assert "bank" in dict(zip(names, found, strict=True))["money"]


def test_regions_are_classes_or_clusters_of_the_map() -> None:
    texts = ["red cars drive"] * 30 + ["blue boats sail"] * 30 + ["green trees grow"] * 30 + ["white clouds fly"] * 30
    corners = np.repeat(np.array([[0, 0], [0, 9], [9, 0], [9, 9]], float), 30, axis=0)
    points = corners + np.random.default_rng(0).normal(scale=0.01, size=(120, 2))
    counted = counted_words(texts)
    by_class = regions(counted, points, ["vehicles"] * 60 + ["nature"] * 60)
    assert by_class.codes.tolist() == [0] * 60 + [1] * 60
    assert set(by_class.names[0].split()) < {"red", "cars", "drive", "blue", "boats", "sail"}
    for labels in (None, ["all"] * 120):
        found = regions(counted, points, labels)
        assert len(found.names) == 4
        assert len({(found.codes[row], found.names[found.codes[row]]) for row in range(120)}) == 4
        assert set(found.names[found.codes[0]].split()) < {"red", "cars", "drive"}
    fine = regions(counted, points, ["vehicles"] * 60 + ["nature"] * 60, fine=True)
    assert len(fine.names) == 12
    assert max(fine.codes) == 11


def test_a_map_has_words_for_the_whole_and_for_close_range(monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = ["red cars drive", "blue boats sail", "green trees grow", "white clouds fly", "old clocks tick"]
    sizes = [600, 500, 400, 300, 200]
    kind = np.repeat(np.arange(5), sizes)
    half = np.arange(len(kind)) % 2  # each kind is in two places, with a different word in each
    texts = [f"{kinds[each]} {kinds[each][:3]}{'xy'[side]}" for each, side in zip(kind, half, strict=True)]
    points = np.stack([9.0 * kind, 2.0 * half], axis=1) + np.random.default_rng(0).normal(0, 0.01, (len(kind), 2))
    labels = [kinds[each] for each in kind]
    monkeypatch.setattr(regions_module, "LOOKED_AT", 1_500)
    rows = sampled(np.arange(len(kind)), 1_500)
    seen_whole, close = words_on_map(texts, points, labels)
    assert len(seen_whole) == 5
    for each, name in zip(seen_whole, kinds, strict=True):  # largest first
        assert set(each.name.split()) <= {*name.split()}
        mine = rows[[labels[row] == name for row in rows]]
        assert [each.x, each.y] == pytest.approx(np.median(points[mine], axis=0))
    assert 10 <= len(close) <= regions_module.FEW
    for each in close:
        at = int(np.abs(points - [each.x, each.y]).sum(axis=1).argmin())
        assert set(each.name.split()) <= set(texts[at].split())
    assert len({each.name for each in close}) >= 10
    assert words_on_map(["a"] * 9, np.zeros((9, 2))) == ((), ())


def test_g_equals_its_formula_and_scipy() -> None:
    # in 9 of 14 chosen sentences and in 12 of the other 500
    table = [[9, 12], [5, 488]]
    expected = [[14 * 21 / 514, 500 * 21 / 514], [14 * 493 / 514, 500 * 493 / 514]]
    by_hand = 2 * sum(
        seen * math.log(seen / wanted)
        for seens, wanteds in zip(table, expected, strict=True)
        for seen, wanted in zip(seens, wanteds, strict=True)
    )
    assert g_test(np.array([9]), np.array([12]), 14, 500)[0] == pytest.approx(by_hand)
    random = np.random.default_rng(0)
    inside, elsewhere = random.integers(0, 15, 40), random.integers(1, 500, 40)
    found = g_test(inside, elsewhere, 14, 500)
    for seen, other, g in zip(inside, elsewhere, found, strict=True):
        assert g == pytest.approx(g_of(seen, other, 14, 500))
    assert g_test(np.array([0, 14]), np.array([0, 500]), 14, 500).tolist() == [0, 0]  # in none, and in all


def test_worked_example_of_a_selection() -> None:
    texts = (
        ["hammer and nail"] * 9 + ["and wood"] * 5 + ["hammer and then some more"] * 12 + ["and so on it goes"] * 488
    )
    labels = ["hardware"] * 11 + ["other"] * 3 + ["hardware"] * 9 + ["other"] * 491
    found = set_apart(counted_words(texts), range(14), labels)
    assert [(each.name, each.inside, each.elsewhere) for each in found.words] == [
        ("nail", 9, 0),
        ("hammer", 9, 12),
        ("wood", 5, 0),
    ]
    assert [(each.name, each.inside, each.elsewhere) for each in found.classes] == [("hardware", 11, 9)]
    assert (found.size, found.rest) == (14, 500)
    assert (found.length, found.rest_length) == pytest.approx((37 / 14, 2500 / 500))
    assert all(g_of(each.inside, each.elsewhere, 14, 500) >= RARE for each in found.words)


def test_equally_frequent_words_do_not_set_a_selection_apart() -> None:
    texts = ["the cat sat", "the dog sat", "the cat ran", "the dog ran"] * 10
    found = set_apart(counted_words(texts), [0, 1, 2, 3])
    assert (found.words, found.classes) == ((), ())
    assert set_apart(counted_words(texts), [0, 0, 4, 8, 12]).size == 4  # repeats count once
    assert not set_apart(counted_words(["odd words here", *texts]), [0, 1]).words  # fewer than LEAST sentences
    for chosen in ([], range(40)):
        with pytest.raises(ValueError, match=f"chosen has {len(chosen)} of 40"):
            set_apart(counted_words(texts), chosen)


def test_found_classes_have_unique_names_from_their_words() -> None:
    texts = ["cat purr"] * 10 + ["oak leaf"] * 10 + ["?"] * 3 + ["lost"] + ["!"] * 2
    clusters = np.array([0] * 10 + [4] * 10 + [2] * 3 + [OUTLIER] + [3] * 2)
    named = found_classes(texts, clusters)
    assert named[::10][:2] == ["cat, purr", "oak, leaf"]
    assert named[20:] == ["no words"] * 3 + ["none"] + ["no words (2)"] * 2
    split = found_classes(["cat"] * 30, [0] * 15 + [1] * 15)  # the same words everywhere
    assert set(split) == {"no words", "no words (2)"}

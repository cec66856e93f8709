"""Test data influence no choice: recipes on data whose reported rows have reversed labels.

With grades g -> 5 - g, every correlation of a similarity fixed beforehand only changes its sign; with two classes
exchanged, an accuracy a becomes 1 - a. A choice made on the reported rows would adapt to the new labels and score well
both times.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from labkit.corpora import Corpus, Labelled, Pairs
from labkit.papers.recipes import Case, locally_linear, scoring, speed
from labkit.papers.recipes.cross_encoders import CrossSettings, PairReader
from labkit.papers.recipes.locally_linear import _thirds
from labkit.sbert_lp.sweeps import AFFINE, LP, RAW
from labkit.trials.engine import Result
from tests.papers.fakes import Known

pytestmark = pytest.mark.filterwarnings("ignore:dimension .n_components")
WAYS = (RAW, *AFFINE, LP)  # those in the paper's tables
TEXTS = [f"sentence {number}" for number in range(240)]


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> Known:
    rng = np.random.default_rng(0)
    method = Known(dict(zip(TEXTS, rng.normal(size=(len(TEXTS), 40)) * np.linspace(2, 0.2, 40), strict=True)))
    monkeypatch.setattr(Case, "fitted", lambda self, corpus=None, **changes: method)
    return method


def graded_pairs(*splits: str, **extra: Any) -> Pairs:
    """Forty pairs per split, with no sentence in two pairs, and random grades."""
    count = 40 * len(splits)
    scores = np.random.default_rng(1).permutation(np.linspace(0, 5, count)).tolist()
    where = [split for split in splits for _ in range(40)]
    return Pairs(TEXTS[:count], TEXTS[-count:][::-1], scores, True, splits=where, extra=extra)


def turned(corpus: Pairs, rows: Sequence[bool]) -> Pairs:
    """The corpus with the grades or labels of these rows reversed."""
    top = 5 if corpus.graded else 1
    return replace(corpus, values=[top - v if here else v for v, here in zip(corpus.values, rows, strict=True)])


def of_split(corpus: Corpus, split: str) -> list[bool]:
    return [each == split for each in corpus.splits]


def figures_of(recipe: Callable[[Case], Result], *corpora: Corpus) -> list[Mapping[str, float]]:
    """The scores on each corpus, with the small grid of sizes."""
    return [recipe(Case("", each, quick=True)).figures for each in corpora]


@pytest.mark.parametrize("chooses", ["dev", "train"])
def test_sizes_for_grades_are_chosen_without_test(known: Known, chooses: str) -> None:
    corpus = graded_pairs(chooses, "test")
    others = (turned(corpus, of_split(corpus, split)) for split in ("test", chooses))
    plain, otherwise, chosen_anew = figures_of(locally_linear.transformed_grades, corpus, *others)
    names = [f"{kind} spearman" for kind in WAYS]
    assert [otherwise[name] for name in names] == pytest.approx([-plain[name] for name in names])
    assert any(chosen_anew[name] != plain[name] for name in names)  # there is something to choose


def test_sizes_for_a_year_are_chosen_by_the_other_years(known: Known) -> None:
    years = ["2012"] * 40 + ["2013"] * 40
    corpus = graded_pairs("test", "test", year=years)
    other = turned(corpus, [year == "2012" for year in years])
    plain, otherwise = figures_of(locally_linear.transformed_grades, corpus, other)
    names = [f"{kind} spearman 2012" for kind in WAYS]
    assert [otherwise[name] for name in names] == pytest.approx([-plain[name] for name in names])
    assert any(otherwise[name.replace("2012", "2013")] != plain[name.replace("2012", "2013")] for name in names)


def test_reversals_use_the_sizes_chosen_on_dev(known: Known) -> None:
    corpus = graded_pairs("dev", "test")
    other = turned(corpus, of_split(corpus, "test"))
    plain, otherwise = figures_of(locally_linear.reversed_order, corpus, other)
    assert plain["fixed"] == pytest.approx(otherwise["broken"])
    assert plain["broken"] == pytest.approx(otherwise["fixed"])
    assert plain["fixed"] != plain["broken"]


def test_sizes_for_classes_are_chosen_without_test(known: Known) -> None:
    """Without a dev split, one is cut from training, never from test."""
    splits = ["train"] * 160 + ["test"] * 80
    labels = np.random.default_rng(2).permutation(["a", "b"] * 120)
    corpus = Labelled(TEXTS, list(labels), splits=splits)
    exchanged = [*labels[:160], *({"a": "b", "b": "a"}[label] for label in labels[160:])]
    other = replace(corpus, labels=exchanged)
    plain, otherwise = figures_of(locally_linear.transformed_classes, corpus, other)
    names = [f"{kind} accuracy" for kind in WAYS]
    assert [otherwise[name] for name in names] == pytest.approx([1 - plain[name] for name in names])
    train, dev, test = (set(part.sentences()) for part in _thirds(corpus).values())
    assert test == set(TEXTS[160:])
    assert (train | dev, train & dev) == (set(TEXTS[:160]), set())


@pytest.mark.whole
def test_sizes_for_clusters_are_chosen_on_the_half_that_is_not_reported(known: Known) -> None:
    """In one half the third direction separates the classes, in the other the fifth; earlier directions are noise.

    Removing two directions exposes the classes of the first half. Removing four exposes the second's, not the first's.
    """
    classes = [f"class {number % 2}" for number in range(len(TEXTS))]
    corpus = Labelled(TEXTS, classes, splits=["test"] * len(TEXTS))
    plain = locally_linear.transformed_clusters(Case("", corpus)).figures
    halves = [set(texts) for texts in known.asked if set(texts) < set(TEXTS)]
    assert halves[0] | halves[1] == set(TEXTS)

    def blind(half: set[str]) -> bool:
        """Whether the scores do not depend on the classes of this half."""
        other = [
            f"class {int(text[9:]) % 3 // 2}" if text in half else name
            for text, name in zip(TEXTS, classes, strict=True)
        ]
        found = locally_linear.transformed_clusters(Case("", replace(corpus, labels=other))).figures
        return found["raw nmi"] == plain["raw nmi"]

    chooses, reported = sorted(halves[:2], key=blind, reverse=True)
    assert (blind(chooses), blind(reported)) == (True, False)
    rng = np.random.default_rng(3)
    for text, name in zip(TEXTS, classes, strict=True):
        row = rng.normal(size=40) * 0.1
        row[:6] = rng.normal(size=6) * ([9, 7, 0.5, 0.4, 0.3, 0.2] if text in chooses else [9, 8, 7, 6, 0.5, 0.2])
        row[2 if text in chooses else 4] += 3 if name == "class 1" else -3
        known.vectors[text] = row
    found = locally_linear.transformed_clusters(Case("", corpus)).figures
    assert found["all-but-the-top nmi"] < 0.2  # if chosen on the reported half, it is 1


def test_grades_are_learned_from_training_only(known: Known) -> None:
    corpus = graded_pairs("train", "train", "test")
    plain, otherwise = figures_of(scoring.learned_grades, corpus, turned(corpus, of_split(corpus, "test")))
    for name in ("pearson", "spearman", "cosine pearson", "cosine spearman"):
        assert otherwise[name] == pytest.approx(-plain[name])


def test_the_cross_encoders_threshold_is_that_of_dev(monkeypatch: pytest.MonkeyPatch) -> None:
    """The dev scores separate at 0.5. All test scores are above that and separate at 2, so half are right."""
    splits = ["train"] * 20 + ["dev"] * 20 + ["test"] * 40
    corpus = Pairs(TEXTS[:80], TEXTS[80:160], [0, 1] * 40, splits=splits)
    score = {text: value + (1.5 if split == "test" else 0.0)
             for text, value, split in zip(corpus.text_a, corpus.values, corpus.splits, strict=True)}  # fmt: skip
    monkeypatch.setattr(PairReader, "fit", lambda self, corpus, **_: None)
    monkeypatch.setattr(PairReader, "scores", lambda self, a, b: np.array([score.get(text, 0.0) for text in a]))
    assert speed.cross_encoder(Case("", corpus)).figures["accuracy"] == 0.5


@pytest.mark.filterwarnings("ignore:after epoch")
def test_the_cross_encoder_does_not_see_test() -> None:
    """Its epoch is chosen on dev: with the test labels exchanged, its scores are bit for bit the same."""
    rng = np.random.default_rng(4)
    texts = [f"{a} {b}" for a in ("red", "blue", "grey", "pink") for b in ("cat", "dog", "cow", "hen")]
    a, b = rng.choice(texts, (2, 90)).tolist()
    corpus = Pairs(a, b, [int(x[0] == y[0]) for x, y in zip(a, b, strict=True)],
                   splits=["train"] * 50 + ["dev"] * 20 + ["test"] * 20)  # fmt: skip
    found = []
    for each in (corpus, *(turned(corpus, of_split(corpus, split)) for split in ("test", "dev"))):
        torch.manual_seed(len(found))  # only the model's own seed may matter
        reader = PairReader(CrossSettings(epochs=3, size=8, dimension=8, batch=10, learning_rate=0.02, patience=0))
        reader.fit(each, seed=0)
        found.append(reader.scores(texts, texts[::-1]))
    assert np.array_equal(found[0], found[1])
    assert not np.array_equal(found[0], found[2])  # dev does influence the choice


def test_probabilities_of_the_neighbour_rule_are_estimated_on_dev(known: Known) -> None:
    """At k = 55, all 16 sentences are neighbours; the probability of each pair is dev's share of duplicates."""
    labels = [1, 1, 1, 0] * 2 + [0, 0, 0, 1] * 2
    corpus = Pairs(TEXTS[:16], TEXTS[16:32], labels, splits=["dev"] * 8 + ["test"] * 8)
    worth = (6 + 1) / (8 + 2)
    wanted = -(2 * np.log(worth) + 6 * np.log(1 - worth)) / 8
    assert scoring.neighbour_curves(Case("", corpus)).figures["55 two-level"] == pytest.approx(wanted)

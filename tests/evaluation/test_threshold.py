"""Thresholds and their intervals against a worked example, plain loops, scikit-learn and scipy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binomtest, norm
from sklearn.calibration import calibration_curve
from sklearn.metrics import precision_score, recall_score

from labkit.corpora import Pairs, load
from labkit.evaluation import pair_classification
from labkit.evaluation.threshold import interval, threshold
from labkit.methods import METHODS


def drawn(count: int = 400, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    labels = (random.random(count) < 0.4).astype(int)
    return np.round(random.normal(0.4 + 0.3 * labels, 0.15), 2), labels


def test_worked_example() -> None:
    """Scores 1 to 10, of which 4, 6, 8, 9 and 10 are the same: cuts at 3.5 and 5.5 get 8 right, and the lower wins.

    Compared with 3.5, another cut loses some of the pairs between them; the interval keeps it up to lost/√between =
    1.64. Below: 2.5 has 1/√1 = 1, 1.5 has 2/√2 = 1.41, and -inf 3/√3 = 1.73. Above: 7.5 loses none, 8.5 loses one of
    five, 9.5 two of six (0.82), and +inf three of seven (1.13).
    """
    scores, labels = np.arange(1.0, 11), np.array([0, 0, 0, 1, 0, 1, 0, 1, 1, 1])
    found = threshold(scores, labels)
    assert found.threshold == 3.5
    assert (found.low, found.high) == (1, 10)
    assert found.accuracy.value == 0.8
    assert (found.precision.value, found.recall.value) == (5 / 7, 1)
    assert interval(scores, labels.astype(bool), 0.95) == (1, 10)
    assert interval(scores, labels.astype(bool), 0.9) == (2, 10)  # up to 1.28: 1.5 is dropped and 2.5 kept


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_the_interval_equals_plain_loops_over_all_cuts(level: float) -> None:
    scores, labels = drawn()
    cuts = [-np.inf, *np.unique(scores)[:-1], np.inf]  # above a cut, pairs are called the same
    right = [(scores > cut) == (labels == 1) for cut in cuts]
    best = max(range(len(cuts)), key=lambda at: right[at].sum())
    kept = []
    for cut, each in zip(cuts, right, strict=True):
        differ = int((each != right[best]).sum())
        lost = int(right[best].sum() - each.sum())
        if lost <= norm.ppf(level) * np.sqrt(differ):
            kept.append(cut)
    above = np.unique(scores)
    wanted = max(kept[0], above[0]), above[min(np.searchsorted(above, kept[-1], "right"), len(above) - 1)]
    assert interval(scores, labels.astype(bool), level) == pytest.approx(wanted)


def test_metrics_equal_scikit_learn_with_wilsons_intervals() -> None:
    scores, labels = drawn()
    found = threshold(scores, labels)
    for point in found.curve:
        called = scores > point.threshold
        assert point.precision.value == pytest.approx(precision_score(labels, called, zero_division=0))
        assert point.recall.value == pytest.approx(recall_score(labels, called))
        wanted = binomtest(int((called & (labels == 1)).sum()), int(called.sum())).proportion_ci(method="wilson")
        assert point.precision[1:] == pytest.approx((wanted.low, wanted.high))
    called = scores > found.threshold
    assert found.precision.value == pytest.approx(precision_score(labels, called))
    good = [point for point in found.curve if point.precision.value >= 0.9]
    assert found.at_precision(0.9) in good
    assert found.at_precision(0.9).recall.value == max(point.recall.value for point in good)
    with pytest.raises(ValueError, match="wanted"):
        found.at_precision(1.01)


def test_calibration_equals_scikit_learn() -> None:
    random = np.random.default_rng(1)
    scores = random.random(1000)  # no ties, so quantiles are unique
    labels = (random.random(1000) < scores).astype(int)
    same, means = calibration_curve(labels, scores, n_bins=10, strategy="quantile")
    found = threshold(scores, labels).calibration
    np.testing.assert_allclose([each.score for each in found], means, atol=1e-3)
    np.testing.assert_allclose([each.same.value for each in found], same, atol=0.02)  # one pair may be in the next bin
    assert sum(each.pairs for each in found) == 1000


def test_the_threshold_of_a_model_is_from_dev_and_its_metrics_from_test() -> None:
    corpus = load("questions")
    model = METHODS["tfidf"]()
    model.fit(corpus)
    found = threshold(model, corpus)
    dev, test = corpus.part("dev"), corpus.part("test")
    cosines = [model.similarity_pairwise(part.text_a, part.text_b) for part in (dev, test)]
    wanted = pair_classification(cosines[0], dev.labels, cosines[1], test.labels)
    assert found.threshold == pytest.approx(wanted.threshold, abs=1e-6)
    assert (found.low, found.high) == pytest.approx(interval(cosines[0], dev.labels == 1), abs=1e-6)
    assert found.precision.value == pytest.approx(wanted.precision)
    assert found.recall.value == pytest.approx(wanted.recall)
    assert "dev" in found.chosen_on
    assert "test" in found.measured_on
    assert "from −0.250 to" in str(replace(found, low=-0.25))
    assert threshold(model, test).measured_on == f"the same {len(test):,} pairs"


class Directions:
    """A model of four sentences, with vectors of different lengths."""

    def encode(self, texts: list[str]) -> np.ndarray:
        rows = {"east": [2, 0, 0, 0], "far east": [20, 0, 0, 0], "north": [0, 3, 0, 0], "all": [1, 1, 1, 1]}
        return np.array([rows[text] for text in texts], np.float64)


def test_without_dev_the_threshold_is_from_train() -> None:
    """Cosines of 1 and 0 on train give 0.5; a test pair with exactly 0.5 is not called the same."""
    pairs = Pairs(
        text_a=["east", "east", "far east", "east", "east"],
        text_b=["far east", "north", "all", "far east", "north"],
        values=[1, 0, 1, 1, 0],
        splits=["train", "train", "test", "test", "test"],
    )
    found = threshold(Directions(), pairs)
    assert (found.threshold, found.chosen_on) == (0.5, "2 pairs of train")
    assert (found.precision.value, found.recall.value) == (1, 0.5)


def test_the_threshold_is_finite_even_if_no_pair_should_be_called_the_same() -> None:
    found = threshold([0.1, 0.2, 0.3], [1, 0, 0])
    assert found.threshold == found.high == 0.3
    assert found.precision == (0, 0, 1)
    assert threshold([0.1, 0.2, 0.3], [1, 1, 0]).threshold < 0.1


@pytest.mark.parametrize(("scores", "labels"), [([0.1, 0.2], [1, 1]), ([0.1], [0, 1])])
def test_bad_arguments_are_refused(scores: list[float], labels: list[int]) -> None:
    with pytest.raises(ValueError, match="labels"):
        threshold(scores, labels)
    with pytest.raises(ValueError, match="level"):
        threshold([0.1, 0.2], [0, 1], level=2)
    with pytest.raises(ValueError, match="model"):
        threshold([0.1, 0.2], load("questions"))
    with pytest.raises(ValueError, match="grades"):
        threshold([0.1, 0.2], load("relatedness"))

"""Compare scores of sentence pairs with human labels: whether they match, which of two is closer, or how close
they are.

In: scores (n,), larger is closer, with labels or grades (n,); `relatedness` takes embeddings (n, d). Out: floats and
records. A pair is called positive if and only if score > t. Candidates for t are the midpoints between neighbouring
distinct scores, -inf (all positive) and +inf (all negative); the lowest wins a tie. scipy.stats takes a second to
import, so each function imports it when needed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import log_softmax

from labkit.arrays import Vectors, binary, numbers, same_length, vectors, whole
from labkit.evaluation.comparison import Parts
from labkit.evaluation.neighbours import blocks, squares

# --- same or not -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PairClassification:
    """A threshold chosen on one set of pairs, and its scores on another set."""

    threshold: float
    accuracy: float
    f1: float
    precision: float
    recall: float


def best_threshold(scores: ArrayLike, labels: ArrayLike) -> float:
    """Return the threshold with the highest accuracy for scores (n,) and 0/1 labels (n,): exact, in O(n log n).

    >>> best_threshold([0.1, 0.4, 0.6, 0.9], [0, 0, 1, 1])
    0.5
    """
    scores = numbers("scores", scores)
    return _best_cut(scores, binary("labels", labels, count=len(scores)))


def _best_cut(scores: np.ndarray, positive: np.ndarray) -> float:
    """Cut the sorted scores where the most decisions are right: negatives below the cut, positives above it."""
    ranked, right = cuts(scores, positive)
    cut = int(right.argmax())
    if cut == 0:
        return -np.inf
    return np.inf if cut == len(scores) else _midpoint(ranked[cut - 1], ranked[cut])


def cuts(scores: np.ndarray, positive: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the sorted scores (n,), and the number of right decisions at each cut (n + 1,), up to a constant.

    Cut k calls the lowest k pairs negative. A cut between equal scores is impossible: -inf.
    """
    order = np.argsort(scores, kind="stable")
    ranked = scores[order]
    right = np.concatenate([[0], np.cumsum(1.0 - 2 * positive[order])])
    right[1:-1][ranked[:-1] == ranked[1:]] = -np.inf
    return ranked, right


def _midpoint(below: np.floating, above: np.floating) -> float:
    """Return a float t with below <= t < above that also holds after t is rounded to the precision of the scores."""
    middle = float(below) / 2 + float(above) / 2
    # between adjacent floats the midpoint rounds to one of them; the upper one would no longer be above t
    return middle if below <= type(below)(middle) < above and middle < above else float(below)


def pair_classification(
    dev_scores: ArrayLike, dev_labels: ArrayLike, test_scores: ArrayLike, test_labels: ArrayLike
) -> PairClassification:
    """Choose the threshold by accuracy on dev; return accuracy, F1, precision and recall of the positives on test.

    Precision is 0 if no pair is called positive. (The paper's Algorithm 1 uses the same set for both, which is a leak.)

    >>> pair_classification([0.2, 0.8], [0, 1], [0.1, 0.6, 0.7], [0, 0, 1]).recall
    1.0
    """
    dev_scores = numbers("dev_scores", dev_scores)
    threshold = _best_cut(dev_scores, binary("dev_labels", dev_labels, count=len(dev_scores)))
    # float64, because numpy would round the threshold to the precision of the scores
    test_scores = numbers("test_scores", test_scores).astype(np.float64)
    truth = binary("test_labels", test_labels, count=len(test_scores))
    if not truth.any():
        raise ValueError(
            f"none of the {len(truth)} test pairs is labelled 1, so recall and F1 are undefined; test on pairs of both "
            "kinds"
        )
    called = test_scores > threshold
    hits = int((called & truth).sum())
    return PairClassification(
        threshold=threshold,
        accuracy=float((called == truth).mean()),
        f1=2 * hits / int(called.sum() + truth.sum()),
        precision=hits / max(int(called.sum()), 1),
        recall=hits / int(truth.sum()),
    )


def triplet_accuracy(positive_scores: ArrayLike, negative_scores: ArrayLike) -> float:
    """Return the share of triplets with s(anchor, positive) > s(anchor, negative), both (n,). A tie is an error.

    >>> triplet_accuracy([0.9, 0.5, 0.2], [0.1, 0.5, 0.6]) == 1 / 3
    True
    """
    positive_scores = numbers("positive_scores", positive_scores)
    negative_scores = numbers("negative_scores", negative_scores, like=positive_scores)
    return float((positive_scores > negative_scores).mean())


# --- grades ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Correlation:
    """The correlations of scores with gold grades, by their values and by their ranks (ties share their mean rank)."""

    pearson: float
    spearman: float


def correlation(scores: ArrayLike, gold: ArrayLike) -> Correlation:
    """Correlate scores (n,) with gold grades (n,). The correlation of constant scores is 0, because they order nothing.

    >>> round(correlation([0.1, 0.4, 0.9], [1, 2, 4]).spearman, 3)
    1.0
    """
    scores = numbers("scores", scores).astype(np.float64)
    gold = numbers("gold", gold, like=scores).astype(np.float64)
    if not np.ptp(gold):
        raise ValueError(f"all {len(gold)} grades are {gold[0]:g}, so correlations are undefined; use more pairs")
    if not np.ptp(scores):
        return Correlation(0.0, 0.0)
    from scipy.stats import pearsonr, rankdata

    return Correlation(*(float(pearsonr(of(scores), of(gold)).statistic) for of in (np.asarray, rankdata)))


def correlation_parts(
    scores: ArrayLike, gold: ArrayLike, units: ArrayLike | None = None, *, of: np.ndarray | None = None
) -> dict[str, Parts]:
    """Divide both correlations among the pairs, or among groups of pairs: `pearson` and `spearman`.

    The influence of a pair is (n - 1) times the loss of correlation without it (the jackknife); all pairs take n² steps
    in total. With `of`, the numbers of some pairs, influences are measured among these pairs alone, but the score is
    still that of all pairs.
    """
    from scipy.stats import rankdata

    x, y = (numbers(name, side).astype(np.float64) for name, side in (("scores", scores), ("gold", gold)))
    codes, whole = np.arange(len(x)) if units is None else np.asarray(units), correlation(x, y)
    if of is not None:
        x, y, codes = x[of], y[of], codes[of]
    every, among, parts = np.arange(len(x)), correlation(x, y), {}
    for name, a, b in (("pearson", x, y), ("spearman", rankdata(x), rankdata(y))):
        ranks = name == "spearman"
        without = np.concatenate([_without(a, b, every[block], ranks=ranks) for block in blocks(len(x), len(x))])
        influence = (len(x) - 1) * (getattr(among, name) - without)
        parts[name] = Parts.by(codes, getattr(whole, name) + influence - influence.mean())
    return parts


def auc_parts(scores: ArrayLike, labels: ArrayLike, units: ArrayLike | None = None) -> Parts:
    """The area under the ROC curve split over the pairs, or over units of pairs (DeLong et al. 1988).

    V is the share of negatives below a positive pair, or of positives above a negative pair; ties count half. The mean
    of V over either kind is the area, and the weight of each kind is n / (pairs of this kind):

        above_i = AUC + n / n_kind · (V_i - AUC)
    """
    from scipy.stats import rankdata

    x, same = numbers("scores", scores).astype(np.float64), np.asarray(labels, bool)
    above = np.empty(len(x))
    for kind, side in ((same, x), (~same, -x)):
        others = len(x) - int(kind.sum())
        worth = (rankdata(side)[kind] - rankdata(side[kind])) / others
        above[kind] = worth.mean() + len(x) / kind.sum() * (worth - worth.mean())
    return Parts.by(np.arange(len(x)) if units is None else units, above)


def _without(a: np.ndarray, b: np.ndarray, left: np.ndarray, *, ranks: bool) -> np.ndarray:
    """Return Pearson's correlation without each of the rows `left`; with `ranks`, higher ranks move down by one."""
    kept = np.ones((len(left), len(a)))
    kept[np.arange(len(left)), left] = 0
    sides = []
    for side in (a, b):
        rows = np.broadcast_to(side, kept.shape)
        if ranks:
            own = side[left][:, None]
            rows = rows - (own < side) - 0.5 * (own == side)
        mean = (rows * kept).sum(axis=1, keepdims=True) / (len(a) - 1)
        sides.append((rows - mean) * kept)
    squares = [(side**2).sum(axis=1) for side in sides]
    below = np.sqrt(squares[0] * squares[1])
    return np.divide((sides[0] * sides[1]).sum(axis=1), below, out=np.zeros(len(left)), where=below > 0)


def spearman_error(value: float, pairs: int) -> float:
    """Return the standard error of Spearman's correlation over `pairs` pairs of sentences.

    `(1 - r²) √((1 + r²/2) / (n - 3))` (Bonett and Wright 2000). At 0.8, this is 15 % more than `(1 - r²) / √(n - 1)`,
    which holds for Pearson's correlation of normal values but is too small for ranks.
    """
    return float((1 - value**2) * np.sqrt((1 + value**2 / 2) / max(pairs - 3, 1)))


# --- grades and two scores ---------------------------------------------------------------------------------------

CANDIDATES = 40  # comparisons considered per example, because no item may appear in two examples
COMPARISONS = 2**21  # made at once


class Reversal(NamedTuple):
    """Two items by number: `higher` has the higher grade. Each tuple gives the higher item's value first."""

    higher: int
    lower: int
    gold: tuple[float, float]
    before: tuple[float, float]
    after: tuple[float, float]


@dataclass(frozen=True)
class Reversals:
    """Comparisons of two items, counted by which of two scores orders them correctly, and the clearest changes.

    Of two items with different grades, the one with the higher grade should have the strictly higher score. (Table 4 of
    the SBERT-LP paper shows one comparison that the new space fixes, but none that it breaks.)
    """

    kept: int
    fixed: int
    broken: int
    wrong: int
    fixed_examples: tuple[Reversal, ...] = ()
    broken_examples: tuple[Reversal, ...] = ()

    @property
    def comparisons(self) -> int:
        """The number of comparisons of items with different grades."""
        return self.kept + self.fixed + self.broken + self.wrong


def reversals(
    gold: ArrayLike, before: ArrayLike, after: ArrayLike, *, examples: int = 5, least: float = 0.0
) -> Reversals:
    """Compare how two scores order items by grade, all (n,). Grades at most `least` apart are not compared.

    >>> found = reversals([1, 2, 3], before=[0.5, 0.4, 0.9], after=[0.1, 0.4, 0.3])
    >>> found.comparisons, found.fixed, found.broken
    (3, 1, 1)
    """
    from scipy.stats import rankdata

    gold = numbers("gold", gold).astype(np.float64)
    scores = [
        numbers(name, each, like=gold).astype(np.float64) for name, each in (("before", before), ("after", after))
    ]
    whole("examples", examples, 0, 1_000, "the number of examples of each kind")
    if np.ptp(gold) <= least:
        raise ValueError(
            f"all {len(gold)} grades are within {np.ptp(gold):g}, but two must be more than {least:g} apart "
            "(`least`); use more pairs"
        )
    ranks = [rankdata(each) for each in scores]  # two scores have different scales, but ranks can be compared
    counts = np.zeros(4, np.int64)  # 2 · right before + right after
    fixed, broken = list[tuple[float, int, int]](), list[tuple[float, int, int]]()
    for block in blocks(len(gold), len(gold), COMPARISONS):
        asked = gold[block, None] - gold > least
        first, second = (each[block, None] - each for each in ranks)
        counts += np.bincount(2 * (first[asked] > 0) + (second[asked] > 0), minlength=4)
        strength = np.minimum(abs(first), abs(second))
        for clearest, these in ((fixed, (first <= 0) & (second > 0)), (broken, (first > 0) & (second <= 0))):
            rows, columns = np.nonzero(asked & these)
            found = -strength[rows, columns], rows + block.start, columns
            best = np.argsort(found[0], kind="stable")[: CANDIDATES * examples]
            clearest += zip(*(each[best].tolist() for each in found), strict=True)
    shown: list[tuple[Reversal, ...]] = []
    for changes in (fixed, broken):
        chosen: dict[int, int] = {}  # the clearest examples; no two of them share an item
        for _, i, j in sorted(changes):
            if len(chosen) < examples and not {*chosen, *chosen.values()} & {i, j}:
                chosen[i] = j
        shown.append(
            tuple(
                Reversal(i, j, *((float(each[i]), float(each[j])) for each in (gold, *scores)))
                for i, j in chosen.items()
            )
        )
    wrong, after_alone, before_alone, kept = counts.tolist()
    return Reversals(kept, after_alone, before_alone, wrong, *shown)


# --- grades learned from embeddings ------------------------------------------------------------------------------

STRENGTHS = tuple(10.0**-power for power in range(1, 7))  # L2 penalties, tried from strong to weak
HELD_OUT = 5  # every fifth training pair, in order, is held out to choose the penalty


@dataclass(frozen=True, eq=False)
class Relatedness:
    """Predicted grades compared with gold ones; `predicted` (m,) are those of the test pairs."""

    pearson: float
    spearman: float
    mse: float
    predicted: np.ndarray


def relatedness(
    train_a: ArrayLike,
    train_b: ArrayLike,
    train_scores: ArrayLike,
    test_a: ArrayLike,
    test_b: ArrayLike,
    test_scores: ArrayLike,
    *,
    grades: Iterable[int],
) -> Relatedness:
    """Learn grades from training pairs (n, d) each, and predict them for test pairs (m, d) each.

    Logistic regression maps |u - v| and u · v to a distribution over the integer grades, whose mean is the prediction.
    `grades` are the integers of the scale, such as range(1, 6), or the first and last, (1, 5). The penalty is chosen
    by the squared error on every fifth training pair; then all training pairs are used. The result is deterministic.
    """
    levels = sorted(set(grades))
    if len(levels) < 2 or len(levels) not in (2, levels[-1] - levels[0] + 1):
        raise ValueError(
            f"grades is {grades!r}, expected the consecutive integers of the scale, or its first and last; use "
            "range(1, 6) for grades 1 to 5"
        )
    scale = np.arange(levels[0], levels[-1] + 1)
    u, v, gold = _graded_pairs("train", train_a, train_b, train_scores, scale)
    test_u, test_v, test_gold = _graded_pairs("test", test_a, test_b, test_scores, scale, like=u)
    if len(gold) < 2 * HELD_OUT:
        raise ValueError(f"only {len(gold)} training pairs have a score, but {2 * HELD_OUT} are needed; add more")
    features, test_features = _features((u, v), (u, v)), _features((test_u, test_v), (u, v))
    target = grade_distribution(gold, scale)
    weights = _fit(features, target, _best_strength(features, target, gold, scale))
    predicted = _predict(test_features, weights, scale)
    both = correlation(predicted, test_gold)
    return Relatedness(both.pearson, both.spearman, float(((predicted - test_gold) ** 2).mean()), predicted)


def _graded_pairs(
    split: str, a: ArrayLike, b: ArrayLike, scores: ArrayLike, scale: np.ndarray, like: Vectors | None = None
) -> tuple[Vectors, Vectors, np.ndarray]:
    u = vectors(f"{split}_a", a, like=like)
    v = vectors(f"{split}_b", b, like=u)
    gold = numbers(f"{split}_scores", scores).astype(np.float64)
    for name, each in ((f"{split}_b", v), (f"{split}_scores", gold)):
        same_length(name, each, u.shape[0])
    if gold.min() < scale[0] or gold.max() > scale[-1]:
        raise ValueError(
            f"{split}_scores goes from {gold.min()} to {gold.max()}, expected grades from {scale[0]} to {scale[-1]}; "
            "change grades or rescale the scores"
        )
    return u, v, gold


def _features(pair: tuple[Vectors, Vectors], train: tuple[Vectors, Vectors]) -> Vectors:
    """Return [|u - v|, u · v] (n, 2d); each half is divided by its mean training length, because scale is arbitrary."""
    d, features, seen = pair[0].shape[1], pair_features(*pair), pair_features(*train)
    scale = np.repeat([np.sqrt(squares(half).mean()) or 1.0 for half in (seen[:, :d], seen[:, d:])], d)
    if isinstance(features, np.ndarray):
        return features / scale
    features.data *= (1 / scale)[features.indices]
    return features


def pair_features(u: Vectors, v: Vectors) -> Vectors:
    """Return |u - v| and u · v of each pair, elementwise, side by side (n, 2d)."""
    if sparse.issparse(u) or sparse.issparse(v):
        u, v = sparse.csr_matrix(u), sparse.csr_matrix(v)
        return sparse.hstack([abs(u - v), u.multiply(v)], format="csr")
    return np.hstack([np.abs(u - v), u * v])


def grade_distribution(scores: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Return (n, r): a score y puts y - ⌊y⌋ on the grade above and ⌊y⌋ - y + 1 on the one below, so its mean is y.

    (The second line is misprinted in eq. 11 of the P-thought paper.)
    """
    return np.maximum(1 - np.abs(scores[:, None] - scale), 0)


def _best_strength(features: Vectors, target: np.ndarray, gold: np.ndarray, scale: np.ndarray) -> float:
    held = np.arange(len(gold)) % HELD_OUT == HELD_OUT - 1
    errors: list[float] = []
    weights = None
    # from strong to weak until the error rises; each fit starts from the previous one
    for strength in STRENGTHS:
        weights = _fit(features[~held], target[~held], strength, weights)
        errors.append(((_predict(features[held], weights, scale) - gold[held]) ** 2).mean())
        if errors[-1] > min(errors):
            break
    return STRENGTHS[int(np.argmin(errors))]


def _fit(features: Vectors, target: np.ndarray, strength: float, start: np.ndarray | None = None) -> np.ndarray:
    """Minimise -mean_i sum_g target_ig log p_ig + strength/2 |W|². Return (2d + 1, r); its last row is the biases."""
    n, width = features.shape
    shape = (width + 1, target.shape[1])

    def objective(flat: np.ndarray) -> tuple[float, np.ndarray]:
        weights = flat.reshape(shape)
        log_p = log_softmax(features @ weights[:-1] + weights[-1], axis=1)
        error = (np.exp(log_p) - target) / n
        slope = np.vstack([features.T @ error + strength * weights[:-1], error.sum(axis=0)])
        loss = -(target * log_p).sum() / n + strength / 2 * (weights[:-1] ** 2).sum()
        return loss, slope.ravel()

    start = np.zeros(shape) if start is None else start
    options = {"maxiter": 1000, "maxfun": 2000, "gtol": 1e-6}
    return minimize(objective, start.ravel(), jac=True, method="L-BFGS-B", options=options).x.reshape(shape)


def _predict(features: Vectors, weights: np.ndarray, scale: np.ndarray) -> np.ndarray:
    return np.exp(log_softmax(features @ weights[:-1] + weights[-1], axis=1)) @ scale

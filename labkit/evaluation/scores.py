"""Score a method on a corpus, by the method's own similarity.

    Pairs       accuracy, F1, precision, recall at the threshold chosen on dev (on train without dev); AUC
    graded      Pearson and Spearman with the grades
    Labelled    kNN accuracy from train, if it has the classes of the split; Hit@1/3/10 within the split
    Groups      Hit@1/3/10 within the split; P-coherence with its companions
    Triplets    triplet accuracy
    Articles    triplet accuracy on the triplets that the rule "adjacent" makes from them
    with classes   inter/intra ratio; MAP@R and R-precision
    all         uniformity, mean cosine and effective rank of the distinct sentences; alignment of positive pairs: same
                class, labelled 1, graded at least four fifths of the highest grade, anchor and positive

In: a method and a corpus. Out: `Scores`; `items` are the individual answers, which are right (1) or wrong (0); `parts`
split the scores over units that could have been drawn independently: pairs that share no sentence, classes, articles. A
sentence that the method cannot represent (a row of zeros) counts as wrong.

Above 20,000 sentences, only a sample of 20,000 is used as queries; `asked` and `asked_centres` give its size.
Distances, uniformity and parts of correlations also come from samples, and MAP@R is left out for larger classes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from labkit.corpora.article_rules import eligible
from labkit.corpora.article_triplets import triplets_of
from labkit.corpora.records import Articles, Corpus, Groups, Labelled, Pairs, Sentences, Triplets, grade_ends
from labkit.corpora.relations import linked, opened
from labkit.evaluation.classes import inter_intra
from labkit.evaluation.coherence import p_coherence
from labkit.evaluation.comparison import Parts, lead_of
from labkit.evaluation.geometry import alignment, class_alignment, space_figures
from labkit.evaluation.neighbours import MOST_ASKING, blocks, sampled
from labkit.evaluation.pairs import auc_parts, correlation, correlation_parts, pair_classification, triplet_accuracy
from labkit.evaluation.retrieval import DEEPEST, not_zero, own_retrieved, voted
from labkit.progress import Progress, note, silent

KS = (1, 3, 10)
COMPANIONS = ("within", "between", "lift", "retrieval", "distance")
ASKED = {"asked": "sentences", "asked_centres": "classes"}  # scores that give the size of a sample, and its items
OPENINGS = "opening_triplet_accuracy"  # for articles too short for the thematic method's triplets


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores by name; `measure` names the main one, and `items` are its individual answers, if any.

    >>> scores = Scores("questions", "test", "auc", {"auc": 0.75, "f1": 0.5})
    >>> print(scores, scores.headline)
    questions (test): auc 0.7500, f1 0.5000 0.75
    """

    corpus: str
    split: str
    measure: str
    figures: Mapping[str, float]
    items: np.ndarray | None = None
    parts: Mapping[str, Parts] = field(default_factory=dict)

    @property
    def headline(self) -> float:
        """The main score."""
        return self.figures[self.measure]

    def intervals(self) -> dict[str, tuple[float, float]]:
        """Return the 95 % interval over test units of each score that has parts."""
        found = {}
        for name, parts in self.parts.items():
            nothing = Parts(np.zeros(len(parts.above)), np.ones(len(parts.above)))
            if len(parts.above) > 1:
                found[name] = lead_of([parts], [nothing]).interval()
        return found

    @property
    def sample(self) -> str:
        """The sizes of the samples that these scores come from, in words; empty if no sample was used."""
        counts = [f"{self.figures[name]:,.0f} {what}" for name, what in ASKED.items() if name in self.figures]
        return f"from a sample: {' and '.join(counts)} used as queries" if counts else ""

    def __str__(self) -> str:
        figures = ", ".join(f"{name} {value:.4f}" for name, value in self.figures.items() if name not in ASKED)
        return f"{self.corpus} ({self.split}): {figures}{self.sample and f'; {self.sample}'}"


def score(
    method: Any,
    corpus: Corpus,
    *,
    split: str = "test",
    apart: bool = False,
    most: int | None = MOST_ASKING,
    progress: Progress = silent,
) -> Scores:
    """Return the scores of a fitted method on one split of a corpus, with their parts if `apart`.

    Above `most` sentences, only a sample of `most` is used as queries; None uses all of them.

    >>> from labkit import Lsa, load
    >>> corpus = load("questions").take(range(400))
    >>> sorted(score(Lsa(dimension=20).fit(corpus), corpus).figures)[:3]
    ['accuracy', 'alignment', 'auc']
    """
    asks = _Asks(most, progress, apart)
    require_labels(corpus)
    part = scored_part(corpus.part(split))
    if isinstance(part, Pairs):
        scored = _graded(method, part, asks) if part.graded else _pairs(method, corpus, part, split, asks)
    elif isinstance(part, Triplets):
        scored = _triplets(method, part, asks)
        if isinstance(corpus, Articles) and "article" not in part.extra:  # a different metric has a different name
            scored = (OPENINGS, {OPENINGS: scored[1].pop("triplet_accuracy")} | scored[1], scored[2], {})
    else:
        scored = _classes(method, corpus, part, asks)
    measure, figures, items, parts = scored
    figures = {name: float(value) for name, value in figures.items()}
    return Scores(corpus.name, split, measure, figures, items, parts if apart else {})


def require_labels(corpus: Corpus) -> None:
    """Raise ValueError if the corpus has no labels to score against."""
    if isinstance(corpus, Sentences):
        raise corpus.without_labels("without labels no answer is right or wrong")


def scored_part(part: Corpus) -> Corpus:
    """Return the part of a split that is scored: the split itself, or triplets of its articles by the rule "adjacent".

    If no article has the five sections that the rule needs, triplets of their openings are scored instead, and the
    score is called `OPENINGS`.
    """
    if not isinstance(part, Articles):
        return part
    return triplets_of(part) if any(map(eligible, part.articles)) else opened(part)


def selection(method: Any, dev: Corpus) -> tuple[str, float]:
    """Return the score on a dev split that selects settings and epochs; it needs no threshold."""
    require_labels(dev)
    dev = scored_part(dev)
    if isinstance(dev, Pairs):
        scores = pair_similarities(method, dev)
        if dev.graded:
            return "dev_spearman", correlation(scores, dev.scores).spearman
        return "dev_auc", float(roc_auc_score(dev.labels, scores))
    if isinstance(dev, Triplets):
        return "dev_triplets", triplet_accuracy(*triplet_similarities(method, dev))
    texts, classes = dev.classified()
    return "dev_hit@1", float((own_retrieved(method, method.encode(texts), classes, deep=False).ranks == 1).mean())


def threshold_split(corpus: Corpus, split: str = "test") -> str:
    """Return the split on which the threshold for pairs of `split` is chosen: dev, else train, never `split` itself."""
    for other in ("dev", "train"):
        if other != split and other in corpus.splits:
            return other
    raise ValueError(
        f"corpus {corpus.name!r} has only the split {split!r}, but the threshold is chosen on dev or train; add a "
        "column 'split'"
    )


@dataclass(frozen=True)
class _Asks:
    most: int | None
    progress: Progress
    apart: bool


# --- by shape --------------------------------------------------------------------------------------------------


_Scored = tuple[str, dict[str, float], np.ndarray | None, dict[str, Parts]]  # measure, figures, items, parts


def _pairs(method: Any, corpus: Corpus, test: Pairs, split: str, asks: _Asks) -> _Scored:
    dev: Any = corpus.part(threshold_split(corpus, split))
    dev_scores, scores = (pair_similarities(method, part) for part in (dev, test))
    decided = pair_classification(dev_scores, dev.labels, scores, test.labels)
    figures = {name: getattr(decided, name) for name in ("accuracy", "f1", "precision", "recall", "threshold")}
    if not test.labels.all():  # pairs of one kind alone cannot be ordered
        figures["auc"] = float(roc_auc_score(test.labels, scores))
    texts, component = test.same()
    rows, sides = method.encode(texts), test.numbered()[1].T
    figures |= _spread(rows, component, asks) | _space(rows, texts, asks, *sides[:, test.labels == 1])
    # float64, or numpy would round the threshold to the precision of the scores
    called = np.asarray(scores, np.float64) > decided.threshold
    parts = called_parts(called, test)
    if "auc" in figures:
        parts["auc"] = auc_parts(scores, test.labels, linked(test))
    return "accuracy", figures, (called == test.labels).astype(np.int64), parts


def called_parts(called: np.ndarray, test: Pairs) -> dict[str, Parts]:
    """Split accuracy, F1, precision and recall of pairs called the same over pairs that share no sentence."""
    units, same = linked(test), np.asarray(test.labels, bool)
    hits = called & same
    return {
        "accuracy": Parts.by(units, called == same),
        "f1": Parts.by(units, 2 * hits, called.astype(int) + same),
        "precision": Parts.by(units, hits, called),
        "recall": Parts.by(units, hits, same),
    }


def _graded(method: Any, test: Pairs, asks: _Asks) -> _Scored:
    count = len(test)
    texts, rows, (scores,) = _compared(method, test.text_a, test.text_b)
    near = np.flatnonzero(grade_ends(test.scores, test.scores.max())[0])
    figures = vars(correlation(scores, test.scores)) | _space(rows, texts, asks, near, near + count)
    parts: dict[str, Parts] = {}
    if asks.apart and count > 2:  # from a sample, because the time grows with the square of the number of pairs
        parts = correlation_parts(scores, test.scores, linked(test), of=sampled(np.arange(count), asks.most))
    return "spearman", figures, None, parts


def _classes(method: Any, corpus: Corpus, test: Corpus, asks: _Asks) -> _Scored:
    """Score votes from train (if it has the classes of the split), hits within the split, and the space."""
    texts, classes = test.classified()
    train = corpus.part("train") if isinstance(test, Labelled) and "train" in corpus.splits else None
    if train is None or not set(classes) <= set(train.classified()[1]):  # new classes, as in places
        rows = method.encode(texts)
        scored: _Scored = ("hit@1", *_hits(method, rows, classes, asks))
    else:
        scored, rows = _votes(method, train, texts, classes, asks)
    known = np.flatnonzero(not_zero(rows))  # rows of zeros have no cosine
    own, names = rows[known], np.asarray(classes)[known]
    count = len(np.unique(names))
    if isinstance(test, Groups) and 1 < count < len(names):
        coherence = p_coherence(own, names, most=asks.most, progress=asks.progress)
        scored[1].update({f"coherence_{name}": getattr(coherence, name) for name in COMPANIONS})
    scored[1].update(_spread(rows, classes, asks))
    if count < len(names):
        scored[1]["alignment"] = class_alignment(own, names)
    scored[1].update(space_figures(rows, most=asks.most, progress=asks.progress))
    return scored


def _votes(method: Any, train: Corpus, texts: list[str], classes: list[str], asks: _Asks) -> tuple[_Scored, Any]:
    """Score the votes of the nearest training sentences, and hits if a class has two of them; also return the rows."""
    base, rows = (method.encode(each) for each in (train.classified()[0], texts))
    asking = sampled(np.arange(len(texts)), asks.most)
    won = voted(method, base, train.classified()[1], rows[asking], progress=asks.progress)
    right = (won == np.asarray(classes)[asking]) & not_zero(rows[asking])
    figures = {"knn_accuracy": float(right.mean())} | _sampled("asked", len(right), len(texts))
    parts = {"knn_accuracy": Parts.by(np.arange(len(right)), right)}
    if len(set(classes)) < len(classes):
        hits, _, of_hits = _hits(method, rows, classes, asks)
        figures, parts = figures | hits, parts | of_hits
    return ("knn_accuracy", figures, right.astype(np.int64), parts), rows


def _triplets(method: Any, test: Triplets, asks: _Asks) -> _Scored:
    texts, rows, (near, far) = _compared(method, test.anchors, test.positives, test.negatives)
    right, anchors = (near > far).astype(np.int64), np.arange(len(test))
    figures = {"triplet_accuracy": triplet_accuracy(near, far)}
    figures |= _space(rows, texts, asks, anchors, anchors + len(test))
    units = test.extra.get("article", range(len(test)))  # triplets of one article are not independent
    return "triplet_accuracy", figures, right, {"triplet_accuracy": Parts.by(list(units), right)}


def _hits(
    method: Any, rows: Any, labels: Sequence[Any], asks: _Asks
) -> tuple[dict[str, float], np.ndarray, dict[str, Parts]]:
    found = own_retrieved(method, rows, labels, most=asks.most, progress=asks.progress)
    asking, ranks, at_r = found.asking, found.ranks, {"map@r": found.average, "r_precision": found.right}
    codes, sizes = np.unique(np.asarray(labels), return_inverse=True, return_counts=True)[1:]
    if sizes.max() > DEEPEST + 1:
        note(
            f"map@r and r_precision are skipped, because the largest class has {sizes.max():,} sentences; the limit is "
            f"{DEEPEST:,}",
            stacklevel=4,
        )
        at_r = {}
    single = {f"hit@{k}": ranks <= k for k in KS} | at_r
    figures = {name: float(values.mean()) for name, values in single.items()}
    alone = int((sizes == 1).sum())  # sentences alone in their class, which are not queries
    figures |= ({"alone": float(alone)} if alone else {}) | _sampled("asked", len(asking), len(labels) - alone)
    parts = {name: Parts.by(codes.ravel()[asking], values) for name, values in single.items()}
    return figures, (ranks == 1).astype(np.int64), parts


def _sampled(name: str, asking: int, having: int) -> dict[str, float]:
    return {name: float(asking)} if asking < having else {}


def _spread(rows: Any, labels: Any, asks: _Asks) -> dict[str, float]:
    codes = np.unique(np.asarray(labels), return_inverse=True)[1]
    several = np.flatnonzero(np.bincount(codes)[codes] > 1)
    classes = np.unique(codes[several])
    if len(classes) < 2:
        return {}
    asks.progress(0, None, "distances between classes")
    spread = inter_intra(rows[several] if len(several) < len(codes) else rows, codes[several], most=asks.most)
    figures = {"inter": spread.inter, "intra": spread.intra, "inter_intra": spread.ratio}
    return figures | _sampled("asked_centres", len(sampled(classes, asks.most)), len(classes))


def _space(rows: Any, texts: Sequence[str], asks: _Asks, a: np.ndarray, b: np.ndarray) -> dict[str, float]:
    """Return the alignment of positive pairs (rows a, b), and the scores of the space of the distinct sentences."""
    known = not_zero(rows)
    both = known[a] & known[b]
    figures = {"alignment": alignment(rows[a[both]], rows[b[both]])} if both.any() else {}
    first = {text: place for place, text in reversed([*enumerate(texts)])}
    return figures | space_figures(rows[sorted(first.values())], most=asks.most, progress=asks.progress)


def _compared(method: Any, *columns: Sequence[str]) -> tuple[list[str], Any, list[np.ndarray]]:
    """Return all sentences, their rows (encoded in one call), and the similarities of column 1 to each other one."""
    texts, count = [text for column in columns for text in column], len(columns[0])
    rows = method.encode(texts)
    first, *others = (rows[start : start + count] for start in range(0, len(texts), count))
    parts = list(blocks(count, 1, MOST_ASKING))
    return (
        texts,
        rows,
        [np.concatenate([method.similarity_pairwise(first[part], other[part]) for part in parts]) for other in others],
    )


def pair_similarities(method: Any, pairs: Pairs) -> np.ndarray:
    """Return the similarity of each pair, (n,)."""
    return _compared(method, pairs.text_a, pairs.text_b)[2][0]


def triplet_similarities(method: Any, triplets: Triplets) -> list[np.ndarray]:
    """Return the similarities of each anchor to its positive and to its negative, (n,) each."""
    return _compared(method, triplets.anchors, triplets.positives, triplets.negatives)[2]

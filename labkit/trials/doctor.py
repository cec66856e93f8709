"""Read a corpus before anything is trained on it, and say what a careful colleague would.

    examine(corpus) -> [Finding]   the functions below in their order, each a finding or None
    doubts(corpus) -> Doubts       how far methods that were trained without a row support its label

In: a corpus of any shape. Out: sentences with numbers, at most twenty example rows each, and the numbers alone. Rows
are counted from 1, as they are in the corpus. What a shape does not have (labels, pairs, splits) is not mentioned.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from labkit.baselines.sbert import PROBE, Sbert
from labkit.corpora.frames import from_sentences
from labkit.corpora.records import SPLITS, Articles, Corpus, Groups, Labelled, Pairs, Sentences, Triplets
from labkit.corpora.splits import connected
from labkit.evaluation.neighbours import blocks
from labkit.pretrained import packaged_folder
from labkit.progress import Progress, silent
from labkit.text import normalise, tokens, words

EXAMPLES = 20  # rows that a finding names
FEW_TEST = 100  # test rows below which a score says little
NEAR = 0.9  # cosine of character n-grams from which two texts are near-equal
QUERIES = 2_000  # held-out texts of each split that look for a near-equal one
LEAST_JUDGED, JUDGED = 50, 10_000  # rows from which labels are judged, and how many at most
FOLDS = 5
MANY = 60  # classes above which neighbours judge a label, and no logistic regression
APART = 1 / 3  # share of the scale by which two grades contradict each other
CHAINS = 500  # broken chains of which the shortest are shown
BATCHES = (32, 128)
GRAMS: dict[str, Any] = {"analyzer": "char_wb", "ngram_range": (2, 4), "sublinear_tf": True, "dtype": np.float32}


@dataclass(frozen=True)
class Finding:
    """One thing to know about a corpus, and what to do about it."""

    kind: str
    level: str  # "note" or "warning"
    sentence: str
    rows: tuple[dict[str, Any], ...] = ()
    numbers: Mapping[str, float] = field(default_factory=dict)


def examine(corpus: Corpus, *, seed: int = 0, progress: Progress = silent) -> list[Finding]:
    """All findings, notes as well as warnings. `seed` decides folds, and samples of large corpora."""
    checks: dict[str, Callable[[], Finding | None]] = {
        "sizes": lambda: sizes(corpus),
        "balance": lambda: balance(corpus),
        "leaks": lambda: leaks(corpus),
        "near leaks": lambda: near_leaks(corpus, seed=seed),
        "contradictions": lambda: contradictions(corpus),
        "ceiling": lambda: ceiling(corpus),
        "transitivity": lambda: transitivity(corpus),
        "false negatives": lambda: false_negatives(corpus),
        "suspicious labels": lambda: suspicious(corpus, seed=seed),
    }
    found = []
    for done, (what, check) in enumerate(checks.items()):
        progress(done, len(checks), f"examining the data: {what}")
        found.append(check())
    progress(len(checks), len(checks), "examined the data")
    return [finding for finding in found if finding]


# --- sizes and balance -------------------------------------------------------------------------------------------


def sizes(corpus: Corpus) -> Finding:
    """How many rows each split has, and whether each has enough."""
    have = {split: corpus.sizes.get(split, 0) for split in SPLITS}
    texts = len(corpus.sentences())
    what = "paragraphs" if isinstance(corpus, Articles) else "sentences"
    parts = ", ".join(f"{count:,} {split}" for split, count in have.items())
    sentence = f"The corpus has {len(corpus):,} rows ({parts}) and {texts:,} distinct {what}."
    missing = [split for split in SPLITS if not have[split] and not isinstance(corpus, Sentences)]
    few = 0 < have["test"] < FEW_TEST
    if missing:
        sentence += (
            f" There are no {' or '.join(missing)} rows. Add some, or remove the column 'split' to have the rows"
        )
        sentence += " divided for you."
    elif few:
        points = 98 / np.sqrt(have["test"])  # 1.96 standard errors of an accuracy of one half
        sentence += f" With {have['test']} test rows, an accuracy is uncertain by up to {points:.0f} points either way."
        sentence += " Add test rows before you trust small differences."
    level = "warning" if missing or few else "note"
    return Finding("sizes", level, sentence, numbers={"rows": len(corpus), "sentences": texts, **have})


def balance(corpus: Corpus) -> Finding | None:
    """How large classes and groups are, and which are too small or unseen; how pairs divide."""
    if isinstance(corpus, Pairs):
        return _balance_of_pairs(corpus)
    names: Sequence[str] = corpus.classified()[1]
    if not names:
        return None
    counts, what = Counter(names), {"label": "class", "group": "group"}[corpus.COLUMNS[corpus.CLASSES]]
    (largest, most), (smallest, least) = counts.most_common()[0], counts.most_common()[-1]
    single = {name for name, count in counts.items() if count == 1}
    sentence = f"There are {len(counts):,} {what}{'es' if what == 'class' else 's'}, from {least:,} rows ({smallest!r})"
    sentence += f" to {most:,} ({largest!r})."
    numbers = {"classes": len(counts), "smallest": least, "largest": most, "single": len(single)}
    if isinstance(corpus, Labelled):
        more, unseen = _unseen(corpus)
        sentence, numbers = sentence + more, numbers | unseen
    if single:
        sentence += f" {_count(len(single), what)} with a single row cannot be learned: add rows, merge or drop them."
    rows = [row for row, name in enumerate(names) if name in single]
    level = "warning" if single or 0 < numbers.get("unseen", 0) < numbers.get("asked", 0) else "note"
    return Finding("balance", level, sentence, _examples(corpus, rows), numbers)


def _unseen(corpus: Labelled) -> tuple[str, dict[str, float]]:
    """How often the most frequent training class is right on test, and how many test rows have an unknown class."""
    by_split = {
        split: [x for x, own in zip(corpus.labels, corpus.splits, strict=True) if own == split] for split in SPLITS
    }
    train, test = Counter(by_split["train"] or corpus.labels), by_split["test"] or list(corpus.labels)
    usual = train.most_common(1)[0][0]
    always, unseen = test.count(usual) / len(test), sum(label not in train for label in test)
    numbers = {"always": always, "unseen": unseen, "asked": len(test)}
    if unseen == len(test):
        return " No test class has training rows: use a metric of retrieval or clustering, not accuracy.", numbers
    sentence = f" Always answering {usual!r} is {100 * always:.1f} % accurate on test."
    if unseen:
        sentence += f" {_count(unseen, 'test row')} of a class without training rows cannot be classified: check these."
    return sentence, numbers


def _balance_of_pairs(pairs: Pairs) -> Finding:
    """The share of positive pairs, or how grades are spread."""
    scores = pairs.scores
    if pairs.graded:
        low, middle, high = np.quantile(scores, (0, 0.5, 1))
        sentence = (
            f"Scores run from {low:g} to {high:g}, with median {middle:g} and standard deviation {scores.std():.2g}."
        )
        return Finding("balance", "note", sentence, numbers={"low": low, "median": middle, "high": high})
    share = float(scores.mean())
    usual = (
        f"Always answering {'same' if share >= 0.5 else 'different'} is {100 * max(share, 1 - share):.1f} % accurate."
    )
    return Finding(
        "balance", "note", f"{100 * share:.1f} % of the pairs are labelled 1. {usual}", numbers={"positive": share}
    )


# --- leaks -------------------------------------------------------------------------------------------------------


def leaks(corpus: Corpus) -> Finding | None:
    """Rows of dev and test that an earlier split has, too: equal but for case, spacing and punctuation."""
    units = sorted(_units(corpus), key=lambda unit: SPLITS.index(corpus.splits[unit[0]]))
    first: dict[tuple[str, ...], int] = {}
    found: dict[int, int] = {}
    for row, texts in units:
        earlier = first.setdefault(_plain(texts), row)
        if corpus.splits[earlier] != corpus.splits[row]:
            found.setdefault(row, earlier)
    return _leaked(corpus, "leaks", "repeat", list(found.items())) if found else None


def near_leaks(corpus: Corpus, *, seed: int = 0) -> Finding | None:
    """Rows of dev and test that an earlier split nearly has, by the cosine of their character n-grams."""
    units = _units(corpus)
    splits = np.array([corpus.splits[row] for row, _ in units])
    ends, vectors = _vectorised([texts for _, texts in units])
    found: dict[int, tuple[int, float]] = {}
    for split, before in (("dev", ["train"]), ("test", ["train", "dev"])):
        asked, known = np.flatnonzero(splits == split), np.flatnonzero(np.isin(splits, before))
        asked = _sample(asked, QUERIES, seed)
        for block in blocks(len(asked), max(len(known), 1), 2**22) if len(known) else ():
            likeness = _likeness(vectors, ends[asked[block]], ends[known])
            best = likeness.argmax(axis=1)
            for place, other, cosine in zip(asked[block], known[best], likeness.max(axis=1), strict=True):
                (row, texts), (earlier, others) = units[place], units[other]
                if cosine >= NEAR and _plain(texts) != _plain(others):
                    found.setdefault(row, (earlier, float(cosine)))
    pairs = sorted(found, key=lambda row: -found[row][1])
    if not pairs:
        return None
    more = [{"similarity": round(found[row][1], 3)} for row in pairs]
    return _leaked(corpus, "near-leaks", "nearly repeat", [(row, found[row][0]) for row in pairs], more)


def _leaked(
    corpus: Corpus, kind: str, verb: str, found: Sequence[tuple[int, int]], more: Sequence[dict[str, Any]] = ()
) -> Finding:
    counts = Counter(corpus.splits[row] for row, _ in found)
    parts = " and ".join(f"{_count(counts[split], f'{split} row')}" for split in ("test", "dev") if counts[split])
    sentence = f"{parts} {verb} rows of another split, so scores on them will be too high. Remove one of each two."
    rows = [_beside(corpus, row, other) for row, other in found[:EXAMPLES]]
    rows = [row | also for row, also in zip(rows, more or [{}] * len(rows), strict=False)]
    return Finding(kind, "warning", sentence, tuple(rows), {split: counts[split] for split in ("dev", "test")})


def _units(corpus: Corpus) -> list[tuple[int, tuple[str, ...]]]:
    """(row, texts) of all that only one split should have: a pair as a whole, else each text by itself."""
    if isinstance(corpus, Articles):
        sections = ((row, section) for row, article in enumerate(corpus.articles) for section in article.sections)
        return [(row, (paragraph,)) for row, section in sections for paragraph in section.paragraphs]
    if isinstance(corpus, Pairs):
        return list(enumerate(zip(corpus.text_a, corpus.text_b, strict=True)))
    return [(row, (text,)) for name in corpus.TEXTS for row, text in enumerate(getattr(corpus, name))]


def _plain(texts: Iterable[str]) -> tuple[str, ...]:
    """Texts without case, spacing and punctuation, in either order."""
    return tuple(sorted(" ".join(words(text)) or normalise(text) for text in texts))


def _vectorised(units: Sequence[tuple[str, ...]]) -> tuple[np.ndarray, sparse.csr_matrix]:
    """For each unit the numbers of its texts, (n, texts), and the character n-grams of each distinct text."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    number: dict[str, int] = {}
    ends = np.array([[number.setdefault(text, len(number)) for text in texts] for texts in units])
    return ends, TfidfVectorizer(**GRAMS).fit_transform(number)


def _likeness(vectors: sparse.csr_matrix, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The cosine of each two units, (left, right); of pairs that of the less similar texts, in the better order."""

    def cosines(i: int, j: int) -> np.ndarray:
        return np.asarray((vectors[left[:, i]] @ vectors[right[:, j]].T).toarray())

    if left.shape[1] == 1:
        return cosines(0, 0)
    return np.maximum(np.minimum(cosines(0, 0), cosines(1, 1)), np.minimum(cosines(0, 1), cosines(1, 0)))


# --- labels that contradict one another --------------------------------------------------------------------------


def contradictions(corpus: Corpus) -> Finding | None:
    """The same text with two labels, the same pair with both (in either order), grades far apart, triplets reversed."""
    scale = _scale(corpus)
    found = []
    for rows in _repeats(corpus).values():
        low, high = min(rows, key=lambda each: each[1]), max(rows, key=lambda each: each[1])
        if (high[1] - low[1] > APART * scale) if scale else low[1] != high[1]:
            found.append((low[0], high[0]))
    if not found:
        return None
    what = "pair" if isinstance(corpus, Pairs) else "triplet" if isinstance(corpus, Triplets) else "text"
    said = "scores more than a third of the scale apart" if scale else "more than one label"
    sentence = f"{_count(len(found), what)} {'has' if len(found) == 1 else 'have'} {said}. Decide which is right, and"
    sentence += " drop the other rows: no method can satisfy both."
    rows = tuple(_beside(corpus, *each) for each in found[:EXAMPLES])
    return Finding("contradictions", "warning", sentence, rows, {"contradictions": len(found)})


def ceiling(corpus: Corpus) -> Finding | None:
    """The best score that texts allow which occur several times, as one text gets one answer."""
    repeats = [[value for _, value in rows] for rows in _repeats(corpus).values()]
    again = sum(map(len, repeats))
    if not again or isinstance(corpus, Triplets):
        return None
    if scale := _scale(corpus):
        lost = sum(np.var(values) * len(values) for values in repeats) / (np.var(corpus.scores) * len(corpus))
        best, what = float(np.sqrt(1 - lost)), "correlation with the scores"
    else:
        best = 1 - sum(len(values) - Counter(values).most_common(1)[0][1] for values in repeats) / len(corpus)
        what = "accuracy"
    sentence = f"{again:,} rows share their text with another row. Since equal texts get equal answers, the highest"
    sentence += f" possible {what} on all rows is {best:.3f}." + ("" if scale or best < 1 else " Their labels agree.")
    return Finding("ceiling", "note", sentence, numbers={"ceiling": best, "rows": again, "texts": len(repeats)})


def transitivity(corpus: Corpus) -> Finding | None:
    """Pairs labelled different whose sentences a chain of pairs labelled the same connects: a = b, b = c, a ≠ c."""
    if not isinstance(corpus, Pairs) or corpus.graded:
        return None
    number: dict[str, int] = {}
    ends = np.array([[number.setdefault(normalise(t), len(number)) for t in pair] for _, pair in _units(corpus)])
    same = corpus.labels == 1
    row_of = {frozenset(pair): row for row, pair in enumerate(ends.tolist()) if same[row]}
    component = connected(len(number), *ends[same].T)
    inside = ~same & (component[ends[:, 0]] == component[ends[:, 1]]) & (ends[:, 0] != ends[:, 1])
    broken = [row for row in np.flatnonzero(inside).tolist() if frozenset(ends[row].tolist()) not in row_of]
    if not broken:
        return None
    chains = _chains(len(number), ends[same], ends[broken[:CHAINS]])
    texts = list(number)
    rows = []
    for row, chain in sorted(zip(broken, chains, strict=False), key=lambda each: len(each[1]))[:EXAMPLES]:
        links = [row_of[frozenset(link)] + 1 for link in pairwise(chain)]
        rows.append(_example(corpus, row) | {"chain": " = ".join(texts[at] for at in chain), "chain_rows": links})
    sentence = (
        f"{_count(len(broken), 'pair')} labelled different, but chains of pairs labelled the same connect the two"
    )
    sentence += (
        " sentences (a = b and b = c, but a ≠ c). Each chain has at least one wrong label: check the shortest first."
    )
    return Finding("transitivity", "warning", sentence, tuple(rows), {"broken": len(broken)})


def _chains(count: int, same: np.ndarray, broken: np.ndarray) -> list[list[int]]:
    """The shortest chain of `same` ties between the two ends of each broken pair."""
    graph = sparse.csr_array((np.ones(len(same)), same.T), shape=(count, count))
    starts, place = np.unique(broken[:, 0], return_inverse=True)
    _, before = sparse.csgraph.dijkstra(
        graph, directed=False, unweighted=True, indices=starts, return_predecessors=True
    )
    chains = []
    for (start, end), at in zip(broken.tolist(), place.tolist(), strict=True):
        chain = [end]
        while chain[-1] != start:
            chain.append(int(before[at, chain[-1]]))
        chains.append(chain[::-1])
    return chains


def _repeats(corpus: Corpus) -> dict[tuple[str, ...], list[tuple[int, Any]]]:
    """(row, label) of each text, pair or triplet that occurs several times, its order set aside."""
    found: dict[tuple[str, ...], list[tuple[int, Any]]] = defaultdict(list)
    for row, texts in enumerate(zip(*(getattr(corpus, name) for name in corpus.TEXTS), strict=True)):
        plain = tuple(map(normalise, texts))
        if isinstance(corpus, Triplets):
            found[plain[0], *sorted(plain[1:])].append((row, plain[1]))
        elif isinstance(corpus, Pairs):
            found[tuple(sorted(plain))].append((row, corpus.values[row]))
        elif corpus.CLASSES:
            found[plain].append((row, getattr(corpus, corpus.CLASSES)[row]))
    return {texts: rows for texts, rows in found.items() if len(rows) > 1}


def _scale(corpus: Corpus) -> float:
    """How far the grades of graded pairs reach; 0 where there are none."""
    return float(np.ptp(corpus.scores)) if isinstance(corpus, Pairs) and corpus.graded else 0.0


# --- false negatives ---------------------------------------------------------------------------------------------


def false_negatives(corpus: Corpus) -> Finding | None:
    """How many in-batch negatives of an anchor mean the same as it: what to expect of rows drawn at random."""
    from scipy.stats import hypergeom

    owners = _owners(corpus.part("train")) if "train" in corpus.sizes else np.zeros(0, int)
    counts, rows = np.bincount(owners), len(owners)
    if rows < 2 or (isinstance(corpus, Pairs) and corpus.graded):
        return None
    numbers, said = {}, []
    for batch in (min(batch, rows) for batch in BATCHES):
        expected = (batch - 1) * float((counts * (counts - 1.0)).sum()) / (rows * (rows - 1))
        hit = 1 - float((counts / rows) @ hypergeom.pmf(0, rows - 1, np.maximum(counts - 1, 0), batch - 1))
        numbers |= {f"expected_{batch}": expected, f"hit_{batch}": hit}
        said.append(
            f"{expected:.2g} of {batch - 1} in-batch negatives with {batch} rows ({100 * hit:.0f} % of anchors)"
        )
    what = {Labelled: "are of the anchor's class", Groups: "are of the anchor's group"}.get(
        type(corpus), "mean the same as the anchor by the labels"
    )
    sentence = f"In random batches, on average {' and '.join(said)} {what}."
    sentence += " Use a loss or sampler that leaves these out." if numbers[f"hit_{min(BATCHES[0], rows)}"] > 0.1 else ""
    return Finding("false-negatives", "note", sentence, numbers=numbers)


def _owners(train: Corpus) -> np.ndarray:
    """A number for each row that can be an anchor, shared by rows that mean the same; empty where no label says so."""
    if isinstance(train, Pairs | Triplets):
        if isinstance(train, Pairs) and not train.graded:
            train = train.take(np.flatnonzero(train.labels == 1))
        texts, ends = train.numbered()
        return connected(len(texts), ends[:, 0], ends[:, 1])[ends[:, 0]] if len(train) else np.zeros(0, int)
    return np.unique(train.classified()[1], return_inverse=True)[1]


# --- suspicious labels -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Doubts:
    """What methods say of labels that they were not trained on."""

    rows: np.ndarray  # (n,) the rows that were judged
    support: np.ndarray  # (n,) of the label that stands there, the methods' mean: the lower, the more suspicious
    suggested: np.ndarray  # (n,) the label, group or score that they would give on average
    contradicted: np.ndarray  # (n,) whether every one of them would give another
    methods: int


def suspicious(corpus: Corpus, *, seed: int = 0) -> Finding | None:
    """The rows whose label several methods contradict that were trained without them."""
    doubt = doubts(corpus, seed=seed)
    if doubt is None or not doubt.contradicted.any():
        return None
    order = np.argsort(doubt.support, kind="stable")
    order = order[doubt.contradicted[order]]
    count, judged = len(order), len(doubt.rows)
    rows = [
        _example(corpus, doubt.rows[at])
        | {"suggested": doubt.suggested[at], "support": round(float(doubt.support[at]), 3)}
        for at in order[:EXAMPLES].tolist()
    ]
    sentence = f"{doubt.methods} methods trained without the row all contradict {count:,} of {judged:,} labels"
    sentence += f" ({100 * count / judged:.1f} %). Some are wrong, others only hard: read the most suspicious ones, and"
    sentence += " correct or drop what is wrong."
    if judged == JUDGED < len(corpus):
        sentence += f" (A random {JUDGED:,} of the {len(corpus):,} rows were judged.)"
    return Finding("suspicious", "note", sentence, tuple(rows), {"contradicted": count, "judged": judged})


def doubts(corpus: Corpus, *, seed: int = 0) -> Doubts | None:
    """How far cheap methods support each label out of fold; None where there are no labels, or too few rows."""
    rows = _sample(np.arange(len(corpus)), JUDGED, seed)
    if isinstance(corpus, Pairs):
        return _of_pairs(corpus.take(rows), rows, seed) if len(rows) >= LEAST_JUDGED else None
    names = np.array(corpus.classified()[1], object)[rows] if corpus.CLASSES else np.zeros(0, object)
    classes, codes, counts = np.unique(names, return_inverse=True, return_counts=True)
    few = len(classes) <= MANY
    enough = counts[codes] >= (FOLDS if few else 2)
    rows, kept, codes = rows[enough], *np.unique(codes[enough], return_inverse=True)
    if len(rows) < LEAST_JUDGED or len(kept) < 2:
        return None
    views = _views([getattr(corpus, corpus.TEXTS[0])[row] for row in rows])
    return (_of_classes if few else _of_neighbours)(views, codes, classes[kept], rows, seed)


def _of_pairs(pairs: Pairs, rows: np.ndarray, seed: int) -> Doubts | None:
    """A forest and a linear model of how far two texts overlap, and a linear model of which words differ."""
    from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    target = pairs.scores if pairs.graded else pairs.labels
    if not pairs.graded and np.bincount(target, minlength=2).min() < FOLDS:
        return None
    texts, ends = pairs.numbered()
    views = _views(texts)
    overlap, (left, right) = _overlap(texts, ends, views), (views[0][side] for side in ends.T)
    differences = sparse.hstack([abs(left - right), left.multiply(right)]).tocsr()
    linear: Any = Ridge() if pairs.graded else LogisticRegression(max_iter=1_000)
    forest = (ExtraTreesRegressor if pairs.graded else ExtraTreesClassifier)(
        100, max_features=None, min_samples_leaf=5, random_state=seed
    )
    models = [(forest, overlap), (make_pipeline(StandardScaler(), linear), overlap), (linear, differences)]
    guesses = _out_of_fold(models, target, seed)  # (methods, n) of scores, (methods, n, 2) of labels
    if not pairs.graded:
        return _doubts(guesses, target, np.array([0, 1], object), rows)
    scale = np.ptp(target) or 1.0
    off, mean = np.abs(guesses - target) / scale, guesses.mean(axis=0)
    suggested = np.round(mean, 2).astype(object)
    return Doubts(rows, 1 - np.abs(mean - target) / scale, suggested, (off > APART).all(axis=0), len(guesses))


def _of_classes(views: Sequence[Any], codes: np.ndarray, classes: np.ndarray, rows: np.ndarray, seed: int) -> Doubts:
    """A logistic regression of each view."""
    from sklearn.linear_model import LogisticRegression

    guesses = _out_of_fold([(LogisticRegression(C=10, max_iter=300), view) for view in views], codes, seed)
    return _doubts(guesses, codes, classes, rows)


def _of_neighbours(views: Sequence[Any], codes: np.ndarray, classes: np.ndarray, rows: np.ndarray, seed: int) -> Doubts:
    """How much nearer the nearest row of the same class is than the nearest of another, in each view."""
    margins, near = np.zeros((len(views), len(codes))), np.zeros((len(views), len(codes)), int)
    for method, view in enumerate(views):
        for block in blocks(len(codes), len(codes)):
            cosines = view[block] @ view.T
            cosines = cosines.toarray() if sparse.issparse(cosines) else cosines
            here = np.arange(len(codes))[block]
            cosines[np.arange(len(here)), here] = -1
            own = codes[here][:, None] == codes
            others = np.where(own, -1, cosines)
            near[method, block] = codes[others.argmax(axis=1)]
            margins[method, block] = np.where(own, cosines, -1).max(axis=1) - others.max(axis=1)
    return Doubts(rows, margins.mean(axis=0), classes[near[-1]], (margins < 0).all(axis=0), len(views))


def _doubts(guesses: np.ndarray, codes: np.ndarray, classes: np.ndarray, rows: np.ndarray) -> Doubts:
    """Of the probabilities that each method gives each class, (methods, n, classes)."""
    mean = guesses.mean(axis=0)
    support = mean[np.arange(len(codes)), codes]
    return Doubts(
        rows, support, classes[mean.argmax(axis=1)], (guesses.argmax(axis=2) != codes).all(axis=0), len(guesses)
    )


def _out_of_fold(models: Sequence[tuple[Any, Any]], target: np.ndarray, seed: int) -> np.ndarray:
    """What each model says of each row when it is trained on the other folds."""
    from sklearn.base import is_classifier
    from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict

    def guess(model: Any, features: Any) -> np.ndarray:
        kind, method = (StratifiedKFold, "predict_proba") if is_classifier(model) else (KFold, "predict")
        folds = kind(FOLDS, shuffle=True, random_state=seed)
        return np.asarray(cross_val_predict(model, features, target, cv=folds, method=method))

    return np.stack([guess(*each) for each in models])


def _views(texts: Sequence[str]) -> list[Any]:
    """Rows of length 1 for each text: words, character n-grams, and MiniLM where its package is there."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    views = [
        TfidfVectorizer(analyzer=tokens, sublinear_tf=True).fit_transform(texts),
        TfidfVectorizer(**GRAMS).fit_transform(texts),
    ]
    if find_spec("sentence_transformers") and packaged_folder():
        minilm = Sbert()
        minilm.fit(from_sentences([PROBE]))
        views.append(minilm.encode(texts, normalize_embeddings=True))
    return views


def _overlap(texts: Sequence[str], ends: np.ndarray, views: Sequence[Any]) -> np.ndarray:
    """Features of each pair that say how far its texts overlap: cosines in each view, shared words, word pairs and
    numbers, lengths."""
    columns = []
    for view in views:
        left, right = (view[side] for side in ends.T)
        products = left.multiply(right) if sparse.issparse(view) else left * right
        columns.append(np.asarray(products.sum(axis=1)).ravel())
    cut = [words(text) for text in texts]
    return np.column_stack([*columns, [_shared(cut[i], cut[j]) for i, j in ends.tolist()]])


def _shared(a: list[str], b: list[str]) -> list[float]:
    """What two sentences' words share: of all, of the shorter, of pairs of neighbours; numbers; lengths."""
    left, right = set(a), set(b)
    both, two = len(left & right), [set(pairwise(a)), set(pairwise(b))]
    numbers = {word for word in left ^ right if word[0].isdigit()}
    return [
        both / max(1, len(left | right)),
        both / max(1, min(len(left), len(right))),
        len(two[0] & two[1]) / max(1, len(two[0] | two[1])),
        min(len(a), len(b)) / max(1, len(a), len(b)),
        float(len(left ^ right)),
        float(len(numbers)),
        float(max(len(a), len(b))),
    ]


# --- examples ----------------------------------------------------------------------------------------------------


def _example(corpus: Corpus, row: int) -> dict[str, Any]:
    """A row as it is shown: its number, its split, its texts and its label, group or score."""
    shown: dict[str, Any] = {"row": int(row) + 1, "split": corpus.splits[row]}
    if isinstance(corpus, Articles):
        return shown | {"title": corpus.articles[row].title}
    shown |= {column: getattr(corpus, name)[row] for name, column in corpus.COLUMNS.items()}
    if isinstance(corpus, Pairs):
        value = shown.pop("label")
        shown |= {"score": float(value)} if corpus.graded else {"label": int(value)}
    return shown


def _examples(corpus: Corpus, rows: Iterable[int]) -> tuple[dict[str, Any], ...]:
    return tuple(_example(corpus, row) for row in list(rows)[:EXAMPLES])


def _beside(corpus: Corpus, row: int, other: int) -> dict[str, Any]:
    """A row, and another that it clashes with."""
    return _example(corpus, row) | {f"other_{key}": value for key, value in _example(corpus, other).items()}


def _sample(rows: np.ndarray, most: int, seed: int) -> np.ndarray:
    """At most so many of the rows, in order."""
    return rows if len(rows) <= most else np.sort(np.random.default_rng(seed).choice(rows, most, replace=False))


def _count(number: int, what: str) -> str:
    """A number with its noun.

    >>> _count(1, "row"), _count(1200, "class")
    ('1 row', '1,200 classes')
    """
    ending = "" if number == 1 else "es" if what.endswith("s") else "s"
    return f"{number:,} {what}{ending}"

"""Check a corpus before training, as a careful colleague would.

    examine(corpus) -> [Finding]   the results of the functions below, in order, without None

In: a corpus of any shape. Out: findings, each a sentence with at most twenty example rows and its numbers. Rows have
the numbers of their file, or count from 1. Checks that need labels, pairs or splits are skipped without them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from labkit.corpora.records import SPLITS, Articles, Corpus, Groups, Labelled, Pairs, Sentences, Triplets
from labkit.corpora.splits import connected
from labkit.evaluation.neighbours import blocks, sampled
from labkit.text import normalise, words
from labkit.trials.suspect_labels import APART, GRAMS, JUDGED, doubts

EXAMPLES = 20  # rows listed in a finding
FEW_TEST = 100  # test rows below which a score says little
NEAR, NEAR_BUT_ONE = 0.85, 0.6  # minimum cosines of character n-grams: near-equal texts; one word differs
QUERIES = 2_000  # held-out texts per split that are compared
CHAINS = 500  # broken chains, of which the shortest are shown
BATCHES = (32, 128)
MANY_FALSE = 0.1  # share of anchors with a false negative above which action is advised


@dataclass(frozen=True)
class Finding:
    """A fact about a corpus, and what to do about it."""

    kind: str
    level: str  # "note" or "warning"
    sentence: str
    rows: tuple[dict[str, Any], ...] = ()  # examples
    numbers: Mapping[str, float] = field(default_factory=dict)
    places: tuple[int, ...] = ()  # all rows that it concerns, counted from 0


def examine(corpus: Corpus, *, seed: int = 0, model: bool = True, folder: Path | None = None) -> list[Finding]:
    """All findings, notes as well as warnings. `seed` determines folds and samples of large corpora; the `folder` keeps
    MiniLM's vectors.
    """
    found = [
        sizes(corpus),
        balance(corpus),
        leaks(corpus),
        near_leaks(corpus, seed=seed),
        contradictions(corpus),
        ceiling(corpus),
        transitivity(corpus),
        false_negatives(corpus),
        suspicious(corpus, seed=seed, model=model, folder=folder),
    ]
    return [finding for finding in found if finding]


# --- sizes and balance -------------------------------------------------------------------------------------------


def sizes(corpus: Corpus) -> Finding:
    """The number of rows per split, and whether that is enough."""
    have = {split: corpus.sizes.get(split, 0) for split in SPLITS}
    texts = len(corpus.sentences())
    parts = ", ".join(f"{count:,} {split}" for split, count in have.items())
    what = "paragraphs" if isinstance(corpus, Articles) else "sentences"
    sentence = f"The corpus has {len(corpus):,} rows ({parts}) and {texts:,} distinct {what}."
    missing = [split for split in SPLITS if not have[split] and not isinstance(corpus, Sentences)]
    few = 0 < have["test"] < FEW_TEST
    if missing:
        sentence += f" It has no {' or '.join(missing)} rows: add some, or drop the column 'split' to divide the rows."
    elif few:
        sentence += f" With {_count(have['test'], 'test row')}, the margin of error of {_margin(corpus, have['test'])}."
        sentence += " Add test rows to reduce it."
    level = "warning" if missing or few else "note"
    return Finding("sizes", level, sentence, numbers={"rows": len(corpus), "sentences": texts, **have})


def _margin(corpus: Corpus, rows: int) -> str:
    """1.96 standard errors of a correlation of 0 (of Fisher's z) or of an accuracy of one half."""
    if isinstance(corpus, Pairs) and corpus.graded:
        return f"a correlation is up to ±{np.tanh(1.96 / np.sqrt(max(1, rows - 3))):.2f}"
    return f"an accuracy is up to ±{98 / np.sqrt(rows):.0f} percentage points"


def balance(corpus: Corpus) -> Finding | None:
    """The sizes of classes and groups, and single rows; the share of positive pairs; the range of scores."""
    if isinstance(corpus, Pairs):
        return _balance_of_pairs(corpus)
    names: Sequence[str] = corpus.classified()[1]
    if not names:
        return None
    counts, what = Counter(names), "class" if isinstance(corpus, Labelled) else "group"
    (largest, most), (smallest, least) = counts.most_common()[0], counts.most_common()[-1]
    single = [row for row, name in enumerate(names) if counts[name] == 1]
    sentence = (
        f"{_count(len(counts), what)}: the largest is {largest!r} ({_count(most, 'row')}), the smallest {smallest!r} "
        f"({_count(least, 'row')})."
    )
    numbers: dict[str, float] = {"classes": len(counts), "smallest": least, "largest": most, "single": len(single)}
    more, unseen = _unseen(corpus) if isinstance(corpus, Labelled) else ("", {})
    if single:
        more += f" {_count(len(single), what)} with a single row cannot be learned: add rows, or merge or drop them."
    shown = [_example(corpus, row) for row in single[:EXAMPLES]]
    level = "warning" if single or 0 < unseen.get("unseen", 0) < unseen["asked"] else "note"
    return Finding("balance", level, sentence + more, tuple(shown), numbers | unseen, tuple(single))


def _unseen(corpus: Labelled) -> tuple[str, dict[str, float]]:
    """The test accuracy of the most frequent training class, and the number of test rows with an unknown class."""
    train, test = (
        [label for label, own in zip(corpus.labels, corpus.splits, strict=True) if own == split] or list(corpus.labels)
        for split in ("train", "test")
    )
    usual, known = Counter(train).most_common(1)[0][0], set(train)
    always, unseen = test.count(usual) / len(test), sum(label not in known for label in test)
    numbers: dict[str, float] = {"always": always, "unseen": unseen, "asked": len(test)}
    if unseen == len(test):
        return " No test class has training rows: compare by retrieval or clustering, not by accuracy.", numbers
    sentence = f" Always answering {usual!r} is {100 * always:.1f} % accurate on test."
    if unseen:
        sentence += f" {_count(unseen, 'test row')} of a class without training rows cannot be classified correctly."
    return sentence, numbers


def _balance_of_pairs(pairs: Pairs) -> Finding:
    if pairs.graded:
        low, median, high = map(float, np.quantile(pairs.scores, (0, 0.5, 1)))
        sentence = f"Scores run from {low:g} to {high:g} with median {median:g}."
        return Finding("balance", "note", sentence, numbers={"low": low, "median": median, "high": high})
    share = float(pairs.scores.mean())
    usual = f"always giving the same answer is {100 * max(share, 1 - share):.1f} % accurate on them."
    sentence = f"{100 * share:.1f} % of the pairs are labelled 1: {usual}"
    return Finding("balance", "note", sentence, numbers={"positive": share})


# --- leaks -------------------------------------------------------------------------------------------------------


def leaks(corpus: Corpus) -> Finding | None:
    """Rows of dev and test that also occur in an earlier split, ignoring case, spacing and punctuation."""
    first: dict[tuple[str, ...], int] = {}
    found: dict[int, int] = {}
    for row, texts in sorted(_units(corpus), key=lambda unit: SPLITS.index(corpus.splits[unit[0]])):
        earlier = first.setdefault(_plain(texts), row)
        if corpus.splits[earlier] != corpus.splits[row]:
            found.setdefault(row, earlier)
    return _leaked(corpus, "leaks", "repeat", {row: _beside(corpus, row, other) for row, other in found.items()})


def near_leaks(corpus: Corpus, *, seed: int = 0) -> Finding | None:
    """Rows of dev and test with a near-equal row in an earlier split, by character n-grams."""
    units = _units(corpus)
    splits = np.array([corpus.splits[row] for row, _ in units])
    ends, vectors = _vectorised([texts for _, texts in units])
    found: dict[int, tuple[int, float]] = {}
    for split, before in (("dev", ["train"]), ("test", ["train", "dev"])):
        asked, known = sampled(np.flatnonzero(splits == split), QUERIES, seed), np.flatnonzero(np.isin(splits, before))
        if not len(known):
            continue
        for block in blocks(len(asked), len(known), 2**22):
            cosines = _likeness(vectors, ends[asked[block]], ends[known])
            for place, other, cosine in zip(asked[block], known[cosines.argmax(1)], cosines.max(1), strict=True):
                (row, texts), (earlier, others) = units[place], units[other]
                if _nearly_equal(texts, others, cosine):
                    found.setdefault(row, (earlier, round(float(cosine), 3)))
    nearest = sorted(found.items(), key=lambda each: -each[1][1])
    rows = {row: _beside(corpus, row, other) | {"similarity": cosine} for row, (other, cosine) in nearest}
    return _leaked(corpus, "near-leaks", "nearly repeat", rows)


def _leaked(corpus: Corpus, kind: str, verb: str, rows: Mapping[int, dict[str, Any]]) -> Finding | None:
    if not rows:
        return None
    counts = Counter(corpus.splits[row] for row in rows)
    parts = " and ".join(_count(counts[split], f"{split} row") for split in ("test", "dev") if counts[split])
    said = (
        f"{verb}s a row of another split, which makes scores too high. Drop it, or drop the row that it repeats."
        if len(rows) == 1
        else f"{verb} rows of another split, which makes scores too high. Drop them, or drop the rows that they repeat."
    )
    sentence = f"{parts} {said}"
    asked = sum(corpus.sizes.get(split, 0) > QUERIES for split in ("dev", "test"))
    if asked and kind == "near-leaks":
        sentence += f" (Only {QUERIES:,} rows of each split were compared.)"
    numbers = {split: counts[split] for split in ("dev", "test")}
    return Finding(kind, "warning", sentence, tuple(rows.values())[:EXAMPLES], numbers, tuple(rows))


def _nearly_equal(texts: tuple[str, ...], others: tuple[str, ...], cosine: float) -> bool:
    """Whether units with this similarity are near-equal; equal ones are already leaks."""
    if cosine < NEAR_BUT_ONE or _plain(texts) == _plain(others):
        return False
    return cosine >= NEAR or _words_apart(" ".join(texts), " ".join(others)) <= 1


def _units(corpus: Corpus) -> list[tuple[int, tuple[str, ...]]]:
    """(row, texts) of every unit that only one split should contain: a pair as a whole, else each text."""
    if isinstance(corpus, Articles):
        sections = ((row, section) for row, article in enumerate(corpus.articles) for section in article.sections)
        return [(row, (paragraph,)) for row, section in sections for paragraph in section.paragraphs]
    if isinstance(corpus, Pairs):
        return list(enumerate(zip(corpus.text_a, corpus.text_b, strict=True)))
    return [(row, (text,)) for name in corpus.TEXTS for row, text in enumerate(getattr(corpus, name))]


def _plain(texts: Iterable[str]) -> tuple[str, ...]:
    """Texts without case, spacing and punctuation, sorted."""
    return tuple(sorted(" ".join(words(text)) or normalise(text) for text in texts))


def _words_apart(one: str, other: str) -> int:
    """The number of words to replace, add or remove to turn one text into the other."""
    a, b = Counter(words(one)), Counter(words(other))
    return max((a - b).total(), (b - a).total())


def _vectorised(units: Sequence[tuple[str, ...]]) -> tuple[np.ndarray, sparse.csr_matrix]:
    """The text numbers of each unit, (n, texts), and the character n-grams of each distinct text."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    number: dict[str, int] = {}
    ends = np.array([[number.setdefault(text, len(number)) for text in texts] for texts in units])
    return ends, TfidfVectorizer(**GRAMS).fit_transform(number)


def _likeness(vectors: sparse.csr_matrix, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The cosines between units, (left, right); for pairs, the cosine of the less similar texts in the better order."""

    def cosines(i: int, j: int) -> np.ndarray:
        return np.asarray((vectors[left[:, i]] @ vectors[right[:, j]].T).toarray())

    if left.shape[1] == 1:
        return cosines(0, 0)
    return np.maximum(np.minimum(cosines(0, 0), cosines(1, 1)), np.minimum(cosines(0, 1), cosines(1, 0)))


# --- labels that contradict one another --------------------------------------------------------------------------


def contradictions(corpus: Corpus) -> Finding | None:
    """Texts with two labels, pairs with both labels (in either order), distant grades, and reversed triplets."""
    found = _contradictory(corpus)
    if not found:
        return None
    what = "pair" if isinstance(corpus, Pairs) else "triplet" if isinstance(corpus, Triplets) else "text"
    label = corpus.COLUMNS.get(corpus.CLASSES, "label")
    said = "scores more than a third of the scale apart" if _scale(corpus) else f"more than one {label}"
    has = "has" if len(found) == 1 else "have"
    sentence = f"{_count(len(found), what)} {has} {said}. Decide which is right, and drop the other rows."
    shown = tuple(_beside(corpus, rows[0], rows[-1]) for rows in found[:EXAMPLES])
    places = tuple(rows[0] for rows in found)
    return Finding("contradictions", "warning", sentence, shown, {"contradictions": len(found)}, places)


def _contradictory(corpus: Corpus) -> list[list[int]]:
    """For each repeated text with contradictory labels, its rows, ordered by label."""
    scale, found = _scale(corpus), []
    for rows in _repeats(corpus).values():
        (_, low), *_, (_, high) = ordered = sorted(rows, key=lambda each: each[1])
        if (high - low > APART * scale) if scale else low != high:
            found.append([row for row, _ in ordered])
    return found


def ceiling(corpus: Corpus) -> Finding | None:
    """The best possible score, given that equal texts get equal answers."""
    found = [*_repeats(corpus).values()]
    repeats = [[value for _, value in rows] for rows in found]
    again = sum(map(len, repeats))
    if not again or isinstance(corpus, Triplets):
        return None
    if isinstance(corpus, Pairs) and _scale(corpus):
        lost = sum(np.var(values) * len(values) for values in repeats) / (np.var(corpus.scores) * len(corpus))
        best, what = float(np.sqrt(max(0.0, 1 - lost))), "correlation with the scores"
    else:
        best = 1 - sum(len(values) - Counter(values).most_common(1)[0][1] for values in repeats) / len(corpus)
        what = "accuracy"
    sentence = f"{again:,} rows share their text with another row. Since equal texts get equal answers, the highest"
    sentence += f" possible {what} on all rows is {best:.3f}." + (" Their labels agree." if best == 1 else "")
    numbers = {"ceiling": best, "rows": again, "texts": len(repeats)}
    shown = tuple(_beside(corpus, rows[1][0], rows[0][0]) for rows in found[:EXAMPLES])
    return Finding("ceiling", "note", sentence, shown, numbers, tuple(rows[1][0] for rows in found))


def transitivity(corpus: Corpus) -> Finding | None:
    """Pairs labelled 0 whose sentences are connected by a chain of pairs labelled 1: a = b, b = c, a ≠ c."""
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
        links = [corpus.number_of(row_of[frozenset(link)]) for link in pairwise(chain)]
        rows.append(_example(corpus, row) | {"chain": " = ".join(texts[at] for at in chain), "chain_rows": links})
    are = "is" if len(broken) == 1 else "are"
    sentence = f"{_count(len(broken), 'pair')} {are} labelled 0 although a chain of pairs labelled 1 connects the two"
    sentence += (
        " sentences (a = b and b = c, but a ≠ c). Each chain has at least one wrong label: check the shortest first."
    )
    return Finding("transitivity", "warning", sentence, tuple(rows), {"broken": len(broken)}, tuple(broken))


def _chains(count: int, same: np.ndarray, broken: np.ndarray) -> list[list[int]]:
    """The shortest chain of `same` pairs between the two ends of each broken pair."""
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
    """(row, label) of each repeated text, pair or triplet, ignoring order."""
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
    """The range of the grades of graded pairs; 0 for other corpora."""
    return float(np.ptp(corpus.scores)) if isinstance(corpus, Pairs) and corpus.graded else 0.0


# --- false negatives ---------------------------------------------------------------------------------------------


def false_negatives(corpus: Corpus) -> Finding | None:
    """The number of in-batch negatives with the meaning of their anchor, for randomly drawn rows."""
    from scipy.stats import hypergeom

    if "train" not in corpus.sizes or (isinstance(corpus, Pairs) and corpus.graded):
        return None
    counts = np.bincount(_owners(corpus.part("train")))
    rows = int(counts.sum())
    if rows < 2:
        return None
    numbers, said = dict[str, float](), list[str]()
    for batch in sorted({min(batch, rows) for batch in BATCHES}):
        expected = (batch - 1) * float((counts * (counts - 1.0)).sum()) / (rows * (rows - 1))
        hit = 1 - float((counts / rows) @ hypergeom.pmf(0, rows - 1, np.maximum(counts - 1, 0), batch - 1))
        numbers |= {f"expected_{batch}": expected, f"hit_{batch}": hit}
        said.append(f"{expected:.1f} of {batch - 1} in a batch of {batch} ({100 * hit:.1f} % of anchors have some)")
    own = {Labelled: "class", Groups: "group"}.get(type(corpus), "meaning")
    sentence = f"Average number of in-batch negatives with the {own} of their anchor: {'; '.join(said)}."
    if hit > MANY_FALSE:
        sentence += " Use a loss that masks them, or a sampler that keeps them out of the same batch."
    return Finding("false-negatives", "note", sentence, numbers=numbers)


def _owners(train: Corpus) -> np.ndarray:
    """A number for each row that can be an anchor, shared by rows with the same meaning; empty without such labels."""
    if isinstance(train, Pairs | Triplets):
        texts, ends = train.numbered()
        ends = ends[train.labels == 1] if isinstance(train, Pairs) else ends
        return connected(len(texts), ends[:, 0], ends[:, 1])[ends[:, 0]]
    return np.unique(train.classified()[1], return_inverse=True)[1]


# --- suspicious labels -------------------------------------------------------------------------------------------


def suspicious(corpus: Corpus, *, seed: int = 0, model: bool = True, folder: Path | None = None) -> Finding | None:
    """Rows whose label contradicts several methods that were trained without these rows; none that `contradictions`
    has found."""
    doubt = doubts(corpus, seed=seed, model=model, folder=folder)
    if doubt is None:
        return None
    known = [row for rows in _contradictory(corpus) for row in rows]
    order = np.argsort(doubt.support, kind="stable")
    order = order[doubt.contradicted[order] & ~np.isin(doubt.rows[order], known)]
    count, judged = len(order), len(doubt.rows)
    if not count:
        return None
    rows = [
        _example(corpus, doubt.rows[at])
        | {"suggested": doubt.suggested[at], "support": round(float(doubt.support[at]), 3)}
        for at in order[:EXAMPLES].tolist()
    ]
    other = "a score more than a third of the scale away" if _scale(corpus) else "another label"
    sentence = (
        f"For {count:,} {'other ' * bool(known)}rows of {judged:,} ({100 * count / judged:.1f} %), each of "
        f"{doubt.methods} methods that were trained without that row predicts {other}. Some of these labels are wrong; "
        "others are only hard to predict. Read the most suspicious ones, which have the least support, and correct or "
        "drop the wrong ones."
    )
    if judged == JUDGED < len(corpus):
        sentence += f" (A random {JUDGED:,} of the {len(corpus):,} rows were judged.)"
    numbers = {"contradicted": count, "judged": judged}
    return Finding("suspicious", "note", sentence, tuple(rows), numbers, tuple(doubt.rows[order].tolist()))


# --- examples ----------------------------------------------------------------------------------------------------


def _example(corpus: Corpus, row: int) -> dict[str, Any]:
    """A row for display: its number, split, texts, and label, group or score."""
    shown: dict[str, Any] = {"row": corpus.number_of(row), "split": corpus.splits[row]}
    if isinstance(corpus, Articles):
        return shown | {"title": corpus.articles[row].title}
    shown |= {column: getattr(corpus, name)[row] for name, column in corpus.COLUMNS.items()}
    if isinstance(corpus, Pairs):
        value = shown.pop("label")
        shown |= {"score": float(value)} if corpus.graded else {"label": int(value)}
    return shown


def _beside(corpus: Corpus, row: int, other: int) -> dict[str, Any]:
    """A row, and another row that contradicts it."""
    return _example(corpus, row) | {f"other_{key}": value for key, value in _example(corpus, other).items()}


def _count(number: int, what: str) -> str:
    ending = "" if number == 1 else "es" if what.endswith("s") else "s"
    return f"{number:,} {what}{ending}"

"""Mine hard negatives from a whole corpus: sentences similar to the anchor, but with a different meaning.

`labkit.pairs.mining` chooses among the pairs of one training batch; this module searches all sentences once, before
training, exactly and one block of anchors at a time. The rules are those of sentence-transformers'
`mine_hard_negatives`; the guide comes from GISTEmbed (Solatorio 2024). The nearest candidate is often a false negative,
an unlabelled paraphrase; ranks, margins and the guide filter these out.

In: the sentences' vectors from any method, and the corpus's labels. Out: `Mined`, triplets that methods train on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from labkit.arrays import Vectors, seeded, unit, vectors, whole
from labkit.corpora.catalogue import EMBEDDED
from labkit.corpora.records import Articles, Corpus, Pairs, Sentences, Triplets
from labkit.corpora.relations import opened
from labkit.corpora.splits import connected
from labkit.evaluation.neighbours import blocks, dots, foreseen
from labkit.text import normalise

SAMPLING = ("top", "random")


@dataclass(frozen=True, eq=False)
class Mined:
    """n triplets of a split, as sentence numbers; ranks count the sentences of other classes, 1 is the nearest."""

    name: str
    split: str
    texts: tuple[str, ...]
    triplets: np.ndarray  # (n, 3): anchor, positive, negative
    ranks: np.ndarray  # (n,)
    similarities: np.ndarray  # (n, 2): anchor to positive, and anchor to negative
    pairs: int  # anchors with a positive
    candidates: int  # within the range of ranks, over all pairs
    dropped: Mapping[str, int]  # rule -> candidates dropped, of the candidates that earlier rules left
    short: int  # pairs with fewer negatives than requested

    def __len__(self) -> int:
        return len(self.triplets)

    def __str__(self) -> str:
        rules = ", ".join(f"{rule} {count:,}" for rule, count in self.dropped.items()) or "none"
        return (
            f"{self.split}: {len(self):,} negatives for {self.pairs:,} pairs, from {self.candidates:,} candidates; "
            f"dropped: {rules}; {self.short:,} pairs have fewer than requested"
        )

    def corpus(self) -> Triplets:
        """The triplets as a training corpus, with rank and similarities as further columns."""
        if not len(self):
            raise ValueError(f"no candidate of {self.name!r} remains ({self}); widen the ranks or lower the margin")
        anchors, positives, negatives = ([self.texts[row] for row in column] for column in self.triplets.T)
        near, far = ([round(float(value), 4) for value in column] for column in self.similarities.T)
        extra: dict[str, Sequence[Any]] = {"rank": self.ranks.tolist(), "to_positive": near, "to_negative": far}
        return Triplets(anchors, positives, negatives, name=f"{self.name} mined", splits=self.split, extra=extra)


def sentences_to_mine(corpus: Corpus, split: str = "train") -> list[str]:
    """The distinct sentences of a split, in the row order that `mine_negatives` expects."""
    return _part(corpus, split).sentences()


def mine_negatives(
    encoded: Any,
    corpus: Corpus,
    *,
    count: int = 3,
    ranks: tuple[int, int] = (0, 50),
    margin: float | None = None,
    relative: float | None = None,
    most: float | None = None,
    least: float | None = None,
    sampling: str = "top",
    guide: Any = None,
    guide_margin: float = 0.0,
    split: str = "train",
    seed: int = 0,
) -> Mined:
    """Find for every anchor a with a positive p up to `count` sentences n of other classes, by their cosines s.

    encoded     a fitted method, or the vectors of `sentences_to_mine(corpus, split)`
    ranks       skip the ranks[0] nearest sentences of other classes, and search up to rank ranks[1]
    margin      drops n where s(a, n) > s(a, p) - margin; `relative` where s(a, n) > s(a, p) - |s(a, p)| · relative
    most, least drop n where s(a, n) > most, or s(a, n) < least
    guide       drops n where another method (or its vectors) finds s(a, n) or s(p, n) at least s(a, p) - guide_margin
    sampling    "top" takes the nearest of the remaining candidates, "random" draws them by `seed`

    A negative is never a sentence of the anchor's class, in any spelling, and an anchor never gets the same negative
    twice. Positives come from pairs labelled 1 and from triplets; with classes, each sentence is paired with another of
    its class, drawn from `seed`.
    """
    low, high = ranks
    whole("ranks[0]", low, 0, 2**31, "number of nearest sentences to skip")
    whole("ranks[1]", high, low + 1, 2**31, "last rank searched for candidates")
    whole("count", count, 1, high - low, "number of negatives per anchor, at most the number of ranks")
    if sampling not in SAMPLING:
        raise ValueError(f"sampling is {sampling!r}, expected 'top' (the nearest) or 'random'")
    part = _part(corpus, split)
    texts, pairs, belongs = _known(part, np.random.default_rng(seeded(seed)))
    rows = _unit_rows("encoded", encoded, texts)
    near, similarities = _nearest_of_others(rows, belongs, pairs[:, 0], min(high, len(texts) - 1))
    near, similarities = near[:, low:], similarities[:, low:]  # (pairs, ranks)
    positive = _cosines(rows, pairs[:, 0], pairs[:, 1:])  # (pairs, 1)

    rules: dict[str, np.ndarray] = {}  # rule -> what it drops, (pairs, ranks)
    if margin is not None:
        rules["margin"] = similarities > positive - margin
    if relative is not None:
        rules["relative margin"] = similarities > positive - np.abs(positive) * relative
    if most is not None:
        rules["more similar than most"] = similarities > most
    if least is not None:
        rules["less similar than least"] = similarities < least
    if guide is not None:
        guiding = _unit_rows("guide", guide, texts)
        least_near = _cosines(guiding, pairs[:, 0], pairs[:, 1:]) - guide_margin
        to_anchor, to_positive = (_cosines(guiding, ends, near) for ends in pairs.T)
        rules["guide"] = (to_anchor >= least_near) | (to_positive >= least_near)
    kept = np.isfinite(similarities)  # infinite where there are fewer other sentences than ranks
    candidates, dropped = int(kept.sum()), dict[str, int]()
    for rule, out in rules.items():
        dropped[rule] = int((kept & out).sum())
        kept &= ~out

    random = np.random.default_rng(seed) if sampling == "random" else None
    pair, place = _chosen(pairs[:, 0], near, kept, count, random)
    return Mined(
        name=corpus.name,
        split=split,
        texts=tuple(texts),
        triplets=np.column_stack([pairs[pair], near[pair, place]]),
        ranks=place + low + 1,
        similarities=np.column_stack([positive[pair, 0], similarities[pair, place]]),
        pairs=len(pairs),
        candidates=candidates,
        dropped=dropped,
        short=int((np.bincount(pair, minlength=len(pairs)) < count).sum()),
    )


# --- the labels of the corpus ------------------------------------------------------------------------------------


def _part(corpus: Corpus, split: str) -> Corpus:
    part = corpus.part(split)
    return opened(part) if isinstance(part, Articles) else part


def _known(corpus: Corpus, random: np.random.Generator) -> tuple[list[str], np.ndarray, sparse.csr_array]:
    """Sentences (m), anchors with a positive (pairs, 2), and the classes of each sentence and its spellings (m, C)."""
    if isinstance(corpus, Sentences):
        raise corpus.without_labels("hard negatives can only be found for pairs with a positive")
    if isinstance(corpus, Pairs) and corpus.graded:
        raise ValueError(
            f"corpus {corpus.name!r} has grades, but mining needs to know which sentences belong together. Label its "
            "pairs with 0 and 1, or use another corpus"
        )
    texts = corpus.sentences()
    number = {text: row for row, text in enumerate(texts)}
    spelling = _codes([normalise(text) for text in texts])
    if isinstance(corpus, Pairs | Triplets):
        ends = corpus.numbered()[1][:, :2]
        pairs = np.unique(ends if isinstance(corpus, Triplets) else ends[corpus.scores != 0], axis=0)
        holds, classes = np.arange(len(texts)), connected(len(texts), *pairs.T)
    else:
        rows, names = corpus.classified()
        holds, classes = np.array([number[text] for text in rows]), _codes(names)
        pairs = _rings(holds, classes, random)
    pairs = pairs[spelling[pairs[:, 0]] != spelling[pairs[:, 1]]]
    if not len(pairs):
        raise ValueError(
            f"corpus {corpus.name!r} has no positive pairs, but mining needs at least one; add a class with two "
            "sentences or a pair labelled 1"
        )
    spelled = _incidence(np.arange(len(texts)), spelling)  # (m, spellings)
    belongs = spelled @ (spelled.T @ _incidence(holds, classes))  # (m, C): a text has the classes of all its spellings
    return texts, pairs, sparse.csr_array(belongs)


def _rings(holds: np.ndarray, classes: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Pair each sentence of a class with the next in random order, and the last with the first, (pairs, 2)."""
    members: dict[int, list[int]] = defaultdict(list)
    for row, code in sorted({*zip(holds.tolist(), classes.tolist(), strict=True)}):
        members[code].append(row)
    orders = [random.permutation(rows) for rows in members.values() if len(rows) > 1]
    return np.concatenate([np.empty((0, 2), np.int64), *(np.column_stack([o, np.roll(o, -1)]) for o in orders)])


def _codes(keys: Sequence[Hashable]) -> np.ndarray:
    """Number the keys in order of first appearance."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys])


def _incidence(rows: np.ndarray, columns: np.ndarray) -> sparse.csr_array:
    return sparse.csr_array((np.ones(len(rows), np.float32), (rows, columns)))


# --- the search --------------------------------------------------------------------------------------------------


def _nearest_of_others(
    rows: Vectors, belongs: sparse.csr_array, asking: np.ndarray, most: int
) -> tuple[np.ndarray, np.ndarray]:
    """For each query row the `most` nearest rows without a shared class, and their cosines (-inf if fewer)."""
    anchors, place = np.unique(asking, return_inverse=True)
    foreseen(len(anchors), rows, remedy="mine a part of the corpus")
    near, cosines = np.empty((len(anchors), most), np.int64), np.empty((len(anchors), most))
    for block in blocks(len(anchors), len(belongs.indptr) - 1):
        of = anchors[block]
        S = dots(rows[of], rows)  # (b, m)
        S[(belongs[of] @ belongs.T).nonzero()] = -np.inf
        best = np.sort(np.argpartition(-S, most - 1, axis=1)[:, :most], axis=1)
        found = np.take_along_axis(S, best, 1)
        order = np.argsort(-found, axis=1, kind="stable")
        near[block], cosines[block] = np.take_along_axis(best, order, 1), np.take_along_axis(found, order, 1)
    return near[place], cosines[place]


def _cosines(rows: Vectors, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The cosines of each row of `left` (n,) with its rows of `right` (n, k): (n, k)."""
    cosines = np.empty(right.shape)
    for block in blocks(len(left), right.shape[1] * rows.shape[1] if isinstance(rows, np.ndarray) else 2**12):
        a, b = rows[np.repeat(left[block], right.shape[1])], rows[right[block].ravel()]
        cosines[block] = np.asarray((a * b).sum(axis=1)).reshape(-1, right.shape[1])
    return cosines


def _chosen(
    anchors: np.ndarray, near: np.ndarray, kept: np.ndarray, count: int, random: np.random.Generator | None
) -> np.ndarray:
    """Up to `count` (pair, index) for each pair, with no negative twice for one anchor, (2, n)."""
    taken: dict[int, set[int]] = defaultdict(set)
    chosen = []
    for pair, anchor in enumerate(anchors.tolist()):
        free = [place for place in np.flatnonzero(kept[pair]) if near[pair, place] not in taken[anchor]]
        if random is not None and len(free) > count:
            free = sorted(random.choice(free, count, replace=False))
        taken[anchor].update(near[pair, free[:count]].tolist())
        chosen += [(pair, place) for place in free[:count]]
    return np.array(chosen, np.int64).reshape(-1, 2).T


def _unit_rows(name: str, encoded: Any, texts: list[str]) -> Vectors:
    """The rows scaled to length 1, one for each text."""
    rows = encoded.encode(texts) if hasattr(encoded, "encode") else encoded
    rows = unit(vectors(name, rows, keep_single=True))
    if rows.shape[0] != len(texts):
        raise ValueError(
            f"{name} has {rows.shape[0]:,} rows, expected {len(texts):,}, one for each distinct sentence of the "
            "split. Encode sentences_to_mine(corpus, split)"
        )
    return rows


# --- the truth ---------------------------------------------------------------------------------------------------


def false_negatives(mined: Mined, meanings: Mapping[str, Hashable]) -> np.ndarray:
    """Whether each negative has the meaning of its anchor, bool (n,); `meanings` maps each sentence to its meaning.

    Use `EMBEDDED["questions"].meanings()` for the generator's knowledge, `dict(zip(*corpus.classified()))` for labels.
    """
    unknown = next((text for text in mined.texts if text not in meanings), None)
    if unknown is not None:
        raise ValueError(f"meanings has no entry for {unknown!r}; it needs one for each sentence of this corpus")
    codes = _codes([meanings[text] for text in mined.texts])
    return np.equal(*codes[mined.triplets[:, [0, 2]].T])


def known_meanings(corpus: Corpus) -> dict[str, Any] | None:
    """The meanings that a bundled corpus's generator knows beyond the labels; None if there is no such generator."""
    meanings = EMBEDDED[corpus.name].meanings() if corpus.name in EMBEDDED else {}
    return meanings if meanings and meanings.keys() >= set(corpus.sentences()) else None

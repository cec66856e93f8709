"""The data that tables are measured on: an embedded corpus that stands in, and published sets, put together as needed.

In: corpora as they are released. Out: one corpus with the splits that a recipe expects. What of it is on this machine
is `desk.py`'s.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from labkit.articles import triplets_of
from labkit.corpora import Articles, Corpus, Groups, Labelled, Pairs
from labkit.corpora.classes import components
from labkit.text import words

CITY = "pit"  # the smallest of GeoER's: training takes minutes
LEARNED = 40_000  # triplets to learn from, of 176,000: minutes a training in the place of hours
CAPTIONS = 45_000  # captions of Flickr30k to learn from, of 143,000


def _only(corpora: Sequence[Corpus]) -> Corpus:
    return corpora[0]


@dataclass(frozen=True)
class DataSet:
    """What is measured on. `parts` are published corpora, all of them needed, and `together` makes one of them.

    What is `derived` is made of the embedded corpus in the same way. Sentences of the corpora `apart`, which others of
    its kind are scored on, are taken out of the training split where these corpora are at hand.
    """

    name: str
    embedded: str = ""
    parts: tuple[str, ...] = ()
    together: Callable[[Sequence[Corpus]], Corpus] = _only
    derived: bool = False
    apart: tuple[str, ...] = ()
    note: str = ""  # how the published form differs from the paper's


# --- put together ----------------------------------------------------------------------------------------------


def _quora(corpora: Sequence[Corpus]) -> Corpus:
    """Trained on Quora's pairs; threshold and test of Wang et al.'s split, or, where it has only dev, its halves."""
    train, bimpm = corpora
    assert isinstance(train, Pairs) and isinstance(bimpm, Pairs)  # noqa: PT018
    if {"train", "dev", "test"} <= set(bimpm.splits):
        return replace(bimpm, name="quora", extra={})
    asked = set(bimpm.sentences())
    marked = train.extra.get("question_in_bimpm_eval", ("0",) * len(train))
    rows = [
        row
        for row, (a, b) in enumerate(zip(train.text_a, train.text_b, strict=True))
        if str(marked[row]) != "1" and a not in asked and b not in asked
    ]
    seen = replace(train.take(rows), splits=("train",) * len(rows))
    halves = np.random.default_rng(0).permutation(len(bimpm)) % 2
    scored = replace(bimpm, splits=tuple("dev" if half else "test" for half in halves))
    return _joined("quora", [seen, scored])


def _captions(corpora: Sequence[Corpus]) -> Corpus:
    """Trained on Flickr30k, scored on COCO: no picture is in both, which the paper's own choice does not keep apart."""
    flickr, coco = corpora
    learned = [flickr.part(split) for split in ("train", "dev") if split in flickr.splits]
    whole = _joined("captions", [*learned, replace(coco, splits=("test",) * len(coco))])
    return cut(whole, CAPTIONS)


def _few_captions(corpora: Sequence[Corpus]) -> Corpus:
    """The same, with fewer to learn from: for tables of many trainings."""
    return cut(_captions(corpora), CAPTIONS // 3)


def _places(corpora: Sequence[Corpus]) -> Corpus:
    """Pairs of one city's places to places with a class each: those that pairs labelled 1 join, within one split.

    The release divides pairs, so that half of the test's places are in training pairs, too: these are taken out there.
    """
    (pairs,) = corpora
    cities = pairs.extra.get("city", (CITY,) * len(pairs))
    here = pairs.take([row for row, city in enumerate(cities) if city == CITY])
    found: dict[str, tuple[str, str]] = {}  # text -> class, split
    for split in ("test", "dev", "train"):
        if split in here.splits:
            part = here.part(split)
            assert isinstance(part, Pairs)
            for text, number in zip(*components(part), strict=True):
                found.setdefault(text, (f"{split} {number}", split))
    labels, splits = zip(*found.values(), strict=True)
    return Labelled(list(found), labels, splits=splits, name="places")


def _sentences(corpora: Sequence[Corpus]) -> Corpus:
    """Triplets of sentences, negatives from the neighbouring sections; of many, some."""
    return drawn(triplets_of(_articles(corpora)), {"train": LEARNED, "dev": LEARNED // 8})


def _titles(corpora: Sequence[Corpus]) -> Corpus:
    """Triplets of a section's first sentence, its title, and a neighbour's title."""
    return triplets_of(_articles(corpora), rule="titles")


def _articles(corpora: Sequence[Corpus]) -> Articles:
    (corpus,) = corpora
    assert isinstance(corpus, Articles)
    return corpus


def _scored_on_dev(corpora: Sequence[Corpus]) -> Corpus:
    """Without a test split, dev takes its place: nothing is chosen there."""
    (corpus,) = corpora
    if "test" in corpus.splits:
        return corpus
    return replace(corpus, splits=tuple("test" if split == "dev" else split for split in corpus.splits))


def _held_out(corpora: Sequence[Corpus]) -> Corpus:
    """A fifth of the training pairs is dev; what shares a sentence with it is not learned from."""
    (corpus,) = corpora
    if "dev" in corpus.splits:
        return corpus
    train = [row for row, split in enumerate(corpus.splits) if split == "train"]
    held = set(np.random.default_rng(0).permutation(train)[: max(1, len(train) // 5)].tolist())
    splits = ["dev" if row in held else split for row, split in enumerate(corpus.splits)]
    divided = replace(corpus, splits=splits)
    return without(divided, [divided.part("dev")])


def _joined(name: str, corpora: Sequence[Corpus]) -> Corpus:
    """One below the other; of the further columns none is kept."""
    kind = type(corpora[0])
    columns: dict[str, Any] = {
        field: [value for corpus in corpora for value in getattr(corpus, field)] for field in kind.COLUMNS
    }
    splits = [split for corpus in corpora for split in corpus.splits]
    return kind(name=name, splits=splits, **columns)


_FEWER = "fewer and broader articles than the paper's"
_OTHER_PICTURES = (
    "trained on a part of Flickr30k, so that no scored picture was seen in training, and without the captions that "
    "stand in STS-B or SICK"
)
DATASETS: dict[str, DataSet] = {
    found.name: found
    for found in (
        DataSet(
            "quora",
            "questions",
            ("qqp", "qqp-bimpm"),
            _quora,
            note="trained on the labelled pairs that share no question with the scored ones; where Wang et al.'s split "
            "has only its dev, one half of it gives the threshold and the other the figures",
        ),
        DataSet(
            "mrpc",
            "",
            ("mrpc",),
            _held_out,
            note="it has no dev split: a fifth of the training pairs is held out and gives the threshold, since pairs "
            "that were learned from lie further apart than others",
        ),
        DataSet("articles", "articles", ("wikipedia",), note=_FEWER),
        DataSet(
            "triplets-sen",
            "articles",
            ("wikipedia",),
            _sentences,
            derived=True,
            note=f"{_FEWER}; {LEARNED:,} of the triplets, drawn at random, are learned from",
        ),
        DataSet("triplets-titles", "articles", ("wikipedia",), _titles, derived=True, note=_FEWER),
        DataSet(
            "places",
            "places",
            ("geoer",),
            _places,
            note="places of Pittsburgh in place of the paper's own; none that is scored is in training, which the "
            "release, divided by pairs, does not keep apart",
        ),
        DataSet("stsb", "relatedness", ("stsb",)),
        DataSet("sick", "relatedness", ("sick",), _scored_on_dev, note="scored on the trial pairs, without the test's"),
        DataSet(
            "captions",
            "captions",
            ("flickr30k", "coco"),
            _captions,
            apart=("stsb", "sick"),
            note=_OTHER_PICTURES,
        ),
        DataSet(
            "captions-few",
            "captions",
            ("flickr30k", "coco"),
            _few_captions,
            apart=("stsb", "sick"),
            note=_OTHER_PICTURES,
        ),
        DataSet("sts", "", ("sts12-16",)),
        DataSet("mr", "", ("mr",)),
        DataSet("cr", "", ("cr",)),
        DataSet("subj", "", ("subj",)),
        DataSet("mpqa", "", ("mpqa",)),
        DataSet("sst", "", ("sst-phrases",), _scored_on_dev, note="trained on phrases, scored on the dev sentences"),
        DataSet("trec", "topics", ("trec",)),
        DataSet("20news", "topics", ("20news",)),
    )
}


def without(corpus: Corpus, apart: Sequence[Corpus]) -> Corpus:
    """The corpus without those training rows that have a sentence of another corpus, word for word."""
    if not apart:
        return corpus
    scored = {tuple(words(text)) for other in apart for text in other.sentences()}
    columns = [getattr(corpus, name) for name in corpus.TEXTS]
    return corpus.take(
        row
        for row, split in enumerate(corpus.splits)
        if split != "train" or not any(tuple(words(column[row])) in scored for column in columns)
    )


def drawn(corpus: Corpus, most: Mapping[str, int]) -> Corpus:
    """At most so many rows of a split, the same at every call, in the order they had."""
    left = []
    for split in dict.fromkeys(corpus.splits):
        rows = [row for row, found in enumerate(corpus.splits) if found == split]
        if len(rows) > most.get(split, len(rows)):
            rows = np.random.default_rng(0).choice(rows, most[split], replace=False).tolist()
        left += rows
    return corpus.take(sorted(left))


def cut(corpus: Corpus, rows: int) -> Corpus:
    """At most the first `rows` training rows (groups stay whole), all of dev and test."""
    train = [row for row, split in enumerate(corpus.splits) if split == "train"]
    if len(train) <= rows:
        return corpus
    last = train[rows - 1]
    if isinstance(corpus, Groups):
        last = max(row for row in train if corpus.groups[row] == corpus.groups[last])
    return corpus.take(row for row, split in enumerate(corpus.splits) if split != "train" or row <= last)

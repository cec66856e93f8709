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
from labkit.corpora.classes import components, linked

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
    asked = set(map(spelt, bimpm.sentences()))
    marked = train.extra.get("question_in_bimpm_eval", ("0",) * len(train))
    rows = [
        row
        for row, (a, b) in enumerate(zip(train.text_a, train.text_b, strict=True))
        if str(marked[row]) != "1" and spelt(a) not in asked and spelt(b) not in asked
    ]
    seen = replace(train.take(rows), splits=("train",) * len(rows))
    scored = replace(bimpm, splits=_halves(bimpm))
    return _joined("quora", [seen, scored])


def _halves(pairs: Pairs) -> tuple[str, ...]:
    """dev or test for each pair, at random and half of each; pairs that a question joins stay together."""
    spelled = replace(pairs, text_a=tuple(map(spelt, pairs.text_a)), text_b=tuple(map(spelt, pairs.text_b)))
    joined, sizes = np.unique(linked(spelled), return_inverse=True, return_counts=True)[1:]
    order = np.random.default_rng(0).permutation(len(sizes))
    in_test = np.zeros(len(sizes), bool)
    in_test[order[np.cumsum(sizes[order]) <= len(pairs) // 2]] = True
    return tuple("test" if in_test[at] else "dev" for at in joined)


def spelt(text: str) -> str:
    """A text by its letters and digits alone, so that "I wo n't ." is "I won't."."""
    return "".join(filter(str.isalnum, text.casefold()))


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
    """Pairs of one city's places to places with a class each: those that pairs labelled 1 join.

    The release divides pairs, so that a place may have records in several of its splits. Here all records of a place
    are in one: in test if any of them is there, else in dev, else in train.
    """
    (pairs,) = corpora
    assert isinstance(pairs, Pairs)
    cities = pairs.extra.get("city", (CITY,) * len(pairs))
    here = pairs.take([row for row, city in enumerate(cities) if city == CITY])
    joined = components(replace(here, text_a=tuple(map(spelt, here.text_a)), text_b=tuple(map(spelt, here.text_b))))
    place = dict(zip(*joined, strict=True))  # a record that is only written otherwise is no other
    split: dict[int, str] = {}
    for name in ("test", "dev", "train"):
        if name in here.splits:
            for text in here.part(name).sentences():
                split.setdefault(place[spelt(text)], name)
    texts = here.sentences()
    labels = [place[spelt(text)] for text in texts]
    splits = [split[label] for label in labels]
    return Labelled(texts, [f"place {label}" for label in labels], splits=splits, name="places")


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
    """A fifth of the training pairs is dev; what shares a sentence with it, or with test, is not learned from."""
    corpus = without(corpora[0], [corpora[0].part("test")])
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
            note="trained on the labelled pairs that share no question with the scored ones, however it is spelt; "
            "where Wang et al.'s split has only its dev, one half of it gives the threshold and the other, which "
            "shares no question with it, the figures",
        ),
        DataSet(
            "mrpc",
            "",
            ("mrpc",),
            _held_out,
            note="in the official split one test pair in eight shares a sentence with a training pair: such "
            "training pairs are left out. It has no dev split: a fifth of the training pairs is held out and gives the "
            "threshold, since pairs that were learned from lie further apart than others",
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
            note="places of Pittsburgh in place of the paper's own; all records of a place are in one split, which the "
            "release, divided by pairs, does not keep so",
        ),
        DataSet(
            "stsb", "relatedness", ("stsb",), note="as released, sentences of some test pairs are in training, too"
        ),
        DataSet(
            "sick",
            "relatedness",
            ("sick",),
            _scored_on_dev,
            note="scored on the trial pairs, without the test's; as released, most of their sentences are in training",
        ),
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
    """The corpus without those training rows that have a sentence of another corpus, letter for letter."""
    if not apart:
        return corpus
    scored = {spelt(text) for other in apart for text in other.sentences()}
    columns = [getattr(corpus, name) for name in corpus.TEXTS]
    return corpus.take(
        row
        for row, split in enumerate(corpus.splits)
        if split != "train" or not any(spelt(column[row]) in scored for column in columns)
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

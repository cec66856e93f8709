"""train, dev and test for a file that does not say: the same rows always fall the same way.

In: a corpus. Out: the same with `splits` in shares 80/10/10. What belongs together stays together: all
paraphrases of a group, all pairs and triplets that share a sentence. Labelled sentences are divided class by class, so
that each class is in each split where it has rows enough. The order is a hash of the text: not the order of the file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from labkit.corpora.records import Articles, Corpus, Groups, Labelled, Pairs, Triplets

SHARES = {"test": 0.1, "dev": 0.1}  # the rest is train

C = TypeVar("C", bound=Corpus)


def divided(corpus: C) -> C:
    """The corpus with a split for every row."""
    if isinstance(corpus, Articles):
        return replace(corpus, splits=())  # by title: the record does it itself
    if isinstance(corpus, Labelled):
        keys, strata = list(corpus.texts), list(corpus.labels)
    elif isinstance(corpus, Groups):
        keys, strata = list(corpus.groups), [""] * len(corpus)
    else:
        keys, strata = _together(corpus), [""] * len(corpus)
    splits = [""] * len(corpus)
    found: dict[str, list[int]] = {}
    for row, stratum in enumerate(strata):
        found.setdefault(stratum, []).append(row)
    for rows in found.values():
        for row, split in zip(rows, _dealt([keys[row] for row in rows]), strict=True):
            splits[row] = split
    return replace(corpus, splits=splits)


def _dealt(keys: Sequence[str]) -> list[str]:
    """A split for each row: whole keys, in the order of their hashes, until test and then dev have their share."""
    sizes: dict[str, int] = {}
    for key in keys:
        sizes[key] = sizes.get(key, 0) + 1
    order = sorted(sizes, key=lambda key: hashlib.sha256(key.encode()).digest())
    split_of: dict[str, str] = {}
    wanted = {split: round(share * len(keys)) for split, share in SHARES.items()}
    for key in order:
        fits = next((split for split, room in wanted.items() if room >= sizes[key]), "train")
        split_of[key] = fits
        if fits in wanted:
            wanted[fits] -= sizes[key]
    return [split_of[key] for key in keys]


def _together(corpus: Corpus) -> list[str]:
    """A key for each row; rows with a sentence in common, directly or through others, have the same one.

    Where that ties over half of all rows into one lump, only the positive pairs tie: a pair then goes with its
    first sentence, and a sentence may be met in two splits, though never with its paraphrases.
    """
    assert isinstance(corpus, Pairs | Triplets)
    numbers = {sentence: number for number, sentence in enumerate(corpus.sentences())}
    columns = [np.array([numbers[text] for text in getattr(corpus, name)]) for name in corpus.TEXTS]
    positive = np.array(corpus.values) > 0 if isinstance(corpus, Pairs) else np.ones(len(corpus), bool)
    lumps = _lumps(columns[0], columns[1:], len(numbers))
    if np.bincount(lumps[columns[0]]).max() > len(corpus) / 2:
        lumps = _lumps(columns[0][positive], [columns[1][positive]], len(numbers))
    sentences = list(numbers)
    first: dict[int, str] = {}
    for number, lump in enumerate(lumps.tolist()):
        first.setdefault(lump, sentences[number])
        first[lump] = min(first[lump], sentences[number])
    return [first[lump] for lump in lumps[columns[0]].tolist()]


def _lumps(left: np.ndarray, others: Sequence[np.ndarray], count: int) -> np.ndarray:
    """The connected component of each sentence when row by row `left` is tied to each of `others`."""
    starts = np.concatenate([left] * len(others))
    ends = np.concatenate(list(others))
    graph = coo_array((np.ones(len(starts)), (starts, ends)), shape=(count, count))
    return connected_components(graph, directed=False)[1]

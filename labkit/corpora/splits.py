"""Assign rows to train, dev and test, always in the same way for the same rows.

In: the columns of a corpus. Out: a split for each row, in shares of 80/10/10. Rows that belong together stay together:
the paraphrases of a group, and groups, pairs and triplets that share a sentence. Labelled sentences are divided class
by class, so that each split contains every class that is large enough. Rows are ordered by a hash of their text, not by
position.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

SHARES = {"test": 0.1, "dev": 0.1}  # the rest is train


def by_class(texts: Sequence[str], labels: Sequence[Any]) -> list[str]:
    """A split for each labelled sentence; a sentence in several classes goes to train if their splits differ."""
    by_label: dict[str, list[str]] = {}
    for text, label in zip(texts, labels, strict=True):
        by_label.setdefault(str(label), []).append(text)
    split_of: dict[str, str] = {}
    for members in by_label.values():
        for text, split in zip(members, dealt(members), strict=True):
            if split_of.setdefault(text, split) != split:
                split_of[text] = "train"
    return [split_of[text] for text in texts]


def dealt(keys: Sequence[str], shares: Mapping[str, float] = SHARES) -> list[str]:
    """A split for each row: whole keys, in order of their hashes, fill test and then dev."""
    sizes = Counter(keys)
    order = sorted(sizes, key=lambda key: hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest())
    split_of: dict[str, str] = {}
    room = {split: round(share * len(keys)) for split, share in shares.items()}
    for key in order:
        split_of[key] = next((split for split, left in room.items() if left >= sizes[key]), "train")
        if split_of[key] in room:
            room[split_of[key]] -= sizes[key]
    return [split_of[key] for key in keys]


def portion(keys: Sequence[Any], share: float) -> list[int]:
    """The row numbers of this share. They are always the same: the rows of whole keys, and of at least one."""
    kept = [row for row, split in enumerate(dealt(list(map(str, keys)), {"kept": share})) if split == "kept"]
    return kept or [row for row, key in enumerate(keys) if key == keys[0]]


def grouped(texts: Sequence[str], groups: Sequence[Any]) -> list[str]:
    """A key for each row, named after its group; groups with a sentence in common share a key.

    If that would connect more than half of all rows, each group is a key of its own. A sentence may then appear in two
    splits, though not with the same paraphrases.
    """
    names = list(map(str, groups))  # as in a file: 3 is '3'
    places: dict[tuple[str, bool], int] = {}
    of_group, of_text = (
        np.array([places.setdefault((key, texts_of), len(places)) for key in keys])
        for keys, texts_of in ((names, False), (texts, True))
    )
    lumps = connected(len(places), of_group, of_text)[of_group].tolist()
    if max(Counter(lumps).values()) > len(texts) / 2:
        return names
    first: dict[int, str] = {}
    for name, lump in zip(names, lumps, strict=True):
        first[lump] = min(first.get(lump, name), name)
    return [first[lump] for lump in lumps]


def together(columns: Sequence[Sequence[str]], positive: np.ndarray) -> list[str]:
    """A key for each row; rows connected by common sentences, directly or through other rows, share a key.

    If that would connect more than half of all rows, only positive pairs connect rows, and a pair follows its first
    sentence. A sentence may then appear in two splits, though never with its paraphrases.
    """
    places: dict[str, int] = {}
    numbers = [np.array([places.setdefault(text, len(places)) for text in column]) for column in columns]
    lumps = connected(len(places), np.tile(numbers[0], len(numbers) - 1), np.concatenate(numbers[1:]))
    if np.bincount(lumps[numbers[0]]).max() > len(positive) / 2:
        lumps = connected(len(places), numbers[0][positive], numbers[1][positive])
    first: dict[int, str] = {}
    for text, lump in zip(places, lumps.tolist(), strict=True):
        first[lump] = min(first.get(lump, text), text)
    return [first[lump] for lump in lumps[numbers[0]].tolist()]


def connected(count: int, left: ArrayLike, right: ArrayLike) -> np.ndarray:
    """The connected component of each of `count` nodes, given edges from `left[i]` to `right[i]`.

    >>> connected(5, [0, 3], [1, 4])
    array([0, 0, 1, 2, 2])
    """
    starts, ends = np.asarray(left, np.int64), np.asarray(right, np.int64)
    graph = coo_array((np.ones(len(starts), bool), (starts, ends)), shape=(count, count))
    components: np.ndarray = connected_components(graph, directed=False)[1].astype(np.int64)
    return components

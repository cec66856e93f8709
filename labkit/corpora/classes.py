"""Which sentences of a corpus mean the same: their classes, as a label says it or as pairs add up to it."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from labkit.corpora.records import Groups, Labelled, Pairs


def classes_of(corpus: Labelled | Groups) -> list[str]:
    """What says of each text which others mean the same."""
    return list(corpus.labels if isinstance(corpus, Labelled) else corpus.groups)


def components(corpus: Pairs) -> tuple[list[str], np.ndarray]:
    """The distinct sentences of labelled pairs, and for each its component in the graph of the pairs labelled 1."""
    texts = corpus.sentences()
    number = {text: row for row, text in enumerate(texts)}
    same = [
        (number[a], number[b]) for a, b, value in zip(corpus.text_a, corpus.text_b, corpus.values, strict=True) if value
    ]
    rows, columns = np.array(same, dtype=np.int64).reshape(-1, 2).T
    graph = sparse.coo_array((np.ones(len(rows), bool), (rows, columns)), shape=(len(texts), len(texts)))
    return texts, connected_components(graph, directed=False)[1]


def linked(corpus: Pairs) -> np.ndarray:
    """For each pair a number that it shares with all pairs that a common sentence joins it with, (n,)."""
    texts = corpus.sentences()
    number = {text: row for row, text in enumerate(texts)}
    ends = np.array([(number[a], number[b]) for a, b in zip(corpus.text_a, corpus.text_b, strict=True)]).reshape(-1, 2)
    graph = sparse.coo_array((np.ones(len(ends), bool), (ends[:, 0], ends[:, 1])), shape=(len(texts), len(texts)))
    found: np.ndarray = connected_components(graph, directed=False)[1][ends[:, 0]]
    return found

"""What of a split is classified: one sentence with its class, or two that are the same or not."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from labkit.corpora import Corpus, Labelled, Pairs


def features(part: Corpus, rows_of: Callable[[Sequence[str]], np.ndarray]) -> np.ndarray:
    """A sentence's row; of pairs |u - v| beside u · v."""
    if isinstance(part, Labelled):
        return rows_of(part.texts)
    assert isinstance(part, Pairs)
    u, v = rows_of(part.text_a), rows_of(part.text_b)
    return np.hstack([np.abs(u - v), u * v])


def labels_of(part: Corpus) -> list[str]:
    """The class of each row."""
    if isinstance(part, Labelled):
        return list(part.labels)
    assert isinstance(part, Pairs)
    return [str(int(value)) for value in part.values]

"""What the page "Pairs" keeps: a batch of sentences and the similarities of its pairs.

What a loss makes of them is worked out anew at each move of a slider.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cached.keeping import kept
from labkit.corpora import Corpus

if TYPE_CHECKING:
    from labkit.method import Method
    from labkit.sentpwnet.view import SentenceBatch


@kept(show_spinner="Making a batch …")
def batch(_corpus: Corpus, key: str, size: int, per_class: int, seed: int, split: str) -> SentenceBatch:
    """A batch of one split."""
    from labkit.sentpwnet.view import sentence_batch

    return sentence_batch(_corpus, size=size, per_class=per_class, seed=seed, split=split)


@kept(show_spinner="Comparing the sentences …")
def similarities(_method: Method, method: str, _batch: SentenceBatch, batch: tuple[Any, ...]) -> np.ndarray:
    """The cosines of a batch, (m, m)."""
    from labkit.sentpwnet.view import cosines

    return cosines(_method.encode(list(_batch.texts)))

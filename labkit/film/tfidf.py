"""Sentences to sparse rows: how often a word stands in them, times how rare it is. In: texts. Out: CSR (n, D), unit
rows.

    x_w = (1 + log count) · idf_w / length        idf_w = log((1 + n) / (1 + df_w)) + 1

scikit-learn counts; what a word is, is said here: what `labkit.text` calls one, cut at hyphens and apostrophes. Texts
from different hands differ there ("what's", "what 's") in nothing that matters, and FILM would learn the hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from labkit import text

_CUT = str.maketrans("'’-", "   ")


def terms(sentence: str, *, pairs: bool = False) -> list[str]:
    """The words of a sentence; with `pairs` also two that stand together.

    >>> terms("What's up?", pairs=True)
    ['what', 's', 'up', 'what s', 's up']
    """
    words = " ".join(text.words(sentence)).translate(_CUT).split()
    return words + [f"{a} {b}" for a, b in pairwise(words)] if pairs else words


def fitted_vectorizer(sentences: Sequence[str], *, least: int = 1, pairs: bool = False) -> TfidfVectorizer:
    """Knows the words of at least `least` of the sentences."""
    vectorizer = _empty(pairs, min_df=least)
    try:
        return vectorizer.fit(sentences)
    except ValueError as error:  # scikit-learn says in two ways that nothing is left to count
        raise ValueError(
            f"no word occurs in {least} of the {len(sentences)} training sentences, expected at least one; lower "
            "`least`, or look whether the texts hold words at all"
        ) from error


def restored_vectorizer(words: Sequence[str], idf: np.ndarray, *, pairs: bool = False) -> TfidfVectorizer:
    """The vectorizer with these words in order of its columns, and their idf (D,)."""
    columns = {word: column for column, word in enumerate(words)}
    if len(columns) != len(words) or idf.shape != (len(words),):
        raise ValueError(
            f"words are {len(words)}, {len(columns)} of them different, with idf of shape {idf.shape}; expected each "
            "word once, with one number"
        )
    vectorizer = _empty(pairs, vocabulary=columns)
    vectorizer.idf_ = np.asarray(idf, dtype=np.float64)
    return vectorizer


def _empty(pairs: bool, **known: Any) -> TfidfVectorizer:
    return TfidfVectorizer(analyzer=partial(terms, pairs=pairs), sublinear_tf=True, dtype=np.float64, **known)

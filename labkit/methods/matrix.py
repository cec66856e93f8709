"""Vectors that the user brings along, as a base for other methods: a sentence is looked up, not encoded.

In: a file of `labkit.embedding_files`; where it names no sentences, its rows are those of the corpus' distinct
sentences, all splits, in order of first appearance. Out: the rows as they are, float32 (n, d); the empty text is a row
of zeros. Not in the table of methods: it learns nothing and knows no other sentence.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from labkit.corpora.records import Corpus
from labkit.embedding_files.reading import Embedded, read_embeddings
from labkit.methods.contract import History, Keeper, Method, Settings, setting
from labkit.progress import Progress

LARGEST = 2**29  # numbers of a matrix that was sparse and is filled up: 2 GB


@dataclass(frozen=True, kw_only=True)
class MatrixSettings(Settings):
    """Which file."""

    file: str = setting("", "the matrix: .npz, .npy or .parquet")


class Matrix(Method):
    """Sentences and their given rows."""

    name = "matrix"
    Settings = MatrixSettings

    sentences: list[str]
    rows: np.ndarray  # float32 (n, d)
    read: Callable[[str], Embedded] = staticmethod(read_embeddings)  # how the file is read

    def _fit(self, corpus: Corpus, seed: int, progress: Progress, keeper: Keeper | None) -> History:
        progress(0, None, "reading vectors")
        sentences, rows = self.read(self.settings.file)
        if sentences is None:
            sentences = corpus.sentences()
            if len(sentences) != rows.shape[0]:
                raise ValueError(
                    f"file {self.settings.file!r} has {rows.shape[0]} rows and names no sentences, expected "
                    f"{len(sentences)}, one for each distinct sentence of corpus {corpus.name!r}; add the sentences to "
                    "it"
                )
        self._take(sentences, filled(rows, f"file {self.settings.file!r}"))
        return History()

    def _take(self, sentences: list[str], rows: np.ndarray) -> None:
        self.sentences, self.rows = sentences, rows
        self._place = {text: row for row, text in enumerate(sentences)}

    def _encode(self, sentences: list[str], batch_size: int, progress: Progress) -> np.ndarray:
        missing = [text for text in sentences if text and text not in self._place]
        if missing:
            raise ValueError(
                f"{len(missing)} of {len(sentences)} sentences have no row in the matrix, the first is {missing[0]!r}; "
                "add them to its file, or take a base that can encode new sentences"
            )
        found = self.rows[[self._place.get(text, 0) for text in sentences]]
        found[[text not in self._place for text in sentences]] = 0  # the empty text
        return found

    def _state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        return {"rows": self.rows}, {"sentences": self.sentences}

    def _restore(self, arrays: dict[str, np.ndarray], words: dict[str, Any]) -> None:
        self._take(words["sentences"], arrays["rows"])
        if self.rows.ndim != 2 or len(self.rows) != len(self.sentences):
            raise ValueError(
                f"rows has shape {self.rows.shape}, expected a row for each of {len(self.sentences)} sentences"
            )


def filled(rows: Any, whose: str) -> np.ndarray:
    """Sparse rows as a dense matrix, as long as that has a sensible size; dense ones as they are."""
    if not sparse.issparse(rows):
        return rows
    if rows.shape[0] * rows.shape[1] > LARGEST:
        raise ValueError(
            f"{whose} has sparse rows of {rows.shape[1]:,} columns, too many to fill up for {rows.shape[0]:,} "
            f"sentences, expected at most {LARGEST:,} numbers; take base=lsa, which keeps the directions that matter"
        )
    return rows.toarray()

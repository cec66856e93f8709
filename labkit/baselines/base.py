"""The base of a method that transforms vectors: another method, a finished run, or the user's own matrix.

    base_of("lsa", corpus)              the method, fitted to the corpus
    base_of("sbert:MODEL", corpus)      the sentence-transformers model
    base_of("runs/one", corpus)         the run, unchanged
    base_of("vectors.npz", corpus)      the rows of the file

`packed` and `unpacked` store the base in the run folder of the method on top, so that a run is self-contained.

A `Matrix` looks up sentences in a file of `labkit.embedding_files`. If the file contains no sentences, its rows belong
to the distinct sentences in all splits of the corpus, in order of first appearance. The empty text is a row of zeros.
`Matrix` is not in the table of methods, because it learns nothing and cannot encode other sentences.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from labkit.corpora.records import Corpus
from labkit.embedding_files import ENDINGS, Embedded, read_embeddings
from labkit.method import BASE, History, Keeper, Method, Settings, finite, require_numbers, setting
from labkit.methods import METHODS, load_run
from labkit.progress import Progress
from labkit.runs import settings_of

# --- matrix ------------------------------------------------------------------------------------------------------

LARGEST = 2**29  # numbers in a dense copy of a sparse matrix: 2 GB


@dataclass(frozen=True, kw_only=True)
class MatrixSettings(Settings):
    """The setting of a matrix: its file."""

    file: str = setting("", "the matrix: .npz, .npy or .parquet")


class Matrix(Method):
    """Vectors provided by the user, one row per sentence."""

    name = "matrix"
    Settings = MatrixSettings

    sentences: list[str]
    rows: np.ndarray  # float32 (n, d)
    read: Callable[[str], Embedded] = staticmethod(read_embeddings)  # the function that reads the file

    def _fit(self, corpus: Corpus, seed: int, progress: Progress, keeper: Keeper | None) -> History:
        progress(0, None, "reading vectors")
        sentences, rows = self.read(self.settings.file)
        if sentences is None:
            sentences = corpus.sentences()
            if len(sentences) != rows.shape[0]:
                raise ValueError(
                    f"file {self.settings.file!r} has {rows.shape[0]} rows and no sentences, expected "
                    f"{len(sentences)}, one for each distinct sentence of corpus {corpus.name!r}. Add the sentences "
                    "to the file"
                )
        self._take(sentences, dense_rows(rows, f"file {self.settings.file!r}"))
        return History()

    def _take(self, sentences: list[str], rows: np.ndarray) -> None:
        self.sentences, self.rows = sentences, rows
        self._place = {text: row for row, text in enumerate(sentences)}

    def _encode(self, sentences: list[str], batch_size: int, progress: Progress) -> np.ndarray:
        missing = [text for text in sentences if text and text not in self._place]
        if missing:
            raise ValueError(
                f"{len(missing)} of {len(sentences)} sentences have no row in the matrix; the first is {missing[0]!r}. "
                "Add them to its file, or use a base that can encode new sentences"
            )
        rows = self.rows[[self._place.get(text, 0) for text in sentences]]
        rows[[text not in self._place for text in sentences]] = 0  # the empty text
        return rows

    def _state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        return {"rows": self.rows}, {"sentences": self.sentences}

    def _restore(self, arrays: dict[str, np.ndarray], words: dict[str, Any]) -> None:
        require_shapes(arrays, rows=(len(words["sentences"]), None))
        self._take(words["sentences"], arrays["rows"])


def require_shapes(arrays: dict[str, np.ndarray], **expected: tuple[int | None, ...]) -> None:
    """Raise ValueError if an array of a run does not have its shape; None matches any size."""
    for name, shape in expected.items():
        found = arrays[name].shape
        if len(found) != len(shape) or any(n not in (None, m) for n, m in zip(shape, found, strict=True)):
            raise ValueError(f"model.safetensors: {name} has shape {found}, expected {shape}")


def dense_rows(rows: Any, whose: str) -> np.ndarray:
    """Convert sparse rows to a dense matrix, up to a sensible size; return dense rows unchanged."""
    if not sparse.issparse(rows):
        return rows
    if rows.shape[0] * rows.shape[1] > LARGEST:
        raise ValueError(
            f"{whose} has sparse rows of {rows.shape[1]:,} columns; dense rows for {rows.shape[0]:,} sentences would "
            f"exceed {LARGEST:,} numbers. Use base=lsa, which reduces them"
        )
    return rows.toarray()


# --- base --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class BasedSettings(Settings):
    """Settings of a method on top of another method's vectors."""

    base: str = setting(
        "mean-vectors", "source of the vectors: a method, sbert:MODEL, a run folder, or .npz, .npy, .parquet"
    )


def base_of(name: str, corpus: Corpus, *, seed: int, progress: Progress) -> Method:
    """The base with this name, ready to encode."""
    kind, _, model = name.partition(":")
    if name in METHODS:
        base = METHODS[name]()
    elif kind == "sbert" and model:
        base = METHODS[kind](model=model)
    elif Path(name).is_dir():
        return load_run(name)
    elif Path(name).suffix.lower() in ENDINGS:
        base = Matrix(MatrixSettings(file=name))
    else:
        raise ValueError(
            f"setting base is {name!r}, expected a method ({', '.join(METHODS)}), sbert:MODEL, the folder of a run, "
            f"or a file ({', '.join(ENDINGS)}); check the name"
        )
    base.fit(corpus, seed=seed, progress=progress)
    return base


def base_rows(base: Method, sentences: list[str], batch_size: int, progress: Progress) -> np.ndarray:
    """The base's vectors as a dense matrix of finite numbers."""
    whose = f"base {base.name!r}"
    return dense_rows(finite(base._encode(sentences, batch_size, progress), sentences, whose), whose)


def packed(base: Method) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The base's state under prefixed names, stored with the method on top."""
    arrays, words = base._state()
    known = {"method": base.name, "settings": base.settings.values(), "words": words}
    origin = list(base._origin or ())
    return {BASE + name: array for name, array in arrays.items()}, {"base": known | {"origin": origin}}


def unpacked(arrays: dict[str, np.ndarray], words: dict[str, Any]) -> Method:
    """Restore the base from such a state; the base raises ValueError if the state does not fit."""
    known = words["base"]
    kind = Matrix if known["method"] == Matrix.name else METHODS[known["method"]]
    base = kind(settings_of(kind.Settings, known["settings"]))
    own = {name.removeprefix(BASE): array for name, array in arrays.items() if name.startswith(BASE)}
    require_numbers(own, kind.measured_later)
    base._restore(own, known["words"])
    if origin := known.get("origin"):
        base._origin = tuple(origin)
    return base

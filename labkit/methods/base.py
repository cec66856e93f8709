"""What a method that works on vectors starts from: another method, a finished run, or the user's own matrix.

    base_of("lsa", corpus)              that method, fitted on the corpus
    base_of("sbert:MODEL", corpus)      the sentence-transformers model of that name or folder
    base_of("runs/one", corpus)         that run, as it is
    base_of("vectors.npz", corpus)      the rows of that file

`packed` and `unpacked` put the base into the run folder of the method that stands on it, and take it out again, so that
a run stands on its own. In: sentences. Out of `base_rows`: float32 (n, d), dense.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from labkit.corpora.records import Corpus
from labkit.embedding_files import ENDINGS
from labkit.methods.contract import BASE, Method, Settings, finite, require_numbers, setting
from labkit.methods.matrix import Matrix, MatrixSettings, filled
from labkit.progress import Progress


@dataclass(frozen=True, kw_only=True)
class BasedSettings(Settings):
    """Whose vectors are taken."""

    base: str = setting(
        "mean-vectors", "whose vectors: a method, sbert:MODEL, the folder of a run, or .npz, .npy, .parquet"
    )


def base_of(name: str, corpus: Corpus, *, seed: int, progress: Progress) -> Method:
    """The base of that name, ready to encode."""
    from labkit.methods import METHODS, load  # the table knows the methods that stand on a base

    kind, _, model = name.partition(":")
    if name in METHODS:
        base = METHODS[name]()
    elif kind == "sbert" and model:
        base = METHODS[kind](model=model)
    elif Path(name).is_dir():
        return load(name)
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
    return filled(finite(base._encode(sentences, batch_size, progress), sentences, whose), whose)


def packed(base: Method) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The base's state under names of its own, for the state of the method that stands on it."""
    arrays, words = base._state()
    known = {"method": base.name, "settings": base.settings.values(), "words": words}
    origin = list(base._origin or ())
    return {BASE + name: array for name, array in arrays.items()}, {"base": known | {"origin": origin}}


def unpacked(arrays: dict[str, np.ndarray], words: dict[str, Any]) -> Method:
    """And back; what does not fit is the base's own ValueError."""
    from labkit.methods import METHODS

    known = words["base"]
    kind = Matrix if known["method"] == Matrix.name else METHODS[known["method"]].method
    base = kind(kind.Settings.of(known["settings"]))
    own = {name.removeprefix(BASE): array for name, array in arrays.items() if name.startswith(BASE)}
    require_numbers(own, kind.measured_later)
    base._restore(own, known["words"])
    if origin := known.get("origin"):
        base._origin = tuple(origin)
    return base

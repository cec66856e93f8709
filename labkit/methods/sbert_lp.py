"""SBERT-LP (Min et al. 2021): the vectors of a base, embedded anew so that each sentence stays by its neighbours.

    d_i ≈ Σ_j w_ij d_j over the k nearest, Σ_j w_ij = 1        min Σ_i |y_i - Σ_j w_ij y_j|²,  YᵀY/m = I,  Σ_i y_i = 0

The mathematics is in `labkit.locally_linear`; here it meets corpora, bases and run folders. It learns from no label,
and it is transductive: `fit_encode` embeds all sentences that are to be compared together, as the paper does. One that
comes later (the paper has none) is put where its neighbours among the embedded ones put it, by `encode`. Neighbours are
sought among vectors of length 1: nearest by Euclidean distance is then nearest by cosine.
In: sentences. Out: float32 (n, p); a sentence of which the base knows nothing is a row of zeros.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from labkit.corpora.records import Corpus
from labkit.corpora.sentences import train_sentences
from labkit.evaluation.inputs import seeded
from labkit.locally_linear import LocalityPreserving
from labkit.methods.base import BasedSettings, base_of, base_rows, packed, unpacked
from labkit.methods.contract import History, Keeper, Method, setting, texts, unit
from labkit.methods.neighbourhoods import Embedded, Neighbourhood
from labkit.progress import Progress, silent
from labkit.training.settings import cuda_or_cpu

_BATCH = 32


@dataclass(frozen=True, kw_only=True)
class SbertLpSettings(BasedSettings):
    """Whose vectors, how many neighbours, how many dimensions."""

    neighbours: int = setting(15, "nearest sentences that each is reconstructed from (k)", least=1, most=10_000)
    dimension: int = setting(100, "numbers that are left of a sentence (p)", least=1, most=10_000)
    reg: float = setting(0.001, "what keeps the weights small where neighbours say the same", above=0)
    embedded: str = setting("train", "which sentences of the corpus are embedded together", choices=("train", "all"))
    device: str = setting(
        "auto", "where neighbours, weights and eigenvectors are computed", choices=("auto", "cpu", "cuda")
    )


class SbertLp(Method):
    """Locality preserving, over any base."""

    name = "sbert-lp"
    Settings = SbertLpSettings

    base: Method
    space: Embedded

    def _fit(self, corpus: Corpus, seed: int, progress: Progress, keeper: Keeper | None) -> History:
        settings: SbertLpSettings = self.settings
        self.base = base_of(settings.base, corpus, seed=seed, progress=progress)
        if settings.embedded == "all":
            corpus = replace(corpus, splits=("train",) * len(corpus))
        self.space = self._together(train_sentences(corpus), seed, progress)
        return History()

    @classmethod
    def over(
        cls,
        base: Method,
        sentences: list[str],
        settings: SbertLpSettings,
        *,
        seed: int = 0,
        progress: Progress = silent,
    ) -> SbertLp:
        """A method over a base that is fitted already, with these sentences embedded together: ready to encode.

        Many neighbourhoods and dimensions can so be tried without fitting the base anew; of the settings, `base` and
        `embedded` say nothing here. Another SBERT-LP is taken for its own base.
        """
        corpus, fingerprint, _ = base._known()
        method = cls(settings)
        method._origin = (corpus, fingerprint, seeded(seed))
        method.base = base.base if isinstance(base, SbertLp) else base
        method.space = method._together(list(dict.fromkeys(texts(sentences))), seed, progress)
        return method

    def fit_encode(self, sentences: list[str], *, seed: int = 0, progress: Progress = silent) -> np.ndarray:
        """All these sentences embedded together, float32 (n, p): what the paper's tables compare.

        Of what was fitted only the base has a part in it, and nothing of it is kept.
        """
        self._known()
        sentences = texts(sentences)
        return self._together(list(dict.fromkeys(sentences)), seeded(seed), progress).of(sentences)[0]

    def neighbourhood(self, sentence: str) -> Neighbourhood:
        """Who reconstructs a sentence, embedded or new, with what weight, and what is left over."""
        self._known()
        return self.space.neighbourhood(sentence, lambda: self._rows([sentence], _BATCH, silent))

    def _together(self, sentences: list[str], seed: int, progress: Progress) -> Embedded:
        """These distinct sentences embedded; those of which the base knows nothing are left out."""
        settings: SbertLpSettings = self.settings
        rows = self._rows(sentences, _BATCH, progress) if sentences else np.zeros((0, 1), np.float32)
        known = np.flatnonzero(rows.any(axis=1))
        if len(known) < 2:
            raise ValueError(
                f"sentences are {len(sentences)}, of which base {self.base.name!r} knows {len(known)}, expected at "
                "least two that can be compared; give more sentences or take another base"
            )
        model = LocalityPreserving(
            n_neighbors=settings.neighbours,
            n_components=settings.dimension,
            reg=settings.reg,
            device=cuda_or_cpu(settings.device),
            random_state=seed,
        )
        model.fit(rows[known], progress=progress)
        return Embedded.of_model([sentences[row] for row in known], rows[known], model)

    def _rows(self, sentences: list[str], batch_size: int, progress: Progress) -> np.ndarray:
        """The base's vectors at length 1, zeros stay zeros."""
        return unit(base_rows(self.base, sentences, batch_size, progress))

    def _encode(self, sentences: list[str], batch_size: int, progress: Progress) -> np.ndarray:
        found, known = self.space.of(sentences)
        new = np.flatnonzero(~known)
        if len(new):
            rows = self._rows([sentences[row] for row in new], batch_size, progress)
            found[new] = self.space.placed(rows)
        return found

    def _state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        arrays, words = packed(self.base)
        return {**arrays, **self.space.arrays()}, {**words, "sentences": self.space.sentences}

    def _restore(self, arrays: dict[str, np.ndarray], words: dict[str, Any]) -> None:
        self.base = unpacked(arrays, words)
        self.space = Embedded.restored(words["sentences"], arrays, self.settings.reg)

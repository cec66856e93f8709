"""A frozen sentence-transformers model, used without further training.

`labkit.pretrained` opens it. The run folder stores the model's name and the sha256 of its weights, but not the weights.
In: sentences, truncated to the model's maximum length. Out: float32 (n, d).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from labkit.corpora.records import Corpus
from labkit.device import device_of
from labkit.explanation import Parts
from labkit.method import History, Keeper, Method, Settings, finite, setting
from labkit.pretrained import PACKAGED, model_source, opened_model, require_same, sum_of_weights
from labkit.progress import Progress
from labkit.text import without_halves
from labkit.training.transformer import parts_of_model, ways_of_model

PROBE = "A sentence to know the model by."
_PART = 32  # batches of similar length between two progress updates
_SAME = 1e-3  # largest difference between a unit vector's entries across devices and versions


@dataclass(frozen=True, kw_only=True)
class SbertSettings(Settings):
    """Settings of a pretrained model: its name or folder, and its device."""

    model: str = setting(PACKAGED, "a sentence-transformers model: its name on the Hub or its folder")
    device: str = setting("auto", "device for training and encoding", choices=("auto", "cpu", "cuda", "mps"))


class Sbert(Method):
    """A pretrained sentence-transformers model, used as a base and for comparison.

    >>> from labkit import Sbert, load
    >>> method = Sbert(model="all-MiniLM-L6-v2").fit(load("questions"))  # doctest: +SKIP
    >>> method.encode("How do I keep a cat?").shape  # doctest: +SKIP
    (384,)
    """

    name = "sbert"
    Settings = SbertSettings

    model: Any
    weights: str
    probe: np.ndarray  # float32 (d,)

    @classmethod
    def around(cls, model: Any) -> Self:
        """Wrap an open model; the method encodes and explains, but cannot be saved as a run."""
        method = cls(model="already open")
        method.model, method.probe = model, _probed(model)
        method._origin = ("none", "", 0)
        return method

    def _fit(self, corpus: Corpus, seed: int, progress: Progress, keeper: Keeper | None) -> History:
        progress(0, None, "opening the model")
        self._open()
        return History()

    def _open(self) -> None:
        self.model = opened_model(model_source(self.settings.model), str(device_of(self.settings.device, insist=False)))
        self.weights = sum_of_weights(self.model)
        self.probe = _probed(self.model)
        finite(self.probe[None], [PROBE], f"model {self.settings.model!r}")

    def _encode(self, sentences: list[str], batch_size: int, progress: Progress) -> np.ndarray:
        order = sorted(range(len(sentences)), key=lambda row: len(sentences[row]), reverse=True)  # slowest first
        rows = np.empty((len(sentences), len(self.probe)), dtype=np.float32)
        part = _PART * batch_size
        for start in range(0, len(order), part):
            places = order[start : start + part]
            texts = [without_halves(sentences[place]) for place in places]
            rows[places] = self.model.encode(texts, batch_size=batch_size, show_progress_bar=False)
            progress(start + len(places), len(order), "encoding")
        return rows

    @property
    def ways(self) -> tuple[str, ...]:
        return ways_of_model(self.model)

    def _parts(self, sentence: str, way: str, steps: int) -> Parts:
        return parts_of_model(self.model, sentence, steps)

    def _state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        return {"probe": self.probe}, {"weights": self.weights}

    def _restore(self, arrays: dict[str, np.ndarray], words: dict[str, Any]) -> None:
        self._open()
        require_same(self.settings.model, self.weights, words["weights"])
        known = arrays["probe"]
        if known.shape != self.probe.shape or not np.allclose(known, self.probe, atol=_SAME * np.linalg.norm(known)):
            raise ValueError(
                f"model {self.settings.model!r} gives a sentence a different vector than when the run was "
                "made, because its tokenizer or settings have changed"
            )


def _probed(model: Any) -> np.ndarray:
    """The vector (d,) that identifies a model."""
    return np.asarray(model.encode([PROBE], show_progress_bar=False)[0], dtype=np.float32)

"""FILM's deep variant: the same triplets and hinge loss, with a convolutional network instead of the map L.

    x = base(sentence), as a square image -> 3 x (convolution, ReLU, 2 x 2 max-pooling) -> convolution -> φ(x)
    loss = mean over triplets of [sim(φ_i, φ_k) + m - sim(φ_i, φ_j)]₊                                  (eq. 29)

Section 3.4 of the paper. The base is frozen: any method, a run or a matrix (BERT in the paper). Its vector fills an
image row by row although its entries have no order; this follows the paper and is not recommended. In: sentences. Out:
float32 (n, size); a row of zeros if the base knows no word.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from labkit.baselines.base import BasedSettings, base_of, base_rows, dense_rows, packed, unpacked
from labkit.corpora.records import Corpus
from labkit.explanation import LEFT_OUT, Parts
from labkit.film.triplets import FilmSource, Recipe, source_of
from labkit.method import Method, setting
from labkit.progress import Progress
from labkit.settings import EPOCHS, Conditions
from labkit.training import Training
from labkit.training.encoders import STEPS, integrated
from labkit.training.trained import Trained, arrays_of

SMALLEST = 8  # pixels per side, so that something is left after three poolings
_NETWORK = "network."


@dataclass(frozen=True, kw_only=True)
class FilmDeepSettings(Training, BasedSettings):
    """Settings of the base, the network and the triplets."""

    base: str = setting("sif", "source of the vectors: a method, a run folder, or a file of vectors")
    batch: int = setting(256, "triplets per step", minimum=2, maximum=100_000)
    filters: int = setting(
        32, "filters in each of the first three convolutions", minimum=1, maximum=10_000, tune=(16, 32, 64)
    )
    size: int = setting(100, "length of the sentence vectors", minimum=2, maximum=10_000)
    margin: float = setting(0.3, "how much closer the positive must be, in cosines", above=0, maximum=2, tune=(0.05, 1))
    positives: int = setting(2, "maximum number of positives per anchor", minimum=1)
    apart: int = setting(2, "maximum number of labelled negatives", minimum=0)
    random: int = setting(5, "number of random negatives", minimum=0)

    def conditions(self, shape: str | None = None, has_dev: bool | None = None) -> Conditions:
        """Sampling settings apply only if the corpus does not list triplets."""
        trained, drawn = self.epochs > 0, shape in (None, "Pairs", "Labelled", "Groups")
        return super().conditions(shape, has_dev) | {
            "margin": (trained, EPOCHS),
            "positives": (trained and drawn, "on pairs, classes or groups"),
            "apart": (trained and shape in (None, "Pairs"), "on pairs"),
            "random": (trained and drawn, "on pairs, classes or groups"),
        }


class Images(nn.Module):
    """The network φ, from vectors (n, d) to vectors (n, size)."""

    def __init__(self, dimension: int, filters: int, size: int) -> None:
        super().__init__()
        self.side = max(SMALLEST, math.isqrt(dimension - 1) + 1)
        self.convolutions = nn.ModuleList(nn.Conv2d(1 if i == 0 else filters, filters, 3, padding=1) for i in range(3))
        self.last = nn.Conv2d(filters, size, self.side // 8)

    def forward(self, x: Tensor) -> Tensor:
        image = F.pad(x, (0, self.side**2 - x.shape[1])).view(-1, 1, self.side, self.side)
        for convolution in self.convolutions:
            image = F.max_pool2d(convolution(image).relu(), 2)
        return self.last(image).flatten(1)


class FilmDeep(Trained):
    """FILM with a small network over frozen vectors in place of the linear map.

    >>> from labkit import FilmDeep, load
    >>> method = FilmDeep(base="lsa", epochs=2).fit(load("questions").take(range(200)))
    >>> len(method.history)
    2
    """

    name = "film-deep"
    Settings = FilmDeepSettings

    base: Method
    network: Images
    dimension: int

    def _task(self, corpus: Corpus, seed: int, progress: Progress) -> HingeTask:
        self.base = base_of(self.settings.base, corpus, seed=seed, progress=progress)
        source = source_of(corpus.part("train"))
        rows = base_rows(self.base, source.texts, 256, progress)
        self.dimension = rows.shape[1]
        self.network = self._started(seed, self._images)
        return HingeTask(self, torch.from_numpy(rows), source, seed)

    def _images(self) -> Images:
        return Images(self.dimension, self.settings.filters, self.settings.size)

    def _encode(self, sentences: list[str], batch_size: int, progress: Progress) -> np.ndarray:
        rows = base_rows(self.base, sentences, batch_size, progress)
        self.network.eval()
        device = self.network.last.weight.device
        with torch.inference_mode():
            parts = [self.network(part.to(device)).cpu() for part in torch.from_numpy(rows).split(256)]
        return np.where(rows.any(axis=1, keepdims=True), torch.cat(parts).numpy(), np.float32(0))

    @property
    def ways(self) -> tuple[str, ...]:
        """The explainers: the integrated way if the base has an exact one, and leaving words out."""
        return ("integrated", LEFT_OUT) if self.fitted and "exact" in self.base.ways else (LEFT_OUT,)

    def _parts(self, sentence: str, way: str, steps: int) -> Parts:
        below = self.base._parts(sentence, "exact", 0)
        self.network.eval()
        device = self.network.last.weight.device
        rows = dense_rows(below.rows, "a sentence")
        moves, start = (torch.from_numpy(each).float().to(device) for each in (rows, below.rest[None]))
        found = integrated(self.network, start, moves, steps or STEPS)
        parts, rest, vector = (each.double().cpu().numpy() for each in found)
        return Parts(below.names, parts, rest, vector * below.vector.any(), (), below.unknown)

    def _state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        arrays, words = packed(self.base)
        network = {_NETWORK + name: array for name, array in arrays_of(self.network).items()}
        return {**arrays, **network}, {**words, "dimension": self.dimension}

    def _restore(self, arrays: dict[str, np.ndarray], words: dict[str, Any]) -> None:
        self.base = unpacked(arrays, words)
        self.dimension = words["dimension"]
        own = {name.removeprefix(_NETWORK): array for name, array in arrays.items() if name.startswith(_NETWORK)}
        self.network = self._filled(self._images, own)


class HingeTask:
    """Batches of triplets, redrawn in each epoch, and their mean hinge loss."""

    def __init__(self, method: FilmDeep, rows: Tensor, source: FilmSource, seed: int) -> None:
        self.module, self._settings, self._source, self._seed = method.network, method.settings, source, seed
        self._rows = rows.to(self.module.last.weight.device)

    def batches(self, epoch: int) -> Sequence[np.ndarray]:
        settings = self._settings
        recipe = Recipe(settings.positives, settings.apart, 0, settings.random)
        triplets = self._source.triplets(recipe, seed=self._seed * 100_003 + epoch)
        triplets = np.random.default_rng((self._seed, epoch)).permutation(triplets)
        return np.array_split(triplets, max(1, -(-len(triplets) // settings.batch)))

    def outputs(self, batch: np.ndarray, rows: slice = slice(None)) -> Tensor:
        """The hinge of each triplet, (t,)."""
        triplets = batch[rows]
        embedded = F.normalize(self.module(self._rows[torch.from_numpy(triplets.ravel())]), dim=1)
        i, j, k = embedded.view(len(triplets), 3, -1).unbind(1)
        return cosine_hinge((i * j).sum(1), (i * k).sum(1), self._settings.margin)

    def loss(self, missed: Tensor, batch: np.ndarray) -> tuple[Tensor, Callable[[], dict[str, Tensor]]]:
        return missed.mean(), lambda: {"missed": (missed.detach() > 0).double().mean()}


def cosine_hinge(near: Tensor, far: Tensor, margin: float) -> Tensor:
    """The hinge `[sim(i, k) + m - sim(i, j)]₊` of each triplet, (t,)."""
    return (far + margin - near).clamp(min=0)

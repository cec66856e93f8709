"""PV-DBOW: a vector for each sentence that distinguishes its words from noise words (Le and Mikolov 2014).

    f(d) = mean over the sentence's words w of [softplus(-d·u_w)] + k · Σ_v p_v softplus(d·u_v) + ρ/2 |d|²

Training draws k noise words for each word from p (frequencies to the power 3/4) and updates d and u. The vector of a
new sentence is inferred with u fixed. f is then convex in d and uses the expectation over the noise, so the result
is unique. In: sentences. Out: float32 (n, size), zeros for a sentence without a known word.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from scipy.special import expit
from torch import Tensor, nn

from labkit.baselines.base import require_shapes
from labkit.corpora.records import Corpus
from labkit.corpora.relations import train_sentences
from labkit.method import setting
from labkit.progress import Progress
from labkit.text import Vocabulary, buckets, pad, words
from labkit.training import Training
from labkit.training.trained import Trained

POWER = 0.75  # power of a word's frequency among the noise, as in word2vec
NEAR = 1e-2  # inference stops when its distance from the minimum is this share of the vector's length
STEPS = 200  # maximum; about twenty are usual, and a hundred for extreme settings


@dataclass(frozen=True, kw_only=True)
class PvDbowSettings(Training):
    """Settings of PV-DBOW: the sizes of the model and its noise words."""

    epochs: int = setting(20, "passes through the training data", minimum=0, maximum=10_000)
    batch: int = setting(256, "sentences per step", minimum=2, maximum=100_000)
    learning_rate: float = setting(0.02, "step size of Adam", above=0, maximum=10, tune=(0.005, 0.05))
    size: int = setting(100, "length of the sentence vectors", minimum=2, maximum=10_000, tune=(50, 300))
    noise: int = setting(5, "number k of noise words per word", minimum=1, maximum=1_000, tune=(2, 20))
    penalty: float = setting(
        0.2, "strength ρ of the regularisation of vector lengths", above=0, maximum=100, tune=(0.02, 2)
    )
    min_count: int = setting(2, "minimum count of a word in the training data", minimum=1)


class PvDbow(Trained):
    """Word vectors u, from which a sentence's vector is inferred.

    >>> from labkit import PvDbow, load
    >>> method = PvDbow(epochs=2).fit(load("questions").take(range(60)))
    >>> method.encode(["How do I keep a cat?"]).shape
    (1, 100)
    """

    name = "pv-dbow"
    Settings = PvDbowSettings
    version = 2  # inference now runs to the minimum

    vocabulary: Vocabulary
    shares: np.ndarray  # p, float64 (V,): 0 for padding and the unknown word
    words: nn.Embedding  # u, float32 (V, size)

    @property
    def u(self) -> np.ndarray:
        """The word vectors, float32 (V, size)."""
        return self.words.weight.detach().cpu().numpy()

    def _task(self, corpus: Corpus, seed: int, progress: Progress) -> WordsTask:
        tokenised = [words(text) for text in train_sentences(corpus)]
        self.vocabulary = Vocabulary.of(tokenised, min_count=self.settings.min_count)
        rows = [known for text in tokenised if (known := self._known_words(text))]
        if not rows:
            raise ValueError(
                f"corpus {corpus.name!r} has no word that occurs at least {self.settings.min_count} times in training; "
                "lower min_count or add sentences"
            )
        self.shares = noise_shares(rows, len(self.vocabulary))
        network = self._started(seed, lambda: Paragraphs(len(rows), len(self.vocabulary), self.settings.size))
        self.words = network.words
        return WordsTask(network, rows, self, seed)

    def _dev(self, corpus: Corpus, task: WordsTask) -> None:
        return None  # without labels no score can select an epoch

    def _known_words(self, tokenised: Sequence[str]) -> list[int]:
        return [number for number in self.vocabulary.encode(tokenised) if number > 1]

    def _encode(self, sentences: list[str], batch_size: int, progress: Progress) -> np.ndarray:
        rows = [self._known_words(words(text)) for text in sentences]
        vectors = np.zeros((len(rows), self.u.shape[1]), dtype=np.float32)
        known = [row for row, numbers in enumerate(rows) if numbers]
        descent = Inference(self.u, self.shares, self.settings.noise, self.settings.penalty)
        order = sorted(known, key=lambda row: len(rows[row]))
        for start in range(0, len(order), batch_size):
            part = order[start : start + batch_size]
            vectors[part] = descent.vectors([rows[row] for row in part])
            progress(min(start + batch_size, len(order)), len(order), "inferring")
        return vectors

    def _state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        return {"u": self.u, "shares": self.shares}, {"words": list(self.vocabulary.words)}

    def _restore(self, arrays: dict[str, np.ndarray], words: dict[str, Any]) -> None:
        self.vocabulary = Vocabulary(tuple(words["words"]))
        size = len(self.vocabulary)
        require_shapes(arrays, u=(size, self.settings.size), shares=(size,))
        self.shares = arrays["shares"]
        self.words = nn.Embedding.from_pretrained(torch.tensor(arrays["u"]))


def noise_shares(rows: Sequence[Sequence[int]], count: int) -> np.ndarray:
    """p for each word number (count,): frequencies to the power 3/4, as shares."""
    powered = np.bincount(np.concatenate([np.asarray(row) for row in rows]), minlength=count) ** POWER
    return powered / powered.sum()


class Inference:
    """Minimise f for sentences with fixed word vectors, by Barzilai-Borwein descent in float64.

        M = (ρ + mean over the words w of |u_w|² / 4) I + k/4 Σ_v p_v u_v u_vᵀ        an upper bound of f's curvature
        d <- d - a M⁻¹ ∇f,   a = s·Ms / s·y        s, y: the last changes of d and of ∇f

    In the basis of the sum's eigenvectors M is diagonal. The curvature of f is at least ρ, so that d is within |∇f| / ρ
    of the minimum.
    """

    def __init__(self, u: np.ndarray, shares: np.ndarray, noise: int, penalty: float) -> None:
        u = u.astype(np.float64)
        self._noise, self._penalty = noise * shares, penalty
        bends, self._axes = np.linalg.eigh((u.T * self._noise) @ u / 4)
        self._u, self._bends = u @ self._axes, bends.clip(min=0)

    def vectors(self, rows: Sequence[Sequence[int]]) -> np.ndarray:
        """The vectors (n, size) of non-empty rows of word numbers."""
        numbers = pad(rows)
        there = np.arange(numbers.shape[1]) < np.array([len(row) for row in rows])[:, None]
        u = self._u[numbers]  # (n, length, size)
        share = there / there.sum(axis=1, keepdims=True)
        most = self._bends + (share * (u**2).sum(axis=2)).sum(axis=1)[:, None] / 4 + self._penalty  # M, (n, size)
        found, left = np.zeros((len(rows), self._u.shape[1])), np.arange(len(rows))
        d, slope, rate = found[left], self._slope(found[left], u, share), np.ones((len(rows), 1))
        for _ in range(STEPS):
            step = -rate * slope / most
            after = self._slope(d + step, u, share)
            d, change, slope = d + step, after - slope, after
            found[left] = d
            on = np.linalg.norm(slope, axis=1) > NEAR * self._penalty * np.linalg.norm(d, axis=1)
            left, d, slope, most, u, share, step, change = (
                each[on] for each in (left, d, slope, most, u, share, step, change)
            )
            if not len(left):
                break
            bent = np.maximum(_dots(step, change), self._penalty * _dots(step, step))  # rounding may make it smaller
            rate = _dots(step, most * step) / bent
        return found @ self._axes.T

    def _slope(self, d: np.ndarray, u: np.ndarray, share: np.ndarray) -> np.ndarray:
        """∇f at d (n, size)."""
        missed = share * expit(-np.einsum("ns,nls->nl", d, u))
        taken = self._noise * expit(d @ self._u.T)
        return taken @ self._u - np.einsum("nl,nls->ns", missed, u) + self._penalty * d


def _dots(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The dot products of rows, (n, 1)."""
    return (one * other).sum(axis=1, keepdims=True)


class Paragraphs(nn.Module):
    """A vector for each training sentence and each word; sentence vectors start near 0."""

    def __init__(self, sentences: int, words: int, size: int) -> None:
        super().__init__()
        self.sentences = nn.Embedding(sentences, size, sparse=True)
        self.words = nn.Embedding(words, size, sparse=True)
        nn.init.normal_(self.sentences.weight, std=0.01)
        nn.init.normal_(self.words.weight, std=size**-0.5)


class WordsTask:
    """Batches of sentences; each word is contrasted with `noise` drawn words."""

    def __init__(self, network: Paragraphs, rows: list[list[int]], method: PvDbow, seed: int) -> None:
        self.module, self._settings, self._seed = network, method.settings, seed
        self._rows, self._shares = rows, torch.from_numpy(method.shares)

    def batches(self, epoch: int) -> list[list[int]]:
        lengths = [len(row) for row in self._rows]
        return list(buckets(lengths, self._settings.batch, seed=self._seed * 100_003 + epoch))

    def outputs(self, batch: list[int], rows: slice = slice(None)) -> Tensor:
        """f of each sentence of the batch, (n,)."""
        k, sentences, device = self._settings.noise, batch[rows], self.module.words.weight.device
        numbers = torch.from_numpy(pad([self._rows[row] for row in sentences]))  # (n, length)
        lengths = torch.tensor([len(self._rows[row]) for row in sentences])
        noise = torch.multinomial(self._shares, numbers.numel() * k, replacement=True).view(*numbers.shape, k)
        d = self.module.sentences(torch.tensor(sentences).to(device))
        drawn = torch.cat([numbers[:, :, None], noise], 2).to(device)  # (n, length, 1 + k)
        near, far = self._products(d, drawn).split([1, k], 2)
        terms = F.softplus(-near[:, :, 0]) + F.softplus(far).sum(2)
        there = (torch.arange(numbers.shape[1]) < lengths[:, None]).to(device)
        mean = (terms * there).sum(1) / lengths.to(device)
        return mean + self._settings.penalty / 2 * (d**2).sum(1)

    def loss(self, outputs: Tensor, batch: list[int]) -> tuple[Tensor, Callable[[], dict[str, Tensor]]]:
        return outputs.mean(), dict

    def _products(self, d: Tensor, drawn: Tensor) -> Tensor:
        """The products d·u of sentence vectors (n, size) and the words drawn for them (n, length, k), (n, length, k).

        Words recur within a batch, so one matrix product with all distinct words is cheaper, unless it would hold more
        numbers than one vector per drawn word.
        """
        each, places = drawn.unique(return_inverse=True)
        if len(each) > drawn[0].numel() * d.shape[1]:
            return torch.einsum("nlks,ns->nlk", self.module.words(drawn), d)
        return (d @ self.module.words(each).T).gather(1, places.flatten(1)).view_as(drawn)

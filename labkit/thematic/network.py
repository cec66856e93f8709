"""The network for thematic triplets: attention over words or over a BiLSTM, word vectors, losses and settings.

LOSSES: (d⁺, d⁻) -> a loss for each triplet, (n,) each; d⁺ is the distance to the positive, d⁻ to the negative

    ratio       2 σ(d⁺ - d⁻)             the paper's; bounded, so it ignores triplets that are very wrong
    softplus    log(1 + exp(d⁺ - d⁻))    pulls hardest at very wrong triplets
    hinge       [1 + d⁺ - d⁻]₊           like softplus, but ignores triplets that are right by a margin of 1

L1 distances between long vectors are large, where the ratio is flat, so both distances are scaled first. The
default settings were chosen on dev of the bundled articles; `PAPER` has the paper's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from labkit.corpora.article_triplets import RULES as ONE_RULE
from labkit.settings import EPOCHS, Conditions, setting
from labkit.training import EncoderTraining
from labkit.training.encoders import ATTENTION, Attending, BiLstm, Encoder, Words
from labkit.vectors import WordVectors

# --- network -----------------------------------------------------------------------------------------------------


class WordAttention(Attending):
    """Attention over the word vectors, then a linear map: `M Σ a_t x_t` with `a = softmax(u · tanh(W x_t + b))`.

    It is initialised to their plain mean (u = 0, M the identity), so training starts from what the word vectors encode.
    """

    def __init__(self, dimension: int, size: int) -> None:
        super().__init__()
        self.key = nn.Linear(dimension, ATTENTION)
        self.query = nn.Linear(ATTENTION, 1, bias=False)
        self.out = nn.Linear(dimension, size)
        nn.init.zeros_(self.query.weight)
        nn.init.eye_(self.out.weight)
        nn.init.zeros_(self.out.bias)

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        return self.out(super().forward(x, lengths))


BODIES = {"attention": WordAttention, "bilstm": BiLstm}


class Paced(Words):
    """Word vectors that move at `pace` times the step size of the other parameters; 0: frozen.

    The table stores v / pace. Adam's steps do not depend on the size of gradients, so v moves `pace` times as far.
    """

    def __init__(self, vectors: WordVectors, pace: float) -> None:
        self.pace = pace or 1.0
        super().__init__(replace(vectors, matrix=vectors.matrix / np.float32(self.pace)), tune=pace > 0)

    def forward(self, numbers: Tensor, lengths: Tensor) -> Tensor:
        return self.pace * super().forward(numbers, lengths)


def network_of(vectors: WordVectors, settings: ThematicSettings) -> Encoder:
    """Make one network, with new weights from torch's generator."""
    body = BODIES[settings.encoder](vectors.dimension, settings.size)
    normalised = settings.distance == "cosine"
    return Encoder(Paced(vectors, settings.pace), body, dropout=settings.dropout, normalised=normalised)


def sif_vectors(vectors: WordVectors, shares: np.ndarray, a: float) -> WordVectors:
    """Word vectors of mean length 1, each multiplied by a / (a + p(w)), so that their plain mean is SIF's.

    `shares` is p(w), the frequency of each word in the training data (words,). Without `a` all words count equally.
    """
    length = np.linalg.norm(vectors.matrix[2:], axis=1).mean()
    weights = a / (a + shares) if a else np.ones(len(shares))
    return replace(vectors, matrix=(vectors.matrix * (weights / max(length, 1e-12))[:, None]).astype(np.float32))


def word_weights(encoder: Encoder, numbers: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """The attention a_t of each word, and its share of the sentence `a_t |h_t| / Σ a |h|`, (n, length) each.

    If frequent words have short vectors, attention alone says little: a short vector adds little at any weight.
    """
    body = encoder.body
    assert isinstance(body, Attending)
    states = body.states(encoder.words(numbers, lengths), lengths)  # (n, length, size)
    weights = body.attention(states, lengths)  # (n, length)
    parts = weights * states.norm(dim=2)  # (n, length)
    return weights, parts / parts.sum(1, keepdim=True).clamp(min=1e-12)


# --- losses ------------------------------------------------------------------------------------------------------

Loss: TypeAlias = Callable[[Tensor, Tensor], Tensor]


def ratio(near: Tensor, far: Tensor) -> Tensor:
    """|p(d⁺)| + |1 - p(d⁻)| with p = softmax(d⁺, d⁻) (section 4). Both parts are σ(d⁺ - d⁻).

    >>> ratio(torch.tensor([1.0, 0.0]), torch.tensor([1.0, 50.0]))
    tensor([1.0000e+00, 3.8575e-22])
    """
    return 2 * torch.sigmoid(near - far)


LOSSES: dict[str, Loss] = {
    "ratio": ratio,
    "softplus": lambda near, far: F.softplus(near - far),
    "hinge": lambda near, far: (1 + near - far).clamp(min=0),
}
DISTANCES: dict[str, Loss] = {
    "l1": lambda a, b: (a - b).abs().sum(-1),  # the paper's
    "cosine": lambda a, b: 1 - (a * b).sum(-1),  # for rows of length 1
}


# --- settings ----------------------------------------------------------------------------------------------------

RULES = (*ONE_RULE, "both")


@dataclass(frozen=True, kw_only=True)
class ThematicSettings(EncoderTraining):
    """Settings of the triplets, the network and the loss."""

    batch: int = setting(256, "triplets per step", minimum=2, maximum=100_000)
    neighbours: int = setting(16, "consecutive triplets kept in one batch; they share sentences", minimum=1)
    rule: str = setting("adjacent", "where negatives come from; both: adjacent and titles", choices=RULES)
    encoder: str = setting("attention", "how words become a sentence vector", choices=tuple(BODIES))
    loss: str = setting("ratio", "loss function of a triplet's two distances", choices=tuple(LOSSES))
    distance: str = setting(
        "cosine", "distance between two sentences; cosine: between vectors of length 1", choices=tuple(DISTANCES)
    )
    scale: float = setting(8.0, "factor on distances before the loss", above=0, tune=(1, 32))
    size: int = setting(300, "length of the sentence vectors of one network", minimum=2, maximum=10_000)
    dropout: float = setting(0.2, "dropout rate on word vectors", minimum=0, maximum=0.95, tune=(0, 0.5))
    vectors: str = setting("ppmi", "initial word vectors: ppmi, random, or a file (GloVe, word2vec, .npz)")
    dimension: int = setting(300, "length of word vectors that are computed here", minimum=1, maximum=10_000)
    pace: float = setting(
        1.0, "step size of the word vectors as a share of learning_rate; 0: frozen", minimum=0, maximum=1
    )
    a: float = setting(
        0.001,
        "multiply word vectors by a / (a + the word's frequency), as in sif; 0: unweighted",
        minimum=0,
        tune=(0.0001, 0.01),
    )
    min_count: int = setting(2, "minimum count of a word in the training data", minimum=1)
    max_length: int = setting(60, "maximum number of words per sentence", minimum=1, maximum=100_000)

    def conditions(self, shape: str | None = None, has_dev: bool | None = None) -> Conditions:
        """Training settings apply only with epochs; a vector file determines the word vectors."""
        names = ("neighbours", "loss", "scale", "dropout")
        trained: Conditions = dict.fromkeys(names, (self.epochs > 0, EPOCHS))
        made_here = (self.vectors in ("ppmi", "random"), "with vectors=ppmi or random")
        return super().conditions(shape, has_dev) | trained | {"dimension": made_here}


# : section 4 of the paper, reading dropout as the share dropped; the other reading is 0.2
PAPER = {
    "encoder": "bilstm",
    "distance": "l1",
    "loss": "ratio",
    "scale": 1.0,
    "size": 600,
    "dropout": 0.8,
    "dimension": 300,
    "pace": 0.0,
    "a": 0.0,
    "learning_rate": 0.001,
}

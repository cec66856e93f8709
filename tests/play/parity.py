"""Trainings in torch that the page must reproduce: mean word vectors with every loss and miner, in float64."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from labkit import pairs
from labkit.play import LOSSES, MINERS

STEPS, WORDS, SENTENCES, CLASSES, BATCH, DIMENSION, RATE = 50, 120, 60, 6, 24, 3, 0.03
SETTINGS = {
    "temperature": 0.1, "margin": 0.5, "alpha": 2.0, "beta": 50.0, "base": 0.5, "epsilon": 0.1, "share": 0.3,
    "learningRate": RATE, "dimension": DIMENSION, "seed": 1,
}  # fmt: skip
OF_LOSS = {
    "contrastive": ("margin",),
    "margin-triplet": ("margin",),
    "locality": ("alpha", "beta", "base"),
    "logistic": ("base", "temperature"),
}
Masks = tuple[Tensor, Tensor]


@dataclass(frozen=True)
class Expected:
    """The results of torch: weights (m, m) of step 1, pairs of every step, and vectors (n, d) after the last one."""

    weights: np.ndarray
    kept: list[list[list[list[int]]]]
    vectors: np.ndarray


@cache
def setting() -> dict[str, Any]:
    """Sentences as numbers of words, labels and batches, drawn once for all cases."""
    random = np.random.default_rng(3)
    sentences = [random.integers(0, WORDS, size=int(random.integers(3, 9))).tolist() for _ in range(SENTENCES)]
    labels = [row % CLASSES for row in range(SENTENCES)]
    batches = [random.permutation(SENTENCES)[:BATCH].tolist() for _ in range(STEPS)]
    return {"sentences": sentences, "labels": labels, "batches": batches}


def start() -> np.ndarray:
    """Word vectors before the first step."""
    return np.random.default_rng(4).normal(0, 0.3, size=(WORDS, DIMENSION))


def drawn() -> list[Masks]:
    """The pairs of the random miner at each step."""
    generator = torch.Generator().manual_seed(5)
    found = []
    for batch in setting()["batches"]:
        P, N = pairs.masks_from_labels([setting()["labels"][row] for row in batch])
        S = torch.zeros(BATCH, BATCH)
        found.append(pairs.random_pairs(S, P, N, share=float(SETTINGS["share"]), generator=generator))
    return found


def train(loss_name: str, miner: str) -> Expected:
    """Train with autograd and torch's Adam."""
    names = OF_LOSS.get(loss_name, ("temperature",))
    loss = partial(pairs.LOSSES[loss_name].function, **{name: SETTINGS[name] for name in names})
    mean = torch.zeros(SENTENCES, WORDS, dtype=torch.float64)
    for row, words in enumerate(setting()["sentences"]):
        for word in words:
            mean[row, word] += 1 / len(words)
    E = torch.tensor(start(), requires_grad=True)
    optimizer = torch.optim.Adam([E], lr=RATE)
    random, kept, weights = drawn(), [], None
    for step, batch in enumerate(setting()["batches"]):
        V = torch.nn.functional.normalize(mean[batch] @ E)
        S = V @ V.T
        known = pairs.masks_from_labels([setting()["labels"][row] for row in batch])
        P, N = _mined(miner, S.detach(), known, random[step])
        if weights is None:
            weights = pairs.pair_weights(loss, S.detach(), P, N).numpy()
        kept.append([_lists(P), _lists(N)])
        optimizer.zero_grad()
        loss(S, P, N).backward()
        optimizer.step()
    assert weights is not None
    return Expected(weights, kept, torch.nn.functional.normalize(mean @ E).detach().numpy())


def _mined(miner: str, S: Tensor, known: Masks, random: Masks) -> Masks:
    if miner == "informative":
        return pairs.informative(S, *known, epsilon=float(SETTINGS["epsilon"]))
    if miner == "hardest":
        return pairs.hardest(S, *known)
    return random if miner == "random" else known


def job() -> dict[str, Any]:
    """All cases, in the format of `parity.mjs`."""
    random = [dict(zip("PN", map(_lists, masks), strict=True)) for masks in drawn()]
    cases = [
        {
            "settings": SETTINGS | {"loss": loss, "miner": miner},
            "start": start().ravel().tolist(),
            "random": random if miner == "random" else None,
        }
        for loss, miner in all_cases()
    ]
    return setting() | {"cases": cases}


def all_cases() -> list[tuple[str, str]]:
    """Every loss with the miner that leaves some anchors without pairs, and every other miner with one loss."""
    others = [miner for miner in MINERS if miner != "informative"]
    return [(loss, "informative") for loss in LOSSES] + [("infonce", miner) for miner in others]


def _lists(mask: Tensor) -> list[list[int]]:
    return [row.nonzero()[:, 0].tolist() for row in mask]

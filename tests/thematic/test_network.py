"""Attention without an LSTM against plain loops; word vectors, their initial values and pace; losses of triplets."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.autograd import gradcheck
from torch.nn.functional import triplet_margin_loss

from labkit.baselines.averages import shares
from labkit.corpora import Labelled
from labkit.methods import METHODS
from labkit.text import PAD, UNKNOWN, Vocabulary
from labkit.thematic.network import (
    DISTANCES,
    LOSSES,
    Paced,
    ThematicSettings,
    WordAttention,
    network_of,
    ratio,
    sif_vectors,
    word_weights,
)
from labkit.training.loop import Adam
from labkit.vectors import WordVectors, random_vectors

softplus, hinge = LOSSES["softplus"], LOSSES["hinge"]
l1, cosine = DISTANCES["l1"], DISTANCES["cosine"]
VECTORS = random_vectors(Vocabulary((PAD, UNKNOWN, *"abcdefgh")), 5, seed=3)
NUMBERS, LENGTHS = torch.tensor([[2, 3, 4, 0], [5, 2, 0, 0], [9, 8, 7, 6]]), torch.tensor([3, 2, 4])


def attention(size: int = 3) -> WordAttention:
    torch.manual_seed(0)
    body = WordAttention(5, size)
    for parameter in body.parameters():
        torch.nn.init.normal_(parameter)
    return body.double()


def test_word_attention_against_plain_loops() -> None:
    body, x = attention(), torch.from_numpy(VECTORS.matrix).double()[NUMBERS]
    found = body(x, LENGTHS)
    W, b, u = body.key.weight, body.key.bias, body.query.weight[0]
    for row, length in enumerate(LENGTHS):
        logits = [(u @ torch.tanh(W @ x[row, t] + b)).item() for t in range(length)]
        weights = np.exp(logits) / np.exp(logits).sum()
        mean = sum(weight * x[row, t] for t, weight in enumerate(weights))
        torch.testing.assert_close(found[row], body.out.weight @ mean + body.out.bias)
        torch.testing.assert_close(
            body.attention(body.states(x, LENGTHS), LENGTHS)[row, :length], torch.from_numpy(weights)
        )


def test_untrained_attention_is_the_mean_of_the_word_vectors() -> None:
    encoder = network_of(VECTORS, ThematicSettings(size=5, pace=0, dropout=0, distance="l1"))
    for row, length in enumerate(LENGTHS):
        expected = VECTORS.matrix[NUMBERS[row, :length]].mean(axis=0)
        np.testing.assert_allclose(encoder(NUMBERS, LENGTHS)[row].detach().numpy(), expected, atol=1e-6)


@pytest.mark.parametrize("encoder", ["attention", "bilstm"])
def test_word_weights_sum_to_one_over_the_sentence(encoder: str) -> None:
    torch.manual_seed(1)
    network = network_of(VECTORS, ThematicSettings(encoder=encoder, size=6, pace=0.5, dropout=0.9))
    weights, parts = (found.detach().numpy() for found in word_weights(network, NUMBERS, LENGTHS))
    for found in (weights, parts):
        np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-6)
        assert (found[NUMBERS.numpy() == 0] == 0).all()
    lengths = np.linalg.norm(network.eval()(NUMBERS, LENGTHS).detach().numpy(), axis=1)
    np.testing.assert_allclose(lengths, 1, atol=1e-5)


@pytest.mark.parametrize("pace", [0.0, 0.1])
def test_pace_scales_the_steps_of_word_vectors(pace: float) -> None:
    words = Paced(VECTORS, pace)
    everything = torch.arange(10)[None], torch.tensor([10])
    before = words(*everything)[0].detach().clone()
    np.testing.assert_allclose(before.numpy(), VECTORS.matrix, atol=1e-6)
    other = torch.nn.Parameter(torch.zeros(3))
    module = torch.nn.ParameterDict({"other": other})
    holder = torch.nn.ModuleList([words, module])
    adam = Adam(holder, 0.01)
    (words(NUMBERS, LENGTHS).sum() + other.sum()).backward()
    adam.step()
    np.testing.assert_allclose(other.detach(), -0.01, rtol=1e-4)
    moved = (words(*everything)[0] - before).abs().detach().numpy()
    read = np.isin(np.arange(10), NUMBERS.numpy()) & (np.arange(10) > 0)
    np.testing.assert_allclose(moved[read], 0.01 * pace, rtol=1e-3)
    assert (moved[~read] == 0).all()


def test_the_plain_mean_of_sif_vectors_equals_sif() -> None:
    texts = ["the cat sat on the mat", "the dog sat on the log", "a cat and a dog", "the end of the log"]
    corpus = Labelled(texts, list("abab"), name="few")
    sif = METHODS["sif"](dimension=4, a=0.05, components=0)
    sif.fit(corpus)
    plain = METHODS["mean-vectors"](dimension=4)
    plain.fit(corpus)
    known: WordVectors = plain.vectors
    made = sif_vectors(known, shares(known, texts), 0.05)
    length = np.linalg.norm(known.matrix[2:], axis=1).mean()
    np.testing.assert_allclose(made.mean(texts) * length, sif.encode(texts), atol=1e-6)
    np.testing.assert_allclose(sif_vectors(known, shares(known, texts), 0).matrix * length, known.matrix, atol=1e-6)
    assert np.linalg.norm(sif_vectors(known, shares(known, texts), 0).matrix[2:], axis=1).mean() == pytest.approx(1)


# --- losses --------------------------------------------------------------------------------------------------------
# The losses of a triplet against the paper's formula, PyTorch's losses and worked examples; gradients in float64.


VALUES = torch.linspace(-30, 30, 241, dtype=torch.float64)
NEAR, FAR = (grid.ravel() for grid in torch.meshgrid(VALUES, VALUES, indexing="ij"))


def test_the_ratio_is_the_papers_loss_and_twice_a_sigmoid() -> None:
    p = torch.stack([NEAR, FAR]).softmax(0)
    as_printed = p[0].abs() + (1 - p[1]).abs()
    assert (ratio(NEAR, FAR) - as_printed).abs().max() < 1e-12
    by_hand = 2 / (1 + np.exp(-(NEAR - FAR).numpy()))
    assert np.abs(ratio(NEAR, FAR).numpy() - by_hand).max() < 1e-12


def test_losses_by_hand() -> None:
    near, far = torch.tensor([2.0, 0.0], dtype=torch.float64), torch.tensor([2.0, np.log(3)], dtype=torch.float64)
    torch.testing.assert_close(ratio(near, far), torch.tensor([1.0, 0.5], dtype=torch.float64))
    torch.testing.assert_close(softplus(near, far), torch.tensor([2.0, 4 / 3], dtype=torch.float64).log())
    torch.testing.assert_close(hinge(near, far), torch.tensor([1.0, 0.0], dtype=torch.float64))
    torch.testing.assert_close(l1(torch.tensor([[1.0, -2.0]]), torch.tensor([[0.5, 1.0]])), torch.tensor([3.5]))
    torch.testing.assert_close(cosine(torch.tensor([[0.6, 0.8]]), torch.tensor([[1.0, 0.0]])), torch.tensor([0.4]))


@pytest.mark.parametrize(("loss", "distance"), [("ratio", "l1"), ("softplus", "cosine"), ("hinge", "cosine")])
def test_gradients(loss: str, distance: str) -> None:
    random = torch.Generator().manual_seed(0)
    sides = [torch.randn(5, 4, dtype=torch.float64, generator=random, requires_grad=True) for _ in range(3)]

    def whole(a: torch.Tensor, p: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
        return LOSSES[loss](0.3 * DISTANCES[distance](a, p), 0.3 * DISTANCES[distance](a, n))

    assert gradcheck(whole, sides)


def test_hinge_on_l1_is_pytorchs_triplet_margin_loss() -> None:
    a, p, n = torch.randn(3, 50, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(1)).unbind()
    ours = hinge(l1(a, p), l1(a, n))
    theirs = triplet_margin_loss(a, p, n, margin=1.0, p=1.0, eps=0.0, reduction="none")
    torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize(("loss", "pull"), [("ratio", 0.0), ("softplus", 1.0), ("hinge", 1.0)])
def test_only_the_ratios_gradient_vanishes_for_a_hopeless_triplet(loss: str, pull: float) -> None:
    near = torch.tensor([60.0], dtype=torch.float64, requires_grad=True)
    LOSSES[loss](near, torch.tensor([0.0], dtype=torch.float64)).sum().backward()
    assert near.grad is not None
    assert float(near.grad) == pytest.approx(pull, abs=1e-12)

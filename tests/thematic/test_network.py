"""Attention without an LSTM against plain loops; word vectors that move at a pace; what they start as."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from labkit.baselines.averages import shares
from labkit.corpora import Labelled
from labkit.methods import METHODS
from labkit.text import PAD, UNKNOWN, Vocabulary
from labkit.thematic.network import Paced, WordAttention, network_of, sif_vectors, word_weights
from labkit.training.loop import Adam
from labkit.vectors import WordVectors, random_vectors

VECTORS = random_vectors(Vocabulary((PAD, UNKNOWN, *"abcdefgh")), 5, seed=3)
NUMBERS, LENGTHS = torch.tensor([[2, 3, 4, 0], [5, 2, 0, 0], [9, 8, 7, 6]]), torch.tensor([3, 2, 4])


def attention(size: int = 3) -> WordAttention:
    torch.manual_seed(0)
    body = WordAttention(5, size, attention=7)
    for parameter in body.parameters():
        torch.nn.init.normal_(parameter)
    return body.double()


def test_word_attention_by_plain_loops() -> None:
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


def test_padding_and_company_change_nothing() -> None:
    body, x = attention(), torch.from_numpy(VECTORS.matrix).double()[NUMBERS]
    torch.testing.assert_close(body(x, LENGTHS)[1], body(x[1:2, :2], LENGTHS[1:2])[0])
    longer = torch.cat([x, torch.full((3, 2, 5), 9.0, dtype=torch.float64)], 1)
    torch.testing.assert_close(body(longer, LENGTHS), body(x, LENGTHS))


def test_it_begins_as_the_mean_of_the_word_vectors() -> None:
    encoder = network_of(VECTORS, encoder="attention", size=5, pace=0, dropout=0, normalised=False)
    for row, length in enumerate(LENGTHS):
        expected = VECTORS.matrix[NUMBERS[row, :length]].mean(axis=0)
        np.testing.assert_allclose(encoder(NUMBERS, LENGTHS)[row].detach().numpy(), expected, atol=1e-6)


@pytest.mark.parametrize("encoder", ["attention", "bilstm"])
def test_word_weights_sum_to_one_over_the_sentence(encoder: str) -> None:
    torch.manual_seed(1)
    network = network_of(VECTORS, encoder=encoder, size=6, pace=0.5, dropout=0.9, normalised=True)
    weights, parts = (found.detach().numpy() for found in word_weights(network, NUMBERS, LENGTHS))
    for found in (weights, parts):
        np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-6)
        assert (found[NUMBERS.numpy() == 0] == 0).all()
    lengths = np.linalg.norm(network.eval()(NUMBERS, LENGTHS).detach().numpy(), axis=1)
    np.testing.assert_allclose(lengths, 1, atol=1e-5)


@pytest.mark.parametrize("pace", [0.0, 0.1, 1.0])
def test_pace_is_the_share_of_a_step(pace: float) -> None:
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


def test_ready_makes_the_plain_mean_sifs() -> None:
    texts = ["the cat sat on the mat", "the dog sat on the log", "a cat and a dog", "the end of the log"]
    corpus = Labelled(texts, list("abab"), name="few")
    sif = METHODS["sif"](dimension=4, a=0.05, components=0)
    sif.fit(corpus)
    plain = METHODS["mean-vectors"](dimension=4)
    plain.fit(corpus)
    known: WordVectors = plain.vectors  # type: ignore[attr-defined]
    made = sif_vectors(known, shares(known, texts), 0.05)
    length = np.linalg.norm(known.matrix[2:], axis=1).mean()
    np.testing.assert_allclose(made.mean(texts) * length, sif.encode(texts), atol=1e-6)
    np.testing.assert_allclose(sif_vectors(known, shares(known, texts), 0).matrix * length, known.matrix, atol=1e-6)
    assert np.linalg.norm(sif_vectors(known, shares(known, texts), 0).matrix[2:], axis=1).mean() == pytest.approx(1)

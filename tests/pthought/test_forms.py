"""The three encoders against a GRU in plain loops; a sentence's vector is its own, whatever the batch."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from labkit.pthought.network import FORMS, GruEncoder, without_padding, xavier_
from labkit.text import Vocabulary, pad
from labkit.training.encoders import Encoder, Words
from labkit.vectors import random_vectors

DIMENSION, HIDDEN = 4, 3
ROWS = [[3, 4, 5, 6], [2], [6, 3], [5, 5, 5, 2, 4, 3, 6], [2]]


def weights(gru: nn.GRU) -> dict[str, np.ndarray]:
    return {name: value.detach().double().numpy() for name, value in gru.named_parameters()}


def gru_by_loops(
    found: dict[str, np.ndarray], layer: str, x: np.ndarray, state: np.ndarray | None = None
) -> np.ndarray:
    """All states; torch's order of gates: reset, update, new."""
    size = found[f"weight_hh_{layer}"].shape[1]
    state = np.zeros(size) if state is None else state
    states = []
    for word in x:
        reads = (found[f"weight_ih_{layer}"] @ word + found[f"bias_ih_{layer}"]).reshape(3, size)
        keeps = (found[f"weight_hh_{layer}"] @ state + found[f"bias_hh_{layer}"]).reshape(3, size)
        reset, update = (1 / (1 + np.exp(-(reads[gate] + keeps[gate]))) for gate in (0, 1))
        state = (1 - update) * np.tanh(reads[2] + reset * keeps[2]) + update * state
        states.append(state)
    return np.array(states)


def by_loops(form: str, found: dict[str, np.ndarray], x: np.ndarray) -> np.ndarray:
    def both(layer: int, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return gru_by_loops(found, f"l{layer}", x), gru_by_loops(found, f"l{layer}_reverse", x[::-1])

    if form == "two-forward":
        first = gru_by_loops(found, "l0", x)
        return np.concatenate([first[-1], gru_by_loops(found, "l1", first)[-1]])
    forth, back = both(0, x)
    if form == "two-bi":
        forth, back = both(1, np.hstack([forth, back[::-1]]))
    return np.concatenate([forth[-1], back[-1]])


def disturbed(module: nn.Module) -> nn.Module:
    """With biases that are not zero, so that a forgotten one shows."""
    torch.manual_seed(1)
    for parameter in module.parameters():
        parameter.data += 0.1 * torch.randn(parameter.shape)
    return module


@pytest.mark.parametrize("form", FORMS)
def test_by_loops(form: str) -> None:
    body = disturbed(GruEncoder(FORMS[form], DIMENSION, HIDDEN)).double()
    x = np.random.default_rng(0).standard_normal((5, 7, DIMENSION))
    lengths = [7, 1, 3, 5, 7]
    with torch.no_grad():
        found = body(torch.tensor(x), torch.tensor(lengths)).numpy()
    assert found.shape == (5, 2 * HIDDEN)
    for row, length in enumerate(lengths):
        np.testing.assert_allclose(found[row], by_loops(form, weights(body.gru), x[row, :length]), atol=1e-12)


@pytest.mark.parametrize("form", FORMS)
def test_a_vector_is_its_sentences_alone(form: str) -> None:
    vocabulary = Vocabulary(("<PAD>", "<UNK>", *"abcdefgh"))
    words = Words(random_vectors(vocabulary, DIMENSION), tune=False)
    encoder = Encoder(words, disturbed(GruEncoder(FORMS[form], DIMENSION, HIDDEN)), normalised=False).eval()

    def run(rows: list[list[int]], wider: int = 0) -> torch.Tensor:
        numbers = np.pad(pad(rows), ((0, 0), (0, wider)))
        with torch.no_grad():
            return encoder(torch.from_numpy(numbers), torch.tensor([len(row) for row in rows]))

    alone = torch.cat([run([row]) for row in ROWS])
    assert len({tuple(row) for row in alone[:4].tolist()}) == 4
    torch.testing.assert_close(run(ROWS), alone, atol=1e-6, rtol=0)
    torch.testing.assert_close(run(ROWS, 9), alone, atol=1e-6, rtol=0)
    torch.testing.assert_close(run(ROWS[::-1]), alone.flip(0), atol=1e-6, rtol=0)


def test_packed_by_hand() -> None:
    x = torch.tensor([[1, 2, 0], [3, 4, 5]])
    assert without_padding(x, torch.tensor([2, 3])).data.tolist() == [3, 1, 4, 2, 5]


def test_xavier_bounds_each_gate() -> None:
    torch.manual_seed(0)
    gru = nn.GRU(50, 40)
    xavier_(gru)
    for name, bound in (("weight_ih_l0", (6 / 90) ** 0.5), ("weight_hh_l0", (6 / 80) ** 0.5)):
        for gate in getattr(gru, name).chunk(3):
            assert 0.97 * bound < gate.abs().max() <= bound
            assert gate.std().item() == pytest.approx(bound / 3**0.5, rel=0.05)
    assert not gru.bias_ih_l0.any()
    assert not gru.bias_hh_l0.any()

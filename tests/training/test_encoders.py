"""Encoders against plain loops over one sentence; a vector does not depend on the batch, its order or padding."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from labkit.text import Vocabulary
from labkit.training.encoders import (
    ENCODERS,
    WIDTHS,
    BiLstm,
    Cnn,
    CrossEncoder,
    Encoder,
    Lstm,
    Mean,
    Words,
    inside,
    joined,
    turn,
)
from labkit.vectors import random_vectors

SIZE, DIMENSION = 12, 7
VOCABULARY = Vocabulary(("<PAD>", "<UNK>", *"abcdefgh"))


def encoder(kind: str, *, seed: int = 0, **settings: object) -> Encoder:
    torch.manual_seed(seed)
    words = Words(random_vectors(VOCABULARY, DIMENSION, seed=seed))
    return Encoder(words, ENCODERS[kind](DIMENSION, SIZE), **settings).eval()


def rows(lengths: list[int], seed: int = 0) -> list[list[int]]:
    random = np.random.default_rng(seed)
    return [random.integers(0, len(VOCABULARY), length).tolist() for length in lengths]  # 0 also occurs in sentences


def together(found: list[list[int]], longest: int) -> tuple[Tensor, Tensor]:
    padded = torch.zeros(len(found), longest, dtype=torch.long)
    for place, row in enumerate(found):
        padded[place, : len(row)] = torch.tensor(row)
    return padded, torch.tensor([len(row) for row in found])


@pytest.mark.parametrize("kind", ENCODERS)
def test_a_vector_does_not_depend_on_batch_order_or_padding(kind: str) -> None:
    model = encoder(kind)
    found = rows([1, 2, 3, 5, 9, 4, 1])
    alone = torch.cat([model(*together([row], len(row))) for row in found])
    for longest in (9, 14, 40):
        torch.testing.assert_close(model(*together(found, longest)), alone, atol=1e-6, rtol=0)
    order = [3, 0, 6, 5, 1, 4, 2]
    torch.testing.assert_close(model(*together([found[i] for i in order], 9)), alone[order], atol=1e-6, rtol=0)


@pytest.mark.parametrize("kind", ENCODERS)
def test_padding_gets_no_gradient_and_the_words_do(kind: str) -> None:
    model = encoder(kind)
    numbers, lengths = together([[3, 4, 5], [6]], 6)
    model(numbers, lengths)[:, 0].sum().backward()
    gradient = model.words.table.weight.grad.to_dense().abs().sum(1)
    assert gradient[0] == 0  # number 0 is only padding here
    assert (gradient[[3, 6]] > 0).all()


def test_the_field_separator_is_a_word_with_a_trained_vector() -> None:
    model = encoder("cnn")
    numbers, lengths = together([[3, 0, 4]], 8)
    model(numbers, lengths).sum().backward()
    gradient = model.words.table.weight.grad.to_dense()
    assert gradient[0].abs().sum() > 0
    with torch.no_grad():
        before = model(numbers, lengths)
        model.words.table.weight[0] += 5.0
        assert not torch.allclose(model(numbers, lengths), before)  # the separator counts
        short = together([[3, 4]], 2), together([[3, 4]], 9)
        torch.testing.assert_close(model(*short[0]), model(*short[1]))  # padding still does not


@pytest.mark.parametrize("kind", ENCODERS)
def test_vectors_have_length_one_unless_asked_otherwise(kind: str) -> None:
    batch = together(rows([3, 6]), 6)
    torch.testing.assert_close(encoder(kind)(*batch).norm(dim=1), torch.ones(2))
    assert not torch.allclose(encoder(kind, normalised=False)(*batch).norm(dim=1), torch.ones(2))
    assert encoder(kind)(*batch).shape == (2, DIMENSION if kind == "bag" else SIZE)  # a bag has no output layer


@pytest.mark.parametrize("kind", ["bag", "mean"])
def test_means_without_dropout_equal_those_of_the_body(kind: str) -> None:
    batch = together(rows([1, 5, 3, 9]), 9)
    found, expected = encoder(kind), encoder(kind)
    vectors = nn.functional.normalize(expected.body(expected.words(*batch), batch[1]), dim=1)
    torch.testing.assert_close(found(*batch), vectors, atol=1e-6, rtol=0)
    for each in (found(*batch), vectors):
        each[:, 0].sum().backward()
    slopes = [model.words.table.weight.grad.to_dense() for model in (found, expected)]
    torch.testing.assert_close(*slopes, atol=1e-6, rtol=0)
    assert slopes[0].abs().max() > 0.01


def test_dropout_acts_in_training_only() -> None:
    model, batch = encoder("mean", dropout=0.5), together(rows([5]), 5)
    assert torch.equal(model(*batch), model(*batch))
    model.train()
    assert not torch.equal(model(*batch), model(*batch))


def test_frozen_words_do_not_learn() -> None:
    words = Words(random_vectors(VOCABULARY, DIMENSION), tune=False)
    assert not any(parameter.requires_grad for parameter in words.parameters())
    assert Words(random_vectors(VOCABULARY, DIMENSION), sparse=False).table.sparse is False


# --- against loops over one sentence in numpy -----------------------------------------------------------------------


def parts(body: nn.Module) -> dict[str, np.ndarray]:
    return {name: value.detach().double().numpy() for name, value in body.named_parameters()}


def sentence(length: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((length, DIMENSION))


def run(body: nn.Module, x: np.ndarray, padding: int = 3) -> np.ndarray:
    padded = np.vstack([x, np.zeros((padding, DIMENSION))])
    with torch.no_grad():
        return body.double()(torch.tensor(padded)[None], torch.tensor([len(x)]))[0].numpy()


def test_mean_and_lstm_against_plain_loops() -> None:
    body, x = Mean(DIMENSION, SIZE), sentence(4)
    weights = parts(body)
    np.testing.assert_allclose(run(body, x), weights["out.weight"] @ x.mean(axis=0) + weights["out.bias"], atol=1e-12)
    body, x = Lstm(DIMENSION, SIZE), sentence(5)
    np.testing.assert_allclose(run(body, x), lstm_by_loops(parts(body), "lstm.", x)[-1], atol=1e-12)


@pytest.mark.parametrize("length", [1, 4])
def test_cnn_against_plain_loops(length: int) -> None:
    body, x = Cnn(DIMENSION, SIZE + 1), sentence(length)  # 13 filters: 5, 4, 4
    weights, expected = parts(body), []
    for number, width in enumerate(WIDTHS):
        kernel, bias = weights[f"windows.{number}.weight"], weights[f"windows.{number}.bias"]
        for chosen in range(len(kernel)):
            answers = [
                bias[chosen]
                + sum(kernel[chosen, :, step] @ x[start + step] for step in range(width) if start + step < length)
                for start in range(length)
            ]
            expected.append(max(answers))
    np.testing.assert_allclose(run(body, x), expected, atol=1e-12)


def lstm_by_loops(weights: dict[str, np.ndarray], prefix: str, x: np.ndarray) -> np.ndarray:
    """All states, with the gates in torch's order: input, forget, cell, output."""
    size = weights[f"{prefix}weight_hh_l0"].shape[1]
    state, cell, states = np.zeros(size), np.zeros(size), []
    for word in x:
        gates = (
            weights[f"{prefix}weight_ih_l0"] @ word
            + weights[f"{prefix}bias_ih_l0"]
            + weights[f"{prefix}weight_hh_l0"] @ state
            + weights[f"{prefix}bias_hh_l0"]
        )
        enter, forget, new, leave = gates.reshape(4, size)
        cell = cell / (1 + np.exp(-forget)) + np.tanh(new) / (1 + np.exp(-enter))
        state = np.tanh(cell) / (1 + np.exp(-leave))
        states.append(state)
    return np.array(states)


def test_bilstm_with_attention_against_plain_loops() -> None:
    body, x = BiLstm(DIMENSION, SIZE), sentence(6)
    weights = parts(body)
    back = lstm_by_loops(weights, "back.", x[::-1])[::-1]
    states = np.hstack([lstm_by_loops(weights, "forth.", x), back])
    logits = np.tanh(states @ weights["key.weight"].T + weights["key.bias"]) @ weights["query.weight"][0]
    attention = np.exp(logits) / np.exp(logits).sum()
    np.testing.assert_allclose(run(body, x), attention @ states, atol=1e-12)


def test_inside_and_turn_by_hand() -> None:
    lengths = torch.tensor([1, 3])
    assert inside(lengths, 4).int().tolist() == [[1, 0, 0, 0], [1, 1, 1, 0]]
    assert turn(lengths, 4).tolist() == [[0, 1, 2, 3], [2, 1, 0, 3]]


def test_the_cross_encoder_reads_both_sentences_and_their_order() -> None:
    torch.manual_seed(0)
    model = CrossEncoder(Words(random_vectors(VOCABULARY, DIMENSION)), SIZE).eval()
    rows_ = [joined([3, 4], [5]), joined([5], [3, 4]), joined([3, 4], [6])]
    scores = model(*together(rows_, 9))
    assert rows_[0] == [3, 4, 0, 5]
    assert scores.shape == (3,)
    assert len({round(score, 6) for score in scores.tolist()}) == 3
    alone = torch.cat([model(*together([row], len(row))) for row in rows_])
    torch.testing.assert_close(scores, alone, atol=1e-6, rtol=0)

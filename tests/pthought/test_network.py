"""Decoders, objective, chunked loss and encoders against plain loops in float64."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from labkit.pthought.method import PThought, PThoughtSettings
from labkit.pthought.network import FORMS, Decoder, GruEncoder, Model, objective, token_loss
from labkit.text import Vocabulary, pad
from labkit.training.encoders import Encoder, Words
from labkit.vectors import random_vectors

VOCABULARY = Vocabulary(("<PAD>", "<UNK>", *"abcdefgh"))
READ = [[3, 4, 5], [2], [6, 3, 9, 2]]  # 9 is not writable
WRITE = [[2, 2, 3, 4], [5, 9], [7]]
WRITABLE = 9


def model(**settings: object) -> Model:
    torch.manual_seed(0)
    made = PThoughtSettings.of({"hidden": 3, "decoder_hidden": 4, **settings})
    method = PThought(made)
    method.writable = WRITABLE
    return disturbed(method._network(random_vectors(VOCABULARY, 5))).double().eval()


def vectors_of(made: Model) -> Tensor:
    lengths = torch.tensor([len(row) for row in READ])
    return made.encoder.body(made.encoder.words(torch.from_numpy(pad(READ)), lengths), lengths)


def cost_by_loops(decoder: Decoder, table: np.ndarray, vector: np.ndarray, row: list[int]) -> float:
    """-Σ log p of the words and of the end token."""
    start, out = decoder.start, decoder.out
    state = np.tanh(start.weight.detach().numpy() @ vector + start.bias.detach().numpy())
    fed = vector if decoder.feed else np.empty(0)
    total = 0.0
    for read, write in zip([0, *row], [*row, 0], strict=True):
        state = gru_by_loops(weights(decoder.gru), "l0", np.concatenate([table[read], fed])[None], state)[0]
        logits = out.weight.detach().numpy() @ state + out.bias.detach().numpy()
        total += np.log(np.exp(logits).sum()) - logits[write]
    return total


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("feed", [True, False])
def test_both_losses_against_plain_loops(form: str, feed: bool) -> None:
    made = model(form=form, feed=feed)
    table = made.encoder.words.table.weight.detach().numpy()
    vectors = np.array([by_loops(form, weights(made.encoder.body.gru), table[row]) for row in READ])
    np.testing.assert_allclose(vectors_of(made).detach().numpy(), vectors, atol=1e-12)
    for name, rows in (("auto", READ), ("paraphrase", WRITE)):
        written = [[number if number < WRITABLE else 1 for number in row] for row in rows]
        expected = sum(
            cost_by_loops(made.decoder(name), table, vector, row) for vector, row in zip(vectors, written, strict=True)
        )
        found = made.written(name, vectors_of(made), rows)
        assert found.dtype == torch.float64
        assert found.item() == pytest.approx(expected, abs=1e-11)


def test_decoding_step_by_step_equals_teacher_forcing() -> None:
    made = model()
    table, vectors = made.encoder.words.table.weight, vectors_of(made)
    decoder = made.decoder("auto")
    for row, vector in zip(READ, vectors, strict=True):
        row = [number if number < WRITABLE else 1 for number in row]
        state, total = decoder.first(vector[None]), 0.0
        for read, write in zip([0, *row], [*row, 0], strict=True):
            log_p, state = decoder.step(vector[None], table[[read]], state)
            assert log_p.exp().sum().item() == pytest.approx(1)
            total -= log_p[0, write].item()
        assert total == pytest.approx(made.written("auto", vector[None], [row]).item(), abs=1e-11)


def test_objective_by_hand() -> None:
    """λ = 0.1, l_auto = 2, l_para = 4: 0.9 · 2 + 1.1 · 4 = 6.2; the slope in λ is l_para - l_auto."""
    losses = {"auto": torch.tensor(2.0), "paraphrase": torch.tensor(4.0)}
    assert objective(losses, 0.1).item() == pytest.approx(6.2)
    assert (objective(losses, 0.6) - objective(losses, 0.1)).item() == pytest.approx(0.5 * (4 - 2))
    assert objective({"auto": losses["auto"]}, 0.1) is losses["auto"]
    assert objective({"paraphrase": losses["paraphrase"]}, 0.1) is losses["paraphrase"]


def test_words_outside_the_decoders_vocabulary_are_written_as_unknown() -> None:
    made = model()
    vectors = vectors_of(made)
    assert made.written("auto", vectors[:1], [[9]]).item() == made.written("auto", vectors[:1], [[1]]).item()
    words = Words(random_vectors(VOCABULARY, 5))
    encoder = Encoder(words, made.encoder.body.float(), normalised=False).eval()
    one, other = (encoder(torch.tensor([[number]]), torch.tensor([1])) for number in (9, 1))
    assert not torch.allclose(one, other)


# --- chunked loss --------------------------------------------------------------------------------------------------
# Values and gradients against torch's cross-entropy, for several chunk sizes, and against finite differences.


def made(tokens: int = 11, hidden: int = 5, words: int = 13, dtype: torch.dtype = torch.float64) -> list[Tensor]:
    random = torch.Generator().manual_seed(0)
    states, weight, bias = (
        torch.randn(shape, generator=random, dtype=dtype) for shape in ((tokens, hidden), (words, hidden), (words,))
    )
    return [states, weight, bias, torch.randint(words, (tokens,), generator=random)]


def with_gradients(call, parts: list[Tensor]) -> list[Tensor]:
    *learned, targets = parts
    learned = [each.clone().requires_grad_() for each in learned]
    value = call(*learned, targets)
    (3 * value).backward()  # the upstream gradient must be used
    return [value.detach(), *[each.grad for each in learned]]


def plain(states: Tensor, weight: Tensor, bias: Tensor, targets: Tensor) -> Tensor:
    return F.cross_entropy(states @ weight.T + bias, targets, reduction="sum")


@pytest.mark.parametrize("logits", [1, 40, 10_000])
def test_chunked_loss_equals_cross_entropy(logits: int) -> None:
    expected = with_gradients(plain, made())
    found = with_gradients(lambda *parts: token_loss(*parts, logits=logits), made())
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, atol=1e-12, rtol=0)


def test_gradients_by_finite_differences() -> None:
    *learned, targets = made(4, 3, 6)
    assert torch.autograd.gradcheck(
        lambda *parts: token_loss(*parts, targets, logits=12), [each.requires_grad_() for each in learned]
    )


def test_extreme_logits_stay_finite() -> None:
    states, weight, bias, targets = made(dtype=torch.float32)
    found = with_gradients(token_loss, [states * 1e4, weight, bias, targets])
    assert all(bool(torch.isfinite(each).all()) for each in found)


# --- encoders ------------------------------------------------------------------------------------------------------
# The three encoders against a GRU in plain loops, with sentences of different lengths in one batch.


DIMENSION, HIDDEN = 4, 3
ROWS = [[3, 4, 5, 6], [2], [6, 3], [5, 5, 5, 2, 4, 3, 6], [2]]


def weights(gru: nn.GRU) -> dict[str, np.ndarray]:
    return {name: value.detach().double().numpy() for name, value in gru.named_parameters()}


def gru_by_loops(
    found: dict[str, np.ndarray], layer: str, x: np.ndarray, state: np.ndarray | None = None
) -> np.ndarray:
    """All states. The gates are in torch's order: reset, update, new."""
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
    """The module with noise added to all parameters, so that a forgotten bias shows."""
    torch.manual_seed(1)
    for parameter in module.parameters():
        parameter.data += 0.1 * torch.randn(parameter.shape)
    return module


@pytest.mark.parametrize("form", FORMS)
def test_encoders_against_plain_loops(form: str) -> None:
    body = disturbed(GruEncoder(form, DIMENSION, HIDDEN)).double()
    x = np.random.default_rng(0).standard_normal((5, 7, DIMENSION))
    lengths = [7, 1, 3, 5, 7]
    with torch.no_grad():
        found = body(torch.tensor(x), torch.tensor(lengths)).numpy()
    assert found.shape == (5, 2 * HIDDEN)
    for row, length in enumerate(lengths):
        np.testing.assert_allclose(found[row], by_loops(form, weights(body.gru), x[row, :length]), atol=1e-12)

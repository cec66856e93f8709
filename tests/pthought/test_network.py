"""Decoders and the objective against plain loops in float64."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from labkit.pthought.method import PThought, PThoughtSettings
from labkit.pthought.network import FORMS, Decoder, Model, objective, taught, writable
from labkit.text import Vocabulary, pad
from labkit.training.encoders import Encoder, Words
from labkit.vectors import random_vectors
from tests.pthought.test_forms import by_loops, disturbed, gru_by_loops, weights

VOCABULARY = Vocabulary(("<PAD>", "<UNK>", *"abcdefgh"))
READ = [[3, 4, 5], [2], [6, 3, 9, 2]]  # 9 cannot be written
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
    """-Σ log p of the words and the end, one after the other."""
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
def test_both_losses_by_loops(form: str, feed: bool) -> None:
    made = model(form=form, feed=feed)
    table = made.encoder.words.table.weight.detach().numpy()
    vectors = np.array([by_loops(form, weights(made.encoder.body.gru), table[row]) for row in READ])
    np.testing.assert_allclose(vectors_of(made).detach().numpy(), vectors, atol=1e-12)
    for name, rows in (("auto", READ), ("paraphrase", WRITE)):
        written = [writable(row, WRITABLE) for row in rows]
        expected = sum(
            cost_by_loops(made.decoder(name), table, vector, row) for vector, row in zip(vectors, written, strict=True)
        )
        found = made.written(name, vectors_of(made), rows)
        assert found.dtype == torch.float64
        assert found.item() == pytest.approx(expected, abs=1e-11)


def test_every_weight_learns() -> None:
    made = model(tune=True)
    vectors = vectors_of(made)
    (made.written("auto", vectors, READ) + made.written("paraphrase", vectors, WRITE)).backward()
    for name, parameter in made.named_parameters():
        gradient = parameter.grad.to_dense() if parameter.grad.is_sparse else parameter.grad
        assert gradient.abs().sum() > 0, name


def test_a_step_at_a_time_is_the_whole_at_once() -> None:
    made = model()
    table, vectors = made.encoder.words.table.weight, vectors_of(made)
    decoder = made.decoder("auto")
    for row, vector in zip(READ, vectors, strict=True):
        row, state, total = writable(row, WRITABLE), decoder.first(vector[None]), 0.0
        for read, write in zip([0, *row], [*row, 0], strict=True):
            log_p, state = decoder.step(vector[None], table[[read]], state)
            assert log_p.exp().sum().item() == pytest.approx(1)
            total -= log_p[0, write].item()
        assert total == pytest.approx(made.written("auto", vector[None], [row]).item(), abs=1e-11)


def test_padding_costs_nothing() -> None:
    made = model()
    vectors = vectors_of(made)
    apart = sum(made.written("auto", vectors[[i]], [row]) for i, row in enumerate(READ))
    torch.testing.assert_close(made.written("auto", vectors, READ), apart, atol=1e-11, rtol=0)


def test_what_is_taught_by_hand() -> None:
    read, write, lengths = taught([[7, 8]])
    assert (read.tolist(), write.tolist(), lengths.tolist()) == ([[0, 7, 8]], [[7, 8, 0]], [3])


def test_the_objective_by_hand() -> None:
    """λ = 0.1, l_auto = 2, l_para = 4: 0.9 · 2 + 1.1 · 4 = 6.2; its slope in λ is l_para - l_auto."""
    losses = {"auto": torch.tensor(2.0), "paraphrase": torch.tensor(4.0)}
    assert objective(losses, 0.1).item() == pytest.approx(6.2)
    assert (objective(losses, 0.6) - objective(losses, 0.1)).item() == pytest.approx(0.5 * (4 - 2))
    assert objective({"auto": losses["auto"]}, 0.1) is losses["auto"]
    assert objective({"paraphrase": losses["paraphrase"]}, 0.1) is losses["paraphrase"]


def test_a_decoder_that_is_not_there() -> None:
    with pytest.raises(ValueError, match="decoder is 'paraphrase', but this model was trained with auto only"):
        model(decoders="auto").decoder("paraphrase")


def test_without_feeding_the_vector_is_read_once() -> None:
    wide, narrow = model().decoder("auto"), model(feed=False).decoder("auto")
    assert (wide.gru.input_size, narrow.gru.input_size) == (5 + 6, 5)


def test_words_beyond_the_decoders_are_read_but_written_as_unknown() -> None:
    made = model()
    vectors = vectors_of(made)
    assert made.written("auto", vectors[:1], [[9]]).item() == made.written("auto", vectors[:1], [[1]]).item()
    words = Words(random_vectors(VOCABULARY, 5))
    encoder = Encoder(words, made.encoder.body.float(), normalised=False).eval()
    one, other = (encoder(torch.tensor([[number]]), torch.tensor([1])) for number in (9, 1))
    assert not torch.allclose(one, other)

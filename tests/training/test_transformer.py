"""Fine-tuning a transformer, with a tiny model of three layers and random weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from labkit.methods import METHODS, load_run
from labkit.pretrained import opened_model
from labkit.training import transformer
from labkit.training.reader import Reader
from labkit.training.transformer import ModelReader, Transformer
from tests.test_contract import pairs
from tests.tiny_sbert import FAMILIES, make_tiny_sbert

pytest.importorskip("sentence_transformers", reason="needs the extra 'sbert'")

OTHERS = [family for family in FAMILIES if family not in ("bert", "modernbert", "albert")]
TEXTS = ["the cat sleeps", "a dog", "a bird looks at the lake and over the wall", "", "zyx", "the cat sleeps"]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> str:
    return make_tiny_sbert(tmp_path_factory.mktemp("model"), seed=0, layers=3)


@pytest.fixture(scope="module")
def model(tiny: str) -> Any:
    return opened_model(tiny, "cpu").eval()


def read(model: Any) -> list[list[int]]:
    reader = ModelReader(model.tokenizer, 32)
    return [reader.numbers(text) for text in TEXTS]


def settings(tiny: str, **more: Any) -> dict[str, Any]:
    small = {"batch": 8, "epochs": 2, "patience": 0, "layer_rate": 0.01, "device": "cpu"}
    return small | {"encoder": "transformer", "model": tiny} | more


def test_parts_start_from_padding_between_the_special_tokens(model: Any) -> None:
    first, *others = model
    begin, *inner, end = model.tokenizer("the cat sleeps")["input_ids"]
    nothing = torch.tensor([[begin, *[model.tokenizer.pad_token_id] * len(inner), end]])
    there = torch.ones_like(nothing)
    with torch.no_grad():
        states = first.auto_model(input_ids=nothing, attention_mask=there).last_hidden_state
        last = [module for module in others if type(module).__name__ != "Normalize"]
        wanted = transformer._through(last, states, there.bool())[0]
    np.testing.assert_allclose(transformer.parts_of_model(model, "the cat sleeps", 4).rest, wanted, atol=1e-5)


def test_a_lone_surrogate_is_read_as_the_replacement_character(model: Any) -> None:
    reader = ModelReader(model.tokenizer, 32)
    half = chr(0xD83D)
    assert reader.numbers(f"the {half} cat") == reader.numbers("the \N{REPLACEMENT CHARACTER} cat")


class TestTransformer:
    @pytest.mark.parametrize(
        ("layers", "rank", "remembered"), [(0, 0, True), (1, 2, False), (2, 0, True), (3, 2, True), (9, 0, False)]
    )
    def test_it_starts_as_the_pretrained_model(self, model: Any, layers: int, rank: int, remembered: bool) -> None:
        rows = read(model)
        network = Transformer(model, layers=layers, rank=rank).eval()
        if remembered:
            network.remember(rows)
        vectors = network(*Reader.batch(rows)).detach().numpy()
        expected = model.encode(TEXTS, normalize_embeddings=True)
        np.testing.assert_allclose(vectors, expected, atol=1e-6)

    @pytest.mark.parametrize("layers", [1, 2])
    def test_the_layers_get_the_gradient_of_the_whole_model(self, model: Any, layers: int) -> None:
        """Against automatic differentiation of the undivided model, without dropout."""
        rows = read(model)
        network = Transformer(model, layers=layers).eval()
        network.remember(rows)
        goal = torch.randn(len(rows), 16, generator=torch.Generator().manual_seed(1))
        (network(*Reader.batch(rows)) * goal).sum().backward()
        assert network.above is not None
        numbers, lengths = Reader.batch(rows)
        there = (torch.arange(numbers.shape[1]) < lengths[:, None]).long()
        whole = model[0].auto_model
        for parameter in whole.parameters():
            parameter.grad = None
        states = whole(input_ids=numbers, attention_mask=there).last_hidden_state
        means = (states * there[:, :, None]).sum(1) / lengths[:, None]
        (nn.functional.normalize(means, dim=1) * goal).sum().backward()
        mine = dict(network.above.named_parameters())
        assert len(mine) == layers * 16
        for name, parameter in mine.items():
            number, rest = name.removeprefix("encoder.layer.").split(".", 1)
            theirs = whole.get_parameter(f"encoder.layer.{int(number) + 3 - layers}.{rest}")
            torch.testing.assert_close(parameter.grad, theirs.grad, atol=1e-5, rtol=1e-4)

    def test_remembered_states_are_not_computed_again(self, model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        rows = read(model)
        network = Transformer(model, layers=1).eval()
        network.remember(rows)
        monkeypatch.setattr(network, "_entering", lambda *_: pytest.fail("computed again"))
        network(*Reader.batch(rows[:3]))

    @pytest.mark.parametrize(("layers", "rank"), [(0, 0), (1, 0), (2, 2), (9, 0)])
    def test_only_trained_parameters_are_saved(self, model: Any, layers: int, rank: int) -> None:
        network = Transformer(model, layers=layers, rank=rank)
        kept = network.state_dict()
        assert kept.keys() == {name for name, each in network.named_parameters() if each.requires_grad}
        whole = sum(parameter.numel() for parameter in model.parameters())
        assert 0 < sum(value.numel() for value in kept.values()) < (whole if layers < 9 else whole + 1)
        other = Transformer(model, layers=layers, rank=rank)
        other.load_state_dict({name: torch.full_like(value, 0.5) for name, value in kept.items()})
        assert all((value == 0.5).all() for value in other.state_dict().values())
        with pytest.raises(RuntimeError, match="Missing"):
            other.load_state_dict({name: kept[name] for name in list(kept)[1:]})

    @pytest.mark.parametrize(
        ("family", "layers", "rank"),
        [
            *(("bert", *each) for each in ((0, 0), (1, 0), (2, 2), (3, 0))),
            *((family, layers, 0) for family in OTHERS for layers in (1, 3)),
        ],
    )
    def test_it_starts_as_the_model_and_trained_weights_are_merged_back(
        self, family: str, layers: int, rank: int, tmp_path: Path
    ) -> None:
        model = opened_model(make_tiny_sbert(tmp_path, seed=0, layers=3, family=family), "cpu").eval()
        rows = read(model)
        network = Transformer(model, layers=layers, rank=rank).eval()
        network.remember(rows)
        start = network(*Reader.batch(rows)).detach()
        np.testing.assert_allclose(start, model.encode(TEXTS, normalize_embeddings=True), atol=1e-5)
        with torch.no_grad():
            for number, value in enumerate(network.state_dict().values()):
                value += 0.1 * torch.randn(value.shape, generator=torch.Generator().manual_seed(number))
        vectors = network(*Reader.batch(rows)).detach().numpy()
        np.testing.assert_allclose(network.whole(model).encode(TEXTS), vectors, atol=1e-5)
        assert np.abs(vectors - model.encode(TEXTS, normalize_embeddings=True)).max() > 0.01

    @pytest.mark.parametrize(("layers", "rank"), [(0, 0), (1, 2), (9, 0)])
    def test_explaining_does_not_copy_the_model(
        self, model: Any, layers: int, rank: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        network = Transformer(model, layers=layers, rank=rank).train()
        before = {name: value.clone() for name, value in network.state_dict().items()}
        monkeypatch.setattr(transformer.copy, "deepcopy", lambda *_: 1 / 0)
        parts = network.parts(transformer.ModelReader(model.tokenizer, 20), TEXTS[0], 4)
        expected = model.encode([TEXTS[0]], normalize_embeddings=True)[0]
        np.testing.assert_allclose(parts.vector / np.linalg.norm(parts.vector), expected, atol=1e-5)
        assert all(torch.equal(value, before[name]) for name, value in network.state_dict().items())

    def test_trained_layers_use_dropout(self, model: Any) -> None:
        columns = Reader.batch(read(model))
        network = Transformer(model, layers=2).train()
        assert not torch.allclose(network(*columns), network(*columns))
        network.eval()
        assert torch.equal(network(*columns), network(*columns))


class TestInAMethod:
    @pytest.mark.parametrize("more", [{"layers": 0}, {"layers": 1, "max_length": 6}, {"layers": 2, "adapters": 2}])
    def test_training_and_round_trip(self, tiny: str, model: Any, more: dict[str, int], tmp_path: Path) -> None:
        before = {name: value.clone() for name, value in model.state_dict().items()}
        method = METHODS["sentpwnet"](**settings(tiny, **more))
        method.fit(pairs())
        assert method.history.rows[-1]["loss"] < method.history.rows[0]["loss"]
        assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
        method.save(tmp_path / "r")
        longest = max(len(method.reader.numbers(text)) for text in TEXTS)
        assert (longest == 6) == ("max_length" in more)
        vectors = method.encode(TEXTS)
        np.testing.assert_array_equal(load_run(tmp_path / "r").encode(TEXTS), vectors)
        assert not np.allclose(vectors, model.encode(TEXTS, normalize_embeddings=True), atol=1e-3)

"""The streaming loss has the value and gradient of the dense one for any tiles, and never holds an (m, m) matrix."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from labkit.pairs import informative, large_batch, locality, masks_from_labels, streaming_locality

Loss = Callable[..., Tensor]


def dense_locality(X: Tensor, labels: Tensor, *, epsilon: float = 0.1, **options: float) -> Tensor:
    V = F.normalize(X, dim=1)
    S = V @ V.T
    return locality(S, *informative(S, *masks_from_labels(labels), epsilon=epsilon), **options)


def value_and_slope(loss: Loss, X: Tensor, labels: Tensor, **options: float) -> tuple[Tensor, Tensor]:
    leaf = X.detach().clone().requires_grad_()
    value = loss(leaf, labels, **options)
    (3 * value).backward()
    assert leaf.grad is not None
    return value.detach(), leaf.grad


def assert_same(X: Tensor, labels: Tensor, tolerance: float, **options: float) -> None:
    """Compare the values, and the gradients relative to the largest entry."""
    value, slope = value_and_slope(streaming_locality, X, labels, **options)
    expected, theirs = value_and_slope(dense_locality, X, labels, **options)
    assert value.item() == pytest.approx(expected.item(), rel=tolerance, abs=tolerance)
    assert (slope - theirs).abs().max() <= tolerance * max(1e-3, theirs.abs().max().item())


def sentences(rows: int, width: int, size: int, seed: int, dtype: torch.dtype = torch.float32) -> tuple[Tensor, Tensor]:
    """Rows like sentence vectors, with labels: classes of `size`, a common direction, shared topics, unequal noise."""
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator, dtype=dtype) / width**0.5

    labels = (torch.arange(rows) // size)[torch.randperm(rows, generator=generator)]
    classes = int(labels.max()) + 1
    topics = torch.randint(0, max(1, classes // 8), (classes,), generator=generator)
    centres = 0.4 * normal(1, width) + 0.6 * normal(classes, width)[topics] + 0.5 * normal(classes, width)
    noise = 0.2 + 0.8 * torch.rand(rows, 1, generator=generator, dtype=dtype)
    return 3 * (centres[labels] + noise * normal(rows, width)), labels


@pytest.fixture(params=["list", "make again", "mixed"])
def small_tiles(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Tiles of 5 and blocks of a few numbers, so that 23 rows run the same code as 23,000."""
    share, room = {"list": (1.0, 999), "make again": (0.0, 999), "mixed": (0.4, 0.5)}[request.param]
    monkeypatch.setattr(large_batch, "_SIDE", {True: 5, False: 5})
    monkeypatch.setattr(large_batch, "_FEW", share)
    monkeypatch.setattr(large_batch, "_ROOM", room)
    monkeypatch.setattr(large_batch, "_NUMBERS_AT_ONCE", 12)
    return str(request.param)


OPTIONS: dict[str, dict[str, float]] = {
    "defaults": {},
    "others": {"alpha": 7.0, "beta": 9.0, "base": -0.2},
    "no mining": {"epsilon": math.inf},
    "beyond exp": {"alpha": 900.0, "beta": 2000.0, "base": -0.5},
}


@pytest.mark.parametrize("options", OPTIONS)
def test_every_tile_path_and_setting(small_tiles: str, options: str) -> None:
    for seed, size in ((0, 1), (2, 3), (3, 11), (4, 23)):
        X, labels = sentences(23, 6, size, seed, torch.float64)
        assert_same(X, labels, 1e-10, **OPTIONS[options])


@given(
    labels=st.lists(st.integers(0, 5), min_size=1, max_size=30),
    width=st.integers(1, 8),
    seed=st.integers(0, 9999),
    beta=st.floats(1, 300),
    epsilon=st.floats(0, 0.5),
)
def test_odd_shapes(labels: list[int], width: int, seed: int, beta: float, epsilon: float) -> None:
    generator = torch.Generator().manual_seed(seed)
    X = torch.randn(len(labels), width, generator=generator, dtype=torch.float64)
    # one-dimensional rows are ±1 and all tied; keep every pair off the margin
    assert_same(X, torch.tensor(labels), 1e-9, beta=beta, epsilon=epsilon + 1e-3)


def test_several_tiles_of_512_rows_with_an_incomplete_last_one() -> None:
    assert_same(*sentences(1704, 100, 8, seed=1), 1e-5)


@pytest.mark.parametrize("labels", [[0, 0, 1, 1, 2, 0], [0] * 6, [5, 4, 3, 2, 1, 0]])
def test_gradient_against_finite_differences(labels: list[int]) -> None:
    X, _ = sentences(6, 4, 2, 0, torch.float64)
    assert torch.autograd.gradcheck(lambda X: streaming_locality(X, labels, beta=12.0), X.requires_grad_(), atol=1e-6)


def test_worked_example() -> None:
    """Rows at 0° and 60° in one class, at 90° and 180° in another; the anchors 0° and 180° keep no pair."""
    angles = torch.deg2rad(torch.tensor([0.0, 60.0, 90.0, 180.0], dtype=torch.float64))
    X = torch.stack([angles.cos(), angles.sin()], 1) * torch.tensor([[1.0], [2.0], [0.5], [9.0]])
    pull = math.log(1 + math.exp(-2 * (0.5 - 0.5))) / 2  # 60° apart
    other = math.log(1 + math.exp(-2 * (0.0 - 0.5))) / 2  # 90° apart

    def push(*cosines: float) -> float:
        return math.log(1 + sum(math.exp(10 * (cosine - 0.5)) for cosine in cosines)) / 10

    # the floors are 0.4, 0.4, -0.1, -0.1; the ceiling of 0° is 0.1, below its positive at 0.5
    first, second = 0.0, pull + push(math.cos(math.pi / 6))
    third, fourth = other + push(0.0, math.cos(math.pi / 6)), 0.0
    found = streaming_locality(X, [0, 0, 1, 1], beta=10.0).item()
    assert found == pytest.approx((first + second + third + fourth) / 4, abs=1e-12)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_pair_on_the_margin_is_not_kept(share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """The positive of row 0 has cosine 0.5 and its negative 0.25: only a margin above 0.25 keeps them."""
    monkeypatch.setattr(large_batch, "_FEW", share)
    X = torch.tensor([[4.0, 0.0, 0.0, 0.0], [2.0, 2.0, 2.0, 2.0], [1.0, 1.0, 3.0, 5.0**0.5]], dtype=torch.float64)
    labels = [0, 0, 1]
    exact = streaming_locality(X, labels, epsilon=0.25)
    assert exact.item() == pytest.approx(dense_locality(X, torch.tensor(labels), epsilon=0.25).item(), abs=1e-12)
    assert streaming_locality(X, labels, epsilon=0.2500001) > exact


# ------------------------------------------------------------------ memory


class LargestTensor(TorchDispatchMode):
    """Records the largest number of elements in the result of any operation."""

    numbers = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        for tensor in result if isinstance(result, tuple | list) else [result]:
            if isinstance(tensor, Tensor) and not tensor.is_sparse:
                self.numbers = max(self.numbers, tensor.untyped_storage().nbytes() // tensor.element_size())
        return result


@pytest.mark.parametrize("size", [3, 1500])
def test_no_matrix_of_all_pairs(size: int) -> None:
    rows, width = 1500, 8
    X, labels = sentences(rows, width, size, 0)
    X.requires_grad_()
    with LargestTensor() as seen:
        streaming_locality(X, labels).backward()
    assert seen.numbers <= 512 * 512
    with LargestTensor() as dense:
        dense_locality(X[:600], labels[:600]).backward()
    assert dense.numbers == 600 * 600  # such a matrix is recorded


# ------------------------------------------------------------------ inputs


@pytest.mark.parametrize("labels", [[0], [0, 0], [0, 1], [0] * 9, list(range(9))])
def test_rows_without_positives_or_negatives(labels: list[int]) -> None:
    X = torch.randn(len(labels), 5, generator=torch.Generator().manual_seed(0))
    value, slope = value_and_slope(streaming_locality, X, torch.tensor(labels))
    assert value == 0  # without one kind, an anchor keeps none of the other
    assert not slope.any()


@pytest.mark.parametrize(
    ("X", "labels", "said"),
    [
        (torch.ones(3, 2), [0, 1], "labels"),
        (torch.ones(3), [0, 1, 2], "embeddings"),
        (torch.ones(3, 2, dtype=torch.int32), [0, 1, 2], "embeddings"),
        (torch.tensor([[1.0], [0.0], [2.0]]), [0, 1, 2], "row 1"),
        (torch.tensor([[1.0], [math.nan], [math.inf]]), [0, 1, 2], "row 1"),
    ],
)
def test_bad_rows_labels_and_settings_are_refused(X: Tensor, labels: list[int], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        streaming_locality(X, labels)
    with pytest.raises(ValueError, match="epsilon"):
        streaming_locality(torch.eye(3), [0, 1, 1], epsilon=math.nan)

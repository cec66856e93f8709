"""`as_pml` against pytorch-metric-learning: equal values and gradients for labels, miners and other rows."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from functools import partial

import pytest
import torch
from torch import Tensor, nn

from labkit.pairs import as_pml, locality, pml, streaming_locality

SETTINGS = {"alpha": 0.1, "beta": 40.0, "base": 0.5}


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_five_rows_on_a_circle(dtype: torch.dtype) -> None:
    """The case of pytorch-metric-learning's own test, 0° to 80° and classes 0 0 1 1 2, computed pair by pair."""
    degrees, labels = [0.0, 20.0, 40.0, 60.0, 80.0], [0, 0, 1, 1, 2]
    angles = [math.radians(degree) for degree in degrees]
    rows = torch.tensor([[math.cos(x), math.sin(x)] for x in angles], dtype=dtype, requires_grad=True)
    loss = as_pml(partial(locality, **SETTINGS))(rows, torch.tensor(labels))
    loss.backward()
    expected = 0.0
    for i, anchor in enumerate(degrees):
        sums = {True: 0.0, False: 0.0}
        for j, other in enumerate(degrees):
            if i != j:
                scale = -SETTINGS["alpha"] if labels[i] == labels[j] else SETTINGS["beta"]
                sums[labels[i] == labels[j]] += math.exp(scale * (math.cos(math.radians(anchor - other)) - 0.5))
        expected += math.log(1 + sums[True]) / SETTINGS["alpha"] / 5 + math.log(1 + sums[False]) / SETTINGS["beta"] / 5
    assert loss.dtype == rows.grad.dtype == dtype
    assert loss.item() == pytest.approx(expected, rel=1e-2 if dtype.itemsize == 2 else 1e-5)
    assert rows.grad.isfinite().all()


# ------------------------------------------------------------------ against the library


def batch(seed: int, rows: int = 96, dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, rows // 6, (rows,), generator=generator)
    centres = torch.randn(rows // 6, 24, generator=generator, dtype=dtype) + 0.6
    return 2 * (centres[labels] + 0.9 * torch.randn(rows, 24, generator=generator, dtype=dtype)), labels


def value_and_slope(loss: Callable[[Tensor], Tensor], X: Tensor) -> tuple[float, Tensor]:
    leaf = X.clone().requires_grad_()
    value = loss(leaf)
    value.backward()
    assert leaf.grad is not None
    return value.item(), leaf.grad


def assert_same(ours: Callable[[Tensor], Tensor], theirs: Callable[[Tensor], Tensor], X: Tensor) -> None:
    (value, slope), (expected, their_slope) = value_and_slope(ours, X), value_and_slope(theirs, X)
    assert value == pytest.approx(expected, rel=1e-5)
    assert their_slope.abs().max() > 0
    assert (slope - their_slope).abs().max() <= 1e-5 * their_slope.abs().max()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("epsilon", [None, 0.1])
def test_multi_similarity_with_and_without_its_miner(dtype: torch.dtype, epsilon: float | None) -> None:
    losses = pytest.importorskip("pytorch_metric_learning.losses")
    miners = pytest.importorskip("pytorch_metric_learning.miners")
    peer = losses.MultiSimilarityLoss(**SETTINGS)
    mine = miners.MultiSimilarityMiner(epsilon=epsilon) if epsilon is not None else lambda X, y: None
    ours = as_pml(partial(locality, **SETTINGS))
    X, labels = batch(0, dtype=dtype)
    mined = mine(X, labels)
    assert_same(lambda X: ours(X, labels, mined), lambda X: peer(X, labels, mined), X)
    if epsilon is not None:  # their miner and loss against our streaming loss, which includes the miner
        streaming = partial(streaming_locality, epsilon=epsilon, **SETTINGS)
        assert_same(lambda X: streaming(X, labels), lambda X: peer(X, labels, mine(X, labels)), X)


# ------------------------------------------------------------------ inside the library's wrappers


def test_memory_of_earlier_batches() -> None:
    losses = pytest.importorskip("pytorch_metric_learning.losses")
    miners = pytest.importorskip("pytorch_metric_learning.miners")
    for miner in (None, miners.MultiSimilarityMiner(), miners.TripletMarginMiner()):
        ours, peer = (
            losses.CrossBatchMemory(loss, 24, memory_size=250, miner=miner)
            for loss in (as_pml(locality), losses.MultiSimilarityLoss())
        )
        for seed in range(4):  # the third overwrites the first
            X, labels = batch(seed)
            assert_same(*(partial(loss, labels=labels) for loss in (ours, peer)), X)


def test_without_the_library_it_is_still_a_module(monkeypatch: pytest.MonkeyPatch) -> None:
    X, labels = batch(1)
    expected = as_pml(locality)(X, labels)
    for name in ("pytorch_metric_learning", "pytorch_metric_learning.losses"):
        monkeypatch.setitem(sys.modules, name, None)
    pml._pml_class.cache_clear()
    try:
        assert type(as_pml(locality)) is pml._PairLoss
        assert torch.equal(as_pml(locality)(X, labels), expected)
    finally:
        pml._pml_class.cache_clear()


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda f: f(torch.eye(3)), "labels"),
        (lambda f: f(torch.eye(3), torch.tensor([0, 1])), "labels"),
        (lambda f: f(torch.eye(3), torch.arange(3), ref_emb=torch.eye(3)), "ref_labels"),
        (lambda f: f(torch.eye(3), torch.arange(3), ref_emb=torch.zeros(1, 3)), "ref_emb"),
        (lambda f: f(torch.eye(3), None, (torch.arange(3),) * 5), "indices_tuple"),
        (lambda f: as_pml(0.5), "loss"),
    ],
)
def test_bad_arguments_are_refused(call: Callable[[nn.Module], Tensor], argument: str) -> None:
    with pytest.raises(ValueError, match=argument):
        call(as_pml(locality))


def test_rows_compared_with_other_rows() -> None:
    """With `ref_emb`, the other rows are not anchors, and rows with the same number are different rows."""
    generator = torch.Generator().manual_seed(0)
    rows, others = (torch.randn(count, 3, generator=generator, dtype=torch.float64) for count in (3, 4))
    labels, theirs = torch.tensor([0, 0, 1]), torch.tensor([0, 1, 0, 2])
    same = labels[:, None] == theirs
    S = torch.nn.functional.normalize(rows) @ torch.nn.functional.normalize(others).T
    loss = as_pml(partial(locality, **SETTINGS))(rows, labels, ref_emb=others, ref_labels=theirs)
    assert loss.item() == pytest.approx(locality(S, same, ~same, **SETTINGS).item(), rel=1e-9)
    assert loss.item() != pytest.approx(locality(S, ~same, same, **SETTINGS).item(), rel=1e-3)

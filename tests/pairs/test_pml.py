"""`as_pml` against pytorch-metric-learning: equal values and gradients for labels, miners and other rows."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial

import pytest
import torch
from torch import Tensor, nn

from labkit.pairs import as_pml, locality, pml, streaming_locality

SETTINGS = {"alpha": 0.1, "beta": 40.0, "base": 0.5}


def batch(seed: int, rows: int = 96) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, rows // 6, (rows,), generator=generator)
    centres = torch.randn(rows // 6, 24, generator=generator, dtype=torch.float64) + 0.6
    noise = torch.randn(rows, 24, generator=generator, dtype=torch.float64)
    return 2 * (centres[labels] + 0.9 * noise), labels


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


@pytest.mark.parametrize("epsilon", [None, 0.1])
def test_multi_similarity_with_and_without_its_miner(epsilon: float | None) -> None:
    losses = pytest.importorskip("pytorch_metric_learning.losses")
    miners = pytest.importorskip("pytorch_metric_learning.miners")
    peer = losses.MultiSimilarityLoss(**SETTINGS)
    mine = miners.MultiSimilarityMiner(epsilon=epsilon) if epsilon is not None else lambda X, y: None
    ours = as_pml(partial(locality, **SETTINGS))
    X, labels = batch(0)
    mined = mine(X, labels)
    assert_same(lambda X: ours(X, labels, mined), lambda X: peer(X, labels, mined), X)
    if epsilon is not None:  # their miner and loss against our streaming loss, which includes the miner
        streaming = partial(streaming_locality, epsilon=epsilon, **SETTINGS)
        assert_same(lambda X: streaming(X, labels), lambda X: peer(X, labels, mine(X, labels)), X)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_rows_give_a_loss_and_a_gradient_of_their_type(dtype: torch.dtype) -> None:
    X, labels = batch(0)
    rows = X.to(dtype).requires_grad_()
    loss = as_pml(locality)(rows, labels)
    loss.backward()
    assert loss.dtype == rows.grad.dtype == dtype
    assert loss.item() == pytest.approx(as_pml(locality)(X, labels).item(), rel=1e-2)
    assert rows.grad.isfinite().all()


def test_memory_of_earlier_batches() -> None:
    losses = pytest.importorskip("pytorch_metric_learning.losses")
    miners = pytest.importorskip("pytorch_metric_learning.miners")
    for miner in (None, miners.TripletMarginMiner()):
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

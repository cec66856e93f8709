"""Weights by differentiation equal the closed forms (eq. 7, 9, 10), written here as loops; and their two parts."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from itertools import product

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from labkit.pairs import contrastive, locality, masks_from_labels, pair_weights, soft_triplet, weight_parts
from labkit.pairs.weights import contrastive_weights, locality_weights, soft_triplet_weights


def _members(mask: Tensor, i: int) -> list[int]:
    return [j for j in range(mask.shape[1]) if mask[i, j]]


def eq_7(S: Tensor, P: Tensor, N: Tensor, margin: float = 0.5) -> Tensor:
    return (P | (N & (margin < S))).double()


def eq_5_mended(S: Tensor, P: Tensor, N: Tensor) -> Tensor:
    s, weights = S.tolist(), torch.zeros(S.shape, dtype=torch.float64)
    for i in range(len(s)):
        for p, n in product(_members(P, i), _members(N, i)):
            share = 1 / (1 + math.exp(s[i][p] - s[i][n]))
            weights[i, p] += share
            weights[i, n] += share
    return weights


def eq_9_and_10(S: Tensor, P: Tensor, N: Tensor, alpha: float = 2.0, beta: float = 50.0, base: float = 0.5) -> Tensor:
    s, weights = S.tolist(), torch.zeros(S.shape, dtype=torch.float64)
    for i in range(len(s)):
        for mask, scale in ((P, -alpha), (N, beta)):
            for j in _members(mask, i):
                own = math.exp(scale * (base - s[i][j]))
                relative = sum(math.exp(scale * (s[i][k] - s[i][j])) for k in _members(mask, i))
                weights[i, j] = 1 / (own + relative)
    return weights


CLOSED = {
    "contrastive": (contrastive, eq_7),
    "soft_triplet": (soft_triplet, eq_5_mended),
    "locality": (locality, eq_9_and_10),
}
FORMULAS = {"contrastive": contrastive_weights, "soft_triplet": soft_triplet_weights, "locality": locality_weights}


def test_weights_by_hand() -> None:
    """One anchor, a positive at 0.7, negatives at 0.5 and 0.6; α = 2, β = 10, λ = 0.5. The other anchors have none."""
    S = torch.zeros(4, 4, dtype=torch.float64)
    S[0] = torch.tensor([1.0, 0.7, 0.5, 0.6], dtype=torch.float64)
    P, N = torch.zeros(4, 4, dtype=torch.bool), torch.zeros(4, 4, dtype=torch.bool)
    P[0, 1] = N[0, 2] = N[0, 3] = True
    weights = pair_weights(partial(locality, beta=10.0), S, P, N)
    e = math.e
    expected = [0, 1 / (1 + math.exp(0.4)), 1 / (1 + 1 + e), e / (1 + 1 + e)]
    torch.testing.assert_close(weights[0], torch.tensor(expected, dtype=torch.float64), atol=1e-15, rtol=0)
    assert not weights[1:].any()


@settings(max_examples=40)
@given(rows=st.integers(1, 12), seed=st.integers(0, 9999), name=st.sampled_from(list(CLOSED)))
def test_weights_are_the_closed_forms(
    cosines: Callable, random_masks: Callable, rows: int, seed: int, name: str
) -> None:
    loss, closed = CLOSED[name]
    triple = cosines(rows, 4, seed).clamp(-1, 1), *random_masks(rows, seed)
    torch.testing.assert_close(pair_weights(loss, *triple), closed(*triple), atol=1e-10, rtol=0)
    torch.testing.assert_close(FORMULAS[name](*triple), closed(*triple), atol=1e-10, rtol=0)


@settings(max_examples=30)
@given(alpha=st.floats(0.5, 30), beta=st.floats(0.5, 100), base=st.floats(-0.5, 0.9), margin=st.floats(-0.9, 0.9))
def test_every_setting_of_the_formulas_counts(
    cosines: Callable, random_masks: Callable, alpha: float, beta: float, base: float, margin: float
) -> None:
    triple, options = (cosines(8, 4, 3), *random_masks(8, 3)), {"alpha": alpha, "beta": beta, "base": base}
    found = locality_weights(*triple, **options)
    torch.testing.assert_close(found, eq_9_and_10(*triple, **options), atol=1e-10, rtol=0)
    torch.testing.assert_close(found, weight_parts(*triple, **options).weight, atol=1e-10, rtol=0)
    assert torch.equal(contrastive_weights(*triple, margin=margin), eq_7(*triple, margin=margin))


def test_weights_of_a_loss_of_ones_own(cosines: Callable, random_masks: Callable) -> None:
    """Any function of the three, similarities that are no cosines; pairs outside the masks do not show."""
    S, (P, N) = 3 * cosines(6, 4, 1), random_masks(6, 1)
    weights = pair_weights(lambda S, P, N: (S**2).mean(), S, P, N)
    torch.testing.assert_close(weights, (2 * S / 6).abs() * (P | N), atol=1e-15, rtol=0)


def test_a_loss_without_similarities_weighs_nothing(cosines: Callable, random_masks: Callable) -> None:
    S, (P, N) = cosines(5, 4, 1), random_masks(5, 1)
    assert not pair_weights(lambda S, P, N: torch.tensor(1.0), S, P, N).any()
    assert not pair_weights(lambda S, P, N: torch.tensor(1.0, requires_grad=True) * 2, S, P, N).any()


@pytest.mark.parametrize(
    ("value", "said"), [(0.0, "loss returns float"), (torch.zeros(3), r"loss returns shape \(3,\)")]
)
def test_a_loss_returns_a_scalar(cosines: Callable, random_masks: Callable, value: object, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        pair_weights(lambda S, P, N: value, cosines(5, 4, 1), *random_masks(5, 1))


def test_neither_graph_nor_its_absence_disturbs(cosines: Callable, random_masks: Callable) -> None:
    S, (P, N) = cosines(6, 4, 1).requires_grad_(), random_masks(6, 1)
    with torch.no_grad():
        weights = pair_weights(locality, S, P, N)
    assert torch.equal(weights, pair_weights(locality, S, P, N))
    assert S.grad is None
    assert not weights.requires_grad


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_weights_in_single_precision(cosines: Callable, random_masks: Callable, dtype: torch.dtype) -> None:
    S, (P, N) = cosines(10, 4, 3).to(dtype), random_masks(10, 3)
    for loss, closed in CLOSED.values():
        weights = pair_weights(loss, S, P, N)
        assert weights.dtype == torch.float32
        torch.testing.assert_close(weights.double(), closed(S.double(), P, N), atol=1e-5, rtol=1e-5)


@settings(max_examples=40)
@given(alpha=st.floats(0.5, 30), beta=st.floats(0.5, 100), base=st.floats(-0.5, 0.9), seed=st.integers(0, 999))
def test_two_parts_of_the_denominator(
    cosines: Callable, random_masks: Callable, alpha: float, beta: float, base: float, seed: int
) -> None:
    S, (P, N) = cosines(8, 4, seed), random_masks(8, seed)
    options = {"alpha": alpha, "beta": beta, "base": base}
    own, relative = parts = weight_parts(S, P, N, **options)
    for i, j in product(range(8), range(8)):
        mask, scale = (P, -alpha) if P[i, j] else (N, beta)
        if mask[i, j]:
            assert own[i, j].item() == pytest.approx(math.exp(scale * (base - S[i, j])), rel=1e-9)
            terms = sum(math.exp(scale * (S[i, k] - S[i, j])) for k in _members(mask, i))
            assert relative[i, j].item() == pytest.approx(terms, rel=1e-9)
        else:
            assert own[i, j] == relative[i, j] == parts.weight[i, j] == 0
    weights = pair_weights(partial(locality, **options), S, P, N)
    torch.testing.assert_close(parts.weight, weights, atol=1e-10, rtol=0)


def test_parts_stay_finite_at_the_ends() -> None:
    P, N = masks_from_labels([0, 0, 1, 1])
    for sign in (1.0, -1.0):
        S = ((P * 1.0 - N * 1.0) * sign + torch.eye(4)).half()
        parts = weight_parts(S, P, N, alpha=200.0, beta=200.0)
        assert parts.own.isfinite().all()
        assert parts.relative.isfinite().all()
        weights = pair_weights(partial(locality, alpha=200.0, beta=200.0), S, P, N)
        torch.testing.assert_close(parts.weight.float(), weights, atol=1e-7, rtol=1e-5)


def test_parts_answer_why_a_pair_weighs_little() -> None:
    """A negative among nearer ones loses by its relative part, a far one by its own."""
    S = torch.tensor([[0.9, 0.6, 0.1]])
    own, relative = weight_parts(S, torch.zeros(1, 3, dtype=torch.bool), torch.ones(1, 3, dtype=torch.bool))
    assert relative[0, 1] > own[0, 1]
    assert own[0, 2] > own[0, 1] > own[0, 0]
    assert relative[0, 0].item() == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("name", CLOSED)
def test_weights_within_inference_mode(cosines: Callable, random_masks: Callable, name: str) -> None:
    loss = CLOSED[name][0]
    S, (P, N) = cosines(6, 4, 1), random_masks(6, 1)
    expected = pair_weights(loss, S, P, N)
    assert expected.any()
    with torch.inference_mode():
        assert torch.equal(pair_weights(loss, S, P, N), expected)
        assert torch.equal(pair_weights(loss, S.clone(), P.clone(), N.clone()), expected)

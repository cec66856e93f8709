"""The three losses: a case by hand, plain Python loops, autograd, finite differences, and what is extreme."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from itertools import product

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from labkit.pairs import contrastive, fast, locality, losses, masks_from_labels, soft_triplet

LOSSES = {"contrastive": contrastive, "soft_triplet": soft_triplet, "locality": locality}
FORMULAS = {"contrastive": losses.contrastive, "soft_triplet": losses.soft_triplet, "locality": losses.locality}
HALVES = (torch.float16, torch.bfloat16)


# ------------------------------------------------------------------ once more, slow and obvious


def _members(mask: Tensor, i: int) -> list[int]:
    return [j for j in range(mask.shape[1]) if mask[i, j]]


def loop_contrastive(S: Tensor, P: Tensor, N: Tensor, margin: float = 0.5) -> float:
    s, total = S.tolist(), 0.0
    for i in range(len(s)):
        total += sum(max(0.0, s[i][j] - margin) for j in _members(N, i)) - sum(s[i][j] for j in _members(P, i))
    return total / len(s)


def loop_soft_triplet(S: Tensor, P: Tensor, N: Tensor) -> float:
    s, total = S.tolist(), 0.0
    for i in range(len(s)):
        for p, n in product(_members(P, i), _members(N, i)):
            total += math.log1p(math.exp(s[i][n] - s[i][p]))
    return total / len(s)


def loop_locality(S: Tensor, P: Tensor, N: Tensor, alpha: float = 2.0, beta: float = 50.0, base: float = 0.5) -> float:
    s, total = S.tolist(), 0.0
    for i in range(len(s)):
        total += math.log1p(sum(math.exp(-alpha * (s[i][j] - base)) for j in _members(P, i))) / alpha
        total += math.log1p(sum(math.exp(beta * (s[i][j] - base)) for j in _members(N, i))) / beta
    return total / len(s)


LOOPS = {"contrastive": loop_contrastive, "soft_triplet": loop_soft_triplet, "locality": loop_locality}


# ------------------------------------------------------------------ values


def by_hand() -> tuple[Tensor, Tensor, Tensor]:
    """Two rows of one class, one of another; the third has no positive."""
    S = torch.tensor([[1.0, 0.8, 0.6], [0.8, 1.0, 0.2], [0.6, 0.2, 1.0]], dtype=torch.float64)
    return S, *masks_from_labels([0, 0, 1])


def test_contrastive_by_hand() -> None:
    # anchors: (0.6 - 0.5) - 0.8, 0 - 0.8, 0.1 + 0
    assert contrastive(*by_hand()).item() == pytest.approx((-0.7 - 0.8 + 0.1) / 3, abs=1e-15)
    assert contrastive(*by_hand(), margin=0.0).item() == pytest.approx((-0.2 - 0.6 + 0.8) / 3, abs=1e-15)


def test_soft_triplet_by_hand() -> None:
    expected = (math.log(1 + math.exp(-0.2)) + math.log(1 + math.exp(-0.6))) / 3
    assert soft_triplet(*by_hand()).item() == pytest.approx(expected, abs=1e-15)


def test_locality_by_hand() -> None:
    pull = math.log(1 + math.exp(-2 * 0.3)) / 2
    first = pull + math.log(1 + math.exp(50 * 0.1)) / 50
    second = pull + math.log(1 + math.exp(-50 * 0.3)) / 50
    third = math.log(1 + math.exp(50 * 0.1) + math.exp(-50 * 0.3)) / 50
    assert locality(*by_hand()).item() == pytest.approx((first + second + third) / 3, abs=1e-15)


@settings(max_examples=40)
@given(rows=st.integers(1, 14), width=st.integers(1, 6), seed=st.integers(0, 9999), name=st.sampled_from(list(LOSSES)))
def test_against_plain_loops(
    cosines: Callable, random_masks: Callable, rows: int, width: int, seed: int, name: str
) -> None:
    triple = cosines(rows, width, seed).clamp(-1, 1), *random_masks(rows, seed)
    assert LOSSES[name](*triple).item() == pytest.approx(LOOPS[name](*triple), abs=1e-10)
    assert FORMULAS[name](*triple).item() == pytest.approx(LOOPS[name](*triple), abs=1e-10)


@settings(max_examples=30)
@given(alpha=st.floats(0.1, 60), beta=st.floats(0.1, 200), base=st.floats(-1, 1), seed=st.integers(0, 999))
def test_every_setting_of_locality_counts(
    cosines: Callable, random_masks: Callable, alpha: float, beta: float, base: float, seed: int
) -> None:
    triple = cosines(9, 4, seed), *random_masks(9, seed)
    found = locality(*triple, alpha=alpha, beta=beta, base=base).item()
    assert found == pytest.approx(loop_locality(*triple, alpha, beta, base), abs=1e-10, rel=1e-10)


def test_the_margin_of_contrastive_counts(cosines: Callable, random_masks: Callable) -> None:
    triple = cosines(9, 3, 5), *random_masks(9, 5)
    for margin in (-0.3, 0.1, 0.7):
        assert contrastive(*triple, margin=margin).item() == pytest.approx(loop_contrastive(*triple, margin), abs=1e-12)


def test_masks_need_not_be_square(cosines: Callable) -> None:
    """Anchors against other rows: a batch against a memory."""
    S, P, N = cosines(9, 3, 1)[:4], *(mask[:4] for mask in masks_from_labels([0, 1, 0, 2, 1, 1, 0, 2, 2]))
    for name, loss in LOSSES.items():
        assert loss(S, P, N).item() == pytest.approx(LOOPS[name](S, P, N), abs=1e-12)


# ------------------------------------------------------------------ gradients


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("seed", range(4))
def test_gradient_against_finite_differences(cosines: Callable, random_masks: Callable, name: str, seed: int) -> None:
    S, (P, N) = cosines(7, 4, seed) * 0.99, random_masks(7, seed)
    S[(S - 0.5).abs() < 1e-4] += 1e-3  # the hinge has no derivative at its corner
    assert torch.autograd.gradcheck(lambda S: LOSSES[name](S, P, N), S.requires_grad_(), atol=1e-6)


@pytest.mark.parametrize(("alpha", "beta", "base"), [(2.0, 50.0, 0.5), (0.1, 40.0, 0.5), (150.0, 200.0, -0.3)])
def test_closed_form_against_autograd(
    cosines: Callable, random_masks: Callable, alpha: float, beta: float, base: float
) -> None:
    for seed in range(5):
        (P, N), options = random_masks(20, seed), {"alpha": alpha, "beta": beta, "base": base}
        ours, theirs = (cosines(20, 5, seed).requires_grad_() for _ in range(2))
        (3 * locality(ours, P, N, **options)).backward()
        (3 * losses.locality(theirs, P, N, **options)).backward()
        torch.testing.assert_close(ours.grad, theirs.grad, atol=1e-10, rtol=0)


@settings(max_examples=40)
@given(rows=st.integers(1, 14), width=st.integers(1, 6), seed=st.integers(0, 9999), name=st.sampled_from(list(LOSSES)))
def test_the_formula_and_what_trainings_use_have_one_gradient(
    cosines: Callable, random_masks: Callable, rows: int, width: int, seed: int, name: str
) -> None:
    S, (P, N) = cosines(rows, width, seed).clamp(-1, 1), random_masks(rows, seed)
    used, written = (S.clone().requires_grad_() for _ in range(2))
    (3 * LOSSES[name](used, P, N)).backward()
    (3 * FORMULAS[name](written, P, N)).backward()
    torch.testing.assert_close(used.grad, written.grad, atol=1e-12, rtol=0)


def test_triplets_in_small_portions(cosines: Callable, random_masks: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    P, N = random_masks(12, 3)
    whole, parts = (cosines(12, 4, 3).requires_grad_() for _ in range(2))
    soft_triplet(whole, P, N).backward()
    monkeypatch.setattr(fast, "_TRIPLETS_AT_ONCE", 30)
    soft_triplet(parts, P, N).backward()
    torch.testing.assert_close(parts.grad, whole.grad, atol=1e-14, rtol=0)


# ------------------------------------------------------------------ extremes


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("labels", [[0], [0, 0, 0, 0], [0, 1, 2, 3]])
def test_rows_without_positives_or_negatives(cosines: Callable, name: str, labels: list[int]) -> None:
    S, masks = cosines(len(labels), 3, 0).requires_grad_(), masks_from_labels(labels)
    loss = LOSSES[name](S, *masks)
    loss.backward()
    assert loss.item() == pytest.approx(LOOPS[name](S.detach(), *masks), abs=1e-12)
    assert S.grad.isfinite().all()
    assert not S.grad[~(masks[0] | masks[1])].any()


@pytest.mark.parametrize("name", LOSSES)
def test_no_pair_at_all_costs_nothing(cosines: Callable, name: str) -> None:
    S, none = cosines(5, 3, 0).float().requires_grad_(), torch.zeros(5, 5, dtype=torch.bool)
    loss = LOSSES[name](S, none, none)
    loss.backward()
    assert loss.item() == 0
    assert not S.grad.any()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("beta", [200.0, 5000.0])
@pytest.mark.parametrize(("together", "apart"), [(1.0, -1.0), (-1.0, 1.0), (1.0, 1.0), (-1.0, -1.0)])
def test_all_the_way_apart_or_together(dtype: torch.dtype, beta: float, together: float, apart: float) -> None:
    """S = ±1 with a large β, identical vectors included: log(1 + n e^x) is x + log n when x is large."""
    P, N = masks_from_labels([0, 0, 1, 1, 1])
    S = (P * together + N * apart + torch.eye(5)).to(dtype).requires_grad_()
    loss = locality(S, P, N, alpha=beta, beta=beta)
    loss.backward()

    def side(exponent: float, n: int) -> float:
        return exponent + math.log(n) if exponent > 0 else math.log1p(n * math.exp(exponent))

    sizes = [(1, 3), (1, 3), (2, 2), (2, 2), (2, 2)]
    expected = sum(side(-beta * (together - 0.5), p) + side(beta * (apart - 0.5), n) for p, n in sizes) / 5 / beta
    assert loss.item() == pytest.approx(expected, rel=1e-6 if dtype is torch.float32 else 1e-12)
    assert S.grad.isfinite().all()
    if apart == 1:
        torch.testing.assert_close((5 * S.grad * N).sum(1), torch.ones(5, dtype=dtype))


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("dtype", HALVES)
def test_half_precision_is_computed_in_single(
    cosines: Callable, random_masks: Callable, name: str, dtype: torch.dtype
) -> None:
    half, (P, N) = cosines(12, 4, 2).to(dtype), random_masks(12, 2)
    single = half.float().requires_grad_()
    half.requires_grad_()
    loss, same = LOSSES[name](half, P, N), LOSSES[name](single, P, N)
    loss.backward()
    same.backward()
    assert loss.dtype == torch.float32
    assert torch.equal(loss, same)
    assert torch.equal(half.grad, single.grad.to(dtype))


@pytest.mark.parametrize("name", LOSSES)
def test_autocast_changes_nothing(cosines: Callable, random_masks: Callable, name: str) -> None:
    triple = cosines(12, 4, 2).float(), *random_masks(12, 2)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        inside = LOSSES[name](*triple)
    assert torch.equal(inside, LOSSES[name](*triple))


@pytest.mark.parametrize("name", LOSSES)
def test_strides_do_not_matter(cosines: Callable, random_masks: Callable, name: str) -> None:
    S, P, N = cosines(9, 3, 4), *random_masks(9, 4)
    wide = torch.zeros(9, 18, dtype=torch.float64)
    wide[:, ::2] = S
    assert LOSSES[name](wide[:, ::2], P.T.contiguous().T, N).item() == pytest.approx(
        LOSSES[name](S, P, N).item(), abs=1e-14
    )


@pytest.mark.parametrize("name", LOSSES)
def test_inputs_are_left_alone(cosines: Callable, random_masks: Callable, name: str) -> None:
    triple = cosines(6, 3, 4), *random_masks(6, 4)
    before = [tensor.clone() for tensor in triple]
    LOSSES[name](*triple)
    assert all(torch.equal(tensor, copy) for tensor, copy in zip(triple, before, strict=True))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (partial(contrastive, margin=math.nan), "margin is nan"),
        (partial(locality, alpha=0.0), "alpha is 0.0, expected a number above 0"),
        (partial(locality, beta=-1.0), "beta is -1.0, expected a number above 0"),
        (partial(locality, beta=math.inf), "beta is inf, expected a finite number"),
        (partial(locality, alpha="2"), "alpha is '2', expected a finite number"),
        (partial(contrastive, margin=None), "margin is None, expected a finite number"),
        (partial(locality, base=math.nan), "base is nan"),
    ],
)
def test_settings_that_make_no_sense(call: Callable, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        call(*by_hand())


def test_a_triplet_pulls_by_the_logistic_function_not_by_one() -> None:
    """The erratum of eq. 5: for cosines the weight of one triplet lies between σ(-2) and σ(2)."""
    for positive, negative in [(1.0, -1.0), (-1.0, 1.0), (0.0, 0.0)]:
        S = torch.tensor([[1.0, positive, negative]], dtype=torch.float64, requires_grad=True)
        soft_triplet(S, torch.tensor([[False, True, False]]), torch.tensor([[False, False, True]])).backward()
        assert S.grad[0, 2].item() == pytest.approx(F.sigmoid(torch.tensor(negative - positive)).item(), rel=1e-6)
        assert 0.119 < S.grad[0, 2] < 0.881

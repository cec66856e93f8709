"""The chunked loss against plain loops, torch's cross-entropy, and itself at other chunk sizes: value and gradient."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from labkit.pthought.network import token_loss


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
    (3 * value).backward()  # the upstream gradient counts
    return [value.detach(), *[each.grad for each in learned]]


def plain(states: Tensor, weight: Tensor, bias: Tensor, targets: Tensor) -> Tensor:
    return F.cross_entropy(states @ weight.T + bias, targets, reduction="sum")


def test_two_tokens_by_hand() -> None:
    """Logits (0, log 3) and (log 3, 0): p of word 1 is 3/4, then 1/4."""
    states = torch.tensor([[1.0], [-1.0]], dtype=torch.float64)
    weight = torch.tensor([[-0.5], [0.5]], dtype=torch.float64) * math.log(3)
    found = token_loss(states, weight, torch.zeros(2, dtype=torch.float64), torch.tensor([1, 1]))
    assert found.item() == pytest.approx(-math.log(3 / 4) - math.log(1 / 4))


def test_plain_loops() -> None:
    states, weight, bias, targets = made()
    expected = 0.0
    for t, target in enumerate(targets.tolist()):
        logits = [sum(float(s * u) for s, u in zip(states[t], row, strict=True)) for row in weight]
        logits = [logit + float(c) for logit, c in zip(logits, bias, strict=True)]
        expected += math.log(sum(math.exp(logit) for logit in logits)) - logits[target]
    assert token_loss(states, weight, bias, targets).item() == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("logits", [1, 13, 40, 10_000])
def test_every_chunk_size_gives_value_and_gradient_of_the_plain_form(logits: int) -> None:
    expected = with_gradients(plain, made())
    found = with_gradients(lambda *parts: token_loss(*parts, logits=logits), made())
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, atol=1e-12, rtol=0)


def test_single_precision_stays_within_1e_6() -> None:
    parts = made(300, 32, 2_000, torch.float32)
    parts[1] /= 32**0.5
    found = with_gradients(lambda *parts: token_loss(*parts, logits=20_000) / 300, parts)
    for one, other in zip(found, with_gradients(lambda *parts: plain(*parts) / 300, parts), strict=True):
        torch.testing.assert_close(one, other, atol=1e-6, rtol=1e-6)


def test_gradients_by_differences() -> None:
    *learned, targets = made(4, 3, 6)
    assert torch.autograd.gradcheck(
        lambda *parts: token_loss(*parts, targets, logits=12), [each.requires_grad_() for each in learned]
    )


def test_extreme_logits_stay_finite() -> None:
    states, weight, bias, targets = made(dtype=torch.float32)
    found = with_gradients(token_loss, [states * 1e4, weight, bias, targets])
    assert all(bool(torch.isfinite(each).all()) for each in found)


def test_without_gradients_none_are_made() -> None:
    states, weight, bias, targets = made()
    assert not token_loss(states, weight, bias, targets).requires_grad
    only = token_loss(states.requires_grad_(), weight, bias, targets)
    only.backward()
    assert weight.grad is None
    assert states.grad is not None


def test_no_tensor_holds_all_logits(monkeypatch: pytest.MonkeyPatch) -> None:
    """The largest product asked of torch has at most as many numbers as allowed."""
    seen: list[int] = []
    whole = torch.addmm

    def watched(*parts: Tensor) -> Tensor:
        found = whole(*parts)
        seen.append(found.numel())
        return found

    monkeypatch.setattr(torch, "addmm", watched)
    token_loss(*made(100, 5, 13), logits=60)
    assert max(seen) <= 60
    assert sum(seen) == 1300

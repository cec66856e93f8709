"""The loss of the next words, exact, without holding a number for every token and every word at once.

    L = Σ_t [log Σ_w exp(s_t · U_w + c_w) - (s_t · U_{y_t} + c_{y_t})]

A batch of 128 sentences of 20 words has 2,560 tokens; with 35,000 words that makes 90 million logits, and autograd
keeps them several times over. Here a chunk of tokens at a time is scored, and because the gradient of a token's loss is
known at once (softmax minus one-hot), it is added up in the same pass: no logits are kept, none are computed twice.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

LOGITS = 2**20  # at a time: 4 MB, which a processor's cache may hold


def token_loss(states: Tensor, weight: Tensor, bias: Tensor, targets: Tensor, *, logits: int = LOGITS) -> Tensor:
    """States (tokens, hidden), U (words, hidden), c (words,), the words to write (tokens,) -> the summed loss.

    At most `logits` numbers, but at least one token's, are held at a time.
    """
    total: Tensor = _TokenLoss.apply(states, weight, bias, targets, max(1, logits // len(weight)))
    return total


class _TokenLoss(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, states: Tensor, weight: Tensor, bias: Tensor, targets: Tensor, rows: int) -> Tensor:
        wanted = any(ctx.needs_input_grad)
        gradients = [torch.zeros_like(each) for each in (states, weight, bias)] if wanted else []
        total = torch.zeros((), dtype=torch.float64, device=states.device)
        for start in range(0, len(states), rows):
            part = slice(start, start + rows)
            logits = torch.addmm(bias, states[part], weight.T)
            logits = logits if logits.dtype == torch.float64 else logits.float()
            chosen = torch.arange(len(logits), device=logits.device), targets[part]
            normaliser = logits.logsumexp(1)
            total += (normaliser - logits[chosen]).sum()
            if wanted:
                error = logits.sub_(normaliser[:, None]).exp_()  # softmax - one-hot, in the logits' place
                error[chosen] -= 1
                error = error.to(weight.dtype)
                gradients[0][part] = error @ weight
                gradients[1].addmm_(error.T, states[part].to(weight.dtype))
                gradients[2] += error.sum(0)
        ctx.save_for_backward(*gradients)
        return total.to(torch.float64 if states.dtype == torch.float64 else torch.float32)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor | None, ...]:
        states, weight, bias = (upstream.to(each.dtype) * each for each in ctx.saved_tensors)
        return states, weight, bias, None, None

"""The forces of `forces`, in torch, for a GPU: pull over P's entries, push over all pairs in strips.

In: points float32 (n, 2) of numpy; they travel there and the forces back, which is little beside n² pairs.
1 + |y_i - y_j|² is one matrix product of (n, 4) and (4, n), and so are the sums over j.
"""

from __future__ import annotations

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from labkit.projection.forces import Forces

STRIP = 4096  # rows at a time


def forces_on(device: str, P: sparse.csr_array) -> Forces:
    """Pull and push for this P (n, n), computed on the device."""
    rows = torch.from_numpy(np.repeat(np.arange(P.shape[0]), np.diff(P.indptr))).to(device)
    columns = torch.from_numpy(P.indices.astype(np.int64)).to(device)
    p = torch.from_numpy(P.data.astype(np.float32)).to(device)

    def at(points: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        Y = torch.from_numpy(points).to(device)
        push, Z = _push(Y)
        return _pull(Y, rows, columns, p).cpu().numpy(), push.cpu().numpy(), Z

    return at


def _pull(Y: Tensor, rows: Tensor, columns: Tensor, p: Tensor) -> Tensor:
    """pull_i = Σ_j p_ij q_ij (y_i - y_j)."""
    apart = Y[rows] - Y[columns]
    weighed = (p / (1 + apart.square().sum(dim=1)))[:, None] * apart
    return torch.zeros_like(Y).index_add_(0, rows, weighed)


def _push(Y: Tensor) -> tuple[Tensor, float]:
    """push_i = Σ_j q_ij² (y_i - y_j), and Z."""
    ones, squares = torch.ones_like(Y[:, :1]), Y.square().sum(dim=1, keepdim=True)
    left = torch.cat([-2 * Y, squares + 1, ones], dim=1)  # left @ right is 1 + |y_i - y_j|²
    charges = torch.cat([Y, ones], dim=1)
    right = torch.cat([charges, squares], dim=1).T
    sums, Z = torch.empty_like(charges), torch.zeros((), dtype=torch.float64, device=Y.device)
    for start in range(0, len(Y), STRIP):
        q = (left[start : start + STRIP] @ right).reciprocal_()
        Z += q.sum(dtype=torch.float64)
        sums[start : start + STRIP] = q.square_() @ charges  # Σ_j q_ij² (y_j, 1)
    return Y * sums[:, 2:] - sums[:, :2], float(Z) - len(Y)

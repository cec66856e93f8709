"""The two forces of t-SNE, both exact: neighbours pull each other, all points push each other.

    q_ij = 1 / (1 + |y_i - y_j|²)                        Z = Σ_{i≠j} q_ij
    ∂KL/∂y_i = 4 Σ_j (p_ij - q_ij / Z) q_ij (y_i - y_j)  = 4 (pull_i - push_i / Z)    (van der Maaten & Hinton, eq. 5)

The pull runs over P's entries. The push runs over all pairs, each once, in strips that stay in the cache:
1 + |y_i - y_j|² is one matrix product, and so are the sums over i and over j. Points are float32 (n, 2), on any torch
device.
"""

from __future__ import annotations

import warnings

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

STRIP = 128  # rows at a time on a CPU: 128 x 5,000 float32 are 2.5 MB
STRIP_CUDA = 4096


class Pull:
    """pull_i = Σ_j p_ij q_ij (y_i - y_j), with P's places prepared once."""

    def __init__(self, P: sparse.csr_array, device: str = "cpu") -> None:
        self.size = P.shape[0]
        self.starts = torch.from_numpy(P.indptr.astype(np.int64)).to(device)
        self.columns = torch.from_numpy(P.indices.astype(np.int64)).to(device)
        self.rows = torch.repeat_interleave(torch.arange(self.size, device=device), torch.diff(self.starts))
        self.p = torch.from_numpy(P.data.astype(np.float32)).to(device)
        with warnings.catch_warnings():  # said once a process: that CSR is young; only its product is needed here
            warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta")
            self._matrix(self.p)

    def __call__(self, Y: Tensor) -> Tensor:
        W = self._matrix(self.p * self._near(Y))
        sums = W @ torch.cat([Y, torch.ones_like(Y[:, :1])], dim=1)  # (n, 3): Σ_j w_ij y_j, Σ_j w_ij
        return Y * sums[:, 2:] - sums[:, :2]

    def kl(self, Y: Tensor, Z: float) -> float:
        """Σ p_ij ln(p_ij Z / q_ij), in float64; pairs with p_ij = 0 add nothing."""
        p = self.p.double()
        held = p > 0
        return float((p[held] * torch.log(p[held] * Z / self._near(Y)[held].double())).sum())

    def _matrix(self, values: Tensor) -> Tensor:
        size = (self.size, self.size)
        return torch.sparse_csr_tensor(self.starts, self.columns, values, size=size, check_invariants=False)

    def _near(self, Y: Tensor) -> Tensor:
        """q_ij at P's places. A point as one complex number: one gather instead of two."""
        points = torch.view_as_complex(Y.contiguous())
        apart = points.index_select(0, self.columns) - points.index_select(0, self.rows)
        return 1 / (1 + apart.real.square() + apart.imag.square())


class Push:
    """push_i = Σ_j q_ij² (y_i - y_j), and Z."""

    def __init__(self, size: int, device: str = "cpu") -> None:
        self.strip = min(size, STRIP_CUDA if device.startswith("cuda") else STRIP)
        self.memory = torch.empty(self.strip * size, device=device)

    def __call__(self, Y: Tensor) -> tuple[Tensor, float]:
        n = len(Y)
        ones = torch.ones_like(Y[:, :1])
        squares = (Y * Y).sum(dim=1, keepdim=True)
        left = torch.cat([-2 * Y, squares + 1, ones], dim=1)  # (n, 4): left @ right is 1 + |y_i - y_j|²
        charges = torch.cat([Y, ones], dim=1).T.contiguous()  # (3, n)
        right = torch.cat([charges, squares.T])  # (4, n)
        sums = torch.zeros_like(charges)  # Σ_j q_ij² (y_j, 1)
        total = torch.zeros((), dtype=torch.float64, device=Y.device)
        for start in range(0, n, self.strip):
            stop = min(start + self.strip, n)
            width = stop - start
            q = self.memory[: width * (n - start)].view(width, n - start)  # columns from `start` on: each pair once
            torch.mm(left[start:stop], right[:, start:], out=q).reciprocal_()
            total += 2 * q.sum() - q[:, :width].sum()
            q.mul_(q)
            sums[:, start:stop] += charges[:, start:] @ q.T
            sums[:, stop:] += charges[:, start:stop] @ q[:, width:]
        return Y * sums[2:].T - sums[:2].T, float(total) - n

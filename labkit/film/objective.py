"""The objective of FILM: features V (n, r) of n sentences and triplets (i, j, k), "i is closer to j than to k".

    F(G) = Σ_i ψ_δ(m_i + z_i) + ½‖G‖²         z_i = -v_iᵀ G h_i         G = BᵀB = P diag(s) Pᵀ, of rank d

`h_i = Σ_{T_i} (v_j - v_k) / (|T_i| + 1)` is the direction that attracts an anchor; column i of `M = C T` holds its
weights, so that `H = Mᵀ V`. The hinge takes the mean over an anchor's triplets (eq. 5). ψ_δ is the hinge with a rounded
corner. (The paper keeps the corner and smooths the max of eq. 15 with eq. 18, which is log 2 near 0.)

Two parametrisations of G with rank d: `by_factor` by B (d, r), `by_stiefel` by P with the best s >= 0. Arrays are
numpy's; `on(device)` gives the same objective with torch tensors, for example on a GPU.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import linalg, sparse


def hinge(u: Any, softness: float) -> tuple[Any, Any]:
    """ψ_δ(u) and its slope: 0 below u = 0, u²/2δ up to δ, u - δ/2 beyond. The slope is the anchor's weight λ."""
    slope = (u / softness).clip(0, 1)
    return slope * (u - slope * (softness / 2)), slope


def supervision(triplets: np.ndarray, count: int) -> tuple[sparse.csr_matrix, np.ndarray]:
    """`M = C T` (n, n): in column i, +1/(|T_i| + 1) at each j and -1/(|T_i| + 1) at each k; and |T_i| (n,)."""
    i, j, k = triplets.T
    size = np.bincount(i, minlength=count).astype(np.float64)
    weight = 1 / (size[i] + 1)
    M = sparse.coo_matrix(
        (np.concatenate([weight, -weight]), (np.concatenate([j, k]), np.concatenate([i, i]))), shape=(count, count)
    ).tocsr()
    return M, size


@dataclass(frozen=True, eq=False)
class TripletHinge:
    """Features V (n, r), supervision M (n, n), margins m_i (n,), the width δ of the hinge's rounded corner, and m."""

    V: Any
    M: Any
    margins: Any
    softness: float
    margin: float

    @classmethod
    def of(cls, V: Any, triplets: np.ndarray, margin: float, softness: float = 0.5) -> TripletHinge:
        """The objective of features V and triplets (t, 3); δ is `softness` times m.

        The margin that makes eq. 7 and 10 equal is `m_i = m |T_i| / (|T_i| + 1)`.
        """
        M, size = supervision(triplets, V.shape[0])
        margins = margin * size / (size + 1)
        return cls(V, M.astype(V.dtype), margins.astype(V.dtype), softness * margin, margin)

    def rescaled(self, margin: float, softness: float = 0.5) -> TripletHinge:
        """The objective with another m. If m exceeds most |z|, nearly every hinge is active."""
        return replace(self, margins=self.margins * (margin / self.margin), softness=softness * margin, margin=margin)

    def on(self, device: str) -> TripletHinge:
        """The objective with torch tensors on a device; `by_factor` then takes and returns tensors."""
        import torch

        def moved(M: sparse.csr_matrix) -> torch.Tensor:
            starts, columns, values = (torch.as_tensor(part) for part in (M.indptr, M.indices, M.data))
            return torch.sparse_csr_tensor(starts, columns, values, M.shape, check_invariants=True).to(device)

        V, margins = (torch.as_tensor(array).to(device) for array in (self.V, self.margins))
        twin = replace(self, V=V, M=moved(self.M), margins=margins)
        twin.__dict__["_Mt"] = moved(self._Mt)
        return twin

    def batch(self, anchors: np.ndarray) -> TripletHinge:
        """The objective with only these anchors' hinges and sentences. V may be lazy: only `V[rows]` is used."""
        weights = self._Mt[anchors]  # a row for each anchor
        rows = np.union1d(anchors, weights.indices)
        at = np.searchsorted(rows, anchors)
        local = weights[:, rows].tocoo()
        M = sparse.coo_matrix((local.data, (local.col, at[local.row])), shape=(len(rows), len(rows))).tocsr()
        margins = np.zeros(len(rows))
        margins[at] = self.margins[anchors]
        return TripletHinge(self.V[rows], M, margins, self.softness, self.margin)

    @cached_property
    def _Mt(self) -> Any:
        return self.M.T.tocsr()

    # --- over B -------------------------------------------------------------------------------------------------

    def z(self, Y: Any) -> Any:
        """`z_i = -y_iᵀ Σ_t (y_j - y_k) / (|T_i| + 1)` (eq. 9) for rows Y (n, d): the diagonal of `-YYᵀCT`."""
        return -(Y * (self._Mt @ Y)).sum(1)

    def by_factor(self, B: Any) -> tuple[float, Any]:
        """F and its gradient `-(M Λ Y + Λ Mᵀ Y)ᵀ V + 2 B Bᵀ B` at `G = BᵀB`, B (d, r), `Y = V Bᵀ`. O(n r d + |T| d)."""
        Y = self.V @ B.T  # (n, d)
        H = self._Mt @ Y  # (n, d), the direction that attracts each anchor
        loss, slope = hinge(self.margins - (Y * H).sum(1), self.softness)  # (n,), slope is the diagonal of Λ
        slope = slope[:, None]
        pull = self.M @ (slope * Y) + slope * H  # (n, d): both the anchor and the other sentences of its triplets move
        square = B @ B.T  # (d, d), ‖G‖² = ‖BBᵀ‖²
        return float(loss.sum() + (square * square).sum() / 2), 2 * (square @ B) - pull.T @ self.V

    # --- over P, with the best s --------------------------------------------------------------------------------

    def by_stiefel(self, P: np.ndarray, s: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """`min_{s >= 0} F(P, s)`, its gradient `-Vᵀ(M Λ W + Λ Mᵀ W) diag(s*)` in P (r, d), `W = V P`, and s* (d,).

        `s` is the start of the search for s*. At s* the derivative in s vanishes, so the gradient needs no term for it.
        (The paper alternates s, eq. 15, with Λ, which need not converge: it can cycle forever.)
        """
        W = self.V @ P  # (n, d)
        H = self._Mt @ W
        value, s, slope = _best_scales(-(W * H), self.margins, self.softness, s)
        slope = slope[:, None]
        return value, -(self.V.T @ (self.M @ (slope * W) + slope * H)) * s, s

    # --- all G at once ------------------------------------------------------------------------------------------

    def K(self, slope: np.ndarray | None = None) -> np.ndarray:
        """The symmetric part of `K = -Vᵀ C T Λ V` (r, r), which is all that eq. 13 uses. Without `slope`, Λ = I."""
        V = self.V if slope is None else slope[:, None] * self.V
        K = -(self.V.T @ (self.M @ V))
        return (K + K.T) / 2

    def slopes(self, B: np.ndarray) -> np.ndarray:
        """Λ at `G = BᵀB`: how active each anchor's hinge is, 0 to 1, (n,)."""
        return hinge(self.margins + self.z(self.V @ B.T), self.softness)[1]

    def bound(self, slope: np.ndarray) -> float:
        """A lower bound of F for every rank of G, from any slopes λ in [0, 1]:

        `Σ_i (λ_i m_i - δ λ_i²/2) - ½ ‖[-K(λ)]₊‖²`, the dual of F. At a solution's λ, F minus this bound is the gap.
        """
        roots = np.maximum(-linalg.eigvalsh(self.K(slope), check_finite=False), 0)
        return float((slope * self.margins - self.softness / 2 * slope**2).sum() - (roots**2).sum() / 2)


def _best_scales(
    E: np.ndarray, margins: np.ndarray, softness: float, s: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray]:
    """`min_{s >= 0} Σ ψ_δ(m + E s) + ½‖s‖²` for E (n, d): the value, s* and the slopes, by projected Newton steps."""

    def at(s: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        u = margins + E @ s
        loss, slope = hinge(u, softness)
        return float(loss.sum() + s @ s / 2), slope, (u > 0) & (u < softness)

    s = np.maximum(s, 0)
    value, slope, curved = at(s)
    for _ in range(50):
        gradient = E.T @ slope + s
        free = (s > 0) | (gradient < 0)
        if not free.any() or np.abs(gradient[free]).max() <= 1e-11 * max(1.0, np.abs(s).max()):
            break
        A = E[np.ix_(curved, free)]
        step = np.zeros_like(s)
        step[free] = -np.linalg.solve(np.eye(A.shape[1]) + A.T @ A / softness, gradient[free])
        length, before = 1.0, value
        while True:
            trial = np.maximum(s + length * step, 0)
            value, slope, curved = at(trial)
            if value <= before + 1e-4 * gradient @ (trial - s) or length < 1e-9:
                break
            length /= 2
        s = trial
        if before - value <= 1e-15 * abs(before):
            break
    return value, s, slope

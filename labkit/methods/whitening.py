"""Whitening (Su et al. 2021): after it the vectors of a base have mean 0 and covariance I on the training sentences.

    y = (x - μ) U diag(λ)^(-1/2)        XᵀX/n = U diag(λ) Uᵀ, X the centred training rows

Every direction then counts the same, those that all sentences share as much as those that tell them apart. Fewer
directions (the largest λ) leave out the noise that whitening would blow up.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from labkit.methods.affine import Affine, AffineMethod, principal_axes, single
from labkit.methods.base import BasedSettings
from labkit.methods.contract import setting


@dataclass(frozen=True, kw_only=True)
class WhiteningSettings(BasedSettings):
    """Whose vectors, and how much of them is kept."""

    dimension: int = setting(0, "directions kept; 0: all", least=0, most=10_000)


def whitening(rows: np.ndarray, dimension: int = 0) -> Affine:
    """The map that gives rows (n, d) mean 0 and covariance I in their `dimension` largest directions; 0: in all."""
    axes = principal_axes(rows)
    kept = dimension or len(axes.variances)
    return single(axes.centre, axes.directions[:, :kept] / np.sqrt(axes.variances[:kept]))


class Whitening(AffineMethod):
    """Equal variances."""

    name = "whitening"
    Settings = WhiteningSettings

    def _learned(self, rows: np.ndarray) -> Affine:
        return whitening(rows, self.settings.dimension)

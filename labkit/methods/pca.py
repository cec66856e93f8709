"""Principal components: the vectors of a base, centred, in the few directions along which they vary most.

    y = (x - μ) U_p        U: principal axes of the training sentences, the p largest variances

Against `whitening` the directions keep their variances; against `lsa` any base will do and the mean goes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from labkit.methods.affine import Affine, AffineMethod, principal_axes, single
from labkit.methods.base import BasedSettings
from labkit.methods.contract import setting


@dataclass(frozen=True, kw_only=True)
class PcaSettings(BasedSettings):
    """Whose vectors, and how much of them is kept."""

    dimension: int = setting(100, "directions kept", least=1, most=10_000)


def pca(rows: np.ndarray, dimension: int) -> Affine:
    """The map onto the `dimension` largest principal axes of rows (n, d), or onto all there are."""
    axes = principal_axes(rows)
    return single(axes.centre, axes.directions[:, :dimension])


class Pca(AffineMethod):
    """Fewer columns."""

    name = "pca"
    Settings = PcaSettings

    def _learned(self, rows: np.ndarray) -> Affine:
        return pca(rows, self.settings.dimension)

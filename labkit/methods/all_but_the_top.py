"""All but the top (Mu and Viswanath 2018): the mean and the few directions that dominate all vectors are taken away.

    y = (x - μ) (I - U_c U_cᵀ)        U_c: the c principal axes of the training sentences with the largest variances

`sif` takes away directions of vectors that still have their mean; here the mean goes first, and any base will do.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from labkit.methods.affine import Affine, AffineMethod, principal_axes, single
from labkit.methods.base import BasedSettings
from labkit.methods.contract import setting


@dataclass(frozen=True, kw_only=True)
class AllButTheTopSettings(BasedSettings):
    """Whose vectors, and what is taken away."""

    components: int = setting(0, "directions taken away; 0: one for every hundred columns", least=0, most=10_000)


def all_but_the_top(rows: np.ndarray, components: int = 0) -> Affine:
    """The map that removes the mean and the `components` largest principal axes of rows (n, d); 0: d/100, or 1."""
    axes = principal_axes(rows)
    width = rows.shape[1]
    count = components or max(1, round(width / 100))
    if count >= len(axes.variances):
        raise ValueError(
            f"components is {count}, expected less than {len(axes.variances)}, the directions along which the rows "
            "vary, or nothing would be left; lower it or give more sentences"
        )
    top = axes.directions[:, :count]
    return single(axes.centre, np.eye(width) - top @ top.T)


class AllButTheTop(AffineMethod):
    """What is common, removed."""

    name = "all-but-the-top"
    Settings = AllButTheTopSettings

    def _learned(self, rows: np.ndarray) -> Affine:
        return all_but_the_top(rows, self.settings.components)

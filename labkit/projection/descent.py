"""t-SNE's way down: gradient descent with momentum and a gain for each coordinate.

In: P (n, n) and a start (n, 2). Out: points float32 (n, 2) and their KL(P||Q). Deterministic for a start.

The phases were chosen on a mixture of classes and on a cloud without any: a release from exaggeration in small steps
lets 300 long ones end at a lower KL than 1,000 of the usual kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from labkit.progress import Progress, silent
from labkit.projection.forces import Forces, divergence, forces

LONGEST = 5.0  # step of a point, in the picture's units: nobody is thrown out of it
OFTEN = 10  # iterations from one word of progress to the next


@dataclass(frozen=True)
class Phase:
    """So many iterations with the pull times `exaggeration`; a step is `rate` · n · gain · gradient / 4."""

    iterations: int
    exaggeration: float
    rate: float
    momentum: float


def phases_for(count: int, *, near: bool = False) -> tuple[Phase, ...]:
    """For so many points; `near`: from a picture that is nearly right, nothing of which is to be torn apart again.

    Above 10,000 points each further 100 take one more iteration to come to rest.
    """
    last = Phase(300 + max(0, count - 10_000) // 100, 1.0, 1.0, 0.9)
    release = Phase(50, 1.0, 1 / 4, 0.5)
    return (release, last) if near else (Phase(50, 12.0, 1 / 12, 0.8), release, last)


@dataclass(frozen=True, eq=False)
class Arranged:
    """Points (n, 2) float32, their KL, and how many iterations they took."""

    points: np.ndarray
    kl: float
    iterations: int


def descend(
    P: sparse.csr_array,
    start: np.ndarray,
    phases: Sequence[Phase] | None = None,
    *,
    device: str = "cpu",
    progress: Progress = silent,
) -> Arranged:
    """Through the phases, without any those from afar. A gain falls to 0.8 of itself where its coordinate has gone past
    the bottom, else grows by 0.2 (Jacobs 1988)."""
    phases = phases_for(len(start)) if phases is None else phases
    at = _forces(P, device)
    Y: np.ndarray = start.astype(np.float32)
    total, done = sum(phase.iterations for phase in phases), 0
    for phase in phases:
        speed, gain = np.zeros_like(Y), np.ones_like(Y)
        for _ in range(phase.iterations):
            pull, push, Z = at(Y)
            gradient = phase.exaggeration * pull - push / Z
            gain = np.maximum(np.where(gradient * speed > 0, gain * 0.8, gain + 0.2), 0.01)
            speed = phase.momentum * speed - phase.rate * len(Y) * gain * gradient
            speed /= np.maximum(np.hypot(speed[:, :1], speed[:, 1:]) / LONGEST, 1)
            Y = Y + speed
            Y -= Y.mean(axis=0)
            done += 1
            if done % OFTEN == 0 or done == total:
                progress(done, total, "t-SNE")
    return Arranged(Y, divergence(P, Y, at(Y)[2]), done)


def _forces(P: sparse.csr_array, device: str) -> Forces:
    if device == "cpu":
        return forces(P)
    from labkit.projection.on_device import forces_on

    return forces_on(device, P)

"""The objective against the paper's sums in plain loops, finite differences, other optimisers and torch."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize

from labkit.film.objective import hinge, supervision
from labkit.film.solvers import closed_form
from labkit.film.stiefel import random_point


def differences(f, at: np.ndarray, step: float = 1e-6) -> np.ndarray:
    slope = np.zeros_like(at)
    for place in np.ndindex(at.shape):
        ahead, behind = at.copy(), at.copy()
        ahead[place] += step
        behind[place] -= step
        slope[place] = (f(ahead) - f(behind)) / (2 * step)
    return slope


def closeness(found: np.ndarray, wanted: np.ndarray) -> float:
    return float(np.linalg.norm(found - wanted) / np.linalg.norm(wanted))


def test_worked_examples_of_hinge_and_supervision() -> None:
    loss, slope = hinge(np.array([-1.0, 0.0, 1.0, 2.0, 5.0]), 2.0)
    assert loss.tolist() == [0, 0, 0.25, 1, 4]
    assert slope.tolist() == [0, 0, 0.5, 1, 1]
    M, size = supervision(np.array([(0, 1, 2), (0, 1, 3), (2, 3, 0)]), 4)
    assert size.tolist() == [2, 0, 1, 0]
    assert M.toarray()[:, 0] == pytest.approx([0, 2 / 3, -1 / 3, -1 / 3])
    assert M.toarray()[:, 2] == pytest.approx([-1 / 2, 0, 0, 1 / 2])


def test_equations_7_10_and_13_are_equal(random, objective, triplets) -> None:
    m, B = objective.margin, random.standard_normal((4, 9))
    Y = objective.V @ B.T
    hinges = []  # eq. 7, with the sum over an anchor's triplets as printed
    for i in range(40):
        own = [(j, k) for a, j, k in triplets if a == i]
        hinges.append(sum(Y[i] @ Y[k] - Y[i] @ Y[j] + m for j, k in own) / (len(own) + 1))
    eq7 = sum(max(0, h) for h in hinges)

    z = objective.z(Y)
    active = (z + objective.margins > 0).astype(float)
    eq10 = float(z @ active + objective.margins @ active)
    B_factor = B.T @ B
    eq13 = float(np.sum(B_factor * objective.K(active)) + objective.margins @ active)
    assert z + objective.margins == pytest.approx(hinges, abs=1e-12)
    assert eq10 == pytest.approx(eq7, abs=1e-12)
    assert eq13 == pytest.approx(eq7, abs=1e-12)
    printed = float(np.maximum(z + m, 0).sum())  # the same margin for every anchor, as printed in eq. 10
    assert abs(printed - eq7) > 1e-3


def test_value_is_hinges_and_a_penalty(random, objective) -> None:
    B = random.standard_normal((4, 9))
    G = B.T @ B
    z = np.einsum("ir,rs,is->i", objective.V, G, -(objective.M.T @ objective.V))
    wanted = sum(
        0 if u <= 0 else u**2 / (2 * objective.softness) if u < objective.softness else u - objective.softness / 2
        for u in objective.margins + z
    )
    assert objective.by_factor(B)[0] == pytest.approx(wanted + np.sum(G**2) / 2, rel=1e-13)


def test_gradient_over_factors(random, objective) -> None:
    B = 0.4 * random.standard_normal((4, 9))
    slopes = objective.slopes(B)
    assert (slopes == 0).any()  # all three parts of the hinge occur
    assert (slopes == 1).any()
    assert ((slopes > 0) & (slopes < 1)).any()
    _, gradient = objective.by_factor(B)
    assert closeness(gradient, differences(lambda B: objective.by_factor(B)[0], B)) < 1e-7


def test_gradient_over_the_manifold(objective) -> None:
    P = random_point(9, 4, seed=1)
    _, gradient, s = objective.by_stiefel(P, np.full(4, 0.05))
    assert (s > 0).any()
    assert closeness(gradient, differences(lambda P: objective.by_stiefel(P, s)[0], P)) < 1e-7


@pytest.mark.parametrize("seed", [0, 3])
def test_best_scales_equal_those_of_a_general_optimiser(objective, seed: int) -> None:
    P = random_point(9, 4, seed)
    value, _, s = objective.by_stiefel(P, np.full(4, 0.05))

    def at(s: np.ndarray) -> float:
        return objective.by_factor(np.sqrt(s)[:, None] * P.T)[0]

    found = optimize.minimize(at, np.full(4, 0.05), bounds=[(0, None)] * 4, method="L-BFGS-B", tol=1e-15)
    assert value == pytest.approx(at(s), abs=1e-13)
    assert value <= found.fun + 1e-12
    assert s == pytest.approx(found.x, abs=1e-5)


def test_bound_is_tight_at_the_minimum_without_a_rank_limit(random, objective) -> None:
    B0 = 0.1 * random.standard_normal((9, 9))
    fg = lambda x: (lambda v, g: (v, g.ravel()))(*objective.by_factor(x.reshape(9, 9)))  # noqa: E731
    found = optimize.minimize(
        fg, B0.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": 3000, "ftol": 0, "gtol": 1e-12}
    )
    B = found.x.reshape(9, 9)
    assert objective.bound(objective.slopes(B)) == pytest.approx(found.fun, rel=1e-6)


def test_closed_form_is_the_minimum_when_every_hinge_is_active(random, objective) -> None:
    wide = objective.rescaled(margin=10.0, softness=0.01)
    found = closed_form(wide, 3)
    value, gradient = wide.by_factor(found.B)
    assert (wide.slopes(found.B)[wide.margins > 0] == 1).all()
    assert np.linalg.norm(gradient) < 1e-12
    others = [found.B + 0.1 * random.standard_normal((3, 9)) for _ in range(200)]
    assert all(wide.by_factor(B)[0] > value for B in others)


def test_batches_add_up(random, objective) -> None:
    B = random.standard_normal((4, 9))
    anchors = random.permutation(np.flatnonzero(objective.margins > 0))
    parts = [objective.batch(part) for part in np.array_split(anchors, 5)]
    assert sum(part.K() for part in parts) == pytest.approx(objective.K(), abs=1e-14)
    whole = objective.by_factor(B)[0]
    penalty = np.sum((B @ B.T) ** 2) / 2
    assert sum(part.by_factor(B)[0] - penalty for part in parts) + penalty == pytest.approx(whole, abs=1e-12)


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support")
def test_torch_gives_the_same_values(random, objective) -> None:
    import torch

    B = random.standard_normal((4, 9))
    value, gradient = objective.on("cpu").by_factor(torch.as_tensor(B))
    wanted, slope = objective.by_factor(B)
    assert value == pytest.approx(wanted, rel=1e-13)
    assert gradient.numpy() == pytest.approx(slope, abs=1e-12)

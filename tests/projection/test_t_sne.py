"""t-SNE: its parts against plain loops and automatic differentiation, its divergence against scikit-learn's."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from scipy import sparse
from sklearn.manifold import TSNE
from sklearn.neighbors import KNeighborsClassifier

from labkit.projection import project, tsne
from labkit.projection import t_sne as stochastic
from labkit.projection.t_sne import Phase, affinities, conditional, descend, divergence, forces


def clouds(count: int = 40, classes: int = 3) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    centres = random.standard_normal((classes, 20)) * 2
    labels = np.repeat(np.arange(classes), count)
    return centres[labels] + random.standard_normal((classes * count, 20)), labels


def test_affinities_by_hand() -> None:
    """Neighbours at d² = 1 and 4 with β = ln 2 / 3: p is (2/3, 1/3), with entropy ln 3 - 2/3 ln 2."""
    np.testing.assert_allclose(conditional(np.array([[1.0, 4.0]]), 3 / 2 ** (2 / 3)), [[2 / 3, 1 / 3]], atol=1e-4)
    np.testing.assert_allclose(conditional(np.array([[2.0, 2.0, 2.0]]), 2.0), [[1 / 3] * 3])  # copies share equally


def test_affinities_against_plain_loops() -> None:
    rows, _ = clouds(10)
    n, perplexity = len(rows), 9.9  # 3 · 9.9 includes all other rows
    P = np.zeros((n, n))
    for i in range(n):
        squared = ((rows - rows[i]) ** 2).sum(axis=1)
        low, high = 1e-6, 1e3
        for _ in range(200):
            beta = math.sqrt(low * high)
            p = np.exp(-beta * (squared - np.sort(squared)[1]))
            p[i] = 0
            p /= p.sum()
            entropy = -(p[p > 0] * np.log(p[p > 0])).sum()
            low, high = (beta, high) if entropy > math.log(perplexity) else (low, beta)
        P[i] = p
    found = affinities(rows, perplexity)
    np.testing.assert_allclose(found.toarray(), (P + P.T) / (2 * n), atol=1e-6)
    assert found.sum() == pytest.approx(1)
    assert abs(found - found.T).max() == 0


@pytest.mark.parametrize("count", [5, 127])
def test_forces_are_the_derivative_of_kl(count: int) -> None:
    """Against automatic differentiation in float64."""
    random = np.random.default_rng(count)
    dense = random.random((count, count)) * (random.random((count, count)) < 0.3)
    np.fill_diagonal(dense, 0)
    dense = (dense + dense.T) / (2 * dense.sum())
    Y = torch.tensor(random.standard_normal((count, 2)) * 3, dtype=torch.float64, requires_grad=True)
    p, q = torch.from_numpy(dense), 1 / (1 + ((Y[:, None] - Y[None]) ** 2).sum(dim=2))
    q = q * (1 - torch.eye(count))
    kl = torch.where(p > 0, p * (p.clamp(min=1e-300) * q.sum() / q.clamp(min=1e-300)).log(), 0.0).sum()
    (wanted,) = torch.autograd.grad(kl, Y)
    single = Y.detach().numpy().astype(np.float32)
    P = sparse.csr_array(dense)
    pull, push, Z = forces(P)(single)
    assert pytest.approx(q.sum().item(), rel=1e-5) == Z
    assert divergence(P, single, Z) == pytest.approx(kl.item(), rel=1e-4)
    gradient = 4 * (pull - push / Z)
    np.testing.assert_allclose(gradient, wanted.numpy(), atol=2e-5 * float(wanted.abs().max()))


def test_forces_of_two_points_by_hand() -> None:
    """Two points 2 apart: q = 1/5, Z = 2/5; pull = p q 2 = 1/5, push = q² 2 = 2/25, in equilibrium as p = q/Z = 1/2."""
    P = sparse.csr_array(np.array([[0, 0.5], [0.5, 0]]))
    pull, push, Z = forces(P)(np.array([[0, 0], [2, 0]], np.float32))
    assert pytest.approx(0.4) == Z
    np.testing.assert_allclose(push, [[-0.08, 0], [0.08, 0]], atol=1e-7)
    np.testing.assert_allclose(pull, [[-0.2, 0], [0.2, 0]], atol=1e-7)
    assert divergence(P, np.array([[0, 0], [2, 0]], np.float32), Z) == pytest.approx(0, abs=1e-6)  # q/Z equals P


def test_one_step_of_the_descent_by_hand() -> None:
    """One iteration, exaggeration 2, rate 1/2, n = 2, gain 1.2: y - 1/2 · 2 · 1.2 · (2 · pull - push / Z)."""
    P = sparse.csr_array(np.array([[0, 0.5], [0.5, 0]]))
    start = np.array([[-1.0, 0], [1.0, 0]])
    points, _ = descend(P, start, (Phase(1, 2.0, 0.5, 0.8),))
    gradient = 2 * np.array([-0.2, 0.2]) - np.array([-0.08, 0.08]) / 0.4
    np.testing.assert_allclose(points[:, 0], start[:, 0] - 1.2 * gradient, atol=1e-6)


def test_kl_is_no_worse_than_scikit_learns() -> None:
    """Both measured as KL(P||Q) with the same P and exact Q."""
    rows, labels = clouds(60)
    ours = project(rows, "tsne", perplexity=20)
    theirs = TSNE(perplexity=20, random_state=0).fit_transform(rows)
    P = affinities(rows, 20)
    assert ours.kl <= divergence(P, theirs, forces(P)(theirs)[2])
    assert ours.quality.kl == ours.kl
    assert KNeighborsClassifier(5).fit(ours.points[::2], labels[::2]).score(ours.points[1::2], labels[1::2]) > 0.95


def test_perplexity_is_lowered_to_the_number_of_points() -> None:
    assert project(np.eye(7), "tsne", measure=False).settings["perplexity"] == 2
    assert project(np.eye(4), "tsne", measure=False).settings["perplexity"] == 1


def test_opentsne_is_used_above_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a lowered limit, the exact and the approximate form reach a similar divergence."""
    rows, labels = clouds()
    exact = project(rows, "tsne", measure=False)
    for name, value in (("EXACT", 100), ("EARLY", 50), ("LATE", 150)):
        monkeypatch.setattr(stochastic, name, value)
    seen: list[int] = []
    found, same = (
        project(rows, "tsne", progress=lambda done, total, what: seen.append(done), measure=False) for _ in range(2)
    )
    assert (exact.settings["form"], found.settings["form"]) == ("exact", "openTSNE")
    assert found.points.tobytes() == same.points.tobytes()
    assert found.kl == pytest.approx(exact.kl, rel=0.15)
    assert max(seen) == found.settings["iterations"] == 200
    assert KNeighborsClassifier(5).fit(found.points[::2], labels[::2]).score(found.points[1::2], labels[1::2]) > 0.95
    again = project(rows, "tsne", start=found.points, measure=False)
    assert again.settings["iterations"] == 150
    assert np.linalg.norm(again.points - found.points, axis=1).mean() < np.abs(found.points).mean()


def test_tsne_uses_cosines() -> None:
    rows, _ = clouds(20)
    stretched = rows * np.random.default_rng(1).uniform(0.1, 10, (len(rows), 1))
    np.testing.assert_allclose(tsne(stretched).points, tsne(rows).points, atol=1e-2)
    assert tsne(rows).quality is None

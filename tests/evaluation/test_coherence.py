"""P-coherence and related scores against plain loops; a collapsed encoder scores badly."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import pdist

from labkit.evaluation import hit_at, p_coherence

FIGURES = ("within", "between", "lift", "retrieval", "distance")


def looped(rows, groups):
    def cosine(a, b):
        return a @ b / np.linalg.norm(a) / np.linalg.norm(b)

    members = {g: [row for row, group in zip(rows, groups, strict=True) if group == g] for g in set(groups)}
    members = {g: np.array(found) for g, found in members.items() if len(found) > 1}
    within = np.mean([np.mean([cosine(a, b) for a, b in combinations(found, 2)]) for found in members.values()])
    between = np.mean(
        [cosine(rows[i], rows[j]) for i, j in combinations(range(len(rows)), 2) if groups[i] != groups[j]]
    )
    distance = np.mean([pdist(found, "seuclidean", V=rows.var(axis=0)).mean() for found in members.values()])
    return within, between, within - between, hit_at(rows, groups)[1], distance


def test_equals_plain_loops():
    random = np.random.default_rng(0)
    groups = [f"g{number}" for number in random.integers(0, 25, 70)]
    rows = random.standard_normal((70, 5)) + 0.5
    for given_rows in (rows, sparse.csr_array(rows)):
        found = p_coherence(given_rows, groups)
        assert [getattr(found, name) for name in FIGURES] == pytest.approx(looped(rows, groups))
    sizes = [groups.count(group) for group in set(groups)]
    assert (found.groups, found.left_out) == (sum(s > 1 for s in sizes), sum(s == 1 for s in sizes))
    assert found.left_out > 0


def test_a_collapsed_encoder_scores_badly():
    random = np.random.default_rng(0)
    collapsed = np.ones((40, 6)) + 1e-6 * random.standard_normal((40, 6))
    found = p_coherence(collapsed, np.arange(40) // 5)
    assert found.within == pytest.approx(1, abs=1e-9)
    assert found.lift == pytest.approx(0, abs=1e-9)
    assert found.retrieval < 0.5
    assert found.distance > 2  # as far apart as any two rows: about sqrt(2 d), for unit variance
    alike = p_coherence(np.full((40, 6), 0.1), np.arange(40) // 5)
    assert (alike.retrieval, alike.distance) == (0, 0)
    assert alike.lift == pytest.approx(0, abs=1e-12)

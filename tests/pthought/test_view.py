"""P-coherence and its cosines against plain loops, and a warning only for collapsed encoders."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import sparse

from labkit.arrays import unit
from labkit.evaluation import p_coherence
from labkit.pthought.view import MEANINGS, companions, groups_with

LABELS = [0, 0, 0, 1, 1, 2, 2, 2, 2, 3]


def rows(seed: int = 0, shift: float = 0.0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((10, 6)) + shift


def test_cosines_against_plain_loops() -> None:
    found = companions(rows(), LABELS)
    u = unit(rows())
    pairs = list(combinations(range(10), 2))
    within = [u[a] @ u[b] for a, b in pairs if LABELS[a] == LABELS[b]]
    between = {round(float(u[a] @ u[b]), 9) for a, b in pairs if LABELS[a] != LABELS[b]}
    np.testing.assert_allclose(np.sort(found.within), np.sort(within))
    assert {round(value, 9) for value in found.between.tolist()} <= between
    assert found.between.mean() == pytest.approx(found.figures.between, abs=0.02)  # a sample with replacement
    assert found.figures == p_coherence(u, LABELS)
    assert found.warning is None
    assert [row["figure"] for row in found.rows()] == list(MEANINGS)
    assert next(found.rows())["value"] == found.figures.within


def test_warning_of_a_collapsed_encoder() -> None:
    found = companions(rows(shift=60.0), LABELS)
    assert found.figures.within > 0.99
    assert found.warning is not None
    narrow = np.array([[1.0, 1e-4 * row] for row in range(10)])
    assert companions(narrow, LABELS).warning is not None


def test_sentences_without_a_vector_are_left_out() -> None:
    some = rows()
    some[4] = 0
    found = companions(sparse.csr_matrix(some), LABELS)
    assert found.figures.left_out == 2  # groups 1 and 3 have one sentence each
    assert len(found.within) == 3 + 6


# --- groups in the plane ------------------------------------------------------------------------------------------


GROUPS = [[f"{name} {row}" for row in range(5)] for name in "abcdefgh"] + [["alone"], ["twice", "twice"]]


def test_the_group_of_a_sentence_comes_first_and_the_seed_draws_the_others() -> None:
    one, again, other = (groups_with(GROUPS, "c 3", count=3, most=4, seed=seed) for seed in (0, 0, 1))
    assert (one.texts, one.labels) == (again.texts, again.labels)
    assert one.texts != other.texts
    assert one.texts[:4] == ("c 3", "c 0", "c 1", "c 2")
    assert one.labels == tuple("AAAABBBBCCCC")
    every = groups_with(GROUPS, "c 3", count=20)
    assert sorted(every.texts) == sorted(text for group in GROUPS[:8] for text in group)
    for sentence in ("alone", "twice", "unknown"):
        with pytest.raises(ValueError, match=sentence):
            groups_with(GROUPS, sentence)

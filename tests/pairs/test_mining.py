"""Miners: the keep rule against a worked example and loops, the hardest pairs, and random shares."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from labkit.pairs import hardest, informative, masks_from_labels, random_pairs

Masks = tuple[Tensor, Tensor]


def cosines(rows: int, width: int, seed: int) -> Tensor:
    """Cosines (m, m) in float64 of random directions with a common offset."""
    X = torch.randn(rows, width, generator=torch.Generator().manual_seed(seed), dtype=torch.float64) + 0.5
    V = X / X.norm(dim=1, keepdim=True)
    return V @ V.T


def random_masks(rows: int, seed: int) -> tuple[Tensor, Tensor]:
    """Masks with unknown pairs, a row without positives and a row without negatives."""
    kind = torch.randint(0, 3, (rows, rows), generator=torch.Generator().manual_seed(seed)).fill_diagonal_(0)
    kind[0] = kind[0].clamp(max=1)  # no negative
    kind[-1][kind[-1] == 1] = 2  # no positive
    return kind == 1, kind == 2


def in_loops(S: Tensor, P: Tensor, N: Tensor, epsilon: float) -> tuple[Masks, Masks]:
    """The pairs that `informative` and `hardest` keep."""
    s, (kept, pushed, far, near) = S.tolist(), torch.zeros(4, *P.shape, dtype=torch.bool)
    for i in range(len(s)):
        positives, negatives = ([j for j in range(len(s)) if mask[i, j]] for mask in (P, N))
        if positives and negatives:
            lowest, highest = min(s[i][k] for k in positives), max(s[i][k] for k in negatives)
            for j in negatives:
                pushed[i, j] = s[i][j] > lowest - epsilon
            for j in positives:
                kept[i, j] = s[i][j] < highest + epsilon
            far[i, min(positives, key=lambda j: s[i][j])] = True
            near[i, max(negatives, key=lambda j: s[i][j])] = True
    return (kept, pushed), (far, near)


def test_worked_example_of_the_keep_rule() -> None:
    """Positives at 0.9 and 0.6, negatives at 0.75, 0.55 and 0.4, ε = 0.1: the floor is 0.5, the ceiling 0.85."""
    S = torch.tensor([[0.9, 0.6, 0.75, 0.55, 0.4]], dtype=torch.float64)
    P = torch.tensor([[True, True, False, False, False]])
    kept, pushed = informative(S, P, ~P)
    assert kept.tolist() == [[False, True, False, False, False]]
    assert pushed.tolist() == [[False, False, True, True, False]]
    # a pair exactly on the margin is not kept
    S = torch.tensor([[0.5, 0.25], [0.5, 0.26], [0.5, 0.24]], dtype=torch.float64)
    P = torch.tensor([[True, False]]).expand(3, 2)
    kept, pushed = informative(S, P, ~P, epsilon=0.25)
    assert kept[:, 0].tolist() == pushed[:, 1].tolist() == [False, True, False]


@given(rows=st.integers(1, 12), seed=st.integers(0, 9999), epsilon=st.floats(-0.5, 2))
def test_keep_rules_equal_loops(rows: int, seed: int, epsilon: float) -> None:
    triple = cosines(rows, 3, seed), *random_masks(rows, seed)
    kept = informative(*triple, epsilon=epsilon), hardest(*triple)
    for found, expected in zip(kept, in_loops(*triple, epsilon), strict=True):
        assert torch.equal(found[0], expected[0])
        assert torch.equal(found[1], expected[1])


def test_the_hardest_of_tied_pairs_is_the_first() -> None:
    P, N = masks_from_labels([0, 0, 0, 1, 1])
    far, near = hardest(torch.ones(5, 5), P, N)
    assert far.nonzero().tolist() == [[0, 1], [1, 0], [2, 0], [3, 4], [4, 3]]
    assert near.nonzero().tolist() == [[0, 3], [1, 3], [2, 3], [3, 0], [4, 0]]


@given(rows=st.integers(1, 12), seed=st.integers(0, 999), share=st.floats(0, 1))
def test_random_pairs_keep_a_share(rows: int, seed: int, share: float) -> None:
    S, (P, N) = cosines(rows, 3, seed), random_masks(rows, seed)
    kept = random_pairs(S, P, N, share=share, generator=torch.Generator().manual_seed(seed))
    for some, every in zip(kept, (P, N), strict=True):
        assert not (some & ~every).any()
        assert some.sum() == round(share * int(every.sum()))
    again = random_pairs(S, P, N, share=share, generator=torch.Generator().manual_seed(seed))
    assert all(torch.equal(some, same) for some, same in zip(kept, again, strict=True))


def test_random_pairs_do_not_look_at_similarities() -> None:
    P, N = masks_from_labels([i // 4 for i in range(40)])
    draws = [
        random_pairs(cosines(40, 3, data), P, N, share=0.5, generator=torch.Generator().manual_seed(seed))[1]
        for data, seed in ((0, 0), (1, 0), (0, 1))
    ]
    assert torch.equal(draws[0], draws[1])
    assert not torch.equal(draws[0], draws[2])


def test_bad_settings_are_refused() -> None:
    triple = cosines(5, 3, 1), *random_masks(5, 1)
    for epsilon in (math.nan, "2"):
        with pytest.raises(ValueError, match="epsilon"):
            informative(*triple, epsilon=epsilon)
    for share in (-0.1, 1.1, math.nan):
        with pytest.raises(ValueError, match="share"):
            random_pairs(*triple, share=share, generator=torch.Generator())
    with pytest.raises(ValueError, match="generator"):
        random_pairs(*triple, share=0.5, generator=3)

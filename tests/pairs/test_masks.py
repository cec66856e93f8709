"""Masks from labels, and errors for an inconsistent triple (S, P, N)."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from labkit.pairs import locality, masks_from_labels


def test_bad_labels_are_refused_and_large_ones_stay_distinct() -> None:
    for labels in ([[0, 1]], [], [None, "b"], [0.0, math.nan]):
        with pytest.raises(ValueError, match="labels"):
            masks_from_labels(labels)
    # 2^24 + 1 is 2^24 in single precision
    for labels in ([2.0**24, 2.0**24 + 1, 2.0**24], [2**60, 2**60 + 1, 2**60]):
        assert masks_from_labels(labels)[0].nonzero().tolist() == [[0, 2], [2, 0]]


@pytest.mark.parametrize("labels", [torch.tensor([7, 7, 3]), ["tree", "tree", "pet"]])
def test_masks_of_three_rows(labels: Any) -> None:
    positive, negative = masks_from_labels(labels)
    assert positive.tolist() == [[False, True, False], [True, False, False], [False, False, False]]
    assert negative.tolist() == [[False, False, True], [False, False, True], [True, True, False]]


def test_the_diagonal_may_be_positive_for_other_rows() -> None:
    rows = F.normalize(torch.randn(6, 4, generator=torch.Generator().manual_seed(0)))
    memory, labels = rows.flip(0), torch.tensor([0, 0, 1, 1, 0, 0])
    same = labels[:, None] == labels.flip(0)
    assert same.diagonal().all()
    assert locality((rows @ memory.T), same, ~same).isfinite()


def good() -> dict[str, torch.Tensor]:
    positive, negative = masks_from_labels([0, 0, 1, 1])
    return {"similarity": torch.linspace(-1, 1, 16).view(4, 4), "positive": positive, "negative": negative}


def changed(name: str, i: int, j: int, value: float) -> torch.Tensor:
    tensor = good()[name].clone()
    tensor[i, j] = value
    return tensor


def test_masks_may_be_zeros_and_ones() -> None:
    S, P, N = good().values()
    assert torch.equal(locality(S, P.int(), N.float()), locality(S, P, N))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_cosines_slightly_above_one_are_accepted(dtype: torch.dtype) -> None:
    beyond = torch.nextafter(torch.ones((), dtype=dtype), torch.tensor(2.0, dtype=dtype))
    assert locality(beyond.expand(2, 2), *masks_from_labels([0, 0])).isfinite()


WRONG = {
    "positive of another shape": ({"positive": torch.zeros(3, 4, dtype=torch.bool)}, "positive has shape"),
    "a row its own positive": ({"positive": changed("positive", 3, 3, True)}, "positive"),
    "overlap": ({"negative": changed("negative", 2, 3, True)}, r"overlap at \[2, 3\]"),
    "NaN": ({"similarity": changed("similarity", 1, 2, math.nan)}, r"similarity\[1, 2\]"),
    "no cosine": ({"similarity": changed("similarity", 0, 3, 1.1)}, r"similarity\[0, 3\]"),
    "one row": ({"similarity": torch.zeros(4)}, "similarity has shape"),
    "integers": ({"similarity": torch.ones(4, 4, dtype=torch.long)}, "similarity is torch.int64"),
    "mask is a list": ({"positive": [[True]]}, "positive is list"),
    "mask of counts": ({"positive": good()["positive"].int() * 2}, "^positive .*2"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_an_inconsistent_triple_is_refused(wrong: str) -> None:
    change, said = WRONG[wrong]
    with pytest.raises(ValueError, match=said):
        locality(**(good() | change))

"""Masks from labels, and what is said about a triple (S, P, N) that cannot be right."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit.pairs import (
    contrastive,
    hardest,
    informative,
    locality,
    masks_from_labels,
    pair_weights,
    random_pairs,
    soft_triplet,
    weight_parts,
)

TAKERS = {
    "contrastive": contrastive,
    "soft_triplet": soft_triplet,
    "locality": locality,
    "weight_parts": weight_parts,
    "informative": informative,
    "hardest": hardest,
    "random_pairs": partial(random_pairs, share=0.5, generator=torch.Generator()),
    "pair_weights": partial(pair_weights, locality),
}


def test_masks_of_three_rows() -> None:
    positive, negative = masks_from_labels(torch.tensor([7, 7, 3]))
    assert positive.tolist() == [[False, True, False], [True, False, False], [False, False, False]]
    assert negative.tolist() == [[False, False, True], [False, False, True], [True, True, False]]


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=12))
def test_every_pair_is_itself_positive_or_negative(labels: list[int]) -> None:
    positive, negative = masks_from_labels(labels)
    for i, own in enumerate(labels):
        for j, other in enumerate(labels):
            assert positive[i, j] == (i != j and own == other)
            assert negative[i, j] == (own != other)


@pytest.mark.parametrize(
    "labels", [np.array([0, 1, 0]), [0, 1, 0], torch.tensor([0.0, 1.0, 0.0]), [False, True, False]]
)
def test_labels_of_any_numbers(labels: object) -> None:
    assert masks_from_labels(labels)[0].nonzero().tolist() == [[0, 2], [2, 0]]


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ([[0, 1]], r"labels have shape \(1, 2\)"),
        ([], r"labels have shape \(0,\)"),
        (["a", "b"], "labels are list, expected numbers"),
        ([0.0, math.nan], "labels hold NaN"),
    ],
)
def test_labels_that_are_none(labels: list, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        masks_from_labels(labels)


def test_large_labels_stay_apart() -> None:
    large = 2.0**24
    for labels in ([large, large + 1, large], np.array([large, large + 1, large]), [2**60, 2**60 + 1, 2**60]):
        assert masks_from_labels(labels)[0].nonzero().tolist() == [[0, 2], [2, 0]]
    for kind, first in (
        (torch.float32, large),
        (torch.float16, 2048.0),
        (torch.bfloat16, 256.0),
        (torch.float64, 2.0**53),
    ):
        assert masks_from_labels(torch.tensor([first - 1, first - 2], dtype=kind))[1].sum() == 2
        with pytest.raises(
            ValueError, match=f"labels hold {first:.0f} as {kind}, in which the next whole number is the same"
        ):
            masks_from_labels(torch.tensor([first, first + 1], dtype=kind))


def test_a_diagonal_of_other_rows_may_be_positive() -> None:
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


WRONG = {
    "positive of another shape": ({"positive": torch.zeros(3, 4, dtype=torch.bool)}, r"positive has shape \(3, 4\)"),
    "negative of another shape": ({"negative": torch.zeros(4, dtype=torch.bool)}, r"negative has shape \(4,\)"),
    "itself": ({"positive": changed("positive", 3, 3, True)}, "positive holds pairs of a row with itself"),
    "overlap": ({"negative": changed("negative", 2, 3, True)}, r"overlap at \[2, 3\]"),
    "NaN": ({"similarity": changed("similarity", 1, 2, math.nan)}, r"similarity\[1, 2\] is nan"),
    "infinite": ({"similarity": changed("similarity", 3, 0, -math.inf)}, r"similarity\[3, 0\] is -inf"),
    "one row": ({"similarity": torch.zeros(4)}, r"similarity has shape \(4,\)"),
    "nothing": ({"similarity": torch.zeros(0, 0)}, r"similarity has shape \(0, 0\)"),
    "integers": ({"similarity": torch.ones(4, 4, dtype=torch.long)}, "similarity is torch.int64"),
    "a list": ({"similarity": [[1.0]]}, "similarity is list"),
    "mask is a list": ({"positive": [[True]]}, "positive is list"),
    "mask of counts": ({"positive": good()["positive"].int() * 2}, "positive holds 2, expected True or False"),
    "mask elsewhere": ({"negative": torch.zeros(4, 4, dtype=torch.bool, device="meta")}, "negative is on meta"),
}


@pytest.mark.parametrize("taker", TAKERS)
@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_wrong_is_named(taker: str, wrong: str) -> None:
    change, said = WRONG[wrong]
    with pytest.raises(ValueError, match=said) as raised:
        TAKERS[taker](**(good() | change))
    assert "expected" in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("taker", [name for name in TAKERS if name != "pair_weights"])
@pytest.mark.parametrize("value", [1.1, -1.5])
def test_a_cosine_lies_between_minus_one_and_one(taker: str, value: float) -> None:
    with pytest.raises(ValueError, match=rf"similarity\[0, 3\] is {value}, expected a cosine, within \[-1, 1\]"):
        TAKERS[taker](**(good() | {"similarity": changed("similarity", 0, 3, value)}))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_rounding_may_carry_a_cosine_beyond_one(dtype: torch.dtype) -> None:
    beyond = torch.nextafter(torch.ones((), dtype=dtype), torch.tensor(2.0, dtype=dtype))
    assert locality(beyond.expand(2, 2), *masks_from_labels([0, 0])).isfinite()


@settings(max_examples=30)
@given(
    rows=st.integers(1, 9),
    seed=st.integers(0, 99),
    dtype=st.sampled_from([torch.int8, torch.int64, torch.uint8, torch.float32]),
)
def test_masks_of_zeros_and_ones_mean_the_same(
    cosines: Callable, random_masks: Callable, rows: int, seed: int, dtype: torch.dtype
) -> None:
    S, (P, N) = cosines(rows, 3, seed), random_masks(rows, seed)
    for loss in (contrastive, soft_triplet, locality):
        assert torch.equal(loss(S, P, N), loss(S, P.to(dtype), N.to(dtype)))
    assert torch.equal(informative(S, P, N)[0], informative(S, P.to(dtype), N.to(dtype))[0])

"""One contract for every loss of the gallery: an oracle, its forms against one another, a batch by hand, extremes.

Oracles are pytorch-metric-learning and sentence-transformers where they have the loss, and plain loops for all. The
three losses of SentPWNet have tests of their own beside this (`test_losses.py`, `test_weights.py`).
"""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Callable
from dataclasses import fields
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from labkit.corpora.records import Corpus, Groups, Labelled, Pairs, Triplets
from labkit.corpora.table import load
from labkit.pairs import as_pml, fast, losses, masks_from_labels, pair_weights
from labkit.pairs.gallery import GALLERY, LEARNED, LOSSES, SHAPES, shapes_table, takes
from labkit.pairs.weights import cosent_weights
from labkit.sentpwnet.method import PairSettings, SentPWNet, loss_of
from tests.pairs.conftest import _cosines, _random_masks

NAMES = [loss.name for loss in GALLERY]
every_loss = pytest.mark.parametrize("name", NAMES)
ROOT = Path(__file__).parents[2]

Triple = tuple[Tensor, Tensor, Tensor]


def batch(rows: int, seed: int, width: int = 4) -> Triple:
    return _cosines(rows, width, seed).clamp(-1, 1), *_random_masks(rows, seed)


def slope(loss: Callable[..., Tensor], S: Tensor, P: Tensor, N: Tensor) -> tuple[Tensor, Tensor]:
    leaf = S.clone().requires_grad_()
    value = loss(leaf, P, N)
    value.backward()
    assert leaf.grad is not None
    return value.detach(), leaf.grad


# ------------------------------------------------------------------ the table itself


def test_two_names_of_multi_similarity_lead_to_one_loss() -> None:
    assert LOSSES["multi-similarity"] is LOSSES["locality"]
    assert set(LOSSES) == {*NAMES, "multi-similarity"}
    assert PairSettings(loss="multi-similarity") == PairSettings(loss="locality")
    assert PairSettings.of({"loss": "multi-similarity"}).deciding() == PairSettings().deciding()


@every_loss
def test_without_a_temperature_a_training_has_the_usual_one_of_its_loss(name: str) -> None:
    """That of the formula's keyword; of soft triplets it is the paper's 1 there, and a training takes 0.2."""
    keyword = inspect.signature(LOSSES[name].fast).parameters.get("temperature")
    usual = 1.0 if keyword is None else 0.2 if name == "soft-triplet" else keyword.default
    values = {"loss": name} | ({"dropout": 0.1} if name == "simcse" else {})
    assert PairSettings.of(values).temperature == PairSettings.of(values | {"temperature": 0}).temperature == usual
    assert PairSettings.of(values | {"temperature": 0.3}).temperature == 0.3


@every_loss
def test_dials_are_the_keywords_of_all_forms_and_settings_of_a_training(name: str) -> None:
    loss = LOSSES[name]
    extra = {"cosent": ("grades",), "simcse": ("symmetric",)}.get(name, ())
    for form in (loss.plain, loss.fast, loss.weights):
        keywords = inspect.signature(form).parameters.values()
        assert tuple(each.name for each in keywords if each.kind is each.KEYWORD_ONLY) == (*loss.dials, *extra)
    of_training = {each.name: each.metadata for each in fields(PairSettings)}
    for dial in loss.dials:
        assert f"loss={name}" in of_training[dial]["only"] or f"|{name}" in of_training[dial]["only"]
    assert all("temperature" in LOSSES[learned].dials for learned in LEARNED)
    assert loss.formula
    assert loss.origin
    assert loss.weight.endswith(".")


def test_the_page_on_the_code_has_the_table_of_shapes() -> None:
    assert shapes_table() in (ROOT / "docs" / "architecture.md").read_text("utf-8")
    assert all(tuple(takes(loss)) == SHAPES for loss in GALLERY)


# ------------------------------------------------------------------ once more, slow and obvious


def members(mask: Tensor, i: int) -> list[int]:
    return [j for j in range(mask.shape[1]) if mask[i, j]]


def log_sum(exponents: list[float]) -> float:
    return math.log(sum(map(math.exp, exponents)))


def of_anchor(name: str, s: list[float], p: list[int], n: list[int], dials: dict[str, Any]) -> float:
    """The term of one anchor with similarities s, positives p and negatives n."""
    tau, base, margin = dials.get("temperature", 0.0), dials.get("base", 0.0), dials.get("margin", 0.0)
    if name == "contrastive":
        return sum(max(0.0, s[j] - margin) for j in n) - sum(s[j] for j in p)
    if name == "locality":
        a, b = dials["alpha"], dials["beta"]
        return log_sum([0, *(-a * (s[j] - base) for j in p)]) / a + log_sum([0, *(b * (s[j] - base) for j in n)]) / b
    if name == "soft-triplet":
        return sum(tau * log_sum([0, (s[k] - s[j]) / tau]) for j, k in product(p, n))
    if name == "margin-triplet":
        return sum(max(0.0, s[k] - s[j] + margin) for j, k in product(p, n))
    if name == "logistic":
        return sum(tau * log_sum([0, (base - s[j]) / tau]) for j in p) + sum(
            tau * log_sum([0, (s[j] - base) / tau]) for j in n
        )
    if not p:
        return 0.0
    if name == "supcon":
        return -sum(s[j] / tau - log_sum([s[k] / tau for k in p + n]) for j in p) / len(p)
    return -sum(s[j] / tau - log_sum([s[k] / tau for k in [j, *n]]) for j in p) / len(p)


def in_loops(name: str, S: Tensor, P: Tensor, N: Tensor, **dials: Any) -> float:
    given = {each.name: each.default for each in inspect.signature(LOSSES[name].fast).parameters.values()} | dials
    if name == "cosent":
        t = given["temperature"]
        near, far = ([float(S[i, j]) for i, j in mask.nonzero().tolist()] for mask in (P, N))
        return math.log(1 + sum(math.exp((low - high) / t) for high, low in product(near, far)))
    if given.get("symmetric"):
        back = in_loops(name, S.T, P.T, N.T, **{**given, "symmetric": False})
        return (in_loops(name, S, P, N, **{**given, "symmetric": False}) + back) / 2
    s = S.tolist()
    return sum(of_anchor(name, s[i], members(P, i), members(N, i), given) for i in range(len(s))) / len(s)


OTHER: dict[str, float | bool] = {
    "alpha": 3.0, "beta": 9.0, "base": 0.1, "margin": 0.25, "temperature": 0.31, "symmetric": True,
}  # fmt: skip


@settings(max_examples=60)
@given(rows=st.integers(1, 10), seed=st.integers(0, 9999), name=st.sampled_from(NAMES), set_=st.booleans())
def test_both_forms_are_the_loops(rows: int, seed: int, name: str, set_: bool) -> None:
    loss, (S, P, N) = LOSSES[name], batch(rows, seed)
    dials = {dial: OTHER[dial] for dial in loss.dials} if set_ else {}
    expected = in_loops(name, S, P, N, **dials)
    assert loss.fast(S, P, N, **dials).item() == pytest.approx(expected, rel=1e-10, abs=1e-10)
    if name != "supcon" or (P | N).any(1).all():  # the formula on the board divides by an empty sum
        assert loss.plain(S, P, N, **dials).item() == pytest.approx(expected, rel=1e-10, abs=1e-10)


@every_loss
def test_masks_need_not_be_square(name: str) -> None:
    S, P, N = (part[:4] for part in batch(9, 1))
    for dials in ({}, {dial: OTHER[dial] for dial in LOSSES[name].dials}):
        assert LOSSES[name].fast(S, P, N, **dials).item() == pytest.approx(in_loops(name, S, P, N, **dials))
        weights = pair_weights(partial(LOSSES[name].fast, **dials), S, P, N)
        torch.testing.assert_close(LOSSES[name].weights(S, P, N, **dials), weights, atol=1e-10, rtol=1e-8)


@settings(max_examples=60)
@given(rows=st.integers(1, 10), seed=st.integers(0, 9999), name=st.sampled_from(NAMES), set_=st.booleans())
def test_weights_in_closed_form_are_those_of_differentiation(rows: int, seed: int, name: str, set_: bool) -> None:
    loss, (S, P, N) = LOSSES[name], batch(rows, seed)
    dials = {dial: OTHER[dial] for dial in loss.dials} if set_ else {}
    weights = pair_weights(partial(loss.fast, **dials), S, P, N)
    torch.testing.assert_close(loss.weights(S, P, N, **dials), weights, atol=1e-9, rtol=1e-8)


@every_loss
@pytest.mark.parametrize("seed", range(3))
def test_gradient_against_finite_differences(name: str, seed: int) -> None:
    S, P, N = batch(7, seed)
    S = S * 0.99
    S[(S - 0.5).abs() < 1e-4] += 1e-3  # the hinge has no derivative at its corner
    loss = LOSSES[name].fast
    assert torch.autograd.gradcheck(lambda S: loss(S, P, N), S.requires_grad_(), atol=1e-5)


@every_loss
def test_a_temperature_that_learns_has_its_slope(name: str) -> None:
    if "temperature" not in LOSSES[name].dials:
        return
    S, P, N = batch(8, 2)
    tau = torch.tensor(0.3, dtype=torch.float64, requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert torch.autograd.gradcheck(lambda tau: LOSSES[name].fast(S, P, N, temperature=tau), tau)


# ------------------------------------------------------------------ by hand

#: an anchor with a positive at .6, negatives at .5 and .2; the two other anchors have no pair
BY_HAND = {"alpha": 1.0, "beta": 10.0, "base": 0.4, "margin": 0.3, "temperature": 0.1}
#: exponents: (.5 - .6)/.1 = -1, (.2 - .6)/.1 = -4; (.4 - .6)/.1 = -2, (.5 - .4)/.1 = 1, (.2 - .4)/.1 = -2
E1, E4, E2, E = math.exp(-1), math.exp(-4), math.exp(-2), math.e
WEIGHTS = {
    "locality": (math.exp(-0.2) / (1 + math.exp(-0.2)), E / (1 + E + E2), E2 / (1 + E + E2)),
    "contrastive": (1, 1, 0),
    "soft-triplet": (E1 / (1 + E1) + E4 / (1 + E4), E1 / (1 + E1), E4 / (1 + E4)),
    "margin-triplet": (1, 1, 0),  # .2 is further than .6 by more than .3
    "infonce": tuple(10 * share / (1 + E1 + E4) for share in (E1 + E4, E1, E4)),
    "supcon": tuple(10 * share / (1 + E1 + E4) for share in (E1 + E4, E1, E4)),
    "logistic": (E2 / (1 + E2), E / (1 + E), E2 / (1 + E2)),
    "cosent": tuple(30 * share / (1 + E1 + E4) for share in (E1 + E4, E1, E4)),  # m = 3 anchors over τ
    "simcse": tuple(10 * share / (1 + E1 + E4) for share in (E1 + E4, E1, E4)),
}


def small() -> Triple:
    S, nothing = torch.zeros(3, 4, dtype=torch.float64), torch.zeros(3, 4, dtype=torch.bool)
    S[0] = torch.tensor([1.0, 0.6, 0.5, 0.2], dtype=torch.float64)
    P, N = nothing.clone(), nothing.clone()
    P[0, 1] = N[0, 2] = N[0, 3] = True
    return S, P, N


@every_loss
def test_weights_of_a_small_batch_by_hand(name: str) -> None:
    dials = {dial: BY_HAND[dial] for dial in LOSSES[name].dials if dial != "symmetric"}
    for weights in (
        pair_weights(partial(LOSSES[name].fast, **dials), *small()),
        LOSSES[name].weights(*small(), **dials),
    ):
        assert weights[0, 1:].tolist() == pytest.approx(WEIGHTS[name], rel=1e-12)
        assert not weights[1:].any()
        assert weights[0, 0] == 0


def test_supcon_pushes_a_positive_that_has_more_than_its_share() -> None:
    S = torch.tensor([[1.0, 0.9, 0.1, -1.0]], dtype=torch.float64)
    P, N = torch.tensor([[False, True, True, False]]), torch.tensor([[False, False, False, True]])
    _, turned = slope(partial(fast.supcon, temperature=1.0), S, P, N)
    assert turned[0, 1] > 0 > turned[0, 2]
    near = slope(partial(fast.infonce, temperature=1.0), S, P, N)[1]
    assert near[0, 1] < 0 > near[0, 2]  # InfoNCE pulls both


# ------------------------------------------------------------------ other people's


def theirs(name: str) -> tuple[Callable[[Tensor, Tensor], Tensor], dict[str, float]]:
    """The loss of pytorch-metric-learning on embeddings and labels, and our dials for it."""
    from pytorch_metric_learning import losses as pml
    from pytorch_metric_learning.distances import CosineSimilarity
    from pytorch_metric_learning.reducers import MeanReducer, SumReducer

    triplets = {"distance": CosineSimilarity(), "reducer": SumReducer()}
    return {
        "locality": (pml.MultiSimilarityLoss(alpha=2, beta=40, base=0.4), {"alpha": 2, "beta": 40, "base": 0.4}),
        "margin-triplet": (pml.TripletMarginLoss(margin=0.2, **triplets), {"margin": 0.2}),
        "soft-triplet": (pml.TripletMarginLoss(margin=0.0, smooth_loss=True, **triplets), {"temperature": 1.0}),
        "infonce": (pml.NTXentLoss(temperature=0.1, reducer=MeanReducer()), {"temperature": 0.1}),
        "supcon": (pml.SupConLoss(temperature=0.1, reducer=MeanReducer()), {"temperature": 0.1}),
    }[name]


@pytest.mark.parametrize("name", ["locality", "margin-triplet", "soft-triplet", "infonce", "supcon"])
def test_against_pytorch_metric_learning(name: str) -> None:
    generator = torch.Generator().manual_seed(4)
    X = torch.randn(12, 5, generator=generator, dtype=torch.float64) + 0.3
    labels = torch.arange(12) // 3  # three of each: a mean over pairs is one over anchors
    their_loss, dials = theirs(name)
    V = F.normalize(X, dim=1)
    scale = 12 if "triplet" in name else 1  # they sum over triplets, we take the mean over anchors of the sum
    ours = LOSSES[name].fast(V @ V.T, *masks_from_labels(labels), **dials)
    assert scale * ours.item() == pytest.approx(their_loss(X, labels).item(), rel=1e-6)


@pytest.mark.parametrize("symmetric", [False, True])
def test_against_multiple_negatives_ranking(symmetric: bool) -> None:
    ranking = pytest.importorskip("sentence_transformers.sentence_transformer.losses")
    A, B = torch.randn(2, 7, 5, generator=torch.Generator().manual_seed(1))
    kind = ranking.MultipleNegativesSymmetricRankingLoss if symmetric else ranking.MultipleNegativesRankingLoss
    their_loss = kind(torch.nn.Identity(), scale=20.0)
    P = torch.eye(7, dtype=torch.bool)
    S = F.normalize(A, dim=1) @ F.normalize(B, dim=1).T
    ours = fast.infonce(S, P, ~P, temperature=1 / 20, symmetric=symmetric)
    assert ours.item() == pytest.approx(their_loss.compute_loss_from_embeddings([A, B], None).item(), rel=1e-5)


def test_against_cosent_of_sentence_transformers() -> None:
    their = pytest.importorskip("sentence_transformers.sentence_transformer.losses")
    A, B = torch.randn(2, 9, 5, generator=torch.Generator().manual_seed(2))
    grades = torch.tensor([0, 1, 1, 3, 5, 5, 2, 0.5, 4])
    expected = their.CoSENTLoss(torch.nn.Identity(), scale=10.0).compute_loss_from_embeddings([A, B], grades)
    S = torch.diag(F.cosine_similarity(A, B))
    G, diagonal = torch.diag(grades), torch.eye(9, dtype=torch.bool)
    P, N = diagonal & (G >= 2.5), diagonal & (G < 2.5)
    assert fast.cosent(S, P, N, temperature=0.1, grades=G).item() == pytest.approx(expected.item(), rel=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_cosent_with_grades_is_the_double_sum(seed: int) -> None:
    S, P, N = batch(8, seed)
    G = torch.randint(0, 4, (8, 8), generator=torch.Generator().manual_seed(seed)).double()
    known = [(float(S[i, j]), float(G[i, j])) for i, j in (P | N).nonzero().tolist()]
    total = sum(math.exp((low - high) / 0.2) for (high, g), (low, h) in product(known, known) if g > h)
    for form in (losses.cosent, fast.cosent):
        assert form(S, P, N, temperature=0.2, grades=G).item() == pytest.approx(math.log(1 + total), rel=1e-12)
    weights = pair_weights(partial(fast.cosent, grades=G), S, P, N)
    torch.testing.assert_close(cosent_weights(S, P, N, grades=G), weights, atol=1e-9, rtol=1e-8)
    two = slope(partial(fast.cosent, grades=P.double()), S, P, N)
    torch.testing.assert_close(two, slope(fast.cosent, S, P, N), atol=1e-9, rtol=1e-9)
    assert torch.autograd.gradcheck(lambda S: fast.cosent(S, P, N, grades=G), (S * 0.99).requires_grad_(), atol=1e-5)


def test_cosent_of_many_pairs_never_makes_a_square_of_them() -> None:
    from tests.pairs.test_large_batch import LargestTensor

    S, (P, N) = _cosines(60, 4, 0), masks_from_labels(torch.arange(60) // 4)
    with LargestTensor() as largest:
        slope(partial(fast.cosent, grades=torch.rand(60, 60)), S, P, N)
    assert largest.numbers <= 60 * 60


@pytest.mark.parametrize(
    ("grades", "said"),
    [
        (torch.ones(3), r"grades have shape \(3,\), expected \(2, 2\)"),
        ("high", "grades have str"),
        (torch.tensor([[0.0, math.nan], [1.0, 0.0]]), "grades hold NaN or ∞"),
    ],
)
def test_grades_that_make_no_sense(grades: Any, said: str) -> None:
    none = torch.zeros(2, 2, dtype=torch.bool)
    with pytest.raises(ValueError, match=said):
        fast.cosent(torch.zeros(2, 2), none, ~none, grades=grades)


# ------------------------------------------------------------------ extremes


def test_a_large_exponent_is_not_cut_off_in_double_precision() -> None:
    """torch's softplus of 20.5 is 20.5, and a millionth of a millionth is missing."""
    one = torch.ones(1, 1, dtype=torch.bool)
    found = fast.logistic(torch.full((1, 1), 0.5, dtype=torch.float64), ~one, one, base=0.0, temperature=0.5 / 20.5)
    assert found.item() / (0.5 / 20.5) - 20.5 == pytest.approx(math.log1p(math.exp(-20.5)), rel=1e-4)


@every_loss
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(("together", "apart"), [(1.0, -1.0), (-1.0, 1.0), (1.0, 1.0), (-1.0, -1.0)])
@pytest.mark.parametrize("temperature", [0.01, 1e-6])
def test_finite_all_the_way_apart_or_together(
    name: str, dtype: torch.dtype, together: float, apart: float, temperature: float
) -> None:
    P, N = masks_from_labels([0, 0, 1, 1, 1])
    S = (P * together + N * apart + torch.eye(5)).to(dtype)
    dials = {"temperature": temperature} if "temperature" in LOSSES[name].dials else {}
    value, found = slope(partial(LOSSES[name].fast, **dials), S, P, N)
    assert value.isfinite()
    assert found.isfinite().all()
    if dials and together < apart:
        assert found[P].max() < 0 < found[N].min()  # where all is wrong, all of it is moved


@every_loss
@pytest.mark.parametrize("labels", [[0], [0, 0, 0, 0], [0, 1, 2, 3]])
def test_one_class_alone_or_one_row_of_each(name: str, labels: list[int]) -> None:
    S, (P, N) = _cosines(len(labels), 3, 0).clamp(-1, 1), masks_from_labels(labels)
    value, found = slope(LOSSES[name].fast, S, P, N)
    assert value.item() == pytest.approx(in_loops(name, S, P, N), abs=1e-12)
    assert found.isfinite().all()
    assert not found[~(P | N)].any()


@every_loss
@pytest.mark.parametrize("negatives", [False, True])
def test_without_a_positive_nothing_is_pulled(name: str, negatives: bool) -> None:
    S, none = _cosines(5, 3, 0).float(), torch.zeros(5, 5, dtype=torch.bool)
    N = masks_from_labels(range(5))[1] & negatives
    value, found = slope(LOSSES[name].fast, S, none, N)
    assert found.isfinite().all()
    if not negatives or name not in ("locality", "contrastive", "logistic"):  # these know a negative by itself
        assert value == 0
        assert not found.any()


@every_loss
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_computed_in_single(name: str, dtype: torch.dtype) -> None:
    S, P, N = batch(12, 2)
    half, single = S.to(dtype), S.to(dtype).float()
    (value, found), (same, turned) = (slope(LOSSES[name].fast, each, P, N) for each in (half, single))
    assert value.dtype == torch.float32
    assert torch.equal(value, same)
    assert torch.equal(found, turned.to(dtype))


@every_loss
def test_the_order_of_rows_does_not_matter_and_inputs_are_left_alone(name: str) -> None:
    S, P, N = batch(9, 3)
    order = torch.randperm(9, generator=torch.Generator().manual_seed(0))
    turned = [part[order][:, order] for part in (S, P, N)]
    before = [part.clone() for part in (S, P, N)]
    value, found = slope(LOSSES[name].fast, S, P, N)
    other, moved = slope(LOSSES[name].fast, *turned)  # type: ignore[arg-type]
    assert value.item() == pytest.approx(other.item(), rel=1e-12)
    torch.testing.assert_close(found[order][:, order], moved, atol=1e-12, rtol=1e-10)
    assert all(torch.equal(part, copy) for part, copy in zip((S, P, N), before, strict=True))


@every_loss
def test_as_a_loss_of_pytorch_metric_learning(name: str) -> None:
    X, labels = torch.randn(10, 4, generator=torch.Generator().manual_seed(0)), torch.arange(10) // 2
    V = F.normalize(X, dim=1)
    expected = LOSSES[name].fast(V @ V.T, *masks_from_labels(labels))
    torch.testing.assert_close(as_pml(LOSSES[name].fast)(X, labels), expected)


@every_loss
@pytest.mark.parametrize("value", [0, -1.0, math.nan, math.inf, "warm"])
def test_a_temperature_that_makes_no_sense_is_refused(name: str, value: Any) -> None:
    if "temperature" in LOSSES[name].dials:
        with pytest.raises(ValueError, match="temperature is"):
            LOSSES[name].fast(*small(), temperature=value)


@every_loss
def test_the_suite_sees_a_loss_that_is_broken(name: str) -> None:
    """A thousandth more of each pair's slope is felt by the loops, and by the weights by hand."""
    loss = LOSSES[name]

    def broken(S: Tensor, P: Tensor, N: Tensor) -> Tensor:
        return loss.fast(S, P, N) + 1e-3 * (S * (P | N)).mean()

    S, P, N = batch(8, 5)
    assert broken(S, P, N).item() != pytest.approx(in_loops(name, S, P, N), rel=1e-10, abs=1e-10)
    assert not torch.allclose(pair_weights(broken, S, P, N), loss.weights(S, P, N), atol=1e-9, rtol=1e-8)


# ------------------------------------------------------------------ trainings


def corpora() -> dict[str, Corpus]:
    """A little of each shape."""
    words = [f"{first} {second} {first}{second}" for first in "abcdefgh" for second in "uvwxyz"]
    again = [" ".join(reversed(text.split())) for text in words]
    far, split = [*again[7:], *again[:7]], {"splits": "train"}
    both = [*again[:24], *far[24:]]
    return {
        "pairs": Pairs(words, both, [1.0] * 24 + [0.0] * 24, **split),  # type: ignore[arg-type]
        "graded pairs": Pairs(words, both, [i % 6 for i in range(48)], graded=True, **split),  # type: ignore[arg-type]
        "classes": Labelled(words, [text[0] for text in words], **split),  # type: ignore[arg-type]
        "groups": Groups(words, [text[0] for text in words], **split),  # type: ignore[arg-type]
        "triplets": Triplets(words, again, far, **split),  # type: ignore[arg-type]
        "articles": load("articles").take(range(0, 160, 20)),
        "unlabelled texts": Labelled(words, ["one"] * 48, **split),  # type: ignore[arg-type]
    }


def fitted(corpus: Corpus, **given: Any) -> SentPWNet:
    small_ = {"encoder": "mean", "size": 6, "dimension": 6, "batch": 12, "epochs": 1, "least": 1, "vectors": "random"}
    method = SentPWNet(PairSettings.of({**small_, **given}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        method.fit(corpus)
    return method


@every_loss
@pytest.mark.parametrize("shape", SHAPES)
def test_each_trains_on_each_shape_that_it_takes(name: str, shape: str) -> None:
    corpus = corpora()[shape]
    if not takes(LOSSES[name])[shape]:
        with pytest.raises(ValueError, match="expected at least two"):
            fitted(corpus, loss=name)
        return
    method = fitted(corpus, loss=name, miner="none")
    before = fitted(corpus, loss=name, epochs=0)
    rows = corpus.part("train").sentences()[:5]
    assert np.isfinite(method.history.column("loss")).all()
    assert method.history.column("gradient")[0] > 0
    assert not np.allclose(method.encode(rows), before.encode(rows))


def test_a_setting_reaches_its_loss() -> None:
    S, P, N = batch(8, 1)
    for loss in GALLERY:
        dials: dict[str, Any] = {dial: OTHER[dial] for dial in loss.dials}
        found = loss_of(PairSettings.of({"loss": loss.name, **dials}))(S, P, N)
        assert found.item() == pytest.approx(in_loops(loss.name, S, P, N, **dials), rel=1e-9)

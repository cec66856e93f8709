"""Losses and pair weights against plain loops, other libraries, finite differences and worked examples."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from labkit.pairs import (
    LOSSES,
    contrastive,
    locality,
    losses,
    masks_from_labels,
    pair_weights,
    soft_triplet,
    weight_parts,
)
from labkit.sentpwnet.method import loss_of
from labkit.sentpwnet.settings import PairSettings
from tests.pairs.test_mining import cosines, random_masks

every_loss = pytest.mark.parametrize("name", LOSSES)

Triple = tuple[Tensor, Tensor, Tensor]


def batch(rows: int, seed: int, width: int = 4) -> Triple:
    return cosines(rows, width, seed).clamp(-1, 1), *random_masks(rows, seed)


def slope(loss: Callable[..., Tensor], S: Tensor, P: Tensor, N: Tensor) -> tuple[Tensor, Tensor]:
    leaf = S.clone().requires_grad_()
    value = loss(leaf, P, N)
    value.backward()
    return value.detach(), leaf.grad


def test_multi_similarity_is_another_name_for_locality() -> None:
    assert PairSettings(loss="multi-similarity") == PairSettings(loss="locality")


@every_loss
def test_training_uses_the_default_temperature_of_its_loss(name: str) -> None:
    """The default of the function; but for soft triplets, that is the paper's 1 and training uses 0.2."""
    keyword = inspect.signature(LOSSES[name].function).parameters.get("temperature")
    usual = 1.0 if keyword is None else 0.2 if name == "soft-triplet" else keyword.default
    values = {"loss": name} | ({"dropout": 0.1} if name == "simcse" else {})
    assert PairSettings.of(values).temperature == PairSettings.of(values | {"temperature": 0}).temperature == usual
    assert PairSettings.of(values | {"temperature": 0.3}).temperature == 0.3


# ------------------------------------------------------------------ plain loops


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
    given = {each.name: each.default for each in inspect.signature(LOSSES[name].function).parameters.values()} | dials
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


@every_loss
@given(rows=st.integers(1, 10), seed=st.integers(0, 9999), set_=st.booleans())
def test_losses_equal_plain_loops(name: str, rows: int, seed: int, set_: bool) -> None:
    loss, (S, P, N) = LOSSES[name], batch(rows, seed)
    dials = {dial: OTHER[dial] for dial in loss.hyperparameters} if set_ else {}
    expected = in_loops(name, S, P, N, **dials)
    assert loss.function(S, P, N, **dials).item() == pytest.approx(expected, rel=1e-10, abs=1e-10)


@given(alpha=st.floats(0.1, 60), beta=st.floats(0.1, 200), base=st.floats(-1, 1), seed=st.integers(0, 999))
def test_locality_with_any_settings_equals_plain_loops(alpha: float, beta: float, base: float, seed: int) -> None:
    options = {"alpha": alpha, "beta": beta, "base": base}
    triple = batch(9, seed)
    expected = in_loops("locality", *triple, **options)
    assert locality(*triple, **options).item() == pytest.approx(expected, abs=1e-10, rel=1e-10)
    weights = pair_weights(partial(locality, **options), *triple)
    torch.testing.assert_close(weight_parts(*triple, **options).weight, weights, atol=1e-10, rtol=0)


@every_loss
def test_training_settings_reach_the_loss(name: str) -> None:
    S, P, N = batch(8, 1)
    dials: dict[str, Any] = {dial: OTHER[dial] for dial in LOSSES[name].hyperparameters}
    found = loss_of(PairSettings.of({"loss": name, **dials}))(S, P, N)
    assert found.item() == pytest.approx(in_loops(name, S, P, N, **dials), rel=1e-9)


@every_loss
def test_gradient_against_finite_differences(name: str) -> None:
    S, P, N = batch(7, 0)
    S = S * 0.99
    S[(S - 0.5).abs() < 1e-4] += 1e-3  # the hinge has no derivative at its corner
    loss = LOSSES[name].function
    assert torch.autograd.gradcheck(lambda S: loss(S, P, N), S.requires_grad_(), atol=1e-5)
    if "temperature" in LOSSES[name].hyperparameters:
        tau = torch.tensor(0.3, dtype=torch.float64, requires_grad=True)
        assert torch.autograd.gradcheck(lambda tau: loss(S.detach(), P, N, temperature=tau), tau)


def test_triplets_in_small_blocks_give_the_same_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    S, P, N = batch(12, 3)
    value, whole = slope(soft_triplet, S, P, N)
    monkeypatch.setattr(losses, "_TRIPLETS_AT_ONCE", 30)
    same, parts = slope(soft_triplet, S, P, N)
    torch.testing.assert_close(same, value, atol=1e-12, rtol=0)
    torch.testing.assert_close(parts, whole, atol=1e-12, rtol=0)


# ------------------------------------------------------------------ worked examples


def three_rows() -> Triple:
    """Two rows of one class, one of another; the third has no positive."""
    S = torch.tensor([[1.0, 0.8, 0.6], [0.8, 1.0, 0.2], [0.6, 0.2, 1.0]], dtype=torch.float64)
    return S, *masks_from_labels([0, 0, 1])


def test_worked_example_of_three_rows() -> None:
    # anchors: (0.6 - 0.5) - 0.8, 0 - 0.8, 0.1 + 0
    assert contrastive(*three_rows()).item() == pytest.approx((-0.7 - 0.8 + 0.1) / 3)
    assert contrastive(*three_rows(), margin=0.0).item() == pytest.approx((-0.2 - 0.6 + 0.8) / 3, abs=1e-15)
    expected = (math.log(1 + math.exp(-0.2)) + math.log(1 + math.exp(-0.6))) / 3
    assert soft_triplet(*three_rows()).item() == pytest.approx(expected)
    pull = math.log(1 + math.exp(-2 * 0.3)) / 2
    first = pull + math.log(1 + math.exp(50 * 0.1)) / 50
    second = pull + math.log(1 + math.exp(-50 * 0.3)) / 50
    third = math.log(1 + math.exp(50 * 0.1) + math.exp(-50 * 0.3)) / 50
    assert locality(*three_rows()).item() == pytest.approx((first + second + third) / 3)


#: an anchor with a positive at .6, negatives at .5 and .2; the two other anchors have no pair
BY_HAND = {"alpha": 1.0, "beta": 10.0, "base": 0.4, "margin": 0.3, "temperature": 0.1}
#: exponents: (.5 - .6)/.1 = -1, (.2 - .6)/.1 = -4; (.4 - .6)/.1 = -2, (.5 - .4)/.1 = 1, (.2 - .4)/.1 = -2
E1, E4, E2, E = math.exp(-1), math.exp(-4), math.exp(-2), math.e
WEIGHTS = {
    "locality": (math.exp(-0.2) / (1 + math.exp(-0.2)), E / (1 + E + E2), E2 / (1 + E + E2)),
    "contrastive": (1, 1, 0),
    "soft-triplet": (E1 / (1 + E1) + E4 / (1 + E4), E1 / (1 + E1), E4 / (1 + E4)),
    "margin-triplet": (1, 1, 0),  # .2 is below .6 by more than .3
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
def test_worked_example_of_weights(name: str) -> None:
    dials = {dial: BY_HAND[dial] for dial in LOSSES[name].hyperparameters if dial != "symmetric"}
    weights = pair_weights(partial(LOSSES[name].function, **dials), *small())
    assert weights[0, 1:].tolist() == pytest.approx(WEIGHTS[name], rel=1e-12)
    assert not weights[1:].any()
    assert weights[0, 0] == 0


# ------------------------------------------------------------------ other libraries


def theirs(name: str) -> tuple[Callable[[Tensor, Tensor], Tensor], dict[str, float]]:
    """The loss of pytorch-metric-learning, and the equivalent settings of ours."""
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
    labels = torch.arange(12) // 3  # three per class, so means over pairs and over anchors agree
    their_loss, dials = theirs(name)
    V = F.normalize(X, dim=1)
    scale = 12 if "triplet" in name else 1  # theirs is a sum over triplets, ours the mean over anchors
    ours = LOSSES[name].function(V @ V.T, *masks_from_labels(labels), **dials)
    assert scale * ours.item() == pytest.approx(their_loss(X, labels).item(), rel=1e-6)


@pytest.mark.parametrize("symmetric", [False, True])
def test_against_multiple_negatives_ranking(symmetric: bool) -> None:
    ranking = pytest.importorskip("sentence_transformers.sentence_transformer.losses")
    A, B = torch.randn(2, 7, 5, generator=torch.Generator().manual_seed(1))
    kind = ranking.MultipleNegativesSymmetricRankingLoss if symmetric else ranking.MultipleNegativesRankingLoss
    their_loss = kind(torch.nn.Identity(), scale=20.0)
    P = torch.eye(7, dtype=torch.bool)
    S = F.normalize(A, dim=1) @ F.normalize(B, dim=1).T
    ours = losses.infonce(S, P, ~P, temperature=1 / 20, symmetric=symmetric)
    assert ours.item() == pytest.approx(their_loss.compute_loss_from_embeddings([A, B], None).item(), rel=1e-5)


def test_against_sentence_transformers_cosent() -> None:
    their = pytest.importorskip("sentence_transformers.sentence_transformer.losses")
    A, B = torch.randn(2, 9, 5, generator=torch.Generator().manual_seed(2))
    grades = torch.tensor([0, 1, 1, 3, 5, 5, 2, 0.5, 4])
    expected = their.CoSENTLoss(torch.nn.Identity(), scale=10.0).compute_loss_from_embeddings([A, B], grades)
    S = torch.diag(F.cosine_similarity(A, B))
    G, diagonal = torch.diag(grades), torch.eye(9, dtype=torch.bool)
    P, N = diagonal & (G >= 2.5), diagonal & (G < 2.5)
    assert losses.cosent(S, P, N, temperature=0.1, grades=G).item() == pytest.approx(expected.item(), rel=1e-5)


def test_cosent_with_grades_equals_the_double_sum() -> None:
    S, P, N = batch(8, 0)
    G = torch.randint(0, 4, (8, 8), generator=torch.Generator().manual_seed(0)).double()
    known = [(float(S[i, j]), float(G[i, j])) for i, j in (P | N).nonzero().tolist()]
    total = sum(math.exp((low - high) / 0.2) for (high, g), (low, h) in product(known, known) if g > h)
    found = losses.cosent(S, P, N, temperature=0.2, grades=G)
    assert found.item() == pytest.approx(math.log(1 + total), rel=1e-12)
    assert torch.autograd.gradcheck(lambda S: losses.cosent(S, P, N, grades=G), S.clone().requires_grad_())
    two = slope(partial(losses.cosent, grades=P.double()), S, P, N)
    torch.testing.assert_close(two, slope(losses.cosent, S, P, N), atol=1e-9, rtol=1e-9)


# ------------------------------------------------------------------ extremes


def test_a_large_exponent_is_exact_in_double_precision() -> None:
    """torch's softplus(20.5) is 20.5, without the last 1e-9."""
    one = torch.ones(1, 1, dtype=torch.bool)
    found = losses.logistic(torch.full((1, 1), 0.5, dtype=torch.float64), ~one, one, base=0.0, temperature=0.5 / 20.5)
    assert found.item() / (0.5 / 20.5) - 20.5 == pytest.approx(math.log1p(math.exp(-20.5)), rel=1e-4)


@every_loss
@pytest.mark.parametrize(("together", "apart"), [(1.0, -1.0), (-1.0, 1.0), (1.0, 1.0)])
def test_finite_for_extreme_similarities(name: str, together: float, apart: float) -> None:
    P, N = masks_from_labels([0, 0, 1, 1, 1])
    S = (P * together + N * apart + torch.eye(5)).float()
    dials = {"temperature": 1e-6} if "temperature" in LOSSES[name].hyperparameters else {}
    value, found = slope(partial(LOSSES[name].function, **dials), S, P, N)
    assert value.isfinite()
    assert found.isfinite().all()
    if dials and together < apart:
        assert found[P].max() < 0 < found[N].min()  # if every pair is wrong, every pair is moved


@pytest.mark.parametrize(("together", "apart"), [(1.0, -1.0), (-1.0, 1.0), (1.0, 1.0), (-1.0, -1.0)])
def test_locality_with_a_large_beta(together: float, apart: float) -> None:
    """S = ±1 with a large β, identical vectors included: log(1 + n e^x) is x + log n when x is large."""
    P, N = masks_from_labels([0, 0, 1, 1, 1])
    S, beta = P * together + N * apart + torch.eye(5), 5000.0
    value, found = slope(partial(locality, alpha=beta, beta=beta), S, P, N)

    def side(exponent: float, n: int) -> float:
        return exponent + math.log(n) if exponent > 0 else math.log1p(n * math.exp(exponent))

    sizes = [(1, 3), (1, 3), (2, 2), (2, 2), (2, 2)]
    expected = sum(side(-beta * (together - 0.5), p) + side(beta * (apart - 0.5), n) for p, n in sizes) / 5 / beta
    assert value.item() == pytest.approx(expected, rel=1e-5)
    assert found.isfinite().all()
    if apart == 1:
        torch.testing.assert_close((5 * found * N).sum(1), torch.ones(5))


@every_loss
@pytest.mark.parametrize("labels", [[0, 0, 0, 0], [0, 1, 2, 3]])
def test_a_single_class_or_one_row_per_class(name: str, labels: list[int]) -> None:
    S, (P, N) = cosines(len(labels), 3, 0).clamp(-1, 1), masks_from_labels(labels)
    value, found = slope(LOSSES[name].function, S, P, N)
    assert value.item() == pytest.approx(in_loops(name, S, P, N), abs=1e-12)
    assert found.isfinite().all()
    assert not found[~(P | N)].any()


@every_loss
def test_half_precision_is_computed_in_single(name: str) -> None:
    S, P, N = batch(12, 2)
    half, single = S.half(), S.half().float()
    (value, found), (same, turned) = (slope(LOSSES[name].function, each, P, N) for each in (half, single))
    assert value.dtype == torch.float32
    torch.testing.assert_close(value, same)
    torch.testing.assert_close(found, turned.half())


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (partial(contrastive, margin=math.nan), "margin"),
        (partial(losses.margin_triplet, margin=None), "margin"),
        (partial(locality, alpha=0.0), "alpha"),
        (partial(locality, beta=math.inf), "beta"),
        (partial(losses.logistic, base=math.nan), "base"),
        *((partial(LOSSES[name].function, temperature=0), "temperature") for name in ("soft-triplet", "logistic")),
        *(
            (partial(LOSSES[name].function, temperature=-1.0), "temperature")
            for name in ("infonce", "supcon", "cosent")
        ),
        (partial(losses.cosent, grades=torch.ones(3)), "grades"),
        (partial(losses.cosent, grades=torch.full((3, 4), math.nan)), "grades"),
    ],
)
def test_bad_settings_are_refused(call: Callable, argument: str) -> None:
    with pytest.raises(ValueError, match=argument):
        call(*small())


# ------------------------------------------------------------------ weights of any loss


def test_weights_of_a_custom_loss() -> None:
    """Any function of (S, P, N), also with similarities that are not cosines; pairs outside the masks have weight 0."""
    S, P, N = batch(6, 1)
    weights = pair_weights(lambda S, P, N: (S**2).mean(), 3 * S, P, N)
    torch.testing.assert_close(weights, (2 * 3 * S / 6).abs() * (P | N))
    assert not pair_weights(lambda S, P, N: torch.tensor(1.0), S, P, N).any()
    for value in (0.0, torch.zeros(3)):
        with pytest.raises(ValueError, match="loss"):
            pair_weights(lambda S, P, N, value=value: value, S, P, N)

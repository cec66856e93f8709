"""PV-DBOW: inference against scipy's minimiser; training and its products against the objective in plain loops."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from scipy.optimize import minimize

from labkit.baselines.pv_dbow import Inference, Paragraphs, PvDbow, WordsTask, noise_shares
from labkit.corpora import Groups, Labelled
from labkit.methods import METHODS

TOPICS = {"sea": ["ship", "wave", "harbour", "sail", "tide"], "wood": ["tree", "leaf", "moss", "owl", "bark"]}


def sentences(seed: int, count: int) -> Iterator[tuple[str, str]]:
    """Sentences of four words from two alternating topics, each with its topic."""
    random = np.random.default_rng(seed)
    for number in range(count):
        topic = ("sea", "wood")[number % 2]
        yield " ".join(random.choice(TOPICS[topic], 4)), topic


def corpus() -> Labelled:
    texts, labels = zip(*dict(sentences(0, 300)).items(), strict=True)
    return Labelled(texts, labels, name="two topics", splits="train")


def objective(d: np.ndarray, u: np.ndarray, shares: np.ndarray, row: list[int], noise: int, penalty: float) -> float:
    """f as defined in the module, in plain loops."""
    near = sum(np.log1p(np.exp(-d @ u[word])) for word in row) / len(row)
    far = sum(shares[word] * np.log1p(np.exp(d @ u[word])) for word in range(len(u)))
    return near + noise * far + penalty / 2 * d @ d


def test_worked_example_of_noise_shares() -> None:
    # word 2 occurs 16 times, word 3 once: 8 and 1 after the power 3/4
    np.testing.assert_allclose(noise_shares([[2] * 16, [3]], 4), [0, 0, 8 / 9, 1 / 9])


@pytest.mark.parametrize(("penalty", "length"), [(0.1, 1.0), (0.5, 1.0), (0.02, 5.0)])
def test_inference_finds_the_minimum(penalty: float, length: float) -> None:
    """Also for an ill-conditioned f: long word vectors and a small penalty."""
    random = np.random.default_rng(1)
    u, shares = length * random.standard_normal((12, 5)), random.dirichlet(np.ones(12))
    rows = [[2, 3, 3], [7], [4, 5, 6, 8, 9, 10, 11]]
    found = Inference(u, shares, 4, penalty).vectors(rows)
    for d, row in zip(found, rows, strict=True):
        oracle = minimize(objective, np.zeros(5), (u, shares, row, 4, penalty), tol=1e-12)
        assert np.linalg.norm(d - oracle.x) <= 0.01 * np.linalg.norm(oracle.x)
        above = 0.01**2 * penalty / 2 * (d @ d)  # |∇f|² / 2ρ, an upper bound on f minus its minimum
        assert objective(d, u, shares, row, 4, penalty) <= oracle.fun + above + 1e-9


def test_training_minimises_the_same_objective() -> None:
    """Training draws the noise, and the expected loss is the mean of f."""
    method = PvDbow(PvDbow.Settings(noise=2, size=3, penalty=0.3, device="cpu"))
    random = np.random.default_rng(2)
    method.shares = np.append([0, 0], random.dirichlet(np.ones(4)))
    torch.manual_seed(0)
    network, rows = Paragraphs(2, 6, 3), [[2, 5], [4, 4, 3]]
    with torch.no_grad():
        network.sentences.weight.copy_(torch.tensor(random.standard_normal((2, 3))))
    task = WordsTask(network, rows, method, 0)
    with torch.no_grad():
        losses = [float(task.outputs([0, 1]).mean()) for _ in range(600)]
    u, d = (table.weight.detach().double().numpy() for table in (network.words, network.sentences))
    expected = np.mean([objective(d[i], u, method.shares, rows[i], 2, 0.3) for i in range(2)])
    assert np.mean(losses) == pytest.approx(expected, abs=5 * np.std(losses) / 600**0.5)
    assert np.std(losses) < 0.1 * expected


@pytest.mark.parametrize("size", [1, 5])  # word by word, and by one product with all distinct words
def test_products_are_the_same_however_they_are_computed(size: int) -> None:
    network = Paragraphs(4, 9, size)
    method = PvDbow()
    method.shares = np.full(9, 1 / 9)
    task = WordsTask(network, [[2]] * 4, method, 0)
    drawn = torch.tensor([[[2, 3]], [[4, 5]], [[6, 7]], [[8, 2]]])  # seven distinct words, two per sentence
    d = torch.randn(4, size, generator=torch.Generator().manual_seed(0)).requires_grad_()
    found = task._products(d, drawn)
    found.square().sum().backward()

    u = network.words.weight.detach()[drawn].requires_grad_()  # (4, 1, 2, size)
    e = d.detach().requires_grad_()
    oracle = (u * e[:, None, None]).sum(3)
    oracle.square().sum().backward()
    torch.testing.assert_close(found, oracle)
    moved = network.words.weight.grad
    assert moved is not None
    assert u.grad is not None
    torch.testing.assert_close(d.grad, e.grad)
    expected = torch.zeros(9, size).index_add_(0, drawn.flatten(), u.grad.flatten(0, 2))
    torch.testing.assert_close(moved.to_dense(), expected)


def test_unknown_and_rare_words() -> None:
    method = METHODS["pv-dbow"](size=4, epochs=1, device="cpu")
    method.fit(corpus())
    rows = method.encode(["zyx", "", "ship zyx", "ship"])
    assert not rows[:2].any()
    np.testing.assert_array_equal(rows[2], rows[3])
    with pytest.raises(ValueError, match="min_count"):
        METHODS["pv-dbow"](min_count=3).fit(Groups(["a b", "c d"], ["x", "x"], name="few"))

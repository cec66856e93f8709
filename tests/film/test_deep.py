"""Deep FILM: a worked example of the hinge, the network against plain loops, and learning beyond the base."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.signal import correlate2d

from labkit.corpora import Labelled
from labkit.film.deep import Images, cosine_hinge
from labkit.method import Method
from labkit.methods import METHODS


def test_worked_example_of_the_hinge() -> None:
    near, far = torch.tensor([0.9, 0.5, 0.2]), torch.tensor([0.1, 0.4, 0.6])
    torch.testing.assert_close(cosine_hinge(near, far, 0.3), torch.tensor([0.0, 0.2, 0.7]))


@pytest.mark.parametrize(("dimension", "side"), [(3, 8), (64, 8), (65, 9), (384, 20)])
def test_a_vector_becomes_a_square_image(dimension: int, side: int) -> None:
    network = Images(dimension, 4, 7)
    assert network.side == side
    assert network(torch.zeros(2, dimension)).shape == (2, 7)


def test_network_equals_plain_loops() -> None:
    torch.manual_seed(1)
    network = Images(70, 2, 3).double()
    x = np.random.default_rng(0).standard_normal(70)
    image = np.append(x, np.zeros(81 - 70)).reshape(1, 9, 9)
    for convolution in network.convolutions:
        weight, bias = (p.detach().numpy() for p in (convolution.weight, convolution.bias))
        answers = [
            sum(correlate2d(channel, kernel, "same") for channel, kernel in zip(image, kernels, strict=True)) + offset
            for kernels, offset in zip(weight, bias, strict=True)
        ]
        positive = np.maximum(answers, 0)
        half = positive.shape[1] // 2
        image = positive[:, : 2 * half, : 2 * half].reshape(len(positive), half, 2, half, 2).max(axis=(2, 4))
    last = network.last
    expected = (last.weight.detach().numpy() * image).sum(axis=(1, 2, 3)) + last.bias.detach().numpy()
    np.testing.assert_allclose(network(torch.from_numpy(x)[None]).detach().numpy()[0], expected, atol=1e-12)


def corpus() -> Labelled:
    """Sentences in which one of five words per class gives the class, and the other words are random."""
    random = np.random.default_rng(0)
    rows = []
    for number in range(300):
        said = [f"word{i}" for i in random.choice(30, 5, replace=False)]
        rows.append((" ".join([*said, f"class{number % 3}by{random.integers(5)}"]), str(number % 3)))
    texts, labels = zip(*dict(rows).items(), strict=True)
    splits = ["dev" if row % 5 == 0 else "train" for row in range(len(texts))]
    return Labelled(texts, labels, splits=splits, name="one word")


def contrast(method: Method, part: Labelled) -> float:
    """The mean similarity within classes minus that between classes."""
    S = method.similarity(list(part.texts), list(part.texts))
    same = np.equal.outer(part.labels, part.labels)
    return float(S[same & ~np.eye(len(part), dtype=bool)].mean() - S[~same].mean())


@pytest.mark.whole
def test_learns_classes_that_its_base_does_not_separate() -> None:
    dev = corpus().part("dev")
    base = METHODS["lsa"](dimension=30)
    base.fit(corpus())
    method = METHODS["film-deep"](base="lsa", epochs=6, size=16, device="cpu", batch=64)
    method.fit(corpus())
    assert contrast(method, dev) > contrast(base, dev) + 0.3
    assert not method.encode(["zyx"]).any()  # a word unknown to the base

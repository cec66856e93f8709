"""The test sentences embedded together: known to the space, YᵀY/m = I over them, the base learned from train."""

from __future__ import annotations

import numpy as np

from labkit.corpora import load
from labkit.lab.course.ablation import again, made
from labkit.lab.course.plans import PLANS


def test_every_sentence_of_test_is_one_of_those_embedded() -> None:
    corpus = load("topics")
    plan = PLANS["lp-topics-sif"]
    together = made(plan.variant("sif, LP together"))
    together.fit(corpus, seed=0)
    assert set(together.space.sentences) == set(corpus.part("test").sentences())
    Y = together.space.embedding.astype(float)
    assert np.allclose(Y.T @ Y / len(Y), np.eye(Y.shape[1]), atol=1e-4)
    assert np.allclose(Y.mean(axis=0), 0, atol=1e-4)
    base = made(plan.variant("sif, raw"))
    base.fit(corpus, seed=0)
    texts = corpus.part("test").sentences()[:5]
    assert np.allclose(together.base.encode(texts), base.encode(texts))


def test_a_cell_is_the_same_again() -> None:
    plan = PLANS["lp-topics-sif"]
    assert again(plan, "sif, LP together", 0) == again(plan, "sif, LP together", 0)

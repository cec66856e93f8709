"""SBERT-LP over a base: fitted and new sentences, joint embeddings, explanations, and a given base."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.manifold._locally_linear import barycenter_kneighbors_graph

from labkit.arrays import unit
from labkit.corpora import Corpus, Labelled, Pairs, load
from labkit.methods import METHODS
from labkit.sbert_lp.method import SbertLp, SbertLpSettings

QUESTIONS = load("questions")
SENTENCES = QUESTIONS.part("train").sentences()
NEW = QUESTIONS.part("test").sentences()[:40]


@pytest.fixture(scope="module")
def some() -> Corpus:
    return Labelled(SENTENCES[:300], ["x"] * 300, splits="train")


@pytest.fixture(scope="module")
def method(some: Corpus) -> SbertLp:
    found = METHODS["sbert-lp"](base="lsa", neighbours=10, dimension=12)
    found.fit(some, seed=1)
    assert isinstance(found, SbertLp)
    return found


def test_encode_gives_a_fitted_sentence_its_own_row(method: SbertLp) -> None:
    rows = method.encode(SENTENCES[:300])
    np.testing.assert_array_equal(rows, method.space.embedding[method.space.place])
    np.testing.assert_array_equal(method.encode([SENTENCES[7]])[0], rows[7])


def test_a_new_sentence_is_the_mixture_of_its_neighbours(method: SbertLp) -> None:
    base = METHODS["lsa"]()
    base.fit(Labelled(SENTENCES[:300], ["x"] * 300, splits="train"), seed=1)
    d = unit(base.encode(SENTENCES[:300])).astype(np.float64)
    new = unit(base.encode(NEW[:1]))
    # the k nearest, then (G + reg tr(G) I) w = 1, w / Σ w, Σ w y
    x = new[0].astype(np.float64)
    near = np.argsort(((d - x) ** 2).sum(axis=1))[:10]
    away = d[near] - x
    G = away @ away.T
    w = np.linalg.solve(G + 0.001 * np.trace(G) * np.eye(10), np.ones(10))
    expected = (w / w.sum()) @ method.encode([SENTENCES[row] for row in near])
    np.testing.assert_allclose(method.encode(NEW[:1])[0], expected, atol=1e-4)


def test_fit_encode_embeds_all_sentences_jointly_and_changes_nothing(method: SbertLp) -> None:
    before = method.encode(NEW)
    asked = [*NEW, *SENTENCES[:50], NEW[0]]
    rows = method.fit_encode(asked, seed=1)
    assert rows.shape == (91, 12)
    assert rows.dtype == np.float32
    np.testing.assert_array_equal(rows[0], rows[-1])
    again = METHODS["sbert-lp"](base="lsa", neighbours=10, dimension=12)
    again.fit(Labelled(SENTENCES[:300], ["x"] * 300, splits="train"), seed=1)
    np.testing.assert_array_equal(again.fit_encode(asked, seed=1), rows)
    np.testing.assert_array_equal(method.encode(NEW), before)
    # embedded jointly, sentences influence each other, so these are not the inductive rows
    assert not np.allclose(rows[: len(NEW)], before, atol=0.1)
    for wrong in ("a cat", []):
        with pytest.raises(ValueError, match="sentences"):
            method.fit_encode(wrong)


def test_all_splits_or_only_train_are_embedded() -> None:
    corpus = Pairs(
        SENTENCES[:60], SENTENCES[60:120], [0.0, 1.0] * 30, splits=["train"] * 40 + ["test"] * 20, name="pairs"
    )
    for embedded, count in (("train", 80), ("all", 120)):
        method = METHODS["sbert-lp"](base="lsa", neighbours=5, dimension=4, embedded=embedded)
        method.fit(corpus)
        assert len(method.space.sentences) == count


# --- reconstruction weights ------------------------------------------------------------------------------------


def test_a_fitted_sentence_is_the_mixture_of_its_neighbours(method: SbertLp) -> None:
    space = method.space
    graph = barycenter_kneighbors_graph(space.rows.astype(np.float64), n_neighbors=10, reg=1e-3).toarray()
    for row in (0, 11, 123):
        found = method._parts(SENTENCES[row], "neighbours", 0)
        near, weights = [space.number[name] for name in found.names], np.array(found.weights)
        assert weights.sum() == pytest.approx(1, abs=1e-5)
        assert (np.diff(np.abs(weights)) <= 0).all()
        np.testing.assert_allclose(graph[space.place[row], near], weights, atol=2e-3)


def test_an_explanation_names_the_neighbours_of_a_sentence(method: SbertLp) -> None:
    for sentence in (NEW[0], SENTENCES[3]):
        found = method.explain(sentence, SENTENCES[5])
        assert len(set(found.names_a) & set(SENTENCES)) == 10
    assert method.explain("zyxw", SENTENCES[5]).names_a == ()
    assert not method.encode(["zyxw"]).any()


# --- a given base ----------------------------------------------------------------------------------------------


def test_over_equals_fit_without_fitting_the_base(some: Corpus, method: SbertLp) -> None:
    settings = SbertLpSettings(base="lsa", neighbours=10, dimension=12)
    over = SbertLp.over(method.base, SENTENCES[:300], settings, seed=1)
    assert over.base is method.base
    np.testing.assert_array_equal(over.encode(NEW), method.encode(NEW))
    np.testing.assert_array_equal(over.encode(SENTENCES[:20]), method.encode(SENTENCES[:20]))
    assert over.origin == method.origin
    fewer = SbertLp.over(method.base, SENTENCES[:100], settings)
    assert len(fewer.space.sentences) == 100
    assert SbertLp.over(method, SENTENCES[:60], settings).base is method.base  # the base of an SBERT-LP method
    with pytest.raises(ValueError):
        SbertLp.over(METHODS["lsa"](), SENTENCES[:50], settings)

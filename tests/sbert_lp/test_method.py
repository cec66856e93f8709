"""SBERT-LP over bases: what it promises of joint and of new sentences, its records, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.manifold import LocallyLinearEmbedding
from sklearn.manifold._locally_linear import barycenter_kneighbors_graph

from labkit.corpora import Corpus, Labelled, Pairs, load
from labkit.evaluation.inputs import unit
from labkit.methods import METHODS
from labkit.methods import load as load_run
from labkit.sbert_lp import LocalityPreserving
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


def matrix_file(folder: Path, rows: np.ndarray, sentences: list[str]) -> str:
    np.savez(folder / "mine.npz", vectors=rows, sentences=np.array(sentences))
    return str(folder / "mine.npz")


def curve(count: int) -> np.ndarray:
    """A line wound up in space, with noise: one part, so that scikit-learn's embedding is right too."""
    t = np.sort(np.random.default_rng(0).uniform(0.5, 4, count))
    rows = np.column_stack([np.cos(t), np.sin(t), 0.3 * t, np.ones(count)])
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_as_scikit_learn_where_that_is_right(tmp_path: Path) -> None:
    rows = curve(120).astype(np.float32)
    texts = [f"sentence {row}" for row in range(120)]
    method = METHODS["sbert-lp"](base=matrix_file(tmp_path, rows, texts), neighbours=8, dimension=2)
    method.fit(Labelled(texts, ["x"] * 120, splits="train"))
    theirs = LocallyLinearEmbedding(n_neighbors=8, n_components=2, eigen_solver="dense").fit_transform(rows)
    ours = method.encode(texts) / np.sqrt(120)
    cosines = np.linalg.svd(np.linalg.qr(ours)[0].T @ np.linalg.qr(theirs)[0], compute_uv=False)
    np.testing.assert_allclose(cosines, 1, atol=1e-3)  # one subspace


def test_encode_gives_a_fitted_sentence_its_own_row(method: SbertLp) -> None:
    rows = method.encode(SENTENCES[:300])
    np.testing.assert_array_equal(rows, method.space.embedding[method.space.place])
    np.testing.assert_array_equal(method.encode([SENTENCES[7]])[0], rows[7])


def test_new_sentences_go_where_their_neighbours_put_them(method: SbertLp) -> None:
    base = METHODS["lsa"]()
    base.fit(Labelled(SENTENCES[:300], ["x"] * 300, splits="train"), seed=1)
    d = unit(base.encode(SENTENCES[:300])).astype(np.float64)
    model = LocalityPreserving(n_neighbors=10, n_components=12, random_state=1).fit(unit(base.encode(SENTENCES[:300])))
    new = unit(base.encode(NEW))
    np.testing.assert_allclose(method.encode(NEW), model.transform(new), atol=2e-3)
    # and by hand, for the first of them: k nearest, (G + reg tr(G) I) w = 1, w / Σ w, Σ w y
    x = new[0].astype(np.float64)
    near = np.argsort(((d - x) ** 2).sum(axis=1))[:10]
    away = d[near] - x
    G = away @ away.T
    w = np.linalg.solve(G + 0.001 * np.trace(G) * np.eye(10), np.ones(10))
    expected = (w / w.sum()) @ method.encode([SENTENCES[row] for row in near])
    np.testing.assert_allclose(method.encode(NEW[:1])[0], expected, atol=1e-4)


def test_fit_encode_embeds_all_together_and_keeps_nothing(method: SbertLp) -> None:
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
    # jointly, each helps to place the others: not the rows of the inductive way
    assert not np.allclose(rows[: len(NEW)], before, atol=0.1)
    for wrong in ("a cat", []):
        with pytest.raises(ValueError, match="sentences"):
            method.fit_encode(wrong)


def test_all_splits_or_train_alone() -> None:
    corpus = Pairs(
        SENTENCES[:60], SENTENCES[60:120], [0.0, 1.0] * 30, splits=["train"] * 40 + ["test"] * 20, name="pairs"
    )
    for embedded, count in (("train", 80), ("all", 120)):
        method = METHODS["sbert-lp"](base="lsa", neighbours=5, dimension=4, embedded=embedded)
        method.fit(corpus)
        assert len(method.space.sentences) == count


def test_two_texts_with_one_vector_share_a_row(tmp_path: Path) -> None:
    rows = np.random.default_rng(0).standard_normal((40, 6)).astype(np.float32)
    rows[30:] = rows[:10] * 2  # the same direction
    texts = [f"text {row}" for row in range(40)]
    method = METHODS["sbert-lp"](base=matrix_file(tmp_path, rows, texts), neighbours=4, dimension=3)
    method.fit(Labelled(texts, ["x"] * 40, splits="train"))
    found = method.encode(texts)
    np.testing.assert_array_equal(found[30:], found[:10])
    assert len(method.space.rows) == 30
    method.save(tmp_path / "run")
    np.testing.assert_array_equal(load_run(tmp_path / "run").encode(texts), found)


# --- who reconstructs whom -------------------------------------------------------------------------------------


def test_neighbourhoods_of_fitted_sentences(method: SbertLp) -> None:
    space = method.space
    d = space.rows.astype(np.float64)
    graph = barycenter_kneighbors_graph(d, n_neighbors=10, reg=1e-3).toarray()
    for row in (0, 11, 123):
        found = method.neighbourhood(SENTENCES[row])
        assert found.text == SENTENCES[row]
        assert sum(each.weight for each in found.neighbours) == pytest.approx(1, abs=1e-5)
        sizes = [abs(each.weight) for each in found.neighbours]
        assert sizes == sorted(sizes, reverse=True)
        own = space.place[row]
        for each in found.neighbours:
            other = space.number[each.text]
            assert graph[own, other] == pytest.approx(each.weight, abs=2e-3)
            assert np.linalg.norm(d[other] - d[own]) == pytest.approx(each.distance, abs=1e-6)
        left = d[own] - sum(each.weight * d[space.number[each.text]] for each in found.neighbours)
        assert found.error == pytest.approx(left @ left, abs=1e-6)


def test_neighbourhoods_of_new_and_unknown_sentences(method: SbertLp, tmp_path: Path) -> None:
    method.save(tmp_path / "run")
    loaded = load_run(tmp_path / "run")
    assert isinstance(loaded, SbertLp)
    for sentence in (NEW[0], SENTENCES[3]):
        found = loaded.neighbourhood(sentence)
        assert found == method.neighbourhood(sentence)
        assert len(found.neighbours) == 10
        assert all(each.text in SENTENCES for each in found.neighbours)
    nothing = method.neighbourhood("zyxw")
    assert nothing.neighbours == ()
    assert not method.encode(["zyxw"]).any()


# --- what is refused, and what is said -------------------------------------------------------------------------


def test_over_a_base_is_fit_without_fitting_the_base(some: Corpus, method: SbertLp) -> None:
    settings = SbertLpSettings(base="lsa", neighbours=10, dimension=12)
    over = SbertLp.over(method.base, SENTENCES[:300], settings, seed=1)
    assert over.base is method.base
    np.testing.assert_array_equal(over.encode(NEW), method.encode(NEW))
    np.testing.assert_array_equal(over.encode(SENTENCES[:20]), method.encode(SENTENCES[:20]))
    assert over.origin == method.origin
    fewer = SbertLp.over(method.base, SENTENCES[:100], settings)
    assert len(fewer.space.sentences) == 100
    assert SbertLp.over(method, SENTENCES[:60], settings).base is method.base  # one of its kind gives its own base
    with pytest.raises(ValueError, match="learned nothing"):
        SbertLp.over(METHODS["lsa"](), SENTENCES[:50], settings)

"""FILM as a method: its similarity, share and stability, bad input, and saved runs."""

from __future__ import annotations

import numpy as np
import pytest

from labkit.corpora import Groups, Labelled, Pairs, Triplets, load
from labkit.evaluation.scores import selection
from labkit.film.method import Film, FilmSettings


def film(**settings) -> Film:
    return Film(FilmSettings(**({"dimension": 20, "iterations": 5} | settings)))


@pytest.fixture(scope="module")
def questions() -> Pairs:
    corpus = load("questions")
    return corpus.take(range(0, len(corpus), 2))


@pytest.fixture(scope="module")
def few(questions) -> Pairs:
    return questions.take(range(300))


@pytest.fixture(scope="module")
def fitted(questions) -> Film:
    method = film(share="0.3")
    method.fit(questions)
    return method


def test_similarity_is_the_mixture_of_two_cosines(fitted, questions) -> None:
    a, b = list(questions.text_a[:50]), list(questions.text_b[:50])
    x, y = (fitted.vectorizer.transform(texts).toarray() for texts in (a, b))
    u, v = x @ fitted.L.T, y @ fitted.L.T
    cosine = lambda s, t: np.sum(s * t, axis=1) / np.linalg.norm(s, axis=1) / np.linalg.norm(t, axis=1)  # noqa: E731
    assert fitted.encode(a).dtype == np.float32
    wanted = 0.3 * cosine(x, y) + 0.7 * cosine(u, v)
    assert fitted.similarity_pairwise(a, b) == pytest.approx(wanted, abs=1e-6)
    assert np.diag(fitted.similarity(a, b)) == pytest.approx(wanted, abs=1e-6)


def test_share_is_the_best_on_dev_and_without_dev_a_half(questions) -> None:
    method = film()
    assert method.fit(questions.part("train")).history.rows[-1]["share"] == 0.5 == method.share
    history = method.fit(questions).history
    dev = questions.part("dev")
    values = {}
    for method.share in (number / 10 for number in range(11)):
        values[method.share] = selection(method, dev)[1]
    chosen = history.rows[-1]["share"]
    assert values[chosen] == max(values.values()) == pytest.approx(history.rows[-1]["dev_auc"])


def test_stability_is_measured_and_saved(fitted, questions, tmp_path) -> None:
    found = fitted.measure_stability(questions, rounds=2)
    assert found.shape == (20,)
    assert ((found >= 0) & (found <= 1)).all()
    fitted.save(tmp_path / "run")
    assert Film().load(tmp_path / "run").rows()[0].stability == found[0]
    rotated = fitted.measure_stability(questions, rounds=1, rotated=True)
    assert ((rotated >= 0) & (rotated <= 1)).all()
    assert (fitted.stability == found).all()


# --- bad input ---------------------------------------------------------------------------------------------------


def test_unknown_words_have_similarity_0(fitted) -> None:
    found = fitted.similarity(["qwxz", "how do i cook rice"], ["how do i cook rice"])
    assert found[0, 0] == 0
    assert found[1, 0] == pytest.approx(1, abs=1e-6)


def test_word_pairs_are_saved(questions, few, tmp_path) -> None:
    method = film(share="0.3", word_pairs=True, iterations=1)
    method.fit(few)
    assert any(" " in name for name in method.words.names)
    method.save(tmp_path / "run")
    texts = questions.sentences()[:20]
    assert (Film().load(tmp_path / "run").encode(texts) != method.encode(texts)).nnz == 0


@pytest.mark.parametrize(
    "corpus",
    [
        Labelled(texts=["a b", "c d", "e f"], labels=["x"] * 3),
        Pairs(text_a=["a b"], text_b=["c d"], values=[0]),
        Groups(texts=["?", "!", "..."], groups=["x", "x", "y"]),
        Labelled(texts=["word", "word word", "word word word"], labels=["x", "x", "y"]),
        Triplets(anchors=["a"], positives=["a"], negatives=["a"]),
    ],
)
def test_corpora_without_a_triplet_are_refused(corpus) -> None:
    with pytest.raises(ValueError, match="sentence"):
        film().fit(corpus)

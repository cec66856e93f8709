"""TF-IDF and LSA against worked examples, scikit-learn's vectorizer and the full singular value decomposition."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer

from labkit.baselines.counts import parts_of_counts
from labkit.corpora import Groups, load
from labkit.methods import METHODS

QUESTIONS = load("questions")
ASKED = [*QUESTIONS.part("test").sentences()[:300], "", "zyxw", "I a ?"]


def groups(*texts: str, splits: tuple[str, ...] = ()) -> Groups:
    return Groups(texts, ["g"] * len(texts), splits=splits)


def test_worked_example() -> None:
    method = METHODS["tfidf"]()
    method.fit(groups("red cat", "red dog"))
    # columns cat, dog, red; one of two sentences has cat, both have red
    cat, red = math.log(3 / 2) + 1, math.log(3 / 3) + 1
    length = math.hypot(2 * cat, red)
    np.testing.assert_allclose(method.encode(["Cat cat red bird"]).toarray(), [[2 * cat / length, 0, red / length]])
    assert method.encode(["bird"]).nnz == 0


@pytest.mark.parametrize(
    ("settings", "theirs"),
    [
        ({}, {}),
        ({"min_ngram": 1, "max_ngram": 2}, {"ngram_range": (1, 2)}),
        ({"unit": "characters", "min_ngram": 2, "max_ngram": 4}, {"analyzer": "char", "ngram_range": (2, 4)}),
        ({"min_count": 3}, {"min_df": 3}),
    ],
)
def test_equals_scikit_learn(settings: dict[str, Any], theirs: dict[str, Any]) -> None:
    method = METHODS["tfidf"](**settings)
    method.fit(QUESTIONS)
    oracle = TfidfVectorizer(dtype=np.float32, **theirs).fit(QUESTIONS.part("train").sentences())
    found, expected = method.encode(ASKED), sparse.csr_array(oracle.transform(ASKED))
    assert found.shape == expected.shape
    np.testing.assert_array_equal(found.toarray(), expected.toarray())
    np.testing.assert_allclose(method.similarity(ASKED[:9], ASKED), (expected[:9] @ expected.T).toarray(), atol=1e-6)


@pytest.mark.parametrize("settings", [{"max_ngram": 3}, {"unit": "characters", "min_ngram": 2, "max_ngram": 4}])
def test_parts_add_up_to_the_vector(settings: dict[str, Any]) -> None:
    fitted = METHODS["tfidf"](**settings)
    fitted.fit(load("questions"))
    for text in ("How is the cat the cat's way to the door?", "zzz", "", "the qwxz the"):
        parts = parts_of_counts(fitted.vectorizer, text)
        assert parts.vector == pytest.approx(fitted.vectorizer.transform([text]).toarray()[0], abs=1e-7)
        assert ("qwxz" in parts.unknown) == ("qwxz" in text)


def test_only_the_training_split_is_used() -> None:
    one, two = METHODS["tfidf"](), METHODS["tfidf"]()
    one.fit(groups("red cat", "red dog", "blue sky", splits=("train", "train", "test")))
    two.fit(groups("red cat", "red dog"))
    assert (one.encode(["red sky"]) != two.encode(["red sky"])).nnz == 0


@pytest.mark.parametrize(
    ("texts", "settings"),
    [
        (("a b", "c ?"), {}),
        (("red cat", "blue dog"), {"min_count": 2}),
        (("ab", "ab"), {"unit": "characters", "min_ngram": 5, "max_ngram": 6}),
    ],
)
def test_a_corpus_with_nothing_to_count_is_refused(texts: tuple[str, ...], settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="words|characters"):
        METHODS["tfidf"](**settings).fit(groups(*texts))


def test_lengths_in_the_wrong_order() -> None:
    with pytest.raises(ValueError, match="setting max_ngram"):
        METHODS["tfidf"](min_ngram=3, max_ngram=2)


# --- lsa -----------------------------------------------------------------------------------------------------------

TEXTS = load("questions").part("test").sentences()[:120]


def test_words_of_the_same_sentences_share_a_direction() -> None:
    # two topics without a common word need one direction each
    method = METHODS["lsa"](dimension=2)
    method.fit(Groups(["red cat", "red cat", "red cat", "blue sky", "blue sky"], ["g"] * 5))
    similarity = method.similarity(["red", "cat", "blue", "zyx"], ["red", "cat", "sky"])
    np.testing.assert_allclose(similarity, [[1, 1, 0], [1, 1, 0], [0, 0, 1], [0, 0, 0]], atol=1e-6)
    # a small corpus has fewer directions than requested
    method = METHODS["lsa"](dimension=100)
    method.fit(Groups(["red cat", "red dog", "blue cat"], ["g"] * 3))
    assert method.encode(["red"]).shape == (1, 3)


def test_is_the_truncated_svd_of_tfidf() -> None:
    corpus = Groups(TEXTS, ["g"] * len(TEXTS))
    counts, method = METHODS["tfidf"](), METHODS["lsa"](dimension=30)
    counts.fit(corpus)
    method.fit(corpus)
    X = counts.encode(TEXTS).toarray().astype(np.float64)
    u, sigma, _ = np.linalg.svd(X, full_matrices=False)
    rows = method.encode(TEXTS)
    assert rows.shape == (120, 30)
    # inner products, which no rotation of the kept directions changes
    np.testing.assert_allclose(rows @ rows.T, (u[:, :30] * sigma[:30] ** 2) @ u[:, :30].T, atol=0.01)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=0), sigma[:30], rtol=0.002)
    V = method._state()[0]["directions"]
    np.testing.assert_allclose(V.T @ V, np.eye(30), atol=1e-5)
    kept = np.linalg.norm(X @ V) ** 2 / (sigma[:30] ** 2).sum()
    assert 0.9995 < kept < 1.000001  # share of what the best 30 directions keep

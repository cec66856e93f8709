"""LSA: by hand, and against the full singular value decomposition."""

from __future__ import annotations

import numpy as np

from labkit.corpora import Groups, load
from labkit.methods import METHODS

TEXTS = load("questions").part("test").sentences()[:120]


def test_by_hand_words_of_the_same_sentences_share_a_direction() -> None:
    # two topics that share no word: two directions are enough, one for each
    method = METHODS["lsa"](dimension=2)
    method.fit(Groups(["red cat", "red cat", "red cat", "blue sky", "blue sky"], ["g"] * 5))
    similarity = method.similarity(["red", "cat", "blue", "zyx"], ["red", "cat", "sky"])
    np.testing.assert_allclose(similarity, [[1, 1, 0], [1, 1, 0], [0, 0, 1], [0, 0, 0]], atol=1e-6)


def test_is_the_truncated_svd_of_tfidf() -> None:
    corpus = Groups(TEXTS, ["g"] * len(TEXTS))
    counts, method = METHODS["tfidf"](), METHODS["lsa"](dimension=30)
    counts.fit(corpus)
    method.fit(corpus)
    X = counts.encode(TEXTS).toarray().astype(np.float64)
    u, sigma, _ = np.linalg.svd(X, full_matrices=False)
    rows = method.encode(TEXTS)
    assert rows.shape == (120, 30)
    # up to a turn within the kept directions: their inner products
    np.testing.assert_allclose(rows @ rows.T, (u[:, :30] * sigma[:30] ** 2) @ u[:, :30].T, atol=0.01)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=0), sigma[:30], rtol=0.002)
    V = method._state()[0]["directions"]
    np.testing.assert_allclose(V.T @ V, np.eye(30), atol=1e-5)
    kept = np.linalg.norm(X @ V) ** 2 / (sigma[:30] ** 2).sum()
    assert 0.9995 < kept < 1.000001  # of what the best 30 directions keep


def test_a_small_corpus_has_fewer_directions() -> None:
    method = METHODS["lsa"](dimension=100)
    method.fit(Groups(["red cat", "red dog", "blue cat"], ["g"] * 3))
    assert method.encode(["red"]).shape == (1, 3)

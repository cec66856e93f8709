"""sentence-transformers' evaluators against labkit's own evaluation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from labkit import METHODS, Tfidf
from labkit.adapters.evaluators import AsModel
from labkit.corpora import load
from labkit.evaluation import best_threshold, correlation, triplet_accuracy
from labkit.method import Method

evaluation = pytest.importorskip(
    "sentence_transformers.evaluation", reason="needs the extra sbert: sentence-transformers"
)
SETTINGS: dict[str, dict[str, Any]] = {"sentpwnet": {"epochs": 1, "size": 12, "dimension": 10}, "tfidf": {}}


class Walk(Tfidf):
    """A sentence is a point such as "3 0"; the similarity is the negative Manhattan distance."""

    name = "walk"
    similarity_name = "manhattan"

    def _encode(self, sentences: list[str], *_: Any) -> np.ndarray:
        return np.array([[float(number) for number in text.split()] for text in sentences], dtype=np.float32)

    def similarity(self, a: Any, b: Any) -> np.ndarray:
        return -np.abs(self.embedded(a)[:, None] - self.embedded(b)[None]).sum(axis=2)

    def similarity_pairwise(self, a: Any, b: Any) -> np.ndarray:
        return -np.abs(self.embedded(a) - self.embedded(b)).sum(axis=1)


@pytest.fixture(scope="module", params=SETTINGS)
def method(request: pytest.FixtureRequest) -> Method:
    made = METHODS[request.param](**SETTINGS[request.param])
    made.fit(load("questions").take(range(400)))
    return made


def test_binary_classification(method: Method) -> None:
    dev: Any = load("questions").part("dev")
    found = evaluation.BinaryClassificationEvaluator(dev.text_a, dev.text_b, dev.labels.tolist())(AsModel(method))
    scores = method.similarity_pairwise(list(dev.text_a), list(dev.text_b))
    accuracy = ((scores > best_threshold(scores, dev.labels)) == dev.labels).mean()
    assert found["cosine_accuracy"] == pytest.approx(accuracy, abs=1e-9)


def test_embedding_similarity(method: Method) -> None:
    test: Any = load("relatedness").part("test")
    found = evaluation.EmbeddingSimilarityEvaluator(test.text_a, test.text_b, test.values)(AsModel(method))
    expected = correlation(method.similarity_pairwise(list(test.text_a), list(test.text_b)), test.scores)
    assert found["spearman_cosine"] == pytest.approx(expected.spearman, abs=1e-3)  # rounding splits or creates ties
    assert found["pearson_cosine"] == pytest.approx(expected.pearson, abs=1e-4)


def test_encode_returns_the_requested_type(method: Method) -> None:
    model, texts = AsModel(method), ["How do I keep a cat?", "What does a cat need?"]
    rows = model.encode(texts)
    assert isinstance(rows, np.ndarray)
    assert rows.dtype == np.float32
    tensor = model.encode(texts, convert_to_tensor=True)
    assert isinstance(tensor, torch.Tensor)
    assert np.array_equal(tensor.numpy(), rows)
    assert [row.shape for row in model.encode(texts, convert_to_numpy=False)] == [rows[0].shape] * 2
    np.testing.assert_allclose(model.encode(texts[0]), rows[0], atol=1e-6)
    assert model.encode(texts, truncate_dim=5).shape == (2, 5)
    np.testing.assert_allclose(model.encode_query(texts, prompt_name="query"), rows)
    np.testing.assert_allclose(model.similarity(tensor, rows), method.similarity(texts, texts), atol=1e-6)
    np.testing.assert_allclose(model.similarity_pairwise(rows, tensor), [1, 1], atol=1e-6)
    np.testing.assert_allclose(
        model.similarity(method.encode(texts), tensor), method.similarity(texts, texts), atol=1e-6
    )
    one = model.encode(texts[0], convert_to_numpy=False)
    assert isinstance(one, torch.Tensor)
    assert one.shape == rows[0].shape
    assert model.encode(np.array(texts)).shape == rows.shape


def test_evaluators_use_the_similarity_of_the_method() -> None:
    """Distances 1, 2 (label 1) and 3, 8 (label 0) separate the labels; every cosine is 1."""
    walk = Walk().fit(load("questions").take(range(9)))
    a, b, labels = ["1 0", "2 0", "1 0", "9 0"], ["2 0", "4 0", "4 0", "1 0"], [1, 1, 0, 0]
    found = evaluation.BinaryClassificationEvaluator(a, b, labels)(AsModel(walk))
    assert found["manhattan_accuracy"] == 1
    assert 2 <= found["manhattan_accuracy_threshold"] <= 3
    found = evaluation.TripletEvaluator(["1 0", "1 0"], ["2 0", "9 0"], ["1 5", "1 5"])(AsModel(walk))
    assert found["manhattan_accuracy"] == triplet_accuracy(np.array([-1, -8]), np.array([-5, -5])) == 0.5
    found = evaluation.EmbeddingSimilarityEvaluator(a, b, [5, 4, 3, 0])(AsModel(walk))
    assert found["spearman_manhattan"] == pytest.approx(1)

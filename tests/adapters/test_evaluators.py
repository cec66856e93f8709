"""sentence-transformers' evaluators on our methods say what our own evaluation says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from labkit import METHODS
from labkit.adapters.evaluators import AsModel
from labkit.corpora import load
from labkit.evaluation import best_threshold, correlation, triplet_accuracy
from labkit.methods import Method

evaluation = pytest.importorskip(
    "sentence_transformers.evaluation", reason="needs the extra sbert: sentence-transformers"
)
SETTINGS: dict[str, dict[str, Any]] = {"sentpwnet": {"epochs": 1, "size": 12, "dimension": 10}, "tfidf": {}}


@pytest.fixture(scope="module", params=SETTINGS)
def method(request: pytest.FixtureRequest) -> Method:
    made = METHODS[request.param](**SETTINGS[request.param])
    made.fit(load("questions"))
    return made


def test_binary_classification(method: Method) -> None:
    dev: Any = load("questions").part("dev")
    model = AsModel(method)
    found = evaluation.BinaryClassificationEvaluator(dev.text_a, dev.text_b, dev.labels.tolist())(model)
    assert model.model_card_data.metrics == {"BinaryClassificationEvaluator": found}
    scores = method.pairwise_similarity(list(dev.text_a), list(dev.text_b))
    accuracy = ((scores > best_threshold(scores, dev.labels)) == dev.labels).mean()
    assert found["cosine_accuracy"] == pytest.approx(accuracy, abs=1e-9)


def test_triplets(method: Method) -> None:
    dev: Any = load("questions").part("dev")
    a, b, c = list(dev.text_a[:99]), list(dev.text_b[:99]), list(dev.text_a[100:199])
    found = evaluation.TripletEvaluator(a, b, c)(AsModel(method))
    expected = triplet_accuracy(method.pairwise_similarity(a, b), method.pairwise_similarity(a, c))
    assert found["cosine_accuracy"] == pytest.approx(expected, abs=0.011)  # one tie may be rounded either way


def test_embedding_similarity(method: Method) -> None:
    test: Any = load("relatedness").part("test")
    found = evaluation.EmbeddingSimilarityEvaluator(test.text_a, test.text_b, test.values)(AsModel(method))
    expected = correlation(method.pairwise_similarity(list(test.text_a), list(test.text_b)), test.scores)
    assert found["spearman_cosine"] == pytest.approx(expected.spearman, abs=1e-3)  # rounding parts or joins ties
    assert found["pearson_cosine"] == pytest.approx(expected.pearson, abs=1e-4)


def test_what_comes_out_is_what_is_asked_for(method: Method) -> None:
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

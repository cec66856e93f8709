"""MTEB 2: its mock tasks, which need no network, accept our methods, and its scores equal ours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from labkit import METHODS
from labkit.adapters import mteb as adapter
from labkit.adapters.mteb import AsEncoder, revision
from labkit.corpora import load
from labkit.evaluation import correlation
from labkit.methods import load_run

NEEDS = "needs the extra mteb"


def trained(name: str, *, seed: int = 0, **settings: Any) -> Any:
    method = METHODS[name](**settings)
    method.fit(load("questions").take(range(200)), seed=seed)
    return method


SMALL = {"encoder": "mean", "epochs": 1, "size": 12, "dimension": 10}
LETTERS = {"unit": "characters", "max_ngram": 3}  # the mock sentences share few words with our questions


@pytest.mark.weekly
def test_mock_run() -> None:
    mteb = pytest.importorskip("mteb", reason=NEEDS)
    encoder = AsEncoder(trained("tfidf", **LETTERS))  # sparse rows: the harder case
    assert isinstance(encoder, mteb.EncoderProtocol)
    found = mteb.mock_run(encoder)
    ran = [result for _, result in found.items() if result is not None]
    assert all(isinstance(result, mteb.TaskResult) for result in ran), found.to_markdown()
    assert len(ran) > 20  # the text tasks; image and audio tasks are skipped


@pytest.mark.whole
def test_scores_equal_our_own_evaluation() -> None:
    """An MTEB task with our sentences gives our correlations."""
    mteb = pytest.importorskip("mteb", reason=NEEDS)
    from datasets import Dataset
    from mteb.mocks.mock_tasks import MockSTSTask

    test: Any = load("relatedness").part("test")

    class OurTask(MockSTSTask):
        def load_data(self, **_: Any) -> None:
            columns = {"sentence1": list(test.text_a), "sentence2": list(test.text_b), "score": list(test.values)}
            self.dataset, self.data_loaded = {"test": Dataset.from_dict(columns)}, True

    method = trained("lsa", dimension=20)
    found = mteb.evaluate(AsEncoder(method), OurTask(), cache=None, show_progress_bar=False)
    figures = found.task_results[0].scores["test"][0]
    expected = correlation(method.similarity_pairwise(list(test.text_a), list(test.text_b)), test.scores)
    assert figures["spearman"] == pytest.approx(expected.spearman, abs=1e-3)  # rounding splits or creates ties
    assert figures["pearson"] == pytest.approx(expected.pearson, abs=1e-4)


def test_revisions_differ_between_trainings(tmp_path: Path) -> None:
    """The trainings differ in settings, weights or vocabulary; a run opened from disk keeps its revision."""
    first = trained("sentpwnet", **SMALL)
    first.save(tmp_path / "run")
    assert revision(load_run(tmp_path / "run").run("finished")) == revision(first.run("finished"))
    others = [trained("sentpwnet", seed=1, **SMALL), trained("siamese", **SMALL), trained("tfidf")]
    others += [trained("tfidf", max_ngram=2), trained("tfidf")]
    renamed = next(iter(others[-1].vectorizer.vocabulary))
    others[-1].vectorizer.vocabulary = {
        word if word != renamed else "a new word": column for word, column in others[-1].vectorizer.vocabulary.items()
    }
    found = [revision(method.run("finished")) for method in (first, *others)]
    assert len(set(found)) == len(found)


def test_encode_reads_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapter, "model_meta", lambda method, name: None)
    method = trained("mean-vectors", dimension=8)
    encoder = AsEncoder(method)
    rows = encoder.encode([{"text": ["a cat", "a dog"]}, {"text": ["a bird"]}], task_metadata=None, hf_split="test")
    np.testing.assert_allclose(rows, method.encode(["a cat", "a dog", "a bird"]), atol=1e-6)
    np.testing.assert_allclose(encoder.similarity(rows, rows), method.similarity(rows, rows), atol=1e-6)
    pairs = encoder.similarity_pairwise(rows[:2], rows[1:])
    np.testing.assert_allclose(pairs, method.similarity_pairwise(rows[:2], rows[1:]), atol=1e-6)
    with pytest.raises(ValueError, match="precision"):
        encoder.encode([{"text": ["a cat"]}], precision="int8")

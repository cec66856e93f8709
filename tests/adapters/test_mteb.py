"""MTEB 2 takes our methods: its own mock tasks, which need no network, all pass."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from labkit import METHODS
from labkit.adapters.mteb import AsEncoder
from labkit.corpora import load

NEEDS = "needs the extra mteb"


def trained(name: str, **settings: Any) -> Any:
    method = METHODS[name](**settings)
    method.fit(load("questions"))
    return method


def test_mock_run() -> None:
    mteb = pytest.importorskip("mteb", reason=NEEDS)
    encoder = AsEncoder(trained("sentpwnet", encoder="mean", epochs=1, size=12, dimension=10))
    assert isinstance(encoder, mteb.EncoderProtocol)
    found = mteb.mock_run(encoder)
    ran = {name: result for name, result in found.items() if result is not None}
    assert found.all_passed, found.to_markdown()
    assert len(ran) > 10


def test_meta() -> None:
    pytest.importorskip("mteb", reason=NEEDS)
    method = trained("lsa", dimension=7)
    meta = AsEncoder(method, "me/mine").mteb_model_meta
    assert (meta.name, meta.embed_dim, meta.similarity_fn_name) == ("me/mine", 7, "cosine")
    assert meta.n_parameters == sum(array.size for array in method._state()[0].values())


def test_batches_become_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(AsEncoder, "mteb_model_meta", None)
    method = trained("mean-vectors", dimension=8)
    encoder = AsEncoder(method)
    rows = encoder.encode([{"text": ["a cat", "a dog"]}, {"text": ["a bird"]}], task_metadata=None, hf_split="test")
    np.testing.assert_allclose(rows, method.encode(["a cat", "a dog", "a bird"]), atol=1e-6)
    np.testing.assert_allclose(encoder.similarity(rows, rows), method.similarity(rows, rows), atol=1e-6)


def test_without_mteb_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mteb.models.model_meta", None)
    with pytest.raises(ValueError, match=r"^mteb is not installed, .*labkit\[mteb\]"):
        AsEncoder(trained("tfidf"))

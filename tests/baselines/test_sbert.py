"""Frozen models: the packaged one against transformers; changed weights and missing models."""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from labkit import pretrained as module
from labkit.corpora import Labelled
from labkit.methods import METHODS, load_run
from labkit.pretrained import PACKAGE, PACKAGED, model_source, opened_model, packaged_folder
from labkit.runs import read_run, write_run
from tests.tiny_sbert import make_tiny_sbert, tiny_sbert

CORPUS = Labelled(["the cat sleeps on the sofa", "a dog jumps over the road"], ["x", "y"])
packaged = pytest.mark.skipif(
    find_spec(PACKAGE) is None or find_spec("sentence_transformers") is None, reason="needs the extra 'sbert'"
)


@packaged
class TestPackaged:
    def test_equals_transformers_with_the_mean_of_the_last_layer(self) -> None:
        import torch
        from transformers import AutoModel, AutoTokenizer

        texts = ["A short one.", "A sentence that is a good deal longer than the short one before it."]
        folder = str(packaged_folder())
        tokens = AutoTokenizer.from_pretrained(folder)(texts, padding=True, return_tensors="pt")
        with torch.no_grad():
            states = AutoModel.from_pretrained(folder)(**tokens).last_hidden_state
        mask = tokens["attention_mask"][:, :, None]
        mean = ((states * mask).sum(1) / mask.sum(1)).numpy()
        method = METHODS["sbert"](device="cpu")
        method.fit(CORPUS)
        np.testing.assert_allclose(method.encode(texts), mean / np.linalg.norm(mean, axis=1, keepdims=True), atol=1e-5)

    def test_the_run_holds_no_weights(self, tmp_path: Path) -> None:
        method = METHODS["sbert"](device="cpu")
        method.fit(CORPUS)
        method.save(tmp_path / "run")
        assert sum(file.stat().st_size for file in (tmp_path / "run").iterdir()) < 20_000
        np.testing.assert_array_equal(load_run(tmp_path / "run").encode(["a cat"]), method.encode(["a cat"]))

    def test_names_of_the_packaged_model_and_of_models_in_a_folder(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert model_source(PACKAGED) == model_source(f"sentence-transformers/{PACKAGED}") == str(packaged_folder())
        assert model_source("all-mpnet-base-v2") == "all-mpnet-base-v2"
        (tmp_path / "all-mpnet-base-v2").mkdir()
        monkeypatch.setenv("LABKIT_MODELS", str(tmp_path))
        assert model_source("all-mpnet-base-v2") == str(tmp_path / "all-mpnet-base-v2")
        assert model_source("another") == "another"

    def test_other_weights_are_refused_before_they_are_opened(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(module, "PUBLISHED_SHA256", "0" * 64)
        with pytest.raises(ValueError, match="sha256"):
            METHODS["sbert"]().fit(CORPUS)


def test_another_model_under_the_same_name_is_refused(tmp_path: Path) -> None:
    model = tmp_path / "model"
    shutil.copytree(tiny_sbert(), model)
    method = METHODS["sbert"](model=str(model), device="cpu")
    method.fit(CORPUS)
    method.save(tmp_path / "run")
    shutil.rmtree(model)
    shutil.copytree(make_tiny_sbert(tmp_path / "other", seed=1), model)
    opened_model.cache_clear()
    with pytest.raises(ValueError, match="model"):
        load_run(tmp_path / "run")


def test_the_same_weights_with_other_vectors_are_refused(tmp_path: Path) -> None:
    method = METHODS["sbert"](model=tiny_sbert(), device="cpu")
    method.fit(CORPUS)
    method.save(tmp_path / "run")
    run = read_run(tmp_path / "run")
    write_run(replace(run, arrays={"probe": run.arrays["probe"] * 1.5}), tmp_path / "run")
    with pytest.raises(ValueError, match="run"):
        load_run(tmp_path / "run")


@pytest.mark.parametrize("name", ["no such/model name", "EMPTY"])
def test_a_model_that_cannot_be_opened_is_refused(name: str, tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers", reason="needs the extra 'sbert'")
    with pytest.raises(ValueError, match="model"):
        METHODS["sbert"](model=str(tmp_path) if name == "EMPTY" else name, device="cpu").fit(CORPUS)


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)  # as if it were not installed
    opened_model.cache_clear()
    with pytest.raises(ValueError, match=r"labkit-embeddings\[sbert\]"):
        METHODS["sbert"](model="any").fit(CORPUS)


def test_vectors_keep_the_order_and_only_progress_is_reported(capfd: pytest.CaptureFixture[str]) -> None:
    seen: list[tuple[int, int | None, str]] = []
    method = METHODS["sbert"](model=tiny_sbert(), device="cpu")
    capfd.readouterr()
    opened_model.cache_clear()
    method.fit(CORPUS)
    texts = [f"the cat sleeps {'on the sofa ' * (number % 3)}{number}" for number in range(100)]
    rows = method._encode(texts, 1, lambda *what: seen.append(what))
    assert [done for done, _, _ in seen] == [32, 64, 96, 100]
    np.testing.assert_allclose(rows, method.encode(texts), atol=1e-5)
    assert capfd.readouterr() == ("", "")  # without the library's own progress bar


def test_a_model_with_nan_weights_is_refused(tmp_path: Path) -> None:
    """At once: otherwise SBERT-LP would search among NaN forever."""
    from safetensors.torch import load_file, save_file

    folder = make_tiny_sbert(tmp_path, seed=5)
    weights = next(Path(folder).rglob("model.safetensors"))
    arrays = load_file(weights)
    arrays = {name: array * (float("nan") if "layer.0.output.dense" in name else 1) for name, array in arrays.items()}
    save_file(arrays, weights, {"format": "pt"})
    for method in (METHODS["sbert"](model=folder, device="cpu"), METHODS["sbert-lp"](base=f"sbert:{folder}")):
        with pytest.raises(ValueError, match=folder):
            method.fit(CORPUS)

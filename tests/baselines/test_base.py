"""The base of a method: another method, a run, a model by name, the user's own matrix; bad bases are refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from labkit.baselines import base as matrix_module
from labkit.baselines.base import base_of, base_rows
from labkit.corpora import Labelled
from labkit.methods import METHODS, load_run
from labkit.progress import silent
from tests.tiny_sbert import tiny_sbert

TEXTS = ["red cat", "red dog", "blue sky", "blue lake", "green lake", "green dog"]
CORPUS = Labelled(TEXTS, ["x", "x", "y", "y", "z", "z"])
ROWS = np.random.default_rng(0).standard_normal((6, 4)).astype(np.float32)


def fitted(name: str) -> np.ndarray:
    return base_rows(base_of(name, CORPUS, seed=0, progress=silent), TEXTS, 32, silent)


def test_a_method_is_fitted_and_a_run_is_used_unchanged(tmp_path: Path) -> None:
    method = METHODS["lsa"]()
    method.fit(CORPUS)
    np.testing.assert_array_equal(fitted("lsa"), method.encode(TEXTS))
    method = METHODS["lsa"](dimension=2)
    method.fit(Labelled(["red cat", "blue dog", "red sky"], ["x", "y", "z"]))
    method.save(tmp_path / "run")
    np.testing.assert_array_equal(fitted(str(tmp_path / "run")), method.encode(TEXTS))


def test_sparse_rows_become_dense_if_they_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    method = METHODS["tfidf"]()
    method.fit(CORPUS)
    np.testing.assert_array_equal(fitted("tfidf"), method.encode(TEXTS).toarray())
    monkeypatch.setattr(matrix_module, "LARGEST", 20)
    with pytest.raises(ValueError, match="'tfidf'"):
        fitted("tfidf")


def test_a_sentence_transformers_model_by_folder() -> None:
    assert fitted(f"sbert:{tiny_sbert()}").shape == (6, 16)


def test_a_run_contains_its_base(tmp_path: Path) -> None:
    below = METHODS["all-but-the-top"](base="lsa")
    below.fit(CORPUS)
    below.save(tmp_path / "below")
    method = METHODS["whitening"](base=str(tmp_path / "below"), dimension=2)
    method.fit(CORPUS)
    method.save(tmp_path / "run")
    (tmp_path / "below").rename(tmp_path / "gone")
    np.testing.assert_array_equal(load_run(tmp_path / "run").encode(TEXTS), method.encode(TEXTS))


@pytest.mark.parametrize("name", ["pca", "sbert-lp"])
def test_the_base_of_an_opened_run_encodes_like_any_method(name: str, tmp_path: Path) -> None:
    method = METHODS[name](base="lsa", dimension=2)
    method.fit(CORPUS, seed=3)
    method.save(tmp_path / "run")
    found = load_run(tmp_path / "run").base
    np.testing.assert_array_equal(found.encode(TEXTS), method.base.encode(TEXTS))
    assert found.origin == method.base.origin


# --- the user's own matrix -------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["npz", "npy", "parquet"])
def test_a_matrix_of_the_user(ending: str, tmp_path: Path) -> None:
    file = tmp_path / f"mine.{ending}"
    turned = [3, 1, 0, 2, 5, 4]  # with sentences, any order will do
    if ending == "npz":
        np.savez(file, sentences=np.array(TEXTS)[turned], vectors=ROWS[turned])
    elif ending == "npy":
        np.save(file, ROWS.astype(np.float16))
    else:
        pd.DataFrame({"sentence": np.array(TEXTS)[turned], "vector": list(ROWS[turned])}).to_parquet(file)
    np.testing.assert_allclose(fitted(str(file)), ROWS, atol=1e-3 if ending == "npy" else 0)
    method = METHODS["pca"](base=str(file), dimension=2)
    method.fit(CORPUS)
    assert method.encode([]).shape == (0, 2)
    assert not method.encode([""]).any()
    method.save(tmp_path / "run")
    np.testing.assert_array_equal(load_run(tmp_path / "run").encode(TEXTS), method.encode(TEXTS))
    with pytest.raises(ValueError, match="'pink cat'"):
        method.encode(["red cat", "pink cat"])


def test_a_sparse_matrix_of_the_user_and_one_that_is_too_short(tmp_path: Path) -> None:
    sparse.save_npz(tmp_path / "mine.npz", sparse.csr_array(np.maximum(ROWS, 0)))
    np.testing.assert_array_equal(fitted(str(tmp_path / "mine.npz")), np.maximum(ROWS, 0))
    np.save(tmp_path / "mine.npy", ROWS[:4])
    with pytest.raises(ValueError, match="4 rows.* 6"):
        fitted(str(tmp_path / "mine.npy"))


def test_an_unknown_base_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="setting base"):
        fitted("lsaa")
    with pytest.raises(ValueError, match=r"gone\.npz"):
        fitted(str(tmp_path / "gone.npz"))
    (tmp_path / "folder").mkdir()
    with pytest.raises(ValueError, match="run.json"):
        fitted(str(tmp_path / "folder"))

"""`labkit export`: a run in, a folder out that is tried on sentences of dev."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from labkit.adapters.export import FORMS
from labkit.methods import load

from .conftest import Labkit

pytest.importorskip("onnxruntime", reason="needs the extra 'export'")


@pytest.fixture
def run(labkit: Labkit) -> str:
    words = ("--set", "dimension=8", "--out", "run")
    assert labkit("train", "mean-vectors", "--corpus", "mine.csv", *words).status == 0
    return "run"


def test_a_folder_that_gives_the_runs_vectors(labkit: Labkit, run: str) -> None:
    done = labkit("export", run, "out", "--to", "onnx")
    assert done.status == 0, done.err
    assert done.out.startswith("out: onnx, ")
    assert "sentences its numbers differ from labkit's by" in done.out
    assert done.err.startswith("labkit: note: A character that Unicode has got since 2019")
    texts = ["the cat sleeps", "a dog", ""]
    np.testing.assert_allclose(FORMS["onnx"].read(Path("out"), texts), load(run).encode(texts), atol=1e-5)


def test_json_and_int8(labkit: Labkit, run: str) -> None:
    record = labkit("export", run, "out", "--to", "model2vec", "--quantize", "--json").document()
    assert (record["run"], record["folder"], record["form"]) == (run, "out", "model2vec")
    assert record["size"] < record["size_before"]
    assert record["difference"] < 1e-5
    assert 0.9 < record["spearman"] <= 1


def test_nothing_is_written_over_unasked(labkit: Labkit, run: str) -> None:
    Path("out").mkdir()
    assert (
        labkit("export", run, "out", "--to", "onnx").mistake().startswith("FOLDER is 'out', which is there already; ")
    )
    assert "is no export" in labkit("export", run, "out", "--to", "onnx", "--force").mistake()
    Path("out").rmdir()
    for form in ("onnx", "model2vec"):
        assert labkit("export", run, "out", "--to", form, "--force").status == 0
    assert not Path("out/model.onnx").exists()


def test_without_its_corpus_it_is_not_tried_but_by_another(labkit: Labkit, run: str) -> None:
    Path("mine.csv").rename("other.csv")
    assert "sentences" not in labkit("export", run, "one", "--to", "model2vec").out
    assert "sentences are 0" in labkit("export", run, "two", "--to", "model2vec", "--quantize").mistake()
    done = labkit("export", run, "two", "--to", "model2vec", "--quantize", "--corpus", "other.csv")
    assert "loss in Spearman" in done.out
    assert "no-such.csv" in labkit("export", run, "three", "--to", "onnx", "--corpus", "no-such.csv").mistake()


def test_what_cannot_be_exported_is_one_sentence(labkit: Labkit) -> None:
    assert labkit("train", "tfidf", "--corpus", "mine.csv", "--out", "counted").status == 0
    assert (
        labkit("export", "counted", "out", "--to", "onnx").mistake().startswith("method is 'tfidf', expected one that ")
    )
    assert not Path("out").exists()

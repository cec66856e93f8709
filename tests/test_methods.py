"""The table of methods, settings as keywords, copies of methods, and light imports."""

from __future__ import annotations

import pickle
import subprocess
import sys
from copy import deepcopy
from dataclasses import replace
from inspect import signature
from pathlib import Path

import numpy as np
import pytest

import labkit
from labkit.corpora import Labelled
from labkit.method import Method
from labkit.methods import METHODS, SUMMARIES, load_run
from labkit.runs import read_run, write_run

CORPUS = Labelled(["a red cat", "a red dog", "the blue sky", "the blue lake"], ["x", "x", "y", "y"])


def test_the_table_has_every_method_under_its_own_name() -> None:
    assert list(SUMMARIES) == list(METHODS)
    for name, method in METHODS.items():
        assert issubclass(method, Method)
        assert method.name == name
        assert getattr(labkit, method.__name__) is method


def test_settings_are_keywords_of_the_class() -> None:
    assert METHODS["lsa"](dimension="7").settings.dimension == 7
    with pytest.raises(ValueError, match="'dimensions'.*'dimension'"):
        METHODS["lsa"](dimensions=7)


def test_an_unknown_name_suggests_a_method() -> None:
    assert "bag" in METHODS
    assert "bags" not in METHODS
    with pytest.raises(KeyError, match="'bag'"):
        METHODS["bags"]


def test_settings_form_the_signature_and_are_keywords() -> None:
    assert signature(labkit.Bag).parameters["epochs"].default == labkit.Bag().settings.epochs
    with pytest.raises(ValueError, match="settings"):
        labkit.Bag(3)


def test_texts_and_labels_are_refused_with_a_remedy() -> None:
    for given in ([CORPUS.texts], [CORPUS.texts, CORPUS.labels], [CORPUS, CORPUS.labels]):
        with pytest.raises(ValueError, match="from_classes"):
            labkit.Lsa().fit(*given)


def test_repr_names_the_settings_that_differ_from_the_defaults() -> None:
    assert repr(labkit.Lsa(dimension=7, unit="words")) == "Lsa(dimension=7)"


@pytest.mark.parametrize("method", [labkit.Bag(epochs=1, dimension=4), labkit.Lsa(dimension=2)], ids=repr)
def test_a_copy_of_a_method_encodes_identically(method: Method, tmp_path: Path) -> None:
    method.fit(CORPUS)
    method.save_pretrained(tmp_path / "run")
    expected = method.encode(["a red cat"])
    assert method.get_sentence_embedding_dimension() == expected.shape[1]
    for other in (pickle.loads(pickle.dumps(method)), deepcopy(method), type(method).from_pretrained(tmp_path / "run")):
        np.testing.assert_array_equal(other.encode(["a red cat"]), expected)


def test_a_run_of_an_unknown_method(tmp_path: Path) -> None:
    method = METHODS["tfidf"]()
    method.fit(CORPUS)
    method.save(tmp_path / "run")
    write_run(replace(read_run(tmp_path / "run"), method="later"), tmp_path / "run")
    with pytest.raises(ValueError, match="'later'"):
        load_run(tmp_path / "run")
    with pytest.raises(ValueError, match="no such"):
        load_run(tmp_path / "no such")


LIGHT = "import labkit, labkit.corpora, labkit.shipped.runs, labkit.cli.main, labkit.evaluation"


@pytest.mark.parametrize("what", [LIGHT, "from labkit import Bag, load"])
def test_imports_load_no_unneeded_packages(what: str) -> None:
    heavy = ["numba", "plotly", "umap", "pyarrow", *(["torch", "sklearn", "labkit.method"] if what == LIGHT else [])]
    program = f"import sys; {what}; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"

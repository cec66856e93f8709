"""Pictures made beforehand: of these very vectors or none, and what is read is what was written."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from labkit.corpora import Corpus, load
from labkit.corpora.table import EMBEDDED
from labkit.lab.shipped import DEMONSTRATIONS, Origin, picture, pictured, pictures
from labkit.lab.shipped import pictures as known
from labkit.lab.shipped.making import PLAIN
from labkit.lab.shipped.pictures import PICTURES, SHAPES, write_pictures
from labkit.method import Method
from labkit.methods import METHODS
from labkit.methods import load as load_run
from labkit.projection import Projection, aligned, place, project, unit
from labkit.projection.picture import quality

CORPORA = tuple(EMBEDDED)


@cache
def corpus_of(name: str) -> Corpus:
    return load(name)


@cache
def fitted(name: str, corpus: str) -> Method:
    method = METHODS[name]()
    method.fit(corpus_of(corpus))
    return method


def rows_of(method: Method, corpus: str) -> Any:
    return unit(method.encode(pictured(corpus_of(corpus)).texts).astype(np.float32))


def same_picture(found: Projection, method: Method, corpus: str) -> None:
    """PCA depends on every vector, and is the same on every machine."""
    wanted = project(rows_of(method, corpus), "pca", measure=False)
    width = np.abs(wanted.points).max()
    np.testing.assert_allclose(aligned(found, wanted).points, wanted.points, atol=0.01 * width)


@pytest.mark.parametrize("corpus", CORPORA)
def test_what_is_shown_is_all_of_test_that_has_a_class(corpus: str) -> None:
    shown = pictured(corpus_of(corpus))
    test = corpus_of(corpus).part("test")
    assert len(set(shown.texts)) == len(shown) > 200
    if corpus in ("topics", "captions", "places"):
        assert set(shown.texts) == set(test.sentences())


@pytest.mark.parametrize("corpus", CORPORA)
def test_every_corpus_has_its_plain_vectors_in_every_shape(corpus: str) -> None:
    shown = pictured(corpus_of(corpus))
    for name in PLAIN:
        origin = Origin.unfitted(name, corpus_of(corpus))
        for how, dimensions in SHAPES:
            found = picture(origin, shown.texts, how, dimensions)
            if name == "tfidf" and how == "pca":
                assert found is None
                continue
            assert found is not None, (name, how, dimensions)
            assert found.points.shape == (len(shown), dimensions)
            assert found.method == how
            assert np.isfinite(found.points).all()
            assert found.quality is not None
            assert found.quality.of == len(shown)


@pytest.mark.parametrize("corpus", CORPORA)
def test_plain_pictures_are_of_the_vectors_as_they_are_now(corpus: str) -> None:
    names = ("mean-vectors", "sif", "lsa") if corpus == "topics" else ("sif",)
    for name in names:
        method = fitted(name, corpus)
        assert Origin.of(method) == Origin.unfitted(name, corpus_of(corpus))
        found = picture(Origin.of(method), pictured(corpus_of(corpus)).texts, "pca")
        assert found is not None
        same_picture(found, method, corpus)


@pytest.mark.parametrize("shipped", DEMONSTRATIONS.values(), ids=DEMONSTRATIONS.keys())
def test_pictures_of_runs_are_of_the_runs_as_they_lie_here(shipped: Any) -> None:
    method = load_run(shipped.folder)
    texts = pictured(corpus_of(shipped.corpus)).texts
    for how, dimensions in SHAPES:
        found = picture(Origin.of(method), texts, how, dimensions)
        if how == "pca" and shipped.method == "film" and not isinstance(rows_of(method, shipped.corpus), np.ndarray):
            assert found is None  # sparse rows
            continue
        assert found is not None
        if (how, dimensions) == ("pca", 2):
            same_picture(found, method, shipped.corpus)


@pytest.mark.parametrize("how", ["tsne", "umap"])
def test_neighbourhoods_are_those_of_the_vectors(how: str) -> None:
    """A stored picture has the quality that it says it has, of the vectors as they are now."""
    found = picture(Origin.unfitted("sif", corpus_of("topics")), pictured(corpus_of("topics")).texts, how)
    assert found is not None
    assert found.quality is not None
    again = quality(rows_of(fitted("sif", "topics"), "topics"), found.points)
    assert again.trustworthiness == pytest.approx(found.quality.trustworthiness, abs=0.005)
    assert again.trustworthiness > 0.9
    assert again.preserved == pytest.approx(found.quality.preserved, abs=0.02)


def test_any_other_origin_or_sentence_has_none() -> None:
    origin, texts = Origin.unfitted("sif", corpus_of("topics")), list(pictured(corpus_of("topics")).texts)
    assert picture(origin, texts, "pca") is not None
    settings = dict(origin.settings)
    first = next(iter(settings))
    for other in (
        replace(origin, method="lsa"),
        replace(origin, seed=1),
        replace(origin, fingerprint="0" * 64),
        replace(origin, settings={**settings, first: "another"}),
    ):
        assert picture(other, texts, "pca") is None
    assert picture(origin, texts[:-1], "pca") is None
    assert picture(origin, texts[::-1], "pca") is None
    assert picture(origin, [*texts[:-1], texts[-1] + "!"], "pca") is None
    assert picture(origin, texts, "lle") is None
    assert picture(origin, texts, "tsne", 3) is None


def test_a_new_look_makes_all_old_pictures_strangers(monkeypatch: pytest.MonkeyPatch) -> None:
    origin, texts = Origin.unfitted("sif", corpus_of("topics")), pictured(corpus_of("topics")).texts
    monkeypatch.setattr(pictures, "FORMAT", pictures.FORMAT + 1)
    assert picture(origin, texts, "pca") is None


def test_every_file_is_one_that_is_asked_for() -> None:
    wanted = {
        pictures._name(Origin.unfitted(name, corpus_of(corpus)), pictured(corpus_of(corpus)).texts)
        for corpus in CORPORA
        for name in PLAIN
    } | {
        pictures._name(Origin.of(load_run(each.folder)), pictured(corpus_of(each.corpus)).texts)
        for each in DEMONSTRATIONS.values()
    }
    assert {path.name for path in PICTURES.iterdir()} == wanted | {known.FILE}


def test_origins_are_known_without_the_methods_and_are_theirs() -> None:
    for corpus in CORPORA:
        for name in PLAIN:
            found = known.known_origin(name, corpus_of(corpus).fingerprint)
            assert found == Origin.unfitted(name, corpus_of(corpus))
            assert picture(found, pictured(corpus_of(corpus)).texts, "tsne") is not None
    assert known.known_origin("sif", "f" * 64) is None
    assert known.known_origin("sbert", corpus_of("topics").fingerprint) is None


def test_origins_that_were_written_are_read(tmp_path: Path) -> None:
    origin = Origin("mine", {"size": 5}, "f" * 64, 7)
    assert known.known_origin("mine", "f" * 64, tmp_path) is None
    known.write_known([origin], tmp_path)
    assert known.known_origin("mine", "f" * 64, tmp_path) == origin


# --- writing and reading ---------------------------------------------------------------------------------------


def test_what_was_written_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "PICTURES", tmp_path)
    rows = np.random.default_rng(0).standard_normal((30, 5)).astype(np.float32)
    texts = ["half a character \ud800", *map(str, range(29))]
    made = [project(rows, "pca"), project(rows, "pca", 3, measure=False), project(rows, "tsne")]
    origin = Origin("mine", {"size": 5}, "f" * 64, 7)
    assert picture(origin, texts, "pca") is None  # and that is not remembered
    assert write_pictures(origin, texts, made, tmp_path).parent == tmp_path
    for each in made:
        found = picture(origin, texts, each.method, each.points.shape[1])
        assert found is not None
        np.testing.assert_allclose(found.points, each.points, atol=2e-3 * np.abs(each.points).max())
        assert found.points.dtype == np.float32
        assert (found.name, found.method, found.quality) == (each.name, each.method, each.quality)
        assert dict(found.settings) == dict(each.settings)
        if each.quality is not None:
            assert (found.kl, found.shown) == (each.kl, each.shown)
        with pytest.raises(ValueError, match="read-only"):
            found.points[0] = 0
    first = picture(origin, texts, "pca")
    assert first is not None
    np.testing.assert_allclose(place(first, rows, rows[:3]).points, made[0].points[:3], atol=1e-4)
    assert picture(origin, texts, "pca") is first  # shared


def test_a_pickle_in_a_picture_is_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "PICTURES", tmp_path)
    origin, texts = Origin("mine", {}, "f"), ["a"]
    np.savez(tmp_path / pictures._name(origin, texts), about=np.array([{"a": 1}], dtype=object))
    with pytest.raises(ValueError, match="pickle"):
        picture(origin, texts, "pca")

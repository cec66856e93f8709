"""The bundled runs and pictures are intact and reproducible, and have the scores that are claimed."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from packaging.version import Version

from labkit.arrays import unit
from labkit.corpora import Corpus, load
from labkit.corpora.catalogue import EMBEDDED
from labkit.evaluation.comparison import Lead
from labkit.evaluation.scores import score
from labkit.figure_names import spoken
from labkit.method import Method
from labkit.methods import METHODS, load_run
from labkit.projection import aligned, place, project
from labkit.runs import add_metrics, read_record, read_run
from labkit.settings import RENAMED
from labkit.shipped import DEMONSTRATIONS, Origin, Standing, picture, pictured, pictures, standing
from labkit.shipped import runs as table
from labkit.shipped.making import PLAIN, standing_of
from labkit.shipped.pictures import PICTURES, SHAPES, write_pictures
from labkit.shipped.runs import RUNS


@cache
def corpus_of(name: str) -> Corpus:
    return load(name)


@cache
def fitted(name: str, corpus: str) -> Method:
    method = METHODS[name]()
    method.fit(corpus_of(corpus))
    return method


@pytest.mark.parametrize("shipped", DEMONSTRATIONS.values(), ids=DEMONSTRATIONS.keys())
def test_a_run_is_intact_and_matches_the_table(shipped: table.Demonstration) -> None:
    """`read_run` checks every file against its checksum."""
    record, run = read_record(shipped.folder), read_run(shipped.folder)
    assert record["method"] == shipped.method
    kind = METHODS[shipped.method].Settings
    assert kind.of(record["settings"]) == METHODS[shipped.method](**shipped.settings).settings
    assert (record["seed"], record["corpus"], record["state"]) == (shipped.seed, shipped.corpus, "finished")
    assert record["fingerprint"] == corpus_of(shipped.corpus).fingerprint, "the corpus has changed: `make runs`"
    texts, method = corpus_of(shipped.corpus).part("test").sentences()[:3], load_run(shipped.folder)
    assert np.isfinite(method.encode(texts)).all()
    written, settings = kind.renamed(record["settings"]), method.settings.values()
    assert {name: settings[name] for name in written} == written
    if "miner" in written and "temperature" not in written:  # from before losses had a default temperature
        assert settings["temperature"] == 1.0
    metrics = {metric for each in run.metrics.values() for metric in each} | set(run.history.columns)
    assert len({spoken(metric) for metric in metrics}) == len(metrics)
    if "loss" in run.history.columns and len(run.snapshots.texts):
        assert len(run.snapshots.epochs) == len(run.history) + 1 >= 5  # epochs to play
    found = standing(shipped.name)
    assert found is not None
    assert found.figure == pytest.approx(record["metrics"][f"{shipped.corpus}/test"][found.measure], abs=1e-9)
    assert found.margin == pytest.approx(found.lead.lead, abs=1e-9)


def test_runs_and_pictures_are_small_and_there_are_no_other_files() -> None:
    files = [path for folder in (RUNS, PICTURES) for path in folder.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) <= 7_800_000
    assert {path.name for path in RUNS.iterdir()} == {*DEMONSTRATIONS, "README.md", "standings.json"}


@pytest.mark.parametrize("name", ["film-questions", pytest.param("sentpwnet-topics", marks=pytest.mark.whole)])
def test_training_again_gives_the_same_arrays(name: str) -> None:
    shipped = DEMONSTRATIONS[name]
    torchs = read_record(shipped.folder)["versions"]["torch"]
    if name == "sentpwnet-topics" and Version(torch.__version__).release < Version(torchs).release:
        pytest.skip(f"trained with torch {torchs}: an older one draws other numbers from the same seed")
    method = METHODS[shipped.method](**shipped.settings)
    method.fit(corpus_of(shipped.corpus), seed=shipped.seed)
    run, again = read_run(shipped.folder), method.run("finished")
    assert again.words == {RENAMED.get(name, name): value for name, value in run.words.items()}
    assert again.arrays.keys() == run.arrays.keys()
    for array, found in again.arrays.items():
        wanted = run.arrays[array]
        if array == "L":  # another machine may flip rows of FILM's L, or rotate equally strong ones; the metric is LᵀL
            found, wanted = found.T @ found, wanted.T @ wanted
        # equal bit by bit only on the same kind of machine
        np.testing.assert_allclose(found, wanted, atol=0.02 * float(np.abs(wanted).max(initial=1e-6)))
    for column in run.history.columns:
        np.testing.assert_allclose(again.history.column(column), run.history.column(column), rtol=0.05, atol=1e-6)


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of one run and of the standings, which a test may change."""
    monkeypatch.setattr(table, "RUNS", tmp_path)
    monkeypatch.setattr(table, "STANDINGS", tmp_path / "standings.json")
    shutil.copy(table.DATA / "runs" / "standings.json", tmp_path)
    shutil.copytree(table.DATA / "runs" / "film-questions", tmp_path / "film-questions")
    return tmp_path


@pytest.mark.parametrize("name", ["film-questions", pytest.param("sbert-lp-topics", marks=pytest.mark.whole)])
def test_a_standing_measured_again_is_the_same(name: str) -> None:
    corpus = corpus_of(DEMONSTRATIONS[name].corpus)
    found, again = standing(name), standing_of(load_run(DEMONSTRATIONS[name].folder), corpus)
    assert found is not None
    assert (again.measure, again.verdict) == (found.measure, found.verdict)
    assert again.margin == pytest.approx(again.lead.lead, abs=1e-9)
    near = 2 / len(corpus.part("test"))  # on another machine, two items may change sides
    assert (again.figure, again.baseline) == pytest.approx((found.figure, found.baseline), abs=near)
    assert again.baseline == score(fitted("mean-vectors", corpus.name), corpus).headline
    assert (found.base is None) == (again.base is None) == (name != "sbert-lp-topics")
    if again.base:  # a method based on other vectors is compared with these, too
        assert again.base.baseline == score(fitted("sif", corpus.name), corpus).headline


def test_the_interval_decides_who_leads() -> None:
    tie = Standing("accuracy", 0.62, 0.60, Lead(0.02, 0.0153, np.inf))
    assert tie.verdict == "open"
    assert replace(tie, lead=Lead(0.02, 0.005, np.inf)).verdict == "first"
    assert Standing("accuracy", 0.5, 0.6, Lead(-0.1, 0.04, np.inf)).verdict == "second"
    assert "0.600; +0.020, 95 % from -0.010 to +0.050" in str(tie)


def test_another_model_has_no_standing(elsewhere: Path) -> None:
    assert standing("sentpwnet-topics") is None  # its folder was not copied
    add_metrics(elsewhere / "film-questions", {"captions/test": {"hit@1": 0.5}})  # as `labkit evaluate` does
    assert standing("film-questions") is not None
    records = json.loads((elsewhere / "standings.json").read_text())
    records["film-questions"]["model"] = "0" * 64
    (elsewhere / "standings.json").write_text(json.dumps(records))
    assert standing("film-questions") is None
    (elsewhere / "standings.json").unlink()
    assert standing("film-questions") is None


def same_picture(origin: Origin, method: Method, corpus: str) -> None:
    """Check the stored PCA against these vectors; PCA depends on every vector and is the same on every machine."""
    texts = pictured(corpus_of(corpus)).texts
    found = picture(origin, texts, "pca")
    assert found is not None
    wanted = project(unit(method.encode(texts).astype(np.float32)), "pca", measure=False)
    np.testing.assert_allclose(aligned(found, wanted).points, wanted.points, atol=0.01 * np.abs(wanted.points).max())


@pytest.mark.parametrize("corpus", EMBEDDED)
def test_every_corpus_has_its_plain_vectors_in_every_shape(corpus: str) -> None:
    shown = pictured(corpus_of(corpus))
    assert len(set(shown.texts)) == len(shown) > 200
    for name in PLAIN:
        origin = Origin.unfitted(name, corpus_of(corpus))
        assert pictures.known_origin(name, corpus_of(corpus).fingerprint) == origin
        for how, dimensions in SHAPES:
            found = picture(origin, shown.texts, how, dimensions)
            if name == "tfidf" and how == "pca":
                assert found is None
                continue
            assert found is not None, (name, how, dimensions)
            assert found.points.shape == (len(shown), dimensions)
            assert np.isfinite(found.points).all()


def test_pictures_are_of_the_current_vectors() -> None:
    for name in ("mean-vectors", "sif"):
        same_picture(Origin.unfitted(name, corpus_of("topics")), fitted(name, "topics"), "topics")
    for name in ("sentpwnet-topics", "pthought-captions"):
        method = load_run(DEMONSTRATIONS[name].folder)
        same_picture(Origin.of(method), method, DEMONSTRATIONS[name].corpus)


def test_any_other_origin_or_sentence_has_no_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    origin, texts = Origin.unfitted("sif", corpus_of("topics")), list(pictured(corpus_of("topics")).texts)
    assert picture(origin, texts, "pca") is not None
    settings = dict(origin.settings) | {next(iter(origin.settings)): "another"}
    others = ({"method": "lsa"}, {"seed": 1}, {"fingerprint": "0" * 64}, {"settings": settings})
    for other in others:
        assert picture(replace(origin, **other), texts, "pca") is None
    for changed in (texts[:-1], texts[::-1], [*texts[:-1], texts[-1] + "!"]):
        assert picture(origin, changed, "pca") is None
    assert picture(origin, texts, "tsne", 3) is None
    monkeypatch.setattr(pictures, "FORMAT", pictures.FORMAT + 1)
    assert picture(origin, texts, "pca") is None


def test_a_picture_that_was_written_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "PICTURES", tmp_path)
    rows = np.random.default_rng(0).standard_normal((30, 5)).astype(np.float32)
    texts = ["half a character \ud800", *map(str, range(29))]
    made = [project(rows, "pca"), project(rows, "pca", 3, measure=False), project(rows, "tsne")]
    origin = Origin("mine", {"size": 5}, "f" * 64, 7)
    assert picture(origin, texts, "pca") is None  # a missing picture is not cached
    write_pictures(origin, texts, made, tmp_path)
    for each in made:
        found = picture(origin, texts, each.method, each.points.shape[1])
        assert found is not None
        np.testing.assert_allclose(found.points, each.points, atol=2e-3 * np.abs(each.points).max())
        assert (found.name, found.method, found.quality) == (each.name, each.method, each.quality)
        assert dict(found.settings) == dict(each.settings)
        with pytest.raises(ValueError, match="read-only"):
            found.points[0] = 0
    first = picture(origin, texts, "pca")
    assert first is not None
    np.testing.assert_allclose(place(first, rows, rows[:3]).points, made[0].points[:3], atol=1e-4)
    pictures.write_known([origin], tmp_path)
    assert pictures.known_origin("mine", "f" * 64, tmp_path) == origin


def test_a_pickle_in_a_picture_is_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "PICTURES", tmp_path)
    origin, texts = Origin("mine", {}, "f"), ["a"]
    np.savez(tmp_path / pictures._name(origin, texts), about=np.array([{"a": 1}], dtype=object))
    with pytest.raises(ValueError, match="pickle"):
        picture(origin, texts, "pca")


def test_the_newest_run_is_offered_first_in_the_app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("streamlit")
    from choosing import runs_in

    for name, age in (("b", 3), ("c", 1), ("a", 2)):
        fitted("tfidf", "relatedness").save(tmp_path / name)
        os.utime(tmp_path / name / "run.json", (1e9 - age, 1e9 - age))
    monkeypatch.setenv("LABKIT_RUNS", str(tmp_path))
    assert list(runs_in()) == ["c", "a", "b"]

"""The runs that come with the lab: complete, intact, small, and what training gives."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pytest
import torch
from packaging.version import Version

from labkit.corpora import Corpus, load
from labkit.lab.shipped import DEMONSTRATIONS, Demonstration
from labkit.lab.shipped.cards import BEGIN
from labkit.lab.shipped.pictures import PICTURES
from labkit.lab.shipped.runs import RUNS
from labkit.method import Method
from labkit.methods import METHODS
from labkit.methods import load as load_run
from labkit.runs import read_record, read_run

LARGEST = 2_000_000  # bytes of one file
ALL = 7_800_000  # of all that is made
#: of arrays trained anew, as a share of their largest entry: bit for bit on one kind of machine, not on another
TOLERANCE = 0.02

every = pytest.mark.parametrize("shipped", DEMONSTRATIONS.values(), ids=DEMONSTRATIONS.keys())


@cache
def corpus_of(name: str) -> Corpus:
    return load(name)


@cache
def trained(name: str) -> Method:
    shipped = DEMONSTRATIONS[name]
    method = METHODS[shipped.method](**shipped.settings)
    method.fit(corpus_of(shipped.corpus), seed=shipped.seed)
    return method


def near(found: np.ndarray, wanted: np.ndarray) -> None:
    assert found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, atol=TOLERANCE * float(np.abs(wanted).max(initial=1e-6)))


@every
def test_settings_seed_and_corpus_are_the_tables(shipped: Demonstration) -> None:
    record = read_record(shipped.folder)
    assert shipped.here
    assert record["method"] == shipped.method
    kind = METHODS[shipped.method].method.Settings
    assert kind.of(record["settings"]) == METHODS[shipped.method](**shipped.settings).settings
    assert record["seed"] == shipped.seed
    assert record["corpus"] == shipped.corpus
    assert record["fingerprint"] == corpus_of(shipped.corpus).fingerprint, "the corpus has changed: `make runs`"
    assert record["state"] == "finished"
    assert f"{shipped.corpus}/test" in record["metrics"]


@every
def test_it_is_intact_and_encodes(shipped: Demonstration) -> None:
    """`read_run` checks every file against its checksum."""
    run = read_run(shipped.folder)
    vectors = load_run(shipped.folder).encode(corpus_of(shipped.corpus).part("test").sentences()[:3])
    assert vectors.shape[0] == 3
    if run.history.rows and "loss" in run.history.columns and len(run.snapshots.texts):
        assert len(run.snapshots.epochs) == len(run.history) + 1 >= 5  # something to play


def test_every_method_of_the_papers_and_two_baselines_are_there() -> None:
    assert {each.method for each in DEMONSTRATIONS.values()} == {
        *("sentpwnet", "thematic", "sbert-lp", "pthought", "film"),
        *("siamese", "triplet"),
    }
    assert {each.corpus for each in DEMONSTRATIONS.values() if each.method == "sentpwnet"} == {
        *("questions", "places", "topics")
    }


def test_all_of_it_is_small_and_nothing_else_lies_there() -> None:
    files = [path for folder in (RUNS, PICTURES) for path in folder.rglob("*") if path.is_file()]
    sizes = {path.relative_to(RUNS.parent): path.stat().st_size for path in files}
    assert max(sizes.values()) <= LARGEST, max(sizes, key=lambda path: sizes[path])
    assert sum(sizes.values()) <= ALL
    assert {path.name for path in RUNS.iterdir()} == {*DEMONSTRATIONS, "README.md", "standings.json"}


def test_the_page_tells_of_every_run() -> None:
    table = (RUNS / "README.md").read_text("utf-8").split(BEGIN)[1]
    for shipped in DEMONSTRATIONS.values():
        line = re.search(rf"^\| {shipped.name} \| `(.*?)` \| (\S+) \| ([\d,]+) \|", table, flags=re.MULTILINE)
        assert line, shipped.name
        size = sum(path.stat().st_size for path in shipped.folder.iterdir())
        assert line.group(1) == shipped.command
        assert int(line.group(3).replace(",", "")) == pytest.approx(size / 1000, abs=1)


def test_the_command_says_what_is_not_the_methods_own() -> None:
    shipped = Demonstration("film", "captions", {"dimension": 30, "share": "0.5"}, seed=3)
    wanted = "labkit train film --corpus captions --seed 3 --set dimension=30 --set share=0.5"
    assert shipped.command == wanted
    assert not shipped.here


# --- what training gives ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["sentpwnet-topics", "film-questions"])
def test_training_anew_gives_the_same_arrays(name: str) -> None:
    torchs = read_record(DEMONSTRATIONS[name].folder)["versions"]["torch"]
    if name == "sentpwnet-topics" and Version(torch.__version__).release < Version(torchs).release:
        pytest.skip(f"trained with torch {torchs}: an older one draws other numbers from the same seed")
    run, again = read_run(DEMONSTRATIONS[name].folder), trained(name).run("finished")
    assert again.words == run.words
    assert again.arrays.keys() == run.arrays.keys()
    for array, found in again.arrays.items():
        wanted = run.arrays[array]
        if array == "L":  # FILM's: another machine may turn a row round, or two of equal strength; the metric is LᵀL
            found, wanted = found.T @ found, wanted.T @ wanted
        near(found, wanted)
    for column in run.history.columns:
        np.testing.assert_allclose(again.history.column(column), run.history.column(column), rtol=0.05, atol=1e-6)
    assert again.snapshots.texts == run.snapshots.texts
    near(again.snapshots.vectors, run.snapshots.vectors)


def test_embedding_anew_gives_the_same_neighbourhoods() -> None:
    """SBERT-LP: eigenvectors are the same up to a rotation, so what is compared is who reconstructs whom, and YYᵀ."""
    run, again = read_run(DEMONSTRATIONS["sbert-lp-topics"].folder), trained("sbert-lp-topics").run("finished")
    assert again.words == run.words
    assert (again.arrays["neighbours"] == run.arrays["neighbours"]).mean() > 0.99
    near(again.arrays["rows"], run.arrays["rows"])
    ours, shipped = ((found["embedding"] @ found["embedding"].T) for found in (again.arrays, run.arrays))
    assert np.corrcoef(ours.ravel(), shipped.ravel())[0, 1] > 0.99


@pytest.mark.parametrize(("seed", "changes"), [(1, {}), (0, {"dropout": 0.25}), (0, {"learning_rate": 0.0022})])
def test_another_seed_or_setting_would_be_noticed(seed: int, changes: dict[str, float]) -> None:
    """The tolerance is not so wide that any training would do."""
    shipped, run = DEMONSTRATIONS["sentpwnet-topics"], read_run(DEMONSTRATIONS["sentpwnet-topics"].folder)
    other = METHODS[shipped.method](**{**shipped.settings, **changes, "epochs": 2})
    other.fit(corpus_of(shipped.corpus), seed=seed)
    assert run.snapshots.epochs.tolist()[2] == 2
    with pytest.raises(AssertionError, match="tolerance"):
        near(other.snapshots.vectors[2], run.snapshots.vectors[2])

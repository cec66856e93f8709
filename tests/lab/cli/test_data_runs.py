"""`labkit data make runs`: exactly what `labkit train` gives, in its place or not at all."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import pytest

from labkit.corpora.table import EMBEDDED
from labkit.lab.cli import data as demonstrate
from labkit.lab.shipped import DEMONSTRATIONS, Demonstration, making, pictures
from labkit.lab.shipped import pictures as known
from labkit.lab.shipped.pictures import pictured
from labkit.methods import load as load_run
from labkit.runs import read_record

from .conftest import Labkit

NAME = "film-questions"


@pytest.fixture
def one(monkeypatch: pytest.MonkeyPatch) -> Demonstration:
    """A table of one cheap run, one corpus, and pictures without UMAP, which compiles for most of a minute."""
    shipped = Demonstration("film", "questions", {"dimension": 4, "iterations": 2}, seed=3)
    questions = EMBEDDED["questions"]
    monkeypatch.setattr(making, "SHAPES", (("pca", 2),))
    monkeypatch.setattr(making, "PLAIN", ("mean-vectors",))
    for table, value in ((DEMONSTRATIONS, shipped), (EMBEDDED, questions)):
        for name in list(table):
            monkeypatch.delitem(table, name)
        monkeypatch.setitem(table, value.name, value)
    return shipped


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_runs_pictures_and_the_page(labkit: Labkit, one: Demonstration, tmp_path: Path) -> None:
    old = tmp_path / "all" / "pictures" / "sif-of-yesterday.npz"
    old.parent.mkdir(parents=True)
    old.write_bytes(b"stale")
    done = labkit("data", "make", "runs", "--out", "all", "--force")
    assert done.status == 0, done.err
    runs = tmp_path / "all" / "runs"
    assert {path.name for path in runs.iterdir()} == {NAME, "README.md", "standings.json"}
    assert read_record(runs / NAME)["seed"] == 3
    found = json.loads((runs / "standings.json").read_text())[NAME]
    assert found["model"] == read_record(runs / NAME)["files"]["model.safetensors"]
    assert f"| {NAME} | `{one.command}` |" in (runs / "README.md").read_text()
    assert f"{NAME}: accuracy {found['figure']:.3f} on test" in done.out

    made = {path.name for path in old.parent.iterdir()}
    shown = pictured(EMBEDDED["questions"].load())
    origin = pictures.Origin.of(load_run(runs / NAME))
    plain = known.known_origin("mean-vectors", EMBEDDED["questions"].load().fingerprint, old.parent)
    assert plain is not None
    assert made == {known.FILE, *(pictures._name(each, shown.texts) for each in (origin, plain))}
    assert not old.exists()

    by_hand = labkit(*one.command.split()[1:], "--out", "by-hand")
    assert by_hand.status == 0
    assert contents(tmp_path / "by-hand") == contents(runs / NAME)

    before = contents(runs / NAME)
    assert "which is there already; add --force" in labkit("data", "make", "runs", "--out", "all").mistake()
    assert labkit("data", "make", "runs", "--out", "all", "--force").status == 0  # again, over what is there
    assert contents(runs / NAME) == before


def test_a_failure_leaves_the_run_that_was_there(
    labkit: Labkit, one: Demonstration, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "all" / "runs" / NAME
    kept.mkdir(parents=True)
    (kept / "run.json").write_text("of yesterday")
    monkeypatch.setattr("labkit.film.method.Film._fit", lambda *_: (_ for _ in ()).throw(ValueError("no words")))
    assert "no words" in labkit("data", "make", "runs", "--out", "all", "--force").err
    assert contents(kept) == {"run.json": b"of yesterday"}


def test_what_is_not_of_runs_is_refused(labkit: Labkit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demonstrate, "make_demonstrations", lambda out: warnings.warn(f"made in {out}", stacklevel=1))
    assert labkit("data", "make", "runs", "--rows", "5").mistake().startswith("--rows is not of `make runs`")
    assert labkit("data", "make", "runs", "--seed", "0").mistake().startswith("--seed is not of `make runs`")
    assert labkit("data", "make", "runs", "--rule", "titles").mistake().startswith("--rule is not of `make runs`")
    assert labkit("data", "make", "questions").mistake() == "--out is missing, expected the file to write; name it"

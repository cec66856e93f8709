"""`labkit explain`: what a run says of two sentences, for people and for programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from labkit.corpora import load
from labkit.film.method import Film, FilmSettings
from labkit.lab.cli.runs import explain
from labkit.method import Entry
from labkit.methods import METHODS

PAIR = "How do I fix my bike?", "What is the way to mend a bicycle?"


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    method = Film(FilmSettings(dimension=20, share="0.3"))
    method.fit(load("questions"))
    folder = tmp_path_factory.mktemp("runs") / "film"
    method.save(folder)
    return folder


@pytest.fixture
def called(monkeypatch):
    monkeypatch.setitem(
        METHODS, "film", Entry("film", "labkit.film.method:Film", "in the table, whatever the table is")
    )
    app = typer.Typer()
    app.command()(explain)
    return lambda *arguments: CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_it_says_why(called, run) -> None:
    found = called(run, *PAIR)
    assert found.exit_code == 0
    wanted = Film().load(run).explain(*PAIR)
    assert found.output.rstrip("\n") == str(wanted)
    assert f"similarity {wanted.similarity:+.3f}" in found.output
    assert "which words of a meet which of b" in found.output


def test_fewer_parts_on_request(called, run) -> None:
    assert len(called(run, *PAIR, "--top", 1).output) < len(called(run, *PAIR).output)


def test_json_has_all_parts_and_they_add_up(called, run) -> None:
    found = json.loads(called(run, *PAIR, "--json").output)
    assert sum(part for _, part in found["rows"]) + found["shared"] == pytest.approx(found["similarity"], abs=1e-12)
    assert sum(part for _, _, part in found["word_pairs"]) == pytest.approx(found["similarity"], abs=1e-12)


def test_unknown_words_are_named(called, run) -> None:
    output = called(run, "qwxz vvv", PAIR[1]).output
    assert "similarity +0.000" in output
    assert "qwxz, vvv" in output


def test_a_method_that_cannot_say_why_is_refused(called, tmp_path) -> None:
    other = METHODS["tfidf"]()
    other.fit(load("questions"))
    other.save(tmp_path / "run")
    found = called(tmp_path / "run", *PAIR)
    assert isinstance(found.exception, ValueError)
    assert "'tfidf', which cannot say why" in str(found.exception)

"""`labkit paraphrase`: what a run writes, for people and for programs, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from labkit.pthought.method import PThought
from labkit.pthought.writing import Search

SETTINGS = ("hidden=8", "decoder_hidden=8", "dimension=6", "batch=8", "epochs=2", "device=cpu")


@pytest.fixture
def run(labkit, tmp_path: Path) -> Path:
    words = [word for change in SETTINGS for word in ("--set", change)]
    done = labkit("train", "pthought", "--corpus", "mine.csv", "--out", "run", *words)
    assert done.status == 0, done.err
    assert "l_auto" in done.err
    assert "l_para" in done.err
    return tmp_path / "run"


def test_it_writes_with_both_decoders(labkit, run: Path) -> None:
    sentence = "the cat sleeps on the quux"
    done = labkit("paraphrase", run, sentence)
    found = PThought().load(run).paraphrase([sentence])[0]
    assert done.status == 0, done.err
    lines = done.out.splitlines()
    assert lines[0] == sentence
    assert lines[1] == "  not known, read as the unknown word: quux"
    assert [line.split()[0] for line in lines[2:]] == ["auto", "paraphrase"]
    for line, name in zip(lines[2:], found.written, strict=True):
        assert found.written[name][0].text in line


def test_a_beam_gives_several_the_best_first_and_json_all_of_it(labkit, run: Path) -> None:
    done = labkit("paraphrase", run, "a dog runs " * 20, "--beam", 3, "--json")
    found = json.loads(done.out)
    expected = PThought().load(run).paraphrase(["a dog runs " * 20], search=Search(width=3, longest=50))[0]
    assert found["cut"] == 10
    for name in ("auto", "paraphrase"):
        assert [one["text"] for one in found["written"][name]] == [one.text for one in expected.written[name]]
        assert len(found["written"][name]) == 3
    plain = labkit("paraphrase", run, "a dog runs " * 20, "--beam", 3).out
    assert "not read: the last 10 words" in plain
    assert len(plain.splitlines()) == 2 + 6


def test_refusals(labkit, run: Path) -> None:
    assert "sentences[0] is ' '" in labkit("paraphrase", run, "  ").mistake()
    assert "--beam" in labkit("paraphrase", run, "a dog", "--beam", 0).mistake()
    assert "nowhere" in labkit("paraphrase", "nowhere", "a dog").mistake()
    assert labkit("train", "mean-vectors", "--corpus", "mine.csv", "--out", "other").status == 0
    said = labkit("paraphrase", "other", "a dog").mistake()
    assert "is of method 'mean-vectors', which has no decoder, expected one of pthought" in said

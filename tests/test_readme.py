"""What the README tells people to type is right as it is printed: each line is understood, and runs to its end."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from typer.main import get_command

from labkit.corpora import CORPORA, Corpus
from labkit.embedding_files import read_embeddings
from labkit.lab.cli.main import app, main

from .lab.course.thirty import write_class

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text("utf-8")
TAKEN = {  # what stands for something of the reader's own, or is large: in its place, the small thing that the test has
    "DUMP": "articles",
    "1000000": "300",
    "FOLDER": "class",
}
ELSEWHERE = {  # opens a server, needs a network, or takes hours: tests of their own, and `make bench`
    "labkit --install-completion",
    "labkit app",
    "labkit lab",
    "labkit app --classroom",
    "labkit data get stsb",
    "labkit reproduce --all --data DIR --out mine.md",
    "labkit reproduce --quick",
    "labkit reproduce film/1",
    "labkit reproduce why",
}
NETWORKS = ("sentpwnet", "thematic", "pthought")  # which would learn for minutes
NAMED = ("labkit train", "labkit tune")  # of which the text speaks


def lines() -> list[str]:
    """Every command of labkit's in the README, in its order, without remarks."""
    found = re.findall(r"^    (labkit .*)$|`(labkit [^`]+)`", re.sub(r"<!--.*?-->", "", README, flags=re.DOTALL), re.M)
    every = dict.fromkeys(re.split(r"\s+#", block or text)[0].strip() for block, text in found)
    return [line for line in every if line not in NAMED]


def test_the_readme_has_commands() -> None:
    assert len(lines()) >= 25
    assert {line.split()[1] for line in lines()} - {"--install-completion"} == set(get_command(app).commands)  # type: ignore[attr-defined]
    assert set(lines()) >= ELSEWHERE


@pytest.mark.parametrize("line", [line for line in lines() if line.split()[1] in get_command(app).commands])
def test_each_is_understood(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    group = get_command(app)
    asked: list[str] = []

    def spied(command):  # type: ignore[no-untyped-def]
        for each in getattr(command, "commands", {}).values():
            spied(each)
        if not hasattr(command, "commands"):
            monkeypatch.setattr(command, "callback", lambda **words: asked.append(command.name))

    spied(group)
    assert not group.main(shlex.split(line)[1:], prog_name="labkit", standalone_mode=False)
    assert len(asked) == (not line.endswith("--help"))


def small(load: Callable[[], Corpus], rows: int) -> Corpus:
    """Its first rows: what belongs together stands together."""
    corpus = load()
    return corpus.take(range(min(rows, len(corpus))))


@pytest.mark.whole
def test_each_runs_to_its_end(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for name, entry in list(CORPORA.items()):
        if entry.kind == "embedded":
            cut = partial(small, entry.load, 12 if name == "articles" else 200)
            monkeypatch.setitem(CORPORA, name, replace(entry, load=cut))
    (tmp_path / "sentences.txt").write_text("How do I keep a cat?\nWhat does a cat need?\n")
    (tmp_path / "mine.csv").write_text(
        "text,label\n" + "".join(f"word{row} of {row % 2},{row % 2}\n" for row in range(99))
    )
    write_class(tmp_path / "class")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))  # what is remembered of cut corpora is nobody else's
    failed = {}
    for line in [line for line in lines() if line not in ELSEWHERE]:
        words = [TAKEN.get(word, word) for word in shlex.split(line)]
        if words[1] == "train" and words[2] in NETWORKS:
            words += ["--epochs", "1", "--device", "cpu"]
        monkeypatch.setattr(sys, "argv", words)
        with pytest.raises(SystemExit) as left:
            main()
        said = capsys.readouterr()
        if left.value.code:
            failed[line] = said.err
    assert failed == {}
    assert read_embeddings(tmp_path / "vectors.npz")[0] == ["How do I keep a cat?", "What does a cat need?"]
    assert len(list((tmp_path / "runs").glob("*/run.json"))) >= 8

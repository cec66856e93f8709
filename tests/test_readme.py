"""The commands in README and docs: all of them parse, and those in README and guides run."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from labkit.cli.main import app, main
from labkit.corpora import Corpus
from labkit.corpora.catalogue import Embedded
from labkit.embedding_files import read_embeddings

from .course.thirty import write_class

ROOT = Path(__file__).resolve().parents[1]
GUIDES = ("install", "app", "data", "command-line", "python")  # the pages linked from the README
README = "".join(
    path.read_text("utf-8") for path in (ROOT / "README.md", *(ROOT / "docs" / f"{name}.md" for name in GUIDES))
)
PAGES = README + "".join(path.read_text("utf-8") for path in sorted((ROOT / "docs").glob("*.md")))
TAKEN = {"DUMP": "articles", "1000000": "300", "FOLDER": "class"}  # replaces the reader's own names and large numbers
ELSEWHERE = {  # these open a server, need a network, or take hours
    "labkit --install-completion",
    "labkit app",
    "labkit lab",
    "labkit app --classroom",
    "labkit bench mine.csv --minutes 20",
    "labkit data get stsb",
    "labkit data make runs",
    "labkit reproduce --all --data DIR --out mine.md",
    "labkit reproduce --quick",
    "labkit reproduce film/1",
    "labkit reproduce why",
}
NETWORKS = ("sentpwnet", "thematic", "pthought")  # would train for minutes


def commands(text: str, pattern: str) -> list[str]:
    """The distinct commands that match this pattern, in order, without comments."""
    found = ("".join(each) if isinstance(each, tuple) else each for each in re.findall(pattern, text, re.MULTILINE))
    return [*dict.fromkeys(re.split(r"\s+#", line)[0].strip() for line in found)]


IN_README = [
    line
    for line in commands(README, r"^    (labkit .*)$|`(labkit [^`]+)`")
    if line not in ("labkit bench", "labkit train", "labkit tune")  # only mentioned in the text
]
IN_BLOCKS = commands(PAGES, r"^    (labkit .*)$")


def leaves(group: Any, *before: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Every command, with the words that call it."""
    for name, each in group.commands.items():
        words = (*before, name)
        yield from leaves(each, *words) if hasattr(each, "commands") else [(each, words)]


def test_each_command_parses(monkeypatch: pytest.MonkeyPatch) -> None:
    group = get_command(app)
    asked: list[str] = []
    for each, words in leaves(group):
        monkeypatch.setattr(each, "callback", lambda words=words, **_: asked.append(" ".join(words)))
    for line in dict.fromkeys(IN_README + IN_BLOCKS):
        if line.split()[1] in group.commands:
            asked.clear()
            assert not group.main(shlex.split(line)[1:], prog_name="labkit", standalone_mode=False), line
            assert [line.startswith(f"labkit {each}") for each in asked] == [True] * (not line.endswith("--help")), line


def test_every_command_is_documented() -> None:
    assert [words for _, words in leaves(get_command(app)) if f"labkit {' '.join(words)}" not in PAGES] == []


def small(corpus: Corpus, rows: int) -> Corpus:
    """The first rows; related rows are adjacent."""
    return corpus.take(range(min(rows, len(corpus))))


@pytest.mark.whole
def test_each_command_succeeds(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    load = Embedded.load
    monkeypatch.setattr(Embedded, "load", lambda own: small(load(own), 12 if own.name == "articles" else 200))
    (tmp_path / "sentences.txt").write_text("How do I keep a cat?\nWhat does a cat need?\n")
    (tmp_path / "mine.csv").write_text(
        "text,label\n" + "".join(f"word{row} of {row % 2},{row % 2}\n" for row in range(99))
    )
    write_class(tmp_path / "class")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))  # the cut corpora are cached separately
    failed = {}
    assert ELSEWHERE <= {*IN_README}
    for line in [line for line in IN_README if line not in ELSEWHERE]:
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
    assert list((tmp_path / "runs").glob("*/run.json"))

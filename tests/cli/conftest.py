"""Call the program in this process, in a temporary folder with a small corpus."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from labkit.cli.main import main
from tests.course.thirty import thirty as thirty

SMALL = ("--set", "encoder=mean", "--set", "dimension=8", "--set", "size=6", "--set", "batch=8", "--device", "cpu")


@dataclass(frozen=True)
class Done:
    """The exit status and output of a call."""

    status: int
    out: str
    err: str

    def mistake(self) -> str:
        """The error message, which must be one line."""
        assert self.status == 2, self.err
        assert self.out == ""
        assert self.err.startswith("labkit: ")
        assert self.err.count("\n") == 1
        return self.err.removeprefix("labkit: ").rstrip("\n")

    def document(self) -> Any:
        """The JSON document on standard output, which must not contain NaN or Infinity."""
        assert self.status == 0, self.err
        return json.loads(self.out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))


Labkit = Callable[..., Done]


@pytest.fixture
def labkit(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Labkit:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("labkit.cli.main._leave", lambda end: None)  # the process is pytest's
    for name in ("RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)
    write_pairs(tmp_path / "mine.csv")

    def call(*words: object) -> Done:
        monkeypatch.setattr(sys, "argv", ["labkit", *map(str, words)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main()
        said = capsys.readouterr()
        return Done(int(left.value.code or 0), said.out, said.err)

    return call


def contents(folder: Path | str) -> dict[str, bytes]:
    """The bytes of each file in a folder."""
    return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


def write_pairs(path: Path, *, splits: tuple[str, ...] = ("train", "train", "dev", "test"), who: str = "cat") -> None:
    """Write 96 pairs, half of them paraphrases."""
    places = [f"{where} {what}" for where in ("on", "under", "behind") for what in ("sofa", "road", "lake", "wall")]
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["text_a", "text_b", "label", "split"])
        for number, place in enumerate(places * 4):
            split, turn = splits[number // len(places) % len(splits)], number // len(places)
            other = places[(number + 5) % len(places)]
            table.writerow([f"the {who} sleeps {place} {turn}", f"a {who} naps {place} {turn}", 1, split])
            table.writerow([f"the {who} sleeps {place} {turn}", f"a dog runs {other} {turn}", 0, split])

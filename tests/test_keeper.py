"""The keeper of a run's folder: what it writes into, what it goes on from, what it refuses."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from labkit.corpora import Corpus, Groups
from labkit.folders import LOCK, Held, Hold, holder
from labkit.method import Keeper, Method, Settings, setting
from labkit.progress import Progress
from labkit.runs import BEFORE, CHECKPOINT, History, read_checkpoint, read_run

CORPUS = Groups(["a b", "c d"], ["1", "1"], name="small")


@dataclass(frozen=True, kw_only=True)
class CountingSettings(Settings):
    speed: int = setting(1, "how fast", least=1)


class Counting(Method):
    """Counts to three, an epoch each; told to, it stops as if it had been killed."""

    name = "counting"
    Settings = CountingSettings
    dies_in = 0
    at = 0

    def _fit(self, corpus: Corpus, seed: int, progress: Progress, keeper: Keeper | None) -> History:
        found = keeper.resume() if keeper else None
        self.at = int(found[0]["at"]) if found else 0
        while self.at < 3:
            if self.dies_in == self.at + 1:
                raise KeyboardInterrupt
            self.at += 1
            self.history = History(tuple({"epoch": epoch + 1} for epoch in range(self.at)))
            if keeper:
                keeper.checkpoint({"at": np.array(self.at)}, {"note": "so far"})
                keeper.epoch()
        return self.history

    def _encode(self, sentences: list[str], batch_size: int, progress: Progress) -> np.ndarray:
        return np.full((len(sentences), 1), self.at, np.float32)

    def _state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        return {"at": np.array(self.at)}, {}

    def _restore(self, arrays: dict[str, np.ndarray], words: dict[str, Any]) -> None:
        self.at = int(arrays["at"])


def interrupted(folder: Path, epoch: int = 3) -> None:
    method = Counting()
    method.dies_in = epoch
    with pytest.raises(KeyboardInterrupt):
        method.fit(CORPUS, seed=7, folder=folder)
    assert not method.fitted


def test_an_interrupted_training_can_be_loaded_and_goes_on(tmp_path: Path) -> None:
    interrupted(tmp_path / "run")
    run = read_run(tmp_path / "run")
    assert (run.state, len(run.history)) == ("training", 2)
    assert Counting().load(tmp_path / "run").encode(["x"]).tolist() == [[2.0]]
    method = Counting()
    method.dies_in = 1  # would stop at once if it began anew
    history = method.fit(CORPUS, seed=7, folder=tmp_path / "run")
    assert len(history) == 3
    run = read_run(tmp_path / "run")
    assert (run.state, len(run.history)) == ("finished", 3)
    assert read_checkpoint(tmp_path / "run") is None


def test_a_finished_run_is_not_written_over(tmp_path: Path) -> None:
    Counting().fit(CORPUS, folder=tmp_path / "run")
    before = (tmp_path / "run" / "run.json").read_bytes()
    with pytest.raises(ValueError, match="holds a run of counting already; choose another folder, or remove this one"):
        Counting().fit(CORPUS, folder=tmp_path / "run")
    assert (tmp_path / "run" / "run.json").read_bytes() == before


@pytest.mark.parametrize(
    ("corpus", "seed", "said"),
    [
        (CORPUS, 8, r"an interrupted training with another seed \(7, not 8\)"),
        (Groups(["a b", "c e"], ["1", "1"], name="small"), 7, "with another fingerprint"),
        (Groups(["a b", "c d"], ["1", "1"], name="other"), 7, r"with another corpus \('small', not 'other'\)"),
    ],
)
def test_another_training_is_not_gone_on_with(tmp_path: Path, corpus: Corpus, seed: int, said: str) -> None:
    interrupted(tmp_path / "run")
    method = Counting()
    with pytest.raises(ValueError, match=said):
        method.fit(corpus, seed=seed, folder=tmp_path / "run")
    assert not method.fitted


def test_somebodys_files_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(ValueError, match="a file, expected a folder for a run; choose another name"):
        Counting().fit(CORPUS, folder=tmp_path / "file")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    with pytest.raises(ValueError, match="holds files that are not a run's; choose an empty or a new one"):
        Counting().fit(CORPUS, folder=tmp_path / "mine")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["notes.txt"]


def test_what_a_killed_process_left_is_no_hindrance_and_goes(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / ".checkpoint.safetensors.ab12").write_bytes(b"half")
    Counting().fit(CORPUS, folder=tmp_path / "run")
    assert not [path for path in (tmp_path / "run").iterdir() if path.name.startswith(".")]


def test_nobody_else_trains_into_it_meanwhile(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    refused = r"folder '.*' is being trained into by process \d+ on .*; wait for it, or choose another folder"

    class Watched(Counting):
        def _fit(self, corpus: Corpus, seed: int, progress: Progress, keeper: Keeper | None) -> History:
            assert holder(folder) is not None
            with pytest.raises(Held, match=refused):
                Counting().fit(CORPUS, seed=seed, folder=folder)
            return super()._fit(corpus, seed, progress, keeper)

    Watched().fit(CORPUS, folder=folder)
    assert holder(folder) is None
    assert not (folder / LOCK).exists()
    failing = Watched()
    failing.dies_in = 1
    with pytest.raises(KeyboardInterrupt):
        failing.fit(CORPUS, folder=(folder := tmp_path / "other"))
    assert not folder.exists()  # given back after an error too, and with nothing in it


def test_saving_waits_for_who_saves_there(tmp_path: Path) -> None:
    """Two that are done in the same moment must not mix their files."""
    method = Counting()
    method.fit(CORPUS)
    first = Hold(tmp_path / "run")
    later = threading.Timer(0.1, first.release)
    later.start()
    method.save(tmp_path / "run")
    later.join()
    assert read_run(tmp_path / "run").state == "finished"


def test_a_damaged_checkpoint_takes_no_good_ones_place(tmp_path: Path) -> None:
    interrupted(tmp_path / "run")
    (tmp_path / "run" / CHECKPOINT).write_bytes(b"half")
    method = Counting()
    method.dies_in = 2
    said = pytest.warns(UserWarning, match="cut off or edited.*goes on from the one before it")
    with said, pytest.raises(KeyboardInterrupt):
        method.fit(CORPUS, seed=7, folder=tmp_path / "run")
    assert method.at == 1  # it went on from the first epoch
    found = read_checkpoint(tmp_path / "run")
    assert found is not None
    assert found[0]["at"] == 1
    assert not (tmp_path / "run" / CHECKPOINT).exists()


def test_both_damaged_it_begins_anew(tmp_path: Path) -> None:
    interrupted(tmp_path / "run")
    for name in (CHECKPOINT, BEFORE):
        (tmp_path / "run" / name).write_bytes(b"half")
    with pytest.raises(ValueError, match="another seed"):  # before anything is said or removed
        Counting().fit(CORPUS, seed=8, folder=tmp_path / "run")
    with pytest.warns(UserWarning, match="begins anew"):
        assert len(Counting().fit(CORPUS, seed=7, folder=tmp_path / "run")) == 3
    assert read_run(tmp_path / "run").state == "finished"
    (tmp_path / "run" / CHECKPOINT).write_bytes(b"half")  # beside what is finished
    with pytest.raises(ValueError, match="holds a run of counting already"):
        Counting().fit(CORPUS, seed=7, folder=tmp_path / "run")


def test_a_record_that_cannot_be_read_has_one_way_out(tmp_path: Path) -> None:
    Counting().fit(CORPUS, folder=tmp_path / "run")
    (tmp_path / "run" / "run.json").write_text("{")
    with pytest.raises(ValueError, match="holds a run that cannot be read; choose another folder, or remove this one"):
        Counting().fit(CORPUS, folder=tmp_path / "run")


def test_of_several_processes_the_first_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "1")
    Counting().fit(CORPUS, folder=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_settings_are_part_of_what_must_agree(tmp_path: Path) -> None:
    interrupted(tmp_path / "run")
    with pytest.raises(ValueError, match="with another settings"):
        Counting(CountingSettings(speed=2)).fit(CORPUS, seed=7, folder=tmp_path / "run")

"""Runs: history, snapshots, round trips and damage of the folder, checkpoints, and training into a folder."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import save as save_tensors

from labkit import runs
from labkit.corpora import Corpus, Groups
from labkit.locks import InUse, is_locked
from labkit.method import Keeper, Method, Settings, setting
from labkit.progress import Progress
from labkit.runs import (
    CHECKPOINT,
    History,
    Run,
    Snapshots,
    add_metrics,
    has_checkpoint,
    read_checkpoint,
    read_record,
    read_run,
    write_checkpoint,
    write_run,
)

# --- history and snapshots -------------------------------------------------------------------------------------------


ROWS = ({"epoch": 1, "loss": 0.5, "dev": 0.25}, {"epoch": 2, "loss": 1 / 3})


def test_a_history_as_a_table() -> None:
    history = History(ROWS)
    assert history.csv() == "epoch,loss,dev\n1,0.5,0.25\n2,0.3333333333333333,\n"
    assert history.columns == ["epoch", "loss", "dev"]
    assert history.column("loss") == [0.5, 1 / 3]
    assert history.column("dev")[0] == 0.25
    assert math.isnan(history.column("dev")[1])
    assert len(history) == 2
    with pytest.raises(ValueError, match="'los'"):
        history.column("los")
    assert History().csv() == "epoch\n"
    assert History().column("anything") == []


@given(
    st.lists(
        st.dictionaries(
            st.text(st.characters(exclude_categories=["C", "Zl", "Zp"]), min_size=1),
            st.integers() | st.floats(allow_nan=False) | st.floats(width=32, allow_nan=False),
        ).map(lambda row: {"epoch": 1} | row)
    )
)
def test_a_history_survives_a_round_trip(rows: list[dict[str, float]]) -> None:
    history = History(tuple(rows))
    back = History.of_csv(history.csv())
    assert back == history
    for row, found in zip(rows, back.rows, strict=True):
        assert {name: type(value) for name, value in found.items()} == {n: type(v) for n, v in row.items()}
    assert back.csv() == history.csv()


def test_numpy_numbers_are_written_as_plain_numbers() -> None:
    history = History(({"epoch": np.int64(1), "loss": np.float64(0.1), "dev": np.float32(0.5), "spread": np.nan},))
    assert history.csv() == "epoch,loss,dev,spread\n1,0.1,0.5,nan\n"
    assert math.isnan(History.of_csv(history.csv()).rows[0]["spread"])


@pytest.mark.parametrize(
    "text", ["", "epoch,loss\n1,half\n", "epoch,loss\n1,0.5,3\n", "epoch,loss\n1\n", 'epoch\n"1', "epoch\n--1\n"]
)
def test_a_damaged_history_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"history\.csv"):
        History.of_csv(text)


def test_snapshots_grow_by_an_epoch() -> None:
    empty = Snapshots(("a", "b"), ("x", "y"))
    one = empty.with_epoch(0, np.ones((2, 3)))
    two = one.with_epoch(5, np.zeros((2, 3), np.float32))
    assert len(empty.epochs) == 0
    assert one.vectors.shape == (1, 2, 3)
    assert two.epochs.tolist() == [0, 5]
    assert two.vectors.dtype == np.float32
    assert two.vectors[0].sum() == 6
    assert runs._probe(two) == b'"text","label"\n"a","x"\n"b","y"\n'


# --- the folder of a run ---------------------------------------------------------------------------------------------


FILES = ("model.safetensors", "vocabulary.json", "history.csv", "snapshots.npz", "probe.csv", "run.json")
HARD = ("a\rb", 'quoted "word", comma', "line\nbreak\r\nand more", "", "猫 \ud800 🐈", "\x00", " space ")


def a_run(**changes: Any) -> Run:
    random = np.random.default_rng(0)
    arrays = {
        "table.weight": random.standard_normal((4, 3), dtype=np.float32),
        "turned": random.standard_normal((3, 4)).T,
        "single": np.array(7, dtype=np.int64),
        "none": np.zeros((0, 5), np.float32),
        "flags": np.array([True, False]),
    }
    run = Run(
        method="some-method",
        settings={"size": 3, "rate": 0.1, "kind": "hot", "loud": True},
        corpus="corpus",
        fingerprint="f" * 64,
        seed=5,
        arrays=arrays,
        words={"words": ["<PAD>", "<UNK>", *HARD], "max_length": 60},
        history=History(({"epoch": 1, "loss": 1 / 3}, {"epoch": 2, "loss": 0.25, "dev": 0.1})),
        snapshots=Snapshots(HARD, ("x",) * 7).with_epoch(0, np.ones((7, 2))).with_epoch(1, random.random((7, 2))),
        metrics={"accuracy": 0.75},
    )
    return replace(run, **changes)


def folder_of(tmp_path: Path, **changes: Any) -> Path:
    write_run(a_run(**changes), tmp_path / "run")
    return tmp_path / "run"


def refused(folder: Path, *names: str) -> None:
    """Assert that the run is refused, in one line that names the folder and the fault."""
    with pytest.raises(ValueError) as mistake:
        read_run(folder)
    said = str(mistake.value)
    assert "\n" not in said
    for name in (str(folder), *names):
        assert name in said


# --- round trips -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("state", ["finished", "training"])
def test_a_run_survives_a_round_trip(tmp_path: Path, state: str) -> None:
    run = a_run(state=state)
    write_run(run, tmp_path / "deep" / "run")
    back = read_run(tmp_path / "deep" / "run")
    for name in runs.FIELDS:
        assert getattr(back, name) == getattr(run, name), name
    assert back.words == run.words
    assert back.history == run.history
    assert set(back.arrays) == set(run.arrays)
    for name, array in run.arrays.items():
        assert back.arrays[name].dtype == array.dtype
        assert back.arrays[name].shape == array.shape
        np.testing.assert_array_equal(back.arrays[name], array)
    assert (back.snapshots.texts, back.snapshots.labels) == (run.snapshots.texts, run.snapshots.labels)
    np.testing.assert_array_equal(back.snapshots.epochs, [0, 1])
    np.testing.assert_array_equal(back.snapshots.vectors, run.snapshots.vectors)
    assert set(FILES) == {path.name for path in (tmp_path / "deep" / "run").iterdir()}
    assert "python" in back.versions
    assert "numpy" in back.versions


def test_metrics_are_added_to_the_existing_ones(tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    add_metrics(folder, {"f1": 0.5, "hit": {1: 0.25, 3: 0.5, 10: 0.75}})
    add_metrics(folder, {"f1": 0.6})
    run = read_run(folder)
    assert run.metrics == {"accuracy": 0.75, "f1": 0.6, "hit": {"1": 0.25, "3": 0.5, "10": 0.75}}
    np.testing.assert_array_equal(run.arrays["single"], 7)


# --- damage ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FILES)
class TestDamage:
    def test_missing(self, tmp_path: Path, name: str) -> None:
        folder = folder_of(tmp_path)
        (folder / name).unlink()
        refused(folder, name)

    def test_cut_off(self, tmp_path: Path, name: str) -> None:
        folder = folder_of(tmp_path)
        content = (folder / name).read_bytes()
        (folder / name).write_bytes(content[:-2])
        refused(folder, name)

    def test_edited(self, tmp_path: Path, name: str) -> None:
        folder = folder_of(tmp_path)
        content = bytearray((folder / name).read_bytes())
        place = content.index(b"0.75") + 3 if name == "run.json" else len(content) // 2
        content[place] ^= 1
        (folder / name).write_bytes(content)
        refused(folder, name)


def test_a_path_without_a_run_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("text")
    for path in (tmp_path / "file", tmp_path / "nowhere"):
        with pytest.raises(ValueError, match=path.name):
            read_run(path)
    (tmp_path / "empty").mkdir()
    refused(tmp_path / "empty", "run.json")
    for content in (b"", b"[]", b"{}", b'{"schema": "1"}', b"\xff", b"[" * 100_000):
        (tmp_path / "empty" / "run.json").write_bytes(content)
        refused(tmp_path / "empty", "run.json")


def signed(folder: Path, **changes: Any) -> None:
    """Edit run.json and update its checksum."""
    record = {**json.loads((folder / "run.json").read_bytes()), **changes}
    record = {name: value for name, value in record.items() if value is not None}
    runs._write_record(folder, {name: value for name, value in record.items() if name != "checksum"})


def test_a_newer_schema(tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    signed(folder, schema=2, method=None)
    refused(folder, "version is 2")


def test_a_record_without_the_number_of_processes(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, processes=3)
    assert read_record(folder)["processes"] == read_run(folder).processes == 3
    record = json.loads((folder / "run.json").read_text())
    del record["processes"], record["checksum"]
    runs._write_record(folder, record)
    assert read_record(folder)["processes"] == read_run(folder).processes == 1
    add_metrics(folder, {"accuracy": 0.5})
    assert read_run(folder).metrics == {"accuracy": 0.5}


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("snapshots.npz", lambda path: np.savez(path, vectors=np.zeros((2, 7, 2)))),
        ("snapshots.npz", lambda path: np.full(3, None).dump(path)),  # nothing but a pickle
        ("probe.csv", lambda path: path.write_text("text,label\n" + "a,x,y\n" * 7)),
        ("vocabulary.json", lambda path: path.write_text('{"words": [')),
        ("history.csv", lambda path: path.write_text("epoch,loss\n1,half\n")),
        ("model.safetensors", lambda path: path.write_bytes(b"\x00" * 100)),
        ("model.safetensors", lambda path: path.write_bytes(lying())),
    ],
)
def test_an_invalid_unfinished_run_is_refused(tmp_path: Path, name: str, write: Callable[[Path], Any]) -> None:
    folder = folder_of(tmp_path, state="training")
    read_run(folder)
    write(folder / name)
    refused(folder)


def lying() -> bytes:
    """A model whose header declares more data than it has."""
    content = save_tensors({"a": np.zeros((2, 2), np.float32)})
    return content.replace(b"[2,2]", b"[2,9]")


def test_nothing_is_unpickled(tmp_path: Path) -> None:
    class Bomb:
        def __reduce__(self) -> Any:
            return (Path.touch, (tmp_path / "exploded",))

    folder = folder_of(tmp_path, state="training")
    np.savez(folder / "snapshots.npz", epochs=np.arange(2), vectors=np.array([Bomb(), Bomb()], dtype=object))
    refused(folder)
    assert not (tmp_path / "exploded").exists()


# --- interruptions ---------------------------------------------------------------------------------------------


def test_an_unfinished_run_loads_after_a_kill_between_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = folder_of(tmp_path, state="training")
    later = a_run(
        state="training",
        arrays={name: array + 1 if array.dtype != bool else array for name, array in a_run().arrays.items()},
        history=History((*a_run().history.rows, {"epoch": 3, "loss": 0.2})),
        snapshots=a_run().snapshots.with_epoch(2, np.zeros((7, 2))),
    )
    write, written = runs._write, 0

    def dying(path: Path, content: bytes) -> None:
        nonlocal written
        if written == count:
            raise KeyboardInterrupt
        written += 1
        write(path, content)

    monkeypatch.setattr(runs, "_write", dying)
    for count in range(6):
        written = 0
        with pytest.raises(KeyboardInterrupt):
            write_run(later, folder)
        run = read_run(folder)
        assert run.state == "training"
        assert len(run.history) == 2 + (count > 2)
        np.testing.assert_array_equal(run.arrays["single"], 7 + (count > 0))


def test_a_finished_run_has_no_checkpoint(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, state="training")
    write_checkpoint(folder, {"a": np.arange(3)}, {"epoch": 2})
    (folder / "notes.txt").write_text("mine")
    write_run(a_run(state="training"), folder)
    assert read_checkpoint(folder) is not None
    write_run(a_run(), folder)
    assert read_checkpoint(folder) is None
    assert {path.name for path in folder.iterdir()} == {*FILES, "notes.txt"}


def test_a_checkpoint_survives_a_round_trip(tmp_path: Path) -> None:
    assert read_checkpoint(tmp_path) is None
    record = {"epoch": 2, "sums": {"loss": 1 / 3}, "best": None, "text": "猫"}
    write_checkpoint(tmp_path / "run", {"a": np.arange(6.0).reshape(2, 3).T, "step": np.array(3)}, record)
    found = read_checkpoint(tmp_path / "run")
    assert found is not None
    np.testing.assert_array_equal(found[0]["a"], np.arange(6.0).reshape(2, 3).T)
    assert found[0]["step"].shape == ()
    assert found[1] == record


def test_a_truncated_checkpoint_is_refused(tmp_path: Path) -> None:
    write_checkpoint(tmp_path, {"a": np.arange(6.0), "b": np.array([True, False])}, {"epoch": 2})
    path = tmp_path / CHECKPOINT
    content = path.read_bytes()
    cut = [content[:length] for length in range(0, len(content), 7)]
    for each in (*cut, content + b"more", content.replace(b"{", b"[")):
        path.write_bytes(each)
        with pytest.raises(ValueError, match=CHECKPOINT):
            read_checkpoint(tmp_path)


def test_a_checkpoint_replaces_the_previous_one_or_leaves_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not has_checkpoint(tmp_path)
    for epoch in range(2):
        write_checkpoint(tmp_path, {"a": np.array(epoch)}, {"epoch": epoch})

    def full(file: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match=CHECKPOINT):
        write_checkpoint(tmp_path, {}, {"epoch": 2})
    assert [path.name for path in tmp_path.iterdir()] == [CHECKPOINT]
    assert read_checkpoint(tmp_path)[1] == {"epoch": 1}


# --- training into a folder ------------------------------------------------------------------------------------------


CORPUS = Groups(["a b", "c d"], ["1", "1"], name="small")


@dataclass(frozen=True, kw_only=True)
class CountingSettings(Settings):
    speed: int = setting(1, "how fast", minimum=1)


class Counting(Method):
    """A method that counts to three, one per epoch, and is interrupted in the epoch `dies_in`."""

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


def test_an_interrupted_training_can_be_loaded_and_resumed(tmp_path: Path) -> None:
    interrupted(tmp_path / "run")
    run = read_run(tmp_path / "run")
    assert (run.state, len(run.history)) == ("training", 2)
    assert Counting().load(tmp_path / "run").encode(["x"]).tolist() == [[2.0]]
    method = Counting()
    method.dies_in = 1  # would stop at once if it started over
    history = method.fit(CORPUS, seed=7, folder=tmp_path / "run").history
    assert len(history) == 3
    run = read_run(tmp_path / "run")
    assert (run.state, len(run.history)) == ("finished", 3)
    assert read_checkpoint(tmp_path / "run") is None


def test_a_finished_run_is_not_overwritten(tmp_path: Path) -> None:
    Counting().fit(CORPUS, folder=tmp_path / "run")
    before = (tmp_path / "run" / "run.json").read_bytes()
    with pytest.raises(ValueError, match="run"):
        Counting().fit(CORPUS, folder=tmp_path / "run")
    assert (tmp_path / "run" / "run.json").read_bytes() == before


@pytest.mark.parametrize(
    ("corpus", "seed", "speed", "said"),
    [
        (CORPUS, 8, 1, "seed"),
        (CORPUS, 7, 2, "settings"),
        (Groups(["a b", "c e"], ["1", "1"], name="small"), 7, 1, "fingerprint"),
        (Groups(["a b", "c d"], ["1", "1"], name="other"), 7, 1, "corpus"),
    ],
)
def test_another_training_is_not_resumed(tmp_path: Path, corpus: Corpus, seed: int, speed: int, said: str) -> None:
    interrupted(tmp_path / "run")
    method = Counting(speed=speed)
    with pytest.raises(ValueError, match=said):
        method.fit(corpus, seed=seed, folder=tmp_path / "run")
    assert not method.fitted


def test_other_files_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(ValueError, match="file"):
        Counting().fit(CORPUS, folder=tmp_path / "file")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    with pytest.raises(ValueError, match="mine"):
        Counting().fit(CORPUS, folder=tmp_path / "mine")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["notes.txt"]


def test_the_folder_is_locked_during_training(tmp_path: Path) -> None:
    folder = tmp_path / "run"

    class Watched(Counting):
        def _fit(self, corpus: Corpus, seed: int, progress: Progress, keeper: Keeper | None) -> History:
            with pytest.raises(InUse):
                Counting().fit(CORPUS, seed=seed, folder=folder)
            return super()._fit(corpus, seed, progress, keeper)

    Watched().fit(CORPUS, folder=folder)
    assert not is_locked(folder)
    failing = Watched()
    failing.dies_in = 1
    with pytest.raises(KeyboardInterrupt):
        failing.fit(CORPUS, folder=(folder := tmp_path / "other"))
    assert not folder.exists()  # unlocked after an error, too, and removed because it is empty


def test_only_the_first_of_several_processes_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "1")
    Counting().fit(CORPUS, folder=tmp_path / "run")
    assert not (tmp_path / "run").exists()

"""Progress that another program reads, and how far a training is said to be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from trainings import Job, watch
from trainings.process import PROGRESS, SAID, verdict

from labkit import progress


def test_a_noted_progress_says_how_long_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("tqdm.std.time", lambda: now[0])
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    monkeypatch.setenv(progress.NOTED, str(tmp_path / "p.json"))

    def noted() -> dict:
        return json.loads((tmp_path / "p.json").read_text())

    with progress.terminal("batch") as draw:
        draw(40, 100, "epoch 5")  # it was resumed: 40 were not done in no time
        assert noted() == {"done": 40, "total": 100, "what": "epoch 5", "left": None}
        now[0] = 100.1
        draw(41, 100, "too soon")
        assert noted()["done"] == 40
        now[0] = 110.0
        draw(60, 100, "epoch 7")  # 20 in 10 seconds: 40 take 20
        assert noted()["left"] == pytest.approx(20)
        draw(10, 80, "encoding")  # other work, at once
        assert noted() == {"done": 10, "total": 80, "what": "encoding", "left": None}
        now[0] = 112.0
        draw(0, None, "words")
        assert noted()["total"] is None


@pytest.mark.parametrize("content", ["", "[", "[1]", '{"done": 5}', '{"done": 5, "total": 0}'])
def test_a_half_written_progress_is_none(tmp_path: Path, content: str) -> None:
    (tmp_path / PROGRESS).write_text(content)
    job = Job("1", "tfidf", "topics", 0, str(tmp_path / "run"), state="running")
    assert watch(job, tmp_path).share is None
    assert watch(job, tmp_path).left is None


@pytest.mark.parametrize(
    ("said", "status", "why", "notes"),
    [
        (b"labkit: note: one\nlabkit: note: one\nepoch 1\n", 0, "", ("one",)),
        (b"\x1b[A  5%|#    |\r 10%|##   |\nlabkit: the loss is nan\n", 2, "the loss is nan", ()),
        (b"Traceback\nMemoryError\n", 1, "MemoryError", ()),
        (b"", 3, "3", ()),
        (b"labkit: caf\xff\n", 2, "caf\N{REPLACEMENT CHARACTER}", ()),
    ],
)
def test_why_it_ended(tmp_path: Path, said: bytes, status: int, why: str, notes: tuple[str, ...]) -> None:
    (tmp_path / SAID).write_bytes(said)
    told, noted = verdict(tmp_path, status)
    assert (bool(told), noted) == (bool(why), notes)
    assert why in told

"""Counts of a class's progress files against a plain loop; invalid files are named and skipped."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from labkit.course import answers
from labkit.course.collect import MOST_BYTES, ClassProgress, collect
from tests.course.thirty import NAMES, ORDER


def record(kept: dict[str, Any]) -> str:
    return json.dumps({"answers": kept, "predictions": {}})


def begun(key: str = "01.1", **more: Any) -> dict[str, Any]:
    return {key: {"tries": 1, "right": True, "hints": 0, "seen": False} | more}


def test_the_counts_of_a_class_of_thirty_are_those_of_a_plain_loop(thirty: Path) -> None:
    answered, read, stuck, here, tries = Counter(), Counter(), {}, {}, {}
    slips: dict[tuple[str, str], list[int]] = {}
    for name in NAMES:
        path = next(each for each in (thirty / f"{name}.json", thirty / name / "progress.json") if each.exists())
        kept = json.loads(path.read_text("utf-8"))["answers"]
        for key, each in kept.items():
            tries.setdefault(key, []).append(each["tries"])
            if each["seen"]:
                read[key] += 1
            elif each["right"]:
                answered[key] += 1
            else:
                stuck.setdefault(key, set()).add(name)
            for says, count in each.get("slips", {}).items():
                slips.setdefault((key, says), []).append(count)
        here.setdefault(list(kept)[-1], set()).add(name)
    progress = collect(thirty, names=True)
    assert len(progress.students) == 30
    assert progress.skipped == ()
    assert [each.key for each in progress.exercises] == [key for key in ORDER if key in tries]
    for each in progress.exercises:
        assert (each.answered, each.solution_read) == (answered[each.key], read[each.key])
        assert set(each.stuck) == stuck.get(each.key, set())
        assert set(each.here) == here.get(each.key, set())
        assert each.tries == median(tries[each.key])
        assert each.begun == len(tries[each.key])
    several = {slip: counts for slip, counts in slips.items() if len(counts) > 1}  # a single student's is not shown
    assert 10 < len(several) < len(slips)
    assert {(each.key, each.says): (each.students, each.times) for each in progress.slips} == {
        slip: (len(counts), sum(counts)) for slip, counts in several.items()
    }
    assert [each.students for each in progress.slips] == sorted(map(len, several.values()), reverse=True)
    notebooks = Counter(key[:2] for key, who in here.items() for _ in who)
    assert notebooks[progress.notebook] == max(notebooks.values())


def test_names_appear_only_on_request(thirty: Path) -> None:
    progress, named = collect(thirty), collect(thirty, names=True)
    said = json.dumps([progress.rows(), [vars(each) for each in progress.exercises]], ensure_ascii=False)
    assert [name for name in NAMES if name in said] == []
    assert [each.name for each in progress.students] == [f"student {n}" for n in range(1, 31)]
    assert [each.name for each in named.students] == sorted(NAMES)
    alphabetical = [each.begun for each in named.students]
    assert [each.begun for each in progress.students] != alphabetical  # numbers do not follow the class list
    assert collect(thirty).students == progress.students


def test_the_answers_of_a_notebook_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(answers.VARIABLE, raising=False)
    for name, given in (("ada", 0.0), ("bea", 0.0), ("cem", 0.2)):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        said = answers.answer("09.3", given).text
        if name == "bea":
            slip = said
            answers.hint("09.4")
    progress = collect(tmp_path, names=True)
    assert {each.name: (each.at, each.stuck) for each in progress.students} == {
        "ada": ("09.3", ["09.3"]),
        "bea": ("09.4", ["09.3", "09.4"]),
        "cem": ("09.3", []),
    }
    (counted,) = progress.slips
    assert (counted.key, counted.students) == ("09.3", 2)
    assert counted.says in slip


HOSTILE = {
    "empty.json": b"",
    "cut.json": record(begun()).encode()[:-9],
    "noise.json": bytes(range(256)),
    "list.json": b"[1, 2]",
    "package.json": b'{"name": "left-pad", "version": "1.0.0"}',
    "more.json": record(begun(grade=1)).encode(),
    "predicted.json": b'{"answers": {}, "predictions": "all"}',
    "deep.json": b"[" * 100_000,
    "digits.json": record(begun()).replace('"tries": 1', '"tries": ' + "9" * 5_000).encode(),
    "minus.json": record(begun(tries=-1)).encode(),
    "much.json": record(begun(hints=10**9)).encode(),
    "nan.json": record(begun(tries=float("nan"))).encode(),
    "slips.json": record(begun(slips={"x": "y"})).encode(),
    "listed.json": record(begun(slips=["x"])).encode(),
    "maybe.json": record(begun(right="yes")).encode(),
    "other.json": record(begun("77.1")).encode(),
    "huge.json": b" " * (MOST_BYTES + 1),
}


def test_invalid_files_are_named_and_skipped(tmp_path: Path) -> None:
    for name, data in HOSTILE.items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "ada.json").write_text(record(begun()))
    progress = collect(tmp_path, names=True)
    assert [each.name for each in progress.students] == ["ada"]
    assert [said.split()[0] for said in progress.skipped] == sorted(HOSTILE)
    assert not [said for said in progress.skipped if "\n" in said]


def test_links_devices_and_hidden_files_are_not_opened(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(record(begun()))
    folder = tmp_path / "class"
    (folder / ".ipynb_checkpoints").mkdir(parents=True)
    (folder / ".ipynb_checkpoints" / "progress.json").write_text(record(begun()))
    (folder / "ada.json").write_text(record(begun()))
    (folder / "bea.json").symlink_to(tmp_path / "secret")
    (folder / "round").symlink_to(folder)
    os.mkfifo(folder / "cem.json")  # opening it would block forever
    progress = collect(folder, names=True)
    assert [each.name for each in progress.students] == ["ada"]
    assert [said.split()[0] for said in progress.skipped] == ["bea.json", "cem.json"]


def test_texts_of_files_become_printable(tmp_path: Path) -> None:
    says = "\x1b[2J\ud800\u202eown\nwords"
    for name in ("a\x1b[31m", "b\n"):
        (tmp_path / f"{name}.json").write_text(record(begun(slips={says: 1})))
    (tmp_path / "c\r.json").write_text("")
    progress = collect(tmp_path, names=True)
    said = [*(each.name for each in progress.students), *progress.skipped, progress.slips[0].says]
    said += [str(value) for row in progress.rows() for value in row.values()]
    assert all(text.isprintable() for text in said)
    assert {each.name for each in progress.students} == {"a�[31m", "b�"}


def test_two_files_with_the_same_name_are_two_students(tmp_path: Path) -> None:
    (tmp_path / "a" / "x").mkdir(parents=True)
    for where in ("x.json", "a/x/progress.json", "Kim_progress.json", "progress.json"):
        (tmp_path / where).write_text(record(begun()))
    names = {each.name for each in collect(tmp_path, names=True).students}
    assert names == {"x.json", "a/x/progress.json", "Kim", "progress"}


def test_unknown_exercises_and_empty_records(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(record(begun() | begun("01.99")))
    assert [each.key for each in collect(tmp_path).exercises] == ["01.1"]
    (tmp_path / "a.json").write_text(record({}))
    progress = collect(tmp_path)
    assert (progress.students[0].at, progress.notebook, progress.exercises) == (None, None, ())
    assert ClassProgress(()).slips == ()


def test_a_folder_without_a_class_is_refused(tmp_path: Path) -> None:
    for folder in (tmp_path / "none", tmp_path):
        with pytest.raises(ValueError, match="FOLDER"):
            collect(folder)
    (tmp_path / "a.json").write_text("")
    with pytest.raises(ValueError, match=r"FOLDER.*a\.json"):
        collect(tmp_path)

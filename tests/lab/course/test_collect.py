"""Progress files of a class are counted as a plain loop counts them; what is none is named and left out."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from labkit.lab.course import answers
from labkit.lab.course.collect import MOST_BYTES, ClassProgress, collect, course
from labkit.lab.course.notebooks import sources

from .thirty import NAMES, ORDER, write_class


@pytest.fixture
def thirty(tmp_path: Path) -> Path:
    write_class(tmp_path / "class")
    return tmp_path / "class"


def one(answers: dict[str, Any], **more: Any) -> str:
    return json.dumps({"answers": answers, "predictions": {}} | more)


def begun(key: str = "01.1", **more: Any) -> dict[str, Any]:
    return {key: {"tries": 1, "right": True, "hints": 0, "seen": False} | more}


def test_a_class_of_thirty_is_counted_as_a_plain_loop_counts_it(thirty: Path) -> None:
    answered, read, stuck, here, tries = Counter(), Counter(), {}, {}, {}
    slips: dict[tuple[str, str], list[int]] = {}
    for name in NAMES:
        path = next(each for each in (thirty / f"{name}.json", thirty / name / "progress.json") if each.exists())
        answers = json.loads(path.read_text("utf-8"))["answers"]
        for key, each in answers.items():
            tries.setdefault(key, []).append(each["tries"])
            if each["seen"]:
                read[key] += 1
            elif each["right"]:
                answered[key] += 1
            else:
                stuck.setdefault(key, set()).add(name)
            for says, count in each.get("slips", {}).items():
                slips.setdefault((key, says), []).append(count)
        here.setdefault(list(answers)[-1], set()).add(name)
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
    several = {slip: counts for slip, counts in slips.items() if len(counts) > 1}
    assert len(several) > 10
    assert {(each.key, each.says): (each.students, each.times) for each in progress.slips} == {
        slip: (len(counts), sum(counts)) for slip, counts in several.items()
    }
    assert [each.students for each in progress.slips] == sorted(map(len, several.values()), reverse=True)
    notebooks = Counter(key[:2] for key, who in here.items() for _ in who)
    assert notebooks[progress.notebook] == max(notebooks.values())


def test_the_course_has_the_order_of_the_notebooks() -> None:
    assert [key for key in course() if key[:2] in ("00", "01", "02")] == ORDER
    assert set(course().values()) == {source.stem for source in sources()}


def test_who_is_who_is_said_on_request_alone(thirty: Path) -> None:
    progress, named = collect(thirty), collect(thirty, names=True)
    said = json.dumps([progress.rows(), [vars(each) for each in progress.exercises]], ensure_ascii=False)
    assert [name for name in NAMES if name in said] == []
    assert [each.name for each in progress.students] == [f"student {n}" for n in range(1, 31)]
    assert [each.name for each in named.students] == sorted(NAMES)
    alphabetical = [each.record.answers for each in named.students]
    assert [each.record.answers for each in progress.students] != alphabetical  # a number is no place in a class list
    assert collect(thirty).students == progress.students


def test_a_slip_that_one_student_made_is_not_shown(tmp_path: Path) -> None:
    for name, slips in (("a", {"shared": 1, "own": 5}), ("b", {"shared": 2})):
        (tmp_path / f"{name}.json").write_text(one(begun(slips=slips)))
    (slip,) = collect(tmp_path).slips
    assert (slip.says, slip.students, slip.times) == ("shared", 2, 3)


def test_what_the_notebook_says_is_what_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From `answer` in two students' folders to the class."""
    for name in answers.VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for name, given in (("ada", (0.0, 1.0)), ("bea", (0.0, 1.0)), ("cem", (0.1192, 0.8808))):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        said = answers.answer("01.4", given).text
        if name == "bea":
            answers.hint("01.5")
    progress = collect(tmp_path, names=True)
    assert said.startswith("✓")
    assert {each.name: (each.at, each.stuck) for each in progress.students} == {
        "ada": ("01.4", ["01.4"]),
        "bea": ("01.5", ["01.4", "01.5"]),
        "cem": ("01.4", []),
    }
    (slip,) = progress.slips
    assert (slip.key, slip.students) == ("01.4", 2)
    assert "two cosines differ by no more than 2" in slip.says


HOSTILE = {
    "empty.json": (b"", "it is empty"),
    "cut.json": (one(begun()).encode()[:-9], "it is no JSON"),
    "noise.json": (bytes(range(256)), "it is no JSON"),
    "list.json": (b"[1, 2]", "it is no progress of these notebooks"),
    "package.json": (b'{"name": "left-pad", "version": "1.0.0"}', "it is no progress of these notebooks"),
    "more.json": (one(begun(grade=1)).encode(), "it is no progress of these notebooks"),
    "predicted.json": (b'{"answers": {}, "predictions": "all"}', "it is no progress of these notebooks"),
    "deep.json": (b"[" * 100_000, "it is nested too deeply"),
    "digits.json": (one(begun()).replace('"tries": 1', '"tries": ' + "9" * 5_000).encode(), "it is no JSON"),
    "minus.json": (one(begun(tries=-1)).encode(), "exercise '01.1' has a count that is none"),
    "much.json": (one(begun(hints=10**9)).encode(), "exercise '01.1' has a count that is none"),
    "nan.json": (one(begun(tries=float("nan"))).encode(), "exercise '01.1' has a count that is none"),
    "slips.json": (one(begun(slips={"x": "y"})).encode(), "exercise '01.1' has a count that is none"),
    "listed.json": (one(begun(slips=["x"])).encode(), "exercise '01.1' has a count that is none"),
    "maybe.json": (one(begun(right="yes")).encode(), "exercise '01.1' says neither true nor false"),
    "other.json": (one(begun("77.1")).encode(), "it has no exercise of these notebooks"),
    "huge.json": (b" " * (MOST_BYTES + 1), "and a progress file never more than"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_no_progress_file_is_named_and_left_out(name: str, tmp_path: Path) -> None:
    data, why = HOSTILE[name]
    (tmp_path / name).write_bytes(data)
    (tmp_path / "ada.json").write_text(one(begun()))
    progress = collect(tmp_path, names=True)
    assert [each.name for each in progress.students] == ["ada"]
    (said,) = progress.skipped
    assert said.startswith(f"{name} is left out: ")
    assert why in said
    assert said.endswith("; ask for the progress.json that lies beside the notebooks")
    assert "\n" not in said


def test_links_devices_and_what_is_hidden_are_not_opened(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(one(begun()))
    folder = tmp_path / "class"
    (folder / ".ipynb_checkpoints").mkdir(parents=True)
    (folder / ".ipynb_checkpoints" / "progress.json").write_text(one(begun()))
    (folder / "ada.json").write_text(one(begun()))
    (folder / "bea.json").symlink_to(tmp_path / "secret")
    (folder / "round").symlink_to(folder)
    os.mkfifo(folder / "cem.json")  # whoever opens it waits for ever
    progress = collect(folder, names=True)
    assert [each.name for each in progress.students] == ["ada"]
    assert [said.partition(" is left out")[0] for said in progress.skipped] == ["bea.json", "cem.json"]


def test_what_a_stranger_wrote_moves_no_cursor(tmp_path: Path) -> None:
    says = "\x1b[2J\ud800\u202eown\nwords"
    for name in ("a\x1b[31m", "b\n"):
        (tmp_path / f"{name}.json").write_text(one(begun(slips={says: 1})))
    (tmp_path / "c\r.json").write_text("")
    progress = collect(tmp_path, names=True)
    said = [*(each.name for each in progress.students), *progress.skipped, progress.slips[0].says]
    said += [str(value) for row in progress.rows() for value in row.values()]
    assert all(text.isprintable() for text in said)
    assert {each.name for each in progress.students} == {"a�[31m", "b�"}


def test_two_files_of_one_name_stay_two_students(tmp_path: Path) -> None:
    (tmp_path / "a" / "x").mkdir(parents=True)
    for where in ("x.json", "a/x/progress.json", "Kim_progress.json", "progress.json"):
        (tmp_path / where).write_text(one(begun()))
    names = {each.name for each in collect(tmp_path, names=True).students}
    assert names == {"x.json", "a/x/progress.json", "Kim", "progress"}


def test_exercises_of_another_version_are_left_out_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(one(begun() | begun("01.99")))
    assert [each.key for each in collect(tmp_path).exercises] == ["01.1"]


def test_who_has_begun_nothing_is_a_student_too(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(one({}))
    progress = collect(tmp_path)
    assert (progress.students[0].at, progress.notebook, progress.exercises) == (None, None, ())
    assert ClassProgress(()).slips == ()


def test_a_folder_without_a_class_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="expected a folder of progress files"):
        collect(tmp_path / "none")
    with pytest.raises(ValueError, match="with a progress file of each student; ask each student"):
        collect(tmp_path)
    (tmp_path / "a.json").write_text("")
    with pytest.raises(ValueError, match=r"of each student; a\.json is left out: it is empty"):
        collect(tmp_path)
    monkeypatch.setattr("labkit.lab.course.collect.MOST_FILES", 0)
    with pytest.raises(ValueError, match="more than 0 files"):
        collect(tmp_path)

"""What all commands have in common: -h, -q, -v, --json, --force, completion, and how they end."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from labkit.lab.cli.arguments import _methods
from labkit.lab.cli.main import app
from labkit.methods import METHODS

from .conftest import SMALL, Labkit

COMMANDS = [(each.name or each.callback.__name__,) for each in app.registered_commands]  # type: ignore[union-attr]
COMMANDS += [("data", name) for name in ("list", "get", "check", "make")]
COMMANDS += [("class", name) for name in ("collect", "assign")]
FILM = ("train", "film", "--corpus", "mine.csv", "--set", "dimension=4", "--out", "film")


@pytest.mark.parametrize("words", [(), ("data",), *COMMANDS])
def test_help_is_short_and_has_what_all_have(labkit: Labkit, words: tuple[str, ...]) -> None:
    done = labkit(*words, "-h")
    assert (done.status, done.err) == (0, "")
    assert done.out == labkit(*words, "--help").out
    if words != ("data",):
        assert "-q, --quiet" in done.out
        assert "-v, --verbose" in done.out


@pytest.mark.parametrize("words", COMMANDS)
def test_what_says_figures_or_lists_says_them_as_json(labkit: Labkit, words: tuple[str, ...]) -> None:
    assert ("--json" in labkit(*words, "-h").out) == (words not in (("app",), ("lab",)))


def test_the_documents(labkit: Labkit) -> None:
    trained = labkit(*FILM, "--json").document()
    assert isinstance(trained, dict)
    assert (trained["run"], trained["method"], trained["settings"]["dimension"]) == ("film", "film", 4)
    assert trained["figures"][trained["measure"]] == trained["figures"]["accuracy"]
    assert labkit("train", "film", "--settings", "--json").document()[0]["setting"] == "solver"
    assert labkit("explain", "film", "a cat sleeps", "the cat naps", "--json").document()["text_a"] == "a cat sleeps"
    checked = labkit("data", "check", "mine.csv", "--measure", "--json").document()
    assert (checked["rows"], checked["splits"]["train"]) == (96, 48)
    assert 0 < checked["difficulty"]["tfidf"] <= 1
    assert labkit("data", "get", "questions", "--json").document()["name"] == "questions"
    made = labkit("data", "make", "topics", "--rows", "50", "--out", "t.csv", "--json").document()
    assert made == {"file": "t.csv", "rows": len(Path("t.csv").read_text().splitlines()) - 1}
    call = ("data", "make", "triplets", "--articles", "articles", "--limit", "9", "--out", "t.jsonl", "--json")
    funnel = labkit(*call).document()
    for unit in ("articles", "triplets"):
        gone = sum(each.get(unit, 0) for each in funnel["removed"].values())
        assert funnel["read"][unit] - gone == funnel["left"][unit]
    assert len(labkit("reproduce", "--json").document()) > 10
    assert labkit("encode", "film", "--input", "mine.csv", "--output", "o.npz", "--json").document()["sentences"] > 9


def test_a_mistake_is_a_sentence_and_no_document(labkit: Labkit) -> None:
    assert "expected the folder of a run" in labkit("evaluate", "gone", "--json").mistake()


class TestHowMuch:
    CALL = ("train", "siamese", "--corpus", "mine.csv", "--epochs", 2, *SMALL)

    def test_quiet_is_results_only(self, labkit: Labkit) -> None:
        Path("again.csv").write_text(Path("mine.csv").read_text() + Path("mine.csv").read_text().split("\n")[1] + "\n")
        loud = labkit("train", "tfidf", "--corpus", "again.csv")
        assert "note: again.csv: repeated rows" in loud.err
        for words in (("train", "tfidf", "--corpus", "again.csv", "-q"), ("--quiet", *self.CALL)):
            done = labkit(*words)
            assert (done.status, done.err) == (0, "")
            assert done.out.splitlines()[-1].startswith("runs/")
        assert labkit("-q", "evaluate", "gone").mistake()

    def test_verbose_says_versions_settings_and_steps(self, labkit: Labkit) -> None:
        said = labkit(*self.CALL, "-v")
        assert said.out == labkit(*self.CALL, "--out", "two").out.replace("two", "runs/siamese-mine-seed0")
        for part in (
            "labkit: python 3.",
            "numpy ",
            "labkit: settings: epochs=2, ",
            "encoder=mean",
            "labkit: learned: ",
        ):
            assert part in said.err
        assert "of memory until here" in said.err
        wrong = labkit("evaluate", "gone", "-v")
        assert (wrong.status, wrong.out) == (2, "")
        assert wrong.err.startswith("labkit: python 3.")
        assert "Traceback" in wrong.err
        assert wrong.err.splitlines()[-1].startswith("labkit: run is 'gone', expected the folder of a run")

    def test_one_call_does_not_change_the_next(self, labkit: Labkit) -> None:
        labkit("-q", "data", "list")
        assert labkit(*self.CALL).err

    def test_both_exclude_each_other(self, labkit: Labkit) -> None:
        assert labkit("data", "list", "-q", "-v").mistake().startswith("--quiet and --verbose exclude each other")


@pytest.mark.parametrize(
    "words",
    [
        ("data", "make", "topics", "--rows", "20", "--out", "there.csv"),
        ("data", "make", "triplets", "--articles", "articles", "--limit", "9", "--out", "there.csv"),
        ("reproduce", "film/1", "--budget", "0", "--out", "there.csv"),
    ],
)
def test_what_is_there_is_written_over_only_by_force(labkit: Labkit, words: tuple[str, ...]) -> None:
    Path("there.csv").write_text("mine")
    assert "'there.csv', which is there already; add --force" in labkit(*words).mistake()
    assert Path("there.csv").read_text() == "mine"
    assert labkit(*words, "--force").status == 0
    assert Path("there.csv").read_text() != "mine"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("reproduce", "--out", "a.md"), "--out is for what is recomputed, but no table is named"),
        (("reproduce", "--budget", "5m"), "--budget is for what is recomputed, but no table is named"),
        (("reproduce", "--quick", "--data", "."), "--quick and --data exclude each other"),
        (("explain", "film", "a", "b", "--top", "3", "--json"), "--json gives all parts"),
    ],
)
def test_an_option_that_changes_nothing_is_refused(labkit: Labkit, words: tuple[str, ...], said: str) -> None:
    assert said in labkit(*words).mistake()


# --- completion, and who reads -----------------------------------------------------------------------------------


def completed(*words: str) -> list[str]:
    """What a shell offers for the last word."""
    asked = {"_LABKIT_COMPLETE": "complete_bash", "COMP_WORDS": " ".join(("labkit", *words))}
    asked |= {"COMP_CWORD": str(len(words))}
    done = subprocess.run([sys.executable, "-m", "labkit"], env=os.environ | asked, capture_output=True, text=True)
    return done.stdout.split()


def test_the_names_that_a_shell_is_told_are_those_of_the_table() -> None:
    assert _methods("") == list(METHODS) == [entry.method.name for entry in METHODS.values()]


def test_the_table_is_read_without_what_is_slow_to_import() -> None:
    asked = "import sys, labkit.methods; print({'torch', 'numpy', 'scipy', 'pandas'} & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


@pytest.mark.whole
def test_completion(labkit: Labkit) -> None:
    assert labkit("train", "tfidf", "--corpus", "mine.csv").status == 0
    assert completed("train", "sb") == ["sbert-lp", "sbert"]
    assert completed("data", "check", "qu")[0] == "questions"
    assert "mine.csv" in completed("train", "film", "--corpus", "mi")
    assert "runs/tfidf-mine-seed0" in completed("evaluate", "runs/t")
    assert completed("evaluate", "") == ["runs/", "runs/tfidf-mine-seed0"]


@pytest.mark.whole
@pytest.mark.parametrize("words", [("data", "list"), ("encode", "runs/tfidf-mine-seed0", "--output", "-")])
def test_whoever_stops_reading_ends_it_without_a_word(labkit: Labkit, words: tuple[str, ...]) -> None:
    assert labkit("train", "tfidf", "--corpus", "mine.csv").status == 0
    command = [sys.executable, "-m", "labkit", *words]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, **pipes) as process:  # type: ignore[call-overload]
        process.stdout.close()
        process.stdin.write(b"the cat sleeps\n" * 9)
        process.stdin.close()
        said = process.stderr.read()
    assert (process.returncode, said) == (141, b"")


@pytest.mark.whole
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_standard_output_on_a_full_disk(labkit: Labkit) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([sys.executable, "-m", "labkit", "data", "list"], stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 2
    assert done.stderr.startswith(b"labkit: standard output cannot be written to (No space left on device)")
    assert done.stderr.count(b"\n") == 1

"""The command line: what all commands share, exit statuses, the app, JupyterLab and the reference pages."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.main import get_command

import labkit as package
from labkit.cli import reference
from labkit.cli.main import app, main
from labkit.corpora import CORPORA
from labkit.runs import read_record
from tests.waiting import HANG

from .conftest import SMALL, Labkit

ROOT = Path(__file__).resolve().parents[2]


def commands(group: object, *before: str) -> list[tuple[str, ...]]:
    """All commands, each as a tuple of words."""
    found = getattr(group, "commands", {})
    return [each for name, one in found.items() for each in commands(one, *before, name)] or [before]


# --- common to all commands ------------------------------------------------------------------------------------------


def test_every_command_has_help(labkit: Labkit) -> None:
    for words in [(), *commands(get_command(app))]:
        done = labkit(*words, "-h")
        assert (done.status, done.err) == (0, ""), words
        assert "--quiet" in done.out, words
    assert labkit("--version").out.strip().count(".") == 2


@pytest.mark.whole
def test_results_as_json(labkit: Labkit) -> None:
    film = ("train", "film", "--corpus", "mine.csv", "--set", "dimension=4", "--out", "film")
    trained = labkit(*film, "--json").document()
    assert (trained["run"], trained["method"], trained["settings"]["dimension"]) == ("film", "film", 4)
    assert trained["figures"] == pytest.approx(read_record("film")["metrics"]["mine.csv/test"])
    assert trained["figures"][trained["measure"]] == trained["figures"]["accuracy"]
    checked = labkit("data", "check", "mine.csv", "--measure", "--json").document()
    assert (checked["rows"], checked["shape"], checked["splits"]) == (96, "Pairs", {"train": 48, "dev": 24, "test": 24})
    assert 0 < checked["difficulty"]["tfidf"] <= 1
    for seed in (8, 9):
        words = ("data", "make", "corpus", "topics", "--rows", "50", "--seed", seed, "--out", f"{seed}.csv")
        made = labkit(*words, "--json").document()
        assert made == {"file": f"{seed}.csv", "rows": len(Path(f"{seed}.csv").read_text().splitlines()) - 1}
        assert 50 <= made["rows"] < 200
    assert Path("8.csv").read_bytes() != Path("9.csv").read_bytes()


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("data", "check", "bad.csv"), "bad.csv row 3"),
        (("data", "check", "topics", "--encoding", "latin-1"), "--encoding"),
        (("data", "get", "stbs"), "'stsb'"),
        (("data", "make", "corpus", "topcis", "--out", "a.csv"), "'topics'"),
        (("data", "make", "corpus", "articles", "--out", "a.csv"), ".jsonl"),
        (("data", "make", "corpus", "topics"), "--out"),
        (("data", "list", "-q", "-v"), "--quiet"),
    ],
)
def test_a_mistake_is_one_line_and_status_2(labkit: Labkit, tmp_path: Path, words: tuple[str, ...], named: str) -> None:
    (tmp_path / "bad.csv").write_text("text,label\na,x\n,y\n")
    before = sorted(tmp_path.iterdir())
    assert named in labkit(*words).mistake()
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    "words",
    [
        ("data", "make", "corpus", "topics", "--rows", "20", "--out", "there.csv"),
        ("data", "make", "triplets", "--articles", "articles", "--limit", "9", "--out", "there.csv"),
        ("reproduce", "film/1", "--stored", "--out", "there.json"),
    ],
)
def test_a_file_is_overwritten_only_with_force(labkit: Labkit, words: tuple[str, ...]) -> None:
    there = Path(words[-1])
    there.write_text("mine")
    assert "--force" in labkit(*words).mistake()
    assert there.read_text() == "mine"
    assert labkit(*words, "--force").status == 0
    assert there.read_text() != "mine"


def test_quiet_prints_only_results_and_verbose_prints_tracebacks(labkit: Labkit) -> None:
    call = ("train", "siamese", "--corpus", "mine.csv", "--epochs", 1, *SMALL)
    quiet = labkit("--quiet", *call)
    assert (quiet.status, quiet.err, quiet.out.splitlines()[-1]) == (0, "", "runs/siamese-mine-seed0")
    loud = labkit(*call, "--out", "two", "-v")
    assert loud.out == quiet.out.replace("runs/siamese-mine-seed0", "two")
    assert "encoder=mean" in loud.err
    assert "numpy " in loud.err
    assert labkit("-q", "evaluate", "gone").mistake()
    wrong = labkit("evaluate", "gone", "-v")
    assert (wrong.status, "Traceback" in wrong.err) == (2, True)
    assert "Traceback" not in labkit("evaluate", "gone").err  # one call does not change the next


def test_data_list_describes_each_corpus(labkit: Labkit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "qqp").mkdir()
    (tmp_path / "qqp" / "labelled_train20k.tsv.gz").touch()
    monkeypatch.setenv("LABKIT_DATA", str(tmp_path))
    lines = labkit("data", "list").out.splitlines()
    for name, entry in CORPORA.items():
        line = next(line for line in lines if line.startswith(name + " "))
        assert entry.shape in line
        assert entry.licence in line
        assert (" yes " in line) == (entry.here() is not None)
    table = {row["name"]: row for row in labkit("data", "list", "--json").document()}
    assert list(table) == list(CORPORA)
    assert (table["qqp"]["rows"], table["qqp"]["here"]) == (404_290, True)
    assert table["questions"]["bytes"] == CORPORA["questions"].here().stat().st_size


def test_data_check_counts_rows_and_reports_repeats_and_conflicts(labkit: Labkit) -> None:
    Path("own.csv").write_text("text,label\nhello,x\nbye,y\nhello,x\n")
    done = labkit("data", "check", "own.csv", "--json")
    assert done.document()["rows"] == 2
    assert "row 4 repeats row 2" in done.err
    Path("own.csv").write_text("text,label\nhello,x\nhello,y\n")
    assert "'x' in row 2, 'y' in row 3" in labkit("data", "check", "own.csv").err
    Path("latin.csv").write_bytes("text,label\ncafé,x\nthé,y\n".encode("latin-1"))
    assert labkit("data", "check", "latin.csv", "--encoding", "latin-1").status == 0


# --- in a separate process -------------------------------------------------------------------------------------------


SLOW = {"torch", "pandas", "pyarrow", "plotly", "sklearn"}
TOLD = """
import sys, labkit.methods
from labkit.cli.main import COMMANDS, main
def loaded(*words):
    sys.argv = ["labkit", *words, "--help"]
    try:
        main()
    except SystemExit as end:
        print(end.code, sys.modules.keys() & %r, file=sys.stderr)
loaded()
print("numpy" in sys.modules, file=sys.stderr)
for name in COMMANDS:
    loaded(name)
"""


def test_help_imports_nothing_slow() -> None:
    done = subprocess.run([sys.executable, "-c", TOLD % SLOW], capture_output=True, text=True, check=True)
    said = done.stderr.splitlines()
    assert (said[0], said[1], {*said[2:]}) == ("0 set()", "False", {"0 set()"})


@pytest.mark.whole
def test_completion() -> None:
    def completed(*words: str) -> list[str]:
        asked = {"_LABKIT_COMPLETE": "complete_bash", "COMP_WORDS": " ".join(("labkit", *words))}
        environment = os.environ | asked | {"COMP_CWORD": str(len(words))}
        return subprocess.check_output([sys.executable, "-m", "labkit"], text=True, env=environment).split()

    assert completed("data", "check", "qu") == ["questions"]
    assert completed("train", "film", "--corpus", "mi") == []  # so that the shell completes files
    assert completed("train", "sb") == ["sbert-lp", "sbert"]


@pytest.mark.whole
def test_ctrl_c_is_130_and_leaves_nothing(tmp_path: Path) -> None:
    make = ("data", "make", "corpus", "places", "--rows", "100000000", "--out", "p.csv")
    command = [sys.executable, "-m", "labkit", *make]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        while not any(tmp_path.iterdir()):  # it has begun to write
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=HANG)
    assert process.returncode == 130, said
    assert "Traceback" not in said
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_while_python_runs_a_string_is_130_too(tmp_path: Path) -> None:
    """Dataclasses execute strings on import. Python would remember the interrupt and end by SIGINT."""
    (tmp_path / "stopped.py").write_text(
        "import labkit.cli.main as program\nprogram.app = lambda **_: exec('raise KeyboardInterrupt')\nprogram.main()\n"
    )
    done = subprocess.run([sys.executable, "-m", "stopped"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 130, done.stderr


@pytest.mark.whole
@pytest.mark.parametrize("words", [("data", "list"), ("encode", "runs/tfidf-mine-seed0", "--output", "-")])
def test_a_closed_pipe_ends_it_silently(labkit: Labkit, words: tuple[str, ...]) -> None:
    assert labkit("train", "tfidf", "--corpus", "mine.csv").status == 0
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-m", "labkit", *words], **pipes) as process:
        process.stdout.close()
        process.stdin.write(b"the cat sleeps\n" * 9)
        process.stdin.close()
        said = process.stderr.read()
    assert (process.returncode, said) == (141, b"")


@pytest.mark.whole
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_standard_output_on_a_full_disk() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([sys.executable, "-m", "labkit", "data", "list"], stdout=full, stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr.count(b"\n")) == (2, 1)


# --- JupyterLab and the app ------------------------------------------------------------------------------------------


def opening(monkeypatch: pytest.MonkeyPatch, *words: str) -> list[str]:
    """The command line that would be started; empty if none is."""
    started: list[str] = []
    monkeypatch.setattr(os, "execv", lambda program, command: started.extend(command))
    for name, value in {"LABKIT_CLASSROOM": "", "PYTHONPATH": "/of/mine", "JUPYTER_CONFIG_PATH": "/of/mine"}.items():
        monkeypatch.setenv(name, value)
    for name in ("LABKIT_VISITOR_TOKEN", "LABKIT_TEACHER_TOKEN", "OMP_WAIT_POLICY"):
        monkeypatch.setenv(name, "")
    monkeypatch.setattr(sys, "argv", ["labkit", *words])
    with pytest.raises(SystemExit):
        main()
    return started


def test_lab_opens_copies_and_never_the_sources(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    command = opening(monkeypatch, "lab")
    assert f"--notebook-dir={tmp_path / 'lab'}" in command
    assert "--ip=127.0.0.1" in command
    assert (tmp_path / "lab" / "00_tour.ipynb").is_file()
    assert os.environ["JUPYTER_CONFIG_PATH"].endswith(f"settings{os.pathsep}/of/mine")
    assert opening(monkeypatch, "lab", "mine", "--copy-only") == []
    assert (tmp_path / "mine" / "00_tour.ipynb").is_file()


def test_the_app_opens_in_the_current_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "streamlit.py").write_text("raise SystemExit('a file of the user')")
    command = opening(monkeypatch, "app", "--port", "65123")
    assert Path.cwd() == tmp_path  # where `labkit train` also puts runs/
    start = command[: command.index("run")]
    said = subprocess.run([*start, "version"], capture_output=True, text=True, check=False).stdout
    assert said.startswith("Streamlit")
    assert Path(command[len(start) + 1]).parts[-2:] == ("app", "main.py")
    assert {"--server.address=127.0.0.1", "--server.port=65123", "--server.maxUploadSize=100"} <= set(command)
    assert os.environ["PYTHONPATH"].split(os.pathsep) == [str(ROOT), "/of/mine"]


@pytest.mark.parametrize("words", [("app",), ("lab",)])
def test_missing_packages_are_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "plotly", None)
    assert opening(monkeypatch, *words) == []
    assert "pip install" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", [(), ("--classroom",)])
def test_a_busy_port_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        port = str(busy.getsockname()[1])
        assert opening(monkeypatch, "app", "--port", port, *words) == []
    done = capsys.readouterr()
    assert done.out == ""
    assert port in done.err
    assert f"--server.port={port}" in opening(monkeypatch, "app", "--port", port, *words)


def test_a_classroom_allows_the_hosts_that_it_prints(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command = opening(monkeypatch, "app", "--port", "65123", "--classroom", "--host", "lab.example")
    assert not any("maxUploadSize" in word for word in command)  # so the lower limit in config.toml applies
    settings = Path(command[command.index("run") + 1]).parent / ".streamlit" / "config.toml"
    assert "maxUploadSize = 10\n" in settings.read_text()
    hosts = {word.partition("=")[2] for word in command if word.startswith("--server.allowedHosts=")}
    named = set(re.findall(r"http://([^:]+):65123", capsys.readouterr().out))
    assert {"lab.example", socket.gethostname()} <= named
    assert hosts == named | {"localhost", "127.0.0.1", "::1"}
    assert "--server.address=0.0.0.0" in command
    for words in (("--host", "lab.example"), ("--token", "blue-house-77"), ("--host", "bad host/", "--classroom")):
        assert opening(monkeypatch, "app", *words) == []
        assert words[0] in capsys.readouterr().err


def test_a_classroom_has_two_tokens_hidden_from_the_process_list(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = []
    for words in ((), (), ("--token", "blue-house-77")):
        command = opening(monkeypatch, "app", "--port", "65123", "--classroom", *words)
        visitors, teacher = capsys.readouterr().out.splitlines()[:2]
        said += [re.findall(r"/\?token=([\w.~-]+)", visitors)[0]]
        said += re.findall(r"/teacher_page\?token=([\w.~-]+)", teacher)
        assert said[-2:] == [os.environ["LABKIT_VISITOR_TOKEN"], os.environ["LABKIT_TEACHER_TOKEN"]]
        assert not any(token in word for word in command for token in said)
        assert Path(command[command.index("run") + 1]).name == "guarded.py"
    assert len(set(said)) == 6
    assert said[4] == "blue-house-77"
    monkeypatch.setenv("LABKIT_TOKEN", "green-house-77")
    opening(monkeypatch, "app", "--port", "65123", "--classroom")
    assert os.environ["LABKIT_VISITOR_TOKEN"] == "green-house-77"
    assert "LABKIT_TOKEN" not in os.environ
    capsys.readouterr()
    for token in ("short", "with a blank in it", "a" * 129, "café-house-77"):
        assert opening(monkeypatch, "app", "--port", "65123", "--classroom", "--token", token) == []
        err = capsys.readouterr().err
        assert "--token" in err
        assert token not in err


def test_the_playground_is_written_opened_and_never_overwritten(
    labkit: Labkit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[str] = []
    monkeypatch.setattr("webbrowser.open", shown.append)
    (tmp_path / "mine.csv").write_text("text,label\na cat,x\na dog,x\na car,y\na bus,y\n")
    assert labkit("playground", "mine.csv", "--out", "mine.html").status == 0
    assert shown == [(tmp_path / "mine.html").as_uri()]
    assert "a bus" in (tmp_path / "mine.html").read_text("utf-8")
    assert "mine.html" in labkit("playground", "--out", "mine.html").mistake()
    assert labkit("playground", "--out", "mine.html", "--force", "--no-browser").status == 0
    assert len(shown) == 1
    (tmp_path / "pairs.csv").write_text("text_a,text_b,label\na,b,1\nc,d,0\n")
    said = labkit("playground", "pairs.csv", "--out", "other.html").mistake()
    assert "text" in said
    assert "label" in said


# --- reference pages generated from the code -------------------------------------------------------------------------


def test_every_function_command_and_setting_has_an_entry() -> None:
    page = reference.api()
    entry = page.partition("\n### load\n")[2].partition("\n###")[0]
    assert "load(name: str | Path, columns: Mapping[str, str] | None = None) -> Corpus\n" in entry
    assert "```python\n>>> load(\"topics\").name\n'topics'\n```" in entry
    assert " at 0x" not in page  # the page must not change between builds
    helps = reference.commands()
    for name, option in (("train", "--set"), ("data mine", "--ranks"), ("class collect", "--figure")):
        assert option in helps.partition(f"## labkit {name}\n")[2].partition("\n## ")[0]
    table = reference.settings().partition("## bag\n")[2].partition("\n## ")[0]
    for name in package.Bag().settings.values():
        assert f"| `{name}` | " in table

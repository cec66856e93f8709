"""The program as a user meets it: in a process of its own, with its exit status and what it says."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from labkit.corpora import CORPORA
from labkit.lab.cli.main import main
from tests.waiting import HANG

from .conftest import Labkit


def process(*words: str, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "labkit", *words]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=os.environ | environment, check=False)


def test_list_says_what_each_corpus_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "qqp").mkdir()
    (tmp_path / "qqp" / "labelled_train20k.tsv.gz").write_bytes(gzip.compress(b"text_a\ttext_b\tlabel\na\tb\t1\n"))
    monkeypatch.setenv("LABKIT_DATA", str(tmp_path))
    done = process("data", "list")
    assert done.returncode == 0
    for name, entry in CORPORA.items():
        line = next(line for line in done.stdout.splitlines() if line.startswith(name + " "))
        assert entry.shape in line
        assert entry.licence in line
        assert (" yes " in line) == (entry.here() is not None)
    assert re.search(r"^qqp +Pairs +1 of 404,290 ", done.stdout, re.MULTILINE)
    table = json.loads(process("data", "list", "--json").stdout)
    assert [(row["rows"], row["published"]) for row in table if row["name"] == "qqp"] == [(1, 404_290)]
    assert [row["name"] for row in table] == list(CORPORA)
    assert all(row["bytes"] > 0 for row in table if row["kind"] == "embedded")


@pytest.mark.whole
def test_check_counts_and_measures() -> None:
    done = process("data", "check", "topics", "--measure")
    assert done.returncode == 0
    assert f"Labelled('topics', {CORPORA['topics'].rows} rows" in done.stdout
    assert "kNN accuracy, k = 3: chance 0." in done.stdout


def test_an_encoding_that_would_change_nothing(tmp_path: Path) -> None:
    done = process("data", "check", "topics", "--encoding", "latin-1", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == "labkit: --encoding is 'latin-1', but topics is not a file of your own; leave it out\n"


def test_check_a_file_of_your_own(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("text,label\nhello,x\nbye,y\nhello,x\n")
    done = process("data", "check", "mine.csv", cwd=tmp_path)
    assert done.returncode == 0
    assert "Labelled('mine', 2 rows" in done.stdout
    assert done.stderr == "labkit: note: mine.csv: repeated rows were left out: row 4 repeats row 2\n"
    (tmp_path / "mine.csv").write_text("text,label\nhello,x\nhello,y\n")
    assert process("data", "check", "mine.csv", cwd=tmp_path).stderr.startswith(
        "labkit: note: mine.csv: a text has more than one label (the first is 'hello': 'x' in row 2, 'y' in row 3)"
    )
    (tmp_path / "latin.csv").write_bytes("text,label\ncafé,x\nthé,y\n".encode("latin-1"))
    assert process("data", "check", "latin.csv", "--encoding", "latin-1", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("data", "check", "bad.csv"), "bad.csv row 3: text is '', expected a text that is not empty"),
        (("data", "check", "latin.csv"), "latin.csv line 2: byte 0xe9"),
        (("data", "check", "."), "expected a file named .csv"),
        (("data", "check", "no.csv"), "no.csv does not exist"),
        (("data", "check", "qestions"), "did you mean 'questions'?"),
        (("data", "check", "zzzz"), "`labkit data list` names them all"),
        (("data", "get", "zzzz"), "corpus is 'zzzz', expected a published one; `labkit data list` names them all"),
        (("data", "get", "stbs"), "corpus is 'stbs', expected a published one; did you mean 'stsb'?"),
        (("data", "check", "good.csv", "--encoding", "klingon"), "encoding is 'klingon', expected one that Python"),
        (("data", "make", "zzzz", "--out", "a.csv"), "corpus is 'zzzz', expected one of questions"),
        (("data", "make", "topcis", "--out", "a.csv"), "triplets or runs; did you mean 'topics'?"),
        (("data", "make", "topics", "--out", "a.txt"), "a.txt: expected a file named .csv"),
        (("data", "make", "topics", "--out", "no/a.csv"), "'no' does not exist"),
        (("data", "make", "articles", "--out", "a.csv"), "out is 'a.csv', expected a .jsonl"),
        (
            ("data", "make", "topics", "--out", "a.csv", "--rows", "0"),
            "Invalid value for '--rows'",
        ),
        (("data", "make", "topics"), "--out is missing"),
        (("data", "brew"), "No such command 'brew'"),
        (("brew",), "No such command 'brew'"),
    ],
)
def test_a_mistake_is_one_line_and_status_2(labkit: Labkit, tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    (tmp_path / "bad.csv").write_text("text,label\na,x\n,y\n")
    (tmp_path / "latin.csv").write_bytes("text,label\ncafé,x\n".encode("latin-1"))
    (tmp_path / "good.csv").write_text("text,label\na,x\nb,y\n")
    before = sorted(tmp_path.iterdir())
    assert said in labkit(*words).mistake()
    assert sorted(tmp_path.iterdir()) == before


def test_a_mistake_in_a_process_of_its_own(tmp_path: Path) -> None:
    done = process("data", "check", "zzzz", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "`labkit data list` names them all" in done.stderr


def test_debugging_shows_the_whole(tmp_path: Path) -> None:
    assert "Traceback" in process("data", "check", "no.csv", cwd=tmp_path, LABKIT_DEBUG="1").stderr


@pytest.mark.whole
def test_make_is_the_committed_file_and_grows_with_rows(tmp_path: Path) -> None:
    path = CORPORA["topics"].here()
    assert path is not None
    assert process("data", "make", "topics", "--out", "t.csv", cwd=tmp_path).returncode == 0
    assert (tmp_path / "t.csv").read_bytes() == path.read_bytes()
    done = process("data", "make", "places", "--rows", "500", "--seed", "9", "--out", "p.csv", cwd=tmp_path)
    assert done.returncode == 0
    assert process("data", "check", "p.csv", cwd=tmp_path).returncode == 0


@pytest.mark.whole
def test_ctrl_c_is_130_and_leaves_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "labkit", "data", "make", "places", "--rows", "100000000", "--out", "p.csv"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        while not any(tmp_path.iterdir()):  # it has begun to write
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=HANG)
    assert process.returncode == 130, said
    assert said.splitlines()[-1].endswith("labkit: stopped")
    assert "Traceback" not in said
    assert list(tmp_path.iterdir()) == []


def test_help_and_version() -> None:
    assert "data" in process("--help").stdout
    assert process("--version").stdout.strip().count(".") == 2


def test_lab_opens_copies_and_never_the_sources(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    started: list[list[str]] = []
    monkeypatch.setattr(os, "execv", lambda _, command: started.append(command))
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", "/of/mine")
    monkeypatch.setenv("PYTHONPATH", "/of/mine")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["labkit", "lab"])
    with pytest.raises(SystemExit):
        main()
    assert f"--notebook-dir={tmp_path / 'lab'}" in started[0]
    assert "--ip=127.0.0.1" in started[0]
    assert (tmp_path / "lab" / "00_tour.ipynb").is_file()
    assert os.environ["JUPYTER_CONFIG_PATH"].endswith(f"settings{os.pathsep}/of/mine")


def test_lab_only_copies_where_another_program_shows_notebooks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("labkit.lab.cli.main.find_spec", lambda _: None)  # and JupyterLab need not be there
    monkeypatch.setattr(os, "execv", lambda program, command: pytest.fail("it was started all the same"))
    monkeypatch.setattr(sys, "argv", ["labkit", "lab", "mine", "--copy-only"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    assert (tmp_path / "mine" / "00_tour.ipynb").is_file()
    assert capsys.readouterr().out.startswith("copied into mine: 00_tour, 01_pairs_and_weights")


# --- the app ---------------------------------------------------------------------------------------------------------


def opening(monkeypatch: pytest.MonkeyPatch, *words: str) -> list[str]:
    """What `labkit app` would start; nothing if it does not come to that."""
    started: list[str] = []
    monkeypatch.setattr(os, "execv", lambda program, command: started.extend(command))
    monkeypatch.setenv("LABKIT_CLASSROOM", "")
    monkeypatch.setenv("PYTHONPATH", "/of/mine")
    monkeypatch.setenv("OMP_WAIT_POLICY", "PASSIVE")
    monkeypatch.setattr(sys, "argv", ["labkit", "app", *words])
    with pytest.raises(SystemExit):
        main()
    return started


def test_the_app_opens_where_one_stands(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "streamlit.py").write_text("raise SystemExit('a file of the user')")
    command = opening(monkeypatch, "--port", "65123")
    assert Path.cwd() == tmp_path  # where `labkit train` puts runs/, too
    start = command[: command.index("run")]
    assert subprocess.run([*start, "version"], capture_output=True, text=True, check=False).stdout.startswith(
        "Streamlit"
    )
    assert Path(command[len(start) + 1]).parts[-2:] == ("app", "main.py")
    assert "--server.maxUploadSize=100" in command
    checkout = str(Path(__file__).resolve().parents[3])
    assert os.environ["PYTHONPATH"].split(os.pathsep) == [checkout, "/of/mine"]


@pytest.mark.parametrize(("missing", "words"), [("streamlit", ["app"]), ("jupyterlab ipywidgets", ["lab"])])
def test_what_is_missing_is_named(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    missing: str,
    words: list[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("labkit.lab.cli.main.find_spec", lambda _: None)
    monkeypatch.setattr(os, "execv", lambda program, command: pytest.fail("it was started all the same"))
    monkeypatch.setattr(sys, "argv", ["labkit", *words])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    done = capsys.readouterr()
    assert done.err.endswith(f"; run pip install {missing}\n")
    assert done.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", [(), ("--classroom",)])
def test_a_busy_port_is_said_before_an_address(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        port = busy.getsockname()[1]
        assert opening(monkeypatch, "--port", str(port), *words) == []
    done = capsys.readouterr()
    assert done.out == ""
    assert done.err.startswith(f"labkit: --port is {port}, which cannot be had")
    assert "make app PORT=" in done.err
    assert done.err.count("\n") == 1
    assert f"--server.port={port}" in opening(monkeypatch, "--port", str(port), *words)
    assert capsys.readouterr().out.startswith("labkit is at http://")


def test_a_classroom_answers_to_the_names_that_it_says(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command = opening(monkeypatch, "--port", "65123", "--classroom", "--host", "lab.example")
    assert not any("maxUploadSize" in word for word in command)  # so that the lower one holds: that of config.toml
    settings = Path(command[command.index("run") + 1]).parent / ".streamlit" / "config.toml"
    assert "maxUploadSize = 10\n" in settings.read_text()
    hosts = {word.partition("=")[2] for word in command if word.startswith("--server.allowedHosts=")}
    said = capsys.readouterr().out
    named = set(re.findall(r"http://([^:]+):65123", said))
    assert {"lab.example", socket.gethostname()} <= named
    assert hosts == named | {"localhost", "127.0.0.1", "::1"}
    assert "--server.address=0.0.0.0" in command
    for words in (("--host", "lab.example"), ("--token", "blue-house-77")):
        assert opening(monkeypatch, *words) == []
        assert f"{words[0]} is {words[1]!r}, expected none without --classroom" in capsys.readouterr().err


def test_a_classroom_has_two_tokens_that_no_list_of_processes_shows(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = []
    monkeypatch.setenv("LABKIT_VISITOR_TOKEN", "")
    monkeypatch.setenv("LABKIT_TEACHER_TOKEN", "")
    for words in ((), (), ("--token", "blue-house-77")):
        command = opening(monkeypatch, "--port", "65123", "--classroom", *words)
        visitors, teachers = (
            set(re.findall(rf"/{page}\?token=(\S+?);?\s", line))
            for page, line in zip(
                ("", "teacher_page"), capsys.readouterr().out.splitlines(keepends=True)[:2], strict=True
            )
        )
        said += [*visitors, *teachers]
        assert said[-2:] == [os.environ["LABKIT_VISITOR_TOKEN"], os.environ["LABKIT_TEACHER_TOKEN"]]
        assert not any(token in word for word in command for token in said)
        assert Path(command[command.index("run") + 1]).name == "guarded.py"
    assert len(set(said)) == 6
    assert said[4] == "blue-house-77"
    monkeypatch.setenv("LABKIT_TOKEN", "green-house-77")
    opening(monkeypatch, "--port", "65123", "--classroom")
    assert os.environ["LABKIT_VISITOR_TOKEN"] == "green-house-77"
    assert "LABKIT_TOKEN" not in os.environ
    capsys.readouterr()
    for token in ("short", "with a blank in it", "a" * 129, "café-house-77"):
        assert opening(monkeypatch, "--port", "65123", "--classroom", "--token", token) == []
        err = capsys.readouterr().err
        assert f"--token has {len(token)} characters, expected 12 to 128" in err
        assert token not in err


def test_make_app_takes_a_port() -> None:
    make = ["make", "--no-print-directory", "--dry-run", "app"]
    if shutil.which("make") is None:
        pytest.skip("needs make")
    root = Path(__file__).resolve().parents[3]
    for words, wanted in (([], "labkit app"), (["PORT=8600"], "labkit app --port 8600")):
        done = subprocess.run([*make, *words], cwd=root, capture_output=True, text=True, check=True)
        assert done.stdout.rstrip().endswith(wanted)


def test_the_playground_is_written_opened_and_never_written_over(
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
    assert "text,label" in labkit("playground", "pairs.csv", "--out", "other.html").mistake()

"""One job in a process of its own: the app's side, and what runs in it.

The process runs this file, `python app/training_process.py train sentpwnet --corpus topics --out runs/mine`: the
ordinary command line at low priority. It stops as on Ctrl-C, keeping its last checkpoint, when its standard input is
closed, which also happens when the app ends in any way, and on SIGINT or SIGTERM.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import labkit
from labkit.progress import NOTED

# --- the app's side ----------------------------------------------------------------------------------------------

PROGRAM = (sys.executable, "-P", str(Path(__file__).resolve()))
SAID, PROGRESS = ".said.txt", ".progress.json"  # an upload is never hidden, so it cannot have these names
PATIENCE = 40.0  # seconds that a job has to stop
LAST = 100_000  # bytes of its output that are read


def started(words: Sequence[str], folder: Path, program: Sequence[str] = PROGRAM) -> subprocess.Popen[bytes]:
    """Start a job in its private folder, which gets its progress and its output."""
    root = str(Path(labkit.__file__).resolve().parents[1])
    paths = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
    (folder / PROGRESS).unlink(missing_ok=True)  # of an earlier start
    environment = os.environ | {NOTED: str(folder / PROGRESS), "PYTHONPATH": paths, "PYTHONIOENCODING": "utf-8"}
    with (folder / SAID).open("wb") as said:
        return subprocess.Popen(
            [*program, *words],
            stdin=subprocess.PIPE,  # its end tells the job that the app is gone
            stdout=subprocess.DEVNULL,
            stderr=said,
            cwd=folder,
            env=environment,
            start_new_session=True,  # Ctrl-C in the app's terminal is for the app, which stops its job itself
        )


def stop(process: subprocess.Popen[bytes]) -> None:
    """Stop it as Ctrl-C does, and kill it if it does not react within a while.

    A signal could come before the process handles any; the end of its input is seen whenever it begins to read.
    """
    assert process.stdin
    process.stdin.close()
    killer = threading.Timer(PATIENCE, process.kill)
    killer.daemon = True
    killer.start()


def verdict(folder: Path, status: int) -> tuple[str, tuple[str, ...]]:
    """Why a job ended as it did, in one sentence, empty if it went well; and the notes that it made."""
    lines = _output(folder / SAID)
    named = [line.removeprefix("labkit: ") for line in lines if line.startswith("labkit: ")]
    notes = tuple(dict.fromkeys(line.removeprefix("note: ") for line in named if line.startswith("note: ")))
    reasons = [line for line in named if not line.startswith("note: ")]
    if status == 0:
        return "", notes
    if status < 0:
        name = signal.Signals(-status).name if -status in signal.valid_signals() else str(-status)
        return f"the run was killed ({name}), perhaps because memory ran out; try a smaller corpus", notes
    last = f"the run ended with status {status}: {lines[-1] if lines else 'no output'}"
    return (reasons or [last])[-1], notes


def _output(path: Path) -> list[str]:
    """The last lines of a file; a progress bar is its last state."""
    try:
        text = path.read_bytes()[-LAST:].decode("utf-8", "replace")
    except OSError:
        return []
    lines = (line.rsplit("\r", 1)[-1].strip() for line in text.split("\n"))
    return [line[:1000] for line in lines if line]


# --- what runs there ---------------------------------------------------------------------------------------------

NICE, LAST_CHANCE = 10, 30.0  # seconds that it has to stop by itself


def watch_parent() -> None:
    """Stop when standard input ends. Bare reads: a buffered reader would be in the way when Python shuts down."""
    while os.read(0, 1024):
        pass
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(LAST_CHANCE)
    os.kill(os.getpid(), signal.SIGTERM if os.name == "nt" else signal.SIGKILL)


def main() -> None:
    """Run the command line with the words of this process."""
    for sign in (signal.SIGINT, signal.SIGTERM):  # a program in the background inherits that Ctrl-C is ignored
        signal.signal(sign, signal.default_int_handler)
    with suppress(AttributeError, OSError):
        os.nice(NICE)
    threading.Thread(target=watch_parent, daemon=True).start()
    try:
        from labkit.cli.main import main as command_line

        sys.argv[0] = "labkit"
        command_line()
    except KeyboardInterrupt:  # before the command line could say so itself
        sys.exit(130)


if __name__ == "__main__":
    main()

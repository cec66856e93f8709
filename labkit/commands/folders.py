"""Where a training goes, and the command that takes it up again after Ctrl-C."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from labkit.progress import first_process

if TYPE_CHECKING:
    from labkit.holding import Hold

AUTO = "auto"  # --resume: begin, go on, or be done already, whichever it is


def run_folder(out: Path | None, method: str, corpus: str, seed: int, *, resume: str | None) -> Path:
    """The folder to train into, or to number; a ValueError if the wish and what lies there do not go together."""
    if resume not in (None, "", AUTO):
        raise ValueError(f"--resume is {resume!r}, expected {AUTO} or nothing after it")
    if out is None:
        if resume == "":
            raise ValueError(
                "--resume needs --out, the folder of the interrupted training; name it, or take --resume auto"
            )
        out = Path("runs", f"{method}-{_bare(corpus)}-seed{seed}")
    elif first_process():  # the others may come after the first has begun to write
        _check(out, resume)
    if not _writable(out):
        raise ValueError(f"--out is {str(out)!r}, where no folder can be made or written into; choose another")
    return out


@contextmanager
def claimed(folder: Path, *, numbered: bool, resume: str | None) -> Iterator[Hold | Path | None]:
    """The folder for the time of the block, for this training alone: if `numbered`, the first of name, name-2, ... that
    nobody has, else this one, or a ValueError that says who has it. Of several processes the first one claims; the
    others only read in it, where there is something to go on from."""
    from labkit.holding import Held, Hold

    if not first_process():
        yield folder if resume is not None else None
        return
    names = (folder if number == 1 else folder.with_name(f"{folder.name}-{number}") for number in count(1))
    while True:
        with suppress(*((Held, FileExistsError) if numbered else ())):
            hold = Hold(next(names), new=numbered)
            break
    with hold:
        yield hold


def way_back(folder: Path | None, words: Sequence[str]) -> str:
    """What to say after Ctrl-C: where the last checkpoint is, and the command that goes on."""
    from labkit.runs import CHECKPOINT, has_checkpoint

    if folder is not None and has_checkpoint(folder):
        command = shlex.join([*_program(words), *words, "--out", str(folder), "--resume"])
        return f"stopped; the last checkpoint is {folder / CHECKPOINT}; `{command}` goes on"
    if folder is not None and (folder / "run.json").is_file():
        return f"stopped; the training is finished: `labkit evaluate {shlex.quote(str(folder))}` gives its figures"
    return "stopped before there was a checkpoint; nothing is kept"


def _check(out: Path, resume: str | None) -> None:
    from labkit.holding import Held, holder
    from labkit.runs import finished, last_checkpoint, read_checkpoint

    if who := holder(out):
        raise Held(f"--out {str(out)!r} is being trained by {who}; wait for it, or name another folder")
    if resume == "" and read_checkpoint(out) is None:  # or the reason why it cannot be gone on with
        if finished(out):
            raise ValueError(
                f"--out {str(out)!r} holds a finished run: there is nothing to resume; `labkit evaluate "
                f"{shlex.quote(str(out))}` gives its figures"
            )
        raise ValueError(
            f"--out {str(out)!r} holds no interrupted training: there is nothing to resume; leave out --resume to begin"
        )
    if resume is None and last_checkpoint(out)[0] is not None:  # one that is damaged is no hindrance
        raise ValueError(f"--out {str(out)!r} holds an interrupted training; add --resume to go on, or name another")


def _bare(corpus: str) -> str:
    """A corpus' name as part of a folder's name: of a file, without its folder and endings."""
    return Path(corpus).name.split(".")[0] or "corpus"


def _writable(folder: Path) -> bool:
    """Whether the nearest folder that is there may be written into."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return folder.is_dir() and os.access(folder, os.W_OK)


def _program(words: Sequence[str]) -> list[str]:
    if "WORLD_SIZE" in os.environ and "--processes" not in words:
        each = os.environ.get("LOCAL_WORLD_SIZE", os.environ["WORLD_SIZE"])
        return ["torchrun", "--nproc-per-node", each, "-m", "labkit"]
    return ["labkit"]

"""Where a training goes, and the command that takes it up again after Ctrl-C."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from itertools import count
from pathlib import Path

from labkit.progress import first_process


def run_folder(out: Path | None, method: str, corpus: str, seed: int, *, resume: bool) -> Path:
    """The folder to train into; a ValueError if the wish and what lies there do not go together."""
    if out is None:
        if resume:
            raise ValueError("--resume needs --out, the folder of the interrupted training; name it")
        out = _free(Path("runs"), f"{method}-{_bare(corpus)}-seed{seed}")
    elif first_process():  # the others may come after the first has begun to write
        _check(out, resume=resume)
    if not _writable(out):
        raise ValueError(f"--out is {str(out)!r}, where no folder can be made or written into; choose another")
    return out


def way_back(folder: Path, words: Sequence[str]) -> str:
    """What to say after Ctrl-C: where the last checkpoint is, and the command that goes on."""
    from labkit.runs import CHECKPOINT

    if (folder / CHECKPOINT).is_file():
        command = shlex.join([*_program(), *words, "--out", str(folder), "--resume"])
        return f"stopped; the last checkpoint is {folder / CHECKPOINT}; `{command}` goes on"
    if (folder / "run.json").is_file():
        return f"stopped; the training is finished: `labkit evaluate {shlex.quote(str(folder))}` gives its figures"
    return "stopped before there was a checkpoint; nothing is kept"


def _check(out: Path, *, resume: bool) -> None:
    from labkit.runs import CHECKPOINT

    interrupted = (out / CHECKPOINT).is_file()
    if interrupted and not resume:
        raise ValueError(f"--out {str(out)!r} holds an interrupted training; add --resume to go on, or name another")
    if resume and not interrupted:
        holds = "a finished run" if (out / "run.json").is_file() else "no interrupted training"
        raise ValueError(f"--out {str(out)!r} holds {holds}: there is nothing to resume; leave out --resume to begin")


def _free(parent: Path, name: str) -> Path:
    """The first of name, name-2, name-3, ... that is not there."""
    names = (name if number == 1 else f"{name}-{number}" for number in count(1))
    return next(parent / found for found in names if not (parent / found).exists())


def _bare(corpus: str) -> str:
    """A corpus' name as part of a folder's name: of a file, without its folder and endings."""
    return Path(corpus).name.split(".")[0] or "corpus"


def _writable(folder: Path) -> bool:
    """Whether the nearest folder that is there may be written into."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return folder.is_dir() and os.access(folder, os.W_OK)


def _program() -> list[str]:
    if "WORLD_SIZE" in os.environ:
        each = os.environ.get("LOCAL_WORLD_SIZE", os.environ["WORLD_SIZE"])
        return ["torchrun", "--nproc-per-node", each, "-m", "labkit"]
    return ["labkit"]

"""What commands are given: corpora and runs. In: a name or a path as typed. Out: the thing, or one sentence why not."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labkit.lab.cli.saying import step
from labkit.progress import terminal

if TYPE_CHECKING:
    from labkit.corpora import Corpus
    from labkit.method import Method


# --- opening -----------------------------------------------------------------------------------------------------


def opened_corpus(name: str) -> Corpus:
    """The corpus of that name or in that file; a file's corpus is called by its path, so that it is found again."""
    from labkit.corpora import CORPORA, load

    with step(f"corpus {name} opened"):
        if name in CORPORA or not Path(name).exists():
            return load(name)
        return replace(corpus_of_file(Path(name)), name=str(Path(name)))


def corpus_of_file(path: Path, encoding: str = "utf-8-sig") -> Corpus:
    """The corpus in a file; one that takes more memory than there is, is refused and not killed."""
    from labkit.corpora import read_corpus
    from labkit.untrusted import within_memory

    with terminal("row") as progress, within_memory(path.name):
        return read_corpus(path, encoding=encoding, progress=progress)


def corpus_of_run(record: dict[str, Any], run: Path) -> Corpus:
    """The corpus that a run says it was trained on."""
    from labkit.corpora import CORPORA

    name = record["corpus"]
    if name not in CORPORA and not Path(name).is_file():
        raise ValueError(
            f"run {str(run)!r} was trained on {name!r}, which is neither a known corpus nor a file seen from this "
            "folder; name its corpus or another with --corpus"
        )
    return opened_corpus(name)


def record_of(run: Path) -> dict[str, Any]:
    """The run's `run.json`; a note if its training is not finished."""
    from labkit.folders import holder
    from labkit.runs import has_checkpoint, read_record

    who = holder(run)
    if not (run / "run.json").is_file() and (who or has_checkpoint(run)):
        raise ValueError(
            f"run {str(run)!r} is being trained by {who}, and there is nothing to use yet; wait for it"
            if who
            else f"run {str(run)!r} was interrupted before its first epoch was done, so there is nothing to use yet; "
            "train it on with --resume"
        )
    record = read_record(run)
    if record["state"] != "finished":
        what = f"{run} is being trained by {who}" if who else f"the training of {run} is not finished"
        warnings.warn(f"{what}: this is what it {'knows so far' if who else 'knew last'}", stacklevel=2)
    return record


def opened_method(run: Path) -> Method:
    """The method of a run, ready to encode."""
    with step(f"run {run} opened"):
        from labkit.methods import load

        return load(run)


class Watched:
    """A method whose `encode` shows progress on the terminal, for `labkit.evaluation.scores.score`."""

    def __init__(self, method: Method) -> None:
        self._method = method
        self.similarity = method.similarity
        self.pairwise_similarity = method.pairwise_similarity

    def encode(self, sentences: list[str]) -> Any:
        return self._method.encode(sentences, show_progress_bar=True)


# --- __init__ ----------------------------------------------------------------------------------------------------
#
# The command line, a module for each group of commands; `labkit/lab/cli/main.py` puts them together.


class Stopped(Exception):
    """Ctrl-C or SIGTERM, with what there is to say about it, in one line; `status` is that of the program."""

    def __init__(self, said: str, status: int = 130) -> None:
        super().__init__(said)
        self.status = status

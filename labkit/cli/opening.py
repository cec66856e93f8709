"""Open the runs and corpora that arguments name, score them, and write folders of shards, with progress and notes."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from labkit.cli.arguments import UTF8
from labkit.cli.output import step
from labkit.corpora import CORPORA, Corpus, load, read_corpus
from labkit.corpora.rows import OURS
from labkit.corpora.shards import shards_in
from labkit.locks import is_locked
from labkit.method import Method
from labkit.methods import METHODS, load_run
from labkit.progress import note, terminal
from labkit.runs import has_checkpoint, read_record
from labkit.scale import check_processes, clear, is_folder
from labkit.untrusted import within_memory

if TYPE_CHECKING:
    from labkit.evaluation.scores import Scores


def opened_corpus(name: str, columns: str = "", encoding: str = UTF8) -> Corpus:
    """The corpus with this name or in this file; a file's corpus is named by its path, so it can be found again."""
    with step(f"corpus {name} opened"):
        for option, given in (("--encoding", encoding != UTF8), ("--columns", columns)):
            if given and (name in CORPORA or Path(name).is_dir()):
                raise ValueError(f"{option} applies only to your own files; omit it for {name}")
        if name in CORPORA or not Path(name).exists():
            return load(name)
        corpus = load(name) if Path(name).is_dir() else corpus_of_file(Path(name), encoding, columns)
        return replace(corpus, name=str(Path(name)))


def corpus_of_file(path: Path, encoding: str = UTF8, columns: str = "") -> Corpus:
    """The corpus in a file; raises an error if it needs too much memory, before the system kills the program."""
    with terminal("row") as progress, within_memory(path.name):
        return read_corpus(path, encoding=encoding, columns=_named(columns), progress=progress)


def _named(columns: str) -> dict[str, str]:
    """{our column: theirs} from text=review,label=sentiment."""
    named = {}
    for each in columns.split(",") if columns else ():
        ours, _, theirs = (part.strip() for part in each.partition("="))
        if ours not in OURS or not theirs or ours in named:
            raise ValueError(
                f"--columns {each!r} is not like text=review; the names on the left, once each: {', '.join(OURS)}"
            )
        named[ours] = theirs
    return named


def corpus_for(run: Path, record: dict[str, Any], named: str | None = None) -> Corpus:
    """The given corpus or, if none is given, the corpus that the run was trained on."""
    name = record["corpus"]
    if named is None and name not in CORPORA and not (Path(name).is_file() or is_folder(name)):
        raise ValueError(
            f"run {str(run)!r} was trained on {name!r}, which is neither a known corpus nor a file that exists "
            "here; give a corpus with --corpus"
        )
    return opened_corpus(named or name)


def record_of(run: Path) -> dict[str, Any]:
    """The run's `run.json`, with a note if the run is not finished."""
    busy = is_locked(run)
    if not (run / "run.json").is_file() and (busy or has_checkpoint(run)):
        state = "is still training" if busy else "was interrupted in its first epoch"
        remedy = "wait until it has completed an epoch" if busy else "resume it with `labkit train ... --resume`"
        raise ValueError(f"run {str(run)!r} {state} and cannot be used yet; {remedy}")
    record = read_record(run)
    if record["state"] != "finished":
        what = f"{run} is being trained" if busy else f"{run} is not finished"
        note(f"{what}: these are its results {'so far' if busy else 'up to the last checkpoint'}", stacklevel=2)
    return record


def usable_method(run: Path) -> Method:
    """The method of a run, ready to encode, with a note if the run is not finished."""
    record_of(run)
    return load_run(run)


def fitted_method(name: str, corpus: Corpus) -> Any:
    """The method of a run, or the method of this name fitted to the corpus; its `encode` shows progress."""
    if name not in METHODS or Path(name).exists():
        return _with_progress(usable_method(Path(name)))
    with step(f"{name} fitted"), terminal("step") as progress:
        return _with_progress(METHODS[name]().fit(corpus, progress=progress))


def _with_progress(method: Method) -> Any:
    encode = partial(method.encode, show_progress_bar=True)
    return SimpleNamespace(encode=encode, similarity=method.similarity, similarity_pairwise=method.similarity_pairwise)


def scored(method: Method, corpus: Corpus, **how: Any) -> Scores:
    """The scores of a method; see `labkit.score`."""
    from labkit.evaluation.scores import score  # takes a second

    with step("scored"), terminal("sentence") as progress:
        return score(_with_progress(method), corpus, progress=progress, **how)


def workers_of(executor: str | None) -> dict[str, Any]:
    """The arguments of `labkit.scale.each` for local, local:N, ray or ray:HOST:PORT."""
    kind, _, rest = (executor or "local").partition(":")
    if kind == "local" and (not rest or rest.isdecimal()):
        workers = int(rest or os.cpu_count() or 1)
        check_processes("executor", workers)
        return {"workers": workers}
    if kind == "ray":
        return {"ray": rest}
    raise ValueError(f"executor {executor!r} is not local, local:N, ray or ray:HOST:PORT; local uses every core")


def written_shards(write: Callable[..., Any], *given: Any, out: Path, force: bool, **how: Any) -> tuple[Any, int]:
    """Write a folder of shards with `write(*given, out, **how)`; return its result and the number of shards.

    With `force`, the shards of an earlier call are removed; otherwise that call is resumed.
    """
    if force and is_folder(out):
        clear(out)
    with step("written"), terminal("shard") as progress:
        made = write(*given, out, **how, progress=progress)
    return made, len(shards_in(out))

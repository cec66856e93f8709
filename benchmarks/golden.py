"""Does another checkout of labkit compute the same numbers? Both run here, one after the other, and are compared.

    python -m benchmarks.golden OTHER_CHECKOUT           this checkout and that one, one row per method and part
    python -m benchmarks.golden --record FILE.npz        what one checkout computes; the first form calls it twice

No numbers are stored with the project, because another processor rounds differently. Recorded with seed 0 on one
thread, with two epochs where there are epochs:

    fit      every method on every corpus: vectors, scores on dev and the columns of its history
    steps    every loss with every miner, and every encoder: loss and gradient norm in the history of some 20 steps
    export   the vectors of every export
    run      the vectors of every bundled run

A case that only one checkout refuses is listed too. If a setting is being renamed, list both names in `RENAMED`; each
checkout gets the one that it knows.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from labkit.adapters.export import FORMS, export
from labkit.corpora import load
from labkit.corpora.catalogue import DATA
from labkit.evaluation.scores import score
from labkit.methods import METHODS, load_run
from labkit.pairs import LOSSES

BOUND = 1e-5  # relative to the largest number of the case
SMALL = {"epochs": 2, "batch": 16, "size": 12, "hidden": 12, "dimension": 12, "rank": 12, "device": "cpu"}
RENAMED: dict[str, str] = {}  # name of a setting in this file -> its name in the other checkout
CORPORA = ("questions", "captions", "articles", "places", "relatedness", "topics")
ROWS = {"train": 160, "dev": 60, "test": 60}
ASKED = 40  # sentences whose vectors are recorded
Cases = dict[str, Any]


# --- record ------------------------------------------------------------------------------------------------------


def record(only: str) -> Cases:
    """The arrays of every case whose name begins with `only`, from the checkout that is imported."""
    cases: Cases = {}
    for name, case in all_cases():
        if not name.startswith(only):
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                cases |= {f"{name}: {key}": np.asarray(array, dtype=np.float64) for key, array in case().items()}
        except ValueError:  # the method does not support this corpus or this export
            cases[f"{name}: refused"] = np.zeros(0)
        print(name, file=sys.stderr, flush=True)
    return cases


def all_cases() -> Iterator[tuple[str, Callable[[], Cases]]]:
    """The name and function of each case."""
    for method in METHODS:
        for corpus in CORPORA:
            yield f"fit {method} {corpus}", partial(fitted, method, corpus)
    for loss in LOSSES:
        for miner in ("informative", "hardest", "random", "none"):
            yield f"steps {loss} {miner}", partial(steps, loss=loss, miner=miner)
    for encoder in ("bag", "mean", "cnn", "lstm", "bilstm"):
        yield f"steps {encoder}", partial(steps, encoder=encoder)
    for method in ("sentpwnet", "bag", "mean-vectors", "sbert"):
        for form in FORMS:
            yield f"export {method} {form}", partial(exported, method, form)
    for folder in sorted(path.parent for path in (DATA / "runs").glob("*/run.json")):
        yield f"run {folder.name}", partial(bundled, folder)


def fitted(name: str, corpus: str) -> Cases:
    """Vectors, scores and history of a short training."""
    data = some(corpus)
    method = small(name)
    method.fit(data)
    cases: Cases = {"vectors": rows_of(method, asked(data))}
    cases |= {f"history {column}": method.history.column(column) for column in method.history.columns}
    return cases | {f"dev {metric}": value for metric, value in score(method, data, split="dev").figures.items()}


def steps(**settings: Any) -> Cases:
    """The history of two epochs of ten steps."""
    method = small("sentpwnet", **{"encoder": "mean", "loss": "locality", **settings})
    method.fit(some("questions"))
    return {column: method.history.column(column) for column in method.history.columns}


def exported(name: str, form: str) -> Cases:
    """The vectors of an export, computed by the library it is for."""
    data = some("questions")
    method = small(name)
    method.fit(data)
    with tempfile.TemporaryDirectory() as folder:
        export(method, Path(folder) / "model", to=form)
        return {"vectors": FORMS[form].read(Path(folder) / "model", asked(data))}


def bundled(folder: Path) -> Cases:
    """The vectors of a bundled run."""
    return {"vectors": rows_of(load_run(folder), asked(some("questions")))}


def small(name: str, **more: Any) -> Any:
    """The method with settings that train within seconds."""
    known = {field.name for field in fields(METHODS[name].Settings)}
    given = {**SMALL, **({"base": "lsa"} if "base" in known and "loss" not in known else {}), **more}
    given = {key if key in known else RENAMED.get(key, key): value for key, value in given.items()}
    return METHODS[name](**{key: value for key, value in given.items() if key in known})


def some(name: str) -> Any:
    """The first rows of each split of a bundled corpus."""
    corpus, shrink = load(name), 8 if name == "articles" else 1
    rows = ([row for row, of in enumerate(corpus.splits) if of == split][: ROWS[split] // shrink] for split in ROWS)
    return corpus.take([row for split in rows for row in split])


def asked(corpus: Any) -> list[str]:
    """The sentences whose vectors are recorded, with an empty one and an unknown word."""
    return [*corpus.sentences()[:ASKED], "", "zyx qwv"]


def rows_of(method: Any, sentences: list[str]) -> np.ndarray:
    """The vectors as a dense array."""
    rows = method.encode(sentences)
    return rows.toarray() if hasattr(rows, "toarray") else np.asarray(rows)


# --- compare -----------------------------------------------------------------------------------------------------


def compare(other: Path, only: str) -> str:
    """The table of differences between both checkouts."""
    here = Path(__file__).resolve().parents[1]
    with tempfile.TemporaryDirectory() as folder:
        first, second = (recorded_by(tree, Path(folder) / f"{n}.npz", only) for n, tree in enumerate((other, here)))
    groups: dict[str, list[tuple[float, str]]] = {}
    for name in sorted({*first, *second}):
        apart = difference(second[name], first[name]) if name in first and name in second else float("inf")
        groups.setdefault(" ".join(name.split()[:2]).rstrip(":"), []).append((apart, name))
    lines = ["| part | arrays | largest difference | where |", "| --- | --- | --- | --- |"]
    for group, found in groups.items():
        most, where = max(found)
        beyond = most > BOUND
        lines.append(f"| {group} | {len(found)} | {most:.0e}{' **' * beyond} | {where * beyond} |")
    return "\n".join(lines)


def recorded_by(tree: Path, file: Path, only: str) -> Cases:
    """What a checkout computes, in a separate process that runs this file."""
    environment = os.environ | {"PYTHONPATH": str(tree), "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    command = [sys.executable, str(Path(__file__).resolve()), "--record", str(file), "--only", only]
    subprocess.run(command, env=environment, cwd=tree, check=True)
    with np.load(file) as stored:
        return {name: stored[name] for name in stored.files}


def difference(a: Any, b: Any) -> float:
    """The largest difference, relative to the largest number of `b`; infinite if shapes or the places of NaN differ."""
    a, b = (np.asarray(each, dtype=np.float64) for each in (a, b))
    if a.shape != b.shape or not np.array_equal(np.isnan(a), np.isnan(b)):
        return float("inf")
    return float(np.nanmax(np.abs(a - b), initial=0) / np.nanmax(np.abs(b), initial=1e-30))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Compare the numbers of two checkouts.")
    parser.add_argument("other", nargs="?", type=Path, help="the other checkout")
    parser.add_argument("--record", type=Path, help="instead, record this checkout in a file")
    parser.add_argument("--only", default="", help="only cases whose name begins like this, for example `fit film`")
    options = parser.parse_args()
    if options.record:
        np.savez(options.record, **record(options.only))
    elif options.other:
        print(compare(options.other.resolve(), options.only))
    else:
        parser.error("name the other checkout")

"""Does another checkout of labkit still compute the same numbers? Both run here, one after the other, and are compared.

    python -m benchmarks.golden OTHER_CHECKOUT           this checkout against that one, a row per method and part
    python -m benchmarks.golden --record FILE.npz        what one checkout computes, which the first form calls twice

No numbers are stored with the project, because another processor rounds differently. Recorded, with seed 0 and one
thread, two epochs where there are epochs:

    fit      every method on every corpus it takes: vectors, scores on dev, and the columns of its history
    steps    every loss with every miner, and every encoder: loss and length of the gradient over some 20 steps
    export   vectors of every export
    runs     vectors of every bundled run

A case that one checkout refuses and the other takes is listed as well. To use it while names change, give both names in
`RENAMED`: settings go in by today's names, and each checkout takes the one that it knows.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

BOUND = 1e-5  # relative to the largest number of the case
SMALL = {"epochs": 2, "batch": 16, "size": 12, "hidden": 12, "dimension": 12, "rank": 12, "device": "cpu"}
RENAMED: dict[str, str] = {}  # name of a setting today -> its later name
CORPORA = ("questions", "captions", "articles", "places", "relatedness", "topics")
ROWS = {"train": 160, "dev": 60, "test": 60}
ASKED = 40  # sentences whose vectors are recorded
EXPORTS = ("sentence-transformers", "onnx", "model2vec")
Cases = dict[str, np.ndarray]


# --- record ------------------------------------------------------------------------------------------------------


def record(only: str = "") -> Cases:
    """Run every case whose name begins with `only`, in this process, from the checkout that is imported."""
    cases: Cases = {}
    for name, case in all_cases():
        if not name.startswith(only):
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for key, array in case().items():
                    cases[f"{name}: {key}"] = np.asarray(array, dtype=np.float64)
        except ValueError:  # a method that does not take this corpus, an export of what cannot be exported
            cases[f"{name}: refused"] = np.zeros(0)
        print(name, file=sys.stderr, flush=True)
    return cases


def all_cases() -> Iterator[tuple[str, Callable[[], Cases]]]:
    """Name and function of each case."""
    from labkit.methods import METHODS
    from labkit.pairs import LOSSES

    for method in METHODS:
        for corpus in CORPORA:
            yield f"fit {method} {corpus}", lambda method=method, corpus=corpus: fitted(method, corpus)
    for loss in LOSSES:
        for miner in ("informative", "hardest", "random", "none"):
            yield f"steps {loss} {miner}", lambda loss=loss, miner=miner: steps(loss=loss, miner=miner)
    for encoder in ("bag", "mean", "cnn", "lstm", "bilstm"):
        yield f"steps {encoder}", lambda encoder=encoder: steps(encoder=encoder)
    for method in ("sentpwnet", "bag", "mean-vectors", "sbert"):
        for to in EXPORTS:
            yield f"export {method} {to}", lambda method=method, to=to: exported(method, to)
    from labkit.corpora.catalogue import DATA

    for folder in sorted(path.parent for path in (DATA / "runs").glob("*/run.json")):
        yield f"run {folder.name}", lambda folder=folder: opened(folder)


def fitted(name: str, corpus: str) -> Cases:
    """Vectors, scores and history of a small training."""
    from labkit.evaluation.scores import score

    data = some(corpus)
    method = small(name)
    method.fit(data)
    cases = {"vectors": rows_of(method, asked(data))}
    cases |= {f"history {column}": method.history.column(column) for column in method.history.columns}
    scores = score(method, data, split="dev")
    return cases | {f"dev {metric}": [value] for metric, value in scores.figures.items()}


def steps(**settings: Any) -> Cases:
    """Loss and gradient of two epochs of ten steps."""
    method = small("sentpwnet", **{"encoder": "mean", "loss": "locality", **settings})
    method.fit(some("questions"))
    return {column: method.history.column(column) for column in method.history.columns}


def exported(name: str, to: str) -> Cases:
    """Vectors of an export, read back by the library that it is for."""
    from labkit.adapters.export import FORMS, export

    data = some("questions")
    method = small(name)
    method.fit(data)
    with tempfile.TemporaryDirectory() as folder:
        export(method, Path(folder) / "model", to=to)
        return {"vectors": FORMS[to].read(Path(folder) / "model", asked(data))}


def opened(folder: Path) -> Cases:
    """Vectors of a bundled run."""
    from labkit import methods

    opened = getattr(methods, "load_run", None) or methods.load
    return {"vectors": rows_of(opened(folder), asked(some("questions")))}


def small(name: str, **more: Any) -> Any:
    """The method with settings that train in a second."""
    from dataclasses import fields

    from labkit.methods import METHODS

    method = getattr(METHODS[name], "method", METHODS[name])  # an older table has lines with their classes in them
    known = {field.name for field in fields(method.Settings)}
    given = {**SMALL, **({"base": "lsa"} if "base" in known and "loss" not in known else {}), **more}
    given = {key if key in known else RENAMED.get(key, key): value for key, value in given.items()}
    return METHODS[name](**{key: value for key, value in given.items() if key in known})


def some(name: str) -> Any:
    """The first rows of each split of a bundled corpus."""
    from labkit.corpora import load

    corpus = load(name)
    most = {split: count // 8 for split, count in ROWS.items()} if name == "articles" else ROWS
    rows = {
        split: [row for row, of in enumerate(corpus.splits) if of == split][:count] for split, count in most.items()
    }
    return corpus.take([row for split in rows.values() for row in split])


def asked(corpus: Any) -> list[str]:
    """The sentences whose vectors are recorded, with an empty one and an unknown word."""
    return [*corpus.sentences()[:ASKED], "", "zyx qwv"]


def rows_of(method: Any, sentences: list[str]) -> np.ndarray:
    """Vectors as an array."""
    rows = method.encode(sentences)
    return rows.toarray() if hasattr(rows, "toarray") else np.asarray(rows)


# --- compare -----------------------------------------------------------------------------------------------------


def compare(other: Path, only: str = "") -> str:
    """Record both checkouts and say what differs, in Markdown."""
    here = Path(__file__).resolve().parents[1]
    with tempfile.TemporaryDirectory() as folder:
        first, second = (recorded_by(tree, Path(folder) / f"{n}.npz", only) for n, tree in enumerate((other, here)))
    groups: dict[str, list[tuple[float, str]]] = {}
    for name in sorted({*first, *second}):
        groups.setdefault(" ".join(name.split()[:2]).rstrip(":"), []).append((apart(first, second, name), name))
    lines = ["| part | arrays | largest difference | where |", "| --- | --- | --- | --- |"]
    for group, found in groups.items():
        most, where = max(found)
        lines.append(
            f"| {group} | {len(found)} | {most:.0e}{' **' * (most > BOUND)} | {where if most > BOUND else ''} |"
        )
    return "\n".join(lines)


def recorded_by(tree: Path, file: Path, only: str) -> Cases:
    """What a checkout computes, in a process of its own that runs this very file."""
    environment = os.environ | {"PYTHONPATH": str(tree), "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    command = [sys.executable, str(Path(__file__).resolve()), "--record", str(file), "--only", only]
    subprocess.run(command, env=environment, cwd=tree, check=True)
    with np.load(file) as stored:
        return {name: stored[name] for name in stored.files}


def apart(one: Cases, other: Cases, name: str) -> float:
    """The largest difference relative to the largest number; infinite where only one checkout has the case."""
    if name not in one or name not in other or one[name].shape != other[name].shape:
        return float("inf")
    a, b = one[name], other[name]
    if not a.size or np.array_equal(a, b, equal_nan=True):
        return 0.0
    return float(np.nanmax(np.abs(a - b)) / max(np.nanmax(np.abs(a)), 1e-30))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Compare the numbers of two checkouts.")
    parser.add_argument("other", nargs="?", type=Path, help="the other checkout")
    parser.add_argument("--record", type=Path, help="record this checkout into a file instead")
    parser.add_argument("--only", default="", help="only cases whose name begins so, such as `fit film`")
    options = parser.parse_args()
    if options.record:
        np.savez(options.record, **record(options.only))
    elif options.other:
        print(compare(options.other.resolve(), options.only))
    else:
        parser.error("name the other checkout")

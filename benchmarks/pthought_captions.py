"""P-thought on `captions`: its three forms, its two ablations, averages of the same word vectors, and a sweep of λ.

Three seeds each, mean ± standard deviation. Epochs are chosen by the lift of dev, and so is λ; P-coherence and its
companions are of test. l_auto and l_para are held out (dev), per token; L = (1 - λ) l_auto + (1 + λ) l_para is what
the paper's table B.9 compares, and its smallest value says nothing, since L would grow with λ if nothing else changed.

    python -m benchmarks.pthought_captions FILE      run what FILE (JSON lines) lacks, then the tables
    python -m benchmarks.pthought_captions sentences SEED    ten captions of test, and what is written
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.machine import describe, threads
from labkit.corpora import load
from labkit.corpora.records import Corpus
from labkit.evaluation import over_seeds
from labkit.evaluation.scores import score
from labkit.methods import METHODS
from labkit.pthought.method import PThought, PThoughtSettings
from labkit.pthought.writing import Search, described

SEEDS = (0, 1, 2)
COMMON: dict[str, Any] = {
    "epochs": 4,  # with four paraphrases each, every ordered pair once
    "emphasis": 0.1,
    "batch": 32,
    "learning_rate": 0.005,
    "hidden": 100,
    "decoder_hidden": 100,
    "device": "cpu",
}
COMPARED: dict[str, Mapping[str, Any]] = {
    "one-bi": {},
    "decoders=auto": {"decoders": "auto"},
    "decoders=paraphrase": {"decoders": "paraphrase"},
    "two-forward": {"form": "two-forward"},
    "two-bi": {"form": "two-bi"},
}
SWEPT: dict[str, Mapping[str, Any]] = {
    f"emphasis={value:g}": {"emphasis": value} for value in (0.01, 0.5, 0.9)
}  # 0.1 is `one-bi`
SHOWN = ("within", "between", "lift", "retrieval", "distance")


def run(name: str, seed: int) -> dict[str, Any]:
    """One training, and its figures."""
    corpus = captions()
    start = time.process_time()
    if name in METHODS:
        method = METHODS[name](dimension=100)
        method.fit(corpus, seed=seed)
        held_out: Mapping[str, float] = {}
    else:
        method = PThought(PThoughtSettings.of({**COMMON, **(COMPARED | SWEPT)[name]}))
        method.fit(corpus, seed=seed)
        held_out = method.losses(corpus)
    spent = time.process_time() - start
    test, dev = (score(method, corpus, split=split).figures for split in ("test", "dev"))
    return {
        "name": name,
        "seed": seed,
        "seconds": spent,
        "epochs": len(method.history),
        **{each: test[f"coherence_{each}"] for each in SHOWN},
        "hit@10": test["hit@10"],
        "dev_lift": dev["coherence_lift"],
        **held_out,
    }


@cache
def captions() -> Corpus:
    return load("captions")


def tables(rows: Sequence[Mapping[str, Any]]) -> str:
    """Both tables from the rows of all runs."""
    lines = [describe(), "", f"| method | {' | '.join(SHOWN)} | dev lift | CPU s |", "| --- " * (len(SHOWN) + 3) + "|"]
    for name in ("mean-vectors", "sif", *COMPARED):
        cells = [_cell(rows, name, column) for column in (*SHOWN, "dev_lift")]
        lines.append(f"| {name} | {' | '.join(cells)} | {_cell(rows, name, 'seconds', 0)} |")
    lines += ["", "| λ | l_auto | l_para | L | dev lift | test lift |", "| --- " * 6 + "|"]
    sweep = {0.1: "one-bi"} | {float(changes["emphasis"]): name for name, changes in SWEPT.items()}
    for value, name in sorted(sweep.items()):
        lambdas = [
            {**row, "L": (1 - value) * row["auto"] + (1 + value) * row["paraphrase"]}
            for row in rows
            if row["name"] == name
        ]
        cells = [_cell(lambdas, name, column) for column in ("auto", "paraphrase", "L", "dev_lift", "lift")]
        lines.append(f"| {value:g} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(rows: Sequence[Mapping[str, Any]], name: str, column: str, digits: int = 4) -> str:
    values = [row[column] for row in rows if row["name"] == name and column in row]
    if len(values) < len(SEEDS):
        return f"{', '.join(f'{value:.{digits}f}' for value in values)} (not all seeds)"
    found = over_seeds(values)
    return f"{found.mean:.{digits}f} ± {found.spread:.{digits}f}"


def sentences(seed: int, count: int = 10) -> str:
    """The first captions of test's first ten scenes: greedy, then a beam of 5, by both decoders."""
    corpus: Any = captions()
    method = PThought(PThoughtSettings.of(COMMON))
    method.fit(corpus, seed=seed)
    first = [members[0] for members in corpus.part("test").members().values()][:count]
    quick, wide = method.paraphrase(first), method.paraphrase(first, search=Search(width=5))
    return "\n".join(f"{described(one)}\n  -- beam --\n{described(two)}" for one, two in zip(quick, wide, strict=True))


def measure(file: Path) -> list[dict[str, Any]]:
    """All rows; those that the file lacks are run and added to it, one by one."""
    rows = [json.loads(line) for line in file.read_text().splitlines()] if file.is_file() else []
    there = {(row["name"], row["seed"]) for row in rows}
    for names in (("mean-vectors", "sif", *COMPARED), tuple(SWEPT)):
        for seed in SEEDS:
            for name in names:
                if (name, seed) not in there:
                    rows.append(run(name, seed))
                    with file.open("a") as lines:
                        lines.write(json.dumps(rows[-1]) + "\n")
    return rows


def main() -> str:
    """Every run anew."""
    with threads(1), tempfile.TemporaryDirectory() as folder:
        return tables(measure(Path(folder) / "runs.jsonl"))


if __name__ == "__main__":
    with threads(1):
        print(sentences(int(sys.argv[2])) if sys.argv[1] == "sentences" else tables(measure(Path(sys.argv[1]))))

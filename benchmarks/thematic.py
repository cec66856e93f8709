"""Do thematic networks find the sections of articles again? The paper's tables 3, 4 and 5, and SentPWNet's table 3.

    python -m benchmarks.thematic sections articles        tables 3 and 4 on the embedded articles, 3 seeds
    python -m benchmarks.thematic sections wikipedia       the same on real articles, split 80/10/10 by title
    python -m benchmarks.thematic relatedness wikipedia    table 5 on STS-B and SICK (test of SICK: its 500 dev rows)
    python -m benchmarks.thematic losses articles          SentPWNet's table 3: its losses on the same triplets
    python -m benchmarks.thematic readings articles        the paper's own network, both readings of its dropout

`--runs FOLDER` keeps what was trained and measured there, and goes on from it. All methods start from the same word
vectors (PPMI + SVD of the training articles; embedded: others for each seed); settings and epochs are chosen on dev,
figures are test's. As in the paper, triplets-sen-titles is two trained networks side by side.
Real data is read from the folder that LABKIT_DATA names.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.machine import describe, threads
from labkit.corpora import Articles, Triplets, load
from labkit.corpora.records import Pairs
from labkit.corpora.relations import train_sentences
from labkit.evaluation import Relatedness, leader, over_seeds, relatedness
from labkit.evaluation.scores import score
from labkit.method import Method
from labkit.methods import METHODS
from labkit.methods import load as load_run
from labkit.progress import Progress
from labkit.runs import History, read_record
from labkit.text import words
from labkit.thematic.making import triplets_of
from labkit.thematic.network import PAPER
from labkit.thematic.sections import ALGORITHMS, FIGURES, section_agreement
from labkit.vectors import ppmi_vectors

SEEDS = (0, 1, 2)
# chosen on dev, and by the time there was: on wikipedia a second pass gains 0.003 there
RECIPES: dict[str, dict[str, Any]] = {
    "articles": {"dimension": 100, "size": 100, "epochs": 15},
    "wikipedia": {"batch": 512, "learning_rate": 0.0005, "epochs": 1, "pace": 0.3},
}
ROWS = {  # row -> method, and by which rule its triplets are made
    "mean-vectors": ("mean-vectors", ""),
    "sif": ("sif", ""),
    "triplets-sen": ("thematic", "adjacent"),
    "triplets-sen-rand-sec": ("thematic", "article"),
    "triplets-sen-rand-art": ("thematic", "other"),
    "triplets-titles": ("thematic", "titles"),
}
BOTH = "triplets-sen-titles"
VECTORS = {"articles": 3, "wikipedia": 1}  # how many seeds word vectors are made with
LONGER = 8  # times as many epochs for titles, of which there are few
NAMED = ("dropout", "scale")  # changes that a run folder is named after
LOSSES = ("contrastive", "soft-triplet", "locality")


# --- what is trained -------------------------------------------------------------------------------------------


@cache
def corpus_of(name: str) -> Articles:
    found = load(name)
    assert isinstance(found, Articles)
    return found


@cache
def triplets(name: str, rule: str = "adjacent") -> Triplets:
    return triplets_of(corpus_of(name), rule=rule)


def start(name: str, seed: int, runs: Path) -> Path:
    """The file of word vectors that all methods start from."""
    seed %= VECTORS[name]
    file = runs / f"{name}-vectors-{seed}.npz"
    if not file.exists():
        tokenised = [words(text) for text in train_sentences(corpus_of(name))]
        made = ppmi_vectors(tokenised, dimension=RECIPES[name].get("dimension", 300), seed=seed)
        np.savez(file, words=np.array(made.vocabulary.words[2:]), vectors=made.matrix[2:])
    return file


class SideBySide(Method):
    """Trained methods as one: their vectors, each of length 1, in one row."""

    name = BOTH

    def __init__(self, methods: Sequence[Method]) -> None:
        super().__init__()
        self._methods = methods
        self.fit(corpus_of("articles"))  # which learns nothing more

    def _fit(self, *_: Any) -> History:
        return History()

    def _encode(self, sentences: list[str], batch_size: int, progress: Progress) -> np.ndarray:
        return np.concatenate([method.encode(sentences, 256, normalize_embeddings=True) for method in self._methods], 1)

    def _state(self) -> Any:
        raise NotImplementedError("its parts have folders of their own")

    def _restore(self, *_: Any) -> None:
        raise NotImplementedError("its parts have folders of their own")


def trained(name: str, row: str, seed: int, runs: Path, **changes: Any) -> Method:
    """The method of this row, from its run folder where it was trained before."""
    if row == BOTH:
        return SideBySide([trained(name, one, seed, runs) for one in ("triplets-sen", "triplets-titles")])
    method, rule = ROWS[row]
    seed = seeds(name, row)[seed % len(seeds(name, row))]
    folder = place(name, row, seed, runs, **changes)
    if (folder / "run.json").exists() and read_record(folder)["state"] == "finished":
        return load_run(folder)
    told: dict[str, Any] = {"vectors": str(start(name, seed, runs))}
    if rule:  # `least`: only words that have a vector are known
        told |= {"least": 10**9, **RECIPES[name], **changes}
        told["epochs"] *= LONGER if rule == "titles" else 1
    made = METHODS[method](**told)
    made.fit(triplets(name, rule) if rule else corpus_of(name), seed=seed)
    made.save(folder)
    _say(f"{folder.name}: {made.history.rows[-1] if made.history.rows else 'fitted'}")
    return made


def seeds(name: str, row: str) -> tuple[int, ...]:
    """Of a row without training, as many as there are word vectors: nothing else is random in it."""
    return SEEDS if row == BOTH or ROWS[row][1] else SEEDS[: VECTORS[name]]


def place(name: str, row: str, seed: int, runs: Path, **changes: Any) -> Path:
    """The folder of a run; its figures stand in a file beside it."""
    return runs / "-".join([name, row, *(f"{key}={changes[key]}" for key in changes if key in NAMED), str(seed)])


# --- tables 3 and 4 --------------------------------------------------------------------------------------------


def sections(name: str, runs: Path, rows: Sequence[str] = (*ROWS, BOTH)) -> str:
    """Triplet accuracy, and the agreement of clusters with sections; means over the articles, then over the seeds."""
    head = ["triplets", *(f"{algorithm} {figure.upper()}" for algorithm in ALGORITHMS for figure in FIGURES)]
    found = {row: [_figures(name, row, seed, runs) for seed in SEEDS] for row in rows}
    lines = [f"| {name}, test | " + " | ".join(head) + " |", "| --- " * (len(head) + 1) + "|"]
    for row, figures in found.items():
        lines.append(f"| {row} | " + " | ".join(_cell([one[key] for one in figures]) for key in head) + " |")
    for key in ("triplets", "kmeans AMI", "iclust AMI"):
        lines += ["", *_leads(found, key)] if key == "triplets" else _leads(found, key)
    return "\n".join(lines)


def _figures(name: str, row: str, seed: int, runs: Path, **changes: Any) -> dict[str, float]:
    """Measured once, then read from a file."""
    file = place(name, row, seed, runs, **changes).with_suffix(".json")
    if not file.exists():
        method = trained(name, row, seed, runs, **changes)
        figures = {"triplets": score(method, triplets(name)).headline}
        agreement = section_agreement(method, corpus_of(name).part("test"), seed=seed)
        figures |= {
            f"{algorithm} {figure.upper()}": float(agreement.values(algorithm, figure).mean())
            for algorithm in ALGORITHMS
            for figure in FIGURES
        }
        _say(f"{file.stem}: {figures['triplets']:.4f}\n{agreement}")
        file.write_text(json.dumps(figures))
    found: dict[str, float] = json.loads(file.read_text())
    return found


def _leads(found: Mapping[str, Sequence[Mapping[str, float]]], key: str) -> Iterator[str]:
    for row in ("triplets-sen", BOTH):
        for other in (name for name in ("mean-vectors", "sif") if name in found):
            first, second = (over_seeds([one[key] for one in found[each]]) for each in (row, other))
            verdict = {"first": "ahead of", "second": "behind", "tie": "ties with"}[leader(first, second)]
            yield f"- {key}: {row} ({first}) {verdict} {other} ({second})"


def _cell(values: Sequence[float]) -> str:
    return f"{np.mean(values):.3f} ± {np.std(values, ddof=1):.3f}" if len(values) > 1 else f"{values[0]:.3f}"


def readings(name: str, runs: Path) -> str:
    """Section 4 as printed, with 0.8 and with 0.2 dropped; and with a scale on the L1 distances. One seed each."""
    lines = ["| the paper's network | triplets | kmeans AMI | iclust AMI |", "| --- | --- | --- | --- |"]
    for dropout in (0.8, 0.2):
        for scale in (1.0, 0.1):
            paper = {key: value for key, value in PAPER.items() if key != "dimension"}
            changes = {**paper, "dropout": dropout, "scale": scale}
            found = _figures(name, "triplets-sen", SEEDS[0], runs, **changes)
            cells = [f"{found[key]:.3f}" for key in ("triplets", "kmeans AMI", "iclust AMI")]
            lines.append(f"| dropout {dropout}, scale {scale} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


# --- table 5 ---------------------------------------------------------------------------------------------------


def related(name: str, runs: Path) -> str:
    """Grades of relatedness learned from the vectors of networks that have never seen these sentences."""
    told = ("mean-vectors", "sif", "triplets-sen", "triplets-titles", BOTH)
    lines = ["| set | row | Pearson | Spearman | MSE |", "| --- " * 5 + "|"]
    for pairs, test, grades in (("stsb", "test", (0, 5)), ("sick", "dev", (1, 5))):
        corpus = load(pairs)
        assert isinstance(corpus, Pairs)
        for row in told:
            found = [_related(trained(name, row, seed, runs), corpus, test, grades) for seed in seeds(name, row)]
            cells = [_cell([getattr(one, key) for one in found]) for key in ("pearson", "spearman", "mse")]
            lines.append(f"| {pairs} {test} | {row} | " + " | ".join(cells) + " |")
            _say(lines[-1])
    return "\n".join(lines)


def _related(method: Method, corpus: Pairs, test: str, grades: tuple[int, int]) -> Relatedness:
    train, held_out = corpus.part("train"), corpus.part(test)
    a, b, c, d = (method.encode(list(side)) for part in (train, held_out) for side in (part.text_a, part.text_b))
    return relatedness(a, b, train.scores, c, d, held_out.scores, grades=grades)


# --- SentPWNet's table 3 ---------------------------------------------------------------------------------------


def losses(name: str, runs: Path) -> str:
    """One encoder, three pair losses: with the negatives given, or for titles with all other titles of the batch."""
    lines = ["| loss | sentence triplets | title triplets |", "| --- | --- | --- |"]
    for loss in LOSSES:
        cells = [_cell([_loss(name, loss, rule, seed, runs) for seed in SEEDS]) for rule in ("adjacent", "titles")]
        lines.append(f"| {loss} | " + " | ".join(cells) + " |")
        _say(lines[-1])
    return "\n".join(lines)


def _loss(name: str, loss: str, rule: str, seed: int, runs: Path) -> float:
    folder = runs / f"{name}-sentpwnet-{loss}-{rule}-{seed}"
    corpus = triplets(name, rule)
    if not (folder / "run.json").exists() or read_record(folder)["state"] != "finished":
        made = METHODS["sentpwnet"](
            loss=loss,
            miner="none",
            encoder="mean",
            in_batch=rule == "titles",
            vectors=str(start(name, seed, runs)),
            least=10**9,
            epochs=RECIPES[name]["epochs"] * (LONGER if rule == "titles" else 1),
            patience=2,
        )
        made.fit(corpus, seed=seed, folder=folder)
    return score(load_run(folder), corpus).headline


# ---------------------------------------------------------------------------------------------------------------

TABLES = {"sections": sections, "relatedness": related, "losses": losses, "readings": readings}


def main() -> str:
    """The tables that need no published data."""
    with tempfile.TemporaryDirectory() as folder, threads(1):
        made = [table("articles", Path(folder)) for table in (sections, losses)]
    return "\n\n".join([f"Embedded articles, one thread. {describe()}", *made])


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.thematic")
    parser.add_argument("table", choices=tuple(TABLES))
    parser.add_argument("corpus", choices=tuple(RECIPES))
    parser.add_argument("--runs", type=Path, help="folder of trained runs, to keep and to go on from")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as temporary, threads(1):
        kept = options.runs or Path(temporary)
        kept.mkdir(parents=True, exist_ok=True)
        print(TABLES[options.table](options.corpus, kept))

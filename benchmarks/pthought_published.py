"""What is P-thought worth on real captions, and on graded pairs it was not trained for?

Needs the folder of published datasets that LABKIT_DATA names. Trained on Flickr30k's training captions without those
that stand, word for word, in STS-B or SICK; scored on COCO's val2017 (P-coherence with its companions), on STS-B and on
SICK, by cosine and by regression onto the grades (train -> test of STS-B, train -> dev of SICK). Epochs are chosen on
Flickr30k's dev by lift. Beside it stand averages of the same word vectors.

    python -m benchmarks.pthought_published train FOLDER [SEED] [KEY=VALUE ...]     about 15 CPU minutes of one thread
    python -m benchmarks.pthought_published report FOLDER ...                       the table of what lies there
    python -m benchmarks.pthought_published sentences FOLDER                        ten inputs and what is written
"""

from __future__ import annotations

import os
import resource
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.machine import describe, threads
from labkit.corpora import load
from labkit.corpora.records import Corpus
from labkit.evaluation import correlation, p_coherence, relatedness
from labkit.method import Method
from labkit.methods import METHODS
from labkit.pthought.method import PThought, PThoughtSettings
from labkit.pthought.writing import Search, described
from labkit.text import words

SETTINGS: dict[str, Any] = {
    "epochs": 1,
    "emphasis": 0.1,
    "partners": 1,
    "batch": 64,
    "learning_rate": 0.003,
    "hidden": 200,
    "decoder_hidden": 200,
    "least": 5,
    "device": "cpu",
}
HEAD = (
    "| method | within | between | lift | retrieval | distance | STS-B cosine: Pearson | Spearman "
    "| regression: Pearson | MSE | SICK cosine: Pearson | Spearman | regression: Pearson | MSE |\n"
    + "| --- " * 14
    + "|"
)


def captions() -> Corpus:
    """Flickr30k, its training captions without those of STS-B and SICK."""
    whole = load("flickr30k")
    scored = {tuple(words(text)) for name in ("stsb", "sick") for text in load(name).sentences()}
    rows = [row for row, split in enumerate(whole.splits) if split != "train" or not _stands(whole, row, scored)]
    return whole.take(rows)


def _stands(corpus: Any, row: int, scored: set[tuple[str, ...]]) -> bool:
    return tuple(words(corpus.texts[row])) in scored


def train(folder: str, seed: int, changes: dict[str, str]) -> str:
    """One run into a folder; what it took."""
    corpus = captions()
    method = PThought(PThoughtSettings.of({**SETTINGS, **changes}))
    start = time.process_time()
    method.fit(corpus, seed=seed, folder=folder)
    spent, peak = time.process_time() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    rows = "\n".join(str(dict(row)) for row in method.history.rows)
    return f"{corpus!r}, seed {seed}: {spent:.0f} CPU s, peak {peak:.0f} MB\n{rows}"


def report(folders: list[str]) -> str:
    """The figures of every run, and of averages of word vectors of the same sentences."""
    lines = [describe(), "", HEAD]
    corpus = captions()
    for name in ("mean-vectors", "sif"):
        method = METHODS[name](dimension=100)
        method.fit(corpus)
        lines.append(f"| {name} | {' | '.join(figures(method))} |")
    for folder in folders:
        lines.append(f"| {folder} | {' | '.join(figures(PThought().load(folder)))} |")
    return "\n".join(lines)


def figures(method: Method) -> list[str]:
    """One line of the table, cell by cell."""
    coco: Any = load("coco")
    rows = method.encode(list(coco.texts), batch_size=256)
    known = np.flatnonzero(np.abs(rows).sum(axis=1))
    found = p_coherence(rows[known], np.asarray(coco.groups)[known])
    values = [found.within, found.between, found.lift, found.retrieval, found.distance]
    for name, split, grades in (("stsb", "test", (0, 5)), ("sick", "dev", (1, 5))):
        whole: Any = load(name)
        fitting, test = whole.part("train"), whole.part(split)
        sides = [
            method.encode(list(side), batch_size=256) for part in (fitting, test) for side in (part.text_a, part.text_b)
        ]
        direct = correlation(method.pairwise_similarity(*sides[2:]), test.scores)
        learned = relatedness(sides[0], sides[1], fitting.scores, sides[2], sides[3], test.scores, grades=grades)
        values += [direct.pearson, direct.spearman, learned.pearson, learned.mse]
    return [f"{value:.4f}" for value in values]


def sentences(folder: str, count: int = 10) -> str:
    """The first captions of COCO's first ten pictures: greedy, then a beam of 5, by both decoders."""
    method = PThought().load(folder)
    coco: Any = load("coco")
    first = [members[0] for members in coco.members().values()][:count]
    quick, wide = method.paraphrase(first), method.paraphrase(first, search=Search(width=5))
    return "\n".join(f"{described(one)}\n  -- beam --\n{described(two)}" for one, two in zip(quick, wide, strict=True))


def main() -> str:
    """Trains one run in the current folder's `runs` and reports it; without the data, says what is missing."""
    if not os.environ.get("LABKIT_DATA"):
        return "Needs the published datasets: set LABKIT_DATA to their folder."
    folder = "runs/pthought-published"
    with threads(1):
        told = "" if (Path(folder) / "run.json").is_file() else train(folder, 0, {})
        return f"{told}\n\n{report([folder])}\n\n{sentences(folder)}"


if __name__ == "__main__":
    with threads(1):
        command, *arguments = sys.argv[1:]
        if command == "train":
            numbers = [int(each) for each in arguments[1:] if each.isdigit()]
            changes = [each.split("=", 1) for each in arguments[1:] if "=" in each]
            print(train(arguments[0], (numbers or [0])[0], dict(changes)))
        else:
            print(report(arguments) if command == "report" else sentences(arguments[0]))

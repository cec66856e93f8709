"""What is FILM worth on `questions` of any size, how long does it take, and what if few groups are labelled?

Train and test share no topic. AUC is over the labelled test pairs, P@1 the share of test sentences whose nearest
other one is of their group; dev chooses the mixture. `labelled` is the share of training groups whose labels are
shown; all sentences are. Seconds are CPU seconds of one thread from sentences to L, peak memory that of a process of
its own.

    python -m benchmarks.film_questions 20000 full-rank 0.2      one line: sentences, setting, share of groups labelled
"""

from __future__ import annotations

import resource
import sys
import time
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics import roc_auc_score
from sklearn.utils.extmath import randomized_svd

from benchmarks.machine import describe, fresh_process
from labkit.corpora.records import Pairs
from labkit.corpora.table import EMBEDDED
from labkit.evaluation.inputs import unit
from labkit.film.solvers import Plan, learn
from labkit.film.triplets import Clusters, FilmSource, Recipe, cluster_triplets, fitted_vectorizer, source_of

SIZES = {2_000: 2_200, 20_000: 22_000, 100_000: 127_500}  # sentences -> pairs that have about so many
LABELLED = (1.0, 0.2, 0.05)
SETTINGS = ("lsa", "paper", "closed-form", "full-rank")
ITERATIONS = {"paper": 60, "closed-form": 0, "full-rank": 12}
HEAD = (
    "| sentences | setting | labelled | CPU s | peak MB | AUC | P@1 | share on dev | AUC mixed | P@1 mixed |\n"
    + "| --- " * 10
    + "|"
)


def main(sizes: Sequence[int] = tuple(SIZES)) -> str:
    """All of them, as one table."""
    lines = [f"FILM on questions, one thread. {describe()}", "", HEAD]
    for size in sizes:
        lines.append(fresh_process("benchmarks.film_questions", str(size), "tfidf", "1").strip())
        for setting in SETTINGS:
            for share in LABELLED if setting == "full-rank" else LABELLED[:1]:
                lines.append(fresh_process("benchmarks.film_questions", str(size), setting, str(share)).strip())
    return "\n".join(lines)


def line(size: int, setting: str, labelled: float) -> str:
    """One row of the table."""
    rows = list(EMBEDDED["questions"].stream(rows=SIZES[size]))
    parts = {split: _pairs([row for row in rows if row["split"] == split]) for split in ("train", "dev", "test")}
    source = source_of(parts["train"])
    start = time.process_time()
    vectorizer = fitted_vectorizer(source.texts)
    X = vectorizer.transform(source.texts)
    L = _learned(X, source, setting, labelled)
    spent = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    scored = {}
    for split in ("dev", "test"):
        told = source_of(parts[split])
        T = vectorizer.transform(told.texts)
        numbers = {text: row for row, text in enumerate(told.texts)}
        scored[split] = (told, T, None if L is None else unit(T @ L.T), _rows_of(parts[split], numbers, told))
    shares = [1.0] if L is None else [number / 10 for number in range(11)]
    best = max(shares, key=lambda share: _auc(*scored["dev"][1:], share))
    own = 1.0 if L is None else 0.0
    found = [
        f"{_auc(*scored['test'][1:], share):.3f} | {_nearest(*scored['test'][:3], share):.3f}" for share in (own, best)
    ]
    mixed = " |  |  | " if L is None else f"| {best:.1f} | {found[1]} "
    return f"| {size} | {setting} | {labelled:.0%} | {spent:.1f} | {peak:.0f} | {found[0]} {mixed}|"


def _pairs(rows: list[dict[str, Any]]) -> Pairs:
    return Pairs(
        **{name: [row[name] for row in rows] for name in ("text_a", "text_b")},
        values=[row["label"] for row in rows],
        splits="train",
    )


def _learned(X: sparse.csr_matrix, source: FilmSource, setting: str, labelled: float) -> np.ndarray | None:
    if setting == "tfidf":
        return None
    if setting == "lsa":
        return randomized_svd(X, 100, n_iter=4, random_state=0)[2]
    assert source.clusters is not None
    rank = 0 if setting == "full-rank" else min(600, min(X.shape) - 1)
    plan = Plan(solver=setting, rank=rank, iterations=ITERATIONS[setting])
    return learn(X, cluster_triplets(_shown(source.clusters, labelled), Recipe()), plan).L


def _shown(clusters: Clusters, share: float) -> Clusters:
    """The labels of a random share of the groups; every other sentence stands alone."""
    count = clusters.of.max() + 1
    shown = np.random.default_rng(0).random(count) < share
    known = shown[clusters.of]
    alone = count + np.arange(len(known))
    apart = clusters.apart[known[clusters.apart].all(axis=1)]
    of = np.unique(np.where(known, clusters.of, alone), return_inverse=True)[1].ravel()
    return replace(clusters, of=of, apart=apart)


def _rows_of(part: Pairs, numbers: dict[str, int], told: FilmSource) -> tuple[np.ndarray, np.ndarray]:
    """Row numbers of the pairs whose texts were kept as they are, and their labels."""
    kept = [(numbers[a], numbers[b], int(v)) for a, b, v in zip(part.text_a, part.text_b, part.values, strict=True)
            if a in numbers and b in numbers]  # fmt: skip
    found = np.array(kept)
    return found[:, :2], found[:, 2]


def _auc(T: Any, Y: Any, pairs: tuple[np.ndarray, np.ndarray], share: float) -> float:
    (a, b), labels = pairs[0].T, pairs[1]
    score = share * np.asarray(T[a].multiply(T[b]).sum(axis=1)).ravel()
    if share < 1:
        score = score + (1 - share) * (Y[a] * Y[b]).sum(axis=1)
    return float(roc_auc_score(labels, score))


def _nearest(told: FilmSource, T: Any, Y: Any, share: float) -> float:
    """P@1 over the sentences that have another of their group."""
    assert told.clusters is not None
    of = told.clusters.of
    asking = np.flatnonzero(np.bincount(of)[of] > 1)
    hits = 0
    for block in np.array_split(asking, max(1, len(asking) // 1000)):
        S = (share * (T[block] @ T.T)).toarray() if share else np.zeros((len(block), T.shape[0]))
        if share < 1:
            S += (1 - share) * (Y[block] @ Y.T)
        S[np.arange(len(block)), block] = -np.inf
        hits += int((of[S.argmax(axis=1)] == of[block]).sum())
    return hits / len(asking)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(line(int(sys.argv[1]), sys.argv[2], float(sys.argv[3])))

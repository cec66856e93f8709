"""SBERT-LP's tables: the same frozen vectors, unchanged and after each transform, in one cell.

    lp spearman 2012, raw accuracy, pca nmi ...      the score of a transform whose size was chosen on dev
    lp k spearman 2012, lp p accuracy ...            the neighbours and the dimension that LP's sweep chose
    k=20 spearman, p=64 accuracy ...                 LP's score at this point of a sweep
    accuracy                                         of a logistic regression on the unchanged vectors

Compared sentences are embedded together, without labels. k, p and the sizes of the other transforms come from dev; for
STS, which has no dev, from other years; for clusters, from the other half of the texts. In: a case on a frozen model.
Out: scores.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from labkit.arrays import unit
from labkit.corpora import Corpus, Labelled, Pairs
from labkit.corpora.relations import linked
from labkit.evaluation import (
    Parts,
    clustering_agreement,
    correlation,
    correlation_parts,
    kmeans,
    knn_right,
    logistic_right,
    reversals,
)
from labkit.evaluation.pairs import pair_features
from labkit.papers.recipes import Case
from labkit.papers.recipes.scoring import graded
from labkit.sbert_lp.sweeps import (
    LP,
    RAW,
    Grid,
    Point,
    best,
    by_clusters,
    by_grades,
    pair_cosines,
    sweep,
    transformed,
    ways,
)
from labkit.trials.engine import Result

# scores still rose at 100 neighbours and 300 dimensions, so the grid goes well beyond
GRID = Grid((10, 20, 40, 80, 160, 320), (16, 32, 64, 128, 256, 512))
SMALL = Grid((10, 20), (32, 128))
NEIGHBOURS = (5, 10, 15, 20, 30, 50, 100, 200, 400)
DIMENSIONS = (8, 16, 32, 64, 128, 200, 300, 500)
AT = Point(LP, 0.0, 128, 20)  # the point that both sweeps pass through
MOST = {"train": 4_000, "dev": 1_000, "test": 2_000}  # sentences with classes that are embedded together
AGREEMENT = ("mi", "nmi", "ari", "purity")


def transformed_grades(case: Case) -> Result:
    """Spearman's correlation for each transform's cosine, by year if pairs have one."""
    if "year" in case.corpus.extra:
        return _by_year(case, case.corpus)
    chooses = graded(case.corpus, "dev" if "dev" in case.corpus.splits else "train")
    points = _swept(case, chooses.take(range(min(len(chooses), 1_500))))
    test = graded(case.corpus, "test")
    figures, parts = _spearmans(case, test, points, "spearman")
    return Result(figures | _chosen(points, "spearman"), parts)


def swept_grades(case: Case) -> Result:
    """LP's Spearman correlation on test over the number of neighbours and over the dimension."""
    rows, a, b = _sides(case, test := graded(case.corpus, "test"))
    return Result(_over(rows, by_grades(a, b, list(test.values)), "spearman"))


def reversed_order(case: Case) -> Result:
    """The shares of comparisons of test pairs with different grades that LP fixes and breaks."""
    points = _swept(case, graded(case.corpus, "dev"))
    test = graded(case.corpus, "test")
    rows, a, b = _sides(case, test)
    before, after = (pair_cosines(transformed(rows, best(points, kind)), a, b) for kind in (RAW, LP))
    turned = reversals(test.scores, before, after)
    return Result({"fixed": turned.fixed / turned.comparisons, "broken": turned.broken / turned.comparisons})


def transformed_classes(case: Case) -> Result:
    """Accuracy of the vote of the three nearest training sentences, for each transform."""
    rows, right = _classes(case)
    points = sweep(rows, lambda embedded: float(right(embedded, "dev").mean()), _grid(case))
    found = {f"{kind} accuracy": right(transformed(rows, best(points, kind)), "test") for kind in ways(points)}
    figures = {name: float(each.mean()) for name, each in found.items()}
    parts = {name: Parts.by(np.arange(len(each)), each) for name, each in found.items()}
    return Result(figures | _chosen(points, "accuracy"), parts)


def logistic_on_frozen(case: Case) -> Result:
    """Accuracy of a logistic regression on unit vectors, with its penalty chosen on dev, like k and p."""
    parts = _thirds(case.corpus)
    if case.method == "sbert":
        rows, at = _together(case, parts)
        rows = unit(rows)
        sides = [(features(part, lambda texts: rows[at(texts)]), _labels(part)) for part in parts.values()]
    else:  # the method learns its words from the training sentences
        method = case.fitted(parts["train"])
        sides = [(features(part, lambda texts: unit(method.encode(texts))), _labels(part)) for part in parts.values()]
    right = logistic_right(*chain.from_iterable(sides))
    accuracy = Parts.by(np.arange(len(right)), right)
    return Result({"accuracy": accuracy.figure}, parts={"accuracy": accuracy})


def swept_classes(case: Case) -> Result:
    """LP's accuracy over the number of neighbours and over the dimension."""
    rows, right = _classes(case)
    return Result(_over(rows, lambda embedded: float(right(embedded, "test").mean()), "accuracy"))


def transformed_clusters(case: Case) -> Result:
    """Agreement of k-means with the classes; sizes chosen on one half of the test texts, scores from the other."""
    test = case.corpus.part("test")
    assert isinstance(test, Labelled)
    order = np.random.default_rng(0).permutation(len(test))[: 2 * MOST["test"]].tolist()
    halves = [test.take(sorted(order[at::2])) for at in (0, 1)]
    rows = [_vectors(case, half.texts) for half in halves]
    points = sweep(rows[0], by_clusters(halves[0].labels, seed=case.seed, restarts=3), _grid(case))
    figures: dict[str, float] = {}
    for kind in ways(points):
        embedded = transformed(rows[1], best(points, kind))
        clusters = kmeans(embedded, len(set(halves[1].labels)), seed=case.seed, restarts=3)
        agreement = clustering_agreement(halves[1].labels, clusters)
        figures |= {f"{kind} {name}": float(getattr(agreement, name)) for name in AGREEMENT}
    for name in AGREEMENT:
        figures |= _chosen(points, name)
    return Result(figures)


# --- grades ----------------------------------------------------------------------------------------------------


def _by_year(case: Case, corpus: Corpus) -> Result:
    """Each year with the sizes that the other years chose."""
    whole = graded(corpus, "test")
    years = [str(year) for year in whole.extra["year"]]
    parts = {year: whole.take([row for row, at in enumerate(years) if at == year]) for year in sorted(set(years))}
    swept = {year: _swept(case, part) for year, part in parts.items()}
    figures: dict[str, float] = {}
    taken: dict[str, Parts] = {}
    for year, part in parts.items():
        points = _mean_of([points for other, points in swept.items() if other != year])
        own, apart = _spearmans(case, part, points, f"spearman {year}")
        figures |= own | _chosen(points, f"spearman {year}")
        taken |= apart
    return Result(figures, taken)


def _mean_of(sweeps: Sequence[tuple[Point, ...]]) -> list[Point]:
    """The points that all sweeps share, with their mean values."""
    values: dict[Point, list[float]] = {}
    for point in chain.from_iterable(sweeps):
        values.setdefault(replace(point, value=0.0), []).append(point.value)
    return [replace(point, value=float(np.mean(each))) for point, each in values.items() if len(each) == len(sweeps)]


def _swept(case: Case, part: Pairs) -> tuple[Point, ...]:
    rows, a, b = _sides(case, part)
    return sweep(rows, by_grades(a, b, list(part.values)), _grid(case), progress=case.progress)


def _spearmans(
    case: Case, part: Pairs, points: Sequence[Point], name: str
) -> tuple[dict[str, float], dict[str, Parts]]:
    """Spearman's correlation for each transform at its best point, and its parts over pairs that share no sentence."""
    rows, a, b = _sides(case, part)
    figures, parts, units = {}, {}, linked(part)
    for kind in ways(points):
        cosines = pair_cosines(transformed(rows, best(points, kind)), a, b)
        figures[f"{kind} {name}"] = correlation(cosines, part.scores).spearman
        parts[f"{kind} {name}"] = correlation_parts(cosines, part.scores, units)["spearman"]
    return figures, parts


def _sides(case: Case, part: Pairs) -> tuple[np.ndarray, list[int], list[int]]:
    """The vectors of all sentences of these pairs, and the two indices of each pair."""
    texts, places = part.numbered()
    a, b = places.T.tolist()
    return _vectors(case, texts), a, b


# --- classes ---------------------------------------------------------------------------------------------------


def _classes(case: Case) -> tuple[np.ndarray, Callable[[np.ndarray, str], np.ndarray]]:
    """The vectors of all sentences, and a function that returns for which rows of a split the vote is right."""
    parts = _thirds(case.corpus)
    rows, at = _together(case, parts)

    def right(embedded: np.ndarray, split: str) -> np.ndarray:
        sides = [
            (features(part, lambda texts: embedded[at(texts)]), _labels(part))
            for part in (parts["train"], parts[split])
        ]
        return knn_right(*sides[0], *sides[1], k=3)

    return rows, right


def _together(case: Case, parts: Mapping[str, Corpus]) -> tuple[np.ndarray, Callable[[list[str]], list[int]]]:
    """The vectors of all sentences, and a function that returns the rows of given sentences."""
    texts = list(dict.fromkeys(text for part in parts.values() for text in part.sentences()))
    number = {text: row for row, text in enumerate(texts)}
    return _vectors(case, texts), lambda texts: [number[text] for text in texts]


def features(part: Corpus, rows_of: Callable[[list[str]], Any]) -> Any:
    """A sentence's row; for pairs |u - v| and u · v, concatenated."""
    if isinstance(part, Pairs):
        return pair_features(rows_of(list(part.text_a)), rows_of(list(part.text_b)))
    return rows_of(list(part.classified()[0]))


def _labels(part: Corpus) -> list[str]:
    """The class of each row."""
    return [str(int(value)) for value in part.values] if isinstance(part, Pairs) else part.classified()[1]


def _thirds(corpus: Corpus) -> dict[str, Corpus]:
    """Train, dev and test, each sampled to a size embedded in minutes; a missing dev is cut from train."""
    parts = {split: corpus.part(split) for split in ("train", "dev", "test") if split in corpus.splits}
    if "dev" not in parts:
        train = parts["train"]
        order = np.random.default_rng(0).permutation(len(train)).tolist()
        held = min(MOST["dev"], len(train) // 5)
        parts = {"train": train.take(order[held:]), "dev": train.take(order[:held]), "test": parts["test"]}
    share = 2 if isinstance(corpus, Pairs) else 1  # sentences per row
    return {
        name: part.take(np.random.default_rng(1).permutation(len(part))[: MOST[name] // share].tolist())
        for name, part in parts.items()
    }


# --- both ------------------------------------------------------------------------------------------------------


def _over(rows: np.ndarray, judge: Callable[[np.ndarray], float], figure: str) -> dict[str, float]:
    """LP at each number of neighbours and each dimension that the rows allow."""
    near = [k for k in NEIGHBOURS if k < len(rows)]
    sizes = [p for p in DIMENSIONS if p < len(rows) - 1]
    figures = {f"k={k} {figure}": judge(transformed(rows, replace(AT, neighbours=k))) for k in near}
    whole = transformed(rows, replace(AT, size=max(sizes)))
    return figures | {f"p={p} {figure}": judge(whole[:, :p]) for p in sizes}  # the first p columns have dimension p


def _chosen(points: Sequence[Point], figure: str) -> dict[str, float]:
    """The number of neighbours and the dimension behind a score of LP."""
    point = best(points, LP)
    return {f"lp k {figure}": float(point.neighbours), f"lp p {figure}": float(point.size)}


def _grid(case: Case) -> Grid:
    return SMALL if case.quick else GRID


def _vectors(case: Case, texts: Sequence[str]) -> np.ndarray:
    """The frozen model's vectors."""
    method = case.fitted(Labelled(list(texts), ["-"] * len(texts), name="texts", splits="train"))  # learns nothing
    return np.asarray(method.encode(list(texts), batch_size=64), np.float32)

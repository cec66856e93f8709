"""SBERT-LP (Min et al. 2021): tables 1 to 4, figures 2 to 5. The figures are pictures without numbers."""

from __future__ import annotations

from typing import Any

from labkit.papers.claims import Claim
from labkit.papers.published.sentpwnet import NO_WEIGHTS
from labkit.papers.recipes.locally_linear import (
    DIMENSIONS,
    MOST,
    NEIGHBOURS,
    logistic_on_frozen,
    reversed_order,
    swept_classes,
    swept_grades,
    transformed_classes,
    transformed_clusters,
    transformed_grades,
)
from labkit.papers.recipes.scoring import Compute, pretrained
from labkit.papers.records import FEW_SEEDS, Column, Paper, Recipe, Row, Table, printed

FLOW = "its flow is trained on BERT's vectors of each dataset, and the paper gives no weights for it"
MINI = "all-MiniLM-L6-v2"
# : our rows below the paper's: the same vectors, unchanged and after each transform
OURS = {
    f"{MINI}, as it is": "raw",
    f"{MINI} + LP": "lp",
    f"{MINI} + PCA": "pca",
    f"{MINI} + whitening": "whitening",
    f"{MINI} + all-but-the-top": "all-but-the-top",
}


def _rows(run: Compute, figures: dict[str, tuple[float | None, ...]], **more: Any) -> tuple[Row, ...]:
    """The paper's rows, and ours below them for the available vectors."""
    rows = []
    for name, numbers in figures.items():
        if name.startswith(("InferSent", "Universal", "SBERT-WK")):
            rows.append(Row(name, numbers, why_not=NO_WEIGHTS))
        elif name.endswith("flow"):
            rows.append(Row(name, numbers, why_not=FLOW))
        elif "GloVe" in name or "fast-text" in name:
            rows.append(Row(name, numbers, why_not="the published word vectors are not available here"))
        else:
            transform = "lp " if name.endswith("+ LP") else "raw "
            rows.append(Row(name, numbers, pretrained(name.removesuffix(" + LP"), run, **more), figure=transform))
    recipe = Recipe(run, "sbert", **more)
    rows += [Row(name, (), recipe, figure=f"{transform} ") for name, transform in OURS.items()]
    chosen = {"k chosen by the sweep": "lp k ", "p chosen by the sweep": "lp p "}
    rows += [Row(f"{MINI} + LP: {what}", (), recipe, figure=figure, counted=True) for what, figure in chosen.items()]
    return tuple(rows)


def _lead(columns: tuple[str, ...], what: str) -> tuple[Claim, ...]:
    """LP against the same vectors without it, for each encoder."""
    pairs = [(f"SBERT {size} + LP", f"SBERT {size}") for size in ("base", "large")]
    claims = [Claim(f"{what}: {mine} leads {theirs}", (mine,), (theirs,), columns) for mine, theirs in pairs]
    mine, plain = f"{MINI} + LP", f"{MINI}, as it is"
    return (*claims, Claim(f"{what}: {mine} leads {plain}", (mine,), (plain,), columns, ours=True))


STS = printed("""
    Avg. GloVe embeddings        55.14 70.66 59.73 68.25 63.66 58.02 53.76
    Avg. BERT embeddings         38.78 57.98 57.98 63.15 61.06 46.35 58.40
    BERT cls-vector              20.16 30.01 20.09 36.88 38.08 16.50 42.63
    InferSent-GloVe              52.86 66.75 62.15 72.77 66.87 68.03 65.65
    Universal Sentence Encoder   64.49 67.80 64.61 76.83 73.18 74.92 76.69
    SBERT base                   70.97 76.53 73.19 79.09 74.30 77.03 72.91
    SBERT large                  72.27 78.46 74.90 80.99 76.25 79.23 73.75
    BERT base-flow               68.95 78.48 77.62 81.95 78.94 81.03 74.97
    BERT large-flow              70.19 80.27 78.85 82.97 80.57 81.18 74.52
    SBERT-WK                     68.20 68.80 74.30 77.50 77.00 - -
    SBERT base + LP              73.11 80.90 74.71 76.04 72.56 78.86 75.94
    SBERT large + LP             72.12 84.59 78.88 80.42 76.50 82.31 76.70
""")
_YEARS = ("2012", "2013", "2014", "2015", "2016")
_STS = (*(f"STS {year}" for year in _YEARS), "STS-B", "SICK")
TABLE_1 = Table(
    "sbert-lp", "1", "Spearman's correlation between cosines and human ratings, times 100",
    (
        *(Column(f"STS {year}", f"spearman {year}", "sts", 100, ".2f") for year in _YEARS),
        Column("STS-B", "spearman", "stsb", 100, ".2f"),
        Column("SICK", "spearman", "sick", 100, ".2f"),
    ),
    _rows(transformed_grades, STS, seeds=1),
    note="The paper finds the number of neighbours by a grid search and does not say on which split. Here it and the "
    "dimension come from a dev split (for SICK from the training pairs, for each year from the other years). LP embeds "
    "all sentences of a set together, including those that are scored, and evens out their density. This is why "
    "all-MiniLM-L6-v2 falls furthest on the pairs of 2015, whose subsets differ in density: the students' answers, all "
    "about circuits, move apart, and those of the forum move together.",
    claims=(
        *_lead(_STS, "grades"),
        Claim("SBERT with LP outperforms all other methods", ("SBERT base + LP", "SBERT large + LP"),
              tuple(name for name in STS if "LP" not in name), _STS, best=True),
        Claim("SBERT with LP leads BERT-flow on five of the seven sets", ("SBERT base + LP", "SBERT large + LP"),
              ("BERT base-flow", "BERT large-flow"), ("STS 2012", "STS 2013", "STS 2014", "STS-B", "SICK"), best=True),
    ),
)  # fmt: skip

CLASSES = printed("""
    Avg. GloVe embeddings        82.94 85.25 92.51 90.02 83.69 78.40 80.00
    Avg. BERT embeddings         85.15 89.43 96.06 91.19 86.55 89.00 80.99
    Avg. fast-text embeddings    83.36 86.54 93.12 91.14 83.96 89.20 79.36
    BERT cls-vector              82.87 84.19 93.88 88.50 82.10 81.40 78.78
    InferSent-GloVe              85.53 89.03 93.86 92.60 88.08 85.20 75.88
    Universal Sentence Encoder   80.09 85.19 93.98 86.70 86.38 93.20 70.14
    SBERT base                   86.96 93.38 93.07 93.71 90.88 81.40 83.07
    SBERT large                  89.15 94.38 93.33 93.80 92.92 79.80 83.94
    SBERT base + LP              87.19 93.64 93.23 93.88 91.32 83.06 83.94
    SBERT large + LP             88.89 94.65 93.58 94.18 92.75 83.60 84.35
""")
_SETS = ("MR", "CR", "SUBJ", "MPQA", "SST", "TREC", "MRPC")
# : for comparison with the vote of neighbours: the same frozen vectors, with weights learned for the classes
LOGISTIC = tuple(
    Row(f"{name}, logistic regression", (), Recipe(logistic_on_frozen, method, seeds=1))
    for name, method in ((MINI, "sbert"), ("TF-IDF", "tfidf"))
)
TABLE_2 = Table(
    "sbert-lp", "2", "Classifying sentences by their three nearest training sentences: accuracy in percent",
    tuple(Column(name, "accuracy", name.lower(), 100, ".2f") for name in _SETS),
    (*_rows(transformed_classes, CLASSES, seeds=1), *LOGISTIC),
    note="TREC has 500 test questions, so an accuracy is a multiple of 0.20 %, which 83.06 % is not. Here at most "
    f"{MOST['train']:,} training, {MOST['dev']:,} dev and {MOST['test']:,} test sentences, drawn at random, are "
    "embedded together. A pair is represented by |u - v| and u · v. Logistic regression learns from "
    "the same vectors, with a penalty chosen on dev.",
    claims=(
        *_lead(_SETS, "classes"),
        Claim("SBERT with LP is best on CR, MPQA and MRPC", ("SBERT base + LP", "SBERT large + LP"),
              tuple(name for name in CLASSES if "LP" not in name), ("CR", "MPQA", "MRPC"), best=True),
    ),
)  # fmt: skip

NEWS = printed("""
    Avg. GloVe embeddings        1.0444 .3558 .1797 .3327
    Avg. BERT embeddings         0.7320 .2520 .1030 .2380
    Avg. fast-text embeddings    0.5491 .1886 .0708 .2057
    BERT cls-vector              0.1056 .0361 .0104 .1020
    Universal Sentence Encoder   1.6585 .5628 .3732 .5740
    SBERT base                   0.9659 .3255 .1745 .3540
    SBERT large                  0.9412 .3166 .1590 .3330
    SBERT base + LP              1.2400 .4467 .1917 .4570
    SBERT large + LP             1.3171 .4594 .2656 .4906
""")
_AGREEMENT = ("MI", "NMI", "ARI", "purity")
TABLE_3 = Table(
    "sbert-lp", "3", "Recovering newsgroups with k-means: agreement with the true groups",
    tuple(Column(name, name.lower(), "20news", printed=".4f") for name in _AGREEMENT),
    _rows(transformed_clusters, NEWS),
    seeds=FEW_SEEDS,
    note=(
        f"Of the test texts, {2 * MOST['test']:,} are drawn. One half is used to choose the number of neighbours and "
        "the dimension; the scores come from the other half."
    ),
    claims=(
        *_lead(_AGREEMENT, "clusters"),
        Claim("the Universal Sentence Encoder leads all other methods", ("Universal Sentence Encoder",),
              tuple(name for name in NEWS if not name.startswith("Universal")), _AGREEMENT),
    ),
)  # fmt: skip

TABLE_4 = Table(
    "sbert-lp", "4",
    "Percentage of pairs with different grades whose order one measure gets right and the other wrong",
    (Column("fixed by LP", "fixed", "stsb", 100, ".2f"),
     Column("broken by LP", "broken", "stsb", 100, ".2f", larger=False)),
    (Row(MINI, (), Recipe(reversed_order, "sbert", seeds=1)),),
    note="The paper shows one such case, from STS 2013: people gave 2.2 and 3.0, SBERT .6408 and .6236, and LP .2335 "
    "and .4234. One case proves nothing, so all are counted here, in both directions.",
)  # fmt: skip


def _sweep(number: str, caption: str, letter: str, values: tuple[int, ...], sets: dict[str, str]) -> Table:
    """A figure: one line per data set, one position on the axis per value."""
    run, figure = (swept_grades, "spearman") if sets is _GRADED else (swept_classes, "accuracy")
    recipe = Recipe(run, "sbert", seeds=1)
    rows = tuple(Row(f"{letter} = {value}", (), recipe, figure=f"{letter}={value} ") for value in values)
    columns = tuple(Column(name, figure, data, 100, ".2f") for name, data in sets.items())
    note = (
        f"The paper's figure is an image, and its values are not printed. Ours is {MINI} + LP, with p = 128 where k "
        "varies and k = 20 where p varies."
    )
    claims = _OPTIMA.get(number, ())
    return Table("sbert-lp", number, caption, columns, rows, note=note, claims=claims)


_GRADED = {"STS-B": "stsb", "SICK": "sick"}
_CLASSED = {"MR": "mr", "SUBJ": "subj", "TREC": "trec"}
_OPTIMA = {
    "figure-4": (
        Claim("128 to 300 dimensions are best for grades", ("p = 128", "p = 200", "p = 300"),
              ("p = 8", "p = 16", "p = 32", "p = 64"), tuple(_GRADED), best=True),
    ),
    "figure-5": (
        Claim("16 to 64 dimensions are best for sentiment", ("p = 16", "p = 32", "p = 64"),
              ("p = 8", "p = 128", "p = 200", "p = 300"), ("MR",), best=True),
    ),
}  # fmt: skip
PAPER = Paper(
    "sbert-lp",
    "Changrong Min, Yonghe Chu, Liang Yang, Bo Xu, Hongfei Lin. Locality Preserving Sentence Encoding. Findings of "
    "EMNLP 2021.",
    (
        TABLE_1,
        TABLE_2,
        TABLE_3,
        TABLE_4,
        _sweep("figure-2", "Correlation with human ratings by number of neighbours", "k", NEIGHBOURS, _GRADED),
        _sweep("figure-3", "Classification accuracy by number of neighbours", "k", NEIGHBOURS, _CLASSED),
        _sweep("figure-4", "Correlation with human ratings by dimension", "p", DIMENSIONS, _GRADED),
        _sweep("figure-5", "Classification accuracy by dimension", "p", DIMENSIONS, _CLASSED),
    ),
)

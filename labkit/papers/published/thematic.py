"""Thematic triplets (Ein Dor et al. 2018): tables 3, 4 and 5."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from labkit.papers.case import Case
from labkit.papers.claims import Claim
from labkit.papers.published.printed import printed
from labkit.papers.recipes.grades import learned_grades
from labkit.papers.recipes.sections import clustered, told_apart
from labkit.papers.records import Column, Outcome, Paper, Recipe, Row, Table

CITATION = (
    "Liat Ein Dor, Yosi Mass, Alon Halfon, Elad Venezian, Ilya Shnayderman, Ranit Aharonov, Noam Slonim. Learning "
    "Thematic Similarity Metric Using Triplet Networks. ACL 2018."
)
# chosen on dev (benchmarks/thematic.py): small corpora want word vectors that move, large ones are seen once or twice
EMBEDDED = {"dimension": 100, "size": 100, "pace": 1.0, "epochs": 15}
PUBLISHED = {"batch": 512, "neighbours": 8, "learning_rate": 0.0005, "epochs": 1, "patience": 1, "dimension": 300,
             "size": 300, "pace": 0.0}  # fmt: skip
# a second pass over 176,000 triplets of sentences gains nothing on dev; of titles there are 10,000
LONGER = {"titles": {"epochs": 8}, "both": {"epochs": 3}}
QUICK = {"epochs": 2, "size": 60, "dimension": 60}
MADE_HERE = (
    "Word vectors are made of the corpus itself (PPMI; on published data 300 numbers for the networks, 100 for the "
    "plain mean), where the paper has GloVe's 300; distances are cosines, where it has L1. On published data triplets "
    "of sentences are learned in one pass, those of titles in eight, both together in three."
)
SKIP = "the weights of skip-thoughts are not at hand, and its SICK regression needs them"
#: row of the paper -> method and settings
MODELS: dict[str, tuple[str, dict[str, object]]] = {
    "mean-vectors": ("mean-vectors", {}),
    "triplets-sen": ("thematic", {"rule": "adjacent"}),
    "triplets-sen-rand-sec": ("thematic", {"rule": "article"}),
    "triplets-sen-rand-art": ("thematic", {"rule": "other"}),
    "triplets-titles": ("thematic", {"rule": "titles"}),
    "triplets-sen-titles": ("thematic", {"rule": "both"}),
}


def _rows(run: Callable[[Case], Outcome], figures: dict[str, tuple[float | None, ...]], **more: Any) -> tuple[Row, ...]:
    made = []
    for name, numbers in figures.items():
        if name not in MODELS:
            made.append(Row(name, numbers, why_not=SKIP))
            continue
        method, settings = MODELS[name]
        if method != "thematic":
            made.append(Row(name, numbers, Recipe(run, method, settings, cost=0.5, **more)))
            continue
        published = {**PUBLISHED, **LONGER.get(str(settings["rule"]), {})}
        settings = {**EMBEDDED, **settings}
        made.append(Row(name, numbers, Recipe(run, method, settings, QUICK, published, cost=60.0, **more)))
    return tuple(made)


ACCURACY = printed("""
    mean-vectors         .65
    skip-thoughts-CS     .615
    skip-thoughts-SICK   .547
    triplets-sen         .74
""")
TABLE_3 = Table(
    "thematic",
    "3",
    "Triplets of sentences from articles not seen in training: how often the one of the same section is nearer",
    (Column("accuracy", "triplet_accuracy", "articles"),),
    _rows(told_apart, ACCURACY),
    note=MADE_HERE,
    claims=(
        Claim("the triplet network leads every other method", ("triplets-sen",),
              ("mean-vectors", "skip-thoughts-CS", "skip-thoughts-SICK"), ("accuracy",)),
    ),
)  # fmt: skip

#: MI, AMI, RI, ARI with Iclust, then with k-means
CLUSTERS = printed("""
    mean-vectors            .811 .222 .774 .154   .706 .153 .7760 .103
    skip-thoughts-CS        .656 .125 .747 .087   .624 .099 .745 .067
    triplets-sen-rand-art   .885 .266 .787 .192   .793 .205 .775 .145
    triplets-sen            .935 .296 .801 .224   .873 .257 .791 .195
    triplets-titles         .904 .273 .799 .206   .836 .231 .786 .172
    triplets-sen-titles     .945 .303 .803 .230   .873 .258 .791 .194
    triplets-sen-rand-sec   - - - -   - - - -
""")
_COLUMNS = tuple(
    Column(f"{said} {figure.upper()}", f"{algorithm} {figure}", "articles")
    for algorithm, said in (("iclust", "Iclust"), ("kmeans", "k-means"))
    for figure in ("mi", "ami", "ri", "ari")
)
_ALL = tuple(column.name for column in _COLUMNS)
_OURS = ("triplets-sen", "triplets-titles", "triplets-sen-titles")
_OTHERS = (*_OURS[:2], "triplets-sen-rand-art", "mean-vectors")
TABLE_4 = Table(
    "thematic",
    "4",
    "Sentences of an article clustered into its sections: agreement, as a mean over articles",
    _COLUMNS,
    _rows(clustered, CLUSTERS),
    note=f"{MADE_HERE} Which sentences are clustered is not said: here those that open a paragraph and have 5 to 50 "
    "words. With cosines at temperature 0, Iclust's objective is k-means' on unit vectors; its lead is the "
    "optimiser's. The last row is an alternative of which section 5 says, without figures, that it performs the same.",
    claims=(
        Claim("all triplet networks lead both other methods", _OURS, ("mean-vectors", "skip-thoughts-CS"), _ALL),
        Claim("the two networks side by side are best with Iclust", _OURS[2:], _OTHERS, _ALL[:4]),
        Claim("the two networks side by side are best with k-means", _OURS[2:], _OTHERS, _ALL[4:]),
        Claim("negatives from the neighbouring sections lead those from other articles", ("triplets-sen",),
              ("triplets-sen-rand-art",), _ALL),
        Claim("negatives from any section of the article are worth the same as those from the neighbouring ones",
              ("triplets-sen-rand-sec",), ("triplets-sen",), _ALL, tie=True),
    ),
)  # fmt: skip

RELATED = printed("""
    mean-vectors          .757 .673 .4557
    skip-thoughts-SICK    .858 .791 .287
    triplets-sen          .797 .704 .372
    triplets-titles       .786 .685 .393
    triplets-sen-titles   .818 .724 .339
""")
_GRADED = ("Pearson", "Spearman", "MSE")
TABLE_5 = Table(
    "thematic",
    "5",
    "Grades of relatedness learned from the vectors of two sentences, SICK",
    (
        Column("Pearson", "pearson", "sick"),
        Column("Spearman", "spearman", "sick"),
        Column("MSE", "mse", "sick", larger=False),
    ),
    _rows(learned_grades, RELATED, also=("articles",)),
    note=MADE_HERE,
    claims=(
        Claim("the two networks side by side lead each alone and the mean of vectors", ("triplets-sen-titles",),
              ("triplets-sen", "triplets-titles", "mean-vectors"), _GRADED[:2]),
        Claim("skip-thoughts trained for the task lead the triplet networks", ("skip-thoughts-SICK",),
              ("triplets-sen", "triplets-titles", "triplets-sen-titles"), _GRADED[:2]),
    ),
)  # fmt: skip

PAPER = Paper("thematic", CITATION, (TABLE_3, TABLE_4, TABLE_5))

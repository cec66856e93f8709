"""FILM: metric learning on sparse rows that is fast, of low rank, and can be read. numpy and scipy in, records out.

triplets      a corpus to sparse rows of TF-IDF, and to triplets "i is closer to j than to k"
objective     what is minimised, its gradient, its lower bound
stiefel       descent over matrices with orthonormal columns, for any objective
solvers       the ways to the minimum, and rows and triplets to L, in three settings
reading       the rows of L in words, and a similarity in words, exactly
rule          the paper's decision rule, and probabilities from it
estimator     FILM for scikit-learn
method        FILM with corpora, settings and run folders
deep          the paper's deep twin
"""

from labkit.explanation import Explanation
from labkit.film.estimator import FILM
from labkit.film.reading import explain_pair, readable, varimax, word_rows
from labkit.film.rule import curves, mutual_ranks
from labkit.film.solvers import Learned, Plan, learn
from labkit.film.triplets import Clusters, Recipe, cluster_triplets

__all__ = [
    "FILM",
    "Clusters",
    "Explanation",
    "Learned",
    "Plan",
    "Recipe",
    "cluster_triplets",
    "curves",
    "explain_pair",
    "learn",
    "mutual_ranks",
    "readable",
    "varimax",
    "word_rows",
]

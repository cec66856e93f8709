"""FILM: metric learning on sparse rows that is fast, of low rank, and can be read. numpy and scipy in, records out.

    stiefel       descent over matrices with orthonormal columns, for any objective
    triplets      "i is closer to j than to k", from clusters           sources   clusters from a corpus
    objective     what is minimised, its gradient, its lower bound
    solvers       three ways to its minimum, averaging one by batches   spectral  features that keep rare words
    learning      rows and triplets to L, in three settings             estimator the same for scikit-learn
    explanation   a similarity in words, exactly                        rows      the rows of L in words
    pairwise_knn  the paper's decision rule, and probabilities from it  tfidf     sentences to sparse rows

The method that meets corpora and run folders is `labkit.film.method`.
"""

from labkit.film.estimator import FILM
from labkit.film.reading import Explanation, explain_pair, readable, varimax, word_rows
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

"""How good are embeddings? numpy arrays in, frozen records or floats out; every record prints as one line.

    pairs        scores and labels or people's grades      best_threshold, pair_classification, triplet_accuracy;
                                                           correlation, its parts and error; reversals; relatedness
    neighbours   the exact search below it all             nearest; movement, moved_together: who moved
    retrieval    neighbours of one's own class             hit_at, precision_at_r, knn_accuracy, knn_right
    classes      clusters, classes and pictures            kmeans, clustering_agreement; logistic_right; inter_intra,
                                                           trustworthiness
    regions      what sentences are about, in words        regions, set_apart
    geometry     vectors on the sphere                     alignment, uniformity, effective_rank
    iclust       clusters from similarities alone          iclust
    coherence    paraphrases lie together                  p_coherence
    comparison   more than chance?                         over_seeds, leader, paired_test, lead_of
    scores       a method on a corpus                      score, selection
    leaderboard  runs side by side                         leaderboard

Larger scores and similarities are closer, smaller distances are. Ties never flatter. Dense embeddings and scipy's
sparse ones are both welcome.
"""

from labkit.evaluation.classes import (
    Agreement,
    InterIntra,
    clustering_agreement,
    inter_intra,
    kmeans,
    logistic_right,
    trustworthiness,
)
from labkit.evaluation.coherence import Coherence, p_coherence
from labkit.evaluation.comparison import Lead, PairedTest, Parts, Spread, lead_of, leader, over_seeds, paired_test
from labkit.evaluation.iclust import iclust
from labkit.evaluation.neighbours import MovedTogether, Movement, moved_together, movement, nearest
from labkit.evaluation.pairs import (
    Correlation,
    PairClassification,
    Relatedness,
    Reversal,
    Reversals,
    best_threshold,
    correlation,
    correlation_parts,
    pair_classification,
    relatedness,
    reversals,
    spearman_error,
    triplet_accuracy,
)
from labkit.evaluation.retrieval import HitRates, PrecisionAtR, hit_at, knn_accuracy, knn_right, precision_at_r

__all__ = [
    "Agreement",
    "Coherence",
    "Correlation",
    "HitRates",
    "InterIntra",
    "Lead",
    "MovedTogether",
    "Movement",
    "PairClassification",
    "PairedTest",
    "Parts",
    "PrecisionAtR",
    "Relatedness",
    "Reversal",
    "Reversals",
    "Spread",
    "best_threshold",
    "clustering_agreement",
    "correlation",
    "correlation_parts",
    "hit_at",
    "iclust",
    "inter_intra",
    "kmeans",
    "knn_accuracy",
    "knn_right",
    "lead_of",
    "leader",
    "logistic_right",
    "moved_together",
    "movement",
    "nearest",
    "over_seeds",
    "p_coherence",
    "pair_classification",
    "paired_test",
    "precision_at_r",
    "relatedness",
    "reversals",
    "spearman_error",
    "triplet_accuracy",
    "trustworthiness",
]

"""How good are embeddings? numpy arrays in, frozen records or floats out; every record prints as one line.

    classification          scores of pairs and triplets       best_threshold, pair_classification, triplet_accuracy
    neighbours              the exact search below it all      nearest
    retrieval               neighbours of one's own class      hit_at, knn_accuracy, knn_right
    clustering              k-means; agreement of labellings   kmeans, clustering_agreement
    information_clustering  clusters from similarities alone   iclust
    correlations            a score and people's grades        correlation, its parts and error
    ordering                two scores and people's grades     reversals
    regression              grades learned from embeddings     relatedness
    geometry                classes and pictures               inter_intra, trustworthiness
    coherence               paraphrases lie together           p_coherence
    comparison              more than chance?                  over_seeds, leader, paired_test, lead_of

Larger scores and similarities are closer, smaller distances are. Ties never flatter. Dense embeddings and scipy's
sparse ones are both welcome.
"""

from labkit.evaluation.classes import Agreement, InterIntra, clustering_agreement, inter_intra, kmeans, trustworthiness
from labkit.evaluation.coherence import Coherence, p_coherence
from labkit.evaluation.comparison import Lead, PairedTest, Parts, Spread, lead_of, leader, over_seeds, paired_test
from labkit.evaluation.iclust import iclust
from labkit.evaluation.neighbours import nearest
from labkit.evaluation.pairs import (
    Correlation,
    PairClassification,
    Relatedness,
    Reversal,
    Reversals,
    best_threshold,
    correlation,
    correlation_by,
    correlation_parts,
    pair_classification,
    relatedness,
    reversals,
    spearman_error,
    triplet_accuracy,
)
from labkit.evaluation.retrieval import HitRates, hit_at, knn_accuracy, knn_right

__all__ = [
    "Agreement",
    "Coherence",
    "Correlation",
    "HitRates",
    "InterIntra",
    "Lead",
    "PairClassification",
    "PairedTest",
    "Parts",
    "Relatedness",
    "Reversal",
    "Reversals",
    "Spread",
    "best_threshold",
    "clustering_agreement",
    "correlation",
    "correlation_by",
    "correlation_parts",
    "hit_at",
    "iclust",
    "inter_intra",
    "kmeans",
    "knn_accuracy",
    "knn_right",
    "lead_of",
    "leader",
    "nearest",
    "over_seeds",
    "p_coherence",
    "pair_classification",
    "paired_test",
    "relatedness",
    "reversals",
    "spearman_error",
    "triplet_accuracy",
    "trustworthiness",
]

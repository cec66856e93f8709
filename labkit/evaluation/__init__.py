"""Measures of the quality of embeddings. In: numpy arrays. Out: frozen records or floats.

For scores and similarities, larger is closer; for distances, smaller is closer. A tie counts as a mistake. Embeddings
may be dense arrays or sparse scipy matrices.
"""

from labkit.evaluation.classes import Agreement, clustering_agreement, inter_intra, kmeans, logistic_right
from labkit.evaluation.coherence import Coherence, p_coherence
from labkit.evaluation.comparison import Parts, lead_of
from labkit.evaluation.iclust import iclust
from labkit.evaluation.neighbours import moved_together, movement, moves, nearest
from labkit.evaluation.pairs import (
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
from labkit.evaluation.retrieval import hit_at, knn_accuracy, knn_right, precision_at_r

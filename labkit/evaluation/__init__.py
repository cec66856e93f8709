"""How good are embeddings? In: numpy arrays. Out: frozen records or floats.

    pairs        pairs of sentences against labels and grades   best_threshold, pair_classification, triplet_accuracy,
                                                                correlation, reversals, relatedness
    threshold    where to cut a similarity, and how sure        threshold
    neighbours   exact nearest neighbours                       nearest; movement, moved_together: what moved
    retrieval    neighbours of the same class                   hit_at, precision_at_r, knn_accuracy
    classes      clusters and classes                           kmeans, clustering_agreement, inter_intra, ...
    iclust       clusters from similarities alone               iclust
    regions      what sentences are about, in words             regions, set_apart
    geometry     vectors on the sphere                          alignment, uniformity, effective_rank
    coherence    paraphrases are close together                 p_coherence
    comparison   more than chance?                              lead_of
    scores       a method on a corpus                           score, selection
    leaderboard  runs side by side                              leaderboard

For scores and similarities, larger is closer; for distances, smaller is closer. A tie counts as a mistake. Dense
embeddings and scipy's sparse ones are both accepted.
"""

from labkit.evaluation.classes import Agreement, clustering_agreement, inter_intra, kmeans, logistic_right
from labkit.evaluation.coherence import Coherence, p_coherence
from labkit.evaluation.comparison import Parts, lead_of
from labkit.evaluation.iclust import iclust
from labkit.evaluation.neighbours import moved_together, movement, nearest
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

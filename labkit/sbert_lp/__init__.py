"""Locally linear embedding: express each row as a mixture of its neighbours, and preserve the mixtures in few
dimensions.

graph, weights -> eigenvectors -> estimator (arrays) -> method (sentences) -> sweeps, view
"""

from labkit.sbert_lp.estimator import LocalityPreserving

__all__ = ["LocalityPreserving"]

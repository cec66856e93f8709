"""Locally linear embedding: each row as a mixture of its neighbours, and the same mixtures in few dimensions.

graph         copies set aside; the k nearest others; what the graph of them is made of
weights       the mixture of each row, in batches; new rows by mixtures of known ones
eigenvectors  the bottom of M = (I - W)ᵀ(I - W), part by part, dense or filtered
estimator     all of it as a scikit-learn estimator, with a record of what a fit has found
method        the same for sentences: SBERT-LP over any base
sweeps        many neighbourhoods and dimensions, compared with other transformations
view          one sentence, all of them, and pairs, before and after

LocalityPreserving(n_neighbors=15, n_components=100).fit_transform(X)    transform(new)
"""

from labkit.sbert_lp.estimator import LocalityPreserving

__all__ = ["LocalityPreserving"]

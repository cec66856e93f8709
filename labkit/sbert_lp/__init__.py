"""Locally linear embedding: each row as a mixture of its neighbours, with the same mixtures in few dimensions.

graph         copies, which are set aside; the components of the neighbour graph
weights       the mixture of each row, in batches; new rows by mixtures of known ones
eigenvectors  the bottom of M = (I - W)ᵀ(I - W), part by part, dense or filtered
estimator     the whole as a scikit-learn estimator, with a record of the fit
method        the same for sentences: SBERT-LP over any base
sweeps        many neighbourhoods and dimensions, compared with other transforms
view          one sentence, all of them, and pairs, before and after

LocalityPreserving(n_neighbors=15, n_components=100).fit_transform(X)
"""

from labkit.sbert_lp.estimator import LocalityPreserving

__all__ = ["LocalityPreserving"]

"""Locally linear embedding: each row as a mixture of its neighbours, and the same mixtures in few dimensions.

neighbours    copies set aside; the k nearest others          weights     the mixture of each row, in batches
components    what the neighbour graph is made of             spectrum    the bottom of M, part by part
density       how many eigenvalues lie below what             filtered    eigenvectors of large M, nothing factorised
record        what was found, to be read and shown            remarks     what a fit warns of
estimator     all of it, as scikit-learn's estimators go

LocalityPreserving(n_neighbors=15, n_components=100).fit_transform(X)    transform(new)    record_.neighbourhood(row)
"""

from labkit.sbert_lp.estimator import LocalityPreserving, Neighbourhood, Record

__all__ = ["LocalityPreserving", "Neighbourhood", "Record"]

"""Bundled runs and pictures: small runs of every method, and pictures of them and of baseline vectors.

table       the runs: name, method, corpus, settings           worth       how each compares with mean word vectors
pictures    precomputed PCA, t-SNE and UMAP                    making      rebuild all of it: `labkit data make runs`
known       which plain vectors they are of
"""

from labkit.shipped.pictures import Origin, picture, pictured
from labkit.shipped.runs import DEMONSTRATIONS, Demonstration, Standing, standing

__all__ = ["DEMONSTRATIONS", "Demonstration", "Origin", "Standing", "picture", "pictured", "standing"]

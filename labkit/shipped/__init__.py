"""Bundled runs and pictures: small runs of every method, and pictures of them and of baseline vectors.

runs        the runs: method, corpus, settings; how each compares with mean word vectors
pictures    precomputed PCA, t-SNE and UMAP
making      measure and rebuild all of it, and the data cards
"""

from labkit.shipped.pictures import Origin, picture, pictured
from labkit.shipped.runs import DEMONSTRATIONS, Demonstration, Standing, standing

__all__ = ["DEMONSTRATIONS", "Demonstration", "Origin", "Standing", "picture", "pictured", "standing"]

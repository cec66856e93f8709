"""Bundled runs and pictures: small runs of every method, and pictures of them and of baseline vectors.

table       the runs: name, method, corpus, settings           worth       what each is worth beside mean word vectors
pictures    PCA, t-SNE and UMAP made beforehand                making      all of it anew: `labkit data make runs`
known       which plain vectors they are of
"""

from labkit.shipped.pictures import Origin, picture, pictured
from labkit.shipped.runs import DEMONSTRATIONS, Demonstration, Standing, standing

__all__ = ["DEMONSTRATIONS", "Demonstration", "Origin", "Standing", "picture", "pictured", "standing"]

"""Embeddings as points in 2 or 3 dimensions, and how far the picture can be trusted.

    project(embeddings, "tsne") -> Projection
    epochs(snapshots, "pca") -> a Projection for each epoch
    place(projection, embeddings, new) -> Placement

Scores are measured in the space of the embeddings unless their name says they are measured in the picture.
"""

from labkit.projection.arrange import PROJECTIONS, pca, project, tsne
from labkit.projection.epochs import aligned, epochs, laid_over, limits, procrustes
from labkit.projection.picture import LEAST, NAMES, Basis, Projection, Quality, trust
from labkit.projection.placement import Placement, place

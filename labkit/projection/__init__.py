"""Embeddings in many dimensions to points for the eye, in 2 or 3; and how far the eye can trust them.

rows         what is accepted              linear       PCA, its basis
affinities   t-SNE: how near is near       forces       t-SNE: pull and push, exact; on_device, on a GPU
descent      t-SNE: the way down           stochastic   t-SNE: ours to 20,000 points, openTSNE above
manifold     UMAP, LLE                     quality      what is kept of the neighbourhoods
arrange      all four behind one call      alignment    one picture turned onto another, fixed axes
epochs       a picture for each epoch      placement    a new sentence in a picture

    project(embeddings, "tsne") -> Projection
    epochs(snapshots, "pca") -> a Projection for each epoch
    place(projection, embeddings, new) -> Placement

Figures are measured in the space of the embeddings; what is measured in the picture says so.
"""

from labkit.projection.arrange import PROJECTIONS, pca, project, tsne
from labkit.projection.epochs import aligned, epochs, limits, procrustes
from labkit.projection.picture import LEAST, NAMES, Basis, Projection, Quality, unit
from labkit.projection.placement import Placement, place

__all__ = [
    "LEAST",
    "NAMES",
    "PROJECTIONS",
    "Basis",
    "Placement",
    "Projection",
    "Quality",
    "aligned",
    "epochs",
    "limits",
    "pca",
    "place",
    "procrustes",
    "project",
    "tsne",
    "unit",
]

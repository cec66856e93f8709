"""Embeddings in many dimensions to points for the eye, in 2 or 3; and how far the eye can trust them.

picture      what a picture is, PCA, and what is kept of the neighbourhoods
t_sne        t-SNE: ours to 20,000 points, openTSNE above
arrange      all four behind one call; UMAP, LLE
epochs       a picture for each epoch, turned onto the one before; fixed axes; a run's journey
placement    a new sentence in a picture, and what stands near it

    project(embeddings, "tsne") -> Projection
    epochs(snapshots, "pca") -> a Projection for each epoch
    place(projection, embeddings, new) -> Placement

Figures are measured in the space of the embeddings; what is measured in the picture says so.
"""

from labkit.projection.arrange import PROJECTIONS, pca, project, tsne
from labkit.projection.epochs import aligned, epochs, laid_over, limits, procrustes
from labkit.projection.picture import LEAST, NAMES, Basis, Projection, Quality, trust
from labkit.projection.placement import Placement, place

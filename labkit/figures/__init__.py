"""Records in, plotly figure out. Notebooks and app draw with the same functions."""

from labkit.figures.clusters import clusters
from labkit.figures.similarity import similarity_histogram, similarity_scatter

__all__ = ["clusters", "similarity_histogram", "similarity_scatter"]

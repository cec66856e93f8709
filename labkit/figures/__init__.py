"""Records in, plotly figure out. Notebooks and app draw with the same functions."""

from labkit.figures.anchors import anchor_bars
from labkit.figures.batches import kept_heatmap, similarity_heatmap, weight_heatmap
from labkit.figures.clusters import clusters
from labkit.figures.explanations import explained_rows, explained_words, word_pairs
from labkit.figures.film_rows import row_components, row_strengths, row_words
from labkit.figures.mutual_rule import mutual_rule_curves
from labkit.figures.similarity import similarity_histogram, similarity_scatter
from labkit.figures.weights import weight_curves, weights_over_epochs

__all__ = [
    "anchor_bars",
    "clusters",
    "explained_rows",
    "explained_words",
    "kept_heatmap",
    "mutual_rule_curves",
    "row_components",
    "row_strengths",
    "row_words",
    "similarity_heatmap",
    "similarity_histogram",
    "similarity_scatter",
    "weight_curves",
    "weight_heatmap",
    "weights_over_epochs",
    "word_pairs",
]

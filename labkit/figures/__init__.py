"""Records in, plotly figure out. Notebooks and app draw with the same functions."""

from labkit.figures.anchors import anchor_bars
from labkit.figures.attention import attention_bars, marked
from labkit.figures.batches import kept_heatmap, similarity_heatmap, weight_heatmap
from labkit.figures.beside import ours_beside_paper
from labkit.figures.clusters import clusters
from labkit.figures.descents import descents, tangent_and_arc, two_ways
from labkit.figures.encoders import three_encoders
from labkit.figures.explanations import explained_rows, explained_words, word_pairs
from labkit.figures.film_rows import row_components, row_strengths, row_words
from labkit.figures.journeys import clusters_over_epochs
from labkit.figures.leaders import leader_bars
from labkit.figures.mutual_rule import mutual_rule_curves
from labkit.figures.order import order_counts, order_slopes
from labkit.figures.paraphrases import coherence_hills, paraphrase_groups
from labkit.figures.rebuilt import rebuilt, spectrum
from labkit.figures.seeds import seed_dots
from labkit.figures.similarity import similarity_histogram, similarity_scatter
from labkit.figures.stars import star
from labkit.figures.themes import agreement_of_articles, section_counts, section_ribbon
from labkit.figures.thresholds import threshold_curves
from labkit.figures.training import decoder_curves, training_curves
from labkit.figures.tried import chosen_bars, tried_curves
from labkit.figures.triplet_losses import triplet_losses
from labkit.figures.unrolled import unrolled
from labkit.figures.weights import loss_curves, pull_and_push, weight_curves, weights_over_epochs

__all__ = [
    "agreement_of_articles",
    "anchor_bars",
    "attention_bars",
    "chosen_bars",
    "clusters",
    "clusters_over_epochs",
    "coherence_hills",
    "decoder_curves",
    "descents",
    "explained_rows",
    "explained_words",
    "kept_heatmap",
    "leader_bars",
    "loss_curves",
    "marked",
    "mutual_rule_curves",
    "order_counts",
    "order_slopes",
    "ours_beside_paper",
    "paraphrase_groups",
    "pull_and_push",
    "rebuilt",
    "row_components",
    "row_strengths",
    "row_words",
    "section_counts",
    "section_ribbon",
    "seed_dots",
    "similarity_heatmap",
    "similarity_histogram",
    "similarity_scatter",
    "spectrum",
    "star",
    "tangent_and_arc",
    "three_encoders",
    "threshold_curves",
    "training_curves",
    "tried_curves",
    "triplet_losses",
    "two_ways",
    "unrolled",
    "weight_curves",
    "weight_heatmap",
    "weights_over_epochs",
    "word_pairs",
]

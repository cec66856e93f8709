"""Records in, plotly figure out. Notebooks and app draw with the same functions."""

from labkit.figures.clusters import clusters
from labkit.figures.comparison import leader_bars, ours_beside_paper, seed_dots
from labkit.figures.encoders import three_encoders
from labkit.figures.epochs import clusters_over_epochs, decoder_curves, training_curves
from labkit.figures.film import (
    descents,
    explained_rows,
    explained_words,
    mutual_rule_curves,
    row_components,
    row_strengths,
    row_words,
    tangent_and_arc,
    two_ways,
    word_pairs,
)
from labkit.figures.pairs import (
    anchor_bars,
    kept_heatmap,
    loss_curves,
    pull_and_push,
    similarity_heatmap,
    triplet_losses,
    weight_curves,
    weight_heatmap,
    weights_over_epochs,
)
from labkit.figures.paraphrases import coherence_hills, paraphrase_groups
from labkit.figures.sbert_lp import chosen_bars, order_counts, order_slopes, rebuilt, spectrum, star, tried_curves
from labkit.figures.similarity import similarity_histogram, similarity_scatter, threshold_curves
from labkit.figures.themes import agreement_of_articles, attention_bars, marked, section_counts, section_ribbon
from labkit.figures.unrolled import unrolled

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

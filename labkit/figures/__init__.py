"""Functions from records to plotly figures. The notebooks and the app use the same functions. Extra: plots."""

from labkit.extras import require

require("plots", "plotly")

from labkit.figures.clusters import clusters
from labkit.figures.comparison import (
    label_curves,
    leader_dots,
    leads_before_and_after,
    ours_beside_paper,
    seed_dots,
)
from labkit.figures.epochs import clusters_over_epochs, cosine_ridges, training_curves
from labkit.figures.film import mutual_rule_curves, mutual_rule_losses, row_of_pair
from labkit.figures.pairs import (
    anchor_bars,
    pull_and_push,
    similarity_heatmap,
    triplet_losses,
    weight_curves,
    weight_heatmap,
    weight_over,
)
from labkit.figures.sbert_lp import chosen_bars, order_counts, star, tried_curves, unrolled
from labkit.figures.similarity import (
    coherence_hills,
    explained_rows,
    explained_words,
    named_curves,
    similarity_histogram,
    similarity_scatter,
    word_pairs,
)
from labkit.figures.themes import attention_bars, section_counts, section_ribbon

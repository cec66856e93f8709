"""No sentence becomes markup, in whatever figure it stands."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from labkit import figures
from labkit.explanation import Parts
from labkit.film.reading import film_explanation, rows_of_pair
from labkit.film.rule import Rule, curves
from labkit.sentpwnet.view import Examined, anchor_curves
from tests.figures.examples import ALL, EVIL, texts_of


def all_figures(found: Examined) -> dict[str, go.Figure]:
    from scipy import sparse

    counts = Parts.of_sum((EVIL, "w"), sparse.csr_array(np.diag([0.6, 0.8])))
    told = film_explanation((EVIL, EVIL), counts, counts, np.eye(2), 0.5)
    row = rows_of_pair(counts, counts, np.eye(2), 0.5)[1]
    rates = curves(np.array([1, 2, 3, 1]), np.array([1, 1, 0, 0]), most=3)
    rule = Rule(rates, np.ones(3), np.ones(3), 2, 4, False)
    return {name: make() for name, make in ALL.items()} | {
        "similarity": figures.similarity_heatmap(found, anchor=1),
        "weight": figures.weight_heatmap(found),
        "anchor": figures.anchor_bars(found, 0, other=2),
        "curves": figures.weight_curves(anchor_curves(found, 0)),
        "words": figures.row_of_pair(row),
        "rows": figures.explained_rows(told),
        "of words": figures.explained_words(told),
        "word pairs": figures.word_pairs(told),
        "named": figures.named_curves({EVIL: [1, 2]}, across="x", upwards="y"),
        "rule": figures.mutual_rule_curves(rule, k=3),
    }


def test_no_sentence_becomes_markup(found: Examined) -> None:
    seen = 0
    for name, figure in all_figures(found).items():
        assert figure.layout.paper_bgcolor == "rgba(0, 0, 0, 0)", name  # fits light and dark
        for text in texts_of(figure.to_plotly_json()):
            assert "<b " not in text, name
            assert "<img" not in text, name
            seen += "&lt;" in text
    assert seen >= 12  # the evil sentence did come through, as text

"""Ablations of notebook 03: where the negative comes from, and what a triplet costs."""

from __future__ import annotations

from typing import Any

from labkit.course.ablation import Plan, Variant

_SIZE = {"size": 64, "dimension": 64, "epochs": 8}  # a cell takes seconds


def _network(name: str, **changed: Any) -> Variant:
    return Variant(name, "thematic", {**_SIZE, **changed})


THEMATIC = (
    Plan(
        "thematic-rules",
        "Does it matter where the negative sentence comes from?",
        "articles",
        (
            Variant("mean-vectors, nothing learned", "mean-vectors", {"dimension": 64}),
            Variant("sif, nothing learned", "sif", {"dimension": 64}),
            Variant("pv-dbow, learned from words", "pv-dbow", {"size": 64, "epochs": 40, "penalty": 1.0}),
            _network("adjacent", rule="adjacent"),
            _network("other section", rule="article"),
            _network("other article", rule="other"),
            _network("titles", rule="titles"),
        ),
        ("triplet_accuracy", "kmeans_ami", "iclust_ami"),
    ),
    Plan(
        "thematic-losses",
        "Which loss learns best, and what does the scale of the distances do?",
        "articles",
        (
            _network("ratio, scale 8", loss="ratio", scale=8.0),
            _network("ratio, scale 200", loss="ratio", scale=200.0),
            _network("softplus, scale 8", loss="softplus", scale=8.0),
            _network("hinge, scale 8", loss="hinge", scale=8.0),
        ),
        ("triplet_accuracy",),
    ),
)

"""Ablations of notebook 04: the same vectors, as they are and transformed. k, p and all sizes were chosen on dev.

A transformation that is fitted is fitted on train. Locality preserving stands there twice: all of test embedded
together, as in the paper, and each sentence of test put among those of train.
"""

from __future__ import annotations

from dataclasses import dataclass

from labkit.course.ablation import Plan, Variant


@dataclass(frozen=True)
class _Sizes:
    """What dev chose for a base: directions of PCA, of whitening, those taken away, and LP's k and p."""

    base: str
    pca: int
    whitening: int
    top: int
    k: int
    p: int

    def variants(self) -> tuple[Variant, ...]:
        """A row for each way."""
        base = {"base": self.base}
        lp = {**base, "neighbours": self.k, "dimension": self.p}
        return (
            Variant(f"{self.base}, raw", self.base),
            Variant(f"{self.base}, PCA", "pca", {**base, "dimension": self.pca}),
            Variant(f"{self.base}, whitening", "whitening", {**base, "dimension": self.whitening}),
            Variant(f"{self.base}, all but the top", "all-but-the-top", {**base, "components": self.top}),
            Variant(f"{self.base}, LP together", "sbert-lp, test together", lp),
            Variant(f"{self.base}, LP placed", "sbert-lp", lp),
        )


LOCALLY_LINEAR = (
    Plan(
        "lp-topics-mean",
        "Does locality preserving help plain means of word vectors find sentences of the same topic?",
        "topics",
        _Sizes("mean-vectors", pca=64, whitening=32, top=4, k=40, p=64).variants(),
        ("hit@1",),
    ),
    Plan(
        "lp-topics-sif",
        "Does it help weighted means, which are better to begin with?",
        "topics",
        _Sizes("sif", pca=16, whitening=16, top=1, k=10, p=16).variants(),
        ("hit@1",),
    ),
    Plan(
        "lp-relatedness-sif",
        "Does it help with degrees, where not only the nearest count?",
        "relatedness",
        _Sizes("sif", pca=64, whitening=64, top=1, k=80, p=64).variants(),
        ("spearman",),
    ),
)

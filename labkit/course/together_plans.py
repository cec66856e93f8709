"""The ablation of notebook 07: every method that can learn from pairs of questions, side by side, all of them small."""

from __future__ import annotations

from labkit.course.ablation import Plan, Variant

_WORDS = {"dimension": 50}
_PAIRS = {"size": 60, "dimension": 50, "epochs": 6, "patience": 0}

TOGETHER = (
    Plan(
        "together",
        "Which method tells same questions from others best, all of them small?",
        "questions",
        (
            Variant("tfidf", "tfidf"),
            Variant("lsa", "lsa"),
            Variant("mean-vectors", "mean-vectors", _WORDS),
            Variant("sif", "sif", _WORDS),
            Variant("sbert-lp on mean-vectors", "sbert-lp", {"base": "mean-vectors"}),
            Variant("film", "film"),
            Variant("siamese", "siamese", _PAIRS),
            Variant("triplet", "triplet", _PAIRS),
            Variant("sentpwnet", "sentpwnet", _PAIRS),
            Variant("pthought", "pthought", {"hidden": 64, "dimension": 48}),
        ),
        ("auc", "accuracy", "f1", "inter_intra"),
    ),
)

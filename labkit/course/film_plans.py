"""The ablations of notebook 06: the settings of FILM, its rows, and how much is labelled. All on the questions."""

from __future__ import annotations

from labkit.course.ablation import Plan, Variant

_MEASURES = ("auc", "accuracy", "f1")
_ROWS = (2, 5, 10, 25, 50, 100, 200)
_LABELLED = (1.0, 0.5, 0.2, 0.1, 0.05)

TFIDF = Variant("TF-IDF, nothing learned", "film", {"solver": "closed-form", "dimension": 1, "share": "1"})


def _coverage(labelled: float, share: str, name: str) -> Variant:
    return Variant(f"{labelled:.0%} labelled, {name}", "film, partly labelled", {"labelled": labelled, "share": share})


FILM: tuple[Plan, ...] = (
    Plan(
        "film-settings",
        "What does each setting of FILM bring, against TF-IDF alone?",
        "questions",
        (
            TFIDF,
            Variant("closed form, SVD", "film", {"solver": "closed-form", "share": "0"}),
            Variant("paper: SVD and Stiefel", "film", {"solver": "paper", "iterations": 200, "share": "0"}),
            Variant("full rank, no hinge", "film", {"iterations": 0, "share": "0"}),
            Variant("full rank and hinge", "film", {"share": "0"}),
        ),
        _MEASURES,
    ),
    Plan(
        "film-rows",
        "How many rows does L need?",
        "questions",
        tuple(Variant(f"d = {d}", "film", {"dimension": d, "share": "0"}) for d in _ROWS),
        _MEASURES,
    ),
    Plan(
        "film-labels",
        "How many clusters must be labelled, and what does a share of TF-IDF save where few are?",
        "questions",
        (
            TFIDF,
            *(
                _coverage(labelled, share, name)
                for labelled in _LABELLED
                for share, name in (("0", "FILM alone"), ("dev", "mixed"))
            ),
        ),
        _MEASURES,
        seeds=(0, 1, 2, 3, 4),
    ),
)

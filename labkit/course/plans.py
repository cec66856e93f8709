"""The ablations of the notebooks: what each compares, and by which figures. Settings were chosen on dev, by hand."""

from __future__ import annotations

from typing import Any

from labkit.course.ablation import Plan, Variant
from labkit.course.film_plans import FILM
from labkit.course.locally_linear_plans import LOCALLY_LINEAR
from labkit.course.paraphrase_plans import PARAPHRASE
from labkit.course.thematic_plans import THEMATIC
from labkit.course.together_plans import TOGETHER

_PWN_SIZE = {"size": 60, "dimension": 50, "epochs": 6, "patience": 0}  # of SentPWNet: a cell takes seconds


def _pairs(name: str, **changed: Any) -> Variant:
    """SentPWNet of a small size, with these settings changed."""
    return Variant(name, "sentpwnet", {**_PWN_SIZE, **changed})


_PWN_ENCODERS = (
    Variant("mean of word vectors, untrained", "mean-vectors", {"dimension": 50}),
    _pairs("mean and a linear map", encoder="mean"),
    _pairs("CNN", encoder="cnn"),
    _pairs("LSTM", encoder="lstm"),
    _pairs("BiLSTM with attention", encoder="bilstm"),
)
_PWN_MINERS = {"all pairs": "none", "half at random": "random", "informative": "informative", "hardest": "hardest"}
_PWN_LOSSES = {"contrastive": "contrastive", "soft triplet": "soft-triplet", "locality": "locality"}
_PWN_PARTS = tuple(
    _pairs(f"{loss}, {miner}", loss=_PWN_LOSSES[loss], miner=_PWN_MINERS[miner])
    for loss in _PWN_LOSSES
    for miner in _PWN_MINERS
)
_PWN_SWEPT = {
    "λ": ("base", (0.0, 0.3, 0.5, 0.7, 0.9)),
    "β": ("beta", (2.0, 5.0, 20.0, 50.0)),
    "α": ("alpha", (0.5, 2.0, 10.0)),
    "ε": ("epsilon", (0.0, 0.1, 0.3, 1.0)),
}
_PWN_SWEEPS = tuple(
    Plan(
        f"sentpwnet-{setting}",
        f"What does {letter} do to SentPWNet, everything else left alone?",
        "questions",
        tuple(_pairs(f"{letter} = {value:g}", **{setting: value}) for value in values),
        ("auc", "accuracy", "f1"),
    )
    for letter, (setting, values) in _PWN_SWEPT.items()
)

PLANS: dict[str, Plan] = {
    plan.name: plan
    for plan in (
        *FILM,
        *LOCALLY_LINEAR,
        *PARAPHRASE,
        *THEMATIC,
        *TOGETHER,
        Plan(
            "sentpwnet-encoders",
            "Which encoder reads questions best, trained in the same way?",
            "questions",
            _PWN_ENCODERS,
            ("auc", "accuracy", "f1"),
        ),
        Plan(
            "sentpwnet-parts",
            "What does weighting bring, and what does choosing pairs?",
            "questions",
            _PWN_PARTS,
            ("auc", "accuracy", "f1"),
        ),
        *_PWN_SWEEPS,
        Plan(
            "sentpwnet-values",
            "Is SentPWNet ahead with values that were not chosen for it?",
            "questions",
            (
                _pairs("SentPWNet, λ 0.9, β 20, ε 0.3: chosen on dev"),
                _pairs("SentPWNet, λ 0.5, β 50, ε 0.1: usual for this loss", base=0.5, beta=50.0, epsilon=0.1),
                _pairs("Siamese network", loss="contrastive", miner="none"),
                _pairs("triplet network", loss="soft-triplet", miner="hardest"),
            ),
            ("auc", "accuracy", "f1"),
        ),
        Plan(
            "sentpwnet-places",
            "Which loss finds the records of one place best?",
            "places",
            tuple(_pairs(name, dimension=30, loss=loss, miner="none") for name, loss in _PWN_LOSSES.items()),
            ("hit@1", "hit@3", "hit@10"),
        ),
    )
}

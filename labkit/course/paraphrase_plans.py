"""Ablations of notebook 05: the encoder's form, and how much the paraphrase counts beside the copy."""

from __future__ import annotations

from typing import Any

from labkit.course.ablation import Plan, Variant

_SIZE = {"hidden": 24, "decoder_hidden": 48, "dimension": 32, "epochs": 4, "batch": 32}  # a cell takes seconds
_MEASURES = ("coherence_lift", "coherence_within", "coherence_between", "coherence_retrieval")
_EARLY = {"hidden": 40, "decoder_hidden": 40, "dimension": 50, "epochs": 4}  # with small steps: hardly begun
_FORMS = ("one-bi", "two-forward", "two-bi")


def _thought(name: str, **changed: Any) -> Variant:
    return Variant(name, "pthought", {**_SIZE, "learning_rate": 0.02, **changed})


PARAPHRASE = (
    Plan(
        "pthought-early",
        "What do the figures say of networks that have hardly begun to learn?",
        "captions",
        (
            Variant("mean-vectors, untrained", "mean-vectors", {"dimension": 50}),
            *(Variant(form, "pthought", {**_EARLY, "form": form}) for form in _FORMS),
        ),
        _MEASURES,
    ),
    Plan(
        "pthought-forms",
        "Which encoder keeps paraphrases together, and others apart?",
        "captions",
        (
            Variant("mean-vectors, untrained", "mean-vectors", {"dimension": 32}),
            *(_thought(form, form=form) for form in _FORMS),
        ),
        _MEASURES,
    ),
    Plan(
        "pthought-lambda",
        "How much should the paraphrase count beside the copy?",
        "captions",
        (
            _thought("copy alone", decoders="auto"),
            *(_thought(f"both, λ = {value:g}", emphasis=value) for value in (0.01, 0.1, 0.5, 0.9)),
            _thought("paraphrase alone", decoders="paraphrase"),
        ),
        _MEASURES,
    ),
)

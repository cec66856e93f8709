"""The ablations of notebook 11: what labels bring to who starts from nothing, and to who starts from something.

    STARTS_FROM    a start's name -> what makes it of a bag: random, counted or distilled vectors, or a transformer
    SHARES         how much of the labels there is -> the share
    STARTS         the tables: a curve over the labels of four corpora, classes without labels, forgetting, and costs

All starts of a table have one loss, one number of epochs for a share (MiniLM's last layer, whose steps take far longer,
a quarter of it), and their dials chosen on dev by as many trials.
`start-stsb` is measured on a published set, which `LABKIT_DATA` or the cache must have; its table alone is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from labkit.lab.course.ablation import ELSEWHERE, WITHHELD, Ablation, Variant
from labkit.pairs.losses import LOSSES
from labkit.pretrained import PACKAGED

_DISTILLED: dict[str, Any] = {"vectors": f"distilled:{PACKAGED}"}
_MODEL: dict[str, Any] = {"encoder": "transformer", "model": PACKAGED}
STARTS_FROM: dict[str, dict[str, Any]] = {  # the name of a start -> the settings that make it of a bag
    "bag": {},
    "corpus vectors": {"vectors": "ppmi", "unit": "words"},
    "static vectors": _DISTILLED,
    "MiniLM and a map": _MODEL | {"layers": 0},
    "MiniLM, its last layer": _MODEL | {"layers": 1},
}
SHARES: dict[str, float] = {"no labels": 0.0, "1/16": 1 / 16, "1/8": 1 / 8, "1/4": 1 / 4, "1/2": 1 / 2, "all": 1.0}
_FIVE = (0, 1, 2, 3, 4)


def _started(start: str, share: str, *, epochs: float = 6, name: str = "", **changed: Any) -> Variant:
    """A start that learns from this share of the labels; of few, more often, though not as often as they are fewer."""
    settings, name = STARTS_FROM[start] | changed, name or f"{start}, {share}"
    if not SHARES[share]:
        return Variant(name, "bag, partly taught", {**settings, "epochs": 0})
    much = {"epochs": round(epochs / SHARES[share] ** 0.5), "patience": 0, "taught": SHARES[share]}
    usual = {"temperature": LOSSES["cosent"].temperature} if changed.get("loss") == "cosent" else {"margin": 0.5}
    return Variant(name, "bag, partly taught", settings | much, first=usual)


def _curves(starts: Sequence[str], shares: Sequence[str], **changed: Any) -> tuple[Variant, ...]:
    """What has learned nothing, and each start with each share of the labels, after none of them."""
    plain = (Variant("TF-IDF", "tfidf"), Variant("SIF", "sif"), Variant("mean of word vectors", "mean-vectors"))
    none = (_started(start, "no labels") for start in starts)
    return (*plain, *none, *(_started(start, share, **changed) for start in starts for share in shares))


_FROM_WORDS_AND_MODEL = ("bag", "static vectors", "MiniLM and a map")

STARTS: tuple[Ablation, ...] = (
    Ablation(
        "start-questions",
        "How many labelled pairs make up for a start from nothing, where test asks about other questions?",
        "questions",
        _curves([*_FROM_WORDS_AND_MODEL, "corpus vectors"], [*SHARES][1:]),
        ("auc",),
        seeds=_FIVE,
    ),
    Ablation(
        "start-topics",
        "And how many labelled sentences, where all classes of test are those of training?",
        "topics",
        _curves(_FROM_WORDS_AND_MODEL, ["1/16", "1/4", "all"]),
        ("map@r",),
        seeds=_FIVE,
    ),
    Ablation(
        "start-places",
        "And where sentences are names, addresses and codes, which no model has read?",
        "places",
        _curves(_FROM_WORDS_AND_MODEL, ["1/16", "1/4", "all"]),
        ("hit@1",),
        seeds=_FIVE,
    ),
    Ablation(
        "start-stsb",
        "And where people have written the sentences?",
        "stsb",
        _curves(_FROM_WORDS_AND_MODEL, ["1/16", "all"], epochs=4, loss="cosent", labelled=True),
        ("spearman",),
        seeds=_FIVE,
    ),
    Ablation(
        "start-unseen",
        "Does what is learned of some classes help with others?",
        "topics",
        (
            Variant("TF-IDF", "tfidf"),
            *(_started(start, "no labels") for start in _FROM_WORDS_AND_MODEL),
            *(
                _started(start, share, name=f"{start}, {name}", **changed)
                for start in _FROM_WORDS_AND_MODEL
                for name, share, changed in (
                    ("every class", "1/2", {}),
                    ("other classes", "all", {"withheld": True, "epochs": 8}),  # as many labels, as often
                )
            ),
        ),
        (WITHHELD,),
        seeds=_FIVE,
    ),
    Ablation(
        "start-forgetting",
        "What is gained by tuning what was pretrained, and what is forgotten elsewhere?",
        "questions",
        (
            _started("static vectors", "no labels"),
            _started("static vectors", "1/4"),
            _started("static vectors", "1/4", name="static vectors, halfway back", back=0.5),
            _started("MiniLM and a map", "no labels"),
            _started("MiniLM and a map", "1/4"),
            _started("MiniLM and a map", "1/4", name="MiniLM and a map, halfway back", back=0.5),
            _started("MiniLM, its last layer", "1/4", epochs=1.5),
        ),
        ("auc", *(f"{corpus} {measure}" for corpus, measure in ELSEWHERE.items())),
        seeds=_FIVE,
    ),
    Ablation(
        "start-costs",
        "What does each cost whoever uses it?",
        "questions",
        (
            Variant("mean of word vectors", "mean-vectors"),
            _started("bag", "no labels"),
            _started("static vectors", "no labels"),
            Variant("MiniLM", "sbert"),
        ),
        ("parameters", "megabytes", "milliseconds"),
        seeds=_FIVE,
    ),
)

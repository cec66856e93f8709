"""The ablations of the notebooks: what each compares, and its scores. Settings were chosen on dev, by hand.

`python -m labkit.course.plans [NAME ...]` measures them and writes their tables to `notebooks/ablations/`. Stored cells
are reused, so that the command resumes after Ctrl-C; `--force` recomputes them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from labkit.course.ablation import Ablation, Variant, measure_all, scored_and_clustered, write_table
from labkit.course.why_alike import explanations_judged
from labkit.interrupts import interruptible
from labkit.pairs.losses import LOSSES
from labkit.papers.cells import Store
from labkit.pretrained import PACKAGED
from labkit.progress import terminal

_SMALL: dict[str, dict[str, Any]] = {  # method -> settings with which a cell takes seconds
    "sentpwnet": {"size": 60, "dimension": 50, "epochs": 6, "patience": 0},
    "thematic": {"size": 64, "dimension": 64, "epochs": 8},
    "pthought": {
        "hidden": 24, "decoder_hidden": 48, "dimension": 32, "epochs": 4, "batch": 32, "learning_rate": 0.02,
    },
}  # fmt: skip
_FIVE = (0, 1, 2, 3, 4)
PLANS: dict[str, Ablation] = {}


def _plan(*of: Any, **more: Any) -> None:
    """Add an ablation to PLANS."""
    plan = Ablation(*of, **more)
    PLANS[plan.name] = plan


def _each(method: str, changes: Mapping[str, Mapping[str, Any]], **base: Any) -> tuple[Variant, ...]:
    """One variant of the method per name, with these settings changed."""
    return tuple(Variant(name, method, {**base, **changed}) for name, changed in changes.items())


def _small(method: str, changes: Mapping[str, Mapping[str, Any]]) -> tuple[Variant, ...]:
    """The same at a small size."""
    return _each(method, changes, **_SMALL[method])


# --- notebook 02: SentPWNet's encoders, losses, miners and settings ----------------------------------------------

_OF_PAIRS = ("auc", "accuracy", "f1")
_ENCODERS = {"mean and a linear map": "mean", "CNN": "cnn", "LSTM": "lstm", "BiLSTM with attention": "bilstm"}
_MINERS = {"all pairs": "none", "half at random": "random", "informative": "informative", "hardest": "hardest"}
_LOSSES: dict[str, dict[str, Any]] = {  # with the initial values of the other two
    "contrastive": {"loss": "contrastive", "margin": 0.5},
    "soft triplet": {"loss": "soft-triplet", "temperature": 1.0},
    "locality": {"loss": "locality"},
}
_STARTED: dict[str, tuple[str, dict[str, Any]]] = {  # the usual values of multi-similarity are SentPWNet's
    "Siamese network": ("siamese", {"margin": 0.5}),
    "triplet network": ("triplet", {"temperature": 1.0}),
    "SentPWNet": ("sentpwnet", {"alpha": 2.0, "beta": 50.0, "base": 0.5, "epsilon": 0.1}),
}
_UNTRAINED = Variant("mean of word vectors, untrained", "mean-vectors", {"dimension": 50})

_plan(
    "sentpwnet-encoders",
    "questions",
    (_UNTRAINED, *_small("sentpwnet", {name: {"encoder": encoder} for name, encoder in _ENCODERS.items()})),
    _OF_PAIRS,
)
_plan(
    "sentpwnet-parts",
    "questions",
    _small(
        "sentpwnet",
        {
            f"{name}, {choice}": {"miner": miner, **loss}
            for name, loss in _LOSSES.items()
            for choice, miner in _MINERS.items()
        },
    ),
    _OF_PAIRS,
)
_plan(
    "sentpwnet-base",
    "questions",
    _small("sentpwnet", {f"λ = {value:g}": {"base": value} for value in (0.0, 0.3, 0.5, 0.7, 0.9)}),
    _OF_PAIRS,
)
_plan(
    "sentpwnet-fair",
    "questions",
    (
        *(
            Variant(f"{name}, as it started", method, _SMALL["sentpwnet"] | values)
            for name, (method, values) in _STARTED.items()
        ),
        *(
            Variant(f"{name}, tuned", method, _SMALL["sentpwnet"], first=values)
            for name, (method, values) in _STARTED.items()
        ),
        Variant("bag of word pieces, tuned", "bag", {"patience": 0}, first={"margin": 0.5}),
    ),
    _OF_PAIRS,
    _FIVE,
)


# --- notebook 03: where the negative comes from ------------------------------------------------------------------

_NEGATIVES = {"adjacent": "adjacent", "other section": "article", "other article": "other", "titles": "titles"}

_plan(
    "thematic-rules",
    "articles",
    (
        Variant("mean-vectors, nothing learned", "mean-vectors", {"dimension": 64}),
        Variant("sif, nothing learned", "sif", {"dimension": 64}),
        Variant("pv-dbow, learned from words", "pv-dbow", {"size": 64, "epochs": 40, "penalty": 1.0}),
        *_small("thematic", {name: {"rule": rule} for name, rule in _NEGATIVES.items()}),
    ),
    ("triplet_accuracy", "kmeans_ami", "iclust_ami"),
    recipe=scored_and_clustered,
)


# --- notebook 04: the same vectors, as they are and transformed --------------------------------------------------


def _transformed(base: str, *, pca: int, whitening: int, top: int, k: int, p: int) -> tuple[Variant, ...]:
    """The base, and each transform of it at the size that dev chose.

    Transforms are fitted on train. Locality preserving appears twice: all of test embedded together, as in the paper,
    and each test sentence placed among those of train.
    """
    lp = {"base": base, "neighbours": k, "dimension": p}
    return (
        Variant(f"{base}, raw", base),
        Variant(f"{base}, PCA", "pca", {"base": base, "dimension": pca}),
        Variant(f"{base}, whitening", "whitening", {"base": base, "dimension": whitening}),
        Variant(f"{base}, all but the top", "all-but-the-top", {"base": base, "components": top}),
        Variant(f"{base}, LP together", "sbert-lp, test together", lp),
        Variant(f"{base}, LP placed", "sbert-lp", lp),
    )


_plan(
    "lp-topics-mean",
    "topics",
    _transformed("mean-vectors", pca=64, whitening=32, top=4, k=40, p=64),
    ("hit@1",),
)
_plan(
    "lp-topics-sif",
    "topics",
    _transformed("sif", pca=16, whitening=16, top=1, k=10, p=16),
    ("hit@1",),
)


# --- notebook 05: the encoder's form, and how much the paraphrase counts beside the copy --------------------------

_COHERENCE = ("coherence_lift", "coherence_within", "coherence_between", "coherence_retrieval")
_FORMS = {form: {"form": form} for form in ("one-bi", "two-forward", "two-bi")}
_LAMBDAS = {f"both, λ = {value:g}": {"emphasis": value} for value in (0.01, 0.1, 0.5, 0.9)}

_plan(
    "pthought-forms",
    "captions",
    (Variant("mean-vectors, untrained", "mean-vectors", {"dimension": 32}), *_small("pthought", _FORMS)),
    _COHERENCE,
)
_plan(
    "pthought-lambda",
    "captions",
    _small(
        "pthought",
        {"copy alone": {"decoders": "auto"}, **_LAMBDAS, "paraphrase alone": {"decoders": "paraphrase"}},
    ),
    _COHERENCE,
)


# --- notebook 06: the settings of FILM, and how much is labelled, on the questions ------------------------------

_TFIDF = Variant("TF-IDF, nothing learned", "film", {"solver": "closed-form", "dimension": 1, "share": "1"})
_SOLVERS: dict[str, dict[str, Any]] = {
    "closed form, SVD": {"solver": "closed-form"},
    "paper: SVD and Stiefel": {"solver": "paper", "iterations": 200},
    "full rank, no hinge": {"iterations": 0},
    "full rank and hinge": {},
}
_LABELLED = {
    f"{labelled:.0%} labelled, {name}": {"labelled": labelled, "share": share}
    for labelled in (1.0, 0.5, 0.2, 0.1, 0.05)
    for share, name in (("0", "FILM alone"), ("dev", "mixed"))
}

_plan(
    "film-settings",
    "questions",
    (_TFIDF, *_each("film", _SOLVERS, share="0")),
    _OF_PAIRS,
)
_plan(
    "film-labels",
    "questions",
    (_TFIDF, *_each("film, partly labelled", _LABELLED)),
    _OF_PAIRS,
    _FIVE,
)


# --- notebook 07: every method that can learn from pairs of questions, all of them small -------------------------

_METHODS: dict[str, dict[str, Any]] = {
    "tfidf": {},
    "lsa": {},
    "mean-vectors": {"dimension": 50},
    "sif": {"dimension": 50},
    "sbert-lp": {"base": "mean-vectors"},
    "film": {},
    "siamese": _SMALL["sentpwnet"],
    "triplet": _SMALL["sentpwnet"],
    "sentpwnet": _SMALL["sentpwnet"],
    "pthought": {"hidden": 64, "dimension": 48},
    "bag": {"dimension": 50, "patience": 0},
}

_plan(
    "together",
    "questions",
    tuple(
        Variant(method + " on mean-vectors" * (method == "sbert-lp"), method, settings)
        for method, settings in _METHODS.items()
    ),
    ("auc", "accuracy", "f1", "inter_intra"),
)


# --- notebook 09: a training that collapses, and its cures -------------------------------------------------------

_OF_A_SPACE = ("map@r", "hit@1", "mean_cosine", "effective_rank")
BROKEN: dict[str, Any] = {  # settings that collapse on topics with every seed
    "encoder": "mean", "size": 60, "dimension": 50, "dropout": 0.0, "epochs": 8, "patience": 0,
    "loss": "margin-triplet", "margin": 0.2, "miner": "hardest", "learning_rate": 0.3,
}  # fmt: skip
_INFONCE = {"loss": "infonce", "temperature": 0.05}
_CURES: dict[str, dict[str, Any]] = {
    "broken: triplet, hardest, step 0.3": {},
    "a smaller step, 0.01": {"learning_rate": 0.01},
    "all pairs": {"miner": "none"},
    "another loss: InfoNCE": _INFONCE,
    "InfoNCE, and all pairs": {**_INFONCE, "miner": "none"},
}

_plan(
    "break-cures",
    "topics",
    (_UNTRAINED, *_each("sentpwnet", _CURES, **BROKEN)),
    _OF_A_SPACE,
    _FIVE,
)


# --- notebook 11: what labels bring if one starts from nothing, and from something --------------------------------
#
# All starts of a table have one loss, one number of epochs for a share, and their settings chosen on dev by as many
# trials. `start-stsb` is measured on a published set, which `LABKIT_DATA` or the cache must have; its table is kept.

STARTS_FROM: dict[str, dict[str, Any]] = {  # the name of a start -> its settings for a bag
    "bag": {},
    "static vectors": {"vectors": f"distilled:{PACKAGED}"},
    "MiniLM and a map": {"encoder": "transformer", "model": PACKAGED, "layers": 0},
}
SHARES: dict[str, float] = {"no labels": 0.0, "1/16": 1 / 16, "1/8": 1 / 8, "1/4": 1 / 4, "1/2": 1 / 2, "all": 1.0}


def _started(start: str, share: str, *, epochs: int = 6, **changed: Any) -> Variant:
    """A start that learns from this share of the labels, with more epochs for smaller shares."""
    settings, name = STARTS_FROM[start] | changed, f"{start}, {share}"
    if not SHARES[share]:
        return Variant(name, "bag, partly taught", {**settings, "epochs": 0})
    much = {"epochs": round(epochs / SHARES[share] ** 0.5), "patience": 0, "taught": SHARES[share]}
    usual = {"temperature": LOSSES["cosent"].temperature} if changed.get("loss") == "cosent" else {"margin": 0.5}
    return Variant(name, "bag, partly taught", settings | much, first=usual)


def _curves(shares: Sequence[str], **changed: Any) -> tuple[Variant, ...]:
    """The untrained baseline, and each start with each share of the labels, and with none."""
    none = (_started(start, "no labels") for start in STARTS_FROM)
    some = (_started(start, share, **changed) for start in STARTS_FROM for share in shares)
    return (Variant("TF-IDF", "tfidf"), *none, *some)


_plan(
    "start-questions",
    "questions",
    _curves([*SHARES][1:]),
    ("auc",),
    _FIVE,
)
_plan(
    "start-places",
    "places",
    _curves(["1/16", "1/4", "all"]),
    ("hit@1",),
    _FIVE,
)
_plan(
    "start-stsb",
    "stsb",
    _curves(["1/16", "all"], epochs=4, loss="cosent", labelled=True),
    ("spearman",),
    _FIVE,
)


# --- notebook 12: explanations of one network before several judges ----------------------------------------------

EXPLAINED: dict[str, Any] = {  # reads posts well after a second of training
    "encoder": "bilstm", "size": 24, "dimension": 24, "epochs": 3, "patience": 0, "learning_rate": 0.02,
}  # fmt: skip
_EXPLANATIONS = {
    "a word left out": "left out",
    "gradient times input": "gradient",
    "integrated gradients": "integrated",
    "attention": "attention",
    "rarest words first": "rarest",
    "any order": "any",
}

_plan(
    "why-alike",
    "topics",
    tuple(Variant(name, "sentpwnet", EXPLAINED, part=part) for name, part in _EXPLANATIONS.items()),
    ("below_chance", "replaced", "first", "shuffled", "another", "hit", "hit_two", "false"),
    _FIVE,
    explanations_judged,
)


def main(words: Sequence[str] | None = None) -> int:
    """Measure these plans; by default all."""
    parser = argparse.ArgumentParser("python -m labkit.course.plans", description="Measure ablations.")
    parser.add_argument("names", metavar="NAME", nargs="*", help=f"of {', '.join(PLANS)}; without one, all of them")
    parser.add_argument("--force", action="store_true", help="compute what is known, too")
    asked = parser.parse_args(words)
    if unknown := [name for name in asked.names if name not in PLANS]:
        print(f"labkit: no ablation is named {unknown[0]!r}; there are {', '.join(PLANS)}", file=sys.stderr)
        return 2
    for name in asked.names or PLANS:
        try:
            with terminal("s") as progress, interruptible():
                table = measure_all(PLANS[name], Store(), again=asked.force, progress=progress)
        except KeyboardInterrupt as interruption:
            again = "the same command without --force" if asked.force else "the same command"
            print(f"labkit: stopped; finished cells are stored, and {again} resumes", file=sys.stderr)
            return getattr(interruption, "status", 130)
        print(f"{name}: {write_table(table).name}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The ablations of the notebooks: what each compares, and by which figures. Settings were chosen on dev, by hand.

    FILM, LOCALLY_LINEAR, PARAPHRASE, THEMATIC, TOGETHER,     those of a notebook
    SENTPWNET, BREAK_IT, WHICH_LOSS, WHY_ALIKE
    STARTS                                                    those of notebook 11, which stand in `starts`
    PLANS                                                     all of them by name

`python -m labkit.lab.course.plans [NAME ...]` measures them and keeps their tables in `notebooks/ablations/`. What the
store of cells knows is not computed again, so that it goes on where Ctrl-C ended it; with `--force` it is.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from labkit.interrupts import interruptible
from labkit.lab.course.ablation import Ablation, Variant, measure_all, write_table
from labkit.lab.course.starts import STARTS
from labkit.lab.course.why_alike import explanations_judged
from labkit.lab.papers.store import Store
from labkit.pairs.losses import LOSSES
from labkit.progress import terminal

_SMALL: dict[str, dict[str, Any]] = {  # method -> settings with which a cell takes seconds
    "sentpwnet": {"size": 60, "dimension": 50, "epochs": 6, "patience": 0},
    "thematic": {"size": 64, "dimension": 64, "epochs": 8},
    "pthought": {
        "hidden": 24, "decoder_hidden": 48, "dimension": 32, "epochs": 4, "batch": 32, "learning_rate": 0.02,
    },
}  # fmt: skip


def _small(method: str, name: str, **changed: Any) -> Variant:
    """The method at a small size, with these settings changed."""
    return Variant(name, method, {**_SMALL[method], **changed})


_pairs = partial(_small, "sentpwnet")
_network = partial(_small, "thematic")
_thought = partial(_small, "pthought")

# --- notebook 06: the settings of FILM, its rows, and how much is labelled, on the questions ----------------------

_OF_PAIRS = ("auc", "accuracy", "f1")
_ROWS = (2, 5, 10, 25, 50, 100, 200)
_LABELLED = (1.0, 0.5, 0.2, 0.1, 0.05)

TFIDF = Variant("TF-IDF, nothing learned", "film", {"solver": "closed-form", "dimension": 1, "share": "1"})


def _coverage(labelled: float, share: str, name: str) -> Variant:
    return Variant(f"{labelled:.0%} labelled, {name}", "film, partly labelled", {"labelled": labelled, "share": share})


FILM: tuple[Ablation, ...] = (
    Ablation(
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
        _OF_PAIRS,
    ),
    Ablation(
        "film-rows",
        "How many rows does L need?",
        "questions",
        tuple(Variant(f"d = {d}", "film", {"dimension": d, "share": "0"}) for d in _ROWS),
        _OF_PAIRS,
    ),
    Ablation(
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
        _OF_PAIRS,
        seeds=(0, 1, 2, 3, 4),
    ),
)


# --- notebook 04: the same vectors, as they are and transformed --------------------------------------------------
#
# A transformation that is fitted is fitted on train. Locality preserving stands there twice: all of test embedded
# together, as in the paper, and each sentence of test put among those of train.


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
        """The base as it is, and each transformation of it."""
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
    Ablation(
        "lp-topics-mean",
        "Does locality preserving help plain means of word vectors find sentences of the same topic?",
        "topics",
        _Sizes("mean-vectors", pca=64, whitening=32, top=4, k=40, p=64).variants(),
        ("hit@1",),
    ),
    Ablation(
        "lp-topics-sif",
        "Does it help weighted means, which are better to begin with?",
        "topics",
        _Sizes("sif", pca=16, whitening=16, top=1, k=10, p=16).variants(),
        ("hit@1",),
    ),
    Ablation(
        "lp-relatedness-sif",
        "Does it help with degrees, where not only the nearest count?",
        "relatedness",
        _Sizes("sif", pca=64, whitening=64, top=1, k=80, p=64).variants(),
        ("spearman",),
    ),
)


# --- notebook 05: the encoder's form, and how much the paraphrase counts beside the copy --------------------------

_COHERENCE = ("coherence_lift", "coherence_within", "coherence_between", "coherence_retrieval")
_EARLY = {"hidden": 40, "decoder_hidden": 40, "dimension": 50, "epochs": 4}  # with small steps: hardly begun
_FORMS = ("one-bi", "two-forward", "two-bi")


PARAPHRASE = (
    Ablation(
        "pthought-early",
        "What do the figures say of networks that have hardly begun to learn?",
        "captions",
        (
            Variant("mean-vectors, untrained", "mean-vectors", {"dimension": 50}),
            *(Variant(form, "pthought", {**_EARLY, "form": form}) for form in _FORMS),
        ),
        _COHERENCE,
    ),
    Ablation(
        "pthought-forms",
        "Which encoder keeps paraphrases together, and others apart?",
        "captions",
        (
            Variant("mean-vectors, untrained", "mean-vectors", {"dimension": 32}),
            *(_thought(form, form=form) for form in _FORMS),
        ),
        _COHERENCE,
    ),
    Ablation(
        "pthought-lambda",
        "How much should the paraphrase count beside the copy?",
        "captions",
        (
            _thought("copy alone", decoders="auto"),
            *(_thought(f"both, λ = {value:g}", emphasis=value) for value in (0.01, 0.1, 0.5, 0.9)),
            _thought("paraphrase alone", decoders="paraphrase"),
        ),
        _COHERENCE,
    ),
)


# --- notebook 03: where the negative comes from, and what a triplet costs ----------------------------------------

THEMATIC = (
    Ablation(
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
    Ablation(
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


# --- notebook 07: every method that can learn from pairs of questions, all of them small -------------------------

_WORDS = {"dimension": 50}

TOGETHER = (
    Ablation(
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
            Variant("siamese", "siamese", _SMALL["sentpwnet"]),
            Variant("triplet", "triplet", _SMALL["sentpwnet"]),
            Variant("sentpwnet", "sentpwnet", _SMALL["sentpwnet"]),
            Variant("pthought", "pthought", {"hidden": 64, "dimension": 48}),
            Variant("bag", "bag", {"dimension": 50, "patience": 0}),
        ),
        ("auc", "accuracy", "f1", "inter_intra"),
    ),
)


# --- notebook 02: SentPWNet's encoders, losses, miners and settings ----------------------------------------------

_PWN_ENCODERS = (
    Variant("mean of word vectors, untrained", "mean-vectors", {"dimension": 50}),
    _pairs("mean and a linear map", encoder="mean"),
    _pairs("CNN", encoder="cnn"),
    _pairs("LSTM", encoder="lstm"),
    _pairs("BiLSTM with attention", encoder="bilstm"),
)
_PWN_MINERS = {"all pairs": "none", "half at random": "random", "informative": "informative", "hardest": "hardest"}
_PWN_LOSSES: dict[str, dict[str, Any]] = {  # with the values that the other two started with
    "contrastive": {"loss": "contrastive", "margin": 0.5},
    "soft triplet": {"loss": "soft-triplet", "temperature": 1.0},
    "locality": {"loss": "locality"},
}
_PWN_PARTS = tuple(
    _pairs(f"{loss}, {miner}", miner=_PWN_MINERS[miner], **_PWN_LOSSES[loss])
    for loss in _PWN_LOSSES
    for miner in _PWN_MINERS
)
_PWN_STARTED: dict[str, tuple[str, dict[str, Any]]] = {  # the usual values of multi-similarity are SentPWNet's
    "Siamese network": ("siamese", {"margin": 0.5}),
    "triplet network": ("triplet", {"temperature": 1.0}),
    "SentPWNet": ("sentpwnet", {"alpha": 2.0, "beta": 50.0, "base": 0.5, "epsilon": 0.1}),
}
_PWN_FAIR = (
    *(
        Variant(f"{name}, as it started", method, _SMALL["sentpwnet"] | started)
        for name, (method, started) in _PWN_STARTED.items()
    ),
    *(
        Variant(f"{name}, tuned", method, _SMALL["sentpwnet"], first=started)
        for name, (method, started) in _PWN_STARTED.items()
    ),
    Variant("bag of word pieces, tuned", "bag", {"patience": 0}, first={"margin": 0.5}),
)

SENTPWNET: tuple[Ablation, ...] = (
    Ablation(
        "sentpwnet-encoders",
        "Which encoder reads questions best, trained in the same way?",
        "questions",
        _PWN_ENCODERS,
        _OF_PAIRS,
    ),
    Ablation(
        "sentpwnet-parts",
        "What does weighting bring, and what does choosing pairs?",
        "questions",
        _PWN_PARTS,
        _OF_PAIRS,
    ),
    Ablation(
        "sentpwnet-base",
        "What does λ do to SentPWNet, everything else left alone?",
        "questions",
        tuple(_pairs(f"λ = {value:g}", base=value) for value in (0.0, 0.3, 0.5, 0.7, 0.9)),
        _OF_PAIRS,
    ),
    Ablation(
        "sentpwnet-fair",
        "Who leads with the values that each method started with, and who once all are tuned by as many trials?",
        "questions",
        _PWN_FAIR,
        _OF_PAIRS,
        seeds=(0, 1, 2, 3, 4),
    ),
    Ablation(
        "sentpwnet-places",
        "Which loss finds the records of one place best?",
        "places",
        tuple(_pairs(name, dimension=30, miner="none", **loss) for name, loss in _PWN_LOSSES.items()),
        ("hit@1", "hit@3", "hit@10"),
    ),
)


# --- notebook 09: a training that collapses, and its cures -------------------------------------------------------

_OF_A_SPACE = ("map@r", "hit@1", "mean_cosine", "effective_rank")
BROKEN: dict[str, Any] = {  # what collapses on topics, whatever the seed
    "encoder": "mean", "size": 60, "dimension": 50, "dropout": 0.0, "epochs": 8, "patience": 0,
    "loss": "margin-triplet", "margin": 0.2, "miner": "hardest", "learning_rate": 0.3,
}  # fmt: skip


def _mended(name: str, **changed: Any) -> Variant:
    return Variant(name, "sentpwnet", BROKEN | changed)


BREAK_IT = (
    Ablation(
        "break-cures",
        "Which change keeps a training from collapsing?",
        "topics",
        (
            Variant("mean of word vectors, untrained", "mean-vectors", {"dimension": 50}),
            _mended("broken: triplet, hardest, step 0.3"),
            _mended("a smaller step, 0.01", learning_rate=0.01),
            _mended("all pairs", miner="none"),
            _mended("another loss: InfoNCE", loss="infonce", temperature=0.05),
            _mended("InfoNCE, and all pairs", loss="infonce", temperature=0.05, miner="none"),
        ),
        _OF_A_SPACE,
        seeds=(0, 1, 2, 3, 4),
    ),
    Ablation(
        "break-whitening",
        "Does it help to even out a space that nobody has trained?",
        "topics",
        (
            Variant("mean-vectors", "mean-vectors"),
            Variant("mean-vectors, all but the top", "all-but-the-top", {"base": "mean-vectors"}),
            Variant("mean-vectors, whitened", "whitening", {"base": "mean-vectors"}),
            Variant("sif", "sif"),
            Variant("sif, whitened", "whitening", {"base": "sif"}),
        ),
        _OF_A_SPACE,
        seeds=(0, 1, 2, 3, 4),
    ),
)


# --- notebook 10: losses of the gallery as they come, temperatures, sizes of a batch, and grades -----------------

_MEAN: dict[str, Any] = _SMALL["sentpwnet"] | {"encoder": "mean", "miner": "none"}


def _by_loss(loss: str, **changed: Any) -> Variant:
    """A loss of the gallery at its usual temperature; what SimCSE tells apart is made by dropout."""
    dropout = 0.1 if LOSSES[loss].needs == "texts" else 0.0
    usual = {"loss": loss, "temperature": LOSSES[loss].temperature, "dropout": dropout}
    return Variant(LOSSES[loss].title, "sentpwnet", _MEAN | usual | changed)


def _infonce(name: str, **changed: Any) -> Variant:
    return Variant(name, "sentpwnet", _MEAN | {"loss": "infonce", "temperature": 0.1, "dropout": 0.0} | changed)


_UNTRAINED = Variant("mean of word vectors, untrained", "mean-vectors", _WORDS)

WHICH_LOSS = (
    Ablation(
        "loss-gallery",
        "What do the losses of the gallery make of the same pairs, each as it comes?",
        "questions",
        (_UNTRAINED, *(_by_loss(loss) for loss in LOSSES)),
        ("auc", "mean_cosine", "effective_rank"),
    ),
    Ablation(
        "loss-temperature",
        "Does the temperature of InfoNCE decide?",
        "questions",
        tuple(_infonce(f"τ = {value:g}", temperature=value) for value in (0.01, 0.05, 0.2, 1.0)),
        ("auc", "uniformity", "mean_cosine"),
    ),
    Ablation(
        "loss-batch",
        "Does a larger batch help InfoNCE, for as many epochs and for as many steps?",
        "questions",
        (
            *(_infonce(f"{size} pairs, 6 epochs", batch=size) for size in (32, 64, 128, 256)),
            *(
                _infonce(f"{size} pairs, as many steps", batch=size, epochs=size * 6 // 64)
                for size in (32, 64, 128, 256)
            ),
        ),
        ("auc",),
    ),
    Ablation(
        "loss-grades",
        "Where pairs have grades, does it help to use all of them?",
        "relatedness",
        (_UNTRAINED, *(_by_loss(name) for name in ("cosent", "contrastive", "logistic", "infonce", "simcse"))),
        ("spearman", "mean_cosine"),
        seeds=(0, 1, 2, 3, 4),
    ),
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
    "words in both first": "shared",
    "any order": "any",
}

WHY_ALIKE = (
    Ablation(
        "why-alike",
        "Which explanation is about the network that it explains?",
        "topics",
        tuple(Variant(name, "sentpwnet", EXPLAINED, part=part) for name, part in _EXPLANATIONS.items()),
        (
            "below_chance", "between", "unknown", "replaced", "first", "shuffled", "another", "hit", "hit_two", "false",
        ),
        seeds=(0, 1, 2, 3, 4),
        recipe=explanations_judged,
    ),
)  # fmt: skip


_ALL = (FILM, LOCALLY_LINEAR, PARAPHRASE, THEMATIC, TOGETHER, SENTPWNET, BREAK_IT, WHICH_LOSS, STARTS, WHY_ALIKE)
PLANS: dict[str, Ablation] = {plan.name: plan for plans in _ALL for plan in plans}


def main(words: Sequence[str] | None = None) -> int:
    """Measure these plans; all without a name."""
    parser = argparse.ArgumentParser("python -m labkit.lab.course.plans", description="Measure ablations.")
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
            print(f"labkit: stopped; what is computed is kept, and {again} goes on", file=sys.stderr)
            return getattr(interruption, "status", 130)
        print(f"{name}: {write_table(table).name}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

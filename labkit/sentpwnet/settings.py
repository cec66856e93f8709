"""The settings of SentPWNet and its baselines: miner, loss, encoder, words and batches, and the presets of each method.

λ 0.9, β 20 and ε 0.3, the margin 0.8 of `siamese` and the temperature 0.2 of `triplet` were chosen on dev of small
corpora. No values suit every corpus, so tune each method with the same number of trials before you compare methods
(`labkit tune`; notebooks/ablations/sentpwnet-fair.json).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from labkit.method import setting
from labkit.pairs.losses import ALIASES, LOSSES
from labkit.pretrained import PACKAGED
from labkit.settings import EPOCHS, Conditions
from labkit.training import EncoderTraining
from labkit.training.encoders import ENCODERS
from labkit.training.reader import DISTILLED, TAUGHT, UNITS
from labkit.training.transformer import TRANSFORMER

MINERS = ("informative", "hardest", "random", "none")


@dataclass(frozen=True, kw_only=True)
class PairSettings(EncoderTraining):
    """Settings of the miner, the loss, the encoder, the words and the batches."""

    epochs: int = setting(12, "passes through the training data; 0: no training", minimum=0, maximum=10_000)
    batch: int = setting(
        64,
        "pairs, triplets or sentences per step; above 2,048, memory grows linearly (except with cosent)",
        minimum=2,
        maximum=100_000,
    )
    learning_rate: float = setting(0.003, "step size of Adam", above=0, maximum=10, tune=(0.0005, 0.02))
    max_length: int = setting(
        100, "maximum number of words (of characters for places) per sentence", minimum=1, maximum=100_000
    )
    encoder: str = setting(
        "cnn",
        "how words become a sentence vector; transformer: a pretrained model, whose last layers are fine-tuned",
        choices=(*ENCODERS, TRANSFORMER),
    )
    model: str = setting(PACKAGED, "a sentence-transformers model: its name on the Hub or its folder")
    layers: int = setting(
        2, "number of last layers to fine-tune; 0: train only a linear map on top", minimum=0, maximum=1_000
    )
    adapters: int = setting(
        0,
        "rank of the adapters trained instead of the layers' weights; 0: train the weights",
        minimum=0,
        maximum=1_000,
    )
    layer_rate: float = setting(1e-4, "step size of Adam", above=0, maximum=10, tune=(0.00001, 0.001))
    loss: str = setting("locality", "loss function", choices=(*LOSSES, *ALIASES))
    miner: str = setting(
        "informative", "which pairs of a batch the loss uses; cosent uses all graded ones", choices=MINERS
    )
    alpha: float = setting(2.0, "locality: scale of positive pairs", above=0)
    beta: float = setting(20.0, "locality: scale of negative pairs", above=0, tune=(5, 80))
    base: float = setting(
        0.9,
        "locality, logistic: the similarity λ that separates positives from negatives",
        minimum=-1,
        maximum=1,
        tune=(0.2, 0.95),
    )
    margin: float = setting(
        0.5,
        "contrastive: similarity below which negatives cost nothing; margin-triplet: required lead of the positive",
        minimum=-1,
        maximum=1,
        tune=(0.1, 0.95),
    )
    temperature: float = setting(
        0.0, "τ, by which similarities are divided; 0: the default of the loss", minimum=0, tune=(0.02, 1)
    )
    learn_temperature: bool = setting(False, "learn the temperature")
    symmetric: bool = setting(
        False, "infonce: positives also select their anchors (always true for classes without a miner)"
    )
    epsilon: float = setting(0.3, "informative: slack ε of the selection rule; 0.1 in the paper", tune=(0.05, 1))
    share: float = setting(0.5, "random: share of the pairs to keep", above=0, maximum=1)
    matryoshka_dims: str = setting(
        "",
        "Matryoshka embeddings: lengths to which vectors can be truncated, such as 16,64; none: full length only",
    )
    size: int = setting(300, "length of the sentence vectors", minimum=3, maximum=10_000)
    dropout: float = setting(0.2, "dropout rate on word vectors", minimum=0, maximum=0.95, tune=(0, 0.5))
    unit: str = setting("auto", "tokens of a sentence", choices=("auto", *UNITS))
    vectors: str = setting(
        "auto", "initial word vectors: auto, ppmi, random, distilled:MODEL, or a file (GloVe, word2vec, .npz)"
    )
    dimension: int = setting(100, "length of word vectors that are computed here", minimum=1, maximum=10_000)
    pieces: str = setting(
        TAUGHT, "word pieces: learned from the training data, or those of a sentence-transformers model"
    )
    vocab_size: int = setting(8_000, "number of word pieces to learn", minimum=2, maximum=1_000_000)
    tune: bool = setting(True, "train the word vectors")
    sparse: bool = setting(True, "update only the word vectors that occur in a batch")
    min_count: int = setting(2, "minimum count of a word in the training data", minimum=1)
    per_class: int = setting(4, "sentences per class in a batch", minimum=2)
    labelled: bool = setting(False, "use only labelled pairs, not all others of the batch", tune=(True, False))
    in_batch: bool = setting(False, "also use the sentences of the batch's other anchors as negatives")

    def __post_init__(self) -> None:
        object.__setattr__(self, "loss", ALIASES.get(str(self.loss), self.loss))  # an alias counts as the loss's name
        super().__post_init__()
        object.__setattr__(self, "matryoshka_dims", ",".join(map(str, self.cuts)))  # in one canonical spelling
        if not self.temperature:
            object.__setattr__(self, "temperature", LOSSES[self.loss].temperature)
        if LOSSES[self.loss].needs == "texts" and self.epochs and not self.dropout and self.encoder != TRANSFORMER:
            raise ValueError(
                f"setting dropout is 0.0, but loss={self.loss} needs a value above 0 to encode a sentence in two "
                "ways; 0.1 is usual"
            )

    def conditions(self, shape: str | None = None, has_dev: bool | None = None) -> Conditions:
        """The conditions under which each setting applies, by loss, miner, encoder and corpus."""
        trained, model = self.epochs > 0, self.encoder == TRANSFORMER
        taught = trained and LOSSES[self.loss].needs != "texts"
        distilled = self.vectors.startswith(DISTILLED)
        made_here = distilled or self.vectors in ("auto", "ppmi", "random")
        pieces = self.unit == "pieces" and not distilled and not model
        labels = f"with a loss other than {' or '.join(name for name, loss in LOSSES.items() if loss.needs == 'texts')}"
        directed = shape in (None, "Triplets", "Articles") or self.miner != "none"
        of_model, own = f"with encoder={TRANSFORMER}", f"with an encoder other than {TRANSFORMER}"
        conditions = super().conditions(shape, has_dev)
        for name in chain.from_iterable(loss.hyperparameters for loss in LOSSES.values()):
            losses = [each for each, loss in LOSSES.items() if name in loss.hyperparameters]
            conditions[name] = (trained and self.loss in losses, f"with loss={' or '.join(losses)}")
        learning = " or ".join(name for name, loss in LOSSES.items() if loss.learns_temperature)
        for names, used in (
            ("learning_rate dropout tune", (trained and not model, own)),
            ("model layers", (model, of_model)),
            ("loss miner matryoshka_dims", (trained, EPOCHS)),
            ("unit vectors", (not model, own)),
        ):
            conditions |= dict.fromkeys(names.split(), used)
        return conditions | {
            "adapters": (model and self.layers > 0, f"{of_model} and layers above 0"),
            "layer_rate": (trained and model, of_model),
            "learn_temperature": (trained and LOSSES[self.loss].learns_temperature, f"with loss={learning}"),
            "symmetric": (
                trained and self.loss == "infonce" and directed,
                "with loss=infonce, on triplets or articles, or with a miner",
            ),
            "epsilon": (trained and self.miner == "informative", "with miner=informative"),
            "share": (trained and self.miner == "random", "with miner=random"),
            "size": (self.encoder not in ("bag", TRANSFORMER), f"with an encoder other than bag or {TRANSFORMER}"),
            "dimension": (made_here and not model, f"with vectors=auto, ppmi, random or {DISTILLED}MODEL, {own}"),
            "pieces": (pieces, "with unit=pieces, unless vectors are distilled"),
            "vocab_size": (pieces and self.pieces == TAUGHT, f"with unit=pieces and pieces={TAUGHT}"),
            "sparse": (trained and self.tune and not model, f"with tune=yes, {own}"),
            "min_count": (self.unit != "pieces" and not model, f"with unit=words or characters, {own}"),
            "per_class": (taught and shape in (None, "Labelled", "Groups"), f"on classes or groups, {labels}"),
            "labelled": (taught and shape in (None, "Pairs"), f"on pairs, {labels}"),
            "in_batch": (taught and shape in (None, "Triplets", "Articles"), f"on triplets or articles, {labels}"),
        }

    @property
    def cuts(self) -> list[int]:
        """The prefix lengths, shortest first."""
        try:
            cuts = sorted({int(each) for each in self.matryoshka_dims.split(",") if each.strip()})
        except ValueError:
            cuts = [0]
        if cuts and cuts[0] < 1:
            raise ValueError(
                f"setting matryoshka_dims is {self.matryoshka_dims!r}, expected positive integers separated by "
                "commas, such as 16,64"
            )
        return cuts

    @property
    def rate_name(self) -> str:
        """The setting that determines the step size."""
        return "layer_rate" if self.encoder == TRANSFORMER else "learning_rate"

    @property
    def if_idle(self) -> str:
        """Explain which pairs count with these settings, and what to change if few or no pairs count."""
        mined = self.miner in ("informative", "hardest")
        if not mined and LOSSES[self.loss].one_kind:
            return super().if_idle
        needs = f"miner={self.miner}" if mined else f"loss={self.loss}"
        why = f"with {needs}, a sentence counts only if its batch has both a positive and a negative for it"
        if self.labelled:
            return f"{why}, and few have both among labelled pairs; set labelled=no, or miner=none and loss=contrastive"
        return f"{why} that are not far apart yet; set miner=none and loss=contrastive, or a larger batch"

    @property
    def learns_temperature(self) -> bool:
        """Whether the network learns a temperature."""
        return self.learn_temperature and LOSSES[self.loss].learns_temperature


def preset(name: str, default: Any) -> Any:
    """The setting of this name with another default."""
    return field(default=default, metadata=PairSettings.named(name).metadata)


@dataclass(frozen=True, kw_only=True)
class SiameseSettings(PairSettings):
    loss: str = preset("loss", "contrastive")
    miner: str = preset("miner", "none")
    margin: float = preset("margin", 0.8)


@dataclass(frozen=True, kw_only=True)
class TripletSettings(PairSettings):
    loss: str = preset("loss", "soft-triplet")
    miner: str = preset("miner", "hardest")


@dataclass(frozen=True, kw_only=True)
class BagSettings(PairSettings):
    epochs: int = preset("epochs", 6)
    batch: int = preset("batch", 128)
    encoder: str = preset("encoder", "bag")
    loss: str = preset("loss", "contrastive")
    miner: str = preset("miner", "none")
    dropout: float = preset("dropout", 0.0)
    unit: str = preset("unit", "pieces")
    vectors: str = preset("vectors", "random")
    dimension: int = preset("dimension", 256)
    labelled: bool = preset("labelled", True)


@dataclass(frozen=True, kw_only=True)
class StaticSettings(BagSettings):
    vectors: str = preset("vectors", f"{DISTILLED}{PACKAGED}")

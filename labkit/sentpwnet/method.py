"""SentPWNet and its baselines: each combines a miner, a pair loss and an encoder.

    sentpwnet   informative pairs (eq. 11, 12), locality loss (eq. 8)
    siamese     every pair, contrastive loss (eq. 6)
    triplet     the hardest pair of each kind, soft-margin triplet loss (eq. 4)
    bag         labelled pairs only, contrastive loss; the mean of learned word-piece vectors
    static      the same, but the vectors are initially distilled from a sentence-transformers model

The first three share encoder, batches and epochs; they differ only in miner and loss. The losses are in
`labkit.pairs.losses`; their needs determine the batches. The bag is the simplest learned model: a network that does not
beat it brings no gain. `static` with epochs=0 is Model2Vec: as fast as a bag, and not trained here.

Eq. 8 with eq. 11 and 12 is the multi-similarity loss with its miner (Wang et al., Multi-Similarity Loss with General
Pair Weighting for Deep Metric Learning, CVPR 2019), usually with λ 0.5, β 50, ε 0.1. λ 0.9, β 20 and ε 0.3, the margin
0.8 of `siamese` and the temperature 0.2 of `triplet` were chosen on dev of small corpora. None fits every corpus: tune
each method with equally many trials before you compare them (`labkit tune`; notebooks/ablations/sentpwnet-fair.json).

A batch of more than 2,048 sentences is computed without an m x m matrix (`labkit.pairs.large_batch`) and encoded in
chunks (`embed_in_chunks`). The result is the same up to rounding, except that dropout draws its numbers chunk by chunk.
Smaller batches use the matrices (about ten, 17 MB each), which saves a second pass of the encoder. A loss that is not a
mean over anchors is limited to 2,048 sentences.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from labkit import pairs
from labkit.corpora.records import Corpus
from labkit.device import device_of
from labkit.explanation import LEFT_OUT, Parts
from labkit.method import History, Keeper, Snapshots, setting
from labkit.pairs.large_batch import by_anchors
from labkit.pairs.losses import ALIASES, LOSSES
from labkit.pretrained import PACKAGED, model_source, opened_model, require_same, sum_of_weights
from labkit.progress import Progress, note
from labkit.sentpwnet.batches import Batch, BatchSource, RowSource, batch_source
from labkit.settings import EPOCHS, Conditions
from labkit.training import EncoderTraining
from labkit.training.encoders import ENCODERS, Encoder, Words, embed, embed_in_chunks, encode, vector_parts, ways_of
from labkit.training.loop import Figures
from labkit.training.reader import DISTILLED, TAUGHT, UNITS, Reader, Rows
from labkit.training.trained import Network, TrainedReader, arrays_of
from labkit.training.transformer import TRANSFORMER, ModelReader, Transformer
from labkit.vectors import WordVectors

MINERS = ("informative", "hardest", "random", "none")
FEW_KEPT = 0.2  # share of the positive pairs; a training that keeps fewer at its start learns little
TEMPERATURE = "log_temperature"  # of the network's parameters, if it is learned
LARGE = 2048  # sentences in a batch above which no m x m matrix is built


@dataclass(frozen=True, kw_only=True)
class PairSettings(EncoderTraining):
    """Miner, loss, encoder, words and batches."""

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
    in_batch: bool = setting(False, "use the sentences of the batch's other anchors as negatives too")

    def __post_init__(self) -> None:
        object.__setattr__(self, "loss", ALIASES.get(str(self.loss), self.loss))  # one training for two names of a loss
        super().__post_init__()
        object.__setattr__(self, "matryoshka_dims", ",".join(map(str, self.cuts)))  # one spelling
        if not self.temperature:
            object.__setattr__(self, "temperature", LOSSES[self.loss].temperature)
        if LOSSES[self.loss].needs == "texts" and self.epochs and not self.dropout and self.encoder != TRANSFORMER:
            raise ValueError(
                f"setting dropout is 0.0, but loss={self.loss} needs it above 0 to encode a sentence in two ways; 0.1 "
                "is usual"
            )

    def conditions(self, shape: str | None = None, has_dev: bool | None = None) -> Conditions:
        """Which settings a loss, a miner, an encoder or a corpus does not use."""
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
        return conditions | {
            "learning_rate": (trained and not model, own),
            "model": (model, of_model),
            "layers": (model, of_model),
            "adapters": (model and self.layers > 0, f"{of_model} and layers above 0"),
            "layer_rate": (trained and model, of_model),
            "loss": (trained, EPOCHS),
            "miner": (trained, EPOCHS),
            "learn_temperature": (trained and LOSSES[self.loss].learns_temperature, f"with loss={learning}"),
            "symmetric": (
                trained and self.loss == "infonce" and directed,
                "with loss=infonce, on triplets or articles, or with a miner",
            ),
            "epsilon": (trained and self.miner == "informative", "with miner=informative"),
            "share": (trained and self.miner == "random", "with miner=random"),
            "matryoshka_dims": (trained, EPOCHS),
            "size": (self.encoder not in ("bag", TRANSFORMER), f"with an encoder other than bag or {TRANSFORMER}"),
            "dropout": (trained and not model, own),
            "unit": (not model, own),
            "vectors": (not model, own),
            "dimension": (made_here and not model, f"with vectors=auto, ppmi, random or {DISTILLED}MODEL, {own}"),
            "pieces": (pieces, "with unit=pieces, unless vectors are distilled"),
            "vocab_size": (pieces and self.pieces == TAUGHT, f"with unit=pieces and pieces={TAUGHT}"),
            "tune": (trained and not model, own),
            "sparse": (trained and self.tune and not model, f"with tune=yes, {own}"),
            "min_count": (self.unit != "pieces" and not model, f"with unit=words or characters, {own}"),
            "per_class": (
                taught and shape in (None, "Labelled", "Groups"),
                f"on classes or groups, {labels}",
            ),
            "labelled": (taught and shape in (None, "Pairs"), f"on pairs, {labels}"),
            "in_batch": (
                taught and shape in (None, "Triplets", "Articles"),
                f"on triplets or articles, {labels}",
            ),
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
        """Explain which pairs count with these settings, and what to change if few or none do."""
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


class SentPWNet(TrainedReader):
    """A sentence encoder trained on pairs.

    >>> from labkit import SentPWNet, load
    >>> method = SentPWNet(encoder="mean", epochs=2).fit(load("topics").take(range(60)))
    >>> method.encode(["A worn chain slips."]).shape
    (1, 300)
    """

    name = "sentpwnet"
    version = 2  # a batch holds one spelling of each text
    Settings = PairSettings

    network: Encoder | Transformer
    reader: Reader | ModelReader  # type: ignore[assignment] # or a pretrained model's
    weights: str  # a digest of the weights of a pretrained model

    def _task(self, corpus: Corpus, seed: int, progress: Progress) -> PairTask:
        settings: PairSettings = self.settings
        source = self._source(corpus, seed)
        if isinstance(source, RowSource) and source.contradictions:
            note(
                f"{source.contradictions} training pairs are labelled 0, but pairs labelled 1 connect their "
                "sentences; they count as positive",
                stacklevel=2,
            )
        if settings.encoder == TRANSFORMER:
            progress(0, None, "opening the model")
            self.network = self._started(seed, self._model_network)
            if settings.epochs:
                progress(0, None, "frozen layers")
                self.network.remember(map(self.reader.numbers, self._seen(corpus, source)))
        else:
            vectors = self._read(corpus, settings.unit, seed, progress)
            self.network = self._started(seed, partial(self._network, vectors))
        return PairTask(self.network, self.reader, source, settings, seed)

    def _source(self, corpus: Corpus, seed: int) -> BatchSource:
        """The source of the batches: all of train; a method that uses a share of the labels draws it by the seed."""
        settings: PairSettings = self.settings
        return batch_source(
            corpus.part("train"),
            per_class=settings.per_class,
            in_batch=settings.in_batch,
            labelled=settings.labelled,
            needs=LOSSES[settings.loss].needs if settings.epochs else "texts",  # without training no labels are needed
        )

    def _seen(self, corpus: Corpus, source: BatchSource) -> Iterable[str]:
        """The sentences that the training reads repeatedly."""
        return dict.fromkeys([*source.texts, *(corpus.part("dev").sentences() if "dev" in corpus.splits else ())])

    def _keep(self, keeper: Keeper | None, history: History, snapshots: Snapshots) -> None:
        super()._keep(keeper, history, snapshots)
        if len(history) == 1:
            note_few_kept(self.settings, history.rows[0].get("kept_positives", 1.0), "epoch 1")

    def _network(self, vectors: WordVectors) -> Encoder:
        settings: PairSettings = self.settings
        words = Words(vectors, tune=settings.tune, sparse=settings.sparse)
        body = ENCODERS[settings.encoder](vectors.dimension, settings.size)
        return self._with_temperature(Encoder(words, body, dropout=settings.dropout))

    def _model_network(self) -> Transformer:
        settings: PairSettings = self.settings
        device = device_of(settings.device, insist=False)
        model = opened_model(model_source(settings.model), str(device)).eval()
        self.reader = ModelReader(
            model.tokenizer, min(settings.max_length, model.max_seq_length or settings.max_length)
        )
        self.weights = sum_of_weights(model)
        return self._with_temperature(Transformer(model, layers=settings.layers, rank=settings.adapters))

    def _with_temperature(self, network: Network) -> Network:
        settings: PairSettings = self.settings
        if settings.learns_temperature:
            network.register_parameter(TEMPERATURE, nn.Parameter(torch.tensor(math.log(settings.temperature))))
        return network

    def _state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        if self.settings.encoder == TRANSFORMER:
            return arrays_of(self.network), {"weights": self.weights}
        return super()._state()

    def _restore(self, arrays: dict[str, np.ndarray], words: dict[str, Any]) -> None:
        if self.settings.encoder != TRANSFORMER:
            super()._restore(arrays, words)
            return
        self.network = self._filled(self._model_network, arrays)
        require_same(self.settings.model, self.weights, words["weights"])

    def _encode(self, sentences: list[str], batch_size: int, progress: Progress) -> np.ndarray:
        return encode(self.network, self.reader, sentences, batch_size, progress)

    @property
    def ways(self) -> tuple[str, ...]:
        if self.settings.encoder == TRANSFORMER:
            return ("integrated", LEFT_OUT)
        return ways_of(self.settings.encoder)

    def _parts(self, sentence: str, way: str, steps: int) -> Parts:
        if isinstance(self.network, Encoder):
            return vector_parts(self.network, self.reader, sentence, way, steps)
        assert isinstance(self.reader, ModelReader)
        return self.network.parts(self.reader, sentence, steps)


class Siamese(SentPWNet):
    """The first baseline: every pair, with the contrastive loss (eq. 6).

    >>> from labkit import Siamese, load
    >>> method = Siamese(encoder="mean", epochs=2).fit(load("topics").take(range(60)))
    >>> len(method.history)
    2
    """

    name = "siamese"
    Settings = SiameseSettings


class Triplet(SentPWNet):
    """The second baseline: the hardest pair of each kind, with the soft-margin triplet loss (eq. 4).

    >>> from labkit import Triplet, load
    >>> method = Triplet(encoder="mean", epochs=2).fit(load("topics").take(range(60)))
    >>> len(method.history)
    2
    """

    name = "triplet"
    Settings = TripletSettings


class Bag(SentPWNet):
    """The simplest learned model: the mean of word-piece vectors, trained on labelled pairs only.

    >>> from labkit import Bag, load
    >>> method = Bag(epochs=2).fit(load("questions").take(range(60)))
    >>> method.similarity_pairwise("How do I keep a cat?", "What does a cat need?").shape
    (1,)
    """

    name = "bag"
    Settings = BagSettings


class Static(Bag):
    """A bag initialised from a large model, with one vector for each of its word pieces.

    >>> from labkit import Static, load
    >>> method = Static(epochs=2).fit(load("questions"))  # doctest: +SKIP
    >>> method.encode("How do I keep a cat?").shape  # doctest: +SKIP
    (384,)
    """

    name = "static"
    Settings = StaticSettings


def note_few_kept(settings: PairSettings, share: float, when: str) -> None:
    """Add a note if an informative miner keeps only a small share of the positive pairs."""
    chosen = settings.miner == "informative" or (settings.miner == "hardest" and settings.labelled)
    if chosen and share < FEW_KEPT:
        note(f"only {share:.0%} of the positive pairs were kept in {when}: {settings.if_idle}", stacklevel=2)


def loss_of(settings: PairSettings, temperature: Tensor | None = None) -> partial[Tensor]:
    """The loss (S, P, N) -> scalar of these settings; a learned temperature replaces theirs."""
    loss = LOSSES[settings.loss]
    values: dict[str, Any] = {name: getattr(settings, name) for name in loss.hyperparameters}
    return partial(loss.function, **values | ({} if temperature is None else {"temperature": temperature}))


def miner_of(settings: PairSettings) -> Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor]]:
    """The miner (S, P, N) -> (P', N') of these settings; `random` draws from the generator seeded by the loop."""
    miners: Mapping[str, Any] = {
        "informative": partial(pairs.informative, epsilon=settings.epsilon),
        "hardest": pairs.hardest,
        "random": partial(pairs.random_pairs, share=settings.share, generator=torch.default_generator),
        "none": lambda S, P, N: (P, N),
    }
    return miners[settings.miner]


def mined_loss(
    settings: PairSettings, S: Tensor, P: Tensor, N: Tensor, grades: Tensor | None, temperature: Tensor | None
) -> tuple[Tensor, Tensor, Tensor]:
    """The loss of the pairs that the miner keeps, and their masks."""
    loss = loss_of(settings, temperature)
    if grades is not None:  # graded pairs are all compared with each other: there are no anchors for a miner
        return loss(S, P, N, grades=grades), P, N
    kept = miner_of(settings)(S.detach().clamp(-1, 1), P, N)
    return loss(S, *kept), *kept


class PairTask:
    """Batches of sentences, all their similarities, and the loss of the pairs that the miner keeps."""

    def __init__(
        self,
        encoder: Encoder | Transformer,
        reader: Reader | ModelReader,
        source: BatchSource,
        settings: PairSettings,
        seed: int,
    ) -> None:
        self.module, self._settings = encoder, settings
        self._source, self._seed = source, seed
        self._rows = Rows(map(reader.numbers, source.texts))
        self._lengths = self._rows.lengths.tolist()
        self._miner = miner_of(settings)
        self._log_temperature = encoder.get_parameter(TEMPERATURE) if settings.learns_temperature else None

    def batches(self, epoch: int) -> Sequence[Batch]:
        settings = self._settings
        batches = self._source.batches(self._lengths, settings.batch, self._seed * 100_003 + epoch)
        largest = max((len(batch.sentences) for batch in batches), default=0)
        symmetric = settings.symmetric and settings.loss == "infonce"
        if largest > LARGE and (symmetric or not LOSSES[settings.loss].by_anchor):
            raise ValueError(
                f"a batch has {largest:,} sentences, but "
                f"loss={settings.loss}{' with symmetric=yes' if symmetric else ''} allows at most {LARGE:,}, because "
                f"it compares the pairs of all anchors at once. Lower batch, which is {settings.batch:,}"
            )
        return [batch for batch in batches if len(batch.sentences) > 1]  # a single sentence has no pair

    def outputs(self, batch: Batch, rows: slice = slice(None)) -> Tensor:
        """The vectors of the batch's sentences, (m, d)."""
        sentences = batch.sentences[rows]
        if len(sentences) > LARGE:
            return embed_in_chunks(self.module, self._rows, sentences, amp=self._settings.amp)
        return embed(self.module, *self._rows.batch(sentences), amp=self._settings.amp)

    def loss(self, embeddings: Tensor, batch: Batch) -> tuple[Tensor, Callable[[], Figures]]:
        """The mean loss of vectors and prefixes (Kusupati et al. 2022); statistics are of the full vectors."""
        temperature = None if self._log_temperature is None else self._log_temperature.exp()
        cuts = self._settings.cuts
        if cuts and cuts[-1] >= embeddings.shape[1]:
            raise ValueError(
                f"setting matryoshka_dims is {self._settings.matryoshka_dims!r}, but the numbers must be below "
                f"{embeddings.shape[1]}, the length of the sentence vectors"
            )
        value, note = self._loss_of(embeddings, batch, temperature, 1 + len(cuts))
        for cut in cuts:
            value = value + self._loss_of(F.normalize(embeddings[:, :cut], dim=1), batch, temperature, 1)[0]
        noted = {} if temperature is None else {"temperature": temperature.detach()}
        return value / (1 + len(cuts)), lambda: {**note(), **noted}

    def _loss_of(
        self, embeddings: Tensor, batch: Batch, temperature: Tensor | None, parts: int
    ) -> tuple[Tensor, Callable[[], Figures]]:
        """The loss of normalised vectors, divided by `parts` for the gradient but not in the statistics."""
        if len(batch.sentences) > LARGE:
            loss, figures = self._loss_of_large(embeddings, batch, temperature)
            return loss, lambda: figures
        S = embeddings @ embeddings.T
        if S.requires_grad:
            S.retain_grad()
        P, N = batch.masks(S.device)
        grades = batch.graded(S.device) if batch.grades else None
        value, kept_P, kept_N = mined_loss(self._settings, S, P, N, grades, temperature)
        return value, lambda: _figures(S, P, N, kept_P, kept_N, parts)

    def _loss_of_large(self, embeddings: Tensor, batch: Batch, temperature: Tensor | None) -> tuple[Tensor, Figures]:
        masks = partial(batch.masks, embeddings.device)
        return by_anchors(embeddings, masks, self._miner, _with_temperature(self._settings), temperature)


def _with_temperature(settings: PairSettings) -> Callable[..., Tensor]:
    return lambda S, P, N, *temperature: loss_of(settings, *temperature)(S, P, N)


def _figures(S: Tensor, P: Tensor, N: Tensor, kept_P: Tensor, kept_N: Tensor, parts: int) -> dict[str, Tensor]:
    """Batch statistics: shares kept, mean weights `m |dL/dS|` (eq. 1-3) of kept pairs, spread of S."""
    scale = len(S) * parts
    weights = torch.zeros_like(S) if S.grad is None else S.grad.abs()
    pull, push = ((weights * kept.to(S.dtype)).sum() * scale for kept in (kept_P, kept_N))
    positives, negatives = P.count_nonzero(), N.count_nonzero()
    kept_positives, kept_negatives = kept_P.count_nonzero(), kept_N.count_nonzero()
    others = S.detach().flatten()[1:].view(len(S) - 1, len(S) + 1)[:, :-1]  # without the diagonal
    return {
        "kept_positives": 1 - (positives - kept_positives) / positives.clamp(min=1),  # 1 if there are none
        "kept_negatives": 1 - (negatives - kept_negatives) / negatives.clamp(min=1),
        "weight_positives": pull / kept_positives.clamp(min=1),
        "weight_negatives": push / kept_negatives.clamp(min=1),
        "spread": others.std(correction=0),
    }

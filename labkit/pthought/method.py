"""P-thought: a GRU reads a sentence into a vector, from which two others write the sentence and a paraphrase of it.

In: a corpus of groups, or of pairs labelled 0/1, whose positive pairs form groups. Out: sentence vectors (n, 2 hidden),
not normalised; and sentences, from `paraphrase`. The dev split selects the epoch by lift (P-coherence within groups
minus between groups), because the loss depends on λ and a collapsed encoder has perfect P-coherence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from labkit.corpora.records import Corpus
from labkit.corpora.relations import train_sentences
from labkit.explanation import LEFT_OUT, Parts
from labkit.method import setting, texts
from labkit.progress import Progress
from labkit.pthought.batches import Paraphrases, Reading, reading
from labkit.pthought.network import DECODERS, FORMS, Decoder, GruEncoder, Model
from labkit.pthought.task import ParaphraseTask, groups_of, lift, note_left_out
from labkit.pthought.writing import Paraphrased, Search, write_paraphrases
from labkit.settings import EPOCHS, Conditions
from labkit.training import EncoderTraining
from labkit.training.encoders import Encoder, Words, encode, vector_parts
from labkit.training.loop import Dev
from labkit.training.trained import TrainedReader, usable_dev
from labkit.vectors import WordVectors


@dataclass(frozen=True, kw_only=True)
class PThoughtSettings(EncoderTraining):
    """Settings of the encoder, the decoders and the vocabulary."""

    epochs: int = setting(10, "passes through the training data, each sentence with `partners` paraphrases", minimum=0)
    learning_rate: float = setting(0.003, "step size of Adam", above=0, maximum=10, tune=(0.0005, 0.01))
    batch: int = setting(64, "pairs per step", minimum=2, maximum=100_000)
    form: str = setting("one-bi", "encoder: number of layers and direction", choices=tuple(FORMS))
    hidden: int = setting(200, "size of each GRU of the encoder; the sentence vector is twice as long", minimum=1)
    decoder_hidden: int = setting(200, "size of the decoders' GRUs", minimum=1)
    decoders: str = setting("both", "what is decoded from the vector", choices=tuple(DECODERS))
    emphasis: float = setting(
        0.5,
        "λ of eq. 10, from 0 to 1: the paraphrase has weight 1 + λ, the copy 1 - λ",
        tune=(0.1, 0.9),
    )
    feed: bool = setting(True, "feed the sentence vector to the decoders at every word, not only at the start")
    partners: int = setting(1, "paraphrases per sentence and epoch, the next ones in each epoch; 0: all", minimum=0)
    dropout: float = setting(
        0.0,
        "dropout rate on the encoder's word vectors",
        minimum=0,
        maximum=0.95,
        tune=(0, 0.5),
    )
    vectors: str = setting("ppmi", "word vectors: ppmi (computed here), random, or a file (GloVe, word2vec, .npz)")
    dimension: int = setting(100, "length of word vectors that are computed here", minimum=1, maximum=10_000)
    tune: bool = setting(False, "train the word vectors")
    expansion: int = setting(100_000, "words to read from a vector file beyond those of the training data", minimum=0)
    min_count: int = setting(2, "minimum count of a word in the training data", minimum=1)
    max_length: int = setting(50, "maximum number of words to read and to write", minimum=1, maximum=100_000)

    def conditions(self, shape: str | None = None, has_dev: bool | None = None) -> Conditions:
        """Training settings need epochs; a file has its own word vectors."""
        made_here = self.vectors in ("ppmi", "random")
        trained: Conditions = dict.fromkeys(("partners", "dropout", "tune"), (self.epochs > 0, EPOCHS))
        return (
            super().conditions(shape, has_dev)
            | trained
            | {
                "emphasis": (self.epochs > 0 and self.decoders == "both", f"{EPOCHS} and decoders=both"),
                "dimension": (made_here, "with vectors=ppmi or random"),
                "expansion": (not made_here, "with vectors from a file"),
            }
        )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.decoders == "both" and not 0 < self.emphasis < 1:
            raise ValueError(
                f"setting emphasis is {self.emphasis:g}, expected above 0 and below 1 if both decoders learn; for a "
                "single decoder, set decoders to auto or paraphrase"
            )


class PThought(TrainedReader):
    """One encoder, two decoders.

    >>> from labkit import PThought, load
    >>> method = PThought(epochs=1).fit(load("captions").take(range(60)))
    >>> method.encode(["A dog runs."]).shape
    (1, 400)
    """

    name = "pthought"
    Settings = PThoughtSettings

    network: Model
    writable: int  # the first words of the vocabulary, which can be written
    word_table = "encoder.words.table.weight"

    @property
    def reading(self) -> Reading:
        """The reader, and which words can be written."""
        return Reading(self.reader, self.writable)

    def _task(self, corpus: Corpus, seed: int, progress: Progress) -> ParaphraseTask:
        settings: PThoughtSettings = self.settings
        source = Paraphrases.of(groups_of(corpus.part("train")), max_length=settings.max_length)
        note_left_out(source, settings.max_length)
        progress(0, None, "word vectors")
        how, vectors = reading(
            train_sentences(corpus),
            vectors=settings.vectors,
            dimension=settings.dimension,
            min_count=settings.min_count,
            max_length=settings.max_length,
            expansion=settings.expansion,
            seed=seed,
        )
        self.reader, self.writable = how.reader, how.writable
        self.network = self._started(seed, lambda: self._network(vectors))
        return ParaphraseTask(self.network, how, source, settings, seed)

    def _network(self, vectors: WordVectors) -> Model:
        settings: PThoughtSettings = self.settings
        body = GruEncoder(settings.form, vectors.dimension, settings.hidden)
        encoder = Encoder(Words(vectors, tune=settings.tune), body, dropout=settings.dropout, normalised=False)
        size = 2 * settings.hidden
        decoders = {
            name: Decoder(vectors.dimension, size, settings.decoder_hidden, self.writable, feed=settings.feed)
            for name in DECODERS[settings.decoders]
        }
        return Model(encoder, decoders)

    def _dev(self, corpus: Corpus, task: ParaphraseTask) -> Dev | None:
        dev = usable_dev(corpus, lambda dev: lift(lambda rows: np.ones((len(rows), 1)), dev))
        return None if dev is None else lambda: ("dev_lift", lift(task.encoded, dev))

    def _encode(self, sentences: list[str], batch_size: int, progress: Progress) -> np.ndarray:
        return encode(self.network.encoder, self.reader, sentences, batch_size, progress)

    @property
    def ways(self) -> tuple[str, ...]:
        return ("integrated", LEFT_OUT)

    def _parts(self, sentence: str, way: str, steps: int) -> Parts:
        return vector_parts(self.network.encoder, self.reader, sentence, way, steps)

    def _state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        arrays, words = super()._state()
        return arrays, {**words, "writable": self.writable}

    def _restore(self, arrays: dict[str, np.ndarray], words: dict[str, Any]) -> None:
        self.writable = int(words["writable"])
        super()._restore(arrays, words)

    # --- writing ---------------------------------------------------------------------------------------------

    def paraphrase(
        self, sentences: Sequence[str], *, search: Search | None = None, batch_size: int = 32
    ) -> list[Paraphrased]:
        """The sentences each decoder writes from each sentence's vector: greedy, or by beam search."""
        self._known()
        sentences = texts(sentences)
        for row, text in enumerate(sentences):
            if not text.strip():
                raise ValueError(f"sentences[{row}] is {text!r}, expected a non-empty text; fill it in or drop it")
        paraphrases: list[Paraphrased] = []
        for start in range(0, len(sentences), batch_size):
            part = sentences[start : start + batch_size]
            vectors = torch.from_numpy(self.encode(part)).to(self.network.encoder.words.table.weight.device)
            paraphrases += write_paraphrases(self.network, self.reading, part, vectors, search)
        return paraphrases

    def losses(self, corpus: Corpus, *, split: str = "dev") -> dict[str, float]:
        """Each decoder's mean -log p per token, over the ordered pairs of a split."""
        self._known()
        source = Paraphrases.of(groups_of(corpus.part(split)), max_length=self.settings.max_length)
        return ParaphraseTask(self.network, self.reading, source, self.settings, 0).held_out()

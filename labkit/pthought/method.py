"""P-thought: a GRU encodes a sentence as a vector, from which two other GRUs write the sentence and a paraphrase.

In: a corpus of groups, or of pairs labelled 0/1, whose positive pairs form groups. Out: sentence vectors (n, 2 hidden),
not normalised; and sentences, from `paraphrase`. The dev split selects the epoch by lift (P-coherence within groups
minus between groups), because the loss depends on λ and a collapsed encoder has perfect P-coherence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from labkit.corpora.records import Corpus, Labelled, Pairs, Sentences
from labkit.corpora.relations import train_sentences
from labkit.evaluation import p_coherence
from labkit.explanation import LEFT_OUT, Parts
from labkit.method import setting, texts
from labkit.progress import Progress, note, silent
from labkit.pthought.batches import Paraphrases, epoch_batches, reading
from labkit.pthought.network import DECODERS, FORMS, Decoder, GruEncoder, Model, objective
from labkit.pthought.writing import Paraphrased, Search, Written, beam, greedy
from labkit.settings import EPOCHS, Conditions
from labkit.text import words
from labkit.training import EncoderTraining
from labkit.training.encoders import Encoder, Words, embed, encode, vector_parts
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
        0.5, "λ of eq. 10, from 0 to 1: the paraphrase has weight 1 + λ, the copy 1 - λ", tune=(0.1, 0.9)
    )
    feed: bool = setting(True, "feed the sentence vector to the decoders at every word, not only at the start")
    partners: int = setting(1, "paraphrases per sentence and epoch, the next ones in each epoch; 0: all", minimum=0)
    dropout: float = setting(0.0, "dropout rate on the encoder's word vectors", minimum=0, maximum=0.95, tune=(0, 0.5))
    vectors: str = setting("ppmi", "word vectors: ppmi (computed here), random, or a file (GloVe, word2vec, .npz)")
    dimension: int = setting(100, "length of word vectors that are computed here", minimum=1, maximum=10_000)
    tune: bool = setting(False, "train the word vectors")
    expansion: int = setting(100_000, "words to read from a vector file beyond those of the training data", minimum=0)
    min_count: int = setting(2, "minimum count of a word in the training data", minimum=1)
    max_length: int = setting(50, "maximum number of words to read and to write", minimum=1, maximum=100_000)

    def conditions(self, shape: str | None = None, has_dev: bool | None = None) -> Conditions:
        """Training settings apply only with epochs; a vector file determines the word vectors."""
        made_here = self.vectors in ("ppmi", "random")
        trained: Conditions = dict.fromkeys(("partners", "dropout", "tune"), (self.epochs > 0, EPOCHS))
        own: Conditions = {
            "emphasis": (self.epochs > 0 and self.decoders == "both", f"{EPOCHS} and decoders=both"),
            "dimension": (made_here, "with vectors=ppmi or random"),
            "expansion": (not made_here, "with vectors from a file"),
        }
        return super().conditions(shape, has_dev) | trained | own

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.decoders == "both" and not 0 < self.emphasis < 1:
            raise ValueError(
                f"setting emphasis is {self.emphasis:g}, expected above 0 and below 1 if both decoders learn; for a "
                "single decoder, set decoders to auto or paraphrase"
            )


class PThought(TrainedReader):
    """A GRU encoder, trained with one decoder for the sentence and one for its paraphrase.

    >>> from labkit import PThought, load
    >>> method = PThought(epochs=1).fit(load("captions").take(range(60)))
    >>> method.encode(["A dog runs."]).shape
    (1, 400)
    """

    name = "pthought"
    Settings = PThoughtSettings

    network: Model
    writable: int  # number of words that can be written: the first of the vocabulary
    word_table = "encoder.words.table.weight"

    def _task(self, corpus: Corpus, seed: int, progress: Progress) -> ParaphraseTask:
        settings: PThoughtSettings = self.settings
        source = Paraphrases.of(groups_of(corpus.part("train")), max_length=settings.max_length)
        if source.alone:
            note(f"{source.alone} groups of one sentence are skipped, because they contain no paraphrase", stacklevel=2)
        if source.cut:
            note(f"{source.cut} sentences of more than {settings.max_length} words are truncated", stacklevel=2)
        progress(0, None, "word vectors")
        self.reader, self.writable, vectors = reading(train_sentences(corpus), settings, seed)
        self.network = self._started(seed, lambda: self._network(vectors))
        return ParaphraseTask(self, source, seed)

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
        """The sentences that each decoder writes from each sentence's vector, greedily or with beam search."""
        self._known()
        sentences = texts(sentences)
        for row, text in enumerate(sentences):
            if not text.strip():
                raise ValueError(f"sentences[{row}] is {text!r}, expected a non-empty text; fill it in or drop it")
        paraphrases, numbers = list[Paraphrased](), self.reader.vocabulary.numbers
        for start in range(0, len(sentences), batch_size):
            part = sentences[start : start + batch_size]
            vectors = torch.from_numpy(self.encode(part)).to(self.network.encoder.words.table.weight.device)
            written = {name: self._written(name, vectors, search) for name in self.network.decoders}
            for row, text in enumerate(part):
                met = words(text)
                unknown = tuple(word for word in met if word not in numbers)
                expanded = tuple(word for word in met if numbers.get(word, 0) >= self.writable)
                cut = max(0, len(met) - self.reader.max_length)
                found = {name: rows[row] for name, rows in written.items()}
                paraphrases.append(Paraphrased(text, unknown, expanded, cut, found))
        return paraphrases

    def _written(self, name: str, vectors: Tensor, search: Search | None) -> list[tuple[Written, ...]]:
        """The sentences that one decoder generates from each of these vectors (n, size)."""
        decoder, table = self.network.decoder(name), self.network.encoder.words.table.weight
        if search is None:
            plain = Search(max_length=self.reader.max_length)
            written = [[one] for one in greedy(decoder, table, vectors, plain)]
        else:
            written = [beam(decoder, table, vector, search) for vector in vectors]
        spelled = self.reader.vocabulary.words
        return [
            tuple(replace(one, text=" ".join(spelled[number] for number in one.words)) for one in found)
            for found in written
        ]

    def losses(self, corpus: Corpus, *, split: str = "dev") -> dict[str, float]:
        """Each decoder's mean -log p per token, over the ordered pairs of a split."""
        self._known()
        source = Paraphrases.of(groups_of(corpus.part(split)), max_length=self.settings.max_length)
        return ParaphraseTask(self, source, 0).held_out()


# --- what the training loop trains ------------------------------------------------------------------------------


class ParaphraseTask:
    """Batches of ordered pairs, and the loss of writing both sentences of a pair from the vector of the first."""

    def __init__(self, method: PThought, source: Paraphrases, seed: int) -> None:
        self.module, self._reader, self._settings = method.network, method.reader, method.settings
        self._source, self._seed = source, seed
        self._rows = [method.reader.numbers(text) for text in source.texts]

    def batches(self, epoch: int) -> list[np.ndarray]:
        return self._epoch(epoch, self._settings.partners)

    def _epoch(self, epoch: int, partners: int) -> list[np.ndarray]:
        lengths, size = [len(row) for row in self._rows], self._settings.batch
        return epoch_batches(self._source, lengths, size, partners=partners, epoch=epoch, seed=self._seed)

    def outputs(self, batch: np.ndarray, rows: slice = slice(None)) -> Tensor:
        """The vector of each input sentence, and its part of each decoder's loss, (n, d + decoders).

        Only the sum of the losses matters, so all rows have equal parts.
        """
        read, write = ([self._rows[row] for row in side] for side in batch[rows].T.tolist())
        vectors = embed(self.module.encoder, *self._reader.batch(read), amp=self._settings.amp)
        device, sides = vectors.device.type, {"auto": read, "paraphrase": write}
        with torch.autocast(device, torch.bfloat16, enabled=self._settings.amp and device == "cuda"):
            costs = torch.stack([self.module.written(name, vectors, sides[name]) for name in self.module.decoders])
        return torch.cat([vectors, (costs / len(read)).expand(len(read), -1)], 1)

    def loss(self, outputs: Tensor, batch: np.ndarray) -> tuple[Tensor, Callable[[], dict[str, Tensor]]]:
        tokens = self._tokens(batch)
        vectors, costs = outputs.split([outputs.shape[1] - len(tokens), len(tokens)], 1)
        losses = {name: cost / count for (name, count), cost in zip(tokens.items(), costs.sum(0), strict=True)}
        noted = {f"l_{'para' if name == 'paraphrase' else name}": loss.detach() for name, loss in losses.items()}
        return objective(losses, self._settings.emphasis), partial(_figures, noted, vectors.detach())

    def held_out(self) -> dict[str, float]:
        """Mean -log p per token of each decoder, over all ordered pairs, without training."""
        self.module.eval()
        names = list(self.module.decoders)
        costs, tokens = np.zeros(len(names)), np.zeros(len(names))
        with torch.inference_mode():
            for batch in self._epoch(1, 0):
                costs += self.outputs(batch)[:, -len(names) :].sum(0).tolist()
                tokens += list(self._tokens(batch).values())
        return dict(zip(names, (costs / tokens).tolist(), strict=True))

    def _tokens(self, batch: np.ndarray) -> dict[str, int]:
        """The number of tokens each decoder writes, including sentence ends."""
        sides = {"auto": 0, "paraphrase": 1}
        return {name: sum(len(self._rows[row]) + 1 for row in batch[:, sides[name]]) for name in self.module.decoders}

    def encoded(self, sentences: list[str]) -> np.ndarray:
        """Encode sentences with the current network."""
        return encode(self.module.encoder, self._reader, sentences, 256, silent)


def groups_of(corpus: Corpus) -> list[list[str]]:
    """The sentences of a corpus in groups of paraphrases; raises ValueError if it has none."""
    groups: dict[Any, list[str]] = {}
    if not isinstance(corpus, Labelled):  # sentences on one topic are not paraphrases
        for text, group in zip(*corpus.same(), strict=True):
            groups.setdefault(group, []).append(text)
    if groups:
        return list(groups.values())
    if isinstance(corpus, Sentences):
        raise corpus.without_labels("P-thought needs paraphrases (pv-dbow needs only texts)")
    kind = "graded pairs" if isinstance(corpus, Pairs) else corpus.KIND
    raise ValueError(
        f"corpus {corpus.name!r} has {kind}, which do not mark paraphrases. Use groups (columns group, text) or pairs "
        "labelled 0/1 (text_a, text_b, label), such as captions or questions"
    )


def lift(encode: Callable[[list[str]], np.ndarray], corpus: Corpus) -> float:
    """Mean cosine within groups minus mean cosine between groups (`labkit.evaluation.p_coherence`)."""
    groups = groups_of(corpus)
    texts = [text for group in groups for text in group]
    return p_coherence(encode(texts), [number for number, group in enumerate(groups) for _ in group]).lift


def _figures(losses: dict[str, Tensor], vectors: Tensor) -> dict[str, Tensor]:
    """The losses, and the spread of the input sentences' cosines, which is near 0 for a collapsed encoder."""
    if len(vectors) < 2:
        return {**losses, "spread": torch.ones(())}
    unit = torch.nn.functional.normalize(vectors, dim=1)
    others = ~torch.eye(len(unit), dtype=torch.bool, device=unit.device)
    return {**losses, "spread": (unit @ unit.T)[others].std(correction=0)}

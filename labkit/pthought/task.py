"""Train P-thought: the loss of a batch of pairs, and the score that selects an epoch.

In: a corpus with groups of sentences that mean the same. Out: a `Task` for `labkit.training.train`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from labkit.corpora.records import Corpus, Labelled, Pairs, Sentences
from labkit.evaluation import p_coherence
from labkit.progress import note, silent
from labkit.pthought.batches import Paraphrases, Reading, epoch_batches
from labkit.pthought.network import Model, objective
from labkit.training.encoders import embed, encode


class ParaphraseTask:
    """Batches of ordered pairs, and the loss of writing both sentences of a pair from the vector of the first."""

    def __init__(self, model: Model, reading: Reading, source: Paraphrases, settings: Any, seed: int) -> None:
        self.module = model
        self._reading, self._source, self._settings, self._seed = reading, source, settings, seed
        self._rows = [reading.reader.numbers(text) for text in source.texts]

    def batches(self, epoch: int) -> list[np.ndarray]:
        return self._epoch(epoch, self._settings.partners)

    def _epoch(self, epoch: int, partners: int) -> list[np.ndarray]:
        lengths, size = [len(row) for row in self._rows], self._settings.batch
        return epoch_batches(self._source, lengths, size, partners=partners, epoch=epoch, seed=self._seed)

    def outputs(self, batch: np.ndarray, rows: slice = slice(None)) -> Tensor:
        """The vector of each sentence read, and its part of each decoder's loss, (n, d + decoders).

        Only the sum of the losses matters, so each row has an equal part.
        """
        read, write = ([self._rows[row] for row in side] for side in batch[rows].T.tolist())
        vectors = embed(self.module.encoder, *self._reading.reader.batch(read), amp=self._settings.amp)
        costs = self._costs(vectors, read, write)
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
        sums: dict[str, float] = {}
        tokens: dict[str, int] = {}
        with torch.inference_mode():
            for batch in self._epoch(1, 0):
                count = self._tokens(batch)
                costs = self.outputs(batch)[:, -len(count) :].sum(0).tolist()
                for name, cost in zip(count, costs, strict=True):
                    sums[name] = sums.get(name, 0.0) + cost
                    tokens[name] = tokens.get(name, 0) + count[name]
        return {name: total / tokens[name] for name, total in sums.items()}

    def _costs(self, vectors: Tensor, read: list[list[int]], write: list[list[int]]) -> Tensor:
        """-log p of everything each decoder writes from these vectors, (decoders,)."""
        device = vectors.device.type
        with torch.autocast(device, torch.bfloat16, enabled=self._settings.amp and device == "cuda"):
            sums = [
                self.module.written(name, vectors, write if name == "paraphrase" else read)
                for name in self.module.decoders
            ]
        return torch.stack(sums)

    def _tokens(self, batch: np.ndarray) -> dict[str, int]:
        """The number of tokens each decoder writes, including sentence ends."""
        sides = {"auto": 0, "paraphrase": 1}
        return {name: sum(len(self._rows[row]) + 1 for row in batch[:, sides[name]]) for name in self.module.decoders}

    def encoded(self, sentences: list[str]) -> np.ndarray:
        """Encode sentences with the current network."""
        return encode(self.module.encoder, self._reading.reader, sentences, 256, silent)


def groups_of(corpus: Corpus) -> list[list[str]]:
    """The sentences of a corpus in groups of paraphrases; raises ValueError if it has none."""
    groups: dict[Any, list[str]] = {}
    if not isinstance(corpus, Labelled):  # sentences on one topic are not paraphrases
        for text, group in zip(*corpus.same(), strict=True):
            groups.setdefault(group, []).append(text)
    if groups:
        return list(groups.values())
    if isinstance(corpus, Sentences):
        raise corpus.without_labels("P-thought needs paraphrases (pv-dbow needs texts only)")
    kind = "graded pairs" if isinstance(corpus, Pairs) else type(corpus).__name__.lower()
    raise ValueError(
        f"corpus {corpus.name!r} has {kind}, which do not mark paraphrases. Use groups (columns group, text) or pairs "
        "labelled 0/1 (text_a, text_b, label), such as captions or questions"
    )


def lift(encode: Callable[[list[str]], np.ndarray], corpus: Corpus) -> float:
    """Mean cosine within groups minus mean cosine between groups (`labkit.evaluation.p_coherence`)."""
    groups = groups_of(corpus)
    texts = [text for group in groups for text in group]
    return p_coherence(encode(texts), [number for number, group in enumerate(groups) for _ in group]).lift


def note_left_out(source: Paraphrases, max_length: int) -> None:
    """Report how many groups are skipped and how many sentences are truncated."""
    left_out = [
        f"{source.alone} groups of one sentence are skipped: they have no paraphrase" * bool(source.alone),
        f"{source.cut} sentences of more than {max_length} words are truncated" * bool(source.cut),
    ]
    if any(left_out):
        note("; ".join(filter(None, left_out)), stacklevel=2)


def _figures(losses: dict[str, Tensor], vectors: Tensor) -> dict[str, Tensor]:
    """The losses, and the spread of the cosines of the sentences read, which is near 0 for a collapsed encoder."""
    if len(vectors) < 2:
        return {**losses, "spread": torch.ones(())}
    unit = torch.nn.functional.normalize(vectors, dim=1)
    others = ~torch.eye(len(unit), dtype=torch.bool, device=unit.device)
    return {**losses, "spread": (unit @ unit.T)[others].std(correction=0)}

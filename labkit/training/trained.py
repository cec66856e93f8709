"""The base class of methods that learn by gradient descent: training, saving, restoring, choosing an epoch.

    _task(corpus, seed, progress)     the task: the method's network, its batches, their loss
    _dev(corpus, task)                the score that selects an epoch   default: its `selection` on dev, if defined
    _probe(corpus)                    what is stored in each epoch      default: the vectors of 300 sentences

A `TrainedReader` also reads words and implements `_network(vectors)`; it is saved as arrays and a vocabulary.
"""

from __future__ import annotations

import math
import warnings
from abc import abstractmethod
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar, TypeVar

import numpy as np
import torch
from torch import nn

from labkit.corpora.records import Articles, Corpus, Labelled
from labkit.corpora.relations import probe_split
from labkit.device import device_of
from labkit.evaluation.neighbours import MOST_ASKING
from labkit.method import History, Keeper, Method
from labkit.progress import Progress, note, silent
from labkit.runs import Snapshots
from labkit.text import Vocabulary
from labkit.training import distributed
from labkit.training.loop import Dev, Task, train
from labkit.training.reader import Reader, reader_and_vectors
from labkit.vectors import WordVectors, random_vectors

Network = TypeVar("Network", bound=nn.Module)

PROBE = 300  # sentences whose vectors are stored in each epoch
FEWEST = 10  # rows of dev below which its score is too coarse to choose an epoch
BATCH = 256  # probe sentences encoded at once


class Trained(Method):
    """A method that learns by gradient descent; its settings extend `Training`."""

    @abstractmethod
    def _task(self, corpus: Corpus, seed: int, progress: Progress) -> Task:
        """Create the task, whose network the method then uses to encode."""

    def _dev(self, corpus: Corpus, task: Any) -> Dev | None:
        """The function that computes the dev score to select an epoch; None keeps the last epoch."""
        dev = usable_dev(corpus, lambda dev: self.selection(dev)[1])
        if dev is None:
            return None
        if dev.CLASSES and len(dev) > MOST_ASKING:
            note(
                f"dev has {len(dev):,} sentences; {MOST_ASKING:,} of them are used as queries after each epoch",
                stacklevel=2,
            )
        return partial(self.selection, dev)

    def _probe(self, corpus: Corpus) -> Snapshots:
        """Return the sentences whose vectors are stored after each epoch, with their classes."""
        return probe_of(corpus)

    def _fit(self, corpus: Corpus, seed: int, progress: Progress, keeper: Keeper | None) -> History:
        task = self._task(corpus, seed, progress)
        dev = self._dev(corpus, task)
        with distributed.joined():
            history, self.snapshots = train(
                task,
                self.settings,
                seed=seed,
                progress=progress,
                store=keeper,
                dev=dev,
                probe=self._probe(corpus),
                encode=partial(self._encode, batch_size=BATCH, progress=silent),
                after_epoch=partial(self._keep, keeper),
            )
        return history

    def _keep(self, keeper: Keeper | None, history: History, snapshots: Snapshots) -> None:
        """Write the run folder after an epoch, with the best weights so far."""
        self.history, self.snapshots = history, snapshots
        if keeper is not None:
            keeper.epoch()

    def _started(self, seed: int, make: Callable[[], Network]) -> Network:
        """Create a network with weights from this seed, on the settings' device, without changing global state."""
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            network = make()
        return network.to(device_of(self.settings.device))

    def _filled(self, make: Callable[[], Network], arrays: Mapping[str, np.ndarray]) -> Network:
        """Create a network with the saved weights, on a device of this machine."""
        with torch.random.fork_rng():
            network = make()  # of the right shape; its random weights are replaced
        fill(network, arrays)
        return network.to(device_of(self.settings.device, insist=False)).eval()  # may differ from training


class TrainedReader(Trained):
    """A method whose network reads word numbers; its state is the network's arrays and the reader's vocabulary."""

    network: nn.Module
    reader: Reader
    word_table: ClassVar[str] = "words.table.weight"  # the word vectors (words, d) among the network's arrays

    @abstractmethod
    def _network(self, vectors: WordVectors) -> nn.Module:
        """Create the network with these initial word vectors, and new weights from torch's generator."""

    def _read(self, corpus: Corpus, unit: str, seed: int, progress: Progress) -> WordVectors:
        """Choose the reader by corpus and settings, and return the initial word vectors."""
        progress(0, None, "word vectors")
        names = ("vectors", "dimension", "min_count", "max_length", "pieces", "vocab_size")
        given = {name: getattr(self.settings, name) for name in names if hasattr(self.settings, name)}
        self.reader, vectors = reader_and_vectors(corpus, unit=unit, seed=seed, **given)
        return vectors

    def _state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        reader = self.reader
        words = {"unit": reader.unit, "max_length": reader.max_length, "words": list(reader.vocabulary.words)}
        return arrays_of(self.network), words

    def _restore(self, arrays: dict[str, np.ndarray], words: dict[str, Any]) -> None:
        length = words["max_length"] if "max_length" in words else words["longest"]  # the name in version 0.1.0
        self.reader = Reader(Vocabulary(tuple(words["words"])), words["unit"], length)
        width = arrays[self.word_table].shape[1]
        vectors = random_vectors(self.reader.vocabulary, width)
        self.network = self._filled(lambda: self._network(vectors), arrays)


def arrays_of(module: nn.Module) -> dict[str, np.ndarray]:
    """The parameters of a module by name."""
    return {name: tensor.detach().cpu().numpy() for name, tensor in module.state_dict().items()}


def fill(module: nn.Module, arrays: Mapping[str, np.ndarray]) -> None:
    """Load arrays into the parameters with the same names; raises ValueError if a name or a shape differs."""
    try:
        module.load_state_dict({name: torch.tensor(array) for name, array in arrays.items()})
    except RuntimeError as error:
        raise ValueError(
            f"model.safetensors does not fit its settings and vocabulary: {' '.join(str(error).split())}"
        ) from error


def probe_of(corpus: Corpus) -> Snapshots:
    """Choose up to 300 sentences of dev (or of train, if dev is small) with their classes; none from articles."""
    part = corpus.part(probe_split(corpus))
    if isinstance(part, Articles):
        return Snapshots((), ())
    texts, labels = part.same()
    if not part.CLASSES:  # numbers, or a shape without classes
        labels = [str(number) for number in labels]
    named = list(dict(zip(texts, labels, strict=True)).items()) or [(text, "") for text in part.sentences()]
    few = isinstance(part, Labelled) and len(part.classes) <= PROBE // 10
    step = -(-len(named) // PROBE) if few else 1  # each of a few large classes keeps its share
    chosen = named[::step][:PROBE]
    if few and len({label for _, label in chosen}) < len(set(labels)):  # the step skips classes that alternate
        drawn = np.random.default_rng(0).permutation(len(named))[:PROBE]
        chosen = [named[at] for at in sorted(drawn.tolist())]
    return Snapshots(tuple(text for text, _ in chosen), tuple(label for _, label in chosen))


def usable_dev(corpus: Corpus, figure: Callable[[Corpus], float]) -> Corpus | None:
    """Return the dev split if it is large enough and the score can be computed on it; else None, with a note."""
    if "dev" not in corpus.splits:
        return None
    dev = corpus.part("dev")
    try:
        if len(dev) < FEWEST:
            raise ValueError(f"it has only {len(dev)} rows, of {FEWEST} or more that are needed")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            if not math.isfinite(figure(dev)):
                raise ValueError("its score is not a number")
    except (ValueError, Warning) as reason:
        note(f"the best epoch cannot be chosen on dev ({reason}), so all epochs are trained", stacklevel=2)
        return None
    return dev

"""Methods that only the notebooks need, each a variant of a package method; `COURSE` has both kinds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from labkit.baselines.base import base_of
from labkit.corpora.records import Corpus, Labelled
from labkit.evaluation.retrieval import own_retrieved
from labkit.film.method import Film, FilmSettings
from labkit.film.triplets import Clusters, FilmSource
from labkit.method import History, Keeper, setting
from labkit.methods import METHODS, Methods
from labkit.progress import Progress
from labkit.sbert_lp.method import SbertLp
from labkit.sentpwnet.batches import BatchSource
from labkit.sentpwnet.method import Bag, BagSettings
from labkit.settings import EPOCHS, Conditions


class EmbeddedTogether(SbertLp):
    """SBERT-LP that embeds all sentences of the test split together, without labels, as the paper does.

    The package embeds the training sentences, and places others by their neighbours. In both cases, the base learns
    only from the training split.
    """

    name = "sbert-lp, test together"

    def _fit(self, corpus: Corpus, seed: int, progress: Progress, keeper: Keeper | None) -> History:
        self.base = base_of(self.settings.base, corpus, seed=seed, progress=progress)
        self.space = self._together(corpus.part("test").sentences(), seed, progress)
        return History()


@dataclass(frozen=True, kw_only=True)
class PartlyLabelledSettings(FilmSettings):
    """FILM's settings, and the share of clusters that keep their labels."""

    labelled: float = setting(1.0, "share of the clusters whose labels are used", above=0, maximum=1)


class PartlyLabelled(Film):
    """FILM trained on all sentences but only on the labels of some clusters, which the seed chooses."""

    name = "film, partly labelled"
    Settings = PartlyLabelledSettings

    def _triplets(self, source: FilmSource, X: sparse.csr_matrix, seed: int) -> np.ndarray:
        return super()._triplets(fewer_labels(source, self.settings.labelled, seed), X, seed)


def fewer_labels(source: FilmSource, share: float, seed: int) -> FilmSource:
    """The same texts, with labels for a random share (at least two) of the clusters that have several sentences."""
    if source.clusters is None:
        raise ValueError(
            "the corpus has only triplets, expected labels that say which texts mean the same; choose a corpus of "
            "pairs or classes"
        )
    of, apart = source.clusters.of, source.clusters.apart
    sizes = np.bincount(of)
    several = np.flatnonzero(sizes > 1)
    count = max(min(2, len(several)), round(share * len(several)))
    kept = np.random.default_rng(seed).permutation(several)[:count]
    labelled = np.isin(of, kept)
    alone = np.where(labelled, of, of.max() + 1 + np.arange(len(of)))
    still_apart = apart[(labelled | (sizes[of] == 1))[apart].all(axis=1)]  # a single sentence has no label to lose
    clusters = Clusters(np.unique(alone, return_inverse=True)[1].ravel().astype(np.int64), still_apart)
    return replace(source, clusters=clusters)


# --- from nothing and from something -----------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class PartlyTaughtSettings(BagSettings):
    """The bag's settings, and the labels it may use."""

    taught: float = setting(1.0, "share of the training rows whose labels are used", above=0, maximum=1)

    def conditions(self, shape: str | None = None, has_dev: bool | None = None) -> Conditions:
        """Label settings apply only with training."""
        return super().conditions(shape, has_dev) | {"taught": (self.epochs > 0, EPOCHS)}


class PartlyTaught(Bag):
    """A bag, or a pretrained start, that learns from some of the labels.

    The seed chooses the labels. Word vectors are computed from all training texts. For classes, MAP@R on dev selects
    hyperparameters and epochs, because Hit@1 saturates.
    """

    name = "bag, partly taught"
    Settings = PartlyTaughtSettings

    def selection(self, dev: Corpus) -> tuple[str, float]:
        return ("dev_map@r", map_at_r(self, dev)) if isinstance(dev, Labelled) else super().selection(dev)

    def _source(self, corpus: Corpus, seed: int) -> BatchSource:
        return super()._source(taught_rows(corpus.part("train"), self.settings.taught, seed), seed)

    def _seen(self, corpus: Corpus, source: BatchSource) -> Iterable[str]:
        return corpus.sentences()  # including test, so that frozen states are computed once for all shares and seeds


def taught_rows(train: Corpus, share: float, seed: int) -> Corpus:
    """The given share of the training rows, drawn by the seed; with classes, a share of the classes."""
    texts, classes = train.classified()
    random = np.random.default_rng(seed)
    if not texts:
        rows = random.permutation(len(train))[: max(2, round(share * len(train)))]
        return train.take(np.sort(rows).tolist())
    names = list(dict.fromkeys(classes))
    drawn = random.permutation(len(names))[: max(2, round(share * len(names)))]
    wanted = {names[at] for at in drawn}
    return train.take(row for row, name in enumerate(classes) if name in wanted)


def map_at_r(method: Any, part: Labelled) -> float:
    """MAP@R of the sentences within a split."""
    found = own_retrieved(method, method.encode(list(part.texts)), part.labels, most=None)
    return float(found.average.mean())


_OWN = (PartlyLabelled, EmbeddedTogether, PartlyTaught)
COURSE = Methods(METHODS.data | {method.name: f"course.variants:{method.__name__}" for method in _OWN})

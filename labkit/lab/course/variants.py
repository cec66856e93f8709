"""Methods that only the notebooks need, each a variant of one of the package's. `COURSE` lists them beside these.

PartlyLabelled     FILM, for "how much has to be labelled?": all sentences are known, some clusters labelled. A cluster
                   without labels falls into its sentences, and what was told apart from it is forgotten.
EmbeddedTogether   SBERT-LP, for "what does it cost that a sentence comes later?": the lab's method embeds sentences of
                   train and puts others where their neighbours are; the paper embeds all that it compares together,
                   without labels, and so does this one with the sentences of test.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from labkit.baselines.base import base_of
from labkit.corpora.records import Corpus, Pairs
from labkit.evaluation.inputs import unit
from labkit.film.method import Film, FilmSettings
from labkit.film.triplets import Clusters, FilmSource
from labkit.method import History, Keeper, setting
from labkit.methods import METHODS, Entry
from labkit.progress import Progress
from labkit.sbert_lp.method import SbertLp


class EmbeddedTogether(SbertLp):
    """SBERT-LP of which every sentence of test is one of those embedded; the base still learns from train alone."""

    name = "sbert-lp, test together"

    def _fit(self, corpus: Corpus, seed: int, progress: Progress, keeper: Keeper | None) -> History:
        self.base = base_of(self.settings.base, corpus, seed=seed, progress=progress)
        self.space = self._together(corpus.part("test").sentences(), seed, progress)
        return History()


@dataclass(frozen=True, kw_only=True)
class PartlyLabelledSettings(FilmSettings):
    """FILM's settings, and the share of clusters that keep their labels."""

    labelled: float = setting(1.0, "share of the clusters whose labels are used", above=0, most=1)


class PartlyLabelled(Film):
    """FILM on the triplets of some clusters; which ones, the seed says."""

    name = "film, partly labelled"
    Settings = PartlyLabelledSettings

    def _triplets(self, source: FilmSource, X: sparse.csr_matrix, seed: int) -> np.ndarray:
        return super()._triplets(fewer_labels(source, self.settings.labelled, seed), X, seed)


def fewer_labels(source: FilmSource, share: float, seed: int) -> FilmSource:
    """The same texts with the labels of a random share of the clusters that have several sentences (at least two)."""
    if source.clusters is None:
        raise ValueError(
            "the corpus has triplets only, expected sentences that mean the same; choose one of pairs or classes"
        )
    of, apart = source.clusters.of, source.clusters.apart
    sizes = np.bincount(of)
    several = np.flatnonzero(sizes > 1)
    count = max(min(2, len(several)), round(share * len(several)))
    kept = np.random.default_rng(seed).permutation(several)[:count]
    labelled = np.isin(of, kept)
    alone = np.where(labelled, of, of.max() + 1 + np.arange(len(of)))
    still_apart = apart[(labelled | (sizes[of] == 1))[apart].all(axis=1)]  # one alone has no label to lose
    clusters = Clusters(np.unique(alone, return_inverse=True)[1].ravel().astype(np.int64), still_apart, apart[:0])
    return replace(source, clusters=clusters)


def two_scores(film: Film, part: Pairs) -> tuple[np.ndarray, np.ndarray]:
    """The cosine of each pair's TF-IDF rows, and that of its `y = L x`: what a share mixes."""
    a, b = (film.vectorizer.transform(list(texts)) for texts in (part.text_a, part.text_b))
    plain = np.asarray(a.multiply(b).sum(axis=1)).ravel()
    L = film.L.astype(np.float64).T
    return plain, (unit(a @ L) * unit(b @ L)).sum(axis=1)


COURSE = METHODS | {
    method.name: Entry(method.name, f"lab.course.variants:{method.__name__}", summary)
    for method, summary in (
        (PartlyLabelled, "FILM, of whose clusters a share is labelled"),
        (EmbeddedTogether, "SBERT-LP, the sentences of test embedded together"),
    )
}

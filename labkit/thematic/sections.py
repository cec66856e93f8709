"""Cluster the sentences of an article with k-means and Iclust, and match each cluster with a section.

In: an article and the vectors of its sentences. Out: `Sectioned`, `Themes`. Clusters are numbered like their sections,
by the one-to-one assignment with the most sentences in common.

`section_agreement` is the sentence clustering benchmark (table 4) over all unseen articles with a suitable number of
sections, for k-means on unit vectors and Iclust on their cosines.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from labkit.arrays import unit, whole
from labkit.corpora.article_rules import eligible
from labkit.corpora.records import Article, Articles
from labkit.evaluation import Agreement, clustering_agreement, iclust, kmeans
from labkit.evaluation.iclust import mean_similarity
from labkit.method import Method
from labkit.progress import Progress, silent

SECTIONS = (5, 12)  # sections of an article in the benchmark, at least and at most (section 3.3)
ALGORITHMS = ("kmeans", "iclust")
FIGURES = ("mi", "ami", "ri", "ari")

# --- one article -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Sectioned:
    """The clustered sentences of an article, in reading order, and the section number of each, (n,)."""

    title: str
    sections: tuple[str, ...]
    sentences: tuple[str, ...]
    truth: np.ndarray


@dataclass(frozen=True, eq=False)
class Clustering:
    """The result of one algorithm: cluster (n,), numbered like the sections; counts (sections, clusters); agreement.

    `similarity`: <s>, the mean similarity within clusters, which both algorithms maximise at temperature 0.
    """

    name: str
    found: np.ndarray
    counts: np.ndarray
    agreement: Agreement
    similarity: float

    @property
    def right(self) -> float:
        """Share of the sentences whose cluster is matched with their section."""
        return float(np.trace(self.counts) / self.counts.sum())

    @property
    def used(self) -> int:
        """The number of non-empty clusters."""
        return int((self.counts.sum(axis=0) > 0).sum())


@dataclass(frozen=True, eq=False)
class Themes:
    """An article with the results of both algorithms."""

    article: Sectioned
    kmeans: Clustering
    iclust: Clustering

    def figures(self) -> Iterator[dict[str, Any]]:
        """One row per algorithm."""
        for each in (self.kmeans, self.iclust):
            figures = {"algorithm": each.name, "clusters": each.used, "right": each.right}
            yield figures | asdict(each.agreement) | {"mean similarity": each.similarity}

    def rows(self) -> Iterator[dict[str, Any]]:
        """One row per sentence."""
        columns = (self.article.sentences, self.article.truth, self.kmeans.found, self.iclust.found)
        for text, section, means, info in zip(*columns, strict=True):
            numbers = {"number": int(section) + 1, "k-means": int(means) + 1, "Iclust": int(info) + 1}
            yield {"sentence": text, "section": self.article.sections[section]} | numbers


def sectioned(article: Article) -> Sectioned:
    """The sentences of 5 to 50 tokens that open a paragraph."""
    told = eligible(article)
    if not told:
        raise ValueError(
            f"article {article.title!r} has fewer than five sections (without the lead) with sentences of 5 to 50 "
            "words; choose another article"
        )
    truth = np.repeat(np.arange(len(told)), [len(of_section) for _, of_section in told])
    sentences = tuple(text for _, of_section in told for _, text in of_section)
    return Sectioned(article.title, tuple(title for title, _ in told), sentences, truth)


def themes(
    article: Sectioned,
    vectors: Any,
    *,
    temperature: float = 0.0,
    seed: int = 0,
    restarts: int = 10,
    warm_restarts: int = 3,
    by_means: Clustering | None = None,
) -> Themes:
    """Cluster the vectors (n, d) of an article's sentences, with as many clusters as sections.

    `warm_restarts`: restarts of Iclust above temperature 0, where each takes a hundred times as long. `by_means`: an
    earlier k-means result, which does not depend on the temperature.
    """
    k, starts = len(article.sections), warm_restarts if temperature else restarts
    _, cosines = _compared(article, vectors)
    clusters = iclust(cosines, k, temperature=temperature, seed=seed, restarts=starts)
    by_cosines = _matched("Iclust", article, clusters, cosines)
    return Themes(article, by_means or means(article, vectors, seed=seed, restarts=restarts), by_cosines)


def means(article: Sectioned, vectors: Any, *, seed: int = 0, restarts: int = 10) -> Clustering:
    """The k-means clusters of the vectors (n, d)."""
    rows, cosines = _compared(article, vectors)
    clusters = kmeans(rows, len(article.sections), seed=seed, restarts=restarts)
    return _matched("k-means", article, clusters, cosines)


def _compared(article: Sectioned, vectors: Any) -> tuple[Any, np.ndarray]:
    """The vectors scaled to length 1, (n, d), and all their cosines, (n, n)."""
    rows = unit(vectors)
    if rows.shape[0] != len(article.sentences):
        raise ValueError(
            f"vectors has {rows.shape[0]} rows, expected {len(article.sentences)}, one for each sentence of the article"
        )
    cosines = rows @ rows.T
    return rows, cosines.toarray() if sparse.issparse(cosines) else np.asarray(cosines)


def _matched(name: str, article: Sectioned, labels: np.ndarray, cosines: np.ndarray) -> Clustering:
    """Renumber the clusters: each gets the number of its matched section."""
    k, truth = len(article.sections), article.truth
    counts = np.zeros((k, k), np.int64)
    np.add.at(counts, (truth, labels), 1)
    clusters = linear_sum_assignment(counts, maximize=True)[1]  # of section 0, 1, ...
    return Clustering(
        name=name,
        found=np.argsort(clusters)[labels],
        counts=counts[:, clusters],
        agreement=clustering_agreement(truth, labels),
        similarity=mean_similarity(cosines, np.eye(k)[labels]),
    )


# --- all articles ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SectionAgreement:
    """The clustered articles."""

    articles: tuple[Themes, ...]

    def values(self, algorithm: str, figure: str) -> np.ndarray:
        """One score for all articles, (n,): algorithm kmeans or iclust, score mi, ami, nmi, ri, ari or purity."""
        return np.array([getattr(getattr(article, algorithm).agreement, figure) for article in self.articles])


def section_agreement(
    method: Method, articles: Articles, *, seed: int = 0, restarts: int = 10, progress: Progress = silent
) -> SectionAgreement:
    """Cluster the sentences of each article with 5 to 12 sections, and compare the clusters with the sections.

    Sections and sentences are those used for triplets: sentences of 5 to 50 tokens that open a paragraph; subsections
    belong to the section above them.
    """
    least, most = SECTIONS
    whole("restarts", restarts, 1, 10_000, "number of restarts, of which the best is used")
    kept = [sectioned(one) for one in articles.articles if least <= len(eligible(one)) <= most]
    if not kept:
        raise ValueError(
            f"articles {articles.name!r} has {len(articles)} articles, but none with {least} to {most} sections that "
            "have sentences to cluster. Use other articles"
        )
    vectors = method.encode([text for one in kept for text in one.sentences], 256)
    clustered: list[Themes] = []
    start = 0
    for one in kept:
        part = vectors[start : start + len(one.truth)]
        clustered.append(themes(one, part, seed=seed, restarts=restarts))
        start += len(one.truth)
        progress(len(clustered), len(kept), "clustering articles")
    return SectionAgreement(tuple(clustered))

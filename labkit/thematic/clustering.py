"""The sentence clustering benchmark: do clusters of an article's sentences find its sections again (table 4)?

In: articles that the method has not learned from, and a fitted method. Out: for every article with so many sections how
far k-means and Iclust agree with them, each with as many clusters as there are sections; mean and spread over articles.
k-means clusters vectors of length 1, Iclust their cosines.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy import sparse

from labkit.articles import eligible
from labkit.corpora.records import Articles
from labkit.evaluation import Agreement, clustering_agreement, iclust, kmeans
from labkit.evaluation.inputs import whole
from labkit.methods.contract import Method, unit
from labkit.progress import Progress, silent

SECTIONS = (5, 12)  # of an article, at least and at most (section 3.3)
ALGORITHMS = ("kmeans", "iclust")
FIGURES = ("mi", "ami", "ri", "ari")


@dataclass(frozen=True)
class ArticleAgreement:
    """How far the clusters of one article's sentences agree with its sections."""

    title: str
    sentences: int
    sections: int
    kmeans: Agreement
    iclust: Agreement


@dataclass(frozen=True)
class SectionAgreement:
    """The articles that were clustered, and how many were left out for having too few or too many sections."""

    articles: tuple[ArticleAgreement, ...]
    left_out: int

    def values(self, algorithm: str, figure: str) -> np.ndarray:
        """One figure of all articles, (n,): algorithm kmeans or iclust, figure mi, ami, nmi, ri, ari or purity."""
        return np.array([getattr(getattr(article, algorithm), figure) for article in self.articles])

    def rows(self) -> Iterator[dict[str, Any]]:
        """A row for each article and algorithm."""
        for article in self.articles:
            for algorithm in ALGORITHMS:
                found: Mapping[str, float] = asdict(getattr(article, algorithm))
                yield {"title": article.title, "sentences": article.sentences, "sections": article.sections} | {
                    "algorithm": algorithm,
                    **found,
                }

    def __str__(self) -> str:
        """A line for each algorithm: mean ± standard deviation over the articles."""
        lines = []
        for algorithm in ALGORITHMS:
            columns = {figure: self.values(algorithm, figure) for figure in FIGURES}
            told = ", ".join(
                f"{name.upper()} {found.mean():.3f} ± {found.std():.3f}" for name, found in columns.items()
            )
            lines.append(f"{algorithm}: {told} ({len(self.articles)} articles)")
        return "\n".join(lines)


def section_agreement(
    method: Method,
    articles: Articles,
    *,
    sections: tuple[int, int] = SECTIONS,
    which: str = "opening",
    seed: int = 0,
    restarts: int = 10,
    progress: Progress = silent,
) -> SectionAgreement:
    """Cluster the sentences of each article with so many sections, at least and at most, and compare.

    Sections and sentences are those that triplets come from: sentences of 5 to 50 tokens that open a paragraph, or with
    `which="all"` every one; what stands in a subsection belongs to the section above it.
    """
    least, most = sections
    whole("sections", least, 2, most, "clusters to tell apart, at least and at most")
    whole("restarts", restarts, 1, 10_000, "how many starts to choose the best of")
    kept: list[tuple[str, list[int], list[str]]] = []  # title, section of each sentence, sentences
    for article in articles.articles:
        themes = eligible(article, which=which)
        if least <= len(themes) <= most:
            told = [(place, text) for place, (_, found) in enumerate(themes) for _, text in found]
            kept.append((article.title, [place for place, _ in told], [text for _, text in told]))
    if not kept:
        raise ValueError(
            f"articles {articles.name!r} has {len(articles)} articles, none with {least} to {most} sections that have "
            "sentences to cluster; widen `sections` or give other articles"
        )
    vectors = unit(method.encode([text for *_, texts in kept for text in texts], 256))
    made, start = [], 0
    for title, truth, _ in kept:
        made.append(_article(title, truth, vectors[start : start + len(truth)], seed, restarts))
        start += len(truth)
        progress(len(made), len(kept), "clustering articles")
    return SectionAgreement(tuple(made), len(articles) - len(kept))


def _article(title: str, truth: Sequence[int], vectors: Any, seed: int, restarts: int) -> ArticleAgreement:
    k = len(set(truth))
    cosines = vectors @ vectors.T
    by_means = kmeans(vectors, k, seed=seed, restarts=restarts)
    by_cosines = iclust(cosines.toarray() if sparse.issparse(cosines) else cosines, k, seed=seed, restarts=restarts)
    return ArticleAgreement(
        title, len(truth), k, clustering_agreement(truth, by_means), clustering_agreement(truth, by_cosines)
    )

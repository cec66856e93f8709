"""What the page "Themes" keeps: an article's vectors and clusters, and how far all clusters agree with sections."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cached.keeping import kept

if TYPE_CHECKING:
    from labkit.method import Method
    from labkit.thematic.sections import Clustering, SectionAgreement, Sectioned, Themes


@kept(show_spinner="Encoding the article …")
def article_vectors(_method: Method, method: str, _article: Sectioned, article: tuple[Any, ...]) -> Any:
    """The vectors of an article's sentences."""
    return _method.encode(list(_article.sentences))


@kept(show_spinner="Clustering the sentences …")
def article_means(_vectors: Any, method: str, _article: Sectioned, article: tuple[Any, ...]) -> Clustering:
    """The clusters that k-means finds, which knows no temperature."""
    from labkit.thematic.sections import means

    return means(_article, _vectors)


@kept(show_spinner="Clustering the sentences …")
def article_themes(
    _vectors: Any, method: str, _article: Sectioned, article: tuple[Any, ...], temperature: float
) -> Themes:
    """The clusters of an article's sentences."""
    from labkit.thematic.sections import themes

    by_means = article_means(_vectors, method, _article, article)
    return themes(_article, _vectors, temperature=temperature, by_means=by_means)


@kept(show_spinner="Clustering all articles …")
def section_agreement(_method: Method, method: str, _articles: Any, articles: tuple[Any, ...]) -> SectionAgreement:
    """How far clusters agree with sections, over all articles of a split."""
    from labkit.thematic.sections import section_agreement

    return section_agreement(_method, _articles, restarts=3)

"""Clusters of an article against its sections, both algorithms against their functions, scores against scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn import metrics

from labkit.arrays import unit
from labkit.corpora import Article, Articles, Section, load
from labkit.corpora.article_rules import eligible
from labkit.evaluation import clustering_agreement, iclust, kmeans
from labkit.methods import METHODS
from labkit.thematic.sections import section_agreement, sectioned, themes


def article(sections: int = 5, each: int = 4, title: str = "Somewhere") -> Article:
    told = [Section("", ("The lead speaks of everything there is here.",))]
    for number in range(sections):
        paragraphs = tuple(f"Sentence {row} of section {number} has some words. And another." for row in range(each))
        told.append(Section(f"Theme {number}", paragraphs))
    return Article(title, tuple(told))


def apart(truth: np.ndarray, noise: float = 0.05) -> np.ndarray:
    """Vectors near one axis per section."""
    return np.eye(8)[truth] + noise * np.random.default_rng(0).standard_normal((len(truth), 8))


def test_sentences_are_the_first_of_each_paragraph_in_reading_order() -> None:
    found = sectioned(article())
    assert found.sections == tuple(f"Theme {number}" for number in range(5))
    assert found.truth.tolist() == sorted(list(range(5)) * 4)
    assert found.sentences[4] == "Sentence 0 of section 1 has some words."
    with pytest.raises(ValueError, match="Somewhere"):
        sectioned(article(4))


def test_clusters_are_renumbered_to_match_their_sections() -> None:
    told = sectioned(article())
    found = themes(told, apart(told.truth))
    for each in (found.kmeans, found.iclust):
        np.testing.assert_array_equal(each.found, told.truth)
        np.testing.assert_array_equal(each.counts, 4 * np.eye(5))
        assert each.right == 1
        assert each.agreement.ami == pytest.approx(1)
        assert each.used == 5


def test_a_sentence_in_the_wrong_cluster_is_counted_there() -> None:
    told = sectioned(article())
    vectors = apart(told.truth)
    vectors[5] = vectors[0]  # a sentence of section 1 with a vector of section 0
    found = themes(told, vectors).kmeans
    assert found.found[5] == 0
    assert found.counts[1].tolist() == [1, 3, 0, 0, 0]
    assert found.right == pytest.approx(19 / 20)


def test_themes_agree_with_the_clustering_functions() -> None:
    told = sectioned(article())
    vectors = np.random.default_rng(1).standard_normal((20, 6))
    found = themes(told, sparse.csr_matrix(vectors), temperature=0.1, seed=4, restarts=2, warm_restarts=2)
    k, rows = len(told.sections), unit(vectors)
    by_means = clustering_agreement(told.truth, kmeans(rows, k, seed=4, restarts=2))
    by_cosines = clustering_agreement(told.truth, iclust(rows @ rows.T, k, temperature=0.1, seed=4, restarts=2))
    assert found.kmeans.agreement == by_means
    assert found.iclust.agreement == by_cosines
    members = [rows[found.iclust.found == c] for c in range(k)]
    total = sum(np.square(group.sum(axis=0)).sum() / len(group) for group in members if len(group))
    assert found.iclust.similarity == pytest.approx(total / len(rows))  # 1/n · sum of S_C / |C|


def test_rows_name_everything() -> None:
    told = sectioned(article())
    row = list(themes(told, apart(told.truth)).rows())[7]
    assert row == {"sentence": told.sentences[7], "section": "Theme 1", "number": 2, "k-means": 2, "Iclust": 2}
    with pytest.raises(ValueError, match="vectors.*3"):
        themes(told, np.eye(3))


# --- the sentence clustering benchmark against scikit-learn ------------------------------------------------------


def test_each_article_is_clustered_separately_from_its_unit_vectors() -> None:
    corpus: Any = load("articles")
    corpus = corpus.part("test").take(range(2))
    encoder = METHODS["mean-vectors"](dimension=20)
    encoder.fit(load("articles"))
    found = section_agreement(encoder, corpus, seed=3, restarts=2)
    for one, mine in zip(corpus.articles, found.articles, strict=True):
        themes = eligible(one)
        truth = [title for title, told in themes for _ in told]
        rows = encoder.encode([text for _, told in themes for _, text in told])
        rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        clusters = {
            "kmeans": kmeans(rows, len(themes), seed=3, restarts=2),
            "iclust": iclust(rows @ rows.T, len(themes), seed=3, restarts=2),
        }
        for algorithm, labels in clusters.items():
            agreement = getattr(mine, algorithm).agreement
            assert agreement.mi == pytest.approx(metrics.mutual_info_score(truth, labels), abs=1e-9)
            assert agreement.ami == pytest.approx(metrics.adjusted_mutual_info_score(truth, labels), abs=1e-9)
            assert agreement.ri == pytest.approx(metrics.rand_score(truth, labels), abs=1e-9)
            assert agreement.ari == pytest.approx(metrics.adjusted_rand_score(truth, labels), abs=1e-9)


def test_only_articles_with_5_to_12_sections_count() -> None:
    corpus = Articles([article(count, title=f"with {count}") for count in (4, 5, 12, 13)])
    method = METHODS["tfidf"]()
    method.fit(corpus)
    found = section_agreement(method, corpus, restarts=1)
    assert [one.article.title for one in found.articles] == ["with 5", "with 12"]
    with pytest.raises(ValueError, match="5 to 12"):
        section_agreement(method, corpus.take([0]))
    with pytest.raises(ValueError, match="restarts"):
        section_agreement(method, corpus, restarts=0)

"""One article: clusters set against sections by hand, and both algorithms against their own functions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from labkit.corpora import Article, Section, load
from labkit.evaluation import clustering_agreement, iclust, kmeans
from labkit.evaluation.inputs import unit
from labkit.thematic.sections import means, section_agreement, sectioned, themes


def article(sections: int = 5, each: int = 4) -> Article:
    told = [Section("", ("The lead speaks of everything there is here.",))]
    for number in range(sections):
        paragraphs = tuple(f"Sentence {row} of section {number} has some words. And another." for row in range(each))
        told.append(Section(f"Theme {number}", paragraphs))
    return Article("Somewhere", tuple(told))


def apart(truth: np.ndarray, noise: float = 0.05) -> np.ndarray:
    """Vectors that stand on an axis of their own for each section."""
    return np.eye(8)[truth] + noise * np.random.default_rng(0).standard_normal((len(truth), 8))


def test_sentences_are_the_openings_in_reading_order() -> None:
    found = sectioned(article())
    assert found.sections == tuple(f"Theme {number}" for number in range(5))
    assert found.truth.tolist() == sorted(list(range(5)) * 4)
    assert found.sentences[4] == "Sentence 0 of section 1 has some words."
    assert found.of(1) == found.sentences[4:8]
    with pytest.raises(ValueError, match="'Somewhere' has fewer than five sections"):
        sectioned(article(4))


def test_clusters_have_the_number_of_their_section_whatever_they_were_called() -> None:
    told = sectioned(article())
    found = themes(told, apart(told.truth))
    for each in (found.kmeans, found.iclust):
        np.testing.assert_array_equal(each.found, told.truth)
        np.testing.assert_array_equal(each.counts, 4 * np.eye(5))
        assert each.right == 1
        assert each.agreement.ami == pytest.approx(1)
        assert each.used == 5


def test_a_sentence_in_the_wrong_place_is_counted_there() -> None:
    told = sectioned(article())
    vectors = apart(told.truth)
    vectors[5] = vectors[0]  # of section 1, as one of section 0
    found = themes(told, vectors).kmeans
    assert found.found[5] == 0
    assert found.counts[1].tolist() == [1, 3, 0, 0, 0]
    assert found.right == pytest.approx(19 / 20)


def test_what_k_means_found_before_is_taken_as_it_is() -> None:
    told = sectioned(load("articles").articles[3])
    vectors = np.random.default_rng(1).standard_normal((len(told.sentences), 6))
    before, found = means(told, vectors), themes(told, vectors)
    np.testing.assert_array_equal(before.found, found.kmeans.found)
    assert (before.agreement, before.similarity, before.name) == (
        found.kmeans.agreement,
        found.kmeans.similarity,
        "k-means",
    )
    warm = themes(told, vectors, temperature=0.1, warm_restarts=1, by_means=before)
    assert warm.kmeans is before


def test_as_the_functions_themselves() -> None:
    told = sectioned(load("articles").articles[3])
    vectors = np.random.default_rng(1).standard_normal((len(told.sentences), 6))
    found = themes(told, sparse.csr_matrix(vectors), temperature=0.1, seed=4, restarts=2, warm_restarts=2)
    k, rows = len(told.sections), unit(vectors)
    by_means = clustering_agreement(told.truth, kmeans(rows, k, seed=4, restarts=2))
    by_cosines = clustering_agreement(told.truth, iclust(rows @ rows.T, k, temperature=0.1, seed=4, restarts=2))
    assert found.kmeans.agreement == by_means
    assert found.iclust.agreement == by_cosines
    members = [rows[found.iclust.found == c] for c in range(k)]
    total = sum(np.square(group.sum(axis=0)).sum() / len(group) for group in members if len(group))
    assert found.iclust.similarity == pytest.approx(total / len(rows))  # 1/n · sum of S_C / |C|


def test_heat_melts_clusters_together() -> None:
    told = sectioned(article())
    found = themes(told, apart(told.truth), temperature=5.0, warm_restarts=1)
    assert found.iclust.used == 1
    assert found.iclust.counts.sum(axis=0).max() == 20
    assert [row["clusters"] for row in found.figures()] == [5, 1]


def test_the_figures_are_those_of_the_benchmark() -> None:
    from labkit.methods import METHODS

    articles = load("articles").part("test").take(range(3))
    method = METHODS["tfidf"]()
    method.fit(load("articles"))
    told = section_agreement(method, articles, restarts=3)
    for one, agreement in zip(articles.articles, told.articles, strict=True):
        each = sectioned(one)
        found = themes(each, method.encode(list(each.sentences)), restarts=3)
        assert (found.kmeans.agreement.ami, found.iclust.agreement.ami) == pytest.approx(
            (agreement.kmeans.ami, agreement.iclust.ami)
        )


def test_rows_name_everything() -> None:
    told = sectioned(article())
    row = list(themes(told, apart(told.truth)).rows())[7]
    assert row == {"sentence": told.sentences[7], "section": "Theme 1", "number": 2, "k-means": 2, "Iclust": 2}
    with pytest.raises(ValueError, match="vectors has 3 rows, expected 20"):
        themes(told, np.eye(3))

"""Fewer labelled clusters: the same sentences, fewer triplets, the same words."""

from __future__ import annotations

import numpy as np
import pytest

from labkit.corpora import Pairs, load
from labkit.film.method import Film, FilmSettings
from labkit.film.triplets import Clusters, FilmSource, Recipe
from labkit.lab.course.ablation import again
from labkit.lab.course.plans import PLANS
from labkit.lab.course.variants import PartlyLabelled, PartlyLabelledSettings, fewer_labels, two_scores


def source(count: int = 10) -> FilmSource:
    """Clusters of three sentences; each first sentence is told apart from that of the next cluster."""
    of = np.repeat(np.arange(count), 3)
    apart = np.array([(3 * c, 3 * c + 3) for c in range(count - 1)])
    texts = [f"word{c} again{s}" for c in range(count) for s in range(3)]
    return FilmSource(texts, Clusters(of, apart, np.zeros((0, 2), np.int64)), np.zeros((0, 3), np.int64))


def test_the_share_says_how_many_clusters_keep_their_labels() -> None:
    full = source()
    found = fewer_labels(full, 0.3, seed=1)
    assert found.texts == full.texts
    assert found.clusters is not None
    sizes = np.bincount(found.clusters.of)
    assert (sizes == 3).sum() == 3
    assert (sizes == 1).sum() == 21  # the rest, alone
    kept = np.flatnonzero(sizes[found.clusters.of] == 3)
    assert set(found.triplets(Recipe(), seed=0)[:, 0]) == set(kept)
    assert np.isin(found.clusters.apart, kept).all()
    assert (np.diff(full.clusters.of[kept].reshape(-1, 3)) == 0).all()  # type: ignore[union-attr]


def test_a_cluster_of_two_has_labels_to_lose_and_one_of_one_has_none() -> None:
    of = np.array([0, 0, 1, 1, 2, 2, 3])
    alone = np.zeros((0, 2), np.int64)
    found = fewer_labels(FilmSource(list("abcdefg"), Clusters(of, alone, alone), np.zeros((0, 3), np.int64)), 0.67, 0)
    assert found.clusters is not None
    assert sorted(np.bincount(found.clusters.of)) == [1, 1, 1, 2, 2]  # two of three keep theirs


def test_all_labelled_is_film_and_seeds_choose_others() -> None:
    full = source()
    same = fewer_labels(full, 1.0, seed=0).clusters
    assert (same.of == full.clusters.of).all()  # type: ignore[union-attr]
    assert (same.apart == full.clusters.apart).all()  # type: ignore[union-attr]
    first, second = (fewer_labels(full, 0.3, seed=seed).clusters.of for seed in (0, 1))  # type: ignore[union-attr]
    assert (first != second).any()
    with pytest.raises(ValueError, match="expected sentences that mean the same"):
        fewer_labels(FilmSource([], None, np.zeros((1, 3), np.int64)), 0.5, 0)


def test_partly_labelled_film_knows_every_word() -> None:
    texts = source().texts
    pairs = [(texts[3 * c + s], texts[3 * c + s + 1], 1) for c in range(10) for s in (0, 1)]
    pairs += [(texts[3 * c], texts[3 * c + 3], 0) for c in range(9)]
    a, b, labels = zip(*pairs, strict=True)
    corpus = Pairs(a, b, labels, name="tiny", splits="train")
    wanted = {"dimension": 4, "share": "0"}
    part, whole = PartlyLabelled(PartlyLabelledSettings(labelled=0.3, **wanted)), Film(FilmSettings(**wanted))
    part.fit(corpus)
    whole.fit(corpus)
    assert part.words.names == whole.words.names
    assert part.L.shape[1] == whole.L.shape[1]
    assert not np.allclose(part.L.T @ part.L, whole.L.T @ whole.L)
    plain, learned = two_scores(part, corpus)
    mixed = Film(FilmSettings(dimension=4, share="0.3"))
    mixed.fit(corpus)
    assert learned[0] == pytest.approx(part.explain(a[0], b[0]).similarity, abs=1e-6)
    plain, learned = two_scores(mixed, corpus)
    assert 0.3 * plain[1] + 0.7 * learned[1] == pytest.approx(mixed.explain(a[1], b[1]).similarity, abs=1e-6)


def test_a_sentence_alone_stays_told_apart_from_what_is_labelled() -> None:
    of = np.array([0, 0, 1, 2, 2])
    apart = np.array([(0, 2), (3, 2)])
    found = fewer_labels(FilmSource(list("abcde"), Clusters(of, apart, apart[:0]), np.zeros((0, 3), np.int64)), 1.0, 0)
    assert found.clusters.apart.tolist() == apart.tolist()  # type: ignore[union-attr]


# --- the test sentences embedded together: known to the space, YᵀY/m = I over them, the base learned from train ---


def test_every_sentence_of_test_is_one_of_those_embedded() -> None:
    corpus = load("topics")
    plan = PLANS["lp-topics-sif"]
    together = plan.cell("sif, LP together", 0).case().unfitted()
    together.fit(corpus, seed=0)
    assert set(together.space.sentences) == set(corpus.part("test").sentences())
    Y = together.space.embedding.astype(float)
    assert np.allclose(Y.T @ Y / len(Y), np.eye(Y.shape[1]), atol=1e-4)
    assert np.allclose(Y.mean(axis=0), 0, atol=1e-4)
    base = plan.cell("sif, raw", 0).case().unfitted()
    base.fit(corpus, seed=0)
    texts = corpus.part("test").sentences()[:5]
    assert np.allclose(together.base.encode(texts), base.encode(texts))


def test_a_cell_is_the_same_again() -> None:
    plan = PLANS["lp-topics-sif"]
    assert again(plan, "sif, LP together", 0) == again(plan, "sif, LP together", 0)

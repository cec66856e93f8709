"""Training with fewer labels of clusters, pairs and classes: the sentences and words stay, other labels are unused."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from labkit.corpora import Corpus, Labelled, Pairs, load
from labkit.course.plans import PLANS
from labkit.course.variants import (
    COURSE,
    PartlyLabelled,
    PartlyLabelledSettings,
    PartlyTaught,
    PartlyTaughtSettings,
    fewer_labels,
    taught_rows,
)
from labkit.experiment import Experiment
from labkit.film.method import Film, FilmSettings
from labkit.film.triplets import Clusters, FilmSource, Recipe
from labkit.trials.tune import tune

NONE = np.zeros((0, 2), np.int64)


# --- clusters ----------------------------------------------------------------------------------------------------


def source(count: int = 10) -> FilmSource:
    """Clusters of three sentences; each first sentence is marked as different from that of the next cluster."""
    of = np.repeat(np.arange(count), 3)
    apart = np.array([(3 * c, 3 * c + 3) for c in range(count - 1)])
    texts = [f"word{c} again{s}" for c in range(count) for s in range(3)]
    return FilmSource(texts, Clusters(of, apart))


def test_a_share_of_the_clusters_keeps_its_labels() -> None:
    full = source()
    found = fewer_labels(full, 0.28, seed=1)  # rounded, three of ten
    assert found.texts == full.texts
    sizes = np.bincount(found.clusters.of)
    assert (sizes == 3).sum() == 3
    assert (sizes == 1).sum() == 21  # the rest, each alone
    labelled = np.flatnonzero(sizes[found.clusters.of] == 3)
    assert set(found.triplets(Recipe(), seed=0)[:, 0]) == set(labelled)
    assert np.isin(found.clusters.apart, labelled).all()
    assert (np.diff(full.clusters.of[labelled].reshape(-1, 3)) == 0).all()
    assert (fewer_labels(full, 0.28, seed=0).clusters.of != found.clusters.of).any()


def test_a_cluster_of_one_has_no_label_to_lose() -> None:
    of = np.array([0, 0, 1, 1, 2, 2, 3])
    found = fewer_labels(FilmSource(list("abcdefg"), Clusters(of, NONE)), 0.67, 0)
    assert sorted(np.bincount(found.clusters.of)) == [1, 1, 1, 2, 2]  # two of three keep their label
    of, apart = np.array([0, 0, 1, 2, 2]), np.array([(0, 2), (3, 2)])
    found = fewer_labels(FilmSource(list("abcde"), Clusters(of, apart)), 1.0, 0)
    assert found.clusters.apart.tolist() == apart.tolist()


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


# --- all test sentences embedded together ------------------------------------------------------------------------


def test_every_sentence_of_test_is_embedded_and_the_base_learns_from_train() -> None:
    corpus, plan = load("topics"), PLANS["lp-topics-sif"]
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


# --- a share of the labels ---------------------------------------------------------------------------------------


def rows_of(corpus: Corpus, share: float, seed: int) -> list[dict[str, Any]]:
    return [*taught_rows(corpus.part("train"), share, seed).rows()]


@pytest.mark.parametrize("name", ["questions", "places", "relatedness"])
def test_a_share_of_the_labels_is_drawn_by_the_seed_from_train_only(name: str) -> None:
    corpus = load(name)
    train = [*corpus.part("train").rows()]
    quarter = rows_of(corpus, 0.25, 0)
    assert len(quarter) == pytest.approx(len(train) / 4, rel=0.05)
    assert all(row in train for row in quarter[:50])
    assert rows_of(corpus, 0.25, 0) == quarter != rows_of(corpus, 0.25, 1)
    assert rows_of(corpus, 1.0, 3) == train
    half = rows_of(corpus, 0.5, 0)  # a larger share contains the smaller one
    assert len(half) > len(quarter)
    assert all(row in half for row in quarter)
    if isinstance(corpus, Labelled):  # whole classes are drawn
        whole, drawn = (Counter(row["label"] for row in rows) for rows in (train, quarter))
        assert all(drawn[place] == whole[place] for place in drawn)
        assert len(drawn) == round(len(whole) / 4)


def taught(corpus: Corpus, seed: int = 0, **settings: Any) -> PartlyTaught:
    method = PartlyTaught(PartlyTaughtSettings(**{"dimension": 8, "patience": 0, **settings}))
    method.fit(corpus, seed=seed)
    return method


def fewer(name: str, every: int = 5) -> Corpus:
    """The corpus with one in `every` rows of train."""
    whole = load(name)
    return whole.take([row for row in range(len(whole)) if whole.splits[row] != "train" or row % every == 0])


def test_undrawn_labels_change_nothing_but_their_texts_are_read() -> None:
    corpus = fewer("questions")
    drawn = {(row["text_a"], row["text_b"]) for row in rows_of(corpus, 0.25, 1)}
    turned = replace(
        corpus,
        values=[
            1 - value if split == "train" and (a, b) not in drawn else value
            for a, b, value, split in zip(corpus.text_a, corpus.text_b, corpus.values, corpus.splits, strict=True)
        ],
    )
    assert turned.values != corpus.values
    some, other = (taught(each, seed=1, taught=0.25, epochs=1) for each in (corpus, turned))
    texts = corpus.part("train").sentences()[:50]
    assert np.array_equal(some.encode(texts), other.encode(texts))
    plain = taught(corpus, seed=1, epochs=0)
    assert plain.reader.vocabulary.words == some.reader.vocabulary.words
    assert not np.allclose(plain.encode(texts), some.encode(texts))


def test_trials_are_judged_by_the_selection_metric_of_the_method() -> None:
    settings = {"epochs": 1, "dimension": 4, "patience": 0, "dropout": 0.0}
    corpus = fewer("topics")
    found = tune(Experiment("bag, partly taught", corpus, settings, methods=COURSE), trials=1)
    assert found.measure == "dev_map@r"
    assert found.best.figure == taught(corpus, **settings).selection(corpus.part("dev"))[1]

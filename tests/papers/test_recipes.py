"""Recipes on known vectors: their scores against worked examples and other libraries."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import pearsonr, spearmanr

from labkit.arrays import unit
from labkit.baselines.counts import Tfidf
from labkit.corpora import Article, Articles, Groups, Labelled, Pairs, Section, load
from labkit.corpora.relations import linked
from labkit.evaluation import logistic_right
from labkit.film.method import Film
from labkit.locks import locked
from labkit.method import History
from labkit.methods import METHODS
from labkit.papers import recipes
from labkit.papers.recipes import Case, cross_encoders, locally_linear, scoring, speed
from labkit.papers.recipes.cross_encoders import CrossSettings, PairReader
from labkit.papers.recipes.locally_linear import features
from labkit.sbert_lp.sweeps import TRANSFORMS, Point
from tests.papers.fakes import Known
from tests.tiny_sbert import tiny_sbert

WORDS = [f"{a} {b}" for a in ("red", "blue", "green", "grey", "pink", "black") for b in ("cat", "dog", "cow", "hen")]


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> Known:
    rng = np.random.default_rng(0)
    method = Known({text: rng.normal(size=40) for text in WORDS})
    monkeypatch.setattr(Case, "fitted", lambda self, corpus=None, **changes: method)
    return method


def pairs(splits: str, scores: Any = None, **extra: Any) -> Pairs:
    """Sixteen pairs for each split, with at most three splits."""
    rng = np.random.default_rng(1)
    names = splits.split()
    count = 16 * len(names)
    a, b = rng.integers(0, 12, count), rng.integers(12, 24, count)
    given = rng.permutation(np.linspace(0, 5, count)) if scores is None else scores
    return Pairs(
        [WORDS[i] for i in a], [WORDS[i] for i in b], list(given), True,
        splits=[name for name in names for _ in range(16)], extra=extra,
    )  # fmt: skip


def cosines(known: Known, part: Pairs, turn: np.ndarray | float = 1.0) -> list[float]:
    """The cosines of the pairs, after multiplying the vectors by `turn`."""
    u, v = (np.dot(known.encode(list(side)), turn) for side in (part.text_a, part.text_b))
    return [a @ b / np.linalg.norm(a) / np.linalg.norm(b) for a, b in zip(u, v, strict=True)]


def test_cosine_scores_next_to_learned_grades(known: Known) -> None:
    corpus = pairs("train train train test")
    found = scoring.learned_grades(Case("", corpus)).figures
    test = corpus.part("test")
    assert found["cosine pearson"] == pytest.approx(pearsonr(cosines(known, test), test.scores).statistic)
    assert found["cosine spearman"] == pytest.approx(spearmanr(cosines(known, test), test.scores).statistic)
    assert found["mse"] > 0


def test_transformed_grades_of_raw_vectors(known: Known) -> None:
    corpus = pairs("dev dev test test")
    found = locally_linear.transformed_grades(Case("", corpus)).figures
    plain = scoring.learned_grades(Case("", pairs("train dev test test"))).figures
    assert found["raw spearman"] == pytest.approx(plain["cosine spearman"], abs=1e-6)
    tried = (kind for kind in TRANSFORMS)
    assert set(found) == {f"{kind} spearman" for kind in tried} | {"lp k spearman", "lp p spearman"}
    chosen = Point("lp", 0.0, int(found["lp p spearman"]), int(found["lp k spearman"]))
    again, _ = locally_linear._spearmans(Case("", corpus), corpus.part("test"), [chosen], "spearman")
    assert found["lp spearman"] == again["lp spearman"]


def test_reversals_that_are_fixed_and_broken(known: Known, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = pairs("dev test")
    monkeypatch.setattr(locally_linear, "_swept", lambda case, part: (Point("raw", 1.0), Point("lp", 1.0, 4, 5)))
    turned = np.random.default_rng(2).normal(size=(40, 40))
    monkeypatch.setattr(
        locally_linear, "transformed", lambda rows, point: rows @ turned if point.transform == "lp" else rows
    )
    test = corpus.part("test")
    plain, moved = (cosines(known, test, turn) for turn in (1.0, turned))
    couples = [(i, j) for i in range(16) for j in range(16) if test.scores[i] < test.scores[j]]
    right = np.array([[side[i] < side[j] for side in (plain, moved)] for i, j in couples])
    found = locally_linear.reversed_order(Case("", corpus)).figures
    assert found["fixed"] == pytest.approx((~right[:, 0] & right[:, 1]).mean())
    assert found["broken"] == pytest.approx((right[:, 0] & ~right[:, 1]).mean())
    assert found["fixed"] != found["broken"]


@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
def test_features_of_pairs_by_hand(form: Callable[[Any], Any]) -> None:
    rows = {"a": [1.0, 2.0], "b": [3.0, -1.0], "c": [0.0, 1.0]}
    found = features(Pairs(["a", "b"], ["b", "c"], [1, 0]), lambda texts: form([rows[text] for text in texts]))
    assert sparse.csr_array(found).toarray().tolist() == [[2.0, 3.0, 3.0, -2.0], [3.0, 2.0, 0.0, -1.0]]


def test_triplets_told_apart(known: Known) -> None:
    same = np.eye(6)
    named = {text.split()[0]: same[i // 4] for i, text in enumerate(WORDS)}
    texts = {color: [f"{color} {beast} stands here again" for beast in ("cat", "dog", "cow")] for color in named}
    article = Article("Colours", tuple(Section(color, tuple(found)) for color, found in texts.items()))
    apart = {text: named[color] for color, found in texts.items() for text in found}
    for vectors, wanted in ((apart, 1.0), (dict.fromkeys(apart, same[0]), 0.0)):  # one direction per section
        known.vectors = vectors
        found = scoring.told_apart(Case("", Articles([article], splits=["test"])))
        assert found.figures["triplet_accuracy"] == found.parts["triplet_accuracy"].figure == wanted


def test_the_best_dev_score_and_the_last_epochs_kept_negatives_are_reported(known: Known) -> None:
    known.vectors = {text: np.array([1.0, number]) for number, text in enumerate(WORDS)}
    known.history = History(tuple({"dev_auc": auc, "kept_negatives": auc} for auc in (0.6, 0.8, 0.7)))
    corpus = Pairs(WORDS[:4], WORDS[4:8], [0, 1, 1, 0], splits=["dev", "dev", "test", "test"])
    found = scoring.scored(Case("", corpus)).figures
    assert (found["dev_auc"], found["kept_negatives"]) == (0.8, 0.7)


def test_steps_after_the_last_repeat_its_values(known: Known) -> None:
    rows = tuple({"objective": 10.0 - step, "stationarity": 1.0 / (step + 1)} for step in range(4))
    known.history = History(rows)
    corpus = pairs("test")
    found = scoring.descent(Case("", corpus, settings={"iterations": 6})).figures
    assert [found[f"{step} objective"] for step in (1, 3, 6)] == [9.0, 7.0, 7.0]
    assert found["2 gradient"] == pytest.approx(1 / 3)


def test_the_number_of_words_that_carry_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    method = Film()
    method.L = np.array([[2.0, 1.0, 1.0, 0.0], [1.0, 1.0, 1.0, 1.0]], np.float32)

    @dataclass
    class Words:
        rms: np.ndarray

    method.words = Words(np.ones(4))  # type: ignore[assignment]
    monkeypatch.setattr(Film, "measure_stability", lambda self, corpus, rounds, seed: np.array([0.5, 0.25]))
    monkeypatch.setattr(Case, "fitted", lambda self: method)
    found = scoring.readable_rows(Case("", pairs("test"))).figures
    assert found["half"] == 1.0  # 4 of 6
    assert found["all half"] == 1.5  # and 2 of 4
    assert found["ten"] == 1.0
    assert (found["stability"], found["all stability"]) == (0.5, 0.375)


def test_rule_of_mutual_neighbours(known: Known) -> None:
    corpus = Pairs(WORDS[:8] * 2, WORDS[8:16] * 2, [1, 0] * 8, splits=["dev"] * 8 + ["test"] * 8)
    found = scoring.neighbour_curves(Case("", corpus)).figures
    rows = known.encode(WORDS[:16])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    ranks = np.argsort(np.argsort(2 * np.eye(16) - rows @ rows.T, axis=1), axis=1) + 1  # a sentence ranks itself last
    mutual = np.array([max(ranks[a, a + 8], ranks[a + 8, a]) for a in range(8)])
    for k in (1, 5, 8, 11):
        said, same = mutual <= k, np.arange(8) % 2 == 0
        counts = {"tpr": said[same], "fnr": ~said[same], "fpr": said[~same], "tnr": ~said[~same]}
        for name, each in counts.items():
            assert found[f"{k} {name}"] == pytest.approx(each.mean()), (k, name)
    assert 0 < found["8 tpr"] != found["8 fpr"] > 0  # otherwise the rates could agree by chance
    assert found["55 tpr"] == found["55 fpr"] == 1.0  # all 16 sentences are among the 55 nearest
    assert found["55 two-level"] == pytest.approx(np.log(2))  # only the prior of one half is known then


@pytest.mark.filterwarnings("ignore:after epoch 1")
def test_the_objective_is_the_weighted_sum_of_its_parts() -> None:
    groups = Groups([f"{text} runs" for text in WORDS], [text.split()[0] for text in WORDS],
                    splits=["train"] * 14 + ["dev"] * 10)  # fmt: skip
    settings = {"epochs": 1, "hidden": 4, "decoder_hidden": 4, "dimension": 4, "min_count": 1, "emphasis": 0.25}
    found = scoring.emphasis(Case("pthought", groups, settings)).figures
    assert found["objective"] == pytest.approx(0.75 * found["copy"] + 1.25 * found["paraphrase"])
    assert found["copy"] != found["paraphrase"]


def test_the_time_for_a_million_is_extrapolated_from_the_slope(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]

    def ask(query: str, count: int) -> None:
        clock[0] += 0.002 + 0.001 * count

    monkeypatch.setattr(time, "process_time", lambda: clock[0])
    found = speed._times(ask, [f"q{i}" for i in range(10)], (100, 1000))
    assert found["100"] == pytest.approx(102.0)

    busy = iter([9_000, 500, 7, 0] * speed.ROUNDS)  # time that is not the query's own
    found = speed._times(lambda query, count: ask(query, count + next(busy)), ["q"], (100, 1000))
    assert found["100"] == pytest.approx(102.0)
    assert found["1000000"] == pytest.approx(1_000_002.0)


def test_the_cross_encoder_compares_both_sentences() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 24, 400), rng.integers(0, 24, 400)
    a[::2] = b[::2]  # half of the pairs repeat one sentence
    texts = [text + " again" * (i % 3) for i, text in enumerate(WORDS)]  # of different lengths
    corpus = Pairs(
        [texts[i] for i in a], [texts[i] for i in b], [int(x == y) for x, y in zip(a, b, strict=True)], splits="train"
    )
    reader = PairReader(CrossSettings(epochs=8, size=16, dimension=16, batch=16, learning_rate=0.01, patience=0))
    reader.fit(corpus, seed=0)
    scores = reader.scores(corpus.text_a, corpus.text_b)
    assert scores[::2].mean() > scores[1::2].mean() + 0.5
    back = reader.scores(corpus.text_a[::-1], corpus.text_b[::-1])[::-1]
    assert np.allclose(scores, back, atol=1e-5)  # independent of the rest of the batch


def test_minilm_reads_both_sentences_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two sentences are a pair if they name the same animal; neither sentence alone tells."""
    monkeypatch.setattr(cross_encoders, "PACKAGED", tiny_sbert())
    rng = np.random.default_rng(0)
    a, b = rng.choice(["the cat", "a dog", "bird"], (2, 300)).tolist()
    corpus = Pairs(a, b, [int(x == y) for x, y in zip(a, b, strict=True)],
                   splits=["train"] * 240 + ["dev"] * 20 + ["test"] * 40)  # fmt: skip
    case = Case("", corpus, {"epochs": 15, "learning_rate": 0.01, "batch": 16})
    assert cross_encoders.read_together(case).figures["accuracy"] > 0.9
    reader = cross_encoders.MiniLMReader(CrossSettings(epochs=1))
    reader.fit(corpus)
    row, second = reader._numbers(["a cat"], ["the dog sleeps"])[0], reader._tokenizer(["a cat"], ["the dog sleeps"])
    seen: list[np.ndarray] = []
    monkeypatch.setattr(
        reader.module, "forward", lambda *tensors: seen.extend(x.numpy() for x in tensors) or tensors[0]
    )
    reader._read([row])
    assert seen[1].tolist() == second["token_type_ids"]  # its own tokenizer marks where the second sentence starts


def test_coherence_is_that_of_the_groups(known: Known) -> None:
    known.vectors = {text: np.eye(6)[i // 4] for i, text in enumerate(WORDS)}
    corpus = Groups(WORDS, [text.split()[0] for text in WORDS], splits=["test"] * 24)
    found = scoring.coherence(Case("", corpus)).figures
    assert (found["coherence_within"], found["coherence_between"]) == (pytest.approx(1.0), pytest.approx(0.0))


def test_a_picture_draws_five_classes_with_at_least_three_sentences() -> None:
    texts = [f"{name} {number}" for name in "abcdefg" for number in range(2 if name < "c" else 9)]
    groups = Groups([*texts, "g 0 in train"], [text[0] for text in texts] + ["g"],
                    splits=["test"] * len(texts) + ["train"])  # fmt: skip
    drawn, classes = scoring._drawn(Case("", groups), most=8)
    assert set(classes) == set("cdefg")  # a and b have two
    assert sorted(drawn) == [text for text in texts if text[0] > "b" and not text.endswith("8")]
    assert [text[0] for text in drawn] == classes


# --- the parts of a score --------------------------------------------------------------------------------------


def test_parts_of_grades_add_up_to_the_scores(known: Known) -> None:
    corpus = pairs("train train train test")
    found = scoring.learned_grades(Case("", corpus))
    assert set(found.parts) == set(found.figures)
    units = linked(graded_test := corpus.part("test"))
    assert len(set(units)) < len(graded_test)
    for name, parts in found.parts.items():
        assert parts.figure == pytest.approx(found.figures[name], abs=1e-12), name
        assert len(parts.above) == len(set(units))  # pairs that share a sentence form one unit
    by_year = scoring.grades_by_year(Case("", corpus))
    assert by_year.parts["spearman"].figure == pytest.approx(by_year.figures["spearman"])
    assert len(by_year.parts["spearman"].above) == len(set(units))


def test_each_clustering_algorithm_has_its_own_scores(known: Known, monkeypatch: pytest.MonkeyPatch) -> None:
    class Agreed:
        articles = ("x", "y")

        def values(self, algorithm: str, figure: str) -> np.ndarray:
            return np.array([ord(algorithm[0]), 10.0 * len(figure) + ord(figure[0])])

    monkeypatch.setattr(scoring, "section_agreement", lambda *_, **__: Agreed())
    found = scoring.clustered(Case("", Articles([Article("x", (Section("s", ("a b c d e f",)),))], splits=["test"])))
    for algorithm in ("kmeans", "iclust"):
        for figure in ("mi", "ami", "ri", "ari"):
            parts = found.parts[f"{algorithm} {figure}"]
            assert parts.above.tolist() == [ord(algorithm[0]), 10.0 * len(figure) + ord(figure[0])]
            assert found.figures[f"{algorithm} {figure}"] == parts.figure


def test_two_networks_have_their_own_training_data_and_equal_weight(monkeypatch: pytest.MonkeyPatch) -> None:
    one = {"a": np.array([9.0, 0]), "b": np.array([0, 3.0])}
    two = {"a": np.array([1.0, 0]), "b": np.array([0.1, 0])}
    asked: list[Any] = []

    def fit(self: Case, corpus: Any = None, **changes: Any) -> Known:
        asked.append((corpus, changes))
        return Known(one if len(asked) == 1 else two)

    monkeypatch.setattr(Case, "fitted", fit)
    first, second = Pairs(["a"], ["b"], [1]), Pairs(["b"], ["a"], [1])
    sides = ({"epochs": 1}, {"epochs": 3})
    beside = scoring.method_of(Case("", first, also={"one": first, "two": second}, sides=sides))
    assert asked == [(first, {"epochs": 1}), (second, {"epochs": 3})]
    rows = beside.encode(["a", "b"])
    assert beside.similarity_pairwise(rows[:1], rows[1:])[0] == pytest.approx(0.5)  # the mean of 0 and 1


def test_classified_pairs_by_hand(known: Known) -> None:
    """The vectors of a pair are equal where its label is 1: |u - v| is then 0, and u · v is the square."""
    known.vectors = {text: np.eye(4)[row % 4] for row, text in enumerate(WORDS)}
    a = WORDS[:4] * 6
    b = [WORDS[(row % 4) + (4 if row % 2 else 5)] for row in range(24)]  # odd rows: the same direction
    corpus = Pairs(a, b, [row % 2 for row in range(24)], splits=["train"] * 12 + ["dev"] * 4 + ["test"] * 8)
    found = scoring.classified(Case("", corpus)).figures
    assert (found["accuracy"], found["precision"], found["recall"]) == (1.0, 1.0, 1.0)
    turned = replace(corpus, values=[*corpus.values[:16], *(1 - value for value in corpus.values[16:])])
    assert scoring.classified(Case("", turned)).figures["accuracy"] == 0.0  # test labels do not influence training


def test_pairs_classified_without_a_threshold(known: Known, monkeypatch: pytest.MonkeyPatch) -> None:
    test = Pairs(["a", "b", "c", "d"], ["e", "f", "g", "h"], [1, 1, 1, 0], splits=["test"] * 4)
    found = scoring.all_the_same(Case("", test)).figures
    assert (found["accuracy"], found["precision"], found["recall"]) == (0.75, 0.75, 1.0)
    monkeypatch.setattr(scoring, "_ranks", lambda method, part: np.array([1, scoring.PAPERS_K, 37, 37]))
    found = scoring.mutual_neighbours(Case("", test)).figures
    assert (found["accuracy"], found["recall"]) == (0.75, pytest.approx(2 / 3))


# --- fits shared between tables: in memory, and on disk for trainings and slow fits ------------------------------

THREE = Pairs(["one two", "three four", "one three"], ["one four", "three two", "two four"], [1, 0, 1])


def test_a_fit_runs_once_and_again_if_its_run_is_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seeds: list[int] = []
    fit = Tfidf._fit

    def counted(self: Tfidf, corpus: Pairs, seed: int, *more: object) -> object:
        seeds.append(seed)
        return fit(self, corpus, seed, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(Tfidf, "_fit", counted)
    case = Case("tfidf", THREE, runs=tmp_path)
    first = case.fitted()
    assert case.fitted() is first
    again = replace(case, memory={}).fitted()
    rows = [np.asarray(method.encode(["one two three"]).todense()) for method in (first, again)]  # type: ignore[attr-defined]
    assert np.array_equal(*rows)
    assert seeds == [0]
    case.fitted(max_ngram=2)
    replace(case, seed=1, memory={}).fitted()
    assert seeds == [0, 0, 1]
    folder = tmp_path / recipes.run_name(case)
    (folder / "run.json").write_text("{")
    (folder / "left over").touch()
    replace(case, memory={}).fitted()
    assert seeds == [0, 0, 1, 0]
    assert not (folder / "left over").exists()  # training would refuse a folder with other files


def test_a_fit_locked_by_another_process_is_computed_without_its_folder(tmp_path: Path) -> None:
    """Two `labkit reproduce` commands side by side: neither fails or writes into the other's training folder."""
    case = Case("sentpwnet", load("topics").take(range(60)), {"epochs": 1, "size": 6, "dimension": 6}, runs=tmp_path)
    folder = tmp_path / recipes.run_name(case)
    with locked(folder):
        assert case.fitted().fitted
        assert [path.name for path in folder.iterdir()] == [".lock"]


# --- logistic regression on frozen vectors -----------------------------------------------------------------------


def test_logistic_regression_on_tfidf_of_topics() -> None:
    corpus = load("topics").take(range(0, 2000, 4))
    found = locally_linear.logistic_on_frozen(Case("tfidf", corpus))
    train, dev, test = (corpus.part(split) for split in ("train", "dev", "test"))
    words = METHODS["tfidf"]()
    words.fit(train)
    sides = [unit(words.encode(list(part.texts))) for part in (train, dev, test)]
    right = logistic_right(sides[0], train.labels, sides[1], dev.labels, sides[2], test.labels)
    assert found.figures["accuracy"] == pytest.approx(right.mean())
    assert found.figures["accuracy"] > 0.4
    assert found.parts["accuracy"].figure == found.figures["accuracy"]


def test_logistic_regression_on_a_frozen_model_and_on_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)
    texts = [f"s{row}" for row in range(200)]
    table = dict(zip(texts, random.standard_normal((200, 4)), strict=True))
    monkeypatch.setattr(locally_linear, "_vectors", lambda case, texts: np.array([table[text] for text in texts]))
    splits = (["train"] * 5 + ["dev"] * 2 + ["test"] * 3) * 20
    labels = ["up" if table[text][0] > 0 else "down" for text in texts]
    one = locally_linear.logistic_on_frozen(Case("sbert", Labelled(texts, labels, splits=splits))).figures["accuracy"]
    assert one > 0.9
    others = random.permutation(texts).tolist()
    same = [int(np.dot(*(table[text] for text in pair)) > 0) for pair in zip(texts, others, strict=True)]
    paired = Pairs(texts, others, same, splits=splits)
    assert locally_linear.logistic_on_frozen(Case("sbert", paired)).figures["accuracy"] > 0.85

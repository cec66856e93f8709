"""`score` for every shape, against worked examples with fixed vectors and independent oracles."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import pearsonr, spearmanr
from sklearn.neighbors import KNeighborsClassifier

from labkit.arrays import unit
from labkit.corpora import Article, Articles, Groups, Labelled, Pairs, Section, Triplets, load
from labkit.corpora.article_triplets import triplets_of
from labkit.evaluation import hit_at, inter_intra
from labkit.evaluation.geometry import alignment, class_alignment, space_figures
from labkit.evaluation.retrieval import own_retrieved, precision_at_r, voted
from labkit.evaluation.scores import score, scored_part, selection, threshold_split
from labkit.methods import METHODS
from labkit.progress import collected

SPACE = ("uniformity", "mean_cosine", "effective_rank")  # scores of every shape


class Table:
    """A method with a fixed vector for each sentence; the similarity is the cosine."""

    def __init__(self, vectors: dict[str, Any], kind: Any = np.asarray) -> None:
        self.vectors, self.kind = vectors, kind

    def encode(self, sentences: list[str]) -> Any:
        return self.kind(np.array([self.vectors[text] for text in sentences], dtype=np.float32))

    def similarity(self, a: Any, b: Any) -> np.ndarray:
        found = unit(a) @ unit(b).T
        return found.toarray() if sparse.issparse(found) else found

    def similarity_pairwise(self, a: Any, b: Any) -> np.ndarray:
        return np.asarray((unit(a) * unit(b)).sum(axis=1)).ravel()


class Distances(Table):
    """The same, but the similarity is the negative L1 distance."""

    def similarity(self, a: Any, b: Any) -> np.ndarray:
        return -np.abs(a[:, None] - b[None]).sum(axis=2)

    def similarity_pairwise(self, a: Any, b: Any) -> np.ndarray:
        return -np.abs(a - b).sum(axis=1)


def at(degrees: float) -> list[float]:
    """The unit vector at this angle."""
    return [math.cos(math.radians(degrees)), math.sin(math.radians(degrees))]


def random_table(texts: list[str], seed: int = 0, **settings: Any) -> Table:
    random = np.random.default_rng(seed)
    return Table({text: random.standard_normal(5) for text in texts}, **settings)


SPARSE = {"dense": np.asarray, "sparse": sparse.csr_array}


def pairs_at(train: list[tuple[float, int]], dev: list[tuple[float, int]], test: list[tuple[float, int]]) -> Any:
    """A corpus of pairs from rows (angle, label), each with a sentence at 0 degrees, and its method."""
    rows = [("train", *row) for row in train] + [("dev", *row) for row in dev] + [("test", *row) for row in test]
    b = [f"{split} {angle}" for split, angle, _ in rows]
    corpus = Pairs(["zero"] * len(rows), b, [label for *_, label in rows], splits=[split for split, *_ in rows])
    table = {"zero": at(0)} | {text: at(angle) for text, (_, angle, _) in zip(b, rows, strict=True)}
    return corpus, Table(table)


def test_worked_example_of_pairs() -> None:
    # the threshold of dev is between 20 and 40 degrees; in test 5, 10 and 25 are called the same, 35 is missed
    corpus, method = pairs_at([], [(10, 1), (20, 1), (40, 0), (80, 0)], [(10, 1), (25, 0), (35, 1), (50, 0), (5, 1)])
    found = score(method, corpus)
    assert (found.corpus, found.split, found.measure) == ("corpus", "test", "accuracy")
    assert found.figures["threshold"] == pytest.approx((math.cos(math.radians(20)) + math.cos(math.radians(40))) / 2)
    called = np.cos(np.radians([10, 25, 35, 50, 5])) > found.figures["threshold"]
    assert called.tolist() == [True, True, False, False, True]
    assert found.items.tolist() == [1, 0, 0, 1, 1]
    assert found.headline == found.figures["accuracy"] == 0.6
    assert found.figures["precision"] == pytest.approx(2 / 3)
    assert found.figures["recall"] == pytest.approx(2 / 3)
    assert found.figures["f1"] == pytest.approx(2 / 3)
    # of the 3 × 2 comparisons of a positive and a negative, only (35, 25) is in the wrong order
    assert found.figures["auc"] == pytest.approx(5 / 6)


def test_the_threshold_never_comes_from_the_scored_split() -> None:
    train, dev, test = [(10, 1), (60, 0)], [(10, 1), (20, 0)], [(12, 1), (30, 0)]
    corpus, method = pairs_at(train, dev, test)
    middle = {"train": (10, 60), "dev": (10, 20)}
    cut = {name: sum(math.cos(math.radians(angle)) for angle in angles) / 2 for name, angles in middle.items()}
    assert threshold_split(corpus) == "dev"
    assert score(method, corpus).figures["threshold"] == pytest.approx(cut["dev"])
    assert score(method, corpus, split="dev").figures["threshold"] == pytest.approx(cut["train"])
    without, method = pairs_at(train, [], test)
    assert score(method, without).figures["threshold"] == pytest.approx(cut["train"])
    alone, method = pairs_at([], [], test)
    with pytest.raises(ValueError, match="dev"):
        score(method, alone)


@pytest.mark.parametrize("kind", SPARSE)
def test_graded_against_scipy(kind: str) -> None:
    texts = [f"s{i}" for i in range(60)]
    method = random_table(texts, kind=SPARSE[kind])
    grades = np.random.default_rng(1).uniform(0, 5, 30)
    corpus = Pairs(texts[:30], texts[30:], grades.tolist(), graded=True, splits=["test"] * 30)
    vectors = np.array([method.vectors[text] for text in texts])
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    cosine = (vectors[:30] * vectors[30:]).sum(axis=1)
    found = score(method, corpus)
    assert found.measure == "spearman"
    assert found.items is None
    assert found.figures["pearson"] == pytest.approx(pearsonr(cosine, grades).statistic, abs=1e-5)
    assert found.headline == pytest.approx(spearmanr(cosine, grades).statistic)
    assert selection(method, corpus) == ("dev_spearman", pytest.approx(found.headline))


def labelled(rows: list[tuple[str, float, str]]) -> tuple[Labelled, Table]:
    """A corpus from rows (split, angle, class), and its method."""
    texts = [f"{split} {angle}" for split, angle, _ in rows]
    corpus = Labelled(texts, [label for *_, label in rows], splits=[split for split, *_ in rows])
    return corpus, Table({text: at(angle) for text, (_, angle, _) in zip(texts, rows, strict=True)})


def test_worked_example_of_recurring_classes() -> None:
    # 5 has the votes x, x, y; 28 has x (10), y (50), x (0); 65 gets y; 90, of class x, gets y, which is wrong
    test = [("test", 5, "x"), ("test", 28, "x"), ("test", 65, "y"), ("test", 90, "x")]
    corpus, method = labelled(TRAIN + test)
    found = score(method, corpus)
    assert found.measure == "knn_accuracy"
    assert found.items.tolist() == [1, 1, 1, 0]
    assert found.headline == 0.75
    # 5 finds 28 and 28 finds 5; 65 is alone in its class; 90 finds 65 first, then 28
    assert found.figures["hit@1"] == pytest.approx(2 / 3)
    assert found.figures["hit@3"] == 1.0
    assert found.figures["alone"] == 1.0
    one_each, method = labelled([*TRAIN, ("test", 5, "x"), ("test", 65, "y")])
    assert set(score(method, one_each).figures) == {"knn_accuracy", *SPACE}  # no class has two sentences


TRAIN = [("train", 0, "x"), ("train", 10, "x"), ("train", 50, "y"), ("train", 60, "y"), ("train", 70, "y")]


@pytest.mark.parametrize("kind", SPARSE)
def test_votes_equal_scikit_learn(kind: str) -> None:
    texts = [f"s{i}" for i in range(200)]
    labels = np.random.default_rng(5).integers(0, 4, 200).astype(str)
    method = random_table(texts, kind=SPARSE[kind])
    corpus = Labelled(texts, labels.tolist(), splits=["train"] * 150 + ["test"] * 50)
    vectors = np.array([method.vectors[text] for text in texts])
    oracle = KNeighborsClassifier(3, metric="cosine", weights=lambda d: 1 + 1e-6 / (1 + d)).fit(
        vectors[:150], labels[:150]
    )  # the tiny extra weight lets the nearest voter win among three classes
    expected = oracle.predict(vectors[150:]) == labels[150:]
    found = score(method, corpus)
    np.testing.assert_array_equal(found.items, expected)
    assert found.headline == expected.mean()


def test_worked_example_of_groups() -> None:
    table = {"a": at(0), "b": at(10), "c": at(90), "d": at(120), "e": at(8)}
    corpus = Groups(list(table), ["1", "1", "2", "2", "3"], splits=["test"] * 5)
    found = score(Table(table), corpus)
    assert found.items.tolist() == [0, 0, 1, 1]  # e is between a and b; it is alone in its group and no query
    assert found.headline == 0.5
    assert found.figures["hit@3"] == 1.0
    angles, groups = [0, 10, 90, 120, 8], corpus.groups
    cosines = {(i, j): math.cos(math.radians(angles[i] - angles[j])) for i, j in combinations(range(5), 2)}
    between = np.mean([cosine for (i, j), cosine in cosines.items() if groups[i] != groups[j]])
    within = (cosines[0, 1] + cosines[2, 3]) / 2
    assert found.figures["coherence_within"] == pytest.approx(within, abs=1e-6)
    assert found.figures["coherence_between"] == pytest.approx(between, abs=1e-6)
    assert found.figures["coherence_lift"] == pytest.approx(within - between, abs=1e-6)
    assert found.figures["coherence_retrieval"] == found.headline


def test_worked_example_of_triplets() -> None:
    table = {"a": at(0), "near": at(10), "far": at(50), "tie": at(-10)}
    rows = [("a", "near", "far"), ("a", "far", "near"), ("a", "near", "tie"), ("far", "near", "a")]
    corpus = Triplets(*zip(*rows, strict=True), splits=["test"] * 4)
    found = score(Table(table), corpus)
    assert found.measure == "triplet_accuracy"
    assert found.items.tolist() == [1, 0, 0, 1]  # a tie is an error
    assert found.headline == 0.5
    assert selection(Table(table), corpus) == ("dev_triplets", 0.5)


def test_articles_with_few_sections_are_triplets_of_their_openings() -> None:
    def section(title: str, *openings: str) -> Section:
        return Section(title, [f"{opening} goes on for five words. More." for opening in openings])

    article = Article("T", (section("A", "a1", "a2"), section("B", "b1")))
    angles = {"a1": 0, "a2": 10, "b1": 5}
    table = {f"{name} goes on for five words.": at(angle) for name, angle in angles.items()}
    corpus = Articles([article], splits=["test"])
    found = score(Table(table), corpus).figures
    assert found["opening_triplet_accuracy"] == 0.0  # two sections are too few
    assert set(found) == {"opening_triplet_accuracy", "alignment", *SPACE}
    assert score(Table(table | {"b1 goes on for five words.": at(80)}), corpus).headline == 1.0
    assert selection(Table(table), corpus) == ("dev_triplets", 0.0)
    whole = load("articles")
    part = whole.take(row for row, split in enumerate(whole.splits) if split == "test").take(range(3))
    assert scored_part(part).fingerprint == triplets_of(part).fingerprint  # the triplets that training uses


# the nearest to a is b by cosine and c by L1 distance
OWN = {"a": [1.0, 0.0], "b": [9.0, 0.1], "c": [1.0, 0.8], "d": [9.0, 6.0]}


@pytest.mark.parametrize(("kind", "expected"), [(Table, 1.0), (Distances, 0.0)])
def test_neighbours_use_the_similarity_of_the_method(kind: type[Table], expected: float) -> None:
    groups = Groups(list(OWN), ["1", "1", "2", "2"], splits=["test"] * 4)
    assert score(kind(OWN), groups).figures["hit@1"] == expected
    assert selection(kind(OWN), groups)[1] == expected
    vote = Labelled(["b", "c", "a"], ["x", "y", "x"], splits=["train", "train", "test"])
    more = Labelled([*vote.texts, "d"], [*vote.labels, "z"], splits=[*vote.splits, "train"])
    assert score(kind(OWN), more).headline == expected  # three classes among three voters: the nearest wins
    triplet = Triplets(["a"], ["b"], ["c"], splits=["test"])
    assert score(kind(OWN), triplet).headline == expected


@pytest.mark.parametrize("kind", SPARSE)
def test_a_zero_vector_counts_as_wrong(kind: str) -> None:
    table = {"a": at(0), "b": at(10), "c": at(90), "d": at(95), "nothing": [0.0, 0.0], "a2": at(1)}
    method, texts, groups = Table(table, SPARSE[kind]), list(table)[:5], ["1", "1", "2", "2", "2"]
    found = score(method, Groups(texts, groups, splits=["test"] * 5))
    assert found.items.tolist() == [1, 1, 1, 1, 0]
    # a zero vector has no cosine, so coherence is that of the others
    rest = score(method, Groups(texts[:4], groups[:4], splits=["test"] * 4))
    assert found.figures["coherence_within"] == rest.figures["coherence_within"]
    vote = Labelled([*texts, "a2"], ["x", "x", "y", "y", "x", "x"], splits=["train"] * 4 + ["test"] * 2)
    assert score(method, vote).items.tolist() == [0, 1]
    graded = Pairs(["a", "a", "a"], ["b", "c", "nothing"], [5, 2, 0], graded=True, splits=["test"] * 3)
    assert math.isfinite(score(method, graded).headline)
    triplets = Triplets(["a", "nothing"], ["b", "a"], ["nothing", "c"], splits=["test"] * 2)
    assert score(method, triplets).items.tolist() == [1, 0]


@pytest.mark.parametrize("name", ["questions", "places", "relatedness", "topics"])
def test_parts_add_up_to_the_scores(name: str) -> None:
    corpus = load(name)
    method = METHODS["mean-vectors"](dimension=10)
    method.fit(corpus)
    found = score(method, corpus, apart=True)
    assert found.measure in found.parts
    for figure, parts in found.parts.items():
        assert parts.figure == pytest.approx(found.figures[figure], abs=1e-12)


def test_a_place_connected_pairs_and_an_article_are_each_one_unit() -> None:
    texts = ["a", "b", "c", "d", "e", "f"]
    table = random_table(texts)
    places = Labelled(texts, ["p", "p", "p", "q", "q", "alone"], splits=["test"] * 6)
    hits = score(table, places, apart=True).parts["hit@3"]
    assert hits.below.tolist() == [3, 2]
    grades = Pairs(["a", "b", "d", "f"], ["b", "c", "e", "f"], [1.0, 2.0, 3.0, 4.0], True, splits=["test"] * 4)
    assert score(table, grades, apart=True).parts["spearman"].below.tolist() == [2, 1, 1]
    asked_of = Triplets(["a", "b", "c"], ["b", "c", "d"], ["e", "f", "a"], splits=["test"] * 3,
                        extra={"article": ["y", "x", "y"]})  # fmt: skip
    assert score(table, asked_of, apart=True).parts["triplet_accuracy"].below.tolist() == [1, 2]


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> int:
    """Lower the limit for samples to 30 rows."""
    import labkit.evaluation.scores
    from labkit.evaluation import classes as geometry
    from labkit.evaluation import retrieval

    for module in (labkit.evaluation.scores, geometry, retrieval):
        monkeypatch.setattr(module, "MOST_ASKING", 30)
    for function in (score, retrieval.own_retrieved):
        monkeypatch.setitem(function.__kwdefaults__, "most", 30)
    return 30


def test_above_the_limit_a_sample_is_used_as_queries(request: pytest.FixtureRequest) -> None:
    texts = [f"s{i}" for i in range(240)]
    labels = np.random.default_rng(5).integers(0, 90, 240).astype(str).tolist()
    method, corpus = random_table(texts), Groups(texts, labels, splits=["test"] * 240)
    whole = score(method, corpus)
    assert whole.sample == ""
    request.getfixturevalue("few")
    found = score(method, corpus, apart=True)
    assert found.figures["asked"] == found.figures["asked_centres"] == 30.0
    assert "30 sentences" in found.sample
    # each query has the same result as without sampling
    having = [row for row in range(240) if labels.count(labels[row]) > 1]
    drawn = sorted(np.random.default_rng(0).choice(having, 30, replace=False).tolist())
    assert found.items.tolist() == [int(whole.items[having.index(row)]) for row in drawn]
    assert selection(method, corpus)[1] == found.headline
    assert score(method, corpus, most=None).figures == pytest.approx(dict(whole.figures), rel=1e-12)


@pytest.mark.parametrize("many", [False, True])
def test_among_equally_near_training_rows_the_earlier_vote(many: bool, request: pytest.FixtureRequest) -> None:
    if many:
        request.getfixturevalue("few")
    rows = np.tile([[1.0, 0.0]], (50, 1))  # all equal: the first three vote, and the first of three classes wins
    labels = ["c", "b", "a", *["a", "b"] * 23, "b"]
    assert voted(Table({}), rows, labels, rows[:2]).tolist() == ["c", "c"]
    assert voted(Table({}), rows[:2], labels[:2], rows[:1]).tolist() == ["c"]


@pytest.mark.parametrize(("shape", "kind"), [(Labelled, "dense"), (Groups, "sparse")])
def test_scores_of_classes_equal_those_of_the_vectors(shape: Any, kind: str) -> None:
    texts = [f"s{i}" for i in range(80)]
    labels = [str(row % 20) for row in range(80)]
    method = random_table(texts, kind=SPARSE[kind])
    found, rows = score(method, shape(texts, labels, splits=["test"] * 80), apart=True), method.encode(texts)
    spread = inter_intra(rows, labels)
    wanted = {f"hit@{k}": rate for k, rate in hit_at(rows, labels).items()} | precision_at_r(rows, labels)
    wanted |= {"alignment": class_alignment(rows, labels), "inter": spread.inter, "intra": spread.intra}
    assert {name: found.figures[name] for name in (*wanted, *SPACE)} == pytest.approx(wanted | space_figures(rows))
    assert found.parts["map@r"].figure == pytest.approx(found.figures["map@r"])
    # a zero vector finds nothing
    blind = Table({**method.vectors, "s3": np.zeros(5)}, SPARSE[kind])
    alike = own_retrieved(blind, blind.encode(texts), ["a"] * 80)  # with one class, no other comes first
    assert np.flatnonzero(alike.right != 1).tolist() == [3]


def test_alignment_is_that_of_the_positive_pairs() -> None:
    method = random_table(list("abcdef"))
    aligned = {pair: alignment(method.encode([pair[0]]), method.encode([pair[1]])) for pair in ("ab", "cd", "ae", "bf")}
    test, dev = ["test"] * 4, ["dev"] * 2
    first, second = list("acabab"), list("bdefcc")
    paired = Pairs(first, second, [1, 0, 1, 0, 1, 0], splits=test + dev)
    assert score(method, paired).figures["alignment"] == pytest.approx((aligned["ab"] + aligned["ae"]) / 2)
    graded = Pairs(first[:4], second[:4], [4.0, 5.0, 3.9, 0.0], graded=True, splits=test)  # positive from grade 4 of 5
    assert score(method, graded).figures["alignment"] == pytest.approx((aligned["ab"] + aligned["cd"]) / 2)
    told = Triplets(["a", "b"], ["b", "f"], ["c", "a"], splits=["test"] * 2)
    assert score(method, told).figures["alignment"] == pytest.approx((aligned["ab"] + aligned["bf"]) / 2)
    # a pair with a zero vector has no distance
    blank = Table({**method.vectors, "b": [0.0] * 5})
    assert score(blank, paired).figures["alignment"] == pytest.approx(aligned["ae"])


def test_scores_at_r_are_omitted_for_a_very_large_class(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"s{i}" for i in range(14)]
    method, corpus = random_table(texts), Labelled(texts, ["a"] * 8 + ["b"] * 6, splits=["test"] * 14)
    for deepest, there in ((5, False), (7, True)):  # the largest class has eight sentences: seven others
        for module in ("retrieval", "scores"):
            monkeypatch.setattr(f"labkit.evaluation.{module}.DEEPEST", deepest)
        with collected() as notes:
            figures = score(method, corpus).figures
        assert ("map@r" in figures, "r_precision" in figures, not notes) == (there,) * 3

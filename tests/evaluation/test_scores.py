"""Scores: every shape by hand, on sentences whose vectors are written down here, and by an independent oracle."""

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
from labkit.corpora import Article, Articles, Corpus, Groups, Labelled, Pairs, Section, Triplets, load
from labkit.corpora.article_triplets import triplets_of
from labkit.corpora.relations import linked
from labkit.evaluation.geometry import alignment, class_alignment, space_figures
from labkit.evaluation.retrieval import own_retrieved, precision_at_r, voted
from labkit.evaluation.scores import called_parts, score, scored_part, selection, threshold_split
from labkit.methods import METHODS
from labkit.progress import collected

SPACE = ("uniformity", "mean_cosine", "effective_rank")  # what sentences of all shapes have


class Table:
    """A method that knows the vector of each sentence by heart; its similarity is the cosine."""

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
    """The same with minus the L1 distance for a similarity."""

    def similarity(self, a: Any, b: Any) -> np.ndarray:
        return -np.abs(a[:, None] - b[None]).sum(axis=2)

    def similarity_pairwise(self, a: Any, b: Any) -> np.ndarray:
        return -np.abs(a - b).sum(axis=1)


def at(degrees: float) -> list[float]:
    """A direction: the cosine of two of them is that of the angle between."""
    return [math.cos(math.radians(degrees)), math.sin(math.radians(degrees))]


def random_table(texts: list[str], seed: int = 0, **settings: Any) -> Table:
    random = np.random.default_rng(seed)
    return Table({text: random.standard_normal(5) for text in texts}, **settings)


SPARSE = {"dense": np.asarray, "sparse": sparse.csr_array}


# --- pairs -----------------------------------------------------------------------------------------------------


def pairs_at(train: list[tuple[float, int]], dev: list[tuple[float, int]], test: list[tuple[float, int]]) -> Any:
    """Pairs of 0 degrees and an angle each, with its label."""
    rows = [("train", *row) for row in train] + [("dev", *row) for row in dev] + [("test", *row) for row in test]
    b = [f"{split} {angle}" for split, angle, _ in rows]
    corpus = Pairs(["zero"] * len(rows), b, [label for *_, label in rows], splits=[split for split, *_ in rows])
    table = {"zero": at(0)} | {text: at(angle) for text, (_, angle, _) in zip(b, rows, strict=True)}
    return corpus, Table(table)


def test_pairs_by_hand() -> None:
    # dev is cut between 20 and 40 degrees; of the test pairs 10 and 30- are called the same, 35 not (a miss), 50 not
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
    # of the 3 x 2 pairs of a positive and a negative only (35, 25) is the wrong way round
    assert found.figures["auc"] == pytest.approx(5 / 6)


def test_the_threshold_is_never_chosen_on_the_split_it_is_used_on() -> None:
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


def test_spread_of_pairs_is_that_of_their_components() -> None:
    # the components {a, b} around 10 degrees and {c, d} around 100; e is alone and left out
    table = {"a": at(0), "b": at(20), "c": at(90), "d": at(110), "e": at(200)}
    corpus = Pairs(["a", "c", "a"], ["b", "d", "e"], [1, 1, 0], splits=["dev", "test", "test"])
    whole = Pairs(["a", "c", "a"], ["b", "d", "e"], [1, 1, 0], splits=["test"] * 3)
    rows = whole.take([0, 1, 2, 0, 2])
    tested = Pairs(rows.text_a, rows.text_b, rows.values, splits=["test"] * 3 + ["dev"] * 2)
    found = score(Table(table), tested).figures
    # half the chord between members; centres at the middle of it, 90 degrees apart
    assert found["intra"] == pytest.approx(math.sin(math.radians(10)), abs=1e-6)
    assert found["inter"] == pytest.approx(math.cos(math.radians(10)) * math.sqrt(2), abs=1e-6)
    assert found["inter_intra"] == pytest.approx(found["inter"] / found["intra"])
    assert "inter" not in score(Table(table), corpus).figures


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


# --- classes ---------------------------------------------------------------------------------------------------


def labelled(rows: list[tuple[str, float, str]]) -> tuple[Labelled, Table]:
    """(split, angle, class) each."""
    texts = [f"{split} {angle}" for split, angle, _ in rows]
    corpus = Labelled(texts, [label for *_, label in rows], splits=[split for split, *_ in rows])
    return corpus, Table({text: at(angle) for text, (_, angle, _) in zip(texts, rows, strict=True)})


def test_labelled_by_hand_where_the_classes_recur() -> None:
    # 5: x, x, y vote x; 28: its nearest are 10 (x), 50 (y), 0 (x); 65: y; 90, of class x: y, wrong
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
    assert set(score(method, one_each).figures) == {"knn_accuracy", *SPACE}  # nobody to hit, nobody to lie beside


TRAIN = [("train", 0, "x"), ("train", 10, "x"), ("train", 50, "y"), ("train", 60, "y"), ("train", 70, "y")]


@pytest.mark.parametrize("kind", SPARSE)
def test_votes_are_those_of_scikit_learn(kind: str) -> None:
    texts = [f"s{i}" for i in range(200)]
    labels = np.random.default_rng(5).integers(0, 4, 200).astype(str)
    method = random_table(texts, kind=SPARSE[kind])
    corpus = Labelled(texts, labels.tolist(), splits=["train"] * 150 + ["test"] * 50)
    vectors = np.array([method.vectors[text] for text in texts])
    oracle = KNeighborsClassifier(3, metric="cosine", weights=lambda d: 1 + 1e-6 / (1 + d)).fit(
        vectors[:150], labels[:150]
    )  # the hair's breadth lets the nearest voter win among three classes
    expected = oracle.predict(vectors[150:]) == labels[150:]
    found = score(method, corpus)
    np.testing.assert_array_equal(found.items, expected)
    assert found.headline == expected.mean()


def hits_by_loops(similarity: np.ndarray, labels: list[str], k: int) -> float:
    hits = []
    for i, label in enumerate(labels):
        others = [j for j in range(len(labels)) if j != i]
        if not any(labels[j] == label for j in others):
            continue
        # of equally near ones those of another class first
        ranked = sorted(others, key=lambda j: (-similarity[i, j], labels[j] == label))
        hits.append(any(labels[j] == label for j in ranked[:k]))
    return float(np.mean(hits))


@pytest.mark.parametrize(("shape", "kind"), [(Labelled, "dense"), (Groups, "sparse")])
def test_hits_within_the_split_equal_plain_loops(shape: Any, kind: str) -> None:
    texts = [f"s{i}" for i in range(90)]
    labels = np.random.default_rng(5).integers(0, 40, 90).astype(str).tolist()
    method = random_table(texts, kind=SPARSE[kind])
    for i in range(0, 30, 3):  # copies, of the same class and of others
        method.vectors[texts[i]] = method.vectors[texts[i + 1]] * 2
    found = score(method, shape(texts, labels, splits=["test"] * 90))
    rows = unit(np.array([method.vectors[text] for text in texts]))
    assert found.measure == "hit@1"
    for k in (1, 3, 10):
        assert found.figures[f"hit@{k}"] == pytest.approx(hits_by_loops(np.round(rows @ rows.T, 9), labels, k)), k
    assert found.items.mean() == found.headline == selection(method, shape(texts, labels))[1]
    assert selection(method, shape(texts, labels))[0] == "dev_hit@1"
    assert len(found.items) == 90 - found.figures["alone"] == sum(labels.count(label) > 1 for label in labels)


def test_groups_by_hand_and_coherence_by_loops() -> None:
    table = {"a": at(0), "b": at(10), "c": at(90), "d": at(120), "e": at(8)}
    corpus = Groups(list(table), ["1", "1", "2", "2", "3"], splits=["test"] * 5)
    found = score(Table(table), corpus)
    assert found.items.tolist() == [0, 0, 1, 1]  # e lies between a and b; it is alone and does not ask
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


def test_no_class_with_two_sentences_is_refused() -> None:
    corpus, method = labelled([("test", 5, "p"), ("test", 9, "q")])
    for figure in (score, selection):
        with pytest.raises(ValueError, match="class"):
            figure(method, corpus)


def test_triplets_by_hand() -> None:
    table = {"a": at(0), "near": at(10), "far": at(50), "tie": at(-10)}
    rows = [("a", "near", "far"), ("a", "far", "near"), ("a", "near", "tie"), ("far", "near", "a")]
    corpus = Triplets(*zip(*rows, strict=True), splits=["test"] * 4)
    found = score(Table(table), corpus)
    assert found.measure == "triplet_accuracy"
    assert found.items.tolist() == [1, 0, 0, 1]  # a tie is an error
    assert found.headline == 0.5
    assert selection(Table(table), corpus) == ("dev_triplets", 0.5)


# --- triplets and articles -------------------------------------------------------------------------------------


def test_articles_are_triplets_of_their_openings() -> None:
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
    assert scored_part(part).fingerprint == triplets_of(part).fingerprint  # those that are learned from


# --- the method's own similarity -------------------------------------------------------------------------------

# by the cosine b is the nearest of a, by the L1 distance c is
OWN = {"a": [1.0, 0.0], "b": [9.0, 0.1], "c": [1.0, 0.8], "d": [9.0, 6.0]}


@pytest.mark.parametrize(("kind", "expected"), [(Table, 1.0), (Distances, 0.0)])
def test_neighbours_are_the_methods_own(kind: type[Table], expected: float) -> None:
    groups = Groups(list(OWN), ["1", "1", "2", "2"], splits=["test"] * 4)
    assert score(kind(OWN), groups).figures["hit@1"] == expected
    assert selection(kind(OWN), groups)[1] == expected
    vote = Labelled(["b", "c", "a"], ["x", "y", "x"], splits=["train", "train", "test"])
    more = Labelled([*vote.texts, "d"], [*vote.labels, "z"], splits=[*vote.splits, "train"])
    assert score(kind(OWN), more).headline == expected  # three classes among three voters: the nearest wins
    triplet = Triplets(["a"], ["b"], ["c"], splits=["test"])
    assert score(kind(OWN), triplet).headline == expected


@pytest.mark.parametrize("kind", SPARSE)
def test_a_sentence_without_a_vector_is_wrong_and_nothing_breaks(kind: str) -> None:
    table = {"a": at(0), "b": at(10), "c": at(90), "d": at(95), "nothing": [0.0, 0.0]}
    method = Table(table, SPARSE[kind])
    texts, groups = list(table), ["1", "1", "2", "2", "2"]
    found = score(method, Groups(texts, groups, splits=["test"] * 5))
    assert found.items.tolist() == [1, 1, 1, 1, 0]
    alone = score(method, Groups(["a", "b", "nothing"], ["1"] * 3, splits=["test"] * 3))
    assert alone.items.tolist() == [1, 1, 0]  # with nobody before it, it still is no hit
    # the cosine of nothing does not exist: coherence is that of the rest
    rest = score(method, Groups(texts[:4], groups[:4], splits=["test"] * 4))
    assert found.figures["coherence_within"] == rest.figures["coherence_within"]
    vote = Labelled([*texts, "a2"], ["x", "x", "y", "y", "x", "x"], splits=["train"] * 4 + ["test"] * 2)
    method.vectors["a2"] = at(1)
    voted = score(method, vote)
    assert voted.items.tolist() == [0, 1]
    pairs = Pairs(["a", "a", "a", "a"], ["b", "c", "b", "nothing"], [1, 0, 1, 0], splits=["dev", "dev", "test", "test"])
    assert score(method, pairs).headline == 1.0
    graded = Pairs(["a", "a", "a"], ["b", "c", "nothing"], [5, 2, 0], graded=True, splits=["test"] * 3)
    assert math.isfinite(score(method, graded).headline)
    triplets = Triplets(["a", "nothing"], ["b", "a"], ["nothing", "c"], splits=["test"] * 2)
    assert score(method, triplets).items.tolist() == [1, 0]


# --- parts -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["questions", "places", "relatedness", "topics"])
def test_parts_add_up_to_the_figures(name: str) -> None:
    corpus = load(name)
    method = METHODS["mean-vectors"](dimension=10)
    method.fit(corpus)
    found = score(method, corpus, apart=True)
    assert found.measure in found.parts
    for figure, parts in found.parts.items():
        assert parts.figure == pytest.approx(found.figures[figure], abs=1e-12)


def test_what_stands_or_falls_together_is_one_unit() -> None:
    test = Pairs(["a", "b", "d", "e"], ["b", "c", "e", "f"], [1, 0, 1, 0])
    called = np.array([True, True, False, False])
    parts = called_parts(called, test)
    assert parts["accuracy"].above.tolist() == [1, 1]  # a-b-c right once of twice, d-e-f too
    assert parts["accuracy"].below.tolist() == [2, 2]
    assert (parts["f1"].above.tolist(), parts["f1"].below.tolist()) == ([2, 0], [3, 1])
    assert (parts["precision"].figure, parts["recall"].figure) == (0.5, 0.5)
    assert linked(test).tolist() == [0, 0, 1, 1]


def test_records_of_a_place_pairs_of_a_sentence_and_triplets_of_an_article_are_one_unit() -> None:
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


# --- more than can be asked about one by one -------------------------------------------------------------------


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> int:
    """As if 30 rows were many."""
    import labkit.evaluation.scores
    from labkit.evaluation import classes as geometry
    from labkit.evaluation import retrieval

    for module in (labkit.evaluation.scores, geometry, retrieval):
        monkeypatch.setattr(module, "MOST_ASKING", 30)
    for function in (score, retrieval.own_retrieved):
        monkeypatch.setitem(function.__kwdefaults__, "most", 30)
    return 30


def test_of_many_a_sample_asks_among_all(request: pytest.FixtureRequest) -> None:
    texts = [f"s{i}" for i in range(240)]
    labels = np.random.default_rng(5).integers(0, 90, 240).astype(str).tolist()
    method, corpus = random_table(texts), Groups(texts, labels, splits=["test"] * 240)
    whole = score(method, corpus)
    assert (whole.sample, {"asked", "asked_centres"} & whole.figures.keys()) == ("", set())
    request.getfixturevalue("few")
    found = score(method, corpus, apart=True)
    assert found.figures["asked"] == found.figures["asked_centres"] == 30.0
    assert found.figures["alone"] == whole.figures["alone"]
    assert "30 sentences" in found.sample
    # those who are asked answer as they did among all
    having = [row for row in range(240) if labels.count(labels[row]) > 1]
    drawn = sorted(np.random.default_rng(0).choice(having, 30, replace=False).tolist())
    assert found.items.tolist() == [int(whole.items[having.index(row)]) for row in drawn]
    assert found.figures["intra"] == pytest.approx(whole.figures["intra"])
    assert found.parts["hit@3"].figure == pytest.approx(found.figures["hit@3"])
    assert selection(method, corpus)[1] == found.headline
    assert score(method, corpus, most=None).figures == pytest.approx(dict(whole.figures), rel=1e-12)


@pytest.mark.parametrize("many", [False, True])
def test_of_training_rows_equally_near_the_earlier_votes(many: bool, request: pytest.FixtureRequest) -> None:
    if many:
        request.getfixturevalue("few")
    rows = np.tile([[1.0, 0.0]], (50, 1))  # all the same: the first three vote, and of three classes the first wins
    labels = ["c", "b", "a", *["a", "b"] * 23, "b"]
    assert voted(Table({}), rows, labels, rows[:2]).tolist() == ["c", "c"]
    assert voted(Table({}), rows[::-1], labels, rows[:2], k=5).tolist() == ["b", "b"]  # c b a a b
    assert voted(Table({}), rows[:2], labels[:2], rows[:1], k=3).tolist() == ["c"]


# --- MAP@R, and how the vectors lie ------------------------------------------------------------------------------


@pytest.mark.parametrize(("shape", "kind"), [(Labelled, "dense"), (Groups, "sparse")])
def test_rows_with_classes_have_figures_at_r_and_of_their_space(shape: Any, kind: str) -> None:
    texts = [f"s{i}" for i in range(80)]
    labels = np.random.default_rng(5).integers(0, 20, 80).astype(str).tolist()
    method = random_table(texts, kind=SPARSE[kind])
    found, rows = score(method, shape(texts, labels, splits=["test"] * 80), apart=True), method.encode(texts)
    at_r = precision_at_r(rows, labels)
    assert {name: found.figures[name] for name in at_r} == pytest.approx(at_r)
    assert {name: found.parts[name].figure for name in at_r} == pytest.approx(at_r)
    assert found.figures["alignment"] == pytest.approx(class_alignment(rows, labels))
    assert {name: found.figures[name] for name in SPACE} == space_figures(rows)
    # a sentence that nothing is known of finds nothing, and has no place in the space
    blank, known = {**method.vectors, "s3": np.zeros(5)}, [row for row in range(80) if row != 3]
    blind = Table(blank, SPARSE[kind])
    zero = score(blind, shape(texts, labels, splits=["test"] * 80)).figures
    assert zero["map@r"] == own_retrieved(blind, blind.encode(texts), labels).average.mean()
    alike = own_retrieved(blind, blind.encode(texts), ["a"] * 80)  # nobody of another class goes before
    assert (alike.average == alike.right).all()
    assert np.flatnonzero(alike.right != 1).tolist() == [3]
    assert {name: zero[name] for name in SPACE} == pytest.approx(space_figures(rows[known]))
    assert zero["alignment"] == pytest.approx(class_alignment(rows[known], [labels[row] for row in known]))


@pytest.mark.parametrize("kind", SPARSE)
def test_alignment_is_that_of_what_a_person_put_together(kind: str) -> None:
    texts = list("abcdef")
    method, none = random_table(texts, kind=SPARSE[kind]), [0.0] * 5
    aligned = {pair: alignment(method.encode([pair[0]]), method.encode([pair[1]])) for pair in ("ab", "cd", "ae", "bf")}

    def of(corpus: Corpus, table: Table = method) -> dict[str, float]:
        found = score(table, corpus).figures
        assert {name: found[name] for name in SPACE} == pytest.approx(
            space_figures(method.encode(corpus.part("test").sentences()))
        )
        return found

    test, dev = ["test"] * 4, ["dev"] * 2
    first, second = list("acabab"), list("bdefcc")
    paired = of(Pairs(first, second, [1, 0, 1, 0, 1, 0], splits=test + dev))
    assert paired["alignment"] == pytest.approx((aligned["ab"] + aligned["ae"]) / 2)
    graded = of(Pairs(first[:4], second[:4], [4.0, 5.0, 3.9, 0.0], graded=True, splits=test))
    assert graded["alignment"] == pytest.approx((aligned["ab"] + aligned["cd"]) / 2)  # from 4 of 5 on
    told = of(Triplets(["a", "b"], ["b", "f"], ["c", "a"], splits=["test"] * 2))
    assert told["alignment"] == pytest.approx((aligned["ab"] + aligned["bf"]) / 2)
    # a pair with a sentence that nothing is known of has no distance
    blank = Table({**method.vectors, "b": none}, SPARSE[kind])
    holed = score(blank, Pairs(first, second, [1, 0, 1, 0, 1, 0], splits=test + dev)).figures
    assert holed["alignment"] == pytest.approx(aligned["ae"])
    assert "alignment" not in score(blank, Pairs(first, second, [1, 0, 0, 0, 1, 0], splits=test + dev)).figures


def test_figures_at_r_are_left_out_for_a_very_large_class(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"s{i}" for i in range(14)]
    method, corpus = random_table(texts), Labelled(texts, ["a"] * 8 + ["b"] * 6, splits=["test"] * 14)
    for deepest, there in ((5, False), (7, True)):  # seven others: the largest class has eight
        for module in ("retrieval", "scores"):
            monkeypatch.setattr(f"labkit.evaluation.{module}.DEEPEST", deepest)
        with collected() as notes:
            figures = score(method, corpus).figures
        assert ("map@r" in figures, "r_precision" in figures, not notes) == (there,) * 3

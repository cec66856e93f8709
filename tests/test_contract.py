"""The contract of every method: all of it on one shape of corpus, fit and encode on the other shapes."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from scipy import sparse

from labkit.arrays import unit
from labkit.baselines.base import BasedSettings
from labkit.baselines.difficulty import difficulty
from labkit.corpora import Article, Articles, Corpus, Groups, Labelled, Pairs, Section, Sentences, Triplets
from labkit.evaluation.scores import score, selection
from labkit.method import Method
from labkit.methods import METHODS, load_run
from labkit.runs import History, Snapshots, read_run, write_run
from labkit.training import Training
from tests.tiny_sbert import tiny_sbert

# method -> shapes of corpora to test it on; the other methods use no labels and are tested on three
PLAIN = ("pairs", "articles", "sentences")
LABELS = ("pairs", "graded", "labelled", "groups", "triplets", "articles")  # with labels: all but "sentences"
SHAPES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("sentpwnet", "siamese", "triplet", "bag", "static", "film", "film-deep"), LABELS),
    "thematic": ("triplets", "articles"),
    "pthought": ("pairs", "groups"),
    "sbert": ("pairs", "articles"),  # a frozen model is the same on all
}
# settings that make training quick, for the methods that have them
SMALL: dict[str, Any] = {
    "epochs": 1,
    "batch": 8,
    "size": 12,
    "hidden": 8,
    "dimension": 8,
    "rank": 8,
    "device": "cpu",
    "base": "lsa",
}


# --- small corpora ---------------------------------------------------------------------------------------------

WHO = [("the cat", "a cat"), ("the dog", "a dog"), ("the child", "a child"), ("the bird", "a bird")]
DOES = [("sleeps on", "naps on"), ("jumps over", "leaps over"), ("looks at", "watches")]
WHAT = [("the sofa", "the couch"), ("the road", "the street"), ("the lake", "the pond"), ("the wall", "the fence")]
SPLITS = ("train", "train", "train", "dev", "train", "test")


def scenes() -> list[tuple[str, str, str]]:
    """Rows of (split, sentence, paraphrase)."""
    made = []
    for i, (who, does, what) in enumerate([(a, b, c) for a in WHO for b in DOES for c in WHAT]):
        first, second = (f"{who[k]} {does[k]} {what[k]} today" for k in (0, 1))
        made.append((SPLITS[i % len(SPLITS)], first, second))
    return made


def pairs(graded: bool = False) -> Pairs:
    rows = []
    for split in ("train", "dev", "test"):
        mine = [row for row in scenes() if row[0] == split]
        for (_, a, b), (_, other, _) in zip(mine, mine[1:] + mine[:1], strict=True):
            rows += [(a, b, 1.0 + 4 * graded, split), (a, other, 0.0, split)]
    text_a, text_b, values, splits = zip(*rows, strict=True)
    return Pairs(text_a, text_b, values, graded=graded, splits=splits, name="pairs")


def texts_with(name: Callable[[str], str]) -> tuple[list[str], list[str], list[str]]:
    rows = [(text, name(a), split) for split, a, b in scenes() for text in (a, b)]
    texts, names, splits = (list(column) for column in zip(*rows, strict=True))
    return texts, names, splits


def labelled() -> Labelled:
    texts, labels, splits = texts_with(lambda scene: scene.split()[1])  # the subject
    return Labelled(texts, labels, splits=splits, name="labelled")


def groups() -> Groups:
    texts, names, splits = texts_with(lambda scene: scene)
    return Groups(texts, names, splits=splits, name="groups")


def triplets() -> Triplets:
    made = scenes()
    far = {split: [a for s, a, _ in made if s == split] for split in ("train", "dev", "test")}
    rows = [(a, b, next(text for text in reversed(far[split]) if text != a), split) for split, a, b in made]
    anchors, positives, negatives, splits = zip(*rows, strict=True)
    return Triplets(anchors, positives, negatives, splits=splits, name="triplets")


def articles() -> Articles:
    made = []
    for number in range(10):
        # a lead, and five sections with different subjects and three paragraphs each
        sections = tuple(
            Section(
                f"{what[0]} {number}",
                [f"{who[0]} {does[0]} {what[0]} in year {number}. {who[1]} {does[1]} {what[1]}." for who in WHO[:3]],
            )
            for what, does in zip([*WHAT, ("the hill", "the slope")], DOES + DOES, strict=False)
        )
        made.append(Article(f"Article {number}", (Section("", ["Five things are told here."]), *sections)))
    splits = [SPLITS[number % len(SPLITS)] for number in range(10)]
    return Articles(made, splits=splits, name="articles")


CORPORA: dict[str, Callable[[], Corpus]] = {
    "pairs": pairs,
    "graded": lambda: pairs(graded=True),
    "labelled": labelled,
    "groups": groups,
    "triplets": triplets,
    "articles": articles,
    "sentences": lambda: Sentences([text for _, *both in scenes() for text in both], name="sentences"),
}
ASKED = [
    "the cat sleeps on the sofa today", "a bird watches the fence", "a dog", "", "zyx qwv", "the the the lake",
    "?!", "the child jumps over the road today and then the dog looks at the lake and then a cat naps on the pond",
    "THE CAT", "  the   dog  ", "猫 眠", "road lake wall " * 40, "half a \ud83d cat",
]  # fmt: skip


def small(name: str) -> Method:
    has = {found.name for found in fields(METHODS[name].Settings)}
    extra: dict[str, Any] = {"model": tiny_sbert()} if name == "sbert" else {}
    extra |= {"vectors": f"distilled:{tiny_sbert()}"} if name == "static" else {}
    kept = {key: value for key, value in SMALL.items() if key in has}
    if not issubclass(METHODS[name].Settings, BasedSettings):
        kept.pop("base", None)  # for sentpwnet, `base` is a number
    return METHODS[name](**kept, **extra)


def first_shape(name: str) -> str:
    """The shape on which the whole contract is tested."""
    return SHAPES.get(name, PLAIN)[0]


OTHER_SHAPES = [(name, shape) for name in METHODS for shape in SHAPES.get(name, PLAIN)[1:]]


@cache
def fitted(name: str) -> tuple[Method, History, list[tuple[int, int | None, str]]]:
    """A method fitted once for all tests, which must not change it, with its history and its progress calls."""
    method = small(name)
    assert not method.fitted
    seen: list[tuple[int, int | None, str]] = []
    assert method.fit(CORPORA[first_shape(name)](), seed=3, progress=lambda *what: seen.append(what)) is method
    return method, method.history, seen


def any_of(name: str) -> Method:
    return fitted(name)[0]


@cache
def stored(name: str) -> tuple[Method, Path]:
    """The same method, fitted again into a folder."""
    method, folder = small(name), Path(tempfile.mkdtemp(prefix="contract-")) / "run"
    method.fit(CORPORA[first_shape(name)](), seed=3, folder=folder)
    return method, folder


def dense(rows: Any) -> np.ndarray:
    return rows.toarray() if sparse.issparse(rows) else rows


def equal(a: Any, b: Any) -> None:
    """Assert that two arrays are equal, bit for bit."""
    assert a.dtype == b.dtype
    assert a.shape == b.shape
    assert dense(a).tobytes() == dense(b).tobytes()


def state(method: Method) -> tuple[dict[str, bytes], Any]:
    arrays, words = method._state()
    return {name: array.tobytes() for name, array in arrays.items()}, words


# --- fit and encode --------------------------------------------------------------------------------------------


def check_rows(method: Method) -> np.ndarray:
    """Check that rows are finite and independent of each other, even for the empty string and unknown words."""
    rows = method.encode(ASKED)
    assert isinstance(rows, np.ndarray | sparse.csr_array)
    assert rows.dtype == np.float32
    assert rows.shape[0] == len(ASKED)
    assert np.isfinite(dense(rows)).all()
    assert np.abs(dense(rows)[:3]).sum(axis=1).min() > 0
    none = method.encode([])
    assert (none.shape, none.dtype, type(none)) == ((0, rows.shape[1]), np.float32, type(rows))
    np.testing.assert_allclose(dense(method.encode(ASKED[::-1], batch_size=5))[::-1], dense(rows), atol=1e-6)
    return dense(rows)


@pytest.mark.parametrize(("name", "shape"), OTHER_SHAPES)
def test_every_shape_is_learned_and_encoded(name: str, shape: str) -> None:
    method = small(name)
    history = method.fit(CORPORA[shape](), seed=3).history
    assert method.trained_on == shape.replace("graded", "pairs")
    assert all(math.isfinite(value) for row in history.rows for value in row.values())
    check_rows(method)


@pytest.mark.parametrize("name", METHODS)
class TestEveryMethod:
    def test_fit_returns_its_history_and_reports_progress(self, name: str) -> None:
        method, history, seen = fitted(name)
        assert history is method.history
        assert method.fitted
        assert method.trained_on == first_shape(name)
        assert seen
        assert all(isinstance(done, int) and what for done, _, what in seen)
        for row in history.rows:
            assert next(iter(row)) == "epoch"
            assert all(math.isfinite(value) for value in row.values())

    def test_a_row_depends_only_on_its_sentence(self, name: str) -> None:
        method = any_of(name)
        rows = check_rows(method)
        for number, text in enumerate(ASKED):
            np.testing.assert_allclose(dense(method.encode([text]))[0], rows[number], atol=1e-6)
        np.testing.assert_allclose(dense(method.encode(ASKED, batch_size=1)), rows, atol=1e-6)
        copies = dense(method.encode([*ASKED, *ASKED], batch_size=3))
        equal(copies[: len(ASKED)], copies[len(ASKED) :])

    def test_similarities_are_cosines(self, name: str) -> None:
        method = any_of(name)
        a, b = ASKED[:5], ASKED[5:10]
        u, v = (dense(method.encode(texts, normalize_embeddings=True)).astype(float) for texts in (a, b))
        found = method.similarity(a, b)
        np.testing.assert_allclose(found, u @ v.T, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(method.similarity(method.encode(a), b), found, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(method.similarity_pairwise(a, b), np.diag(found), rtol=1e-4, atol=1e-5)
        one = method.encode(a[0])
        equal(dense(one).ravel(), dense(method.encode(a[:1]))[0])
        for first in (a[0], one):
            np.testing.assert_allclose(method.similarity(first, b), found[:1], rtol=1e-4, atol=1e-5)
        equal(method.encode(a, convert_to_tensor=True).numpy(), dense(method.encode(a)))
        own = method.similarity(ASKED[:3], ASKED[:3])
        assert (own.argmax(axis=1) == np.arange(3)).all()  # each sentence is most similar to itself

    def test_the_same_seed_gives_the_same_model(self, name: str) -> None:
        method, (again, _) = any_of(name), stored(name)
        assert state(again) == state(method)
        assert again.history == method.history
        equal(again.snapshots.vectors, method.snapshots.vectors)
        equal(again.encode(ASKED), method.encode(ASKED))

    def test_a_run_folder_restores_the_method_bit_for_bit(self, name: str, tmp_path: Path) -> None:
        method, (_, folder) = any_of(name), stored(name)
        assert (read_run(folder).state, read_run(folder).seed) == ("finished", 3)
        method.save(tmp_path / "run")
        for loaded in (METHODS[name]().load(tmp_path / "run"), load_run(folder)):
            assert type(loaded) is type(method)
            assert loaded.trained_on == method.trained_on
            assert loaded.settings == method.settings
            assert loaded.history == method.history
            assert loaded.snapshots.texts == method.snapshots.texts
            assert loaded.snapshots.labels == method.snapshots.labels
            equal(loaded.snapshots.vectors, method.snapshots.vectors)
            equal(loaded.encode(ASKED), method.encode(ASKED))
            assert state(loaded) == state(method)
        load_run(tmp_path / "run").save(tmp_path / "again")
        for file in (tmp_path / "run").iterdir():
            assert file.read_bytes() == (tmp_path / "again" / file.name).read_bytes(), file.name

    def test_each_way_to_explain_adds_up_to_the_similarity(self, name: str) -> None:
        method = any_of(name)
        pairs = [(ASKED[0], ASKED[7]), (ASKED[1], ASKED[2]), (ASKED[0], ""), (ASKED[0], ASKED[4]), (ASKED[0], ASKED[0])]
        for way in method.ways:
            for a, b in pairs:
                # with ReLU and max-pooling, the error of the integral decreases as 1 / steps
                found = method.explain(a, b, way=way, steps=64 if way == "integrated" else 0)
                assert found.similarity == pytest.approx(float(method.similarity([a], [b])[0, 0]), abs=2e-5)
                total = sum(found.own_a) + sum(found.own_b)
                assert total + found.gap == pytest.approx(found.similarity, abs=1e-9)
                if way != "left-out":
                    assert sum(map(sum, found.parts)) == pytest.approx(total, abs=1e-9)
                    assert abs(found.gap) < (0.02 if way == "integrated" else 1e-6), (a, b)

    def test_a_damaged_model_is_refused(self, name: str, tmp_path: Path) -> None:
        _, folder = stored(name)
        run = read_run(folder)
        damaged = [replace(run, arrays={}), replace(run, words={}), replace(run, settings={"no such": 1})]
        for key, array in run.arrays.items():
            taller = np.concatenate([array, array[:1]]) if array.ndim and len(array) else np.zeros((1, 1), array.dtype)
            damaged.append(replace(run, arrays={**run.arrays, key: taller}))
        for key, value in run.words.items():
            if isinstance(value, list):
                for changed in (value[:-1], value + value[-1:], value[1:] + value[-1:]):
                    damaged.append(replace(run, words={**run.words, key: changed}))
        method = METHODS[name]().load(folder)
        for number, broken in enumerate(damaged):
            write_run(broken, tmp_path / str(number))
            with pytest.raises(ValueError, match=f"{number}'"):
                method.load(tmp_path / str(number))
            assert not method.fitted  # not left half loaded


@pytest.mark.parametrize("name", [name for name in METHODS if issubclass(METHODS[name].Settings, Training)])
def test_without_epochs_the_network_keeps_its_initial_weights(name: str) -> None:
    """An untrained network is a baseline: it encodes, and depends only on the seed."""
    made = [METHODS[name](**{**small(name).settings.values(), "epochs": 0}) for _ in range(2)]
    for method in made:
        assert method.fit(CORPORA[first_shape(name)](), seed=3).history.rows == ()
    equal(made[0].encode(ASKED), made[1].encode(ASKED))
    assert state(made[0]) != state(any_of(name))


# --- unlabelled sentences --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name, shapes in SHAPES.items() if name != "sbert"])
def test_a_method_that_needs_labels_refuses_unlabelled_sentences(name: str) -> None:
    method = small(name)
    with pytest.raises(ValueError, match="label"):
        method.fit(CORPORA["sentences"](), seed=3)
    assert not method.fitted


@pytest.mark.parametrize("settings", [{"loss": "simcse", "dropout": 0.1}, {"epochs": 0}])
def test_networks_that_need_no_labels_accept_unlabelled_sentences(settings: dict[str, Any]) -> None:
    method = METHODS["bag"](**{"epochs": 1, "batch": 8, "dimension": 8, "device": "cpu"} | settings)
    method.fit(CORPORA["sentences"](), seed=3)
    assert np.isfinite(method.encode(ASKED)).all()


def test_unlabelled_sentences_cannot_be_scored() -> None:
    method, corpus = any_of("mean-vectors"), CORPORA["sentences"]()
    for ask in (lambda: score(method, corpus), lambda: selection(method, corpus), lambda: difficulty(corpus)):
        with pytest.raises(ValueError, match="label"):
            ask()


# --- methods of the base class, tested on one subclass ----------------------------------------------------------


def test_normalised_and_truncated_rows() -> None:
    method = any_of("sif")
    rows, plain = method.encode(ASKED, normalize_embeddings=True), method.encode(ASKED)
    lengths = np.linalg.norm(plain, axis=1)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), (lengths > 0).astype(float), atol=1e-5)
    np.testing.assert_allclose(rows * lengths[:, None], plain, atol=1e-5 * lengths.max())
    assert rows.dtype == np.float32
    equal(method.encode(ASKED, truncate_dim=3), plain[:, :3])
    assert method.encode([], truncate_dim=3).shape == (0, 3)
    cut = method.encode(ASKED[:1], truncate_dim=3, normalize_embeddings=True)
    assert np.linalg.norm(cut) == pytest.approx(1)  # truncated first, then normalised
    with pytest.raises(ValueError, match="truncate_dim"):
        method.encode(ASKED, truncate_dim=0)


def test_similarities_of_no_sentences() -> None:
    method = any_of("tfidf")
    assert method.similarity(["a cat"], []).shape == (1, 0)
    assert method.similarity_pairwise([], []).shape == (0,)


@pytest.mark.parametrize(
    ("sentences", "said"),
    [(7, "int"), (["a", None], r"sentences\[1\]"), ([b"a"], r"sentences\[0\]"), (None, "NoneType")],
)
def test_anything_but_a_list_of_texts_is_refused(sentences: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        any_of("sif").encode(sentences)
    with pytest.raises(ValueError, match="expected"):
        any_of("sif").similarity(sentences, ["a"])


def test_embeddings_and_batches_that_do_not_fit_are_refused() -> None:
    method = any_of("sif")
    rows = method.encode(ASKED[:3])
    with pytest.raises(ValueError, match="batch_size"):
        method.encode(["a"], batch_size=0)
    for wrong in (lambda: method.similarity(rows, rows[:, :-1]), lambda: method.similarity(rows[None], rows)):
        with pytest.raises(ValueError, match="columns|matrix"):
            wrong()
    with pytest.raises(ValueError, match="shape"):
        method.similarity_pairwise(rows, rows[:2])
    half = torch.ones(2, 3, dtype=torch.bfloat16)  # a dtype that numpy lacks
    with pytest.raises(ValueError, match="embeddings"):
        method.similarity(half, list(half))


def test_an_unfitted_method_can_do_nothing(tmp_path: Path) -> None:
    method = small("sif")
    for action in (
        lambda: method.encode([]),
        lambda: method.similarity(["a"], ["b"]),
        lambda: method.save(tmp_path / "run"),
        lambda: method.trained_on,
        lambda: method.explain("a cat", "a dog"),
    ):
        with pytest.raises(ValueError, match="'sif'"):
            action()
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(("corpus", "seed"), [("questions", 0), (None, 0), (pairs(), -1), (pairs(), 1.5)])
def test_a_bad_corpus_or_seed_is_refused(corpus: Any, seed: Any) -> None:
    method = small("sif")
    with pytest.raises(ValueError, match="seed" if isinstance(corpus, Pairs) else "corpus"):
        method.fit(corpus, seed=seed)
    assert not method.fitted


def test_a_run_of_another_method_is_refused() -> None:
    other = METHODS["sif"]()
    with pytest.raises(ValueError, match="'tfidf'.*'sif'"):
        other.load(stored("tfidf")[1])
    assert not other.fitted


def test_the_part_of_a_left_out_word_is_the_lost_similarity() -> None:
    method = any_of("sif")
    found = method.explain("the cat sleeps", "a dog sleeps", way="left-out")
    s = method.similarity(["the cat sleeps", "the cat", "cat sleeps"], ["a dog sleeps", "a dog"])
    assert (found.names_a, found.names_b) == (("the", "cat", "sleeps"), ("a", "dog", "sleeps"))
    assert found.own_a[2] == pytest.approx(s[0, 0] - s[1, 0], abs=1e-6)
    assert found.own_a[0] == pytest.approx(s[0, 0] - s[2, 0], abs=1e-6)
    assert found.own_b[2] == pytest.approx(s[0, 0] - s[0, 1], abs=1e-6)
    assert found.parts[2][2] == pytest.approx(s[0, 0] - s[1, 0] - s[0, 1] + s[1, 1], abs=1e-6)


def test_invalid_explanations_are_refused() -> None:
    method = any_of("sif")
    for given, said in (
        ({"way": "guess"}, "way"),
        ({"way": "left-out", "steps": 3}, "steps"),
        ({"b": math.nan}, "float"),
    ):
        with pytest.raises(ValueError, match=said):
            method.explain(**{"a": "a cat", "b": "a dog"} | given)


@pytest.mark.parametrize("number", [math.nan, math.inf])
@pytest.mark.parametrize("name", ["lsa", "pca", "bag"])  # pca is based on lsa, whose arrays are checked, too
def test_a_model_with_nan_or_infinite_numbers_is_refused(name: str, number: float, tmp_path: Path) -> None:
    run = read_run(stored(name)[1])
    for key in [key for key, array in run.arrays.items() if array.dtype.kind == "f"]:
        array = run.arrays[key].copy()
        array.reshape(-1)[-1:] = number
        write_run(replace(run, arrays={**run.arrays, key: array}), tmp_path / key)
        with pytest.raises(ValueError, match=f"'{key.removeprefix('base.')}'"):
            METHODS[name]().load(tmp_path / key)


@pytest.mark.parametrize("name", ["tfidf", "sif", "pca"])  # sparse, dense, and with a base
def test_a_nan_in_a_vector_is_refused_with_its_sentence(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    method = any_of(name)
    learned = getattr(method, "base", method)
    encode = learned._encode

    def damaged(sentences: list[str], batch_size: int, progress: Any) -> Any:
        rows = encode(sentences, batch_size, progress).copy()
        bad = [row for row, text in enumerate(sentences) if text == "a new dog looks at a lake"]
        if sparse.issparse(rows):
            rows = rows.tolil()
            rows[bad, 0] = math.nan
            return rows.tocsr()
        rows[bad, 0] = math.inf
        return rows

    monkeypatch.setattr(learned, "_encode", damaged)
    assert np.isfinite(dense(method.encode(["the cat", ""]))).all()
    with pytest.raises(ValueError, match="'a new dog"):
        method.encode(["the cat", "", "a new dog looks at a lake"])


def test_unit_rows_by_hand_dense_and_sparse() -> None:
    rows = np.array([[3.0, 4.0], [0.0, 0.0], [0.0, -2.0]], dtype=np.float32)
    expected = np.array([[0.6, 0.8], [0.0, 0.0], [0.0, -1.0]], dtype=np.float32)
    np.testing.assert_allclose(unit(rows), expected, rtol=1e-6)
    found = unit(sparse.csr_array(rows))
    np.testing.assert_allclose(found.toarray(), expected, rtol=1e-6)
    assert found.dtype == unit(rows).dtype == np.float32


def test_embeddings_may_have_any_numeric_type() -> None:
    method = any_of("mean-vectors")
    whole = [[3, 4], [1, 0]]
    expected = [[1.0, 0.6], [0.6, 1.0]]
    for rows in (whole, np.array(whole), sparse.csr_matrix(whole), sparse.csr_array(np.array(whole, float))):
        np.testing.assert_allclose(method.similarity(rows, rows), expected, rtol=1e-6)
        np.testing.assert_allclose(method.similarity_pairwise(rows, rows), [1, 1], rtol=1e-6)
    column = pd.Series(["a cat", "the dog"], index=[7, 9])  # as filtered from a table
    np.testing.assert_array_equal(method.similarity(column, column), method.similarity(list(column), list(column)))


def test_fitting_again_forgets_the_previous_fit(tmp_path: Path) -> None:
    run = read_run(stored("tfidf")[1])
    probe = Snapshots(("a",), ("x",)).with_epoch(0, np.ones((1, 2)))
    write_run(replace(run, history=History(({"epoch": 1, "loss": 0.5},)), snapshots=probe), tmp_path / "with")
    method = METHODS["tfidf"]().load(tmp_path / "with")
    assert len(method.history) == len(method.snapshots.epochs) == 1
    method.fit(CORPORA["groups"]())
    assert method.history == History()
    assert len(method.snapshots.epochs) == len(method.snapshots.texts) == 0
    assert method.trained_on == "groups"


def test_the_library_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    method = small("mean-vectors")
    method.fit(CORPORA["pairs"]())
    method.encode(ASKED, show_progress_bar=True)  # a progress bar is shown only in a terminal
    assert capfd.readouterr() == ("", "")

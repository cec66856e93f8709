"""One contract for every method in the table, on every shape of corpus that it is said to learn from."""

from __future__ import annotations

import math
import re
import tempfile
from collections.abc import Callable
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy import sparse

from labkit.baselines.base import BasedSettings
from labkit.baselines.difficulty import difficulty
from labkit.corpora import Article, Articles, Corpus, Groups, Labelled, Pairs, Section, Sentences, Triplets
from labkit.evaluation.inputs import unit
from labkit.evaluation.scores import score, selection
from labkit.method import Method
from labkit.methods import METHODS, load
from labkit.runs import History, Snapshots, read_run, write_run
from labkit.settings import Settings
from labkit.training import Training
from tests.tiny_sbert import tiny_sbert

# method -> shapes of corpora it is tried on; whoever is not named is tried on all of them
LABELS = ("pairs", "graded", "labelled", "groups", "triplets", "articles")  # of some kind: all but "sentences"
SHAPES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("sentpwnet", "siamese", "triplet", "bag", "static", "film", "film-deep"), LABELS),
    "thematic": ("triplets", "articles"),
    "pthought": ("pairs", "groups"),
    "sbert": ("pairs", "articles"),  # a frozen model learns the same from all
}
# settings that keep the trained ones quick, where a method has them
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
    """(split, a sentence, the same in other words)."""
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
    texts, labels, splits = texts_with(lambda scene: scene.split()[1])  # who it is about
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
        # a lead, and five sections about something of their own, three paragraphs each
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
CASES = [(name, shape) for name in METHODS for shape in SHAPES.get(name, CORPORA)]
ASKED = [
    "the cat sleeps on the sofa today", "a bird watches the fence", "a dog", "", "zyx qwv", "the the the lake",
    "?!", "the child jumps over the road today and then the dog looks at the lake and then a cat naps on the pond",
    "THE CAT", "  the   dog  ", "猫 眠", "road lake wall " * 40, "half a \ud83d cat",
]  # fmt: skip


def small(name: str) -> Method:
    has = {found.name for found in fields(METHODS[name].method.Settings)}
    extra: dict[str, Any] = {"model": tiny_sbert()} if name == "sbert" else {}
    extra |= {"vectors": f"distilled:{tiny_sbert()}"} if name == "static" else {}
    kept = {key: value for key, value in SMALL.items() if key in has}
    if not issubclass(METHODS[name].method.Settings, BasedSettings):
        kept.pop("base", None)  # of sentpwnet it is a number
    return METHODS[name](**kept, **extra)


def fitted(name: str, shape: str, seed: int = 3) -> Method:
    method = small(name)
    method.fit(CORPORA[shape](), seed=seed)
    return method


@cache
def told(name: str, shape: str) -> tuple[Method, History, list[tuple[int, int | None, str]]]:
    """Fitted once for all tests, what came back, and the progress that was said; nobody changes it."""
    method = small(name)
    assert not method.fitted
    seen: list[tuple[int, int | None, str]] = []
    return method, method.fit(CORPORA[shape](), seed=3, progress=lambda *what: seen.append(what)), seen


def known(name: str, shape: str) -> Method:
    return told(name, shape)[0]


@cache
def stored(name: str, shape: str) -> tuple[Method, Path]:
    """The same, fitted once more, into a folder."""
    method, folder = small(name), Path(tempfile.mkdtemp(prefix="contract-")) / "run"
    method.fit(CORPORA[shape](), seed=3, folder=folder)
    return method, folder


def dense(rows: Any) -> np.ndarray:
    return rows.toarray() if sparse.issparse(rows) else rows


def any_of(name: str) -> Method:
    return known(name, SHAPES.get(name, tuple(CORPORA))[0])


def equal(a: Any, b: Any) -> None:
    """The same numbers, bit for bit."""
    assert a.dtype == b.dtype
    assert dense(a).tobytes() == dense(b).tobytes()
    assert a.shape == b.shape


def state(method: Method) -> tuple[dict[str, bytes], Any]:
    arrays, words = method._state()
    return {name: array.tobytes() for name, array in arrays.items()}, words


# --- fit -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "shape"), CASES)
class TestFitAndEncode:
    def test_fit_returns_its_history(self, name: str, shape: str) -> None:
        method, history, seen = told(name, shape)
        assert isinstance(history, History)
        assert history is method.history
        assert method.fitted
        assert method.trained_on == shape.replace("graded", "pairs")
        assert seen
        assert all(isinstance(done, int) and what for done, _, what in seen)
        for row in history.rows:
            assert next(iter(row)) == "epoch"
            assert all(math.isfinite(value) for value in row.values())

    def test_rows_are_finite_float32(self, name: str, shape: str) -> None:
        method = known(name, shape)
        rows = method.encode(ASKED)
        assert isinstance(rows, np.ndarray | sparse.csr_array)
        assert rows.dtype == np.float32
        assert rows.ndim == 2
        assert rows.shape[0] == len(ASKED)
        assert np.isfinite(dense(rows)).all()  # the empty string and unknown words too
        assert np.abs(dense(rows)[:3]).sum(axis=1).min() > 0
        none = method.encode([])
        assert none.shape == (0, rows.shape[1])
        assert none.dtype == np.float32
        assert type(none) is type(rows)

    def test_a_row_is_its_sentences_alone(self, name: str, shape: str) -> None:
        method = known(name, shape)
        rows = dense(method.encode(ASKED))
        for number, text in enumerate(ASKED):
            np.testing.assert_allclose(dense(method.encode([text]))[0], rows[number], atol=1e-6)
        order = np.random.default_rng(0).permutation(len(ASKED))
        np.testing.assert_allclose(dense(method.encode([ASKED[i] for i in order])), rows[order], atol=1e-6)
        for size in (1, 2, 5, 1000):
            np.testing.assert_allclose(dense(method.encode(ASKED, batch_size=size)), rows, atol=1e-6)

    def test_copies_are_equal_to_the_last_bit(self, name: str, shape: str) -> None:
        rows = dense(known(name, shape).encode([*ASKED, *ASKED, ASKED[0]], batch_size=3))
        equal(rows[: len(ASKED)], rows[len(ASKED) : -1])
        equal(rows[0], rows[-1])

    def test_rows_at_length_one(self, name: str, shape: str) -> None:
        method = known(name, shape)
        rows, plain = dense(method.encode(ASKED, normalize_embeddings=True)), dense(method.encode(ASKED))
        lengths = np.linalg.norm(plain, axis=1)
        np.testing.assert_allclose(np.linalg.norm(rows, axis=1), (lengths > 0).astype(float), atol=1e-5)
        np.testing.assert_allclose(rows * lengths[:, None], plain, atol=1e-5 * lengths.max())
        assert rows.dtype == np.float32
        equal(dense(method.encode(ASKED, truncate_dim=3)), plain[:, :3])
        assert method.encode([], truncate_dim=3).shape == (0, 3)
        with pytest.raises(ValueError, match="^truncate_dim is 0, expected"):
            method.encode(ASKED, truncate_dim=0)

    def test_similarities(self, name: str, shape: str) -> None:
        method = known(name, shape)
        a, b = ASKED[:5], ASKED[5:10]
        found = method.similarity(a, b)
        assert isinstance(found, np.ndarray)
        assert found.shape == (5, 5)
        assert np.isfinite(found).all()
        close = {"rtol": 1e-4, "atol": 1e-5}
        np.testing.assert_allclose(method.similarity(b, a), found.T, **close)
        np.testing.assert_allclose(method.similarity(method.encode(a), method.encode(b)), found, **close)
        np.testing.assert_allclose(method.similarity(a, method.encode(b)), found, **close)
        pairwise = method.pairwise_similarity(a, b)
        assert pairwise.shape == (5,)
        np.testing.assert_allclose(pairwise, np.diag(found), **close)
        np.testing.assert_allclose(method.pairwise_similarity(method.encode(a), method.encode(b)), pairwise, **close)
        own = method.similarity(ASKED[:3], ASKED[:3])
        assert (own.argmax(axis=1) == np.arange(3)).all()  # nothing is nearer to a sentence than itself
        assert method.similarity(a, []).shape == (5, 0)
        assert method.pairwise_similarity([], []).shape == (0,)

    def test_a_seed_gives_one_state(self, name: str, shape: str) -> None:
        method, (again, _) = known(name, shape), stored(name, shape)
        assert state(again) == state(method)
        assert again.history == method.history
        equal(again.snapshots.vectors, method.snapshots.vectors)
        equal(again.encode(ASKED), method.encode(ASKED))

    def test_round_trip_bit_for_bit(self, name: str, shape: str, tmp_path: Path) -> None:
        method = known(name, shape)
        method.save(tmp_path / "run")
        for loaded in (METHODS[name]().load(tmp_path / "run"), load(tmp_path / "run")):
            assert type(loaded) is type(method)
            assert loaded.fitted
            assert loaded.trained_on == method.trained_on
            assert loaded.settings == method.settings
            assert loaded.history == method.history
            assert loaded.snapshots.texts == method.snapshots.texts
            assert loaded.snapshots.labels == method.snapshots.labels
            equal(loaded.snapshots.vectors, method.snapshots.vectors)
            equal(loaded.encode(ASKED), method.encode(ASKED))
            assert state(loaded) == state(method)
        load(tmp_path / "run").save(tmp_path / "again")
        for file in (tmp_path / "run").iterdir():
            assert file.read_bytes() == (tmp_path / "again" / file.name).read_bytes(), file.name

    def test_fit_writes_the_run_it_is_given_a_folder_for(self, name: str, shape: str) -> None:
        _, folder = stored(name, shape)
        assert state(load(folder)) == state(known(name, shape))
        assert read_run(folder).state == "finished"
        assert read_run(folder).seed == 3
        with pytest.raises(ValueError, match="holds a run of"):
            small(name).fit(CORPORA[shape](), seed=3, folder=folder)


# --- what is refused -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name, shapes in SHAPES.items() if name != "sbert"])
def test_who_needs_labels_says_so_of_sentences_without(name: str) -> None:
    method = small(name)
    with pytest.raises(ValueError, match="^corpus 'sentences' has sentences without labels, and .*'label'") as mistake:
        method.fit(CORPORA["sentences"](), seed=3)
    assert "\n" not in str(mistake.value)
    assert not method.fitted


@pytest.mark.parametrize("settings", [{"loss": "simcse", "dropout": 0.1}, {"epochs": 0}])
def test_networks_that_need_no_label_take_sentences_without(settings: dict[str, Any]) -> None:
    given = {"epochs": 1, "batch": 8, "size": 12, "dimension": 8, "device": "cpu"} | settings
    for name in ("sentpwnet", "bag"):
        kept = {key: value for key, value in given.items() if key != "size" or name == "sentpwnet"}
        method = METHODS[name](**kept)
        method.fit(CORPORA["sentences"](), seed=3)
        assert np.isfinite(method.encode(ASKED)).all()


def test_sentences_without_labels_are_scored_by_nobody() -> None:
    method, corpus = any_of("mean-vectors"), CORPORA["sentences"]()
    for ask in (score, selection, difficulty):
        given = (corpus,) if ask is difficulty else (method, corpus)
        with pytest.raises(ValueError, match="^corpus 'sentences' has sentences without labels, and a method can be"):
            ask(*given)  # type: ignore[operator]


# --- why two sentences are alike ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", METHODS)
class TestWhy:
    def test_each_way_adds_up_to_what_the_method_says(self, name: str) -> None:
        method = any_of(name)
        asked = [(ASKED[0], ASKED[7]), (ASKED[1], ASKED[2]), *((ASKED[0], other) for other in ASKED[3:])]
        for way in method.ways:
            for a, b in [*asked, (ASKED[0], ASKED[0])]:
                found = method.explain(a, b, way=way)
                assert found.similarity == pytest.approx(float(method.similarity([a], [b])[0, 0]), abs=2e-5)
                assert np.shape(found.parts) in ((len(found.names_a), len(found.names_b)), (0,))
                total = sum(found.own_a) + sum(found.own_b)
                assert total + found.gap == pytest.approx(found.similarity, abs=1e-9)
                if way != "left-out":
                    assert sum(map(sum, found.parts)) == pytest.approx(total, abs=1e-9)
                    assert abs(found.gap) < (0.05 if way == "integrated" else 1e-6), (a, b)

    def test_left_out_is_what_the_similarity_loses(self, name: str) -> None:
        method = any_of(name)
        found = method.explain("the cat sleeps", "a dog sleeps", way="left-out")
        s = method.similarity(["the cat sleeps", "the cat", "cat sleeps"], ["a dog sleeps", "a dog"])
        assert (found.names_a, found.names_b) == (("the", "cat", "sleeps"), ("a", "dog", "sleeps"))
        assert found.own_a[2] == pytest.approx(s[0, 0] - s[1, 0], abs=1e-6)
        assert found.own_a[0] == pytest.approx(s[0, 0] - s[2, 0], abs=1e-6)
        assert found.own_b[2] == pytest.approx(s[0, 0] - s[0, 1], abs=1e-6)
        assert found.parts[2][2] == pytest.approx(s[0, 0] - s[1, 0] - s[0, 1] + s[1, 1], abs=1e-6)

    def test_what_it_cannot_say(self, name: str) -> None:
        method = any_of(name)
        with pytest.raises(ValueError, match=f"^way is 'guess', which method {name!r} does not have, expected one of"):
            method.explain("a cat", "a dog", way="guess")
        with pytest.raises(ValueError, match="^steps is 3, but way 'left-out' takes none"):
            method.explain("a cat", "a dog", way="left-out", steps=3)
        with pytest.raises(ValueError, match="^sentences\\[1\\] is float, expected a text"):
            method.explain("a cat", math.nan)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="has learned nothing yet"):
            small(name).explain("a cat", "a dog")


@pytest.mark.parametrize("name", METHODS)
class TestRefusals:
    @pytest.mark.parametrize(
        ("sentences", "said"),
        [
            ("one text", "sentences is one text, expected a list of texts; put it in brackets"),
            (["a", None], "sentences[1] is NoneType, expected a text"),
            ([b"a"], "sentences[0] is bytes, expected a text"),
            (None, "sentences is NoneType, expected a list of texts"),
        ],
    )
    def test_what_is_no_list_of_texts(self, name: str, sentences: Any, said: str) -> None:
        with pytest.raises(ValueError) as mistake:
            any_of(name).encode(sentences)
        assert said in str(mistake.value)
        if not isinstance(sentences, list):
            with pytest.raises(ValueError) as mistake:
                any_of(name).similarity(sentences, ["a"])
            assert said in str(mistake.value)

    def test_bad_batches_and_bad_embeddings(self, name: str) -> None:
        method = any_of(name)
        with pytest.raises(ValueError, match="batch_size is 0, expected at least 1"):
            method.encode(["a"], batch_size=0)
        rows = method.encode(ASKED[:3])
        with pytest.raises(ValueError, match="expected"):
            method.similarity(rows, rows[:, :-1])
        with pytest.raises(ValueError, match="expected"):
            method.pairwise_similarity(rows, rows[:2])
        with pytest.raises(ValueError, match="expected numbers in two dimensions"):
            method.similarity(dense(rows)[0], rows)

    def test_before_it_has_learned(self, name: str, tmp_path: Path) -> None:
        method = small(name)
        actions: list[Callable[[], Any]] = [
            lambda: method.encode(["a"]),
            lambda: method.encode([]),
            lambda: method.similarity(["a"], ["b"]),
            lambda: method.save(tmp_path / "run"),
            lambda: method.trained_on,
        ]
        for action in actions:
            with pytest.raises(ValueError, match=f"method {name!r} has learned nothing yet; call fit"):
                action()
        assert not (tmp_path / "run").exists()

    @pytest.mark.parametrize(("corpus", "seed"), [("questions", 0), (None, 0), ("pairs", -1), ("pairs", 1.5)])
    def test_bad_corpus_or_seed(self, name: str, corpus: Any, seed: Any) -> None:
        method = small(name)
        given = CORPORA["pairs"]() if corpus == "pairs" else corpus
        with pytest.raises(ValueError, match="seed is" if corpus == "pairs" else "expected a corpus"):
            method.fit(given, seed=seed)
        assert not method.fitted

    def test_interrupted_it_has_learned_nothing(self, name: str) -> None:
        def stop(*_: Any) -> None:
            raise KeyboardInterrupt

        method = small(name)
        with pytest.raises(KeyboardInterrupt):
            method.fit(CORPORA[SHAPES.get(name, tuple(CORPORA))[0]](), progress=stop)
        assert not method.fitted

    def test_another_methods_run(self, name: str, tmp_path: Path) -> None:
        any_of(name).save(tmp_path / "run")
        other = next(entry for entry in METHODS.values() if entry.name != name)()
        with pytest.raises(ValueError, match=f"is of method {name!r}, expected {other.name!r}"):
            other.load(tmp_path / "run")
        assert not other.fitted

    def test_a_model_that_does_not_fit_its_words(self, name: str, tmp_path: Path) -> None:
        any_of(name).save(tmp_path / "run")
        run = read_run(tmp_path / "run")
        damaged = [replace(run, arrays={}), replace(run, words={}), replace(run, settings={"no such": 1})]
        for key, array in run.arrays.items():
            taller = np.concatenate([array, array[:1]]) if array.ndim and len(array) else np.zeros((1, 1), array.dtype)
            damaged.append(replace(run, arrays={**run.arrays, key: taller}))
            damaged.append(replace(run, arrays={name: found for name, found in run.arrays.items() if name != key}))
        for key, value in run.words.items():
            if isinstance(value, list):
                damaged += [
                    replace(run, words={**run.words, key: made})
                    for made in (value[:-1], value + value[-1:], value[1:] + value[-1:])
                ]
        for number, broken in enumerate(damaged):
            write_run(broken, tmp_path / str(number))
            method = METHODS[name]().load(tmp_path / "run")
            with pytest.raises(ValueError) as mistake:
                method.load(tmp_path / str(number))
            assert not method.fitted  # half of what it was
            assert f"run {str(tmp_path / str(number))!r} cannot be read: " in str(mistake.value)
            assert "\n" not in str(mistake.value)

    @pytest.mark.parametrize("number", [math.nan, math.inf])
    def test_a_model_with_what_is_no_number(self, name: str, number: float, tmp_path: Path) -> None:
        any_of(name).save(tmp_path / "run")
        run = read_run(tmp_path / "run")
        floats = [key for key, array in run.arrays.items() if array.dtype.kind == "f" and np.isfinite(array).all()]
        assert floats or not run.arrays
        for key in floats:
            array = run.arrays[key].copy()
            array.reshape(-1)[-1:] = number
            write_run(replace(run, arrays={**run.arrays, key: array}), tmp_path / key)
            own = key.split(".", 1)[1] if key.startswith("base.") else key
            with pytest.raises(ValueError, match=rf"numbers of '{re.escape(own)}' in model.safetensors are NaN or inf"):
                METHODS[name]().load(tmp_path / key)

    @pytest.mark.parametrize("number", [math.nan, math.inf])
    def test_a_vector_that_is_none(self, name: str, number: float, monkeypatch: pytest.MonkeyPatch) -> None:
        """Of the method, or of the base that it stands on: refused, where some went on computing without end."""
        method = any_of(name)
        learned = getattr(method, "base", method)
        encode = learned._encode

        def damaged(sentences: list[str], batch_size: int, progress: Any) -> Any:
            rows = encode(sentences, batch_size, progress).copy()
            bad = [row for row, text in enumerate(sentences) if text == "a new dog looks at a lake"]
            if sparse.issparse(rows):
                rows = rows.tolil()
                rows[bad, 0] = number
                return rows.tocsr()
            rows[bad, 0] = number
            return rows

        monkeypatch.setattr(learned, "_encode", damaged)
        assert np.isfinite(dense(method.encode(["the cat", ""]))).all()
        who = f"(method|base) {learned.name!r}"
        with pytest.raises(
            ValueError, match=rf"^{who} gives NaN or infinite numbers for 1 of 3 sentences, .* 'a new dog"
        ):
            method.encode(["the cat", "", "a new dog looks at a lake"])


# --- settings --------------------------------------------------------------------------------------------------

SETTINGS = [(name, found) for name, entry in METHODS.items() for found in fields(entry.method.Settings)]


@pytest.mark.parametrize(("name", "found"), SETTINGS, ids=[f"{name}.{found.name}" for name, found in SETTINGS])
class TestSettings:
    def test_says_what_it_does(self, name: str, found: Any) -> None:
        assert len(found.metadata["what"]) > 5
        assert METHODS[name](**{found.name: found.default}).settings == METHODS[name]().settings

    def test_refuses_what_is_out_of_bounds(self, name: str, found: Any) -> None:
        limits = found.metadata
        wrong: list[Any] = [None, [found.default]]
        if limits["choices"]:
            wrong.append("no such choice")
        if limits["least"] is not None:
            wrong.append(limits["least"] - 1)
        if limits["most"] is not None:
            wrong.append(limits["most"] + 1)
        if limits["above"] is not None:
            wrong.append(limits["above"])
        wrong += [5] if isinstance(found.default, str) else ["a few", math.nan]
        wrong += [0.5] if type(found.default) is int else []
        for value in wrong:
            with pytest.raises(ValueError, match=f"setting {found.name} is "):
                METHODS[name](**{found.name: value})

    def test_takes_its_value_as_typed(self, name: str, found: Any) -> None:
        typed = METHODS[name](**{found.name: str(found.default)})
        assert typed.settings == METHODS[name]().settings


@pytest.mark.parametrize("name", METHODS)
def test_a_name_that_is_no_setting(name: str) -> None:
    with pytest.raises(ValueError, match="setting 'no_such' is not one of this method"):
        METHODS[name](no_such=1)
    assert isinstance(METHODS[name]().settings, Settings)


# of the methods that need no training: another value for every setting, and what else must be set for it to matter
OTHER: dict[str, dict[str, dict[str, Any]]] = {
    "mean-vectors": {"vectors": {"vectors": "FILE"}, "dimension": {"dimension": 5}, "window": {"window": 1}},
    "sif": {
        "vectors": {"vectors": "FILE"},
        "dimension": {"dimension": 5},
        "window": {"window": 1},
        "a": {"a": 0.1},
        "components": {"components": 0},
    },
    "tfidf": {
        "unit": {"unit": "characters"},
        "shortest": {"shortest": 2, "longest": 2},
        "longest": {"longest": 2},
        "least": {"least": 5},
    },
}
OTHER["lsa"] = {**OTHER["tfidf"], "dimension": {"dimension": 5}}
for _name in ("pca", "whitening"):
    OTHER[_name] = {"base": {"base": "tfidf"}, "dimension": {"dimension": 5}}
OTHER["sbert-lp"] = {
    "base": {"base": "tfidf"},
    "neighbours": {"neighbours": 7},
    "dimension": {"dimension": 5},
    "reg": {"reg": 0.1},
    "embedded": {"embedded": "all"},
}
OTHER["all-but-the-top"] = {"base": {"base": "tfidf"}, "components": {"components": 3}}


@pytest.mark.parametrize("name", OTHER)
def test_every_setting_changes_something(name: str, tmp_path: Path) -> None:
    # where it is computed changes nothing
    assert set(OTHER[name]) == {found.name for found in fields(METHODS[name].method.Settings)} - {"device"}
    file = tmp_path / "vectors.txt"
    file.write_text("cat 1 0 2.5\ndog 2 1 -1\nsofa 0 3 1\nlake 4 1 0.5\nthe 1 1 1\na 0 1 2\n")
    corpus = CORPORA["pairs"]()
    before = small(name)
    before.fit(corpus)
    for setting, values in OTHER[name].items():
        has = {found.name for found in fields(METHODS[name].method.Settings)}
        start = {key: value for key, value in SMALL.items() if key in has}
        given = {key: str(file) if value == "FILE" else value for key, value in values.items()}
        after = METHODS[name](**start | given)
        after.fit(corpus)
        assert state(after) != state(before), setting
        loaded = METHODS[name]()
        after.save(tmp_path / setting)
        equal(loaded.load(tmp_path / setting).encode(ASKED), after.encode(ASKED))


@pytest.mark.parametrize("name", [name for name in METHODS if issubclass(METHODS[name].method.Settings, Training)])
def test_no_epoch_leaves_the_network_as_it_starts(name: str, tmp_path: Path) -> None:
    """An untrained network is a baseline like any other: it encodes, it is kept, and it is the seed's alone."""
    shape = SHAPES.get(name, tuple(CORPORA))[0]
    made = [METHODS[name](**{**small(name).settings.values(), "epochs": 0}) for _ in range(2)]
    for method in made:
        assert method.fit(CORPORA[shape](), seed=3).rows == ()
    equal(made[0].encode(ASKED), made[1].encode(ASKED))
    assert state(made[0]) != state(known(name, shape))
    made[0].save(tmp_path / "run")
    equal(load(tmp_path / "run").encode(ASKED), made[0].encode(ASKED))


# --- what the base gives ---------------------------------------------------------------------------------------


def test_unit_rows_by_hand_dense_and_sparse() -> None:
    rows = np.array([[3.0, 4.0], [0.0, 0.0], [0.0, -2.0]], dtype=np.float32)
    expected = np.array([[0.6, 0.8], [0.0, 0.0], [0.0, -1.0]], dtype=np.float32)
    np.testing.assert_allclose(unit(rows), expected, rtol=1e-6)
    found = unit(sparse.csr_array(rows))
    np.testing.assert_allclose(found.toarray(), expected, rtol=1e-6)
    assert found.dtype == unit(rows).dtype == np.float32


@pytest.mark.parametrize(("kind", "size"), [("f4", 1e25), ("f4", 1e-25), ("f8", 1e300), ("f8", 1e-300)])
def test_unit_rows_of_any_size_each_by_itself(kind: str, size: float) -> None:
    rows = np.random.default_rng(0).normal(size=(6, 4)).astype(kind)
    extreme = rows * rows.dtype.type(size)
    extreme[0], extreme[1] = rows[0], 0
    for form in (np.asarray, sparse.csr_array):
        found = unit(form(extreme))
        assert found.dtype == rows.dtype
        expected = unit(rows)
        expected[1] = 0
        np.testing.assert_allclose(found if form is np.asarray else found.toarray(), expected, rtol=1e-6)
        for row in range(6):
            assert abs(unit(form(extreme[[row]])) - found[[row]]).max() == 0


def test_half_precision_of_torch_is_refused_in_a_sentence() -> None:
    rows = torch.ones(2, 3, dtype=torch.bfloat16)
    with pytest.raises(ValueError, match="embeddings is not an array"):
        fitted("mean-vectors", "pairs").similarity(rows, list(rows))


def test_embeddings_may_come_as_numbers_of_any_kind() -> None:
    method = any_of("mean-vectors")
    whole = [[3, 4], [1, 0]]
    expected = [[1.0, 0.6], [0.6, 1.0]]
    for rows in (whole, np.array(whole), sparse.csr_matrix(whole), sparse.csr_array(np.array(whole, float))):
        np.testing.assert_allclose(method.similarity(rows, rows), expected, rtol=1e-6)
        np.testing.assert_allclose(method.pairwise_similarity(rows, rows), [1, 1], rtol=1e-6)
    import pandas as pd

    column = pd.Series(["a cat", "the dog"], index=[7, 9])  # as filtered from a table
    np.testing.assert_array_equal(method.similarity(column, column), method.similarity(list(column), list(column)))


def test_fitting_again_forgets_what_was_before(tmp_path: Path) -> None:
    any_of("tfidf").save(tmp_path / "run")
    run = read_run(tmp_path / "run")
    probe = Snapshots(("a",), ("x",)).with_epoch(0, np.ones((1, 2)))
    write_run(replace(run, history=History(({"epoch": 1, "loss": 0.5},)), snapshots=probe), tmp_path / "with")
    method = METHODS["tfidf"]().load(tmp_path / "with")
    assert len(method.history) == len(method.snapshots.epochs) == 1
    method.fit(CORPORA["groups"]())
    assert method.history == History()
    assert len(method.snapshots.epochs) == len(method.snapshots.texts) == 0
    assert method.trained_on == "groups"


def test_library_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    method = fitted("mean-vectors", "pairs")
    method.encode(ASKED, show_progress_bar=True)  # a bar is for a person who looks on
    assert capfd.readouterr() == ("", "")

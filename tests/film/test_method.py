"""FILM as a method: every shape of corpus, the similarity it promises, what it says of bad input, and the disk."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse

from labkit.corpora import Articles, Groups, Labelled, Pairs, Triplets, load
from labkit.evaluation import pair_classification
from labkit.evaluation.scores import score, selection
from labkit.film.method import Film, FilmSettings


def film(**settings) -> Film:
    return Film(FilmSettings(**({"dimension": 20, "iterations": 5} | settings)))


@pytest.fixture(scope="module")
def questions() -> Pairs:
    corpus = load("questions")
    return corpus.take(range(0, len(corpus), 2))


@pytest.fixture(scope="module")
def fitted(questions) -> Film:
    method = film(share="0.3")
    method.fit(questions)
    return method


@pytest.mark.whole
@pytest.mark.parametrize("name", ["questions", "captions", "relatedness", "topics", "places", "articles"])
def test_it_learns_from_every_shape(name: str) -> None:
    corpus = load(name)
    corpus = corpus.take(range(len(corpus) // 2)) if name != "articles" else corpus
    plain, learned = film(share="1"), film(dimension=60)
    for method in (plain, learned):
        method.fit(corpus)
    assert score(learned, corpus).headline > score(plain, corpus).headline + 0.02


@pytest.mark.whole
@pytest.mark.parametrize("solver", ["full-rank", "closed-form", "paper"])
def test_every_solver_beats_tfidf_on_questions(solver: str) -> None:
    whole = load("questions")
    method, plain = film(solver=solver, dimension=60, iterations=60), film(share="1")
    for each in (method, plain):
        each.fit(whole)
    assert selection(method, whole.part("test"))[1] > selection(plain, whole.part("test"))[1] + 0.05


def test_similarity_is_the_mixture_of_two_cosines(fitted, questions) -> None:
    a, b = list(questions.text_a[:50]), list(questions.text_b[:50])
    x, y = (fitted.vectorizer.transform(texts).toarray() for texts in (a, b))
    u, v = x @ fitted.L.T, y @ fitted.L.T
    cosine = lambda s, t: np.sum(s * t, axis=1) / np.linalg.norm(s, axis=1) / np.linalg.norm(t, axis=1)  # noqa: E731
    wanted = 0.3 * cosine(x, y) + 0.7 * cosine(u, v)
    assert fitted.pairwise_similarity(a, b) == pytest.approx(wanted, abs=1e-6)
    assert np.diag(fitted.similarity(a, b)) == pytest.approx(wanted, abs=1e-6)


def test_rows_are_sparse_with_a_share_and_dense_without(questions, fitted) -> None:
    rows = fitted.encode(list(questions.text_a[:5]))
    assert sparse.issparse(rows)
    assert rows.dtype == np.float32
    assert rows.shape == (5, fitted.L.shape[1] + 20)
    dense = film(share="0")
    dense.fit(questions)
    assert dense.encode(["a question"]).shape == (1, 20)
    assert isinstance(dense.encode(["a question"]), np.ndarray)


def test_a_sentence_alone_is_as_in_a_batch(fitted, questions) -> None:
    texts = questions.sentences()[:30]
    together = fitted.encode(texts).toarray()
    assert together == pytest.approx(np.vstack([fitted.encode([text]).toarray() for text in texts]), abs=1e-7)


def test_the_share_is_the_best_on_dev(questions) -> None:
    method = film()
    history = method.fit(questions)
    dev = questions.part("dev")
    values = {}
    for method.share in (number / 10 for number in range(11)):
        values[method.share] = selection(method, dev)[1]
    chosen = history.rows[-1]["share"]
    assert values[chosen] == max(values.values()) == pytest.approx(history.rows[-1]["dev_auc"])


def test_without_dev_the_share_is_a_half(questions) -> None:
    method = film()
    assert method.fit(questions.part("train")).rows[-1]["share"] == 0.5 == method.share


def test_history_tells_of_the_descent(fitted, questions) -> None:
    rows = fitted.history.rows
    assert [row["epoch"] for row in rows] == list(range(len(rows)))
    assert rows[-1]["objective"] < rows[0]["objective"]
    assert rows[-1]["gap"] >= 0
    assert rows[-1]["drift"] < 1e-12
    paper = film(solver="paper", iterations=30, share="0")
    drifts = paper.fit(questions).column("drift")
    assert len(drifts) == 31
    assert max(drifts) < 1e-12


def test_same_seed_same_model(questions) -> None:
    first, again, other = (film(share="0"), film(share="0"), film(share="0"))
    histories = [first.fit(questions), again.fit(questions), other.fit(questions, seed=1)]
    assert (first.L == again.L).all()
    assert histories[0].csv() == histories[1].csv()
    assert (first.L != other.L).any()


def test_saved_and_loaded_it_is_the_same(fitted, questions, tmp_path) -> None:
    fitted.save(tmp_path / "run")
    again = Film().load(tmp_path / "run")
    texts = questions.sentences()[:20]
    assert (again.encode(texts) != fitted.encode(texts)).nnz == 0
    assert again.explain(*texts[:2]) == fitted.explain(*texts[:2])
    assert [str(row) for row in again.rows()] == [str(row) for row in fitted.rows()]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda arrays, words: arrays.update(L=arrays["L"][:, 1:]), "array L has"),
        (lambda arrays, words: arrays.update(rms=arrays["rms"][1:]), "array rms has"),
        (lambda arrays, words: words.update(words=words["words"][1:]), "idf of shape"),
        (lambda arrays, words: words.update(share=2), "share is 2"),
        (lambda arrays, words: arrays.update(stability=arrays["stability"][1:]), "stability has shape"),
    ],
)
def test_what_does_not_fit_is_not_restored(fitted, change, message: str) -> None:
    arrays, words = fitted._state()
    change(arrays, words)
    with pytest.raises(ValueError, match=message):
        film(share="0.3")._restore(arrays, words)


def test_explanations_add_up_to_the_similarity(fitted, questions) -> None:
    for a, b in zip(questions.text_a[:30], questions.text_b[:30], strict=True):
        found = fitted.explain(a, b)
        assert found.similarity == pytest.approx(fitted.pairwise_similarity([a], [b])[0], abs=1e-6)
        for parts in (found.word_pairs, found.words_a + found.words_b, (*found.rows, ("shared", found.shared))):
            assert abs(sum(part[-1] for part in parts) - found.similarity) < 1e-12


def test_the_rotated_view_has_fewer_words_a_row(fitted) -> None:
    plain, rotated = fitted.rows(), fitted.rows(rotated=True)
    assert np.mean([row.effective_words for row in rotated]) < np.mean([row.effective_words for row in plain])
    assert all(np.isnan(row.stability) for row in rotated)


def test_stability_is_measured_and_kept(fitted, questions, tmp_path) -> None:
    found = fitted.measure_stability(questions, rounds=2)
    assert found.shape == (20,)
    assert ((found >= 0) & (found <= 1)).all()
    fitted.save(tmp_path / "run")
    assert Film().load(tmp_path / "run").rows()[0].stability == found[0]


# --- bad input ---------------------------------------------------------------------------------------------------


def test_contradictions_are_counted_and_named() -> None:
    texts = [("red car", "crimson car", 1), ("crimson car", "scarlet auto", 1), ("red car", "scarlet auto", 0)]
    texts += [("old dog", "aged dog", 1), ("old dog", "red car", 0)]
    a, b, values = zip(*texts, strict=True)
    with pytest.warns(UserWarning, match="1 labels contradict.*'red car' and 'scarlet auto'"):
        film(dimension=2).fit(Pairs(text_a=a, text_b=b, values=values, splits="train"))


@pytest.mark.parametrize(
    ("corpus", "message"),
    [
        (Labelled(texts=["a b", "c d", "e f"], labels=["x"] * 3), "all 3 sentences mean the same"),
        (Groups(texts=["a b", "c d", "e f"], groups=["x", "y", "z"]), "no two of 3 sentences mean the same"),
        (Pairs(text_a=["a b"], text_b=["c d"], values=[0]), "no two of 2 sentences mean the same"),
        (Groups(texts=["?", "!", "..."], groups=["x", "x", "y"]), "no word occurs in 1 of the 3"),
        (Labelled(texts=["word", "word word", "word word word"], labels=["x", "x", "y"]), "one word in all.*'word'"),
        (Triplets(anchors=["a"], positives=["a"], negatives=["a"]), "three different"),
    ],
)
def test_what_teaches_nothing_is_refused(corpus, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        film().fit(corpus)


def test_fewer_rows_than_asked_are_said() -> None:
    corpus = Groups(texts=["a b", "a c", "d e", "d f"], groups=["x", "x", "y", "y"])
    method = film(dimension=50, share="0")
    with pytest.warns(UserWarning, match="there are as many dimensions, not 50"):
        method.fit(corpus)
    assert method.encode(["a"]).shape == (1, len(method.L))


def test_unknown_words_have_similarity_0_and_it_is_said(fitted) -> None:
    with pytest.warns(UserWarning, match="1 of 2 sentences have no word.*'qwxz'"):
        found = fitted.similarity(["qwxz", "how do i cook rice"], ["how do i cook rice"])
    assert found[0, 0] == 0
    assert found[1, 0] == pytest.approx(1, abs=1e-6)


def test_empty_sentences_are_rows_of_zeros(fitted) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rows = fitted.encode(["", "how do i cook rice"])
        assert fitted.encode([]).shape == (0, rows.shape[1])
    assert rows[[0]].nnz == 0


def test_repeated_sentences_count_once(questions) -> None:
    train = questions.part("train")
    doubled = train.take([*range(len(train)), *range(len(train))])
    first, second = film(share="0"), film(share="0")
    first.fit(train)
    second.fit(doubled)
    assert (first.L == second.L).all()


def test_articles_become_triplets_of_openings() -> None:
    corpus = load("articles")
    assert isinstance(corpus, Articles)
    assert len(film(dimension=5, share="0").fit(corpus)) > 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"share": "most"}, "share is 'most'"),
        ({"share": "1.5"}, "share is '1.5'"),
        ({"solver": "newton"}, "solver is 'newton'"),
        ({"ridge": 0.0}, "ridge is 0"),
    ],
)
def test_settings_out_of_bounds(settings, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        film(**settings)


def test_more_dimensions_than_the_rank_are_refused(questions) -> None:
    with pytest.raises(ValueError, match="there are 20 dimensions for a rank of 10, expected at most as many"):
        film(rank=10).fit(questions)


@pytest.mark.parametrize(
    "settings",
    [{"positives": 1}, {"apart": 0}, {"near": 3}, {"random": 1}, {"least": 3}, {"word_pairs": True}, {"ridge": 9.0},
     {"margin": 0.1}, {"iterations": 1}, {"rank": 40}, {"batch": 100}],
)  # fmt: skip
def test_every_setting_changes_something(questions, fitted, settings) -> None:
    other = film(share="0.3", **settings)
    other.fit(questions)
    texts = questions.sentences()[:50]
    assert np.abs(other.similarity(texts, texts) - fitted.similarity(texts, texts)).max() > 1e-4


@pytest.mark.whole
def test_on_real_questions_it_beats_tfidf(published_data) -> None:
    import csv
    import gzip

    with gzip.open(published_data / "qqp" / "labelled_train20k.tsv.gz", "rt", encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    rows = [row for row in rows if row["question_in_bimpm_eval"] != "1"][:8_000]
    half = len(rows) // 2
    train, test = (
        Pairs(
            text_a=[row["text_a"] for row in part],
            text_b=[row["text_b"] for row in part],
            values=[int(row["label"]) for row in part],
            splits="train",
        )
        for part in (rows[:half], rows[half:])
    )
    method, plain = film(dimension=50, share="0"), film(share="1")
    accuracy = {}
    for name, each in (("film", method), ("tfidf", plain)):
        each.fit(train)
        scores = each.pairwise_similarity(list(test.text_a), list(test.text_b))
        middle = len(test) // 2
        accuracy[name] = pair_classification(
            scores[:middle], test.labels[:middle], scores[middle:], test.labels[middle:]
        ).accuracy
    assert accuracy["film"] > accuracy["tfidf"]

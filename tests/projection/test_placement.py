"""New sentences in a picture: exact for PCA, a weighted mean for other methods; neighbours and search by words."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.manifold._locally_linear import barycenter_weights

from labkit.corpora import Labelled, load
from labkit.methods import METHODS
from labkit.projection import Projection, aligned, place, project
from labkit.projection.placement import matching, neighbours, unknown_words
from labkit.sbert_lp import LocalityPreserving


def clouds() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    centres = 3 * random.standard_normal((3, 1, 12))
    rows = (centres + random.standard_normal((3, 40, 12))).reshape(-1, 12)
    return rows, np.repeat(np.arange(3), 40)


def test_pca_places_exactly() -> None:
    rows, _ = clouds()
    found = project(rows[:100], measure=False)
    _, _, vt = np.linalg.svd(rows[:100] - rows[:100].mean(axis=0))
    wanted = (rows[100:] - rows[:100].mean(axis=0)) @ vt[:2].T
    for base, new in ((rows[:100], rows[100:]), (sparse.csr_array(rows[:100]), sparse.csr_array(rows[100:]))):
        placed = place(found, base, new)
        np.testing.assert_allclose(np.abs(placed.points), np.abs(wanted), atol=1e-4)
        assert placed.points.dtype == np.float32
        assert placed.weights is None


@pytest.mark.parametrize("method", ["pca", "tsne", "lle"])
def test_a_sentence_of_the_picture_is_placed_on_itself_even_after_alignment(method: str) -> None:
    rows, _ = clouds()
    found = project(rows, method, measure=False)
    for picture in (found, aligned(found, project(rows[::-1], measure=False), scale=3.0)):
        np.testing.assert_allclose(place(picture, rows, rows[:7]).points, picture.points[:7], atol=2e-4)


@pytest.mark.parametrize("method", ["tsne", "lle"])
def test_a_new_sentence_is_placed_near_its_class(method: str) -> None:
    rows, labels = clouds()
    known = np.arange(len(rows)) % 4 > 0
    found = project(rows[known], method, measure=False)
    placed = place(found, rows[known], rows[~known])
    np.testing.assert_allclose(placed.weights.sum(axis=1), 1, rtol=1e-6)
    np.testing.assert_allclose(
        placed.points, (placed.weights[:, :, None] * found.points[placed.neighbours]).sum(axis=1), atol=1e-5
    )
    nearest = ((placed.points[:, None] - found.points[None]) ** 2).sum(axis=2).argmin(axis=1)
    assert (labels[known][nearest] == labels[~known]).mean() > 0.9


def test_weights_by_hand() -> None:
    """The new row is equally far from two points and far from the others, so it is placed half way between the two."""
    rows = np.array([[0.0, 0], [2, 0], [900, 0], [0, 900]])
    picture = Projection("t-SNE", np.array([[0, 0], [4, 2], [50, 50], [60, 60]], np.float32), method="tsne")
    placed = place(picture, rows, np.array([[1.0, 0]]))
    np.testing.assert_allclose(placed.weights[0, :2], [0.5, 0.5], atol=0.2)
    np.testing.assert_allclose(placed.weights[0, 0], placed.weights[0, 1])
    assert placed.neighbours[0, :2].tolist() == [0, 1]


def test_lle_places_with_the_reconstruction_weights() -> None:
    rows, _ = clouds()
    new = rows[:5] + 0.1
    found = project(rows, "lle", neighbours=50, measure=False)
    np.testing.assert_allclose(found.points, LocalityPreserving(50, 2, random_state=0).fit_transform(rows), atol=1e-5)
    placed = place(found, rows, new)
    weights = barycenter_weights(new, rows, placed.neighbours)
    np.testing.assert_allclose(placed.weights, weights, atol=1e-4)
    np.testing.assert_allclose(
        placed.points, np.einsum("nk,nkp->np", weights, found.points[placed.neighbours]), atol=1e-4
    )


# --- neighbours, search and unknown words ------------------------------------------------------------------------


def test_neighbours_are_the_most_similar_without_the_sentence_itself() -> None:
    corpus = load("topics").take(range(0, 2000, 20))
    method = METHODS["lsa"](dimension=8)
    method.fit(corpus)
    shown = Labelled(corpus.texts[:40], corpus.labels[:40])
    rows = method.encode(shown.texts)
    found = neighbours(method, rows[[3]], rows, shown, k=5, without=3)
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    cosines = {row: float(unit[row] @ unit[3]) for row in range(40) if row != 3}
    best = sorted(cosines.values(), reverse=True)[:5]
    assert [each.similarity for each in found] == pytest.approx(best, abs=1e-6)
    assert all(each.similarity == pytest.approx(cosines[each.row], abs=1e-6) for each in found)
    assert all((each.text, each.label) == (shown.texts[each.row], shown.labels[each.row]) for each in found)
    assert neighbours(method, rows[[3]], rows, shown, k=2)[0].row == 3
    with pytest.raises(ValueError, match="embeddings"):
        neighbours(method, rows[[3]], rows[1:], shown)


def test_matching_needs_every_word_and_returns_at_most_this_many() -> None:
    texts = ["Red CARS", "a red bike", "blue cars", "ÄRGER"]
    assert matching(texts, "cars red") == [0]
    assert matching(texts, "ärger") == [3]
    assert matching(texts, "") == [0, 1, 2, 3]
    assert matching(texts, "r", most=2) == [0, 1]


NONSENSE = "qwxz zzkk"


@pytest.mark.parametrize("name", ["mean-vectors", "tfidf", "pv-dbow"])
def test_unknown_words_of_methods(name: str) -> None:
    corpus = load("topics").take(range(0, 2000, 20))
    method = METHODS[name](**({"epochs": 1, "size": 4} if name == "pv-dbow" else {}))
    method.fit(corpus)
    assert unknown_words(method, NONSENSE) == (("qwxz", "zzkk"), False)
    assert unknown_words(method, "The weather, qwxz!") == (("qwxz",), True)
    assert unknown_words(method, "") == ((), True)
    if name == "tfidf":
        assert unknown_words(method, "I") == ((), True)  # no term, hence no unknown one


def test_rows_that_do_not_fit_the_picture() -> None:
    rows, _ = clouds()
    found = project(rows, measure=False)
    for argument, given in {"embeddings": (rows[:5], rows[:1]), "new": (rows, np.zeros((1, 3)))}.items():
        with pytest.raises(ValueError, match=argument):
            place(found, *given)
    with pytest.raises(ValueError, match="NaN"):
        place(found, rows, np.full((1, 12), np.nan))

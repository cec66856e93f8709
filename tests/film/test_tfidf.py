"""Rows of words: by hand, and as scikit-learn's own words give them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from labkit.film.triplets import fitted_vectorizer, restored_vectorizer, terms


def test_hands_that_write_differently_give_the_same_words() -> None:
    assert terms("What's  the well-known SONG?") == terms("what 's the well - known song ?")


def test_weights_by_hand() -> None:
    vectorizer = fitted_vectorizer(["red red car", "red dog"])
    row = vectorizer.transform(["red red car ship"]).toarray()[0]
    idf = {"car": np.log(3 / 2) + 1, "dog": np.log(3 / 2) + 1, "red": np.log(3 / 3) + 1}
    wanted = np.array([idf["car"], 0, (1 + np.log(2)) * idf["red"]])
    assert vectorizer.get_feature_names_out().tolist() == ["car", "dog", "red"]
    assert row == pytest.approx(wanted / np.linalg.norm(wanted))


def test_restored_is_the_same() -> None:
    texts = ["not good at all", "good", "all at sea", "not at all"]
    for pairs in (False, True):
        found = fitted_vectorizer(texts, least=2, pairs=pairs)
        again = restored_vectorizer(found.get_feature_names_out().tolist(), found.idf_, pairs=pairs)
        a, b = found.transform(texts), again.transform(texts)
        assert sparse.issparse(b)
        assert (a != b).nnz == 0


def test_what_cannot_be_counted_is_said() -> None:
    with pytest.raises(ValueError, match="no word occurs in 1 of the 2 training sentences"):
        fitted_vectorizer(["?!", "..."])
    with pytest.raises(ValueError, match="no word occurs in 3 of the 2"):
        fitted_vectorizer(["a b", "c d"], least=3)
    with pytest.raises(ValueError, match="each word once"):
        restored_vectorizer(["a", "a"], np.ones(2))
    with pytest.raises(ValueError, match=r"shape \(3,\)"):
        restored_vectorizer(["a", "b"], np.ones(3))

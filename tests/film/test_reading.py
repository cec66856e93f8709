"""Parts that add up: against plain loops over words, rows and pairs of words."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from labkit.film.reading import Explanation, explain_pair, explanation_text

WORDS = tuple("abcdefgh")


def explained(random, share: float) -> tuple[Explanation, np.ndarray, np.ndarray, np.ndarray]:
    L = random.standard_normal((3, 8))
    x = random.random(8) * (random.random(8) < 0.6)
    y = random.random(8) * (random.random(8) < 0.6)
    x[2], y[2] = 0.7, 0.4
    rows = sparse.csr_matrix(x), sparse.csr_matrix(y)
    return explain_pair(("first", "second"), *rows, L, WORDS, share=share), L, x, y


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_all_three_kinds_of_parts_add_up(random, share: float) -> None:
    for _ in range(20):
        found, L, x, y = explained(random, share)
        learned = (L @ x) @ (L @ y) / np.linalg.norm(L @ x) / np.linalg.norm(L @ y)
        plain = x @ y / np.linalg.norm(x) / np.linalg.norm(y)
        wanted = share * plain + (1 - share) * learned
        assert abs(found.similarity - wanted) < 1e-12
        assert abs(sum(part for _, part in found.rows) + found.shared - wanted) < 1e-12
        assert abs(sum(part for _, part in found.words_a + found.words_b) - wanted) < 1e-12
        assert abs(sum(part for _, _, part in found.word_pairs) - wanted) < 1e-12


def test_each_part_by_plain_loops(random) -> None:
    found, L, x, y = explained(random, 0.25)
    lengths = np.linalg.norm(L @ x) * np.linalg.norm(L @ y), np.linalg.norm(x) * np.linalg.norm(y)
    pairs = {(s, t): part for s, t, part in found.word_pairs}
    assert set(pairs) == {(WORDS[u], WORDS[v]) for u in range(8) for v in range(8) if x[u] and y[v]}
    for u in np.flatnonzero(x):
        for v in np.flatnonzero(y):
            wanted = 0.75 * x[u] * (L[:, u] @ L[:, v]) * y[v] / lengths[0] + 0.25 * (u == v) * x[u] * y[v] / lengths[1]
            assert pairs[WORDS[u], WORDS[v]] == pytest.approx(wanted, abs=1e-14)
    for row, part in found.rows:
        assert part == pytest.approx(0.75 * (L @ x)[row] * (L @ y)[row] / lengths[0], abs=1e-14)
    for word, part in found.words_a:
        assert part == pytest.approx(sum(value for (s, _), value in pairs.items() if s == word) / 2, abs=1e-14)


def test_the_largest_come_first(random) -> None:
    found = explained(random, 0.3)[0]
    for parts in (found.rows, found.words_a, found.words_b, found.word_pairs):
        sizes = [abs(part[-1]) for part in parts]
        assert sizes == sorted(sizes, reverse=True)


def test_a_sentence_of_unknown_words_has_similarity_0_and_it_is_said() -> None:
    empty, full = sparse.csr_matrix((1, 8)), sparse.csr_matrix(np.ones((1, 8)))
    found = explain_pair(("zzz", "all"), empty, full, np.eye(8), WORDS, share=0.5, unknown=("zzz",))
    assert found.similarity == 0
    assert found.word_pairs == ()
    assert "never met in training, which say nothing: zzz" in str(found)
    assert "0 by definition" in str(found)


def test_what_is_cut_off_is_added_up(random) -> None:
    found = explained(random, 0.3)[0]
    text = explanation_text(found, top=1)
    assert f"{len(found.word_pairs) - 1} more" in text
    rest = sum(part for _, _, part in found.word_pairs[1:])
    assert f"{rest:+.3f}  {len(found.word_pairs) - 1} more" in text
    assert "words in common (TF-IDF)" in text

"""Invalid input to any function: the error names the argument and its value."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
import torch
from scipy import sparse

from labkit import evaluation
from labkit.arrays import classes, unit, vectors

ROWS = np.random.default_rng(0).standard_normal((12, 4))
LABELS = np.arange(12) % 3
SCORES = np.linspace(0, 1, 12)
GRADES = np.linspace(1, 5, 12)
SQUARE = ROWS @ ROWS.T


def changed(array, row, value):
    array = np.array(array, dtype=float)
    array[row] = value
    return array


NAN, ZERO = changed(ROWS, 7, np.nan), changed(ROWS, 7, 0)

e = evaluation
REFUSED = [
    (lambda: e.best_threshold(SCORES, LABELS[:5] > 0), "labels has 5 rows"),
    (lambda: e.best_threshold(SCORES, LABELS), "labels is .* in row 2"),
    (lambda: e.best_threshold([], []), "scores is empty"),
    (lambda: e.best_threshold(ROWS, LABELS > 0), "scores has shape"),
    (lambda: e.best_threshold(["a"], [1]), "scores has dtype"),
    (lambda: e.pair_classification(SCORES, LABELS > 0, [1, 2], [0, 0]), "labelled 1"),
    (lambda: e.hit_at(NAN, LABELS), "embeddings .* row 7"),
    (lambda: e.hit_at(sparse.csr_array(NAN), LABELS), "embeddings .* row 7"),
    (lambda: e.hit_at(ZERO, LABELS), "embeddings .* row 7"),
    (lambda: e.hit_at(ROWS, range(12)), "class"),
    (lambda: e.hit_at(ROWS, [None, *LABELS[1:]]), "labels is missing in row 0"),
    (lambda: e.hit_at(ROWS, LABELS, 3), "ks is 3"),
    (lambda: e.hit_at(torch.ones(12, 4, dtype=torch.bfloat16), LABELS), "torch"),
    (lambda: e.knn_accuracy(ROWS, LABELS, ROWS, LABELS, 1.5), "k is 1.5"),
    (lambda: e.knn_accuracy(ROWS, LABELS, ROWS[:, :2], LABELS), "test has 2 columns"),
    (lambda: e.nearest(ROWS, ROWS[:0], 1), "base is empty"),
    (lambda: e.inter_intra(ROWS, [1] * 12), "one class"),
    (lambda: e.kmeans(ROWS, 13, seed=0, restarts=1), "k is 13"),
    (lambda: e.iclust(np.triu(SQUARE), 3, seed=0, restarts=1), "similarity"),
    (lambda: e.iclust(SQUARE, 2, temperature=np.nan, seed=0, restarts=1), "temperature is nan"),
    (lambda: e.relatedness(ROWS, ROWS, GRADES, ROWS, ROWS, GRADES - 1, grades=(1, 5)), "test_scores"),
    (lambda: e.relatedness(ROWS, ROWS, GRADES, ROWS, ROWS, GRADES, grades=(1, 3, 5)), "grades"),
    (lambda: e.p_coherence(ROWS, ["a"] * 12), "1 groups"),
    (lambda: e.correlation([1, 2, 3], [3, 3, 3]), "grades"),
    (lambda: vectors("rows", np.ma.masked_greater(ROWS, 0)), "masked"),
]


@pytest.mark.parametrize(("call", "said"), REFUSED, ids=[said for _, said in REFUSED])
def test_bad_input_is_refused_by_name(call, said):
    with pytest.raises(ValueError) as refused:
        call()
    for part in (said.split()[0], *re.findall(r"-?\d+|nan", said)):  # the argument and its values, whatever the wording
        assert part in str(refused.value)


def test_no_function_changes_its_input():
    rows = sparse.coo_array(([1.0, 2, 3, 4, 5, 6], ([0, 0, 1, 2, 3, 3], [0, 0, 1, 2, 3, 1])), shape=(4, 4)).tocsr()
    dense, before = rows.toarray(), rows.copy()
    dense_before = dense.copy()
    for given in (rows, dense):
        evaluation.hit_at(given, [0, 0, 1, 1])
        evaluation.p_coherence(given, [0, 0, 1, 1])
        evaluation.inter_intra(given, [0, 0, 1, 1])
        evaluation.nearest(given, given, 2)
        evaluation.kmeans(given, 2, seed=0, restarts=1)
    assert (dense == dense_before).all()
    assert (rows.indices == before.indices).all()
    assert (rows.data == before.data).all()


def test_duplicate_entries_of_a_sparse_matrix_add_up_without_touching_it():
    twice = sparse.csr_matrix(([1.0, 2.0, 4.0], [0, 0, 1], [0, 2, 3]), shape=(2, 2))
    np.testing.assert_array_equal(vectors("x", twice).toarray(), [[3, 0], [0, 4]])
    assert twice.nnz == 3


@pytest.mark.parametrize("make", [list, pd.Series, torch.tensor])
def test_many_kinds_of_arrays_are_accepted(make):
    assert evaluation.best_threshold(make([0.1, 0.9]), make([0, 1])) == pytest.approx(0.5)
    np.testing.assert_array_equal(classes("labels", make([7, 3, 7])), [0, 1, 0])


def test_labels_are_not_converted_to_strings():
    np.testing.assert_array_equal(classes("labels", [1, "1", 1]), [0, 1, 0])
    with pytest.raises(ValueError, match="missing.*1"):
        classes("labels", ["a", float("nan"), "b"])


def test_unit_rows_of_float16_do_not_overflow():
    directions = unit(np.array([[3e4, 4e4], [0.6, 0.8]], dtype=np.float16))
    assert directions.dtype == np.float16
    np.testing.assert_allclose(directions, [[0.6, 0.8], [0.6, 0.8]], rtol=2e-3)

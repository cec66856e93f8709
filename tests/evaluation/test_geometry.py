"""Alignment, uniformity and spectrum against Wang and Isola's code, an SVD, plain loops and worked examples."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pytest
import torch
from scipy import sparse

from labkit.arrays import unit
from labkit.evaluation import geometry, precision_at_r
from labkit.evaluation.geometry import (
    alignment,
    class_alignment,
    cosines_over_epochs,
    effective_rank,
    mean_cosine,
    probe_figures,
    singular_shares,
    space_figures,
    uniformity,
)
from labkit.runs import Snapshots

FORMS = {"dense": np.asarray, "sparse": sparse.csr_array}
SQUARE = np.array([[1.0, 0], [0, 2], [-3, 0], [0, -4]])  # four directions at right angles


def rows_of(seed: int, n: int = 40, d: int = 6) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, d)) + 0.5


def test_worked_examples() -> None:
    # four of the six pairs are at right angles, |x - y|² = 2, and two are opposite, 4
    assert uniformity(SQUARE) == pytest.approx(np.log((4 * np.exp(-4) + 2 * np.exp(-8)) / 6))
    assert mean_cosine(SQUARE) == pytest.approx(-2 / 6)
    # the mean is 0, and both axes have the same singular value
    assert singular_shares(SQUARE) == pytest.approx([0.5, 0.5])
    assert effective_rank(SQUARE) == pytest.approx(2)
    assert alignment(SQUARE[:2], SQUARE[2:]) == pytest.approx(4)
    # the pairs of "a": 2, 4, 2; "b" is alone
    assert class_alignment(SQUARE, ["a", "a", "a", "b"]) == pytest.approx(8 / 3)
    # sixteen times as many rows on one axis give singular values of 4 : 1
    many = np.vstack([SQUARE[::2]] * 16 + [SQUARE[1::2]])
    assert effective_rank(many) == pytest.approx(np.exp(-0.8 * np.log(0.8) - 0.2 * np.log(0.2)))


@pytest.mark.parametrize(("n", "d", "form"), [(40, 6, np.asarray), (12, 30, sparse.csr_array)])
def test_equals_the_authors_code(form: Callable[[np.ndarray], Any], n: int, d: int) -> None:
    rows = rows_of(n, n, d)
    other = rows + rows_of(1, n, d)
    x, y = (torch.nn.functional.normalize(torch.tensor(each), dim=1) for each in (rows, other))
    # section 4 of Wang and Isola, as printed there
    assert alignment(form(rows), form(other)) == pytest.approx(float((x - y).norm(p=2, dim=1).pow(2).mean()))
    assert uniformity(form(rows)) == pytest.approx(float(torch.pdist(x, p=2).pow(2).mul(-2).exp().mean().log()))
    cosines = [float(x[i] @ x[j]) for i, j in combinations(range(n), 2)]
    assert mean_cosine(form(rows)) == pytest.approx(np.mean(cosines))
    values = np.linalg.svd(unit(rows) - unit(rows).mean(axis=0), compute_uv=False)
    assert singular_shares(form(rows)) == pytest.approx(values / values.sum(), abs=1e-6)
    shares = values[values > 1e-9] / values.sum()
    assert effective_rank(form(rows)) == pytest.approx(np.exp(-np.sum(shares * np.log(shares))), rel=1e-5)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_alignment_of_classes_equals_that_of_their_pairs(form: Callable[[np.ndarray], Any]) -> None:
    rows = rows_of(2)
    labels = np.random.default_rng(3).integers(0, 25, len(rows)).tolist()
    pairs = [(i, j) for i, j in combinations(range(len(rows)), 2) if labels[i] == labels[j]]
    a, b = np.array(pairs).T
    assert class_alignment(form(rows), labels) == pytest.approx(alignment(form(rows[a]), form(rows[b])))


def test_blocks_and_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = rows_of(4, 90)
    whole = [uniformity(rows), alignment(rows, rows[::-1]), *singular_shares(rows)]
    few = uniformity(rows, most=30)
    assert few == uniformity(rows[np.sort(np.random.default_rng(0).choice(90, 30, replace=False))])
    assert few != whole[0]
    cut = geometry.blocks
    monkeypatch.setattr(geometry, "blocks", lambda rows, columns, entries=0: cut(rows, columns, 700))
    assert [uniformity(rows), alignment(rows, rows[::-1]), *singular_shares(rows)] == pytest.approx(whole)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_collapsed_and_evenly_spread_rows(form: Callable[[np.ndarray], Any]) -> None:
    one = np.outer([1.0, 3, 7, 2, 5], rows_of(6, 1, 50)[0]).astype(np.float32)
    assert space_figures(form(one)) == pytest.approx({"uniformity": 0, "mean_cosine": 1, "effective_rank": 0}, abs=1e-6)
    assert singular_shares(form(one)).tolist() == [0] * 5
    assert class_alignment(form(one), [0] * 5) == pytest.approx(0, abs=1e-6)
    even = space_figures(form(np.eye(60)))
    assert even["uniformity"] == pytest.approx(-4)  # all at right angles
    assert even["effective_rank"] == pytest.approx(59)  # subtracting the mean removes one direction


def test_zero_rows_are_ignored_and_large_matrices_have_no_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    assert space_figures(np.vstack([SQUARE, np.zeros((3, 2))])) == space_figures(SQUARE)
    assert space_figures(np.zeros((3, 2))) == {}
    monkeypatch.setattr(geometry, "SIDE", 1)
    assert set(space_figures(SQUARE)) == {"uniformity", "mean_cosine"}


def a_probe(labels: tuple[str, ...] = ("a", "a", "b", "b", "c")) -> Snapshots:
    snapshots = Snapshots(tuple(f"s{row}" for row in range(len(labels))), labels)
    for epoch in (0, 1, 2):
        snapshots = snapshots.with_epoch(epoch, rows_of(epoch, len(labels), 3))
    return snapshots


def test_figures_of_a_probe() -> None:
    probe = a_probe()
    rows = probe.vectors[1]
    found = probe_figures(probe.labels, rows)
    wanted = precision_at_r(rows, probe.labels) | {"alignment": class_alignment(rows, probe.labels)}
    assert found == {f"probe_{name}": value for name, value in (wanted | space_figures(rows)).items()}
    # rows of zeros are left out, with their labels
    holed = np.vstack([rows, np.zeros((1, 3))])
    assert probe_figures((*probe.labels, "c"), holed) == found


@pytest.mark.parametrize("labels", [("a", "b", "c", "d", "e"), ("a", "a", "", "", "b")])
def test_a_probe_without_classes_has_only_scores_that_need_none(labels: tuple[str, ...]) -> None:
    rows = a_probe().vectors[0]
    assert set(probe_figures(labels, rows)) == {"probe_uniformity", "probe_mean_cosine", "probe_effective_rank"}
    assert probe_figures(labels, np.zeros((5, 3))) == {}
    assert probe_figures(labels, np.where(np.eye(5, 3), np.nan, rows)) == {}


def test_cosines_over_epochs_equal_plain_loops() -> None:
    probe = a_probe()
    found = cosines_over_epochs(probe)
    assert found.epochs == (0, 1, 2)
    for epoch in range(3):
        rows = unit(probe.vectors[epoch].astype(float))
        kinds: dict[bool, list[float]] = {True: [], False: []}
        for i, j in combinations(range(5), 2):
            kinds[probe.labels[i] == probe.labels[j]].append(float(rows[i] @ rows[j]))
        for same, shares, mean in zip((True, False), (found.positive, found.negative), found.means[epoch], strict=True):
            counts = [0] * geometry.BINS
            for cosine in kinds[same]:
                counts[int((cosine + 1) / 2 * geometry.BINS)] += 1
            assert shares[epoch] == pytest.approx(np.array(counts) / len(kinds[same]))
            assert mean == pytest.approx(np.mean(kinds[same]))
    lines = found.rows()
    assert len(lines) == 3 * geometry.BINS
    assert [line["share of positives"] for line in lines] == found.positive.ravel().tolist()
    assert [line["cosine from"] for line in lines[: geometry.BINS]] == found.edges[:-1].tolist()
    near = cosines_over_epochs(probe, low=0.5)  # its first bin also counts the cosines below it
    assert near.edges[0] == pytest.approx(0.5)
    assert near.negative.sum(axis=1) == pytest.approx(1)
    below = found.negative[:, found.edges[1:] <= 0.5 + 1e-9].sum(axis=1)
    assert below.max() > 0
    assert (near.negative[:, 0] >= below - 1e-12).all()
    assert near.means == pytest.approx(found.means, nan_ok=True)

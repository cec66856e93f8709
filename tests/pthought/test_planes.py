"""A handful of groups in the plane: drawn by lot, lettered, the same sentences for every method."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from labkit.evaluation.inputs import unit
from labkit.pthought.view import handful, plane

GROUPS = [[f"{name} {row}" for row in range(5)] for name in "abcdefgh"] + [["alone"], ["twice", "twice"]]


def test_a_handful_is_drawn_by_its_seed_and_leaves_lone_sentences_out() -> None:
    one, again, other = (handful(GROUPS, count=3, most=4, seed=seed) for seed in (0, 0, 1))
    assert one == again != other
    assert one.letters == tuple("AAAABBBBCCCC")
    for letter, name in one.first.items():
        group = next(group for group in GROUPS if name in group)
        assert [text for text, own in zip(one.texts, one.letters, strict=True) if own == letter] == group[:4]
    everything = handful(GROUPS, count=20)
    assert len(everything.first) == 8
    assert not {"alone", "twice"} & set(everything.texts)


def test_the_plane_is_of_rows_at_length_one() -> None:
    rows = np.random.default_rng(0).standard_normal((12, 5))
    longer = rows * np.arange(1, 13)[:, None]
    np.testing.assert_allclose(plane(rows).points, plane(longer).points, atol=1e-5)
    np.testing.assert_allclose(plane(sparse.csr_matrix(rows)).points, plane(rows).points, atol=1e-5)
    centred = unit(rows) - unit(rows).mean(axis=0)
    spread = np.linalg.svd(centred, compute_uv=False) ** 2
    assert plane(rows).shown == pytest.approx(spread[:2].sum() / spread.sum(), abs=1e-5)
    assert plane(rows, "t-SNE").name == "t-SNE"


def test_rows_have_the_places_in_both_planes() -> None:
    shown = handful(GROUPS, count=2)
    flat = plane(np.random.default_rng(0).standard_normal((10, 4)))
    rows = list(shown.rows(base=flat))
    assert rows[3]["group"] == "A"
    assert rows[3]["sentence"] == shown.texts[3]
    assert rows[3]["base y"] == pytest.approx(float(flat.points[3, 1]))


def test_nonsense_is_refused() -> None:
    with pytest.raises(ValueError, match="count is 27"):
        handful(GROUPS, count=27)
    with pytest.raises(ValueError, match="none of 2 has two different sentences"):
        handful([["a"], ["b", "b"]])
    with pytest.raises(ValueError, match="how is 'umap'"):
        plane(np.eye(4), "umap")

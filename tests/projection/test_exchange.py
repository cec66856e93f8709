"""Pictures for embedding-atlas: the columns it reads, and neighbours as plain loops find them."""

from __future__ import annotations

import io

import numpy as np
import pytest
from scipy import sparse

from labkit.arrays import unit
from labkit.corpora import Labelled
from labkit.projection import project
from labkit.projection.picture import atlas_bytes


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_neighbours_are_rows_of_the_file_by_cosine(convert: type) -> None:
    pandas = pytest.importorskip("pandas")
    rows = unit(np.random.default_rng(0).standard_normal((30, 6)).astype(np.float32))
    shown = Labelled([f"sentence {row}" for row in range(30)], [f"class {row % 3}" for row in range(30)])
    picture = project(rows, measure=False)
    frame = pandas.read_parquet(io.BytesIO(atlas_bytes(picture, shown, convert(rows), k=4)))
    assert frame["text"].tolist() == list(shown.texts)
    assert frame["label"].tolist() == list(shown.labels)
    np.testing.assert_array_equal(frame[["x", "y"]].to_numpy(), picture.points)
    cosines = rows @ rows.T
    for row, found in enumerate(frame["neighbors"]):
        others = sorted((other for other in range(30) if other != row), key=lambda other: -cosines[row, other])
        assert found["ids"].tolist() == others[:4]
        np.testing.assert_allclose(found["distances"], 1 - cosines[row, others[:4]], atol=1e-6)

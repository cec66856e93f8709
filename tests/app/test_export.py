"""What leaves the page of clusters: a table that starts no formula, and vectors that can be read back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from export import picture_rows

from labkit.corpora import Articles, Labelled, load
from labkit.corpora.relations import points
from labkit.embedding_files import embedding_bytes, read_embeddings, spreadsheet
from labkit.projection import Projection


def test_a_line_for_each_sentence_and_none_starts_a_formula() -> None:
    shown = Labelled(["=1+1", "two"], ["@x", "y"], extra={"kind": ["-a", "b"]})
    picture = Projection("PCA", np.array([[-0.5, 1], [2, 3]], np.float32))
    rows = list(picture_rows(picture, shown))
    assert rows[0] == {
        "row": 0,
        "text": "=1+1",
        "label": "@x",
        "split": "train",
        "kind": "-a",
        "PCA 1": -0.5,
        "PCA 2": 1,
    }
    lines = spreadsheet(rows).splitlines()
    assert lines[1] == "0,'=1+1,'@x,train,'-a,-0.5,1.0"


@pytest.mark.parametrize("ending", [".npz", ".parquet"])
def test_vectors_come_back(ending: str, tmp_path: Path) -> None:
    rows = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)
    file = tmp_path / f"back{ending}"
    file.write_bytes(embedding_bytes(["a", "=b", "c"], rows, ending))
    sentences, found = read_embeddings(file)
    assert sentences == ["a", "=b", "c"]
    np.testing.assert_array_equal(found, rows)


def test_points_keep_split_and_columns() -> None:
    corpus = load("places")
    shown = points(corpus, classes=5)
    row_of = {text: row for row, text in enumerate(corpus.texts)}  # type: ignore[attr-defined]
    rows = [row_of[text] for text in shown.texts]
    assert list(shown.splits) == [corpus.splits[row] for row in rows]
    assert list(shown.extra["latitude"]) == [corpus.extra["latitude"][row] for row in rows]
    articles = load("articles")
    assert isinstance(articles, Articles)
    assert set(points(articles, classes=3).splits) <= {"train", "dev", "test"}

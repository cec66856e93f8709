"""The sides of the page of clusters: what stands there while a picture is made, and what leaves the page.

While UMAP's process makes a picture, PCA's stands there with a sentence; UMAP is never made in the app's own process.
The table of a picture starts no formula, and saved vectors can be read back.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import streamlit as st
from clusters_sides import picture_rows
from umap_process import PictureProcess

from labkit.corpora import Articles, Labelled, load
from labkit.corpora.relations import points
from labkit.embedding_files import embedding_bytes, read_embeddings
from labkit.projection import Projection, arrange, epochs, project
from labkit.spreadsheet import spreadsheet

from .conftest import Opened, fine


class Seen:
    """What the page had shown when a picture was ordered, and the order."""

    def __init__(self) -> None:
        self.charts: list[str] = []
        self.captions: list[str] = []
        self.orders: list[tuple[dict[str, Any], list[str], list[str]]] = []


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Seen:
    """The worker's place is taken by PCA, which takes no time, and UMAP in this process is an error."""
    found, chart, caption = Seen(), st.plotly_chart, st.caption

    def ordered(self: PictureProcess, rows: Any, order: dict[str, Any]) -> tuple[Projection, ...]:
        found.orders.append((order, list(found.charts), list(found.captions)))
        self.warmed.set()
        return epochs(rows) if order["call"] == "epochs" else (project(rows, dimensions=order["dimensions"]),)

    def here(*_: Any, **__: Any) -> None:
        raise AssertionError("UMAP was to be made in the app's own process")

    monkeypatch.setattr(PictureProcess, "_ordered", ordered)
    monkeypatch.setattr(arrange, "by_umap", here)
    monkeypatch.setattr(st, "plotly_chart", lambda *a, **k: (found.charts.append(k["key"]), chart(*a, **k))[1])
    monkeypatch.setattr(st, "caption", lambda *a, **k: (found.captions.append(a[0]), caption(*a, **k))[1])
    st.cache_resource.clear()
    yield found
    st.cache_resource.clear()


ALL = {"left": "mean word vectors", "right": "nothing", "part": "of all splits", "amount": "300", "how": "UMAP"}


@pytest.mark.parametrize("solid", ["false", "true"])
def test_a_preview_while_umap_is_made_elsewhere(opened: Opened, seen: Seen, solid: str) -> None:
    page = fine(opened("clusters_page", **ALL, solid=solid).run())
    ((order, charts, captions),) = seen.orders
    assert (order["call"], order["method"], order["dimensions"]) == ("project", "umap", 3 if solid == "true" else 2)
    assert charts == ["preview-left"]
    assert captions[-1].startswith("A first look, by PCA, while UMAP is being made")
    assert "prepares itself" in captions[-1]
    assert len(page.get("plotly_chart")) == 1  # the preview is gone
    fine(page.run())
    assert len(seen.orders) == 1  # and what is made stays


def test_the_epochs_of_a_run_are_made_there_too(opened: Opened, seen: Seen) -> None:
    wanted = {"left": "run sentpwnet-topics", "right": "nothing", "how": "UMAP", "view": "Over the epochs"}
    page = fine(opened("clusters_page", **wanted).run())
    ((order, charts, captions),) = seen.orders
    assert (order["call"], order["method"]) == ("epochs", "umap")
    assert charts == ["preview-left"]
    assert captions[-1].startswith("A first look, by PCA, while UMAP is being made")
    assert [chart.proto.alt for chart in page.get("plotly_chart")] != ["A first look at the sentences, by PCA."]
    fine(page.run())
    assert seen.charts.count("preview-left") == 1


def test_where_it_is_warm_nobody_is_told_of_its_preparing(opened: Opened, seen: Seen) -> None:
    fine(opened("clusters_page", **ALL).run())
    fine(opened("clusters_page", **ALL | {"left": "SIF"}).run())
    assert "prepares itself" in seen.orders[0][2][-1]
    assert "prepares itself" not in seen.orders[1][2][-1]


def test_of_many_sentences_landmarks_are_arranged_and_the_time_is_said_before(
    opened: Opened, seen: Seen, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = opened("clusters_page", **ALL)
    monkeypatch.setattr(import_module("cached"), "LANDMARKS", 100)  # that of the page, which is imported anew
    fine(page.run())
    ((order, _, captions),) = seen.orders
    assert order["landmarks"] == 100
    assert "arranges 100 of the sentences" in captions[-1]
    assert "about 1 min of a free core" in captions[-1]
    assert any("'umap', 2, landmarks=100)" in code.value for code in page.code)
    fine(page.radio(key="how").set_value("pca").run())
    assert not any("landmarks" in code.value for code in page.code)


def test_other_pictures_are_made_here(opened: Opened, seen: Seen) -> None:
    fine(opened("clusters_page", **ALL | {"how": "t-SNE"}).run())
    assert seen.orders == []
    assert seen.charts[0] == "preview-left"


# --- what leaves the page -----------------------------------------------------------------------------------------


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
